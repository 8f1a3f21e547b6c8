//! Nested loops and hash joins.

mod building;
mod probing;
mod put_off;

use palisade_catalog::ValueRef;
use palisade_engine::KeyRange;
use palisade_expr::hash_key::{append_domain_key, append_integer_key};
use palisade_expr::keys::{KeyIndex, Numbered};
use palisade_expr::place::At;
use palisade_expr::warning::Warnings;
use palisade_expr::{Context, Domain, Expr, Slot, SqlAttempt, SqlError, SqlResult};
use palisade_plan::{JoinKind, Operator};
use palisade_session::work::WorkDone;

use self::building::Building;
use self::probing::{Probed, Probing};
use self::put_off::{InOrder, LeftMark, PutOff};
use super::batches::{InBatches, Taken};
use super::kept::{KeptRows, grown};
use super::spill::pairs::table_memory;
use super::{ExecContext, State};

/// Where a nested loop is.
#[derive(Debug)]
pub struct NestedLoopState {
    left: State,
    right: State,
    /// A left row is in place.
    has_left: bool,
    /// It has had a match.
    matched: bool,
    /// A right row is in place, its condition not tested yet.
    pending: bool,
}

impl NestedLoopState {
    /// Before the first row.
    pub fn new(left: State, mut right: State, kind: JoinKind) -> Self {
        right.hint_again();
        if matches!(kind, JoinKind::Semi | JoinKind::Anti) {
            right.hint_stop();
        }
        NestedLoopState { left, right, has_left: false, matched: false, pending: false }
    }

    /// See [`State::hint_stop`].
    pub fn hint_stop(&mut self) {
        self.left.hint_stop();
        self.right.hint_stop();
    }

    /// See [`State::hint_again`].
    pub fn hint_again(&mut self) {
        self.left.hint_again();
    }

    /// Before the first row.
    pub fn reset(&mut self) {
        self.left.reset();
        self.right.reset();
        (self.has_left, self.matched, self.pending) = (false, false, false);
    }

    /// See `State::begin_piece`.
    pub fn begin_piece(&mut self, piece: KeyRange) {
        self.reset();
        self.left.begin_piece(piece);
    }

    /// The next pair.
    pub fn next(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        left: &Operator,
        right: &Operator,
        kind: JoinKind,
        condition: Option<&Expr>,
    ) -> SqlAttempt<bool> {
        loop {
            if !self.has_left {
                if !self.left.next(left, cx)? {
                    return Ok(false);
                }
                self.right.reset();
                (self.has_left, self.matched, self.pending) = (true, false, false);
                cx.take_turns(1)?;
            }
            if !self.pending {
                if !self.right.next(right, cx)? {
                    self.has_left = false;
                    let alone = match kind {
                        JoinKind::Left | JoinKind::Anti => !self.matched,
                        JoinKind::Inner | JoinKind::Semi => false,
                    };
                    if alone {
                        clear_slots(right, cx)?;
                        return Ok(true);
                    }
                    continue;
                }
                self.pending = true;
                cx.take_turns(1)?;
            }
            let holds = match condition {
                Some(condition) => cx.evaluate(|cx| condition.holds(cx))?,
                None => true,
            };
            self.pending = false;
            if !holds {
                continue;
            }
            self.matched = true;
            match kind {
                JoinKind::Inner | JoinKind::Left => return Ok(true),
                JoinKind::Semi => {
                    self.has_left = false;
                    return Ok(true);
                }
                JoinKind::Anti => self.has_left = false,
            }
        }
    }
}

/// Makes every slot below `plan` NULL.
fn clear_slots(plan: &Operator, cx: &mut ExecContext<'_, '_>) -> SqlResult<()> {
    let mut slots = Vec::new();
    plan.slots(&mut slots);
    for slot in slots {
        *cx.state.frame.slots.at_mut(slot)? = Slot::Null;
    }
    Ok(())
}

/// A hash join's plan, taken apart.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct HashJoin<'p> {
    pub left: &'p Operator,
    pub right: &'p Operator,
    pub kind: JoinKind,
    pub keys: &'p [(Expr, Expr, Domain)],
    pub condition: Option<&'p Expr>,
    pub right_slots: &'p [usize],
    pub in_order: bool,
}

/// Where a hash join is.
///
/// The rows of the right side lie in one place ([`KeptRows`]); rows with the same key are a chain, in the
/// order in which they came:
///
/// ```text
///  keys   'a' = 0   'b' = 1           row    0   1   2   3
///  first      0         1             next   2   -   3   -        'a': rows 0, 2, 3
///  last       3         1
/// ```
///
/// When they take more memory than they may, the others are put off, with the left rows that may
/// match them, and come when the left side has ended.
#[derive(Debug)]
pub struct HashJoinState {
    left: State,
    right: State,
    /// Numbers of the keys of the right side.
    keys: KeyIndex,
    /// The first and the last row of each key.
    chains: Vec<(u32, u32)>,
    /// For each row the next one with its key.
    next: Vec<u32>,
    rows: KeptRows,
    built: bool,
    right_pending: bool,
    /// The right side has no more rows.
    right_ended: bool,
    left_pending: bool,
    has_left: bool,
    matched: bool,
    /// How many left rows came before the current one.
    number: u64,
    key: Vec<u8>,
    /// The key of the left row has no NULL.
    has_key: bool,
    /// The right row to look at next beside the left one.
    candidate: u32,
    testing: bool,
    /// See [`Operator::HashJoin`].
    keeps: bool,
    /// Rows for which there was no memory.
    put_off: Option<Box<PutOff>>,
    /// The pairs, where there are such rows and the order of the left side is to be kept.
    in_order: Option<Box<InOrder>>,
    in_batches: InBatches<Probing>,
    building: InBatches<Building>,
}

/// No row.
const NONE: u32 = u32::MAX;

impl HashJoinState {
    /// A join that sets the rows of its right side aside in `rows`, before its first row.
    pub fn new(left: State, right: State, rows: KeptRows, keeps: bool) -> Self {
        HashJoinState {
            left,
            right,
            keys: KeyIndex::default(),
            chains: Vec::new(),
            next: Vec::new(),
            rows,
            built: false,
            right_pending: false,
            right_ended: false,
            left_pending: false,
            has_left: false,
            matched: false,
            number: 0,
            key: Vec::new(),
            has_key: false,
            candidate: NONE,
            testing: false,
            keeps,
            put_off: None,
            in_order: None,
            in_batches: InBatches::default(),
            building: InBatches::default(),
        }
    }

    /// See [`State::hint_stop`]. The right side is read to its end.
    pub fn hint_stop(&mut self) {
        self.left.hint_stop();
    }

    /// Before the first row. The hash table is built anew if the right side may depend on outer rows, or was
    /// too large.
    pub fn reset(&mut self) {
        self.left.reset();
        (self.left_pending, self.has_left, self.testing, self.number) = (false, false, false, 0);
        self.in_order = None;
        self.forget_batch();
        if self.built && self.keeps && self.put_off.is_none() {
            return;
        }
        self.right.reset();
        self.forget_table();
        self.put_off = None;
    }

    /// See `State::begin_piece`.
    pub fn begin_piece(&mut self, piece: KeyRange) {
        self.reset();
        self.left.begin_piece(piece);
    }

    /// Before the first right row.
    fn forget_table(&mut self) {
        self.keys.clear();
        self.chains.clear();
        self.next.clear();
        self.rows.clear();
        (self.built, self.right_pending, self.right_ended) = (false, false, false);
    }

    /// The next pair.
    pub fn next(&mut self, cx: &mut ExecContext<'_, '_>, plan: &HashJoin<'_>) -> SqlAttempt<bool> {
        if !self.built && self.in_order.is_none() {
            self.build(cx, plan)?;
        }
        if self.put_off.is_none() || !plan.in_order {
            return self.next_pair(cx, plan);
        }
        let mut in_order = self.in_order.take().unwrap_or_else(|| Box::new(InOrder::new(cx, plan)));
        let found = in_order.next(self, cx, plan);
        self.in_order = Some(in_order);
        found
    }

    /// The next pair, in any order.
    fn next_pair(&mut self, cx: &mut ExecContext<'_, '_>, plan: &HashJoin<'_>) -> SqlAttempt<bool> {
        loop {
            if !self.built {
                self.build(cx, plan)?;
            }
            if self.next_of_table(cx, plan)? {
                return Ok(true);
            }
            let Some(put_off) = &mut self.put_off else { return Ok(false) };
            if !put_off.next_pair()? {
                return Ok(false);
            }
            self.forget_table();
        }
    }

    /// The next pair of those that the hash table gives.
    fn next_of_table(&mut self, cx: &mut ExecContext<'_, '_>, plan: &HashJoin<'_>) -> SqlAttempt<bool> {
        loop {
            if !self.has_left && !self.next_left(cx, plan)? {
                return Ok(false);
            }
            if !self.testing {
                if self.candidate == NONE {
                    self.has_left = false;
                    if self.puts_off_left(cx)? {
                        continue;
                    }
                    if !self.matched && matches!(plan.kind, JoinKind::Left | JoinKind::Anti) {
                        for slot in plan.right_slots {
                            *cx.state.frame.slots.at_mut(*slot)? = Slot::Null;
                        }
                        return Ok(true);
                    }
                    continue;
                }
                let row = self.candidate as usize;
                self.rows.show(row, plan.right_slots, &mut cx.state.frame)?;
                self.candidate = *self.next.at(row)?;
                self.testing = true;
                cx.take_turns(1)?;
            }
            let holds = match plan.condition {
                Some(condition) => cx.evaluate(|cx| condition.holds(cx))?,
                None => true,
            };
            self.testing = false;
            if !holds {
                continue;
            }
            self.matched = true;
            match plan.kind {
                JoinKind::Inner | JoinKind::Left => return Ok(true),
                JoinKind::Semi => {
                    self.has_left = false;
                    return Ok(true);
                }
                JoinKind::Anti => self.has_left = false,
            }
        }
    }

    /// Goes to the next left row and finds the right rows with its key.
    fn next_left(&mut self, cx: &mut ExecContext<'_, '_>, plan: &HashJoin<'_>) -> SqlAttempt<bool> {
        if let Some(put_off) = &mut self.put_off {
            put_off.make_room()?;
            if put_off.is_reading() {
                let Some(mark) = put_off.read_left(&mut cx.state.frame, &mut self.key)? else {
                    return Ok(false);
                };
                (self.has_key, self.number) = (true, mark.number);
                return self.begin_left(cx, mark.matched);
            }
        }
        if !self.left_pending {
            if self.put_off.is_none() && !matches!(self.in_batches, InBatches::No) {
                match self.next_probed(cx, plan)? {
                    Probed::Row(candidate) => {
                        self.candidate = candidate;
                        (self.has_left, self.matched, self.testing) = (true, false, false);
                        return Ok(true);
                    }
                    Probed::End => return Ok(false),
                    Probed::RowByRow => {}
                }
            }
            if !self.left.next(plan.left, cx)? {
                return Ok(false);
            }
            self.left_pending = true;
        }
        self.key.clear();
        let key = &mut self.key;
        let keys = plan.keys.iter().map(|(left, _, domain)| (left, *domain));
        // NULL matches nothing.
        self.has_key = cx.evaluate(|cx| join_key(cx, keys, key))?;
        self.left_pending = false;
        self.number += 1;
        self.begin_left(cx, false)
    }

    /// The left row and its key are in place: finds the right rows that have it, too.
    fn begin_left(&mut self, cx: &mut ExecContext<'_, '_>, matched: bool) -> SqlAttempt<bool> {
        let number = if self.has_key { self.keys.find(&self.key) } else { None };
        self.candidate = match number {
            Some(number) => self.chains.at(number)?.0,
            None => NONE,
        };
        (self.has_left, self.matched, self.testing) = (true, matched, false);
        if self.candidate == NONE {
            cx.take_turns(1)?;
        }
        Ok(true)
    }

    /// Puts the current left row off if there may be right rows with its key that were.
    fn puts_off_left(&mut self, cx: &mut ExecContext<'_, '_>) -> SqlResult<bool> {
        match &mut self.put_off {
            Some(put_off) if self.has_key && put_off.may_have(&self.key) => {
                put_off.push_left(cx, LeftMark { matched: self.matched, number: self.number }, &self.key)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Makes the hash table. May ask to wait, and is called again then.
    fn build(&mut self, cx: &mut ExecContext<'_, '_>, plan: &HashJoin<'_>) -> SqlAttempt<()> {
        if !cx.execution.part.is_some_and(|part| part.hides_tables) {
            return self.build_table(cx, plan);
        }
        let mut hidden = (WorkDone::default(), Warnings::default());
        let mut hide = |cx: &mut ExecContext<'_, '_>| {
            std::mem::swap(cx.execution.work, &mut hidden.0);
            std::mem::swap(&mut cx.session.warnings, &mut hidden.1);
        };
        hide(cx);
        let built = self.build_table(cx, plan);
        hide(cx);
        built
    }

    fn build_table(&mut self, cx: &mut ExecContext<'_, '_>, plan: &HashJoin<'_>) -> SqlAttempt<()> {
        while !self.right_ended {
            if let Some(put_off) = &mut self.put_off {
                put_off.make_room()?;
                if put_off.is_reading() {
                    let frame = &mut cx.state.frame;
                    match put_off.read_right(frame, plan.right_slots, &mut self.key)? {
                        true => self.keep(cx, plan)?,
                        false => self.right_ended = true,
                    }
                    cx.take_turns(1)?;
                    continue;
                }
            }
            if !self.right_pending {
                match self.build_batch(cx, plan)? {
                    Taken::Added => continue,
                    Taken::End => {
                        self.right_ended = true;
                        break;
                    }
                    Taken::RowByRow => {}
                }
                if !self.right.next(plan.right, cx)? {
                    self.right_ended = true;
                    break;
                }
                self.right_pending = true;
            }
            self.key.clear();
            let key = &mut self.key;
            let keys = plan.keys.iter().map(|(_, right, domain)| (right, *domain));
            let known = cx.evaluate(|cx| join_key(cx, keys, key))?;
            self.right_pending = false;
            if known {
                self.keep(cx, plan)?;
            }
            cx.take_turns(2)?;
        }
        if let Some(put_off) = &mut self.put_off {
            put_off.end_right()?;
        }
        self.built = true;
        Ok(())
    }

    /// About how many bytes the right rows take, and what finds them.
    fn size(&self) -> usize {
        let of_chains = grown::<(u32, u32)>(self.chains.len()) + grown::<u32>(self.next.len());
        self.rows.size() + self.keys.size() + of_chains
    }

    /// Keeps the current right row, whose key is at hand, or puts it off.
    fn keep(&mut self, cx: &mut ExecContext<'_, '_>, plan: &HashJoin<'_>) -> SqlResult<()> {
        if self.size() > table_memory(put_off::memory(cx)) {
            // Rows of which nothing is kept are alike.
            if plan.right_slots.is_empty() && self.keys.contains(&self.key) {
                return Ok(());
            }
            cx.execution.check_may_put_off()?;
            let put_off = self.put_off.get_or_insert_with(|| Box::new(PutOff::new(plan)));
            return put_off.push_right(cx, plan, &self.key);
        }
        let row = u32::try_from(self.next.len()).ok().filter(|row| *row < NONE);
        let row = row.ok_or_else(|| SqlError::internal("too many rows for a hash join"))?;
        match self.keys.number(&self.key) {
            Numbered::Known(_) if plan.right_slots.is_empty() => return Ok(()),
            Numbered::Known(number) => {
                let last = std::mem::replace(&mut self.chains.at_mut(number)?.1, row);
                *self.next.at_mut(last as usize)? = row;
            }
            Numbered::New(_) => self.chains.push((row, row)),
        }
        self.next.push(NONE);
        self.rows.push(&cx.state.frame, plan.right_slots)?;
        cx.session.charge(self.size())
    }
}

/// Bytes that are equal where the expressions' values are equal in their domains; false if one is NULL.
fn join_key<'e>(
    cx: &mut Context<'_>,
    exprs: impl Iterator<Item = (&'e Expr, Domain)>,
    out: &mut Vec<u8>,
) -> SqlAttempt<bool> {
    for (expr, domain) in exprs {
        match expr.borrow(cx) {
            Some(Ok(ValueRef::Null)) => return Ok(false),
            Some(Ok(ValueRef::Int(value))) if domain == Domain::Integer => {
                append_integer_key(value.into(), out);
                continue;
            }
            _ => {}
        }
        let value = expr.eval(cx)?;
        if value.is_null() {
            return Ok(false);
        }
        let appended = append_domain_key(cx, &value, &expr.ty, domain, out);
        if !cx.attempt(appended)? {
            return Ok(false);
        }
    }
    Ok(true)
}
