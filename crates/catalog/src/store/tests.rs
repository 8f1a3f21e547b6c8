//! Known MySQL results, in strict mode and without.

use palisade_base::prng::{Prng, test_seed};

use super::*;
use crate::temporal::TemporalMode;
use crate::testing::{random_type, random_value};
use crate::types::{IntWidth, LobSize};
use crate::{CollationId, DateTime, Decimal, Timestamp};

const TEXT: SqlType = SqlType::VarChar { length: 1000, collation: CollationId::UTF8MB4_0900_AI_CI };

/// MySQL's default sql_mode.
const MODE: TemporalMode = TemporalMode {
    no_zero_date: true,
    no_zero_in_date: true,
    allow_invalid_dates: false,
    truncate_fractional: false,
};

fn store_with(value: &Value, source: &SqlType, target: &SqlType, strict: bool) -> (String, Vec<String>) {
    let column = Column::new("c", target.clone(), 0).not_null();
    let temporal = if strict { MODE } else { TemporalMode::default() };
    let zone = Zone::Fixed(7200);
    let noon = DateTime::parse(b"2026-03-01 12:00:00", MODE).unwrap().0.value;
    let began = zone.to_timestamp(noon).unwrap();
    let context = StoreContext { strict, strict_mode: strict, temporal, zone: &zone, began, source };
    let mut warnings = Vec::new();
    let mut warn = |warning: Warning| {
        warnings.push(format!("{:?} {}", warning.level, warning.error.kind.code()));
    };
    let result = match coerce(value.as_ref(), &column, &context, &mut warn) {
        Ok(value) => {
            let mut text = Vec::new();
            value.as_ref().append_text(target, &mut text);
            String::from_utf8_lossy(&text).into_owned()
        }
        Err(error) => {
            let error = error.to_mysql("c", 1);
            format!("{} {}: {}", error.number(), error.sql_state(), error.message)
        }
    };
    (result, warnings)
}

/// Strict: the stored value as text, or the error; notes are ignored.
fn strict(value: impl Into<Value>, target: &SqlType) -> String {
    let value = value.into();
    store_with(&value, source_of(&value), target, true).0
}

/// Not strict: the stored value and the warnings.
fn lax(value: impl Into<Value>, target: &SqlType) -> (String, Vec<String>) {
    let value = value.into();
    store_with(&value, source_of(&value), target, false)
}

fn source_of(value: &Value) -> &'static SqlType {
    match value {
        Value::Bytes(_) => &TEXT,
        Value::DateTime(_) => &SqlType::DateTime { fsp: 6 },
        Value::Time(_) => &SqlType::Time { fsp: 6 },
        _ => &SqlType::Null,
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::bytes(text)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Int(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Double(value)
    }
}

fn decimal(text: &str) -> Value {
    Value::Decimal(Decimal::parse(text.as_bytes()).0)
}

const TINYINT: SqlType = SqlType::Int { width: IntWidth::Tiny, unsigned: false };
const INT_UNSIGNED: SqlType = SqlType::Int { width: IntWidth::Int, unsigned: true };

#[test]
fn integers() {
    assert_eq!(strict(127, &TINYINT), "127");
    assert_eq!(strict(128, &TINYINT), "1264 22003: Out of range value for column 'c' at row 1");
    assert_eq!(lax(128, &TINYINT), ("127".into(), vec!["Warning 1264".into()]));
    assert_eq!(lax(-129, &TINYINT).0, "-128");
    assert_eq!(strict(-1, &INT_UNSIGNED), "1264 22003: Out of range value for column 'c' at row 1");
    assert_eq!(lax(-1, &INT_UNSIGNED).0, "0");
    assert_eq!(strict("12", &TINYINT), "12");
    assert_eq!(strict(" 12 ", &TINYINT), "12");
    assert_eq!(strict("1.5e1", &TINYINT), "15");
    assert_eq!(strict("2.5", &TINYINT), "3");
    assert_eq!(strict("abc", &TINYINT), "1366 HY000: Incorrect integer value: 'abc' for column 'c' at row 1");
    assert_eq!(strict("", &TINYINT), "1366 HY000: Incorrect integer value: '' for column 'c' at row 1");
    assert_eq!(strict("12abc", &TINYINT), "1265 01000: Data truncated for column 'c' at row 1");
    assert_eq!(lax("12abc", &TINYINT), ("12".into(), vec!["Warning 1265".into()]));
    assert_eq!(lax("abc", &TINYINT), ("0".into(), vec!["Warning 1366".into()]));
    assert_eq!(lax("999999999999999999999", &SqlType::BIGINT).0, "9223372036854775807");
    assert_eq!(strict(decimal("2.5"), &TINYINT), "3");
    assert_eq!(strict(decimal("-2.5"), &TINYINT), "-3");
    assert_eq!(strict(2.5, &TINYINT), "2", "doubles round half to even");
    assert_eq!(strict(3.5, &TINYINT), "4");
    assert_eq!(strict(1e30, &SqlType::BIGINT), "1264 22003: Out of range value for column 'c' at row 1");
    let moment = DateTime::parse(b"2026-01-31 10:11:12.6", MODE).unwrap().0.value;
    assert_eq!(strict(Value::DateTime(moment), &SqlType::BIGINT), "20260131101113");
}

#[test]
fn exact_and_approximate_numbers() {
    let price = SqlType::Decimal { precision: 5, scale: 2, unsigned: false };
    assert_eq!(strict("123.456", &price), "123.46");
    assert_eq!(lax(decimal("123.456"), &price).1, ["Note 1265"]);
    assert_eq!(strict(1.005, &price), "1.01");
    assert_eq!(strict(1000, &price), "1264 22003: Out of range value for column 'c' at row 1");
    assert_eq!(strict("999.995", &price), "1264 22003: Out of range value for column 'c' at row 1");
    assert_eq!(lax("-1e10", &price).0, "-999.99");
    assert_eq!(strict("abc", &price), "1366 HY000: Incorrect decimal value: 'abc' for column 'c' at row 1");
    let unsigned = SqlType::Decimal { precision: 5, scale: 2, unsigned: true };
    assert_eq!(lax(-1, &unsigned), ("0.00".into(), vec!["Warning 1264".into()]));
    assert_eq!(strict("1.5e3", &SqlType::DOUBLE), "1500");
    assert_eq!(
        strict("abc", &SqlType::DOUBLE),
        "1366 HY000: Incorrect DOUBLE value: 'abc' for column 'c' at row 1"
    );
    assert_eq!(strict("12x", &price), "1366 HY000: Incorrect decimal value: '12x' for column 'c' at row 1");
    assert_eq!(lax("12x", &price), ("12.00".into(), vec!["Note 1265".into()]));
    assert_eq!(lax("1e999", &SqlType::DOUBLE).0, "1.7976931348623157e308");
    let float = SqlType::Float { unsigned: false, digits: None };
    assert_eq!(strict(0.1, &float), "0.1");
    assert_eq!(lax(1e39, &float), ("3.40282e38".into(), vec!["Warning 1264".into()]));
    let rounded = SqlType::Double { unsigned: false, digits: Some((5, 2)) };
    assert_eq!(strict(1.236, &rounded), "1.24");
    assert_eq!(lax(12345.0, &rounded).0, "999.99");
}

#[test]
fn bits_and_years() {
    let bit = SqlType::Bit { width: 10 };
    assert_eq!(strict(5, &bit), "\0\u{5}");
    assert_eq!(strict("\u{1}\u{2}", &bit), "\u{1}\u{2}");
    assert_eq!(strict(1024, &bit), "1406 22001: Data too long for column 'c' at row 1");
    assert_eq!(lax(1024, &bit).1, ["Warning 1264"]);
    assert_eq!(strict(26, &SqlType::Year), "2026");
    assert_eq!(strict("70", &SqlType::Year), "1970");
    assert_eq!(strict(0, &SqlType::Year), "0000");
    assert_eq!(strict("0", &SqlType::Year), "2000");
    assert_eq!(strict("0000", &SqlType::Year), "0000");
    assert_eq!(strict(1900, &SqlType::Year), "1264 22003: Out of range value for column 'c' at row 1");
    assert_eq!(lax(2156, &SqlType::Year).0, "0000");
}

#[test]
fn dates_and_times() {
    let datetime = SqlType::DateTime { fsp: 0 };
    let timestamp = SqlType::Timestamp { fsp: 0 };
    let time = SqlType::Time { fsp: 1 };
    assert_eq!(strict("2026-01-31", &SqlType::Date), "2026-01-31");
    assert_eq!(lax("2026-01-31 10:00:00", &SqlType::Date), ("2026-01-31".into(), vec!["Note 1265".into()]));
    assert_eq!(strict("2026-01-31 23:59:59.9", &SqlType::Date), "2026-02-01");
    assert_eq!(strict("", &time), "00:00:00.0");
    assert_eq!(strict(decimal("-0.5"), &time), "-00:00:00.5");
    for bad in ["abc", "2026-02-30", "0000-00-00", "2026-00-01", "2026-01-31x"] {
        let expected = format!("1292 22007: Incorrect date value: '{bad}' for column 'c' at row 1");
        assert_eq!(strict(bad, &SqlType::Date), expected);
    }
    assert_eq!(lax("abc", &SqlType::Date), ("0000-00-00".into(), vec!["Warning 1265".into()]));
    assert_eq!(lax("2026-02-30", &SqlType::Date), ("0000-00-00".into(), vec!["Warning 1264".into()]));
    assert_eq!(lax("2026-00-01", &SqlType::Date), ("2026-00-01".into(), vec![]));
    assert_eq!(strict(20_260_131, &SqlType::Date), "2026-01-31");
    assert_eq!(strict("2026-01-31 23:59:59.5", &datetime), "2026-02-01 00:00:00");
    assert_eq!(strict(decimal("20260131235959.25"), &SqlType::DateTime { fsp: 2 }), "2026-01-31 23:59:59.25");
    assert_eq!(
        strict("2026-01-31 10:00:00+05:00", &datetime),
        "2026-01-31 07:00:00",
        "in the session's +02:00"
    );
    assert_eq!(
        strict("2026-01-31 25:00:00", &datetime),
        "1292 22007: Incorrect datetime value: '2026-01-31 25:00:00' for column 'c' at row 1"
    );
    // The session is at +02:00; the text shown is UTC.
    assert_eq!(strict("2026-01-31 10:00:00", &timestamp), "2026-01-31 08:00:00");
    assert!(strict("1970-01-01 02:00:00", &timestamp).starts_with("1292"));
    assert_eq!(lax("2039-01-01", &timestamp), ("0000-00-00 00:00:00".into(), vec!["Warning 1264".into()]));
    assert_eq!(lax("0000-00-00", &timestamp), ("0000-00-00 00:00:00".into(), vec![]));
    let point = Value::Timestamp(Timestamp(1_000_000_000_600_000));
    assert_eq!(strict(point.clone(), &timestamp), "2001-09-09 01:46:41");
    assert_eq!(strict(point, &SqlType::DateTime { fsp: 3 }), "2001-09-09 03:46:40.600");
    assert_eq!(strict("10:11:12.25", &time), "10:11:12.3");
    assert_eq!(
        strict("839:00:00", &time),
        "1292 22007: Incorrect time value: '839:00:00' for column 'c' at row 1"
    );
    assert_eq!(lax("839:00:00", &time), ("838:59:59.0".into(), vec!["Warning 1264".into()]));
    assert_eq!(strict(101_112, &time), "10:11:12.0");
    let noon = Value::Time(crate::Time::parse_clock(b"12:00:00", MODE).unwrap().value);
    assert_eq!(strict(noon, &datetime), "2026-03-01 12:00:00");
    let truncating = TemporalMode { truncate_fractional: true, ..MODE };
    let column = Column::new("c", datetime, 0);
    let context = StoreContext {
        strict: true,
        strict_mode: true,
        temporal: truncating,
        zone: &Zone::UTC,
        began: Timestamp::ZERO,
        source: &TEXT,
    };
    let stored = coerce(ValueRef::Bytes(b"2026-01-31 23:59:59.9"), &column, &context, &mut |_| ()).unwrap();
    assert_eq!(stored, Value::DateTime(DateTime::parse(b"2026-01-31 23:59:59", MODE).unwrap().0.value));
}

#[test]
fn text() {
    let collation = CollationId::UTF8MB4_0900_AI_CI;
    let varchar = SqlType::VarChar { length: 3, collation };
    let char = SqlType::Char { length: 3, collation };
    let latin1 = SqlType::VarChar { length: 3, collation: CollationId::LATIN1_SWEDISH_CI };
    assert_eq!(strict("äöü", &varchar), "äöü");
    assert_eq!(strict("abcd", &varchar), "1406 22001: Data too long for column 'c' at row 1");
    assert_eq!(lax("abcd", &varchar), ("abc".into(), vec!["Warning 1265".into()]));
    assert_eq!(lax("ab    ", &varchar), ("ab ".into(), vec!["Note 1265".into()]));
    assert_eq!(lax("ab    ", &char), ("ab".into(), vec![]));
    assert_eq!(strict(123, &varchar), "123");
    assert_eq!(strict(1234, &varchar), "1406 22001: Data too long for column 'c' at row 1");
    assert_eq!(
        strict("a日本", &latin1),
        "1366 HY000: Incorrect string value: '\\xE6\\x97\\xA5\\xE6\\x9C\\xAC' for column 'c' at row 1"
    );
    assert_eq!(lax("a日", &latin1), ("a?".into(), vec!["Warning 1366".into()]));
    let bad = Value::bytes(&b"a\xff"[..]);
    let binary = SqlType::VarBinary { length: 10 };
    assert_eq!(
        store_with(&bad, &binary, &varchar, true).0,
        "1366 HY000: Incorrect string value: '\\xFF' for column 'c' at row 1"
    );
    assert_eq!(store_with(&bad, &TEXT, &varchar, false), ("a".into(), vec!["Warning 1366".into()]));
    let stored = store_with(&Value::bytes(&b"\xe4"[..]), &latin1, &varchar, true);
    assert_eq!(stored.0, "ä");
    let tiny = SqlType::Text { size: LobSize::Tiny, collation };
    let long = "é".repeat(128);
    assert_eq!(strict(long.as_str(), &tiny), "1406 22001: Data too long for column 'c' at row 1");
    assert_eq!(lax(long.as_str(), &tiny).0, "é".repeat(127));
    assert_eq!(strict("ab", &SqlType::Binary { length: 3 }), "ab\0");
    assert_eq!(
        strict("abcd", &SqlType::Binary { length: 3 }),
        "1406 22001: Data too long for column 'c' at row 1"
    );
}

#[test]
fn enums_sets_and_json() {
    let collation = CollationId::UTF8MB4_0900_AI_CI;
    let members: std::sync::Arc<[crate::Bytes]> =
        ["small", "large", "7"].map(crate::Bytes::from).to_vec().into();
    let size = SqlType::Enum { members: members.clone(), collation };
    assert_eq!(strict("LARGE ", &size), "large");
    assert_eq!(strict(2, &size), "large");
    assert_eq!(strict("1", &size), "small");
    assert_eq!(strict("7", &size), "7");
    assert_eq!(strict("huge", &size), "1265 01000: Data truncated for column 'c' at row 1");
    assert_eq!(lax("huge", &size), (String::new(), vec!["Warning 1265".into()]));
    assert_eq!(strict(4, &size), "1265 01000: Data truncated for column 'c' at row 1");
    let sizes = SqlType::Set { members, collation };
    assert_eq!(strict("Large,small", &sizes), "small,large");
    assert_eq!(strict("", &sizes), "");
    assert_eq!(strict(5, &sizes), "small,7");
    assert_eq!(lax("small,huge", &sizes), ("small".into(), vec!["Warning 1265".into()]));
    assert_eq!(strict(8, &sizes), "1265 01000: Data truncated for column 'c' at row 1");
    assert_eq!(strict("{\"b\":1, \"a\":[]}", &SqlType::Json), "{\"a\": [], \"b\": 1}");
    let refused = "3140 22032: Invalid JSON text: \"not a JSON text, may need CAST\" at position 0 in value for column 'c'.";
    assert_eq!(strict(5, &SqlType::Json), refused);
    assert_eq!(lax(5, &SqlType::Json).0, refused);
    for (text, target, expected) in [
        ("true", SqlType::BIGINT, "1"),
        ("\"17\"", SqlType::BIGINT, "17"),
        ("1.50", SqlType::Decimal { precision: 5, scale: 1, unsigned: false }, "1.5"),
        ("\"2026-01-02\"", SqlType::Date, "2026-01-02"),
        ("[1]", SqlType::BIGINT, "3156 22018: Invalid JSON value for CAST to INTEGER from column c at row 1"),
        ("17", SqlType::Date, "3156 22018: Invalid JSON value for CAST to DATE from column c at row 1"),
    ] {
        assert_eq!(store_with(&Value::bytes(text), &SqlType::Json, &target, true).0, expected, "{text}");
    }
    let nested = format!("{}{}", "[".repeat(101), "]".repeat(101));
    assert!(strict(nested.as_str(), &SqlType::Json).starts_with("3157 22032: "));
    assert!(lax("{", &SqlType::Json).0.starts_with("3140 22032: Invalid JSON text: \"Missing a"));
    let binary =
        store_with(&Value::bytes("{}"), &SqlType::Blob { size: LobSize::Long }, &SqlType::Json, true);
    assert_eq!(binary.0, "3144 22032: Cannot create a JSON value from a string with CHARACTER SET 'binary'.");
}

#[test]
fn null_and_implicit_defaults() {
    assert_eq!(strict(Value::Null, &TINYINT), "1048 23000: Column 'c' cannot be null");
    let mut prng = Prng::new(test_seed(90));
    for _ in 0..500 {
        let sql_type = random_type(&mut prng);
        let column = Column::new("c", sql_type.clone(), 0);
        // The implicit default is a value of the column: storing it changes nothing.
        let default = implicit_default(&column);
        let context = StoreContext {
            strict: true,
            strict_mode: true,
            temporal: TemporalMode::default(),
            zone: &Zone::UTC,
            began: Timestamp::ZERO,
            source: &sql_type,
        };
        assert_eq!(coerce(default.as_ref(), &column, &context, &mut |_| ()), Ok(default));
    }
}

/// Storing what a column holds into a column of its type changes nothing, and storing anything anywhere gives a
/// value that a row can hold.
#[test]
fn whatever_is_stored_is_of_the_columns_type() {
    let mut prng = Prng::new(test_seed(91));
    let mode = TemporalMode { allow_invalid_dates: true, ..TemporalMode::default() };
    for _ in 0..30_000 {
        let source = random_type(&mut prng);
        let value = random_value(&mut prng, &source);
        let target = if prng.one_in(10) { source.clone() } else { random_type(&mut prng) };
        let column = Column::new("c", target.clone(), 0);
        let context = StoreContext {
            strict: prng.one_in(2),
            strict_mode: prng.one_in(2),
            temporal: mode,
            zone: &Zone::UTC,
            began: Timestamp::ZERO,
            source: &source,
        };
        let mut warnings = 0;
        let result = coerce(value.as_ref(), &column, &context, &mut |_| warnings += 1);
        let Ok(stored) = result else {
            assert!(context.strict || target == SqlType::Json, "{source:?} {value:?} {target:?}");
            continue;
        };
        match crate::field::fixed_len(&target) {
            Some(_) => assert!(
                crate::field::encode_fixed(&target, stored.as_ref(), &mut Vec::new()),
                "{source:?} {value:?} as {target:?} is {stored:?}"
            ),
            None => assert!(matches!(stored, Value::Bytes(_))),
        }
        let same_charset = source.collation() == target.collation();
        if source == target && !source.is_unsigned() && same_charset && warnings == 0 {
            // DOUBLE(M,D) rounds.
            let lossless = !matches!(source, SqlType::Double { digits: Some(_), .. });
            assert!(!lossless || stored == value, "{source:?}: {value:?} became {stored:?}");
        }
    }
}
