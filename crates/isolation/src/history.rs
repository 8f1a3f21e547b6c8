//! What clients did and saw.

use std::collections::BTreeMap;
use std::ops::Range;

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

/// What is known of a list's length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    /// It has so many elements at least.
    pub least: usize,
    /// It has no more than these.
    pub most: Option<usize>,
}

impl Length {
    /// It is known.
    pub fn exactly(length: usize) -> Length {
        Length { least: length, most: Some(length) }
    }

    /// What a condition tells of a list that fulfils it.
    pub fn at_least(length: usize) -> Length {
        Length { least: length, most: None }
    }

    /// What a condition tells of a list that does not fulfil it.
    pub fn at_most(length: usize) -> Length {
        Length { least: 0, most: Some(length) }
    }
}

/// One thing a transaction did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// It appended an element.
    Append(Key, Element),
    /// It read a whole list; one that is not there is empty.
    Read(Key, Access, Vec<Element>),
    /// It learned something of a list's length: from a count, from a condition that rows fulfil or do not, or from the error
    /// that a key is taken.
    Learn(Key, Access, Length),
}

/// A statement that read without locks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// A moment before it was sent.
    pub begin: u64,
    /// A moment after its answer.
    pub end: u64,
    /// Which of the transaction's ops are what it saw.
    pub ops: Range<usize>,
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
    /// What it appended and took back by itself: ROLLBACK TO SAVEPOINT, or a statement that failed.
    pub undone: Vec<(Key, Element)>,
    /// Its statements that read without locks, in order.
    pub looks: Vec<Look>,
}

impl Transaction {
    /// What it appended to `key`, in order.
    pub fn appends(&self, key: Key) -> impl Iterator<Item = Element> + '_ {
        self.ops.iter().filter_map(move |op| match op {
            Op::Append(known, element) if *known == key => Some(*element),
            _ => None,
        })
    }

    /// Whether it changed `key`, even if it took that back.
    pub fn has_touched(&self, key: Key) -> bool {
        self.appends(key).next().is_some() || self.undone.iter().any(|(known, _)| *known == key)
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
