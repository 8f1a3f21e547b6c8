//! Removing duplicates: the keys of the rows that have been given are remembered, and a row with one of them
//! is left out. When the keys take more memory than they may, rows with other keys are [put
//! off](super::spill::partitions), and come when the input has ended.

use palisade_base::codec::Reader;
use palisade_catalog::watch::PIECE;
use palisade_catalog::{SqlType, Value, Watch};
use palisade_expr::context::value_bytes;
use palisade_expr::hash_key::append_hash_key;
use palisade_expr::keys::KeyIndex;
use palisade_expr::place::At;
use palisade_expr::{Slot, SqlAttempt, SqlResult};
use palisade_plan::Operator;

use super::spill::list::RowList;
use super::spill::partitions::Partitions;
use super::spill::row::{append_values, read_values};
use super::{ExecContext, State};

/// Tells rows of a slot of values that are new from those that are like one before.
#[derive(Debug, Default)]
pub struct Unseen {
    seen: KeyIndex,
    key: Vec<u8>,
    /// Rows with keys for which there was no memory.
    put_off: Partitions,
    /// Memory for a record.
    record: Vec<u8>,
}

impl Unseen {
    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.seen.clear();
        self.put_off = Partitions::default();
    }

    /// Is called before a row is taken from the input. May ask to wait.
    #[inline]
    pub fn make_room(&mut self) -> SqlAttempt<()> {
        self.put_off.make_room()
    }

    /// Whether the current row of the slot is to be given now. If not, it is like one before or comes later.
    pub fn is_new(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        slot: usize,
        types: &[SqlType],
    ) -> SqlResult<bool> {
        self.key.clear();
        append_current_key(cx, slot, types, &mut self.key)?;
        let memory = cx.session.operator_memory(cx.session.variables.tmp_table_size);
        if !self.put_off.is_due(self.seen.size(), memory) {
            let is_new = self.seen.insert(&self.key);
            cx.session.charge(self.seen.size())?;
            return Ok(is_new);
        }
        if !self.seen.contains(&self.key)
            && let Slot::Values(values) = cx.state.frame.slots.at(slot)?
        {
            self.record.clear();
            append_values(values, &mut self.record);
            self.put_off.push(cx.execution, memory, &self.key, &self.record)?;
        }
        Ok(false)
    }

    /// Places the next row of a list that is not like one before in the slot; false if there is none. May ask
    /// to wait.
    pub fn next_of_list(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        list: &mut RowList,
        slot: usize,
        types: &[SqlType],
    ) -> SqlAttempt<bool> {
        loop {
            cx.take_turns(1)?;
            self.make_room()?;
            let Some(row) = list.next_row()? else { break };
            *cx.state.frame.slots.at_mut(slot)? = Slot::Values(row);
            if self.is_new(cx, slot, types)? {
                return Ok(true);
            }
        }
        self.next_put_off(cx, slot, types)
    }

    /// The input has ended: places the next row of those that were put off in the slot; false if there is
    /// none. May ask to wait.
    pub fn next_put_off(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        slot: usize,
        types: &[SqlType],
    ) -> SqlAttempt<bool> {
        loop {
            cx.take_turns(1)?;
            self.make_room()?;
            let Some(record) = self.put_off.next_record()? else {
                if !self.put_off.next_partition()? {
                    return Ok(false);
                }
                self.seen.clear();
                continue;
            };
            let mut values = Vec::new();
            read_values(&mut Reader::new(record), &mut values)?;
            *cx.state.frame.slots.at_mut(slot)? = Slot::Values(values.into());
            if self.is_new(cx, slot, types)? {
                return Ok(true);
            }
        }
    }
}

/// Where removing duplicates is.
#[derive(Debug)]
pub struct DistinctState {
    input: State,
    has_ended: bool,
    unseen: Unseen,
}

impl DistinctState {
    /// Before the first row.
    pub fn new(input: State) -> Self {
        DistinctState { input, has_ended: false, unseen: Unseen::default() }
    }

    /// Before the first row.
    pub fn reset(&mut self) {
        self.input.reset();
        self.has_ended = false;
        self.unseen.clear();
    }

    /// The next row that is not like one before.
    pub fn next(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        input: &Operator,
        slot: usize,
        types: &[SqlType],
    ) -> SqlAttempt<bool> {
        while !self.has_ended {
            self.unseen.make_room()?;
            if !self.input.next(input, cx)? {
                self.has_ended = true;
                break;
            }
            if self.unseen.is_new(cx, slot, types)? {
                return Ok(true);
            }
            cx.take_turns(1)?;
        }
        self.unseen.next_put_off(cx, slot, types)
    }
}

/// Appends bytes that are equal for equal rows of a slot of values, of the current row.
pub(super) fn append_current_key(
    cx: &mut ExecContext<'_, '_>,
    slot: usize,
    types: &[SqlType],
    key: &mut Vec<u8>,
) -> SqlResult<()> {
    let Slot::Values(values) = cx.state.frame.slots.at(slot)? else { return Ok(()) };
    if values.iter().all(|value| value_bytes(value) <= PIECE) {
        append_row_key(values, types, key, &mut |_| true);
        return Ok(());
    }
    let values = values.clone();
    // The row has been taken from its input.
    cx.lend().in_one_go(|cx| cx.watched(|watch| append_row_key(&values, types, key, watch)))
}

/// Appends bytes that are equal for equal rows.
pub fn append_row_key(values: &[Value], types: &[SqlType], key: &mut Vec<u8>, watch: Watch<'_>) {
    for (value, ty) in values.iter().zip(types) {
        append_hash_key(value, ty, key, watch);
    }
}
