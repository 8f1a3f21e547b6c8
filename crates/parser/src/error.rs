//! Why a text is no statement.

use crate::ast::Name;
use crate::lexer::is_space;

/// How much of the text a message quotes, in characters.
const NEAR_LENGTH: usize = 80;

/// Why a text is no statement. Prints as MySQL's message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// Error 1064 (42000).
    #[error(
        "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the \
         right syntax to use near '{near}' at line {line}"
    )]
    Syntax {
        /// From the offending token on, at most 80 characters.
        near: String,
        /// Its line, from 1.
        line: u32,
    },
    /// The caller's watch had the reading end. The caller knows the error to tell.
    #[error("Reading the statement was ended")]
    Stopped,
    /// Error 1065 (42000).
    #[error("Query was empty")]
    Empty,
    /// The text is a statement, but about what cannot be called so.
    #[error(transparent)]
    Name(#[from] WrongName),
}

/// A name that nothing of its kind can have: empty, with a space at its end, or of too many characters. MySQL
/// refuses a statement for the first of them before it looks for anything by its name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WrongName {
    /// Error 1102 (42000).
    #[error("Incorrect database name '{0}'")]
    Database(Name),
    /// Error 1103 (42000).
    #[error("Incorrect table name '{0}'")]
    Table(Name),
    /// Error 1458 (42000).
    #[error("Incorrect routine name '{0}'")]
    Routine(Name),
    /// Error 3061 (42000), of what a variable cannot be called that is assigned to.
    #[error("User variable name '{0}' is illegal")]
    UserVariable(Name),
    /// Error 1059 (42000), of databases, tables and routines.
    #[error("Identifier name '{0}' is too long")]
    TooLong(Name),
}

impl WrongName {
    fn code(&self) -> u16 {
        match self {
            WrongName::TooLong(_) => 1059,
            WrongName::Database(_) => 1102,
            WrongName::Table(_) => 1103,
            WrongName::Routine(_) => 1458,
            WrongName::UserVariable(_) => 3061,
        }
    }
}

impl ParseError {
    /// A syntax error at `position` of `text`. Lines are counted from the first that is not blank.
    pub(crate) fn near(text: &[u8], position: usize) -> ParseError {
        let (before, rest) = text.split_at_checked(position).unwrap_or((text, &[]));
        // Four bytes make a character at most, so this much text is enough.
        let rest = rest.get(..4 * NEAR_LENGTH).unwrap_or(rest);
        let near = String::from_utf8_lossy(rest).chars().take(NEAR_LENGTH).collect();
        let blank = before.iter().take_while(|byte| is_space(**byte));
        let blank_lines = blank.filter(|byte| **byte == b'\n').count();
        let line = 1 + (memchr::memchr_iter(b'\n', before).count() - blank_lines) as u32;
        ParseError::Syntax { near, line }
    }

    /// MySQL's error number.
    pub fn code(&self) -> u16 {
        match self {
            ParseError::Syntax { .. } => 1064,
            ParseError::Empty => 1065,
            ParseError::Stopped => 1317,
            ParseError::Name(name) => name.code(),
        }
    }

    /// Its SQLSTATE.
    pub fn sqlstate(&self) -> &'static str {
        match self {
            ParseError::Syntax { .. } | ParseError::Empty | ParseError::Name(_) => "42000",
            ParseError::Stopped => "70100",
        }
    }
}
