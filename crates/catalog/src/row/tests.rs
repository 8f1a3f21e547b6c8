//! Random rows there and back, columns that come and go; the format byte for byte.

use palisade_base::prng::{Prng, test_seed};

use super::*;
use crate::descriptor::{Column, DroppedColumn, Index, IndexPart};
use crate::testing::{random_row, random_table, random_type, random_value};
use crate::types::SqlType;

#[test]
fn rows_give_their_values_back() {
    let mut prng = Prng::new(test_seed(40));
    for _ in 0..2000 {
        let table = Table::new(random_table(&mut prng)).unwrap();
        let values = random_row(&mut prng, &table);
        let bytes = encode(&table, &values).unwrap();
        let row = RowView::new(&table, &bytes).unwrap();
        assert_eq!(row.to_values(), values);
        assert_eq!(row.check(), Ok(()));
        for (position, value) in values.iter().enumerate() {
            assert_eq!(row.is_null(position), value.is_null());
        }
    }
}

#[test]
fn plain_rows_are_read_as_views_are() {
    let mut prng = Prng::new(test_seed(44));
    let mut plain_rows = 0;
    for _ in 0..500 {
        let table = Table::new(random_table(&mut prng)).unwrap();
        let (mut columns, mut numbers) = (PlainColumns::new(&table), Vec::new());
        for column in 0..table.columns.len() {
            numbers.push(columns.add(&table, column));
        }
        for _ in 0..5 {
            let bytes = encode(&table, &random_row(&mut prng, &table)).unwrap();
            let row = RowView::new(&table, &bytes).unwrap();
            if !columns.are_in(&bytes) {
                assert!(bytes[0] & WIDE_OFFSETS != 0, "rows with all columns and short texts are plain");
                continue;
            }
            plain_rows += 1;
            assert!(!columns.are_in(b""));
            if columns.are_texts() {
                let texts = numbers.iter().enumerate().filter(|(_, number)| number.is_some());
                let views = texts.map(|(column, _)| match row.field(column) {
                    Field::Variable(text) => Some(text),
                    _ => None,
                });
                assert!(columns.texts(&bytes).eq(views));
            }
            for (column, number) in numbers.iter().enumerate() {
                let Some(number) = *number else {
                    assert_eq!(row.field(column), Field::Null);
                    continue;
                };
                let ty = &table.columns[column].sql_type;
                assert_eq!(columns.field(number, &bytes), row.field(column));
                assert_eq!(columns.is_null(number, &bytes), row.is_null(column));
                assert_eq!(columns.value(number, ty, &bytes), Some(row.column(column)));
                let mut found = Vec::new();
                let is_read = columns.words(number, &[&bytes, &bytes], &mut found, |word| word);
                match row.field(column) {
                    Field::Fixed(field) if (1..=8).contains(&field.len()) => {
                        let word = field.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
                        assert_eq!((is_read, found), (true, vec![Some(word); 2]));
                    }
                    Field::Null if is_read => assert_eq!(found, [None; 2]),
                    _ => assert!(!is_read),
                }
                if let (SqlType::Int { unsigned: false, .. }, ValueRef::Int(number), Field::Fixed(field)) =
                    (ty, row.column(column), row.field(column))
                {
                    let word = field.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
                    assert_eq!(signed_of_word(word, field.len()), number);
                }
            }
        }
    }
    assert!(plain_rows > 2000, "{plain_rows}");
}

#[test]
fn columns_come_and_go_without_touching_rows() {
    let mut prng = Prng::new(test_seed(41));
    for _ in 0..500 {
        let mut def = random_table(&mut prng);
        let first = Table::new(def.clone()).unwrap();
        let mut expected = random_row(&mut prng, &def);
        let bytes = encode(&first, &expected).unwrap();
        // Drop a column that no index has, add one in the middle and one at the end.
        let free = |def: &TableDef| {
            (0..def.columns.len())
                .find(|at| !def.indexes.iter().flat_map(|i| &i.parts).any(|p| usize::from(p.column) == *at))
        };
        let (mut removed, ordinals) = (None, def.next_ordinal());
        if let Some(at) = free(&def).filter(|at| *at == def.columns.len() - 1) {
            let column = def.columns.remove(at);
            if let Some(ordinal) = column.ordinal {
                def.dropped.push(DroppedColumn { ordinal, sql_type: column.sql_type });
            }
            removed = Some(at);
            expected.remove(at);
        }
        for _ in 0..2 {
            let sql_type = random_type(&mut prng);
            let default = random_value(&mut prng, &sql_type);
            let mut column = Column::new("added", sql_type, def.next_ordinal());
            column.instant_default = if prng.one_in(3) { Value::Null } else { default };
            expected.push(column.instant_default.clone());
            def.columns.push(column);
        }
        if prng.one_in(4) {
            let ordinal = def.next_ordinal();
            def.dropped.push(DroppedColumn { ordinal, sql_type: random_type(&mut prng) });
        }
        def.add_row_version(ordinals);
        let second = Table::new(def).unwrap();
        let old = RowView::new(&second, &bytes).unwrap();
        assert_eq!(old.to_values(), expected, "removed {removed:?}");
        // In the form that rows have now it is a plain row of the same values, unless its texts are long.
        let mut newest = Vec::new();
        append_newest(&old, &mut newest).unwrap();
        assert!(is_newest(&second, &newest) && !is_newest(&second, &bytes));
        assert_eq!(RowView::new(&second, &newest).unwrap().to_values(), expected, "removed {removed:?}");
        assert!(newest[0] & WIDE_OFFSETS != 0 || PlainColumns::new(&second).are_in(&newest));
        // The same values, written now, read the same.
        let rewritten = encode(&second, &expected).unwrap();
        assert_eq!(RowView::new(&second, &rewritten).unwrap().to_values(), expected);
    }
}

#[test]
fn garbage_is_an_error_or_reads_as_something_and_never_panics() {
    let mut prng = Prng::new(test_seed(42));
    for _ in 0..3000 {
        let table = Table::new(random_table(&mut prng)).unwrap();
        let mut bytes = encode(&table, &random_row(&mut prng, &table)).unwrap();
        match prng.below(3) {
            0 => bytes.truncate(prng.below(bytes.len() as u64) as usize),
            1 => {
                let at = prng.below(bytes.len() as u64) as usize;
                bytes[at] = prng.next_u64() as u8;
            }
            _ => prng.fill(&mut bytes[3..]),
        }
        if let Ok(row) = RowView::new(&table, &bytes) {
            row.to_values();
            let _ = row.check();
        }
    }
}

#[test]
fn a_value_of_another_type_is_refused() {
    let mut def = TableDef { name: "t".into(), ..TableDef::default() };
    def.columns = vec![Column::new("a", SqlType::INT, 0).not_null(), Column::new("b", SqlType::Date, 1)];
    def.indexes = vec![Index::primary(vec![IndexPart::of(0)])];
    let table = Table::new(def).unwrap();
    let mismatch = |values: &[Value]| encode(&table, values).unwrap_err();
    assert_eq!(mismatch(&[Value::bytes("1"), Value::Null]), RowError::Mismatch { column: 0 });
    assert_eq!(mismatch(&[Value::Int(1 << 40), Value::Null]), RowError::Mismatch { column: 0 });
    assert_eq!(mismatch(&[Value::Int(1), Value::Int(2)]), RowError::Mismatch { column: 1 });
}

/// The format, byte for byte: changing it is changing files.
#[test]
fn the_format_is_what_it_was() {
    let mut def = TableDef { name: "t".into(), ..TableDef::default() };
    let text = SqlType::VarChar { length: 10, collation: crate::CollationId::default() };
    def.columns = vec![
        Column::new("id", SqlType::INT, 0).not_null(),
        Column::new("a", text.clone(), 1),
        Column::new("b", SqlType::Date, 2),
        Column::new("c", text, 3),
    ];
    def.indexes = vec![Index::primary(vec![IndexPart::of(0)])];
    let table = Table::new(def).unwrap();
    let bytes = encode(&table, &[Value::Int(7), Value::bytes("xy"), Value::Null, Value::bytes("z")]).unwrap();
    assert_eq!(bytes, [0, 4, 0, 0b0100, 0x80, 0, 0, 7, 0, 0, 0, 2, 0, 3, 0, b'x', b'y', b'z']);
    let long =
        encode(&table, &[Value::Int(7), Value::bytes(vec![b'x'; 70_000]), Value::Null, Value::Null]).unwrap();
    assert_eq!(long[..19], [1, 4, 0, 0b1100, 0x80, 0, 0, 7, 0, 0, 0, 0x70, 0x11, 1, 0, 0x70, 0x11, 1, 0]);
    assert_eq!(RowView::new(&table, &long).unwrap().column(1), ValueRef::Bytes(&vec![b'x'; 70_000]));
}

#[test]
fn an_excerpt_has_the_columns_that_are_asked_for() {
    let mut prng = Prng::new(test_seed(43));
    for _ in 0..2000 {
        let table = Table::new(random_table(&mut prng)).unwrap();
        let values = random_row(&mut prng, &table);
        let bytes = encode(&table, &values).unwrap();
        let row = RowView::new(&table, &bytes).unwrap();
        let columns: Vec<usize> = (0..values.len()).filter(|_| prng.one_in(3)).collect();
        let Some(excerpt) = RowExcerpt::new(&table, columns.iter().copied()) else { continue };
        let mut out = Vec::new();
        excerpt.append(&row, &mut out);
        assert!(out.len() <= bytes.len());
        let part = RowView::new(&table, &out).unwrap();
        for column in columns {
            assert_eq!(part.column(column).to_owned(), values[column]);
        }
        // That of an excerpt is the excerpt.
        let mut again = Vec::new();
        excerpt.append(&part, &mut again);
        assert_eq!(again, out);
    }
}
