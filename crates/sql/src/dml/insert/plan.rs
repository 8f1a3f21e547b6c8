//! Planning an INSERT or REPLACE: where its rows come from, into which columns they go, and what becomes of those that collide.

use std::sync::Arc;

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::descriptor::Visibility;
use palisade_catalog::{Column, PartitionSet, Value, ValueRef};
use palisade_engine::{ReadMode, Table};
use palisade_expr::error::not_supported;
use palisade_expr::place::At;
use palisade_expr::{Expr, Node};
use palisade_parser::ast::{self, InsertSource, QueryBody};
use palisade_plan::Plan;
use palisade_plan::bind::Binder;
use palisade_plan::bind::partition::as_kept;
use palisade_plan::bind::row_rules::{ColumnDefault, RowRules};
use palisade_plan::bind::scope::{Scope, Source, Through, same_name};
use palisade_plan::conditions::OuterSlots;
use palisade_plan::logical::LogicalQuery;
use palisade_plan::partition::{RowPartitions, shown_names};
use palisade_plan::premise::Looker;
use palisade_plan::purpose::Purpose;
use palisade_plan::rewritten::{Writer, name};
use palisade_session::locked_tables::BELOW_VIEW;

use super::{Cell, InsertPlan};
use crate::dml::foreign::family;
use crate::dml::returning::Returning;
use crate::dml::through::{Inserted, view_checks};
use crate::{Access, SqlResult};

/// What a row of VALUES counts as beside the expressions in it, in units of a nanosecond ...
const UNITS_A_ROW: usize = 128;
/// ... and a cell of it.
const UNITS_A_CELL: usize = 32;

impl Cell {
    /// Whether it reads a row in this slot.
    fn reads(&self, wanted: usize) -> bool {
        let Cell::Expr(expr) = self else { return false };
        let mut reads = false;
        expr.walk(&mut |expr| {
            reads |= matches!(&expr.node, Node::Column { slot, .. } if *slot == wanted);
        });
        reads
    }
}

/// The statement that gives rows to a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Giver {
    /// INSERT or REPLACE.
    Insert,
    /// LOAD DATA, as the INSERT of one row that stands for each of its lines.
    Load,
}

/// Binds an INSERT or REPLACE.
pub fn bind_insert(binder: Binder<'_>, insert: &ast::Insert) -> SqlResult<InsertPlan> {
    bind(binder, insert, Giver::Insert)
}

/// Binds the INSERT that LOAD DATA is.
pub fn bind_load(binder: Binder<'_>, insert: &ast::Insert) -> SqlResult<InsertPlan> {
    bind(binder, insert, Giver::Load)
}

fn bind(mut binder: Binder<'_>, insert: &ast::Insert, giver: Giver) -> SqlResult<InsertPlan> {
    let schema = binder.schema_of(&insert.table)?;
    let access = if insert.replace { Access::Replace } else { Access::Insert };
    binder.accesses(&schema, &insert.table.name, access)?;
    if !insert.on_duplicate.is_empty() {
        binder.accesses(&schema, &insert.table.name, Access::Update)?;
    }
    if binder.dictionary.schema(&schema).is_none() {
        palisade_session::virtual_tables::refuse_virtual(binder.host, &schema, binder.session)?;
    }
    binder.read_mode = ReadMode::Source;
    binder.scopes.push(Scope::default());
    let through = through_view(&mut binder, insert, (&schema, access), giver)?;
    let table = match &through {
        Some(through) => through.table.clone(),
        None => binder.stored_table(&schema, &insert.table.name, &insert.table.name)?,
    };
    let locked_as = if through.is_some() { BELOW_VIEW } else { &table.name };
    binder.check_locks(&table, locked_as, true)?;
    let mut columns = match &through {
        Some(through) if giver == Giver::Load => {
            insert.columns.iter().map(|name| through.column(name)).collect::<SqlResult<_>>()?
        }
        Some(through) => through.columns(&insert.columns)?,
        None => insert_columns(&table, insert)?,
    };
    if through.is_some() && !insert.partitions.is_empty() {
        return Err(mysql_error!(ER_PARTITION_CLAUSE_ON_NONPARTITIONED));
    }
    let (existing, rules) = match &through {
        Some(through) => (through.slot, view_rules(&mut binder, through, &columns, giver)?),
        None => {
            let existing = binder.add_table(table.clone(), table.name.clone())?;
            binder.choose_partitions(existing, &table, &table.name, &insert.partitions)?;
            (existing, binder.rules(&table)?)
        }
    };
    let inserted = binder.new_slot();
    let assigned_column = |name: &ast::ColumnName| match &through {
        Some(through) => through.column(name),
        None => target_column(&table, name),
    };
    let family = family(&mut binder, &table)?;
    let mut rows = Vec::new();
    let mut query = None;
    let mut buffered = false;
    let mut reads_row = false;
    match written_rows(&insert.source) {
        WrittenRows::Values(values) => {
            let all_defaults = insert.columns.is_empty() && values.iter().all(Vec::is_empty);
            for (number, value) in values.iter().enumerate() {
                binder.checkpoint(UNITS_A_ROW + UNITS_A_CELL * value.len())?;
                if value.len() != columns.len() && !all_defaults {
                    return Err(mysql_error!(ER_WRONG_VALUE_COUNT_ON_ROW, number + 1));
                }
                rows.push(cells(&mut binder, value)?);
                for (column, cell) in columns.iter().zip(rows.last().into_iter().flatten()) {
                    refuse_generated(&table, *column, cell)?;
                    reads_row |= cell.reads(existing);
                }
            }
            if all_defaults {
                columns.clear();
            }
            binder.refuse_own_reads(&table, &table.name)?;
        }
        WrittenRows::Query(source) => {
            let own = binder.take_scope()?;
            binder.keeps_sources = !insert.on_duplicate.is_empty() && is_block(&source.body);
            let planned = binder.query(source)?;
            buffered = !binder.subqueries.is_empty();
            binder.scopes.push(own);
            if planned.output.len() != columns.len() {
                return Err(mysql_error!(ER_WRONG_VALUE_COUNT_ON_ROW, 1));
            }
            for column in &columns {
                refuse_value(&table, table.columns.at(*column)?)?;
            }
            query = Some(planned);
        }
    }
    let own_sources = binder.scope().sources.len();
    // In ON DUPLICATE KEY UPDATE names mean the row that exists; VALUES() and the alias the new one.
    binder.scope().inserted = Some(inserted);
    if let Some(alias) = &insert.row_alias {
        let mut source = Source::of_table(inserted, alias.name.clone(), table.clone());
        source.table = None;
        source.schema = String::new();
        for (position, name) in alias.columns.iter().enumerate() {
            if let Some(column) = columns.get(position) {
                source.columns.at_mut(*column)?.name.clone_from(name);
            }
        }
        binder.scope().sources.push(source);
    }
    // ... and the names of the query's tables their rows.
    let sources = std::mem::take(&mut binder.kept_sources);
    let source_slots: Vec<usize> = sources.iter().map(|source| source.slot).collect();
    binder.scope().sources.extend(sources);
    let mut updates = Vec::with_capacity(insert.on_duplicate.len());
    for assignment in &insert.on_duplicate {
        let column = assigned_column(&assignment.column)?;
        let value = match &assignment.value {
            ast::Expr::Default => Cell::Default,
            value => Cell::Expr(binder.expr(value)?),
        };
        refuse_generated(&table, column, &value)?;
        let mut reads = false;
        if let Cell::Expr(expr) = &value {
            expr.walk(&mut |expr| reads |= matches!(expr.node, Node::Column { .. }));
        }
        if reads {
            binder.accesses(&schema, &insert.table.name, Access::Read)?;
            binder.changes(existing, Access::Read, true)?;
        }
        updates.push((column, value));
    }
    if query.is_none() {
        binder.refuse_own_reads(&table, &table.name)?;
    }
    let returning = bind_returning(&mut binder, insert, (&schema, &table), (existing, own_sources))?;
    binder.scopes.pop();
    let given = match &mut query {
        Some(query) if !source_slots.is_empty() => {
            read_given(&mut binder, query, &mut updates, &source_slots)?
        }
        _ => None,
    };
    let partitions = match &rules.partitions {
        Some(_) if binder.notes => shown_partitions(&binder, &table, (&columns, &rows), &rules),
        _ => Vec::new(),
    };
    let purpose = Purpose::Insert { is_replace: insert.replace, table: table.name.clone(), partitions };
    let head = binder.notes.then(|| head_of(insert, &table, &rows, &Writer::new(&binder.subqueries)));
    let tail = binder.notes.then(|| {
        let writer = Writer::new(&binder.subqueries);
        let returned = returning.as_ref().map(|returning| returning.written(&writer));
        tail_of(&table, &updates, &writer) + &returned.unwrap_or_default()
    });
    let mut plan = Plan { purpose, ..binder.finish(query)? };
    if let (Some(told), Some(head), Some(tail)) = (&mut plan.told, head, tail) {
        told.text = head + &told.text + &tail;
    }
    let plan = Arc::new(plan);
    buffered |= plan.query.as_ref().is_some_and(|query| query.root.reads(&table));
    Ok(InsertPlan {
        table,
        columns,
        rows,
        plan,
        rules,
        family,
        updates,
        existing,
        inserted,
        given,
        replace: insert.replace,
        ignore: insert.ignore,
        reads_row,
        buffered,
        returning,
    })
}

/// The partitions that rows of VALUES may go to, as far as constants tell; those of a query may go to all.
fn shown_partitions(
    binder: &Binder<'_>,
    table: &Table,
    (columns, rows): (&[usize], &[Vec<Cell>]),
    rules: &RowRules,
) -> Vec<String> {
    let Some(RowPartitions { scheme, chosen }) = rules.partitions.as_deref() else { return Vec::new() };
    let mut looker = Looker::new(binder.session, binder.host);
    let mut value_of = |column: usize, cells: &[Cell]| -> Option<Value> {
        let known = table.columns.get(column)?;
        let place = columns.iter().position(|given| *given == column);
        match place.and_then(|place| cells.get(place)) {
            Some(Cell::Expr(expr)) if expr.is_quick_constant() => {
                let value = looker.value(binder.host, binder.parameters, expr)?;
                if value.is_null() && known.auto_increment {
                    return None;
                }
                as_kept(known, &value, &expr.ty)
            }
            Some(Cell::Expr(_)) => None,
            Some(Cell::Default) | None => match rules.defaults.get(column)? {
                ColumnDefault::Value(value) if !known.auto_increment && known.generated.is_none() => {
                    Some(value.clone())
                }
                _ => None,
            },
        }
    };
    let mut found = Vec::with_capacity(rows.len());
    for cells in rows {
        let row = scheme.columns().iter().map(|column| value_of(*column, cells));
        found.push(row.collect::<Option<Vec<Value>>>());
    }
    let mut set = if rows.is_empty() { PartitionSet::all(scheme.count()) } else { PartitionSet::none() };
    for row in found {
        let Some(row) = row else {
            set = PartitionSet::all(scheme.count());
            break;
        };
        let value = |column: usize| {
            let place = scheme.columns().iter().position(|known| *known == column);
            place.and_then(|place| row.get(place)).map_or(ValueRef::Null, Value::as_ref)
        };
        if let Ok(Some(number)) = looker.place(binder.host, scheme, &value) {
            set.insert(number);
        }
    }
    if let Some(chosen) = chosen {
        set.intersect_with(chosen);
    }
    shown_names(table, &set)
}

/// Binds RETURNING, which sees the first sources of the scope, the statement's own, and asks for the right to
/// read them.
fn bind_returning(
    binder: &mut Binder<'_>,
    insert: &ast::Insert,
    (schema, table): (&str, &Arc<Table>),
    (existing, own_sources): (usize, usize),
) -> SqlResult<Option<Box<Returning>>> {
    if insert.returning.is_empty() {
        return Ok(None);
    }
    let scope = binder.scope();
    scope.sources.truncate(own_sources);
    scope.inserted = None;
    binder.accesses(schema, &insert.table.name, Access::Read)?;
    binder.changes(existing, Access::Read, true)?;
    Returning::bind(binder, &insert.returning, (table, &insert.table.name))
}

/// The view that an INSERT names, if it names one, bound in place.
fn through_view(
    binder: &mut Binder<'_>,
    insert: &ast::Insert,
    (schema, access): (&str, Access),
    giver: Giver,
) -> SqlResult<Option<Inserted>> {
    let name = ast::ObjectName { schema: Some(schema.to_owned()), name: insert.table.name.clone() };
    let Some(view) = binder.dictionary.visible_view(schema, &name.name) else { return Ok(None) };
    if !view.is_updatable {
        return Err(match giver {
            Giver::Insert => mysql_error!(ER_NON_INSERTABLE_TABLE, name.name, "INSERT"),
            Giver::Load => mysql_error!(ER_NON_UPDATABLE_TABLE, name.name, "LOAD"),
        });
    }
    let factor = ast::TableFactor { name, ..ast::TableFactor::default() };
    (binder.changes_views, binder.blind) = (true, true);
    let bound = binder.from(&[ast::TableReference::Table(factor)]);
    (binder.changes_views, binder.blind) = (false, false);
    bound?;
    let inserted = match giver {
        Giver::Insert => Inserted::of(binder.scope(), &insert.columns)?,
        Giver::Load => Inserted::loaded(binder.scope())?,
    };
    let Through { schema, name, slots, .. } = &*inserted.through;
    if insert.replace && slots.len() > 1 {
        return Err(mysql_error!(ER_VIEW_DELETE_MERGE_VIEW, schema, name));
    }
    binder.changes(inserted.slot, access, true)?;
    if !insert.on_duplicate.is_empty() {
        binder.changes(inserted.slot, Access::Update, true)?;
    }
    Ok(Some(inserted))
}

/// The rules of rows that are inserted through a view.
fn view_rules(
    binder: &mut Binder<'_>,
    through: &Inserted,
    columns: &[usize],
    giver: Giver,
) -> SqlResult<RowRules> {
    let checks = view_checks(binder.scope(), through.slot);
    let outer = std::mem::take(binder.scope());
    let own = outer.table_in(through.slot).cloned().into_iter().collect();
    *binder.scope() = Scope { sources: own, ..Scope::default() };
    let rules = binder.rules(&through.table);
    *binder.scope() = outer;
    let mut rules = rules?;
    rules.checks.extend(checks);
    let strict = giver == Giver::Insert && binder.session.variables.sql_mode.is_strict();
    through.check_defaults(&rules, columns, strict)?;
    Ok(rules)
}

/// A value as EXPLAIN writes it.
pub fn written_cell(cell: &Cell, writer: &Writer<'_>) -> String {
    match cell {
        Cell::Expr(expr) => writer.expr(expr),
        Cell::Default => "default".to_owned(),
    }
}

/// An INSERT up to its query, as EXPLAIN writes it.
fn head_of(insert: &ast::Insert, table: &Table, rows: &[Vec<Cell>], writer: &Writer<'_>) -> String {
    let verb = if insert.replace { "replace" } else { "insert" };
    let ignore = if insert.ignore { " ignore" } else { "" };
    let place = format!("{}.{}", name(&table.schema), name(&table.name));
    let mut text = format!("{verb}{ignore} into {place} ");
    let named: Vec<&str> = insert.columns.iter().map(|column| column.column.as_str()).collect();
    if !named.is_empty() {
        let columns = named.iter().map(|column| format!("{place}.{}", name(column)));
        text.push_str(&format!("({}) ", columns.collect::<Vec<_>>().join(",")));
    }
    if !rows.is_empty() {
        let cells = |row: &Vec<Cell>| row.iter().map(|cell| written_cell(cell, writer)).collect::<Vec<_>>();
        let rows = rows.iter().map(|row| format!("({})", cells(row).join(",")));
        text.push_str(&format!("values {}", rows.collect::<Vec<_>>().join(",")));
    }
    text
}

/// What follows the rows of an INSERT, as EXPLAIN writes it.
fn tail_of(table: &Table, updates: &[(usize, Cell)], writer: &Writer<'_>) -> String {
    let assigned = |(column, value): &(usize, Cell)| {
        let column = table.columns.get(*column).map_or("", |column| &column.name);
        let place = format!("{}.{}.{}", name(&table.schema), name(&table.name), name(column));
        format!("{place} = {}", written_cell(value, writer))
    };
    match updates {
        [] => String::new(),
        updates => {
            let assignments = updates.iter().map(assigned).collect::<Vec<_>>();
            format!(" on duplicate key update {}", assignments.join(","))
        }
    }
}

/// What assignments read of the query's tables, in `slots`, becomes a part of its rows, which are read in a
/// slot of their own then: the tables' own rows may have moved on.
fn read_given(
    binder: &mut Binder<'_>,
    query: &mut LogicalQuery,
    updates: &mut [(usize, Cell)],
    slots: &[usize],
) -> SqlResult<Option<usize>> {
    let given = binder.new_slot();
    let mut result = Ok(());
    let mut is_read = false;
    let mut read = |expr: &mut Expr| match &mut expr.node {
        Node::Column { slot, .. } if slots.contains(slot) => {
            is_read = true;
            query.output.push(expr.clone());
            let Node::Column { slot, column, .. } = &mut expr.node else { unreachable!("it is a column") };
            (*slot, *column) = (given, query.output.len() - 1);
        }
        Node::Subquery(subquery)
            if binder.outer_slots(subquery.number).iter().any(|slot| slots.contains(slot)) =>
        {
            result = Err(not_supported("ON DUPLICATE KEY UPDATE with a subquery over rows of the SELECT"));
        }
        _ => {}
    };
    for (_, cell) in updates {
        if let Cell::Expr(expr) = cell {
            walk_mut(expr, &mut read);
        }
    }
    result.map(|()| is_read.then_some(given))
}

/// Values that may be DEFAULT.
pub fn cells(binder: &mut Binder<'_>, values: &[ast::Expr]) -> SqlResult<Vec<Cell>> {
    let mut cells = Vec::with_capacity(values.len());
    for value in values {
        cells.push(match value {
            ast::Expr::Default => Cell::Default,
            value => Cell::Expr(binder.expr(value)?),
        });
    }
    Ok(cells)
}

/// Where the rows come from.
enum WrittenRows<'a> {
    Values(&'a [Vec<ast::Expr>]),
    Query(&'a ast::Query),
}

/// VALUES ROW() is a query, but here it may have no columns: the rows then consist of defaults, as with
/// VALUES ().
fn written_rows(source: &InsertSource) -> WrittenRows<'_> {
    match source {
        InsertSource::Values(rows) => WrittenRows::Values(rows),
        InsertSource::Query(query) => match &query.body {
            QueryBody::Values(rows) if rows.iter().all(Vec::is_empty) => WrittenRows::Values(rows),
            _ => WrittenRows::Query(query),
        },
    }
}

/// Whether a query is one block, whose tables ON DUPLICATE KEY UPDATE may read.
fn is_block(body: &QueryBody) -> bool {
    match body {
        QueryBody::Select(_) | QueryBody::Table(_) => true,
        QueryBody::Nested(query) => is_block(&query.body),
        QueryBody::Values(_) | QueryBody::Combination { .. } => false,
    }
}

/// Calls `change` on an expression and on all below it.
fn walk_mut(expr: &mut Expr, change: &mut dyn FnMut(&mut Expr)) {
    change(expr);
    expr.children_mut(&mut |child| walk_mut(child, change));
}

fn insert_columns(table: &Table, insert: &ast::Insert) -> SqlResult<Vec<usize>> {
    if insert.columns.is_empty() {
        let shown = table.columns.iter().enumerate();
        return Ok(shown
            .filter(|(_, column)| column.visibility == Visibility::Visible)
            .map(|(position, _)| position)
            .collect());
    }
    let mut columns = Vec::with_capacity(insert.columns.len());
    for name in &insert.columns {
        let column = target_column(table, name)?;
        if columns.contains(&column) {
            return Err(mysql_error!(ER_FIELD_SPECIFIED_TWICE, name.column));
        }
        columns.push(column);
    }
    Ok(columns)
}

/// A column that is assigned to: 1054 if there is none.
pub fn target_column(table: &Table, name: &ast::ColumnName) -> SqlResult<usize> {
    let found = table.column_index(&name.column).filter(|column| {
        table.columns.get(*column).is_some_and(|known| known.visibility != Visibility::System)
            && name.table.as_ref().is_none_or(|wanted| same_name(wanted, &table.name))
    });
    found.ok_or_else(|| {
        mysql_error!(ER_BAD_FIELD_ERROR, palisade_plan::bind::scope::written(name), "field list")
    })
}

/// 3105 for a value other than DEFAULT in a generated column.
pub fn refuse_generated(table: &Table, column: usize, cell: &Cell) -> SqlResult<()> {
    match cell {
        Cell::Expr(_) => refuse_value(table, table.columns.at(column)?),
        Cell::Default => Ok(()),
    }
}

/// 3105 for a value in a generated column.
pub(in crate::dml) fn refuse_value(table: &Table, column: &Column) -> SqlResult<()> {
    match column.generated {
        Some(_) => Err(mysql_error!(ER_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN, column.name, table.name)),
        None => Ok(()),
    }
}
