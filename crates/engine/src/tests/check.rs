//! The check of a whole directory: what is sound is found sound, and what is damaged is found and named.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palisade_base::clock::SystemClock;
use palisade_base::prng::{Prng, test_seed};
use palisade_io::{FileSystem, MemFileSystem, OpenMode};

use super::harness::*;
use super::out_of_place::placed;
use crate::check::{
    CheckConfig, DirectoryReport, Finding, Kind, Severity, TableCheckOptions, check_directory,
};
use crate::{Direction, Engine, KeyRange, ReadMode};

const PAGE: usize = 16384;
const ROWS: i64 = 300;

type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Every file but the lock, byte for byte.
fn files(fs: &Arc<dyn FileSystem>) -> Files {
    let dirs = ["/data", "/data/#log", "/data/spaces"].map(Path::new);
    let files = dirs.into_iter().flat_map(|dir| fs.list(dir).unwrap());
    let files = files.map(|path| {
        let file = fs.open(&path, OpenMode::EXISTING).unwrap();
        let mut bytes = vec![0; file.len().unwrap() as usize];
        file.read_at(&mut bytes, 0).unwrap();
        (path, bytes)
    });
    files.collect()
}

fn disk(files: &Files) -> Arc<dyn FileSystem> {
    let fs = memory();
    for dir in ["/data", "/data/#log", "/data/spaces"] {
        fs.create_dir_all(Path::new(dir)).unwrap();
    }
    for (path, bytes) in files {
        fs.open(path, OpenMode::CREATE).unwrap().write_at(bytes, 0).unwrap();
    }
    fs
}

pub(super) fn check_config() -> CheckConfig {
    CheckConfig {
        datadir: PathBuf::from("/data"),
        memory: 64 << 20,
        io_threads: 2,
        schema: None,
        table: None,
        options: TableCheckOptions::default(),
        clock: Arc::new(SystemClock::default()),
    }
}

/// Checks what is in `files`, and makes sure that nothing is changed.
fn checked_with(files: &Files, config: CheckConfig) -> DirectoryReport {
    let fs = disk(files);
    let checked = check_directory(config, fs.clone(), &mut |_| true).unwrap();
    drop(checked.engine);
    assert!(self::files(&fs) == *files, "a check changes nothing");
    checked.report
}

fn checked(files: &Files) -> DirectoryReport {
    checked_with(files, check_config())
}

fn bad(report: &DirectoryReport) -> Vec<&Finding> {
    report.findings.iter().filter(|finding| finding.severity > Severity::Note).collect()
}

fn is_clean(files: &Files) -> DirectoryReport {
    let report = checked(files);
    assert!(bad(&report).is_empty(), "{:#?}", report.findings);
    assert_eq!(report.start_error, None);
    assert!(!report.is_partial);
    report
}

fn long(id: i64) -> Vec<u8> {
    (0..60_000).map(|at| (at * (id + 3)) as u8).collect()
}

/// Two tables with rows of all kinds, some of them long, some changed, some deleted; `other` is written out
/// of place.
fn fill(engine: &Arc<Engine>) {
    create_schema(engine);
    for def in [in_place("t"), placed("other")] {
        let mut client = Client::new(engine, &create_table(engine, def));
        for id in 0..ROWS {
            let text = if id % 50 == 7 { long(id) } else { vec![id as u8; 400] };
            client.insert(&Row::new(id, id % 7, Some(id), &text)).unwrap();
        }
        client.commit();
    }
    change(engine, 1);
}

/// Changes and deletes rows, committed.
fn change(engine: &Arc<Engine>, by: i64) {
    let mut client = Client::new(engine, &table(engine, "t"));
    for id in (0..ROWS).step_by(11) {
        client.update(id, |row| row.k = Some(row.k.unwrap() + by)).unwrap();
    }
    for id in [57, 107] {
        client.update(id, |row| row.c = long(id + by)).unwrap();
    }
    client.delete(200 + by).unwrap();
    client.delete(206 + by).unwrap();
    client.commit();
}

fn rows(engine: &Arc<Engine>, name: &str, index: usize) -> Option<Vec<Row>> {
    let table = engine.dictionary().table("test", name).ok()?.clone();
    let mut client = Client::new(engine, &table);
    let mut rows =
        client.scan_range(index, KeyRange::default(), Direction::Forward, ReadMode::Snapshot).ok()?;
    rows.sort();
    Some(rows)
}

/// All rows by all indexes; `None` where they cannot be read.
fn all_rows(files: &Files) -> Option<Vec<Option<Vec<Row>>>> {
    let engine = Engine::open(quiet(), disk(files)).ok()?;
    let tables = ["t", "other"].into_iter();
    Some(
        tables
            .flat_map(|name| (0..3).map(move |index| (name, index)))
            .map(|(name, index)| rows(&engine, name, index))
            .collect(),
    )
}

fn shut_down(engine: Arc<Engine>) {
    engine.shutdown().unwrap();
    drop(engine);
}

fn filled() -> (Arc<dyn FileSystem>, Files) {
    let fs = memory();
    let engine = open(&fs);
    fill(&engine);
    shut_down(engine);
    let files = files(&fs);
    (fs, files)
}

#[test]
fn a_directory_that_was_shut_down_is_clean() {
    let (_, files) = filled();
    let report = is_clean(&files);
    assert!(!report.needs_recovery && !report.log.is_torn, "{:?}", report.log);
    let t = report.tables.iter().find(|table| table.table == "t").unwrap();
    assert_eq!(t.check.rows, ROWS as u64 - 2);
    assert!(t.check.indexes.iter().all(|index| index.rows == ROWS as u64 - 2), "{:?}", t.check.indexes);
    assert_eq!(t.check.overflow_pages, 6 * 4);
    let undo = report.undo.unwrap();
    assert!(undo.records > 0 && undo.active == 0);
    assert_eq!(report.files.len(), 4);
    assert_eq!(report.level, Some(4));
    let deep =
        CheckConfig { options: TableCheckOptions { deep: true, ..Default::default() }, ..check_config() };
    assert!(bad(&checked_with(&files, deep)).is_empty());
}

/// More partitions than have the whole definition in their files; rows of some are in chains.
#[test]
fn partitions_are_checked_all_or_some() {
    let fs = memory();
    let engine = open(&fs);
    create_schema(&engine);
    let names: Vec<_> = (0..11).map(|number| format!("p{number}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let parts = create_table(&engine, partitioned("parts", &names));
    let mut client = Client::new(&engine, &parts);
    for id in 0..ROWS {
        let text = if id % 50 == 7 { long(id) } else { vec![id as u8; 400] };
        client.insert(&Row::new(id, id % 7, Some(id), &text)).unwrap();
    }
    client.commit();
    let some = [2, 9].into_iter().collect();
    let options = TableCheckOptions { partitions: Some(some), ..Default::default() };
    let check = engine.check_table_with(&parts, options, &mut |_| true).unwrap();
    let of_both = (0..ROWS).filter(|id| [2, 9].contains(&home(*id, 11))).count() as u64;
    assert_eq!((check.damage, check.rows, check.indexes[1].rows), (Vec::new(), of_both, of_both));
    drop((client, parts));
    shut_down(engine);
    let files = files(&fs);
    for deep in [false, true] {
        let options = TableCheckOptions { deep, ..Default::default() };
        let report = checked_with(&files, CheckConfig { options, ..check_config() });
        assert!(bad(&report).is_empty(), "{:#?}", report.findings);
        assert_eq!((report.tables[0].check.rows, report.files.len()), (ROWS as u64, 13));
    }
}

#[test]
fn a_directory_that_crashed_is_clean_and_told_to_need_recovery() {
    let fs = memory();
    let engine = open(&fs);
    fill(&engine);
    let mut in_flight = Client::new(&engine, &table(&engine, "t"));
    for id in [3, 157, 91] {
        in_flight.update(id, |row| row.c = long(id + 9)).unwrap();
    }
    in_flight.delete(101).unwrap();
    engine.log.flush_blocking(engine.log.tail()).unwrap();
    for step in 0..3 {
        let report = is_clean(&files(&fs));
        assert!(report.needs_recovery);
        assert!(report.findings.iter().any(|finding| finding.kind == Kind::NeedsRecovery));
        assert_eq!(report.undo.unwrap().active, 1);
        let t = report.tables.iter().find(|table| table.table == "t").unwrap();
        assert_eq!(t.check.rows, ROWS as u64 - 2, "what had not ended is not seen");
        // Some pages are in place, others not.
        if step == 0 {
            engine.pool.step().unwrap();
        } else {
            change(&engine, 20 + step);
            engine.log.flush_blocking(engine.log.tail()).unwrap();
            break;
        }
    }
    drop(in_flight);
    crash(engine);
    let engine = open(&fs);
    engine.rollback_step().unwrap();
    while engine.purge_step().unwrap() {}
    shut_down(engine);
    is_clean(&files(&fs));
}

fn space_path(space: u32) -> PathBuf {
    PathBuf::from(format!("/data/spaces/{space:06}.pal"))
}

/// Space of the table `t`, which was made first.
fn space_of_t(files: &Files) -> u32 {
    *spaces(files).get(2).unwrap()
}

/// The dictionary, undo, and the two tables.
fn spaces(files: &Files) -> Vec<u32> {
    let number = |path: &PathBuf| path.to_str()?.strip_suffix(".pal")?.rsplit('/').next()?.parse().ok();
    files.keys().filter_map(number).collect()
}

fn expect(files: &Files, kind: Kind, severity: Severity, words: &str) -> DirectoryReport {
    let report = checked(files);
    let found = report.findings.iter().any(|finding| {
        finding.kind == kind && finding.severity == severity && finding.to_string().contains(words)
    });
    assert!(found, "{kind:?} {words}: {:#?}", report.findings);
    report
}

fn flip(files: &Files, path: &Path, byte: usize) -> Files {
    let mut files = files.clone();
    files.get_mut(path).unwrap()[byte] ^= 8;
    files
}

/// The first page of the table's file that is a node of this index number and level.
fn node(files: &Files, index: usize, level: u16) -> usize {
    let engine = Engine::open(quiet(), disk(files)).unwrap();
    let id = table(&engine, "t").indexes[index].trees[0].id;
    let bytes = &files[&space_path(space_of_t(files))];
    let is_it = |page: &[u8]| {
        page[12..14] == 3u16.to_le_bytes()
            && page[32..40] == id.to_le_bytes()
            && page[40..42] == level.to_le_bytes()
    };
    bytes.chunks(PAGE).position(is_it).unwrap()
}

#[test]
fn damage_is_named_with_what_is_lost() {
    let (_, files) = filled();
    let t = space_of_t(&files);
    for (index, level, lost) in [
        (0, 0, "the rows on this page"),
        (0, 1, "the way to the rows"),
        (1, 0, "nothing: the index can be made again"),
    ] {
        let page = node(&files, index, level);
        let damaged = flip(&files, &space_path(t), page * PAGE + 9000);
        let report = expect(&damaged, Kind::Tree, Severity::Damage, &format!("page {t}:{page}"));
        let finding = bad(&report)[0];
        assert!(finding.lost.contains(lost), "{finding:?}");
        assert_eq!(finding.place.table.as_deref(), Some("t"));
        assert_eq!(finding.place.index.as_deref(), Some(["PRIMARY", "k"][index]));
        assert_eq!(finding.place.offset, Some((page * PAGE) as u64));
    }
    for (path, byte, kind, words) in [
        (space_path(0), 2 * PAGE + 9000, Kind::DictionaryUnreadable, "page 0:2"),
        (space_path(1), PAGE + 9000, Kind::Undo, "undo cannot be opened"),
        (space_path(t), 9000, Kind::FirstPages, "cannot be used"),
        (space_path(t), PAGE + 9000, Kind::FirstPages, "cannot be used"),
        (PathBuf::from("/data/palisade.data"), 3, Kind::Marker, "data directory"),
    ] {
        let report = expect(&flip(&files, &path, byte), kind, Severity::Damage, words);
        let starts = path == space_path(t);
        assert_eq!(report.start_error.is_none(), starts, "{:?}", report.start_error);
    }
    let mut lacks = files.clone();
    lacks.remove(&space_path(t));
    expect(&lacks, Kind::FileMissing, Severity::Damage, "`test`.`t`");
    let mut more = files.clone();
    more.insert(space_path(77), files[&space_path(t)].clone());
    expect(&more, Kind::FileUnknown, Severity::Note, "belongs to no table");
    expect(&more, Kind::PageIdentity, Severity::Damage, "spaces/000077.pal");
}

#[test]
fn damage_of_the_redo_log_is_told_from_its_end() {
    let fs = memory();
    let engine = open(&fs);
    fill(&engine);
    engine.log.flush_blocking(engine.log.tail()).unwrap();
    let files = files(&fs);
    crash(engine);
    let segment = files.keys().find(|path| path.to_string_lossy().contains("log.0")).unwrap().clone();
    let end = files[&segment].iter().rposition(|byte| *byte != 0).unwrap();
    let report =
        expect(&flip(&files, &segment, end / 2), Kind::LogDamaged, Severity::Damage, "cannot be read");
    assert!(report.start_error.is_some() && report.level == Some(6), "{report:?}");
    let checkpoint = PathBuf::from("/data/#log/checkpoint");
    let slots = [20, 16384 + 20];
    let written =
        slots.into_iter().filter(|at| files[&checkpoint][*at - 20..*at + 40].iter().any(|b| *b != 0));
    let written: Vec<usize> = written.collect();
    if written.len() == 2 {
        let one = flip(&files, &checkpoint, slots[0]);
        expect(&one, Kind::CheckpointRecord, Severity::Warning, "checkpoint record 0");
    }
    let all = written.into_iter().fold(files.clone(), |files, at| flip(&files, &checkpoint, at));
    let report = expect(&all, Kind::LogDamaged, Severity::Damage, "checkpoint");
    assert_eq!(report.level, Some(6));
}

/// A lost map is told, and the table that it is of is checked with one made from the pages.
#[test]
fn a_lost_map_is_named_and_its_table_is_checked() {
    let (_, files) = filled();
    let map = files.keys().find(|path| path.extension().is_some_and(|kind| kind == "map")).unwrap().clone();
    let mut damaged = flip(&flip(&files, &map, 100), &map, 4096 + 100);
    for round in 0..2 {
        let report = expect(&damaged, Kind::Map, Severity::Damage, "the map of its space is damaged");
        let other = report.tables.iter().find(|table| table.table == "other").unwrap();
        assert_eq!(other.check.damage, [], "round {round}");
        damaged.remove(&map);
    }
}

#[test]
fn only_what_is_asked_for_is_checked_and_too_little_memory_is_told() {
    let (_, files) = filled();
    let page = node(&files, 0, 0);
    let damaged = flip(&files, &space_path(space_of_t(&files)), page * PAGE + 9000);
    let other = CheckConfig { table: Some("other".to_owned()), ..check_config() };
    let report = checked_with(&damaged, other.clone());
    assert!(bad(&report).is_empty() && report.tables.len() == 1 && report.files.len() == 1, "{report:?}");
    let elsewhere = CheckConfig { schema: Some("elsewhere".to_owned()), ..check_config() };
    assert!(checked_with(&damaged, elsewhere).tables.is_empty());

    let fs = memory();
    let engine = open(&fs);
    fill(&engine);
    engine.log.flush_blocking(engine.log.tail()).unwrap();
    let files = self::files(&fs);
    crash(engine);
    let little = CheckConfig { memory: 4 * PAGE as u64, ..check_config() };
    let report = checked_with(&files, little);
    assert!(report.is_partial && report.tables.is_empty());
    assert!(
        report
            .findings
            .iter()
            .any(|finding| finding.what.contains("give") || finding.kind == Kind::NotChecked)
    );
}

#[test]
fn what_is_no_data_directory_is_refused() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    fs.create_dir_all(Path::new("/data")).unwrap();
    assert!(check_directory(check_config(), fs, &mut |_| true).is_err());
    let (fs, _) = filled();
    let engine = open(&fs);
    let error = check_directory(check_config(), fs.clone(), &mut |_| true).err().unwrap();
    assert!(error.to_string().contains("in use"), "{error}");
    shut_down(engine);
}

/// A page of before takes the place of one of now, with its right checksum.
fn stale(prng: &mut Prng, now: &Files, before: &Files, path: &Path) -> Option<(Files, usize)> {
    let (new, old) = (&now[path], before.get(path)?);
    let differ: Vec<usize> = (0..old.len().min(new.len()) / PAGE)
        .filter(|page| new[page * PAGE..][..PAGE] != old[page * PAGE..][..PAGE])
        .collect();
    if differ.is_empty() {
        return None;
    }
    let page = *prng.pick(&differ);
    let mut damaged = now.clone();
    damaged.get_mut(path)?[page * PAGE..][..PAGE].copy_from_slice(&old[page * PAGE..][..PAGE]);
    Some((damaged, page))
}

/// Damages one page of one file; says which.
fn damage_a_page(prng: &mut Prng, now: &Files, before: &Files) -> Option<(Files, u32, String)> {
    let space = *prng.pick(&spaces(now));
    let path = space_path(space);
    let pages = now[&path].len() / PAGE;
    let page = prng.below(pages as u64) as usize;
    let mut damaged = now.clone();
    let bytes = damaged.get_mut(&path)?;
    let at = page * PAGE;
    let how = match prng.below(5) {
        0 => {
            let bit = prng.below(PAGE as u64 * 8) as usize;
            bytes[at + bit / 8] ^= 1 << (bit % 8);
            format!("flip bit {bit}")
        }
        1 => {
            bytes[at..at + PAGE].fill(0);
            "zero".to_owned()
        }
        2 => {
            let other = prng.below(pages as u64) as usize;
            for byte in 0..PAGE {
                bytes.swap(at + byte, other * PAGE + byte);
            }
            format!("swap with {other}")
        }
        3 => {
            let from = prng.below(PAGE as u64 - 600) as usize;
            bytes[at + from..at + from + 512].fill(0xee);
            "scribble".to_owned()
        }
        _ => {
            let (damaged, page) = stale(prng, now, before, &path)?;
            return Some((damaged, space, format!("stale page {page}")));
        }
    };
    (damaged != *now).then(|| (damaged, space, format!("page {page}: {how}")))
}

/// Whatever happens to a page is found, or every row can still be read by every index.
#[test]
fn random_damage_is_found_or_harmless() {
    let (fs, before) = filled();
    let engine = open(&fs);
    change(&engine, 3);
    while engine.purge_step().unwrap() {}
    let mut client = Client::new(&engine, &table(&engine, "t"));
    for id in 1000..1100 {
        client.insert(&Row::new(id, 1, Some(id), &[1; 300])).unwrap();
    }
    client.commit();
    drop(client);
    shut_down(engine);
    let now = files(&fs);
    is_clean(&now);
    let expected = all_rows(&now).unwrap();
    let mut prng = Prng::new(test_seed(1871));
    let (mut found, mut harmless) = (0, Vec::new());
    for _ in 0..40 {
        let Some((damaged, space, how)) = damage_a_page(&mut prng, &now, &before) else { continue };
        let report = checked(&damaged);
        let bad = bad(&report);
        if bad.is_empty() {
            assert_eq!(all_rows(&damaged).as_ref(), Some(&expected), "space {space}, {how}: not found");
            harmless.push(format!("space {space}, {how}"));
            continue;
        }
        found += 1;
        let is_named = bad.iter().any(|finding| finding.place.space.is_some_and(|named| named.0 == space));
        assert!(is_named, "space {space}, {how}: {bad:#?}");
    }
    assert!(found > 15, "{found} found, harmless: {harmless:#?}");
}

/// Leaves of the clustered index of `t` that differ, each as it was before.
fn stale_leaves(now: &Files, before: &Files) -> Vec<Files> {
    let path = space_path(space_of_t(now));
    let (new, old) = (&now[&path], &before[&path]);
    let is_leaf = |page: &[u8]| page[12] == 3 && page[40..42] == [0, 0];
    let differ = (0..old.len().min(new.len()) / PAGE).map(|page| page * PAGE).filter(|at| {
        let (new, old) = (&new[*at..][..PAGE], &old[*at..][..PAGE]);
        new != old && is_leaf(old)
    });
    let damaged = differ.map(|at| {
        let mut damaged = now.clone();
        damaged.get_mut(&path).unwrap()[at..at + PAGE].copy_from_slice(&old[at..at + PAGE]);
        damaged
    });
    damaged.collect()
}

/// Old pages of rows of which no index says anything else. As long as undo has the changes they are found;
/// then nothing in the directory contradicts them.
#[test]
fn old_rows_are_found_as_long_as_undo_knows_of_their_changes() {
    let (fs, _) = filled();
    let engine = open(&fs);
    while engine.purge_step().unwrap() {}
    shut_down(engine);
    let before = files(&fs);
    let engine = open(&fs);
    let mut client = Client::new(&engine, &table(&engine, "t"));
    for id in (1..ROWS).step_by(3) {
        client.update(id, |row| row.c.iter_mut().take(4).for_each(|byte| *byte ^= 1)).unwrap();
    }
    client.commit();
    drop(client);
    shut_down(engine);
    let now = files(&fs);
    is_clean(&now);
    let leaves = stale_leaves(&now, &before);
    assert!(leaves.len() > 3);
    for damaged in leaves.iter().take(3) {
        let report = checked(damaged);
        let found = report.findings.iter().find(|finding| finding.kind == Kind::StaleRows).unwrap();
        assert_eq!(found.severity, Severity::Damage);
        assert_eq!(found.place.table.as_deref(), Some("t"));
        assert_eq!(found.place.index.as_deref(), Some("PRIMARY"));
    }
    let engine = open(&fs);
    while engine.purge_step().unwrap() {}
    shut_down(engine);
    let purged = files(&fs);
    let expected = all_rows(&purged).unwrap();
    // The limit that docs/check.md speaks of.
    let unfound = stale_leaves(&purged, &before).into_iter().take(3).filter(|damaged| {
        let is_unfound = bad(&checked(damaged)).is_empty();
        assert!(!is_unfound || all_rows(damaged).as_ref() != Some(&expected));
        is_unfound
    });
    assert!(unfound.count() > 0);
}
