//! The power is cut at every write of a data definition statement in turn: afterwards all of it has happened,
//! or nothing.

use std::sync::Arc;

use palisade_catalog::descriptor::{Index, IndexPart};
use palisade_catalog::descriptor::{ViewAlgorithm, ViewCheck};
use palisade_catalog::{
    CollationId, Column, PartitionDef, PartitionSet, RowView, SqlType, TableDef, Value, ViewDef,
};
use palisade_io::{Call, CrashKeeps, Fault, FaultFileSystem, FileSystem};

use super::harness::*;
use crate::planted::{self, Planted};
use crate::{
    Direction, Engine, EngineConfig, Error, ExclusiveLock, KeyRange, ReadMode, RowBatch, Scan, Table,
    TableName,
};

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

/// Columns are added under the rows, in another order than that of their ordinals.
fn add_columns(engine: &Arc<Engine>) -> Result<(), Error> {
    let held = lock(engine, &["t"]);
    let mut def: TableDef = table(engine, "t").def().clone();
    let ordinals = def.next_ordinal();
    let mut text = Column::new("text", SqlType::VarBinary { length: 9 }, ordinals + 1).not_null();
    text.instant_default = Value::bytes("late");
    def.columns.extend([text, Column::new("number", SqlType::INT, ordinals)]);
    def.add_row_version(ordinals);
    wait(engine.alter_definition(&held, &name("t"), def)).map(|_| ())
}

/// A view with a query that is longer than a page.
fn view(name: &str, query: &str) -> ViewDef {
    ViewDef {
        schema: "test".to_owned(),
        name: name.to_owned(),
        query: format!("{query} {}", "-".repeat(20_000)),
        tables: vec![("test".to_owned(), "t".to_owned())],
        is_local: true,
        columns: vec!["a".to_owned()],
        lists_columns: false,
        algorithm: ViewAlgorithm::Merge,
        check: ViewCheck::Cascaded,
        is_updatable: true,
        definer: "root@localhost".to_owned(),
        is_invokers: false,
        client_collation: CollationId::UTF8MB4_GENERAL_CI,
        connection_collation: CollationId::UTF8MB4_0900_AI_CI,
        created_us: 7,
    }
}

fn create_view(engine: &Arc<Engine>) -> Result<(), Error> {
    let held = lock(engine, &["new"]);
    wait(engine.put_view(&held, view("new", "select 1")))
}

fn replace_view(engine: &Arc<Engine>) -> Result<(), Error> {
    let held = lock(engine, &["v"]);
    wait(engine.put_view(&held, view("v", "select 2")))
}

fn drop_views(engine: &Arc<Engine>) -> Result<(), Error> {
    let held = lock(engine, &["v", "w"]);
    wait(engine.drop_views(&held, &[name("v"), name("w")]))
}

/// A table and a view exchange their names.
fn rename_view(engine: &Arc<Engine>) -> Result<(), Error> {
    let held = lock(engine, &["v", "other", "temporary"]);
    let renames = [("v", "temporary"), ("other", "v"), ("temporary", "other")];
    wait(engine.rename_tables(&held, &renames.map(|(from, to)| (name(from), name(to)))))
}

fn drop_schema(engine: &Arc<Engine>) -> Result<(), Error> {
    let held = acquire(engine, ExclusiveLock::of_schema(engine, "test"));
    wait(engine.drop_schema(&held, "test")).map(|_| ())
}

fn create_partitions(engine: &Arc<Engine>) -> Result<(), Error> {
    let held = lock(engine, &["new"]);
    wait(engine.create_table(&held, partitioned("new", &["p0", "p1", "p2"]))).map(|_| ())
}

fn drop_partitioned(engine: &Arc<Engine>) -> Result<(), Error> {
    let held = lock(engine, &["parts"]);
    wait(engine.drop_tables(&held, &[name("parts")]))
}

fn truncate_partitioned(engine: &Arc<Engine>) -> Result<(), Error> {
    let held = lock(engine, &["parts"]);
    wait(engine.truncate_table(&held, &name("parts")))
}

fn index_partitions(engine: &Arc<Engine>) -> Result<(), Error> {
    let held = lock(engine, &["parts"]);
    let index = Index::new("more", vec![IndexPart::of(1), IndexPart::of(0)]);
    wait(engine.add_indexes(&held, &name("parts"), vec![index])).map(|_| ())
}

/// The partitions of `parts` become those of these names and sources; rows of others go to the last, if so.
fn repartition(engine: &Arc<Engine>, to: &[(&str, Option<usize>)], keeps_rows: bool) -> Result<(), Error> {
    let held = lock(engine, &["parts"]);
    let partitions = to.iter().map(|(name, _)| PartitionDef::named(*name)).collect();
    let def = TableDef { partitions, ..table(engine, "parts").def().clone() };
    let sources: Vec<_> = to.iter().map(|(_, source)| *source).collect();
    let last = to.len() - 1;
    let mut router = |row: &RowView<'_>| match row.to_values()[0] {
        Value::Int(id) if id % 2 == 0 => Ok(last - 1),
        _ => Ok(last),
    };
    let router: Option<&mut crate::RowRouter<'_>> = if keeps_rows { Some(&mut router) } else { None };
    wait(engine.change_partitions(&held, &name("parts"), def, &sources, router)).map(|_| ())
}

fn add_partitions(engine: &Arc<Engine>) -> Result<(), Error> {
    let to = [("p0", Some(0)), ("p1", Some(1)), ("p2", Some(2)), ("p3", None), ("p4", None)];
    repartition(engine, &to, false)
}

/// The first of them, which keeps the counters.
fn drop_partitions(engine: &Arc<Engine>) -> Result<(), Error> {
    repartition(engine, &[("p1", Some(1))], false)
}

fn truncate_partitions(engine: &Arc<Engine>) -> Result<(), Error> {
    repartition(engine, &[("p0", None), ("p1", Some(1)), ("p2", None)], false)
}

fn reorganize_partitions(engine: &Arc<Engine>) -> Result<(), Error> {
    repartition(engine, &[("p1", Some(1)), ("a", None), ("b", None)], true)
}

fn exchange_partition(engine: &Arc<Engine>) -> Result<(), Error> {
    let held = lock(engine, &["parts", "single"]);
    wait(engine.exchange_partition(&held, &name("parts"), 0, &name("single")))
}

/// Everything that the dictionary says, and the number of rows of each table.
fn describe(engine: &Arc<Engine>) -> Vec<String> {
    let dictionary = engine.dictionary();
    let tables = dictionary.tables("test").map(|table| {
        let indexes: Vec<_> = table.indexes.iter().map(|index| (&index.name, index.parts.len())).collect();
        let rows_in = |number| {
            let (range, forward) = (KeyRange::default(), Direction::Forward);
            let scan = Scan::new(table.clone(), 0, range, forward, ReadMode::Snapshot, false);
            let mut scan = scan.of_partitions(&PartitionSet::one(number));
            let (mut client, mut batch, mut rows) = (Client::new(engine, table), RowBatch::new(), 0);
            while palisade_base::event::retry_blocking(|| client.tx.scan_next(&mut scan, &mut batch)).unwrap()
            {
                rows += batch.len();
            }
            rows
        };
        let partitions = table.partitions.iter().enumerate();
        let rows: Vec<_> = partitions.map(|(number, of)| (&of.name, rows_in(number))).collect();
        let next = table.auto_increment();
        format!("{}: {} columns, {indexes:?}, {rows:?} rows, {next}", table.name, table.columns.len())
    });
    let views = dictionary.views("test").map(|view| format!("{}: {}", view.name, &view.query[..9]));
    tables.chain(views).chain(dictionary.schema("test").map(|schema| schema.name.clone())).collect()
}

fn insert(engine: &Arc<Engine>, table: &Arc<Table>, ids: std::ops::Range<i64>) {
    let mut client = Client::new(engine, table);
    for id in ids {
        let length = if id % 20 == 0 { 20_000 } else { 300 };
        client.insert(&Row::new(id, id, Some(id), &vec![7; length])).unwrap();
    }
    client.commit();
}

/// Two tables with rows, one of them in place. With every other pair of seeds recovery begins after their
/// pages were made, so that it needs what is in the files.
fn prepared(seed: u64) -> (Arc<FaultFileSystem>, Arc<Engine>) {
    let disk = Arc::new(FaultFileSystem::new(seed));
    let engine = Engine::open(still(), disk.clone()).unwrap();
    create_schema(&engine);
    let tables = [definition("t"), in_place("other")].map(|def| create_table(&engine, def));
    let [t, other] = &tables;
    insert(&engine, t, 0..59);
    insert(&engine, other, 0..2);
    for name in ["v", "w"] {
        wait(engine.put_view(&lock(&engine, &[name]), view(name, "select 0"))).unwrap();
    }
    if seed % 4 >= 2 {
        engine.pool.checkpoint_sharply().unwrap();
    }
    insert(&engine, t, 59..60);
    insert(&engine, other, 2..3);
    (disk, engine)
}

/// A table of three partitions and one of one, whose rows belong in the first of these.
fn prepared_partitions(seed: u64) -> (Arc<FaultFileSystem>, Arc<Engine>) {
    let disk = Arc::new(FaultFileSystem::new(seed));
    let engine = Engine::open(still(), disk.clone()).unwrap();
    create_schema(&engine);
    let mut def = partitioned("parts", &["p0", "p1", "p2"]);
    def.columns[0].auto_increment = true;
    let parts = create_table(&engine, def);
    let single = create_table(&engine, definition("single"));
    insert(&engine, &parts, 0..59);
    if seed % 4 >= 2 {
        engine.pool.checkpoint_sharply().unwrap();
    }
    insert(&engine, &parts, 59..60);
    (100..105).for_each(|id| insert(&engine, &single, id * 3..id * 3 + 1));
    (disk, engine)
}

/// The engine that recovery makes of what is on the disk, and what it has.
fn recovered(disk: &Arc<FaultFileSystem>, case: &str) -> (Arc<Engine>, Vec<String>) {
    let fs: Arc<dyn FileSystem> = disk.clone();
    let engine = Engine::open(still(), fs).unwrap();
    engine.rollback_step().unwrap();
    let found = describe(&engine);
    while engine.purge_step().unwrap() {}
    let tables: Vec<_> = engine.dictionary().tables("test").cloned().collect();
    let partitions: usize = tables.iter().map(|table| table.partition_count()).sum();
    assert_eq!(engine.files.list_spaces().unwrap().len(), 2 + partitions, "{case}");
    for table in &tables {
        check(&engine, table);
    }
    (engine, found)
}

fn survives(statement: Statement) {
    survives_after(prepared, statement);
}

type Preparation = fn(u64) -> (Arc<FaultFileSystem>, Arc<Engine>);

fn survives_after(prepared: Preparation, statement: Statement) {
    let outcomes = [1, 2].map(|seed| {
        let (disk, engine) = prepared(seed);
        let before = describe(&engine);
        let start = disk.changes();
        statement(&engine).unwrap();
        (disk.changes() - start, before, describe(&engine))
    });
    let writes = outcomes[0].0.max(outcomes[1].0);
    assert!(outcomes.iter().all(|(writes, ..)| *writes > 0));
    let (_, before, after) = &outcomes[0];
    // What the statement leaves unsynced at its end may be kept in many ways.
    let ends = (1000..1024).map(|seed| (writes + 1, seed));
    for (at, seed) in (1..=writes + 1).map(|at| (at, at)).chain(ends) {
        let keeps = match seed {
            1000.. if seed % 4 == 0 => CrashKeeps::Everything,
            ..1000 if seed % 2 == 0 => CrashKeeps::Synced,
            _ => CrashKeeps::Random,
        };
        let case = format!("write {at}, seed {seed}, {keeps:?}");
        let (disk, engine) = prepared(seed);
        disk.fail(Call::Change, at, Fault::Crash);
        let done = statement(&engine).is_ok();
        drop(engine);
        disk.crash(keeps);
        let (engine, found) = recovered(&disk, &case);
        assert!(found == *after || found == *before && !done, "{case}: {found:?}");
        // What a life has found, the power cut that ends it does not take away.
        drop(engine);
        disk.crash(CrashKeeps::Synced);
        let (_, again) = recovered(&disk, &case);
        assert_eq!(again, found, "{case}, and another");
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
fn columns_are_added_under_rows_or_not() {
    survives(add_columns);
}

#[test]
fn create_table_with_partitions_is_all_or_nothing() {
    survives_after(prepared_partitions, create_partitions);
}

#[test]
fn drop_table_with_partitions_is_all_or_nothing() {
    survives_after(prepared_partitions, drop_partitioned);
}

#[test]
fn truncate_table_with_partitions_is_all_or_nothing() {
    survives_after(prepared_partitions, truncate_partitioned);
}

#[test]
fn an_index_of_partitions_is_all_or_nothing() {
    survives_after(prepared_partitions, index_partitions);
}

#[test]
fn add_partition_is_all_or_nothing() {
    survives_after(prepared_partitions, add_partitions);
}

#[test]
fn drop_partition_is_all_or_nothing() {
    survives_after(prepared_partitions, drop_partitions);
}

#[test]
fn truncate_partition_is_all_or_nothing() {
    survives_after(prepared_partitions, truncate_partitions);
}

#[test]
fn reorganize_partition_is_all_or_nothing() {
    survives_after(prepared_partitions, reorganize_partitions);
}

#[test]
fn exchange_partition_is_all_or_nothing() {
    survives_after(prepared_partitions, exchange_partition);
}

/// However many rows there are, a definition is what is written, and one sync of the log makes it durable.
#[test]
fn columns_that_are_added_under_rows_cost_one_sync() {
    let (disk, engine) = prepared(1);
    let before = engine.log.tail();
    disk.start_trace();
    add_columns(&engine).unwrap();
    let trace = disk.take_trace();
    let syncs = trace.lines().filter(|line| line.starts_with("sync")).count();
    assert_eq!(syncs, 1, "{trace}");
    assert!(engine.log.tail().0 - before.0 < 16 << 10);
    check(&engine, &table(&engine, "t"));
}

#[test]
fn create_view_is_all_or_nothing() {
    survives(create_view);
}

#[test]
fn a_replaced_view_is_the_old_one_or_the_new_one() {
    survives(replace_view);
}

#[test]
fn drop_view_is_all_or_nothing() {
    survives(drop_views);
}

#[test]
fn a_view_is_renamed_with_tables_or_not() {
    survives(rename_view);
}

/// A table and a view have no name in common.
#[test]
fn a_name_is_a_tables_or_a_views() {
    let (_, engine) = prepared(1);
    let held = lock(&engine, &["t", "v", "w"]);
    let taken = |result: Result<(), Error>| matches!(result, Err(Error::TableExists(_)));
    assert!(taken(wait(engine.put_view(&held, view("t", "select 1")))));
    assert!(taken(wait(engine.create_table(&held, definition("v"))).map(|_| ())));
    assert!(taken(wait(engine.rename_tables(&held, &[(name("t"), name("v"))]))));
    assert!(taken(wait(engine.rename_tables(&held, &[(name("w"), name("t"))]))));
    assert!(matches!(wait(engine.drop_views(&held, &[name("t")])), Err(Error::UnknownTable { .. })));
}

#[test]
fn drop_database_is_all_or_nothing() {
    survives(drop_schema);
}

/// A process that makes a data directory is killed at each write in turn, and the power cut that ends the
/// next one takes nothing away that this one has found.
#[test]
fn a_data_directory_that_a_killed_process_has_made_is_kept() {
    let changes = {
        let disk = Arc::new(FaultFileSystem::new(1));
        drop(Engine::open(still(), disk.clone()).unwrap());
        disk.changes()
    };
    let mut opened = 0;
    for at in 1..=changes + 1 {
        let disk = Arc::new(FaultFileSystem::new(at));
        disk.fail(Call::Change, at, Fault::Crash);
        drop(Engine::open(still(), disk.clone()));
        disk.crash(CrashKeeps::Everything);
        // What is not a data directory yet is refused.
        let Ok(engine) = Engine::open(still(), disk.clone()) else { continue };
        create_schema(&engine);
        insert(&engine, &create_table(&engine, definition("t")), 0..1);
        drop(engine);
        disk.crash(CrashKeeps::Synced);
        let (_, found) = recovered(&disk, &format!("killed at {at}"));
        assert_eq!(found.len(), 2, "killed at {at}: {found:?}");
        opened += 1;
    }
    assert!(opened > 1, "{opened} of {changes}");
}

/// The canary of the tests before: they find each mistake.
#[test]
fn power_cuts_find_planted_mistakes() {
    let mistakes: [(_, Preparation, Statement); 7] = [
        (Planted::NewNamesAreNotSynced, prepared, create),
        (Planted::NewNamesAreNotSynced, prepared, truncate),
        (Planted::NewNamesAreNotSynced, prepared_partitions, add_partitions),
        (Planted::RowsAreNotFlushed, prepared, drop_table),
        (Planted::RowsAreNotFlushed, prepared_partitions, drop_partitions),
        (Planted::FilesGoBeforeRows, prepared, drop_table),
        (Planted::DropsAreNotSynced, prepared, drop_table),
    ];
    let mut unfound = Vec::new();
    let mut search = |mistake, test: &(dyn Fn() + std::panic::RefUnwindSafe)| {
        planted::plant(&[mistake]);
        if std::panic::catch_unwind(test).is_ok() {
            unfound.push(mistake);
        }
    };
    for (mistake, prepared, statement) in mistakes {
        search(mistake, &|| survives_after(prepared, statement));
    }
    search(Planted::FoundNamesAreNotSynced, &a_data_directory_that_a_killed_process_has_made_is_kept);
    planted::plant(&[]);
    assert!(unfound.is_empty(), "{unfound:?}");
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
    assert_eq!(wait(engine.drop_schema(&held, "test")).unwrap(), 4);
    let trace = disk.take_trace();
    let syncs = trace.lines().filter(|line| line.starts_with("sync_dir")).count();
    assert_eq!(syncs, 1, "{trace}");
    assert!(files.iter().all(|file| file.len().unwrap_or(0) == 0));
    drop(known);
}
