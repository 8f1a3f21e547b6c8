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

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU8;
use std::thread::JoinHandle;

use palisade_base::{Attempt, Blocked, Lsn};
use palisade_io::{File, FileSystem};

use crate::admission::{Admission, Granted};
use crate::checkpoint::{self, Checkpoint, CheckpointFile};
use crate::dirty::DirtyBuckets;
use crate::durability::Durability;
use crate::metrics::WaitCounters;
use crate::ring::Ring;
use crate::segments::Segments;
use crate::sync::{AtomicU64, CachePadded, Mutex, Ordering, load_ordered, store_ordered};
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
        self.granted.bytes
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
    pub(crate) ring: Ring,
    pub(crate) admission: Admission,
    pub(crate) writer: Mutex<Writer>,
    pub(crate) durability: Durability,
    pub(crate) tail_waits: WaitList,
    pub(crate) threads: Mutex<Vec<JoinHandle<()>>>,
    written: CachePadded<AtomicU64>,
    dirty: DirtyBuckets,
    checkpoint: Mutex<CheckpointFile>,
    checkpoint_lsn: AtomicU64,
    /// Physical positions, to tell how full the files are.
    position: AtomicU64,
    oldest_position: AtomicU64,
    /// Bytes that all segments hold, and how many segments that is.
    capacity: u64,
    segment_count: u64,
    state: AtomicU8,
}

/// Sizes derived from what was asked for.
struct Geometry {
    block_size: usize,
    segment_size: u64,
    segment_count: u64,
    ring_bytes: usize,
}

/// Fewest segments: the one being written, the one being prepared, the one being recycled.
const MIN_SEGMENTS: u64 = 4;
const DEFAULT_SEGMENTS: u64 = 32;

impl Geometry {
    fn of_new(config: &LogConfig) -> Geometry {
        let block_size = config.block_size.next_power_of_two().clamp(512, 16384);
        let wanted = match config.segment_size {
            0 => config.capacity / DEFAULT_SEGMENTS,
            size => size,
        };
        let segment_size = wanted.max(8192).next_multiple_of(block_size.max(4096) as u64);
        Self::with(config, block_size, segment_size)
    }

    fn with(config: &LogConfig, block_size: usize, segment_size: u64) -> Geometry {
        let segment_count = (config.capacity / segment_size).max(MIN_SEGMENTS);
        let largest = (segment_count * segment_size / 4 + 1).next_power_of_two() as usize / 2;
        let ring_bytes = config.buffer_size.max(4096).next_power_of_two().min(largest).min(1 << 30);
        Geometry { block_size, segment_size, segment_count, ring_bytes }
    }
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
        let Geometry { block_size, segment_size, segment_count, .. } = Geometry::of_new(&config);
        let record = Checkpoint {
            log_id: config.log_id,
            sequence: 1,
            epoch: 1,
            block_size: block_size as u32,
            lsn: start.lsn,
            position: start.position,
            durable: start.lsn,
            segment_size,
        };
        let create = || {
            fs.create_dir_all(dir)?;
            let segments = Segments::create(fs.clone(), dir, segment_size, config.direct, segment_count)?;
            Ok((segments, CheckpointFile::create(&*fs, dir, record)?))
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
        let checkpoint = CheckpointFile::open(&*fs, dir)?;
        let record = *checkpoint.current();
        let first = record.position / record.segment_size;
        let segments = Segments::open(fs, dir, record.segment_size, config.direct, first)
            .map_err(Error::io("open the segments"))?;
        let log = Self::assemble(config, segments, checkpoint);
        log.recovered_to(record.lsn);
        let reader = LogReader::new(log.clone(), &record);
        Ok((log, reader))
    }

    fn assemble(config: LogConfig, segments: Segments, checkpoint: CheckpointFile) -> Arc<Log> {
        let record = *checkpoint.current();
        let geometry = Geometry::with(&config, record.block_size as usize, record.segment_size);
        let ring = Ring::new(geometry.ring_bytes);
        let capacity = geometry.segment_count * geometry.segment_size;
        let oldest = record.position / record.segment_size * record.segment_size;
        let on_disk = segments.end_position().saturating_sub(oldest);
        Arc::new(Log {
            admission: Admission::new(ring.capacity()),
            writer: Mutex::new(Writer::new(segments, record.log_id, geometry.block_size)),
            durability: Durability::new(config.writer_threads, record.lsn),
            tail_waits: WaitList::new(),
            threads: Mutex::new(Vec::new()),
            written: CachePadded(AtomicU64::new(record.lsn.0)),
            // While recovering, the log may be as large as an earlier, larger capacity allowed.
            dirty: DirtyBuckets::new(2 * capacity.max(on_disk), capacity),
            checkpoint: Mutex::new(checkpoint),
            checkpoint_lsn: AtomicU64::new(record.lsn.0),
            position: AtomicU64::new(record.position),
            oldest_position: AtomicU64::new(oldest),
            capacity,
            segment_count: geometry.segment_count,
            state: AtomicU8::new(State::Recovering as u8),
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
        let epoch = record.epoch.max(recovered.epoch) + 1;
        let next = Checkpoint { epoch, durable: recovered.end.lsn, ..record };
        // Both slots, so that no earlier epoch can be given out again even if one of them becomes unreadable.
        let written = file.write(next).and_then(|()| file.write(next));
        written.map_err(Error::io("write the checkpoint file"))?;
        let first = record.position / record.segment_size;
        let completed = self.writer.lock().segments.complete(first, self.segment_count);
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

    pub(crate) fn segment(&self, number: u64) -> Option<Arc<dyn File>> {
        self.writer.lock().segments.file(number).cloned()
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
        let bytes = frame::size(max_bytes);
        let next = || self.ring.next().0;
        if let Some(granted) = self.admission.take(bytes, next) {
            self.write_early();
            return Ok(Credit { log: self, granted });
        }
        self.refusal()?;
        // The files say "full" by allowing nothing.
        let files_are_full = self.admission.until() == 0;
        let scarce = if files_are_full { WaitCounters::FILE_SPACE } else { WaitCounters::BUFFER_SPACE };
        self.make_room();
        let event = self.admission.wait();
        if let Some(granted) = self.admission.take(bytes, next) {
            scarce.count(0);
            return Ok(Credit { log: self, granted });
        }
        self.refusal()?;
        scarce.count(1);
        if !files_are_full {
            metrics::WAITS.increment();
        }
        Err(Blocked::Wait(event))
    }

    /// The largest `max_bytes` that [`Log::admit`] accepts.
    pub fn max_payload(&self) -> usize {
        Admission::limit(self.ring.capacity()) as usize - frame::HEADER
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
        assert!(bytes <= credit.granted.bytes, "an append stays within the credit it was admitted with");
        let start = self.ring.reserve(bytes);
        self.admission.spend(&mut credit.granted, bytes);
        let range = LsnRange { start, end: start.advance(bytes) };
        let complete = AbortOnUnwind;
        self.ring.copy_in(start, payload);
        before_link(range);
        self.ring.link(start, payload.len());
        std::mem::forget(complete);
        if self.ring.advance_tail() {
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

    /// Where recovery would start, at the latest.
    pub fn checkpoint_lsn(&self) -> Lsn {
        Lsn(self.checkpoint_lsn.load(Ordering::Acquire))
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
    fn record_checkpoint(&self, lsn: Lsn) -> Result<(), Error> {
        let mut file = self.checkpoint.lock();
        let record = *file.current();
        let Some(start) = self.writer.lock().start_before(lsn) else { return Ok(()) };
        let durable = self.durable_lsn();
        if start.lsn < record.lsn || (start.lsn == record.lsn && durable == record.durable) {
            return Ok(());
        }
        let next = Checkpoint { lsn: start.lsn, position: start.position, durable, ..record };
        file.write(next).map_err(|error| self.fail("write the checkpoint file", error))?;
        self.checkpoint_lsn.store(start.lsn.0, Ordering::Release);
        metrics::CHECKPOINTS.increment();
        self.recycle(start).map_err(|error| self.fail("recycle a segment", error))
    }

    /// Puts the segments before `start` to use again.
    fn recycle(&self, start: Start) -> std::io::Result<()> {
        let mut writer = self.writer.lock();
        writer.forget_starts_before(start.lsn);
        let first = start.position / writer.segments.size();
        if writer.segments.recycle_before(first, self.segment_count)? {
            let (fs, dir) = writer.segments.directory();
            drop(writer);
            fs.sync_dir(&dir)?;
            writer = self.writer.lock();
            writer.segments.adopt();
        }
        self.oldest_position.store(first * writer.segments.size(), Ordering::Relaxed);
        self.publish(&writer);
        Ok(())
    }

    /// Age of the checkpoint as a part of what the log's files hold: at 1 appends wait for a checkpoint.
    pub fn capacity_used(&self) -> f64 {
        let oldest = self.oldest_position.load(Ordering::Relaxed);
        let used = self.position.load(Ordering::Relaxed).saturating_sub(oldest);
        used as f64 / self.usable_capacity() as f64
    }

    /// Bytes of log files that may be used before appends wait for a checkpoint.
    pub fn usable_capacity(&self) -> u64 {
        self.capacity - self.reserve()
    }

    /// What is kept free for what was admitted and is not written: the ring, and padding for some small groups.
    fn reserve(&self) -> u64 {
        (self.ring.capacity() + (1 << 20)).min(self.capacity / 2)
    }

    /// Copies what the log knows into its gauges. Whoever shows them calls this first; nobody waits for it.
    pub fn publish_metrics(&self) {
        let relaxed = |atom: &AtomicU64| atom.load(Ordering::Relaxed);
        let (safe, tail) = (self.checkpoint_lsn(), self.tail());
        let current = self.ring.next().0;
        // While this thread slept, the log may have gone on by a lap.
        let oldest = self.dirty.candidate(safe, tail).unwrap_or(safe).0;
        let (checkpoint, tail) = (safe.0, tail.0);
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
        self.pass(State::Stopping, State::Stopped);
        self.admission.wake();
        self.wake_everyone();
        for thread in std::mem::take(&mut *self.threads.lock()) {
            thread.join().expect("the log's threads do not panic");
        }
        flushed
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
