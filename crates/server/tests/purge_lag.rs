//! Writers that wait for purge. By itself, because the counters that it looks at belong to the process.

mod client;

use client::{Answer, TestServer, run};

#[test]
fn writers_are_held_up_while_purge_lags_behind() {
    let server = TestServer::start(&[]);
    let (mut reader, mut writer) = (server.connect(), server.connect());
    let setting_up = [
        "SET GLOBAL innodb_monitor_enable = 'purge_dml_delay_usec'",
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, n INT)",
        "INSERT INTO d.t VALUES (1, 0)",
    ];
    run(&mut writer, &setting_up);
    // A snapshot that is kept open keeps purge from forgetting anything.
    run(&mut reader, &["START TRANSACTION WITH CONSISTENT SNAPSHOT"]);
    assert_eq!(reader.value("SELECT n FROM d.t"), "0");
    let update = "UPDATE d.t SET n = n + 1 WHERE id = 1";
    for _ in 0..50 {
        assert_eq!(writer.query(update), Answer::Ok(1));
    }
    let length =
        "SELECT `COUNT` >= 50 FROM information_schema.INNODB_METRICS WHERE NAME = 'trx_rseg_history_len'";
    assert_eq!(writer.value(length), "1");
    let delay = "SELECT `COUNT` FROM information_schema.INNODB_METRICS WHERE NAME = 'purge_dml_delay_usec'";
    for (most, expected) in [("0", "0"), ("200000", "200000"), ("50", "50")] {
        let set = format!("SET GLOBAL innodb_max_purge_lag_delay = {most}");
        run(&mut writer, &["SET GLOBAL innodb_max_purge_lag = 1", &set]);
        let begun = std::time::Instant::now();
        assert_eq!(writer.query(update), Answer::Ok(1));
        assert!(begun.elapsed().as_micros() >= most.parse().unwrap());
        assert_eq!(writer.value(delay), expected);
    }
    run(&mut writer, &["SET GLOBAL innodb_max_purge_lag = 0"]);
    assert_eq!(writer.value(delay), "0", "nobody is held up, however long the history is");
    run(&mut writer, &["SET GLOBAL innodb_max_purge_lag = 1"]);
    assert_eq!(writer.value(delay), "50");
    assert_eq!(reader.value("SELECT n FROM d.t"), "0");
    run(&mut reader, &["COMMIT"]);
    // A transaction at READ COMMITTED has no snapshot between its statements.
    run(&mut reader, &["SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "BEGIN"]);
    assert_eq!(reader.value("SELECT n > 0 FROM d.t"), "1");
    assert_eq!(writer.query(update), Answer::Ok(1));
    // Once purge has caught up nobody is held up.
    while writer.value(delay) != "0" {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let open =
        "SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_isolation_level = 'READ COMMITTED'";
    assert_eq!(writer.value(open), "1", "the reader's");
    run(&mut reader, &["COMMIT"]);
    assert_eq!(writer.value(open), "0");
}
