//! FROM: tables, joins, derived tables.

use std::sync::Arc;

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_engine::{LockMode, ReadMode, Table};
use palisade_expr::place::At;
use palisade_expr::session_state::SessionState;
use palisade_expr::{Comparison, Expr, SqlError, SqlResult};
use palisade_parser::ParseOptions;
use palisade_parser::ast::{self, JoinCondition, JoinKind as AstJoinKind, TableReference};
use palisade_schema::TableDecl;
use palisade_session::sink::ColumnMeta;
use palisade_session::virtual_tables::{self, SYSTEM_SCHEMA, StoredQuery, is_virtual_schema};

use super::compare::compare_leniently;
use super::scope::{Clause, Scope, Source, SourceColumn, same_name};
use super::{Binder, CommonTable, not_supported};
use crate::logical::{JoinTree, Leaf, LogicalQuery, LogicalRecursion, MAX_TABLES, TableLeaf, VirtualLeaf};

/// How far a FROM clause has filled its scope: where the next table's source and columns of `*` begin.
#[derive(Debug, Clone, Copy)]
struct Place {
    source: usize,
    star: usize,
}

/// A recursive common table expression, as its own steps see it.
#[derive(Debug)]
pub struct WorkingTable {
    name: String,
    number: usize,
    columns: Vec<SourceColumn>,
    /// Depth of the queries that may read it.
    depth: usize,
    reads: usize,
}

/// What a derived table sees of the tables beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sees {
    Nothing,
    /// LATERAL: those that come before it in FROM, row by row.
    TablesBefore,
}

/// What a query that stands for a table is called.
pub(super) struct Named<'a> {
    pub(super) alias: &'a str,
    /// The schema and name of the view; empty for a derived table or a common table expression.
    pub(super) schema: &'a str,
    pub(super) view: &'a str,
}

impl<'a> Named<'a> {
    fn derived(alias: &'a str) -> Named<'a> {
        Named { alias, schema: "", view: "" }
    }

    fn is_view(&self) -> bool {
        !self.view.is_empty()
    }
}

impl Binder<'_> {
    /// The view of sys that FROM names, unless a stored schema hides it.
    fn sys_view(&self, schema: &str, name: &str) -> Option<StoredQuery> {
        let view = self.dictionary_tables.view(schema, name)?;
        self.dictionary.schema(&view.schema).is_none().then_some(view)
    }

    /// Binds a view's query as a derived table. It sees nothing of the statement that names the view: neither
    /// its common table expressions nor what its hints say, and it is parsed in the default modes of SQL.
    fn sys_query(&mut self, view: &StoredQuery, alias: &str) -> SqlResult<JoinTree> {
        let parsed = palisade_parser::parse(view.text.as_bytes(), ParseOptions::default());
        let ast::Statement::Query(query) = parsed.map_err(super::parse_error)? else {
            return Err(SqlError::internal("a view is no query"));
        };
        let named = Named { alias, schema: &view.schema, view: &view.name };
        self.hide_decisions(false, &view.schema, &view.name);
        self.apart(|binder| binder.derived(&query, &named, &[]))
    }

    /// Binds a query that sees nothing of the statement around it.
    pub(super) fn apart<T>(&mut self, bind: impl FnOnce(&mut Self) -> SqlResult<T>) -> SqlResult<T> {
        let (common, recursions) =
            (std::mem::take(&mut self.common_tables), std::mem::take(&mut self.recursions));
        let hints = self.hints.take();
        let bound = bind(self);
        (self.common_tables, self.recursions, self.hints) = (common, recursions, hints);
        bound
    }

    /// The virtual table that FROM names; `None` if the schema is an ordinary one, 1109 if it has no such
    /// table.
    fn virtual_table(&self, schema: &str, name: &str) -> SqlResult<Option<&'static TableDecl>> {
        let found = || virtual_tables::find(self.dictionary_tables, self.host, schema, name);
        if schema == SYSTEM_SCHEMA && self.dictionary.table(schema, name).is_err() {
            // It may be one of those that hold nothing.
            return Ok(found());
        }
        if self.dictionary.schema(schema).is_some() || !is_virtual_schema(self.host, schema) {
            return Ok(None);
        }
        found().map(Some).ok_or_else(|| virtual_tables::unknown(schema, name))
    }

    /// Binds FROM into the innermost scope.
    pub fn from(&mut self, from: &[TableReference]) -> SqlResult<Option<JoinTree>> {
        let mut trees = Vec::with_capacity(from.len());
        for reference in from {
            trees.push(self.reference(reference)?);
        }
        Ok(match trees.len() {
            0 => None,
            1 => trees.pop(),
            _ => Some(JoinTree::Inner(trees, Vec::new())),
        })
    }

    fn reference(&mut self, reference: &TableReference) -> SqlResult<JoinTree> {
        match reference {
            TableReference::Table(factor) => self.factor(factor),
            TableReference::Derived(derived) => {
                let Some(alias) = &derived.alias else {
                    return Err(mysql_error!(ER_DERIVED_MUST_HAVE_ALIAS));
                };
                self.locking.check_unnamed(alias)?;
                let sees = if derived.lateral { Sees::TablesBefore } else { Sees::Nothing };
                self.derived_seeing(sees, &derived.query, &Named::derived(alias), &derived.columns)
            }
            TableReference::JsonTable(table) => self.json_table(table),
            TableReference::List(list) => {
                let mut trees = Vec::with_capacity(list.len());
                for reference in list {
                    trees.push(self.reference(reference)?);
                }
                Ok(JoinTree::Inner(trees, Vec::new()))
            }
            TableReference::Join(join) => self.join(join),
        }
    }

    fn join(&mut self, join: &ast::Join) -> SqlResult<JoinTree> {
        let place = |scope: &Scope| Place { source: scope.sources.len(), star: scope.star.len() };
        let first = place(self.scope());
        let left = self.reference(&join.left)?;
        let middle = place(self.scope());
        if join.kind == AstJoinKind::Right {
            // LATERAL on the right side of a RIGHT JOIN does not see the left side.
            self.scope().unseen.push(first.source..middle.source);
        }
        let right = self.reference(&join.right);
        if join.kind == AstJoinKind::Right {
            self.scope().unseen.pop();
        }
        let right = right?;
        match join.kind {
            AstJoinKind::Left => {
                self.scope().sources.iter_mut().skip(middle.source).for_each(|source| source.outer = true)
            }
            AstJoinKind::Right => {
                let left = self.scope().sources.iter_mut().take(middle.source).skip(first.source);
                left.for_each(|source| source.outer = true);
            }
            AstJoinKind::Inner | AstJoinKind::Straight => {}
        }
        let mut on = Vec::new();
        match &join.condition {
            JoinCondition::None => {}
            JoinCondition::On(condition) => {
                // ON sees the two operands only.
                let whole = std::mem::take(self.scope());
                let merged = whole.merged.iter().filter(|(source, _)| *source >= first.source);
                let visible = Scope {
                    sources: whole.sources.tail(first.source)?.to_vec(),
                    merged: merged.map(|(source, column)| (source - first.source, *column)).collect(),
                    clause: Clause::On,
                    ..Scope::default()
                };
                *self.scope() = visible;
                let bound = self.expr(condition);
                let inner = std::mem::replace(self.scope(), whole);
                self.scope().read_slots_outside(&inner.outer_slots);
                self.scope().read_outside(&inner.outer_columns);
                bound?.conjuncts(&mut on);
            }
            JoinCondition::Using(names) => {
                self.merge_columns(names, first, middle, join.kind, &mut on)?;
            }
            JoinCondition::Natural => {
                let names = self.common_names(first, middle)?;
                self.merge_columns(&names, first, middle, join.kind, &mut on)?;
            }
        }
        Ok(match join.kind {
            AstJoinKind::Inner | AstJoinKind::Straight => JoinTree::Inner(vec![left, right], on),
            AstJoinKind::Left => JoinTree::Left(Box::new(left), Box::new(right), on),
            AstJoinKind::Right => JoinTree::Left(Box::new(right), Box::new(left), on),
        })
    }

    /// USING and NATURAL: equalities of columns, which `*` and unqualified names then see once. The left
    /// operand of the join begins at `first`, the right one at `middle`.
    fn merge_columns(
        &mut self,
        names: &[String],
        first: Place,
        middle: Place,
        kind: AstJoinKind,
        on: &mut Vec<Expr>,
    ) -> SqlResult<()> {
        let scope = self.scope();
        let (left, right) = scope.star.tail(first.star)?.split_at(middle.star - first.star);
        let mut pairs = Vec::with_capacity(names.len());
        for name in names {
            // What was merged before is seen once; what two tables of an operand have without that is
            // ambiguous.
            let find = |range: std::ops::Range<usize>| {
                let mut found = range
                    .filter_map(|source| Some((source, scope.sources.get(source)?.column(name)?)))
                    .filter(|at| !scope.merged.contains(at));
                match (found.next(), found.next()) {
                    (Some(at), None) => Ok(at),
                    (Some(_), Some(_)) => Err(mysql_error!(ER_NON_UNIQ_ERROR, name, "from clause")),
                    (None, _) => Err(mysql_error!(ER_BAD_FIELD_ERROR, name, "from clause")),
                }
            };
            let left = find(first.source..middle.source)?;
            let right = find(middle.source..scope.sources.len())?;
            let column = |(source, column): (usize, usize)| scope.sources.at(source)?.expr(column);
            on.push(compare_leniently(Comparison::Equal, column(left)?, column(right)?)?);
            pairs.push(if kind == AstJoinKind::Right { (right, left) } else { (left, right) });
        }
        // The columns in common come first, in the order of the operand whose values they show; then what
        // only that operand has, then what only the other has.
        let [shown, other] = if kind == AstJoinKind::Right { [right, left] } else { [left, right] };
        let is_shown = |at: &&(usize, usize)| pairs.iter().any(|(shown, _)| shown == *at);
        let is_hidden = |at: &&(usize, usize)| pairs.iter().any(|(_, hidden)| hidden == *at);
        let mut order: Vec<(usize, usize)> = shown.iter().filter(is_shown).copied().collect();
        order.extend(shown.iter().filter(|at| !is_shown(at)));
        order.extend(other.iter().filter(|at| !is_hidden(at)));
        scope.merged.extend(pairs.iter().map(|(_, hidden)| *hidden));
        scope.star.truncate(first.star);
        scope.star.extend(order);
        Ok(())
    }

    /// The names that both operands of a NATURAL JOIN have.
    fn common_names(&mut self, first: Place, middle: Place) -> SqlResult<Vec<String>> {
        let scope = self.scope();
        let name = |at: &(usize, usize)| -> SqlResult<&String> {
            Ok(&scope.sources.at(at.0)?.columns.at(at.1)?.name)
        };
        let (left, right) = scope.star.tail(first.star)?.split_at(middle.star - first.star);
        let mut names: Vec<String> = Vec::new();
        let right: Vec<&String> = right.iter().map(name).collect::<SqlResult<_>>()?;
        for candidate in left.iter().map(name) {
            let candidate = candidate?;
            let is_known = names.iter().any(|known| same_name(known, candidate));
            if !is_known && right.iter().any(|name| same_name(name, candidate)) {
                names.push(candidate.clone());
            }
        }
        Ok(names)
    }

    fn factor(&mut self, factor: &ast::TableFactor) -> SqlResult<JoinTree> {
        let tree = self.named_table(factor)?;
        if !factor.partitions.is_empty() && !matches!(tree, JoinTree::Leaf(Leaf::Table(_))) {
            return Err(mysql_error!(ER_PARTITION_CLAUSE_ON_NONPARTITIONED));
        }
        Ok(tree)
    }

    fn named_table(&mut self, factor: &ast::TableFactor) -> SqlResult<JoinTree> {
        let alias = factor.alias.clone().unwrap_or_else(|| factor.name.name.clone());
        if factor.name.schema.is_none()
            && let Some(position) = self.recursions.iter().rposition(|table| table.name == factor.name.name)
        {
            return self.working_table(position, alias);
        }
        if factor.name.schema.is_none()
            && let Some(position) =
                self.common_tables.iter().rposition(|table| table.name == factor.name.name)
        {
            let common = self.common_tables.at(position)?.clone();
            // A common table sees only those before it.
            let later = self.common_tables.split_off(position);
            let bound = match super::select::mentions(&common.query, &common.name) {
                true if common.recursive => self.recursive(&common, &alias),
                _ => self.derived(&common.query, &Named::derived(&alias), &common.columns),
            };
            self.common_tables.extend(later);
            return bound;
        }
        let schema = self.schema_of(&factor.name)?;
        if !self.blind {
            self.accesses(&schema, &factor.name.name, palisade_session::environment::Access::Read)?;
        }
        if let Some(view) = self.seen_view(&schema, &factor.name.name).cloned() {
            if self.views.is_empty()
                && let Some(locks) = self.locks
            {
                locks.check_named((&schema, &factor.name.name), &alias, false)?;
            }
            if self.changes_views && self.depth == 0 && view.is_updatable {
                return self.view_in_place(&view, &alias);
            }
            return self.view(&view, &alias);
        }
        if let Some(view) = self.sys_view(&schema, &factor.name.name) {
            return self.sys_query(&view, &alias);
        }
        if let Some(table) = self.virtual_table(&schema, &factor.name.name)? {
            if let Some(ReadMode::Locked(LockMode::Exclusive, _)) = self.locking.mode_of(&schema, &alias)? {
                let command = "SELECT with locking clause";
                let SessionState { user, client_host, .. } = self.session;
                return Err(mysql_error!(
                    ER_TABLEACCESS_DENIED_ERROR,
                    command,
                    user,
                    client_host,
                    factor.name.name
                ));
            }
            let slot = self.new_slot();
            let name = factor.name.name.clone();
            let columns = table
                .columns
                .iter()
                .map(|column| {
                    let ty = column.column_type.sql_type();
                    let mut meta = ColumnMeta::computed(column.name, ty.clone());
                    meta.schema.clone_from(&schema);
                    meta.table.clone_from(&alias);
                    meta.org_table.clone_from(&name);
                    column.name.clone_into(&mut meta.org_name);
                    if !column.nullable {
                        meta.flags |= palisade_catalog::types::flags::NOT_NULL;
                    }
                    SourceColumn {
                        name: column.name.to_owned(),
                        ty,
                        nullable: column.nullable,
                        meta: Some(meta),
                        hidden: false,
                    }
                })
                .collect();
            self.cacheable = false;
            if schema.eq_ignore_ascii_case(palisade_session::virtual_tables::INFORMATION_SCHEMA) {
                // In MySQL they are views of tables that no account may read.
                self.hide_decisions(true, &schema, table.name);
            }
            if table.is_called("information_schema", "OPTIMIZER_TRACE") {
                // What reads traces leaves none.
                self.decisions = None;
            }
            if table.is_called("information_schema", "PROFILING") {
                let (what, instead) = ("INFORMATION_SCHEMA.PROFILING", "Performance Schema");
                self.warn(mysql_error!(ER_WARN_DEPRECATED_SYNTAX, what, instead));
            }
            let source = Source {
                slot,
                alias: alias.clone(),
                schema: schema.clone(),
                table: None,
                columns,
                outer: false,
                through: None,
            };
            self.add_source(source)?;
            return Ok(JoinTree::Leaf(Leaf::Virtual(VirtualLeaf { slot, table, alias })));
        }
        let table = self.stored_table(&schema, &factor.name.name, &alias)?;
        let mode = self.locking.mode_of(&schema, &alias)?.unwrap_or(self.read_mode);
        let locks_rows = matches!(mode, ReadMode::Locked(LockMode::Exclusive, _));
        if locks_rows && !self.blind {
            self.accesses(&schema, &factor.name.name, palisade_session::environment::Access::Lock)?;
        }
        self.locks_rows |= locks_rows;
        self.check_locks(&table, &alias, locks_rows)?;
        for hint in &factor.index_hints {
            for index in &hint.indexes {
                if table.index_number(index).is_none() {
                    return Err(mysql_error!(ER_KEY_DOES_NOT_EXITS, index, alias));
                }
            }
        }
        let block = self.scope().block;
        let hinted = self.index_hints(block, &alias, &table);
        let hints = hinted.unwrap_or_else(|| factor.index_hints.clone());
        if self.scopes.len() > 1 {
            self.subquery_reads.push(table.clone());
        }
        let slot = self.add_table(table.clone(), alias.clone())?;
        self.choose_partitions(slot, &table, &alias, &factor.partitions)?;
        let partitions = match table.partitioning.is_some() {
            true => self.partitions_of(slot, &table)?,
            false => None,
        };
        Ok(JoinTree::Leaf(Leaf::Table(TableLeaf { slot, table, alias, hints, mode, partitions })))
    }

    /// 1093 if a subquery reads `table`, which the statement changes under the name `alias`. A derived table
    /// may: its rows are all there before the first one is changed.
    pub fn refuse_own_reads(&self, table: &Arc<Table>, alias: &str) -> SqlResult<()> {
        match self.subquery_reads.iter().any(|read| Arc::ptr_eq(read, table)) {
            true => Err(mysql_error!(ER_UPDATE_TABLE_USED, alias)),
            false => Ok(()),
        }
    }

    /// Adds a stored table to the innermost scope; gives its slot.
    pub fn add_table(&mut self, table: Arc<Table>, alias: String) -> SqlResult<usize> {
        let slot = self.new_slot();
        self.bound += table.columns.len();
        if !self.tables.iter().any(|known| Arc::ptr_eq(known, &table)) {
            self.tables.push(table.clone());
        }
        self.add_source(Source::of_table(slot, alias, table))?;
        Ok(slot)
    }

    pub(super) fn add_source(&mut self, source: Source) -> SqlResult<()> {
        let scope = self.scope();
        if scope.sources.len() >= MAX_TABLES {
            return Err(mysql_error!(ER_TOO_MANY_TABLES, MAX_TABLES));
        }
        if scope.sources.iter().any(|known| known.alias == source.alias && known.schema == source.schema) {
            return Err(mysql_error!(ER_NONUNIQ_TABLE, source.alias));
        }
        self.locking.note(&source.schema, &source.alias);
        let scope = self.scope();
        let position = scope.sources.len();
        let visible = source.columns.iter().enumerate().filter(|(_, column)| !column.hidden);
        scope.star.extend(visible.map(|(column, _)| (position, column)));
        scope.sources.push(source);
        Ok(())
    }

    /// A step reads the rows of the round before.
    fn working_table(&mut self, position: usize, alias: String) -> SqlResult<JoinTree> {
        let depth = self.depth;
        let working = self.recursions.at_mut(position)?;
        working.reads += 1;
        if working.reads > 1 || working.depth != depth {
            return Err(mysql_error!(ER_CTE_RECURSIVE_REQUIRES_SINGLE_REFERENCE, working.name));
        }
        let (table, columns) = (working.number, working.columns.clone());
        let slot = self.new_slot();
        self.add_source(Source {
            slot,
            alias: alias.clone(),
            schema: String::new(),
            table: None,
            columns,
            outer: false,
            through: None,
        })?;
        Ok(JoinTree::Leaf(Leaf::Working { slot, table, alias }))
    }

    /// Binds a common table expression that reads itself.
    fn recursive(&mut self, common: &CommonTable, alias: &str) -> SqlResult<JoinTree> {
        let name = &common.name;
        let query = &*common.query;
        let ast::QueryBody::Combination { first, rest } = &query.body else {
            return Err(mysql_error!(ER_CTE_RECURSIVE_REQUIRES_UNION, name));
        };
        let reads = |body: &ast::QueryBody| super::select::body_mentions(body, name);
        if rest.iter().any(|term| term.operator != ast::SetOperator::Union) {
            return Err(not_supported("EXCEPT and INTERSECT in a recursive common table expression"));
        }
        if !query.order_by.is_empty() {
            return Err(not_supported("ORDER BY over UNION in recursive Common Table Expression"));
        }
        let steps_begin = rest.iter().position(|term| reads(&term.body)).unwrap_or(rest.len());
        let (seeds, terms) = rest.split_at(steps_begin);
        if reads(first) || terms.iter().any(|term| !reads(&term.body)) {
            return Err(mysql_error!(ER_CTE_RECURSIVE_REQUIRES_NONRECURSIVE_FIRST, name));
        }
        let own = self.take_scope()?;
        let reads = self.subquery_reads.len();
        let bound = self.nested(|binder| binder.recursion(common, first, seeds, terms));
        self.subquery_reads.truncate(reads);
        self.scopes.push(own);
        let (recursion, columns) = bound?;
        self.scope().read_slots_outside(&recursion.outer_slots);
        let slot = self.new_slot();
        self.add_source(Source {
            slot,
            alias: alias.to_owned(),
            schema: String::new(),
            table: None,
            columns: renamed(columns, alias),
            outer: false,
            through: None,
        })?;
        Ok(JoinTree::Leaf(Leaf::Recursive { slot, recursion: Box::new(recursion), alias: alias.to_owned() }))
    }

    fn recursion(
        &mut self,
        common: &CommonTable,
        first: &ast::QueryBody,
        seeds: &[ast::CombinationTerm],
        terms: &[ast::CombinationTerm],
    ) -> SqlResult<(LogicalRecursion, Vec<SourceColumn>)> {
        let seed_body = match seeds {
            [] => first.clone(),
            rest => ast::QueryBody::Combination { first: Box::new(first.clone()), rest: rest.to_vec() },
        };
        let seed_query = ast::Query { with: common.query.with.clone(), ..ast::Query::of(seed_body) };
        let seed = self.query(&seed_query)?;
        if !common.columns.is_empty() && common.columns.len() != seed.output.len() {
            return Err(mysql_error!(ER_VIEW_WRONG_LIST));
        }
        let mut columns = derived_columns(&seed, &common.name, &common.columns)?;
        // A step may give NULL where the seed does not.
        columns.iter_mut().for_each(|column| {
            column.nullable = true;
            if let Some(meta) = &mut column.meta {
                meta.flags &= !palisade_catalog::types::flags::NOT_NULL;
            }
        });
        let number = self.working_tables;
        self.working_tables += 1;
        let mut steps = Vec::with_capacity(terms.len());
        for term in terms {
            self.recursions.push(WorkingTable {
                name: common.name.clone(),
                number,
                columns: columns.clone(),
                depth: self.depth + 1,
                reads: 0,
            });
            let step_query =
                ast::Query { with: common.query.with.clone(), ..ast::Query::of(term.body.clone()) };
            let step = self.query(&step_query);
            self.recursions.pop();
            let step = step?;
            if step.output.len() != seed.output.len() {
                return Err(mysql_error!(ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT));
            }
            if step.aggregates() {
                return Err(mysql_error!(ER_CTE_RECURSIVE_FORBIDS_AGGREGATION, common.name));
            }
            steps.push(step);
        }
        let limit = self.limit(common.query.limit.as_ref())?;
        let mut outer_slots = seed.outer_slots.clone();
        for slot in steps.iter().flat_map(|step| &step.outer_slots) {
            if !outer_slots.contains(slot) {
                outer_slots.push(*slot);
            }
        }
        let recursion = LogicalRecursion {
            types: columns.iter().map(|column| column.ty.clone()).collect(),
            names: columns.iter().map(|column| column.name.clone()).collect(),
            distinct: seeds.iter().chain(terms).any(|term| !term.all),
            seed,
            steps,
            table: number,
            limit,
            outer_slots,
        };
        Ok((recursion, columns))
    }

    /// Binds a derived table or common table expression, which does not see the tables beside it.
    pub(super) fn derived(
        &mut self,
        query: &ast::Query,
        named: &Named<'_>,
        names: &[String],
    ) -> SqlResult<JoinTree> {
        self.derived_seeing(Sees::Nothing, query, named, names)
    }

    fn derived_seeing(
        &mut self,
        sees: Sees,
        query: &ast::Query,
        named: &Named<'_>,
        names: &[String],
    ) -> SqlResult<JoinTree> {
        let own = match sees {
            Sees::Nothing => Some(self.take_scope()?),
            Sees::TablesBefore => None,
        };
        self.derived_depth += 1;
        let reads = self.subquery_reads.len();
        let planned = self.nested(|binder| binder.query(query));
        self.subquery_reads.truncate(reads);
        self.derived_depth -= 1;
        let derived = self.last_derived.take();
        let is_apart = own.is_some();
        self.scopes.extend(own);
        let planned = planned?;
        if !names.is_empty() && names.len() != planned.output.len() {
            return Err(mysql_error!(ER_VIEW_WRONG_LIST));
        }
        if is_apart {
            self.scope().read_slots_outside(&planned.outer_slots);
            self.scope().read_outside(&planned.outer_columns);
        }
        let slot = self.new_slot();
        // What is known of the rows of LATERAL is so for each row of the tables that it reads.
        if let Some(derived) = derived.filter(|_| is_apart) {
            self.scope().derived.push((slot, derived));
        }
        let alias = named.alias.to_owned();
        let mut columns = derived_columns(&planned, &alias, names)?;
        for meta in columns.iter_mut().filter_map(|column| column.meta.as_mut()).filter(|_| named.is_view()) {
            meta.schema = named.schema.to_owned();
            meta.org_table = named.view.to_owned();
            meta.org_name.clone_from(&meta.name);
        }
        self.add_source(Source {
            slot,
            alias: alias.clone(),
            schema: named.schema.to_owned(),
            table: None,
            columns,
            outer: false,
            through: None,
        })?;
        let query = Box::new(planned);
        Ok(JoinTree::Leaf(Leaf::Derived { slot, query, alias, subquery: None }))
    }
}

/// The columns of a query as a table called `alias`; `names` are theirs if there are any.
pub(super) fn derived_columns(
    planned: &LogicalQuery,
    alias: &str,
    names: &[String],
) -> SqlResult<Vec<SourceColumn>> {
    let mut columns: Vec<SourceColumn> = Vec::with_capacity(planned.output.len());
    for (position, (output, meta)) in planned.output.iter().zip(&planned.columns).enumerate() {
        let name = names.get(position).cloned().unwrap_or_else(|| meta.name.clone());
        if columns.iter().any(|known| same_name(&known.name, &name)) {
            return Err(mysql_error!(ER_DUP_FIELDNAME, name));
        }
        let mut meta = meta.clone();
        meta.name.clone_from(&name);
        meta.table = alias.to_owned();
        columns.push(SourceColumn {
            name,
            ty: output.ty.clone(),
            nullable: output.nullable,
            meta: Some(meta),
            hidden: false,
        });
    }
    Ok(columns)
}

/// The columns under another name of the table.
fn renamed(mut columns: Vec<SourceColumn>, alias: &str) -> Vec<SourceColumn> {
    for meta in columns.iter_mut().filter_map(|column| column.meta.as_mut()) {
        meta.table = alias.to_owned();
    }
    columns
}
