//! Reading ahead: pages that will be wanted soon, before they are.
//!
//! A scan of a tree knows which leaves follow and says so ([`Space::read_ahead`]). Other readers do not: a
//! join that looks rows up in the order of their keys, a walk through a chain of pages. Their reads are
//! watched by extents of [`EXTENT`] pages, as InnoDB does:
//!
//! | read-ahead | begins when | what is read |
//! |---|---|---|
//! | linear | so many of its pages were read in order (`innodb_read_ahead_threshold`) | the next extent |
//! | random | [`CROWD`] pages of an extent are in memory (`innodb_random_read_ahead`) | the rest of it |
//!
//! ```text
//!  extent 4: page after page is missed          extent 5: read ahead         extent 6: read ahead
//!  |·|·|·|·| ... |·|·|    the 56th ──────────►  | | | | ... |m| | ────────►  | | | | ... |m| |
//!                                                   an access to the mark m reads the next
//! ```
//!
//! What was read ahead is not missed any more, so that one page of it is a *mark*: the first access to that
//! page says that the reader has come so far, and the extent after it is read.
//!
//! Watched are misses, under the mutex that a miss takes anyway, and the first access to a marked page: an
//! access to a page that has been accessed before costs nothing. So few extents are watched that reads all
//! over the space forget them before they have seen enough pages of one.

use std::sync::atomic::Ordering;

use palisade_base::metric::Metric;
use palisade_base::{Event, PageNo};
use smallvec::SmallVec;

use super::{Pending, Run, Slow, Space};
use crate::metrics;

/// Pages of an extent.
pub(crate) const EXTENT: u32 = 64;
/// What one reader has read ahead, at most.
const MOST_BYTES: usize = 1 << 20;
/// So many pages of an extent in memory have the others read.
const CROWD: usize = 13;
/// Extents of a space that are watched at once.
const WATCHED: usize = 8;

/// When pages are read that no session has asked for yet, set by the administrator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadAhead {
    /// Pages of an extent that are read in order before the next is read ahead
    /// (`innodb_read_ahead_threshold`); with 0, as with 1, the first is enough.
    pub threshold: u32,
    /// Whether the rest of an extent is read once enough of it is in memory (`innodb_random_read_ahead`).
    pub is_random: bool,
}

impl Default for ReadAhead {
    /// MySQL's.
    fn default() -> Self {
        ReadAhead { threshold: 56, is_random: false }
    }
}

/// Which way a reader goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Up,
    Down,
}

/// An extent to be read because a reader comes that way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Next {
    extent: u32,
    way: Way,
}

impl Next {
    fn after(extent: u32, way: Way) -> Option<Next> {
        let extent = match way {
            Way::Up => extent.checked_add(1)?,
            Way::Down => extent.checked_sub(1)?,
        };
        Some(Next { extent, way })
    }
}

/// What a miss has shown.
#[derive(Debug, Default)]
pub(super) struct More {
    next: Option<Next>,
    rest_of: Option<u32>,
}

/// What is known of the reads of an extent.
#[derive(Debug)]
struct Watched {
    extent: u32,
    last: PageNo,
    /// Pages missed that lie above the one missed before them, or below, since another extent was read for
    /// that; the first is one of both.
    up: u32,
    down: u32,
    /// The page whose access says that the next extent is to be read.
    mark: Option<(PageNo, Way)>,
}

/// The extents whose reads are watched, the latest first.
#[derive(Debug, Default)]
pub(super) struct Watch(SmallVec<[Watched; WATCHED]>);

impl Watch {
    /// The state of an extent, which is the latest now.
    fn extent(&mut self, extent: u32, page: PageNo) -> &mut Watched {
        let mut watched = match self.0.iter().position(|watched| watched.extent == extent) {
            Some(at) => self.0.remove(at),
            None => Watched { extent, last: page, up: 0, down: 0, mark: None },
        };
        if watched.up + watched.down == 0 {
            watched.last = page;
        }
        self.0.truncate(WATCHED - 1);
        self.0.insert(0, watched);
        &mut self.0[0]
    }

    /// A page is missed.
    fn missed(&mut self, page: PageNo, threshold: u32) -> Option<Next> {
        let watched = self.extent(page.0 / EXTENT, page);
        watched.up += u32::from(page >= watched.last);
        watched.down += u32::from(page <= watched.last);
        watched.last = page;
        let way = match () {
            () if watched.up >= threshold => Way::Up,
            () if watched.down >= threshold => Way::Down,
            () => return None,
        };
        (watched.up, watched.down) = (0, 0);
        Next::after(watched.extent, way)
    }

    /// The pages of `next` that are being read: one of them becomes the mark.
    fn is_read(&mut self, next: Next, run: &Run, threshold: u32) {
        let is_late = |page: PageNo| match next.way {
            Way::Up => page.0 % EXTENT + 1 >= threshold,
            Way::Down => page.0 % EXTENT + threshold <= EXTENT,
        };
        let mut late = run.iter().map(|&(page, _)| page).filter(|&page| is_late(page));
        let mark = match next.way {
            Way::Up => late.next(),
            Way::Down => late.next_back(),
        };
        if let Some(mark) = mark {
            self.extent(next.extent, mark).mark = Some((mark, next.way));
        }
    }

    /// Whether `page` is a mark.
    pub(super) fn is_mark(&self, page: PageNo) -> bool {
        self.0.iter().any(|watched| watched.mark.is_some_and(|(mark, _)| mark == page))
    }

    /// The mark `page` has been accessed.
    fn reached(&mut self, page: PageNo) -> Option<Next> {
        let mut all = self.0.iter_mut();
        let watched = all.find(|watched| watched.mark.is_some_and(|(mark, _)| mark == page))?;
        let (_, way) = watched.mark.take()?;
        Next::after(watched.extent, way)
    }
}

impl Space {
    /// Has pages read for a scan that will want them soon, as far as they are not in memory and frames are
    /// not scarce. Neighbours come in one read. What goes wrong is told to the callers that want them then.
    /// Never waits.
    pub fn read_ahead(&self, pages: impl IntoIterator<Item = PageNo>) {
        self.begin_reads(pages, Some(&metrics::BUFFER_POOL_READ_AHEAD), |_, _| {});
    }

    /// Pages that one reader should have read ahead, at most: 1 MiB, and a small part of the pool.
    pub fn most_ahead(&self) -> usize {
        (MOST_BYTES / self.page_size().bytes()).min(self.core.frames.size() / 32).max(1)
    }

    /// As [`read_ahead`](Self::read_ahead), and not counted as that.
    pub(crate) fn read_uncounted(&self, pages: impl IntoIterator<Item = PageNo>) {
        self.begin_reads(pages, None, |_, _| {});
    }

    /// As [`read_ahead`](Self::read_ahead); `metric` counts the pages, and `then` is told them before they
    /// are read.
    pub(super) fn begin_reads(
        &self,
        pages: impl IntoIterator<Item = PageNo>,
        metric: Option<&Metric>,
        then: impl FnOnce(&mut Slow, &Run),
    ) {
        let now = self.now();
        let mut run = Run::new();
        let mut slow = self.slow.lock();
        if slow.detached {
            return;
        }
        for page in pages {
            if self.core.frames.free_count() <= self.core.free_target() / 4 {
                break;
            }
            let is_wanted = page.0 < self.pages() && self.table.entry(page).frame().is_none();
            // A failure that a caller has not come for yet keeps no kept page from being read again.
            let is_under_way = |read: &Pending| match read {
                Pending::UnderWay { .. } => true,
                Pending::Failed { .. } => !read.is_over(now) && !slow.kept.contains(page),
            };
            if !is_wanted || slow.reads.get(&page).is_some_and(is_under_way) {
                continue;
            }
            let Ok(frame) = self.core.take_frame() else { break };
            slow.reads.insert(page, Pending::UnderWay { event: Event::new(), callers: 0 });
            run.push((page, frame));
        }
        run.sort_unstable();
        then(&mut slow, &run);
        drop(slow);
        if let Some(metric) = metric {
            metric.add(run.len() as u64);
        }
        self.read(&run);
    }

    /// A page is missed: what should be read beside it.
    pub(super) fn watch_miss(&self, slow: &mut Slow, page: PageNo) -> More {
        let settings = self.core.tuning.read_ahead();
        let extent = page.0 / EXTENT;
        let in_memory =
            |page: PageNo| self.table.known_entry(page).is_some_and(|entry| entry.frame().is_some());
        let is_crowded = || self.pages_of(extent).filter(|&page| in_memory(page)).count() >= CROWD;
        More {
            next: slow.watch.missed(page, settings.threshold),
            rest_of: (settings.is_random && is_crowded()).then_some(extent),
        }
    }

    /// Reads what a miss has shown to be worth reading.
    pub(super) fn read_more(&self, more: More) {
        if let Some(extent) = more.rest_of {
            self.begin_reads(self.pages_of(extent), Some(&metrics::BUFFER_POOL_READ_AHEAD_RND), |_, _| {});
        }
        if let Some(next) = more.next {
            self.read_next(next);
        }
    }

    /// A page has been accessed for the first time that was a mark when it was read.
    #[cold]
    pub(super) fn reach_mark(&self, page: PageNo) {
        let next = self.slow.lock().watch.reached(page);
        if let Some(next) = next {
            self.read_next(next);
        }
    }

    fn read_next(&self, next: Next) {
        let threshold = self.core.tuning.read_ahead().threshold;
        let then = |slow: &mut Slow, run: &Run| slow.watch.is_read(next, run, threshold);
        self.begin_reads(self.pages_of(next.extent), Some(&metrics::BUFFER_POOL_READ_AHEAD), then);
    }

    /// The pages of an extent that may have content.
    fn pages_of(&self, extent: u32) -> impl Iterator<Item = PageNo> + use<> {
        let end = self.pages().min(self.unused_from.load(Ordering::Acquire));
        let first = extent.saturating_mul(EXTENT);
        (first..first.saturating_add(EXTENT).min(end)).map(PageNo)
    }
}
