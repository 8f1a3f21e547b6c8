//! MIN and MAX at an index's end.
//!
//! A block without GROUP BY whose only aggregate is MIN or MAX of a column needs one row: the first one in
//! the column's order that is not NULL. If an index gives that order, the row is at its end, or at the end of
//! the range that WHERE leaves.
//!
//! ```text
//!  SELECT MAX(k) FROM t WHERE g = 3       index (g, k), backward from the end of g = 3
//!
//!  Aggregate MAX(k)                       Aggregate MAX(k)
//!    Scan t, filter g = 3          ──►      Limit 1
//!                                             Scan t by (g, k) backward, filter g = 3 AND k IS NOT NULL
//! ```

use palisade_catalog::SqlType;
use palisade_expr::{Expr, Node, Truth};
use palisade_parser::ast::AggregateKind;

use super::join::WantedOrder;
use super::logical::{Block, JoinTree, Leaf};
use super::{Limit, Operator};

/// The order in which the first row of a block decides its only aggregate, and the condition that the row
/// must fulfil besides.
pub(super) struct Extreme {
    pub(super) order: WantedOrder,
    pub(super) is_not_null: Option<Expr>,
}

impl Extreme {
    /// That of a block, if it is such a one.
    pub(super) fn of(block: &Block) -> Option<Extreme> {
        let grouping = block.grouping.as_ref()?;
        let [aggregate] = &grouping.aggregates[..] else { return None };
        let descending = match aggregate.kind {
            AggregateKind::Min => false,
            AggregateKind::Max => true,
            _ => return None,
        };
        let Some(JoinTree::Leaf(Leaf::Table(table))) = &block.tree else { return None };
        let [argument] = &aggregate.arguments[..] else { return None };
        let (slot, column) = argument.as_plain_column()?;
        // Columns beside the aggregate are of the first row that fulfils WHERE, as if all were read.
        let shows_columns = !grouping.keep.is_empty();
        // An ENUM's least value is its least text, not its first member.
        let has_own_order = matches!(argument.ty, SqlType::Enum { .. } | SqlType::Set { .. } | SqlType::Json);
        let has_own_order = has_own_order || argument.has_own_collation();
        let is_other = shows_columns || has_own_order || !grouping.group.is_empty();
        if is_other || slot != table.slot {
            return None;
        }
        let order = WantedOrder { slot, keys: vec![(column, descending)], limit: Some(1.0), groups: None };
        let operand = Box::new(argument.clone());
        let node = Node::Is { operand, truth: Truth::Null, negated: true };
        let is_not_null = argument.nullable.then(|| Expr::computed(node, SqlType::BIGINT, false));
        Some(Extreme { order, is_not_null })
    }
}

/// Only the first row of `input`.
pub(super) fn first_row(input: Operator) -> Operator {
    Operator::Limit {
        input: Box::new(input),
        limit: Limit { count: Expr::int(1), offset: None, is_widened: false },
    }
}
