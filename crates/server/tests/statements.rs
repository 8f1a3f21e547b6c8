//! Statements over a socket, in both protocols.

mod client;

use client::{Answer, TestServer, error};

fn rows(list: &[&[&str]]) -> Answer {
    let row = |row: &&[&str]| row.iter().map(|text| Some((*text).to_owned())).collect();
    Answer::Rows(list.iter().map(row).collect())
}

fn with_table() -> TestServer {
    let server = TestServer::start(&[]);
    let mut client = server.connect();
    assert_eq!(client.query("CREATE DATABASE test"), Answer::Ok(1));
    assert_eq!(client.query("USE test"), Answer::Ok(0));
    assert_eq!(client.query("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20), n BIGINT)"), Answer::Ok(0));
    assert_eq!(client.query("INSERT INTO t VALUES (1, 'one', 10), (2, 'two', NULL)"), Answer::Ok(2));
    server
}

#[test]
fn a_table_is_created_filled_and_read() {
    let server = with_table();
    let mut client = server.connect();
    assert_eq!(client.query("SELECT v FROM test.t ORDER BY id"), rows(&[&["one"], &["two"]]));
    assert_eq!(
        client.query("SELECT * FROM test.t WHERE id = 2"),
        Answer::Rows(vec![vec![Some("2".into()), Some("two".into()), None]])
    );
    assert_eq!(client.query("UPDATE test.t SET n = 5 WHERE id = 2"), Answer::Ok(1));
    assert_eq!(client.query("DELETE FROM test.t WHERE id = 1"), Answer::Ok(1));
    assert_eq!(client.query("SELECT id, n FROM test.t"), rows(&[&["2", "5"]]));
    assert_eq!(
        client.query("INSERT INTO test.t VALUES (2, 'again', 1)"),
        Answer::Error(1062, "Duplicate entry '2' for key 't.PRIMARY'".into())
    );
    assert!(matches!(client.query("SELEC 1"), Answer::Error(1064, _)));
    assert_eq!(
        client.query("SELECT * FROM test.nothing"),
        Answer::Error(1146, "Table 'test.nothing' doesn't exist".into())
    );
}

#[test]
fn what_was_committed_is_there_after_a_restart() {
    let server = with_table();
    let datadir = server.dir.path().join("data");
    let kept = tempfile::tempdir().unwrap();
    let target = kept.path().join("data");
    let mut client = server.connect();
    assert_eq!(client.query("INSERT INTO test.t VALUES (3, 'three', 30)"), Answer::Ok(1));
    drop(client);
    assert_eq!(server.stop_and_move(&datadir, &target), Ok(()));
    let server = TestServer::start(&[("datadir", target.to_str().unwrap())]);
    let mut client = server.connect();
    assert_eq!(client.query("SELECT id FROM test.t ORDER BY id"), rows(&[&["1"], &["2"], &["3"]]));
}

#[test]
fn several_statements_in_one_text_have_several_answers() {
    let server = with_table();
    let mut client = server.connect();
    assert_eq!(client.query("SELECT 1; SELECT id FROM test.t WHERE id = 2; SET @a = 1;"), rows(&[&["1"]]));
    assert_eq!(client.answer(), rows(&[&["2"]]));
    assert_eq!(client.answer(), Answer::Ok(0));
    assert_eq!(client.query("SELECT @a"), rows(&[&["1"]]));
    assert_eq!(client.command(b"\x1b\x01\0").unwrap()[0], 0xfe, "multi-statements off");
    assert!(matches!(client.query("SELECT 1; SELECT 2"), Answer::Error(1064, _)));
    assert_eq!(client.query("SELECT 1;"), rows(&[&["1"]]));
}

#[test]
fn prepared_statements_take_parameters_and_send_binary_rows() {
    let server = with_table();
    let mut client = server.connect();
    let id = client.prepare("SELECT id, v, n FROM test.t WHERE id = ?").unwrap();
    let mut body = vec![0, 1, 8, 0];
    body.extend_from_slice(&2i64.to_le_bytes());
    assert_eq!(client.execute(id, &body), [b"\0\x10\x02\0\0\0\x03two".to_vec()]);
    let mut again = vec![0, 0];
    again.extend_from_slice(&1i64.to_le_bytes());
    assert_eq!(client.execute(id, &again), [b"\0\0\x01\0\0\0\x03one\x0a\0\0\0\0\0\0\0".to_vec()]);
    client.sequence = 0;
    client.write(&[&[0x19][..], &id.to_le_bytes()].concat());
    let mut execute = vec![0x17];
    execute.extend_from_slice(&id.to_le_bytes());
    execute.extend_from_slice(&[0, 1, 0, 0, 0]);
    assert!(matches!(error(&client.command(&execute).unwrap()), Answer::Error(1243, _)));
    assert!(matches!(client.prepare("SELEC"), Err(Answer::Error(1064, _))));
}

#[test]
fn statements_of_both_protocols_have_profiles() {
    let server = with_table();
    let mut client = server.connect();
    assert_eq!(client.query("SET profiling = 1; DO 1; SELECT SLEEP(0.02);"), Answer::Ok(0));
    assert_eq!((client.answer(), client.answer()), (Answer::Ok(0), rows(&[&["0"]])));
    let id = client.prepare("SELECT SLEEP(?)").unwrap();
    let mut body = vec![0, 1, 5, 0];
    body.extend_from_slice(&0.03f64.to_le_bytes());
    assert_eq!(client.execute(id, &body).len(), 1);
    let Answer::Rows(profiles) = client.query("SHOW PROFILES") else { panic!("it answers with rows") };
    let column = |at: usize| profiles.iter().map(|row| row[at].clone().unwrap()).collect::<Vec<_>>();
    assert_eq!(column(0), ["1", "2", "3"]);
    assert_eq!(column(2), ["DO 1", "SELECT SLEEP(0.02)", "SELECT SLEEP(?)"]);
    let took: Vec<f64> = column(1).iter().map(|duration| duration.parse().unwrap()).collect();
    assert!(took[1] >= 0.02 && took[2] >= 0.03 && took[0] < took[2], "{took:?}");
    let sum = "SELECT SUM(duration) BETWEEN 0.0299 AND 10, COUNT(*) > 5 FROM information_schema.PROFILING \
               WHERE query_id = 3";
    assert_eq!(client.query(sum), rows(&[&["1", "1"]]), "the stages are the whole of it");
    assert_eq!(server.connect().query("SHOW PROFILES"), rows(&[]), "they are the session's");
}

#[test]
fn long_data_becomes_the_parameter() {
    let server = with_table();
    let mut client = server.connect();
    let id = client.prepare("INSERT INTO test.t VALUES (?, ?, 0)").unwrap();
    for part in [&b"lo"[..], b"ng"] {
        client.sequence = 0;
        client.write(&[&[0x18][..], &id.to_le_bytes(), &[1, 0], part].concat());
    }
    let mut body = vec![0, 1, 3, 0, 252, 0];
    body.extend_from_slice(&7i32.to_le_bytes());
    assert_eq!(client.execute(id, &body), [b""; 0]);
    assert_eq!(client.query("SELECT v FROM test.t WHERE id = 7"), rows(&[&["long"]]));
}

#[test]
fn variables_are_set_and_read_by_scope() {
    let server = TestServer::start(&[]);
    let mut client = server.connect();
    assert_eq!(client.value("SELECT @@version_comment"), "Palisade");
    assert_eq!(client.value("SELECT @@session.autocommit"), "1");
    assert_eq!(client.query("SET autocommit = OFF, wait_timeout = 100"), Answer::Ok(0));
    assert_eq!(client.value("SELECT @@autocommit"), "0");
    assert_eq!(client.query("SHOW VARIABLES LIKE 'autocommit'"), rows(&[&["autocommit", "OFF"]]));
    assert_eq!(client.value("SELECT @@global.wait_timeout"), "28800");
    assert_eq!(client.query("SET GLOBAL wait_timeout = 200"), Answer::Ok(0));
    assert_eq!(client.value("SELECT @@wait_timeout"), "100");
    assert_eq!(server.connect().value("SELECT @@wait_timeout"), "200");
    let number = |answer| match answer {
        Answer::Error(number, _) => number,
        other => panic!("{other:?}"),
    };
    assert_eq!(number(client.query("SET nonsense = 1")), 1193);
    assert_eq!(number(client.query("SET version = 1")), 1238);
    assert_eq!(number(client.query("SET max_connections = 1")), 1229);
    assert_eq!(number(client.query("SET autocommit = 7")), 1231);
    assert_eq!(number(client.query("SET NAMES klingon")), 1115);
    assert_eq!(client.query("SET NAMES latin1"), Answer::Ok(0));
    assert_eq!(client.value("SELECT @@character_set_results"), "latin1");
    assert_eq!(client.value("SELECT @@collation_connection"), "latin1_swedish_ci");
}

#[test]
fn the_process_list_and_kill_query() {
    let server = with_table();
    let mut holder = server.connect();
    assert_eq!(holder.query("BEGIN"), Answer::Ok(0));
    assert_eq!(holder.query("UPDATE test.t SET n = 1 WHERE id = 1"), Answer::Ok(1));
    let mut waiter = server.connect();
    let waiter_id = waiter.value("SELECT CONNECTION_ID()");
    let waiting = std::thread::spawn(move || {
        let answer = waiter.query("UPDATE test.t SET n = 2 WHERE id = 1");
        (waiter, answer)
    });
    let text = format!(
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = {waiter_id} AND INFO LIKE 'UPDATE%'"
    );
    while holder.value(&text) != "1" {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(holder.query(&format!("KILL QUERY {waiter_id}")), Answer::Ok(0));
    let (mut waiter, answer) = waiting.join().unwrap();
    assert_eq!(answer, Answer::Error(1317, "Query execution was interrupted".into()));
    assert_eq!(waiter.value("SELECT 1"), "1");
    assert_eq!(holder.query("COMMIT"), Answer::Ok(0));
    assert_eq!(
        waiter.query("KILL CONNECTION_ID()"),
        Answer::Error(1317, "Query execution was interrupted".into())
    );
    assert_eq!(waiter.read(), None);
}

#[test]
fn a_lock_wait_times_out() {
    let server = with_table();
    let (mut holder, mut waiter) = (server.connect(), server.connect());
    assert_eq!(holder.query("BEGIN"), Answer::Ok(0));
    assert_eq!(holder.query("UPDATE test.t SET n = 1 WHERE id = 1"), Answer::Ok(1));
    assert_eq!(waiter.query("SET innodb_lock_wait_timeout = 1"), Answer::Ok(0));
    assert_eq!(
        waiter.query("UPDATE test.t SET n = 2 WHERE id = 1"),
        Answer::Error(1205, "Lock wait timeout exceeded; try restarting transaction".into())
    );
    assert_eq!(holder.query("ROLLBACK"), Answer::Ok(0));
    assert_eq!(waiter.query("UPDATE test.t SET n = 2 WHERE id = 1"), Answer::Ok(1));
}

#[test]
fn a_transaction_ends_with_its_connection() {
    let server = with_table();
    let mut client = server.connect();
    assert_eq!(client.query("BEGIN"), Answer::Ok(0));
    assert_eq!(client.query("DELETE FROM test.t"), Answer::Ok(2));
    assert_eq!(client.value("SELECT COUNT(*) FROM test.t"), "0");
    drop(client);
    let mut other = server.connect();
    for _ in 0..500 {
        if other.query("DELETE FROM test.t WHERE id = 1") == Answer::Ok(1) {
            return;
        }
    }
    panic!("the row stayed locked or gone");
}

#[test]
fn a_result_larger_than_the_buffers_arrives() {
    let server = with_table();
    let mut client = server.connect();
    let text = "x".repeat(1 << 20);
    assert_eq!(client.query("CREATE TABLE test.big (id INT PRIMARY KEY, b LONGTEXT)"), Answer::Ok(0));
    for id in 0..20 {
        assert_eq!(client.query(&format!("INSERT INTO test.big VALUES ({id}, '{text}')")), Answer::Ok(1));
    }
    match client.query("SELECT b FROM test.big") {
        Answer::Rows(rows) => {
            assert_eq!(rows.len(), 20);
            assert!(rows.iter().all(|row| row[0].as_deref() == Some(&text)));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(client.value("SELECT LENGTH(REPEAT('x', 20000000))"), "20000000");
    assert_eq!(client.value("SELECT REPEAT('x', 20000000)").len(), 20_000_000);
}

#[test]
fn the_columns_of_a_table_can_be_listed() {
    let server = with_table();
    let mut client = server.connect();
    assert_eq!(client.query("USE test"), Answer::Ok(0));
    let mut names = Vec::new();
    let mut packet = client.command(b"\x04t\0").unwrap();
    while packet[0] != 0xfe {
        names.push(packet);
        packet = client.read().unwrap();
    }
    assert_eq!(names.len(), 3);
    assert!(names[1].windows(2).any(|pair| pair == b"\x01v"));
    assert!(matches!(error(&client.command(b"\x04none\0").unwrap()), Answer::Error(1146, _)));
}

#[test]
fn a_shutdown_under_load_is_clean_and_loses_nothing() {
    let server = with_table();
    let datadir = server.dir.path().join("data");
    let kept = tempfile::tempdir().unwrap();
    let target = kept.path().join("data");
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let mut client = server.connect();
            std::thread::spawn(move || {
                let mut acknowledged = Vec::new();
                for number in 0.. {
                    let id = 1000 * (writer + 1) + number;
                    let text = format!("INSERT INTO test.t VALUES ({id}, 'x', 0)");
                    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| client.query(&text))) {
                        Ok(Answer::Ok(1)) => acknowledged.push(id.to_string()),
                        _ => break,
                    }
                }
                acknowledged
            })
        })
        .collect();
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(server.stop_and_move(&datadir, &target), Ok(()));
    let acknowledged: Vec<String> = writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
    assert!(!acknowledged.is_empty());
    let server = TestServer::start(&[("datadir", target.to_str().unwrap())]);
    let mut client = server.connect();
    let Answer::Rows(rows) = client.query("SELECT id FROM test.t") else { panic!("the rows are gone") };
    for id in acknowledged {
        assert!(rows.iter().any(|row| row[0].as_deref() == Some(&id)), "{id} was acknowledged and is lost");
    }
}

#[test]
fn locked_tables_keep_other_sessions_waiting() {
    let server = with_table();
    let mut owner = server.connect();
    let mut other = server.connect();
    let timeout = "Lock wait timeout exceeded; try restarting transaction";
    assert_eq!(other.query("SET lock_wait_timeout = 1"), Answer::Ok(0));
    assert_eq!(owner.query("LOCK TABLES test.t READ"), Answer::Ok(0));
    assert_eq!(other.query("SELECT COUNT(*) FROM test.t"), rows(&[&["2"]]));
    assert_eq!(other.query("DELETE FROM test.t"), Answer::Error(1205, timeout.into()));
    assert_eq!(other.query("DROP TABLE test.t"), Answer::Error(1205, timeout.into()));
    assert_eq!(owner.query("LOCK TABLES test.t WRITE"), Answer::Ok(0));
    assert_eq!(other.query("SELECT COUNT(*) FROM test.t"), Answer::Error(1205, timeout.into()));
    assert_eq!(owner.query("INSERT INTO test.t VALUES (3, 'three', 3)"), Answer::Ok(1));
    assert_eq!(owner.query("UNLOCK TABLES"), Answer::Ok(0));
    assert_eq!(other.query("SELECT COUNT(*) FROM test.t"), rows(&[&["3"]]));
    assert_eq!(owner.query("FLUSH TABLES WITH READ LOCK"), Answer::Ok(0));
    assert_eq!(other.query("SELECT COUNT(*) FROM test.t"), rows(&[&["3"]]));
    assert_eq!(other.query("DELETE FROM test.t"), Answer::Error(1205, timeout.into()));
    assert_eq!(other.query("CREATE DATABASE new"), Answer::Error(1205, timeout.into()));
    drop(owner);
    assert_eq!(other.query("DELETE FROM test.t"), Answer::Ok(3));
}

/// Whoever waits for several tables waits for a transaction that uses one of them, and that one goes on to the others.
#[test]
fn a_transaction_goes_on_to_tables_that_wait_for_it() {
    let server = with_table();
    let mut other = server.connect();
    let mut watcher = server.connect();
    client::run(
        &mut other,
        &["USE test", "CREATE TABLE u (id INT PRIMARY KEY)", "CREATE TABLE w (id INT PRIMARY KEY)"],
    );
    for (wanted, release) in [
        ("FLUSH TABLES WITH READ LOCK", "UNLOCK TABLES"),
        ("LOCK TABLES test.u WRITE, test.t READ", "UNLOCK TABLES"),
        (
            "RENAME TABLE test.t TO test.x, test.u TO test.t, test.x TO test.u",
            "RENAME TABLE test.t TO test.x, test.u TO test.t, test.x TO test.u",
        ),
        ("DROP TABLE test.u, test.t", "DO 0"),
    ] {
        let mut waiter = server.connect();
        let id = waiter.value("SELECT CONNECTION_ID()");
        // With nobody passing, this fails instead of hanging.
        client::run(&mut other, &["SET lock_wait_timeout = 5", "BEGIN", "UPDATE t SET id = id WHERE id = 1"]);
        waiter.send(wanted);
        let state = format!("SELECT STATE FROM information_schema.PROCESSLIST WHERE ID = {id}");
        client::until(&mut watcher, &state, &rows(&[&["Waiting for table metadata lock"]]));
        assert_eq!(other.query("INSERT INTO u VALUES (1)"), Answer::Ok(1), "{wanted}");
        assert_eq!(other.query("ROLLBACK"), Answer::Ok(0));
        assert_eq!(waiter.answer(), Answer::Ok(0), "{wanted}");
        client::run(&mut waiter, &[release]);
    }
}

#[test]
fn foreign_keys_hold_between_sessions() {
    let server = with_table();
    let mut one = server.connect();
    let mut two = server.connect();
    let timeout = || Answer::Error(1205, "Lock wait timeout exceeded; try restarting transaction".into());
    assert_eq!(
        one.query("CREATE TABLE test.c (id INT PRIMARY KEY, t INT, FOREIGN KEY (t) REFERENCES test.t (id))"),
        Answer::Ok(0)
    );
    assert_eq!(two.query("SET innodb_lock_wait_timeout = 1"), Answer::Ok(0));
    // the parent is going: the child waits for what becomes of it
    assert_eq!(one.query("BEGIN"), Answer::Ok(0));
    assert_eq!(one.query("DELETE FROM test.t WHERE id = 1"), Answer::Ok(1));
    assert_eq!(two.query("INSERT INTO test.c VALUES (1, 1)"), timeout());
    assert_eq!(one.query("ROLLBACK"), Answer::Ok(0));
    // the child is coming: the parent's end waits for it
    assert_eq!(one.query("BEGIN"), Answer::Ok(0));
    assert_eq!(one.query("INSERT INTO test.c VALUES (1, 1)"), Answer::Ok(1));
    assert_eq!(two.query("DELETE FROM test.t WHERE id = 1"), timeout());
    assert_eq!(two.query("UPDATE test.t SET v = 'uno' WHERE id = 2"), Answer::Ok(1));
    assert_eq!(one.query("COMMIT"), Answer::Ok(0));
    assert!(matches!(two.query("DELETE FROM test.t WHERE id = 1"), Answer::Error(1451, _)));
    assert_eq!(one.query("DELETE FROM test.c"), Answer::Ok(1));
    assert_eq!(two.query("DELETE FROM test.t WHERE id = 1"), Answer::Ok(1));
}

/// What a statement adds to the session's counters, without those that stay.
fn work_of(client: &mut client::Client, statement: &str) -> String {
    let status = "SHOW SESSION STATUS WHERE Variable_name LIKE 'Handler%' OR Variable_name LIKE 'Select%' \
                  OR Variable_name LIKE 'Sort%'";
    let read = |client: &mut client::Client| match client.query(status) {
        Answer::Rows(rows) => rows
            .into_iter()
            .map(|row| {
                let [Some(name), Some(value)] = &row[..] else { panic!("{row:?}") };
                (name.clone(), value.parse::<u64>().unwrap())
            })
            .collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let before = read(client);
    let answer = client.query(statement);
    assert!(!matches!(answer, Answer::Error(..)), "{statement}: {answer:?}");
    let after = read(client);
    let grown = before.iter().zip(&after).filter(|(before, after)| before.1 != after.1);
    let words: Vec<String> =
        grown.map(|(before, after)| format!("{}={}", after.0, after.1 - before.1)).collect();
    words.join(" ").replace("Handler_", "")
}

#[test]
fn calls_of_the_engine_are_counted_as_in_mysql() {
    let server = TestServer::start(&[]);
    let mut client = server.connect();
    client.query("CREATE DATABASE test");
    client.query("USE test");
    client.query("CREATE TABLE t (id INT PRIMARY KEY, k INT, v INT, KEY (k))");
    client.query("CREATE TABLE u (id INT PRIMARY KEY, t_id INT)");
    client.query("INSERT INTO t VALUES (1,1,1),(2,2,2),(3,0,3),(4,1,4),(5,2,5),(6,0,6),(7,1,7),(8,2,8),(9,0,9),(10,1,10)");
    client.query("INSERT INTO u VALUES (1,1),(2,2),(3,3)");
    // measured with MySQL 9.7, without Handler_external_lock
    for (statement, expected) in [
        ("SELECT * FROM t", "commit=1 read_first=1 read_key=1 read_rnd_next=11 Select_scan=1"),
        ("SELECT * FROM t WHERE id = 3", "commit=1 read_key=1"),
        ("SELECT * FROM t WHERE id = 33", "commit=1 read_key=1"),
        ("SELECT * FROM t WHERE id BETWEEN 3 AND 6", "commit=1 read_key=1 read_next=4 Select_range=1"),
        ("SELECT v FROM t WHERE k = 1", "commit=1 read_key=1 read_next=4"),
        ("SELECT k FROM t WHERE k = 1", "commit=1 read_key=1 read_next=4"),
        ("SELECT * FROM t LIMIT 3", "commit=1 read_first=1 read_key=1 read_rnd_next=3 Select_scan=1"),
        ("SELECT * FROM t ORDER BY id DESC", "commit=1 read_key=1 read_last=1 read_prev=10 Select_scan=1"),
        (
            "SELECT * FROM t ORDER BY id DESC LIMIT 2",
            "commit=1 read_key=1 read_last=1 read_prev=1 Select_scan=1",
        ),
        (
            "SELECT * FROM t ORDER BY v",
            "commit=1 read_first=1 read_key=1 read_rnd_next=11 Select_scan=1 Sort_rows=10 Sort_scan=1",
        ),
        (
            "SELECT * FROM t WHERE id BETWEEN 3 AND 6 ORDER BY v",
            "commit=1 read_key=1 read_next=4 Select_range=1 Sort_rows=4 Sort_scan=1",
        ),
        (
            "SELECT * FROM t a, t b WHERE a.v = b.v",
            "commit=1 read_first=2 read_key=2 read_rnd_next=22 Select_full_join=1 Select_scan=1",
        ),
        ("INSERT INTO t VALUES (20, 20, 20)", "commit=1 write=1"),
        ("INSERT INTO t VALUES (21, 21, 21), (22, 22, 22)", "commit=1 write=2"),
        ("UPDATE t SET v = v + 1 WHERE id = 3", "commit=1 read_key=1 update=1"),
        ("UPDATE t SET v = v + 1 WHERE id = 333", "commit=1 read_key=1"),
        ("UPDATE t SET v = v + 1 WHERE k = 1", "commit=1 read_key=1 read_next=4 update=4"),
        ("UPDATE t SET v = v + 1", "commit=1 read_first=1 read_key=1 read_rnd_next=14 update=13"),
        ("DELETE FROM t WHERE id = 20", "commit=1 delete=1 read_key=1"),
        ("DELETE FROM t WHERE v > 20", "commit=1 delete=2 read_first=1 read_key=1 read_rnd_next=13"),
        ("INSERT IGNORE INTO t VALUES (3, 3, 3)", "commit=1 write=1"),
        (
            "INSERT INTO t VALUES (3, 3, 3) ON DUPLICATE KEY UPDATE v = 9",
            "commit=1 read_key=1 update=1 write=1",
        ),
        ("BEGIN", ""),
        ("SELECT * FROM t WHERE id = 3", "commit=1 read_key=1"),
        ("SAVEPOINT a", "savepoint=1"),
        ("UPDATE t SET v = 77 WHERE id = 3", "commit=1 read_key=1 update=1"),
        ("ROLLBACK TO a", "savepoint_rollback=1"),
        ("COMMIT", "commit=1"),
        ("BEGIN", ""),
        ("INSERT INTO t VALUES (30, 1, 1)", "commit=1 write=1"),
        ("ROLLBACK", "rollback=1"),
        ("SELECT 1", ""),
    ] {
        assert_eq!(work_of(&mut client, statement), expected, "{statement}");
    }
    // The server's counters have what the session had; another session has nothing yet.
    let mut other = server.connect();
    let value = |client: &mut client::Client, scope: &str| {
        client.query(&format!("SHOW {scope} STATUS LIKE 'Handler_savepoint'"))
    };
    assert_eq!(value(&mut other, "SESSION"), rows(&[&["Handler_savepoint", "0"]]));
    assert_eq!(value(&mut other, "GLOBAL"), rows(&[&["Handler_savepoint", "1"]]));
}

#[test]
fn a_checksum_of_many_rows_ends_with_kill_and_lets_others_work() {
    let server = with_table();
    let mut client = server.connect();
    for statement in ["CREATE TABLE test.many (a BIGINT)", "INSERT INTO test.many VALUES (0)"] {
        assert!(matches!(client.query(statement), Answer::Ok(_)));
    }
    for step in 0..17 {
        let text = format!("INSERT INTO test.many SELECT a + {} FROM test.many", 1 << step);
        assert!(matches!(client.query(&text), Answer::Ok(_)));
    }
    let id = client.value("SELECT CONNECTION_ID()");
    client.send("CHECKSUM TABLE test.many");
    let mut other = server.connect();
    while other.value(&format!("SELECT COMMAND FROM information_schema.PROCESSLIST WHERE ID = {id}"))
        != "Query"
    {}
    assert_eq!(other.query(&format!("KILL QUERY {id}")), Answer::Ok(0));
    assert_eq!(client.answer(), Answer::Error(1317, "Query execution was interrupted".into()));
}
