//! An engine in memory, a table, and calls that wait.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) use palisade_base::event::block_on as wait;
use palisade_base::event::retry_blocking;
use palisade_base::{PageNo, SpaceId};
use palisade_buffer::{PageSize, PlaceStore};
use palisade_catalog::descriptor::{Index, IndexPart};
use palisade_catalog::{
    Bytes, CollationId, Column, PartitionDef, RowView, Schema, SqlType, TableDef, Value, key, row,
};
use palisade_io::{FileSystem, MemFileSystem, OpenMode};

use crate::table::Partition;
use crate::{
    AccessMode, Bound, Direction, Engine, EngineConfig, Error, ExclusiveLock, IsolationLevel, KeyRange,
    ReadMode, RowBatch, RowBuf, RowStamp, Scan, Table, TableName, Transaction, UpdateOutcome,
};

thread_local! {
    /// The size of pages of the engines that this thread opens.
    static SIZE: Cell<PageSize> = const { Cell::new(PageSize::DEFAULT) };
}

/// Runs a test with pages of another size.
pub(crate) fn at_size(size: PageSize, test: impl FnOnce()) {
    SIZE.set(size);
    test();
    SIZE.set(PageSize::DEFAULT);
}

pub(crate) fn config() -> EngineConfig {
    EngineConfig {
        datadir: PathBuf::from("/data"),
        page_size: SIZE.get(),
        buffer_pool_size: 16 << 20,
        redo_log_capacity: 32 << 20,
        log_buffer_size: 1 << 20,
        io_threads: 1,
        lru_scan_depth: 64,
        ..EngineConfig::default()
    }
}

/// Without background threads of its own.
pub(crate) fn quiet() -> EngineConfig {
    EngineConfig { purge_threads: 0, ..config() }
}

pub(crate) fn memory() -> Arc<dyn FileSystem> {
    Arc::new(MemFileSystem::new())
}

pub(crate) fn open(fs: &Arc<dyn FileSystem>) -> Arc<Engine> {
    Engine::open(quiet(), fs.clone()).unwrap()
}

/// A [`definition`] of a table that is written in place: for who looks for a page where its number says.
pub(crate) fn in_place(name: &str) -> TableDef {
    let option = ("PAGE_SINK".to_owned(), "in-place".to_owned());
    TableDef { options: vec![option], ..definition(name) }
}

/// `test`.`t` (id INT PRIMARY KEY, k INT, u INT UNIQUE, c VARBINARY), with an index on k.
pub(crate) fn definition(name: &str) -> TableDef {
    let mut def = TableDef {
        schema: "test".to_owned(),
        name: name.to_owned(),
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
        ..TableDef::default()
    };
    def.collation = CollationId::BINARY;
    def
}

/// The same with partitions of these names; rows are where [`home`] says.
pub(crate) fn partitioned(name: &str, partitions: &[&str]) -> TableDef {
    TableDef {
        partitioning: Some("PARTITION BY HASH (id)".to_owned()),
        partitions: partitions.iter().map(|name| PartitionDef::named(*name)).collect(),
        ..definition(name)
    }
}

/// The partition of a row of a table of so many.
pub(crate) fn home(id: i64, partitions: usize) -> usize {
    id.rem_euclid(partitions as i64) as usize
}

pub(crate) fn create_schema(engine: &Arc<Engine>) {
    let schema = Schema { name: "test".to_owned(), collation: CollationId::BINARY };
    wait(engine.create_schema(schema)).unwrap();
}

pub(crate) fn lock(engine: &Arc<Engine>, names: &[&str]) -> ExclusiveLock {
    let mut lock = ExclusiveLock::new(engine, names.iter().map(|name| TableName::new("test", *name)));
    retry_blocking(|| lock.acquire()).unwrap();
    lock
}

pub(crate) fn create_table(engine: &Arc<Engine>, def: TableDef) -> Arc<Table> {
    let lock = lock(engine, &[&def.name]);
    wait(engine.create_table(&lock, def)).unwrap()
}

pub(crate) fn table(engine: &Arc<Engine>, name: &str) -> Arc<Table> {
    engine.dictionary().table("test", name).unwrap().clone()
}

pub(crate) fn new_engine() -> (Arc<dyn FileSystem>, Arc<Engine>, Arc<Table>) {
    let fs = memory();
    let engine = open(&fs);
    create_schema(&engine);
    let table = create_table(&engine, definition("t"));
    (fs, engine, table)
}

/// A row of the test table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Row {
    pub(crate) id: i64,
    pub(crate) k: Option<i64>,
    pub(crate) u: Option<i64>,
    pub(crate) c: Vec<u8>,
}

impl Row {
    pub(crate) fn new(id: i64, k: i64, u: Option<i64>, c: &[u8]) -> Row {
        Row { id, k: Some(k), u, c: c.to_vec() }
    }

    pub(crate) fn encode(&self, table: &Table) -> Vec<u8> {
        let int = |value: Option<i64>| value.map_or(Value::Null, Value::Int);
        let values = [Value::Int(self.id), int(self.k), int(self.u), Value::Bytes(Bytes::from(&self.c[..]))];
        row::encode(table, &values).unwrap()
    }

    pub(crate) fn decode(table: &Table, bytes: &[u8]) -> Row {
        let values = RowView::new(table, bytes).unwrap().to_values();
        let int = |value: &Value| match value {
            Value::Int(value) => Some(*value),
            Value::Null => None,
            other => panic!("{other:?}"),
        };
        let c = match &values[3] {
            Value::Bytes(bytes) => bytes.to_vec(),
            Value::Null => Vec::new(),
            other => panic!("{other:?}"),
        };
        Row { id: int(&values[0]).unwrap(), k: int(&values[1]), u: int(&values[2]), c }
    }
}

pub(crate) fn key(table: &Table, index: usize, value: i64) -> Vec<u8> {
    let mut out = Vec::new();
    key::search_key(table, index, &[Value::Int(value).as_ref()], &mut out).unwrap();
    out
}

/// The entries of an index that are from one number to another, both among them.
pub(crate) fn range(table: &Table, index: usize, from: i64, to: i64) -> KeyRange {
    let mut upper = key(table, index, to);
    assert!(key::prefix_successor(&mut upper));
    KeyRange { lower: Bound::Included(key(table, index, from)), upper: Bound::Excluded(upper) }
}

/// A session's calls, waiting where they must.
pub(crate) struct Client {
    pub(crate) tx: Transaction,
    pub(crate) table: Arc<Table>,
}

impl Client {
    pub(crate) fn new(engine: &Arc<Engine>, table: &Arc<Table>) -> Client {
        Self::with(engine, table, IsolationLevel::RepeatableRead)
    }

    pub(crate) fn with(engine: &Arc<Engine>, table: &Arc<Table>, isolation: IsolationLevel) -> Client {
        Client { tx: engine.begin(isolation, AccessMode::ReadWrite), table: table.clone() }
    }

    pub(crate) fn insert(&mut self, row: &Row) -> Result<(), Error> {
        let bytes = row.encode(&self.table);
        let home = home(row.id, self.table.partition_count());
        retry_blocking(|| self.tx.insert_into(&self.table, home, &bytes))
    }

    pub(crate) fn read_as(&mut self, id: i64, mode: ReadMode) -> Result<Option<(Row, RowStamp)>, Error> {
        let mut out = RowBuf::new();
        let (key, home) = (key(&self.table, 0, id), home(id, self.table.partition_count()));
        let found = retry_blocking(|| self.tx.point_read_in(&self.table, home, 0, &key, mode, &mut out))?;
        Ok(found.then(|| (Row::decode(&self.table, out.row()), out.stamp())))
    }

    pub(crate) fn read(&mut self, id: i64) -> Option<Row> {
        self.read_as(id, ReadMode::Snapshot).unwrap().map(|(row, _)| row)
    }

    pub(crate) fn read_unique(&mut self, u: i64) -> Option<Row> {
        let mut out = RowBuf::new();
        let key = key(&self.table, 2, u);
        let read = || self.tx.point_read(&self.table, 2, &key, ReadMode::Snapshot, &mut out);
        retry_blocking(read).unwrap().then(|| Row::decode(&self.table, out.row()))
    }

    pub(crate) fn update(&mut self, id: i64, change: impl Fn(&mut Row)) -> Result<bool, Error> {
        loop {
            let Some((old, stamp)) = self.read_as(id, ReadMode::Current)? else { return Ok(false) };
            let mut new = old.clone();
            change(&mut new);
            let home = home(new.id, self.table.partition_count());
            let (old, new) = (old.encode(&self.table), new.encode(&self.table));
            let outcome = retry_blocking(|| self.tx.update_into(&self.table, stamp, &old, &new, home))?;
            if outcome == UpdateOutcome::Done {
                return Ok(true);
            }
        }
    }

    pub(crate) fn delete(&mut self, id: i64) -> Result<bool, Error> {
        loop {
            let Some((old, stamp)) = self.read_as(id, ReadMode::Current)? else { return Ok(false) };
            let old = old.encode(&self.table);
            if retry_blocking(|| self.tx.delete(&self.table, stamp, &old))? == UpdateOutcome::Done {
                return Ok(true);
            }
        }
    }

    pub(crate) fn scan_range(
        &mut self,
        index: usize,
        range: KeyRange,
        direction: Direction,
        mode: ReadMode,
    ) -> Result<Vec<Row>, Error> {
        let mut scan = Scan::new(self.table.clone(), index, range, direction, mode, false);
        let mut batch = RowBatch::new();
        let mut rows = Vec::new();
        while retry_blocking(|| self.tx.scan_next(&mut scan, &mut batch))? {
            rows.extend(batch.iter().map(|row| Row::decode(&self.table, row.row)));
        }
        Ok(rows)
    }

    pub(crate) fn scan(&mut self, index: usize) -> Vec<Row> {
        self.scan_range(index, KeyRange::default(), Direction::Forward, ReadMode::Snapshot).unwrap()
    }

    pub(crate) fn scan_equal(&mut self, index: usize, value: i64) -> Vec<Row> {
        let lower = key(&self.table, index, value);
        let mut upper = lower.clone();
        let upper = match key::prefix_successor(&mut upper) {
            true => Bound::Excluded(upper),
            false => Bound::Unbounded,
        };
        let range = KeyRange { lower: Bound::Included(lower), upper };
        self.scan_range(index, range, Direction::Forward, ReadMode::Snapshot).unwrap()
    }

    pub(crate) fn commit(&mut self) {
        wait(self.tx.commit()).unwrap();
    }

    pub(crate) fn rollback(&mut self) {
        wait(self.tx.rollback()).unwrap();
    }
}

/// Stops everything without writing anything back.
pub(crate) fn crash(engine: Arc<Engine>) {
    engine.background.stop();
    drop(engine);
}

/// Every page of the table's spaces is where it belongs, and every index agrees with the rows. Nothing is in
/// flight, and everything is purged.
pub(crate) fn check(engine: &Arc<Engine>, table: &Arc<Table>) {
    table.partitions().iter().for_each(check_partition);
    let mut client = Client::new(engine, table);
    let mut rows = client.scan(0);
    rows.sort();
    for index in 1..table.indexes.len() {
        let mut by_index = client.scan(index);
        by_index.sort();
        assert_eq!(by_index, rows, "index {index}");
    }
}

fn check_partition(partition: &Partition) {
    use palisade_btree::verify;
    let mut used = palisade_btree::PageSet::from_iter([crate::info::INFO_PAGE]);
    for tree in partition.trees() {
        let report = verify::verify_tree(tree).unwrap();
        assert!(report.damage.is_empty(), "{:?}", report.damage);
        used.insert_all(&report.pages);
    }
    let tree = partition.tree(0);
    let mut from = std::ops::Bound::Unbounded;
    loop {
        let mut chains = Vec::new();
        let end = retry_blocking(|| {
            chains.clear();
            tree.scan(from.as_ref().map(Vec::as_slice), palisade_btree::Direction::Forward, |_, value| {
                let (header, row) = palisade_txn::ClusteredHeader::split(value).unwrap();
                assert!(!header.is_deleted(), "purged");
                if header.flags & palisade_txn::EXTERNAL != 0 {
                    chains.push(crate::store::parse_reference(row).unwrap().0);
                }
                std::ops::ControlFlow::Continue(())
            })
        })
        .unwrap();
        for first in chains {
            let chain = verify::verify_chain(tree.space(), first, None).unwrap();
            assert_eq!(chain.damage, None);
            used.extend(chain.pages);
        }
        match end {
            palisade_btree::ScanEnd::Continue { separator, .. } => {
                from = std::ops::Bound::Included(separator.to_vec());
            }
            _ => break,
        }
    }
    let damage = verify::verify_space(tree.space(), &used).unwrap();
    assert!(damage.is_empty(), "{damage:?}");
}

/// Where a page is in the file of its space, of a directory that was shut down.
pub(crate) fn page_offset(fs: &Arc<dyn FileSystem>, space: SpaceId, page: u32) -> u64 {
    let [pages, map] =
        ["pal", "map"].map(|kind| PathBuf::from(format!("/data/spaces/{:06}.{kind}", space.0)));
    if !fs.exists(&map).unwrap() {
        return SIZE.get().offset(PageNo(page));
    }
    let [pages, map] = [pages, map].map(|path| fs.open(&path, OpenMode::EXISTING).unwrap());
    PlaceStore::open(space, pages, map, SIZE.get()).unwrap().place(PageNo(page)).offset(SIZE.get())
}
