//! Settings over a socket: what is restricted, honoured, or refused.

mod client;

use client::{Answer, CAPABILITIES, Client, TestServer, connect_as, fails, run};

#[test]
fn some_session_variables_need_a_privilege() {
    let server = TestServer::start(&[]);
    let mut root = server.connect();
    run(&mut root, &["CREATE USER u", "CREATE USER s", "GRANT SESSION_VARIABLES_ADMIN ON *.* TO s"]);
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
        run(&mut connect_as(&server, "s"), &[&format!("SET SESSION {name} = {value}")]);
    }
    run(&mut user, &["SET SESSION sql_mode = ''", "SET autocommit = 0"]);
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
        "ssl_crl=other.pem",
    ] {
        let (name, value) = setting.split_once('=').unwrap();
        let (number, text) = fails(&mut root, &format!("SET GLOBAL {name} = '{value}'"));
        assert_eq!((number, text.contains(setting)), (1235, true), "{text}");
        run(&mut root, &[&format!("SET GLOBAL {name} = @@GLOBAL.{name}")]);
    }
    assert_eq!(fails(&mut root, "SET GLOBAL gtid_mode = ON").0, 1788);
    run(&mut root, &["SET GLOBAL event_scheduler = DISABLED", "SET GLOBAL partial_revokes = DEFAULT"]);
}

/// The error with which a login is refused.
fn refused(server: &TestServer, user: &str) -> (u16, String) {
    let mut client = server.connect_raw();
    match client::error(&client.login(user, b"", CAPABILITIES)) {
        Answer::Error(number, text) => (number, text),
        other => panic!("{other:?}"),
    }
}

fn prevented_by(option: &str) -> (u16, String) {
    let text =
        format!("The MySQL server is running with the {option} option so it cannot execute this statement");
    (1290, text)
}

#[test]
fn a_server_that_is_read_only_changes_nothing() {
    let server = TestServer::start(&[]);
    let mut root = server.connect();
    run(
        &mut root,
        &[
            "CREATE DATABASE d",
            "CREATE TABLE d.t (a INT PRIMARY KEY)",
            "INSERT INTO d.t VALUES (7)",
            "CREATE USER u",
            "GRANT ALL ON d.* TO u",
        ],
    );
    let mut user = connect_as(&server, "u");
    run(&mut user, &["BEGIN", "INSERT INTO d.t VALUES (1)"]);
    run(&mut root, &["SET GLOBAL read_only = ON"]);
    assert_eq!(fails(&mut user, "COMMIT"), prevented_by("--read-only"));
    for statement in [
        "INSERT INTO d.t VALUES (2)",
        "UPDATE d.t SET a = 3",
        "DELETE FROM d.t WHERE a = 99",
        "CREATE TABLE d.u (a INT)",
        "CREATE TABLE d.u SELECT 1",
        "TRUNCATE TABLE d.t",
        "DROP TABLE d.t",
        "LOCK TABLES d.t WRITE",
    ] {
        assert_eq!(fails(&mut user, statement), prevented_by("--read-only"), "{statement}");
    }
    // what was not committed is not there; administrators may write
    run(&mut root, &["INSERT INTO d.t VALUES (1)", "SET GLOBAL super_read_only = ON"]);
    for statement in
        ["INSERT INTO d.t VALUES (2)", "CREATE USER v", "GRANT SELECT ON d.* TO u", "DROP DATABASE d"]
    {
        assert_eq!(fails(&mut root, statement), prevented_by("--super-read-only"), "{statement}");
    }
    run(
        &mut root,
        &["SET GLOBAL read_only = OFF", "INSERT INTO d.t VALUES (2)", "SET GLOBAL super_read_only = ON"],
    );
    assert_eq!(fails(&mut user, "INSERT INTO d.t VALUES (3)"), prevented_by("--super-read-only"));
    run(&mut root, &["SET GLOBAL super_read_only = OFF"]);
    assert_eq!(fails(&mut user, "INSERT INTO d.t VALUES (3)"), prevented_by("--read-only"));
    run(&mut root, &["SET GLOBAL read_only = OFF", "BEGIN"]);
    assert_eq!(fails(&mut root, "SET GLOBAL read_only = ON").0, 1192);
    run(&mut root, &["COMMIT"]);
    run(&mut user, &["INSERT INTO d.t VALUES (3)"]);
}

#[test]
fn an_offline_server_lets_only_administrators_in() {
    let server = TestServer::start(&[]);
    let mut root = server.connect();
    run(&mut root, &["CREATE USER u"]);
    let mut user = connect_as(&server, "u");
    run(&mut root, &["SET GLOBAL offline_mode = ON"]);
    let text = "The server is currently in offline mode".to_owned();
    assert_eq!(refused(&server, "u"), (3032, text));
    assert!(user.read().is_none_or(|packet| packet.first() == Some(&0xff)), "the session has ended");
    run(&mut server.connect(), &["SET GLOBAL offline_mode = OFF"]);
    run(&mut root, &["DO 1"]);
    run(&mut connect_as(&server, "u"), &["DO 1"]);
}

#[test]
fn an_account_has_so_many_connections() {
    let server = TestServer::start(&[]);
    let mut root = server.connect();
    run(&mut root, &["CREATE USER u", "SET GLOBAL max_user_connections = 1"]);
    let user = connect_as(&server, "u");
    let text = "User u already has more than 'max_user_connections' active connections".to_owned();
    assert_eq!(refused(&server, "u"), (1203, text));
    run(&mut root, &["SET GLOBAL max_user_connections = 2"]);
    run(&mut connect_as(&server, "u"), &["DO 1"]);
    drop(user);
}

#[test]
fn persisted_values_outlive_the_server() {
    let dir = tempfile::tempdir().unwrap();
    let datadir = dir.path().to_str().unwrap();
    let server = TestServer::start(&[("datadir", datadir)]);
    let mut root = server.connect();
    run(
        &mut root,
        &[
            "CREATE USER u",
            "CREATE USER v",
            "GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO v",
            "SET PERSIST max_connections = 77",
            "SET PERSIST_ONLY back_log = 88",
            "SET PERSIST transaction_isolation = 'READ-COMMITTED'",
        ],
    );
    let text = "Access denied; you need SYSTEM_VARIABLES_ADMIN and PERSIST_RO_VARIABLES_ADMIN privileges for this \
                operation";
    let mut some = connect_as(&server, "v");
    assert_eq!(fails(&mut some, "SET PERSIST_ONLY back_log = 99"), (3630, text.to_owned()));
    run(&mut some, &["RESET PERSIST transaction_isolation"]);
    assert_eq!(fails(&mut some, "RESET PERSIST back_log").0, 1227);
    let mut none = connect_as(&server, "u");
    assert_eq!(fails(&mut none, "SET PERSIST max_connections = 99").0, 1227);
    assert_eq!(fails(&mut none, "RESET PERSIST").0, 1227);
    assert_eq!(fails(&mut none, "SET PERSIST_ONLY port = 99").0, 1238);
    server.stop().unwrap();

    let server = TestServer::start(&[("datadir", datadir)]);
    let mut root = server.connect();
    assert_eq!(root.value("SELECT CONCAT_WS(',', @@max_connections, @@back_log)"), "77,88");
    let source = "SELECT GROUP_CONCAT(VARIABLE_SOURCE, SET_USER) FROM performance_schema.variables_info \
                  WHERE VARIABLE_NAME IN ('max_connections', 'back_log')";
    assert_eq!(root.value(source), "PERSISTEDroot,PERSISTEDroot");
    run(&mut root, &["RESET PERSIST back_log"]);
    server.stop().unwrap();

    let server = TestServer::start(&[("datadir", datadir), ("persisted_globals_load", "OFF")]);
    assert_eq!(server.connect().value("SELECT @@max_connections"), "151");
    server.stop().unwrap();
    let server = TestServer::start(&[("datadir", datadir)]);
    assert_eq!(server.connect().value("SELECT CONCAT_WS(',', @@max_connections, @@back_log)"), "77,151");
}

#[test]
fn init_connect_is_executed_for_all_but_administrators() {
    let server = TestServer::start(&[("init_connect", "SET @a = 1; SET SESSION sql_mode = '';")]);
    let mut root = server.connect();
    run(&mut root, &["CREATE USER u"]);
    assert_eq!(root.value("SELECT CONCAT(COALESCE(@a, 0), @@sql_mode <> '')"), "01");
    let mut user = connect_as(&server, "u");
    assert_eq!(user.value("SELECT CONCAT(@a, @@sql_mode <> '')"), "10");
    run(&mut root, &["SET GLOBAL init_connect = 'SET @a = 1; SELECT * FROM no.where'"]);
    let mut user = connect_as(&server, "u");
    let (number, text) = fails(&mut user, "SELECT 1");
    assert_eq!(number, 1184);
    assert!(
        text.ends_with("to db: 'unconnected' user: 'u' host: 'localhost' (init_connect command failed)"),
        "{text}"
    );
    assert_eq!(user.read(), None);
    assert_eq!(user_after(&server, &mut root), "1");
}

/// What a user gets once `init_connect` is empty again.
fn user_after(server: &TestServer, root: &mut Client) -> String {
    run(root, &["SET GLOBAL init_connect = ''"]);
    connect_as(server, "u").value("SELECT COALESCE(@a, 1)")
}

#[test]
fn tables_of_disabled_engines_are_not_made() {
    let server = TestServer::start(&[("disabled_storage_engines", "MyISAM, CSV")]);
    let mut root = server.connect();
    run(&mut root, &["CREATE DATABASE test"]);
    let text = "Storage engine myisam is disabled (Table creation is disallowed).";
    assert_eq!(fails(&mut root, "CREATE TABLE test.t (a INT) ENGINE=myisam"), (3161, text.to_owned()));
    run(&mut root, &["CREATE TABLE test.t (a INT) ENGINE=MEMORY", "SET sql_mode = ''"]);
    run(&mut root, &["CREATE TABLE test.u (a INT) ENGINE=CSV"]);
    assert_eq!(root.value("SELECT ENGINE FROM information_schema.TABLES WHERE TABLE_NAME = 'u'"), "InnoDB");
}

#[test]
fn what_writes_or_logs_in_by_another_way_is_bound_as_well() {
    let server = TestServer::start(&[]);
    let mut root = server.connect();
    run(
        &mut root,
        &[
            "CREATE DATABASE test",
            "CREATE TABLE test.t (a INT)",
            "CREATE USER u",
            "GRANT ALL ON test.* TO u",
            "SET GLOBAL read_only = ON",
        ],
    );
    let mut user = connect_as(&server, "u");
    assert_eq!(fails(&mut user, "OPTIMIZE TABLE test.t").0, 1290);
    assert_eq!(fails(&mut user, "ANALYZE TABLE test.t").0, 1290);
    run(&mut root, &["SET GLOBAL read_only = OFF", "SET GLOBAL offline_mode = ON"]);
    let mut changing = server.connect();
    let answer = changing.command(b"\x11u\0\0\0\xff\0mysql_native_password\0").unwrap();
    assert_eq!(answer[0], 0xff, "{}", answer.escape_ascii());
    assert_eq!(u16::from_le_bytes([answer[1], answer[2]]), 3032);
}

/// As an option with such a value is warned of in the log.
#[test]
fn a_value_that_changes_nothing_is_answered_with_a_warning() {
    let server = TestServer::start(&[]);
    let mut root = server.connect();
    let warnings = |client: &mut Client| match client.query("SHOW WARNINGS") {
        Answer::Rows(rows) => rows.into_iter().map(|row| row[2].clone().unwrap()).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    for (statement, ignored) in [
        ("SET GLOBAL concurrent_insert = 'NEVER'", Some("concurrent_insert")),
        ("SET GLOBAL concurrent_insert = DEFAULT", None),
        ("SET GLOBAL innodb_old_blocks_time = 0", Some("innodb_old_blocks_time")),
        ("SET SESSION unique_checks = 0", Some("unique_checks")),
        ("SET SESSION unique_checks = 1", None),
        ("SET PERSIST innodb_flush_sync = OFF", Some("innodb_flush_sync")),
        ("SET PERSIST_ONLY innodb_buffer_pool_instances = 4", Some("innodb_buffer_pool_instances")),
        ("SET PERSIST_ONLY innodb_buffer_pool_instances = DEFAULT", None),
        ("SET GLOBAL innodb_lru_scan_depth = 2048", None),
    ] {
        assert_eq!(root.query(statement), Answer::Ok(0), "{statement}");
        let expected: Vec<String> = ignored.iter().map(|name| format!("<{name}> option ignored")).collect();
        assert_eq!(warnings(&mut root), expected, "{statement}");
    }
}
