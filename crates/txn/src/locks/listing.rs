//! What is in the lock table, for those who want to look at it.
//!
//! Shards are read one after the other, so what is listed need not have been there at one moment. A row that somebody has
//! changed is locked by the id in it, which is in no table: it is listed once somebody waits for it, and so has made it
//! explicit.

use std::sync::atomic::Ordering;

use palisade_base::TrxId;

use super::ranges::Cut;
use super::{LockTable, Mode};
use crate::sessions::SessionNo;

/// A lock, or the wait for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockInfo {
    /// Whose.
    pub session: SessionNo,
    /// The session's transaction, if it has changed anything.
    pub trx: TrxId,
    /// The index.
    pub index: u64,
    /// What of it.
    pub what: Locked,
    /// How strong.
    pub mode: Mode,
    /// Whether the session has it.
    pub granted: bool,
    /// If not, whom it waits for: those who have the lock, or (false) came earlier.
    pub waits_for: Vec<(SessionNo, bool)>,
}

/// What is locked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Locked {
    /// An entry.
    Key(Box<[u8]>),
    /// All entries between two cuts, and what is between them.
    Range(Cut, Cut),
}

impl LockTable {
    /// Everything that is locked or waited for, in order of index and key.
    pub fn list(&self) -> Vec<LockInfo> {
        let mut list = Vec::new();
        for shard in &self.shards {
            for (key, queue) in shard.queues.lock().by_key.iter() {
                let Some((index, rest)) = key.split_first_chunk::<8>() else { continue };
                let index = u64::from_le_bytes(*index);
                let mut add = |session, mode, granted, waits_for| {
                    let what = Locked::Key(rest.into());
                    let trx = self.writer(session);
                    list.push(LockInfo { session, trx, index, what, mode, granted, waits_for });
                };
                queue.granted.iter().for_each(|(session, mode)| add(*session, *mode, true, Vec::new()));
                for (position, waiter) in queue.waiting.iter().enumerate() {
                    add(waiter.session, waiter.mode, false, queue.in_the_way(position).collect());
                }
            }
        }
        self.ranges.visit(|session, index, mode, from, to| {
            list.push(LockInfo {
                session,
                trx: self.writer(session),
                index,
                what: Locked::Range(from.clone(), to.clone()),
                mode,
                granted: true,
                waits_for: Vec::new(),
            });
        });
        list.sort_by_key(|lock| (lock.index, lock.start(), !lock.granted));
        list
    }

    fn writer(&self, session: SessionNo) -> TrxId {
        TrxId(self.cells.cell(session).writer.load(Ordering::Acquire))
    }
}

impl LockInfo {
    fn start(&self) -> Cut {
        match &self.what {
            Locked::Key(key) => Cut::before(key),
            Locked::Range(from, _) => from.clone(),
        }
    }
}
