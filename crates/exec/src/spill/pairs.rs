//! Records of two inputs that are put off together: both are divided by a hash of their keys, and read again
//! one pair of files at a time.
//!
//! The *build* input decides on the records of the *probe* input. An operator keeps as much of the build
//! input as it may, and puts off the rest; then it looks at the probe input with what it has, and puts off
//! each record on which something that was put off may have to be asked. Then it begins anew with one pair of
//! files, which have records with the same part of the hash:
//!
//! ```text
//!   build ──► table           0 1 2 ... 15   build files   ──► table       level 1, the pair 0
//!               │ full ────────► ...                             │ full ──► ...
//!   probe ──► asked           0 1 2 ... 15   probe files   ──► asked
//!               └ a filter says there may be more ──► ...
//! ```
//!
//! Each level takes a table full of the build input away, so that also many records with one key come to an
//! end: the probe records with that key are asked once for each table. A level for which the hash has no bits
//! left has one pair of files.
//!
//! The *filter* has a bit for each hash of a build record that was put off (Bloom, 1970, with one function):
//! a probe record whose bit is not set needs no file.

use palisade_base::checksum::crc32c;
use palisade_expr::{SqlAttempt, SqlError, SqlResult};
use palisade_session::work::Work;

use super::{Run, RunReader, SpillFile};
use crate::context::Execution;

/// Bits of the hash that a level divides by.
const BITS: u32 = 4;
/// Levels for which a hash has bits.
const LEVELS: u32 = u32::BITS / BITS;
/// Files of a level, on each side.
const FILES: usize = 1 << BITS;
/// Part of an operator's memory that the filter takes.
const FILTERS_OF_MEMORY: usize = 16;

/// One of the two inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// That which decides.
    Build,
    /// That on which is decided.
    Probe,
}

/// The files of one side, as they are being written.
#[derive(Debug, Default)]
struct Files {
    files: [Option<SpillFile>; FILES],
    runs: [Run; FILES],
    /// Files before this one have been finished.
    finished: usize,
}

impl Files {
    /// Waits until all of them are written.
    fn finish(&mut self) -> SqlAttempt<()> {
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
}

/// Records that are put off, as they are being written.
#[derive(Debug)]
struct Writing {
    level: u32,
    build: Files,
    probe: Files,
    filter: Filter,
    /// The file with a record for which room has to be made.
    pending: Option<(Side, usize)>,
}

impl Writing {
    fn side(&mut self, side: Side) -> &mut Files {
        match side {
            Side::Build => &mut self.build,
            Side::Probe => &mut self.probe,
        }
    }
}

/// Which hashes there may be.
#[derive(Debug)]
struct Filter {
    words: Vec<u64>,
    shift: u32,
}

impl Filter {
    fn new(memory: usize) -> Filter {
        let words = (memory / FILTERS_OF_MEMORY / size_of::<u64>()).clamp(64, 1 << 26).next_power_of_two();
        let bits = words as u64 * u64::from(u64::BITS);
        Filter { words: vec![0; words], shift: u64::BITS - bits.trailing_zeros() }
    }

    /// The word and the bit of a hash. Files of one level have a part of the hash in common, so that all of
    /// it decides.
    fn place(&self, hash: u32) -> (usize, u64) {
        let mixed = u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift;
        ((mixed / u64::from(u64::BITS)) as usize, 1 << (mixed % u64::from(u64::BITS)))
    }

    fn add(&mut self, hash: u32) {
        let (word, bit) = self.place(hash);
        if let Some(word) = self.words.get_mut(word) {
            *word |= bit;
        }
    }

    fn may_have(&self, hash: u32) -> bool {
        let (word, bit) = self.place(hash);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }
}

/// The records of one file.
#[derive(Debug)]
struct Input {
    reader: RunReader,
    file: SpillFile,
}

impl Input {
    fn new(run: Run, file: SpillFile) -> Input {
        Input { reader: RunReader::new(run, &file), file }
    }
}

/// Two files that wait.
#[derive(Debug)]
struct Pair {
    level: u32,
    build: (Run, SpillFile),
    probe: (Run, SpillFile),
}

/// The pair that is being read.
#[derive(Debug)]
struct Reading {
    level: u32,
    build: Input,
    probe: Input,
}

/// Records of two inputs that an operator has put off.
#[derive(Debug, Default)]
pub struct PairedPartitions {
    writing: Option<Box<Writing>>,
    waiting: Vec<Pair>,
    reading: Option<Reading>,
}

impl PairedPartitions {
    /// Whether the operator's inputs are a pair of files.
    pub fn is_reading(&self) -> bool {
        self.reading.is_some()
    }

    /// Whether something has been put off since the last pair was begun.
    pub fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    /// Makes room for the next record. May ask to wait.
    #[inline]
    pub fn make_room(&mut self) -> SqlAttempt<()> {
        let Some(writing) = &mut self.writing else { return Ok(()) };
        if let Some((side, number)) = writing.pending {
            if let Some(Some(file)) = writing.side(side).files.get_mut(number) {
                file.make_room()?;
            }
            writing.pending = None;
        }
        Ok(())
    }

    /// Puts a record off, by its key; [room](Self::make_room) has been made for it. Of an operator that may
    /// take so many bytes of memory.
    pub fn push(
        &mut self,
        execution: &mut Execution<'_>,
        memory: usize,
        (side, key): (Side, &[u8]),
        encode: impl FnOnce(&mut Vec<u8>) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let level = self.reading.as_ref().map_or(0, |reading| reading.level + 1);
        let writing = self.writing.get_or_insert_with(|| {
            let (build, probe) = (Files::default(), Files::default());
            Box::new(Writing { level, build, probe, filter: Filter::new(memory), pending: None })
        });
        let hash = crc32c(key);
        if side == Side::Build {
            writing.filter.add(hash);
        }
        let number = file_of(hash, level);
        let file = writing.side(side).files.get_mut(number).ok_or_else(missing)?;
        let file = file.get_or_insert_with(|| {
            execution.work.add(Work::CreatedTmpFiles, 1);
            SpillFile::new(execution.engine, memory / FILES)
        });
        file.push(encode)?;
        writing.pending = Some((side, number));
        Ok(())
    }

    /// Whether a record of the build side with this key may have been put off.
    pub fn may_have(&self, key: &[u8]) -> bool {
        let Some(writing) = &self.writing else { return false };
        let hash = crc32c(key);
        let file = writing.build.files.get(file_of(hash, writing.level));
        matches!(file, Some(Some(_))) && writing.filter.may_have(hash)
    }

    /// The build side has ended: waits until what was put off of it is written.
    pub fn end_build(&mut self) -> SqlAttempt<()> {
        self.make_room()?;
        match &mut self.writing {
            Some(writing) => writing.build.finish(),
            None => Ok(()),
        }
    }

    /// Both sides have ended: goes on to the next pair of files, false if there is none. May ask to wait.
    pub fn next_pair(&mut self) -> SqlAttempt<bool> {
        self.make_room()?;
        if let Some(writing) = &mut self.writing {
            writing.build.finish()?;
            writing.probe.finish()?;
        }
        if let Some(writing) = self.writing.take() {
            let Writing { level, build, probe, .. } = *writing;
            let build = build.runs.into_iter().zip(build.files);
            let probe = probe.runs.into_iter().zip(probe.files);
            // Without a record of the probe side there is nothing to decide on.
            self.waiting.extend(build.zip(probe).filter_map(|((build_run, build), (probe_run, probe))| {
                Some(Pair { level, build: (build_run, build?), probe: (probe_run, probe?) })
            }));
        }
        // The files that have been read are gone before others are opened.
        self.reading = None;
        self.reading = self.waiting.pop().map(|Pair { level, build, probe }| {
            let (build, probe) = (Input::new(build.0, build.1), Input::new(probe.0, probe.1));
            Reading { level, build, probe }
        });
        Ok(self.reading.is_some())
    }

    /// The next record of a side of the pair; `None` at its end. May ask to wait.
    pub fn next_record(&mut self, side: Side) -> SqlAttempt<Option<&[u8]>> {
        let Some(Reading { build, probe, .. }) = &mut self.reading else { return Ok(None) };
        let Input { reader, file } = match side {
            Side::Build => build,
            Side::Probe => probe,
        };
        match reader.next(file)? {
            Some(record) => Ok(Some(reader.bytes(record)?)),
            None => Ok(None),
        }
    }
}

/// The file of a level that records with this hash belong to.
fn file_of(hash: u32, level: u32) -> usize {
    if level < LEVELS { (hash >> (level * BITS)) as usize % FILES } else { 0 }
}

fn missing() -> SqlError {
    SqlError::internal("a record belongs to a partition")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_knows_what_was_added_and_little_else() {
        for memory in [0, 256 << 10, 64 << 20] {
            let mut filter = Filter::new(memory);
            let bits = filter.words.len() * 64;
            let hash = |number: usize| crc32c(&number.to_le_bytes());
            let added = bits / 16;
            (0..added).for_each(|number| filter.add(hash(number)));
            assert!((0..added).all(|number| filter.may_have(hash(number))));
            let wrong = (added..2 * added).filter(|number| filter.may_have(hash(*number))).count();
            assert!(wrong < added / 8, "{wrong} of {added}");
        }
    }

    #[test]
    fn each_level_has_its_bits() {
        let hash = 0x8765_4321;
        let files: Vec<usize> = (0..10).map(|level| file_of(hash, level)).collect();
        assert_eq!(files, [1, 2, 3, 4, 5, 6, 7, 8, 0, 0]);
    }
}
