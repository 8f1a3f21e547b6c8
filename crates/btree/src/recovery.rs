//! Redo: bringing the pages up to the end of the log.
//!
//! The log is read in batches. Of each batch the operations are first sorted by page, keeping their order; then every
//! page gets its own, those whose record ends at or before the `page_lsn` being there already. Since an operation touches
//! one page and depends on nothing else, pages are independent of each other: they are dealt out by page id to as many
//! threads as asked for, and a page that is needed twice is still read once.
//!
//! A page whose first operation formats it is not read at all: whatever the crash has made of it does not matter.
//!
//! A batch may change more pages than there are frames: either the pool's cleaners are running, or whoever waits for a
//! frame cleans ([`Wait`]).

use std::collections::HashMap;
use std::sync::Arc;

use palisade_base::event::retry_after;
use palisade_base::{Blocked, Event, Lsn, PageId, PageNo, SpaceId};
use palisade_buffer::{PageRead, Space};
use palisade_log::{LogReader, LsnRange};

use crate::error::Error;
use crate::layout::page_type;
use crate::metrics;
use crate::op::{PageOp, PageOps};

/// Bytes of log that are sorted at once.
const BATCH_BYTES: usize = 32 << 20;

/// How recovery finds spaces: gives the attached space, or `None` if its table was dropped and nothing of it matters.
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

/// Applies everything `reader` still has. Blocks: for startup, before anything else runs.
pub fn apply(
    reader: &mut LogReader,
    threads: usize,
    open_space: &mut OpenSpace<'_>,
    on_damage: OnDamage,
    wait: &Wait<'_>,
) -> Result<Recovered, Error> {
    let mut total = Recovered { end: reader.checkpoint_lsn(), ..Recovered::default() };
    let mut spaces = Spaces { open: HashMap::new(), open_space };
    loop {
        let mut batch = Batch::new(on_damage);
        while batch.arena.len() < BATCH_BYTES {
            let Some(record) = reader.next()? else { break };
            total.mtrs += 1;
            total.end = record.end;
            total.dropped += batch.add(record.payload, record.start, record.end, &mut spaces)?;
        }
        if batch.ranges.is_empty() {
            return Ok(total);
        }
        let done = batch.apply(threads.max(1), &spaces, wait)?;
        total.applied += done.applied;
        total.skipped += done.skipped;
        total.given_up += done.given_up;
    }
}

struct Spaces<'a> {
    open: HashMap<SpaceId, Option<Arc<Space>>>,
    open_space: &'a mut OpenSpace<'a>,
}

impl Spaces<'_> {
    fn is_there(&mut self, id: SpaceId) -> Result<bool, Error> {
        if let Some(known) = self.open.get(&id) {
            return Ok(known.is_some());
        }
        let space = (self.open_space)(id)?;
        let there = space.is_some();
        self.open.insert(id, space);
        Ok(there)
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

/// A stretch of the log, sorted by page.
struct Batch {
    /// The payloads, one after the other.
    arena: Vec<u8>,
    /// The range of each mini-transaction.
    ranges: Vec<LsnRange>,
    pages: HashMap<PageId, Vec<OpAt>>,
    on_damage: OnDamage,
}

/// An operation: which mini-transaction it belongs to and where in the arena it begins.
#[derive(Clone, Copy)]
struct OpAt {
    range: u32,
    offset: u32,
}

impl Batch {
    fn new(on_damage: OnDamage) -> Batch {
        Batch { arena: Vec::new(), ranges: Vec::new(), pages: HashMap::new(), on_damage }
    }

    /// Adds a mini-transaction. Gives the number of operations on spaces that are gone.
    fn add(&mut self, payload: &[u8], start: Lsn, end: Lsn, spaces: &mut Spaces<'_>) -> Result<u64, Error> {
        let base = self.arena.len();
        let range = self.ranges.len() as u32;
        self.arena.extend_from_slice(payload);
        self.ranges.push(LsnRange { start, end });
        let mut dropped = 0;
        let mut ops = PageOps::new(payload);
        loop {
            let offset = (base + payload.len() - ops.remaining()) as u32;
            let Some(op) = ops.next() else { return Ok(dropped) };
            let (page, _) = op.map_err(|_| Error::CorruptedRecord { end })?;
            if spaces.is_there(page.space)? {
                self.pages.entry(page).or_default().push(OpAt { range, offset });
            } else {
                dropped += 1;
            }
        }
    }

    fn apply(&self, threads: usize, spaces: &Spaces<'_>, wait: &Wait<'_>) -> Result<Done, Error> {
        let mut shares: Vec<Vec<PageId>> = vec![Vec::new(); threads];
        for page in self.pages.keys() {
            shares[(page.page.0 as usize ^ page.space.0 as usize) % threads].push(*page);
        }
        let open = &spaces.open;
        if threads == 1 {
            return self.apply_pages(&mut shares[0], open, wait);
        }
        std::thread::scope(|scope| {
            let workers: Vec<_> = shares
                .iter_mut()
                .map(|share| scope.spawn(move || self.apply_pages(share, open, wait)))
                .collect();
            let mut sum = Done::default();
            for worker in workers {
                sum += worker.join().expect("recovery does not panic")?;
            }
            Ok(sum)
        })
    }

    /// Pages in order of their place in the file, so that reading them is sequential.
    fn apply_pages(
        &self,
        pages: &mut [PageId],
        spaces: &HashMap<SpaceId, Option<Arc<Space>>>,
        wait: &Wait<'_>,
    ) -> Result<Done, Error> {
        pages.sort_unstable();
        let mut sum = Done::default();
        for page in pages {
            let Some(Some(space)) = spaces.get(&page.space) else { continue };
            match self.apply_page(space, page.page, &self.pages[page], wait) {
                Ok(done) => sum += done,
                Err(error) if self.on_damage == OnDamage::GiveUp && error.is_damage() => {
                    metrics::RECOVERY_PAGES_GIVEN_UP.increment();
                    sum.given_up += 1;
                }
                Err(error) => return Err(error),
            }
        }
        metrics::RECOVERY_OPERATIONS.add(sum.applied);
        Ok(sum)
    }

    fn apply_page(
        &self,
        space: &Space,
        number: PageNo,
        ops: &[OpAt],
        wait: &Wait<'_>,
    ) -> Result<Done, Error> {
        let id = PageId { space: space.id(), page: number };
        let decode = |at: &OpAt| {
            let end = self.ranges[at.range as usize].end;
            let mut reader = palisade_base::codec::Reader::new(&self.arena[at.offset as usize..]);
            let op = PageOp::decode(&mut reader, Some(id)).map_err(|_| Error::CorruptedRecord { end })?;
            Ok::<_, Error>(op.1)
        };
        let allocate = |pages| retry_after(|| space.ensure_allocated(pages).map_err(Blocked::up), wait);
        allocate(number.0.saturating_add(1))?;
        let is_formatted = match ops.first() {
            Some(first) => decode(first)?.formats(),
            None => return Ok(Done::default()),
        };
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
            if let PageOp::SetHighWater { pages } = decode(at)? {
                // The file had this length when the operation was first done; the crash may have cost it.
                allocate(pages)?;
            }
            if range.end <= page_lsn {
                done.skipped += 1;
                return Ok(());
            }
            decode(at)?.apply(&mut page).map_err(|what| Error::Corrupted { page: id, what })?;
            changed =
                Some(LsnRange { start: changed.map_or(range.start, |first| first.start), end: range.end });
            done.applied += 1;
            Ok(())
        };
        match ops.iter().try_for_each(&mut apply) {
            Ok(()) => {}
            Err(error) if self.on_damage == OnDamage::GiveUp && error.is_damage() => {
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
