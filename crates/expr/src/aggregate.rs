//! Aggregates: what they are of, and their arithmetic, one value after the other.

mod parts;
mod vectors;

use std::cmp::Ordering;

use palisade_base::error_catalogue::{
    ER_CUT_VALUE_GROUP_CONCAT, ER_DATA_OUT_OF_RANGE, ER_INVALID_BITWISE_OPERANDS_SIZE,
};
use palisade_base::mysql_error;
use palisade_catalog::watch::PIECE;
use palisade_catalog::{Decimal, SqlType, Value, ValueRef, Watch, json};
pub use palisade_parser::ast::AggregateKind;

use super::bits;
use super::compare::{compare_extreme, compare_typed};
use super::context::{value_bytes, values_size};
use super::convert::text_of;
use super::hash_key::append_hash_key;
use super::keys::KeyIndex;
use super::merge::{self, MergeSort, run_of};
use super::order::{SortKey, compare_keys};
use super::{Context, Expr};
use crate::SqlResult;
use crate::func::json::convert::{Form, to_json};
use crate::func::json::document_error;
use crate::func::json::make::member_name;
use crate::place::At;

/// One aggregate of a query.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AggregateSpec {
    /// Which.
    pub kind: AggregateKind,
    /// Over distinct values only.
    pub distinct: bool,
    /// Of what; empty for COUNT(*).
    pub arguments: Vec<Expr>,
    /// GROUP_CONCAT's ORDER BY.
    pub order_by: Vec<SortKey>,
    /// GROUP_CONCAT's SEPARATOR.
    pub separator: Vec<u8>,
    /// Type of its result.
    pub ty: SqlType,
}

/// What has been added up of one aggregate, for one group.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub enum Accumulator {
    Count(i64),
    Sum { count: u64, sum: Sum },
    Extreme(Value),
    Bits { value: u64 },
    BitString(Option<Vec<u8>>),
    Variance { count: u64, mean: f64, squares: f64 },
    Texts(Texts),
    Distinct(Box<DistinctValues>),
}

/// What is added of different values only.
#[derive(Debug, Clone)]
pub struct DistinctValues {
    /// The values that there have been.
    seen: KeyIndex,
    /// Memory for the key of a value.
    key: Vec<u8>,
    inner: Accumulator,
}

/// What is put together to one text.
#[derive(Debug, Clone, Default)]
pub struct Texts {
    /// Each with the keys of its place.
    texts: Vec<(Vec<Value>, Vec<u8>)>,
    /// Bytes of all of them with what separates them.
    length: usize,
}

/// A sum in the numbers of its argument.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub enum Sum {
    Integer(i128),
    Decimal(Decimal),
    Double(f64),
}

/// How a value is ordered to the extreme before it that it replaces.
fn wanted_order(kind: AggregateKind) -> Ordering {
    if kind == AggregateKind::Min { Ordering::Less } else { Ordering::Greater }
}

fn add_decimal(sum: &Decimal, value: &Decimal) -> SqlResult<Decimal> {
    sum.add(value).map_err(|_| mysql_error!(ER_DATA_OUT_OF_RANGE, "DECIMAL", "sum"))
}

/// Bytes that a set of values takes for the first of them.
const SET_OF_VALUES: usize = 200;

impl Accumulator {
    /// About how many bytes it takes before it has been given more than a value.
    pub fn size_at_first(&self) -> usize {
        let inner = match self {
            Accumulator::Distinct(values) => SET_OF_VALUES + values.inner.size_at_first(),
            _ => 0,
        };
        size_of::<Accumulator>() + inner
    }

    /// Of no value yet.
    pub fn new(spec: &AggregateSpec) -> Accumulator {
        let plain = match spec.kind {
            AggregateKind::Count => Accumulator::Count(0),
            AggregateKind::Sum | AggregateKind::Avg => {
                let sum = match spec.arguments.first().map(|argument| &argument.ty) {
                    Some(SqlType::Int { .. } | SqlType::Year | SqlType::Bit { .. }) => Sum::Integer(0),
                    _ if matches!(spec.ty, SqlType::Decimal { .. }) => Sum::Decimal(Decimal::ZERO),
                    _ => Sum::Double(0.0),
                };
                Accumulator::Sum { count: 0, sum }
            }
            AggregateKind::Min | AggregateKind::Max => Accumulator::Extreme(Value::Null),
            AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor if spec.ty.is_string() => {
                Accumulator::BitString(None)
            }
            AggregateKind::BitAnd => Accumulator::Bits { value: u64::MAX },
            AggregateKind::BitOr | AggregateKind::BitXor => Accumulator::Bits { value: 0 },
            AggregateKind::StdDevPop
            | AggregateKind::StdDevSamp
            | AggregateKind::VarPop
            | AggregateKind::VarSamp => Accumulator::Variance { count: 0, mean: 0.0, squares: 0.0 },
            AggregateKind::GroupConcat | AggregateKind::JsonArrayAgg | AggregateKind::JsonObjectAgg => {
                Accumulator::Texts(Texts::default())
            }
        };
        if spec.distinct && !matches!(spec.kind, AggregateKind::Min | AggregateKind::Max) {
            let values = DistinctValues { seen: KeyIndex::default(), key: Vec::new(), inner: plain };
            return Accumulator::Distinct(Box::new(values));
        }
        plain
    }

    /// Whether a value can be added without a conversion, and without asking what the aggregate is of.
    #[inline]
    pub fn takes(&self, value: ValueRef<'_>) -> bool {
        match self {
            Accumulator::Count(_) => true,
            Accumulator::Sum { sum: Sum::Integer(_), .. } => {
                matches!(value, ValueRef::Null | ValueRef::Int(_) | ValueRef::UInt(_))
            }
            Accumulator::Sum { sum: Sum::Decimal(_), .. } => {
                matches!(value, ValueRef::Null | ValueRef::Decimal(_))
            }
            Accumulator::Sum { sum: Sum::Double(_), .. } => {
                matches!(value, ValueRef::Null | ValueRef::Double(_))
            }
            Accumulator::Extreme(known) => matches!(
                (known, value),
                (_, ValueRef::Null)
                    | (Value::Null | Value::Int(_), ValueRef::Int(_))
                    | (Value::Null | Value::UInt(_), ValueRef::UInt(_))
                    | (Value::Null | Value::Decimal(_), ValueRef::Decimal(_))
                    | (Value::Null | Value::Double(_), ValueRef::Double(_))
                    | (Value::Null | Value::Date(_), ValueRef::Date(_))
                    | (Value::Null | Value::DateTime(_), ValueRef::DateTime(_))
            ),
            _ => false,
        }
    }

    /// Adds a value that it [takes](Self::takes). Fails if the sum has too many digits.
    #[inline]
    pub fn take(&mut self, value: ValueRef<'_>, spec: &AggregateSpec) -> SqlResult<()> {
        match (self, value) {
            (_, ValueRef::Null) => {}
            (Accumulator::Count(count), _) => *count += 1,
            (Accumulator::Sum { count, sum }, value) => {
                *count += 1;
                match (sum, value) {
                    (Sum::Integer(sum), ValueRef::Int(value)) => *sum += i128::from(value),
                    (Sum::Integer(sum), ValueRef::UInt(value)) => *sum += i128::from(value),
                    (Sum::Decimal(sum), ValueRef::Decimal(value)) => *sum = add_decimal(sum, &value)?,
                    (Sum::Double(sum), ValueRef::Double(value)) => *sum += value,
                    _ => unreachable!("it takes no such value"),
                }
            }
            (Accumulator::Extreme(known), value) => {
                // None of these is a text, which may be long.
                let order = compare_typed(value, known.as_ref(), &spec.ty, &mut |_| true);
                if known.is_null() || order == wanted_order(spec.kind) {
                    *known = value.to_owned();
                }
            }
            _ => unreachable!("it takes no such value"),
        }
        Ok(())
    }

    /// Counts rows of which nothing else is asked; false if it is no count.
    pub fn count_rows(&mut self, rows: usize) -> bool {
        match self {
            Accumulator::Count(count) => {
                *count += rows as i64;
                true
            }
            _ => false,
        }
    }

    /// One more row. Gives the bytes that it made the accumulator grow by.
    pub fn add(
        &mut self,
        cx: &mut Context<'_>,
        spec: &AggregateSpec,
        values: &[Value],
        keys: &[Value],
    ) -> SqlResult<usize> {
        let skips_null = !matches!(spec.kind, AggregateKind::JsonArrayAgg | AggregateKind::JsonObjectAgg);
        if skips_null && values.iter().any(Value::is_null) {
            return Ok(0);
        }
        if let [value] = values
            && self.takes(value.as_ref())
        {
            self.take(value.as_ref(), spec)?;
            return Ok(0);
        }
        match self {
            Accumulator::Distinct(known) => {
                let DistinctValues { seen, key, inner } = &mut **known;
                key.clear();
                let room = key.capacity();
                cx.watched(|watch| {
                    for (value, argument) in values.iter().zip(&spec.arguments) {
                        append_hash_key(value, &argument.ty, key, watch);
                    }
                })?;
                let (grown, bytes) = (key.capacity() - room, key.len() + 48);
                if !seen.insert(key) {
                    return Ok(grown);
                }
                Ok(grown + bytes + inner.add(cx, spec, values, keys)?)
            }
            Accumulator::Count(count) => {
                *count += 1;
                Ok(0)
            }
            Accumulator::Sum { count, sum } => {
                *count += 1;
                match sum {
                    Sum::Integer(sum) => *sum += cx.to_integer(values.at(0)?.as_ref())?,
                    Sum::Decimal(sum) => {
                        let value = cx.to_decimal(values.at(0)?.as_ref())?;
                        *sum = add_decimal(sum, &value)?;
                    }
                    Sum::Double(sum) => *sum += cx.to_f64(values.at(0)?.as_ref())?,
                }
                Ok(0)
            }
            Accumulator::Extreme(extreme) => {
                let value = values.at(0)?.as_ref();
                let ordering =
                    cx.watched(|watch| compare_extreme(value, extreme.as_ref(), &spec.ty, watch))?;
                let better = extreme.is_null() || ordering == wanted_order(spec.kind);
                if !better {
                    return Ok(0);
                }
                let before = value_bytes(extreme);
                *extreme = values.at(0)?.clone();
                Ok(value_bytes(extreme).saturating_sub(before))
            }
            Accumulator::Bits { value } => {
                let bits = cx.to_bits_of(values.at(0)?.as_ref(), &spec.arguments.at(0)?.ty)?;
                match spec.kind {
                    AggregateKind::BitAnd => *value &= bits,
                    AggregateKind::BitOr => *value |= bits,
                    _ => *value ^= bits,
                }
                Ok(0)
            }
            Accumulator::BitString(known) => {
                let operand = text_of(values.at(0)?, &spec.arguments.at(0)?.ty);
                let Some(known) = known else {
                    *known = Some(operand.to_vec());
                    return Ok(operand.len());
                };
                if known.len() != operand.len() {
                    return Err(mysql_error!(ER_INVALID_BITWISE_OPERANDS_SIZE));
                }
                for (known, operand) in known.chunks_mut(PIECE).zip(operand.chunks(PIECE)) {
                    cx.checkpoint(operand.len())?;
                    for (known, byte) in known.iter_mut().zip(operand) {
                        match spec.kind {
                            AggregateKind::BitAnd => *known &= byte,
                            AggregateKind::BitOr => *known |= byte,
                            _ => *known ^= byte,
                        }
                    }
                }
                Ok(0)
            }
            Accumulator::Variance { count, mean, squares } => {
                let value = cx.to_f64(values.at(0)?.as_ref())?;
                *count += 1;
                let delta = value - *mean;
                *mean += delta / *count as f64;
                *squares += delta * (value - *mean);
                Ok(0)
            }
            Accumulator::Texts(Texts { texts, length }) => {
                let mut text = Vec::new();
                match spec.kind {
                    AggregateKind::GroupConcat => {
                        // What comes after the end of the result is not kept: where there is no order, it
                        // stays there.
                        if spec.order_by.is_empty() && *length > longest_concatenation(cx) {
                            return Ok(0);
                        }
                        for (value, argument) in values.iter().zip(&spec.arguments) {
                            text.extend_from_slice(&text_of(value, &argument.ty));
                        }
                    }
                    AggregateKind::JsonArrayAgg => {
                        to_json(cx, values.at(0)?, spec.arguments.at(0)?)?.write(&mut text)
                    }
                    _ => {
                        let name = member_name(cx, values.at(0)?, spec.arguments.at(0)?)?;
                        json::quote(&name.0, &mut text);
                        text.extend_from_slice(b": ");
                        to_json(cx, values.at(1)?, spec.arguments.at(1)?)?.write(&mut text);
                    }
                }
                let bytes = text.len() + values_size(keys) + 48;
                *length += text.len() + if texts.is_empty() { 0 } else { spec.separator.len() };
                texts.push((keys.to_vec(), text));
                Ok(bytes)
            }
        }
    }

    /// The aggregate of what was added.
    pub fn finish(self, cx: &mut Context<'_>, spec: &AggregateSpec) -> SqlResult<Value> {
        Ok(match self {
            Accumulator::Distinct(values) => values.inner.finish(cx, spec)?,
            Accumulator::Count(count) => Value::Int(count),
            Accumulator::Sum { count: 0, .. } => Value::Null,
            Accumulator::Sum { count, sum } => {
                let total = match sum {
                    Sum::Double(sum) => {
                        let value = if spec.kind == AggregateKind::Avg { sum / count as f64 } else { sum };
                        return Ok(Value::Double(value));
                    }
                    Sum::Decimal(sum) => sum,
                    Sum::Integer(sum) => decimal_of(sum),
                };
                if spec.kind == AggregateKind::Avg {
                    let increment = cx.session.variables.div_precision_increment;
                    let average = total
                        .divide(&Decimal::from(count), increment)
                        .map_err(|_| mysql_error!(ER_DATA_OUT_OF_RANGE, "DECIMAL", "avg"))?;
                    let scale = match spec.ty {
                        SqlType::Decimal { scale, .. } => i32::from(scale),
                        _ => i32::from(average.scale()),
                    };
                    Value::Decimal(average.round(scale).unwrap_or(average))
                } else {
                    Value::Decimal(total)
                }
            }
            Accumulator::Extreme(value) => value,
            Accumulator::Bits { value } => Value::UInt(value),
            Accumulator::BitString(Some(bits)) => Value::bytes(bits),
            Accumulator::BitString(None) => {
                // What changes nothing that it is combined with.
                let neutral = if spec.kind == AggregateKind::BitAnd { u8::MAX } else { 0 };
                Value::bytes(vec![neutral; bits::length(spec.arguments.at(0)?) as usize])
            }
            Accumulator::Variance { count, squares, .. } => {
                let divisor = match spec.kind {
                    AggregateKind::VarSamp | AggregateKind::StdDevSamp => count.saturating_sub(1),
                    _ => count,
                };
                if divisor == 0 {
                    return Ok(Value::Null);
                }
                let variance = squares / divisor as f64;
                if !variance.is_finite() {
                    let call = format!("{}({})", spec.kind.name(), spec.arguments.at(0)?);
                    return Err(mysql_error!(ER_DATA_OUT_OF_RANGE, "DOUBLE", call));
                }
                Value::Double(match spec.kind {
                    AggregateKind::StdDevPop | AggregateKind::StdDevSamp => variance.sqrt(),
                    _ => variance,
                })
            }
            Accumulator::Texts(texts) => cx.in_one_go(|cx| texts.put_together(cx, spec))?,
        })
    }

    /// About how much work [`finish`](Self::finish) is, in units of a nanosecond.
    pub fn units_to_finish(&self) -> usize {
        match self {
            Accumulator::Distinct(values) => values.inner.units_to_finish(),
            Accumulator::Texts(Texts { texts, length }) => texts.len().saturating_mul(UNITS_A_TEXT) + length,
            _ => 0,
        }
    }
}

/// What a text that is put into its place counts as, in units of a nanosecond.
const UNITS_A_TEXT: usize = 64;

impl Texts {
    fn put_together(self, cx: &mut Context<'_>, spec: &AggregateSpec) -> SqlResult<Value> {
        if self.texts.is_empty() {
            return Ok(Value::Null);
        }
        let order = self.order(cx, spec)?;
        let json = spec.kind != AggregateKind::GroupConcat;
        let separator: &[u8] = if json { b", " } else { &spec.separator };
        let limit = if json { usize::MAX } else { longest_concatenation(cx) };
        let mut out = match spec.kind {
            AggregateKind::JsonArrayAgg => vec![b'['],
            AggregateKind::JsonObjectAgg => vec![b'{'],
            _ => Vec::new(),
        };
        for (position, number) in order.into_iter().enumerate() {
            let (_, text) = self.texts.at(number)?;
            cx.checkpoint(text.len() + UNITS_A_TEXT)?;
            if position > 0 {
                out.extend_from_slice(separator);
            }
            out.extend_from_slice(text);
            if out.len() > limit {
                let valid = spec.ty.collation().get().charset.valid_len(out.part(0..limit)?);
                out.truncate(valid);
                cx.session.warnings.warn(mysql_error!(ER_CUT_VALUE_GROUP_CONCAT, position + 1));
                break;
            }
        }
        match spec.kind {
            AggregateKind::JsonArrayAgg => out.push(b']'),
            AggregateKind::JsonObjectAgg => {
                out.push(b'}');
                // in the order of the names, each once
                let document = cx.read_json(&out, Form::Normal)?;
                let document = document.map_err(|error| document_error(error, 1, "json_objectagg"))?;
                out.clear();
                cx.watched(|watch| document.write_counted(&mut out, watch))?;
            }
            _ => {}
        }
        Ok(Value::bytes(out))
    }

    /// The numbers of the texts in the order in which they come.
    fn order(&self, cx: &mut Context<'_>, spec: &AggregateSpec) -> SqlResult<Vec<usize>> {
        let all: Vec<usize> = (0..self.texts.len()).collect();
        if spec.order_by.is_empty() {
            return Ok(all);
        }
        let longest = self.texts.iter().map(|(keys, _)| values_size(keys)).max();
        let mut sort = MergeSort::new(all, run_of(longest.unwrap_or(0)));
        let keys = |number: usize| self.texts.get(number).map_or(&[][..], |(keys, _)| keys);
        loop {
            let step = |watch: Watch<'_>| {
                sort.step(&mut |left: &usize, right: &usize| {
                    compare_keys(keys(*left), keys(*right), &spec.order_by, watch)
                })
            };
            if cx.watched(step)? {
                return Ok(sort.into_items());
            }
            cx.checkpoint(merge::RUN * UNITS_A_TEXT)?;
        }
    }
}

/// Bytes that a GROUP_CONCAT has at most.
fn longest_concatenation(cx: &Context<'_>) -> usize {
    usize::try_from(cx.session.variables.group_concat_max_len).unwrap_or(usize::MAX)
}

fn decimal_of(value: i128) -> Decimal {
    match (i64::try_from(value), u64::try_from(value)) {
        (Ok(value), _) => Decimal::from(value),
        (_, Ok(value)) => Decimal::from(value),
        _ => Decimal::parse(value.to_string().as_bytes()).0,
    }
}
