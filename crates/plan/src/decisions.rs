//! What is decided while a statement is planned, for `information_schema.OPTIMIZER_TRACE`.
//!
//! ```text
//!   steps ── join_preparation:   the query as it is written
//!         ── rewriting:          each rule that changed it, and what came out
//!         ── join_optimization:  of each block: the paths to each table, the joins that were weighed, the
//! plan
//! ```
//!
//! Nothing of this is there unless the session has asked for it: a planner without [`Decisions`] looks at a
//! word where it decides. What is recorded decides nothing. Costs are those that EXPLAIN shows. What is more
//! than the session allows is counted and left out, whole steps of it, so that the document stays one.

use std::cell::{Cell, RefCell};
use std::fmt::Write as _;

use crate::cost;

/// A part of the document.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// Members in the order in which they were added.
    Object(Vec<(&'static str, Json)>),
    /// Elements.
    Array(Vec<Json>),
    /// A text.
    Text(String),
    /// A number.
    Number(f64),
    /// True or false.
    Bool(bool),
}

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layout {
    /// `one_line`: without line breaks.
    pub one_line: bool,
    /// `end_markers_in_json`: what ends says what it ends.
    pub end_markers: bool,
}

impl Json {
    /// Some texts.
    pub fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Json {
        Json::Array(texts.into_iter().map(|text| Json::Text(text.to_owned())).collect())
    }

    /// A cost, as EXPLAIN shows it.
    pub fn cost(cost: f64) -> Json {
        Json::Number(cost::shown(cost))
    }

    /// About how many bytes it is written in.
    fn length(&self) -> usize {
        match self {
            Json::Object(members) => {
                2 + members.iter().map(|(name, value)| name.len() + 5 + value.length()).sum::<usize>()
            }
            Json::Array(elements) => 2 + elements.iter().map(|element| element.length() + 1).sum::<usize>(),
            Json::Text(text) => text.len() + 2,
            Json::Number(_) => 8,
            Json::Bool(_) => 5,
        }
    }

    /// The document as text.
    pub fn written(&self, layout: Layout) -> String {
        let mut out = String::new();
        self.write(layout, (0, None), &mut out);
        out
    }

    fn write(&self, layout: Layout, (depth, name): (usize, Option<&str>), out: &mut String) {
        let line = |depth: usize, out: &mut String| {
            if !layout.one_line {
                out.push('\n');
                out.push_str(&"  ".repeat(depth));
            }
        };
        match self {
            Json::Object(members) => {
                out.push('{');
                for (number, (name, value)) in members.iter().enumerate() {
                    out.push_str(if number > 0 { "," } else { "" });
                    line(depth + 1, out);
                    write_text(name, out);
                    out.push_str(": ");
                    value.write(layout, (depth + 1, Some(name)), out);
                }
                line(depth, out);
                out.push('}');
                end_marker(layout, name, out);
            }
            Json::Array(elements) => {
                out.push('[');
                for (number, element) in elements.iter().enumerate() {
                    out.push_str(if number > 0 { "," } else { "" });
                    line(depth + 1, out);
                    element.write(layout, (depth + 1, None), out);
                }
                line(depth, out);
                out.push(']');
                end_marker(layout, name, out);
            }
            Json::Text(text) => write_text(text, out),
            Json::Number(number) => write_number(*number, out),
            Json::Bool(yes) => out.push_str(if *yes { "true" } else { "false" }),
        }
    }
}

fn end_marker(layout: Layout, name: Option<&str>, out: &mut String) {
    if let (true, Some(name)) = (layout.end_markers, name) {
        // Writing to a String does not fail.
        let _ = write!(out, " /* {name} */");
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if (control as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", control as u32);
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

/// A number with six digits that count, as MySQL writes them.
fn write_number(number: f64, out: &mut String) {
    if !number.is_finite() || number.abs() >= 1e15 {
        let _ = write!(out, "{:e}", if number.is_finite() { number } else { f64::MAX });
        return;
    }
    let whole_digits = number.abs().max(1.0).log10() as usize + 1;
    let text = format!("{number:.*}", 6usize.saturating_sub(whole_digits));
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    out.push_str(text);
}

/// A way to read a table that was weighed.
pub(crate) struct WeighedPath {
    pub(crate) access_type: &'static str,
    pub(crate) index: Option<String>,
    pub(crate) rows: f64,
    pub(crate) cost: f64,
    pub(crate) ordered: bool,
    pub(crate) covering: bool,
    pub(crate) chosen: bool,
}

/// A join of two sets of tables that was weighed.
pub(crate) struct WeighedJoin {
    pub(crate) left: u64,
    pub(crate) right: u64,
    pub(crate) kind: &'static str,
    pub(crate) rows: f64,
    pub(crate) nested_cost: f64,
    pub(crate) hash_cost: Option<f64>,
    /// By what the two are joined; `None` if another way to join all of them costs less.
    pub(crate) chosen: Option<&'static str>,
}

/// What is not recorded: `optimizer_trace_features`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeavesOut {
    /// Joins that were weighed.
    pub joins: bool,
    /// Paths to tables.
    pub paths: bool,
}

/// What has been decided so far.
#[derive(Debug, Default)]
pub struct Decisions {
    preparation: RefCell<Vec<Json>>,
    rewriting: RefCell<Vec<Json>>,
    /// The query's text when the last rule had been applied.
    last_text: RefCell<String>,
    blocks: RefCell<Vec<Json>>,
    /// Of the block whose joins are planned: the names of its tables, and what was weighed.
    names: RefCell<Vec<String>>,
    tables: RefCell<Vec<Json>>,
    joins: RefCell<Vec<Json>>,
    /// What is not recorded.
    leaves_out: LeavesOut,
    /// Bytes that may still be recorded.
    left: Cell<usize>,
    missing: Cell<usize>,
    is_hidden: Cell<bool>,
}

/// What was decided, as a document, and how many bytes of it are missing.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    /// The steps.
    pub steps: Json,
    /// Bytes that were not recorded.
    pub missing: usize,
    /// The account may not know of all that it tells.
    pub is_hidden: bool,
}

impl Decisions {
    /// So many bytes are recorded at most.
    pub fn new(most_bytes: usize, leaves_out: LeavesOut) -> Decisions {
        Decisions { left: Cell::new(most_bytes), leaves_out, ..Decisions::default() }
    }

    fn record(&self, list: &RefCell<Vec<Json>>, step: Json) {
        let length = step.length();
        match self.left.get().checked_sub(length) {
            Some(left) => {
                self.left.set(left);
                list.borrow_mut().push(step);
            }
            None => self.missing.set(self.missing.get() + length),
        }
    }

    /// The statement reads what the account may not know the insides of.
    pub(crate) fn hide(&self) {
        self.is_hidden.set(true);
    }

    /// The query as it was bound.
    pub(crate) fn prepared(&self, text: String) {
        self.record(&self.preparation, Json::Object(vec![("expanded_query", Json::Text(text))]));
    }

    /// A query is about to be rewritten.
    pub(crate) fn begin_rewriting(&self, text: String) {
        self.last_text.replace(text);
    }

    /// A rule has been applied to it, and may have changed it.
    pub(crate) fn applied(&self, rule: &'static str, text: String) {
        if *self.last_text.borrow() != text {
            let step =
                vec![("rule", Json::Text(rule.to_owned())), ("resulting_query", Json::Text(text.clone()))];
            self.record(&self.rewriting, Json::Object(step));
            self.last_text.replace(text);
        }
    }

    /// The joins of a block of these tables are planned.
    pub(crate) fn begin_joins(&self, names: Vec<String>) {
        self.names.replace(names);
        self.tables.take();
        self.joins.take();
    }

    fn names_of(&self, tables: u64) -> Json {
        let names = self.names.borrow();
        let among = names.iter().enumerate().filter(|(place, _)| tables >> (*place).min(63) & 1 == 1);
        Json::texts(among.map(|(_, name)| &**name))
    }

    /// The ways to read a table have been weighed, where the rows of other ones are in place.
    pub(crate) fn paths(&self, table: String, total: f64, in_place: u64, paths: Vec<WeighedPath>) {
        if self.leaves_out.paths {
            return;
        }
        let path = |path: WeighedPath| {
            let WeighedPath { access_type, index, rows, cost, ordered, covering, chosen } = path;
            let mut members = vec![("access_type", Json::Text(access_type.to_owned()))];
            members.extend(index.map(|index| ("index", Json::Text(index))));
            members.push(("rows", Json::Number(rows)));
            members.push(("cost", Json::cost(cost)));
            members.extend(ordered.then_some(("in_wanted_order", Json::Bool(true))));
            members.extend(covering.then_some(("index_only", Json::Bool(true))));
            members.push(("chosen", Json::Bool(chosen)));
            Json::Object(members)
        };
        let step = vec![
            ("table", Json::Text(table)),
            ("plan_prefix", self.names_of(in_place)),
            ("rows_in_table", Json::Number(total)),
            ("considered_access_paths", Json::Array(paths.into_iter().map(path).collect())),
        ];
        self.record(&self.tables, Json::Object(step));
    }

    /// A join has been weighed.
    pub(crate) fn join(&self, join: WeighedJoin) {
        if self.leaves_out.joins {
            return;
        }
        let WeighedJoin { left, right, kind, rows, nested_cost, hash_cost, chosen } = join;
        let mut members = vec![
            ("plan_prefix", self.names_of(left)),
            ("joined", self.names_of(right)),
            ("join_type", Json::Text(kind.to_owned())),
            ("rows_for_plan", Json::Number(rows)),
            ("nested_loop_cost", Json::cost(nested_cost)),
        ];
        members.extend(hash_cost.map(|cost| ("hash_join_cost", Json::cost(cost))));
        match chosen {
            Some(algorithm) => {
                members.push(("join_algorithm", Json::Text(algorithm.to_owned())));
                members.push(("chosen", Json::Bool(true)));
            }
            None => {
                members.push(("chosen", Json::Bool(false)));
                members.push(("cause", Json::Text("cost".to_owned())));
            }
        }
        self.record(&self.joins, Json::Object(members));
    }

    /// The joins of the block have been planned.
    pub(crate) fn end_joins(&self, (rows, cost): (f64, f64), order: Vec<String>, plan: Json) {
        let mut steps = vec![Json::Object(vec![("rows_estimation", Json::Array(self.tables.take()))])];
        let joins = self.joins.take();
        if !joins.is_empty() {
            steps.push(Json::Object(vec![("considered_execution_plans", Json::Array(joins))]));
        }
        let chosen = vec![
            ("join_order", Json::texts(order.iter().map(|name| &**name))),
            ("rows_for_plan", Json::Number(rows)),
            ("cost_for_plan", Json::cost(cost)),
            ("plan", plan),
        ];
        steps.push(Json::Object(vec![("chosen_plan", Json::Object(chosen))]));
        // What it holds has been counted where it was recorded.
        self.blocks.borrow_mut().push(Json::Object(vec![("steps", Json::Array(steps))]));
    }

    /// All of it.
    pub fn decided(self) -> Decided {
        let mut steps = Vec::new();
        let one = |name: &'static str, steps: Vec<Json>| {
            Json::Object(vec![(name, Json::Object(vec![("steps", Json::Array(steps))]))])
        };
        let (preparation, rewriting) = (self.preparation.take(), self.rewriting.take());
        if !preparation.is_empty() {
            steps.push(one("join_preparation", preparation));
        }
        if !rewriting.is_empty() {
            steps.push(one("rewriting", rewriting));
        }
        let blocks = self.blocks.take().into_iter();
        steps.extend(blocks.map(|block| Json::Object(vec![("join_optimization", block)])));
        Decided { steps: document(steps), missing: self.missing.get(), is_hidden: self.is_hidden.get() }
    }
}

/// The document that has these steps.
pub fn document(steps: Vec<Json>) -> Json {
    Json::Object(vec![("steps", Json::Array(steps))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_written_as_asked() {
        let json = Json::Object(vec![
            ("steps", Json::Array(vec![Json::Text("a\"b\n".to_owned()), Json::Bool(true)])),
            ("cost", Json::Number(0.25)),
        ]);
        let one_line = Layout { one_line: true, end_markers: false };
        assert_eq!(json.written(one_line), r#"{"steps": ["a\"b\n",true],"cost": 0.25}"#);
        let marked = Layout { one_line: true, end_markers: true };
        assert_eq!(json.written(marked), r#"{"steps": ["a\"b\n",true] /* steps */,"cost": 0.25}"#);
        let lines = "{\n  \"steps\": [\n    \"a\\\"b\\n\",\n    true\n  ],\n  \"cost\": 0.25\n}";
        assert_eq!(json.written(Layout::default()), lines);
        assert_eq!(document(Vec::new()).written(Layout::default()), "{\n  \"steps\": [\n  ]\n}");
    }

    #[test]
    fn numbers_have_six_digits_that_count() {
        let written = |number| {
            let mut out = String::new();
            write_number(number, &mut out);
            out
        };
        for (number, text) in [
            (1.0, "1"),
            (0.25, "0.25"),
            (1234.5678, "1234.57"),
            (123_456_789.0, "123456789"),
            (1.0 / 3.0, "0.33333"),
            (0.0, "0"),
        ] {
            assert_eq!(written(number), text);
        }
    }

    #[test]
    fn what_is_too_much_is_left_out_and_counted() {
        let decisions = Decisions::new(60, LeavesOut::default());
        decisions.prepared("select 1".to_owned());
        decisions.begin_rewriting("select 1".to_owned());
        decisions.applied("unchanged", "select 1".to_owned());
        decisions.applied("constants", "select 2, and much more than there is room for".to_owned());
        let decided = decisions.decided();
        assert!(decided.missing > 60, "{decided:?}");
        let text = decided.steps.written(Layout { one_line: true, end_markers: false });
        assert_eq!(text, r#"{"steps": [{"join_preparation": {"steps": [{"expanded_query": "select 1"}]}}]}"#);
    }
}
