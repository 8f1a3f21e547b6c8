//! Pages of a space that left memory before they were written, and how they come back. See
//! [`kept`](crate::kept).

use std::sync::atomic::Ordering;

use palisade_base::{Lsn, PageNo};

use super::{Slow, Space};
use crate::error::{Corruption, Error};
use crate::kept::KeptPage;
use crate::metrics;
use crate::page::PageRead;
use crate::planted::{self, Planted};

impl Space {
    /// Whether any of its pages may be kept.
    #[inline]
    pub(crate) fn has_kept(&self) -> bool {
        self.kept.load(Ordering::Acquire) > 0
    }

    /// Takes the page in `frame`, whose exclusive latch the caller holds and that no cleaner is writing, out
    /// of memory and keeps what was done to it. Whether it did: the frame is the caller's to free.
    pub(crate) fn keep(&self, page: PageNo, frame: u32) -> bool {
        let frames = &self.core.frames;
        // SAFETY: a frame is initialised bytes, as many as a page has; the latch keeps writers away.
        let page_lsn = unsafe { frames.memory.page(frame).as_ref() }.page_lsn();
        let Some(changes) = frames.keeping.take_to_keep(frame, page_lsn) else { return false };
        let mut slow = self.slow.lock();
        if slow.detached {
            frames.keeping.put(frame, changes);
            return false;
        }
        let mut oldest = frames.take_dirty_to_keep(frame);
        if planted::makes(Planted::KeptMarksMove) {
            self.core.log.register_dirty(self.core.log.tail());
            self.core.log.unregister_dirty(std::mem::replace(&mut oldest, self.core.log.tail()));
        }
        slow.kept.insert(page, KeptPage { oldest, changes, failures: 0 });
        self.kept.fetch_add(1, Ordering::AcqRel);
        self.table.entry(page).set_frame(None);
        frames.set_owner(frame, None);
        drop(slow);
        metrics::CHANGES_KEPT.increment();
        true
    }

    /// Takes what is kept of a page that has been read.
    pub(super) fn take_kept(&self, page: PageNo) -> Option<KeptPage> {
        if self.has_kept() { self.slow.lock().kept.remove(page) } else { None }
    }

    /// Applies what was kept to the page as it was read, into a frame that no other thread knows of.
    pub(super) fn apply_kept(&self, page: PageNo, frame: u32, kept: &KeptPage) -> Result<(), Error> {
        // SAFETY: the frame is this read's alone until it is published; a page is bytes and nothing else.
        let bytes = unsafe { self.core.frames.memory.page(frame).as_mut() };
        let apply = self.core.frames.keeping.apply.expect("changes are kept where they can be applied");
        let changes = &*kept.changes;
        let applied = match bytes.page_lsn() == changes.base {
            true => apply(bytes, &changes.ops),
            false => Err("it is not the page that was written last"),
        };
        applied.map_err(|what| Error::Corrupted {
            page: self.page_id(page),
            reason: Corruption::Content(what),
        })?;
        bytes.set_page_lsn(changes.last);
        metrics::CHANGES_APPLIED.increment();
        Ok(())
    }

    /// The page that was read into `frame` has its changes again, and is as dirty as it was. Under its
    /// exclusive latch.
    pub(super) fn restore_kept(&self, frame: u32, kept: KeptPage) {
        let frames = &self.core.frames;
        frames.make_dirty_again(frame, kept.oldest);
        frames.keeping.put(frame, kept.changes);
        self.kept.fetch_sub(1, Ordering::AcqRel);
    }

    /// What was taken of a page that could not be read stays kept, unless the space is gone.
    pub(super) fn keep_again(&self, slow: &mut Slow, page: PageNo, kept: KeptPage) {
        match slow.detached {
            true => self.drop_one(kept),
            false => slow.kept.insert(page, kept),
        }
    }

    /// The changes go, and the log does not wait for them any more.
    fn drop_one(&self, kept: KeptPage) {
        self.core.log.unregister_dirty(kept.oldest);
        self.core.frames.keeping.give_up(*kept.changes);
        self.kept.fetch_sub(1, Ordering::AcqRel);
        self.core.frames.drop_kept();
        metrics::CHANGES_DROPPED.increment();
    }

    /// The space is detached: what is kept of it goes.
    pub(crate) fn drop_kept(&self) {
        if self.has_kept() {
            let kept: Vec<KeptPage> = self.slow.lock().kept.take_all().collect();
            kept.into_iter().for_each(|kept| self.drop_one(kept));
        }
    }

    /// The oldest kept pages whose first change lies before `below`, at most `most`: since when they are
    /// dirty, and how many reads of them have failed.
    pub(crate) fn kept_before(&self, below: Lsn, most: usize) -> Vec<(Lsn, PageNo, u32)> {
        if self.has_kept() { self.slow.lock().kept.before(below, most).collect() } else { Vec::new() }
    }

    /// Has kept pages read, as far as frames are free for them.
    pub(crate) fn merge(&self, pages: impl IntoIterator<Item = PageNo>) {
        self.begin_reads(pages, Some(&metrics::CHANGES_MERGED), |_, _| {});
    }
}
