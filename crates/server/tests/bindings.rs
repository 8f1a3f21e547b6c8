//! CREATE BINDING and DROP BINDING: statements that are planned by the hints of others.

mod client;

use client::{Answer, Client, TestServer, connect_as, fails, number, run, until};

const STATEMENT: &str = "SELECT a FROM t WHERE b = 1 AND c = 1 AND SLEEP(60) = 0";

fn by(index: &str) -> String {
    STATEMENT.replace("SELECT", &format!("SELECT /*+ INDEX(t {index}) */"))
}

fn bind(index: &str) -> String {
    format!("CREATE GLOBAL BINDING FOR {STATEMENT} USING {}", by(index))
}

fn filled(client: &mut Client) {
    run(
        client,
        &[
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (a INT PRIMARY KEY, b INT, c INT, KEY b (b), KEY c (c))",
            "INSERT INTO t VALUES (1, 1, 1), (2, 1, 1), (3, 1, 1), (4, 2, 2)",
        ],
    );
}

fn connect(server: &TestServer) -> Client {
    let mut client = server.connect();
    run(&mut client, &["USE d"]);
    client
}

/// The plan by which another session executes a statement, which sleeps.
fn executed(server: &TestServer, runner: &mut Client, send: impl FnOnce(&mut Client)) -> String {
    let id = runner.value("SELECT CONNECTION_ID()");
    let mut watcher = server.connect();
    send(runner);
    let state = format!("SELECT STATE FROM information_schema.PROCESSLIST WHERE ID = {id}");
    until(&mut watcher, &state, &Answer::Rows(vec![vec![Some("User sleep".to_owned())]]));
    let tree = watcher.value(&format!("EXPLAIN FORMAT=TREE FOR CONNECTION {id}"));
    run(&mut watcher, &[&format!("KILL QUERY {id}")]);
    runner.answer();
    tree
}

#[test]
fn a_bound_statement_is_planned_by_the_hints_of_its_binding() {
    let server = TestServer::start(&[]);
    filled(&mut server.connect());
    let mut client = connect(&server);
    for index in ["b", "c", "PRIMARY", "b"] {
        run(&mut client, &[&bind(index)]);
        // What other constants and spaces are in it decides nothing, and neither does whether a plan was
        // kept.
        let own = STATEMENT.replace("b = 1", "b=  7 ");
        let explained = client.value(&format!("EXPLAIN FORMAT=TREE {own}"));
        let tree = executed(&server, &mut client, |client| client.send(STATEMENT));
        for tree in [&explained, &tree] {
            match index {
                "PRIMARY" => assert!(!tree.contains("using b") && !tree.contains("using c"), "{tree}"),
                index => assert!(tree.contains(&format!("using {index} ")), "{index}: {tree}"),
            }
        }
    }
    // Its own hints say nothing then.
    let hinted = executed(&server, &mut client, |client| client.send(&by("c")));
    assert!(hinted.contains("using b "), "{hinted}");
    // A statement that is prepared, and another default database.
    run(&mut client, &[&format!("PREPARE s FROM '{STATEMENT}'")]);
    let prepared = executed(&server, &mut client, |client| client.send("EXECUTE s"));
    assert!(prepared.contains("using b "), "{prepared}");
    run(&mut client, &[&format!("DROP GLOBAL BINDING FOR {STATEMENT}")]);
    let hinted = client.value(&format!("EXPLAIN FORMAT=TREE {}", by("c")));
    assert!(hinted.contains("using c "), "{hinted}");
    run(&mut client, &[&format!("DROP BINDING FOR {STATEMENT}")]);
    assert_eq!(client.value("SELECT COUNT(*) FROM mysql.palisade_bindings"), "0");
}

#[test]
fn bindings_survive_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    std::fs::create_dir_all(&data).unwrap();
    let options = [("datadir", data.to_str().unwrap())];
    let server = TestServer::start(&options);
    filled(&mut server.connect());
    run(&mut connect(&server), &[&bind("b"), &bind("c")]);
    server.stop().unwrap();
    let server = TestServer::start(&options);
    let mut client = connect(&server);
    let tree = client.value(&format!("EXPLAIN FORMAT=TREE {STATEMENT}"));
    assert!(tree.contains("using c "), "{tree}");
    let shown = client.value("SELECT using_statement FROM mysql.palisade_bindings");
    assert_eq!(shown, by("c"));
    // In another database the statement is another one.
    run(&mut client, &["CREATE DATABASE e", "CREATE TABLE e.t LIKE d.t", "USE e", &bind("b")]);
    assert_eq!(client.value("SELECT COUNT(*) FROM mysql.palisade_bindings"), "2");
}

#[test]
fn what_is_no_binding_is_refused() {
    let server = TestServer::start(&[]);
    let mut root = server.connect();
    filled(&mut root);
    run(&mut root, &["USE d", "CREATE USER plain@localhost", "GRANT ALL ON d.* TO plain@localhost"]);
    let session = bind("b").replace("GLOBAL", "SESSION");
    let other = bind("b").replace("USING SELECT /*+ INDEX(t b) */ a", "USING SELECT /*+ INDEX(t b) */ b");
    let missing = bind("b").replace("FROM t", "FROM nosuch");
    let variable = bind("b").replace("INDEX(t b)", "SET_VAR(sort_buffer_size=100000)");
    let unhinted = bind("b").replace("/*+ INDEX(t b) */", "");
    for (statement, code) in
        [(&session, 1235), (&other, 1221), (&missing, 1146), (&variable, 1235), (&unhinted, 1210)]
    {
        assert_eq!(fails(&mut root, statement).0, code, "{statement}");
    }
    assert_eq!(fails(&mut root, "CREATE BINDING FOR SELECT 1").0, 1064);
    assert_eq!(fails(&mut root, "CREATE GLOBAL BINDING FOR SET @a = 1 USING SELECT 1").0, 1064);
    let mut plain = connect_as(&server, "plain");
    run(&mut plain, &["USE d"]);
    assert_eq!(number(&plain.query(&bind("b"))), 1227);
    // An index that there is not is warned of; so it is each time that the statement is planned.
    run(&mut root, &[&bind("nosuch")]);
    run(&mut root, &[&format!("EXPLAIN FORMAT=TREE {STATEMENT}")]);
    let Answer::Rows(warnings) = root.query("SHOW WARNINGS") else { panic!("rows") };
    assert_eq!(warnings[0][1].as_deref(), Some("3128"));
}
