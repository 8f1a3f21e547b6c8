//! Known MySQL results, and random ones against an independent model on digit strings.

use palisade_base::prng::{Prng, test_seed};

use super::*;

fn dec(text: &str) -> Decimal {
    let (number, end) = Decimal::parse(text.as_bytes());
    assert_eq!(end, ParseEnd::Complete, "{text}");
    number
}

#[test]
fn reads_and_prints() {
    for (text, shown) in [
        ("0", "0"),
        ("-0.00", "0.00"),
        ("1.50", "1.50"),
        (" 12 ", "12"),
        (".5", "0.5"),
        ("5.", "5"),
        ("-.001", "-0.001"),
        ("1e3", "1000"),
        ("1.25e1", "12.5"),
        ("1e-5", "0.00001"),
        ("00012.340", "12.340"),
        ("0.0000000000000000000000000000005", "0.000000000000000000000000000001"),
        ("1e-40", "0.000000000000000000000000000000"),
    ] {
        assert_eq!(dec(text).to_string(), shown, "{text}");
    }
    let nines = "9".repeat(65);
    assert_eq!(dec(&nines).to_string(), nines);
    assert_eq!(dec(&format!("-{nines}")).to_string(), format!("-{nines}"));
    assert_eq!(Decimal::parse(b"1e65").1, ParseEnd::Overflow);
    assert_eq!(Decimal::parse(b"1e65").0.to_string(), nines);
    assert_eq!(Decimal::parse(b"12abc"), (dec("12"), ParseEnd::Trailing));
    assert_eq!(Decimal::parse(b"12e"), (dec("12"), ParseEnd::Trailing));
    assert_eq!(Decimal::parse(b"abc").1, ParseEnd::NoNumber);
    assert_eq!(Decimal::parse(b"-").1, ParseEnd::NoNumber);
    assert_eq!(Decimal::parse(b"").1, ParseEnd::NoNumber);
    let long = "1".repeat(1000);
    assert_eq!(Decimal::parse(format!("0.{long}").as_bytes()).0.to_string(), format!("0.{}", "1".repeat(30)));
}

#[test]
fn computes_as_mysql_does() {
    assert_eq!(dec("1.1").add(&dec("2.22")).unwrap().to_string(), "3.32");
    assert_eq!(dec("1.5").multiply(&dec("1.50")).unwrap().to_string(), "2.250");
    let third = dec("1").divide(&dec("3"), 4).unwrap();
    assert_eq!(third.round(4).unwrap().to_string(), "0.3333");
    assert_eq!(third.multiply(&dec("3")).unwrap().round(4).unwrap().to_string(), "1.0000");
    assert_eq!(dec("2").divide(&dec("3"), 4).unwrap().round(4).unwrap().to_string(), "0.6667");
    assert_eq!(dec("1.00").divide(&dec("7"), 4).unwrap().round(6).unwrap().to_string(), "0.142857");
    assert_eq!(dec("1").divide(&dec("0.00"), 4), Err(DecimalError::DivisionByZero));
    assert_eq!(dec("-7.5").remainder(&dec("2")).unwrap().to_string(), "-1.5");
    assert_eq!(dec("-7.5").integer_divide(&dec("2")).unwrap().to_string(), "-3");
    for (text, digits, rounded) in [
        ("2.5", 0, "3"),
        ("-2.5", 0, "-3"),
        ("1.005", 2, "1.01"),
        ("15", -1, "20"),
        ("14", -1, "10"),
        ("4", -1, "0"),
        ("999", -3, "1000"),
        ("1.2", 4, "1.2000"),
        ("0.05", 1, "0.1"),
    ] {
        assert_eq!(dec(text).round(digits).unwrap().to_string(), rounded, "ROUND({text}, {digits})");
    }
    assert_eq!(dec("-1.999").truncate(1).unwrap().to_string(), "-1.9");
    assert_eq!(dec("1999").truncate(-3).unwrap().to_string(), "1000");
    assert_eq!(dec("-1.1").floor().unwrap().to_string(), "-2");
    assert_eq!(dec("-1.9").ceil().unwrap().to_string(), "-1");
    assert_eq!(dec("1.1").ceil().unwrap().to_string(), "2");
    let largest = Decimal::largest(65, 0);
    assert_eq!(largest.add(&dec("1")), Err(DecimalError::Overflow));
    assert_eq!(largest.multiply(&largest), Err(DecimalError::Overflow));
    assert_eq!(largest.add(&dec("0.4")).unwrap(), largest, "digits after the point give way first");
}

#[test]
fn converts_to_and_from_numbers() {
    assert_eq!(Decimal::from(i64::MIN).to_i64(), Ok(i64::MIN));
    assert_eq!(Decimal::from(u64::MAX).to_u64(), Ok(u64::MAX));
    assert_eq!(Decimal::from(u64::MAX).to_i64(), Err(i64::MAX));
    assert_eq!(dec("-9223372036854775808.5").to_i64(), Err(i64::MIN));
    assert_eq!(dec("-9223372036854775808.4").to_i64(), Ok(i64::MIN));
    assert_eq!(dec("-0.4").to_u64(), Ok(0));
    assert_eq!(dec("-0.5").to_u64(), Err(0));
    assert_eq!(dec("2.5").to_i64(), Ok(3));
    assert_eq!(dec("0.1").to_f64(), 0.1);
    assert_eq!(dec("123456789012345678901234567890.5").to_f64(), 1.234_567_890_123_456_8e29);
    assert_eq!(Decimal::from_f64(0.1).unwrap().to_string(), "0.1");
    assert_eq!(Decimal::from_f64(1e15).unwrap().to_string(), "1000000000000000");
    assert_eq!(Decimal::from_f64(-2.5e-3).unwrap().to_string(), "-0.0025");
    assert_eq!(Decimal::from_f64(1e300), Err(DecimalError::Overflow));
    assert_eq!(Decimal::from_f64(f64::NAN), Err(DecimalError::Overflow));
}

/// The independent model: sign and decimal digits, schoolbook arithmetic.
#[derive(Clone, PartialEq, Debug)]
struct Model {
    negative: bool,
    /// Most significant first, no leading zeros.
    digits: Vec<u8>,
}

impl Model {
    fn of(text: &str, scale: usize) -> Model {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (integer, fraction) = text.split_once('.').unwrap_or((text, ""));
        assert!(fraction.len() <= scale);
        let digits = integer.bytes().chain(fraction.bytes()).map(|b| b - b'0');
        let digits = digits.chain(std::iter::repeat_n(0, scale - fraction.len())).collect();
        Model { negative, digits }.trimmed()
    }

    fn trimmed(mut self) -> Model {
        let zeros = self.digits.iter().take_while(|d| **d == 0).count();
        self.digits.drain(..zeros);
        self.negative &= !self.digits.is_empty();
        self
    }

    fn magnitude_cmp(&self, other: &Model) -> Ordering {
        self.digits.len().cmp(&other.digits.len()).then_with(|| self.digits.cmp(&other.digits))
    }

    fn cmp(&self, other: &Model) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.magnitude_cmp(other),
            (true, true) => other.magnitude_cmp(self),
        }
    }

    fn add(&self, other: &Model) -> Model {
        let length = self.digits.len().max(other.digits.len()) + 1;
        let signed = |model: &Model| -> Vec<i32> {
            let sign = if model.negative { -1 } else { 1 };
            let mut out = vec![0; length - model.digits.len()];
            out.extend(model.digits.iter().map(|d| sign * i32::from(*d)));
            out
        };
        let mut sum: Vec<i32> = signed(self).iter().zip(signed(other)).map(|(a, b)| a + b).collect();
        let negative = sum.iter().find(|d| **d != 0).is_some_and(|d| *d < 0);
        if negative {
            sum.iter_mut().for_each(|d| *d = -*d);
        }
        let mut carry = 0;
        for digit in sum.iter_mut().rev() {
            let value = *digit + carry;
            *digit = value.rem_euclid(10);
            carry = value.div_euclid(10);
        }
        assert_eq!(carry, 0);
        Model { negative, digits: sum.iter().map(|d| *d as u8).collect() }.trimmed()
    }

    fn multiply(&self, other: &Model) -> Model {
        let mut out = vec![0u32; self.digits.len() + other.digits.len()];
        for (i, a) in self.digits.iter().rev().enumerate() {
            for (j, b) in other.digits.iter().rev().enumerate() {
                out[i + j] += u32::from(*a) * u32::from(*b);
            }
        }
        for i in 1..out.len() {
            out[i] += out[i - 1] / 10;
            out[i - 1] %= 10;
        }
        let digits = out.iter().rev().map(|d| *d as u8).collect();
        Model { negative: self.negative != other.negative, digits }.trimmed()
    }

    /// Long division toward zero: quotient and remainder.
    fn divide(&self, other: &Model) -> (Model, Model) {
        let divisor = Model { negative: true, ..other.clone() };
        let (mut quotient, mut rest) = (Vec::new(), Model { negative: false, digits: Vec::new() });
        for digit in &self.digits {
            rest.digits.push(*digit);
            rest = rest.trimmed();
            let mut times = 0;
            while rest.magnitude_cmp(other) != Ordering::Less {
                rest = rest.add(&divisor);
                times += 1;
            }
            quotient.push(times);
        }
        rest.negative = self.negative;
        (Model { negative: self.negative != other.negative, digits: quotient }.trimmed(), rest.trimmed())
    }
}

fn random_text(prng: &mut Prng, max_integer: u64, max_scale: u64) -> String {
    let mut text = String::new();
    if prng.one_in(2) {
        text.push('-');
    }
    let (integer, scale) = (1 + prng.below(max_integer), prng.below(max_scale + 1));
    let pattern = prng.below(3);
    let mut push = |text: &mut String| {
        let digit = match pattern {
            0 => 9,
            1 => prng.below(2) * 9,
            _ => prng.below(10),
        };
        text.push((b'0' + digit as u8) as char);
    };
    (0..integer).for_each(|_| push(&mut text));
    if scale > 0 {
        text.push('.');
        (0..scale).for_each(|_| push(&mut text));
    }
    text
}

#[test]
fn agrees_with_arithmetic_on_digits() {
    let mut prng = Prng::new(test_seed(20));
    for round in 0..6000 {
        let (digits, scale) = *prng.pick(&[(35, 30), (10, 4), (3, 2), (64, 0), (18, 9)]);
        let (a, b) = (random_text(&mut prng, digits, scale), random_text(&mut prng, digits, scale));
        let (x, y) = (dec(&a), dec(&b));
        let common = usize::from(x.scale().max(y.scale()));
        let (m, n) = (Model::of(&a, common), Model::of(&b, common));
        let about = format!("round {round}: {a} and {b}");
        assert_eq!(x.cmp(&y), m.cmp(&n), "{about}");
        let shown = |number: Result<Decimal, DecimalError>, scale: usize| {
            Model::of(&number.unwrap().to_string(), scale)
        };
        let sum = m.add(&n);
        if sum.digits.len() <= 65 {
            assert_eq!(shown(x.add(&y), common), sum, "{about}");
        }
        if !y.is_zero() {
            let (quotient, rest) = m.divide(&n);
            assert_eq!(shown(x.remainder(&y), common), rest, "{about}");
            match x.integer_divide(&y) {
                Ok(number) => assert_eq!(Model::of(&number.to_string(), 0), quotient, "{about}"),
                Err(_) => assert!(quotient.digits.len() > 65, "{about}"),
            }
            if let Ok(exact) = x.divide(&y, 4)
                && exact.digits() < 60
            {
                let up = usize::from(exact.scale()) + usize::from(y.scale());
                let (mut dividend, mut divisor) =
                    (Model::of(&a, usize::from(x.scale())), Model::of(&b, y.scale().into()));
                let shift = up as i32 - i32::from(x.scale());
                let padded = if shift >= 0 { &mut dividend } else { &mut divisor };
                padded.digits.extend(std::iter::repeat_n(0, shift.unsigned_abs() as usize));
                let expected = dividend.trimmed().divide(&divisor).0;
                assert_eq!(Model::of(&exact.to_string(), exact.scale().into()), expected, "{about}");
                assert!(exact.scale() >= (x.scale() + 4).min(30));
            }
        }
        let exact = usize::from(x.scale()) + usize::from(y.scale());
        let (m, n) = (Model::of(&a, x.scale().into()), Model::of(&b, y.scale().into()));
        let product = m.multiply(&n);
        if exact <= 30 && product.digits.len() <= 65 {
            assert_eq!(shown(x.multiply(&y), exact), product, "{about}");
        }
        assert_eq!(x.to_f64(), a.parse::<f64>().unwrap(), "{about}");
    }
}

#[test]
fn the_packed_form_gives_the_value_back_and_orders_as_the_values_do() {
    let mut prng = Prng::new(test_seed(21));
    for _ in 0..3000 {
        let precision = 1 + prng.below(65) as u8;
        let scale = prng.below(u64::from(precision.min(30)) + 1) as u8;
        let number = |prng: &mut Prng| {
            let digits = u64::from((precision - scale).max(1));
            let text = random_text(prng, digits, u64::from(scale));
            let number = dec(&text).round(scale.into()).unwrap();
            if number.fits(precision, scale) { number } else { Decimal::largest(precision, scale) }
        };
        let (a, b) = (number(&mut prng), number(&mut prng));
        let (mut x, mut y) = (Vec::new(), Vec::new());
        a.pack(precision, scale, &mut x);
        b.pack(precision, scale, &mut y);
        assert_eq!(x.len(), Decimal::packed_len(precision));
        let back = Decimal::unpack(&x, precision, scale).unwrap();
        assert_eq!((back, back.scale()), (a, scale));
        assert_eq!(x.cmp(&y), a.cmp(&b), "{a} and {b} as DECIMAL({precision},{scale})");
        prng.fill(&mut x);
        if let Some(any) = Decimal::unpack(&x, precision, scale) {
            assert!(any.fits(precision, scale));
        }
    }
    assert_eq!(Decimal::packed_len(10), 5);
    assert_eq!(Decimal::packed_len(65), 28);
}

#[test]
fn equal_numbers_hash_equal() {
    use std::hash::{BuildHasher, RandomState};
    let state = RandomState::new();
    for (a, b) in [("1", "1.000"), ("0", "0.00"), ("-120", "-120.0")] {
        assert_eq!(state.hash_one(dec(a)), state.hash_one(dec(b)));
    }
}

#[test]
fn any_text_is_read_without_panic_and_near_its_value() {
    let mut prng = Prng::new(test_seed(22));
    for _ in 0..30_000 {
        let length = prng.below(*prng.clone().pick(&[8, 30, 200]));
        let text: Vec<u8> = (0..length).map(|_| *prng.pick(b"0123456789000999..e-+ x")).collect();
        let (number, end) = Decimal::parse(&text);
        assert!(number.scale() <= MAX_SCALE && number.digits() <= u32::from(MAX_PRECISION));
        let shown = number.to_string();
        assert_eq!(Decimal::parse(shown.as_bytes()), (number, ParseEnd::Complete));
        let double = crate::number::parse_f64(&text);
        assert_eq!(end == ParseEnd::NoNumber, double.used == 0, "{}", text.escape_ascii());
        if matches!(end, ParseEnd::Complete | ParseEnd::Trailing) && double.value.abs() > 1e-10 {
            let error = (number.to_f64() / double.value - 1.0).abs();
            assert!(error < 1e-15 || number.scale() == MAX_SCALE && error < 1e-9, "{}", text.escape_ascii());
        }
        let (other, _) = Decimal::parse(&text[text.len() / 2..]);
        let _ =
            (number.add(&other), number.multiply(&other), number.divide(&other, 4), number.remainder(&other));
        let _ = (number.integer_divide(&other), number.round(prng.below(80) as i32 - 40), number.floor());
    }
}

#[test]
fn equal_numbers_are_normalized_to_the_same_words() {
    let mut random = Prng::new(test_seed(31));
    for _ in 0..5_000 {
        let digits = 1 + random.below(40) as usize;
        let text: String = (0..digits).map(|_| char::from(b'0' + random.below(10) as u8)).collect();
        let (whole, fraction) = text.split_at(random.below(digits as u64 + 1) as usize);
        let sign = if random.below(2) == 0 { "-" } else { "" };
        let number = dec(&format!("{sign}{whole}.{fraction}"));
        let normal = number.normalized();
        assert_eq!(normal, number);
        assert_eq!(number.round(30).unwrap().normalized().to_words(), normal.to_words(), "{number}");
        assert!(normal.scale() == 0 || !normal.to_string().ends_with('0'), "{number}");
    }
}

#[test]
fn short_columns_are_read_as_long_ones_are() {
    let mut random = Prng::new(test_seed(32));
    for _ in 0..20_000 {
        let precision = 1 + random.below(18) as u8;
        let scale = random.below(u64::from(precision) + 1) as u8;
        let limit = 10i128.pow(precision.into());
        let coefficient = i128::from(random.below(limit as u64)) * if random.below(2) == 0 { -1 } else { 1 };
        let number = Decimal::new(coefficient, scale);
        let mut bytes = Vec::new();
        number.pack(precision, scale, &mut bytes);
        let read = Decimal::unpack(&bytes, precision, scale).unwrap();
        assert_eq!(read.to_words(), number.to_words(), "DECIMAL({precision},{scale})");
    }
    // Bytes of more digits than the column has are none.
    assert_eq!(Decimal::unpack(&[0xff], 1, 0), None);
}
