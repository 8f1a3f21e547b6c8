//! Rows that wait in a temporary file: what an operator does with those that it may not keep in memory.
//!
//! An operator writes *records*, byte strings of its own making, into a [`SpillFile`]. They are gathered in
//! blocks; a full block is handed over to be written while the next one is filled. Records that are read
//! again in their order are a [`Run`], which a [`RunReader`] gives out while the block after the current one
//! is being read:
//!
//! ```text
//!   push ─► block ─► write under way ─► file ─► read under way ─► block ─► next
//!           filled   at most UNDER_WAY          one ahead         given out
//! ```
//!
//! Where memory for the next block has to be waited for, or the next block has not come, the caller is given
//! [`Blocked::Wait`](palisade_base::Blocked) and calls again. An error of the file ends the statement.
//!
//! | module | what it holds |
//! |---|---|
//! | [`row`] | the current rows of slots as records |
//! | [`tournament`] | which of many runs has the least row |
//! | [`list`] | rows that are read again in their order |
//! | [`known`] | keys that are asked for again and again |
//! | [`filter`] | which hashes there may be |
//! | [`level`] | files of records, divided by a hash of their keys |
//! | [`partitions`] | records that are put off, by a hash of their keys |
//! | [`pairs`] | records of two inputs that are put off, by a hash of their keys |
//! | [`merge`] | sorted runs, merged to one |

pub mod filter;
pub mod known;
pub mod level;
pub mod list;
pub mod merge;
pub mod pairs;
pub mod partitions;
pub mod row;
pub mod tournament;

use std::collections::VecDeque;
use std::ops::Range;

use palisade_base::codec::{Reader, put_varint};
use palisade_engine::{Block, BlockPlace, Engine, TemporaryFile, Transfer};
use palisade_expr::{SqlAttempt, SqlError, SqlResult};

/// Blocks that are being written at most.
const UNDER_WAY: usize = 4;
/// Bytes of a block, where memory allows it: few enough to have one of each of a hundred runs, and so many
/// that the disk is not kept from its work.
const BLOCK: usize = 256 << 10;
/// Bytes of a block at least.
const LEAST_BLOCK: usize = 4 << 10;
/// Part of an operator's memory that a block takes at most.
const BLOCKS_OF_MEMORY: usize = 32;

/// A file that records are written to.
#[derive(Debug)]
pub struct SpillFile {
    file: TemporaryFile,
    block_bytes: usize,
    /// Records that have not been handed over to be written.
    block: Block,
    /// A record that has not got into the block.
    record: Vec<u8>,
    is_pending: bool,
    under_way: VecDeque<Transfer>,
    /// Blocks that are being written at most.
    most_under_way: usize,
    spare: Vec<Block>,
    /// Blocks of the run that is being written.
    places: Vec<BlockPlace>,
    largest_block: usize,
}

/// Records that lie one behind the other in a file.
#[derive(Debug, Clone, Default)]
pub struct Run {
    places: Vec<BlockPlace>,
}

impl Run {
    /// Whether it has no records.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The part of it that lies in some of its blocks.
    pub fn blocks(&self, blocks: Range<usize>) -> Run {
        Run { places: self.places.get(blocks).unwrap_or_default().to_vec() }
    }

    /// About how many bytes it takes in memory.
    pub fn size(&self) -> usize {
        self.places.len() * size_of::<BlockPlace>()
    }
}

impl SpillFile {
    /// A file of an operator that may take so many bytes of memory.
    pub fn new(engine: &Engine, memory: usize) -> SpillFile {
        SpillFile::with_under_way(engine, memory, UNDER_WAY)
    }

    /// One of many files of an operator, of whose memory it may take so many bytes.
    pub fn of_many(engine: &Engine, memory: usize) -> SpillFile {
        SpillFile::with_under_way(engine, memory, 1)
    }

    /// A file whose blocks are read one by one, and have no more than so many bytes.
    pub fn of_blocks(engine: &Engine, memory: usize, block_bytes: usize) -> SpillFile {
        let own = (memory / BLOCKS_OF_MEMORY).clamp(LEAST_BLOCK, BLOCK);
        SpillFile::with_blocks(engine, own.min(block_bytes), UNDER_WAY)
    }

    fn with_under_way(engine: &Engine, memory: usize, most_under_way: usize) -> SpillFile {
        let block_bytes = (memory / BLOCKS_OF_MEMORY).clamp(LEAST_BLOCK, BLOCK);
        SpillFile::with_blocks(engine, block_bytes, most_under_way)
    }

    fn with_blocks(engine: &Engine, block_bytes: usize, most_under_way: usize) -> SpillFile {
        SpillFile {
            file: engine.temporary_file(),
            block_bytes,
            block: Block::with_capacity(block_bytes),
            record: Vec::new(),
            is_pending: false,
            under_way: VecDeque::new(),
            most_under_way,
            spare: Vec::new(),
            places: Vec::new(),
            largest_block: block_bytes,
        }
    }

    /// Makes room for the next record. May ask to wait, and is called again then before anything else.
    pub fn make_room(&mut self) -> SqlAttempt<()> {
        if !self.is_pending {
            return Ok(());
        }
        // The longest length takes ten bytes.
        if !self.block.is_empty() && self.block.len() + self.record.len() + 10 > self.block_bytes {
            self.hand_over()?;
        }
        let mut prefix = Vec::with_capacity(10);
        put_varint(&mut prefix, self.record.len() as u64);
        self.block.extend_from_slice(&prefix);
        self.block.extend_from_slice(&self.record);
        self.is_pending = false;
        Ok(())
    }

    /// Adds the record that `encode` appends. [Room](Self::make_room) has been made for it.
    pub fn push<E>(&mut self, encode: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        debug_assert!(!self.is_pending, "room has been made");
        self.record.clear();
        encode(&mut self.record)?;
        self.is_pending = true;
        Ok(())
    }

    /// Ends a run: gives what has been pushed since the last one ended. May ask to wait.
    pub fn end_run(&mut self) -> SqlAttempt<Run> {
        self.make_room()?;
        if !self.block.is_empty() {
            self.hand_over()?;
        }
        Ok(Run { places: std::mem::take(&mut self.places) })
    }

    /// Ends the only run, and waits until it is written. May ask to wait.
    pub fn finish(&mut self) -> SqlAttempt<Run> {
        self.make_room()?;
        if !self.block.is_empty() {
            self.hand_over()?;
        }
        self.settle()?;
        Ok(Run { places: std::mem::take(&mut self.places) })
    }

    /// Waits until all is written that was handed over, and gives the memory for it back.
    pub fn settle(&mut self) -> SqlAttempt<()> {
        while let Some(first) = self.under_way.front_mut() {
            first.take()?;
            self.under_way.pop_front();
        }
        self.spare.clear();
        self.block = Block::default();
        self.record = Vec::new();
        Ok(())
    }

    /// Blocks of the run that is being written that are full: the number of the block that has the record for
    /// which room was made last.
    pub fn full_blocks(&self) -> usize {
        self.places.len()
    }

    /// Bytes of the largest block.
    pub fn largest_block(&self) -> usize {
        self.largest_block
    }

    /// Bytes written.
    pub fn len(&self) -> u64 {
        self.file.len()
    }

    /// Whether nothing has been written.
    pub fn is_empty(&self) -> bool {
        self.file.is_empty()
    }

    /// Has the block written.
    fn hand_over(&mut self) -> SqlAttempt<()> {
        loop {
            let is_long = self.under_way.len() >= self.most_under_way;
            let Some(first) = self.under_way.front_mut() else { break };
            if !is_long && !first.is_done() {
                break;
            }
            let mut block = first.take()?;
            self.under_way.pop_front();
            // One of a long record is not kept.
            if block.len() <= self.block_bytes {
                block.clear();
                self.spare.push(block);
            }
        }
        let next = self.spare.pop().unwrap_or_else(|| Block::with_capacity(self.block_bytes));
        let full = std::mem::replace(&mut self.block, next);
        self.largest_block = self.largest_block.max(full.len());
        let (place, transfer) = self.file.write(full);
        self.places.push(place);
        self.under_way.push_back(transfer);
        Ok(())
    }
}

/// Gives out the records of a run.
#[derive(Debug)]
pub struct RunReader {
    /// Blocks that have not been asked for.
    left: std::vec::IntoIter<BlockPlace>,
    block: Block,
    /// Where in the block the next record is.
    at: usize,
    ahead: Option<Transfer>,
}

impl RunReader {
    /// Before the first record; the first block is being read. All of the run [has been
    /// written](SpillFile::settle).
    pub fn new(run: Run, file: &SpillFile) -> RunReader {
        let mut left = run.places.into_iter();
        let ahead = left.next().map(|first| file.file.read(first, Block::with_capacity(first.len())));
        RunReader { left, block: Block::default(), at: 0, ahead }
    }

    /// Where in the [block](Self::bytes) the next record is; `None` at the end. May ask to wait.
    pub fn next(&mut self, file: &SpillFile) -> SqlAttempt<Option<Range<usize>>> {
        while self.at >= self.block.len() {
            let Some(ahead) = &mut self.ahead else { return Ok(None) };
            let read = ahead.take()?;
            let used = std::mem::replace(&mut self.block, read);
            self.at = 0;
            self.ahead = self.left.next().map(|place| file.file.read(place, used));
        }
        let rest = self.block.content().get(self.at..).unwrap_or_default();
        let mut reader = Reader::new(rest);
        let record = reader.prefixed_bytes().map_err(|_| damaged())?;
        let end = self.block.len() - reader.rest().len();
        self.at = end;
        Ok(Some(end - record.len()..end))
    }

    /// The bytes of a record of the current block.
    pub fn bytes(&self, record: Range<usize>) -> SqlResult<&[u8]> {
        self.block.content().get(record).ok_or_else(damaged)
    }
}

/// What has passed the checksum and is no record all the same.
pub(crate) fn damaged() -> SqlError {
    SqlError::internal("a record of a temporary file is not as it was written")
}
