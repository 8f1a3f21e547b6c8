//! 512-bit unsigned integers: room for every intermediate result of [`Decimal`](super::Decimal) arithmetic
//! (a product of two 65-digit numbers has 130 digits; 2^512 has 155). Only the slow path comes here; what fits
//! 128 bits is computed there.
//!
//! No operation fails: what does not fit is [`Wide::MAX`], which is beyond every DECIMAL and is refused as
//! such where a coefficient becomes a number again.

use std::cmp::Ordering;

/// 512 bits, least significant limb first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Wide(pub(super) [u64; 8]);

/// 10^n for n in 0..=19.
#[expect(clippy::indexing_slicing, reason = "no caller has an n above 19")]
pub(super) fn pow10(n: usize) -> u64 {
    POW10[n]
}

/// 10^n for n in 0..=38; `None` beyond, where u128 ends.
pub(super) fn pow10_128(n: u32) -> Option<u128> {
    POW10_128.get(n as usize).copied()
}

#[expect(clippy::indexing_slicing, reason = "run by the compiler, for which a panic is an error")]
const POW10: [u64; 20] = {
    let mut table = [1u64; 20];
    let mut n = 1;
    while n < 20 {
        table[n] = table[n - 1] * 10;
        n += 1;
    }
    table
};

/// 10^n for n in 0..=38.
#[expect(clippy::indexing_slicing, reason = "run by the compiler, for which a panic is an error")]
pub(super) const POW10_128: [u128; 39] = {
    let mut table = [1u128; 39];
    let mut n = 1;
    while n < 39 {
        table[n] = table[n - 1] * 10;
        n += 1;
    }
    table
};

impl Wide {
    pub(super) const ZERO: Wide = Wide([0; 8]);
    /// What stands for everything beyond 512 bits.
    pub(super) const MAX: Wide = Wide([u64::MAX; 8]);

    pub(super) fn from_u128(value: u128) -> Wide {
        Wide([value as u64, (value >> 64) as u64, 0, 0, 0, 0, 0, 0])
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.iter().all(|&limb| limb == 0)
    }

    /// `self * factor + addend`.
    pub(super) fn mul_add_small(&mut self, factor: u64, addend: u64) {
        let mut carry = addend;
        for limb in &mut self.0 {
            let wide = u128::from(*limb) * u128::from(factor) + u128::from(carry);
            *limb = wide as u64;
            carry = (wide >> 64) as u64;
        }
        if carry != 0 {
            *self = Wide::MAX;
        }
    }

    /// Divides in place; gives the remainder.
    pub(super) fn divide_small(&mut self, divisor: u64) -> u64 {
        let mut rest = 0u64;
        for limb in self.0.iter_mut().rev() {
            let wide = u128::from(rest) << 64 | u128::from(*limb);
            *limb = (wide / u128::from(divisor)) as u64;
            rest = (wide % u128::from(divisor)) as u64;
        }
        rest
    }

    /// Multiplies by 10^n.
    pub(super) fn scale_up(&mut self, mut n: u32) {
        while n > 0 {
            let step = n.min(19);
            self.mul_add_small(pow10(step as usize), 0);
            n -= step;
        }
    }

    /// Divides by 10^n, toward zero; gives the first digit dropped and whether anything else was.
    pub(super) fn scale_down(&mut self, mut n: u32) -> (u8, bool) {
        if n == 0 {
            return (0, false);
        }
        let mut inexact = false;
        n -= 1;
        while n > 0 {
            let step = n.min(19);
            inexact |= self.divide_small(pow10(step as usize)) != 0;
            n -= step;
        }
        (self.divide_small(10) as u8, inexact)
    }

    pub(super) fn add(&self, other: &Wide) -> Wide {
        let mut out = *self;
        let mut carry = false;
        for (limb, &addend) in out.0.iter_mut().zip(&other.0) {
            let (sum, first) = limb.overflowing_add(addend);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            *limb = sum;
            carry = first | second;
        }
        if carry { Wide::MAX } else { out }
    }

    /// `self - other`; 0 if that is less.
    pub(super) fn subtract(&self, other: &Wide) -> Wide {
        let mut out = *self;
        let mut borrow = false;
        for (limb, &subtrahend) in out.0.iter_mut().zip(&other.0) {
            let (difference, first) = limb.overflowing_sub(subtrahend);
            let (difference, second) = difference.overflowing_sub(u64::from(borrow));
            *limb = difference;
            borrow = first | second;
        }
        if borrow { Wide::ZERO } else { out }
    }

    /// The low 128 bits, if there are no others.
    pub(super) fn to_u128(self) -> Option<u128> {
        match self.0 {
            [low, high, 0, 0, 0, 0, 0, 0] => Some(u128::from(high) << 64 | u128::from(low)),
            _ => None,
        }
    }

    /// Product.
    #[expect(clippy::indexing_slicing, reason = "a limb beyond the eighth ends the sum before it is reached")]
    pub(super) fn multiply(&self, other: &Wide) -> Wide {
        let mut out = [0u64; 8];
        for (i, &left) in self.0.iter().enumerate().filter(|(_, limb)| **limb != 0) {
            let mut carry = 0u64;
            for (j, &right) in other.0.iter().enumerate() {
                if i + j >= 8 {
                    if right != 0 || carry != 0 {
                        return Wide::MAX;
                    }
                    break;
                }
                let wide = u128::from(left) * u128::from(right) + u128::from(out[i + j]) + u128::from(carry);
                out[i + j] = wide as u64;
                carry = (wide >> 64) as u64;
            }
        }
        Wide(out)
    }

    fn used(&self) -> usize {
        self.0.iter().rposition(|&limb| limb != 0).map_or(0, |top| top + 1)
    }

    /// Quotient and remainder (Knuth, volume 2, algorithm D). The quotient by 0 is beyond every number.
    #[expect(
        clippy::indexing_slicing,
        reason = "the divisor has 2 to 8 limbs, n of them; j is at most 8 - n, i below n"
    )]
    pub(super) fn divide(&self, divisor: &Wide) -> (Wide, Wide) {
        let n = divisor.used();
        if n == 0 {
            return (Wide::MAX, Wide::ZERO);
        }
        if n == 1 {
            let mut quotient = *self;
            let rest = quotient.divide_small(divisor.0[0]);
            return (quotient, Wide::from_u128(u128::from(rest)));
        }
        let shift = divisor.0[n - 1].leading_zeros();
        let v = shift_left(&divisor.0, shift);
        let u = shift_left(&self.0, shift);
        let mut u: [u64; 9] = u;
        let mut quotient = [0u64; 8];
        for j in (0..=8 - n).rev() {
            let top = u128::from(u[j + n]) << 64 | u128::from(u[j + n - 1]);
            let mut guess = top / u128::from(v[n - 1]);
            let mut rest = top % u128::from(v[n - 1]);
            while guess >> 64 != 0 || guess * u128::from(v[n - 2]) > (rest << 64 | u128::from(u[j + n - 2])) {
                guess -= 1;
                rest += u128::from(v[n - 1]);
                if rest >> 64 != 0 {
                    break;
                }
            }
            let mut borrow = 0u128;
            let mut carry = 0u128;
            for i in 0..n {
                let product = guess * u128::from(v[i]) + carry;
                carry = product >> 64;
                let difference =
                    u128::from(u[i + j]).wrapping_sub(u128::from(product as u64)).wrapping_sub(borrow);
                u[i + j] = difference as u64;
                borrow = difference >> 127;
            }
            let difference = u128::from(u[j + n]).wrapping_sub(carry).wrapping_sub(borrow);
            u[j + n] = difference as u64;
            if difference >> 127 != 0 {
                guess -= 1;
                let mut carry = 0u128;
                for i in 0..n {
                    let sum = u128::from(u[i + j]) + u128::from(v[i]) + carry;
                    u[i + j] = sum as u64;
                    carry = sum >> 64;
                }
                u[j + n] = u[j + n].wrapping_add(carry as u64);
            }
            quotient[j] = guess as u64;
        }
        let mut rest = [0u64; 8];
        for i in 0..n {
            rest[i] = if shift == 0 { u[i] } else { u[i] >> shift | u[i + 1] << (64 - shift) };
        }
        (Wide(quotient), Wide(rest))
    }
}

/// `limbs << shift` (shift < 64), one limb wider.
#[expect(clippy::indexing_slicing, reason = "eight limbs become nine")]
fn shift_left(limbs: &[u64; 8], shift: u32) -> [u64; 9] {
    let mut out = [0u64; 9];
    for (i, &limb) in limbs.iter().enumerate() {
        out[i] |= limb << shift;
        if shift > 0 {
            out[i + 1] = limb >> (64 - shift);
        }
    }
    out
}

impl Ord for Wide {
    fn cmp(&self, other: &Wide) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

impl PartialOrd for Wide {
    fn partial_cmp(&self, other: &Wide) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_base::prng::{Prng, test_seed};

    fn random(prng: &mut Prng, limbs: usize) -> Wide {
        let mut wide = Wide::ZERO;
        for limb in &mut wide.0[..limbs] {
            *limb = match prng.below(4) {
                0 => 0,
                1 => u64::MAX,
                2 => 1 << 63,
                _ => prng.next_u64(),
            };
        }
        wide
    }

    #[test]
    fn quotient_times_divisor_plus_remainder_is_the_dividend() {
        let mut prng = Prng::new(test_seed(1));
        for _ in 0..20_000 {
            let limbs = 1 + prng.below(8) as usize;
            let divisor = random(&mut prng, limbs);
            if divisor.is_zero() {
                continue;
            }
            let dividend_limbs = 1 + prng.below(8) as usize;
            let dividend = random(&mut prng, dividend_limbs);
            let (quotient, rest) = dividend.divide(&divisor);
            assert!(rest < divisor);
            assert_eq!(quotient.multiply(&divisor).add(&rest), dividend);
        }
    }

    #[test]
    fn what_does_not_fit_is_beyond_every_number() {
        let (one, mut large) = (Wide::from_u128(1), Wide::MAX);
        assert_eq!(Wide::MAX.add(&one), Wide::MAX);
        assert_eq!(Wide::MAX.multiply(&Wide::MAX), Wide::MAX);
        assert_eq!(one.subtract(&Wide::MAX), Wide::ZERO);
        assert_eq!(one.divide(&Wide::ZERO), (Wide::MAX, Wide::ZERO));
        assert_eq!(Wide::MAX.divide(&Wide::MAX), (one, Wide::ZERO));
        large.scale_up(100);
        assert_eq!(large, Wide::MAX);
    }
}
