//! Random histories of list appends against the real server, searched for isolation anomalies.
//!
//! At each isolation level a few sessions run the transactions of [`workload`](palisade_isolation::workload) for a while,
//! while another kills statements and connections at random; in the middle the server is killed (SIGKILL) and started
//! again. What every client did and saw is a [`History`], and [`check`](palisade_isolation::check()) must find nothing in
//! it that the level proscribes. A commit that got no answer may have happened or not; an acknowledged one
//! must have. Reads are durable (`palisade_durable_reads`), so that nothing that was read is taken back by
//! the kill: SERIALIZABLE is then strict across it. Some
//! are XA transactions; those that their sessions leave prepared, on purpose or for want of an answer, are ended by a
//! [`coordinator`], who tells from XA RECOVER what has become of them.
//!
//! Beside the checker stands its canary: the history of each level, taken for one of the level above, must be refused; and
//! each level must have had its share of every [`Event`]. A history that lacks any of that was too short and is made again,
//! longer. A seed gives the transactions again, not how they interleave; the history of a failure is kept in a file.
//!
//! | module | what it holds |
//! |---|---|
//! | [`session`] | a client, its transactions and what it saw |
//! | [`steps`] | what a transaction does, in SQL |
//! | [`coordinator`] | who ends what is prepared |

mod coordinator;
mod session;
mod steps;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use palisade_base::prng::Prng;
use palisade_isolation::{Element, Fate, History, Key, Kind, Level, Op, check};

use crate::Outcome;
use crate::client::{Answer, Client};
use crate::process::target;
use crate::server::Server;
use coordinator::{Coordinator, Handed};
use session::Session;

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

/// So many transactions are prepared when the server is killed, unless that takes too long.
const PREPARED: usize = 3;
/// How long they are waited for.
const HELD: Duration = Duration::from_secs(20);
/// How often a history that shows too little is made again, each time twice as long.
const TRIES: u32 = 6;

/// What a history is to have of each, beside transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A key was taken (1062), and the transaction went on and was committed.
    Duplicate,
    /// A row or rows were deleted and inserted again by a transaction that was committed.
    Replaced,
    /// A statement failed for another reason, and the transaction went on.
    WentOn,
    /// A transaction rolled back to a savepoint and was committed.
    PartlyUndone,
    /// An INSERT was taken back that had shown a list to be empty, and the transaction was committed.
    Probed,
    /// A prepared transaction was ended by its session.
    EndedByItsSession,
    /// One was ended by the coordinator.
    EndedByAnother,
    /// One was found prepared after the server had been killed.
    Recovered,
}

const EVENTS: [Event; 8] = [
    Event::Duplicate,
    Event::Replaced,
    Event::WentOn,
    Event::PartlyUndone,
    Event::Probed,
    Event::EndedByItsSession,
    Event::EndedByAnother,
    Event::Recovered,
];

/// Each level once, briefly.
pub fn run() -> Outcome {
    rounds(1, Duration::from_secs(5), 1)
}

/// The long form: every level `count` times, killed several times in each history.
pub fn soak(count: u32) -> Outcome {
    rounds(count, Duration::from_secs(30), 6)
}

fn rounds(count: u32, duration: Duration, kills: u32) -> Outcome {
    let seed: u64 = match std::env::var("PALISADE_SEED") {
        Ok(text) => text.parse().map_err(|_| format!("PALISADE_SEED is not a number: {text}"))?,
        Err(_) => u64::from(std::process::id()),
    };
    println!("PALISADE_SEED={seed}");
    let options = ["--innodb-buffer-pool-size=24M", "--innodb-redo-log-capacity=16M"];
    let mut server = Server::start("histories", &options)?;
    for round in 0..count {
        for promise in PROMISES {
            let mut seed = seed.wrapping_add(u64::from(round));
            let mut duration = duration;
            for tried in 1.. {
                let (history, events) = record(&mut server, seed, promise, duration, kills)?;
                let verdict = judge(&history, promise).map_err(|anomalies| {
                    let file = target().join(format!("server/histories/{seed}-{:?}", promise.level));
                    let kept = match std::fs::write(&file, format!("{history:#?}")) {
                        Ok(()) => format!("the history is in {}", file.display()),
                        Err(error) => format!("{}: {error}", file.display()),
                    };
                    format!("{}, seed {seed}:\n{anomalies}\n{kept}", name(promise))
                })?;
                println!("{verdict}; {events:?}");
                let missing: Vec<_> = EVENTS.iter().filter(|event| !events.contains_key(event)).collect();
                if missing.is_empty() && verdict.is_refused_above {
                    break;
                }
                let lack = format!("no {missing:?}, refused above: {}", verdict.is_refused_above);
                if tried == TRIES {
                    return Err(format!("{}, seed {seed}: {lack}", name(promise)));
                }
                println!("too short: {lack}");
                (seed, duration) = (seed.wrapping_add(1_000_000), duration * 2);
            }
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

/// What a history without anomalies comes to.
struct Verdict {
    line: String,
    /// The level above refuses it, if there is one.
    is_refused_above: bool,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)
    }
}

/// Checks a history against its level's promise, and against the one above, which it must break.
fn judge(history: &History, promise: &Promise) -> Result<Verdict, String> {
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
    let ops = || history.transactions.iter().flat_map(|transaction| &transaction.ops);
    let reads = ops().filter(|op| matches!(op, Op::Read(..))).count();
    let learned = ops().filter(|op| matches!(op, Op::Learn(..))).count();
    let longest = history.last.values().map(Vec::len).max().unwrap_or(0);
    let mut line = format!(
        "{}: {} committed, {} rolled back, {} without an answer, {reads} reads, {learned} lengths, lists up to {longest}: no anomaly",
        name(promise),
        with(Fate::Committed),
        with(Fate::Aborted),
        with(Fate::Unknown),
    );
    let mut is_refused_above = true;
    if let Some(above) = promise.above {
        let kinds: BTreeSet<Kind> = check(history, above).iter().map(|anomaly| anomaly.kind).collect();
        is_refused_above = !kinds.is_empty();
        // writing to a String does not fail
        let _ = write!(line, "; as {above:?}: {kinds:?}");
    }
    Ok(Verdict { line, is_refused_above })
}

/// What the threads of a run share.
struct Stage {
    port: u16,
    clock: AtomicU64,
    /// How often the server has been killed.
    life: AtomicU32,
    /// The coordinator ends nothing: what is prepared is to see the server killed.
    is_held: AtomicBool,
    /// How many transactions it keeps prepared while it is held.
    prepared: AtomicUsize,
    is_over: AtomicBool,
    /// The numbers of the sessions' connections, and under the number after theirs the coordinator's.
    connections: Mutex<BTreeMap<u32, u64>>,
    /// Transactions that the coordinator is to end, or to find out about.
    handed: Mutex<Vec<Handed>>,
    /// Names of XA transactions of which the end was acknowledged.
    ended: Mutex<BTreeSet<String>>,
    events: Mutex<BTreeMap<Event, u32>>,
}

impl Stage {
    /// A moment after all that are past.
    fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    fn note(&self, event: Event) {
        *self.events.lock().expect("nobody panics").entry(event).or_default() += 1;
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
fn record(
    server: &mut Server,
    seed: u64,
    promise: &Promise,
    duration: Duration,
    kills: u32,
) -> Result<(History, BTreeMap<Event, u32>), String> {
    let mut client = Client::connect(server.port).map_err(fail)?;
    for statement in [
        "DROP DATABASE IF EXISTS histories",
        "CREATE DATABASE histories",
        "CREATE TABLE histories.lists (k INT PRIMARY KEY, tag INT NOT NULL, era INT NOT NULL, n INT NOT NULL, \
         v TEXT NOT NULL, KEY by_tag (tag), KEY by_length (era, n))",
        "CREATE TABLE histories.items (k INT, position INT, v BIGINT NOT NULL, PRIMARY KEY (k, position), \
         KEY by_place (position, k), UNIQUE by_v (v))",
    ] {
        must(&mut client, statement)?;
    }
    let stage = Stage {
        port: server.port,
        clock: AtomicU64::new(0),
        life: AtomicU32::new(0),
        is_held: AtomicBool::new(false),
        prepared: AtomicUsize::new(0),
        is_over: AtomicBool::new(false),
        connections: Mutex::default(),
        handed: Mutex::default(),
        ended: Mutex::default(),
        events: Mutex::default(),
    };
    let mut history = History::default();
    std::thread::scope(|scope| {
        let stage = &stage;
        let sessions: Vec<_> = (0..SESSIONS)
            .map(|number| scope.spawn(move || Session::new(stage, seed, number, promise).run()))
            .collect();
        let nemesis = scope.spawn(move || kill_at_random(stage, seed));
        let coordinator = scope.spawn(move || Coordinator::new(stage, seed).run());
        let mut restarted = Ok(());
        for _ in 0..kills {
            std::thread::sleep(duration / (kills + 1));
            stage.is_held.store(true, Ordering::SeqCst);
            let held = Instant::now();
            while stage.prepared.load(Ordering::SeqCst) < PREPARED && held.elapsed() < HELD {
                std::thread::sleep(Duration::from_millis(5));
            }
            server.kill();
            stage.life.fetch_add(1, Ordering::SeqCst);
            stage.is_held.store(false, Ordering::SeqCst);
            restarted = server.restart();
            if restarted.is_err() {
                break;
            }
        }
        std::thread::sleep(duration / (kills + 1));
        stage.is_over.store(true, Ordering::SeqCst);
        for session in sessions {
            history.transactions.extend(session.join().expect("a session does not panic")?);
        }
        nemesis.join().expect("the nemesis does not panic");
        let coordinator = coordinator.join().expect("the coordinator does not panic")?;
        restarted?;
        let mut client = Client::connect(stage.port).map_err(fail)?;
        history.transactions.extend(coordinator.finish(&mut client)?);
        history.last = read_all(&mut client)?;
        Ok::<(), String>(())
    })?;
    let events = stage.events.into_inner().expect("nobody panics");
    Ok((history, events))
}

/// Kills statements and connections.
fn kill_at_random(stage: &Stage, seed: u64) {
    let mut prng = Prng::new(seed ^ 0x6b69_6c6c);
    let mut client = None;
    while !stage.is_over() {
        std::thread::sleep(Duration::from_millis(10 + prng.below(60)));
        let what = if prng.one_in(4) { "KILL" } else { "KILL QUERY" };
        let victim = prng.below(u64::from(SESSIONS) + 1) as u32;
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
