//! Row locks as others may look at them: performance_schema.data_locks.

use std::collections::HashMap;
use std::sync::Arc;

use palisade_base::TrxId;
use palisade_txn::{LockInfo, Locked, Mode, SessionNo};

use crate::engine::Engine;
use crate::{Dictionary, Table};

/// A row lock, or the wait for one.
#[derive(Debug, Clone)]
pub struct RowLock {
    /// Number of its session: see [`ActiveTransaction::session`](crate::ActiveTransaction::session).
    pub session: u32,
    /// The transaction's id, if it has changed anything.
    pub transaction: Option<TrxId>,
    /// The table; `None` if it has gone, or is none of the dictionary's.
    pub table: Option<Arc<Table>>,
    /// Number of the index in the table.
    pub index: usize,
    /// Number of the partition in the table.
    pub partition: usize,
    /// Whether it is the lock of the table's AUTO_INCREMENT counter, and not of an index.
    pub is_counter: bool,
    /// What of it: the key of a row, or of an entry; or a range of them.
    pub what: Locked,
    /// How strong.
    pub mode: Mode,
    /// Whether the session has it.
    pub granted: bool,
    /// If not, the positions in the list of what is in its way.
    pub waits_for: Vec<usize>,
}

impl Engine {
    /// All row locks that the lock table knows of. A row that a transaction has changed is locked by that; it is listed
    /// once another transaction waits for it.
    pub fn row_locks(&self) -> Vec<RowLock> {
        let list = self.trx.locks().list();
        let place = |lock: &LockInfo| (lock.session, lock.index, lock.what.clone(), lock.granted);
        let places: HashMap<_, _> = list.iter().enumerate().map(|(at, lock)| (place(lock), at)).collect();
        let named = Named::of(&self.dictionary(), |_| true);
        list.iter()
            .map(|lock| {
                let blocker = |(session, granted): &(SessionNo, bool)| {
                    places.get(&(*session, lock.index, lock.what.clone(), *granted)).copied()
                };
                RowLock {
                    waits_for: lock.waits_for.iter().filter_map(blocker).collect(),
                    ..named.row_lock(
                        (lock.session, lock.trx),
                        lock.index,
                        lock.what.clone(),
                        lock.mode,
                        lock.granted,
                    )
                }
            })
            .collect()
    }
}

/// Which index or counter the lock table's numbers stand for.
pub(crate) struct Named(HashMap<u64, (Arc<Table>, Option<TreePlace>)>);

/// The numbers of a tree's index and partition.
type TreePlace = (usize, usize);

impl Named {
    /// Those that are `wanted`.
    pub(crate) fn of(dictionary: &Dictionary, wanted: impl Fn(u64) -> bool) -> Named {
        let mut tables = HashMap::new();
        for table in dictionary.all_tables() {
            let numbered = table.indexes.iter().enumerate();
            let trees = numbered.flat_map(|(number, index)| {
                let of = index.trees.iter().enumerate();
                of.map(move |(partition, tree)| (tree.id, Some((number, partition))))
            });
            for (id, number) in trees.chain([(table.id, None)]).filter(|(id, _)| wanted(*id)) {
                tables.insert(id, (table.clone(), number));
            }
        }
        Named(tables)
    }

    /// A lock of the session's transaction that is in nobody's way.
    pub(crate) fn row_lock(
        &self,
        (session, id): (SessionNo, TrxId),
        index: u64,
        what: Locked,
        mode: Mode,
        granted: bool,
    ) -> RowLock {
        let known = self.0.get(&index);
        let place = known.and_then(|(_, place)| *place);
        RowLock {
            session: session.0,
            transaction: (id != TrxId::NONE).then_some(id),
            table: known.map(|(table, _)| table.clone()),
            index: place.map_or(0, |(index, _)| index),
            partition: place.map_or(0, |(_, partition)| partition),
            is_counter: known.is_some() && place.is_none(),
            what,
            mode,
            granted,
            waits_for: Vec::new(),
        }
    }
}
