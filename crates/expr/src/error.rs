//! What a statement fails with, and the errors that several parts of the language share.

use palisade_base::error_catalogue::{ER_NOT_SUPPORTED_YET, ER_UNKNOWN_CHARACTER_SET, ER_UNKNOWN_COLLATION};
use palisade_base::mysql_error;

/// What a statement fails with: code, SQLSTATE and text as the client reads them.
pub type SqlError = palisade_base::MysqlError;
/// The result of an operation that cannot wait.
pub type SqlResult<T> = Result<T, SqlError>;
/// The result of an operation that may ask to be called again after an event.
pub type SqlAttempt<T> = palisade_base::Attempt<T, SqlError>;

/// 1235: the construct is not yet supported.
pub fn not_supported(construct: impl std::fmt::Display) -> SqlError {
    SqlError::with_message(
        &ER_NOT_SUPPORTED_YET,
        format!("This version of Palisade doesn't yet support '{construct}'"),
    )
}

/// 1115 for a character set that MySQL does not have either; 1235 for one that it has.
pub fn unknown_charset(name: &str) -> SqlError {
    match palisade_catalog::charset::is_missing(name) {
        true => not_supported(format_args!("the character set {name}")),
        false => mysql_error!(ER_UNKNOWN_CHARACTER_SET, name),
    }
}

/// 1273 for a collation that MySQL does not have either; 1235 for one that it has.
pub fn unknown_collation(name: &str) -> SqlError {
    match palisade_catalog::charset::is_missing(name) {
        true => not_supported(format_args!("the collation {name}")),
        false => mysql_error!(ER_UNKNOWN_COLLATION, name),
    }
}
