//! Expressions.

use super::{Name, OrderItem, Query, WindowSpec};

/// A value, or something to compute one from.
///
/// Chains of AND, OR and XOR written without parentheses are flat where that is the same thing (AND, OR), so that a
/// condition of ten thousand terms is one level deep.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// A constant.
    Literal(Literal),
    /// `?`, numbered from 0 in the order of the text.
    Placeholder(u32),
    /// `column`, `table.column`, `schema.table.column`.
    Column(ColumnName),
    /// `@name`.
    UserVariable(Name),
    /// `@@name`, `@@session.name`, `@@component.name`.
    SystemVariable(SystemVariable),
    /// `@name := value`.
    AssignUserVariable(Name, Box<Expr>),
    /// `NOT x`, `-x`, ...
    Unary(UnaryOp, Box<Expr>),
    /// `a AND b AND ...`, two or more terms.
    And(Vec<Expr>),
    /// `a OR b OR ...`, two or more terms.
    Or(Vec<Expr>),
    /// Any other operation on two operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `x + INTERVAL n unit`, `INTERVAL n unit + x`, `DATE_ADD`, `ADDDATE`, and the same with minus.
    DateArithmetic(Box<DateArithmetic>),
    /// `x > ALL (query)`, `x = ANY (query)`.
    Quantified(BinaryOp, Quantifier, Box<Expr>, Box<Query>),
    /// `x [NOT] BETWEEN low AND high`.
    Between(Box<Between>),
    /// `x [NOT] IN (a, b, ...)`.
    InList {
        /// NOT IN.
        negated: bool,
        /// What is looked for.
        operand: Box<Expr>,
        /// Where: at least one.
        list: Vec<Expr>,
    },
    /// `x [NOT] IN (query)`.
    InSubquery {
        /// NOT IN.
        negated: bool,
        /// What is looked for.
        operand: Box<Expr>,
        /// Where.
        query: Box<Query>,
    },
    /// `x [NOT] LIKE pattern [ESCAPE c]`.
    Like(Box<Like>),
    /// `x [NOT] REGEXP pattern`, `x [NOT] RLIKE pattern`.
    Regexp {
        /// NOT REGEXP.
        negated: bool,
        /// What is matched.
        operand: Box<Expr>,
        /// The regular expression.
        pattern: Box<Expr>,
    },
    /// `x SOUNDS LIKE y`: `SOUNDEX(x) = SOUNDEX(y)`.
    SoundsLike(Box<Expr>, Box<Expr>),
    /// `x MEMBER OF (json array)`.
    MemberOf(Box<Expr>, Box<Expr>),
    /// `x IS [NOT] NULL | TRUE | FALSE | UNKNOWN`.
    Is {
        /// IS NOT.
        negated: bool,
        /// What is tested.
        operand: Box<Expr>,
        /// For what.
        test: IsTest,
    },
    /// `(a, b, ...)` and `ROW(a, b, ...)`: two or more.
    Row(Vec<Expr>),
    /// `(query)` as a value or a row.
    Subquery(Box<Query>),
    /// `EXISTS (query)`.
    Exists(Box<Query>),
    /// `CASE [operand] WHEN ... THEN ... [ELSE ...] END`.
    Case(Box<Case>),
    /// `CAST(x AS type)`, `CONVERT(x, type)`, `BINARY x`.
    Cast(Box<Cast>),
    /// `CONVERT(x USING charset)`.
    ConvertUsing(Box<Expr>, Name),
    /// `x COLLATE collation`.
    Collate(Box<Expr>, Name),
    /// `column -> '$.path'` is `JSON_EXTRACT(column, path)`; `->>` unquotes it as well.
    JsonPath {
        /// Always a column.
        column: ColumnName,
        /// The path, as in the literal.
        path: Vec<u8>,
        /// `->>`.
        unquote: bool,
    },
    /// `name(arguments)`: every function without a syntax of its own, aggregates included only as [`Expr::Aggregate`].
    Function(Box<Function>),
    /// `SUM(DISTINCT x)`, `COUNT(*)`, `GROUP_CONCAT(...)`, ..., with or without OVER.
    Aggregate(Box<Aggregate>),
    /// `ROW_NUMBER() OVER (...)` and the other functions that need a window.
    WindowFunction(Box<WindowFunction>),
    /// `MATCH (columns) AGAINST (x IN ... MODE)`.
    Match(Box<Match>),
    /// `EXTRACT(unit FROM x)`.
    Extract(IntervalUnit, Box<Expr>),
    /// `TIMESTAMPADD(unit, n, x)`: amount, then date.
    TimestampAdd(IntervalUnit, Box<Expr>, Box<Expr>),
    /// `TIMESTAMPDIFF(unit, from, to)`.
    TimestampDiff(IntervalUnit, Box<Expr>, Box<Expr>),
    /// `GET_FORMAT(DATE | TIME | DATETIME, x)`.
    GetFormat(FormatKind, Box<Expr>),
    /// `TRIM([BOTH | LEADING | TRAILING] [remove] FROM x)`.
    Trim(Box<Trim>),
    /// `CHAR(n, ... [USING charset])`.
    Char(Vec<Expr>, Option<Name>),
    /// `WEIGHT_STRING(x [AS CHAR(n) | AS BINARY(n)])`.
    WeightString(Box<Expr>, Option<(WeightStringAs, u64)>),
    /// `VALUES(column)` in ON DUPLICATE KEY UPDATE.
    Values(ColumnName),
    /// `DEFAULT(column)`.
    DefaultOf(ColumnName),
    /// `DEFAULT` as a value of INSERT, REPLACE and UPDATE; nowhere else.
    Default,
    /// `JSON_VALUE(document, path [RETURNING type] [on empty] [on error])`.
    JsonValue(Box<JsonValue>),
    /// `INTERVAL(n, a, b, ...)`, the function.
    IntervalFunction(Vec<Expr>),
}

/// A constant as it was written.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// `NULL`, `\N`.
    Null,
    /// `TRUE`, `FALSE`.
    Bool(bool),
    /// Digits that fit 64 bits.
    Integer(u64),
    /// Digits with a point, or too many digits for 64 bits: exact, as text.
    Decimal(String),
    /// With an exponent; the text as written is kept for printing.
    Double(f64, String),
    /// A string; escapes are resolved, adjacent strings joined.
    String(StringLiteral),
    /// `x'1F'`, `0x1F`; with an introducer its character set.
    Hex(Vec<u8>, Option<Name>),
    /// `b'101'`, `0b101`, big-endian; with an introducer its character set.
    Bit(Vec<u8>, Option<Name>),
    /// `DATE '...'`, `{d '...'}` and so on. Not checked.
    Temporal(TemporalKind, Vec<u8>),
}

/// A character string.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StringLiteral {
    /// The bytes, in `charset` or else in character_set_client.
    pub value: Vec<u8>,
    /// `_latin1'x'`; `N'x'` gives utf8mb3.
    pub charset: Option<Name>,
}

/// What a temporal literal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum TemporalKind {
    Date,
    Time,
    Timestamp,
}

/// A column as written.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct ColumnName {
    /// `schema` of `schema.table.column`.
    pub schema: Option<Name>,
    /// The table or its alias.
    pub table: Option<Name>,
    /// The column itself.
    pub column: Name,
}

/// `@@[scope.]name`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SystemVariable {
    /// Where it lives; [`VariableScope::Unspecified`] when not said.
    pub scope: VariableScope,
    /// What stands before the dot of a structured or component variable: `hot` of `hot.key_buffer_size`.
    pub component: Option<Name>,
    /// The variable.
    pub name: Name,
}

/// The scope of a system variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum VariableScope {
    /// Not said: the session's value if there is one, else the global one; in SET, where it is `@@name`, the session's, or that of
    /// the next transaction.
    Unspecified,
    /// SESSION and LOCAL.
    Session,
    Global,
    Persist,
    PersistOnly,
}

/// Operators with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the operation")]
pub enum UnaryOp {
    /// `NOT x` and `!x`.
    Not,
    Minus,
    Plus,
    /// `~x`.
    BitNot,
}

/// Operators with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the operation")]
pub enum BinaryOp {
    Xor,
    Equal,
    /// `<=>`.
    NullSafeEqual,
    /// `<>`, `!=`.
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    BitOr,
    BitAnd,
    BitXor,
    ShiftLeft,
    ShiftRight,
    Plus,
    Minus,
    Multiply,
    /// `/`.
    Divide,
    /// `DIV`.
    IntegerDivide,
    /// `%`, `MOD`.
    Modulo,
    /// `||` under PIPES_AS_CONCAT.
    Concat,
}

/// What IS tests for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum IsTest {
    Null,
    True,
    False,
    Unknown,
}

/// `ALL` or `ANY` (`SOME`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum Quantifier {
    All,
    Any,
}

/// A date plus or minus an interval.
#[derive(Debug, Clone, PartialEq)]
pub struct DateArithmetic {
    /// The date, time or string.
    pub date: Expr,
    /// Minus instead of plus.
    pub subtract: bool,
    /// How many units; a string for composite units.
    pub amount: Expr,
    /// The unit.
    pub unit: IntervalUnit,
}

/// Units of INTERVAL, EXTRACT, TIMESTAMPADD, TIMESTAMPDIFF and events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum IntervalUnit {
    Microsecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    SecondMicrosecond,
    MinuteMicrosecond,
    MinuteSecond,
    HourMicrosecond,
    HourSecond,
    HourMinute,
    DayMicrosecond,
    DaySecond,
    DayMinute,
    DayHour,
    YearMonth,
}

impl IntervalUnit {
    /// Each with its keyword in lower case, in the order of their declaration.
    const KEYWORDS: [(IntervalUnit, &'static str); 20] = [
        (IntervalUnit::Microsecond, "microsecond"),
        (IntervalUnit::Second, "second"),
        (IntervalUnit::Minute, "minute"),
        (IntervalUnit::Hour, "hour"),
        (IntervalUnit::Day, "day"),
        (IntervalUnit::Week, "week"),
        (IntervalUnit::Month, "month"),
        (IntervalUnit::Quarter, "quarter"),
        (IntervalUnit::Year, "year"),
        (IntervalUnit::SecondMicrosecond, "second_microsecond"),
        (IntervalUnit::MinuteMicrosecond, "minute_microsecond"),
        (IntervalUnit::MinuteSecond, "minute_second"),
        (IntervalUnit::HourMicrosecond, "hour_microsecond"),
        (IntervalUnit::HourSecond, "hour_second"),
        (IntervalUnit::HourMinute, "hour_minute"),
        (IntervalUnit::DayMicrosecond, "day_microsecond"),
        (IntervalUnit::DaySecond, "day_second"),
        (IntervalUnit::DayMinute, "day_minute"),
        (IntervalUnit::DayHour, "day_hour"),
        (IntervalUnit::YearMonth, "year_month"),
    ];

    /// Its keyword in lower case.
    pub fn keyword(self) -> &'static str {
        let own = Self::KEYWORDS.iter().find(|(unit, _)| *unit == self);
        own.map_or("", |(_, keyword)| keyword)
    }

    /// The unit of a keyword in lower case.
    pub fn of_keyword(keyword: &[u8]) -> Option<IntervalUnit> {
        let is_it = |(_, own): &&(IntervalUnit, &str)| own.as_bytes() == keyword;
        Self::KEYWORDS.iter().find(is_it).map(|(unit, _)| *unit)
    }
}

/// `operand [NOT] BETWEEN low AND high`.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct Between {
    pub negated: bool,
    pub operand: Expr,
    pub low: Expr,
    pub high: Expr,
}

/// `operand [NOT] LIKE pattern [ESCAPE escape]`.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct Like {
    pub negated: bool,
    pub operand: Expr,
    pub pattern: Expr,
    pub escape: Option<Expr>,
}

/// `CASE`.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// `CASE operand WHEN value`; without it each WHEN is a condition.
    pub operand: Option<Expr>,
    /// WHEN and THEN; at least one.
    pub branches: Vec<(Expr, Expr)>,
    /// ELSE; NULL if absent.
    pub otherwise: Option<Expr>,
}

/// `CAST(operand [AT TIME ZONE zone] AS target [ARRAY])`.
#[derive(Debug, Clone, PartialEq)]
pub struct Cast {
    /// What is cast.
    pub operand: Expr,
    /// To what.
    pub target: CastType,
    /// For multi-valued indexes.
    pub array: bool,
    /// `AT TIME ZONE '+00:00'`.
    pub at_time_zone: Option<Vec<u8>>,
    /// Written `BINARY operand`.
    pub prefix_binary: bool,
}

/// Types of CAST and CONVERT.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum CastType {
    /// BINARY[(length)].
    Binary(Option<u64>),
    /// CHAR[(length)] [charset]; NCHAR gives utf8mb3.
    Char {
        length: Option<u64>,
        charset: Option<CastCharset>,
    },
    Signed,
    Unsigned,
    Date,
    Time(Option<u8>),
    DateTime(Option<u8>),
    Year,
    /// DECIMAL[(precision[, scale])]; 0 for what is absent.
    Decimal(u32, u32),
    /// FLOAT[(precision)]; with a precision above 24 it is a DOUBLE.
    Float,
    Double,
    Real,
    Json,
    /// POINT, LINESTRING, ...
    Geometry(Name),
}

/// Character set of `CAST(x AS CHAR ...)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CastCharset {
    /// CHARACTER SET name, ASCII (latin1), UNICODE (ucs2), BYTE (binary).
    Named(Name),
    /// BINARY: the binary collation of the connection's character set.
    BinaryCollation,
}

/// A call by name.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// `schema.name(...)`.
    pub schema: Option<Name>,
    /// As written, except for synonyms the grammar knows: CURRENT_TIMESTAMP, LOCALTIME and LOCALTIMESTAMP are `now`,
    /// CURRENT_DATE is `curdate`, CURRENT_TIME is `curtime`, SCHEMA() is `database`.
    pub name: Name,
    /// What stands between the parentheses. SUBSTRING(x FROM a FOR b) and POSITION(x IN y) are rewritten to
    /// `substring(x, a, b)` and `locate(x, y)`.
    pub arguments: Vec<Expr>,
    /// Whether it is called as stored functions are: a word of the grammar is, if it is quoted, qualified, or
    /// apart from its parenthesis.
    pub is_generic: bool,
}

/// Which aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum AggregateKind {
    Count,
    Sum,
    Avg,
    Min,
    Max,
    BitAnd,
    BitOr,
    BitXor,
    /// STD, STDDEV, STDDEV_POP.
    StdDevPop,
    StdDevSamp,
    /// VARIANCE, VAR_POP.
    VarPop,
    VarSamp,
    GroupConcat,
    JsonArrayAgg,
    JsonObjectAgg,
}

impl AggregateKind {
    /// Its name, as MySQL prints it.
    pub fn name(self) -> &'static str {
        match self {
            AggregateKind::Count => "count",
            AggregateKind::Sum => "sum",
            AggregateKind::Avg => "avg",
            AggregateKind::Min => "min",
            AggregateKind::Max => "max",
            AggregateKind::BitAnd => "bit_and",
            AggregateKind::BitOr => "bit_or",
            AggregateKind::BitXor => "bit_xor",
            AggregateKind::StdDevPop => "std",
            AggregateKind::StdDevSamp => "stddev_samp",
            AggregateKind::VarPop => "variance",
            AggregateKind::VarSamp => "var_samp",
            AggregateKind::GroupConcat => "group_concat",
            AggregateKind::JsonArrayAgg => "json_arrayagg",
            AggregateKind::JsonObjectAgg => "json_objectagg",
        }
    }
}

/// An aggregate.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    /// Which.
    pub kind: AggregateKind,
    /// Over distinct values only.
    pub distinct: bool,
    /// `COUNT(*)` has none; GROUP_CONCAT and COUNT(DISTINCT) may have several.
    pub arguments: Vec<Expr>,
    /// GROUP_CONCAT's ORDER BY.
    pub order_by: Vec<OrderItem>,
    /// GROUP_CONCAT's SEPARATOR.
    pub separator: Option<Vec<u8>>,
    /// OVER.
    pub over: Option<Window>,
}

/// What stands after OVER.
#[derive(Debug, Clone, PartialEq)]
pub enum Window {
    /// `OVER name`.
    Named(Name),
    /// `OVER (...)`.
    Spec(WindowSpec),
}

/// A window function.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowFunction {
    /// Which.
    pub kind: WindowFunctionKind,
    /// Its arguments.
    pub arguments: Vec<Expr>,
    /// NTH_VALUE ... FROM LAST (which MySQL parses and then refuses).
    pub from_last: bool,
    /// IGNORE NULLS (which MySQL parses and then refuses).
    pub ignore_nulls: bool,
    /// OVER.
    pub over: Window,
}

/// Which window function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum WindowFunctionKind {
    RowNumber,
    Rank,
    DenseRank,
    CumeDist,
    PercentRank,
    Ntile,
    Lead,
    Lag,
    FirstValue,
    LastValue,
    NthValue,
}

impl WindowFunctionKind {
    /// Its name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            WindowFunctionKind::RowNumber => "row_number",
            WindowFunctionKind::Rank => "rank",
            WindowFunctionKind::DenseRank => "dense_rank",
            WindowFunctionKind::CumeDist => "cume_dist",
            WindowFunctionKind::PercentRank => "percent_rank",
            WindowFunctionKind::Ntile => "ntile",
            WindowFunctionKind::Lead => "lead",
            WindowFunctionKind::Lag => "lag",
            WindowFunctionKind::FirstValue => "first_value",
            WindowFunctionKind::LastValue => "last_value",
            WindowFunctionKind::NthValue => "nth_value",
        }
    }
}

/// `MATCH (columns) AGAINST (against mode)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// The columns of one FULLTEXT index.
    pub columns: Vec<ColumnName>,
    /// What is searched.
    pub against: Expr,
    /// IN BOOLEAN MODE.
    pub boolean: bool,
    /// WITH QUERY EXPANSION.
    pub query_expansion: bool,
}

/// First argument of GET_FORMAT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum FormatKind {
    Date,
    Time,
    DateTime,
}

/// TRIM.
#[derive(Debug, Clone, PartialEq)]
pub struct Trim {
    /// Which ends.
    pub side: TrimSide,
    /// What is removed; spaces if absent.
    pub remove: Option<Expr>,
    /// From what.
    pub operand: Expr,
}

/// Ends that TRIM trims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum TrimSide {
    Both,
    Leading,
    Trailing,
}

/// `WEIGHT_STRING(x AS ...)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum WeightStringAs {
    Char,
    Binary,
}

/// JSON_VALUE.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct JsonValue {
    pub document: Expr,
    pub path: Vec<u8>,
    pub returning: Option<CastType>,
    pub on_empty: Option<JsonOn>,
    pub on_error: Option<JsonOn>,
}

/// ON EMPTY and ON ERROR of JSON_VALUE and JSON_TABLE.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum JsonOn {
    Null,
    Error,
    Default(Box<Expr>),
}
