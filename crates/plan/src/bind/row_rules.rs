//! The rules of a table's rows, bound: defaults, generated columns, CHECK constraints.

use std::collections::HashSet;
use std::sync::Arc;

use palisade_base::error_catalogue::{ER_PARTITION_CLAUSE_ON_NONPARTITIONED, ER_UNKNOWN_PARTITION};
use palisade_base::mysql_error;
use palisade_catalog::descriptor::DefaultValue;
use palisade_catalog::{PartitionSet, SqlType, TableDef, Value, store};
use palisade_engine::Table;
use palisade_expr::{Expr, SqlResult};
use palisade_parser::ast;

use super::Binder;
use super::scope::{Scope, Source};
use crate::partition::RowPartitions;

/// What a column gets when the statement says nothing of it.
#[derive(Debug, Clone)]
pub enum ColumnDefault {
    /// This value, of the column's type.
    Value(Value),
    /// The statement's time.
    Now,
    /// The value of an expression.
    Expr(Expr),
    /// Nothing: NOT NULL and no default (1364).
    Missing,
}

/// A CHECK constraint, bound to the row it checks.
#[derive(Debug, Clone)]
pub struct BoundCheck {
    /// Its name.
    pub name: String,
    /// What must not be false; of a view, what must be true.
    pub condition: Expr,
    /// Schema and name of the view whose CHECK OPTION it is.
    pub view: Option<(String, String)>,
}

/// What is done to every row that is written: defaults, generated columns, checks.
#[derive(Debug, Clone, Default)]
pub struct RowRules {
    /// By column.
    pub defaults: Vec<ColumnDefault>,
    /// Some of them are expressions.
    computes_defaults: bool,
    /// Generated columns in order, and how each is computed.
    pub generated: Vec<GeneratedValue>,
    /// CHECK constraints.
    pub checks: Vec<BoundCheck>,
    /// In which partition rows belong, if there are partitions.
    pub partitions: Option<Arc<RowPartitions>>,
}

/// A generated column, and how it is computed.
#[derive(Debug, Clone)]
pub struct GeneratedValue {
    /// Its place in the table.
    pub column: usize,
    /// Its value, over the row.
    pub expr: Expr,
    /// Its errors are errors of the statement: the value is STORED, or an index has it.
    pub strict: bool,
}

impl RowRules {
    /// Whether there are generated columns.
    pub fn generates(&self) -> bool {
        !self.generated.is_empty()
    }

    /// Whether there are default values that are expressions.
    pub fn computes_defaults(&self) -> bool {
        self.computes_defaults
    }

    /// Whether rows are checked.
    pub fn checks(&self) -> bool {
        !self.checks.is_empty()
    }
}

impl Binder<'_> {
    /// The rules of the rows of a table, which is the one in the innermost scope.
    pub fn rules(&mut self, table: &TableDef) -> SqlResult<RowRules> {
        let (defaults, checks) = (self.defaults(table)?, self.checks(table)?);
        let mut generated = Vec::new();
        for (position, column) in table.columns.iter().enumerate() {
            let Some(source) = &column.generated else { continue };
            let mut parts = table.indexes.iter().flat_map(|index| &index.parts);
            let strict = source.stored || parts.any(|part| usize::from(part.column) == position);
            let expr = self.stored_expression(&source.expression)?;
            generated.push(GeneratedValue { column: position, expr, strict });
        }
        let computes_defaults = defaults.iter().any(|default| matches!(default, ColumnDefault::Expr(_)));
        let partitions = match table.partitioning.is_some() {
            true => self.row_partitions(table)?,
            false => None,
        };
        Ok(RowRules { defaults, computes_defaults, generated, checks, partitions })
    }

    /// The partitions of the table that is the only one in the innermost scope.
    fn row_partitions(&mut self, table: &TableDef) -> SqlResult<Option<Arc<RowPartitions>>> {
        let Some(scheme) = self.partition_scheme(table)? else { return Ok(None) };
        let slot = self.scope().sources.first().map(|source| source.slot);
        let chosen = self.chosen.iter().find(|(known, _)| Some(*known) == slot);
        let chosen = chosen.map(|(_, set)| set.clone());
        Ok(Some(Arc::new(RowPartitions { scheme: Arc::new(scheme), chosen })))
    }

    /// The partitions of a stored table in a slot, if it has any.
    pub fn partitions_of(
        &mut self,
        slot: usize,
        table: &Arc<Table>,
    ) -> SqlResult<Option<Arc<RowPartitions>>> {
        let own = Source::of_table(slot, table.name.clone(), table.clone());
        self.scopes.push(Scope { sources: vec![own], ..Scope::default() });
        let partitions = self.row_partitions(table);
        self.scopes.pop();
        partitions
    }

    /// Notes PARTITION (...) of the table in a slot: 1747 if that has no partitions, 1735 if it has none of a
    /// name.
    pub fn choose_partitions(
        &mut self,
        slot: usize,
        table: &TableDef,
        alias: &str,
        names: &[ast::Name],
    ) -> SqlResult<()> {
        if names.is_empty() {
            return Ok(());
        }
        if table.partitioning.is_none() {
            return Err(mysql_error!(ER_PARTITION_CLAUSE_ON_NONPARTITIONED));
        }
        let mut chosen = PartitionSet::none();
        let mut seen = HashSet::new();
        for name in names {
            // As many as there are names of partitions, then.
            if !seen.insert(name.to_lowercase()) {
                continue;
            }
            let found = table.partitions_called(name);
            if found.is_empty() {
                return Err(mysql_error!(ER_UNKNOWN_PARTITION, name, alias));
            }
            chosen.unite_with(&found);
        }
        self.chosen.push((slot, Arc::new(chosen)));
        Ok(())
    }

    /// The rules of rows that are in no table yet, and the slot in which their expressions see the row.
    pub fn rules_of_definition(&mut self, def: &TableDef) -> SqlResult<(RowRules, usize)> {
        let slot = self.new_slot();
        self.scopes.push(Scope { sources: vec![Source::of_definition(slot, def)], ..Scope::default() });
        let rules = self.rules(def);
        self.scopes.pop();
        Ok((rules?, slot))
    }

    /// The defaults of a table's columns; expressions see the row in the innermost scope.
    fn defaults(&mut self, table: &TableDef) -> SqlResult<Vec<ColumnDefault>> {
        let mut defaults = Vec::with_capacity(table.columns.len());
        for column in &table.columns {
            defaults.push(match &column.default {
                DefaultValue::Literal(value) => ColumnDefault::Value(value.clone()),
                DefaultValue::CurrentTimestamp => ColumnDefault::Now,
                DefaultValue::Expression(text) => ColumnDefault::Expr(self.stored_expression(text)?),
                DefaultValue::None if column.nullable => ColumnDefault::Value(Value::Null),
                // An ENUM has its first member, in strict mode too.
                DefaultValue::None if matches!(column.sql_type, SqlType::Enum { .. }) => {
                    ColumnDefault::Value(store::implicit_default(column))
                }
                DefaultValue::None | DefaultValue::Removed => ColumnDefault::Missing,
            });
        }
        Ok(defaults)
    }

    /// The table's enforced CHECK constraints, over the row in the innermost scope.
    fn checks(&mut self, table: &TableDef) -> SqlResult<Vec<BoundCheck>> {
        let mut checks = Vec::new();
        for check in table.checks.iter().filter(|check| check.enforced) {
            let condition = self.stored_expression(&check.expression)?;
            checks.push(BoundCheck { name: check.name.clone(), condition, view: None });
        }
        Ok(checks)
    }

    /// Binds an expression that the dictionary keeps as text.
    pub fn stored_expression(&mut self, text: &str) -> SqlResult<Expr> {
        let parsed = parse_expression(text)?;
        self.expr(&parsed)
    }
}

/// Parses an expression that the dictionary keeps as text.
pub fn parse_expression(text: &str) -> SqlResult<ast::Expr> {
    let options = palisade_parser::ParseOptions::default();
    palisade_parser::parse_expression(text.as_bytes(), options).map_err(super::parse_error)
}
