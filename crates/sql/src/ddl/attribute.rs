//! ENGINE_ATTRIBUTE and SECONDARY_ENGINE_ATTRIBUTE of tables, columns and indexes: documents for storage
//! engines.
//!
//! InnoDB has no use for the first and refuses it, as in MySQL; the second is taken.

use palisade_base::error_catalogue::{
    ER_ENGINE_ATTRIBUTE_NOT_SUPPORTED, ER_INVALID_JSON_ATTRIBUTE, ER_JSON_DOCUMENT_TOO_DEEP,
};
use palisade_base::mysql_error;
use palisade_catalog::json::{JsonError, parse};
use palisade_parser::ast::OptionValue;

use crate::SqlResult;

/// The table option that is refused.
pub const ENGINE_ATTRIBUTE: &str = "ENGINE_ATTRIBUTE";
/// The table option that is taken.
pub const SECONDARY_ENGINE_ATTRIBUTE: &str = "SECONDARY_ENGINE_ATTRIBUTE";

/// 3981 for ENGINE_ATTRIBUTE, 3980 before that if it is no document.
pub fn refuse(text: &[u8]) -> SqlResult<()> {
    check(text)?;
    Err(mysql_error!(ER_ENGINE_ATTRIBUTE_NOT_SUPPORTED, "InnoDB"))
}

/// 3980 if an attribute is neither empty nor a document.
pub fn check(text: &[u8]) -> SqlResult<()> {
    if text.is_empty() {
        return Ok(());
    }
    match parse::document(text) {
        Ok(_) => Ok(()),
        Err(JsonError::Syntax { reason, position }) => {
            let rest = String::from_utf8_lossy(text.get(position..).unwrap_or_default());
            Err(mysql_error!(ER_INVALID_JSON_ATTRIBUTE, reason, position, rest))
        }
        Err(_) => Err(mysql_error!(ER_JSON_DOCUMENT_TOO_DEEP)),
    }
}

/// The same of a table's option.
pub fn check_option(name: &str, value: &OptionValue) -> SqlResult<()> {
    match (name, value) {
        (ENGINE_ATTRIBUTE, OptionValue::Text(text)) => refuse(text),
        (SECONDARY_ENGINE_ATTRIBUTE, OptionValue::Text(text)) => check(text),
        _ => Ok(()),
    }
}
