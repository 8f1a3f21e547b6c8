//! Simple expressions: what stands between operators.

use super::expr::{IntervalOr, Parenthesised, SIMPLE};
use super::name::is_name_token;
use super::{Parsed, Parser};
use crate::Deprecated;
use crate::ast::{
    Case, Cast, CastType, ColumnName, DateArithmetic, Expr, IntervalUnit, Literal, Match, Query,
    SystemVariable, TemporalKind, UnaryOp, VariableScope,
};
use crate::error::WrongName;
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// A simple expression with what may follow it: COLLATE.
    pub(super) fn simple(&mut self) -> Parsed<Expr> {
        let expr = self.primary()?;
        self.postfix(expr)
    }

    pub(super) fn postfix(&mut self, mut expr: Expr) -> Parsed<Expr> {
        while self.accept(Keyword::COLLATE) {
            expr = Expr::Collate(Box::new(expr), self.collation_of_expr()?);
            self.grow(self.height)?;
        }
        Ok(expr)
    }

    pub(super) fn primary(&mut self) -> Parsed<Expr> {
        match self.token.kind {
            TokenKind::Word if self.token.keyword == Keyword::None => self.column_or_function(),
            TokenKind::Word => self.keyword_primary(),
            TokenKind::QuotedName => self.column_or_function(),
            TokenKind::Symbol(symbol) => self.symbol_primary(symbol),
            TokenKind::Placeholder if self.options.placeholders => {
                self.advance();
                self.placeholders += 1;
                Ok(Expr::Placeholder(self.placeholders - 1))
            }
            TokenKind::AtAt => self.system_variable().map(Expr::SystemVariable),
            _ => self.literal_expr(),
        }
    }

    fn symbol_primary(&mut self, symbol: u8) -> Parsed<Expr> {
        match symbol {
            b'(' => match self.parentheses()? {
                Parenthesised::Query(query) => Ok(Expr::Subquery(query)),
                Parenthesised::Exprs(mut exprs) => {
                    Ok(if exprs.len() == 1 { exprs.remove(0) } else { Expr::Row(exprs) })
                }
            },
            b'-' => self.unary(UnaryOp::Minus),
            b'+' => self.unary(UnaryOp::Plus),
            b'~' => self.unary(UnaryOp::BitNot),
            b'!' => {
                self.note(Deprecated::ExclamationMark);
                self.unary(UnaryOp::Not)
            }
            b'@' => self.user_variable_expr(),
            b'{' => self.braces(),
            _ => self.fail(),
        }
    }

    fn unary(&mut self, op: UnaryOp) -> Parsed<Expr> {
        self.advance();
        let operand = self.deeper(1, Self::simple)?;
        self.grow(self.height)?;
        Ok(Expr::Unary(op, Box::new(operand)))
    }

    fn user_variable_expr(&mut self) -> Parsed<Expr> {
        let name = self.user_variable()?;
        if self.accept_kind(TokenKind::Assign).is_some() {
            self.check_name(&name, WrongName::UserVariable);
            let value = self.expr()?;
            self.note(Deprecated::Assignment);
            return Ok(Expr::AssignUserVariable(name, Box::new(value)));
        }
        Ok(Expr::UserVariable(name))
    }

    /// `@@[scope.][component.]name`.
    pub(super) fn system_variable(&mut self) -> Parsed<SystemVariable> {
        self.advance();
        let scope =
            if self.peek().kind == TokenKind::Symbol(b'.') { scope_of(self.token.keyword) } else { None };
        if scope.is_some() {
            self.advance();
            self.advance();
        }
        self.system_variable_name(scope.unwrap_or(VariableScope::Unspecified))
    }

    /// `[component.]name`.
    pub(super) fn system_variable_name(&mut self, scope: VariableScope) -> Parsed<SystemVariable> {
        let component = if self.is(Keyword::DEFAULT) {
            self.advance();
            "default".to_owned()
        } else {
            self.name()?
        };
        if self.accept_symbol(b'.') {
            return Ok(SystemVariable { scope, component: Some(component), name: self.name()? });
        }
        for name in ["profiling", "profiling_history_size", "have_profiling"] {
            if component.eq_ignore_ascii_case(name) {
                self.note(Deprecated::ProfilingVariable(name));
            }
        }
        Ok(SystemVariable { scope, component: None, name: component })
    }

    /// `{d '2020-01-01'}` and, as ODBC has it, `{fn now()}`.
    fn braces(&mut self) -> Parsed<Expr> {
        self.advance();
        let kind = self.name()?;
        let kind = match kind.to_ascii_lowercase().as_str() {
            "d" => Some(TemporalKind::Date),
            "t" => Some(TemporalKind::Time),
            "ts" => Some(TemporalKind::Timestamp),
            _ => None,
        };
        let value = self.expr()?;
        self.expect_symbol(b'}')?;
        Ok(match (kind, value) {
            (Some(kind), Expr::Literal(Literal::String(text))) => {
                Expr::Literal(Literal::Temporal(kind, text.value))
            }
            (_, value) => value,
        })
    }

    /// `(...)`: a query, or expressions. Whether `((SELECT 1) ...` is one or the other shows only behind the inner
    /// parenthesis, so the inner one is read first and then becomes part of either.
    pub(super) fn parentheses(&mut self) -> Parsed<Parenthesised> {
        self.deeper(1, |p| {
            p.expect_symbol(b'(')?;
            if p.is_query_start() {
                return p.end_of_subquery(Self::query);
            }
            let first = if p.is_symbol(b'(') {
                match p.parentheses()? {
                    Parenthesised::Query(query) if p.query_goes_on() || p.is_symbol(b')') => {
                        return p.end_of_subquery(|p| p.query_behind(*query));
                    }
                    Parenthesised::Query(query) => p.expr_behind(Expr::Subquery(query))?,
                    Parenthesised::Exprs(mut exprs) if exprs.len() == 1 => p.expr_behind(exprs.remove(0))?,
                    Parenthesised::Exprs(exprs) => p.expr_behind(Expr::Row(exprs))?,
                }
            } else {
                p.expr()?
            };
            let mut exprs = vec![first];
            while p.accept_symbol(b',') {
                exprs.push(p.expr()?);
            }
            p.expect_symbol(b')')?;
            Ok(Parenthesised::Exprs(exprs))
        })
    }

    /// A query, which has no INTO here, and the parenthesis behind it.
    fn end_of_subquery(&mut self, query: impl FnOnce(&mut Self) -> Parsed<Query>) -> Parsed<Parenthesised> {
        let query = query(self)?;
        if query.into.is_some() {
            return self.fail();
        }
        self.expect_symbol(b')')?;
        Ok(Parenthesised::Query(Box::new(query)))
    }

    /// `(query)`.
    pub(super) fn subquery(&mut self) -> Parsed<Box<Query>> {
        let inside = self.peek().start;
        match self.parentheses()? {
            Parenthesised::Query(query) => Ok(query),
            Parenthesised::Exprs(_) => Err(super::Rejected(inside)),
        }
    }

    /// A column, maybe with a JSON path behind it.
    fn json_path(&mut self, column: ColumnName) -> Parsed<Expr> {
        let unquote = match self.token.kind {
            TokenKind::Arrow => false,
            TokenKind::LongArrow => true,
            _ => return Ok(Expr::Column(column)),
        };
        self.advance();
        Ok(Expr::JsonPath { column, path: self.string()?, unquote })
    }

    pub(super) fn column_or_function(&mut self) -> Parsed<Expr> {
        let word = self.token.keyword;
        let first = self.name()?;
        if self.is_symbol(b'(') {
            self.check_name(&first, WrongName::Routine);
            return self.function(None, first, word);
        }
        if !self.is_symbol(b'.') {
            return self.json_path(ColumnName { schema: None, table: None, column: first });
        }
        if let (second, third) = self.peek_two()
            && is_name_token(second)
            && third.kind == TokenKind::Symbol(b'(')
        {
            self.advance();
            let name = self.name()?;
            self.check_name(&first, WrongName::Database);
            self.check_name(&name, WrongName::Routine);
            return self.function(Some(first), name, Keyword::None);
        }
        let column = self.column_name_after(first)?;
        self.json_path(column)
    }

    fn constant(&mut self, literal: Literal) -> Parsed<Expr> {
        self.advance();
        Ok(Expr::Literal(literal))
    }

    /// An expression that begins with a keyword.
    fn keyword_primary(&mut self) -> Parsed<Expr> {
        match self.token.keyword {
            Keyword::NULL => self.constant(Literal::Null),
            Keyword::TRUE => self.constant(Literal::Bool(true)),
            Keyword::FALSE => self.constant(Literal::Bool(false)),
            Keyword::NOT if self.options.high_not_precedence => self.unary(UnaryOp::Not),
            Keyword::EXISTS => {
                self.advance();
                Ok(Expr::Exists(self.subquery()?))
            }
            Keyword::CASE => self.case(),
            Keyword::BINARY => self.binary_prefix(),
            Keyword::INTERVAL => self.leading_interval(),
            Keyword::MATCH => self.match_against(),
            Keyword::ROW => {
                self.advance();
                self.expect_symbol(b'(')?;
                let mut exprs = vec![self.expr()?];
                self.expect_symbol(b',')?;
                exprs.extend(self.list(Self::expr)?);
                self.expect_symbol(b')')?;
                Ok(Expr::Row(exprs))
            }
            Keyword::DATE => self.temporal_or_name(TemporalKind::Date),
            Keyword::TIME => self.temporal_or_name(TemporalKind::Time),
            Keyword::TIMESTAMP => self.temporal_or_name(TemporalKind::Timestamp),
            _ => self.keyword_function(),
        }
    }

    fn temporal_or_name(&mut self, kind: TemporalKind) -> Parsed<Expr> {
        if self.peek().kind == TokenKind::String {
            return self.temporal_literal(kind);
        }
        self.column_or_function()
    }

    fn case(&mut self) -> Parsed<Expr> {
        self.advance();
        let operand = if self.is(Keyword::WHEN) { None } else { Some(self.expr()?) };
        let mut branches = Vec::new();
        self.expect(Keyword::WHEN)?;
        loop {
            let condition = self.expr()?;
            self.expect(Keyword::THEN)?;
            branches.push((condition, self.expr()?));
            if !self.accept(Keyword::WHEN) {
                break;
            }
        }
        let otherwise = if self.accept(Keyword::ELSE) { Some(self.expr()?) } else { None };
        self.expect(Keyword::END)?;
        Ok(Expr::Case(Box::new(Case { operand, branches, otherwise })))
    }

    fn binary_prefix(&mut self) -> Parsed<Expr> {
        self.advance();
        let operand = self.deeper(1, Self::simple)?;
        self.grow(self.height)?;
        self.note(Deprecated::BinaryOperator);
        Ok(Expr::Cast(Box::new(Cast {
            operand,
            target: CastType::Binary(None),
            array: false,
            at_time_zone: None,
            prefix_binary: true,
        })))
    }

    /// `INTERVAL n unit + date`, or the function INTERVAL.
    fn leading_interval(&mut self) -> Parsed<Expr> {
        self.advance();
        match self.interval_or_function()? {
            IntervalOr::Function(function) => Ok(function),
            IntervalOr::Interval(amount, unit) => {
                self.expect_symbol(b'+')?;
                let date = self.expr_at(SIMPLE)?;
                Ok(Expr::DateArithmetic(Box::new(DateArithmetic { date, subtract: false, amount, unit })))
            }
        }
    }

    /// Behind INTERVAL.
    pub(super) fn interval_or_function(&mut self) -> Parsed<IntervalOr> {
        if !self.is_symbol(b'(') {
            let amount = self.expr()?;
            return Ok(IntervalOr::Interval(amount, self.interval_unit()?));
        }
        match self.parentheses()? {
            Parenthesised::Exprs(exprs) if exprs.len() > 1 => {
                Ok(IntervalOr::Function(Expr::IntervalFunction(exprs)))
            }
            Parenthesised::Exprs(mut exprs) => {
                let amount = self.expr_behind(exprs.remove(0))?;
                Ok(IntervalOr::Interval(amount, self.interval_unit()?))
            }
            Parenthesised::Query(query) => {
                let amount = self.expr_behind(Expr::Subquery(query))?;
                Ok(IntervalOr::Interval(amount, self.interval_unit()?))
            }
        }
    }

    /// `INTERVAL amount unit`, the keyword included.
    pub(super) fn interval(&mut self) -> Parsed<(Expr, IntervalUnit)> {
        self.expect(Keyword::INTERVAL)?;
        let amount = self.expr()?;
        Ok((amount, self.interval_unit()?))
    }

    pub(super) fn interval_unit(&mut self) -> Parsed<IntervalUnit> {
        use IntervalUnit::*;
        let unit = match self.token.keyword {
            Keyword::MICROSECOND => Microsecond,
            Keyword::SECOND | Keyword::SQL_TSI_SECOND => Second,
            Keyword::MINUTE | Keyword::SQL_TSI_MINUTE => Minute,
            Keyword::HOUR | Keyword::SQL_TSI_HOUR => Hour,
            Keyword::DAY | Keyword::SQL_TSI_DAY => Day,
            Keyword::WEEK | Keyword::SQL_TSI_WEEK => Week,
            Keyword::MONTH | Keyword::SQL_TSI_MONTH => Month,
            Keyword::QUARTER | Keyword::SQL_TSI_QUARTER => Quarter,
            Keyword::YEAR | Keyword::SQL_TSI_YEAR => Year,
            Keyword::SECOND_MICROSECOND => SecondMicrosecond,
            Keyword::MINUTE_MICROSECOND => MinuteMicrosecond,
            Keyword::MINUTE_SECOND => MinuteSecond,
            Keyword::HOUR_MICROSECOND => HourMicrosecond,
            Keyword::HOUR_SECOND => HourSecond,
            Keyword::HOUR_MINUTE => HourMinute,
            Keyword::DAY_MICROSECOND => DayMicrosecond,
            Keyword::DAY_SECOND => DaySecond,
            Keyword::DAY_MINUTE => DayMinute,
            Keyword::DAY_HOUR => DayHour,
            Keyword::YEAR_MONTH => YearMonth,
            _ => return self.fail(),
        };
        self.advance();
        Ok(unit)
    }

    fn match_against(&mut self) -> Parsed<Expr> {
        self.advance();
        let columns: Vec<ColumnName> = if self.is_symbol(b'(') {
            self.parenthesised_list(Self::column_name)?
        } else {
            self.list(Self::column_name)?
        };
        self.expect_all(&[Keyword::AGAINST])?;
        self.expect_symbol(b'(')?;
        let against = self.expr_at(super::expr::BIT_OR)?;
        let mut boolean = false;
        if self.accept(Keyword::IN) {
            if self.accept(Keyword::BOOLEAN) {
                boolean = true;
            } else {
                self.expect_all(&[Keyword::NATURAL, Keyword::LANGUAGE])?;
            }
            self.expect(Keyword::MODE)?;
        }
        let query_expansion = !boolean && self.accept(Keyword::WITH);
        if query_expansion {
            self.expect_all(&[Keyword::QUERY, Keyword::EXPANSION])?;
        }
        self.expect_symbol(b')')?;
        Ok(Expr::Match(Box::new(Match { columns, against, boolean, query_expansion })))
    }

    /// An expression, or DEFAULT: a value of INSERT or UPDATE.
    pub(super) fn expr_or_default(&mut self) -> Parsed<Expr> {
        if self.is(Keyword::DEFAULT) && self.peek().kind != TokenKind::Symbol(b'(') {
            self.advance();
            return Ok(Expr::Default);
        }
        self.expr()
    }
}

/// The scope a word names.
pub(super) fn scope_of(keyword: Keyword) -> Option<VariableScope> {
    match keyword {
        Keyword::GLOBAL => Some(VariableScope::Global),
        Keyword::SESSION | Keyword::LOCAL => Some(VariableScope::Session),
        Keyword::PERSIST => Some(VariableScope::Persist),
        Keyword::PERSIST_ONLY => Some(VariableScope::PersistOnly),
        _ => None,
    }
}
