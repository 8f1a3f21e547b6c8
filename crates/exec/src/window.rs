//! Window functions: rows are collected, sorted by partition and order, and each is given its functions'
//! values when it is given.
//!
//! Where only the first rows are wanted, the others are left out as soon as that is known (`first`).
//!
//! Rows that take more memory than they may are put in order and written to a file, and read again partition
//! by partition (`runs`). Of a partition that takes more than that some `pages` are in memory. Rows that come
//! in the order of the window are read partition by partition, too (`in_order`).
//!
//! Everything that may wait - keys, arguments, the values that bound a RANGE frame - is computed while rows
//! are collected, as far as it is not a column of a row that is kept anyway. What comes after is arithmetic
//! on the rows, in steps that let other sessions run: the state says which row and which call come next.
//! Where a row is not in memory, the call fails, and is done again when the page has come.

mod first;
mod in_order;
mod pages;
mod rows;
mod runs;

use std::cell::Cell;
use std::cmp::Ordering;
use std::ops::Range;

use palisade_base::error_catalogue::ER_WRONG_ARGUMENTS;
use palisade_base::{Blocked, mysql_error};
use palisade_catalog::Value;
use palisade_expr::aggregate::{Accumulator, AggregateSpec};
use palisade_expr::merge::{MergeSort, run_of};
use palisade_expr::order::SortKey;
use palisade_expr::place::At;
use palisade_expr::{Context, Domain, Expr, SqlAttempt, SqlError, SqlResult};
use palisade_plan::Operator;
use palisade_plan::window::{Edge, Frame, WindowCall, WindowFunction, WindowPlan};
use smallvec::SmallVec;

use self::first::First;
use self::in_order::InOrder;
use self::rows::Rows;
use self::runs::WindowRuns;
use super::kept::KeptRows;
use super::packed::Ranked;
use super::sort::{LONGEST_RUN, sort_in_turns};
use super::{ExecContext, State, place_values};

/// Bytes of memory that the rows may take before they are written to a file.
fn memory(cx: &ExecContext<'_, '_>) -> usize {
    cx.session.operator_memory(cx.session.variables.tmp_table_size)
}

/// What is the same for all rows of a call.
#[derive(Debug, Clone, Copy, Default)]
struct Constants {
    /// Of NTILE, LEAD, LAG, NTH_VALUE.
    number: Option<u64>,
    /// Rows before and after of a ROWS frame.
    edges: [u64; 2],
}

/// Where a window operator is.
#[derive(Debug)]
pub struct WindowState {
    input: State,
    slots: Vec<usize>,
    constants: Vec<Constants>,
    /// What of the rows' slots is kept.
    kept: KeptRows,
    rows: Rows,
    /// Which of them are wanted.
    first: First,
    pending: bool,
    /// The input has no more rows.
    has_ended: bool,
    phase: Phase,
    /// The partition that is being computed.
    partition: Range<usize>,
    /// Where the partition ends has been found.
    is_bounded: bool,
    /// The call that is computed next for the next row.
    call: usize,
    /// The aggregate of each call over the row before.
    running: Vec<Option<Running>>,
    /// What the calls have given for the next row, those that come yet for the row before.
    results: Vec<Value>,
    /// Rows of the partition that have the same key.
    peers: Cell<(usize, usize)>,
    next: usize,
    /// The rows that are in a file.
    runs: Option<Box<WindowRuns>>,
    /// A partition is being read from it, or from the input.
    is_refilling: bool,
    /// Of rows that come in order.
    in_order: InOrder,
}

/// What a window operator does.
#[derive(Debug)]
enum Phase {
    /// Rows are read.
    Collecting,
    /// Their numbers are put in order.
    Sorting { sort: MergeSort<Ranked>, reason: Reason },
    /// They are in order, and those that are not wanted are dropped.
    Dropping(Reason),
    /// They are written to a file in that order: those before `next` have been.
    Writing { order: Vec<Ranked>, next: usize, reason: Reason },
    /// The last of them are being written.
    Settling,
    /// They are in order.
    Ready,
}

/// Why the rows that are held are put in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// There are many more than are wanted.
    Enough,
    /// They take as much memory as they may.
    Full,
    /// There are no more.
    Ended,
}

/// Rows that are handled between two looks at whose turn it is.
const PART: usize = 256;

/// An aggregate over the frame of the row before.
#[derive(Debug)]
struct Running {
    accumulator: Accumulator,
    frame: Range<usize>,
}

impl WindowState {
    /// Before the first row.
    pub fn new(input: State, plan: &Operator) -> Self {
        let mut slots = Vec::new();
        plan.slots(&mut slots);
        WindowState {
            input,
            kept: KeptRows::of(plan, &slots),
            slots,
            constants: Vec::new(),
            rows: Rows::default(),
            first: First::default(),
            pending: false,
            has_ended: false,
            phase: Phase::Collecting,
            partition: 0..0,
            is_bounded: false,
            call: 0,
            running: Vec::new(),
            results: Vec::new(),
            peers: Cell::default(),
            next: 0,
            runs: None,
            is_refilling: false,
            in_order: InOrder::default(),
        }
    }

    /// Before the first row.
    pub fn reset(&mut self) {
        self.input.reset();
        self.rows.clear();
        self.constants.clear();
        (self.pending, self.has_ended, self.phase) = (false, false, Phase::Collecting);
        self.begin_partition(0..0);
        self.next = 0;
        (self.runs, self.is_refilling) = (None, false);
        self.in_order = InOrder::default();
    }

    /// The next row, in order of partition and key.
    pub fn next(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        input: &Operator,
        plan: &WindowPlan,
    ) -> SqlAttempt<bool> {
        while !matches!(self.phase, Phase::Ready) {
            self.advance(cx, input, plan)?;
        }
        if self.is_refilling || self.next >= self.rows.len() {
            self.refill(cx, input, plan)?;
        }
        if self.next >= self.rows.len() {
            return Ok(false);
        }
        self.find_partition(cx, plan)?;
        self.compute_row(cx, plan)?;
        loop {
            self.rows.load_wanted(cx)?;
            match self.rows.show(self.next, &self.slots, &mut cx.state.frame) {
                Err(_) if self.rows.is_wanting() => {}
                shown => break shown?,
            }
        }
        place_values(cx.state.frame.slots.at_mut(plan.slot)?, self.results.iter().cloned());
        (self.next, self.call) = (self.next + 1, 0);
        Ok(true)
    }

    /// Goes on to the next phase.
    fn advance(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        input: &Operator,
        plan: &WindowPlan,
    ) -> SqlAttempt<()> {
        match &mut self.phase {
            Phase::Collecting => {
                self.prepare(cx, plan)?;
                let reason = match plan.comes_in_partitions() {
                    true => Reason::Ended,
                    false => self.collect(cx, input, plan)?,
                };
                self.phase = match plan.sorts() {
                    false => Phase::Ready,
                    true => Phase::Sorting { sort: self.sort(), reason },
                };
            }
            Phase::Sorting { .. } => self.put_in_order(cx, plan)?,
            Phase::Dropping(reason) => {
                let reason = *reason;
                self.drop_others(cx, plan, reason)?;
            }
            Phase::Writing { .. } => self.write(cx, plan)?,
            Phase::Settling => {
                if let Some(runs) = &mut self.runs {
                    runs.begin_reading(self.rows.is_unpacked())?;
                }
                // What the runs were put in order in.
                self.rows.release();
                self.phase = Phase::Ready;
            }
            Phase::Ready => {}
        }
        Ok(())
    }

    /// The sort of the rows that are held.
    fn sort(&mut self) -> MergeSort<Ranked> {
        // Comparing takes the longer the longer the keys are.
        let run = match self.rows.compared_bytes() {
            0 => LONGEST_RUN,
            bytes => run_of(bytes),
        };
        MergeSort::new(self.rows.take_ranked(), run)
    }

    /// Keeps the current row, whose values have been computed.
    fn keep(&mut self, cx: &mut ExecContext<'_, '_>, plan: &WindowPlan) -> SqlResult<()> {
        self.rows.push(&cx.state.frame, &self.slots)?;
        if plan.sorts() {
            self.rows.rank_last(plan)?;
            if self.first.is_beyond(&self.rows) {
                return self.rows.drop_last();
            }
        }
        cx.session.charge(self.size())
    }

    /// About how many bytes it holds.
    fn size(&self) -> usize {
        self.rows.size() + self.first.size()
    }

    fn put_in_order(&mut self, cx: &mut ExecContext<'_, '_>, plan: &WindowPlan) -> SqlAttempt<()> {
        let Phase::Sorting { sort, .. } = &mut self.phase else { return Ok(()) };
        let rows = &self.rows;
        sort_in_turns(cx, sort, |left, right, watch| rows.compare(plan, left, right, watch))?;
        let Phase::Sorting { sort, reason } = std::mem::replace(&mut self.phase, Phase::Ready) else {
            return Ok(());
        };
        let order = sort.into_items();
        if reason == Reason::Ended && self.runs.is_none() {
            self.rows.set_ranked(order);
        } else if self.first.is_limited() {
            self.rows.set_ranked(order);
            self.phase = Phase::Dropping(reason);
        } else {
            self.phase = Phase::Writing { order, next: 0, reason };
        }
        Ok(())
    }

    /// Drops rows that are not wanted.
    fn drop_others(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &WindowPlan,
        reason: Reason,
    ) -> SqlAttempt<()> {
        self.first.drop_others(cx, plan, &self.slots, &mut self.rows)?;
        let is_written = match reason {
            Reason::Enough => false,
            Reason::Full => self.size() > memory(cx) / 2,
            Reason::Ended => true,
        };
        self.phase = match is_written {
            true => Phase::Writing { order: self.rows.take_ranked(), next: 0, reason },
            false => Phase::Collecting,
        };
        Ok(())
    }

    /// Writes the rows to the file, as a run.
    fn write(&mut self, cx: &mut ExecContext<'_, '_>, plan: &WindowPlan) -> SqlAttempt<()> {
        let Phase::Writing { order, next, reason } = &mut self.phase else { return Ok(()) };
        let runs = match &mut self.runs {
            Some(runs) => runs,
            unused => {
                let rows = (&self.rows, &self.slots[..]);
                unused.insert(Box::new(WindowRuns::new(cx, plan, rows, memory(cx))))
            }
        };
        while let Some(row) = order.get(*next) {
            runs.make_room()?;
            runs.push(&self.rows, row)?;
            *next += 1;
            cx.take_turns(1)?;
        }
        runs.end_run()?;
        let (order, reason) = (std::mem::take(order), *reason);
        self.phase = if reason == Reason::Ended { Phase::Settling } else { Phase::Collecting };
        self.rows.clear();
        self.rows.set_ranked(cleared(order));
        Ok(())
    }

    /// Reads the next partition, if the rows are in a file, or come in order.
    fn refill(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        input: &Operator,
        plan: &WindowPlan,
    ) -> SqlAttempt<()> {
        if self.runs.is_none() && !plan.comes_in_partitions() {
            return Ok(());
        }
        if !std::mem::replace(&mut self.is_refilling, true) {
            self.rows.clear();
            self.next = 0;
        }
        match &mut self.runs {
            Some(runs) => runs.read_partition(cx, &mut self.rows)?,
            None => self.read_partition(cx, input, plan)?,
        }
        self.is_refilling = false;
        self.begin_partition(0..self.rows.len());
        self.is_bounded = true;
        Ok(())
    }

    /// Computes what is the same for all rows.
    fn prepare(&mut self, cx: &mut ExecContext<'_, '_>, plan: &WindowPlan) -> SqlAttempt<()> {
        if self.constants.is_empty() {
            self.first = cx.evaluate(|cx| First::new(cx, plan))?;
            self.constants = cx.evaluate(|cx| plan.calls.iter().map(|call| constants(call, cx)).collect())?;
            self.rows = Rows::new(plan, &self.slots, self.kept.like());
            self.in_order = InOrder::new(&self.rows, plan, &self.slots);
        }
        Ok(())
    }

    /// Reads rows until there are no more, or as many as fit into memory, where they can be written to a
    /// file, or many more than are wanted.
    fn collect(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        input: &Operator,
        plan: &WindowPlan,
    ) -> SqlAttempt<Reason> {
        let has_order = plan.sorts();
        loop {
            if !self.pending {
                if has_order && !self.rows.is_empty() && self.size() > memory(cx) {
                    return Ok(Reason::Full);
                }
                if has_order && self.first.is_due(self.rows.len()) {
                    return Ok(Reason::Enough);
                }
                if !has_order {
                    self.rows.make_room(cx, memory(cx), memory(cx))?;
                    self.has_ended |= self.first.is_enough(self.rows.len());
                }
                if self.has_ended || !self.input.next(input, cx)? {
                    self.has_ended = true;
                    self.rows.finish(cx)?;
                    return Ok(Reason::Ended);
                }
                self.pending = true;
            }
            if self.rows.has_computed() {
                let rows = &mut self.rows;
                cx.evaluate(|cx| rows.evaluate(cx, plan))?;
            }
            self.pending = false;
            self.keep(cx, plan)?;
            cx.take_turns(2)?;
        }
    }

    /// The next row is the first of these.
    fn begin_partition(&mut self, partition: Range<usize>) {
        (self.partition, self.is_bounded, self.call) = (partition, false, 0);
        self.running.clear();
        self.results.clear();
        self.peers.set((0, 0));
    }

    /// Finds the partition of the next row.
    fn find_partition(&mut self, cx: &mut ExecContext<'_, '_>, plan: &WindowPlan) -> SqlAttempt<()> {
        if self.is_bounded && self.next >= self.partition.end || self.partition.is_empty() {
            self.begin_partition(self.next..self.next + 1);
            if self.rows.is_paged() {
                // Only one partition is.
                (self.partition.end, self.is_bounded) = (self.rows.len(), true);
            }
        }
        while !self.is_bounded {
            let (first, from) = (self.next, self.partition.end);
            let end = self.rows.len().min(from + PART);
            let rows = &self.rows;
            let mut lent = cx.lend();
            let found = lent.watched(|watch| {
                let mut at = from;
                while at < end && rows.is_one_partition(plan, first, at, watch)? {
                    at += 1;
                }
                Ok::<_, SqlError>(at)
            });
            let found = lent.attempt(found)??;
            self.partition.end = found;
            self.is_bounded = found < end || end == self.rows.len();
            cx.take_turns((found - from) as u32 / 4)?;
        }
        Ok(())
    }

    /// Computes the calls for the next row, or goes on with it.
    fn compute_row(&mut self, cx: &mut ExecContext<'_, '_>, plan: &WindowPlan) -> SqlAttempt<()> {
        self.results.resize(plan.calls.len(), Value::Null);
        self.running.resize_with(plan.calls.len(), || None);
        while let Some(call) = plan.calls.get(self.call) {
            cx.take_turns(1)?;
            self.rows.load_wanted(cx)?;
            match self.compute(cx, plan, call) {
                Ok(value) => {
                    *self.results.at_mut(self.call)? = value;
                    self.call += 1;
                }
                Err(Blocked::Error(_)) if self.rows.is_wanting() => {}
                Err(blocked) => return Err(blocked),
            }
        }
        Ok(())
    }

    /// The value of the next call for the next row.
    fn compute(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &WindowPlan,
        call: &WindowCall,
    ) -> SqlAttempt<Value> {
        let part = Part {
            rows: &self.rows,
            first: self.partition.start,
            count: self.partition.len(),
            before: self.results.at(self.call)?,
            peers: &self.peers,
            plan,
            call,
            number: self.call,
        };
        let at = self.next - self.partition.start;
        let constants = *self.constants.at(self.call)?;
        let running = self.running.at_mut(self.call)?;
        if let WindowFunction::Aggregate(spec) = &call.function {
            part.aggregate(cx, spec, at, constants, running)?;
        }
        cx.evaluate(|cx| Ok(part.value(cx, at, constants, running)?))
    }
}

/// Without the items, whose memory is used again.
fn cleared<T>(mut items: Vec<T>) -> Vec<T> {
    items.clear();
    items
}

fn constants(call: &WindowCall, cx: &mut Context<'_>) -> SqlAttempt<Constants> {
    let mut number = |expr: &Expr| -> SqlAttempt<Option<u64>> {
        let value = expr.eval(cx)?;
        if value.is_null() {
            return Ok(None);
        }
        Ok(u64::try_from(cx.to_integer(value.as_ref())?).ok())
    };
    let (own, name) = match &call.function {
        WindowFunction::Ntile(buckets) => (number(buckets)?.filter(|buckets| *buckets > 0), "ntile"),
        WindowFunction::Shifted { offset, ahead } => (number(offset)?, if *ahead { "lead" } else { "lag" }),
        WindowFunction::Nth(position) => (number(position)?.filter(|position| *position > 0), "nth_value"),
        _ => (Some(0), ""),
    };
    if own.is_none() {
        return Err(mysql_error!(ER_WRONG_ARGUMENTS, name).into());
    }
    let mut edges = [0; 2];
    for (edge, rows) in [&call.frame.start, &call.frame.end].into_iter().zip(&mut edges) {
        if let Edge::Rows { amount, .. } = edge {
            *rows = number(amount)?.ok_or_else(|| mysql_error!(ER_WRONG_ARGUMENTS, "window"))?;
        }
    }
    Ok(Constants { number: own, edges })
}

/// One call on one partition.
struct Part<'p> {
    rows: &'p Rows,
    /// The place of the partition's first row, and how many it has.
    first: usize,
    count: usize,
    /// What the call has given for the row before.
    before: &'p Value,
    /// Rows that are known to have the same key.
    peers: &'p Cell<(usize, usize)>,
    plan: &'p WindowPlan,
    call: &'p WindowCall,
    number: usize,
}

impl Part<'_> {
    fn value(
        &self,
        cx: &mut Context<'_>,
        at: usize,
        constants: Constants,
        running: &mut Option<Running>,
    ) -> SqlResult<Value> {
        let count = self.count;
        let position = constants.number.unwrap_or(0);
        let argument = |row: usize, place: usize| -> SqlResult<Value> {
            Ok(self.rows.argument(self.first + row, self.number, place)?.to_owned())
        };
        Ok(match &self.call.function {
            WindowFunction::RowNumber => Value::UInt(at as u64 + 1),
            WindowFunction::Rank => Value::UInt(self.peers(cx, at)?.start as u64 + 1),
            WindowFunction::DenseRank => match self.before {
                Value::UInt(rank) if at > 0 => {
                    let is_next = self.peers(cx, at)?.start == at;
                    Value::UInt(rank + u64::from(is_next))
                }
                _ => Value::UInt(1),
            },
            WindowFunction::CumeDist => Value::Double(self.peers(cx, at)?.end as f64 / count as f64),
            WindowFunction::PercentRank => {
                let rank = self.peers(cx, at)?.start;
                Value::Double(if count > 1 { rank as f64 / (count - 1) as f64 } else { 0.0 })
            }
            WindowFunction::Ntile(_) => {
                // The first buckets have one row more, where they cannot be equal.
                let buckets = usize::try_from(position).unwrap_or(usize::MAX);
                let (size, larger) = (count / buckets, count % buckets);
                let ahead = larger * (size + 1);
                let bucket = if at < ahead { at / (size + 1) } else { larger + (at - ahead) / size.max(1) };
                Value::UInt(bucket as u64 + 1)
            }
            WindowFunction::Shifted { ahead, .. } => {
                let offset = usize::try_from(position).unwrap_or(usize::MAX);
                let row = if *ahead { at.checked_add(offset) } else { at.checked_sub(offset) };
                let (value, from) = match row.filter(|row| *row < count) {
                    Some(row) => (argument(row, 0)?, 0),
                    None => (argument(at, 1)?, 1),
                };
                let from = self.call.arguments.get(from).map_or(&self.call.ty, |argument| &argument.ty);
                cx.adapt(value, from, &self.call.ty)?
            }
            WindowFunction::First => {
                let frame = self.frame(cx, at, constants)?;
                if frame.is_empty() { Value::Null } else { argument(frame.start, 0)? }
            }
            WindowFunction::Last => {
                let frame = self.frame(cx, at, constants)?;
                if frame.is_empty() { Value::Null } else { argument(frame.end - 1, 0)? }
            }
            WindowFunction::Nth(_) => {
                let frame = self.frame(cx, at, constants)?;
                let row =
                    usize::try_from(position - 1).ok().and_then(|offset| frame.start.checked_add(offset));
                match row.filter(|row| *row < frame.end) {
                    Some(row) => argument(row, 0)?,
                    None => Value::Null,
                }
            }
            WindowFunction::Aggregate(spec) => match running {
                Some(Running { accumulator, .. }) => accumulator.clone().finish(cx, spec)?,
                None => Value::Null,
            },
        })
    }

    /// Adds the rows of the frame that are not in the aggregate yet; a frame that has only grown is added to.
    /// May ask to wait in the middle, and goes on there.
    fn aggregate(
        &self,
        cx: &mut ExecContext<'_, '_>,
        spec: &AggregateSpec,
        at: usize,
        constants: Constants,
        running: &mut Option<Running>,
    ) -> SqlAttempt<()> {
        let frame = cx.evaluate(|cx| Ok(self.frame(cx, at, constants)?))?;
        let current = match running.take() {
            Some(before) if before.frame.start == frame.start && before.frame.end <= frame.end => before,
            _ => Running { accumulator: Accumulator::new(spec), frame: frame.start..frame.start },
        };
        let Running { accumulator, frame: added } = running.insert(current);
        while added.end < frame.end {
            let end = frame.end.min(added.end + PART);
            let count = end - added.end;
            cx.lend().in_one_go(|cx| {
                while added.end < end {
                    self.add(cx, accumulator, spec, self.first + added.end)?;
                    added.end += 1;
                }
                Ok::<_, SqlError>(())
            })?;
            cx.take_turns(count as u32 / 4)?;
        }
        Ok(())
    }

    /// Adds the row at a place to the aggregate.
    fn add(
        &self,
        cx: &mut Context<'_>,
        accumulator: &mut Accumulator,
        spec: &AggregateSpec,
        place: usize,
    ) -> SqlResult<()> {
        let count = self.rows.argument_count(self.number)?;
        if count == 1 {
            let value = self.rows.argument(place, self.number, 0)?;
            if accumulator.takes(value) {
                return accumulator.take(value, spec);
            }
        }
        let values = (0..count).map(|number| Ok(self.rows.argument(place, self.number, number)?.to_owned()));
        let values: SmallVec<[Value; 2]> = values.collect::<SqlResult<_>>()?;
        accumulator.add(cx, spec, &values, &[])?;
        Ok(())
    }

    /// The rows with the same key. Those of a row and of the next are looked for from the last ones on.
    fn peers(&self, cx: &mut Context<'_>, at: usize) -> SqlResult<Range<usize>> {
        if self.plan.order.is_empty() {
            return Ok(0..self.count);
        }
        let (start, end) = self.peers.get();
        if start <= at && at < end {
            return Ok(start..end);
        }
        let found = cx.watched(|watch| {
            let mut order = |row: usize| -> SqlResult<Ordering> {
                self.rows.compare_order(self.plan, self.first + row, self.first + at, watch)
            };
            let start = if at == end { at } else { first_not(0, at, &mut |row| Ok(order(row)?.is_lt()))? };
            // Most have few peers: the end is looked for in steps that grow.
            let (mut low, mut step) = (at + 1, 1);
            while low + step < self.count && order(low + step)?.is_le() {
                (low, step) = (low + step, step * 2);
            }
            let high = self.count.min(low + step);
            let end = first_not(low.min(self.count), high, &mut |row| Ok(order(row)?.is_le()))?;
            Ok::<_, SqlError>((start, end))
        })??;
        self.peers.set(found);
        Ok(found.0..found.1)
    }

    /// The rows that the function is about.
    fn frame(&self, cx: &mut Context<'_>, at: usize, constants: Constants) -> SqlResult<Range<usize>> {
        let Frame { by_rows, start, end } = &self.call.frame;
        let count = self.count;
        let shifted = |rows: u64, following: bool, plus: usize| {
            let rows = usize::try_from(rows).unwrap_or(usize::MAX);
            if following {
                at.saturating_add(rows).saturating_add(plus).min(count)
            } else {
                (at + plus).saturating_sub(rows)
            }
        };
        let first = match start {
            Edge::First => 0,
            Edge::Last => count,
            Edge::Current if *by_rows => at,
            Edge::Current => self.peers(cx, at)?.start,
            Edge::Rows { following, .. } => shifted(constants.edges[0], *following, 0),
            Edge::Value { domain, .. } => self.bound(cx, at, 0, *domain)?.start,
        };
        let last = match end {
            Edge::First => 0,
            Edge::Last => count,
            Edge::Current if *by_rows => at + 1,
            Edge::Current => self.peers(cx, at)?.end,
            Edge::Rows { following, .. } => shifted(constants.edges[1], *following, 1),
            Edge::Value { domain, .. } => self.bound(cx, at, 1, *domain)?.end,
        };
        Ok(first..last.max(first))
    }

    /// The rows whose key equals the value that bounds the frame, or the place where they would be. A NULL
    /// key is the peer of NULL keys.
    fn bound(&self, cx: &mut Context<'_>, at: usize, edge: usize, domain: Domain) -> SqlResult<Range<usize>> {
        let bound = self.rows.edge(self.first + at, self.number, edge)?;
        if bound.is_null() {
            return self.peers(cx, at);
        }
        let [SortKey { descending, .. }] = self.plan.order.as_slice() else { return self.peers(cx, at) };
        // The first row whose key is not less than the bound, or is greater than it.
        let mut first = |greater: bool| -> SqlResult<usize> {
            first_not(0, self.count, &mut |row| {
                let key = self.rows.order_key(self.first + row, 0)?;
                // NULLs come first in ascending order, last in descending order.
                let ordering = cx.compare(key, bound, domain)?.unwrap_or(Ordering::Less);
                let ordering = if *descending { ordering.reverse() } else { ordering };
                Ok(ordering == Ordering::Less || greater && ordering == Ordering::Equal)
            })
        };
        let (start, end) = (first(false)?, first(true)?);
        Ok(start..end)
    }
}

/// The first place from `low` on of which `is_before` is not so, `high` if there is none below it. It is so
/// of those before that place, and of none behind it.
fn first_not(
    mut low: usize,
    mut high: usize,
    is_before: &mut dyn FnMut(usize) -> SqlResult<bool>,
) -> SqlResult<usize> {
    while low < high {
        let middle = (low + high) / 2;
        if is_before(middle)? { low = middle + 1 } else { high = middle }
    }
    Ok(low)
}
