//! SIGHUP, by which tools that rotate logs have them opened anew.

mod client;

use std::path::Path;
use std::time::{Duration, Instant};

use client::process::Process;
use client::run;

/// Waits until the file is there and has that in it.
fn until_written(path: &Path, what: &str, mut again: impl FnMut()) {
    let give_up = Instant::now() + Duration::from_secs(30);
    loop {
        again();
        let text = std::fs::read_to_string(path).unwrap_or_default();
        if text.contains(what) {
            return;
        }
        assert!(Instant::now() < give_up, "{}: {text}", path.display());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_hangup_opens_all_logs_anew() {
    let dir = tempfile::tempdir().unwrap();
    let [error_log, general_log] = ["errors.err", "general.log"].map(|name| dir.path().join(name));
    let general = format!("--general-log-file={}", general_log.display());
    let options = ["--general-log=ON", &general, "--log-output=FILE"];
    let server = Process::start_with_error_log(&dir.path().join("data"), &error_log, &options);
    let mut client = server.connect();
    run(&mut client, &["SELECT 'before'"]);
    until_written(&general_log, "before", || ());
    until_written(&error_log, "ready for connections", || ());
    for log in [&error_log, &general_log] {
        std::fs::rename(log, log.with_extension("old")).unwrap();
    }
    server.hang_up();
    until_written(&general_log, "after", || run(&mut client, &["SELECT 'after'"]));
    let old = std::fs::read_to_string(general_log.with_extension("old")).unwrap();
    assert!(old.contains("before"));
    let (status, _) = server.terminate();
    assert!(status.success());
    until_written(&error_log, "shut", || ());
}
