//! From the ring to the files.
//!
//! Whoever holds the [`Writer`] copies `[written, tail)` into groups at the physical cursor. A write begins and ends
//! at whole frames and ends at a whole block (`innodb_log_write_ahead_size`); a write larger than the group buffer, or
//! reaching a segment's end, is several groups. The writer also remembers where some of the writes begin, because that is where reading can start: a
//! checkpoint is rounded down to such a place.

use std::collections::VecDeque;
use std::sync::Arc;

use palisade_base::Lsn;
use palisade_io::counts::{self, FileUse};
use palisade_io::{AlignedBuf, File};

use crate::group::{self, GroupHeader};
use crate::metrics;
use crate::planted::{Planted, makes};
use crate::ring::Ring;
use crate::segments::{Segment, Segments, UNIT};

/// The largest `innodb_log_write_ahead_size`.
pub(crate) const LARGEST_BLOCK: usize = 16384;
/// Log bytes between remembered beginnings, at least.
const START_DISTANCE: u64 = 64 << 10;

/// A place where reading can start: a mini-transaction and a group begin here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) lsn: Lsn,
    pub(crate) position: u64,
}

/// Places where reading can start, a bounded number of bytes apart.
#[derive(Debug, Default)]
pub(crate) struct Starts(VecDeque<Start>);

impl Starts {
    /// Remembers a place if it is far enough from the last.
    pub(crate) fn note(&mut self, start: Start) {
        if self.0.back().is_none_or(|last| start.lsn.0 >= last.lsn.0 + START_DISTANCE) {
            self.0.push_back(start);
        }
    }

    fn last_before(&self, lsn: Lsn) -> Option<Start> {
        let after = self.0.partition_point(|start| start.lsn <= lsn);
        after.checked_sub(1).map(|index| self.0[index])
    }

    /// Forgets the places at and behind `lsn`.
    pub(crate) fn forget_from(&mut self, lsn: Lsn) {
        self.0.truncate(self.0.partition_point(|start| start.lsn < lsn));
    }

    fn forget_before(&mut self, lsn: Lsn) {
        while self.0.front().is_some_and(|start| start.lsn < lsn) {
            self.0.pop_front();
        }
    }
}

/// The block size for a setting.
fn block_size_of(bytes: usize) -> usize {
    bytes.next_power_of_two().clamp(group::UNIT, LARGEST_BLOCK)
}

pub(crate) struct Writer {
    pub(crate) segments: Segments,
    log_id: u64,
    epoch: u32,
    block_size: usize,
    buffer: AlignedBuf,
    /// Where the next group goes.
    position: u64,
    written: Lsn,
    unsynced: Vec<(u64, Arc<dyn File>)>,
    starts: Starts,
}

impl Writer {
    pub(crate) fn new(segments: Segments, log_id: u64, block_size: usize) -> Writer {
        let buffer = AlignedBuf::zeroed(group::LARGEST + LARGEST_BLOCK);
        let (unsynced, starts) = (Vec::new(), Starts::default());
        Writer {
            segments,
            log_id,
            epoch: 0,
            block_size: block_size_of(block_size),
            buffer,
            position: 0,
            written: Lsn::ZERO,
            unsynced,
            starts,
        }
    }

    /// Goes on at a place where everything before is durable. A log that was written in smaller blocks than the files
    /// now want goes on at the next whole unit; the reader looks there, too.
    pub(crate) fn begin(&mut self, epoch: u32, at: Start, starts: Starts) {
        self.epoch = epoch;
        let alignment = self.segments.at(at.position).map_or(1, Segment::alignment);
        let is_aligned = at.position.is_multiple_of(alignment);
        self.position = if is_aligned { at.position } else { at.position.next_multiple_of(UNIT) };
        self.written = at.lsn;
        self.starts = starts;
    }

    /// Writes end at multiples of `bytes` from now on, or of what the files want, if that is more.
    pub(crate) fn set_block_size(&mut self, bytes: usize) {
        self.block_size = block_size_of(bytes);
    }

    pub(crate) fn written(&self) -> Lsn {
        self.written
    }

    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Writes everything up to the ring's tail; whether there was anything. After an error the log is lost: some of
    /// the range may have been written.
    pub(crate) fn write(&mut self, ring: &Ring, durable: Lsn) -> std::io::Result<bool> {
        let tail = ring.tail();
        if tail == self.written {
            return Ok(false);
        }
        self.starts.note(Start { lsn: self.written, position: self.position });
        let mut from = self.written;
        while from < tail {
            from = self.write_group(ring, from, tail, durable)?;
        }
        ring.clear(self.written, tail);
        self.written = tail;
        Ok(true)
    }

    /// Writes one group with as much of `[from, to)` as fits; where it ends.
    fn write_group(&mut self, ring: &Ring, from: Lsn, to: Lsn, durable: Lsn) -> std::io::Result<Lsn> {
        if self.position >= self.segments.end_position() {
            self.segments.extend()?;
        }
        let segment = self.segments.at(self.position).expect("the writer stays within the segments");
        let offset = self.position - segment.place.start;
        let left = (segment.size - offset) as usize;
        let len = (to.since(from) as usize).min(group::LARGEST.min(left) - group::HEADER);
        let sealed = group::HEADER + len;
        let block = (self.block_size as u64).max(segment.alignment());
        let end = ((offset + sealed as u64).next_multiple_of(block) - offset) as usize;
        let padded = end.min(left);
        ring.copy_out(from, &mut self.buffer[group::HEADER..sealed]);
        let header = GroupHeader {
            len: len as u32,
            log_id: self.log_id,
            epoch: self.epoch,
            units: (padded / group::UNIT) as u16,
            start: from,
            position: self.position,
            durable: if makes(Planted::GroupVouchesForItself) { from.advance(len as u64) } else { durable },
        };
        header.seal(&mut self.buffer[..sealed]);
        self.buffer[sealed..padded].fill(0);

        let (number, file) = (segment.place.number, segment.file.clone());
        if offset == 0 {
            self.segments.note_first_lsn(self.position, from);
        }
        metrics::PENDING_WRITES.add(1);
        let written = file.write_at(&self.buffer[..padded], offset);
        metrics::PENDING_WRITES.subtract(1);
        written?;
        counts::count_write(&*file, FileUse::Log, padded as u64);
        if self.unsynced.last().is_none_or(|(last, _)| *last != number) {
            self.unsynced.push((number, file));
        }
        self.position += padded as u64;
        metrics::WRITES.increment();
        metrics::WRITTEN_BYTES.add(padded as u64);
        metrics::PADDED_BYTES.add((padded - sealed) as u64);
        let kind = if padded > sealed { &metrics::PARTIAL_BLOCK_WRITES } else { &metrics::FULL_BLOCK_WRITES };
        kind.increment();
        Ok(from.advance(len as u64))
    }

    /// The files written to since the last call; the caller syncs them all.
    pub(crate) fn take_unsynced(&mut self) -> Vec<(u64, Arc<dyn File>)> {
        std::mem::take(&mut self.unsynced)
    }

    /// The last known place at or before `lsn` where reading can start.
    pub(crate) fn start_before(&self, lsn: Lsn) -> Option<Start> {
        if lsn >= self.written {
            return Some(Start { lsn: self.written, position: self.position });
        }
        self.starts.last_before(lsn)
    }

    /// No reading will start before `lsn` any more.
    pub(crate) fn forget_starts_before(&mut self, lsn: Lsn) {
        self.starts.forget_before(lsn);
    }
}
