//! The rows of a window operator: values one behind the other, and the rows of its slots as an order keeps
//! them.
//!
//! ```text
//!  a row's values:  partition | order | arguments of call 0 | ends of its frame | arguments of call 1 | ...
//! ```
//!
//! Values that bound a frame are there only where the frame is bounded by values. A row has a number, by when
//! it came, and a place, by the order. Rows of one partition that take too much memory are in
//! [pages](super::pages) of a file; these come in their order.

use std::cmp::Ordering;

use palisade_catalog::{Value, Watch};
use palisade_expr::context::{Frame, values_size};
use palisade_expr::order::compare_keys;
use palisade_expr::place::At;
use palisade_expr::{Context, Expr, SqlAttempt, SqlResult};
use palisade_plan::window::{Edge, WindowPlan};

use super::pages::{Pages, append_row};
use crate::ExecContext;
use crate::kept::KeptRows;
use crate::spill::row::RowTables;

/// Where the values of a row are.
#[derive(Debug, Default)]
struct Layout {
    partition: usize,
    /// Where the keys end: partition and order.
    keys: usize,
    /// Of each call where its arguments begin and end, and where the values are that bound its frame.
    calls: Vec<(usize, usize, [Option<usize>; 2])>,
    width: usize,
}

impl Layout {
    fn new(plan: &WindowPlan) -> Layout {
        let mut layout = Layout { partition: plan.partition.len(), ..Layout::default() };
        layout.keys = layout.partition + plan.order.len();
        layout.width = layout.keys;
        for call in &plan.calls {
            let first = layout.width;
            layout.width += call.arguments.len();
            let end = layout.width;
            let edges = [&call.frame.start, &call.frame.end].map(|edge| {
                let place = layout.width;
                let has_value = matches!(edge, Edge::Value { .. });
                layout.width += usize::from(has_value);
                has_value.then_some(place)
            });
            layout.calls.push((first, end, edges));
        }
        layout
    }
}

/// Rows in memory.
#[derive(Debug, Default)]
pub struct Rows {
    layout: Layout,
    count: usize,
    values: Vec<Value>,
    /// About how many bytes the values take.
    values_size: usize,
    slots: KeptRows,
    /// The numbers of the rows by their places; empty if these are the same.
    order: Vec<usize>,
    /// The rows of a partition that are in a file, and how many of those here are.
    pages: Option<Box<Pages>>,
    paged: usize,
}

impl Rows {
    /// None yet.
    pub fn new(plan: &WindowPlan) -> Rows {
        Rows { layout: Layout::new(plan), ..Rows::default() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count + self.pages.as_ref().map_or(0, |pages| pages.len() - self.paged)
    }

    /// The number of the next row.
    pub fn next_number(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether they are in a file.
    pub fn is_paged(&self) -> bool {
        self.pages.is_some()
    }

    /// Is called after each row that was added, in its order: goes to a file if they take more memory than
    /// they may. May ask to wait, and is called again then before anything else.
    pub fn make_room(&mut self, cx: &mut ExecContext<'_, '_>, memory: usize) -> SqlAttempt<()> {
        match &self.pages {
            None if self.size() <= memory => return Ok(()),
            None => self.pages = Some(Box::new(Pages::new(cx, self.layout.width, memory))),
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
        while *paged < *count {
            pages.make_room()?;
            let first = *paged;
            let rows_of_page = {
                let mut end = first;
                let mut size = 0;
                while end < *count && size < pages.page_bytes() {
                    size += values_size(values.part(end * layout.width..(end + 1) * layout.width)?);
                    size += slots.row_size(end)?;
                    end += 1;
                }
                first..end
            };
            let end = rows_of_page.end;
            pages.push(rows_of_page.len(), |tables, out| {
                for row in rows_of_page {
                    let values = values.part(row * layout.width..(row + 1) * layout.width)?;
                    append_row(values, slots.width(), out, |out| slots.append_row(row, tables, out))?;
                }
                Ok(())
            })?;
            *paged = end;
            cx.take_turns((end - first) as u32)?;
        }
        pages.make_room()?;
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
        self.values_size + self.slots.size() + 2 * self.count * size_of::<usize>()
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.forget_rows();
        self.pages = None;
    }

    /// Forgets those in memory.
    fn forget_rows(&mut self) {
        self.values.clear();
        self.slots.forget_rows();
        self.order.clear();
        (self.count, self.values_size, self.paged) = (0, 0, 0);
    }

    /// Computes the values of the current row. May ask to wait, and has then added nothing.
    pub fn evaluate(&mut self, cx: &mut Context<'_>, plan: &WindowPlan) -> SqlAttempt<()> {
        let before = self.count * self.layout.width;
        self.values.truncate(before);
        let values = &mut self.values;
        let mut add = |expr: &Expr, cx: &mut Context<'_>| -> SqlAttempt<()> {
            values.push(expr.eval(cx)?);
            Ok(())
        };
        for key in plan.partition.iter().chain(&plan.order) {
            add(&key.expr, cx)?;
        }
        for call in &plan.calls {
            for argument in &call.arguments {
                add(argument, cx)?;
            }
            for edge in [&call.frame.start, &call.frame.end] {
                if let Edge::Value { bound, .. } = edge {
                    add(bound, cx)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the current row, whose values have been [computed](Self::evaluate).
    pub fn push(&mut self, frame: &Frame, slots: &[usize]) -> SqlResult<()> {
        let own = self.values.tail(self.count * self.layout.width)?;
        self.values_size += values_size(own);
        self.slots.push(frame, slots)?;
        self.count += 1;
        Ok(())
    }

    /// Adds the current row with these values.
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

    /// The rows have been put in order: their numbers by their places.
    pub fn set_order(&mut self, order: Vec<usize>) {
        self.order = order;
    }

    fn number(&self, place: usize) -> SqlResult<usize> {
        if self.order.is_empty() { Ok(place) } else { Ok(*self.order.at(place)?) }
    }

    /// The values of the row with a number.
    fn values(&self, number: usize) -> SqlResult<&[Value]> {
        let first = number * self.layout.width;
        self.values.part(first..first + self.layout.width)
    }

    /// The values of the row at a place; fails if it is [wanted](Self::is_wanting) from now on.
    fn values_at(&self, place: usize) -> SqlResult<&[Value]> {
        match &self.pages {
            None => self.values(self.number(place)?),
            Some(pages) => pages.values(place),
        }
    }

    /// The keys of the row with a number: those of the partition, and those of the order.
    pub fn keys(&self, number: usize) -> SqlResult<(&[Value], &[Value])> {
        let keys = self.values(number)?.part(0..self.layout.keys)?;
        Ok(keys.split_at(self.layout.partition))
    }

    /// The keys of the order of the row at a place.
    pub fn order_at(&self, place: usize) -> SqlResult<&[Value]> {
        self.values_at(place)?.part(self.layout.partition..self.layout.keys)
    }

    /// Whether the rows at two places are of one partition.
    pub fn is_one_partition(
        &self,
        plan: &WindowPlan,
        one: usize,
        other: usize,
        watch: Watch<'_>,
    ) -> SqlResult<bool> {
        let (one, other) = (self.keys(self.number(one)?)?.0, self.keys(self.number(other)?)?.0);
        Ok(compare_keys(one, other, &plan.partition, watch).is_eq())
    }

    /// How the rows with two numbers are ordered.
    pub fn compare(
        &self,
        plan: &WindowPlan,
        left: usize,
        right: usize,
        watch: Watch<'_>,
    ) -> SqlResult<Ordering> {
        let ((left_partition, left), (right_partition, right)) = (self.keys(left)?, self.keys(right)?);
        let by_partition = compare_keys(left_partition, right_partition, &plan.partition, watch);
        Ok(by_partition.then_with(|| compare_keys(left, right, &plan.order, watch)))
    }

    /// A call's arguments at a place.
    pub fn arguments(&self, place: usize, call: usize) -> SqlResult<&[Value]> {
        let (first, end, _) = *self.layout.calls.at(call)?;
        self.values_at(place)?.part(first..end)
    }

    /// The value that bounds the frame of a call at a place.
    pub fn edge(&self, place: usize, call: usize, edge: usize) -> SqlResult<&Value> {
        let (_, _, edges) = self.layout.calls.at(call)?;
        match *edges.at(edge)? {
            Some(value) => self.values_at(place)?.at(value),
            None => Ok(&Value::Null),
        }
    }

    /// Makes the row at a place current; it is gone from here. Fails if it is [wanted](Self::is_wanting) from
    /// now on.
    pub fn restore(&mut self, place: usize, slots: &[usize], frame: &mut Frame) -> SqlResult<()> {
        match &mut self.pages {
            None => {
                let number = self.number(place)?;
                self.slots.restore(number, slots, frame)
            }
            Some(pages) => pages.restore(place, slots, frame),
        }
    }

    /// The values of the row with a number, its keys and the others.
    pub fn parts(&self, number: usize) -> SqlResult<(&[Value], &[Value])> {
        Ok(self.values(number)?.split_at(self.layout.keys))
    }

    /// Appends the slots of the row with a number to a record.
    pub fn append_slots(&self, number: usize, tables: &mut RowTables, out: &mut Vec<u8>) -> SqlResult<()> {
        self.slots.append_row(number, tables, out)
    }
}
