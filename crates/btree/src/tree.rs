//! B+trees.
//!
//! A [`Tree`] lives in one space under a root page whose number never changes. Keys and values are byte
//! strings; keys compare as `memcmp` does. Leaves (level 0) hold the entries and are linked to the right; an
//! inner node holds separators, each with the child for the keys from it on, and a leftmost child for the
//! keys below all of them.
//!
//! # Reading
//!
//! Every descent is optimistic ([`descent`]): it latches nothing, reads versions, and starts again when a
//! version has changed under it. [`get`](Tree::get) and [`scan`](Tree::scan) then latch one leaf, shared, for
//! as long as the caller's closure runs.
//!
//! # Changing
//!
//! [`acquire`](Tree::acquire) takes only the leaf, exclusively, by a version upgrade, and makes sure that the
//! change will fit; what follows cannot fail. If it does not fit, the tree is first changed in a
//! mini-transaction of its own: a neighbour takes entries ([`shift`]), or one node is split ([`split`]), with
//! latches on parent and node only. Then the descent starts again. So a caller's mini-transaction is always
//! small, and a structure change never waits for a caller.
//!
//! A node without room for a separator is split before the child whose split would bring it one; a root is
//! split by moving its content into a new child. A leaf at the right edge, where keys ascend, is split so
//! that it stays nearly full. [`shrink`](Tree::shrink) merges what removals have left nearly empty; [`clear`]
//! gives a whole tree back.

pub mod change;
pub mod clear;
pub mod descent;
pub mod divide;
pub mod estimate;
pub mod scan;
pub mod shift;
pub mod shrink;
pub mod split;

use std::cmp::Ordering;
use std::sync::Arc;

use palisade_base::{Blocked, PageId, PageNo};
use palisade_buffer::metrics as buffer_metrics;
use palisade_buffer::{Hint, SharedPage, Space};
use palisade_log::Log;

use crate::alloc::Reservation;
use crate::error::{Attempt, Error};
use crate::mtr::Mtr;
use crate::node::{NodeView, Search};
use crate::op::PageOp;
use descent::{Restarts, Seek};

/// A B+tree.
#[derive(Clone)]
pub struct Tree {
    log: Arc<Log>,
    space: Arc<Space>,
    root: PageNo,
    index_id: u64,
}

impl Tree {
    /// The tree of `index_id` with its root at `root`, as made by [`create`](Tree::create).
    pub fn open(log: Arc<Log>, space: Arc<Space>, root: PageNo, index_id: u64) -> Self {
        Tree { log, space, root, index_id }
    }

    /// Makes an empty tree: an empty leaf on a page of `reservation`. Gives the root's page.
    pub fn create(mtr: &mut Mtr<'_>, reservation: &mut Reservation, index_id: u64) -> PageNo {
        let format = PageOp::FormatNode {
            index_id,
            level: 0,
            next: PageNo::NONE,
            leftmost: PageNo::NONE,
            prefix: b"",
        };
        reservation.allocate(mtr, format).0
    }

    /// The space it lives in.
    pub fn space(&self) -> &Arc<Space> {
        &self.space
    }

    /// Its root.
    pub fn root(&self) -> PageNo {
        self.root
    }

    /// The index's id, which every page of it carries.
    pub fn index_id(&self) -> u64 {
        self.index_id
    }

    /// Calls `read` with the value of `key` while its leaf is latched. Waits for: pages to be read.
    #[inline]
    pub fn get<R>(&self, key: &[u8], read: impl FnOnce(Option<&[u8]>) -> R) -> Attempt<R> {
        let (leaf, at) = match self.space.hints().is_on() {
            false => self.find(key)?,
            true => self.find_by_hint(key)?,
        };
        if !at.found {
            return Ok(read(None));
        }
        match NodeView::new(&*leaf).value(at.slot) {
            Some(value) => Ok(read(Some(value))),
            None => Err(self.corrupted(leaf.id().page, "value outside the page")),
        }
    }

    /// The leaf of a key, and where the key is on it.
    #[inline(always)]
    fn find(&self, key: &[u8]) -> Attempt<(SharedPage<'_>, Search)> {
        let mut restarts = Restarts::new();
        loop {
            let found = self.descend(Seek::Key(key), 0, None)?;
            if let Some(leaf) = found.page.upgrade_shared() {
                let at = NodeView::new(&*leaf).search(key);
                return Ok((leaf, at));
            }
            restarts.pause();
        }
    }

    /// The same, first where the key was found before.
    #[inline(never)]
    fn find_by_hint(&self, key: &[u8]) -> Attempt<(SharedPage<'_>, Search)> {
        let place = self.space.hints().place(self.index_id, key);
        if let Some(place) = &place
            && let Some(hint) = place.hint()
            && let Some((leaf, slot)) = self.follow(hint, key)
        {
            place.confirm(hint, slot);
            return Ok((leaf, Search { slot, found: true }));
        }
        let (leaf, at) = self.find(key)?;
        buffer_metrics::ADAPTIVE_HASH_SEARCHES_BTREE.increment();
        if let Some(place) = place {
            place.learn(at.found.then(|| Hint { page: leaf.id().page, slot: at.slot }));
        }
        Ok((leaf, at))
    }

    /// The leaf that a guess says, and the key's slot on it, if that is right: the page may have become
    /// another's, and the key may have gone to a neighbour.
    fn follow(&self, hint: Hint, key: &[u8]) -> Option<(SharedPage<'_>, usize)> {
        let leaf = self.space.shared_if_here(hint.page)?;
        let node = NodeView::new(&*leaf);
        if !node.is(self.index_id, 0) {
            return None;
        }
        if hint.slot < node.slot_count() && node.compare_key(hint.slot, key) == Ordering::Equal {
            return Some((leaf, hint.slot));
        }
        let at = node.search(key);
        at.found.then_some((leaf, at.slot))
    }

    pub(crate) fn corrupted(&self, page: PageNo, what: &'static str) -> Blocked<Error> {
        Blocked::Error(Error::Corrupted { page: PageId { space: self.space.id(), page }, what })
    }
}
