//! Expressions over many rows of a table at once: each step of a computation is done for all rows before the
//! next one.
//!
//! ```text
//!   SUM(price * (1 - discount)), SUM(price * (1 - discount) * (1 + tax))
//!
//!   0: price   1: discount   2: 1 - #1   3: #0 * #2   4: tax   5: 1 + #4   6: #3 * #5
//! ```
//!
//! A step fills a [`Vector`]: a typed array with a mask of NULLs. Whole numbers and decimals are 64-bit
//! integers, a decimal in units of its last digit, whose place is the same for all rows; doubles are doubles.
//! Equal expressions are one step.
//!
//! Only what has the very same value row by row becomes a step: columns, constants, sums, differences and
//! products of numbers, and remainders of whole ones. Where that needs more than 64 bits, or fails with an
//! error for a row, the computation [gives up](Computation::run), and the caller evaluates the expressions
//! row by row: the rules of overflow and the errors are written once, in [`arithmetic`](crate::arithmetic).

mod given;

use std::cmp::Ordering;

use palisade_catalog::row::{Field, PlainColumns, double_of_word, signed_of_word};
use palisade_catalog::{Decimal, SqlType, Table, Value, ValueRef};

use smallvec::SmallVec;

pub use self::given::{Given, NumberTest, Output, Picked};
use crate::{ArithmeticOp, Domain, Expr, Node, Numeric};

/// What the numbers of a vector are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Signed integers.
    Signed,
    /// Unsigned integers up to the largest signed one.
    Unsigned,
    /// Units of decimals with so many digits behind the point.
    Decimal(u8),
    /// Doubles.
    Double,
}

/// Values of one expression for some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector {
    /// Integers and decimals; of a NULL, any number.
    pub exact: Vec<i64>,
    /// Doubles; of a NULL, any number.
    pub doubles: Vec<f64>,
    /// Which are NULL; empty if none is.
    pub nulls: Vec<bool>,
    /// What the numbers are.
    pub kind: Kind,
}

impl Vector {
    fn new(kind: Kind) -> Vector {
        Vector { exact: Vec::new(), doubles: Vec::new(), nulls: Vec::new(), kind }
    }

    fn clear(&mut self) {
        self.exact.clear();
        self.doubles.clear();
        self.nulls.clear();
    }

    /// Whether the value of a row is NULL.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.get(row).copied().unwrap_or(false)
    }

    /// The value of a row.
    pub fn value(&self, row: usize) -> ValueRef<'static> {
        if self.is_null(row) {
            return ValueRef::Null;
        }
        let exact = self.exact.get(row).copied().unwrap_or_default();
        match self.kind {
            Kind::Signed => ValueRef::Int(exact),
            Kind::Unsigned => ValueRef::UInt(exact as u64),
            Kind::Decimal(scale) => ValueRef::Decimal(Decimal::new(exact.into(), scale)),
            Kind::Double => ValueRef::Double(self.doubles.get(row).copied().unwrap_or_default()),
        }
    }
}

/// What a step works on.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Operand {
    /// The result of a step.
    Step(usize),
    Exact(i64),
    Double(f64),
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Action {
    /// Reads a column, which [`PlainColumns`] has by this number.
    Column { column: usize, number: usize, field: FieldForm },
    /// Takes a column that is a vector.
    Given { column: usize },
    /// Computes with integers, or with decimals, which are multiplied first so that they have one scale.
    Exact { op: ArithmeticOp, left: Operand, right: Operand, factors: [i64; 2], is_unsigned: bool },
    /// Computes with doubles.
    Double { op: ArithmeticOp, left: Operand, right: Operand },
    /// Makes doubles of integers.
    ToDouble { of: usize },
}

/// What the bytes of a column of fixed width are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum FieldForm {
    /// So many bytes.
    Signed {
        length: usize,
    },
    Unsigned,
    /// So many bytes; the magnitude of the units is below a limit.
    Decimal {
        length: usize,
        limit: u64,
    },
    Double,
}

/// Some expressions over rows of one slot, as steps.
#[derive(Debug, Default)]
pub struct Computation {
    actions: Vec<Action>,
    /// One for each step.
    vectors: Vec<Vector>,
}

/// What expressions are made to steps for.
#[derive(Clone, Copy)]
pub struct Rows<'t> {
    /// The table of the rows.
    pub table: &'t Table,
    /// Where they are.
    pub slot: usize,
    /// Values of the `?`.
    pub parameters: &'t [Value],
}

/// Where the columns of expressions come from.
enum Columns<'c> {
    /// From the bytes of rows of a table.
    Plain(&'c Table, &'c mut PlainColumns),
    /// They are vectors of these kinds.
    Given(&'c [Kind]),
}

/// What expressions are made of.
struct Reading<'r> {
    slot: usize,
    parameters: &'r [Value],
    columns: Columns<'r>,
}

impl<'r> Reading<'r> {
    fn of(rows: Rows<'r>, columns: &'r mut PlainColumns) -> Reading<'r> {
        let Rows { table, slot, parameters } = rows;
        Reading { slot, parameters, columns: Columns::Plain(table, columns) }
    }
}

impl Computation {
    /// Adds the steps of an expression, and gives the number of the one that has its values; `None` if it
    /// cannot be computed so.
    pub fn add(&mut self, expr: &Expr, rows: Rows<'_>, columns: &mut PlainColumns) -> Option<usize> {
        match self.operand(expr, &mut Reading::of(rows, columns))? {
            (Operand::Step(step), _) => Some(step),
            _ => None,
        }
    }

    /// The values that a step had in the last [`run`](Self::run).
    #[inline]
    pub fn vector(&self, step: usize) -> Option<&Vector> {
        self.vectors.get(step)
    }

    /// Computes all steps for these rows, which are plain. False if that cannot be done with 64 bits, or if
    /// the value of a row is an error.
    pub fn run(&mut self, columns: &PlainColumns, rows: &[&[u8]]) -> bool {
        self.run_steps(rows.len(), |vector, action| match action {
            Action::Column { number, field, .. } => read_column(vector, columns, rows, number, field),
            _ => false,
        })
    }

    /// The same, where `read` has the values of columns.
    #[inline]
    fn run_steps(&mut self, rows: usize, mut read: impl FnMut(&mut Vector, Action) -> bool) -> bool {
        for (number, action) in self.actions.iter().enumerate() {
            let Some((known, [vector, ..])) = self.vectors.split_at_mut_checked(number) else { return false };
            vector.clear();
            let done = match *action {
                Action::Column { .. } | Action::Given { .. } => read(vector, *action),
                Action::Exact { op, left, right, factors, is_unsigned } => {
                    exact(vector, known, op, [left, right], factors, rows)
                        && !(is_unsigned && vector.has_negative())
                }
                Action::Double { op, left, right } => double(vector, known, op, [left, right], rows),
                Action::ToDouble { of } => known.get(of).is_some_and(|integers| {
                    vector.doubles.extend(integers.exact.iter().map(|number| *number as f64));
                    vector.nulls.extend_from_slice(&integers.nulls);
                    true
                }),
            };
            if !done {
                return false;
            }
        }
        true
    }

    /// Adds the steps of two expressions whose numbers are compared in a domain; `None` if they cannot be
    /// computed so, or neither depends on a row.
    pub fn add_sides(
        &mut self,
        sides: [&Expr; 2],
        domain: Domain,
        rows: Rows<'_>,
        columns: &mut PlainColumns,
    ) -> Option<Sides> {
        let sides = self.sides(sides, domain, &mut Reading::of(rows, columns))?;
        (!self.actions.is_empty()).then_some(sides)
    }

    fn sides(&mut self, sides: [&Expr; 2], domain: Domain, reading: &mut Reading<'_>) -> Option<Sides> {
        let [left, right] = sides;
        let (left, right) = (self.operand(left, reading)?, self.operand(right, reading)?);
        let sides = match domain {
            Domain::Double => Sides {
                operands: [self.doubles(left)?, self.doubles(right)?],
                factors: [1, 1],
                are_exact: false,
            },
            Domain::Integer | Domain::Decimal => {
                let ((left, left_kind), (right, right_kind)) = (left, right);
                let (left_scale, right_scale) = (scale_of(left_kind)?, scale_of(right_kind)?);
                let scale = left_scale.max(right_scale);
                let factor = |from: u8| 10i64.checked_pow((scale - from).into());
                let factors = [factor(left_scale)?, factor(right_scale)?];
                Sides { operands: [left, right], factors, are_exact: true }
            }
            _ => return None,
        };
        Some(sides)
    }

    /// How two numbers of a row compare, `Some(None)` if one is NULL. `None` if that cannot be computed with
    /// 64 bits, or one is an error. `field` gives a column by its place in the table and among the columns.
    pub fn compare<'r>(
        &self,
        sides: &Sides,
        field: impl Fn(usize, usize) -> Field<'r>,
    ) -> Option<Option<Ordering>> {
        let mut cells = SmallVec::<[Cell; 8]>::new();
        for action in &self.actions {
            cells.push(cell(action, &cells, &field)?);
        }
        let [left, right] = sides.operands.map(|operand| cell_of(operand, &cells));
        compared(left?, right?, sides)
    }

    /// The operand that an expression is, and what numbers it gives.
    fn operand(&mut self, expr: &Expr, reading: &mut Reading<'_>) -> Option<(Operand, Kind)> {
        match &expr.node {
            Node::Literal(value) => constant(value),
            Node::Parameter(number) => constant(reading.parameters.get(*number)?),
            Node::Column { .. } => {
                let (slot, column) = expr.as_plain_column()?;
                (slot == reading.slot).then_some(())?;
                self.column(column, &mut reading.columns)
            }
            Node::Arithmetic {
                op:
                    op @ (ArithmeticOp::Add
                    | ArithmeticOp::Subtract
                    | ArithmeticOp::Multiply
                    | ArithmeticOp::Modulo),
                numeric,
                left,
                right,
            } => {
                // Remainders are of whole numbers alone.
                let is_whole = matches!(numeric, Numeric::Signed | Numeric::Unsigned);
                (*op != ArithmeticOp::Modulo || is_whole).then_some(())?;
                let left = self.operand(left, reading)?;
                let right = self.operand(right, reading)?;
                if *numeric == Numeric::Double {
                    let (left, right) = (self.doubles(left)?, self.doubles(right)?);
                    return Some(self.step(Action::Double { op: *op, left, right }, Kind::Double));
                }
                let (action, kind) = exact_action(*op, *numeric, left, right, expr.ty.is_unsigned())?;
                Some(self.step(action, kind))
            }
            _ => None,
        }
    }

    /// The step that has the values of a column, a new one if there is none.
    fn column(&mut self, column: usize, columns: &mut Columns<'_>) -> Option<(Operand, Kind)> {
        let (table, columns) = match columns {
            Columns::Plain(table, columns) => (table, columns),
            Columns::Given(kinds) => return Some(self.step(Action::Given { column }, *kinds.get(column)?)),
        };
        let reads_it = |action: &Action| matches!(action, Action::Column { column: of, .. } if *of == column);
        if let Some(known) = self.actions.iter().position(reads_it) {
            return Some((Operand::Step(known), self.vectors.get(known)?.kind));
        }
        let (kind, field) = form_of(&table.columns.get(column)?.sql_type)?;
        let number = columns.add(table, column)?;
        Some(self.step(Action::Column { column, number, field }, kind))
    }

    /// The step that does this, a new one if there is none.
    fn step(&mut self, action: Action, kind: Kind) -> (Operand, Kind) {
        let known = self.actions.iter().position(|known| *known == action);
        let step = known.unwrap_or_else(|| {
            self.actions.push(action);
            self.vectors.push(Vector::new(kind));
            self.actions.len() - 1
        });
        (Operand::Step(step), kind)
    }

    /// An operand of an operation on doubles.
    fn doubles(&mut self, (operand, kind): (Operand, Kind)) -> Option<Operand> {
        match (operand, kind) {
            (operand, Kind::Double) => Some(operand),
            (Operand::Exact(number), Kind::Signed | Kind::Unsigned) => Some(Operand::Double(number as f64)),
            (Operand::Exact(units), Kind::Decimal(scale)) => {
                Some(Operand::Double(Decimal::new(units.into(), scale).to_f64()))
            }
            (Operand::Step(of), Kind::Signed | Kind::Unsigned) => {
                Some(self.step(Action::ToDouble { of }, Kind::Double).0)
            }
            _ => None,
        }
    }
}

/// Two numbers of a row that are compared.
#[derive(Debug, Clone, Copy)]
pub struct Sides {
    operands: [Operand; 2],
    /// What units are multiplied by, so that both have one scale.
    factors: [i64; 2],
    are_exact: bool,
}

/// The value of a step for one row.
#[derive(Debug, Clone, Copy)]
enum Cell {
    Null,
    Exact(i64),
    Double(f64),
}

/// How two numbers compare, `Some(None)` if one is NULL. `None` if that cannot be computed with 64 bits.
#[inline]
fn compared(left: Cell, right: Cell, sides: &Sides) -> Option<Option<Ordering>> {
    Some(match (left, right) {
        (Cell::Null, _) | (_, Cell::Null) => None,
        (Cell::Exact(left), Cell::Exact(right)) if sides.are_exact => {
            let [left_factor, right_factor] = sides.factors;
            Some(left.checked_mul(left_factor)?.cmp(&right.checked_mul(right_factor)?))
        }
        (Cell::Double(left), Cell::Double(right)) => Some(left.partial_cmp(&right)?),
        _ => return None,
    })
}

/// The value of an operand for one row.
#[inline]
fn cell_of(operand: Operand, known: &[Cell]) -> Option<Cell> {
    match operand {
        Operand::Step(step) => known.get(step).copied(),
        Operand::Exact(number) => Some(Cell::Exact(number)),
        Operand::Double(number) => Some(Cell::Double(number)),
    }
}

/// The value of a step for one row, as [`Computation::run`] computes it for many.
#[inline]
fn cell<'r>(action: &Action, known: &[Cell], field: &impl Fn(usize, usize) -> Field<'r>) -> Option<Cell> {
    match *action {
        Action::Column { column, number, field: form } => match field(column, number) {
            Field::Null => Some(Cell::Null),
            Field::Fixed(bytes) => cell_of_field(bytes, form),
            Field::Absent | Field::Variable(_) => None,
        },
        Action::Given { .. } => None,
        Action::Exact { op, left, right, factors: [left_factor, right_factor], is_unsigned } => {
            let (left, right) = match (cell_of(left, known)?, cell_of(right, known)?) {
                (Cell::Exact(left), Cell::Exact(right)) => (left, right),
                (Cell::Null, Cell::Null | Cell::Exact(_)) | (Cell::Exact(_), Cell::Null) => {
                    return Some(Cell::Null);
                }
                _ => return None,
            };
            let scaled = || Some((left.checked_mul(left_factor)?, right.checked_mul(right_factor)?));
            let result = match op {
                ArithmeticOp::Multiply => left.checked_mul(right)?,
                ArithmeticOp::Modulo => left.checked_rem(right)?,
                ArithmeticOp::Add => scaled().and_then(|(left, right)| left.checked_add(right))?,
                _ => scaled().and_then(|(left, right)| left.checked_sub(right))?,
            };
            (!is_unsigned || result >= 0).then_some(Cell::Exact(result))
        }
        Action::Double { op, left, right } => {
            let (left, right) = match (cell_of(left, known)?, cell_of(right, known)?) {
                (Cell::Double(left), Cell::Double(right)) => (left, right),
                (Cell::Null, Cell::Null | Cell::Double(_)) | (Cell::Double(_), Cell::Null) => {
                    return Some(Cell::Null);
                }
                _ => return None,
            };
            let result = match op {
                ArithmeticOp::Add => left + right,
                ArithmeticOp::Subtract => left - right,
                _ => left * right,
            };
            result.is_finite().then_some(Cell::Double(result))
        }
        Action::ToDouble { of } => match known.get(of)? {
            Cell::Exact(number) => Some(Cell::Double(*number as f64)),
            other => Some(*other),
        },
    }
}

/// The number that a field is; `None` if it is beyond what a step can have.
#[inline]
fn cell_of_field(bytes: &[u8], form: FieldForm) -> Option<Cell> {
    let word = bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    Some(match form {
        FieldForm::Signed { length } => Cell::Exact(signed_of_word(word, length)),
        FieldForm::Decimal { length, limit } => {
            let value = signed_of_word(word, length);
            (value.unsigned_abs() < limit).then_some(Cell::Exact(value))?
        }
        FieldForm::Unsigned => Cell::Exact(i64::try_from(word).ok()?),
        FieldForm::Double => Cell::Double(double_of_word(word)),
    })
}

/// A constant as an operand.
fn constant(value: &Value) -> Option<(Operand, Kind)> {
    Some(match value {
        Value::Int(number) => (Operand::Exact(*number), Kind::Signed),
        Value::UInt(number) => (Operand::Exact(i64::try_from(*number).ok()?), Kind::Unsigned),
        Value::Decimal(number) => {
            let ([low, 0, 0, 0], scale, is_negative) = number.to_words() else { return None };
            let magnitude = i64::try_from(low).ok()?;
            (Operand::Exact(if is_negative { -magnitude } else { magnitude }), Kind::Decimal(scale))
        }
        Value::Double(number) => (Operand::Double(*number), Kind::Double),
        _ => return None,
    })
}

/// What numbers a column has, and their form.
fn form_of(ty: &SqlType) -> Option<(Kind, FieldForm)> {
    Some(match ty {
        SqlType::Int { unsigned: true, .. } => (Kind::Unsigned, FieldForm::Unsigned),
        SqlType::Int { width, .. } => (Kind::Signed, FieldForm::Signed { length: width.bytes() }),
        SqlType::Decimal { precision, scale, .. } => {
            let length = Decimal::packed_len(*precision);
            (length <= 8).then_some(())?;
            let limit = 10u64.checked_pow((*precision).into())?;
            (Kind::Decimal(*scale), FieldForm::Decimal { length, limit })
        }
        SqlType::Double { .. } => (Kind::Double, FieldForm::Double),
        _ => return None,
    })
}

/// Digits behind the point of exact numbers.
fn scale_of(kind: Kind) -> Option<u8> {
    match kind {
        Kind::Signed | Kind::Unsigned => Some(0),
        Kind::Decimal(scale) => Some(scale),
        Kind::Double => None,
    }
}

/// The action of an operation on integers or decimals, and what it gives.
fn exact_action(
    op: ArithmeticOp,
    numeric: Numeric,
    (left, left_kind): (Operand, Kind),
    (right, right_kind): (Operand, Kind),
    is_unsigned: bool,
) -> Option<(Action, Kind)> {
    let (left_scale, right_scale) = (scale_of(left_kind)?, scale_of(right_kind)?);
    let is_whole = |kind: Kind| !matches!(kind, Kind::Decimal(_));
    let (kind, is_unsigned) = match numeric {
        Numeric::Signed if is_whole(left_kind) && is_whole(right_kind) => (Kind::Signed, false),
        Numeric::Unsigned if is_whole(left_kind) && is_whole(right_kind) => (Kind::Unsigned, true),
        Numeric::Decimal => {
            let scale = match op {
                ArithmeticOp::Multiply => left_scale + right_scale,
                _ => left_scale.max(right_scale),
            };
            (scale <= palisade_catalog::decimal::MAX_SCALE).then_some((Kind::Decimal(scale), is_unsigned))?
        }
        _ => return None,
    };
    let factors = match op {
        ArithmeticOp::Multiply => [1, 1],
        _ => {
            let scale = left_scale.max(right_scale);
            let factor = |from: u8| 10i64.checked_pow((scale - from).into());
            [factor(left_scale)?, factor(right_scale)?]
        }
    };
    Some((Action::Exact { op, left, right, factors, is_unsigned }, kind))
}

impl Vector {
    fn has_negative(&self) -> bool {
        let mut negative = self.exact.iter().enumerate().filter(|(_, number)| **number < 0);
        negative.any(|(row, _)| !self.is_null(row))
    }

    /// Marks what is NULL in either operand.
    fn join_nulls(&mut self, known: &[Vector], operands: [Operand; 2]) {
        for operand in operands {
            let Operand::Step(step) = operand else { continue };
            let Some(of) = known.get(step).filter(|of| !of.nulls.is_empty()) else { continue };
            if self.nulls.is_empty() {
                self.nulls.extend_from_slice(&of.nulls);
            } else {
                self.nulls.iter_mut().zip(&of.nulls).for_each(|(null, other)| *null |= other);
            }
        }
    }
}

/// Reads a column of rows; false if a field is not of its form.
fn read_column(
    vector: &mut Vector,
    columns: &PlainColumns,
    rows: &[&[u8]],
    number: usize,
    field: FieldForm,
) -> bool {
    let Vector { exact, doubles, nulls, .. } = vector;
    let (mut has_nulls, mut is_beyond) = (false, false);
    let is_read = match field {
        FieldForm::Signed { length } => columns.words(number, rows, exact, |word| {
            has_nulls |= word.is_none();
            word.map_or(0, |word| signed_of_word(word, length))
        }),
        FieldForm::Decimal { length, limit } => columns.words(number, rows, exact, |word| {
            let value = word.map_or(0, |word| signed_of_word(word, length));
            has_nulls |= word.is_none();
            is_beyond |= value.unsigned_abs() >= limit;
            value
        }),
        FieldForm::Unsigned => columns.words(number, rows, exact, |word| {
            has_nulls |= word.is_none();
            let value = word.unwrap_or_default() as i64;
            is_beyond |= value < 0;
            value
        }),
        FieldForm::Double => columns.words(number, rows, doubles, |word| {
            has_nulls |= word.is_none();
            word.map_or(0.0, double_of_word)
        }),
    };
    if has_nulls {
        nulls.extend(rows.iter().map(|row| columns.is_null(number, row)));
    }
    is_read && !is_beyond
}

/// An operation on integers; false if a result takes more than 64 bits.
fn exact(
    vector: &mut Vector,
    known: &[Vector],
    op: ArithmeticOp,
    operands: [Operand; 2],
    factors: [i64; 2],
    rows: usize,
) -> bool {
    vector.join_nulls(known, operands);
    let [left_factor, right_factor] = factors;
    let mut overflows = false;
    let mut combine = |left: i64, right: i64| {
        let (result, beyond) = match op {
            ArithmeticOp::Multiply => left.overflowing_mul(right),
            ArithmeticOp::Modulo => left.checked_rem(right).map_or((0, true), |rest| (rest, false)),
            _ => {
                let (left, left_beyond) = left.overflowing_mul(left_factor);
                let (right, right_beyond) = right.overflowing_mul(right_factor);
                let (result, beyond) = match op {
                    ArithmeticOp::Add => left.overflowing_add(right),
                    _ => left.overflowing_sub(right),
                };
                (result, beyond | left_beyond | right_beyond)
            }
        };
        overflows |= beyond;
        result
    };
    let numbers = |step: usize| known.get(step).map_or(&[][..], |vector| &vector.exact);
    let [left, right] = operands;
    match (left, right) {
        (Operand::Step(left), Operand::Step(right)) => {
            let pairs = numbers(left).iter().zip(numbers(right));
            vector.exact.extend(pairs.map(|(left, right)| combine(*left, *right)));
        }
        (Operand::Step(left), Operand::Exact(right)) => {
            vector.exact.extend(numbers(left).iter().map(|left| combine(*left, right)));
        }
        (Operand::Exact(left), Operand::Step(right)) => {
            vector.exact.extend(numbers(right).iter().map(|right| combine(left, *right)));
        }
        (Operand::Exact(left), Operand::Exact(right)) => {
            vector.exact.extend(std::iter::repeat_n(combine(left, right), rows));
        }
        _ => return false,
    }
    !overflows && vector.exact.len() == rows
}

/// An operation on doubles; false if a result is none.
fn double(
    vector: &mut Vector,
    known: &[Vector],
    op: ArithmeticOp,
    operands: [Operand; 2],
    rows: usize,
) -> bool {
    vector.join_nulls(known, operands);
    let at = |operand: Operand, row: usize| match operand {
        Operand::Step(step) => known.get(step).and_then(|vector| vector.doubles.get(row).copied()),
        Operand::Double(number) => Some(number),
        Operand::Exact(_) => None,
    };
    let [left, right] = operands;
    for row in 0..rows {
        let (Some(left), Some(right)) = (at(left, row), at(right, row)) else { return false };
        let result = match op {
            ArithmeticOp::Add => left + right,
            ArithmeticOp::Subtract => left - right,
            _ => left * right,
        };
        if !result.is_finite() {
            return false;
        }
        vector.doubles.push(result);
    }
    true
}

#[cfg(test)]
mod tests;
