//! `sql_mode`, as statements ask about it.

use palisade_base::sysvar_catalogue::{DEFAULT_SQL_MODE, sql_mode};

/// A set of SQL modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SqlMode(u64);

macro_rules! modes {
    ($($name:ident)*) => {
        impl SqlMode {
            $(
                #[doc = concat!("`", stringify!($name), "`")]
                pub const $name: SqlMode = SqlMode(sql_mode::$name);
            )*
        }
    };
}

modes! {
    REAL_AS_FLOAT
    PIPES_AS_CONCAT
    ANSI_QUOTES
    IGNORE_SPACE
    ONLY_FULL_GROUP_BY
    NO_UNSIGNED_SUBTRACTION
    NO_AUTO_VALUE_ON_ZERO
    NO_BACKSLASH_ESCAPES
    NO_ZERO_IN_DATE
    NO_ZERO_DATE
    ALLOW_INVALID_DATES
    ERROR_FOR_DIVISION_BY_ZERO
    HIGH_NOT_PRECEDENCE
    NO_ENGINE_SUBSTITUTION
    TIME_TRUNCATE_FRACTIONAL
}

impl Default for SqlMode {
    /// MySQL 8.4's default.
    fn default() -> Self {
        SqlMode(DEFAULT_SQL_MODE)
    }
}

impl SqlMode {
    /// The value of the system variable: its bits, as MySQL numbers them.
    pub fn of(bits: u64) -> SqlMode {
        SqlMode(sql_mode::expanded(bits))
    }

    /// Whether all modes of `other` are set.
    pub fn has(self, other: SqlMode) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether bad data is an error rather than a warning.
    pub fn is_strict(self) -> bool {
        self.0 & (sql_mode::STRICT_TRANS_TABLES | sql_mode::STRICT_ALL_TABLES) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_for_several_modes_sets_them() {
        assert!(SqlMode::default().is_strict() && SqlMode::default().has(SqlMode::ONLY_FULL_GROUP_BY));
        assert!(!SqlMode::default().has(SqlMode::ANSI_QUOTES));
        assert!(!SqlMode::of(0).is_strict());
        assert!(SqlMode::of(1 << 27).is_strict(), "TRADITIONAL");
        assert!(SqlMode::of(1 << 18).has(SqlMode::ANSI_QUOTES), "ANSI");
    }
}
