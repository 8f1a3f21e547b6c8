//! Every account of `privileges/accounts.txt` tries every statement of `privileges/statements.txt`, and is
//! denied what MySQL denies it.
//!
//! `privileges/answers.txt` has what MySQL 9.7 answered: for each statement the accounts that were denied it,
//! by the error. With `PALISADE_ASK_MYSQL=127.0.0.1:PORT` the test asks a MySQL there (root without a
//! password) and writes the file again. What is not denied counts as allowed, whatever else the answer is:
//! the test is about privileges. 1143, about a column, counts as 1142: there are no privileges on columns
//! here.

mod client;

use std::collections::BTreeMap;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::{Path, PathBuf};

use client::{Answer, CAPABILITIES, Client, TestServer, number, run};

/// Errors that deny something for want of a privilege.
const DENIALS: [u16; 7] = [1044, 1045, 1095, 1142, 1143, 1227, 1410];

/// Accounts that MySQL lets change others, and this server does not: by UPDATE, INSERT or DELETE on the
/// tables of `mysql`, or by ALL without GRANT OPTION (docs/sql.md).
const STRICTER: [&str; 3] = ["update_mysql", "write_all", "all"];

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/privileges").join(name)
}

fn lines(name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(file(name)).unwrap();
    text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(str::to_owned).collect()
}

/// The server that is asked.
struct Asked {
    address: SocketAddr,
    root: Client,
    /// Connections of an account without and of one with SYSTEM_USER, and their numbers.
    killable: [(Client, String); 2],
}

fn log_in(address: SocketAddr, user: &str) -> Client {
    let mut client = Client::connect(address);
    let answer = client.login(user, b"", CAPABILITIES);
    // caching_sha2_password may say that it is satisfied before the OK.
    let answer = if answer[0] == 1 { client.read().unwrap() } else { answer };
    assert_eq!(answer[0], 0, "{user}: {}", answer.escape_ascii());
    client
}

fn victims(root: &mut Client) {
    run(root, &["DROP USER IF EXISTS pv_victim@localhost, pv_sysvictim@localhost, pv_new@localhost"]);
    run(root, &["CREATE USER pv_victim@localhost, pv_sysvictim@localhost"]);
    run(
        root,
        &[
            "GRANT SYSTEM_USER ON *.* TO pv_sysvictim@localhost",
            "GRANT SELECT ON pd.t TO pv_victim@localhost",
        ],
    );
}

fn tables(root: &mut Client) {
    run(root, &["DROP DATABASE IF EXISTS pd", "DROP DATABASE IF EXISTS pn", "CREATE DATABASE pd"]);
    run(root, &["DROP TABLE IF EXISTS px.n"]);
    for table in ["t", "u"] {
        run(root, &[&format!("CREATE TABLE pd.{table} (a INT PRIMARY KEY, b INT)")]);
        run(root, &[&format!("INSERT INTO pd.{table} VALUES (1, 1)")]);
    }
}

impl Asked {
    fn new(address: SocketAddr) -> Asked {
        let mut root = log_in(address, "root");
        run(&mut root, &["DROP DATABASE IF EXISTS px", "CREATE DATABASE px"]);
        tables(&mut root);
        victims(&mut root);
        for (user, granted) in [("pv_plain", "SELECT"), ("pv_system", "SYSTEM_USER")] {
            run(&mut root, &[&format!("DROP USER IF EXISTS {user}@localhost")]);
            run(&mut root, &[&format!("CREATE USER {user}@localhost")]);
            run(&mut root, &[&format!("GRANT {granted} ON *.* TO {user}@localhost")]);
        }
        let killable = ["pv_plain", "pv_system"].map(|user| {
            let mut client = log_in(address, user);
            let id = client.value("SELECT CONNECTION_ID()");
            (client, id)
        });
        Asked { address, root, killable }
    }

    fn create(&mut self, name: &str, grants: &str) {
        run(&mut self.root, &[&format!("DROP USER IF EXISTS pv_{name}@localhost")]);
        run(&mut self.root, &[&format!("CREATE USER pv_{name}@localhost")]);
        for grant in grants.split(';').map(str::trim).filter(|grant| !grant.is_empty()) {
            let (grant, option) = match grant.split_once(" WITH ") {
                Some((grant, _)) => (grant, " WITH GRANT OPTION"),
                None => (grant, ""),
            };
            run(&mut self.root, &[&format!("GRANT {grant} TO pv_{name}@localhost{option}")]);
        }
    }

    /// The error that denies the statement to the account; 0 if none does.
    fn denial(&mut self, account: &str, statement: &str) -> u16 {
        let mut client = log_in(self.address, &format!("pv_{account}"));
        let (text, is_lasting) = match statement.strip_prefix('!') {
            Some(text) => (text, true),
            None => (statement, false),
        };
        let [plain, system] = &self.killable;
        let text = text.replace("@plain", &plain.1).replace("@system", &system.1);
        if !is_lasting {
            run(&mut client, &["START TRANSACTION"]);
        }
        let denial = match number(&client.query(&text)) {
            1143 => 1142,
            number if DENIALS.contains(&number) => number,
            _ => 0,
        };
        match is_lasting {
            false => drop(client.query("ROLLBACK")),
            // What is denied has changed nothing.
            true if denial == 0 => {
                drop(client);
                if text.contains("USER") || text.contains("pv_") {
                    victims(&mut self.root);
                } else {
                    tables(&mut self.root);
                }
            }
            true => {}
        }
        denial
    }
}

/// Statement by statement: which accounts are denied it, by the error.
fn matrix(asked: &mut Asked) -> String {
    let accounts: Vec<(String, String)> = lines("accounts.txt")
        .iter()
        .map(|line| line.split_once(':').map(|(name, grants)| (name.to_owned(), grants.to_owned())).unwrap())
        .collect();
    accounts.iter().for_each(|(name, grants)| asked.create(name, grants));
    let mut text = String::new();
    for statement in lines("statements.txt") {
        let mut denied: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
        for (name, grants) in &accounts {
            let denial = asked.denial(name, &statement);
            if denial != 0 {
                denied.entry(denial).or_default().push(name);
            }
            // The table's grants went with the table.
            if denial == 0 && statement.starts_with('!') && grants.contains("pd.t") {
                asked.create(name, grants);
            }
        }
        text.push_str(&format!("{statement}\n"));
        for (error, names) in denied {
            text.push_str(&format!("    {error}: {}\n", names.join(" ")));
        }
    }
    text
}

#[test]
fn accounts_are_denied_what_mysql_denies_them() {
    if let Some(address) = std::env::var_os("PALISADE_ASK_MYSQL") {
        let address = address.to_str().unwrap().to_socket_addrs().unwrap().next().unwrap();
        let answers = matrix(&mut Asked::new(address));
        std::fs::write(file("answers.txt"), answers).unwrap();
        return;
    }
    let server = TestServer::start_settled(&[("max_connections", "500")]);
    let answers = matrix(&mut Asked::new(server.address));
    let expected = std::fs::read_to_string(file("answers.txt")).unwrap();
    let (ours, theirs) = (parsed(&answers), parsed(&expected));
    let mut differences = Vec::new();
    for ((statement, account), theirs) in &theirs {
        let ours = ours.get(&(*statement, *account)).copied().unwrap_or(0);
        assert!(*theirs != 0 && !account.is_empty(), "a line of answers.txt is malformed: {statement}");
        if ours != *theirs {
            differences.push(format!("{statement}: {account}: MySQL {theirs}, here {ours}"));
        }
    }
    for ((statement, account), ours) in &ours {
        let is_stricter = statement.contains("pv_") && STRICTER.contains(account);
        if !theirs.contains_key(&(*statement, *account)) && !is_stricter {
            differences.push(format!("{statement}: {account}: MySQL 0, here {ours}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// A matrix as a map from statement and account to the error.
fn parsed(matrix: &str) -> BTreeMap<(&str, &str), u16> {
    let (mut statement, mut map) = ("", BTreeMap::new());
    for line in matrix.lines() {
        let Some(denied) = line.strip_prefix("    ") else {
            statement = line;
            continue;
        };
        let (error, accounts) = denied.split_once(": ").unwrap();
        let error = error.parse().unwrap();
        map.extend(accounts.split(' ').map(|account| ((statement, account), error)));
    }
    map
}

#[test]
fn what_is_denied_says_which_privilege_it_takes() {
    let server = TestServer::start(&[]);
    let mut asked = Asked::new(server.address);
    asked.create("some", "CREATE USER ON *.*; SELECT ON pd.*");
    let mut client = log_in(server.address, "pv_some");
    let denied = |number, text: &str| Answer::Error(number, text.to_owned());
    let system = "Access denied; you need (at least one of) the SYSTEM_USER privilege(s) for this operation";
    assert_eq!(client.query("DROP USER pv_sysvictim@localhost"), denied(1227, system));
    let locking = "SELECT with locking clause command denied to user 'pv_some'@'localhost' for table 't'";
    assert_eq!(client.query("SELECT * FROM pd.t FOR UPDATE"), denied(1142, locking));
    let replace = "INSERT, DELETE command denied to user 'pv_some'@'localhost' for table 't'";
    assert_eq!(client.query("REPLACE INTO pd.t VALUES (1, 1)"), denied(1142, replace));
    assert_eq!(
        client.query("SHOW COLUMNS FROM pd.t"),
        Answer::Rows(vec![
            vec![
                Some("a".into()),
                Some("int".into()),
                Some("NO".into()),
                Some("PRI".into()),
                None,
                Some("".into())
            ],
            vec![
                Some("b".into()),
                Some("int".into()),
                Some("YES".into()),
                Some("".into()),
                None,
                Some("".into())
            ],
        ])
    );
    let privileges = "SELECT privileges FROM information_schema.columns WHERE table_schema = 'pd' AND table_name = 't' LIMIT 1";
    assert_eq!(client.value(privileges), "select");
    asked.create("index", "INDEX ON pd.t");
    let mut client = log_in(server.address, "pv_index");
    assert_eq!(client.query("SHOW COLUMNS FROM pd.t"), Answer::Rows(Vec::new()));
    assert_eq!(
        client.value("SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'pd'"),
        "0"
    );
}

/// What a trace of the optimizer tells of a view is for accounts that may see what it is: MySQL's answers.
#[test]
fn traces_are_hidden_from_an_account_that_may_not_look_into_a_view() {
    let server = TestServer::start(&[]);
    let mut asked = Asked::new(server.address);
    run(
        &mut asked.root,
        &[
            "CREATE VIEW pd.definers AS SELECT a FROM pd.t",
            "CREATE SQL SECURITY INVOKER VIEW pd.invokers AS SELECT a FROM pd.t",
        ],
    );
    let mut shown_to = |user: &str, privileges: &str, query: &str| {
        asked.create(user, privileges);
        let mut client = log_in(server.address, &format!("pv_{user}"));
        run(&mut client, &["SET optimizer_trace = 'enabled=on'"]);
        assert!(matches!(client.query(query), Answer::Rows(_)), "{query}");
        client.value(
            "SELECT CONCAT_WS(' ', QUERY = '', TRACE = '', INSUFFICIENT_PRIVILEGES) \
             FROM information_schema.OPTIMIZER_TRACE",
        )
    };
    assert_eq!(shown_to("t1", "SELECT ON pd.*", "SELECT a FROM pd.t"), "0 0 0");
    assert_eq!(shown_to("t2", "SELECT ON pd.*", "SELECT a FROM pd.definers"), "1 1 1");
    let others = shown_to("t3", "SELECT, SHOW VIEW ON pd.*", "SELECT a FROM pd.definers");
    assert_eq!(others, "1 1 1", "its definer is another account");
    assert_eq!(shown_to("t4", "SELECT ON pd.*", "SELECT a FROM pd.invokers"), "1 1 1");
    assert_eq!(shown_to("t5", "SELECT, SHOW VIEW ON pd.*", "SELECT a FROM pd.invokers"), "0 0 0");
    let schemata = "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA LIMIT 0";
    assert_eq!(shown_to("t6", "SELECT ON pd.*", schemata), "1 1 1");
}
