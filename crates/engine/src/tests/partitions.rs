//! Tables of several partitions: rows that come, change, move and go, and what scans, snapshots and locks make
//! of it; and what changes the partitions.

use std::collections::BTreeMap;
use std::sync::Arc;

use palisade_base::Blocked;
use palisade_base::event::retry_blocking;
use palisade_base::prng::{Prng, test_seed};
use palisade_catalog::{PartitionDef, PartitionSet, TableDef};
use palisade_io::FileSystem;

use super::harness::*;
use crate::{
    Direction, Engine, EngineConfig, Error, ForceRecovery, IsolationLevel, KeyRange, LockMode, LockWait,
    ReadMode, RowBatch, RowBuf, Scan, Table, TableName,
};

const FOR_UPDATE: ReadMode = ReadMode::Locked(LockMode::Exclusive, LockWait::Wait);

type Model = BTreeMap<i64, Row>;

fn steps(count: u64) -> u64 {
    count * std::env::var("PALISADE_TEST_STEPS").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("p{number}")).collect()
}

fn world(count: usize) -> (Arc<Engine>, Arc<Table>) {
    world_in(&memory(), count)
}

fn world_in(fs: &Arc<dyn FileSystem>, count: usize) -> (Arc<Engine>, Arc<Table>) {
    let engine = open(fs);
    create_schema(&engine);
    let names = names(count);
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let table = create_table(&engine, partitioned("t", &names));
    (engine, table)
}

fn random_row(id: i64, prng: &mut Prng) -> Row {
    let length = if prng.one_in(30) { 20_000 } else { prng.below(400) as usize };
    Row::new(id, prng.below(30) as i64, (!prng.one_in(4)).then_some(id), &vec![prng.next_u64() as u8; length])
}

/// How a scan is made.
#[derive(Debug, Clone)]
struct Reading {
    index: usize,
    range: KeyRange,
    direction: Direction,
    mode: ReadMode,
    partitions: PartitionSet,
    any_order: bool,
    covering: bool,
    may_stop: bool,
    wanted: Option<usize>,
}

impl Client {
    fn read_rows(&mut self, reading: &Reading) -> Result<Vec<Row>, Error> {
        let Reading { index, range, direction, mode, partitions, any_order, covering, may_stop, wanted } =
            reading.clone();
        let mut scan = Scan::new(self.table.clone(), index, range, direction, mode, covering);
        if any_order {
            scan = scan.in_any_order();
        }
        if may_stop {
            scan = scan.that_may_stop();
        }
        if let Some(rows) = wanted {
            scan = scan.with_rows_wanted(rows);
        }
        let mut scan = scan.of_partitions(&partitions);
        let (mut batch, mut rows) = (RowBatch::new(), Vec::new());
        while retry_blocking(|| self.tx.scan_next(&mut scan, &mut batch))? {
            assert!(!batch.is_empty());
            for row in batch.iter() {
                let bytes = row.row;
                let row_is = Row::decode(&self.table, bytes);
                assert_eq!(row.stamp.partition(), home(row_is.id, self.table.partition_count()));
                rows.push(reading.shown(row_is));
            }
        }
        Ok(rows)
    }
}

impl Reading {
    /// What a covering scan says of a row, or more.
    fn shown(&self, row: Row) -> Row {
        match (self.covering, self.index) {
            (true, 1) => Row { u: None, c: Vec::new(), ..row },
            (true, 2) => Row { k: None, c: Vec::new(), ..row },
            _ => row,
        }
    }
}

fn random_reading(table: &Table, prng: &mut Prng) -> Reading {
    let index = prng.below(3) as usize;
    let (from, to) = (prng.below(60) as i64, prng.below(200) as i64);
    let modes = [ReadMode::Snapshot, ReadMode::Snapshot, ReadMode::Current, FOR_UPDATE];
    Reading {
        index,
        range: if prng.one_in(2) {
            KeyRange::default()
        } else {
            range(table, index, from.min(to), from.max(to))
        },
        direction: if prng.one_in(2) { Direction::Forward } else { Direction::Backward },
        mode: modes[prng.below(modes.len() as u64) as usize],
        partitions: match prng.one_in(3) {
            true => table.all_partitions(),
            false => (0..table.partition_count()).filter(|_| prng.one_in(2)).collect(),
        },
        any_order: prng.one_in(3),
        covering: prng.one_in(3),
        may_stop: prng.one_in(3),
        wanted: prng.one_in(4).then(|| 1 + prng.below(20) as usize),
    }
}

/// The rows that a scan has to give, in the order of the index.
fn expected(table: &Table, model: &Model, reading: &Reading) -> Vec<Row> {
    let count = table.partition_count();
    let entry = |row: &Row| {
        let mut key = Vec::new();
        let bytes = row.encode(table);
        let view = palisade_catalog::RowView::new(table, &bytes).unwrap();
        palisade_catalog::key::entry_key(table, reading.index, &view, &mut key).unwrap();
        key
    };
    let is_in = |key: &Vec<u8>| {
        use std::ops::RangeBounds;
        let bounds = (reading.range.lower.as_ops(), reading.range.upper.as_ops());
        RangeBounds::<[u8]>::contains(&bounds, &key[..])
    };
    let mut keyed: Vec<_> = model
        .values()
        .filter(|row| reading.partitions.contains(home(row.id, count)))
        .map(|row| (entry(row), row.clone()))
        .filter(|(key, _)| is_in(key))
        .collect();
    keyed.sort_by(|left, right| left.0.cmp(&right.0));
    if reading.direction == Direction::Backward {
        keyed.reverse();
    }
    if reading.any_order {
        keyed.sort_by_key(|(_, row)| home(row.id, count));
    }
    keyed.truncate(reading.wanted.unwrap_or(usize::MAX));
    keyed.into_iter().map(|(_, row)| reading.shown(row)).collect()
}

fn compare(client: &mut Client, model: &Model, prng: &mut Prng) {
    let table = client.table.clone();
    let reading = random_reading(&table, prng);
    let found = client.read_rows(&reading).unwrap();
    assert!(found == expected(&table, model, &reading), "{reading:?}");
}

/// One random change; false if it was refused.
fn change(client: &mut Client, model: &mut Model, prng: &mut Prng) {
    let id = prng.below(300) as i64;
    match prng.below(4) {
        0 | 1 => {
            let row = random_row(id, prng);
            match client.insert(&row) {
                Ok(()) => assert!(model.insert(id, row).is_none()),
                Err(Error::DuplicateKey { index }) => assert!(index == 0 && model.contains_key(&id)),
                Err(error) => panic!("{error}"),
            }
        }
        2 => {
            // Often into another partition.
            let to = if prng.one_in(2) { id } else { prng.below(300) as i64 };
            let new = random_row(to, prng);
            match client.update(id, |row| row.clone_from(&new)) {
                Ok(found) => {
                    assert_eq!(model.remove(&id).is_some(), found);
                    if found {
                        assert!(model.insert(to, new).is_none());
                    }
                }
                Err(Error::DuplicateKey { index }) => assert!(index == 0 && model.contains_key(&to)),
                Err(error) => panic!("{error}"),
            }
        }
        _ => assert_eq!(client.delete(id).unwrap(), model.remove(&id).is_some()),
    }
}

/// Random changes, rolled back in part and as a whole, beside a reader with an old snapshot.
#[test]
fn partitions_are_like_one_map() {
    let mut prng = Prng::new(test_seed(71));
    for count in [1, 2, 3, 7, 70] {
        let fs = memory();
        let (engine, table) = world_in(&fs, count);
        let mut client = Client::new(&engine, &table);
        let mut committed = Model::new();
        let mut old: Option<(Client, Model)> = None;
        for _ in 0..steps(40) {
            let mut model = committed.clone();
            for _ in 0..prng.below(60) {
                let (start, before) = (client.tx.savepoint(), model.clone());
                (0..prng.below(4)).for_each(|_| change(&mut client, &mut model, &mut prng));
                if prng.one_in(6) {
                    retry_blocking(|| client.tx.rollback_to(start)).unwrap();
                    model = before;
                }
            }
            (0..4).for_each(|_| compare(&mut client, &model, &mut prng));
            match prng.one_in(4) {
                true => client.rollback(),
                false => {
                    client.commit();
                    committed = model;
                }
            }
            (0..4).for_each(|_| compare(&mut client, &committed, &mut prng));
            client.commit();
            if let Some((reader, model)) = &mut old {
                for _ in 0..4 {
                    let reading = Reading { mode: ReadMode::Snapshot, ..random_reading(&table, &mut prng) };
                    let found = reader.read_rows(&reading).unwrap();
                    assert!(found == expected(&table, model, &reading), "an old snapshot: {reading:?}");
                }
            }
            match prng.below(6) {
                0 => old = None,
                1 => {
                    let mut reader = Client::new(&engine, &table);
                    reader.tx.open_snapshot();
                    old = Some((reader, committed.clone()));
                }
                _ => while engine.purge_step().unwrap() {},
            }
        }
        drop(old);
        while engine.purge_step().unwrap() {}
        check(&engine, &table);
        let report = engine.check_table(&table).unwrap();
        assert_eq!((report.damage, report.rows), (Vec::new(), committed.len() as u64));
        // With no page in memory each source has to wait.
        drop((client, table));
        engine.shutdown().unwrap();
        drop(engine);
        let engine = open(&fs);
        let mut client = Client::new(&engine, &super::harness::table(&engine, "t"));
        for _ in 0..20 {
            compare(&mut client, &committed, &mut prng);
            client.commit();
        }
    }
}

fn filled(count: usize, rows: i64) -> (Arc<Engine>, Arc<Table>) {
    let (engine, table) = world(count);
    let mut client = Client::new(&engine, &table);
    (0..rows).for_each(|id| client.insert(&Row::new(id, id / 10, Some(id), &[1; 100])).unwrap());
    client.commit();
    (engine, table)
}

fn everything(table: &Table, mode: ReadMode) -> Reading {
    Reading {
        index: 0,
        range: KeyRange::default(),
        direction: Direction::Forward,
        mode,
        partitions: table.all_partitions(),
        any_order: false,
        covering: false,
        may_stop: false,
        wanted: None,
    }
}

#[test]
fn points_are_read_where_they_are_or_anywhere() {
    let (engine, table) = filled(3, 30);
    let mut client = Client::new(&engine, &table);
    let mut out = RowBuf::new();
    for mode in [ReadMode::Snapshot, ReadMode::Change, FOR_UPDATE] {
        for (id, index) in [(10, 0), (10, 2), (29, 0), (29, 2)] {
            let key = key(&table, index, id);
            let mut read = |place| {
                retry_blocking(|| client.tx.point_read_in(&table, place, index, &key, mode, &mut out))
            };
            let found: Vec<_> = (0..3).map(|place| read(place).unwrap()).collect();
            let at = home(id, 3);
            assert_eq!(found, [at == 0, at == 1, at == 2]);
            assert!(matches!(read(3), Err(Error::Inconsistent(_)) | Ok(false)));
            assert!(retry_blocking(|| client.tx.point_read(&table, index, &key, mode, &mut out)).unwrap());
            assert_eq!((Row::decode(&table, out.row()).id, out.stamp().partition()), (id, at));
        }
        let missing = key(&table, 0, 77);
        assert!(!retry_blocking(|| client.tx.point_read(&table, 0, &missing, mode, &mut out)).unwrap());
    }
    let counted = |partitions: &PartitionSet| {
        let mut client = Client::new(&engine, &table);
        let scan =
            Scan::new(table.clone(), 0, KeyRange::default(), Direction::Forward, ReadMode::Snapshot, false);
        let (mut scan, mut rows) = (scan.of_partitions(partitions), 0);
        while let Some(more) = retry_blocking(|| client.tx.scan_count(&mut scan)).unwrap() {
            rows += more;
        }
        rows
    };
    assert_eq!(counted(&table.all_partitions()), 30);
    assert_eq!(counted(&[0, 2].into_iter().collect()), 20);
    assert_eq!(counted(&PartitionSet::none()), 0);
}

/// Whether inserting a row has to wait. It is given up then, and taken back otherwise.
fn waits_to_insert(client: &mut Client, id: i64) -> bool {
    let (start, bytes) = (client.tx.savepoint(), Row::new(id, id, None, b"").encode(&client.table));
    let home = home(id, client.table.partition_count());
    let outcome = client.tx.insert_into(&client.table, home, &bytes);
    let waits = match outcome {
        Ok(()) => false,
        Err(Blocked::Wait(event)) => !event.is_complete(),
        Err(Blocked::Error(error)) => panic!("{error}"),
    };
    client.tx.cancel_wait();
    retry_blocking(|| client.tx.rollback_to(start)).unwrap();
    waits
}

/// Ids are even, so that there are gaps.
#[test]
fn ranges_are_locked_in_the_partitions_that_are_read() {
    for (any_order, direction) in
        [(false, Direction::Forward), (true, Direction::Forward), (false, Direction::Backward)]
    {
        let (engine, table) = world(3);
        let mut reader = Client::new(&engine, &table);
        (0..60).for_each(|id| reader.insert(&Row::new(id * 2, id, None, b"")).unwrap());
        reader.commit();
        let mut writer = Client::new(&engine, &table);
        let partitions: PartitionSet = [0, 2].into_iter().collect();
        let reading = Reading {
            range: range(&table, 0, 20, 80),
            partitions: partitions.clone(),
            any_order,
            direction,
            ..everything(&table, FOR_UPDATE)
        };
        let found = reader.read_rows(&reading).unwrap();
        assert!(found.iter().all(|row| partitions.contains(home(row.id, 3))));
        assert_eq!(found.len(), (20..=80).filter(|id| id % 2 == 0 && id % 3 != 1).count());
        for id in (1..130).step_by(2) {
            let is_locked = (20..=80).contains(&id) && partitions.contains(home(id, 3));
            assert_eq!(waits_to_insert(&mut writer, id), is_locked, "{id}, {direction:?}");
        }
        reader.commit();
        assert!(!waits_to_insert(&mut writer, 21));
    }
}

/// A merged scan that may stop has locked a row of each partition, and those that it has given.
#[test]
fn a_merged_scan_locks_little_ahead() {
    let (engine, table) = filled(4, 400);
    let mut reader = Client::with(&engine, &table, IsolationLevel::ReadCommitted);
    let scan = Scan::new(table.clone(), 0, KeyRange::default(), Direction::Forward, FOR_UPDATE, false);
    let (mut scan, mut batch) = (scan.that_may_stop(), RowBatch::new());
    let mut ids = Vec::new();
    while ids.len() < 10 {
        assert!(retry_blocking(|| reader.tx.scan_next(&mut scan, &mut batch)).unwrap());
        ids.extend(batch.iter().map(|row| Row::decode(&table, row.row).id));
    }
    assert_eq!(ids, (0..ids.len() as i64).collect::<Vec<_>>());
    let mut writer = Client::new(&engine, &table);
    let waits = |writer: &mut Client, id: i64| {
        let mode = ReadMode::Locked(LockMode::Exclusive, LockWait::NoWait);
        let outcome = writer.read_as(id, mode);
        assert!(matches!(outcome, Ok(Some(_)) | Err(Error::LockNotAvailable)));
        outcome.is_err()
    };
    let locked = (0..400).filter(|id| waits(&mut writer, *id)).count();
    assert!((ids.len()..=ids.len() + 4).contains(&locked), "{locked} of {}", ids.len());
}

/// A row that moves is locked in both partitions, and its rollback brings it back.
#[test]
fn a_row_that_moves_is_one_row() {
    let (engine, table) = filled(2, 20);
    let mut writer = Client::new(&engine, &table);
    let mut reader = Client::new(&engine, &table);
    reader.tx.open_snapshot();
    assert!(writer.update(4, |row| row.id = 105).unwrap());
    assert!(matches!(writer.update(6, |row| row.id = 7), Err(Error::DuplicateKey { index: 0 })));
    assert!(writer.read(6).is_some(), "what fails half-way is undone");
    let nowait = ReadMode::Locked(LockMode::Exclusive, LockWait::NoWait);
    let mut other = Client::new(&engine, &table);
    for id in [4, 105] {
        assert!(matches!(other.read_as(id, nowait), Err(Error::LockNotAvailable)), "{id}");
    }
    writer.commit();
    assert!(reader.read(4).is_some() && reader.read(105).is_none());
    assert_eq!(reader.scan(1).len(), 20);
    assert!(other.read_as(4, nowait).unwrap().is_none() && other.read_as(105, nowait).unwrap().is_some());
    other.commit();
    writer.update(105, |row| row.id = 8888).unwrap();
    writer.rollback();
    assert!(writer.read(105).is_some());
}

#[test]
fn a_range_is_divided_over_all_partitions() {
    let (engine, table) = filled(5, 3000);
    let mut client = Client::new(&engine, &table);
    for index in 0..2 {
        let divided = retry_blocking(|| client.tx.divide(&table, index, KeyRange::default(), 6)).unwrap();
        assert!((2 - index..=6).contains(&divided.len()), "{}", divided.len());
        let mut rows = Vec::new();
        for range in divided {
            let mut reader = Client {
                tx: retry_blocking(|| client.tx.reader(&[&table])).unwrap().unwrap(),
                table: table.clone(),
            };
            let reading = Reading { index, range, ..everything(&table, ReadMode::Snapshot) };
            rows.extend(reader.read_rows(&reading).unwrap());
        }
        assert_eq!(rows, client.scan(index));
    }
}

#[test]
fn statistics_tell_the_partitions_apart() {
    let (engine, table) = world(3);
    let mut client = Client::new(&engine, &table);
    (0..900).for_each(|id| client.insert(&Row::new(id * 3, id % 10, Some(id), &[1; 100])).unwrap());
    (0..30).for_each(|id| client.insert(&Row::new(id * 3 + 1, id % 10, Some(id), &[1; 100])).unwrap());
    client.commit();
    retry_blocking(|| table.analyze()).unwrap();
    let statistics = table.statistics();
    let rows: Vec<_> = statistics.partitions.iter().map(|of| of.rows).collect();
    assert!(rows[0].abs_diff(900) < 100 && rows[1].abs_diff(30) < 10 && rows[2] == 0, "{rows:?}");
    assert_eq!(statistics.rows_in(&[1, 2].into_iter().collect()), rows[1]);
    assert_eq!(statistics.rows_in(&table.all_partitions()), statistics.rows);
    let alike = statistics.rows_per_key[1][0];
    assert!((60.0..140.0).contains(&alike), "{alike}");
    assert_eq!(table.entries_in_range_of(0, &KeyRange::default(), &PartitionSet::one(2)), Some(0));
    let all = table.entries_in_range(0, &KeyRange::default()).unwrap();
    assert!(all.abs_diff(930) < 200, "{all}");
    assert!(table.sample().unwrap().len() > 50);
    drop(engine);
}

fn name(table: &str) -> TableName {
    TableName::new("test", table)
}

/// Changes the partitions of `t` to those of these names and sources; with `routed`, the rows of those that are
/// gone go to the new ones.
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

/// The table is served again when the partition has gone.
#[test]
fn a_partition_whose_file_is_missing_can_be_dropped() {
    let fs = memory();
    let engine = open(&fs);
    create_schema(&engine);
    let t = create_table(&engine, partitioned("t", &["p0", "p1", "p2"]));
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
    repartition(&engine, &[("p0", Some(0)), ("p2", Some(2))], None).unwrap();
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
    retry_blocking(|| table.analyze()).unwrap();
    assert!(table.statistics().rows.abs_diff(3000) < 300);
    drop(client);
    let kept: Vec<_> = names(1000).into_iter().zip((0..1000).map(Some)).skip(1).collect();
    let kept: Vec<_> = kept.iter().map(|(name, source)| (name.as_str(), *source)).collect();
    repartition(&engine, &kept, None).unwrap();
    wait(engine.drop_tables(&lock(&engine, &["t"]), &[name("t")])).unwrap();
    assert_eq!(engine.files.list_spaces().unwrap().len(), 2);
}
