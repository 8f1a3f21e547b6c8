//! The stored form: DECIMAL(p,s) is its coefficient at scale s as a big-endian integer of the fewest bytes that
//! hold ±(10^p - 1), with the sign bit flipped, so that memcmp orders it.

use super::wide::{Wide, pow10_128};
use super::{Decimal, MAX_PRECISION, MAX_SCALE};

/// Bytes for each precision: the smallest n with 10^p <= 2^(8n-1).
#[expect(clippy::indexing_slicing, reason = "run by the compiler, for which a panic is an error")]
const LENGTHS: [u8; MAX_PRECISION as usize + 1] = {
    let mut lengths = [1u8; MAX_PRECISION as usize + 1];
    // 10^p as four limbs.
    let mut power = [1u64, 0, 0, 0];
    let mut p = 0;
    while p <= MAX_PRECISION as usize {
        let mut bits = 0;
        let mut limb = 0;
        while limb < 4 {
            if power[limb] != 0 {
                bits = 64 * limb as u32 + 64 - power[limb].leading_zeros();
            }
            limb += 1;
        }
        // 10^p - 1 has no more bits than 10^p, and one bit is the sign's.
        lengths[p] = (bits / 8 + 1) as u8;
        let mut carry = 0u128;
        limb = 0;
        while limb < 4 {
            let wide = power[limb] as u128 * 10 + carry;
            power[limb] = wide as u64;
            carry = wide >> 64;
            limb += 1;
        }
        p += 1;
    }
    lengths
};

impl Decimal {
    /// Bytes of the packed form of DECIMAL(precision, s).
    #[expect(
        clippy::indexing_slicing,
        reason = "types of more than 65 digits are refused where they are made"
    )]
    pub const fn packed_len(precision: u8) -> usize {
        LENGTHS[precision as usize] as usize
    }

    /// Appends the packed, memcomparable form of DECIMAL(precision, scale). The value must [fit](Self::fits) and is
    /// rounded to the scale.
    #[expect(
        clippy::expect_used,
        clippy::indexing_slicing,
        reason = "the callers ask `fits`; no form has more than 32 bytes"
    )]
    pub fn pack(&self, precision: u8, scale: u8, out: &mut Vec<u8>) {
        let rounded = self.round(i32::from(scale)).expect("the value fits the column");
        assert!(
            rounded.scale == scale || rounded.is_zero(),
            "a value that fits DECIMAL(p,s) can be shown with s digits after the point"
        );
        let length = Decimal::packed_len(precision);
        let mut limbs = [rounded.low, rounded.middle, rounded.high, u64::from(rounded.top)];
        if rounded.negative {
            let mut carry = true;
            for limb in &mut limbs {
                (*limb, carry) = (!*limb).overflowing_add(u64::from(carry));
            }
        }
        let mut bytes = [0u8; 32];
        for (chunk, limb) in bytes.chunks_exact_mut(8).zip(limbs.iter().rev()) {
            chunk.copy_from_slice(&limb.to_be_bytes());
        }
        let start = 32 - length;
        bytes[start] ^= 0x80;
        out.extend_from_slice(&bytes[start..]);
    }

    /// Reads the packed form; `None` if the bytes are none.
    pub fn unpack(bytes: &[u8], precision: u8, scale: u8) -> Option<Decimal> {
        if precision > MAX_PRECISION || bytes.len() != Decimal::packed_len(precision) {
            return None;
        }
        let negative = bytes.first()? & 0x80 == 0;
        if bytes.len() <= 8 && scale <= MAX_SCALE {
            // A number of up to 18 digits: its sign bit is flipped, and its sign is extended by shifting.
            let shift = 64 - 8 * bytes.len() as u32;
            let raw = match *bytes {
                [a, b, c, d, e] => u64::from(a) << 32 | u64::from(u32::from_be_bytes([b, c, d, e])),
                [a, b, c, d, e, f, g] => {
                    u64::from(u32::from_be_bytes([0, a, b, c])) << 32
                        | u64::from(u32::from_be_bytes([d, e, f, g]))
                }
                _ => bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)),
            };
            let number = ((raw << shift) ^ 1 << 63) as i64 >> shift;
            let magnitude = number.unsigned_abs();
            let fits = pow10_128(precision.into()).is_some_and(|limit| u128::from(magnitude) < limit);
            return fits.then(|| Decimal::from_word(magnitude, scale, number < 0));
        }
        let mut wide = [if negative { 0xff } else { 0 }; 32];
        let stored = wide.get_mut(32usize.checked_sub(bytes.len())?..)?;
        stored.copy_from_slice(bytes);
        *stored.first_mut()? ^= 0x80;
        let mut limbs = [0u64; 8];
        for (limb, chunk) in limbs.iter_mut().zip(wide.as_chunks().0.iter().rev()) {
            *limb = u64::from_be_bytes(*chunk);
        }
        if negative {
            let mut carry = true;
            for limb in limbs.iter_mut().take(4) {
                (*limb, carry) = (!*limb).overflowing_add(u64::from(carry));
            }
        }
        let number = Decimal::from_wide(Wide(limbs), u32::from(scale), negative).ok()?;
        (number.scale == scale && number.digits() <= u32::from(precision)).then_some(number)
    }
}
