//! An uncontended change of a row by its primary key enters nothing into the lock table. Alone in its program, because the
//! counters are the process's.

mod client;

use client::{Answer, Client, TestServer};

fn run(client: &mut Client, statement: &str) {
    let answer = client.query(statement);
    assert!(!matches!(answer, Answer::Error(..)), "{statement}: {answer:?}");
}

fn created(client: &mut Client) -> u64 {
    let metric = "SELECT `COUNT` FROM information_schema.INNODB_METRICS WHERE NAME = 'lock_rec_lock_created'";
    client.value(metric).parse().unwrap()
}

#[test]
fn changes_by_primary_key_create_no_lock() {
    let server = TestServer::start(&[]);
    let mut client = server.connect();
    run(&mut client, "SET GLOBAL innodb_monitor_enable = 'lock_rec_lock_created'");
    run(&mut client, "CREATE DATABASE test");
    run(&mut client, "CREATE TABLE test.t (id INT PRIMARY KEY, n INT, c VARCHAR(3000), KEY (n))");
    for isolation in ["READ COMMITTED", "REPEATABLE READ"] {
        run(&mut client, &format!("SET SESSION TRANSACTION ISOLATION LEVEL {isolation}"));
        let before = created(&mut client);
        for id in 0..50 {
            run(&mut client, &format!("INSERT INTO test.t VALUES ({id}, {id}, REPEAT('x', 1000))"));
        }
        for id in 0..50 {
            run(&mut client, &format!("UPDATE test.t SET n = n + 1, c = 'y' WHERE id = {id}"));
        }
        run(&mut client, "BEGIN");
        for id in 0..50 {
            run(&mut client, &format!("UPDATE test.t SET n = n + 1 WHERE id = {id}"));
        }
        run(&mut client, "COMMIT");
        for id in 0..50 {
            run(&mut client, &format!("DELETE FROM test.t WHERE id = {id}"));
        }
        assert_eq!(created(&mut client), before, "{isolation}");
        // The counter does count.
        run(&mut client, "INSERT INTO test.t VALUES (1, 1, '')");
        run(&mut client, "SELECT * FROM test.t WHERE id = 1 FOR UPDATE");
        assert_eq!(created(&mut client), before + 1, "{isolation}");
        run(&mut client, "DELETE FROM test.t WHERE id = 1");
    }
}
