//! What stands above GROUP BY: group expressions and aggregates become columns of the groups' slot, and what depends on
//! neither is refused (ONLY_FULL_GROUP_BY).

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;

use super::SortKey;
use super::conditions::expr_slots;
use super::window::WindowPlan;
use crate::SqlResult;
use crate::bind::Binder;
use crate::bind::aggregate::AGGREGATES;
use crate::bind::scope::Scope;
use crate::expr::{Expr, Node};
use crate::func::control::ANY_VALUE;
use crate::mode::SqlMode;

impl Binder<'_> {
    /// Replaces what stands above the grouping: group expressions and aggregates become columns of the groups' slot,
    /// other columns are kept from one row of each group, if they may be.
    pub(super) fn regroup(
        &mut self,
        scope: &Scope,
        output: &mut [Expr],
        finish: &mut Finish,
        local: &[usize],
    ) -> SqlResult<()> {
        let texts: Vec<String> = finish.group.iter().map(Expr::to_string).collect();
        let slot = finish.slot.expect("a grouped query has a slot for its groups");
        let check = self.session.variables.sql_mode.has(SqlMode::ONLY_FULL_GROUP_BY);
        let replaced = Regroup { slot, group: &finish.group, texts: &texts };
        let mut keep = Vec::new();
        for (position, expr) in output.iter_mut().enumerate() {
            replaced.apply(expr);
            self.check_grouped(scope, expr, finish, local, check, position + 1, "SELECT list", &mut keep)?;
        }
        let mut having = finish.having.take();
        if let Some(having) = &mut having {
            replaced.apply(having);
            self.check_grouped(scope, having, finish, local, check, 1, "HAVING clause", &mut keep)?;
        }
        let mut keys = std::mem::take(&mut finish.keys);
        for (position, key) in keys.iter_mut().enumerate() {
            replaced.apply(&mut key.expr);
            self.check_grouped(
                scope,
                &key.expr,
                finish,
                local,
                check,
                position + 1,
                "ORDER BY clause",
                &mut keep,
            )?;
        }
        let mut windows = std::mem::take(&mut finish.windows);
        let mut checked = Ok(());
        for expr in &mut windows {
            expr.exprs_mut(&mut |expr| {
                replaced.apply(expr);
                let known =
                    self.check_grouped(scope, expr, finish, local, check, 1, "SELECT list", &mut keep);
                if checked.is_ok() {
                    checked = known;
                }
            });
        }
        checked?;
        finish.windows = windows;
        finish.having = having;
        finish.keys = keys;
        finish.keep = keep;
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn check_grouped(
        &self,
        scope: &Scope,
        expr: &Expr,
        finish: &Finish,
        local: &[usize],
        check: bool,
        number: usize,
        clause: &str,
        keep: &mut Vec<usize>,
    ) -> SqlResult<()> {
        let mut slots = Vec::new();
        expr_slots(self, expr, &mut slots);
        for slot in slots.into_iter().filter(|slot| local.contains(slot)) {
            if !keep.contains(&slot) {
                keep.push(slot);
            }
        }
        if !check {
            return Ok(());
        }
        let is_free =
            |slot: usize, column: usize| local.contains(&slot) && !determined(scope, finish, slot, column);
        let Some(name) = free_column(expr, &is_free) else { return Ok(()) };
        let column = name.trim_matches('`').replace("`.`", ".");
        Err(if finish.group.is_empty() {
            mysql_error!(ER_MIX_OF_GROUP_FUNC_AND_FIELDS, number, clause, column)
        } else {
            mysql_error!(ER_WRONG_FIELD_WITH_GROUP, number, clause, column)
        })
    }
}

/// What comes after FROM and WHERE.
pub(super) struct Finish {
    pub(super) having: Option<Expr>,
    pub(super) keys: Vec<SortKey>,
    pub(super) group: Vec<Expr>,
    pub(super) slot: Option<usize>,
    pub(super) keep: Vec<usize>,
    pub(super) windows: Vec<WindowPlan>,
}

struct Regroup<'r> {
    slot: usize,
    group: &'r [Expr],
    texts: &'r [String],
}

impl Regroup<'_> {
    fn apply(&self, expr: &mut Expr) {
        if let Node::Column { slot, column, .. } = &mut expr.node
            && *slot == self.slot
        {
            if *column >= AGGREGATES {
                *column = *column - AGGREGATES + self.group.len();
            }
            return;
        }
        if !self.group.is_empty() && !matches!(expr.node, Node::Literal(_)) {
            let text = expr.to_string();
            if let Some(position) = self.texts.iter().position(|known| *known == text) {
                let name: std::sync::Arc<str> = text.into();
                expr.node = Node::Column { slot: self.slot, column: position, name };
                expr.nullable = true;
                return;
            }
        }
        expr.children_mut(&mut |child| self.apply(child));
    }
}

/// The name of a column that is read though it may have several values in a group, which ANY_VALUE allows.
fn free_column<'e>(expr: &'e Expr, is_free: &dyn Fn(usize, usize) -> bool) -> Option<&'e str> {
    match &expr.node {
        Node::Column { slot, column, name } => is_free(*slot, *column).then_some(&**name),
        Node::Call { function, .. } if function.name == ANY_VALUE => None,
        _ => {
            let mut found = None;
            expr.children(&mut |child| found = found.or_else(|| free_column(child, is_free)));
            found
        }
    }
}

/// Whether a column has one value in each group: a unique key of its table is among the group's columns, or equal to
/// them.
fn determined(scope: &Scope, finish: &Finish, slot: usize, column: usize) -> bool {
    let grouped = |column: usize| {
        finish
            .group
            .iter()
            .any(|expr| matches!(&expr.node, Node::Column { slot: s, column: c, .. } if *s == slot && *c == column))
    };
    if grouped(column) {
        return true;
    }
    let Some(source) = scope.sources.iter().find(|source| source.slot == slot) else { return false };
    let Some(table) = &source.table else { return false };
    table.indexes.iter().any(|index| {
        index.unique
            && !index.hidden
            && index.parts.iter().all(|part| {
                let column = usize::from(part.column);
                part.prefix.is_none() && grouped(column) && !table.columns[column].nullable
            })
    })
}

pub(super) fn reads_aggregate(expr: &Expr, group_slot: Option<usize>) -> bool {
    let mut found = false;
    expr.walk(&mut |expr| {
        found |= matches!(&expr.node, Node::Column { slot, column, .. } if Some(*slot) == group_slot && *column >= AGGREGATES);
    });
    found
}
