//! Rows as an INSERT has them, and the random numbers that they are made from.

use jiff::ToSpan as _;
use jiff::civil::Date;

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A whole number.
    Int(i64),
    /// A decimal with two digits after the point, in hundredths.
    Cents(i64),
    /// A text without quotes and backslashes.
    Text(String),
    /// A word of the generator's.
    Word(&'static str),
    /// A date, as days after the first of January 1992.
    Day(i64),
    /// NULL.
    Null,
}

/// Rows that gather for a statement.
#[derive(Debug, Default)]
pub struct Rows {
    text: String,
    count: usize,
}

impl Rows {
    /// Adds a row.
    pub fn push(&mut self, values: &[Value]) {
        if self.count > 0 {
            self.text.push_str(",\n");
        }
        self.count += 1;
        for (place, value) in values.iter().enumerate() {
            self.text.push(if place == 0 { '(' } else { ',' });
            self.value(value);
        }
        self.text.push(')');
    }

    fn value(&mut self, value: &Value) {
        let text = &mut self.text;
        match value {
            Value::Int(number) => text.push_str(&number.to_string()),
            Value::Cents(cents) => {
                let sign = if *cents < 0 { "-" } else { "" };
                text.push_str(&format!("{sign}{}.{:02}", cents.abs() / 100, cents.abs() % 100));
            }
            Value::Text(words) => {
                assert!(!words.contains(['\'', '\\']), "a generator's text needs no escape: {words}");
                text.push('\'');
                text.push_str(words);
                text.push('\'');
            }
            Value::Word(word) => {
                text.push('\'');
                text.push_str(word);
                text.push('\'');
            }
            Value::Day(days) => text.push_str(&format!("'{}'", date(*days))),
            Value::Null => text.push_str("NULL"),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How long they are, in bytes.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// What follows VALUES, if there are any; none are left.
    pub fn take(&mut self) -> Option<String> {
        let count = std::mem::take(&mut self.count);
        let text = std::mem::take(&mut self.text);
        (count > 0).then_some(text)
    }
}

/// The date of a day.
pub fn date(days: i64) -> Date {
    Date::constant(1992, 1, 1).saturating_add(days.days())
}

/// Random numbers of one row: SplitMix64 (Steele, Lea, Flood 2014), seeded by the table and the row, so that
/// a row does not depend on those before it.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Of a row of a table that is known by a number.
    pub fn of(table: u64, row: u64) -> Random {
        let mut random = Random(table.wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ row);
        random.0 = random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        // the upper half of the product: without division, and as even as limits far below 2^64 need
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }

    /// A number from `least` to `greatest`, both included.
    pub fn between(&mut self, least: i64, greatest: i64) -> i64 {
        least + self.below((greatest - least + 1) as u64) as i64
    }

    /// A number from 0 to 1.
    pub fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Whether something happens that does in one of `in_so_many` cases.
    pub fn one_in(&mut self, in_so_many: u64) -> bool {
        self.below(in_so_many) == 0
    }

    /// One of some words.
    pub fn word(&mut self, words: &[&'static str]) -> &'static str {
        words[self.below(words.len() as u64) as usize]
    }

    /// A number below `limit` of which the small ones are more frequent: the density of `x / limit` falls as
    /// `x^(1/skew - 1)`, so that with a skew of 3 half of all draws are in the first eighth.
    pub fn skewed(&mut self, limit: u64, skew: i32) -> u64 {
        ((self.share().powi(skew) * limit as f64) as u64).min(limit.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_sql_has_them() {
        let mut rows = Rows::default();
        let text = Value::Text("a b".to_owned());
        rows.push(&[Value::Int(-3), Value::Cents(-5), Value::Cents(12_345), text]);
        rows.push(&[Value::Word("w"), Value::Day(0), Value::Day(366), Value::Null]);
        assert_eq!(rows.count(), 2);
        let written = rows.take().expect("there are some");
        assert_eq!(written, "(-3,-0.05,123.45,'a b'),\n('w','1992-01-01','1993-01-01',NULL)");
        assert_eq!(rows.take(), None);
    }

    #[test]
    fn random_numbers_are_the_same_everywhere() {
        let mut random = Random::of(1, 1);
        let some: Vec<u64> = (0..4).map(|_| random.below(1000)).collect();
        assert_eq!(some, PINNED);
        let mean = (1..=1000).map(|row| Random::of(7, row).share()).sum::<f64>() / 1000.0;
        assert!((mean - 0.5).abs() < 0.03, "{mean}");
        let small = (1..=1000).filter(|row| Random::of(7, *row).skewed(800, 3) < 100).count();
        assert!((450..550).contains(&small), "{small}");
    }

    /// What golden answers rest on.
    const PINNED: [u64; 4] = [566, 936, 741, 45];
}
