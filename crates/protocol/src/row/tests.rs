use super::*;
use palisade_catalog::types::IntWidth;
use palisade_catalog::{CollationId, Date, Decimal};

fn format(ty: SqlType) -> ColumnFormat {
    ColumnFormat::new(&ty, ty.wire_flags(), ty.wire_length(4), Some(Charset::Utf8mb4))
}

fn text(ty: SqlType, value: ValueRef<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    encode_text_row(&[format(ty)], [value].into_iter(), &mut out);
    out
}

fn binary(ty: SqlType, value: ValueRef<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    encode_binary_row(&[format(ty)], [value].into_iter(), &mut out);
    assert_eq!(out[..2], [0, 0]);
    out.split_off(2)
}

fn varchar(length: u32) -> SqlType {
    SqlType::VarChar { length, collation: CollationId::UTF8MB4_0900_AI_CI }
}

fn moment(micros: u32) -> DateTime {
    DateTime::new(Date::new(2026, 11, 21).unwrap(), 9, 8, 7, micros).unwrap()
}

fn tiny() -> SqlType {
    SqlType::Int { width: IntWidth::Tiny, unsigned: false }
}

#[test]
fn numbers_and_strings_in_text() {
    assert_eq!(text(SqlType::BIGINT, ValueRef::Int(-42)), b"\x03-42");
    assert_eq!(text(SqlType::BIGINT_UNSIGNED, ValueRef::UInt(u64::MAX)), b"\x1418446744073709551615");
    assert_eq!(text(varchar(10), ValueRef::Bytes(b"hi")), b"\x02hi");
    assert_eq!(text(varchar(10), ValueRef::Null), b"\xfb");
    assert_eq!(text(varchar(900), ValueRef::Bytes(&[b'x'; 300]))[..3], [252, 44, 1]);
    let decimal = SqlType::Decimal { precision: 5, scale: 2, unsigned: false };
    assert_eq!(text(decimal, ValueRef::Decimal(Decimal::parse(b"-1.50").0)), b"\x05-1.50");
    let quotient = SqlType::Decimal { precision: 10, scale: 6, unsigned: false };
    assert_eq!(text(quotient, ValueRef::Decimal(Decimal::parse(b"0.416666666").0)), b"\x080.416667");
    assert_eq!(text(SqlType::Bit { width: 9 }, ValueRef::Bit { bits: 0x141, width: 9 }), b"\x02\x01\x41");
    assert_eq!(text(SqlType::Year, ValueRef::Year(0)), b"\x040000");
}

#[test]
fn rows_of_strings_are_those_of_their_columns() {
    let long = [b'x'; 300];
    let strings = [Some(&b"hi"[..]), None, Some(b""), Some(&long), None, Some(b"a"), None, None, Some(b"b")];
    for count in 0..=strings.len() {
        let columns = vec![format(varchar(900)); count];
        assert!(are_verbatim(&columns));
        let strings = strings.into_iter().take(count).collect::<Vec<_>>();
        let values = strings.iter().map(|text| text.map_or(ValueRef::Null, ValueRef::Bytes));
        let (mut by_column, mut by_string) = (Vec::new(), Vec::new());
        encode_text_row(&columns, values.clone(), &mut by_column);
        encode_binary_row(&columns, values, &mut by_column);
        encode_text_row_of_strings(strings.iter().copied(), &mut by_string);
        encode_binary_row_of_strings(strings.iter().copied(), &mut by_string);
        assert_eq!(by_string, by_column, "{count} columns");
    }
    assert!(!are_verbatim(&[format(varchar(900)), format(tiny())]));
}

#[test]
fn dates_and_times_in_text_show_the_digits_of_their_type() {
    assert_eq!(text(SqlType::DateTime { fsp: 0 }, ValueRef::DateTime(moment(5))), b"\x132026-11-21 09:08:07");
    assert_eq!(
        text(SqlType::DateTime { fsp: 6 }, ValueRef::DateTime(moment(5))),
        b"\x1a2026-11-21 09:08:07.000005"
    );
    assert_eq!(
        text(SqlType::DateTime { fsp: 3 }, ValueRef::DateTime(moment(45_000))),
        b"\x172026-11-21 09:08:07.045"
    );
    assert_eq!(text(SqlType::Date, ValueRef::Date(Date::ZERO)), b"\x0a0000-00-00");
    assert_eq!(text(SqlType::Time { fsp: 0 }, ValueRef::Time(Time::MIN)), b"\x0a-838:59:59");
    let short = Time::from_micros(3_661_500_000).unwrap();
    assert_eq!(text(SqlType::Time { fsp: 1 }, ValueRef::Time(short)), b"\x0a01:01:01.5");
}

#[test]
fn zerofill_pads_with_zeros() {
    let ty = SqlType::Int { width: IntWidth::Int, unsigned: true };
    let column = ColumnFormat::new(&ty, ty.wire_flags() | flags::ZEROFILL, 6, None);
    let mut out = Vec::new();
    encode_text_row(&[column], [ValueRef::UInt(42)].into_iter(), &mut out);
    assert_eq!(out, b"\x06000042");
}

#[test]
fn numbers_in_binary_have_the_width_of_their_type() {
    assert_eq!(binary(tiny(), ValueRef::Int(-2)), [0xfe]);
    assert_eq!(binary(SqlType::INT, ValueRef::Int(-2)), (-2i32).to_le_bytes());
    assert_eq!(binary(SqlType::BIGINT, ValueRef::Int(-2)), (-2i64).to_le_bytes());
    assert_eq!(binary(SqlType::Year, ValueRef::Year(2026)), 2026u16.to_le_bytes());
    assert_eq!(binary(SqlType::DOUBLE, ValueRef::Double(1.5)), 1.5f64.to_le_bytes());
    assert_eq!(binary(SqlType::BIGINT, ValueRef::Double(2.0)), 2u64.to_le_bytes());
    assert_eq!(binary(varchar(10), ValueRef::Bytes(b"hi")), b"\x02hi");
}

#[test]
fn dates_and_times_in_binary_leave_out_what_is_zero() {
    let datetime = |value| binary(SqlType::DateTime { fsp: 6 }, ValueRef::DateTime(value));
    assert_eq!(datetime(DateTime::ZERO), [0]);
    assert_eq!(datetime(moment(0).date().at_midnight()), [4, 0xea, 0x07, 11, 21]);
    assert_eq!(datetime(moment(0)), [7, 0xea, 0x07, 11, 21, 9, 8, 7]);
    assert_eq!(datetime(moment(1)), [11, 0xea, 0x07, 11, 21, 9, 8, 7, 1, 0, 0, 0]);
    let time = |micros| binary(SqlType::Time { fsp: 6 }, ValueRef::Time(Time::from_micros(micros).unwrap()));
    assert_eq!(time(0), [0]);
    assert_eq!(time(-90_061_000_000), [8, 1, 1, 0, 0, 0, 1, 1, 1]);
    assert_eq!(time(1), [12, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
}

#[test]
fn nulls_in_binary_are_bits_from_the_third_on() {
    let columns = [format(tiny()); 8];
    let mut values = [ValueRef::Int(1); 8];
    values[0] = ValueRef::Null;
    values[7] = ValueRef::Null;
    let mut out = Vec::new();
    encode_binary_row(&columns, values.iter().copied(), &mut out);
    assert_eq!(out, [0, 0b100, 0b10, 1, 1, 1, 1, 1, 1]);
}
