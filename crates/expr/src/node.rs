//! The tree of a bound expression: its operations, and the walks over them.

use std::sync::Arc;

use palisade_catalog::{CollationId, SqlType, Value};

use crate::func::{Function, Purity};
use crate::services::Scope;
use crate::{CastTarget, Comparison, Domain};

/// How strongly an expression insists on its collation: the smaller, the stronger (MySQL's COERCIBILITY()).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Coercibility {
    Explicit = 0,
    Implicit = 2,
    SystemConstant = 3,
    Literal = 4,
    Numeric = 5,
    Null = 6,
    /// Of a text made of texts whose collations do not go together (MySQL's NONE).
    Conflict = 7,
}

/// A bound expression.
#[derive(Debug, Clone)]
pub struct Expr {
    /// What it does.
    pub node: Node,
    /// Type of its values; also their collation.
    pub ty: SqlType,
    /// Whether it can be NULL.
    pub nullable: bool,
    /// How strongly it insists on its collation.
    pub coercibility: Coercibility,
}

/// Arithmetic operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ArithmeticOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    IntegerDivide,
    Modulo,
}

/// Operators on 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BitOp {
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
}

/// In which numbers arithmetic is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Numeric {
    Signed,
    Unsigned,
    Decimal,
    Double,
}

/// What becomes of characters that another character set does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// They become `?`.
    Allowed,
    /// The statement fails with 3854: of constants that are converted for an operation with other texts.
    Refused,
    /// The same of what a column of UNION keeps: the message shows it from the first byte on that is no
    /// character.
    RefusedByColumn,
}

/// What `IS` asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Truth {
    True,
    False,
    Null,
}

/// How a subquery is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubqueryUse {
    /// Its one value.
    Scalar,
    /// `EXISTS`.
    Exists {
        /// `NOT EXISTS`.
        negated: bool,
    },
    /// `left IN (...)`, and `left <op> ANY/ALL (...)`.
    Quantified {
        /// The left side: one expression per column.
        left: Vec<Expr>,
        /// The operator, per column.
        comparison: Comparison,
        /// In which domain each column is compared.
        domains: Vec<Domain>,
        /// `ALL` rather than `ANY`.
        all: bool,
        /// `NOT IN`.
        negated: bool,
    },
}

/// A subquery in an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subquery {
    /// Its number in the statement; its plan and state are found by it.
    pub number: usize,
    /// How its rows become a value.
    pub usage: SubqueryUse,
    /// Whether it must run again when outer rows change.
    pub correlated: bool,
}

/// The operations.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub enum Node {
    Literal(Value),
    /// A column of the row that is current in a slot of the frame.
    Column {
        slot: usize,
        column: usize,
        name: Arc<str>,
        /// Whether an aggregate, a window function or an expression of GROUP BY has computed it, not a table
        /// or a query.
        computed: bool,
    },
    /// A `?`.
    Parameter(usize),
    UserVariable(Arc<str>),
    AssignUserVariable(Arc<str>, Box<Expr>),
    SystemVariable {
        scope: Option<Scope>,
        name: Arc<str>,
    },
    Negate(Box<Expr>),
    BitNot(Box<Expr>),
    Arithmetic {
        op: ArithmeticOp,
        numeric: Numeric,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Bits {
        op: BitOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Compare {
        comparison: Comparison,
        domain: Domain,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Xor(Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    Is {
        operand: Box<Expr>,
        truth: Truth,
        negated: bool,
    },
    /// `operand [NOT] IN (list)`, each compared in its own domain. Lists may be a million items long, and a
    /// condition is copied while it is planned: copies share the list.
    In {
        operand: Box<Expr>,
        list: Arc<Vec<(Domain, Expr)>>,
        negated: bool,
    },
    /// `operand [NOT] BETWEEN low AND high`.
    Between {
        operand: Box<Expr>,
        domain: Domain,
        low: Box<Expr>,
        high: Box<Expr>,
        negated: bool,
    },
    Like {
        operand: Box<Expr>,
        pattern: Box<Expr>,
        escape: Option<Box<Expr>>,
        collation: CollationId,
        negated: bool,
    },
    /// `CASE WHEN`; the simple form compares in the condition.
    Case {
        branches: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    Cast {
        operand: Box<Expr>,
        target: CastTarget,
    },
    /// The operand's text in another character set.
    Transcode {
        operand: Box<Expr>,
        to: CollationId,
        loss: Loss,
    },
    Call {
        function: &'static Function,
        arguments: Vec<Expr>,
    },
    Subquery(Box<Subquery>),
}

/// Calls `$each` on each direct operand of a node, which is borrowed as `$iter` says.
macro_rules! each_operand {
    ($node:expr, $each:ident, $iter:ident, $items:path $(, $mutable:tt)?) => {
        match $node {
            Node::Literal(_)
            | Node::Column { .. }
            | Node::Parameter(_)
            | Node::UserVariable(_)
            | Node::SystemVariable { .. } => {}
            Node::AssignUserVariable(_, operand)
            | Node::Negate(operand)
            | Node::BitNot(operand)
            | Node::Not(operand)
            | Node::Is { operand, .. }
            | Node::Cast { operand, .. }
            | Node::Transcode { operand, .. } => $each(operand),
            Node::Arithmetic { left, right, .. }
            | Node::Bits { left, right, .. }
            | Node::Compare { left, right, .. }
            | Node::Xor(left, right) => {
                $each(left);
                $each(right);
            }
            Node::And(parts) | Node::Or(parts) => parts.$iter().for_each($each),
            Node::In { operand, list, .. } => {
                $each(operand);
                $items(list).$iter().for_each(|(_, item)| $each(item));
            }
            Node::Between { operand, low, high, .. } => {
                $each(operand);
                $each(low);
                $each(high);
            }
            Node::Like { operand, pattern, escape, .. } => {
                $each(operand);
                $each(pattern);
                if let Some(escape) = escape {
                    $each(escape);
                }
            }
            Node::Case { branches, otherwise } => {
                for (condition, result) in branches {
                    $each(condition);
                    $each(result);
                }
                if let Some(otherwise) = otherwise {
                    $each(otherwise);
                }
            }
            Node::Call { arguments, .. } => arguments.$iter().for_each($each),
            Node::Subquery(subquery) => {
                if let SubqueryUse::Quantified { left, .. } = &$($mutable)? subquery.usage {
                    left.$iter().for_each($each);
                }
            }
        }
    };
}

/// Functions whose values are computed soon whatever their arguments are: what dates are made with.
const QUICK: &[&str] = &["date_add", "date_sub", "now", "curdate"];

impl Expr {
    /// A literal of a type.
    pub fn literal(value: Value, ty: SqlType) -> Expr {
        let nullable = value.is_null();
        let coercibility = match &value {
            Value::Null => Coercibility::Null,
            Value::Bytes(_) => Coercibility::Literal,
            _ => Coercibility::Numeric,
        };
        Expr { node: Node::Literal(value), ty, nullable, coercibility }
    }

    /// NULL.
    pub fn null() -> Expr {
        Expr::literal(Value::Null, SqlType::Null)
    }

    /// A BIGINT literal.
    pub fn int(value: i64) -> Expr {
        Expr::literal(Value::Int(value), SqlType::BIGINT)
    }

    /// The type of its values where they are numbers: a binary literal is an integer then.
    pub fn numeric_type(&self) -> &SqlType {
        match &self.node {
            Node::Literal(Value::Bit { bits, width }) if self.ty.is_string() => {
                let is_signed = width % 8 != 0 && i64::try_from(*bits).is_ok();
                if is_signed { &SqlType::BIGINT } else { &SqlType::BIGINT_UNSIGNED }
            }
            _ => &self.ty,
        }
    }

    /// A computed expression: numbers are coercible as such, text like a literal.
    pub fn computed(node: Node, ty: SqlType, nullable: bool) -> Expr {
        let coercibility = if ty.is_string() { Coercibility::Literal } else { Coercibility::Numeric };
        Expr { node, ty, nullable, coercibility }
    }

    /// A truth value.
    pub fn truth(node: Node, nullable: bool) -> Expr {
        Expr::computed(
            node,
            SqlType::Int { width: palisade_catalog::types::IntWidth::Int, unsigned: false },
            nullable,
        )
    }

    /// Whether it is a column of a table or of a query. MySQL reads a constant that is compared with one as
    /// the column would keep it, and writes the year 0 of one as 0000.
    pub fn is_field(&self) -> bool {
        matches!(self.node, Node::Column { computed: false, .. })
    }

    /// Whether it is a column with COLLATE, in whose order an index over the column need not be.
    pub fn has_own_collation(&self) -> bool {
        matches!(self.node, Node::Column { .. }) && self.coercibility == Coercibility::Explicit
    }

    /// Whether it has the same value for all rows of a statement: it reads no column, no user variable and no
    /// subquery, and does nothing.
    pub fn is_same_for_all_rows(&self) -> bool {
        let mut same = true;
        self.walk(&mut |part| {
            same &= match &part.node {
                Node::Call { function, .. } => function.purity != Purity::Effect,
                Node::Column { .. }
                | Node::UserVariable(_)
                | Node::AssignUserVariable(..)
                | Node::Subquery(_) => false,
                _ => true,
            };
        });
        same
    }

    /// Whether it is computed of constants and nothing else, by functions that always answer the same.
    pub fn is_computed_beforehand(&self) -> bool {
        let mut pure = self.is_same_for_all_rows();
        self.walk(&mut |part| match &part.node {
            Node::Call { function, .. } => pure &= function.purity == Purity::Pure,
            Node::SystemVariable { .. } => pure = false,
            _ => {}
        });
        pure
    }

    /// Whether it is a user variable that holds a number.
    pub fn is_numeric_variable(&self) -> bool {
        matches!(self.node, Node::UserVariable(_)) && self.ty.is_numeric()
    }

    /// Whether it is a number, a date or a time: where a text is wanted it is one in the connection's
    /// collation.
    pub fn is_written_as_text(&self) -> bool {
        !matches!(self.ty, SqlType::Bit { .. }) && (self.ty.is_numeric() || self.ty.is_temporal())
    }

    /// The conjunction of `conditions`; TRUE of none.
    pub fn all_of(mut conditions: Vec<Expr>) -> Option<Expr> {
        match conditions.len() {
            0 => None,
            1 => conditions.pop(),
            _ => {
                let nullable = conditions.iter().any(|condition| condition.nullable);
                Some(Expr::truth(Node::And(conditions), nullable))
            }
        }
    }

    /// Splits a conjunction into its parts.
    pub fn conjuncts(self, out: &mut Vec<Expr>) {
        match self.node {
            Node::And(parts) => parts.into_iter().for_each(|part| part.conjuncts(out)),
            _ => out.push(self),
        }
    }

    /// Calls `visit` on this expression and every one below it, subqueries' left sides included.
    pub fn walk(&self, visit: &mut dyn FnMut(&Expr)) {
        visit(self);
        self.children(&mut |child| child.walk(visit));
    }

    /// Whether evaluating it again may give another value, or have an effect again.
    pub fn is_impure(&self) -> bool {
        let mut found = false;
        self.walk(&mut |expr| {
            found |= match &expr.node {
                Node::Call { function, .. } => function.purity != Purity::Pure,
                Node::AssignUserVariable(..) => true,
                _ => false,
            }
        });
        found
    }

    /// Whether it is computed from literals and parameters alone, and soon: what evaluates it in one go, for
    /// all rows or for a plan, calls no function that may take long.
    pub fn is_quick_constant(&self) -> bool {
        let mut is_quick = true;
        self.walk(&mut |part| {
            is_quick &= match &part.node {
                Node::Literal(_)
                | Node::Parameter(_)
                | Node::Negate(_)
                | Node::Arithmetic { .. }
                | Node::Cast { .. }
                | Node::Transcode { .. } => true,
                Node::Call { function, .. } => QUICK.contains(&function.name),
                _ => false,
            };
        });
        is_quick
    }

    /// Whether a user variable is read somewhere in it.
    pub fn reads_user_variables(&self) -> bool {
        let mut found = false;
        self.walk(&mut |expr| found |= matches!(expr.node, Node::UserVariable(_)));
        found
    }

    /// Calls `visit` on each direct operand.
    pub fn children<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        self.node.children(visit);
    }

    /// Calls `change` on each direct operand.
    pub fn children_mut(&mut self, change: &mut dyn FnMut(&mut Expr)) {
        each_operand!(&mut self.node, change, iter_mut, Arc::make_mut, mut)
    }
}

impl Node {
    /// Calls `visit` on each direct operand.
    pub fn children<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        each_operand!(self, visit, iter, Arc::as_ref)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::func;

    #[test]
    fn a_constant_whose_function_may_take_long_is_not_quick() {
        let literal = || Expr::literal(Value::bytes("2024-01-01"), SqlType::DOUBLE);
        let call = |name: &str| {
            let function = func::find(name).unwrap();
            Expr::computed(Node::Call { function, arguments: vec![literal()] }, SqlType::DOUBLE, true)
        };
        assert!(literal().is_quick_constant() && call("date_add").is_quick_constant());
        for name in ["repeat", "sha2", "sleep", "benchmark"] {
            assert!(!call(name).is_quick_constant(), "{name}");
        }
    }
}
