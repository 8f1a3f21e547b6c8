//! STATISTICS: the indexes, column by column.

use std::sync::Arc;

use palisade_catalog::Value;
use palisade_catalog::descriptor::{Column, Index, IndexPart};
use palisade_engine::Table;
use palisade_schema::{Row, Wanted, virtual_table};

use super::{
    Definition, Tables, by_table, catalog, generated_key, listed_indexes, number, optional, text, yes_no,
};
use crate::ddl::generated_key::GeneratedKey;

pub(super) static TABLES: Tables = &[Definition::new(&statistics::DECL, |source, wanted| {
    let key = generated_key(source);
    by_table(source, wanted, move |table, wanted| rows_of(table, key, wanted))
})];

/// A column of an index.
struct PartSubject<'a> {
    table: &'a Table,
    index: &'a Index,
    part: &'a IndexPart,
    column: &'a Column,
    /// The index's number among the table's.
    place: usize,
    /// The part's number among the index's.
    sequence: usize,
}

impl PartSubject<'_> {
    /// How many different values the columns up to this one have.
    fn cardinality(&self) -> Value {
        let statistics = self.table.statistics();
        let of_index = statistics.values.get(self.place);
        let values = of_index.and_then(|keys| keys.get(self.sequence)).copied().unwrap_or(0.0);
        Value::Int(values.min(statistics.rows as f64).round() as i64)
    }
}

virtual_table! {
    mod statistics = "information_schema"."STATISTICS" of |it: PartSubject<'_>| {
        TABLE_CATALOG: varchar(64) in utf8mb3_bin not null => catalog(),
        TABLE_SCHEMA: varchar(64) in utf8mb3_bin not null => text(&it.table.schema),
        TABLE_NAME: varchar(64) in utf8mb3_bin not null => text(&it.table.name),
        NON_UNIQUE: int not null default "0" => number(u64::from(!it.index.unique)),
        INDEX_SCHEMA: varchar(64) in utf8mb3_bin not null => text(&it.table.schema),
        INDEX_NAME: varchar(64) in utf8mb3_tolower_ci => text(&it.index.name),
        SEQ_IN_INDEX: int_unsigned not null => number(it.sequence + 1),
        COLUMN_NAME: varchar(64) in utf8mb3_tolower_ci => text(&it.column.name),
        COLLATION: varchar(1) => text(if it.part.descending { "D" } else { "A" }),
        CARDINALITY: bigint => it.cardinality(),
        SUB_PART: bigint => optional(it.part.prefix),
        PACKED: varbinary(0) => Value::Null,
        NULLABLE: varchar(3) not null default "" => text(if it.column.nullable { "YES" } else { "" }),
        INDEX_TYPE: varchar(11) in utf8mb3_bin not null default "" => text("BTREE"),
        COMMENT: varchar(8) not null default "" => text(""),
        INDEX_COMMENT: varchar(2048) in utf8mb3_bin not null => text(&it.index.comment),
        IS_VISIBLE: varchar(3) not null default "" => yes_no(!it.index.invisible),
        EXPRESSION: longtext in utf8mb3_bin => Value::Null,
    }
}

/// The rows of STATISTICS about a table.
pub fn rows_of(table: &Arc<Table>, key: GeneratedKey, wanted: &Wanted) -> Vec<Row> {
    let def = table.descriptor().def();
    let of_index = |(place, index): (usize, &Index)| {
        let row = |(sequence, part): (usize, &IndexPart)| {
            let column = def.key_column(part.column);
            statistics::row(&PartSubject { table, index, part, column, place, sequence }, wanted)
        };
        index.parts.iter().enumerate().map(row).collect::<Vec<_>>()
    };
    listed_indexes(table, key).flat_map(of_index).collect()
}
