//! UPDATE and DELETE.
//!
//! Rows are read in their latest version without locking them, changed by the version that was read, and read again
//! if someone was faster. What is joined with them or read in subqueries, and not changed, is read as the statement's source. Where a change could move a row ahead of the scan that found it, all rows are found first.

use std::collections::HashSet;
use std::sync::Arc;

use palisade_base::error_catalogue::*;
use palisade_base::{Blocked, mysql_error};
use palisade_catalog::{RowView, Value, ValueRef, key, row};
use palisade_engine::{
    Error as EngineError, LockMode, LockWait, ReadMode, RowBuf, RowStamp, Table, UpdateOutcome,
};
use palisade_parser::ast::{self, DeleteTarget, Statement, TableReference};

use super::foreign::{Family, is_violation};
use super::insert::{Cell, refuse_generated, row_error, target_column};
use super::store::{RowRules, duplicate_entry, in_table};
use crate::bind::scope::{Clause, Scope};
use crate::bind::{Binder, CommonTable, not_supported};
use crate::exec::State;
use crate::expr::context::view;
use crate::expr::{Context, Expr, Node, Slot};
use crate::plan::join::{JoinPlanner, WantedOrder};
use crate::plan::{Operator, Plan, Query};
use crate::run::drive;
use crate::sql::{CachedStatement, Prepared, Sql};
use crate::work::Work;
use crate::{Access, Completion, Session, SqlAttempt, SqlResult};

/// An UPDATE or DELETE, planned.
#[derive(Debug)]
pub struct ChangePlan {
    /// What finds the rows.
    plan: Arc<Plan>,
    targets: Vec<Target>,
    /// The whole WHERE, to test a row that was read again; only with a single table.
    condition: Option<Expr>,
    ignore: bool,
    /// Rows are found before any is changed.
    collect: bool,
    is_update: bool,
}

impl ChangePlan {
    /// What finds the rows.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}

/// A table whose rows are changed.
#[derive(Debug)]
struct Target {
    table: Arc<Table>,
    slot: usize,
    /// UPDATE's assignments; none for DELETE.
    assignments: Vec<(usize, Cell)>,
    /// An assignment reads a column assigned before it.
    sequential: bool,
    rules: RowRules,
    family: Option<Arc<Family>>,
}

impl Binder<'_> {
    /// Binds an UPDATE.
    pub fn update(mut self, update: &ast::Update) -> SqlResult<ChangePlan> {
        if let Some(with) = &update.with {
            self.common_tables.extend(CommonTable::all(with));
        }
        let single = matches!(update.tables.as_slice(), [TableReference::Table(_)]);
        if !single && (!update.order_by.is_empty() || update.limit.is_some()) {
            return Err(mysql_error!(
                ER_WRONG_USAGE,
                "UPDATE",
                if update.limit.is_some() { "LIMIT" } else { "ORDER BY" }
            ));
        }
        self.read_mode = ReadMode::Change;
        self.scopes.push(Scope::default());
        let blind = single && update.filter.is_none() && update.order_by.is_empty();
        self.blind = blind;
        if let [TableReference::Table(factor)] = update.tables.as_slice() {
            let schema = self.schema_of(&factor.name)?;
            self.accesses(&schema, &factor.name.name, Access::Update)?;
        }
        let tree = self.from(&update.tables)?.ok_or_else(|| mysql_error!(ER_NO_TABLES_USED))?;
        self.blind = false;
        let mut targets: Vec<Target> = Vec::new();
        for assignment in &update.assignments {
            self.scope().clause = Clause::Fields;
            let column = self.resolve(&assignment.column)?;
            let Node::Column { slot, column, .. } = column.node else {
                return Err(mysql_error!(ER_BAD_FIELD_ERROR, assignment.column.column, "field list"));
            };
            let source = self.scope().sources.iter().find(|source| source.slot == slot);
            let schema = source.map(|source| source.schema.clone()).unwrap_or_default();
            let Some(table) = source.and_then(|source| source.table.clone()) else {
                return Err(mysql_error!(
                    ER_NON_UPDATABLE_TABLE,
                    assignment.column.table.clone().unwrap_or_default(),
                    "UPDATE"
                ));
            };
            target_column(
                &table,
                &ast::ColumnName { table: None, schema: None, ..assignment.column.clone() },
            )?;
            let value = match &assignment.value {
                ast::Expr::Default => Cell::Default,
                value => Cell::Expr(self.expr(value)?),
            };
            refuse_generated(&table, column, &value)?;
            let position = match targets.iter().position(|target| target.slot == slot) {
                Some(position) => position,
                None => {
                    if !single {
                        self.accesses(&schema, &table.name, Access::Update)?;
                    }
                    targets.push(self.target(table, slot)?);
                    targets.len() - 1
                }
            };
            let target = &mut targets[position];
            if let Cell::Expr(expr) = &value {
                let assigned: Vec<usize> = target.assignments.iter().map(|(column, _)| *column).collect();
                let (mut reads, mut sequential) = (false, false);
                expr.walk(&mut |expr| {
                    if let Node::Column { slot: read, column, .. } = &expr.node {
                        reads |= *read == slot;
                        sequential |= *read == slot && assigned.contains(column);
                    }
                });
                // A subquery may read any of them.
                target.sequential |= sequential || has_subquery(expr) && !assigned.is_empty();
                if reads && blind {
                    self.accesses(&schema, &target.table.name, Access::Read)?;
                }
            }
            target.assignments.push((column, value));
        }
        self.finish_change(
            tree,
            targets,
            update.filter.as_ref(),
            &update.order_by,
            update.limit.as_ref(),
            update.ignore,
            single,
            true,
        )
    }

    /// Binds a DELETE.
    pub fn delete(mut self, delete: &ast::Delete) -> SqlResult<ChangePlan> {
        if let Some(with) = &delete.with {
            self.common_tables.extend(CommonTable::all(with));
        }
        // Unlike an UPDATE, as in MySQL: it waits for rows that are being changed, and judges what they become.
        self.read_mode = ReadMode::ChangeJoined;
        self.scopes.push(Scope::default());
        let (tree, names, single) = match &delete.target {
            DeleteTarget::Single(reference) => {
                self.blind = delete.filter.is_none() && delete.order_by.is_empty();
                if let TableReference::Table(factor) = reference {
                    let schema = self.schema_of(&factor.name)?;
                    self.accesses(&schema, &factor.name.name, Access::Delete)?;
                }
                let tree = self.from(std::slice::from_ref(reference))?;
                self.blind = false;
                (tree, None, true)
            }
            DeleteTarget::Multi { targets, tables } => (self.from(tables)?, Some(targets), false),
        };
        let tree = tree.ok_or_else(|| mysql_error!(ER_NO_TABLES_USED))?;
        let mut targets = Vec::new();
        let sources = self.scope().sources.clone();
        match names {
            None => {
                for source in &sources {
                    let Some(table) = &source.table else {
                        return Err(mysql_error!(ER_NON_UPDATABLE_TABLE, source.alias, "DELETE"));
                    };
                    targets.push(self.target(table.clone(), source.slot)?);
                }
            }
            Some(names) => {
                for name in names {
                    let found = sources.iter().find(|source| {
                        source.alias == name.name
                            && name.schema.as_ref().is_none_or(|schema| *schema == source.schema)
                    });
                    let Some(source) = found else {
                        return Err(mysql_error!(ER_UNKNOWN_TABLE, name.name, "MULTI DELETE"));
                    };
                    let Some(table) = &source.table else {
                        return Err(mysql_error!(ER_NON_UPDATABLE_TABLE, source.alias, "DELETE"));
                    };
                    self.accesses(&source.schema, &table.name, Access::Delete)?;
                    targets.push(self.target(table.clone(), source.slot)?);
                }
            }
        }
        self.finish_change(
            tree,
            targets,
            delete.filter.as_ref(),
            &delete.order_by,
            delete.limit.as_ref(),
            delete.ignore,
            single,
            false,
        )
    }

    fn target(&mut self, table: Arc<Table>, slot: usize) -> SqlResult<Target> {
        let outer = std::mem::take(self.scope());
        let own: Vec<_> = outer.sources.iter().filter(|source| source.slot == slot).cloned().collect();
        let locked = own.iter().try_for_each(|source| self.check_locks(&table, &source.alias, true));
        *self.scope() = Scope { sources: own, ..Scope::default() };
        let bound = locked.and_then(|()| self.rules(&table));
        *self.scope() = outer;
        let (rules, family) = (bound?, self.family(&table)?);
        Ok(Target { table, slot, assignments: Vec::new(), sequential: false, rules, family })
    }

    #[allow(clippy::too_many_arguments)]
    fn finish_change(
        mut self,
        mut tree: crate::bind::from::JoinTree,
        targets: Vec<Target>,
        filter: Option<&ast::Expr>,
        order_by: &[ast::OrderItem],
        limit: Option<&ast::Limit>,
        ignore: bool,
        single: bool,
        is_update: bool,
    ) -> SqlResult<ChangePlan> {
        if !single {
            let changed: Vec<usize> = targets.iter().map(|target| target.slot).collect();
            tree.change_joined(&changed);
        }
        self.scope().clause = Clause::Where;
        let condition = match filter {
            Some(filter) => Some(self.expr(filter)?),
            None => None,
        };
        self.scope().clause = Clause::Order;
        let keys = self.order_keys(order_by)?;
        let limit = self.limit(limit)?;
        let mut conditions = Vec::new();
        if let Some(condition) = condition.clone() {
            condition.conjuncts(&mut conditions);
        }
        let scope = self.scopes.pop().expect("it was pushed when binding began");
        let local: Vec<usize> = scope.sources.iter().map(|source| source.slot).collect();
        let order = match keys.first().map(|key| &key.expr.node) {
            Some(Node::Column { slot, .. }) if single => {
                let slot = *slot;
                let columns = keys.iter().map(|key| match &key.expr.node {
                    Node::Column { column, .. } => Some((*column, key.descending)),
                    _ => None,
                });
                columns.collect::<Option<Vec<_>>>().map(|keys| WantedOrder { slot, keys, limit: None })
            }
            _ => None,
        };
        let used = local.iter().map(|slot| (*slot, None)).collect();
        let wants_order = order.is_some();
        let planner = JoinPlanner { binder: &self, local, used, order, straight: false };
        let pool = conditions.into_iter().map(|condition| planner.conjunct(condition)).collect();
        let planned = planner.tree(&tree, pool, &[]);
        if self.session.variables.sql_safe_updates && limit.is_none() {
            for target in &targets {
                if !by_key(&planned.operator, target.slot) {
                    return Err(mysql_error!(ER_UPDATE_WITHOUT_KEY_IN_SAFE_MODE, ""));
                }
            }
        }
        let mut collect = !single || targets.iter().any(|target| moves(&planned.operator, target));
        let mut root = planned.operator;
        let in_order = planned.ordered && wants_order;
        if !keys.is_empty() && !in_order {
            let mut slots = Vec::new();
            root.slots(&mut slots);
            root =
                Operator::Sort { input: Box::new(root), keys, slots, limit: limit.clone(), distinct: false };
            collect = false;
        }
        if let Some(limit) = limit {
            root = Operator::Limit { input: Box::new(root), limit };
        }
        collect |= self
            .subqueries
            .iter()
            .flatten()
            .any(|query| targets.iter().any(|target| reads(&query.root, &target.table)));
        let query = Query {
            root,
            output: Vec::new(),
            columns: Vec::new(),
            rows: planned.rows,
            outer_slots: Vec::new(),
            counted_limit: None,
        };
        let plan = Arc::new(self.finish(Some(query)));
        Ok(ChangePlan { plan, targets, condition: condition.filter(|_| single), ignore, collect, is_update })
    }
}

/// Whether the rows of a slot are found by a key.
fn by_key(operator: &Operator, slot: usize) -> bool {
    match operator {
        Operator::Scan { slot: own, access, .. } if *own == slot => {
            access.unique || !access.equals.is_empty() || !access.alternatives.is_empty()
        }
        Operator::NestedLoop { left, right, .. } | Operator::HashJoin { left, right, .. } => {
            by_key(left, slot) || by_key(right, slot)
        }
        Operator::Filter { input, .. } => by_key(input, slot),
        _ => false,
    }
}

fn has_subquery(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |expr| found |= matches!(expr.node, Node::Subquery(_)));
    found
}

fn reads(operator: &Operator, table: &Arc<Table>) -> bool {
    let mut tables = Vec::new();
    operator.tables(&mut tables);
    tables.iter().any(|known| Arc::ptr_eq(known, table))
}

/// Whether the assignments can move a row within the index that finds it.
fn moves(operator: &Operator, target: &Target) -> bool {
    match operator {
        Operator::Scan { access, .. } => {
            !access.unique
                && crate::plan::access::index_columns(&target.table, access.index).any(|column| {
                    target.table.columns[column].generated.is_some()
                        || target.assignments.iter().any(|(assigned, _)| *assigned == column)
                })
        }
        Operator::Filter { input, .. } => moves(input, target),
        _ => true,
    }
}

impl Sql {
    pub(crate) async fn change(
        &self,
        session: &mut Session,
        statement: &Statement,
        parameters: &[Value],
        prepared: Option<&Arc<Prepared>>,
    ) -> SqlResult<Completion> {
        let plan = match self.cached(session, parameters, prepared).as_deref() {
            Some(CachedStatement::Change(plan)) => {
                self.check_accesses(session, &plan.plan)?;
                plan.clone()
            }
            _ => {
                let plan = Arc::new(self.plan_change(session, statement, parameters)?);
                if plan.plan.cacheable {
                    self.keep(session, parameters, prepared, CachedStatement::Change(plan.clone()));
                }
                plan
            }
        };
        self.wait_for_purge(session).await?;
        let savepoint = self.begin_statement(session)?;
        let mut cx =
            Context::new(session, &**self.host(), self.engine(), parameters, Some(plan.plan.clone()));
        cx.strict = cx.mode().is_strict() && !plan.ignore;
        let mut run = ChangeRun {
            plan: &plan,
            matched: 0,
            changed: 0,
            old: RowBuf::new(),
            bytes: Vec::new(),
            new: Vec::new(),
        };
        let result = run.all(&mut cx).await;
        drop(cx);
        let (matched, changed) = (run.matched, run.changed);
        self.end_statement(session, savepoint, result.as_ref().err()).await?;
        result?;
        if !plan.is_update {
            return Ok(Completion { affected_rows: changed, ..Completion::default() });
        }
        let info =
            format!("Rows matched: {matched}  Changed: {changed}  Warnings: {}", session.warnings.count());
        let affected_rows = if session.client_found_rows { matched } else { changed };
        Ok(Completion { affected_rows, info, ..Completion::default() })
    }

    fn plan_change(
        &self,
        session: &Session,
        statement: &Statement,
        parameters: &[Value],
    ) -> SqlResult<ChangePlan> {
        let dictionary = self.engine().dictionary();
        let binder = Binder::new(session, &**self.host(), self.engine(), &dictionary, parameters);
        match statement {
            Statement::Update(update) => binder.update(update),
            Statement::Delete(delete) => binder.delete(delete),
            _ => Err(not_supported("this change of rows")),
        }
    }

    /// Whether a statement that changes rows can be planned: names and types are right.
    pub(crate) fn check_change(
        &self,
        session: &Session,
        statement: &Statement,
        parameters: &[Value],
    ) -> SqlResult<()> {
        if let Statement::Insert(insert) = statement {
            let dictionary = self.engine().dictionary();
            let binder = Binder::new(session, &**self.host(), self.engine(), &dictionary, parameters);
            return binder.insert(insert).map(drop);
        }
        self.plan_change(session, statement, parameters).map(drop)
    }
}

struct ChangeRun<'p> {
    plan: &'p ChangePlan,
    matched: u64,
    changed: u64,
    /// A row read again.
    old: RowBuf,
    /// The row being changed.
    bytes: Vec<u8>,
    new: Vec<u8>,
}

impl ChangeRun<'_> {
    async fn all(&mut self, cx: &mut Context<'_>) -> SqlResult<()> {
        let plan = self.plan;
        let query = plan.plan.query.as_ref().expect("a change has a query that finds its rows");
        let mut state = State::new(&query.root);
        if !plan.collect {
            let target = &plan.targets[0];
            while drive(cx, |cx| state.next(&query.root, cx)).await? {
                self.one(cx, target).await?;
            }
            return Ok(());
        }
        // Each target's rows, and with each the rows of all tables that were in place: assignments read those.
        let mut found: Vec<Vec<(Slot, Arc<[Slot]>)>> = plan.targets.iter().map(|_| Vec::new()).collect();
        let mut seen: Vec<HashSet<Vec<u8>>> = plan.targets.iter().map(|_| HashSet::new()).collect();
        let others: Vec<usize> = {
            let mut slots = Vec::new();
            query.root.slots(&mut slots);
            slots
        };
        let keeps_others = plan.is_update && others.len() > 1;
        let nothing: Arc<[Slot]> = Arc::new([]);
        let mut bytes = 0;
        while drive(cx, |cx| state.next(&query.root, cx)).await? {
            let mut joined: Option<Arc<[Slot]>> = None;
            for (position, target) in plan.targets.iter().enumerate() {
                let Some((table, row, _)) = cx.frame.slots[target.slot].stored() else { continue };
                let key = clustered_key(table, row)?;
                if !seen[position].insert(key) {
                    continue;
                }
                bytes += row.len() + 200;
                let kept = match keeps_others {
                    true => joined.get_or_insert_with(|| {
                        others.iter().map(|slot| cx.frame.slots[*slot].keep()).collect()
                    }),
                    false => &nothing,
                };
                bytes += kept.iter().map(Slot::size).sum::<usize>();
                found[position].push((cx.frame.slots[target.slot].keep(), kept.clone()));
                crate::exec::join::charge(bytes)?;
            }
        }
        for (target, rows) in plan.targets.iter().zip(found) {
            for (slot, kept) in rows {
                for (other, row) in others.iter().zip(kept.iter()) {
                    cx.frame.slots[*other] = row.clone();
                }
                cx.frame.slots[target.slot] = slot;
                self.one(cx, target).await?;
            }
        }
        Ok(())
    }

    /// Changes the row in the target's slot.
    async fn one(&mut self, cx: &mut Context<'_>, target: &Target) -> SqlResult<()> {
        let plan = self.plan;
        let Some((table, row, mut stamp)) = cx.frame.slots[target.slot].stored() else { return Ok(()) };
        let table = table.clone();
        self.bytes.clear();
        self.bytes.extend_from_slice(row);
        self.matched += 1;
        // A parent is locked before its children are looked for: it is read again for that.
        let mut unlocked = target.family.as_ref().is_some_and(|family| family.has_children());
        let mut locked = false;
        let kin = target.family.is_some() && (plan.ignore || !plan.is_update);
        // What the slot held before the row was read again: it is put back for the scan to go on.
        let mut before = None;
        loop {
            let outcome = if std::mem::take(&mut unlocked) {
                Ok(Some(UpdateOutcome::Changed))
            } else if kin {
                Box::pin(self.apply_with_kin(cx, target, &table, stamp)).await
            } else if plan.is_update {
                self.update(cx, target, &table, stamp).await
            } else {
                let bytes = &self.bytes;
                let deleted =
                    drive(cx, |cx| cx.transaction().delete(&table, stamp, bytes).map_err(Blocked::up));
                deleted.await.map(Some)
            };
            if let Some(before) = before.take() {
                cx.frame.slots[target.slot] = before;
            }
            match outcome? {
                // Matched is locked, changed or not.
                None if locked || self.hold(cx, &table, stamp).await? => return Ok(()),
                None | Some(UpdateOutcome::Changed) => {}
                Some(UpdateOutcome::Done) => {
                    self.changed += 1;
                    let work = if plan.is_update { Work::HandlerUpdate } else { Work::HandlerDelete };
                    cx.session.work.add(work, 1);
                    return Ok(());
                }
            }
            // Someone was faster: look at the row again, and queue for it with all others that want it.
            let key = clustered_key(&table, &self.bytes)?;
            let mut again = std::mem::take(&mut self.old);
            let found = read_locked(cx, &table, &key, &mut again).await?;
            let newly_locked = again.is_newly_locked();
            locked = true;
            if !found {
                self.matched -= 1;
                return Ok(());
            }
            stamp = again.stamp();
            self.bytes.clear();
            self.bytes.extend_from_slice(again.row());
            self.old = again;
            let row = Slot::Row { table: table.clone(), bytes: self.bytes.clone(), stamp };
            let known = std::mem::replace(&mut cx.frame.slots[target.slot], row);
            if let Some(condition) = &plan.condition
                && drive(cx, |cx| condition.test(cx)).await? != Some(true)
            {
                self.matched -= 1;
                cx.frame.slots[target.slot] = known;
                if newly_locked {
                    cx.transaction().unlock_row(&table, &key);
                }
                return Ok(());
            }
            before = Some(known);
        }
    }

    /// Locks the row in `self.bytes`, which is not changed after all; false if it is no longer the version `stamp`.
    async fn hold(&mut self, cx: &mut Context<'_>, table: &Arc<Table>, stamp: RowStamp) -> SqlResult<bool> {
        let key = clustered_key(table, &self.bytes)?;
        let found = read_locked(cx, table, &key, &mut self.old).await?;
        Ok(found && self.old.stamp() == stamp)
    }

    /// Changes the row in `self.bytes` with all that depends on it; `None` if it needs no change or was skipped.
    async fn apply_with_kin(
        &mut self,
        cx: &mut Context<'_>,
        target: &Target,
        table: &Arc<Table>,
        stamp: RowStamp,
    ) -> SqlResult<Option<UpdateOutcome>> {
        let before = cx.transaction().savepoint();
        let outcome = match self.plan.is_update {
            true => self.update(cx, target, table, stamp).await,
            false => self.delete_with_kin(cx, target, table, stamp).await.map(Some),
        };
        match outcome {
            Err(violation) if self.plan.ignore && is_violation(&violation) => {
                drive(cx, |cx| cx.transaction().rollback_to(before).map_err(Blocked::up)).await?;
                cx.session.warnings.warn(violation);
                Ok(None)
            }
            outcome => outcome,
        }
    }

    async fn delete_with_kin(
        &mut self,
        cx: &mut Context<'_>,
        target: &Target,
        table: &Arc<Table>,
        stamp: RowStamp,
    ) -> SqlResult<UpdateOutcome> {
        let bytes = &self.bytes;
        let family = target.family.as_ref().filter(|family| family.has_children());
        let Some(family) = family else {
            return drive(cx, |cx| cx.transaction().delete(table, stamp, bytes).map_err(Blocked::up)).await;
        };
        let old = view(table, bytes)?.to_values();
        family.check_delete(cx, &old).await?;
        let outcome =
            drive(cx, |cx| cx.transaction().delete(table, stamp, bytes).map_err(Blocked::up)).await?;
        if outcome == UpdateOutcome::Done {
            family.after_delete(cx, &old).await?;
        }
        Ok(outcome)
    }

    /// Updates the row in `self.bytes`; `None` if it needs no change or was skipped.
    async fn update(
        &mut self,
        cx: &mut Context<'_>,
        target: &Target,
        table: &Arc<Table>,
        stamp: RowStamp,
    ) -> SqlResult<Option<UpdateOutcome>> {
        let number = self.matched;
        let assigned = drive(cx, |cx| assigned_values(cx, target, &self.bytes, number)).await?;
        let Some(mut assigned) = assigned else { return Ok(None) };
        let old = view(table, &self.bytes)?;
        if target.rules.generates() || target.rules.checks() {
            let mut all: Vec<Value> = (0..table.columns.len())
                .map(|column| new_value(&old, &assigned, column).to_owned())
                .collect();
            if !Box::pin(self.follow_rules(cx, target, table, &mut all)).await? {
                return Ok(None);
            }
            for (column, value) in all.into_iter().enumerate() {
                if table.columns[column].generated.is_some() {
                    assigned.push((column, value));
                }
            }
        }
        let value = |column: usize| new_value(&old, &assigned, column);
        let kept = match &target.family {
            Some(family) => {
                let all = |column| new_value(&old, &assigned, column).to_owned();
                let new: Vec<Value> = (0..table.columns.len()).map(all).collect();
                let old = old.to_values();
                family.check_parents(cx, &new, Some(&old)).await?;
                family.check_update(cx, &old, &new).await?;
                Some((family, old, new))
            }
            None => None,
        };
        self.new.clear();
        row::encode_with(table, value, &mut self.new).map_err(row_error)?;
        let (bytes, new) = (&self.bytes, &self.new);
        let outcome = drive(cx, |cx| match cx.transaction().update(table, stamp, bytes, new) {
            Ok(outcome) => Ok(Ok(outcome)),
            Err(Blocked::Error(EngineError::DuplicateKey { index })) => Ok(Err(index)),
            Err(blocked) => Err(blocked.up()),
        })
        .await?;
        match outcome {
            Ok(UpdateOutcome::Done) => {
                if let Some((family, old, new)) = &kept {
                    family.after_update(cx, old, new).await?;
                }
                if let Some(column) = table.auto_increment_column()
                    && let Some((_, value)) = assigned.iter().find(|(assigned, _)| *assigned == column)
                    && let Value::Int(_) | Value::UInt(_) = value
                {
                    let wide = cx.to_integer(value.as_ref())?;
                    if let Ok(value) = u64::try_from(wide) {
                        drive(cx, |_| table.note_auto_increment(value).map_err(Blocked::up)).await?;
                    }
                }
                Ok(Some(UpdateOutcome::Done))
            }
            Ok(UpdateOutcome::Changed) => Ok(Some(UpdateOutcome::Changed)),
            Err(index) => {
                let error = duplicate_entry(table, index, |column| value(column).to_owned());
                if !self.plan.ignore {
                    return Err(error);
                }
                cx.session.warnings.warn(error);
                Ok(None)
            }
        }
    }
}

impl ChangeRun<'_> {
    /// Computes the generated columns of a row and checks it; false if IGNORE skips it. Apart from `update`, whose rows
    /// mostly have no rules, so that its future stays small.
    async fn follow_rules(
        &self,
        cx: &mut Context<'_>,
        target: &Target,
        table: &Arc<Table>,
        all: &mut [Value],
    ) -> SqlResult<bool> {
        let number = self.matched;
        drive(cx, |cx| cx.generate(&target.rules, table, target.slot, all, number)).await?;
        match drive(cx, |cx| cx.check_row(&target.rules, target.slot, all)).await {
            Err(violation)
                if self.plan.ignore && violation.number() == ER_CHECK_CONSTRAINT_VIOLATED.number =>
            {
                cx.session.warnings.warn(violation);
                Ok(false)
            }
            checked => checked.map(|()| true),
        }
    }
}

fn new_value<'v>(old: &RowView<'v>, assigned: &'v [(usize, Value)], column: usize) -> ValueRef<'v> {
    match assigned.iter().rev().find(|(known, _)| *known == column) {
        Some((_, value)) => value.as_ref(),
        None => old.column(column),
    }
}

/// The values assigned; `None` if they are those the row has already.
fn assigned_values(
    cx: &mut Context<'_>,
    target: &Target,
    bytes: &[u8],
    number: u64,
) -> SqlAttempt<Option<Vec<(usize, Value)>>> {
    let table = &target.table;
    let mut assigned: Vec<(usize, Value)> = Vec::with_capacity(target.assignments.len() + 1);
    let mut kept = None;
    let result = (|| -> SqlAttempt<()> {
        for (column, cell) in &target.assignments {
            let known = &table.columns[*column];
            let value = match cell {
                Cell::Default if known.generated.is_some() => continue,
                Cell::Default => cx.default_value(&target.rules.defaults[*column], known, number)?,
                Cell::Expr(expr) => {
                    let value = expr.eval(cx)?;
                    if value.is_null() && !known.nullable {
                        let error = mysql_error!(ER_BAD_NULL_ERROR, known.name);
                        cx.warn_or_fail(error)?;
                        palisade_catalog::store::implicit_default(known)
                    } else {
                        let stored = cx.store(value.as_ref(), &expr.ty, known, number);
                        stored.map_err(|error| in_table(error, table, known))?
                    }
                }
            };
            assigned.push((*column, value));
            if target.sequential {
                // What follows reads the new values.
                let old = view(table, bytes)?;
                let values: Vec<Value> = (0..table.columns.len())
                    .map(|column| new_value(&old, &assigned, column).to_owned())
                    .collect();
                let before = std::mem::replace(&mut cx.frame.slots[target.slot], Slot::Values(values.into()));
                kept.get_or_insert(before);
            }
        }
        Ok(())
    })();
    if let Some(before) = kept {
        cx.frame.slots[target.slot] = before;
    }
    result?;
    let old = view(table, bytes)?;
    let changed =
        assigned.iter().any(|(column, _)| new_value(&old, &assigned, *column) != old.column(*column));
    if !changed {
        return Ok(None);
    }
    for (column, known) in table.columns.iter().enumerate() {
        if known.on_update_now && !assigned.iter().any(|(known, _)| *known == column) {
            assigned.push((column, cx.store_now(known, number)?));
        }
    }
    Ok(Some(assigned))
}

/// Reads a row by its clustered key, and locks it.
async fn read_locked(
    cx: &mut Context<'_>,
    table: &Arc<Table>,
    key: &[u8],
    row: &mut RowBuf,
) -> SqlResult<bool> {
    let mode = ReadMode::Locked(LockMode::Exclusive, LockWait::Wait);
    drive(cx, |cx| cx.transaction().point_read(table, 0, key, mode, row).map_err(Blocked::up)).await
}

/// The clustered key of a row.
pub(crate) fn clustered_key(table: &Table, bytes: &[u8]) -> SqlResult<Vec<u8>> {
    let row = RowView::new(table.descriptor(), bytes).map_err(row_error)?;
    let mut out = Vec::with_capacity(16);
    key::entry_key(table, 0, &row, &mut out);
    Ok(out)
}
