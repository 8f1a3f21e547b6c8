//! An outer join whose added rows are thrown away is an inner join.
//!
//! ```text
//!  t LEFT JOIN s ON s.a = t.a WHERE s.b > 1     ──►     t JOIN s ON s.a = t.a WHERE s.b > 1
//! ```
//!
//! A row without a match has NULLs for the right side. If a condition over the join cannot be true then, such
//! rows do not pass, and the join need not stay where it is. Conditions over a join are those of WHERE and of
//! the inner joins that it stands in.

use palisade_expr::Expr;

use super::{Block, Rule, Statement};
use crate::conditions::rejects_null;
use crate::logical::JoinTree;

/// The rule.
pub(super) struct OuterToInner;

impl Rule for OuterToInner {
    fn apply(&self, block: &mut Block, _output: &mut [Expr], _statement: &mut Statement<'_, '_>) {
        if let Some(tree) = &mut block.tree {
            outer_to_inner(tree, &block.conditions);
        }
    }
}

/// Makes inner joins of those in `tree` that are, under these conditions.
pub fn outer_to_inner(tree: &mut JoinTree, conditions: &[Expr]) {
    convert(tree, &conditions.iter().collect::<Vec<_>>());
}

/// Makes inner joins of those in `tree` that are; `above` are the conditions over it.
fn convert(tree: &mut JoinTree, above: &[&Expr]) {
    if let JoinTree::Left(_, right, _) = tree {
        let mut slots = Vec::new();
        right.slots(&mut slots);
        if above.iter().any(|condition| rejects_null(condition, &slots)) {
            let whole = std::mem::replace(tree, JoinTree::Inner(Vec::new(), Vec::new()));
            if let JoinTree::Left(left, right, on) = whole {
                *tree = JoinTree::Inner(vec![*left, *right], on);
            }
        }
    }
    match tree {
        JoinTree::Leaf(_) => {}
        JoinTree::Inner(parts, on) => {
            let above: Vec<&Expr> = above.iter().copied().chain(&*on).collect();
            parts.iter_mut().for_each(|part| convert(part, &above));
        }
        JoinTree::Left(left, right, on) => {
            convert(left, above);
            convert(right, &on.iter().collect::<Vec<_>>());
        }
        JoinTree::Semi { left, right, on, anti, .. } => {
            let of_right: Vec<&Expr> = on.iter().collect();
            convert(right, &of_right);
            let of_left =
                if *anti { above.to_vec() } else { above.iter().copied().chain(of_right).collect() };
            convert(left, &of_left);
        }
    }
}
