//! What COMMENT and ATTRIBUTE of CREATE USER and ALTER USER say of an account: one object, which each
//! statement patches.

use palisade_base::error_catalogue::ER_INVALID_USER_ATTRIBUTE_JSON;
use palisade_base::mysql_error;
use palisade_catalog::json::{Json, Members, Name, parse};
use palisade_parser::ast::AccountOptions;
use palisade_sql::SqlResult;

use super::Account;

/// The patch that a statement has: 3982 if ATTRIBUTE is no object.
pub fn of(options: &AccountOptions) -> SqlResult<Option<Json>> {
    if let Some(comment) = &options.comment {
        let comment = Json::String(String::from_utf8_lossy(comment).into_owned());
        return Ok(Some(Json::Object(Members::from([(Name("comment".to_owned()), comment)]))));
    }
    let Some(attribute) = &options.attribute else { return Ok(None) };
    match parse::document(attribute) {
        Ok(object @ Json::Object(_)) => Ok(Some(object)),
        _ => Err(mysql_error!(ER_INVALID_USER_ATTRIBUTE_JSON)),
    }
}

/// Patches what is said of an account.
pub fn apply(account: &mut Account, patch: &Json) {
    let before = account.metadata.as_ref().and_then(|text| parse::document(text.as_bytes()).ok());
    let after = before.unwrap_or(Json::Null).patched(patch.clone());
    account.metadata = Some(String::from_utf8_lossy(&after.to_text()).into_owned());
}
