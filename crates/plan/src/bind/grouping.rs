//! What stands above GROUP BY: group expressions and aggregates become columns of the groups' slot, and what
//! depends on neither is refused (ONLY_FULL_GROUP_BY).

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::{SqlType, Value};
use palisade_expr::func::control::GROUPING;
use palisade_expr::mode::SqlMode;
use palisade_expr::order::SortKey;
use palisade_expr::{Expr, Node, SqlError, SqlResult};

use super::Binder;
use super::dependence::{Dependence, Undetermined, in_message};
use super::scope::Scope;
use crate::KeptKey;
use crate::conditions::expr_slots;
use crate::window::WindowPlan;

impl Binder<'_> {
    /// Replaces what stands above the grouping: group expressions and aggregates become columns of the
    /// groups' slot, other columns are kept from one row of each group, if they may be.
    pub(super) fn regroup(
        &self,
        above: Above<'_>,
        output: &mut [Expr],
        finish: &mut Finish,
    ) -> SqlResult<()> {
        let Finish { having, keys, group, slot, keep, kept_keys, windows, lent } = finish;
        let is_checked = self.session.variables.sql_mode.has(SqlMode::ONLY_FULL_GROUP_BY);
        let determined = match above.rollup {
            // Rows that sum up have values of their own in what they are grouped by, and in nothing else.
            true => Dependence::default().closure(group),
            false => above.dependence.closure(group),
        };
        let is_determined = |slot: usize, column: usize| determined.has(slot, column);
        let check = |expr: &Expr, number: usize, clause: &str, whole: &[Expr]| {
            if !is_checked || group.contains(expr) {
                return Ok(());
            }
            let undetermined = Undetermined {
                binder: self,
                local: above.local,
                is_determined: &is_determined,
                whole,
                windows,
            };
            let Some(name) = undetermined.find(expr) else { return Ok(()) };
            let error = match group.is_empty() {
                true => &ER_MIX_OF_GROUP_FUNC_AND_FIELDS,
                false => &ER_WRONG_FIELD_WITH_GROUP,
            };
            Err(mysql_error!(error, number, clause, in_message(&name)))
        };
        for (position, expr) in output.iter().enumerate() {
            check(expr, position + 1, "SELECT list", &[])?;
        }
        // HAVING and ORDER BY may name a select item that is grouped by, within an expression as well.
        if let Some(having) = having {
            check(having, 1, "HAVING clause", group)?;
        }
        for (position, key) in keys.iter().enumerate() {
            check(&key.expr, position + 1, "ORDER BY clause", group)?;
        }
        for (window, name) in windows.iter().zip(&above.scope.window_names) {
            let clause = format!("PARTITION BY or ORDER BY clause of window '{name}'");
            for key_list in [&window.partition, &window.order] {
                for (position, key) in key_list.iter().enumerate() {
                    check(&key.expr, position + 1, &clause, &[])?;
                }
            }
        }
        let mut regroup = Regroup {
            binder: self,
            slot: slot.ok_or_else(|| SqlError::internal("a grouped query has a slot for its groups"))?,
            group,
            local: above.local,
            keep: Vec::new(),
            rollup: above.rollup,
            is_order: false,
            level: above.rollup.then_some(group.len() + above.scope.aggregates.len()),
        };
        for (number, expr) in output.iter_mut().enumerate().chain(lent.iter_mut().enumerate()) {
            match above.scope.summed_up(number, expr) {
                Some(column) => *expr = column,
                None => regroup.expr(expr)?,
            }
        }
        if let Some(having) = having {
            regroup.expr(having)?;
        }
        regroup.is_order = true;
        for key in keys {
            regroup.expr(&mut key.expr)?;
        }
        regroup.is_order = false;
        let mut replaced = Ok(());
        for window in windows {
            window.exprs_mut(&mut |expr| {
                if replaced.is_ok() {
                    replaced = regroup.expr(expr);
                }
            });
        }
        *keep = regroup.keep;
        if above.rollup {
            *kept_keys = kept_keys_of(group, keep);
        }
        replaced
    }
}

/// What a grouping needs to know of its block.
pub(super) struct Above<'a> {
    pub(super) scope: &'a Scope,
    pub(super) dependence: &'a Dependence,
    /// Slots of the block's tables.
    pub(super) local: &'a [usize],
    /// WITH ROLLUP.
    pub(super) rollup: bool,
}

/// What comes after FROM and WHERE.
pub(super) struct Finish {
    pub(super) having: Option<Expr>,
    pub(super) keys: Vec<SortKey>,
    pub(super) group: Vec<Expr>,
    pub(super) slot: Option<usize>,
    pub(super) keep: Vec<usize>,
    pub(super) kept_keys: Vec<KeptKey>,
    pub(super) windows: Vec<WindowPlan>,
    /// The select items as subqueries read them by their aliases, if they do.
    pub(super) lent: Vec<Expr>,
}

/// Puts what stands above a grouping into terms of its groups.
struct Regroup<'r> {
    binder: &'r Binder<'r>,
    /// Of the groups.
    slot: usize,
    group: &'r [Expr],
    /// Slots of the tables below.
    local: &'r [usize],
    /// Slots of which a row of each group is kept.
    keep: Vec<usize>,
    /// WITH ROLLUP: constants, too, are NULL where they are summed up.
    rollup: bool,
    /// In ORDER BY, where a constant that is a part of an expression is none that is grouped by.
    is_order: bool,
    /// The column of the groups' slot that says how many of a group's values are its own, with ROLLUP: after
    /// the aggregates.
    level: Option<usize>,
}

impl Regroup<'_> {
    fn expr(&mut self, expr: &mut Expr) -> SqlResult<()> {
        self.groupings(expr)?;
        self.replace(expr, !self.is_order || matches!(expr.node, Node::Literal(_)));
        let mut slots = Vec::new();
        expr_slots(self.binder, expr, &mut slots);
        for slot in slots.into_iter().filter(|slot| self.local.contains(slot)) {
            if !self.keep.contains(&slot) {
                self.keep.push(slot);
            }
        }
        Ok(())
    }

    /// GROUPING(expressions) is computed of the group's level and of the expressions' places among those of
    /// GROUP BY.
    fn groupings(&self, expr: &mut Expr) -> SqlResult<()> {
        if let Node::Call { function, arguments } = &mut expr.node
            && function.name == GROUPING
        {
            let mut places = Vec::with_capacity(1 + arguments.len());
            places.extend(self.level.map(|column| {
                let node = Node::Column { slot: self.slot, column, name: "level".into(), computed: true };
                Expr::computed(node, SqlType::BIGINT, false)
            }));
            for (number, argument) in arguments.iter().enumerate() {
                let place = match &argument.node {
                    Node::Column { slot, column, .. } if *slot == self.slot => Some(*column),
                    _ => self.place_of(argument),
                };
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

    /// The place of an expression among those of GROUP BY. It may name keys in it that are columns of the
    /// groups' slot already.
    fn place_of(&self, expr: &Expr) -> Option<usize> {
        let place_of = |expr: &Expr| self.group.iter().position(|known| known == expr);
        place_of(expr).or_else(|| {
            if !self.rollup {
                return None;
            }
            let mut whole = expr.clone();
            self.put_back(&mut whole).then(|| place_of(&whole)).flatten()
        })
    }

    /// Replaces columns of the groups' slot by the expressions of GROUP BY that they are; whether there are
    /// any.
    fn put_back(&self, expr: &mut Expr) -> bool {
        if let Node::Column { slot, column, .. } = expr.node
            && slot == self.slot
            && let Some(key) = self.group.get(column)
        {
            *expr = key.clone();
            return true;
        }
        let mut is_changed = false;
        expr.children_mut(&mut |child| is_changed |= self.put_back(child));
        is_changed
    }

    /// Group expressions and aggregates become columns of the groups' slot; constants too, if they may.
    fn replace(&self, expr: &mut Expr, constants: bool) {
        match &expr.node {
            Node::Column { slot, .. } if *slot == self.slot => return,
            // Its arguments are the places of group expressions by now, no constants that may be grouped by.
            Node::Call { function, .. } if function.name == GROUPING => return,
            _ => {}
        }
        let may_be_grouped = self.rollup && constants || !matches!(expr.node, Node::Literal(_));
        if may_be_grouped && let Some(position) = self.place_of(expr) {
            let name: std::sync::Arc<str> = format!("{expr}").into();
            let computed = !expr.is_field();
            expr.node = Node::Column { slot: self.slot, column: position, name, computed };
            expr.nullable = true;
            return;
        }
        expr.children_mut(&mut |child| self.replace(child, constants));
    }
}

/// The columns among `group` that are in slots of which a row is kept.
fn kept_keys_of(group: &[Expr], keep: &[usize]) -> Vec<KeptKey> {
    let mut found: Vec<KeptKey> = Vec::new();
    for (position, expr) in group.iter().enumerate() {
        if let Node::Column { slot, column, .. } = expr.node
            && keep.contains(&slot)
            && !found.iter().any(|key| (key.slot, key.column) == (slot, column))
        {
            found.push(KeptKey { slot, column, position });
        }
    }
    found
}

pub(super) fn reads_aggregate(expr: &Expr, group_slot: Option<usize>) -> bool {
    let mut found = false;
    expr.walk(&mut |expr| {
        found |= matches!(&expr.node, Node::Column { slot, .. } if Some(*slot) == group_slot);
    });
    found
}
