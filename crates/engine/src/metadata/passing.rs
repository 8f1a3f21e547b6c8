//! Who waits at closed gates, so that nobody waits in a circle.
//!
//! A lock closes the gates of all its tables at once and then waits for the transactions that use one of them. If such a
//! transaction asks for another of these tables, each would wait for the other; and two locks and two transactions can wait
//! for each other in turn. But a lock that still waits holds nothing, and it has to wait for that transaction in any case. So a
//! gate does not stop those for whom its lock is waiting, directly or through others: they *pass*, and nobody is a victim.
//!
//! # Why that is safe
//!
//! A lock becomes held ([`Passing::acquire`]), and a transaction passes ([`Passing::may_pass`]), under one mutex. The one
//! looks through all pins there, the other has set its pin before, and passes only locks that are not held yet. Whoever comes
//! second sees the other.
//!
//! # Why it is enough
//!
//! Whether a transaction may pass is looked at when it asks, each time. Nothing but a transaction that asks closes a circle: who
//! begins to wait for a lock asks, and a lock that has just been noted has nobody waiting for it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use palisade_txn::SessionNo;
use parking_lot::Mutex;

use super::{Gate, Share, Use};
use crate::table::Table;

/// The tables of a lock, and how much of each it takes.
pub(super) type Tables = Arc<[(Arc<Table>, Share)]>;

/// Names a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LockNo(u64);

/// What a transaction asks for.
pub(super) struct Asked {
    /// The id of the table.
    pub(super) table: u64,
    pub(super) gate: Arc<Gate>,
    pub(super) usage: Use,
    /// It reads the table already.
    pub(super) upgrade: bool,
}

impl Asked {
    /// Whether a lock of `tables` stands in the way. One that wants a table alone waits for its readers anyway.
    fn is_stopped_by(&self, tables: &[(Arc<Table>, Share)]) -> bool {
        tables.iter().any(|(table, share)| {
            let stops = match share {
                Share::Alone => !self.upgrade,
                Share::Reading => self.usage != Use::Read,
            };
            stops && Arc::ptr_eq(table.gate(), &self.gate)
        })
    }
}

/// A lock that has closed gates.
struct Noted {
    tables: Tables,
    is_held: bool,
}

/// Locks that have closed gates, and transactions that wait there.
#[derive(Default)]
pub(super) struct Passing(Mutex<Waits>);

#[derive(Default)]
struct Waits {
    next: u64,
    locks: BTreeMap<LockNo, Noted>,
    /// What each transaction has last been refused. It may have given up since: somebody passes then who need not.
    asking: HashMap<SessionNo, Asked>,
}

impl Passing {
    /// A lock is about to close the gates of these tables.
    pub(super) fn note(&self, tables: Tables) -> LockNo {
        let mut waits = self.0.lock();
        let number = LockNo(waits.next);
        waits.next += 1;
        waits.locks.insert(number, Noted { tables, is_held: false });
        number
    }

    /// What each transaction has last been refused, for those who look at locks: the id of the table, and
    /// what for.
    pub(super) fn refused(&self) -> Vec<(SessionNo, u64, Use)> {
        let waits = self.0.lock();
        waits.asking.iter().map(|(session, asked)| (*session, asked.table, asked.usage)).collect()
    }

    /// The lock has opened its gates.
    pub(super) fn forget(&self, number: LockNo) {
        let mut waits = self.0.lock();
        waits.locks.remove(&number);
        if waits.locks.is_empty() {
            waits.asking.clear();
        }
    }

    /// The lock is held from now on, if no transaction uses its tables in a way that it does not allow. Whether it is.
    pub(super) fn acquire(&self, number: LockNo, is_used: impl FnOnce() -> bool) -> bool {
        let mut waits = self.0.lock();
        let is_held = !is_used();
        waits.locks.get_mut(&number).expect("a lock is noted until it is dropped").is_held = is_held;
        is_held
    }

    /// Whether `session`, whose pin is set, need not stop: every lock in its way waits for it. `uses` says whether a session
    /// uses tables in a way that their lock does not allow, the pin just set aside.
    pub(super) fn may_pass(
        &self,
        session: SessionNo,
        asked: Asked,
        uses: impl Fn(SessionNo, &[(Arc<Table>, Share)]) -> bool,
    ) -> bool {
        let mut waits = self.0.lock();
        let in_the_way: Vec<LockNo> = waits.in_the_way(&asked).collect();
        // With none, the gate has just been opened: it is to be looked at again.
        let passes = !in_the_way.is_empty()
            && in_the_way.into_iter().all(|lock| waits.waits_for(lock, session, &uses));
        if passes {
            waits.asking.remove(&session);
        } else {
            waits.asking.insert(session, asked);
        }
        passes
    }
}

impl Waits {
    fn in_the_way(&self, asked: &Asked) -> impl Iterator<Item = LockNo> {
        self.locks.iter().filter(|(_, lock)| asked.is_stopped_by(&lock.tables)).map(|(number, _)| *number)
    }

    /// Whether a lock waits for `session`, or for somebody who does.
    fn waits_for(
        &self,
        lock: LockNo,
        session: SessionNo,
        uses: &impl Fn(SessionNo, &[(Arc<Table>, Share)]) -> bool,
    ) -> bool {
        let mut seen = BTreeSet::from([lock]);
        let mut todo = vec![lock];
        while let Some(number) = todo.pop() {
            let Noted { tables, is_held } = &self.locks[&number];
            if *is_held {
                continue;
            }
            if uses(session, tables) {
                return true;
            }
            let others = self.asking.iter().filter(|(other, _)| **other != session && uses(**other, tables));
            for (_, asked) in others {
                todo.extend(self.in_the_way(asked).filter(|next| seen.insert(*next)));
            }
        }
        false
    }
}
