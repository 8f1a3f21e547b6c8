//! Kept pages that are to be written: they are read first.
//!
//! The cleaner that follows the log has those read that its plan wants written. They come back as the dirty
//! pages that they were, with marks older than the plan's, and the next sweep over the frames writes them.
//! None of them is kept again meanwhile: the plan's target is the *floor* below which pages are not kept.
//!
//! A page that is old already when it has to make way is not kept either: reading it would be asked for soon.

use palisade_base::{Lsn, PageId};

use crate::cleaner::SLICE_PAGES;
use crate::pacing::{Observation, Plan, URGENT_AGE};
use crate::pool::BufferPool;

/// A page whose first change is older than this part of the log's capacity is written when it leaves memory,
/// and not kept.
const MOST_KEPT_AGE: f64 = 0.3;
/// A kept page whose reads have failed so often is given up when the log has to go on.
const READS_BEFORE_LOSS: u32 = 3;

/// What becomes of pages that cannot be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unreadable {
    /// They stay kept: a later read may do better.
    Stay,
    /// They are given up when some reads have failed.
    Go,
}

/// Does for kept pages what the state of the log asks for. How many of them are wanted.
pub(crate) fn follow(pool: &BufferPool, seen: Observation, plan: Option<Plan>) -> usize {
    let keeping = &pool.core().frames.keeping;
    keeping.rest(seen.now);
    let young = seen.tail.0.saturating_sub((seen.log_capacity as f64 * MOST_KEPT_AGE) as u64);
    let plan = plan.filter(|plan| plan.has_kept);
    keeping.set_floor(Lsn(plan.map_or(young, |plan| plan.below.0.max(young))));
    if keeping.pages() == 0 {
        return 0;
    }
    let unreadable = if seen.age() >= URGENT_AGE { Unreadable::Go } else { Unreadable::Stay };
    let planned = plan.map_or(0, |plan| merge(pool, plan.below, plan.pages.min(SLICE_PAGES), unreadable));
    let (used, limit) = keeping.used();
    // The limit has become smaller.
    let beyond =
        if used > limit + limit / 8 { merge(pool, Lsn::MAX, SLICE_PAGES, Unreadable::Stay) } else { 0 };
    planned + beyond
}

/// Has all kept pages read, as far as frames are free for them.
pub(crate) fn merge_all(pool: &BufferPool) {
    pool.core().frames.keeping.set_floor(Lsn::MAX);
    merge(pool, Lsn::MAX, SLICE_PAGES, Unreadable::Go);
}

/// Has the oldest kept pages read whose first change lies before `below`, at most `most`, as far as frames are
/// free for them. How many there are.
fn merge(pool: &BufferPool, below: Lsn, most: usize, unreadable: Unreadable) -> usize {
    let mut due = Vec::new();
    for space in pool.spaces.read().values().filter(|space| space.has_kept()) {
        let of_space = space.kept_before(below, most).into_iter();
        due.extend(of_space.map(|(oldest, page, failures)| (oldest, space.page_id(page), failures)));
    }
    due.sort_unstable();
    due.truncate(most);
    let number = due.len();
    let mut pages: Vec<PageId> = Vec::with_capacity(number);
    for (_, page, failures) in due {
        match unreadable {
            Unreadable::Go if failures >= READS_BEFORE_LOSS => {
                pool.space(page.space).into_iter().for_each(|space| space.lose_kept(page.page));
            }
            _ => pages.push(page),
        }
    }
    pages.sort_unstable();
    for of_space in pages.chunk_by(|a, b| a.space == b.space) {
        if let Some(space) = pool.space(of_space[0].space) {
            space.merge(of_space.iter().map(|page| page.page));
        }
    }
    number
}
