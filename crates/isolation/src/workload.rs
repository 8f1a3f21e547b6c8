//! Transactions at random, replayable from a seed.
//!
//! Each session has a generator of its own; what it plans depends on the seed and the session's number only, not on what the
//! server answers. Keys are used in a window that moves on, so that lists stay short enough to be read whole. Lists live in
//! two forms, so that changes of rows and inserts into ranges are both tried: those of even keys in the text of a row, which
//! the first append inserts; those of odd keys as a row for each element. A list's row or rows may be deleted and inserted
//! again, with an element more: others see no gap.

use palisade_base::prng::Prng;

use crate::check::Level;
use crate::history::{Access, Element, Key};

/// Where a list lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// In the text of a row.
    Text,
    /// A row for each element.
    Rows,
}

/// The form of a key's list.
pub fn form(key: Key) -> Form {
    if key.is_multiple_of(2) { Form::Text } else { Form::Rows }
}

/// Lists of [`Form::Text`] also belong to an era of so many keys; an index has the lists of an era by their lengths, so that
/// each change of a list moves its entry.
pub const ERA: Key = 16;

/// Lists of [`Form::Text`] carry a tag, which has an index of its own.
pub fn tag(key: Key) -> u32 {
    key / 2 % 3
}

/// One thing a transaction is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Append an element.
    Append(Key, Element),
    /// Read a list that is text, and write it whole with an element more, as programs do that compute by themselves.
    Rewrite(Key, Element, Access),
    /// Read a list.
    Read(Key, Access),
    /// Read the lists of one form among keys.
    ReadRange(Form, Key, Key, Access),
    /// Read the lists of [`Form::Text`] among keys that have a tag, by its index.
    ReadTag(u32, Key, Key, Access),
    /// Read two lists, whatever their forms, by one join.
    ReadPair(Key, Key, Access),
    /// Read the lists of [`Form::Text`] in a key's era that have so many elements at least, by the index on lengths.
    ReadLong(Key, usize, Access),
    /// Count the elements of the lists of [`Form::Rows`] among keys.
    Count(Key, Key, Access),
    /// Find the lists of [`Form::Rows`] among keys that have an element at this place, by a secondary index.
    FindPlace(usize, Key, Key, Access),
    /// Append an element and take it back: ROLLBACK TO SAVEPOINT.
    Undo(Key, Element),
    /// Append an element to one list and, within a savepoint in a savepoint, one to another, and take only that back.
    UndoPart {
        /// What stays.
        kept: (Key, Element),
        /// What is taken back.
        undone: (Key, Element),
    },
    /// Read a list with a lock, delete its row or rows, and insert them again with an element more.
    Replace(Key, Element),
    /// Insert a list's first element. If the list is not empty, that fails (a duplicate key), and the transaction goes on.
    Collide(Key, Element),
    /// Append an element by a statement that fails at its second row, and go on.
    Fail(Key, Element),
    /// Insert a list's first element and take it back: ROLLBACK TO SAVEPOINT. Whether that worked tells whether the list is empty.
    Probe(Key, Element),
}

impl Step {
    /// Whether it is one statement that reads without locks.
    pub fn is_plain(self) -> bool {
        let access = match self {
            Step::Read(_, access)
            | Step::ReadRange(_, _, _, access)
            | Step::ReadTag(_, _, _, access)
            | Step::ReadPair(_, _, access)
            | Step::ReadLong(_, _, access)
            | Step::Count(_, _, access)
            | Step::FindPlace(_, _, _, access) => access,
            Step::Append(..)
            | Step::Rewrite(..)
            | Step::Undo(..)
            | Step::UndoPart { .. }
            | Step::Replace(..)
            | Step::Collide(..)
            | Step::Fail(..)
            | Step::Probe(..) => Access::Locking,
        };
        access == Access::Plain
    }
}

/// How a transaction ends if it gets to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// COMMIT.
    Commit,
    /// ROLLBACK.
    Rollback,
    /// An XA transaction: XA COMMIT ... ONE PHASE.
    OnePhase,
    /// An XA transaction that is rolled back without having been prepared.
    NotPrepared,
    /// An XA transaction that is prepared and then committed or rolled back, by its own session or by another.
    Prepare {
        /// Rolled back.
        is_rolled_back: bool,
        /// By another session.
        is_handed_over: bool,
    },
}

impl End {
    /// Whether it is an XA transaction.
    pub fn is_xa(self) -> bool {
        matches!(self, End::OnePhase | End::NotPrepared | End::Prepare { .. })
    }
}

/// A transaction to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What it does.
    pub steps: Vec<Step>,
    /// Run without BEGIN and COMMIT; it has one step.
    pub is_single: bool,
    /// Begun with READ ONLY.
    pub is_read_only: bool,
    /// After a statement that failed and left the transaction as it was before, it goes on.
    pub goes_on: bool,
    /// How it ends.
    pub end: End,
}

/// A session's transactions.
#[derive(Debug, Clone)]
pub struct Generator {
    prng: Prng,
    session: u32,
    level: Level,
    planned: u32,
    elements: u64,
}

/// Keys in use at one time.
const WINDOW: u32 = 8;
/// A session plans so many transactions before its window moves by a key.
const PER_KEY: u32 = 4;

impl Generator {
    /// The transactions of `session` in the workload of `seed`.
    pub fn new(seed: u64, session: u32, level: Level) -> Generator {
        let prng = Prng::new(seed.wrapping_mul(1_000_003).wrapping_add(u64::from(session)));
        Generator { prng, session, level, planned: 0, elements: 0 }
    }

    /// The next one.
    pub fn plan(&mut self) -> Plan {
        self.planned += 1;
        let prng = &mut self.prng;
        let (is_single, is_read_only) = (prng.one_in(6), prng.one_in(5));
        let steps = if is_single { 1 } else { 1 + prng.below(5) };
        let steps = (0..steps).map(|_| if is_read_only { self.read(true) } else { self.step(is_single) });
        let steps = steps.collect();
        let end = match self.prng.below(24) {
            _ if is_single => End::Commit,
            0..2 => End::Rollback,
            _ if is_read_only => End::Commit,
            2 => End::OnePhase,
            3 => End::NotPrepared,
            4..9 => {
                let is_rolled_back = self.prng.one_in(4);
                End::Prepare { is_rolled_back, is_handed_over: self.prng.one_in(2) }
            }
            _ => End::Commit,
        };
        Plan { steps, is_single, is_read_only, goes_on: self.prng.one_in(2), end }
    }

    fn key(&mut self) -> Key {
        self.planned / PER_KEY + self.prng.below(u64::from(WINDOW)) as u32
    }

    fn element(&mut self) -> Element {
        self.elements += 1;
        u64::from(self.session + 1) * 10_000_000 + self.elements
    }

    fn step(&mut self, is_single: bool) -> Step {
        match self.prng.below(16) {
            0..6 => Step::Append(self.key(), self.element()),
            // Where plain reads may be stale, a rewrite without a lock would lose what it has not read: rightly.
            6 if !is_single => {
                let is_safe = self.level >= Level::Snapshot && self.prng.one_in(2);
                let access = if is_safe { Access::Plain } else { Access::Locking };
                Step::Rewrite(self.key() & !1, self.element(), access)
            }
            7 if !is_single => Step::Undo(self.key(), self.element()),
            8 if !is_single => {
                Step::UndoPart { kept: (self.key(), self.element()), undone: (self.key(), self.element()) }
            }
            9 if !is_single => Step::Replace(self.key(), self.element()),
            10 if !is_single && self.prng.one_in(2) => Step::Fail(self.key() | 1, self.element()),
            10 => Step::Collide(self.key(), self.element()),
            // Further on, where lists are empty more often.
            11 if !is_single => Step::Probe(self.key() + WINDOW / 2, self.element()),
            _ => self.read(false),
        }
    }

    fn read(&mut self, only_plainly: bool) -> Step {
        let access = match only_plainly || !self.prng.one_in(3) {
            true => Access::Plain,
            false => Access::Locking,
        };
        let from = self.key();
        let to = from + self.prng.below(5) as u32;
        let length = 1 + self.prng.below(5) as usize;
        match self.prng.below(8) {
            0 => Step::ReadRange(Form::Text, from, to, access),
            1 => Step::ReadRange(Form::Rows, from, to, access),
            2 => Step::ReadTag(self.prng.below(3) as u32, from, to, access),
            3 => Step::ReadPair(from, self.key(), access),
            4 => Step::ReadLong(from, length, access),
            5 => Step::Count(from, to, access),
            6 => Step::FindPlace(length, from, to, access),
            _ => Step::Read(from, access),
        }
    }
}

/// The keys of an era's lists of [`Form::Text`]; `key` is one of the era's.
pub fn era(key: Key) -> impl Iterator<Item = Key> {
    let first = key / ERA * ERA;
    (first..first + ERA).filter(|key| form(*key) == Form::Text)
}
