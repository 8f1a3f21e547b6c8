//! When two bound expressions are the same one.
//!
//! GROUP BY, HAVING, DISTINCT, ORDER BY and windows all ask it: an expression above a grouping that is the
//! same as one of GROUP BY is a column of the groups, and two aggregates that are the same are computed once.
//! The answer is structural: the same operations on the same operands, of the same types. How an expression
//! prints takes no part in it.
//!
//! | part | the same if |
//! |---|---|
//! | literal | of the same kind and value; floating-point numbers by their bits |
//! | column | of the same slot and position; the name that is printed is left out |
//! | `?` | it is that very parameter: two parameters may have the same value now and different ones at the next execution |
//! | call | of the same function, with the same arguments |
//! | subquery | it is that very subquery: each has a number of its own |
//! | type | equal, length, scale and collation included |
//!
//! Nullability and coercibility are left out: they follow from the operands, and a column of an outer join is
//! the same column whether or not its nullability has been noticed yet.

use std::hash::{Hash, Hasher};
use std::mem::discriminant;
use std::ptr;

use palisade_catalog::Value;

use super::{Expr, Node};

impl PartialEq for Expr {
    fn eq(&self, other: &Expr) -> bool {
        self.node == other.node && self.ty == other.ty
    }
}

impl Eq for Expr {}

impl Hash for Expr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.node.hash(state);
        self.ty.hash(state);
    }
}

/// Whether two constants are the same; floating-point numbers are by their bits, so that equality is
/// reflexive.
fn same_constant(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Float(left), Value::Float(right)) => left.to_bits() == right.to_bits(),
        (Value::Double(left), Value::Double(right)) => left.to_bits() == right.to_bits(),
        _ => left == right,
    }
}

fn hash_constant<H: Hasher>(value: &Value, state: &mut H) {
    discriminant(value).hash(state);
    match value {
        Value::Int(value) => value.hash(state),
        Value::UInt(value) => value.hash(state),
        Value::Decimal(value) => value.hash(state),
        Value::Float(value) => value.to_bits().hash(state),
        Value::Double(value) => value.to_bits().hash(state),
        Value::Bytes(bytes) => bytes[..].hash(state),
        Value::Bit { bits, width } => (bits, width).hash(state),
        Value::Year(year) => year.hash(state),
        // The kind alone is enough of a hash for constants that are rarely written.
        Value::Null
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::Timestamp(_)
        | Value::Enum(_)
        | Value::Set(_) => {}
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Node) -> bool {
        use Node::*;
        match (self, other) {
            (Literal(left), Literal(right)) => same_constant(left, right),
            (
                Column { slot, column, name: _, computed: _ },
                Column { slot: other_slot, column: other_column, name: _, computed: _ },
            ) => (slot, column) == (other_slot, other_column),
            (Parameter(left), Parameter(right)) => left == right,
            (UserVariable(left), UserVariable(right)) => left == right,
            (AssignUserVariable(name, value), AssignUserVariable(other_name, other_value)) => {
                name == other_name && value == other_value
            }
            (SystemVariable { scope, name }, SystemVariable { scope: other_scope, name: other_name }) => {
                (scope, name) == (other_scope, other_name)
            }
            (Negate(left), Negate(right)) | (BitNot(left), BitNot(right)) | (Not(left), Not(right)) => {
                left == right
            }
            (And(left), And(right)) | (Or(left), Or(right)) => left == right,
            (Xor(left, right), Xor(other_left, other_right)) => (left, right) == (other_left, other_right),
            (Subquery(left), Subquery(right)) => left == right,
            _ => self.same_operation(other) && self.operands() == other.operands(),
        }
    }
}

impl Eq for Node {}

impl Node {
    /// Whether two nodes of several operands do the same with them, whatever the operands are.
    fn same_operation(&self, other: &Node) -> bool {
        use Node::*;
        match (self, other) {
            (Arithmetic { op, numeric, .. }, Arithmetic { op: other_op, numeric: other_numeric, .. }) => {
                (op, numeric) == (other_op, other_numeric)
            }
            (Bits { op, .. }, Bits { op: other_op, .. }) => op == other_op,
            (Compare { comparison, domain, .. }, Compare { comparison: other, domain: other_domain, .. }) => {
                (comparison, domain) == (other, other_domain)
            }
            (Is { truth, negated, .. }, Is { truth: other_truth, negated: other_negated, .. }) => {
                (truth, negated) == (other_truth, other_negated)
            }
            (In { list, negated, .. }, In { list: other_list, negated: other_negated, .. }) => {
                let domains = list.iter().map(|(domain, _)| domain);
                negated == other_negated && domains.eq(other_list.iter().map(|(domain, _)| domain))
            }
            (
                Between { domain, negated, .. },
                Between { domain: other_domain, negated: other_negated, .. },
            ) => (domain, negated) == (other_domain, other_negated),
            (
                Like { escape, collation, negated, .. },
                Like { escape: other_escape, collation: other_collation, negated: other_negated, .. },
            ) => {
                (collation, negated) == (other_collation, other_negated)
                    && escape.is_some() == other_escape.is_some()
            }
            (Case { branches, otherwise }, Case { branches: other_branches, otherwise: other_otherwise }) => {
                branches.len() == other_branches.len() && otherwise.is_some() == other_otherwise.is_some()
            }
            (Cast { target, .. }, Cast { target: other_target, .. }) => target == other_target,
            (Transcode { to, .. }, Transcode { to: other_to, .. }) => to == other_to,
            (Call { function, .. }, Call { function: other_function, .. }) => {
                ptr::eq(*function, *other_function)
            }
            _ => false,
        }
    }

    /// The direct operands, in order.
    fn operands(&self) -> Vec<&Expr> {
        let mut operands = Vec::new();
        self.children(&mut |operand| operands.push(operand));
        operands
    }
}

impl Hash for Node {
    fn hash<H: Hasher>(&self, state: &mut H) {
        discriminant(self).hash(state);
        match self {
            Node::Literal(value) => hash_constant(value, state),
            Node::Column { slot, column, name: _, computed: _ } => (slot, column).hash(state),
            Node::Parameter(number) => number.hash(state),
            Node::UserVariable(name)
            | Node::AssignUserVariable(name, _)
            | Node::SystemVariable { name, .. } => name.hash(state),
            Node::Subquery(subquery) => subquery.number.hash(state),
            Node::Call { function, .. } => function.name.hash(state),
            _ => {}
        }
        self.children(&mut |operand| operand.hash(state));
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
    use std::sync::Arc;

    use palisade_catalog::{CollationId, SqlType, Value};

    use crate::{CastTarget, Expr, Node};

    fn column(column: usize, name: &str) -> Expr {
        let node = Node::Column { slot: 1, column, name: Arc::from(name), computed: false };
        Expr::computed(node, SqlType::BIGINT, true)
    }

    fn cast(target: CastTarget) -> Expr {
        let ty = target.result_type(&SqlType::BIGINT);
        Expr::computed(Node::Cast { operand: Box::new(column(0, "a")), target }, ty, true)
    }

    fn like(escape: Option<&[u8]>, collation: CollationId) -> Expr {
        let text = |bytes: &[u8]| {
            Box::new(Expr::literal(Value::bytes(bytes.to_vec()), SqlType::VarChar { length: 9, collation }))
        };
        let (operand, pattern) = (text(b"x"), text(b"y"));
        let node = Node::Like { operand, pattern, escape: escape.map(text), collation, negated: false };
        Expr::truth(node, false)
    }

    fn hash(expr: &Expr) -> u64 {
        BuildHasherDefault::<DefaultHasher>::default().hash_one(expr)
    }

    #[test]
    fn what_prints_alike_is_not_the_same() {
        let parameter = |number| Expr::computed(Node::Parameter(number), SqlType::BIGINT, false);
        let double = |value| Expr::literal(Value::Double(value), SqlType::DOUBLE);
        let (bin, ci) = (CollationId::UTF8MB4_BIN, CollationId::UTF8MB4_0900_AI_CI);
        let pairs = [
            (parameter(0), parameter(1)),
            (double(0.0), double(-0.0)),
            (
                cast(CastTarget::Decimal { precision: 10, scale: 0 }),
                cast(CastTarget::Decimal { precision: 10, scale: 1 }),
            ),
            (
                cast(CastTarget::Char { length: Some(1), collation: ci }),
                cast(CastTarget::Char { length: Some(5), collation: ci }),
            ),
            (like(None, ci), like(Some(b"|"), ci)),
            (like(Some(b"!"), ci), like(Some(b"|"), ci)),
            (like(None, ci), like(None, bin)),
            (column(0, "a"), column(1, "a")),
        ];
        for (left, right) in pairs {
            assert_ne!(left, right);
            assert_eq!((&left, hash(&left)), (&left.clone(), hash(&left.clone())));
        }
    }

    #[test]
    fn names_and_not_a_number_do_not_matter() {
        assert_eq!(column(3, "`t`.`a`"), column(3, "x"));
        assert_eq!(hash(&column(3, "`t`.`a`")), hash(&column(3, "x")));
        let nan = Expr::literal(Value::Double(f64::NAN), SqlType::DOUBLE);
        assert_eq!(nan, nan.clone());
    }
}
