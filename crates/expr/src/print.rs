//! Expressions as text, as error messages and EXPLAIN show them.

use std::fmt::{self, Display, Formatter};

use palisade_catalog::{SqlType, Value};

use super::aggregate::{AggregateKind, AggregateSpec};
use super::convert::display_text;
use super::{
    ArithmeticOp, BitOp, CastTarget, Coercibility, Comparison, Domain, Expr, Loss, Node, SubqueryUse, Truth,
};
use crate::func::json::convert::is_truth;

mod call;

impl ArithmeticOp {
    /// As SQL writes it.
    pub fn symbol(self) -> &'static str {
        match self {
            ArithmeticOp::Add => "+",
            ArithmeticOp::Subtract => "-",
            ArithmeticOp::Multiply => "*",
            ArithmeticOp::Divide => "/",
            ArithmeticOp::IntegerDivide => "DIV",
            ArithmeticOp::Modulo => "%",
        }
    }
}

impl BitOp {
    /// As SQL writes it.
    pub fn symbol(self) -> &'static str {
        match self {
            BitOp::And => "&",
            BitOp::Or => "|",
            BitOp::Xor => "^",
            BitOp::ShiftLeft => "<<",
            BitOp::ShiftRight => ">>",
        }
    }
}

fn list(f: &mut Formatter<'_>, items: &[Expr], separator: &str) -> fmt::Result {
    for (position, item) in items.iter().enumerate() {
        if position > 0 {
            f.write_str(separator)?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

/// What COLLATE is written of, if it is written of this: what insists on its collation, as nothing in it does.
fn collated(expr: &Expr) -> Option<&Expr> {
    if expr.coercibility != Coercibility::Explicit || !expr.ty.is_string() {
        return None;
    }
    match &expr.node {
        Node::Literal(_) | Node::Column { .. } | Node::Parameter(_) | Node::UserVariable(_) => Some(expr),
        // A number, of which COLLATE has made a text.
        Node::Cast { operand, target: CastTarget::Char { length: None, .. } } if operand.ty.is_numeric() => {
            Some(operand)
        }
        Node::Call { arguments, .. } => {
            let insists = |argument: &Expr| argument.coercibility == Coercibility::Explicit;
            (!arguments.iter().any(insists)).then_some(expr)
        }
        _ => None,
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match collated(self) {
            Some(operand) => {
                f.write_str("(")?;
                plain(operand, f)?;
                write!(f, " collate {})", self.ty.collation().get().name)
            }
            None => plain(self, f),
        }
    }
}

/// An expression without the COLLATE that is written of it.
fn plain(expr: &Expr, f: &mut Formatter<'_>) -> fmt::Result {
    let not = |negated: bool| if negated { "not " } else { "" };
    match &expr.node {
        Node::Literal(Value::Null) => f.write_str("NULL"),
        Node::Literal(value) => {
            let text = display_text(value.as_ref(), &expr.ty);
            match value {
                // TRUE and FALSE are the literals of type INT
                Value::Int(truth @ 0..=1) if expr.ty == SqlType::INT => {
                    f.write_str(if *truth == 1 { "true" } else { "false" })
                }
                Value::Double(number) => match number.is_sign_negative() {
                    true => write!(f, "-({:e})", number.abs()),
                    false => write!(f, "{number:e}"),
                },
                Value::Int(_) | Value::UInt(_) | Value::Decimal(_) => match text.strip_prefix('-') {
                    Some(magnitude) => write!(f, "-({magnitude})"),
                    None => f.write_str(&text),
                },
                Value::Bit { bits, width } if expr.ty.is_string() => {
                    write!(f, "0x{bits:0digits$x}", digits = usize::from(width.div_ceil(8)) * 2)
                }
                Value::Date(_) => write!(f, "DATE'{text}'"),
                Value::Time(_) => write!(f, "TIME'{text}'"),
                Value::DateTime(_) => write!(f, "TIMESTAMP'{text}'"),
                _ => {
                    introducer(f, &expr.ty)?;
                    quoted(f, &text)
                }
            }
        }
        Node::Column { name, .. } => f.write_str(name),
        Node::Parameter(_) => f.write_str("?"),
        Node::UserVariable(name) => write!(f, "(@`{name}`)"),
        Node::AssignUserVariable(name, value) => write!(f, "(@`{name}`:={value})"),
        Node::SystemVariable { name, .. } => write!(f, "@@{name}"),
        Node::Negate(operand) => write!(f, "-({})", written(operand)),
        Node::BitNot(operand) => write!(f, "~({operand})"),
        Node::Arithmetic { op, left, right, .. } => write!(f, "({left} {} {right})", op.symbol()),
        Node::Bits { op, left, right } => write!(f, "({left} {} {right})", op.symbol()),
        Node::Compare { comparison, domain, left, right } => {
            let [left, right] = [left, right].map(|side| match domain {
                Domain::Text(_) => compared(side),
                _ => side,
            });
            write!(f, "({left} {} {right})", comparison.symbol())
        }
        Node::And(parts) => conditions(f, parts, " and "),
        Node::Or(parts) => conditions(f, parts, " or "),
        Node::Xor(left, right) => write!(f, "({} xor {})", Condition(left), Condition(right)),
        Node::Not(operand) if is_truth(operand) => write!(f, "(not({operand}))"),
        Node::Not(operand) => write!(f, "(0 = {operand})"),
        Node::Is { operand, truth: Truth::Null, negated } => {
            write!(f, "({operand} is {}null)", not(*negated))
        }
        Node::Is { operand, truth, negated } => {
            let truth = if *truth == Truth::True { "true" } else { "false" };
            write!(f, "({} is {}{truth})", Condition(operand), not(*negated))
        }
        Node::In { operand, list: items, negated } => {
            write!(f, "({operand} {}in (", not(*negated))?;
            for (position, (_, item)) in items.iter().enumerate() {
                write!(f, "{}{item}", if position > 0 { "," } else { "" })?;
            }
            f.write_str("))")
        }
        Node::Between { operand, low, high, negated, .. } => {
            write!(f, "({operand} {}between {low} and {high})", not(*negated))
        }
        Node::Like { operand, pattern, escape, negated, .. } => {
            f.write_str(if *negated { "(not((" } else { "(" })?;
            write!(f, "{operand} like {pattern}")?;
            if let Some(escape) = escape {
                write!(f, " escape {escape}")?;
            }
            f.write_str(if *negated { ")))" } else { ")" })
        }
        Node::Case { branches, otherwise } => {
            f.write_str("(case")?;
            for (condition, result) in branches {
                write!(f, " when {condition} then {result}")?;
            }
            if let Some(otherwise) = otherwise {
                write!(f, " else {otherwise}")?;
            }
            f.write_str(" end)")
        }
        Node::Cast { operand, target } if target.is_comparison() || target.is_added() => operand.fmt(f),
        Node::Cast { operand, target } => {
            write!(f, "cast({operand} as ")?;
            call::target(f, target)?;
            f.write_str(")")
        }
        Node::Transcode { operand, to, loss: Loss::Allowed } => {
            write!(f, "convert({operand} using {})", to.get().charset.name())
        }
        // The statement does not name it.
        Node::Transcode { operand, .. } => match &operand.node {
            Node::Literal(value @ Value::Bytes(_)) if operand.ty.is_text() => {
                quoted(f, &display_text(value.as_ref(), &operand.ty))
            }
            _ => operand.fmt(f),
        },
        Node::Call { function, arguments } => call::call(f, function.name, arguments, &expr.ty),
        Node::Subquery(subquery) => match &subquery.usage {
            SubqueryUse::Scalar => write!(f, "(select #{})", subquery.number + 2),
            SubqueryUse::Exists { negated } => {
                write!(f, "{}exists(select #{})", not(*negated), subquery.number + 2)
            }
            SubqueryUse::Quantified { left, comparison, all, negated, .. } => {
                f.write_str("(")?;
                list(f, left, ",")?;
                let number = subquery.number + 2;
                match (comparison, all) {
                    (Comparison::Equal, false) => write!(f, " {}in (select #{number}))", not(*negated)),
                    _ => {
                        let which = if *all { "all" } else { "any" };
                        write!(f, " {}{} {which} (select #{number}))", not(*negated), comparison.symbol())
                    }
                }
            }
        },
    }
}

/// What is negated, as it is written: a constant below zero that is, has become a DECIMAL.
fn written(operand: &Expr) -> &Expr {
    match &operand.node {
        Node::Cast { operand: constant, target: CastTarget::Decimal { scale: 0, .. } }
            if matches!(constant.node, Node::Literal(Value::Int(..0))) =>
        {
            constant
        }
        _ => operand,
    }
}

/// What is compared with a text, as it is written: a time has become one.
fn compared(side: &Expr) -> &Expr {
    match &side.node {
        Node::Cast { operand, target: CastTarget::Char { length: None, .. } }
            if matches!(operand.ty, SqlType::Time { .. }) =>
        {
            operand
        }
        _ => side,
    }
}

/// An expression where a truth value is wanted.
struct Condition<'e>(&'e Expr);

impl Display for Condition<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if is_truth(self.0) { self.0.fmt(f) } else { write!(f, "(0 <> {})", self.0) }
    }
}

fn conditions(f: &mut Formatter<'_>, parts: &[Expr], separator: &str) -> fmt::Result {
    f.write_str("(")?;
    for (position, part) in parts.iter().enumerate() {
        write!(f, "{}{}", if position > 0 { separator } else { "" }, Condition(part))?;
    }
    f.write_str(")")
}

/// The character set that is written before a text: none if it is that of the server.
fn introducer(f: &mut Formatter<'_>, ty: &SqlType) -> fmt::Result {
    let charset = ty.collation().get().charset;
    match ty.is_string() && *ty != SqlType::Json && !charset.is_utf8() {
        true => write!(f, "_{}", charset.name()),
        false => Ok(()),
    }
}

fn quoted(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    write!(f, "'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

impl Display for AggregateSpec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}", self.kind.name(), if self.distinct { "distinct " } else { "" })?;
        if self.arguments.is_empty() {
            f.write_str("0")?;
        }
        list(f, &self.arguments, ",")?;
        for (position, key) in self.order_by.iter().enumerate() {
            f.write_str(if position > 0 { "," } else { " order by " })?;
            write!(f, "{}{}", key.expr, if key.descending { " desc" } else { "" })?;
        }
        if self.kind == AggregateKind::GroupConcat {
            write!(f, " separator '{}'", String::from_utf8_lossy(&self.separator))?;
        }
        f.write_str(")")
    }
}
