//! JSON where the language knows of it: the clauses of JSON_VALUE, which become arguments of a call, and documents where
//! functions want numbers or dates.

use palisade_base::error_catalogue::ER_INVALID_TYPE_FOR_JSON;
use palisade_base::mysql_error;
use palisade_catalog::types::LobSize;
use palisade_catalog::{CollationId, SqlType};
use palisade_parser::ast::{self, CastCharset, CastType, JsonOn};

use super::literal::text_literal;
use super::types::json_as_number;
use super::{Binder, not_supported};
use crate::expr::{CastTarget, Coercibility, Expr, Node};
use crate::func::json::read_path;
use crate::func::json::value::{LONGEST, OnProblem};
use crate::func::{self, Function};
use crate::{SqlError, SqlResult};

impl Binder<'_> {
    /// `JSON_VALUE(document, path [RETURNING type] [... ON EMPTY] [... ON ERROR])`, bound as
    /// `json_value(document, path, on empty, default, on error, default)`.
    pub(super) fn json_value(&mut self, value: &ast::JsonValue) -> SqlResult<Expr> {
        let document = self.expr(&value.document)?;
        if !document.ty.is_string() && !matches!(document.ty, SqlType::Null) {
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
    let belongs_to = |table: &[Function]| table.iter().any(|known| known.name == function.name);
    let wants_number = belongs_to(func::number::FUNCTIONS);
    let wants_date = belongs_to(func::temporal::FUNCTIONS);
    let condition = function.name == "if";
    for (position, argument) in arguments.iter_mut().enumerate() {
        if argument.ty != SqlType::Json {
            continue;
        }
        let taken = std::mem::replace(argument, Expr::null());
        *argument = if wants_number || condition && position == 0 {
            json_as_number(taken)
        } else if wants_date {
            unquoted(taken)?
        } else {
            taken
        };
    }
    Ok(())
}

/// The text of a JSON string.
fn unquoted(document: Expr) -> SqlResult<Expr> {
    let function = func::find("json_unquote");
    let function = function.ok_or_else(|| SqlError::internal("JSON_UNQUOTE is not declared"))?;
    let ty = SqlType::Text { size: LobSize::Long, collation: CollationId::UTF8MB4_BIN };
    Ok(Expr::computed(Node::Call { function, arguments: vec![document] }, ty, true))
}
