//! Redo: bringing the pages up to the end of the log.
//!
//! The log is read in batches. Each operation of a batch goes to the share of one thread, chosen by its page;
//! that thread sorts its share by page, keeping the order within a page, and gives every page its own, those
//! whose record ends at or before the `page_lsn` being there already. Since an operation touches one page and
//! depends on nothing else, pages are independent of each other, and a page that is needed twice is still
//! read once.
//!
//! ```text
//! log ─► batch n + 1, read by the caller's thread
//!        batch n: threads ─► sort ─► read some pages ahead ─► apply
//! ```
//!
//! Place records are passed over: they have had a pass of their own, by which each page is where it was
//! written last.
//!
//! A page whose first operation formats it is not read at all: whatever the crash has made of it does not
//! matter.
//!
//! A page that has a change already has it where it was found, and that may be the operating system's memory:
//! a process that was killed has synced nothing. So in the end the files are synced whose pages the log
//! speaks of.
//!
//! A batch may change more pages than there are frames: either the pool's cleaners are running, or whoever
//! waits for a frame cleans ([`Wait`]).

use std::collections::HashMap;
use std::sync::Arc;
use std::thread::ScopedJoinHandle;

use palisade_base::codec::Reader;
use palisade_base::event::retry_after;
use palisade_base::{Blocked, Event, Lsn, PageId, SpaceId};
use palisade_buffer::places::record as place_record;
use palisade_buffer::{PageRead, Space};
use palisade_log::{LogReader, LsnRange};

use crate::error::Error;
use crate::layout::page_type;
use crate::metrics;
use crate::op::{PageOp, PageOps};

/// Bytes of log that are sorted at once. Two batches are in memory.
const BATCH_BYTES: usize = 32 << 20;
/// So many pages each thread asks for at once; the next ones when it has come to the middle of these.
const READ_AHEAD: usize = 64;

/// How recovery finds spaces: gives the attached space, or `None` if its table was dropped and nothing of it
/// matters.
pub type OpenSpace<'a> = dyn FnMut(SpaceId) -> Result<Option<Arc<Space>>, Error> + 'a;

/// How recovery waits: returns when the event has happened, or when something was done for it to happen.
pub type Wait<'a> = dyn Fn(&Event) -> Result<(), Error> + Sync + 'a;

/// What recovery does with the redo of a page that is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDamage {
    /// It fails.
    Fail,
    /// It gives the page up: one that cannot be read stays so, one that the redo does not fit can be read no
    /// more.
    GiveUp,
}

/// What recovery has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recovered {
    /// Mini-transactions read.
    pub mtrs: u64,
    /// Operations applied to pages.
    pub applied: u64,
    /// Operations that the pages had already.
    pub skipped: u64,
    /// Operations on spaces that are gone.
    pub dropped: u64,
    /// Pages given up; one may count for each batch.
    pub given_up: u64,
    /// The end of the log.
    pub end: Lsn,
}

/// Applies everything `reader` still has. With more than one thread the log is read while they apply what has
/// been read before. Blocks: for startup, before anything else runs.
pub fn apply(
    reader: &mut LogReader,
    threads: usize,
    open_space: &mut OpenSpace<'_>,
    on_damage: OnDamage,
    wait: &Wait<'_>,
) -> Result<Recovered, Error> {
    let threads = threads.max(1);
    let mut total = Recovered { end: reader.checkpoint_lsn(), ..Recovered::default() };
    let mut spaces = Spaces { open: HashMap::new(), open_space };
    let (mut batch, mut next) = (Batch::new(threads), Batch::new(threads));
    batch.read(reader, &mut spaces, &mut total)?;
    while !batch.records.ranges.is_empty() {
        let Batch { records, shares } = &mut batch;
        let apply = |share: &mut Share| records.apply(share, on_damage, wait);
        let (done, read) = match &mut shares[..] {
            [share] => (apply(share), next.read(reader, &mut spaces, &mut total)),
            shares => std::thread::scope(|scope| {
                let workers: Vec<_> =
                    shares.iter_mut().map(|share| scope.spawn(move || apply(share))).collect();
                let read = next.read(reader, &mut spaces, &mut total);
                let join = |worker: ScopedJoinHandle<'_, _>| worker.join().expect("recovery does not panic");
                (workers.into_iter().map(join).sum(), read)
            }),
        };
        let Done { applied, skipped, given_up } = done?;
        total.applied += applied;
        total.skipped += skipped;
        total.given_up += given_up;
        read?;
        std::mem::swap(&mut batch, &mut next);
        next.clear();
    }
    spaces.sync_found(threads)?;
    Ok(total)
}

struct Spaces<'a> {
    open: HashMap<SpaceId, Option<Arc<Space>>>,
    open_space: &'a mut OpenSpace<'a>,
}

impl Spaces<'_> {
    fn find(&mut self, id: SpaceId) -> Result<Option<Arc<Space>>, Error> {
        if let Some(known) = self.open.get(&id) {
            return Ok(known.clone());
        }
        let space = (self.open_space)(id)?;
        self.open.insert(id, space.clone());
        Ok(space)
    }

    /// Makes durable what was found in the files: the log that it came from may be given up as soon as it
    /// runs again.
    fn sync_found(&self, threads: usize) -> Result<(), Error> {
        let found: Vec<_> = self.open.values().flatten().collect();
        let sync = |spaces: &[&Arc<Space>]| spaces.iter().try_for_each(|space| space.sync_found());
        let share = found.len().div_ceil(threads).max(1);
        if share >= found.len() {
            return Ok(sync(&found)?);
        }
        std::thread::scope(|scope| {
            let workers: Vec<_> =
                found.chunks(share).map(|spaces| scope.spawn(move || sync(spaces))).collect();
            let join = |worker: ScopedJoinHandle<'_, _>| worker.join().expect("a sync does not panic");
            workers.into_iter().try_for_each(join)
        })?;
        Ok(())
    }
}

/// Operations applied and skipped, and pages given up.
#[derive(Debug, Clone, Copy, Default)]
struct Done {
    applied: u64,
    skipped: u64,
    given_up: u64,
}

impl std::ops::AddAssign for Done {
    fn add_assign(&mut self, other: Done) {
        self.applied += other.applied;
        self.skipped += other.skipped;
        self.given_up += other.given_up;
    }
}

impl std::iter::Sum for Done {
    fn sum<I: Iterator<Item = Done>>(all: I) -> Done {
        all.fold(Done::default(), |mut sum, done| {
            sum += done;
            sum
        })
    }
}

/// A stretch of the log, dealt out to threads. Its memory is used again for the stretch after the next.
struct Batch {
    records: Records,
    shares: Vec<Share>,
}

/// The operations on the pages of one thread.
type Share = Vec<OpAt>;

/// What a batch's operations are read from.
struct Records {
    /// The payloads, one after the other.
    arena: Vec<u8>,
    /// The range of each mini-transaction.
    ranges: Vec<LsnRange>,
    /// The spaces of its pages; `None` for one that is gone.
    spaces: HashMap<SpaceId, Option<Arc<Space>>>,
}

/// An operation: its page, where in the arena it begins, and which mini-transaction it belongs to.
#[derive(Clone, Copy)]
struct OpAt {
    page: PageId,
    offset: u32,
    range: u32,
}

/// The operations of one page after those of the other.
fn by_page(share: &[OpAt]) -> impl Iterator<Item = &[OpAt]> {
    share.chunk_by(|a, b| a.page == b.page)
}

impl Batch {
    fn new(threads: usize) -> Batch {
        // All of it at once: growing would move, and the kernel clear, several times as much.
        let arena = Vec::with_capacity(BATCH_BYTES);
        let records = Records { arena, ranges: Vec::new(), spaces: HashMap::new() };
        Batch { records, shares: vec![Share::new(); threads] }
    }

    fn clear(&mut self) {
        self.records.arena.clear();
        self.records.ranges.clear();
        self.records.spaces.clear();
        self.shares.iter_mut().for_each(Vec::clear);
    }

    /// Reads the log on until the batch is full or the log ends. Blocks.
    fn read(
        &mut self,
        reader: &mut LogReader,
        spaces: &mut Spaces<'_>,
        total: &mut Recovered,
    ) -> Result<(), Error> {
        while self.records.arena.len() < BATCH_BYTES {
            let Some(record) = reader.next()? else { break };
            total.end = record.end;
            if place_record::is_record(record.payload) {
                // What becomes of them is settled; but a space of which the log has nothing else is spoken
                // of.
                let mut found = Ok(());
                let decoded = place_record::decode(record.payload, |placed| {
                    if found.is_ok() {
                        found = spaces.find(placed.page.space).map(drop);
                    }
                });
                decoded.map_err(|_| Error::CorruptedRecord { end: record.end })?;
                found?;
                continue;
            }
            total.mtrs += 1;
            total.dropped += self.add(record.payload, record.start, record.end, spaces)?;
        }
        Ok(())
    }

    /// Adds a mini-transaction. Gives the number of operations on spaces that are gone.
    fn add(&mut self, payload: &[u8], start: Lsn, end: Lsn, spaces: &mut Spaces<'_>) -> Result<u64, Error> {
        let Batch { records, shares } = self;
        let base = records.arena.len();
        let range = records.ranges.len() as u32;
        records.arena.extend_from_slice(payload);
        records.ranges.push(LsnRange { start, end });
        let mut dropped = 0;
        let mut last = None;
        let mut ops = PageOps::new(payload);
        loop {
            let offset = (base + payload.len() - ops.remaining()) as u32;
            let Some(op) = ops.next() else { return Ok(dropped) };
            let (page, _) = op.map_err(|_| Error::CorruptedRecord { end })?;
            let is_there = match last {
                Some((space, is_there)) if space == page.space => is_there,
                _ => records.is_there(page.space, spaces)?,
            };
            last = Some((page.space, is_there));
            if is_there {
                let share = (page.page.0 as usize ^ page.space.0 as usize) % shares.len();
                shares[share].push(OpAt { page, offset, range });
            } else {
                dropped += 1;
            }
        }
    }
}

impl Records {
    /// Whether there is a space that an operation names.
    fn is_there(&mut self, id: SpaceId, spaces: &mut Spaces<'_>) -> Result<bool, Error> {
        if let Some(known) = self.spaces.get(&id) {
            return Ok(known.is_some());
        }
        let space = spaces.find(id)?;
        let is_there = space.is_some();
        self.spaces.insert(id, space);
        Ok(is_there)
    }

    fn space(&self, id: SpaceId) -> Option<&Arc<Space>> {
        self.spaces.get(&id)?.as_ref()
    }

    fn decode(&self, at: &OpAt) -> Result<PageOp<'_>, Error> {
        let mut reader = Reader::new(&self.arena[at.offset as usize..]);
        match PageOp::decode(&mut reader, Some(at.page)) {
            Ok((_, op)) => Ok(op),
            Err(_) => Err(Error::CorruptedRecord { end: self.ranges[at.range as usize].end }),
        }
    }

    /// Applies a share, its pages in the order of their places in the files.
    fn apply(&self, share: &mut Share, on_damage: OnDamage, wait: &Wait<'_>) -> Result<Done, Error> {
        // Offsets grow as the log does.
        share.sort_unstable_by_key(|op| (op.page, op.offset));
        let mut sum = Done::default();
        let mut ahead = by_page(share);
        let mut asked = 0;
        for (number, ops) in by_page(share).enumerate() {
            if number + READ_AHEAD / 2 >= asked {
                self.read_ahead(ahead.by_ref().take(READ_AHEAD));
                asked += READ_AHEAD;
            }
            match self.apply_page(ops, on_damage, wait) {
                Ok(done) => sum += done,
                Err(error) if on_damage == OnDamage::GiveUp && error.is_damage() => {
                    metrics::RECOVERY_PAGES_GIVEN_UP.increment();
                    sum.given_up += 1;
                }
                Err(error) => return Err(error),
            }
        }
        metrics::RECOVERY_OPERATIONS.add(sum.applied);
        Ok(sum)
    }

    /// Has pages read that will be wanted soon, but for those that will be formatted.
    fn read_ahead<'a>(&self, pages: impl Iterator<Item = &'a [OpAt]>) {
        let is_formatted = |op| self.decode(op).is_ok_and(|op| op.formats());
        let first = |ops: &'a [OpAt]| ops.first().filter(|op| !is_formatted(op));
        let pages: Vec<PageId> = pages.filter_map(first).map(|op| op.page).collect();
        for run in pages.chunk_by(|a, b| a.space == b.space) {
            if let Some(space) = self.space(run[0].space) {
                space.read_ahead(run.iter().map(|page| page.page));
            }
        }
    }

    /// Applies operations on one page.
    fn apply_page(&self, ops: &[OpAt], on_damage: OnDamage, wait: &Wait<'_>) -> Result<Done, Error> {
        let Some(first) = ops.first() else { return Ok(Done::default()) };
        let (id, number) = (first.page, first.page.page);
        let Some(space) = self.space(id.space) else { return Ok(Done::default()) };
        let allocate = |pages| retry_after(|| space.ensure_allocated(pages).map_err(Blocked::up), wait);
        allocate(number.0.saturating_add(1))?;
        let is_formatted = self.decode(first)?.formats();
        let latch = || match is_formatted {
            true => space.create(number),
            false => space.exclusive(number),
        };
        let mut page = retry_after(|| latch().map_err(Blocked::up), wait)?;
        let page_lsn = page.page_lsn();
        let mut changed: Option<LsnRange> = None;
        let mut done = Done::default();
        let mut apply = |at: &OpAt| -> Result<(), Error> {
            let range = self.ranges[at.range as usize];
            let op = self.decode(at)?;
            if let PageOp::SetHighWater { pages } = op {
                // The file had this length when the operation was first done; the crash may have cost it.
                allocate(pages)?;
            }
            if range.end <= page_lsn {
                done.skipped += 1;
                return Ok(());
            }
            op.apply(&mut page).map_err(|what| Error::Corrupted { page: id, what })?;
            changed =
                Some(LsnRange { start: changed.map_or(range.start, |first| first.start), end: range.end });
            done.applied += 1;
            Ok(())
        };
        match ops.iter().try_for_each(&mut apply) {
            Ok(()) => {}
            Err(error) if on_damage == OnDamage::GiveUp && error.is_damage() => {
                // The page as it is lacks changes, which must not look like an answer, also after the next
                // start.
                page.set_page_type(page_type::GIVEN_UP);
                changed = self.whole_range(ops);
                metrics::RECOVERY_PAGES_GIVEN_UP.increment();
                done.given_up = 1;
            }
            Err(error) => {
                page.discard();
                return Err(error);
            }
        }
        if let Some(range) = changed {
            page.stamp(range);
        }
        Ok(done)
    }

    /// From the first of some operations to the last.
    fn whole_range(&self, ops: &[OpAt]) -> Option<LsnRange> {
        let (first, last) = (ops.first()?, ops.last()?);
        Some(LsnRange {
            start: self.ranges[first.range as usize].start,
            end: self.ranges[last.range as usize].end,
        })
    }
}
