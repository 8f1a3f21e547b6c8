//! Rows are grouped before they are joined, where each of their groups is one of the block's.
//!
//! ```text
//!  SELECT c.id, c.name, SUM(o.x) FROM c JOIN o ON o.c = c.id GROUP BY c.id, c.name
//!     ──►  SELECT c.id, c.name, d.s FROM c
//!          JOIN (SELECT o.c, SUM(o.x) AS s FROM o GROUP BY o.c) d ON d.c = c.id
//! ```
//!
//! The tables whose columns are added up are *counted*; the others are the *rest*. Grouped by the columns
//! that join them to the rest, and by those that the block groups by, the counted rows give the block's
//! groups:
//!
//! - a group of counted rows is joined with one row of the rest at most: each table of the rest is found by
//!   all parts of a unique key, from these columns or from tables that are found so;
//! - two of them are never one group of the block, which has these columns, or a whole unique key of the
//!   table that they are equal to, among what it groups by.
//!
//! So nothing is added up twice, and HAVING is a condition of the join. Beside the rows of an outer join that
//! have no match COUNT is 0, and COUNT(*) 1.
//!
//! Each row is then put into a group by a few columns of its own, perhaps in the order of an index, and not
//! joined; but rows that the rest would leave out are added up, too. Costs decide, and nothing that may fail
//! is computed for such rows.
//!
//! Source: Yan and Larson, "Eager aggregation and lazy aggregation", 1995.

use palisade_engine::ReadMode;
use palisade_expr::func::control::COALESCE;
use palisade_expr::{Comparison, Domain, Expr, Node, SqlResult};
use palisade_parser::ast::AggregateKind;
use palisade_session::sink::ColumnMeta;

use super::grouped_in::tells_apart;
use super::quiet::{is_quiet, is_quiet_aggregate};
use super::substitute::{change_block, columns_of, is_movable, is_repeatable, slots_of, substitute};
use super::trial::{joins_of, trial};
use super::{Block, Rule, Statement};
use crate::conditions::is_column;
use crate::cost;
use crate::logical::{Body, Grouping, JoinTree, Leaf, LogicalQuery, TableLeaf};

/// What joining and grouping cost at least where it is looked for another way, and what part of that it may
/// cost at most.
const LEAST_COST: f64 = 1e6;
const MOST_OF_IT: f64 = 0.7;

/// The rule.
pub(super) struct EagerGroups;

impl Rule for EagerGroups {
    fn apply(&self, block: &mut Block, output: &mut [Expr], statement: &mut Statement<'_, '_>) {
        let Some(eager) = Eager::of(block, statement) else { return };
        // A number is taken in any case, so that those of later tables do not depend on costs.
        let slot = statement.slots;
        statement.slots += 1;
        // Where the plan cannot be made the statement is to end, and says so at the next checkpoint.
        if is_wanted(&eager, slot, block, statement).unwrap_or(false) {
            eager.put(slot, block, output);
        }
    }
}

/// A block whose rows can be grouped before they are joined.
struct Eager {
    /// Tables whose rows are grouped, and conditions on them alone.
    counted: Vec<JoinTree>,
    own: Vec<Expr>,
    /// The other tables: one tree that keeps its rows in an outer join, or those of an inner join.
    rest: Vec<JoinTree>,
    is_outer: bool,
    /// Conditions on these alone, if they are those of an inner join.
    others: Vec<Expr>,
    /// What is equal: a column of the counted tables, and what it is of the others.
    keys: Vec<(Expr, Expr, Domain)>,
    /// What the counted rows are grouped by.
    group: Vec<Expr>,
}

impl Eager {
    fn of(block: &Block, statement: &Statement<'_, '_>) -> Option<Eager> {
        let grouping = block.grouping.as_ref()?;
        // The first groups may come early.
        let is_ended = block.order.limit.is_some()
            && block.order.keys.iter().all(|key| match key.expr.node {
                Node::Column { slot, column, .. } => slot != grouping.slot || column < grouping.group.len(),
                _ => false,
            });
        let is_fit = !block.straight && !block.whole_rows && !is_ended && !grouping.rollup;
        let is_added = |kind: AggregateKind| {
            use AggregateKind::{Avg, Count, Max, Min, Sum};
            matches!(kind, Count | Sum | Avg | Min | Max)
        };
        let are_known =
            grouping.aggregates.iter().all(|spec| is_added(spec.kind) && is_quiet_aggregate(spec, statement));
        if !is_fit || grouping.group.is_empty() || grouping.aggregates.is_empty() || !are_known {
            return None;
        }
        let mut read: Vec<usize> = Vec::new();
        for argument in grouping.aggregates.iter().flat_map(|spec| &spec.arguments) {
            read.extend(slots_of(argument, statement));
        }
        match block.tree.as_ref()? {
            JoinTree::Left(left, right, on) => Eager::outer(left, right, on, &read, block, statement),
            JoinTree::Inner(parts, on) => {
                let mut candidates = vec![read];
                if candidates.concat().is_empty() {
                    candidates = block.slots().into_iter().map(|slot| vec![slot]).collect();
                }
                let eager = |read: &Vec<usize>| Eager::inner(parts, on, read, block, statement);
                candidates.iter().find_map(eager)
            }
            JoinTree::Leaf(_) | JoinTree::Semi { .. } => None,
        }
    }

    /// Of an inner join, where the tables in `read` are counted.
    fn inner(
        parts: &[JoinTree],
        on: &[Expr],
        read: &[usize],
        block: &Block,
        statement: &Statement<'_, '_>,
    ) -> Option<Eager> {
        let mut conditions: Vec<Expr> = block.conditions.iter().chain(on).cloned().collect();
        let mut leaves = Vec::new();
        parts.iter().try_for_each(|part| flatten(part, &mut leaves, &mut conditions))?;
        let (counted, rest) = leaves.into_iter().partition(|leaf: &TableLeaf| read.contains(&leaf.slot));
        Eager::new((counted, rest), &conditions, false, block, statement)
    }

    /// Of an outer join whose right side is counted.
    fn outer(
        left: &JoinTree,
        right: &JoinTree,
        on: &[Expr],
        read: &[usize],
        block: &Block,
        statement: &Statement<'_, '_>,
    ) -> Option<Eager> {
        let (mut counted, mut rest) = (Vec::new(), Vec::new());
        let mut conditions = on.to_vec();
        flatten(right, &mut counted, &mut conditions)?;
        // Conditions within the left side stay there.
        let mut within = Vec::new();
        flatten(left, &mut rest, &mut within)?;
        let slots: Vec<usize> = counted.iter().map(|leaf| leaf.slot).collect();
        let is_counted = |expr: &Expr| slots_of(expr, statement).iter().any(|slot| slots.contains(slot));
        let grouping = block.grouping.as_ref()?;
        // Of a row without a match a column is NULL, and another expression may be something.
        let mut arguments = grouping.aggregates.iter().flat_map(|spec| &spec.arguments);
        let are_columns = arguments.all(|argument| matches!(argument.node, Node::Column { .. }));
        // Rows without a match have nothing of the counted tables to be told apart by.
        let [only] = &rest[..] else { return None };
        if !are_columns
            || !tells_rows_apart(&grouping.group, only)
            || !read.iter().all(|slot| slots.contains(slot))
            || block.conditions.iter().chain(&grouping.group).any(is_counted)
        {
            return None;
        }
        let found = [within, block.conditions.clone()].concat();
        let mut eager = Eager::new((counted, rest), &[conditions, found].concat(), true, block, statement)?;
        eager.rest = vec![left.clone()];
        // Conditions of the outer join on its left side alone say which rows have a match.
        let is_of_left = |condition: &Expr| !is_counted(condition);
        (!on.iter().any(is_of_left)).then_some(eager)
    }

    fn new(
        (counted, rest): (Vec<TableLeaf>, Vec<TableLeaf>),
        conditions: &[Expr],
        is_outer: bool,
        block: &Block,
        statement: &Statement<'_, '_>,
    ) -> Option<Eager> {
        let grouping = block.grouping.as_ref()?;
        let slots: Vec<usize> = counted.iter().map(|leaf| leaf.slot).collect();
        let other_slots: Vec<usize> = rest.iter().map(|leaf| leaf.slot).collect();
        let is_read_within =
            statement.subqueries.iter().flatten().any(|query| {
                query.outer_slots.iter().any(|slot| slots.contains(slot) || *slot == grouping.slot)
            });
        if counted.is_empty()
            || rest.is_empty()
            || is_read_within
            || grouping.keep.iter().any(|slot| slots.contains(slot))
        {
            return None;
        }
        let side = |expr: &Expr| {
            let read = slots_of(expr, statement);
            (read.iter().any(|slot| slots.contains(slot)), read.iter().any(|slot| other_slots.contains(slot)))
        };
        let tree_of = |leaf: TableLeaf| JoinTree::Leaf(Leaf::Table(leaf));
        let mut eager = Eager {
            counted: counted.into_iter().map(tree_of).collect(),
            own: Vec::new(),
            rest: Vec::new(),
            is_outer,
            others: Vec::new(),
            keys: Vec::new(),
            group: Vec::new(),
        };
        for condition in conditions {
            match side(condition) {
                _ if !is_repeatable(condition) => return None,
                (true, false) if is_quiet(condition, statement) && is_movable(condition) => {
                    eager.own.push(condition.clone());
                }
                (false, _) => eager.others.push(condition.clone()),
                _ => eager.keys.push(key(condition, &slots, &side)?),
            }
        }
        let mut add = |expr: &Expr| {
            if !eager.group.contains(expr) {
                eager.group.push(expr.clone());
            }
        };
        eager.keys.iter().for_each(|(column, ..)| add(column));
        for expr in &grouping.group {
            match side(expr) {
                (true, false) if matches!(expr.node, Node::Column { .. }) => add(expr),
                (false, _) if is_movable(expr) => {}
                _ => return None,
            }
        }
        let is_one = eager.keys.iter().all(|key| is_told(key, &grouping.group, &rest));
        if !is_one || eager.keys.is_empty() || !eager.finds_all(&rest, statement) {
            return None;
        }
        eager.rest = rest.into_iter().map(tree_of).collect();
        Some(eager)
    }

    /// Whether a group of counted rows finds one row of each of these tables at most.
    fn finds_all(&self, rest: &[TableLeaf], statement: &Statement<'_, '_>) -> bool {
        let mut equal: Vec<(&Expr, &Expr, Domain)> = Vec::new();
        equal.extend(self.keys.iter().map(|(column, other, domain)| (other, column, *domain)));
        for condition in &self.others {
            if let Node::Compare { comparison: Comparison::Equal, domain, left, right } = &condition.node {
                equal.extend([(&**left, &**right, *domain), (&**right, &**left, *domain)]);
            }
        }
        let local: Vec<usize> = rest.iter().map(|leaf| leaf.slot).collect();
        let mut found: Vec<usize> = Vec::new();
        let is_found = |leaf: &TableLeaf, found: &[usize]| {
            let is_given = |column: usize| {
                equal.iter().any(|(own, other, domain)| {
                    is_column(own, leaf.slot, column)
                        && !own.has_own_collation()
                        && tells_apart(&own.ty, *domain)
                        && slots_of(other, statement)
                            .iter()
                            .all(|slot| found.contains(slot) || !local.contains(slot))
                })
            };
            leaf.table.indexes.iter().any(|index| {
                let mut parts = index.parts.iter();
                index.unique && parts.all(|part| part.prefix.is_none() && is_given(usize::from(part.column)))
            })
        };
        while let Some(leaf) = rest.iter().find(|leaf| !found.contains(&leaf.slot) && is_found(leaf, &found))
        {
            found.push(leaf.slot);
        }
        found.len() == rest.len()
    }

    /// The counted rows in groups, which are numbered as those of the block were.
    fn query(&self, grouping: &Grouping) -> LogicalQuery {
        let Grouping { slot, aggregates, .. } = grouping;
        let column = |column: usize, name: &str| Node::Column {
            slot: *slot,
            column,
            name: name.into(),
            computed: true,
        };
        let of_group = self.group.iter().enumerate().map(|(number, expr)| {
            let name = format!("{expr}");
            Expr { node: column(number, &name), ..expr.clone() }
        });
        let of_aggregates = aggregates.iter().enumerate().map(|(number, spec)| {
            let node = column(self.group.len() + number, &format!("{spec}"));
            Expr::computed(node, spec.ty.clone(), spec.kind != AggregateKind::Count)
        });
        let output: Vec<Expr> = of_group.chain(of_aggregates).collect();
        let named = |(number, expr): (usize, &Expr)| {
            ColumnMeta::computed(format!("Name_exp_{}", number + 1), expr.ty.clone())
        };
        let columns = output.iter().enumerate().map(named).collect();
        let tree = match &self.counted[..] {
            [single] => single.clone(),
            counted => JoinTree::Inner(counted.to_vec(), Vec::new()),
        };
        let block = Block {
            tree: Some(tree),
            conditions: self.own.clone(),
            grouping: Some(Grouping { group: self.group.clone(), keep: Vec::new(), ..grouping.clone() }),
            ..Block::default()
        };
        LogicalQuery::new(Body::Block(Box::new(block)), output, columns)
    }

    /// The groups joined with the rest.
    fn tree(&self, slot: usize, query: LogicalQuery) -> JoinTree {
        let columns = columns_of(&query, slot);
        let equality = |(column, other, domain): &(Expr, Expr, Domain)| {
            let place = self.group.iter().position(|expr| expr == column);
            let found = place.and_then(|place| columns.get(place)).unwrap_or(column).clone();
            let nullable = other.nullable || found.nullable;
            let (left, right) = (Box::new(other.clone()), Box::new(found));
            let node = Node::Compare { comparison: Comparison::Equal, domain: *domain, left, right };
            Expr::truth(node, nullable)
        };
        let on = self.keys.iter().map(equality).collect();
        let alias = match &self.counted[..] {
            [JoinTree::Leaf(Leaf::Table(leaf))] => leaf.alias.clone(),
            _ => format!("derived_{slot}"),
        };
        let groups = JoinTree::Leaf(Leaf::Derived { slot, query: Box::new(query), alias, subquery: None });
        match (self.is_outer, &self.rest[..]) {
            (true, [left]) => JoinTree::Left(Box::new(left.clone()), Box::new(groups), on),
            (_, rest) => JoinTree::Inner(rest.iter().cloned().chain([groups]).collect(), on),
        }
    }

    /// Joins the groups in the block, which groups no more.
    fn put(self, slot: usize, block: &mut Block, output: &mut [Expr]) {
        let Some(grouping) = block.grouping.take() else { return };
        let query = self.query(&grouping);
        let columns = columns_of(&query, slot);
        let (of_group, of_aggregates) = columns.split_at_checked(self.group.len()).unwrap_or_default();
        let place = |expr: &Expr| self.group.iter().position(|known| known == expr);
        let group = grouping.group.iter().map(|expr| match place(expr) {
            Some(place) if !self.is_outer => of_group.get(place).unwrap_or(expr).clone(),
            _ => expr.clone(),
        });
        let aggregates = grouping.aggregates.iter().zip(of_aggregates).map(|(spec, column)| {
            match (self.is_outer, spec.kind) {
                (false, _) => column.clone(),
                (true, AggregateKind::Count) => {
                    let of_no_rows = Expr::int(i64::from(spec.arguments.is_empty()));
                    let column = Expr { nullable: true, ..column.clone() };
                    let (ty, arguments) = (column.ty.clone(), vec![column, of_no_rows]);
                    Expr::computed(Node::Call { function: COALESCE, arguments }, ty, false)
                }
                (true, _) => Expr { nullable: true, ..column.clone() },
            }
        });
        let values: Vec<Expr> = group.chain(aggregates).collect();
        let mut put = |expr: &mut Expr| substitute(expr, grouping.slot, &values);
        block.tree = None;
        if !self.is_outer {
            block.conditions = self.others.clone();
        }
        output.iter_mut().for_each(&mut put);
        change_block(block, &mut put);
        match block.having.take() {
            Some(Expr { node: Node::And(parts), .. }) => block.conditions.extend(parts),
            having => block.conditions.extend(having),
        }
        block.tree = Some(self.tree(slot, query));
    }
}

/// Adds the tables of an inner join that is made of stored tables read by a snapshot, and its conditions.
fn flatten(tree: &JoinTree, leaves: &mut Vec<TableLeaf>, conditions: &mut Vec<Expr>) -> Option<()> {
    match tree {
        JoinTree::Leaf(Leaf::Table(leaf)) if leaf.mode == ReadMode::Snapshot => leaves.push(leaf.clone()),
        JoinTree::Inner(parts, on) => {
            conditions.extend(on.iter().cloned());
            parts.iter().try_for_each(|part| flatten(part, leaves, conditions))?;
        }
        _ => return None,
    }
    Some(())
}

/// The equality that a condition is between a column of the counted tables and the others.
fn key(
    condition: &Expr,
    counted: &[usize],
    side: &dyn Fn(&Expr) -> (bool, bool),
) -> Option<(Expr, Expr, Domain)> {
    let Node::Compare { comparison: Comparison::Equal, domain, left, right } = &condition.node else {
        return None;
    };
    let (column, other) = match (side(left), side(right)) {
        ((true, false), (false, true)) => (left, right),
        ((false, true), (true, false)) => (right, left),
        _ => return None,
    };
    let is_plain = matches!(column.node, Node::Column { slot, .. } if counted.contains(&slot));
    let is_told = tells_apart(&column.ty, *domain) && tells_apart(&other.ty, *domain);
    let is_fit = is_plain && is_told && !column.has_own_collation() && is_movable(other);
    is_fit.then(|| ((**column).clone(), (**other).clone(), *domain))
}

/// Whether the rows of one group of the block have one value of a key: it is grouped by, or by a whole unique
/// key of the table that it is equal to a column of.
fn is_told((column, other, _): &(Expr, Expr, Domain), group: &[Expr], rest: &[TableLeaf]) -> bool {
    if group.contains(column) || group.contains(other) {
        return true;
    }
    let Node::Column { slot, .. } = other.node else { return false };
    rest.iter().any(|leaf| leaf.slot == slot && tells_rows_apart(group, leaf))
}

/// Whether a whole unique key of a table, which is never NULL, is grouped by.
fn tells_rows_apart(group: &[Expr], leaf: &TableLeaf) -> bool {
    let is_told = |column: usize| {
        leaf.table.columns.get(column).is_some_and(|column| !column.nullable)
            && group.iter().any(|expr| is_column(expr, leaf.slot, column) && !expr.has_own_collation())
    };
    leaf.table.indexes.iter().any(|index| {
        let mut parts = index.parts.iter();
        index.unique && parts.all(|part| part.prefix.is_none() && is_told(usize::from(part.column)))
    })
}

/// Whether rows are to be grouped first: as an outline says, or as costs do.
fn is_wanted(
    eager: &Eager,
    slot: usize,
    block: &Block,
    statement: &mut Statement<'_, '_>,
) -> SqlResult<bool> {
    if let Some(outline) = &statement.outline {
        return Ok(outline.joins().any(|join| join.left.contains(&slot) || join.right.contains(&slot)));
    }
    let (Some(grouping), Some(tree)) = (&block.grouping, &block.tree) else { return Ok(false) };
    let each = cost::HASHED_GROUP + grouping.aggregates.len() as f64 * cost::ADDED_VALUE;
    trial(statement, |_, planner| {
        let joined = joins_of(planner, block, tree.clone(), None)?;
        let as_it_is = joined.cost + joined.rows * each;
        if as_it_is < LEAST_COST {
            return Ok(false);
        }
        let query = eager.query(grouping);
        let made = planner.query(query.clone())?.cost;
        let conditions = if eager.is_outer { &block.conditions } else { &eager.others };
        let bare = Block { conditions: conditions.clone(), hints: block.hints.clone(), ..Block::default() };
        let joined = joins_of(planner, &bare, eager.tree(slot, query), None)?;
        Ok(made + joined.cost < as_it_is * MOST_OF_IT)
    })
}
