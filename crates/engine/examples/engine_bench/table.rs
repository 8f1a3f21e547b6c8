//! The table, and what a session does with it.

use std::sync::Arc;

pub use palisade_base::event::block_on;
use palisade_base::event::{retry, retry_blocking};
use palisade_base::prng::Prng;
use palisade_catalog::descriptor::{Index, IndexPart};
use palisade_catalog::{CollationId, Column, RowView, Schema, SqlType, TableDef, ValueRef, key, row};
use palisade_engine::{
    AccessMode, Bound, Direction, Engine, Error, ExclusiveLock, IsolationLevel, KeyRange, ReadMode, RowBatch,
    RowBuf, Scan, Table, TableName, Transaction, UpdateOutcome,
};

/// Creates schema `bench` and in it the table of `def`.
pub fn create_table(engine: &Arc<Engine>, def: TableDef) -> Arc<Table> {
    if engine.dictionary().schema("bench").is_none() {
        let schema = Schema { name: "bench".to_owned(), collation: CollationId::BINARY };
        block_on(engine.create_schema(schema)).expect("a schema is created");
    }
    let mut lock = ExclusiveLock::new(engine, [TableName::new("bench", &def.name[..])]);
    retry_blocking(|| lock.acquire()).expect("nobody uses the table");
    block_on(engine.create_table(&lock, def)).expect("a table is created")
}

/// Table `name`.
pub fn open_table(engine: &Arc<Engine>, name: &str) -> Arc<Table> {
    engine.dictionary().table("bench", name).expect("the table is there").clone()
}

/// sysbench's table.
pub fn sbtest() -> TableDef {
    let char = |length| SqlType::Char { length, collation: CollationId::BINARY };
    TableDef {
        schema: "bench".to_owned(),
        name: "sbtest1".to_owned(),
        columns: vec![
            Column::new("id", SqlType::INT, 0).not_null(),
            Column::new("k", SqlType::INT, 1).not_null(),
            Column::new("c", char(120), 2).not_null(),
            Column::new("pad", char(60), 3).not_null(),
        ],
        indexes: vec![Index::primary(vec![IndexPart::of(0)]), Index::new("k_1", vec![IndexPart::of(1)])],
        ..TableDef::default()
    }
}

/// Fills the table with `rows` rows.
pub fn load(engine: &Arc<Engine>, rows: i64) -> Arc<Table> {
    let table = create_table(engine, sbtest());
    let mut session = Session::new(engine, &table, rows, 1);
    for id in 1..=rows {
        session.make_row(id);
        retry_blocking(|| session.tx.insert(&session.table, &session.new)).expect("a row is inserted");
        if id % 1000 == 0 || id == rows {
            block_on(session.tx.commit()).expect("the load commits");
            session.restart();
        }
    }
    table
}

/// A session: its transaction and its buffers.
pub struct Session {
    /// Its transaction.
    pub tx: Transaction,
    table: Arc<Table>,
    prng: Prng,
    rows: i64,
    key: Vec<u8>,
    old: RowBuf,
    new: Vec<u8>,
    text: Vec<u8>,
    batch: RowBatch,
}

impl Session {
    /// On a table of `rows` rows.
    pub fn new(engine: &Arc<Engine>, table: &Arc<Table>, rows: i64, seed: u64) -> Session {
        Session {
            tx: engine.begin(IsolationLevel::RepeatableRead, AccessMode::ReadWrite),
            table: table.clone(),
            prng: Prng::new(seed),
            rows,
            key: Vec::new(),
            old: RowBuf::new(),
            new: Vec::new(),
            text: Vec::new(),
            batch: RowBatch::new(),
        }
    }

    /// After a commit.
    pub fn restart(&mut self) {
        self.tx.restart(IsolationLevel::RepeatableRead, AccessMode::ReadWrite);
    }

    fn random_id(&mut self) -> i64 {
        1 + self.prng.below(self.rows as u64) as i64
    }

    fn seek(&mut self, id: i64) {
        self.key.clear();
        key::search_key(&self.table, 0, &[ValueRef::Int(id)], &mut self.key).expect("an id is a key");
    }

    /// Digits in groups, as sysbench makes them.
    fn make_text(&mut self) {
        self.text.clear();
        while self.text.len() < 180 {
            let digits = self.prng.next_u64() % 100_000_000_000;
            self.text.extend_from_slice(format!("{digits:011}-").as_bytes());
        }
    }

    fn make_row(&mut self, id: i64) {
        self.make_text();
        let k = self.random_id();
        let (c, pad) = self.text[..179].split_at(119);
        let column = |number| match number {
            0 => ValueRef::Int(id),
            1 => ValueRef::Int(k),
            2 => ValueRef::Bytes(c),
            _ => ValueRef::Bytes(pad),
        };
        self.new.clear();
        row::encode_with(&self.table, column, &mut self.new).expect("a row");
    }

    /// Reads one row and ends the transaction.
    pub fn point_read(&mut self) {
        let id = self.random_id();
        self.seek(id);
        let Session { tx, table, key, old, .. } = self;
        let found = retry_blocking(|| tx.point_read(table, 0, key, ReadMode::Snapshot, old));
        assert!(found.expect("a row is read"), "row {id} is there");
        let ended = retry_blocking(|| tx.try_commit()).expect("reading commits");
        assert!(ended.is_none(), "reading changes nothing");
        self.restart();
    }

    /// Reads 100 rows in order of the primary key.
    pub fn range_read(&mut self) {
        let from = self.random_id().min(self.rows - 99);
        self.seek(from);
        let lower = Bound::Included(self.key.clone());
        self.seek(from + 99);
        let range = KeyRange { lower, upper: Bound::Included(self.key.clone()) };
        let mut scan = Scan::new(self.table.clone(), 0, range, Direction::Forward, ReadMode::Snapshot, false);
        let mut rows = 0;
        while retry_blocking(|| self.tx.scan_next(&mut scan, &mut self.batch)).expect("a range is read") {
            rows += self.batch.len();
        }
        assert_eq!(rows, 100, "rows from {from}");
        retry_blocking(|| self.tx.try_commit()).expect("reading commits");
        self.restart();
    }

    /// UPDATE SET k = k + 1 WHERE id = ?
    pub async fn update_index(&mut self) -> Result<(), Error> {
        let id = self.random_id();
        self.update(id, true).await
    }

    /// UPDATE SET c = ? WHERE id = ?
    pub async fn update_non_index(&mut self) -> Result<(), Error> {
        let id = self.random_id();
        self.make_text();
        self.update(id, false).await
    }

    async fn update(&mut self, id: i64, index: bool) -> Result<(), Error> {
        self.seek(id);
        loop {
            let Session { tx, table, key, old, new, text, .. } = &mut *self;
            if !retry(|| tx.point_read(table, 0, key, ReadMode::Current, old)).await? {
                // Between another session's delete and insert one may wait, but not see nothing.
                panic!("row {id} is not there");
            }
            let view = RowView::new(table, old.row()).expect("a row");
            let column = |number| match (number, index, view.column(number)) {
                (1, true, ValueRef::Int(k)) => ValueRef::Int(k % i64::from(i32::MAX) + 1),
                (2, false, _) => ValueRef::Bytes(&text[..119]),
                (_, _, value) => value,
            };
            new.clear();
            row::encode_with(table, column, new).expect("a row");
            if retry(|| tx.update(table, old.stamp(), old.row(), new)).await? == UpdateOutcome::Done {
                return Ok(());
            }
        }
    }

    /// DELETE WHERE id = ?; INSERT of another row with this id.
    pub async fn delete_insert(&mut self) -> Result<(), Error> {
        let id = self.random_id();
        self.seek(id);
        loop {
            let Session { tx, table, key, old, .. } = &mut *self;
            assert!(
                retry(|| tx.point_read(table, 0, key, ReadMode::Current, old)).await?,
                "row {id} is there"
            );
            if retry(|| tx.delete(table, old.stamp(), old.row())).await? == UpdateOutcome::Done {
                break;
            }
        }
        self.make_row(id);
        let Session { tx, table, new, .. } = &mut *self;
        retry(|| tx.insert(table, new)).await
    }

    /// The statements of sysbench's `oltp_write_only`.
    pub async fn write_only(&mut self) -> Result<(), Error> {
        self.update_index().await?;
        self.update_non_index().await?;
        self.delete_insert().await
    }

    /// Commits what `result` is the result of; false if it had to be rolled back.
    pub async fn end(&mut self, result: Result<(), Error>) -> bool {
        let done = match result {
            Ok(()) => {
                self.tx.commit().await.expect("a commit succeeds");
                true
            }
            Err(Error::Deadlock) => {
                self.tx.rollback().await.expect("a rollback succeeds");
                false
            }
            Err(error) => panic!("{error}"),
        };
        self.restart();
        done
    }
}
