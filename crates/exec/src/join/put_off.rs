//! The rows of a hash join for which there is no memory.
//!
//! ```text
//!   a right row:  key | slots
//!   a left row:   1 if it has had a match, else 0 | number | key | slots
//! ```
//!
//! A left row that is put off has given the pairs with the right rows that are in memory. It is put off
//! because there may be others, and its mark says whether it is a row without any in the end.

use std::sync::Arc;

use palisade_base::codec::{Reader, Truncated, put_bytes, put_varint};
use palisade_catalog::row::RowExcerpt;
use palisade_engine::RowStamp;
use palisade_expr::context::{Frame, view};
use palisade_expr::place::At;
use palisade_expr::{SqlAttempt, SqlResult};
use palisade_plan::{JoinKind, Operator};

use super::{HashJoin, HashJoinState};
use crate::ExecContext;
use crate::spill::damaged;
use crate::spill::merge::{MergePlan, Merger, SortedRuns};
use crate::spill::pairs::{PairedPartitions, Side};
use crate::spill::row::{RowTables, SlotImage, append_slot, append_stored};

/// Rows of both sides in files.
#[derive(Debug)]
pub struct PutOff {
    pairs: PairedPartitions,
    left_slots: Vec<usize>,
    left: Writer,
    right: Writer,
}

/// What writing the rows of a side takes.
#[derive(Debug, Default)]
struct Writer {
    tables: RowTables,
    /// Of each slot which part of its rows is written, if not all.
    excerpts: Vec<Option<Arc<RowExcerpt>>>,
    /// Memory for such a part.
    part: Vec<u8>,
}

impl Writer {
    fn new(operator: &Operator, slots: &[usize]) -> Writer {
        let excerpts = slots.iter().map(|slot| operator.excerpt(*slot).cloned()).collect();
        Writer { excerpts, ..Writer::default() }
    }

    /// Appends what is read of the current rows of the slots.
    fn append(&mut self, frame: &Frame, slots: &[usize], out: &mut Vec<u8>) -> SqlResult<()> {
        for (slot, excerpt) in slots.iter().zip(&self.excerpts) {
            let slot = frame.slots.at(*slot)?;
            match (slot.stored(), excerpt) {
                (Some((table, row, _)), Some(excerpt)) => {
                    self.part.clear();
                    excerpt.append(&view(table, row)?, &mut self.part);
                    append_stored(table, &self.part, RowStamp::from_words([0; 2]), &mut self.tables, out);
                }
                _ => append_slot(slot, &mut self.tables, out),
            }
        }
        Ok(())
    }
}

/// What is known of a left row that comes from a file.
#[derive(Debug, Clone, Copy)]
pub struct LeftMark {
    /// It has had a match.
    pub matched: bool,
    /// How many left rows came before it.
    pub number: u64,
}

impl PutOff {
    /// Nothing yet.
    pub fn new(plan: &HashJoin<'_>) -> PutOff {
        let mut left_slots = Vec::new();
        plan.left.slots(&mut left_slots);
        PutOff {
            pairs: PairedPartitions::default(),
            left: Writer::new(plan.left, &left_slots),
            left_slots,
            right: Writer::new(plan.right, plan.right_slots),
        }
    }

    /// Whether the join's rows come from files.
    pub fn is_reading(&self) -> bool {
        self.pairs.is_reading()
    }

    /// Makes room for the next row. May ask to wait.
    #[inline]
    pub fn make_room(&mut self) -> SqlAttempt<()> {
        self.pairs.make_room()
    }

    /// Puts off the current right row.
    pub fn push_right(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &HashJoin<'_>,
        key: &[u8],
    ) -> SqlResult<()> {
        let (memory, frame, right) = (memory(cx), &cx.state.frame, &mut self.right);
        self.pairs.push(cx.execution, memory, (Side::Build, key), |out| {
            put_bytes(out, key);
            right.append(frame, plan.right_slots, out)
        })
    }

    /// Whether there may be right rows with this key in the files that are being written.
    pub fn may_have(&self, key: &[u8]) -> bool {
        self.pairs.may_have(key)
    }

    /// Puts off the current left row.
    pub fn push_left(&mut self, cx: &mut ExecContext<'_, '_>, mark: LeftMark, key: &[u8]) -> SqlResult<()> {
        let (memory, frame, left) = (memory(cx), &cx.state.frame, &mut self.left);
        let slots = &self.left_slots;
        self.pairs.push(cx.execution, memory, (Side::Probe, key), |out| {
            out.push(mark.matched.into());
            put_varint(out, mark.number);
            put_bytes(out, key);
            left.append(frame, slots, out)
        })
    }

    /// All right rows have been looked at. May ask to wait.
    pub fn end_right(&mut self) -> SqlAttempt<()> {
        self.pairs.end_build()
    }

    /// Goes on to the next rows of both sides; false if there are none. May ask to wait.
    pub fn next_pair(&mut self) -> SqlAttempt<bool> {
        self.pairs.next_pair()
    }

    /// Makes the next right row current; false if there is none. May ask to wait.
    pub fn read_right(&mut self, frame: &mut Frame, slots: &[usize], key: &mut Vec<u8>) -> SqlAttempt<bool> {
        let Some(record) = self.pairs.next_record(Side::Build)? else { return Ok(false) };
        let mut reader = Reader::new(record);
        key.clear();
        key.extend_from_slice(reader.prefixed_bytes().map_err(|_| damaged())?);
        read_slots(&mut reader, record, &self.right.tables, slots, frame)?;
        Ok(true)
    }

    /// Makes the next left row current; `None` if there is none. May ask to wait.
    pub fn read_left(&mut self, frame: &mut Frame, key: &mut Vec<u8>) -> SqlAttempt<Option<LeftMark>> {
        let Some(record) = self.pairs.next_record(Side::Probe)? else { return Ok(None) };
        let mut reader = Reader::new(record);
        let mut read = || Ok::<_, Truncated>((reader.u8()? != 0, reader.varint()?, reader.prefixed_bytes()?));
        let (matched, number, own) = read().map_err(|_| damaged())?;
        key.clear();
        key.extend_from_slice(own);
        read_slots(&mut reader, record, &self.left.tables, &self.left_slots, frame)?;
        Ok(Some(LeftMark { matched, number }))
    }
}

fn append_slots(frame: &Frame, slots: &[usize], tables: &mut RowTables, out: &mut Vec<u8>) -> SqlResult<()> {
    for slot in slots {
        append_slot(frame.slots.at(*slot)?, tables, out);
    }
    Ok(())
}

fn read_slots(
    reader: &mut Reader<'_>,
    record: &[u8],
    tables: &RowTables,
    slots: &[usize],
    frame: &mut Frame,
) -> SqlResult<()> {
    for slot in slots {
        SlotImage::read(reader, record)?.restore(record, tables, frame.slots.at_mut(*slot)?)?;
    }
    Ok(())
}

/// Bytes of memory that a hash join may take before it puts rows off.
pub fn memory(cx: &ExecContext<'_, '_>) -> usize {
    cx.session.operator_memory(cx.session.variables.join_buffer_size)
}

/// Pairs of a join that keeps the order of its left rows although some have been put off: what one table
/// gives is in that order, and is a sorted run.
#[derive(Debug)]
pub struct InOrder {
    slots: Vec<usize>,
    runs: Option<SortedRuns>,
    merger: Option<Merger>,
    /// A pair is in place, not written yet.
    pending: bool,
    /// The number of the left row of the last pair.
    last: u64,
}

impl InOrder {
    /// Without pairs yet.
    pub fn new(cx: &mut ExecContext<'_, '_>, plan: &HashJoin<'_>) -> InOrder {
        let mut slots = Vec::new();
        plan.left.slots(&mut slots);
        if matches!(plan.kind, JoinKind::Inner | JoinKind::Left) {
            slots.extend(plan.right_slots);
        }
        let runs = Some(SortedRuns::new(cx.execution.engine, memory(cx)));
        InOrder { slots, runs, merger: None, pending: false, last: 0 }
    }

    /// The next pair of `join`, in order.
    pub fn next(
        &mut self,
        join: &mut HashJoinState,
        cx: &mut ExecContext<'_, '_>,
        plan: &HashJoin<'_>,
    ) -> SqlAttempt<bool> {
        if let Some(runs) = &mut self.runs {
            loop {
                runs.make_room()?;
                if self.pending {
                    let number = join.number;
                    if number < self.last {
                        runs.end_run()?;
                    }
                    let (frame, slots) = (&cx.state.frame, &self.slots);
                    runs.push(number.into(), &[], |tables, out| append_slots(frame, slots, tables, out))?;
                    (self.pending, self.last) = (false, number);
                    continue;
                }
                if !join.next_pair(cx, plan)? {
                    break;
                }
                self.pending = true;
            }
            runs.end_run()?;
            runs.settle()?;
        }
        if let Some(runs) = self.runs.take() {
            self.merger = Some(Merger::new(runs, false));
        }
        let Some(merger) = &mut self.merger else { return Ok(false) };
        let plan =
            MergePlan { keys: &[], places: &[], slots: &self.slots, wanted: usize::MAX, distinct: false };
        merger.next(cx, &plan)
    }
}
