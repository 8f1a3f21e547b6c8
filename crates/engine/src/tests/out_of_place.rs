//! Tables that are written out of place: their two files, and what is wrong when one of them is.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use palisade_base::checksum::crc32c;
use palisade_base::event::retry_blocking;
use palisade_buffer::PageSize;
use palisade_catalog::TableDef;
use palisade_io::{File, FileSystem, OpenMode, Overlay, OverlayFileSystem};

use super::harness::*;
use crate::{Engine, EngineConfig, Error, ForceRecovery, PageSinkKind, ReadMode, Table, TableName};

const OUT_OF_PLACE: (&str, &str) = ("PAGE_SINK", "out-of-place");

pub(super) fn placed(name: &str) -> TableDef {
    with_options(name, &[OUT_OF_PLACE])
}

fn with_options(name: &str, options: &[(&str, &str)]) -> TableDef {
    let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    TableDef { options, ..definition(name) }
}

fn text(id: i64) -> Vec<u8> {
    (0..700).map(|at| if at < 100 { (at * (id + 7)) as u8 } else { b'p' }).collect()
}

fn fill(engine: &Arc<Engine>, table: &Arc<Table>, rows: i64) {
    let mut client = Client::new(engine, table);
    for id in 0..rows {
        client.insert(&Row::new(id, id % 9, Some(id), &text(id))).unwrap();
    }
    client.commit();
}

/// A table `t` that is written out of place and `other` that is not, with rows.
fn two_tables() -> (Arc<dyn FileSystem>, Arc<Engine>, Arc<Table>) {
    let fs = memory();
    let engine = open(&fs);
    create_schema(&engine);
    let t = create_table(&engine, placed("t"));
    let other = create_table(&engine, in_place("other"));
    fill(&engine, &t, 200);
    fill(&engine, &other, 50);
    (fs, engine, t)
}

fn shut_down(engine: Arc<Engine>) {
    engine.shutdown().unwrap();
    drop(engine);
}

fn rows(engine: &Arc<Engine>, name: &str) -> Vec<Row> {
    Client::new(engine, &table(engine, name)).scan(0)
}

fn names(fs: &Arc<dyn FileSystem>) -> HashSet<String> {
    let name = |path: PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    fs.list(Path::new("/data/spaces")).unwrap().into_iter().map(name).collect()
}

fn files_of(table: &Table) -> [String; 2] {
    ["pal", "map"].map(|kind| format!("{:06}.{kind}", table.first_space_id().0))
}

fn path_of(name: &str) -> PathBuf {
    Path::new("/data/spaces").join(name)
}

fn bytes_of(fs: &Arc<dyn FileSystem>, name: &str) -> Vec<u8> {
    let mut bytes = vec![0; len(fs, name) as usize];
    fs.open(&path_of(name), OpenMode::EXISTING).unwrap().read_at(&mut bytes, 0).unwrap();
    bytes
}

fn len(fs: &Arc<dyn FileSystem>, name: &str) -> u64 {
    fs.open(&path_of(name), OpenMode::EXISTING).unwrap().len().unwrap()
}

/// So many maps are written by several threads, while rows change and after a crash.
#[test]
fn maps_of_many_tables_are_written_at_once_and_lose_nothing() {
    const TABLES: i64 = 24;
    let fs = memory();
    let name = |number: i64| format!("t{number}");
    let mut engine = open(&fs);
    create_schema(&engine);
    for number in 0..TABLES {
        let t = create_table(&engine, placed(&name(number)));
        fill(&engine, &t, 20 + number);
    }
    for round in 0..4 {
        let writer = {
            let engine = engine.clone();
            std::thread::spawn(move || {
                for number in 0..TABLES {
                    let mut client = Client::new(&engine, &table(&engine, &name(number)));
                    assert!(client.update(number % 20, |row| row.k = Some(1000 + round)).unwrap());
                    client.commit();
                }
            })
        };
        engine.pool.checkpoint_sharply().unwrap();
        writer.join().unwrap();
        engine.log.flush_blocking(engine.log.tail()).unwrap();
        match round % 2 {
            0 => shut_down(engine),
            _ => crash(engine),
        }
        engine = open(&fs);
        for number in 0..TABLES {
            let found = rows(&engine, &name(number));
            assert_eq!(found.len() as i64, 20 + number, "{}, round {round}", name(number));
            let changed = found.iter().filter(|row| row.k == Some(1000 + round)).count();
            assert_eq!(changed, 1, "{}, round {round}", name(number));
            check(&engine, &table(&engine, &name(number)));
        }
    }
}

#[test]
pub(super) fn rows_survive_shutdowns_and_crashes_as_in_any_table() {
    let (fs, engine, t) = two_tables();
    let expected = Client::new(&engine, &t).scan(0);
    drop(t);
    engine.log.flush_blocking(engine.log.tail()).unwrap();
    crash(engine);
    for round in 0..6 {
        let engine = open(&fs);
        assert_eq!(rows(&engine, "t"), expected, "round {round}");
        let t = table(&engine, "t");
        check(&engine, &t);
        let mut client = Client::new(&engine, &t);
        client.update(round, |row| row.k = Some(100)).unwrap();
        client.rollback();
        client.update(190, |row| row.u = Some(1000 + round)).unwrap();
        client.update(190, |row| row.u = Some(190)).unwrap();
        client.commit();
        drop((client, t));
        while engine.purge_step().unwrap() {}
        if round % 2 == 0 {
            engine.pool.checkpoint_sharply().unwrap();
        }
        match round % 3 {
            0 => shut_down(engine),
            _ => crash(engine),
        }
    }
}

#[test]
fn a_table_has_two_files_which_come_and_go_together() {
    let (fs, engine, t) = two_tables();
    let files = files_of(&t);
    assert!(files.iter().all(|name| names(&fs).contains(name)), "{:?}", names(&fs));
    assert!(!names(&fs).contains(&files_of(&table(&engine, "other"))[1]), "the other one has no map");
    let lock_t = lock(&engine, &["t"]);
    wait(engine.truncate_table(&lock_t, &TableName::new("test", "t"))).unwrap();
    let now = files_of(&table(&engine, "t"));
    assert!(files.iter().all(|name| !names(&fs).contains(name)), "{:?}", names(&fs));
    assert!(now.iter().all(|name| names(&fs).contains(name)), "{:?}", names(&fs));
    drop(t);
    wait(engine.drop_tables(&lock_t, &[TableName::new("test", "t")])).unwrap();
    assert!(now.iter().all(|name| !names(&fs).contains(name)), "{:?}", names(&fs));
}

/// What both files of a table take on the disk.
fn allocated(fs: &Arc<dyn FileSystem>, files: &[String; 2]) -> u64 {
    let of = |name: &String| fs.open(&path_of(name), OpenMode::EXISTING).unwrap().allocated().unwrap();
    files.iter().map(of).sum()
}

#[test]
fn an_empty_table_takes_64_kib_with_its_map() {
    for size in PageSize::ALL {
        at_size(size, || {
            let fs = memory();
            let engine = open(&fs);
            create_schema(&engine);
            let def = TableDef { indexes: definition("e").indexes[..1].to_vec(), ..placed("e") };
            let t = create_table(&engine, def);
            let files = files_of(&t);
            // Pages of other sizes: the same without the map, or four of them.
            let of_pages = (64 << 10).max(4 * size.bytes() as u64);
            let most = if size == PageSize::DEFAULT { of_pages } else { of_pages + 8192 };
            for round in ["made", "written"] {
                let bytes = allocated(&fs, &files);
                assert!(bytes <= most, "{bytes} of {most}, {round}");
                engine.pool.checkpoint_sharply().unwrap();
            }
            drop(t);
            shut_down(engine);
            let engine = open(&fs);
            let bytes = allocated(&fs, &files);
            assert!(bytes <= most, "{bytes} of {most}, after a start");
            let t = table(&engine, "e");
            for id in 0..300 {
                let mut client = Client::new(&engine, &t);
                client.insert(&Row::new(id, 1, Some(id), &text(id))).unwrap();
                client.commit();
                if id < 3 {
                    engine.pool.checkpoint_sharply().unwrap();
                }
            }
            drop(t);
            crash(engine);
            let engine = open(&fs);
            assert_eq!(rows(&engine, "e").len(), 300);
        });
    }
}

#[test]
fn what_a_crash_has_left_of_a_table_that_is_gone_is_removed() {
    let (fs, engine, _) = two_tables();
    shut_down(engine);
    for name in ["000900.map", "000901.pal"] {
        fs.open(&path_of(name), OpenMode::CREATE_NEW).unwrap();
    }
    let engine = open(&fs);
    assert_eq!(rows(&engine, "t").len(), 200);
    assert!(!names(&fs).contains("000900.map"), "{:?}", names(&fs));
}

#[test]
fn the_setting_is_for_tables_that_do_not_say_it_themselves() {
    let fs = memory();
    let config = EngineConfig { page_sink: PageSinkKind::OutOfPlace, ..quiet() };
    let engine = Engine::open(config, fs.clone()).unwrap();
    create_schema(&engine);
    let has_map = |def: TableDef| {
        let [_, map] = files_of(&create_table(&engine, def));
        names(&fs).contains(&map)
    };
    assert!(has_map(definition("a")));
    assert!(!has_map(with_options("b", &[("PAGE_SINK", "in-place")])));
    engine.set_page_sink(PageSinkKind::InPlace);
    assert!(!has_map(definition("c")));
    assert!(has_map(placed("d")));
}

#[test]
pub(super) fn compressed_pages_take_the_blocks_that_they_need() {
    let fs = memory();
    let engine = open(&fs);
    create_schema(&engine);
    let plain = create_table(&engine, placed("plain"));
    let packed = create_table(&engine, with_options("packed", &[OUT_OF_PLACE, ("COMPRESSION", "lz4")]));
    for table in [&plain, &packed] {
        fill(&engine, table, 3000);
    }
    engine.pool.checkpoint_sharply().unwrap();
    let [plain_file, packed_file] = [&plain, &packed].map(|table| files_of(table)[0].clone());
    let before = len(&fs, &packed_file);
    assert!(before * 2 < len(&fs, &plain_file), "{before} of {} bytes", len(&fs, &plain_file));

    // Rewritten again and again, the file grows by what a batch takes, once.
    let mut after = Vec::new();
    for round in 1..8 {
        let mut client = Client::new(&engine, &packed);
        for id in 0..3000 {
            client.update(id, |row| row.k = Some(round)).unwrap();
        }
        client.commit();
        while engine.purge_step().unwrap() {}
        engine.pool.checkpoint_sharply().unwrap();
        after.push(len(&fs, &packed_file));
    }
    let spare = before / 10 + (1 << 20);
    assert!(after.iter().all(|bytes| *bytes <= before + spare), "{before} bytes became {after:?}");

    let expected = Client::new(&engine, &packed).scan(0);
    drop((plain, packed));
    crash(engine);
    let engine = open(&fs);
    assert_eq!(rows(&engine, "packed"), expected);
    engine.pool.checkpoint_sharply().unwrap();
    assert!(len(&fs, &packed_file) <= before + spare, "recovery, too, takes no more than that");
}

/// Makes both slots of the first chunk unreadable.
fn damage_map(fs: &Arc<dyn FileSystem>, name: &str) -> Vec<u8> {
    let file = fs.open(&path_of(name), OpenMode::EXISTING).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_at(&mut bytes, 0).unwrap();
    file.write_at(&[0xa5; 64], 100).unwrap();
    file.write_at(&[0xa5; 64], 4096 + 100).unwrap();
    bytes
}

#[test]
fn a_map_with_one_damaged_slot_is_none_and_with_two_only_its_table_is_unusable() {
    let (fs, engine, t) = two_tables();
    let [_, map] = files_of(&t);
    let expected = Client::new(&engine, &t).scan(0);
    drop(t);
    shut_down(engine);
    let file = fs.open(&path_of(&map), OpenMode::EXISTING).unwrap();
    file.write_at(&[0xa5], 2000).unwrap();
    let engine = open(&fs);
    assert_eq!(rows(&engine, "t"), expected);
    shut_down(engine);

    let whole = damage_map(&fs, &map);
    let engine = open(&fs);
    assert_eq!(rows(&engine, "other").len(), 50);
    let mut client = Client::new(&engine, &table(&engine, "t"));
    let error =
        client.scan_range(0, Default::default(), crate::Direction::Forward, ReadMode::Snapshot).unwrap_err();
    assert!(matches!(error, Error::Corrupted { .. }), "{error}");
    drop(client);
    shut_down(engine);
    fs.open(&path_of(&map), OpenMode::EXISTING).unwrap().write_at(&whole, 0).unwrap();
    assert_eq!(rows(&open(&fs), "t"), expected, "it is what it was");
}

#[test]
fn redo_for_a_table_whose_map_is_damaged_is_not_given_up_unasked() {
    let (fs, engine, t) = two_tables();
    let [_, map] = files_of(&t);
    engine.pool.checkpoint_sharply().unwrap();
    let mut client = Client::new(&engine, &t);
    client.update(3, |row| row.k = Some(77)).unwrap();
    client.commit();
    drop((client, t));
    engine.log.flush_blocking(engine.log.tail()).unwrap();
    crash(engine);
    let whole = damage_map(&fs, &map);
    let error = Engine::open(quiet(), fs.clone()).map(drop).unwrap_err().to_string();
    assert!(error.contains("put its map back"), "{error}");
    fs.open(&path_of(&map), OpenMode::EXISTING).unwrap().write_at(&whole, 0).unwrap();
    let engine = open(&fs);
    assert_eq!(rows(&engine, "t")[3].k, Some(77));
    drop(engine);
    damage_map(&fs, &map);
    let engine = open_by_force(&fs);
    assert_eq!(rows(&engine, "other").len(), 50);
    assert_eq!(rows(&engine, "t")[3].k, Some(77), "its map was made again");
}

fn open_by_force(fs: &Arc<dyn FileSystem>) -> Arc<Engine> {
    let force = EngineConfig { force_recovery: ForceRecovery::IgnoreDamage, ..quiet() };
    Engine::open(force, fs.clone()).unwrap()
}

/// Maps that are gone or damaged, after a shutdown and after a crash: with force each is made again, once.
#[test]
fn a_lost_map_is_made_again_by_force() {
    for round in 0..12 {
        let (fs, engine, t) = two_tables();
        let [pages, map] = files_of(&t);
        if round % 2 == 0 {
            engine.pool.checkpoint_sharply().unwrap();
        }
        let mut client = Client::new(&engine, &t);
        for id in (0..150).step_by(2) {
            client.update(id, |row| row.k = Some(round)).unwrap();
        }
        client.commit();
        let expected = client.scan(0);
        drop((client, t));
        engine.log.flush_blocking(engine.log.tail()).unwrap();
        match round % 4 {
            0 | 1 => shut_down(engine),
            _ => crash(engine),
        }
        match round / 4 {
            0 => fs.remove(&path_of(&map)).unwrap(),
            1 => drop(damage_map(&fs, &map)),
            // It reads as if it had never been written.
            _ => fs.open(&path_of(&map), OpenMode::EXISTING).unwrap().write_at(&[0; 8192], 0).unwrap(),
        }
        if (4..7).contains(&round) {
            // The header, too, which the pages that have been written make up for.
            fs.open(&path_of(&pages), OpenMode::EXISTING).unwrap().write_at(&[7; 100], 0).unwrap();
        }
        let engine = open_by_force(&fs);
        let t = table(&engine, "t");
        check(&engine, &t);
        assert_eq!(Client::new(&engine, &t).scan(0), expected, "round {round}");
        drop(t);
        shut_down(engine);
        let engine = open(&fs);
        assert_eq!(rows(&engine, "t"), expected, "round {round}");
        assert!(names(&fs).iter().all(|name| !name.ends_with(".new")), "{:?}", names(&fs));
    }
}

/// Every use of a table is refused, because its map is damaged or cannot be read.
fn assert_unusable(engine: &Arc<Engine>, name: &str) -> Error {
    let t = table(engine, name);
    let error = retry_blocking(|| t.reserve_auto_increment(1, 1, 1)).map(drop).unwrap_err();
    let row = Row::new(1_000_000, 1, None, b"x");
    Client::new(engine, &t).insert(&row).unwrap_err();
    let range = Default::default();
    let mut client = Client::new(engine, &t);
    client.scan_range(0, range, crate::Direction::Forward, ReadMode::Snapshot).unwrap_err();
    error
}

/// Pages of 4096 bytes, so that a table of a few megabytes has a map of two parts.
fn large_table(fs: &Arc<dyn FileSystem>) -> (Arc<Engine>, Arc<Table>) {
    let engine = open(fs);
    create_schema(&engine);
    fill(&engine, &create_table(&engine, in_place("other")), 50);
    let t = create_table(&engine, placed("t"));
    let mut client = Client::new(&engine, &t);
    for id in 0..2600 {
        client.insert(&Row::new(id, id % 9, Some(id), &[id as u8; 1500])).unwrap();
    }
    client.commit();
    drop(client);
    (engine, t)
}

#[test]
fn zeros_in_a_map_are_damage_and_not_pages_that_were_never_written() {
    at_size(PageSize::LEAST, || {
        let fs = memory();
        let (engine, t) = large_table(&fs);
        let [pages, map] = files_of(&t);
        let expected = Client::new(&engine, &t).scan(0);
        drop(t);
        shut_down(engine);
        assert!(len(&fs, &map) >= 2 * 8192, "the table is too small for this test");
        for part in [0, 1] {
            let whole = bytes_of(&fs, &map);
            let map_file = fs.open(&path_of(&map), OpenMode::EXISTING).unwrap();
            map_file.write_at(&[0; 8192], part * 8192).unwrap();
            let (pages_before, map_before) = (bytes_of(&fs, &pages), bytes_of(&fs, &map));
            let engine = open(&fs);
            assert!(matches!(assert_unusable(&engine, "t"), Error::Corrupted { .. }));
            assert_eq!(rows(&engine, "other").len(), 50);
            shut_down(engine);
            assert!(bytes_of(&fs, &pages) == pages_before && bytes_of(&fs, &map) == map_before);

            // Put back, it is what it was; and it is made again by force.
            map_file.write_at(&whole, 0).unwrap();
            let engine = open(&fs);
            assert!(rows(&engine, "t") == expected);
            shut_down(engine);
            map_file.write_at(&[0; 8192], part * 8192).unwrap();
            drop(map_file);
            let engine = open_by_force(&fs);
            assert!(rows(&engine, "t") == expected);
            check(&engine, &table(&engine, "t"));
            shut_down(engine);
            assert!(rows(&open(&fs), "t") == expected);
        }
    });
}

/// The version in the header of a file of pages.
fn version_of(fs: &Arc<dyn FileSystem>, pages: &str) -> u32 {
    u32::from_le_bytes(bytes_of(fs, pages)[12..16].try_into().unwrap())
}

#[test]
fn a_table_whose_map_has_version_1_opens_and_gets_version_2() {
    let (fs, engine, t) = two_tables();
    let [pages, _] = files_of(&t);
    let expected = Client::new(&engine, &t).scan(0);
    drop(t);
    shut_down(engine);
    assert_eq!(version_of(&fs, &pages), 2);
    let file = fs.open(&path_of(&pages), OpenMode::EXISTING).unwrap();
    let mut head = bytes_of(&fs, &pages)[..24].to_vec();
    head[12] = 1;
    head[20..].fill(0);
    let checksum = crc32c(&head[4..20]);
    head[..4].copy_from_slice(&checksum.to_le_bytes());
    file.write_at(&head, 0).unwrap();
    drop(file);
    let engine = open(&fs);
    assert_eq!(rows(&engine, "t"), expected);
    let mut client = Client::new(&engine, &table(&engine, "t"));
    client.update(3, |row| row.k = Some(77)).unwrap();
    client.commit();
    drop(client);
    shut_down(engine);
    assert_eq!(version_of(&fs, &pages), 2);
    assert_eq!(rows(&open(&fs), "t")[3].k, Some(77));
}

/// When told to, no map can be read.
#[derive(Default)]
struct NoMaps(AtomicBool);

impl Overlay for NoMaps {
    fn read_at(&self, path: &Path, file: &dyn File, buf: &mut [u8], offset: u64) -> io::Result<()> {
        match self.0.load(Ordering::Relaxed) && path.extension().is_some_and(|kind| kind == "map") {
            true => Err(io::Error::from_raw_os_error(5)),
            false => file.read_at(buf, offset),
        }
    }
}

#[test]
fn a_map_that_cannot_be_read_for_a_moment_is_not_replaced_by_force() {
    let disk = Arc::new(OverlayFileSystem::new(memory(), NoMaps::default()));
    let fs: Arc<dyn FileSystem> = disk.clone();
    let engine = open(&fs);
    create_schema(&engine);
    let t = create_table(&engine, placed("t"));
    fill(&engine, &t, 200);
    let expected = Client::new(&engine, &t).scan(0);
    let [_, map] = files_of(&t);
    drop(t);
    shut_down(engine);
    let before = bytes_of(&fs, &map);
    disk.overlay().0.store(true, Ordering::Relaxed);
    let engine = open_by_force(&fs);
    assert_unusable(&engine, "t");
    shut_down(engine);
    disk.overlay().0.store(false, Ordering::Relaxed);
    assert!(bytes_of(&fs, &map) == before, "it was replaced");
    assert_eq!(rows(&open(&fs), "t"), expected);
}

#[test]
fn a_file_without_its_map_is_not_taken_for_one_that_is_in_order() {
    let (fs, engine, t) = two_tables();
    let [_, map] = files_of(&t);
    drop(t);
    shut_down(engine);
    fs.rename(&path_of(&map), Path::new("/data/elsewhere")).unwrap();
    let engine = open(&fs);
    let t = table(&engine, "t");
    let mut client = Client::new(&engine, &t);
    let error = retry_blocking(|| t.reserve_auto_increment(1, 1, 1)).map(drop).unwrap_err();
    assert!(matches!(error, Error::Corrupted { .. }), "{error}");
    client.scan_range(0, Default::default(), crate::Direction::Forward, ReadMode::Snapshot).unwrap_err();
    drop((client, t));
    shut_down(engine);
    fs.rename(Path::new("/data/elsewhere"), &path_of(&map)).unwrap();
    assert_eq!(rows(&open(&fs), "t").len(), 200);
}

/// After a crash, the log speaks of a table whose map is gone: nothing is written to its file, and the map
/// can be put back.
#[test]
fn redo_for_a_table_whose_map_is_gone_touches_nothing() {
    let (fs, engine, t) = two_tables();
    let [pages, map] = files_of(&t);
    let expected = Client::new(&engine, &t).scan(0);
    engine.pool.checkpoint_sharply().unwrap();
    let mut client = Client::new(&engine, &t);
    client.update(3, |row| row.k = Some(77)).unwrap();
    client.update(3, |row| row.k = Some(3)).unwrap();
    client.commit();
    engine.log.flush_blocking(engine.log.tail()).unwrap();
    drop((client, t));
    crash(engine);
    let before = bytes_of(&fs, &pages);
    fs.rename(&path_of(&map), Path::new("/data/elsewhere")).unwrap();
    let error = Engine::open(quiet(), fs.clone()).map(drop).unwrap_err().to_string();
    assert!(error.contains("put its map back"), "{error}");
    assert!(bytes_of(&fs, &pages) == before);
    fs.rename(Path::new("/data/elsewhere"), &path_of(&map)).unwrap();
    assert_eq!(rows(&open(&fs), "t"), expected);
}

/// A map that a crash has left of a table that did not come into being is not taken for the next one's.
#[test]
fn a_leftover_map_is_no_table_of_the_next() {
    let (fs, engine, t) = two_tables();
    let next = t.first_space_id().0 + 20;
    for id in t.first_space_id().0 + 1..next {
        let name = path_of(&format!("{id:06}.map"));
        if !fs.exists(&name).unwrap() {
            fs.open(&name, OpenMode::CREATE_NEW).unwrap();
        }
    }
    let plain = create_table(&engine, in_place("plain"));
    let placed = create_table(&engine, placed("placed"));
    fill(&engine, &plain, 10);
    fill(&engine, &placed, 10);
    assert!(!names(&fs).contains(&files_of(&plain)[1]));
    drop((t, plain, placed));
    shut_down(engine);
    let engine = open(&fs);
    assert_eq!((rows(&engine, "plain").len(), rows(&engine, "placed").len()), (10, 10));
}

/// Waits until a condition holds that the cleaners bring about.
fn eventually(what: &str, holds: impl Fn() -> bool) {
    let begin = std::time::Instant::now();
    while !holds() {
        assert!(begin.elapsed() < std::time::Duration::from_secs(60), "{what}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

fn room(fs: &Arc<dyn FileSystem>, file: &str) -> u64 {
    fs.open(&path_of(file), OpenMode::EXISTING).unwrap().allocated().unwrap()
}

fn delete(engine: &Arc<Engine>, table: &Arc<Table>, ids: std::ops::Range<i64>) {
    let mut client = Client::new(engine, table);
    for id in ids {
        assert!(client.delete(id).unwrap());
    }
    client.commit();
    drop(client);
    while engine.purge_step().unwrap() {}
}

/// Rows that are deleted and purged give their room back to the disk while the engine runs; their table takes
/// it again, and no more.
#[test]
fn the_room_of_deleted_rows_goes_back_and_is_taken_again() {
    for options in [&[OUT_OF_PLACE][..], &[OUT_OF_PLACE, ("COMPRESSION", "lz4")]] {
        let fs = memory();
        let engine = open(&fs);
        create_schema(&engine);
        let t = create_table(&engine, with_options("t", options));
        const ROWS: i64 = 12_000;
        fill(&engine, &t, ROWS);
        engine.pool.checkpoint_sharply().unwrap();
        let file = files_of(&t)[0].clone();
        let (all, length) = (room(&fs, &file), len(&fs, &file));
        for round in 0..2 {
            delete(&engine, &t, 300..ROWS);
            eventually(&format!("{options:?}: {} of {all} bytes", room(&fs, &file)), || {
                engine.pool.checkpoint_sharply().unwrap();
                room(&fs, &file) * 2 < all + (2 << 20)
            });
            check(&engine, &t);
            fill_more(&engine, &t, 300..ROWS);
            engine.pool.checkpoint_sharply().unwrap();
            let spare = length / 10 + (1 << 20);
            assert!(len(&fs, &file) <= length + spare, "round {round}: {length}, {}", len(&fs, &file));
            assert!(room(&fs, &file) <= length + spare, "round {round}");
            assert_eq!(rows(&engine, "t").len() as i64, ROWS);
            check(&engine, &t);
        }
        // Once more, over a crash and a start that finds holes.
        delete(&engine, &t, 300..ROWS);
        eventually("holes before the crash", || {
            engine.pool.checkpoint_sharply().unwrap();
            room(&fs, &file) * 2 < all + (2 << 20)
        });
        drop(t);
        crash(engine);
        let engine = open(&fs);
        let t = table(&engine, "t");
        assert_eq!(rows(&engine, "t").len(), 300);
        check(&engine, &t);
        fill_more(&engine, &t, 300..ROWS);
        engine.pool.checkpoint_sharply().unwrap();
        assert!(len(&fs, &file) <= length + length / 10 + (1 << 20));
        check(&engine, &t);
        drop(t);
        shut_down(engine);
    }
}

/// A map that is made again finds copies of pages that have been free since, and of some more than one; they
/// are used again all the same.
#[test]
fn a_map_made_again_knows_which_pages_are_free() {
    for round in 0..4 {
        let (fs, engine, t) = two_tables();
        fill_more(&engine, &t, 200..3000);
        engine.pool.checkpoint_sharply().unwrap();
        delete(&engine, &t, 100..3000);
        if round % 2 == 0 {
            engine.pool.checkpoint_sharply().unwrap();
        }
        let expected = Client::new(&engine, &t).scan(0);
        let [_, map] = files_of(&t);
        drop(t);
        engine.log.flush_blocking(engine.log.tail()).unwrap();
        match round / 2 {
            0 => shut_down(engine),
            _ => crash(engine),
        }
        fs.remove(&path_of(&map)).unwrap();
        let engine = open_by_force(&fs);
        assert_eq!(rows(&engine, "t"), expected, "round {round}");
        check(&engine, &table(&engine, "t"));
        shut_down(engine);
        let engine = open(&fs);
        let t = table(&engine, "t");
        fill_more(&engine, &t, 100..3000);
        assert_eq!(rows(&engine, "t").len(), 3000, "round {round}");
        check(&engine, &t);
    }
}

/// A map that is made again finds nothing of the last pages of a table, which are blank, in a file that is
/// shorter than the table: they are pages of it all the same.
#[test]
fn a_map_made_again_knows_of_blank_pages_at_the_end() {
    let fs = memory();
    let engine = open(&fs);
    create_schema(&engine);
    let t = create_table(&engine, with_options("t", &[OUT_OF_PLACE, ("COMPRESSION", "lz4")]));
    const ROWS: i64 = 24_000;
    fill(&engine, &t, ROWS);
    engine.pool.checkpoint_sharply().unwrap();
    let [file, map] = files_of(&t);
    let all = room(&fs, &file);
    delete(&engine, &t, 300..ROWS);
    eventually("the room of deleted rows goes back", || {
        engine.pool.checkpoint_sharply().unwrap();
        room(&fs, &file) * 2 < all + (2 << 20)
    });
    let pages = t.sole_partition().space().pages();
    drop(t);
    shut_down(engine);
    let slots = len(&fs, &file) / config().page_size.bytes() as u64;
    assert!(
        slots + 2 * 64 < u64::from(pages),
        "{slots} of {pages} pages: the table is too small for this test"
    );
    fs.remove(&path_of(&map)).unwrap();
    let engine = open_by_force(&fs);
    assert_eq!(rows(&engine, "t").len(), 300);
    check(&engine, &table(&engine, "t"));
    shut_down(engine);
    let engine = open(&fs);
    let t = table(&engine, "t");
    fill_more(&engine, &t, 300..ROWS);
    check(&engine, &t);
}

fn fill_more(engine: &Arc<Engine>, table: &Arc<Table>, ids: std::ops::Range<i64>) {
    let mut client = Client::new(engine, table);
    for id in ids {
        client.insert(&Row::new(id, id % 9, Some(id), &text(id))).unwrap();
    }
    client.commit();
}
