//! Locks that are waited for: rows, and ranges of keys.
//!
//! An uncontended change takes no lock here: the writer's id in the row is the lock. This table holds the
//! rest: locks that reads take explicitly, ranges that they have passed over ([`ranges`]), and queues. A
//! session that finds a row written by an active transaction, or in a range of another session, makes that
//! lock explicit on its holder's behalf, and queues behind it.
//!
//! ```text
//! (index, key) ─► granted: [session, mode]...      compatible with each other, or locks of a gap
//!                 waiting: [session, mode, event]... first come, first served
//! ```
//!
//! A lock is owned by a session and released when its transaction ends; the owner's cell lists what it owns
//! and what it waits for. Order of latching: a leaf, the ranges of an index, a shard of queues, a cell.
//!
//! # Inserts
//!
//! An insert asks as [`Mode::Insert`]: it waits for everybody else who has locked the key or a range around
//! it, and no session waits for it. It is never granted anything, only woken; when it asks again, others may
//! have locked the range.
//!
//! # Why no waiter is forgotten
//!
//! A writer looks at the table (often only at the counts) under the latch of the leaf it is about to change.
//! A lock enters the table before its owner latches the leaf to look at the row, or while it holds that
//! latch. So of two that race, the one that latches second sees the other: the writer finds the lock, or the
//! locker finds the writer's id in the row.
//!
//! # A lock and a look
//!
//! Who finds another session's lock in the way of a row gives the leaf's latch back before he asks for his
//! own. By then the lock may be gone, and a third may have written the row: a lock is granted although
//! another's id is in the row. Or the holder of a shared lock writes the row past those who wait, and one
//! behind a waiter that gives up is granted what is compatible with that lock. So a session that is granted a
//! lock looks at the row again, and what he was given counts for nothing if he finds it written: the writer
//! was there first. It is taken back when he asks on the writer's account ([`LockTable::lock`]), or before,
//! when the writer makes its lock explicit by itself ([`LockTable::keep_row`]).
//!
//! # How many
//!
//! As many as fit into a limit (`memory`): beyond it a request ends with [`Request::Full`].
//!
//! # Deadlocks
//!
//! See [`deadlock`]. The victim's wait ends with [`Request::Deadlock`].

pub mod deadlock;
mod held;
mod interval_tree;
pub mod listing;
#[cfg(all(test, loom))]
mod loom_tests;
mod memory;
mod queue;
pub mod ranges;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use palisade_base::{Event, TrxId};

use crate::metrics;
use crate::sessions::{SessionArray, SessionNo};
use crate::sync::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Mutex};
use crate::system::ActiveTrx;
use deadlock::{DeadlockMember, DeadlockReport, Wait};
use memory::{ALLOWANCE, Account, Budget, entry_bytes, lock_bytes, queue_bytes};
use queue::{Queue, Waiter};
use ranges::RangeTable;

#[cfg(not(loom))]
const SHARDS: usize = 64;
#[cfg(loom)]
const SHARDS: usize = 1;

/// How strong a lock is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// An insert's intention: in nobody's way.
    Insert,
    /// Compatible with itself.
    Shared,
    /// Compatible with nothing.
    Exclusive,
}

impl Mode {
    /// Whether a request in this mode waits for another session's lock, or earlier request, in mode `other`.
    fn waits_for(self, other: Mode) -> bool {
        match (self, other) {
            (_, Mode::Insert) => false,
            (Mode::Insert, _) => true,
            _ => self == Mode::Exclusive || other == Mode::Exclusive,
        }
    }
}

/// Whether a request is about something that ranges lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heed {
    /// A row of a clustered index, or an entry to be inserted anywhere.
    Ranges,
    /// An entry of a secondary index that is there, which is its row's business.
    Queues,
}

/// Whether a row could be locked at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum TryLock {
    /// The session had locked it already, perhaps in a weaker mode: giving it back would give that lock back,
    /// too.
    Already,
    /// It is the session's now.
    Newly,
    /// Somebody is in the way.
    No,
    /// There is no memory for it: the transaction is to be rolled back.
    Full,
}

/// Why a session may have a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Right {
    /// Nobody is in the way.
    Asked,
    /// It has written the row.
    Written,
}

/// How a request for a lock ends.
#[derive(Debug)]
#[must_use]
pub enum Request {
    /// The session has it.
    Granted,
    /// Somebody else has it: ask again after the event.
    Wait(Event),
    /// Waiting would never end, or somebody decided that this session must give way.
    Deadlock,
    /// There is no memory for it: the transaction is to be rolled back.
    Full,
}

/// What is locked: an index and a key in it.
type LockKey = Box<[u8]>;

fn lock_key(index: u64, key: &[u8]) -> LockKey {
    let mut bytes = Vec::with_capacity(8 + key.len());
    bytes.extend_from_slice(&index.to_le_bytes());
    bytes.extend_from_slice(key);
    bytes.into_boxed_slice()
}

fn is_lock_key(known: &LockKey, index: u64, key: &[u8]) -> bool {
    known.split_first_chunk::<8>().is_some_and(|(first, rest)| *first == index.to_le_bytes() && rest == key)
}

#[derive(Default)]
#[repr(align(128))]
struct Shard {
    /// Queues in it.
    count: AtomicUsize,
    queues: Mutex<Queues>,
}

/// The queues of a shard.
#[derive(Default)]
struct Queues {
    by_key: HashMap<LockKey, Queue>,
    account: Account,
}

/// Places of a hash table that are kept however few are used.
const KEPT_PLACES: usize = 64;

impl Queues {
    fn get(&self, key: &LockKey) -> Option<&Queue> {
        self.by_key.get(key)
    }

    /// Whether the queue was empty, and is no longer there.
    fn remove_if_empty(&mut self, key: &LockKey) -> bool {
        let is_empty = self.get(key).is_some_and(Queue::is_empty);
        if is_empty {
            self.by_key.remove(key);
            let (places, used) = (self.by_key.capacity(), self.by_key.len());
            if places > KEPT_PLACES && places / 8 > used {
                self.by_key.shrink_to(2 * used);
            }
        }
        is_empty
    }
}

/// What a session has to do with locks.
#[derive(Default)]
#[repr(align(128))]
struct LockCell {
    /// The transaction id that makes its rows locked, or 0.
    writer: AtomicU64,
    /// What undoing it would cost.
    weight: AtomicU64,
    /// When it began, or at least began to write, microseconds since 1970; 0 if that is not known.
    started_us: AtomicI64,
    /// Whose session it is, in the words of those above; 0 for nobody's.
    owner: AtomicU64,
    /// When its present wait was first seen to be one, or 0.
    wait_started_us: AtomicI64,
    /// What its owner wants to be told of it.
    label: AtomicU32,
    /// Whether its transaction is being rolled back.
    rolls_back: AtomicBool,
    state: Mutex<CellState>,
}

#[derive(Default)]
struct CellState {
    owned: Vec<LockKey>,
    /// Indexes in which it has ranges.
    ranges: Vec<u64>,
    waiting_for: Option<LockKey>,
    /// What its locks and ranges take.
    bytes: usize,
}

impl CellState {
    fn own(&mut self, key: &LockKey) {
        metrics::LOCK_REC_LOCK_CREATED.increment();
        self.bytes += lock_bytes(key);
        self.owned.push(key.clone());
    }

    /// Whether it was its.
    fn disown(&mut self, key: &LockKey) -> bool {
        let position = self.owned.iter().rposition(|owned| owned == key);
        if let Some(position) = position {
            self.owned.swap_remove(position);
            self.bytes -= lock_bytes(key);
        }
        position.is_some()
    }
}

/// What a request is about.
struct Asked<'a> {
    session: SessionNo,
    key: &'a LockKey,
    mode: Mode,
    /// Who has written the entry, if that is an active transaction.
    writer: Option<(SessionNo, TrxId)>,
    /// The sessions in whose ranges the key is.
    ranges: &'a [(SessionNo, Mode)],
}

/// The lock table.
pub struct LockTable {
    shards: Box<[Shard]>,
    ranges: RangeTable,
    cells: SessionArray<LockCell>,
    detector: Mutex<()>,
    budget: Budget,
    on_deadlock: OnceLock<DeadlockReport>,
    hasher: std::hash::RandomState,
}

impl Default for LockTable {
    fn default() -> Self {
        LockTable {
            shards: (0..SHARDS).map(|_| Shard::default()).collect(),
            ranges: RangeTable::default(),
            cells: SessionArray::default(),
            detector: Mutex::new(()),
            budget: Budget::default(),
            on_deadlock: OnceLock::new(),
            hasher: std::hash::RandomState::new(),
        }
    }
}

impl LockTable {
    fn shard(&self, index: u64, key: &[u8]) -> &Shard {
        use std::hash::{BuildHasher, Hasher};
        let mut hasher = self.hasher.build_hasher();
        hasher.write_u64(index);
        hasher.write(key);
        &self.shards[hasher.finish() as usize % SHARDS]
    }

    fn shard_of(&self, key: &LockKey) -> &Shard {
        let (index, rest) = key.split_first_chunk::<8>().expect("a lock key begins with the index");
        self.shard(u64::from_le_bytes(*index), rest)
    }

    /// Says who is told of deadlocks, the members of each in order; once. It must not ask for locks.
    pub fn on_deadlock(&self, report: impl Fn(&[DeadlockMember]) + Send + Sync + 'static) {
        assert!(self.on_deadlock.set(Box::new(report)).is_ok(), "deadlocks are reported to one");
    }

    /// Says how many bytes all locks together may take.
    pub fn set_memory_limit(&self, bytes: u64) {
        self.budget.set_limit(bytes);
    }

    /// The bytes that all locks together take.
    pub fn memory(&self) -> u64 {
        let queues: usize = self.shards.iter().map(|shard| shard.queues.lock().account.used()).sum();
        (queues + self.ranges.memory()) as u64
    }

    /// Whether there is room for `bytes` more of the session's.
    fn has_room(&self, account: &mut Account, session: SessionNo, bytes: usize) -> bool {
        account.reserve(&self.budget, bytes) || self.is_small(session)
    }

    #[cold]
    fn is_small(&self, session: SessionNo) -> bool {
        let is_small = self.cells.cell(session).state.lock().bytes < ALLOWANCE;
        if !is_small {
            metrics::LOCK_TABLE_FULL.increment();
        }
        is_small
    }

    /// Session `session`, whose transaction began at `started_us`, now writes as `id`: its rows are locked by
    /// it.
    pub fn begin_writing(&self, session: SessionNo, id: TrxId, started_us: i64) {
        let cell = self.cells.cell(session);
        cell.started_us.store(started_us, Ordering::Relaxed);
        cell.writer.store(id.0, Ordering::Release);
    }

    /// Says whose session it is, for who looks at open transactions.
    pub(crate) fn set_owner(&self, session: SessionNo, owner: u64) {
        self.cells.cell(session).owner.store(owner, Ordering::Relaxed);
    }

    /// Says when the session's transaction began, for who looks at open transactions; 0 if there is none.
    pub(crate) fn set_started(&self, session: SessionNo, started_us: i64) {
        self.cells.cell(session).started_us.store(started_us, Ordering::Relaxed);
    }

    /// The session's transaction, as far as the lock table knows of it.
    pub(crate) fn look(&self, session: SessionNo) -> ActiveTrx {
        let cell = self.cells.cell(session);
        let id = TrxId(cell.writer.load(Ordering::Acquire));
        let (locks, waiting) = self.session_locks(session);
        let lock_bytes = cell.state.lock().bytes;
        ActiveTrx {
            id: (id != TrxId::NONE).then_some(id),
            session,
            owner: cell.owner.load(Ordering::Relaxed),
            started_us: cell.started_us.load(Ordering::Relaxed),
            changes: cell.weight.load(Ordering::Relaxed),
            locks,
            lock_bytes,
            waiting,
            wait_started_us: if waiting { cell.wait_started_us.load(Ordering::Relaxed) } else { 0 },
            label: cell.label.load(Ordering::Relaxed),
            rolls_back: cell.rolls_back.load(Ordering::Relaxed),
        }
    }

    /// What is told of the session's transaction to those who look.
    pub fn set_label(&self, session: SessionNo, label: u32) {
        self.cells.cell(session).label.store(label, Ordering::Relaxed);
    }

    /// The session's transaction is being rolled back, or is to be.
    pub fn note_rollback(&self, session: SessionNo) {
        self.cells.cell(session).rolls_back.store(true, Ordering::Relaxed);
    }

    /// The session waits, and did not before `now_us`.
    pub(crate) fn note_wait(&self, session: SessionNo, now_us: i64) {
        let started = &self.cells.cell(session).wait_started_us;
        let _ = started.compare_exchange(0, now_us, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// What undoing the session's transaction would cost: the number of its changes.
    #[inline]
    pub fn set_weight(&self, session: SessionNo, weight: u64) {
        self.cells.cell(session).weight.store(weight, Ordering::Relaxed);
    }

    /// Whether a writer, under the latch of the entry's leaf, need not ask further: no session holds or
    /// awaits a lock near.
    #[inline]
    pub fn is_surely_free(&self, index: u64, key: &[u8]) -> bool {
        self.ranges.is_empty(index) && self.shard(index, key).count.load(Ordering::Acquire) == 0
    }

    /// Whether `session` may write the entry - or, in shared mode, be told that it is there - as far as
    /// explicit locks and ranges are concerned, without waiting.
    pub fn may_write(&self, session: SessionNo, index: u64, key: &[u8], mode: Mode, heed: Heed) -> bool {
        if heed == Heed::Ranges && !self.ranges.is_empty(index) {
            let indexes = self.ranges.read(index);
            let ranges = indexes.get(index);
            if ranges.is_some_and(|ranges| ranges.is_in_the_way(session, key, mode)) {
                return false;
            }
        }
        self.may_pass(session, index, key, mode)
    }

    /// Whether `session` has a lock in the key's queue.
    pub fn has_lock(&self, session: SessionNo, index: u64, key: &[u8]) -> bool {
        let queues = self.shard(index, key).queues.lock();
        queues.get(&lock_key(index, key)).is_some_and(|queue| queue.held(session).is_some())
    }

    /// Whether anybody has or wants a lock in the key's queue.
    pub fn is_locked(&self, index: u64, key: &[u8]) -> bool {
        let shard = self.shard(index, key);
        shard.count.load(Ordering::Acquire) > 0 && shard.queues.lock().get(&lock_key(index, key)).is_some()
    }

    /// Whether the key's queue would let a request of `session` pass.
    fn may_pass(&self, session: SessionNo, index: u64, key: &[u8], mode: Mode) -> bool {
        let shard = self.shard(index, key);
        if shard.count.load(Ordering::Acquire) == 0 {
            return true;
        }
        let queues = shard.queues.lock();
        queues.get(&lock_key(index, key)).is_none_or(|queue| queue.lets_pass(session, mode))
    }

    /// Locks a row for `session`, which holds the latch of its leaf and has found it written by no session
    /// that is active, if none is in the way.
    pub fn try_lock_row(&self, session: SessionNo, index: u64, key: &[u8], mode: Mode) -> TryLock {
        let indexes = self.ranges.read(index);
        if let Some(ranges) = indexes.get(index) {
            if ranges.has(session, key, mode) {
                return TryLock::Already;
            }
            if ranges.is_in_the_way(session, key, mode) {
                return TryLock::No;
            }
        }
        self.lock_at_once(session, index, key, mode, Right::Asked)
    }

    /// Locks a row for `session`, which has written it and, under the latch of its leaf, is about to take its
    /// id out of it. Never [`TryLock::No`].
    pub fn keep_row(&self, session: SessionNo, index: u64, key: &[u8]) -> TryLock {
        let indexes = self.ranges.read(index);
        if indexes.get(index).is_some_and(|ranges| ranges.has(session, key, Mode::Exclusive)) {
            return TryLock::Already;
        }
        self.lock_at_once(session, index, key, Mode::Exclusive, Right::Written)
    }

    fn lock_at_once(&self, session: SessionNo, index: u64, key: &[u8], mode: Mode, right: Right) -> TryLock {
        let shard = self.shard(index, key);
        let key = lock_key(index, key);
        let mut queues = shard.queues.lock();
        let Queues { by_key, account } = &mut *queues;
        let place = by_key.entry(key.clone());
        let (mut before, mut held) = (0, None);
        if let Entry::Occupied(place) = &place {
            let queue = place.get();
            before = queue_bytes(&key, Some(queue));
            held = queue.held(session);
            match right {
                Right::Asked if held.is_some_and(|held| held >= mode) => return TryLock::Already,
                Right::Asked if !queue.lets_pass(session, mode) => return TryLock::No,
                Right::Asked | Right::Written => {}
            }
        }
        if held.is_none() && !self.has_room(account, session, lock_bytes(&key)) {
            return TryLock::Full;
        }
        if before == 0 {
            shard.count.fetch_add(1, Ordering::AcqRel);
        }
        let queue = place.or_default();
        if right == Right::Written {
            while let Some(&(other, _)) = queue.granted.iter().find(|(owner, _)| *owner != session) {
                self.take_back(queue, &key, other);
            }
        }
        self.grant(queue, &key, session, mode);
        account.settle(&self.budget, before, queue_bytes(&key, Some(queue)));
        if held.is_some() { TryLock::Already } else { TryLock::Newly }
    }

    /// Asks for a lock on an entry, without regard for ranges. If the entry was found written by the active
    /// transaction `writer` of another session, that session's lock is made explicit first. Asking again
    /// while waiting gives the same answer until the event.
    pub fn lock(
        &self,
        session: SessionNo,
        index: u64,
        key: &[u8],
        mode: Mode,
        writer: Option<(SessionNo, TrxId)>,
    ) -> Request {
        self.lock_heeding(session, index, key, mode, Heed::Queues, writer)
    }

    /// As [`lock`](Self::lock); those who have locked a range around the key are waited for as well, if
    /// ranges are to be heeded.
    pub fn lock_heeding(
        &self,
        session: SessionNo,
        index: u64,
        key: &[u8],
        mode: Mode,
        heed: Heed,
        writer: Option<(SessionNo, TrxId)>,
    ) -> Request {
        self.forget_other_wait(session, index, key);
        let (request, new_edges) = match heed {
            Heed::Queues => self.enqueue(session, index, key, mode, writer, &[]),
            Heed::Ranges => {
                // Kept latched, so that a range that is released meanwhile is released here too.
                let indexes = self.ranges.read(index);
                let in_the_way = indexes.get(index).map(|ranges| ranges.in_the_way(session, key, mode));
                self.enqueue(session, index, key, mode, writer, &in_the_way.unwrap_or_default())
            }
        };
        if self.is_deadlock_victim(session, &new_edges) { Request::Deadlock } else { request }
    }

    /// `ranges` are the sessions in whose ranges the key is. Also gives the waits that may have closed a
    /// cycle.
    fn enqueue(
        &self,
        session: SessionNo,
        index: u64,
        key: &[u8],
        mode: Mode,
        writer: Option<(SessionNo, TrxId)>,
        ranges: &[(SessionNo, Mode)],
    ) -> (Request, Vec<Wait>) {
        let shard = self.shard(index, key);
        let key = lock_key(index, key);
        let mut queues = shard.queues.lock();
        let queue = queues.get(&key);
        let before = queue_bytes(&key, queue);
        if queue.is_none_or(|queue| queue.held(session).is_none() && queue.position(session).is_none()) {
            let entries = 1 + usize::from(writer.is_some()) + ranges.len();
            let bytes = lock_bytes(&key) + entries * entry_bytes(&key);
            if !self.has_room(&mut queues.account, session, bytes) {
                return (Request::Full, Vec::new());
            }
        }
        let asked = self.ask(shard, &mut queues, &Asked { session, key: &key, mode, writer, ranges });
        let now = queue_bytes(&key, queues.get(&key));
        queues.account.settle(&self.budget, before, now);
        asked
    }

    /// [`enqueue`](Self::enqueue), for which there is room.
    fn ask(&self, shard: &Shard, queues: &mut Queues, asked: &Asked<'_>) -> (Request, Vec<Wait>) {
        let &Asked { session, key, mode, writer, ranges } = asked;
        // Counted before the queue is looked at, so that a writer who misses the count latches the leaf
        // first.
        let queue = match queues.by_key.entry(key.clone()) {
            Entry::Occupied(queue) => queue.into_mut(),
            Entry::Vacant(place) => {
                shard.count.fetch_add(1, Ordering::AcqRel);
                place.insert(Queue::default())
            }
        };
        let mut is_made_explicit = false;
        if let Some((owner, id)) = writer {
            is_made_explicit |= self.make_explicit(queue, key, owner, id);
            if queue.held(owner) == Some(Mode::Exclusive) && queue.held(session).is_some() {
                self.take_back(queue, key, session);
                // Perhaps the writer asks for its own row again.
                self.promote(queue, key);
            }
        }
        for &(owner, mode) in ranges {
            is_made_explicit |= self.grant(queue, key, owner, mode);
        }
        if queue.held(session).is_some_and(|held| held >= mode) && queue.is_compatible(session, mode) {
            return (Request::Granted, Vec::new());
        }
        if let Some(position) = queue.position(session) {
            let waiter = &queue.waiting[position];
            if !waiter.victim {
                return (Request::Wait(waiter.event.clone()), Vec::new());
            }
            self.withdraw(queue, position);
            self.promote(queue, key);
            self.drop_if_empty(shard, queues, key);
            return (Request::Deadlock, Vec::new());
        }
        if queue.lets_pass(session, mode) {
            match mode {
                Mode::Insert => self.drop_if_empty(shard, queues, key),
                Mode::Shared | Mode::Exclusive => drop(self.grant(queue, key, session, mode)),
            }
            return (Request::Granted, Vec::new());
        }
        let upgrade = queue.held(session).is_some();
        let mut new_edges = Vec::new();
        if is_made_explicit {
            new_edges.extend(queue.waits());
        }
        let event = Event::new();
        let waiter = Waiter { session, mode, event: event.clone(), victim: false };
        if upgrade {
            queue.waiting.push_front(waiter);
        } else {
            queue.waiting.push_back(waiter);
        }
        metrics::LOCK_REC_LOCK_WAITS.increment();
        let cell = self.cells.cell(session);
        cell.wait_started_us.store(0, Ordering::Relaxed);
        let mut state = cell.state.lock();
        let previous = state.waiting_for.replace(key.clone());
        assert!(previous.is_none(), "a session waits for one lock at a time");
        let holds_nothing =
            state.owned.is_empty() && state.ranges.is_empty() && cell.weight.load(Ordering::Relaxed) == 0;
        drop(state);
        if !holds_nothing {
            new_edges.push(Wait { session, event: event.clone() });
        }
        (Request::Wait(event), new_edges)
    }

    /// Gives `session` the lock, and lists it in its cell. False if it had it.
    fn grant(&self, queue: &mut Queue, key: &LockKey, session: SessionNo, mode: Mode) -> bool {
        let held = queue.held(session);
        if held.is_some_and(|held| held >= mode) {
            return false;
        }
        if held.is_none() {
            self.cells.cell(session).state.lock().own(key);
        }
        queue.grant(session, mode);
        true
    }

    /// Takes a lock back that `session` was given, and has not looked at the row since: see *A lock and a
    /// look* above.
    #[cold]
    fn take_back(&self, queue: &mut Queue, key: &LockKey, session: SessionNo) {
        queue.granted.retain(|(owner, _)| *owner != session);
        self.cells.cell(session).state.lock().disown(key);
    }

    /// Notes in the session's cell that it has ranges in an index.
    fn list_range(&self, session: SessionNo, index: u64) {
        self.cells.cell(session).state.lock().ranges.push(index);
    }

    /// Notes in the session's cell what its ranges take that took `before` bytes.
    fn note_ranges(&self, session: SessionNo, before: usize, now: usize) {
        let mut state = self.cells.cell(session).state.lock();
        state.bytes = state.bytes + now - before;
    }

    /// Notes that `owner`, writing as `id`, holds the entry, unless that transaction has ended. Whether that
    /// is new.
    fn make_explicit(&self, queue: &mut Queue, key: &LockKey, owner: SessionNo, id: TrxId) -> bool {
        let cell = self.cells.cell(owner);
        let mut state = cell.state.lock();
        if cell.writer.load(Ordering::Acquire) != id.0 || queue.held(owner) == Some(Mode::Exclusive) {
            return false;
        }
        if queue.held(owner).is_none() {
            state.own(key);
        }
        queue.grant(owner, Mode::Exclusive);
        true
    }

    /// Takes the waiter at `position` out of the queue: it gives up.
    fn withdraw(&self, queue: &mut Queue, position: usize) {
        let waiter = queue.waiting.remove(position).expect("a waiter at this position");
        self.cells.cell(waiter.session).state.lock().waiting_for = None;
        waiter.event.complete();
    }

    /// Grants what can be granted, in order. An insert is only woken.
    fn promote(&self, queue: &mut Queue, key: &LockKey) {
        let mut position = 0;
        while position < queue.waiting.len() {
            if !queue.may_be_granted(position) {
                position += 1;
                continue;
            }
            let waiter = queue.waiting.remove(position).expect("a waiter at this position");
            let Waiter { session, mode, event, .. } = waiter;
            let owns_it_already = queue.held(session).is_some();
            if mode != Mode::Insert {
                queue.grant(session, mode);
            }
            // At once: a session that gives up meanwhile finds that it either waits or owns.
            let mut state = self.cells.cell(session).state.lock();
            state.waiting_for = None;
            if mode != Mode::Insert && !owns_it_already {
                state.own(key);
            }
            drop(state);
            // Last: from then on the session goes on, perhaps to its end.
            event.complete();
        }
    }

    fn drop_if_empty(&self, shard: &Shard, queues: &mut Queues, key: &LockKey) {
        if queues.remove_if_empty(key) {
            shard.count.fetch_sub(1, Ordering::AcqRel);
        }
    }

    fn with_queue(&self, key: &LockKey, change: impl FnOnce(&mut Queue)) {
        let shard = self.shard_of(key);
        let mut queues = shard.queues.lock();
        if let Some(queue) = queues.by_key.get_mut(key) {
            let before = queue_bytes(key, Some(queue));
            change(queue);
            self.promote(queue, key);
            self.drop_if_empty(shard, &mut queues, key);
            let now = queue_bytes(key, queues.get(key));
            queues.account.settle(&self.budget, before, now);
        }
    }

    /// An operation that had to wait may find, when it is called again, that it need not: then its wait is
    /// still there.
    fn forget_other_wait(&self, session: SessionNo, index: u64, key: &[u8]) {
        let state = self.cells.cell(session).state.lock();
        let is_other = state.waiting_for.as_ref().is_some_and(|known| !is_lock_key(known, index, key));
        drop(state);
        if is_other {
            self.cancel_wait(session);
        }
    }

    /// Gives up the wait of `session`. False if it does not wait, or no longer.
    pub fn cancel_wait(&self, session: SessionNo) -> bool {
        let waiting_for = self.cells.cell(session).state.lock().waiting_for.clone();
        let Some(key) = waiting_for else { return false };
        let mut waited = false;
        self.with_queue(&key, |queue| {
            if let Some(position) = queue.position(session) {
                self.withdraw(queue, position);
                waited = true;
            }
        });
        waited
    }

    /// Releases one lock before the transaction's end.
    pub fn unlock(&self, session: SessionNo, index: u64, key: &[u8]) {
        let key = lock_key(index, key);
        if !self.cells.cell(session).state.lock().disown(&key) {
            return;
        }
        self.with_queue(&key, |queue| queue.granted.retain(|(owner, _)| *owner != session));
    }

    /// The session's transaction has ended (its slot says so): releases everything and wakes who waited.
    pub fn release_all(&self, session: SessionNo) {
        let cell = self.cells.cell(session);
        // First: a session that makes one of them explicit does so while it is there, and so before the list
        // below is taken.
        let ranges = std::mem::take(&mut cell.state.lock().ranges);
        ranges.into_iter().for_each(|index| self.ranges.release(session, index, &self.budget));
        cell.writer.store(0, Ordering::SeqCst);
        cell.weight.store(0, Ordering::Relaxed);
        cell.started_us.store(0, Ordering::Relaxed);
        cell.rolls_back.store(false, Ordering::Relaxed);
        // A waiter that has read the writer before the store above lists its lock under the mutex; it must be
        // seen.
        let mut state = cell.state.lock();
        if state.waiting_for.is_some() {
            drop(state);
            self.cancel_wait(session);
            state = cell.state.lock();
        }
        let owned = std::mem::take(&mut state.owned);
        state.bytes = 0;
        drop(state);
        for key in owned {
            self.with_queue(&key, |queue| queue.granted.retain(|(owner, _)| *owner != session));
        }
    }

    /// How many explicit locks a session holds, the ranges in an index counted as one, and whether it waits
    /// for one.
    pub fn session_locks(&self, session: SessionNo) -> (usize, bool) {
        let state = self.cells.cell(session).state.lock();
        (state.owned.len() + state.ranges.len(), state.waiting_for.is_some())
    }
}
