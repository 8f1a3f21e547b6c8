//! A disk that is too full for pages of compressed tables, which lie in holes: what becomes of changes
//! meanwhile.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use palisade_base::prng::{Prng, test_seed};
use palisade_catalog::TableDef;
use palisade_io::{CrashKeeps, FaultFileSystem, File, Overlay, OverlayFileSystem};

use super::harness::*;
use crate::{Engine, EngineConfig, Error, Table, TableName};

/// What has to happen by itself happens within that time.
const PATIENCE: Duration = Duration::from_secs(60);
const ROWS: i64 = 10_000;
/// Bytes of a row: short enough to stay in its page.
const ROW: usize = 1500;

fn compressed(name: &str) -> TableDef {
    TableDef { options: vec![("COMPRESSION".to_owned(), "LZ4".to_owned())], ..definition(name) }
}

/// A row that compresses well, or not at all.
fn row(id: i64, noise: Option<u64>) -> Row {
    let mut c = vec![id as u8; ROW];
    if let Some(seed) = noise {
        Prng::new(seed).fill(&mut c);
    }
    Row::new(id, id % 7, Some(id), &c)
}

struct World {
    disk: Arc<FaultFileSystem>,
    engine: Arc<Engine>,
    table: Arc<Table>,
    /// The rows that have been committed.
    rows: BTreeMap<i64, Row>,
}

fn open(disk: &Arc<FaultFileSystem>, config: EngineConfig) -> Arc<Engine> {
    Engine::open(EngineConfig { undo_reserve: 64 << 20, ..config }, disk.clone()).unwrap()
}

/// A pool or a log that a few thousand pages fill.
fn small(frames: u64, log: u64) -> EngineConfig {
    EngineConfig { buffer_pool_size: frames * 16384, redo_log_capacity: log, page_cleaners: 2, ..quiet() }
}

/// A table of compressed pages, in place or out of place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    InPlace,
    OutOfPlace,
}

/// A table whose rows are on a disk that has just room for them, and a second one.
fn world(config: EngineConfig, kind: Kind) -> World {
    let disk = Arc::new(FaultFileSystem::new(5));
    let engine = open(&disk, config);
    create_schema(&engine);
    create_table(&engine, definition("other"));
    let mut def = compressed("t");
    let sink = if kind == Kind::OutOfPlace { "out-of-place" } else { "in-place" };
    def.options.push(("PAGE_SINK".to_owned(), sink.to_owned()));
    let table = create_table(&engine, def);
    let mut world = World { disk, engine, table, rows: BTreeMap::new() };
    for first in (0..ROWS).step_by(100) {
        let mut client = Client::new(&world.engine, &world.table);
        for id in first..first + 100 {
            client.insert(&row(id, None)).unwrap();
            world.rows.insert(id, row(id, None));
        }
        client.commit();
        // Where there are no threads, no one else makes room in the log.
        world.engine.pool.checkpoint_sharply().unwrap();
    }
    world.engine.set_undo_reserve(world.engine.config().undo_reserve);
    while world.engine.purge_step().unwrap() {}
    world.engine.pool.checkpoint_sharply().unwrap();
    let file = world.table.sole_partition().tree(0).space().file().clone();
    let saved = (ROWS as usize * ROW / 2) as u64;
    match kind {
        Kind::InPlace => {
            assert!(file.len().unwrap() - file.allocated().unwrap() > saved, "pages lie in holes")
        }
        Kind::OutOfPlace => assert!(file.len().unwrap() < saved, "pages lie side by side"),
    }
    world.disk.limit_space(Some(world.disk.used_space()));
    world
}

/// Fills rows with noise, a transaction for each, until that is refused. How often it was not.
fn until_refused(world: &mut World, ids: std::ops::Range<i64>, from: u64) -> u64 {
    for change in from.. {
        assert!(change < from + 1_000_000, "changes are never refused");
        let mut client = Client::new(&world.engine, &world.table);
        let id = ids.start + change as i64 % (ids.end - ids.start);
        match client.update(id, |old| *old = row(id, Some(change))) {
            Ok(found) => assert!(found),
            Err(error) => {
                assert_eq!(error, Error::TableFull("t".to_owned()));
                return change - from;
            }
        }
        client.commit();
        world.rows.insert(id, row(id, Some(change)));
    }
    unreachable!()
}

/// Calls until it succeeds.
fn soon<T>(mut attempt: impl FnMut() -> Result<T, Error>) -> T {
    let start = Instant::now();
    loop {
        match attempt() {
            Ok(value) => return value,
            Err(error) => assert!(start.elapsed() < PATIENCE, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Ends an engine as a power cut does. Its cleaners are always writing.
fn end(engine: Arc<Engine>) {
    engine.pool.abandon();
    crash(engine);
}

/// The committed rows are what there is, before and after a crash.
fn check_rows(world: World) {
    let World { disk, engine, table, rows } = world;
    let expected: Vec<Row> = rows.into_values().collect();
    assert!(Client::new(&engine, &table).scan(0) == expected);
    end(engine);
    drop(table);
    disk.crash(CrashKeeps::Random);
    let engine = open(&disk, small(1024, 64 << 20));
    let table = super::harness::table(&engine, "t");
    assert!(Client::new(&engine, &table).scan(0) == expected);
    soon(|| engine.rollback_step().map(|_| ()));
    while engine.purge_step().unwrap() {}
    check(&engine, &table);
}

/// Runs on a thread of its own, so that what waits for ever fails.
fn in_time(test: impl FnOnce() + Send + 'static) {
    let (done, ended) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        test();
        let _ = done.send(());
    });
    match ended.recv_timeout(2 * PATIENCE) {
        Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("it stands still"),
        _ => thread.join().unwrap(),
    }
}

/// What a full disk leaves possible, and that everything is as before once there is room.
fn changes_are_refused_in_time(config: EngineConfig, kind: Kind) {
    let mut world = world(config, kind);
    let mut open = Client::new(&world.engine, &world.table);
    for id in 0..50 {
        assert!(open.delete(id).unwrap());
    }
    for id in ROWS..ROWS + 50 {
        open.insert(&row(id, Some(id as u64))).unwrap();
    }
    // Not the rows that the open transaction has locked.
    until_refused(&mut world, 50..ROWS, 0);

    // Another table is refused, too; what is there is read, and what is open is rolled back.
    let other = super::harness::table(&world.engine, "other");
    let refused = Client::new(&world.engine, &other).insert(&row(1, None));
    assert_eq!(refused, Err(Error::TableFull("other".to_owned())));
    let mut client = Client::new(&world.engine, &world.table);
    assert_eq!(client.read(60), world.rows.get(&60).cloned());
    open.rollback();
    assert_eq!(client.scan(0).len(), world.rows.len());
    drop((client, open));

    // DROP TABLE is carried out, and here makes no room for what is missing.
    let lock = lock(&world.engine, &["other"]);
    wait(world.engine.drop_tables(&lock, &[TableName::new("test", "other")])).unwrap();
    drop((lock, other));

    world.disk.limit_space(None);
    soon(|| match world.engine.pool.full_disk_pressure() {
        None => Ok(()),
        Some(_) => Err(Error::DiskFull),
    });
    let mut client = Client::new(&world.engine, &world.table);
    for id in 0..50 {
        client.insert(&row(ROWS + id, Some(1))).unwrap();
        world.rows.insert(ROWS + id, row(ROWS + id, Some(1)));
    }
    client.commit();
    drop(client);
    check_rows(world);
}

#[test]
fn a_pool_full_of_pages_that_have_no_room_refuses_changes_and_goes_on() {
    in_time(|| changes_are_refused_in_time(small(1024, 256 << 20), Kind::InPlace));
}

/// The same where pages that become larger want longer runs.
#[test]
fn a_pool_full_of_pages_that_find_no_run_refuses_changes_and_goes_on() {
    in_time(|| changes_are_refused_in_time(small(1024, 256 << 20), Kind::OutOfPlace));
}

#[test]
fn sessions_that_wait_when_the_disk_becomes_full_are_told() {
    in_time(|| {
        let mut world = world(small(512, 16 << 20), Kind::InPlace);
        // Many at once: they find the log or the pool used up together.
        let threads: Vec<_> = (0..8u64)
            .map(|thread| {
                let (engine, table) = (world.engine.clone(), world.table.clone());
                std::thread::spawn(move || {
                    let mut kept = BTreeMap::new();
                    for change in 0.. {
                        let id = (thread as i64) + 8 * (change % (ROWS as u64 / 8)) as i64;
                        let seed = change << 8 | thread;
                        let mut client = Client::new(&engine, &table);
                        match client.update(id, |old| *old = row(id, Some(seed))) {
                            Ok(found) => assert!(found),
                            Err(error) => {
                                assert_eq!(error, Error::TableFull("t".to_owned()));
                                break;
                            }
                        }
                        client.commit();
                        kept.insert(id, row(id, Some(seed)));
                    }
                    kept
                })
            })
            .collect();
        for thread in threads {
            world.rows.extend(thread.join().unwrap());
        }
        // It is so again and again while the disk is full.
        assert!(until_refused(&mut world, 0..ROWS, 1 << 40) < 1000);
        // A power cut while it is full: the start has what it needs.
        let World { disk, engine, table, rows } = world;
        end(engine);
        drop(table);
        disk.crash(CrashKeeps::Everything);
        let engine = open(&disk, small(2048, 8 << 20));
        let table = super::harness::table(&engine, "t");
        disk.limit_space(None);
        check_rows(World { disk, engine, table, rows });
    });
}

/// Without threads, the cleaner's steps come when they are called for.
#[test]
fn deletes_go_on_for_longer_than_updates_and_rollbacks_for_longest() {
    let config = EngineConfig { background: false, page_cleaners: 1, ..small(2048, 8 << 20) };
    let World { disk, engine, table, mut rows } = world(config, Kind::InPlace);
    let pressure = || engine.pool.full_disk_pressure();
    let mut change = |id: i64| {
        let mut client = Client::new(&engine, &table);
        client.update(id, |old| *old = row(id, Some(id as u64)))?;
        client.commit();
        rows.insert(id, row(id, Some(id as u64)));
        Ok::<_, Error>(())
    };
    // Until the last page that has room has been written.
    let mut ids = 0..ROWS;
    while pressure().is_none() {
        ids.by_ref().take(20).for_each(|id| change(id).unwrap());
        _ = engine.pool.checkpoint_sharply();
    }
    let mut open = Client::new(&engine, &table);
    let mut refused = Ok(());
    while refused.is_ok() {
        let id = ids.next().unwrap();
        match id % 2 {
            0 => refused = change(id),
            _ => refused = open.update(id, |old| old.c.reverse()).map(|_| ()),
        }
        _ = engine.clean_step();
    }
    assert_eq!(refused, Err(Error::TableFull("t".to_owned())));
    let at = pressure().unwrap();
    assert!((0.6..0.7).contains(&at), "{at}");
    // Most of what a delete leaves in the log is undo of the whole row.
    let mut deletes = Client::new(&engine, &table);
    let refused = loop {
        match deletes.delete(ids.next().unwrap()) {
            Ok(was_there) => assert!(was_there),
            Err(error) => break error,
        }
    };
    assert_eq!(refused, Error::TableFull("t".to_owned()));
    let at = pressure().unwrap();
    assert!((0.8..0.9).contains(&at), "{at}");
    deletes.rollback();
    open.rollback();
    assert!(pressure().unwrap() < 1.0);
    disk.limit_space(None);
    while pressure().is_some() {
        _ = engine.clean_step();
    }
    change(0).unwrap();
    drop((open, deletes));
    check_rows(World { disk, engine, table, rows });
}

/// Finds the disk too full for some writes to the files of tables, and writes half of them.
#[derive(Default)]
struct Holes {
    /// Writes until then.
    before: AtomicU64,
    /// How many are refused then.
    refused: AtomicU64,
}

impl Holes {
    fn refuses(&self) -> bool {
        let counted = |counter: &AtomicU64| {
            counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
        };
        !counted(&self.before) && counted(&self.refused)
    }
}

impl Overlay for Holes {
    fn write_at(&self, path: &Path, file: &dyn File, bytes: &[u8], offset: u64) -> io::Result<()> {
        if path.to_string_lossy().contains("spaces") && self.refuses() {
            file.write_at(&bytes[..bytes.len() / 2], offset)?;
            return Err(io::ErrorKind::StorageFull.into());
        }
        file.write_at(bytes, offset)
    }
}

#[test]
fn every_write_to_a_table_may_find_the_disk_full() {
    let mut random = Prng::new(test_seed(11));
    let mut nth = 0;
    loop {
        let seed = random.next_u64();
        let below = Arc::new(FaultFileSystem::new(seed));
        let overlay = Holes { before: AtomicU64::new(u64::MAX), refused: AtomicU64::new(0) };
        let disk = Arc::new(OverlayFileSystem::new(below.clone(), overlay));
        let config = EngineConfig {
            background: false,
            page_cleaners: 1,
            undo_reserve: 0,
            redo_log_capacity: 8 << 20,
            ..quiet()
        };
        let engine = Engine::open(config.clone(), disk.clone()).unwrap();
        create_schema(&engine);
        let table = create_table(&engine, compressed("t"));
        engine.pool.checkpoint_sharply().unwrap();
        disk.overlay().refused.store(1 + random.below(4), Ordering::Relaxed);
        disk.overlay().before.store(nth, Ordering::Relaxed);
        let (mut rows, mut refusals) = (BTreeMap::new(), 0);
        for turn in 0..12 {
            let mut client = Client::new(&engine, &table);
            let mut changed = rows.clone();
            for _ in 0..10 {
                let id = random.below(60) as i64;
                let new = row(id, random.one_in(2).then_some(random.next_u64()));
                match changed.contains_key(&id) {
                    false => client.insert(&new).unwrap(),
                    true if random.one_in(3) => {
                        assert!(client.delete(id).unwrap());
                        changed.remove(&id);
                        continue;
                    }
                    true => assert!(client.update(id, |old| *old = new.clone()).unwrap()),
                }
                changed.insert(id, new);
            }
            match random.one_in(4) {
                true => client.rollback(),
                false => {
                    client.commit();
                    rows = changed;
                }
            }
            refusals += u32::from(engine.pool.checkpoint_sharply().is_err());
            if turn % 4 == 3 {
                refusals += u32::from(engine.clean_step().is_err());
            }
        }
        let was_hit = disk.overlay().before.load(Ordering::Relaxed) == 0;
        let expected: Vec<Row> = rows.into_values().collect();
        assert!(Client::new(&engine, &table).scan(0) == expected);
        end(engine);
        drop(table);
        below.crash(*random.pick(&[CrashKeeps::Synced, CrashKeeps::Random, CrashKeeps::Everything]));
        // A start may find it full as well: where a page is torn, it cannot do without.
        let engine = soon(|| Engine::open(config.clone(), disk.clone()));
        let table = super::harness::table(&engine, "t");
        assert!(Client::new(&engine, &table).scan(0) == expected, "write {nth}, seed {seed}");
        engine.rollback_step().unwrap();
        while engine.purge_step().unwrap() {}
        check(&engine, &table);
        soon(|| engine.shutdown());
        if !was_hit {
            break;
        }
        assert!(refusals > 0 || nth > 0);
        nth += 1;
    }
    assert!(nth > 20, "{nth} writes were tried");
}
