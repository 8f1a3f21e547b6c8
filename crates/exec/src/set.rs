//! UNION and its kin, derived tables.

use hashbrown::HashMap;
use palisade_catalog::SqlType;
use palisade_expr::keys::KeyIndex;
use palisade_expr::place::At;
use palisade_expr::{Expr, Slot, SqlAttempt, SqlError};
use palisade_plan::{Operator, Query, SetStep};

use super::distinct::{Unseen, append_row_key};
use super::spill::list::RowList;
use super::{ExecContext, KeptRow, State};

/// Where a combination is.
#[derive(Debug)]
pub struct UnionState {
    inputs: Vec<State>,
    current: usize,
    /// Rows computed, where streaming is not possible.
    rows: Option<Vec<KeptRow>>,
    collected: Vec<KeptRow>,
    /// The rows computed and the next ones, while they are combined.
    combining: Option<Combining>,
    next: usize,
    bytes: usize,
    /// Where UNION is streamed: which of its rows have not been given.
    unseen: Unseen,
    /// Those that were put off have been given.
    is_drained: bool,
}

impl UnionState {
    /// Before the first row.
    pub fn new(inputs: Vec<State>) -> Self {
        UnionState {
            inputs,
            current: 0,
            rows: None,
            collected: Vec::new(),
            combining: None,
            next: 0,
            bytes: 0,
            unseen: Unseen::default(),
            is_drained: false,
        }
    }

    /// Before the first row.
    pub fn reset(&mut self) {
        self.inputs.iter_mut().for_each(State::reset);
        (self.current, self.rows, self.next, self.bytes) = (0, None, 0, 0);
        self.combining = None;
        self.collected.clear();
        self.unseen.clear();
        self.is_drained = false;
    }

    /// The next row. UNION streams, with ALL or without; everything else is computed step by step first.
    pub fn next(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        inputs: &[Operator],
        slot: usize,
        steps: &[SetStep],
        types: &[SqlType],
    ) -> SqlAttempt<bool> {
        if steps.iter().all(|step| matches!(step, SetStep::UnionAll | SetStep::Union)) {
            return self.stream(cx, inputs, slot, steps, types);
        }
        loop {
            if let Some(combining) = &mut self.combining {
                combining.advance(cx, types)?;
                self.rows = self.combining.take().map(|combined| combined.kept);
            }
            let Some(plan) = inputs.get(self.current) else { break };
            while self.inputs.at_mut(self.current)?.next(plan, cx)? {
                if let Slot::Values(values) = cx.state.frame.slots.at(slot)? {
                    self.bytes += cx.state.frame.slots.at(slot)?.size();
                    self.collected.push(values.clone());
                }
                cx.session.charge(self.bytes)?;
                cx.take_turns(1)?;
            }
            match self.rows.take() {
                None => self.rows = Some(std::mem::take(&mut self.collected)),
                Some(left) => {
                    let right = std::mem::take(&mut self.collected);
                    self.combining = Some(Combining::new(left, right, *steps.at(self.current - 1)?));
                }
            }
            self.current += 1;
        }
        let rows = self.rows.get_or_insert_with(Vec::new);
        let Some(row) = rows.get(self.next) else { return Ok(false) };
        *cx.state.frame.slots.at_mut(slot)? = Slot::Values(row.clone());
        self.next += 1;
        Ok(true)
    }
}

impl UnionState {
    /// The next row of unions: of the inputs up to the last UNION without ALL, those that are not like one
    /// before, and then those of the others.
    fn stream(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        inputs: &[Operator],
        slot: usize,
        steps: &[SetStep],
        types: &[SqlType],
    ) -> SqlAttempt<bool> {
        let last = steps.iter().rposition(|step| *step == SetStep::Union);
        let distinct = last.map_or(0, |last| last + 2);
        loop {
            if self.current == distinct && distinct > 0 && !self.is_drained {
                if self.unseen.next_put_off(cx, slot, types)? {
                    return Ok(true);
                }
                self.is_drained = true;
                self.unseen.clear();
            }
            let Some(plan) = inputs.get(self.current) else { return Ok(false) };
            self.unseen.make_room()?;
            if !self.inputs.at_mut(self.current)?.next(plan, cx)? {
                self.current += 1;
            } else if self.current >= distinct || self.unseen.is_new(cx, slot, types)? {
                return Ok(true);
            } else {
                cx.take_turns(1)?;
            }
        }
    }
}

/// Rows that are combined between two looks at whose turn it is.
const PART: usize = 256;

/// Two lists of rows that are combined, in parts.
#[derive(Debug)]
struct Combining {
    step: SetStep,
    /// The rows that may be kept.
    candidates: Vec<KeptRow>,
    /// Those before this one have been looked at.
    next: usize,
    /// The rows that decide on them: those before `next_counted` have been counted.
    others: Vec<KeptRow>,
    next_counted: usize,
    counts: HashMap<Vec<u8>, usize>,
    seen: KeyIndex,
    kept: Vec<KeptRow>,
}

impl Combining {
    fn new(mut left: Vec<KeptRow>, right: Vec<KeptRow>, step: SetStep) -> Combining {
        let others = match step {
            SetStep::UnionAll | SetStep::Union => {
                left.extend(right);
                Vec::new()
            }
            SetStep::Except { .. } | SetStep::Intersect { .. } => right,
        };
        Combining {
            step,
            candidates: left,
            next: 0,
            others,
            next_counted: 0,
            counts: HashMap::new(),
            seen: KeyIndex::default(),
            kept: Vec::new(),
        }
    }

    /// Goes on until all candidates have been looked at.
    fn advance(&mut self, cx: &mut ExecContext<'_, '_>, types: &[SqlType]) -> SqlAttempt<()> {
        let key = |cx: &mut ExecContext<'_, '_>, row: &KeptRow| {
            let mut key = Vec::new();
            cx.lend().in_one_go(|cx| cx.watched(|watch| append_row_key(row, types, &mut key, watch)))?;
            Ok::<_, SqlError>(key)
        };
        while self.next_counted < self.others.len() {
            let end = self.others.len().min(self.next_counted + PART);
            for row in self.others.part(self.next_counted..end)? {
                *self.counts.entry(key(cx, row)?).or_default() += 1;
            }
            self.next_counted = end;
            cx.take_turns(PART as u32)?;
        }
        while self.next < self.candidates.len() {
            let end = self.candidates.len().min(self.next + PART);
            for row in self.candidates.part(self.next..end)? {
                let is_kept = match self.step {
                    SetStep::UnionAll => true,
                    SetStep::Union => self.seen.insert(&key(cx, row)?),
                    SetStep::Except { all } => {
                        let key = key(cx, row)?;
                        let is_left = match self.counts.get_mut(&key) {
                            Some(count) if all && *count > 0 => {
                                *count -= 1;
                                false
                            }
                            Some(_) => all,
                            None => true,
                        };
                        is_left && (all || self.seen.insert(&key))
                    }
                    SetStep::Intersect { all } => {
                        let key = key(cx, row)?;
                        let is_in_both = match self.counts.get_mut(&key) {
                            Some(count) if *count > 0 => {
                                *count -= usize::from(all);
                                true
                            }
                            _ => false,
                        };
                        is_in_both && (all || self.seen.insert(&key))
                    }
                };
                if is_kept {
                    self.kept.push(row.clone());
                }
            }
            self.next = end;
            cx.take_turns(PART as u32)?;
        }
        Ok(())
    }
}

/// Where reading a derived table is.
#[derive(Debug)]
pub struct DerivedState {
    input: State,
    rows: RowList,
    /// The query has no more rows.
    has_ended: bool,
    complete: bool,
    stale: bool,
    /// A row of the query is in place, not computed yet.
    pending: bool,
    /// The row that is being looked at.
    current: Option<KeptRow>,
}

impl DerivedState {
    /// Before the first row.
    pub fn new(input: State) -> Self {
        DerivedState {
            input,
            rows: RowList::default(),
            has_ended: false,
            complete: false,
            stale: false,
            pending: false,
            current: None,
        }
    }

    /// Before the first row; the rows are kept unless they depend on outer rows.
    pub fn reset(&mut self) {
        self.rows.rewind();
        self.current = None;
        self.stale = true;
    }

    /// The next row.
    pub fn next(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        query: &Query,
        slot: usize,
        filter: Option<&Expr>,
    ) -> SqlAttempt<bool> {
        if self.stale && (!query.outer_slots.is_empty() || !self.complete) {
            self.rows.clear();
            (self.has_ended, self.complete, self.pending) = (false, false, false);
            self.input.reset();
        }
        self.stale = false;
        while !self.complete {
            self.rows.make_room(cx)?;
            if self.has_ended {
                self.rows.finish(cx)?;
                self.complete = true;
                break;
            }
            if !self.pending {
                if !self.input.next(&query.root, cx)? {
                    self.has_ended = true;
                    continue;
                }
                self.pending = true;
            }
            let row: KeptRow = super::settled_all(&query.output, cx)?.into();
            self.pending = false;
            self.rows.push(row);
            cx.take_turns(1)?;
        }
        self.next_passing(cx, slot, filter)
    }

    /// Places the next row that passes the filter in the slot; false if there is none.
    fn next_passing(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        slot: usize,
        filter: Option<&Expr>,
    ) -> SqlAttempt<bool> {
        loop {
            if self.current.is_none() {
                cx.take_turns(1)?;
                self.current = self.rows.next_row()?;
            }
            let Some(row) = &self.current else { return Ok(false) };
            *cx.state.frame.slots.at_mut(slot)? = Slot::Values(row.clone());
            let passes = match filter {
                Some(filter) => cx.evaluate(|cx| filter.holds(cx))?,
                None => true,
            };
            self.current = None;
            if passes {
                return Ok(true);
            }
        }
    }
}
