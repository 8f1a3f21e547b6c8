//! Ranges of keys that are locked: which rows in them, and that nothing is inserted.
//!
//! A locking scan locks what it has passed over as *ranges* of an index, not as bits of the records in it. A range says:
//! the rows that are in it are locked in this mode, and nobody else inserts here. Whether pages split or entries are
//! purged makes no difference to it, and a scan of a million rows is one range.
//!
//! ```text
//! index ─► session ─► shared:    [cut, cut) [cut, cut) ...      disjoint, merged where they touch
//!                     exclusive: [cut, cut) ...                 a cut lies just before or just after a key
//!      ├─► shared ranges of all sessions      ordered: who lies over a key? (an interval tree)
//!      └─► exclusive ranges of all sessions
//! ```
//!
//! Whoever asks about a key asks the two trees, and not session by session: in a queue of which many take jobs, each passes over
//! what all the others have taken.
//!
//! Ranges of two sessions may overlap, whatever their modes: what must not overlap is their rows, and these are looked at
//! one by one while the leaf is latched ([`RangeGuard::may_lock`]). Nobody waits for a range. Whoever finds one in the way
//! of a key makes it explicit in that key's queue, as with a writer's id in a row, and waits there.
//!
//! A scan registers what it has seen of a leaf while it still holds the leaf's latch; an insert looks at the ranges under
//! its own, exclusive latch on the leaf where the key belongs. So the one that latches second knows of the other.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::interval_tree::IntervalTree;
use super::memory::{Account, Budget, FIRST_RANGE_BYTES, range_bytes};
use super::{LockTable, Mode};
use crate::error::Error;
use crate::metrics;
use crate::sessions::SessionNo;
use crate::sync::{AtomicUsize, RwLock, RwLockReadGuard, RwLockWriteGuard};

#[cfg(not(loom))]
const SHARDS: usize = 64;
#[cfg(loom)]
const SHARDS: usize = 1;

/// A place between keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cut {
    /// Just before a key, or just after it.
    At {
        /// The key. Shared by those who keep the cut.
        key: Arc<[u8]>,
        /// After it.
        after: bool,
    },
    /// After all keys.
    End,
}

impl Cut {
    /// Just before `key`.
    pub fn before(key: &[u8]) -> Cut {
        Cut::At { key: key.into(), after: false }
    }

    /// Just after `key`.
    pub fn after(key: &[u8]) -> Cut {
        Cut::At { key: key.into(), after: true }
    }

    /// Just after all keys that begin with `prefix`.
    pub fn behind_prefix(prefix: &[u8]) -> Cut {
        let kept = prefix.iter().rposition(|byte| *byte != u8::MAX);
        kept.map_or(Cut::End, |last| {
            let mut key = prefix[..=last].to_vec();
            key[last] += 1;
            Cut::At { key: key.into(), after: false }
        })
    }

    /// Whether it lies just before `key`, or further ahead.
    pub(super) fn is_before(&self, key: &[u8]) -> bool {
        match self {
            Cut::At { key: at, after } => match (**at).cmp(key) {
                std::cmp::Ordering::Less => true,
                std::cmp::Ordering::Equal => !after,
                std::cmp::Ordering::Greater => false,
            },
            Cut::End => false,
        }
    }

    /// Before all keys.
    pub fn start() -> Cut {
        Cut::before(&[])
    }

    /// Where a range with this lower bound begins.
    pub fn lower(bound: Bound<&[u8]>) -> Cut {
        match bound {
            Bound::Unbounded => Cut::start(),
            Bound::Included(key) => Cut::before(key),
            Bound::Excluded(key) => Cut::after(key),
        }
    }

    /// Where a range with this upper bound ends.
    pub fn upper(bound: Bound<&[u8]>) -> Cut {
        match bound {
            Bound::Unbounded => Cut::End,
            Bound::Included(key) => Cut::after(key),
            Bound::Excluded(key) => Cut::before(key),
        }
    }
}

/// Disjoint ranges: where each begins, and where it ends.
#[derive(Default)]
struct Intervals(BTreeMap<Cut, Cut>);

impl Intervals {
    /// Adds a range. Says `removed` of those that are now part of it; and gives it as it is now, unless nothing has changed.
    fn add(&mut self, mut from: Cut, mut to: Cut, mut removed: impl FnMut(&Cut, &Cut)) -> Option<(Cut, Cut)> {
        if from >= to {
            return None;
        }
        let before = self.0.range(..&from).next_back().filter(|(_, end)| **end >= from);
        if let Some((start, end)) = before.map(|(start, end)| (start.clone(), end.clone())) {
            if end >= to {
                return None;
            }
            self.0.remove(&start);
            removed(&start, &end);
            from = start;
        }
        while let Some(start) = self.0.range(&from..=&to).next().map(|(start, _)| start.clone()) {
            let end = self.0.remove(&start).expect("it was just found");
            removed(&start, &end);
            to = to.max(end);
        }
        self.0.insert(from.clone(), to.clone());
        Some((from, to))
    }

    /// Whether the key just after `cut` is in one of them.
    fn cover(&self, cut: &Cut) -> bool {
        self.0.range(..=cut).next_back().is_some_and(|(_, end)| end > cut)
    }
}

/// A session's ranges in one index.
#[derive(Default)]
struct Held {
    shared: Intervals,
    exclusive: Intervals,
}

impl Held {
    /// The strongest mode in which the key just after `cut` is locked.
    fn mode_at(&self, cut: &Cut) -> Option<Mode> {
        if self.exclusive.cover(cut) {
            Some(Mode::Exclusive)
        } else {
            self.shared.cover(cut).then_some(Mode::Shared)
        }
    }
}

/// The ranges of one index.
#[derive(Default)]
pub(super) struct IndexRanges {
    held: HashMap<SessionNo, Held>,
    shared: IntervalTree,
    exclusive: IntervalTree,
}

impl IndexRanges {
    /// Whether a request of `session` for `key` must wait for another session's range.
    pub(super) fn is_in_the_way(&self, session: SessionNo, key: &[u8], mode: Mode) -> bool {
        mode.waits_for(Mode::Exclusive) && self.exclusive.has_other(session, key)
            || mode.waits_for(Mode::Shared) && self.shared.has_other(session, key)
    }

    /// Other sessions, each with the mode in which it has locked `key`, that a request of `session` must wait for.
    pub(super) fn in_the_way(&self, session: SessionNo, key: &[u8], mode: Mode) -> Vec<(SessionNo, Mode)> {
        let mut owners = Vec::new();
        if mode.waits_for(Mode::Exclusive) {
            self.exclusive.others(session, key, &mut owners);
        }
        owners.sort_unstable();
        let exclusive = owners.len();
        if mode.waits_for(Mode::Shared) {
            self.shared.others(session, key, &mut owners);
        }
        let (strong, weak) = owners.split_at(exclusive);
        let weak = weak.iter().filter(|owner| strong.binary_search(owner).is_err());
        let strong = strong.iter().map(|owner| (*owner, Mode::Exclusive));
        strong.chain(weak.map(|owner| (*owner, Mode::Shared))).collect()
    }

    /// Whether `session` has locked `key` at least as `mode`.
    pub(super) fn has(&self, session: SessionNo, key: &[u8], mode: Mode) -> bool {
        let own = self.held.get(&session);
        own.and_then(|held| held.mode_at(&Cut::before(key))).is_some_and(|held| held >= mode)
    }

    /// Gives what the ranges take now that took the bytes given first.
    fn add(&mut self, session: SessionNo, mode: Mode, from: Cut, to: Cut) -> (usize, usize) {
        let (mut before, mut now) = (0, 0);
        let held = self.held.entry(session).or_insert_with(|| {
            now = FIRST_RANGE_BYTES;
            Held::default()
        });
        let (intervals, tree) = match mode {
            Mode::Exclusive => (&mut held.exclusive, &mut self.exclusive),
            Mode::Shared | Mode::Insert => (&mut held.shared, &mut self.shared),
        };
        let added = intervals.add(from, to, |start, end| {
            before += range_bytes(start, end);
            tree.remove(session, start);
        });
        if let Some((from, to)) = added {
            now += range_bytes(&from, &to);
            tree.insert(session, from, to);
        }
        (before, now)
    }

    /// Calls `visit` with each range of a session.
    pub(super) fn visit_session(&self, session: SessionNo, mut visit: impl FnMut(Mode, &Cut, &Cut)) {
        if let Some(held) = self.held.get(&session) {
            for (mode, intervals) in [(Mode::Shared, &held.shared), (Mode::Exclusive, &held.exclusive)] {
                intervals.0.iter().for_each(|(from, to)| visit(mode, from, to));
            }
        }
    }

    /// Gives what they took, if there was anything to forget.
    fn release(&mut self, session: SessionNo) -> Option<usize> {
        let held = self.held.remove(&session)?;
        let mut bytes = FIRST_RANGE_BYTES;
        for (intervals, tree) in [(held.shared, &mut self.shared), (held.exclusive, &mut self.exclusive)] {
            for (from, to) in &intervals.0 {
                bytes += range_bytes(from, to);
                tree.remove(session, from);
            }
        }
        Some(bytes)
    }
}

/// All ranges, sharded by index.
pub(super) struct RangeTable {
    shards: Box<[RangeShard]>,
}

#[derive(Default)]
#[repr(align(128))]
struct RangeShard {
    /// Sessions with ranges, index by index.
    count: AtomicUsize,
    indexes: RwLock<Indexes>,
}

/// The indexes of a shard.
#[derive(Default)]
pub(super) struct Indexes {
    by_id: HashMap<u64, IndexRanges>,
    account: Account,
}

impl Indexes {
    /// The ranges of an index, if there are any.
    pub(super) fn get(&self, index: u64) -> Option<&IndexRanges> {
        self.by_id.get(&index)
    }
}

impl Default for RangeTable {
    fn default() -> Self {
        RangeTable { shards: (0..SHARDS).map(|_| RangeShard::default()).collect() }
    }
}

impl RangeTable {
    fn shard(&self, index: u64) -> &RangeShard {
        &self.shards[index as usize % SHARDS]
    }

    /// Whether an index surely has no ranges.
    #[inline]
    pub(super) fn is_empty(&self, index: u64) -> bool {
        self.shard(index).count.load(Ordering::Acquire) == 0
    }

    pub(super) fn read(&self, index: u64) -> RwLockReadGuard<'_, Indexes> {
        self.shard(index).indexes.read()
    }

    /// Bytes that all of them take.
    pub(super) fn memory(&self) -> usize {
        self.shards.iter().map(|shard| shard.indexes.read().account.used()).sum()
    }

    /// Calls `visit` with each range.
    pub(super) fn visit(&self, mut visit: impl FnMut(SessionNo, u64, Mode, &Cut, &Cut)) {
        for shard in &self.shards {
            for (index, ranges) in shard.indexes.read().by_id.iter() {
                for session in ranges.held.keys() {
                    ranges.visit_session(*session, |mode, from, to| visit(*session, *index, mode, from, to));
                }
            }
        }
    }

    /// Forgets the session's ranges in an index.
    pub(super) fn release(&self, session: SessionNo, index: u64, budget: &Budget) {
        let shard = self.shard(index);
        let mut indexes = shard.indexes.write();
        let Indexes { by_id, account } = &mut *indexes;
        let Some(ranges) = by_id.get_mut(&index) else { return };
        if let Some(bytes) = ranges.release(session) {
            account.settle(budget, bytes, 0);
            shard.count.fetch_sub(1, Ordering::AcqRel);
        }
        if ranges.held.is_empty() {
            by_id.remove(&index);
        }
    }
}

/// A leaf being scanned under its latch: nobody else locks rows of this index or ranges in it meanwhile.
pub struct RangeGuard<'a> {
    table: &'a LockTable,
    shard: &'a RangeShard,
    indexes: RwLockWriteGuard<'a, Indexes>,
    session: SessionNo,
    index: u64,
    mode: Mode,
}

impl LockTable {
    /// Begins to lock a range of `index` in `mode` for `session`, which holds the latch of the leaf it is about.
    pub fn begin_range(&self, session: SessionNo, index: u64, mode: Mode) -> RangeGuard<'_> {
        let shard = self.ranges.shard(index);
        RangeGuard { table: self, shard, indexes: shard.indexes.write(), session, index, mode }
    }
}

impl RangeGuard<'_> {
    /// Whether the row at `key` can be part of the range without waiting, as far as explicit locks and ranges go.
    pub fn may_lock(&self, key: &[u8]) -> bool {
        let ranges = self.indexes.get(self.index);
        if ranges.is_some_and(|ranges| ranges.is_in_the_way(self.session, key, self.mode)) {
            return false;
        }
        self.table.may_pass(self.session, self.index, key, self.mode)
    }

    /// The rows between the cuts are the session's, and nobody else inserts there. [`Error::LockTableFull`] if there is no
    /// memory for that.
    pub fn add(&mut self, from: Cut, to: Cut) -> Result<(), Error> {
        if from >= to {
            return Ok(());
        }
        let most = FIRST_RANGE_BYTES + range_bytes(&from, &to);
        if !self.table.has_room(&mut self.indexes.account, self.session, most) {
            return Err(Error::LockTableFull);
        }
        self.put(from, to);
        Ok(())
    }

    /// [`add`](Self::add) of a range that is not empty, whether there is room or not.
    pub(super) fn put(&mut self, from: Cut, to: Cut) {
        let Indexes { by_id, account } = &mut *self.indexes;
        let ranges = by_id.entry(self.index).or_default();
        if !ranges.held.contains_key(&self.session) {
            self.shard.count.fetch_add(1, Ordering::AcqRel);
            self.table.list_range(self.session, self.index);
            metrics::LOCK_REC_LOCK_CREATED.increment();
        }
        let (before, now) = ranges.add(self.session, self.mode, from, to);
        account.settle(&self.table.budget, before, now);
        self.table.note_ranges(self.session, before, now);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use palisade_base::prng::{Prng, test_seed};

    use super::*;

    /// Against a set of points: every key, and every place between two keys.
    #[test]
    fn intervals_cover_what_was_added() {
        let mut prng = Prng::new(test_seed(21));
        for _ in 0..200 {
            let mut intervals = Intervals::default();
            let mut points = [false; 34];
            for _ in 0..prng.below(12) {
                let cut = |place: u64| match place {
                    33 => Cut::End,
                    _ if place.is_multiple_of(2) => Cut::before(&[place as u8 / 2]),
                    _ => Cut::after(&[place as u8 / 2]),
                };
                let (from, to) = (prng.below(34), prng.below(34));
                let starts: Vec<Cut> = intervals.0.keys().cloned().collect();
                let mut removed = Vec::new();
                let added = intervals.add(cut(from), cut(to), |start, _| removed.push(start.clone()));
                let mut expected: Vec<_> =
                    starts.into_iter().filter(|start| !removed.contains(start)).collect();
                if let Some((from, to)) = added {
                    assert_eq!(intervals.0.get(&from), Some(&to));
                    expected.push(from);
                    expected.sort();
                }
                assert!(intervals.0.keys().eq(&expected), "what it says has changed");
                (from..to).for_each(|place| points[place as usize] = true);
                for key in 0..16u8 {
                    let is_in = intervals.cover(&Cut::before(&[key]));
                    assert_eq!(is_in, points[usize::from(key) * 2], "key {key} of {:?}", intervals.0);
                }
                let ends: Vec<_> = intervals.0.iter().collect();
                assert!(ends.windows(2).all(|pair| pair[0].1 < pair[1].0), "disjoint: {ends:?}");
            }
        }
    }

    #[test]
    fn keys_with_a_prefix_are_those_up_to_the_cut_behind_it() {
        let keys: [&[u8]; 9] =
            [b"", b"a", b"a\0", b"a\xff", b"a\xff\xff", b"b", b"b\0", b"\xff", b"\xff\xff\x01"];
        for prefix in keys {
            let (from, to) = (Cut::before(prefix), Cut::behind_prefix(prefix));
            for key in keys {
                let is_in = from <= Cut::before(key) && Cut::after(key) <= to;
                assert_eq!(is_in, key.starts_with(prefix), "{key:?} in {prefix:?}");
            }
        }
        // So that the places of numbers that follow each other are one range, mostly.
        assert_eq!(Cut::behind_prefix(&7u32.to_be_bytes()), Cut::before(&8u32.to_be_bytes()));
    }
}
