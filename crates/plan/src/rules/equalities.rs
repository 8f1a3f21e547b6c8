//! What is said of a column is said of those that are equal to it.
//!
//! ```text
//!  t.a = s.a AND s.a = u.a AND u.a > 5
//!     ──►  t.a = s.a AND s.a = u.a AND t.a = u.a AND u.a > 5 AND t.a > 5 AND s.a > 5
//! ```
//!
//! Columns that are equal make a *class*. Each table of a class can then be narrowed by what is known of one
//! of them, and any two be joined first. Where a class has a constant, each of its columns has it, and no
//! equalities are added: they would tell nothing more.
//!
//! ```text
//!  t LEFT JOIN s ON s.a = t.a WHERE t.a = 5     ──►     t LEFT JOIN s ON s.a = t.a AND s.a = 5 WHERE t.a = 5
//! ```
//!
//! A row of `t` that WHERE throws away may find other partners than before. So what is known of the left side
//! goes into the ON of an outer join, a semi-join and an anti-join, and narrows their right sides.
//!
//! # When it is right
//!
//! Equality has to be transitive: all columns of a class are compared as the same kind of values, numbers by
//! exact arithmetic, texts in their own collation. A condition goes from one column to another if it says the
//! same of all values that are equal: texts that are equal in their collation may differ in bytes, so it
//! compares them in that collation and does nothing else with them. NULL is equal to nothing, and each column
//! of a class is therefore not NULL where the conditions hold.
//!
//! What follows from conditions is redundant, and estimates must not count it twice; `join/order.rs` does
//! not.

use palisade_catalog::{CollationId, SqlType};
use palisade_expr::{Comparison, Domain, Expr, Node, Truth};

use super::derived_filter::tells_alike;
use super::substitute::{is_movable, slots_of};
use super::{Block, Rule, Statement};
use crate::logical::JoinTree;

/// Columns of a class that become equal to each other, at most: the work of ordering joins grows with the
/// conditions between tables.
const MOST_MEMBERS: usize = 8;
/// Conditions of a block beyond which nothing is added.
const MOST_CONDITIONS: usize = 128;

/// The rule.
pub(super) struct Equalities;

impl Rule for Equalities {
    fn apply(&self, block: &mut Block, _output: &mut [Expr], statement: &mut Statement<'_, '_>) {
        let Some(tree) = &mut block.tree else { return };
        infer(tree, &mut block.conditions, &Given::default(), statement);
    }
}

/// The same for joins that subqueries have become, when the rest is done.
pub(super) struct EqualitiesOfMatches;

impl Rule for EqualitiesOfMatches {
    fn apply(&self, block: &mut Block, _output: &mut [Expr], statement: &mut Statement<'_, '_>) {
        let Some(tree) = &mut block.tree else { return };
        if has_matches(tree) {
            let mut known = block.conditions.clone();
            let mut own = Vec::new();
            inner_conditions(tree, &mut own);
            known.extend(own.into_iter().cloned());
            matches(tree, &known, statement);
        }
    }
}

fn has_matches(tree: &JoinTree) -> bool {
    match tree {
        JoinTree::Leaf(_) => false,
        JoinTree::Inner(parts, _) => parts.iter().any(has_matches),
        JoinTree::Left(left, _, _) => has_matches(left),
        JoinTree::Semi { .. } => true,
    }
}

/// Adds what follows to the conditions of the semi-joins and anti-joins of a tree.
fn matches(tree: &mut JoinTree, known: &[Expr], statement: &Statement<'_, '_>) {
    match tree {
        JoinTree::Leaf(_) => {}
        JoinTree::Inner(parts, _) => parts.iter_mut().for_each(|part| matches(part, known, statement)),
        JoinTree::Left(left, _, _) => matches(left, known, statement),
        JoinTree::Semi { left, right, on, .. } => {
            matches(left, known, statement);
            infer(right, on, &Given::of(known, left, right, statement), statement);
        }
    }
}

/// Adds to `conditions`, which hold for the rows of `tree`, what follows from them and from what is given
/// besides; and the same within the joins of the tree.
fn infer(tree: &mut JoinTree, conditions: &mut Vec<Expr>, given: &Given, statement: &Statement<'_, '_>) {
    let mut facts = Vec::new();
    conditions.iter().for_each(|condition| conjuncts(condition, &mut facts));
    inner_conditions(tree, &mut facts);
    let own = facts.len();
    given.conditions.iter().for_each(|condition| conjuncts(condition, &mut facts));
    let mut local = Vec::new();
    tree.slots(&mut local);
    let has_equality = facts.iter().any(|fact| link(fact).is_some());
    let mut added = Vec::new();
    if has_equality && facts.len() <= MOST_CONDITIONS {
        added = Classes::of(&facts).consequences(&facts, statement);
        // What is known outside is no condition about the tables here.
        added.retain(|condition| {
            let read = slots_of(condition, statement);
            read.iter().any(|slot| local.contains(slot)) && given.allows(&read)
        });
    }
    let mut all: Vec<Expr> = facts.drain(..).take(own).cloned().collect();
    all.extend(given.conditions.iter().cloned());
    all.extend(added.iter().cloned());
    conditions.extend(added);
    within(tree, &all, statement);
}

/// Goes on within the outer joins, semi-joins and anti-joins of a tree; `known` holds for its rows.
fn within(tree: &mut JoinTree, known: &[Expr], statement: &Statement<'_, '_>) {
    match tree {
        JoinTree::Leaf(_) => {}
        JoinTree::Inner(parts, _) => parts.iter_mut().for_each(|part| within(part, known, statement)),
        JoinTree::Left(left, right, on) | JoinTree::Semi { left, right, on, .. } => {
            within(left, known, statement);
            infer(right, on, &Given::of(known, left, right, statement), statement);
        }
    }
}

/// The left side of a join, for what is inferred about its right side.
#[derive(Default)]
struct Given {
    /// Conditions on it alone.
    conditions: Vec<Expr>,
    /// Slots of both sides; none where the conditions are those of a whole block, which may be about
    /// enclosing blocks as well. ON reads the tables that it joins and no others.
    slots: Option<Vec<usize>>,
}

impl Given {
    fn of(known: &[Expr], left: &JoinTree, right: &JoinTree, statement: &Statement<'_, '_>) -> Given {
        let mut slots = Vec::new();
        left.slots(&mut slots);
        let is_of_left = |condition: &&Expr| {
            let read = slots_of(condition, statement);
            !read.is_empty() && read.iter().all(|slot| slots.contains(slot))
        };
        let conditions = known.iter().filter(is_of_left).cloned().collect();
        right.slots(&mut slots);
        Given { conditions, slots: Some(slots) }
    }

    fn allows(&self, read: &[usize]) -> bool {
        self.slots.as_ref().is_none_or(|slots| read.iter().all(|slot| slots.contains(slot)))
    }
}

/// The conditions of the inner joins that a tree begins with, which hold for all its rows.
fn inner_conditions<'t>(tree: &'t JoinTree, out: &mut Vec<&'t Expr>) {
    match tree {
        JoinTree::Leaf(_) => {}
        JoinTree::Inner(parts, on) => {
            on.iter().for_each(|condition| conjuncts(condition, out));
            parts.iter().for_each(|part| inner_conditions(part, out));
        }
        JoinTree::Left(left, _, _) | JoinTree::Semi { left, .. } => inner_conditions(left, out),
    }
}

fn conjuncts<'e>(condition: &'e Expr, out: &mut Vec<&'e Expr>) {
    match &condition.node {
        Node::And(parts) => parts.iter().for_each(|part| conjuncts(part, out)),
        _ => out.push(condition),
    }
}

/// A column, by slot and position.
type ColumnId = (usize, usize);

fn column_of(expr: &Expr) -> Option<ColumnId> {
    match expr.node {
        Node::Column { slot, column, .. } if !expr.has_own_collation() => Some((slot, column)),
        _ => None,
    }
}

/// As which values the columns of a class are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Integers and decimal numbers.
    Exact,
    Double,
    Moment,
    Time,
    Text(CollationId),
}

impl Kind {
    /// That of an equality of two columns, if it is transitive.
    fn of(domain: Domain, left: &SqlType, right: &SqlType) -> Option<Kind> {
        let is_exact = |ty: &SqlType| matches!(ty, SqlType::Int { .. } | SqlType::Decimal { .. });
        let is_moment =
            |ty: &SqlType| matches!(ty, SqlType::Date | SqlType::DateTime { .. } | SqlType::Timestamp { .. });
        let is_double = |ty: &SqlType| matches!(ty, SqlType::Float { .. } | SqlType::Double { .. });
        let both = |is: &dyn Fn(&SqlType) -> bool| is(left) && is(right);
        match domain {
            Domain::Integer | Domain::Decimal if both(&is_exact) => Some(Kind::Exact),
            Domain::Double if both(&is_double) => Some(Kind::Double),
            Domain::DateTime if both(&is_moment) => Some(Kind::Moment),
            Domain::Time if both(&|ty| matches!(ty, SqlType::Time { .. })) => Some(Kind::Time),
            Domain::Text(collation) if both(&|ty| is_text_in(ty, collation)) => Some(Kind::Text(collation)),
            _ => None,
        }
    }

    /// How two columns of the class are compared.
    fn domain(self, left: &SqlType, right: &SqlType) -> Domain {
        match self {
            Kind::Exact if [left, right].iter().all(|ty| matches!(ty, SqlType::Int { .. })) => {
                Domain::Integer
            }
            Kind::Exact => Domain::Decimal,
            Kind::Double => Domain::Double,
            Kind::Moment => Domain::DateTime,
            Kind::Time => Domain::Time,
            Kind::Text(collation) => Domain::Text(collation),
        }
    }
}

fn is_text_in(ty: &SqlType, collation: CollationId) -> bool {
    match ty {
        SqlType::Char { collation: own, .. }
        | SqlType::VarChar { collation: own, .. }
        | SqlType::Text { collation: own, .. } => *own == collation,
        SqlType::Binary { .. } | SqlType::VarBinary { .. } | SqlType::Blob { .. } => {
            collation == CollationId::BINARY
        }
        _ => false,
    }
}

/// The columns that a condition says are equal, and as what.
fn link(condition: &Expr) -> Option<(&Expr, &Expr, Kind)> {
    let Node::Compare { comparison: Comparison::Equal, domain, left, right } = &condition.node else {
        return None;
    };
    let (one, other) = (column_of(left)?, column_of(right)?);
    let kind = Kind::of(*domain, &left.ty, &right.ty)?;
    (one != other).then_some((left, right, kind))
}

/// A class: columns that are equal to each other.
struct Class<'e> {
    kind: Kind,
    members: Vec<&'e Expr>,
}

impl Class<'_> {
    fn has(&self, column: ColumnId) -> bool {
        self.members.iter().any(|member| column_of(member) == Some(column))
    }
}

/// The classes of some conditions.
struct Classes<'e>(Vec<Class<'e>>);

impl<'e> Classes<'e> {
    fn of(facts: &[&'e Expr]) -> Classes<'e> {
        let mut classes: Vec<Class<'e>> = Vec::new();
        for (left, right, kind) in facts.iter().filter_map(|fact| link(fact)) {
            let mut class = Class { kind, members: Vec::new() };
            for member in [left, right] {
                let found = classes.iter().position(|known| {
                    known.kind == kind && column_of(member).is_some_and(|column| known.has(column))
                });
                match found {
                    Some(found) => class.members.extend(classes.swap_remove(found).members),
                    None if !class.members.iter().any(|known| column_of(known) == column_of(member)) => {
                        class.members.push(member);
                    }
                    None => {}
                }
            }
            classes.push(class);
        }
        Classes(classes)
    }

    /// What follows from the facts, and is none of them.
    fn consequences(&self, facts: &[&Expr], statement: &Statement<'_, '_>) -> Vec<Expr> {
        let mut added: Vec<Expr> = Vec::new();
        for class in &self.0 {
            let about: Vec<(ColumnId, &Expr)> = facts
                .iter()
                .filter_map(|fact| subject(fact, statement).map(|column| (column, *fact)))
                .filter(|(column, _)| class.has(*column))
                .collect();
            let has_constant = about.iter().any(|(_, fact)| is_equality(fact));
            for (column, fact) in &about {
                let Some(source) = class.members.iter().find(|known| column_of(known) == Some(*column))
                else {
                    continue;
                };
                let others = class.members.iter().filter(|known| column_of(known) != Some(*column));
                for target in others.filter(|target| says_the_same(fact, source, target, class.kind)) {
                    let mut condition = (*fact).clone();
                    replace(&mut condition, *column, target);
                    add(condition, facts, &mut added);
                }
            }
            if !has_constant && class.members.len() <= MOST_MEMBERS {
                class.pairs(facts, &mut added);
            }
        }
        added
    }
}

impl Class<'_> {
    /// Adds the equalities of members in different tables that no fact tells.
    fn pairs(&self, facts: &[&Expr], added: &mut Vec<Expr>) {
        for (number, left) in self.members.iter().enumerate() {
            for right in self.members.iter().skip(number + 1) {
                let pair = [column_of(left), column_of(right)];
                let is_told = |fact: &&Expr| {
                    link(fact).is_some_and(|(one, other, _)| {
                        let told = [column_of(one), column_of(other)];
                        told == pair || told == [pair[1], pair[0]]
                    })
                };
                let in_one_table = pair[0].map(|column| column.0) == pair[1].map(|column| column.0);
                if in_one_table || facts.iter().any(is_told) {
                    continue;
                }
                let domain = self.kind.domain(&left.ty, &right.ty);
                let nullable = left.nullable || right.nullable;
                let (left, right) = (Box::new((*left).clone()), Box::new((*right).clone()));
                let node = Node::Compare { comparison: Comparison::Equal, domain, left, right };
                add(Expr::truth(node, nullable), facts, added);
            }
        }
    }
}

fn add(condition: Expr, facts: &[&Expr], added: &mut Vec<Expr>) {
    if !facts.contains(&&condition) && !added.contains(&condition) {
        added.push(condition);
    }
}

/// The only column that a condition reads, if it may be copied.
fn subject(condition: &Expr, statement: &Statement<'_, '_>) -> Option<ColumnId> {
    let is_test_of_null = matches!(&condition.node, Node::Is { operand, truth: Truth::Null, .. } if column_of(operand).is_some());
    if is_test_of_null || !is_movable(condition) || slots_of(condition, statement).len() != 1 {
        return None;
    }
    let mut column = None;
    let mut is_sole = true;
    condition.walk(&mut |part| {
        if let Node::Column { slot, column: place, .. } = part.node {
            is_sole &= *column.get_or_insert((slot, place)) == (slot, place);
        }
    });
    column.filter(|_| is_sole)
}

/// Whether a condition about one column gives it one value.
fn is_equality(condition: &Expr) -> bool {
    matches!(&condition.node, Node::Compare { comparison: Comparison::Equal, left, right, .. }
        if column_of(left).is_some() != column_of(right).is_some())
}

/// Whether a condition on one column of a class says the same of another one.
fn says_the_same(condition: &Expr, source: &Expr, target: &Expr, kind: Kind) -> bool {
    let Some((slot, _)) = column_of(source) else { return false };
    if source.ty == target.ty {
        return tells_alike(condition, slot);
    }
    // Of texts and numbers of other lengths a comparison says the same, what is computed of them may differ.
    let is_about = |operand: &Expr| column_of(operand) == column_of(source);
    let is_other = |operand: &Expr| !reads_columns(operand);
    let has_one_form = match kind {
        Kind::Exact | Kind::Text(_) => true,
        Kind::Double | Kind::Moment | Kind::Time => false,
    };
    let is_comparison = match &condition.node {
        Node::Compare { comparison, left, right, .. } if *comparison != Comparison::NullSafeEqual => {
            is_about(left) && is_other(right) || is_about(right) && is_other(left)
        }
        Node::Between { operand, low, high, .. } => is_about(operand) && is_other(low) && is_other(high),
        Node::In { operand, list, .. } => is_about(operand) && list.iter().all(|(_, item)| is_other(item)),
        _ => false,
    };
    has_one_form && is_comparison && tells_alike(condition, slot)
}

fn reads_columns(expr: &Expr) -> bool {
    let mut reads = false;
    expr.walk(&mut |part| reads |= matches!(part.node, Node::Column { .. }));
    reads
}

/// Puts another column in the place of one.
fn replace(expr: &mut Expr, column: ColumnId, target: &Expr) {
    match expr.node {
        Node::Column { slot, column: place, .. } if (slot, place) == column => *expr = target.clone(),
        _ => expr.children_mut(&mut |child| replace(child, column, target)),
    }
    expr.nullable |= target.nullable;
}
