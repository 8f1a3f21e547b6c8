//! What clients did and saw.

use std::collections::BTreeMap;

/// Names a list.
pub type Key = u32;
/// What is appended. Each is used once in a history.
pub type Element = u64;

/// What the client knows of a transaction's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The commit was acknowledged.
    Committed,
    /// It was rolled back, or its commit was never asked for.
    Aborted,
    /// The commit was asked for, and no answer came.
    Unknown,
}

/// How a list was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// A plain SELECT.
    Plain,
    /// FOR UPDATE or FOR SHARE.
    Locking,
}

/// One thing a transaction did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// It appended an element.
    Append(Key, Element),
    /// It read a whole list; one that is not there is empty.
    Read(Key, Access, Vec<Element>),
}

/// A transaction as its client saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    /// Who ran it.
    pub session: u32,
    /// A moment before it began.
    pub begin: u64,
    /// A moment after its commit was acknowledged; means nothing for others.
    pub end: u64,
    /// How it ended.
    pub fate: Fate,
    /// What it did, in order; what it took back by itself is not among it.
    pub ops: Vec<Op>,
    /// What it appended and took back by itself: ROLLBACK TO SAVEPOINT.
    pub undone: Vec<(Key, Element)>,
}

impl Transaction {
    /// What it appended to `key`, in order.
    pub fn appends(&self, key: Key) -> impl Iterator<Item = Element> + '_ {
        self.ops.iter().filter_map(move |op| match op {
            Op::Append(known, element) if *known == key => Some(*element),
            _ => None,
        })
    }

    /// Whether it did nothing but read without locks.
    pub fn only_reads_plainly(&self) -> bool {
        self.undone.is_empty() && self.ops.iter().all(|op| matches!(op, Op::Read(_, Access::Plain, _)))
    }
}

/// What all clients saw.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// Every transaction, in any order.
    pub transactions: Vec<Transaction>,
    /// Every list, read when all was over.
    pub last: BTreeMap<Key, Vec<Element>>,
}
