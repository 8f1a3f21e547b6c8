//! SELECT and its clauses, VALUES, TABLE, WITH, UNION.

use super::{Parsed, Parser};
use crate::Deprecated;
use crate::ast::{
    CombinationTerm, CommonTable, Expr, FrameBound, FrameExclusion, FrameUnit, Into, IntoVariable, Limit,
    Literal, LockWait, Locking, Name, ObjectName, OrderItem, Query, QueryBody, Select, SelectItem,
    SetOperator, WindowFrame, WindowSpec, With,
};
use crate::error::WrongName;
use crate::lexer::{Keyword, Token, TokenKind};

/// How much deeper a query in a query is: MySQL allows some sixty.
pub(super) const QUERY_LEVELS: u32 = 3;

impl Parser<'_> {
    /// Whether a query without a leading parenthesis begins here.
    pub(super) fn is_query_start(&self) -> bool {
        match self.token.keyword {
            Keyword::SELECT | Keyword::WITH | Keyword::TABLE => true,
            Keyword::VALUES => self.peek().keyword == Keyword::ROW,
            _ => false,
        }
    }

    /// Whether what follows `(query)` makes it part of a larger query.
    pub(super) fn query_goes_on(&self) -> bool {
        self.is_any(&[
            Keyword::UNION,
            Keyword::EXCEPT,
            Keyword::INTERSECT,
            Keyword::ORDER,
            Keyword::LIMIT,
            Keyword::INTO,
            Keyword::FOR,
            Keyword::LOCK,
        ])
    }

    /// A whole query.
    pub(super) fn query(&mut self) -> Parsed<Query> {
        self.deeper(QUERY_LEVELS, |p| {
            let with = p.optional_with()?;
            p.query_after_with(with)
        })
    }

    pub(super) fn query_after_with(&mut self, with: Option<With>) -> Parsed<Query> {
        let (first, into) = self.query_primary()?;
        self.query_from(with, first, into)
    }

    /// The rest of a query that begins with `(first)`.
    pub(super) fn query_behind(&mut self, first: Query) -> Parsed<Query> {
        self.query_from(None, nested(first), None)
    }

    fn query_from(&mut self, with: Option<With>, first: QueryBody, into: Option<Into>) -> Parsed<Query> {
        let (body, into) = self.combination(first, into)?;
        let mut query = Query { into, ..Query::of(body) };
        self.query_tail(&mut query)?;
        let plain = query.order_by.is_empty() && query.limit.is_none() && query.locking.is_empty();
        match query.body {
            QueryBody::Nested(inner)
                if plain && query.into.is_none() && (with.is_none() || inner.with.is_none()) =>
            {
                let mut inner = *inner;
                if with.is_some() {
                    inner.with = with;
                }
                Ok(inner)
            }
            body => Ok(Query { with, body, ..query }),
        }
    }

    pub(super) fn optional_with(&mut self) -> Parsed<Option<With>> {
        if !self.accept(Keyword::WITH) {
            return Ok(None);
        }
        let recursive = self.accept(Keyword::RECURSIVE);
        let tables = self.list(|p| {
            let name = p.name()?;
            let columns = p.optional_names()?;
            p.expect(Keyword::AS)?;
            Ok(CommonTable { name, columns, query: p.subquery()? })
        })?;
        Ok(Some(With { recursive, tables }))
    }

    /// UNION and EXCEPT, with INTERSECT below them. INTO is for the whole query, and may stand in its last
    /// block.
    fn combination(&mut self, first: QueryBody, into: Option<Into>) -> Parsed<(QueryBody, Option<Into>)> {
        let (first, mut into) = self.intersection(first, into)?;
        let mut rest = Vec::new();
        while let Some(keyword) = self.accept_any(&[Keyword::UNION, Keyword::EXCEPT]) {
            let operator = if keyword == Keyword::UNION { SetOperator::Union } else { SetOperator::Except };
            let all = self.all_or_distinct();
            let (body, own) = self.query_operand(&into)?;
            let (body, own) = self.intersection(body, own)?;
            into = into.or(own);
            rest.push(CombinationTerm { operator, all, body });
        }
        Ok((combined(first, rest), into))
    }

    fn intersection(
        &mut self,
        first: QueryBody,
        mut into: Option<Into>,
    ) -> Parsed<(QueryBody, Option<Into>)> {
        let mut rest = Vec::new();
        while self.accept(Keyword::INTERSECT) {
            let all = self.all_or_distinct();
            let (body, own) = self.query_operand(&into)?;
            into = own;
            rest.push(CombinationTerm { operator: SetOperator::Intersect, all, body });
        }
        Ok((combined(first, rest), into))
    }

    fn all_or_distinct(&mut self) -> bool {
        self.accept_any(&[Keyword::ALL, Keyword::DISTINCT]) == Some(Keyword::ALL)
    }

    /// An operand of UNION and its like. One before it must not have had INTO.
    fn query_operand(&mut self, into: &Option<Into>) -> Parsed<(QueryBody, Option<Into>)> {
        if into.is_some() { self.fail() } else { self.query_primary() }
    }

    fn query_primary(&mut self) -> Parsed<(QueryBody, Option<Into>)> {
        match self.token.keyword {
            Keyword::SELECT => {
                let (select, into) = self.select()?;
                Ok((QueryBody::Select(Box::new(select)), into))
            }
            Keyword::VALUES => {
                self.advance();
                let rows = self.list(|p| {
                    p.expect(Keyword::ROW)?;
                    p.row_of_values()
                })?;
                Ok((QueryBody::Values(rows), None))
            }
            Keyword::TABLE => {
                self.advance();
                Ok((QueryBody::Table(self.table_name()?), None))
            }
            _ if self.is_symbol(b'(') => {
                self.advance();
                let query = self.query()?;
                self.expect_symbol(b')')?;
                Ok((nested(query), None))
            }
            _ => self.fail(),
        }
    }

    /// `(value, ...)`, maybe empty, maybe with DEFAULT.
    pub(super) fn row_of_values(&mut self) -> Parsed<Vec<Expr>> {
        self.row_of_about(0)
    }

    /// A row of values that has about `count` of them.
    fn row_of_about(&mut self, count: usize) -> Parsed<Vec<Expr>> {
        self.expect_symbol(b'(')?;
        if self.accept_symbol(b')') {
            return Ok(Vec::new());
        }
        let mut values = Vec::with_capacity(count);
        values.push(self.expr_or_default()?);
        while self.accept_symbol(b',') {
            values.push(self.expr_or_default()?);
        }
        self.expect_symbol(b')')?;
        Ok(values)
    }

    /// `(value, ...), (value, ...), ...`. Each row takes the room that the one before has needed: there may
    /// be millions.
    pub(super) fn rows_of_values(&mut self) -> Parsed<Vec<Vec<Expr>>> {
        let mut count = 0;
        self.list(|parser| {
            let row = parser.row_of_about(count)?;
            count = row.len();
            Ok(row)
        })
    }

    /// ORDER BY, LIMIT, INTO and locks at the end of a query.
    fn query_tail(&mut self, query: &mut Query) -> Parsed<()> {
        query.order_by = self.optional_order_by()?;
        query.limit = self.optional_limit()?;
        self.optional_into(&mut query.into)?;
        loop {
            if self.accept(Keyword::LOCK) {
                self.expect_all(&[Keyword::IN, Keyword::SHARE, Keyword::MODE])?;
                query.locking.push(Locking { exclusive: false, tables: Vec::new(), wait: LockWait::Wait });
            } else if self.accept(Keyword::FOR) {
                query.locking.push(self.locking()?);
            } else {
                break;
            }
        }
        self.optional_into(&mut query.into)
    }

    fn locking(&mut self) -> Parsed<Locking> {
        let exclusive = self.expect_any(&[Keyword::UPDATE, Keyword::SHARE])? == Keyword::UPDATE;
        let tables: Vec<ObjectName> =
            if self.accept(Keyword::OF) { self.list(Self::object_name)? } else { Vec::new() };
        let wait = match self.accept_any(&[Keyword::NOWAIT, Keyword::SKIP]) {
            Some(Keyword::NOWAIT) => LockWait::NoWait,
            Some(_) => {
                self.expect(Keyword::LOCKED)?;
                LockWait::SkipLocked
            }
            None => LockWait::Wait,
        };
        Ok(Locking { exclusive, tables, wait })
    }

    pub(super) fn optional_order_by(&mut self) -> Parsed<Vec<OrderItem>> {
        if !self.accept(Keyword::ORDER) {
            return Ok(Vec::new());
        }
        self.expect(Keyword::BY)?;
        self.list(Self::order_item)
    }

    pub(super) fn order_item(&mut self) -> Parsed<OrderItem> {
        let expr = self.expr()?;
        let descending = self.accept_any(&[Keyword::ASC, Keyword::DESC]) == Some(Keyword::DESC);
        Ok(OrderItem { expr, descending })
    }

    pub(super) fn optional_limit(&mut self) -> Parsed<Option<Limit>> {
        if !self.accept(Keyword::LIMIT) {
            return Ok(None);
        }
        let first = self.limit_value()?;
        Ok(Some(if self.accept_symbol(b',') {
            Limit { count: self.limit_value()?, offset: Some(first) }
        } else if self.accept(Keyword::OFFSET) {
            Limit { count: first, offset: Some(self.limit_value()?) }
        } else {
            Limit { count: first, offset: None }
        }))
    }

    /// LIMIT of UPDATE and DELETE: no offset.
    pub(super) fn optional_row_count(&mut self) -> Parsed<Option<Limit>> {
        if !self.accept(Keyword::LIMIT) {
            return Ok(None);
        }
        Ok(Some(Limit { count: self.limit_value()?, offset: None }))
    }

    /// A whole number, a placeholder, or a variable of a stored program.
    fn limit_value(&mut self) -> Parsed<Expr> {
        match self.token.kind {
            TokenKind::Placeholder => self.simple(),
            TokenKind::Integer => Ok(Expr::Literal(Literal::Integer(self.unsigned()?))),
            _ => Ok(Expr::Column(self.column_name()?)),
        }
    }

    /// INTO, unless there has been one.
    fn optional_into(&mut self, into: &mut Option<Into>) -> Parsed<()> {
        if !self.is(Keyword::INTO) {
            return Ok(());
        }
        if into.is_some() {
            return self.fail();
        }
        self.advance();
        *into = Some(if self.accept(Keyword::OUTFILE) {
            Into::Outfile { path: self.string()?, format: self.load_format()? }
        } else if self.accept(Keyword::DUMPFILE) {
            Into::Dumpfile(self.string()?)
        } else {
            Into::Variables(self.list(Self::target_variable)?)
        });
        Ok(())
    }

    pub(super) fn target_variable(&mut self) -> Parsed<IntoVariable> {
        if self.is_symbol(b'@') {
            return Ok(IntoVariable::User(self.assigned_variable()?));
        }
        Ok(IntoVariable::Local(self.name_or_string()?))
    }

    fn select(&mut self) -> Parsed<(Select, Option<Into>)> {
        self.expect(Keyword::SELECT)?;
        self.blocks += 1;
        let mut select = Select { number: self.blocks, ..Select::default() };
        select.options.max_execution_time = self.hints();
        self.select_options(&mut select);
        select.items = self.select_items()?;
        let mut into = None;
        self.optional_into(&mut into)?;
        if self.accept(Keyword::FROM) && !self.accept(Keyword::DUAL) {
            select.from = self.table_references()?;
        }
        if self.accept(Keyword::WHERE) {
            select.filter = Some(self.expr()?);
        }
        if self.accept(Keyword::GROUP) {
            self.expect(Keyword::BY)?;
            select.group_by = self.list(|p| Ok(OrderItem { expr: p.expr()?, descending: false }))?;
            if self.is(Keyword::WITH) && self.peek().keyword == Keyword::ROLLUP {
                self.advance();
                self.advance();
                select.rollup = true;
            }
        }
        if self.accept(Keyword::HAVING) {
            select.having = Some(self.expr()?);
        }
        if self.accept(Keyword::WINDOW) {
            select.windows = self.list(|p| {
                let name = p.name()?;
                p.expect(Keyword::AS)?;
                Ok((name, p.window_spec()?))
            })?;
        }
        Ok((select, into))
    }

    fn select_options(&mut self, select: &mut Select) {
        loop {
            match self.token.keyword {
                Keyword::ALL => {}
                Keyword::DISTINCT | Keyword::DISTINCTROW => select.distinct = true,
                Keyword::HIGH_PRIORITY => select.options.high_priority = true,
                Keyword::STRAIGHT_JOIN => select.options.straight_join = true,
                Keyword::SQL_SMALL_RESULT => select.options.small_result = true,
                Keyword::SQL_BIG_RESULT => select.options.big_result = true,
                Keyword::SQL_BUFFER_RESULT => select.options.buffer_result = true,
                Keyword::SQL_NO_CACHE => {
                    self.note(Deprecated::NoCache);
                    select.options.no_cache = true;
                }
                Keyword::SQL_CALC_FOUND_ROWS => {
                    self.note(Deprecated::CalcFoundRows);
                    select.options.calc_found_rows = true;
                }
                _ => return,
            }
            self.advance();
        }
    }

    /// The select list; a lone `*` can only be the first item.
    pub(super) fn select_items(&mut self) -> Parsed<Vec<SelectItem>> {
        let first = if self.accept_symbol(b'*') { SelectItem::Wildcard } else { self.select_item()? };
        let mut items = vec![first];
        while self.accept_symbol(b',') {
            items.push(self.select_item()?);
        }
        Ok(items)
    }

    fn select_item(&mut self) -> Parsed<SelectItem> {
        if self.is_name()
            && let Some(table) = self.optional_table_wildcard()?
        {
            return Ok(SelectItem::TableWildcard(table));
        }
        let start = self.token;
        let expr = self.expr()?;
        let text = self.item_name(start, &expr);
        Ok(SelectItem::Expr { expr, alias: self.optional_item_alias()?, text })
    }

    /// An alias without what precedes its first letter, of which the statement is warned.
    fn optional_item_alias(&mut self) -> Parsed<Option<Name>> {
        let Some(alias) = self.optional_alias()? else { return Ok(None) };
        let name = from_first_letter(&alias);
        match name {
            "" if !alias.is_empty() => self.note(Deprecated::BlankName(alias.clone())),
            name if name.len() < alias.len() => self.note(Deprecated::LeadingSpaces(alias.clone())),
            _ => {}
        }
        Ok(Some(name.to_owned()))
    }

    /// What a column without an alias is called: its expression as it was written, for the most part.
    fn item_name(&self, start: Token, expr: &Expr) -> String {
        let trimmed = |value: &[u8]| from_first_letter(&String::from_utf8_lossy(value)).to_owned();
        match expr {
            // A string is named by its value, or its first part's.
            Expr::Literal(Literal::String(_)) if start.kind == TokenKind::String => {
                trimmed(&super::literal::unescape(self.bytes(start), !self.options.no_backslash_escapes))
            }
            Expr::Literal(Literal::String(string)) => trimmed(&string.value),
            Expr::Literal(Literal::Null) => "NULL".to_owned(),
            Expr::Literal(Literal::Bool(value)) => value.to_string().to_ascii_uppercase(),
            Expr::Column(column) => column.column.clone(),
            // A plus sign is no part of a constant.
            Expr::Unary(crate::ast::UnaryOp::Plus, operand) => match &**operand {
                Expr::Literal(Literal::String(string)) => trimmed(&string.value),
                operand => {
                    let text = String::from_utf8_lossy(self.text_since(start.start)).into_owned();
                    match operand {
                        Expr::Literal(_) => text.trim_start_matches('+').trim_start().to_owned(),
                        _ => text,
                    }
                }
            },
            _ => String::from_utf8_lossy(self.text_since(start.start)).into_owned(),
        }
    }

    /// `t.*` or `s.t.*`, if that is what is here.
    fn optional_table_wildcard(&mut self) -> Parsed<Option<ObjectName>> {
        let mut ahead = self.lexer;
        let point = TokenKind::Symbol(b'.');
        let star = TokenKind::Symbol(b'*');
        if ahead.next_token().kind != point {
            return Ok(None);
        }
        let second = ahead.next_token();
        if second.kind == star {
            let name = self.name()?;
            self.advance();
            self.advance();
            return Ok(Some(ObjectName { schema: None, name }));
        }
        if super::name::is_name_token(second)
            && ahead.next_token().kind == point
            && ahead.next_token().kind == star
        {
            let name = self.object_name()?;
            if let Some(schema) = &name.schema {
                self.check_name(schema, WrongName::Database);
            }
            self.advance();
            self.advance();
            return Ok(Some(name));
        }
        Ok(None)
    }

    /// `(... window ...)`.
    pub(super) fn window_spec(&mut self) -> Parsed<WindowSpec> {
        self.expect_symbol(b'(')?;
        let base =
            if self.is_name() && !self.is_any(&[Keyword::PARTITION]) { Some(self.name()?) } else { None };
        let mut spec = WindowSpec { base, ..WindowSpec::default() };
        if self.accept(Keyword::PARTITION) {
            self.expect(Keyword::BY)?;
            spec.partition_by = self.list(Self::expr)?;
        }
        spec.order_by = self.optional_order_by()?;
        if let Some(keyword) = self.accept_any(&[Keyword::ROWS, Keyword::RANGE, Keyword::GROUPS]) {
            let unit = match keyword {
                Keyword::ROWS => FrameUnit::Rows,
                Keyword::RANGE => FrameUnit::Range,
                _ => FrameUnit::Groups,
            };
            spec.frame = Some(self.window_frame(unit)?);
        }
        self.expect_symbol(b')')?;
        Ok(spec)
    }

    fn window_frame(&mut self, unit: FrameUnit) -> Parsed<WindowFrame> {
        let (start, end) = if self.accept(Keyword::BETWEEN) {
            let start = self.frame_bound()?;
            self.expect(Keyword::AND)?;
            (start, Some(self.frame_bound()?))
        } else {
            (self.frame_bound()?, None)
        };
        let exclude = if !self.accept(Keyword::EXCLUDE) {
            None
        } else {
            let keywords = &[Keyword::CURRENT, Keyword::GROUP, Keyword::TIES, Keyword::NO];
            Some(match self.expect_any(keywords)? {
                Keyword::CURRENT => {
                    self.expect(Keyword::ROW)?;
                    FrameExclusion::CurrentRow
                }
                Keyword::GROUP => FrameExclusion::Group,
                Keyword::TIES => FrameExclusion::Ties,
                _ => {
                    self.expect(Keyword::OTHERS)?;
                    FrameExclusion::NoOthers
                }
            })
        };
        Ok(WindowFrame { unit, start, end, exclude })
    }

    fn frame_bound(&mut self) -> Parsed<FrameBound> {
        if self.accept(Keyword::UNBOUNDED) {
            return Ok(match self.expect_any(&[Keyword::PRECEDING, Keyword::FOLLOWING])? {
                Keyword::PRECEDING => FrameBound::UnboundedPreceding,
                _ => FrameBound::UnboundedFollowing,
            });
        }
        if self.accept(Keyword::CURRENT) {
            self.expect(Keyword::ROW)?;
            return Ok(FrameBound::CurrentRow);
        }
        let (amount, unit) = if self.is(Keyword::INTERVAL) {
            let (amount, unit) = self.interval()?;
            (amount, Some(unit))
        } else {
            (self.simple()?, None)
        };
        Ok(match self.expect_any(&[Keyword::PRECEDING, Keyword::FOLLOWING])? {
            Keyword::PRECEDING => FrameBound::Preceding(amount, unit),
            _ => FrameBound::Following(amount, unit),
        })
    }
}

/// `(query)` as an operand: the parentheses matter only around clauses of its own.
fn nested(query: Query) -> QueryBody {
    let plain = query.with.is_none()
        && query.order_by.is_empty()
        && query.limit.is_none()
        && query.locking.is_empty()
        && query.into.is_none()
        && !matches!(query.body, QueryBody::Combination { .. });
    if plain { query.body } else { QueryBody::Nested(Box::new(query)) }
}

fn combined(first: QueryBody, rest: Vec<CombinationTerm>) -> QueryBody {
    if rest.is_empty() { first } else { QueryBody::Combination { first: Box::new(first), rest } }
}

/// What a column is called for a text: what follows the spaces and control characters that it begins with.
fn from_first_letter(text: &str) -> &str {
    text.trim_start_matches(|c: char| c == ' ' || c.is_ascii_control())
}
