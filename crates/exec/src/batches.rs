//! Reading the rows of a scan a batch at a time.
//!
//! An operator that can take many rows at once - a grouping, a hash join, a sort - asks for what comes next
//! of its input ([`BatchedScan`]). What it makes of the rows of a batch it computes before it changes
//! anything: where a row is not [plain](PlainColumns), or a value is beyond what it computes with, the batch
//! is [read row by row](ScanState::read_singly), by the code that reads any input.

use std::ops::Range;
use std::sync::Arc;

use palisade_catalog::row::PlainColumns;
use palisade_engine::{ReadMode, Table};
use palisade_expr::place::At;
use palisade_expr::screen::Screen;
use palisade_expr::{Expr, Slot, SqlAttempt, SqlResult};
use palisade_plan::{Access, Operator};

use super::scan::ScanState;
use super::{ExecContext, State};

/// Whether an operator reads its input in batches, and what does that.
#[derive(Debug, Default)]
pub(crate) enum InBatches<Reader> {
    /// That has not been asked yet.
    #[default]
    Unknown,
    /// It reads row by row.
    No,
    /// This reads batches.
    Yes(Box<Reader>),
}

impl<Reader> InBatches<Reader> {
    /// What reads batches. It is made when the first one is there.
    pub(crate) fn get_or_make(&mut self, make: impl FnOnce() -> Option<Reader>) -> Option<&mut Reader> {
        if let InBatches::Unknown = self {
            *self = make().map_or(InBatches::No, |reader| InBatches::Yes(Box::new(reader)));
        }
        match self {
            InBatches::Yes(reader) => Some(reader),
            _ => None,
        }
    }
}

/// What has become of a batch.
pub(crate) enum Taken {
    /// Rows of it have been taken.
    Added,
    /// The next row is to be read by itself.
    RowByRow,
    /// There are no more rows.
    End,
}

/// What a scan that is read in batches has next.
#[derive(Debug)]
pub(crate) enum Batch {
    /// These rows of the batch in the slot, which have not been tested.
    Rows(Range<usize>),
    /// Rows that are to be read one by one.
    RowByRow,
    /// Its rows are always to be read one by one.
    Never,
    /// None.
    End,
}

/// What decides whether rows of a batch pass a scan's filter.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sieve<'s> {
    /// All do.
    None,
    /// A screen does.
    Screen(&'s Screen),
    /// The filter, which has to be evaluated.
    Unknown,
}

impl Sieve<'_> {
    /// Whether a row passes; `None` where that is not known, or the row is not plain.
    #[inline]
    pub(crate) fn passes(self, columns: &PlainColumns, row: &[u8]) -> Option<bool> {
        if !columns.are_in(row) {
            return None;
        }
        match self {
            Sieve::None => Some(true),
            Sieve::Screen(screen) => screen.passes_plain(row),
            Sieve::Unknown => None,
        }
    }
}

/// The input of an operator that reads the rows of a scan a batch at a time.
pub(crate) struct BatchedScan<'s, 'p> {
    pub(crate) scan: &'s mut ScanState,
    pub(crate) slot: usize,
    pub(crate) table: &'p Arc<Table>,
    filter: Option<&'p Expr>,
    access: &'p Access,
}

impl<'s, 'p> BatchedScan<'s, 'p> {
    /// Of an input that is a scan of a snapshot; `None` of another one, whose rows are to be read one by one.
    #[inline]
    pub(crate) fn of(state: &'s mut State, operator: &'p Operator) -> Option<Self> {
        match (state, operator) {
            (
                State::Scan(scan),
                Operator::Scan { slot, table, access, filter, mode: ReadMode::Snapshot, .. },
            ) => Some(BatchedScan { scan, slot: *slot, table, filter: filter.as_ref(), access }),
            _ => None,
        }
    }

    /// What comes next. They stay what comes next until [`end`](Self::end) passes over them. Rows of which
    /// there are no more than `few` are to be read one by one.
    #[inline]
    pub(crate) fn next(&mut self, cx: &mut ExecContext<'_, '_>, few: usize) -> SqlAttempt<Batch> {
        let next = self.scan.next_batch(cx, self.slot, (self.table, self.filter), self.access)?;
        Ok(match next {
            Batch::Rows(rows) if rows.len() <= few => Batch::RowByRow,
            next => next,
        })
    }

    /// Goes to the end of these rows of the batch.
    #[inline]
    pub(crate) fn end(&mut self, cx: &mut ExecContext<'_, '_>, rows: Range<usize>) -> SqlResult<()> {
        self.scan.end_batch(cx, self.slot, self.access, rows)
    }

    /// What decides whether rows of the batch pass the filter.
    #[inline]
    pub(crate) fn sieve(&self) -> Sieve<'_> {
        match (self.filter, self.scan.screen()) {
            (None, _) => Sieve::None,
            (_, Some(screen)) => Sieve::Screen(screen),
            _ => Sieve::Unknown,
        }
    }
}

/// Makes a row of a slot's batch the current one.
#[inline]
pub(crate) fn place_row(cx: &mut ExecContext<'_, '_>, slot: usize, row: usize) -> SqlResult<()> {
    if let Slot::Batch { position, .. } = cx.state.frame.slots.at_mut(slot)? {
        *position = row;
    }
    Ok(())
}
