//! What a plan takes for granted of the data, so that a plan that is kept is made anew when it is not so any
//! more.
//!
//! A plan serves executions with other values, and outlives the size that its tables had. Where it had a
//! choice, it notes what it chose by:
//!
//! ```text
//!  WHERE k > 5     half of the rows: all are read, k is a filter      premise: k > ? finds more than N / 8
//!  WHERE k > 999   3 rows: the premise does not hold, the statement is planned again
//! ```
//!
//! Before an execution the premises are tested by the values it has: a look into the index is two descents. A
//! plan that finds each of its rows by a unique key has none, and nothing is tested.

use std::sync::Arc;

use palisade_catalog::Value;
use palisade_engine::Table;
use palisade_expr::context::{StatementState, Subqueries};
use palisade_expr::session_state::SessionState;
use palisade_expr::{Context, Expr, Node, SqlAttempt, SqlError, Subquery};
use palisade_session::environment::Environment;

use super::access::{Access, RangeSpec, Ranges};
use super::conditions::spec_exprs;

/// How many times as large or as small as it was a number of rows may be before it is another one.
const ANOTHER: f64 = 10.0;
/// Numbers of rows below it are all alike.
const FEW: f64 = 100.0;
/// Functions that a look evaluates: what dates are made with. Others may take long.
const EVALUATED: &[&str] = &["date_add", "date_sub", "now", "curdate"];

/// Something that a plan was chosen by.
#[derive(Debug)]
pub struct Premise {
    subject: Subject,
    /// Fewest rows with which the plan stays right.
    least: f64,
    /// Most rows.
    most: f64,
}

/// What has so many rows.
#[derive(Debug)]
enum Subject {
    /// All of a table.
    Table(Arc<Table>),
    /// What a path to a table's rows finds.
    Path(Arc<Table>, Access),
    /// What this parameter says: that of a LIMIT.
    Parameter(usize),
}

impl Premise {
    /// A parameter of a LIMIT says about so many rows.
    pub fn limit(parameter: usize, rows: f64) -> Premise {
        Premise { subject: Subject::Parameter(parameter), least: lower(rows), most: upper(rows) }
    }

    /// A table has about so many rows.
    pub fn size(table: &Arc<Table>, rows: f64) -> Premise {
        let (least, most) = (lower(rows), upper(rows));
        Premise { subject: Subject::Table(table.clone()), least, most }
    }

    /// A path finds about so many rows.
    pub fn about(table: &Arc<Table>, access: Access, rows: f64) -> Premise {
        let (least, most) = (lower(rows), upper(rows));
        Premise { subject: Subject::Path(table.clone(), access), least, most }
    }

    /// A path finds about so many rows or more: that is why it was not taken.
    pub fn many(table: &Arc<Table>, access: Access, rows: f64) -> Premise {
        let subject = Subject::Path(table.clone(), access);
        Premise { subject, least: lower(rows), most: f64::INFINITY }
    }

    /// A path finds about so many rows or fewer: that is why it was taken.
    pub fn few(table: &Arc<Table>, access: Access, rows: f64) -> Premise {
        Premise { subject: Subject::Path(table.clone(), access), least: 0.0, most: upper(rows) }
    }
}

fn lower(rows: f64) -> f64 {
    if rows <= FEW { 0.0 } else { rows / ANOTHER }
}

fn upper(rows: f64) -> f64 {
    rows.max(FEW) * ANOTHER
}

/// Whether all of them hold for an execution with these parameters.
pub fn hold(
    premises: &[Premise],
    session: &SessionState,
    host: &dyn Environment,
    parameters: &[Value],
) -> bool {
    let mut looker = None;
    premises.iter().all(|Premise { subject, least, most }| {
        let rows = match subject {
            Subject::Table(table) => Some(table.magnitude() as f64),
            Subject::Parameter(number) => parameters.get(*number).and_then(rows_of),
            Subject::Path(table, access) => {
                looker.get_or_insert_with(|| Looker::new(session, host)).rows(host, parameters, table, access)
            }
        };
        // What cannot be seen now does not speak against the plan.
        rows.is_none_or(|rows| (*least..=*most).contains(&rows))
    })
}

/// The number of rows that is the value of a LIMIT.
pub fn rows_of(value: &Value) -> Option<f64> {
    match value {
        Value::Int(value) => Some(*value as f64),
        Value::UInt(value) => Some(*value as f64),
        _ => None,
    }
}

/// Whether the ends of all ranges are known when a statement is planned.
pub fn is_known(access: &Access) -> bool {
    let mut known = access.equals.iter().all(|part| is_known_value(&part.value));
    let specs = access.alternatives.iter();
    specs.for_each(|spec: &RangeSpec| spec_exprs(spec, &mut |expr| known &= is_known_value(expr)));
    known
}

fn is_known_value(expr: &Expr) -> bool {
    let mut known = true;
    expr.walk(&mut |part| {
        known &= match &part.node {
            Node::Literal(_)
            | Node::Parameter(_)
            | Node::Negate(_)
            | Node::Arithmetic { .. }
            | Node::Cast { .. }
            | Node::Transcode { .. } => true,
            Node::Call { function, .. } => EVALUATED.contains(&function.name),
            _ => false,
        };
    });
    known
}

/// Counts the rows of paths. What evaluating the ends of their ranges warns of, and changes, stays here.
pub struct Looker {
    session: SessionState,
    state: StatementState,
}

impl Looker {
    /// One that evaluates as a session does.
    pub fn new(session: &SessionState, host: &dyn Environment) -> Looker {
        let scratch = SessionState::new(0, "", "", session.variables.clone(), 0);
        let state = StatementState::new(&scratch, host, 0, false);
        Looker { session: scratch, state }
    }

    /// About how many rows a path whose ends [are known](is_known) finds; `None` where a page that is needed
    /// for it is not in memory, or a value cannot be evaluated.
    pub fn rows(
        &mut self,
        host: &dyn Environment,
        parameters: &[Value],
        table: &Arc<Table>,
        access: &Access,
    ) -> Option<f64> {
        let Looker { session, state } = self;
        let mut none = NoSubqueries;
        let mut cx = Context { session, host, parameters, state, subqueries: &mut none };
        let Ok(Ranges::Ranges(ranges)) = access.ranges(&mut cx, table) else { return None };
        let counted = ranges.iter().map(|range| table.entries_in_range(access.index, range));
        counted.sum::<Option<u64>>().map(|rows| rows as f64)
    }
}

/// Where there is no subquery.
struct NoSubqueries;

impl Subqueries for NoSubqueries {
    fn value(
        &mut self,
        _: &mut SessionState,
        _: &[Value],
        _: &mut StatementState,
        _: &Subquery,
    ) -> SqlAttempt<Value> {
        Err(SqlError::internal("an end that is known has no subquery").into())
    }
}
