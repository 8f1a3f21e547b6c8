//! From the logical plan to operators: joins are ordered, access paths chosen, and what comes after FROM and
//! WHERE is stacked on top.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use palisade_catalog::{SqlType, Value};
use palisade_engine::Dictionary;
use palisade_expr::order::SortKey;
use palisade_expr::session_variables::OptimizerSwitches;
use palisade_expr::{Expr, Node, SqlResult};

use super::conditions::OuterSlots;
use super::cost;
use super::decisions::Decisions;
use super::extremes::{Extreme, first_row};
use super::grouped::{self, is_sorted};
use super::join::{JoinPlanner, Joined, Joining, WantedOrder};
use super::logical::{
    Block, Body, Combination, Distinct, Grouping, JoinTree, Leaf, LogicalQuery, LogicalRecursion, Order,
    Projection,
};
use super::outline::Outline;
use super::parallel::InParts;
use super::premise::{Premise, rows_of};
use super::remembered::deciding_columns;
use super::rules::{each_expr, is_never};
use super::window::WindowPlan;
use super::window_order::WindowOrder;
use super::{Limit, Operator, Query, Recursion};
use crate::pace::Pace;

/// Makes operators of the logical plans of one statement.
pub struct Planner<'a> {
    /// Schemas and tables as of now.
    pub dictionary: &'a Dictionary,
    /// Values of the parameters at this execution.
    pub parameters: &'a [Value],
    /// What planning has cost so far, and whether it is to end.
    pub pace: Pace<'a>,
    /// What of the data the plans of blocks were chosen by.
    pub premises: RefCell<Vec<Premise>>,
    /// What it may do.
    pub switches: OptimizerSwitches,
    /// Whether operators are [noted](super::note).
    pub notes: bool,
    /// User variables that the statement sets.
    pub assigned: BTreeSet<Arc<str>>,
    /// What it is held to.
    pub outline: Option<Arc<Outline>>,
    /// What is decided is recorded here, if the session has asked for that.
    pub decisions: Option<&'a Decisions>,
    /// How many slots have been given out.
    pub slots: Cell<usize>,
    /// Those of entries of a table that are read besides its rows: by the table's slot, and their number.
    entries: RefCell<HashMap<(usize, usize), usize>>,
    /// Slots of enclosing queries that the subqueries in expressions read, by the subqueries' numbers.
    outer: Vec<Vec<usize>>,
    /// What running those costs, as far as they have been planned.
    runs: Vec<Option<f64>>,
    /// Queries that are tables of other ones and have been planned, by their slots.
    tables: HashMap<usize, PlannedTable>,
}

/// Whether one of these conditions can never be true; not where one has an effect.
fn none_can_hold(conditions: &[Expr]) -> bool {
    conditions.iter().any(is_never) && !conditions.iter().any(Expr::is_impure)
}

/// Whether a condition of inner joins or semi-joins is never true, so that the tables give no row.
fn joins_nothing(tree: &JoinTree) -> bool {
    match tree {
        JoinTree::Leaf(_) => false,
        JoinTree::Inner(parts, on) => none_can_hold(on) || parts.iter().any(joins_nothing),
        JoinTree::Left(left, _, _) => joins_nothing(left),
        JoinTree::Semi { left, anti: true, .. } => joins_nothing(left),
        JoinTree::Semi { left, right, on, anti: false, .. } => {
            none_can_hold(on) || joins_nothing(left) || joins_nothing(right)
        }
    }
}

/// A query that is a table of another one.
#[derive(Debug, Clone)]
pub enum PlannedTable {
    /// A derived table.
    Derived(Arc<Query>),
    /// A recursive common table expression.
    Recursive(Arc<Recursion>),
}

impl PlannedTable {
    /// Slots of enclosing queries that it reads.
    pub fn outer_slots(&self) -> &[usize] {
        match self {
            PlannedTable::Derived(query) => &query.outer_slots,
            PlannedTable::Recursive(recursion) => &recursion.outer_slots,
        }
    }
}

impl OuterSlots for Planner<'_> {
    fn outer_slots(&self, subquery: usize) -> &[usize] {
        self.outer.get(subquery).map_or(&[], Vec::as_slice)
    }
}

impl<'a> Planner<'a> {
    /// A planner for a statement with these subqueries in its expressions, by number.
    pub fn new(
        dictionary: &'a Dictionary,
        parameters: &'a [Value],
        pace: Pace<'a>,
        subqueries: &[Option<LogicalQuery>],
    ) -> Planner<'a> {
        let outer = |query: &Option<LogicalQuery>| {
            query.as_ref().map_or_else(Vec::new, |query| query.outer_slots.clone())
        };
        let outer = subqueries.iter().map(outer).collect();
        let premises = RefCell::default();
        Planner {
            dictionary,
            parameters,
            pace,
            premises,
            switches: OptimizerSwitches::default(),
            notes: false,
            outline: None,
            decisions: None,
            assigned: BTreeSet::new(),
            slots: Cell::new(0),
            entries: RefCell::default(),
            outer,
            runs: Vec::new(),
            tables: HashMap::new(),
        }
    }

    /// The plans of the subqueries in the expressions of a statement, by number. They are made before those
    /// of the queries that run them, which have to know what that costs.
    pub fn subqueries(&mut self, subqueries: &[Option<LogicalQuery>]) -> SqlResult<Vec<Option<Query>>> {
        self.runs = vec![None; subqueries.len()];
        let mut planned = Vec::with_capacity(subqueries.len());
        // A subquery within another one has the higher number.
        for (number, subquery) in subqueries.iter().enumerate().rev() {
            let query = subquery.clone().map(|subquery| self.query(subquery)).transpose()?;
            if let (Some(query), Some(run)) = (&query, self.runs.get_mut(number)) {
                *run = Some(query.cost);
            }
            planned.push(query);
        }
        planned.reverse();
        Ok(planned)
    }

    /// The slot of the entries, with this number, that are read besides the rows of a table.
    pub fn slot_of_entries(&self, table: usize, number: usize) -> usize {
        let new = || self.slots.replace(self.slots.get() + 1);
        *self.entries.borrow_mut().entry((table, number)).or_insert_with(new)
    }

    /// What it costs to run a subquery for a row.
    pub fn run_of(&self, subquery: usize) -> f64 {
        self.runs.get(subquery).copied().flatten().unwrap_or(0.0).max(cost::SUBQUERY)
    }

    /// The query in this slot, which is planned before the joins that read it.
    pub fn table(&self, slot: usize) -> Option<&PlannedTable> {
        self.tables.get(&slot)
    }

    /// The operators of a statement's query. Under SQL_CALC_FOUND_ROWS its LIMIT is applied when rows are
    /// sent.
    pub fn statement(&mut self, query: LogicalQuery) -> SqlResult<Query> {
        let counts_all = matches!(&query.body, Body::Block(block) if block.counts_all);
        let mut query = query;
        let counted_limit = match &mut query.body {
            Body::Block(block) if counts_all => block.order.limit.take(),
            _ => None,
        };
        Ok(Query { counted_limit, ..self.query(query)? })
    }

    /// The operators of a query that stands in another one.
    pub fn query(&mut self, query: LogicalQuery) -> SqlResult<Query> {
        let deciding_columns = deciding_columns(&query);
        let LogicalQuery { body, output, columns, outer_slots, outer_columns } = query;
        let (root, rows, cost) = match body {
            Body::Block(block) => self.block(*block, &output)?,
            Body::Values { slot, rows, function } => {
                let count = function.as_ref().map_or(rows.len() as f64, |_| crate::json_table::ROWS);
                (Operator::Values { slot, rows, function }, count, count * cost::KEPT_ROW)
            }
            Body::Combination(combination) => self.combination(*combination)?,
            Body::Arranged { inner, slot, order } => {
                let inner = self.query(*inner)?;
                let root = Operator::Project { input: Box::new(inner.root), output: inner.output, slot };
                (ordered(root, order, vec![slot]), inner.rows, inner.cost)
            }
        };
        let columns = columns.into();
        Ok(Query {
            root,
            output,
            columns,
            rows,
            cost,
            outer_slots,
            outer_columns,
            deciding_columns,
            counted_limit: None,
        })
    }

    fn combination(&mut self, combination: Combination) -> SqlResult<(Operator, f64, f64)> {
        let Combination { inputs, steps, slot, types, order } = combination;
        let (mut rows, mut cost) = (0.0, 0.0);
        let inputs = inputs.into_iter().map(|input| {
            let input = self.query(input)?;
            rows += input.rows;
            cost += input.cost;
            Ok(Operator::Project { input: Box::new(input.root), output: input.output, slot })
        });
        let inputs = inputs.collect::<SqlResult<_>>()?;
        Ok((ordered(Operator::Union { inputs, slot, steps, types }, order, vec![slot]), rows, cost))
    }

    fn recursion(&mut self, recursion: LogicalRecursion) -> SqlResult<Recursion> {
        let LogicalRecursion { seed, steps, table, distinct, limit, types, names, outer_slots } = recursion;
        let seed = self.query(seed)?;
        let steps = steps.into_iter().map(|step| self.query(step)).collect::<SqlResult<_>>()?;
        Ok(Recursion { seed, steps, table, distinct, limit, types, names, outer_slots })
    }

    /// Plans the queries that are tables of a join.
    fn plan_tables(&mut self, tree: &mut JoinTree) -> SqlResult<()> {
        let mut planned = Ok(());
        tree.leaves_mut(&mut |leaf| {
            if planned.is_ok() {
                planned = self.plan_table(leaf);
            }
        });
        planned
    }

    fn plan_table(&mut self, leaf: &mut Leaf) -> SqlResult<()> {
        let (slot, table) = match leaf {
            Leaf::Derived { slot, query, .. } => {
                let query = std::mem::replace(&mut **query, LogicalQuery::nothing());
                let limit = query.limit().and_then(|limit| self.rows_of_limit(limit));
                let mut query = self.query(query)?;
                query.rows = limit.map_or(query.rows, |limit| limit.min(query.rows));
                (*slot, PlannedTable::Derived(Arc::new(query)))
            }
            Leaf::Recursive { slot, recursion, .. } => {
                let recursion = std::mem::replace(&mut **recursion, LogicalRecursion::nothing());
                (*slot, PlannedTable::Recursive(Arc::new(self.recursion(recursion)?)))
            }
            Leaf::Table(_) | Leaf::Virtual(_) | Leaf::Working { .. } => return Ok(()),
        };
        self.tables.insert(slot, table);
        Ok(())
    }

    /// What finds the rows of FROM and WHERE.
    pub fn joins(
        &mut self,
        mut tree: JoinTree,
        conditions: Vec<Expr>,
        joining: Joining,
    ) -> SqlResult<Joined> {
        self.plan_tables(&mut tree)?;
        self.pace.pass()?;
        let joined = JoinPlanner { planner: self, joining }.plan(&tree, conditions);
        self.pace.checkpoint(0)?;
        Ok(joined)
    }

    fn block(&mut self, block: Block, output: &[Expr]) -> SqlResult<(Operator, f64, f64)> {
        let extreme = Extreme::of(&block);
        let order = match &extreme {
            Some(extreme) => Some(extreme.order.clone()),
            None => self.wanted_order(&block).or_else(|| self.wanted_groups(&block)),
        };
        self.pace.pass()?;
        let used = self.used_columns(&block, output);
        self.pace.pass()?;
        let excerpts = excerpts(&block, &used);
        let limit = self.first_rows(&block);
        let group = columns_to_tell_apart(&block);
        let local = block.slots();
        let window_order = WindowOrder::of(&block, output);
        let Block { tree, mut conditions, grouping, having, windows, straight, hints, .. } = block;
        conditions.extend(extreme.as_ref().and_then(|extreme| extreme.is_not_null.clone()));
        let joining = Joining { local, used, order: order.clone(), limit, group, straight, hints };
        let found = self.rows_of(tree, conditions, joining)?;
        let Joined { operator: mut root, mut rows, cost: of_rows, ordered, groups: count } = found;
        let mut cost = of_rows;
        root.set_excerpts(&excerpts);
        if extreme.is_some() && ordered {
            root = first_row(root);
        }
        let groups = order.as_ref().and_then(|order| order.groups.as_ref());
        let in_groups = ordered && groups.is_some();
        let is_ordered = ordered
            && windows.is_empty()
            && match (&order, groups) {
                (Some(order), Some(groups)) => groups.sorts && is_sorted(&root, order.slot, &order.keys),
                _ => grouping.is_none(),
            };
        if ordered && (extreme.is_some() || in_groups || is_ordered) {
            grouped::keep_order(&mut root);
        }
        let is_distinct = !(matches!(block.distinct, Distinct::No) || in_groups && grouping.is_none());
        if in_groups && grouping.is_none() {
            root = first_of_each(root, &block.projection, &block.distinct, &block.order.keys);
        }
        if let Some(grouping) = grouping {
            let in_parts = match in_groups {
                false => InParts::new(&root, &grouping, (rows, of_rows), count),
                true => None,
            };
            cost += cost_of_groups(&grouping, rows, order.is_some());
            rows = count.unwrap_or(rows * cost::GROUPS_PER_ROW).clamp(1.0, rows.max(1.0));
            root = aggregated(root, grouping, in_groups, in_parts);
        } else if matches!(block.distinct, Distinct::Projected(_)) {
            cost += if in_groups { 0.0 } else { rows * cost::HASHED_GROUP };
            rows = count.unwrap_or(rows * cost::GROUPS_PER_ROW).clamp(1.0, rows.max(1.0));
        }
        if let Some(condition) = having {
            rows = (rows * cost::HAVING).max(1.0);
            root = Operator::Filter { input: Box::new(root), condition };
        }
        let is_ordered = is_ordered || window_order.is_some();
        root = windowed(root, windows, window_order);
        root = projected(root, block.projection, if is_distinct { &block.distinct } else { &Distinct::No });
        let Order { keys, limit } = block.order;
        if !keys.is_empty() && (!is_ordered || is_distinct) {
            let mut slots = Vec::new();
            root.slots(&mut slots);
            let distinct = is_distinct && matches!(block.distinct, Distinct::Sorted);
            root = Operator::Sort { input: Box::new(root), keys, slots, limit: limit.clone(), distinct };
        }
        Ok((limited(root, limit), rows, cost))
    }

    /// What finds the rows of FROM, if there is any, and WHERE.
    fn rows_of(
        &mut self,
        tree: Option<JoinTree>,
        conditions: Vec<Expr>,
        joining: Joining,
    ) -> SqlResult<Joined> {
        let without = |operator, rows| Joined { operator, rows, cost: 0.0, ordered: false, groups: None };
        if none_can_hold(&conditions) || tree.as_ref().is_some_and(joins_nothing) {
            return Ok(without(Operator::Nothing, 0.0));
        }
        let Some(tree) = tree else {
            let input = Box::new(Operator::Dual);
            let operator = match Expr::all_of(conditions) {
                Some(condition) => Operator::Filter { input, condition },
                None => *input,
            };
            return Ok(without(operator, 1.0));
        };
        let wants_order = joining.order.is_some();
        let joined = self.joins(tree, conditions, joining)?;
        Ok(Joined { ordered: joined.ordered && wants_order, ..joined })
    }

    /// Columns read of each of a block's tables; `None` where a subquery may read any.
    fn used_columns(&self, block: &Block, output: &[Expr]) -> Vec<(usize, Option<Vec<usize>>)> {
        let mut used: Vec<(usize, Option<Vec<usize>>)> =
            block.slots().into_iter().map(|slot| (slot, Some(Vec::new()))).collect();
        if block.whole_rows {
            used.iter_mut().for_each(|(_, columns)| *columns = None);
            return used;
        }
        let mut visit = |expr: &Expr| {
            expr.walk(&mut |expr| match &expr.node {
                Node::Column { slot, column, .. } => {
                    if let Some((_, Some(columns))) = used.iter_mut().find(|(known, _)| known == slot)
                        && !columns.contains(column)
                    {
                        columns.push(*column);
                    }
                }
                Node::Subquery(subquery) => {
                    let outer = self.outer_slots(subquery.number);
                    used.iter_mut()
                        .filter(|(slot, _)| outer.contains(slot))
                        .for_each(|(_, columns)| *columns = None);
                }
                _ => {}
            });
        };
        output.iter().for_each(&mut visit);
        block.exprs(&mut visit);
        if let Some(tree) = &block.tree
            && !tree.read_by_lateral().is_empty()
        {
            tree.leaves(&mut |leaf| match leaf {
                Leaf::Derived { query, .. } => each_expr(query, &mut visit),
                Leaf::Recursive { recursion, .. } => {
                    each_expr(&recursion.seed, &mut visit);
                    recursion.steps.iter().for_each(|step| each_expr(step, &mut visit));
                }
                Leaf::Table(_) | Leaf::Virtual(_) | Leaf::Working { .. } => {}
            });
        }
        used
    }

    /// The order of one table's rows that makes sorting the block's needless.
    fn wanted_order(&self, block: &Block) -> Option<WantedOrder> {
        let keys = &block.order.keys;
        let is_sorted_anyway = block.grouping.is_some()
            || !block.windows.is_empty()
            || block.projection.is_some()
            || !matches!(block.distinct, Distinct::No);
        if is_sorted_anyway || keys.is_empty() {
            return None;
        }
        let local = block.slots();
        let mut wanted = Vec::with_capacity(keys.len());
        let mut from = None;
        for key in keys {
            let Node::Column { slot, column, .. } = &key.expr.node else { return None };
            if !local.contains(slot)
                || key.expr.has_own_collation()
                || *from.get_or_insert(*slot) != *slot
                || matches!(key.expr.ty, SqlType::Enum { .. } | SqlType::Set { .. })
            {
                return None;
            }
            wanted.push((*column, key.descending));
        }
        Some(WantedOrder { slot: from?, keys: wanted, limit: self.rows_wanted(block), groups: None })
    }

    /// The groups, or rows that do not look alike, that a block wants.
    fn wanted_groups(&self, block: &Block) -> Option<WantedOrder> {
        let mut order = grouped::wanted(block)?;
        let sorts = order.groups.as_ref().is_some_and(|groups| groups.sorts);
        let shows_others = block.grouping.is_some() && !matches!(block.distinct, Distinct::No);
        if sorts && block.having.is_none() && block.windows.is_empty() && !shows_others {
            order.limit = self.rows_wanted(block);
        }
        Some(order)
    }

    /// How many rows of its joins a block wants, in whatever order, if not all of them.
    fn first_rows(&self, block: &Block) -> Option<f64> {
        let is_any = block.order.keys.is_empty()
            && block.grouping.is_none()
            && block.windows.is_empty()
            && matches!(block.distinct, Distinct::No);
        let is_joined = matches!(&block.tree, Some(tree) if !matches!(tree, JoinTree::Leaf(_)));
        if is_any && is_joined { self.rows_wanted(block) } else { None }
    }

    /// How many rows a block is to give, if that is known.
    fn rows_wanted(&self, block: &Block) -> Option<f64> {
        self.rows_of_limit(block.order.limit.as_ref()?)
    }

    /// How many rows a LIMIT asks for, those that are passed over included, if that is known.
    pub fn rows_of_limit(&self, limit: &Limit) -> Option<f64> {
        let number = |expr: &Expr| match &expr.node {
            Node::Literal(value) => rows_of(value),
            Node::Parameter(position) => {
                let rows = self.parameters.get(*position).and_then(rows_of)?;
                self.premises.borrow_mut().push(Premise::limit(*position, rows));
                Some(rows)
            }
            _ => None,
        };
        let offset = limit.offset.as_ref().map_or(Some(0.0), number)?;
        Some(number(&limit.count)? + offset)
    }
}

/// Which columns are read of the tables of a block that has its rows set aside, where these are known.
fn excerpts(block: &Block, used: &[(usize, Option<Vec<usize>>)]) -> Vec<(usize, Vec<usize>)> {
    let is_joined = matches!(&block.tree, Some(tree) if !matches!(tree, JoinTree::Leaf(_)));
    let keeps_rows = is_joined || !block.order.keys.is_empty() || !block.windows.is_empty();
    let known = used.iter().filter(|_| keeps_rows);
    known.filter_map(|(slot, columns)| Some((*slot, columns.clone()?))).collect()
}

/// The rows of `root` as the values of a projection, without duplicates if they are to be distinct ones.
/// The windows of a block, in the order of the last of which its rows may be wanted.
fn windowed(mut root: Operator, windows: Vec<WindowPlan>, order: Option<WindowOrder>) -> Operator {
    for window in windows {
        root = Operator::Window { input: Box::new(root), window };
    }
    let wanted = order.and_then(|order| order.wanted);
    if let (Operator::Window { window, .. }, Some(wanted)) = (&mut root, wanted) {
        window.wanted = Some(wanted);
    }
    root
}

fn projected(root: Operator, projection: Option<Projection>, distinct: &Distinct) -> Operator {
    let Some(Projection { slot, values }) = projection else { return root };
    let root = Operator::Project { input: Box::new(root), output: values, slot };
    match distinct {
        Distinct::Projected(types) => {
            Operator::Distinct { input: Box::new(root), slot, types: types.clone() }
        }
        Distinct::No | Distinct::Sorted => root,
    }
}

/// The columns by which the rows of a block are grouped, or by which those that look alike are left out, if
/// they are columns.
fn columns_to_tell_apart(block: &Block) -> Option<Vec<(usize, usize)>> {
    match (&block.grouping, &block.distinct, &block.projection) {
        (Some(grouping), ..) => columns_of(&grouping.group),
        (None, Distinct::Projected(types), Some(projection)) => {
            projection.values.get(..types.len()).and_then(columns_of)
        }
        _ => None,
    }
}

/// What it costs to add up the groups of so many rows, where the paths to these do `count` the grouping.
fn cost_of_groups(grouping: &Grouping, rows: f64, count: bool) -> f64 {
    let grouped = if grouping.group.is_empty() || count { 0.0 } else { cost::HASHED_GROUP };
    rows * (grouped + grouping.aggregates.len() as f64 * cost::ADDED_VALUE)
}

/// The groups of the rows of `root`.
fn aggregated(root: Operator, grouping: Grouping, in_groups: bool, in_parts: Option<InParts>) -> Operator {
    let in_groups = in_groups && !grouping.group.is_empty();
    let Grouping { slot, group, aggregates, rollup, keep, kept_keys } = grouping;
    let input = Box::new(root);
    Operator::Aggregate { input, group, aggregates, slot, rollup, keep, kept_keys, in_groups, in_parts }
}

/// Of rows that come in groups of those that look alike, the first of each.
fn first_of_each(
    root: Operator,
    projection: &Option<Projection>,
    distinct: &Distinct,
    order: &[SortKey],
) -> Operator {
    let keys = match (projection, distinct) {
        (Some(projection), Distinct::Projected(types)) => {
            projection.values.iter().take(types.len()).cloned().collect()
        }
        _ => order.iter().map(|key| key.expr.clone()).collect(),
    };
    Operator::FirstOfEach { input: Box::new(root), keys }
}

/// The rows of `root` in order, of which `slots` are kept.
fn ordered(mut root: Operator, order: Order, slots: Vec<usize>) -> Operator {
    let Order { keys, limit } = order;
    if !keys.is_empty() {
        root = Operator::Sort { input: Box::new(root), keys, slots, limit: limit.clone(), distinct: false };
    }
    limited(root, limit)
}

fn limited(root: Operator, limit: Option<Limit>) -> Operator {
    match limit {
        Some(limit) => Operator::Limit { input: Box::new(root), limit },
        None => root,
    }
}

/// Slots and positions of expressions that are all columns.
fn columns_of(exprs: &[Expr]) -> Option<Vec<(usize, usize)>> {
    let column = |expr: &Expr| match expr.node {
        Node::Column { slot, column, .. } => Some((slot, column)),
        _ => None,
    };
    exprs.iter().map(column).collect()
}
