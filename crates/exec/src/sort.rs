//! Sorting and limits.
//!
//! A sort sets its rows aside ([`KeptRows`]) and orders pairs of a number and a row: the number is what of
//! the row's keys has room, and decides nearly always. A key that is a column is not copied: it
//! is read in the row that is kept anyway, when two numbers are alike. Where a limit wants few rows, those
//! that come after the last one wanted so far are not kept.
//!
//! When the rows take more memory than they may ([`SessionState::operator_memory`]), they are put in order
//! and written to a temporary file as a run, and the next rows are read; in the end the runs are
//! [merged](super::spill::merge).
//!
//! ```text
//!              ┌───────────── a run is written ◄──────┐ too many
//!              ▼                                      │
//!   Collecting ─► Sorting ─► Distinguishing ─► which rows go on ─► Complete   the input has ended
//!              ▲                                      │        └─► Writing ─► Merging   and there are runs
//!              └─ Dropping: rows beyond the limit ◄───┘
//! ```
//!
//! Nothing here takes long in one go: the rows are put in order by a [`MergeSort`], duplicates are left out
//! and rows that a limit does not want are dropped in parts, and between two parts other sessions of the
//! worker have their turn.

mod in_batches;

use std::cmp::Ordering;
use std::ops::Range;

use palisade_catalog::watch::PIECE;
use palisade_catalog::{SqlType, Value, ValueRef, Watch};
use palisade_expr::context::values_size;
use palisade_expr::merge::{FEW, MergeSort};
use palisade_expr::order::SortKey;
use palisade_expr::place::At;
#[cfg(doc)]
use palisade_expr::session_state::SessionState;
use palisade_expr::{Context, SqlAttempt, SqlError, SqlResult};
use palisade_plan::{Limit, Operator};
use palisade_session::work::Work;

use self::in_batches::KeysOfBatch;
use super::batches::{InBatches, Taken};
use super::kept::KeptRows;
use super::packed::{KeyPacking, Packed, Ranked};
use super::spill::merge::{KeyPlace, MergePlan, Merger, SortedRuns};
use super::{ExecContext, State, limit_values};

/// Whether a key is a text whose beginning decides: of such keys what all have in common is passed over.
fn is_text(key: &SortKey) -> bool {
    key.expr.ty.is_string() && key.expr.ty != SqlType::Json
}

/// Where the keys of the rows to be sorted are.
#[derive(Debug, Default)]
struct Keys {
    places: Vec<KeyPlace>,
    /// The computed keys, row by row.
    computed: Vec<Value>,
    /// How many of them a row has.
    width: usize,
    /// About how many bytes they take.
    bytes: usize,
}

impl Keys {
    /// For rows of which `slots` are kept.
    fn new(specs: &[SortKey], slots: &[usize]) -> Keys {
        let mut keys = Keys::default();
        for spec in specs {
            let kept = spec.expr.as_plain_column().and_then(|(of, column)| {
                let number = slots.iter().position(|slot| *slot == of)?;
                Some(KeyPlace::Kept { number, column })
            });
            keys.places.push(kept.unwrap_or(KeyPlace::Computed(keys.width)));
            keys.width += usize::from(kept.is_none());
        }
        keys
    }

    /// Computes what there is to be computed of the current row. May ask to wait, and has then added nothing.
    fn push(&mut self, cx: &mut Context<'_>, specs: &[SortKey]) -> SqlAttempt<()> {
        if self.width == 0 {
            return Ok(());
        }
        let count = self.computed.len();
        for (spec, place) in specs.iter().zip(&self.places) {
            if let KeyPlace::Computed(_) = place {
                match spec.expr.eval(cx) {
                    Ok(key) => self.computed.push(key),
                    Err(blocked) => {
                        self.computed.truncate(count);
                        return Err(blocked);
                    }
                }
            }
        }
        self.bytes += values_size(self.computed.tail(count)?);
        Ok(())
    }

    fn get<'k>(&'k self, rows: &'k KeptRows, row: usize, key: usize) -> SqlResult<ValueRef<'k>> {
        match *self.places.at(key)? {
            KeyPlace::Kept { number, column } => rows.value(row, number, column),
            KeyPlace::Computed(number) => Ok(self.computed.at(row * self.width + number)?.as_ref()),
        }
    }

    /// The computed keys of a row.
    fn computed_of(&self, row: usize) -> SqlResult<&[Value]> {
        self.computed.part(row * self.width..(row + 1) * self.width)
    }

    /// Forgets the keys of all rows.
    fn forget_rows(&mut self) {
        self.computed.clear();
        self.bytes = 0;
    }

    /// Moves the keys of a row to the end of `target`.
    fn move_to(&mut self, row: usize, target: &mut Vec<Value>) {
        let keys = self.computed.iter_mut().skip(row * self.width).take(self.width);
        target.extend(keys.map(std::mem::take));
    }
}

/// A sort's plan, taken apart.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Sorting<'p> {
    pub input: &'p Operator,
    pub keys: &'p [SortKey],
    pub slots: &'p [usize],
    pub limit: Option<&'p Limit>,
    pub distinct: bool,
}

/// Where a sort is.
#[derive(Debug)]
pub struct SortState {
    input: State,
    rows: KeptRows,
    keys: Option<Keys>,
    packing: KeyPacking,
    /// The rows held, in order once all are here.
    ranked: Vec<Ranked>,
    /// Keys of some row could not be packed: what is says nothing.
    is_unpacked: bool,
    /// Bytes of the first keys that are texts: what comparing them costs.
    text_bytes: usize,
    /// If the first keys are texts, one of them, and how many of its bytes all have in common.
    common: Option<(Box<[u8]>, usize)>,
    /// Bytes of the longest row with its keys.
    longest_row: usize,
    /// How many rows are wanted; asked once.
    wanted: Option<usize>,
    /// The keys of the last row that is wanted of those that have come, if there are so many and all keys are
    /// columns: no row is kept that does not come before it.
    last_wanted: Option<Box<[Value]>>,
    /// What is packed of them.
    last_packed: Packed,
    in_batches: InBatches<KeysOfBatch>,
    pending: bool,
    phase: Phase,
    next: usize,
    /// What has been written to a file.
    runs: Option<Box<SortedRuns>>,
    /// How many bytes the first keys had in common when the last run was written, and whether it was as many
    /// each time. If not, what is packed of the rows of two runs cannot be compared.
    common_of_runs: Option<usize>,
    is_mixed: bool,
}

/// Why the rows that are held are put in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// There are more than a limit wants.
    Enough,
    /// They take as much memory as they may.
    Full,
    /// There are no more.
    Ended,
}

/// What a sort does.
#[derive(Debug)]
enum Phase {
    /// Rows are read.
    Collecting,
    /// The beginnings of their first keys, which are texts, are found: of those before `next` they have been,
    /// from byte `from` on.
    Ranking { next: usize, from: usize, reason: Reason },
    /// Those that are held are put in order.
    Sorting { sort: MergeSort<Ranked>, reason: Reason },
    /// They are in order, and rows like the one before are left out: `kept` are left of those before `next`.
    Distinguishing { next: usize, kept: usize, reason: Reason },
    /// Rows beyond the limit are dropped: those before `next` have been moved.
    Dropping { rows: KeptRows, keys: Vec<Value>, next: usize },
    /// They are written to a file: those before `next` have been.
    Writing { next: usize, reason: Reason },
    /// All are in the file, in runs that are merged.
    Merging(Box<Merger>),
    /// All are in memory and in order.
    Complete,
}

/// Rows that are handled between two looks at whose turn it is, where handling one is a comparison or a copy.
const PART: usize = 512;
/// Bytes that texts may have in common to be passed over, at most.
const MOST_COMMON: usize = 256;
/// Items of a run where comparing two takes nanoseconds.
pub(super) const LONGEST_RUN: usize = 8192;

impl SortState {
    /// A sort of `input`, whose rows are set aside in `rows`, before its first row.
    pub fn new(input: State, rows: KeptRows) -> Self {
        SortState {
            input,
            rows,
            keys: None,
            packing: KeyPacking::default(),
            ranked: Vec::new(),
            is_unpacked: false,
            text_bytes: 0,
            common: None,
            longest_row: 0,
            wanted: None,
            last_wanted: None,
            last_packed: Packed::default(),
            in_batches: InBatches::default(),
            pending: false,
            phase: Phase::Collecting,
            next: 0,
            runs: None,
            common_of_runs: None,
            is_mixed: false,
        }
    }

    /// Goes back before the first row and forgets all rows: the input may depend on outer ones.
    pub fn reset(&mut self) {
        let input = std::mem::replace(&mut self.input, State::Nothing);
        *self = SortState::new(input, self.rows.like());
        self.input.reset();
    }

    /// The next row in order, if the rows are in order and there is one more.
    #[inline]
    pub fn step(&mut self, cx: &mut ExecContext<'_, '_>, slots: &[usize]) -> SqlResult<bool> {
        let ranked = match self.phase {
            Phase::Complete => self.ranked.get(self.next),
            _ => None,
        };
        let Some(ranked) = ranked else { return Ok(false) };
        self.next += 1;
        self.rows.restore(ranked.row(), slots, &mut cx.state.frame)?;
        Ok(true)
    }

    /// The next row in order. With a limit, no more than twice as many rows as it wants are ever held.
    pub fn next(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Sorting<'_>) -> SqlAttempt<bool> {
        loop {
            match &mut self.phase {
                Phase::Complete => return Ok(self.step(cx, plan.slots)?),
                Phase::Merging(merger) => {
                    let places = self.keys.as_ref().map_or(&[][..], |keys| &keys.places);
                    let wanted = self.wanted.unwrap_or(usize::MAX);
                    let Sorting { keys, slots, distinct, .. } = *plan;
                    return merger.next(cx, &MergePlan { keys, places, slots, wanted, distinct });
                }
                _ => self.advance(cx, plan)?,
            }
        }
    }

    /// Goes on to the next phase.
    fn advance(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Sorting<'_>) -> SqlAttempt<()> {
        let wanted = match self.wanted {
            Some(wanted) => wanted,
            None => wanted_rows(plan.limit, &mut cx.lend())?.end,
        };
        self.wanted = Some(wanted);
        match &mut self.phase {
            Phase::Collecting => self.collect(cx, plan, wanted),
            Phase::Ranking { .. } => self.rank(cx, plan),
            Phase::Sorting { .. } => self.put_in_order(cx, plan, wanted),
            Phase::Distinguishing { .. } => self.distinguish(cx, plan, wanted),
            Phase::Dropping { .. } => self.drop_unwanted(cx, plan),
            Phase::Writing { .. } => self.write(cx),
            Phase::Merging(_) | Phase::Complete => Ok(()),
        }
    }

    /// Reads rows until there are no more, or enough to drop those that are not wanted, or as many as fit
    /// into memory.
    fn collect(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Sorting<'_>, wanted: usize) -> SqlAttempt<()> {
        let bound = wanted.saturating_mul(2).max(64);
        let reason = loop {
            if self.ranked.len() >= bound {
                break Reason::Enough;
            }
            if !self.pending {
                if self.is_full(cx) {
                    break Reason::Full;
                }
                match self.collect_batch(cx, plan, bound)? {
                    Taken::Added => continue,
                    Taken::End => break Reason::Ended,
                    Taken::RowByRow => {}
                }
                if !self.input.next(plan.input, cx)? {
                    break Reason::Ended;
                }
                self.pending = true;
            }
            if let Some(last) = &self.last_wanted
                && is_beyond(cx, plan.keys, last)?
            {
                self.pending = false;
                cx.take_turns(1)?;
                continue;
            }
            self.keep(cx, plan)?;
            self.pending = false;
            cx.session.charge(self.size())?;
            cx.take_turns(1)?;
        };
        self.phase = Phase::Ranking { next: 0, from: self.common_bytes().unwrap_or(0), reason };
        Ok(())
    }

    /// How many bytes the first keys have in common, if they are texts.
    fn common_bytes(&self) -> Option<usize> {
        self.common.as_ref().map(|(_, common)| *common)
    }

    /// Finds the beginnings of first keys that are texts, and begins to put the rows in order.
    fn rank(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Sorting<'_>) -> SqlAttempt<()> {
        let Phase::Ranking { next, from, reason } = &mut self.phase else { return Ok(()) };
        if let Some(keys) = self.keys.as_ref().filter(|_| self.common.is_some()) {
            while *next < self.ranked.len() {
                let end = self.ranked.len().min(*next + PART);
                for ranked in self.ranked.iter_mut().take(end).skip(*next) {
                    let text = match keys.get(&self.rows, ranked.row(), 0)? {
                        ValueRef::Bytes(text) => ValueRef::Bytes(text.get(*from..).unwrap_or_default()),
                        other => other,
                    };
                    let packed = self.packing.pack(plan.keys.iter(), |_| Ok::<_, SqlError>(text))?;
                    self.is_unpacked |= packed.is_none();
                    ranked.set_packed(packed.unwrap_or_default());
                }
                *next = end;
                cx.take_turns(PART as u32 / 8)?;
            }
        }
        if self.is_unpacked {
            self.ranked.iter_mut().for_each(|ranked| ranked.set_packed(Packed::default()));
        }
        let computed = self.keys.as_ref().map_or(0, |keys| keys.bytes);
        let average = (self.text_bytes + computed) / self.ranked.len().max(1);
        let run = (LONGEST_RUN / (1 + average / 2)).max(2);
        // Of so few items a sort ends in peace if comparisons of long keys that are ended contradict each
        // other.
        let run = if self.longest_row > PIECE { run.min(FEW) } else { run };
        let reason = *reason;
        let sort = MergeSort::new(std::mem::take(&mut self.ranked), run);
        self.phase = Phase::Sorting { sort, reason };
        Ok(())
    }

    /// About how many bytes the rows take that are held.
    fn size(&self) -> usize {
        let keys = self.keys.as_ref().map_or(0, |keys| keys.bytes);
        self.rows.size() + keys + Ranked::size_of(self.ranked.len())
    }

    /// Whether the rows take as much memory as they may.
    fn is_full(&self, cx: &ExecContext<'_, '_>) -> bool {
        let size = self.size();
        size > LEAST_MEMORY && size > memory(cx) || self.ranked.len() == Ranked::MOST
    }

    /// Finds out where the keys are, before the first row.
    fn begin_keys(&mut self, plan: &Sorting<'_>) {
        if self.keys.is_none() {
            self.packing = KeyPacking::new(plan.keys.iter());
            self.keys = Some(Keys::new(plan.keys, plan.slots));
        }
    }

    /// Keeps the current row.
    fn keep(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Sorting<'_>) -> SqlAttempt<()> {
        self.begin_keys(plan);
        let Some(keys) = &mut self.keys else { return Ok(()) };
        let known = keys.bytes;
        cx.evaluate(|cx| keys.push(cx, plan.keys))?;
        let row = self.ranked.len();
        let before = self.rows.bytes_of_rows() + known;
        self.rows.push(&cx.state.frame, plan.slots)?;
        let key = plan.keys.at(0)?;
        let packed = if is_text(key) {
            if let ValueRef::Bytes(text) = keys.get(&self.rows, row, 0)? {
                self.text_bytes += text.len();
                let (known, common) = self.common.get_or_insert_with(|| {
                    let known = text.get(..MOST_COMMON).unwrap_or(text);
                    (known.into(), known.len())
                });
                *common = key.expr.ty.collation().get().common_beginning(known, text).min(*common);
            }
            // It is found when all of them are known.
            Some(Packed::default())
        } else {
            if !key.expr.ty.is_numeric()
                && let ValueRef::Bytes(text) = keys.get(&self.rows, row, 0)?
            {
                self.text_bytes += text.len();
            }
            self.packing.pack(plan.keys.iter(), |number| keys.get(&self.rows, row, number))?
        };
        self.longest_row = self.longest_row.max(self.rows.bytes_of_rows() + keys.bytes - before);
        self.is_unpacked |= packed.is_none();
        self.ranked.push(Ranked::new(packed.unwrap_or_default(), row)?);
        Ok(())
    }

    /// How many of the keys are equal where what is packed of two rows is.
    fn decided(&self) -> usize {
        if self.is_unpacked { 0 } else { self.packing.decided }
    }

    /// Puts the rows in order; equal ones stay in the order in which they came. Numbers decide first, and the
    /// keys where these leave it open.
    fn put_in_order(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Sorting<'_>,
        wanted: usize,
    ) -> SqlAttempt<()> {
        let decided = self.decided();
        let (Phase::Sorting { sort, reason }, Some(keys)) = (&mut self.phase, &self.keys) else {
            // There is no row.
            self.phase = Phase::Complete;
            return Ok(());
        };
        sort_in_turns(cx, sort, |left, right, watch| match left.packed().cmp(&right.packed()) {
            Ordering::Equal => {
                compare_kept(&self.rows, keys, (plan.keys, decided), (left.row(), right.row()), watch)
            }
            different => Ok(different),
        })?;
        let reason = *reason;
        let Phase::Sorting { sort, .. } = std::mem::replace(&mut self.phase, Phase::Complete) else {
            return Ok(());
        };
        self.ranked = sort.into_items();
        match plan.distinct {
            true => self.phase = Phase::Distinguishing { next: 0, kept: 0, reason },
            false => self.end_order(cx, wanted, reason),
        }
        Ok(())
    }

    /// Leaves out rows that are like the one before: of equal ones the first stays.
    fn distinguish(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Sorting<'_>,
        wanted: usize,
    ) -> SqlAttempt<()> {
        let decided = self.decided();
        let (Phase::Distinguishing { next, kept, reason }, Some(keys)) = (&mut self.phase, &self.keys) else {
            return Ok(());
        };
        while *next < self.ranked.len() {
            for _ in 0..PART.min(self.ranked.len() - *next) {
                let row = *self.ranked.at(*next)?;
                *next += 1;
                let is_new = match kept.checked_sub(1).and_then(|last| self.ranked.get(last)) {
                    Some(last) if last.packed() == row.packed() => {
                        let rows = (last.row(), row.row());
                        let compare = |watch: Watch<'_>| {
                            compare_kept(&self.rows, keys, (plan.keys, decided), rows, watch)
                        };
                        cx.lend().in_one_go(|cx| cx.watched(compare))?? != Ordering::Equal
                    }
                    _ => true,
                };
                if is_new {
                    *self.ranked.at_mut(*kept)? = row;
                    *kept += 1;
                }
            }
            cx.take_turns(PART as u32 / 4)?;
        }
        let (kept, reason) = (*kept, *reason);
        self.ranked.truncate(kept);
        self.end_order(cx, wanted, reason);
        Ok(())
    }

    /// The rows held are in order.
    fn end_order(&mut self, cx: &mut ExecContext<'_, '_>, wanted: usize, reason: Reason) {
        self.ranked.truncate(wanted);
        self.phase = match reason {
            Reason::Enough => Phase::Dropping { rows: self.rows.like(), keys: Vec::new(), next: 0 },
            Reason::Ended if self.runs.is_none() => {
                cx.execution.work.add(Work::SortScan, 1);
                cx.execution.work.add(Work::SortRows, self.ranked.len() as u64);
                Phase::Complete
            }
            Reason::Full | Reason::Ended => Phase::Writing { next: 0, reason },
        };
    }

    /// Writes the rows as a run.
    fn write(&mut self, cx: &mut ExecContext<'_, '_>) -> SqlAttempt<()> {
        let common = self.common_bytes();
        let (Phase::Writing { next, reason }, Some(keys)) = (&mut self.phase, &mut self.keys) else {
            return Ok(());
        };
        self.is_mixed |= self.runs.is_some() && self.common_of_runs != common;
        self.common_of_runs = common;
        let runs = self.runs.get_or_insert_with(|| {
            cx.execution.work.add(Work::CreatedTmpFiles, 1);
            Box::new(SortedRuns::new(cx.execution.engine, memory(cx)))
        });
        while let Some(ranked) = self.ranked.get(*next) {
            runs.make_room()?;
            let append = |tables: &mut _, out: &mut _| self.rows.append_row(ranked.row(), tables, out);
            runs.push(ranked.packed().bits(), keys.computed_of(ranked.row())?, append)?;
            *next += 1;
            cx.take_turns(1)?;
        }
        runs.end_run()?;
        match cx.session.memory.has_room() {
            true => {
                self.rows.forget_rows();
                self.ranked.clear();
            }
            // Others want the memory that the next run would have found here.
            false => (self.rows, self.ranked) = (self.rows.like(), Vec::new()),
        }
        keys.forget_rows();
        self.text_bytes = 0;
        if *reason != Reason::Ended {
            self.phase = Phase::Collecting;
            return Ok(());
        }
        // Nothing is held any more but what is merged.
        (self.rows, self.ranked, keys.computed) = (self.rows.like(), Vec::new(), Vec::new());
        runs.settle()?;
        cx.execution.work.add(Work::SortScan, 1);
        cx.execution.work.add(Work::SortRows, runs.rows().min(self.wanted.unwrap_or(usize::MAX)) as u64);
        if let Some(runs) = self.runs.take() {
            self.phase = Phase::Merging(Box::new(Merger::new(*runs, self.is_unpacked || self.is_mixed)));
        }
        Ok(())
    }

    /// Keeps only the rows that are still held, renumbered in their order.
    fn drop_unwanted(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Sorting<'_>) -> SqlAttempt<()> {
        let Phase::Dropping { rows, keys, next } = &mut self.phase else { return Ok(()) };
        while *next < self.ranked.len() {
            for _ in 0..PART.min(self.ranked.len() - *next) {
                let ranked = self.ranked.at_mut(*next)?;
                let row = ranked.row();
                *ranked = Ranked::new(ranked.packed(), *next)?;
                self.rows.move_to(row, rows)?;
                if let Some(known) = &mut self.keys {
                    known.move_to(row, keys);
                }
                *next += 1;
            }
            cx.take_turns(PART as u32 / 4)?;
        }
        let Phase::Dropping { rows, keys, .. } = std::mem::replace(&mut self.phase, Phase::Collecting) else {
            return Ok(());
        };
        self.rows = rows;
        if let Some(known) = &mut self.keys {
            known.bytes = values_size(&keys);
            known.computed = keys;
        }
        self.last_wanted = self.keys_of_last(plan)?;
        self.last_packed = self.ranked.last().map_or(Packed::default(), |last| last.packed());
        Ok(())
    }

    /// The keys of the last row held, if all are columns and as many rows are held as are wanted.
    fn keys_of_last(&self, plan: &Sorting<'_>) -> SqlResult<Option<Box<[Value]>>> {
        let (Some(last), Some(keys)) = (self.ranked.last(), &self.keys) else { return Ok(None) };
        // Where duplicates have been left out there may be fewer than are wanted.
        if keys.width > 0 || self.ranked.len() < self.wanted.unwrap_or(usize::MAX) {
            return Ok(None);
        }
        let values = (0..plan.keys.len()).map(|key| Ok(keys.get(&self.rows, last.row(), key)?.to_owned()));
        values.collect::<SqlResult<_>>().map(Some)
    }
}

/// Whether the current row does not come before one with these keys, all of which are columns. False where
/// telling it would take long.
fn is_beyond(cx: &ExecContext<'_, '_>, specs: &[SortKey], last: &[Value]) -> SqlResult<bool> {
    for (spec, last) in specs.iter().zip(last) {
        let Some(value) = spec.expr.borrow_from(cx.at_hand()) else { return Ok(false) };
        let (value, last) = (value?, last.as_ref());
        let is_long = |value| matches!(value, ValueRef::Bytes(text) if text.len() > PIECE);
        if is_long(value) || is_long(last) {
            return Ok(false);
        }
        match spec.compare(value, last, &mut |_| true) {
            Ordering::Less => return Ok(false),
            Ordering::Greater => return Ok(true),
            Ordering::Equal => {}
        }
    }
    Ok(true)
}

/// Bytes that a sort may always take: the least that `sort_buffer_size` can be.
const LEAST_MEMORY: usize = 32 << 10;

/// Bytes of memory that a sort may take before it writes rows to a file.
fn memory(cx: &ExecContext<'_, '_>) -> usize {
    cx.session.operator_memory(cx.session.variables.sort_buffer_size)
}

/// Puts items in order, part by part, and gives way between them. Fails if `compare` does.
pub(super) fn sort_in_turns<T: Copy>(
    cx: &mut ExecContext<'_, '_>,
    sort: &mut MergeSort<T>,
    mut compare: impl FnMut(&T, &T, Watch<'_>) -> SqlResult<Ordering>,
) -> SqlAttempt<()> {
    loop {
        let mut failed = None;
        let step = |watch: Watch<'_>| {
            sort.step(&mut |left: &T, right: &T| {
                compare(left, right, watch).unwrap_or_else(|error| {
                    failed = Some(error);
                    Ordering::Equal
                })
            })
        };
        // A step leaves the items in another order.
        let is_done = cx.lend().in_one_go(|cx| cx.watched(step))?;
        if let Some(error) = failed {
            return Err(error.into());
        }
        if is_done {
            return Ok(());
        }
        cx.take_turns(PART as u32)?;
    }
}

/// Compares two rows by their keys, of which the first `equal` are.
fn compare_kept(
    rows: &KeptRows,
    keys: &Keys,
    (specs, equal): (&[SortKey], usize),
    (left, right): (usize, usize),
    watch: Watch<'_>,
) -> SqlResult<Ordering> {
    for (number, spec) in specs.iter().enumerate().skip(equal) {
        let ordering = spec.compare(keys.get(rows, left, number)?, keys.get(rows, right, number)?, watch);
        if ordering != Ordering::Equal {
            return Ok(ordering);
        }
    }
    Ok(Ordering::Equal)
}

/// Which rows a limit gives.
pub fn wanted_rows(limit: Option<&Limit>, cx: &mut Context<'_>) -> SqlAttempt<Range<usize>> {
    let Some(limit) = limit else { return Ok(0..usize::MAX) };
    let (offset, count) = limit_values(limit, cx)?;
    let row = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    Ok(row(offset)..row(offset.saturating_add(count)))
}

/// Where a limit is.
#[derive(Debug)]
pub struct LimitState {
    input: State,
    /// Rows still to skip and to give, once known.
    left: Option<(u64, u64)>,
}

impl LimitState {
    /// Before the first row.
    pub fn new(input: State) -> Self {
        LimitState { input, left: None }
    }

    /// Before the first row.
    pub fn reset(&mut self) {
        self.input.reset();
        self.left = None;
    }

    /// The next row within the limit.
    pub fn next(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        input: &Operator,
        limit: &Limit,
    ) -> SqlAttempt<bool> {
        let (mut skip, mut give) = match self.left {
            Some(left) => left,
            None => {
                let values = limit_values(limit, &mut cx.lend())?;
                self.input.hint_stop();
                if let State::Scan(scan) = &mut self.input {
                    let rows = values.0.saturating_add(values.1);
                    if let Operator::Scan { filter: None, .. } = input {
                        scan.hint_rows(usize::try_from(rows).unwrap_or(usize::MAX));
                    }
                }
                self.left = Some(values);
                values
            }
        };
        while give > 0 && self.input.next(input, cx)? {
            if skip == 0 {
                give -= 1;
                self.left = Some((0, give));
                return Ok(true);
            }
            skip -= 1;
            self.left = Some((skip, give));
            cx.take_turns(1)?;
        }
        Ok(false)
    }
}
