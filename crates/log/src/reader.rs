//! Reading a log back.
//!
//! The reader follows the groups from the checkpoint's physical position, puts their ranges together and cuts frames
//! off. The log ends at the first group that cannot be read or does not belong: of another log or position, of an
//! earlier epoch, or not continuing where the last ended. A group of a *later* epoch continues at the end of the last
//! whole frame: there the recovery before it found the end. Where reading begins, no group tells which epoch the log is
//! in; the checkpoint record does.
//!
//! Whether an end may be believed: everything below the *known durable LSN* was readable once. That LSN is in the
//! checkpoint record; and if behind the end there is a readable group that was written when more was durable, it is
//! known from there. An end below it is [`Error::Corrupted`]; so is one before a segment that is missing, though later ones
//! were in use: then the newest checkpoint record may be unreadable, and the one before it need a segment that is gone.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::sync::Arc;

use palisade_base::Lsn;
use palisade_base::codec::Reader;
use palisade_io::AlignedBuf;

use crate::checkpoint::FAR;
use crate::group::{self, GroupHeader};
use crate::log::Log;
use crate::segments::{Segment, UNIT};
use crate::writer::{Start, Starts};
use crate::{Error, frame};

/// Half of what is read from the files at once, in bytes; no group is larger.
const CHUNK: usize = group::LARGEST;
/// How far behind the end, and behind each group that is found there, others are looked for, in bytes: more than is ever
/// unreadable in one place of a log that goes on. The last of them is the witness, as far away as it was written without a sync.
const LOOK_AHEAD: u64 = 64 << 20;

/// What one [`append`](crate::Log::append) wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MtrRecord<'a> {
    /// Where it begins.
    pub start: Lsn,
    /// Where the next one begins.
    pub end: Lsn,
    /// The bytes given to `append`.
    pub payload: &'a [u8],
}

/// Reads the log from the checkpoint to its end; see [`Log::open`].
pub struct LogReader {
    log: Arc<Log>,
    files: Files,
    log_id: u64,
    /// Bytes of all segments.
    log_bytes: u64,
    known_durable: Lsn,
    checkpoint: Start,
    epoch: u32,
    /// Where the next group should be.
    position: u64,
    /// The LSN at which it should start.
    expected: Lsn,
    /// Log bytes that were read, and how many of them were returned as frames.
    bytes: Vec<u8>,
    consumed: usize,
    /// LSN of `bytes[consumed]`: a frame begins here.
    lsn: Lsn,
    starts: Starts,
    ended: bool,
    accepts_damage: bool,
    loss: Option<Loss>,
    end: Option<LogEnd>,
}

/// Where and how a log ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogEnd {
    /// Every mini-transaction below is there.
    pub lsn: Lsn,
    /// The same place in the files.
    pub position: u64,
    /// Everything below was durable once, as far as the files tell.
    pub known_durable: Lsn,
    /// Whether the beginning of something is there that was never written whole: a group, or the first part
    /// of a mini-transaction. It was never reported durable.
    pub is_torn: bool,
}

/// What is lost of a damaged log whose damage is [accepted](LogReader::accept_damage).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Where the log stops being readable: everything before is there.
    pub from: Lsn,
    /// Everything below was durable once, as far as what is left tells.
    pub known_to: Lsn,
    /// What was found.
    pub reason: String,
}

/// What recovery leaves to the writer.
pub(crate) struct RecoveredEnd {
    pub(crate) epoch: u32,
    pub(crate) end: Start,
    pub(crate) starts: Starts,
}

impl LogReader {
    pub(crate) fn new(log: Arc<Log>, record: &crate::checkpoint::Checkpoint) -> LogReader {
        let checkpoint = Start { lsn: record.lsn, position: record.position };
        // With nothing durable behind the checkpoint, what belongs there was written after the record was, or not at all: a
        // group of an epoch before the record's is a leftover.
        let is_empty = record.durable == record.lsn;
        let log_bytes = log.writer.lock().segments.total();
        LogReader {
            log_bytes,
            files: Files::new(log.clone()),
            log,
            log_id: record.log_id,
            known_durable: record.durable,
            checkpoint,
            epoch: if is_empty { record.epoch } else { 0 },
            position: checkpoint.position,
            expected: checkpoint.lsn,
            bytes: Vec::new(),
            consumed: 0,
            lsn: checkpoint.lsn,
            starts: Starts::default(),
            ended: false,
            accepts_damage: false,
            loss: None,
            end: None,
        }
    }

    /// Damage ends the log from now on, as a torn write does, and is no error: what was behind it is
    /// [lost](Self::loss). For a log on a scratch disk: on a real one, what is left behind the damage would
    /// be a witness against it at the next start.
    pub fn accept_damage(&mut self) {
        self.accepts_damage = true;
    }

    /// Another reader of the same log, at the checkpoint. Of two readers the one that reads last is given to
    /// [`Log::start_after_recovery`]; what counts as durable follows the one that is reading.
    pub fn restarted(&self) -> LogReader {
        let record = *self.log.checkpoint.lock().current();
        self.log.recovered_to(record.lsn);
        LogReader { accepts_damage: self.accepts_damage, ..LogReader::new(self.log.clone(), &record) }
    }

    /// What was lost, once the end has been reached.
    pub fn loss(&self) -> Option<&Loss> {
        self.loss.as_ref()
    }

    /// Where and how the log ends, once the end has been reached.
    pub fn end_found(&self) -> Option<LogEnd> {
        self.end
    }

    /// Everything below was durable once, as far as what has been read tells.
    pub fn known_durable(&self) -> Lsn {
        self.known_durable
    }

    /// Where reading starts: a mini-transaction's beginning at or before the checkpoint.
    pub fn checkpoint_lsn(&self) -> Lsn {
        self.checkpoint.lsn
    }

    /// The next mini-transaction; `None` at the end of the log. Everything below the known durable LSN is there or
    /// the answer is [`Error::Corrupted`].
    #[expect(clippy::should_implement_trait, reason = "the record borrows from the reader")]
    pub fn next(&mut self) -> Result<Option<MtrRecord<'_>>, Error> {
        let len = loop {
            match self.frame_payload_len()? {
                Some(len) => break len,
                None if self.ended || !self.read_group()? => return Ok(None),
                None => {}
            }
        };
        let payload = self.consumed + frame::HEADER..self.consumed + frame::HEADER + len;
        let start = self.lsn;
        self.lsn = start.advance(frame::size(len));
        self.consumed += frame::size(len) as usize;
        self.log.recovered_to(self.lsn);
        Ok(self.bytes.get(payload).map(|payload| MtrRecord { start, end: self.lsn, payload }))
    }

    /// Reads to the end and tells what the writer needs to go on.
    pub(crate) fn finish(mut self) -> Result<RecoveredEnd, Error> {
        while self.next()?.is_some() {}
        self.log.recovered_to(self.lsn);
        let end = Start { lsn: self.lsn, position: self.position };
        // Where half a mini-transaction lies that the next epoch takes the place of, no reading will start.
        self.starts.forget_from(self.lsn);
        Ok(RecoveredEnd { epoch: self.epoch, end, starts: self.starts })
    }

    pub(crate) fn is_of(&self, log: &Arc<Log>) -> bool {
        Arc::ptr_eq(&self.log, log)
    }

    /// The payload length of the frame at `lsn`, if all of it has been read.
    fn frame_payload_len(&mut self) -> Result<Option<usize>, Error> {
        let mut reader = Reader::new(self.bytes.get(self.consumed..).unwrap_or_default());
        let Ok(header) = reader.u64() else { return Ok(None) };
        let Some(len) = frame::payload_len(header, self.lsn) else {
            self.damaged("no mini-transaction begins here".to_owned())?;
            self.ended = true;
            return Ok(None);
        };
        if frame::size(len) > self.log_bytes {
            self.damaged(format!("a mini-transaction of {len} bytes, more than the log has"))?;
            self.ended = true;
            return Ok(None);
        }
        let whole = self.bytes.len() - self.consumed >= frame::size(len) as usize;
        Ok(whole.then_some(len))
    }

    /// The log is damaged here: an error, unless that is accepted.
    fn damaged(&mut self, reason: String) -> Result<(), Error> {
        if !self.accepts_damage {
            return Err(Error::Corrupted { lsn: self.lsn, position: self.position, reason });
        }
        let known_to = self.known_durable.max(self.lsn);
        self.loss.get_or_insert(Loss { from: self.lsn, known_to, reason });
        Ok(())
    }

    /// Appends the next group's range to `bytes`; false at the end of the log.
    fn read_group(&mut self) -> Result<bool, Error> {
        let Some(header) = self.next_group()? else {
            self.end()?;
            return Ok(false);
        };
        let from = header.start;
        self.bytes.drain(..self.consumed);
        self.consumed = 0;
        self.bytes.truncate(from.since(self.lsn) as usize);
        if from == self.lsn {
            self.starts.note(Start { lsn: from, position: header.position });
        }
        self.bytes.extend_from_slice(self.files.range(group::HEADER, header.len as usize));
        self.epoch = header.epoch;
        self.known_durable = self.known_durable.max(header.durable);
        self.expected = from.advance(u64::from(header.len));
        self.position = header.position + header.size();
        Ok(true)
    }

    /// The group with which the log continues, left in `files`. An epoch may begin at the next whole unit instead; see
    /// [`Writer::begin`](crate::writer::Writer::begin). No other group of an epoch that has begun lies there.
    fn next_group(&mut self) -> Result<Option<GroupHeader>, Error> {
        let here = self.group_at(self.position)?.filter(|header| self.continues(header));
        if here.is_some() || self.position.is_multiple_of(UNIT) {
            return Ok(here);
        }
        let there = self.group_at(self.position.next_multiple_of(UNIT))?;
        Ok(there.filter(|header| self.continues(header)))
    }

    /// Whether the log continues with this group.
    fn continues(&self, header: &GroupHeader) -> bool {
        (header.epoch == self.epoch && header.start == self.expected) || self.begins_epoch(header)
    }

    fn begins_epoch(&self, header: &GroupHeader) -> bool {
        header.epoch > self.epoch && header.start == self.lsn
    }

    /// The intact group of this log at `position`, left in `files`; `None` if there is none.
    fn group_at(&mut self, position: u64) -> Result<Option<GroupHeader>, Error> {
        if !self.files.load(position, group::HEADER)? {
            return Ok(None);
        }
        let room = self.files.room(position);
        let Ok(Some((header, checksum))) = GroupHeader::parse(self.files.range(0, group::HEADER)) else {
            return Ok(None);
        };
        let len = u64::from(header.len);
        let possible = header.log_id == self.log_id
            && header.position == position
            && len > 0
            && len.is_multiple_of(frame::ALIGNMENT as u64)
            && group::HEADER as u64 + len <= header.size()
            && group::HEADER as u64 + len <= CHUNK as u64
            && header.size() <= room
            && header.epoch < u32::MAX
            && header.start.0 < FAR;
        if !possible || !self.files.load(position, group::HEADER + header.len as usize)? {
            return Ok(None);
        }
        let group = self.files.range(0, group::HEADER + header.len as usize);
        Ok(group::checksum_is(group, checksum).then_some(header))
    }

    /// Whether a group of this log was begun at `position`: its header says so, but it is not whole.
    fn is_torn_at(&mut self, position: u64) -> Result<bool, Error> {
        if !self.files.load(position, group::HEADER)? {
            return Ok(false);
        }
        let parsed = GroupHeader::parse(self.files.range(0, group::HEADER));
        let is_begun = parsed.is_ok_and(|parsed| {
            parsed.is_some_and(|(header, _)| header.log_id == self.log_id && header.position == position)
        });
        Ok(is_begun && self.group_at(position)?.is_none())
    }

    /// The log ends here, unless something says that more was durable.
    fn end(&mut self) -> Result<(), Error> {
        self.ended = true;
        let mut position = self.position;
        let mut limit = position + LOOK_AHEAD;
        while self.known_durable <= self.lsn && position < limit && self.files.is_present(position) {
            match self.group_at(position)? {
                Some(header) => {
                    self.known_durable = self.known_durable.max(header.durable);
                    position += header.size();
                    limit = position + LOOK_AHEAD;
                }
                None => position += group::UNIT as u64,
            }
        }
        let lost = self.log.writer.lock().segments.lost_group(self.log_id);
        if let Some(header) = lost.map_err(Error::io("read a segment"))? {
            let reason = format!("a segment is missing: a later one holds {}", header.start);
            self.damaged(reason)?;
        }
        self.end = Some(LogEnd {
            lsn: self.lsn,
            position: self.position,
            known_durable: self.known_durable,
            is_torn: self.consumed < self.bytes.len() || self.is_torn_at(self.position)?,
        });
        if self.known_durable > self.lsn {
            let reason = format!("the log ends here, but was durable up to {}", self.known_durable);
            self.damaged(reason)?;
        }
        Ok(())
    }
}

/// The segments as one sequence of positions, read through a buffer.
struct Files {
    log: Arc<Log>,
    buffer: AlignedBuf,
    /// What is in the buffer: the segment, and the part of it.
    segment: Option<Segment>,
    start: u64,
    len: usize,
    /// The position last asked for, relative to `start`.
    at: usize,
}

impl Files {
    fn new(log: Arc<Log>) -> Files {
        Files { log, buffer: AlignedBuf::zeroed(2 * CHUNK), segment: None, start: 0, len: 0, at: 0 }
    }

    /// Bytes from `position`, which was just loaded, to the end of its segment.
    fn room(&self, position: u64) -> u64 {
        self.segment.as_ref().map_or(0, |segment| segment.end().saturating_sub(position))
    }

    fn is_present(&self, position: u64) -> bool {
        self.log.segment_at(position).is_some()
    }

    /// Brings `[position, position + len)` into the buffer; false if it does not lie within a segment. `len` is at most
    /// [`CHUNK`].
    fn load(&mut self, position: u64, len: usize) -> Result<bool, Error> {
        let end = position + len as u64;
        if !(self.start <= position && end <= self.start + self.len as u64) {
            let Some(segment) = self.log.segment_at(position) else { return Ok(false) };
            if end > segment.end() {
                return Ok(false);
            }
            // What is read begins at a whole unit, as direct I/O wants it.
            let start = position / UNIT * UNIT;
            let len = (self.buffer.len() as u64).min(segment.end() - start) as usize;
            let buffer = self.buffer.get_mut(..len).unwrap_or_default();
            let read = segment.file.read_at(buffer, start - segment.place.start);
            read.map_err(Error::io("read a segment"))?;
            (self.start, self.len, self.segment) = (start, len, Some(segment));
        }
        self.at = (position - self.start) as usize;
        Ok(true)
    }

    /// `len` bytes at `offset` from the position last loaded.
    fn range(&self, offset: usize, len: usize) -> &[u8] {
        self.buffer.get(self.at + offset..self.at + offset + len).unwrap_or_default()
    }
}
