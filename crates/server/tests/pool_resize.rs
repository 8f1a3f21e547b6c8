//! `innodb_buffer_pool_size`, changed while statements read and write.

mod client;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use client::{Answer, Client, PATIENCE, SetWhenDropped, TestServer, run};

const MIB: u64 = 1 << 20;
const SIZE: &str = "SELECT @@innodb_buffer_pool_size";

fn status(client: &mut Client, name: &str) -> String {
    let select = "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME";
    client.value(&format!("{select} = '{name}'"))
}

/// Sets the size. The warnings, code and text.
fn resize(client: &mut Client, bytes: u64) -> Vec<(String, String)> {
    run(client, &[&format!("SET GLOBAL innodb_buffer_pool_size = {bytes}")]);
    let Answer::Rows(rows) = client.query("SHOW WARNINGS") else { panic!("SHOW WARNINGS gives rows") };
    rows.into_iter().map(|row| (row[1].clone().unwrap(), row[2].clone().unwrap())).collect()
}

fn wait_until_done(client: &mut Client) {
    let start = Instant::now();
    while status(client, "Innodb_buffer_pool_resize_status_code") != "0" {
        assert!(start.elapsed() < PATIENCE, "{}", status(client, "Innodb_buffer_pool_resize_status"));
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_size_is_rounded_up_to_chunks_and_a_small_or_impossible_one_is_not_taken() {
    let server = TestServer::start(&[("innodb_buffer_pool_size", "8M")]);
    let mut client = server.connect();
    assert_eq!(client.value("SELECT @@innodb_buffer_pool_chunk_size"), (8 * MIB).to_string());
    assert_eq!(status(&mut client, "Innodb_buffer_pool_resize_status"), "");
    let truncated =
        |bytes: u64| ("1292".into(), format!("Truncated incorrect innodb_buffer_pool_size value: '{bytes}'"));
    assert_eq!(resize(&mut client, 20 * MIB), [truncated(20 * MIB)]);
    assert_eq!(client.value(SIZE), (24 * MIB).to_string());
    wait_until_done(&mut client);
    let text = status(&mut client, "Innodb_buffer_pool_resize_status");
    assert!(text.starts_with("Completed resizing buffer pool at "), "{text}");
    assert_eq!(status(&mut client, "Innodb_buffer_pool_resize_status_progress"), "100");
    assert_eq!(status(&mut client, "Innodb_buffer_pool_pages_total"), (24 * MIB / 16384).to_string());
    assert_eq!(resize(&mut client, 24 * MIB + 5), [truncated(24 * MIB + 5)]);
    assert_eq!(resize(&mut client, 1), [truncated(1), truncated(5 * MIB)]);
    assert_eq!(client.value(SIZE), (8 * MIB).to_string());
    wait_until_done(&mut client);
    let small = "InnoDB: Cannot resize buffer pool to lesser than chunk size of 8388608 bytes.";
    assert_eq!(resize(&mut client, 5 * MIB), [("1210".into(), small.into())]);
    let text = "Variable 'innodb_buffer_pool_size' can't be set to the value of '109951162777600'";
    let answer = client.query("SET GLOBAL innodb_buffer_pool_size = 100 * 1024 * 1024 * 1024 * 1024");
    assert_eq!(answer, Answer::Error(1231, text.into()));
    assert_eq!(client.value(SIZE), (8 * MIB).to_string());
    assert_eq!(status(&mut client, "Innodb_buffer_pool_pages_total"), (8 * MIB / 16384).to_string());
}

#[test]
fn a_pool_grows_and_shrinks_under_load_and_no_row_is_lost() {
    let server = TestServer::start(&[("innodb_buffer_pool_size", "8M")]);
    let mut admin = server.connect();
    run(&mut admin, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, n INT, v VARCHAR(1000))"]);
    for part in 0..20 {
        let rows: Vec<String> =
            (0..1000).map(|row| format!("({}, 0, REPEAT('x', 1000))", part * 1000 + row)).collect();
        run(&mut admin, &[&format!("INSERT INTO d.t VALUES {}", rows.join(","))]);
    }
    let done = AtomicBool::new(false);
    let (updates, resizes) = std::thread::scope(|scope| {
        let sessions = (0..3).map(|session| {
            let (server, done) = (&server, &done);
            scope.spawn(move || {
                let mut client = server.connect();
                let mut count: u64 = 0;
                while !done.load(Ordering::Relaxed) {
                    let id = (count * 7919 + session * 6007) % 20_000;
                    run(&mut client, &[&format!("UPDATE d.t SET n = n + 1 WHERE id = {id}")]);
                    let read = format!("SELECT LENGTH(v) FROM d.t WHERE id = {}", (id + 9973) % 20_000);
                    assert_eq!(client.value(&read), "1000");
                    count += 1;
                }
                count
            })
        });
        let sessions: Vec<_> = sessions.collect();
        let end = SetWhenDropped(&done);
        let (start, mut resizes) = (Instant::now(), 0);
        while start.elapsed() < Duration::from_secs(4) {
            for mib in [32, 16, 40, 8] {
                resize(&mut admin, mib * MIB);
                wait_until_done(&mut admin);
                let pages = status(&mut admin, "Innodb_buffer_pool_pages_total");
                assert_eq!(pages, (mib * MIB / 16384).to_string());
                resizes += 1;
            }
        }
        drop(end);
        (sessions.into_iter().map(|session| session.join().unwrap()).sum::<u64>(), resizes)
    });
    assert!(resizes >= 4 && updates > 0, "{resizes} resizes, {updates} updates");
    assert_eq!(admin.value("SELECT SUM(n) FROM d.t"), updates.to_string());
    assert_eq!(admin.value("SELECT COUNT(*) FROM d.t WHERE LENGTH(v) = 1000"), "20000");
}
