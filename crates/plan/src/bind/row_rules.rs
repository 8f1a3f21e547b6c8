//! The rules of a table's rows, bound: defaults, generated columns, CHECK constraints.

use palisade_catalog::descriptor::DefaultValue;
use palisade_catalog::{SqlType, TableDef, Value, store};
use palisade_expr::{Expr, SqlResult};
use palisade_parser::ast;

use super::Binder;
use super::scope::{Scope, Source};

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
        Ok(RowRules { defaults, computes_defaults, generated, checks })
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
