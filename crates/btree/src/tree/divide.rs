//! Dividing a range into parts that can be read side by side.
//!
//! The separators of inner nodes are where leaves begin, so that parts which begin at some of them have
//! leaves of their own and are about as large as each other. Levels are looked at from the root down, until
//! there are as many separators as parts are wanted; no leaf is read.
//!
//! ```text
//!             [ g        p ]                 3 parts:  .. g | g .. p | p ..
//!        [ c   e ] [ k ] [ r  t ]            6 parts:  c, g, k, p and t
//! ```
//!
//! What is found is keys, not pages. Any ascending keys divide a range: what splits and merges do to the tree
//! meanwhile, and afterwards, makes parts larger or smaller, and no entry is in two of them or in none.

use std::ops::Bound;

use super::Tree;
use super::descent::{Descent, Fence, Restarts, Seek};
use super::scan::{Direction, is_ahead, is_beyond};
use crate::error::Attempt;
use crate::node::{Key, NodeView};

impl Tree {
    /// Keys that divide what lies between two bounds into about `parts` parts of about the same number of
    /// leaves, in order: each is where a part begins but the first. Fewer where there are fewer leaves.
    /// Waits for: inner pages to be read.
    pub fn dividers(&self, lower: Bound<&[u8]>, upper: Bound<&[u8]>, parts: usize) -> Attempt<Vec<Key>> {
        let mut level = self.root_level()?;
        let mut found = Vec::new();
        while level > 0 && found.len() + 1 < parts {
            found = self.separators(lower, upper, level)?;
            level -= 1;
        }
        Ok(spread(found, parts))
    }

    fn root_level(&self) -> Attempt<u16> {
        let mut restarts = Restarts::new();
        loop {
            let Descent { page, .. } = self.descend(Seek::First, u16::MAX, None)?;
            let level = NodeView::new(&page).level();
            if page.validate() {
                return Ok(level);
            }
            restarts.pause();
        }
    }

    /// The separators between two bounds that the nodes on a level have, and those between these nodes.
    fn separators(&self, lower: Bound<&[u8]>, upper: Bound<&[u8]>, level: u16) -> Attempt<Vec<Key>> {
        let mut found: Vec<Key> = Vec::new();
        let mut restarts = Restarts::new();
        let mut from: Option<Key> = None;
        loop {
            let begin = from.as_deref().map_or(lower, Bound::Included);
            let mut fence = Fence::new(Direction::Forward);
            let Descent { page, .. } =
                self.descend(Seek::at(begin, Direction::Forward), level, Some(&mut fence))?;
            let node = NodeView::new(&page);
            let known = found.len();
            let is_inner = node.level() > 0;
            let all_read = !is_inner
                || (0..node.slot_count()).all(|slot| {
                    let mut key = Key::new();
                    let is_read = node.read_key(slot, &mut key);
                    found.push(key);
                    is_read
                });
            let place = page.id().page;
            if !page.validate() {
                found.truncate(known);
                restarts.pause();
                continue;
            }
            if !all_read {
                return Err(self.corrupted(place, "a separator outside the page"));
            }
            match fence.key() {
                Some(next) if !is_beyond(&next, upper, Direction::Forward) => {
                    if !is_ahead(&next, begin, Direction::Forward) {
                        return Err(self.corrupted(place, "keys outside the separators"));
                    }
                    found.push(next.clone());
                    from = Some(next);
                }
                _ => break,
            }
        }
        // A node may have been divided, or have become one with another, between two looks.
        let mut last = lower.map(Key::from_slice);
        found.retain(|key| {
            let begin = last.as_ref().map(|key| &**key);
            let is_within =
                is_ahead(key, begin, Direction::Forward) && !is_beyond(key, upper, Direction::Forward);
            if is_within {
                last = Bound::Included(key.clone());
            }
            is_within
        });
        Ok(found)
    }
}

/// Of so many keys those that make `parts` parts of about the same number of keys.
fn spread(keys: Vec<Key>, parts: usize) -> Vec<Key> {
    let ranges = keys.len() + 1;
    if ranges <= parts {
        return keys;
    }
    let mut part = 1;
    let mut chosen = Vec::with_capacity(parts.saturating_sub(1));
    for (number, key) in keys.into_iter().enumerate() {
        // The key is where the range behind `number + 1` others begins.
        if part < parts && number + 1 == ranges * part / parts {
            chosen.push(key);
            part += 1;
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_differ_by_one_at_most() {
        for ranges in 1..60_usize {
            for parts in 1..20_usize {
                let keys = (1..ranges).map(|number| Key::from_slice(&[number as u8])).collect();
                let mut starts = vec![0];
                starts.extend(spread(keys, parts).iter().map(|key| usize::from(key[0])));
                starts.push(ranges);
                let sizes: Vec<usize> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
                assert_eq!(sizes.len(), parts.min(ranges));
                let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
                assert!(*least > 0 && most - least <= 1, "{ranges} ranges, {parts} parts: {sizes:?}");
            }
        }
    }
}
