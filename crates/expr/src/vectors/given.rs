//! Computations over columns that are [vectors](Vector) already: the rows that a query has computed itself.
//!
//! ```text
//!   columns n, m      n < 900 picks rows       n + 1, m of these rows are appended to other columns
//! ```

use palisade_catalog::{SqlType, Value, ValueRef};

use super::{
    Action, Cell, Columns, Computation, Kind, Operand, Reading, Sides, Vector, compared, constant, form_of,
};
use crate::{Comparison, Expr, Node};

/// What expressions are made to steps for whose columns are vectors.
#[derive(Clone, Copy)]
pub struct Given<'g> {
    /// What the numbers of each column are.
    pub kinds: &'g [Kind],
    /// Where expressions see the rows.
    pub slot: usize,
    /// Values of the `?`.
    pub parameters: &'g [Value],
}

impl<'g> Given<'g> {
    fn reading(self) -> Reading<'g> {
        let Given { kinds, slot, parameters } = self;
        Reading { slot, parameters, columns: Columns::Given(kinds) }
    }
}

/// Rows of columns.
#[derive(Debug, Clone, Copy)]
pub enum Picked<'p> {
    /// So many from this one on.
    Range {
        /// The first.
        first: usize,
        /// How many.
        rows: usize,
    },
    /// Some of those from this one on.
    Some {
        /// The row from which they are counted.
        first: usize,
        /// Their numbers, in order.
        rows: &'p [usize],
    },
}

impl Picked<'_> {
    /// How many rows these are.
    pub fn len(&self) -> usize {
        match self {
            Picked::Range { rows, .. } => *rows,
            Picked::Some { rows, .. } => rows.len(),
        }
    }

    /// Whether these are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends what a column has in these rows, if it has anything.
    fn copy<T: Copy + Default>(self, from: &[T], to: &mut Vec<T>) {
        match self {
            _ if from.is_empty() => {}
            Picked::Range { first, rows } => {
                to.extend_from_slice(from.get(first..first + rows).unwrap_or_default());
            }
            Picked::Some { first, rows } => {
                let from = from.get(first..).unwrap_or_default();
                to.extend(rows.iter().map(|row| from.get(*row).copied().unwrap_or_default()));
            }
        }
    }
}

/// The values of an expression: those of a step, or one that all rows have.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    operand: Operand,
    /// What its numbers are.
    pub kind: Kind,
}

impl Output {
    /// The step that has the values.
    pub fn step(self) -> Option<usize> {
        match self.operand {
            Operand::Step(step) => Some(step),
            _ => None,
        }
    }
}

/// A comparison of numbers that rows have to pass.
#[derive(Debug, Clone, Copy)]
pub struct NumberTest {
    sides: Sides,
    comparison: Comparison,
}

impl Kind {
    /// Of the numbers of a type that are in vectors.
    pub fn of_type(ty: &SqlType) -> Option<Kind> {
        match ty {
            SqlType::Decimal { scale, .. } => Some(Kind::Decimal(*scale)),
            ty => form_of(ty).map(|(kind, _)| kind),
        }
    }
}

impl Computation {
    /// Adds the steps of an expression over vectors; `None` if it cannot be computed so.
    pub fn add_given(&mut self, expr: &Expr, given: Given<'_>) -> Option<Output> {
        let (operand, kind) = self.operand(expr, &mut given.reading())?;
        Some(Output { operand, kind })
    }

    /// Adds the steps of a condition on vectors, and the tests of which all have to pass for it to be true;
    /// `None` if it cannot be computed so.
    pub fn add_condition(
        &mut self,
        condition: &Expr,
        given: Given<'_>,
        tests: &mut Vec<NumberTest>,
    ) -> Option<()> {
        let mut add = |comparison, domain, sides: [&Expr; 2]| {
            let sides = self.sides(sides, domain, &mut given.reading())?;
            tests.push(NumberTest { sides, comparison });
            Some(())
        };
        match &condition.node {
            Node::Compare { comparison: Comparison::NullSafeEqual, .. } => None,
            Node::Compare { comparison, domain, left, right } => add(*comparison, *domain, [left, right]),
            Node::Between { operand, domain, low, high, negated: false } => {
                add(Comparison::GreaterEqual, *domain, [operand, low])?;
                add(Comparison::LessEqual, *domain, [operand, high])
            }
            Node::And(parts) => parts.iter().try_for_each(|part| self.add_condition(part, given, tests)),
            _ => None,
        }
    }

    /// Computes all steps for these rows of the columns. False as [`run`](Self::run) gives it.
    pub fn run_given(&mut self, columns: &[Vector], rows: Picked<'_>) -> bool {
        self.run_steps(rows.len(), |vector, action| match action {
            Action::Given { column } => columns.get(column).is_some_and(|from| {
                rows.copy(&from.exact, &mut vector.exact);
                rows.copy(&from.doubles, &mut vector.doubles);
                rows.copy(&from.nulls, &mut vector.nulls);
                true
            }),
            _ => false,
        })
    }

    /// Leaves of the rows of the last run, by their numbers, those that pass a test. False if that cannot be
    /// told of one.
    pub fn pick(&self, test: &NumberTest, rows: &mut Vec<usize>) -> bool {
        let NumberTest { sides, comparison } = test;
        let [left, right] = sides.operands;
        let mut is_known = true;
        rows.retain(|row| {
            let cells = self.cell_of_row(left, *row).zip(self.cell_of_row(right, *row));
            match cells.and_then(|(left, right)| compared(left, right, sides)) {
                Some(ordering) => ordering.is_some_and(|ordering| comparison.holds(ordering)),
                None => {
                    is_known = false;
                    false
                }
            }
        });
        is_known
    }

    #[inline]
    fn cell_of_row(&self, operand: Operand, row: usize) -> Option<Cell> {
        match operand {
            Operand::Step(step) => {
                let vector = self.vectors.get(step)?;
                Some(match vector.kind {
                    _ if vector.is_null(row) => Cell::Null,
                    Kind::Double => Cell::Double(*vector.doubles.get(row)?),
                    _ => Cell::Exact(*vector.exact.get(row)?),
                })
            }
            Operand::Exact(number) => Some(Cell::Exact(number)),
            Operand::Double(number) => Some(Cell::Double(number)),
        }
    }

    /// Appends what an expression had for the `rows` rows of the last run to a vector of its kind.
    pub fn append_to(&self, output: Output, rows: usize, to: &mut Vector) {
        match output.operand {
            Operand::Step(step) => {
                if let Some(vector) = self.vectors.get(step) {
                    to.append(vector);
                }
            }
            Operand::Exact(number) => {
                to.exact.extend(std::iter::repeat_n(number, rows));
                to.add_values(rows);
            }
            Operand::Double(number) => {
                to.doubles.extend(std::iter::repeat_n(number, rows));
                to.add_values(rows);
            }
        }
    }
}

impl Vector {
    /// Of no rows.
    pub fn of(kind: Kind) -> Vector {
        Vector::new(kind)
    }

    /// How many rows it is of.
    pub fn len(&self) -> usize {
        match self.kind {
            Kind::Double => self.doubles.len(),
            _ => self.exact.len(),
        }
    }

    /// Whether it is of no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// So many values have been appended of which none is NULL.
    fn add_values(&mut self, rows: usize) {
        if !self.nulls.is_empty() {
            self.nulls.extend(std::iter::repeat_n(false, rows));
        }
    }

    /// Appends the rows of a vector of the same kind.
    fn append(&mut self, other: &Vector) {
        if other.nulls.is_empty() {
            self.add_values(other.len());
        } else {
            self.nulls.resize(self.len(), false);
            self.nulls.extend_from_slice(&other.nulls);
        }
        self.exact.extend_from_slice(&other.exact);
        self.doubles.extend_from_slice(&other.doubles);
    }

    /// Appends a row with this value; false, and nothing, if it is not of the vector's kind.
    pub fn push(&mut self, value: ValueRef<'_>) -> bool {
        let number = match (self.kind, value) {
            (_, ValueRef::Null) => {
                self.nulls.resize(self.len(), false);
                self.nulls.push(true);
                match self.kind {
                    Kind::Double => self.doubles.push(0.0),
                    _ => self.exact.push(0),
                }
                return true;
            }
            (Kind::Double, ValueRef::Double(number)) => {
                self.add_values(1);
                self.doubles.push(number);
                return true;
            }
            (Kind::Signed, ValueRef::Int(number)) => Some(number),
            (Kind::Unsigned, ValueRef::UInt(number)) => i64::try_from(number).ok(),
            (Kind::Decimal(scale), ValueRef::Decimal(number)) if number.scale() == scale => {
                match constant(&Value::Decimal(number)) {
                    Some((Operand::Exact(units), _)) => Some(units),
                    _ => None,
                }
            }
            _ => None,
        };
        let Some(number) = number else { return false };
        self.add_values(1);
        self.exact.push(number);
        true
    }

    /// Leaves the first rows.
    pub fn truncate(&mut self, rows: usize) {
        self.exact.truncate(rows);
        self.doubles.truncate(rows);
        self.nulls.truncate(rows);
    }

    /// Drops the first rows.
    pub fn drop_first(&mut self, rows: usize) {
        self.exact.drain(..rows.min(self.exact.len()));
        self.doubles.drain(..rows.min(self.doubles.len()));
        self.nulls.drain(..rows.min(self.nulls.len()));
    }

    /// Bytes of its memory.
    pub fn size(&self) -> usize {
        8 * (self.exact.capacity() + self.doubles.capacity()) + self.nulls.capacity()
    }
}
