//! JSON: values, their text, their order, and paths into them.
//!
//! | module | what it holds |
//! |---|---|
//! | [`parse`] | text to values, with MySQL's words for what is wrong |
//! | [`path`] | `$.name[3]**.x`: the path language |
//!
//! A JSON value is kept as text in MySQL's normal form: the members of an object in the order of their names
//! (the shorter first, then byte by byte), each name once, `", "` and `": "` between them, numbers in the
//! form in which they read back ([`Json::write`]). This text is what columns hold and what expressions of
//! type JSON hand on; a function that looks inside reads it into a [`Json`] and writes its result.
//!
//! The text says almost everything: a number with a point or an exponent is a double if a double would be
//! written so, else it was a DECIMAL and stays one. What it does not say is lost: that an integer was
//! unsigned, that a string was a date.

pub mod parse;
pub mod path;
mod size;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::decimal::Decimal;
use crate::number::{format_f64, format_i64, format_u64};
use crate::watch::{PIECE, Watch};

/// Arrays and objects may be nested so deep.
pub const MAX_DEPTH: usize = 100;

/// Why a text is no JSON value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// It is not JSON; the text is that of MySQL's errors 3140 and 3141.
    #[error("Invalid JSON text: \"{reason}\" at position {position}")]
    Syntax {
        /// What is wrong.
        reason: &'static str,
        /// Byte position of the problem.
        position: usize,
    },
    /// It is nested deeper than [`MAX_DEPTH`] (3157).
    #[error("The JSON document exceeds the maximum depth.")]
    TooDeep,
    /// Reading it was ended: [`parse::watched`].
    #[error("Reading the JSON document was ended")]
    Stopped,
}

/// The name of an object's member. The shorter name is the smaller one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name(pub String);

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The members of an object.
pub type Members = BTreeMap<Name, Json>;

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Json {
    Null,
    Bool(bool),
    Int(i64),
    /// Beyond the signed ones.
    UInt(u64),
    Decimal(Decimal),
    Double(f64),
    String(String),
    Array(Vec<Json>),
    Object(Members),
}

/// The text in the form MySQL prints JSON.
pub fn normalize(text: &[u8]) -> Result<Vec<u8>, JsonError> {
    Ok(parse::document(text)?.to_text())
}

/// Whether the text is JSON (JSON_VALID).
pub fn is_valid(text: &[u8]) -> bool {
    parse::document(text).is_ok()
}

/// Appends a JSON string literal for `text`.
pub fn quote(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    put_escaped(text.as_bytes(), out);
    out.push(b'"');
}

/// [`quote`] of a text of any length, for as long as `watch` lets it, which is told before each part how long
/// the text is that has been appended to. False if it has said no.
pub fn quote_watched(text: &str, out: &mut Vec<u8>, watch: Watch<'_>) -> bool {
    if text.len() <= PIECE {
        quote(text, out);
        return true;
    }
    out.push(b'"');
    for part in text.as_bytes().chunks(PIECE) {
        if !watch(out.len()) {
            return false;
        }
        put_escaped(part, out);
    }
    out.push(b'"');
    true
}

/// Appends bytes as they stand between quotation marks.
fn put_escaped(text: &[u8], out: &mut Vec<u8>) {
    for &byte in text {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            control @ 0..=0x1f => out.extend_from_slice(format!("\\u{control:04x}").as_bytes()),
            other => out.push(other),
        }
    }
}

/// Compares two values that are given as normal text. What is none - a column is never that - is before all
/// others.
pub fn compare_texts(left: &[u8], right: &[u8]) -> Ordering {
    compare_texts_watched(left, right, &mut |_| true)
}

/// The same, which is [watched](crate::watch).
pub fn compare_texts_watched(left: &[u8], right: &[u8], watch: Watch<'_>) -> Ordering {
    if left == right {
        return Ordering::Equal;
    }
    match (parse::watched(left, true, watch), parse::watched(right, true, watch)) {
        (Ok(left), Ok(right)) => left.compare(&right),
        (left, right) => left.is_ok().cmp(&right.is_ok()),
    }
}

/// Appends bytes that are the same for two values, given as normal text, exactly if they are equal.
pub fn put_key(text: &[u8], out: &mut Vec<u8>) {
    put_key_watched(text, out, &mut |_| true);
}

/// The same, which is [watched](crate::watch).
pub fn put_key_watched(text: &[u8], out: &mut Vec<u8>, watch: Watch<'_>) {
    match parse::watched(text, true, watch) {
        Ok(value) => value.with_plain_numbers().write_counted(out, watch),
        Err(_) => out.extend_from_slice(text),
    }
}

fn put_double(value: f64, out: &mut Vec<u8>) {
    let start = out.len();
    format_f64(value, out);
    if crate::part::from(out, start).iter().all(|byte| byte.is_ascii_digit() || *byte == b'-') {
        out.extend_from_slice(b".0");
    }
}

impl Json {
    /// Changed by a patch, as RFC 7396 says: members of an object take the place of those of the same name,
    /// and null takes one away. A patch that is no object takes the place of the whole.
    pub fn patched(self, patch: Json) -> Json {
        let Json::Object(patch) = patch else { return patch };
        let mut members = match self {
            Json::Object(members) => members,
            _ => Members::new(),
        };
        for (name, value) in patch {
            let before = members.remove(&name);
            if value != Json::Null {
                members.insert(name, before.unwrap_or(Json::Null).patched(value));
            }
        }
        Json::Object(members)
    }

    /// Its text in MySQL's normal form.
    pub fn to_text(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }

    /// Appends its text in MySQL's normal form, for as long as `watch` lets it, which is told before each
    /// part how long the text is. False if it has said no.
    pub fn write_watched(&self, out: &mut Vec<u8>, watch: Watch<'_>) -> bool {
        match self {
            Json::Array(items) => {
                out.push(b'[');
                for (position, item) in items.iter().enumerate() {
                    if position > 0 {
                        out.extend_from_slice(b", ");
                    }
                    if !watch(out.len()) || !item.write_watched(out, watch) {
                        return false;
                    }
                }
                out.push(b']');
            }
            Json::Object(members) => {
                out.push(b'{');
                for (position, (name, item)) in members.iter().enumerate() {
                    if position > 0 {
                        out.extend_from_slice(b", ");
                    }
                    if !quote_watched(&name.0, out, watch) {
                        return false;
                    }
                    out.extend_from_slice(b": ");
                    if !watch(out.len()) || !item.write_watched(out, watch) {
                        return false;
                    }
                }
                out.push(b'}');
            }
            Json::String(text) => return quote_watched(text, out, watch),
            scalar => scalar.write_scalar(out),
        }
        true
    }

    /// Appends its text in MySQL's normal form, which is [watched](crate::watch).
    pub fn write_counted(&self, out: &mut Vec<u8>, watch: Watch<'_>) {
        let mut known = out.len();
        self.write_watched(out, &mut |length| {
            let written = length - known;
            if written <= PIECE {
                return true;
            }
            known = length;
            watch(written)
        });
    }

    /// Appends its text in MySQL's normal form.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.write_watched(out, &mut |_| true);
    }

    fn write_scalar(&self, out: &mut Vec<u8>) {
        match self {
            Json::Null | Json::Array(_) | Json::Object(_) => out.extend_from_slice(b"null"),
            Json::Bool(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
            Json::Int(value) => format_i64(*value, out),
            Json::UInt(value) => format_u64(*value, out),
            Json::Decimal(value) => out.extend_from_slice(value.to_string().as_bytes()),
            Json::Double(value) => put_double(*value, out),
            Json::String(text) => quote(text, out),
        }
    }

    /// Appends its text on lines of their own, two spaces deeper per level (JSON_PRETTY), for as long as
    /// `watch` lets it, which is told before each part how long the text is. False if it has said no.
    pub fn write_pretty(&self, level: usize, out: &mut Vec<u8>, watch: Watch<'_>) -> bool {
        let new_line = |level: usize, out: &mut Vec<u8>| {
            out.push(b'\n');
            out.extend(std::iter::repeat_n(b' ', 2 * level));
        };
        match self {
            Json::Array(items) if !items.is_empty() => {
                out.push(b'[');
                for (position, item) in items.iter().enumerate() {
                    if position > 0 {
                        out.push(b',');
                    }
                    new_line(level + 1, out);
                    if !watch(out.len()) || !item.write_pretty(level + 1, out, watch) {
                        return false;
                    }
                }
                new_line(level, out);
                out.push(b']');
            }
            Json::Object(members) if !members.is_empty() => {
                out.push(b'{');
                for (position, (name, item)) in members.iter().enumerate() {
                    if position > 0 {
                        out.push(b',');
                    }
                    new_line(level + 1, out);
                    if !quote_watched(&name.0, out, watch) {
                        return false;
                    }
                    out.extend_from_slice(b": ");
                    if !watch(out.len()) || !item.write_pretty(level + 1, out, watch) {
                        return false;
                    }
                }
                new_line(level, out);
                out.push(b'}');
            }
            other => return other.write_watched(out, watch),
        }
        true
    }

    /// What JSON_TYPE says.
    pub fn type_name(&self) -> &'static str {
        match self {
            Json::Null => "NULL",
            Json::Bool(_) => "BOOLEAN",
            Json::Int(_) => "INTEGER",
            Json::UInt(_) => "UNSIGNED INTEGER",
            Json::Decimal(_) => "DECIMAL",
            Json::Double(_) => "DOUBLE",
            Json::String(_) => "STRING",
            Json::Array(_) => "ARRAY",
            Json::Object(_) => "OBJECT",
        }
    }

    /// Elements of an array, members of an object; a scalar has length 1.
    pub fn length(&self) -> usize {
        match self {
            Json::Array(items) => items.len(),
            Json::Object(members) => members.len(),
            _ => 1,
        }
    }

    /// 1 of a scalar and of an empty array or object, else 1 more than that of its deepest part.
    pub fn depth(&self) -> usize {
        1 + self.parts().map(Json::depth).max().unwrap_or(0)
    }

    /// How many arrays and objects are around its innermost part.
    pub fn nesting(&self) -> usize {
        match self {
            Json::Array(_) | Json::Object(_) => 1 + self.parts().map(Json::nesting).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// Whether it is nested deeper than a document may be.
    pub fn is_too_deep(&self) -> bool {
        self.nesting() > MAX_DEPTH
    }

    /// Elements or members' values.
    pub fn parts(&self) -> Box<dyn Iterator<Item = &Json> + '_> {
        match self {
            Json::Array(items) => Box::new(items.iter()),
            Json::Object(members) => Box::new(members.values()),
            _ => Box::new(std::iter::empty()),
        }
    }

    /// Whether it is neither array nor object.
    pub fn is_scalar(&self) -> bool {
        !matches!(self, Json::Array(_) | Json::Object(_))
    }

    /// Its elements; of another value, that alone.
    pub fn into_items(self) -> Vec<Json> {
        match self {
            Json::Array(items) => items,
            other => vec![other],
        }
    }

    /// From the lowest to the highest type.
    fn rank(&self) -> u8 {
        match self {
            Json::Null => 0,
            Json::Int(_) | Json::UInt(_) | Json::Decimal(_) | Json::Double(_) => 1,
            Json::String(_) => 2,
            Json::Object(_) => 3,
            Json::Array(_) => 4,
            Json::Bool(_) => 5,
        }
    }

    /// MySQL's order: by type, and within a type by value. Of two objects that with fewer members is the
    /// smaller.
    pub fn compare(&self, other: &Json) -> Ordering {
        match (self, other) {
            (Json::Bool(l), Json::Bool(r)) => l.cmp(r),
            (Json::String(l), Json::String(r)) => l.as_bytes().cmp(r.as_bytes()),
            (Json::Array(l), Json::Array(r)) => {
                let differing = l.iter().zip(r).map(|(l, r)| l.compare(r)).find(|ordering| ordering.is_ne());
                differing.unwrap_or_else(|| l.len().cmp(&r.len()))
            }
            (Json::Object(l), Json::Object(r)) => l.len().cmp(&r.len()).then_with(|| {
                let pairs = l.iter().zip(r);
                let mut orderings = pairs.map(|((ln, lv), (rn, rv))| ln.cmp(rn).then_with(|| lv.compare(rv)));
                orderings.find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
            }),
            (l, r) if l.rank() != r.rank() => l.rank().cmp(&r.rank()),
            (l, r) => l.compare_number(r),
        }
    }

    fn compare_number(&self, other: &Json) -> Ordering {
        match (self, other) {
            (Json::Double(l), Json::Double(r)) => l.partial_cmp(r).unwrap_or(Ordering::Equal),
            (Json::Double(l), r) => compare_double(*l, r),
            (l, Json::Double(r)) => compare_double(*r, l).reverse(),
            (l, r) => match (l.to_decimal(), r.to_decimal()) {
                (Some(l), Some(r)) => l.cmp(&r),
                // nulls
                _ => Ordering::Equal,
            },
        }
    }

    /// An exact number, as such.
    fn to_decimal(&self) -> Option<Decimal> {
        match self {
            Json::Int(value) => Some(Decimal::from(*value)),
            Json::UInt(value) => Some(Decimal::from(*value)),
            Json::Decimal(value) => Some(*value),
            _ => None,
        }
    }

    /// The same value with numbers that are equal written in the same way.
    fn with_plain_numbers(self) -> Json {
        match self {
            Json::Array(items) => Json::Array(items.into_iter().map(Json::with_plain_numbers).collect()),
            Json::Object(members) => {
                Json::Object(members.into_iter().map(|(n, v)| (n, v.with_plain_numbers())).collect())
            }
            Json::Decimal(value) => {
                let whole = value.truncate(0).ok().filter(|whole| *whole == value);
                match whole.map(|whole| (whole.to_i64(), whole.to_u64())) {
                    Some((Ok(integer), _)) => Json::Int(integer),
                    Some((_, Ok(integer))) => Json::UInt(integer),
                    _ => Json::Double(value.to_f64()),
                }
            }
            Json::Double(value) if value.fract() == 0.0 && value.abs() < 9e15 => Json::Int(value as i64),
            other => other,
        }
    }
}

fn compare_double(double: f64, exact: &Json) -> Ordering {
    let Some(exact) = exact.to_decimal() else { return Ordering::Equal };
    match Decimal::from_f64(double) {
        Ok(decimal) => decimal.cmp(&exact),
        Err(_) => double.partial_cmp(&exact.to_f64()).unwrap_or(Ordering::Equal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(String::from_utf8(normalize(text.as_bytes()).unwrap()).unwrap(), expected, "{text}");
        // the normal form is its own, whichever reader reads it
        assert_eq!(normalize(expected.as_bytes()).unwrap(), expected.as_bytes(), "{text}");
        assert_eq!(parse::normal(expected.as_bytes()).unwrap().to_text(), expected.as_bytes(), "{text}");
    }

    #[test]
    fn prints_json_as_mysql_does() {
        for (text, expected) in [
            (
                r#"{"bb":1,"a":[1,2.5,"x\u00e9\n"],"aa":null, "a":true}"#,
                r#"{"a": true, "aa": null, "bb": 1}"#,
            ),
            (
                "[1,[],{},-3,1.0,1e3,18446744073709551615]",
                "[1, [], {}, -3, 1.0, 1000.0, 18446744073709551615]",
            ),
            ("[1.10,-0,-0.0,1e15,1.5e-7]", "[1.1, 0, -0.0, 1e15, 0.00000015]"),
            ("[18446744073709551616,-9223372036854775809]", "[1.8446744073709552e19, -9.223372036854776e18]"),
            (r#" "a\"b\/" "#, r#""a\"b/""#),
            (r#""\u0001\ud83d\ude00\u007f""#, "\"\\u0001😀\u{7f}\""),
            ("1e100", "1e100"),
        ] {
            check(text, expected);
        }
    }

    #[test]
    fn a_decimal_in_normal_text_stays_one() {
        for (text, name) in
            [("1.50", "DECIMAL"), ("1.5", "DOUBLE"), ("100000000000000000000", "DECIMAL"), ("1", "INTEGER")]
        {
            let value = parse::normal(text.as_bytes()).unwrap();
            assert_eq!((value.type_name(), value.to_text().as_slice()), (name, text.as_bytes()));
        }
    }

    #[test]
    fn values_are_ordered_by_type_and_value() {
        let ordered = [
            "null",
            "-1e300",
            "-2",
            "-1.5",
            "0",
            "0.5",
            "1",
            "18446744073709551615",
            "1e20",
            "\"\"",
            "\"a\"",
            "\"b\"",
            "{}",
            "{\"b\": 1}",
            "{\"b\": 2}",
            "{\"c\": 0}",
            "{\"aa\": 0}",
            "{\"a\": 0, \"b\": 0}",
            "[]",
            "[1]",
            "[1, 2]",
            "[2]",
            "false",
            "true",
        ];
        for (l, left) in ordered.iter().enumerate() {
            for (r, right) in ordered.iter().enumerate() {
                assert_eq!(compare_texts(left.as_bytes(), right.as_bytes()), l.cmp(&r), "{left} {right}");
            }
        }
        for (left, right) in
            [("1", "1.0"), ("[1]", "[1.00]"), ("1.50", "1.5"), ("{\"a\": 10.0}", "{\"a\": 10}")]
        {
            assert_eq!(compare_texts(left.as_bytes(), right.as_bytes()), Ordering::Equal);
            let mut keys = [Vec::new(), Vec::new()];
            put_key(left.as_bytes(), &mut keys[0]);
            put_key(right.as_bytes(), &mut keys[1]);
            assert_eq!(keys[0], keys[1]);
        }
    }

    #[test]
    fn pretty_text_has_a_line_per_part() {
        let mut out = Vec::new();
        let document = parse::document(br#"{"a":[1,{}],"b":[]}"#).unwrap();
        assert!(document.write_pretty(0, &mut out, &mut |_| true));
        assert_eq!(out, b"{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}");
    }

    /// Documents of few long parts and of many short ones are read and written in pieces, and no further than
    /// the watch lets them.
    #[test]
    fn long_documents_are_watched() {
        let long = format!("\"{}\"", "\\u0007abc".repeat(20_000));
        for text in [long.clone(), format!("[{}1]", "1,".repeat(100_000)), format!("{{{long}:{long}}}")] {
            let mut most = 0;
            let mut read = 0;
            let document = parse::watched(text.as_bytes(), false, &mut |bytes| {
                most = most.max(bytes);
                read += bytes;
                true
            });
            let document = document.unwrap();
            assert!(most <= 3 * PIECE && read + 3 * PIECE > text.len(), "{most} {read}");
            assert_eq!(parse::watched(text.as_bytes(), false, &mut |_| false), Err(JsonError::Stopped));
            let plain = document.to_text();
            for is_pretty in [false, true] {
                let write = |out: &mut Vec<u8>, watch: Watch<'_>| match is_pretty {
                    true => document.write_pretty(0, out, watch),
                    false => document.write_watched(out, watch),
                };
                let (mut out, mut known) = (Vec::new(), 0);
                assert!(write(&mut out, &mut |length| {
                    assert!(length - known <= 7 * PIECE, "{length} {known}");
                    known = length;
                    true
                }));
                assert!(is_pretty || out == plain);
                out.clear();
                assert!(!write(&mut out, &mut |length| length < plain.len() / 2));
                assert!(out.len() < plain.len());
            }
        }
    }
}
