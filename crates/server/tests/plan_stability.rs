//! `palisade_plan_stability`: a query keeps its plan until another one has proved to be faster.

mod client;

use client::{Client, TestServer, connect_as, number, run};

const QUERY: &str = "SELECT SUM(v) FROM t WHERE b = 1 AND c = 1";

fn fill(client: &mut Client, rows: u64, of_b: u64, of_c: u64) {
    run(client, &["TRUNCATE TABLE t"]);
    for from in (0..rows).step_by(1000) {
        let row = |a: u64| format!("({a},{},{},{a})", a % of_b, a % of_c);
        let rows: Vec<String> = (from..from + 1000).map(row).collect();
        run(client, &[&format!("INSERT INTO t VALUES {}", rows.join(","))]);
    }
    run(client, &["ANALYZE TABLE t"]);
}

fn kept(client: &mut Client) -> String {
    client.value("SELECT PLAN FROM information_schema.PALISADE_PLANS WHERE DIGEST_TEXT LIKE '%SUM%`t`%'")
}

fn by(index: &str) -> String {
    format!("group\nread 0 ranges `{index}` `d`.`t`")
}

#[test]
fn a_faster_plan_is_kept_after_it_was_tried_and_survives_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    std::fs::create_dir_all(&data).unwrap();
    let options = [("datadir", data.to_str().unwrap()), ("palisade_plan_stability", "ON")];
    let server = TestServer::start(&options);
    let mut client = server.connect();
    run(
        &mut client,
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (a INT PRIMARY KEY, b INT, c INT, v INT, KEY b (b), KEY c (c))",
        ],
    );
    fill(&mut client, 8000, 1000, 2);
    let first = client.value(QUERY);
    assert_eq!(first, "28008");
    assert_eq!(kept(&mut client), by("b"));
    // Now the other index finds few rows, and this one half of them.
    fill(&mut client, 8000, 2, 1000);
    let mut executions = 0;
    while kept(&mut client) == by("b") {
        assert_eq!(client.value(QUERY), first);
        executions += 1;
        assert!(executions < 200, "no plan was found to be faster");
    }
    assert!(executions >= 16, "{executions}");
    assert_eq!(kept(&mut client), by("c"));
    let explained = client.value(&format!("EXPLAIN FORMAT=TREE {QUERY}"));
    assert!(explained.contains("using c "), "{explained}");
    server.stop().unwrap();
    let server = TestServer::start(&options);
    let mut client = server.connect();
    assert_eq!(kept(&mut client), by("c"));
    run(&mut client, &["USE d", "CREATE USER plain@localhost", "GRANT ALL ON d.* TO plain@localhost"]);
    assert_eq!(client.value(QUERY), first);
    let mut plain = connect_as(&server, "plain");
    assert_eq!(number(&plain.query("SELECT * FROM information_schema.PALISADE_PLANS")), 1227);
    assert_eq!(number(&plain.query("SET GLOBAL palisade_plan_stability = OFF")), 1227);
    run(&mut client, &["SET GLOBAL palisade_plan_stability = OFF"]);
    assert_eq!(client.value(QUERY), first);
}
