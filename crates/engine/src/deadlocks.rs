//! What is told of deadlocks, to whoever wants to know: which transactions waited for each other, and for what.

use palisade_base::TrxId;
use palisade_txn::{DeadlockMember, KeyLock, Locked};

use crate::engine::{ActiveTransaction, Engine};
use crate::row_locks::{Named, RowLock};

/// A deadlock, as it was when it was found: each transaction waits for the next, the last for the first.
#[derive(Debug, Clone)]
pub struct Deadlock {
    /// Those in it.
    pub parties: Vec<DeadlockParty>,
}

/// A transaction in a deadlock.
#[derive(Debug, Clone)]
pub struct DeadlockParty {
    /// The transaction.
    pub transaction: ActiveTransaction,
    /// What it waits for.
    pub awaited: RowLock,
    /// What it has of that which the one before it waits for; `None` if it only came earlier.
    pub held: Option<RowLock>,
    /// Whether it is the one that is rolled back.
    pub is_victim: bool,
}

impl Engine {
    /// Has every deadlock told, once, when it is found and before anybody is rolled back. `observer` is called under latches: it
    /// must ask the engine for nothing, and should be quick.
    pub fn on_deadlock(&self, observer: impl Fn(&Deadlock) + Send + Sync + 'static) {
        assert!(self.deadlock_observer.set(Box::new(observer)).is_ok(), "deadlocks are told to one");
    }

    /// Begins to be told of deadlocks.
    pub(crate) fn watch_deadlocks(self: &std::sync::Arc<Self>) {
        // A transaction holds its engine, so the engine is there as long as anybody can be in a deadlock.
        let engine = std::sync::Arc::downgrade(self);
        self.trx.locks().on_deadlock(move |members| {
            if let Some(engine) = engine.upgrade()
                && let Some(observer) = engine.deadlock_observer.get()
            {
                observer(&engine.deadlock_of(members));
            }
        });
    }

    fn deadlock_of(&self, members: &[DeadlockMember]) -> Deadlock {
        let indexes = |member: &DeadlockMember| {
            [Some(member.awaited.index), member.held.as_ref().map(|held| held.index)]
        };
        let concerned: Vec<_> = members.iter().flat_map(indexes).flatten().collect();
        let named = Named::of(&self.dictionary(), |index| concerned.contains(&index));
        let party = |member: &DeadlockMember| {
            let lock = |lock: &KeyLock, granted: bool| {
                let id = member.trx.id.unwrap_or(TrxId::NONE);
                named.row_lock(
                    (member.trx.session, id),
                    lock.index,
                    Locked::Key(lock.key.clone()),
                    lock.mode,
                    granted,
                )
            };
            DeadlockParty {
                transaction: self.described(member.trx),
                awaited: lock(&member.awaited, false),
                held: member.held.as_ref().map(|held| lock(held, true)),
                is_victim: member.is_victim,
            }
        };
        Deadlock { parties: members.iter().map(party).collect() }
    }
}

/// Who is told of deadlocks.
pub(crate) type Observer = Box<dyn Fn(&Deadlock) + Send + Sync>;
