//! What comes of a panic: the statement's end where only its session is in doubt, the process's where the
//! storage engine is. (The statement that panics is one of builds with debug assertions.)

#![cfg(debug_assertions)]

mod client;

use client::process::Process;
use client::{Answer, Client, run};

fn start(datadir: &std::path::Path) -> Process {
    Process::start_in(datadir, &["--worker-threads=1"], &[("PALISADE_FAILURES", "1")])
}

/// A table with a row, and another one that is not committed.
fn begin(server: &Process) -> Client {
    let mut client = server.connect();
    run(
        &mut client,
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (id INT PRIMARY KEY)",
            "INSERT INTO t VALUES (1)",
            "SET @kept = 7",
            "BEGIN",
            "INSERT INTO t VALUES (2)",
        ],
    );
    client
}

#[test]
fn a_panic_of_a_session_ends_its_statement_and_rolls_back() {
    let dir = tempfile::tempdir().unwrap();
    let server = start(dir.path());
    let (mut client, mut other) = (begin(&server), server.connect());
    for _ in 0..3 {
        let Answer::Error(1105, text) = client.query("/* fail in session */") else { panic!("an error") };
        assert!(text.contains("Internal error"), "{text}");
        assert_eq!(client.value("SELECT GROUP_CONCAT(id) FROM t"), "1", "what was open is rolled back");
        run(&mut client, &["BEGIN", "INSERT INTO t VALUES (2)"]);
    }
    assert_eq!(client.value("SELECT @kept"), "7", "the session goes on");
    run(&mut client, &["COMMIT"]);
    // the locks are gone too
    run(&mut other, &["UPDATE d.t SET id = id + 10"]);
    let (status, printed) = server.terminate();
    assert!(status.success());
    let report = printed.iter().position(|line| line.contains("a failure on demand")).expect("a report");
    assert!(
        printed[report..].iter().any(|line| line.contains("palisade_server::fault::survive")),
        "with its stack"
    );
}

/// The report names the place and the statement, without its constants, and is not written as often as a
/// client likes.
#[test]
fn an_internal_error_is_in_the_error_log() {
    let dir = tempfile::tempdir().unwrap();
    let server = start(dir.path());
    let mut client = server.connect();
    for _ in 0..50 {
        let answer = client.query("/* fail in statement */ SELECT 'secret', 7");
        assert!(matches!(answer, Answer::Error(1815, _)), "{answer:?}");
    }
    let (status, printed) = server.terminate();
    assert!(status.success());
    let reports: Vec<_> = printed.iter().filter(|line| line.contains("a failure on demand")).collect();
    assert!(reports.len() == 10, "{printed:?}");
    assert!(reports[0].contains("error 1815") && reports[0].contains("SELECT ?, ..."), "{}", reports[0]);
    assert!(!printed.iter().any(|line| line.contains("secret")));
}

#[test]
fn the_error_log_is_written_as_its_variables_say() {
    let dir = tempfile::tempdir().unwrap();
    let server = start(dir.path());
    let mut client = server.connect();
    let fail = "/* fail in statement */ SELECT 1";
    client.query(fail);
    client.query("SET GLOBAL log_error_services = 'log_filter_internal; log_sink_json'");
    client.query(fail);
    client.query("SET GLOBAL log_error_services = DEFAULT");
    client.query("SET GLOBAL log_timestamps = SYSTEM");
    client.query(fail);
    let (status, printed) = server.terminate();
    assert!(status.success());
    let reports: Vec<_> = printed.iter().filter(|line| line.contains("a failure on demand")).collect();
    assert!(reports[0].contains("Z 0 [ERROR] [MY-000000] [Server] "), "{}", reports[0]);
    assert!(
        reports[1].starts_with("{ \"prio\" : 1, ") && reports[1].ends_with("\"label\" : \"Error\" }"),
        "{}",
        reports[1]
    );
    assert!(reports[2].contains(":00 0 [ERROR] "), "{}", reports[2]);
}

#[test]
fn a_panic_of_the_engine_or_of_another_thread_aborts() {
    for place in ["engine", "thread"] {
        let dir = tempfile::tempdir().unwrap();
        let server = start(dir.path());
        let mut client = begin(&server);
        client.send(&format!("/* fail in {place} */"));
        assert!(client.read().is_none());
        let (status, printed) = server.wait();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(6), "{place}: {printed:#?}");
        assert!(printed.iter().any(|line| line.contains("the next start recovers")), "{printed:#?}");
        let again = start(dir.path());
        assert_eq!(again.connect().value("SELECT GROUP_CONCAT(id) FROM d.t"), "1");
        assert!(again.terminate().0.success());
    }
}
