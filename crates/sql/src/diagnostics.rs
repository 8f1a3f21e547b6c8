//! SIGNAL, RESIGNAL and GET DIAGNOSTICS: conditions that a statement raises, and those that the one before
//! left.

use palisade_base::error_catalogue::*;
use palisade_base::error_code::{MysqlError, Signalled, sql_state_of};
use palisade_base::mysql_error;
use palisade_catalog::charset::{Charset, convert};
use palisade_catalog::types::LobSize;
use palisade_catalog::{CollationId, SqlType, Value};
use palisade_expr::convert::text_of;
use palisade_expr::warning::{Condition, Level};
use palisade_parser::ast;

use crate::sql::Sql;
use crate::{Completion, Session, SqlResult};

/// Characters of MESSAGE_TEXT that are kept.
const MESSAGE_CHARACTERS: usize = 128;
/// Characters of any other item that are kept.
const ITEM_CHARACTERS: usize = 64;
/// Items of a condition are in this collation.
const COLLATION: CollationId = CollationId::UTF8MB3_GENERAL_CI;

impl Sql {
    /// SIGNAL and RESIGNAL. A warning (class 01) is left behind, any other condition fails the statement.
    pub(crate) async fn signal(
        &self,
        session: &mut Session,
        signal: &ast::Signal,
        parameters: &[Value],
    ) -> SqlResult<Completion> {
        let state = match &signal.condition {
            Some(ast::SignalCondition::Name(name)) => return Err(mysql_error!(ER_SP_COND_MISMATCH, name)),
            Some(ast::SignalCondition::SqlState(state)) => Some(checked_state(state)?),
            None => None,
        };
        if let Some(item) = given_twice(&signal.items) {
            return Err(mysql_error!(ER_DUP_SIGNAL_SET, item));
        }
        let state = match state {
            Some(state) if !signal.resignal => state,
            _ => return Err(mysql_error!(ER_RESIGNAL_WITHOUT_ACTIVE_HANDLER)),
        };
        let code = match &state {
            [b'0', b'1', ..] => &ER_SIGNAL_WARN,
            [b'0', b'2', ..] => &ER_SIGNAL_NOT_FOUND,
            _ => &ER_SIGNAL_EXCEPTION,
        };
        let mut message = code.format.to_owned();
        let mut signalled = Signalled { number: code.number, sql_state: state, items: Vec::new() };
        for (item, value) in &signal.items {
            let (value, ty) = self.value(session, value, parameters).await?;
            let text = text_in_utf8(&value, &ty);
            match item.as_str() {
                _ if matches!(value, Value::Null) => return Err(wrong_value(item, "NULL")),
                "MYSQL_ERRNO" => {
                    signalled.number = number_of(&value, &text).ok_or_else(|| wrong_value(item, &text))?;
                }
                "MESSAGE_TEXT" => message = cut(session, item, text, MESSAGE_CHARACTERS)?,
                _ => signalled.items.push((item.clone(), cut(session, item, text, ITEM_CHARACTERS)?)),
            }
        }
        let condition =
            MysqlError { signalled: Some(Box::new(signalled)), ..MysqlError::with_message(code, message) };
        if code.number != ER_SIGNAL_WARN.number {
            return Err(condition);
        }
        session.state.warnings.warn(condition);
        Ok(Completion::default())
    }

    /// GET DIAGNOSTICS. A condition that is not there, or a number that cannot be had, adds an error to the
    /// others, and the statement goes well, as in MySQL.
    pub(crate) async fn get_diagnostics(
        &self,
        session: &mut Session,
        get: &ast::GetDiagnostics,
        parameters: &[Value],
    ) -> SqlResult<Completion> {
        if get.stacked {
            return Err(mysql_error!(ER_GET_STACKED_DA_WITHOUT_ACTIVE_HANDLER));
        }
        if let Err(error) = self.check_declared(get.items.iter().map(|(target, _)| target)) {
            // as a mistake in the text, this takes the place of the conditions that are there
            return Err(self.fail(session, error));
        }
        let values: Vec<Value> = match &get.condition {
            None => {
                let of = |item: &ast::Name| match item.as_str() {
                    "NUMBER" => Value::Int(session.state.warnings.list().len() as i64),
                    _ => Value::Int(session.state.row_count),
                };
                get.items.iter().map(|(_, item)| of(item)).collect()
            }
            Some(condition) => {
                let (value, ty) = match self.value(session, condition, parameters).await {
                    Ok(value) => value,
                    Err(error) => return Ok(add(session, error)),
                };
                let number = number_of(&value, &text_in_utf8(&value, &ty));
                let number = number.and_then(|number| usize::from(number).checked_sub(1));
                let Some(found) = number.and_then(|at| session.state.warnings.list().get(at)) else {
                    return Ok(add(session, mysql_error!(ER_DA_INVALID_CONDITION_NUMBER)));
                };
                get.items.iter().map(|(_, item)| item_of(found, item)).collect()
            }
        };
        let ty = SqlType::Text { size: LobSize::Long, collation: COLLATION };
        let given = get.items.iter().zip(values).map(|((target, _), value)| (target, value, ty.clone()));
        self.assign_variables(session, given)?;
        Ok(Completion::default())
    }
}

/// Adds an error to the conditions that are there.
fn add(session: &mut Session, error: MysqlError) -> Completion {
    session.state.warnings.push(Level::Error, error);
    Completion { conditions: 1, ..Completion::default() }
}

/// An SQLSTATE that a statement may raise: five digits and capital letters, and not of the class of success.
fn checked_state(state: &[u8]) -> SqlResult<[u8; 5]> {
    let is_state = |state: &[u8; 5]| {
        !state.starts_with(b"00")
            && state.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
    };
    let state_of = <[u8; 5]>::try_from(state).ok().filter(is_state);
    state_of.ok_or_else(|| mysql_error!(ER_SP_BAD_SQLSTATE, String::from_utf8_lossy(state)))
}

fn given_twice(items: &[(ast::Name, ast::Expr)]) -> Option<&ast::Name> {
    let is_there_before = |at: usize, name: &ast::Name| items.iter().take(at).any(|(other, _)| other == name);
    items.iter().enumerate().find_map(|(at, (name, _))| is_there_before(at, name).then_some(name))
}

/// A value as a text in the character set of conditions; a question mark stands for what that does not have.
fn text_in_utf8(value: &Value, ty: &SqlType) -> String {
    let text = text_of(value, ty);
    let mut out = Vec::with_capacity(text.len());
    let from = if ty.is_string() { ty.collation().get().charset } else { Charset::Utf8mb3 };
    convert(&text, from, Charset::Utf8mb3, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn wrong_value(item: &str, value: &str) -> MysqlError {
    mysql_error!(ER_WRONG_VALUE_FOR_VAR, item, value)
}

/// A number from 1 to 65,535: of a text the digits that it begins with, of another value the nearest whole
/// one.
fn number_of(value: &Value, text: &str) -> Option<u16> {
    let number = match value {
        Value::Bytes(_) => {
            let text = text.trim_start();
            let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            text.get(..end)?.parse::<f64>().ok()?
        }
        _ => text.parse::<f64>().ok()?.round(),
    };
    let is_within = (1.0..=f64::from(u16::MAX)).contains(&number);
    is_within.then_some(number as u16)
}

/// A text of at most so many characters: a longer one is refused, or cut with a warning where the mode of SQL
/// is not strict.
fn cut(session: &mut Session, item: &str, text: String, most: usize) -> SqlResult<String> {
    let Some((end, _)) = text.char_indices().nth(most) else { return Ok(text) };
    if session.state.variables.sql_mode.is_strict() {
        return Err(mysql_error!(ER_COND_ITEM_TOO_LONG, item));
    }
    session.state.warnings.warn(mysql_error!(WARN_COND_ITEM_TRUNCATED, item));
    Ok(text.get(..end).unwrap_or_default().to_owned())
}

/// An item of a condition by its name. What is not said of it is empty.
fn item_of(condition: &Condition, item: &str) -> Value {
    let text = match item {
        "MYSQL_ERRNO" => return Value::Int(i64::from(condition.code)),
        "MESSAGE_TEXT" => condition.message.as_str(),
        "RETURNED_SQLSTATE" => condition.sql_state(),
        _ => match &condition.signalled {
            Some(signalled) => {
                let found = signalled.items.iter().find(|(name, _)| name == item);
                found.map_or("", |(_, text)| text.as_str())
            }
            None if item == "CLASS_ORIGIN" => origin(is_standard_class(sql_state_of(condition.code))),
            None if item == "SUBCLASS_ORIGIN" => origin(is_standard_subclass(sql_state_of(condition.code))),
            None => "",
        },
    };
    Value::bytes(text)
}

fn origin(is_standard: bool) -> &'static str {
    if is_standard { "ISO 9075" } else { "MySQL" }
}

/// Whether a character begins a class or a subclass that the standard keeps to itself: ISO/IEC 9075-2, 24.1.
fn is_reserved(first: Option<&u8>) -> bool {
    first.is_some_and(|byte| matches!(byte, b'0'..=b'4' | b'A'..=b'H'))
}

fn is_standard_class(state: &str) -> bool {
    is_reserved(state.as_bytes().first())
}

fn is_standard_subclass(state: &str) -> bool {
    is_standard_class(state) && is_reserved(state.as_bytes().get(2))
}
