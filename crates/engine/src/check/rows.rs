//! Every index against the rows.
//!
//! The rows are read once, by the clustered index; of each, the entry that it must have in every other index
//! is made, and a sum over these entries, which does not depend on their order, is kept. Then the entries of
//! each index are read in their order and summed up likewise. Both reads are sequential. Sums that differ
//! lead to a second look at that index, row by row, which tells which rows have no entry and which entries
//! have no row; with `deep` it happens to all.

use std::sync::Arc;

use palisade_base::event::retry_blocking;
use palisade_catalog::row::RowError;
use palisade_catalog::{RowView, key};

use super::Watch;
use super::finding::{Kind, Owner};
use super::table::{Report, TableCheckOptions};
use crate::rows::damaged;
use crate::scan::{key_of_entry, write_entry};
use crate::{Direction, Error, KeyRange, ReadMode, RowBatch, RowBuf, Scan, Table, Transaction};

/// What is said of the rows that do not agree with an index, at most.
const MOST_NAMED: usize = 10;

/// Entries of an index: their number, and a sum over their contents that does not depend on the order.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Census {
    entries: u64,
    sum: u64,
}

impl Census {
    fn add(&mut self, entry: &[u8]) {
        self.entries += 1;
        self.sum = self.sum.wrapping_add(digest(entry));
    }
}

/// FNV-1a with a finish that mixes the high bits.
fn digest(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Compares the indexes in the partition that is looked at, whose trees are sound as far as `is_sound` says.
pub(super) fn compare(
    tx: &mut Transaction,
    table: &Arc<Table>,
    is_sound: &[bool],
    options: &TableCheckOptions,
    report: &mut Report,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    if is_sound.first() != Some(&true) {
        return Ok(());
    }
    let mut by_rows = vec![Census::default(); table.indexes.len()];
    let damaged_before = report.check.damage.len();
    if !read_rows(tx, table, &mut by_rows, report, watch)? {
        return Ok(());
    }
    let rows = by_rows.first().map_or(0, |rows| rows.entries);
    report.check.rows += rows;
    if let Some(clustered) = report.check.indexes.first_mut() {
        clustered.rows += rows;
    }
    let has_unreadable = report.check.damage.len() > damaged_before;
    for (index, expected) in by_rows.iter().enumerate().skip(1) {
        if is_sound.get(index) != Some(&true) {
            continue;
        }
        let Some(found) = read_entries(tx, (table, report.number), index, watch)? else { return Ok(()) };
        if let Some(counted) = report.check.indexes.get_mut(index) {
            counted.rows += found.entries;
        }
        let differs = found != *expected && !has_unreadable;
        if differs {
            let name = &table.indexes[index].name;
            let what = match found.entries == rows {
                true => format!("index {name} has {rows} rows, as the table has, but others"),
                false => format!("index {name} has {} rows, the table has {rows}", found.entries),
            };
            report.damage(Kind::IndexRows, Some(index), Owner::Secondary, what);
        }
        if differs || options.deep {
            name_rows(tx, table, index, report, watch)?;
            name_entries(tx, table, index, report, watch)?;
        }
    }
    Ok(())
}

/// Reads all rows in the order of the clustered index. False if that was to end early.
fn read_rows(
    tx: &mut Transaction,
    table: &Arc<Table>,
    census: &mut [Census],
    report: &mut Report,
    watch: &mut Watch<'_>,
) -> Result<bool, Error> {
    let range = KeyRange::default();
    let scan = Scan::new(table.clone(), 0, range, Direction::Forward, ReadMode::Snapshot, false);
    let mut scan = scan.of_partition(report.number);
    let mut batch = RowBatch::new();
    let (mut key, mut previous) = (Vec::new(), Vec::new());
    while retry_blocking(|| tx.scan_next(&mut scan, &mut batch))? {
        if !watch(super::Progress { what: "", pages: 1 }) {
            return Ok(false);
        }
        for row in batch.iter() {
            let view = match RowView::new(table, row.row) {
                Ok(view) if is_sound(table, &view) => view,
                _ => {
                    let what = format!("a row cannot be read, behind {}", shown_key(&previous));
                    report.damage(Kind::Row, Some(0), Owner::Clustered(0), what);
                    continue;
                }
            };
            key.clear();
            key::entry_key(table, 0, &view, &mut key).map_err(|error| damaged(table, error))?;
            if census.first().is_some_and(|rows| rows.entries > 0) && key <= previous {
                let what = format!("rows out of order: {}", identity(table, &view));
                report.damage(Kind::Row, Some(0), Owner::Clustered(0), what);
            }
            std::mem::swap(&mut key, &mut previous);
            for (index, census) in census.iter_mut().enumerate() {
                census.add(&entry_of(table, index, &view).map_err(|error| damaged(table, error))?);
            }
        }
    }
    Ok(true)
}

/// The entry that a row has in an index.
fn entry_of(table: &Table, index: usize, row: &RowView<'_>) -> Result<Vec<u8>, RowError> {
    let (mut key, mut payload, mut entry) = (Vec::new(), Vec::new(), Vec::new());
    key::entry_key(table, index, row, &mut key)?;
    if index > 0 {
        key::entry_payload(table, index, row, &mut payload);
    }
    write_entry(&key, &payload, &mut entry);
    Ok(entry)
}

/// Whether every field is a value of its column, and none is NULL that may not be.
fn is_sound(table: &Table, row: &RowView<'_>) -> bool {
    let mut columns = table.columns.iter().enumerate();
    row.check().is_ok()
        && columns.all(|(number, column)| {
            let is_virtual = column.ordinal.is_none();
            column.nullable || is_virtual || !row.is_null(number)
        })
}

/// Sums up the entries of an index. `None` if that was to end early.
fn read_entries(
    tx: &mut Transaction,
    (table, partition): (&Arc<Table>, usize),
    index: usize,
    watch: &mut Watch<'_>,
) -> Result<Option<Census>, Error> {
    let mut census = Census::default();
    let mut scan = Scan::of_entries(table.clone(), partition, index);
    let mut batch = RowBatch::new();
    while retry_blocking(|| tx.scan_next(&mut scan, &mut batch))? {
        if !watch(super::Progress { what: "", pages: 1 }) {
            return Ok(None);
        }
        batch.iter().for_each(|entry| census.add(entry.row));
    }
    Ok(Some(census))
}

/// Looks every row's entry up in an index, and names the rows that have none.
fn name_rows(
    tx: &mut Transaction,
    table: &Arc<Table>,
    index: usize,
    report: &mut Report,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    let range = KeyRange::default();
    let scan = Scan::new(table.clone(), 0, range, Direction::Forward, ReadMode::Snapshot, false);
    let mut scan = scan.of_partition(report.number);
    let (mut batch, mut out, mut named) = (RowBatch::new(), RowBuf::new(), 0);
    while retry_blocking(|| tx.scan_next(&mut scan, &mut batch))? {
        if !watch(super::Progress { what: "", pages: 1 }) || named >= MOST_NAMED {
            return Ok(());
        }
        for row in batch.iter() {
            let Ok(view) = RowView::new(table, row.row) else { continue };
            if !is_sound(table, &view) {
                continue;
            }
            let mut key = Vec::new();
            key::entry_key(table, index, &view, &mut key).map_err(|error| damaged(table, error))?;
            let found = retry_blocking(|| {
                tx.point_read_in(table, report.number, index, &key, ReadMode::Snapshot, &mut out)
            })?;
            if !(found && out.row() == row.row) {
                let what = format!("index {} lacks {}", table.indexes[index].name, identity(table, &view));
                report.damage(Kind::IndexRows, Some(index), Owner::Secondary, what);
                named += 1;
            }
        }
    }
    Ok(())
}

/// Looks the row of every entry up, and names the entries that have none.
fn name_entries(
    tx: &mut Transaction,
    table: &Arc<Table>,
    index: usize,
    report: &mut Report,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    let mut scan = Scan::of_entries(table.clone(), report.number, index);
    let (mut batch, mut out, mut named) = (RowBatch::new(), RowBuf::new(), 0);
    while retry_blocking(|| tx.scan_next(&mut scan, &mut batch))? {
        if !watch(super::Progress { what: "", pages: 1 }) || named >= MOST_NAMED {
            return Ok(());
        }
        for entry in batch.iter() {
            let (entry_key, mut row_key) = (key_of_entry(entry.row), Vec::new());
            let is_key = key::clustered_key(table, index, entry_key, &mut row_key).is_ok();
            let mut read =
                || tx.point_read_in(table, report.number, 0, &row_key, ReadMode::Snapshot, &mut out);
            let found = is_key && retry_blocking(&mut read)?;
            let belongs = found
                && RowView::new(table, out.row()).is_ok_and(|view| {
                    is_sound(table, &view) && entry_of(table, index, &view).is_ok_and(|own| own == entry.row)
                });
            if !belongs {
                let name = &table.indexes[index].name;
                let what = match found {
                    true => format!("index {name} has an entry that its row does not have"),
                    false => format!("index {name} has an entry of a row that the table does not have"),
                };
                let what = format!("{what}: {}", shown_key(entry_key));
                report.damage(Kind::IndexRows, Some(index), Owner::Secondary, what);
                named += 1;
            }
        }
    }
    Ok(())
}

/// A row, by the values of its clustered key.
fn identity(table: &Table, row: &RowView<'_>) -> String {
    let parts = table.indexes.first().map_or(&[][..], |index| &index.parts);
    let values = parts.iter().filter_map(|part| {
        let number = usize::from(part.column);
        let column = table.columns.get(number)?;
        let mut text = Vec::new();
        row.column(number).append_text(&column.sql_type, &mut text);
        let text: String = String::from_utf8_lossy(&text).chars().take(80).collect();
        Some(format!("{} = '{}'", column.name, text.escape_debug()))
    });
    format!("the row with {}", values.collect::<Vec<_>>().join(", "))
}

/// A key as it is stored.
fn shown_key(key: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::from("key 0x");
    for byte in key.iter().take(64) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
