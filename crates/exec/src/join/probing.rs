//! Looking rows of a scan up in a hash table a batch at a time.
//!
//! Row by row, each left row is made current, its key is evaluated, and most of an inner join are found to
//! match nothing. Here the keys of a batch are read where they are in the rows, and looked up one after the
//! other; only rows from which pairs may come are listed, and made current when it is their turn:
//!
//! ```text
//!   batch      0   1   2   3   4   5   6            rows that the scan's screen passes: 0 2 3 5 6
//!   keys       7       -   9       7   4            - is NULL
//!   listed     0           3       5                with the first right row of 7, 9 and 7; an inner join
//! ```
//!
//! Rows are counted as read when it is their turn, so that a LIMIT leaves the same counts as row by row.
//! Where a row is not plain or has a key that is long, the batch is read row by row.

use std::ops::Range;

use palisade_catalog::row::PlainColumns;
use palisade_catalog::watch::PIECE;
use palisade_catalog::{SqlType, Table, ValueRef};
use palisade_engine::RowBatch;
use palisade_expr::hash_key::append_integer_key;
use palisade_expr::place::At;
use palisade_expr::{Domain, Expr, Slot, SqlAttempt};
use palisade_plan::JoinKind;

use super::{HashJoin, HashJoinState, NONE};
use crate::ExecContext;
use crate::batches::{Batch, BatchedScan, InBatches, Sieve};

/// Rows of a batch that are read one by one if there are no more of them.
const FEW: usize = 16;
/// Rows that are looked up in the time that another row takes.
const ROWS_AS_ONE: u32 = 8;

/// What comes next of a left side that is read in batches.
pub(super) enum Probed {
    /// This row is current; the first right row that has its key, or [`NONE`].
    Row(u32),
    /// The next row is to be read by itself.
    RowByRow,
    /// There are no more rows.
    End,
}

/// Which left rows no pair comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unwanted {
    None,
    WithoutMatch,
    WithMatch,
}

/// A hash join that reads batches.
#[derive(Debug)]
pub(super) struct Probing {
    columns: PlainColumns,
    types: Vec<SqlType>,
    unwanted: Unwanted,
    /// Rows of the batch with the first right row that has their key, the next one last.
    listed: Vec<(usize, u32)>,
    /// The rows of the batch that have not been counted yet.
    rest: Range<usize>,
}

impl Probing {
    /// Of a join whose left rows are of a table in a slot; `None` if they are to be read one by one.
    fn new(plan: &HashJoin<'_>, (slot, table): (usize, &Table)) -> Option<Probing> {
        let (mut columns, mut types) = (PlainColumns::new(table), Vec::with_capacity(plan.keys.len()));
        for (left, _, domain) in plan.keys {
            let (of, column) = left.as_plain_column()?;
            let ty = &table.columns.get(column)?.sql_type;
            (of == slot && is_read(ty, *domain)).then_some(())?;
            columns.add(table, column)?;
            types.push(ty.clone());
        }
        let unwanted = match plan.kind {
            JoinKind::Inner | JoinKind::Semi => Unwanted::WithoutMatch,
            JoinKind::Anti if plan.condition.is_none() => Unwanted::WithMatch,
            JoinKind::Left | JoinKind::Anti => Unwanted::None,
        };
        Some(Probing { columns, types, unwanted, listed: Vec::new(), rest: 0..0 })
    }

    /// Lists the rows of a batch from which pairs may come. False if that cannot be done.
    fn list(
        &mut self,
        join: &mut HashJoinParts<'_>,
        plan: &HashJoin<'_>,
        batch: &RowBatch,
        range: Range<usize>,
    ) -> bool {
        self.listed.clear();
        for position in range.clone().rev() {
            let row = batch.row(position).row;
            match join.sieve.passes(&self.columns, row) {
                Some(true) => {}
                Some(false) => continue,
                None => return false,
            }
            join.key.clear();
            let candidate = match append_keys((&self.columns, &self.types), plan.keys, row, join.key) {
                None => return false,
                Some(false) => NONE,
                Some(true) => match join.keys.find(join.key) {
                    Some(number) => join.chains.get(number).map_or(NONE, |chain| chain.0),
                    None => NONE,
                },
            };
            let is_unwanted = match self.unwanted {
                Unwanted::None => false,
                Unwanted::WithoutMatch => candidate == NONE,
                Unwanted::WithMatch => candidate != NONE,
            };
            if !is_unwanted {
                self.listed.push((position, candidate));
            }
        }
        self.rest = range;
        true
    }
}

/// What looking up takes of a join.
struct HashJoinParts<'s> {
    sieve: Sieve<'s>,
    key: &'s mut Vec<u8>,
    keys: &'s super::KeyIndex,
    chains: &'s [(u32, u32)],
}

/// Whether values of a column become keys in that domain as they are.
pub(super) fn is_read(column: &SqlType, domain: Domain) -> bool {
    match column {
        SqlType::Int { .. } => domain == Domain::Integer,
        SqlType::Char { .. } | SqlType::VarChar { .. } => matches!(domain, Domain::Text(_)),
        _ => false,
    }
}

/// Appends the keys of a row as [`join_key`](super::join_key) does; whether none is NULL, or `None` if they
/// are to be evaluated.
#[inline]
pub(super) fn append_keys(
    (columns, types): (&PlainColumns, &[SqlType]),
    keys: &[(Expr, Expr, Domain)],
    row: &[u8],
    out: &mut Vec<u8>,
) -> Option<bool> {
    for (number, ((_, _, domain), ty)) in keys.iter().zip(types).enumerate() {
        match (columns.value(number, ty, row)?, domain) {
            (ValueRef::Null, _) => return Some(false),
            (ValueRef::Int(value), Domain::Integer) => append_integer_key(value.into(), out),
            (ValueRef::UInt(value), Domain::Integer) => append_integer_key(value.into(), out),
            (ValueRef::Bytes(text), Domain::Text(collation)) if text.len() <= PIECE => {
                collation.get().sort_key(text, out);
            }
            _ => return None,
        }
    }
    Some(true)
}

impl HashJoinState {
    /// Makes the next left row current from which pairs may come, if the left side is read in batches. The
    /// hash table has all right rows.
    pub(super) fn next_probed(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &HashJoin<'_>,
    ) -> SqlAttempt<Probed> {
        let Some(mut left) = BatchedScan::of(&mut self.left, plan.left) else {
            self.in_batches = InBatches::No;
            return Ok(Probed::RowByRow);
        };
        let slot = left.slot;
        loop {
            if let InBatches::Yes(probing) = &mut self.in_batches {
                if let Some((row, candidate)) = probing.listed.pop() {
                    left.end(cx, probing.rest.start..row + 1)?;
                    probing.rest.start = row + 1;
                    return Ok(Probed::Row(candidate));
                }
                if !probing.rest.is_empty() {
                    let rest = std::mem::take(&mut probing.rest);
                    left.end(cx, rest)?;
                }
            }
            let range = match left.next(cx, FEW)? {
                Batch::Rows(range) => range,
                Batch::End => return Ok(Probed::End),
                Batch::RowByRow => return Ok(Probed::RowByRow),
                Batch::Never => {
                    self.in_batches = InBatches::No;
                    return Ok(Probed::RowByRow);
                }
            };
            let table = left.table.descriptor();
            let probing = self.in_batches.get_or_make(|| Probing::new(plan, (slot, table)));
            let (Slot::Batch { batch, .. }, Some(probing)) = (cx.state.frame.slots.at(slot)?, probing) else {
                return Ok(Probed::RowByRow);
            };
            let rows = range.len() as u32;
            let sieve = left.sieve();
            let mut parts =
                HashJoinParts { sieve, key: &mut self.key, keys: &self.keys, chains: &self.chains };
            if !probing.list(&mut parts, plan, batch, range.clone()) {
                probing.listed.clear();
                left.scan.read_singly(range.end);
                return Ok(Probed::RowByRow);
            }
            cx.take_turns(1 + rows / ROWS_AS_ONE)?;
        }
    }

    /// Before the first left row.
    pub(super) fn forget_batch(&mut self) {
        if let InBatches::Yes(probing) = &mut self.in_batches {
            probing.listed.clear();
            probing.rest = 0..0;
        }
    }
}
