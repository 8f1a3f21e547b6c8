//! Grouping: a hash table of groups, each with one accumulator per aggregate.
//!
//! When the groups take more memory than they may, those that are there are completed, and the rows of all
//! others - their values, the aggregates' arguments, and the slots that are kept - are [put
//! off](super::spill::partitions). With ROLLUP, whose groups are put in order in the end, all are in memory.

use std::cmp::Ordering;

use palisade_base::codec::Reader;
use palisade_catalog::{Value, ValueRef, Watch};
use palisade_expr::aggregate::{Accumulator, AggregateKind, AggregateSpec};
use palisade_expr::compare::compare_typed;
use palisade_expr::context::values_size;
use palisade_expr::hash_key::append_hash_key;
use palisade_expr::keys::{KeyIndex, Numbered};
use palisade_expr::merge::{self, MergeSort, run_of};
use palisade_expr::place::At;
use palisade_expr::{ArithmeticOp, Expr, Node, Slot, SqlAttempt, SqlResult};
use palisade_plan::{KeptKey, Operator};
use smallvec::SmallVec;

use super::scan::is_countable;
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
}

#[derive(Debug)]
struct Group {
    values: Vec<Value>,
    /// How many of the values are the group's own; the rest are NULL because of ROLLUP.
    level: usize,
    accumulators: Vec<Accumulator>,
    kept: Box<[Slot]>,
}

impl Group {
    /// Before its first row.
    fn new(values: Vec<Value>, level: usize, plan: &Grouping<'_>, kept: Box<[Slot]>) -> Group {
        let accumulators = plan.aggregates.iter().map(Accumulator::new).collect();
        Group { values, level, accumulators, kept }
    }
}

/// Rows of a table that are counted in the time that another row takes.
const ROWS_COUNTED_AS_ONE: u32 = 16;

/// Whether all that is asked is how many rows a table has.
fn is_count(plan: &Grouping<'_>) -> bool {
    let of_all = |spec: &AggregateSpec| {
        let is_never_null = |argument: &Expr| match &argument.node {
            Node::Literal(value) => !value.is_null(),
            _ => !argument.nullable && argument.as_plain_column().is_some(),
        };
        spec.kind == AggregateKind::Count && !spec.distinct && spec.arguments.iter().all(is_never_null)
    };
    plan.group.is_empty()
        && !plan.rollup
        && plan.keep.is_empty()
        && !plan.aggregates.is_empty()
        && plan.aggregates.iter().all(of_all)
        && is_countable(plan.input)
}

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

/// For each input of the aggregates the place of the first that is the same expression, if evaluating it once
/// will do; else its own.
fn same_arguments(aggregates: &[AggregateSpec]) -> Box<[usize]> {
    let all: Vec<&Expr> = aggregates.iter().flat_map(inputs).collect();
    let first_like = |(place, expr): (usize, &&Expr)| {
        let before = all.iter().take(place).position(|other| other == expr);
        before.filter(|_| is_silent(expr)).unwrap_or(place)
    };
    all.iter().enumerate().map(first_like).collect()
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
    /// For each argument and key, the place of the first one that is the same, whose value it has.
    same_as: Option<Box<[usize]>>,
    groups: Vec<Group>,
    bytes: usize,
    /// Bytes of the longest of the keys by which the groups are told apart.
    longest_key: usize,
    pending: bool,
    complete: bool,
    order: Order,
    next: usize,
    /// Rows of groups for which there was no memory.
    put_off: PutOff,
}

/// Rows that are put off.
#[derive(Debug, Default)]
struct PutOff {
    partitions: Partitions,
    tables: RowTables,
    /// Memory for a record.
    record: Vec<u8>,
}

/// Whether the groups are in the order of ROLLUP.
#[derive(Debug, Default)]
enum Order {
    #[default]
    Open,
    Sorting(MergeSort<usize>),
    Done,
}

/// Adds the values at hand to a group's aggregates if they are added as they are; if not, adds nothing.
pub(super) fn take_at_hand(
    cx: &ExecContext<'_, '_>,
    accumulators: &mut [Accumulator],
    specs: &[AggregateSpec],
) -> SqlResult<bool> {
    let mut values = SmallVec::<[ValueRef<'_>; 4]>::new();
    for (accumulator, spec) in accumulators.iter().zip(specs) {
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
            same_as: None,
            groups: Vec::new(),
            bytes: 0,
            longest_key: 0,
            pending: false,
            complete: false,
            order: Order::Open,
            next: 0,
            put_off: PutOff::default(),
        }
    }

    /// Before the first row.
    pub fn reset(&mut self) {
        self.input.reset();
        self.index.clear();
        self.groups.clear();
        (self.bytes, self.pending, self.complete, self.next) = (0, false, false, 0);
        self.order = Order::Open;
        self.put_off = PutOff::default();
    }

    /// The next group.
    pub fn next(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Grouping<'_>) -> SqlAttempt<bool> {
        while !self.next_in_memory(cx, plan)? {
            if !self.put_off.partitions.next_partition()? {
                return Ok(false);
            }
            self.groups.clear();
            (self.bytes, self.complete, self.next) = (0, false, 0);
        }
        Ok(true)
    }

    /// The next group of those that are in memory.
    fn next_in_memory(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Grouping<'_>) -> SqlAttempt<bool> {
        if !self.complete {
            self.consume(cx, plan)?;
            self.index.clear();
            if self.groups.is_empty() && (plan.group.is_empty() || plan.rollup) {
                // Of no rows, too, there is a row that sums them up.
                for slot in plan.keep {
                    *cx.state.frame.slots.at_mut(*slot)? = Slot::Null;
                }
                self.add_group(cx, plan, vec![Value::Null; plan.group.len()], 0)?;
            }
            self.complete = true;
        }
        if plan.rollup {
            self.put_in_order(cx, plan)?;
        }
        let Some(group) = self.groups.get_mut(self.next) else { return Ok(false) };
        let units = group.accumulators.iter().map(Accumulator::units_to_finish).sum();
        let mut lent = cx.lend();
        let checked = lent.checkpoint(units);
        lent.attempt(checked)?;
        self.next += 1;
        let mut row = std::mem::take(&mut group.values);
        for (accumulator, spec) in std::mem::take(&mut group.accumulators).into_iter().zip(plan.aggregates) {
            row.push(accumulator.finish(&mut cx.lend(), spec)?);
        }
        if plan.rollup {
            row.push(Value::Int(group.level as i64));
            for (slot, kept) in plan.keep.iter().zip(group.kept.iter_mut()) {
                let summed_up =
                    plan.kept_keys.iter().filter(|key| key.slot == *slot && key.position >= group.level);
                kept.clear_columns(summed_up.map(|key| key.column))?;
            }
        }
        for (slot, kept) in plan.keep.iter().zip(group.kept.iter_mut()) {
            *cx.state.frame.slots.at_mut(*slot)? = std::mem::take(kept);
        }
        *cx.state.frame.slots.at_mut(plan.slot)? = Slot::Values(row.into());
        Ok(true)
    }

    fn consume(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Grouping<'_>) -> SqlAttempt<()> {
        if is_count(plan) && !self.put_off.partitions.is_reading() {
            return self.count_all(cx, plan);
        }
        loop {
            self.put_off.partitions.make_room()?;
            if self.put_off.partitions.is_reading() {
                let Some(values) = self.read_record(cx, plan)? else { return Ok(()) };
                cx.in_one_go(|cx| self.count(cx, plan, &values))?;
                cx.take_turns(1)?;
                continue;
            }
            if !self.pending {
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
            self.evaluate(cx, plan)?;
            self.pending = false;
            let values = std::mem::take(&mut self.values);
            let counted = cx.in_one_go(|cx| self.count(cx, plan, &values));
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
            if self.groups.is_empty() {
                self.groups.push(Group::new(Vec::new(), 0, plan, Box::default()));
            }
            for accumulator in self.groups.iter_mut().flat_map(|group| &mut group.accumulators) {
                accumulator.count_rows(rows);
            }
            cx.take_turns(1 + rows as u32 / ROWS_COUNTED_AS_ONE)?;
        }
        Ok(())
    }

    /// Evaluates what the current row is grouped by, and the aggregates' arguments; an argument that another
    /// aggregate has too, once.
    fn evaluate(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Grouping<'_>) -> SqlAttempt<()> {
        let AggregateState { values, arguments, same_as, .. } = self;
        let same_as = same_as.get_or_insert_with(|| same_arguments(plan.aggregates));
        cx.evaluate(|cx| {
            values.clear();
            for expr in plan.group {
                values.push(super::settled(expr, cx)?);
            }
            arguments.clear();
            for (expr, same) in plan.aggregates.iter().flat_map(inputs).zip(&**same_as) {
                let value = match arguments.get(*same) {
                    Some(value) => value.clone(),
                    None => expr.eval(cx)?,
                };
                arguments.push(value);
            }
            Ok(())
        })
    }

    /// Counts the current row, whose group has these values, in all groups that it belongs to.
    fn count(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        values: &[Value],
    ) -> SqlResult<()> {
        let lowest = if plan.rollup { 0 } else { plan.group.len() };
        for level in lowest..=plan.group.len() {
            let Some(position) = self.group_of(cx, plan, values, level)? else {
                return self.put_off(cx, plan, values);
            };
            cx.session.charge(self.bytes + self.index.size())?;
            let mut rest = &self.arguments[..];
            for (accumulator, spec) in
                self.groups.at_mut(position)?.accumulators.iter_mut().zip(plan.aggregates)
            {
                let (values, after) = rest.split_at(spec.arguments.len());
                let (keys, after) = after.split_at(spec.order_by.len());
                self.bytes += accumulator.add(&mut cx.lend(), spec, values, keys)?;
                rest = after;
            }
        }
        Ok(())
    }

    /// Puts the groups in the order of ROLLUP, in parts.
    fn put_in_order(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Grouping<'_>) -> SqlAttempt<()> {
        let groups = &mut self.groups;
        let sort = match &mut self.order {
            Order::Done => return Ok(()),
            Order::Open => {
                let all = (0..groups.len()).collect();
                self.order = Order::Sorting(MergeSort::new(all, run_of(self.longest_key)));
                return self.put_in_order(cx, plan);
            }
            Order::Sorting(sort) => sort,
        };
        loop {
            let step = |watch: Watch<'_>| {
                sort.step(&mut |left: &usize, right: &usize| {
                    rollup_order(groups.get(*left), groups.get(*right), plan.group, watch)
                })
            };
            if cx.lend().in_one_go(|cx| cx.watched(step))? {
                break;
            }
            cx.take_turns(merge::RUN as u32 / 2)?;
        }
        let Order::Sorting(sort) = std::mem::replace(&mut self.order, Order::Done) else { return Ok(()) };
        let order = sort.into_items();
        let mut taken: Vec<Option<Group>> = std::mem::take(groups).into_iter().map(Some).collect();
        groups.extend(order.into_iter().filter_map(|number| taken.get_mut(number)?.take()));
        Ok(())
    }

    /// Adds the current row to the only group, if its values are at hand and are added as they are; if not,
    /// adds nothing.
    fn add_at_hand(&mut self, cx: &ExecContext<'_, '_>, plan: &Grouping<'_>) -> SqlResult<bool> {
        let [group] = &mut self.groups[..] else { return Ok(false) };
        if !plan.group.is_empty() {
            return Ok(false);
        }
        take_at_hand(cx, &mut group.accumulators, plan.aggregates)
    }

    /// Whether the groups take as much memory as they may, and the rows of others can be put off.
    fn is_full(&self, cx: &ExecContext<'_, '_>, plan: &Grouping<'_>) -> bool {
        !self.groups.is_empty()
            && !plan.rollup
            && !plan.group.is_empty()
            && self.put_off.partitions.is_due(self.bytes + self.index.size(), memory(cx))
    }

    /// Puts the current row off, whose group has these values and the current key.
    fn put_off(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        values: &[Value],
    ) -> SqlResult<()> {
        let memory = memory(cx);
        let PutOff { partitions, tables, record } = &mut self.put_off;
        record.clear();
        append_values(values, record);
        append_values(&self.arguments, record);
        for slot in plan.keep {
            append_slot(cx.state.frame.slots.at(*slot)?, tables, record);
        }
        partitions.push(cx.execution, memory, &self.key, record)
    }

    /// Makes the next row of those that were put off the current one, and gives the values of its group;
    /// `None` at the end of the partition. May ask to wait.
    fn read_record(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
    ) -> SqlAttempt<Option<Vec<Value>>> {
        let PutOff { partitions, tables, .. } = &mut self.put_off;
        let Some(record) = partitions.next_record()? else { return Ok(None) };
        let (mut reader, mut values) = (Reader::new(record), Vec::with_capacity(plan.group.len()));
        read_values(&mut reader, &mut values)?;
        self.arguments.clear();
        read_values(&mut reader, &mut self.arguments)?;
        for slot in plan.keep {
            let slot = cx.state.frame.slots.at_mut(*slot)?;
            SlotImage::read(&mut reader, record)?.restore(record, tables, slot)?;
        }
        Ok(Some(values))
    }

    /// The number of the group of `values` on a level, a new one if there is none yet; `None` if there is no
    /// memory for one.
    #[inline]
    fn group_of(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        values: &[Value],
        level: usize,
    ) -> SqlResult<Option<usize>> {
        if plan.group.is_empty() && !self.groups.is_empty() {
            return Ok(Some(0));
        }
        self.key.clear();
        self.key.push(level as u8);
        let key = &mut self.key;
        cx.lend().watched(|watch| {
            for (value, expr) in values.iter().take(level).zip(plan.group) {
                append_hash_key(value, &expr.ty, key, watch);
            }
        })?;
        self.longest_key = self.longest_key.max(key.len());
        if self.is_full(cx, plan) {
            return Ok(self.index.find(&self.key));
        }
        Ok(Some(match self.index.number(&self.key) {
            Numbered::Known(position) => position,
            Numbered::New(position) => {
                let mut own = values.to_vec();
                own.iter_mut().skip(level).for_each(|value| *value = Value::Null);
                self.add_group(cx, plan, own, level)?;
                position
            }
        }))
    }

    fn add_group(
        &mut self,
        cx: &ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        values: Vec<Value>,
        level: usize,
    ) -> SqlResult<()> {
        let kept: Box<[Slot]> = cx.state.frame.keep(plan.keep)?;
        let of_row: usize = kept.iter().map(Slot::size).sum();
        let group = Group::new(values, level, plan, kept);
        let of_aggregates: usize = group.accumulators.iter().map(Accumulator::size_at_first).sum();
        self.bytes += 200 + values_size(&group.values) + of_row + of_aggregates;
        self.groups.push(group);
        Ok(())
    }
}

/// Bytes of memory that the groups may take before rows are put off.
fn memory(cx: &ExecContext<'_, '_>) -> usize {
    cx.session.operator_memory(cx.session.variables.tmp_table_size)
}

/// Groups in order of their values, each followed by the row that sums it up.
fn rollup_order(left: Option<&Group>, right: Option<&Group>, group: &[Expr], watch: Watch<'_>) -> Ordering {
    let (Some(left), Some(right)) = (left, right) else { return Ordering::Equal };
    let values = left.values.iter().zip(&right.values);
    for (position, (expr, (left_value, right_value))) in group.iter().zip(values).enumerate() {
        match (position < left.level, position < right.level) {
            (true, true) => {
                let ordering = compare_typed(left_value.as_ref(), right_value.as_ref(), &expr.ty, watch);
                if ordering != Ordering::Equal {
                    return ordering;
                }
            }
            (true, false) => return Ordering::Less,
            (false, true) => return Ordering::Greater,
            (false, false) => return Ordering::Equal,
        }
    }
    Ordering::Equal
}
