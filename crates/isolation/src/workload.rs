//! Transactions at random, replayable from a seed.
//!
//! Each session has a generator of its own; what it plans depends on the seed and the session's number only, not on what the
//! server answers. Keys are used in a window that moves on, so that lists stay short enough to be read whole. Lists live in
//! two forms, so that changes of rows and inserts into ranges are both tried: those of even keys in the text of a row, which
//! the first append inserts; those of odd keys as a row for each element.

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
    /// Append an element and take it back: ROLLBACK TO SAVEPOINT.
    Undo(Key, Element),
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
    /// Rolled back instead of committed.
    pub is_rolled_back: bool,
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
        Plan { steps, is_single, is_read_only, is_rolled_back: !is_single && self.prng.one_in(12) }
    }

    fn key(&mut self) -> Key {
        self.planned / PER_KEY + self.prng.below(u64::from(WINDOW)) as u32
    }

    fn element(&mut self) -> Element {
        self.elements += 1;
        u64::from(self.session + 1) * 10_000_000 + self.elements
    }

    fn step(&mut self, is_single: bool) -> Step {
        match self.prng.below(10) {
            0..5 => Step::Append(self.key(), self.element()),
            // Where plain reads may be stale, a rewrite without a lock would lose what it has not read: rightly.
            5 if !is_single => {
                let is_safe = self.level >= Level::Snapshot && self.prng.one_in(2);
                let access = if is_safe { Access::Plain } else { Access::Locking };
                Step::Rewrite(self.key() & !1, self.element(), access)
            }
            6 if !is_single => Step::Undo(self.key(), self.element()),
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
        match self.prng.below(4) {
            0 => Step::ReadRange(Form::Text, from, to, access),
            1 => Step::ReadRange(Form::Rows, from, to, access),
            2 => Step::ReadTag(self.prng.below(3) as u32, from, to, access),
            _ => Step::Read(from, access),
        }
    }
}
