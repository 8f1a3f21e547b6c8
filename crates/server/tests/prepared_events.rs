//! performance_schema.prepared_statements_instances: each number moved by a known amount and read back.

mod client;

use client::{Client, TestServer, run};

const INSTANCES: &str = "performance_schema.prepared_statements_instances";

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

/// Some columns of the statement with that text, in one string.
fn columns(client: &mut Client, columns: &str, text: &str) -> String {
    client.value(&format!("SELECT CONCAT_WS(' ', {columns}) FROM {INSTANCES} WHERE SQL_TEXT = '{text}'"))
}

/// The parameter of an execution: an INT.
fn int(value: u8) -> [u8; 8] {
    [0, 1, 3, 0, value, 0, 0, 0]
}

const NUMBERS: &str =
    "COUNT_EXECUTE, SUM_ROWS_SENT, SUM_ROWS_EXAMINED, SUM_ROWS_AFFECTED, SUM_ERRORS, SUM_WARNINGS";

#[test]
fn executions_by_the_binary_protocol_are_counted_with_their_statement() {
    let (server, mut client) = world(&[]);
    let mut watcher = server.connect();
    let (select, update) = ("SELECT b FROM t WHERE c > ?", "UPDATE t SET c = c + 1 WHERE a < ?");
    let select_id = client.prepare(select).expect("prepared");
    let update_id = client.prepare(update).expect("prepared");
    assert_eq!(columns(&mut watcher, NUMBERS, select), "0 0 0 0 0 0");
    for times in 1..=3 {
        client.execute(select_id, &int(2));
        assert_eq!(
            columns(&mut watcher, NUMBERS, select),
            format!("{times} {} {} 0 0 0", 2 * times, 4 * times)
        );
    }
    client.execute(update_id, &int(3));
    assert_eq!(columns(&mut watcher, NUMBERS, update), "1 0 2 2 0 0");
    assert_eq!(columns(&mut watcher, "SUM_SELECT_SCAN, SUM_NO_INDEX_USED, COUNT_REPREPARE", select), "3 3 0");
    let shown = "STATEMENT_ID, IFNULL(STATEMENT_NAME, '-'), EXECUTION_ENGINE, OWNER_THREAD_ID = ";
    let id = client.value("SELECT CONNECTION_ID()");
    assert_eq!(columns(&mut watcher, &format!("{shown}{id}"), update), format!("{update_id} - PRIMARY 1"));
    let times = "TIMER_PREPARE > 0, MIN_TIMER_EXECUTE <= AVG_TIMER_EXECUTE, AVG_TIMER_EXECUTE <= MAX_TIMER_EXECUTE, \
                 MAX_TIMER_EXECUTE <= SUM_TIMER_EXECUTE, MIN_TIMER_EXECUTE > 0";
    assert_eq!(columns(&mut watcher, times, select), "1 1 1 1 1");
    // A statement that is closed leaves; what it has done stays with its class.
    let class = "SELECT COUNT_STAR FROM performance_schema.events_statements_summary_global_by_event_name \
                 WHERE EVENT_NAME = 'statement/com/Execute'";
    assert_eq!(watcher.value(class), "4");
    let mut close = vec![0x19];
    close.extend_from_slice(&select_id.to_le_bytes());
    client.order(&close);
    client.value("SELECT 1");
    assert_eq!(watcher.value(&format!("SELECT COUNT(*) FROM {INSTANCES}")), "1");
    assert_eq!(watcher.value(class), "4");
}

#[test]
fn executions_by_name_are_counted_with_their_statement() {
    let (server, mut client) = world(&[]);
    let mut watcher = server.connect();
    run(&mut client, &["PREPARE Mine FROM 'SELECT a FROM t WHERE a = ? OR b = 9'", "SET @a = 2"]);
    let text = "SELECT a FROM t WHERE a = ? OR b = 9";
    let shown = "STATEMENT_NAME, COUNT_EXECUTE, SUM_ROWS_SENT";
    assert_eq!(columns(&mut watcher, shown, text), "Mine 0 0");
    run(&mut client, &["EXECUTE mine USING @a", "EXECUTE MINE USING @a"]);
    assert_eq!(columns(&mut watcher, shown, text), "Mine 2 2");
    let class = "SELECT COUNT_STAR FROM performance_schema.events_statements_summary_global_by_event_name \
                 WHERE EVENT_NAME = 'statement/sql/execute_sql'";
    assert_eq!(watcher.value(class), "2");
    // TRUNCATE of one leaves the other as it is.
    run(&mut watcher, &[&format!("TRUNCATE TABLE {INSTANCES}")]);
    assert_eq!(
        (columns(&mut watcher, shown, text), watcher.value(class)),
        ("Mine 0 0".to_owned(), "2".to_owned())
    );
    run(&mut client, &["EXECUTE mine USING @a"]);
    run(&mut watcher, &["TRUNCATE TABLE performance_schema.events_statements_summary_global_by_event_name"]);
    assert_eq!(
        (columns(&mut watcher, shown, text), watcher.value(class)),
        ("Mine 1 1".to_owned(), "0".to_owned())
    );
    // The same name again is another statement; numbers are those of both protocols.
    let before: u32 = columns(&mut watcher, "STATEMENT_ID", text).parse().expect("a number");
    let binary = client.prepare("SELECT 1").expect("prepared");
    run(&mut client, &["PREPARE mine FROM 'SELECT 2'"]);
    assert_eq!(columns(&mut watcher, "STATEMENT_ID", "SELECT 2"), (before + 2).to_string());
    assert_eq!(binary, before + 1);
    run(&mut client, &["DEALLOCATE PREPARE mine"]);
    assert_eq!(watcher.value(&format!("SELECT COUNT(*) FROM {INSTANCES}")), "1");
    // COM_RESET_CONNECTION closes all.
    client.command(&[0x1f]);
    assert_eq!(watcher.value(&format!("SELECT COUNT(*) FROM {INSTANCES}")), "0");
}

#[test]
fn a_statement_is_prepared_anew_when_a_table_of_it_has_changed() {
    let (server, mut client) = world(&[]);
    let mut other = server.connect();
    run(&mut other, &["USE test", "CREATE TABLE unrelated (a INT)"]);
    let text = "SELECT * FROM t WHERE a = ?";
    let statement = client.prepare(text).expect("prepared");
    let mut reprepared = |other: &mut Client, change: &str| {
        if !change.is_empty() {
            run(other, &[change]);
        }
        client.execute(statement, &int(1));
        columns(other, "COUNT_EXECUTE, COUNT_REPREPARE", text)
    };
    assert_eq!(reprepared(&mut other, ""), "1 0");
    assert_eq!(reprepared(&mut other, "ALTER TABLE unrelated ADD COLUMN b INT"), "2 0");
    assert_eq!(reprepared(&mut other, "ALTER TABLE t ADD COLUMN d INT DEFAULT 7"), "3 1");
    assert_eq!(reprepared(&mut other, ""), "4 1");
    assert_eq!(reprepared(&mut other, "DROP INDEX b ON t"), "5 2");
}

#[test]
fn what_there_is_no_room_for_is_counted_and_what_is_off_is_not_followed() {
    let (_server, mut client) = world(&[("performance_schema_max_prepared_statements_instances", "1")]);
    run(&mut client, &["PREPARE a FROM 'SELECT 1'", "PREPARE b FROM 'SELECT 2'"]);
    assert_eq!(client.value(&format!("SELECT GROUP_CONCAT(SQL_TEXT) FROM {INSTANCES}")), "SELECT 1");
    let lost = "SELECT VARIABLE_VALUE FROM performance_schema.global_status \
                WHERE VARIABLE_NAME = 'Performance_schema_prepared_statements_lost'";
    assert_eq!(client.value(lost), "1");
    run(&mut client, &["EXECUTE b", "DEALLOCATE PREPARE b", "DEALLOCATE PREPARE a"]);
    let password = "CREATE USER x IDENTIFIED BY ''secret''";
    run(&mut client, &[&format!("PREPARE a FROM '{password}'")]);
    let shown = client.value(&format!("SELECT SQL_TEXT FROM {INSTANCES}"));
    assert!(shown.contains("<secret>") && !shown.contains("'secret'"), "{shown}");
    let (_off, mut client) = world(&[("performance_schema", "OFF")]);
    run(&mut client, &["PREPARE a FROM 'SELECT 1'", "EXECUTE a"]);
    assert_eq!(client.value(&format!("SELECT COUNT(*) FROM {INSTANCES}")), "0");
}
