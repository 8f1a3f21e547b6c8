//! Conditions that are known before any row is read.
//!
//! ```text
//!  a = 5 AND 1 = 1                ──►  a = 5
//!  a = 5 OR (b > 1 AND 0 = 1)     ──►  a = 5
//!  a = NULL                       ──►  NULL, and in WHERE no row
//!  IF(1 = 1, a, b) = 5            ──►  a = 5
//!  ? IS NULL OR a = ?             ──►  a = ?, or nothing where the parameter is NULL
//!  a = COALESCE(?, a)             ──►  a = ?, where it is not
//! ```
//!
//! Programs that compose statements write such conditions where they have none, or want the columns and no
//! rows. A block whose WHERE cannot be true reads none of its tables.
//!
//! Where it only matters whether a condition is true, as in WHERE and ON, NULL is as good as FALSE. Below
//! NOT, XOR and IS it is not.
//!
//! What is constant is evaluated once, while the statement is planned. If that gives an error or a warning,
//! the expression stays as it is and says so when it is executed. So does what calls a function that may take
//! long. Of a parameter it is known whether it is NULL, since a plan is kept for parameters of the same types
//! and NULL has one of its own; its value is not: the plan serves others. An expression with an effect is
//! never left out.

use palisade_catalog::{SqlType, Value};
use palisade_expr::func::control::{COALESCE, IF};
use palisade_expr::{Comparison, Expr, Node, Truth};

use super::substitute::is_repeatable;
use super::{Block, Rule, Statement};
use crate::logical::JoinTree;
use crate::premise::Looker;

/// The rule.
pub(super) struct Constants;

impl Rule for Constants {
    fn apply(&self, block: &mut Block, _output: &mut [Expr], statement: &mut Statement<'_, '_>) {
        let mut folding = Folding { statement, looker: None };
        folding.all(&mut block.conditions);
        if let Some(tree) = &mut block.tree {
            folding.joins(tree);
        }
        if let Some(having) = block.having.take() {
            let mut conditions = Vec::new();
            having.conjuncts(&mut conditions);
            folding.all(&mut conditions);
            block.having = Expr::all_of(conditions);
        }
    }
}

/// What is known of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    True,
    False,
    Null,
}

impl Known {
    fn of(truth: Option<bool>) -> Known {
        match truth {
            Some(true) => Known::True,
            Some(false) => Known::False,
            None => Known::Null,
        }
    }

    fn expr(self) -> Expr {
        match self {
            Known::True => Expr::int(1),
            Known::False => Expr::int(0),
            Known::Null => Expr::null(),
        }
    }
}

/// How a condition is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// It matters only whether it is true.
    Filter,
    Value,
}

/// The folding of one block.
struct Folding<'f, 's, 'a> {
    statement: &'f Statement<'s, 'a>,
    looker: Option<Looker>,
}

impl Folding<'_, '_, '_> {
    /// Conditions all of which must hold: those that do are left out, and if one does not it is all that is
    /// left.
    fn all(&mut self, conditions: &mut Vec<Expr>) {
        if conditions.iter().all(|condition| !may_fold(condition)) {
            return;
        }
        let mut left = Vec::with_capacity(conditions.len());
        for mut condition in std::mem::take(conditions) {
            self.fold(&mut condition, Use::Filter);
            condition.conjuncts(&mut left);
        }
        left.retain(|condition| known(condition) != Some(Known::True));
        if left.iter().any(is_never) && left.iter().all(is_repeatable) {
            left = vec![Known::False.expr()];
        }
        *conditions = left;
    }

    fn joins(&mut self, tree: &mut JoinTree) {
        match tree {
            JoinTree::Leaf(_) => {}
            JoinTree::Inner(parts, on) => {
                self.all(on);
                parts.iter_mut().for_each(|part| self.joins(part));
            }
            JoinTree::Left(left, right, on) | JoinTree::Semi { left, right, on, .. } => {
                self.all(on);
                self.joins(left);
                self.joins(right);
            }
        }
    }

    /// Folds a condition.
    fn fold(&mut self, condition: &mut Expr, usage: Use) {
        match &mut condition.node {
            Node::And(parts) => {
                parts.iter_mut().for_each(|part| self.fold(part, usage));
                self.connect(condition, usage, [Known::True, Known::False]);
            }
            Node::Or(parts) => {
                parts.iter_mut().for_each(|part| self.fold(part, usage));
                self.connect(condition, usage, [Known::False, Known::True]);
            }
            Node::Not(operand) => {
                self.fold(operand, Use::Value);
                let negated = known(operand).map(|known| match known {
                    Known::True => Known::False,
                    Known::False => Known::True,
                    Known::Null => Known::Null,
                });
                set(condition, negated);
            }
            _ => {
                self.choices(condition);
                let known = if is_null_comparison(condition) {
                    Some(Known::Null)
                } else if let Some(is_null) = of_parameter(condition) {
                    Some(Known::of(Some(is_null)))
                } else if is_fixed(condition) {
                    self.value(condition)
                } else {
                    None
                };
                set(condition, known);
            }
        }
    }

    /// Leaves the parts out of AND or OR that are `neutral`; a part that `decides` is all that is left.
    fn connect(&mut self, condition: &mut Expr, usage: Use, [neutral, decides]: [Known; 2]) {
        let (Node::And(parts) | Node::Or(parts)) = &mut condition.node else { return };
        let as_used = |part: &Expr| match known(part) {
            Some(Known::Null) if usage == Use::Filter => Some(Known::False),
            other => other,
        };
        if parts.iter().any(|part| as_used(part) == Some(decides)) && parts.iter().all(is_repeatable) {
            return set(condition, Some(decides));
        }
        let is_of_integers = matches!(condition.ty, SqlType::Int { .. });
        parts.retain(|part| as_used(part) != Some(neutral));
        match parts.len() {
            0 => set(condition, Some(neutral)),
            // Where its truth is all that counts it need not be a truth value.
            1 if usage == Use::Filter && is_of_integers => {
                if let Some(part) = parts.pop() {
                    *condition = part;
                }
            }
            1 => parts.push(neutral.expr()),
            _ => {}
        }
    }

    /// The choices within an expression whose conditions are known.
    fn choices(&mut self, expr: &mut Expr) {
        expr.children_mut(&mut |child| self.choices(child));
        let chosen = match &mut expr.node {
            Node::Case { branches, otherwise } => {
                branches.iter_mut().for_each(|(condition, _)| self.fold(condition, Use::Filter));
                branches.retain(|(condition, _)| !is_never(condition));
                match (branches.first(), otherwise) {
                    (Some((condition, value)), _) if known(condition) == Some(Known::True) => {
                        Some(value.clone())
                    }
                    (None, Some(otherwise)) => Some((**otherwise).clone()),
                    (None, None) => Some(Expr::literal(Value::Null, expr.ty.clone())),
                    _ => None,
                }
            }
            Node::Call { function, arguments } if function.name == IF => {
                if let Some(condition) = arguments.first_mut() {
                    self.fold(condition, Use::Filter);
                }
                match &arguments[..] {
                    [condition, yes, no] => known(condition).map(|known| match known {
                        Known::True => yes.clone(),
                        Known::False | Known::Null => no.clone(),
                    }),
                    _ => None,
                }
            }
            Node::Call { function, arguments } if is_first_of(function.name) => {
                arguments.first().filter(|first| is_given(first)).cloned()
            }
            _ => None,
        };
        // A value of another type is converted where it is chosen.
        if let Some(chosen) = chosen.filter(|chosen| chosen.ty == expr.ty) {
            *expr = Expr { nullable: expr.nullable, coercibility: expr.coercibility, ..chosen };
        }
    }

    /// The truth of what depends on nothing.
    fn value(&mut self, condition: &Expr) -> Option<Known> {
        let pace = self.statement.pace;
        let looker = self.looker.get_or_insert_with(|| Looker::new(pace.session, pace.host));
        looker.truth(pace.host, condition).map(Known::of)
    }
}

fn set(condition: &mut Expr, known: Option<Known>) {
    if let Some(known) = known {
        *condition = known.expr();
    }
}

/// The truth of a literal.
fn known(condition: &Expr) -> Option<Known> {
    match condition.node {
        Node::Literal(Value::Null) => Some(Known::Null),
        Node::Literal(Value::Int(value)) => Some(Known::of(Some(value != 0))),
        Node::Literal(Value::UInt(value)) => Some(Known::of(Some(value != 0))),
        _ => None,
    }
}

/// Whether a condition can never be true.
pub fn is_never(condition: &Expr) -> bool {
    matches!(known(condition), Some(Known::False | Known::Null))
}

/// Whether something in a condition may be known: it has a literal where a condition is looked for, or a
/// comparison of constants.
fn may_fold(condition: &Expr) -> bool {
    let mut may = is_fixed(condition);
    condition.walk(&mut |part| {
        may |= match &part.node {
            Node::And(parts) | Node::Or(parts) => parts.iter().any(is_fixed),
            Node::Not(operand) => is_fixed(operand),
            Node::Case { branches, .. } => branches.iter().any(|(condition, _)| is_fixed(condition)),
            Node::Call { function, arguments } => {
                let first = arguments.first();
                function.name == IF && first.is_some_and(is_fixed)
                    || is_first_of(function.name) && first.is_some_and(is_given)
            }
            _ => is_null_comparison(part) || of_parameter(part).is_some(),
        };
    });
    may
}

/// Whether a function gives the first of its arguments that is not NULL.
fn is_first_of(name: &str) -> bool {
    name == COALESCE.name || name == "ifnull"
}

/// Whether an expression is a parameter that is not NULL.
fn is_given(expr: &Expr) -> bool {
    matches!(expr.node, Node::Parameter(_)) && expr.ty != SqlType::Null
}

/// What IS NULL, or IS NOT NULL, of a parameter says.
fn of_parameter(condition: &Expr) -> Option<bool> {
    let Node::Is { operand, truth: Truth::Null, negated } = &condition.node else { return None };
    let is_null = operand.ty == SqlType::Null;
    matches!(operand.node, Node::Parameter(_)).then_some(is_null != *negated)
}

/// A comparison with NULL, which is NULL whatever the other side is.
fn is_null_comparison(condition: &Expr) -> bool {
    let is_null = |expr: &Expr| {
        matches!(expr.node, Node::Literal(Value::Null) | Node::Parameter(_)) && expr.ty == SqlType::Null
    };
    match &condition.node {
        Node::Compare { comparison, left, right, .. } => {
            let other = |expr: &Expr| matches!(expr.node, Node::Column { .. }) || is_null(expr);
            *comparison != Comparison::NullSafeEqual
                && (is_null(left) && other(right) || is_null(right) && other(left))
        }
        _ => false,
    }
}

/// Whether a condition is made of literals alone, and is evaluated soon.
fn is_fixed(condition: &Expr) -> bool {
    let mut is_fixed = true;
    condition.walk(&mut |part| {
        is_fixed &= matches!(
            part.node,
            Node::Literal(_)
                | Node::Compare { .. }
                | Node::Between { .. }
                | Node::And(_)
                | Node::Or(_)
                | Node::Xor(..)
                | Node::Not(_)
                | Node::Is { .. }
                | Node::Negate(_)
                | Node::Arithmetic { .. }
        );
    });
    is_fixed
}
