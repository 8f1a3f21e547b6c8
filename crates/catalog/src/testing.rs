//! Random tables and values, for the tests of this crate.

use std::cmp::Ordering;

use palisade_base::prng::Prng;

use crate::collation::{Collation, CollationId};
use crate::decimal::Decimal;
use crate::descriptor::{Column, Generated, Index, IndexPart, TableDef};
use crate::temporal::{Date, DateTime, Time, Timestamp};
use crate::types::{IntWidth, LobSize, SqlType};
use crate::value::{Bytes, EnumValue, SetText, Value, ValueRef};

pub(crate) fn random_type(prng: &mut Prng) -> SqlType {
    let width =
        *prng.pick(&[IntWidth::Tiny, IntWidth::Small, IntWidth::Medium, IntWidth::Int, IntWidth::Big]);
    let unsigned = prng.one_in(2);
    let fsp = prng.below(7) as u8;
    let collation = prng.pick(Collation::all()).id;
    let size = *prng.pick(&[LobSize::Tiny, LobSize::Normal, LobSize::Medium, LobSize::Long]);
    let members = |prng: &mut Prng, most: u64| {
        (0..1 + prng.below(most)).map(|i| Bytes::from(format!("m{i}"))).collect::<Vec<_>>().into()
    };
    match prng.below(20) {
        0..=3 => SqlType::Int { width, unsigned },
        4 => {
            let precision = 1 + prng.below(65) as u8;
            SqlType::Decimal {
                precision,
                scale: prng.below(u64::from(precision.min(30)) + 1) as u8,
                unsigned,
            }
        }
        5 => SqlType::Float { unsigned, digits: None },
        6 => SqlType::Double { unsigned, digits: Some((10, 2)) },
        7 => SqlType::Bit { width: 1 + prng.below(64) as u8 },
        8 => SqlType::Date,
        9 => SqlType::Time { fsp },
        10 => SqlType::DateTime { fsp },
        11 => SqlType::Timestamp { fsp },
        12 => SqlType::Year,
        13 => SqlType::Char { length: 1 + prng.below(255) as u32, collation },
        14 | 15 => SqlType::VarChar { length: 1 + prng.below(1000) as u32, collation },
        16 => SqlType::VarBinary { length: 1 + prng.below(1000) as u32 },
        17 => SqlType::Text { size, collation },
        18 => {
            let most = *prng.pick(&[3, 300]);
            SqlType::Enum { members: members(prng, most), collation: CollationId::default() }
        }
        _ => SqlType::Set { members: members(prng, 64), collation: CollationId::default() },
    }
}

/// A value that a column of this type may hold; never NULL.
pub(crate) fn random_value(prng: &mut Prng, sql_type: &SqlType) -> Value {
    let micros = |prng: &mut Prng, fsp: u8| {
        let unit = 10u64.pow(6 - u32::from(fsp));
        prng.below(1_000_000) / unit * unit
    };
    let small = prng.one_in(2);
    match sql_type {
        SqlType::Int { width, unsigned: false } => {
            let (low, high) = width.signed_range();
            Value::Int(match prng.below(4) {
                0 => low,
                1 => high,
                _ if small => prng.below(5) as i64 - 2,
                _ => (prng.next_u64() as i64).clamp(low, high),
            })
        }
        SqlType::Int { width, .. } => {
            Value::UInt(if small { prng.below(4) } else { prng.next_u64() & width.unsigned_max() })
        }
        SqlType::Decimal { precision, scale, .. } => {
            let digits = 1 + prng.below(u64::from(*precision));
            let mut text: String = (0..digits).map(|_| (b'0' + prng.below(10) as u8) as char).collect();
            text.push_str(&format!("e-{scale}"));
            let number = Decimal::parse(text.as_bytes()).0.round(i32::from(*scale)).unwrap();
            Value::Decimal(if prng.one_in(2) { number.negate() } else { number })
        }
        SqlType::Float { .. } => Value::Float(if small { -1.5 } else { (prng.unit() as f32 - 0.5) * 1e9 }),
        SqlType::Double { .. } => Value::Double(match prng.below(4) {
            0 => 0.0,
            1 => f64::MIN_POSITIVE,
            2 => -1e300,
            _ => (prng.unit() - 0.5) * 1e9,
        }),
        SqlType::Bit { width } => Value::Bit { bits: prng.next_u64() >> (64 - width), width: *width },
        SqlType::Date => Value::Date(random_date(prng)),
        SqlType::Time { fsp } => {
            let seconds = prng.below(3_020_399) as i64 * 1_000_000 + micros(prng, *fsp) as i64;
            Value::Time(Time::from_micros(if prng.one_in(2) { -seconds } else { seconds }).unwrap())
        }
        SqlType::DateTime { fsp } => Value::DateTime(
            DateTime::new(
                random_date(prng),
                prng.below(24) as u8,
                prng.below(60) as u8,
                prng.below(60) as u8,
                micros(prng, *fsp) as u32,
            )
            .unwrap(),
        ),
        SqlType::Timestamp { fsp } => {
            Value::Timestamp(Timestamp((prng.below(1 << 31) * 1_000_000 + micros(prng, *fsp)) as i64))
        }
        SqlType::Year => Value::Year(if small { 0 } else { 1901 + prng.below(255) as u16 }),
        SqlType::Enum { members, .. } => {
            let index = prng.below(members.len() as u64 + 1) as u16;
            let text = if index == 0 { Bytes::new() } else { members[usize::from(index) - 1].clone() };
            Value::Enum(Box::new(EnumValue { index, text }))
        }
        SqlType::Set { members, .. } => {
            let bits = prng.next_u64() >> (64 - members.len());
            ValueRef::Set { bits, text: SetText::Members(members) }.to_owned()
        }
        SqlType::Char { collation, .. } => {
            let text = random_text(prng, *collation);
            let length = text.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
            Value::bytes(&text[..length])
        }
        SqlType::VarChar { collation, .. } | SqlType::Text { collation, .. } => {
            Value::bytes(random_text(prng, *collation))
        }
        _ => Value::bytes(random_text(prng, CollationId::BINARY)),
    }
}

fn random_date(prng: &mut Prng) -> Date {
    Date::new(prng.below(10_000) as u16, prng.below(13) as u8, prng.below(32) as u8).unwrap()
}

fn random_text(prng: &mut Prng, collation: CollationId) -> Vec<u8> {
    let mut out = Vec::new();
    let length = if prng.one_in(50) { 100 } else { prng.below(5) };
    for _ in 0..length {
        let character = *prng.pick(&['a', 'A', 'b', ' ', ' ', '\0', '\t', 'ä', 'ß', 'é', '日', '😀']);
        if !collation.get().charset.encode(character, &mut out) {
            out.push(b'x');
        }
    }
    out
}

/// A table with all kinds of columns and several indexes.
pub(crate) fn random_table(prng: &mut Prng) -> TableDef {
    let count = 1 + prng.below(12) as u16;
    let mut ordinals: Vec<u16> = (0..count).collect();
    for at in (1..ordinals.len()).rev() {
        ordinals.swap(at, prng.below(at as u64 + 1) as usize);
    }
    let mut def = TableDef { schema: "s".into(), name: "t".into(), ..TableDef::default() };
    for (position, ordinal) in ordinals.into_iter().enumerate() {
        let mut column = Column::new(format!("c{position}"), random_type(prng), ordinal);
        column.nullable = prng.one_in(2);
        def.columns.push(column);
    }
    if prng.one_in(4) {
        let mut column = Column::new("v", SqlType::INT, 0);
        column.ordinal = None;
        column.generated = Some(Generated { expression: "1 + 1".into(), stored: false });
        def.columns.push(column);
    }
    for number in 0..1 + prng.below(3) {
        let mut parts: Vec<IndexPart> = Vec::new();
        for _ in 0..1 + prng.below(4) {
            let position = prng.below(u64::from(count)) as u16;
            if parts.iter().any(|part| part.column == position) {
                continue;
            }
            let mut part = IndexPart::of(position);
            part.descending = prng.one_in(3);
            if def.columns[usize::from(position)].sql_type.is_string()
                && crate::field::fixed_len(&def.columns[usize::from(position)].sql_type).is_none()
                && prng.one_in(3)
            {
                part.prefix = Some(1 + prng.below(3) as u32);
            }
            parts.push(part);
        }
        let mut index = Index::new(format!("i{number}"), parts);
        index.unique = prng.one_in(2);
        def.indexes.push(index);
    }
    if prng.one_in(2) {
        for part in def.indexes[0].parts.clone() {
            def.columns[usize::from(part.column)].nullable = false;
        }
        def.indexes[0].primary = true;
        def.indexes[0].unique = true;
    }
    def.choose_clustered_index();
    def
}

/// One value per column, NULL where allowed.
pub(crate) fn random_row(prng: &mut Prng, def: &TableDef) -> Vec<Value> {
    let mut value = |column: &Column| {
        if column.ordinal.is_none() || (column.nullable && prng.one_in(4)) {
            Value::Null
        } else {
            random_value(prng, &column.sql_type)
        }
    };
    def.columns.iter().map(&mut value).collect()
}

/// How two values of one column compare: the model for keys. NULL is first.
pub(crate) fn compare_values(
    left: &Value,
    right: &Value,
    sql_type: &SqlType,
    prefix: Option<u32>,
) -> Ordering {
    match (left, right) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Less,
        (_, Value::Null) => Ordering::Greater,
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::UInt(a), Value::UInt(b)) => a.cmp(b),
        (Value::Decimal(a), Value::Decimal(b)) => a.cmp(b),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b).unwrap(),
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(b).unwrap(),
        (Value::Date(a), Value::Date(b)) => a.cmp(b),
        (Value::Time(a), Value::Time(b)) => a.cmp(b),
        (Value::DateTime(a), Value::DateTime(b)) => a.cmp(b),
        (Value::Timestamp(a), Value::Timestamp(b)) => a.cmp(b),
        (Value::Year(a), Value::Year(b)) => a.cmp(b),
        (Value::Bit { bits: a, .. }, Value::Bit { bits: b, .. }) => a.cmp(b),
        (Value::Enum(a), Value::Enum(b)) => a.index.cmp(&b.index),
        (Value::Set(a), Value::Set(b)) => a.bits.cmp(&b.bits),
        (Value::Bytes(a), Value::Bytes(b)) => {
            let collation = sql_type.collation().get();
            let cut = |text: &Bytes| {
                let length = prefix.map_or(text.len(), |n| collation.charset.prefix_len(text, n as usize));
                text[..length].to_vec()
            };
            collation.compare(&cut(a), &cut(b))
        }
        _ => panic!("values of one column have one type: {left:?} {right:?}"),
    }
}
