//! Where names are looked up: the tables of a query block, and around it those of the blocks it stands in.

use std::sync::Arc;

use palisade_base::error_catalogue::ER_BAD_FIELD_ERROR;
use palisade_base::mysql_error;
use palisade_catalog::descriptor::DefaultValue;
use palisade_catalog::types::flags;
use palisade_catalog::{Column, SqlType};
use palisade_engine::Table;
use palisade_expr::aggregate::AggregateSpec;
use palisade_expr::place::At;
use palisade_expr::{Coercibility, Expr, Node, SqlResult};
use palisade_parser::ast::ColumnName;
use palisade_session::sink::ColumnMeta;

use super::dependence::Derived;
use crate::logical::OuterColumn;

/// A part of a query, as error messages name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub enum Clause {
    #[default]
    Fields,
    Where,
    On,
    Group,
    Having,
    Order,
    Returning,
    TableFunction,
}

impl Clause {
    /// As MySQL names it.
    pub fn name(self) -> &'static str {
        match self {
            Clause::Fields => "field list",
            Clause::Where => "where clause",
            Clause::On => "on clause",
            Clause::Group => "group statement",
            Clause::Having => "having clause",
            Clause::Order => "order clause",
            // As MariaDB names it, whose clause it is.
            Clause::Returning => "RETURNING",
            Clause::TableFunction => "a table function argument",
        }
    }
}

/// A column of a table in FROM.
#[derive(Debug, Clone)]
pub struct SourceColumn {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: SqlType,
    /// Whether it can be NULL.
    pub nullable: bool,
    /// What the client is told of it.
    pub meta: Option<ColumnMeta>,
    /// Only found when named: INVISIBLE; never if it is the engine's own.
    pub hidden: bool,
}

/// A table in FROM.
#[derive(Debug, Clone)]
pub struct Source {
    /// Where its rows are in the frame.
    pub slot: usize,
    /// Its alias or name.
    pub alias: String,
    /// Its schema; empty for derived tables.
    pub schema: String,
    /// The stored table, if it is one.
    pub table: Option<Arc<Table>>,
    /// Its columns.
    pub columns: Vec<SourceColumn>,
    /// Whether an outer join can leave it without a row.
    pub outer: bool,
    /// The view that it is, if the statement changes rows of tables below the view.
    pub through: Option<Arc<Through>>,
}

/// A view whose tables a statement changes: its columns are expressions over them.
#[derive(Debug)]
pub struct Through {
    /// Its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// What its columns are.
    pub columns: Vec<Expr>,
    /// The slots of the tables below it.
    pub slots: Vec<usize>,
    /// What a row that is written must satisfy: WITH CHECK OPTION.
    pub checks: Vec<Expr>,
}

/// A table below a view that a statement changes.
#[derive(Debug)]
pub struct Beneath {
    /// The table.
    pub source: Source,
    /// The views above it, the outermost first.
    pub views: Vec<super::views::ViewInSight>,
}

/// A query block while it is bound.
#[derive(Debug, Default)]
pub struct Scope {
    /// Number of the query block in the statement's text; 0 for one that no text has.
    pub block: u32,
    /// Its tables.
    pub sources: Vec<Source>,
    /// Tables, by their numbers, that LATERAL does not see although they come before it.
    pub unseen: Vec<std::ops::Range<usize>>,
    /// Columns that an unqualified name does not find: the right sides of USING and NATURAL.
    pub merged: Vec<(usize, usize)>,
    /// The order of `*`: (source, column).
    pub star: Vec<(usize, usize)>,
    /// The select list: alias or name, and the bound expression.
    pub items: Vec<(String, Expr)>,
    /// The slot that stands for the select list in subqueries that read an item of it by its alias (see
    /// `lent`), if there are any.
    pub item_slot: Option<usize>,
    /// Whether what is bound in terms of it is put in terms of the items in the end.
    pub lends_items: bool,
    /// Which part is being bound.
    pub clause: Clause,
    /// GROUP BY, once bound.
    pub group: Vec<Expr>,
    /// The aliases of those of its expressions that are select items.
    pub group_aliases: Vec<Option<String>>,
    /// With ROLLUP: the expression of GROUP BY that each select item is, by its
    /// position there. Of two equal items with names of their own each is NULL where its own expression is
    /// summed up.
    pub item_groups: Vec<Option<usize>>,
    /// How many expressions GROUP BY has: as many columns of the groups' slot come before the aggregates.
    pub group_width: usize,
    /// Aggregates met so far.
    pub aggregates: Vec<AggregateSpec>,
    /// The slot of groups, once there is one.
    pub group_slot: Option<usize>,
    /// Whether an aggregate may stand here (select list, HAVING, ORDER BY).
    pub aggregates_allowed: bool,
    /// It has a GROUP BY.
    pub is_grouped: bool,
    /// It has WITH ROLLUP: what it is grouped by may be NULL in it.
    pub is_summed_up: bool,
    /// It has DISTINCT: it is ordered by what it shows.
    pub is_distinct: bool,
    /// Inside an aggregate's argument.
    pub in_aggregate: bool,
    /// Inside a window function's argument.
    pub in_window: bool,
    /// WINDOW.
    pub named_windows: Vec<(String, palisade_parser::ast::WindowSpec)>,
    /// Windows whose functions were met so far.
    pub windows: Vec<crate::window::WindowPlan>,
    /// Their names.
    pub window_names: Vec<String>,
    /// Slots of enclosing blocks that were read.
    pub outer_slots: Vec<usize>,
    /// Columns of enclosing blocks that were read.
    pub outer_columns: Vec<OuterColumn>,
    /// What is known of the tables that are blocks themselves, by slot.
    pub derived: Vec<(usize, Arc<Derived>)>,
    /// The tables below views that the statement changes.
    pub beneath: Vec<Beneath>,
    /// The conditions of these views.
    pub view_conditions: Vec<Expr>,
    /// The slots of views whose rows are made first: ALGORITHM = TEMPTABLE.
    pub unmerged: Vec<usize>,
    /// Row of INSERT ... ON DUPLICATE KEY UPDATE that VALUES(column) means.
    pub inserted: Option<usize>,
}

impl Source {
    /// Column `column` as an expression.
    pub fn expr(&self, column: usize) -> SqlResult<Expr> {
        let known = self.columns.at(column)?;
        if let Some(through) = &self.through {
            let mut expr = through.columns.at(column)?.clone();
            expr.nullable |= self.outer;
            return Ok(expr);
        }
        let name: Arc<str> = if self.schema.is_empty() {
            format!("`{}`.`{}`", self.alias, known.name).into()
        } else {
            format!("`{}`.`{}`.`{}`", self.schema, self.alias, known.name).into()
        };
        Ok(Expr {
            node: Node::Column { slot: self.slot, column, name, computed: false },
            ty: known.ty.clone(),
            nullable: known.nullable || self.outer,
            // A column of bits is one of bytes.
            coercibility: match &known.ty {
                SqlType::Bit { .. } => Coercibility::Implicit,
                ty if ty.is_string() => Coercibility::Implicit,
                _ => Coercibility::Numeric,
            },
        })
    }

    /// Position of a column by name; the engine's own columns are not found.
    pub fn column(&self, name: &str) -> Option<usize> {
        // A column of the engine's own has no name.
        let is_named = |column: &SourceColumn| !(column.hidden && column.name.is_empty());
        self.columns.iter().position(|column| same_name(&column.name, name) && is_named(column))
    }

    /// The source of rows of a table that is being defined.
    pub fn of_definition(slot: usize, def: &palisade_catalog::TableDef) -> Source {
        let column = |column: &palisade_catalog::Column| SourceColumn {
            name: column.name.clone(),
            ty: column.sql_type.clone(),
            nullable: column.nullable,
            meta: None,
            hidden: false,
        };
        Source {
            slot,
            alias: def.name.clone(),
            schema: def.schema.clone(),
            table: None,
            columns: def.columns.iter().map(column).collect(),
            outer: false,
            through: None,
        }
    }

    /// The source of a stored table.
    pub fn of_table(slot: usize, alias: String, table: Arc<Table>) -> Source {
        let columns = table
            .columns
            .iter()
            .enumerate()
            .map(|(position, column)| {
                let system = column.visibility == palisade_catalog::descriptor::Visibility::System;
                SourceColumn {
                    name: if system { String::new() } else { column.name.clone() },
                    ty: column.sql_type.clone(),
                    nullable: column.nullable,
                    meta: Some(column_meta(&table, &alias, position, column)),
                    hidden: column.visibility != palisade_catalog::descriptor::Visibility::Visible,
                }
            })
            .collect();
        let schema = table.schema.clone();
        Source { slot, alias, schema, table: Some(table), columns, outer: false, through: None }
    }
}

/// What the client is told of a table's column.
fn column_meta(table: &Table, alias: &str, position: usize, column: &Column) -> ColumnMeta {
    let mut bits = column.sql_type.wire_flags();
    if !column.nullable {
        bits |= flags::NOT_NULL;
    }
    for index in table.indexes.iter().filter(|index| !index.hidden) {
        match index.parts.iter().position(|part| usize::from(part.column) == position) {
            Some(_) if index.primary => bits |= flags::PRI_KEY,
            Some(0) if index.unique && index.parts.len() == 1 => bits |= flags::UNIQUE_KEY,
            Some(0) => bits |= flags::MULTIPLE_KEY,
            _ => {}
        }
    }
    if column.auto_increment {
        bits |= flags::AUTO_INCREMENT;
    }
    if column.zerofill {
        bits |= flags::ZEROFILL;
    }
    if column.on_update_now {
        bits |= flags::ON_UPDATE_NOW;
    }
    let no_default = match column.default {
        DefaultValue::None => !column.nullable,
        DefaultValue::Removed => true,
        _ => false,
    };
    if no_default && !column.auto_increment {
        bits |= flags::NO_DEFAULT_VALUE;
    }
    ColumnMeta {
        schema: table.schema.clone(),
        table: alias.to_owned(),
        org_table: table.name.clone(),
        name: column.name.clone(),
        org_name: column.name.clone(),
        ty: column.sql_type.clone(),
        flags: bits,
        display_width: column.display_width.map(u32::from),
    }
}

/// Whether two names of columns are the same.
pub fn same_name(left: &str, right: &str) -> bool {
    left.eq_ignore_ascii_case(right)
        || !(left.is_ascii() && right.is_ascii()) && left.to_lowercase() == right.to_lowercase()
}

/// A column as error messages name it.
pub fn written(name: &ColumnName) -> String {
    match (&name.schema, &name.table) {
        (Some(schema), Some(table)) => format!("{schema}.{table}.{}", name.column),
        (_, Some(table)) if !table.is_empty() => format!("{table}.{}", name.column),
        _ => name.column.clone(),
    }
}

impl Scope {
    /// The table in a slot: one of FROM, or one below a view.
    pub fn table_in(&self, slot: usize) -> Option<&Source> {
        let beneath = self.beneath.iter().map(|beneath| &beneath.source);
        self.sources.iter().chain(beneath).find(|source| source.slot == slot && source.through.is_none())
    }

    /// The view whose table is in a slot, as FROM names it.
    pub fn view_over(&self, slot: usize) -> Option<&Source> {
        let is_over = |through: &Arc<Through>| through.slots.contains(&slot);
        self.sources.iter().find(|source| source.through.as_ref().is_some_and(is_over))
    }

    /// A select item, by its number, as the column of the groups' slot that it is, if it is one (see
    /// [`item_groups`](Self::item_groups)).
    pub fn summed_up(&self, number: usize, item: &Expr) -> Option<Expr> {
        let column = (*self.item_groups.get(number)?)?;
        self.group_column(column, item)
    }

    /// An expression of GROUP BY as its column of the groups' slot, NULL where ROLLUP sums it up.
    pub fn group_column(&self, column: usize, expr: &Expr) -> Option<Expr> {
        let (name, computed) = (format!("{expr}").into(), !expr.is_field());
        let node = Node::Column { slot: self.group_slot?, column, name, computed };
        Some(Expr { node, nullable: true, ..expr.clone() })
    }

    /// Whether a table of that name is in sight.
    pub fn sees_table(&self, alias: &str) -> bool {
        let is_seen = |place: &usize| !self.unseen.iter().any(|range| range.contains(place));
        let mut places = (0..self.sources.len()).filter(is_seen);
        places.any(|place| self.sources.get(place).is_some_and(|source| source.alias == alias))
    }

    /// Notes that slots of enclosing blocks are read.
    pub fn read_slots_outside(&mut self, slots: &[usize]) {
        for slot in slots {
            if !self.outer_slots.contains(slot) {
                self.outer_slots.push(*slot);
            }
        }
    }

    /// Notes that columns of enclosing blocks are read.
    pub fn read_outside(&mut self, columns: &[OuterColumn]) {
        for read in columns {
            if !self.outer_slots.contains(&read.slot) {
                self.outer_slots.push(read.slot);
            }
            let known = |known: &OuterColumn| (known.slot, known.column) == (read.slot, read.column);
            if !self.outer_columns.iter().any(known) {
                self.outer_columns.push(read.clone());
            }
        }
    }

    /// The number of an aggregate among the block's: that of an equal one, unless each evaluation of its
    /// arguments may give another value.
    pub fn aggregate_of(&mut self, spec: AggregateSpec) -> usize {
        let is_impure = spec.arguments.iter().any(Expr::is_impure);
        let known = self.aggregates.iter().position(|known| !is_impure && *known == spec);
        known.unwrap_or_else(|| {
            self.aggregates.push(spec);
            self.aggregates.len() - 1
        })
    }

    /// A column of the table that rows are inserted into, the first one.
    pub fn inserted_column(&self, name: &ColumnName) -> SqlResult<Expr> {
        let table = self.sources.at(0)?;
        let is_meant = name.table.as_ref().is_none_or(|wanted| same_name(wanted, &table.alias));
        match table.column(&name.column).filter(|_| is_meant) {
            Some(column) => table.expr(column),
            None => Err(mysql_error!(ER_BAD_FIELD_ERROR, written(name), self.clause.name())),
        }
    }
}
