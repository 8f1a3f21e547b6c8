//! The files of one level: records divided by a hash of their keys, as they are being written.
//!
//! Each level divides by four other bits of the hash. One for which the hash has no bits left has one file.
//! A file has one block that is being filled and one that is being written: with sixteen files there is
//! enough for the disk to do, and what waits takes a [sixteenth](FILES_OF_MEMORY) of the operator's memory.

use palisade_base::checksum::crc32c;
use palisade_expr::{SqlAttempt, SqlError, SqlResult};
use palisade_session::work::Work;

use super::{Run, RunReader, SpillFile};
use crate::context::Execution;

/// Bits of the hash that a level divides by.
const BITS: u32 = 4;
/// Levels for which a hash has bits.
pub const LEVELS: u32 = u32::BITS / BITS;
/// Files of a level.
pub const FILES: usize = 1 << BITS;
/// Part of an operator's memory that what waits to be written to the files of a level takes at most.
pub const FILES_OF_MEMORY: usize = 16;

/// The hash of a key that decides on its file.
pub fn hash_of(key: &[u8]) -> u32 {
    crc32c(key)
}

/// The file of a level that records with this hash belong to.
fn file_of(hash: u32, level: u32) -> usize {
    if level < LEVELS { (hash >> (level * BITS)) as usize % FILES } else { 0 }
}

/// Files of a level, as they are being written.
#[derive(Debug)]
pub struct LevelFiles {
    level: u32,
    /// Bytes that the operator may take.
    memory: usize,
    files: [Option<SpillFile>; FILES],
    runs: [Run; FILES],
    /// The file with a record for which room has to be made.
    pending: Option<usize>,
    /// Files before this one have been finished.
    finished: usize,
}

impl LevelFiles {
    /// None yet, of an operator that may take so many bytes of memory.
    pub fn new(level: u32, memory: usize) -> LevelFiles {
        let (files, runs) = (Default::default(), Default::default());
        LevelFiles { level, memory, files, runs, pending: None, finished: 0 }
    }

    /// The level.
    pub fn level(&self) -> u32 {
        self.level
    }

    /// Makes room for the next record. May ask to wait, and is called again then before anything else.
    #[inline]
    pub fn make_room(&mut self) -> SqlAttempt<()> {
        if let Some(file) = self.pending.and_then(|pending| self.files.get_mut(pending)?.as_mut()) {
            file.make_room()?;
        }
        self.pending = None;
        Ok(())
    }

    /// Adds the record that `encode` appends, by the hash of its key; [room](Self::make_room) has been made.
    pub fn push(
        &mut self,
        execution: &mut Execution<'_>,
        hash: u32,
        encode: impl FnOnce(&mut Vec<u8>) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let number = file_of(hash, self.level);
        let file = self.files.get_mut(number).ok_or_else(missing)?;
        let file = file.get_or_insert_with(|| {
            execution.work.add(Work::CreatedTmpFiles, 1);
            SpillFile::of_many(execution.engine, self.memory / FILES)
        });
        file.push(encode)?;
        self.pending = Some(number);
        Ok(())
    }

    /// Whether there is a file that records with this hash belong to.
    #[inline]
    pub fn has_file(&self, hash: u32) -> bool {
        matches!(self.files.get(file_of(hash, self.level)), Some(Some(_)))
    }

    /// Waits until all of them are written.
    pub fn finish(&mut self) -> SqlAttempt<()> {
        self.make_room()?;
        while let (Some(file), Some(run)) =
            (self.files.get_mut(self.finished), self.runs.get_mut(self.finished))
        {
            if let Some(file) = file {
                *run = file.finish()?;
            }
            self.finished += 1;
        }
        Ok(())
    }

    /// The [finished](Self::finish) files by the part of the hash, as far as there are any.
    pub fn into_written(self) -> impl Iterator<Item = Option<Written>> {
        let LevelFiles { files, runs, .. } = self;
        files.into_iter().zip(runs).map(|(file, run)| Some(Written { file: file?, run }))
    }
}

/// A file that has been written.
#[derive(Debug)]
pub struct Written {
    file: SpillFile,
    run: Run,
}

impl Written {
    /// Begins to read it.
    pub fn read(self) -> Input {
        let reader = RunReader::new(self.run, &self.file);
        Input { reader, file: self.file }
    }
}

/// A file that is being read.
#[derive(Debug)]
pub struct Input {
    reader: RunReader,
    file: SpillFile,
}

impl Input {
    /// The next record; `None` at the end. May ask to wait.
    pub fn next_record(&mut self) -> SqlAttempt<Option<&[u8]>> {
        match self.reader.next(&self.file)? {
            Some(record) => Ok(Some(self.reader.bytes(record)?)),
            None => Ok(None),
        }
    }
}

fn missing() -> SqlError {
    SqlError::internal("a record belongs to a partition")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_has_its_bits() {
        let hash = 0x8765_4321;
        let files: Vec<usize> = (0..10).map(|level| file_of(hash, level)).collect();
        assert_eq!(files, [1, 2, 3, 4, 5, 6, 7, 8, 0, 0]);
    }
}
