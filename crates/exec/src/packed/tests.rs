//! Random rows are in the order of what is packed of them.

use std::cmp::Ordering;

use palisade_base::prng::{Prng, test_seed};
use palisade_catalog::types::IntWidth;
use palisade_catalog::{CollationId, Date, Decimal, SqlType, Value};
use palisade_expr::order::compare_keys;
use palisade_expr::{Expr, Node};

use super::*;

fn key(prng: &mut Prng) -> SortKey {
    let types = [
        SqlType::INT,
        SqlType::BIGINT,
        SqlType::BIGINT_UNSIGNED,
        SqlType::Int { width: IntWidth::Tiny, unsigned: true },
        SqlType::Double { unsigned: false, digits: None },
        SqlType::Decimal { precision: 10, scale: 2, unsigned: false },
        SqlType::Decimal { precision: 40, scale: 20, unsigned: false },
        SqlType::Date,
        SqlType::Char { length: 20, collation: CollationId::UTF8MB4_0900_AI_CI },
    ];
    let ty = types[prng.below(types.len() as u64) as usize].clone();
    let expr = Expr { node: Node::Literal(Value::Null), ty, ..Expr::null() };
    SortKey { expr, descending: prng.one_in(2) }
}

fn value(prng: &mut Prng, ty: &SqlType) -> Value {
    if prng.one_in(6) {
        return Value::Null;
    }
    // Few different ones, so that the keys behind them matter, and the ends.
    let small = prng.below(5) as i64 - 2;
    match ty {
        SqlType::Int { width, unsigned: true } => {
            let most = u64::MAX >> (64 - 8 * width.bytes());
            Value::UInt(if prng.one_in(5) { most } else { small.unsigned_abs() })
        }
        SqlType::Int { width, .. } => {
            let least = i64::MIN >> (64 - 8 * width.bytes());
            Value::Int(if prng.one_in(5) { least } else { small })
        }
        SqlType::Double { .. } => Value::Double(if prng.one_in(5) { -0.0 } else { small as f64 / 2.0 }),
        SqlType::Decimal { scale, .. } => {
            let scale = if prng.one_in(2) { *scale } else { 0 };
            Value::Decimal(Decimal::new(small.into(), scale))
        }
        SqlType::Date => Value::Date(Date::new(2000, 1 + small.unsigned_abs() as u8, 3).unwrap()),
        _ => {
            let mut text = b"a common beginning"[..prng.below(18) as usize].to_vec();
            text.push(b'a' + prng.below(3) as u8);
            Value::bytes(text)
        }
    }
}

#[test]
fn rows_are_in_the_order_of_what_is_packed() {
    let mut prng = Prng::new(test_seed(53));
    for _ in 0..3000 {
        let keys: Vec<SortKey> = (0..1 + prng.below(4)).map(|_| key(&mut prng)).collect();
        let packing = KeyPacking::new(keys.iter());
        let mut row = || keys.iter().map(|key| value(&mut prng, &key.expr.ty)).collect::<Vec<_>>();
        for _ in 0..20 {
            let (left, right) = (row(), row());
            let pack = |row: &[Value]| {
                packing.pack(keys.iter(), |key| Ok::<_, ()>(row[key].as_ref())).unwrap().unwrap()
            };
            let expected = compare_keys(&left, &right, &keys, &mut |_| true);
            let found = pack(&left).cmp(&pack(&right));
            assert!(found == expected || found == Ordering::Equal, "{keys:?}: {left:?} {right:?}");
            if packing.is_exact {
                assert_eq!(found, expected, "{keys:?}: {left:?} {right:?}");
            }
            if found == Ordering::Equal {
                let decided = packing.decided;
                let equal = compare_keys(&left[..decided], &right[..decided], &keys, &mut |_| true);
                assert_eq!(equal, Ordering::Equal, "{keys:?}: {left:?} {right:?}");
            }
        }
    }
}

#[test]
fn what_is_not_as_its_type_says_is_not_packed() {
    let expr = Expr { node: Node::Literal(Value::Null), ty: SqlType::INT, ..Expr::null() };
    let keys = [SortKey { expr, descending: false }];
    let pack = |value: Value| {
        KeyPacking::new(keys.iter()).pack(keys.iter(), |_| Ok::<_, ()>(value.as_ref())).unwrap()
    };
    assert_eq!(pack(Value::Int(1 << 40)), None);
    assert_eq!(pack(Value::Double(1.0)), None);
}
