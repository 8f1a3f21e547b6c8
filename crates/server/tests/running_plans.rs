//! EXPLAIN FOR CONNECTION: the plan by which another session executes a statement now.

mod client;

use client::{Answer, Client, TestServer, connect_as, fails, number, run, until};

const NO_SUCH_THREAD: u16 = 1094;
const ACCESS_DENIED: u16 = 1045;
const NOT_EXPLAINED: u16 = 3012;

fn connect(server: &TestServer) -> (Client, String) {
    let mut client = server.connect();
    let id = client.value("SELECT CONNECTION_ID()");
    run(&mut client, &["CREATE DATABASE IF NOT EXISTS test", "USE test"]);
    (client, id)
}

/// Sends a statement that sleeps, and returns when it does.
fn send_sleeping(client: &mut Client, id: &str, watcher: &mut Client, statement: &str) {
    client.send(statement);
    let state = format!("SELECT STATE FROM information_schema.PROCESSLIST WHERE ID = {id}");
    until(watcher, &state, &Answer::Rows(vec![vec![Some("User sleep".to_owned())]]));
}

/// Ends what it executes.
fn interrupt(client: &mut Client, id: &str, watcher: &mut Client) {
    run(watcher, &[&format!("KILL QUERY {id}")]);
    client.answer();
}

fn filled(server: &TestServer) {
    let (mut client, _) = connect(server);
    run(
        &mut client,
        &[
            "CREATE TABLE t (a INT PRIMARY KEY, b INT, KEY (b))",
            "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)",
        ],
    );
}

#[test]
fn the_plan_of_a_running_statement_is_shown_with_its_values() {
    let server = TestServer::start(&[]);
    filled(&server);
    let (mut runner, id) = connect(&server);
    let (mut watcher, _) = connect(&server);
    send_sleeping(&mut runner, &id, &mut watcher, "SELECT SLEEP(60), a FROM t WHERE b = 2");
    let tree = watcher.value(&format!("EXPLAIN FORMAT=TREE FOR CONNECTION {id}"));
    assert!(tree.contains("index lookup on t using b (b = 2)"), "{tree}");
    assert!(tree.contains("(cost=") && tree.contains("rows="), "{tree}");
    let json = watcher.value(&format!("EXPLAIN FORMAT=JSON FOR CONNECTION {id}"));
    assert!(json.contains("\"query_type\": \"select\""), "{json}");
    let Answer::Rows(rows) = watcher.query(&format!("EXPLAIN FORMAT=TRADITIONAL FOR CONNECTION {id}")) else {
        panic!("rows");
    };
    assert_eq!(rows[0][2].as_deref(), Some("t"));
    assert_eq!(rows[0][6].as_deref(), Some("b"));
    interrupt(&mut runner, &id, &mut watcher);
    // Nothing is executed now.
    assert!(matches!(watcher.query(&format!("EXPLAIN FOR CONNECTION {id}")), Answer::Ok(0)));
}

#[test]
fn changes_have_plans_and_other_statements_have_none() {
    let server = TestServer::start(&[]);
    filled(&server);
    let (mut runner, id) = connect(&server);
    let (mut watcher, _) = connect(&server);
    for (statement, shown) in [
        ("UPDATE t SET b = 5 WHERE a > 1 AND SLEEP(60) = 0", "Update t ("),
        ("DELETE FROM t WHERE b > 1 AND SLEEP(60) = 0", "Delete from t ("),
        ("INSERT INTO t SELECT a + 10 + SLEEP(60), b FROM t", "Insert into t"),
        ("SELECT SLEEP(60)", "Rows fetched before execution"),
    ] {
        send_sleeping(&mut runner, &id, &mut watcher, statement);
        let tree = watcher.value(&format!("EXPLAIN FORMAT=TREE FOR CONNECTION {id}"));
        assert!(tree.contains(shown), "{statement}: {tree}");
        interrupt(&mut runner, &id, &mut watcher);
    }
    for statement in ["DO SLEEP(60)", "EXPLAIN ANALYZE SELECT SLEEP(60), a FROM t"] {
        send_sleeping(&mut runner, &id, &mut watcher, statement);
        assert_eq!(fails(&mut watcher, &format!("EXPLAIN FOR CONNECTION {id}")).0, NOT_EXPLAINED);
        interrupt(&mut runner, &id, &mut watcher);
    }
}

#[test]
fn an_account_sees_its_own_plans_only() {
    let server = TestServer::start(&[]);
    filled(&server);
    let (mut root, own) = connect(&server);
    run(&mut root, &["CREATE USER one@localhost", "CREATE USER two@localhost"]);
    run(&mut root, &["GRANT SELECT ON test.* TO one@localhost"]);
    let mut runner = connect_as(&server, "one");
    let id = runner.value("SELECT CONNECTION_ID()");
    send_sleeping(&mut runner, &id, &mut root, "SELECT SLEEP(60), a FROM test.t");
    let explain = format!("EXPLAIN FORMAT=TREE FOR CONNECTION {id}");
    for user in ["one", "root"] {
        let tree = connect_as(&server, user).value(&explain);
        assert!(tree.contains("Table scan on t") || tree.contains("index scan on t"), "{tree}");
    }
    assert_eq!(number(&connect_as(&server, "two").query(&explain)), ACCESS_DENIED);
    run(&mut root, &["GRANT PROCESS ON *.* TO two@localhost"]);
    assert!(connect_as(&server, "two").value(&explain).contains("on t"));
    interrupt(&mut runner, &id, &mut root);
    assert_eq!(fails(&mut root, "EXPLAIN FOR CONNECTION 999999").0, NO_SUCH_THREAD);
    assert_eq!(fails(&mut root, &format!("EXPLAIN FOR CONNECTION {own}")).0, NOT_EXPLAINED);
    assert_eq!(fails(&mut root, "EXPLAIN FORMAT=JSON INTO @x FOR CONNECTION 1").0, 6009);
    assert_eq!(fails(&mut root, "EXPLAIN ANALYZE FOR CONNECTION 1").0, 1235);
}
