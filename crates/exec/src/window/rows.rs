//! The rows of a window operator: values one behind the other, and the rows of its slots as an order keeps
//! them.
//!
//! ```text
//!  a row's values:  partition | order | arguments of call 0 | ends of its frame | arguments of call 1 | ...
//! ```
//!
//! A value that is a column of a slot is read there; only the others are computed and kept beside it. Values
//! that bound a frame are there only where the frame is bounded by values. A row has a number, by when it
//! came, and a place, by the order: the rows are put in order by their keys [packed](KeyPacking) into
//! numbers, as far as these have room, and stay with them. Rows of one partition that take too much memory
//! are in [pages](super::pages) of a file; these come in their order.

use std::cmp::Ordering;

use palisade_catalog::{Value, ValueRef, Watch};
use palisade_expr::context::{Frame, values_size};
use palisade_expr::order::SortKey;
use palisade_expr::place::At;
use palisade_expr::{Context, Expr, SqlAttempt, SqlResult};
use palisade_plan::window::{Edge, WindowPlan};

use super::pages::{Pages, append_row};
use crate::ExecContext;
use crate::kept::{KeptRows, grown};
use crate::packed::{KeyPacking, Packed, Ranked};
use crate::spill::merge::KeyPlace;
use crate::spill::row::RowTables;

/// Where the values of a row are.
#[derive(Debug, Default)]
struct Layout {
    partition: usize,
    /// Where the keys end: partition and order.
    keys: usize,
    /// Of each call where its arguments begin and end, and where the values are that bound its frame.
    calls: Vec<(usize, usize, [Option<usize>; 2])>,
    /// Of each value whether it is a column or computed.
    places: Vec<KeyPlace>,
    /// How many are computed, and how many of those are keys.
    computed: usize,
    computed_keys: usize,
    /// A key may take long to compare.
    has_text_keys: bool,
}

impl Layout {
    fn new(plan: &WindowPlan, slots: &[usize]) -> Layout {
        let mut layout = Layout { partition: plan.partition.len(), ..Layout::default() };
        for key in keys_of(plan) {
            layout.add(&key.expr, slots);
            layout.has_text_keys |= key.expr.ty.is_string();
        }
        (layout.keys, layout.computed_keys) = (layout.places.len(), layout.computed);
        for call in &plan.calls {
            let first = layout.places.len();
            call.arguments.iter().for_each(|argument| layout.add(argument, slots));
            let end = layout.places.len();
            let edges = [&call.frame.start, &call.frame.end].map(|edge| {
                let Edge::Value { bound, .. } = edge else { return None };
                layout.add(bound, slots);
                Some(layout.places.len() - 1)
            });
            layout.calls.push((first, end, edges));
        }
        layout
    }

    fn add(&mut self, expr: &Expr, slots: &[usize]) {
        let kept = expr.as_plain_column().and_then(|(of, column)| {
            let number = slots.iter().position(|slot| *slot == of)?;
            Some(KeyPlace::Kept { number, column })
        });
        self.places.push(kept.unwrap_or(KeyPlace::Computed(self.computed)));
        self.computed += usize::from(kept.is_none());
    }
}

/// Rows in memory.
#[derive(Debug, Default)]
pub struct Rows {
    layout: Layout,
    packing: KeyPacking,
    /// Keys of some row could not be packed: what is says nothing.
    is_unpacked: bool,
    /// Bytes of the longest text among the keys.
    longest_key: usize,
    count: usize,
    /// The computed values, row by row.
    values: Vec<Value>,
    /// About how many bytes these take.
    values_size: usize,
    slots: KeptRows,
    /// The rows by their places; empty if they come in their order.
    ranked: Vec<Ranked>,
    /// The rows of a partition that are in a file, and how many of those here are.
    pages: Option<Box<Pages>>,
    paged: usize,
}

impl Rows {
    /// None yet, of a window over rows with these slots, which are kept as `kept` does.
    pub fn new(plan: &WindowPlan, slots: &[usize], kept: KeptRows) -> Rows {
        let (layout, packing) = (Layout::new(plan, slots), KeyPacking::new(keys_of(plan)));
        Rows { layout, packing, slots: kept, ..Rows::default() }
    }

    /// None yet, of the same window.
    pub fn like(&self, plan: &WindowPlan, slots: &[usize]) -> Rows {
        Rows::new(plan, slots, self.slots.like())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count + self.pages.as_ref().map_or(0, |pages| pages.len() - self.paged)
    }

    /// Whether something is computed of each row.
    pub fn has_computed(&self) -> bool {
        self.layout.computed > 0
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether they are in a file.
    pub fn is_paged(&self) -> bool {
        self.pages.is_some()
    }

    /// Is called after each row that was added, in its order: goes to a file if they take more than `held`
    /// bytes of the memory of the operator. May ask to wait, and is called again then before anything else.
    pub fn make_room(&mut self, cx: &mut ExecContext<'_, '_>, memory: usize, held: usize) -> SqlAttempt<()> {
        match &self.pages {
            None if self.size() <= held => return Ok(()),
            None => {
                self.pages =
                    Some(Box::new(Pages::new(cx, (self.layout.computed, self.slots.width()), memory)))
            }
            Some(pages) if self.paged == 0 && self.size() < pages.page_bytes() => return Ok(()),
            Some(_) => {}
        }
        self.write_pages(cx)
    }

    /// All rows have been added. May ask to wait.
    pub fn finish(&mut self, cx: &mut ExecContext<'_, '_>) -> SqlAttempt<()> {
        if self.is_paged() {
            self.write_pages(cx)?;
        }
        match &mut self.pages {
            Some(pages) => pages.settle(),
            None => Ok(()),
        }
    }

    /// Writes all rows that are in memory.
    fn write_pages(&mut self, cx: &mut ExecContext<'_, '_>) -> SqlAttempt<()> {
        let Rows { layout, count, values, slots, pages: Some(pages), paged, .. } = self else {
            return Ok(());
        };
        let width = layout.computed;
        while *paged < *count {
            pages.make_room()?;
            let first = *paged;
            let rows_of_page = {
                let mut end = first;
                let mut size = 0;
                while end < *count && size < pages.page_bytes() {
                    size += values_size(values.part(end * width..(end + 1) * width)?);
                    size += slots.row_size(end)?;
                    end += 1;
                }
                first..end
            };
            let end = rows_of_page.end;
            pages.push(rows_of_page.len(), |tables, out| {
                for row in rows_of_page {
                    let values = values.part(row * width..(row + 1) * width)?;
                    append_row(values, slots.width(), out, |out| slots.append_row(row, tables, out))?;
                }
                Ok(())
            })?;
            *paged = end;
            cx.take_turns((end - first) as u32)?;
        }
        pages.make_room()?;
        let (is_first, page) = (pages.len() == *count, pages.page_bytes());
        if is_first && self.size() > 2 * page {
            // From now on a page of them is here at most.
            self.slots = self.slots.like();
            (self.values, self.ranked) = (Vec::new(), Vec::new());
        }
        self.forget_rows();
        Ok(())
    }

    /// Whether a row was asked for that is not in memory. [Loads](Self::load_wanted) it then.
    pub fn is_wanting(&self) -> bool {
        self.pages.as_ref().is_some_and(|pages| pages.is_wanting())
    }

    /// Brings the row into memory that was asked for, if one was. May ask to wait, and is called again then.
    pub fn load_wanted(&mut self, cx: &mut ExecContext<'_, '_>) -> SqlAttempt<()> {
        match &mut self.pages {
            Some(pages) => pages.load_wanted(cx),
            None => Ok(()),
        }
    }

    /// About how many bytes they take.
    pub fn size(&self) -> usize {
        let of_order = Ranked::size_of(self.ranked.len());
        let unused = grown::<Value>(self.values.len()) - self.values.len() * size_of::<Value>();
        self.values_size + unused + self.slots.size() + of_order
    }

    /// Forgets all of them and keeps the memory for others.
    pub fn clear(&mut self) {
        self.forget_rows();
        self.pages = None;
    }

    /// Forgets all of them and their memory.
    pub fn release(&mut self) {
        self.clear();
        self.slots = self.slots.like();
        (self.values, self.ranked) = (Vec::new(), Vec::new());
    }

    /// Forgets those in memory.
    fn forget_rows(&mut self) {
        self.values.clear();
        self.slots.forget_rows();
        self.ranked.clear();
        (self.count, self.values_size, self.paged) = (0, 0, 0);
    }

    /// Computes the values of the current row, as far as they are no columns. May ask to wait, and has then
    /// added nothing.
    pub fn evaluate(&mut self, cx: &mut Context<'_>, plan: &WindowPlan) -> SqlAttempt<()> {
        let Rows { layout, values, count, .. } = self;
        values.truncate(*count * layout.computed);
        if layout.computed == 0 {
            return Ok(());
        }
        let mut places = layout.places.iter();
        let mut add = |expr: &Expr| -> SqlAttempt<()> {
            if let Some(KeyPlace::Computed(_)) = places.next() {
                values.push(expr.eval(cx)?);
            }
            Ok(())
        };
        plan.partition.iter().chain(&plan.order).try_for_each(|key| add(&key.expr))?;
        for call in &plan.calls {
            call.arguments.iter().try_for_each(&mut add)?;
            for edge in [&call.frame.start, &call.frame.end] {
                if let Edge::Value { bound, .. } = edge {
                    add(bound)?;
                }
            }
        }
        Ok(())
    }

    /// A key of the current row, whose values have been [computed](Self::evaluate).
    pub fn current<'r>(&'r self, frame: &'r Frame, slots: &[usize], key: usize) -> SqlResult<ValueRef<'r>> {
        match *self.layout.places.at(key)? {
            KeyPlace::Kept { number, column } => frame.slots.at(*slots.at(number)?)?.value(column),
            KeyPlace::Computed(computed) => {
                Ok(self.values.at(self.count * self.layout.computed + computed)?.as_ref())
            }
        }
    }

    /// Takes the values out that were [computed](Self::evaluate) of the current row, which is not added.
    pub fn take_computed(&mut self) -> Vec<Value> {
        self.values.split_off((self.count * self.layout.computed).min(self.values.len()))
    }

    /// Adds the current row, whose values have been [computed](Self::evaluate).
    pub fn push(&mut self, frame: &Frame, slots: &[usize]) -> SqlResult<()> {
        let own = self.values.tail(self.count * self.layout.computed)?;
        self.values_size += values_size(own);
        self.slots.push(frame, slots)?;
        self.count += 1;
        Ok(())
    }

    /// Adds the current row with these computed values.
    pub fn push_with(
        &mut self,
        values: impl IntoIterator<Item = Value>,
        frame: &Frame,
        slots: &[usize],
    ) -> SqlResult<()> {
        self.values.extend(values);
        self.push(frame, slots)
    }

    /// Moves the only row of `other` to its end.
    pub fn take_row_of(&mut self, other: &mut Rows) -> SqlResult<()> {
        self.slots.set_like(&other.slots);
        self.values.append(&mut other.values);
        self.values_size += other.values_size;
        other.slots.move_to(0, &mut self.slots)?;
        self.count += 1;
        other.clear();
        Ok(())
    }

    /// Packs the keys of the row that was added last: it is to be put in order.
    pub fn rank_last(&mut self, plan: &WindowPlan) -> SqlResult<()> {
        let number = self.count - 1;
        let packed = self.packing.pack(keys_of(plan), |key| self.value_of(number, key))?;
        self.is_unpacked |= packed.is_none();
        if self.layout.has_text_keys {
            for key in 0..self.layout.keys {
                if let ValueRef::Bytes(text) = self.value_of(number, key)? {
                    self.longest_key = self.longest_key.max(text.len());
                }
            }
        }
        self.ranked.push(Ranked::new(packed.unwrap_or_default(), number)?);
        Ok(())
    }

    /// What is packed of the keys of the row that was added last, and of those of its partition alone; `None`
    /// where that does not decide how rows are ordered.
    pub fn last_packed(&self) -> Option<(u128, Packed)> {
        let last = self.ranked.last()?.packed();
        self.decisive(last)
    }

    /// The same of the row at a place.
    pub fn packed_at(&self, place: usize) -> Option<(u128, Packed)> {
        self.decisive(self.ranked.get(place)?.packed())
    }

    fn decisive(&self, packed: Packed) -> Option<(u128, Packed)> {
        if self.is_unpacked || !self.packing.is_exact {
            return None;
        }
        Some((self.packing.beginning(packed, self.layout.partition)?, packed))
    }

    /// Takes out the row that was added last.
    pub fn drop_last(&mut self) -> SqlResult<()> {
        self.count -= 1;
        let first = self.count * self.layout.computed;
        self.values_size = self.values_size.saturating_sub(values_size(self.values.tail(first)?));
        self.values.truncate(first);
        self.slots.drop_last();
        self.ranked.pop();
        Ok(())
    }

    /// None yet, into which rows of these are [moved](Self::move_to).
    pub fn emptied(&self, plan: &WindowPlan, slots: &[usize]) -> Rows {
        let (is_unpacked, longest_key) = (self.is_unpacked, self.longest_key);
        Rows { is_unpacked, longest_key, ..self.like(plan, slots) }
    }

    /// Moves the row at a place to the end of others of the same window: there it is the last one in order.
    pub fn move_to(&mut self, place: usize, target: &mut Rows) -> SqlResult<()> {
        let ranked = *self.ranked.at(place)?;
        let first = ranked.row() * self.layout.computed;
        let before = target.values.len();
        let values = self.values.iter_mut().skip(first).take(self.layout.computed);
        target.values.extend(values.map(std::mem::take));
        target.values_size += values_size(target.values.tail(before)?);
        self.slots.move_to(ranked.row(), &mut target.slots)?;
        target.ranked.push(Ranked::new(ranked.packed(), target.count)?);
        target.count += 1;
        Ok(())
    }

    /// Takes the rows out that are to be put in order.
    pub fn take_ranked(&mut self) -> Vec<Ranked> {
        if self.is_unpacked {
            self.ranked.iter_mut().for_each(|ranked| ranked.set_packed(Packed::default()));
        }
        std::mem::take(&mut self.ranked)
    }

    /// The rows have been put in order.
    pub fn set_ranked(&mut self, ranked: Vec<Ranked>) {
        self.ranked = ranked;
    }

    /// Whether what is packed of some row's keys says nothing.
    pub fn is_unpacked(&self) -> bool {
        self.is_unpacked
    }

    /// Bytes of what may have to be compared of a row's keys: none where what is packed decides.
    pub fn compared_bytes(&self) -> usize {
        if self.packing.is_exact && !self.is_unpacked { 0 } else { self.longest_key }
    }

    fn number(&self, place: usize) -> SqlResult<usize> {
        if self.ranked.is_empty() { Ok(place) } else { Ok(self.ranked.at(place)?.row()) }
    }

    /// A value of the row with a number.
    fn value_of(&self, number: usize, value: usize) -> SqlResult<ValueRef<'_>> {
        match *self.layout.places.at(value)? {
            KeyPlace::Kept { number: slot, column } => self.slots.value(number, slot, column),
            KeyPlace::Computed(computed) => {
                Ok(self.values.at(number * self.layout.computed + computed)?.as_ref())
            }
        }
    }

    /// A value of the row at a place; fails if the row is [wanted](Self::is_wanting) from now on.
    fn value(&self, place: usize, value: usize) -> SqlResult<ValueRef<'_>> {
        match &self.pages {
            None => self.value_of(self.number(place)?, value),
            Some(pages) => pages.value(place, *self.layout.places.at(value)?),
        }
    }

    /// A key of the order of the row at a place.
    pub fn order_key(&self, place: usize, key: usize) -> SqlResult<ValueRef<'_>> {
        self.value(place, self.layout.partition + key)
    }

    /// Where the keys of the rows are, and how many of them divide the rows.
    pub fn key_places(&self) -> (&[KeyPlace], usize) {
        (self.layout.places.get(..self.layout.keys).unwrap_or_default(), self.layout.partition)
    }

    /// What is packed of the keys of the rows at two places.
    fn packed(&self, one: usize, other: usize) -> Option<[Packed; 2]> {
        let (one, other) = (self.ranked.get(one)?, self.ranked.get(other)?);
        (!self.is_unpacked).then_some([one.packed(), other.packed()])
    }

    /// Whether the rows at two places are of one partition.
    pub fn is_one_partition(
        &self,
        plan: &WindowPlan,
        one: usize,
        other: usize,
        watch: Watch<'_>,
    ) -> SqlResult<bool> {
        if let Some(packed) = self.packed(one, other)
            && let [Some(one), Some(other)] =
                packed.map(|packed| self.packing.beginning(packed, self.layout.partition))
        {
            return Ok(one == other);
        }
        for (key, spec) in plan.partition.iter().enumerate() {
            if spec.compare(self.value(one, key)?, self.value(other, key)?, watch).is_ne() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// How two rows are ordered that are to be put in order.
    pub fn compare(
        &self,
        plan: &WindowPlan,
        left: &Ranked,
        right: &Ranked,
        watch: Watch<'_>,
    ) -> SqlResult<Ordering> {
        match left.packed().cmp(&right.packed()) {
            Ordering::Equal => {}
            different => return Ok(different),
        }
        let decided = if self.is_unpacked { 0 } else { self.packing.decided };
        for (key, spec) in keys_of(plan).enumerate().skip(decided) {
            let (left, right) = (self.value_of(left.row(), key)?, self.value_of(right.row(), key)?);
            match spec.compare(left, right, watch) {
                Ordering::Equal => {}
                different => return Ok(different),
            }
        }
        Ok(Ordering::Equal)
    }

    /// How the rows at two places of one partition are ordered.
    pub fn compare_order(
        &self,
        plan: &WindowPlan,
        left: usize,
        right: usize,
        watch: Watch<'_>,
    ) -> SqlResult<Ordering> {
        let mut decided = 0;
        if let Some([left, right]) = self.packed(left, right) {
            match left.cmp(&right) {
                Ordering::Equal => decided = self.packing.decided.saturating_sub(self.layout.partition),
                different => return Ok(different),
            }
        }
        for (key, spec) in plan.order.iter().enumerate().skip(decided) {
            match spec.compare(self.order_key(left, key)?, self.order_key(right, key)?, watch) {
                Ordering::Equal => {}
                different => return Ok(different),
            }
        }
        Ok(Ordering::Equal)
    }

    /// How many arguments a call has.
    pub fn argument_count(&self, call: usize) -> SqlResult<usize> {
        let (first, end, _) = *self.layout.calls.at(call)?;
        Ok(end - first)
    }

    /// An argument of a call at a place.
    pub fn argument(&self, place: usize, call: usize, argument: usize) -> SqlResult<ValueRef<'_>> {
        let (first, end, _) = *self.layout.calls.at(call)?;
        if first + argument < end { self.value(place, first + argument) } else { Ok(ValueRef::Null) }
    }

    /// The value that bounds the frame of a call at a place.
    pub fn edge(&self, place: usize, call: usize, edge: usize) -> SqlResult<ValueRef<'_>> {
        let (_, _, edges) = self.layout.calls.at(call)?;
        match *edges.at(edge)? {
            Some(value) => self.value(place, value),
            None => Ok(ValueRef::Null),
        }
    }

    /// Makes the row at a place current. Fails if it is [wanted](Self::is_wanting) from now on.
    pub fn show(&self, place: usize, slots: &[usize], frame: &mut Frame) -> SqlResult<()> {
        match &self.pages {
            None => self.slots.show(self.number(place)?, slots, frame),
            Some(pages) => pages.show(place, slots, frame),
        }
    }

    /// The computed values of the row with a number: keys, and the others.
    pub fn computed(&self, number: usize) -> SqlResult<(&[Value], &[Value])> {
        let first = number * self.layout.computed;
        Ok(self.values.part(first..first + self.layout.computed)?.split_at(self.layout.computed_keys))
    }

    /// Appends the slots of the row with a number to a record.
    pub fn append_slots(&self, number: usize, tables: &mut RowTables, out: &mut Vec<u8>) -> SqlResult<()> {
        self.slots.append_row(number, tables, out)
    }
}

/// The keys of a window, in the order in which they count.
fn keys_of(plan: &WindowPlan) -> impl Iterator<Item = &SortKey> + Clone {
    plan.partition.iter().chain(&plan.order)
}
