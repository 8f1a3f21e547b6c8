//! The hash of PARTITION BY KEY, bit for bit MySQL's.
//!
//! Each column adds bytes of its value in the form in which MySQL keeps it in a record: numbers with the low
//! byte first, DECIMAL in groups of nine digits, moments with the high byte first. Numbers and dates are
//! taken for latin1 text, so that "a" and "A" are the same byte and trailing spaces are none; moments, ENUM
//! and SET are taken for bytes. Text adds [what its collation says](crate::collation).

use crate::collation::CollationId;
use crate::types::SqlType;
use crate::value::ValueRef;

/// Which of MySQL's two ways to hash is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeyAlgorithm {
    /// That of MySQL 5.1: numbers are bytes.
    First,
    /// That of later versions.
    #[default]
    Second,
}

/// The state of a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartitionHash {
    first: u64,
    second: u64,
    algorithm: KeyAlgorithm,
}

impl PartitionHash {
    /// Before the first column.
    pub fn new(algorithm: KeyAlgorithm) -> PartitionHash {
        PartitionHash { first: 1, second: 4, algorithm }
    }

    /// The number that chooses the partition.
    pub fn finish(self) -> u32 {
        self.first as u32
    }

    #[inline]
    pub(crate) fn byte(&mut self, byte: u8) {
        let factor = (self.first & 63).wrapping_add(self.second);
        self.first ^= factor.wrapping_mul(u64::from(byte)).wrapping_add(self.first << 8);
        self.second = self.second.wrapping_add(3);
    }

    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    pub(crate) fn set_first(&mut self, first: u64) {
        self.first = first;
    }

    fn bytes(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.byte(*byte));
    }

    /// Bytes that are taken for latin1 text, but by the first algorithm.
    fn number(&mut self, bytes: &[u8]) {
        match self.algorithm {
            KeyAlgorithm::First => self.bytes(bytes),
            KeyAlgorithm::Second => {
                CollationId::LATIN1_SWEDISH_CI.get().add_to_partition_hash(bytes, self);
            }
        }
    }

    /// Adds the value of a column of this type.
    pub fn add(&mut self, ty: &SqlType, value: ValueRef<'_>) {
        match (value, ty) {
            (ValueRef::Null, _) => self.first ^= self.first << 1 | 1,
            (ValueRef::Int(value), SqlType::Int { width, .. }) => {
                self.number(value.to_le_bytes().get(..width.bytes()).unwrap_or_default());
            }
            (ValueRef::UInt(value), SqlType::Int { width, .. }) => {
                self.number(value.to_le_bytes().get(..width.bytes()).unwrap_or_default());
            }
            (ValueRef::Float(value), _) => self.number(&value.to_le_bytes()),
            (ValueRef::Double(value), _) => self.number(&value.to_le_bytes()),
            (ValueRef::Year(year), _) => self.number(&[year.saturating_sub(1900) as u8]),
            (ValueRef::Date(date), _) => {
                let packed =
                    u32::from(date.year()) << 9 | u32::from(date.month()) << 5 | u32::from(date.day());
                self.number(packed.to_le_bytes().get(..3).unwrap_or_default());
            }
            (ValueRef::Decimal(decimal), SqlType::Decimal { precision, scale, .. }) => {
                let mut text = Vec::new();
                decimal.format(&mut text);
                self.number(&groups_of_digits(&text, *precision, *scale));
            }
            (ValueRef::Bit { bits, .. }, _) => self.bytes(&bits.to_be_bytes()),
            (ValueRef::Enum { index, .. }, SqlType::Enum { members, .. }) => {
                let width = if members.len() < 256 { 1 } else { 2 };
                self.bytes(index.to_le_bytes().get(..width).unwrap_or_default());
            }
            (ValueRef::Set { bits, .. }, SqlType::Set { members, .. }) => {
                let width = match members.len().div_ceil(8) {
                    0..=4 => members.len().div_ceil(8).max(1),
                    _ => 8,
                };
                self.bytes(bits.to_le_bytes().get(..width).unwrap_or_default());
            }
            (ValueRef::Bytes(text), ty) => self.text(ty, text),
            (value, ty) => self.moment(value, ty.fraction_digits()),
        }
    }

    fn text(&mut self, ty: &SqlType, text: &[u8]) {
        let collation = ty.collation().get();
        match ty {
            // A record keeps CHAR with spaces up to the most bytes that it may have.
            SqlType::Char { length, .. } if !collation.pad_space => {
                let most = (*length as usize).saturating_mul(collation.charset.max_bytes() as usize);
                let mut padded = Vec::with_capacity(most);
                padded.extend_from_slice(text);
                padded.resize(most.max(text.len()), b' ');
                collation.add_to_partition_hash(&padded, self);
            }
            SqlType::Binary { length } => {
                self.bytes(text);
                (text.len()..*length as usize).for_each(|_| self.byte(0));
            }
            _ => collation.add_to_partition_hash(text, self),
        }
    }

    /// A TIME, DATETIME or TIMESTAMP with so many digits of the second's fraction.
    fn moment(&mut self, value: ValueRef<'_>, digits: u8) {
        let width = usize::from(digits.min(6).div_ceil(2));
        let unit = [1_000_000, 10_000, 100, 1].get(width).copied().unwrap_or(1);
        let fraction_bits = 8 * width as u32;
        let (whole, micros, bytes, zero) = match value {
            ValueRef::Time(time) => {
                let (negative, hours, minutes, seconds, micros) = time.parts();
                let whole = i64::from(hours) << 12 | i64::from(minutes) << 6 | i64::from(seconds);
                let packed = (whole << fraction_bits) | (i64::from(micros) / unit);
                let packed = if negative { -packed } else { packed };
                return self.high_first(packed + (0x80_0000 << fraction_bits), 3 + width);
            }
            ValueRef::DateTime(moment) => {
                let date = moment.date();
                let days =
                    (i64::from(date.year()) * 13 + i64::from(date.month())) << 5 | i64::from(date.day());
                let time = i64::from(moment.hour()) << 12
                    | i64::from(moment.minute()) << 6
                    | i64::from(moment.second());
                (days << 17 | time, i64::from(moment.micros()), 5, 0x80_0000_0000)
            }
            ValueRef::Timestamp(at) => (at.0.div_euclid(1_000_000), at.0.rem_euclid(1_000_000), 4, 0),
            _ => return,
        };
        self.high_first(whole + zero, bytes);
        self.high_first(micros / unit, width);
    }

    /// The `width` low bytes of a number, the highest first.
    fn high_first(&mut self, number: i64, width: usize) {
        let bytes = number.to_be_bytes();
        self.bytes(bytes.get(bytes.len().saturating_sub(width)..).unwrap_or_default());
    }
}

/// DECIMAL(precision, scale) as MySQL keeps it: groups of nine digits in four bytes each, and fewer digits in
/// fewer.
fn groups_of_digits(text: &[u8], precision: u8, scale: u8) -> Vec<u8> {
    const BYTES: [usize; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let point = text.iter().position(|byte| *byte == b'.').unwrap_or(text.len());
    let (whole, fraction) = text.split_at(point);
    let whole_digits = usize::from(precision.saturating_sub(scale));
    let mut digits = vec![b'0'; whole_digits.saturating_sub(whole.len())];
    digits.extend_from_slice(whole.get(whole.len().saturating_sub(whole_digits)..).unwrap_or_default());
    let fraction = fraction.iter().skip(1).copied().chain(std::iter::repeat(b'0'));
    digits.extend(fraction.take(usize::from(scale)));
    let mut out = Vec::with_capacity(32);
    let mut group = |digits: &[u8]| {
        let number = digits.iter().fold(0u32, |number, digit| number * 10 + u32::from(digit - b'0'));
        let width = BYTES.get(digits.len()).copied().unwrap_or(4);
        out.extend_from_slice(number.to_be_bytes().get(4 - width..).unwrap_or_default());
    };
    let (whole, fraction) = digits.split_at(whole_digits);
    let (first, groups) = whole.split_at(whole_digits % 9);
    group(first);
    groups.chunks(9).for_each(&mut group);
    fraction.chunks(9).for_each(&mut group);
    if negative {
        out.iter_mut().for_each(|byte| *byte = !*byte);
    }
    if let Some(first) = out.first_mut() {
        *first ^= 0x80;
    }
    out
}

#[cfg(test)]
mod tests;
