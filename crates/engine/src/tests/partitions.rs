//! Tables of several partitions: rows that come, change, move and go, and what scans, snapshots and locks
//! make of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use palisade_base::Blocked;
use palisade_base::event::retry_blocking;
use palisade_base::prng::{Prng, test_seed};
use palisade_catalog::PartitionSet;
use palisade_io::FileSystem;

use super::harness::*;
use crate::{
    Direction, Engine, Error, IsolationLevel, KeyRange, LockMode, LockWait, ReadMode, RowBatch, RowBuf, Scan,
    Table,
};

pub(super) const FOR_UPDATE: ReadMode = ReadMode::Locked(LockMode::Exclusive, LockWait::Wait);

type Model = BTreeMap<i64, Row>;

fn steps(count: u64) -> u64 {
    count * std::env::var("PALISADE_TEST_STEPS").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

pub(super) fn names(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("p{number}")).collect()
}

pub(super) fn world(count: usize) -> (Arc<Engine>, Arc<Table>) {
    world_in(&memory(), count)
}

pub(super) fn world_in(fs: &Arc<dyn FileSystem>, count: usize) -> (Arc<Engine>, Arc<Table>) {
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
pub(super) struct Reading {
    pub(super) index: usize,
    pub(super) range: KeyRange,
    pub(super) direction: Direction,
    pub(super) mode: ReadMode,
    pub(super) partitions: PartitionSet,
    pub(super) any_order: bool,
    pub(super) covering: bool,
    pub(super) may_stop: bool,
    pub(super) wanted: Option<usize>,
}

impl Client {
    pub(super) fn read_rows(&mut self, reading: &Reading) -> Result<Vec<Row>, Error> {
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

pub(super) fn filled(count: usize, rows: i64) -> (Arc<Engine>, Arc<Table>) {
    let (engine, table) = world(count);
    let mut client = Client::new(&engine, &table);
    (0..rows).for_each(|id| client.insert(&Row::new(id, id / 10, Some(id), &[1; 100])).unwrap());
    client.commit();
    (engine, table)
}

pub(super) fn everything(table: &Table, mode: ReadMode) -> Reading {
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
            assert!(matches!(read(3), Err(Error::Inconsistent(_))));
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
    let mut analysis = table.analysis();
    retry_blocking(|| analysis.go_on()).unwrap();
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

/// A session waits for one row at a time: a merged scan that has to wait for one does not look at other
/// partitions.
#[test]
fn a_merged_scan_waits_for_one_row() {
    let (engine, table) = filled(2, 20);
    let mut holders = [2, 3].map(|id| {
        let mut holder = Client::new(&engine, &table);
        assert!(holder.update(id, |row| row.c = b"changed".to_vec()).unwrap());
        holder
    });
    for (mode, index) in [(ReadMode::Current, 1), (ReadMode::ChangeJoined, 0), (FOR_UPDATE, 0)] {
        let mut reader = Client::with(&engine, &table, IsolationLevel::ReadCommitted);
        // Rows 0 to 9 have the same key in index 1.
        let (from, to) = if index == 0 { (2, 3) } else { (0, 0) };
        let range = range(&table, index, from, to);
        let mut scan = Scan::new(table.clone(), index, range, Direction::Forward, mode, false);
        let mut batch = RowBatch::new();
        for _ in 0..3 {
            match reader.tx.scan_next(&mut scan, &mut batch) {
                Err(Blocked::Wait(event)) => assert!(!event.is_complete(), "{mode:?} by index {index}"),
                other => panic!("{other:?}"),
            }
        }
        reader.tx.cancel_wait();
        reader.rollback();
    }
    holders.iter_mut().for_each(|holder| holder.rollback());
}

/// However many rows are wanted of all partitions, little is read ahead of each.
#[test]
fn a_merged_scan_with_a_limit_reads_little_ahead() {
    let (engine, table) = filled(40, 8000);
    let mut reader = Client::new(&engine, &table);
    for index in 0..2 {
        let scan = Scan::new(
            table.clone(),
            index,
            KeyRange::default(),
            Direction::Forward,
            ReadMode::Snapshot,
            false,
        );
        let (mut scan, mut batch) = (scan.with_rows_wanted(5000), RowBatch::new());
        let mut rows = 0;
        while retry_blocking(|| reader.tx.scan_next(&mut scan, &mut batch)).unwrap() {
            rows += batch.len();
            let ahead = scan.rows_read_ahead();
            assert!(ahead <= 40 * 103, "{ahead} rows");
        }
        assert_eq!(rows, 5000);
    }
}

/// A row that is off its leaf is given by the call that has locked it: below REPEATABLE READ the caller can
/// give the lock back.
#[test]
fn a_merged_scan_gives_what_it_has_locked() {
    let (engine, table) = world(4);
    let mut writer = Client::new(&engine, &table);
    for id in 0..64 {
        writer.insert(&Row::new(id, 0, None, &[7; 60_000])).unwrap();
        writer.commit();
    }
    for index in 0..2 {
        let mut reader = Client::with(&engine, &table, IsolationLevel::ReadCommitted);
        let scan =
            Scan::new(table.clone(), index, KeyRange::default(), Direction::Forward, FOR_UPDATE, false);
        let (mut scan, mut batch, mut rows) = (scan, RowBatch::new(), 0);
        while retry_blocking(|| reader.tx.scan_next(&mut scan, &mut batch)).unwrap() {
            assert!(batch.iter().all(|row| row.newly_locked), "after {rows} rows by index {index}");
            rows += batch.len();
        }
        assert_eq!(rows, 64);
        reader.commit();
    }
}

/// What does not say into which of several partitions a row belongs is refused.
#[test]
fn rows_are_told_where_they_belong() {
    let (engine, table) = filled(2, 4);
    let mut client = Client::new(&engine, &table);
    let bytes = Row::new(7, 7, None, b"").encode(&table);
    let outcome = client.tx.insert(&table, &bytes);
    assert!(matches!(outcome, Err(Blocked::Error(Error::Inconsistent(_)))), "{outcome:?}");
    client.commit();
    let mut map = |row: &palisade_catalog::RowView<'_>, out: &mut Vec<palisade_catalog::Value>| {
        out.extend(row.to_values());
        Ok(())
    };
    let name = crate::TableName::new("test", "t");
    let rebuilt = wait(engine.rebuild_table(&lock(&engine, &["t"]), &name, table.def().clone(), &mut map));
    assert!(matches!(rebuilt, Err(Error::Definition(_))));
    let files = engine.files.list_spaces().unwrap().len();
    let def = palisade_catalog::TableDef { partitioning: None, ..partitioned("u", &["p0", "p1"]) };
    let made = wait(engine.create_table(&lock(&engine, &["u"]), def));
    assert!(matches!(made, Err(Error::Definition(_))));
    assert_eq!(engine.files.list_spaces().unwrap().len(), files);
    assert!(table.is_current());
}
