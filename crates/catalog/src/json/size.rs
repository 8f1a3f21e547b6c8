//! How many bytes a document takes in MySQL's binary form, which JSON_STORAGE_SIZE tells.
//!
//! ```text
//!  document   type (1), value
//!  array      count, size, an entry for each element: type (1) and the value or where it is
//!  object     the same, and before that for each member where its name is and how long (2)
//!  string     its length in groups of 7 bits, the text
//!  decimal    a type (1), the length of the rest, precision and scale, digits in groups of 9
//! ```
//!
//! Counts, sizes and places have 2 bytes, or 4 in an array or object that would be too large for these. An
//! entry has room for a literal and a number of 16 bits, of 32 in a large one.

use super::Json;

/// The largest array or object whose places have 2 bytes.
const SMALL: usize = 0xffff;

impl Json {
    /// Bytes of the whole document in that form. `count` is told how many units of work are to come; its
    /// error ends the count.
    pub fn binary_size<E>(&self, count: &mut impl FnMut(usize) -> Result<(), E>) -> Result<usize, E> {
        Ok(1 + self.value_size(count)?)
    }

    /// Without the byte of its type.
    fn value_size<E>(&self, count: &mut impl FnMut(usize) -> Result<(), E>) -> Result<usize, E> {
        Ok(match self {
            Json::Null | Json::Bool(_) => 1,
            Json::Int(number) => integer_size(*number),
            Json::UInt(_) | Json::Double(_) => 8,
            Json::String(text) => length_size(text.len()) + text.len(),
            Json::Decimal(number) => {
                let (whole, scale) =
                    (usize::from(number.integer_digits().max(1)), usize::from(number.scale()));
                let digits = digits_size(whole) + digits_size(scale);
                1 + length_size(2 + digits) + 2 + digits
            }
            Json::Array(items) => container_size(items.len(), 0, 0, items.iter(), count)?,
            Json::Object(members) => {
                let names = members.keys().map(|name| name.0.len()).sum();
                container_size(members.len(), members.len(), names, members.values(), count)?
            }
        })
    }

    /// Whether the entry of a container has room for it.
    fn is_inlined(&self, is_large: bool) -> bool {
        match self {
            Json::Null | Json::Bool(_) => true,
            Json::Int(number) => integer_size(*number) <= if is_large { 4 } else { 2 },
            _ => false,
        }
    }
}

/// What a value that is visited counts as, in units of a nanosecond.
const UNITS_A_VALUE: usize = 16;

/// Of `entries` values, with so many names of so many bytes together.
fn container_size<'a, E>(
    entries: usize,
    names: usize,
    name_bytes: usize,
    values: impl Iterator<Item = &'a Json>,
    count: &mut impl FnMut(usize) -> Result<(), E>,
) -> Result<usize, E> {
    count(entries.saturating_mul(UNITS_A_VALUE))?;
    let (mut behind_small, mut behind_large) = (0, 0);
    for value in values {
        let size = value.value_size(count)?;
        behind_small += if value.is_inlined(false) { 0 } else { size };
        behind_large += if value.is_inlined(true) { 0 } else { size };
    }
    let head = |place: usize| 2 * place + names * (place + 2) + entries * (1 + place) + name_bytes;
    let small = head(2) + behind_small;
    Ok(if small <= SMALL { small } else { head(4) + behind_large })
}

fn integer_size(number: i64) -> usize {
    match (i16::try_from(number), i32::try_from(number)) {
        (Ok(_), _) => 2,
        (_, Ok(_)) => 4,
        _ => 8,
    }
}

/// Bytes of a length in groups of 7 bits.
fn length_size(length: usize) -> usize {
    (usize::BITS - length.leading_zeros()).div_ceil(7).max(1) as usize
}

/// Bytes of decimal digits: 4 for each group of 9, and what the rest takes.
fn digits_size(digits: usize) -> usize {
    const OF_REST: [usize; 9] = [0, 1, 1, 2, 2, 3, 3, 4, 4];
    digits / 9 * 4 + OF_REST.get(digits % 9).copied().unwrap_or(4)
}
