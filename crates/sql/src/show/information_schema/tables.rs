//! TABLES, PARTITIONS and TABLES_EXTENSIONS.

use std::sync::Arc;

use palisade_catalog::{CollationId, Value};
use palisade_engine::Table;
use palisade_schema::{Rows, Wanted, virtual_table};
use palisade_session::virtual_tables::{INFORMATION_SCHEMA, RowSource, SYS};

use super::{
    Definition, Tables, by_table, catalog, number, optional, second, text, views, wanted_declarations,
};
use crate::show::{create, partition};
use crate::sys;

pub(super) static TABLES: Tables = &[
    Definition::new(&tables_view::DECL, all_tables),
    Definition::new(&partitions::DECL, |source, wanted| {
        by_table(source, wanted, |table, wanted| {
            let shown = partition::shown(table.descriptor().def());
            let row = |shown| partitions::row(&Part { table: table.clone(), shown }, wanted);
            shown.into_iter().map(row).collect()
        })
    }),
    Definition::new(&table_extensions::DECL, |source, wanted| {
        by_table(source, wanted, |table, wanted| vec![table_extensions::row(table, wanted)])
    }),
];

/// A table, stored or virtual.
struct TableSubject<'a> {
    schema: &'a str,
    name: &'a str,
    stored: Option<&'a Arc<Table>>,
    is_view: bool,
    /// The comment of a view.
    comment: &'a str,
    /// When a virtual table was made, microseconds since 1970: with the schema `mysql`.
    made_us: i64,
}

impl TableSubject<'_> {
    /// A value that a stored table has; of a virtual one `otherwise`, of a view none.
    fn of_stored(&self, value: fn(&Arc<Table>) -> Value, otherwise: Value) -> Value {
        if self.is_view { Value::Null } else { self.stored.map_or(otherwise, value) }
    }

    /// A value that a table of performance_schema or sys has, and a view of information_schema has not.
    fn of_base(&self, value: &str) -> Value {
        if self.schema == INFORMATION_SCHEMA { Value::Null } else { text(value) }
    }

    fn engine(&self) -> &'static str {
        if self.schema == SYS { "InnoDB" } else { "PERFORMANCE_SCHEMA" }
    }

    fn table_type(&self) -> &'static str {
        match (self.is_view, self.schema) {
            (true, _) => "VIEW",
            (false, INFORMATION_SCHEMA) => "SYSTEM VIEW",
            (false, _) => "BASE TABLE",
        }
    }
}

virtual_table! {
    mod tables_view = "information_schema"."TABLES" of |it: TableSubject<'_>| {
        TABLE_CATALOG: varchar(64) in utf8mb3_bin not null => catalog(),
        TABLE_SCHEMA: varchar(64) in utf8mb3_bin not null => text(it.schema),
        TABLE_NAME: varchar(64) in utf8mb3_bin not null => text(it.name),
        TABLE_TYPE: enum("BASE TABLE", "VIEW", "SYSTEM VIEW") in utf8mb3_bin not null => text(it.table_type()),
        ENGINE: varchar(64) => it.of_stored(|_| text("InnoDB"), it.of_base(it.engine())),
        VERSION: int => it.of_stored(|_| number(10u64), number(10u64)),
        ROW_FORMAT: enum("Fixed", "Dynamic", "Compressed", "Redundant", "Compact", "Paged") in utf8mb3_bin => it.of_stored(row_format, it.of_base("Dynamic")),
        TABLE_ROWS: bigint_unsigned => it.of_stored(|table| number(table.statistics().rows), number(0u64)),
        AVG_ROW_LENGTH: bigint_unsigned => it.of_stored(|table| number(table.statistics().row_bytes), number(0u64)),
        DATA_LENGTH: bigint_unsigned => it.of_stored(|table| number(table.statistics().data_bytes), number(0u64)),
        MAX_DATA_LENGTH: bigint_unsigned => it.of_stored(|_| number(0u64), number(0u64)),
        INDEX_LENGTH: bigint_unsigned => it.of_stored(|table| number(table.statistics().index_bytes), number(0u64)),
        DATA_FREE: bigint_unsigned => it.of_stored(|_| number(0u64), number(0u64)),
        AUTO_INCREMENT: bigint_unsigned => it.of_stored(next_number, Value::Null),
        CREATE_TIME: timestamp not null => it.stored.map_or(second(it.made_us), created),
        UPDATE_TIME: datetime => Value::Null,
        CHECK_TIME: datetime => Value::Null,
        TABLE_COLLATION: varchar(64) => it.of_stored(collation, it.of_base(CollationId::UTF8MB4_0900_AI_CI.get().name)),
        CHECKSUM: bigint => Value::Null,
        CREATE_OPTIONS: varchar(256) => it.of_stored(create_options, text("")),
        TABLE_COMMENT: text => it.stored.map_or(text(it.comment), |table| text(&table.descriptor().def().comment)),
    }
}

fn row_format(table: &Arc<Table>) -> Value {
    let format = table.descriptor().def().option("ROW_FORMAT");
    let format = format.filter(|format| *format != "DEFAULT").unwrap_or("DYNAMIC");
    let (first, rest) = format.split_at_checked(1).unwrap_or((format, ""));
    text(format!("{first}{}", rest.to_ascii_lowercase()))
}

fn next_number(table: &Arc<Table>) -> Value {
    optional(table.descriptor().def().auto_increment_column().map(|_| table.auto_increment()))
}

fn created(table: &Arc<Table>) -> Value {
    second(table.descriptor().def().created_us)
}

fn collation(table: &Arc<Table>) -> Value {
    text(table.descriptor().def().collation.get().name)
}

fn create_options(table: &Arc<Table>) -> Value {
    let def = table.descriptor().def();
    let options: Vec<String> = create::options(def, &create::CREATE_OPTIONS)
        .map(|(name, value)| match name {
            "COMPRESSION" | "PAGE_SINK" => format!("{name}=\"{value}\""),
            _ => format!("{}={value}", name.to_ascii_lowercase()),
        })
        .chain(def.partitioning.is_some().then(|| "partitioned".to_owned()))
        .collect();
    text(options.join(" "))
}

fn all_tables(source: &RowSource<'_>, wanted: &Wanted) -> Rows {
    let stored = by_table(source, wanted, |table, wanted| {
        let def = table.descriptor().def();
        let subject = TableSubject {
            schema: &def.schema,
            name: &def.name,
            stored: Some(table),
            is_view: false,
            comment: "",
            made_us: 0,
        };
        vec![tables_view::row(&subject, wanted)]
    });
    let of_views = views::wanted(source, wanted).into_iter().map(|view| {
        let comment = match views::check(source, &view) {
            Ok(()) => "VIEW".to_owned(),
            Err(error) => error.message,
        };
        let subject = TableSubject {
            schema: &view.schema,
            name: &view.name,
            stored: None,
            is_view: true,
            comment: &comment,
            made_us: view.created_us,
        };
        tables_view::row(&subject, wanted)
    });
    let of_views = of_views.collect::<Vec<_>>().into_iter();
    let dictionary = source.engine.dictionary();
    let system = dictionary.table(palisade_session::virtual_tables::SYSTEM_SCHEMA, "user").ok();
    // A server that has lost that table starts all the same.
    let oldest = || dictionary.all_tables().map(|table| table.descriptor().def().created_us).min();
    let made_us = system.map(|table| table.descriptor().def().created_us).or_else(oldest);
    let made_us = made_us.unwrap_or_else(|| source.host.unix_micros());
    let (declared, wanted) = (wanted_declarations(source, wanted), wanted.clone());
    let virtual_ones = declared.into_iter().map(move |table| {
        let (schema, name, is_view) = (table.schema, table.name, sys::is_view(table));
        let comment = if is_view { "VIEW" } else { "" };
        let subject = TableSubject { schema, name, stored: None, is_view, comment, made_us };
        tables_view::row(&subject, &wanted)
    });
    Box::new(stored.chain(of_views).chain(virtual_ones))
}

/// A partition of a table, or the whole of one that has none.
struct Part {
    table: Arc<Table>,
    shown: partition::Shown,
}

impl Part {
    /// About how many rows there are, and the bytes of the rows and of the other indexes.
    fn size(&self) -> (u64, u64, u64) {
        let statistics = self.table.statistics();
        match statistics.partitions.get(self.shown.number) {
            Some(own) => (own.rows, own.data_bytes, own.index_bytes),
            None => (statistics.rows, statistics.data_bytes, statistics.index_bytes),
        }
    }

    fn row_bytes(&self) -> u64 {
        let (rows, data_bytes, _) = self.size();
        match self.shown.name.is_some() {
            true => data_bytes.checked_div(rows).unwrap_or(0),
            false => self.table.statistics().row_bytes,
        }
    }
}

/// A text, or NULL.
fn shown_text(value: Option<&String>) -> Value {
    value.map_or(Value::Null, text)
}

/// A position, or NULL.
fn position(value: Option<usize>) -> Value {
    value.map_or(Value::Null, |value| number(value as u64))
}

virtual_table! {
    mod partitions = "information_schema"."PARTITIONS" of |it: Part| {
        TABLE_CATALOG: varchar(64) in utf8mb3_bin not null => catalog(),
        TABLE_SCHEMA: varchar(64) in utf8mb3_bin not null => text(&it.table.schema),
        TABLE_NAME: varchar(64) in utf8mb3_bin not null => text(&it.table.name),
        PARTITION_NAME: varchar(64) in utf8mb3_tolower_ci => shown_text(it.shown.name.as_ref()),
        SUBPARTITION_NAME: varchar(64) in utf8mb3_tolower_ci => shown_text(it.shown.subpartition.as_ref()),
        PARTITION_ORDINAL_POSITION: int_unsigned => position(it.shown.position),
        SUBPARTITION_ORDINAL_POSITION: int_unsigned => position(it.shown.subpartition_position),
        SECONDARY_LOAD: varchar(1) in utf8mb3_bin => it.shown.name.as_ref().map_or(Value::Null, |_| text("0")),
        PARTITION_METHOD: varchar(13) => it.shown.method.map_or(Value::Null, text),
        SUBPARTITION_METHOD: varchar(13) => it.shown.subpartition_method.map_or(Value::Null, text),
        PARTITION_EXPRESSION: varchar(2048) in utf8mb3_bin => shown_text(it.shown.expression.as_ref()),
        SUBPARTITION_EXPRESSION: varchar(2048) in utf8mb3_bin => shown_text(it.shown.subpartition_expression.as_ref()),
        PARTITION_DESCRIPTION: text in utf8mb3_bin => shown_text(it.shown.description.as_ref()),
        TABLE_ROWS: bigint_unsigned => number(it.size().0),
        AVG_ROW_LENGTH: bigint_unsigned => number(it.row_bytes()),
        DATA_LENGTH: bigint_unsigned => number(it.size().1),
        MAX_DATA_LENGTH: bigint_unsigned => number(0u64),
        INDEX_LENGTH: bigint_unsigned => number(it.size().2),
        DATA_FREE: bigint_unsigned => number(0u64),
        CREATE_TIME: timestamp not null => created(&it.table),
        UPDATE_TIME: datetime => Value::Null,
        CHECK_TIME: datetime => Value::Null,
        CHECKSUM: bigint => Value::Null,
        PARTITION_COMMENT: text in utf8mb3_bin not null => text(&it.shown.comment),
        NODEGROUP: varchar(256) => text(&it.shown.node_group),
        TABLESPACE_NAME: varchar(268) in utf8mb3_bin => shown_text(it.shown.tablespace.as_ref()),
    }
}

virtual_table! {
    mod table_extensions = "information_schema"."TABLES_EXTENSIONS" of |it: Arc<Table>| {
        TABLE_CATALOG: varchar(64) in utf8mb3_bin not null => catalog(),
        TABLE_SCHEMA: varchar(64) in utf8mb3_bin not null => text(&it.schema),
        TABLE_NAME: varchar(64) in utf8mb3_bin not null => text(&it.name),
        ENGINE_ATTRIBUTE: json => Value::Null,
        SECONDARY_ENGINE_ATTRIBUTE: json => Value::Null,
    }
}
