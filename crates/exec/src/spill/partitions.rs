//! Records that are put off: divided into files by a hash of their keys, and read again one file at a time.
//!
//! An operator whose hash table is full goes on with the keys that are in it, and puts the records of all
//! others off. When it is done with what is in memory, it begins anew with the records of one partition, none
//! of whose keys it has seen; should its table become full again, these are divided once more, by other bits
//! of the hash.
//!
//! ```text
//!   input ──► table ──► rows of the keys in it        level 0
//!               │ full: other keys
//!               ▼
//!          0 1 2 ... 15  ──► table ──► rows           level 1
//!                              │
//!                              ▼
//!                         0 1 2 ... 15                level 2
//! ```

use palisade_expr::{SqlAttempt, SqlError, SqlResult};
use palisade_session::work::Work;

use super::level::{FILES_OF_MEMORY, Input, LEVELS, LevelFiles, Written, hash_of};
use crate::context::Execution;

/// Records that an operator has put off.
#[derive(Debug, Default)]
pub struct Partitions {
    writing: Option<Box<LevelFiles>>,
    /// Those that wait, each with its level.
    waiting: Vec<(u32, Written)>,
    reading: Option<(u32, Input)>,
    /// Whether something has been put off.
    is_used: bool,
}

impl Partitions {
    /// Whether the records of other keys than those in a table of `size` bytes are to be put off, as no more
    /// than `memory` may be used with what waits to be written: from the first one that is, all are, or some
    /// records of a key were and others were not.
    #[inline]
    pub fn is_due(&self, size: usize, memory: usize) -> bool {
        let is_full = || size > memory - memory / FILES_OF_MEMORY;
        self.writing.is_some() || is_full() && self.level() < LEVELS
    }

    /// Whether the operator's rows come from a partition, and not from its input.
    pub fn is_reading(&self) -> bool {
        self.reading.is_some()
    }

    /// Whether something has been put off.
    pub fn has_any(&self) -> bool {
        self.is_used
    }

    fn level(&self) -> u32 {
        self.reading.as_ref().map_or(0, |(level, _)| level + 1)
    }

    /// Makes room for the next record. May ask to wait.
    #[inline]
    pub fn make_room(&mut self) -> SqlAttempt<()> {
        match &mut self.writing {
            Some(writing) => writing.make_room(),
            None => Ok(()),
        }
    }

    /// Puts a record off, by its key; [room](Self::make_room) has been made for it. Of an operator that may
    /// take so many bytes of memory.
    pub fn push(
        &mut self,
        execution: &mut Execution<'_>,
        memory: usize,
        key: &[u8],
        record: &[u8],
    ) -> SqlResult<()> {
        let level = self.level();
        if !std::mem::replace(&mut self.is_used, true) {
            execution.work.add(Work::CreatedTmpDiskTables, 1);
        }
        let writing = self.writing.get_or_insert_with(|| Box::new(LevelFiles::new(level, memory)));
        writing.push(execution, hash_of(key), |out| {
            out.extend_from_slice(record);
            Ok::<_, SqlError>(())
        })
    }

    /// Goes on to the next partition; false if there is none. May ask to wait.
    pub fn next_partition(&mut self) -> SqlAttempt<bool> {
        if let Some(writing) = &mut self.writing {
            writing.finish()?;
        }
        if let Some(writing) = self.writing.take() {
            let level = writing.level();
            self.waiting.extend(writing.into_written().flatten().map(|written| (level, written)));
        }
        // The file that has been read is gone before another is opened.
        self.reading = None;
        self.reading = self.waiting.pop().map(|(level, written)| (level, written.read()));
        Ok(self.reading.is_some())
    }

    /// The next record of the partition; `None` at its end. May ask to wait.
    pub fn next_record(&mut self) -> SqlAttempt<Option<&[u8]>> {
        match &mut self.reading {
            Some((_, input)) => input.next_record(),
            None => Ok(None),
        }
    }
}
