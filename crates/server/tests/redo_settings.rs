//! The redo log's settings, changed while statements commit.

mod client;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use client::{Answer, Client, PATIENCE, SetWhenDropped, TestServer, run};

fn status(client: &mut Client, name: &str) -> String {
    let select = "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME";
    client.value(&format!("{select} = '{name}'"))
}

/// A processor that this process may run on; 0 need not be one.
fn a_processor() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    list.trim().chars().take_while(char::is_ascii_digit).collect()
}

/// Bytes of the files of the log.
fn log_files(server: &TestServer) -> u64 {
    let files = std::fs::read_dir(server.dir.path().join("data/#log")).unwrap().map(Result::unwrap);
    let segments = files.filter(|file| file.file_name().to_string_lossy().starts_with("log."));
    // A file may be renamed or removed between the listing and the look.
    segments.filter_map(|file| file.metadata().ok()).map(|data| data.len()).sum()
}

#[test]
fn everything_that_is_changed_under_load_leaves_commits_alone() {
    let server = TestServer::start(&[("innodb_flush_method", "fsync")]);
    let mut admin = server.connect();
    run(&mut admin, &["CREATE DATABASE d"]);
    run(&mut admin, &["CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(500))"]);
    let done = AtomicBool::new(false);
    let processor = a_processor();
    let (one, range) = (format!("'{processor}'"), format!("'{processor}-{processor}'"));
    let inserted: u64 = std::thread::scope(|scope| {
        let sessions = (0..4).map(|_| {
            scope.spawn(|| {
                let mut client = server.connect();
                let mut count = 0;
                while !done.load(Ordering::Relaxed) {
                    run(&mut client, &["INSERT INTO d.t (v) VALUES (REPEAT('x', 500))"]);
                    count += 1;
                }
                count
            })
        });
        let sessions: Vec<_> = sessions.collect();
        let end = SetWhenDropped(&done);
        let until = Instant::now() + Duration::from_secs(4);
        let mut turn = 0;
        while Instant::now() < until {
            let one_of = |values: &[&str]| values[turn % values.len()].to_string();
            for (name, value) in [
                ("innodb_log_writer_threads", one_of(&["ON", "OFF", "AUTO"])),
                ("innodb_redo_log_capacity", one_of(&["8388608", "67108864", "33554432"])),
                ("innodb_log_write_ahead_size", one_of(&["512", "16384", "4096", "8192"])),
                ("innodb_log_buffer_size", one_of(&["262144", "67108864", "8388608"])),
                ("innodb_log_writer_affinity", one_of(&[&one, "''"])),
                ("innodb_log_flusher_affinity", one_of(&[&range, "''"])),
                ("innodb_worker_affinity", one_of(&["''", &one])),
                ("innodb_flush_log_at_timeout", one_of(&["1", "100"])),
                ("innodb_flush_log_at_trx_commit", one_of(&["1", "2", "0"])),
            ] {
                run(&mut admin, &[&format!("SET GLOBAL {name} = {value}")]);
            }
            turn += 1;
            std::thread::sleep(Duration::from_millis(100));
        }
        drop(end);
        sessions.into_iter().map(|session| session.join().unwrap()).sum()
    });
    assert!(inserted > 0);
    assert_eq!(admin.value("SELECT COUNT(*) FROM d.t"), inserted.to_string());
}

#[test]
fn the_log_grows_and_shrinks_to_what_is_asked_for() {
    let server = TestServer::start(&[]);
    let mut client = server.connect();
    run(&mut client, &["CREATE DATABASE d"]);
    run(&mut client, &["CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(4000))"]);
    assert_eq!(status(&mut client, "Innodb_redo_log_resize_status"), "OK");
    for capacity in [48 << 20, 8 << 20, 16 << 20] {
        run(&mut client, &[&format!("SET GLOBAL innodb_redo_log_capacity = {capacity}")]);
        assert_eq!(client.value("SELECT @@innodb_redo_log_capacity"), capacity.to_string());
        let limit = Instant::now() + 3 * PATIENCE;
        loop {
            run(
                &mut client,
                &["INSERT INTO d.t (v) VALUES (REPEAT('x', 4000)), (REPEAT('y', 4000)), (REPEAT('z', 4000))"],
            );
            let bytes = log_files(&server);
            let is_there = bytes <= capacity && bytes > capacity / 16 * 15;
            if is_there && status(&mut client, "Innodb_redo_log_resize_status") == "OK" {
                break;
            }
            assert!(Instant::now() < limit, "{bytes} bytes instead of {capacity}");
        }
        let shown: u64 = status(&mut client, "Innodb_redo_log_physical_size").parse().unwrap();
        assert!(shown <= capacity && shown > capacity / 16 * 14, "{shown} of {capacity}");
        assert_eq!(status(&mut client, "Innodb_redo_log_capacity_resized"), capacity.to_string());
    }
}

/// MySQL's least log buffer is smaller than what some mini-transactions append.
#[test]
fn pages_are_split_with_the_smallest_log_buffer_there_is() {
    let server = TestServer::start(&[("innodb_log_buffer_size", "262144")]);
    let mut client = server.connect();
    assert_eq!(client.value("SELECT @@innodb_log_buffer_size"), "262144");
    run(&mut client, &["CREATE DATABASE d"]);
    run(&mut client, &["CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(8000))"]);
    let values = vec!["(REPEAT('x', 7000))"; 100].join(", ");
    for buffer in ["DEFAULT", "1048576"] {
        run(&mut client, &[&format!("INSERT INTO d.t (v) VALUES {values}")]);
        run(&mut client, &[&format!("SET GLOBAL innodb_log_buffer_size = {buffer}")]);
    }
    assert_eq!(client.value("SELECT COUNT(*) FROM d.t"), "200");
    assert_eq!(client.value("SELECT @@innodb_log_buffer_size"), "1048576");
}

#[test]
fn a_list_of_processors_that_is_none_is_refused() {
    let processor = a_processor();
    let server = TestServer::start(&[("innodb_log_writer_affinity", &processor)]);
    let mut client = server.connect();
    assert_eq!(client.value("SELECT @@innodb_log_writer_affinity"), processor);
    for name in ["innodb_log_writer_affinity", "innodb_log_flusher_affinity", "innodb_worker_affinity"] {
        for wrong in ["a", "1-", "3-1", "0,,1", "1000"] {
            let text = format!("Variable '{name}' can't be set to the value of '{wrong}'");
            let answer = client.query(&format!("SET GLOBAL {name} = '{wrong}'"));
            assert_eq!(answer, Answer::Error(1231, text));
        }
        run(&mut client, &[&format!("SET GLOBAL {name} = '{processor}'")]);
        assert_eq!(client.value(&format!("SELECT @@{name}")), processor);
        run(&mut client, &[&format!("SET GLOBAL {name} = DEFAULT")]);
    }
    assert!(matches!(client.query("SET innodb_worker_affinity = '0'"), Answer::Error(1229, _)));
}

#[test]
fn write_ahead_is_a_power_of_two() {
    let server = TestServer::start(&[]);
    let mut client = server.connect();
    run(&mut client, &["SET GLOBAL innodb_log_write_ahead_size = 5000"]);
    let Answer::Rows(warnings) = client.query("SHOW WARNINGS") else { panic!("no warnings") };
    let texts: Vec<_> = warnings.iter().map(|row| row[2].clone().unwrap()).collect();
    assert_eq!(
        texts,
        [
            "Truncated incorrect innodb_log_write_ahead_size value: '5000'",
            "innodb_log_write_ahead_size should be set to power of 2, in range [512,16384]",
            "Setting innodb_log_write_ahead_size to 8192"
        ]
    );
    assert_eq!(client.value("SELECT @@innodb_log_write_ahead_size"), "8192");
}

#[test]
fn flushing_the_logs_makes_durable_what_commits_did_not_wait_for() {
    let never = [("innodb_flush_log_at_trx_commit", "0"), ("innodb_flush_log_at_timeout", "2700")];
    let server = TestServer::start(&never);
    let mut client = server.connect();
    run(&mut client, &["CREATE DATABASE d"]);
    run(&mut client, &["CREATE TABLE d.t (id INT PRIMARY KEY)"]);
    let lsn = |client: &mut Client, name: &str| -> u64 {
        let select = "SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME";
        client.value(&format!("{select} = 'log_lsn_{name}'")).parse().unwrap()
    };
    for (number, flush) in ["FLUSH LOGS", "FLUSH ENGINE LOGS", "FLUSH LOCAL ENGINE LOGS"].iter().enumerate() {
        run(&mut client, &[&format!("INSERT INTO d.t VALUES ({number})")]);
        let committed = lsn(&mut client, "current");
        assert!(lsn(&mut client, "last_flush") < committed, "nobody has waited for it");
        run(&mut client, &[flush]);
        assert!(lsn(&mut client, "last_flush") >= committed, "{flush}");
    }
}

#[test]
fn the_pages_written_back_when_idle_are_never_more_than_otherwise() {
    let server = TestServer::start(&[]);
    let mut client = server.connect();
    let both = "SELECT CONCAT(@@innodb_io_capacity, ' ', @@innodb_io_capacity_max)";
    run(&mut client, &["SET GLOBAL innodb_io_capacity = 15000"]);
    assert_eq!(client.value(both), "15000 20000");
    run(&mut client, &["SET GLOBAL innodb_io_capacity = 30000"]);
    let warnings = |client: &mut Client| match client.query("SHOW WARNINGS") {
        Answer::Rows(rows) => rows.into_iter().map(|mut row| row.pop().unwrap().unwrap()).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let higher = "Setting innodb_io_capacity to 30000 higher than innodb_io_capacity_max 20000";
    assert_eq!(warnings(&mut client), [higher, "Setting innodb_max_io_capacity to 60000"]);
    assert_eq!(client.value(both), "30000 60000");
    run(&mut client, &["SET GLOBAL innodb_io_capacity_max = 500"]);
    let lower = "innodb_io_capacity_max 500 lower than innodb_io_capacity 30000.";
    assert_eq!(warnings(&mut client), [lower, "Setting innodb_io_capacity to 500"]);
    assert_eq!(client.value(both), "500 500");
}
