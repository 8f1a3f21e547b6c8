//! Damage of one place of a data directory, and what can still be had with `innodb_force_recovery`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palisade_catalog::{CollationId, Schema, TableDef};
use palisade_io::{FaultFileSystem, FileSystem, OpenMode};

use super::harness::*;
use crate::definition::RowEdit;
use crate::dictionary::table_key;
use crate::{Direction, Engine, EngineConfig, Error, ForceRecovery, KeyRange, ReadMode, TableName};

const PAGE: u64 = 16384;
const ROWS: i64 = 300;

fn forced(level: ForceRecovery) -> EngineConfig {
    EngineConfig { force_recovery: level, ..quiet() }
}

fn space_file(space: u32) -> PathBuf {
    PathBuf::from(format!("/data/spaces/{space:06}.pal"))
}

struct Disk {
    faults: Arc<FaultFileSystem>,
    fs: Arc<dyn FileSystem>,
}

impl Disk {
    /// Tables `t` and `other` with rows, shut down.
    fn with_tables() -> Disk {
        let faults = Arc::new(FaultFileSystem::new(1));
        let disk = Disk { fs: faults.clone(), faults };
        let engine = open(&disk.fs);
        create_schema(&engine);
        for name in ["t", "other"] {
            let mut client = Client::new(&engine, &create_table(&engine, in_place(name)));
            for id in 0..ROWS {
                client.insert(&Row::new(id, id % 7, Some(id), &[id as u8; 400])).unwrap();
            }
            client.commit();
        }
        shut_down(engine);
        disk
    }

    fn flip(&self, path: &Path, byte: u64) {
        self.faults.flip_bit(path, byte * 8 + 3);
    }

    fn damage_page(&self, space: u32, page: u64) {
        self.flip(&space_file(space), page * PAGE + 9000);
    }

    fn try_open(&self, level: ForceRecovery) -> Result<Arc<Engine>, Error> {
        Engine::open(forced(level), self.fs.clone())
    }

    /// Refuses to open, and says what would help.
    fn refuses(&self, level: ForceRecovery, advice: &str) {
        let error = self.try_open(level).map(drop).unwrap_err().to_string();
        assert!(error.contains(advice), "{error}");
    }

    /// Every file but the lock, byte for byte.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let dirs = ["/data", "/data/#log", "/data/spaces"].map(Path::new);
        let files = dirs.into_iter().flat_map(|dir| self.fs.list(dir).unwrap());
        let files = files.map(|path| {
            let file = self.fs.open(&path, OpenMode::EXISTING).unwrap();
            let mut bytes = vec![0; file.len().unwrap() as usize];
            file.read_at(&mut bytes, 0).unwrap();
            (path, bytes)
        });
        files.collect()
    }
}

fn shut_down(engine: Arc<Engine>) {
    engine.shutdown().unwrap();
    drop(engine);
}

fn ids(client: &mut Client, index: usize, direction: Direction) -> Vec<i64> {
    let rows = client.scan_range(index, KeyRange::default(), direction, ReadMode::Snapshot).unwrap();
    let mut ids: Vec<i64> = rows.into_iter().map(|row| row.id).collect();
    ids.sort_unstable();
    ids
}

/// All rows are there, by every index.
fn is_whole(engine: &Arc<Engine>, name: &str) {
    let mut client = Client::new(engine, &table(engine, name));
    for index in 0..3 {
        for direction in [Direction::Forward, Direction::Backward] {
            assert_eq!(ids(&mut client, index, direction), (0..ROWS).collect::<Vec<_>>(), "{name} {index}");
        }
    }
}

/// Nothing is changed with force.
fn refuses_changes(engine: &Arc<Engine>) {
    let mut client = Client::new(engine, &table(engine, "other"));
    assert_eq!(client.insert(&Row::new(1000, 1, None, b"")).unwrap_err(), Error::ForcedRecovery);
    assert_eq!(client.update(1, |row| row.k = Some(1)).unwrap_err(), Error::ForcedRecovery);
    assert_eq!(client.delete(1).unwrap_err(), Error::ForcedRecovery);
    client.rollback();
}

fn goes_on_without_force(disk: &Disk) {
    let engine = open(&disk.fs);
    for name in ["t", "other"] {
        is_whole(&engine, name);
        let mut client = Client::new(&engine, &table(&engine, name));
        client.insert(&Row::new(1000, 1, None, b"new")).unwrap();
        client.delete(1000).unwrap();
        client.commit();
        while engine.purge_step().unwrap() {}
        let report = engine.check_table(&table(&engine, name)).unwrap();
        assert_eq!(report.damage, []);
    }
    create_table(&engine, definition("third"));
    shut_down(engine);
    let engine = open(&disk.fs);
    assert_eq!(engine.dictionary().tables("test").count(), 3);
    shut_down(engine);
}

#[test]
fn a_damaged_dictionary_is_made_again_whichever_of_its_pages_it_is() {
    for page in 0..3 {
        for level in [ForceRecovery::IgnoreDamage, ForceRecovery::NoRollback] {
            let disk = Disk::with_tables();
            disk.damage_page(0, page);
            disk.refuses(ForceRecovery::Off, "innodb_force_recovery=1");
            let engine = disk.try_open(level).unwrap();
            is_whole(&engine, "t");
            is_whole(&engine, "other");
            refuses_changes(&engine);
            let held = lock(&engine, &["other"]);
            let refused = wait(engine.drop_tables(&held, &[TableName::new("test", "other")])).unwrap_err();
            assert_eq!(refused, Error::ForcedRecovery, "undo of the old dictionary may be left");
            drop(held);
            shut_down(engine);
            goes_on_without_force(&disk);
        }
    }
}

#[test]
fn a_missing_dictionary_is_made_again_too() {
    let disk = Disk::with_tables();
    disk.fs.remove(&space_file(0)).unwrap();
    disk.refuses(ForceRecovery::Off, "innodb_force_recovery=1");
    shut_down(disk.try_open(ForceRecovery::IgnoreDamage).unwrap());
    goes_on_without_force(&disk);
}

/// The copies follow CREATE, RENAME, ALTER and the building of indexes; a table that was dropped does not
/// come back.
#[test]
fn what_is_made_again_is_what_was_there_last() {
    let disk = Disk::with_tables();
    let engine = open(&disk.fs);
    let name = |name: &str| TableName::new("test", name);
    let held = lock(&engine, &["t", "renamed"]);
    wait(engine.rename_tables(&held, &[(name("t"), name("renamed"))])).unwrap();
    drop(held);
    let held = lock(&engine, &["renamed"]);
    wait(engine.drop_indexes(&held, &name("renamed"), &["k".to_owned()])).unwrap();
    let mut def = table(&engine, "renamed").def().clone();
    def.comment = "x".repeat(40_000);
    wait(engine.alter_definition(&held, &name("renamed"), def)).unwrap();
    drop(held);
    let held = lock(&engine, &["other"]);
    wait(engine.drop_tables(&held, &[name("other")])).unwrap();
    drop(held);
    let expected = table(&engine, "renamed").def().clone();
    shut_down(engine);
    disk.damage_page(0, 2);
    let engine = disk.try_open(ForceRecovery::IgnoreDamage).unwrap();
    assert_eq!(engine.dictionary().tables("test").count(), 1);
    assert_eq!(*table(&engine, "renamed").def(), expected);
    shut_down(engine);
}

/// A file without a copy of its definition, as earlier versions wrote it, gets one at the next start.
#[test]
fn files_of_earlier_versions_get_their_copies() {
    let disk = Disk::with_tables();
    let engine = open(&disk.fs);
    let t = table(&engine, "t");
    crate::definition_copy::write(&engine.log, t.sole_partition().space(), b"").unwrap();
    assert_eq!(crate::definition_copy::read(t.sole_partition().space()).unwrap(), None);
    drop(t);
    shut_down(engine);
    shut_down(open(&disk.fs));
    disk.damage_page(0, 2);
    shut_down(disk.try_open(ForceRecovery::IgnoreDamage).unwrap());
    goes_on_without_force(&disk);
}

/// Rows are read without a table's first pages, if nothing can be changed; and the table can be dropped.
#[test]
fn a_table_without_its_first_pages_can_be_read_with_force() {
    for page in 0..2 {
        let disk = Disk::with_tables();
        let engine = open(&disk.fs);
        let space = table(&engine, "t").first_space_id();
        shut_down(engine);
        disk.damage_page(space.0, page);
        let engine = open(&disk.fs);
        let mut client = Client::new(&engine, &table(&engine, "t"));
        let refused = client.scan_range(0, KeyRange::default(), Direction::Forward, ReadMode::Snapshot);
        assert!(matches!(refused, Err(Error::Corrupted { .. })), "{refused:?}");
        is_whole(&engine, "other");
        drop(client);
        shut_down(engine);
        for level in [ForceRecovery::ReadOnly, ForceRecovery::IgnoreDamage] {
            let engine = disk.try_open(level).unwrap();
            is_whole(&engine, "t");
            let t = table(&engine, "t");
            assert_eq!(t.auto_increment(), 1);
            let mut client = Client::new(&engine, &t);
            let refused = client.insert(&Row::new(1000, 1, None, b"")).unwrap_err();
            assert_eq!(refused, Error::ForcedRecovery);
            drop((client, t));
            if level == ForceRecovery::IgnoreDamage {
                let name = |name: &str| TableName::new("test", name);
                let held = lock(&engine, &["t", "renamed"]);
                wait(engine.rename_tables(&held, &[(name("t"), name("renamed"))])).unwrap();
                wait(engine.rename_tables(&held, &[(name("renamed"), name("t"))])).unwrap();
                drop(held);
                let held = lock(&engine, &["t"]);
                wait(engine.drop_tables(&held, &[name("t")])).unwrap();
            }
            shut_down(engine);
        }
        let engine = open(&disk.fs);
        assert!(engine.dictionary().table("test", "t").is_err());
        shut_down(engine);
    }
}

/// A table whose own copy is damaged as well is lost to the dictionary; its file is kept under another name.
#[test]
fn a_file_that_cannot_say_what_it_is_is_set_aside() {
    let disk = Disk::with_tables();
    let engine = open(&disk.fs);
    let space = table(&engine, "t").first_space_id();
    shut_down(engine);
    disk.damage_page(0, 2);
    disk.damage_page(space.0, 1);
    let before = disk.files()[&space_file(space.0)].clone();
    shut_down(disk.try_open(ForceRecovery::IgnoreDamage).unwrap());
    let engine = open(&disk.fs);
    assert_eq!(engine.dictionary().tables("test").count(), 1);
    is_whole(&engine, "other");
    shut_down(engine);
    let aside = space_file(space.0).with_extension("pal.damaged");
    assert_eq!(disk.files()[&aside], before);
}

#[test]
fn damaged_undo_is_done_without_and_nothing_is_written() {
    for page in 0..2 {
        let disk = Disk::with_tables();
        disk.damage_page(1, page);
        let before = disk.files();
        disk.refuses(ForceRecovery::ReadOnly, "innodb_force_recovery=5");
        for level in [ForceRecovery::NoUndo, ForceRecovery::AcceptLogDamage] {
            let engine = disk.try_open(level).unwrap();
            is_whole(&engine, "t");
            is_whole(&engine, "other");
            refuses_changes(&engine);
            shut_down(engine);
        }
        assert!(disk.files() == before, "not a byte has changed");
        disk.refuses(ForceRecovery::Off, "innodb_force_recovery=5");
    }
}

/// At 4 what was in flight is not seen; at 5 it counts as committed.
#[test]
fn what_was_in_flight_is_seen_only_without_undo() {
    let disk = Disk::with_tables();
    let engine = open(&disk.fs);
    let mut client = Client::new(&engine, &table(&engine, "t"));
    client.update(3, |row| row.c = b"in flight".to_vec()).unwrap();
    engine.log.flush_blocking(engine.log.tail()).unwrap();
    drop(client);
    crash(engine);
    let before = disk.files();
    for (level, is_seen) in [
        (ForceRecovery::ReadOnly, false),
        (ForceRecovery::NoUndo, true),
        (ForceRecovery::AcceptLogDamage, true),
    ] {
        let engine = disk.try_open(level).unwrap();
        let row = Client::new(&engine, &table(&engine, "t")).read(3).unwrap();
        assert_eq!(row.c == b"in flight", is_seen);
        shut_down(engine);
    }
    assert!(disk.files() == before);
    let engine = disk.try_open(ForceRecovery::NoRollback).unwrap();
    assert_ne!(Client::new(&engine, &table(&engine, "t")).read(3).unwrap().c, b"in flight");
    let held = lock(&engine, &["other"]);
    wait(engine.drop_tables(&held, &[TableName::new("test", "other")])).unwrap();
    drop(held);
    shut_down(engine);
    let engine = open(&disk.fs);
    assert_eq!(engine.rollback_step().unwrap(), 1, "it is still to be rolled back");
    shut_down(engine);
}

#[test]
fn scans_pass_over_a_damaged_leaf_with_force_only() {
    let disk = Disk::with_tables();
    let engine = open(&disk.fs);
    let t = table(&engine, "t");
    let root = palisade_base::event::retry_blocking(|| {
        t.sole_partition().tree(0).space().shared(t.sole_partition().tree(0).root())
    })
    .unwrap();
    let leaf = palisade_btree::node::NodeView::new(&*root).child(3);
    drop(root);
    let space = t.first_space_id();
    drop(t);
    shut_down(engine);
    disk.damage_page(space.0, leaf.0.into());
    let engine = open(&disk.fs);
    let mut client = Client::new(&engine, &table(&engine, "t"));
    let scanned = client.scan_range(0, KeyRange::default(), Direction::Forward, ReadMode::Snapshot);
    assert!(matches!(scanned, Err(Error::Corrupted { .. })), "{scanned:?}");
    drop(client);
    shut_down(engine);

    let engine = disk.try_open(ForceRecovery::IgnoreDamage).unwrap();
    is_whole(&engine, "other");
    assert_eq!(engine.damage_passed(), 0);
    let mut client = Client::new(&engine, &table(&engine, "t"));
    let left = ids(&mut client, 0, Direction::Forward);
    assert!(left.len() < ROWS as usize && left.len() > ROWS as usize - 100, "{} rows", left.len());
    assert!(left.contains(&0) && left.contains(&(ROWS - 1)), "on both sides of the damage");
    assert_eq!(engine.damage_passed(), 1);
    assert_eq!(ids(&mut client, 0, Direction::Backward), left);
    assert_eq!(
        ids(&mut client, 1, Direction::Forward),
        left,
        "rows of the index that are on the damaged leaf"
    );
    assert!(client.read_as(0, ReadMode::Snapshot).is_ok());
    drop(client);
    shut_down(engine);
}

/// Nothing is below a root that cannot be read; the answer is an error, with force too.
#[test]
fn a_damaged_root_is_an_error() {
    let disk = Disk::with_tables();
    let engine = open(&disk.fs);
    let t = table(&engine, "t");
    let (space, root) = (t.first_space_id(), t.sole_partition().tree(0).root());
    drop(t);
    shut_down(engine);
    disk.damage_page(space.0, root.0.into());
    for level in [ForceRecovery::Off, ForceRecovery::IgnoreDamage] {
        let engine = disk.try_open(level).unwrap();
        let mut client = Client::new(&engine, &table(&engine, "t"));
        for direction in [Direction::Forward, Direction::Backward] {
            let scanned = client.scan_range(0, KeyRange::default(), direction, ReadMode::Snapshot);
            assert!(matches!(scanned, Err(Error::Corrupted { .. })), "{scanned:?}");
        }
        let report = engine.check_table(&table(&engine, "t")).unwrap();
        let place = format!("page {}:{}", space.0, root.0);
        assert!(
            report.damage.len() == 1 && report.damage[0].to_string().contains(&place),
            "{:?}",
            report.damage
        );
        drop(client);
        shut_down(engine);
    }
}

/// A transaction's changes are in the log, and a page that they are for is damaged.
#[test]
fn redo_of_a_damaged_page_is_given_up_with_force_only() {
    let disk = Disk::with_tables();
    let engine = open(&disk.fs);
    let t = table(&engine, "t");
    let mut client = Client::new(&engine, &t);
    for id in 0..ROWS {
        client.update(id, |row| row.k = Some(99)).unwrap();
    }
    client.commit();
    client.table = table(&engine, "other");
    client.update(3, |row| row.k = Some(99)).unwrap();
    client.commit();
    let root = palisade_base::event::retry_blocking(|| {
        t.sole_partition().tree(0).space().shared(t.sole_partition().tree(0).root())
    })
    .unwrap();
    let leaf = palisade_btree::node::NodeView::new(&*root).child(3);
    drop(root);
    let space = t.first_space_id();
    drop((client, t));
    crash(engine);
    disk.damage_page(space.0, leaf.0.into());
    disk.refuses(ForceRecovery::Off, "checksum");
    for level in [ForceRecovery::ReadOnly, ForceRecovery::IgnoreDamage] {
        let engine = disk.try_open(level).unwrap();
        assert_eq!(Client::new(&engine, &table(&engine, "other")).read(3).unwrap().k, Some(99));
        let rows = Client::new(&engine, &table(&engine, "t")).scan(0);
        assert!(rows.len() < ROWS as usize && rows.iter().all(|row| row.k == Some(99)));
        shut_down(engine);
    }
    let engine = open(&disk.fs);
    let scanned = Client::new(&engine, &table(&engine, "t")).scan_range(
        0,
        KeyRange::default(),
        Direction::Forward,
        ReadMode::Snapshot,
    );
    assert!(matches!(scanned, Err(Error::Corrupted { .. })), "the damage is still known");
    shut_down(engine);
}

#[test]
fn damage_in_the_middle_of_the_redo_log_is_accepted_at_six_only() {
    let disk = Disk::with_tables();
    let engine = open(&disk.fs);
    let mut client = Client::new(&engine, &table(&engine, "t"));
    let mut ends = Vec::new();
    for id in 0..40 {
        client.update(id, |row| row.c = b"changed".to_vec()).unwrap();
        client.commit();
        ends.push(engine.log.durable_lsn());
    }
    drop(client);
    crash(engine);
    // The log's bytes have LSNs of their own; the last of forty commits is surely behind the middle of what
    // was written.
    let log = disk.fs.list(Path::new("/data/#log")).unwrap();
    let segment = log.iter().find(|path| path.to_string_lossy().contains("log.")).unwrap();
    let bytes = disk.files()[segment].clone();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap() as u64;
    let mut at = end - 30_000;
    while bytes[at as usize] == 0 {
        at += 1;
    }
    disk.flip(segment, at);
    let before = disk.files();
    for level in [ForceRecovery::Off, ForceRecovery::IgnoreDamage, ForceRecovery::NoUndo] {
        disk.refuses(level, "redo log");
        disk.refuses(level, "innodb_force_recovery=6");
    }
    let engine = disk.try_open(ForceRecovery::AcceptLogDamage).unwrap();
    let rows = Client::new(&engine, &table(&engine, "t")).scan(0);
    assert_eq!(rows.len(), ROWS as usize);
    let changed = rows.iter().take_while(|row| row.c == b"changed").count();
    assert!((1..40).contains(&changed), "{changed} of 40 changes are in front of the damage");
    assert!(rows[changed..].iter().all(|row| row.c != b"changed"), "and none that is behind it");
    shut_down(engine);
    assert!(disk.files() == before);

    // Without a checkpoint record the pages are read as they were last written.
    let checkpoint = Path::new("/data/#log/checkpoint");
    disk.flip(checkpoint, 20);
    disk.flip(checkpoint, 16384 + 20);
    disk.refuses(ForceRecovery::NoUndo, "checkpoint");
    disk.refuses(ForceRecovery::NoUndo, "innodb_force_recovery=6");
    let engine = disk.try_open(ForceRecovery::AcceptLogDamage).unwrap();
    is_whole(&engine, "other");
    shut_down(engine);
}

#[test]
fn a_damaged_marker_is_written_again() {
    let marker = Path::new("/data/palisade.data");
    for is_gone in [false, true] {
        let disk = Disk::with_tables();
        if is_gone {
            disk.fs.remove(marker).unwrap()
        } else {
            disk.flip(marker, 2)
        }
        disk.refuses(ForceRecovery::Off, "something else");
        shut_down(disk.try_open(ForceRecovery::ReadOnly).unwrap());
        disk.refuses(ForceRecovery::Off, "something else");
        shut_down(disk.try_open(ForceRecovery::IgnoreDamage).unwrap());
        goes_on_without_force(&disk);
    }
}

/// A directory that is whole opens at every level with all its rows, and from 4 on is not written to.
#[test]
fn a_whole_directory_is_whole_at_every_level() {
    let disk = Disk::with_tables();
    for number in 1..=6 {
        let level = ForceRecovery::from_number(number).unwrap();
        let before = disk.files();
        let engine = disk.try_open(level).unwrap();
        is_whole(&engine, "t");
        refuses_changes(&engine);
        let schema = Schema { name: format!("s{number}"), collation: CollationId::BINARY };
        let made = wait(engine.create_schema(schema));
        assert_eq!(made.is_ok(), number < 4, "{made:?}");
        assert_eq!(engine.damage_passed(), 0);
        shut_down(engine);
        assert_eq!(disk.files() == before, number >= 4);
    }
    assert_eq!(ForceRecovery::from_number(7), None);
}

/// What a later version has written is not damage: no start takes anything away for it, with force or
/// without.
#[test]
fn a_directory_of_a_later_version_is_refused_and_left_as_it_is() {
    let several = |def: &TableDef| {
        let mut def = def.clone();
        def.partitions.push(def.partitions[0].clone());
        def.indexes.iter_mut().for_each(|index| index.trees.push(index.trees[0]));
        def.to_bytes()
    };
    let unknown = |def: &TableDef| {
        let mut bytes = def.to_bytes();
        bytes[0] = 99;
        bytes
    };
    for later in [several as fn(&TableDef) -> Vec<u8>, unknown] {
        let fs = memory();
        let engine = open(&fs);
        create_schema(&engine);
        let t = create_table(&engine, definition("t"));
        let row = RowEdit::Put(table_key(t.id), later(t.def()));
        engine.change_dictionary(&[row], &[]).unwrap();
        drop(t);
        engine.shutdown().unwrap();
        drop(engine);
        let files = || fs.list(Path::new("/data/spaces")).unwrap();
        let before = files();
        for force_recovery in [ForceRecovery::Off, ForceRecovery::IgnoreDamage] {
            let config = EngineConfig { force_recovery, ..config() };
            let error = Engine::open(config, fs.clone()).err().unwrap();
            assert!(matches!(error, Error::LaterVersion(_)), "{error}");
            assert!(!error.is_damage());
            assert_eq!(files(), before);
        }
    }
}
