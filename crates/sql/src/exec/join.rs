//! Nested loops and hash joins.

use hashbrown::HashMap;

use palisade_expr::hash_key::append_domain_key;
use palisade_expr::place::At;
use palisade_expr::{Context, Domain, Expr, Slot};

use super::{ExecContext, State};
use crate::plan::{JoinKind, Operator};
use crate::{SqlAttempt, SqlResult};

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
                Some(condition) => cx.evaluate(|cx| condition.test(cx))? == Some(true),
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
#[derive(Debug)]
pub struct HashJoinState {
    left: State,
    right: State,
    /// Right rows by key, each as the contents of the right slots.
    table: HashMap<Vec<u8>, Vec<Box<[Slot]>>>,
    bytes: usize,
    built: bool,
    right_pending: bool,
    left_pending: bool,
    has_left: bool,
    matched: bool,
    key: Vec<u8>,
    next_match: usize,
    testing: bool,
    /// See [`Operator::HashJoin`].
    keeps: bool,
}

impl HashJoinState {
    /// Before the first row.
    pub fn new(left: State, right: State, keeps: bool) -> Self {
        HashJoinState {
            left,
            right,
            table: HashMap::new(),
            bytes: 0,
            built: false,
            right_pending: false,
            left_pending: false,
            has_left: false,
            matched: false,
            key: Vec::new(),
            next_match: 0,
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
        self.table = HashMap::new();
        (self.bytes, self.built, self.right_pending) = (0, false, false);
    }

    /// The next pair.
    pub fn next(&mut self, cx: &mut ExecContext<'_, '_>, plan: &HashJoin<'_>) -> SqlAttempt<bool> {
        if !self.built {
            self.build(cx, plan)?;
        }
        loop {
            if !self.has_left {
                if !self.left_pending {
                    if !self.left.next(plan.left, cx)? {
                        return Ok(false);
                    }
                    self.left_pending = true;
                }
                self.key.clear();
                let mut key = std::mem::take(&mut self.key);
                let keys = plan.keys.iter().map(|(left, _, domain)| (left, *domain));
                let known = cx.evaluate(|cx| join_key(cx, keys, &mut key));
                self.key = key;
                let known = known?;
                if !known {
                    // NULL matches nothing.
                    self.key.clear();
                    self.key.push(u8::MAX);
                }
                self.left_pending = false;
                (self.has_left, self.matched, self.next_match, self.testing) = (true, false, 0, false);
            }
            let matches = self.table.get(&self.key).map_or(&[][..], Vec::as_slice);
            if !self.testing {
                let Some(row) = matches.get(self.next_match) else {
                    self.has_left = false;
                    if !self.matched && matches!(plan.kind, JoinKind::Left | JoinKind::Anti) {
                        for slot in plan.right_slots {
                            *cx.state.frame.slots.at_mut(*slot)? = Slot::Null;
                        }
                        return Ok(true);
                    }
                    continue;
                };
                for (slot, kept) in plan.right_slots.iter().zip(row.iter()) {
                    *cx.state.frame.slots.at_mut(*slot)? = kept.clone();
                }
                self.next_match += 1;
                self.testing = true;
                cx.take_turns(1)?;
            }
            let holds = match plan.condition {
                Some(condition) => cx.evaluate(|cx| condition.test(cx))? == Some(true),
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

    fn build(&mut self, cx: &mut ExecContext<'_, '_>, plan: &HashJoin<'_>) -> SqlAttempt<()> {
        loop {
            if !self.right_pending {
                if !self.right.next(plan.right, cx)? {
                    self.built = true;
                    return Ok(());
                }
                self.right_pending = true;
            }
            let mut key = Vec::new();
            let keys = plan.keys.iter().map(|(_, right, domain)| (right, *domain));
            let known = cx.evaluate(|cx| join_key(cx, keys, &mut key))?;
            self.right_pending = false;
            if known {
                let row: Box<[Slot]> = cx.state.frame.keep(plan.right_slots)?;
                if row.is_empty() && self.table.contains_key(&key) {
                    continue;
                }
                self.bytes += key.len() + row.iter().map(Slot::size).sum::<usize>();
                cx.session.charge(self.bytes)?;
                self.table.entry(key).or_default().push(row);
            }
            cx.take_turns(2)?;
        }
    }
}

/// Bytes that are equal where the expressions' values are equal in their domains; false if one is NULL.
fn join_key<'e>(
    cx: &mut Context<'_>,
    exprs: impl Iterator<Item = (&'e Expr, Domain)>,
    out: &mut Vec<u8>,
) -> SqlAttempt<bool> {
    for (expr, domain) in exprs {
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
