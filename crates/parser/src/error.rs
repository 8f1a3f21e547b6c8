//! Why a text is no statement.

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
        }
    }

    /// Its SQLSTATE.
    pub fn sqlstate(&self) -> &'static str {
        match self {
            ParseError::Syntax { .. } | ParseError::Empty => "42000",
            ParseError::Stopped => "70100",
        }
    }
}
