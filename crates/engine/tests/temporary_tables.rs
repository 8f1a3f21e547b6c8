//! Temporary tables: changes of rows and undoing them, without redo; what a session leaves, and what a crash
//! does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palisade_base::event::{block_on as wait, retry_blocking};
use palisade_base::prng::{Prng, test_seed};
use palisade_catalog::{
    Bytes, CollationId, Column, Index, IndexPart, RowView, Schema, SqlType, TableDef, Value, ValueRef, key,
    row,
};
use palisade_engine::{
    AccessMode, Direction, Engine, EngineConfig, Error, IsolationLevel, KeyRange, ReadMode, RowBatch, RowBuf,
    RowStamp, Savepoint, Scan, Table, TemporaryTable, Transaction, UpdateOutcome,
};
use palisade_io::{FileSystem, MemFileSystem};

fn config() -> EngineConfig {
    EngineConfig {
        datadir: PathBuf::from("/data"),
        buffer_pool_size: 16 << 20,
        redo_log_capacity: 32 << 20,
        log_buffer_size: 1 << 20,
        io_threads: 1,
        lru_scan_depth: 64,
        purge_threads: 0,
        ..EngineConfig::default()
    }
}

fn open(fs: &Arc<dyn FileSystem>, config: EngineConfig) -> Arc<Engine> {
    Engine::open(config, fs.clone()).unwrap()
}

fn new_engine(config: EngineConfig) -> (Arc<dyn FileSystem>, Arc<Engine>) {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let engine = open(&fs, config);
    let schema = Schema { name: "test".to_owned(), collation: CollationId::BINARY };
    wait(engine.create_schema(schema)).unwrap();
    (fs, engine)
}

/// `test`.`own` (id INT PRIMARY KEY, k INT, u INT UNIQUE, c VARBINARY), with an index on k.
fn definition() -> TableDef {
    TableDef {
        schema: "test".to_owned(),
        name: "own".to_owned(),
        columns: vec![
            Column::new("id", SqlType::INT, 0).not_null(),
            Column::new("k", SqlType::INT, 1),
            Column::new("u", SqlType::INT, 2),
            Column::new("c", SqlType::VarBinary { length: 100_000 }, 3),
        ],
        indexes: vec![
            Index::primary(vec![IndexPart::of(0)]),
            Index::new("k", vec![IndexPart::of(1)]),
            Index { unique: true, ..Index::new("u", vec![IndexPart::of(2)]) },
        ],
        collation: CollationId::BINARY,
        ..TableDef::default()
    }
}

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    id: i64,
    k: Option<i64>,
    u: Option<i64>,
    c: Vec<u8>,
}

impl Row {
    fn new(id: i64, k: i64, u: Option<i64>, c: &[u8]) -> Row {
        Row { id, k: Some(k), u, c: c.to_vec() }
    }

    fn encode(&self, table: &Table) -> Vec<u8> {
        let int = |value: Option<i64>| value.map_or(Value::Null, Value::Int);
        let values = [Value::Int(self.id), int(self.k), int(self.u), Value::Bytes(Bytes::from(&self.c[..]))];
        row::encode(table, &values).unwrap()
    }

    fn decode(table: &Table, bytes: &[u8]) -> Row {
        let values = RowView::new(table, bytes).unwrap().to_values();
        let int = |value: &Value| match value {
            Value::Int(value) => Some(*value),
            Value::Null => None,
            other => panic!("{other:?}"),
        };
        let Value::Bytes(c) = &values[3] else { panic!("{values:?}") };
        Row { id: int(&values[0]).unwrap(), k: int(&values[1]), u: int(&values[2]), c: c.to_vec() }
    }
}

/// A session's calls, waiting where they must.
struct Client {
    tx: Transaction,
    table: Arc<Table>,
}

impl Client {
    fn new(engine: &Arc<Engine>, table: &Arc<Table>) -> Client {
        let tx = engine.begin(IsolationLevel::RepeatableRead, AccessMode::ReadWrite);
        Client { tx, table: table.clone() }
    }

    fn insert(&mut self, row: &Row) -> Result<(), Error> {
        let bytes = row.encode(&self.table);
        retry_blocking(|| self.tx.insert(&self.table, &bytes))
    }

    fn read(&mut self, id: i64) -> Option<(Row, RowStamp)> {
        let (mut search, mut out) = (Vec::new(), RowBuf::new());
        key::search_key(&self.table, 0, &[ValueRef::Int(id)], &mut search).unwrap();
        let read = || self.tx.point_read(&self.table, 0, &search, ReadMode::Current, &mut out);
        retry_blocking(read).unwrap().then(|| (Row::decode(&self.table, out.row()), out.stamp()))
    }

    fn update(&mut self, id: i64, change: impl Fn(&mut Row)) -> Result<bool, Error> {
        let Some((old, stamp)) = self.read(id) else { return Ok(false) };
        let mut new = old.clone();
        change(&mut new);
        let (old, new) = (old.encode(&self.table), new.encode(&self.table));
        let outcome = retry_blocking(|| self.tx.update(&self.table, stamp, &old, &new))?;
        assert_eq!(outcome, UpdateOutcome::Done);
        // What was read before is no longer the row.
        let late = retry_blocking(|| self.tx.delete(&self.table, stamp, &old))?;
        assert_eq!(late, UpdateOutcome::Changed);
        Ok(true)
    }

    fn delete(&mut self, id: i64) -> Result<bool, Error> {
        let Some((old, stamp)) = self.read(id) else { return Ok(false) };
        let old = old.encode(&self.table);
        let outcome = retry_blocking(|| self.tx.delete(&self.table, stamp, &old))?;
        assert_eq!(outcome, UpdateOutcome::Done);
        Ok(true)
    }

    fn scan(&mut self, index: usize) -> Vec<Row> {
        let (range, mode) = (KeyRange::default(), ReadMode::Snapshot);
        let mut scan = Scan::new(self.table.clone(), index, range, Direction::Forward, mode, false);
        let (mut batch, mut rows) = (RowBatch::new(), Vec::new());
        while retry_blocking(|| self.tx.scan_next(&mut scan, &mut batch)).unwrap() {
            rows.extend(batch.iter().map(|row| Row::decode(&self.table, row.row)));
        }
        rows
    }

    fn commit(&mut self) {
        wait(self.tx.commit()).unwrap();
    }

    fn rollback(&mut self) {
        wait(self.tx.rollback()).unwrap();
    }
}

/// Every index has the same rows.
fn check(client: &mut Client) {
    let rows = client.scan(0);
    for index in [1, 2] {
        let mut by_index = client.scan(index);
        by_index.sort();
        assert_eq!(by_index, rows, "index {index}");
    }
}

fn temporary(engine: &Arc<Engine>) -> TemporaryTable {
    wait(engine.create_temporary_table(1, definition())).unwrap()
}

fn assigned(engine: &Engine) -> u64 {
    engine.log_positions().assigned.0
}

type Model = BTreeMap<i64, Row>;

/// What a change of the model ends with, as the table's does.
fn put(model: &mut Model, row: Row, before: Option<i64>) -> Result<(), usize> {
    let others = || model.values().filter(|other| Some(other.id) != before);
    if others().any(|other| other.id == row.id) {
        return Err(0);
    }
    if row.u.is_some() && others().any(|other| other.u == row.u) {
        return Err(2);
    }
    if let Some(before) = before {
        model.remove(&before);
    }
    model.insert(row.id, row);
    Ok(())
}

fn random_row(random: &mut Prng) -> Row {
    let long =
        if random.one_in(12) { 5_000 + random.below(40_000) as usize } else { random.below(300) as usize };
    let u = (!random.one_in(3)).then(|| random.below(400) as i64);
    let byte = random.below(256) as u8;
    Row { id: random.below(400) as i64, k: Some(random.below(20) as i64), u, c: vec![byte; long] }
}

fn expect(outcome: Result<bool, Error>, model: Result<(), usize>) {
    match (outcome, model) {
        (Ok(true), Ok(())) => {}
        (Err(Error::DuplicateKey { index }), Err(expected)) => assert_eq!(index, expected),
        (outcome, model) => panic!("{outcome:?}, and not {model:?}"),
    }
}

fn step(random: &mut Prng, client: &mut Client, model: &mut Model) {
    let id = random.below(400) as i64;
    match random.below(5) {
        0 | 1 => {
            let row = random_row(random);
            expect(client.insert(&row).map(|()| true), put(model, row, None));
        }
        2 => {
            assert_eq!(client.delete(id).unwrap(), model.remove(&id).is_some());
        }
        _ => {
            let mut row = random_row(random);
            if random.one_in(2) {
                row.id = id;
            }
            let outcome = client.update(id, |old| old.clone_from(&row));
            match model.contains_key(&id) {
                true => expect(outcome, put(model, row, Some(id))),
                false => assert!(!outcome.unwrap()),
            }
        }
    }
}

fn compare(client: &mut Client, model: &Model) {
    let rows: Vec<Row> = model.values().cloned().collect();
    assert_eq!(client.scan(0), rows);
    let mut by_k = client.scan(1);
    by_k.sort();
    assert_eq!(by_k, rows);
}

/// Rows, savepoints, commits and rollbacks agree with a map, in a pool of fewer frames than there are pages.
#[test]
fn rows_behave_like_a_map_of_rows() {
    let mut random = Prng::new(test_seed(147));
    let config = EngineConfig { buffer_pool_size: 128 << 14, lru_scan_depth: 16, ..config() };
    let (_fs, engine) = new_engine(config);
    let own = temporary(&engine);
    let mut client = Client::new(&engine, own.table());
    let mut committed = Model::new();
    for _ in 0..25 {
        let mut model = committed.clone();
        let mut savepoints: Vec<(Savepoint, Model)> = Vec::new();
        for _ in 0..random.below(150) {
            match random.below(20) {
                0 => savepoints.push((client.tx.savepoint(), model.clone())),
                1 if !savepoints.is_empty() => {
                    savepoints.truncate(1 + random.below(savepoints.len() as u64) as usize);
                    let (savepoint, saved) = savepoints.last().unwrap();
                    retry_blocking(|| client.tx.rollback_to(*savepoint)).unwrap();
                    model.clone_from(saved);
                }
                _ => step(&mut random, &mut client, &mut model),
            }
        }
        compare(&mut client, &model);
        if random.one_in(3) {
            client.rollback();
        } else {
            client.commit();
            committed = model;
        }
        client.tx.restart(IsolationLevel::RepeatableRead, AccessMode::ReadOnly);
        compare(&mut client, &committed);
    }
    // Chains that COMMIT has released go with the next change.
    client.delete(committed.keys().next().copied().unwrap_or(0)).unwrap();
    client.commit();
    check(&mut client);
    drop((client, own));
    engine.shutdown().unwrap();
}

/// No byte of redo, no mark that a checkpoint would wait for, and nothing to be purged.
#[test]
fn changes_cost_no_redo() {
    let (_fs, engine) = new_engine(config());
    let (before, history) = (assigned(&engine), engine.history_length());
    let own = temporary(&engine);
    let mut client = Client::new(&engine, own.table());
    for id in 0..3_000 {
        client.insert(&Row::new(id, id % 7, Some(id), b"some bytes")).unwrap();
    }
    client.commit();
    client.update(5, |row| row.c = vec![7; 60_000]).unwrap();
    client.rollback();
    for id in 0..1_500 {
        assert!(client.delete(id).unwrap());
    }
    client.commit();
    assert_eq!(client.scan(1).len(), 1_500);
    // Where pages of other tables are written is in the log.
    let redo = assigned(&engine) - before;
    assert!(redo < 20_000, "{redo} bytes of redo");
    assert_eq!(engine.history_length(), history);
    check(&mut client);
    drop((client, own));
    engine.shutdown().unwrap();
}

/// More notes than a block has are read from their file.
#[test]
fn a_long_transaction_is_undone_from_its_file() {
    let (_fs, engine) = new_engine(config());
    let own = temporary(&engine);
    let mut client = Client::new(&engine, own.table());
    for id in 0..2_000 {
        client.insert(&Row::new(id, id, None, &[1; 400])).unwrap();
    }
    client.commit();
    let savepoint = client.tx.start_statement();
    for id in 0..2_000 {
        assert!(client.update(id, |row| row.c = vec![2; 400]).unwrap());
    }
    for id in 500..1_500 {
        assert!(client.delete(id).unwrap());
    }
    retry_blocking(|| client.tx.rollback_to(savepoint)).unwrap();
    assert!(client.scan(0).iter().all(|row| row.c == [1; 400]));
    assert_eq!(client.scan(2).len(), 2_000);
    client.commit();
    check(&mut client);
    drop((client, own));
    engine.shutdown().unwrap();
}

fn names_in(fs: &Arc<dyn FileSystem>, dir: &str) -> usize {
    match fs.exists(Path::new(dir)).unwrap() {
        true => fs.list(Path::new(dir)).unwrap().len(),
        false => 0,
    }
}

/// Neither a session's end nor a crash leaves anything of a temporary table, and a table is dropped at once.
#[test]
fn nothing_is_left_of_a_temporary_table() {
    let (fs, mut engine) = new_engine(config());
    let spaces = names_in(&fs, "/data/spaces");
    for crashes in [false, true] {
        let own = temporary(&engine);
        let mut client = Client::new(&engine, own.table());
        client.insert(&Row::new(1, 1, Some(1), b"gone")).unwrap();
        client.commit();
        assert_eq!(engine.temporary_tables().len(), 1);
        // The file has no name while it is used.
        assert_eq!((names_in(&fs, "/data/tmp"), names_in(&fs, "/data/spaces")), (0, spaces));
        client.insert(&Row::new(2, 2, Some(2), b"open")).unwrap();
        drop(own);
        assert!(engine.temporary_tables().is_empty());
        let refused = client.insert(&Row::new(3, 3, Some(3), b"late"));
        assert!(matches!(refused, Err(Error::TableChanged)));
        // Of a table that is gone there is nothing to undo.
        client.rollback();
        drop(client);
        if !crashes {
            engine.shutdown().unwrap();
        }
        drop(engine);
        engine = open(&fs, config());
        assert!(engine.temporary_tables().is_empty());
        assert_eq!((names_in(&fs, "/data/tmp"), names_in(&fs, "/data/spaces")), (0, spaces));
    }
    engine.shutdown().unwrap();
}
