//! The condition of WHERE, in which MySQL gives IS NULL two further meanings for programs that came by ODBC.
//!
//! | condition | also finds | where |
//! |---|---|---|
//! | `d IS NULL`, `d` a DATE or DATETIME that is NOT NULL | `'0000-00-00'` | alone or joined by AND |
//! | `id IS NULL`, `id` the AUTO_INCREMENT column, with `sql_auto_is_null` | the row of LAST_INSERT_ID() | alone |
//!
//! Both hold for columns of stored tables only, not of derived ones, and not in ON or HAVING. ISNULL() is IS
//! NULL here. A column that an outer join can leave without a value still finds its NULLs, and is no
//! AUTO_INCREMENT column.

use palisade_catalog::{Date, DateTime, SqlType, Value};
use palisade_expr::place::At;
use palisade_expr::{Comparison, Expr, Node, SqlResult, Truth};
use palisade_parser::ast;

use super::Binder;
use super::compare::compare_leniently;
use super::scope::{Clause, Source};
use super::types::chosen_as_number;

impl Binder<'_> {
    /// Binds the condition of WHERE, and gives the conditions that it joins by AND.
    pub fn filter(&mut self, filter: &ast::Expr) -> SqlResult<Vec<Expr>> {
        self.scope().clause = Clause::Where;
        let mut conditions = Vec::new();
        chosen_as_number(self.expr(filter)?).conjuncts(&mut conditions);
        if let [condition] = conditions.as_mut_slice()
            && self.session.variables.sql_auto_is_null
        {
            self.find_inserted(condition)?;
        }
        for condition in &mut conditions {
            self.find_zero_date(condition)?;
            self.note_variable_beside_date(condition);
        }
        Ok(conditions)
    }

    /// The column of a stored table that `condition` asks to be NULL, as an expression, and the table.
    fn null_column<'e>(&self, condition: &'e Expr) -> Option<(&'e Expr, &Source, usize)> {
        let operand = match &condition.node {
            Node::Is { operand, truth: Truth::Null, negated: false } => &**operand,
            Node::Call { function, arguments } if function.name == "isnull" => arguments.first()?,
            _ => return None,
        };
        let Node::Column { slot, column, .. } = &operand.node else { return None };
        let mut sources = self.scopes.iter().flat_map(|scope| &scope.sources);
        let source = sources.find(|source| source.slot == *slot && source.table.is_some())?;
        Some((operand, source, *column))
    }

    /// `id IS NULL` is `id = LAST_INSERT_ID()`; but 0 is no number that was given.
    fn find_inserted(&mut self, condition: &mut Expr) -> SqlResult<()> {
        let Some((operand, source, column)) = self.null_column(condition) else { return Ok(()) };
        let numbered = source.table.as_ref().and_then(|table| table.auto_increment_column());
        if numbered != Some(column) || source.outer {
            return Ok(());
        }
        let operand = operand.clone();
        let inserted = self.call("last_insert_id", Vec::new())?;
        let inserted = self.call("nullif", vec![inserted, Expr::int(0)])?;
        *condition = self.compare(Comparison::Equal, operand, inserted)?;
        Ok(())
    }

    /// `d IS NULL` is `d = '0000-00-00'` where `d` cannot be NULL.
    fn find_zero_date(&self, condition: &mut Expr) -> SqlResult<()> {
        let Some((operand, source, column)) = self.null_column(condition) else { return Ok(()) };
        let known = source.columns.at(column)?;
        let zero = match &known.ty {
            _ if known.nullable => return Ok(()),
            SqlType::Date => Value::Date(Date::ZERO),
            SqlType::DateTime { .. } => Value::DateTime(DateTime::ZERO),
            _ => return Ok(()),
        };
        let zero = Expr::literal(zero, known.ty.clone());
        let is_zero = compare_leniently(Comparison::Equal, operand.clone(), zero)?;
        *condition = match source.outer {
            true => Expr::truth(Node::Or(vec![condition.clone(), is_zero]), true),
            false => is_zero,
        };
        Ok(())
    }
}
