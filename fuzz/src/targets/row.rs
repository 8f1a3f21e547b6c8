//! Rows, entries of indexes, and definitions of tables, as they are in pages.
//!
//! Bit 7 of the first byte clear: the others are a row, or an entry's key and payload, of one of the tables
//! here. Set: a definition.

use std::sync::LazyLock;

use palisade_base::{PageNo, SpaceId};
use palisade_catalog::types::{IntWidth, LobSize};
use palisade_catalog::{
    CollationId, Column, Index, IndexPart, IndexTree, PartitionDef, RowView, SqlType, Table, TableDef, Value,
    key, row, store,
};

use super::choice;
use crate::Target;

pub(crate) const TARGET: Target = Target { name: "row", seeds, words: &[], longest: 2048, run };

/// Tables of which rows are decoded: a column of every family of types, with and without NULLs.
static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    let text = SqlType::VarChar { length: 20, collation: CollationId::UTF8MB4_GENERAL_CI };
    let members: Vec<_> = ["small", "large"].iter().map(|member| (*member).into()).collect();
    let types = [
        SqlType::INT,
        SqlType::Int { width: IntWidth::Medium, unsigned: true },
        SqlType::Decimal { precision: 12, scale: 3, unsigned: false },
        SqlType::Double { unsigned: false, digits: None },
        SqlType::Bit { width: 11 },
        SqlType::Date,
        SqlType::Time { fsp: 3 },
        SqlType::DateTime { fsp: 6 },
        SqlType::Timestamp { fsp: 0 },
        SqlType::Year,
        text.clone(),
        SqlType::Char { length: 5, collation: CollationId::BINARY },
        SqlType::VarBinary { length: 300 },
        SqlType::Text { size: LobSize::Normal, collation: CollationId::default() },
        SqlType::Enum { members: members.clone().into(), collation: CollationId::default() },
        SqlType::Set { members: members.into(), collation: CollationId::default() },
        SqlType::Json,
    ];
    let definition = |is_nullable: bool| {
        let columns = types.iter().enumerate().map(|(number, sql_type)| {
            let column = Column::new(format!("c{number}"), sql_type.clone(), number as u16);
            if is_nullable && number > 0 { column } else { column.not_null() }
        });
        let mut primary = vec![IndexPart::of(0)];
        if !is_nullable {
            primary.push(IndexPart::of(10));
        }
        let indexes = vec![
            Index::primary(primary),
            Index::new("numbers", vec![IndexPart::of(2), IndexPart::of(7)]),
            Index { unique: true, ..Index::new("texts", vec![IndexPart::of(10), IndexPart::of(12)]) },
        ];
        TableDef { name: "t".to_owned(), columns: columns.collect(), indexes, ..TableDef::default() }
    };
    [false, true].map(definition).map(|def| Table::new(def).expect("the definition is sound")).into()
});

/// A row of default values, its entries, and the definition, of each table.
fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (number, table) in TABLES.iter().enumerate() {
        let values: Vec<Value> = table.columns.iter().map(store::implicit_default).collect();
        let bytes = row::encode(table, &values).expect("the values are of their types");
        let view = RowView::new(table, &bytes).expect("it was encoded");
        for index in 0..3 {
            let (mut entry, mut payload) = (Vec::new(), Vec::new());
            key::entry_key(table, index, &view, &mut entry).expect("the row has a key");
            key::entry_payload(table, index, &view, &mut payload);
            seeds.push(
                [&[number as u8 | 2 | (index as u8) << 2, entry.len() as u8], &entry[..], &payload].concat(),
            );
        }
        seeds.push([&[number as u8], &bytes[..]].concat());
        seeds.push([&[0x80], &table.to_bytes()[..]].concat());
        let mut parted = table.def().clone();
        for at in 1..=3 {
            let space = SpaceId(at);
            parted
                .partitions
                .push(PartitionDef { space, ..PartitionDef::subpartition_of("p", format!("s{at}")) });
            for index in &mut parted.indexes {
                index.trees.push(IndexTree { id: u64::from(at), root: PageNo(at) });
            }
        }
        seeds.push([&[0x80], &parted.to_bytes()[..]].concat());
    }
    seeds
}

fn run(input: &[u8]) {
    let Some((kind, bytes)) = choice(input) else { return };
    if kind & 0x80 != 0 {
        if let Ok(def) = TableDef::from_bytes(bytes) {
            let again = TableDef::from_bytes(&def.to_bytes());
            assert_eq!(again.as_ref(), Ok(&def), "a definition reads back");
            let _ = Table::new(def);
        }
        return;
    }
    let Some(table) = TABLES.get(usize::from(kind & 1)) else { return };
    if kind & 2 != 0 {
        return entry(table, usize::from(kind >> 2) % 3, bytes);
    }
    let Ok(view) = RowView::new(table, bytes) else { return };
    let values = view.to_values();
    for index in 0..3 {
        let (mut entry, mut payload) = (Vec::new(), Vec::new());
        if key::entry_key(table, index, &view, &mut entry).is_ok() {
            key::entry_payload(table, index, &view, &mut payload);
        }
    }
    if view.check().is_ok()
        && let Ok(encoded) = row::encode(table, &values)
    {
        // Compared as bytes: a number that is none is not equal to itself.
        let again = RowView::new(table, &encoded).expect("it was encoded").to_values();
        let again = row::encode(table, &again).expect("it was encoded before");
        assert_eq!(again, encoded, "a sound row encodes to the same values");
    }
}

/// An entry: the length of its key, the key, the payload.
fn entry(table: &Table, index: usize, bytes: &[u8]) {
    let Some((length, rest)) = choice(bytes) else { return };
    let (entry, payload) = rest.split_at(usize::from(length).min(rest.len()));
    let _ = (key::unique_prefix(table, index, entry), key::part_ends(table, index, entry));
    let (mut clustered, mut row) = (Vec::new(), Vec::new());
    let _ = key::clustered_key(table, index, entry, &mut clustered);
    if index > 0 && key::entry_to_row(table, index, entry, payload, &mut row).is_ok() {
        let view = RowView::new(table, &row).expect("what an entry holds is a row");
        let _ = (view.to_values(), view.check());
    }
}
