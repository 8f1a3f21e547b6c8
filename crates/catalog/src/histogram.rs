//! Histograms: how the values of a column are distributed.
//!
//! A *singleton* histogram has a bucket for each value, an *equi-height* one has buckets of about as many
//! rows each. A bucket knows which part of all rows, NULLs included, has a value up to its upper end:
//!
//! ```text
//! values     1 1 1 2 2 5 | NULL NULL            8 rows
//! singleton  1: 0.375   2: 0.625   5: 0.75      nulls: 0.25
//! ```
//!
//! Values are compared by the bytes that they have in keys, texts by the sort keys of their collation. Within
//! a bucket values are taken to be spread evenly; where between its ends a value lies is read off these
//! bytes, too.
//!
//! | module | what it holds |
//! |---|---|
//! | `build` | making a histogram of values |
//!
//! Source: Ioannidis, "The history of histograms", 2003.

mod build;

pub use build::{HistogramBuilder, Specification};

use crate::collation::CollationId;
use crate::field::{encode_fixed, fixed_len};
use crate::part::first;
use crate::types::{IntWidth, SqlType};
use crate::value::{SetText, Value, ValueRef};

/// Buckets that a histogram may have.
pub const MOST_BUCKETS: u64 = 1024;
/// Characters of a text, and bytes of a binary one, that a histogram looks at.
pub const CHARACTERS: usize = 42;

/// How the values of a column are distributed.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// Whether each bucket has one value, because there were few.
    pub is_singleton: bool,
    /// In the order of their values.
    pub buckets: Vec<Bucket>,
    /// The part of all rows that has NULL, from 0 to 1.
    pub nulls: f64,
    /// The collation of the values; that of numbers is latin1's.
    pub collation: CollationId,
    /// When it was made, in microseconds since the epoch.
    pub updated_us: i64,
    /// The part of the rows that was looked at, from 0 to 1.
    pub sampling_rate: f64,
    /// How many buckets it was to have at most.
    pub buckets_specified: u16,
    /// ANALYZE TABLE makes it anew.
    pub auto_update: bool,
}

/// Some of a column's values. Those of ENUM and SET are kept as numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Bucket {
    /// The lowest; `None` if it is the highest.
    pub lower: Option<Value>,
    /// The highest.
    pub upper: Value,
    /// The part of all rows with values up to the highest, from 0 to 1.
    pub cumulative: f64,
    /// About how many values there are.
    pub distinct: u64,
}

impl Bucket {
    /// The lowest value.
    pub fn lower(&self) -> &Value {
        self.lower.as_ref().unwrap_or(&self.upper)
    }
}

/// MySQL's name of the kind of values that a histogram over a column of this type has; `None` if there is no
/// such histogram.
pub fn data_type(ty: &SqlType) -> Option<&'static str> {
    Some(match ty {
        SqlType::Int { width: IntWidth::Big, unsigned: true } => "uint",
        SqlType::Int { .. } | SqlType::Bit { .. } | SqlType::Year => "int",
        SqlType::Decimal { .. } => "decimal",
        SqlType::Float { .. } | SqlType::Double { .. } => "double",
        SqlType::Date => "date",
        SqlType::Time { .. } => "time",
        SqlType::DateTime { .. } | SqlType::Timestamp { .. } => "datetime",
        SqlType::Enum { .. } => "enum",
        SqlType::Set { .. } => "set",
        SqlType::Char { .. }
        | SqlType::VarChar { .. }
        | SqlType::Text { .. }
        | SqlType::Binary { .. }
        | SqlType::VarBinary { .. }
        | SqlType::Blob { .. } => "string",
        SqlType::Json | SqlType::Null => return None,
    })
}

/// The collation that a histogram over a column of this type names.
pub fn collation_of(ty: &SqlType) -> CollationId {
    match ty {
        SqlType::Bit { .. } => CollationId::BINARY,
        _ if ty.is_string() => ty.collation(),
        _ => CollationId::LATIN1_SWEDISH_CI,
    }
}

/// Appends the bytes by which a histogram compares a value of a column of type `ty`. False for NULL, and for
/// what is no value of that type.
pub fn put_key(ty: &SqlType, value: ValueRef<'_>, out: &mut Vec<u8>) -> bool {
    let value = match (ty, value) {
        (_, ValueRef::Null) => return false,
        (SqlType::Enum { .. }, ValueRef::UInt(index)) => match u16::try_from(index) {
            Ok(index) => ValueRef::Enum { index, text: b"" },
            Err(_) => return false,
        },
        (SqlType::Set { .. }, ValueRef::UInt(bits)) => ValueRef::Set { bits, text: SetText::Joined(b"") },
        (SqlType::Decimal { scale, .. }, ValueRef::Decimal(number)) => {
            ValueRef::Decimal(number.round(i32::from(*scale)).unwrap_or(number))
        }
        (_, value) => value,
    };
    match (fixed_len(ty), value) {
        (Some(_), value) => encode_fixed(ty, value, out),
        (None, ValueRef::Bytes(text)) => {
            let collation = ty.collation().get();
            collation.sort_key(first(text, collation.charset.prefix_len(text, CHARACTERS)), out);
            true
        }
        (None, _) => false,
    }
}

/// An end of a range of values, and whether it belongs to it.
pub type RangeEnd<'v> = Option<(&'v Value, bool)>;

impl Histogram {
    /// The part of all rows whose value in a column of type `ty` is `value`.
    pub fn equal(&self, ty: &SqlType, value: &Value) -> f64 {
        let mut key = Vec::new();
        if !put_key(ty, value.as_ref(), &mut key) {
            return 0.0;
        }
        match self.find(ty, &key) {
            Some(found) if found.is_inside => found.part / found.bucket.distinct.max(1) as f64,
            _ => 0.0,
        }
    }

    /// The part of all rows with values between two ends.
    pub fn between(&self, ty: &SqlType, lower: RangeEnd<'_>, upper: RangeEnd<'_>) -> f64 {
        let below = |(value, with): (&Value, bool)| {
            let mut key = Vec::new();
            put_key(ty, value.as_ref(), &mut key).then(|| self.below(ty, &key, with))
        };
        let low = match lower {
            Some((value, included)) => below((value, !included)),
            None => Some(0.0),
        };
        let high = upper.map_or_else(|| Some(self.values()), below);
        match (low, high) {
            (Some(low), Some(high)) => (high - low).max(0.0),
            _ => 0.0,
        }
    }

    /// The part of all rows whose text begins with `prefix`.
    pub fn beginning(&self, ty: &SqlType, prefix: &[u8]) -> f64 {
        let collation = ty.collation().get();
        let mut key = Vec::new();
        let length = collation.charset.prefix_len(prefix, CHARACTERS);
        collation.sort_key_prefix(first(prefix, length), &mut key);
        let low = self.below(ty, &key, false);
        let high = match crate::key::prefix_successor(&mut key) {
            true => self.below(ty, &key, false),
            false => self.values(),
        };
        (high - low).max(0.0)
    }

    /// The part of all rows that has a value.
    pub fn values(&self) -> f64 {
        self.buckets.last().map_or(0.0, |last| last.cumulative)
    }

    /// About how many values there are.
    pub fn distinct(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.distinct).sum()
    }

    /// The part of all rows with values before `key`, or up to it `with` it.
    fn below(&self, ty: &SqlType, key: &[u8], with: bool) -> f64 {
        let Some(found) = self.find(ty, key) else { return self.values() };
        if !found.is_inside {
            return found.before;
        }
        let distinct = found.bucket.distinct.max(1) as f64;
        let passed = found.place * (distinct - 1.0) + if with { 1.0 } else { 0.0 };
        found.before + found.part * (passed / distinct).clamp(0.0, 1.0)
    }

    /// The first bucket that does not end before `key`.
    fn find(&self, ty: &SqlType, key: &[u8]) -> Option<Found<'_>> {
        let key_of = |value: &Value| {
            let mut own = Vec::with_capacity(16);
            put_key(ty, value.as_ref(), &mut own);
            own
        };
        let number = self.buckets.partition_point(|bucket| key_of(&bucket.upper).as_slice() < key);
        let bucket = self.buckets.get(number)?;
        let before = number.checked_sub(1).and_then(|last| self.buckets.get(last));
        let before = before.map_or(0.0, |last| last.cumulative);
        let (lower, upper) = (key_of(bucket.lower()), key_of(&bucket.upper));
        Some(Found {
            bucket,
            before,
            part: (bucket.cumulative - before).max(0.0),
            is_inside: lower.as_slice() <= key,
            place: place_between(&lower, &upper, key),
        })
    }
}

/// Where a value is.
struct Found<'h> {
    bucket: &'h Bucket,
    /// The part of all rows in the buckets before.
    before: f64,
    /// The part of all rows in this bucket.
    part: f64,
    /// The value is not before the bucket's lowest.
    is_inside: bool,
    /// Where between the bucket's ends it is, from 0 to 1.
    place: f64,
}

/// Where between two keys a third one lies, from 0 to 1, as numbers of the first eight bytes in which the two
/// differ.
fn place_between(lower: &[u8], upper: &[u8], key: &[u8]) -> f64 {
    let common = lower.iter().zip(upper).take_while(|(one, other)| one == other).count();
    let number = |key: &[u8]| {
        let bytes = key.iter().skip(common).copied().chain(std::iter::repeat(0)).take(8);
        bytes.fold(0u64, |number, byte| number << 8 | u64::from(byte)) as f64
    };
    let (low, high) = (number(lower), number(upper));
    match high > low {
        true => ((number(key) - low) / (high - low)).clamp(0.0, 1.0),
        false => 0.0,
    }
}

#[cfg(test)]
mod tests;
