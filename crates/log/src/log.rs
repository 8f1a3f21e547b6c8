//! The log as its users see it: setting up, appending, checkpoints. Waiting and flushing are in
//! [`durability`](crate::durability).
//!
//! ```text
//!   admit ─ reserve ─ copy ─ (before_link) ─ link      any thread; no lock, no system call
//!                                  └ tail ──> writer ──> flusher ──> durable_lsn
//!
//!   recovering ──start_after_recovery──> running ──shutdown──> stopping ──> stopped
//!        └───────── a failed write or sync, from any state ────────> failed
//! ```
//!
//! Lock order: checkpoint file, then writer.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU8;
use std::thread::JoinHandle;

use palisade_base::{Attempt, Blocked, Lsn};
use palisade_io::{File, FileSystem};

use crate::admission::{Admission, Granted, HELD};
use crate::checkpoint::{self, Checkpoint, CheckpointFile};
use crate::dirty::DirtyBuckets;
use crate::durability::Durability;
use crate::metrics::WaitCounters;
use crate::planted::{Planted, makes};
use crate::ring::{Ring, Words};
use crate::segments::{self, Directory, Place, Segment, Segments, Sizes};
use crate::sync::{AtomicBool, AtomicU64, CachePadded, Mutex, Ordering, load_ordered, store_ordered};
use crate::waits::WaitList;
use crate::writer::{Start, Starts, Writer};
use crate::{Error, LogConfig, LogReader, frame, metrics};

/// A range of the log: `start` is where a mini-transaction begins, `end` where the next one does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LsnRange {
    /// First byte.
    pub start: Lsn,
    /// After the last byte.
    pub end: Lsn,
}

/// Room in the log for one mini-transaction, taken by [`Log::admit`] and given back when dropped.
#[must_use]
pub struct Credit<'a> {
    log: &'a Log,
    granted: Granted,
}

impl Credit<'_> {
    /// Bytes of log still covered, frame headers included.
    pub fn bytes(&self) -> u64 {
        self.granted.bytes - HELD
    }
}

impl Drop for Credit<'_> {
    fn drop(&mut self) {
        self.log.admission.give_back(self.granted);
    }
}

/// What the log is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    Recovering,
    Running,
    Stopping,
    Stopped,
    Failed,
}

/// The redo log. See the [crate's documentation](crate).
pub struct Log {
    pub(crate) config: LogConfig,
    id: u64,
    pub(crate) ring: Ring,
    pub(crate) admission: Admission,
    pub(crate) writer: Mutex<Writer>,
    pub(crate) durability: Durability,
    pub(crate) tail_waits: WaitList,
    pub(crate) threads: Mutex<Vec<JoinHandle<()>>>,
    written: CachePadded<AtomicU64>,
    dirty: DirtyBuckets,
    pub(crate) checkpoint: Mutex<CheckpointFile>,
    checkpoint_lsn: AtomicU64,
    /// What the checkpoint record says is durable.
    vouched: AtomicU64,
    /// Physical positions, to tell how full the files are.
    position: AtomicU64,
    oldest_position: AtomicU64,
    /// Bytes of segments, and what they are to come to.
    total: AtomicU64,
    wanted: AtomicU64,
    /// Whether the files may have to be made more or fewer.
    is_resizing: AtomicBool,
    /// What the log buffer is to hold, as far as the capacity permits.
    buffer_size: AtomicU64,
    /// Whether appends are refused so that the log buffer can be exchanged.
    is_exchanging: AtomicBool,
    state: AtomicU8,
}

/// Fewest segments: the one being written, the one being prepared, the one being recycled.
const MIN_SEGMENTS: u64 = 4;
const DEFAULT_SEGMENTS: u64 = 32;
/// The largest segment, unless the configuration names a size: while one is made no checkpoint is written,
/// and the disk is to hold it before anything is written there.
const LARGEST_SEGMENT: u64 = 1 << 30;
/// Bytes of new segments that one [step](Log::adjust_capacity) makes, unless a single one is larger.
const STEP: u64 = 16 << 20;

/// A log buffer that is larger is not made smaller than this because the log's files become fewer. It has room for the
/// mini-transactions of whoever asks for no less.
pub const LEAST_BUFFER: usize = 2 << 20;

/// How a capacity is divided into segments.
fn sizes(config: &LogConfig, capacity: u64) -> Sizes {
    let wanted = match config.segment_size {
        0 => (capacity / DEFAULT_SEGMENTS).min(LARGEST_SEGMENT),
        size => size,
    };
    let segment = wanted.max(segments::SMALLEST).next_multiple_of(segments::UNIT);
    Sizes { capacity: capacity.max(MIN_SEGMENTS * segment), segment }
}

/// The log buffer: a small part of the log's capacity at most.
fn ring_bytes(buffer_size: usize, capacity: u64) -> usize {
    let largest = (capacity / 4 + 1).next_power_of_two() as usize / 2;
    buffer_size.min(largest).clamp(4096, 1 << 30).next_power_of_two()
}

/// What there is too little of while nothing is admitted.
fn scarce(files_are_full: bool) -> WaitCounters {
    if files_are_full { WaitCounters::FILE_SPACE } else { WaitCounters::BUFFER_SPACE }
}

impl Log {
    /// Whether there is a log in `dir`.
    pub fn exists(fs: &dyn FileSystem, dir: &Path) -> Result<bool, Error> {
        checkpoint::exists(fs, dir).map_err(Error::io("look for the checkpoint file"))
    }

    /// Creates an empty log in `dir` whose first mini-transaction will be at `start`, which is rounded up to a
    /// multiple of 8 and must not be 0; it runs at once. Until this has returned, there is no log.
    pub fn create(
        fs: Arc<dyn FileSystem>,
        dir: &Path,
        config: LogConfig,
        start: Lsn,
    ) -> Result<Arc<Log>, Error> {
        assert!(start > Lsn::ZERO, "LSN 0 is before every log");
        let start = Start { lsn: Lsn(start.0.next_multiple_of(frame::ALIGNMENT as u64)), position: 0 };
        let sizes = sizes(&config, config.capacity);
        let record = Checkpoint {
            log_id: config.log_id,
            sequence: 1,
            epoch: 1,
            lsn: start.lsn,
            position: start.position,
            durable: start.lsn,
            segment: Place { number: 0, start: 0 },
        };
        let create = || {
            fs.create_dir_all(dir)?;
            let segments = Segments::create(fs.clone(), dir, config.access(), sizes)?;
            Ok((segments, CheckpointFile::create(&*fs, dir, config.access(), record)?))
        };
        let (segments, checkpoint) = create().map_err(Error::io("create the log"))?;
        let log = Self::assemble(config, segments, checkpoint);
        log.run(record.epoch, start, Starts::default())?;
        Ok(log)
    }

    /// Opens the log in `dir`. It takes no appends until [`Log::start_after_recovery`]; meanwhile everything the
    /// reader has returned counts as durable.
    pub fn open(
        fs: Arc<dyn FileSystem>,
        dir: &Path,
        config: LogConfig,
    ) -> Result<(Arc<Log>, LogReader), Error> {
        let checkpoint = CheckpointFile::open(&*fs, dir, config.access())?;
        let record = *checkpoint.current();
        let sizes = sizes(&config, config.capacity);
        let segments = Segments::open(fs, dir, config.access(), sizes, record.segment)
            .map_err(Error::io("open the segments"))?;
        let log = Self::assemble(config, segments, checkpoint);
        log.recovered_to(record.lsn);
        let reader = LogReader::new(log.clone(), &record);
        Ok((log, reader))
    }

    fn assemble(config: LogConfig, segments: Segments, checkpoint: CheckpointFile) -> Arc<Log> {
        let record = *checkpoint.current();
        let capacity = segments.sizes().capacity;
        let ring = Ring::new(ring_bytes(config.buffer_size, capacity));
        let on_disk = segments.total();
        Arc::new(Log {
            admission: Admission::new(ring.capacity()),
            writer: Mutex::new(Writer::new(segments, record.log_id, config.block_size)),
            durability: Durability::new(&config, record.lsn),
            tail_waits: WaitList::new(),
            threads: Mutex::new(Vec::new()),
            written: CachePadded(AtomicU64::new(record.lsn.0)),
            // While recovering, the log may be as large as an earlier, larger capacity allowed.
            dirty: DirtyBuckets::new(2 * capacity.max(on_disk), capacity),
            checkpoint: Mutex::new(checkpoint),
            checkpoint_lsn: AtomicU64::new(record.lsn.0),
            vouched: AtomicU64::new(record.durable.0),
            position: AtomicU64::new(record.position),
            oldest_position: AtomicU64::new(record.segment.start),
            // Until it runs, as if its files were complete.
            total: AtomicU64::new(on_disk.max(capacity)),
            wanted: AtomicU64::new(capacity),
            // An earlier life may have been larger.
            is_resizing: AtomicBool::new(true),
            buffer_size: AtomicU64::new(config.buffer_size as u64),
            is_exchanging: AtomicBool::new(false),
            state: AtomicU8::new(State::Recovering as u8),
            id: record.log_id,
            ring,
            config,
        })
    }

    /// Begins a new epoch at the end that `reader` finds, having read what was not read yet, and takes appends.
    pub fn start_after_recovery(self: &Arc<Self>, reader: LogReader) -> Result<(), Error> {
        assert!(reader.is_of(self), "a log is recovered with its own reader");
        let recovered = reader.finish()?;
        let mut file = self.checkpoint.lock();
        let record = *file.current();
        let next_epoch = if makes(Planted::EpochStays) { 0 } else { 1 };
        let epoch = record.epoch.max(recovered.epoch) + next_epoch;
        let end = recovered.end;
        let next = Checkpoint { epoch, durable: end.lsn, ..record };
        // With nothing whole behind the checkpoint, reading begins where the new epoch does, and not at half a
        // mini-transaction of the old one.
        let next = match end.lsn == record.lsn {
            true => Checkpoint {
                position: end.position,
                segment: self.writer.lock().segments.place_of(end.position),
                ..next
            },
            false => next,
        };
        // Both slots, so that no earlier epoch can be given out again even if one of them becomes unreadable.
        let written = file.write(next).and_then(|()| file.write(next));
        written.map_err(Error::io("write the checkpoint file"))?;
        self.vouched.store(next.durable.0, Ordering::Relaxed);
        let completed = self.writer.lock().segments.complete();
        completed.map_err(Error::io("complete the segments"))?;
        drop(file);
        self.run(epoch, recovered.end, recovered.starts)
    }

    fn run(self: &Arc<Self>, epoch: u32, at: Start, starts: Starts) -> Result<(), Error> {
        self.ring.reset(at.lsn);
        store_ordered(&self.written.0, at.lsn.0);
        self.durability.reset(at.lsn);
        let mut writer = self.writer.lock();
        writer.begin(epoch, at, starts);
        self.state.store(State::Running as u8, Ordering::SeqCst);
        self.publish(&writer);
        drop(writer);
        if self.config.background {
            self.start_threads().map_err(Error::io("start the log's threads"))?;
        }
        Ok(())
    }

    /// The reader has returned everything below `lsn`.
    pub(crate) fn recovered_to(&self, lsn: Lsn) {
        self.ring.reset(lsn);
        store_ordered(&self.written.0, lsn.0);
        self.durability.reset(lsn);
    }

    pub(crate) fn segment_at(&self, position: u64) -> Option<Segment> {
        self.writer.lock().segments.at(position).cloned()
    }

    pub(crate) fn state(&self) -> State {
        match self.state.load(Ordering::SeqCst) {
            0 => State::Recovering,
            1 => State::Running,
            2 => State::Stopping,
            3 => State::Stopped,
            _ => State::Failed,
        }
    }

    /// What a caller is told in this state, unless it is running.
    fn refusal(&self) -> Result<(), Error> {
        match self.state() {
            State::Running => Ok(()),
            State::Failed => Err(Error::Failed),
            State::Recovering | State::Stopping | State::Stopped => Err(Error::NotRunning),
        }
    }

    /// Room for appends of together `max_bytes` payload; the header of one frame is included. Taken before any
    /// latch; if there is none, the event tells when to ask again.
    pub fn admit(&self, max_bytes: usize) -> Attempt<Credit<'_>, Error> {
        let limit = self.max_payload();
        if max_bytes > limit {
            return Err(Error::TooLarge { bytes: max_bytes, limit }.into());
        }
        let bytes = frame::size(max_bytes) + HELD;
        let next = || self.ring.next().0;
        if let Some(granted) = self.admission.take(bytes, next) {
            self.write_early();
            return Ok(Credit { log: self, granted });
        }
        self.refusal()?;
        let scarce_before = scarce(self.files_are_full());
        self.make_room();
        let event = self.admission.wait();
        if let Some(granted) = self.admission.take(bytes, next) {
            scarce_before.count(0);
            return Ok(Credit { log: self, granted });
        }
        self.refusal()?;
        // What has made room in the buffer may have filled the files.
        let files_are_full = self.files_are_full();
        scarce(files_are_full).count(1);
        if !files_are_full {
            metrics::WAITS.increment();
        }
        Err(Blocked::Wait(event))
    }

    /// Lets all that wait for room try again, although none has been made: their reason to go on may have gone.
    pub fn wake_waiters(&self) {
        self.admission.wake();
    }

    /// The files say "full" by allowing nothing.
    fn files_are_full(&self) -> bool {
        self.admission.until() == 0 && !self.is_exchanging.load(Ordering::Relaxed)
    }

    /// The largest `max_bytes` that [`Log::admit`] accepts.
    pub fn max_payload(&self) -> usize {
        Admission::limit(self.ring.capacity()) as usize - frame::HEADER - HELD as usize
    }

    /// Appends one mini-transaction: reserves its range, copies it to the log buffer, calls `before_link` with the
    /// range (nobody can see a tail beyond it yet), and links it. Never waits; the credit must cover it.
    ///
    /// If `before_link` panics, the process aborts: the range it leaves behind could never be completed.
    pub fn append(
        &self,
        credit: &mut Credit<'_>,
        payload: &[u8],
        before_link: impl FnOnce(LsnRange),
    ) -> LsnRange {
        assert!(std::ptr::eq(credit.log, self), "credit is good for the log that gave it");
        let bytes = frame::size(payload.len());
        assert!(bytes <= credit.bytes(), "an append stays within the credit it was admitted with");
        let start = self.ring.reserve(bytes);
        self.admission.spend(&mut credit.granted, bytes);
        let range = LsnRange { start, end: start.advance(bytes) };
        let complete = AbortOnUnwind;
        let ring = self.ring.pin();
        ring.copy_in(start, payload);
        before_link(range);
        ring.link(start, payload.len());
        std::mem::forget(complete);
        if ring.advance_tail() {
            self.wake_tail_waiters();
        }
        metrics::WRITE_REQUESTS.increment();
        range
    }

    fn wake_tail_waiters(&self) {
        let tail = self.ring.tail_ordered();
        if self.tail_waits.first() <= tail {
            for waker in self.tail_waits.take_covered(tail) {
                waker.wake();
            }
        }
    }

    /// Every append that has begun ends at or below this, whether it is complete or not.
    pub fn reserved(&self) -> Lsn {
        self.ring.next()
    }

    /// Everything below is appended completely.
    pub fn tail(&self) -> Lsn {
        self.ring.tail()
    }

    /// Everything below has been given to the operating system.
    pub fn written_lsn(&self) -> Lsn {
        Lsn(load_ordered(&self.written.0))
    }

    /// Everything below survives a crash.
    pub fn durable_lsn(&self) -> Lsn {
        self.durability.durable()
    }

    /// A page is dirty from `lsn` on, the start of the range being appended. Called inside `before_link`.
    pub fn register_dirty(&self, lsn: Lsn) {
        self.dirty.register(lsn);
    }

    /// The page registered at `lsn` is clean, durably.
    pub fn unregister_dirty(&self, lsn: Lsn) {
        self.dirty.unregister(lsn);
    }

    /// The furthest LSN a checkpoint may be written for: no dirty page needs the log before it.
    pub fn checkpoint_candidate(&self) -> Lsn {
        let safe = self.checkpoint_lsn();
        let candidate = self.dirty.candidate(safe, self.tail());
        candidate.expect("the log's live part stays within the buckets")
    }

    /// Pages changed before this are on disk, for who looks on.
    pub fn oldest_dirty(&self) -> Lsn {
        let safe = self.checkpoint_lsn();
        // While this thread slept, the log may have gone on by a lap.
        self.dirty.candidate(safe, self.tail()).unwrap_or(safe)
    }

    /// Where recovery would start, at the latest.
    pub fn checkpoint_lsn(&self) -> Lsn {
        Lsn(self.checkpoint_lsn.load(Ordering::Acquire))
    }

    /// Everything below is durable, and a record outside of the log's segments says so.
    pub(crate) fn vouched_lsn(&self) -> Lsn {
        Lsn(self.vouched.load(Ordering::Relaxed))
    }

    /// Records durably that recovery may start at `lsn`, and recycles the log before it. `lsn` is rounded down to
    /// where reading can start. Blocks.
    pub fn write_checkpoint(&self, lsn: Lsn) -> Result<(), Error> {
        self.refusal()?;
        assert!(lsn <= self.tail(), "a checkpoint at {lsn:?} is beyond the log's end");
        self.flush_blocking(lsn)?;
        self.record_checkpoint(lsn)
    }

    /// Writes the checkpoint record for `lsn`, if it says anything new: where to start, or how much is durable.
    pub(crate) fn record_checkpoint(&self, lsn: Lsn) -> Result<(), Error> {
        let mut file = self.checkpoint.lock();
        let record = *file.current();
        let (start, segment) = {
            let writer = self.writer.lock();
            let lsn = if makes(Planted::CheckpointGoesTooFar) { writer.written() } else { lsn };
            let Some(start) = writer.start_before(lsn) else { return Ok(()) };
            (start, writer.segments.place_of(start.position))
        };
        let durable = self.durable_lsn();
        if start.lsn < record.lsn || (start.lsn == record.lsn && durable == record.durable) {
            return Ok(());
        }
        let next = Checkpoint { lsn: start.lsn, position: start.position, durable, segment, ..record };
        let written = match self.config.syncs_before_checkpoint {
            true => file.sync().and_then(|()| file.write(next)),
            false => file.write(next),
        };
        written.map_err(|error| self.fail("write the checkpoint file", error))?;
        self.vouched.store(durable.0, Ordering::Relaxed);
        if start.lsn == record.lsn {
            return Ok(());
        }
        self.checkpoint_lsn.store(start.lsn.0, Ordering::Release);
        metrics::CHECKPOINTS.increment();
        self.recycle(start).map_err(|error| self.fail("recycle a segment", error))
    }

    /// Puts the segments before `start` to use again.
    fn recycle(&self, start: Start) -> std::io::Result<()> {
        let mut writer = self.writer.lock();
        writer.forget_starts_before(start.lsn);
        self.dirty.forget_before(start.lsn);
        let position = writer.position();
        if writer.segments.recycle_before(start.position, position)? {
            let directory = writer.segments.directory();
            drop(writer);
            if !makes(Planted::NamesAreNotSynced) {
                directory.fs.sync_dir(&directory.path)?;
            }
            writer = self.writer.lock();
            writer.segments.adopt();
        }
        let first = writer.segments.place_of(start.position);
        self.oldest_position.store(first.start, Ordering::Relaxed);
        if writer.segments.lacks_a_segment(position) {
            self.is_resizing.store(true, Ordering::SeqCst);
        }
        self.publish(&writer);
        Ok(())
    }

    /// Has the log's files hold `capacity` bytes from now on (`innodb_redo_log_capacity`). Does not wait:
    /// [`Log::adjust_capacity`] makes what is missing, and what is too much goes as it becomes free. Appends go on
    /// meanwhile, and a crash at any moment of it finds a log.
    pub fn resize(&self, capacity: u64) {
        let mut writer = self.writer.lock();
        let sizes = sizes(&self.config, capacity);
        // What lies between the checkpoint and the tail: files, and a log buffer that may yet be as large as for the log before.
        let span = 2 * (sizes.capacity.max(writer.segments.total()) + self.ring.capacity());
        // Nothing is written while the writer is held, so no append gets further than that.
        let unreached = writer.written().advance(self.ring.capacity());
        self.dirty.resize(span, sizes.capacity, unreached);
        writer.segments.set_sizes(sizes);
        self.is_resizing.store(true, Ordering::SeqCst);
        self.publish(&writer);
    }

    /// One step towards the capacity asked for; whether there are more to come. Blocks. Called now and then by whoever
    /// writes checkpoints. If the disk is full, the log stays as large as it is, and goes on.
    pub fn adjust_capacity(&self) -> Result<bool, Error> {
        self.refusal()?;
        if !self.is_resizing.swap(false, Ordering::SeqCst) {
            return Ok(false);
        }
        // One at a time, and none while segments are being recycled: what one has synced the other may not adopt.
        let _file = self.checkpoint.lock();
        let mut writer = self.writer.lock();
        let sizes = writer.segments.sizes();
        let position = writer.position();
        let cut = (|| {
            let mut any = false;
            while writer.segments.cut_off(position, sizes.capacity / 4 * 3)? {
                any = true;
            }
            Ok(any)
        })();
        let cut = cut.map_err(Error::io("remove a segment"))?;
        let directory = writer.segments.directory();
        self.publish(&writer);
        drop(writer);
        if cut {
            self.sync_names(&directory)?;
        }
        let made = self.make_segments(&directory, sizes.segment)?;
        let writer = self.writer.lock();
        let lacks_more = writer.segments.lacks_a_segment(writer.position());
        let is_too_large = writer.segments.total() > writer.segments.sizes().capacity;
        if lacks_more || is_too_large {
            self.is_resizing.store(true, Ordering::SeqCst);
        }
        Ok(made && lacks_more)
    }

    /// Makes some of the missing segments and takes them into use; whether there were any to make.
    fn make_segments(&self, directory: &Directory, size: u64) -> Result<bool, Error> {
        let mut made = 0;
        while made < STEP {
            let writer = self.writer.lock();
            if !writer.segments.lacks_a_segment(writer.position()) {
                break;
            }
            drop(writer);
            // The capacity may be changed meanwhile: then the file is not wanted any more.
            let is_wanted = || {
                let writer = self.writer.lock();
                let segments = &writer.segments;
                segments.sizes().segment == size && segments.lacks_a_segment(writer.position())
            };
            let named = directory.make(size, &is_wanted).and_then(|file| match file {
                Some(file) => self.writer.lock().segments.name(file, size).map(|()| true),
                None => Ok(false),
            });
            if let Ok(false) = named {
                break;
            }
            if let Err(error) = named {
                // Not tried again until it is asked for again; a file that was half made is made anew then.
                let mut writer = self.writer.lock();
                let (total, sizes) = (writer.segments.total(), writer.segments.sizes());
                writer.segments.set_sizes(Sizes { capacity: total.min(sizes.capacity), ..sizes });
                self.publish(&writer);
                return Err(Error::io("make a segment")(error));
            }
            made += size;
        }
        if made > 0 {
            self.sync_names(directory)?;
            let mut writer = self.writer.lock();
            writer.segments.adopt();
            self.publish(&writer);
        }
        Ok(made > 0)
    }

    fn sync_names(&self, directory: &Directory) -> Result<(), Error> {
        let is_synced = !makes(Planted::NamesAreNotSynced);
        let synced = if is_synced { directory.fs.sync_dir(&directory.path) } else { Ok(()) };
        synced.map_err(|error| self.fail("sync the log's directory", error))
    }

    /// Has the log buffer hold `bytes` from now on (`innodb_log_buffer_size`), rounded up to a power of two, but not to more
    /// than the log's files permit. Does not wait: [`Log::adjust_buffer`] does it.
    pub fn resize_buffer(&self, bytes: usize) {
        self.buffer_size.store(bytes as u64, Ordering::SeqCst);
    }

    /// What the log buffer is to hold now: as much as was asked for and the log's files permit. It becomes larger when there are the
    /// files for it, and smaller when there are to be fewer, so that it keeps its size while they are exchanged.
    fn fitting_buffer(&self) -> usize {
        let (asked, current) =
            (self.buffer_size.load(Ordering::SeqCst) as usize, self.ring.capacity() as usize);
        let fitting = ring_bytes(asked, self.capacity());
        if asked < current {
            return fitting;
        }
        let (_, wanted) = self.file_sizes();
        fitting.max(current.min(ring_bytes(asked, wanted).max(LEAST_BUFFER)))
    }

    /// Gives the log buffer the size asked for; whether it has that now. Appends are refused for the moment in which those under
    /// way end and what they left is written. Blocks. Called now and then by whoever writes checkpoints.
    pub fn adjust_buffer(&self) -> Result<bool, Error> {
        self.refusal()?;
        let bytes = self.fitting_buffer();
        if bytes as u64 == self.ring.capacity() {
            return Ok(true);
        }
        let words = Words::new(bytes);
        let mut writer = self.writer.lock();
        self.is_exchanging.store(true, Ordering::SeqCst);
        // Whoever allows more again needs the writer.
        self.admission.allow_until(0);
        let is_idle = self.admission.becomes_idle();
        if is_idle {
            let written = writer.write(&self.ring, self.durable_lsn());
            if let Err(error) = written {
                drop(writer);
                return Err(self.fail("write to the log", error));
            }
            self.ring.replace(words);
            self.admission.set_capacity(self.ring.capacity());
        }
        self.is_exchanging.store(false, Ordering::SeqCst);
        self.publish(&writer);
        Ok(is_idle)
    }

    /// Bytes of the log buffer.
    pub fn buffer_size(&self) -> u64 {
        self.ring.capacity()
    }

    /// Writes to the log end at multiples of `bytes` from now on: `innodb_log_write_ahead_size`, 512 to 16384.
    pub fn set_write_ahead(&self, bytes: usize) {
        self.writer.lock().set_block_size(bytes);
    }

    /// What tells this log from others.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The log's files, with their paths.
    pub fn files(&self) -> Vec<(PathBuf, Arc<dyn File>)> {
        self.writer.lock().segments.listed()
    }

    /// Bytes of the log's files, and what they are to come to.
    pub fn file_sizes(&self) -> (u64, u64) {
        (self.total.load(Ordering::Relaxed), self.wanted.load(Ordering::Relaxed))
    }

    /// Age of the checkpoint as a part of what the log's files hold: at 1 appends wait for a checkpoint.
    pub fn capacity_used(&self) -> f64 {
        let oldest = self.oldest_position.load(Ordering::Relaxed);
        let used = self.position.load(Ordering::Relaxed).saturating_sub(oldest);
        used as f64 / self.usable_capacity() as f64
    }

    /// Bytes of log files that may be used before appends wait for a checkpoint.
    pub fn usable_capacity(&self) -> u64 {
        self.capacity() - self.reserve()
    }

    /// Bytes of segments that are counted on: those that there are, but not more than there are to be.
    fn capacity(&self) -> u64 {
        let (total, wanted) = self.file_sizes();
        total.min(wanted)
    }

    /// What is kept free for what was admitted and is not written: the ring, and padding for some small groups.
    fn reserve(&self) -> u64 {
        (self.ring.capacity() + (1 << 20)).min(self.capacity() / 2)
    }

    /// Copies what the log knows into its gauges. Whoever shows them calls this first; nobody waits for it.
    pub fn publish_metrics(&self) {
        let relaxed = |atom: &AtomicU64| atom.load(Ordering::Relaxed);
        let (checkpoint, oldest, tail) = (self.checkpoint_lsn().0, self.oldest_dirty().0, self.tail().0);
        let current = self.ring.next().0;
        let recent = self.durability.averages.recent(self.config.clock.monotonic());
        let used = relaxed(&self.position).saturating_sub(relaxed(&self.oldest_position));
        let gauges = [
            (&metrics::LSN_CURRENT, current),
            (&metrics::LSN_LAST_FLUSH, self.durable_lsn().0),
            (&metrics::LSN_LAST_CHECKPOINT, checkpoint),
            (&metrics::CHECKPOINT_AGE, current.saturating_sub(checkpoint)),
            (&metrics::LSN_DIRTY_PAGES_ADDED, tail),
            (&metrics::LSN_OLDEST_DIRTY, oldest),
            (&metrics::LSN_OLDEST_DIRTY_LOW, oldest),
            (&metrics::FLUSH_AVG_TIME, recent.average_us),
            (&metrics::FLUSH_MAX_TIME, recent.longest_us),
            (&metrics::FLUSH_LSN_AVG_RATE, recent.bytes_a_second),
            (&metrics::FREE_SPACE, self.usable_capacity().saturating_sub(used)),
            (&metrics::CONCURRENCY_MARGIN, self.reserve()),
        ];
        for (gauge, value) in gauges {
            gauge.set(value);
        }
    }

    /// The time over which flushes are averaged for the metrics: `innodb_flushing_avg_loops`.
    pub fn set_averaging(&self, seconds: u64) {
        self.durability.averages.set_window(seconds);
    }

    /// Publishes what a write or a checkpoint has changed: what was written, and how far appends may go.
    pub(crate) fn publish(&self, writer: &Writer) {
        let written = writer.written();
        store_ordered(&self.written.0, written.0);
        self.position.store(writer.position(), Ordering::Relaxed);
        self.total.store(writer.segments.total(), Ordering::Relaxed);
        self.wanted.store(writer.segments.sizes().capacity, Ordering::Relaxed);
        let left = writer.segments.end_position().saturating_sub(writer.position());
        let open = self.state() == State::Running && left >= self.reserve();
        let until = if open { written.0 + Admission::lead(self.ring.capacity()) } else { 0 };
        self.admission.allow_until(until);
    }

    /// Makes everything appended durable, and that it is known to be; ends the log's threads. Appends are refused from
    /// now on.
    pub fn shutdown(&self) -> Result<(), Error> {
        self.pass(State::Running, State::Stopping);
        self.admission.allow_until(0);
        let flushed = match self.state() {
            State::Stopping => {
                self.flush_blocking(self.tail()).and_then(|()| self.record_checkpoint(self.checkpoint_lsn()))
            }
            State::Failed => Err(Error::Failed),
            _ => Ok(()),
        };
        self.end();
        flushed
    }

    /// Ends the log's threads, as a crash would: what is not durable is lost. Appends are refused from now on. The threads hold
    /// the log: without this, or [`shutdown`](Self::shutdown), it is never dropped, and goes on writing to its files.
    pub fn abandon(&self) {
        self.pass(State::Running, State::Stopping);
        self.admission.allow_until(0);
        self.end();
    }

    fn end(&self) {
        self.pass(State::Stopping, State::Stopped);
        self.admission.wake();
        self.wake_everyone();
        let (threads, own) = (std::mem::take(&mut *self.threads.lock()), std::thread::current().id());
        // Whoever a thread has woken may be the last to use the log; that thread ends by itself.
        for thread in threads.into_iter().filter(|thread| thread.thread().id() != own) {
            thread.join().expect("the log's threads do not panic");
        }
    }

    /// Passes from one state to another, unless the state is a third.
    fn pass(&self, from: State, to: State) {
        let _ = self.state.compare_exchange(from as u8, to as u8, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// Something could not be written: nothing is promised from now on. Returns what to tell the caller, if the
    /// failure hook returns at all.
    pub(crate) fn fail(&self, action: &'static str, error: std::io::Error) -> Error {
        self.state.store(State::Failed as u8, Ordering::SeqCst);
        self.admission.allow_until(0);
        (self.config.on_failure)(&format!("cannot {action}: {error}"));
        self.wake_everyone();
        self.admission.wake();
        Error::Io { action, source: error }
    }
}

/// Aborts the process when dropped, which only unwinding does.
struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        eprintln!("palisade: redo log: an append was abandoned half way; aborting");
        std::process::abort();
    }
}
