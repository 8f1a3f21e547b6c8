//! The access path of one table: which index, and which ranges of its keys.
//!
//! A path is symbolic: values are expressions over parameters and the rows of tables read before. The byte
//! ranges are made when the scan opens ([`Access::ranges`]). They contain every row the conditions let
//! through; conditions that they do not decide alone stay in the scan's filter.

use std::sync::Arc;

use palisade_catalog::collation::LikeRest;
use palisade_catalog::histogram::{Histogram, RangeEnd};
use palisade_catalog::types::IntWidth;
use palisade_catalog::{Column, Decimal, IndexPart, SqlType, Value, ValueRef, key};
use palisade_engine::{Bound, KeyRange, Table};
use palisade_expr::convert::text_of;
use palisade_expr::place::At;
use palisade_expr::{Context, Expr, SqlAttempt, SqlError, SqlResult};
use smallvec::SmallVec;

use crate::partition::prune::Pruning;

/// A path to the rows of a table.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// Number of the index; 0 is the clustered one.
    pub index: usize,
    /// Values of leading parts.
    pub equals: Vec<KeyPart>,
    /// Ranges of the part that follows; empty for all of it.
    pub alternatives: Vec<RangeSpec>,
    /// All parts of a unique index are given: at most one row.
    pub unique: bool,
    /// From the highest key to the lowest.
    pub backward: bool,
    /// The index alone has all columns that are wanted.
    pub covering: bool,
    /// Only some rows of each group of entries are read.
    pub loose: Option<Loose>,
    /// How many parts there are between the leading ones and the part of the ranges, each of whose values is
    /// looked for.
    pub skipped: usize,
    /// Which partitions are read; `None` of a table that has none.
    pub pruning: Option<Arc<Pruning>>,
    /// Nothing relies on the order of the index: partitions are read one after the other.
    pub any_order: bool,
}

/// A loose scan: of all entries that begin with the same values it reads the first, and jumps to the next
/// values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loose {
    /// How many leading parts have the same values.
    pub parts: usize,
    /// Of each group the entry with the lowest key of the part behind those is read, too, that is not NULL.
    pub lowest: bool,
    /// The same with the highest key.
    pub highest: bool,
}

/// Alias that says what an access by index is.
pub type IndexAccess = Access;

/// A value for a part of a key.
#[derive(Debug, Clone)]
pub struct KeyPart {
    /// The value.
    pub value: Expr,
    /// NULL equals NULL (`<=>`, `IS NULL`).
    pub null_safe: bool,
}

/// Some values of one part of a key.
#[derive(Debug, Clone)]
pub enum RangeSpec {
    /// One value.
    Point(Expr),
    /// NULL.
    Null,
    /// Everything between two ends; each with its value and whether that is in.
    Between {
        /// The lower end.
        lower: Option<(Expr, bool)>,
        /// The upper end.
        upper: Option<(Expr, bool)>,
    },
    /// Texts that match a LIKE pattern: those that begin with its literal prefix.
    Like(Expr),
}

/// What an access comes down to.
#[derive(Debug)]
pub enum Ranges {
    /// The row with this key.
    Point(Vec<u8>),
    /// Disjoint ranges in order of their keys.
    Ranges(Vec<KeyRange>),
}

/// A value as a column's type can hold it.
pub(crate) enum KeyValue {
    /// NULL.
    Null,
    /// The column can hold just this value.
    Exact(Value),
    /// It cannot: these are its neighbours among the column's values, where there are any.
    Between { below: Option<Value>, above: Option<Value> },
    /// It cannot, and the neighbours are not known.
    Unknown,
}

impl Access {
    /// Calls `look` on the expressions of its keys.
    pub fn each_expr<'a>(&'a self, look: &mut dyn FnMut(&'a Expr)) {
        self.equals.iter().for_each(|part| look(&part.value));
        for range in &self.alternatives {
            match range {
                RangeSpec::Point(value) | RangeSpec::Like(value) => look(value),
                RangeSpec::Null => {}
                RangeSpec::Between { lower, upper } => {
                    lower.iter().chain(upper).for_each(|(value, _)| look(value));
                }
            }
        }
    }

    /// Whether all entries that it finds are equal in all parts of the index: they are sorted by primary key.
    pub fn finds_equal_entries(&self, table: &Table) -> bool {
        let parts = table.indexes.get(self.index).map_or(0, |index| index.parts.len());
        self.alternatives.is_empty() && self.equals.len() >= parts
    }

    /// The ranges for the values that the expressions have now.
    pub fn ranges(&self, cx: &mut Context<'_>, table: &Arc<Table>) -> SqlAttempt<Ranges> {
        let index = table.indexes.at(self.index)?;
        let mut values: SmallVec<[Value; 2]> = SmallVec::new();
        for (part, given) in index_columns(table, self.index).zip(&self.equals) {
            let value = given.value.eval(cx)?;
            match key_value(cx, table.columns.at(part)?, value)? {
                KeyValue::Exact(value) => values.push(value),
                KeyValue::Null if given.null_safe && table.columns.at(part)?.nullable => {
                    values.push(Value::Null)
                }
                _ => return Ok(Ranges::Ranges(Vec::new())),
            }
        }
        let refs: SmallVec<[ValueRef<'_>; 4]> = values.iter().map(Value::as_ref).collect();
        let mut prefix = Vec::with_capacity(if refs.is_empty() { 0 } else { 16 });
        if key::search_key(table, self.index, &refs, &mut prefix).is_err() {
            return Ok(Ranges::Ranges(Vec::new()));
        }
        if self.unique && values.len() == index.parts.len() && !values.iter().any(Value::is_null) {
            return Ok(Ranges::Point(prefix));
        }
        if self.alternatives.is_empty() || self.skipped > 0 {
            return Ok(Ranges::Ranges(vec![prefix_range(prefix)]));
        }
        Ok(Ranges::Ranges(self.ranges_behind(cx, table, &values)?))
    }

    /// The ranges behind these values of all parts before the part that they are about.
    pub fn ranges_behind(
        &self,
        cx: &mut Context<'_>,
        table: &Arc<Table>,
        values: &[Value],
    ) -> SqlAttempt<Vec<KeyRange>> {
        let part = index_parts(table, self.index).nth(values.len());
        let part = part.ok_or_else(|| SqlError::internal("a range is about a part of its index"))?;
        let column = table.columns.at(usize::from(part.column))?;
        let mut ranges = Vec::with_capacity(self.alternatives.len());
        for spec in &self.alternatives {
            if let Some(range) = spec_range(cx, table, self.index, values, column, part.descending, spec)? {
                ranges.push(range);
            }
        }
        Ok(disjoint(ranges))
    }
}

/// The parts of an index's entries: its own, and behind them those of the clustered key that are not among
/// them. A column's prefix is another part than all of it.
pub fn index_parts(table: &Table, index: usize) -> impl Iterator<Item = &IndexPart> {
    let parts = |index: usize| table.indexes.get(index).map_or(&[][..], |index| &index.parts);
    let own = parts(index);
    let clustered = if index == 0 { &[][..] } else { parts(0) };
    let is_own = |part: &&IndexPart| {
        own.iter().any(|known| known.column == part.column && known.prefix == part.prefix)
    };
    own.iter().chain(clustered.iter().filter(move |part| !is_own(part)))
}

/// Columns of [`index_parts`].
pub fn index_columns(table: &Table, index: usize) -> impl Iterator<Item = usize> + '_ {
    index_parts(table, index).map(|part| usize::from(part.column))
}

/// All keys that begin so.
pub fn prefix_range(prefix: Vec<u8>) -> KeyRange {
    if prefix.is_empty() {
        return KeyRange::default();
    }
    let mut end = prefix.clone();
    let upper = if key::prefix_successor(&mut end) { Bound::Excluded(end) } else { Bound::Unbounded };
    KeyRange { lower: Bound::Included(prefix), upper }
}

fn successor(mut prefix: Vec<u8>) -> Option<Vec<u8>> {
    key::prefix_successor(&mut prefix).then_some(prefix)
}

fn spec_range(
    cx: &mut Context<'_>,
    table: &Table,
    index: usize,
    equals: &[Value],
    column: &Column,
    descending: bool,
    spec: &RangeSpec,
) -> SqlAttempt<Option<KeyRange>> {
    let encode = |value: Option<&Value>| -> Option<Vec<u8>> {
        let mut refs: SmallVec<[ValueRef<'_>; 4]> = equals.iter().map(Value::as_ref).collect();
        refs.extend(value.map(Value::as_ref));
        let mut out = Vec::with_capacity(24);
        key::search_key(table, index, &refs, &mut out).ok()?;
        Some(out)
    };
    let (lower, upper) = match spec {
        RangeSpec::Point(expr) => {
            let value = expr.eval(cx)?;
            return Ok(match key_value(cx, column, value)? {
                KeyValue::Exact(value) => encode(Some(&value)).map(prefix_range),
                _ => None,
            });
        }
        RangeSpec::Null => return Ok(encode(Some(&Value::Null)).map(prefix_range)),
        RangeSpec::Like(pattern) => {
            let value = pattern.eval(cx)?;
            let Value::Bytes(text) = &value else { return Ok(None) };
            let literal = column.sql_type.collation().get().like_prefix(text, b"\\");
            if literal.rest == LikeRest::Nothing && literal.literal.is_empty() {
                return Ok(encode(Some(&Value::bytes(""))).map(prefix_range));
            }
            let refs: Vec<ValueRef<'_>> = equals.iter().map(Value::as_ref).collect();
            let mut out = Vec::new();
            if key::search_key_for_prefix(table, index, &refs, &literal.literal, &mut out).is_err() {
                return Ok(encode(None).map(prefix_range));
            }
            return Ok(Some(prefix_range(out)));
        }
        RangeSpec::Between { lower, upper } => (lower, upper),
    };
    // In value order first; a descending part turns the ends around afterwards.
    let low = match lower {
        None => End::Open,
        Some((expr, included)) => {
            let value = expr.eval(cx)?;
            match key_value(cx, column, value)? {
                KeyValue::Null => return Ok(None),
                KeyValue::Exact(value) => End::At(value, *included),
                KeyValue::Between { above: Some(value), .. } => End::At(value, true),
                KeyValue::Between { above: None, .. } => return Ok(None),
                KeyValue::Unknown => End::Open,
            }
        }
    };
    let high = match upper {
        None => End::Open,
        Some((expr, included)) => {
            let value = expr.eval(cx)?;
            match key_value(cx, column, value)? {
                KeyValue::Null => return Ok(None),
                KeyValue::Exact(value) => End::At(value, *included),
                KeyValue::Between { below: Some(value), .. } => End::At(value, true),
                KeyValue::Between { below: None, .. } => return Ok(None),
                KeyValue::Unknown => End::Open,
            }
        }
    };
    let (first, last) = if descending { (&high, &low) } else { (&low, &high) };
    let all = || encode(None).map(prefix_range).unwrap_or_default();
    let null = if column.nullable { encode(Some(&Value::Null)) } else { None };
    let lower = match first {
        End::Nothing => return Ok(None),
        // NULLs come first in ascending order, last in descending order; no range of values contains them.
        End::Open => match (&null, descending) {
            (Some(null), false) => successor(null.clone()).map_or_else(|| all().lower, Bound::Included),
            _ => all().lower,
        },
        End::At(value, included) => {
            let Some(encoded) = encode(Some(value)) else { return Ok(None) };
            if *included {
                Bound::Included(encoded)
            } else {
                match successor(encoded) {
                    Some(encoded) => Bound::Included(encoded),
                    None => return Ok(None),
                }
            }
        }
    };
    let upper = match last {
        End::Nothing => return Ok(None),
        End::Open => match (null, descending) {
            (Some(null), true) => Bound::Excluded(null),
            _ => all().upper,
        },
        End::At(value, included) => {
            let Some(encoded) = encode(Some(value)) else { return Ok(None) };
            if *included {
                successor(encoded).map_or(Bound::Unbounded, Bound::Excluded)
            } else {
                Bound::Excluded(encoded)
            }
        }
    };
    Ok(Some(KeyRange { lower, upper }))
}

/// The part of all rows of a table whose value in a column is among those that `spec` says, as its histogram
/// shows it; `None` if that cannot be told.
pub(super) fn part_within(
    cx: &mut Context<'_>,
    column: &Column,
    histogram: &Histogram,
    spec: &RangeSpec,
) -> SqlAttempt<Option<f64>> {
    let ty = &column.sql_type;
    let (lower, upper) = match spec {
        RangeSpec::Null => return Ok(Some(histogram.nulls)),
        RangeSpec::Point(expr) => {
            let value = expr.eval(cx)?;
            return Ok(match key_value(cx, column, value)? {
                KeyValue::Exact(value) => Some(histogram.equal(ty, &value)),
                KeyValue::Null | KeyValue::Between { .. } => Some(0.0),
                KeyValue::Unknown => None,
            });
        }
        RangeSpec::Like(pattern) => {
            let Value::Bytes(text) = pattern.eval(cx)? else { return Ok(None) };
            let literal = ty.collation().get().like_prefix(&text, b"\\");
            return Ok(match literal.rest {
                LikeRest::Nothing => Some(histogram.equal(ty, &Value::bytes(&literal.literal[..]))),
                LikeRest::Anything => Some(histogram.beginning(ty, &literal.literal)),
                LikeRest::Pattern => None,
            });
        }
        RangeSpec::Between { lower, upper } => (lower, upper),
    };
    // What lies between two values of the column is at its neighbours.
    let mut end = |end: &Option<(Expr, bool)>, is_lower: bool| -> SqlAttempt<Option<End>> {
        let Some((expr, included)) = end else { return Ok(Some(End::Open)) };
        let value = expr.eval(cx)?;
        Ok(match (key_value(cx, column, value)?, is_lower) {
            (KeyValue::Exact(value), _) => Some(End::At(value, *included)),
            (KeyValue::Between { above: Some(value), .. }, true)
            | (KeyValue::Between { below: Some(value), .. }, false) => Some(End::At(value, true)),
            (KeyValue::Null | KeyValue::Between { .. }, _) => Some(End::Nothing),
            (KeyValue::Unknown, _) => None,
        })
    };
    let (Some(low), Some(high)) = (end(lower, true)?, end(upper, false)?) else { return Ok(None) };
    Ok(match (&low, &high) {
        (End::Nothing, _) | (_, End::Nothing) => Some(0.0),
        _ => Some(histogram.between(ty, low.as_ref(), high.as_ref())),
    })
}

/// An end of a range.
enum End {
    Open,
    At(Value, bool),
    /// No value is beyond it.
    Nothing,
}

impl End {
    fn as_ref(&self) -> RangeEnd<'_> {
        match self {
            End::At(value, included) => Some((value, *included)),
            End::Open | End::Nothing => None,
        }
    }
}

/// Sorted, without empty ranges, overlapping ones merged. Lower bounds are inclusive, upper ones exclusive.
fn disjoint(mut ranges: Vec<KeyRange>) -> Vec<KeyRange> {
    ranges.retain(|range| match &range.upper {
        Bound::Unbounded => true,
        Bound::Included(end) | Bound::Excluded(end) => lower_end(&range.lower) < end.as_slice(),
    });
    if ranges.len() < 2 {
        return ranges;
    }
    ranges.sort_by(|left, right| lower_end(&left.lower).cmp(lower_end(&right.lower)));
    let mut merged: Vec<KeyRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        let Some(last) = merged.last_mut() else {
            merged.push(range);
            continue;
        };
        let overlaps = match &last.upper {
            Bound::Unbounded => true,
            Bound::Included(end) | Bound::Excluded(end) => lower_end(&range.lower) < end.as_slice(),
        };
        if !overlaps {
            merged.push(range);
            continue;
        }
        let extends = match (&last.upper, &range.upper) {
            (Bound::Unbounded, _) => false,
            (_, Bound::Unbounded) => true,
            (Bound::Included(old) | Bound::Excluded(old), Bound::Included(new) | Bound::Excluded(new)) => {
                new > old
            }
        };
        if extends {
            last.upper = range.upper;
        }
    }
    merged
}

/// `value` as `column` can hold it.
pub(crate) fn key_value(cx: &mut Context<'_>, column: &Column, value: Value) -> SqlResult<KeyValue> {
    let value = match value {
        Value::Null => return Ok(KeyValue::Null),
        // A binary literal, if a text is compared with it.
        Value::Bit { .. } if column.sql_type.is_string() => Value::Bytes(text_of(&value, &SqlType::Null)),
        value => value,
    };
    Ok(match &column.sql_type {
        SqlType::Int { width, unsigned } => return integer_key(cx, *width, *unsigned, &value),
        SqlType::Decimal { precision, scale, .. } => {
            let decimal = cx.to_decimal(value.as_ref())?;
            match decimal.round(i32::from(*scale)) {
                Ok(rounded) if rounded == decimal && decimal.fits(*precision, *scale) => {
                    KeyValue::Exact(Value::Decimal(rounded))
                }
                _ => KeyValue::Unknown,
            }
        }
        SqlType::Double { .. } => KeyValue::Exact(Value::Double(cx.to_f64(value.as_ref())?)),
        SqlType::Float { .. } => {
            let double = cx.to_f64(value.as_ref())?;
            let float = double as f32;
            if f64::from(float) == double { KeyValue::Exact(Value::Float(float)) } else { KeyValue::Unknown }
        }
        SqlType::Char { .. } | SqlType::VarChar { .. } | SqlType::Text { .. } => match value {
            Value::Bytes(text) => KeyValue::Exact(Value::Bytes(text)),
            _ => KeyValue::Unknown,
        },
        SqlType::VarBinary { .. } | SqlType::Blob { .. } => match value {
            Value::Bytes(text) => KeyValue::Exact(Value::Bytes(text)),
            _ => KeyValue::Unknown,
        },
        SqlType::Binary { length } => match value {
            Value::Bytes(text) if text.len() == *length as usize => KeyValue::Exact(Value::Bytes(text)),
            _ => KeyValue::Unknown,
        },
        SqlType::Date => match cx.datetime_to_compare(value.as_ref())? {
            Some(datetime) if datetime.time().micros() == 0 => KeyValue::Exact(Value::Date(datetime.date())),
            Some(_) => KeyValue::Unknown,
            None => KeyValue::Unknown,
        },
        SqlType::DateTime { fsp } => match cx.datetime_to_compare(value.as_ref())? {
            Some(datetime) if has_digits(datetime.micros(), *fsp) => {
                KeyValue::Exact(Value::DateTime(datetime))
            }
            Some(_) => KeyValue::Unknown,
            None => KeyValue::Unknown,
        },
        SqlType::Timestamp { fsp } => match cx.datetime_to_compare(value.as_ref())? {
            Some(datetime) if has_digits(datetime.micros(), *fsp) => match cx.zone().to_timestamp(datetime) {
                Some(timestamp) => KeyValue::Exact(Value::Timestamp(timestamp)),
                None => KeyValue::Unknown,
            },
            Some(_) => KeyValue::Unknown,
            None => KeyValue::Unknown,
        },
        SqlType::Time { fsp } => match cx.time_to_compare(value.as_ref())? {
            Some(time) if has_digits((time.micros().unsigned_abs() % 1_000_000) as u32, *fsp) => {
                KeyValue::Exact(Value::Time(time))
            }
            Some(_) => KeyValue::Unknown,
            None => KeyValue::Unknown,
        },
        SqlType::Year => match cx.to_integer(value.as_ref())? {
            year @ (0 | 1901..=2155) => KeyValue::Exact(Value::Year(year as u16)),
            _ => KeyValue::Unknown,
        },
        _ => KeyValue::Unknown,
    })
}

fn has_digits(micros: u32, fsp: u8) -> bool {
    micros.is_multiple_of(10u32.pow(u32::from(6 - fsp.min(6))))
}

fn integer_key(cx: &mut Context<'_>, width: IntWidth, unsigned: bool, value: &Value) -> SqlResult<KeyValue> {
    let (least, most) = if unsigned {
        (0, i128::from(width.unsigned_max()))
    } else {
        let (least, most) = width.signed_range();
        (i128::from(least), i128::from(most))
    };
    let column_value = |wide: i128| if unsigned { Value::UInt(wide as u64) } else { Value::Int(wide as i64) };
    let (below, above) = match value {
        Value::Int(value) => (i128::from(*value), i128::from(*value)),
        Value::UInt(value) => (i128::from(*value), i128::from(*value)),
        Value::Decimal(decimal) => decimal_neighbours(decimal),
        other => {
            let double = cx.to_f64(other.as_ref())?;
            if double.is_nan() {
                return Ok(KeyValue::Unknown);
            }
            (double.floor() as i128, double.ceil() as i128)
        }
    };
    Ok(if above < least {
        KeyValue::Between { below: None, above: Some(column_value(least)) }
    } else if below > most {
        KeyValue::Between { below: Some(column_value(most)), above: None }
    } else if below == above {
        KeyValue::Exact(column_value(below))
    } else {
        KeyValue::Between {
            below: (below >= least).then(|| column_value(below)),
            above: (above <= most).then(|| column_value(above)),
        }
    })
}

fn decimal_neighbours(decimal: &Decimal) -> (i128, i128) {
    let wide = |decimal: Decimal| match (decimal.to_i64(), decimal.to_u64()) {
        (Ok(value), _) => i128::from(value),
        (_, Ok(value)) => i128::from(value),
        _ if decimal.is_negative() => i128::from(i64::MIN) - 1,
        _ => i128::from(u64::MAX) + 1,
    };
    let beyond = if decimal.is_negative() { i128::from(i64::MIN) - 1 } else { i128::from(u64::MAX) + 1 };
    (decimal.floor().map_or(beyond, wide), decimal.ceil().map_or(beyond, wide))
}

/// The lower end of a range as bytes to sort by.
pub fn lower_end(bound: &Bound) -> &[u8] {
    match bound {
        Bound::Unbounded => &[],
        Bound::Included(key) | Bound::Excluded(key) => key,
    }
}
