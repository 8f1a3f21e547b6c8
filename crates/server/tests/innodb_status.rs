//! SHOW ENGINE INNODB STATUS: its sections, what tools look for in them, and what it tells of the past.

mod client;

use std::io::Write;
use std::sync::{Arc, Mutex};

use client::{Answer, Client, TestServer, number, run, until_somebody_waits};
use regex::Regex;

fn status(client: &mut Client) -> String {
    match client.query("SHOW ENGINE INNODB STATUS") {
        Answer::Rows(rows) => match rows.as_slice() {
            [row] => {
                assert_eq!((row[0].as_deref(), row[1].as_deref()), (Some("InnoDB"), Some("")));
                row[2].clone().unwrap()
            }
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// Titles and contents of the sections, in order.
fn sections(text: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let is_rule = |line: &str| line.len() > 2 && line.bytes().all(|byte| byte == b'-');
    let mut sections: Vec<(String, String)> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let heading = lines.get(at..at + 3);
        match heading {
            Some([above, title, below])
                if is_rule(above) && above.len() == title.len() && (*below == *above) =>
            {
                sections.push(((*title).to_owned(), String::new()));
                at += 3;
            }
            _ if lines[at..].get(1) == Some(&"END OF INNODB MONITOR OUTPUT") => break,
            _ => {
                if let Some((_, content)) = sections.last_mut() {
                    content.push_str(lines[at]);
                    content.push('\n');
                }
                at += 1;
            }
        }
    }
    sections
}

fn section(text: &str, title: &str) -> Option<String> {
    sections(text).into_iter().find(|(known, _)| known == title).map(|(_, content)| content)
}

/// What the groups of an expression find.
fn groups(expression: &str, text: &str) -> Vec<String> {
    let found = Regex::new(expression).unwrap().captures(text);
    let found = found.unwrap_or_else(|| panic!("{expression} finds nothing in {text}"));
    found.iter().skip(1).map(|group| group.map_or("", |group| group.as_str()).to_owned()).collect()
}

fn connection_id(client: &mut Client) -> String {
    client.value("SELECT CONNECTION_ID()")
}

fn start(options: &[(&str, &str)]) -> TestServer {
    let server = TestServer::start(&[&[("innodb_lock_wait_timeout", "1000")], options].concat());
    run(
        &mut server.connect(),
        &[
            "CREATE DATABASE test",
            "CREATE TABLE test.parent (id INT PRIMARY KEY)",
            "CREATE TABLE test.child (id INT PRIMARY KEY, parent INT, \
             CONSTRAINT of_parent FOREIGN KEY (parent) REFERENCES parent (id))",
            "INSERT INTO test.parent VALUES (1), (2)",
            "INSERT INTO test.child VALUES (10, 1)",
            "CREATE TABLE test.t (id INT PRIMARY KEY, n INT)",
            "INSERT INTO test.t VALUES (1, 0), (2, 0), (3, 0)",
        ],
    );
    server
}

const ALWAYS: [&str; 8] = [
    "BACKGROUND THREAD",
    "SEMAPHORES",
    "TRANSACTIONS",
    "FILE I/O",
    "INSERT BUFFER AND ADAPTIVE HASH INDEX",
    "LOG",
    "BUFFER POOL AND MEMORY",
    "ROW OPERATIONS",
];

#[test]
fn sections_stand_in_order_and_hold_what_tools_look_for() {
    let server = start(&[]);
    let mut client = server.connect();
    let id = connection_id(&mut client);
    let mut idle = server.connect();
    let idle_id = connection_id(&mut idle);
    // What the other one has asked may not have ended yet when it has its answer.
    let not_started =
        r"(?m)^---TRANSACTION \d+, not started\n.* row lock\(s\)\nMySQL thread id ID, query id \d+ \S+ root$";
    let not_started = Regex::new(&not_started.replace("ID", &idle_id)).unwrap();
    let text =
        std::iter::repeat_with(|| status(&mut client)).find(|text| not_started.is_match(text)).unwrap();
    let titles: Vec<String> = sections(&text).into_iter().map(|(title, _)| title).collect();
    assert_eq!(titles, ALWAYS, "there was no deadlock and no foreign key error");
    let head = groups(
        r"^\n=+\n(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?:0x)?(\w+) INNODB MONITOR OUTPUT\n=+\nPer second averages calculated from the last (\d+) seconds\n",
        &text,
    );
    assert_eq!(head[1], id);
    assert!(text.ends_with("END OF INNODB MONITOR OUTPUT\n============================\n"), "{text}");

    let of = |title: &str| section(&text, title).unwrap();
    let transactions = of("TRANSACTIONS");
    groups(r"(?m)^Trx id counter (\d+)$", &transactions);
    groups(r"(?m)^Purge done for trx's n:o < (\d+) undo n:o < (\d+) state: (running.*)$", &transactions);
    groups(r"(?m)^History list length (\d+)$", &transactions);
    groups(r"(?m)^LIST OF TRANSACTIONS FOR EACH SESSION:$()", &transactions);
    groups(r"(?m)^(\d+) OS file reads, (\d+) OS file writes, (\d+) OS fsyncs$", &of("FILE I/O"));
    let log = of("LOG");
    let lsn = |name: &str| -> u64 { groups(&format!(r"(?m)^{name}\s+(\d+)$"), &log)[0].parse().unwrap() };
    let positions =
        ["Log flushed up to", "Log written up to", "Log buffer completed up to", "Log sequence number"];
    assert!(positions.map(lsn).is_sorted(), "{log}");
    assert!(
        lsn("Last checkpoint at") <= lsn("Pages flushed up to") && lsn("Last checkpoint at") > 0,
        "{log}"
    );
    groups(r"(?m)^(\d+) log i/o's done, ([0-9.]+) log i/o's/second$", &log);
    let pool = of("BUFFER POOL AND MEMORY");
    for name in ["Buffer pool size", "Free buffers", "Database pages", "Modified db pages"] {
        groups(&format!(r"(?m)^{name} +(\d+)$"), &pool);
    }
    groups(r"(?m)^Pages read (\d+), created (\d+), written (\d+)$", &pool);
    let rows = of("ROW OPERATIONS");
    groups(r"(\d+) queries inside InnoDB, (\d+) queries in queue", &rows);
    groups(r"(\d+) read views open inside InnoDB", &rows);
    let counted =
        groups(r"(?m)^Number of rows inserted (\d+), updated (\d+), deleted (\d+), read (\d+)$", &rows);
    assert!(counted[0].parse::<u64>().unwrap() >= 6, "{rows}");
}

#[test]
fn a_foreign_key_error_is_told_until_the_next() {
    let server = start(&[]);
    let (mut client, mut watcher) = (server.connect(), server.connect());
    let id = connection_id(&mut client);
    run(&mut client, &["USE test"]);
    let adding = "INSERT INTO child VALUES (11, 99)";
    assert_eq!(number(&client.query(adding)), 1452);
    let told = section(&status(&mut watcher), "LATEST FOREIGN KEY ERROR").unwrap();
    let found = groups(
        r"(?s)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d (\d+) Transaction:\nTRANSACTION (\d+), ACTIVE (\d+) sec.*?MySQL thread id (\d+), query id \d+ \S+ root",
        &told,
    );
    assert_eq!((&found[0], &found[3]), (&id, &id));
    let expected = "INSERT INTO child VALUES (11, 99)\n\
        Foreign key constraint fails for table `test`.`child`:\n,\n  \
        CONSTRAINT `of_parent` FOREIGN KEY (`parent`) REFERENCES `parent` (`id`)\n\
        Trying to add in child table, in index of_parent tuple:\nDATA TUPLE: 1 fields;\n 0: 99\n\n\
        But in parent table `test`.`parent`, in index PRIMARY,\nthere is no record of that key.\n";
    assert!(told.ends_with(expected), "{told}");

    // a warning to the client, and an error all the same
    run(&mut client, &["INSERT IGNORE INTO child VALUES (12, 98)"]);
    let told = section(&status(&mut watcher), "LATEST FOREIGN KEY ERROR").unwrap();
    assert!(told.contains(" 0: 98\n") && !told.contains("99"), "{told}");

    assert_eq!(number(&client.query("DELETE FROM parent WHERE id = 1")), 1451);
    let told = section(&status(&mut watcher), "LATEST FOREIGN KEY ERROR").unwrap();
    let expected = "Trying to delete or update in parent table, in index PRIMARY tuple:\nDATA TUPLE: 1 fields;\n 0: 1\n\n\
        But in child table `test`.`child`, in index of_parent, there is a record of that key.\n";
    assert!(told.contains("DELETE FROM parent WHERE id = 1\n") && told.ends_with(expected), "{told}");
    assert_eq!(section(&status(&mut watcher), "LATEST DETECTED DEADLOCK"), None);
}

/// Two transactions each lock a row of `test.t` and ask for the other's; gives the ids of the one that is rolled back and of the
/// one that goes on.
fn deadlock(server: &TestServer) -> [String; 2] {
    let (mut busy, mut idle, mut watcher) = (server.connect(), server.connect(), server.connect());
    let ids = [connection_id(&mut idle), connection_id(&mut busy)];
    run(&mut busy, &["USE test", "BEGIN", "UPDATE t SET n = n + 1 WHERE id IN (2, 3)"]);
    run(&mut idle, &["USE test", "BEGIN", "UPDATE t SET n = n + 1 WHERE id = 1"]);
    idle.send("UPDATE t SET n = n + 1 WHERE id = 2");
    until_somebody_waits(&mut watcher);
    assert_eq!(
        busy.query("SELECT n FROM t WHERE id = 1 FOR UPDATE"),
        Answer::Rows(vec![vec![Some("0".into())]])
    );
    assert_eq!(number(&idle.answer()), 1213);
    ids
}

#[test]
fn a_deadlock_is_told_with_what_everybody_had_and_wanted() {
    let server = start(&[]);
    let mut watcher = server.connect();
    assert_eq!(section(&status(&mut watcher), "LATEST DETECTED DEADLOCK"), None);
    let [victim, other] = deadlock(&server);
    let text = status(&mut watcher);
    let titles: Vec<String> = sections(&text).into_iter().map(|(title, _)| title).collect();
    let mut expected = ALWAYS.to_vec();
    expected.insert(2, "LATEST DETECTED DEADLOCK");
    assert_eq!(titles, expected);
    groups(r"(?s)(LATEST DETECTED DEADLOCK.*?WE ROLL BACK TRANSACTION\s+\(\d+\))", &text);

    let told = section(&text, "LATEST DETECTED DEADLOCK").unwrap();
    groups(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d (\d+)\n\*\*\* \(1\) TRANSACTION:\n", &told);
    let rolled_back = &groups(r"(?m)^\*\*\* WE ROLL BACK TRANSACTION \((\d+)\)$", &told)[0];
    let mut seen = Vec::new();
    for party in ["1", "2"] {
        let block = groups(
            &format!(r"(?s)\*\*\* \({party}\) TRANSACTION:\n(.*?)\n\n\*\*\* \({party}\) HOLDS"),
            &told,
        );
        let block = &block[0];
        let found = groups(
            r"(?s)^TRANSACTION (\d+), ACTIVE \d+ sec\n.*LOCK WAIT \d+ lock struct\(s\), heap size \d+, \d+ row lock\(s\), undo log entries (\d+)\nMySQL thread id (\d+), (?:OS thread handle \w+, )?query id \d+ \S+ root.*?\n(.*)$",
            block,
        );
        let (trx, thread, statement) = (&found[0], &found[2], &found[3]);
        let lock = |what: &str| {
            let lock = format!(
                r"\*\*\* \({party}\) {what}:\nRECORD LOCKS space id \d+ page no \d+ n bits \d+ index (\S+) of table `([^`]+)`\.`([^`]+)` trx id {trx} lock.mode (\S+) locks rec but not gap( waiting)?\nRecord lock, key (.*)\n"
            );
            groups(&lock, &told)
        };
        let (held, awaited) = (lock(r"HOLDS THE LOCK\(S\)"), lock("WAITING FOR THIS LOCK TO BE GRANTED"));
        assert_eq!(
            (held[..4].to_vec(), held[4].as_str()),
            (["PRIMARY", "test", "t", "X"].map(str::to_owned).to_vec(), "")
        );
        assert_eq!((awaited[..4].to_vec(), awaited[4].as_str()), (held[..4].to_vec(), " waiting"));
        seen.push((party, thread.clone(), statement.clone(), held[5].clone(), awaited[5].clone()));
    }
    let of = |thread: &String| seen.iter().find(|party| party.1 == *thread).unwrap();
    let (party, _, statement, held, awaited) = of(&victim);
    assert_eq!(party, rolled_back);
    let expected = ("UPDATE t SET n = n + 1 WHERE id = 2", "1", "2");
    assert_eq!((statement.as_str(), held.as_str(), awaited.as_str()), expected);
    let (_, _, statement, held, awaited) = of(&other);
    let expected = ("SELECT n FROM t WHERE id = 1 FOR UPDATE", "2", "1");
    assert_eq!((statement.as_str(), held.as_str(), awaited.as_str()), expected);
    assert_eq!(section(&text, "LATEST FOREIGN KEY ERROR"), None);
}

/// What the servers of this program log.
#[derive(Clone)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn deadlocks_are_logged_if_all_are_to_be_printed() {
    let lines = Lines(Arc::default());
    let writer = lines.clone();
    tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).init();
    for (all, table) in [("OFF", "kept"), ("ON", "printed")] {
        let server = start(&[("innodb_print_all_deadlocks", "OFF")]);
        let rename = format!("RENAME TABLE test.t TO test.{table}");
        let print = format!("SET GLOBAL innodb_print_all_deadlocks = {all}");
        run(&mut server.connect(), &[&rename, &print]);
        let (mut one, mut other, mut watcher) = (server.connect(), server.connect(), server.connect());
        let update = |id: u32| format!("UPDATE test.{table} SET n = 1 WHERE id = {id}");
        run(&mut one, &["BEGIN", &update(1), &update(3)]);
        run(&mut other, &["BEGIN", &update(2)]);
        other.send(&update(1));
        until_somebody_waits(&mut watcher);
        run(&mut one, &[&update(2)]);
        assert_eq!(number(&other.answer()), 1213);
        // It was logged, or not, before anybody was told.
        let logged = String::from_utf8_lossy(&lines.0.lock().unwrap()).into_owned();
        assert_eq!(logged.contains(&format!("of table `test`.`{table}`")), all == "ON", "{logged}");
    }
}

#[test]
fn a_transaction_that_waits_is_listed_with_what_it_waits_for() {
    let server = start(&[]);
    let (mut holder, mut waiter, mut watcher) = (server.connect(), server.connect(), server.connect());
    let ids = [connection_id(&mut holder), connection_id(&mut waiter)];
    run(&mut holder, &["BEGIN", "UPDATE test.t SET n = 5 WHERE id = 3"]);
    waiter.send("UPDATE test.t SET n = 6\nWHERE id = 3");
    until_somebody_waits(&mut watcher);
    let text = section(&status(&mut watcher), "TRANSACTIONS").unwrap();
    let of = |id: &String, what: &str| {
        let expression = format!(
            r"(?s)---TRANSACTION (\d+), ACTIVE \d+ sec\n[^-]*?MySQL thread id {id}, query id \d+ \S+ root[^\n]*\n{what}"
        );
        groups(&expression, &text)
    };
    let holder_id: u64 = of(&ids[0], "")[0].parse().unwrap();
    let found = of(
        &ids[1],
        r"UPDATE test.t SET n = 6\nWHERE id = 3\n------- TRX HAS BEEN WAITING (\d+) SEC FOR THIS LOCK TO BE GRANTED:\nRECORD LOCKS space id \d+ page no \d+ n bits \d+ index PRIMARY of table `test`.`t` trx id (\d+) lock_mode X locks rec but not gap waiting\nRecord lock, key 3\n------------------\n",
    );
    assert_eq!(found[0], found[2]);
    // The holder's id is below the counter, and what it has done is not purged.
    let number = |expression: &str| -> u64 { groups(expression, &text)[0].parse().unwrap() };
    assert!(number(r"Trx id counter (\d+)") > holder_id);
    assert!(number(r"Purge done for trx's n:o < (\d+)") <= holder_id);
    run(&mut holder, &["COMMIT"]);
    assert_eq!(waiter.answer(), Answer::Ok(1));
}
