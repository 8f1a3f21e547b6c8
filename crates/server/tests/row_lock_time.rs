//! What SHOW STATUS tells of waits for row locks. Alone in its program, because the counters are the process's.

mod client;

use std::time::Duration;

use client::{Answer, Client, TestServer, number, run, until};

fn status(name: &str) -> String {
    format!(
        "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Innodb_row_lock_{name}'"
    )
}

fn ms(client: &mut Client, name: &str) -> u64 {
    client.value(&status(name)).parse().unwrap()
}

#[test]
fn waits_for_row_locks_are_counted_and_timed() {
    let server = TestServer::start(&[]);
    let (mut holder, mut waiter, mut watcher) = (server.connect(), server.connect(), server.connect());
    run(&mut holder, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT)"]);
    run(&mut holder, &["INSERT INTO d.t VALUES (1, 0)", "BEGIN", "UPDATE d.t SET n = 1"]);
    assert_eq!((ms(&mut watcher, "waits"), ms(&mut watcher, "time")), (0, 0));

    waiter.send("UPDATE d.t SET n = 2");
    until(&mut watcher, &status("current_waits"), &Answer::Rows(vec![vec![Some("1".into())]]));
    std::thread::sleep(Duration::from_millis(30));
    run(&mut holder, &["COMMIT"]);
    assert_eq!(waiter.answer(), Answer::Ok(1));
    let time = ms(&mut watcher, "time");
    assert!(time >= 30, "{time} ms");
    assert_eq!((ms(&mut watcher, "waits"), ms(&mut watcher, "current_waits")), (1, 0));
    assert_eq!((ms(&mut watcher, "time_avg"), ms(&mut watcher, "time_max")), (time, time));

    run(&mut holder, &["BEGIN", "UPDATE d.t SET n = 3"]);
    run(&mut waiter, &["SET innodb_lock_wait_timeout = 1"]);
    assert_eq!(number(&waiter.query("UPDATE d.t SET n = 4")), 1205);
    let timeouts = "SELECT `COUNT` FROM information_schema.INNODB_METRICS WHERE NAME = 'lock_timeouts'";
    assert_eq!(watcher.value(timeouts), "1");
    assert_eq!((ms(&mut watcher, "waits"), ms(&mut watcher, "current_waits")), (2, 0));
    let sum = ms(&mut watcher, "time");
    assert!(sum >= time + 900 && ms(&mut watcher, "time_max") >= 900, "{sum} ms");
    assert_eq!(ms(&mut watcher, "time_avg"), sum / 2);
}
