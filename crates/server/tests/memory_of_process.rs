//! What statements have given back, the machine has again.

mod client;

use std::time::{Duration, Instant};

use client::Answer;
use client::process::Process;

const MIB: u64 = 1 << 20;
/// Longest wait until a server that does nothing has given back what it does not use.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn a_server_that_is_idle_gives_back_what_a_large_statement_took() {
    let dir = tempfile::tempdir().unwrap();
    let server = Process::start(&dir.path().join("data"), &[]);
    let mut client = server.connect();
    assert_eq!(client.value("SELECT 1"), "1");
    let before = server.resident();
    // each of these texts is an allocation of its own
    let texts = vec!["REPEAT('a', 1000000)"; 300].join(", ");
    match client.query(&format!(
        "SELECT LENGTH(ELT(300, {texts})) FROM DUAL WHERE LENGTH(CONCAT_WS(',', {texts})) IS NULL"
    )) {
        Answer::Rows(_) => {}
        other => panic!("{other:?}"),
    }
    assert!(server.most_resident() > before + 200 * MIB, "the statement takes memory");
    let begun = Instant::now();
    while server.resident() > before + 100 * MIB {
        assert!(
            begun.elapsed() < PATIENCE,
            "{} MiB, before the statement {}",
            server.resident() / MIB,
            before / MIB
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}
