//! Grouping: a hash table of groups, each with one accumulator per aggregate.
//!
//! When the groups take more memory than they may, those that are there are completed, and the rows of all
//! others - their values, the aggregates' arguments, and the slots that are kept - are [put
//! off](super::spill::partitions). The groups of ROLLUP are put in order in the end.

pub(crate) mod in_batches;
mod in_columns;
mod in_parts;
mod in_unions;
mod rollup;

use std::ops::RangeInclusive;

use palisade_base::codec::{Reader, put_varint};
use palisade_catalog::watch::PIECE;
use palisade_catalog::{Value, ValueRef};
use palisade_expr::aggregate::{Accumulator, AggregateSpec};
use palisade_expr::context::values_size;
use palisade_expr::hash_key::{append_hash_key, append_hash_key_of};
use palisade_expr::keys::{KeyIndex, Numbered};
use palisade_expr::place::At;
use palisade_expr::{ArithmeticOp, Expr, Node, Slot, SqlAttempt, SqlError, SqlResult};
use palisade_plan::parallel::{InParts, is_count};
use palisade_plan::{KeptKey, Operator};
use smallvec::SmallVec;

use self::in_batches::Batched;
use self::in_columns::OfColumns;
use self::in_parts::Adding;
use self::in_unions::InputOfUnion;
use self::rollup::{InRuns, Order};
use super::batches::{InBatches, Taken};
use super::chunked::Chunked;
use super::spill::damaged;
use super::spill::partitions::Partitions;
use super::spill::row::{RowTables, SlotImage, append_slot, append_values, read_values};
use super::{ExecContext, State};

/// A grouping's plan, taken apart.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Grouping<'p> {
    pub input: &'p Operator,
    pub group: &'p [Expr],
    pub aggregates: &'p [AggregateSpec],
    pub slot: usize,
    pub rollup: bool,
    pub keep: &'p [usize],
    pub kept_keys: &'p [KeptKey],
    pub in_parts: Option<&'p InParts>,
}

impl<'p> Grouping<'p> {
    /// Of an operator, if it is a grouping.
    pub fn of(operator: &'p Operator) -> Option<Grouping<'p>> {
        match operator {
            Operator::Aggregate {
                input,
                group,
                aggregates,
                slot,
                rollup,
                keep,
                kept_keys,
                in_parts,
                in_groups: _,
            } => Some(Grouping {
                input,
                group,
                aggregates,
                slot: *slot,
                rollup: *rollup,
                keep,
                kept_keys,
                in_parts: in_parts.as_ref(),
            }),
            _ => None,
        }
    }

    /// Whether all that is asked is how many rows a table has.
    fn is_count(&self) -> bool {
        let is_plain = !self.rollup && self.keep.is_empty();
        is_plain && is_count(self.input, self.group, self.aggregates)
    }
}

/// The groups, one behind the other: of a group that is known only its accumulators are touched.
#[derive(Debug, Default)]
pub(super) struct Groups {
    count: usize,
    /// By what they are grouped.
    values: Chunked<Value>,
    accumulators: Chunked<Accumulator>,
    kept: Chunked<Slot>,
    /// With ROLLUP, how many of the values are the group's own; the rest are NULL.
    levels: Vec<usize>,
}

impl Groups {
    /// Adds one before its first row.
    fn push(
        &mut self,
        values: impl Iterator<Item = Value>,
        level: usize,
        plan: &Grouping<'_>,
        kept: Vec<Slot>,
    ) {
        self.values.push(values);
        self.accumulators.push(plan.aggregates.iter().map(Accumulator::new));
        self.kept.push(kept.into_iter());
        if plan.rollup {
            self.levels.push(level);
        }
        self.count += 1;
    }

    fn clear(&mut self) {
        *self = Groups::default();
    }

    /// By what a group is grouped.
    fn values(&mut self, number: usize, plan: &Grouping<'_>) -> &mut [Value] {
        self.values.row_mut(number, plan.group.len())
    }

    fn level(&self, number: usize) -> usize {
        self.levels.get(number).copied().unwrap_or_default()
    }

    #[inline]
    fn accumulators(&mut self, number: usize, plan: &Grouping<'_>) -> &mut [Accumulator] {
        self.accumulators.row_mut(number, plan.aggregates.len())
    }

    fn kept(&mut self, number: usize, plan: &Grouping<'_>) -> &mut [Slot] {
        self.kept.row_mut(number, plan.keep.len())
    }
}

/// Rows of a table that are counted in the time that another row takes.
const ROWS_COUNTED_AS_ONE: u32 = 16;

/// What an aggregate evaluates for each row: its arguments and its keys.
fn inputs(spec: &AggregateSpec) -> impl Iterator<Item = &Expr> {
    spec.arguments.iter().chain(spec.order_by.iter().map(|key| &key.expr))
}

/// Whether evaluating it gives a value and nothing else, a warning neither: columns, and sums and products of
/// numbers.
fn is_silent(expr: &Expr) -> bool {
    match &expr.node {
        Node::Column { .. } | Node::Literal(_) | Node::Parameter(_) => true,
        Node::Arithmetic {
            op: ArithmeticOp::Add | ArithmeticOp::Subtract | ArithmeticOp::Multiply,
            left,
            right,
            ..
        } => [left, right].into_iter().all(|operand| operand.ty.is_numeric() && is_silent(operand)),
        _ => false,
    }
}

/// Where an input of the aggregates comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    /// It is evaluated.
    Computed,
    /// It is a column, which is read where it is when it is added.
    AtHand,
    /// It is the same expression as the input at this place, and evaluating it once will do.
    LikeThat(usize),
}

/// What a row is grouped by and what is added of it, and where from.
#[derive(Debug)]
struct Inputs {
    /// What is grouped by is at hand.
    group_at_hand: bool,
    /// Each aggregate's arguments, and then its keys.
    of_aggregates: Box<[Input]>,
}

impl Inputs {
    fn new(plan: &Grouping<'_>) -> Inputs {
        let all: Vec<&Expr> = plan.aggregates.iter().flat_map(inputs).collect();
        let at_hand = plan.aggregates.iter().flat_map(|spec| {
            let is_lone = spec.arguments.len() == 1 && spec.order_by.is_empty() && !spec.distinct;
            inputs(spec).map(move |expr| is_lone && expr.is_at_hand())
        });
        let at_hand: Vec<bool> = at_hand.collect();
        let of_aggregates = all.iter().zip(&at_hand).enumerate().map(|(place, (expr, is_at_hand))| {
            if *is_at_hand {
                return Input::AtHand;
            }
            let mut before = all.iter().zip(&at_hand).take(place);
            match before.position(|(other, is_at_hand)| !is_at_hand && other == expr) {
                Some(before) if is_silent(expr) => Input::LikeThat(before),
                _ => Input::Computed,
            }
        });
        Inputs {
            group_at_hand: !plan.rollup && plan.group.iter().all(|expr| expr.as_plain_column().is_some()),
            of_aggregates: of_aggregates.collect(),
        }
    }
}

/// Where a grouping is.
#[derive(Debug)]
pub struct AggregateState {
    input: State,
    /// The groups' numbers by their keys.
    index: KeyIndex,
    key: Vec<u8>,
    /// Of the current row: each aggregate's arguments, and then its keys.
    arguments: Vec<Value>,
    /// Of the current row: what it is grouped by.
    values: Vec<Value>,
    inputs: Option<Inputs>,
    groups: Groups,
    bytes: usize,
    /// Bytes of the longest of the keys by which the groups are told apart.
    longest_key: usize,
    pending: bool,
    /// With ROLLUP, the levels from this one on for which the current row has not been counted.
    levels_left: Option<usize>,
    complete: bool,
    order: Order,
    next: usize,
    /// Groups of ROLLUP that are in a file.
    in_runs: InRuns,
    /// Rows of groups for which there was no memory.
    put_off: PutOff,
    /// Who adds the rows up.
    adding: Adding,
    in_batches: InBatches<Batched>,
    /// Of each input of a union that is read in batches.
    of_union: Vec<Option<Box<InputOfUnion>>>,
    /// Of a recursion that is computed by column.
    of_columns: Option<Box<OfColumns>>,
}

/// Rows that are put off.
#[derive(Debug, Default)]
struct PutOff {
    partitions: Partitions,
    tables: RowTables,
    /// Memory for a record.
    record: Vec<u8>,
}

/// Adds the values at hand to a group's aggregates if they are added as they are; if not, adds nothing.
pub(super) fn take_at_hand(
    cx: &ExecContext<'_, '_>,
    accumulators: &mut [Accumulator],
    specs: &[AggregateSpec],
) -> SqlResult<bool> {
    let mut values = SmallVec::<[ValueRef<'_>; 4]>::new();
    for (accumulator, spec) in accumulators.iter().zip(specs) {
        if let Accumulator::Distinct(_) = accumulator {
            return Ok(false);
        }
        let value = match &spec.arguments[..] {
            [] => Some(Ok(ValueRef::Int(1))),
            [argument] => argument.borrow_from(cx.at_hand()),
            _ => None,
        };
        match value {
            Some(Ok(value)) if accumulator.takes(value) => values.push(value),
            _ => return Ok(false),
        }
    }
    for ((accumulator, spec), value) in accumulators.iter_mut().zip(specs).zip(values) {
        accumulator.take(value, spec)?;
    }
    Ok(true)
}

impl AggregateState {
    /// Before the first row.
    pub fn new(input: State) -> Self {
        AggregateState {
            input,
            index: KeyIndex::default(),
            key: Vec::new(),
            arguments: Vec::new(),
            values: Vec::new(),
            inputs: None,
            groups: Groups::default(),
            bytes: 0,
            longest_key: 0,
            pending: false,
            levels_left: None,
            complete: false,
            order: Order::Open,
            next: 0,
            in_runs: InRuns::None,
            put_off: PutOff::default(),
            adding: Adding::default(),
            in_batches: InBatches::default(),
            of_union: Vec::new(),
            of_columns: None,
        }
    }

    /// Before the first row.
    pub fn reset(&mut self) {
        self.input.reset();
        self.index.clear();
        self.forget_groups();
        (self.pending, self.levels_left) = (false, None);
        self.in_runs = InRuns::None;
        self.put_off = PutOff::default();
        self.adding.reset();
        self.in_batches.forget_groups();
        self.of_union.iter_mut().flatten().for_each(|input| input.in_batches.forget_groups());
    }

    /// Begins anew, with other rows of the same input.
    fn forget_groups(&mut self) {
        self.groups.clear();
        (self.bytes, self.complete, self.next) = (0, false, 0);
        self.order = Order::Open;
    }

    /// The next group.
    pub fn next(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Grouping<'_>) -> SqlAttempt<bool> {
        if plan.rollup {
            return self.next_of_rollup(cx, plan);
        }
        while !self.next_in_memory(cx, plan)? {
            if !self.put_off.partitions.next_partition()? {
                return Ok(false);
            }
            self.forget_groups();
        }
        Ok(true)
    }

    /// The next group of those that are in memory.
    fn next_in_memory(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Grouping<'_>) -> SqlAttempt<bool> {
        if !self.complete {
            self.consume(cx, plan)?;
            self.index.clear();
            if self.groups.count == 0 && (plan.group.is_empty() || plan.rollup) {
                // Of no rows, too, there is a row that sums them up.
                for slot in plan.keep {
                    *cx.state.frame.slots.at_mut(*slot)? = Slot::Null;
                }
                self.add_group(cx, plan, &vec![Value::Null; plan.group.len()], 0)?;
            }
            self.complete = true;
        }
        if plan.rollup {
            self.put_in_order(cx, plan)?;
        }
        if self.next >= self.groups.count {
            return Ok(false);
        }
        let number = self.order.number(self.next);
        let units = self.groups.accumulators(number, plan).iter().map(Accumulator::units_to_finish).sum();
        let mut lent = cx.lend();
        let checked = lent.checkpoint(units);
        lent.attempt(checked)?;
        self.next += 1;
        let width = plan.group.len() + plan.aggregates.len() + usize::from(plan.rollup);
        let mut row = Vec::with_capacity(width);
        row.extend(self.groups.values(number, plan).iter_mut().map(std::mem::take));
        for (accumulator, spec) in self.groups.accumulators(number, plan).iter_mut().zip(plan.aggregates) {
            let accumulator = std::mem::replace(accumulator, Accumulator::Count(0));
            row.push(accumulator.finish(&mut cx.lend(), spec)?);
        }
        let level = self.groups.level(number);
        if plan.rollup {
            row.push(Value::Int(level as i64));
        }
        for (slot, kept) in plan.keep.iter().zip(self.groups.kept(number, plan)) {
            let summed_up = plan.kept_keys.iter().filter(|key| key.slot == *slot && key.position >= level);
            if plan.rollup {
                kept.clear_columns(summed_up.map(|key| key.column))?;
            }
            *cx.state.frame.slots.at_mut(*slot)? = std::mem::take(kept);
        }
        *cx.state.frame.slots.at_mut(plan.slot)? = Slot::Values(row.into());
        Ok(true)
    }

    /// Adds up all rows of the input.
    pub(super) fn consume(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Grouping<'_>) -> SqlAttempt<()> {
        if let Some(in_parts) = plan.in_parts
            && !self.put_off.partitions.is_reading()
            && self.consume_in_parts(cx, plan, in_parts)?
        {
            return Ok(());
        }
        if plan.is_count() && !self.put_off.partitions.is_reading() {
            return self.count_all(cx, plan);
        }
        loop {
            self.put_off.partitions.make_room()?;
            if self.put_off.partitions.is_reading() {
                let Some((values, level)) = self.read_record(cx, plan)? else { return Ok(()) };
                cx.in_one_go(|cx| self.count(cx, plan, Row::Record(&values), level..=level))?;
                cx.take_turns(1)?;
                continue;
            }
            if let Some(level) = self.levels_left.take() {
                let values = std::mem::take(&mut self.values);
                let levels = level..=plan.group.len();
                let counted = cx.in_one_go(|cx| self.count(cx, plan, Row::Computed(&values), levels));
                self.values = values;
                counted?;
                cx.take_turns(1)?;
                continue;
            }
            if !self.pending {
                match self.consume_batch(cx, plan)? {
                    Taken::Added => continue,
                    Taken::End => return Ok(()),
                    Taken::RowByRow => {}
                }
                if !self.input.next(plan.input, cx)? {
                    return Ok(());
                }
                self.pending = true;
            }
            if self.add_at_hand(cx, plan)? {
                self.pending = false;
                cx.take_turns(1)?;
                continue;
            }
            // Everything that may wait comes before anything is counted.
            let is_at_hand = self.evaluate(cx, plan)?;
            self.pending = false;
            let values = std::mem::take(&mut self.values);
            let row = if is_at_hand { Row::AtHand } else { Row::Computed(&values) };
            let levels = if plan.rollup { 0 } else { plan.group.len() }..=plan.group.len();
            let counted = cx.in_one_go(|cx| self.count(cx, plan, row, levels));
            self.values = values;
            counted?;
            cx.take_turns(1 + plan.aggregates.len() as u32)?;
        }
    }

    /// Counts the rows of a table, of which nothing is asked.
    fn count_all(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Grouping<'_>) -> SqlAttempt<()> {
        let (State::Scan(scan), Operator::Scan { table, access, .. }) = (&mut self.input, plan.input) else {
            return Ok(());
        };
        while let Some(rows) = scan.count(cx, table, access)? {
            if self.groups.count == 0 {
                self.groups.push(std::iter::empty(), 0, plan, Vec::new());
            }
            self.groups.accumulators(0, plan).iter_mut().for_each(|accumulator| {
                accumulator.count_rows(rows);
            });
            cx.take_turns(1 + rows as u32 / ROWS_COUNTED_AS_ONE)?;
        }
        Ok(())
    }

    /// Evaluates what the current row is grouped by, and the aggregates' arguments, as far as they are not at
    /// hand; an argument that another aggregate has too, once. Whether the former is at hand.
    fn evaluate(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Grouping<'_>) -> SqlAttempt<bool> {
        let AggregateState { values, arguments, inputs: known, .. } = self;
        let Inputs { group_at_hand, of_aggregates } = known.get_or_insert_with(|| Inputs::new(plan));
        arguments.clear();
        if *group_at_hand && of_aggregates.iter().all(|input| *input == Input::AtHand) {
            arguments.resize(of_aggregates.len(), Value::Null);
            return Ok(true);
        }
        cx.evaluate(|cx| {
            values.clear();
            if !*group_at_hand {
                for expr in plan.group {
                    values.push(super::settled(expr, cx)?);
                }
            }
            arguments.clear();
            for (expr, input) in plan.aggregates.iter().flat_map(inputs).zip(&**of_aggregates) {
                let value = match input {
                    Input::AtHand => Value::Null,
                    Input::LikeThat(place) => arguments.at(*place)?.clone(),
                    Input::Computed => expr.eval(cx)?,
                };
                arguments.push(value);
            }
            Ok(*group_at_hand)
        })
    }

    /// Counts a row in the groups that it belongs to on some levels. Where it is put off, room has to be made
    /// before the levels that are left.
    fn count(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        row: Row<'_>,
        levels: RangeInclusive<usize>,
    ) -> SqlResult<()> {
        let last = *levels.end();
        for level in levels {
            let Some(position) = self.group_of(cx, plan, row, level)? else {
                self.levels_left = (level < last).then_some(level + 1);
                return self.put_off(cx, plan, row, level);
            };
            cx.session.charge(self.bytes + self.index.size())?;
            self.add(cx, plan, position, row)?;
        }
        Ok(())
    }

    /// Adds the aggregates' arguments to a group.
    fn add(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        position: usize,
        row: Row<'_>,
    ) -> SqlResult<()> {
        let (mut rest, known) = (&self.arguments[..], self.inputs.as_ref());
        let mut from =
            known.filter(|_| !matches!(row, Row::Record(_))).map_or(&[][..], |known| &known.of_aggregates);
        for (accumulator, spec) in self.groups.accumulators(position, plan).iter_mut().zip(plan.aggregates) {
            let (values, after) = rest.split_at(spec.arguments.len());
            let (keys, after) = after.split_at(spec.order_by.len());
            rest = after;
            let is_at_hand = matches!(from.first(), Some(Input::AtHand)) && spec.arguments.len() == 1;
            from = from.get(spec.arguments.len() + spec.order_by.len()..).unwrap_or_default();
            self.bytes += match &spec.arguments[..] {
                [argument] if is_at_hand => add_at_hand(cx, accumulator, spec, argument)?,
                _ => accumulator.add(&mut cx.lend(), spec, values, keys)?,
            };
        }
        Ok(())
    }

    /// Adds the current row to the only group, if its values are at hand and are added as they are; if not,
    /// adds nothing.
    fn add_at_hand(&mut self, cx: &ExecContext<'_, '_>, plan: &Grouping<'_>) -> SqlResult<bool> {
        if !plan.group.is_empty() || self.groups.count == 0 {
            return Ok(false);
        }
        take_at_hand(cx, self.groups.accumulators(0, plan), plan.aggregates)
    }

    /// Whether the groups take as much memory as they may, and the rows of others can be put off.
    fn is_full(&self, cx: &ExecContext<'_, '_>, plan: &Grouping<'_>) -> bool {
        self.groups.count > 0
            && !plan.group.is_empty()
            && self.put_off.partitions.is_due(self.bytes + self.index.size(), memory(cx))
    }

    /// Puts a row off, whose group on a level has the current key.
    fn put_off(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        row: Row<'_>,
        level: usize,
    ) -> SqlResult<()> {
        cx.execution.check_may_put_off()?;
        let memory = memory(cx);
        if let (Some(known), Row::AtHand | Row::Computed(_)) = (&self.inputs, row) {
            let all = plan.aggregates.iter().flat_map(inputs).zip(&*known.of_aggregates);
            for ((expr, input), argument) in all.zip(&mut self.arguments) {
                if *input == Input::AtHand {
                    *argument = borrowed(cx, expr)?.to_owned();
                }
            }
        }
        let own;
        let values = match row {
            Row::Record(values) | Row::Computed(values) => values,
            Row::AtHand => {
                own = plan.group.iter().map(|expr| Ok(borrowed(cx, expr)?.to_owned()));
                &own.collect::<SqlResult<Vec<Value>>>()?
            }
        };
        let PutOff { partitions, tables, record } = &mut self.put_off;
        record.clear();
        if plan.rollup {
            put_varint(record, level as u64);
        }
        append_values(values, record);
        append_values(&self.arguments, record);
        for slot in plan.keep {
            append_slot(cx.state.frame.slots.at(*slot)?, tables, record);
        }
        partitions.push(cx.execution, memory, &self.key, record)
    }

    /// Makes the next row of those that were put off the current one, and gives the values of its group and
    /// the level that it was put off for; `None` at the end of the partition. May ask to wait.
    fn read_record(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
    ) -> SqlAttempt<Option<(Vec<Value>, usize)>> {
        let PutOff { partitions, tables, .. } = &mut self.put_off;
        let Some(record) = partitions.next_record()? else { return Ok(None) };
        let (mut reader, mut values) = (Reader::new(record), Vec::with_capacity(plan.group.len()));
        let level = match plan.rollup {
            true => reader.varint().ok().and_then(|level| level.try_into().ok()).ok_or_else(damaged)?,
            false => plan.group.len(),
        };
        read_values(&mut reader, &mut values)?;
        self.arguments.clear();
        read_values(&mut reader, &mut self.arguments)?;
        for slot in plan.keep {
            let slot = cx.state.frame.slots.at_mut(*slot)?;
            SlotImage::read(&mut reader, record)?.restore(record, tables, slot)?;
        }
        Ok(Some((values, level)))
    }

    /// The number of the group of `values` on a level, a new one if there is none yet; `None` if there is no
    /// memory for one.
    #[inline]
    fn group_of(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        row: Row<'_>,
        level: usize,
    ) -> SqlResult<Option<usize>> {
        if plan.group.is_empty() && self.groups.count > 0 {
            return Ok(Some(0));
        }
        self.make_key(cx, plan, row, level)?;
        if self.is_full(cx, plan) {
            return Ok(self.index.find(&self.key));
        }
        self.number_group(cx, plan, row, level).map(Some)
    }

    /// The same, where there is memory for a group.
    fn known_group_of(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        row: Row<'_>,
        level: usize,
    ) -> SqlResult<usize> {
        self.make_key(cx, plan, row, level)?;
        self.number_group(cx, plan, row, level)
    }

    /// Makes the key of a row's group on a level the current one.
    #[inline]
    fn make_key(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        row: Row<'_>,
        level: usize,
    ) -> SqlResult<()> {
        self.key.clear();
        if plan.rollup {
            put_varint(&mut self.key, level as u64);
        }
        append_group_key(cx, plan, row, level, &mut self.key)?;
        self.longest_key = self.longest_key.max(self.key.len());
        Ok(())
    }

    /// The number of the group of the current key, a new one if there is none yet.
    #[inline]
    fn number_group(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        row: Row<'_>,
        level: usize,
    ) -> SqlResult<usize> {
        if plan.group.is_empty() && !plan.rollup {
            if self.groups.count == 0 {
                self.add_group(cx, plan, &[], level)?;
            }
            return Ok(0);
        }
        Ok(match self.index.number(&self.key) {
            Numbered::Known(position) => position,
            Numbered::New(position) => {
                match row {
                    Row::Computed(values) | Row::Record(values) => self.add_group(cx, plan, values, level)?,
                    Row::AtHand => {
                        let own = plan.group.iter().map(|expr| Ok(borrowed(cx, expr)?.to_owned()));
                        let own: SmallVec<[Value; 4]> = own.collect::<SqlResult<_>>()?;
                        self.add_group(cx, plan, &own, level)?;
                    }
                }
                position
            }
        })
    }

    fn add_group(
        &mut self,
        cx: &ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        values: &[Value],
        level: usize,
    ) -> SqlResult<()> {
        let kept: Vec<Slot> = cx.state.frame.keep(plan.keep)?;
        let of_row: usize = kept.iter().map(Slot::size).sum();
        let own = values.iter().take(level).cloned();
        let summed_up = values.iter().skip(level).map(|_| Value::Null);
        let number = self.groups.count;
        self.groups.push(own.chain(summed_up), level, plan, kept);
        let added = self.groups.accumulators(number, plan).iter();
        let of_aggregates: usize = added.map(Accumulator::size_at_first).sum();
        self.bytes += 40 + values_size(values) + of_row + of_aggregates;
        Ok(())
    }
}

/// A row that is counted.
#[derive(Debug, Clone, Copy)]
pub(super) enum Row<'v> {
    /// The current one; what it is grouped by is at hand.
    AtHand,
    /// The current one; it is grouped by these values.
    Computed(&'v [Value]),
    /// One that was put off, which is grouped by these values. All of its arguments have been read.
    Record(&'v [Value]),
}

/// The value of a column of the current row.
#[inline]
pub(super) fn borrowed<'c>(cx: &'c ExecContext<'_, '_>, column: &'c Expr) -> SqlResult<ValueRef<'c>> {
    let value = column.borrow_from(cx.at_hand());
    value.unwrap_or_else(|| Err(SqlError::internal("a plain column is at hand")))
}

/// Adds a column of the current row to an aggregate. Gives the bytes that it made it grow by.
#[inline]
pub(super) fn add_at_hand(
    cx: &mut ExecContext<'_, '_>,
    accumulator: &mut Accumulator,
    spec: &AggregateSpec,
    column: &Expr,
) -> SqlResult<usize> {
    let value = borrowed(cx, column)?;
    if accumulator.takes(value) {
        accumulator.take(value, spec)?;
        return Ok(0);
    }
    let value = value.to_owned();
    accumulator.add(&mut cx.lend(), spec, &[value], &[])
}

/// Appends bytes that are equal for rows of one group on a level.
#[inline]
pub(super) fn append_group_key(
    cx: &mut ExecContext<'_, '_>,
    plan: &Grouping<'_>,
    row: Row<'_>,
    level: usize,
    key: &mut Vec<u8>,
) -> SqlResult<()> {
    if let Row::Computed(values) | Row::Record(values) = row {
        return cx.lend().watched(|watch| {
            for (value, expr) in values.iter().take(level).zip(plan.group) {
                append_hash_key(value, &expr.ty, key, watch);
            }
        });
    }
    for expr in plan.group {
        let value = borrowed(cx, expr)?;
        if matches!(value, ValueRef::Bytes(text) if text.len() > PIECE) {
            let value = value.to_owned();
            cx.lend().watched(|watch| append_hash_key(&value, &expr.ty, key, watch))?;
        } else {
            append_hash_key_of(value, &expr.ty, key, &mut |_| true);
        }
    }
    Ok(())
}

/// Bytes of memory that the groups may take before rows are put off.
fn memory(cx: &ExecContext<'_, '_>) -> usize {
    cx.session.operator_memory(cx.session.variables.tmp_table_size)
}
