//! UNION and its kin, derived tables, virtual tables.

use std::collections::HashMap;

use palisade_catalog::{SqlType, Value};

use super::join::charge;
use super::keys::KeyIndex;
use super::sort::append_row_key;
use super::{KeptRow, State, next_passing};
use crate::SqlAttempt;
use crate::expr::{Context, Expr, Slot};
use crate::plan::{Operator, Query, SetStep};

/// Where a combination is.
#[derive(Debug)]
pub struct UnionState {
    inputs: Vec<State>,
    current: usize,
    /// Rows computed, where streaming is not possible.
    rows: Option<Vec<KeptRow>>,
    collected: Vec<KeptRow>,
    next: usize,
    bytes: usize,
}

impl UnionState {
    /// Before the first row.
    pub fn new(inputs: Vec<State>) -> Self {
        UnionState { inputs, current: 0, rows: None, collected: Vec::new(), next: 0, bytes: 0 }
    }

    /// Before the first row.
    pub fn reset(&mut self) {
        self.inputs.iter_mut().for_each(State::reset);
        (self.current, self.rows, self.next, self.bytes) = (0, None, 0, 0);
        self.collected.clear();
    }

    /// The next row. UNION ALL streams; everything else is computed step by step first.
    pub fn next(
        &mut self,
        cx: &mut Context<'_>,
        inputs: &[Operator],
        slot: usize,
        steps: &[SetStep],
        types: &[SqlType],
    ) -> SqlAttempt<bool> {
        if steps.iter().all(|step| *step == SetStep::UnionAll) {
            while let Some(plan) = inputs.get(self.current) {
                if self.inputs[self.current].next(plan, cx)? {
                    return Ok(true);
                }
                self.current += 1;
            }
            return Ok(false);
        }
        while let Some(plan) = inputs.get(self.current) {
            while self.inputs[self.current].next(plan, cx)? {
                if let Slot::Values(values) = &cx.frame.slots[slot] {
                    self.bytes += cx.frame.slots[slot].size();
                    self.collected.push(values.clone());
                }
                charge(self.bytes)?;
            }
            let right = std::mem::take(&mut self.collected);
            self.rows = Some(match self.rows.take() {
                None => right,
                Some(left) => combine(left, right, steps[self.current - 1], types),
            });
            self.current += 1;
        }
        let rows = self.rows.get_or_insert_with(Vec::new);
        let Some(row) = rows.get(self.next) else { return Ok(false) };
        cx.frame.slots[slot] = Slot::Values(row.clone());
        self.next += 1;
        Ok(true)
    }
}

fn combine(left: Vec<KeptRow>, right: Vec<KeptRow>, step: SetStep, types: &[SqlType]) -> Vec<KeptRow> {
    let key = |row: &KeptRow| {
        let mut key = Vec::new();
        append_row_key(&Slot::Values(row.clone()), types, &mut key);
        key
    };
    let distinct = |rows: Vec<KeptRow>| {
        let mut seen = KeyIndex::default();
        rows.into_iter().filter(|row| seen.insert(&key(row))).collect::<Vec<_>>()
    };
    let counted = |rows: &[KeptRow]| {
        let mut counts: HashMap<Vec<u8>, usize> = HashMap::new();
        for row in rows {
            *counts.entry(key(row)).or_default() += 1;
        }
        counts
    };
    match step {
        SetStep::UnionAll => left.into_iter().chain(right).collect(),
        SetStep::Union => distinct(left.into_iter().chain(right).collect()),
        SetStep::Except { all } => {
            let mut counts = counted(&right);
            let kept: Vec<_> = left
                .into_iter()
                .filter(|row| match counts.get_mut(&key(row)) {
                    Some(count) if all && *count > 0 => {
                        *count -= 1;
                        false
                    }
                    Some(_) => all,
                    None => true,
                })
                .collect();
            if all { kept } else { distinct(kept) }
        }
        SetStep::Intersect { all } => {
            let mut counts = counted(&right);
            let kept: Vec<_> = left
                .into_iter()
                .filter(|row| match counts.get_mut(&key(row)) {
                    Some(count) if *count > 0 => {
                        if all {
                            *count -= 1;
                        }
                        true
                    }
                    _ => false,
                })
                .collect();
            if all { kept } else { distinct(kept) }
        }
    }
}

/// Where reading a derived table is.
#[derive(Debug)]
pub struct DerivedState {
    input: State,
    rows: Vec<KeptRow>,
    bytes: usize,
    complete: bool,
    next: usize,
    stale: bool,
    /// A row of the query is in place, not computed yet.
    pending: bool,
}

impl DerivedState {
    /// Before the first row.
    pub fn new(input: State) -> Self {
        DerivedState {
            input,
            rows: Vec::new(),
            bytes: 0,
            complete: false,
            next: 0,
            stale: false,
            pending: false,
        }
    }

    /// Before the first row; the rows are kept unless they depend on outer rows.
    pub fn reset(&mut self) {
        self.next = 0;
        self.stale = true;
    }

    /// The next row.
    pub fn next(
        &mut self,
        cx: &mut Context<'_>,
        query: &Query,
        slot: usize,
        filter: Option<&Expr>,
    ) -> SqlAttempt<bool> {
        if self.stale && (!query.outer_slots.is_empty() || !self.complete) {
            self.rows.clear();
            (self.bytes, self.complete, self.pending) = (0, false, false);
            self.input.reset();
        }
        self.stale = false;
        while !self.complete {
            if !self.pending {
                if !self.input.next(&query.root, cx)? {
                    self.complete = true;
                    break;
                }
                self.pending = true;
            }
            let row: KeptRow = super::settled_all(&query.output, cx)?.into();
            self.pending = false;
            self.bytes += Slot::Values(row.clone()).size();
            charge(self.bytes)?;
            self.rows.push(row);
        }
        next_passing(cx, &self.rows, &mut self.next, slot, filter)
    }
}

/// Where reading a virtual table is.
#[derive(Debug, Default)]
pub struct VirtualState {
    rows: Option<Vec<KeptRow>>,
    next: usize,
}

impl VirtualState {
    /// Before the first row; the table is read once per statement.
    pub fn reset(&mut self) {
        self.next = 0;
    }

    /// The next row.
    pub fn next(
        &mut self,
        cx: &mut Context<'_>,
        slot: usize,
        schema: &str,
        name: &str,
        filter: Option<&Expr>,
    ) -> SqlAttempt<bool> {
        if self.rows.is_none() {
            let rows: Vec<Vec<Value>> = crate::show::schema::virtual_rows(cx, schema, name)?;
            self.rows = Some(rows.into_iter().map(KeptRow::from).collect());
        }
        let rows = self.rows.as_ref().expect("they were just made");
        next_passing(cx, rows, &mut self.next, slot, filter)
    }
}
