//! Equalities between columns, in so far as estimates must not count them twice.
//!
//! `t.a = s.a AND s.a = u.a AND t.a = u.a` says of three columns that they are equal, in three ways of which
//! two would do; and `t.a = s.a AND t.a < 9 AND s.a < 9` narrows two tables by what is one condition.

use std::rc::Rc;

use palisade_expr::{Comparison, Expr, Node};

use super::Planning;
use super::order::Part;
use super::planned::{Conjunct, Pool};

/// A column, by slot and position.
type ColumnId = (usize, usize);

/// Columns of several tables in classes of those that are equal.
pub(super) struct EqualColumns(Vec<Vec<ColumnId>>);

impl EqualColumns {
    /// The class that an equality is about; `None` of another condition.
    pub(super) fn of(&self, conjunct: &Conjunct) -> Option<usize> {
        let (left, _) = columns(conjunct)?;
        self.0.iter().position(|class| class.contains(&left))
    }
}

fn column_of(expr: &Expr) -> Option<ColumnId> {
    match expr.node {
        Node::Column { slot, column, .. } => Some((slot, column)),
        _ => None,
    }
}

/// The columns that an equality is about.
fn columns(conjunct: &Conjunct) -> Option<(ColumnId, ColumnId)> {
    conjunct.sides?;
    let Node::Compare { left, right, .. } = &conjunct.expr.node else { return None };
    Some((column_of(left)?, column_of(right)?))
}

impl<'t> Planning<'_, '_, 't> {
    /// The columns that some conditions say are equal.
    pub(super) fn equal_columns<'c>(
        &self,
        conjuncts: impl Iterator<Item = &'c Rc<Conjunct>>,
    ) -> EqualColumns {
        let mut classes: Vec<Vec<ColumnId>> = Vec::new();
        for (left, right) in conjuncts.filter_map(|conjunct| columns(conjunct)) {
            let mut class = vec![left, right];
            classes.retain_mut(|known| {
                let meets = known.contains(&left) || known.contains(&right);
                if meets {
                    class.append(known);
                }
                !meets
            });
            classes.push(class);
        }
        EqualColumns(classes)
    }

    /// Whether an equality tells nothing because both its columns have the same known value.
    pub(super) fn is_fixed(&self, equality: &Conjunct, parts: &[Part<'t>]) -> bool {
        let fixes =
            |condition: &Expr| matches!(condition.node, Node::Compare { comparison: Comparison::Equal, .. });
        self.told_of_both(equality, parts).is_some_and(|(_, condition)| fixes(condition))
    }

    /// The part of their rows to which the tables of equalities are narrowed by conditions that are the same
    /// ones: the pairs of equal rows are no fewer than of all rows of one of them.
    pub(super) fn narrowed_alike(&self, equalities: &Pool, parts: &[Part<'t>]) -> f64 {
        let told = equalities.iter().filter_map(|equality| self.told_of_both(equality, parts));
        told.map(|(part, _)| part).product::<f64>().clamp(f64::MIN_POSITIVE, 1.0)
    }

    /// A condition that is known of both columns of an equality, and the part of a table's rows that it
    /// leaves at least.
    fn told_of_both<'p>(&self, equality: &Conjunct, parts: &'p [Part<'t>]) -> Option<(f64, &'p Expr)> {
        let (left, right) = columns(equality)?;
        let (one, other) = (self.part_with(left, parts)?, self.part_with(right, parts)?);
        let is_of_both = |condition: &&Expr| {
            // What is said of a derived table has gone into it.
            !self.is_stored(right)
                || self.about(other, right).any(|same| is_same(condition, left, same, right))
        };
        let of_left = self.about(one, left).find(is_of_both);
        let of_right = || self.about(other, right).next().filter(|_| !self.is_stored(left));
        let condition = of_left.or_else(of_right)?;
        let narrowed = [(one, left), (other, right)].into_iter();
        let narrowed = narrowed.filter_map(|(part, column)| self.narrowed_to(part, column));
        Some((narrowed.reduce(f64::max)?, condition))
    }

    fn part_with<'p>(&self, column: ColumnId, parts: &'p [Part<'t>]) -> Option<&'p Part<'t>> {
        let table = self.in_slots(&[column.0]);
        parts.iter().find(|part| !table.is_empty() && table.is_within(part.tables))
    }

    fn is_stored(&self, (slot, _): ColumnId) -> bool {
        self.statement().table(slot).is_none()
    }

    /// The conditions on a part that are about a column and nothing else.
    fn about<'p>(&self, part: &'p Part<'t>, column: ColumnId) -> impl Iterator<Item = &'p Expr> {
        part.own.iter().map(|conjunct| &conjunct.expr).filter(move |expr| {
            let (mut reads, mut reads_others) = (false, false);
            expr.walk(&mut |part| match &part.node {
                Node::Column { .. } => match column_of(part) == Some(column) {
                    true => reads = true,
                    false => reads_others = true,
                },
                Node::Subquery(_) => reads_others = true,
                _ => {}
            });
            reads && !reads_others
        })
    }

    /// The part of a table's rows that its conditions leave.
    fn narrowed_to(&self, part: &Part<'t>, (slot, _): ColumnId) -> Option<f64> {
        let rows = self.sizes.rows_of(slot)?.max(1.0);
        Some((part.alone.rows / rows).min(1.0))
    }
}

/// Whether two conditions say the same of two columns.
fn is_same(one: &Expr, left: ColumnId, other: &Expr, right: ColumnId) -> bool {
    let mut same = other.clone();
    rename(&mut same, right, left);
    let mut one = one.clone();
    rename(&mut one, left, left);
    same == one
}

/// Calls a column another one, without its name and type.
fn rename(expr: &mut Expr, from: ColumnId, to: ColumnId) {
    if column_of(expr) == Some(from) {
        *expr = Expr::int(0);
        expr.node = Node::Column { slot: to.0, column: to.1, name: "".into(), computed: false };
        return;
    }
    expr.children_mut(&mut |child| rename(child, from, to));
}
