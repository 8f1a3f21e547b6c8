//! Sessions that go away at a bad moment: whatever they were doing, their locks are free and their work is whole.

mod client;

use client::{Answer, Client, TestServer, number, until};
use palisade_io::{File, OsFileSystem, Overlay, OverlayFileSystem};
use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

const TIMEOUT: u16 = 1205;
const DEADLOCK: u16 = 1213;
const INTERRUPTED: u16 = 1317;

fn rows(list: &[&str]) -> Answer {
    Answer::Rows(list.iter().map(|text| vec![Some((*text).to_owned())]).collect())
}

/// Rows 10, 20, 30, 40 with n = 0.
fn with_rows(options: &[(&str, &str)]) -> TestServer {
    let server = TestServer::start(options);
    fill(&server);
    server
}

fn fill(server: &TestServer) {
    let mut client = server.connect();
    assert_eq!(client.query("CREATE DATABASE test"), Answer::Ok(1));
    assert_eq!(client.query("CREATE TABLE test.t (id INT PRIMARY KEY, n INT NOT NULL)"), Answer::Ok(0));
    assert_eq!(client.query("INSERT INTO test.t VALUES (10, 0), (20, 0), (30, 0), (40, 0)"), Answer::Ok(4));
}

fn connect(server: &TestServer) -> Client {
    let mut client = server.connect();
    assert_eq!(client.query("USE test"), Answer::Ok(0));
    client
}

fn id(client: &mut Client) -> String {
    client.value("SELECT CONNECTION_ID()")
}

fn send(client: &mut Client, statement: &str) {
    client.sequence = 0;
    client.write(&[b"\x03", statement.as_bytes()].concat());
}

/// Until connection `id` waits for a lock.
#[track_caller]
fn until_waiting(watcher: &mut Client, id: &str) {
    let state =
        format!("SELECT trx_state FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id = {id}");
    until(watcher, &state, &rows(&["LOCK WAIT"]));
}

/// Whether a row is free for whoever asks now.
fn is_free(client: &mut Client, row: u32) -> bool {
    match client.query(&format!("SELECT id FROM t WHERE id = {row} FOR UPDATE NOWAIT")) {
        Answer::Rows(rows) => rows.len() == 1,
        answer => {
            assert_eq!(number(&answer), 3572, "{answer:?}");
            false
        }
    }
}

/// How a session comes to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Kill,
    KillQuery,
    Disconnect,
    /// COM_QUIT, behind whatever has been sent, and nobody waits for the answer.
    Farewell,
}

impl End {
    const ALL: [End; 4] = [End::Kill, End::KillQuery, End::Disconnect, End::Farewell];

    /// Brings it about. Gives the client back if it is still there.
    fn bring(self, mut victim: Client, id: &str, killer: &mut Client) -> Option<Client> {
        match self {
            End::Kill => assert_eq!(killer.query(&format!("KILL {id}")), Answer::Ok(0)),
            End::KillQuery => assert_eq!(killer.query(&format!("KILL QUERY {id}")), Answer::Ok(0)),
            End::Disconnect => return None,
            End::Farewell => {
                victim.sequence = 0;
                victim.write(b"\x01");
                return None;
            }
        }
        Some(victim)
    }
}

/// What the member of a circle at a place says.
type Statement = fn(usize) -> String;

#[test]
fn of_three_or_four_in_a_circle_one_gives_way_and_the_others_go_on() {
    let server = with_rows(&[]);
    let mut watcher = connect(&server);
    for (members, by_ranges) in [(3, false), (4, false), (3, true), (4, true)] {
        let mut circle: Vec<(Client, String)> = (0..members)
            .map(|_| {
                let mut client = connect(&server);
                let id = id(&mut client);
                (client, id)
            })
            .collect();
        let (first, next): (Statement, Statement) = if by_ranges {
            let lock = |at: usize| {
                format!("SELECT n FROM t WHERE id BETWEEN {} AND {} FOR UPDATE", at * 10 + 11, at * 10 + 19)
            };
            (lock, |at| format!("INSERT INTO t VALUES ({}, 1)", at * 10 + 15))
        } else {
            let change = |at: usize| format!("UPDATE t SET n = n + 1 WHERE id = {}", at * 10 + 10);
            (change, change)
        };
        for (at, (client, _)) in circle.iter_mut().enumerate() {
            assert_eq!(client.query("BEGIN"), Answer::Ok(0));
            assert_eq!(number(&client.query(&first(at))), 0);
        }
        for (at, (client, id)) in circle.iter_mut().enumerate() {
            send(client, &next((at + 1) % members));
            if at + 1 < members {
                until_waiting(&mut watcher, id);
            }
        }
        // one is the victim; the one that waited for it goes on, then the one that waited for that one, and so on
        let answers: Vec<u16> = std::thread::scope(|scope| {
            let running: Vec<_> = circle
                .iter_mut()
                .map(|(client, _)| {
                    scope.spawn(move || {
                        let answer = number(&client.answer());
                        assert_eq!(
                            client.query(if answer == 0 { "COMMIT" } else { "ROLLBACK" }),
                            Answer::Ok(0)
                        );
                        answer
                    })
                })
                .collect();
            running.into_iter().map(|running| running.join().unwrap()).collect()
        });
        let victims = answers.iter().filter(|answer| **answer == DEADLOCK).count();
        assert_eq!(
            (victims, answers.iter().filter(|answer| **answer == 0).count()),
            (1, members - 1),
            "{answers:?}"
        );
        if by_ranges {
            assert_eq!(watcher.value("SELECT COUNT(*) FROM t WHERE n = 1"), (members - 1).to_string());
        } else {
            // every survivor has changed two rows
            assert_eq!(watcher.value("SELECT SUM(n) FROM t"), (2 * (members - 1)).to_string());
        }
        assert_eq!(number(&watcher.query("DELETE FROM t WHERE id % 10 <> 0")), 0);
        assert_eq!(number(&watcher.query("UPDATE t SET n = 0")), 0);
    }
}

#[test]
fn a_session_that_ends_between_statements_leaves_no_lock() {
    let server = with_rows(&[]);
    let mut other = connect(&server);
    for end in End::ALL {
        let mut victim = connect(&server);
        let number_of_it = id(&mut victim);
        assert_eq!(victim.query("BEGIN"), Answer::Ok(0));
        assert_eq!(victim.query("UPDATE t SET n = 7 WHERE id = 20"), Answer::Ok(1));
        assert_eq!(victim.query("SELECT id FROM t WHERE id = 30 FOR SHARE"), rows(&["30"]));
        assert!(!is_free(&mut other, 20) && !is_free(&mut other, 30), "{end:?}");
        let left = end.bring(victim, &number_of_it, &mut other);
        if end == End::KillQuery {
            let mut victim = left.unwrap();
            assert_eq!(victim.value("SELECT n FROM t WHERE id = 20"), "7", "there was no statement to kill");
            assert_eq!(victim.query("ROLLBACK"), Answer::Ok(0));
        }
        until(
            &mut other,
            "SELECT COUNT(*) FROM t WHERE id IN (20, 30) FOR UPDATE SKIP LOCKED",
            &rows(&["2"]),
        );
        assert_eq!(other.value("SELECT n FROM t WHERE id = 20"), "0", "{end:?}");
        assert_eq!(other.value("SELECT COUNT(*) FROM information_schema.INNODB_TRX"), "0", "{end:?}");
    }
}

#[test]
fn a_session_that_ends_while_it_waits_leaves_neither_its_locks_nor_its_place_in_the_queue() {
    let server = with_rows(&[]);
    let mut holder = connect(&server);
    let mut other = connect(&server);
    for (hold, wait) in [
        ("UPDATE t SET n = 1 WHERE id = 30", "UPDATE t SET n = 7 WHERE id = 30"),
        ("SELECT n FROM t WHERE id > 35 FOR UPDATE", "INSERT INTO t VALUES (50, 7)"),
        ("SELECT n FROM t WHERE id = 30 FOR SHARE", "SELECT n FROM t WHERE id BETWEEN 25 AND 45 FOR UPDATE"),
    ] {
        for end in End::ALL {
            assert_eq!(holder.query("BEGIN"), Answer::Ok(0));
            assert_eq!(number(&holder.query(hold)), 0);
            let mut victim = connect(&server);
            let number_of_it = id(&mut victim);
            assert_eq!(victim.query("BEGIN"), Answer::Ok(0));
            assert_eq!(victim.query("UPDATE t SET n = 7 WHERE id = 20"), Answer::Ok(1));
            send(&mut victim, wait);
            until_waiting(&mut other, &number_of_it);
            let left = end.bring(victim, &number_of_it, &mut other);
            if let Some(mut victim) = left {
                assert_eq!(number(&victim.answer()), INTERRUPTED, "{end:?}: {wait}");
                if end == End::KillQuery {
                    // only the statement is gone: the transaction still has its row
                    assert!(!is_free(&mut other, 20), "{wait}");
                    assert_eq!(victim.value("SELECT n FROM t WHERE id = 20"), "7");
                    assert_eq!(victim.query("ROLLBACK"), Answer::Ok(0));
                } else {
                    assert_eq!(victim.read(), None, "the connection is closed");
                }
            }
            // while the holder still has what the victim waited for
            until(&mut other, "SELECT n FROM t WHERE id = 20 FOR UPDATE SKIP LOCKED", &rows(&["0"]));
            assert_eq!(holder.query("ROLLBACK"), Answer::Ok(0));
            until(&mut other, "SELECT COUNT(*) FROM t FOR UPDATE SKIP LOCKED", &rows(&["4"]));
            assert_eq!(other.value("SELECT SUM(n) FROM t"), "0", "{end:?}: {wait}");
            until(&mut other, "SELECT COUNT(*) FROM information_schema.INNODB_TRX", &rows(&["0"]));
            assert_eq!(number(&other.query("INSERT INTO t VALUES (50, 7)")), 0, "nothing is left in the gap");
            assert_eq!(other.query("DELETE FROM t WHERE id = 50"), Answer::Ok(1));
        }
    }
}

#[test]
fn a_session_that_ends_in_its_rollback_is_rolled_back_whole() {
    let server = with_rows(&[]);
    let mut other = connect(&server);
    assert_eq!(other.query("SET cte_max_recursion_depth = 100000"), Answer::Ok(0));
    let more = "INSERT INTO t WITH RECURSIVE s AS (SELECT 1000 AS id UNION ALL SELECT id + 1 FROM s WHERE id < 8000) \
                SELECT id, 0 FROM s";
    assert_eq!(number(&other.query(more)), 0);
    let all = other.value("SELECT COUNT(*) FROM t");
    for end in End::ALL {
        let mut victim = connect(&server);
        let number_of_it = id(&mut victim);
        assert_eq!(victim.query("BEGIN"), Answer::Ok(0));
        assert_eq!(number(&victim.query("UPDATE t SET n = n + 7")), 0);
        send(&mut victim, "ROLLBACK");
        let left = end.bring(victim, &number_of_it, &mut other);
        if let Some(mut victim) = left {
            // the kill may come before the ROLLBACK is read, or after it was answered
            match (end, victim.read()) {
                (End::KillQuery, Some(packet)) => assert_eq!(packet[0], 0, "ROLLBACK is not interrupted"),
                (End::Kill, _) => {}
                (end, answer) => panic!("{end:?}: {answer:?}"),
            }
        }
        until(&mut other, "SELECT COUNT(*) FROM t FOR UPDATE SKIP LOCKED", &rows(&[&all]));
        assert_eq!(other.value("SELECT SUM(n) FROM t"), "0", "{end:?}");
        assert_eq!(other.value("SELECT COUNT(*) FROM information_schema.INNODB_TRX"), "0", "{end:?}");
    }
}

/// What waits while a disk stalls.
#[derive(Default)]
struct Stall {
    is_stalled: Mutex<bool>,
    change: Condvar,
}

impl Stall {
    fn stall(&self, stalled: bool) {
        *self.is_stalled.lock().unwrap() = stalled;
        self.change.notify_all();
    }

    fn pass(&self) {
        drop(self.change.wait_while(self.is_stalled.lock().unwrap(), |stalled| *stalled).unwrap());
    }
}

/// A disk whose syncs wait while it stalls.
#[derive(Default)]
struct Stalling(Stall);

impl Overlay for Stalling {
    fn sync(&self, _: &Path, file: &dyn File) -> io::Result<()> {
        self.0.pass();
        file.sync()
    }
}

/// A disk whose reads wait while it stalls.
#[derive(Default)]
struct Unreadable(Stall);

impl Overlay for Unreadable {
    fn read_at(&self, _: &Path, file: &dyn File, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.pass();
        file.read_at(buf, offset)
    }
}

/// A disk is waited for however long it takes: only who waits for others has waited too long some time, or whose statement is
/// given a time.
#[test]
fn a_slow_disk_is_no_lock_wait_timeout() {
    let disk = Arc::new(OverlayFileSystem::new(Arc::new(OsFileSystem), Unreadable::default()));
    let server = TestServer::start_on(disk.clone(), &[("innodb_buffer_pool_size", "5M")]);
    let (mut reader, mut hurried) = (server.connect(), server.connect());
    let filling = "WITH RECURSIVE s AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM s WHERE i < 4000) SELECT i, i, REPEAT('x', 3000) FROM s";
    client::run(
        &mut reader,
        &[
            "CREATE DATABASE d",
            "USE d",
            "SET cte_max_recursion_depth = 10000",
            "CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL, pad VARCHAR(3000) NOT NULL)",
            &format!("INSERT INTO t {filling}"),
            "SET innodb_lock_wait_timeout = 1",
        ],
    );
    client::run(&mut hurried, &["USE d", "SET innodb_lock_wait_timeout = 1, max_execution_time = 1500"]);
    disk.overlay().0.stall(true);
    send(&mut reader, "SELECT SUM(n) FROM t");
    send(&mut hurried, "SELECT SUM(n) FROM t");
    let (out_of_time, too_early) = (hurried.answer(), reader.has_answer());
    // First, so that the server can end.
    disk.overlay().0.stall(false);
    assert_eq!(number(&out_of_time), 3024);
    assert!(!too_early);
    assert_eq!(reader.answer(), rows(&["8002000"]));
}

#[test]
fn a_session_that_ends_in_its_commit_has_committed_and_holds_nothing() {
    let disk = Arc::new(OverlayFileSystem::new(Arc::new(OsFileSystem), Stalling::default()));
    // threads of the log's own: a stalled disk stalls them, and no worker
    let server = TestServer::start_on(disk.clone(), &[("innodb_log_writer_threads", "ON")]);
    fill(&server);
    let mut other = connect(&server);
    for (round, end) in End::ALL.into_iter().enumerate() {
        let mut victim = connect(&server);
        let number_of_it = id(&mut victim);
        let n = (round + 1).to_string();
        assert_eq!(victim.query("BEGIN"), Answer::Ok(0));
        assert_eq!(victim.query(&format!("UPDATE t SET n = {n} WHERE id = 20")), Answer::Ok(1));
        disk.overlay().0.stall(true);
        send(&mut victim, "COMMIT");
        // its place in the log is taken: others see it, and its locks are gone
        until(&mut other, "SELECT n FROM t WHERE id = 20 FOR UPDATE SKIP LOCKED", &rows(&[&n]));
        let left = end.bring(victim, &number_of_it, &mut other);
        let process =
            format!("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = {number_of_it}");
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(other.value(&process), "1", "{end:?}: a commit is waited for");
        disk.overlay().0.stall(false);
        match (end, left) {
            (End::Disconnect | End::Farewell, None) => {}
            // acknowledged, or cut off without an error that would say that it has failed
            (End::Kill, Some(mut victim)) => {
                if let Some(packet) = victim.read() {
                    assert_eq!(packet[0], 0, "{}", packet.escape_ascii());
                    assert_eq!(victim.read(), None);
                }
            }
            (_, left) => assert_eq!(left.unwrap().answer(), Answer::Ok(0), "{end:?}"),
        }
        assert_eq!(other.value("SELECT n FROM t WHERE id = 20"), n, "{end:?}");
        assert!(is_free(&mut other, 20), "{end:?}");
    }
}

#[test]
fn an_idle_transaction_is_seen_and_can_be_killed() {
    let server = with_rows(&[]);
    let mut watcher = connect(&server);
    for (statement, state) in [
        ("SELECT n FROM t WHERE id = 20", "RUNNING|0|0"),
        ("SELECT n FROM t WHERE id = 20 FOR UPDATE", "RUNNING|1|0"),
        ("UPDATE t SET n = 7 WHERE id = 20", "RUNNING|0|1"),
    ] {
        for begin in ["BEGIN", "SET autocommit = 0"] {
            let mut idle = connect(&server);
            let number_of_it = id(&mut idle);
            assert_eq!(idle.query(begin), Answer::Ok(0));
            assert_eq!(number(&idle.query(statement)), 0);
            let transaction = format!(
                "SELECT CONCAT_WS('|', trx_state, trx_rows_locked, trx_rows_modified) \
                 FROM information_schema.INNODB_TRX \
                 WHERE trx_mysql_thread_id = {number_of_it} AND trx_query IS NULL \
                 AND trx_started BETWEEN NOW() - INTERVAL 60 SECOND AND NOW()"
            );
            // the answer comes before the statement leaves the list
            until(&mut watcher, &transaction, &rows(&[state]));
            let process = format!(
                "SELECT CONCAT_WS('|', COMMAND, INFO IS NULL) FROM information_schema.PROCESSLIST \
                 WHERE ID = {number_of_it}"
            );
            until(&mut watcher, &process, &rows(&["Sleep|1"]));
            assert_eq!(watcher.query(&format!("KILL {number_of_it}")), Answer::Ok(0));
            until(&mut watcher, &transaction, &rows(&[]));
            until(&mut watcher, &process, &rows(&[]));
            assert!(is_free(&mut watcher, 20));
            assert_eq!(watcher.value("SELECT n FROM t WHERE id = 20"), "0");
        }
    }
}

#[test]
fn a_transaction_that_waits_is_shown_with_its_statement() {
    let server = with_rows(&[("innodb_lock_wait_timeout", "1")]);
    let (mut holder, mut waiter, mut watcher) = (connect(&server), connect(&server), connect(&server));
    let number_of_it = id(&mut waiter);
    assert_eq!(holder.query("BEGIN"), Answer::Ok(0));
    assert_eq!(holder.query("UPDATE t SET n = 1 WHERE id = 20"), Answer::Ok(1));
    send(&mut waiter, "SELECT n FROM t WHERE id = 20 FOR SHARE");
    until_waiting(&mut watcher, &number_of_it);
    let query = "SELECT trx_query FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'";
    assert_eq!(watcher.query(query), rows(&["SELECT n FROM t WHERE id = 20 FOR SHARE"]));
    assert_eq!(number(&waiter.answer()), TIMEOUT);
    assert_eq!(watcher.value("SELECT COUNT(*) FROM information_schema.INNODB_TRX"), "1");
}

#[test]
fn sleep_answers_1_if_it_is_interrupted_and_the_next_row_fails() {
    let server = with_rows(&[]);
    let mut killer = connect(&server);
    for (statement, expected) in [
        ("SELECT SLEEP(20)", rows(&["1"])),
        ("SELECT SLEEP(20) + SLEEP(20)", rows(&["2"])),
        ("SELECT IF(SLEEP(20), 'killed', 'slept')", rows(&["killed"])),
        ("DO SLEEP(20)", Answer::Ok(0)),
        ("SET @slept = SLEEP(20)", Answer::Ok(0)),
        (
            "SELECT id FROM t WHERE SLEEP(20) = 0",
            Answer::Error(INTERRUPTED, "Query execution was interrupted".into()),
        ),
        ("SELECT SLEEP(20) FROM t", Answer::Error(INTERRUPTED, "Query execution was interrupted".into())),
    ] {
        let mut sleeper = connect(&server);
        let number_of_it = id(&mut sleeper);
        send(&mut sleeper, statement);
        let state = format!("SELECT STATE FROM information_schema.PROCESSLIST WHERE ID = {number_of_it}");
        until(&mut killer, &state, &rows(&["User sleep"]));
        assert_eq!(killer.query(&format!("KILL QUERY {number_of_it}")), Answer::Ok(0));
        assert_eq!(sleeper.answer(), expected, "{statement}");
        assert_eq!(sleeper.value("SELECT SLEEP(0)"), "0", "the connection goes on");
    }
    let mut hasty = connect(&server);
    assert_eq!(hasty.query("SET max_execution_time = 100"), Answer::Ok(0));
    assert_eq!(hasty.query("SELECT SLEEP(20)"), rows(&["1"]));
    assert_eq!(number(&hasty.query("SELECT SLEEP(20) FROM t")), 3024);
    let mut gone = connect(&server);
    let number_of_it = id(&mut gone);
    send(&mut gone, "SELECT SLEEP(20)");
    until(
        &mut killer,
        &format!("SELECT STATE FROM information_schema.PROCESSLIST WHERE ID = {number_of_it}"),
        &rows(&["User sleep"]),
    );
    assert_eq!(killer.query(&format!("KILL {number_of_it}")), Answer::Ok(0));
    assert_eq!(number(&gone.answer()), INTERRUPTED);
    assert_eq!(gone.read(), None);
}

/// A state that a session ends in.
struct Station {
    name: &'static str,
    /// What another session does first, and keeps.
    held: &'static [&'static str],
    /// How the session gets there.
    way: &'static [&'static str],
    /// What it is waiting in, if it waits.
    last: Option<&'static str>,
}

/// From each state the session's row 20, or its lock of the table, comes free while the other keeps what it has.
const STATIONS: &[Station] = &[
    Station {
        name: "asleep",
        held: &[],
        way: &["BEGIN", "UPDATE t SET n = 7 WHERE id = 20"],
        last: Some("SELECT SLEEP(10000)"),
    },
    Station {
        name: "waiting for a named lock",
        held: &["SELECT GET_LOCK('held', 10000)"],
        way: &["BEGIN", "UPDATE t SET n = 7 WHERE id = 20"],
        last: Some("SELECT GET_LOCK('held', 10000)"),
    },
    Station {
        name: "waiting for a table that another has locked",
        held: &["LOCK TABLES u WRITE"],
        way: &["BEGIN", "UPDATE t SET n = 7 WHERE id = 20"],
        last: Some("SELECT id FROM u"),
    },
    Station {
        name: "waiting in LOCK TABLES",
        held: &["BEGIN", "SELECT id FROM u"],
        way: &[],
        last: Some("LOCK TABLES t WRITE, u WRITE"),
    },
    Station { name: "with locked tables", held: &[], way: &["LOCK TABLES t WRITE, u READ"], last: None },
    Station {
        name: "waiting in ALTER TABLE",
        held: &["BEGIN", "SELECT id FROM u"],
        way: &[],
        last: Some("ALTER TABLE u ADD COLUMN n INT"),
    },
    Station {
        name: "XA ACTIVE",
        held: &[],
        way: &["XA START 'x'", "UPDATE t SET n = 7 WHERE id = 20"],
        last: None,
    },
    Station {
        name: "XA ACTIVE, waiting for a row",
        held: &["BEGIN", "UPDATE t SET n = 1 WHERE id = 30"],
        way: &["XA START 'x'", "UPDATE t SET n = 7 WHERE id = 20"],
        last: Some("DELETE FROM t WHERE id = 30"),
    },
    Station {
        name: "XA IDLE",
        held: &[],
        way: &["XA START 'x'", "UPDATE t SET n = 7 WHERE id = 20", "XA END 'x'"],
        last: None,
    },
    Station {
        name: "autocommit, waiting for a row",
        held: &["BEGIN", "UPDATE t SET n = 1 WHERE id = 30"],
        way: &[],
        last: Some("UPDATE t SET n = 7 WHERE id IN (20, 30)"),
    },
];

#[test]
fn a_session_that_ends_anywhere_leaves_nothing_that_others_wait_for() {
    let server = with_rows(&[("innodb_lock_wait_timeout", "100000")]);
    let mut other = connect(&server);
    assert_eq!(other.query("CREATE TABLE u (id INT PRIMARY KEY)"), Answer::Ok(0));
    for Station { name, held, way, last } in STATIONS {
        for end in [End::Kill, End::Disconnect, End::Farewell] {
            let mut holder = connect(&server);
            client::run(&mut holder, held);
            let mut victim = connect(&server);
            let number_of_it = id(&mut victim);
            client::run(&mut victim, way);
            if let Some(last) = last {
                send(&mut victim, last);
                let waits = format!(
                    "SELECT STATE LIKE 'waiting%' OR STATE LIKE 'User %' FROM information_schema.PROCESSLIST \
                     WHERE ID = {number_of_it}"
                );
                until(&mut other, &waits, &rows(&["1"]));
            }
            let left = end.bring(victim, &number_of_it, &mut other);
            // Waits for as long as there is something to wait for.
            assert_eq!(other.query("UPDATE t SET n = n + 1 WHERE id = 20"), Answer::Ok(1), "{end:?}: {name}");
            assert_eq!(other.value("SELECT n FROM t WHERE id = 20"), "1", "{end:?}: {name}");
            drop((left, holder));
            assert_eq!(number(&other.query("INSERT INTO u VALUES (1)")), 0, "{end:?}: {name}");
            client::run(&mut other, &["DELETE FROM u", "UPDATE t SET n = 0"]);
            let transactions = "SELECT COUNT(*) FROM information_schema.INNODB_TRX";
            until(&mut other, transactions, &rows(&["0"]));
        }
    }
}

#[test]
fn a_prepared_transaction_outlives_its_session_and_whoever_ends_it_frees_its_locks() {
    let server = with_rows(&[]);
    let mut other = connect(&server);
    for end in [End::Kill, End::Disconnect, End::Farewell] {
        let mut victim = connect(&server);
        let number_of_it = id(&mut victim);
        let way = ["XA START 'x'", "UPDATE t SET n = 7 WHERE id = 20", "XA END 'x'", "XA PREPARE 'x'"];
        client::run(&mut victim, &way);
        let left = end.bring(victim, &number_of_it, &mut other);
        let process =
            format!("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = {number_of_it}");
        until(&mut other, &process, &rows(&["0"]));
        assert!(!is_free(&mut other, 20), "{end:?}");
        assert_eq!(other.query("XA ROLLBACK 'x'"), Answer::Ok(0), "{end:?}");
        assert!(is_free(&mut other, 20), "{end:?}");
        assert_eq!(other.value("SELECT n FROM t WHERE id = 20"), "0", "{end:?}");
        drop(left);
    }
}

#[test]
fn a_statement_that_runs_is_killed_and_its_transaction_with_the_connection() {
    let server = with_rows(&[]);
    let mut other = connect(&server);
    let mut victim = connect(&server);
    let number_of_it = id(&mut victim);
    client::run(&mut victim, &["BEGIN", "UPDATE t SET n = 7 WHERE id = 20"]);
    // 4 to the power of 20 rows.
    let aliases: Vec<String> = (0..20).map(|number| format!("t AS t{number}")).collect();
    send(&mut victim, &format!("SELECT SUM(t0.n + t19.n) FROM {}", aliases.join(", ")));
    // Not the statement before, which the client may know to have ended while its session has still to say so.
    let process = "SELECT STATE, LEFT(INFO, 10) FROM information_schema.PROCESSLIST";
    let process = format!("{process} WHERE ID = {number_of_it}");
    let executing = Answer::Rows(vec![vec![Some("executing".into()), Some("SELECT SUM".into())]]);
    until(&mut other, &process, &executing);
    assert_eq!(other.query(&format!("KILL {number_of_it}")), Answer::Ok(0));
    assert_eq!(number(&victim.answer()), INTERRUPTED);
    until(&mut other, "SELECT n FROM t WHERE id = 20 FOR UPDATE SKIP LOCKED", &rows(&["0"]));
}
