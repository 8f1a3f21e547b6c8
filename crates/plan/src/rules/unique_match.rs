//! A semi-join that finds one row at most is an inner join.
//!
//! ```text
//!  t SEMI JOIN s ON t.a = s.id AND s.b > 3     ──►     t JOIN s ON t.a = s.id AND s.b > 3
//! ```
//!
//! The right side is one table, and all parts of a unique index of it are equal to something that is not its
//! own. Joined so, it may come first, or between other tables. MySQL calls this pulling the table out.

use palisade_expr::{Comparison, Domain, Expr, Node};

use super::grouped_in::tells_apart;
use super::substitute::slots_of;
use super::{Block, Rule, Statement};
use crate::conditions::is_column;
use crate::logical::{JoinTree, Leaf, TableLeaf};

/// The rule.
pub(super) struct UniqueMatch;

impl Rule for UniqueMatch {
    fn apply(&self, block: &mut Block, _output: &mut [Expr], statement: &mut Statement<'_, '_>) {
        if block.straight {
            return;
        }
        if let Some(tree) = &mut block.tree {
            pull_out(tree, statement);
        }
    }
}

/// Makes inner joins of the semi-joins in a tree that find one row at most.
fn pull_out(tree: &mut JoinTree, statement: &Statement<'_, '_>) {
    match tree {
        JoinTree::Leaf(_) => {}
        JoinTree::Inner(parts, _) => parts.iter_mut().for_each(|part| pull_out(part, statement)),
        JoinTree::Left(left, right, _) => {
            pull_out(left, statement);
            pull_out(right, statement);
        }
        JoinTree::Semi { left, right, on, anti, .. } => {
            pull_out(left, statement);
            let JoinTree::Leaf(Leaf::Table(leaf)) = &**right else { return pull_out(right, statement) };
            if *anti || !finds_one(leaf, on, statement) {
                return;
            }
            let whole = std::mem::replace(tree, JoinTree::Inner(Vec::new(), Vec::new()));
            if let JoinTree::Semi { left, right, on, .. } = whole {
                *tree = JoinTree::Inner(vec![*left, *right], on);
            }
        }
    }
}

/// Whether conditions give all parts of a unique index of a table.
fn finds_one(leaf: &TableLeaf, on: &[Expr], statement: &Statement<'_, '_>) -> bool {
    let is_given = |column: usize| {
        on.iter().any(|condition| {
            let Node::Compare { comparison: Comparison::Equal, domain, left, right } = &condition.node else {
                return false;
            };
            let gives = |own: &Expr, other: &Expr, domain: Domain| {
                is_column(own, leaf.slot, column)
                    && !own.has_own_collation()
                    && tells_apart(&own.ty, domain)
                    && !slots_of(other, statement).contains(&leaf.slot)
            };
            gives(left, right, *domain) || gives(right, left, *domain)
        })
    };
    leaf.table.indexes.iter().any(|index| {
        let parts = || index.parts.iter();
        index.unique && parts().all(|part| part.prefix.is_none() && is_given(usize::from(part.column)))
    })
}
