//! JSON where the language knows of it: the clauses of JSON_VALUE, which become arguments of a call, and
//! documents where functions want numbers or dates.

use palisade_base::error_catalogue::ER_INVALID_TYPE_FOR_JSON;
use palisade_base::mysql_error;
use palisade_catalog::types::LobSize;
use palisade_catalog::{CollationId, SqlType};
use palisade_expr::func::json::read_path;
use palisade_expr::func::json::value::{LONGEST, OnProblem};
use palisade_expr::func::unit::Unit;
use palisade_expr::func::{self, Function};
use palisade_expr::{CastTarget, Coercibility, Expr, Node, SqlError, SqlResult};
use palisade_parser::ast::{self, CastCharset, CastType, JsonOn};

use super::literal::text_literal;
use super::{Binder, not_supported};

impl Binder<'_> {
    /// `JSON_VALUE(document, path [RETURNING type] [... ON EMPTY] [... ON ERROR])`, bound as
    /// `json_value(document, path, on empty, default, on error, default)`.
    pub(super) fn json_value(&mut self, value: &ast::JsonValue) -> SqlResult<Expr> {
        let document = self.expr(&value.document)?;
        let is_member = matches!(document.ty, SqlType::Enum { .. } | SqlType::Set { .. });
        if !document.ty.is_string() && !matches!(document.ty, SqlType::Null) || is_member {
            return Err(mysql_error!(ER_INVALID_TYPE_FOR_JSON, 1, "json_value"));
        }
        read_path(&String::from_utf8_lossy(&value.path))?;
        let path = text_literal(value.path.clone(), CollationId::UTF8MB4_BIN);
        let target = self.json_value_target(value.returning.as_ref())?;
        let ty = target.result_type(&SqlType::Json);
        let mut arguments = vec![document, path];
        for problem in [&value.on_empty, &value.on_error] {
            let (how, default) = match problem {
                None | Some(JsonOn::Null) => (OnProblem::Null, Expr::null()),
                Some(JsonOn::Error) => (OnProblem::Error, Expr::null()),
                Some(JsonOn::Default(default)) => {
                    let default = self.expr(default)?;
                    let node = Node::Cast { operand: Box::new(default), target: target.clone() };
                    (OnProblem::Default, Expr::computed(node, ty.clone(), true))
                }
            };
            arguments.push(Expr::int(how as i64));
            arguments.push(default);
        }
        let mut call = self.call("json_value", arguments)?;
        if ty != SqlType::Json {
            call.coercibility = if ty.is_string() { Coercibility::Literal } else { Coercibility::Numeric };
        }
        call.ty = ty;
        Ok(call)
    }

    fn json_value_target(&self, returning: Option<&CastType>) -> SqlResult<CastTarget> {
        let collation = CollationId::UTF8MB4_0900_BIN;
        Ok(match returning {
            None => CastTarget::Char { length: Some(LONGEST), collation },
            Some(CastType::Char { length, charset: None }) => CastTarget::Char { length: *length, collation },
            Some(CastType::Char { charset: Some(CastCharset::Named(name)), .. }) => {
                return Err(not_supported(format!("JSON_VALUE ... RETURNING CHAR CHARACTER SET {name}")));
            }
            Some(CastType::Binary(_) | CastType::Char { .. }) => {
                return Err(not_supported("JSON_VALUE ... RETURNING BINARY"));
            }
            Some(other) => self.cast_target(other)?,
        })
    }
}

/// What functions of SQL values get for arguments of type JSON: numbers, dates, or texts as they are.
pub(super) fn adapt_documents(function: &Function, arguments: &mut [Expr]) -> SqlResult<()> {
    if !arguments.iter().any(|argument| argument.ty == SqlType::Json) {
        return Ok(());
    }
    let unit = match function.name {
        "date_add" | "date_sub" => arguments.get(2),
        "extract" | "timestampadd" => arguments.first(),
        _ => None,
    };
    let unit = unit.map(Unit::of).transpose()?;
    for (position, argument) in arguments.iter_mut().enumerate() {
        if argument.ty != SqlType::Json {
            continue;
        }
        let taken = std::mem::replace(argument, Expr::null());
        *argument = match wanted(function, position, unit) {
            Wanted::Document => taken,
            Wanted::Text => unquoted(taken)?,
            Wanted::Cast(target) => document_as(taken, target),
        };
    }
    Ok(())
}

/// What a function makes of a document.
/// A document as the DECIMAL that it says, where DIV computes with it; others as they are.
pub(super) fn document_as_decimal(expr: Expr) -> Expr {
    match expr.ty {
        SqlType::Json => document_as(expr, CastTarget::Decimal { precision: 65, scale: 30 }),
        _ => expr,
    }
}

enum Wanted {
    Document,
    Text,
    Cast(CastTarget),
}

fn wanted(function: &Function, position: usize, unit: Option<Unit>) -> Wanted {
    let belongs_to = |table: &[Function]| table.iter().any(|known| known.name == function.name);
    let decimal = CastTarget::Decimal { precision: 65, scale: 30 };
    Wanted::Cast(match (function.name, position) {
        ("if", 0) | ("interval", _) | ("format", 0) => CastTarget::Double,
        (
            "bit_count" | "inet_ntoa" | "from_days" | "makedate" | "period_add" | "period_diff" | "space",
            _,
        )
        | ("char", 1..)
        | ("elt" | "make_set", 0)
        | ("insert", 1 | 2)
        | ("left" | "lpad" | "repeat" | "right" | "rpad", 1)
        | ("substring" | "substr" | "mid", 1 | 2)
        | ("maketime", 0 | 1) => CastTarget::Signed,
        ("date_add" | "date_sub" | "timestampadd", 1) => match unit {
            Some(unit) if unit.is_seconds() => decimal,
            Some(unit) if unit.is_single() => CastTarget::Signed,
            _ => return Wanted::Text,
        },
        ("extract", 1) if unit.is_some_and(Unit::is_days) => CastTarget::DateTime { fsp: 6 },
        ("addtime" | "extract" | "subtime" | "timestamp", 1) => CastTarget::Time { fsp: 6 },
        ("from_unixtime" | "sec_to_time", 0) | ("maketime", 2) => decimal,
        ("timestampdiff", 1 | 2) => CastTarget::DateTime { fsp: 6 },
        (
            "date" | "datediff" | "day" | "dayname" | "dayofmonth" | "dayofweek" | "dayofyear" | "last_day"
            | "month" | "monthname" | "quarter" | "to_days" | "week" | "weekday" | "weekofyear" | "year"
            | "yearweek",
            0,
        )
        | ("datediff", 1) => CastTarget::Date,
        ("hour" | "microsecond" | "minute" | "second" | "time" | "time_to_sec", 0) => {
            CastTarget::Time { fsp: 6 }
        }
        ("date_add" | "date_sub", 0) | ("timestampadd", 2) => CastTarget::MomentText,
        ("convert_tz" | "date_format" | "timestamp" | "to_seconds" | "unix_timestamp", 0) => {
            CastTarget::DateTime { fsp: 6 }
        }
        _ if belongs_to(func::number::FUNCTIONS) => CastTarget::Double,
        _ if belongs_to(func::temporal::FUNCTIONS) => return Wanted::Text,
        _ => return Wanted::Document,
    })
}

/// A document as CAST would make it.
fn document_as(document: Expr, target: CastTarget) -> Expr {
    let ty = target.result_type(&SqlType::Json);
    Expr::computed(Node::Cast { operand: Box::new(document), target }, ty, true)
}

/// A document where an operator wants 64 bits.
pub(super) fn json_as_integer(operand: Expr) -> Expr {
    if operand.ty == SqlType::Json { document_as(operand, CastTarget::Signed) } else { operand }
}

/// The text of a JSON string.
fn unquoted(document: Expr) -> SqlResult<Expr> {
    let function = func::find("json_unquote");
    let function = function.ok_or_else(|| SqlError::internal("JSON_UNQUOTE is not declared"))?;
    let ty = SqlType::Text { size: LobSize::Long, collation: CollationId::UTF8MB4_BIN };
    Ok(Expr::computed(Node::Call { function, arguments: vec![document] }, ty, true))
}
