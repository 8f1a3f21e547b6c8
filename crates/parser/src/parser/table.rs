//! What stands after FROM: tables, joins, derived tables.

use super::query::QUERY_LEVELS;
use super::{Parsed, Parser};
use crate::ast::{
    DerivedTable, IndexHint, IndexHintKind, IndexHintScope, Join, JoinCondition, JoinKind, JsonTable,
    JsonTableColumn, Name, Query, TableFactor, TableReference,
};
use crate::lexer::Keyword;

/// A join whose right operand is still being read.
struct Pending {
    left: Operand,
    kind: JoinKind,
}

/// A table reference, and how many joins without parentheses lie on the way to its leftmost table.
struct Operand {
    table: TableReference,
    spine: usize,
}

/// What was between parentheses in FROM.
enum Parenthesised {
    Query(Box<Query>),
    Tables(Vec<TableReference>),
}

impl Parser<'_> {
    /// A comma-separated list of joins.
    pub(super) fn table_references(&mut self) -> Parsed<Vec<TableReference>> {
        self.list(Self::table_reference)
    }

    /// One table, or a join.
    pub(super) fn table_reference(&mut self) -> Parsed<TableReference> {
        let first = self.table_factor()?;
        self.joins(first)
    }

    /// The joins behind `first`.
    ///
    /// In `a JOIN b JOIN c ON x ON y` each ON belongs to the innermost join still without one; a join that never gets
    /// one is a cross join, which binds to the left: `a JOIN b LEFT JOIN c ON x` is `(a JOIN b) LEFT JOIN c ON x`.
    fn joins(&mut self, first: TableReference) -> Parsed<TableReference> {
        let mut current = Operand { table: first, spine: 0 };
        let mut pending: Vec<Pending> = Vec::new();
        let mut count = 0;
        loop {
            if let Some(condition) = self.join_condition(!pending.is_empty())? {
                let Some(Pending { left, kind }) = pending.pop() else {
                    return self.fail();
                };
                current = join(left, current.table, kind, condition);
                continue;
            }
            let Some((kind, natural)) = self.join_operator()? else {
                break;
            };
            count += 1;
            if count > 2 * self.options.max_depth {
                return self.fail();
            }
            let right = self.table_factor()?;
            if natural {
                current = join(current, right, kind, JoinCondition::Natural);
            } else {
                pending.push(Pending { left: current, kind });
                current = Operand { table: right, spine: 0 };
            }
        }
        while let Some(Pending { left, kind }) = pending.pop() {
            if matches!(kind, JoinKind::Left | JoinKind::Right) {
                return self.fail();
            }
            current = cross_join(left, current, kind);
        }
        Ok(current.table)
    }

    /// ON or USING, if some join waits for one.
    fn join_condition(&mut self, expected: bool) -> Parsed<Option<JoinCondition>> {
        if !expected {
            return Ok(None);
        }
        if self.accept(Keyword::ON) {
            return Ok(Some(JoinCondition::On(self.expr()?)));
        }
        if self.accept(Keyword::USING) {
            return Ok(Some(JoinCondition::Using(self.parenthesised_list(Self::name)?)));
        }
        Ok(None)
    }

    /// JOIN in all its forms; whether it is NATURAL.
    fn join_operator(&mut self) -> Parsed<Option<(JoinKind, bool)>> {
        let kind = match self.token.keyword {
            Keyword::JOIN => JoinKind::Inner,
            Keyword::STRAIGHT_JOIN => JoinKind::Straight,
            Keyword::INNER | Keyword::CROSS => {
                self.advance();
                JoinKind::Inner
            }
            Keyword::LEFT | Keyword::RIGHT => self.outer_join(),
            Keyword::NATURAL => {
                self.advance();
                let kind = match self.token.keyword {
                    Keyword::LEFT | Keyword::RIGHT => self.outer_join(),
                    _ => {
                        self.accept(Keyword::INNER);
                        JoinKind::Inner
                    }
                };
                self.expect(Keyword::JOIN)?;
                return Ok(Some((kind, true)));
            }
            _ => return Ok(None),
        };
        if kind == JoinKind::Straight {
            self.advance();
        } else {
            self.expect(Keyword::JOIN)?;
        }
        Ok(Some((kind, false)))
    }

    fn outer_join(&mut self) -> JoinKind {
        let kind = if self.is(Keyword::LEFT) { JoinKind::Left } else { JoinKind::Right };
        self.advance();
        self.accept(Keyword::OUTER);
        kind
    }

    fn table_factor(&mut self) -> Parsed<TableReference> {
        match self.token.keyword {
            Keyword::LATERAL => {
                self.advance();
                let query = self.subquery()?;
                Ok(TableReference::Derived(self.derived_table(true, query)?))
            }
            Keyword::JSON_TABLE => self.json_table(),
            _ if self.is_symbol(b'(') => match self.table_parentheses()? {
                Parenthesised::Query(query) => Ok(TableReference::Derived(self.derived_table(false, query)?)),
                Parenthesised::Tables(tables) => Ok(parenthesised(tables)),
            },
            _ if self.is_symbol(b'{') => {
                self.advance();
                self.name()?;
                let table = self.deeper(QUERY_LEVELS, Self::table_reference)?;
                self.expect_symbol(b'}')?;
                Ok(table)
            }
            _ => Ok(TableReference::Table(self.named_table()?)),
        }
    }

    /// A table by name with alias, partitions and hints.
    pub(super) fn named_table(&mut self) -> Parsed<TableFactor> {
        let name = self.table_name()?;
        let partitions = self.optional_partitions()?;
        let alias = self.optional_table_alias()?;
        let mut index_hints = Vec::new();
        while let Some(hint) = self.optional_index_hint()? {
            index_hints.push(hint);
        }
        Ok(TableFactor { name, alias, partitions, index_hints })
    }

    pub(super) fn optional_table_alias(&mut self) -> Parsed<Option<Name>> {
        if self.begins_returning() {
            return Ok(None);
        }
        self.optional_derived_alias()
    }

    /// The alias of a derived table, which it cannot do without: RETURNING is one there.
    fn optional_derived_alias(&mut self) -> Parsed<Option<Name>> {
        if self.accept(Keyword::AS) || self.is_name() { Ok(Some(self.name()?)) } else { Ok(None) }
    }

    /// `[PARTITION (names)]`.
    pub(super) fn optional_partitions(&mut self) -> Parsed<Vec<Name>> {
        if self.accept(Keyword::PARTITION) { self.parenthesised_list(Self::name) } else { Ok(Vec::new()) }
    }

    fn optional_index_hint(&mut self) -> Parsed<Option<IndexHint>> {
        let kind = match self.accept_any(&[Keyword::USE, Keyword::FORCE, Keyword::IGNORE]) {
            None => return Ok(None),
            Some(Keyword::USE) => IndexHintKind::Use,
            Some(Keyword::FORCE) => IndexHintKind::Force,
            Some(_) => IndexHintKind::Ignore,
        };
        self.expect_any(&[Keyword::INDEX, Keyword::KEY])?;
        let mut scope = None;
        if self.accept(Keyword::FOR) {
            scope = Some(match self.expect_any(&[Keyword::JOIN, Keyword::ORDER, Keyword::GROUP])? {
                Keyword::JOIN => IndexHintScope::Join,
                keyword => {
                    self.expect(Keyword::BY)?;
                    if keyword == Keyword::ORDER { IndexHintScope::OrderBy } else { IndexHintScope::GroupBy }
                }
            });
        }
        self.expect_symbol(b'(')?;
        let indexes = if kind == IndexHintKind::Use && self.is_symbol(b')') {
            Vec::new()
        } else {
            // One without a name names none.
            self.list(Self::index_name)?.into_iter().filter(|name| !name.is_empty()).collect()
        };
        self.expect_symbol(b')')?;
        Ok(Some(IndexHint { kind, scope, indexes }))
    }

    /// The name of an index, PRIMARY included.
    pub(super) fn index_name(&mut self) -> Parsed<Name> {
        if self.accept(Keyword::PRIMARY) {
            return Ok("PRIMARY".to_owned());
        }
        self.name()
    }

    fn table_parentheses(&mut self) -> Parsed<Parenthesised> {
        self.deeper(QUERY_LEVELS, |p| {
            p.expect_symbol(b'(')?;
            if p.is_query_start() {
                let query = p.query()?;
                p.expect_symbol(b')')?;
                return Ok(Parenthesised::Query(Box::new(query)));
            }
            if !p.is_symbol(b'(') {
                let tables = p.table_references()?;
                p.expect_symbol(b')')?;
                return Ok(Parenthesised::Tables(tables));
            }
            let first = match p.table_parentheses()? {
                Parenthesised::Query(query) if p.query_goes_on() || p.is_symbol(b')') => {
                    let query = p.query_behind(*query)?;
                    p.expect_symbol(b')')?;
                    return Ok(Parenthesised::Query(Box::new(query)));
                }
                Parenthesised::Query(query) => TableReference::Derived(p.derived_table(false, query)?),
                Parenthesised::Tables(tables) => parenthesised(tables),
            };
            let mut tables = vec![p.joins(first)?];
            while p.accept_symbol(b',') {
                tables.push(p.table_reference()?);
            }
            p.expect_symbol(b')')?;
            Ok(Parenthesised::Tables(tables))
        })
    }

    fn derived_table(&mut self, lateral: bool, query: Box<Query>) -> Parsed<DerivedTable> {
        if query.into.is_some() {
            return self.fail();
        }
        let alias = self.optional_derived_alias()?;
        let columns = if alias.is_some() { self.optional_names()? } else { Vec::new() };
        Ok(DerivedTable { lateral, query, alias, columns })
    }

    fn json_table(&mut self) -> Parsed<TableReference> {
        self.advance();
        self.expect_symbol(b'(')?;
        let document = self.expr()?;
        self.expect_symbol(b',')?;
        let path = self.string()?;
        let columns = self.json_table_columns()?;
        self.expect_symbol(b')')?;
        let alias = self.optional_derived_alias()?;
        Ok(TableReference::JsonTable(Box::new(JsonTable { document, path, columns, alias })))
    }

    fn json_table_columns(&mut self) -> Parsed<Vec<JsonTableColumn>> {
        self.expect(Keyword::COLUMNS)?;
        self.deeper(1, |p| p.parenthesised_list(Self::json_table_column))
    }

    fn json_table_column(&mut self) -> Parsed<JsonTableColumn> {
        if self.is(Keyword::NESTED) && self.peek().keyword == Keyword::PATH {
            self.advance();
            self.advance();
            let path = self.string()?;
            return Ok(JsonTableColumn::Nested { path, columns: self.json_table_columns()? });
        }
        let name = self.name()?;
        if self.accept(Keyword::FOR) {
            self.expect(Keyword::ORDINALITY)?;
            return Ok(JsonTableColumn::Ordinality(name));
        }
        let mut data_type = self.data_type()?;
        if self.accept(Keyword::COLLATE) {
            data_type.collation = Some(self.collation_name()?);
        }
        let data_type = Box::new(data_type);
        let exists = self.accept(Keyword::EXISTS);
        self.expect(Keyword::PATH)?;
        let path = self.string()?;
        if exists {
            return Ok(JsonTableColumn::Exists { name, data_type, path });
        }
        let (mut on_empty, on_error) = self.json_on()?;
        if on_empty.is_none() && on_error.is_some() {
            // The other order is deprecated.
            on_empty = self.json_on_empty()?;
        }
        Ok(JsonTableColumn::Path { name, data_type, path, on_empty, on_error })
    }
}

fn parenthesised(mut tables: Vec<TableReference>) -> TableReference {
    if tables.len() == 1 { tables.remove(0) } else { TableReference::List(tables) }
}

fn join(left: Operand, right: TableReference, kind: JoinKind, condition: JoinCondition) -> Operand {
    let spine = left.spine + 1;
    Operand {
        table: TableReference::Join(Box::new(Join { left: left.table, right, kind, condition })),
        spine,
    }
}

/// Joins `left` to the leftmost table of `right`.
fn cross_join(left: Operand, right: Operand, kind: JoinKind) -> Operand {
    let spine = left.spine + 1 + right.spine;
    let mut table = right.table;
    let mut place = &mut table;
    for _ in 0..right.spine {
        match place {
            TableReference::Join(join) => place = &mut join.left,
            _ => break,
        }
    }
    let leaf = std::mem::replace(place, TableReference::List(Vec::new()));
    *place = TableReference::Join(Box::new(Join {
        left: left.table,
        right: leaf,
        kind,
        condition: JoinCondition::None,
    }));
    Operand { table, spine }
}
