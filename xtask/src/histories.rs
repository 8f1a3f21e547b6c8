//! Random histories of list appends against the real server, searched for isolation anomalies.
//!
//! At each isolation level a few sessions run the transactions of [`workload`](palisade_isolation::workload) for a while,
//! while another kills statements and connections at random; in the middle the server is killed (SIGKILL) and started
//! again. What every client did and saw is a [`History`], and [`check`](palisade_isolation::check()) must find nothing in
//! it that the level proscribes. A commit that got no answer may have happened or not; an acknowledged one must have.
//!
//! Beside the checker stands its canary: the history of each level, taken for one of the level above, must be refused. A
//! seed gives the transactions again, not how they interleave; the history of a failure is kept in a file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use palisade_base::prng::Prng;
use palisade_isolation::workload::{Form, Generator, Plan, Step, form, tag};
use palisade_isolation::{Access, Element, Fate, History, Key, Kind, Level, Op, Transaction, check};

use crate::Outcome;
use crate::client::{Answer, Client};
use crate::process::target;
use crate::server::Server;

/// A promise, how a session asks for it, and the promise above, which its histories must not keep.
struct Promise {
    level: Level,
    isolation: &'static str,
    above: Option<Level>,
}

const PROMISES: &[Promise] = &[
    Promise {
        level: Level::ReadUncommitted,
        isolation: "READ UNCOMMITTED",
        above: Some(Level::ReadCommitted),
    },
    Promise { level: Level::ReadCommitted, isolation: "READ COMMITTED", above: Some(Level::RepeatableRead) },
    Promise { level: Level::RepeatableRead, isolation: "REPEATABLE READ", above: Some(Level::Snapshot) },
    Promise { level: Level::Snapshot, isolation: "REPEATABLE READ", above: Some(Level::Serializable) },
    Promise { level: Level::Serializable, isolation: "SERIALIZABLE", above: None },
];

const SESSIONS: u32 = 10;

/// Errors that an application answers by rolling back and trying again: a lock wait timeout, a deadlock, a row newer than
/// the snapshot, a place in a list that another took, a killed statement.
const TRANSIENT: &[u16] = &[1205, 1213, 1020, 1062, KILLED];
const KILLED: u16 = 1317;

/// Each level once, briefly.
pub fn run() -> Outcome {
    rounds(1, Duration::from_secs(5))
}

/// The long form: every level `count` times.
pub fn soak(count: u32) -> Outcome {
    rounds(count, Duration::from_secs(30))
}

fn rounds(count: u32, duration: Duration) -> Outcome {
    let seed: u64 = match std::env::var("PALISADE_SEED") {
        Ok(text) => text.parse().map_err(|_| format!("PALISADE_SEED is not a number: {text}"))?,
        Err(_) => u64::from(std::process::id()),
    };
    println!("PALISADE_SEED={seed}");
    let options = ["--innodb-buffer-pool-size=24M", "--innodb-redo-log-capacity=16M"];
    let mut server = Server::start("histories", &options)?;
    for round in 0..count {
        for promise in PROMISES {
            let seed = seed.wrapping_add(u64::from(round));
            let history = record(&mut server, seed, promise, duration)?;
            judge(&history, promise).map_err(|anomalies| {
                let file = target().join(format!("server/histories/{seed}-{:?}", promise.level));
                let kept = match std::fs::write(&file, format!("{history:#?}")) {
                    Ok(()) => format!("the history is in {}", file.display()),
                    Err(error) => format!("{}: {error}", file.display()),
                };
                format!("{}, seed {seed}:\n{anomalies}\n{kept}", name(promise))
            })?;
        }
    }
    Ok(())
}

fn name(promise: &Promise) -> String {
    match promise.level {
        Level::Snapshot => format!("{} with innodb_snapshot_isolation", promise.isolation),
        _ => promise.isolation.to_owned(),
    }
}

/// Checks a history against its level's promise, and against the one above, which it must break.
fn judge(history: &History, promise: &Promise) -> Outcome {
    let anomalies = check(history, promise.level);
    if !anomalies.is_empty() {
        let mut text = String::new();
        for anomaly in anomalies.iter().take(10) {
            // writing to a String does not fail
            let _ = writeln!(text, "{anomaly}");
        }
        return Err(format!("{} anomalies\n{text}", anomalies.len()));
    }
    let with = |fate| history.transactions.iter().filter(|transaction| transaction.fate == fate).count();
    let reads = history.transactions.iter().flat_map(|transaction| &transaction.ops);
    let reads = reads.filter(|op| matches!(op, Op::Read(..))).count();
    let longest = history.last.values().map(Vec::len).max().unwrap_or(0);
    let mut line = format!(
        "{}: {} committed, {} rolled back, {} without an answer, {reads} reads, lists up to {longest}: no anomaly",
        name(promise),
        with(Fate::Committed),
        with(Fate::Aborted),
        with(Fate::Unknown),
    );
    if let Some(above) = promise.above {
        let kinds: BTreeSet<Kind> = check(history, above).iter().map(|anomaly| anomaly.kind).collect();
        if kinds.is_empty() {
            return Err(format!("the canary lives: taken for {above:?}, nothing is wrong with this history"));
        }
        let _ = write!(line, "; as {above:?}: {kinds:?}");
    }
    println!("{line}");
    Ok(())
}

/// What the threads of a run share.
struct Stage {
    port: u16,
    clock: AtomicU64,
    is_over: AtomicBool,
    /// The numbers of the sessions' connections.
    connections: Mutex<BTreeMap<u32, u64>>,
}

impl Stage {
    /// A moment after all that are past.
    fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    /// A connection; none if the run is over before the server answers.
    fn connect(&self) -> Option<Client> {
        while !self.is_over() {
            if let Ok(client) = Client::connect(self.port) {
                return Some(client);
            }
            // it is being started again
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }
}

fn fail(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn must(client: &mut Client, statement: &str) -> Result<Answer, String> {
    match client.query(statement).map_err(fail)? {
        Answer::Failed(number, _, text) => Err(format!("{statement}: ERROR {number}: {text}")),
        answer => Ok(answer),
    }
}

/// Runs the workload and writes down what the clients saw.
fn record(server: &mut Server, seed: u64, promise: &Promise, duration: Duration) -> Result<History, String> {
    let mut client = Client::connect(server.port).map_err(fail)?;
    for statement in [
        "DROP DATABASE IF EXISTS histories",
        "CREATE DATABASE histories",
        "CREATE TABLE histories.lists (k INT PRIMARY KEY, tag INT NOT NULL, v TEXT NOT NULL, KEY by_tag (tag))",
        "CREATE TABLE histories.items (k INT, position INT, v BIGINT NOT NULL, PRIMARY KEY (k, position), KEY by_v (v))",
    ] {
        must(&mut client, statement)?;
    }
    let stage = Stage {
        port: server.port,
        clock: AtomicU64::new(0),
        is_over: AtomicBool::new(false),
        connections: Mutex::default(),
    };
    let mut history = History::default();
    std::thread::scope(|scope| {
        let stage = &stage;
        let sessions: Vec<_> = (0..SESSIONS)
            .map(|number| scope.spawn(move || Session::new(stage, seed, number, promise).run()))
            .collect();
        let nemesis = scope.spawn(move || kill_at_random(stage, seed));
        std::thread::sleep(duration / 2);
        server.kill();
        let restarted = server.restart();
        std::thread::sleep(duration / 2);
        stage.is_over.store(true, Ordering::SeqCst);
        for session in sessions {
            history.transactions.extend(session.join().expect("a session does not panic")?);
        }
        nemesis.join().expect("the nemesis does not panic");
        restarted
    })?;
    history.last = read_all(&mut Client::connect(server.port).map_err(fail)?)?;
    Ok(history)
}

/// Kills statements and connections.
fn kill_at_random(stage: &Stage, seed: u64) {
    let mut prng = Prng::new(seed ^ 0x6b69_6c6c);
    let mut client = None;
    while !stage.is_over() {
        std::thread::sleep(Duration::from_millis(10 + prng.below(60)));
        let what = if prng.one_in(4) { "KILL" } else { "KILL QUERY" };
        let victim = prng.below(u64::from(SESSIONS)) as u32;
        let Some(id) = stage.connections.lock().expect("nobody panics").get(&victim).copied() else {
            continue;
        };
        client = client.or_else(|| stage.connect());
        // the victim may be gone, and the server, too: then a new connection is made
        if client.as_mut().is_some_and(|client| client.query(&format!("{what} {id}")).is_err()) {
            client = None;
        }
    }
}

/// Every list.
fn read_all(client: &mut Client) -> Result<BTreeMap<Key, Vec<Element>>, String> {
    let mut lists = BTreeMap::new();
    for query in ["SELECT k, v FROM histories.lists", "SELECT k, v FROM histories.items ORDER BY k, position"]
    {
        for (key, elements) in lists_of(must(client, query)?)? {
            lists.entry(key).or_insert_with(Vec::new).extend(elements);
        }
    }
    Ok(lists)
}

/// Lists from rows of a key and a text, or a key and an element.
fn lists_of(answer: Answer) -> Result<BTreeMap<Key, Vec<Element>>, String> {
    let Answer::Rows(rows) = answer else { return Err(format!("not rows: {answer}")) };
    let mut lists: BTreeMap<Key, Vec<Element>> = BTreeMap::new();
    for row in rows {
        let [Some(key), Some(text)] = row.as_slice() else { return Err(format!("not a list: {row:?}")) };
        let list = lists.entry(key.parse().map_err(fail)?).or_default();
        for element in text.split(',').filter(|element| !element.is_empty()) {
            list.push(element.parse().map_err(fail)?);
        }
    }
    Ok(lists)
}

/// Why a transaction does not go on.
enum Trouble {
    /// The server refused, with this error; what was open is to be rolled back.
    Refused(u16),
    /// The connection broke.
    Gone,
    /// What must not be.
    Wrong(String),
}

/// A client, its transactions and what it saw.
struct Session<'a> {
    stage: &'a Stage,
    number: u32,
    promise: &'a Promise,
    generator: Generator,
    client: Option<Client>,
    seen: Vec<Transaction>,
}

impl<'a> Session<'a> {
    fn new(stage: &'a Stage, seed: u64, number: u32, promise: &'a Promise) -> Session<'a> {
        let generator = Generator::new(seed, number, promise.level);
        Session { stage, number, promise, generator, client: None, seen: Vec::new() }
    }

    fn run(mut self) -> Result<Vec<Transaction>, String> {
        while !self.stage.is_over() {
            if self.client.is_none() && !self.connect()? {
                break;
            }
            let plan = self.generator.plan();
            let begin = self.stage.now();
            let (mut ops, mut undone) = (Vec::new(), Vec::new());
            let (outcome, asked) = self.play(&plan, &mut ops, &mut undone);
            let fate = match &outcome {
                Ok(()) if plan.is_rolled_back => Fate::Aborted,
                Ok(()) => Fate::Committed,
                Err(Trouble::Refused(_) | Trouble::Gone) if !asked => Fate::Aborted,
                // killed: perhaps while it waited for its commit to be durable
                Err(Trouble::Refused(number)) if plan.is_single && *number != KILLED => Fate::Aborted,
                Err(Trouble::Refused(_) | Trouble::Gone) => Fate::Unknown,
                Err(Trouble::Wrong(text)) => return Err(text.clone()),
            };
            let end = self.stage.now();
            if matches!(outcome, Err(Trouble::Refused(_))) && self.statement("ROLLBACK").is_err() {
                self.client = None;
            }
            if matches!(outcome, Err(Trouble::Gone)) {
                self.client = None;
            }
            self.seen.push(Transaction { session: self.number, begin, end, fate, ops, undone });
        }
        Ok(self.seen)
    }

    /// A new connection at the level; false if the run is over.
    fn connect(&mut self) -> Result<bool, String> {
        while let Some(mut client) = self.stage.connect() {
            let switch = if self.promise.level == Level::Snapshot { "ON" } else { "OFF" };
            let greeting = [
                "USE histories".to_owned(),
                format!("SET SESSION TRANSACTION ISOLATION LEVEL {}", self.promise.isolation),
                format!("SET innodb_snapshot_isolation = {switch}"),
                "SET innodb_lock_wait_timeout = 2".to_owned(),
            ];
            if greeting.iter().all(|statement| client.query(statement).is_ok()) {
                self.stage.connections.lock().expect("nobody panics").insert(self.number, client.id);
                self.client = Some(client);
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn statement(&mut self, statement: &str) -> Result<Answer, Trouble> {
        let client = self.client.as_mut().ok_or(Trouble::Gone)?;
        match client.query(statement) {
            Ok(Answer::Failed(number, ..)) if TRANSIENT.contains(&number) => Err(Trouble::Refused(number)),
            Ok(Answer::Failed(number, _, text)) => {
                Err(Trouble::Wrong(format!("{statement}: ERROR {number}: {text}")))
            }
            Ok(answer) => Ok(answer),
            Err(_) => Err(Trouble::Gone),
        }
    }

    /// Runs a transaction. The second value: whether the server was asked to commit.
    fn play(
        &mut self,
        plan: &Plan,
        ops: &mut Vec<Op>,
        undone: &mut Vec<(Key, Element)>,
    ) -> (Result<(), Trouble>, bool) {
        if plan.is_single {
            return (self.step(plan.steps[0], ops, undone), true);
        }
        let begin = if plan.is_read_only { "START TRANSACTION READ ONLY" } else { "BEGIN" };
        let mut done = self.statement(begin).map(drop);
        for step in &plan.steps {
            if done.is_ok() {
                done = self.step(*step, ops, undone);
            }
        }
        match done {
            Ok(()) if plan.is_rolled_back => (self.statement("ROLLBACK").map(drop), false),
            Ok(()) => (self.statement("COMMIT").map(drop), true),
            Err(trouble) => (Err(trouble), false),
        }
    }

    fn step(
        &mut self,
        step: Step,
        ops: &mut Vec<Op>,
        undone: &mut Vec<(Key, Element)>,
    ) -> Result<(), Trouble> {
        match step {
            Step::Append(key, element) => {
                // written down first: without an answer it may have happened
                ops.push(Op::Append(key, element));
                self.append(key, element)
            }
            Step::Undo(key, element) => {
                undone.push((key, element));
                self.statement("SAVEPOINT here")?;
                self.append(key, element)?;
                self.statement("ROLLBACK TO SAVEPOINT here").map(drop)
            }
            Step::Rewrite(key, element, access) => {
                let query = format!("SELECT k, v FROM lists WHERE k = {key}{}", suffix(access, 0));
                let old = self.lists(&query)?;
                ops.push(Op::Read(key, access, old.get(&key).cloned().unwrap_or_default()));
                ops.push(Op::Append(key, element));
                let Some(old) = old.get(&key) else { return self.append(key, element) };
                let mut text = String::new();
                for element in old.iter().chain([&element]) {
                    // writing to a String does not fail
                    let _ = write!(text, ",{element}");
                }
                self.statement(&format!("UPDATE lists SET v = '{text}' WHERE k = {key}")).map(drop)
            }
            Step::Read(key, access) => {
                let query = match form(key) {
                    Form::Text => format!("SELECT k, v FROM lists WHERE k = {key}"),
                    Form::Rows => format!("SELECT k, v FROM items WHERE k = {key} ORDER BY position"),
                };
                self.read([key].into_iter(), access, &(query + suffix(access, key)), ops)
            }
            Step::ReadRange(wanted, from, to, access) => {
                let query = match wanted {
                    Form::Text => format!("SELECT k, v FROM lists WHERE k BETWEEN {from} AND {to}"),
                    Form::Rows => {
                        format!("SELECT k, v FROM items WHERE k BETWEEN {from} AND {to} ORDER BY k, position")
                    }
                };
                let keys = (from..=to).filter(|key| form(*key) == wanted);
                self.read(keys, access, &(query + suffix(access, to)), ops)
            }
            Step::ReadTag(wanted, from, to, access) => {
                let query = format!(
                    "SELECT k, v FROM lists FORCE INDEX (by_tag) WHERE tag = {wanted} AND k BETWEEN {from} AND {to}"
                );
                let keys = (from..=to).filter(|key| form(*key) == Form::Text && tag(*key) == wanted);
                self.read(keys, access, &(query + suffix(access, to)), ops)
            }
        }
    }

    fn append(&mut self, key: Key, element: Element) -> Result<(), Trouble> {
        match form(key) {
            Form::Text => {
                let update = format!("UPDATE lists SET v = CONCAT(v, ',{element}') WHERE k = {key}");
                if element.is_multiple_of(2) && self.statement(&update)? != Answer::Done(0) {
                    return Ok(());
                }
                let insert = format!(
                    "INSERT INTO lists VALUES ({key}, {}, ',{element}') \
                     ON DUPLICATE KEY UPDATE v = CONCAT(v, ',{element}')",
                    tag(key)
                );
                self.statement(&insert).map(drop)
            }
            Form::Rows => {
                let next =
                    format!("SELECT COALESCE(MAX(position), 0) + 1 FROM items WHERE k = {key} FOR UPDATE");
                let Answer::Rows(rows) = self.statement(&next)? else {
                    return Err(Trouble::Wrong(format!("{next}: no rows")));
                };
                let Some([Some(position)]) = rows.first().map(Vec::as_slice) else {
                    return Err(Trouble::Wrong(format!("{next}: {rows:?}")));
                };
                self.statement(&format!("INSERT INTO items VALUES ({key}, {position}, {element})")).map(drop)
            }
        }
    }

    fn lists(&mut self, query: &str) -> Result<BTreeMap<Key, Vec<Element>>, Trouble> {
        let answer = self.statement(query)?;
        lists_of(answer).map_err(|error| Trouble::Wrong(format!("{query}: {error}")))
    }

    fn read(
        &mut self,
        keys: impl Iterator<Item = Key>,
        access: Access,
        query: &str,
        ops: &mut Vec<Op>,
    ) -> Result<(), Trouble> {
        let mut lists = self.lists(query)?;
        ops.extend(keys.map(|key| Op::Read(key, access, lists.remove(&key).unwrap_or_default())));
        match lists.is_empty() {
            true => Ok(()),
            false => Err(Trouble::Wrong(format!("{query}: also gave {:?}", lists.keys()))),
        }
    }
}

/// How a read locks; `variant` chooses among the ways.
fn suffix(access: Access, variant: u32) -> &'static str {
    match (access, variant % 3) {
        (Access::Plain, _) => "",
        (Access::Locking, 0 | 1) => " FOR UPDATE",
        (Access::Locking, _) => " FOR SHARE",
    }
}
