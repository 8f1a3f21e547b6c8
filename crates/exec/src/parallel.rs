//! Groups that are added up in parts, side by side.
//!
//! The rows are those of a table, or of a join for each row of one. The ranges of the scan of that one, which
//! [drives](palisade_plan::parallel::driving) the rest, are
//! [divided](palisade_engine::Transaction::divide) into pieces, several for each thread. A `Part` takes one
//! piece after the other, adds its rows up in groups of its own, and hands them
//! in when there is no piece left; the statement then puts the groups together.
//!
//! ```text
//!   pieces      0   1   2   3   4   5   6   7
//!   part A      0 ──────┐   3 ──────┐   6 ──┐ hands in groups of 0, 3 and 6
//!   part B          1 ──┴2 ─────┐4 ─┴5 ─────┴7 ... of 1, 2, 4, 5 and 7
//!   statement   waits ───────────────────────────────► merges by (piece, place in it)
//! ```
//!
//! Every part but one ends before its next piece when the server says that it is [busy]:
//! what is left is done as if nothing were divided, and sessions with small statements have the processors.
//!
//! [busy]: palisade_session::environment::Processes::is_busy
//!
//! What comes out is what one scan would give, whichever part had which piece: a group has the values of
//! its first row, and groups come in the order of their first rows, since for each the piece is known in
//! which it was first met; only aggregates [whose result is the
//! same](palisade_expr::aggregate::AggregateSpec::is_of_parts) are added up so; warnings are put together by
//! piece, and of several errors the one of the first piece ends the statement.
//!
//! # Who owns what
//!
//! A part runs as a task of its own, on a thread that computes, and nothing that it has is the statement's:
//! what it evaluates with is a copy, and it reads with the statement's snapshot by a [reader]. As that must
//! not outlive the statement's transaction, a part is in a [seat](palisade_base::seats) that both share. The
//! task locks the seat for a step, a millisecond or so; when the statement lets go of its [`Parts`], at its
//! end or because it was killed, it takes the parts out of their seats, and a task that finds its seat empty
//! ends.
//!
//! What the parts allocate counts for their statement: each part knows what the others and the statement
//! hold, and ends the statement as the statement itself would. What is handed in counts for the statement
//! from then on. For its groups a part has its share of the memory that the grouping may take; if that is
//! not enough all parts end, and the statement does everything again alone, with temporary files.
//!
//! [reader]: palisade_engine::Transaction::reader

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use palisade_base::Blocked;
use palisade_base::event::yield_now;
use palisade_base::seats::{Look, Seats, Step, Turn};
use palisade_catalog::Value;
use palisade_engine::{KeyRange, TableAccess, Transaction};
use palisade_expr::aggregate::Accumulator;
use palisade_expr::context::StatementState;
use palisade_expr::memory::Memory;
use palisade_expr::session_state::SessionState;
use palisade_expr::warning::Warnings;
use palisade_expr::{SqlAttempt, SqlError};
use palisade_plan::access::Ranges;
use palisade_plan::parallel::{DividedFrom, InParts, driving, tables};
use palisade_plan::{Operator, Plan};
use palisade_schema::{Rows, TableDecl, Wanted};
use palisade_session::command::CommandCounts;
use palisade_session::environment::Environment;
use palisade_session::virtual_tables::{DictionaryTables, RowSource};
use palisade_session::work::WorkDone;

use super::aggregate::{AggregateState, Grouping, Groups};
use super::context::{Execution, InPart};
use super::scan::count_ranges;
use super::{ExecContext, State};

/// Pieces for each thread: how much the last one has to do alone is a small part of all then.
const PIECES_A_THREAD: usize = 16;
/// Pieces for each thread at least: a few leaves may drive a join, and are not divided.
const LEAST_PIECES: usize = 2;

/// The parts of a grouping, as its statement has them. What is left of them ends when it is dropped.
pub struct Parts {
    shared: Arc<Shared>,
    /// Ranges that were divided.
    ranges: u64,
}

/// What the parts and their statement share.
struct Shared {
    plan: Arc<Plan>,
    /// The output slot of the grouping, by which it is found in the plan.
    slot: usize,
    pieces: Vec<KeyRange>,
    seats: Seats<Part, HandedIn, SqlError>,
    /// Bytes that the statement held when the parts began.
    held: i64,
}

/// What a part has added up.
pub(super) struct HandedIn {
    /// Its groups, in the order in which it has met them.
    groups: Groups,
    /// Behind each piece that it has read, how many groups there were.
    ends: Vec<(usize, usize)>,
    warnings: Vec<(usize, Warnings)>,
    work: WorkDone,
    /// The part's account, and what all this takes of it.
    memory: Memory,
    held: i64,
}

/// What adds up the rows of one piece after the other.
struct Part {
    session: SessionState,
    parameters: Vec<Value>,
    state: StatementState,
    transaction: Option<Transaction>,
    ends: Vec<(usize, usize)>,
    warnings: Vec<(usize, Warnings)>,
    work: WorkDone,
    commands: CommandCounts,
    groups: AggregateState,
    /// Its seat: the part in the first one stays where others leave the processors to other sessions.
    number: usize,
    /// The piece that it is in.
    piece: Option<usize>,
    has_begun: bool,
    /// When the statement was last woken within a piece.
    last_sign: Instant,
    /// See [`InPart`].
    in_part: InPart,
}

/// A part reads no virtual tables.
struct NoTables;

impl DictionaryTables for NoTables {
    fn find(&self, _: &str, _: &str) -> Option<&'static TableDecl> {
        None
    }

    fn rows(&self, _: &TableDecl, _: &RowSource<'_>, _: &Wanted) -> Option<Rows> {
        None
    }
}

impl Parts {
    /// Has a grouping done in parts that [can be](palisade_plan::parallel), if that is worth while and
    /// possible now. May wait.
    pub(super) fn begin(
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        in_parts: &InParts,
    ) -> SqlAttempt<Option<Parts>> {
        let variables = &cx.session.variables;
        let available = cx.execution.host.threads_beside();
        if !DividedFrom::new(variables, available).is_reached(in_parts) {
            return Ok(None);
        }
        let wanted =
            if in_parts.is_count { variables.parallel_read_threads } else { variables.parallel_threads };
        let threads = wanted.min(available);
        if in_parts.groups.is_some_and(|groups| groups * group_size(plan) > share(cx, threads) as f64) {
            return Ok(None);
        }
        let driving = match plan.input {
            // What is measured is done by the statement alone.
            Operator::Noted { .. } => None,
            input => driving(input),
        };
        let Some(Operator::Scan { table, access, .. }) = driving else { return Ok(None) };
        let Some(whole) = cx.execution.plan.clone().filter(|whole| find(whole, plan.slot).is_some()) else {
            return Ok(None);
        };
        let ranges = match cx.evaluate(|cx| access.ranges(cx, table))? {
            Ranges::Ranges(ranges) => ranges,
            Ranges::Point(_) => return Ok(None),
        };
        let wanted = threads * PIECES_A_THREAD;
        if ranges.is_empty() || ranges.len() > wanted {
            return Ok(None);
        }
        let (count, each) = (ranges.len() as u64, wanted / ranges.len());
        let mut pieces = Vec::with_capacity(wanted);
        for range in ranges {
            let divided = cx.transaction().divide(table, access.index, range, each).map_err(Blocked::up)?;
            pieces.extend(divided);
        }
        if pieces.len() < threads * LEAST_PIECES {
            return Ok(None);
        }
        let tables = tables(plan.input);
        let mut parts = Vec::with_capacity(threads);
        for number in 0..threads {
            let Some(reader) = cx.transaction().reader(&tables).map_err(Blocked::up)? else {
                return Ok(None);
            };
            parts.push(Part::new(cx, plan, reader, (number, threads)));
        }
        let seats = Seats::new(parts, pieces.len());
        let (slot, held) = (plan.slot, cx.session.memory.held());
        let shared = Arc::new(Shared { plan: whole, slot, pieces, seats, held });
        let parts = Parts { shared: shared.clone(), ranges: count };
        for number in 0..threads {
            let shared = shared.clone();
            if !cx.execution.host.run_beside(Box::new(move |host| Box::pin(run(shared, number, host)))) {
                return Ok(None);
            }
        }
        Ok(Some(parts))
    }

    /// Counts the beginnings and ends of the ranges, which no part has seen.
    pub(super) fn count_ranges(&self, cx: &mut ExecContext<'_, '_>, plan: &Grouping<'_>) {
        if let Some(Operator::Scan { table, access, .. }) = driving(plan.input) {
            table.usage().count_use(TableAccess::Read);
            count_ranges(cx, access, self.ranges);
        }
    }

    /// How far they are; fails once all have ended if one of them has failed.
    pub(super) fn look(&self) -> Result<Look<HandedIn>, SqlError> {
        let look = self.shared.seats.look()?;
        if let Look::Done(handed_in) | Look::TooLarge(handed_in) = &look {
            handed_in.iter().for_each(|part| Memory::take_over(part.held));
        }
        Ok(look)
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        self.shared.seats.close();
    }
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").field("pieces", &self.shared.pieces.len()).finish_non_exhaustive()
    }
}

/// The groups of all parts, to be gone through in the order of their first rows.
#[derive(Debug)]
pub(super) struct InOrder {
    parts: Vec<Groups>,
    /// The groups that were first met in each piece: the part that has read it, and which of its groups they
    /// are. The first ones are those that come next.
    runs: VecDeque<(usize, Range<usize>)>,
}

impl InOrder {
    /// Of what the parts have handed in; what else they have left is the statement's now.
    pub(super) fn new(cx: &mut ExecContext<'_, '_>, handed_in: Vec<HandedIn>) -> InOrder {
        let (mut parts, mut runs, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
        for HandedIn { groups, ends, warnings: left, work, memory, held: _ } in handed_in {
            cx.execution.work.absorb(&work);
            warnings.extend(left);
            let mut first = 0;
            for (piece, end) in ends {
                runs.push((piece, parts.len(), first..end));
                first = end;
            }
            parts.push(groups);
            // What it has published is published by the statement from now on.
            drop(memory);
        }
        warnings.sort_by_key(|(piece, _)| *piece);
        for (_, left) in &warnings {
            cx.session.warnings.take_over(left);
        }
        runs.sort_by_key(|(piece, ..)| *piece);
        InOrder { parts, runs: runs.into_iter().map(|(_, part, groups)| (part, groups)).collect() }
    }

    /// The next one: its part's groups, and which of them it is.
    pub(super) fn next(&mut self) -> Option<(&mut Groups, usize)> {
        loop {
            let (part, groups) = self.runs.front_mut()?;
            let part = *part;
            match groups.next() {
                Some(number) => return Some((self.parts.get_mut(part)?, number)),
                None => drop(self.runs.pop_front()),
            }
        }
    }
}

/// Bytes that a part may take for its groups, of so many parts. What they hand in and what it is put together
/// to exist at the same time, and the statement may hold both.
fn share(cx: &ExecContext<'_, '_>, threads: usize) -> usize {
    let variables = &cx.session.variables;
    let most = variables.statement_memory.min(variables.connection_memory_limit) / 4;
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    cx.session.operator_memory(variables.tmp_table_size).min(most) / threads.max(1)
}

/// About how many bytes a group takes at least, with its place in the index of groups.
fn group_size(plan: &Grouping<'_>) -> f64 {
    let of_values = size_of::<Value>() * plan.group.len();
    (80 + of_values + size_of::<Accumulator>() * plan.aggregates.len()) as f64
}

/// The grouping with this output slot.
fn find(plan: &Plan, slot: usize) -> Option<Grouping<'_>> {
    let subqueries = plan.subqueries.iter().flatten().map(|query| &**query);
    plan.query.iter().chain(subqueries).find_map(|query| find_in(&query.root, slot))
}

fn find_in(operator: &Operator, wanted: usize) -> Option<Grouping<'_>> {
    match Grouping::of(operator) {
        Some(grouping) if grouping.slot == wanted => Some(grouping),
        _ => operator.inputs().into_iter().find_map(|input| find_in(input, wanted)),
    }
}

/// A piece may take long. The statement is woken meanwhile: only it can see that its client has gone.
const SIGN_EVERY: Duration = Duration::from_millis(20);

/// The task of a part.
async fn run(shared: Arc<Shared>, number: usize, host: Arc<dyn Environment>) {
    let part = Task { shared, number };
    loop {
        match part.step(&*host) {
            Turn::Over => return,
            Turn::Again => yield_now().await,
            Turn::Wait(event) if event.is_complete() => yield_now().await,
            Turn::Wait(event) => event.await,
        }
    }
}

/// A part's task. If it is dropped before its part has ended, by a panic or a shutdown, the statement fails.
struct Task {
    shared: Arc<Shared>,
    number: usize,
}

impl Drop for Task {
    fn drop(&mut self) {
        let error = || SqlError::internal("a part of the statement did not come to its end");
        self.shared.seats.abandon(self.number, error);
    }
}

impl Task {
    /// Goes on for as long as one may at a stretch.
    fn step(&self, host: &dyn Environment) -> Turn {
        let go_on = |part: &mut Part, beside: i64| {
            let step = part.step(&self.shared, host, beside);
            (step, part.session.memory.held())
        };
        self.shared.seats.step(self.number, go_on, Part::leave)
    }
}

impl Part {
    /// One of so many, before its first piece.
    fn new(
        cx: &ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        transaction: Transaction,
        (number, parts): (usize, usize),
    ) -> Part {
        let from = &*cx.session;
        let mut variables = from.variables.clone();
        let share = share(cx, parts) as u64;
        (variables.operator_memory, variables.tmp_table_size, variables.join_buffer_size) =
            (share, share, share);
        variables.timestamp_micros = Some(cx.state.now_micros());
        let mut session = SessionState::new(from.connection_id, &from.user, &from.client_host, variables, 0);
        session.security.clone_from(&from.security);
        session.database.clone_from(&from.database);
        session.kill = from.kill.clone();
        session.memory = from.memory.beside();
        session.constants_are_parameters = from.constants_are_parameters;
        session.warnings.clear(from.variables.max_error_count);
        session.warnings.keep_notes(from.variables.sql_notes);
        let mut state = StatementState::new(&session, cx.execution.host, cx.state.frame.slots.len(), false);
        state.strict = cx.state.strict;
        state.deadline = cx.state.deadline;
        Part {
            session,
            parameters: cx.parameters.to_vec(),
            state,
            transaction: Some(transaction),
            ends: Vec::new(),
            warnings: Vec::new(),
            work: WorkDone::default(),
            commands: CommandCounts::default(),
            groups: AggregateState::new(State::new(plan.input)).of_part(),
            number,
            piece: None,
            has_begun: false,
            last_sign: Instant::now(),
            in_part: InPart { hides_tables: true, has_overflowed: false },
        }
    }

    /// Goes on for as long as one may at a stretch; the other parts hold so many bytes.
    fn step(&mut self, shared: &Shared, host: &dyn Environment, beside: i64) -> Step<SqlError> {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.session.memory.begin();
        }
        self.session.memory.set_others(shared.held + beside);
        match self.advance(shared, host) {
            Ok(true) => Step::PieceDone,
            Ok(false) => Step::Done,
            Err(Blocked::Wait(event)) => {
                let is_sign = self.last_sign.elapsed() >= SIGN_EVERY;
                if is_sign {
                    self.last_sign = Instant::now();
                }
                Step::Wait { event, is_sign }
            }
            Err(Blocked::Error(_)) if self.in_part.has_overflowed => Step::TooLarge,
            Err(Blocked::Error(error)) => Step::Failed(self.piece.unwrap_or(0), error),
        }
    }

    /// Gives up the transaction, and gives what has been added up.
    fn leave(self) -> HandedIn {
        let Part { session, transaction, ends, warnings, work, groups, .. } = self;
        drop(transaction);
        let (memory, groups) = (session.memory, groups.into_groups());
        let held = memory.held();
        HandedIn { groups, ends, warnings, work, memory, held }
    }

    /// Reads on; true when the piece has been read, false if there is none left.
    fn advance(&mut self, shared: &Shared, host: &dyn Environment) -> SqlAttempt<bool> {
        let Some(plan) = find(&shared.plan, shared.slot) else { return Ok(false) };
        let piece = match self.piece {
            Some(piece) => piece,
            None if self.number > 0 && host.is_busy() => return Ok(false),
            None => {
                let Some(piece) = shared.seats.take_piece() else { return Ok(false) };
                let Some(range) = shared.pieces.get(piece) else { return Ok(false) };
                self.groups.begin_piece(range.clone());
                // The first piece is the first one of the part that has it.
                self.in_part.hides_tables &= piece != 0;
                self.piece = Some(piece);
                piece
            }
        };
        if shared.seats.is_in_vain(piece) {
            return Ok(false);
        }
        let Some(engine) = self.transaction.as_ref().map(|transaction| transaction.engine().clone()) else {
            return Ok(false);
        };
        let mut profiles = None;
        let mut execution = Execution::of_part(
            (host, &NoTables, &engine),
            &mut self.transaction,
            (&mut self.work, &self.commands, &mut profiles),
            shared.plan.clone(),
            self.in_part,
        );
        let mut cx = ExecContext {
            session: &mut self.session,
            parameters: &self.parameters,
            state: &mut self.state,
            execution: &mut execution,
        };
        let consumed = match self.groups.consume(&mut cx, &plan) {
            Ok(()) => Ok(()),
            Err(blocked) => Err(cx.lend().settle(blocked)),
        };
        self.in_part = execution.part.unwrap_or(self.in_part);
        consumed?;
        self.piece = None;
        self.ends.push((piece, self.groups.count_groups()));
        if self.session.warnings.count() > 0 {
            let left = self.session.warnings.clone();
            self.session.warnings.clear(self.session.variables.max_error_count);
            self.warnings.push((piece, left));
        }
        Ok(true)
    }
}
