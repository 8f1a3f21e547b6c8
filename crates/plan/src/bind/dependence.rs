//! Functional dependence: which columns have one value in each group (ONLY_FULL_GROUP_BY).
//!
//! A block's tables and conditions give facts of the form "rows that agree in these columns agree in that
//! one":
//!
//! | from | fact |
//! |---|---|
//! | a unique key of a table | its columns determine the table's row; those that may be NULL only where a condition excludes it |
//! | `column = constant` in WHERE or an inner join | nothing at all determines the column |
//! | `column = column` | each determines the other |
//! | an equality in the ON of an outer join | the columns of the preserved side that the ON reads, all of them, determine the column of the other side: they decide whether there is a match |
//! | a derived table | what its own block says of its columns: GROUP BY there is a key, and expressions depend on their columns |
//!
//! Starting from the columns that GROUP BY names, [`Dependence::closure`] adds what follows until nothing
//! does. It is the closure of attributes under functional dependences of Armstrong's axioms; a block has few
//! columns and fewer facts, so the loop is plain.
//!
//! As in MySQL a constant is compared whatever its type is; WITH ROLLUP only the columns of GROUP BY
//! themselves are determined, because the rows that sum up are NULL in them and in nothing else.

use std::collections::HashSet;
use std::sync::Arc;

use palisade_expr::func::control::{ANY_VALUE, GROUPING};
use palisade_expr::{Comparison, Expr, Node, Truth};

use super::Binder;
use super::scope::Scope;
use crate::logical::JoinTree;
use crate::window::WindowPlan;

/// A column of a slot.
type ColumnId = (usize, usize);

/// What is known of a block's tables and conditions.
#[derive(Debug, Default)]
pub struct Dependence {
    /// Slots of the block's tables.
    local: Vec<usize>,
    keys: Vec<Key>,
    /// Rows that agree in the columns agree in the one.
    facts: Vec<(Vec<ColumnId>, ColumnId)>,
    /// Columns that the conditions keep from being NULL.
    not_null: HashSet<ColumnId>,
    derived: Vec<(usize, Arc<Derived>)>,
}

/// Columns of a slot that determine its row.
#[derive(Debug)]
struct Key {
    slot: usize,
    columns: Vec<usize>,
    /// Those of them that may be NULL.
    nullable: Vec<usize>,
}

/// A block that another one reads as a table.
#[derive(Debug)]
pub struct Derived {
    inner: Dependence,
    output: Vec<Expr>,
}

/// Columns that are determined.
#[derive(Debug, Default)]
pub struct Determined {
    columns: HashSet<ColumnId>,
    rows: HashSet<usize>,
}

impl Determined {
    /// Whether a column is among them.
    pub fn has(&self, slot: usize, column: usize) -> bool {
        self.rows.contains(&slot) || self.columns.contains(&(slot, column))
    }

    /// Adds a column; whether it is new.
    fn add(&mut self, id: ColumnId) -> bool {
        !self.has(id.0, id.1) && self.columns.insert(id)
    }
}

fn column_of(expr: &Expr) -> Option<ColumnId> {
    match &expr.node {
        Node::Column { slot, column, .. } => Some((*slot, *column)),
        // The same text in another character set.
        Node::Transcode { operand, .. } => column_of(operand),
        _ => None,
    }
}

impl Dependence {
    /// What the tables of `scope`, the joins of `tree` and WHERE's `conditions` say.
    pub fn of(scope: &Scope, tree: Option<&JoinTree>, conditions: &[Expr]) -> Dependence {
        let mut known = Dependence {
            local: scope.sources.iter().map(|source| source.slot).collect(),
            derived: scope.derived.clone(),
            ..Dependence::default()
        };
        for source in &scope.sources {
            let Some(table) = &source.table else { continue };
            for index in table.indexes.iter().filter(|index| index.unique && !index.hidden) {
                if index.parts.iter().all(|part| part.prefix.is_none()) {
                    let columns: Vec<usize> =
                        index.parts.iter().map(|part| usize::from(part.column)).collect();
                    let is_nullable =
                        |place: &usize| table.columns.get(*place).is_some_and(|column| column.nullable);
                    let nullable = columns.iter().copied().filter(is_nullable).collect();
                    known.keys.push(Key { slot: source.slot, columns, nullable });
                }
            }
        }
        conditions.iter().for_each(|condition| known.condition(condition, false));
        if let Some(tree) = tree {
            known.tree(tree, false);
        }
        known
    }

    /// The groups of a block are a table as well: `width` expressions that determine its row.
    pub fn add_groups(&mut self, slot: usize, group: &[Expr]) {
        self.keys.push(Key { slot, columns: (0..group.len()).collect(), nullable: Vec::new() });
        for (position, expr) in group.iter().enumerate() {
            if let Some(id) = column_of(expr) {
                self.facts.push((vec![(slot, position)], id));
                self.facts.push((vec![id], (slot, position)));
            }
        }
    }

    /// The joins of a FROM; those that are `weak` stand where an outer join may put NULLs.
    fn tree(&mut self, tree: &JoinTree, weak: bool) {
        match tree {
            JoinTree::Leaf(_) => {}
            JoinTree::Inner(children, on) => {
                on.iter().for_each(|condition| self.condition(condition, weak));
                children.iter().for_each(|child| self.tree(child, weak));
            }
            JoinTree::Semi { left, .. } => self.tree(left, weak),
            JoinTree::Left(left, right, on) => {
                let mut optional = Vec::new();
                right.slots(&mut optional);
                self.tree(left, weak);
                // Where WHERE excludes the rows that were given NULLs, the join is an inner one.
                if self.not_null.iter().any(|id| optional.contains(&id.0)) {
                    on.iter().for_each(|condition| self.condition(condition, weak));
                    self.tree(right, weak);
                    return;
                }
                self.tree(right, true);
                let mut preserved = Vec::new();
                left.slots(&mut preserved);
                let mut from = Vec::new();
                for condition in on {
                    if condition.is_impure() {
                        return;
                    }
                    condition.walk(&mut |expr| {
                        if let Some(id) = column_of(expr).filter(|id| preserved.contains(&id.0)) {
                            from.push(id);
                        }
                    });
                }
                for (left, right) in on.iter().flat_map(equalities) {
                    for (target, other) in [(left, right), (right, left)] {
                        let Some(id) = column_of(target).filter(|id| optional.contains(&id.0)) else {
                            continue;
                        };
                        match column_of(other) {
                            Some(other) if optional.contains(&other.0) => self.facts.push((vec![other], id)),
                            Some(other) if preserved.contains(&other.0) => {
                                self.facts.push((from.clone(), id));
                            }
                            _ if self.is_constant(other) => self.facts.push((from.clone(), id)),
                            _ => {}
                        }
                    }
                }
            }
        }
    }

    /// A condition that all rows fulfil, `weak` ones aside that consist of NULLs.
    fn condition(&mut self, condition: &Expr, weak: bool) {
        for (left, right) in equalities(condition) {
            for (target, other) in [(left, right), (right, left)] {
                let Some(id) = column_of(target).filter(|id| self.local.contains(&id.0)) else { continue };
                match column_of(other).filter(|id| self.local.contains(&id.0)) {
                    Some(other) => self.facts.push((vec![other], id)),
                    None if !weak && self.is_constant(other) => self.facts.push((Vec::new(), id)),
                    None => {}
                }
            }
        }
        if !weak {
            self.rejects_null(condition);
        }
    }

    /// The same within one execution of the block: made of literals, parameters and columns of enclosing
    /// blocks.
    fn is_constant(&self, expr: &Expr) -> bool {
        let mut constant = !expr.is_impure();
        expr.walk(&mut |expr| {
            constant &= match &expr.node {
                Node::Column { slot, .. } => !self.local.contains(slot),
                Node::Subquery(_) | Node::UserVariable(_) => false,
                _ => true,
            }
        });
        constant
    }

    /// Notes columns that are not NULL where the condition is true.
    fn rejects_null(&mut self, condition: &Expr) {
        match &condition.node {
            Node::And(parts) => parts.iter().for_each(|part| self.rejects_null(part)),
            Node::Compare { comparison, left, right, .. } if *comparison != Comparison::NullSafeEqual => {
                self.strict(left);
                self.strict(right);
            }
            Node::Between { operand, negated: false, .. }
            | Node::In { operand, negated: false, .. }
            | Node::Like { operand, .. } => self.strict(operand),
            Node::Is { operand, truth: Truth::Null, negated: true } => self.strict(operand),
            _ => {}
        }
    }

    /// Notes the columns that make an expression NULL where they are.
    fn strict(&mut self, expr: &Expr) {
        match &expr.node {
            Node::Column { slot, column, .. } => {
                self.not_null.insert((*slot, *column));
            }
            Node::Arithmetic { .. }
            | Node::Bits { .. }
            | Node::Negate(_)
            | Node::BitNot(_)
            | Node::Cast { .. }
            | Node::Transcode { .. } => expr.children(&mut |operand| self.strict(operand)),
            _ => {}
        }
    }

    /// The columns that have one value for each combination of values of `group`.
    pub fn closure(&self, group: &[Expr]) -> Determined {
        let mut known = Determined::default();
        for expr in group {
            if let Some(id) = column_of(expr) {
                known.add(id);
            }
        }
        loop {
            let mut grew = false;
            for key in &self.keys {
                let is_key = key.nullable.iter().all(|column| self.not_null.contains(&(key.slot, *column)));
                if is_key && key.columns.iter().all(|column| known.has(key.slot, *column)) {
                    grew |= known.rows.insert(key.slot);
                }
            }
            for (from, to) in &self.facts {
                if from.iter().all(|id| known.has(id.0, id.1)) {
                    grew |= known.add(*to);
                }
            }
            for (slot, derived) in &self.derived {
                let positions: Vec<usize> =
                    (0..derived.output.len()).filter(|position| known.has(*slot, *position)).collect();
                for position in derived.determined(&positions) {
                    grew |= known.add((*slot, position));
                }
            }
            if !grew {
                return known;
            }
        }
    }
}

impl Derived {
    /// A block of those facts that gives these columns.
    pub fn new(inner: Dependence, output: Vec<Expr>) -> Derived {
        Derived { inner, output }
    }

    /// The columns that are determined by those at `positions`.
    fn determined(&self, positions: &[usize]) -> Vec<usize> {
        let given = positions.iter().filter_map(|position| self.output.get(*position));
        let given: Vec<Expr> = given.cloned().collect();
        let known = self.inner.closure(&given);
        let follows = |expr: &Expr| {
            let mut follows = !expr.is_impure();
            expr.walk(&mut |expr| {
                follows &= match &expr.node {
                    Node::Column { slot, column, .. } => known.has(*slot, *column),
                    Node::Subquery(_) | Node::UserVariable(_) => false,
                    _ => true,
                }
            });
            follows
        };
        let outputs = self.output.iter().enumerate();
        outputs.filter_map(|(position, expr)| follows(expr).then_some(position)).collect()
    }
}

/// The two sides of each equality that a condition consists of.
fn equalities(condition: &Expr) -> Vec<(&Expr, &Expr)> {
    match &condition.node {
        Node::Compare { comparison: Comparison::Equal, left, right, .. } => vec![(left, right)],
        Node::In { operand, list, negated: false } => match &list[..] {
            [(_, value)] => vec![(operand, value)],
            _ => Vec::new(),
        },
        Node::Between { operand, low, high, negated: false, .. } if low == high => vec![(operand, low)],
        Node::And(parts) => parts.iter().flat_map(equalities).collect(),
        _ => Vec::new(),
    }
}

/// A column that an expression reads although it is not determined.
pub(super) struct Undetermined<'q> {
    pub(super) binder: &'q Binder<'q>,
    /// Slots of the block's tables.
    pub(super) local: &'q [usize],
    pub(super) is_determined: &'q dyn Fn(usize, usize) -> bool,
    /// Expressions that are determined as a whole wherever they stand within another one.
    pub(super) whole: &'q [Expr],
    /// The windows of the block: arguments of their functions are part of what calls them.
    pub(super) windows: &'q [WindowPlan],
}

impl Undetermined<'_> {
    /// Its name, as it prints. ANY_VALUE allows any column; the arguments of GROUPING are expressions of
    /// GROUP BY.
    pub(super) fn find(&self, expr: &Expr) -> Option<String> {
        let mut found = None;
        if self.whole.contains(expr) {
            return None;
        }
        match &expr.node {
            Node::Column { slot, column, name, .. } if self.local.contains(slot) => {
                found = (!(self.is_determined)(*slot, *column)).then(|| name.as_ref().to_owned());
            }
            Node::Column { slot, column, .. } => {
                let window = self.windows.iter().find(|window| window.slot == *slot);
                let call = window.and_then(|window| window.calls.get(*column));
                let mut arguments = call.iter().flat_map(|call| &call.arguments);
                found = arguments.find_map(|argument| self.find(argument));
            }
            Node::Call { function, .. } if [ANY_VALUE, GROUPING].contains(&function.name) => {}
            Node::Subquery(subquery) => {
                expr.children(&mut |child| found = found.take().or_else(|| self.find(child)));
                let query = self.binder.subqueries.get(subquery.number).and_then(Option::as_ref);
                let outer = query.iter().flat_map(|query| &query.outer_columns);
                let undetermined = |column: &&crate::logical::OuterColumn| {
                    self.local.contains(&column.slot) && !(self.is_determined)(column.slot, column.column)
                };
                found = found
                    .or_else(|| outer.into_iter().find(undetermined).map(|c| c.name.as_ref().to_owned()));
            }
            _ => expr.children(&mut |child| found = found.take().or_else(|| self.find(child))),
        }
        found
    }
}

/// A column's name as error messages write it.
pub(super) fn in_message(name: &str) -> String {
    name.trim_matches('`').replace("`.`", ".")
}
