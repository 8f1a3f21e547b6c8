//! Metadata locks as others may look at them: `performance_schema.metadata_locks`.
//!
//! Locks by name (DDL, LOCK TABLES, FLUSH TABLES WITH READ LOCK) are listed from when they are asked for
//! until they are given up; a list behind a mutex, since they are few. What transactions use is read from
//! their pins, so that a reader pays nothing for being seen. What a transaction waits for is what it was last
//! refused: it may have given up since, and the caller has to know whether its session waits.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use palisade_txn::SessionNo;
use parking_lot::Mutex;

use super::{NOTED, TableName, Use};
use crate::engine::Engine;

/// What a metadata lock is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MetadataObject {
    /// Changes of anything.
    Global,
    /// Commits.
    Commit,
    /// A schema.
    Schema(String),
    /// A table.
    Table(TableName),
}

impl From<&TableName> for MetadataObject {
    fn from(name: &TableName) -> MetadataObject {
        match name.table.is_empty() {
            true => MetadataObject::Schema(name.schema.clone()),
            false => MetadataObject::Table(name.clone()),
        }
    }
}

/// How much a metadata lock keeps others from, by MySQL's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockStrength {
    /// FLUSH TABLES WITH READ LOCK.
    Shared,
    /// A transaction reads.
    SharedRead,
    /// A transaction writes, or locks rows to do so.
    SharedWrite,
    /// LOCK TABLES ... READ.
    SharedReadOnly,
    /// LOCK TABLES ... WRITE.
    SharedNoReadWrite,
    /// Data definition.
    Exclusive,
}

/// A metadata lock that is held or waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetadataLock {
    /// What it is about.
    pub object: MetadataObject,
    /// What it keeps others from.
    pub strength: LockStrength,
    /// Whether it is held. A lock of a transaction that is not was asked for last, and may be waited for no
    /// more.
    pub is_granted: bool,
    /// A transaction's, not one by name.
    pub is_transactions: bool,
    /// The connection; 0 if there is none, or none is known.
    pub owner: u64,
    /// Tells it from the others.
    pub number: u64,
}

/// A lock by name.
struct Request {
    owner: u64,
    objects: Vec<(MetadataObject, LockStrength)>,
    is_granted: bool,
}

/// Locks by name that are held or asked for.
#[derive(Clone, Default)]
pub(super) struct Requests(Arc<Mutex<Numbered>>);

#[derive(Default)]
struct Numbered {
    last: u64,
    by_number: BTreeMap<u64, Request>,
}

impl Requests {
    /// A lock is asked for.
    pub(super) fn list(&self, objects: Vec<(MetadataObject, LockStrength)>) -> Arc<Listed> {
        let mut numbered = self.0.lock();
        numbered.last += 1;
        let number = numbered.last;
        numbered.by_number.insert(number, Request { owner: 0, objects, is_granted: false });
        Arc::new(Listed { requests: self.clone(), number })
    }

    fn locks(&self) -> Vec<MetadataLock> {
        let numbered = self.0.lock();
        let of_request = |(number, request): (&u64, &Request)| {
            let (number, owner, is_granted) = (*number, request.owner, request.is_granted);
            let lock = |(place, (object, strength)): (u64, &(MetadataObject, LockStrength))| MetadataLock {
                object: object.clone(),
                strength: *strength,
                is_granted,
                is_transactions: false,
                owner,
                number: BY_NAME | (number << 16) | place,
            };
            (0..).zip(&request.objects).map(lock).collect::<Vec<_>>()
        };
        numbered.by_number.iter().flat_map(of_request).collect()
    }
}

/// Set in the numbers of locks by name.
const BY_NAME: u64 = 1 << 62;

/// A lock by name in the list, until it is dropped.
pub(super) struct Listed {
    requests: Requests,
    number: u64,
}

impl Listed {
    fn change(&self, change: impl FnOnce(&mut Request)) {
        if let Some(request) = self.requests.0.lock().by_number.get_mut(&self.number) {
            change(request);
        }
    }

    pub(super) fn set_owner(&self, owner: u64) {
        self.change(|request| request.owner = owner);
    }

    pub(super) fn owner(&self) -> u64 {
        self.requests.0.lock().by_number.get(&self.number).map_or(0, |request| request.owner)
    }

    /// The lock is held.
    pub(super) fn grant(&self) {
        self.change(|request| request.is_granted = true);
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.requests.0.lock().by_number.remove(&self.number);
    }
}

impl Engine {
    /// All metadata locks: those by name, those of transactions, and what transactions were last refused. A
    /// transaction that uses more tables than it notes one by one is listed with those that it has noted.
    pub fn metadata_locks(&self) -> Vec<MetadataLock> {
        let (locks, dictionary) = (&self.metadata, self.dictionary());
        let names: BTreeMap<u64, TableName> = dictionary
            .all_tables()
            .map(|table| (table.id, TableName::new(table.schema.clone(), table.name.clone())))
            .collect();
        let mut found = locks.requests.locks();
        let lock = |session: SessionNo, place: usize, table: u64, writes: bool, is_granted: bool| {
            Some(MetadataLock {
                object: MetadataObject::Table(names.get(&table)?.clone()),
                strength: if writes { LockStrength::SharedWrite } else { LockStrength::SharedRead },
                is_granted,
                is_transactions: true,
                owner: self.trx.look(session).owner,
                number: (u64::from(session.0) << 16) | place as u64,
            })
        };
        for session in (0..locks.sessions.load(Ordering::Acquire) as u32).map(SessionNo) {
            let pins = locks.pinned(session).tables.into_iter().enumerate();
            found.extend(
                pins.filter_map(|(place, (table, writes))| lock(session, place, table, writes, true)),
            );
        }
        let refused = locks.passing.refused().into_iter();
        found.extend(refused.filter_map(|(session, table, usage)| {
            lock(session, NOTED + 1, table, usage != Use::Read, false)
        }));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_by_name_is_listed_from_its_request_to_its_end() {
        let requests = Requests::default();
        let name = TableName::new("test", "t");
        let schema = TableName::new("test", "");
        let objects = vec![
            (MetadataObject::from(&name), LockStrength::Exclusive),
            (MetadataObject::from(&schema), LockStrength::Shared),
        ];
        let first = requests.list(objects);
        let second = requests.list(vec![(MetadataObject::Global, LockStrength::Shared)]);
        first.set_owner(7);
        first.grant();
        assert_eq!((first.owner(), second.owner()), (7, 0));
        let seen: Vec<_> =
            requests.locks().into_iter().map(|lock| (lock.object, lock.owner, lock.is_granted)).collect();
        let expected = [
            (MetadataObject::Table(name), 7, true),
            (MetadataObject::Schema("test".into()), 7, true),
            (MetadataObject::Global, 0, false),
        ];
        assert_eq!(seen, expected);
        let numbers: Vec<u64> = requests.locks().iter().map(|lock| lock.number).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "each has a number of its own: {numbers:?}");
        drop(first);
        assert_eq!(requests.locks().len(), 1);
        drop(second);
        assert!(requests.locks().is_empty());
    }
}
