//! DECIMAL: text, arithmetic, the packed form of columns.
//!
//! ```text
//! precision u8 | scale u8 | text of a number, `;`, text of another one; also the packed bytes of one
//! ```

use palisade_catalog::Decimal;
use palisade_catalog::decimal::{MAX_PRECISION, MAX_SCALE, ParseEnd};

use crate::Target;

pub(crate) const TARGET: Target = Target {
    name: "decimal",
    seeds,
    words: &["e", ".", "-", "99999999999999999999", "e-30", "0.000000001"],
    longest: 200,
    run,
};

fn seeds() -> Vec<Vec<u8>> {
    let pairs = [
        "0;1",
        "-1.5;2.25",
        "99999999999999999999999999999999999999999999999999999999999999999;1",
        "0.000000000000000000000000000001;3",
        "12345678901234567890.123456789;-0.001",
        "1e30;1e-30",
        " 7 x;.5e2",
        "-99999999999999999999999999999999999.999999999999999999999999999999;2",
    ];
    let mut seeds: Vec<Vec<u8>> = pairs.iter().map(|pair| [&[65, 30], pair.as_bytes()].concat()).collect();
    let mut packed = vec![20, 5];
    Decimal::parse(b"-123456.789").0.pack(20, 5, &mut packed);
    seeds.push(packed);
    seeds
}

fn run(input: &[u8]) {
    let [precision, scale, bytes @ ..] = input else { return };
    let precision = 1 + precision % MAX_PRECISION;
    let scale = scale % (precision.min(MAX_SCALE) + 1);
    let mut halves = bytes.splitn(2, |byte| *byte == b';');
    let [left, right] = [(); 2].map(|()| number(halves.next().unwrap_or_default()));
    let results = [
        left.add(&right),
        left.subtract(&right),
        left.multiply(&right),
        left.divide(&right, scale),
        left.remainder(&right),
        left.integer_divide(&right),
        left.round(i32::from(scale) - 15),
        left.truncate(i32::from(scale) - 15),
        left.floor(),
        left.ceil(),
        Decimal::from_f64(left.to_f64()),
    ];
    results.iter().flatten().for_each(is_sound);
    let _ = (left.to_i64(), left.to_u64(), left.negate(), left.abs(), left.cmp(&right));
    if let (Ok(sum), Ok(back)) = (left.add(&right), left.add(&right).and_then(|sum| sum.subtract(&right)))
        && sum.scale() == left.scale().max(right.scale())
    {
        assert_eq!(back, left, "{left} + {right} - {right}");
    }
    if left.scale() <= scale && left.fits(precision, scale) {
        let mut packed = Vec::new();
        left.pack(precision, scale, &mut packed);
        assert_eq!(Decimal::unpack(&packed, precision, scale), Some(left), "packed as ({precision},{scale})");
    }
    let length = Decimal::packed_len(precision);
    if let Some(packed) = bytes.get(..length)
        && let Some(unpacked) = Decimal::unpack(packed, precision, scale)
    {
        is_sound(&unpacked);
    }
}

/// The number that a text begins with.
fn number(text: &[u8]) -> Decimal {
    let (number, _) = Decimal::parse(text);
    is_sound(&number);
    number
}

/// It has the digits that there may be, and what is printed is the same number.
fn is_sound(number: &Decimal) {
    assert!(number.scale() <= MAX_SCALE && number.fits(MAX_PRECISION, number.scale()), "{number:?}");
    let printed = number.to_string();
    assert_eq!(Decimal::parse(printed.as_bytes()), (*number, ParseEnd::Complete), "{printed}");
}
