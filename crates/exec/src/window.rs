//! Window functions: rows are collected, sorted by partition and order, and each is given its functions'
//! values.
//!
//! Rows of several partitions that take more memory than they may are put in order and written to a file, and
//! read again partition by partition (`runs`). What is in memory then is one partition.
//!
//! Everything that may wait - keys, arguments, the values that bound a RANGE frame - is computed while rows
//! are collected. What comes after is arithmetic on what is in memory, in steps that let other sessions run:
//! the state says which call and which row come next.

mod runs;

use std::cmp::Ordering;
use std::ops::Range;

use palisade_base::error_catalogue::ER_WRONG_ARGUMENTS;
use palisade_base::mysql_error;
use palisade_catalog::{Value, Watch};
use palisade_expr::aggregate::{Accumulator, AggregateSpec};
use palisade_expr::context::values_size;
use palisade_expr::merge::{MergeSort, run_of};
use palisade_expr::order::{SortKey, compare_keys};
use palisade_expr::place::At;
use palisade_expr::{Context, Domain, Expr, Slot, SqlAttempt, SqlError, SqlResult};
use palisade_plan::Operator;
use palisade_plan::window::{Edge, Frame, WindowCall, WindowFunction, WindowPlan};

use self::runs::WindowRuns;
use super::{ExecContext, State};

#[derive(Debug, Default)]
struct Row {
    partition: Vec<Value>,
    order: Vec<Value>,
    slots: Box<[Slot]>,
    /// Of each call: its arguments, and the values that bound its frame.
    inputs: Vec<(Vec<Value>, [Value; 2])>,
    results: Vec<Value>,
}

impl Row {
    /// About how many bytes it takes.
    fn size(&self) -> usize {
        let Row { partition, order, slots, inputs, .. } = self;
        let values = [partition, order].into_iter().chain(inputs.iter().map(|(arguments, _)| arguments));
        slots.iter().map(Slot::size).sum::<usize>()
            + 128 * (1 + inputs.len())
            + values.map(|values| values_size(values)).sum::<usize>()
    }
}

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
    rows: Vec<Row>,
    bytes: usize,
    /// Bytes of the longest of the keys that the rows are ordered by.
    longest_key: usize,
    pending: bool,
    phase: Phase,
    /// The partition that is being computed: which call, which row, and the aggregate over the row before.
    partition: Range<usize>,
    /// Where the partition ends has been found.
    is_bounded: bool,
    call: usize,
    at: usize,
    running: Option<Running>,
    /// Rows before this one have their values.
    computed: usize,
    next: usize,
    /// The rows that are in a file.
    runs: Option<Box<WindowRuns>>,
    /// A partition is being read from it.
    is_refilling: bool,
}

/// What a window operator does.
#[derive(Debug)]
enum Phase {
    /// Rows are read.
    Collecting,
    /// Their numbers are put in order; of all rows, if the input has `ended`.
    Sorting { sort: MergeSort<usize>, ended: bool },
    /// The rows are moved into that order: those before `next` have been.
    Arranging { order: Vec<usize>, rows: Vec<Row>, next: usize },
    /// They are written to a file in that order: those before `next` have been.
    Writing { order: Vec<usize>, next: usize, ended: bool },
    /// The last of them are being written.
    Settling,
    /// They are in order.
    Ready,
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
            slots,
            constants: Vec::new(),
            rows: Vec::new(),
            bytes: 0,
            longest_key: 0,
            pending: false,
            phase: Phase::Collecting,
            partition: 0..0,
            is_bounded: false,
            call: 0,
            at: 0,
            running: None,
            computed: 0,
            next: 0,
            runs: None,
            is_refilling: false,
        }
    }

    /// Before the first row.
    pub fn reset(&mut self) {
        self.input.reset();
        self.rows.clear();
        self.constants.clear();
        (self.bytes, self.pending, self.phase) = (0, false, Phase::Collecting);
        self.is_bounded = false;
        (self.partition, self.call, self.at, self.running) = (0..0, 0, 0, None);
        (self.computed, self.next) = (0, 0);
        (self.runs, self.is_refilling) = (None, false);
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
            self.refill(cx, plan)?;
        }
        if self.next >= self.computed && self.next < self.rows.len() {
            self.compute_partition(cx, plan)?;
        }
        let Some(row) = self.rows.get_mut(self.next) else { return Ok(false) };
        self.next += 1;
        for (slot, kept) in self.slots.iter().zip(row.slots.iter_mut()) {
            *cx.state.frame.slots.at_mut(*slot)? = std::mem::take(kept);
        }
        *cx.state.frame.slots.at_mut(plan.slot)? = Slot::Values(std::mem::take(&mut row.results).into());
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
                let ended = self.collect(cx, input, plan)?;
                let is_ordered = plan.partition.is_empty() && plan.order.is_empty();
                // Comparing takes the longer the longer the keys are.
                let run = run_of(self.longest_key);
                self.phase = match is_ordered {
                    true => Phase::Ready,
                    false => {
                        Phase::Sorting { sort: MergeSort::new((0..self.rows.len()).collect(), run), ended }
                    }
                };
            }
            Phase::Sorting { sort, .. } => {
                let rows = &self.rows;
                let order = |left: usize, right: usize, watch: Watch<'_>| {
                    let (Some(left), Some(right)) = (rows.get(left), rows.get(right)) else {
                        return Ordering::Equal;
                    };
                    let by_partition =
                        compare_keys(&left.partition, &right.partition, &plan.partition, watch);
                    by_partition.then_with(|| compare_keys(&left.order, &right.order, &plan.order, watch))
                };
                loop {
                    let step = |watch: Watch<'_>| {
                        sort.step(&mut |left: &usize, right: &usize| order(*left, *right, watch))
                    };
                    if cx.lend().in_one_go(|cx| cx.watched(step))? {
                        break;
                    }
                    cx.take_turns(PART as u32)?;
                }
                let Phase::Sorting { sort, ended } = std::mem::replace(&mut self.phase, Phase::Ready) else {
                    return Ok(());
                };
                let (order, next) = (sort.into_items(), 0);
                self.phase = match ended && self.runs.is_none() {
                    true => Phase::Arranging { order, rows: Vec::with_capacity(self.rows.len()), next },
                    false => Phase::Writing { order, next, ended },
                };
            }
            Phase::Arranging { order, rows, next } => {
                while *next < order.len() {
                    let end = order.len().min(*next + PART);
                    for row in order.part(*next..end)? {
                        rows.push(std::mem::take(self.rows.at_mut(*row)?));
                    }
                    *next = end;
                    cx.take_turns(PART as u32 / 4)?;
                }
                self.rows = std::mem::take(rows);
                self.phase = Phase::Ready;
            }
            Phase::Writing { .. } => self.write(cx, plan)?,
            Phase::Settling => {
                if let Some(runs) = &mut self.runs {
                    runs.begin_reading()?;
                }
                self.phase = Phase::Ready;
            }
            Phase::Ready => {}
        }
        Ok(())
    }

    /// Writes the rows to the file, as a run.
    fn write(&mut self, cx: &mut ExecContext<'_, '_>, plan: &WindowPlan) -> SqlAttempt<()> {
        let Phase::Writing { order, next, ended } = &mut self.phase else { return Ok(()) };
        let runs = match &mut self.runs {
            Some(runs) => runs,
            unused => unused.insert(Box::new(WindowRuns::new(cx, plan, &self.slots, memory(cx)))),
        };
        while let Some(row) = order.get(*next) {
            runs.make_room()?;
            runs.push(std::mem::take(self.rows.at_mut(*row)?))?;
            *next += 1;
            cx.take_turns(1)?;
        }
        runs.end_run()?;
        self.rows.clear();
        self.bytes = 0;
        self.phase = if *ended { Phase::Settling } else { Phase::Collecting };
        Ok(())
    }

    /// Reads the next partition, if the rows are in a file.
    fn refill(&mut self, cx: &mut ExecContext<'_, '_>, plan: &WindowPlan) -> SqlAttempt<()> {
        let Some(runs) = &mut self.runs else { return Ok(()) };
        if !std::mem::replace(&mut self.is_refilling, true) {
            self.rows.clear();
            (self.bytes, self.next, self.computed) = (0, 0, 0);
        }
        runs.read_partition(cx, plan, &mut self.rows, &mut self.bytes)?;
        self.is_refilling = false;
        (self.partition, self.is_bounded) = (0..self.rows.len(), true);
        (self.call, self.at, self.running) = (0, 0, None);
        Ok(())
    }

    /// Reads rows until there are no more: true; or as many as fit into memory, where they can be written to
    /// a file.
    fn collect(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        input: &Operator,
        plan: &WindowPlan,
    ) -> SqlAttempt<bool> {
        if self.constants.is_empty() {
            self.constants = cx.evaluate(|cx| plan.calls.iter().map(|call| constants(call, cx)).collect())?;
        }
        loop {
            if !self.pending {
                // The rows of one partition are in memory in any case.
                if self.bytes > 0 && !plan.partition.is_empty() && self.bytes > memory(cx) {
                    return Ok(false);
                }
                if !self.input.next(input, cx)? {
                    return Ok(true);
                }
                self.pending = true;
            }
            let (partition, order, inputs) = cx.evaluate(|cx| {
                let partition = key_values(&plan.partition, cx)?;
                let order = key_values(&plan.order, cx)?;
                let mut inputs = Vec::with_capacity(plan.calls.len());
                for call in &plan.calls {
                    let arguments = call.arguments.iter().map(|argument| argument.eval(cx));
                    let arguments = arguments.collect::<SqlAttempt<Vec<Value>>>()?;
                    let edges = [edge_value(&call.frame.start, cx)?, edge_value(&call.frame.end, cx)?];
                    inputs.push((arguments, edges));
                }
                Ok((partition, order, inputs))
            })?;
            self.pending = false;
            let slots = cx.state.frame.keep(&self.slots)?;
            let row = Row { partition, order, slots, inputs, results: Vec::new() };
            self.bytes += row.size();
            self.longest_key = self.longest_key.max(values_size(&row.partition) + values_size(&row.order));
            cx.session.charge(self.bytes)?;
            self.rows.push(row);
            cx.take_turns(2)?;
        }
    }

    /// Computes the partition that begins at the next row, or goes on with it.
    fn compute_partition(&mut self, cx: &mut ExecContext<'_, '_>, plan: &WindowPlan) -> SqlAttempt<()> {
        if self.partition.start != self.next || self.partition.is_empty() {
            self.partition = self.next..self.next + 1;
            self.is_bounded = false;
            (self.call, self.at, self.running) = (0, self.next, None);
        }
        while !self.is_bounded {
            let (first, end) = (&self.rows.at(self.next)?.partition, self.partition.end);
            let rows = self.rows.tail(end)?.iter().take(PART);
            let mut lent = cx.lend();
            let count = lent.watched(|watch| {
                let keys = &plan.partition;
                rows.take_while(|row| compare_keys(&row.partition, first, keys, watch).is_eq()).count()
            });
            let count = lent.attempt(count)?;
            self.partition.end += count;
            self.is_bounded = count < PART;
            cx.take_turns(count as u32 / 4)?;
        }
        while let Some(call) = plan.calls.get(self.call) {
            while self.at < self.partition.end {
                cx.take_turns(1)?;
                let part =
                    Part { rows: self.rows.part(self.partition.clone())?, plan, call, number: self.call };
                let at = self.at - self.partition.start;
                let constants = *self.constants.at(self.call)?;
                if let WindowFunction::Aggregate(spec) = &call.function {
                    part.aggregate(cx, spec, at, constants, &mut self.running)?;
                }
                let value = cx.evaluate(|cx| Ok(part.value(cx, at, constants, &mut self.running)?))?;
                self.rows.at_mut(self.at)?.results.push(value);
                self.at += 1;
            }
            (self.call, self.at, self.running) = (self.call + 1, self.partition.start, None);
        }
        self.computed = self.partition.end;
        Ok(())
    }
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

fn edge_value(edge: &Edge, cx: &mut Context<'_>) -> SqlAttempt<Value> {
    match edge {
        Edge::Value { bound, .. } => bound.eval(cx),
        _ => Ok(Value::Null),
    }
}

/// One call on one partition.
struct Part<'p> {
    rows: &'p [Row],
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
        let count = self.rows.len();
        let position = constants.number.unwrap_or(0);
        let argument = |row: usize, place: usize| -> SqlResult<Value> {
            Ok(self.inputs(row)?.0.get(place).cloned().unwrap_or_default())
        };
        Ok(match &self.call.function {
            WindowFunction::RowNumber => Value::UInt(at as u64 + 1),
            WindowFunction::Rank => Value::UInt(self.peers(cx, at)?.start as u64 + 1),
            WindowFunction::DenseRank => {
                let before = at.checked_sub(1).and_then(|before| self.rows.get(before));
                match before.and_then(|before| Some((before.results.get(self.number)?, before))) {
                    Some((Value::UInt(rank), before)) => {
                        let own = self.rows.at(at)?;
                        let order = cx.watched(|watch| self.order_of(before, own, watch))?;
                        Value::UInt(rank + u64::from(order.is_ne()))
                    }
                    _ => Value::UInt(1),
                }
            }
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
            let begin = added.end;
            cx.lend().in_one_go(|cx| {
                for row in begin..end {
                    accumulator.add(cx, spec, &self.inputs(row)?.0, &[])?;
                }
                Ok::<_, SqlError>(())
            })?;
            let count = end - added.end;
            added.end = end;
            cx.take_turns(count as u32 / 4)?;
        }
        Ok(())
    }

    /// The rows with the same key.
    fn peers(&self, cx: &mut Context<'_>, at: usize) -> SqlResult<Range<usize>> {
        if self.plan.order.is_empty() {
            return Ok(0..self.rows.len());
        }
        let own = self.rows.at(at)?;
        let (before, behind) = (self.rows.part(0..at)?, self.rows.tail(at)?);
        cx.watched(|watch| {
            let start = before.partition_point(|row| self.order_of(row, own, watch).is_lt());
            let end = behind.partition_point(|row| self.order_of(row, own, watch).is_le());
            start..at + end
        })
    }

    fn order_of(&self, row: &Row, other: &Row, watch: Watch<'_>) -> Ordering {
        compare_keys(&row.order, &other.order, &self.plan.order, watch)
    }

    /// What a row gives the call: its arguments, and the values that bound its frame.
    fn inputs(&self, row: usize) -> SqlResult<&(Vec<Value>, [Value; 2])> {
        self.rows.at(row)?.inputs.at(self.number)
    }

    /// The rows that the function is about.
    fn frame(&self, cx: &mut Context<'_>, at: usize, constants: Constants) -> SqlResult<Range<usize>> {
        let Frame { by_rows, start, end } = &self.call.frame;
        let count = self.rows.len();
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
        let bound = self.inputs(at)?.1.at(edge)?;
        if bound.is_null() {
            return self.peers(cx, at);
        }
        let [SortKey { descending, .. }] = self.plan.order.as_slice() else { return self.peers(cx, at) };
        // The first row whose key is not less than the bound, or is greater than it.
        let mut first = |greater: bool| -> SqlResult<usize> {
            let (mut low, mut high) = (0, self.rows.len());
            while low < high {
                let middle = (low + high) / 2;
                let key = self.rows.at(middle)?.order.at(0)?.as_ref();
                // NULLs come first in ascending order, last in descending order.
                let ordering = cx.compare(key, bound.as_ref(), domain)?.unwrap_or(Ordering::Less);
                let ordering = if *descending { ordering.reverse() } else { ordering };
                let before = ordering == Ordering::Less || greater && ordering == Ordering::Equal;
                if before { low = middle + 1 } else { high = middle }
            }
            Ok(low)
        };
        let (start, end) = (first(false)?, first(true)?);
        Ok(start..end)
    }
}

fn key_values(keys: &[SortKey], cx: &mut Context<'_>) -> SqlAttempt<Vec<Value>> {
    keys.iter().map(|key| key.expr.eval(cx)).collect()
}
