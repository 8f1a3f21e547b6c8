//! COLUMNS, COLUMNS_EXTENSIONS and COLUMN_STATISTICS.

use std::sync::Arc;

use palisade_catalog::descriptor::{Column, DefaultValue, Visibility};
use palisade_catalog::histogram::Histogram;
use palisade_catalog::types::IntWidth;
use palisade_catalog::{SqlType, Value, ViewDef, Zone};
use palisade_engine::Table;
use palisade_schema::{ColumnDecl, Row, Rows, TableDecl, Wanted, virtual_table};
use palisade_session::virtual_tables::{INFORMATION_SCHEMA, RowSource};

use super::{
    Definition, Tables, by_table, catalog, generated_key, listed_columns, number, optional, shown_columns,
    shown_indexes, text, views, wanted_declarations, yes_no,
};
use crate::ddl::generated_key::GeneratedKey;
use crate::ddl::histogram::json;
use crate::show::create;

pub(super) static TABLES: Tables = &[
    Definition::new(&columns_view::DECL, all_columns),
    Definition::new(&column_extensions::DECL, |source, wanted| {
        let key = generated_key(source);
        by_table(source, wanted, move |table, wanted| {
            let names = listed_columns(table, key).map(|(_, column)| (&**table, &*column.name));
            names.map(|subject| column_extensions::row(&subject, wanted)).collect()
        })
    }),
    Definition::new(&column_statistics::DECL, |source, wanted| {
        let zone = source.session.state.variables.time_zone.clone();
        by_table(source, wanted, move |table, wanted| {
            let measured = shown_columns(table).filter_map(|(_, column)| {
                let histogram = column.histogram.as_deref()?;
                Some(Measured { table, column, histogram, zone: &zone })
            });
            measured.map(|subject| column_statistics::row(&subject, wanted)).collect()
        })
    }),
];

/// A column that has a histogram.
struct Measured<'a> {
    table: &'a Table,
    column: &'a Column,
    histogram: &'a Histogram,
    /// The session's.
    zone: &'a Zone,
}

virtual_table! {
    mod column_statistics = "information_schema"."COLUMN_STATISTICS" of |it: Measured<'_>| {
        SCHEMA_NAME: varchar(64) in utf8mb3_bin not null => text(&it.table.schema),
        TABLE_NAME: varchar(64) in utf8mb3_bin not null => text(&it.table.name),
        COLUMN_NAME: varchar(64) in utf8mb3_tolower_ci not null => text(&it.column.name),
        HISTOGRAM: json not null => Value::bytes(json::text_of(it.histogram, &it.column.sql_type, it.zone)),
    }
}

/// A column of a table, stored or virtual.
struct ColumnSubject<'a> {
    schema: &'a str,
    table: &'a str,
    column: &'a Column,
    position: usize,
    owner: Owner<'a>,
}

/// What a column is a column of.
#[derive(Clone, Copy)]
enum Owner<'a> {
    /// A stored table, at a place among its columns.
    Stored(&'a Table, usize),
    /// A virtual table, which can only be read.
    Virtual(&'a ColumnDecl),
    /// A view, with the default that is no value of a table's column.
    View(Option<&'a str>),
}

impl ColumnSubject<'_> {
    fn default(&self) -> Value {
        match self.owner {
            Owner::View(Some(zero)) => text(zero),
            Owner::Stored(..) | Owner::View(None) => {
                create::default_text(self.column).map_or(Value::Null, text)
            }
            Owner::Virtual(declared) => declared.default.map_or(Value::Null, text),
        }
    }

    /// MySQL says NULL instead of nothing of a temporary table's.
    fn extra(&self) -> Value {
        let extra = column_extra(self.column);
        match self.owner {
            Owner::Stored(table, _) if table.is_temporary() && extra.is_empty() => Value::Null,
            _ => text(extra),
        }
    }

    fn key(&self) -> &'static str {
        match self.owner {
            Owner::Stored(table, place) => column_key(table, place),
            Owner::Virtual(declared) => declared.key,
            Owner::View(_) => "",
        }
    }

    fn privileges(&self) -> &'static str {
        match self.owner {
            Owner::Virtual(_) if self.schema == INFORMATION_SCHEMA => "select",
            _ => COLUMN_PRIVILEGES,
        }
    }

    fn ty(&self) -> &SqlType {
        &self.column.sql_type
    }

    /// A name of the collation of a text.
    fn of_text(&self, name: impl Fn(&palisade_catalog::Collation) -> &'static str) -> Value {
        if self.ty().is_text() { text(name(self.ty().collation().get())) } else { Value::Null }
    }
}

virtual_table! {
    pub(crate) mod columns_view = "information_schema"."COLUMNS" of |it: ColumnSubject<'_>| {
        TABLE_CATALOG: varchar(64) in utf8mb3_bin not null => catalog(),
        TABLE_SCHEMA: varchar(64) in utf8mb3_bin not null => text(it.schema),
        TABLE_NAME: varchar(64) in utf8mb3_bin not null => text(it.table),
        COLUMN_NAME: varchar(64) in utf8mb3_tolower_ci => text(&it.column.name),
        ORDINAL_POSITION: int_unsigned not null => number(it.position),
        COLUMN_DEFAULT: text in utf8mb3_bin => it.default(),
        IS_NULLABLE: varchar(3) not null default "" => yes_no(it.column.nullable),
        DATA_TYPE: longtext in utf8mb3_bin => text(it.column.type_text().split(['(', ' ']).next().unwrap_or_default()),
        CHARACTER_MAXIMUM_LENGTH: bigint => optional(lengths(it.ty()).map(|(characters, _)| characters)),
        CHARACTER_OCTET_LENGTH: bigint => optional(lengths(it.ty()).map(|(_, bytes)| bytes)),
        NUMERIC_PRECISION: bigint_unsigned => optional(digits(it.ty()).map(|(precision, _)| precision)),
        NUMERIC_SCALE: bigint_unsigned => optional(digits(it.ty()).and_then(|(_, scale)| scale)),
        DATETIME_PRECISION: int_unsigned => optional(fraction(it.ty())),
        CHARACTER_SET_NAME: varchar(64) => it.of_text(|collation| collation.charset.name()),
        COLLATION_NAME: varchar(64) => it.of_text(|collation| collation.name),
        COLUMN_TYPE: mediumtext in utf8mb3_bin not null => text(it.column.type_text()),
        COLUMN_KEY: enum("", "PRI", "UNI", "MUL") in utf8mb3_bin not null => text(it.key()),
        EXTRA: varchar(256) => it.extra(),
        PRIVILEGES: varchar(154) => text(it.privileges()),
        COLUMN_COMMENT: text in utf8mb3_bin not null => text(&it.column.comment),
        GENERATION_EXPRESSION: longtext in utf8mb3_bin not null => generation_expression(it.column),
        SRS_ID: int_unsigned => Value::Null,
    }
}

/// The most characters and bytes of a text.
fn lengths(ty: &SqlType) -> Option<(u32, u32)> {
    match ty {
        SqlType::Binary { length } | SqlType::VarBinary { length } => Some((*length, *length)),
        SqlType::Blob { size } | SqlType::Text { size, .. } => {
            let most = u32::try_from(size.max_bytes()).unwrap_or(u32::MAX);
            Some((most, most))
        }
        _ if ty.is_text() => {
            let characters = ty.wire_length(1);
            Some((characters, characters.saturating_mul(ty.collation().get().charset.max_bytes())))
        }
        _ => None,
    }
}

/// NUMERIC_PRECISION and NUMERIC_SCALE.
fn digits(ty: &SqlType) -> Option<(u64, Option<u64>)> {
    let declared = |digits: &Option<(u8, u8)>, natural: u64| match digits {
        Some((width, scale)) => (u64::from(*width), Some(u64::from(*scale))),
        None => (natural, None),
    };
    Some(match ty {
        SqlType::Int { width, unsigned } => {
            let digits = match width {
                IntWidth::Tiny => 3,
                IntWidth::Small => 5,
                IntWidth::Medium => 7,
                IntWidth::Int => 10,
                IntWidth::Big => 19 + u64::from(*unsigned),
            };
            (digits, Some(0))
        }
        SqlType::Decimal { precision, scale, .. } => (u64::from(*precision), Some(u64::from(*scale))),
        SqlType::Float { digits, .. } => declared(digits, 12),
        SqlType::Double { digits, .. } => declared(digits, 22),
        SqlType::Bit { width } => (u64::from(*width), None),
        _ => return None,
    })
}

/// DATETIME_PRECISION.
fn fraction(ty: &SqlType) -> Option<u8> {
    match ty {
        SqlType::Time { fsp } | SqlType::DateTime { fsp } | SqlType::Timestamp { fsp } => Some(*fsp),
        _ => None,
    }
}

fn generation_expression(column: &Column) -> Value {
    column.generated.as_ref().map_or_else(|| text(""), |generated| text(escaped(&generated.expression)))
}

/// An expression as information_schema shows it: quotes escaped once more.
pub(super) fn escaped(expression: &str) -> String {
    expression.replace('\\', "\\\\").replace('\'', "\\'")
}

/// COLUMN_KEY: whether and how a column begins an index.
pub fn column_key(table: &Table, place: usize) -> &'static str {
    let def = table.descriptor().def();
    let mut key = "";
    for (_, index) in shown_indexes(table) {
        let at = index.parts.iter().position(|part| usize::from(part.column) == place);
        match at {
            Some(_) if index.primary => return "PRI",
            Some(0) if index.unique && index.parts.len() == 1 => {
                // a unique index without NULLs is shown as the primary key where there is none
                let primary = def.indexes.iter().any(|index| index.primary);
                if !primary && def.columns.get(place).is_some_and(|column| !column.nullable) {
                    return "PRI";
                }
                key = "UNI";
            }
            Some(0) if key.is_empty() => key = "MUL",
            _ => {}
        }
    }
    key
}

/// EXTRA of a column.
pub fn column_extra(column: &Column) -> String {
    let mut parts = Vec::new();
    if column.auto_increment {
        parts.push("auto_increment".to_owned());
    }
    if matches!(column.default, DefaultValue::CurrentTimestamp | DefaultValue::Expression(_)) {
        parts.push("DEFAULT_GENERATED".to_owned());
    }
    if let Some(generated) = &column.generated {
        parts.push(if generated.stored { "STORED GENERATED" } else { "VIRTUAL GENERATED" }.to_owned());
    }
    if column.on_update_now {
        parts.push(format!("on update {}", create::current_timestamp(column)));
    }
    if column.visibility == Visibility::Invisible {
        parts.push("INVISIBLE".to_owned());
    }
    parts.join(" ")
}

/// Rights of root on a column.
pub const COLUMN_PRIVILEGES: &str = "select,insert,update,references";

fn all_columns(source: &RowSource<'_>, wanted: &Wanted) -> Rows {
    let key = generated_key(source);
    let stored = by_table(source, wanted, move |table, wanted| rows_of(table, key, wanted));
    let of_views: Vec<Row> =
        views::wanted(source, wanted).iter().flat_map(|view| rows_of_view(source, view, wanted)).collect();
    let (declared, wanted) = (wanted_declarations(source, wanted), wanted.clone());
    let of_views = of_views.into_iter();
    let virtual_ones = declared.into_iter().flat_map(move |table| rows_of_virtual(table, &wanted));
    Box::new(stored.chain(of_views).chain(virtual_ones))
}

/// The rows of COLUMNS about a stored table.
pub fn rows_of(table: &Arc<Table>, key: GeneratedKey, wanted: &Wanted) -> Vec<Row> {
    let def = table.descriptor().def();
    let row = |(number, (place, column)): (usize, (usize, &Column))| {
        let owner = Owner::Stored(table, place);
        let subject =
            ColumnSubject { schema: &def.schema, table: &def.name, column, position: number + 1, owner };
        columns_view::row(&subject, wanted)
    };
    let numbered = shown_columns(table).enumerate();
    numbered.filter(|(_, (place, _))| !key.hides_column(def, *place)).map(row).collect()
}

/// The rows of COLUMNS about a view; none of one that is not valid.
fn rows_of_view(source: &RowSource<'_>, view: &Arc<ViewDef>, wanted: &Wanted) -> Vec<Row> {
    let columns = views::columns(source, view).unwrap_or_default();
    let row = |(number, (column, zero)): (usize, &(Column, Option<String>))| {
        let (schema, table, owner) = (&*view.schema, &*view.name, Owner::View(zero.as_deref()));
        let subject = ColumnSubject { schema, table, column, position: number + 1, owner };
        columns_view::row(&subject, wanted)
    };
    columns.iter().enumerate().map(row).collect()
}

/// The rows of COLUMNS about a virtual table.
pub fn rows_of_virtual(table: &'static TableDecl, wanted: &Wanted) -> Vec<Row> {
    let row = |(number, declared): (usize, &ColumnDecl)| {
        let (column, owner) = (declared.column(), Owner::Virtual(declared));
        let (schema, table) = (table.schema, table.name);
        columns_view::row(
            &ColumnSubject { schema, table, column: &column, position: number + 1, owner },
            wanted,
        )
    };
    table.columns.iter().enumerate().map(row).collect()
}

virtual_table! {
    mod column_extensions = "information_schema"."COLUMNS_EXTENSIONS" of |it: (&Table, &str)| {
        TABLE_CATALOG: varchar(64) in utf8mb3_bin not null => catalog(),
        TABLE_SCHEMA: varchar(64) in utf8mb3_bin not null => text(&it.0.schema),
        TABLE_NAME: varchar(64) in utf8mb3_bin not null => text(&it.0.name),
        COLUMN_NAME: varchar(64) in utf8mb3_tolower_ci => text(it.1),
        ENGINE_ATTRIBUTE: json => Value::Null,
        SECONDARY_ENGINE_ATTRIBUTE: json => Value::Null,
    }
}
