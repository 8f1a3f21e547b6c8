//! In which partition a row belongs, and which partitions conditions leave.
//!
//! A table's PARTITION BY is kept as text, as its CHECK constraints are, and bound with the other rules of
//! its rows by the binder. What comes of it is a [`PartitionScheme`], which gives the number of a row's
//! partition:
//!
//! | method | what decides |
//! |---|---|
//! | HASH | the value of an expression modulo the number of partitions; NULL is the lowest of all numbers |
//! | KEY | MySQL's hash of columns ([`PartitionHash`]) |
//! | RANGE, RANGE COLUMNS | the first bound that is above; NULL is below all values |
//! | LIST, LIST COLUMNS | the list that has the value |
//!
//! LINEAR takes the low bits of the number instead: as many as the number of partitions needs, or one less
//! where these name a partition that is not there. With subpartitions a partition's number is that of the
//! part, times the number of subpartitions, plus that of the subpartition: a *part* here is what RANGE or
//! LIST chooses.
//!
//! | module | what it holds |
//! |---|---|
//! | `function` | an expression over columns, and its value |
//! | [`prune`] | from conditions to sets of partitions |
//! | `domain` | sets of values of a column |

mod domain;
pub(crate) mod function;
pub mod prune;

use std::cmp::Ordering;
use std::sync::Arc;

use palisade_base::error_catalogue::ER_NO_PARTITION_FOR_GIVEN_VALUE;
use palisade_base::mysql_error;
use palisade_catalog::partition_hash::{KeyAlgorithm, PartitionHash};
use palisade_catalog::{PartitionSet, SqlType, TableDef, Value, ValueRef};
use palisade_expr::{Context, SqlAttempt, SqlError};

pub use function::Function;

/// A row: the value of each column by its position.
pub type RowValues<'r> = dyn Fn(usize) -> ValueRef<'r> + Sync + 'r;

/// A column that a scheme reads.
#[derive(Debug, Clone)]
pub struct SchemeColumn {
    /// Its position in the table.
    pub position: usize,
    /// Its type.
    pub ty: SqlType,
}

/// By what rows are spread over a number of partitions.
#[derive(Debug, Clone)]
pub enum Spread {
    /// HASH.
    Value {
        /// Of what.
        function: Function,
        /// LINEAR.
        linear: bool,
    },
    /// KEY.
    Key {
        /// Of which columns.
        columns: Vec<SchemeColumn>,
        /// How.
        algorithm: KeyAlgorithm,
        /// LINEAR.
        linear: bool,
    },
}

/// How a row's part is chosen.
#[derive(Debug, Clone)]
pub enum Method {
    /// HASH and KEY, over so many parts.
    Spread(Spread, usize),
    /// The bounds; the last may be MAXVALUE, which is `None`.
    Range(Function, Vec<Option<i128>>),
    /// The numbers in order, each with its part, and the part that has NULL.
    List(Function, Vec<(i128, usize)>, Option<usize>),
    /// The bounds of several columns; MAXVALUE is `None`.
    RangeColumns(Vec<SchemeColumn>, Vec<Vec<Option<Value>>>),
    /// Rows of values in their order, each with its part.
    ListColumns(Vec<SchemeColumn>, Vec<(Vec<Value>, usize)>),
}

/// In which partition a row belongs, and in which it may be.
#[derive(Debug)]
pub struct RowPartitions {
    /// How the table is partitioned.
    pub scheme: Arc<PartitionScheme>,
    /// PARTITION (...) of the statement: 1748 for a row that belongs elsewhere.
    pub chosen: Option<Arc<PartitionSet>>,
}

/// How the rows of a table are partitioned.
#[derive(Debug, Clone)]
pub struct PartitionScheme {
    method: Method,
    /// How the rows of a part are spread over its subpartitions, and how many these are.
    subpartitions: Option<(Spread, usize)>,
    /// Positions of the columns that it reads, each once.
    columns: Vec<usize>,
    /// The partitions, parts times subpartitions.
    count: usize,
}

impl PartitionScheme {
    pub(crate) fn new(
        method: Method,
        subpartitions: Option<(Spread, usize)>,
        parts: usize,
    ) -> PartitionScheme {
        let mut columns = Vec::new();
        match &method {
            Method::Spread(spread, _) => spread.columns(&mut columns),
            Method::Range(function, _) | Method::List(function, ..) => {
                columns.extend(function.columns().iter().map(|column| column.position));
            }
            Method::RangeColumns(own, _) | Method::ListColumns(own, _) => {
                columns.extend(own.iter().map(|column| column.position));
            }
        }
        if let Some((spread, _)) = &subpartitions {
            spread.columns(&mut columns);
        }
        columns.sort_unstable();
        columns.dedup();
        let count = parts * subpartitions.as_ref().map_or(1, |(_, count)| *count);
        PartitionScheme { method, subpartitions, columns, count }
    }

    /// Positions of the columns that decide, each once, in order.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// How many partitions there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many subpartitions each part has; 1 if there are none.
    fn subpartition_count(&self) -> usize {
        self.subpartitions.as_ref().map_or(1, |(_, count)| *count)
    }

    /// How many parts there are.
    fn part_count(&self) -> usize {
        self.count / self.subpartition_count().max(1)
    }

    /// The number of the partition where a row belongs; `None` if there is none.
    pub fn find(&self, cx: &mut Context<'_>, row: &RowValues<'_>) -> SqlAttempt<Option<usize>> {
        let Some(part) = self.part(cx, row)? else { return Ok(None) };
        Ok(Some(match &self.subpartitions {
            Some((spread, count)) => part * count + spread.number(cx, row, *count)?,
            None => part,
        }))
    }

    fn part(&self, cx: &mut Context<'_>, row: &RowValues<'_>) -> SqlAttempt<Option<usize>> {
        Ok(match &self.method {
            Method::Spread(spread, count) => Some(spread.number(cx, row, *count)?),
            Method::Range(function, bounds) => part_below(bounds, function.value(cx, row)?),
            Method::List(function, members, null) => match function.value(cx, row)? {
                Some(number) => member(members, number),
                None => *null,
            },
            Method::RangeColumns(columns, bounds) => {
                let own = || columns.iter().map(|column| (&column.ty, row(column.position)));
                let place = bounds.partition_point(|bound| compare_with_bound(own(), bound).is_ge());
                (place < bounds.len()).then_some(place)
            }
            Method::ListColumns(columns, members) => {
                let compare = |values: &[Value]| compare_rows(columns, values, row);
                let place = members.partition_point(|(values, _)| compare(values).is_lt());
                let found = members.get(place).filter(|(values, _)| compare(values).is_eq());
                found.map(|(_, part)| *part)
            }
        })
    }

    /// 1526 for a row that belongs nowhere.
    pub fn unplaced(&self, cx: &mut Context<'_>, row: &RowValues<'_>) -> SqlError {
        let shown = match &self.method {
            Method::Range(function, _) | Method::List(function, ..) => match function.value(cx, row) {
                Ok(Some(number)) => format!("{number}"),
                _ => "NULL".to_owned(),
            },
            _ => "from column_list".to_owned(),
        };
        mysql_error!(ER_NO_PARTITION_FOR_GIVEN_VALUE, shown)
    }
}

impl Spread {
    fn columns(&self, out: &mut Vec<usize>) {
        let columns = match self {
            Spread::Value { function, .. } => function.columns(),
            Spread::Key { columns, .. } => columns,
        };
        out.extend(columns.iter().map(|column| column.position));
    }

    fn number(&self, cx: &mut Context<'_>, row: &RowValues<'_>, count: usize) -> SqlAttempt<usize> {
        Ok(match self {
            Spread::Value { function, linear } => hashed(function.value(cx, row)?, *linear, count),
            Spread::Key { columns, algorithm, linear } => {
                let mut hash = PartitionHash::new(*algorithm);
                columns.iter().for_each(|column| hash.add(&column.ty, row(column.position)));
                let number = u64::from(hash.finish());
                if *linear { linear_number(number, count) } else { (number % count.max(1) as u64) as usize }
            }
        })
    }
}

/// The number of the partition of HASH for a value.
fn hashed(value: Option<i128>, linear: bool, count: usize) -> usize {
    // MySQL's numbers have 64 bits and a sign.
    let number = value.map_or(i64::MIN, |value| value as i64);
    if linear {
        return linear_number(number as u64, count);
    }
    (number % count.max(1) as i64).unsigned_abs() as usize
}

/// The low bits of a number that name one of `count` partitions.
fn linear_number(number: u64, count: usize) -> usize {
    let mask = count.max(1).next_power_of_two() as u64 - 1;
    let low = (number & mask) as usize;
    if low < count { low } else { (number & mask >> 1) as usize }
}

/// The first part whose bound is above a number; NULL is below all.
fn part_below(bounds: &[Option<i128>], number: Option<i128>) -> Option<usize> {
    let Some(number) = number else { return (!bounds.is_empty()).then_some(0) };
    let place = bounds.partition_point(|bound| bound.is_some_and(|bound| bound <= number));
    (place < bounds.len()).then_some(place)
}

fn member(members: &[(i128, usize)], number: i128) -> Option<usize> {
    let place = members.partition_point(|(known, _)| *known < number);
    members.get(place).filter(|(known, _)| *known == number).map(|(_, part)| *part)
}

/// How a member of a list compares with a row.
fn compare_rows(columns: &[SchemeColumn], values: &[Value], row: &RowValues<'_>) -> Ordering {
    for (column, value) in columns.iter().zip(values) {
        let found = order(&column.ty, value.as_ref(), row(column.position));
        if found.is_ne() {
            return found;
        }
    }
    Ordering::Equal
}

/// How values compare with the first columns of a bound. A column whose bound is MAXVALUE is below it.
fn compare_with_bound<'v>(
    values: impl Iterator<Item = (&'v SqlType, ValueRef<'v>)>,
    bound: &[Option<Value>],
) -> Ordering {
    for ((ty, value), bound) in values.zip(bound) {
        let Some(bound) = bound else { return Ordering::Less };
        let found = order(ty, value, bound.as_ref());
        if found != Ordering::Equal {
            return found;
        }
    }
    Ordering::Equal
}

/// Partitions of a table as EXPLAIN names them.
pub fn shown_names(table: &TableDef, partitions: &PartitionSet) -> Vec<String> {
    let name = |number: usize| {
        let leaf = table.partitions.get(number)?;
        Some(match &leaf.subpartition {
            Some(subpartition) => format!("{}_{subpartition}", leaf.name),
            None => leaf.name.clone(),
        })
    };
    partitions.iter().filter_map(name).collect()
}

/// The order of two values of a column by which there may be partitions; NULL is below all. Members of an
/// ENUM or SET have none: they are equal.
pub fn order(ty: &SqlType, left: ValueRef<'_>, right: ValueRef<'_>) -> Ordering {
    match (left, right) {
        (ValueRef::Null, ValueRef::Null) => Ordering::Equal,
        (ValueRef::Null, _) => Ordering::Less,
        (_, ValueRef::Null) => Ordering::Greater,
        (ValueRef::Bytes(left), ValueRef::Bytes(right)) => ty.collation().get().compare(left, right),
        (ValueRef::Date(left), ValueRef::Date(right)) => left.cmp(&right),
        (ValueRef::Time(left), ValueRef::Time(right)) => left.cmp(&right),
        (ValueRef::DateTime(left), ValueRef::DateTime(right)) => left.cmp(&right),
        (ValueRef::Timestamp(left), ValueRef::Timestamp(right)) => left.cmp(&right),
        (ValueRef::Decimal(left), ValueRef::Decimal(right)) => left.cmp(&right),
        (ValueRef::Double(left), ValueRef::Double(right)) => {
            left.partial_cmp(&right).unwrap_or(Ordering::Equal)
        }
        (ValueRef::Float(left), ValueRef::Float(right)) => {
            left.partial_cmp(&right).unwrap_or(Ordering::Equal)
        }
        (left, right) => function::number_of(left).cmp(&function::number_of(right)),
    }
}
