//! Dirty neighbours of pages that are written: `innodb_flush_neighbors`.
//!
//! On a disk whose head moves, pages that lie side by side cost little more than one. So the pages of an
//! extent that are dirty, too, may be written with a page of it, although nothing asks for that yet. What is
//! written so may have to be written again.

use palisade_base::{PageId, PageNo};

use crate::flush_list::Candidate;
use crate::frames::SCRATCH;
use crate::pool::BufferPool;
use crate::space::{EXTENT, Space};

/// Which dirty pages of its extent are written with a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Neighbours {
    /// None.
    #[default]
    None,
    /// Those that lie beside it, without a page between that is not dirty.
    Adjacent,
    /// All.
    Extent,
}

impl Neighbours {
    /// What a value of the variable stands for.
    pub fn from_number(number: u64) -> Neighbours {
        match number {
            0 => Neighbours::None,
            1 => Neighbours::Adjacent,
            _ => Neighbours::Extent,
        }
    }
}

/// Adds the neighbours of those chosen until they are `most`; afterwards they are in order.
pub(crate) fn add(pool: &BufferPool, which: Neighbours, chosen: &mut Vec<Candidate>, most: usize) {
    if which == Neighbours::None {
        return;
    }
    let own = chosen.len();
    for at in 0..own {
        let (id, _) = chosen[at];
        let Some(space) = pool.space(id.space) else { continue };
        let first = PageNo(id.page.0 / EXTENT * EXTENT);
        let below = (first.0..id.page.0).rev();
        let above = id.page.0 + 1..first.0 + EXTENT;
        add_some(pool, which, &space, below, chosen, most);
        add_some(pool, which, &space, above, chosen, most);
    }
    chosen.sort_unstable();
    chosen.dedup();
}

/// Adds those of `pages`, the nearest first.
fn add_some(
    pool: &BufferPool,
    which: Neighbours,
    space: &Space,
    pages: impl Iterator<Item = u32>,
    chosen: &mut Vec<Candidate>,
    most: usize,
) {
    let frames = &pool.core().frames;
    for page in pages.map(PageNo) {
        if chosen.len() >= most {
            return;
        }
        let frame = space.known_entry(page).and_then(|entry| entry.frame());
        match frame.filter(|&frame| frames.oldest(frame) < SCRATCH) {
            Some(frame) => chosen.push((PageId { space: space.id(), page }, frame)),
            None if which == Neighbours::Adjacent => return,
            None => {}
        }
    }
}
