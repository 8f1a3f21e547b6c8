//! EXCEPT and INTERSECT: the rows of the right side are counted, and those of the left side looked up. Rows
//! of the right side for which there is no memory are [put off](crate::spill::pairs), with the rows of the
//! left side that may be like them. All rows that are alike are counted in one place, or all are put off.
//! EXCEPT without ALL takes the rows that it lets through into the same table, and puts those off for which
//! there is no memory there.

use palisade_base::codec::{Reader, put_bytes};
use palisade_catalog::SqlType;
use palisade_expr::keys::{KeyIndex, Numbered};
use palisade_expr::place::At;
use palisade_expr::{Slot, SqlAttempt, SqlResult};
use palisade_plan::{Operator, SetStep};

use crate::distinct::append_current_key;
use crate::kept::grown;
use crate::spill::damaged;
use crate::spill::list::RowList;
use crate::spill::pairs::{PairedPartitions, Side, table_memory};
use crate::spill::row::{append_values, read_values};
use crate::{ExecContext, State};

/// Where EXCEPT or INTERSECT is.
#[derive(Debug)]
pub struct Combining {
    step: SetStep,
    phase: Phase,
    keys: KeyIndex,
    /// For each key how many rows of the right side have it that no row of the left side has met.
    counts: Vec<usize>,
    put_off: PairedPartitions,
    key: Vec<u8>,
}

/// What it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Rows of the right side are counted.
    Counting,
    /// The right side has ended.
    Counted,
    /// Rows of the left side are looked up.
    Asking,
}

impl Combining {
    /// Before the first row.
    pub fn new(step: SetStep) -> Combining {
        Combining {
            step,
            phase: Phase::Counting,
            keys: KeyIndex::default(),
            counts: Vec::new(),
            put_off: match step {
                SetStep::Except { all: false } => PairedPartitions::keeping_lone(),
                _ => PairedPartitions::default(),
            },
            key: Vec::new(),
        }
    }

    /// Places the next row of `left` that is let through in the slot, with the rows of the `right` side in
    /// the same slot; false if there is none. May ask to wait.
    pub fn next(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        left: &mut RowList,
        right: (&mut State, &Operator),
        (slot, types): (usize, &[SqlType]),
    ) -> SqlAttempt<bool> {
        let (state, operator) = right;
        loop {
            cx.take_turns(1)?;
            self.put_off.make_room()?;
            match self.phase {
                Phase::Counting => {
                    let is_there = match self.put_off.is_reading() {
                        true => self.read_right()?,
                        false => {
                            let found = state.next(operator, cx)?;
                            if found {
                                self.key.clear();
                                append_current_key(cx, slot, types, &mut self.key)?;
                            }
                            found
                        }
                    };
                    if is_there { self.count(cx)? } else { self.phase = Phase::Counted }
                }
                Phase::Counted => {
                    self.put_off.end_build()?;
                    self.phase = Phase::Asking;
                }
                Phase::Asking => {
                    if self.next_left(cx, left, slot, types)? {
                        if self.is_let_through(cx, slot)? {
                            return Ok(true);
                        }
                    } else if self.put_off.next_pair()? {
                        self.keys.clear();
                        self.counts.clear();
                        self.phase = Phase::Counting;
                    } else {
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// Reads the key of the next row of the right side that was put off.
    fn read_right(&mut self) -> SqlAttempt<bool> {
        let Some(record) = self.put_off.next_record(Side::Build)? else { return Ok(false) };
        self.key.clear();
        self.key.extend_from_slice(record);
        Ok(true)
    }

    /// Counts a row of the right side, whose key is at hand, or puts it off.
    fn count(&mut self, cx: &mut ExecContext<'_, '_>) -> SqlResult<()> {
        let memory = memory(cx);
        if self.size() > table_memory(memory) || self.put_off.is_writing() {
            match self.keys.find(&self.key) {
                Some(number) => *self.counts.at_mut(number)? += 1,
                None => {
                    let key = &self.key;
                    self.put_off.push(cx.execution, memory, (Side::Build, key), |out| {
                        out.extend_from_slice(key);
                        Ok(())
                    })?;
                }
            }
            return Ok(());
        }
        match self.keys.number(&self.key) {
            Numbered::Known(number) => *self.counts.at_mut(number)? += 1,
            Numbered::New(_) => self.counts.push(1),
        }
        cx.session.charge(self.size())
    }

    /// About how many bytes the counts take.
    fn size(&self) -> usize {
        self.keys.size() + grown::<usize>(self.counts.len())
    }

    /// Places the next row of the left side in the slot, and its key at hand.
    fn next_left(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        left: &mut RowList,
        slot: usize,
        types: &[SqlType],
    ) -> SqlAttempt<bool> {
        if !self.put_off.is_reading() {
            let Some(row) = left.next_row()? else { return Ok(false) };
            *cx.state.frame.slots.at_mut(slot)? = Slot::Values(row);
            self.key.clear();
            append_current_key(cx, slot, types, &mut self.key)?;
            return Ok(true);
        }
        let Some(record) = self.put_off.next_record(Side::Probe)? else { return Ok(false) };
        let mut reader = Reader::new(record);
        self.key.clear();
        self.key.extend_from_slice(reader.prefixed_bytes().map_err(|_| damaged())?);
        let mut values = Vec::with_capacity(types.len());
        read_values(&mut reader, &mut values)?;
        *cx.state.frame.slots.at_mut(slot)? = Slot::Values(values.into());
        Ok(true)
    }

    /// Whether the current row of the left side is to be given now. If not, it is left out or comes later.
    fn is_let_through(&mut self, cx: &mut ExecContext<'_, '_>, slot: usize) -> SqlResult<bool> {
        let count = match self.keys.find(&self.key) {
            Some(number) => Some(self.counts.at_mut(number)?),
            None if self.put_off.may_have(&self.key) => {
                self.put_off_left(cx, slot)?;
                return Ok(false);
            }
            None if self.step == (SetStep::Except { all: false }) => return self.takes_left(cx, slot),
            None => None,
        };
        match (self.step, count) {
            (SetStep::Except { all: true }, Some(count)) if *count > 0 => {
                *count -= 1;
                Ok(false)
            }
            (SetStep::Except { all: true }, _) => Ok(true),
            (SetStep::Intersect { all }, Some(count)) if *count > 0 => {
                // Of those that are alike one is given, if not all.
                *count = if all { *count - 1 } else { 0 };
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Takes the current row of the left side into the table, so that those that are like it are left out: it
    /// is let through. Where there is no memory it is put off.
    fn takes_left(&mut self, cx: &mut ExecContext<'_, '_>, slot: usize) -> SqlResult<bool> {
        if self.size() > table_memory(memory(cx)) {
            self.put_off_left(cx, slot)?;
            return Ok(false);
        }
        self.keys.insert(&self.key);
        self.counts.push(0);
        cx.session.charge(self.size())?;
        Ok(true)
    }

    fn put_off_left(&mut self, cx: &mut ExecContext<'_, '_>, slot: usize) -> SqlResult<()> {
        let memory = memory(cx);
        let (key, slot) = (&self.key, cx.state.frame.slots.at(slot)?);
        self.put_off.push(cx.execution, memory, (Side::Probe, key), |out| {
            put_bytes(out, key);
            if let Slot::Values(values) = slot {
                append_values(values, out);
            }
            Ok(())
        })
    }
}

/// Bytes of memory that the counts may take before rows are put off.
fn memory(cx: &ExecContext<'_, '_>) -> usize {
    cx.session.operator_memory(cx.session.variables.tmp_table_size)
}
