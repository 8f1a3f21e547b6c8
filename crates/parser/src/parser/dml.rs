//! INSERT, REPLACE, UPDATE, DELETE.

use super::{Parsed, Parser};
use crate::Deprecated;
use crate::ast::{
    ColumnAssignment, ColumnName, Delete, DeleteTarget, Expr, Insert, InsertPriority, InsertSource,
    ObjectName, RowAlias, SelectItem, Statement, TableReference, Update, With,
};
use crate::lexer::{Keyword, TokenKind};

/// Keywords that can follow an alias in a select list or in FROM.
const FOLLOW_ALIASES: [Keyword; 28] = [
    Keyword::FROM,
    Keyword::INTO,
    Keyword::WHERE,
    Keyword::GROUP,
    Keyword::HAVING,
    Keyword::ORDER,
    Keyword::LIMIT,
    Keyword::WINDOW,
    Keyword::UNION,
    Keyword::EXCEPT,
    Keyword::INTERSECT,
    Keyword::FOR,
    Keyword::LOCK,
    Keyword::ON,
    Keyword::USING,
    Keyword::JOIN,
    Keyword::INNER,
    Keyword::CROSS,
    Keyword::LEFT,
    Keyword::RIGHT,
    Keyword::NATURAL,
    Keyword::STRAIGHT_JOIN,
    Keyword::USE,
    Keyword::FORCE,
    Keyword::IGNORE,
    Keyword::PARTITION,
    Keyword::SET,
    Keyword::RETURNING,
];

impl Parser<'_> {
    /// WITH before SELECT, UPDATE or DELETE.
    pub(super) fn with_statement(&mut self) -> Parsed<Statement> {
        let with = self.optional_with()?;
        match self.token.keyword {
            Keyword::UPDATE => self.update(with),
            Keyword::DELETE => self.delete(with),
            _ => Ok(Statement::Query(Box::new(self.query_after_with(with)?))),
        }
    }

    /// INSERT and REPLACE.
    pub(super) fn insert(&mut self) -> Parsed<Statement> {
        let replace = self.advance().keyword == Keyword::REPLACE;
        self.changes_rows = true;
        self.hints();
        let priority = self.insert_priority(replace);
        let ignore = !replace && self.accept(Keyword::IGNORE);
        self.accept(Keyword::INTO);
        let table = self.table_name()?;
        let partitions = self.optional_partitions()?;
        let mut insert = Insert {
            replace,
            priority,
            ignore,
            table,
            partitions,
            columns: Vec::new(),
            source: InsertSource::Values(Vec::new()),
            row_alias: None,
            on_duplicate: Vec::new(),
            returning: Vec::new(),
        };
        if self.accept(Keyword::SET) {
            let mut row = Vec::new();
            for assignment in self.list(Self::column_assignment)? {
                insert.columns.push(assignment.column);
                row.push(assignment.value);
            }
            insert.source = InsertSource::Values(vec![row]);
            insert.row_alias = self.optional_row_alias(replace)?;
        } else {
            let around = std::mem::replace(&mut self.may_return, true);
            let source = self.insert_source(&mut insert);
            self.may_return = around;
            source?;
        }
        if !replace && self.accept(Keyword::ON) {
            self.expect_all(&[Keyword::DUPLICATE, Keyword::KEY, Keyword::UPDATE])?;
            self.on_duplicate = true;
            insert.on_duplicate = self.list(Self::column_assignment)?;
            self.on_duplicate = false;
        }
        insert.returning = self.optional_returning()?;
        Ok(Statement::Insert(Box::new(insert)))
    }

    fn insert_priority(&mut self, replace: bool) -> Option<InsertPriority> {
        let keywords: &[Keyword] = if replace {
            &[Keyword::LOW_PRIORITY, Keyword::DELAYED]
        } else {
            &[Keyword::LOW_PRIORITY, Keyword::DELAYED, Keyword::HIGH_PRIORITY]
        };
        self.accept_any(keywords).map(|keyword| match keyword {
            Keyword::LOW_PRIORITY => InsertPriority::Low,
            Keyword::DELAYED => {
                self.note(Deprecated::Delayed(if replace { "REPLACE" } else { "INSERT" }));
                InsertPriority::Delayed
            }
            _ => InsertPriority::High,
        })
    }

    /// `[(columns)]` and VALUES or a query.
    fn insert_source(&mut self, insert: &mut Insert) -> Parsed<()> {
        if self.is_symbol(b'(') {
            let next = self.peek();
            if next.kind == TokenKind::Symbol(b')') || super::name::is_name_token(next) {
                self.advance();
                if !self.is_symbol(b')') {
                    insert.columns = self.list(Self::column_name)?;
                }
                self.expect_symbol(b')')?;
            }
        }
        let values = match self.token.keyword {
            Keyword::VALUE => true,
            Keyword::VALUES => self.peek().keyword != Keyword::ROW,
            _ => false,
        };
        if values {
            self.advance();
            insert.source = InsertSource::Values(self.rows_of_values()?);
            insert.row_alias = self.optional_row_alias(insert.replace)?;
            return Ok(());
        }
        let query = self.query()?;
        if query.into.is_some() {
            return self.fail();
        }
        insert.source = InsertSource::Query(Box::new(query));
        if matches!(&insert.source, InsertSource::Query(query) if matches!(query.body, crate::ast::QueryBody::Values(_)))
        {
            insert.row_alias = self.optional_row_alias(insert.replace)?;
        }
        Ok(())
    }

    /// `AS new[(m, n)]`.
    fn optional_row_alias(&mut self, replace: bool) -> Parsed<Option<RowAlias>> {
        if replace || !self.accept(Keyword::AS) {
            return Ok(None);
        }
        Ok(Some(RowAlias { name: self.name()?, columns: self.optional_names()? }))
    }

    pub(super) fn column_assignment(&mut self) -> Parsed<ColumnAssignment> {
        let column: ColumnName = self.column_name()?;
        self.expect_assign()?;
        Ok(ColumnAssignment { column, value: self.expr_or_default()? })
    }

    pub(super) fn update(&mut self, with: Option<With>) -> Parsed<Statement> {
        self.advance();
        self.blocks += 1;
        self.changes_rows = true;
        self.hints();
        let low_priority = self.accept(Keyword::LOW_PRIORITY);
        let ignore = self.accept(Keyword::IGNORE);
        let tables = self.table_references()?;
        self.expect(Keyword::SET)?;
        let assignments = self.list(Self::column_assignment)?;
        let filter = self.optional_where()?;
        let order_by = self.optional_order_by()?;
        let limit = self.optional_row_count()?;
        let returning = match tables.as_slice() {
            [TableReference::Table(_)] => self.optional_returning()?,
            _ => Vec::new(),
        };
        let update =
            Update { with, low_priority, ignore, tables, assignments, filter, order_by, limit, returning };
        Ok(Statement::Update(Box::new(update)))
    }

    /// `[RETURNING items]`.
    fn optional_returning(&mut self) -> Parsed<Vec<SelectItem>> {
        if self.accept(Keyword::RETURNING) { self.select_items() } else { Ok(Vec::new()) }
    }

    /// Whether RETURNING stands here as a clause, where an alias may stand. MySQL has no such clause, and the
    /// word is not reserved: it is an alias where what follows it can follow one.
    pub(super) fn begins_returning(&self) -> bool {
        if !self.may_return || self.token.keyword != Keyword::RETURNING {
            return false;
        }
        let next = self.peek();
        let ends = match next.kind {
            TokenKind::End => true,
            TokenKind::Symbol(symbol) => matches!(symbol, b',' | b')' | b';'),
            _ => false,
        };
        !ends && !FOLLOW_ALIASES.contains(&next.keyword)
    }

    pub(super) fn optional_where(&mut self) -> Parsed<Option<Expr>> {
        if self.accept(Keyword::WHERE) { Ok(Some(self.expr()?)) } else { Ok(None) }
    }

    pub(super) fn delete(&mut self, with: Option<With>) -> Parsed<Statement> {
        self.advance();
        self.blocks += 1;
        self.changes_rows = true;
        self.hints();
        let (mut low_priority, mut quick, mut ignore) = (false, false, false);
        loop {
            match self.token.keyword {
                Keyword::LOW_PRIORITY => low_priority = true,
                Keyword::QUICK => quick = true,
                Keyword::IGNORE => ignore = true,
                _ => break,
            }
            self.advance();
        }
        let target = self.delete_target()?;
        let filter = self.optional_where()?;
        let (order_by, limit, returning) = match target {
            DeleteTarget::Single(_) => {
                (self.optional_order_by()?, self.optional_row_count()?, self.optional_returning()?)
            }
            DeleteTarget::Multi { .. } => (Vec::new(), None, Vec::new()),
        };
        let delete = Delete { with, low_priority, quick, ignore, target, filter, order_by, limit, returning };
        Ok(Statement::Delete(Box::new(delete)))
    }

    fn delete_target(&mut self) -> Parsed<DeleteTarget> {
        if !self.accept(Keyword::FROM) {
            let targets = self.list(Self::table_with_star)?;
            self.expect(Keyword::FROM)?;
            return Ok(DeleteTarget::Multi { targets, tables: self.table_references()? });
        }
        let first = self.table_with_star()?;
        if self.is_symbol(b',') || self.is(Keyword::USING) {
            let mut targets = vec![first];
            while self.accept_symbol(b',') {
                targets.push(self.table_with_star()?);
            }
            self.expect(Keyword::USING)?;
            return Ok(DeleteTarget::Multi { targets, tables: self.table_references()? });
        }
        self.check_table_name(&first);
        let mut table = crate::ast::TableFactor { name: first, ..Default::default() };
        let around = std::mem::replace(&mut self.may_return, true);
        let alias = self.optional_table_alias();
        self.may_return = around;
        table.alias = alias?;
        table.partitions = self.optional_partitions()?;
        Ok(DeleteTarget::Single(TableReference::Table(table)))
    }

    /// `t`, `s.t`, `t.*`, `s.t.*`.
    fn table_with_star(&mut self) -> Parsed<ObjectName> {
        let first = self.name()?;
        if !self.accept_symbol(b'.') {
            return Ok(ObjectName { schema: None, name: first });
        }
        if self.accept_symbol(b'*') {
            return Ok(ObjectName { schema: None, name: first });
        }
        let name = self.name()?;
        if self.accept_symbol(b'.') {
            self.expect_symbol(b'*')?;
        }
        Ok(ObjectName { schema: Some(first), name })
    }
}
