//! What a change of a temporary table's row is undone by, and where that is kept.

use std::sync::Arc;

use palisade_base::{Blocked, PageNo};
use palisade_btree::{Mtr, overflow};
use palisade_buffer::Space;
use palisade_log::Log;

use super::Emptied;
use crate::engine::Engine;
use crate::table::Partition;
use crate::temporary::{Block, BlockPlace, TemporaryFile, Transfer};
use crate::{Attempt, Error};

/// Bytes of records in a block, about.
const BLOCK: usize = 256 << 10;

/// Frees a chain. Waits for: pages.
pub(super) fn free_chain(log: &Arc<Log>, space: &Space, first: PageNo) -> Attempt<()> {
    loop {
        let mut mtr = Mtr::begin_in(space, log, 0).map_err(Blocked::up)?;
        let more = overflow::free_links(&mut mtr, space, first).map_err(Blocked::up)?;
        if mtr.is_changed() {
            mtr.commit(|_| {});
        }
        if !more {
            break;
        }
    }
    let mut mtr = Mtr::begin_in(space, log, 0).map_err(Blocked::up)?;
    overflow::free_first(&mut mtr, space, first).map_err(Blocked::up)?;
    mtr.commit(|_| {});
    Ok(())
}

/// What a change is undone by.
pub(super) struct UndoRecord<'a> {
    pub(super) table: u32,
    pub(super) index: u16,
    pub(super) key: &'a [u8],
    pub(super) before: Before<'a>,
}

/// What was there before.
pub(super) enum Before<'a> {
    Nothing,
    Value(&'a [u8]),
    /// This overflow chain was not.
    Chain(PageNo),
}

const NOTHING: u8 = 0;
const VALUE: u8 = 1;
const CHAIN: u8 = 2;

/// Bytes of a record in front of its key: table, index, kind, length of the key.
const FIXED: usize = 11;
/// Bytes behind it: how long it is.
const LENGTH: usize = 4;

impl<'a> UndoRecord<'a> {
    fn encode(&self, out: &mut Block) {
        let page;
        let (kind, before): (u8, &[u8]) = match &self.before {
            Before::Nothing => (NOTHING, b""),
            Before::Value(value) => (VALUE, value),
            Before::Chain(first) => {
                page = first.0.to_le_bytes();
                (CHAIN, &page)
            }
        };
        out.extend_from_slice(&self.table.to_le_bytes());
        out.extend_from_slice(&self.index.to_le_bytes());
        out.extend_from_slice(&[kind]);
        out.extend_from_slice(&(self.key.len() as u32).to_le_bytes());
        out.extend_from_slice(self.key);
        out.extend_from_slice(before);
        out.extend_from_slice(&((FIXED + self.key.len() + before.len()) as u32).to_le_bytes());
    }

    /// The last record of what [`encode`](Self::encode) has written. A block of a file has been checked
    /// against its checksum.
    fn decode(bytes: &'a [u8]) -> UndoRecord<'a> {
        let u32_at = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let end = bytes.len() - LENGTH;
        let start = end - u32_at(end) as usize;
        let (table, kind) = (u32_at(start), bytes[start + 6]);
        let index = u16::from_le_bytes([bytes[start + 4], bytes[start + 5]]);
        let (key, before) = bytes[start + FIXED..end].split_at(u32_at(start + 7) as usize);
        let before = match kind {
            NOTHING => Before::Nothing,
            VALUE => Before::Value(before),
            _ => Before::Chain(PageNo(u32_at(end - 4))),
        };
        UndoRecord { table, index, key, before }
    }

    /// Brings back what was there. Waits for: pages, the file to be extended.
    pub(super) fn undo(&self, log: &Arc<Log>, partition: &Partition, emptied: &mut Emptied) -> Attempt<()> {
        let tree = match self.before {
            Before::Chain(first) => return free_chain(log, partition.space(), first),
            _ => partition.tree(self.index.into()),
        };
        emptied.merge()?;
        let mut mtr = Mtr::begin_in(tree.space(), log, 0).map_err(Blocked::up)?;
        let Before::Value(value) = self.before else {
            let position = tree.acquire_existing(&mut mtr, self.key).map_err(Blocked::up)?;
            if position.exists() {
                let shrinks = tree.is_due_to_shrink(&mtr, &position);
                tree.remove(&mut mtr, position);
                mtr.commit(|_| {});
                if shrinks {
                    emptied.merge_or_note(tree, self.key);
                }
            }
            return Ok(());
        };
        let position = tree.acquire(&mut mtr, self.key, value.len()).map_err(Blocked::up)?;
        match position.exists() {
            true => tree.replace(&mut mtr, position, value),
            false => tree.insert(&mut mtr, position, value),
        }
        if mtr.is_changed() {
            mtr.commit(|_| {});
        }
        Ok(())
    }

    /// Bytes that it takes.
    fn len(&self) -> usize {
        let before = match &self.before {
            Before::Nothing => 0,
            Before::Value(value) => value.len(),
            Before::Chain(_) => 4,
        };
        FIXED + self.key.len() + before + LENGTH
    }
}

/// Records, the newest last.
#[derive(Default)]
pub(super) struct UndoRecords {
    pub(super) count: u64,
    /// The newest ones.
    newest: Block,
    /// The others.
    file: Option<TemporaryFile>,
    blocks: Vec<BlockPlace>,
    writing: Option<Transfer>,
    reading: Option<Transfer>,
    /// Why some are lost.
    lost: Option<Error>,
}

impl UndoRecords {
    /// Makes room for a record. Waits for: the block before the last to be written.
    pub(super) fn make_room(&mut self, engine: &Engine) -> Attempt<()> {
        if self.newest.len() < BLOCK {
            return Ok(());
        }
        self.wait_written()?;
        let file = self.file.get_or_insert_with(|| engine.temporary_file());
        let (place, writing) = file.write(std::mem::take(&mut self.newest));
        self.blocks.push(place);
        self.writing = Some(writing);
        Ok(())
    }

    fn wait_written(&mut self) -> Attempt<()> {
        if let Some(error) = &self.lost {
            return Err(error.clone().into());
        }
        if let Some(writing) = &mut self.writing {
            match writing.take() {
                Ok(_) => self.writing = None,
                Err(Blocked::Wait(event)) => return Err(Blocked::Wait(event)),
                Err(Blocked::Error(error)) => {
                    let error = Error::Sql(error);
                    self.lost = Some(error.clone());
                    return Err(error.into());
                }
            }
        }
        Ok(())
    }

    /// Adds a record, for which there is room.
    pub(super) fn push(&mut self, record: UndoRecord<'_>) {
        record.encode(&mut self.newest);
        self.count += 1;
    }

    /// Reads the newest record if it is not in memory. Waits for: its block to be read.
    pub(super) fn load(&mut self) -> Attempt<()> {
        if !self.newest.is_empty() {
            return Ok(());
        }
        self.wait_written()?;
        let (Some(place), Some(file)) = (self.blocks.last(), &self.file) else {
            return Err(Error::Inconsistent("changes to be undone are not noted".to_owned()).into());
        };
        let reading = self.reading.get_or_insert_with(|| file.read(*place, Block::default()));
        let read = reading.take();
        if let Err(Blocked::Wait(event)) = read {
            return Err(Blocked::Wait(event));
        }
        self.reading = None;
        self.newest = read.map_err(Blocked::up)?;
        self.blocks.pop();
        Ok(())
    }

    /// The newest record, which is in memory.
    pub(super) fn newest(&self) -> UndoRecord<'_> {
        UndoRecord::decode(self.newest.content())
    }

    /// Forgets it.
    pub(super) fn pop(&mut self) {
        let len = self.newest.len() - self.newest().len();
        self.newest.truncate(len);
        self.count -= 1;
    }
}
