//! Pages whose checksum is right and whose content is wrong, as a bug or a bad memory chip leaves them:
//! everything that reads or changes them ends with an error or an answer, and nothing panics, goes on for
//! ever or takes memory without bound.
//!
//! Each round takes a data directory - one that was shut down, or one that a crash left with a transaction in
//! flight and with history - changes one page of one file, makes its checksum right, and uses all of it: rows
//! by every index, changes of every kind, rollback, purge, CHECK TABLE, TRUNCATE, DROP. The seed of a round
//! is printed before it; `PALISADE_SEED` begins with it, and `PALISADE_TEST_STEPS` multiplies the rounds.

mod maps;
mod undo;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use palisade_base::Blocked;
use palisade_base::checksum::crc32c;
use palisade_base::prng::{Prng, test_seed};
use palisade_catalog::RowView;
use palisade_io::{FileSystem, MemFileSystem, OpenMode};

use super::harness::{
    Client, Row, create_schema, create_table, definition, in_place, key, quiet, range, wait,
};
use crate::{
    Attempt, Direction, Engine, EngineConfig, Error, ExclusiveLock, ForceRecovery, KeyRange, LockMode,
    LockWait, ReadMode, RowBatch, RowBuf, RowStamp, Scan, TableName,
};

const PAGE: usize = 16384;
const ROWS: i64 = 240;
/// More rows than a scan of a damaged table may give: pages that are reached twice are an error.
const MOST_ROWS: usize = 100 * ROWS as usize;
/// The longest that a round takes.
const PATIENCE: Duration = Duration::from_secs(60);

type Files = BTreeMap<PathBuf, Vec<u8>>;

fn config() -> EngineConfig {
    EngineConfig {
        background: false,
        undo_reserve: 0,
        redo_log_capacity: 8 << 20,
        on_fatal: Some(Arc::new(|reason: &str| panic!("the process would end: {reason}"))),
        ..quiet()
    }
}

fn files(fs: &dyn FileSystem) -> Files {
    let dirs = ["/data", "/data/#log", "/data/spaces"].map(Path::new);
    let names = dirs.into_iter().flat_map(|dir| fs.list(dir).unwrap());
    let names = names.filter(|name| !name.ends_with("palisade.lock"));
    let contents = names.map(|name| {
        let file = fs.open(&name, OpenMode::EXISTING).unwrap();
        let mut bytes = vec![0; file.len().unwrap() as usize];
        file.read_at(&mut bytes, 0).unwrap();
        (name, bytes)
    });
    contents.collect()
}

/// A directory with two tables, one of them with history. `crashed`: with a transaction in flight.
fn directory(crashed: bool) -> Files {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let engine = Engine::open(config(), fs.clone()).unwrap();
    create_schema(&engine);
    let tables = ["t", "other"].map(|name| create_table(&engine, in_place(name)));
    for table in &tables {
        let mut client = Client::new(&engine, table);
        for id in 0..ROWS {
            let len = if id % 40 == 7 { 60_000 } else { 700 };
            client.insert(&Row::new(id, id % 7, Some(id), &vec![id as u8; len])).unwrap();
        }
        client.commit();
    }
    let mut reader = Client::new(&engine, &tables[0]);
    assert!(reader.read(1).is_some());
    let mut client = Client::new(&engine, &tables[0]);
    for id in (0..ROWS).step_by(3) {
        client.update(id, |row| (row.k, row.c) = (Some(9), vec![7; 500])).unwrap();
    }
    for id in (1..ROWS).step_by(5) {
        client.delete(id).unwrap();
    }
    client.commit();
    for id in (2..ROWS).step_by(6) {
        client.update(id, |row| row.k = Some(8)).unwrap();
        client.delete(id + 1).unwrap();
    }
    client.insert(&Row::new(1000, 1, None, &[1; 50_000])).unwrap();
    match crashed {
        true => drop((reader, client)),
        false => {
            client.rollback();
            reader.commit();
            drop((reader, client));
        }
    }
    engine.pool.checkpoint_sharply().unwrap();
    if !crashed {
        engine.shutdown().unwrap();
    }
    drop((tables, engine));
    files(&*fs)
}

/// A file of spaces and the number of one of its pages that has content.
fn choose(random: &mut Prng, files: &Files) -> (PathBuf, usize) {
    let names: Vec<_> = files.keys().filter(|name| name.extension().is_some_and(|e| e == "pal")).collect();
    let name = (*random.pick(&names)).clone();
    let used: Vec<_> = files[&name]
        .chunks_exact(PAGE)
        .enumerate()
        .filter(|(_, page)| page.iter().any(|byte| *byte != 0))
        .map(|(number, _)| number)
        .collect();
    // The first pages - headers, roots, directories - as often as all others.
    let few = if random.one_in(2) { used.len().min(6) } else { used.len() };
    let page = used[random.below(few as u64) as usize];
    (name, page)
}

/// A number that is wrong in a way that some code may not expect.
fn odd_number(random: &mut Prng, page: usize, pages: usize, present: u64) -> u64 {
    match random.below(10) {
        0 => 0,
        1 => 1,
        2 => u64::MAX,
        3 => page as u64,
        4 => random.below(pages as u64 + 2),
        5 => present.wrapping_add(1),
        6 => present.wrapping_sub(1),
        7 => 1 << random.below(64),
        8 => PAGE as u64 - random.below(64),
        _ => random.next_u64(),
    }
}

/// Any place of a page's body.
fn any_place(random: &mut Prng) -> usize {
    match random.below(4) {
        0 => 32 + random.below(32) as usize,
        1 => 64 + random.below(256) as usize,
        2 => PAGE - 1 - random.below(2048) as usize,
        _ => 32 + random.below(PAGE as u64 - 32) as usize,
    }
}

/// A field that means something on a page of its type: offset and width. See docs/format-pages.md and
/// docs/format-undo.md.
fn field(random: &mut Prng, page: &[u8]) -> (usize, usize) {
    let u16_at = |at: usize| usize::from(u16::from_le_bytes([page[at], page[at + 1]]));
    let fields: &[(usize, usize)] = match u16_at(12) {
        1 | 2 => match random.below(4) {
            0 => &[(32, 8), (40, 4)],
            1 => &[(44, 4), (48, 4), (64, 2), (66, 2), (68, 2), (70, 2)],
            _ => return (PAGE - 8184 + random.below(24) as usize, 1),
        },
        3 => {
            let slots = u16_at(42).min(1000);
            let slot = 64 + 8 * random.below(slots.max(1) as u64) as usize;
            let entry = u16_at(slot + 4).clamp(64, PAGE - 64);
            let value = entry + 2 + u16_at(slot + 6).saturating_sub(4).min(200);
            match random.below(6) {
                0 => return *random.pick(&[(slot, 4), (slot + 4, 2), (slot + 6, 2), (entry, 2)]),
                // A child; or writer, roll pointer and flags of a row and what comes after them.
                1..=3 => return (value + random.below(24) as usize, *random.pick(&[1, 2, 4, 6])),
                _ => &[
                    (32, 8),
                    (40, 2),
                    (42, 2),
                    (44, 2),
                    (46, 2),
                    (48, 4),
                    (52, 4),
                    (56, 2),
                    (58, 2),
                    (60, 2),
                ],
            }
        }
        4 => &[(32, 4), (36, 2)],
        16 => match random.below(3) {
            0 => &[(32, 8), (40, 4)],
            _ => return (64 + 4 * random.below(12) as usize, 4),
        },
        17 => match random.below(3) {
            0 => return (56 + random.below(u16_at(48).clamp(57, PAGE - 8) as u64 - 56) as usize, 1),
            _ => &[(32, 2), (34, 2), (36, 2), (38, 4), (42, 6), (48, 2), (52, 4)],
        },
        _ => return (32 + 2 * random.below(64) as usize, *random.pick(&[2, 4, 8])),
    };
    *random.pick(fields)
}

/// Damages one page. Gives a description.
fn damage(random: &mut Prng, files: &mut Files) -> String {
    let (name, number) = choose(random, files);
    let mut what = format!("{} page {number}", name.display());
    let bytes = files.get_mut(&name).unwrap();
    let pages = bytes.len() / PAGE;
    let other = bytes[random.below(pages as u64) as usize * PAGE..][..PAGE].to_vec();
    let page = &mut bytes[number * PAGE..][..PAGE];
    what += &format!(" type {}", u16::from_le_bytes([page[12], page[13]]));
    match random.below(12) {
        0 => {
            let kind = random.below(20) as u16;
            what += &format!(": type {kind}");
            page[12..14].copy_from_slice(&kind.to_le_bytes());
        }
        1 => {
            what += ": the body of another page";
            page[32..].copy_from_slice(&other[32..]);
        }
        2 => {
            let (at, len) = (any_place(random), 1 + random.below(200) as usize);
            let end = (at + len).min(PAGE);
            what += &format!(": {at}..{end} from another page");
            page[at..end].copy_from_slice(&other[at..end]);
        }
        3 => {
            let (at, len) = (any_place(random), 1 + random.below(64) as usize);
            let end = (at + len).min(PAGE);
            what += &format!(": {at}..{end} random");
            random.fill(&mut page[at..end]);
        }
        _ => {
            for _ in 0..=random.below(3) {
                let (at, width) = match random.one_in(6) {
                    true => (any_place(random).min(PAGE - 8), *random.pick(&[1, 2, 2, 4, 4, 6, 8])),
                    false => field(random, page),
                };
                let mut present = [0; 8];
                present[..width].copy_from_slice(&page[at..at + width]);
                let present = u64::from_le_bytes(present);
                let value = odd_number(random, number, pages, present);
                what += &format!(": {width} bytes at {at} = {value:#x}");
                page[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
            }
        }
    }
    let checksum = crc32c(&page[4..]);
    page[..4].copy_from_slice(&checksum.to_le_bytes());
    what
}

/// Calls it until it need not wait. A page comes, or a frame becomes free, at once, as there are no threads;
/// what is not there then is a lock that a transaction keeps which cannot be rolled back: the caller gives
/// up, as after a timeout.
fn attempt<T>(engine: &Engine, mut call: impl FnMut() -> Attempt<T>) -> Option<T> {
    for _ in 0..MOST_ROWS {
        match call() {
            Ok(value) => return Some(value),
            Err(Blocked::Error(error)) => {
                assert!(error != Error::ShuttingDown);
                return None;
            }
            Err(Blocked::Wait(event)) => {
                if !event.is_complete() && !engine.config().background {
                    let _ = engine.clean_step();
                }
                for _ in 0..if engine.config().background { 20 } else { 0 } {
                    if event.is_complete() {
                        break;
                    }
                    std::thread::sleep(Duration::from_millis(1));
                }
                if !event.is_complete() {
                    return None;
                }
            }
        }
    }
    panic!("an operation gets nowhere");
}

/// Goes through an index. What is wrong with a row is for its reader to find.
fn scan(
    engine: &Engine,
    client: &mut Client,
    index: usize,
    rows: KeyRange,
    direction: Direction,
    mode: ReadMode,
) {
    let table = client.table.clone();
    client.tx.cancel_wait();
    let mut scan = Scan::new(table.clone(), index, rows, direction, mode, false);
    let (mut batch, mut count) = (RowBatch::new(), 0);
    loop {
        match attempt(engine, || client.tx.scan_next(&mut scan, &mut batch)) {
            Some(true) => {
                for row in batch.iter() {
                    if let Ok(view) = RowView::new(&table, row.row) {
                        view.to_values();
                    }
                }
                count += batch.len();
                assert!(count < MOST_ROWS, "a scan does not end");
            }
            Some(false) | None => return,
        }
    }
}

/// The row as it is stored, if it makes sense.
fn read(
    engine: &Engine,
    client: &mut Client,
    index: usize,
    id: i64,
    mode: ReadMode,
) -> Option<(Vec<u8>, RowStamp)> {
    let table = client.table.clone();
    client.tx.cancel_wait();
    let (key, mut out) = (key(&table, index, id), RowBuf::new());
    let found = attempt(engine, || client.tx.point_read(&table, index, &key, mode, &mut out));
    let is_sound = found == Some(true)
        && RowView::new(&table, out.row()).is_ok_and(|view| view.to_values().len() == table.columns.len());
    is_sound.then(|| (out.row().to_vec(), out.stamp()))
}

fn change(engine: &Engine, client: &mut Client, random: &mut Prng) {
    let table = client.table.clone();
    for _ in 0..60 {
        let id = random.below(ROWS as u64 + 20) as i64;
        client.tx.cancel_wait();
        let new = Row::new(id, random.below(9) as i64, Some(id), &vec![1; random.below(900) as usize]);
        match random.below(3) {
            0 => {
                let long =
                    Row::new(2000 + id, 3, None, &vec![2; if random.one_in(8) { 40_000 } else { 300 }]);
                let bytes = long.encode(&table);
                attempt(engine, || client.tx.insert(&table, &bytes));
            }
            1 => {
                let Some((old, stamp)) = read(engine, client, 0, id, ReadMode::Current) else { continue };
                let new = new.encode(&table);
                attempt(engine, || client.tx.update(&table, stamp, &old, &new));
            }
            _ => {
                let Some((old, stamp)) = read(engine, client, 0, id, ReadMode::Current) else { continue };
                attempt(engine, || client.tx.delete(&table, stamp, &old));
            }
        }
    }
}

fn use_table(engine: &Arc<Engine>, name: &str, random: &mut Prng) {
    let Ok(found) = engine.dictionary().table("test", name).cloned() else { return };
    let locked = ReadMode::Locked(LockMode::Exclusive, LockWait::NoWait);
    let mut client = Client::new(engine, &found);
    let _ = found.statistics();
    for index in 0..3 {
        for direction in [Direction::Forward, Direction::Backward] {
            scan(engine, &mut client, index, KeyRange::default(), direction, ReadMode::Snapshot);
        }
        scan(engine, &mut client, index, range(&found, index, 3, 60), Direction::Forward, locked);
        for id in (0..ROWS).step_by(11) {
            let _ = read(engine, &mut client, index, id, ReadMode::Snapshot);
        }
    }
    let _ = wait(client.tx.rollback());
    for is_committed in [true, false, true] {
        change(engine, &mut client, random);
        let _ = match is_committed {
            true => wait(client.tx.commit()),
            false => wait(client.tx.rollback()),
        };
    }
}

fn check(engine: &Arc<Engine>) {
    for name in ["t", "other"] {
        let Ok(found) = engine.dictionary().table("test", name).cloned() else { continue };
        let _ = engine.check_table(&found);
    }
}

/// The lock for data definition, in_place, unless a transaction keeps the table.
fn locked(engine: &Arc<Engine>, name: &str) -> Option<ExclusiveLock> {
    let mut lock = ExclusiveLock::new(engine, [TableName::new("test", name)]);
    attempt(engine, || lock.acquire()).map(|()| lock)
}

fn use_all(engine: &Arc<Engine>, random: &mut Prng) {
    check(engine);
    for name in ["t", "other"] {
        use_table(engine, name, random);
    }
    let _ = engine.rollback_step();
    for _ in 0..2000 {
        if !engine.purge_step().unwrap_or(false) {
            break;
        }
    }
    let _ = engine.clean_step();
    use_table(engine, "t", random);
    check(engine);
    let name = TableName::new("test", "t");
    if let Some(guard) = locked(engine, "t") {
        let _ = wait(engine.truncate_table(&guard, &name));
    }
    use_table(engine, "t", random);
    if let Some(guard) = locked(engine, "t") {
        let _ = wait(engine.drop_tables(&guard, &[name]));
    }
    if let Some(guard) = locked(engine, "new") {
        let _ = wait(engine.create_table(&guard, definition("new")));
    }
    use_table(engine, "new", random);
}

fn round(seed: u64, whole: &Files) {
    let mut random = Prng::new(seed);
    let mut damaged = whole.clone();
    println!("round {seed}: {}", damage(&mut random, &mut damaged));
    use_directory(&damaged, &mut random);
}

/// Opens it, however much has to be given up for that, and uses all that is there.
fn use_directory(damaged: &Files, random: &mut Prng) {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    for (name, bytes) in damaged {
        fs.open(name, OpenMode::CREATE).unwrap().write_at(bytes, 0).unwrap();
    }
    let force = if random.one_in(5) { ForceRecovery::IgnoreDamage } else { ForceRecovery::Off };
    let engine = match Engine::open(EngineConfig { force_recovery: force, ..config() }, fs.clone()) {
        Ok(engine) => engine,
        Err(error) => {
            println!("  {error}");
            let forced = EngineConfig { force_recovery: ForceRecovery::NoUndo, ..config() };
            match Engine::open(forced, fs) {
                Ok(engine) => engine,
                Err(error) => return println!("  {error}"),
            }
        }
    };
    use_all(&engine, random);
    let _ = engine.shutdown();
}

/// Ends the process if the number that it is given stands still: a loop without end holds the test's only
/// thread.
fn watch(rounds: &Arc<AtomicU64>) -> mpsc::Sender<()> {
    let (sender, receiver) = mpsc::channel();
    let rounds = rounds.clone();
    std::thread::spawn(move || {
        let mut seen = rounds.load(Ordering::Relaxed);
        while receiver.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
            let now = rounds.load(Ordering::Relaxed);
            if now == seen {
                eprintln!("round {now} does not end: PALISADE_SEED={now} begins with it");
                std::process::abort();
            }
            seen = now;
        }
    });
    sender
}

#[test]
fn pages_with_wrong_content_are_errors() {
    let steps = std::env::var("PALISADE_TEST_STEPS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let rounds: u64 = 60 * steps;
    let first = test_seed(1);
    let directories = [directory(false), directory(true)];
    let now = Arc::new(AtomicU64::new(first));
    let _watched = watch(&now);
    let mut failed = Vec::new();
    for seed in first..first.wrapping_add(rounds) {
        now.store(seed, Ordering::Relaxed);
        let whole = &directories[(seed % 2) as usize];
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| round(seed, whole))).is_err() {
            failed.push(seed);
        }
    }
    assert!(failed.is_empty(), "rounds that panicked: {failed:?}");
}

/// What has once been a loop without end, or an abort: a field, and what it says then.
#[test]
fn links_that_lead_back_and_limits_that_cannot_be_are_errors() {
    type Value = fn(usize) -> u64;
    let own_number: Value = |page| page as u64;
    let fields: [(&str, u16, usize, usize, Value); 4] = [
        ("the next page of undo", 17, 52, 4, own_number),
        ("the next link of a chain", 4, 32, 4, own_number),
        ("the limit of transaction ids", 16, 32, 8, |_| u64::MAX),
        ("the newest undo record", 17, 36, 6, |page| (page as u64) << 16 | 56),
    ];
    let directories = [directory(false), directory(true)];
    let rounds = Arc::new(AtomicU64::new(0));
    let _watched = watch(&rounds);
    // Keys of a leaf that do not ascend led a scan round in a circle.
    round(5128, &directories[0]);
    for (what, kind, at, width, value) in fields {
        for whole in &directories {
            let is_meant = |page: &[u8]| page[12..14] == kind.to_le_bytes();
            let places = whole.iter().filter(|(name, _)| name.extension().is_some_and(|e| e == "pal"));
            let places = places.flat_map(|(name, bytes)| {
                let pages = bytes.chunks_exact(PAGE).enumerate().filter(|(_, page)| is_meant(page));
                pages.map(|(number, _)| (name.clone(), number)).take(3).collect::<Vec<_>>()
            });
            for (name, number) in places.collect::<Vec<_>>() {
                println!("{what} on page {number} of {}", name.display());
                rounds.fetch_add(1, Ordering::Relaxed);
                let mut damaged = whole.clone();
                let page = &mut damaged.get_mut(&name).unwrap()[number * PAGE..][..PAGE];
                page[at..at + width].copy_from_slice(&value(number).to_le_bytes()[..width]);
                let checksum = crc32c(&page[4..]);
                page[..4].copy_from_slice(&checksum.to_le_bytes());
                use_directory(&damaged, &mut Prng::new(1));
            }
        }
    }
}
