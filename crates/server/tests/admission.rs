//! Transactions that wait until others have ended before they begin. By themselves, because the counters that they look at belong to
//! the process.

mod client;

use std::thread::JoinHandle;

use client::{Answer, Client, TestServer, run, until};

/// Sessions, on two workers.
const CLIENTS: u32 = 12;

fn status(name: &str) -> String {
    format!("SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = '{name}'")
}

/// Waits until the answer is one value.
fn until_it_is(client: &mut Client, query: &str, expected: &str) {
    until(client, query, &Answer::Rows(vec![vec![Some(expected.to_owned())]]));
}

fn joined(threads: Vec<JoinHandle<Client>>) -> Vec<Client> {
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

#[test]
fn few_transactions_make_headway_at_a_time_and_all_of_them_end() {
    let server = TestServer::start(&[("worker_transaction_limit", "1")]);
    let mut watcher = server.connect();
    run(&mut watcher, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT NOT NULL)"]);
    for id in 0..=CLIENTS {
        run(&mut watcher, &[&format!("INSERT INTO d.t VALUES ({id}, 0)")]);
    }
    let clients: Vec<_> = (0..CLIENTS).map(|_| server.connect()).collect();
    until_it_is(&mut watcher, &status("Worker_transaction_level"), "1");

    // Row 0 is everybody's, so that some wait for it while they are counted.
    let threads = (1..).zip(clients).map(|(id, mut client)| {
        std::thread::spawn(move || {
            for round in 0..20 {
                let begin =
                    ["BEGIN", "START TRANSACTION", "START TRANSACTION WITH CONSISTENT SNAPSHOT"][round % 3];
                let own = format!("UPDATE d.t SET n = n + 1 WHERE id = {id}");
                let end = if round % 5 == 4 { "ROLLBACK" } else { "COMMIT" };
                run(&mut client, &[begin, &own, "UPDATE d.t SET n = n + 1 WHERE id = 0", end]);
            }
            client
        })
    });
    let clients = joined(threads.collect());
    assert_eq!(watcher.value("SELECT GROUP_CONCAT(DISTINCT n) FROM d.t WHERE id > 0"), "16");
    assert_eq!(watcher.value("SELECT n FROM d.t WHERE id = 0"), (16 * CLIENTS).to_string());
    assert_ne!(watcher.value(&status("Worker_transactions_queued")), "0");

    // Those that wait for somebody who waits for his turn do not keep him from it.
    run(&mut watcher, &["FLUSH TABLES WITH READ LOCK"]);
    let threads = clients.into_iter().map(|mut client| {
        std::thread::spawn(move || {
            run(&mut client, &["BEGIN", "UPDATE d.t SET n = n + 1 WHERE id = 0", "COMMIT"]);
            client
        })
    });
    let waiting = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE LIKE 'waiting%'";
    let threads: Vec<_> = threads.collect();
    until_it_is(&mut watcher, waiting, &CLIENTS.to_string());
    run(&mut watcher, &["START TRANSACTION WITH CONSISTENT SNAPSHOT"]);
    assert_eq!(watcher.value("SELECT n FROM d.t WHERE id = 0"), (16 * CLIENTS).to_string());
    run(&mut watcher, &["UNLOCK TABLES", "COMMIT"]);
    let clients = joined(threads);
    assert_eq!(watcher.value("SELECT n FROM d.t WHERE id = 0"), (17 * CLIENTS).to_string());

    run(&mut watcher, &["SET GLOBAL worker_transaction_limit = 0"]);
    until_it_is(&mut watcher, &status("Worker_transaction_level"), "0");
    drop(clients);
}
