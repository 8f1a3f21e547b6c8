//! Windows that are ordered alike, or by a beginning of what another one is ordered by, share its sort.
//!
//! ```text
//!  SELECT RANK() OVER (PARTITION BY a), SUM(c) OVER (PARTITION BY a ORDER BY b, d) FROM t
//!
//!     windows: a │ a, b, d   ──►   a, b, d │ a (its rows come so)
//!     sorts:   a,  a, b, d         a, b, d
//! ```
//!
//! Rows are computed window by window. A window gives its rows in its order, and where that begins with all
//! keys of the next one, PARTITION BY and ORDER BY alike, the next one has no rows to sort: a sort would
//! leave them where they are. It then needs one partition in memory at a time.
//!
//! So windows are put behind those that are ordered by more. Rows with equal keys may come in another order
//! then, which ROW_NUMBER, LAG or a frame of ROWS would tell: a window is put behind a later one if neither
//! it nor one that it passes has such functions. Those of the same keys are put together in any case, the
//! later behind the earlier one, as MySQL does; it shares sorts between such windows only.
//!
//! Neither the rows of the block nor their order is changed by the first: what rows are sorted by before is
//! told by what they are sorted by in the end.

use palisade_catalog::SqlType;
use palisade_expr::Expr;
use palisade_expr::order::SortKey;
use palisade_parser::ast::AggregateKind;

use super::substitute::is_repeatable;
use super::{Block, Rule, Statement};
use crate::window::{Edge, WindowCall, WindowFunction, WindowPlan};

/// The rule.
pub(super) struct WindowReuse;

impl Rule for WindowReuse {
    fn apply(&self, block: &mut Block, _output: &mut [Expr], _statement: &mut Statement<'_, '_>) {
        if block.windows.len() < 2 {
            return;
        }
        if !are_repeatable(&block.windows) {
            return;
        }
        // One that leaves rows out stays the last.
        if block.windows.iter().all(|window| window.wanted.is_none()) {
            put_alike_together(&mut block.windows);
            put_behind_finer(&mut block.windows);
        }
        share_sorts(&mut block.windows);
    }
}

fn are_repeatable(windows: &[WindowPlan]) -> bool {
    let mut repeatable = true;
    windows.iter().for_each(|window| window.exprs(&mut |expr| repeatable &= is_repeatable(expr)));
    repeatable
}

/// Notes which windows have their rows in order, by those before them. Is called again where a window has
/// been left out.
pub(super) fn share_sorts(windows: &mut [WindowPlan]) {
    let is_known = are_repeatable(windows);
    let mut order = Vec::new();
    for window in windows {
        let keys = keys_of(window);
        window.comes_sorted = is_known && !keys.is_empty() && order.starts_with(&keys);
        // Without keys rows stay as they come.
        if !window.comes_sorted && !keys.is_empty() {
            order = keys;
        }
    }
}

/// What a window's rows are sorted by: a key that is there twice says nothing the second time.
fn keys_of(window: &WindowPlan) -> Vec<SortKey> {
    let mut keys: Vec<SortKey> = Vec::with_capacity(window.partition.len() + window.order.len());
    for key in window.partition.iter().chain(&window.order) {
        if !keys.iter().any(|known| known.expr == key.expr) {
            keys.push(key.clone());
        }
    }
    keys
}

/// Puts windows of the same keys behind the first of them.
fn put_alike_together(windows: &mut Vec<WindowPlan>) {
    let mut first = 0;
    while let Some(keys) = windows.get(first).map(keys_of) {
        let (mut next, mut at) = (first + 1, first + 1);
        while at < windows.len() {
            let is_alike = !keys.is_empty() && windows.get(at).is_some_and(|window| keys_of(window) == keys);
            if is_alike {
                let window = windows.remove(at);
                windows.insert(next, window);
                next += 1;
            }
            at += 1;
        }
        first = next;
    }
}

/// Puts windows behind later ones whose order begins with theirs, if no function tells.
fn put_behind_finer(windows: &mut Vec<WindowPlan>) {
    let mut first = 0;
    while let Some(window) = windows.get(first) {
        let keys = keys_of(window);
        let behind = windows.iter().enumerate().skip(first + 1).find(|(_, finer)| {
            let finer = keys_of(finer);
            !keys.is_empty() && finer.len() > keys.len() && finer.starts_with(&keys)
        });
        let Some((behind, _)) = behind else {
            first += 1;
            continue;
        };
        let passed = windows.get(first..behind).unwrap_or_default();
        if passed.iter().all(|window| window.calls.iter().all(is_same_for_equals)) {
            // The next one is in its place now.
            let window = windows.remove(first);
            windows.insert(behind, window);
        } else {
            first += 1;
        }
    }
}

/// Whether a function gives a row the same value however rows with equal keys are ordered.
fn is_same_for_equals(call: &WindowCall) -> bool {
    let is_whole = |edge: &Edge| matches!(edge, Edge::First | Edge::Last);
    let frame = &call.frame;
    let by_keys = !frame.by_rows || is_whole(&frame.start) && is_whole(&frame.end);
    match &call.function {
        WindowFunction::Rank
        | WindowFunction::DenseRank
        | WindowFunction::CumeDist
        | WindowFunction::PercentRank => true,
        WindowFunction::Aggregate(spec) => {
            let are = |is: fn(&SqlType) -> bool| spec.arguments.iter().all(|argument| is(&argument.ty));
            let is_sum = match spec.kind {
                AggregateKind::Count => true,
                // Doubles add up to other digits in another order, and of equal texts the first is shown.
                AggregateKind::Sum | AggregateKind::Avg => {
                    are(|ty| matches!(ty, SqlType::Int { .. } | SqlType::Decimal { .. }))
                }
                AggregateKind::Min | AggregateKind::Max => are(|ty| ty.is_numeric() || ty.is_temporal()),
                _ => false,
            };
            by_keys && is_sum
        }
        WindowFunction::RowNumber
        | WindowFunction::Ntile(_)
        | WindowFunction::Shifted { .. }
        | WindowFunction::First
        | WindowFunction::Last
        | WindowFunction::Nth(_) => false,
    }
}
