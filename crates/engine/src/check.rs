//! CHECK TABLE: whether trees are sound, whether every index tells the same rows, and whether the file's space is accounted
//! for.
//!
//! Trees are walked page by page and rows are read by a snapshot, so the table should be locked against changes: what is
//! merely in motion may be reported. Space can only be accounted for when nothing waits for purge: an overflow chain that
//! only an old version refers to is known to undo alone. It is left out otherwise.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use palisade_base::PageNo;
use palisade_base::event::retry_blocking;
use palisade_btree::{ScanEnd, verify};
use palisade_catalog::{RowView, key};
use palisade_txn::{ClusteredHeader, EXTERNAL};

use crate::definition_copy;
use crate::engine::Engine;
use crate::info::INFO_PAGE;
use crate::store::parse_reference;
use crate::{
    AccessMode, Direction, Error, IsolationLevel, KeyRange, ReadMode, RowBatch, Scan, Table, Transaction,
};

/// What [`Engine::check_table`] found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableCheck {
    /// Rows.
    pub rows: u64,
    /// What is wrong, a line each; empty if nothing is.
    pub damage: Vec<String>,
}

/// Most lines of damage that are reported for one tree.
const LINES: usize = 20;

/// What an index says of the rows: their number, and a sum over their contents that does not depend on the order.
#[derive(Debug, Default, PartialEq, Eq)]
struct Census {
    rows: u64,
    sum: u64,
}

impl Engine {
    /// Checks a table. Blocks, for as long as reading all of it takes.
    pub fn check_table(self: &Arc<Self>, table: &Arc<Table>) -> Result<TableCheck, Error> {
        table.check_usable()?;
        let mut check = TableCheck::default();
        let mut used = BTreeSet::from([INFO_PAGE]);
        for (tree, index) in table.trees().iter().zip(&table.indexes) {
            let report = match verify::verify_tree(tree) {
                Err(error) if error.is_damage() => {
                    check.damage.push(format!("index {}: {error}", index.name));
                    continue;
                }
                report => report?,
            };
            let lines = report.damage.iter().take(LINES);
            check.damage.extend(lines.map(|damage| format!("index {}: {damage}", index.name)));
            used.extend(report.pages);
        }
        if !check.damage.is_empty() {
            return Ok(check);
        }
        let mut tx = self.begin(IsolationLevel::RepeatableRead, AccessMode::ReadOnly);
        let mut by_key = Census::default();
        for index in 0..table.indexes.len() {
            let census = take_census(&mut tx, table, index, &mut check.damage)?;
            if index == 0 {
                check.rows = census.rows;
                by_key = census;
            } else if census != by_key {
                let name = &table.indexes[index].name;
                let (here, there) = (census.rows, by_key.rows);
                check
                    .damage
                    .push(format!("index {name} has {here} rows, the table has {there}, or they differ"));
            }
        }
        drop(tx);
        if self.history_length() == 0 && self.active_transactions().is_empty() {
            account_for_space(table, &mut used, &mut check.damage)?;
        }
        Ok(check)
    }
}

/// Reads all rows by an index, each in its place.
fn take_census(
    tx: &mut Transaction,
    table: &Arc<Table>,
    index: usize,
    damage: &mut Vec<String>,
) -> Result<Census, Error> {
    let range = KeyRange::default();
    let mut scan = Scan::new(table.clone(), index, range, Direction::Forward, ReadMode::Snapshot, false);
    let mut batch = RowBatch::new();
    let mut census = Census::default();
    let (mut key, mut previous) = (Vec::new(), Vec::new());
    while retry_blocking(|| tx.scan_next(&mut scan, &mut batch))? {
        for row in batch.iter() {
            let Ok(view) = RowView::new(table, row.row) else {
                damage.push(format!("index {}: a row cannot be read", table.indexes[index].name));
                continue;
            };
            key.clear();
            key::entry_key(table, index, &view, &mut key);
            if census.rows > 0 && key <= previous {
                damage.push(format!("index {}: rows out of order", table.indexes[index].name));
            }
            std::mem::swap(&mut key, &mut previous);
            census.rows += 1;
            census.sum = census.sum.wrapping_add(digest(row.row));
        }
    }
    Ok(census)
}

/// FNV-1a with a finish that mixes the high bits.
fn digest(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn account_for_space(
    table: &Table,
    used: &mut BTreeSet<PageNo>,
    damage: &mut Vec<String>,
) -> Result<(), Error> {
    let space = table.tree(0).space();
    used.extend(definition_copy::pages(space)?);
    for first in chains(table)? {
        let (pages, wrong) = verify::chain_pages(space, first)?;
        damage.extend(wrong.iter().map(|damage| format!("overflow chain: {damage}")));
        used.extend(pages);
    }
    let wrong = verify::verify_space(space, used)?;
    damage.extend(wrong.iter().take(LINES).map(|damage| format!("space: {damage}")));
    Ok(())
}

/// First pages of the overflow chains of all rows.
fn chains(table: &Table) -> Result<Vec<PageNo>, Error> {
    let mut all = Vec::new();
    let mut from = std::ops::Bound::Unbounded;
    loop {
        let mut found = Vec::new();
        let end = retry_blocking(|| {
            found.clear();
            let from = from.as_ref().map(Vec::as_slice);
            table.tree(0).scan(from, palisade_btree::Direction::Forward, |_, value| {
                let external =
                    ClusteredHeader::split(value).filter(|(header, _)| header.flags & EXTERNAL != 0);
                found.extend(external.and_then(|(_, row)| parse_reference(row)).map(|(first, _)| first));
                ControlFlow::Continue(())
            })
        })?;
        all.append(&mut found);
        match end {
            ScanEnd::Continue { separator, .. } => from = std::ops::Bound::Included(separator.to_vec()),
            ScanEnd::Exhausted | ScanEnd::Stopped => return Ok(all),
        }
    }
}
