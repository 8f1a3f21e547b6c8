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
use std::sync::atomic::{AtomicBool, Ordering};

use palisade_base::Blocked;
use palisade_catalog::PartitionSet;
use palisade_catalog::Value;
use palisade_catalog::histogram::Histogram;
use palisade_engine::{RowStamp, Table, TableSample};
use palisade_expr::context::{StatementState, Subqueries};
use palisade_expr::session_state::SessionState;
use palisade_expr::{Context, Expr, SqlAttempt, SqlError, SqlResult, Subquery};
use palisade_session::environment::Environment;

use super::access::{Access, RangeSpec, Ranges, part_within};
use super::conditions::spec_exprs;
use super::partition::prune::Pruning;
use super::partition::{PartitionScheme, RowValues};

/// How many times as large or as small as it was a number of rows may be before it is another one.
const ANOTHER: f64 = 10.0;
/// Numbers of rows below it are all alike.
const FEW: f64 = 100.0;
/// Values of a list that are looked for in a histogram at most.
const MOST_VALUES: usize = 64;
/// Something that a plan was chosen by.
#[derive(Debug)]
pub struct Premise {
    subject: Subject,
    /// Fewest rows with which the plan stays right; of a condition the part of all rows that they are.
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
    /// What a condition lets through of a table.
    Condition(Arc<Table>, Spread),
    /// What this parameter says: that of a LIMIT.
    Parameter(usize),
    /// One while the statement keeps the plan that this one was held to, and none after that.
    Kept(Arc<AtomicBool>),
}

/// A condition on a column, and how the values of the column are spread.
#[derive(Debug, Clone)]
pub struct Spread {
    /// The column's position.
    pub column: usize,
    /// How its values are spread.
    pub histogram: Arc<Histogram>,
    /// The values that the condition names.
    pub specs: Vec<RangeSpec>,
    /// It holds for all values but these.
    pub is_negated: bool,
}

impl Premise {
    /// The statement keeps the plan that this one was held to, as long as `stands` says so.
    pub fn stands(stands: Arc<AtomicBool>) -> Premise {
        Premise { subject: Subject::Kept(stands), least: 1.0, most: 1.0 }
    }

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

    /// A condition lets about so many rows through, of `total` that the table had.
    pub fn spread(table: &Arc<Table>, spread: Spread, rows: f64, total: f64) -> Premise {
        let (least, most) = (lower(rows) / total, upper(rows) / total);
        Premise { subject: Subject::Condition(table.clone(), spread), least, most }
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
        let new = || Looker::new(session, host);
        let rows = match subject {
            Subject::Table(table) => Some(table.magnitude() as f64),
            Subject::Kept(stands) => Some(f64::from(u8::from(stands.load(Ordering::Relaxed)))),
            Subject::Parameter(number) => parameters.get(*number).and_then(rows_of),
            Subject::Path(table, access) => {
                looker.get_or_insert_with(new).rows(host, parameters, table, access)
            }
            Subject::Condition(table, spread) => {
                looker.get_or_insert_with(new).part(host, parameters, table, spread)
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
    let mut known = access.equals.iter().all(|part| part.value.is_quick_constant());
    let specs = access.alternatives.iter();
    specs.for_each(|spec: &RangeSpec| spec_exprs(spec, &mut |expr| known &= expr.is_quick_constant()));
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
        let narrowed = access.pruning.as_ref().map(|pruning| &pruning.planned);
        let narrowed = narrowed.filter(|set| !set.is_all(table.partition_count()));
        let counted = ranges.iter().map(|range| match narrowed {
            Some(set) => table.entries_in_range_of(access.index, range, set),
            None => table.entries_in_range(access.index, range),
        });
        counted.sum::<Option<u64>>().map(|rows| rows as f64)
    }

    /// The value of an expression over constants and parameters; `None` where it cannot be evaluated.
    pub fn value(&mut self, host: &dyn Environment, parameters: &[Value], expr: &Expr) -> Option<Value> {
        let Looker { session, state } = self;
        let mut none = NoSubqueries;
        let mut cx = Context { session, host, parameters, state, subqueries: &mut none };
        expr.eval(&mut cx).ok()
    }

    /// The number of the partition where a row belongs, if there is one.
    pub fn place(
        &mut self,
        host: &dyn Environment,
        scheme: &PartitionScheme,
        row: &RowValues<'_>,
    ) -> SqlResult<Option<usize>> {
        let Looker { session, state } = self;
        let mut none = NoSubqueries;
        let mut cx = Context { session, host, parameters: &[], state, subqueries: &mut none };
        scheme.find(&mut cx, row).map_err(|blocked| match blocked {
            Blocked::Error(error) => error,
            Blocked::Wait(_) => SqlError::internal("where a row belongs is known at once"),
        })
    }

    /// The same; 1526 if there is none.
    pub fn route(
        &mut self,
        host: &dyn Environment,
        scheme: &PartitionScheme,
        row: &RowValues<'_>,
    ) -> SqlResult<usize> {
        if let Some(number) = self.place(host, scheme, row)? {
            return Ok(number);
        }
        let Looker { session, state } = self;
        let mut none = NoSubqueries;
        let mut cx = Context { session, host, parameters: &[], state, subqueries: &mut none };
        Err(scheme.unplaced(&mut cx, row))
    }

    /// The partitions that conditions leave whose values are known; `None` where one cannot be evaluated.
    pub fn partitions(
        &mut self,
        host: &dyn Environment,
        parameters: &[Value],
        table: &Table,
        pruning: &Pruning,
    ) -> Option<PartitionSet> {
        let Looker { session, state } = self;
        let mut none = NoSubqueries;
        let mut cx = Context { session, host, parameters, state, subqueries: &mut none };
        pruning.partitions(&mut cx, table).ok()
    }

    /// The part of all rows for which a condition on a column holds; `None` where that cannot be told.
    pub fn part(
        &mut self,
        host: &dyn Environment,
        parameters: &[Value],
        table: &Table,
        spread: &Spread,
    ) -> Option<f64> {
        let Spread { column, histogram, specs, is_negated } = spread;
        let column = table.columns.get(*column)?;
        let Looker { session, state } = self;
        let mut none = NoSubqueries;
        let mut cx = Context { session, host, parameters, state, subqueries: &mut none };
        // Of a long list the first values tell enough.
        let looked = specs.len().min(MOST_VALUES);
        let mut sum = 0.0;
        for spec in specs.iter().take(looked) {
            sum += part_within(&mut cx, column, histogram, spec).ok()??;
        }
        let part = sum * specs.len() as f64 / looked.max(1) as f64;
        let values = histogram.values();
        Some(if *is_negated { (values - part).max(0.0) } else { part.min(1.0) })
    }

    /// Whether a condition holds that reads neither rows nor parameters; `None` where evaluating it gives an
    /// error or a warning.
    pub fn truth(&mut self, host: &dyn Environment, condition: &Expr) -> Option<Option<bool>> {
        let Looker { session, state } = self;
        session.warnings.clear(1);
        let mut none = NoSubqueries;
        let mut cx = Context { session, host, parameters: &[], state, subqueries: &mut none };
        let truth = condition.test(&mut cx).ok()?;
        (session.warnings.count() == 0).then_some(truth)
    }

    /// The part of some rows of a table for which a condition on the row in `slot` holds; `None` where it
    /// cannot be evaluated.
    pub fn part_of_rows(
        &mut self,
        host: &dyn Environment,
        parameters: &[Value],
        (table, slot): (&Arc<Table>, usize),
        condition: &Expr,
        sample: &TableSample,
    ) -> Option<f64> {
        let Looker { session, .. } = self;
        let mut none = NoSubqueries;
        let mut state = StatementState::new(session, host, slot + 1, false);
        let mut held = 0usize;
        for row in sample.rows() {
            state.frame.slots.get_mut(slot)?.set_row(table, row, RowStamp::default());
            let mut cx = Context { session, host, parameters, state: &mut state, subqueries: &mut none };
            held += usize::from(condition.test(&mut cx).ok()? == Some(true));
        }
        // Of what none of them is there may be some all the same.
        Some((held as f64).max(0.5) / sample.len().max(1) as f64)
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
