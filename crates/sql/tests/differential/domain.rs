//! The types of columns, each with the few values that rows hold and conditions ask for: close neighbours, both ends,
//! and what only a comparison by the type's own rules tells apart.

use palisade_base::prng::Prng;

/// What can be done with a column of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    Integer,
    Decimal,
    /// Sums depend on the order of rows.
    Float,
    Text,
    Binary,
    Temporal,
    /// ENUM, SET and BIT.
    Other,
}

/// A type.
#[derive(Debug)]
pub struct Kind {
    pub declaration: &'static str,
    pub family: Family,
    /// Values as literals.
    pub values: &'static [&'static str],
    /// Lengths that an index on a prefix may have.
    pub prefixes: &'static [u32],
    /// It can only be indexed by a prefix.
    pub only_prefix: bool,
}

const fn kind(declaration: &'static str, family: Family, values: &'static [&'static str]) -> Kind {
    Kind { declaration, family, values, prefixes: &[], only_prefix: false }
}

const fn string(declaration: &'static str, family: Family, values: &'static [&'static str]) -> Kind {
    Kind { declaration, family, values, prefixes: &[1, 2], only_prefix: false }
}

const fn long(declaration: &'static str, family: Family, values: &'static [&'static str]) -> Kind {
    Kind { declaration, family, values, prefixes: &[1, 2, 4], only_prefix: true }
}

const TEXTS: &[&str] = &[
    "''", "'a'", "'A'", "'á'", "'ab'", "'aB'", "'abc'", "'a '", "'b'", "'1'", "'01'", "'1a'", "'a_'", "'é'",
    "'z'",
];
const BYTES: &[&str] =
    &["''", "'a'", "'A'", "'ab'", "'abc'", "'b'", "'a\\0'", "'a '", "x'ff'", "x'00'", "'1'"];
const DATES: &[&str] =
    &["'2020-01-01'", "'2020-01-02'", "'2019-12-31'", "'1000-01-01'", "'9999-12-31'", "'2020-02-29'"];
const DATETIMES: &[&str] = &[
    "'2020-01-01 00:00:00'",
    "'2020-01-01 00:00:01'",
    "'2020-01-01 12:30:00.5'",
    "'2019-12-31 23:59:59'",
    "'2020-01-02'",
    "'1999-01-01 01:01:01.25'",
];

pub const KINDS: &[Kind] = &[
    kind("TINYINT", Family::Integer, &["-128", "-1", "0", "1", "2", "3", "127"]),
    kind("TINYINT UNSIGNED", Family::Integer, &["0", "1", "2", "3", "127", "128", "255"]),
    kind("SMALLINT", Family::Integer, &["-32768", "-1", "0", "1", "2", "32767"]),
    kind("MEDIUMINT UNSIGNED", Family::Integer, &["0", "1", "2", "3", "16777215"]),
    kind("INT", Family::Integer, &["-2147483648", "-2", "-1", "0", "1", "2", "3", "4", "2147483647"]),
    kind("INT UNSIGNED", Family::Integer, &["0", "1", "2", "3", "2147483648", "4294967295"]),
    kind(
        "BIGINT",
        Family::Integer,
        &[
            "-9223372036854775808",
            "-9007199254740993",
            "-1",
            "0",
            "1",
            "2",
            "9007199254740993",
            "9223372036854775807",
        ],
    ),
    kind(
        "BIGINT UNSIGNED",
        Family::Integer,
        &["0", "1", "2", "9007199254740993", "9223372036854775808", "18446744073709551615"],
    ),
    kind(
        "DECIMAL(6,2)",
        Family::Decimal,
        &["-9999.99", "-1.50", "-0.01", "0", "0.01", "0.5", "1", "1.5", "2", "2.01", "9999.99"],
    ),
    kind(
        "DECIMAL(20,0)",
        Family::Decimal,
        &["-99999999999999999999", "-1", "0", "1", "2", "99999999999999999999"],
    ),
    kind("DECIMAL(4,4) UNSIGNED", Family::Decimal, &["0", "0.0001", "0.5", "0.9999"]),
    kind("DOUBLE", Family::Float, &["-1e300", "-1.5", "-0.0", "0", "0.1", "0.5", "1", "2", "2.5", "1e300"]),
    kind("FLOAT", Family::Float, &["-1.5", "0", "0.1", "0.5", "1", "2.5", "1e30"]),
    string("VARCHAR(8)", Family::Text, TEXTS),
    string("VARCHAR(8) COLLATE utf8mb4_bin", Family::Text, TEXTS),
    string("VARCHAR(8) COLLATE utf8mb4_general_ci", Family::Text, TEXTS),
    string("VARCHAR(8) CHARACTER SET latin1", Family::Text, TEXTS),
    string("CHAR(4)", Family::Text, TEXTS),
    string("CHAR(4) COLLATE utf8mb4_bin", Family::Text, TEXTS),
    long("TEXT", Family::Text, TEXTS),
    string("VARBINARY(6)", Family::Binary, BYTES),
    string("BINARY(3)", Family::Binary, BYTES),
    long("BLOB", Family::Binary, BYTES),
    kind("DATE", Family::Temporal, DATES),
    kind("DATETIME", Family::Temporal, DATETIMES),
    kind("DATETIME(2)", Family::Temporal, DATETIMES),
    kind("TIMESTAMP", Family::Temporal, DATETIMES),
    kind(
        "TIME",
        Family::Temporal,
        &["'-838:59:59'", "'-00:00:01'", "'00:00:00'", "'00:00:01'", "'12:30:00'", "'838:59:59'"],
    ),
    kind("YEAR", Family::Temporal, &["0", "1901", "1999", "2000", "2020", "2155"]),
    kind("ENUM('b','a','c')", Family::Other, &["'a'", "'b'", "'c'", "1", "3"]),
    kind("SET('x','y')", Family::Other, &["''", "'x'", "'y'", "'x,y'", "3"]),
    kind("BIT(4)", Family::Other, &["b'0'", "b'1'", "b'101'", "15"]),
];

/// Constants that are of no column's type in particular.
const STRAY: &[&str] = &[
    "-1",
    "0",
    "1",
    "2.0",
    "1.5",
    "1e0",
    "-0.5",
    "'1'",
    "'1.0'",
    "'1abc'",
    "'abc'",
    "''",
    "' 1'",
    "300",
    "-300",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "-9223372036854775809",
    "99999999999999999999.5",
    "1e19",
    "1e300",
    "0.1",
    "0.10000000000000000000001",
    "'2020-01-01'",
    "'2020-01-01 00:00:00'",
    "'2020-1-2'",
    "20200101",
    "'12:30:00'",
    "TRUE",
    "FALSE",
    "x'31'",
    "'aBcdefghijkl'",
];

/// A literal for comparing with a column: mostly one of its own type's values.
pub fn constant(prng: &mut Prng, kind: usize) -> &'static str {
    match prng.below(20) {
        0 => "NULL",
        1 | 2 => prng.pick::<&str>(STRAY),
        3 => prng.pick(KINDS).values[0],
        4 => {
            let other = prng.pick(KINDS);
            prng.pick::<&str>(other.values)
        }
        _ => prng.pick::<&str>(KINDS[kind].values),
    }
}
