//! What MySQL understands and says it will not for ever.
//!
//! The parser notes each use where it reads it, in order, and goes on; whoever has sent the statement is warned
//! of each. The words of the warnings are not the grammar's business.

/// Something deprecated that a statement uses.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Deprecated {
    /// `&&`.
    AndAnd,
    /// `||` that means OR.
    OrOr,
    /// `!`.
    ExclamationMark,
    /// `BINARY expr`.
    BinaryOperator,
    /// `CHAR(n) BINARY` and its like.
    BinaryAttribute,
    /// `INT(n)`.
    DisplayWidth,
    /// ZEROFILL.
    ZeroFill,
    /// UNSIGNED of a type that has a fraction.
    UnsignedFraction,
    /// `FLOAT(m, d)`, `DOUBLE(m, d)`.
    FloatDigits,
    /// `YEAR(4)`.
    YearWidth,
    /// UNSIGNED of YEAR.
    UnsignedYear,
    /// SQL_CALC_FOUND_ROWS.
    CalcFoundRows,
    /// FOUND_ROWS().
    FoundRows,
    /// SQL_NO_CACHE.
    NoCache,
    /// `VALUES(column)`.
    ValuesFunction {
        /// In ON DUPLICATE KEY UPDATE, where there is something else to say it with.
        on_duplicate: bool,
    },
    /// `@a := value` within an expression.
    Assignment,
    /// The character set `utf8`.
    Utf8,
    /// The character set `utf8mb3`.
    Utf8mb3,
    /// ASCII or UNICODE, which stand for character sets.
    CharsetWord(&'static str),
    /// A collation of utf8mb3: its name.
    Utf8mb3Collation(String),
    /// `N'...'`, NCHAR, NVARCHAR.
    National,
    /// INSERT DELAYED or REPLACE DELAYED: which.
    Delayed(&'static str),
    /// ON EMPTY behind ON ERROR in a column of JSON_TABLE.
    OnEmptyLast,
    /// FLUSH PRIVILEGES.
    FlushPrivileges,
    /// SHOW PROFILES.
    ShowProfiles,
    /// SHOW PROFILE.
    ShowProfile,
    /// A system variable about profiles: its name.
    ProfilingVariable(&'static str),
    /// A column's alias that begins with spaces, which is called by what follows them.
    LeadingSpaces(String),
    /// A column's alias that is nothing but spaces, which is no name at all.
    BlankName(String),
}

impl Deprecated {
    /// Whether MySQL warns when the statement is executed, not when it is prepared.
    pub fn is_told_when_executed(&self) -> bool {
        matches!(self, Deprecated::FlushPrivileges | Deprecated::ShowProfile)
    }
}
