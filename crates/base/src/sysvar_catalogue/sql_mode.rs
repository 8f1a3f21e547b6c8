//! The modes of `sql_mode`: their names, and their bits.

/// The names in `sql_mode`; a name's position is its bit. Empty names are bits MySQL no longer uses.
pub const SQL_MODES: &[&str] = &[
    "REAL_AS_FLOAT",
    "PIPES_AS_CONCAT",
    "ANSI_QUOTES",
    "IGNORE_SPACE",
    "",
    "ONLY_FULL_GROUP_BY",
    "NO_UNSIGNED_SUBTRACTION",
    "NO_DIR_IN_CREATE",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "ANSI",
    "NO_AUTO_VALUE_ON_ZERO",
    "NO_BACKSLASH_ESCAPES",
    "STRICT_TRANS_TABLES",
    "STRICT_ALL_TABLES",
    "NO_ZERO_IN_DATE",
    "NO_ZERO_DATE",
    "ALLOW_INVALID_DATES",
    "ERROR_FOR_DIVISION_BY_ZERO",
    "TRADITIONAL",
    "",
    "HIGH_NOT_PRECEDENCE",
    "NO_ENGINE_SUBSTITUTION",
    "PAD_CHAR_TO_FULL_LENGTH",
    "TIME_TRUNCATE_FRACTIONAL",
];

/// REAL is FLOAT.
pub const REAL_AS_FLOAT: u64 = 1;
/// `||` concatenates.
pub const PIPES_AS_CONCAT: u64 = 1 << 1;
/// `"` quotes identifiers.
pub const ANSI_QUOTES: u64 = 1 << 2;
/// Spaces may stand between a function's name and its parenthesis.
pub const IGNORE_SPACE: u64 = 1 << 3;
/// What is selected must be grouped by or depend on what is.
pub const ONLY_FULL_GROUP_BY: u64 = 1 << 5;
/// A subtraction of unsigned numbers may be negative.
pub const NO_UNSIGNED_SUBTRACTION: u64 = 1 << 6;
/// The names that `ANSI` stands for, and itself.
pub const ANSI: u64 =
    1 << 18 | REAL_AS_FLOAT | PIPES_AS_CONCAT | ANSI_QUOTES | IGNORE_SPACE | ONLY_FULL_GROUP_BY;
/// Zero is a value for an AUTO_INCREMENT column.
pub const NO_AUTO_VALUE_ON_ZERO: u64 = 1 << 19;
/// A backslash in a string is a backslash.
pub const NO_BACKSLASH_ESCAPES: u64 = 1 << 20;
/// A value that does not fit is an error.
pub const STRICT_TRANS_TABLES: u64 = 1 << 21;
/// The same, for tables without transactions.
pub const STRICT_ALL_TABLES: u64 = 1 << 22;
/// A month or day of zero is not a date.
pub const NO_ZERO_IN_DATE: u64 = 1 << 23;
/// 0000-00-00 is not a date.
pub const NO_ZERO_DATE: u64 = 1 << 24;
/// Days are only checked to be at most 31.
pub const ALLOW_INVALID_DATES: u64 = 1 << 25;
/// A division by zero in INSERT or UPDATE is an error in strict mode.
pub const ERROR_FOR_DIVISION_BY_ZERO: u64 = 1 << 26;
/// The names that `TRADITIONAL` stands for, and itself.
pub const TRADITIONAL: u64 = 1 << 27
    | STRICT_TRANS_TABLES
    | STRICT_ALL_TABLES
    | NO_ZERO_IN_DATE
    | NO_ZERO_DATE
    | ERROR_FOR_DIVISION_BY_ZERO
    | NO_ENGINE_SUBSTITUTION;
/// NOT binds as tightly as `!`.
pub const HIGH_NOT_PRECEDENCE: u64 = 1 << 29;
/// An unknown engine is an error.
pub const NO_ENGINE_SUBSTITUTION: u64 = 1 << 30;
/// CHAR values are padded with spaces when read.
pub const PAD_CHAR_TO_FULL_LENGTH: u64 = 1 << 31;
/// Fractions of a second are cut off, not rounded.
pub const TIME_TRUNCATE_FRACTIONAL: u64 = 1 << 32;

/// `bits`, with what the names that stand for several modes stand for.
pub fn expanded(bits: u64) -> u64 {
    let ansi = if bits & 1 << 18 != 0 { ANSI } else { 0 };
    let traditional = if bits & 1 << 27 != 0 { TRADITIONAL } else { 0 };
    bits | ansi | traditional
}

/// The value of `sql_mode` in a fresh server.
pub const DEFAULT_SQL_MODE: u64 = ONLY_FULL_GROUP_BY
    | STRICT_TRANS_TABLES
    | NO_ZERO_IN_DATE
    | NO_ZERO_DATE
    | ERROR_FOR_DIVISION_BY_ZERO
    | NO_ENGINE_SUBSTITUTION;
