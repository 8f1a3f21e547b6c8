//! Keys that are asked for again and again while more of them come: by these a recursive UNION knows the rows
//! that there have been.
//!
//! The keys that came last are in a table. When they take more memory than they may, they are written to a
//! file as a *run*, in the order of their hashes and bytes, and the table begins anew. A key is new if it is
//! neither in the table nor in a run. A [filter](super::filter) has a bit for each hash in the runs, and
//! answers most questions about new keys. Where it cannot, the row *waits*, and so does each row that comes
//! behind it, until they take much memory or the round has ended; then the keys of all that the filter could
//! not answer are looked up together, in order, so that no block of a run is read twice for them:
//!
//! ```text
//!              table   ─── full ──►  runs    a c f | b d e | ...     the first hash of each block is known
//!   row ─► is it here?                 ▲
//!     │    is its bit set? ─ yes ─► waiting rows, asked in order
//!     ▼                                │
//!   new ◄──────────────────────────────┘ those that are in no run
//! ```
//!
//! Rows come out in the order in which they came in: what a recursion gives, and which rows a LIMIT in it
//! leaves, does not depend on memory. A key that is new after all gets into the table when its row is given,
//! so that those like it, which wait behind it, are found there. The table is not written meanwhile.
//!
//! Many rounds of a few rows each read a few small blocks for each key that the filter cannot answer, rounds
//! of many rows read the runs from one end to the other. Runs are not merged: there are as many as the table
//! has been full.

use std::cmp::Ordering;
use std::ops::Range;

use palisade_catalog::Watch;
use palisade_expr::keys::{KeyAt, KeyIndex};
use palisade_expr::merge::{MergeSort, run_of};
use palisade_expr::place::At;
use palisade_expr::{Slot, SqlAttempt, SqlError, SqlResult};
use palisade_session::work::Work;

use super::filter::Filter;
use super::level::hash_of;
use super::{Run, RunReader, SpillFile, damaged};
use crate::sort::sort_in_turns;
use crate::{ExecContext, KeptRow};

/// Part of an operator's memory that the table takes with the order in which it is written, and part that
/// rows take that wait.
const TABLES_OF_MEMORY: usize = 2;
const WAITING_OF_MEMORY: usize = 4;
/// Bytes of a block of a run: a key that is asked for alone reads one.
const BLOCK: usize = 16 << 10;
/// Bytes of a hash in a record.
const HASH: usize = size_of::<u32>();

/// The keys of rows.
#[derive(Debug, Default)]
pub struct KnownKeys {
    /// Those that are in no run.
    table: KeyIndex,
    /// Bytes of the longest of them.
    longest: usize,
    runs: Option<Box<KeyRuns>>,
    waiting: Vec<WaitingRow>,
    /// About how many bytes these take.
    waiting_bytes: usize,
    phase: Phase,
}

/// The keys that are in a file.
#[derive(Debug)]
struct KeyRuns {
    file: SpillFile,
    runs: Vec<KeyRun>,
    /// The hash of the first key of each block of the run that is being written.
    fences: Vec<u32>,
    filter: Filter,
}

/// Keys in the order of their hashes and bytes.
#[derive(Debug)]
struct KeyRun {
    run: Run,
    /// The hash of the first key of each of its blocks.
    fences: Vec<u32>,
}

/// A row that waits for an answer, or for its turn.
#[derive(Debug)]
struct WaitingRow {
    row: KeptRow,
    key: Box<[u8]>,
    hash: u32,
    /// Its key may be in a run.
    is_asked: bool,
    /// It is.
    is_known: bool,
}

/// What is done.
#[derive(Debug, Default)]
enum Phase {
    /// Rows are taken.
    #[default]
    Taking,
    /// The keys of the table are put in order.
    Ordering(MergeSort<Ordered>),
    /// They are written: those before `next` have been.
    Writing { order: Vec<Ordered>, next: usize },
    /// The rows that wait for an answer are put in the order of the keys.
    Arranging(MergeSort<Asked>),
    /// They are looked up.
    Asking(Box<Asking>),
    /// Those that are new are given: the rows before this one have been looked at.
    Giving(usize),
}

/// A key of the table.
#[derive(Debug, Clone, Copy)]
struct Ordered {
    hash: u32,
    at: KeyAt,
}

/// A row that waits for an answer: which one it is.
#[derive(Debug, Clone, Copy)]
struct Asked {
    hash: u32,
    row: u32,
}

/// Looking up rows in one run after the other.
#[derive(Debug)]
struct Asking {
    asked: Vec<Asked>,
    run: usize,
    /// Of these, those before this one have been looked up in the run.
    next: usize,
    walk: Walk,
}

/// How far a run has been read.
#[derive(Debug, Default)]
struct Walk {
    reader: Option<RunReader>,
    /// The block behind those that the reader has.
    end: usize,
    /// The record that has been read last, and is not less than what was asked for.
    record: Option<Range<usize>>,
}

impl KnownKeys {
    /// Takes a row and its key. Gives the row back if it is known to be new; if not, it is like one before,
    /// or [comes later](Self::next_waiting).
    pub fn take(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        key: &[u8],
        row: KeptRow,
    ) -> SqlResult<Option<KeptRow>> {
        let Some(runs) = &self.runs else { return Ok(self.add(cx, key)?.then_some(row)) };
        let hash = hash_of(key);
        let is_asked = runs.filter.may_have(hash);
        if self.waiting.is_empty() && !is_asked {
            return Ok(self.add(cx, key)?.then_some(row));
        }
        if self.table.contains(key) {
            return Ok(None);
        }
        self.waiting_bytes += size_of::<WaitingRow>() + key.len() + Slot::Values(row.clone()).size();
        self.waiting.push(WaitingRow { row, key: key.into(), hash, is_asked, is_known: false });
        cx.session.charge(self.size())?;
        Ok(None)
    }

    /// Puts a key into the table; whether it was not there.
    fn add(&mut self, cx: &ExecContext<'_, '_>, key: &[u8]) -> SqlResult<bool> {
        let is_new = self.table.insert(key);
        self.longest = self.longest.max(key.len());
        cx.session.charge(self.size())?;
        Ok(is_new)
    }

    /// Is called before a row is taken, and again as long as it gives one: the next row that had to wait and
    /// is new. At the end of a round none is left waiting. May ask to wait.
    pub fn next_waiting(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        is_end_of_round: bool,
    ) -> SqlAttempt<Option<KeptRow>> {
        loop {
            match &mut self.phase {
                Phase::Taking => {
                    if !self.is_due(cx, is_end_of_round)? {
                        return Ok(None);
                    }
                }
                Phase::Ordering(_) => self.put_in_order(cx)?,
                Phase::Writing { .. } => self.write(cx)?,
                Phase::Arranging(_) => self.arrange(cx)?,
                Phase::Asking(_) => self.ask(cx)?,
                Phase::Giving(next) => {
                    let Some(waiting) = self.waiting.get(*next) else {
                        (self.waiting, self.waiting_bytes, self.phase) = (Vec::new(), 0, Phase::Taking);
                        continue;
                    };
                    *next += 1;
                    if !waiting.is_known && self.table.insert(&waiting.key) {
                        self.longest = self.longest.max(waiting.key.len());
                        return Ok(Some(waiting.row.clone()));
                    }
                    cx.take_turns(1)?;
                }
            }
        }
    }

    /// Whether rows are to be looked up, or keys to be written; begins with it then.
    fn is_due(&mut self, cx: &mut ExecContext<'_, '_>, is_end_of_round: bool) -> SqlResult<bool> {
        let memory = memory(cx);
        let most = memory / WAITING_OF_MEMORY;
        let is_full = self.waiting_bytes > most || self.waiting.len() == u32::MAX as usize;
        if !self.waiting.is_empty() && (is_end_of_round || is_full) {
            let asked = self.waiting.iter().enumerate().filter(|(_, waiting)| waiting.is_asked);
            let asked = asked.map(|(row, waiting)| Asked { hash: waiting.hash, row: row as u32 }).collect();
            let longest = self.waiting.iter().map(|waiting| waiting.key.len()).max();
            self.phase = Phase::Arranging(MergeSort::new(asked, run_of(longest.unwrap_or(0))));
            return Ok(true);
        }
        let of_order = 2 * size_of::<Ordered>() * self.table.len();
        if self.waiting.is_empty() && self.table.size() + of_order > memory / TABLES_OF_MEMORY {
            let hashed = |at: KeyAt| Ordered { hash: hash_of(self.table.key(&at)), at };
            let order = self.table.places().map(hashed).collect();
            self.phase = Phase::Ordering(MergeSort::new(order, run_of(self.longest)));
            return Ok(true);
        }
        Ok(false)
    }

    /// About how many bytes all this takes.
    fn size(&self) -> usize {
        let of_runs = |runs: &KeyRuns| {
            let of_run = |run: &KeyRun| run.run.size() + run.fences.len() * size_of::<u32>();
            runs.filter.size() + runs.runs.iter().map(of_run).sum::<usize>()
        };
        self.table.size() + self.waiting_bytes + self.runs.as_deref().map_or(0, of_runs)
    }

    /// Puts the keys of the table in order.
    fn put_in_order(&mut self, cx: &mut ExecContext<'_, '_>) -> SqlAttempt<()> {
        let Phase::Ordering(sort) = &mut self.phase else { return Ok(()) };
        let table = &self.table;
        sort_in_turns(cx, sort, |left: &Ordered, right: &Ordered, _: Watch<'_>| {
            let by_hash = left.hash.cmp(&right.hash);
            Ok(by_hash.then_with(|| table.key(&left.at).cmp(table.key(&right.at))))
        })?;
        if let Phase::Ordering(sort) = std::mem::take(&mut self.phase) {
            self.phase = Phase::Writing { order: sort.into_items(), next: 0 };
        }
        Ok(())
    }

    /// Writes the keys of the table as a run.
    fn write(&mut self, cx: &mut ExecContext<'_, '_>) -> SqlAttempt<()> {
        let Phase::Writing { order, next } = &mut self.phase else { return Ok(()) };
        let memory = memory(cx);
        let runs = self.runs.get_or_insert_with(|| Box::new(KeyRuns::new(cx, memory)));
        loop {
            runs.file.make_room()?;
            let last = next.checked_sub(1).and_then(|last| order.get(last));
            if let Some(last) = last.filter(|_| runs.file.full_blocks() == runs.fences.len()) {
                runs.fences.push(last.hash);
            }
            let Some(key) = order.get(*next) else {
                // Behind the last one: its block is noted once.
                *next = order.len() + 1;
                break;
            };
            runs.filter.add(key.hash);
            runs.file.push(|out| {
                out.extend_from_slice(&key.hash.to_be_bytes());
                out.extend_from_slice(self.table.key(&key.at));
                Ok::<_, SqlError>(())
            })?;
            *next += 1;
            cx.take_turns(1)?;
        }
        let run = runs.file.finish()?;
        let fences = std::mem::take(&mut runs.fences);
        runs.runs.push(KeyRun { run, fences });
        self.table.clear();
        (self.longest, self.phase) = (0, Phase::Taking);
        Ok(())
    }

    /// Puts the rows that wait for an answer in the order of the runs.
    fn arrange(&mut self, cx: &mut ExecContext<'_, '_>) -> SqlAttempt<()> {
        let Phase::Arranging(sort) = &mut self.phase else { return Ok(()) };
        let waiting = &self.waiting;
        sort_in_turns(cx, sort, |left: &Asked, right: &Asked, _: Watch<'_>| {
            match left.hash.cmp(&right.hash) {
                Ordering::Equal => {
                    let [left, right] = [left, right].map(|asked| waiting.at(asked.row as usize));
                    Ok(left?.key.cmp(&right?.key))
                }
                different => Ok(different),
            }
        })?;
        if let Phase::Arranging(sort) = std::mem::take(&mut self.phase) {
            let asked = sort.into_items();
            self.phase = Phase::Asking(Box::new(Asking { asked, run: 0, next: 0, walk: Walk::default() }));
        }
        Ok(())
    }

    /// Looks up the rows that wait for an answer.
    fn ask(&mut self, cx: &mut ExecContext<'_, '_>) -> SqlAttempt<()> {
        let (Phase::Asking(asking), Some(runs)) = (&mut self.phase, &self.runs) else { return Ok(()) };
        let Asking { asked, run: number, next, walk } = &mut **asking;
        while let Some(run) = runs.runs.get(*number) {
            // Where most blocks are wanted, the next one is read while this one is looked at.
            let is_dense = asked.len() >= run.fences.len();
            while let Some(Asked { hash, row }) = asked.get(*next) {
                let waiting = self.waiting.at_mut(*row as usize)?;
                if !waiting.is_known {
                    waiting.is_known = walk.has(&runs.file, run, (*hash, &waiting.key), is_dense)?;
                }
                *next += 1;
                cx.take_turns(1)?;
            }
            (*number, *next, *walk) = (*number + 1, 0, Walk::default());
        }
        self.phase = Phase::Giving(0);
        Ok(())
    }
}

impl KeyRuns {
    fn new(cx: &mut ExecContext<'_, '_>, memory: usize) -> KeyRuns {
        cx.execution.work.add(Work::CreatedTmpFiles, 1);
        KeyRuns {
            file: SpillFile::of_blocks(cx.execution.engine, memory, BLOCK),
            runs: Vec::new(),
            fences: Vec::new(),
            filter: Filter::new(memory),
        }
    }
}

impl Walk {
    /// Whether a run has a key. Keys are asked for in the order of the run. May ask to wait, and goes on with
    /// the same key.
    fn has(
        &mut self,
        file: &SpillFile,
        KeyRun { run, fences }: &KeyRun,
        wanted: (u32, &[u8]),
        is_dense: bool,
    ) -> SqlAttempt<bool> {
        // The blocks that may have it: keys with the same hash may begin in the block before.
        let first = fences.partition_point(|fence| *fence < wanted.0).saturating_sub(1);
        let end = fences.partition_point(|fence| *fence <= wanted.0);
        if self.end <= first {
            *self = Walk { end: first, ..Walk::default() };
        }
        loop {
            if let (None, Some(reader)) = (&self.record, &mut self.reader) {
                self.record = reader.next(file)?;
            }
            let (Some(record), Some(reader)) = (&self.record, &self.reader) else {
                if self.end >= end {
                    return Ok(false);
                }
                let last = if is_dense { fences.len() } else { end };
                self.reader = Some(RunReader::new(run.blocks(self.end..last), file));
                self.end = last;
                continue;
            };
            match parts(reader.bytes(record.clone())?)?.cmp(&wanted) {
                Ordering::Less => self.record = None,
                Ordering::Equal => return Ok(true),
                Ordering::Greater => return Ok(false),
            }
        }
    }
}

/// The hash and the key of a record.
fn parts(record: &[u8]) -> SqlResult<(u32, &[u8])> {
    let (hash, key) = record.split_first_chunk::<HASH>().ok_or_else(damaged)?;
    Ok((u32::from_be_bytes(*hash), key))
}

/// Bytes of memory that the keys may take.
fn memory(cx: &ExecContext<'_, '_>) -> usize {
    cx.session.operator_memory(cx.session.variables.tmp_table_size)
}
