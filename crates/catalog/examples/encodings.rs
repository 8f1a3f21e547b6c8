//! What the encodings cost: `cargo run --release -p palisade-catalog --example encodings`.
//!
//! Prints nanoseconds per operation, best of several rounds; rates on a shared machine are noisy, the order of the
//! numbers is what counts.

use std::hint::black_box;
use std::time::Instant;

use palisade_catalog::types::IntWidth;
use palisade_catalog::{
    Collation, CollationId, Column, Decimal, Index, IndexPart, RowView, SqlType, Table, TableDef, Value,
    ValueRef, key, row,
};

fn measure<R>(name: &str, mut operation: impl FnMut() -> R) {
    const TIMES: u32 = 100_000;
    let best = (0..7)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..TIMES {
                black_box(operation());
            }
            start.elapsed().as_nanos() as f64 / f64::from(TIMES)
        })
        .fold(f64::INFINITY, f64::min);
    println!("{name:48} {best:8.1} ns");
}

/// LinkBench's link table.
fn link_table() -> Table {
    let big = SqlType::BIGINT_UNSIGNED;
    let names = ["id1", "id2", "link_type", "visibility", "data", "time", "version"];
    let columns = names.iter().enumerate().map(|(ordinal, name)| {
        let sql_type = match *name {
            "visibility" => SqlType::Int { width: IntWidth::Tiny, unsigned: false },
            "data" => SqlType::VarChar { length: 255, collation: CollationId::LATIN1_SWEDISH_CI },
            "version" => SqlType::Int { width: IntWidth::Int, unsigned: true },
            _ => big.clone(),
        };
        Column::new(*name, sql_type, ordinal as u16).not_null()
    });
    let parts = |columns: &[u16]| columns.iter().map(|column| IndexPart::of(*column)).collect::<Vec<_>>();
    Table::new(TableDef {
        name: "linktable".into(),
        columns: columns.collect(),
        indexes: vec![
            Index::primary(parts(&[2, 0, 1])),
            Index::new("id1_type", parts(&[0, 2, 3, 5, 1, 6, 4])),
        ],
        ..TableDef::default()
    })
    .expect("the link table is consistent")
}

fn main() {
    let table = link_table();
    let values = [
        Value::UInt(12_345),
        Value::UInt(67_890),
        Value::UInt(123_456_789),
        Value::Int(1),
        Value::bytes("payload!"),
        Value::UInt(1_760_000_000_000),
        Value::UInt(7),
    ];
    let bytes = row::encode(&table, &values).expect("the values are of their types");
    let view = RowView::new(&table, &bytes).expect("a row");
    let (mut entry, mut payload, mut out) = (Vec::new(), Vec::new(), Vec::new());
    key::entry_key(&table, 1, &view, &mut entry).expect("a sound row");
    key::entry_payload(&table, 1, &view, &mut payload);
    println!("link row {} bytes, id1_type entry {} + {} bytes", bytes.len(), entry.len(), payload.len());

    measure("row: encode 7 columns", || {
        out.clear();
        row::encode_with(&table, |column| values[column].as_ref(), &mut out).expect("encodes");
    });
    measure("row: look at it, read 7 columns", || {
        let view = RowView::new(&table, black_box(&bytes)).expect("a row");
        (0..7).for_each(|column| {
            black_box(view.column(column));
        });
    });
    measure("key: primary key from 3 values", || {
        out.clear();
        let wanted = [ValueRef::UInt(123_456_789), ValueRef::UInt(12_345), ValueRef::UInt(67_890)];
        key::search_key(&table, 0, black_box(&wanted), &mut out).expect("encodes");
    });
    measure("key: 7-column entry from a row", || {
        out.clear();
        key::entry_key(&table, 1, black_box(&view), &mut out).expect("a sound row");
    });
    measure("key: clustered key of an entry", || {
        out.clear();
        key::clustered_key(&table, 1, black_box(&entry), &mut out).expect("an entry");
    });
    measure("key: covered row from an entry", || {
        out.clear();
        key::entry_to_row(&table, 1, black_box(&entry), &payload, &mut out).expect("an entry");
    });

    let text = "The quick brown fox jumps over the lazy dog, ok";
    for name in ["utf8mb4_0900_ai_ci", "utf8mb4_general_ci", "latin1_swedish_ci", "utf8mb4_bin", "binary"] {
        let collation = Collation::by_name(name).expect("known");
        let upper = text.to_uppercase();
        measure(&format!("{name}: compare 47 characters, other case"), || {
            black_box(collation.compare(black_box(text.as_bytes()), black_box(upper.as_bytes())));
        });
        measure(&format!("{name}: sort key of 47 characters"), || {
            out.clear();
            collation.sort_key(black_box(text.as_bytes()), &mut out);
        });
    }

    let (a, b) = (Decimal::new(123_456_789, 4), Decimal::new(-98_765, 2));
    let wide = Decimal::parse(b"12345678901234567890123456789012345.123456789012345678901234567890").0;
    measure("decimal: add", || black_box(a).add(black_box(&b)));
    measure("decimal: multiply", || black_box(a).multiply(black_box(&b)));
    measure("decimal: divide", || black_box(a).divide(black_box(&b), 4));
    measure("decimal: add 65 digits", || black_box(wide).add(black_box(&wide)));
    measure("decimal: divide 65 digits", || black_box(wide).divide(black_box(&b), 4));
    measure("decimal: to text", || {
        out.clear();
        black_box(a).format(&mut out);
    });
}
