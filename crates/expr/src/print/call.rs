//! Calls and casts as text. MySQL knows some functions as others, and writes them as those.

use std::fmt::{self, Formatter};

use palisade_catalog::{SqlType, Value};

use super::list;
use crate::{CastTarget, Expr, Node};

/// A call of a function that is of a type.
pub fn call(f: &mut Formatter<'_>, function: &str, arguments: &[Expr], ty: &SqlType) -> fmt::Result {
    if let Some((date, sign, amount, unit)) = interval_sum(function, arguments) {
        return write!(f, "({date} {sign} interval {amount} {unit})");
    }
    let digits = Digits(ty.fraction_digits());
    match (function, arguments) {
        ("isnull", [operand]) => write!(f, "({operand} is null)"),
        ("bin", [number]) => write!(f, "conv({number},10,2)"),
        ("oct", [number]) => write!(f, "conv({number},10,8)"),
        ("instr", [text, wanted]) => write!(f, "locate({wanted},{text})"),
        ("date", [operand]) => write!(f, "cast({operand} as date)"),
        ("time", [operand]) => write!(f, "cast({operand} as time{digits})"),
        ("timestamp", [operand]) => write!(f, "cast({operand} as datetime{digits})"),
        ("datediff", [left, right]) => write!(f, "(to_days({left}) - to_days({right}))"),
        ("from_unixtime", [seconds, format]) => write!(f, "date_format(from_unixtime({seconds}),{format})"),
        ("mod", [left, right]) => write!(f, "({left} % {right})"),
        ("round", [number]) => write!(f, "round({number},0)"),
        ("json_length", [document, path]) => write!(f, "json_length(json_extract({document},{path}))"),
        ("week" | "yearweek", [date]) => write!(f, "{function}({date},0)"),
        ("weekofyear", [date]) => write!(f, "week({date},3)"),
        ("member of", [value, array]) => write!(f, "{value} member of ({array})"),
        ("extract", [unit, operand]) => write!(f, "extract({} from {operand})", word(unit)),
        ("timestampdiff", [unit, from, to]) => {
            write!(f, "timestampdiff({},{from},{to})", word(unit).to_uppercase())
        }
        ("get_format", [kind, place]) => write!(f, "get_format({}, {place})", word(kind).to_uppercase()),
        ("trim", [side, remove, operand]) => match (word(side).as_str(), &remove.node) {
            ("both", Node::Literal(Value::Bytes(space))) if space.as_ref() == b" " => {
                write!(f, "trim({operand})")
            }
            (side, _) => write!(f, "trim({side} {remove} from {operand})"),
        },
        ("json_value", [document, path, empty @ .., on_error, error]) => {
            write!(f, "json_value({document}, {path} returning ")?;
            returning(f, ty)?;
            if let [on_empty, empty] = empty {
                default(f, on_empty, empty, "empty")?;
            }
            default(f, on_error, error, "error")?;
            f.write_str(")")
        }
        // The character set comes first.
        ("char", [_, numbers @ ..]) => plain(f, "char", numbers),
        _ => plain(f, name(function), arguments),
    }
}

/// What JSON_VALUE returns.
fn returning(f: &mut Formatter<'_>, ty: &SqlType) -> fmt::Result {
    let digits = Digits(ty.fraction_digits());
    match ty {
        SqlType::Int { unsigned: true, .. } => f.write_str("unsigned"),
        SqlType::Int { .. } => f.write_str("signed"),
        SqlType::Decimal { precision, scale, .. } => write!(f, "decimal({precision},{scale})"),
        SqlType::Float { .. } => f.write_str("float"),
        SqlType::Double { .. } => f.write_str("double"),
        SqlType::Date => f.write_str("date"),
        SqlType::Time { .. } => write!(f, "time{digits}"),
        SqlType::DateTime { .. } => write!(f, "datetime{digits}"),
        SqlType::Year => f.write_str("year"),
        SqlType::Json => f.write_str("json"),
        ty => write!(f, "char({})", ty.wire_length(1)),
    }
}

/// `DEFAULT value ON EMPTY`, if that is what is done then.
fn default(f: &mut Formatter<'_>, kind: &Expr, value: &Expr, when: &str) -> fmt::Result {
    let value = match &value.node {
        Node::Cast { operand, .. } => operand,
        _ => value,
    };
    match kind.node {
        Node::Literal(Value::Int(2)) => write!(f, " default {value} on {when}"),
        _ => Ok(()),
    }
}

fn plain(f: &mut Formatter<'_>, name: &str, arguments: &[Expr]) -> fmt::Result {
    write!(f, "{name}(")?;
    list(f, arguments, ",")?;
    f.write_str(")")
}

/// The one name of a function that has several.
fn name(function: &str) -> &str {
    match function {
        "atan2" => "atan",
        "ceil" => "ceiling",
        "character_length" => "char_length",
        "day" => "dayofmonth",
        "lcase" => "lower",
        "mid" | "substring" => "substr",
        "octet_length" => "length",
        "position" => "locate",
        "power" => "pow",
        "ucase" => "upper",
        name => name,
    }
}

/// An argument that is a word of the grammar.
fn word(argument: &Expr) -> String {
    match &argument.node {
        Node::Literal(Value::Bytes(word)) => String::from_utf8_lossy(word).to_lowercase(),
        _ => argument.to_string(),
    }
}

/// A date plus or minus an interval: date, sign, amount and unit.
fn interval_sum<'e>(function: &str, arguments: &'e [Expr]) -> Option<(&'e Expr, char, &'e Expr, String)> {
    let [first, second, third] = arguments else { return None };
    Some(match function {
        "date_add" => (first, '+', second, word(third)),
        "date_sub" => (first, '-', second, word(third)),
        "timestampadd" => (third, '+', second, word(first)),
        _ => return None,
    })
}

/// Digits of a second's fraction, or of a text, behind the name of a type.
struct Digits(u8);

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0 > 0 { write!(f, "({})", self.0) } else { Ok(()) }
    }
}

/// What CAST makes.
pub fn target(f: &mut Formatter<'_>, target: &CastTarget) -> fmt::Result {
    let text = |f: &mut Formatter<'_>, length: Option<u64>, charset: &str| {
        let length = length.map_or_else(String::new, |length| format!("({length})"));
        write!(f, "char{length} charset {charset}")
    };
    match target {
        CastTarget::Char { length, collation } => text(f, *length, collation.get().charset.name()),
        CastTarget::Binary { length } => text(f, *length, "binary"),
        CastTarget::Decimal { precision, scale } => write!(f, "decimal({precision},{scale})"),
        CastTarget::Time { fsp } => write!(f, "time{}", Digits(*fsp)),
        CastTarget::DateTime { fsp } => write!(f, "datetime{}", Digits(*fsp)),
        CastTarget::Unsigned => f.write_str("unsigned"),
        CastTarget::Float => f.write_str("float"),
        CastTarget::Double => f.write_str("double"),
        CastTarget::Date => f.write_str("date"),
        CastTarget::Year => f.write_str("year"),
        CastTarget::Json => f.write_str("json"),
        _ => f.write_str("signed"),
    }
}
