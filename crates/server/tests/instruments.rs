//! What performance_schema tells of other sessions, of locks on tables and of files.

mod client;

use std::collections::BTreeMap;

use client::process::Process;
use client::{Answer, Client, TestServer, connect_as, run, until};

fn list(client: &mut Client, text: &str) -> Vec<String> {
    let cell = |cell: Option<String>| cell.unwrap_or_else(|| "NULL".to_owned());
    match client.query(text) {
        Answer::Rows(rows) => {
            rows.into_iter().map(|row| row.into_iter().map(cell).collect::<Vec<_>>().join(" ")).collect()
        }
        other => panic!("{text}: {other:?}"),
    }
}

fn world() -> (TestServer, Client) {
    let server = TestServer::start(&[]);
    let mut client = server.connect();
    run(
        &mut client,
        &[
            "CREATE DATABASE test",
            "CREATE TABLE test.t (a INT PRIMARY KEY, b INT)",
            "CREATE TABLE test.u (a INT PRIMARY KEY)",
            "INSERT INTO test.t VALUES (1, 1), (2, 2)",
        ],
    );
    (server, client)
}

const LOCKS: &str = "SELECT OBJECT_TYPE, OBJECT_NAME, LOCK_TYPE, LOCK_DURATION, LOCK_STATUS, OWNER_THREAD_ID \
                     FROM performance_schema.metadata_locks ORDER BY OBJECT_NAME, LOCK_STATUS, LOCK_TYPE";

const WAITING: &str = "SELECT COUNT(*) FROM performance_schema.metadata_locks WHERE LOCK_STATUS = 'PENDING'";

fn until_pending(client: &mut Client, count: &str) {
    until(client, WAITING, &Answer::Rows(vec![vec![Some(count.to_owned())]]));
}

#[test]
fn data_definition_waits_for_a_transaction_and_readers_wait_for_it() {
    let (server, mut client) = world();
    let (mut reader, mut definer, mut late) = (server.connect(), server.connect(), server.connect());
    let [reader_id, definer_id, late_id] =
        [&mut reader, &mut definer, &mut late].map(|client| client.value("SELECT CONNECTION_ID()"));
    run(&mut reader, &["BEGIN", "SELECT * FROM test.t"]);
    let read = format!("TABLE t SHARED_READ TRANSACTION GRANTED {reader_id}");
    assert_eq!(list(&mut client, LOCKS), std::slice::from_ref(&read));
    definer.send("ALTER TABLE test.t ADD COLUMN c INT");
    until_pending(&mut client, "1");
    late.send("SELECT a FROM test.t");
    until_pending(&mut client, "2");
    let exclusive = format!("TABLE t EXCLUSIVE TRANSACTION PENDING {definer_id}");
    assert_eq!(
        list(&mut client, LOCKS),
        [read, exclusive, format!("TABLE t SHARED_READ TRANSACTION PENDING {late_id}")]
    );
    run(&mut reader, &["COMMIT"]);
    definer.answer();
    // It is planned anew, and its columns are told once.
    let rows = ["1", "2"].map(|value| vec![Some(value.to_owned())]).to_vec();
    assert_eq!(late.answer(), Answer::Rows(rows));
    assert_eq!(list(&mut client, LOCKS), Vec::<String>::new());
}

#[test]
fn a_reader_that_gives_up_waits_no_more() {
    let (server, mut client) = world();
    let (mut holder, mut waiter) = (server.connect(), server.connect());
    let holder_id = holder.value("SELECT CONNECTION_ID()");
    run(&mut holder, &["LOCK TABLES test.t WRITE, test.u READ"]);
    run(&mut waiter, &["SET lock_wait_timeout = 1"]);
    assert!(matches!(waiter.query("SELECT * FROM test.t"), Answer::Error(1205, _)));
    assert_eq!(
        list(&mut client, LOCKS),
        [
            format!("TABLE t SHARED_NO_READ_WRITE TRANSACTION GRANTED {holder_id}"),
            format!("TABLE u SHARED_READ_ONLY TRANSACTION GRANTED {holder_id}"),
        ]
    );
    let handles = "SELECT OBJECT_NAME, OWNER_THREAD_ID, EXTERNAL_LOCK FROM performance_schema.table_handles \
                   ORDER BY OBJECT_NAME";
    assert_eq!(
        list(&mut client, handles),
        [format!("t {holder_id} WRITE EXTERNAL"), format!("u {holder_id} READ EXTERNAL")]
    );
    run(&mut holder, &["UNLOCK TABLES"]);
    assert_eq!(list(&mut client, handles), Vec::<String>::new());
}

#[test]
fn a_global_read_lock_and_who_waits_for_it() {
    let (server, mut client) = world();
    let (mut writer, mut locker) = (server.connect(), server.connect());
    let (writer_id, locker_id) =
        (writer.value("SELECT CONNECTION_ID()"), locker.value("SELECT CONNECTION_ID()"));
    run(&mut writer, &["BEGIN", "UPDATE test.t SET b = 3 WHERE a = 1"]);
    locker.send("FLUSH TABLES WITH READ LOCK");
    until_pending(&mut client, "2");
    let kinds = "SELECT OBJECT_TYPE, LOCK_TYPE, LOCK_DURATION, LOCK_STATUS, OWNER_THREAD_ID \
                 FROM performance_schema.metadata_locks ORDER BY OBJECT_TYPE";
    assert_eq!(
        list(&mut client, kinds),
        [
            format!("COMMIT SHARED EXPLICIT PENDING {locker_id}"),
            format!("GLOBAL SHARED EXPLICIT PENDING {locker_id}"),
            format!("TABLE SHARED_WRITE TRANSACTION GRANTED {writer_id}"),
        ]
    );
    run(&mut writer, &["COMMIT"]);
    locker.answer();
    assert_eq!(
        list(&mut client, kinds),
        [
            format!("COMMIT SHARED EXPLICIT GRANTED {locker_id}"),
            format!("GLOBAL SHARED EXPLICIT GRANTED {locker_id}"),
        ]
    );
}

#[test]
fn user_locks_have_a_holder_and_those_who_wait() {
    let (server, mut client) = world();
    let (mut holder, mut waiter) = (server.connect(), server.connect());
    let (holder_id, waiter_id) =
        (holder.value("SELECT CONNECTION_ID()"), waiter.value("SELECT CONNECTION_ID()"));
    run(&mut holder, &["DO GET_LOCK('\u{e9} key', 1)"]);
    waiter.send("SELECT GET_LOCK('\u{e9} key', 1000)");
    until_pending(&mut client, "1");
    let line =
        |status: &str, id: &str| format!("USER LEVEL LOCK \u{e9} key EXCLUSIVE EXPLICIT {status} {id}");
    assert_eq!(list(&mut client, LOCKS), [line("GRANTED", &holder_id), line("PENDING", &waiter_id)]);
    run(&mut holder, &["DO RELEASE_ALL_LOCKS()"]);
    waiter.answer();
    assert_eq!(list(&mut client, LOCKS), [line("GRANTED", &waiter_id)]);
}

#[test]
fn a_session_shows_the_others_its_variables() {
    let (server, mut client) = world();
    let mut other = server.connect();
    let id = other.value("SELECT CONNECTION_ID()");
    let seen = format!(
        "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.variables_by_thread \
         WHERE THREAD_ID = {id} AND VARIABLE_NAME IN ('sort_buffer_size', 'time_zone') ORDER BY 1"
    );
    assert_eq!(list(&mut client, &seen), ["sort_buffer_size 262144", "time_zone SYSTEM"]);
    run(&mut other, &["SET sort_buffer_size = 65536, time_zone = '+03:00'"]);
    assert_eq!(list(&mut client, &seen), ["sort_buffer_size 65536", "time_zone +03:00"]);
    // Every variable of a session has a row, and none that the server has alone.
    let count = format!("SELECT COUNT(*) FROM performance_schema.variables_by_thread WHERE THREAD_ID = {id}");
    let all = "SELECT COUNT(*) FROM performance_schema.variables_metadata WHERE VARIABLE_SCOPE <> 'GLOBAL'";
    assert_eq!(client.value(&count), client.value(all));
    let sent = format!(
        "SELECT VARIABLE_VALUE > 0 FROM performance_schema.status_by_thread \
         WHERE THREAD_ID = {id} AND VARIABLE_NAME = 'Bytes_sent'"
    );
    assert_eq!(list(&mut client, &sent), ["1"]);
    let questions = format!(
        "SELECT VARIABLE_VALUE FROM performance_schema.status_by_thread \
         WHERE THREAD_ID = {id} AND VARIABLE_NAME = 'Questions'"
    );
    let before: u64 = client.value(&questions).parse().unwrap();
    run(&mut other, &["DO 1", "DO 2", "DO 3"]);
    assert_eq!(client.value(&questions), (before + 3).to_string());
    let variables = format!(
        "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.user_variables_by_thread \
         WHERE THREAD_ID = {id} ORDER BY 1"
    );
    assert_eq!(list(&mut client, &variables), [""; 0]);
    run(&mut other, &["SET @number = 5, @text = 'a b'", "SELECT @number := @number + 1"]);
    assert_eq!(list(&mut client, &variables), ["number 6", "text a b"]);
}

#[test]
fn threads_that_serve_no_connection_are_listed() {
    let (server, mut client) = world();
    let count = |client: &mut client::Client, condition: &str| {
        client.value(&format!("SELECT COUNT(*) FROM performance_schema.threads WHERE {condition}"))
    };
    let connections =
        "TYPE = 'FOREGROUND' AND NAME = 'thread/sql/one_connection' AND PROCESSLIST_ID = THREAD_ID";
    assert_eq!(count(&mut client, connections), "1");
    let background =
        "TYPE = 'BACKGROUND' AND THREAD_OS_ID > 0 AND PROCESSLIST_ID IS NULL AND INSTRUMENTED = 'YES'";
    for name in
        ["log_writer_thread", "log_flusher_thread", "page_flush_coordinator_thread", "srv_purge_thread"]
    {
        let one = format!("{background} AND NAME = 'thread/innodb/{name}'");
        assert_ne!(count(&mut client, &one), "0", "{name}");
    }
    run(
        &mut client,
        &[
            "UPDATE performance_schema.setup_threads SET ENABLED = 'NO' WHERE NAME = 'thread/sql/one_connection'",
        ],
    );
    let mut other = server.connect();
    let id = other.value("SELECT CONNECTION_ID()");
    let own = format!("PROCESSLIST_ID = {id} AND INSTRUMENTED = 'NO' AND HISTORY = 'YES'");
    assert_eq!(count(&mut client, &own), "1");
}

#[test]
fn tables_about_others_need_select_and_truncate_needs_drop() {
    let (server, mut client) = world();
    run(&mut client, &["CREATE USER joe IDENTIFIED WITH mysql_native_password BY ''"]);
    let mut joe = connect_as(&server, "joe");
    for table in ["metadata_locks", "table_handles", "variables_by_thread", "table_io_waits_summary_by_table"]
    {
        let answer = joe.query(&format!("SELECT * FROM performance_schema.{table}"));
        assert!(matches!(answer, Answer::Error(1142, _)), "{table}: {answer:?}");
    }
    for table in ["variables_info", "variables_metadata", "global_variable_attributes", "persisted_variables"]
    {
        assert!(matches!(joe.query(&format!("SELECT * FROM performance_schema.{table}")), Answer::Rows(_)));
    }
    let truncate = "TRUNCATE TABLE performance_schema.table_io_waits_summary_by_table";
    assert!(matches!(joe.query(truncate), Answer::Error(1142, _)));
    run(&mut client, &["GRANT SELECT, DROP ON performance_schema.* TO joe", truncate]);
    run(&mut joe, &[truncate]);
    assert!(matches!(joe.query("SELECT * FROM performance_schema.metadata_locks"), Answer::Rows(_)));
    let log = "SELECT SERVER_UUID FROM performance_schema.log_status";
    let denied = "Access denied; you need (at least one of) the BACKUP_ADMIN privilege(s) for this operation";
    assert_eq!(joe.query(log), Answer::Error(1227, denied.to_owned()));
    run(&mut client, &["GRANT BACKUP_ADMIN ON *.* TO joe"]);
    assert!(matches!(joe.query(log), Answer::Rows(_)));
    let answer = joe.query("TRUNCATE TABLE performance_schema.metadata_locks");
    assert!(matches!(answer, Answer::Error(1142, _)), "{answer:?}");
}

#[test]
fn the_files_of_the_log_and_of_tables_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let server = Process::start(directory.path(), &[]);
    let mut client = server.connect();
    run(&mut client, &["CREATE DATABASE test", "CREATE TABLE test.t (a INT PRIMARY KEY)"]);
    let by_use = |client: &mut Client| -> BTreeMap<String, Vec<u64>> {
        let text = "SELECT EVENT_NAME, COUNT_WRITE, SUM_NUMBER_OF_BYTES_WRITE, COUNT_MISC, COUNT_STAR - COUNT_READ \
                    FROM performance_schema.file_summary_by_event_name";
        let line = |line: String| {
            let mut cells = line.split(' ').map(str::to_owned);
            (cells.next().unwrap(), cells.map(|cell| cell.parse().unwrap()).collect())
        };
        list(client, text).into_iter().map(line).collect()
    };
    run(&mut client, &["TRUNCATE TABLE performance_schema.file_summary_by_event_name"]);
    let log = "wait/io/file/innodb/innodb_log_file";
    let before = by_use(&mut client)[log].clone();
    for number in 0..5 {
        run(&mut client, &[&format!("INSERT INTO test.t VALUES ({number})")]);
    }
    let after = by_use(&mut client)[log].clone();
    let grown = |place: usize| after[place] - before[place];
    assert!((5..50).contains(&grown(0)), "a commit is a write: {before:?} {after:?}");
    assert!((5..50).contains(&grown(2)), "and a sync: {before:?} {after:?}");
    assert!(grown(1) >= 5 * 512 && after[3] == after[0] + after[2]);
    let written = "SELECT SUM(COUNT_WRITE) > 0, SUM(COUNT_STAR) = SUM(COUNT_READ) + SUM(COUNT_WRITE) + SUM(COUNT_MISC) \
                   FROM performance_schema.file_summary_by_instance WHERE FILE_NAME LIKE '%#log/log.%'";
    assert_eq!(list(&mut client, written), ["1 1"]);
    let files = "SELECT COUNT(*) FROM performance_schema.file_instances WHERE FILE_NAME LIKE '%/spaces/%.pal' \
                 AND EVENT_NAME = 'wait/io/file/innodb/innodb_data_file' AND OPEN_COUNT = 1";
    assert!(client.value(files).parse::<u64>().unwrap() >= 3);
    let waits = "SELECT COUNT_STAR > 0 FROM performance_schema.events_waits_summary_global_by_event_name \
                 WHERE EVENT_NAME = 'wait/io/file/innodb/innodb_log_file'";
    assert_eq!(client.value(waits), "1");
    let pool = "SELECT CURRENT_NUMBER_OF_BYTES_USED = @@innodb_buffer_pool_size \
                FROM performance_schema.memory_summary_global_by_event_name \
                WHERE EVENT_NAME = 'memory/innodb/buf_buf_pool'";
    assert_eq!(client.value(pool), "1");
    server.terminate();
}
