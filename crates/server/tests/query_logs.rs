//! The query logs over a socket: what is written, and what is not.

mod client;

use client::{Answer, Client, TestServer, connect_as, fails, run};

#[test]
fn the_general_log_has_everything_but_passwords() {
    let dir = tempfile::tempdir().unwrap();
    let (file, moved) = (dir.path().join("general.log"), dir.path().join("moved.log"));
    let path = file.to_str().unwrap();
    let server = TestServer::start(&[("general_log_file", path)]);
    let mut root = server.connect();
    run(
        &mut root,
        &["SET @before = 1", "SET GLOBAL general_log = ON", "CREATE USER u IDENTIFIED BY 'topsecret'"],
    );
    root.query("SELECT 'seen'");
    root.query("SELEC 'broken'");
    run(
        &mut root,
        &[
            "SET sql_log_off = ON",
            "SET @hidden = 1",
            "SET sql_log_off = OFF",
            "ALTER USER u IDENTIFIED BY ''",
        ],
    );
    let mut user = connect_as(&server, "u");
    let statement = user.prepare("SELECT ? + 1").unwrap();
    user.execute(statement, b"\0\x01\x08\0\x07\0\0\0\0\0\0\0");
    drop(user);
    std::fs::rename(&file, &moved).unwrap();
    run(
        &mut root,
        &["FLUSH GENERAL LOGS", "SET @again = 1", "SET GLOBAL general_log = OFF", "SET @after = 1"],
    );
    let first = std::fs::read_to_string(&moved).unwrap();
    let has = |text: &str| first.lines().any(|line| line.ends_with(text));
    for text in [
        "Query\tCREATE USER u IDENTIFIED BY <secret>",
        "Query\tSELECT 'seen'",
        "Query\tSET sql_log_off = ON",
        "Connect\tu@localhost on  using TCP/IP",
        "Prepare\tSELECT ? + 1",
        "Execute\tSELECT ? + 1",
        "Query\tFLUSH GENERAL LOGS",
    ] {
        assert!(has(text), "{text} is not in\n{first}");
    }
    for text in ["@before", "topsecret", "broken", "@hidden", "@again"] {
        assert!(!first.contains(text), "{text} is in\n{first}");
    }
    let second = std::fs::read_to_string(&file).unwrap();
    assert!(second.contains("SET @again = 1") && !second.contains("@after"), "{second}");
    run(&mut root, &["SET GLOBAL general_log_file = '/nowhere/general.log'"]);
    assert_eq!(fails(&mut root, "SET GLOBAL general_log = ON").0, 29);
    assert_eq!(root.value("SELECT @@general_log"), "0");
}

/// The arguments of what was logged to the table, but for empty ones.
fn logged(client: &mut Client) -> Vec<String> {
    let select = "SELECT argument FROM mysql.general_log WHERE argument <> '' ORDER BY event_time";
    let Answer::Rows(rows) = client.query(select) else { panic!("{select} gives rows") };
    rows.into_iter().map(|row| row[0].clone().unwrap()).filter(|text| text != select).collect()
}

#[test]
fn the_general_log_is_a_table_and_a_file_whatever_else_is_locked_or_read_only() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("general.log");
    let server = TestServer::start(&[
        ("general_log_file", file.to_str().unwrap()),
        ("log_output", "FILE,TABLE"),
        ("general_log", "ON"),
    ]);
    let (mut root, mut other) = (server.connect(), server.connect());
    // A session logs its login before its first statement, and perhaps after the client has been let in.
    run(&mut other, &["DO 0"]);
    run(&mut root, &["TRUNCATE mysql.general_log", "FLUSH TABLES WITH READ LOCK", "DO 1"]);
    run(&mut other, &["DO 2"]);
    let statements =
        ["UNLOCK TABLES", "SET GLOBAL super_read_only = ON", "DO 3", "SET GLOBAL read_only = OFF"];
    run(&mut root, &statements);
    run(&mut root, &["CREATE USER u IDENTIFIED BY 'topsecret'", "DO 4"]);
    let expected = [
        "FLUSH TABLES WITH READ LOCK",
        "DO 1",
        "DO 2",
        "UNLOCK TABLES",
        "SET GLOBAL super_read_only = ON",
        "DO 3",
        "SET GLOBAL read_only = OFF",
        "CREATE USER u IDENTIFIED BY <secret>",
        "DO 4",
    ];
    assert_eq!(logged(&mut root), expected);
    let lines = std::fs::read_to_string(&file).unwrap();
    assert!(expected.iter().all(|text| lines.contains(&format!("Query\t{text}\n"))), "{lines}");
}

#[test]
fn a_row_that_has_to_wait_too_long_is_left_out_and_the_client_is_served() {
    let server = TestServer::start(&[("log_output", "TABLE"), ("general_log", "ON")]);
    let (mut reader, mut truncating, mut other) = (server.connect(), server.connect(), server.connect());
    run(&mut reader, &["BEGIN"]);
    reader.query("SELECT COUNT(*) FROM mysql.general_log");
    truncating.send("TRUNCATE mysql.general_log");
    while other
        .value("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE LIKE '%metadata lock%'")
        == "0"
    {}
    run(&mut other, &["DO 'left out'"]);
    run(&mut reader, &["COMMIT"]);
    assert!(matches!(truncating.answer(), Answer::Ok(_)));
    run(&mut other, &["DO 'logged'"]);
    let logged = logged(&mut other);
    assert!(logged.iter().any(|text| text == "DO 'logged'"), "{logged:?}");
    assert!(!logged.iter().any(|text| text == "DO 'left out'"), "{logged:?}");
}

/// An entry of the slow query log: its lines without the one that begins it.
fn entries(log: &str) -> Vec<Vec<&str>> {
    let entries = log.split("# Time: ").skip(1);
    entries.map(|entry| entry.lines().skip(1).collect()).collect()
}

#[test]
fn the_slow_log_has_statements_that_took_long_or_used_no_index() {
    let dir = tempfile::tempdir().unwrap();
    let (file, moved) = (dir.path().join("slow.log"), dir.path().join("moved.log"));
    let path = file.to_str().unwrap();
    let server = TestServer::start(&[("slow_query_log", "ON"), ("slow_query_log_file", path)]);
    let mut root = server.connect();
    run(
        &mut root,
        &[
            "CREATE DATABASE d",
            "CREATE TABLE d.t (a INT PRIMARY KEY, b INT)",
            "INSERT INTO d.t VALUES (1, 1), (2, 2), (3, 3)",
            "SET long_query_time = 0",
            "ALTER USER root@localhost IDENTIFIED BY 'topsecret'",
            "ALTER USER root@localhost IDENTIFIED BY ''",
            "USE d",
        ],
    );
    root.query("SELECT * FROM t WHERE b > 1 ORDER BY b");
    root.query("SELECT * FROM t WHERE a = 2");
    root.query("SELECT nowhere");
    root.query("SELEC 'broken'");
    run(&mut root, &["ALTER TABLE t COMMENT = 'left out'", "SET GLOBAL log_slow_admin_statements = ON"]);
    run(&mut root, &["ALTER TABLE t COMMENT = 'written'", "SET GLOBAL log_slow_extra = ON"]);
    let statement = root.prepare("SELECT ? + a FROM t").unwrap();
    root.execute(statement, b"\0\x01\x08\0\x07\0\0\0\0\0\0\0");
    run(&mut root, &["SET GLOBAL log_slow_extra = OFF", "SET long_query_time = 10"]);
    root.query("SELECT 'not slow' FROM t");
    std::fs::rename(&file, &moved).unwrap();
    run(&mut root, &["FLUSH SLOW LOGS", "SET GLOBAL log_queries_not_using_indexes = ON"]);
    root.query("SELECT 'unindexed' FROM t");
    root.query("SELECT 'indexed' FROM t WHERE a = 1");
    run(&mut root, &["SET SESSION min_examined_row_limit = 4"]);
    root.query("SELECT 'few' FROM t");
    run(&mut root, &["SET GLOBAL slow_query_log = OFF"]);
    root.query("SELECT 'after' FROM t");

    let first = std::fs::read_to_string(&moved).unwrap();
    let all = entries(&first);
    let of = |text: &str| {
        all.iter().find(|entry| entry.last() == Some(&text)).unwrap_or_else(|| panic!("{text}: {first}"))
    };
    for (text, rows) in [
        ("SELECT * FROM t WHERE b > 1 ORDER BY b;", "Rows_sent: 2  Rows_examined: 3"),
        ("SELECT * FROM t WHERE a = 2;", "Rows_sent: 1  Rows_examined: 1"),
        ("SELECT nowhere;", "Rows_sent: 0  Rows_examined: 0"),
        ("ALTER USER root@localhost IDENTIFIED BY <secret>;", "Rows_sent: 0  Rows_examined: 0"),
        ("ALTER TABLE t COMMENT = 'written';", "Rows_sent: 0"),
    ] {
        let entry = of(text);
        assert!(entry[0].starts_with("# User@Host: root[root] @ localhost [127.0.0.1]  Id: "), "{entry:?}");
        assert!(entry[1].starts_with("# Query_time: 0.") && entry[1].contains(rows), "{entry:?}");
    }
    let extra = of("SELECT ? + a FROM t;")[1];
    for text in [" Errno: 0 Killed: 0 ", " Bytes_received: ", " Read_rnd_next: 4 ", "  Start: ", " End: "] {
        assert!(extra.contains(text), "{text} is not in {extra}");
    }
    assert!(first.matches("use d;\n").count() == 1, "a database is named when it changes: {first}");
    for text in ["CREATE TABLE", "topsecret", "broken", "left out", "not slow"] {
        assert!(!first.contains(text), "{text} is in\n{first}");
    }
    let second = std::fs::read_to_string(&file).unwrap();
    let texts: Vec<&str> = entries(&second).iter().filter_map(|entry| entry.last().copied()).collect();
    assert_eq!(texts, ["SELECT 'unindexed' FROM t;"], "{second}");
}
