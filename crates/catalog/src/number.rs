//! Numbers as text: how MySQL reads a number from a string, and prints doubles.
//!
//! A string in a numeric context is the longest number at its start. What follows is ignored with a warning; no
//! number at all is 0 with a warning.

use crate::part::{first, from};

/// A number at the start of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NumberPrefix<T> {
    /// The number; 0 if there is none.
    pub value: T,
    /// Bytes used, leading white space included; 0 if there is no number.
    pub used: usize,
    /// Whether nothing but white space follows and there was a number.
    pub complete: bool,
    /// Whether the number was out of the type's range (and is clamped).
    pub overflow: bool,
}

impl<T: Default> NumberPrefix<T> {
    fn none() -> Self {
        NumberPrefix { value: T::default(), used: 0, complete: false, overflow: false }
    }
}

fn only_white_space(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_whitespace)
}

fn count_digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Leading white space and sign: bytes used, whether negative.
fn sign(text: &[u8]) -> (usize, bool) {
    let start = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    match text.get(start) {
        Some(b'-') => (start + 1, true),
        Some(b'+') => (start + 1, false),
        _ => (start, false),
    }
}

/// Reads a double from the start of `text`. Beyond the range it is the largest double.
pub fn parse_f64(text: &[u8]) -> NumberPrefix<f64> {
    let (start, negative) = sign(text);
    let integer = count_digits(from(text, start));
    let mut end = start + integer;
    if text.get(end) == Some(&b'.') {
        let fraction = count_digits(from(text, end + 1));
        if integer + fraction == 0 {
            return NumberPrefix::none();
        }
        end += 1 + fraction;
    } else if integer == 0 {
        return NumberPrefix::none();
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let exponent = count_digits(from(text, end + 1 + signed));
        if exponent > 0 {
            end += 1 + signed + exponent;
        }
    }
    let number = text.get(start..end).and_then(|number| std::str::from_utf8(number).ok());
    let number = number.and_then(|number| number.parse::<f64>().ok());
    let magnitude = number.unwrap_or(0.0);
    let clamped = magnitude.min(f64::MAX);
    NumberPrefix {
        value: if negative { -clamped } else { clamped },
        used: end,
        complete: only_white_space(from(text, end)),
        overflow: magnitude.is_infinite(),
    }
}

/// Sign, magnitude (`None` beyond u64) and end of the digits at the start of `text`.
fn parse_digits(text: &[u8]) -> Option<(bool, Option<u64>, usize)> {
    let (start, negative) = sign(text);
    let digits = from(text, start);
    let digits = first(digits, count_digits(digits));
    if digits.is_empty() {
        return None;
    }
    let magnitude = digits
        .iter()
        .try_fold(0u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
    Some((negative, magnitude, start + digits.len()))
}

/// Reads a signed integer from the start of `text`, digits only (no fraction, no exponent).
pub fn parse_i64(text: &[u8]) -> NumberPrefix<i64> {
    let Some((negative, magnitude, used)) = parse_digits(text) else { return NumberPrefix::none() };
    let complete = only_white_space(from(text, used));
    let value =
        magnitude.map(i128::from).and_then(|value| i64::try_from(if negative { -value } else { value }).ok());
    let clamped = value.unwrap_or(if negative { i64::MIN } else { i64::MAX });
    NumberPrefix { value: clamped, used, complete, overflow: value.is_none() }
}

/// Reads an unsigned integer from the start of `text`; negative ones overflow to 0.
pub fn parse_u64(text: &[u8]) -> NumberPrefix<u64> {
    let Some((negative, magnitude, used)) = parse_digits(text) else { return NumberPrefix::none() };
    let complete = only_white_space(from(text, used));
    let (value, overflow) = match (negative, magnitude) {
        (false, Some(value)) => (value, false),
        (false, None) => (u64::MAX, true),
        (true, magnitude) => (0, magnitude != Some(0)),
    };
    NumberPrefix { value, used, complete, overflow }
}

/// The largest and smallest exponents that are written out in zeros (of 0.d * 10^e).
const PLAIN_EXPONENTS: std::ops::RangeInclusive<i32> = -14..=15;

/// Appends `0.digits * 10^point` as MySQL does: plainly if the exponent is moderate, else like `1.5e20`.
fn put_digits(negative: bool, digits: &[u8], point: i32, out: &mut Vec<u8>) {
    if negative {
        out.push(b'-');
    }
    if !PLAIN_EXPONENTS.contains(&point) {
        out.extend_from_slice(first(digits, 1));
        if digits.len() > 1 {
            out.push(b'.');
            out.extend_from_slice(from(digits, 1));
        }
        out.push(b'e');
        format_i64(i64::from(point) - 1, out);
    } else if point <= 0 {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', point.unsigned_abs() as usize));
        out.extend_from_slice(digits);
    } else {
        let point = point as usize;
        out.extend_from_slice(first(digits, point));
        out.extend(std::iter::repeat_n(b'0', point.saturating_sub(digits.len())));
        if digits.len() > point {
            out.push(b'.');
            out.extend_from_slice(from(digits, point));
        }
    }
}

/// Takes Rust's `-1.25e-7` apart and appends it as MySQL does.
fn put_scientific(text: &str, out: &mut Vec<u8>) {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    // What is infinite or not a number has no exponent and no digits: it is written as 0.
    let (mantissa, exponent) = text.split_once('e').unwrap_or(("0", "0"));
    let mut digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    while digits.len() > 1 && digits.last() == Some(&b'0') {
        digits.pop();
    }
    let exponent: i32 = exponent.parse().unwrap_or(0);
    put_digits(negative, &digits, exponent + 1, out);
}

/// Appends a double as MySQL prints it: the shortest digits that read back, with an exponent from `1e15` up and
/// below `1e-15`.
pub fn format_f64(value: f64, out: &mut Vec<u8>) {
    if value == 0.0 {
        out.extend_from_slice(if value.is_sign_negative() { b"-0" } else { b"0" });
    } else if value.is_finite() {
        if value.fract() == 0.0 && value.abs() < 1e15 {
            format_i64(value as i64, out);
        } else {
            put_scientific(&format!("{value:e}"), out);
        }
    } else {
        // No expression gives these; a packet may.
        out.push(b'0');
    }
}

/// Appends a FLOAT as MySQL prints it: six significant digits.
pub fn format_f32(value: f32, out: &mut Vec<u8>) {
    if value == 0.0 || !value.is_finite() {
        format_f64(f64::from(value), out);
    } else {
        put_scientific(&format!("{:.5e}", f64::from(value)), out);
    }
}

/// Appends a double with a fixed number of digits after the point, as for DOUBLE(M,D): the fewest digits that
/// tell it from other doubles, and zeros behind them; rounded if those are more digits than it may have.
pub fn format_fixed(value: f64, digits: u8, out: &mut Vec<u8>) {
    let at = out.len();
    out.extend_from_slice(value.to_string().as_bytes());
    let digits = usize::from(digits);
    let shown =
        from(out, at).iter().position(|byte| *byte == b'.').map_or(0, |point| out.len() - at - point - 1);
    if shown > digits {
        out.truncate(at);
        out.extend_from_slice(format!("{value:.digits$}").as_bytes());
    } else if digits > 0 {
        if shown == 0 {
            out.push(b'.');
        }
        out.resize(out.len() + digits - shown, b'0');
    }
}

/// Appends a double in at most `width` characters, with as many digits as there is room for: in full if that
/// fits, else rounded or with an exponent, whichever shows more digits. False if not even one digit and its
/// exponent fit, or only one of several: what is appended may be too long then.
pub fn format_narrow(value: f64, width: usize, out: &mut Vec<u8>) -> bool {
    let at = out.len();
    format_f64(value, out);
    if out.len() - at <= width {
        return true;
    }
    let shortest = format!("{value:e}");
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count() as i64;
    // digits before the point; zeros behind it where that is negative
    let point = exponent.parse::<i64>().unwrap_or(0) + 1;
    let room = width as i64 - i64::from(value < 0.0);
    // The mantissa with an exponent: one digit, or one, a point, and those behind it.
    let mantissa_room = room - 1 - exponent.len() as i64;
    let shown_scientific = if mantissa_room >= 3 { mantissa_room - 1 } else { i64::from(mantissa_room >= 1) };
    let decimals = if point > 0 { room - point - 1 } else { room - 2 }.max(0);
    let shown_fixed = decimals + point;
    let may_be_fixed = point <= room.min(15) && (mantissa_room >= 1 || point > -3);
    out.truncate(at);
    if may_be_fixed && (shown_fixed >= shown_scientific || mantissa_room < 1) {
        let mut text = format!("{value:.*}", decimals as usize);
        if text.contains('.') {
            text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
        }
        let text = if text == "-0" { "0" } else { &text };
        if text.len() <= width {
            out.extend_from_slice(text.as_bytes());
            return room >= 2 || text != "0";
        }
    }
    let kept = shown_scientific.clamp(1, digits);
    let text = format!("{value:.*e}", kept as usize - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    // 99999 that is rounded up is 1e5, and that is all of it
    let is_carried = exponent.parse::<i64>().is_ok_and(|exponent| exponent == point);
    let mantissa = match mantissa.contains('.') {
        true => mantissa.trim_end_matches('0').trim_end_matches('.'),
        false => mantissa,
    };
    out.extend_from_slice(mantissa.as_bytes());
    out.push(b'e');
    out.extend_from_slice(exponent.as_bytes());
    out.len() - at <= width && (mantissa_room >= 2 || digits == 1 || is_carried || is_one_digit(value, width))
}

/// Whether a double rounded to `digits` digits is one digit and zeros: 1.00000002e20.
fn is_one_digit(value: f64, digits: usize) -> bool {
    let text = format!("{value:.*e}", digits.clamp(1, 17) - 1);
    let mantissa = text.split('e').next().unwrap_or(&text);
    mantissa.bytes().filter(|byte| matches!(byte, b'1'..=b'9')).count() == 1
}

/// Appends an integer.
pub fn format_i64(value: i64, out: &mut Vec<u8>) {
    if value < 0 {
        out.push(b'-');
    }
    format_u64(value.unsigned_abs(), out);
}

/// Appends an unsigned integer.
#[expect(clippy::indexing_slicing, reason = "no u64 has more than 20 digits")]
pub fn format_u64(mut value: u64, out: &mut Vec<u8>) {
    let mut digits = [0u8; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_base::prng::{Prng, test_seed};

    /// What MySQL 9.7 keeps of a double in VARCHAR of these widths; `!` where it says that digits are lost.
    #[test]
    fn writes_doubles_in_the_room_there_is() {
        const WIDTHS: [usize; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 12, 20];
        for (value, kept) in [
            (1e10, "1! 1e! 1e1! 1e10 1e10 1e10 1e10 1e10 10000000000 10000000000"),
            (1e-4, "1! 1e! 1e-! 1e-4 1e-4 0.0001 0.0001 0.0001 0.0001 0.0001"),
            (1e5, "1! 1e! 1e5 1e5 1e5 100000 100000 100000 100000 100000"),
            (123456.0, "1! 1e! 1e5! 1e5 1.2e5 123456 123456 123456 123456 123456"),
            (-123456.0, "-! -1! -1e! -1e5! -1e5 -1.2e5 -123456 -123456 -123456 -123456"),
            (1234.5678, "1! 1e! 1e3! 1235 1235 1234.6 1234.57 1234.568 1234.5678 1234.5678"),
            (0.00012345, "1! 1e! 1e-! 1e-4! 1e-4 1.2e-4 1.23e-4 1.234e-4 0.00012345 0.00012345"),
            (0.012345, "0! 0 0 0.01 0.012 0.0123 0.01235 0.012345 0.012345 0.012345"),
            (99999.0, "1! 1e! 1e5 1e5 99999 99999 99999 99999 99999 99999"),
            (999.96, "1! 1e! 1e3 1000 1000 999.96 999.96 999.96 999.96 999.96"),
            (1e15, "1! 1e! 1e1! 1e15 1e15 1e15 1e15 1e15 1e15 1e15"),
            (1e16, "1! 1e! 1e1! 1e16 1e16 1e16 1e16 1e16 1e16 1e16"),
            (
                123456789012345678.0,
                "1! 1e! 1e1! 1e17! 1e17 1.2e17 1.23e17 1.235e17 1.2345679e17 1.234567890123457e17",
            ),
            (1.5e300, "2! 2e! 2e3! 2e30! 2e300! 2e300 1.5e300 1.5e300 1.5e300 1.5e300"),
            (-1e-40, "-! -1! -1e! -1e-! -1e-4! -1e-40 -1e-40 -1e-40 -1e-40 -1e-40"),
            (0.1, "0! 0 0.1 0.1 0.1 0.1 0.1 0.1 0.1 0.1"),
            (-0.5, "0! 0! 0 -0.5 -0.5 -0.5 -0.5 -0.5 -0.5 -0.5"),
            (12.0, "1! 12 12 12 12 12 12 12 12 12"),
            (0.0, "0 0 0 0 0 0 0 0 0 0"),
            (-7.0, "-! -7 -7 -7 -7 -7 -7 -7 -7 -7"),
            (9.99e9, "1! 1e! 1e1! 1e10 1e10 9.99e9 9.99e9 9.99e9 9990000000 9990000000"),
            (0.99996, "1 1 1 1 1 1 0.99996 0.99996 0.99996 0.99996"),
        ] {
            let written = WIDTHS.map(|width| {
                let mut out = Vec::new();
                let fits = format_narrow(value, width, &mut out);
                out.truncate(width);
                String::from_utf8(out).unwrap() + if fits { "" } else { "!" }
            });
            assert_eq!(written.join(" "), kept, "{value}");
        }
    }

    #[test]
    fn reads_the_number_at_the_start() {
        for (text, value, used, complete) in [
            ("1.5", 1.5, 3, true),
            (" -2e3 ", -2000.0, 5, true),
            (".5", 0.5, 2, true),
            ("5.", 5.0, 2, true),
            ("1e", 1.0, 1, false),
            ("1e+", 1.0, 1, false),
            ("12abc", 12.0, 2, false),
            ("+7", 7.0, 2, true),
            ("abc", 0.0, 0, false),
            (".", 0.0, 0, false),
            ("", 0.0, 0, false),
            ("-", 0.0, 0, false),
            ("inf", 0.0, 0, false),
            ("0x10", 0.0, 1, false),
        ] {
            let number = parse_f64(text.as_bytes());
            assert_eq!((number.value, number.used, number.complete), (value, used, complete), "{text}");
        }
        let huge = parse_f64(b"-1e999");
        assert_eq!((huge.value, huge.overflow), (-f64::MAX, true));
        let clamped = parse_i64(b"-9223372036854775809");
        assert_eq!((clamped.value, clamped.overflow), (i64::MIN, true));
        assert_eq!(parse_i64(b"-9223372036854775808").value, i64::MIN);
        assert!(!parse_i64(b"-9223372036854775808").overflow);
        assert_eq!(parse_i64(b"12.5").used, 2);
        assert_eq!(parse_u64(b"18446744073709551615").value, u64::MAX);
        assert!(parse_u64(b"18446744073709551616").overflow);
        assert!(parse_u64(b"-1").overflow && !parse_u64(b"-0").overflow);
    }

    #[test]
    fn prints_as_mysql_does() {
        let shown = |value: f64| {
            let mut out = Vec::new();
            format_f64(value, &mut out);
            String::from_utf8(out).unwrap()
        };
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (0.1, "0.1"),
            (1e14, "100000000000000"),
            (1e15, "1e15"),
            (123_456_789_012_345.6, "123456789012345.6"),
            (1.234_567_890_123_456_8e17, "1.2345678901234568e17"),
            (1.5e-5, "0.000015"),
            (1e-20, "1e-20"),
            (1.797_693_134_862_315_7e308, "1.7976931348623157e308"),
            (5e-324, "5e-324"),
        ] {
            assert_eq!(shown(value), text);
        }
        let float = |value: f32| {
            let mut out = Vec::new();
            format_f32(value, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(float(0.1), "0.1");
        assert_eq!(float(1_234_567.0), "1234570");
        assert_eq!(float(-3.4e38), "-3.4e38");
        let mut out = Vec::new();
        format_fixed(1.005, 2, &mut out);
        assert_eq!(out, b"1.00");
    }

    #[test]
    fn what_is_printed_reads_back() {
        let mut prng = Prng::new(test_seed(80));
        for _ in 0..20_000 {
            let value = f64::from_bits(prng.next_u64());
            if !value.is_finite() {
                continue;
            }
            let mut out = Vec::new();
            format_f64(value, &mut out);
            let number = parse_f64(&out);
            assert!(number.complete && !number.overflow);
            assert_eq!(number.value, value);
            let mut garbage = [0; 12];
            prng.fill(&mut garbage);
            parse_f64(&garbage);
            parse_i64(&garbage);
            parse_u64(&garbage);
        }
    }
}
