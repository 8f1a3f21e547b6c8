//! performance_schema's tables of transactions, errors and stages: what other sessions see of them, and where
//! they go when sessions end.

mod client;

use client::{Client, TestServer, connect_as, run};

const CURRENT: &str = "performance_schema.events_transactions_current";

fn world(options: &[(&str, &str)]) -> (TestServer, Client) {
    let server = TestServer::start(options);
    let mut client = server.connect();
    run(
        &mut client,
        &[
            "CREATE DATABASE test",
            "USE test",
            "CREATE TABLE t (a INT PRIMARY KEY, b INT)",
            "INSERT INTO t VALUES (1,1), (2,2), (3,3), (4,4)",
            "CREATE USER u",
            "GRANT ALL ON test.* TO u",
        ],
    );
    (server, client)
}

/// How many transactions are counted in a table of sums.
fn count(client: &mut Client, table: &str, condition: &str) -> u64 {
    let query = format!(
        "SELECT CAST(SUM(COUNT_STAR) AS SIGNED) FROM performance_schema.events_transactions_summary_{table}_by_event_name WHERE {condition}"
    );
    client.value(&query).parse().expect("a number")
}

#[test]
fn others_see_a_transaction_while_it_is_open() {
    let (server, mut client) = world(&[]);
    let mut other = connect_as(&server, "u");
    let id = other.value("SELECT CONNECTION_ID()");
    let shown = |client: &mut Client| {
        client.value(&format!(
            "SELECT CONCAT_WS('|', STATE, AUTOCOMMIT, ACCESS_MODE, NUMBER_OF_SAVEPOINTS, TRX_ID IS NULL) FROM {CURRENT} WHERE THREAD_ID = {id}"
        ))
    };
    run(&mut other, &["BEGIN", "UPDATE test.t SET b = 5 WHERE a = 1", "SAVEPOINT s"]);
    assert_eq!(shown(&mut client), "ACTIVE|NO|READ WRITE|1|0");
    let same = format!(
        "SELECT COUNT(*) FROM {CURRENT} AS e JOIN information_schema.INNODB_TRX AS t ON t.trx_id = e.TRX_ID WHERE e.THREAD_ID = {id}"
    );
    assert_eq!(client.value(&same), "1");
    run(&mut other, &["COMMIT"]);
    assert_eq!(shown(&mut client), "COMMITTED|NO|READ WRITE|1|0");
    // A statement that commits itself waits for the row of another one.
    run(&mut client, &["BEGIN", "UPDATE test.t SET b = 6 WHERE a = 1"]);
    other.send("UPDATE test.t SET b = 7 WHERE a = 1");
    let mut third = server.connect();
    while third.value("SELECT COUNT(*) FROM performance_schema.data_lock_waits") == "0" {}
    assert_eq!(shown(&mut third), "ACTIVE|YES|READ WRITE|0|0");
    run(&mut client, &["ROLLBACK"]);
    other.answer();
    assert_eq!(shown(&mut third), "COMMITTED|YES|READ WRITE|0|0");
}

#[test]
fn sums_of_sessions_go_to_their_accounts_and_from_there_up() {
    let (server, mut client) = world(&[]);
    let mut other = connect_as(&server, "u");
    run(&mut other, &["UPDATE test.t SET b = 5 WHERE a = 1", "SELECT * FROM test.t"]);
    run(&mut other, &["BEGIN", "UPDATE test.t SET b = 6 WHERE a = 1"]);
    assert_eq!(count(&mut client, "by_account", "USER = 'u'"), 2);
    drop(other);
    let gone = "SELECT COUNT(*) FROM performance_schema.processlist WHERE USER = 'u'";
    while client.value(gone) != "0" {}
    // What was open is rolled back.
    for table in ["by_account", "by_user"] {
        assert_eq!(count(&mut client, table, "USER = 'u'"), 3, "{table}");
    }
    let long = "SELECT COUNT(*) FROM performance_schema.events_transactions_history_long";
    assert_eq!(client.value(long), "0");
    run(
        &mut client,
        &["TRUNCATE TABLE performance_schema.events_transactions_summary_by_account_by_event_name"],
    );
    assert_eq!(count(&mut client, "by_account", "USER = 'u'"), 0);
    assert_eq!(count(&mut client, "by_user", "USER = 'u'"), 3);
    let statements = "SELECT SUM(COUNT_STAR) > 0 FROM performance_schema.events_statements_summary_by_account_by_event_name WHERE USER = 'u'";
    assert_eq!(client.value(statements), "1", "statements are another family");
    run(&mut client, &["TRUNCATE TABLE performance_schema.events_transactions_summary_global_by_event_name"]);
    assert!(count(&mut client, "global", "1") <= 1);
}

#[test]
fn the_last_ones_of_all_sessions_are_kept_if_that_is_asked_for() {
    let options = [
        ("performance_schema_events_transactions_history_size", "2"),
        ("performance_schema_events_transactions_history_long_size", "3"),
    ];
    let (server, mut client) = world(&options);
    run(
        &mut client,
        &[
            "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME = 'events_transactions_history_long'",
        ],
    );
    let mut other = connect_as(&server, "u");
    for _ in 0..4 {
        run(&mut other, &["SELECT * FROM test.t"]);
    }
    let id = other.value("SELECT CONNECTION_ID()");
    let kept = |client: &mut Client, table: &str| {
        client.value(&format!(
            "SELECT COUNT(*) FROM performance_schema.events_transactions_{table} WHERE THREAD_ID = {id} AND STATE = 'COMMITTED'"
        ))
    };
    assert_eq!((kept(&mut client, "history"), kept(&mut client, "history_long")), ("2".into(), "3".into()));
    drop(other);
    let gone = "SELECT COUNT(*) FROM performance_schema.processlist WHERE USER = 'u'";
    while client.value(gone) != "0" {}
    assert_eq!((kept(&mut client, "history"), kept(&mut client, "history_long")), ("0".into(), "3".into()));
    let (_server, mut client) = world(&[("performance_schema", "OFF")]);
    run(&mut client, &["BEGIN", "SELECT * FROM test.t", "COMMIT"]);
    assert_eq!(client.value(&format!("SELECT COUNT(*) FROM {CURRENT}")), "0");
    assert_eq!(count(&mut client, "global", "1"), 0);
}

#[test]
fn errors_are_counted_by_account() {
    let (server, mut client) = world(&[]);
    let mut other = connect_as(&server, "u");
    for _ in 0..3 {
        client::fails(&mut other, "SELECT nosuch FROM test.t");
    }
    let raised = |client: &mut Client, table: &str, condition: &str| {
        client.value(&format!(
            "SELECT SUM_ERROR_RAISED FROM performance_schema.events_errors_summary_{table}_by_error WHERE ERROR_NUMBER = 1054 AND {condition}"
        ))
    };
    drop(other);
    let gone = "SELECT COUNT(*) FROM performance_schema.processlist WHERE USER = 'u'";
    while client.value(gone) != "0" {}
    for (table, condition) in [("by_account", "USER = 'u'"), ("by_user", "USER = 'u'"), ("global", "1")] {
        assert_eq!(raised(&mut client, table, condition), "3", "{table}");
    }
    run(&mut client, &["TRUNCATE TABLE performance_schema.events_errors_summary_by_user_by_error"]);
    assert_eq!(raised(&mut client, "by_account", "USER = 'u'"), "0");
    assert_eq!(raised(&mut client, "global", "1"), "3");
}

#[test]
fn stages_of_statements_are_noted_if_that_is_asked_for() {
    let (server, mut client) = world(&[]);
    let count = |client: &mut Client, id: &str| -> u64 {
        let query = format!(
            "SELECT COUNT_STAR FROM performance_schema.events_stages_summary_by_thread_by_event_name \
             WHERE THREAD_ID = {id} AND EVENT_NAME = 'stage/sql/executing'"
        );
        client.value(&query).parse().expect("a number")
    };
    let mut other = server.connect();
    let id = other.value("SELECT CONNECTION_ID()");
    run(&mut other, &["SELECT * FROM test.t"]);
    assert_eq!(count(&mut client, &id), 0);
    run(
        &mut client,
        &[
            "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME = 'stage/sql/executing'",
            "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME IN ('events_stages_current', 'events_stages_history')",
        ],
    );
    run(&mut other, &["SELECT * FROM test.t", "SELECT 1", "SHOW WARNINGS"]);
    assert_eq!(count(&mut client, &id), 3);
    let kept = format!(
        "SELECT CONCAT_WS('|', COUNT(*), MIN(NESTING_EVENT_TYPE), MIN(TIMER_END - TIMER_START = TIMER_WAIT), MIN(TIMER_WAIT > 0)) \
         FROM performance_schema.events_stages_history WHERE THREAD_ID = {id}"
    );
    assert_eq!(client.value(&kept), "3|STATEMENT|1|1");
    let within = format!(
        "SELECT s.SQL_TEXT FROM performance_schema.events_stages_current AS e JOIN performance_schema.events_statements_history AS s \
         ON s.THREAD_ID = e.THREAD_ID AND s.EVENT_ID = e.NESTING_EVENT_ID WHERE e.THREAD_ID = {id}"
    );
    assert_eq!(client.value(&within), "SHOW WARNINGS");
}

#[test]
fn stages_and_connections_are_summed_up_by_account_user_and_host() {
    let (server, mut client) = world(&[]);
    run(
        &mut client,
        &[
            "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME = 'stage/sql/executing'",
            "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME = 'events_stages_current'",
        ],
    );
    let number = |client: &mut Client, query: &str| -> u64 { client.value(query).parse().expect("a number") };
    let stages = |client: &mut Client, table: &str, condition: &str| {
        number(
            client,
            &format!(
                "SELECT SUM(COUNT_STAR) FROM performance_schema.events_stages_summary_{table}_by_event_name \
                 WHERE EVENT_NAME = 'stage/sql/executing' AND {condition}"
            ),
        )
    };
    let connections = |client: &mut Client, column: &str| {
        number(client, &format!("SELECT SUM({column}) FROM performance_schema.hosts"))
    };
    let [current, total] =
        ["CURRENT_CONNECTIONS", "TOTAL_CONNECTIONS"].map(|column| connections(&mut client, column));
    let of_hosts = stages(&mut client, "by_host", "HOST IS NOT NULL");
    let mut other = connect_as(&server, "u");
    run(&mut other, &["SELECT 1", "SELECT 2", "SHOW WARNINGS"]);
    // The client's own question is the fourth.
    assert_eq!(stages(&mut client, "by_host", "HOST IS NOT NULL"), of_hosts + 4);
    for table in ["by_account", "by_user"] {
        assert_eq!(stages(&mut client, table, "USER = 'u'"), 3, "{table}");
    }
    assert_eq!(connections(&mut client, "CURRENT_CONNECTIONS"), current + 1);
    drop(other);
    while connections(&mut client, "CURRENT_CONNECTIONS") != current {}
    assert_eq!(connections(&mut client, "TOTAL_CONNECTIONS"), total + 1);
    run(&mut client, &["TRUNCATE TABLE performance_schema.events_stages_summary_by_user_by_event_name"]);
    assert_eq!(stages(&mut client, "by_user", "USER = 'u'"), 0);
    assert_eq!(stages(&mut client, "by_account", "USER = 'u'"), 0);
    run(&mut client, &["TRUNCATE TABLE performance_schema.hosts"]);
    assert_eq!(connections(&mut client, "TOTAL_CONNECTIONS"), current);
}

/// Has stages with progress kept.
fn keep_stages(client: &mut Client) {
    run(
        client,
        &["UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME LIKE 'events_stages%'"],
    );
}

#[test]
fn work_on_all_rows_of_a_table_is_counted_in_stages() {
    let (_server, mut client) = world(&[]);
    keep_stages(&mut client);
    for (statement, stages) in [
        ("CREATE INDEX b ON test.t (b)", "read PK and internal sort) 4/8,insert) 8/8,end) 8/8"),
        ("ALTER TABLE test.t MODIFY b BIGINT", "read PK and internal sort) 8/12,insert) 12/12,end) 12/12"),
        ("ALTER TABLE test.t ALTER b SET DEFAULT 5", ""),
    ] {
        run(&mut client, &["TRUNCATE TABLE performance_schema.events_stages_history", statement]);
        let shown = client.value(
            "SELECT IFNULL(GROUP_CONCAT(SUBSTRING_INDEX(EVENT_NAME, '(', -1), ' ', WORK_COMPLETED, '/', WORK_ESTIMATED ORDER BY EVENT_ID), '') \
             FROM performance_schema.events_stages_history WHERE EVENT_NAME LIKE 'stage/innodb/%'",
        );
        assert_eq!(shown, stages, "{statement}");
    }
    let sums = "SELECT GROUP_CONCAT(COUNT_STAR) FROM performance_schema.events_stages_summary_global_by_event_name \
                WHERE EVENT_NAME LIKE 'stage/innodb/alter table%'";
    assert_eq!(client.value(sums), "2,2,2");
    let long = "SELECT COUNT(*) FROM performance_schema.events_stages_history_long";
    assert_eq!(client.value(long), "6");
}

#[test]
fn others_see_how_far_a_statement_has_come() {
    let (server, mut client) = world(&[]);
    keep_stages(&mut client);
    let mut rows = 4;
    while rows < 65_536 {
        run(&mut client, &[&format!("INSERT INTO test.t SELECT a + {rows}, b FROM test.t")]);
        rows *= 2;
    }
    let mut other = server.connect();
    let id = other.value("SELECT CONNECTION_ID()");
    other.send("ALTER TABLE test.t MODIFY b BIGINT");
    let running = format!(
        "SELECT COUNT(*) FROM performance_schema.events_stages_current WHERE THREAD_ID = {id} AND END_EVENT_ID IS NULL \
         AND EVENT_NAME LIKE 'stage/innodb/alter table%' AND WORK_COMPLETED BETWEEN 1 AND WORK_ESTIMATED AND TIMER_WAIT > 0"
    );
    let progress = format!("SELECT progress BETWEEN 0.01 AND 100 FROM sys.session WHERE conn_id = {id}");
    let (mut seen, mut has_progress) = (false, false);
    while !other.has_answer() {
        seen = seen || client.value(&running) == "1";
        has_progress = has_progress || seen && client.value(&progress) == "1";
    }
    other.answer();
    assert!(seen && has_progress);
    assert_eq!(client.value(&progress), "NULL");
    assert_eq!(client.value(&running), "0");
}
