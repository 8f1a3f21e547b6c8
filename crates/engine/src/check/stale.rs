//! Rows that are older than undo says: on a page that is whole and of an earlier time.
//!
//! ```text
//! undo:  T changed key k; the version before was (writer 7, roll pointer p)
//! row k: (writer 7, roll pointer p)             T's change is lost
//! ```
//!
//! A version has a name, its writer and its roll pointer, that no other one ever has. As long as the record
//! of a change is kept - the transaction has committed, or is in flight, and has not been purged - the row
//! cannot have the name that it had before: a later change gives it another one, and what takes a change back
//! takes the record out of its transaction's list. So this says nothing wrong. Rows without a writer, which a
//! rebuild of their table has written, have no name of their own.
//!
//! Each row is looked up in its tree. Without `deep` only so many are, so that a long history does not make
//! the check as slow as the rows lie apart.

use std::collections::BTreeMap;
use std::sync::Arc;

use palisade_base::TrxId;
use palisade_base::event::retry_blocking;
use palisade_txn::{ClusteredHeader, Stamp};

use super::finding::{Finding, Kind, Place, Severity};
use crate::Engine;

/// Rows that are looked up without `deep`.
const MOST_ROWS: u64 = 100_000;

/// What was found.
pub(super) struct StaleRows {
    /// Rows that may still be looked up.
    left: u64,
    /// Stale rows, by table and index.
    found: BTreeMap<(u64, u64), u64>,
}

impl StaleRows {
    pub(super) fn new(deep: bool) -> StaleRows {
        StaleRows { left: if deep { u64::MAX } else { MOST_ROWS }, found: BTreeMap::new() }
    }

    /// Looks whether the row at `key` is still the version `before`, which a transaction has changed. What
    /// cannot be read is for the check of the table to say. Blocks.
    pub(super) fn look(&mut self, engine: &Arc<Engine>, index: u64, key: &[u8], before: Stamp) {
        if self.left == 0 || before.writer == TrxId::NONE {
            return;
        }
        let Some((table, tree)) = engine.registry.find(index) else { return };
        self.left -= 1;
        let stamp = retry_blocking(|| {
            tree.get(key, |value| value.and_then(ClusteredHeader::split).map(|(header, _)| header.stamp()))
        });
        if stamp.is_ok_and(|stamp| stamp == Some(before)) {
            *self.found.entry((table, index)).or_default() += 1;
        }
    }

    /// A finding for each table.
    pub(super) fn findings(&self, engine: &Arc<Engine>) -> Vec<Finding> {
        let dictionary = engine.dictionary();
        let finding = |(&(id, index), count): (&(u64, u64), &u64)| {
            let table = dictionary.all_tables().find(|table| table.id == id);
            let name = |number: usize| table.and_then(|table| Some(table.indexes.get(number)?.name.clone()));
            let place = Place {
                schema: table.map(|table| table.schema.clone()),
                table: table.map(|table| table.name.clone()),
                space: engine.registry.find(index).map(|(_, tree)| tree.space().id()),
                index: table.and_then(|table| table.number_of(index)).and_then(name),
                ..Place::default()
            };
            Finding {
                severity: Severity::Damage,
                kind: Kind::StaleRows,
                place,
                what: format!("{count} rows are as they were before changes that are in undo"),
                lost: "changes of these rows, and of others on the same pages",
                advice: "restore the file from a backup: the disk has given an old page back",
            }
        };
        self.found.iter().map(finding).collect()
    }
}
