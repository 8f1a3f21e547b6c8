//! Function calls: by name, and the many with a syntax of their own.

use super::expr::BIT_OR;
use super::{Parsed, Parser, Rejected};
use crate::Deprecated;
use crate::ast::{
    Aggregate, AggregateKind, Cast, CastCharset, CastType, DateArithmetic, Expr, FormatKind, Function,
    IntervalUnit, JsonOn, JsonValue, Literal, Name, Trim, TrimSide, WeightStringAs, Window, WindowFunction,
    WindowFunctionKind,
};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// A call by name; the parenthesis is next. `word` is what the lexer took the name for: DATE is a word of
    /// the grammar also where it is called, unless it is quoted.
    pub(super) fn function(&mut self, schema: Option<Name>, name: Name, word: Keyword) -> Parsed<Expr> {
        let arguments = self.arguments()?;
        if schema.is_none() && name.eq_ignore_ascii_case("found_rows") {
            self.note(Deprecated::FoundRows);
        }
        let is_generic = schema.is_some() || word == Keyword::None;
        Ok(Expr::Function(Box::new(Function { schema, name, arguments, is_generic })))
    }

    /// `(a, b, ...)`, maybe empty.
    fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        self.expect_symbol(b'(')?;
        if self.accept_symbol(b')') {
            return Ok(Vec::new());
        }
        let arguments = self.list(Self::expr)?;
        self.expect_symbol(b')')?;
        Ok(arguments)
    }

    fn call(&mut self, name: &str, arguments: Vec<Expr>) -> Parsed<Expr> {
        let name = name.to_owned();
        Ok(Expr::Function(Box::new(Function { schema: None, name, arguments, is_generic: false })))
    }

    /// A function whose name is a keyword, or a column whose name is a keyword that is not reserved.
    pub(super) fn keyword_function(&mut self) -> Parsed<Expr> {
        let keyword = self.token.keyword;
        if self.peek().kind != TokenKind::Symbol(b'(') {
            return self.call_without_parentheses(keyword);
        }
        if let Some(kind) = aggregate_kind(keyword) {
            self.advance();
            return self.aggregate(kind);
        }
        if let Some(kind) = window_kind(keyword) {
            self.advance();
            return self.window_function(kind);
        }
        match keyword {
            Keyword::CAST => self.cast(),
            Keyword::CONVERT => self.convert(),
            Keyword::VALUES => {
                let column = self.parenthesised_column()?;
                self.note(Deprecated::ValuesFunction { on_duplicate: self.on_duplicate });
                Ok(Expr::Values(column))
            }
            Keyword::DEFAULT => {
                let column = self.parenthesised_column()?;
                Ok(Expr::DefaultOf(column))
            }
            Keyword::CHAR => self.char_function(),
            Keyword::SUBSTRING | Keyword::SUBSTR | Keyword::MID => self.substring(),
            Keyword::POSITION => self.position(),
            Keyword::TRIM => self.trim(),
            Keyword::EXTRACT => self.extract(),
            Keyword::DATE_ADD => self.date_add(false, false),
            Keyword::DATE_SUB => self.date_add(true, false),
            Keyword::ADDDATE => self.date_add(false, true),
            Keyword::SUBDATE => self.date_add(true, true),
            Keyword::TIMESTAMPADD | Keyword::TIMESTAMPDIFF => self.timestamp_function(keyword),
            Keyword::GET_FORMAT => self.get_format(),
            Keyword::WEIGHT_STRING => self.weight_string(),
            Keyword::JSON_VALUE => self.json_value(),
            Keyword::CURRENT_USER
            | Keyword::CURRENT_DATE
            | Keyword::CURRENT_TIME
            | Keyword::CURRENT_TIMESTAMP
            | Keyword::LOCALTIME
            | Keyword::LOCALTIMESTAMP
            | Keyword::UTC_DATE
            | Keyword::UTC_TIME
            | Keyword::UTC_TIMESTAMP
            | Keyword::IF
            | Keyword::LEFT
            | Keyword::RIGHT
            | Keyword::REPLACE
            | Keyword::INSERT
            | Keyword::REPEAT
            | Keyword::MOD
            | Keyword::DATABASE
            | Keyword::SCHEMA
            | Keyword::GROUPING
            | Keyword::INTERVAL => self.call_by_keyword(),
            _ if keyword.is_reserved() => self.fail(),
            _ => self.call_by_keyword(),
        }
    }

    fn call_by_keyword(&mut self) -> Parsed<Expr> {
        let keyword = self.token.keyword;
        let token = self.advance();
        let name = match token.keyword {
            Keyword::CURRENT_DATE => "curdate".to_owned(),
            Keyword::CURRENT_TIME => "curtime".to_owned(),
            Keyword::CURRENT_TIMESTAMP | Keyword::LOCALTIME | Keyword::LOCALTIMESTAMP => "now".to_owned(),
            Keyword::SCHEMA => "database".to_owned(),
            _ => String::from_utf8_lossy(self.bytes(token)).into_owned(),
        };
        let arguments = match arity(keyword) {
            Some(Arity::Digits) => self.digits_argument()?,
            Some(Arity::Count(least, most)) => self.counted_arguments(least, most)?,
            None => self.arguments()?,
        };
        Ok(Expr::Function(Box::new(Function { schema: None, name, arguments, is_generic: false })))
    }

    /// `(a, b, ...)`, so many: functions whose names are keywords have their number of arguments in the grammar.
    fn counted_arguments(&mut self, least: usize, most: usize) -> Parsed<Vec<Expr>> {
        let mut arguments = Vec::new();
        self.expect_symbol(b'(')?;
        while arguments.len() < most {
            if arguments.len() >= least && self.is_symbol(b')') {
                break;
            }
            if !arguments.is_empty() {
                self.expect_symbol(b',')?;
            }
            arguments.push(self.expr()?);
        }
        self.expect_symbol(b')')?;
        Ok(arguments)
    }

    /// `()` or `(6)`: fractional digits.
    fn digits_argument(&mut self) -> Parsed<Vec<Expr>> {
        self.expect_symbol(b'(')?;
        let mut arguments = Vec::new();
        if !self.is_symbol(b')') {
            let at = self.token.start;
            let digits = self.unsigned()?;
            // The grammar has a token of its own for larger numbers, which it does not take here.
            if digits > i32::MAX as u64 {
                return Err(super::Rejected(at));
            }
            arguments.push(Expr::Literal(Literal::Integer(digits)));
        }
        self.expect_symbol(b')')?;
        Ok(arguments)
    }

    /// CURRENT_DATE and its like, or a column.
    fn call_without_parentheses(&mut self, keyword: Keyword) -> Parsed<Expr> {
        let name = match keyword {
            Keyword::CURRENT_USER => "current_user",
            Keyword::CURRENT_DATE => "curdate",
            Keyword::CURRENT_TIME => "curtime",
            Keyword::CURRENT_TIMESTAMP | Keyword::LOCALTIME | Keyword::LOCALTIMESTAMP => "now",
            Keyword::UTC_DATE => "utc_date",
            Keyword::UTC_TIME => "utc_time",
            Keyword::UTC_TIMESTAMP => "utc_timestamp",
            // Of these a parenthesis must follow, and that is where MySQL sees the error.
            Keyword::VALUES | Keyword::DEFAULT | Keyword::CHAR | Keyword::CONVERT | Keyword::GROUPING => {
                return Err(super::Rejected(self.peek().start));
            }
            _ if keyword.is_reserved() && arity(keyword).is_some() => {
                return Err(super::Rejected(self.peek().start));
            }
            _ => return self.column_or_function(),
        };
        self.advance();
        self.call(name, Vec::new())
    }

    /// The name of a function and one column in parentheses.
    fn parenthesised_column(&mut self) -> Parsed<crate::ast::ColumnName> {
        self.advance();
        self.expect_symbol(b'(')?;
        let column = self.column_name()?;
        self.expect_symbol(b')')?;
        Ok(column)
    }

    fn aggregate(&mut self, kind: AggregateKind) -> Parsed<Expr> {
        use AggregateKind::*;
        self.expect_symbol(b'(')?;
        let may_be_distinct =
            matches!(kind, Count | Sum | Avg | Min | Max | GroupConcat | JsonArrayAgg | JsonObjectAgg);
        let distinct = may_be_distinct && self.accept(Keyword::DISTINCT);
        if !distinct && !matches!(kind, GroupConcat) {
            self.accept(Keyword::ALL);
        }
        let arguments = match kind {
            Count if !distinct && self.accept_symbol(b'*') => Vec::new(),
            Count if distinct => self.list(Self::expr)?,
            GroupConcat => self.list(Self::expr)?,
            JsonObjectAgg => {
                let key = self.expr()?;
                self.expect_symbol(b',')?;
                vec![key, self.expr()?]
            }
            _ => vec![self.expr()?],
        };
        let mut order_by = Vec::new();
        let mut separator = None;
        if kind == GroupConcat {
            if self.accept(Keyword::ORDER) {
                self.expect(Keyword::BY)?;
                order_by = self.list(Self::order_item)?;
            }
            if self.accept(Keyword::SEPARATOR) {
                separator = Some(self.text_literal()?);
            }
        }
        self.expect_symbol(b')')?;
        let over = if self.is(Keyword::OVER) { Some(self.over()?) } else { None };
        Ok(Expr::Aggregate(Box::new(Aggregate { kind, distinct, arguments, order_by, separator, over })))
    }

    /// A string, or hexadecimal or bit digits as one.
    pub(super) fn text_literal(&mut self) -> Parsed<Vec<u8>> {
        match self.token.kind {
            TokenKind::String => self.string(),
            TokenKind::HexNumber | TokenKind::HexString | TokenKind::BitNumber | TokenKind::BitString => {
                match self.literal()? {
                    Literal::Hex(bytes, _) | Literal::Bit(bytes, _) => Ok(bytes),
                    _ => self.fail(),
                }
            }
            _ => self.fail(),
        }
    }

    fn window_function(&mut self, kind: WindowFunctionKind) -> Parsed<Expr> {
        use WindowFunctionKind::*;
        let start = self.token;
        let arguments = self.arguments()?;
        let expected = match kind {
            RowNumber | Rank | DenseRank | CumeDist | PercentRank => 0..=0,
            Ntile | FirstValue | LastValue => 1..=1,
            NthValue => 2..=2,
            Lead | Lag => 1..=3,
        };
        if !expected.contains(&arguments.len()) {
            return Err(super::Rejected(start.start));
        }
        let mut from_last = false;
        if kind == NthValue && self.accept(Keyword::FROM) {
            from_last = self.expect_any(&[Keyword::FIRST, Keyword::LAST])? == Keyword::LAST;
        }
        let mut ignore_nulls = false;
        if matches!(kind, Lead | Lag | FirstValue | LastValue | NthValue)
            && let Some(which) = self.accept_any(&[Keyword::RESPECT, Keyword::IGNORE])
        {
            ignore_nulls = which == Keyword::IGNORE;
            self.expect(Keyword::NULLS)?;
        }
        let over = self.over()?;
        Ok(Expr::WindowFunction(Box::new(WindowFunction { kind, arguments, from_last, ignore_nulls, over })))
    }

    fn over(&mut self) -> Parsed<Window> {
        self.expect(Keyword::OVER)?;
        if self.is_symbol(b'(') {
            Ok(Window::Spec(self.window_spec()?))
        } else {
            Ok(Window::Named(self.name()?))
        }
    }

    fn cast(&mut self) -> Parsed<Expr> {
        self.advance();
        self.expect_symbol(b'(')?;
        let operand = self.expr()?;
        let mut at_time_zone = None;
        if self.accept(Keyword::AT) {
            self.expect_all(&[Keyword::TIME, Keyword::ZONE])?;
            self.accept(Keyword::INTERVAL);
            at_time_zone = Some(self.string()?);
        }
        self.expect(Keyword::AS)?;
        let target = self.cast_type()?;
        let array = self.accept(Keyword::ARRAY);
        self.expect_symbol(b')')?;
        Ok(Expr::Cast(Box::new(Cast { operand, target, array, at_time_zone, prefix_binary: false })))
    }

    fn convert(&mut self) -> Parsed<Expr> {
        self.advance();
        self.expect_symbol(b'(')?;
        let operand = self.expr()?;
        if self.accept(Keyword::USING) {
            let charset = self.charset_name()?;
            self.expect_symbol(b')')?;
            return Ok(Expr::ConvertUsing(Box::new(operand), charset));
        }
        self.expect_symbol(b',')?;
        let target = self.cast_type()?;
        self.expect_symbol(b')')?;
        let (array, at_time_zone, prefix_binary) = (false, None, false);
        Ok(Expr::Cast(Box::new(Cast { operand, target, array, at_time_zone, prefix_binary })))
    }

    /// A type of CAST.
    pub(super) fn cast_type(&mut self) -> Parsed<CastType> {
        let keyword = self.token.keyword;
        let name = self.token;
        if keyword == Keyword::None {
            return self.fail();
        }
        self.advance();
        Ok(match keyword {
            Keyword::BINARY => CastType::Binary(self.optional_length()?),
            Keyword::CHAR | Keyword::CHARACTER => {
                let length = self.optional_length()?;
                CastType::Char { length, charset: self.cast_charset()? }
            }
            Keyword::NCHAR => self.national_char()?,
            Keyword::NATIONAL => {
                self.expect_any(&[Keyword::CHAR, Keyword::CHARACTER])?;
                self.national_char()?
            }
            Keyword::SIGNED | Keyword::UNSIGNED => {
                self.accept_any(&[Keyword::INT, Keyword::INTEGER]);
                if keyword == Keyword::SIGNED { CastType::Signed } else { CastType::Unsigned }
            }
            Keyword::DATE => CastType::Date,
            Keyword::YEAR => CastType::Year,
            Keyword::TIME => CastType::Time(self.optional_fraction()?),
            Keyword::DATETIME => CastType::DateTime(self.optional_fraction()?),
            Keyword::DECIMAL | Keyword::DEC => {
                let (mut precision, mut scale) = (0, 0);
                if self.accept_symbol(b'(') {
                    precision = self.small_number()?;
                    if self.accept_symbol(b',') {
                        scale = self.small_number()?;
                    }
                    self.expect_symbol(b')')?;
                }
                CastType::Decimal(precision, scale)
            }
            Keyword::FLOAT => match self.optional_length()? {
                Some(precision) if precision > 24 => CastType::Double,
                _ => CastType::Float,
            },
            Keyword::DOUBLE => {
                self.accept(Keyword::PRECISION);
                CastType::Double
            }
            Keyword::REAL => CastType::Real,
            Keyword::JSON => CastType::Json,
            spatial if spatial.is_geometry() => CastType::Geometry(spatial.text().to_ascii_lowercase()),
            _ => return Err(super::Rejected(name.start)),
        })
    }

    fn national_char(&mut self) -> Parsed<CastType> {
        self.note(Deprecated::National);
        let charset = Some(CastCharset::Named("utf8mb3".to_owned()));
        Ok(CastType::Char { length: self.optional_length()?, charset })
    }

    fn cast_charset(&mut self) -> Parsed<Option<CastCharset>> {
        let named = |name: &str| Some(CastCharset::Named(name.to_owned()));
        if self.accept(Keyword::CHARSET) {
            return Ok(Some(CastCharset::Named(self.charset_name()?)));
        }
        if self.accept(Keyword::CHARACTER) {
            self.expect(Keyword::SET)?;
            return Ok(Some(CastCharset::Named(self.charset_name()?)));
        }
        let word = self.accept_any(&[Keyword::ASCII, Keyword::UNICODE, Keyword::BYTE, Keyword::BINARY]);
        self.note_charset_word(word.unwrap_or(Keyword::None));
        Ok(match word {
            Some(Keyword::ASCII) => named("latin1"),
            Some(Keyword::UNICODE) => named("ucs2"),
            Some(Keyword::BYTE) => named("binary"),
            Some(_) => {
                self.note(Deprecated::BinaryAttribute);
                Some(CastCharset::BinaryCollation)
            }
            None => None,
        })
    }

    /// `[(n)]`.
    pub(super) fn optional_length(&mut self) -> Parsed<Option<u64>> {
        if !self.accept_symbol(b'(') {
            return Ok(None);
        }
        let length = self.unsigned()?;
        self.expect_symbol(b')')?;
        Ok(Some(length))
    }

    fn small_number(&mut self) -> Parsed<u32> {
        let at = self.token.start;
        u32::try_from(self.unsigned()?).map_err(|_| super::Rejected(at))
    }

    /// `[(n)]`, fractional digits.
    fn optional_fraction(&mut self) -> Parsed<Option<u8>> {
        let at = self.token.start;
        match self.optional_length()? {
            Some(digits) => u8::try_from(digits).map(Some).map_err(|_| super::Rejected(at)),
            None => Ok(None),
        }
    }

    fn char_function(&mut self) -> Parsed<Expr> {
        self.advance();
        self.expect_symbol(b'(')?;
        let arguments = self.list(Self::expr)?;
        let charset = if self.accept(Keyword::USING) { Some(self.charset_name()?) } else { None };
        self.expect_symbol(b')')?;
        Ok(Expr::Char(arguments, charset))
    }

    fn substring(&mut self) -> Parsed<Expr> {
        self.advance();
        self.expect_symbol(b'(')?;
        let mut arguments = vec![self.expr()?];
        let words = self.accept(Keyword::FROM);
        if !words {
            self.expect_symbol(b',')?;
        }
        arguments.push(self.expr()?);
        let more = if words { self.accept(Keyword::FOR) } else { self.accept_symbol(b',') };
        if more {
            arguments.push(self.expr()?);
        }
        self.expect_symbol(b')')?;
        self.call("substring", arguments)
    }

    fn position(&mut self) -> Parsed<Expr> {
        self.advance();
        self.expect_symbol(b'(')?;
        let needle = self.expr_at(BIT_OR)?;
        self.expect(Keyword::IN)?;
        let haystack = self.expr()?;
        self.expect_symbol(b')')?;
        let (name, arguments) = ("locate".to_owned(), vec![needle, haystack]);
        // LOCATE is no word of the grammar.
        Ok(Expr::Function(Box::new(Function { schema: None, name, arguments, is_generic: true })))
    }

    fn trim(&mut self) -> Parsed<Expr> {
        self.advance();
        self.expect_symbol(b'(')?;
        let sides = &[Keyword::BOTH, Keyword::LEADING, Keyword::TRAILING];
        let stated = self.accept_any(sides);
        let side = match stated {
            Some(Keyword::LEADING) => TrimSide::Leading,
            Some(Keyword::TRAILING) => TrimSide::Trailing,
            _ => TrimSide::Both,
        };
        let mut remove = None;
        if stated.is_none() || !self.is(Keyword::FROM) {
            remove = Some(self.expr()?);
        }
        let from = self.accept(Keyword::FROM);
        if stated.is_some() && !from {
            return self.fail();
        }
        let operand = if from { Some(self.expr()?) } else { None };
        let (remove, operand) = match (remove, operand) {
            (remove, Some(operand)) => (remove, operand),
            (Some(operand), None) => (None, operand),
            (None, None) => return self.fail(),
        };
        self.expect_symbol(b')')?;
        Ok(Expr::Trim(Box::new(Trim { side, remove, operand })))
    }

    fn extract(&mut self) -> Parsed<Expr> {
        self.advance();
        self.expect_symbol(b'(')?;
        let unit = self.interval_unit()?;
        self.expect(Keyword::FROM)?;
        let operand = self.expr()?;
        self.expect_symbol(b')')?;
        Ok(Expr::Extract(unit, Box::new(operand)))
    }

    /// DATE_ADD and DATE_SUB, and with `days` ADDDATE and SUBDATE, which also take a number of days.
    fn date_add(&mut self, subtract: bool, days: bool) -> Parsed<Expr> {
        self.advance();
        self.expect_symbol(b'(')?;
        let date = self.expr()?;
        self.expect_symbol(b',')?;
        let (amount, unit) = if days && !self.is(Keyword::INTERVAL) {
            (self.expr()?, IntervalUnit::Day)
        } else {
            self.interval()?
        };
        self.expect_symbol(b')')?;
        Ok(Expr::DateArithmetic(Box::new(DateArithmetic { date, subtract, amount, unit })))
    }

    fn timestamp_function(&mut self, keyword: Keyword) -> Parsed<Expr> {
        self.advance();
        self.expect_symbol(b'(')?;
        let unit = self.interval_unit()?;
        self.expect_symbol(b',')?;
        let first = Box::new(self.expr()?);
        self.expect_symbol(b',')?;
        let second = Box::new(self.expr()?);
        self.expect_symbol(b')')?;
        Ok(match keyword {
            Keyword::TIMESTAMPADD => Expr::TimestampAdd(unit, first, second),
            _ => Expr::TimestampDiff(unit, first, second),
        })
    }

    fn get_format(&mut self) -> Parsed<Expr> {
        self.advance();
        self.expect_symbol(b'(')?;
        let kinds = &[Keyword::DATE, Keyword::TIME, Keyword::DATETIME, Keyword::TIMESTAMP];
        let kind = match self.expect_any(kinds)? {
            Keyword::DATE => FormatKind::Date,
            Keyword::TIME => FormatKind::Time,
            _ => FormatKind::DateTime,
        };
        self.expect_symbol(b',')?;
        let operand = self.expr()?;
        self.expect_symbol(b')')?;
        Ok(Expr::GetFormat(kind, Box::new(operand)))
    }

    fn weight_string(&mut self) -> Parsed<Expr> {
        self.advance();
        self.expect_symbol(b'(')?;
        let operand = self.expr()?;
        let mut target = None;
        if self.accept(Keyword::AS) {
            let kind = match self.expect_any(&[Keyword::CHAR, Keyword::CHARACTER, Keyword::BINARY])? {
                Keyword::BINARY => WeightStringAs::Binary,
                _ => WeightStringAs::Char,
            };
            self.expect_symbol(b'(')?;
            let start = self.token.start;
            let length = self.unsigned()?;
            if length == 0 {
                return Err(Rejected(start));
            }
            target = Some((kind, length));
            self.expect_symbol(b')')?;
        }
        self.expect_symbol(b')')?;
        Ok(Expr::WeightString(Box::new(operand), target))
    }

    fn json_value(&mut self) -> Parsed<Expr> {
        self.advance();
        self.expect_symbol(b'(')?;
        let document = self.expr_at(super::expr::CONCAT)?;
        self.expect_symbol(b',')?;
        let path = self.string()?;
        let returning = if self.accept(Keyword::RETURNING) { Some(self.cast_type()?) } else { None };
        let (on_empty, on_error) = self.json_on()?;
        self.expect_symbol(b')')?;
        Ok(Expr::JsonValue(Box::new(JsonValue { document, path, returning, on_empty, on_error })))
    }

    /// `[... ON EMPTY] [... ON ERROR]`.
    pub(super) fn json_on(&mut self) -> Parsed<(Option<JsonOn>, Option<JsonOn>)> {
        let (mut on_empty, mut on_error) = (None, None);
        while on_error.is_none()
            && let Some(action) = self.json_action()?
        {
            self.expect(Keyword::ON)?;
            if on_empty.is_none() && self.accept(Keyword::EMPTY) {
                on_empty = Some(action);
            } else {
                self.expect(Keyword::ERROR)?;
                on_error = Some(action);
            }
        }
        Ok((on_empty, on_error))
    }

    /// `[... ON EMPTY]` behind ON ERROR, which JSON_TABLE takes.
    pub(super) fn json_on_empty(&mut self) -> Parsed<Option<JsonOn>> {
        let Some(action) = self.json_action()? else { return Ok(None) };
        self.expect(Keyword::ON)?;
        self.expect(Keyword::EMPTY)?;
        self.note(Deprecated::OnEmptyLast);
        Ok(Some(action))
    }

    /// NULL, ERROR or DEFAULT and a constant.
    fn json_action(&mut self) -> Parsed<Option<JsonOn>> {
        let keyword = self.accept_any(&[Keyword::NULL, Keyword::ERROR, Keyword::DEFAULT]);
        Ok(match keyword {
            None => None,
            Some(Keyword::NULL) => Some(JsonOn::Null),
            Some(Keyword::ERROR) => Some(JsonOn::Error),
            Some(_) => Some(JsonOn::Default(Box::new(self.signed_literal()?))),
        })
    }

    /// A constant, NULL, TRUE, FALSE and dates included, maybe with a sign.
    pub(super) fn signed_literal(&mut self) -> Parsed<Expr> {
        match self.token.kind {
            TokenKind::Symbol(b'-' | b'+') => self.simple(),
            TokenKind::Word if self.is_any(&[Keyword::NULL, Keyword::TRUE, Keyword::FALSE]) => self.simple(),
            TokenKind::Word
                if self.is_any(&[Keyword::DATE, Keyword::TIME, Keyword::TIMESTAMP])
                    && self.peek().kind == TokenKind::String =>
            {
                self.simple()
            }
            _ => self.literal_expr(),
        }
    }
}

/// What a function whose name is a keyword takes.
enum Arity {
    /// At least and at most so many expressions.
    Count(usize, usize),
    /// Nothing, or a number of fractional digits.
    Digits,
}

fn arity(keyword: Keyword) -> Option<Arity> {
    Some(match keyword {
        Keyword::NOW
        | Keyword::SYSDATE
        | Keyword::CURTIME
        | Keyword::CURRENT_TIME
        | Keyword::CURRENT_TIMESTAMP
        | Keyword::LOCALTIME
        | Keyword::LOCALTIMESTAMP
        | Keyword::UTC_TIME
        | Keyword::UTC_TIMESTAMP => Arity::Digits,
        Keyword::DATABASE
        | Keyword::SCHEMA
        | Keyword::USER
        | Keyword::CURRENT_USER
        | Keyword::CURRENT_DATE
        | Keyword::CURDATE
        | Keyword::UTC_DATE
        | Keyword::ROW_COUNT => Arity::Count(0, 0),
        Keyword::DATE
        | Keyword::DAY
        | Keyword::HOUR
        | Keyword::MINUTE
        | Keyword::MONTH
        | Keyword::SECOND
        | Keyword::TIME
        | Keyword::YEAR
        | Keyword::QUARTER
        | Keyword::MICROSECOND
        | Keyword::CHARSET
        | Keyword::COLLATION
        | Keyword::REVERSE
        | Keyword::ASCII => Arity::Count(1, 1),
        Keyword::TIMESTAMP | Keyword::WEEK => Arity::Count(1, 2),
        Keyword::LEFT | Keyword::RIGHT | Keyword::REPEAT | Keyword::MOD | Keyword::TRUNCATE => {
            Arity::Count(2, 2)
        }
        Keyword::FORMAT => Arity::Count(2, 3),
        Keyword::IF | Keyword::REPLACE => Arity::Count(3, 3),
        Keyword::INSERT => Arity::Count(4, 4),
        Keyword::COALESCE | Keyword::GROUPING => Arity::Count(1, usize::MAX),
        _ => return None,
    })
}

fn aggregate_kind(keyword: Keyword) -> Option<AggregateKind> {
    use AggregateKind::*;
    Some(match keyword {
        Keyword::COUNT => Count,
        Keyword::SUM => Sum,
        Keyword::AVG => Avg,
        Keyword::MIN => Min,
        Keyword::MAX => Max,
        Keyword::BIT_AND => BitAnd,
        Keyword::BIT_OR => BitOr,
        Keyword::BIT_XOR => BitXor,
        Keyword::STD | Keyword::STDDEV | Keyword::STDDEV_POP => StdDevPop,
        Keyword::STDDEV_SAMP => StdDevSamp,
        Keyword::VARIANCE | Keyword::VAR_POP => VarPop,
        Keyword::VAR_SAMP => VarSamp,
        Keyword::GROUP_CONCAT => GroupConcat,
        Keyword::JSON_ARRAYAGG => JsonArrayAgg,
        Keyword::JSON_OBJECTAGG => JsonObjectAgg,
        _ => return None,
    })
}

fn window_kind(keyword: Keyword) -> Option<WindowFunctionKind> {
    use WindowFunctionKind::*;
    Some(match keyword {
        Keyword::ROW_NUMBER => RowNumber,
        Keyword::RANK => Rank,
        Keyword::DENSE_RANK => DenseRank,
        Keyword::CUME_DIST => CumeDist,
        Keyword::PERCENT_RANK => PercentRank,
        Keyword::NTILE => Ntile,
        Keyword::LEAD => Lead,
        Keyword::LAG => Lag,
        Keyword::FIRST_VALUE => FirstValue,
        Keyword::LAST_VALUE => LastValue,
        Keyword::NTH_VALUE => NthValue,
        _ => return None,
    })
}
