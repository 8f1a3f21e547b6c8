//! Which expressions may decide where a row belongs: those over columns that give whole numbers, the same
//! ones whatever the session is.

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::{SqlType, TableDef};
use palisade_expr::place::At;
use palisade_expr::{Expr as Bound, Node};
use palisade_parser::ast::{
    BinaryOp, ColumnName, Expr, Function, IntervalUnit, Literal, PartitionMethod, Partitioning, UnaryOp,
};

use super::Ddl;
use crate::SqlResult;

/// What a function wants among its arguments to depend on nothing else.
#[derive(Clone, Copy)]
enum Wanted {
    Anything,
    /// A DATE or DATETIME column.
    Date,
    /// No constants.
    Dates,
    /// A TIME or DATETIME column.
    Time,
    /// A DATETIME column.
    DateTime,
    /// A TIMESTAMP column.
    Timestamp,
    /// Nothing will do.
    Nothing,
}

/// The functions that there may be, and what they want.
const ALLOWED: &[(&str, Wanted)] = &[
    ("abs", Wanted::Anything),
    ("ceil", Wanted::Anything),
    ("ceiling", Wanted::Anything),
    ("datediff", Wanted::Dates),
    ("day", Wanted::Date),
    ("dayofmonth", Wanted::Date),
    ("dayofweek", Wanted::Date),
    ("dayofyear", Wanted::Date),
    ("floor", Wanted::Anything),
    ("hour", Wanted::Time),
    ("microsecond", Wanted::Time),
    ("minute", Wanted::Time),
    ("mod", Wanted::Anything),
    ("month", Wanted::Date),
    ("quarter", Wanted::Date),
    ("second", Wanted::Time),
    ("time_to_sec", Wanted::Time),
    ("to_days", Wanted::Date),
    ("to_seconds", Wanted::Date),
    ("unix_timestamp", Wanted::Timestamp),
    ("weekday", Wanted::Date),
    ("year", Wanted::Date),
    ("yearweek", Wanted::Date),
];

/// Whether functions like this may be part of a bound or member of a partition.
pub(super) fn is_allowed(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(Literal::Bool(_)) => false,
        Expr::Literal(_) | Expr::Column(_) => true,
        Expr::Unary(UnaryOp::Minus | UnaryOp::Plus, _) => true,
        Expr::Binary(op, ..) => matches!(
            op,
            BinaryOp::Plus
                | BinaryOp::Minus
                | BinaryOp::Multiply
                | BinaryOp::IntegerDivide
                | BinaryOp::Modulo
        ),
        Expr::Function(function) => {
            let name = function.name.to_ascii_lowercase();
            function.schema.is_none() && ALLOWED.iter().any(|(known, _)| *known == name)
        }
        Expr::Extract(..) => true,
        _ => false,
    }
}

/// Checks an expression of HASH, RANGE or LIST, and gives its columns the names that they have in the table.
pub(super) fn settle(def: &TableDef, expr: &mut Expr) -> SqlResult<()> {
    let (mut refused, mut reads) = (None, false);
    expr.walk_mut(&mut |part| {
        let found = match part {
            Expr::Column(column) => {
                reads = true;
                name_column(def, column)
            }
            Expr::Unary(UnaryOp::Plus, operand) => {
                *part = (**operand).clone();
                match part {
                    Expr::Column(column) => {
                        reads = true;
                        name_column(def, column)
                    }
                    _ => Ok(()),
                }
            }
            Expr::Function(function) if is_modulo(function) => {
                if let [left, right] = function.arguments.as_slice() {
                    let (left, right) = (Box::new(left.clone()), Box::new(right.clone()));
                    *part = Expr::Binary(BinaryOp::Modulo, left, right);
                }
                Ok(())
            }
            Expr::Function(function) => {
                // As MySQL shows them.
                match function.name.to_ascii_lowercase().as_str() {
                    "day" => "dayofmonth".clone_into(&mut function.name),
                    "ceil" => "ceiling".clone_into(&mut function.name),
                    "yearweek" if function.arguments.len() == 1 => {
                        function.arguments.push(Expr::Literal(Literal::Integer(0)));
                    }
                    _ => {}
                }
                Ok(())
            }
            _ => Ok(()),
        };
        if let Err(error) = found {
            refused.get_or_insert(error);
        }
    });
    if let Some(error) = refused {
        return Err(error);
    }
    let mut allowed = true;
    expr.walk_mut(&mut |part| allowed &= is_allowed(part));
    if !allowed {
        return Err(mysql_error!(ER_PARTITION_FUNCTION_IS_NOT_ALLOWED));
    }
    if !reads {
        return Err(mysql_error!(ER_WRONG_EXPR_IN_PARTITION_FUNC_ERROR));
    }
    let mut is_right = true;
    expr.walk_mut(&mut |part| is_right &= has_what_it_wants(def, part));
    match is_right {
        true => Ok(()),
        false => Err(mysql_error!(ER_WRONG_EXPR_IN_PARTITION_FUNC_ERROR)),
    }
}

/// Whether it is MOD(a, b), which is `a % b`.
fn is_modulo(function: &Function) -> bool {
    function.schema.is_none() && function.name.eq_ignore_ascii_case("mod")
}

/// 1054 for a column that is not the table's.
fn name_column(def: &TableDef, column: &mut ColumnName) -> SqlResult<()> {
    let is_own = column.table.as_ref().is_none_or(|table| *table == def.name)
        && column.schema.as_ref().is_none_or(|schema| *schema == def.schema);
    let place = def.column_index(&column.column).filter(|place| Some(*place) != def.row_id_column());
    let Some(place) = place.filter(|_| is_own) else {
        let mut name = column.column.clone();
        for qualifier in [&column.table, &column.schema].into_iter().flatten() {
            name = format!("{qualifier}.{name}");
        }
        return Err(mysql_error!(ER_BAD_FIELD_ERROR, name, "partition function"));
    };
    (column.schema, column.table) = (None, None);
    column.column.clone_from(&def.columns.at(place)?.name);
    Ok(())
}

/// Whether a call has a column among its arguments of the type by which its value depends on the row alone.
fn has_what_it_wants(def: &TableDef, expr: &Expr) -> bool {
    let (wanted, arguments): (Wanted, &[Expr]) = match expr {
        Expr::Function(function) => {
            let name = function.name.to_ascii_lowercase();
            let known = ALLOWED.iter().find(|(known, _)| *known == name);
            (known.map_or(Wanted::Nothing, |(_, wanted)| *wanted), &function.arguments)
        }
        Expr::Extract(unit, operand) => (wanted_of(*unit), std::slice::from_ref(&**operand)),
        _ => return true,
    };
    let is = |judge: fn(&SqlType) -> bool| {
        arguments.iter().any(|argument| match argument {
            Expr::Column(column) => {
                let place = def.column_index(&column.column);
                place.and_then(|place| def.columns.get(place)).is_some_and(|known| judge(&known.sql_type))
            }
            _ => false,
        })
    };
    match wanted {
        Wanted::Anything => true,
        Wanted::Date => is(|ty| matches!(ty, SqlType::Date | SqlType::DateTime { .. })),
        // Both of DATEDIFF: a text is read by the session's rules.
        Wanted::Dates => arguments.iter().all(|argument| !matches!(argument, Expr::Literal(_))),
        Wanted::Time => is(|ty| matches!(ty, SqlType::Time { .. } | SqlType::DateTime { .. })),
        Wanted::DateTime => is(|ty| matches!(ty, SqlType::DateTime { .. })),
        Wanted::Timestamp => is(|ty| matches!(ty, SqlType::Timestamp { .. })),
        Wanted::Nothing => false,
    }
}

/// What EXTRACT of a unit wants.
fn wanted_of(unit: IntervalUnit) -> Wanted {
    match unit {
        IntervalUnit::Year
        | IntervalUnit::YearMonth
        | IntervalUnit::Quarter
        | IntervalUnit::Month
        | IntervalUnit::Day => Wanted::Date,
        IntervalUnit::DayHour
        | IntervalUnit::DayMinute
        | IntervalUnit::DaySecond
        | IntervalUnit::DayMicrosecond => Wanted::DateTime,
        IntervalUnit::Week => Wanted::Nothing,
        _ => Wanted::Time,
    }
}

impl Ddl<'_> {
    /// 1659 for a column that is no whole number, 1491 for an expression that is none.
    pub(super) fn check_functions(&self, def: &TableDef, clause: &Partitioning) -> SqlResult<()> {
        let methods = [(&clause.method, "PARTITION")].into_iter();
        for (method, what) in methods.chain(clause.subpartition.iter().map(|method| (method, "SUBPARTITION")))
        {
            let (PartitionMethod::Hash { expr, .. }
            | PartitionMethod::Range(expr)
            | PartitionMethod::List(expr)) = method
            else {
                continue;
            };
            let bound = self.bound(def, expr)?;
            if is_number(&bound) {
                continue;
            }
            return Err(match expr {
                Expr::Column(column) => {
                    mysql_error!(ER_FIELD_TYPE_NOT_ALLOWED_AS_PARTITION_FIELD, column.column)
                }
                _ => mysql_error!(ER_PARTITION_FUNC_NOT_ALLOWED_ERROR, what),
            });
        }
        Ok(())
    }

    /// An expression over the columns of a definition.
    pub(super) fn bound(&self, def: &TableDef, expr: &Expr) -> SqlResult<Bound> {
        let dictionary = self.engine.dictionary();
        let mut binder = self.session.binder(self.host, self.engine, &dictionary, &[]);
        binder.expr_of_definition(def, expr)
    }
}

/// Whether the values of an expression are whole numbers.
fn is_number(expr: &Bound) -> bool {
    match (&expr.ty, &expr.node) {
        (SqlType::Int { .. } | SqlType::Year | SqlType::Bit { .. }, _) => true,
        // Of an exact number they are whole.
        (SqlType::Decimal { scale: 0, .. }, Node::Call { function, .. }) => {
            matches!(function.name, "floor" | "ceiling" | "ceil")
        }
        _ => false,
    }
}
