//! Settings over a socket: what is restricted, honoured, or refused.

mod client;

use client::{Answer, CAPABILITIES, Client, TestServer};

fn ok(client: &mut Client, statements: &[&str]) {
    for statement in statements {
        let answer = client.query(statement);
        assert!(matches!(answer, Answer::Ok(_)), "{statement}: {answer:?}");
    }
}

/// The number and the text of the error that a statement answers.
fn fails(client: &mut Client, statement: &str) -> (u16, String) {
    match client.query(statement) {
        Answer::Error(number, text) => (number, text),
        other => panic!("{statement}: {other:?}"),
    }
}

/// A connection of an account without a password.
fn connect_as(server: &TestServer, user: &str) -> Client {
    let mut client = server.connect_raw();
    let answer = client.login(user, b"", CAPABILITIES);
    assert!(answer[0] == 0, "{}", answer.escape_ascii());
    client
}

#[test]
fn some_session_variables_need_a_privilege() {
    let server = TestServer::start(&[]);
    let mut root = server.connect();
    ok(&mut root, &["CREATE USER u", "CREATE USER s", "GRANT SESSION_VARIABLES_ADMIN ON *.* TO s"]);
    let mut user = connect_as(&server, "u");
    for (name, value, named) in [
        ("sql_log_bin", "0", "SUPER, SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN"),
        ("binlog_format", "ROW", "SUPER, SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN"),
        ("pseudo_thread_id", "7", "SUPER, SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN"),
        ("sql_log_off", "1", "SUPER, SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN"),
        ("sql_require_primary_key", "0", "SUPER, SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN"),
        ("max_error_count", "9", "SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN"),
        (
            "gtid_next",
            "AUTOMATIC",
            "SUPER, SYSTEM_VARIABLES_ADMIN, SESSION_VARIABLES_ADMIN or REPLICATION_APPLIER",
        ),
    ] {
        let text =
            format!("Access denied; you need (at least one of) the {named} privilege(s) for this operation");
        assert_eq!(fails(&mut user, &format!("SET SESSION {name} = {value}")), (1227, text));
        ok(&mut connect_as(&server, "s"), &[&format!("SET SESSION {name} = {value}")]);
    }
    ok(&mut user, &["SET SESSION sql_mode = ''", "SET autocommit = 0"]);
}

#[test]
fn what_is_not_done_is_refused_with_its_name() {
    let server = TestServer::start(&[]);
    let mut root = server.connect();
    for setting in [
        "partial_revokes=ON",
        "default_table_encryption=ON",
        "event_scheduler=ON",
        "gtid_mode=OFF_PERMISSIVE",
        "innodb_deadlock_detect=OFF",
        "ssl_cert=other.pem",
    ] {
        let (name, value) = setting.split_once('=').unwrap();
        let (number, text) = fails(&mut root, &format!("SET GLOBAL {name} = '{value}'"));
        assert_eq!((number, text.contains(setting)), (1235, true), "{text}");
        ok(&mut root, &[&format!("SET GLOBAL {name} = @@GLOBAL.{name}")]);
    }
    assert_eq!(fails(&mut root, "SET GLOBAL gtid_mode = ON").0, 1788);
    ok(&mut root, &["SET GLOBAL event_scheduler = DISABLED", "SET GLOBAL partial_revokes = DEFAULT"]);
}
