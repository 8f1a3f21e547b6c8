//! What a semi-join looks for may lead the join: made distinct, it is joined as a table of its own.
//!
//! ```text
//!  t SEMI JOIN s ON t.a = s.b AND s.c = 7
//!     ──►  t JOIN (SELECT DISTINCT s.b FROM s WHERE s.c = 7) d ON t.a = d.b
//! ```
//!
//! A row finds one row of the distinct ones at most, if the comparison tells apart what DISTINCT does. Where
//! they are few the join begins with them, and looks rows up by an index; MySQL calls this the scan of a
//! materialized subquery, and LooseScan where an index has the distinct rows side by side. Otherwise the
//! first match of each row is looked for, or a hash table of all of them made, and that is what a semi-join
//! does. Which of the two costs less the planner tells, of all joins of the block.

use palisade_catalog::SqlType;
use palisade_expr::{Comparison, Domain, Expr, Node, SqlResult};
use palisade_session::sink::ColumnMeta;

use super::grouped_in::tells_apart;
use super::substitute::{columns_of, is_movable, is_repeatable, slots_of};
use super::trial::{joins_of, trial};
use super::{Block, Rule, Statement};
use crate::logical::{Body, Distinct, JoinTree, Leaf, LogicalQuery, Projection};

/// What the joins of a block cost at least where it is looked for other ones, and what part of that these
/// may cost at most.
const LEAST_COST: f64 = 2e5;
const MOST_OF_IT: f64 = 0.8;
/// Tables of a block at most whose joins are planned once more for each of its semi-joins.
const MOST_TABLES: usize = 10;

/// The rule.
pub(super) struct DistinctMatch;

impl Rule for DistinctMatch {
    fn apply(&self, block: &mut Block, _output: &mut [Expr], statement: &mut Statement<'_, '_>) {
        if block.whole_rows || block.straight || !statement.switches.materialization {
            return;
        }
        let Some(tree) = block.tree.take() else { return };
        block.tree = Some(distinct(tree, block, statement));
    }
}

/// A tree with the semi-joins made joins for which that pays.
fn distinct(mut tree: JoinTree, block: &Block, statement: &mut Statement<'_, '_>) -> JoinTree {
    let mut at = 0;
    loop {
        let mut seen = 0;
        let Some(matches) = find(&tree, at, &mut seen, statement) else { return tree };
        at += 1;
        let Some(matches) = matches else { continue };
        // Numbers are taken in any case, so that those of later tables do not depend on costs.
        let slots = [statement.slots, statement.slots + 1];
        statement.slots += 2;
        match is_wanted(&matches, (&tree, at - 1), slots, block, statement) {
            Ok(true) => {
                put(&mut tree, at - 1, &mut 0, &mut Some((matches, slots)));
                // It is no semi-join any more.
                at -= 1;
            }
            Ok(false) => {}
            // The statement is to end, and says so at the next checkpoint.
            Err(_) => return tree,
        }
    }
}

/// What is looked for.
#[derive(Clone)]
struct Matches {
    right: JoinTree,
    /// Conditions on it alone.
    own: Vec<Expr>,
    /// What is equal: the row's, and what is looked for.
    keys: Vec<(Expr, Expr, Domain)>,
    /// Conditions that read nothing of it.
    others: Vec<Expr>,
    /// The number of the subquery.
    number: usize,
}

impl Matches {
    /// That of a semi-join, if it is looked for by equalities alone.
    fn of(right: &JoinTree, on: &[Expr], number: usize, statement: &Statement<'_, '_>) -> Option<Matches> {
        let mut slots = Vec::new();
        right.slots(&mut slots);
        let mut is_free = true;
        right.leaves(&mut |leaf| {
            is_free &= match leaf {
                Leaf::Derived { query, .. } => query.outer_slots.is_empty(),
                Leaf::Recursive { recursion, .. } => recursion.outer_slots.is_empty(),
                Leaf::Working { .. } => false,
                Leaf::Table(_) | Leaf::Virtual(_) => true,
            };
        });
        let reads = |expr: &Expr| {
            let read = slots_of(expr, statement);
            let own = read.iter().filter(|slot| slots.contains(slot)).count();
            (own > 0, own < read.len())
        };
        right.conditions(&mut |condition| is_free &= is_repeatable(condition) && !reads(condition).1);
        if !is_free {
            return None;
        }
        let (own, keys, others) = (Vec::new(), Vec::new(), Vec::new());
        let mut matches = Matches { right: right.clone(), own, keys, others, number };
        for condition in on {
            match reads(condition) {
                _ if !is_repeatable(condition) => return None,
                (true, false) => matches.own.push(condition.clone()),
                (false, _) => matches.others.push(condition.clone()),
                (true, true) => {
                    let Node::Compare { comparison: Comparison::Equal, domain, left, right } =
                        &condition.node
                    else {
                        return None;
                    };
                    let (outer, inner) = match (reads(left), reads(right)) {
                        ((false, _), (true, false)) => (left, right),
                        ((true, false), (false, _)) => (right, left),
                        _ => return None,
                    };
                    let is_told = tells_apart(&inner.ty, *domain) && tells_apart(&outer.ty, *domain);
                    if !is_told || !is_movable(outer) || !is_movable(inner) {
                        return None;
                    }
                    matches.keys.push(((**outer).clone(), (**inner).clone(), *domain));
                }
            }
        }
        (!matches.keys.is_empty()).then_some(matches)
    }

    /// Joined with `left`: the distinct rows are in the first of `slots`, and made in the second.
    fn joined(self, left: JoinTree, [slot, projected]: [usize; 2]) -> JoinTree {
        let Matches { right, own, keys, others, number } = self;
        let values: Vec<Expr> = keys.iter().map(|(_, inner, _)| inner.clone()).collect();
        let types: Vec<SqlType> = values.iter().map(|value| value.ty.clone()).collect();
        let name = |position: usize| format!("Name_exp_{}", position + 1);
        let column = |(number, value): (usize, &Expr)| {
            let name = match &value.node {
                Node::Column { name, .. } => name.clone(),
                _ => format!("`{}`", name(number)).into(),
            };
            let node = Node::Column { slot: projected, column: number, name, computed: false };
            Expr { node, ..value.clone() }
        };
        let output = values.iter().enumerate().map(column).collect();
        let columns = types.iter().enumerate();
        let columns = columns.map(|(number, ty)| ColumnMeta::computed(name(number), ty.clone())).collect();
        let block = Block {
            tree: Some(right),
            conditions: own,
            projection: Some(Projection { slot: projected, values }),
            distinct: Distinct::Projected(types),
            ..Block::default()
        };
        let query = LogicalQuery::new(Body::Block(Box::new(block)), output, columns);
        let found = columns_of(&query, slot);
        let equality = |((outer, _, domain), found): ((Expr, Expr, Domain), Expr)| {
            let nullable = outer.nullable || found.nullable;
            let (left, right) = (Box::new(outer), Box::new(found));
            Expr::truth(Node::Compare { comparison: Comparison::Equal, domain, left, right }, nullable)
        };
        let on = others.into_iter().chain(keys.into_iter().zip(found).map(equality)).collect();
        let alias = format!("<subquery{}>", number + 2);
        let (query, subquery) = (Box::new(query), Some(number));
        let leaf = JoinTree::Leaf(Leaf::Derived { slot, query, alias, subquery });
        JoinTree::Inner(vec![left, leaf], on)
    }
}

/// The semi-join with this number of a tree, if there is one, as what is looked for by equalities.
fn find(
    tree: &JoinTree,
    at: usize,
    seen: &mut usize,
    statement: &Statement<'_, '_>,
) -> Option<Option<Matches>> {
    match tree {
        JoinTree::Leaf(_) => None,
        JoinTree::Inner(parts, _) => parts.iter().find_map(|part| find(part, at, seen, statement)),
        JoinTree::Left(left, ..) | JoinTree::Semi { left, anti: true, .. } => find(left, at, seen, statement),
        JoinTree::Semi { left, right, on, anti: false, number } => {
            *seen += 1;
            match *seen - 1 == at {
                true => Some(Matches::of(right, on, *number, statement)),
                false => find(left, at, seen, statement),
            }
        }
    }
}

/// Makes a join of the semi-join with this number.
fn put(tree: &mut JoinTree, at: usize, seen: &mut usize, matches: &mut Option<(Matches, [usize; 2])>) {
    if let JoinTree::Semi { anti: false, .. } = tree {
        *seen += 1;
        if *seen - 1 == at {
            let whole = std::mem::replace(tree, JoinTree::Inner(Vec::new(), Vec::new()));
            if let (JoinTree::Semi { left, .. }, Some((matches, slots))) = (whole, matches.take()) {
                *tree = matches.joined(*left, slots);
            }
            return;
        }
    }
    match tree {
        JoinTree::Leaf(_) => {}
        JoinTree::Inner(parts, _) => parts.iter_mut().for_each(|part| put(part, at, seen, matches)),
        JoinTree::Left(left, ..) | JoinTree::Semi { left, .. } => put(left, at, seen, matches),
    }
}

/// Whether the semi-join with this number of a tree is to be a join: as an outline says, or as costs do.
fn is_wanted(
    matches: &Matches,
    (tree, at): (&JoinTree, usize),
    slots: [usize; 2],
    block: &Block,
    statement: &mut Statement<'_, '_>,
) -> SqlResult<bool> {
    let [slot, _] = slots;
    if let Some(outline) = &statement.outline {
        return Ok(outline.joins().any(|join| join.left.contains(&slot) || join.right.contains(&slot)));
    }
    // The first rows come early of a semi-join.
    let is_any = block.order.keys.is_empty()
        && block.grouping.is_none()
        && block.windows.is_empty()
        && matches!(block.distinct, Distinct::No);
    if is_any && block.order.limit.is_some() || tree.count() > MOST_TABLES {
        return Ok(false);
    }
    trial(statement, |_, planner| {
        let as_it_is = joins_of(planner, block, tree.clone(), None)?.cost;
        if as_it_is < LEAST_COST {
            return Ok(false);
        }
        let mut other = tree.clone();
        put(&mut other, at, &mut 0, &mut Some((matches.clone(), slots)));
        let mut rows = None;
        other.leaves(&mut |leaf| {
            if let Leaf::Derived { slot: own, query, .. } = leaf
                && *own == slot
            {
                rows = Some((**query).clone());
            }
        });
        let made = rows.map(|query| planner.query(query)).transpose()?.map_or(0.0, |query| query.cost);
        let joined = made + joins_of(planner, block, other, None)?.cost;
        Ok(joined < as_it_is * MOST_OF_IT)
    })
}
