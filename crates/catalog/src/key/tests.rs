//! Random keys against comparing values; the format byte for byte.

use std::cmp::Ordering;

use palisade_base::prng::{Prng, test_seed};

use super::*;
use crate::descriptor::{Column, Index, IndexPart};
use crate::row::encode;
use crate::testing::{compare_values, random_row, random_table};
use crate::value::Value;

fn key_of(table: &Table, number: usize, row: &[Value]) -> (Vec<u8>, Vec<u8>) {
    let bytes = encode(table, row).unwrap();
    let view = RowView::new(table, &bytes).unwrap();
    let (mut key, mut payload) = (Vec::new(), Vec::new());
    entry_key(table, number, &view, &mut key).unwrap();
    entry_payload(table, number, &view, &mut payload);
    (key, payload)
}

fn compare_rows(table: &Table, number: usize, left: &[Value], right: &[Value]) -> Ordering {
    let parts = table.indexes[number].parts.iter().map(|part| {
        let at = usize::from(part.column);
        let order = compare_values(&left[at], &right[at], &table.columns[at].sql_type, part.prefix);
        if part.descending { order.reverse() } else { order }
    });
    parts.fold(Ordering::Equal, Ordering::then)
}

#[test]
fn keys_order_as_the_values_do() {
    let mut prng = Prng::new(test_seed(50));
    for _ in 0..1500 {
        let table = Table::new(random_table(&mut prng)).unwrap();
        for _ in 0..8 {
            let left = random_row(&mut prng, &table);
            let mut right = random_row(&mut prng, &table);
            for (value, other) in right.iter_mut().zip(&left) {
                if prng.one_in(2) {
                    value.clone_from(other);
                }
            }
            for number in 0..table.indexes.len() {
                let (x, _) = key_of(&table, number, &left);
                let (y, _) = key_of(&table, number, &right);
                let expected = compare_rows(&table, number, &left, &right)
                    .then_with(|| if number == 0 { Ordering::Equal } else { x.cmp(&y) });
                assert_eq!(x.cmp(&y), expected, "{:?} of {left:?} and {right:?}", table.indexes[number]);
                let same = |key: &[u8]| key[..unique_prefix(&table, number, key).unwrap().length].to_vec();
                let equal = compare_rows(&table, number, &left, &right) == Ordering::Equal;
                assert_eq!(same(&x) == same(&y), equal);
            }
        }
    }
}

/// What the disk says is not believed: a row whose NULL bits were flipped is damaged, and no reason to stop.
#[test]
fn a_row_without_a_value_for_its_key_is_damaged() {
    let mut prng = Prng::new(test_seed(56));
    let mut damaged = 0;
    for _ in 0..300 {
        let table = Table::new(random_table(&mut prng)).unwrap();
        let mut bytes = encode(&table, &random_row(&mut prng, &table)).unwrap();
        // The bitmap follows flags and count.
        let at = bytes.len().min(3 + prng.below(2) as usize);
        let Some(flags) = bytes.get_mut(at) else { continue };
        *flags ^= 1 << prng.below(8);
        let Ok(view) = RowView::new(&table, &bytes) else { continue };
        for number in 0..table.indexes.len() {
            damaged += usize::from(entry_key(&table, number, &view, &mut Vec::new()).is_err());
        }
    }
    assert!(damaged > 10, "{damaged}");
}

#[test]
fn an_entry_leads_to_its_row_and_gives_back_what_it_covers() {
    let mut prng = Prng::new(test_seed(51));
    for _ in 0..2000 {
        let table = Table::new(random_table(&mut prng)).unwrap();
        let values = random_row(&mut prng, &table);
        let (clustered, _) = key_of(&table, 0, &values);
        for number in 0..table.indexes.len() {
            let (key, payload) = key_of(&table, number, &values);
            let mut found = Vec::new();
            clustered_key(&table, number, &key, &mut found).unwrap();
            assert_eq!(found, clustered);
            // Searching by the values of the index's own parts finds the entry.
            let parts = &table.indexes[number].parts;
            let wanted: Vec<ValueRef<'_>> =
                parts.iter().map(|part| values[usize::from(part.column)].as_ref()).collect();
            let mut prefix = Vec::new();
            search_key(&table, number, &wanted, &mut prefix).unwrap();
            let unique = unique_prefix(&table, number, &key).unwrap();
            assert_eq!(prefix, key[..unique.length]);
            assert_eq!(unique.has_null, wanted.iter().any(ValueRef::is_null));
            let mut after = prefix.clone();
            assert!(!prefix_successor(&mut after) || after > key);
            if number == 0 {
                continue;
            }
            assert_eq!(payload.is_empty(), payload.is_empty() || !table.key_codec(number).has_payload());
            let mut row = Vec::new();
            entry_to_row(&table, number, &key, &payload, &mut row).unwrap();
            let mut decoded = Vec::new();
            decoded_entry_to_row(&table, number, &key, &payload, &mut decoded).unwrap();
            assert_eq!(row, decoded);
            let row = RowView::new(&table, &row).unwrap();
            for (position, value) in values.iter().enumerate() {
                let given = row.column(position).to_owned();
                if table.key_codec(number).covers([position]) {
                    assert_eq!(given, *value, "{:?} {:?}", table.columns[position], table.indexes[number]);
                } else {
                    assert!(given.is_null());
                }
            }
        }
    }
}

#[test]
fn a_text_prefix_finds_all_that_begin_with_it() {
    let mut prng = Prng::new(test_seed(52));
    let mut tried = 0;
    while tried < 500 {
        let table = Table::new(random_table(&mut prng)).unwrap();
        let values = random_row(&mut prng, &table);
        for (number, index) in table.indexes.iter().enumerate() {
            let Value::Bytes(text) = &values[usize::from(index.parts[0].column)] else { continue };
            tried += 1;
            let charset =
                table.columns[usize::from(index.parts[0].column)].sql_type.collation().get().charset;
            let cut = charset.prefix_len(text, prng.below(4) as usize);
            let mut prefix = Vec::new();
            search_key_for_prefix(&table, number, &[], &text[..cut], &mut prefix).unwrap();
            assert!(key_of(&table, number, &values).0.starts_with(&prefix));
        }
    }
}

#[test]
fn garbage_is_an_error_and_never_a_panic() {
    let mut prng = Prng::new(test_seed(53));
    for _ in 0..3000 {
        let table = Table::new(random_table(&mut prng)).unwrap();
        let number = prng.below(table.indexes.len() as u64) as usize;
        let (mut key, mut payload) = key_of(&table, number, &random_row(&mut prng, &table));
        for bytes in [&mut key, &mut payload] {
            match prng.below(3) {
                0 => bytes.truncate(prng.below(bytes.len() as u64 + 1) as usize),
                1 => prng.fill(bytes),
                _ => {
                    let at = prng.below(bytes.len() as u64 + 1) as usize;
                    bytes.insert(at, prng.next_u64() as u8);
                }
            }
        }
        let _ = unique_prefix(&table, number, &key);
        let _ = clustered_key(&table, number, &key, &mut Vec::new());
        if number > 0 {
            let [mut row, mut decoded] = [Vec::new(), Vec::new()];
            let made = entry_to_row(&table, number, &key, &payload, &mut row);
            assert_eq!(made, decoded_entry_to_row(&table, number, &key, &payload, &mut decoded));
            assert!(made.is_err() || row == decoded);
        }
    }
}

#[test]
fn the_first_key_after_a_prefix() {
    let successor = |bytes: &[u8]| {
        let mut key = bytes.to_vec();
        prefix_successor(&mut key).then_some(key)
    };
    assert_eq!(successor(&[1, 2]), Some(vec![1, 3]));
    assert_eq!(successor(&[1, 0xff, 0xff]), Some(vec![2]));
    assert_eq!(successor(&[0xff]), None);
    assert_eq!(successor(&[]), None);
}

/// The format, byte for byte: changing it is changing files.
#[test]
fn the_format_is_what_it_was() {
    let text = |collation| SqlType::VarChar { length: 10, collation };
    let mut def = TableDef { name: "t".into(), ..TableDef::default() };
    def.columns = vec![
        Column::new("id", SqlType::INT, 0).not_null(),
        Column::new("a", text(crate::CollationId::UTF8MB4_0900_AI_CI), 1),
        Column::new("b", text(crate::CollationId::LATIN1_SWEDISH_CI), 2).not_null(),
        Column::new("c", text(crate::CollationId::BINARY), 3),
    ];
    def.indexes = vec![Index::primary(vec![IndexPart::of(0)])];
    let all = [1, 2, 3].map(|column| IndexPart { column, prefix: None, descending: column == 3 });
    def.indexes.push(Index::new("i", all.to_vec()));
    let table = Table::new(def).unwrap();
    let row = [Value::Int(-2), Value::bytes("Ab"), Value::bytes("x y"), Value::bytes("\0")];
    let (key, payload) = key_of(&table, 1, &row);
    let a = [1, 0x1c, 0x47, 0x1c, 0x60, 0];
    let b = [b'X', b' ', 3, 0xfe, b'Y', b' ', 2];
    let c = [1, 0, 0xff, 0, 0].map(|byte: u8| !byte);
    let id = [0x7f, 0xff, 0xff, 0xfe];
    assert_eq!(key, [&a[..], &b, &c, &id].concat());
    assert_eq!(payload, [&[2][..], b"Ab", &[3], b"x y"].concat());
    assert_eq!(key_of(&table, 0, &row).0, id);
    assert_eq!(
        search_key(&table, 0, &[ValueRef::Null], &mut Vec::new()),
        Err(RowError::Mismatch { column: 0 })
    );
}
