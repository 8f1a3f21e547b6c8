//! Cleaners: they keep frames free and write dirty pages back, so that no session ever does.
//!
//! # Eviction
//!
//! Second chance: a hand goes round the frames. A page accessed since it last came by is spared and marked
//! cold; a cold clean page leaves memory; a cold dirty one leaves it too if its changes are few and can be
//! kept (`kept`), and else is written and then leaves. The hand moves until
//! `innodb_lru_scan_depth` frames are free. A cleaner of its own does that: the one that follows the log is
//! busy for as long as its batches take. Where it is the only cleaner, it frees frames between two batches.
//!
//! # Slices
//!
//! What the pacer wants written can be more than a disk writes in a second. The cleaner that follows the log
//! writes for
//! `SLICE` at most, then looks again: at the free frames where it is alone, at the checkpoint, and at the
//! pacer, whose plan has changed meanwhile. The sweep goes on where it ended. After a slice that the time cut
//! short the other cleaners help with the next one (`flush_list`).
//!
//! # Writing a page
//!
//! ```text
//!  under the shared latch:  reserve the frame for writing, take its dirty mark, copy the page
//!  then, without latch:     checksum, compression ─► log durable up to the newest page LSN ─► each sink writes its part
//!  then:                    unregister the dirty marks from the log, give the frames back
//! ```
//!
//! # Why it is right
//!
//! *The log comes first:* the copy's page LSN is durable in the log before the sink sees the copy. *A page is
//! written by one cleaner at a time*, because reserving is a compare-and-swap, so copies reach disk in the
//! order in which they were taken. *A page leaves memory only when what is on disk is what it is:* eviction
//! holds the exclusive latch and finds neither a dirty mark nor a write under way, or keeps all that was done
//! since the last write, and the mark with it. *The checkpoint waits:* a
//! mark taken is unregistered only after the sink has said that the page is durable; a change made after the
//! copy registered a mark of its own.
//!
//! A failed write or fsync leaves it unknown what is on disk, so the process aborts
//! ([`FatalHook`](crate::FatalHook)). A write for which the disk is too full is no such failure
//! ([`Error::Full`]): the batch stays what it is and is tried again, before this cleaner writes anything
//! else. Its pages may be torn by then, and the sink has what they are restored from until they are written.
//! What changes need meanwhile - log and frames - is used up by and by, so the pool says how much of it is
//! ([`BufferPool::full_disk_pressure`]), and lets those that wait for it look again with every attempt.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use palisade_base::{Lsn, PageId};
use palisade_io::{IoPool, WriteQueue};

use crate::error::Error;
use crate::flush_list::{Candidate, FlushList};
use crate::frames::{CLEAN, SCRATCH};
use crate::pacing::{Observation, Pacer, Plan, Reason};
use crate::page_size::PageSize;
use crate::planted::{Planted, makes};
use crate::pool::{BufferPool, Core};
use crate::sink::Batch;
use crate::space::{Space, is_no_space};
use crate::table::UNASKED;
use crate::{merging, metrics, neighbours};

/// Between two steps while there is something to pace.
const BUSY_PAUSE: Duration = Duration::from_millis(50);
/// Between two steps otherwise.
const QUIET_PAUSE: Duration = Duration::from_millis(500);
/// Between two steps while the pool is being resized: time for the other cleaners to free frames.
const RESIZE_PAUSE: Duration = Duration::from_millis(1);
/// Between two attempts to have everything on disk, while pages have to be read for that.
const READ_PAUSE: Duration = Duration::from_millis(10);
/// Between two checkpoints, unless the log runs full.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(1);

/// After a batch that was not full, the coordinator lets pages gather so long: each file of a batch is
/// synced, however few its pages are.
const GATHERING: Duration = Duration::from_millis(500);
/// From this part of the log's capacity on, pages are written as soon as the pacer wants it.
const HURRIED_AGE: f64 = 0.7;

/// So long the coordinator writes before it frees frames, checkpoints and plans again.
const SLICE: Duration = Duration::from_millis(100);

/// Pages of a slice at most: more are not written in that time, and what is chosen and not written is swept
/// again.
pub(crate) const SLICE_PAGES: usize = 4096;

/// From this part of the log's capacity on, every step checkpoints.
const EARLY_CHECKPOINT_AGE: f64 = 0.5;

/// Places are written into their maps when the log has them since so large a part of its capacity.
const PLACES_AGE: f64 = 0.125;

/// What a step did.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct StepReport {
    /// Pages that left memory.
    pub evicted: usize,
    /// Pages written.
    pub written: usize,
}

/// A page of the batch that is being written.
struct Writing {
    space: Arc<Space>,
    id: PageId,
    frame: u32,
    oldest: Lsn,
    /// The part of the batch that it is in.
    part: usize,
}

/// What one cleaner owns: its lane, its batch, and the queue that it writes through.
pub(crate) struct Cleaner {
    lane: usize,
    batch: Batch,
    queue: WriteQueue,
    /// The pages of the batch; none unless it is being written or the disk was too full for it.
    writing: Vec<Writing>,
    candidates: Vec<Candidate>,
    /// Candidates that are not in the batch yet; empty between two batches.
    rest: Vec<Candidate>,
    /// Pages of the batch that the disk was too full for, as [`Core`] counts them.
    stuck: usize,
}

/// The cleaner that follows the log, too.
pub(crate) struct Coordinator {
    cleaner: Cleaner,
    pacer: Pacer,
    last_checkpoint: Duration,
    /// Where the sweep for dirty pages goes on.
    position: usize,
    /// Until when pages gather, unless it is urgent.
    gathers_until: Duration,
    /// The last slice ended before the plan was carried out.
    is_cut_short: bool,
}

impl Cleaner {
    pub(crate) fn new(lane: usize, batch_pages: usize, page_size: PageSize, io: &Arc<IoPool>) -> Self {
        Cleaner {
            lane,
            batch: Batch::with_capacity(batch_pages, page_size),
            queue: WriteQueue::new(io.clone()),
            writing: Vec::new(),
            candidates: Vec::new(),
            rest: Vec::new(),
            stuck: 0,
        }
    }

    /// So many pages of the batch cannot be written for want of room.
    fn set_stuck(&mut self, core: &Core, pages: usize) {
        if self.stuck != pages {
            core.count_stuck(self.stuck, pages);
            self.stuck = pages;
        }
    }

    /// Frees frames until the target is reached or the hand has gone round twice. While the disk is full,
    /// clean pages leave all the same.
    fn evict(&mut self, pool: &BufferPool) -> Result<StepReport, Error> {
        let core = pool.core();
        let (frames, target) = (&core.frames, core.free_target());
        let again = self.write_again(core);
        let mut report = StepReport::default();
        let mut steps = 2 * frames.count();
        core.charge_lists();
        while steps > 0 && frames.free_count() < target {
            self.candidates.clear();
            while steps > 0 && frames.free_count() + self.candidates.len() < target {
                steps -= 1;
                let frame = (core.hand.fetch_add(1, Ordering::Relaxed) % frames.count()) as u32;
                let Some((id, space)) = pool.page_in(frame) else { continue };
                let entry = space.owned_entry(id.page);
                if entry.spare() {
                    continue;
                }
                let oldest = frames.oldest(frame);
                if oldest == CLEAN {
                    report.evicted += usize::from(evict_page(core, &space, id, frame));
                    continue;
                }
                frames.keeping.is_wanted(core.clock.monotonic());
                if frames.keeping.may_keep(frame, oldest) && keep_page(core, &space, id, frame) {
                    report.evicted += 1;
                } else if again.is_ok() {
                    self.candidates.push((id, frame));
                    if self.candidates.len() == self.batch.capacity() {
                        break;
                    }
                }
            }
            if again.is_err() {
                continue;
            }
            let written = self.write_candidates(pool)?;
            metrics::BUFFER_LRU_FLUSHED.add(written as u64);
            report.written += written;
            for &(id, frame) in &self.candidates {
                if let Some(space) = pool.space(id.space) {
                    report.evicted += usize::from(evict_page(core, &space, id, frame));
                }
            }
            core.charge_lists();
        }
        metrics::BUFFER_LRU_EVICTED.add(report.evicted as u64);
        let again = again?;
        metrics::BUFFER_LRU_FLUSHED.add(again as u64);
        report.written += again;
        Ok(report)
    }

    /// Pages of a batch.
    pub(crate) fn batch_pages(&self) -> usize {
        self.batch.capacity()
    }

    /// Writes those of `chosen` (at most a batch) that are still to be written. How many they were, with
    /// those that the disk was too full for before.
    pub(crate) fn write(&mut self, pool: &BufferPool, chosen: &[Candidate]) -> Result<usize, Error> {
        self.candidates.clear();
        self.candidates.extend_from_slice(chosen);
        self.write_candidates(pool)
    }

    /// Writes those of the candidates (at most a batch) that are still dirty, not being written, and whose
    /// latch is free; but first what the disk was too full for before. How many they were.
    fn write_candidates(&mut self, pool: &BufferPool) -> Result<usize, Error> {
        let core = pool.core();
        core.check_running()?;
        let before = self.write_again(core)?;
        self.copy_candidates(pool);
        if self.writing.is_empty() {
            return Ok(before);
        }
        self.batch.seal(core.tuning.compression_level(), core.blank);
        if !makes(Planted::LogIsNotFirst)
            && let Err(error) = core.log.flush_blocking(self.batch.newest_lsn())
        {
            return Err(core.stop(&format!("the log is not durable: {error}")));
        }
        Ok(before + self.write_batch(core)?)
    }

    /// Copies the candidates into the batch, one part of it for each sink that their spaces have.
    fn copy_candidates(&mut self, pool: &BufferPool) {
        let core = pool.core();
        self.candidates.sort_unstable();
        self.candidates.dedup();
        let mut rest = std::mem::take(&mut self.rest);
        rest.extend_from_slice(&self.candidates);
        neighbours::add(pool, core.tuning.flushing().neighbours, &mut rest, self.batch.capacity());
        while !rest.is_empty() {
            let part = self.batch.parts();
            let mut sink = None;
            rest.retain(|&(id, frame)| {
                let Some(space) = pool.space(id.space) else { return false };
                let own = space.sink();
                if !Arc::ptr_eq(sink.get_or_insert_with(|| own.clone()), &own) {
                    return true;
                }
                if let Some(oldest) = copy_page(core, &mut self.batch, &space, id, frame) {
                    if makes(Planted::MarksOfPagesGoEarly) {
                        core.unregister_dirty(oldest);
                    }
                    self.writing.push(Writing { space, id, frame, oldest, part });
                }
                false
            });
            if let Some(sink) = sink {
                self.batch.end_part(sink);
            }
        }
        self.rest = rest;
    }

    /// Whether there is a batch that the disk was too full for.
    fn has_unwritten(&self) -> bool {
        !self.writing.is_empty()
    }

    /// Writes the batch that the disk was too full for, if there is one, but for pages whose space is gone.
    /// How many they were.
    fn write_again(&mut self, core: &Core) -> Result<usize, Error> {
        if self.writing.is_empty() {
            return Ok(0);
        }
        core.check_running()?;
        let batch = &mut self.batch;
        self.writing.retain(|page| {
            let is_gone = page.space.is_detached();
            if is_gone {
                batch.forget(page.id.space);
                end_write(core, page);
            }
            !is_gone
        });
        if self.writing.is_empty() {
            self.batch.clear();
            self.set_stuck(core, 0);
            return Ok(0);
        }
        self.write_batch(core)
    }

    /// Writes the parts that have not been written, in order. How many pages they have.
    fn write_batch(&mut self, core: &Core) -> Result<usize, Error> {
        let mut written = 0;
        loop {
            match self.batch.write_part(self.lane, &mut self.queue) {
                Ok(Some(part)) => {
                    let before = self.writing.len();
                    self.writing.retain(|page| {
                        if page.part == part {
                            end_write(core, page);
                        }
                        page.part != part
                    });
                    written += before - self.writing.len();
                }
                Ok(None) => {
                    // The batch holds files, and the room of a dropped table's is waited for.
                    self.batch.clear();
                    self.set_stuck(core, 0);
                    return Ok(written);
                }
                Err(error) => {
                    if is_no_space(&error) {
                        self.set_stuck(core, self.writing.len());
                        core.wake_waiters();
                    }
                    return Err(write_failed(core, "pages", error));
                }
            }
        }
    }
}

/// Copies a dirty page into the batch and takes its dirty mark.
fn copy_page(core: &Core, batch: &mut Batch, space: &Space, id: PageId, frame: u32) -> Option<Lsn> {
    let entry = space.owned_entry(id.page);
    if !entry.latch.try_lock_shared() {
        return None;
    }
    let mut oldest = None;
    if entry.frame() == Some(frame) && core.frames.begin_write(frame) {
        oldest = core.frames.take_dirty(frame);
        if oldest.is_some() {
            // SAFETY: a frame is a page of initialised bytes; the shared latch keeps writers away.
            let page = unsafe { core.frames.memory.page(frame).as_ref() };
            if batch.push(id, space.file(), page) {
                space.needs_no_run(id.page);
            }
            if let Some(packing) = space.packing() {
                batch.pack_last(packing);
            }
        } else {
            let discarded = core.frames.end_write(frame);
            debug_assert!(!discarded, "a space is not detached under a shared latch of its page");
        }
    }
    entry.latch.unlock_shared();
    oldest
}

/// The page is on disk, or its space is gone. Frees the frame if it lost its page meanwhile.
fn end_write(core: &Core, page: &Writing) {
    if !makes(Planted::MarksOfPagesGoEarly) {
        core.unregister_dirty(page.oldest);
    }
    if core.frames.end_write(page.frame) {
        core.frames.give_free(page.frame);
    }
}

/// Takes a page out of memory if it is clean and nobody holds it.
fn evict_page(core: &Core, space: &Space, id: PageId, frame: u32) -> bool {
    let frames = &core.frames;
    let entry = space.owned_entry(id.page);
    if !entry.latch.try_lock_exclusive() {
        return false;
    }
    let evict = entry.frame() == Some(frame) && frames.oldest(frame) == CLEAN && !frames.is_writing(frame);
    if evict {
        entry.set_frame(None);
        frames.set_owner(frame, None);
    }
    entry.latch.unlock_exclusive(evict);
    if evict {
        if entry.heat() == UNASKED {
            metrics::BUFFER_POOL_READ_AHEAD_EVICTED.increment();
        }
        frames.give_free(frame);
    }
    evict
}

/// Takes a dirty page out of memory that no thread holds, and keeps what was done to it, if that is short
/// enough.
fn keep_page(core: &Core, space: &Space, id: PageId, frame: u32) -> bool {
    let entry = space.owned_entry(id.page);
    if !entry.latch.try_lock_exclusive() {
        return false;
    }
    let is_there = entry.frame() == Some(frame) && !core.frames.is_writing(frame);
    let kept = is_there && space.keep(id.page, frame);
    entry.latch.unlock_exclusive(kept);
    if kept {
        core.frames.give_free(frame);
    }
    kept
}

impl Coordinator {
    pub(crate) fn new(cleaner: Cleaner) -> Self {
        Coordinator {
            cleaner,
            pacer: Pacer::default(),
            last_checkpoint: Duration::ZERO,
            position: 0,
            gathers_until: Duration::ZERO,
            is_cut_short: false,
        }
    }

    /// Writes what the disk was too full for before, and what the pacer asks for.
    fn flush(&mut self, pool: &BufferPool) -> Result<usize, Error> {
        let core = pool.core();
        let before = self.cleaner.write_again(core)?;
        Ok(before + self.flush_planned(pool)?)
    }

    fn flush_planned(&mut self, pool: &BufferPool) -> Result<usize, Error> {
        let core = pool.core();
        let now = core.clock.monotonic();
        let is_behind = std::mem::take(&mut self.is_cut_short);
        if now < self.gathers_until && core.log.capacity_used() < HURRIED_AGE {
            return Ok(0);
        }
        let kept = core.frames.keeping.pages();
        let seen = Observation {
            now,
            oldest: core.log.checkpoint_candidate(),
            tail: core.log.tail(),
            log_capacity: log_capacity(core),
            dirty: core.frames.unsaved_count().saturating_sub(kept),
            keepable: core.frames.keeping.keepable(),
            kept,
            frames: core.frames.size(),
        };
        let settings = core.tuning.flushing();
        let plan = self.pacer.plan(seen, &settings);
        let merged = merging::follow(pool, seen, plan)?;
        let Some(plan) = plan else { return Ok(0) };
        let metric = match plan.reason {
            Reason::Adaptive => &metrics::BUFFER_FLUSH_ADAPTIVE,
            Reason::Background => &metrics::BUFFER_FLUSH_BACKGROUND,
        };
        let mut chosen = self.choose(core, plan);
        let was_limited = chosen.len() == SLICE_PAGES;
        neighbours::add(pool, settings.neighbours, &mut chosen, SLICE_PAGES);
        let list = Arc::new(FlushList::new(chosen, Some(now + SLICE), metric));
        if is_behind && list.len() > self.cleaner.batch_pages() {
            pool.share(&list);
        }
        let outcome = self.carry_out(pool, &list);
        pool.unshare();
        outcome?;
        self.is_cut_short = was_limited || list.has_rest();
        if list.len() < self.cleaner.batch_pages() && merged == 0 {
            self.gathers_until = now + GATHERING;
        }
        Ok(list.written())
    }

    /// Writes what the list has; frees frames between two batches where no other cleaner does.
    fn carry_out(&mut self, pool: &BufferPool, list: &FlushList) -> Result<(), Error> {
        let is_alone = pool.evictors.is_empty();
        list.carry_out(pool, &mut self.cleaner, |cleaner| {
            if is_alone && pool.core().runs_short() {
                cleaner.evict(pool)?;
            }
            Ok(true)
        })
    }

    /// A sweep over the frames, from where the last one ended: pages changed first before `plan.below`, as
    /// many as a slice may write.
    fn choose(&mut self, core: &Core, plan: Plan) -> Vec<Candidate> {
        let frames = &core.frames;
        let most = plan.pages.min(SLICE_PAGES);
        let mut chosen = Vec::with_capacity(most.min(core.frames.dirty_count()));
        for _ in 0..frames.count() {
            if chosen.len() == most {
                break;
            }
            let frame = self.position as u32;
            self.position = (self.position + 1) % frames.count();
            if frames.oldest(frame) < plan.below.0.min(SCRATCH)
                && let Some(id) = frames.owner(frame)
            {
                chosen.push((id, frame));
            }
        }
        chosen
    }

    /// Writes the places that the log has from before `below` into their maps.
    fn write_places(&mut self, pool: &BufferPool, below: Lsn) -> Result<(), Error> {
        let core = pool.core();
        let Some(sink) = pool.out_of_place() else { return Ok(()) };
        core.check_running()?;
        match sink.checkpoint(below, &mut self.cleaner.queue) {
            Ok(_) => Ok(()),
            Err(error) => Err(write_failed(core, "places", error)),
        }
    }

    /// Writes a fuzzy checkpoint if one is due, and goes on with resizing the log and its buffer.
    fn checkpoint(&mut self, pool: &BufferPool) -> Result<(), Error> {
        let core = pool.core();
        let now = core.clock.monotonic();
        let due = now.saturating_sub(self.last_checkpoint) >= CHECKPOINT_INTERVAL
            || core.log.capacity_used() > EARLY_CHECKPOINT_AGE;
        if due {
            self.last_checkpoint = now;
            let below = match core.frames.unsaved_count() {
                0 => Lsn::MAX,
                _ => Lsn(core.log.tail().0.saturating_sub((log_capacity(core) as f64 * PLACES_AGE) as u64)),
            };
            // Full or not, checkpoints go on up to what keeps them.
            let _ = unless_stopped(self.write_places(pool, below))?;
            write_checkpoint(core)?;
            pool.out_of_place().into_iter().for_each(|sink| sink.give_room_back());
        }
        match core.log.adjust_buffer() {
            Ok(_) | Err(palisade_log::Error::NotRunning) => {}
            Err(error) => return Err(core.stop(&format!("the log buffer cannot be resized: {error}"))),
        }
        match core.log.adjust_capacity() {
            Ok(_) | Err(palisade_log::Error::NotRunning) => Ok(()),
            Err(error @ palisade_log::Error::Io { .. }) => {
                // It stays as large as it is.
                eprintln!("palisade: the redo log cannot be resized: {error}");
                Ok(())
            }
            Err(error) => Err(core.stop(&format!("the redo log cannot be resized: {error}"))),
        }
    }
}

/// What a failure to write pages or their places means.
fn write_failed(core: &Core, what: &str, error: std::io::Error) -> Error {
    match is_no_space(&error) {
        true => Error::Full { source: Arc::new(error) },
        false => core.stop(&format!("writing {what} failed: {error}")),
    }
}

/// Lets recovery begin where the oldest change not on disk begins. Data files are durable up to there: marks
/// are unregistered only after the sink's fsync.
fn write_checkpoint(core: &Core) -> Result<(), Error> {
    let candidate = core.log.checkpoint_candidate();
    if candidate <= core.log.checkpoint_lsn() {
        return Ok(());
    }
    match core.log.write_checkpoint(candidate) {
        // While recovery runs, the checkpoint stays where it began.
        Ok(()) | Err(palisade_log::Error::NotRunning) => Ok(()),
        Err(error) => Err(core.stop(&format!("no checkpoint can be written: {error}"))),
    }
}

/// A full disk keeps pages from being written, but what else is to be done is done all the same: the log may
/// become smaller by it.
fn unless_stopped<T>(outcome: Result<T, Error>) -> Result<Result<T, Error>, Error> {
    match outcome {
        Err(error) if !matches!(error, Error::Full { .. }) => Err(error),
        outcome => Ok(outcome),
    }
}

/// Bytes of log that may lie between the oldest change not on disk and the tail, going by how much of the
/// log's files the checkpoint's age takes up now: padding makes that more than the bytes themselves.
fn log_capacity(core: &Core) -> u64 {
    let (used, checkpoint) = (core.log.capacity_used(), core.log.checkpoint_lsn());
    let age = core.log.tail().0.saturating_sub(checkpoint.0);
    if used > 0.0 { (age as f64 / used) as u64 } else { u64::MAX }
}

impl BufferPool {
    /// One round of all that the cleaner threads do, on this thread: frees frames, writes what the log wants
    /// written, writes a checkpoint if it is due. For simulations, which have no threads.
    pub fn step(&self) -> Result<StepReport, Error> {
        let mut coordinator = self.coordinator.lock();
        let evicted = unless_stopped(coordinator.cleaner.evict(self))?;
        let flushed = unless_stopped(coordinator.flush(self))?;
        coordinator.checkpoint(self)?;
        self.step_resize();
        let mut report = evicted?;
        report.written += flushed?;
        Ok(report)
    }

    /// The coordinator thread's round; how long to pause after it.
    pub(crate) fn step_coordinator(&self) -> Result<Duration, Error> {
        let mut coordinator = self.coordinator.lock();
        let evicted = match self.evictors.is_empty() {
            true => unless_stopped(coordinator.cleaner.evict(self))?,
            false => Ok(StepReport::default()),
        };
        let flushed = unless_stopped(coordinator.flush(self))?;
        coordinator.checkpoint(self)?;
        let resizes = self.step_resize();
        self.publish_metrics();
        evicted?;
        flushed?;
        Ok(match coordinator.is_cut_short {
            true => Duration::ZERO,
            false if resizes => RESIZE_PAUSE,
            false if self.unsaved_pages() > 0 => BUSY_PAUSE,
            false => QUIET_PAUSE,
        })
    }

    /// An evictor thread's round; how long to pause after it.
    pub(crate) fn step_evictor(&self, lane: usize) -> Result<Duration, Error> {
        let mut cleaner = self.evictors[lane - 1].lock();
        cleaner.evict(self)?;
        if let Some(list) = self.shared() {
            list.carry_out(self, &mut cleaner, |_| Ok(!self.core().runs_short()))?;
        }
        let short = self.free_frames() < self.core().free_target();
        Ok(if short { BUSY_PAUSE } else { QUIET_PAUSE })
    }

    /// Writes every dirty page, then a checkpoint. Pages changed meanwhile are written, too: it ends when
    /// there are none. With cleaners that have threads, each of them writes.
    pub fn checkpoint_sharply(&self) -> Result<(), Error> {
        let mut coordinator = self.coordinator.lock();
        for evictor in &self.evictors {
            evictor.lock().write_again(self.core())?;
        }
        while self.unsaved_pages() > 0 || coordinator.cleaner.has_unwritten() {
            let before = coordinator.cleaner.write_again(self.core())?;
            if self.kept_pages() > 0 {
                merging::merge_all(self)?;
                coordinator.cleaner.evict(self)?;
            }
            let list = FlushList::new(self.all_dirty(), None, &metrics::BUFFER_FLUSH_SYNC);
            self.write_all(&list, &mut coordinator)?;
            if before + list.written() == 0 {
                // Latched, being written by an evictor, or being read.
                match self.kept_pages() {
                    0 => std::thread::yield_now(),
                    _ => std::thread::sleep(READ_PAUSE),
                }
            }
        }
        self.core().check_running()?;
        coordinator.write_places(self, Lsn::MAX)?;
        write_checkpoint(self.core())
    }

    /// Every page that is dirty as far as a look without latches tells, but for those of scratch spaces.
    fn all_dirty(&self) -> Vec<Candidate> {
        let frames = &self.core().frames;
        let dirty = (0..frames.count() as u32).filter(|&frame| frames.oldest(frame) < SCRATCH);
        dirty.filter_map(|frame| Some((frames.owner(frame)?, frame))).collect()
    }

    fn write_all(&self, list: &FlushList, coordinator: &mut Coordinator) -> Result<(), Error> {
        if !self.has_threads() || list.len() <= coordinator.cleaner.batch_pages() {
            return coordinator.carry_out(self, list);
        }
        std::thread::scope(|scope| {
            let helpers = self
                .evictors
                .iter()
                .map(|evictor| scope.spawn(|| list.carry_out(self, &mut evictor.lock(), |_| Ok(true))));
            let helpers: Vec<_> = helpers.collect();
            let own = coordinator.carry_out(self, list);
            let theirs = helpers.into_iter().map(|helper| helper.join().expect("a cleaner does not panic"));
            theirs.fold(own, |first, other| first.and(other))
        })
    }

    /// The page in a frame and its space, if there is one and it is attached.
    pub(crate) fn page_in(&self, frame: u32) -> Option<(PageId, Arc<Space>)> {
        let id = self.core().frames.owner(frame)?;
        Some((id, self.space(id.space)?))
    }
}
