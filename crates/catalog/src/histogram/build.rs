//! Making a histogram: values are counted, and where they would take too much memory, half of the rows are
//! forgotten.
//!
//! Which rows are forgotten is left to chance, each with the same probability; of the rows that follow, only
//! every second is taken then. So what is counted is a random sample of all rows at any time, a column of few
//! values is counted whole however many rows there are, and nothing has to be known of the column beforehand.
//!
//! Where only a part `q` of the rows was looked at, a value that was met once stands for others that were not
//! met. With `n` rows, `d` values and `f` values met once there are about
//!
//! ```text
//! n * d / (n - f + f * q)     values: as many as rows if each was met once, d if each was met twice
//! ```
//!
//! and each value that was met once is taken to stand for as many as that asks for.
//!
//! Source: Haas and Stokes, "Estimating the number of classes in a finite population", 1998.

use std::collections::BTreeMap;

use palisade_base::prng::Prng;

use super::{Bucket, CHARACTERS, Histogram, collation_of, put_key};
use crate::part::first;
use crate::types::SqlType;
use crate::value::{Value, ValueRef};

/// Bytes that a value takes besides those it has.
const BYTES_A_VALUE: usize = 128;
/// Rows with a value up to which chance decides for each.
const EACH: u64 = 4096;

/// What a histogram is to be.
#[derive(Debug, Clone, Copy)]
pub struct Specification {
    /// Buckets at most.
    pub buckets: u16,
    /// Made anew by ANALYZE TABLE.
    pub auto_update: bool,
    /// The moment, in microseconds since the epoch.
    pub now_us: i64,
}

/// Counts values.
#[derive(Debug)]
pub struct HistogramBuilder {
    ty: SqlType,
    counts: BTreeMap<Vec<u8>, Counted>,
    nulls: u64,
    /// Bytes that the values take, and may take.
    bytes: usize,
    most_bytes: usize,
    /// How often half of the rows was forgotten.
    halvings: u32,
    prng: Prng,
    key: Vec<u8>,
}

/// A value, and how many rows have it.
#[derive(Debug)]
struct Counted {
    value: Value,
    rows: u64,
}

impl HistogramBuilder {
    /// One for values of `ty`, that takes about so many bytes at most; `seed` decides what is left to chance.
    pub fn new(ty: SqlType, most_bytes: usize, seed: u64) -> HistogramBuilder {
        HistogramBuilder {
            ty,
            counts: BTreeMap::new(),
            nulls: 0,
            bytes: 0,
            most_bytes,
            halvings: 0,
            prng: Prng::new(seed),
            key: Vec::new(),
        }
    }

    /// Counts the value of a row.
    pub fn add(&mut self, value: ValueRef<'_>) {
        if self.halvings > 0 && self.prng.next_u64() >> (64 - self.halvings.min(63)) != 0 {
            return;
        }
        self.key.clear();
        if !put_key(&self.ty, value, &mut self.key) {
            self.nulls += 1;
            return;
        }
        if let Some(known) = self.counts.get_mut(&self.key) {
            known.rows += 1;
            return;
        }
        let value = kept(&self.ty, value);
        self.bytes += bytes_of(&self.key, &value);
        self.counts.insert(self.key.clone(), Counted { value, rows: 1 });
        while self.bytes > self.most_bytes && self.counts.len() > 1 {
            self.halve();
        }
    }

    /// Forgets half of the rows.
    fn halve(&mut self) {
        let (prng, bytes) = (&mut self.prng, &mut self.bytes);
        self.counts.retain(|key, counted| {
            counted.rows = half_of(counted.rows, prng);
            if counted.rows == 0 {
                *bytes = bytes.saturating_sub(bytes_of(key, &counted.value));
            }
            counted.rows > 0
        });
        self.nulls = half_of(self.nulls, prng);
        self.halvings += 1;
    }

    /// The histogram; `part` of all rows were added.
    pub fn finish(self, specification: Specification, part: f64) -> Histogram {
        let Specification { buckets: most, auto_update, now_us } = specification;
        let rate = part * 0.5f64.powi(self.halvings.min(1000) as i32);
        let with_values: u64 = self.counts.values().map(|counted| counted.rows).sum();
        let total = (with_values + self.nulls).max(1) as f64;
        let collation = collation_of(&self.ty);
        let nulls = self.nulls as f64 / total;
        let counts: Vec<Counted> = self.counts.into_values().collect();
        let is_singleton = counts.len() <= usize::from(most);
        let threshold = if is_singleton { 0 } else { threshold(&counts, with_values, u64::from(most)) };
        let each = values_for_each(&counts, with_values, rate);
        let mut filling = Filling { total, each, rows: 0, buckets: Vec::new(), open: None };
        for counted in counts {
            filling.add(counted, threshold);
        }
        filling.close();
        let buckets = filling.buckets;
        Histogram {
            is_singleton,
            buckets,
            nulls,
            collation,
            updated_us: now_us,
            sampling_rate: rate,
            buckets_specified: most,
            auto_update,
        }
    }
}

/// For how many values each stands that was met once, where a part `rate` of the rows was looked at.
fn values_for_each(counts: &[Counted], rows: u64, rate: f64) -> f64 {
    let once = counts.iter().filter(|counted| counted.rows == 1).count() as f64;
    if rate >= 1.0 || once == 0.0 {
        return 1.0;
    }
    let (rows, values) = (rows as f64, counts.len() as f64);
    let all = rows * values / (rows - once + once * rate).max(f64::MIN_POSITIVE);
    ((all - (values - once)) / once).clamp(1.0, 1.0 / rate.max(f64::MIN_POSITIVE))
}

/// A value as histograms keep it.
fn kept(ty: &SqlType, value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Enum { index, .. } => Value::UInt(index.into()),
        ValueRef::Set { bits, .. } => Value::UInt(bits),
        ValueRef::Bytes(text) => {
            let charset = ty.collation().get().charset;
            Value::bytes(first(text, charset.prefix_len(text, CHARACTERS)))
        }
        value => value.to_owned(),
    }
}

fn bytes_of(key: &[u8], value: &Value) -> usize {
    let text = if let Value::Bytes(text) = value { text.len() } else { 0 };
    BYTES_A_VALUE + key.len() + text
}

/// How many of `rows` are left if each is forgotten with a probability of one half.
fn half_of(rows: u64, prng: &mut Prng) -> u64 {
    if rows > EACH {
        return rows / 2;
    }
    let mut left = 0;
    let mut rest = rows;
    while rest > 0 {
        let some = rest.min(64);
        let mask = u64::MAX >> (64 - some);
        left += u64::from((prng.next_u64() & mask).count_ones());
        rest -= some;
    }
    left
}

/// The fewest rows that buckets of several values may have so that there are at most `most` of them.
fn threshold(counts: &[Counted], rows: u64, most: u64) -> u64 {
    let fits = |threshold: u64| {
        let (mut buckets, mut size) = (1, 0);
        for counted in counts {
            if size > 0 && size + counted.rows > threshold {
                (buckets, size) = (buckets + 1, 0);
            }
            size += counted.rows;
        }
        buckets <= most
    };
    let (mut low, mut high) = (1, rows);
    while low < high {
        let middle = low + (high - low) / 2;
        match fits(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}

/// Buckets that are being filled.
struct Filling {
    /// Rows, those with NULL included.
    total: f64,
    /// Values that each stands for which was met once.
    each: f64,
    /// Rows in the buckets so far.
    rows: u64,
    buckets: Vec<Bucket>,
    open: Option<Open>,
}

/// The last bucket.
struct Open {
    lower: Option<Value>,
    upper: Value,
    rows: u64,
    /// Values that were met once, and the others.
    once: u64,
    others: u64,
}

impl Filling {
    fn add(&mut self, counted: Counted, threshold: u64) {
        let Counted { value, rows } = counted;
        if self.open.as_ref().is_some_and(|open| open.rows + rows > threshold) {
            self.close();
        }
        let open = match self.open.take() {
            None => Open { lower: None, upper: value, rows: 0, once: 0, others: 0 },
            Some(open) => Open { lower: Some(open.lower.unwrap_or(open.upper)), upper: value, ..open },
        };
        let (once, others) = if rows == 1 { (1, 0) } else { (0, 1) };
        self.open = Some(Open {
            rows: open.rows + rows,
            once: open.once + once,
            others: open.others + others,
            ..open
        });
    }

    fn close(&mut self) {
        let Some(Open { lower, upper, rows, once, others }) = self.open.take() else { return };
        self.rows += rows;
        let distinct = match lower.is_some() {
            true => (once as f64 * self.each).round() as u64 + others,
            false => once + others,
        };
        self.buckets.push(Bucket { lower, upper, cumulative: self.rows as f64 / self.total, distinct });
    }
}
