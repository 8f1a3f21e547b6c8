//! The order of each list's versions, and what can be seen without following dependencies.
//!
//! The lists read at the end give the order in which elements were appended. A transaction without an answer to its
//! commit is committed if any of its elements is there. Every read is then compared: what it saw must be a beginning of its
//! list, perhaps followed by what its own transaction had appended; and where only something of the length was seen, there
//! must be a beginning that is so long.

use std::collections::{HashMap, HashSet};

use crate::check::{Anomaly, Kind};
use crate::history::{Access, Element, Fate, History, Key, Length, Op};

/// A read of a list by a committed transaction: what it saw of others' elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sight {
    /// Index of the transaction.
    pub reader: usize,
    /// Which of its ops it was.
    pub op: usize,
    /// The list.
    pub key: Key,
    /// It saw so many of the list's elements.
    pub length: Length,
    /// It saw what others had committed, and nothing else: the read took no locks, and its transaction leaves the list alone.
    pub is_of_snapshot: bool,
}

/// What has been found out.
#[derive(Debug, Default)]
pub struct Versions {
    /// By transaction: whether its appends count.
    pub is_committed: Vec<bool>,
    /// By element: the index of who appended it.
    pub writers: HashMap<Element, usize>,
    /// What committed transactions read, if it fits the order of versions.
    pub sights: Vec<Sight>,
    /// What is wrong already.
    pub anomalies: Vec<Anomaly>,
}

/// Finds out.
pub fn versions(history: &History) -> Versions {
    let mut this = Versions::default();
    let mut undone = HashSet::new();
    for (number, transaction) in history.transactions.iter().enumerate() {
        let appended = transaction.ops.iter().filter_map(|op| match op {
            Op::Append(_, element) => Some(*element),
            Op::Read(..) | Op::Learn(..) => None,
        });
        for element in appended.chain(transaction.undone.iter().map(|(_, element)| *element)) {
            let previous = this.writers.insert(element, number);
            assert!(previous.is_none(), "element {element} is appended twice");
        }
        undone.extend(transaction.undone.iter().map(|(_, element)| *element));
    }
    this.decide(history);
    for (key, list) in &history.last {
        this.look_at_last(history, *key, list, &undone);
    }
    for number in 0..history.transactions.len() {
        if this.is_committed[number] {
            this.look_at_reads(history, number, &undone);
        }
    }
    this
}

impl Versions {
    fn report(&mut self, kind: Kind, text: String) {
        self.anomalies.push(Anomaly { kind, text });
    }

    /// Who is committed; what of the committed is missing.
    fn decide(&mut self, history: &History) {
        let present: HashSet<(Key, Element)> =
            history.last.iter().flat_map(|(key, list)| list.iter().map(|element| (*key, *element))).collect();
        for (number, transaction) in history.transactions.iter().enumerate() {
            let appends = transaction.ops.iter().filter_map(|op| match op {
                Op::Append(key, element) => Some((*key, *element)),
                Op::Read(..) | Op::Learn(..) => None,
            });
            let (there, missing): (Vec<_>, Vec<_>) = appends.partition(|append| present.contains(append));
            let committed = match transaction.fate {
                Fate::Committed => true,
                Fate::Aborted => false,
                Fate::Unknown => !there.is_empty(),
            };
            self.is_committed.push(committed);
            if committed && let Some((key, element)) = missing.first() {
                let (kind, what) = match transaction.fate {
                    Fate::Committed => (Kind::LostAppend, "was acknowledged, and"),
                    _ => (Kind::Torn, "is there in part, and"),
                };
                let who = name(history, number);
                self.report(kind, format!("{who} {what} element {element} of list {key} is missing"));
            }
        }
    }

    /// What is wrong with a list as it was at the end.
    fn look_at_last(&mut self, history: &History, key: Key, list: &[Element], undone: &HashSet<Element>) {
        let mut seen = HashSet::new();
        for element in list {
            if !seen.insert(element) {
                self.report(Kind::Duplicate, format!("list {key} has element {element} twice at the end"));
            }
            match self.writers.get(element) {
                None => {
                    let text = format!("list {key} has element {element} at the end, which nobody appended");
                    self.report(Kind::Garbage, text);
                }
                Some(writer) if !self.is_committed[*writer] || undone.contains(element) => {
                    let who = name(history, *writer);
                    let text = format!("list {key} has element {element} at the end, which {who} took back");
                    self.report(Kind::DirtyUpdate, text);
                }
                Some(_) => {}
            }
        }
    }

    fn look_at_reads(&mut self, history: &History, reader: usize, undone: &HashSet<Element>) {
        let mut own: HashMap<Key, Vec<Element>> = HashMap::new();
        let transaction = &history.transactions[reader];
        for (op, what) in transaction.ops.iter().enumerate() {
            let (key, access, length) = match what {
                Op::Append(key, element) => {
                    own.entry(*key).or_default().push(*element);
                    continue;
                }
                Op::Read(key, access, list) => {
                    let own = own.get(key).map_or(&[][..], Vec::as_slice);
                    (*key, *access, self.look_at_read(history, (reader, *key), list, own, undone))
                }
                Op::Learn(key, access, length) => {
                    let own = own.get(key).map_or(0, Vec::len);
                    (*key, *access, self.look_at_length(history, (reader, *key), *length, own))
                }
            };
            if let Some(length) = length {
                let is_of_snapshot = access == Access::Plain && !transaction.has_touched(key);
                self.sights.push(Sight { reader, op, key, length, is_of_snapshot });
            }
        }
    }

    /// Compares what is known of a list's length, of which `own` elements are the reader's. Gives what it saw of others'.
    fn look_at_length(
        &mut self,
        history: &History,
        (reader, key): (usize, Key),
        length: Length,
        own: usize,
    ) -> Option<Length> {
        let who = name(history, reader);
        let most = match length.most.map(|most| most.checked_sub(own)) {
            Some(None) => {
                let text = format!("{who} saw {length:?} of list {key} after it had appended {own} elements");
                self.report(Kind::Internal, text);
                return None;
            }
            Some(most) => most,
            None => None,
        };
        let least = length.least.saturating_sub(own);
        let order = history.last.get(&key).map_or(&[][..], Vec::as_slice);
        if order.len() < least {
            let is_lost = history.transactions.iter().enumerate().any(|(number, other)| {
                other.fate == Fate::Unknown
                    && !self.is_committed[number]
                    && other.appends(key).next().is_some()
            });
            let kind = if is_lost { Kind::VanishedRead } else { Kind::G1a };
            let text = format!("{who} saw {length:?} of list {key}, which never was longer than {order:?}");
            self.report(kind, text);
            return None;
        }
        let writer = |position: usize| order.get(position).and_then(|element| self.writers.get(element));
        if most == Some(least) && least > 0 && writer(least).is_some() && writer(least - 1) == writer(least) {
            let text = format!("{who} saw {least} elements of list {key}, the last by one who appended more");
            self.report(Kind::G1b, text);
        }
        Some(Length { least, most })
    }

    /// Compares one read; `own` is what the reader had appended to the list. Gives what it saw of others'.
    fn look_at_read(
        &mut self,
        history: &History,
        (reader, key): (usize, Key),
        list: &[Element],
        own: &[Element],
        undone: &HashSet<Element>,
    ) -> Option<Length> {
        let who = name(history, reader);
        let is_own = |element: &Element| self.writers.get(element) == Some(&reader);
        let others = match list.strip_suffix(own) {
            Some(others) if !others.iter().any(is_own) => others,
            _ => {
                let text = format!("{who} read {list:?} in list {key} after it had appended {own:?}");
                self.report(Kind::Internal, text);
                return None;
            }
        };
        for element in others {
            let Some(&writer) = self.writers.get(element) else {
                let text = format!("{who} read element {element} in list {key}, which nobody appended");
                self.report(Kind::Garbage, text);
                return None;
            };
            if self.is_committed[writer] && !undone.contains(element) {
                continue;
            }
            let is_lost = history.transactions[writer].fate == Fate::Unknown && !undone.contains(element);
            let (kind, what) = match is_lost {
                true => (Kind::VanishedRead, "whose commit was not acknowledged and is not there"),
                false => (Kind::G1a, "which took it back"),
            };
            let writer = name(history, writer);
            self.report(kind, format!("{who} read element {element} of list {key} by {writer}, {what}"));
            return None;
        }
        if let Some(element) = others.last() {
            let writer = self.writers[element];
            if history.transactions[writer].appends(key).last() != Some(*element) {
                let writer = name(history, writer);
                let text =
                    format!("{who} read list {key} up to element {element} by {writer}, which appended more");
                self.report(Kind::G1b, text);
            }
        }
        let order = history.last.get(&key).map_or(&[][..], Vec::as_slice);
        if !order.starts_with(others) {
            let text = format!("{who} read {others:?} in list {key}, which is no beginning of {order:?}");
            self.report(Kind::IncompatibleOrder, text);
            return None;
        }
        Some(Length::exactly(others.len()))
    }
}

/// A transaction's name in reports.
pub fn name(history: &History, number: usize) -> String {
    format!("T{number} of session {}", history.transactions[number].session)
}
