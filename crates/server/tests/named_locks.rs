//! Named locks of several sessions: who waits, who gets them, and what is left by those who end.

mod client;

use client::{Answer, Client, TestServer, number, run, until};

const INTERRUPTED: u16 = 1317;
const DEADLOCK: u16 = 3058;

fn rows(list: &[&str]) -> Answer {
    Answer::Rows(list.iter().map(|text| vec![Some((*text).to_owned())]).collect())
}

/// A session and its number.
fn connect(server: &TestServer) -> (Client, String) {
    let mut client = server.connect();
    let id = client.value("SELECT CONNECTION_ID()");
    (client, id)
}

/// Until connection `id` waits for a named lock.
#[track_caller]
fn until_waiting(watcher: &mut Client, id: &str) {
    let state = format!("SELECT STATE FROM information_schema.PROCESSLIST WHERE ID = {id}");
    until(watcher, &state, &rows(&["User lock"]));
}

fn get(client: &mut Client, name: &str) {
    assert_eq!(client.value(&format!("SELECT GET_LOCK('{name}', 0)")), "1");
}

#[test]
fn those_who_wait_get_it_in_order_of_arrival() {
    let server = TestServer::start(&[]);
    let (mut watcher, _) = connect(&server);
    let (mut holder, holder_id) = connect(&server);
    get(&mut holder, "a");
    assert_eq!(watcher.value("SELECT GET_LOCK('A', 0)"), "0");
    assert_eq!(watcher.value("SELECT RELEASE_LOCK('a')"), "0");
    assert_eq!(watcher.value("SELECT IS_USED_LOCK('a')"), holder_id);
    let mut queue: Vec<(Client, String)> = (0..4).map(|_| connect(&server)).collect();
    for (waiter, id) in &mut queue {
        waiter.send("SELECT GET_LOCK('a', -1)");
        until_waiting(&mut watcher, id);
    }
    // One gives up.
    let (mut impatient, id) = queue.remove(1);
    run(&mut watcher, &[&format!("KILL QUERY {id}")]);
    assert_eq!(number(&impatient.answer()), INTERRUPTED);
    assert_eq!(holder.value("SELECT RELEASE_LOCK('a')"), "1");
    for _ in 0..queue.len() {
        let (mut next, id) = queue.remove(0);
        assert_eq!(next.answer(), rows(&["1"]));
        assert_eq!(watcher.value("SELECT IS_USED_LOCK('a')"), id);
        assert!(queue.iter().all(|(waiter, _)| !waiter.has_answer()));
        assert_eq!(next.value("SELECT RELEASE_ALL_LOCKS()"), "1");
    }
    assert_eq!(watcher.value("SELECT IS_FREE_LOCK('a')"), "1");
}

#[test]
fn who_waits_for_too_long_goes_without() {
    let server = TestServer::start(&[]);
    let (mut holder, _) = connect(&server);
    let (mut waiter, _) = connect(&server);
    get(&mut holder, "a");
    for timeout in ["0", "1", "0.6", "NULL"] {
        assert_eq!(waiter.value(&format!("SELECT GET_LOCK('a', {timeout})")), "0", "{timeout}");
    }
    assert_eq!(holder.value("SELECT RELEASE_ALL_LOCKS()"), "1");
    assert_eq!(holder.value("SELECT IS_FREE_LOCK('a')"), "1", "nobody is left in the queue");
}

/// How a session loses its locks.
#[derive(Debug, Clone, Copy)]
enum End {
    Kill,
    Disconnect,
    Quit,
    Reset,
    ChangeUser,
}

impl End {
    const ALL: [End; 5] = [End::Kill, End::Disconnect, End::Quit, End::Reset, End::ChangeUser];

    /// Brings it about; what is given back keeps the connection open.
    fn bring(self, mut victim: Client, id: &str, killer: &mut Client) -> Option<Client> {
        match self {
            End::Kill => run(killer, &[&format!("KILL {id}")]),
            End::Disconnect => return None,
            End::Quit => {
                victim.sequence = 0;
                victim.write(b"\x01");
                return None;
            }
            End::Reset => assert_eq!(victim.command(b"\x1f").unwrap()[0], 0),
            End::ChangeUser => {
                let login = b"\x11root\0\0\0\x2d\0caching_sha2_password\0";
                assert_eq!(victim.command(login).unwrap()[0], 0);
            }
        }
        Some(victim)
    }
}

#[test]
fn the_locks_of_a_session_end_with_it_and_no_sooner() {
    let server = TestServer::start(&[]);
    let (mut watcher, _) = connect(&server);
    run(&mut watcher, &["CREATE DATABASE test", "CREATE TABLE test.t (id INT PRIMARY KEY)"]);
    for end in End::ALL {
        let (mut holder, holder_id) = connect(&server);
        get(&mut holder, "a");
        get(&mut holder, "a");
        get(&mut holder, "b");
        run(&mut holder, &["BEGIN", "INSERT INTO test.t VALUES (1)", "ROLLBACK"]);
        run(&mut holder, &["BEGIN", "INSERT INTO test.t VALUES (1)", "COMMIT", "TRUNCATE TABLE test.t"]);
        let (mut waiter, waiter_id) = connect(&server);
        waiter.send("SELECT GET_LOCK('a', 10000)");
        until_waiting(&mut watcher, &waiter_id);
        assert_eq!(watcher.value("SELECT IS_USED_LOCK('a')"), holder_id, "{end:?}");
        let left = end.bring(holder, &holder_id, &mut watcher);
        assert_eq!(waiter.answer(), rows(&["1"]), "{end:?}");
        until(&mut watcher, "SELECT IS_FREE_LOCK('b')", &rows(&["1"]));
        assert_eq!(waiter.value("SELECT RELEASE_LOCK('a')"), "1");
        assert_eq!(watcher.value("SELECT IS_FREE_LOCK('a')"), "1", "{end:?}");
        drop(left);
    }
}

#[test]
fn a_session_that_ends_while_it_waits_leaves_the_queue() {
    let server = TestServer::start(&[]);
    let (mut watcher, _) = connect(&server);
    let (mut holder, _) = connect(&server);
    get(&mut holder, "a");
    for end in [End::Kill, End::Disconnect, End::Quit] {
        let (mut victim, victim_id) = connect(&server);
        get(&mut victim, "b");
        victim.send("SELECT GET_LOCK('a', 10000)");
        until_waiting(&mut watcher, &victim_id);
        let left = end.bring(victim, &victim_id, &mut watcher);
        until(&mut watcher, "SELECT IS_FREE_LOCK('b')", &rows(&["1"]));
        assert_eq!(holder.value("SELECT RELEASE_LOCK('a')"), "1", "{end:?}");
        assert_eq!(watcher.value("SELECT IS_FREE_LOCK('a')"), "1", "{end:?}");
        get(&mut holder, "a");
        drop(left);
    }
}

#[test]
fn a_request_that_closes_a_cycle_is_refused_and_its_session_keeps_what_it_has() {
    let server = TestServer::start(&[]);
    let (mut watcher, _) = connect(&server);
    run(&mut watcher, &["CREATE DATABASE test", "CREATE TABLE test.t (id INT PRIMARY KEY)"]);
    let (mut one, one_id) = connect(&server);
    let (mut two, two_id) = connect(&server);
    get(&mut one, "a");
    get(&mut two, "b");
    run(&mut two, &["BEGIN", "INSERT INTO test.t VALUES (1)"]);
    one.send("SELECT GET_LOCK('b', 10000)");
    until_waiting(&mut watcher, &one_id);
    let refused = two.query("SELECT GET_LOCK('a', 10000)");
    let text = "Deadlock found when trying to get user-level lock; try rolling back transaction/releasing locks and \
                restarting lock acquisition.";
    assert_eq!(refused, Answer::Error(DEADLOCK, text.to_owned()));
    assert_eq!(watcher.value("SELECT IS_USED_LOCK('b')"), two_id);
    assert_eq!(two.query("INSERT INTO test.t VALUES (2)"), Answer::Ok(1));
    run(&mut two, &["COMMIT"]);
    assert_eq!(watcher.value("SELECT COUNT(*) FROM test.t"), "2", "its transaction goes on");
    assert_eq!(two.value("SELECT RELEASE_LOCK('b')"), "1");
    assert_eq!(one.answer(), rows(&["1"]));
}

#[test]
fn a_statement_that_has_waited_has_done_everything_once() {
    let server = TestServer::start(&[]);
    let (mut watcher, _) = connect(&server);
    run(&mut watcher, &["CREATE DATABASE test", "CREATE TABLE test.t (id INT PRIMARY KEY, a INT, b INT)"]);
    for (statement, expected) in [
        ("SELECT CONCAT(GET_LOCK('own', 0), GET_LOCK('a', 10000), GET_LOCK('b', 10000))", "111"),
        ("SELECT GET_LOCK('own', 0) + GET_LOCK('a', 10000) + GET_LOCK('b', 10000) AS n ORDER BY n", "3"),
        (
            "SELECT GET_LOCK('own', 0) FROM (SELECT 1) d WHERE GET_LOCK('a', 10000) AND GET_LOCK('b', 10000)",
            "1",
        ),
        (
            "SELECT n FROM (SELECT GET_LOCK('own', 0) AS n, GET_LOCK('a', 10000) AS a, GET_LOCK('b', 10000) AS b) d",
            "1",
        ),
        (
            "SELECT GET_LOCK('own', 0) + (SELECT GET_LOCK('a', 10000) + GET_LOCK('b', 10000)) + \
             (SELECT COUNT(*) FROM test.t WHERE id > 100)",
            "3",
        ),
        (
            "SELECT MAX(GET_LOCK('own', 0)) FROM (SELECT 1) d GROUP BY GET_LOCK('a', 10000), GET_LOCK('b', 10000)",
            "1",
        ),
        ("SELECT IF(GET_LOCK('a', 10000) AND GET_LOCK('b', 10000), GET_LOCK(CONCAT('o', 'wn'), 0), 7)", "1"),
        ("SELECT GET_LOCK(IF(GET_LOCK('a', 10000), 'b', 'c'), 10000) + 2 * GET_LOCK('own', 0)", "3"),
    ] {
        let (mut one, _) = connect(&server);
        let (mut two, _) = connect(&server);
        let (mut waiter, waiter_id) = connect(&server);
        get(&mut one, "a");
        get(&mut two, "b");
        waiter.send(statement);
        until_waiting(&mut watcher, &waiter_id);
        assert_eq!(one.value("SELECT RELEASE_LOCK('a')"), "1");
        until(&mut watcher, "SELECT IS_USED_LOCK('a')", &rows(&[&waiter_id]));
        assert_eq!(two.value("SELECT RELEASE_LOCK('b')"), "1");
        assert_eq!(waiter.answer(), rows(&[expected]), "{statement}");
        for name in ["own", "a", "b"] {
            assert_eq!(waiter.value(&format!("SELECT RELEASE_LOCK('{name}')")), "1", "{statement}: {name}");
            assert_eq!(waiter.value(&format!("SELECT IS_FREE_LOCK('{name}')")), "1", "{statement}: {name}");
        }
    }
    // Not only locks.
    let (mut holder, _) = connect(&server);
    let (mut waiter, waiter_id) = connect(&server);
    get(&mut holder, "a");
    run(&mut waiter, &["SET @n = 0"]);
    waiter.send(
        "INSERT INTO test.t VALUES (@n := @n + 1, SLEEP(0), GET_LOCK('a', 10000)), (@n := @n + 1, 0, 0)",
    );
    until_waiting(&mut watcher, &waiter_id);
    assert_eq!(holder.value("SELECT RELEASE_LOCK('a')"), "1");
    assert_eq!(waiter.answer(), Answer::Ok(2));
    assert_eq!(waiter.value("SELECT @n"), "2");
    assert_eq!(waiter.value("SELECT GROUP_CONCAT(id, a, b ORDER BY id) FROM test.t"), "101,200");
    assert_eq!(waiter.query("SELECT SLEEP(0.01) + SLEEP(0.01 + SLEEP(0.01))"), rows(&["0"]), "and ends");
}

#[test]
fn a_wait_ends_when_the_hint_says_so() {
    let server = TestServer::start(&[]);
    let (mut holder, _) = connect(&server);
    let (mut waiter, _) = connect(&server);
    get(&mut holder, "a");
    for statement in [
        "SELECT /*+ MAX_EXECUTION_TIME(50) */ GET_LOCK('a', 10000)",
        "SELECT/*+ BKA(t) max_execution_time(50) */ GET_LOCK('a', 10000) UNION SELECT 2",
        "(SELECT /*+ MAX_EXECUTION_TIME(50) */ GET_LOCK('a', 10000)) ORDER BY 1",
        "WITH x AS (SELECT 1 AS a) SELECT /*+ MAX_EXECUTION_TIME(50) */ GET_LOCK('a', 10000) FROM x WHERE a = 1",
    ] {
        assert_eq!(number(&waiter.query(statement)), 3024, "{statement}");
    }
    run(
        &mut waiter,
        &["PREPARE s FROM 'SELECT /*+ MAX_EXECUTION_TIME(50) */ GET_LOCK(?, 10000)'", "SET @a = 'a'"],
    );
    assert_eq!(number(&waiter.query("EXECUTE s USING @a")), 3024);
    // It is the statement's own, in whatever order they come; 0 is none.
    for statement in [
        "SELECT GET_LOCK('a', 1)",
        "SELECT /*+ MAX_EXECUTION_TIME(0) */ GET_LOCK('a', 1)",
        "SELECT /*+ MAX_EXECUTION_TIME(50000) */ GET_LOCK('a', 1)",
        "SELECT (SELECT /*+ MAX_EXECUTION_TIME(50) */ GET_LOCK('a', 1))",
    ] {
        assert_eq!(waiter.value(statement), "0", "{statement}");
    }
    assert_eq!(number(&waiter.query("SELECT /*+ MAX_EXECUTION_TIME(50) */ GET_LOCK('a', 1)")), 3024);
    // It has precedence over the variable.
    run(&mut waiter, &["SET max_execution_time = 50"]);
    assert_eq!(waiter.value("SELECT /*+ MAX_EXECUTION_TIME(50000) */ GET_LOCK('a', 1)"), "0");
    assert_eq!(number(&waiter.query("SELECT /*+ MAX_EXECUTION_TIME(0) */ GET_LOCK('a', 1)")), 3024);
    // Other statements have none.
    run(&mut waiter, &["CREATE DATABASE test", "CREATE TABLE test.hinted (a INT)"]);
    let insert = "INSERT INTO test.hinted SELECT /*+ MAX_EXECUTION_TIME(50) */ GET_LOCK('a', 1)";
    assert_eq!(waiter.query(insert), Answer::Ok(1));
}

#[test]
fn a_wait_ends_with_max_execution_time() {
    let server = TestServer::start(&[]);
    let (mut holder, _) = connect(&server);
    let (mut waiter, _) = connect(&server);
    get(&mut holder, "a");
    run(&mut waiter, &["SET max_execution_time = 50"]);
    assert_eq!(number(&waiter.query("SELECT GET_LOCK('a', 10000)")), 3024);
    run(&mut waiter, &["SET max_execution_time = 0"]);
    assert_eq!(holder.value("SELECT RELEASE_LOCK('a')"), "1");
    assert_eq!(waiter.value("SELECT IS_FREE_LOCK('a')"), "1");
}
