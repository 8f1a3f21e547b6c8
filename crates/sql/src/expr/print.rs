//! Expressions as text, as error messages and EXPLAIN show them.

use std::fmt::{self, Display, Formatter};

use palisade_catalog::{SqlType, Value};

use super::convert::display_text;
use super::{ArithmeticOp, BitOp, Expr, Node, SubqueryUse, Truth};
use crate::exec::aggregate::{AggregateKind, AggregateSpec};

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

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let not = |negated: bool| if negated { "not " } else { "" };
        match &self.node {
            Node::Literal(Value::Null) => f.write_str("NULL"),
            Node::Literal(value) => {
                let text = display_text(value.as_ref(), &self.ty);
                match value {
                    // TRUE and FALSE are the literals of type INT
                    Value::Int(truth @ 0..=1) if self.ty == SqlType::INT => {
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
                    Value::Bit { bits, width } if self.ty.is_string() => {
                        write!(f, "0x{bits:0digits$x}", digits = usize::from(width.div_ceil(8)) * 2)
                    }
                    Value::Date(_) => write!(f, "DATE'{text}'"),
                    Value::Time(_) => write!(f, "TIME'{text}'"),
                    Value::DateTime(_) => write!(f, "TIMESTAMP'{text}'"),
                    _ => write!(f, "'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
                }
            }
            Node::Column { name, .. } => f.write_str(name),
            Node::Parameter(_) => f.write_str("?"),
            Node::UserVariable(name) => write!(f, "(@`{name}`)"),
            Node::AssignUserVariable(name, value) => write!(f, "(@`{name}`:={value})"),
            Node::SystemVariable { name, .. } => write!(f, "@@{name}"),
            Node::Negate(operand) => write!(f, "-({operand})"),
            Node::BitNot(operand) => write!(f, "~({operand})"),
            Node::Arithmetic { op, left, right, .. } => write!(f, "({left} {} {right})", op.symbol()),
            Node::Bits { op, left, right } => write!(f, "({left} {} {right})", op.symbol()),
            Node::Compare { comparison, left, right, .. } => {
                write!(f, "({left} {} {right})", comparison.symbol())
            }
            Node::And(parts) => {
                f.write_str("(")?;
                list(f, parts, " and ")?;
                f.write_str(")")
            }
            Node::Or(parts) => {
                f.write_str("(")?;
                list(f, parts, " or ")?;
                f.write_str(")")
            }
            Node::Xor(left, right) => write!(f, "({left} xor {right})"),
            Node::Not(operand) => write!(f, "(not({operand}))"),
            Node::Is { operand, truth, negated } => {
                let truth = match truth {
                    Truth::True => "true",
                    Truth::False => "false",
                    Truth::Null => "null",
                };
                write!(f, "({operand} is {}{truth})", not(*negated))
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
            Node::Like { operand, pattern, negated, .. } => {
                write!(f, "({operand} {}like {pattern})", not(*negated))
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
                let target = format!("{target:?}");
                let name = target.split([' ', '{']).next().unwrap_or_default().to_lowercase();
                write!(f, "cast({operand} as {name})")
            }
            Node::Transcode { operand, to, .. } => {
                write!(f, "convert({operand} using {})", to.get().charset.name())
            }
            Node::Call { function, arguments } if let Some(sum) = interval_sum(function.name, arguments) => {
                let (date, sign, amount, unit) = sum;
                write!(f, "({date} {sign} interval {amount} {unit})")
            }
            Node::Call { function, arguments } => {
                let name = match function.name {
                    "lcase" => "lower",
                    "power" => "pow",
                    "ucase" => "upper",
                    name => name,
                };
                write!(f, "{name}(")?;
                list(f, arguments, ",")?;
                f.write_str(")")
            }
            Node::Subquery(subquery) => match &subquery.usage {
                SubqueryUse::Scalar => write!(f, "(select #{})", subquery.number + 2),
                SubqueryUse::Exists { negated } => {
                    write!(f, "{}exists(select #{})", not(*negated), subquery.number + 2)
                }
                SubqueryUse::Quantified { left, negated, .. } => {
                    f.write_str("(")?;
                    list(f, left, ",")?;
                    write!(f, " {}in (select #{}))", not(*negated), subquery.number + 2)
                }
            },
        }
    }
}

/// A date plus or minus an interval: date, sign, amount and unit.
fn interval_sum<'e>(function: &str, arguments: &'e [Expr]) -> Option<(&'e Expr, char, &'e Expr, String)> {
    let [first, second, third] = arguments else { return None };
    let (date, sign, amount, unit) = match function {
        "date_add" => (first, '+', second, third),
        "date_sub" => (first, '-', second, third),
        "timestampadd" => (third, '+', second, first),
        _ => return None,
    };
    let Node::Literal(Value::Bytes(unit)) = &unit.node else { return None };
    Some((date, sign, amount, String::from_utf8_lossy(unit).to_lowercase()))
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
