//! performance_schema's tables of statements: each number moved by a known amount and read back.

mod client;

use client::{Client, TestServer, connect_as, fails, number, run};

const DIGESTS: &str = "performance_schema.events_statements_summary_by_digest";

fn world(options: &[(&str, &str)]) -> (TestServer, Client) {
    let server = TestServer::start(options);
    let mut client = server.connect();
    run(
        &mut client,
        &[
            "CREATE DATABASE test",
            "USE test",
            "CREATE TABLE t (a INT PRIMARY KEY, b INT, c INT, KEY (b))",
            "INSERT INTO t VALUES (1,1,1), (2,2,2), (3,3,3), (4,4,4)",
        ],
    );
    (server, client)
}

/// A sum of a digest's row.
fn sum(client: &mut Client, column: &str, digest: &str) -> u64 {
    let query = format!(
        "SELECT SUM({column}) FROM {DIGESTS} WHERE SCHEMA_NAME = 'test' AND DIGEST_TEXT = '{digest}'"
    );
    client.value(&query).parse().expect("a number")
}

#[test]
fn each_number_of_a_digest_moves_by_what_its_statements_do() {
    let (_server, mut client) = world(&[]);
    for (statement, digest, moved) in [
        (
            "SELECT * FROM t WHERE a = 1",
            "SELECT * FROM `t` WHERE `a` = ?",
            vec![("SUM_ROWS_SENT", 1), ("SUM_ROWS_EXAMINED", 1)],
        ),
        (
            "SELECT c FROM t WHERE c > 1",
            "SELECT `c` FROM `t` WHERE `c` > ?",
            vec![
                ("SUM_ROWS_SENT", 3),
                ("SUM_ROWS_EXAMINED", 4),
                ("SUM_SELECT_SCAN", 1),
                ("SUM_NO_INDEX_USED", 1),
            ],
        ),
        (
            "SELECT c FROM t ORDER BY c DESC",
            "SELECT `c` FROM `t` ORDER BY `c` DESC",
            vec![("SUM_SORT_ROWS", 4), ("SUM_SORT_SCAN", 1), ("SUM_ROWS_SENT", 4)],
        ),
        (
            "UPDATE t SET c = c + 1 WHERE a > 2",
            "UPDATE `t` SET `c` = `c` + ? WHERE `a` > ?",
            vec![("SUM_ROWS_AFFECTED", 2)],
        ),
        (
            "INSERT IGNORE INTO t VALUES (1, 1, 1)",
            "INSERT IGNORE INTO `t` VALUES (...)",
            vec![("SUM_WARNINGS", 1), ("SUM_ROWS_AFFECTED", 0)],
        ),
        ("SELECT nosuch FROM t", "SELECT `nosuch` FROM `t`", vec![("SUM_ERRORS", 1), ("SUM_WARNINGS", 0)]),
        ("SHOW TABLES", "SHOW TABLES", vec![("SUM_ROWS_SENT", 1), ("SUM_ERRORS", 0)]),
    ] {
        for times in 1..=3 {
            client.query(statement);
            assert_eq!(sum(&mut client, "COUNT_STAR", digest), times, "{statement}");
            for (column, amount) in &moved {
                assert_eq!(sum(&mut client, column, digest), amount * times, "{statement}: {column}");
            }
        }
    }
    let all = format!(
        "SELECT COUNT(*) FROM {DIGESTS} WHERE NOT (MIN_TIMER_WAIT <= AVG_TIMER_WAIT AND AVG_TIMER_WAIT <= MAX_TIMER_WAIT \
         AND MAX_TIMER_WAIT <= SUM_TIMER_WAIT AND FIRST_SEEN <= LAST_SEEN AND MAX_TIMER_WAIT <= QUANTILE_999 AND SUM_TIMER_WAIT > 0)"
    );
    assert_eq!(client.value(&all), "0");
    let age = format!("SELECT MAX(ABS(TIMESTAMPDIFF(SECOND, LAST_SEEN, NOW(6)))) < 60 FROM {DIGESTS}");
    assert_eq!(client.value(&age), "1");
}

#[test]
fn prepared_statements_have_the_digest_of_their_text() {
    let (_server, mut client) = world(&[]);
    let statement = client.prepare("SELECT b FROM t WHERE a = ?").expect("prepared");
    for _ in 0..3 {
        client.execute(statement, &[0, 1, 3, 0, 2, 0, 0, 0]);
    }
    client.query("SELECT b FROM t WHERE a = 2");
    let digest = "SELECT `b` FROM `t` WHERE `a` = ?";
    for (how, count, sent) in [("PREPARE ", 1, 0), ("EXECUTE ", 3, 3), ("", 1, 1)] {
        let digest = format!("{how}{digest}");
        assert_eq!(sum(&mut client, "COUNT_STAR", &digest), count, "{digest}");
        assert_eq!(sum(&mut client, "SUM_ROWS_SENT", &digest), sent, "{digest}");
    }
    let classes = "SELECT GROUP_CONCAT(EVENT_NAME, ' ', COUNT_STAR ORDER BY EVENT_NAME) \
                   FROM performance_schema.events_statements_summary_global_by_event_name \
                   WHERE EVENT_NAME LIKE 'statement/com/%' AND COUNT_STAR > 0";
    assert_eq!(client.value(classes), "statement/com/Execute 3,statement/com/Prepare 1");
}

#[test]
fn sums_of_sessions_go_to_their_accounts_and_from_there_up() {
    let (server, mut client) = world(&[]);
    run(&mut client, &["CREATE USER u", "GRANT SELECT ON test.* TO u"]);
    let count = |client: &mut Client, table: &str, condition: &str| {
        client.value(&format!(
            "SELECT SUM(COUNT_STAR) FROM performance_schema.events_statements_summary_{table}_by_event_name \
             WHERE EVENT_NAME = 'statement/sql/do' AND {condition}"
        ))
    };
    let mut other = connect_as(&server, "u");
    run(&mut other, &["DO 1", "DO 2", "DO 3"]);
    for (table, condition) in
        [("by_account", "USER = 'u'"), ("by_user", "USER = 'u'"), ("by_host", "1"), ("global", "1")]
    {
        assert_eq!(count(&mut client, table, condition), "3", "{table}");
    }
    drop(other);
    let gone = "SELECT COUNT(*) FROM performance_schema.processlist WHERE USER = 'u'";
    while client.value(gone) != "0" {}
    assert_eq!(count(&mut client, "by_account", "USER = 'u'"), "3");
    run(
        &mut client,
        &["TRUNCATE TABLE performance_schema.events_statements_summary_by_account_by_event_name"],
    );
    assert_eq!(count(&mut client, "by_account", "USER = 'u'"), "0");
    assert_eq!(count(&mut client, "by_user", "USER = 'u'"), "3");
    run(&mut client, &["TRUNCATE TABLE performance_schema.events_statements_summary_by_user_by_event_name"]);
    assert_eq!(count(&mut client, "by_user", "USER = 'u'"), "0");
    assert_eq!(
        (count(&mut client, "by_host", "1"), count(&mut client, "global", "1")),
        ("3".into(), "3".into())
    );
    run(&mut client, &["TRUNCATE TABLE performance_schema.events_statements_summary_global_by_event_name"]);
    assert_eq!(
        (count(&mut client, "by_host", "1"), count(&mut client, "global", "1")),
        ("0".into(), "0".into())
    );
}

#[test]
fn sizes_are_honoured() {
    let options = [
        ("performance_schema_digests_size", "3"),
        ("performance_schema_events_statements_history_size", "2"),
        ("performance_schema_max_sql_text_length", "10"),
        ("performance_schema_max_digest_length", "12"),
    ];
    let (_server, mut client) = world(&options);
    run(&mut client, &["DO 1 + 1", "DO 2, 3, 4, 5", "DO 'x' LIKE 'y'"]);
    assert_eq!(client.value(&format!("SELECT COUNT(*) FROM {DIGESTS}")), "4");
    assert_eq!(client.value(&format!("SELECT COUNT_STAR > 0 FROM {DIGESTS} WHERE DIGEST IS NULL")), "1");
    assert_eq!(client.value(&format!("SELECT MAX(LENGTH(DIGEST_TEXT)) FROM {DIGESTS}")), "15");
    assert_eq!(client.value("SELECT GROUP_CONCAT(SQL_TEXT ORDER BY EVENT_ID) FROM performance_schema.events_statements_history"), "SELECT COU,SELECT MAX");
    assert_ne!(client.value("SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Performance_schema_digest_lost'"), "0");
    let (_server, mut client) = world(&[("performance_schema", "OFF")]);
    assert_eq!(client.value(&format!("SELECT COUNT(*) FROM {DIGESTS}")), "0");
    assert_eq!(client.value("SELECT COUNT(*) FROM performance_schema.events_statements_history"), "0");
}

#[test]
fn hostile_texts_are_kept_within_bounds() {
    let (_server, mut client) = world(&[]);
    let long = format!("SELECT '{}', {}", "x".repeat(1 << 20), "1 + 1 - ".repeat(20_000) + "1");
    client.query(&long);
    client.query("SELECT 1 AS `💥<b>&amp;`, '\u{1F600}'");
    run(&mut client, &["CREATE DATABASE `d😀`", "USE `d😀`", "DO 1"]);
    let longest = format!(
        "SELECT MAX(LENGTH(DIGEST_TEXT)) <= 1024 + 3, MAX(LENGTH(QUERY_SAMPLE_TEXT)) <= 1024 FROM {DIGESTS}"
    );
    client.query(&longest);
    assert_eq!(client.value(&longest), "1");
    let emoji = format!("SELECT COUNT(*) FROM {DIGESTS} WHERE DIGEST_TEXT = 'SELECT ? AS `💥<b>&amp;` , ?'");
    assert_eq!(client.value(&emoji), "1");
    assert_eq!(
        client.value(&format!("SELECT DIGEST_TEXT FROM {DIGESTS} WHERE SCHEMA_NAME = 'd😀' LIMIT 1")),
        "DO ?"
    );
}

#[test]
fn a_running_statement_is_the_current_one() {
    let (server, mut client) = world(&[]);
    let mut other = server.connect();
    let id = other.value("SELECT CONNECTION_ID()");
    other.send("SELECT SLEEP(100)");
    let current = |column: &str| {
        format!(
            "SELECT {column} FROM performance_schema.events_statements_current WHERE THREAD_ID = {id} AND SQL_TEXT LIKE '%SLEEP%'"
        )
    };
    while client.value(&current("COUNT(*)")) == "0" {}
    let shown = "CONCAT_WS('|', EVENT_NAME, DIGEST_TEXT, END_EVENT_ID IS NULL, TIMER_WAIT > 0)";
    assert_eq!(client.value(&current(shown)), "statement/sql/select|SELECT `SLEEP` (?)|1|1");
    run(&mut client, &[&format!("KILL QUERY {id}")]);
    other.answer();
    assert_eq!(client.value(&current("END_EVENT_ID IS NULL")), "0");
}

#[test]
fn privileges_are_those_on_the_table() {
    let (server, mut client) = world(&[]);
    run(&mut client, &["CREATE USER u", &format!("GRANT SELECT ON {DIGESTS} TO u")]);
    let mut other = connect_as(&server, "u");
    other.value(&format!("SELECT COUNT(*) FROM {DIGESTS}"));
    let truncate = format!("TRUNCATE TABLE {DIGESTS}");
    let (code, message) = fails(&mut other, &truncate);
    assert_eq!(code, 1142);
    assert!(message.starts_with("DROP command denied to user 'u'@"), "{message}");
    assert_eq!(number(&other.query("SELECT * FROM performance_schema.events_statements_history")), 1142);
    run(&mut client, &[&format!("GRANT DROP ON {DIGESTS} TO u")]);
    run(&mut other, &[&truncate]);
}
