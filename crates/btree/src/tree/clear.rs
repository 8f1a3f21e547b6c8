//! Giving a whole tree back.
//!
//! From the right end, some pages per mini-transaction: the rightmost children of the lowest
//! node that has separators, and when a node has only its leftmost child left, both together with the separator that leads
//! there. After every step what remains is a tree, except that the last leaf's sibling link leads to a page that is gone;
//! so a crash costs nothing but that the work has to be gone on with.
//!
//! A page is freed only if it says that it belongs to the tree. One that cannot be read is left as it is, and
//! is lost to the space: that a damaged node leads there does not make it the tree's.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use palisade_base::{Blocked, PageNo};

use super::Tree;
use super::descent::{Seek, Step};
use crate::alloc;
use crate::error::Attempt;
use crate::mtr::{Handle, MAX_ALLOCATION_BYTES, Mtr, OP_OVERHEAD};
use crate::node::NodeView;
use crate::op::PageOp;

/// Pages freed in one step; never less than a tree has levels.
const PAGES_PER_STEP: usize = 32;

impl Tree {
    /// Frees some pages of a tree that is not used any more. Whether there is more to do; when there is not,
    /// the root is an empty leaf. Waits for: log credit, pages to be read.
    pub fn clear_some(&self) -> Attempt<bool> {
        let mut steps = Vec::new();
        let leaf = self.path(Seek::Last, &mut steps)?.page.id().page;
        let mut mtr =
            Mtr::begin_in(&self.space, &self.log, (PAGES_PER_STEP + 1) * MAX_ALLOCATION_BYTES + OP_OVERHEAD)?;
        let fork = steps.iter().rposition(|step| step.slots > 0).and_then(|fork| steps.get(fork..));
        let Some([fork, below_fork @ ..]) = fork else {
            let chain = below(&steps, leaf);
            let root = self.hold_node(&mut mtr, self.root())?;
            self.free_all(&mut mtr, &chain, |mtr| {
                let (index_id, next, leftmost) = (self.index_id(), PageNo::NONE, PageNo::NONE);
                mtr.apply(root, PageOp::FormatNode { index_id, level: 0, next, leftmost, prefix: b"" });
            })?;
            mtr.commit(|_| {});
            return Ok(false);
        };
        let node = self.hold_node(&mut mtr, fork.page)?;
        let view = NodeView::new(mtr.page(node));
        let slots = view.slot_count();
        let (kept, pages): (usize, Vec<PageNo>) = if below_fork.is_empty() {
            let kept = slots.saturating_sub(PAGES_PER_STEP);
            (kept, (kept + 1..=slots).map(|position| view.child(position)).collect())
        } else {
            (slots.saturating_sub(1), below_fork.iter().map(|step| step.page).chain([leaf]).collect())
        };
        self.free_all(&mut mtr, &pages, |mtr| mtr.apply(node, PageOp::Truncate { slots: kept as u16 }))?;
        mtr.commit(|_| {});
        Ok(true)
    }

    fn hold_node<'a>(&'a self, mtr: &mut Mtr<'a>, page: PageNo) -> Attempt<Handle> {
        let handle = mtr.exclusive(self.space(), page)?;
        NodeView::new(mtr.page(handle)).check().map_err(|what| mtr.corrupted(handle, what))?;
        Ok(handle)
    }

    /// Frees pages, after `forget` has removed what leads to them.
    fn free_all<'a>(
        &'a self,
        mtr: &mut Mtr<'a>,
        pages: &[PageNo],
        forget: impl FnOnce(&mut Mtr<'a>),
    ) -> Attempt<()> {
        self.space().read_ahead(pages.iter().copied());
        let mut own = Vec::with_capacity(pages.len());
        for page in pages {
            own.extend(self.hold_own(mtr, *page)?);
        }
        let mut freeing = Vec::with_capacity(own.len());
        for page in own {
            freeing.push(alloc::prepare_free(mtr, self.space(), page)?);
        }
        forget(mtr);
        for page in freeing {
            alloc::free(mtr, page);
        }
        Ok(())
    }

    /// Holds a page that is to be freed. `None` if it cannot be read.
    fn hold_own<'a>(&'a self, mtr: &mut Mtr<'a>, page: PageNo) -> Attempt<Option<PageNo>> {
        if mtr.find(self.space().page_id(page)).is_some() {
            return Err(self.corrupted(page, "two nodes lead to it"));
        }
        let handle = match mtr.exclusive(self.space(), page) {
            Ok(handle) => handle,
            Err(Blocked::Error(error)) if error.is_damage() => return Ok(None),
            Err(blocked) => return Err(blocked),
        };
        let view = NodeView::new(mtr.page(handle));
        match view.is(self.index_id(), view.level()) {
            true => Ok(Some(page)),
            false => Err(mtr.corrupted(handle, "not the node that its parent promised").into()),
        }
    }
}

/// The pages below the first of `steps`, which are each other's only children.
fn below(steps: &[Step], leaf: PageNo) -> Vec<PageNo> {
    if steps.is_empty() {
        return Vec::new();
    }
    steps.iter().skip(1).map(|step| step.page).chain([leaf]).collect()
}
