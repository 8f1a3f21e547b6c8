//! Expressions.

use super::{List, Quoted, Text};
use crate::ast::*;
use std::fmt::{self, Display, Formatter};

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Literal(literal) => literal.fmt(f),
            Expr::Placeholder(_) => f.write_str("?"),
            Expr::Column(column) => column.fmt(f),
            Expr::UserVariable(name) => write!(f, "@{}", Quoted(name)),
            Expr::SystemVariable(variable) => variable.fmt(f),
            Expr::AssignUserVariable(name, value) => write!(f, "(@{}:={value})", Quoted(name)),
            Expr::Unary(op, operand) => unary(f, *op, operand),
            Expr::And(terms) => joined(f, terms, " and "),
            Expr::Or(terms) => joined(f, terms, " or "),
            Expr::Binary(op, left, right) => write!(f, "({left} {op} {right})"),
            Expr::DateArithmetic(date) => {
                let sign = if date.subtract { '-' } else { '+' };
                write!(f, "({} {sign} interval {} {})", date.date, date.amount, date.unit)
            }
            Expr::Quantified(op, quantifier, left, query) => {
                let quantifier = if *quantifier == Quantifier::All { "all" } else { "any" };
                write!(f, "({left} {op} {quantifier} ({query}))")
            }
            Expr::Between(between) => {
                let Between { negated, operand, low, high } = &**between;
                write!(f, "({operand}{} between {low} and {high})", not(*negated))
            }
            Expr::InList { negated, operand, list } => {
                write!(f, "({operand}{} in ({}))", not(*negated), List(list))
            }
            Expr::InSubquery { negated, operand, query } => {
                write!(f, "({operand}{} in ({query}))", not(*negated))
            }
            Expr::Like(like) => {
                write!(f, "({}{} like {}", like.operand, not(like.negated), like.pattern)?;
                if let Some(escape) = &like.escape {
                    write!(f, " escape {escape}")?;
                }
                f.write_str(")")
            }
            Expr::Regexp { negated, operand, pattern } => {
                write!(f, "({operand}{} regexp {pattern})", not(*negated))
            }
            Expr::SoundsLike(left, right) => write!(f, "({left} sounds like {right})"),
            Expr::MemberOf(value, array) => write!(f, "({value} member of ({array}))"),
            Expr::Is { negated, operand, test } => write!(f, "({operand} is{} {test})", not(*negated)),
            Expr::Row(items) => write!(f, "row({})", List(items)),
            Expr::Subquery(query) => write!(f, "({query})"),
            Expr::Exists(query) => write!(f, "exists({query})"),
            Expr::Case(case) => case.fmt(f),
            Expr::Cast(cast) => cast.fmt(f),
            Expr::ConvertUsing(operand, charset) => write!(f, "convert({operand} using {charset})"),
            Expr::Collate(operand, collation) => write!(f, "({operand} collate {collation})"),
            Expr::JsonPath { column, path, unquote } => {
                write!(f, "{column}{}{}", if *unquote { "->>" } else { "->" }, Text(path))
            }
            _ => self.fmt_call(f),
        }
    }
}

impl Expr {
    /// What looks like a call.
    fn fmt_call(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Function(function) => function.fmt(f),
            Expr::Aggregate(aggregate) => aggregate.fmt(f),
            Expr::WindowFunction(function) => function.fmt(f),
            Expr::Match(search) => {
                write!(f, "(match ({}) against ({}", List(&search.columns), search.against)?;
                f.write_str(match (search.boolean, search.query_expansion) {
                    (true, _) => " in boolean mode))",
                    (false, true) => " with query expansion))",
                    (false, false) => "))",
                })
            }
            Expr::Extract(unit, operand) => write!(f, "extract({unit} from {operand})"),
            Expr::TimestampAdd(unit, amount, date) => write!(f, "timestampadd({unit},{amount},{date})"),
            Expr::TimestampDiff(unit, from, to) => write!(f, "timestampdiff({unit},{from},{to})"),
            Expr::GetFormat(kind, operand) => {
                let kind = match kind {
                    FormatKind::Date => "date",
                    FormatKind::Time => "time",
                    FormatKind::DateTime => "datetime",
                };
                write!(f, "get_format({kind},{operand})")
            }
            Expr::Trim(trim) => trim.fmt(f),
            Expr::Char(arguments, charset) => {
                write!(f, "char({}", List(arguments))?;
                if let Some(charset) = charset {
                    write!(f, " using {}", Quoted(charset))?;
                }
                f.write_str(")")
            }
            Expr::WeightString(operand, target) => match target {
                None => write!(f, "weight_string({operand})"),
                Some((WeightStringAs::Char, length)) => {
                    write!(f, "weight_string({operand} as char({length}))")
                }
                Some((WeightStringAs::Binary, length)) => {
                    write!(f, "weight_string({operand} as binary({length}))")
                }
            },
            Expr::Values(column) => write!(f, "values({column})"),
            Expr::DefaultOf(column) => write!(f, "default({column})"),
            Expr::Default => f.write_str("default"),
            Expr::JsonValue(value) => value.fmt(f),
            Expr::IntervalFunction(arguments) => write!(f, "interval({})", List(arguments)),
            other => unreachable!("{other:?} is printed by fmt"),
        }
    }
}

fn not(negated: bool) -> &'static str {
    if negated { " not" } else { "" }
}

fn joined(f: &mut Formatter<'_>, terms: &[Expr], between: &str) -> fmt::Result {
    f.write_str("(")?;
    for (index, term) in terms.iter().enumerate() {
        if index > 0 {
            f.write_str(between)?;
        }
        condition(f, term)?;
    }
    f.write_str(")")
}

/// An expression that stands where no operator is beside it.
pub(super) fn condition(f: &mut Formatter<'_>, expr: &Expr) -> fmt::Result {
    match expr {
        Expr::InSubquery { negated, operand, query } => {
            write!(f, "{operand}{} in ({query})", not(*negated))
        }
        expr => expr.fmt(f),
    }
}

fn unary(f: &mut Formatter<'_>, op: UnaryOp, operand: &Expr) -> fmt::Result {
    match op {
        UnaryOp::Not => write!(f, "(not({operand}))"),
        UnaryOp::Minus => write!(f, "-({operand})"),
        UnaryOp::Plus => write!(f, "+({operand})"),
        UnaryOp::BitNot => write!(f, "~({operand})"),
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Null => f.write_str("NULL"),
            Literal::Bool(value) => write!(f, "{value}"),
            Literal::Integer(value) => write!(f, "{value}"),
            Literal::Decimal(text) | Literal::Double(_, text) => f.write_str(text),
            Literal::String(StringLiteral { value, charset }) => {
                introducer(f, charset)?;
                Text(value).fmt(f)
            }
            Literal::Hex(bytes, None) if !bytes.is_empty() => {
                f.write_str("0x")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02X}"))
            }
            Literal::Hex(bytes, charset) => {
                introducer(f, charset)?;
                f.write_str(if charset.is_some() { " x'" } else { "x'" })?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02X}"))?;
                f.write_str("'")
            }
            Literal::Bit(bytes, charset) => {
                introducer(f, charset)?;
                f.write_str(if charset.is_some() { " b'" } else { "b'" })?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:08b}"))?;
                f.write_str("'")
            }
            Literal::Temporal(kind, text) => {
                let kind = match kind {
                    TemporalKind::Date => "DATE",
                    TemporalKind::Time => "TIME",
                    TemporalKind::Timestamp => "TIMESTAMP",
                };
                write!(f, "{kind}{}", Text(text))
            }
        }
    }
}

fn introducer(f: &mut Formatter<'_>, charset: &Option<Name>) -> fmt::Result {
    match charset {
        Some(charset) => write!(f, "_{charset}"),
        None => Ok(()),
    }
}

impl Display for SystemVariable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self.scope {
            VariableScope::Unspecified => "@@",
            VariableScope::Session => "@@session.",
            VariableScope::Global => "@@global.",
            VariableScope::Persist => "@@persist.",
            VariableScope::PersistOnly => "@@persist_only.",
        })?;
        if let Some(component) = &self.component {
            write!(f, "{}.", Quoted(component))?;
        }
        Quoted(&self.name).fmt(f)
    }
}

impl Display for BinaryOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BinaryOp::Xor => "xor",
            BinaryOp::Equal => "=",
            BinaryOp::NullSafeEqual => "<=>",
            BinaryOp::NotEqual => "<>",
            BinaryOp::Less => "<",
            BinaryOp::LessEqual => "<=",
            BinaryOp::Greater => ">",
            BinaryOp::GreaterEqual => ">=",
            BinaryOp::BitOr => "|",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitXor => "^",
            BinaryOp::ShiftLeft => "<<",
            BinaryOp::ShiftRight => ">>",
            BinaryOp::Plus => "+",
            BinaryOp::Minus => "-",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::IntegerDivide => "DIV",
            BinaryOp::Modulo => "%",
            BinaryOp::Concat => "||",
        })
    }
}

impl Display for IsTest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IsTest::Null => "null",
            IsTest::True => "true",
            IsTest::False => "false",
            IsTest::Unknown => "unknown",
        })
    }
}

impl Display for IntervalUnit {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.keyword())
    }
}

impl Display for Case {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("(case")?;
        if let Some(operand) = &self.operand {
            write!(f, " {operand}")?;
        }
        for (condition, result) in &self.branches {
            write!(f, " when {condition} then {result}")?;
        }
        if let Some(otherwise) = &self.otherwise {
            write!(f, " else {otherwise}")?;
        }
        f.write_str(" end)")
    }
}

impl Display for Cast {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.prefix_binary {
            return write!(f, "(binary {})", self.operand);
        }
        write!(f, "cast({}", self.operand)?;
        if let Some(zone) = &self.at_time_zone {
            write!(f, " at time zone {}", Text(zone))?;
        }
        write!(f, " as {}{})", self.target, if self.array { " array" } else { "" })
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.schema {
            Some(schema) => write!(f, "{}.{}({})", Quoted(schema), Quoted(&self.name), List(&self.arguments)),
            None => {
                let plain = self.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                if plain {
                    write!(f, "{}({})", self.name.to_ascii_lowercase(), List(&self.arguments))
                } else {
                    write!(f, "{}({})", Quoted(&self.name), List(&self.arguments))
                }
            }
        }
    }
}

impl Display for Aggregate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}", self.kind.name(), if self.distinct { "distinct " } else { "" })?;
        if self.arguments.is_empty() {
            f.write_str("*")?
        } else {
            List(&self.arguments).fmt(f)?
        }
        if !self.order_by.is_empty() {
            write!(f, " order by {}", List(&self.order_by))?;
        }
        if let Some(separator) = &self.separator {
            write!(f, " separator {}", Text(separator))?;
        }
        f.write_str(")")?;
        match &self.over {
            Some(window) => window.fmt(f),
            None => Ok(()),
        }
    }
}

impl Display for Window {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Window::Named(name) => write!(f, " OVER {}", Quoted(name)),
            Window::Spec(spec) => write!(f, " OVER {spec} "),
        }
    }
}

impl Display for WindowFunction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.kind.name(), List(&self.arguments))?;
        if self.from_last {
            f.write_str(" from last")?;
        }
        if self.ignore_nulls {
            f.write_str(" ignore nulls")?;
        }
        self.over.fmt(f)
    }
}

impl Display for Trim {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let side = match self.side {
            TrimSide::Both => "both",
            TrimSide::Leading => "leading",
            TrimSide::Trailing => "trailing",
        };
        match &self.remove {
            Some(remove) => write!(f, "trim({side} {remove} from {})", self.operand),
            None if self.side == TrimSide::Both => write!(f, "trim({})", self.operand),
            None => write!(f, "trim({side} from {})", self.operand),
        }
    }
}

impl Display for JsonValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "json_value({},{}", self.document, Text(&self.path))?;
        if let Some(returning) = &self.returning {
            write!(f, " returning {returning}")?;
        }
        json_on(f, &self.on_empty, "empty")?;
        json_on(f, &self.on_error, "error")?;
        f.write_str(")")
    }
}

/// `... ON EMPTY`, `... ON ERROR`.
pub(super) fn json_on(f: &mut Formatter<'_>, action: &Option<JsonOn>, event: &str) -> fmt::Result {
    match action {
        None => Ok(()),
        Some(JsonOn::Null) => write!(f, " null on {event}"),
        Some(JsonOn::Error) => write!(f, " error on {event}"),
        Some(JsonOn::Default(value)) => write!(f, " default {value} on {event}"),
    }
}
