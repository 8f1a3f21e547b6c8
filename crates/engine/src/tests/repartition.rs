//! What changes the partitions of a table: they come, go, change places with tables, and are known again
//! after a start, and after the dictionary was lost.

use std::sync::Arc;

use palisade_base::event::retry_blocking;
use palisade_catalog::{PartitionDef, PartitionSet, TableDef};
use palisade_io::{FaultFileSystem, FileSystem};

use super::harness::*;
use super::partitions::{FOR_UPDATE, Reading, everything, filled, names, world, world_in};
use crate::{
    Direction, Engine, EngineConfig, Error, ForceRecovery, KeyRange, ReadMode, RowBatch, Scan, Table,
    TableName,
};

fn name(table: &str) -> TableName {
    TableName::new("test", table)
}

/// Changes the partitions of `t` to those of these names and sources; with `routed`, the rows of those that
/// are gone go to the new ones.
fn repartition(
    engine: &Arc<Engine>,
    to: &[(&str, Option<usize>)],
    routed: Option<&mut crate::RowRouter<'_>>,
) -> Result<Arc<Table>, Error> {
    let held = lock(engine, &["t"]);
    let partitions = to.iter().map(|(name, _)| PartitionDef::named(*name)).collect();
    let def = TableDef { partitions, ..table(engine, "t").def().clone() };
    let sources: Vec<_> = to.iter().map(|(_, source)| *source).collect();
    wait(engine.change_partitions(&held, &name("t"), def, &sources, routed))
}

fn ids_of(engine: &Arc<Engine>, name: &str) -> Vec<Vec<i64>> {
    let table = table(engine, name);
    let mut client = Client::new(engine, &table);
    let of = |client: &mut Client, number| {
        let scan =
            Scan::new(table.clone(), 1, KeyRange::default(), Direction::Forward, ReadMode::Snapshot, false);
        let (mut scan, mut batch) = (scan.of_partitions(&PartitionSet::one(number)), RowBatch::new());
        let mut ids = Vec::new();
        while retry_blocking(|| client.tx.scan_next(&mut scan, &mut batch)).unwrap() {
            ids.extend(batch.iter().map(|row| Row::decode(&table, row.row).id));
        }
        ids.sort_unstable();
        ids
    };
    (0..table.partition_count()).map(|number| of(&mut client, number)).collect()
}

fn is_sound(engine: &Arc<Engine>, name: &str) {
    while engine.purge_step().unwrap() {}
    let table = table(engine, name);
    let report = engine.check_table(&table).unwrap();
    assert_eq!(report.damage, Vec::new());
    let dictionary = engine.dictionary();
    let partitions: usize = dictionary.all_tables().map(|table| table.partition_count()).sum();
    // What a statement that failed has made goes in the background.
    let files = || engine.files.list_spaces().unwrap().len();
    for _ in 0..500 {
        if files() == 2 + partitions {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("{} files of {partitions} partitions", files());
}

#[test]
fn partitions_come_and_go() {
    let (engine, table) = filled(3, 12);
    let mut before = Client::new(&engine, &table);
    assert_eq!(before.scan(0).len(), 12);
    before.commit();
    let mut old = Client::new(&engine, &table);
    old.tx.open_snapshot();
    let stays = [("p0", Some(0)), ("p1", Some(1)), ("p2", Some(2))];
    let added = repartition(&engine, &[&stays[..], &[("p3", None)]].concat(), None).unwrap();
    assert_eq!(ids_of(&engine, "t"), [vec![0, 3, 6, 9], vec![1, 4, 7, 10], vec![2, 5, 8, 11], vec![]]);
    assert!(!table.is_current() && added.id == table.id);
    // Nothing is gone: a snapshot from before reads it all the same.
    old.table = added.clone();
    assert_eq!(old.scan(0).len(), 12);
    old.commit();
    old.tx.open_snapshot();
    let truncated =
        repartition(&engine, &[("p0", None), ("p1", Some(1)), ("p2", Some(2)), ("p3", Some(3))], None)
            .unwrap();
    assert_eq!(ids_of(&engine, "t"), [vec![], vec![1, 4, 7, 10], vec![2, 5, 8, 11], vec![]]);
    old.table = truncated;
    let range = KeyRange::default();
    let outcome = old.scan_range(0, range, Direction::Forward, ReadMode::Snapshot);
    assert!(matches!(outcome, Err(Error::TableNewer)), "{outcome:?}");
    old.rollback();
    repartition(&engine, &[("p1", Some(1)), ("z", Some(3)), ("p2", Some(2))], None).unwrap();
    assert_eq!(ids_of(&engine, "t"), [vec![1, 4, 7, 10], vec![], vec![2, 5, 8, 11]]);
    is_sound(&engine, "t");
    // Rows of two partitions become those of three others.
    let mut router = |row: &palisade_catalog::RowView<'_>| {
        let id = Row::decode(&super::harness::table(&engine, "t"), row.bytes()).id;
        Ok(1 + home(id, 3))
    };
    let to = [("z", Some(1)), ("a", None), ("b", None), ("c", None)];
    let made = repartition(&engine, &to, Some(&mut router)).unwrap();
    assert_eq!(ids_of(&engine, "t"), [vec![], vec![], vec![1, 4, 7, 10], vec![2, 5, 8, 11]]);
    is_sound(&engine, "t");
    // An error of the router leaves all as it was.
    let mut refuse = |_: &palisade_catalog::RowView<'_>| Err(Error::Definition("no partition".to_owned()));
    let to = [("z", Some(0)), ("d", None)];
    assert!(matches!(repartition(&engine, &to, Some(&mut refuse)), Err(Error::Definition(_))));
    let mut astray = |_: &palisade_catalog::RowView<'_>| Ok(0);
    assert!(matches!(repartition(&engine, &to, Some(&mut astray)), Err(Error::Inconsistent(_))));
    assert!(made.is_current());
    is_sound(&engine, "t");
    // One partition becomes two: refused.
    let twice = [("z", Some(0)), ("d", Some(0))];
    assert!(matches!(repartition(&engine, &twice, None), Err(Error::Definition(_))));
    assert!(matches!(repartition(&engine, &[("z", Some(7))], None), Err(Error::Definition(_))));
    let def = TableDef { partitioning: None, ..made.def().clone() };
    let sources: Vec<_> = (0..made.partition_count()).map(Some).collect();
    let bare = wait(engine.change_partitions(&lock(&engine, &["t"]), &name("t"), def, &sources, None));
    assert!(matches!(bare, Err(Error::Definition(_))));
    // Without partitions, and with some again.
    let held = lock(&engine, &["t"]);
    let def =
        TableDef { partitioning: None, partitions: vec![PartitionDef::default()], ..made.def().clone() };
    let all = &mut |_: &palisade_catalog::RowView<'_>| Ok(0);
    wait(engine.change_partitions(&held, &name("t"), def, &[None], Some(all))).unwrap();
    drop(held);
    assert_eq!(ids_of(&engine, "t"), [vec![1, 2, 4, 5, 7, 8, 10, 11]]);
    is_sound(&engine, "t");
}

#[test]
fn duplicates_of_merged_partitions_are_found() {
    let (engine, table) = world(2);
    let mut client = Client::new(&engine, &table);
    client.insert(&Row::new(1, 1, Some(7), b"")).unwrap();
    client.insert(&Row::new(2, 1, Some(7), b"")).unwrap();
    client.commit();
    let one = &mut |_: &palisade_catalog::RowView<'_>| Ok(0);
    let outcome = repartition(&engine, &[("p", None)], Some(one));
    assert!(matches!(outcome, Err(Error::DuplicateRow { index: 2, .. })), "{outcome:?}");
    assert_eq!(ids_of(&engine, "t"), [[2], [1]]);
    is_sound(&engine, "t");
}

/// As in MySQL: the table's counter is not behind the partition's rows, and begins anew where all are gone.
#[test]
fn counters_follow_the_rows_that_change_places() {
    let (engine, _) = filled(1, 0);
    let held = lock(&engine, &["t"]);
    wait(engine.drop_tables(&held, &[name("t")])).unwrap();
    drop(held);
    for def in [partitioned("t", &["p0", "p1"]), definition("s")] {
        let mut def = def;
        def.columns[0].auto_increment = true;
        create_table(&engine, def);
    }
    for (name, ids) in [("t", vec![2, 4, 201]), ("s", vec![10, 50])] {
        let mut client = Client::new(&engine, &table(&engine, name));
        ids.iter().for_each(|id| client.insert(&Row::new(*id, 1, None, b"")).unwrap());
        client.commit();
        let last = *ids.last().unwrap() as u64;
        retry_blocking(|| table(&engine, name).note_auto_increment(last)).unwrap();
    }
    let counters = || ["t", "s"].map(|name| table(&engine, name).auto_increment());
    let exchange = |number| {
        let held = lock(&engine, &["t", "s"]);
        wait(engine.exchange_partition(&held, &name("t"), number, &name("s"))).unwrap();
    };
    exchange(0);
    assert_eq!(counters(), [202, 51]);
    exchange(1);
    assert_eq!(counters(), [202, 202]);
    repartition(&engine, &[("p0", None), ("p1", Some(1))], None).unwrap();
    assert_eq!(counters(), [202, 202]);
    repartition(&engine, &[("p0", None), ("p1", None)], None).unwrap();
    assert_eq!(counters(), [1, 202]);
    is_sound(&engine, "t");
}

/// The counters follow the first partition.
#[test]
fn counters_go_on_in_another_first_partition() {
    let fs = memory();
    let engine = open(&fs);
    create_schema(&engine);
    let mut def = partitioned("t", &["p0", "p1"]);
    def.columns[0].auto_increment = true;
    let table = create_table(&engine, def);
    assert_eq!(retry_blocking(|| table.reserve_auto_increment(1000, 1, 1)).unwrap(), 1);
    let added = repartition(&engine, &[("p0", Some(0)), ("p1", Some(1)), ("p2", None)], None).unwrap();
    assert_eq!(added.auto_increment(), 1001, "no number is left out");
    let dropped = repartition(&engine, &[("p1", Some(1)), ("p2", Some(2))], None).unwrap();
    assert_eq!(retry_blocking(|| dropped.reserve_auto_increment(1, 1, 1)).unwrap(), 1001);
    crash(engine);
    drop((table, added, dropped));
    let engine = open(&fs);
    let table = super::harness::table(&engine, "t");
    let next = retry_blocking(|| table.reserve_auto_increment(1, 1, 1)).unwrap();
    assert!(next >= 1001, "{next}");
    let emptied = repartition(&engine, &[("p1", None), ("p2", Some(1))], None).unwrap();
    assert_eq!(retry_blocking(|| emptied.reserve_auto_increment(1, 1, 1)).unwrap(), next + 1);
    drop((table, emptied));
    engine.shutdown().unwrap();
    drop(engine);
    let engine = open(&fs);
    assert_eq!(super::harness::table(&engine, "t").auto_increment(), next + 2);
}

#[test]
fn a_partition_and_a_table_change_places() {
    let (engine, _) = filled(3, 12);
    let single = create_table(&engine, definition("s"));
    let mut client = Client::new(&engine, &single);
    // Not one before it is looked at.
    (100..105).for_each(|id| client.insert(&Row::new(id * 3 + 1, id, None, &[5; 20_000])).unwrap());
    client.commit();
    let mut old = Client::new(&engine, &single);
    old.tx.open_snapshot();
    let held = lock(&engine, &["t", "s"]);
    for number in [1, 0] {
        wait(engine.exchange_partition(&held, &name("t"), number, &name("s"))).unwrap();
        wait(engine.exchange_partition(&held, &name("t"), number, &name("s"))).unwrap();
    }
    wait(engine.exchange_partition(&held, &name("t"), 1, &name("s"))).unwrap();
    let outcome = wait(engine.exchange_partition(&held, &name("t"), 3, &name("s")));
    assert!(matches!(outcome, Err(Error::Definition(_))));
    let outcome = wait(engine.exchange_partition(&held, &name("s"), 0, &name("t")));
    assert!(matches!(outcome, Err(Error::Definition(_))));
    drop(held);
    let single = table(&engine, "s");
    assert_eq!(ids_of(&engine, "s"), [[1, 4, 7, 10]]);
    assert_eq!(ids_of(&engine, "t")[1], [301, 304, 307, 310, 313]);
    is_sound(&engine, "t");
    is_sound(&engine, "s");
    old.table = single.clone();
    let outcome = old.scan_range(0, KeyRange::default(), Direction::Forward, ReadMode::Snapshot);
    assert!(matches!(outcome, Err(Error::TableNewer)));
    // Both are changed, and rolled back, as before.
    for name in ["t", "s"] {
        let mut client = Client::new(&engine, &table(&engine, name));
        let id = if name == "t" { 301 } else { 1 };
        assert!(client.update(id, |row| row.k = Some(99)).unwrap());
        client.rollback();
        assert!(client.delete(id).unwrap());
        client.commit();
        is_sound(&engine, name);
    }
    // Another index, and they are not alike any more.
    let held = lock(&engine, &["t", "s"]);
    wait(engine.drop_indexes(&held, &name("s"), &["k".to_owned()])).unwrap();
    let outcome = wait(engine.exchange_partition(&held, &name("t"), 1, &name("s")));
    assert!(matches!(outcome, Err(Error::Definition(_))));
}

/// Row ids are counted by each table: rows of two partitions would have one key.
#[test]
fn rows_with_hidden_ids_stay_in_their_table() {
    let engine = open(&memory());
    create_schema(&engine);
    let hidden = |def: TableDef| {
        let mut def = TableDef { indexes: Vec::new(), ..def };
        def.choose_clustered_index();
        create_table(&engine, def)
    };
    let tables = [hidden(partitioned("t", &["p0", "p1"])), hidden(definition("s"))];
    assert!(tables.iter().all(|table| table.row_id_column().is_some()));
    let held = lock(&engine, &["t", "s"]);
    let outcome = wait(engine.exchange_partition(&held, &name("t"), 0, &name("s")));
    assert!(matches!(outcome, Err(Error::Definition(_))), "{outcome:?}");
    assert!(tables.iter().all(|table| table.is_current()));
}

/// The table is served again when the partition has gone, and its counter goes on.
#[test]
fn a_partition_whose_file_is_missing_can_be_dropped() {
    let fs = memory();
    let engine = open(&fs);
    create_schema(&engine);
    let mut def = partitioned("t", &["p0", "p1", "p2"]);
    def.columns[0].auto_increment = true;
    def.auto_increment = 5000;
    let t = create_table(&engine, def);
    let mut client = Client::new(&engine, &t);
    (0..9).for_each(|id| client.insert(&Row::new(id, id, None, b"")).unwrap());
    client.commit();
    let path = engine.files.space_path(t.space_id_of(1).unwrap());
    drop((client, t));
    engine.shutdown().unwrap();
    drop(engine);
    fs.remove(&path).unwrap();
    let engine = open(&fs);
    let mut client = Client::new(&engine, &table(&engine, "t"));
    let range = KeyRange::default();
    let outcome = client.scan_range(0, range, Direction::Forward, ReadMode::Snapshot);
    assert!(matches!(outcome, Err(Error::FileMissing { .. })));
    drop(client);
    let refused = repartition(&engine, &[("p0", Some(0)), ("p1", Some(1))], None);
    assert!(matches!(refused, Err(Error::FileMissing { .. })));
    assert_eq!(table(&engine, "t").auto_increment(), 5000);
    let dropped = repartition(&engine, &[("p0", Some(0)), ("p2", Some(2))], None).unwrap();
    assert_eq!(dropped.auto_increment(), 5000);
    assert_eq!(retry_blocking(|| dropped.reserve_auto_increment(1, 1, 1)).unwrap(), 5000);
    assert_eq!(ids_of(&engine, "t"), [[0, 3, 6], [2, 5, 8]]);
    is_sound(&engine, "t");
}

/// A partition that force makes readable does not stay in a table that is written, but can go.
#[test]
fn a_damaged_partition_can_be_dropped_but_not_kept() {
    let faults = Arc::new(FaultFileSystem::new(1));
    let fs: Arc<dyn FileSystem> = faults.clone();
    let engine = open(&fs);
    create_schema(&engine);
    let def = TableDef { options: in_place("t").options, ..partitioned("t", &["p0", "p1", "p2"]) };
    let t = create_table(&engine, def);
    let mut client = Client::new(&engine, &t);
    (0..9).for_each(|id| client.insert(&Row::new(id, id, None, b"")).unwrap());
    client.commit();
    let path = engine.files.space_path(t.space_id_of(1).unwrap());
    drop((client, t));
    engine.shutdown().unwrap();
    drop(engine);
    // The information page.
    faults.flip_bit(&path, (16_384 + 9000) * 8 + 3);
    let forced = EngineConfig { force_recovery: ForceRecovery::IgnoreDamage, ..quiet() };
    let engine = Engine::open(forced, fs.clone()).unwrap();
    assert_eq!(ids_of(&engine, "t"), [[0, 3, 6], [1, 4, 7], [2, 5, 8]]);
    let refused = repartition(&engine, &[("p0", Some(0)), ("p1", Some(1))], None);
    assert!(matches!(refused, Err(Error::Corrupted { .. })), "{refused:?}");
    repartition(&engine, &[("p0", Some(0)), ("p2", Some(2))], None).unwrap();
    engine.shutdown().unwrap();
    drop(engine);
    let engine = open(&fs);
    assert_eq!(ids_of(&engine, "t"), [[0, 3, 6], [2, 5, 8]]);
    is_sound(&engine, "t");
}

/// More partitions than have the whole definition in their files.
#[test]
fn a_lost_dictionary_knows_the_partitions_again() {
    let fs = memory();
    let (engine, t) = world_in(&fs, 12);
    let other = create_table(&engine, partitioned("other", &["a", "b"]));
    for table in [&t, &other] {
        let mut client = Client::new(&engine, table);
        (0..40).for_each(|id| client.insert(&Row::new(id, id, Some(id), b"")).unwrap());
        client.commit();
    }
    let parted = ids_of(&engine, "t");
    // What is made last counts.
    let mut kept: Vec<_> = names(12).into_iter().zip((0..12).map(Some)).collect();
    kept.remove(3);
    let kept: Vec<_> = kept.iter().map(|(name, source)| (name.as_str(), *source)).collect();
    repartition(&engine, &kept, None).unwrap();
    drop((t, other));
    engine.shutdown().unwrap();
    let dictionary = engine.files.space_path(palisade_base::SpaceId(0));
    drop(engine);
    fs.remove(&dictionary).unwrap();
    let forced = EngineConfig { force_recovery: ForceRecovery::IgnoreDamage, ..quiet() };
    let engine = Engine::open(forced, fs.clone()).unwrap();
    let found = ids_of(&engine, "t");
    assert_eq!((found.len(), &found[..3], &found[3..]), (11, &parted[..3], &parted[4..]));
    engine.shutdown().unwrap();
    drop(engine);
    let engine = open(&fs);
    assert_eq!(ids_of(&engine, "t"), found);
    assert_eq!(table(&engine, "t").partitions[3].name, "p4");
    is_sound(&engine, "t");
    is_sound(&engine, "other");
}

/// Indexes, columns, names, TRUNCATE, a rebuild and DROP.
#[test]
fn definitions_of_partitioned_tables_change_as_others_do() {
    use palisade_catalog::descriptor::{Index, IndexPart};
    use palisade_catalog::{Column, SqlType, Value};
    let fs = memory();
    let engine = open(&fs);
    create_schema(&engine);
    let t = create_table(&engine, partitioned("t", &["p0", "p1", "p2"]));
    let mut client = Client::new(&engine, &t);
    (0..90).for_each(|id| client.insert(&Row::new(id, id / 10, Some(id), &[1; 300])).unwrap());
    client.commit();
    let index = Index::new("more", vec![IndexPart::of(1), IndexPart::of(0)]);
    let more = wait(engine.add_indexes(&lock(&engine, &["t", "u"]), &name("t"), vec![index])).unwrap();
    assert_eq!(more.indexes[3].trees.len(), 3);
    for (number, index) in more.indexes.iter().enumerate() {
        assert!(index.trees.iter().all(|tree| more.number_of(tree.id) == Some(number)));
    }
    assert_eq!(more.number_of(0), None);
    is_sound(&engine, "t");
    wait(engine.drop_indexes(&lock(&engine, &["t", "u"]), &name("t"), &["k".to_owned()])).unwrap();
    is_sound(&engine, "t");
    let mut def = table(&engine, "t").def().clone();
    let ordinals = def.next_ordinal();
    let mut column = Column::new("late", SqlType::INT, ordinals);
    column.instant_default = Value::Int(5);
    def.columns.push(column);
    def.add_row_version(ordinals);
    wait(engine.alter_definition(&lock(&engine, &["t", "u"]), &name("t"), def)).unwrap();
    is_sound(&engine, "t");
    wait(engine.rename_tables(&lock(&engine, &["t", "u"]), &[(name("t"), name("u"))])).unwrap();
    assert_eq!(table(&engine, "u").file_name_of(1), "u#p#p1");
    // Written anew, into fewer partitions.
    let mut def = table(&engine, "u").def().clone();
    def.forget_row_versions();
    def.partitions.truncate(2);
    let mut map = |row: &palisade_catalog::RowView<'_>, out: &mut Vec<Value>| {
        out.extend(row.to_values());
        Ok(())
    };
    let mut router = |row: &palisade_catalog::RowView<'_>| match row.to_values()[0] {
        Value::Int(id) => Ok(home(id, 2)),
        _ => Err(Error::Definition("an id is a number".to_owned())),
    };
    let rebuilt = wait(engine.rebuild_partitioned_table(
        &lock(&engine, &["u"]),
        &name("u"),
        def,
        &mut map,
        &mut router,
    ))
    .unwrap();
    assert_eq!(rebuilt.partition_count(), 2);
    assert_eq!(rebuilt.statistics().rows, 90);
    is_sound(&engine, "u");
    drop((t, more, rebuilt, client));
    engine.shutdown().unwrap();
    drop(engine);
    let engine = open(&fs);
    is_sound(&engine, "u");
    wait(engine.truncate_table(&lock(&engine, &["u"]), &name("u"))).unwrap();
    assert_eq!(table(&engine, "u").partition_count(), 2);
    assert_eq!(ids_of(&engine, "u"), [Vec::<i64>::new(), Vec::new()]);
    is_sound(&engine, "u");
    wait(engine.drop_tables(&lock(&engine, &["u"]), &[name("u")])).unwrap();
    assert_eq!(engine.files.list_spaces().unwrap().len(), 2);
    let owner = wait(engine.create_temporary_table(1, partitioned("x", &["p0"])));
    assert!(matches!(owner, Err(Error::Definition(_))));
}

/// There are fewer frames than ANALYZE TABLE looks at pages.
#[test]
fn a_thousand_partitions_are_made_read_and_dropped() {
    let (engine, table) = world(1000);
    let mut client = Client::new(&engine, &table);
    (0..3000).for_each(|id| client.insert(&Row::new(id, id % 7, Some(id), b"")).unwrap());
    client.commit();
    for direction in [Direction::Forward, Direction::Backward] {
        let reading = Reading { direction, ..everything(&table, ReadMode::Snapshot) };
        let mut rows = client.read_rows(&reading).unwrap();
        if direction == Direction::Backward {
            rows.reverse();
        }
        assert!(rows.iter().map(|row| row.id).eq(0..3000));
    }
    let first = Reading { wanted: Some(1), index: 1, ..everything(&table, ReadMode::Snapshot) };
    assert_eq!(client.read_rows(&first).unwrap().len(), 1);
    let any_order = Reading { any_order: true, ..everything(&table, FOR_UPDATE) };
    assert_eq!(client.read_rows(&any_order).unwrap().len(), 3000);
    client.commit();
    let mut analysis = table.analysis();
    retry_blocking(|| analysis.go_on()).unwrap();
    assert!(table.statistics().rows.abs_diff(3000) < 300);
    drop(client);
    let kept: Vec<_> = names(1000).into_iter().zip((0..1000).map(Some)).skip(1).collect();
    let kept: Vec<_> = kept.iter().map(|(name, source)| (name.as_str(), *source)).collect();
    repartition(&engine, &kept, None).unwrap();
    wait(engine.drop_tables(&lock(&engine, &["t"]), &[name("t")])).unwrap();
    assert_eq!(engine.files.list_spaces().unwrap().len(), 2);
}
