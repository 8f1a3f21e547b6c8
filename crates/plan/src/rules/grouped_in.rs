//! IN of a query that groups by what it gives becomes a join.
//!
//! ```text
//!  SELECT * FROM t WHERE t.a IN (SELECT s.b FROM s GROUP BY s.b HAVING SUM(s.c) > 9)
//!     ──►  SELECT t.* FROM t JOIN (SELECT s.b FROM s GROUP BY s.b HAVING SUM(s.c) > 9) d ON t.a = d.b
//! ```
//!
//! Groups differ in what they are grouped by. So a row finds one of them at most, if what it is compared with
//! is all that they are grouped by, and the comparison tells apart what grouping does. The join may begin
//! with the groups where they are few, and look rows up by them.
//!
//! WHERE keeps the rows for which its conditions are true; so IN may be false where it would be unknown.

use palisade_catalog::SqlType;
use palisade_expr::{Comparison, Domain, Expr, Node, SubqueryUse};

use super::substitute::{columns_of, is_repeatable};
use super::{Block, Rule, Statement};
use crate::logical::{Body, Distinct, JoinTree, Leaf, LogicalQuery, MAX_TABLES};

/// The rule.
pub(super) struct GroupedIn;

impl Rule for GroupedIn {
    fn apply(&self, block: &mut Block, _output: &mut [Expr], statement: &mut Statement<'_, '_>) {
        if block.whole_rows || block.straight {
            return;
        }
        let Some(tree) = block.tree.take() else { return };
        let mut parts = vec![tree];
        let mut conditions = Vec::with_capacity(block.conditions.len());
        for condition in std::mem::take(&mut block.conditions) {
            let tables: usize = parts.iter().map(JoinTree::count).sum();
            match joined(&condition, statement).filter(|_| tables < MAX_TABLES) {
                Some(usage) => conditions.extend(join(usage, &mut parts, statement)),
                None => conditions.push(condition),
            }
        }
        block.conditions = conditions;
        block.tree = match parts.len() {
            1 => parts.pop(),
            _ => Some(JoinTree::Inner(parts, Vec::new())),
        };
    }
}

/// A subquery that can be joined.
struct Membership {
    number: usize,
    left: Vec<Expr>,
    domains: Vec<Domain>,
}

fn joined(condition: &Expr, statement: &Statement<'_, '_>) -> Option<Membership> {
    let Node::Subquery(subquery) = &condition.node else { return None };
    let SubqueryUse::Quantified { left, comparison, domains, all: false, negated: false } = &subquery.usage
    else {
        return None;
    };
    let query = statement.own_subquery(subquery.number)?;
    let is_joined = *comparison == Comparison::Equal
        && query.outer_slots.is_empty()
        && left.iter().all(|expr| is_repeatable(expr) && !has_subquery(expr))
        && gives_groups(query)
        && query.output.iter().zip(left).zip(domains).all(|((output, left), domain)| {
            tells_apart(&output.ty, *domain) && tells_apart(&left.ty, *domain)
        });
    let (left, domains) = (left.clone(), domains.clone());
    is_joined.then_some(Membership { number: subquery.number, left, domains })
}

fn has_subquery(expr: &Expr) -> bool {
    let mut has = false;
    expr.walk(&mut |part| has |= matches!(part.node, Node::Subquery(_)));
    has
}

/// Whether a query gives one row for each group, and all that it groups by.
fn gives_groups(query: &LogicalQuery) -> bool {
    let Body::Block(block) = &query.body else { return false };
    let Some(grouping) = &block.grouping else { return false };
    let is_given = |place: usize| {
        query.output.iter().any(|output| {
            matches!(output.node, Node::Column { slot, column, .. }
                if slot == grouping.slot && column == place)
        })
    };
    let mut is_steady = query.output.iter().all(is_repeatable);
    block.exprs(&mut |expr| is_steady &= is_repeatable(expr));
    is_steady
        && !grouping.rollup
        && !grouping.group.is_empty()
        && (0..grouping.group.len()).all(is_given)
        && block.order.limit.is_none()
        && block.windows.is_empty()
        && block.projection.is_none()
        && matches!(block.distinct, Distinct::No)
}

/// Whether values of a type that are grouped apart are not equal in a domain.
pub(super) fn tells_apart(ty: &SqlType, domain: Domain) -> bool {
    match ty {
        SqlType::Int { .. } => domain == Domain::Integer,
        SqlType::Decimal { .. } => domain == Domain::Decimal,
        SqlType::Date | SqlType::DateTime { .. } => domain == Domain::DateTime,
        SqlType::Char { collation, .. } | SqlType::VarChar { collation, .. } => {
            domain == Domain::Text(*collation)
        }
        _ => false,
    }
}

/// Adds the subquery to what is joined. Gives the conditions of the join.
fn join(usage: Membership, parts: &mut Vec<JoinTree>, statement: &mut Statement<'_, '_>) -> Vec<Expr> {
    let taken = statement.subqueries.get_mut(usage.number).and_then(Option::take);
    let query = taken.unwrap_or_else(LogicalQuery::nothing);
    let slot = statement.slots;
    statement.slots += 1;
    let columns = columns_of(&query, slot);
    let equality = |((left, right), domain): ((Expr, Expr), Domain)| {
        let nullable = left.nullable || right.nullable;
        let (left, right) = (Box::new(left), Box::new(right));
        Expr::truth(Node::Compare { comparison: Comparison::Equal, domain, left, right }, nullable)
    };
    let equal = usage.left.into_iter().zip(columns).zip(usage.domains).map(equality).collect();
    let alias = format!("<subquery{}>", usage.number + 2);
    let (query, subquery) = (Box::new(query), Some(usage.number));
    parts.push(JoinTree::Leaf(Leaf::Derived { slot, query, alias, subquery }));
    equal
}
