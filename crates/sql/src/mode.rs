//! `sql_mode`: a set of flags, as MySQL names and orders them.

use std::ops::{BitOr, BitOrAssign};

/// A set of SQL modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SqlMode(u64);

macro_rules! modes {
    ($($name:ident = $bit:literal;)*) => {
        impl SqlMode {
            $(#[doc = concat!("`", stringify!($name), "`")] pub const $name: SqlMode = SqlMode(1 << $bit);)*
        }
        const NAMES: &[(&str, SqlMode)] = &[$((stringify!($name), SqlMode::$name)),*];
    };
}

modes! {
    REAL_AS_FLOAT = 0;
    PIPES_AS_CONCAT = 1;
    ANSI_QUOTES = 2;
    IGNORE_SPACE = 3;
    ONLY_FULL_GROUP_BY = 5;
    NO_UNSIGNED_SUBTRACTION = 6;
    NO_DIR_IN_CREATE = 7;
    ANSI = 18;
    NO_AUTO_VALUE_ON_ZERO = 19;
    NO_BACKSLASH_ESCAPES = 20;
    STRICT_TRANS_TABLES = 21;
    STRICT_ALL_TABLES = 22;
    NO_ZERO_IN_DATE = 23;
    NO_ZERO_DATE = 24;
    ALLOW_INVALID_DATES = 25;
    ERROR_FOR_DIVISION_BY_ZERO = 26;
    TRADITIONAL = 27;
    HIGH_NOT_PRECEDENCE = 29;
    NO_ENGINE_SUBSTITUTION = 30;
    PAD_CHAR_TO_FULL_LENGTH = 31;
    TIME_TRUNCATE_FRACTIONAL = 32;
}

impl Default for SqlMode {
    /// MySQL 8.4's default.
    fn default() -> Self {
        SqlMode::ONLY_FULL_GROUP_BY
            | SqlMode::STRICT_TRANS_TABLES
            | SqlMode::NO_ZERO_IN_DATE
            | SqlMode::NO_ZERO_DATE
            | SqlMode::ERROR_FOR_DIVISION_BY_ZERO
            | SqlMode::NO_ENGINE_SUBSTITUTION
    }
}

impl BitOr for SqlMode {
    type Output = SqlMode;
    fn bitor(self, other: SqlMode) -> SqlMode {
        SqlMode(self.0 | other.0)
    }
}

impl BitOrAssign for SqlMode {
    fn bitor_assign(&mut self, other: SqlMode) {
        self.0 |= other.0;
    }
}

impl SqlMode {
    /// No mode at all.
    pub const NONE: SqlMode = SqlMode(0);

    /// The bits, as MySQL numbers them.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// The set of these bits; `None` if one of them is no mode.
    pub fn from_bits(bits: u64) -> Option<SqlMode> {
        let known = NAMES.iter().fold(0, |all, (_, mode)| all | mode.0);
        (bits & !known == 0).then_some(SqlMode(bits).with_implied())
    }

    /// Whether all modes of `other` are set.
    pub fn has(self, other: SqlMode) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether bad data is an error rather than a warning.
    pub fn is_strict(self) -> bool {
        self.0 & (SqlMode::STRICT_TRANS_TABLES.0 | SqlMode::STRICT_ALL_TABLES.0) != 0
    }

    /// The set named by a comma separated list; on error, the name that is unknown.
    pub fn parse(text: &str) -> Result<SqlMode, String> {
        let mut set = SqlMode::NONE;
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
                Some((_, mode)) => set |= *mode,
                None => return Err(name.to_owned()),
            }
        }
        Ok(set.with_implied())
    }

    fn with_implied(self) -> SqlMode {
        let mut set = self;
        if set.has(SqlMode::ANSI) {
            set |= SqlMode::REAL_AS_FLOAT
                | SqlMode::PIPES_AS_CONCAT
                | SqlMode::ANSI_QUOTES
                | SqlMode::IGNORE_SPACE
                | SqlMode::ONLY_FULL_GROUP_BY;
        }
        if set.has(SqlMode::TRADITIONAL) {
            set |= SqlMode::STRICT_TRANS_TABLES
                | SqlMode::STRICT_ALL_TABLES
                | SqlMode::NO_ZERO_IN_DATE
                | SqlMode::NO_ZERO_DATE
                | SqlMode::ERROR_FOR_DIVISION_BY_ZERO
                | SqlMode::NO_ENGINE_SUBSTITUTION;
        }
        set
    }
}

impl std::fmt::Display for SqlMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut separator = "";
        for (name, mode) in NAMES {
            if self.has(*mode) {
                write!(f, "{separator}{name}")?;
                separator = ",";
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_prints_as_mysql_prints_it() {
        assert_eq!(
            SqlMode::default().to_string(),
            "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
        );
    }

    #[test]
    fn a_list_is_read_in_any_case_and_an_unknown_name_is_told() {
        assert_eq!(
            SqlMode::parse("ansi_quotes, PIPES_AS_CONCAT").unwrap().to_string(),
            "PIPES_AS_CONCAT,ANSI_QUOTES"
        );
        assert_eq!(SqlMode::parse("a,b"), Err("a".to_owned()));
        assert_eq!(SqlMode::parse(""), Ok(SqlMode::NONE));
        assert!(SqlMode::parse("TRADITIONAL").unwrap().is_strict());
    }
}
