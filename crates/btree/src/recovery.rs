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
use crate::metrics;
use crate::op::{PageOp, PageOps};

/// Bytes of log that are sorted at once.
const BATCH_BYTES: usize = 32 << 20;

/// How recovery finds spaces: gives the attached space, or `None` if its table was dropped and nothing of it matters.
pub type OpenSpace<'a> = dyn FnMut(SpaceId) -> Result<Option<Arc<Space>>, Error> + 'a;

/// How recovery waits: returns when the event has happened, or when something was done for it to happen.
pub type Wait<'a> = dyn Fn(&Event) -> Result<(), Error> + Sync + 'a;

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
    /// The end of the log.
    pub end: Lsn,
}

/// Applies everything `reader` still has. Blocks: for startup, before anything else runs.
pub fn apply(
    reader: &mut LogReader,
    threads: usize,
    open_space: &mut OpenSpace<'_>,
    wait: &Wait<'_>,
) -> Result<Recovered, Error> {
    let mut total = Recovered { end: reader.checkpoint_lsn(), ..Recovered::default() };
    let mut spaces = Spaces { open: HashMap::new(), open_space };
    loop {
        let mut batch = Batch::default();
        while batch.arena.len() < BATCH_BYTES {
            let Some(record) = reader.next()? else { break };
            total.mtrs += 1;
            total.end = record.end;
            total.dropped += batch.add(record.payload, record.start, record.end, &mut spaces)?;
        }
        if batch.ranges.is_empty() {
            return Ok(total);
        }
        let (applied, skipped) = batch.apply(threads.max(1), &spaces, wait)?;
        total.applied += applied;
        total.skipped += skipped;
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

/// A stretch of the log, sorted by page.
#[derive(Default)]
struct Batch {
    /// The payloads, one after the other.
    arena: Vec<u8>,
    /// The range of each mini-transaction.
    ranges: Vec<LsnRange>,
    pages: HashMap<PageId, Vec<OpAt>>,
}

/// An operation: which mini-transaction it belongs to and where in the arena it begins.
#[derive(Clone, Copy)]
struct OpAt {
    range: u32,
    offset: u32,
}

impl Batch {
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

    fn apply(&self, threads: usize, spaces: &Spaces<'_>, wait: &Wait<'_>) -> Result<(u64, u64), Error> {
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
            let mut sum = (0, 0);
            for worker in workers {
                let (applied, skipped) = worker.join().expect("recovery does not panic")?;
                sum = (sum.0 + applied, sum.1 + skipped);
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
    ) -> Result<(u64, u64), Error> {
        pages.sort_unstable();
        let mut sum = (0, 0);
        for page in pages {
            let Some(Some(space)) = spaces.get(&page.space) else { continue };
            let (applied, skipped) = self.apply_page(space, page.page, &self.pages[page], wait)?;
            sum = (sum.0 + applied, sum.1 + skipped);
        }
        metrics::RECOVERY_OPERATIONS.add(sum.0);
        Ok(sum)
    }

    fn apply_page(
        &self,
        space: &Space,
        number: PageNo,
        ops: &[OpAt],
        wait: &Wait<'_>,
    ) -> Result<(u64, u64), Error> {
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
            None => return Ok((0, 0)),
        };
        let latch = || match is_formatted {
            true => space.create(number),
            false => space.exclusive(number),
        };
        let mut page = retry_after(|| latch().map_err(Blocked::up), wait)?;
        let page_lsn = page.page_lsn();
        let mut changed: Option<LsnRange> = None;
        let (mut applied, mut skipped) = (0, 0);
        let mut apply = |at: &OpAt| -> Result<(), Error> {
            let range = self.ranges[at.range as usize];
            if let PageOp::SetHighWater { pages } = decode(at)? {
                // The file had this length when the operation was first done; the crash may have cost it.
                allocate(pages)?;
            }
            if range.end <= page_lsn {
                skipped += 1;
                return Ok(());
            }
            decode(at)?.apply(&mut page).map_err(|what| Error::Corrupted { page: id, what })?;
            changed =
                Some(LsnRange { start: changed.map_or(range.start, |first| first.start), end: range.end });
            applied += 1;
            Ok(())
        };
        if let Err(error) = ops.iter().try_for_each(&mut apply) {
            page.discard();
            return Err(error);
        }
        if let Some(range) = changed {
            page.stamp(range);
        }
        Ok((applied, skipped))
    }
}
