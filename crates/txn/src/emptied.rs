//! Leaves that removals have emptied.
//!
//! Purge and rollback remove entries in mini-transactions of their own, and a leaf that thereby becomes
//! nearly empty is merged with a neighbour ([`Tree::shrink`]). That reads the neighbours, which may be on
//! disk, and takes more of the log than the removal did, so it may have to wait. It is then noted, and done
//! before the next removal: no removal would come back to a leaf whose last entry has gone, so that its page
//! would be lost until DROP or a rebuild of the table. On a disk that has been full, with a pool smaller than
//! what is deleted, that was up to one page in twenty.
//!
//! What is noted is in memory only. A crash can leave one such leaf for each undo segment; a neighbour that
//! is emptied later takes it along.

use palisade_base::Blocked;
use palisade_btree::Tree;

use crate::error::Attempt;
use crate::planted::{Planted, makes};
use crate::system::Trees;

/// See the module. At most one leaf waits.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct EmptiedLeaf(Option<Box<Noted>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Noted {
    index: u64,
    /// A key that the leaf had or would have.
    key: Vec<u8>,
}

impl EmptiedLeaf {
    /// Merges the leaf of `key`, from which an entry has just been removed, or notes it.
    pub(crate) fn merge_or_note(&mut self, tree: &Tree, key: &[u8]) {
        assert!(self.0.is_none(), "a leaf that is noted is merged before the next removal");
        if let Err(Blocked::Wait(_)) = tree.shrink(key)
            && !makes(Planted::EmptiedLeafIsForgotten)
        {
            self.0 = Some(Box::new(Noted { index: tree.index_id(), key: key.to_vec() }));
        }
    }

    /// Whether a leaf waits.
    pub(crate) fn is_noted(&self) -> bool {
        self.0.is_some()
    }

    /// Merges the leaf that is noted, if there is one. Of a tree that has been dropped, or whose pages are
    /// damaged, there is nothing to merge. Waits for: log credit, pages.
    pub(crate) fn merge_noted(&mut self, trees: &dyn Trees) -> Attempt<()> {
        if let Some(noted) = &self.0
            && let Some(tree) = trees.tree(noted.index)
            && let Err(Blocked::Wait(event)) = tree.shrink(&noted.key)
        {
            return Err(Blocked::Wait(event));
        }
        self.0 = None;
        Ok(())
    }
}
