//! Warnings of what MySQL understands and says it will not for ever, in its words.

use palisade_base::error_catalogue::*;
use palisade_base::{MysqlError, mysql_error};
use palisade_parser::Deprecated;

use crate::{Session, SqlError};

/// Warns of what a statement uses when it is prepared.
pub(crate) fn warn_preparing(session: &mut Session, deprecated: &[Deprecated]) {
    for deprecated in deprecated.iter().filter(|deprecated| !deprecated.is_told_when_executed()) {
        session.state.warnings.warn(warning(deprecated));
    }
}

/// Warns of what a prepared statement uses when it is executed.
pub(crate) fn warn_executing(session: &mut Session, deprecated: &[Deprecated]) {
    for deprecated in deprecated.iter().filter(|deprecated| deprecated.is_told_when_executed()) {
        session.state.warnings.warn(warning(deprecated));
    }
}

/// Warns of what a statement uses.
pub(crate) fn warn(session: &mut Session, deprecated: &[Deprecated]) {
    for deprecated in deprecated {
        session.state.warnings.warn(warning(deprecated));
    }
}

#[cold]
fn warning(deprecated: &Deprecated) -> SqlError {
    let instead = |what: &str, other: &str| mysql_error!(ER_WARN_DEPRECATED_SYNTAX, what, other);
    let text = |text: &str| MysqlError::with_message(&ER_WARN_DEPRECATED_SYNTAX, text);
    let bare = |text: &str| MysqlError::with_message(&ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT, text);
    match deprecated {
        Deprecated::AndAnd => instead("&&", "AND"),
        Deprecated::OrOr => instead("|| as a synonym for OR", "OR"),
        Deprecated::ExclamationMark => instead("!", "NOT"),
        Deprecated::BinaryOperator => instead("BINARY expr", "CAST"),
        Deprecated::BinaryAttribute => {
            instead("BINARY as attribute of a type", "a CHARACTER SET clause with _bin collation")
        }
        Deprecated::YearWidth => instead("YEAR(4)", "YEAR"),
        Deprecated::CharsetWord(word) => instead(word, "CHARACTER SET charset_name"),
        Deprecated::Utf8mb3 => instead("utf8mb3", "utf8mb4"),
        Deprecated::DisplayWidth => {
            bare("Integer display width is deprecated and will be removed in a future release.")
        }
        Deprecated::ZeroFill => bare(
            "The ZEROFILL attribute is deprecated and will be removed in a future release. Use the LPAD function to \
             zero-pad numbers, or store the formatted numbers in a CHAR column.",
        ),
        Deprecated::UnsignedFraction => bare(
            "UNSIGNED for decimal and floating point data types is deprecated and support for it will be removed in a \
             future release.",
        ),
        Deprecated::UnsignedYear => bare(
            "UNSIGNED for the YEAR data type is deprecated and support for it will be removed in a future release.",
        ),
        Deprecated::FloatDigits => bare(
            "Specifying number of digits for floating point data types is deprecated and will be removed in a future \
             release.",
        ),
        Deprecated::NoCache => mysql_error!(ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT, "SQL_NO_CACHE"),
        Deprecated::CalcFoundRows => text(
            "SQL_CALC_FOUND_ROWS is deprecated and will be removed in a future release. Consider using two separate \
             queries instead.",
        ),
        Deprecated::FoundRows => text(
            "FOUND_ROWS() is deprecated and will be removed in a future release. Consider using COUNT(*) instead.",
        ),
        Deprecated::ValuesFunction { on_duplicate: false } => {
            mysql_error!(ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT, "VALUES function")
        }
        Deprecated::ValuesFunction { on_duplicate: true } => text(
            "'VALUES function' is deprecated and will be removed in a future release. Please use an alias (INSERT INTO \
             ... VALUES (...) AS alias) and replace VALUES(col) in the ON DUPLICATE KEY UPDATE clause with alias.col \
             instead",
        ),
        Deprecated::OnEmptyLast => text(
            "Specifying an ON EMPTY clause after the ON ERROR clause in a JSON_TABLE column definition is deprecated \
             syntax and will be removed in a future release. Specify ON EMPTY before ON ERROR instead.",
        ),
        Deprecated::Assignment => text(
            "Setting user variables within expressions is deprecated and will be removed in a future release. Consider \
             alternatives: 'SET variable=expression, ...', or 'SELECT expression(s) INTO variables(s)'.",
        ),
        Deprecated::Utf8 => mysql_error!(ER_DEPRECATED_UTF8_ALIAS),
        Deprecated::Utf8mb3Collation(name) => mysql_error!(ER_WARN_DEPRECATED_UTF8MB3_COLLATION, name),
        Deprecated::Delayed(verb) => {
            mysql_error!(ER_WARN_LEGACY_SYNTAX_CONVERTED, format!("{verb} DELAYED"), verb)
        }
        Deprecated::FlushPrivileges => {
            mysql_error!(ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT, "FLUSH PRIVILEGES")
        }
        Deprecated::ShowProfiles => instead("SHOW PROFILES", "Performance Schema"),
        Deprecated::ShowProfile => instead("SHOW PROFILE", "Performance Schema"),
        Deprecated::ProfilingVariable(name) => {
            let text = "is deprecated and will be removed in a future release.";
            MysqlError::with_message(&ER_WARN_DEPRECATED_SYNTAX, format!("'@@{name}' {text}"))
        }
        Deprecated::National => mysql_error!(ER_DEPRECATED_NATIONAL),
        Deprecated::LeadingSpaces(name) => mysql_error!(ER_REMOVED_SPACES, name),
        Deprecated::BlankName(name) => mysql_error!(ER_NAME_BECOMES_EMPTY, name),
    }
}
