//! The checker against a database that is right by construction, and the same one made wrong.
//!
//! The model runs the workload's transactions, interleaved step by step, on lists in memory. As `Serial` it runs
//! one at a time. As `Snapshot` each reads what was committed when it began, and of two that append to one list the first to
//! commit wins. As `ReadCommitted` each read is of what is committed then, under the same rule for appends. So what each
//! shows and what it must not show is known.

use std::collections::{BTreeMap, HashSet};

use palisade_base::prng::{Prng, test_seed};

use crate::history::{Access, Fate, History, Key, Length, Look, Op, Transaction};
use crate::workload::{End, Form, Generator, Plan, Step, era, form, tag};
use crate::{Kind, Level, check};

type Lists = BTreeMap<Key, Vec<u64>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    Serial,
    Snapshot,
    ReadCommitted,
}

struct Running {
    plan: Plan,
    next: usize,
    begin: u64,
    snapshot: Lists,
    own: Vec<(Key, u64)>,
    ops: Vec<Op>,
    undone: Vec<(Key, u64)>,
    looks: Vec<Look>,
}

struct Model {
    reads: Reads,
    committed: Lists,
    moment: u64,
    history: History,
}

impl Model {
    fn tick(&mut self) -> u64 {
        self.moment += 1;
        self.moment
    }

    fn begin(&mut self, plan: Plan) -> Running {
        let begin = self.tick();
        let snapshot = self.committed.clone();
        Running {
            plan,
            next: 0,
            begin,
            snapshot,
            own: Vec::new(),
            ops: Vec::new(),
            undone: Vec::new(),
            looks: Vec::new(),
        }
    }

    fn seen(&self, running: &Running, key: Key) -> Vec<u64> {
        let lists = if self.reads == Reads::ReadCommitted { &self.committed } else { &running.snapshot };
        let mut list = lists.get(&key).cloned().unwrap_or_default();
        list.extend(running.own.iter().filter(|(known, _)| *known == key).map(|(_, element)| element));
        list
    }

    fn read(&self, running: &mut Running, key: Key, access: Access) {
        running.ops.push(Op::Read(key, access, self.seen(running, key)));
    }

    fn append(running: &mut Running, key: Key, element: u64) {
        running.own.push((key, element));
        running.ops.push(Op::Append(key, element));
    }

    /// What a condition on a list's length tells.
    fn learn(&self, running: &mut Running, key: Key, access: Access, length: usize) {
        let known = match self.seen(running, key).len() >= length {
            true => Length::at_least(length),
            false => Length::at_most(length - 1),
        };
        running.ops.push(Op::Learn(key, access, known));
    }

    /// Whether it goes on.
    fn step(&mut self, session: u32, running: &mut Running) -> bool {
        let Some(step) = running.plan.steps.get(running.next).copied() else {
            self.end(session, running);
            return false;
        };
        running.next += 1;
        let (begin, first) = (self.tick(), running.ops.len());
        match step {
            Step::Append(key, element) => Self::append(running, key, element),
            Step::Rewrite(key, element, access) => {
                self.read(running, key, access);
                Self::append(running, key, element);
            }
            Step::Replace(key, element) => {
                self.read(running, key, Access::Locking);
                Self::append(running, key, element);
            }
            Step::Undo(key, element) | Step::Fail(key, element) => running.undone.push((key, element)),
            Step::UndoPart { kept: (key, element), undone } => {
                Self::append(running, key, element);
                running.undone.push(undone);
            }
            Step::Collide(key, element) if self.seen(running, key).is_empty() => {
                Self::append(running, key, element);
            }
            Step::Collide(key, element) => {
                running.ops.push(Op::Learn(key, Access::Locking, Length::at_least(1)));
                running.undone.push((key, element));
            }
            Step::Probe(key, element) => {
                let is_empty = self.seen(running, key).is_empty();
                let known = if is_empty { Length::exactly(0) } else { Length::at_least(1) };
                running.ops.push(Op::Learn(key, Access::Locking, known));
                running.undone.push((key, element));
            }
            Step::Read(key, access) => self.read(running, key, access),
            Step::ReadPair(one, other, access) => {
                self.read(running, one, access);
                self.read(running, other, access);
            }
            Step::ReadRange(wanted, from, to, access) => {
                for key in (from..=to).filter(|key| form(*key) == wanted) {
                    self.read(running, key, access);
                }
            }
            Step::ReadTag(wanted, from, to, access) => {
                for key in (from..=to).filter(|key| form(*key) == Form::Text && tag(*key) == wanted) {
                    self.read(running, key, access);
                }
            }
            Step::ReadLong(key, length, access) => {
                for key in era(key) {
                    self.learn(running, key, access, length);
                }
            }
            Step::Count(from, to, access) => {
                for key in (from..=to).filter(|key| form(*key) == Form::Rows) {
                    let length = Length::exactly(self.seen(running, key).len());
                    running.ops.push(Op::Learn(key, access, length));
                }
            }
            Step::FindPlace(length, from, to, access) => {
                for key in (from..=to).filter(|key| form(*key) == Form::Rows) {
                    self.learn(running, key, access, length);
                }
            }
        }
        if step.is_plain() {
            running.looks.push(Look { begin, end: self.tick(), ops: first..running.ops.len() });
        }
        true
    }

    fn end(&mut self, session: u32, running: &mut Running) {
        let is_beaten =
            running.own.iter().any(|(key, _)| self.committed.get(key) != running.snapshot.get(key));
        let is_rolled_back = match running.plan.end {
            End::Commit | End::OnePhase => false,
            End::Rollback | End::NotPrepared => true,
            End::Prepare { is_rolled_back, .. } => is_rolled_back,
        };
        let commits = !is_rolled_back && !is_beaten;
        if commits {
            for (key, element) in &running.own {
                self.committed.entry(*key).or_default().push(*element);
            }
        }
        let end = self.tick();
        let fate = if commits { Fate::Committed } else { Fate::Aborted };
        let (ops, undone) = (std::mem::take(&mut running.ops), std::mem::take(&mut running.undone));
        let looks = std::mem::take(&mut running.looks);
        let begin = running.begin;
        self.history.transactions.push(Transaction { session, begin, end, fate, ops, undone, looks });
    }
}

fn run(seed: u64, reads: Reads) -> History {
    const SESSIONS: u32 = 6;
    let mut prng = Prng::new(seed);
    let mut generators: Vec<_> =
        (0..SESSIONS).map(|session| Generator::new(seed, session, Level::Serializable)).collect();
    let mut model = Model { reads, committed: Lists::new(), moment: 0, history: History::default() };
    let mut running: Vec<Option<Running>> = (0..SESSIONS).map(|_| None).collect();
    for _ in 0..4000 {
        let session = match reads {
            Reads::Serial => running.iter().position(Option::is_some),
            _ => None,
        };
        let session = session.unwrap_or_else(|| prng.below(u64::from(SESSIONS)) as usize);
        let mut one = match running[session].take() {
            Some(running) => running,
            None => model.begin(generators[session].plan()),
        };
        if model.step(session as u32, &mut one) {
            running[session] = Some(one);
        }
    }
    let mut history = model.history;
    history.last = model.committed;
    history
}

pub(super) fn kinds(history: &History, level: Level) -> HashSet<Kind> {
    check(history, level).into_iter().map(|anomaly| anomaly.kind).collect()
}

#[test]
fn what_runs_one_after_the_other_is_serializable() {
    let seed = test_seed(1);
    for round in 0..5 {
        let history = run(seed + round, Reads::Serial);
        assert_eq!(check(&history, Level::Serializable), [], "round {round}");
    }
}

#[test]
fn snapshots_with_the_first_committer_winning_show_write_skew_and_nothing_else() {
    let seed = test_seed(2);
    let mut skewed = 0;
    for round in 0..5 {
        let history = run(seed + round, Reads::Snapshot);
        assert_eq!(check(&history, Level::Snapshot), [], "round {round}");
        let found = kinds(&history, Level::Serializable);
        assert!(found.is_subset(&HashSet::from([Kind::G2])), "{found:?}");
        skewed += found.len();
    }
    assert_ne!(skewed, 0, "none of the histories shows write skew");
}

#[test]
fn reads_of_what_is_committed_are_no_snapshot() {
    let seed = test_seed(3);
    for round in 0..5 {
        let history = run(seed + round, Reads::ReadCommitted);
        assert_eq!(check(&history, Level::ReadCommitted), [], "round {round}");
        let found = kinds(&history, Level::RepeatableRead);
        assert!(found.is_subset(&HashSet::from([Kind::GSingle, Kind::GNonadjacent])), "{found:?}");
        assert!(found.contains(&Kind::GSingle), "round {round}");
        assert!(kinds(&history, Level::Snapshot).contains(&Kind::GSingle), "round {round}");
    }
}

/// Reads as `ReadCommitted`, each key for itself: a statement that reads several sees several moments.
#[test]
fn a_statement_whose_reads_are_of_several_moments_is_found_out() {
    let seed = test_seed(5);
    for round in 0..5 {
        let mut history = run(seed + round, Reads::ReadCommitted);
        for transaction in &mut history.transactions {
            // what several statements saw passes for one statement's
            if let [first, .., last] = transaction.looks.as_slice() {
                let ops = first.ops.start..last.ops.end;
                transaction.looks = vec![Look { begin: first.begin, end: last.end, ops }];
            }
        }
        let found = kinds(&history, Level::ReadCommitted);
        assert_eq!(found, HashSet::from([Kind::StatementSkew]), "round {round}");
    }
}

#[test]
fn a_history_that_is_changed_in_one_place_is_not_right_any_more() {
    let seed = test_seed(4);
    let history = run(seed, Reads::Serial);
    let mut prng = Prng::new(seed);
    let longest = history.last.values().max_by_key(|list| list.len()).unwrap().clone();
    let key = *history.last.iter().find(|(_, list)| **list == longest).unwrap().0;
    for _ in 0..20 {
        let mut changed = history.clone();
        let list = changed.last.get_mut(&key).unwrap();
        let at = prng.below(list.len() as u64 - 1) as usize;
        match prng.below(3) {
            0 => _ = list.remove(at),
            1 => list.swap(at, at + 1),
            _ => list.insert(at, 1),
        }
        assert_ne!(check(&changed, Level::Serializable), [], "list {key} changed at {at}");
    }
}

#[test]
fn a_seed_is_a_workload() {
    let plans = |seed| {
        let mut generator = Generator::new(seed, 3, Level::Snapshot);
        (0..50).map(|_| generator.plan()).collect::<Vec<_>>()
    };
    assert_eq!(plans(7), plans(7));
    assert_ne!(plans(7), plans(8));
}
