//! One SQL value, owned ([`Value`]) or borrowed from a row or a packet ([`ValueRef`]).
//!
//! A value does not know everything about itself: character set, collation, fractional digits and display length
//! live in the static type ([`SqlType`]) of the column or expression it comes from. A value is in
//! 32 bytes, and strings of up to 16 bytes need no allocation.

use smallvec::SmallVec;

use crate::decimal::Decimal;
use crate::number;
use crate::temporal::{Date, DateTime, Time, Timestamp, Zone};
use crate::types::SqlType;

/// An owned byte string: text in its column's character set, binary data, or JSON text.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(SmallVec<[u8; 16]>);

/// Copied as a whole: a derived clone takes one byte after the other.
impl Clone for Bytes {
    fn clone(&self) -> Self {
        Bytes(SmallVec::from_slice(&self.0))
    }
}

impl Bytes {
    /// The empty string.
    pub fn new() -> Self {
        Bytes(SmallVec::new())
    }

    /// The bytes, to be changed in place.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        &mut self.0
    }

    /// Appends.
    pub fn extend_from_slice(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Shortens to `length` bytes, if longer.
    pub fn truncate(&mut self, length: usize) {
        self.0.truncate(length);
    }

    /// The bytes as a vector, without copying if they are on the heap already.
    pub fn into_vec(self) -> Vec<u8> {
        self.0.into_vec()
    }
}

impl std::ops::Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        if bytes.len() <= 16 { Bytes(SmallVec::from_slice(&bytes)) } else { Bytes(SmallVec::from_vec(bytes)) }
    }
}

impl From<String> for Bytes {
    fn from(text: String) -> Self {
        text.into_bytes().into()
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        Bytes(SmallVec::from_slice(bytes))
    }
}

impl From<&str> for Bytes {
    fn from(text: &str) -> Self {
        text.as_bytes().into()
    }
}

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

/// A value of an ENUM: its 1-based index (0 is the error value, the empty string) and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnumValue {
    /// Position among the members, from 1; 0 for the error value.
    pub index: u16,
    /// The member's text.
    pub text: Bytes,
}

/// A value of a SET: bit i is member i; and its text, comma separated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetValue {
    /// The members present.
    pub bits: u64,
    /// Their texts, comma separated.
    pub text: Bytes,
}

/// An owned SQL value.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    /// NULL.
    #[default]
    Null,
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    UInt(u64),
    /// An exact number.
    Decimal(Decimal),
    /// Of FLOAT columns only; arithmetic is done in [`Value::Double`].
    Float(f32),
    /// An approximate number.
    Double(f64),
    /// Text, binary data or JSON text; the static type says which.
    Bytes(Bytes),
    /// DATE.
    Date(Date),
    /// TIME.
    Time(Time),
    /// DATETIME; also a TIMESTAMP after its conversion to the session's zone.
    DateTime(DateTime),
    /// TIMESTAMP as stored: a point in time. Converted to [`Value::DateTime`] by the session's zone when read.
    Timestamp(Timestamp),
    /// YEAR: 0 or 1901..=2155.
    Year(u16),
    /// BIT(width); also a binary literal, which is a string of so many bits, too.
    Bit {
        /// The bits, right-aligned.
        bits: u64,
        /// How many of them, 1..=64; 0 of the literal `x''`.
        width: u8,
    },
    /// ENUM.
    Enum(Box<EnumValue>),
    /// SET.
    Set(Box<SetValue>),
}

/// The texts of an ENUM's or SET's members, in their column's character set.
pub type Members = [Bytes];

/// A borrowed SQL value; see [`Value`] for the variants.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[allow(missing_docs)]
pub enum ValueRef<'a> {
    #[default]
    Null,
    Int(i64),
    UInt(u64),
    Decimal(Decimal),
    Float(f32),
    Double(f64),
    Bytes(&'a [u8]),
    Date(Date),
    Time(Time),
    DateTime(DateTime),
    Timestamp(Timestamp),
    Year(u16),
    Bit {
        bits: u64,
        width: u8,
    },
    /// `text` is empty for index 0.
    Enum {
        index: u16,
        text: &'a [u8],
    },
    /// The members present in `bits`; [`SetText`] joins their texts.
    Set {
        bits: u64,
        text: SetText<'a>,
    },
}

/// The text of a SET value: already joined, or still to be picked from the column's members.
#[derive(Debug, Clone, Copy)]
pub enum SetText<'a> {
    /// Comma separated.
    Joined(&'a [u8]),
    /// All members of the column; those whose bit is set belong to the value.
    Members(&'a Members),
}

/// A stored row has its column's members, a value that is about to be stored its own text. What is compared
/// are values of one column, and there the bits beside the two decide.
impl PartialEq for SetText<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (SetText::Joined(one), SetText::Joined(other)) => one == other,
            (SetText::Members(one), SetText::Members(other)) => one == other,
            _ => true,
        }
    }
}

impl SetText<'_> {
    /// Appends the text of the value `bits`, comma separated.
    pub fn append_to(&self, bits: u64, out: &mut Vec<u8>) {
        match self {
            SetText::Joined(text) => out.extend_from_slice(text),
            SetText::Members(members) => {
                let mut first = true;
                for (position, member) in members.iter().enumerate().take(64) {
                    if bits >> position & 1 == 1 {
                        if !first {
                            out.push(b',');
                        }
                        first = false;
                        out.extend_from_slice(member);
                    }
                }
            }
        }
    }
}

impl Value {
    /// A string value.
    pub fn bytes(bytes: impl Into<Bytes>) -> Value {
        Value::Bytes(bytes.into())
    }

    /// Whether it is NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The same value, borrowed.
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Value::Null => ValueRef::Null,
            Value::Int(v) => ValueRef::Int(*v),
            Value::UInt(v) => ValueRef::UInt(*v),
            Value::Decimal(v) => ValueRef::Decimal(*v),
            Value::Float(v) => ValueRef::Float(*v),
            Value::Double(v) => ValueRef::Double(*v),
            Value::Bytes(v) => ValueRef::Bytes(v),
            Value::Date(v) => ValueRef::Date(*v),
            Value::Time(v) => ValueRef::Time(*v),
            Value::DateTime(v) => ValueRef::DateTime(*v),
            Value::Timestamp(v) => ValueRef::Timestamp(*v),
            Value::Year(v) => ValueRef::Year(*v),
            Value::Bit { bits, width } => ValueRef::Bit { bits: *bits, width: *width },
            Value::Enum(v) => ValueRef::Enum { index: v.index, text: &v.text },
            Value::Set(v) => ValueRef::Set { bits: v.bits, text: SetText::Joined(&v.text) },
        }
    }
}

impl ValueRef<'_> {
    /// Whether it is NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, ValueRef::Null)
    }

    /// The same value, owned.
    pub fn to_owned(&self) -> Value {
        match *self {
            ValueRef::Null => Value::Null,
            ValueRef::Int(v) => Value::Int(v),
            ValueRef::UInt(v) => Value::UInt(v),
            ValueRef::Decimal(v) => Value::Decimal(v),
            ValueRef::Float(v) => Value::Float(v),
            ValueRef::Double(v) => Value::Double(v),
            ValueRef::Bytes(v) => Value::Bytes(v.into()),
            ValueRef::Date(v) => Value::Date(v),
            ValueRef::Time(v) => Value::Time(v),
            ValueRef::DateTime(v) => Value::DateTime(v),
            ValueRef::Timestamp(v) => Value::Timestamp(v),
            ValueRef::Year(v) => Value::Year(v),
            ValueRef::Bit { bits, width } => Value::Bit { bits, width },
            ValueRef::Enum { index, text } => Value::Enum(Box::new(EnumValue { index, text: text.into() })),
            ValueRef::Set { bits, text } => {
                let mut joined = Vec::new();
                text.append_to(bits, &mut joined);
                Value::Set(Box::new(SetValue { bits, text: joined.into() }))
            }
        }
    }
}

impl ValueRef<'_> {
    /// Appends the value, which is of type `sql_type`, as text: what the text protocol sends and string functions
    /// see. A TIMESTAMP is shown in UTC (convert it first for a session's zone); NULL is nothing; a DECIMAL that was
    /// computed with more digits than its type has is rounded. ZEROFILL is the column's business, not the type's.
    pub fn append_text(&self, sql_type: &SqlType, out: &mut Vec<u8>) {
        let fsp = sql_type.fraction_digits();
        let fixed = match sql_type {
            SqlType::Float { digits, .. } | SqlType::Double { digits, .. } => digits.map(|(_, scale)| scale),
            _ => None,
        };
        match *self {
            ValueRef::Null => {}
            ValueRef::Int(value) => number::format_i64(value, out),
            ValueRef::UInt(value) => number::format_u64(value, out),
            ValueRef::Decimal(value) => match sql_type {
                SqlType::Decimal { scale, .. } if value.scale() > *scale => {
                    value.round(i32::from(*scale)).unwrap_or(value).format(out);
                }
                _ => value.format(out),
            },
            ValueRef::Float(value) => match fixed {
                Some(scale) => number::format_fixed(f64::from(value), scale, out),
                None => number::format_f32(value, out),
            },
            ValueRef::Double(value) => match fixed {
                Some(scale) => number::format_fixed(value, scale, out),
                None => number::format_f64(value, out),
            },
            ValueRef::Bytes(value) => out.extend_from_slice(value),
            ValueRef::Date(value) => value.format(out),
            ValueRef::Time(value) => value.format(fsp, out),
            ValueRef::DateTime(value) => value.format(fsp, out),
            ValueRef::Timestamp(value) => value.to_datetime(&Zone::UTC).format(fsp, out),
            ValueRef::Year(0) => out.extend_from_slice(b"0000"),
            ValueRef::Year(value) => number::format_u64(value.into(), out),
            ValueRef::Bit { bits, width } => {
                let bytes = usize::from(width).div_ceil(8).min(8);
                out.extend_from_slice(crate::part::from(&bits.to_be_bytes(), 8 - bytes));
            }
            ValueRef::Enum { text, .. } => out.extend_from_slice(text),
            ValueRef::Set { bits, text } => text.append_to(bits, out),
        }
    }
}

impl<'a> From<&'a Value> for ValueRef<'a> {
    fn from(value: &'a Value) -> Self {
        value.as_ref()
    }
}

const _: () = assert!(size_of::<Value>() == 32 && size_of::<ValueRef<'_>>() <= 40);
