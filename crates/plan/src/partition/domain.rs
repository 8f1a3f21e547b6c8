//! Sets of values of one column: what conditions leave of them.

use std::cmp::Ordering;

use palisade_catalog::{SqlType, Table, Value};
use palisade_expr::place::At;
use palisade_expr::{Context, SqlAttempt};

use super::order;
use crate::access::{KeyValue, RangeSpec, key_value};

/// Intervals of a set at most: what has more is taken for all values.
const MOST_INTERVALS: usize = 4096;

/// An end of an interval: a value, and whether it is within; `None` is beyond all values.
pub(super) type Edge = Option<(Value, bool)>;

/// Values between two ends; NULL is none of them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Interval {
    /// The lower end.
    pub lower: Edge,
    /// The upper end.
    pub upper: Edge,
}

impl Interval {
    /// All values.
    const ALL: Interval = Interval { lower: None, upper: None };

    /// One value.
    fn at(value: Value) -> Interval {
        Interval { lower: Some((value.clone(), true)), upper: Some((value, true)) }
    }

    /// The only value, if there is one only by its ends.
    pub(super) fn point(&self) -> Option<&Value> {
        match (&self.lower, &self.upper) {
            (Some((lower, true)), Some((upper, true))) if lower == upper => Some(lower),
            _ => None,
        }
    }

    fn is_empty(&self, ty: &SqlType) -> bool {
        // Their order is not known here.
        if matches!(ty, SqlType::Enum { .. } | SqlType::Set { .. }) {
            return false;
        }
        let (Some((lower, lower_in)), Some((upper, upper_in))) = (&self.lower, &self.upper) else {
            return false;
        };
        match order(ty, lower.as_ref(), upper.as_ref()) {
            Ordering::Less => false,
            Ordering::Equal => !(*lower_in && *upper_in),
            Ordering::Greater => true,
        }
    }

    fn meet(&self, other: &Interval, ty: &SqlType) -> Interval {
        let tighter = |one: &Edge, other: &Edge, wanted: Ordering| match (one, other) {
            (None, edge) | (edge, None) => edge.clone(),
            (Some(first), Some(second)) => {
                let found = order(ty, first.0.as_ref(), second.0.as_ref());
                let takes_first = found == wanted || found == Ordering::Equal && !first.1;
                Some(if takes_first { first.clone() } else { second.clone() })
            }
        };
        Interval {
            lower: tighter(&self.lower, &other.lower, Ordering::Greater),
            upper: tighter(&self.upper, &other.upper, Ordering::Less),
        }
    }

    /// Whether a value is within.
    pub(super) fn has(&self, value: &Value, ty: &SqlType) -> bool {
        if matches!(ty, SqlType::Enum { .. } | SqlType::Set { .. }) {
            return self.point().is_none_or(|point| point == value);
        }
        let above = self.lower.as_ref().is_none_or(|(lower, included)| {
            let found = order(ty, value.as_ref(), lower.as_ref());
            found == Ordering::Greater || *included && found == Ordering::Equal
        });
        let below = self.upper.as_ref().is_none_or(|(upper, included)| {
            let found = order(ty, value.as_ref(), upper.as_ref());
            found == Ordering::Less || *included && found == Ordering::Equal
        });
        above && below
    }
}

/// Values of a column, and whether NULL is among them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Domain {
    /// NULL is in it.
    pub null: bool,
    /// The values.
    pub intervals: Vec<Interval>,
}

impl Domain {
    /// What these alternatives leave, one or the other of which is true.
    pub(super) fn of(
        cx: &mut Context<'_>,
        table: &Table,
        column: usize,
        specs: &[RangeSpec],
    ) -> SqlAttempt<Domain> {
        let known = table.columns.at(column)?;
        if specs.len() > MOST_INTERVALS {
            return Ok(Domain { null: true, intervals: vec![Interval::ALL] });
        }
        let mut domain = Domain { null: false, intervals: Vec::with_capacity(specs.len()) };
        for spec in specs {
            match spec {
                RangeSpec::Null => domain.null = true,
                RangeSpec::Like(_) => domain.intervals.push(Interval::ALL),
                RangeSpec::Point(expr) => {
                    let value = expr.eval(cx)?;
                    match key_value(cx, known, value)? {
                        KeyValue::Exact(value) => domain.intervals.push(Interval::at(value)),
                        KeyValue::Null | KeyValue::Between { .. } => {}
                        KeyValue::Unknown => domain.intervals.push(Interval::ALL),
                    }
                }
                RangeSpec::Between { lower, upper } => {
                    let mut interval = Interval::ALL;
                    let mut is_empty = false;
                    if let Some((expr, included)) = lower {
                        let value = expr.eval(cx)?;
                        match key_value(cx, known, value)? {
                            KeyValue::Exact(value) => interval.lower = Some((value, *included)),
                            KeyValue::Between { above: Some(value), .. } => {
                                interval.lower = Some((value, true));
                            }
                            KeyValue::Null | KeyValue::Between { above: None, .. } => is_empty = true,
                            KeyValue::Unknown => {}
                        }
                    }
                    if let Some((expr, included)) = upper {
                        let value = expr.eval(cx)?;
                        match key_value(cx, known, value)? {
                            KeyValue::Exact(value) => interval.upper = Some((value, *included)),
                            KeyValue::Between { below: Some(value), .. } => {
                                interval.upper = Some((value, true));
                            }
                            KeyValue::Null | KeyValue::Between { below: None, .. } => is_empty = true,
                            KeyValue::Unknown => {}
                        }
                    }
                    if !is_empty && !interval.is_empty(&known.sql_type) {
                        domain.intervals.push(interval);
                    }
                }
            }
        }
        Ok(domain)
    }

    /// The column is equal to a value; to NULL, if that counts as one.
    pub(super) fn of_value(
        cx: &mut Context<'_>,
        table: &Table,
        column: usize,
        (value, null_safe): (Value, bool),
    ) -> SqlAttempt<Domain> {
        let known = table.columns.at(column)?;
        let (null, intervals) = match key_value(cx, known, value)? {
            KeyValue::Null => (null_safe, Vec::new()),
            KeyValue::Exact(value) => (false, vec![Interval::at(value)]),
            KeyValue::Between { .. } => (false, Vec::new()),
            KeyValue::Unknown => (false, vec![Interval::ALL]),
        };
        Ok(Domain { null, intervals })
    }

    /// What is in both.
    pub(super) fn meet(&self, other: &Domain, ty: &SqlType) -> Domain {
        let null = self.null && other.null;
        if self.intervals.len().saturating_mul(other.intervals.len()) > MOST_INTERVALS {
            // Either is right, and the shorter one says more.
            let shorter = if self.intervals.len() <= other.intervals.len() { self } else { other };
            return Domain { null, intervals: shorter.intervals.clone() };
        }
        let pairs = self.intervals.iter().flat_map(|one| other.intervals.iter().map(move |two| (one, two)));
        let met = pairs.map(|(one, two)| one.meet(two, ty));
        Domain { null, intervals: met.filter(|interval| !interval.is_empty(ty)).collect() }
    }

    /// Whether nothing is in it.
    pub(super) fn is_empty(&self) -> bool {
        !self.null && self.intervals.is_empty()
    }

    /// Whether a value, or NULL, is in it.
    pub(super) fn has(&self, value: &Value, ty: &SqlType) -> bool {
        match value {
            Value::Null => self.null,
            value => self.intervals.iter().any(|interval| interval.has(value, ty)),
        }
    }

    /// Its values, NULL included, if they are so many at most. Intervals of whole numbers that are as short
    /// count with each of their numbers.
    pub(super) fn values(&self, most: usize) -> Option<Vec<Value>> {
        let mut values = Vec::new();
        if self.null {
            values.push(Value::Null);
        }
        for interval in &self.intervals {
            match interval.point() {
                Some(value) => values.push(value.clone()),
                None => values.extend(numbers_within(interval, most)?),
            }
            if values.len() > most {
                return None;
            }
        }
        (values.len() <= most).then_some(values)
    }

    /// Its values if each is said by itself.
    pub(super) fn points(&self, most: usize) -> Option<Vec<Value>> {
        let all = self.intervals.iter().all(|interval| interval.point().is_some());
        if all { self.values(most) } else { None }
    }
}

/// The numbers of a short interval.
fn numbers_within(interval: &Interval, most: usize) -> Option<Vec<Value>> {
    let (Some((lower, lower_in)), Some((upper, upper_in))) = (&interval.lower, &interval.upper) else {
        return None;
    };
    match (lower, upper) {
        (Value::Int(lower), Value::Int(upper)) => {
            let first = lower.checked_add(i64::from(!lower_in))?;
            let last = upper.checked_sub(i64::from(!upper_in))?;
            let span = i128::from(last) - i128::from(first) + 1;
            (span <= most as i128).then(|| (first..=last).map(Value::Int).collect())
        }
        (Value::UInt(lower), Value::UInt(upper)) => {
            let first = lower.checked_add(u64::from(!lower_in))?;
            let last = upper.checked_sub(u64::from(!upper_in))?;
            let span = i128::from(last) - i128::from(first) + 1;
            (span <= most as i128).then(|| (first..=last).map(Value::UInt).collect())
        }
        _ => None,
    }
}
