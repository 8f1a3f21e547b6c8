//! Conditions that all branches of an OR have in common.
//!
//! ```text
//!  (a = b AND x = 1) OR (a = b AND x = 2)     ──►     a = b AND (x = 1 OR x = 2)
//! ```
//!
//! The equality can then order a join (TPC-H's query 19). What is left of a branch may be nothing: then the
//! OR is true wherever the common conditions are.
//!
//! Besides, where every branch says something of one table alone, the OR of that is a condition on the table
//! which can be decided before any join; it follows from the OR, which stays.

use palisade_expr::{Expr, Node};

use super::substitute::{is_movable, is_repeatable, slots_of};
use super::{Block, Rule, Statement};
use crate::logical::JoinTree;

/// Branches of an OR beyond which it is left alone: the work grows with their product.
const MOST_BRANCHES: usize = 32;

/// The rule.
pub(super) struct OrFactors;

impl Rule for OrFactors {
    fn apply(&self, block: &mut Block, _output: &mut [Expr], statement: &mut Statement<'_, '_>) {
        let mut conditions = Vec::with_capacity(block.conditions.len());
        for condition in std::mem::take(&mut block.conditions) {
            match condition.node {
                Node::Or(parts) if parts.len() <= MOST_BRANCHES && parts.iter().all(is_repeatable) => {
                    factored(parts, &mut conditions);
                }
                _ => conditions.push(condition),
            }
        }
        if matches!(&block.tree, Some(JoinTree::Inner(..))) {
            let implied: Vec<Expr> =
                conditions.iter().flat_map(|condition| of_one_table(condition, statement)).collect();
            conditions.extend(implied);
        }
        block.conditions = conditions;
    }
}

/// The conjuncts of a branch.
fn terms(branch: &Expr) -> Vec<&Expr> {
    match &branch.node {
        Node::And(parts) => parts.iter().flat_map(terms).collect(),
        _ => vec![branch],
    }
}

/// Adds the conditions that an OR of `parts` consists of.
fn factored(parts: Vec<Expr>, out: &mut Vec<Expr>) {
    let branches: Vec<Vec<&Expr>> = parts.iter().map(terms).collect();
    let common: Vec<Expr> = match branches.split_first() {
        Some((first, rest)) => {
            let is_common = |term: &&&Expr| rest.iter().all(|branch| branch.contains(*term));
            first.iter().filter(is_common).map(|term| (*term).clone()).collect()
        }
        None => Vec::new(),
    };
    let rests: Vec<Option<Expr>> = branches
        .iter()
        .map(|branch| {
            let own = branch.iter().filter(|term| !common.contains(*term));
            Expr::all_of(own.map(|term| (*term).clone()).collect())
        })
        .collect();
    let nullable = parts.iter().any(|part| part.nullable);
    if common.is_empty() {
        out.push(Expr::truth(Node::Or(parts), nullable));
        return;
    }
    out.extend(common);
    if let Some(rests) = rests.into_iter().collect::<Option<Vec<Expr>>>() {
        out.push(Expr::truth(Node::Or(rests), nullable));
    }
}

/// What an OR of several tables says of each of them alone.
fn of_one_table(condition: &Expr, statement: &Statement<'_, '_>) -> Vec<Expr> {
    let Node::Or(parts) = &condition.node else { return Vec::new() };
    let tables = slots_of(condition, statement);
    if tables.len() < 2 || parts.len() > MOST_BRANCHES || !is_movable(condition) {
        return Vec::new();
    }
    let of_table = |table: usize| {
        let branches = parts.iter().map(|part| {
            let own = terms(part).into_iter().filter(|term| slots_of(term, statement) == [table]);
            Expr::all_of(own.cloned().collect())
        });
        let branches = branches.collect::<Option<Vec<Expr>>>()?;
        let nullable = branches.iter().any(|branch| branch.nullable);
        Some(Expr::truth(Node::Or(branches), nullable))
    };
    tables.iter().filter_map(|table| of_table(*table)).collect()
}
