//! Nested loops and hash joins.

use palisade_catalog::ValueRef;
use palisade_expr::hash_key::{append_domain_key, append_integer_key};
use palisade_expr::keys::{KeyIndex, Numbered};
use palisade_expr::place::At;
use palisade_expr::{Context, Domain, Expr, Slot, SqlAttempt, SqlError, SqlResult};
use palisade_plan::{JoinKind, Operator};

use super::kept::KeptRows;
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
    left_pending: bool,
    has_left: bool,
    matched: bool,
    key: Vec<u8>,
    /// The right row to look at next beside the left one.
    candidate: u32,
    testing: bool,
    /// See [`Operator::HashJoin`].
    keeps: bool,
}

/// No row.
const NONE: u32 = u32::MAX;

impl HashJoinState {
    /// Before the first row.
    pub fn new(left: State, right: State, keeps: bool) -> Self {
        HashJoinState {
            left,
            right,
            keys: KeyIndex::default(),
            chains: Vec::new(),
            next: Vec::new(),
            rows: KeptRows::default(),
            built: false,
            right_pending: false,
            left_pending: false,
            has_left: false,
            matched: false,
            key: Vec::new(),
            candidate: NONE,
            testing: false,
            keeps,
        }
    }

    /// Before the first row. The hash table is built anew if the right side may depend on outer rows.
    pub fn reset(&mut self) {
        self.left.reset();
        (self.left_pending, self.has_left, self.testing) = (false, false, false);
        if self.built && self.keeps {
            return;
        }
        self.right.reset();
        self.keys.clear();
        self.chains.clear();
        self.next.clear();
        self.rows.clear();
        (self.built, self.right_pending) = (false, false);
    }

    /// The next pair.
    pub fn next(&mut self, cx: &mut ExecContext<'_, '_>, plan: &HashJoin<'_>) -> SqlAttempt<bool> {
        if !self.built {
            self.build(cx, plan)?;
        }
        loop {
            if !self.has_left && !self.next_left(cx, plan)? {
                return Ok(false);
            }
            if !self.testing {
                if self.candidate == NONE {
                    self.has_left = false;
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
        if !self.left_pending {
            if !self.left.next(plan.left, cx)? {
                return Ok(false);
            }
            self.left_pending = true;
        }
        self.key.clear();
        let key = &mut self.key;
        let keys = plan.keys.iter().map(|(left, _, domain)| (left, *domain));
        // NULL matches nothing.
        let known = cx.evaluate(|cx| join_key(cx, keys, key))?;
        let number = if known { self.keys.find(&self.key) } else { None };
        self.candidate = match number {
            Some(number) => self.chains.at(number)?.0,
            None => NONE,
        };
        self.left_pending = false;
        (self.has_left, self.matched, self.testing) = (true, false, false);
        if self.candidate == NONE {
            cx.take_turns(1)?;
        }
        Ok(true)
    }

    fn build(&mut self, cx: &mut ExecContext<'_, '_>, plan: &HashJoin<'_>) -> SqlAttempt<()> {
        loop {
            if !self.right_pending {
                if !self.right.next(plan.right, cx)? {
                    self.built = true;
                    return Ok(());
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
    }

    /// Keeps the current right row, whose key is at hand.
    fn keep(&mut self, cx: &mut ExecContext<'_, '_>, plan: &HashJoin<'_>) -> SqlResult<()> {
        let row = u32::try_from(self.next.len()).ok().filter(|row| *row < NONE);
        let row = row.ok_or_else(|| SqlError::internal("too many rows for a hash join"))?;
        match self.keys.number(&self.key) {
            // Rows of which nothing is kept are alike.
            Numbered::Known(_) if plan.right_slots.is_empty() => return Ok(()),
            Numbered::Known(number) => {
                let last = std::mem::replace(&mut self.chains.at_mut(number)?.1, row);
                *self.next.at_mut(last as usize)? = row;
            }
            Numbered::New(_) => self.chains.push((row, row)),
        }
        self.next.push(NONE);
        self.rows.push(&cx.state.frame, plan.right_slots)?;
        let of_chains = self.chains.len() * size_of::<(u32, u32)>() + self.next.len() * size_of::<u32>();
        cx.session.charge(self.rows.size() + self.keys.size() + of_chains)
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
