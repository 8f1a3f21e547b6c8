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

use palisade_base::checksum::crc32c;
use palisade_expr::{SqlAttempt, SqlError, SqlResult};
use palisade_session::work::Work;

use super::{Run, RunReader, SpillFile};
use crate::context::Execution;

/// Bits of the hash that a level divides by.
const BITS: u32 = 4;
/// Levels for which a hash has bits.
const LEVELS: u32 = u32::BITS / BITS;
/// Files of a level.
const FILES: usize = 1 << BITS;

/// Records that are put off, as they are being written.
#[derive(Debug)]
struct Writing {
    level: u32,
    files: [Option<SpillFile>; FILES],
    /// The file with a record for which room has to be made.
    pending: Option<usize>,
    /// Files before this one have been finished.
    finished: usize,
}

/// The records of one file.
#[derive(Debug)]
struct Partition {
    level: u32,
    file: SpillFile,
    run: Run,
}

/// The partition that is being read.
#[derive(Debug)]
struct Reading {
    level: u32,
    file: SpillFile,
    reader: RunReader,
}

/// Records that an operator has put off.
#[derive(Debug, Default)]
pub struct Partitions {
    writing: Option<Box<Writing>>,
    waiting: Vec<Partition>,
    reading: Option<Reading>,
    /// Whether something has been put off.
    is_used: bool,
}

impl Partitions {
    /// Whether the records of other keys than those in a table of `size` bytes are to be put off, as no more
    /// than `memory` may be used: from the first one that is, all are, or some records of a key were and
    /// others were not.
    #[inline]
    pub fn is_due(&self, size: usize, memory: usize) -> bool {
        self.writing.is_some() || size > memory && self.level() < LEVELS
    }

    /// Whether the operator's rows come from a partition, and not from its input.
    pub fn is_reading(&self) -> bool {
        self.reading.is_some()
    }

    fn level(&self) -> u32 {
        self.reading.as_ref().map_or(0, |reading| reading.level + 1)
    }

    /// Makes room for the next record. May ask to wait.
    #[inline]
    pub fn make_room(&mut self) -> SqlAttempt<()> {
        let Some(writing) = &mut self.writing else { return Ok(()) };
        if let Some(file) = writing.pending.and_then(|pending| writing.files.get_mut(pending)?.as_mut()) {
            file.make_room()?;
        }
        writing.pending = None;
        Ok(())
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
        let writing = self.writing.get_or_insert_with(|| {
            Box::new(Writing { level, files: Default::default(), pending: None, finished: 0 })
        });
        let number = (crc32c(key) >> (level * BITS)) as usize % FILES;
        let file = writing.files.get_mut(number).ok_or_else(missing)?;
        let file = file.get_or_insert_with(|| {
            execution.work.add(Work::CreatedTmpFiles, 1);
            SpillFile::new(execution.engine, memory / FILES)
        });
        file.push(|out| {
            out.extend_from_slice(record);
            Ok::<_, SqlError>(())
        })?;
        writing.pending = Some(number);
        Ok(())
    }

    /// Goes on to the next partition; false if there is none. May ask to wait.
    pub fn next_partition(&mut self) -> SqlAttempt<bool> {
        self.make_room()?;
        if let Some(writing) = &mut self.writing {
            while let Some(place) = writing.files.get_mut(writing.finished) {
                if let Some(file) = place {
                    let run = file.finish()?;
                    let level = writing.level;
                    self.waiting.extend(place.take().map(|file| Partition { level, file, run }));
                }
                writing.finished += 1;
            }
        }
        self.writing = None;
        self.reading = self.waiting.pop().map(|Partition { level, file, run }| {
            let reader = RunReader::new(run, &file);
            Reading { level, file, reader }
        });
        Ok(self.reading.is_some())
    }

    /// The next record of the partition; `None` at its end. May ask to wait.
    pub fn next_record(&mut self) -> SqlAttempt<Option<&[u8]>> {
        let Some(Reading { file, reader, .. }) = &mut self.reading else { return Ok(None) };
        match reader.next(file)? {
            Some(record) => Ok(Some(reader.bytes(record)?)),
            None => Ok(None),
        }
    }
}

fn missing() -> SqlError {
    SqlError::internal("a record belongs to a partition")
}
