//! What plans would cost: for rules that do not always pay.

use palisade_expr::{Expr, Node, SqlResult};

use super::{Block, Statement};
use crate::join::{Joined, Joining};
use crate::logical::JoinTree;
use crate::lower::Planner;

/// Gives `weigh` a planner whose plans are thrown away. What of the data they are chosen by is noted, and
/// their units count.
pub(super) fn trial<'s, 'a, T>(
    statement: &mut Statement<'s, 'a>,
    weigh: impl FnOnce(&Statement<'s, 'a>, &mut Planner<'_>) -> SqlResult<T>,
) -> SqlResult<T> {
    let pace = statement.pace.of_part();
    let mut planner = Planner::new(statement.dictionary, statement.parameters, pace, &statement.subqueries);
    planner.switches = statement.switches;
    let weighed = weigh(statement, &mut planner);
    let premises = planner.premises.take();
    statement.pace.add(&planner.pace)?;
    drop(planner);
    statement.premises.extend(premises);
    weighed
}

/// The joins of a block as if its tables were those of `tree`, without its conditions that run a subquery for
/// each row; `group` is what their groups are counted by.
pub(super) fn joins_of(
    planner: &mut Planner<'_>,
    block: &Block,
    tree: JoinTree,
    group: Option<Vec<(usize, usize)>>,
) -> SqlResult<Joined> {
    let runs_subquery = |condition: &Expr| {
        let mut runs = false;
        condition.walk(&mut |part| {
            runs |= matches!(&part.node, Node::Subquery(subquery) if subquery.correlated);
        });
        runs
    };
    let conditions = block.conditions.iter().filter(|condition| !runs_subquery(condition)).cloned().collect();
    let mut local = Vec::new();
    tree.slots(&mut local);
    let joining = Joining {
        used: local.iter().map(|slot| (*slot, None)).collect(),
        local,
        order: None,
        limit: None,
        group,
        straight: false,
        hints: block.hints.clone(),
    };
    planner.joins(tree, conditions, joining)
}
