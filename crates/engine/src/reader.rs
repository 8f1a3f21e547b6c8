//! Reading the parts of a range side by side, with one snapshot.
//!
//! A range is [divided](Transaction::divide) by keys, and each part is scanned by a transaction of its own
//! that [reads for](Transaction::reader) the one whose statement it is:
//!
//! ```text
//!   statement's transaction   snapshot, metadata locks ────────────────────────── ends last
//!     reader 1                  └ sees the same ── Scan of part 1, of part 3 ... ┤ dropped
//!     reader 2                  └ sees the same ── Scan of part 2, of part 5 ... ┤ dropped
//! ```
//!
//! A reader has the snapshot and the metadata locks of the other on loan: what it takes of them would be
//! taken anew otherwise, and a redefinition that waits for the statement would keep its parts waiting.

use std::sync::Arc;

use palisade_base::Blocked;

use crate::Attempt;
use crate::metadata::{Use, WRITES};
use crate::scan::{Bound, KeyRange};
use crate::store::How;
use crate::table::{Partition, Table};
use crate::transaction::{AccessMode, ReadMode, Transaction};

impl Transaction {
    /// A transaction that reads `tables` as this one does, with [`ReadMode::Snapshot`], on another thread:
    /// both see the same. It must be dropped before this one ends its statement, and before any other
    /// operation of this one that is not a read of the same kind. `None` where reads lock, or have no
    /// snapshot, or where this transaction has changed something, which it alone sees.
    pub fn reader(&mut self, tables: &[&Arc<Table>]) -> Attempt<Option<Transaction>> {
        for table in tables {
            self.use_table_for(table, Use::Read)?;
        }
        if self.id().is_some() || self.how(ReadMode::Snapshot) != How::Snapshot {
            return Ok(None);
        }
        let mut reader = Transaction::new(self.engine.clone(), self.isolation(), AccessMode::ReadOnly);
        reader.trx().read_for(self.trx());
        reader.single_statement = self.single_statement;
        reader.borrowed = self.pinned.iter().map(|pin| pin & !WRITES).collect();
        Ok(Some(reader))
    }

    /// Divides a range of an index into about `parts` parts of about the same number of leaves, in order of
    /// their keys. Of a table with several partitions each part is a range of keys in all of them. Waits for:
    /// inner pages to be read.
    pub fn divide(
        &mut self,
        table: &Arc<Table>,
        index: usize,
        range: KeyRange,
        parts: usize,
    ) -> Attempt<Vec<KeyRange>> {
        self.use_table_for(table, Use::Read)?;
        let (from, to) = (range.lower.as_ops(), range.upper.as_ops());
        let of = |partition: &Partition| partition.tree(index).dividers(from, to, parts);
        let dividers = match table.partitions() {
            [only] => of(only).map_err(Blocked::up)?,
            several => {
                let mut all = Vec::new();
                for partition in several {
                    all.extend(of(partition).map_err(Blocked::up)?);
                }
                all.sort_unstable();
                all.dedup();
                // Each partition has about as many as were asked for.
                let step = (all.len() + 1).div_ceil(parts.max(1));
                all.into_iter().skip(step - 1).step_by(step).collect()
            }
        };
        let KeyRange { mut lower, upper } = range;
        let mut divided = Vec::with_capacity(dividers.len() + 1);
        for key in dividers {
            let next = Bound::Included(key.to_vec());
            let lower = std::mem::replace(&mut lower, next);
            divided.push(KeyRange { lower, upper: Bound::Excluded(key.to_vec()) });
        }
        divided.push(KeyRange { lower, upper });
        Ok(divided)
    }
}
