//! Accounts whose tables are damaged, and a server that asks no client for a proof.

mod client;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use client::{Answer, CAPABILITIES, Client, TestServer, number};
use palisade_io::{FaultFileSystem, FileSystem, OpenMode};

const ACCESS_DENIED: u16 = 1045;
const TABLE_DENIED: u16 = 1142;
const OPTION_PREVENTS: u16 = 1290;
const CANNOT_LOAD: u16 = 1728;
const LOCKED: u16 = 3118;

const ACCOUNTS: usize = 300;
const PAGE: u64 = 16384;

/// A data directory with many accounts `u000`@`localhost` and so on, and `p`@`%`.
struct Disk {
    faults: Arc<FaultFileSystem>,
    dir: tempfile::TempDir,
}

impl Disk {
    fn new() -> Disk {
        let disk = Disk { faults: Arc::new(FaultFileSystem::new(1)), dir: tempfile::tempdir().unwrap() };
        let server = disk.start(&[("palisade_page_sink", "in-place")]);
        let mut root = server.connect();
        let names: Vec<String> = (0..ACCOUNTS).map(|n| format!("u{n:03}@localhost")).collect();
        let names = names.join(", ");
        for statement in [
            "CREATE DATABASE test".to_owned(),
            "CREATE TABLE test.t (id INT PRIMARY KEY)".to_owned(),
            format!("CREATE USER {names}, p"),
            format!("GRANT SELECT ON other.* TO {names}"),
            format!("GRANT SELECT ON test.t TO {names}"),
            format!("GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO {names}"),
        ] {
            assert!(matches!(root.query(&statement), Answer::Ok(_)), "{statement:.60}");
        }
        drop(root);
        server.stop().unwrap();
        disk
    }

    fn start(&self, options: &[(&str, &str)]) -> TestServer {
        let mut all = vec![("datadir", self.dir.path().to_str().unwrap())];
        all.extend(options);
        TestServer::start_on(self.faults.clone(), &all)
    }

    /// The file of a table of the schema `mysql`, told by a column that no table before it has: each file's
    /// page 1 has a copy of its table's definition.
    fn file_of(&self, table: &str) -> PathBuf {
        let (with, without) = match table {
            "user" => ("authentication_string", "nothing"),
            "db" => ("Alter_routine_priv", "authentication_string"),
            "tables_priv" => ("Table_priv", "nothing"),
            _ => ("WITH_GRANT_OPTION", "nothing"),
        };
        let has = |page: &[u8], name: &str| page.windows(name.len()).any(|part| part == name.as_bytes());
        let files = self.faults.list(&self.dir.path().join("spaces")).unwrap();
        let is_it = |path: &PathBuf| {
            let mut page = vec![0; PAGE as usize];
            self.faults.open(path, OpenMode::EXISTING).unwrap().read_at(&mut page, PAGE).unwrap();
            has(&page, with) && !has(&page, without)
        };
        files.into_iter().find(is_it).unwrap()
    }

    /// Damages the last leaf of a table, or its root; on the last leaf are the accounts with the highest
    /// names.
    fn damage(&self, table: &str, is_root: bool) {
        let path = self.file_of(table);
        let file = self.faults.open(&path, OpenMode::EXISTING).unwrap();
        let mut last = 0;
        for page in 2..file.len().unwrap() / PAGE {
            let mut header = [0; 64];
            file.read_at(&mut header, page * PAGE).unwrap();
            // a leaf that has no right sibling
            if header[12] == 3 && header[40] == 0 && header[48..52] == [0; 4] {
                last = page;
            }
        }
        assert!(last > 2, "the table has several leaves");
        let page = if is_root { 2 } else { last };
        self.flip(&path, page);
    }

    fn flip(&self, path: &Path, page: u64) {
        self.faults.flip_bit(path, (page * PAGE + 9000) * 8);
    }
}

/// What a login without a password comes to: 0, or the error's number.
fn login(server: &TestServer, user: &str) -> u16 {
    let mut client = server.connect_raw();
    let answer = client.login(user, b"", CAPABILITIES);
    if answer[0] == 0 { 0 } else { number(&client::error(&answer)) }
}

fn log_in(server: &TestServer, user: &str) -> Client {
    let mut client = server.connect_raw();
    assert_eq!(client.login(user, b"", CAPABILITIES)[0], 0, "{user}");
    client
}

#[test]
fn accounts_on_whole_pages_come_in_and_what_cannot_be_decided_is_refused() {
    let disk = Disk::new();
    disk.damage("user", false);
    let server = disk.start(&[]);
    assert_eq!(login(&server, "u000"), 0);
    assert_eq!(login(&server, &format!("u{:03}", ACCOUNTS - 1)), ACCESS_DENIED, "its row is lost");
    assert_eq!(login(&server, "p"), LOCKED, "a lost row might have been closer");
    let mut root = server.connect();
    for statement in ["CREATE USER x", "DROP USER u000@localhost", "GRANT SELECT ON *.* TO p"] {
        assert_eq!(number(&root.query(statement)), CANNOT_LOAD, "{statement}");
    }
    assert_eq!(
        number(&root.query("FLUSH PRIVILEGES")),
        1105,
        "names the page, and leaves the accounts as they are"
    );
    assert_eq!(login(&server, "u000"), 0);
    assert_eq!(root.value("SELECT COUNT(*) FROM test.t"), "0");
    drop(root);
    server.stop().unwrap();
}

#[test]
fn nobody_comes_in_when_no_account_can_be_read() {
    let disk = Disk::new();
    disk.damage("user", true);
    let server = disk.start(&[]);
    for user in ["root", "u000", "p", ""] {
        assert_eq!(login(&server, user), ACCESS_DENIED);
    }
    server.stop().unwrap();
}

#[test]
fn privileges_on_damaged_pages_are_missing_and_all_else_is_served() {
    for table in ["db", "tables_priv", "global_grants"] {
        let disk = Disk::new();
        disk.damage(table, true);
        let server = disk.start(&[("palisade_page_sink", "in-place")]);
        let mut root = server.connect();
        assert_eq!(number(&root.query("CREATE USER x")), CANNOT_LOAD, "{table}");
        let mut user = log_in(&server, "u007");
        let read = user.query("SELECT COUNT(*) FROM test.t");
        match table {
            "tables_priv" => assert_eq!(number(&read), TABLE_DENIED),
            _ => assert!(matches!(read, Answer::Rows(_)), "{table}: {read:?}"),
        }
        let set = user.query("SET GLOBAL max_connections = 151");
        assert_eq!(matches!(set, Answer::Ok(_)), table != "global_grants", "{table}: {set:?}");
        drop((root, user));
        server.stop().unwrap();
    }
}

/// Every client comes in, whatever its plugin and proof; accounts are out of reach until they have been read.
#[test]
fn a_server_that_skips_the_grant_tables_lets_everyone_in_and_can_be_repaired() {
    let disk = Disk::new();
    disk.damage("user", true);
    let server = disk.start(&[("skip_grant_tables", "ON")]);
    let mut client = server.connect_raw();
    client.read().unwrap();
    client.respond("whoever", &[7; 32], "caching_sha2_password", CAPABILITIES);
    assert_eq!(client.read().unwrap(), [1, 3], "the password is right");
    assert_eq!(client.read().unwrap()[0], 0);
    assert_eq!(client.value("SELECT CURRENT_USER()"), "skip-grants user@skip-grants host");
    assert_eq!(client.value("SELECT USER()"), "whoever@localhost");
    let mut native = server.connect_raw();
    native.read().unwrap();
    native.respond("root", &[7; 20], "mysql_native_password", CAPABILITIES);
    assert_eq!(native.read().unwrap()[0], 0);
    for statement in [
        "CREATE USER x",
        "ALTER USER root@localhost IDENTIFIED BY 'x'",
        "DROP USER p",
        "RENAME USER p TO q",
        "SET PASSWORD = 'x'",
        "GRANT SELECT ON *.* TO p",
        "REVOKE SELECT ON *.* FROM p",
        "SHOW GRANTS",
    ] {
        assert_eq!(number(&native.query(statement)), OPTION_PREVENTS, "{statement}");
    }
    assert_eq!(number(&native.query("FLUSH PRIVILEGES")), 1105, "the table is still damaged");
    assert_eq!(login(&server, "anyone"), 0, "and so everybody still comes in");
    assert_eq!(native.query("DROP TABLE mysql.user"), Answer::Ok(0));
    drop((client, native));
    server.stop().unwrap();
    let server = disk.start(&[]);
    assert_eq!(login(&server, "root"), ACCESS_DENIED, "a root without a password is not made by itself");
    server.stop().unwrap();
    let server = disk.start(&[("skip_grant_tables", "ON")]);
    assert_eq!(
        server.connect().value("SELECT COUNT(*) FROM mysql.user"),
        "1",
        "a fresh one, with root in it"
    );
    server.stop().unwrap();
    let server = disk.start(&[]);
    assert_eq!(login(&server, "root"), 0);
    assert_eq!(login(&server, "u000"), ACCESS_DENIED);
    server.stop().unwrap();
}

#[test]
fn reading_the_accounts_ends_skipping_them() {
    let disk = Disk::new();
    let server = disk.start(&[("skip_grant_tables", "ON")]);
    let mut everybody = log_in(&server, "anyone");
    assert_eq!(everybody.query("FLUSH PRIVILEGES"), Answer::Ok(0));
    assert_eq!(login(&server, "anyone"), ACCESS_DENIED);
    assert_eq!(login(&server, "p"), 0);
    assert_eq!(everybody.query("CREATE USER x"), Answer::Ok(0), "who is in stays what it is");
    drop(everybody);
    server.stop().unwrap();
}
