//! Headers and extent maps that are wrong, of a file whose other pages are as they were: what was in the
//! tables stays there, and what is committed stays committed. A page that two owners have would lose rows of
//! one of them.

use std::collections::BTreeMap;

use super::*;

/// Rows by id.
type Rows = BTreeMap<i64, Row>;

/// Damages a header, or the map on it. Gives a description.
fn damage_map(random: &mut Prng, files: &mut Files) -> String {
    // Undo gives room back to the disk: what its free pages hold says nothing (docs/decisions/088).
    let is_meant =
        |name: &&PathBuf| name.extension().is_some_and(|e| e == "pal") && !name.ends_with("000001.pal");
    let names: Vec<_> = files.keys().filter(is_meant).collect();
    let name = (*random.pick(&names)).clone();
    let bytes = files.get_mut(&name).unwrap();
    let pages = bytes.len() / PAGE;
    let page = &mut bytes[..PAGE];
    let mut what = format!("{}", name.display());
    for _ in 0..=random.below(3) {
        match random.below(6) {
            0 => {
                what += ": all is free";
                page[PAGE - 8184..].fill(0);
            }
            1 | 2 => {
                let at = PAGE - 8184 + random.below(pages.div_ceil(8).max(1) as u64) as usize;
                let bits = random.next_u64() as u8;
                what += &format!(": bits {bits:#x} at {at}");
                page[at] = bits;
            }
            3 => {
                let mark = match random.below(3) {
                    0 => random.below(pages as u64 + 2),
                    1 => pages as u64 + random.below(1 << 20),
                    _ => 1 << random.below(27),
                };
                what += &format!(": the mark is {mark}");
                page[44..48].copy_from_slice(&(mark as u32).to_le_bytes());
            }
            4 => {
                let group = random.next_u64() as u32 >> random.below(32);
                what += &format!(": the first group with free pages is {group}");
                page[48..52].copy_from_slice(&group.to_le_bytes());
            }
            _ => {
                let (at, count) = (64 + 2 * random.below(4) as usize, random.next_u64() as u16);
                what += &format!(": the count at {at} is {count}");
                page[at..at + 2].copy_from_slice(&count.to_le_bytes());
            }
        }
    }
    let checksum = crc32c(&page[4..]);
    page[..4].copy_from_slice(&checksum.to_le_bytes());
    what
}

fn rows(engine: &Arc<Engine>, name: &str, index: usize) -> Rows {
    let found = engine.dictionary().table("test", name).cloned().unwrap();
    let rows = Client::new(engine, &found).scan(index);
    rows.into_iter().map(|row| (row.id, row)).collect()
}

pub(super) fn open_files(files: &Files, config: EngineConfig) -> Result<Arc<Engine>, Error> {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    for (name, bytes) in files {
        fs.open(name, OpenMode::CREATE).unwrap().write_at(bytes, 0).unwrap();
    }
    Engine::open(config, fs)
}

/// One row is inserted, changed or deleted; what is then committed is in `expected`.
fn change_one(engine: &Arc<Engine>, client: &mut Client, random: &mut Prng, expected: &mut Rows) {
    let table = client.table.clone();
    let long = if random.one_in(6) { 20_000 + random.below(40_000) } else { random.below(1500) };
    let id = random.below(2 * ROWS as u64) as i64;
    let new = Row::new(id, random.below(9) as i64, Some(id), &vec![id as u8; long as usize]);
    let bytes = new.encode(&table);
    let is_new = !expected.contains_key(&id);
    client.tx.cancel_wait();
    let mut delete = false;
    let done = match is_new {
        true => attempt(engine, || client.tx.insert(&table, &bytes)).is_some(),
        false => {
            let Some((old, stamp)) = read(engine, client, 0, id, ReadMode::Current) else {
                // A transaction in flight keeps it.
                return drop(wait(client.tx.rollback()));
            };
            delete = random.one_in(2);
            match delete {
                true => attempt(engine, || client.tx.delete(&table, stamp, &old)).is_some(),
                false => attempt(engine, || client.tx.update(&table, stamp, &old, &bytes)).is_some(),
            }
        }
    };
    match done {
        true if wait(client.tx.commit()).is_err() => panic!("what was done cannot be committed"),
        true if delete => drop(expected.remove(&id)),
        true => drop(expected.insert(id, new)),
        false => drop(wait(client.tx.rollback())),
    }
}

fn map_round(seed: u64, whole: &Files, before: &[Rows; 2]) {
    let mut random = Prng::new(seed);
    let mut damaged = whole.clone();
    println!("maps {seed}: {}", damage_map(&mut random, &mut damaged));
    let engine = match open_files(&damaged, config()) {
        Ok(engine) => engine,
        Err(error) => return println!("  {error}"),
    };
    let names = ["t", "other"];
    let mut expected = before.clone();
    for _ in 0..4 {
        for (name, expected) in names.into_iter().zip(&mut expected) {
            let Ok(found) = engine.dictionary().table("test", name).cloned() else { continue };
            if found.check_usable().is_err() {
                continue;
            }
            let mut client = Client::new(&engine, &found);
            for _ in 0..40 {
                change_one(&engine, &mut client, &mut random, expected);
            }
        }
        let _ = engine.rollback_step();
        for _ in 0..200 {
            if !engine.purge_step().unwrap_or(false) {
                break;
            }
        }
        let _ = engine.clean_step();
        if let Some(guard) = locked(&engine, "new") {
            let _ = wait(engine.create_table(&guard, definition("new")));
            let _ = wait(engine.drop_tables(&guard, &[TableName::new("test", "new")]));
        }
    }
    for (name, expected) in names.into_iter().zip(&expected) {
        let Ok(found) = engine.dictionary().table("test", name).cloned() else { panic!("{name} is lost") };
        if found.check_usable().is_err() {
            continue;
        }
        for index in 0..3 {
            assert!(rows(&engine, name, index) == *expected, "rows of {name} by index {index}");
        }
        let report = engine.check_table(&found).unwrap();
        println!("  {name}: {report:?}");
    }
    let _ = engine.shutdown();
}

#[test]
fn a_wrong_map_harms_no_row() {
    let steps = std::env::var("PALISADE_TEST_STEPS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let rounds: u64 = 40 * steps;
    let first = test_seed(1);
    let directories = [directory(false), directory(true)];
    let before = directories.each_ref().map(|files| {
        let engine = open_files(files, config()).unwrap();
        engine.rollback_step().unwrap();
        ["t", "other"].map(|name| rows(&engine, name, 0))
    });
    let now = Arc::new(AtomicU64::new(first));
    let _watched = watch(&now);
    let mut failed = Vec::new();
    for seed in first..first.wrapping_add(rounds) {
        now.store(seed, Ordering::Relaxed);
        let which = (seed % 2) as usize;
        let run = || map_round(seed, &directories[which], &before[which]);
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err() {
            failed.push(seed);
        }
    }
    assert!(failed.is_empty(), "rounds that panicked: {failed:?}");
}

/// One thread holds a leaf and wants the header; another has the header and is given that leaf as a free
/// page.
#[test]
fn threads_that_a_wrong_map_leads_to_each_others_pages_come_to_an_end() {
    let mut damaged = directory(false);
    let tables = damaged
        .iter_mut()
        .filter(|(name, _)| name.extension().is_some_and(|e| e == "pal") && !name.ends_with("000000.pal"));
    for (_, bytes) in tables {
        let page = &mut bytes[..PAGE];
        page[PAGE - 8184..].fill(0);
        page[64..66].copy_from_slice(&u16::MAX.to_le_bytes());
        let checksum = crc32c(&page[4..]);
        page[..4].copy_from_slice(&checksum.to_le_bytes());
    }
    let background = EngineConfig { background: true, ..config() };
    let engine = open_files(&damaged, background).unwrap();
    let rounds = Arc::new(AtomicU64::new(0));
    let _watched = watch(&rounds);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (engine, rounds) = (&engine, &rounds);
            scope.spawn(move || {
                let found = engine.dictionary().table("test", "t").cloned().unwrap();
                let mut client = Client::new(engine, &found);
                for number in 0..150 {
                    let id = 10_000 + number * 4 + thread;
                    let row = Row::new(id, id % 9, Some(id), &[3; 1000]);
                    let kept = client.insert(&row).is_ok() && client.update(id, |row| row.k = None).is_ok();
                    let _ = match kept {
                        true => wait(client.tx.commit()),
                        false => wait(client.tx.rollback()),
                    };
                    rounds.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let before = ROWS - ROWS / 5;
    assert!(rows(&engine, "t", 0).len() as i64 >= before, "the rows that were there are there");
    engine.shutdown().unwrap();
}
