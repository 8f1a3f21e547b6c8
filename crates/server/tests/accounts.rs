//! Accounts over a socket: who comes in, and what they may do.

mod client;

use client::{Answer, CAPABILITIES, Client, TestServer, error, run, until};
use sha1::Sha1;
use sha2::{Digest, Sha256};

const MYSQL_NATIVE_PASSWORD: &str = "mysql_native_password";

fn xor(one: &[u8], other: &[u8]) -> Vec<u8> {
    one.iter().zip(other).map(|(one, other)| one ^ other).collect()
}

fn native_proof(password: &str, scramble: &[u8]) -> Vec<u8> {
    let once = Sha1::digest(password);
    xor(&once, &Sha1::new().chain_update(scramble).chain_update(Sha1::digest(once)).finalize())
}

fn sha2_proof(password: &str, scramble: &[u8]) -> Vec<u8> {
    let once = Sha256::digest(password);
    let twice = Sha256::digest(Sha256::digest(once));
    xor(&once, &Sha256::new().chain_update(twice).chain_update(scramble).finalize())
}

/// A login of `user` by a plugin; gives the server's answer to the proof.
fn log_in(server: &TestServer, user: &str, password: &str, plugin: &str) -> (Client, Vec<u8>) {
    let mut client = server.connect_raw();
    let greeting = client.read().unwrap();
    let scramble = client::scramble(&greeting);
    let proof = match plugin {
        _ if password.is_empty() => Vec::new(),
        MYSQL_NATIVE_PASSWORD => native_proof(password, &scramble),
        _ => sha2_proof(password, &scramble),
    };
    client.respond(user, &proof, plugin, CAPABILITIES);
    let answer = client.read().unwrap();
    (client, answer)
}

fn native(server: &TestServer, user: &str, password: &str) -> Client {
    let (client, answer) = log_in(server, user, password, MYSQL_NATIVE_PASSWORD);
    assert_eq!(answer[0], 0, "{}", answer.escape_ascii());
    client
}

fn denied(server: &TestServer, user: &str, password: &str) -> Answer {
    error(&log_in(server, user, password, MYSQL_NATIVE_PASSWORD).1)
}

fn ok(client: &mut Client, statements: &[&str]) {
    for statement in statements {
        assert!(
            matches!(client.query(statement), Answer::Ok(_)),
            "{statement}: {:?}",
            client.query(statement)
        );
    }
}

fn number(answer: Answer) -> u16 {
    match answer {
        Answer::Error(number, _) => number,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_password_lets_in_and_another_does_not() {
    let server = TestServer::start(&[]);
    let mut root = server.connect();
    ok(
        &mut root,
        &[
            "CREATE USER 'n'@'localhost' IDENTIFIED WITH mysql_native_password BY 'secret'",
            "CREATE USER c IDENTIFIED BY 'secret'",
            "CREATE USER e",
        ],
    );
    let mut client = native(&server, "n", "secret");
    assert_eq!(client.value("SELECT CONCAT(USER(), ' ', CURRENT_USER())"), "n@localhost n@localhost");
    let text = |with| format!("Access denied for user 'n'@'localhost' (using password: {with})");
    assert_eq!(denied(&server, "n", "Secret"), Answer::Error(1045, text("YES")));
    assert_eq!(denied(&server, "n", ""), Answer::Error(1045, text("NO")));
    let mut client = native(&server, "e", "");
    assert_eq!(client.value("SELECT CURRENT_USER()"), "e@%");
    // a client of the other plugin is asked again, with a fresh proof
    let (mut client, answer) = log_in(&server, "n", "secret", "caching_sha2_password");
    assert!(answer.starts_with(b"\xfemysql_native_password\0"), "{}", answer.escape_ascii());
    client.write(&native_proof("secret", &answer[23..43]));
    assert_eq!(client.read().unwrap()[0], 0);
    // the server does not know the password behind the first proof: it wants the password, encrypted
    let (mut client, answer) = log_in(&server, "c", "secret", "caching_sha2_password");
    assert_eq!(answer, [1, 4]);
    client.write(&[2]);
    assert!(client.read().unwrap().starts_with(b"\x01-----BEGIN PUBLIC KEY-----"));
    client.write(b"not encrypted at all");
    assert_eq!(number(error(&client.read().unwrap())), 1045);
    // an unknown user is asked the same question
    assert_eq!(log_in(&server, "nobody", "secret", "caching_sha2_password").1, [1, 4]);
}

#[test]
fn accounts_change_and_stay_changed() {
    let server = TestServer::start(&[]);
    let datadir = server.dir.path().join("data");
    let kept = tempfile::tempdir().unwrap();
    let target = kept.path().join("data");
    let mut root = server.connect();
    ok(
        &mut root,
        &[
            "CREATE USER a IDENTIFIED WITH mysql_native_password BY 'one', b, c",
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)",
            "GRANT SELECT, INSERT ON d.* TO a WITH GRANT OPTION",
            "GRANT UPDATE ON d.t TO a",
            "GRANT PROCESS, BACKUP_ADMIN ON *.* TO a",
            "ALTER USER a IDENTIFIED BY 'two'",
            "ALTER USER b ACCOUNT LOCK",
            "RENAME USER c TO 'it''s'@'10.%'",
        ],
    );
    assert_eq!(
        denied(&server, "b", ""),
        Answer::Error(3118, "Access denied for user 'b'@'localhost'. Account is locked.".into())
    );
    assert_eq!(number(root.query("CREATE USER a")), 1396);
    assert_eq!(root.query("CREATE USER IF NOT EXISTS a"), Answer::Ok(0));
    assert_eq!(number(root.query("DROP USER nobody")), 1396);
    assert_eq!(number(root.query("GRANT SELECT ON *.* TO nobody")), 1410);
    assert_eq!(number(root.query("SET PASSWORD FOR nobody = 'x'")), 1133);
    assert_eq!(number(root.query("CREATE USER x IDENTIFIED WITH unknown_plugin")), 1524);
    assert_eq!(number(root.query("CREATE ROLE r")), 1235);
    let grants = [
        "GRANT PROCESS ON *.* TO `a`@`%`",
        "GRANT BACKUP_ADMIN ON *.* TO `a`@`%`",
        "GRANT SELECT, INSERT ON `d`.* TO `a`@`%` WITH GRANT OPTION",
        "GRANT UPDATE ON `d`.`t` TO `a`@`%`",
    ];
    let grants = Answer::Rows(grants.iter().map(|line| vec![Some((*line).to_owned())]).collect());
    assert_eq!(root.query("SHOW GRANTS FOR a"), grants);
    drop(root);
    assert_eq!(server.stop_and_move(&datadir, &target), Ok(()));
    let server = TestServer::start(&[("datadir", target.to_str().unwrap())]);
    let mut root = server.connect();
    assert_eq!(root.query("SHOW GRANTS FOR a"), grants);
    assert_eq!(
        root.value("SELECT GROUP_CONCAT(Host, '/', User ORDER BY User) FROM mysql.user"),
        "%/a,%/b,10.%/it's,localhost/root"
    );
    assert_eq!(number(denied(&server, "a", "one")), 1045);
    let mut a = native(&server, "a", "two");
    ok(&mut a, &["SET PASSWORD = 'three'"]);
    native(&server, "a", "three");
    // rows changed by hand count from FLUSH PRIVILEGES on
    ok(&mut root, &["UPDATE mysql.user SET account_locked = 'Y' WHERE User = 'a'"]);
    native(&server, "a", "three");
    ok(&mut root, &["FLUSH PRIVILEGES"]);
    assert_eq!(number(denied(&server, "a", "three")), 3118);
    ok(&mut root, &["DROP USER a, b"]);
    assert_eq!(root.value("SELECT COUNT(*) FROM mysql.db"), "0");
}

#[test]
fn what_is_not_granted_is_denied() {
    let server = TestServer::start(&[]);
    let mut root = server.connect();
    ok(
        &mut root,
        &[
            "CREATE DATABASE d",
            "CREATE DATABASE secret",
            "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)",
            "CREATE TABLE d.u (id INT PRIMARY KEY, v INT)",
            "CREATE TABLE secret.s (id INT PRIMARY KEY)",
            "INSERT INTO d.t VALUES (1, 10)",
            "CREATE USER app IDENTIFIED WITH mysql_native_password BY 'x'",
        ],
    );
    let mut app = native(&server, "app", "x");
    let text = |command: &str, table: &str| {
        format!("{command} command denied to user 'app'@'localhost' for table '{table}'")
    };
    let denied_database = |name: &str| {
        Answer::Error(1044, format!("Access denied for user 'app'@'localhost' to database '{name}'"))
    };
    assert_eq!(app.query("SELECT * FROM d.t"), Answer::Error(1142, text("SELECT", "t")));
    assert_eq!(app.query("SELECT * FROM d.nothing"), Answer::Error(1142, text("SELECT", "nothing")));
    assert_eq!(app.query("USE d"), denied_database("d"));
    assert_eq!(app.value("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'd'"), "0");
    ok(&mut root, &["GRANT SELECT ON d.t TO app"]);
    assert_eq!(app.value("SELECT v FROM d.t WHERE id = 1"), "10");
    assert_eq!(app.value("SELECT (SELECT MAX(v) FROM d.t)"), "10");
    // a plan that root has made does not let others in
    assert_eq!(root.query("SELECT id FROM d.u WHERE id = 1"), Answer::Rows(vec![]));
    for statement in [
        "SELECT id FROM d.u WHERE id = 1",
        "SELECT * FROM d.t JOIN d.u USING (id)",
        "SELECT * FROM d.t WHERE id IN (SELECT id FROM d.u)",
        "WITH c AS (SELECT * FROM d.u) SELECT * FROM c",
        "SELECT 1 UNION SELECT id FROM d.u",
        "TABLE d.u",
        "EXPLAIN SELECT * FROM d.u",
        "DO (SELECT 1 FROM d.u)",
        "SET @a = (SELECT 1 FROM d.u)",
    ] {
        assert_eq!(app.query(statement), Answer::Error(1142, text("SELECT", "u")), "{statement}");
    }
    assert!(matches!(app.prepare("SELECT * FROM d.u"), Err(Answer::Error(1142, _))));
    for (statement, command, table) in [
        ("INSERT INTO d.t VALUES (2, 2)", "INSERT", "t"),
        ("INSERT INTO d.t SELECT * FROM d.t", "INSERT", "t"),
        ("REPLACE INTO d.t VALUES (2, 2)", "INSERT, DELETE", "t"),
        ("UPDATE d.t SET v = 1", "UPDATE", "t"),
        ("DELETE FROM d.t", "DELETE", "t"),
        ("CREATE TABLE d.x (id INT)", "CREATE", "x"),
        ("ALTER TABLE d.t ADD w INT", "ALTER", "t"),
        ("DROP TABLE d.t", "DROP", "t"),
        ("TRUNCATE d.t", "DROP", "t"),
        ("CREATE INDEX i ON d.t (v)", "INDEX", "t"),
        ("SHOW CREATE TABLE d.u", "SHOW", "u"),
        ("SHOW COLUMNS FROM d.u", "SELECT", "u"),
        ("CHECK TABLE d.u", "SELECT", "u"),
    ] {
        assert_eq!(app.query(statement), Answer::Error(1142, text(command, table)), "{statement}");
    }
    // who may write a table may not therefore read it
    root.query("GRANT INSERT, UPDATE, DELETE ON d.u TO app");
    root.query("GRANT FILE ON *.* TO app");
    for statement in [
        "UPDATE d.u SET id = id + 1",
        "UPDATE d.u SET id = 3 WHERE id = 1",
        "DELETE FROM d.u WHERE id = 1",
        "INSERT INTO d.u (id) VALUES (1) ON DUPLICATE KEY UPDATE id = id + 1",
    ] {
        assert_eq!(app.query(statement), Answer::Error(1142, text("SELECT", "u")), "{statement}");
    }
    for statement in ["UPDATE d.u SET id = 3", "DELETE FROM d.u", "REPLACE INTO d.u (id) VALUES (1)"] {
        assert!(matches!(app.query(statement), Answer::Ok(_)), "{statement}");
    }
    root.query("REVOKE DELETE ON d.u FROM app");
    let load = "LOAD DATA INFILE '/nowhere' REPLACE INTO TABLE d.u";
    assert_eq!(app.query(load), Answer::Error(1142, text("DELETE", "u")));
    root.query("REVOKE ALL ON d.u FROM app");
    root.query("REVOKE FILE ON *.* FROM app");
    root.query("DELETE FROM d.u");
    for (statement, number_wanted) in [
        ("CREATE DATABASE x", 1044),
        ("DROP DATABASE d", 1044),
        ("SHOW TABLES FROM secret", 1044),
        ("SHOW GRANTS FOR root@localhost", 1142),
        ("CREATE USER x", 1227),
        ("GRANT SELECT ON d.t TO app", 1142),
        ("SET GLOBAL max_connections = 5", 1227),
        ("SHUTDOWN", 1227),
        ("FLUSH TABLES", 1227),
        ("SHOW ENGINE INNODB STATUS", 1227),
        ("SELECT * FROM information_schema.innodb_trx", 1227),
        ("KILL 1", 1095),
        ("SELECT * FROM mysql.user", 1142),
        ("UPDATE mysql.user SET User = 'x'", 1142),
    ] {
        assert_eq!(number(app.query(statement)), number_wanted, "{statement}");
    }
    assert_eq!(number(error(&app.command(b"\x08").unwrap())), 1227, "COM_SHUTDOWN");
    let names = |answer: Answer| match answer {
        Answer::Rows(rows) => rows.into_iter().map(|row| row[0].clone().unwrap()).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(names(app.query("SHOW DATABASES")), ["d", "information_schema", "performance_schema"]);
    assert_eq!(names(app.query("SHOW TABLES FROM d")), ["t"]);
    assert_eq!(names(app.query("SELECT USER FROM information_schema.processlist")), ["app"]);
    // what is granted on the database holds for what comes into it, and ends when it is taken away
    ok(&mut root, &["GRANT ALL ON d.* TO app"]);
    ok(&mut app, &["USE d", "INSERT INTO u VALUES (1, 1)", "CREATE TABLE w (id INT)", "DROP TABLE w"]);
    ok(&mut app, &["UPDATE t JOIN u USING (id) SET t.v = 5", "DELETE t FROM t JOIN u USING (id)"]);
    ok(&mut root, &["REVOKE ALL ON d.* FROM app"]);
    assert_eq!(number(app.query("INSERT INTO u VALUES (2, 1)")), 1142);
    assert_eq!(app.query("SELECT * FROM t"), Answer::Rows(vec![]));
    ok(&mut root, &["DROP USER app"]);
    assert_eq!(number(app.query("SELECT * FROM t")), 1142, "the account is gone");
}

#[test]
fn a_client_without_tls_is_refused_where_it_is_required() {
    let server = TestServer::start(&[]);
    let mut root = server.connect();
    ok(&mut root, &["CREATE USER s REQUIRE SSL"]);
    assert_eq!(number(denied(&server, "s", "")), 1045);
    ok(&mut root, &["SET GLOBAL require_secure_transport = ON"]);
    assert_eq!(number(denied(&server, "root", "")), 3159);
}

#[test]
fn another_user_can_be_changed_to() {
    let server = TestServer::start(&[]);
    let mut root = server.connect();
    ok(
        &mut root,
        &[
            "CREATE USER app IDENTIFIED WITH mysql_native_password BY 'x'",
            "CREATE DATABASE d",
            "GRANT SELECT ON d.* TO app",
            "SET @a = 1",
        ],
    );
    let mut client = server.connect();
    assert_eq!(client.command(b"\x11root\0\0\0").unwrap()[0], 0);
    // the client uses another plugin than the account's and is asked again
    let mut body = b"\x11app\0\x20".to_vec();
    body.extend_from_slice(&[7; 32]);
    body.extend_from_slice(b"d\0\xff\0caching_sha2_password\0");
    let question = client.command(&body).unwrap();
    assert!(question.starts_with(b"\xfemysql_native_password\0"), "{}", question.escape_ascii());
    client.write(&native_proof("x", &question[23..43]));
    assert_eq!(client.read().unwrap()[0], 0);
    assert_eq!(client.value("SELECT CONCAT_WS(' ', CURRENT_USER(), DATABASE())"), "app@% d");
    assert_eq!(number(client.query("CREATE TABLE t (id INT)")), 1142);
    let question = client.command(&body).unwrap();
    client.write(&native_proof("wrong", &question[23..43]));
    assert_eq!(number(error(&client.read().unwrap())), 1045);
    assert_eq!(client.read(), None, "a failed change of user ends the connection");
}

#[test]
fn foreign_keys_tell_nothing_of_tables_that_an_account_may_not_know() {
    let server = TestServer::start(&[]);
    let mut root = server.connect();
    ok(
        &mut root,
        &[
            "CREATE USER app IDENTIFIED WITH mysql_native_password BY 'x'",
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE one (id INT PRIMARY KEY)",
            "CREATE TABLE other (id INT PRIMARY KEY)",
            "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, \
             CONSTRAINT f FOREIGN KEY (a) REFERENCES one (id), FOREIGN KEY (b) REFERENCES other (id))",
            "CREATE TABLE child (id INT PRIMARY KEY, CONSTRAINT c FOREIGN KEY (id) REFERENCES t (id))",
            "INSERT INTO one VALUES (1)",
            "INSERT INTO t VALUES (1, 1, NULL)",
            "INSERT INTO child VALUES (1)",
            "GRANT SELECT, INSERT, UPDATE, DELETE ON d.t TO app",
        ],
    );
    let mut app = native(&server, "app", "x");
    ok(&mut app, &["USE d"]);
    let no_parent = "Cannot add or update a child row: a foreign key constraint fails";
    let has_children = "Cannot delete or update a parent row: a foreign key constraint fails";
    let parent = " (`d`.`t`, CONSTRAINT `f` FOREIGN KEY (`a`) REFERENCES `one` (`id`))";
    let child = " (`d`.`child`, CONSTRAINT `c` FOREIGN KEY (`id`) REFERENCES `t` (`id`))";
    let mut all = |of_parent: &str, of_child: &str| {
        let of_parent = (1452, format!("{no_parent}{of_parent}"));
        let of_child = (1451, format!("{has_children}{of_child}"));
        for (statement, (number, text)) in [
            ("INSERT INTO t VALUES (2, 99, NULL)", &of_parent),
            ("UPDATE t SET a = 99", &of_parent),
            ("INSERT INTO t VALUES (1, 1, NULL) ON DUPLICATE KEY UPDATE a = 99", &of_parent),
            ("DELETE FROM t", &of_child),
            ("UPDATE t SET id = 2", &of_child),
        ] {
            assert_eq!(app.query(statement), Answer::Error(*number, text.clone()), "{statement}");
            let ignored = statement.replacen(' ', " IGNORE ", 1);
            assert_eq!(app.query(&ignored), Answer::Ok(0), "{ignored}");
            let warning = ["Warning".to_owned(), number.to_string(), text.clone()].map(Some);
            assert_eq!(app.query("SHOW WARNINGS"), Answer::Rows(vec![warning.to_vec()]), "{ignored}");
        }
    };
    all("", "");
    ok(&mut root, &["GRANT INDEX ON one TO app"]);
    all(parent, "");
    ok(&mut root, &["REVOKE INDEX ON one FROM app", "GRANT TRIGGER ON child TO app"]);
    all("", child);
    ok(&mut root, &["GRANT CREATE ON d.* TO app"]);
    all(parent, child);
}

/// MySQL's answers.
#[test]
fn views_are_read_as_their_definer_or_as_the_account_that_names_them() {
    let server = TestServer::start(&[]);
    let mut root = server.connect();
    ok(
        &mut root,
        &[
            "CREATE USER app IDENTIFIED WITH mysql_native_password BY 'x'",
            "CREATE USER own",
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE t (id INT PRIMARY KEY, a INT)",
            "INSERT INTO t VALUES (1, 1)",
            "CREATE VIEW v AS SELECT id, a FROM t",
            "CREATE SQL SECURITY INVOKER VIEW i AS SELECT id, a FROM t",
            "CREATE DEFINER = own VIEW o AS SELECT id, a FROM t",
            "GRANT SELECT, INSERT, UPDATE, DELETE ON d.v TO app",
            "GRANT SELECT ON d.i TO app",
            "GRANT SELECT, UPDATE ON d.o TO app",
        ],
    );
    let mut app = native(&server, "app", "x");
    ok(&mut app, &["USE d"]);
    for (statement, expected) in [
        ("SELECT * FROM v", 0),
        ("SELECT * FROM i", 1356),
        ("SELECT * FROM o", 1356),
        ("SELECT * FROM t", 1142),
        ("UPDATE v SET a = 2", 0),
        ("INSERT INTO v VALUES (2, 2)", 0),
        ("DELETE FROM v WHERE id = 2", 0),
        ("UPDATE i SET a = 1", 1142),
        ("UPDATE o SET a = 3", 1356),
        ("SHOW CREATE VIEW v", 1142),
        ("CREATE VIEW n AS SELECT 1 AS x", 1142),
        ("CREATE OR REPLACE VIEW v AS SELECT 1", 1142),
        ("DROP VIEW v", 1142),
        ("EXPLAIN SELECT * FROM v", 1345),
        ("SHOW COLUMNS FROM i", 0),
    ] {
        let found = match app.query(statement) {
            Answer::Error(number, _) => number,
            _ => 0,
        };
        assert_eq!(found, expected, "{statement}");
    }
    // Who may change a view may not make another account's of it.
    ok(
        &mut root,
        &[
            "CREATE DEFINER = app VIEW d.mine AS SELECT 1 AS x",
            "GRANT CREATE VIEW, DROP ON d.v TO app",
            "GRANT CREATE VIEW, DROP ON d.mine TO app",
        ],
    );
    assert_eq!(number(app.query("ALTER VIEW v AS SELECT user, authentication_string FROM mysql.user")), 1142);
    assert_eq!(number(app.query("ALTER VIEW v AS SELECT 1 AS x")), 1227);
    ok(&mut app, &["ALTER VIEW mine AS SELECT 2 AS x", "DROP VIEW mine"]);
    ok(&mut root, &["REVOKE CREATE VIEW, DROP ON d.v FROM app"]);
    ok(&mut root, &["GRANT SELECT ON d.t TO own", "GRANT SHOW VIEW ON d.v TO app"]);
    for statement in ["SELECT * FROM o", "SELECT * FROM o", "SHOW CREATE VIEW v"] {
        assert!(matches!(app.query(statement), Answer::Rows(_)), "{statement}");
    }
    assert_eq!(number(app.query("UPDATE o SET a = 3")), 1356);
    // A plan that was kept is asked for again.
    ok(&mut root, &["REVOKE SELECT ON d.t FROM own"]);
    assert_eq!(number(app.query("SELECT * FROM o")), 1356);
    ok(&mut root, &["DROP USER own"]);
    assert_eq!(number(root.query("SELECT * FROM o")), 1449);
}

/// MySQL's answers.
#[test]
fn a_definer_with_system_user_is_named_by_such_accounts_only() {
    let server = TestServer::start(&[]);
    let mut root = server.connect();
    ok(&mut root, &["CREATE DATABASE d", "USE d", "CREATE TABLE t (a INT)"]);
    for user in ["maker", "any", "boss", "two"] {
        let create = format!("CREATE USER {user} IDENTIFIED WITH mysql_native_password BY 'x'");
        ok(&mut root, &[&create, &format!("GRANT CREATE VIEW, SELECT, DROP ON d.* TO {user}")]);
    }
    ok(
        &mut root,
        &[
            "CREATE USER plain",
            "GRANT SET_ANY_DEFINER ON *.* TO maker, any, two",
            "GRANT ALLOW_NONEXISTENT_DEFINER ON *.* TO any",
            "GRANT SYSTEM_USER ON *.* TO boss, two",
            "CREATE DEFINER = boss VIEW bosses AS SELECT a FROM t",
            "CREATE DEFINER = none VIEW orphan AS SELECT a FROM t",
        ],
    );
    let system_user =
        "Access denied; you need (at least one of) the SYSTEM_USER privilege(s) for this operation";
    let needs = |privilege: &str| {
        format!(
            "Access denied; you need (at least one of) the SUPER or {privilege} privilege(s) for this operation"
        )
    };
    let (any_definer, absent) = (needs("SET_ANY_DEFINER"), needs("ALLOW_NONEXISTENT_DEFINER"));
    for (user, of_boss, of_none, of_plain) in [
        ("maker", Some(system_user), Some(absent.as_str()), None),
        ("any", Some(system_user), None, None),
        ("two", None, Some(absent.as_str()), None),
        ("boss", None, Some(any_definer.as_str()), Some(any_definer.as_str())),
    ] {
        let mut client = native(&server, user, "x");
        ok(&mut client, &["USE d"]);
        for (statement, refused) in [
            ("CREATE OR REPLACE DEFINER = boss VIEW v AS SELECT a FROM t", of_boss),
            ("CREATE OR REPLACE DEFINER = none VIEW v AS SELECT a FROM t", of_none),
            ("CREATE OR REPLACE DEFINER = plain VIEW v AS SELECT a FROM t", of_plain),
            ("CREATE OR REPLACE DEFINER = CURRENT_USER VIEW v AS SELECT a FROM t", None),
            ("ALTER VIEW bosses AS SELECT a FROM t", of_boss),
            ("ALTER VIEW orphan AS SELECT a FROM t", of_none),
        ] {
            let answer = client.query(statement);
            match refused {
                None => assert!(matches!(answer, Answer::Ok(_)), "{user}: {statement}: {answer:?}"),
                Some(text) => assert_eq!(answer, Answer::Error(1227, text.to_owned()), "{user}: {statement}"),
            }
        }
    }
}

#[test]
fn the_parent_of_a_foreign_key_takes_the_privilege_references() {
    let server = TestServer::start(&[]);
    let mut root = server.connect();
    ok(
        &mut root,
        &[
            "CREATE USER app IDENTIFIED WITH mysql_native_password BY 'x'",
            "CREATE DATABASE d",
            "USE d",
            "CREATE TABLE p (id INT PRIMARY KEY)",
            "CREATE TABLE t (a INT)",
            "GRANT ALTER ON d.t TO app",
            "GRANT CREATE ON d.c TO app",
            "GRANT SELECT, INSERT, UPDATE, DELETE ON d.p TO app",
        ],
    );
    let mut app = native(&server, "app", "x");
    ok(&mut app, &["USE d"]);
    let denied = |table: &str| {
        let text = format!("REFERENCES command denied to user 'app'@'localhost' for table 'd.{table}'");
        Answer::Error(1142, text)
    };
    let statements = [
        "CREATE TABLE c (id INT, FOREIGN KEY (id) REFERENCES p (id))",
        "CREATE TABLE c (id INT REFERENCES p)",
        "ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES p (id)",
        "ALTER TABLE t ADD b INT REFERENCES p (id)",
    ];
    for statement in statements {
        assert_eq!(app.query(statement), denied("p"), "{statement}");
    }
    ok(&mut root, &["GRANT REFERENCES ON d.p TO app"]);
    for statement in &statements[1..] {
        ok(&mut app, &[statement]);
    }
}

/// A statement about many accounts ends when it is killed, and one that waits for it as well; neither changes
/// any.
#[test]
fn statements_about_many_accounts_are_killed_while_they_work_and_while_they_wait() {
    let server = TestServer::start(&[]);
    let mut root = server.connect();
    let (mut working, mut waiting) = (server.connect(), server.connect());
    let [works, waits] = [&mut working, &mut waiting].map(|client| client.value("SELECT CONNECTION_ID()"));
    let users: Vec<String> = (0..20_000).map(|user| format!("u{user}")).collect();
    working.send(&format!("CREATE USER {}", users.join(",")));
    let one = Answer::Rows(vec![vec![Some("1".to_owned())]]);
    until(&mut root, "SELECT COUNT(*) FROM information_schema.INNODB_TRX", &one);
    waiting.send("CREATE USER v");
    let is_busy = format!(
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = {waits} AND COMMAND = 'Query'"
    );
    until(&mut root, &is_busy, &one);
    run(&mut root, &[&format!("KILL QUERY {waits}")]);
    assert_eq!(number(waiting.answer()), 1317);
    assert!(!working.has_answer(), "it has not waited for the other one");
    run(&mut root, &[&format!("KILL QUERY {works}")]);
    assert_eq!(number(working.answer()), 1317);
    assert_eq!(root.value("SELECT COUNT(*) FROM mysql.user WHERE User LIKE 'u%' OR User = 'v'"), "0");
    run(&mut waiting, &["CREATE USER v"]);
}
