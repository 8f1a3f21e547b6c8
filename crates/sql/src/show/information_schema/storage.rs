//! Tables about storage: spaces, files, statistics, full-text words.

use std::sync::Arc;

use palisade_base::{SpaceId, sysvar, sysvar_catalogue};
use palisade_catalog::Value;
use palisade_engine::{PartitionStatistics, Table, TableStatistics};
use palisade_schema::{Rows, Wanted, virtual_table};
use palisade_session::virtual_tables::RowSource;

use super::innodb_columns::is_virtual;
use super::{Definition, Tables, by_table, number, of_static, shown_columns, text};

pub(super) static TABLES: Tables = &[
    Definition::new(&files::DECL, |source, wanted| of_each_space(source, wanted, files::row)),
    Definition::new(&data_files::DECL, |source, wanted| {
        by_table(source, wanted, |table, wanted| {
            let spaces = table.descriptor().def().spaces().enumerate();
            let files = spaces
                .flat_map(|(number, space)| file_paths(table, number, space).map(move |path| (space, path)));
            files.map(|file| data_files::row(&file, wanted)).collect()
        })
    }),
    Definition::new(&tables::DECL, |source, wanted| of_each_space(source, wanted, tables::row)),
    Definition::new(&tablespaces::DECL, |source, wanted| of_each_space(source, wanted, tablespaces::row)),
    Definition::new(&tablespaces_brief::DECL, |source, wanted| {
        of_each_space(source, wanted, tablespaces_brief::row)
    }),
    Definition::new(&table_statistics::DECL, |source, wanted| {
        of_each_space(source, wanted, table_statistics::row)
    }),
    Definition::new(&tablespace_extensions::DECL, |source, wanted| {
        of_each_space(source, wanted, tablespace_extensions::row)
    }),
    Definition::new(&stopwords::DECL, |_, wanted| of_static(STOPWORDS.split(' '), stopwords::row, wanted)),
];

/// A partition of a stored table, which has a space of its own, and the size of pages.
struct SpaceSubject {
    table: Arc<Table>,
    number: usize,
    statistics: PartitionStatistics,
    page_bytes: u64,
}

impl SpaceSubject {
    /// Bytes as pages.
    fn pages(&self, bytes: u64) -> Value {
        number(bytes / self.page_bytes)
    }

    fn bytes(&self) -> u64 {
        self.statistics.data_bytes + self.statistics.index_bytes
    }

    fn space(&self) -> SpaceId {
        self.table.space_id_of(self.number).unwrap_or_default()
    }

    /// `schema/table` or `schema/table#p#partition`, as InnoDB calls it.
    fn path(&self) -> Value {
        path(&self.table.schema, &self.table.file_name_of(self.number))
    }

    fn file_bytes(&self) -> (u64, u64) {
        self.table.partition_file_bytes(self.number)
    }
}

/// What is known of each partition of a table.
fn partition_statistics(table: &Table) -> Vec<PartitionStatistics> {
    let known = table.statistics();
    match known.partitions.len() == table.partition_count() {
        true => known.partitions.clone(),
        false => {
            let TableStatistics { rows, data_bytes, index_bytes, .. } = *known;
            vec![PartitionStatistics { rows, data_bytes, index_bytes }]
        }
    }
}

/// A row for each partition of each stored table.
fn of_each_space(
    source: &RowSource<'_>,
    wanted: &Wanted,
    row: fn(&SpaceSubject, &Wanted) -> palisade_schema::Row,
) -> Rows {
    let page_bytes = source.engine.page_size().bytes() as u64;
    // The names of these tables are not those of columns that are looked for by name.
    by_table(source, wanted, move |table, wanted| {
        let subject =
            |(number, statistics)| SpaceSubject { table: table.clone(), number, statistics, page_bytes };
        let known = partition_statistics(table).into_iter().enumerate();
        known.map(subject).map(|subject| row(&subject, wanted)).collect()
    })
}

/// `schema/table`, as InnoDB calls a table.
pub(super) fn path(schema: &str, table: &str) -> Value {
    text(format!("{schema}/{table}"))
}

/// `innodb_version`.
fn engine_version() -> Value {
    match sysvar_catalogue::INNODB_VERSION.declaration().kind {
        sysvar::Kind::Text(Some(version)) => text(version),
        _ => Value::Null,
    }
}

/// What InnoDB says of a row format. It means nothing here but the limit of an index's length.
struct RowFormat {
    name: &'static str,
    flag: u64,
    of_space: &'static str,
    space_flag: u64,
}

fn row_format(table: &Table) -> RowFormat {
    let (of_space, space_flag) = ("Compact or Redundant", 16_384);
    match table.descriptor().def().option("ROW_FORMAT") {
        Some("COMPACT") => RowFormat { name: "Compact", flag: 1, of_space, space_flag },
        Some("REDUNDANT") => RowFormat { name: "Redundant", flag: 0, of_space, space_flag },
        // A table in a space of its own.
        _ => RowFormat { name: "Dynamic", flag: 33, of_space: "Dynamic", space_flag: 16_417 },
    }
}

/// Where the file of a space is.
fn file_path(space: SpaceId) -> String {
    format!("./spaces/{}", palisade_engine::space_file_name(space))
}

/// Where the files of the space of one of a table's partitions are: two if it is written out of place.
fn file_paths(table: &Table, number: usize, space: SpaceId) -> impl Iterator<Item = String> + use<> {
    let has_map = table.page_sink_of(number) == Some(palisade_engine::PageSinkKind::OutOfPlace);
    let map = has_map.then(|| format!("./spaces/{}", palisade_engine::map_file_name(space)));
    std::iter::once(file_path(space)).chain(map)
}

virtual_table! {
    mod data_files = "information_schema"."INNODB_DATAFILES" of |it: (SpaceId, String)| {
        SPACE: varbinary(256) => text(it.0.0.to_string()),
        PATH: varchar(512) in utf8mb3_bin not null => text(&it.1),
    }
}

virtual_table! {
    mod tablespaces_brief = "information_schema"."INNODB_TABLESPACES_BRIEF" of |it: SpaceSubject| {
        SPACE: varbinary(256) => text(it.space().0.to_string()),
        NAME: varchar(268) in utf8mb3_bin not null => it.path(),
        PATH: varchar(512) in utf8mb3_bin not null => text(file_path(it.space())),
        FLAG: varbinary(256) => text(row_format(&it.table).space_flag.to_string()),
        SPACE_TYPE: varchar(7) not null default "" => text("Single"),
    }
}

virtual_table! {
    mod tables = "information_schema"."INNODB_TABLES" of |it: SpaceSubject| {
        TABLE_ID: bigint_unsigned not null default "" => number(it.table.descriptor().def().id),
        NAME: varchar(655) not null default "" => it.path(),
        FLAG: int not null default "" => number(row_format(&it.table).flag),
        N_COLS: int not null default "" => number(kept_columns(&it.table)),
        SPACE: bigint not null default "" => number(it.space().0),
        ROW_FORMAT: varchar(12) default "" => text(row_format(&it.table).name),
        ZIP_PAGE_SIZE: int_unsigned not null default "" => number(0u64),
        SPACE_TYPE: varchar(10) default "" => text("Single"),
        INSTANT_COLS: int not null default "" => number(0u64),
        TOTAL_ROW_VERSIONS: int not null default "" => number(it.table.descriptor().def().versions.count),
    }
}

/// InnoDB counts its own columns, too: row id, transaction id, undo pointer.
fn kept_columns(table: &Table) -> usize {
    shown_columns(table).filter(|(_, column)| !is_virtual(column)).count() + 3
}

/// The words that InnoDB's full-text indexes leave out by default.
const STOPWORDS: &str = "a about an are as at be by com de en for from how i in is it la of on or that the this to \
                         was what when where who will with und the www";

virtual_table! {
    mod stopwords = "information_schema"."INNODB_FT_DEFAULT_STOPWORD" of |it: &'static str| {
        value: varchar(18) not null default "" => text(it),
    }
}

virtual_table! {
    /// Every table is open, and its statistics are there, from the start on. They are made anew by
    /// themselves, and how many changes there have been since is not told.
    mod table_statistics = "information_schema"."INNODB_TABLESTATS" of |it: SpaceSubject| {
        TABLE_ID: bigint_unsigned not null default "" => number(it.table.descriptor().def().id),
        NAME: varchar(193) not null default "" => it.path(),
        STATS_INITIALIZED: varchar(193) not null default "" => text("Initialized"),
        NUM_ROWS: bigint_unsigned not null default "" => number(it.statistics.rows),
        CLUST_INDEX_SIZE: bigint_unsigned not null default "" => it.pages(it.statistics.data_bytes),
        OTHER_INDEX_SIZE: bigint_unsigned not null default "" => it.pages(it.statistics.index_bytes),
        MODIFIED_COUNTER: bigint_unsigned not null default "" => number(0u64),
        AUTOINC: bigint_unsigned not null default "" => number(counter(&it.table)),
        REF_COUNT: int not null default "" => number(1u64),
    }
}

fn counter(table: &Table) -> u64 {
    table.descriptor().def().auto_increment_column().map_or(0, |_| table.auto_increment())
}

virtual_table! {
    mod tablespace_extensions = "information_schema"."TABLESPACES_EXTENSIONS" of |it: SpaceSubject| {
        TABLESPACE_NAME: varchar(268) in utf8mb3_bin not null => it.path(),
        ENGINE_ATTRIBUTE: json => Value::Null,
    }
}

virtual_table! {
    mod tablespaces = "information_schema"."INNODB_TABLESPACES" of |it: SpaceSubject| {
        SPACE: int_unsigned not null default "" => number(it.space().0),
        NAME: varchar(655) not null default "" => it.path(),
        FLAG: int_unsigned not null default "" => number(row_format(&it.table).space_flag),
        ROW_FORMAT: varchar(22) default "" => text(row_format(&it.table).of_space),
        PAGE_SIZE: int_unsigned not null default "" => number(it.page_bytes),
        ZIP_PAGE_SIZE: int_unsigned not null default "" => number(0u64),
        SPACE_TYPE: varchar(10) default "" => text("Single"),
        FS_BLOCK_SIZE: int_unsigned not null default "" => number(4096u64),
        FILE_SIZE: bigint_unsigned not null default "" => number(it.file_bytes().0),
        ALLOCATED_SIZE: bigint_unsigned not null default "" => number(it.file_bytes().1),
        AUTOEXTEND_SIZE: bigint_unsigned not null default "" => number(0u64),
        SERVER_VERSION: varchar(10) default "" => engine_version(),
        SPACE_VERSION: int_unsigned not null default "" => number(1u64),
        ENCRYPTION: varchar(1) default "" => text("N"),
        STATE: varchar(10) default "" => text("normal"),
    }
}

/// What InnoDB would call an extent. A file grows by pages.
const EXTENT_BYTES: u64 = 1 << 20;

virtual_table! {
    /// A file for each partition of a table.
    mod files = "information_schema"."FILES" of |it: SpaceSubject| {
        FILE_ID: bigint => number(it.space().0),
        FILE_NAME: text in utf8mb3_bin => text(file_path(it.space())),
        FILE_TYPE: varchar(256) => text("TABLESPACE"),
        TABLESPACE_NAME: varchar(268) in utf8mb3_bin not null => it.path(),
        TABLE_CATALOG: varchar(0) not null default "" => text(""),
        TABLE_SCHEMA: varbinary(0) => Value::Null,
        TABLE_NAME: varbinary(0) => Value::Null,
        LOGFILE_GROUP_NAME: varchar(256) => Value::Null,
        LOGFILE_GROUP_NUMBER: bigint => Value::Null,
        ENGINE: varchar(64) not null => text("InnoDB"),
        FULLTEXT_KEYS: varbinary(0) => Value::Null,
        DELETED_ROWS: varbinary(0) => Value::Null,
        UPDATE_COUNT: varbinary(0) => Value::Null,
        FREE_EXTENTS: bigint => number(0u64),
        TOTAL_EXTENTS: bigint => number(it.bytes() / EXTENT_BYTES),
        EXTENT_SIZE: bigint => number(EXTENT_BYTES),
        INITIAL_SIZE: bigint => number(0u64),
        MAXIMUM_SIZE: bigint => Value::Null,
        AUTOEXTEND_SIZE: bigint => number(it.page_bytes),
        CREATION_TIME: varbinary(0) => Value::Null,
        LAST_UPDATE_TIME: varbinary(0) => Value::Null,
        LAST_ACCESS_TIME: varbinary(0) => Value::Null,
        RECOVER_TIME: varbinary(0) => Value::Null,
        TRANSACTION_COUNTER: varbinary(0) => Value::Null,
        VERSION: bigint => Value::Null,
        ROW_FORMAT: varchar(256) => Value::Null,
        TABLE_ROWS: varbinary(0) => Value::Null,
        AVG_ROW_LENGTH: varbinary(0) => Value::Null,
        DATA_LENGTH: varbinary(0) => Value::Null,
        MAX_DATA_LENGTH: varbinary(0) => Value::Null,
        INDEX_LENGTH: varbinary(0) => Value::Null,
        DATA_FREE: bigint => number(0u64),
        CREATE_TIME: varbinary(0) => Value::Null,
        UPDATE_TIME: varbinary(0) => Value::Null,
        CHECK_TIME: varbinary(0) => Value::Null,
        CHECKSUM: varbinary(0) => Value::Null,
        STATUS: varchar(256) => text("NORMAL"),
        EXTRA: varchar(256) => Value::Null,
    }
}
