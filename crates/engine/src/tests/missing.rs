//! Files that somebody has removed or cut off.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use palisade_io::{FileSystem, OpenMode};

use super::harness::*;
use crate::{Engine, EngineConfig, Error, ForceRecovery, ReadMode, Table, TableName};

/// Two tables with rows.
fn two_tables() -> (Arc<dyn FileSystem>, Arc<Engine>, Arc<Table>) {
    let (fs, engine, t) = new_engine();
    let other = create_table(&engine, definition("other"));
    for table in [&t, &other] {
        let mut client = Client::new(&engine, table);
        for id in 0..50 {
            client.insert(&Row::new(id, id, None, &[1; 500])).unwrap();
        }
        client.commit();
    }
    (fs, engine, t)
}

fn file_of(table: &Table) -> PathBuf {
    PathBuf::from(format!("/data/spaces/{:06}.pal", table.first_space_id().0))
}

fn take_away(fs: &Arc<dyn FileSystem>, file: &Path) {
    fs.rename(file, Path::new("/data/elsewhere")).unwrap();
}

fn put_back(fs: &Arc<dyn FileSystem>, file: &Path) {
    fs.rename(Path::new("/data/elsewhere"), file).unwrap();
}

/// The two tables after a crash, when the log has changes for the file of `t`, which is gone.
fn crashed_and_without_its_file() -> (Arc<dyn FileSystem>, PathBuf) {
    let (fs, engine, t) = two_tables();
    let file = file_of(&t);
    engine.log.flush_blocking(engine.log.tail()).unwrap();
    crash(engine);
    take_away(&fs, &file);
    (fs, file)
}

fn shut_down(engine: Arc<Engine>) {
    engine.shutdown().unwrap();
    drop(engine);
}

fn is_missing<T: std::fmt::Debug>(result: Result<T, Error>) {
    let missing = Error::FileMissing { schema: "test".to_owned(), table: "t".to_owned() };
    assert_eq!(result.unwrap_err(), missing);
}

/// Opens, or says why not.
fn try_open(fs: &Arc<dyn FileSystem>) -> Result<Arc<Engine>, String> {
    Engine::open(quiet(), fs.clone()).map_err(|error| error.to_string())
}

#[test]
fn a_table_without_a_file_can_be_dropped_and_not_used_and_the_others_are_served() {
    let (fs, engine, t) = two_tables();
    let file = file_of(&t);
    shut_down(engine);
    drop(t);
    take_away(&fs, &file);
    for _ in 0..2 {
        let engine = open(&fs);
        let t = table(&engine, "t");
        let mut client = Client::new(&engine, &t);
        is_missing(client.read_as(7, ReadMode::Snapshot));
        is_missing(client.insert(&Row::new(1000, 1, None, b"x")));
        is_missing(engine.check_table(&t));
        assert_eq!(t.statistics().rows, 0);
        let held = lock(&engine, &["t"]);
        is_missing(wait(engine.alter_definition(&held, &TableName::new("test", "t"), t.def().clone())));
        drop((held, client));
        let other = table(&engine, "other");
        let mut client = Client::new(&engine, &other);
        assert_eq!(client.scan(1).len(), 50);
        client.update(1, |row| row.c.push(1)).unwrap();
        client.commit();
        drop((client, t, other));
        crash(engine);
    }
    // It was only mislaid.
    put_back(&fs, &file);
    let engine = open(&fs);
    assert_eq!(Client::new(&engine, &table(&engine, "t")).scan(1).len(), 50);
    shut_down(engine);
    take_away(&fs, &file);

    let engine = open(&fs);
    let names = ["t", "renamed"].map(|name| TableName::new("test", name));
    let held = lock(&engine, &["t", "renamed"]);
    wait(engine.rename_tables(&held, &[(names[0].clone(), names[1].clone())])).unwrap();
    wait(engine.drop_tables(&held, &names[1..])).unwrap();
    drop(held);
    shut_down(engine);
    let engine = open(&fs);
    assert_eq!(engine.dictionary().tables("test").count(), 1);
    shut_down(engine);
}

#[test]
fn a_missing_file_that_the_log_has_changes_for_is_asked_for_and_they_are_not_forgotten() {
    let (fs, file) = crashed_and_without_its_file();
    for _ in 0..3 {
        let error = try_open(&fs).map(drop).unwrap_err();
        assert!(error.contains(file.to_str().unwrap()) && error.contains("`test`.`t`"), "{error}");
    }
    put_back(&fs, &file);
    let engine = open(&fs);
    for name in ["t", "other"] {
        let table = table(&engine, name);
        assert_eq!(Client::new(&engine, &table).scan(1).len(), 50);
        check(&engine, &table);
    }
}

#[test]
fn changes_for_a_missing_file_can_be_given_up() {
    let (fs, _) = crashed_and_without_its_file();
    let forced = EngineConfig { force_recovery: ForceRecovery::IgnoreDamage, ..quiet() };
    let engine = Engine::open(forced, fs.clone()).unwrap();
    is_missing(Client::new(&engine, &table(&engine, "t")).read_as(7, ReadMode::Snapshot));
    assert_eq!(Client::new(&engine, &table(&engine, "other")).scan(1).len(), 50);
    shut_down(engine);
    // Nothing is left that a start would have to ask for.
    let engine = open(&fs);
    let held = lock(&engine, &["t"]);
    wait(engine.drop_tables(&held, &[TableName::new("test", "t")])).unwrap();
}

#[test]
fn what_was_in_flight_is_rolled_back_when_the_file_is_there_again() {
    let (fs, engine, t) = two_tables();
    let file = file_of(&t);
    let mut client = Client::new(&engine, &t);
    client.update(7, |row| row.c = b"lost".to_vec()).unwrap();
    client.insert(&Row::new(1000, 1, Some(1000), b"lost")).unwrap();
    client.table = table(&engine, "other");
    client.update(8, |row| row.c = b"lost".to_vec()).unwrap();
    // The pages are on disk: the log has nothing for them.
    engine.pool.shutdown().unwrap();
    drop(client);
    crash(engine);
    drop(t);
    take_away(&fs, &file);

    let engine = open(&fs);
    assert_eq!(engine.active_transactions().len(), 1);
    assert!(engine.rollback_step().is_err());
    drop(lock(&engine, &["t"]));
    while engine.purge_step().unwrap() {}
    let mut client = Client::new(&engine, &table(&engine, "other"));
    assert_eq!(client.read(8).unwrap().c, [1; 500]);
    drop(client);
    crash(engine);

    put_back(&fs, &file);
    let engine = open(&fs);
    assert_eq!(engine.rollback_step().unwrap(), 1);
    for name in ["t", "other"] {
        let table = table(&engine, name);
        while engine.purge_step().unwrap() {}
        check(&engine, &table);
        let rows = Client::new(&engine, &table).scan(0);
        assert!(rows.len() == 50 && rows.iter().all(|row| row.c == [1; 500]), "{name}");
    }
    crash(engine);
}

#[test]
fn a_file_that_was_cut_off_is_like_a_damaged_one() {
    for (pages, is_clean) in [(0, true), (2, true), (0, false), (2, false)] {
        let (fs, engine, t) = two_tables();
        let file = file_of(&t);
        match is_clean {
            true => shut_down(engine),
            false => {
                engine.log.flush_blocking(engine.log.tail()).unwrap();
                crash(engine);
            }
        }
        drop(t);
        let kept = fs.open(&file, OpenMode::EXISTING).unwrap();
        kept.set_len(pages * 16384).unwrap();
        drop(kept);
        match (try_open(&fs), is_clean) {
            (Ok(engine), true) => {
                let mut client = Client::new(&engine, &table(&engine, "t"));
                let error = client.read_as(7, ReadMode::Snapshot).unwrap_err();
                assert!(matches!(error, Error::Corrupted { .. }), "{error}");
                drop(client);
                assert_eq!(Client::new(&engine, &table(&engine, "other")).scan(1).len(), 50);
                let held = lock(&engine, &["t"]);
                wait(engine.drop_tables(&held, &[TableName::new("test", "t")])).unwrap();
                drop(held);
                shut_down(engine);
            }
            // Redo may make all of it anew.
            (Ok(engine), false) => {
                let t = table(&engine, "t");
                assert_eq!(Client::new(&engine, &t).scan(1).len(), 50, "{pages} pages");
                check(&engine, &t);
            }
            (Err(error), false) => assert!(error.contains(file.to_str().unwrap()), "{error}"),
            (Err(error), true) => panic!("{error}"),
        }
    }
}
