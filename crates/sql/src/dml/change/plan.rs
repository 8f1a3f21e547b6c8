//! Planning an UPDATE or DELETE: what finds its rows, what is assigned to them, and whether all must be found first.

use std::sync::Arc;

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_engine::{ReadMode, Table};
use palisade_expr::error::not_supported;
use palisade_expr::place::At;
use palisade_expr::{Expr, Node};
use palisade_parser::ast::{self, DeleteTarget, TableReference};
use palisade_plan::bind::scope::{Clause, Scope, Source};
use palisade_plan::bind::{Binder, CommonTable};
use palisade_plan::join::{Joining, WantedOrder};
use palisade_plan::logical::{JoinTree, Order};
use palisade_plan::purpose::{Change, Purpose};
use palisade_plan::reads::index_of_slot;
use palisade_plan::rewritten::{Writer, name};
use palisade_plan::rules::outer_to_inner;
use palisade_plan::{Operator, Plan, Query};
use palisade_session::locked_tables::BELOW_VIEW;

use super::{ChangePlan, Target};
use crate::dml::foreign::family;
use crate::dml::insert::{Cell, refuse_generated, target_column, written_cell};
use crate::dml::returning::Returning;
use crate::dml::through::view_checks;
use crate::{Access, SqlResult};

/// What an UPDATE or a DELETE says after its tables and assignments.
struct Clauses<'s> {
    filter: Option<&'s ast::Expr>,
    order_by: &'s [ast::OrderItem],
    limit: Option<&'s ast::Limit>,
    ignore: bool,
    returning: &'s [ast::SelectItem],
    /// It names one table, not a join.
    single: bool,
}

/// Binds an UPDATE.
pub fn bind_update(mut binder: Binder<'_>, update: &ast::Update) -> SqlResult<ChangePlan> {
    if let Some(with) = &update.with {
        binder.common_tables.extend(CommonTable::all(with));
    }
    let mut single = matches!(update.tables.as_slice(), [TableReference::Table(_)]);
    if !single {
        refuse_order("UPDATE", &update.order_by, update.limit.as_ref())?;
    }
    binder.read_mode = ReadMode::Change;
    binder.scopes.push(Scope { block: 1, ..Scope::default() });
    let blind =
        single && update.filter.is_none() && update.order_by.is_empty() && update.returning.is_empty();
    binder.blind = blind;
    if let [TableReference::Table(factor)] = update.tables.as_slice() {
        let schema = binder.schema_of(&factor.name)?;
        binder.accesses(&schema, &factor.name.name, Access::Update)?;
    }
    binder.changes_views = true;
    let tree = binder.from(&update.tables)?.ok_or_else(|| mysql_error!(ER_NO_TABLES_USED))?;
    (binder.blind, binder.changes_views) = (false, false);
    if single && joins_tables(binder.scope()) {
        refuse_order("UPDATE", &update.order_by, update.limit.as_ref())?;
        single = false;
    }
    let mut targets: Vec<Target> = Vec::new();
    for assignment in &update.assignments {
        bind_assignment(&mut binder, update, assignment, &mut targets, blind)?;
    }
    refuse_two_tables(&targets, binder.scope())?;
    let mut sources = binder.scope().sources.clone();
    sources.extend(binder.scope().beneath.iter().map(|beneath| beneath.source.clone()));
    note_self_joins(&mut targets, &sources);
    refuse_moved_keys(&targets, &sources)?;
    let clauses = Clauses {
        filter: update.filter.as_ref(),
        order_by: &update.order_by,
        limit: update.limit.as_ref(),
        ignore: update.ignore,
        returning: &update.returning,
        single,
    };
    finish_change(binder, tree, targets, clauses)
}

/// Binds an assignment of an UPDATE. Of a `blind` one nothing has been asked to be read yet.
fn bind_assignment(
    binder: &mut Binder<'_>,
    update: &ast::Update,
    assignment: &ast::ColumnAssignment,
    targets: &mut Vec<Target>,
    blind: bool,
) -> SqlResult<()> {
    let names_it = matches!(update.tables.as_slice(), [TableReference::Table(_)]);
    binder.scope().clause = Clause::Fields;
    let column = binder.resolve(&assignment.column)?;
    let Node::Column { slot, column, .. } = column.node else {
        return Err(mysql_error!(ER_NONUPDATEABLE_COLUMN, assignment.column.column));
    };
    let scope = binder.scope();
    let source = scope.table_in(slot);
    let alias = scope.view_over(slot).or(source).map(|source| source.alias.clone());
    let Some(table) = source.and_then(|source| source.table.clone()) else {
        let alias = alias.or(assignment.column.table.clone()).unwrap_or_default();
        return Err(mysql_error!(ER_NON_UPDATABLE_TABLE, alias, "UPDATE"));
    };
    if binder.scope().view_over(slot).is_none() {
        target_column(&table, &ast::ColumnName { table: None, schema: None, ..assignment.column.clone() })?;
    }
    let value = match &assignment.value {
        ast::Expr::Default => Cell::Default,
        value => Cell::Expr(binder.expr(value)?),
    };
    refuse_generated(&table, column, &value)?;
    let position = match targets.iter().position(|target| target.slot == slot) {
        Some(position) => position,
        None => {
            binder.changes(slot, Access::Update, names_it)?;
            targets.push(target(binder, table, slot)?);
            targets.len() - 1
        }
    };
    let target = targets.at_mut(position)?;
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
            if let [TableReference::Table(factor)] = update.tables.as_slice() {
                let schema = binder.schema_of(&factor.name)?;
                binder.accesses(&schema, &factor.name.name, Access::Read)?;
            }
            binder.changes(slot, Access::Read, true)?;
        }
    }
    target.assignments.push((column, value));
    Ok(())
}

/// Binds a DELETE.
pub fn bind_delete(mut binder: Binder<'_>, delete: &ast::Delete) -> SqlResult<ChangePlan> {
    if let Some(with) = &delete.with {
        binder.common_tables.extend(CommonTable::all(with));
    }
    // Unlike an UPDATE, as in MySQL: it waits for rows that are being changed, and judges what they become.
    binder.read_mode = ReadMode::ChangeJoined;
    binder.scopes.push(Scope { block: 1, ..Scope::default() });
    let (tree, names, single) = match &delete.target {
        DeleteTarget::Single(reference) => {
            binder.blind =
                delete.filter.is_none() && delete.order_by.is_empty() && delete.returning.is_empty();
            if let TableReference::Table(factor) = reference {
                let schema = binder.schema_of(&factor.name)?;
                binder.accesses(&schema, &factor.name.name, Access::Delete)?;
            }
            binder.changes_views = true;
            let tree = binder.from(std::slice::from_ref(reference))?;
            (binder.blind, binder.changes_views) = (false, false);
            (tree, None, true)
        }
        DeleteTarget::Multi { targets, tables } => {
            binder.changes_views = true;
            let tree = binder.from(tables)?;
            binder.changes_views = false;
            (tree, Some(targets), false)
        }
    };
    let tree = tree.ok_or_else(|| mysql_error!(ER_NO_TABLES_USED))?;
    let mut targets = Vec::new();
    let sources = binder.scope().sources.clone();
    match names {
        None => {
            for source in &sources {
                let (table, slot) = deleted_from(&binder, source)?;
                binder.changes(slot, Access::Delete, true)?;
                targets.push(target(&mut binder, table, slot)?);
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
                let (table, slot) = deleted_from(&binder, source)?;
                binder.changes(slot, Access::Delete, false)?;
                targets.push(target(&mut binder, table, slot)?);
            }
        }
    }
    let clauses = Clauses {
        filter: delete.filter.as_ref(),
        order_by: &delete.order_by,
        limit: delete.limit.as_ref(),
        ignore: delete.ignore,
        returning: &delete.returning,
        single,
    };
    finish_change(binder, tree, targets, clauses)
}

/// Whether there is more than one table below the view that FROM names.
fn joins_tables(scope: &Scope) -> bool {
    scope.beneath.len() > 1
}

/// 1221 for ORDER BY and LIMIT of a statement that changes a join.
fn refuse_order(verb: &str, order_by: &[ast::OrderItem], limit: Option<&ast::Limit>) -> SqlResult<()> {
    match (order_by, limit) {
        ([], None) => Ok(()),
        (_, limit) => {
            Err(mysql_error!(ER_WRONG_USAGE, verb, if limit.is_some() { "LIMIT" } else { "ORDER BY" }))
        }
    }
}

/// 1393 if columns of two tables below one view are assigned to.
fn refuse_two_tables(targets: &[Target], scope: &Scope) -> SqlResult<()> {
    for through in scope.sources.iter().filter_map(|source| source.through.as_ref()) {
        if targets.iter().filter(|target| through.slots.contains(&target.slot)).count() > 1 {
            return Err(mysql_error!(ER_VIEW_MULTIUPDATE, through.schema, through.name));
        }
    }
    Ok(())
}

/// The table that DELETE takes rows of where FROM has `source`: 1288 if it is none, 1395 for a view of
/// several.
fn deleted_from(binder: &Binder<'_>, source: &Source) -> SqlResult<(Arc<Table>, usize)> {
    let slot = match source.through.as_deref() {
        None => source.slot,
        Some(through) => match through.slots.as_slice() {
            [only] => *only,
            _ => return Err(mysql_error!(ER_VIEW_DELETE_MERGE_VIEW, through.schema, through.name)),
        },
    };
    let scope = binder.scopes.last();
    let found = scope.and_then(|scope| scope.table_in(slot)).and_then(|source| source.table.clone());
    match found {
        Some(table) => Ok((table, slot)),
        None => Err(mysql_error!(ER_NON_UPDATABLE_TABLE, source.alias, "DELETE")),
    }
}

fn target(binder: &mut Binder<'_>, table: Arc<Table>, slot: usize) -> SqlResult<Target> {
    let checks = view_checks(binder.scope(), slot);
    let outer = std::mem::take(binder.scope());
    let own: Vec<_> = outer.table_in(slot).cloned().into_iter().collect();
    let is_below = outer.view_over(slot).is_some();
    let alias = |source: &Source| if is_below { BELOW_VIEW.to_owned() } else { source.alias.clone() };
    let locked = own.iter().try_for_each(|source| binder.check_locks(&table, &alias(source), true));
    *binder.scope() = Scope { sources: own, ..Scope::default() };
    let bound = locked.and_then(|()| binder.rules(&table));
    *binder.scope() = outer;
    let (mut rules, family) = (bound?, family(binder, &table)?);
    rules.checks.extend(checks);
    let assignments = Vec::new();
    Ok(Target { table, slot, index: None, assignments, sequential: false, is_shared: false, rules, family })
}

fn finish_change(
    mut binder: Binder<'_>,
    mut tree: JoinTree,
    mut targets: Vec<Target>,
    clauses: Clauses<'_>,
) -> SqlResult<ChangePlan> {
    let Clauses { filter, order_by, limit, ignore, returning, single } = clauses;
    let is_update = targets.iter().any(|target| !target.assignments.is_empty());
    if !single {
        let changed: Vec<usize> = targets.iter().map(|target| target.slot).collect();
        tree.change_joined(&changed);
    }
    let mut conditions = match filter {
        Some(filter) => binder.filter(filter)?,
        None => Vec::new(),
    };
    conditions.append(&mut binder.scope().view_conditions);
    let condition = if single { Expr::all_of(conditions.clone()) } else { None };
    binder.scope().clause = Clause::Order;
    let keys = binder.order_keys(order_by)?;
    let limit = binder.limit(limit)?;
    let returning = match targets.as_slice() {
        [target] => {
            let table = target.table.clone();
            Returning::bind(&mut binder, returning, (&table, &table.name))?
        }
        _ if returning.is_empty() => None,
        _ => return Err(not_supported("RETURNING of a statement that changes several tables")),
    };
    let scope = binder.take_scope()?;
    for target in &targets {
        let source = scope.view_over(target.slot).or_else(|| scope.table_in(target.slot));
        binder.refuse_own_reads(&target.table, source.map_or(&target.table.name, |source| &source.alias))?;
    }
    outer_to_inner(&mut tree, &conditions);
    let mut sources = scope.sources.clone();
    sources.extend(scope.beneath.iter().map(|beneath| beneath.source.clone()));
    sources.retain(|source| source.through.is_none());
    let local: Vec<usize> = sources.iter().map(|source| source.slot).collect();
    let order = match keys.first().map(|key| &key.expr.node) {
        Some(Node::Column { slot, .. }) if single => {
            let slot = *slot;
            let columns = keys.iter().map(|key| match &key.expr.node {
                Node::Column { column, .. } if !key.expr.has_own_collation() => {
                    Some((*column, key.descending))
                }
                _ => None,
            });
            let keys = columns.collect::<Option<Vec<_>>>();
            keys.map(|keys| WantedOrder { slot, keys, limit: None, groups: None })
        }
        _ => None,
    };
    let (hints, is_straight) = match binder.hints.is_some() {
        true => {
            binder.scopes.push(scope);
            binder.note_hinted_tables(1);
            let hints = binder.block_hints(1, &local);
            binder.scopes.pop();
            hints
        }
        false => Default::default(),
    };
    let used = local.iter().map(|slot| (*slot, None)).collect();
    let wants_order = order.is_some();
    let straight = is_straight;
    let mut joining = Joining { local, used, order, limit: None, group: None, straight, hints };
    let needs_key = binder.session.variables.sql_safe_updates && limit.is_none();
    let mut collect = false;
    let mut told = None;
    let plan = binder.finish_with(None, |planner, _, subqueries| {
        if planner.notes {
            let order = Order { keys: keys.clone(), limit: limit.clone() };
            let [from, rest] = Writer::new(subqueries).change(&tree, &conditions, &order);
            let writer = Writer::new(subqueries);
            let head = head_of(&targets, &sources, (is_update, ignore, single), (&from, &writer));
            let returned = returning.as_ref().map(|returning| returning.written(&writer));
            told = Some(head + &rest + &returned.unwrap_or_default());
        }
        if let (Some(order), Some(limit)) = (&mut joining.order, &limit) {
            order.limit = planner.rows_of_limit(limit);
        }
        let planned = planner.joins(tree, conditions, joining)?;
        let is_found = |target: &Target| by_key(&planned.operator, target.slot);
        if needs_key && !targets.iter().all(is_found) {
            return Err(mysql_error!(ER_UPDATE_WITHOUT_KEY_IN_SAFE_MODE, ""));
        }
        collect = !single || targets.iter().any(|target| moves(&planned.operator, target));
        let mut root = planned.operator;
        let in_order = planned.ordered && wants_order;
        if !keys.is_empty() && !in_order {
            let mut slots = Vec::new();
            root.slots(&mut slots);
            let input = Box::new(root);
            root = Operator::Sort { input, keys, slots, limit: limit.clone(), distinct: false };
            collect = false;
        }
        if let Some(limit) = limit {
            root = Operator::Limit { input: Box::new(root), limit };
        }
        Ok(Some(Query {
            root,
            output: Vec::new(),
            columns: Vec::new().into(),
            rows: planned.rows,
            cost: planned.cost,
            outer_slots: Vec::new(),
            outer_columns: Vec::new(),
            deciding_columns: None,
            counted_limit: None,
        }))
    })?;
    let is_read = |query: &Arc<Query>| targets.iter().any(|target| query.root.reads(&target.table));
    collect |= plan.subqueries.iter().flatten().any(is_read);
    let purpose = Purpose::Change(Change {
        is_update,
        targets: targets.iter().map(|target| (target.slot, target.table.name.clone())).collect(),
        is_of_one_table: single,
        collects: collect,
    });
    let mut plan = Plan { purpose, ..plan };
    if let Some(query) = &plan.query {
        targets.iter_mut().for_each(|target| target.index = index_of_slot(&query.root, target.slot));
    }
    if let (Some(told), Some(text)) = (&mut plan.told, told) {
        told.text = text;
    }
    let plan = Arc::new(plan);
    Ok(ChangePlan { plan, targets, condition, ignore, collect, is_update, returning })
}

/// What an UPDATE or DELETE changes, as EXPLAIN writes it: all before WHERE.
fn head_of(
    targets: &[Target],
    sources: &[Source],
    (is_update, ignore, single): (bool, bool, bool),
    (from, writer): (&str, &Writer<'_>),
) -> String {
    let ignore = if ignore { "ignore " } else { "" };
    if !is_update {
        let named = |target: &Target| format!("{}.{}", name(&target.table.schema), name(&target.table.name));
        let names = targets.iter().map(named).collect::<Vec<_>>().join(", ");
        return match single {
            true => format!("delete {ignore}from {from}"),
            false => format!("delete {ignore}{names} from {from}"),
        };
    }
    let mut assignments = Vec::new();
    for target in targets {
        let source = sources.iter().find(|source| source.slot == target.slot);
        let alias = source.map_or(&target.table.name, |source| &source.alias);
        for (column, value) in &target.assignments {
            let column = target.table.columns.get(*column).map_or("", |column| &column.name);
            let value = written_cell(value, writer);
            let place = format!("{}.{}.{}", name(&target.table.schema), name(alias), name(column));
            assignments.push(format!("{place} = {value}"));
        }
    }
    format!("update {ignore}{from} set {}", assignments.join(","))
}

/// Of a table that is joined with itself all assignments are computed from the rows as they were found.
fn note_self_joins(targets: &mut [Target], sources: &[Source]) {
    let ids: Vec<u64> = targets.iter().map(|target| target.table.id).collect();
    for target in targets {
        let is_own =
            |source: &&Source| source.table.as_ref().is_some_and(|table| table.id == target.table.id);
        target.sequential &= sources.iter().filter(is_own).count() == 1;
        target.is_shared = ids.iter().filter(|id| **id == target.table.id).count() > 1;
    }
}

/// 1706 if a table is changed under two names, and its primary key under one of them.
fn refuse_moved_keys(targets: &[Target], sources: &[Source]) -> SqlResult<()> {
    let alias = |target: &Target| {
        let source = sources.iter().find(|source| source.slot == target.slot);
        source.map(|source| source.alias.clone()).unwrap_or_default()
    };
    let moves = |target: &Target| {
        let key = target.table.indexes.first();
        let parts = key.into_iter().flat_map(|key| &key.parts);
        let is_key = |column: usize| parts.clone().any(|part| usize::from(part.column) == column);
        target.assignments.iter().any(|(column, _)| is_key(*column))
    };
    for (position, target) in targets.iter().enumerate() {
        for other in targets.iter().skip(position + 1) {
            if target.table.id == other.table.id && (moves(target) || moves(other)) {
                let (first, second) =
                    if target.slot < other.slot { (target, other) } else { (other, target) };
                return Err(mysql_error!(ER_MULTI_UPDATE_KEY_CONFLICT, alias(first), alias(second)));
            }
        }
    }
    Ok(())
}

/// Whether the rows of a slot are found by a key.
fn by_key(operator: &Operator, slot: usize) -> bool {
    match operator {
        Operator::Scan { slot: own, access, .. } if *own == slot => {
            access.unique || !access.equals.is_empty() || !access.alternatives.is_empty()
        }
        Operator::NestedLoop { .. }
        | Operator::HashJoin { .. }
        | Operator::Filter { .. }
        | Operator::Noted { .. } => operator.inputs().iter().any(|input| by_key(input, slot)),
        _ => false,
    }
}

fn has_subquery(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |expr| found |= matches!(expr.node, Node::Subquery(_)));
    found
}

/// Whether the assignments can move a row within the index that finds it, or to another partition.
fn moves(operator: &Operator, target: &Target) -> bool {
    match operator {
        Operator::Scan { access, .. } => {
            let is_changed = |column: &usize| {
                target.table.columns.get(*column).is_none_or(|known| known.generated.is_some())
                    || target.assignments.iter().any(|(assigned, _)| assigned == column)
            };
            let partitions = target.rules.partitions.as_ref();
            let goes_elsewhere =
                partitions.is_some_and(|partitions| partitions.scheme.columns().iter().any(is_changed));
            !access.unique
                && (goes_elsewhere
                    || palisade_plan::access::index_columns(&target.table, access.index)
                        .any(|column| is_changed(&column)))
        }
        Operator::Filter { input, .. } | Operator::Noted { input, .. } => moves(input, target),
        Operator::IndexMerge { inputs, .. } => inputs.iter().any(|input| moves(input, target)),
        _ => true,
    }
}
