//! Giving a whole tree back.
//!
//! From the right end, some pages per mini-transaction, without reading the leaves: the rightmost children of the lowest
//! node that has separators, and when a node has only its leftmost child left, both together with the separator that leads
//! there. After every step what remains is a tree, except that the last leaf's sibling link leads to a page that is gone;
//! so a crash costs nothing but that the work has to be gone on with.

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
    /// Frees some pages of a tree that nobody uses any more. Whether there is more to do; when there is not, the root is an
    /// empty leaf. Waits for: log credit, inner pages to be read.
    pub fn clear_some(&self) -> Attempt<bool> {
        let mut steps = Vec::new();
        let leaf = self.path(Seek::Last, &mut steps)?.page.id().page;
        let mut mtr = Mtr::begin(&self.log, (PAGES_PER_STEP + 1) * MAX_ALLOCATION_BYTES + OP_OVERHEAD)?;
        let Some(fork) = steps.iter().rposition(|step| step.slots > 0) else {
            let chain = below(&steps, leaf);
            let root = self.hold_node(&mut mtr, self.root())?;
            self.free_all(&mut mtr, &chain, |mtr| {
                let (index_id, next, leftmost) = (self.index_id(), PageNo::NONE, PageNo::NONE);
                mtr.apply(root, PageOp::FormatNode { index_id, level: 0, next, leftmost, prefix: b"" });
            })?;
            mtr.commit(|_| {});
            return Ok(false);
        };
        let node = self.hold_node(&mut mtr, steps[fork].page)?;
        let view = NodeView::new(mtr.page(node));
        let slots = view.slot_count();
        let (kept, pages) = if fork + 1 == steps.len() {
            let kept = slots.saturating_sub(PAGES_PER_STEP);
            (kept, (kept + 1..=slots).map(|position| view.child(position)).collect())
        } else {
            (slots.saturating_sub(1), below(&steps[fork..], leaf))
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

    /// Frees pages whose content does not matter, after `forget` has removed what leads to them.
    fn free_all<'a>(
        &'a self,
        mtr: &mut Mtr<'a>,
        pages: &[PageNo],
        forget: impl FnOnce(&mut Mtr<'a>),
    ) -> Attempt<()> {
        for page in pages {
            let page = self.space().create(*page).map_err(Blocked::up)?;
            mtr.hold(page);
        }
        let mut freeing = Vec::with_capacity(pages.len());
        for page in pages {
            freeing.push(alloc::prepare_free(mtr, self.space(), *page)?);
        }
        forget(mtr);
        for page in freeing {
            alloc::free(mtr, page);
        }
        Ok(())
    }
}

/// The pages below the first of `steps`, which are each other's only children.
fn below(steps: &[Step], leaf: PageNo) -> Vec<PageNo> {
    if steps.is_empty() {
        return Vec::new();
    }
    steps.iter().skip(1).map(|step| step.page).chain([leaf]).collect()
}
