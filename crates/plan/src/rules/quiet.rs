//! What may be left out where its value is not read: nothing else tells whether it was computed. It has no
//! effect, never fails and never warns, whatever the rows are.
//!
//! MySQL computes every column of a derived table, read or not, and its errors (1690, 1242) and warnings
//! (1292, 1365, 1260) come of columns that are not read as well. What may give one is not quiet. The check
//! relies on types alone: an INT times an INT fits a BIGINT, a text as a number may be none.

use palisade_catalog::{SqlType, Value};
use palisade_engine::ReadMode;
use palisade_expr::aggregate::AggregateSpec;
use palisade_expr::func::control::{COALESCE, IF};
use palisade_expr::{ArithmeticOp, Domain, Expr, Node, Numeric, Subquery, SubqueryUse, Truth};
use palisade_parser::ast::AggregateKind;

use super::Statement;
use crate::logical::{Block, Body, Leaf, LogicalQuery};
use crate::window::{Edge, WindowCall, WindowFunction, WindowPlan};

/// Bits of an integer that is below the ends of BIGINT.
const SAFE_BITS: u32 = 62;
/// Digits that a DECIMAL has at most.
const MOST_DIGITS: u8 = 65;
/// Characters of a text that is shorter than any `max_allowed_packet`.
const SAFE_LENGTH: u32 = 255;

/// Whether an expression is quiet.
pub(super) fn is_quiet(expr: &Expr, statement: &Statement<'_, '_>) -> bool {
    let is_own = match &expr.node {
        Node::Literal(_) | Node::Column { .. } | Node::Parameter(_) | Node::UserVariable(_) => true,
        Node::And(parts) | Node::Or(parts) => parts.iter().all(is_truth),
        Node::Xor(left, right) => is_truth(left) && is_truth(right),
        Node::Not(operand) => is_truth(operand),
        Node::Is { operand, truth, .. } => *truth == Truth::Null || is_truth(operand),
        Node::Compare { domain, left, right, .. } => fits(*domain, left) && fits(*domain, right),
        Node::Between { operand, domain, low, high, .. } => {
            [operand, low, high].into_iter().all(|part| fits(*domain, part))
        }
        Node::In { operand, list, .. } => {
            list.iter().all(|(domain, item)| fits(*domain, operand) && fits(*domain, item))
        }
        Node::Case { branches, otherwise } => {
            let results = branches.iter().map(|(_, result)| result).chain(otherwise.as_deref());
            branches.iter().all(|(condition, _)| is_truth(condition))
                && results.into_iter().all(|result| becomes(&result.ty, &expr.ty))
        }
        Node::Arithmetic { op, numeric, left, right } => {
            is_safe_arithmetic(*op, *numeric, [left, right], &expr.ty)
        }
        Node::Negate(operand) => bits(operand).is_some_and(|bits| bits <= SAFE_BITS),
        Node::Call { function, arguments } => is_quiet_function(function.name, arguments, &expr.ty),
        Node::Subquery(subquery) => is_quiet_subquery(subquery, statement),
        Node::AssignUserVariable(..)
        | Node::SystemVariable { .. }
        | Node::BitNot(_)
        | Node::Bits { .. }
        | Node::Like { .. }
        | Node::Cast { .. }
        | Node::Transcode { .. } => false,
    };
    let mut quiet = is_own;
    if quiet {
        expr.children(&mut |child| quiet &= is_quiet(child, statement));
    }
    quiet
}

/// Whether an aggregate is quiet: of doubles and texts a sum may fail or warn, and a list of values may be
/// cut.
pub(super) fn is_quiet_aggregate(spec: &AggregateSpec, statement: &Statement<'_, '_>) -> bool {
    let of_exact = || spec.arguments.iter().all(|argument| is_exact(&argument.ty));
    let is_known = match spec.kind {
        AggregateKind::Count | AggregateKind::Min | AggregateKind::Max => true,
        AggregateKind::Sum | AggregateKind::Avg => of_exact(),
        _ => false,
    };
    is_known
        && spec.order_by.is_empty()
        && spec.arguments.iter().all(|argument| is_quiet(argument, statement))
}

/// Whether a function over a window is quiet.
pub(super) fn is_quiet_call(call: &WindowCall, statement: &Statement<'_, '_>) -> bool {
    let is_own = match &call.function {
        WindowFunction::RowNumber
        | WindowFunction::Rank
        | WindowFunction::DenseRank
        | WindowFunction::CumeDist
        | WindowFunction::PercentRank
        | WindowFunction::First
        | WindowFunction::Last => true,
        WindowFunction::Shifted { offset: number, .. } => {
            is_number(number) && call.arguments.iter().all(|argument| argument.ty == call.ty)
        }
        WindowFunction::Ntile(number) | WindowFunction::Nth(number) => is_number(number),
        WindowFunction::Aggregate(spec) => is_quiet_aggregate(spec, statement),
    };
    let is_known = |edge: &Edge| match edge {
        Edge::First | Edge::Last | Edge::Current => true,
        Edge::Rows { amount, .. } => is_number(amount),
        Edge::Value { .. } => false,
    };
    is_own
        && is_known(&call.frame.start)
        && is_known(&call.frame.end)
        && call.arguments.iter().all(|argument| is_quiet(argument, statement))
}

/// Whether what divides and orders the rows of a window is quiet.
pub(super) fn has_quiet_keys(window: &WindowPlan, statement: &Statement<'_, '_>) -> bool {
    window.partition.iter().chain(&window.order).all(|key| is_quiet(&key.expr, statement))
}

/// A number above 0 that is written in the statement.
fn is_number(expr: &Expr) -> bool {
    matches!(expr.node, Node::Literal(Value::Int(number)) if number > 0)
}

/// Whether a value is a truth as it is: a text may be no number.
fn is_truth(expr: &Expr) -> bool {
    expr.ty.is_numeric() || expr.ty == SqlType::Null
}

/// Whether a value is compared in a domain as it is.
fn fits(domain: Domain, expr: &Expr) -> bool {
    let ty = &expr.ty;
    let fits = match domain {
        Domain::Integer | Domain::Decimal | Domain::Double | Domain::Fixed(_) => ty.is_numeric(),
        Domain::Text(_) => ty.is_string() && *ty != SqlType::Json,
        Domain::DateTime => {
            matches!(ty, SqlType::Date | SqlType::DateTime { .. } | SqlType::Timestamp { .. })
        }
        Domain::Time => matches!(ty, SqlType::Time { .. }),
        Domain::YearOrDate | Domain::DateOrNone | Domain::TimeOrNone | Domain::Json(..) => false,
    };
    fits || *ty == SqlType::Null
}

/// Whether values of a type are values of another one as they are.
fn becomes(from: &SqlType, to: &SqlType) -> bool {
    from == to
        || *from == SqlType::Null
        || to.is_string() && *to != SqlType::Json && *from != SqlType::Json
        || from.is_numeric() && to.is_numeric()
}

fn is_exact(ty: &SqlType) -> bool {
    matches!(ty, SqlType::Int { .. } | SqlType::Decimal { .. } | SqlType::Null)
}

/// Whether the result of an operation is always one that its type holds.
fn is_safe_arithmetic(op: ArithmeticOp, numeric: Numeric, operands: [&Expr; 2], ty: &SqlType) -> bool {
    use ArithmeticOp::{Add, Divide, Multiply, Subtract};
    let [_, right] = operands;
    let is_zero = |expr: &Expr| match &expr.node {
        Node::Literal(Value::Int(number)) => *number == 0,
        Node::Literal(Value::Decimal(number)) => number.is_zero(),
        _ => true,
    };
    match (numeric, op) {
        (Numeric::Signed, Add | Subtract | Multiply) => {
            bits_of(op, operands).is_some_and(|bits| bits <= SAFE_BITS)
        }
        (Numeric::Unsigned, Add | Multiply) => {
            let is_positive = |expr: &&Expr| {
                expr.ty.is_unsigned() || matches!(expr.node, Node::Literal(Value::Int(number)) if number >= 0)
            };
            operands.iter().all(is_positive) && bits_of(op, operands).is_some_and(|bits| bits <= SAFE_BITS)
        }
        (Numeric::Decimal, Add | Subtract | Multiply | Divide) => {
            let has_room = matches!(ty, SqlType::Decimal { precision, .. } if *precision < MOST_DIGITS);
            has_room
                && operands.iter().all(|operand| is_exact(&operand.ty))
                && (op != Divide || !is_zero(right))
        }
        _ => false,
    }
}

/// Bits of the result of adding, subtracting or multiplying integers at most.
fn bits_of(op: ArithmeticOp, [left, right]: [&Expr; 2]) -> Option<u32> {
    let (left, right) = (bits(left)?, bits(right)?);
    match op {
        ArithmeticOp::Add | ArithmeticOp::Subtract => Some(left.max(right) + 1),
        ArithmeticOp::Multiply => Some(left + right),
        _ => None,
    }
}

/// Bits of the absolute value of an integer at most.
fn bits(expr: &Expr) -> Option<u32> {
    match &expr.node {
        Node::Literal(Value::Int(number)) => Some(u64::BITS - number.unsigned_abs().leading_zeros()),
        Node::Negate(operand) => bits(operand),
        Node::Arithmetic { op, numeric: Numeric::Signed | Numeric::Unsigned, left, right } => {
            bits_of(*op, [left, right])
        }
        _ => match expr.ty {
            SqlType::Int { width, .. } => Some(width.bytes() as u32 * u8::BITS),
            _ => None,
        },
    }
}

/// Whether a call of a function is quiet, if its arguments are.
fn is_quiet_function(name: &str, arguments: &[Expr], ty: &SqlType) -> bool {
    let is_plain = |argument: &Expr| argument.ty != SqlType::Json;
    let is_short = matches!(
        ty,
        SqlType::Char { length, .. } | SqlType::VarChar { length, .. } if *length <= SAFE_LENGTH
    );
    let is_moment = |argument: &Expr| {
        matches!(argument.ty, SqlType::Date | SqlType::DateTime { .. } | SqlType::Timestamp { .. })
    };
    match (name, arguments) {
        (IF, [condition, results @ ..]) => {
            is_truth(condition) && results.iter().all(|result| becomes(&result.ty, ty))
        }
        (name, results) if name == COALESCE.name || name == "ifnull" => {
            results.iter().all(|result| becomes(&result.ty, ty))
        }
        ("isnull", _) => true,
        ("concat", parts) => is_short && parts.iter().all(is_plain),
        ("upper" | "lower" | "length" | "char_length", [text]) => is_plain(text),
        ("year" | "month" | "dayofmonth", [moment]) => is_moment(moment),
        _ => false,
    }
}

/// Whether a subquery is quiet: it has one row at most where its value is wanted.
fn is_quiet_subquery(subquery: &Subquery, statement: &Statement<'_, '_>) -> bool {
    let query = statement.subqueries.get(subquery.number).and_then(Option::as_ref);
    let Some(query) = query else { return false };
    let Body::Block(block) = &query.body else { return false };
    let is_one =
        block.grouping.as_ref().is_some_and(|grouping| grouping.group.is_empty() && !grouping.rollup);
    let is_fit = match subquery.usage {
        SubqueryUse::Scalar => is_one,
        SubqueryUse::Exists { .. } => true,
        SubqueryUse::Quantified { .. } => false,
    };
    is_fit && is_quiet_block(block, &query.output, statement)
}

/// Whether reading all rows of a block is quiet, whose tables are read by a snapshot.
fn is_quiet_block(block: &Block, output: &[Expr], statement: &Statement<'_, '_>) -> bool {
    let mut quiet = block.windows.is_empty() && !block.whole_rows && block.order.limit.is_none();
    quiet &= output.iter().all(|expr| is_quiet(expr, statement));
    let aggregates = block.grouping.iter().flat_map(|grouping| &grouping.aggregates);
    quiet &= aggregates.into_iter().all(|spec| is_quiet_aggregate(spec, statement));
    block.exprs(&mut |expr| quiet = quiet && is_quiet(expr, statement));
    if let Some(tree) = &block.tree {
        tree.leaves(&mut |leaf| {
            quiet &= match leaf {
                Leaf::Table(leaf) => leaf.mode == ReadMode::Snapshot,
                Leaf::Derived { query, .. } => is_quiet_query(query, statement),
                Leaf::Virtual(_) | Leaf::Recursive { .. } | Leaf::Working { .. } => false,
            };
        });
    }
    quiet
}

fn is_quiet_query(query: &LogicalQuery, statement: &Statement<'_, '_>) -> bool {
    match &query.body {
        Body::Block(block) => is_quiet_block(block, &query.output, statement),
        Body::Values { .. } | Body::Combination(_) | Body::Arranged { .. } => false,
    }
}
