//! Pruning: which partitions can have rows for which conditions hold.
//!
//! The planner gives a path the conditions of its table whose other sides are in place when the path is
//! opened: constants, parameters, columns of tables read before. They are evaluated then, once for each time
//! it is opened. So a prepared statement is pruned by the values it is executed with, and the inner side of a
//! join by each row of the outer one.
//!
//! A conjunction leaves of each column a set of values (`domain`), and these leave partitions: those of
//! single values, of all rows of values if there are few of them; of intervals where the method keeps the
//! order. Of OR the partitions of both sides are left. A condition that is about anything else leaves all.

use std::collections::BTreeMap;
use std::sync::Arc;

use palisade_catalog::{Date, DateTime, PartitionSet, Timestamp, Value, ValueRef};
use palisade_engine::Table;
use palisade_expr::place::At;
use palisade_expr::{Context, Expr, Node, SqlAttempt};

use super::domain::{Domain, Edge, Interval};
use super::function::{Course, Function, number_of};
use super::{Method, PartitionScheme, SchemeColumn, Spread, member, order, part_below};
use crate::access::RangeSpec;
use crate::conditions::{equality, range_specs, spec_exprs};

/// Rows of values of several columns that are looked at at most.
const MOST_ROWS: usize = 1024;
/// Numbers of an interval that are hashed one by one at most, as in MySQL.
const MOST_NUMBERS: usize = 32;

/// What a path knows of the partitions it reads.
#[derive(Debug)]
pub struct Pruning {
    /// Where the table's rows are placed.
    pub slot: usize,
    /// How the table is partitioned.
    pub scheme: Arc<PartitionScheme>,
    /// PARTITION (...) of the statement.
    pub chosen: Option<Arc<PartitionSet>>,
    /// The conditions, all of which hold.
    pub conditions: Vec<Expr>,
    /// The partitions that those of them leave that are known when the statement is planned.
    pub planned: PartitionSet,
}

/// What is left of each column.
type Domains = BTreeMap<usize, Domain>;

impl Pruning {
    /// The partitions that are left now.
    pub fn partitions(&self, cx: &mut Context<'_>, table: &Table) -> SqlAttempt<PartitionSet> {
        let conditions: Vec<&Expr> = self.conditions.iter().collect();
        let prune = Prune { slot: self.slot, scheme: &self.scheme, table };
        let mut set = prune.conjunction(cx, &conditions)?;
        if let Some(chosen) = &self.chosen {
            set.intersect_with(chosen);
        }
        Ok(set)
    }
}

/// Whether a condition may say something of a column by which the table in `slot` is partitioned: it does not
/// read the slot on its other side.
pub fn is_about(scheme: &PartitionScheme, table: &Table, slot: usize, condition: &Expr) -> bool {
    match &condition.node {
        Node::And(parts) => parts.iter().any(|part| is_about(scheme, table, slot, part)),
        Node::Or(parts) => parts.iter().all(|part| is_about(scheme, table, slot, part)),
        _ => scheme.columns().iter().any(|column| fact(table, slot, *column, condition).is_some()),
    }
}

/// Whether the other sides of a condition on the table in `slot` can be evaluated when the statement is
/// planned: they read no other slot, be it of a block around.
pub fn is_known(condition: &Expr, slot: usize) -> bool {
    let mut known = true;
    condition.walk(&mut |part| match part.node {
        Node::Subquery(_) => known = false,
        Node::Column { slot: read, .. } => known &= read == slot,
        _ => {}
    });
    known && !condition.is_impure() && !condition.reads_user_variables()
}

/// What a condition says of a column.
enum Fact {
    Equal(Expr, bool),
    Ranges(Vec<RangeSpec>),
}

fn fact(table: &Table, slot: usize, column: usize, condition: &Expr) -> Option<Fact> {
    let ty = &table.columns.get(column)?.sql_type;
    let is_own = |expr: &Expr| {
        let mut reads = false;
        expr.walk(&mut |part| {
            reads |= matches!(&part.node, Node::Column { slot: read, .. } if *read == slot)
        });
        reads
    };
    if let Some((value, null_safe)) = equality(condition, slot, column, ty) {
        return (!is_own(&value)).then_some(Fact::Equal(value, null_safe));
    }
    let specs = range_specs(condition, slot, column, ty)?;
    let mut own = false;
    specs.iter().for_each(|spec| spec_exprs(spec, &mut |expr| own |= is_own(expr)));
    (!own).then_some(Fact::Ranges(specs))
}

struct Prune<'p> {
    slot: usize,
    scheme: &'p PartitionScheme,
    table: &'p Table,
}

impl Prune<'_> {
    /// The partitions for which all of the conditions may hold.
    fn conjunction(&self, cx: &mut Context<'_>, conditions: &[&Expr]) -> SqlAttempt<PartitionSet> {
        let mut domains = Domains::new();
        let mut set = PartitionSet::all(self.scheme.count());
        let mut rest: Vec<&Expr> = conditions.to_vec();
        while let Some(condition) = rest.pop() {
            if let Node::And(parts) = &condition.node {
                rest.extend(parts);
                continue;
            }
            if self.note(cx, condition, &mut domains)? {
                continue;
            }
            if let Node::Or(parts) = &condition.node {
                let mut either = PartitionSet::none();
                for part in parts {
                    either.unite_with(&self.conjunction(cx, &[part])?);
                }
                set.intersect_with(&either);
            }
        }
        set.intersect_with(&self.of_domains(cx, &domains)?);
        Ok(set)
    }

    /// Notes what a condition says of a column, if it is about one.
    fn note(&self, cx: &mut Context<'_>, condition: &Expr, domains: &mut Domains) -> SqlAttempt<bool> {
        for column in self.scheme.columns() {
            let domain = match fact(self.table, self.slot, *column, condition) {
                None => continue,
                Some(Fact::Equal(value, null_safe)) => {
                    let value = value.eval(cx)?;
                    Domain::of_value(cx, self.table, *column, (value, null_safe))?
                }
                Some(Fact::Ranges(specs)) => Domain::of(cx, self.table, *column, &specs)?,
            };
            let ty = &self.table.columns.at(*column)?.sql_type;
            let met = match domains.get(column) {
                Some(known) => known.meet(&domain, ty),
                None => domain,
            };
            domains.insert(*column, met);
            return Ok(true);
        }
        Ok(false)
    }

    /// The partitions of rows whose columns have such values.
    fn of_domains(&self, cx: &mut Context<'_>, domains: &Domains) -> SqlAttempt<PartitionSet> {
        if domains.values().any(Domain::is_empty) {
            return Ok(PartitionSet::none());
        }
        if domains.is_empty() {
            return Ok(PartitionSet::all(self.scheme.count()));
        }
        let parts = self.parts(cx, domains)?;
        let Some((spread, count)) = &self.scheme.subpartitions else { return Ok(parts) };
        let within = self.spread(cx, spread, *count, domains)?;
        let pairs = parts.iter().flat_map(|part| within.iter().map(move |own| part * count + own));
        Ok(pairs.collect())
    }

    fn parts(&self, cx: &mut Context<'_>, domains: &Domains) -> SqlAttempt<PartitionSet> {
        let count = self.scheme.part_count();
        match &self.scheme.method {
            Method::Spread(spread, count) => self.spread(cx, spread, *count, domains),
            Method::Range(function, bounds) => {
                let find = |number: Option<i128>| part_below(bounds, number);
                let between = |lower: Number, upper: Number| {
                    let first = lower.map_or(Some(0), |(number, _)| part_below(bounds, Some(number)));
                    let last = match upper {
                        None => bounds.len(),
                        Some((number, included)) => {
                            let last = if included { Some(number) } else { number.checked_sub(1) };
                            last.map_or(0, |last| {
                                part_below(bounds, Some(last)).map_or(bounds.len(), |at| at + 1)
                            })
                        }
                    };
                    first.map_or(0..0, |first| first..last.max(first)).collect()
                };
                self.of_function(cx, function, domains, (count, &find, &between))
            }
            Method::List(function, members, null) => {
                let find = |number: Option<i128>| match number {
                    Some(number) => member(members, number),
                    None => *null,
                };
                let between = |lower: Number, upper: Number| {
                    let above = |number: i128| {
                        lower.is_none_or(|(low, included)| number > low || included && number == low)
                    };
                    let below = |number: i128| {
                        upper.is_none_or(|(high, included)| number < high || included && number == high)
                    };
                    let within = members.iter().filter(|(number, _)| above(*number) && below(*number));
                    within.map(|(_, part)| *part).collect()
                };
                self.of_function(cx, function, domains, (count, &find, &between))
            }
            Method::RangeColumns(columns, bounds) => Ok(range_columns(columns, bounds, domains)),
            Method::ListColumns(columns, members) => {
                let may_be = |values: &[Value]| {
                    columns.iter().zip(values).all(|(column, value)| {
                        domains.get(&column.position).is_none_or(|domain| domain.has(value, &column.ty))
                    })
                };
                Ok(members.iter().filter(|(values, _)| may_be(values)).map(|(_, part)| *part).collect())
            }
        }
    }

    /// The parts of rows for which the columns of a function have such values.
    fn of_function(
        &self,
        cx: &mut Context<'_>,
        function: &Function,
        domains: &Domains,
        (count, find, between): (usize, &Find<'_>, &Between<'_>),
    ) -> SqlAttempt<PartitionSet> {
        let all = || PartitionSet::all(count);
        if let Some(rows) = rows_of(function.columns(), domains, false) {
            let mut set = PartitionSet::none();
            for row in rows {
                if let Some(part) = find(function.value(cx, &values_in(function.columns(), &row))?) {
                    set.insert(part);
                }
            }
            return Ok(set);
        }
        let [column] = function.columns() else { return Ok(all()) };
        let Some(domain) = domains.get(&column.position) else { return Ok(all()) };
        let course = function.course();
        if course == Course::Any {
            return Ok(all());
        }
        let mut set = PartitionSet::none();
        // NULL is the value of NULL.
        let may_be_null = domain.null || course == Course::Rising { may_be_null: true };
        if let Some(part) = find(None).filter(|_| may_be_null) {
            set.insert(part);
        }
        for Interval { lower, upper } in &domain.intervals {
            let (Some(lower), Some(upper)) = (
                self.end(cx, (function, column, course), lower, true)?,
                self.end(cx, (function, column, course), upper, false)?,
            ) else {
                return Ok(all());
            };
            set.unite_with(&between(lower, upper));
        }
        Ok(set)
    }

    /// The value of a rising function at the end of an interval; `None` if it cannot be told.
    fn end(
        &self,
        cx: &mut Context<'_>,
        (function, column, course): (&Function, &SchemeColumn, Course),
        edge: &Edge,
        is_lower: bool,
    ) -> SqlAttempt<Option<Number>> {
        let Some((value, included)) = edge else { return Ok(Some(None)) };
        if course == Course::Same {
            let number = number_of(value.as_ref()).map(|number| {
                // Numbers are whole: none is between two.
                if *included { (number, true) } else { (number + if is_lower { 1 } else { -1 }, true) }
            });
            return Ok(number.map(Some));
        }
        let ty = &self.table.columns.at(column.position)?.sql_type;
        let value = match (*included, is_lower) {
            (false, false) => before(value, ty.fraction_digits()),
            _ => Some(value.clone()),
        };
        let Some(value) = value else { return Ok(None) };
        let columns = std::slice::from_ref(column);
        let number = function.value(cx, &values_in(columns, std::slice::from_ref(&value)))?;
        Ok(number.map(|number| Some((number, true))))
    }

    /// The numbers that a hash gives of rows whose columns have such values.
    fn spread(
        &self,
        cx: &mut Context<'_>,
        spread: &Spread,
        count: usize,
        domains: &Domains,
    ) -> SqlAttempt<PartitionSet> {
        let columns = match spread {
            Spread::Value { function, .. } => function.columns(),
            Spread::Key { columns, .. } => columns,
        };
        let is_number = matches!(spread, Spread::Value { .. });
        // The two zeros of a double are equal and do not have one hash.
        let is_zero = |value: &Value| match value {
            Value::Double(number) => *number == 0.0,
            Value::Float(number) => *number == 0.0,
            _ => false,
        };
        let rows = rows_of(columns, domains, is_number).filter(|rows| !rows.iter().flatten().any(is_zero));
        let Some(rows) = rows else { return Ok(PartitionSet::all(count)) };
        let mut set = PartitionSet::none();
        for row in rows {
            set.insert(spread.number(cx, &values_in(columns, &row), count)?);
        }
        Ok(set)
    }
}

/// An end of an interval of numbers, and whether it is within; `None` is beyond all.
type Number = Option<(i128, bool)>;
/// The part of a value.
type Find<'f> = dyn Fn(Option<i128>) -> Option<usize> + 'f;
/// The parts of the values between two ends.
type Between<'f> = dyn Fn(Number, Number) -> PartitionSet + 'f;

/// The rows of values that columns may have, if they are few. With `numbers` short intervals of whole numbers
/// count as the numbers in them, where there is one column.
fn rows_of(columns: &[SchemeColumn], domains: &Domains, numbers: bool) -> Option<Vec<Vec<Value>>> {
    let mut rows: Vec<Vec<Value>> = vec![Vec::with_capacity(columns.len())];
    for column in columns {
        let domain = domains.get(&column.position)?;
        let values = match (numbers && columns.len() == 1, domain.points(MOST_ROWS)) {
            (_, Some(points)) => points,
            (true, None) => domain.values(MOST_NUMBERS)?,
            (false, None) => return None,
        };
        if rows.len().saturating_mul(values.len()) > MOST_ROWS {
            return None;
        }
        let longer = |row: &Vec<Value>, value: &Value| {
            let mut row = row.clone();
            row.push(value.clone());
            row
        };
        rows = rows.iter().flat_map(|row| values.iter().map(move |value| longer(row, value))).collect();
    }
    Some(rows)
}

/// A row that has these values in these columns.
fn values_in<'r>(columns: &'r [SchemeColumn], values: &'r [Value]) -> impl Fn(usize) -> ValueRef<'r> + 'r {
    |position| {
        let place = columns.iter().position(|column| column.position == position);
        place.and_then(|place| values.get(place)).map_or(ValueRef::Null, Value::as_ref)
    }
}

/// The greatest value below a date or a moment with so many digits of the second's fraction.
fn before(value: &Value, digits: u8) -> Option<Value> {
    const DAY_US: i64 = 86_400_000_000;
    let step = 10i64.pow(u32::from(6 - digits.min(6)));
    let day_before = |date: Date| Date::from_days(date.to_days()?.checked_sub(1)?);
    match value {
        Value::Date(date) => day_before(*date).map(Value::Date),
        Value::DateTime(moment) => {
            let within = moment.time().micros();
            let (date, within) = match within >= step {
                true => (moment.date(), within - step),
                false => (day_before(moment.date())?, DAY_US - step),
            };
            let seconds = within / 1_000_000;
            let [hour, minute, second] =
                [seconds / 3600, seconds / 60 % 60, seconds % 60].map(|part| part as u8);
            DateTime::new(date, hour, minute, second, (within % 1_000_000) as u32).map(Value::DateTime)
        }
        Value::Timestamp(at) => Some(Value::Timestamp(Timestamp(at.0 - step))),
        _ => None,
    }
}

/// The parts of RANGE COLUMNS for such values: of all rows of single values of the first columns, and the
/// interval that the next one may be in.
fn range_columns(columns: &[SchemeColumn], bounds: &[Vec<Option<Value>>], domains: &Domains) -> PartitionSet {
    let mut prefixes: Vec<Vec<Value>> = vec![Vec::new()];
    let mut set = PartitionSet::none();
    for column in columns {
        let Some(domain) = domains.get(&column.position) else { break };
        match domain.points(MOST_ROWS).filter(|points| points.len() * prefixes.len() <= MOST_ROWS) {
            Some(points) => {
                let longer = |prefix: &Vec<Value>, value: &Value| {
                    let mut prefix = prefix.clone();
                    prefix.push(value.clone());
                    prefix
                };
                prefixes = prefixes
                    .iter()
                    .flat_map(|prefix| points.iter().map(move |value| longer(prefix, value)))
                    .collect();
            }
            None => {
                for prefix in &prefixes {
                    if domain.null {
                        let end = [prefix.as_slice(), &[Value::Null]].concat();
                        set.unite_with(&parts_between(columns, bounds, (&end, true), (&end, true)));
                    }
                    for Interval { lower, upper } in &domain.intervals {
                        let end = |edge: &Edge| {
                            let mut end = prefix.clone();
                            end.extend(edge.iter().map(|(value, _)| value.clone()));
                            (end, edge.as_ref().is_none_or(|(_, included)| *included))
                        };
                        let ((low, low_in), (high, high_in)) = (end(lower), end(upper));
                        set.unite_with(&parts_between(columns, bounds, (&low, low_in), (&high, high_in)));
                    }
                }
                return set;
            }
        }
    }
    for prefix in &prefixes {
        set.unite_with(&parts_between(columns, bounds, (prefix, true), (prefix, true)));
    }
    set
}

/// The parts of rows between two rows of values of the first columns.
fn parts_between(
    columns: &[SchemeColumn],
    bounds: &[Vec<Option<Value>>],
    (low, low_in): (&[Value], bool),
    (high, high_in): (&[Value], bool),
) -> PartitionSet {
    use std::cmp::Ordering::{Equal, Greater, Less};
    // How a bound compares with all rows that begin so: with their beginnings, and whether it is above all of
    // them where these are equal.
    let compare = |bound: &[Option<Value>], values: &[Value]| {
        for ((column, bound), value) in columns.iter().zip(bound).zip(values) {
            let Some(bound) = bound else { return Greater };
            let found = order(&column.ty, bound.as_ref(), value.as_ref());
            if found != Equal {
                return found;
            }
        }
        let next = bound.get(values.len());
        if matches!(next, Some(None)) { Greater } else { Equal }
    };
    // A bound of all columns is not above the row that it is equal to.
    let whole = |values: &[Value]| values.len() >= columns.len();
    let is_above_first = |bound: &[Option<Value>]| match compare(bound, low) {
        Greater => true,
        Equal => low_in && !whole(low),
        Less => false,
    };
    let is_above_last = |bound: &[Option<Value>]| match compare(bound, high) {
        Greater => true,
        Equal => !high_in,
        Less => false,
    };
    // Bounds rise.
    let first = bounds.partition_point(|bound| !is_above_first(bound));
    let last = bounds.partition_point(|bound| !is_above_last(bound));
    (first..(last + 1).min(bounds.len()).max(first)).collect()
}
