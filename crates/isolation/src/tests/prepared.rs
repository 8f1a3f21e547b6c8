//! A database that locks what it reads and writes until a transaction's end, and is killed now and then while some are prepared: with
//! their locks kept it is serializable, and the checker says so; with the locks of what they have read lost it is not, and the
//! checker says that, too.
//!
//! Besides there are statements of their own that read what is committed and lock nothing, as a plain SELECT with autocommit: they
//! see what is before a prepared transaction and after whoever has taken its place.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use palisade_base::prng::{Prng, test_seed};

use super::model::kinds;
use crate::history::{Access, Fate, History, Key, Look, Op, Transaction};
use crate::{Kind, Level, check};

const SESSIONS: usize = 6;
const KEYS: u64 = 6;

/// What a killed database knows of the locks of who is prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    All,
    Writes,
}

#[derive(Default)]
struct Running {
    session: u32,
    begin: u64,
    reads: BTreeSet<Key>,
    writes: BTreeMap<Key, Vec<u64>>,
    ops: Vec<Op>,
}

impl Running {
    fn excludes(&self, key: Key, writes: bool) -> bool {
        self.writes.contains_key(&key) || writes && self.reads.contains(&key)
    }
}

struct Model {
    prng: Prng,
    committed: BTreeMap<Key, Vec<u64>>,
    running: Vec<Option<Running>>,
    prepared: Vec<Running>,
    moment: u64,
    element: u64,
    history: History,
}

impl Model {
    fn tick(&mut self) -> u64 {
        self.moment += 1;
        self.moment
    }

    fn key(&mut self) -> Key {
        self.prng.below(KEYS) as Key
    }

    fn finish(&mut self, one: Running, fate: Fate) {
        if fate == Fate::Committed {
            for (key, elements) in &one.writes {
                self.committed.entry(*key).or_default().extend(elements);
            }
        }
        let Running { session, begin, ops, .. } = one;
        let end = self.tick();
        let (undone, looks) = (Vec::new(), Vec::new());
        self.history.transactions.push(Transaction { session, begin, end, fate, ops, undone, looks });
    }

    /// A statement of its own that reads two lists and locks nothing.
    fn look(&mut self, session: u32) {
        let begin = self.tick();
        let keys = [self.key(), self.key()];
        let read =
            |key: Key| Op::Read(key, Access::Plain, self.committed.get(&key).cloned().unwrap_or_default());
        let ops: Vec<Op> = keys.into_iter().map(read).collect();
        let end = self.tick();
        let looks = vec![Look { begin, end, ops: 0..ops.len() }];
        let (fate, undone) = (Fate::Committed, Vec::new());
        self.history.transactions.push(Transaction { session, begin, end, fate, ops, undone, looks });
    }

    /// A step of a transaction, which gives way if the list is locked.
    fn step(&mut self, at: usize) {
        let (key, writes) = (self.key(), self.prng.one_in(2));
        let mut one = match self.running[at].take() {
            Some(one) => one,
            None => Running { session: at as u32, begin: self.tick(), ..Running::default() },
        };
        let others = self.running.iter().flatten().chain(&self.prepared);
        if others.into_iter().any(|other| other.excludes(key, writes)) {
            return self.finish(one, Fate::Aborted);
        }
        if writes {
            self.element += 1;
            one.writes.entry(key).or_default().push(self.element);
            one.ops.push(Op::Append(key, self.element));
        } else {
            let mut list = self.committed.get(&key).cloned().unwrap_or_default();
            list.extend(one.writes.get(&key).into_iter().flatten());
            one.reads.insert(key);
            one.ops.push(Op::Read(key, Access::Locking, list));
        }
        match self.prng.below(10) {
            0..2 => self.finish(one, Fate::Committed),
            2 => self.finish(one, Fate::Aborted),
            3 if self.prepared.len() < 2 => self.prepared.push(one),
            _ => self.running[at] = Some(one),
        }
    }

    fn kill(&mut self, kept: Kept) {
        let running: Vec<_> = self.running.iter_mut().filter_map(Option::take).collect();
        running.into_iter().for_each(|one| self.finish(one, Fate::Aborted));
        if kept == Kept::Writes {
            self.prepared.iter_mut().for_each(|one| one.reads.clear());
        }
    }
}

fn run(seed: u64, kept: Kept) -> History {
    let mut model = Model {
        prng: Prng::new(seed),
        committed: BTreeMap::new(),
        running: (0..SESSIONS).map(|_| None).collect(),
        prepared: Vec::new(),
        moment: 0,
        element: 0,
        history: History::default(),
    };
    for _ in 0..2000 {
        match model.prng.below(40) {
            0 => model.kill(kept),
            1..4 => model.look(SESSIONS as u32),
            4 if !model.prepared.is_empty() => {
                let at = model.prng.below(model.prepared.len() as u64) as usize;
                let fate = if model.prng.one_in(4) { Fate::Aborted } else { Fate::Committed };
                let one = model.prepared.swap_remove(at);
                model.finish(one, fate);
            }
            _ => {
                let at = model.prng.below(SESSIONS as u64) as usize;
                model.step(at);
            }
        }
    }
    while let Some(one) = model.prepared.pop() {
        model.finish(one, Fate::Committed);
    }
    let mut history = model.history;
    history.last = model.committed;
    history
}

#[test]
fn with_all_locks_of_what_is_prepared_it_is_serializable() {
    let seed = test_seed(6);
    for round in 0..10 {
        let history = run(seed + round, Kept::All);
        assert_eq!(check(&history, Level::Serializable), [], "round {round}");
    }
}

#[test]
fn without_the_locks_of_what_it_has_read_it_is_not() {
    let seed = test_seed(7);
    let mut found = HashSet::new();
    for round in 0..10 {
        let history = run(seed + round, Kept::Writes);
        assert_eq!(check(&history, Level::ReadCommitted), [], "round {round}: what is written is locked");
        found.extend(kinds(&history, Level::Serializable));
    }
    assert!(found.contains(&Kind::G2), "{found:?}");
}
