//! Crashes: a child process writes, is killed, and everything it had acknowledged is looked for.
//!
//! Each session of the child owns some rows, and its n-th transaction is a function of n: the parent computes what the
//! session's rows are after n transactions. A row of the session says n. What the child prints after a commit has been
//! acknowledged is in the parent's hands even if the child is killed the next moment. So after the crash n is what was
//! acknowledged last, or one more - the commit that was under way -, and the rows are exactly those of n.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use palisade_base::event::{retry, retry_blocking};
use palisade_base::prng::{Prng, test_seed};
use palisade_catalog::descriptor::{Index, IndexPart};
use palisade_catalog::{CollationId, Column, RowView, SqlType, TableDef, ValueRef, key, row};
use palisade_engine::{
    AccessMode, Direction, Engine, Error, FlushAtCommit, IsolationLevel, KeyRange, ReadMode, RowBatch,
    RowBuf, Scan, Table, Transaction, UpdateOutcome,
};

use crate::Options;
use crate::sessions::event_loop;
use crate::table::{create_table, open_table};

/// Rows that a session may have, besides the one with its number of transactions.
const ROWS: i64 = 40;

fn definition() -> TableDef {
    let column = |name: &str, number| Column::new(name, SqlType::INT, number);
    let mut def = TableDef {
        schema: "bench".to_owned(),
        name: "ledger".to_owned(),
        columns: vec![
            column("id", 0).not_null(),
            column("k", 1).not_null(),
            column("u", 2),
            Column::new("c", SqlType::VarBinary { length: 60_000 }, 3).not_null(),
        ],
        indexes: vec![
            Index::primary(vec![IndexPart::of(0)]),
            Index::new("k", vec![IndexPart::of(1)]),
            Index { unique: true, ..Index::new("u", vec![IndexPart::of(2)]) },
        ],
        ..TableDef::default()
    };
    def.collation = CollationId::BINARY;
    def
}

/// A row without its id.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    k: i64,
    u: Option<i64>,
    c: Vec<u8>,
}

type Rows = BTreeMap<i64, Row>;

/// What happens to one row.
#[derive(Debug, Clone)]
enum Change {
    Put(i64, Row),
    Delete(i64),
}

/// The n-th transaction of a session: changes, of which the last `undone` are rolled back to a savepoint.
fn transaction(session: i64, n: u64) -> (Vec<Change>, usize) {
    let mut prng = Prng::new(n * 1_000_003 + session as u64);
    let first = session * (ROWS + 1);
    let count = 1 + prng.below(6) as usize;
    let mut changes = Vec::new();
    for _ in 0..count {
        let id = first + 1 + prng.below(ROWS as u64) as i64;
        if prng.one_in(4) {
            changes.push(Change::Delete(id));
        }
        if prng.one_in(4) {
            continue;
        }
        let length = match prng.below(40) {
            0 => 9_000 + prng.below(40_000),
            1..=4 => prng.below(3_000),
            _ => prng.below(200),
        };
        // Unique for this id: rows of others never have it.
        let u = (!prng.one_in(3)).then(|| id * 1000 + prng.below(1000) as i64);
        let c = vec![prng.next_u64() as u8; length as usize];
        changes.push(Change::Put(id, Row { k: prng.below(1000) as i64, u, c }));
    }
    let undone = if prng.one_in(5) { prng.below(changes.len() as u64 + 1) as usize } else { 0 };
    (changes, undone)
}

/// The row that says how many transactions a session has done.
fn counter(session: i64, n: u64) -> Change {
    Change::Put(session * (ROWS + 1), Row { k: n as i64, u: None, c: Vec::new() })
}

fn apply(rows: &mut Rows, change: &Change) {
    match change {
        Change::Put(id, row) => drop(rows.insert(*id, row.clone())),
        Change::Delete(id) => drop(rows.remove(id)),
    }
}

/// One of the child's sessions.
struct Writer {
    tx: Transaction,
    table: Arc<Table>,
    number: i64,
    done: u64,
}

impl Writer {
    fn key(&self, id: i64) -> Vec<u8> {
        let mut key = Vec::new();
        key::search_key(&self.table, 0, &[ValueRef::Int(id)], &mut key).expect("an id is a key");
        key
    }

    async fn change(&mut self, change: &Change) -> Result<(), Error> {
        let (Change::Put(id, _) | Change::Delete(id)) = *change;
        let (key, mut old) = (self.key(id), RowBuf::new());
        loop {
            let Writer { tx, table, .. } = &mut *self;
            let found = retry(|| tx.point_read(table, 0, &key, ReadMode::Current, &mut old)).await?;
            let outcome = match (change, found) {
                (Change::Put(_, row), true) => {
                    let new = encode(table, id, row);
                    retry(|| tx.update(table, old.stamp(), old.row(), &new)).await?
                }
                (Change::Put(_, row), false) => {
                    let new = encode(table, id, row);
                    retry(|| tx.insert(table, &new)).await?;
                    UpdateOutcome::Done
                }
                (Change::Delete(_), true) => retry(|| tx.delete(table, old.stamp(), old.row())).await?,
                (Change::Delete(_), false) => UpdateOutcome::Done,
            };
            if outcome == UpdateOutcome::Done {
                return Ok(());
            }
        }
    }

    /// Does the next transaction; rolled back now and then instead of committed, and then done again.
    async fn transact(&mut self, prng: &mut Prng) -> Result<(), Error> {
        let n = self.done + 1;
        let (changes, undone) = transaction(self.number, n);
        let (kept, undone) = changes.split_at(changes.len() - undone);
        for change in kept.iter().chain([&counter(self.number, n)]) {
            self.change(change).await?;
        }
        let savepoint = self.tx.savepoint();
        for change in undone {
            self.change(change).await?;
        }
        retry(|| self.tx.rollback_to(savepoint)).await?;
        if prng.one_in(10) {
            self.tx.rollback().await?;
        } else {
            self.tx.commit().await?;
            self.done = n;
        }
        self.tx.restart(IsolationLevel::RepeatableRead, AccessMode::ReadWrite);
        Ok(())
    }
}

fn encode(table: &Table, id: i64, row: &Row) -> Vec<u8> {
    let column = |number| match number {
        0 => ValueRef::Int(id),
        1 => ValueRef::Int(row.k),
        2 => row.u.map_or(ValueRef::Null, ValueRef::Int),
        _ => ValueRef::Bytes(&row.c),
    };
    let mut out = Vec::new();
    row::encode_with(table, column, &mut out).expect("a row");
    out
}

/// All rows of the table.
fn read_all(engine: &Arc<Engine>, table: &Arc<Table>) -> Rows {
    let mut tx = engine.begin(IsolationLevel::RepeatableRead, AccessMode::ReadOnly);
    let range = KeyRange::default();
    let mut scan = Scan::new(table.clone(), 0, range, Direction::Forward, ReadMode::Snapshot, false);
    let (mut batch, mut rows) = (RowBatch::new(), Rows::new());
    let int = |value: ValueRef<'_>| match value {
        ValueRef::Int(value) => Some(value),
        _ => None,
    };
    while retry_blocking(|| tx.scan_next(&mut scan, &mut batch)).expect("the table is read") {
        for found in batch.iter() {
            let view = RowView::new(table, found.row).expect("a row");
            let ValueRef::Bytes(c) = view.column(3) else { panic!("c is NULL") };
            let row = Row { k: int(view.column(1)).expect("k"), u: int(view.column(2)), c: c.to_vec() };
            rows.insert(int(view.column(0)).expect("id"), row);
        }
    }
    rows
}

fn settings(options: &Options) -> Options {
    let mut settings = vec![("pool".to_owned(), "16".to_owned()), ("log".to_owned(), "16".to_owned())];
    settings.extend(options.0.iter().cloned());
    Options(settings)
}

/// The process that is killed. Prints `session n` for every commit that has been acknowledged.
pub fn child(options: &Options) {
    let options = settings(options);
    let engine = options.open_engine();
    engine.set_flush_at_commit(FlushAtCommit::Durable);
    let table = open_table(&engine, "ledger");
    let (loops, sessions) = (options.get("loops", 2i64), options.get("sessions", 16i64));
    let rows = Arc::new(read_all(&engine, &table));
    let seed = options.get("seed", 1u64);
    let run = |number: i64| {
        let (engine, table, rows) = (engine.clone(), table.clone(), rows.clone());
        std::thread::spawn(move || {
            let own = (0..sessions).filter(|session| session % loops == number);
            let writers = own.map(|number| Writer {
                tx: engine.begin(IsolationLevel::RepeatableRead, AccessMode::ReadWrite),
                table: table.clone(),
                number,
                done: rows.get(&(number * (ROWS + 1))).map_or(0, |row| row.k as u64),
            });
            event_loop(&engine, writers, |mut writer| async move {
                let mut prng = Prng::new(seed ^ writer.number as u64);
                loop {
                    let before = writer.done;
                    writer.transact(&mut prng).await.expect("a transaction succeeds");
                    if writer.done > before {
                        let line = format!("{} {}\n", writer.number, writer.done);
                        std::io::stdout().write_all(line.as_bytes()).expect("the parent listens");
                    }
                }
            });
        })
    };
    for thread in (0..loops).map(run).collect::<Vec<_>>() {
        thread.join().expect("an event loop ends");
    }
}

/// Starts a child, kills it after `time`, and notes what each session had acknowledged. Gives how long it took until the
/// first commit.
fn crash_one(
    options: &Options,
    seed: u64,
    time: Duration,
    acknowledged: &mut BTreeMap<i64, u64>,
) -> Option<Duration> {
    let begun = Instant::now();
    let mut first = None;
    let program = std::env::current_exe().expect("the program's path");
    let mut command = Command::new(program);
    command.arg("crash-child").arg(format!("dir={}", options.dir().display())).arg(format!("seed={seed}"));
    let told = options.0.iter().filter(|(name, _)| name != "dir" && name != "seed");
    command.args(told.map(|(name, value)| format!("{name}={value}")));
    let mut child = command.stdout(Stdio::piped()).spawn().expect("a child starts");
    let output = child.stdout.take().expect("piped");
    let killer = std::thread::spawn(move || {
        std::thread::sleep(time);
        let early = child.try_wait().expect("a child can be asked");
        assert!(early.is_none(), "the child ended by itself: {early:?}");
        child.kill().expect("a child is killed");
        child.wait().expect("a child is waited for");
    });
    for line in BufReader::new(output).split(b'\n') {
        let line = String::from_utf8(line.expect("the pipe is read")).expect("digits");
        // Killed in the middle of a line: not told whole, not acknowledged.
        let Some((session, n)) = line.split_once(' ') else { continue };
        if let (Ok(session), Ok(n)) = (session.parse(), n.parse()) {
            first.get_or_insert_with(|| begun.elapsed());
            let known: &mut u64 = acknowledged.entry(session).or_default();
            *known = (*known).max(n);
        }
    }
    killer.join().expect("the child ran until it was killed");
    first
}

/// Brings the model from `model_n` to what the rows say of session `session`, and compares.
fn compare(
    session: i64,
    found: &Rows,
    acknowledged: u64,
    model: &mut Rows,
    model_n: &mut u64,
    in_flight: &mut u64,
) {
    let first = session * (ROWS + 1);
    let n = found.get(&first).map_or(0, |row| row.k as u64);
    assert!(
        n == acknowledged || n == acknowledged + 1,
        "session {session}: transaction {acknowledged} was acknowledged, found {n}"
    );
    *in_flight += n - acknowledged;
    while *model_n < n {
        *model_n += 1;
        let (changes, undone) = transaction(session, *model_n);
        for change in changes[..changes.len() - undone].iter().chain([&counter(session, *model_n)]) {
            apply(model, change);
        }
    }
    let rows: Rows = found.range(first..=first + ROWS).map(|(id, row)| (*id, row.clone())).collect();
    assert!(rows == *model, "session {session} after transaction {n}: rows differ");
}

/// The options for a copy of the directory.
fn copy_of(options: &Options) -> Options {
    let copy = options.dir().with_extension("copy");
    let _ = std::fs::remove_dir_all(&copy);
    let copied = Command::new("cp").arg("-r").arg(options.dir()).arg(&copy).status();
    assert!(copied.is_ok_and(|status| status.success()), "the directory is copied");
    let mut settings = options.0.clone();
    settings.push(("dir".to_owned(), copy.display().to_string()));
    Options(settings)
}

/// The rounds.
pub fn run(options: &Options) {
    let seed = test_seed(options.get("seed", 1));
    println!("seed {seed}");
    let options = settings(options);
    let engine = options.fresh_engine();
    drop(create_table(&engine, definition()));
    engine.shutdown().expect("the engine shuts down");
    drop(engine);
    let sessions = options.get("sessions", 16i64);
    let mut acknowledged = BTreeMap::new();
    let mut models = vec![(Rows::new(), 0u64); sessions as usize];
    let mut prng = Prng::new(seed);
    for round in 1..=options.get("rounds", 20) {
        // Now and then it is killed while it recovers.
        let time = if prng.one_in(4) { prng.below(200) } else { 300 + prng.below(2500) };
        let first = crash_one(&options, seed + round, Duration::from_millis(time), &mut acknowledged);
        let first = first.map_or("never".to_owned(), |time| format!("after {time:.2?}"));
        // Half of the time the next child finds the directory as the crash has left it.
        let keep = prng.one_in(2);
        let looked_at = if keep { copy_of(&options) } else { settings(&options) };
        let begun = Instant::now();
        let engine = looked_at.open_engine();
        let recovered = begun.elapsed();
        let table = open_table(&engine, "ledger");
        let found = read_all(&engine, &table);
        let mut in_flight = 0;
        for (session, (model, model_n)) in models.iter_mut().enumerate() {
            let session = session as i64;
            let known = acknowledged.entry(session).or_default();
            compare(session, &found, *known, model, model_n, &mut in_flight);
            *known = *model_n;
        }
        while engine.history_length() > 0 || !engine.active_transactions().is_empty() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let report = engine.check_table(&table).expect("the table can be read");
        assert!(report.damage.is_empty(), "round {round}: {:#?}", report.damage);
        assert_eq!(report.rows, found.len() as u64);
        drop(table);
        println!(
            "round {round:3}: first commit {first}, killed after {time:4} ms, recovered in {recovered:8.2?}, {} transactions, {in_flight} more in flight, \
             {} rows{}",
            acknowledged.values().sum::<u64>(),
            report.rows,
            if keep { "" } else { ", shut down" },
        );
        engine.shutdown().expect("the engine shuts down");
    }
    println!("every acknowledged commit was there, and every index agreed");
    let _ = std::fs::remove_dir_all(options.dir());
    let _ = std::fs::remove_dir_all(options.dir().with_extension("copy"));
}
