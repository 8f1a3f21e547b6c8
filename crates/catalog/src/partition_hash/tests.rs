//! What MySQL 9.7 answers: in which of 251 partitions it has a row whose only column is this value.

use super::*;
use crate::types::IntWidth;
use crate::{Date, DateTime, Decimal, Time, Value};

fn partition(ty: &SqlType, value: &Value) -> u32 {
    let mut hash = PartitionHash::new(KeyAlgorithm::Second);
    hash.add(ty, value.as_ref());
    hash.finish() % 251
}

#[test]
fn numbers_are_where_mysql_has_them() {
    let int = SqlType::Int { width: IntWidth::Int, unsigned: false };
    for (value, expected) in [
        (Value::Null, 2),
        (Value::Int(0), 1),
        (Value::Int(97), 125),
        (Value::Int(-7_777_777), 16),
        // Four spaces, which are none.
        (Value::Int(538_976_288), 1),
    ] {
        assert_eq!(partition(&int, &value), expected, "{value:?}");
    }
    assert_eq!(partition(&SqlType::BIGINT_UNSIGNED, &Value::UInt(u64::MAX)), 39);
    let decimal = SqlType::Decimal { precision: 10, scale: 2, unsigned: false };
    assert_eq!(partition(&decimal, &Value::Decimal(Decimal::new(-15, 1))), 243);
    assert_eq!(partition(&decimal, &Value::Decimal(Decimal::new(2_518_632, 2))), 137);
    assert_eq!(partition(&SqlType::DOUBLE, &Value::Double(1.5)), 153);
}

#[test]
fn dates_and_moments_are_where_mysql_has_them() {
    let date = Date::new(2020, 3, 12).unwrap();
    assert_eq!(partition(&SqlType::Date, &Value::Date(date)), 98);
    let moment = DateTime::new(Date::new(1999, 12, 31).unwrap(), 23, 59, 59, 123_000).unwrap();
    assert_eq!(partition(&SqlType::DateTime { fsp: 3 }, &Value::DateTime(moment)), 191);
    let time = Time::from_micros(-((3 * 3600 + 4 * 60 + 5) * 1_000_000 + 120_000)).unwrap();
    assert_eq!(partition(&SqlType::Time { fsp: 2 }, &Value::Time(time)), 206);
}

#[test]
fn texts_are_where_mysql_has_them() {
    let varchar = |collation| SqlType::VarChar { length: 8, collation };
    for (ty, text, expected) in [
        (varchar(CollationId::UTF8MB4_0900_AI_CI), "ABcd  ", 109),
        (varchar(CollationId::UTF8MB4_0900_AI_CI), "日本", 175),
        (SqlType::Char { length: 8, collation: CollationId::UTF8MB4_0900_AI_CI }, "ab", 143),
        (varchar(CollationId::LATIN1_SWEDISH_CI), "Ab ", 34),
        (varchar(CollationId::LATIN1_SWEDISH_CI), "aB", 34),
        (varchar(CollationId::UTF8MB4_GENERAL_CI), "é", 86),
        (SqlType::VarBinary { length: 8 }, "a ", 102),
    ] {
        assert_eq!(partition(&ty, &Value::bytes(text)), expected, "{ty:?} {text}");
    }
}

/// Equal texts are in one partition, whatever they look like.
#[test]
fn equal_texts_have_one_hash() {
    for collation in crate::Collation::all() {
        let ty = SqlType::VarChar { length: 9, collation: collation.id };
        let texts: [&[u8]; 9] = [b"", b" ", b"a", b"A", b"a ", b"ab", b"AB", b"ss", b"\xc3\xa9"];
        for one in texts {
            for other in texts {
                if collation.equal(one, other) {
                    let [one, other] = [one, other].map(|text| partition(&ty, &Value::bytes(text)));
                    assert_eq!(one, other, "{}", collation.name);
                }
            }
        }
    }
}
