//! Logical plans for people: a line for each part of a block, its input below it.
//!
//! ```text
//! Output: t.a
//!   Filter: (t.b = 1)
//!     Semi join: (t.a = s.c)
//!       Table t
//!       Table s
//! ```
//!
//! How a plan prints decides nothing: tests compare the texts, the planner compares expressions.

use std::fmt::{self, Display, Formatter, Write as _};

use palisade_expr::Expr;
use palisade_expr::order::SortKey;

use super::SetStep;
use super::logical::{Block, Body, Distinct, JoinTree, Leaf, LogicalQuery, Order};
use super::window::FirstRows;

impl Display for LogicalQuery {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let mut lines = Lines::default();
        lines.query(self);
        out.write_str(&lines.text)
    }
}

/// The lines so far, and how far the next one is indented.
#[derive(Default)]
struct Lines {
    text: String,
    depth: usize,
}

/// Expressions, one after the other.
struct List<'l>(&'l [Expr], &'static str);

impl Display for List<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for (number, expr) in self.0.iter().enumerate() {
            if number > 0 {
                out.write_str(self.1)?;
            }
            write!(out, "{expr}")?;
        }
        Ok(())
    }
}

/// Sort keys, one after the other.
struct Keys<'l>(&'l [SortKey]);

impl Display for Keys<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for (number, key) in self.0.iter().enumerate() {
            let between = if number > 0 { ", " } else { "" };
            write!(out, "{between}{}{}", key.expr, if key.descending { " DESC" } else { "" })?;
        }
        Ok(())
    }
}

impl Lines {
    /// Adds a line; what comes next is its input.
    fn line(&mut self, line: impl Display) {
        self.text.push_str(&"  ".repeat(self.depth));
        // Writing to a String does not fail.
        let _ = writeln!(self.text, "{line}");
        self.depth += 1;
    }

    /// Adds what `add` does as an input of the line before; what comes next is another one.
    fn input(&mut self, add: impl FnOnce(&mut Lines)) {
        let depth = self.depth;
        add(self);
        self.depth = depth;
    }

    fn query(&mut self, query: &LogicalQuery) {
        self.line(format_args!("Output: {}", List(&query.output, ", ")));
        match &query.body {
            Body::Block(block) => self.block(block),
            Body::Values { rows, function, .. } => {
                self.line(if function.is_some() { "JSON_TABLE" } else { "Values" });
                rows.iter().for_each(|row| self.input(|lines| lines.line(List(row, ", "))));
            }
            Body::Combination(combination) => {
                self.order(&combination.order);
                let name = |step: &SetStep| match step {
                    SetStep::UnionAll => "union all",
                    SetStep::Union => "union",
                    SetStep::Except { all: true } => "except all",
                    SetStep::Except { all: false } => "except",
                    SetStep::Intersect { all: true } => "intersect all",
                    SetStep::Intersect { all: false } => "intersect",
                };
                let steps: Vec<&str> = combination.steps.iter().map(name).collect();
                self.line(format_args!("Combination: {}", steps.join(", ")));
                combination.inputs.iter().for_each(|input| self.input(|lines| lines.query(input)));
            }
            Body::Arranged { inner, order, .. } => {
                self.order(order);
                self.query(inner);
            }
        }
    }

    fn order(&mut self, order: &Order) {
        if let Some(limit) = &order.limit {
            match &limit.offset {
                Some(offset) if limit.is_widened => {
                    self.line(format_args!("Limit: {} and {offset}", limit.count));
                }
                Some(offset) => self.line(format_args!("Limit: {} after {offset}", limit.count)),
                None => self.line(format_args!("Limit: {}", limit.count)),
            }
        }
        if !order.keys.is_empty() {
            self.line(format_args!("Order: {}", Keys(&order.keys)));
        }
    }

    fn block(&mut self, block: &Block) {
        self.order(&block.order);
        if !matches!(block.distinct, Distinct::No) {
            self.line("Distinct");
        }
        if let Some(projection) = &block.projection {
            self.line(format_args!("Projection: {}", List(&projection.values, ", ")));
        }
        for window in block.windows.iter().rev() {
            let (partition, order) = (Keys(&window.partition), Keys(&window.order));
            let wanted = match &window.wanted {
                Some(FirstRows::Ranked { most, .. }) => format!(" ranks to {most}"),
                Some(FirstRows::Limited(_)) | None => String::new(),
            };
            let sorted = if window.comes_sorted { ", which its rows come in" } else { "" };
            let calls = window.calls.len();
            self.line(format_args!("Window: {calls} functions by {partition} order {order}{sorted}{wanted}"));
        }
        if let Some(having) = &block.having {
            self.line(format_args!("Having: {having}"));
        }
        if let Some(grouping) = &block.grouping {
            let aggregates: Vec<String> =
                grouping.aggregates.iter().map(|aggregate| format!("{aggregate}")).collect();
            let rollup = if grouping.rollup { " with rollup" } else { "" };
            self.line(format_args!(
                "Group: {}{rollup}: {}",
                List(&grouping.group, ", "),
                aggregates.join(", ")
            ));
        }
        if !block.conditions.is_empty() {
            self.line(format_args!("Filter: {}", List(&block.conditions, " and ")));
        }
        match &block.tree {
            Some(tree) => self.tree(tree),
            None => self.line("One row"),
        }
    }

    fn tree(&mut self, tree: &JoinTree) {
        let (name, parts, on): (_, Vec<&JoinTree>, _) = match tree {
            JoinTree::Leaf(leaf) => return self.leaf(leaf),
            JoinTree::Inner(parts, on) => ("Inner", parts.iter().collect(), on),
            JoinTree::Left(left, right, on) => ("Left", vec![&**left, &**right], on),
            JoinTree::Semi { left, right, on, anti, .. } => {
                (if *anti { "Anti" } else { "Semi" }, vec![&**left, &**right], on)
            }
        };
        match on.is_empty() {
            true => self.line(format_args!("{name} join")),
            false => self.line(format_args!("{name} join: {}", List(on, " and "))),
        }
        parts.into_iter().for_each(|part| self.input(|lines| lines.tree(part)));
    }

    fn leaf(&mut self, leaf: &Leaf) {
        match leaf {
            Leaf::Table(table) => self.line(format_args!("Table {}", table.alias)),
            Leaf::Virtual(table) => self.line(format_args!("Virtual table {}", table.alias)),
            Leaf::Derived { query, alias, .. } => {
                self.line(format_args!("Derived table {alias}"));
                self.query(query);
            }
            Leaf::Recursive { recursion, alias, .. } => {
                self.line(format_args!("Recursive table {alias}"));
                self.input(|lines| lines.query(&recursion.seed));
                recursion.steps.iter().for_each(|step| self.input(|lines| lines.query(step)));
            }
            Leaf::Working { alias, .. } => self.line(format_args!("Last round of {alias}")),
        }
    }
}
