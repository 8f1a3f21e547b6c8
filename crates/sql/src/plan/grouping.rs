//! What stands above GROUP BY: group expressions and aggregates become columns of the groups' slot, and what depends on
//! neither is refused (ONLY_FULL_GROUP_BY).

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::{SqlType, Value};

use super::SortKey;
use super::conditions::expr_slots;
use super::window::WindowPlan;
use crate::SqlResult;
use crate::bind::Binder;
use crate::bind::aggregate::AGGREGATES;
use crate::bind::scope::Scope;
use crate::expr::{Expr, Node};
use crate::func::control::{ANY_VALUE, GROUPING};
use crate::mode::SqlMode;

impl Binder<'_> {
    /// Replaces what stands above the grouping: group expressions and aggregates become columns of the groups' slot,
    /// other columns are kept from one row of each group, if they may be.
    pub(super) fn regroup(
        &self,
        scope: &Scope,
        output: &mut [Expr],
        finish: &mut Finish,
        local: &[usize],
        rollup: bool,
    ) -> SqlResult<()> {
        let Finish { having, keys, group, slot, keep, windows } = finish;
        let mut regroup = Regroup {
            binder: self,
            scope,
            slot: slot.expect("a grouped query has a slot for its groups"),
            group,
            texts: group.iter().map(Expr::to_string).collect(),
            local,
            is_checked: self.session.variables.sql_mode.has(SqlMode::ONLY_FULL_GROUP_BY),
            keep: Vec::new(),
            level: rollup.then_some(AGGREGATES + scope.aggregates.len()),
        };
        for (position, expr) in output.iter_mut().enumerate() {
            regroup.expr(expr, "SELECT list", position + 1)?;
        }
        if let Some(having) = having {
            regroup.expr(having, "HAVING clause", 1)?;
        }
        for (position, key) in keys.iter_mut().enumerate() {
            regroup.expr(&mut key.expr, "ORDER BY clause", position + 1)?;
        }
        let mut checked = Ok(());
        for expr in windows {
            expr.exprs_mut(&mut |expr| {
                let known = regroup.expr(expr, "SELECT list", 1);
                if checked.is_ok() {
                    checked = known;
                }
            });
        }
        checked?;
        *keep = regroup.keep;
        Ok(())
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

/// Puts what stands above a grouping into terms of its groups.
struct Regroup<'r> {
    binder: &'r Binder<'r>,
    scope: &'r Scope,
    /// Of the groups.
    slot: usize,
    group: &'r [Expr],
    /// The group's expressions, written.
    texts: Vec<String>,
    /// Slots of the tables below.
    local: &'r [usize],
    /// Columns that may have several values in a group are refused.
    is_checked: bool,
    /// Slots of which a row of each group is kept.
    keep: Vec<usize>,
    /// The column of the groups' slot that says how many of a group's values are its own, with ROLLUP: after the aggregates.
    level: Option<usize>,
}

impl Regroup<'_> {
    /// Rewrites the expression that is the `number`th of a clause.
    fn expr(&mut self, expr: &mut Expr, clause: &str, number: usize) -> SqlResult<()> {
        self.groupings(expr)?;
        self.replace(expr);
        let mut slots = Vec::new();
        expr_slots(self.binder, expr, &mut slots);
        for slot in slots.into_iter().filter(|slot| self.local.contains(slot)) {
            if !self.keep.contains(&slot) {
                self.keep.push(slot);
            }
        }
        if !self.is_checked {
            return Ok(());
        }
        let is_free = |slot: usize, column: usize| {
            self.local.contains(&slot) && !determined(self.scope, self.group, slot, column)
        };
        let Some(name) = free_column(expr, &is_free) else { return Ok(()) };
        let column = name.trim_matches('`').replace("`.`", ".");
        Err(if self.group.is_empty() {
            mysql_error!(ER_MIX_OF_GROUP_FUNC_AND_FIELDS, number, clause, column)
        } else {
            mysql_error!(ER_WRONG_FIELD_WITH_GROUP, number, clause, column)
        })
    }

    /// GROUPING(expressions) is computed of the group's level and of the expressions' places among those of GROUP BY.
    fn groupings(&self, expr: &mut Expr) -> SqlResult<()> {
        if let Node::Call { function, arguments } = &mut expr.node
            && function.name == GROUPING
        {
            let mut places = Vec::with_capacity(1 + arguments.len());
            places.extend(self.level.map(|column| {
                let node = Node::Column { slot: self.slot, column, name: "level".into() };
                Expr::computed(node, SqlType::BIGINT, false)
            }));
            for (number, argument) in arguments.iter().enumerate() {
                let text = argument.to_string();
                let place = self.texts.iter().position(|known| *known == text);
                let place =
                    place.ok_or_else(|| mysql_error!(ER_FIELD_IN_GROUPING_NOT_GROUP_BY, number + 1))?;
                places.push(Expr::int(place as i64));
            }
            match self.level {
                Some(_) => *arguments = places,
                None => expr.node = Node::Literal(Value::Int(0)),
            }
            return Ok(());
        }
        let mut result = Ok(());
        expr.children_mut(&mut |child| {
            if result.is_ok() {
                result = self.groupings(child);
            }
        });
        result
    }

    /// Group expressions and aggregates become columns of the groups' slot.
    fn replace(&self, expr: &mut Expr) {
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
        expr.children_mut(&mut |child| self.replace(child));
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
fn determined(scope: &Scope, group: &[Expr], slot: usize, column: usize) -> bool {
    let grouped = |column: usize| {
        group
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
