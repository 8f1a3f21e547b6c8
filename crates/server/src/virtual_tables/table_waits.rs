//! How often tables are used: table_io_waits_summary_by_table and _by_index_usage,
//! table_lock_waits_summary_by_table, objects_summary_global_by_type.
//!
//! The counts are those of [`TableUsage`](palisade_engine::TableUsage): rows that statements have consumed,
//! by the index that found them; a row that is inserted is of none, one that is changed or deleted is of the
//! index that found it. Times are not taken, and are 0. Every table has its rows from the beginning, so that
//! an index that no statement has used since the server started is there with a count of 0. So is a table of
//! which setup_objects says that its use is not counted.

use std::sync::Arc;

use palisade_catalog::Value;
use palisade_engine::{AccessCounts, Table, TableAccess};
use palisade_schema::{Rows, Wanted, virtual_table};
use palisade_sql::show::information_schema::shown_indexes;

use super::{Definition, Source, Tables, of_each, optional_text, text};

pub(super) static TABLES: Tables = &[
    Definition::new(&table_io_waits_summary_by_table::DECL, |source, wanted| {
        of_each(
            tables(source, wanted).map(RowsSubject::of_table),
            table_io_waits_summary_by_table::row,
            wanted,
        )
    })
    .truncated_by(reset_rows),
    Definition::new(&table_io_waits_summary_by_index_usage::DECL, |source, wanted| {
        let subjects = tables(source, wanted).flat_map(RowsSubject::of_indexes);
        of_each(subjects, table_io_waits_summary_by_index_usage::row, wanted)
    })
    .truncated_by(reset_rows),
    Definition::new(&table_lock_waits_summary_by_table::DECL, |source, wanted| {
        of_each(tables(source, wanted).map(UsesSubject::of), table_lock_waits_summary_by_table::row, wanted)
    })
    .truncated_by(reset_uses),
    Definition::new(&objects_summary_global_by_type::DECL, objects).truncated_by(|source| {
        reset_rows(source);
        reset_uses(source);
    }),
];

/// What is not timed.
fn zero() -> Value {
    Value::UInt(0)
}

/// A stored table, and whether its use is counted.
#[derive(Clone)]
struct UsedTable {
    table: Arc<Table>,
    is_counted: bool,
}

impl UsedTable {
    fn counts(&self, index: Option<usize>) -> AccessCounts {
        if self.is_counted { self.table.usage().counts(index) } else { AccessCounts::default() }
    }

    fn uses(&self, access: TableAccess) -> u64 {
        if self.is_counted { self.table.usage().uses(access) } else { 0 }
    }
}

impl std::ops::Deref for UsedTable {
    type Target = Arc<Table>;

    fn deref(&self) -> &Arc<Table> {
        &self.table
    }
}

/// The stored tables that may be wanted, in order of name.
fn tables(source: &Source<'_>, wanted: &Wanted) -> std::vec::IntoIter<UsedTable> {
    let dictionary = source.host.engine.dictionary();
    let objects = &source.host.instruments.objects;
    let wanted = dictionary.all_tables().filter(|table| wanted.admits(&table.schema, &table.name));
    let mut tables: Vec<UsedTable> =
        wanted.map(|table| UsedTable { is_counted: objects.counts(table), table: table.clone() }).collect();
    tables.sort_by(|a, b| (&a.schema, &a.name).cmp(&(&b.schema, &b.name)));
    tables.into_iter()
}

fn reset_rows(source: &Source<'_>) {
    source.host.engine.dictionary().all_tables().for_each(|table| table.usage().reset_rows());
}

fn reset_uses(source: &Source<'_>) {
    source.host.engine.dictionary().all_tables().for_each(|table| table.usage().reset_uses());
}

/// How the rows of a table were accessed, by an index or in all ways.
struct RowsSubject {
    table: UsedTable,
    index: Option<usize>,
    counts: AccessCounts,
}

impl RowsSubject {
    fn of_table(table: UsedTable) -> RowsSubject {
        let indexes = (0..table.indexes.len()).map(Some).chain([None]);
        let counts = indexes.map(|index| table.counts(index));
        let counts = counts.fold(AccessCounts::default(), |sum, counts| sum + counts);
        RowsSubject { table, index: None, counts }
    }

    fn of_indexes(table: UsedTable) -> Vec<RowsSubject> {
        let indexes = shown_indexes(&table).map(|(number, _)| Some(number)).chain([None]);
        let of_index = |index: Option<usize>| RowsSubject {
            table: table.clone(),
            index,
            counts: match index {
                // By a key that has no name, rows are found as without one.
                None => hidden(&table)
                    .map(|index| table.counts(index))
                    .fold(AccessCounts::default(), |sum, counts| sum + counts),
                index => table.counts(index),
            },
        };
        indexes.map(of_index).collect()
    }

    fn index_name(&self) -> Option<&str> {
        self.index.and_then(|index| self.table.indexes.get(index)).map(|index| &*index.name)
    }
}

/// What is counted without the name of an index.
fn hidden(table: &Table) -> impl Iterator<Item = Option<usize>> {
    let hidden = table.indexes.iter().enumerate().filter(|(_, index)| index.hidden);
    hidden.map(|(number, _)| Some(number)).chain([None])
}

virtual_table! {
    mod table_io_waits_summary_by_table = "performance_schema"."table_io_waits_summary_by_table" of |it: RowsSubject| {
        OBJECT_TYPE: varchar(64) in utf8mb4_0900_ai_ci key MUL => text("TABLE"),
        OBJECT_SCHEMA: varchar(64) in utf8mb4_0900_ai_ci => text(&it.table.schema),
        OBJECT_NAME: varchar(64) in utf8mb4_0900_ai_ci => text(&it.table.name),
        COUNT_STAR: bigint_unsigned not null => Value::UInt(it.counts.all()),
        SUM_TIMER_WAIT: bigint_unsigned not null => zero(),
        MIN_TIMER_WAIT: bigint_unsigned not null => zero(),
        AVG_TIMER_WAIT: bigint_unsigned not null => zero(),
        MAX_TIMER_WAIT: bigint_unsigned not null => zero(),
        COUNT_READ: bigint_unsigned not null => Value::UInt(it.counts.fetched),
        SUM_TIMER_READ: bigint_unsigned not null => zero(),
        MIN_TIMER_READ: bigint_unsigned not null => zero(),
        AVG_TIMER_READ: bigint_unsigned not null => zero(),
        MAX_TIMER_READ: bigint_unsigned not null => zero(),
        COUNT_WRITE: bigint_unsigned not null => Value::UInt(it.counts.written()),
        SUM_TIMER_WRITE: bigint_unsigned not null => zero(),
        MIN_TIMER_WRITE: bigint_unsigned not null => zero(),
        AVG_TIMER_WRITE: bigint_unsigned not null => zero(),
        MAX_TIMER_WRITE: bigint_unsigned not null => zero(),
        COUNT_FETCH: bigint_unsigned not null => Value::UInt(it.counts.fetched),
        SUM_TIMER_FETCH: bigint_unsigned not null => zero(),
        MIN_TIMER_FETCH: bigint_unsigned not null => zero(),
        AVG_TIMER_FETCH: bigint_unsigned not null => zero(),
        MAX_TIMER_FETCH: bigint_unsigned not null => zero(),
        COUNT_INSERT: bigint_unsigned not null => Value::UInt(it.counts.inserted),
        SUM_TIMER_INSERT: bigint_unsigned not null => zero(),
        MIN_TIMER_INSERT: bigint_unsigned not null => zero(),
        AVG_TIMER_INSERT: bigint_unsigned not null => zero(),
        MAX_TIMER_INSERT: bigint_unsigned not null => zero(),
        COUNT_UPDATE: bigint_unsigned not null => Value::UInt(it.counts.updated),
        SUM_TIMER_UPDATE: bigint_unsigned not null => zero(),
        MIN_TIMER_UPDATE: bigint_unsigned not null => zero(),
        AVG_TIMER_UPDATE: bigint_unsigned not null => zero(),
        MAX_TIMER_UPDATE: bigint_unsigned not null => zero(),
        COUNT_DELETE: bigint_unsigned not null => Value::UInt(it.counts.deleted),
        SUM_TIMER_DELETE: bigint_unsigned not null => zero(),
        MIN_TIMER_DELETE: bigint_unsigned not null => zero(),
        AVG_TIMER_DELETE: bigint_unsigned not null => zero(),
        MAX_TIMER_DELETE: bigint_unsigned not null => zero(),
    }
}

virtual_table! {
    mod table_io_waits_summary_by_index_usage = "performance_schema"."table_io_waits_summary_by_index_usage" of |it: RowsSubject| {
        OBJECT_TYPE: varchar(64) in utf8mb4_0900_ai_ci key MUL => text("TABLE"),
        OBJECT_SCHEMA: varchar(64) in utf8mb4_0900_ai_ci => text(&it.table.schema),
        OBJECT_NAME: varchar(64) in utf8mb4_0900_ai_ci => text(&it.table.name),
        INDEX_NAME: varchar(64) in utf8mb4_0900_ai_ci => optional_text(it.index_name()),
        COUNT_STAR: bigint_unsigned not null => Value::UInt(it.counts.all()),
        SUM_TIMER_WAIT: bigint_unsigned not null => zero(),
        MIN_TIMER_WAIT: bigint_unsigned not null => zero(),
        AVG_TIMER_WAIT: bigint_unsigned not null => zero(),
        MAX_TIMER_WAIT: bigint_unsigned not null => zero(),
        COUNT_READ: bigint_unsigned not null => Value::UInt(it.counts.fetched),
        SUM_TIMER_READ: bigint_unsigned not null => zero(),
        MIN_TIMER_READ: bigint_unsigned not null => zero(),
        AVG_TIMER_READ: bigint_unsigned not null => zero(),
        MAX_TIMER_READ: bigint_unsigned not null => zero(),
        COUNT_WRITE: bigint_unsigned not null => Value::UInt(it.counts.written()),
        SUM_TIMER_WRITE: bigint_unsigned not null => zero(),
        MIN_TIMER_WRITE: bigint_unsigned not null => zero(),
        AVG_TIMER_WRITE: bigint_unsigned not null => zero(),
        MAX_TIMER_WRITE: bigint_unsigned not null => zero(),
        COUNT_FETCH: bigint_unsigned not null => Value::UInt(it.counts.fetched),
        SUM_TIMER_FETCH: bigint_unsigned not null => zero(),
        MIN_TIMER_FETCH: bigint_unsigned not null => zero(),
        AVG_TIMER_FETCH: bigint_unsigned not null => zero(),
        MAX_TIMER_FETCH: bigint_unsigned not null => zero(),
        COUNT_INSERT: bigint_unsigned not null => Value::UInt(it.counts.inserted),
        SUM_TIMER_INSERT: bigint_unsigned not null => zero(),
        MIN_TIMER_INSERT: bigint_unsigned not null => zero(),
        AVG_TIMER_INSERT: bigint_unsigned not null => zero(),
        MAX_TIMER_INSERT: bigint_unsigned not null => zero(),
        COUNT_UPDATE: bigint_unsigned not null => Value::UInt(it.counts.updated),
        SUM_TIMER_UPDATE: bigint_unsigned not null => zero(),
        MIN_TIMER_UPDATE: bigint_unsigned not null => zero(),
        AVG_TIMER_UPDATE: bigint_unsigned not null => zero(),
        MAX_TIMER_UPDATE: bigint_unsigned not null => zero(),
        COUNT_DELETE: bigint_unsigned not null => Value::UInt(it.counts.deleted),
        SUM_TIMER_DELETE: bigint_unsigned not null => zero(),
        MIN_TIMER_DELETE: bigint_unsigned not null => zero(),
        AVG_TIMER_DELETE: bigint_unsigned not null => zero(),
        MAX_TIMER_DELETE: bigint_unsigned not null => zero(),
    }
}

/// How many statements have used a table.
struct UsesSubject {
    table: UsedTable,
    read: u64,
    write: u64,
}

impl UsesSubject {
    fn of(table: UsedTable) -> UsesSubject {
        let uses = |access| table.uses(access);
        UsesSubject { read: uses(TableAccess::Read), write: uses(TableAccess::Write), table }
    }

    /// With the rows.
    fn all(&self) -> u64 {
        self.read + self.write + RowsSubject::of_table(self.table.clone()).counts.all()
    }
}

virtual_table! {
    mod table_lock_waits_summary_by_table = "performance_schema"."table_lock_waits_summary_by_table" of |it: UsesSubject| {
        OBJECT_TYPE: varchar(64) in utf8mb4_0900_ai_ci key MUL => text("TABLE"),
        OBJECT_SCHEMA: varchar(64) in utf8mb4_0900_ai_ci => text(&it.table.schema),
        OBJECT_NAME: varchar(64) in utf8mb4_0900_ai_ci => text(&it.table.name),
        COUNT_STAR: bigint_unsigned not null => Value::UInt(it.read + it.write),
        SUM_TIMER_WAIT: bigint_unsigned not null => zero(),
        MIN_TIMER_WAIT: bigint_unsigned not null => zero(),
        AVG_TIMER_WAIT: bigint_unsigned not null => zero(),
        MAX_TIMER_WAIT: bigint_unsigned not null => zero(),
        COUNT_READ: bigint_unsigned not null => Value::UInt(it.read),
        SUM_TIMER_READ: bigint_unsigned not null => zero(),
        MIN_TIMER_READ: bigint_unsigned not null => zero(),
        AVG_TIMER_READ: bigint_unsigned not null => zero(),
        MAX_TIMER_READ: bigint_unsigned not null => zero(),
        COUNT_WRITE: bigint_unsigned not null => Value::UInt(it.write),
        SUM_TIMER_WRITE: bigint_unsigned not null => zero(),
        MIN_TIMER_WRITE: bigint_unsigned not null => zero(),
        AVG_TIMER_WRITE: bigint_unsigned not null => zero(),
        MAX_TIMER_WRITE: bigint_unsigned not null => zero(),
        COUNT_READ_NORMAL: bigint_unsigned not null => zero(),
        SUM_TIMER_READ_NORMAL: bigint_unsigned not null => zero(),
        MIN_TIMER_READ_NORMAL: bigint_unsigned not null => zero(),
        AVG_TIMER_READ_NORMAL: bigint_unsigned not null => zero(),
        MAX_TIMER_READ_NORMAL: bigint_unsigned not null => zero(),
        COUNT_READ_WITH_SHARED_LOCKS: bigint_unsigned not null => zero(),
        SUM_TIMER_READ_WITH_SHARED_LOCKS: bigint_unsigned not null => zero(),
        MIN_TIMER_READ_WITH_SHARED_LOCKS: bigint_unsigned not null => zero(),
        AVG_TIMER_READ_WITH_SHARED_LOCKS: bigint_unsigned not null => zero(),
        MAX_TIMER_READ_WITH_SHARED_LOCKS: bigint_unsigned not null => zero(),
        COUNT_READ_HIGH_PRIORITY: bigint_unsigned not null => zero(),
        SUM_TIMER_READ_HIGH_PRIORITY: bigint_unsigned not null => zero(),
        MIN_TIMER_READ_HIGH_PRIORITY: bigint_unsigned not null => zero(),
        AVG_TIMER_READ_HIGH_PRIORITY: bigint_unsigned not null => zero(),
        MAX_TIMER_READ_HIGH_PRIORITY: bigint_unsigned not null => zero(),
        COUNT_READ_NO_INSERT: bigint_unsigned not null => zero(),
        SUM_TIMER_READ_NO_INSERT: bigint_unsigned not null => zero(),
        MIN_TIMER_READ_NO_INSERT: bigint_unsigned not null => zero(),
        AVG_TIMER_READ_NO_INSERT: bigint_unsigned not null => zero(),
        MAX_TIMER_READ_NO_INSERT: bigint_unsigned not null => zero(),
        COUNT_READ_EXTERNAL: bigint_unsigned not null => Value::UInt(it.read),
        SUM_TIMER_READ_EXTERNAL: bigint_unsigned not null => zero(),
        MIN_TIMER_READ_EXTERNAL: bigint_unsigned not null => zero(),
        AVG_TIMER_READ_EXTERNAL: bigint_unsigned not null => zero(),
        MAX_TIMER_READ_EXTERNAL: bigint_unsigned not null => zero(),
        COUNT_WRITE_ALLOW_WRITE: bigint_unsigned not null => zero(),
        SUM_TIMER_WRITE_ALLOW_WRITE: bigint_unsigned not null => zero(),
        MIN_TIMER_WRITE_ALLOW_WRITE: bigint_unsigned not null => zero(),
        AVG_TIMER_WRITE_ALLOW_WRITE: bigint_unsigned not null => zero(),
        MAX_TIMER_WRITE_ALLOW_WRITE: bigint_unsigned not null => zero(),
        COUNT_WRITE_CONCURRENT_INSERT: bigint_unsigned not null => zero(),
        SUM_TIMER_WRITE_CONCURRENT_INSERT: bigint_unsigned not null => zero(),
        MIN_TIMER_WRITE_CONCURRENT_INSERT: bigint_unsigned not null => zero(),
        AVG_TIMER_WRITE_CONCURRENT_INSERT: bigint_unsigned not null => zero(),
        MAX_TIMER_WRITE_CONCURRENT_INSERT: bigint_unsigned not null => zero(),
        COUNT_WRITE_LOW_PRIORITY: bigint_unsigned not null => zero(),
        SUM_TIMER_WRITE_LOW_PRIORITY: bigint_unsigned not null => zero(),
        MIN_TIMER_WRITE_LOW_PRIORITY: bigint_unsigned not null => zero(),
        AVG_TIMER_WRITE_LOW_PRIORITY: bigint_unsigned not null => zero(),
        MAX_TIMER_WRITE_LOW_PRIORITY: bigint_unsigned not null => zero(),
        COUNT_WRITE_NORMAL: bigint_unsigned not null => zero(),
        SUM_TIMER_WRITE_NORMAL: bigint_unsigned not null => zero(),
        MIN_TIMER_WRITE_NORMAL: bigint_unsigned not null => zero(),
        AVG_TIMER_WRITE_NORMAL: bigint_unsigned not null => zero(),
        MAX_TIMER_WRITE_NORMAL: bigint_unsigned not null => zero(),
        COUNT_WRITE_EXTERNAL: bigint_unsigned not null => Value::UInt(it.write),
        SUM_TIMER_WRITE_EXTERNAL: bigint_unsigned not null => zero(),
        MIN_TIMER_WRITE_EXTERNAL: bigint_unsigned not null => zero(),
        AVG_TIMER_WRITE_EXTERNAL: bigint_unsigned not null => zero(),
        MAX_TIMER_WRITE_EXTERNAL: bigint_unsigned not null => zero(),
    }
}

fn objects(source: &Source<'_>, wanted: &Wanted) -> Rows {
    of_each(tables(source, wanted).map(UsesSubject::of), objects_summary_global_by_type::row, wanted)
}

virtual_table! {
    mod objects_summary_global_by_type = "performance_schema"."objects_summary_global_by_type" of |it: UsesSubject| {
        OBJECT_TYPE: varchar(64) in utf8mb4_0900_ai_ci key MUL => text("TABLE"),
        OBJECT_SCHEMA: varchar(64) in utf8mb4_0900_ai_ci => text(&it.table.schema),
        OBJECT_NAME: varchar(64) in utf8mb4_0900_ai_ci => text(&it.table.name),
        COUNT_STAR: bigint_unsigned not null => Value::UInt(it.all()),
        SUM_TIMER_WAIT: bigint_unsigned not null => zero(),
        MIN_TIMER_WAIT: bigint_unsigned not null => zero(),
        AVG_TIMER_WAIT: bigint_unsigned not null => zero(),
        MAX_TIMER_WAIT: bigint_unsigned not null => zero(),
    }
}
