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
    /// Error 1064 (42000), with words of its own, of a PARTITION BY.
    #[error("{fault} near '{near}' at line {line}")]
    Partitioning {
        /// What is wrong.
        fault: PartitionFault,
        /// From where it is on, at most 80 characters.
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

/// What is wrong of a PARTITION BY, or of definitions of partitions, by its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PartitionFault {
    /// A partition of RANGE has no bound.
    #[error("Syntax error: RANGE PARTITIONING requires definition of VALUES LESS THAN for each partition")]
    NeedsLessThan,
    /// A partition of LIST has no values.
    #[error("Syntax error: LIST PARTITIONING requires definition of VALUES IN for each partition")]
    NeedsIn,
    /// There are more or fewer partitions than PARTITIONS says.
    #[error("Wrong number of partitions defined, mismatch with previous setting")]
    WrongCount,
    /// There are more or fewer subpartitions than SUBPARTITIONS says, or than another partition has.
    #[error("Wrong number of subpartitions defined, mismatch with previous setting")]
    WrongSubpartitionCount,
    /// There are fewer values than columns.
    #[error("Inconsistency in usage of column lists for partitioning")]
    Inconsistent,
    /// A row stands where a value does.
    #[error("Row expressions in VALUES IN only allowed for multi-field column partitioning")]
    RowNotAllowed,
    /// MAXVALUE among values of a list.
    #[error("Cannot use MAXVALUE as value in VALUES IN")]
    MaxValueInList,
    /// An expression depends on more than the row.
    #[error(
        "Constant, random or timezone-dependent expressions in (sub)partitioning function are not allowed"
    )]
    NotOfTheRow,
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
    /// The same with the words of what is wrong of a PARTITION BY.
    pub(crate) fn of_partitioning(fault: PartitionFault, text: &[u8], position: usize) -> ParseError {
        match ParseError::near(text, position) {
            ParseError::Syntax { near, line } => ParseError::Partitioning { fault, near, line },
            other => other,
        }
    }

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
            ParseError::Syntax { .. } | ParseError::Partitioning { .. } => 1064,
            ParseError::Empty => 1065,
            ParseError::Stopped => 1317,
            ParseError::Name(name) => name.code(),
        }
    }

    /// Its SQLSTATE.
    pub fn sqlstate(&self) -> &'static str {
        match self {
            ParseError::Syntax { .. }
            | ParseError::Partitioning { .. }
            | ParseError::Empty
            | ParseError::Name(_) => "42000",
            ParseError::Stopped => "70100",
        }
    }
}
