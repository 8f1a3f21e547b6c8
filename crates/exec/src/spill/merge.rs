//! A sort's runs in a file, and how they become one.
//!
//! Runs are written in the order in which their rows came in, and of equal rows that of the earlier run goes
//! first, so that the sort stays stable. Of more runs than there is memory for two blocks of each, neighbours
//! are merged to longer ones, in as many passes as it takes; the last merge writes nothing, but gives its
//! rows out.
//!
//! ```text
//!   runs      1 2 3 | 4 5 6 | 7 8      three at a time
//!   pass 1      a   |   b   |  c       into another file
//!   pass 2         rows
//! ```
//!
//! A record is the row's [prefix](super::super::sort), the keys that were computed of it, and its slots.

use std::cmp::Ordering;
use std::collections::VecDeque;

use palisade_base::codec::Reader;
use palisade_catalog::{Value, ValueRef, Watch};
use palisade_engine::Engine;
use palisade_expr::context::Frame;
use palisade_expr::order::SortKey;
use palisade_expr::place::At;
use palisade_expr::{SqlAttempt, SqlResult};
use palisade_session::work::Work;

use super::row::{RowTables, SlotImage, append_values, read_values};
use super::tournament::Tournament;
use super::{Run, RunReader, SpillFile, damaged};
use crate::ExecContext;

/// Runs that are merged at once at most.
const MOST_RUNS: usize = 256;

/// Where a key of a row is.
#[derive(Debug, Clone, Copy)]
pub enum KeyPlace {
    /// A column of what is kept of a slot.
    Kept {
        /// Which of the kept slots.
        number: usize,
        /// Which of its columns.
        column: usize,
    },
    /// The computed key with this number.
    Computed(usize),
}

/// Sorted runs, as they are being written.
#[derive(Debug)]
pub struct SortedRuns {
    file: SpillFile,
    runs: VecDeque<Run>,
    tables: RowTables,
    rows: usize,
    memory: usize,
}

impl SortedRuns {
    /// Of a sort that may take so many bytes of memory.
    pub fn new(engine: &Engine, memory: usize) -> SortedRuns {
        let file = SpillFile::new(engine, memory);
        SortedRuns { file, runs: VecDeque::new(), tables: RowTables::default(), rows: 0, memory }
    }

    /// Makes room for a row. May ask to wait.
    pub fn make_room(&mut self) -> SqlAttempt<()> {
        self.file.make_room()
    }

    /// Adds a row to the current run; [room](Self::make_room) has been made. `append_slots` appends its
    /// slots.
    pub fn push(
        &mut self,
        prefix: u128,
        computed: &[Value],
        append_slots: impl FnOnce(&mut RowTables, &mut Vec<u8>) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let tables = &mut self.tables;
        self.file.push(|out| {
            out.extend_from_slice(&prefix.to_le_bytes());
            append_values(computed, out);
            append_slots(tables, out)
        })?;
        self.rows += 1;
        Ok(())
    }

    /// Ends the current run. May ask to wait.
    pub fn end_run(&mut self) -> SqlAttempt<()> {
        let run = self.file.end_run()?;
        if !run.is_empty() {
            self.runs.push_back(run);
        }
        Ok(())
    }

    /// Waits until all runs are written. May ask to wait.
    pub fn settle(&mut self) -> SqlAttempt<()> {
        self.file.settle()
    }

    /// Rows in all runs.
    pub fn rows(&self) -> usize {
        self.rows
    }
}

/// What a merge has to know of its sort.
#[derive(Clone, Copy)]
pub struct MergePlan<'p> {
    /// The order.
    pub keys: &'p [SortKey],
    /// Where the keys are.
    pub places: &'p [KeyPlace],
    /// The slots of a row.
    pub slots: &'p [usize],
    /// Rows that are wanted.
    pub wanted: usize,
    /// Of rows whose keys are equal the first is given, and the others are not.
    pub distinct: bool,
}

/// A row of a record.
#[derive(Debug, Default)]
struct RowImage {
    prefix: u128,
    computed: Vec<Value>,
    slots: Vec<SlotImage>,
}

impl RowImage {
    fn read(&mut self, record: &[u8], width: usize) -> SqlResult<()> {
        let mut reader = Reader::new(record);
        let mut word = || reader.u64().map(u128::from).map_err(|_| damaged());
        self.prefix = word()? | word()? << u64::BITS;
        self.computed.clear();
        read_values(&mut reader, &mut self.computed)?;
        self.slots.clear();
        for _ in 0..width {
            self.slots.push(SlotImage::read(&mut reader, record)?);
        }
        Ok(())
    }

    fn key<'r>(
        &'r self,
        record: &'r [u8],
        tables: &'r RowTables,
        place: KeyPlace,
    ) -> SqlResult<ValueRef<'r>> {
        match place {
            KeyPlace::Kept { number, column } => self.slots.at(number)?.value(record, tables, column),
            KeyPlace::Computed(number) => Ok(self.computed.at(number)?.as_ref()),
        }
    }
}

/// A run that is being merged, and its current row.
#[derive(Debug)]
struct Contender {
    reader: RunReader,
    /// Where the row is in the reader's block; `None` once there is none.
    record: Option<std::ops::Range<usize>>,
    row: RowImage,
}

impl Contender {
    fn new(run: Run, file: &SpillFile) -> Contender {
        Contender { reader: RunReader::new(run, file), record: None, row: RowImage::default() }
    }

    /// Goes on to the next row. May ask to wait.
    fn advance(&mut self, file: &SpillFile, width: usize) -> SqlAttempt<()> {
        self.record = self.reader.next(file)?;
        if let Some(record) = &self.record {
            self.row.read(self.reader.bytes(record.clone())?, width)?;
        }
        Ok(())
    }

    /// The bytes of the current row.
    fn bytes(&self) -> SqlResult<Option<&[u8]>> {
        self.record.clone().map(|record| self.reader.bytes(record)).transpose()
    }
}

/// The row that was given last, where rows like it are left out.
#[derive(Debug, Default)]
struct LastRow {
    is_there: bool,
    record: Vec<u8>,
    row: RowImage,
}

/// What a merge does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The next runs are chosen.
    Choosing,
    /// Their first rows are read: those of the runs before this one are there.
    Loading(usize),
    /// They are merged.
    Merging,
    /// They have been merged to a run of the next pass, which is being ended.
    Ending,
    /// The pass is over, and its runs are being written.
    Settling,
}

/// Which matches of a tournament are played.
#[derive(Debug, Clone, Copy)]
enum Matches {
    All,
    /// Those on the way of the last winner, which has another row.
    OfTheWinner,
}

/// Merges runs.
#[derive(Debug)]
pub struct Merger {
    file: SpillFile,
    /// Runs of the current pass that have not been merged.
    runs: VecDeque<Run>,
    tables: RowTables,
    memory: usize,
    /// The rows' prefixes say nothing, of some of them at least.
    without_prefixes: bool,
    phase: Phase,
    contenders: Vec<Contender>,
    tournament: Tournament,
    /// The winner's row is the next one that is wanted.
    is_found: bool,
    /// The winner's row has been taken.
    is_taken: bool,
    /// The runs that are being merged are all there are.
    is_last: bool,
    /// Rows that the current merge has given.
    given: usize,
    last: LastRow,
    /// Of the next pass: its file, and the runs that there are.
    next_file: Option<SpillFile>,
    merged: VecDeque<Run>,
}

impl Merger {
    /// Merges these runs, all of which [have been written](SortedRuns::settle).
    pub fn new(runs: SortedRuns, without_prefixes: bool) -> Merger {
        let SortedRuns { file, runs, tables, memory, .. } = runs;
        Merger {
            file,
            runs,
            tables,
            memory,
            without_prefixes,
            phase: Phase::Choosing,
            contenders: Vec::new(),
            tournament: Tournament::default(),
            is_found: false,
            is_taken: false,
            is_last: false,
            given: 0,
            last: LastRow::default(),
            next_file: None,
            merged: VecDeque::new(),
        }
    }

    /// Places the next row in the frame; false at the end. May ask to wait.
    pub fn next(&mut self, cx: &mut ExecContext<'_, '_>, plan: &MergePlan<'_>) -> SqlAttempt<bool> {
        loop {
            match self.phase {
                Phase::Choosing => self.choose(cx),
                Phase::Loading(next) => self.load(cx, plan, next)?,
                Phase::Ending => self.end_merge()?,
                Phase::Settling => self.end_pass()?,
                Phase::Merging => match (self.find_row(cx, plan)?, self.is_last) {
                    (false, true) => return Ok(false),
                    (false, false) => self.phase = Phase::Ending,
                    (true, true) => {
                        self.place(plan, &mut cx.state.frame)?;
                        return Ok(true);
                    }
                    (true, false) => self.copy()?,
                },
            }
        }
    }

    /// Chooses the runs that are merged next.
    fn choose(&mut self, cx: &mut ExecContext<'_, '_>) {
        let at_once = (self.memory / (2 * self.file.largest_block())).clamp(2, MOST_RUNS);
        self.is_last = self.merged.is_empty() && self.runs.len() <= at_once;
        let count = at_once.min(self.runs.len());
        let file = &self.file;
        self.contenders = self.runs.drain(..count).map(|run| Contender::new(run, file)).collect();
        if !self.is_last && self.next_file.is_none() {
            self.next_file = Some(SpillFile::new(cx.execution.engine, self.memory));
            cx.execution.work.add(Work::CreatedTmpFiles, 1);
        }
        (self.given, self.last.is_there, self.is_taken) = (0, false, false);
        cx.execution.work.add(Work::SortMergePasses, 1);
        self.phase = Phase::Loading(0);
    }

    /// Reads the first row of each run, from that of `next` on.
    fn load(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &MergePlan<'_>,
        mut next: usize,
    ) -> SqlAttempt<()> {
        while let Some(contender) = self.contenders.get_mut(next) {
            contender.advance(&self.file, plan.slots.len())?;
            next += 1;
            self.phase = Phase::Loading(next);
        }
        self.play(cx, plan, Matches::All)?;
        self.phase = Phase::Merging;
        Ok(())
    }

    /// Plays matches of the tournament.
    fn play(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &MergePlan<'_>,
        matches: Matches,
    ) -> SqlResult<()> {
        let mut failed = None;
        let (contenders, tables, by_prefix) = (&self.contenders, &self.tables, !self.without_prefixes);
        let tournament = &mut self.tournament;
        cx.lend().in_one_go(|cx| {
            cx.watched(|watch| {
                let mut beats = |one: usize, other: usize| {
                    let order = compare(contenders, tables, plan, by_prefix, (one, other), watch);
                    order.unwrap_or_else(|error| {
                        failed = Some(error);
                        Ordering::Equal
                    }) == Ordering::Less
                };
                match matches {
                    Matches::All => *tournament = Tournament::new(contenders.len(), &mut beats),
                    Matches::OfTheWinner => tournament.replay(&mut beats),
                }
            })
        })?;
        failed.map_or(Ok(()), Err)
    }

    /// Makes the winner's row the next one that is wanted; false if there is none.
    fn find_row(&mut self, cx: &mut ExecContext<'_, '_>, plan: &MergePlan<'_>) -> SqlAttempt<bool> {
        while !self.is_found {
            let winner = self.tournament.winner();
            if self.is_taken {
                self.contenders.at_mut(winner)?.advance(&self.file, plan.slots.len())?;
                self.play(cx, plan, Matches::OfTheWinner)?;
                self.is_taken = false;
                cx.take_turns(1)?;
                continue;
            }
            let Some(contender) = self.contenders.get(winner) else { return Ok(false) };
            if contender.record.is_none() || self.given >= plan.wanted {
                return Ok(false);
            }
            if plan.distinct && self.is_like_the_last(cx, plan, winner)? {
                self.is_taken = true;
                continue;
            }
            self.is_found = true;
        }
        Ok(true)
    }

    /// Whether the row has the keys of the last one. If not, it is the last one from now on.
    fn is_like_the_last(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &MergePlan<'_>,
        winner: usize,
    ) -> SqlResult<bool> {
        let contender = self.contenders.at(winner)?;
        let bytes = contender.bytes()?.ok_or_else(damaged)?;
        let (last, tables) = (&mut self.last, &self.tables);
        if last.is_there {
            let rows = ((&last.row, &last.record[..]), (&contender.row, bytes));
            let order =
                cx.lend().in_one_go(|cx| cx.watched(|watch| compare_keys(rows, tables, plan, watch)))??;
            if order == Ordering::Equal {
                return Ok(true);
            }
        }
        last.record.clear();
        last.record.extend_from_slice(bytes);
        last.row.read(&last.record, plan.slots.len())?;
        last.is_there = true;
        Ok(false)
    }

    /// The computed keys of the row that [`next`](Self::next) has placed.
    pub fn computed(&self) -> SqlResult<&[Value]> {
        Ok(&self.contenders.at(self.tournament.winner())?.row.computed)
    }

    /// Places the winner's row in the frame.
    fn place(&mut self, plan: &MergePlan<'_>, frame: &mut Frame) -> SqlResult<()> {
        let contender = self.contenders.at_mut(self.tournament.winner())?;
        let record = contender.record.clone().ok_or_else(damaged)?;
        let bytes = contender.reader.bytes(record)?;
        for (image, slot) in contender.row.slots.iter_mut().zip(plan.slots) {
            image.restore(bytes, &self.tables, frame.slots.at_mut(*slot)?)?;
        }
        self.took();
        Ok(())
    }

    /// The row that was found has been taken.
    fn took(&mut self) {
        (self.is_found, self.is_taken) = (false, true);
        self.given += 1;
    }

    /// Writes the winner's row into a run of the next pass. May ask to wait, and has then done nothing.
    fn copy(&mut self) -> SqlAttempt<()> {
        let Some(file) = &mut self.next_file else { return Err(damaged().into()) };
        file.make_room()?;
        let contender = self.contenders.at(self.tournament.winner())?;
        let bytes = contender.bytes()?.ok_or_else(damaged)?;
        file.push(|out| {
            out.extend_from_slice(bytes);
            Ok::<_, palisade_expr::SqlError>(())
        })?;
        self.took();
        Ok(())
    }

    /// Ends the run that a merge has written. May ask to wait.
    fn end_merge(&mut self) -> SqlAttempt<()> {
        let Some(file) = &mut self.next_file else { return Err(damaged().into()) };
        let run = file.end_run()?;
        self.contenders.clear();
        self.merged.push_back(run);
        self.phase = if self.runs.is_empty() { Phase::Settling } else { Phase::Choosing };
        Ok(())
    }

    /// Goes on to the next pass. May ask to wait.
    fn end_pass(&mut self) -> SqlAttempt<()> {
        let Some(file) = &mut self.next_file else { return Err(damaged().into()) };
        file.settle()?;
        if let Some(file) = self.next_file.take() {
            self.file = file;
        }
        self.runs = std::mem::take(&mut self.merged);
        self.phase = Phase::Choosing;
        Ok(())
    }
}

/// Whose row comes first. A run without a row comes last; of equal rows that of the earlier run goes first.
fn compare(
    contenders: &[Contender],
    tables: &RowTables,
    plan: &MergePlan<'_>,
    by_prefix: bool,
    (one, other): (usize, usize),
    watch: Watch<'_>,
) -> SqlResult<Ordering> {
    let (left, right) = (contenders.at(one)?, contenders.at(other)?);
    let (Some(left_bytes), Some(right_bytes)) = (left.bytes()?, right.bytes()?) else {
        let ended = |contender: &Contender| contender.record.is_none();
        return Ok((ended(left), one).cmp(&(ended(right), other)));
    };
    let by_prefix = if by_prefix { left.row.prefix.cmp(&right.row.prefix) } else { Ordering::Equal };
    if by_prefix != Ordering::Equal {
        return Ok(by_prefix);
    }
    let rows = ((&left.row, left_bytes), (&right.row, right_bytes));
    Ok(compare_keys(rows, tables, plan, watch)?.then(one.cmp(&other)))
}

/// A row, and its record.
type Recorded<'r> = (&'r RowImage, &'r [u8]);

/// Compares two rows by their keys.
fn compare_keys(
    ((left, left_bytes), (right, right_bytes)): (Recorded<'_>, Recorded<'_>),
    tables: &RowTables,
    plan: &MergePlan<'_>,
    watch: Watch<'_>,
) -> SqlResult<Ordering> {
    for (spec, place) in plan.keys.iter().zip(plan.places) {
        let left = left.key(left_bytes, tables, *place)?;
        let ordering = spec.compare(left, right.key(right_bytes, tables, *place)?, watch);
        if ordering != Ordering::Equal {
            return Ok(ordering);
        }
    }
    Ok(Ordering::Equal)
}
