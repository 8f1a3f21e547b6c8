//! Leaving out rows of a window of which the first are wanted: of each partition, by their rank, or of all.
//!
//! Whenever so many rows have come that it pays, those that are held are put in order, and the ones that are
//! not among the first so far are dropped. What is held is then no more than a few times what is wanted,
//! whatever comes. Where the [packed](crate::packed) keys decide on the order, a partition that has as many
//! rows as are wanted also knows the keys of the last of these: rows behind it are not kept at all.
//!
//! ```text
//!   rank <= 2      held, in order            kept           known from now on
//!   partition 1    10  10  12  12  15        10  10         rows behind 10 are not wanted
//!   partition 2     7   9                     7   9         rows behind 9
//!   partition 3     8                         8
//! ```
//!
//! A row that is not dropped may still have had rows before it that were: as many as are wanted are held
//! before it then, so its rank is beyond the bound all the same.

use hashbrown::HashMap;
use palisade_catalog::ValueRef;
use palisade_expr::{Context, Expr, SqlAttempt, SqlError, SqlResult};
use palisade_plan::window::{FirstRows, WindowFunction, WindowPlan};

use super::PART;
use super::rows::Rows;
use crate::packed::Packed;
use crate::{ExecContext, limit_values};

/// Rows that are held at least before any are dropped.
const LEAST: usize = 4096;
/// How many times the rows that were kept may come before they are looked at again.
const TIMES: usize = 2;
/// The same where few were dropped the last time, and more each time that few are: what putting rows in order
/// in vain costs stays a small part of the whole.
const MORE_TIMES: usize = 4;

/// Which rows are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Wanted {
    #[default]
    All,
    /// Those of each partition with a rank of at most so much.
    Ranked { by: Rank, most: u64 },
    /// So many of all.
    Rows(u64),
}

/// How rows of a partition are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rank {
    Number,
    WithGaps,
    Dense,
}

/// Which rows are wanted, and what is known of those that are not.
#[derive(Debug, Default)]
pub struct First {
    wanted: Wanted,
    /// Rows that are held when they are looked at next.
    bound: usize,
    times: usize,
    /// The keys of the last row that is wanted, of each partition that has so many.
    last: HashMap<u128, Packed>,
    dropping: Option<Dropping>,
}

/// Looking for the rows that are kept, and moving them.
#[derive(Debug)]
struct Dropping {
    /// Rows before this place, in order, have been looked at.
    next: usize,
    /// The places of those that are kept, and how many of them have been moved.
    kept: Vec<u32>,
    moved: usize,
    rows: Rows,
    /// Of the partition of the row that was looked at last: how many rows it has had, the place of the first
    /// one with the same key, how many keys it has had, and the last row that is kept.
    count: u64,
    rank: u64,
    keys: u64,
    last: Option<usize>,
}

impl First {
    /// Of a window that is executed now. May ask to wait.
    pub fn new(cx: &mut Context<'_>, plan: &WindowPlan) -> SqlAttempt<First> {
        let wanted = match &plan.wanted {
            None => Wanted::All,
            Some(FirstRows::Limited(limit)) => {
                let (passed, given) = limit_values(limit, cx)?;
                Wanted::Rows(passed.saturating_add(given))
            }
            Some(FirstRows::Ranked { call, most }) => {
                let by = match plan.calls.get(*call).map(|call| &call.function) {
                    Some(WindowFunction::RowNumber) => Some(Rank::Number),
                    Some(WindowFunction::Rank) => Some(Rank::WithGaps),
                    Some(WindowFunction::DenseRank) => Some(Rank::Dense),
                    _ => None,
                };
                let most = most_of(cx, most)?;
                by.zip(most).map_or(Wanted::All, |(by, most)| Wanted::Ranked { by, most })
            }
        };
        Ok(First { wanted, bound: LEAST, times: TIMES, ..First::default() })
    }

    /// Whether rows may be dropped.
    pub fn is_limited(&self) -> bool {
        self.wanted != Wanted::All
    }

    /// Whether so many rows are held that some are to be dropped.
    pub fn is_due(&self, rows: usize) -> bool {
        self.is_limited() && rows >= self.bound
    }

    /// Whether so many rows of a window without keys are all that are wanted.
    pub fn is_enough(&self, rows: usize) -> bool {
        match self.wanted {
            Wanted::Rows(most) | Wanted::Ranked { by: Rank::Number, most } => rows as u64 >= most,
            Wanted::All | Wanted::Ranked { .. } => false,
        }
    }

    /// About how many bytes it takes.
    pub fn size(&self) -> usize {
        self.last.capacity() * (size_of::<(u128, Packed)>() + 1)
    }

    /// Whether the row that was added last is known not to be wanted.
    pub fn is_beyond(&self, rows: &Rows) -> bool {
        if self.last.is_empty() {
            return false;
        }
        let Some((partition, packed)) = rows.last_packed() else { return false };
        let Some(last) = self.last.get(&self.known_by(partition)) else { return false };
        match self.wanted {
            // Rows with one rank are wanted together.
            Wanted::Ranked { by: Rank::WithGaps | Rank::Dense, .. } => packed > *last,
            Wanted::Ranked { by: Rank::Number, .. } | Wanted::Rows(_) => packed >= *last,
            Wanted::All => false,
        }
    }

    /// What the last row that is wanted is known by: its partition, if that counts.
    fn known_by(&self, partition: u128) -> u128 {
        if matches!(self.wanted, Wanted::Rows(_)) { 0 } else { partition }
    }

    /// Drops those of the rows, which are in order, that are not wanted. May ask to wait, and goes on with
    /// the same rows.
    pub fn drop_others(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &WindowPlan,
        slots: &[usize],
        rows: &mut Rows,
    ) -> SqlAttempt<()> {
        if self.dropping.is_none() {
            self.last.clear();
            self.dropping = Some(Dropping::new(rows.emptied(plan, slots)));
        }
        self.look_through(cx, plan, rows)?;
        let Some(dropping) = &mut self.dropping else { return Ok(()) };
        let (kept, held) = (dropping.kept.len(), rows.len());
        // Where few are not wanted, all stay.
        let is_little = kept > held - held / 8;
        while let Some(place) = dropping.kept.get(dropping.moved).filter(|_| !is_little) {
            rows.move_to(*place as usize, &mut dropping.rows)?;
            dropping.moved += 1;
            cx.take_turns(1)?;
        }
        self.times = if kept > held / 2 { self.times.saturating_mul(MORE_TIMES) } else { TIMES };
        self.bound = kept.saturating_mul(self.times).max(LEAST);
        if let Some(dropping) = self.dropping.take().filter(|_| !is_little) {
            *rows = dropping.rows;
        }
        Ok(())
    }

    /// Finds the rows that are kept.
    fn look_through(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &WindowPlan,
        rows: &Rows,
    ) -> SqlAttempt<()> {
        let Some(mut dropping) = self.dropping.take() else { return Ok(()) };
        while dropping.next < rows.len() {
            let end = rows.len().min(dropping.next + PART);
            let count = end - dropping.next;
            while dropping.next < end {
                self.look_at_next(cx, plan, rows, &mut dropping)?;
            }
            if let Err(blocked) = cx.take_turns(count as u32 / 2) {
                self.dropping = Some(dropping);
                return Err(blocked);
            }
        }
        self.end_partition(rows, &mut dropping);
        self.dropping = Some(dropping);
        Ok(())
    }

    fn look_at_next(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &WindowPlan,
        rows: &Rows,
        dropping: &mut Dropping,
    ) -> SqlResult<()> {
        let place = dropping.next;
        let needs_keys = matches!(self.wanted, Wanted::Ranked { by: Rank::WithGaps | Rank::Dense, .. });
        let (is_one_partition, is_peer) = match (place.checked_sub(1), self.wanted) {
            (None, _) => (false, false),
            (Some(_), Wanted::Rows(_) | Wanted::All) => (true, false),
            (Some(before), Wanted::Ranked { .. }) => cx.lend().in_one_go(|cx| {
                cx.watched(|watch| {
                    let is_one = rows.is_one_partition(plan, before, place, watch)?;
                    let is_peer =
                        is_one && needs_keys && rows.compare_order(plan, before, place, watch)?.is_eq();
                    Ok::<_, SqlError>((is_one, is_peer))
                })
            })??,
        };
        if !is_one_partition {
            self.end_partition(rows, dropping);
            dropping.begin_partition();
        }
        dropping.count += 1;
        if !is_peer {
            (dropping.rank, dropping.keys) = (dropping.count, dropping.keys + 1);
        }
        let (rank, most) = match self.wanted {
            Wanted::All => (0, 0),
            Wanted::Rows(most) | Wanted::Ranked { by: Rank::Number, most } => (dropping.count, most),
            Wanted::Ranked { by: Rank::WithGaps, most } => (dropping.rank, most),
            Wanted::Ranked { by: Rank::Dense, most } => (dropping.keys, most),
        };
        if rank <= most {
            dropping.kept.push(u32::try_from(place).map_err(|_| too_many())?);
            dropping.last = Some(place);
        }
        dropping.next += 1;
        Ok(())
    }

    /// The rows of a partition have been looked through: if it has as many as are wanted, the last one is
    /// known from now on.
    fn end_partition(&mut self, rows: &Rows, dropping: &mut Dropping) {
        let is_full = match self.wanted {
            Wanted::All => false,
            Wanted::Rows(most) | Wanted::Ranked { by: Rank::Number | Rank::WithGaps, most } => {
                dropping.count >= most
            }
            Wanted::Ranked { by: Rank::Dense, most } => dropping.keys >= most,
        };
        if let Some((partition, packed)) =
            dropping.last.take().filter(|_| is_full).and_then(|last| rows.packed_at(last))
        {
            self.last.insert(self.known_by(partition), packed);
        }
    }
}

impl Dropping {
    fn new(rows: Rows) -> Dropping {
        Dropping { next: 0, kept: Vec::new(), moved: 0, rows, count: 0, rank: 0, keys: 0, last: None }
    }

    fn begin_partition(&mut self) {
        (self.count, self.rank, self.keys, self.last) = (0, 0, 0, None);
    }
}

/// The number that a constant bounds a rank by; `None` if it is no number.
fn most_of(cx: &mut Context<'_>, most: &Expr) -> SqlAttempt<Option<u64>> {
    // What is no integer is rounded up: the condition looks at the rank again.
    Ok(match most.eval(cx)?.as_ref() {
        ValueRef::Int(most) => Some(u64::try_from(most).unwrap_or(0)),
        ValueRef::UInt(most) => Some(most),
        ValueRef::Decimal(most) => Some(most.to_f64().ceil() as u64),
        ValueRef::Double(most) if !most.is_nan() => Some(most.ceil() as u64),
        _ => None,
    })
}

fn too_many() -> SqlError {
    SqlError::internal("more rows are held than can be told apart")
}
