//! The row that a new or changed one collides with.
//!
//! A duplicate key is an answer about another row: that it is there. The answer holds until the transaction ends, as
//! everything that a statement finds in order to change rows, so the row is read again, locked: in share mode if it only stops the
//! statement, exclusively if it is replaced or changed instead. It may have gone between the two; then there is no
//! collision, and the change is tried again.

use std::sync::Arc;

use palisade_base::Blocked;
use palisade_catalog::{ValueRef, key};
use palisade_engine::{LockMode, LockWait, ReadMode, RowBuf, Table};
use palisade_exec::ExecContext;
use palisade_exec::run::drive;
use palisade_exec::store::row_error;
use palisade_expr::place::At;

use crate::SqlResult;

/// The key in the unique index `index` of a row with these values.
pub(super) fn search_key<'a>(
    table: &Table,
    index: usize,
    value: impl Fn(usize) -> SqlResult<ValueRef<'a>>,
) -> SqlResult<Vec<u8>> {
    let parts = table.indexes.at(index)?.parts.iter();
    let refs: SqlResult<Vec<ValueRef<'_>>> = parts.map(|part| value(usize::from(part.column))).collect();
    let mut search = Vec::new();
    key::search_key(table, index, &refs?, &mut search).map_err(row_error)?;
    Ok(search)
}

/// Reads the row with this key in `index` of a partition, locked; false if it has gone.
pub(super) async fn read_locked(
    cx: &mut ExecContext<'_, '_>,
    (table, partition): (&Arc<Table>, usize),
    index: usize,
    search: &[u8],
    strength: LockMode,
    found: &mut RowBuf,
) -> SqlResult<bool> {
    let mode = ReadMode::Locked(strength, LockWait::Wait);
    drive(cx, |cx| {
        cx.transaction().point_read_in(table, partition, index, search, mode, found).map_err(Blocked::up)
    })
    .await
}

/// Locks the row with this key in `index` of a partition, which stops another and stays; false if it has
/// gone.
pub(super) async fn hold(
    cx: &mut ExecContext<'_, '_>,
    of: (&Arc<Table>, usize),
    index: usize,
    search: &[u8],
) -> SqlResult<bool> {
    read_locked(cx, of, index, search, LockMode::Shared, &mut RowBuf::new()).await
}
