//! XA: what a prepared transaction has locked without changing it, over restarts and power cuts.

use std::collections::BTreeMap;
use std::sync::Arc;

use palisade_base::prng::{Prng, test_seed};
use palisade_base::{Blocked, TrxId};
use palisade_io::{Call, CrashKeeps, Fault, FaultFileSystem, FileSystem};
use palisade_txn::{Locked, Mode};

use super::harness::*;
use crate::{
    Attempt, Bound, Direction, Engine, EngineConfig, Error, IsolationLevel, KeyRange, LockMode, LockWait,
    ReadMode, RowBatch, RowBuf, Savepoint, Scan, Table, Transaction, UpdateOutcome, XaEnd, Xid,
};

const FOR_UPDATE: ReadMode = ReadMode::Locked(LockMode::Exclusive, LockWait::Wait);
const FOR_SHARE: ReadMode = ReadMode::Locked(LockMode::Shared, LockWait::Wait);

fn xid(number: u64) -> Xid {
    Xid { format: 1, gtrid: number.to_string().into_bytes(), bqual: Vec::new() }
}

fn prepare(engine: &Arc<Engine>, tx: Transaction, number: u64) -> Result<(), Error> {
    let branch = engine.xa_start(xid(number)).unwrap();
    wait(tx.prepare(branch))
}

fn end(engine: &Arc<Engine>, number: u64, how: XaEnd) {
    assert!(wait(engine.xa_end(&xid(number), how)).unwrap());
}

fn row(id: i64) -> Row {
    Row::new(id, id / 10, Some(id), b"")
}

type Locks = Vec<(usize, Locked, Mode)>;

/// What each transaction has locked as the lock table knows.
fn locks(engine: &Arc<Engine>) -> BTreeMap<TrxId, Locks> {
    let mut locks = BTreeMap::<TrxId, Locks>::new();
    for lock in engine.row_locks().into_iter().filter(|lock| lock.granted) {
        let Some(id) = lock.transaction else { continue };
        locks.entry(id).or_default().push((lock.index, lock.what, lock.mode));
    }
    locks.values_mut().for_each(|locks| locks.sort_by_key(|lock| format!("{lock:?}")));
    locks
}

/// `None` if somebody's lock would have to be waited for.
fn attempt<T>(
    tx: &mut Transaction,
    mut operation: impl FnMut(&mut Transaction) -> Attempt<T>,
) -> Result<Option<T>, Error> {
    loop {
        match operation(tx) {
            Ok(value) => return Ok(Some(value)),
            Err(Blocked::Error(error)) => return Err(error),
            Err(Blocked::Wait(_)) if tx.awaits_row_lock() => {
                tx.cancel_wait();
                return Ok(None);
            }
            Err(Blocked::Wait(event)) => event.wait_blocking(),
        }
    }
}

fn insert(client: &mut Client, row: &Row) -> Result<Option<()>, Error> {
    let bytes = row.encode(&client.table);
    attempt(&mut client.tx, |tx| tx.insert(&client.table, &bytes))
}

fn point(client: &mut Client, index: usize, value: i64, mode: ReadMode) -> Result<Option<bool>, Error> {
    let (key, mut out) = (key(&client.table, index, value), RowBuf::new());
    attempt(&mut client.tx, |tx| tx.point_read(&client.table, index, &key, mode, &mut out))
}

/// Deletes a row or, with a new one, updates it.
fn change(client: &mut Client, id: i64, new: Option<&Row>) -> Result<Option<()>, Error> {
    let key = key(&client.table, 0, id);
    loop {
        let mut out = RowBuf::new();
        let read = |tx: &mut Transaction| tx.point_read(&client.table, 0, &key, ReadMode::Current, &mut out);
        match attempt(&mut client.tx, read)? {
            None => return Ok(None),
            Some(false) => return Ok(Some(())),
            Some(true) => {}
        }
        let (old, stamp) = (out.row().to_vec(), out.stamp());
        let new = new.map(|new| new.encode(&client.table));
        let done = attempt(&mut client.tx, |tx| match &new {
            Some(new) => tx.update(&client.table, stamp, &old, new),
            None => tx.delete(&client.table, stamp, &old),
        })?;
        match done {
            None => return Ok(None),
            Some(UpdateOutcome::Done) => return Ok(Some(())),
            Some(UpdateOutcome::Changed) => {}
        }
    }
}

fn scan(
    client: &mut Client,
    index: usize,
    range: KeyRange,
    direction: Direction,
    mode: ReadMode,
) -> Result<Option<()>, Error> {
    let mut scan = Scan::new(client.table.clone(), index, range, direction, mode, false);
    let mut batch = RowBatch::new();
    loop {
        match attempt(&mut client.tx, |tx| tx.scan_next(&mut scan, &mut batch))? {
            None => return Ok(None),
            Some(false) => return Ok(Some(())),
            Some(true) => {}
        }
    }
}

#[test]
fn reads_keep_others_waiting_after_restarts_until_it_ends() {
    for how in [XaEnd::Commit, XaEnd::Rollback] {
        let (fs, engine, t) = new_engine();
        let mut client = Client::new(&engine, &t);
        (1..10).for_each(|n| client.insert(&row(n * 10)).unwrap());
        client.commit();
        // As plain reads at SERIALIZABLE lock, and as FOR UPDATE does.
        assert!(client.read_as(10, FOR_SHARE).unwrap().is_some());
        assert!(client.read_as(20, FOR_UPDATE).unwrap().is_some());
        assert!(client.read_as(25, FOR_SHARE).unwrap().is_none());
        let (by_id, by_k) = (range(&t, 0, 40, 60), range(&t, 1, 8, 8));
        client.scan_range(0, by_id, Direction::Forward, FOR_SHARE).unwrap();
        client.scan_range(1, by_k, Direction::Backward, FOR_UPDATE).unwrap();
        client.update(30, |row| row.k = Some(3000)).unwrap();
        let id = client.tx.id().unwrap();
        let held = locks(&engine)[&id].clone();
        prepare(&engine, client.tx, 1).unwrap();
        crash(engine);
        drop((t, client.table));
        for _ in 0..2 {
            let engine = open(&fs);
            assert_eq!(locks(&engine), BTreeMap::from([(id, held.clone())]));
            crash(engine);
        }
        let engine = open(&fs);
        let t = table(&engine, "t");
        let probe = |what: &str, locked: bool| {
            let mut other = Client::new(&engine, &t);
            let done = match what {
                "update 10" => change(&mut other, 10, Some(&Row { c: vec![1], ..row(10) })),
                "share 10" => point(&mut other, 0, 10, FOR_SHARE).map(|done| done.map(drop)),
                "share 20" => point(&mut other, 0, 20, FOR_SHARE).map(|done| done.map(drop)),
                "share 30" => point(&mut other, 0, 30, FOR_SHARE).map(|done| done.map(drop)),
                "update 70" => change(&mut other, 70, Some(&row(70))),
                "delete 50" => change(&mut other, 50, None),
                "update 80" => change(&mut other, 80, Some(&Row { c: vec![1], ..row(80) })),
                "insert 25" => insert(&mut other, &Row::new(25, 2, None, b"")),
                "insert 45" => insert(&mut other, &Row::new(45, 4, None, b"")),
                "insert 65" => insert(&mut other, &Row::new(65, 6, None, b"")),
                "insert k 8" => insert(&mut other, &Row::new(100, 8, None, b"")),
                other => panic!("{other}"),
            };
            assert_eq!(done.unwrap().is_none(), locked, "{what}");
            other.rollback();
        };
        let waits = [
            "update 10",
            "share 20",
            "share 30",
            "delete 50",
            "update 80",
            "insert 25",
            "insert 45",
            "insert k 8",
        ];
        let goes_on = ["share 10", "update 70", "insert 65"];
        waits.iter().for_each(|what| probe(what, true));
        goes_on.iter().for_each(|what| probe(what, false));
        // Who waits when it ends is woken, and gets what he has waited for.
        let mut waiting = Client::new(&engine, &t);
        let key = key(&t, 0, 20);
        let mut out = RowBuf::new();
        let Err(Blocked::Wait(event)) = waiting.tx.point_read(&t, 0, &key, FOR_UPDATE, &mut out) else {
            panic!("row 20 is locked");
        };
        assert!(!event.is_complete());
        end(&engine, 1, how);
        assert!(event.is_complete());
        assert_eq!(
            attempt(&mut waiting.tx, |tx| tx.point_read(&t, 0, &key, FOR_UPDATE, &mut out)).unwrap(),
            Some(true)
        );
        waiting.rollback();
        waits.iter().chain(&goes_on).for_each(|what| probe(what, false));
        assert!(locks(&engine).is_empty());
    }
}

/// As a server that is started again with a smaller buffer pool.
#[test]
fn more_locks_than_there_may_be_now_are_kept() {
    let (fs, engine, t) = new_engine();
    let mut client = Client::new(&engine, &t);
    for id in 0..2000 {
        client.read_as(10 * id, FOR_UPDATE).unwrap();
    }
    let memory = engine.trx.locks().memory();
    prepare(&engine, client.tx, 1).unwrap();
    let held = locks(&engine);
    crash(engine);
    drop((t, client.table));
    let pool = 64 * palisade_buffer::PageSize::DEFAULT.bytes() as u64;
    assert!(memory > pool / 2, "{memory} bytes are fewer than the limit");
    let small = EngineConfig { buffer_pool_size: pool, ..quiet() };
    let engine = Engine::open(small, fs).unwrap();
    let t = table(&engine, "t");
    assert_eq!(locks(&engine), held);
    let mut other = Client::new(&engine, &t);
    assert!(insert(&mut other, &row(10)).unwrap().is_none());
    assert!(insert(&mut other, &row(15)).unwrap().is_some(), "who needs few locks goes on");
    other.rollback();
    end(&engine, 1, XaEnd::Rollback);
    assert_eq!(engine.trx.locks().memory(), 0);
}

/// Without any threads.
fn still() -> EngineConfig {
    EngineConfig { background: false, on_fatal: Some(Arc::new(|_| {})), ..quiet() }
}

/// A transaction with a change and with locks for several records, and the power cut at every write while it
/// is being prepared, and at a random one while the engine is opened again.
#[test]
fn it_is_prepared_with_all_of_its_locks_or_rolled_back_wherever_the_power_is_cut() {
    let mut prng = Prng::new(test_seed(41));
    let begun = |disk: &Arc<FaultFileSystem>| {
        let engine = Engine::open(still(), disk.clone()).unwrap();
        create_schema(&engine);
        let t = create_table(&engine, definition("t"));
        let mut client = Client::new(&engine, &t);
        client.insert(&row(5)).unwrap();
        client.commit();
        client.update(5, |row| row.k = None).unwrap();
        for id in 1..800 {
            client.read_as(10 * id, FOR_SHARE).unwrap();
        }
        let held = locks(&engine);
        (engine, client, held)
    };
    let disk = Arc::new(FaultFileSystem::new(0));
    let (engine, client, _) = begun(&disk);
    let start = disk.changes();
    prepare(&engine, client.tx, 1).unwrap();
    let writes = disk.changes() - start;
    drop((engine, client.table));
    let mut prepared = [0, 0];
    for round in 0..40 {
        let at = 1 + round % (writes + 1);
        let keeps = if prng.one_in(3) { CrashKeeps::Synced } else { CrashKeeps::Random };
        let disk = Arc::new(FaultFileSystem::new(prng.next_u64()));
        let (engine, client, held) = begun(&disk);
        disk.fail(Call::Change, at, Fault::Crash);
        let is_answered = prepare(&engine, client.tx, 1).is_ok();
        drop((engine, client.table));
        disk.crash(keeps);
        disk.clear_faults();
        // The next power cut, while that is recovered from.
        disk.fail(Call::Change, 1 + prng.below(30), Fault::Crash);
        let fs: Arc<dyn FileSystem> = disk.clone();
        if let Ok(engine) = Engine::open(still(), fs.clone()) {
            drop(engine.rollback_step());
            drop(engine);
        }
        disk.crash(keeps);
        disk.clear_faults();
        let engine = Engine::open(still(), fs).unwrap();
        let t = table(&engine, "t");
        let is_prepared = !engine.xa_prepared().is_empty();
        assert!(is_prepared || !is_answered, "write {at}, {keeps:?}: it was answered");
        prepared[usize::from(is_prepared)] += 1;
        if is_prepared {
            assert_eq!(locks(&engine), held, "write {at}, {keeps:?}");
            end(&engine, 1, if prng.one_in(2) { XaEnd::Commit } else { XaEnd::Rollback });
        } else {
            assert_eq!(locks(&engine), BTreeMap::new(), "write {at}, {keeps:?}");
            engine.rollback_step().unwrap();
        }
        assert!(locks(&engine).is_empty());
        let mut other = Client::new(&engine, &t);
        assert!(insert(&mut other, &row(10)).unwrap().is_some());
        assert!(change(&mut other, 5, None).unwrap().is_some());
        other.commit();
        drop(other);
        while engine.purge_step().unwrap() {}
        check(&engine, &t);
    }
    assert!(prepared[0] > 0 && prepared[1] > 0, "{writes} writes: {prepared:?}");
}

const IDS: u64 = 12;
const VALUES: u64 = 8;
/// Nobody has it.
const FAR: i64 = 10_000;

struct Player {
    client: Client,
    savepoint: Option<Savepoint>,
}

impl Player {
    fn new(engine: &Arc<Engine>, t: &Arc<Table>, prng: &mut Prng) -> Player {
        let isolation = match prng.below(3) {
            0 => IsolationLevel::ReadCommitted,
            1 => IsolationLevel::RepeatableRead,
            _ => IsolationLevel::Serializable,
        };
        Player { client: Client::with(engine, t, isolation), savepoint: None }
    }

    /// One statement at random; what it would have to wait for it gives up.
    fn statement(&mut self, prng: &mut Prng) {
        let client = &mut self.client;
        let mode = match (prng.below(3), prng.below(3)) {
            (0, _) => LockMode::Exclusive,
            _ => LockMode::Shared,
        };
        let patience = *prng.pick(&[LockWait::Wait, LockWait::Wait, LockWait::NoWait, LockWait::SkipLocked]);
        let read = ReadMode::Locked(mode, patience);
        let id = prng.below(IDS) as i64;
        let random = Row {
            id,
            k: (!prng.one_in(5)).then(|| prng.below(VALUES) as i64),
            u: (!prng.one_in(5)).then(|| prng.below(IDS) as i64),
            c: vec![1; prng.below(3) as usize],
        };
        let start = client.tx.start_statement();
        let outcome = match prng.below(9) {
            0..3 => {
                let index = prng.below(3) as usize;
                let bounds = range(&client.table, index, id, id + prng.below(5) as i64);
                let range = match prng.below(5) {
                    0 => KeyRange { upper: Bound::Unbounded, ..bounds },
                    1 => KeyRange { lower: Bound::Unbounded, ..bounds },
                    _ => bounds,
                };
                let direction = if prng.one_in(2) { Direction::Forward } else { Direction::Backward };
                scan(client, index, range, direction, read)
            }
            3 => point(client, 0, id, read).map(|done| done.map(drop)),
            4 => point(client, 2, id, read).map(|done| done.map(drop)),
            5 => insert(client, &random),
            6 => change(client, id, Some(&random)),
            7 => change(client, id, None),
            _ => match self.savepoint.filter(|_| prng.one_in(2)) {
                Some(savepoint) => attempt(&mut client.tx, |tx| tx.rollback_to(savepoint)),
                None => {
                    self.savepoint = Some(client.tx.savepoint());
                    Ok(Some(()))
                }
            },
        };
        let is_undone = match outcome {
            Ok(Some(())) => return,
            Ok(None) | Err(Error::DuplicateKey { .. } | Error::LockNotAvailable) => {
                attempt(&mut client.tx, |tx| tx.rollback_to(start)).unwrap().is_some()
            }
            Err(Error::Deadlock) => false,
            Err(error) => panic!("{error}"),
        };
        if !is_undone {
            client.rollback();
            self.savepoint = None;
        }
    }
}

/// What others are kept from: each row is locked in both modes, and rows are inserted everywhere; each by a
/// transaction of its own, which is rolled back.
fn probe(engine: &Arc<Engine>, t: &Arc<Table>) -> Vec<String> {
    let mut seen = Vec::new();
    let mut see = |what: String, operation: &dyn Fn(&mut Client) -> Result<Option<()>, Error>| {
        let mut client = Client::new(engine, t);
        let outcome = match operation(&mut client) {
            Ok(Some(())) | Err(Error::DuplicateKey { .. }) => "free",
            Ok(None) => "locked",
            Err(error) => panic!("{error}"),
        };
        client.rollback();
        seen.push(format!("{what}: {outcome}"));
    };
    for id in 0..IDS as i64 {
        for mode in [FOR_SHARE, FOR_UPDATE] {
            see(format!("{mode:?} {id}"), &|client| point(client, 0, id, mode).map(|done| done.map(drop)));
        }
        see(format!("insert {id}"), &|client| insert(client, &Row::new(id, FAR, None, b"")));
        see(format!("insert u {id}"), &|client| insert(client, &Row::new(FAR, FAR, Some(id), b"")));
    }
    for k in 0..VALUES as i64 {
        see(format!("insert k {k}"), &|client| insert(client, &Row::new(FAR, k, None, b"")));
    }
    seen
}

/// Transactions that read, lock and change at random, some of which are prepared; then crashes. What the
/// prepared ones had is what they have, and keeps others from the same.
#[test]
fn after_a_crash_what_is_prepared_has_the_locks_that_it_had() {
    let seed = test_seed(42);
    let mut prng = Prng::new(seed);
    let (mut compared, mut kept_from) = (0, 0);
    for round in 0..12 {
        let (fs, engine, t) = new_engine();
        let mut players: Vec<_> = (0..4).map(|_| Player::new(&engine, &t, &mut prng)).collect();
        let mut held = BTreeMap::new();
        let mut number = 0;
        for _ in 0..100 {
            let at = prng.below(4) as usize;
            let mut player = players.swap_remove(at);
            match prng.below(12) {
                0..3 => {
                    if prng.one_in(4) && held.len() < 6 {
                        let before = locks(&engine);
                        let known = player.client.tx.id();
                        prepare(&engine, player.client.tx, number).unwrap();
                        // What it has of its own: nobody has waited for it since.
                        let mut after = locks(&engine);
                        let id = known.or_else(|| after.keys().find(|id| !before.contains_key(id)).copied());
                        if let Some(id) = id {
                            held.insert(id, (number, after.remove(&id).unwrap_or_default()));
                        }
                        number += 1;
                    } else {
                        wait(player.client.tx.commit()).unwrap();
                    }
                    player = Player::new(&engine, &t, &mut prng);
                }
                _ => player.statement(&mut prng),
            }
            players.push(player);
        }
        // In half of the rounds the others are in flight at the crash.
        let mut reference = None;
        if prng.one_in(2) {
            players.iter_mut().for_each(|player| player.client.rollback());
            reference = Some(probe(&engine, &t));
        }
        crash_with(engine, (t, players));
        for life in 0..2 {
            let engine = open(&fs);
            let found = locks(&engine);
            for (id, (number, before)) in &held {
                let now = found.get(id).cloned().unwrap_or_default();
                assert_eq!(&now, before, "seed {seed}, round {round}, life {life}: transaction {number}");
                compared += before.len();
            }
            assert_eq!(engine.xa_prepared().len() as u64, number);
            engine.rollback_step().unwrap();
            let t = table(&engine, "t");
            let seen = probe(&engine, &t);
            kept_from += seen.iter().filter(|line| line.ends_with("locked")).count();
            match &reference {
                Some(expected) => assert_eq!(&seen, expected, "seed {seed}, round {round}, life {life}"),
                None => reference = Some(seen),
            }
            crash_with(engine, t);
        }
        let engine = open(&fs);
        engine.rollback_step().unwrap();
        let mut numbers: Vec<u64> = (0..number).collect();
        while !numbers.is_empty() {
            let number = numbers.swap_remove(prng.below(numbers.len() as u64) as usize);
            end(&engine, number, if prng.one_in(2) { XaEnd::Commit } else { XaEnd::Rollback });
            let ended = held.iter().find(|(_, (known, _))| *known == number);
            let found = locks(&engine);
            assert!(ended.is_none_or(|(id, _)| !found.contains_key(id)), "seed {seed}, round {round}");
        }
        let t = table(&engine, "t");
        assert!(locks(&engine).is_empty(), "seed {seed}, round {round}");
        let locked: Vec<_> = probe(&engine, &t).into_iter().filter(|line| line.ends_with("locked")).collect();
        assert!(locked.is_empty(), "seed {seed}, round {round}: {locked:?}");
        while engine.purge_step().unwrap() {}
        check(&engine, &t);
    }
    assert!(compared > 0 && kept_from > 0, "{compared} locks, {kept_from} conflicts");
}

/// A crash in which sessions have transactions open: they are gone with the process.
fn crash_with<T>(engine: Arc<Engine>, sessions: T) {
    engine.background.stop();
    drop(sessions);
    crash(engine);
}
