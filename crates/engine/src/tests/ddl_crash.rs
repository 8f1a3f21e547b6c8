//! The power is cut at every write of a data definition statement in turn: afterwards all of it has happened, or nothing.

use std::sync::Arc;

use palisade_catalog::descriptor::{Index, IndexPart};
use palisade_catalog::{Column, RowView, SqlType, TableDef, Value};
use palisade_io::{Call, CrashKeeps, Fault, FaultFileSystem, FileSystem};

use super::harness::*;
use crate::{Engine, EngineConfig, Error, ExclusiveLock, TableName};

/// Without any threads.
fn still() -> EngineConfig {
    EngineConfig { background: false, on_fatal: Some(Arc::new(|_| {})), ..quiet() }
}

fn name(table: &str) -> TableName {
    TableName::new("test", table)
}

fn acquire(engine: &Arc<Engine>, mut lock: ExclusiveLock) -> ExclusiveLock {
    let _ = engine;
    palisade_base::event::retry_blocking(|| lock.acquire()).unwrap();
    lock
}

type Statement = fn(&Arc<Engine>) -> Result<(), Error>;

fn create(engine: &Arc<Engine>) -> Result<(), Error> {
    let held = lock(engine, &["new"]);
    wait(engine.create_table(&held, definition("new"))).map(|_| ())
}

fn drop_table(engine: &Arc<Engine>) -> Result<(), Error> {
    let held = lock(engine, &["t", "other"]);
    wait(engine.drop_tables(&held, &[name("t"), name("other")]))
}

fn truncate(engine: &Arc<Engine>) -> Result<(), Error> {
    let held = lock(engine, &["t"]);
    wait(engine.truncate_table(&held, &name("t")))
}

fn rename(engine: &Arc<Engine>) -> Result<(), Error> {
    let held = lock(engine, &["t", "other", "temporary"]);
    let renames = [("t", "temporary"), ("other", "t"), ("temporary", "other")];
    wait(engine.rename_tables(&held, &renames.map(|(from, to)| (name(from), name(to)))))
}

fn add_index(engine: &Arc<Engine>) -> Result<(), Error> {
    let held = lock(engine, &["t"]);
    let index = Index::new("more", vec![IndexPart::of(1), IndexPart::of(0)]);
    wait(engine.add_indexes(&held, &name("t"), vec![index])).map(|_| ())
}

fn drop_index(engine: &Arc<Engine>) -> Result<(), Error> {
    let held = lock(engine, &["t"]);
    wait(engine.drop_indexes(&held, &name("t"), &["k".to_owned(), "u".to_owned()])).map(|_| ())
}

fn exchange_indexes(engine: &Arc<Engine>) -> Result<(), Error> {
    let held = lock(engine, &["t"]);
    let mut def: TableDef = table(engine, "t").def().clone();
    def.indexes.retain(|index| index.name != "k");
    def.indexes.insert(1, Index::new("k", vec![IndexPart::of(1), IndexPart::of(0)]));
    def.columns[1].comment = "another".to_owned();
    wait(engine.change_indexes(&held, &name("t"), def)).map(|_| ())
}

fn rebuild(engine: &Arc<Engine>) -> Result<(), Error> {
    let held = lock(engine, &["t"]);
    let mut def: TableDef = table(engine, "t").def().clone();
    def.columns.push(Column::new("extra", SqlType::INT, 4));
    let mut map = |row: &RowView<'_>, out: &mut Vec<Value>| {
        out.extend(row.to_values());
        out.push(Value::Int(1));
        Ok(())
    };
    wait(engine.rebuild_table(&held, &name("t"), def, &mut map)).map(|_| ())
}

fn drop_schema(engine: &Arc<Engine>) -> Result<(), Error> {
    let held = acquire(engine, ExclusiveLock::of_schema(engine, "test"));
    wait(engine.drop_schema(&held, "test")).map(|_| ())
}

/// Everything that the dictionary says, and the number of rows of each table.
fn describe(engine: &Arc<Engine>) -> Vec<String> {
    let dictionary = engine.dictionary();
    let tables = dictionary.tables("test").map(|table| {
        let indexes: Vec<_> = table.indexes.iter().map(|index| (&index.name, index.parts.len())).collect();
        let rows = Client::new(engine, table).scan(0).len();
        format!("{}: {} columns, {indexes:?}, {rows} rows", table.name, table.columns.len())
    });
    tables.chain(dictionary.schema("test").map(|schema| schema.name.clone())).collect()
}

fn prepared(seed: u64) -> (Arc<FaultFileSystem>, Arc<Engine>) {
    let disk = Arc::new(FaultFileSystem::new(seed));
    let engine = Engine::open(still(), disk.clone()).unwrap();
    create_schema(&engine);
    for (name, rows) in [("t", 60), ("other", 3)] {
        let table = create_table(&engine, definition(name));
        let mut client = Client::new(&engine, &table);
        for id in 0..rows {
            let length = if id % 20 == 0 { 20_000 } else { 300 };
            client.insert(&Row::new(id, id, Some(id), &vec![7; length])).unwrap();
        }
        client.commit();
    }
    (disk, engine)
}

fn survives(statement: Statement) {
    let (disk, engine) = prepared(1);
    let before = describe(&engine);
    let start = disk.changes();
    statement(&engine).unwrap();
    let after = describe(&engine);
    let writes = disk.changes() - start;
    assert!(writes > 0);
    drop(engine);
    for at in 1..=writes + 1 {
        let keeps = if at % 2 == 0 { CrashKeeps::Synced } else { CrashKeeps::Random };
        let (disk, engine) = prepared(at);
        disk.fail(Call::Change, at, Fault::Crash);
        let done = statement(&engine).is_ok();
        drop(engine);
        disk.crash(keeps);
        disk.clear_faults();
        let fs: Arc<dyn FileSystem> = disk.clone();
        let engine = Engine::open(still(), fs).unwrap();
        engine.rollback_step().unwrap();
        let found = describe(&engine);
        assert!(found == after || found == before && !done, "write {at}, {keeps:?}: {found:?}");
        while engine.purge_step().unwrap() {}
        let tables: Vec<_> = engine.dictionary().tables("test").cloned().collect();
        assert_eq!(engine.files.list_spaces().unwrap().len(), 2 + tables.len(), "write {at}, {keeps:?}");
        for table in &tables {
            check(&engine, table);
        }
    }
}

#[test]
fn create_table_is_all_or_nothing() {
    survives(create);
}

#[test]
fn drop_table_is_all_or_nothing() {
    survives(drop_table);
}

#[test]
fn truncate_table_is_all_or_nothing() {
    survives(truncate);
}

#[test]
fn rename_table_is_all_or_nothing() {
    survives(rename);
}

#[test]
fn create_index_is_all_or_nothing() {
    survives(add_index);
}

#[test]
fn drop_index_is_all_or_nothing() {
    survives(drop_index);
}

#[test]
fn an_exchange_of_indexes_is_all_or_nothing() {
    survives(exchange_indexes);
}

#[test]
fn a_rebuild_is_all_or_nothing() {
    survives(rebuild);
}

#[test]
fn drop_database_is_all_or_nothing() {
    survives(drop_schema);
}

/// The names of dropped tables become durable together, and their room is free when the statement ends
/// although a snapshot of the dictionary still knows them.
#[test]
fn tables_that_are_dropped_together_sync_their_directory_once() {
    let (disk, engine) = prepared(1);
    let known: Vec<_> = ["t", "other"].map(|name| table(&engine, name)).into();
    let files: Vec<_> = known.iter().map(|table| table.sole_partition().space().file().clone()).collect();
    let held = acquire(&engine, ExclusiveLock::of_schema(&engine, "test"));
    disk.start_trace();
    assert_eq!(wait(engine.drop_schema(&held, "test")).unwrap(), 2);
    let trace = disk.take_trace();
    let syncs = trace.lines().filter(|line| line.starts_with("sync_dir")).count();
    assert_eq!(syncs, 1, "{trace}");
    assert!(files.iter().all(|file| file.len().unwrap_or(0) == 0));
    drop(known);
}
