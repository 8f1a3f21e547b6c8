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
//! The [filter](super::filter) has a bit for each hash of a build record that was put off: a probe record
//! whose bit is not set needs no file.

use palisade_expr::{SqlAttempt, SqlResult};

use super::filter::{FILTERS_OF_MEMORY, Filter};
use super::level::{FILES_OF_MEMORY, Input, LevelFiles, Written, hash_of};
use crate::context::Execution;

/// Bytes that a table of the build input may take of an operator's memory: what waits to be written on both
/// sides has room beside it, and the filter.
pub fn table_memory(memory: usize) -> usize {
    memory - 2 * (memory / FILES_OF_MEMORY) - memory / FILTERS_OF_MEMORY
}

/// One of the two inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// That which decides.
    Build,
    /// That on which is decided.
    Probe,
}

/// Records that are put off, as they are being written.
#[derive(Debug)]
struct Writing {
    build: LevelFiles,
    probe: LevelFiles,
    filter: Filter,
}

/// Two files that wait.
#[derive(Debug)]
struct Pair {
    level: u32,
    build: Option<Written>,
    probe: Written,
}

/// The pair that is being read.
#[derive(Debug)]
struct Reading {
    level: u32,
    build: Option<Input>,
    probe: Input,
}

/// Records of two inputs that an operator has put off.
#[derive(Debug, Default)]
pub struct PairedPartitions {
    writing: Option<Box<Writing>>,
    waiting: Vec<Pair>,
    reading: Option<Reading>,
    /// Records of the probe side are put off for themselves, too.
    keeps_lone: bool,
}

impl PairedPartitions {
    /// Nothing yet, of an operator that puts records of the probe side off although there are none of the
    /// build side that they might have to be asked on.
    pub fn keeping_lone() -> PairedPartitions {
        PairedPartitions { keeps_lone: true, ..PairedPartitions::default() }
    }

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
        writing.build.make_room()?;
        writing.probe.make_room()
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
            let (build, probe) = (LevelFiles::new(level, memory), LevelFiles::new(level, memory));
            Box::new(Writing { build, probe, filter: Filter::new(memory) })
        });
        let hash = hash_of(key);
        match side {
            Side::Build => {
                writing.filter.add(hash);
                writing.build.push(execution, hash, encode)
            }
            Side::Probe => writing.probe.push(execution, hash, encode),
        }
    }

    /// Whether a record of the build side with this key may have been put off.
    pub fn may_have(&self, key: &[u8]) -> bool {
        let Some(writing) = &self.writing else { return false };
        let hash = hash_of(key);
        writing.build.has_file(hash) && writing.filter.may_have(hash)
    }

    /// The build side has ended: waits until what was put off of it is written.
    pub fn end_build(&mut self) -> SqlAttempt<()> {
        match &mut self.writing {
            Some(writing) => writing.build.finish(),
            None => Ok(()),
        }
    }

    /// Both sides have ended: goes on to the next pair of files, false if there is none. May ask to wait.
    pub fn next_pair(&mut self) -> SqlAttempt<bool> {
        if let Some(writing) = &mut self.writing {
            writing.build.finish()?;
            writing.probe.finish()?;
        }
        if let Some(writing) = self.writing.take() {
            let (level, keeps_lone) = (writing.build.level(), self.keeps_lone);
            let files = writing.build.into_written().zip(writing.probe.into_written());
            // Without a record of the probe side there is nothing to decide on.
            let pairs = files.filter_map(|(build, probe)| Some(Pair { level, build, probe: probe? }));
            self.waiting.extend(pairs.filter(|pair| keeps_lone || pair.build.is_some()));
        }
        // The files that have been read are gone before others are opened.
        self.reading = None;
        self.reading = self.waiting.pop().map(|Pair { level, build, probe }| Reading {
            level,
            build: build.map(Written::read),
            probe: probe.read(),
        });
        Ok(self.reading.is_some())
    }

    /// The next record of a side of the pair; `None` at its end. May ask to wait.
    pub fn next_record(&mut self, side: Side) -> SqlAttempt<Option<&[u8]>> {
        let Some(Reading { build, probe, .. }) = &mut self.reading else { return Ok(None) };
        match side {
            Side::Build => build.as_mut().map_or(Ok(None), Input::next_record),
            Side::Probe => probe.next_record(),
        }
    }
}
