//! What the client is told: a number, an SQLSTATE and a text.
//!
//! Each error is declared once, in the catalogue ([`crate::error_catalogue`]), with MySQL's symbol, number,
//! SQLSTATE and `printf` format. A crate keeps its own narrow error enum; where it meets the client it becomes a
//! [`MysqlError`]:
//!
//! ```
//! use palisade_base::{error_catalogue::ER_DUP_ENTRY, mysql_error};
//! let error = mysql_error!(ER_DUP_ENTRY, 7, "t.PRIMARY");
//! assert_eq!(error.message, "Duplicate entry '7' for key 't.PRIMARY'");
//! assert_eq!((error.number(), error.sql_state()), (1062, "23000"));
//! ```

use std::fmt::{self, Display};

/// A declared error.
#[derive(Debug, PartialEq, Eq)]
pub struct ErrorCode {
    /// MySQL's name, e.g. `ER_DUP_ENTRY`.
    pub symbol: &'static str,
    /// MySQL's number, e.g. 1062.
    pub number: u16,
    /// The SQLSTATE: five characters.
    pub sql_state: &'static str,
    /// The text, with `printf` conversions where arguments go.
    pub format: &'static str,
}

impl ErrorCode {
    /// The text with `arguments` in place of the conversions, in order. A precision (`%-.64s`) cuts an argument
    /// at so many characters. An argument that is missing is left out; one too many is ignored.
    pub fn message(&self, arguments: &[&dyn Display]) -> String {
        let mut out = String::with_capacity(self.format.len() + 32);
        let mut arguments = arguments.iter();
        let mut rest = self.format;
        while let Some((before, behind)) = rest.split_once('%') {
            out.push_str(before);
            rest = behind;
            if let Some(after) = rest.strip_prefix('%') {
                out.push('%');
                rest = after;
                continue;
            }
            let conversion = Conversion::parse(rest);
            rest = rest.get(conversion.len..).unwrap_or_default();
            let Some(argument) = arguments.next() else { continue };
            let text = argument.to_string();
            match conversion.precision {
                None => out.push_str(&text),
                Some(limit) => out.extend(text.chars().take(limit)),
            }
        }
        out.push_str(rest);
        out
    }
}

/// The SQLSTATE of the error that has this number; that of errors without a class of their own if none has.
pub fn sql_state_of(number: u16) -> &'static str {
    let errors = crate::error_catalogue::ERRORS;
    match errors.binary_search_by_key(&number, |code| code.number) {
        Ok(at) => errors.get(at).map_or("HY000", |code| code.sql_state),
        Err(_) => "HY000",
    }
}

/// One `printf` conversion, without its `%`.
struct Conversion {
    /// How many bytes of the format it takes.
    len: usize,
    /// The characters it lets through; numbers have no such limit.
    precision: Option<usize>,
}

impl Conversion {
    fn parse(format: &str) -> Conversion {
        let bytes = format.as_bytes();
        let mut len = 0;
        let mut precision = None;
        while let Some(&byte) = bytes.get(len) {
            len += 1;
            match byte {
                b'.' => precision = Some(0),
                b'0'..=b'9' => {
                    let digit = usize::from(byte - b'0');
                    precision =
                        precision.map(|digits: usize| digits.saturating_mul(10).saturating_add(digit));
                }
                b'*' => precision = None,
                b'-' | b'l' | b'z' | b'h' => {}
                _ => {
                    if byte != b's' {
                        precision = None;
                    }
                    break;
                }
            }
        }
        Conversion { len, precision }
    }
}

/// What SIGNAL says of its condition, in place of what a declared error says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signalled {
    /// MYSQL_ERRNO.
    pub number: u16,
    /// RETURNED_SQLSTATE: five digits or capital letters.
    pub sql_state: [u8; 5],
    /// The other items of the condition that were set, by name.
    pub items: Vec<(String, String)>,
}

impl Signalled {
    /// The SQLSTATE as text.
    pub fn sql_state(&self) -> &str {
        std::str::from_utf8(&self.sql_state).unwrap_or("HY000")
    }
}

/// An error on its way to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MysqlError {
    /// Which one.
    pub code: &'static ErrorCode,
    /// What the client reads.
    pub message: String,
    /// What a statement (SIGNAL) chose itself.
    pub signalled: Option<Box<Signalled>>,
}

impl MysqlError {
    /// The error `code` with `arguments` in its text; see [`crate::mysql_error`].
    pub fn new(code: &'static ErrorCode, arguments: &[&dyn Display]) -> Self {
        MysqlError { code, message: code.message(arguments), signalled: None }
    }

    /// The error `code` with a text of its own.
    pub fn with_message(code: &'static ErrorCode, message: impl Into<String>) -> Self {
        MysqlError { code, message: message.into(), signalled: None }
    }

    /// Something that this program takes for granted is not so; `broken` says what. The statement fails, the
    /// server goes on.
    #[cold]
    pub fn internal(broken: &str) -> Self {
        MysqlError::new(&crate::error_catalogue::ER_INTERNAL_ERROR, &[&broken])
    }

    /// The error `code` as SIGNAL raises it: with an SQLSTATE and a text of its own.
    pub fn signalled(code: &'static ErrorCode, sql_state: [u8; 5], message: impl Into<String>) -> Self {
        let signalled = Signalled { number: code.number, sql_state, items: Vec::new() };
        MysqlError { signalled: Some(Box::new(signalled)), ..MysqlError::with_message(code, message) }
    }

    /// The number clients switch on.
    pub fn number(&self) -> u16 {
        self.signalled.as_ref().map_or(self.code.number, |signalled| signalled.number)
    }

    /// The SQLSTATE.
    pub fn sql_state(&self) -> &str {
        self.signalled.as_ref().map_or(self.code.sql_state, |signalled| signalled.sql_state())
    }
}

impl Display for MysqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ERROR {} ({}): {}", self.number(), self.sql_state(), self.message)
    }
}

impl std::error::Error for MysqlError {}

/// A [`MysqlError`] of a declared code, with the arguments of its text.
#[macro_export]
macro_rules! mysql_error {
    ($code:expr $(, $argument:expr)* $(,)?) => {
        $crate::error_code::MysqlError::new(&$code, &[$(&$argument as &dyn ::std::fmt::Display),*])
    };
}

/// Declares errors as statics named by their symbol, and `ERRORS`, the list of them.
#[macro_export]
macro_rules! error_codes {
    ($($symbol:ident = $number:literal, $state:literal, $format:literal;)*) => {
        $(
            #[doc = concat!($number, " (", $state, "): `", $format, "`")]
            pub static $symbol: $crate::error_code::ErrorCode = $crate::error_code::ErrorCode {
                symbol: stringify!($symbol),
                number: $number,
                sql_state: $state,
                format: $format,
            };
        )*
        /// Every declared error, by number.
        pub static ERRORS: &[&$crate::error_code::ErrorCode] = &[$(&$symbol),*];
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error_catalogue::{
        ER_DUP_ENTRY, ER_NO_SUCH_TABLE, ER_TOO_BIG_PRECISION, ER_UNKNOWN_STMT_HANDLER, ERRORS,
    };

    #[test]
    fn arguments_take_the_place_of_conversions_and_precision_cuts_them() {
        assert_eq!(ER_NO_SUCH_TABLE.message(&[&"sbtest", &"t"]), "Table 'sbtest.t' doesn't exist");
        let long = "é".repeat(100);
        assert_eq!(
            ER_DUP_ENTRY.message(&[&long, &"k"]),
            format!("Duplicate entry '{}' for key 'k'", "é".repeat(64))
        );
        assert_eq!(
            ER_TOO_BIG_PRECISION.message(&[&70, &"a", &65]),
            "Too-big precision 70 specified for 'a'. Maximum is 65."
        );
        assert_eq!(
            ER_UNKNOWN_STMT_HANDLER.message(&[&7, &"mysqld_stmt_execute"]),
            "Unknown prepared statement handler (7) given to mysqld_stmt_execute"
        );
    }

    #[test]
    fn missing_arguments_and_stray_conversions_do_not_panic() {
        for code in ERRORS {
            let message = code.message(&[]);
            assert!(!message.contains("%-"), "{}: {message}", code.symbol);
            let _ = code.message(&[&1, &"two", &3.0, &"four", &5, &6, &7]);
        }
        let stray = ErrorCode { symbol: "X", number: 1, sql_state: "HY000", format: "100%" };
        assert_eq!(stray.message(&[&1]), "1001");
    }

    #[test]
    fn the_catalogue_is_in_order_and_well_formed() {
        for pair in ERRORS.windows(2) {
            assert!(pair[0].number < pair[1].number, "{} is out of order", pair[1].symbol);
        }
        for code in ERRORS {
            assert!(code.sql_state.len() == 5 && code.sql_state.is_ascii(), "{}", code.symbol);
        }
    }
}
