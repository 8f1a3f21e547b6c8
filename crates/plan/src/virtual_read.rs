//! What of a virtual table is read: the columns that the statement uses, and the conditions that say of which
//! schemas and tables.
//!
//! A condition is `column = value` or `column IN (value, ...)`, where the column names a schema or a table
//! ([`Named`]) and the values are known when the reading begins: constants, parameters, DATABASE(), columns
//! of tables before this one. It stays in the filter, which alone decides; here it only says which rows need
//! not be made.

use palisade_catalog::{CollationId, SqlType};
use palisade_schema::{Named, TableDecl};

use palisade_expr::{Comparison, Domain, Expr, Node};

/// How a virtual table is read.
#[derive(Debug, Clone, Default)]
pub struct VirtualRead {
    /// The columns that are read; `None` is all of them.
    pub columns: Option<Vec<usize>>,
    /// Conditions on names.
    pub names: Vec<NameCondition>,
    /// A condition depends on rows of other tables.
    pub depends: bool,
}

/// A name must be equal to one of these values.
#[derive(Debug, Clone)]
pub struct NameCondition {
    /// What it is the name of.
    pub named: Named,
    /// The collation of the comparison.
    pub collation: CollationId,
    /// The values.
    pub values: Vec<Expr>,
}

impl VirtualRead {
    /// How the table in `slot` is read under these conditions, of which all must hold.
    pub fn new<'e>(
        table: &TableDecl,
        slot: usize,
        conditions: impl Iterator<Item = &'e Expr>,
        columns: Option<Vec<usize>>,
    ) -> VirtualRead {
        let names: Vec<_> =
            conditions.filter_map(|condition| NameCondition::of(table, slot, condition)).collect();
        let depends = names.iter().flat_map(|condition| &condition.values).any(reads_columns);
        VirtualRead { columns, names, depends }
    }

    /// How many names of that kind are looked up; `None` if that is not said. One that is found by comparing
    /// all names for each row of a table before this one is no better than reading all once.
    pub fn count(&self, named: Named) -> Option<usize> {
        let is_cheap = |condition: &NameCondition| {
            !condition.compares_all() || !condition.values.iter().any(reads_columns)
        };
        let of_kind = self.names.iter().filter(|condition| condition.named == named && is_cheap(condition));
        of_kind.map(|condition| condition.values.len()).min()
    }
}

/// Of a longer list the names are not looked up, and the filter, which keeps them sorted, decides alone:
/// names are compared one by one here, without a turn for others.
const MOST_NAMES: usize = 64;

impl NameCondition {
    /// Whether all names that there are have to be compared to find those that it leaves.
    pub fn compares_all(&self) -> bool {
        !palisade_schema::is_exact(self.collation)
    }

    fn of(table: &TableDecl, slot: usize, condition: &Expr) -> Option<NameCondition> {
        let name = |expr: &Expr| named_column(table, slot, expr);
        let text = |domain: &Domain| match domain {
            Domain::Text(collation) => Some(*collation),
            _ => None,
        };
        match &condition.node {
            Node::Compare { comparison: Comparison::Equal, domain, left, right } => {
                let (named, value) = match (name(left), name(right)) {
                    (Some(named), _) => (named, right),
                    (None, Some(named)) => (named, left),
                    (None, None) => return None,
                };
                let values = vec![known_value(slot, value)?];
                Some(NameCondition { named, collation: text(domain)?, values })
            }
            Node::In { operand, list, negated: false } if list.len() <= MOST_NAMES => {
                let named = name(operand)?;
                let collation = text(&list.first()?.0)?;
                let value = |(domain, value): &(Domain, Expr)| {
                    if text(domain) == Some(collation) { known_value(slot, value) } else { None }
                };
                let values = list.iter().map(value).collect::<Option<_>>()?;
                Some(NameCondition { named, collation, values })
            }
            _ => None,
        }
    }
}

/// What the column names that the expression is, perhaps in another character set.
fn named_column(table: &TableDecl, slot: usize, expr: &Expr) -> Option<Named> {
    match &expr.node {
        Node::Column { slot: own, column, .. } if *own == slot => table.columns.get(*column)?.named(),
        Node::Transcode { operand, .. } => named_column(table, slot, operand),
        _ => None,
    }
}

/// The value, if it is a text that is known when the reading begins, whose evaluation has no effect and gives
/// no warning.
fn known_value(slot: usize, expr: &Expr) -> Option<Expr> {
    let is_text = matches!(
        expr.ty,
        SqlType::Char { .. } | SqlType::VarChar { .. } | SqlType::Text { .. } | SqlType::Null
    );
    (is_text && is_known(slot, expr)).then(|| expr.clone())
}

fn is_known(slot: usize, expr: &Expr) -> bool {
    match &expr.node {
        Node::Literal(_) | Node::Parameter(_) => true,
        Node::Column { slot: other, .. } => *other != slot,
        Node::Transcode { operand, .. } => is_known(slot, operand),
        Node::Call { function, arguments } => {
            arguments.is_empty() && matches!(function.name, "database" | "schema")
        }
        _ => false,
    }
}

fn reads_columns(expr: &Expr) -> bool {
    let mut reads = false;
    expr.walk(&mut |part| reads |= matches!(part.node, Node::Column { .. }));
    reads
}
