//! Sort keys as numbers: the keys of a row, or as many of them as have room, are packed into 128 bits whose
//! order is that of the rows. Comparing two rows then touches neither.
//!
//! ```text
//!   ORDER BY g, u DESC, name     g: 1 + 32 bits | u: 1 + 32 bits, turned over | name: its first weights
//!                                decided by what is packed                    | not decided where equal
//! ```
//!
//! Numbers and dates are packed with a bit that says that they are not NULL, which comes first. Where all
//! keys have room, equal numbers are equal rows; else the keys from the first one on that is not packed as a
//! whole are compared.

use palisade_catalog::{SqlType, ValueRef};
use palisade_expr::order::SortKey;
use palisade_expr::{SqlError, SqlResult};
use smallvec::SmallVec;

use crate::kept::grown;

/// How the keys of a sort are packed.
#[derive(Debug, Default)]
pub struct KeyPacking {
    fields: SmallVec<[Field; 4]>,
    /// Keys that are equal where what is packed is.
    pub decided: usize,
    /// These are all.
    pub is_exact: bool,
}

/// What rows are compared by first: [`KeyPacking::pack`] gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Packed {
    high: u64,
    low: u64,
}

impl Packed {
    fn new(bits: u128) -> Packed {
        Packed { high: (bits >> 64) as u64, low: bits as u64 }
    }

    /// As one number.
    pub fn bits(self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }
}

/// A row that is put in order, in 20 bytes: so many rows have one that what aligns 8 bytes is worth saving.
#[derive(Debug, Clone, Copy)]
#[repr(C, packed(4))]
pub struct Ranked {
    packed: Packed,
    row: u32,
}

const _: () = assert!(size_of::<Ranked>() == 20);

impl Ranked {
    /// Rows that can be told apart.
    pub const MOST: usize = u32::MAX as usize;

    /// The keys as far as they have room, and which row it is.
    pub fn new(packed: Packed, row: usize) -> SqlResult<Ranked> {
        let row =
            u32::try_from(row).map_err(|_| SqlError::internal("too many rows are held to be sorted"))?;
        Ok(Ranked { packed, row })
    }

    /// The keys, as far as they have room. Where these differ, they decide.
    #[inline]
    pub fn packed(self) -> Packed {
        self.packed
    }

    /// Which row it is.
    #[inline]
    pub fn row(self) -> usize {
        self.row as usize
    }

    /// The same row, of which other bits are packed.
    pub fn set_packed(&mut self, packed: Packed) {
        self.packed = packed;
    }

    /// Bytes of so many rows that are put in order: of a vector that doubles, with one more of them, and of
    /// the one into which they are merged.
    pub fn size_of(rows: usize) -> usize {
        grown::<Ranked>(rows) + rows * size_of::<Ranked>()
    }
}

/// A key in what is packed.
#[derive(Debug, Clone, Copy)]
struct Field {
    kind: Kind,
    /// Bits that it takes as a whole.
    bits: u32,
    /// Of these the last ones have no room.
    cut: u32,
    /// Bits behind it.
    shift: u32,
    descending: bool,
}

/// How a value becomes bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer {
        is_signed: bool,
    },
    Double,
    /// Of up to 18 digits: a number of units of its scale.
    Decimal {
        scale: u8,
    },
    /// The nearest double: numbers that differ may have one, but never in another order.
    LongDecimal,
    Date,
    DateTime,
    /// The first weights, NULL being as the least of them.
    Text,
}

/// Bits of what is packed.
const BITS: u32 = u128::BITS;
/// Digits of decimals that have room in 64 bits.
const MOST_DIGITS: u8 = 18;

impl Kind {
    /// Of values of a type, and the bits of one.
    fn of(ty: &SqlType) -> Option<(Kind, u32)> {
        Some(match ty {
            SqlType::Int { width, unsigned } => {
                (Kind::Integer { is_signed: !unsigned }, 8 * width.bytes() as u32 + 1)
            }
            SqlType::Double { .. } => (Kind::Double, u64::BITS + 1),
            SqlType::Decimal { precision, scale, .. } if *precision <= MOST_DIGITS => {
                (Kind::Decimal { scale: *scale }, u64::BITS + 1)
            }
            SqlType::Decimal { .. } => (Kind::LongDecimal, u64::BITS + 1),
            SqlType::Date => (Kind::Date, u32::BITS + 1),
            SqlType::DateTime { .. } => (Kind::DateTime, u64::BITS + 1),
            // JSON has an order of its own.
            SqlType::Json => return None,
            ty if ty.is_string() => (Kind::Text, BITS),
            _ => return None,
        })
    }

    /// Whether equal bits are equal values.
    fn is_exact(self) -> bool {
        !matches!(self, Kind::LongDecimal | Kind::Text)
    }
}

/// Doubles are in the order of these bits, -0 being 0.
fn double_bits(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

impl Field {
    /// The value's bits; `None` if it has none.
    fn encode(&self, value: ValueRef<'_>, ty: &SqlType) -> Option<u128> {
        let bits = match (self.kind, value) {
            (_, ValueRef::Null) => return Some(0),
            (Kind::Text, ValueRef::Bytes(text)) => return Some(ty.collation().get().order_prefix(text)),
            (Kind::Integer { is_signed }, ValueRef::Int(value)) => self.integer(value.into(), is_signed)?,
            (Kind::Integer { is_signed }, ValueRef::UInt(value)) => self.integer(value.into(), is_signed)?,
            (Kind::Double, ValueRef::Double(value)) if !value.is_nan() => double_bits(value).into(),
            (Kind::LongDecimal, ValueRef::Decimal(value)) => double_bits(value.to_f64()).into(),
            (Kind::Decimal { scale }, ValueRef::Decimal(value)) => {
                let ([low, 0, 0, 0], own, is_negative) = value.to_words() else { return None };
                let units = i128::from(low) * 10i128.checked_pow(u32::from(scale.checked_sub(own)?))?;
                let units = i64::try_from(if is_negative { -units } else { units }).ok()?;
                u128::from(units as u64 ^ 1 << 63)
            }
            (Kind::Date, ValueRef::Date(value)) => value.packed().into(),
            (Kind::DateTime, ValueRef::DateTime(value)) => value.packed().into(),
            _ => return None,
        };
        Some(bits | 1 << (self.bits - 1))
    }

    /// An integer's bits, of the width of its type.
    fn integer(&self, value: i128, is_signed: bool) -> Option<u128> {
        let width = self.bits - 1;
        let above = if is_signed { value + (1 << (width - 1)) } else { value };
        u128::try_from(above).ok().filter(|above| above >> width == 0)
    }

    /// The value's bits where they are in what is packed.
    fn place(&self, value: ValueRef<'_>, key: &SortKey) -> Option<u128> {
        let bits = self.encode(value, &key.expr.ty)?;
        let ordered = if self.descending { !bits & (u128::MAX >> (BITS - self.bits)) } else { bits };
        Some(ordered >> self.cut << self.shift)
    }
}

impl KeyPacking {
    /// Of rows with these keys.
    pub fn new<'k>(keys: impl Iterator<Item = &'k SortKey> + Clone) -> KeyPacking {
        let (mut packing, mut left) = (KeyPacking::default(), BITS);
        for key in keys.clone() {
            let Some((kind, bits)) = Kind::of(&key.expr.ty).filter(|_| left > 0) else { break };
            let taken = bits.min(left);
            left -= taken;
            packing.fields.push(Field {
                kind,
                bits,
                cut: bits - taken,
                shift: left,
                descending: key.descending,
            });
            if taken < bits || !kind.is_exact() {
                break;
            }
            packing.decided += 1;
        }
        packing.is_exact = packing.decided == keys.count();
        packing
    }

    /// The keys of a row, of which `value` gives that with a number; `None` if one is not as its type says.
    pub fn pack<'k, 'v, E>(
        &self,
        keys: impl Iterator<Item = &'k SortKey>,
        mut value: impl FnMut(usize) -> Result<ValueRef<'v>, E>,
    ) -> Result<Option<Packed>, E> {
        let mut packed = 0;
        for (number, (field, key)) in self.fields.iter().zip(keys).enumerate() {
            let Some(bits) = field.place(value(number)?, key) else { return Ok(None) };
            packed |= bits;
        }
        Ok(Some(Packed::new(packed)))
    }

    /// What of a row's keys the first `keys` are; `None` where what is packed does not decide on them.
    pub fn beginning(&self, packed: Packed, keys: usize) -> Option<u128> {
        if keys > self.decided {
            return None;
        }
        match keys.checked_sub(1) {
            Some(last) => Some(packed.bits() >> self.fields.get(last)?.shift),
            None => Some(0),
        }
    }
}

#[cfg(test)]
mod tests;
