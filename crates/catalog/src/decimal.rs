//! DECIMAL: exact numbers of up to 65 digits, 30 of them after the point.
//!
//! A number is a coefficient below 10^65 (216 bits), a scale and a sign, in 32 bytes without allocation. What
//! fits 128 bits, which is nearly everything, is computed there; the rest goes through 512-bit integers
//! (`wide`). Why not a library: docs/decisions/020-own-decimal.md.
//!
//! Rules that are MySQL's: rounding is half away from zero; a sum has the larger scale, a product the sum of
//! the scales (at most 30); more than 65 digits is an error, but digits after the point give way before that.
//!
//! [`divide`](Decimal::divide) gives *more* digits than the result's type shows, in steps of nine as MySQL
//! does internally, so that `1/3*3` is 1.0000: an expression's value is rounded to its static scale when it
//! leaves the expression, not before.

mod packed;
mod text;
mod wide;

use std::cmp::Ordering;

pub use text::ParseEnd;
use wide::{POW10_128, Wide, pow10_128};

/// Most digits of a DECIMAL.
pub const MAX_PRECISION: u8 = 65;
/// Most digits after the point.
pub const MAX_SCALE: u8 = 30;

/// An exact number: a coefficient of up to 65 digits, a sign, and a scale of up to 30.
///
/// Equality, ordering and hashing go by value: 1.0 equals 1.00. Display shows the scale: `1.00`. Zero is
/// never negative.
#[derive(Clone, Copy)]
pub struct Decimal {
    low: u64,
    middle: u64,
    high: u64,
    top: u32,
    scale: u8,
    negative: bool,
}

/// Why there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecimalError {
    /// More than 65 digits.
    #[error("DECIMAL value is out of range")]
    Overflow,
    /// Division by zero (NULL or error 1365, by sql_mode).
    #[error("division by 0")]
    DivisionByZero,
}

/// 10^n as a [`Wide`].
fn power_of_ten(n: u32) -> Wide {
    if let Some(power) = pow10_128(n) {
        return Wide::from_u128(power);
    }
    let mut wide = Wide::from_u128(1);
    wide.scale_up(n);
    wide
}

impl Decimal {
    /// 0.
    pub const ZERO: Decimal = Decimal { low: 0, middle: 0, high: 0, top: 0, scale: 0, negative: false };

    fn from_small(coefficient: u128, scale: u8, negative: bool) -> Decimal {
        Decimal {
            low: coefficient as u64,
            middle: (coefficient >> 64) as u64,
            high: 0,
            top: 0,
            scale,
            negative: negative && coefficient != 0,
        }
    }

    /// The coefficient, if it fits 128 bits.
    fn small(&self) -> Option<u128> {
        (self.high == 0 && self.top == 0).then(|| u128::from(self.middle) << 64 | u128::from(self.low))
    }

    /// The coefficient, if it fits 64 bits: that of nearly every column.
    #[inline]
    fn word(&self) -> Option<u64> {
        (self.middle | self.high | u64::from(self.top) == 0).then_some(self.low)
    }

    #[inline]
    fn from_word(coefficient: u64, scale: u8, negative: bool) -> Decimal {
        Decimal { low: coefficient, scale, negative: negative && coefficient != 0, ..Decimal::ZERO }
    }

    /// The same number without zeros at the end of its fraction: equal numbers become the same words.
    #[must_use]
    pub fn normalized(&self) -> Decimal {
        let mut number = *self;
        if number.is_zero() {
            return Decimal::ZERO;
        }
        while number.scale > 0 {
            match number.word() {
                Some(word) if word.is_multiple_of(10) => number.low = word / 10,
                Some(_) => break,
                None => {
                    let mut shorter = number.wide();
                    if shorter.divide_small(10) != 0 {
                        break;
                    }
                    let [low, middle, high, top, ..] = shorter.0;
                    (number.low, number.middle, number.high, number.top) = (low, middle, high, top as u32);
                }
            }
            number.scale -= 1;
        }
        number
    }

    fn wide(&self) -> Wide {
        Wide([self.low, self.middle, self.high, u64::from(self.top), 0, 0, 0, 0])
    }

    /// From a coefficient of any size: digits after the point give way (rounded) until scale and precision
    /// are in bounds.
    fn from_wide(mut coefficient: Wide, mut scale: u32, negative: bool) -> Result<Decimal, DecimalError> {
        let limit = power_of_ten(u32::from(MAX_PRECISION));
        if scale > u32::from(MAX_SCALE) {
            coefficient = round_wide(coefficient, scale - u32::from(MAX_SCALE));
            scale = u32::from(MAX_SCALE);
        }
        if coefficient >= limit {
            let mut shrunk = coefficient;
            let mut drop = 0;
            while shrunk >= limit {
                shrunk.divide_small(10);
                drop += 1;
            }
            loop {
                if drop > scale {
                    return Err(DecimalError::Overflow);
                }
                let rounded = round_wide(coefficient, drop);
                if rounded < limit {
                    coefficient = rounded;
                    scale -= drop;
                    break;
                }
                drop += 1;
            }
        }
        let [low, middle, high, top, ..] = coefficient.0;
        let negative = negative && !coefficient.is_zero();
        Ok(Decimal { low, middle, high, top: top as u32, scale: scale as u8, negative })
    }

    /// From a coefficient and a scale: `new(12345, 2)` is 123.45. The scale must not exceed 30.
    pub fn new(coefficient: i128, scale: u8) -> Decimal {
        assert!(scale <= MAX_SCALE, "a scale is at most 30");
        Decimal::from_small(coefficient.unsigned_abs(), scale, coefficient < 0)
    }

    /// Coefficient (its lowest 64 bits first), scale, and whether it is below 0.
    pub fn to_words(&self) -> ([u64; 4], u8, bool) {
        ([self.low, self.middle, self.high, u64::from(self.top)], self.scale, self.negative)
    }

    /// What [`to_words`](Self::to_words) gave; `None` if it cannot have given that.
    pub fn from_words(coefficient: [u64; 4], scale: u8, is_negative: bool) -> Option<Decimal> {
        let [low, middle, high, top] = coefficient;
        let number =
            Decimal { low, middle, high, top: u32::try_from(top).ok()?, scale, negative: is_negative };
        let is_small = high == 0 && top == 0;
        let is_one = scale <= MAX_SCALE
            && !(is_negative && number.is_zero())
            && (is_small || number.wide() < power_of_ten(u32::from(MAX_PRECISION)));
        is_one.then_some(number)
    }

    /// Digits after the point.
    pub fn scale(&self) -> u8 {
        self.scale
    }

    /// Significant digits of the coefficient (0 for 0).
    fn digits(&self) -> u32 {
        if let Some(small) = self.small() {
            return POW10_128.iter().position(|&power| small < power).unwrap_or(39) as u32;
        }
        let mut rest = self.wide();
        let mut digits = 0;
        let small = loop {
            match rest.to_u128() {
                Some(small) => break small,
                None => rest.divide_small(10),
            };
            digits += 1;
        };
        digits + POW10_128.iter().position(|&power| small < power).unwrap_or(39) as u32
    }

    /// Significant digits before the point (0 for |x| < 1).
    pub fn integer_digits(&self) -> u8 {
        self.digits().saturating_sub(u32::from(self.scale)) as u8
    }

    /// Whether it is below 0.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Whether it is 0.
    pub fn is_zero(&self) -> bool {
        self.low | self.middle | self.high | u64::from(self.top) == 0
    }

    /// The nearest double.
    pub fn to_f64(&self) -> f64 {
        const EXACT: u128 = 1 << 53;
        if let Some(small) = self.small()
            && small <= EXACT
            && self.scale <= 22
            && let Some(power) = pow10_128(self.scale.into())
        {
            // Both operands are exact, so that the one rounding of the division is the only one.
            let magnitude = small as f64 / power as f64;
            return if self.negative { -magnitude } else { magnitude };
        }
        // A decimal's text is a number.
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// From a double, by its shortest decimal form, as MySQL converts; `Overflow` beyond 65 digits (and for
    /// infinities and NaN).
    pub fn from_f64(value: f64) -> Result<Decimal, DecimalError> {
        if !value.is_finite() {
            return Err(DecimalError::Overflow);
        }
        match Decimal::parse(format!("{value:e}").as_bytes()) {
            (number, ParseEnd::Complete) => Ok(number),
            _ => Err(DecimalError::Overflow),
        }
    }

    /// Rounded half away from zero to an integer; clamped to u128's range.
    fn rounded_magnitude(&self) -> u128 {
        round_wide(self.wide(), u32::from(self.scale)).to_u128().unwrap_or(u128::MAX)
    }

    /// Rounded half away from zero to an i64; clamped to its range with `Err`.
    pub fn to_i64(&self) -> Result<i64, i64> {
        let magnitude = self.rounded_magnitude();
        if self.negative {
            if magnitude <= 1 << 63 { Ok((magnitude as i128).wrapping_neg() as i64) } else { Err(i64::MIN) }
        } else {
            i64::try_from(magnitude).map_err(|_| i64::MAX)
        }
    }

    /// Rounded half away from zero to a u64; clamped to its range with `Err`.
    pub fn to_u64(&self) -> Result<u64, u64> {
        let magnitude = self.rounded_magnitude();
        if self.negative && magnitude != 0 {
            return Err(0);
        }
        u64::try_from(magnitude).map_err(|_| u64::MAX)
    }

    /// Rounded half away from zero to `digits` after the point (negative: tens, hundreds...); a larger scale
    /// than now appends zeros (as far as 65 digits and scale 30 allow).
    pub fn round(&self, digits: i32) -> Result<Decimal, DecimalError> {
        self.rescale(digits, true)
    }

    /// As [`round`](Self::round), but toward zero.
    pub fn truncate(&self, digits: i32) -> Result<Decimal, DecimalError> {
        self.rescale(digits, false)
    }

    fn rescale(&self, digits: i32, half_up: bool) -> Result<Decimal, DecimalError> {
        let wanted = digits.clamp(-100, i32::from(MAX_SCALE));
        let scale = i32::from(self.scale);
        if wanted == scale {
            return Ok(*self);
        }
        if wanted > scale {
            let up = (wanted - scale) as u32;
            if let Some(scaled) = self.small().and_then(|small| small.checked_mul(pow10_128(up)?)) {
                return Ok(Decimal::from_small(scaled, wanted as u8, self.negative));
            }
            let room = u32::from(MAX_PRECISION).saturating_sub(self.digits()).min(up);
            let mut wide = self.wide();
            wide.scale_up(room);
            return Decimal::from_wide(wide, scale as u32 + room, self.negative);
        }
        let drop = (scale - wanted) as u32;
        if let Some(small) = self.small()
            && let Some(power) = pow10_128(drop)
            && wanted >= 0
        {
            let rest = small % power;
            let quotient = small / power + u128::from(half_up && rest >= power / 2);
            return Ok(Decimal::from_small(quotient, wanted as u8, self.negative));
        }
        let mut wide = self.wide();
        if half_up {
            wide = round_wide(wide, drop);
        } else {
            wide.scale_down(drop);
        }
        if wanted < 0 && !wide.is_zero() {
            wide.scale_up(-wanted as u32);
        }
        Decimal::from_wide(wide, wanted.max(0) as u32, self.negative)
    }

    /// Toward negative infinity, scale 0.
    pub fn floor(&self) -> Result<Decimal, DecimalError> {
        let cut = self.truncate(0)?;
        if self.negative && cut != *self { cut.subtract(&Decimal::from(1u64)) } else { Ok(cut) }
    }

    /// Toward positive infinity, scale 0.
    pub fn ceil(&self) -> Result<Decimal, DecimalError> {
        Ok(self.negate().floor()?.negate())
    }

    /// Sum; scale is the larger one.
    pub fn add(&self, other: &Decimal) -> Result<Decimal, DecimalError> {
        if self.scale == other.scale
            && let (Some(left), Some(right)) = (self.word(), other.word())
        {
            if self.negative != other.negative {
                let negative = if left >= right { self.negative } else { other.negative };
                return Ok(Decimal::from_word(left.abs_diff(right), self.scale, negative));
            }
            if let Some(sum) = left.checked_add(right) {
                return Ok(Decimal::from_word(sum, self.scale, self.negative));
            }
        }
        let scale = self.scale.max(other.scale);
        if let (Some(left), Some(right)) = (self.small_at(scale), other.small_at(scale)) {
            if self.negative == other.negative {
                if let Some(sum) = left.checked_add(right) {
                    return Ok(Decimal::from_small(sum, scale, self.negative));
                }
            } else if left >= right {
                return Ok(Decimal::from_small(left - right, scale, self.negative));
            } else {
                return Ok(Decimal::from_small(right - left, scale, other.negative));
            }
        }
        let (left, right) = (self.wide_at(scale), other.wide_at(scale));
        if self.negative == other.negative {
            Decimal::from_wide(left.add(&right), u32::from(scale), self.negative)
        } else if left >= right {
            Decimal::from_wide(left.subtract(&right), u32::from(scale), self.negative)
        } else {
            Decimal::from_wide(right.subtract(&left), u32::from(scale), other.negative)
        }
    }

    /// The coefficient at a scale that is not smaller, if it fits 128 bits.
    fn small_at(&self, scale: u8) -> Option<u128> {
        self.small()?.checked_mul(pow10_128(u32::from(scale - self.scale))?)
    }

    fn wide_at(&self, scale: u8) -> Wide {
        let mut wide = self.wide();
        wide.scale_up(u32::from(scale - self.scale));
        wide
    }

    /// Difference; scale is the larger one.
    pub fn subtract(&self, other: &Decimal) -> Result<Decimal, DecimalError> {
        self.add(&other.negate())
    }

    /// Product; scale is the sum, at most 30.
    pub fn multiply(&self, other: &Decimal) -> Result<Decimal, DecimalError> {
        let scale = self.scale + other.scale;
        let negative = self.negative != other.negative;
        if scale <= MAX_SCALE
            && let (Some(left), Some(right)) = (self.word(), other.word())
        {
            return Ok(Decimal::from_small(u128::from(left) * u128::from(right), scale, negative));
        }
        if scale <= MAX_SCALE
            && let (Some(left), Some(right)) = (self.small(), other.small())
            && let Some(product) = left.checked_mul(right)
        {
            return Ok(Decimal::from_small(product, scale, negative));
        }
        Decimal::from_wide(self.wide().multiply(&other.wide()), u32::from(scale), negative)
    }

    /// Quotient, truncated. `increment` is `div_precision_increment` (4 by default): the quotient's type has
    /// the dividend's scale plus that; its value has more digits, as MySQL's has (in groups of nine, at most
    /// 30 in all), to be rounded to the type's scale in the end.
    pub fn divide(&self, other: &Decimal, increment: u8) -> Result<Decimal, DecimalError> {
        if other.is_zero() {
            return Err(DecimalError::DivisionByZero);
        }
        let groups = |scale: u8| u32::from(scale).div_ceil(9) * 9;
        let slack = groups(self.scale) - u32::from(self.scale) + groups(other.scale) - u32::from(other.scale);
        let wanted = groups(self.scale) + groups(other.scale) + u32::from(increment).saturating_sub(slack);
        let scale = (wanted.div_ceil(9) * 9).min(u32::from(MAX_SCALE));
        let negative = self.negative != other.negative;
        // quotient = (self.c * 10^up) / (other.c * 10^down), at `scale`
        let shift = scale as i32 + i32::from(other.scale) - i32::from(self.scale);
        let (up, down) = (shift.max(0) as u32, (-shift).max(0) as u32);
        if let (Some(left), Some(right)) = (self.small(), other.small())
            && let Some(dividend) = pow10_128(up).and_then(|power| left.checked_mul(power))
            && let Some(divisor) = pow10_128(down).and_then(|power| right.checked_mul(power))
        {
            return Ok(Decimal::from_small(dividend / divisor, scale as u8, negative));
        }
        let (mut dividend, mut divisor) = (self.wide(), other.wide());
        dividend.scale_up(up);
        divisor.scale_up(down);
        Decimal::from_wide(dividend.divide(&divisor).0, scale, negative)
    }

    /// Remainder with the dividend's sign (MOD, %); scale is the larger one.
    pub fn remainder(&self, other: &Decimal) -> Result<Decimal, DecimalError> {
        if other.is_zero() {
            return Err(DecimalError::DivisionByZero);
        }
        let scale = self.scale.max(other.scale);
        if let (Some(left), Some(right)) = (self.small_at(scale), other.small_at(scale)) {
            return Ok(Decimal::from_small(left % right, scale, self.negative));
        }
        let rest = self.wide_at(scale).divide(&other.wide_at(scale)).1;
        Decimal::from_wide(rest, u32::from(scale), self.negative)
    }

    /// Integer quotient toward zero (DIV).
    pub fn integer_divide(&self, other: &Decimal) -> Result<Decimal, DecimalError> {
        if other.is_zero() {
            return Err(DecimalError::DivisionByZero);
        }
        let scale = self.scale.max(other.scale);
        let quotient = self.wide_at(scale).divide(&other.wide_at(scale)).0;
        Decimal::from_wide(quotient, 0, self.negative != other.negative)
    }

    /// The number with its sign changed.
    #[must_use]
    pub fn negate(&self) -> Decimal {
        Decimal { negative: !self.negative && !self.is_zero(), ..*self }
    }

    /// The number without its sign.
    #[must_use]
    pub fn abs(&self) -> Decimal {
        Decimal { negative: false, ..*self }
    }

    /// Whether it fits DECIMAL(precision, scale) after rounding to that scale.
    pub fn fits(&self, precision: u8, scale: u8) -> bool {
        self.round(i32::from(scale))
            .is_ok_and(|rounded| rounded.integer_digits() <= precision.saturating_sub(scale))
    }

    /// The largest DECIMAL(precision, scale): `largest(4, 2)` is 99.99.
    #[expect(clippy::expect_used, reason = "both are cut to what a DECIMAL may have")]
    pub fn largest(precision: u8, scale: u8) -> Decimal {
        let nines = power_of_ten(u32::from(precision.min(MAX_PRECISION))).subtract(&Wide::from_u128(1));
        Decimal::from_wide(nines, u32::from(scale.min(MAX_SCALE)), false).expect("65 nines fit")
    }
}

/// Divides by 10^n, rounding half up.
fn round_wide(mut coefficient: Wide, n: u32) -> Wide {
    let (digit, _) = coefficient.scale_down(n);
    if digit >= 5 { coefficient.add(&Wide::from_u128(1)) } else { coefficient }
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Self {
        Decimal { low: value.unsigned_abs(), negative: value < 0, ..Decimal::ZERO }
    }
}

impl From<u64> for Decimal {
    fn from(value: u64) -> Self {
        Decimal { low: value, ..Decimal::ZERO }
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        if self.negative != other.negative {
            return other.negative.cmp(&self.negative);
        }
        if self.scale == other.scale
            && let (Some(left), Some(right)) = (self.word(), other.word())
        {
            return if self.negative { right.cmp(&left) } else { left.cmp(&right) };
        }
        let scale = self.scale.max(other.scale);
        let magnitudes = match (self.small_at(scale), other.small_at(scale)) {
            (Some(left), Some(right)) => left.cmp(&right),
            _ => self.wide_at(scale).cmp(&other.wide_at(scale)),
        };
        if self.negative { magnitudes.reverse() } else { magnitudes }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Decimal) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl std::hash::Hash for Decimal {
    /// Without trailing zeros, so that equal numbers hash equal.
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.normalized().to_words().hash(state);
    }
}

#[cfg(test)]
mod tests;
