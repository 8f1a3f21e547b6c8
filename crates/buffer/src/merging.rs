//! Kept pages that are to be written: they are read first.
//!
//! The cleaner that follows the log has those read that its plan wants written. They come back as the dirty
//! pages that they were, with marks older than the plan's, and the next sweep over the frames writes them.
//! None of them is kept again meanwhile: the plan's target is the *floor* below which pages are not kept.
//!
//! A page that is old already when it has to make way is not kept either: reading it would be asked for soon.

use palisade_base::{Lsn, PageId};

use crate::cleaner::SLICE_PAGES;
use crate::error::Error;
use crate::pacing::{Observation, Plan, URGENT_AGE};
use crate::pool::BufferPool;

/// A page whose first change is older than this part of the log's capacity is written when it leaves memory,
/// and not kept.
const MOST_KEPT_AGE: f64 = 0.3;
/// When a kept page has to be written and its reads have failed so often, the server stops.
const READS_BEFORE_STOP: u32 = 30;

/// What becomes of pages that cannot be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unreadable {
    /// They stay kept: a later read may do better.
    Stay,
    /// When many reads have failed the server stops, as it does when a page cannot be written: the log has
    /// the changes, and recovery does with the page what it does with any other that is damaged.
    Stop,
}

/// Does for kept pages what the state of the log asks for. How many of them are wanted.
pub(crate) fn follow(pool: &BufferPool, seen: Observation, plan: Option<Plan>) -> Result<usize, Error> {
    let keeping = &pool.core().frames.keeping;
    keeping.rest(seen.now);
    let young = seen.tail.0.saturating_sub((seen.log_capacity as f64 * MOST_KEPT_AGE) as u64);
    let plan = plan.filter(|plan| plan.has_kept);
    keeping.set_floor(Lsn(plan.map_or(young, |plan| plan.below.0.max(young))));
    if keeping.pages() == 0 {
        return Ok(0);
    }
    let unreadable = if seen.age() >= URGENT_AGE { Unreadable::Stop } else { Unreadable::Stay };
    let planned = match plan {
        Some(plan) => merge(pool, plan.below, plan.pages.min(SLICE_PAGES), unreadable)?,
        None => 0,
    };
    let (used, limit) = keeping.used();
    // The limit has become smaller.
    let beyond = match used > limit + limit / 8 {
        true => merge(pool, Lsn::MAX, SLICE_PAGES, Unreadable::Stay)?,
        false => 0,
    };
    Ok(planned + beyond)
}

/// Has all kept pages read, as far as frames are free for them.
pub(crate) fn merge_all(pool: &BufferPool) -> Result<(), Error> {
    pool.core().frames.keeping.set_floor(Lsn::MAX);
    merge(pool, Lsn::MAX, SLICE_PAGES, Unreadable::Stop).map(drop)
}

/// Has the oldest kept pages read whose first change lies before `below`, at most `most`, as far as frames
/// are free for them. How many there are; an error if the server has to stop.
fn merge(pool: &BufferPool, below: Lsn, most: usize, unreadable: Unreadable) -> Result<usize, Error> {
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
        if unreadable == Unreadable::Stop && failures >= READS_BEFORE_STOP {
            let reason = format!("page {page} cannot be read, and what was changed on it is in the log only");
            return Err(pool.core().stop(&reason));
        }
        pages.push(page);
    }
    pages.sort_unstable();
    for of_space in pages.chunk_by(|a, b| a.space == b.space) {
        if let Some(space) = pool.space(of_space[0].space) {
            space.merge(of_space.iter().map(|page| page.page));
        }
    }
    Ok(number)
}
