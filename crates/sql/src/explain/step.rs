//! A plan as a tree of steps: what FORMAT=TREE prints, and FORMAT=JSON of version 2.

use std::collections::HashSet;

use palisade_engine::Table;
use palisade_expr::Expr;
use palisade_expr::aggregate::AggregateSpec;
use palisade_expr::order::SortKey;
use palisade_plan::access::Access;
use palisade_plan::json_table;
use palisade_plan::note::{Actual, Estimate, Note, estimate};
use palisade_plan::parallel::DividedFrom;
use palisade_plan::window::{WindowFunction, WindowPlan};
use palisade_plan::{JoinKind, Limit, Merge, Operator, Plan, Query, Recursion, SetStep};

use super::document::{Document, Object};
use super::reading::{
    UsedColumns, index_name, key_columns, key_parts, lookup, ranges, ranges_line, references, subqueries_in,
};
use super::remade::AllRemade;
use super::rows::merged_scans;
use super::text::{columns_of, rounded, short, short_list, shortened, shown_cost};

/// A step of a plan.
#[derive(Debug, Default)]
pub(super) struct Step {
    /// What stands above it: `Hash`, or which subquery it is.
    heading: Option<String>,
    operation: String,
    /// What the JSON says beside it.
    details: Object,
    estimate: Option<Estimate>,
    /// `None` if it is not measured, `Some(None)` if it was not executed.
    actual: Option<Option<Actual>>,
    inputs: Vec<Step>,
    /// Subqueries in the values that its rows are made of.
    selected: Vec<Step>,
}

impl Step {
    pub(super) fn new(operation: impl Into<String>, access_type: &'static str) -> Step {
        let mut step = Step { operation: operation.into(), ..Step::default() };
        if !access_type.is_empty() {
            step.details.add("access_type", access_type);
        }
        step
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<Document>) -> Step {
        self.details.add(name, value);
        self
    }

    pub(super) fn over(mut self, inputs: impl IntoIterator<Item = Step>) -> Step {
        self.inputs.extend(inputs);
        self
    }

    fn under(mut self, heading: impl Into<String>) -> Step {
        self.heading = Some(heading.into());
        self
    }

    fn estimated(mut self, estimate: Estimate) -> Step {
        self.estimate = Some(estimate);
        self
    }

    /// As lines, each with those that it takes its rows from below it.
    pub(super) fn lines(&self) -> String {
        let mut out = String::new();
        self.write(0, &mut out);
        self.selected.iter().for_each(|step| step.write(0, &mut out));
        out
    }

    fn write(&self, depth: usize, out: &mut String) {
        let mut depth = depth;
        if let Some(heading) = &self.heading {
            out.push_str(&format!("{}-> {heading}\n", "    ".repeat(depth)));
            depth += 1;
        }
        out.push_str(&format!("{}-> {}", "    ".repeat(depth), self.operation));
        if let Some(Estimate { rows, cost, startup }) = self.estimate {
            let startup =
                startup.map(|startup| format!("{}..", rounded(shown_cost(startup)))).unwrap_or_default();
            let cost = rounded(shown_cost(cost));
            out.push_str(&format!("  (cost={startup}{cost} rows={})", rounded(rows)));
        }
        match self.actual {
            None => {}
            Some(None) => out.push_str(" (never executed)"),
            Some(Some(Actual { loops, rows, first_ms, last_ms })) => {
                let (first, last) = (rounded(first_ms), rounded(last_ms));
                let rows = rounded(rows);
                out.push_str(&format!(" (actual time={first}..{last} rows={rows} loops={loops})"));
            }
        }
        out.push('\n');
        self.inputs.iter().for_each(|input| input.write(depth + 1, out));
    }

    /// As JSON.
    pub(super) fn object(&self) -> Object {
        let mut object = Object::default();
        if let Some(heading) = &self.heading {
            object.add("heading", heading.as_str());
        }
        object.add("operation", self.operation.as_str());
        object.extend(self.details.clone());
        if let Some(Estimate { rows, cost, startup }) = self.estimate {
            object.add("estimated_rows", rows);
            object.add("estimated_total_cost", shown_cost(cost));
            if let Some(startup) = startup {
                object.add("estimated_first_row_cost", shown_cost(startup));
            }
        }
        match self.actual {
            None => {}
            Some(None) => object.add("actual_loops", 0u64),
            Some(Some(Actual { loops, rows, first_ms, last_ms })) => {
                object.add("actual_rows", rows);
                object.add("actual_loops", loops);
                object.add("actual_first_row_ms", first_ms);
                object.add("actual_last_row_ms", last_ms);
            }
        }
        let list = |steps: &[Step]| steps.iter().map(Step::object).collect::<Vec<_>>();
        if !self.inputs.is_empty() {
            object.add("inputs", list(&self.inputs));
        }
        if !self.selected.is_empty() {
            object.add("inputs_from_select_list", list(&self.selected));
        }
        object
    }
}

/// What the steps of a plan are made with.
pub(super) struct Steps<'p> {
    plan: &'p Plan,
    used: UsedColumns,
    /// Subqueries that stand somewhere already.
    shown: HashSet<usize>,
    /// The plan has been executed and measured.
    is_measured: bool,
    /// Which groupings are done in parts.
    divided_from: DividedFrom,
    remade: AllRemade,
}

impl<'p> Steps<'p> {
    pub(super) fn new(plan: &'p Plan, is_measured: bool, divided_from: DividedFrom) -> Steps<'p> {
        let (used, remade) = (UsedColumns::of(plan), AllRemade::of(plan));
        Steps { plan, used, shown: HashSet::new(), is_measured, divided_from, remade }
    }

    /// The steps of the plan's query, with all subqueries.
    pub(super) fn whole(&mut self, query: &Query) -> Step {
        let mut step = self.query(query);
        let count = self.plan.subqueries.len();
        let rest: Vec<usize> = (0..count).filter(|number| !self.shown.contains(number)).collect();
        let rest: Vec<Step> =
            rest.into_iter().filter_map(|number| self.subquery(number, "projection")).collect();
        step.selected.extend(rest);
        step
    }

    fn query(&mut self, query: &Query) -> Step {
        let mut step = self.operator(&query.root);
        if let Some(limit) = &query.counted_limit {
            step = limited(limit).over([step]);
        }
        let mut asked = Vec::new();
        query.output.iter().for_each(|expr| subqueries_in(expr, &mut asked));
        let selected: Vec<Step> =
            asked.into_iter().filter_map(|number| self.subquery(number, "projection")).collect();
        step.selected.extend(selected);
        step
    }

    /// A subquery of an expression, the first time.
    fn subquery(&mut self, number: usize, place: &'static str) -> Option<Step> {
        let query = self.plan.subqueries.get(number)?.as_ref()?;
        if !self.shown.insert(number) {
            return None;
        }
        let is_dependent = !query.outer_slots.is_empty();
        let how = if is_dependent { "dependent" } else { "run only once" };
        let step = self.query(query).under(format!("Select #{} (subquery in {place}; {how})", number + 2));
        let step = step.with("subquery", true).with("subquery_location", place);
        Some(step.with(if is_dependent { "dependent" } else { "cacheable" }, true))
    }

    /// A filter above `input`, with the subqueries that its condition asks.
    fn filter(&mut self, input: Step, condition: &Expr, estimate: Option<Estimate>) -> Step {
        let text = short(condition);
        let mut asked = Vec::new();
        subqueries_in(condition, &mut asked);
        let asked: Vec<Step> =
            asked.into_iter().filter_map(|number| self.subquery(number, "condition")).collect();
        let step = Step::new(format!("Filter: {text}"), "filter")
            .with("condition", text)
            .with("filter_columns", columns_of([condition]));
        Step { estimate, ..step }.over([input]).over(asked)
    }

    fn filtered(&mut self, input: Step, filter: Option<&Expr>) -> Step {
        match filter {
            Some(filter) => {
                let estimate = input.estimate;
                self.filter(input, filter, estimate)
            }
            None => input,
        }
    }

    fn operator(&mut self, operator: &Operator) -> Step {
        let row = self.remade.said_of(operator);
        let step = match operator {
            Operator::Noted { input, note } => self.noted(input, note),
            operator => self.plain(operator),
        };
        let Some(alias) = row else { return step };
        let (estimate, actual) = (step.estimate, step.actual);
        let name = format!("Invalidate materialized tables (row from {alias})");
        let over = Step::new(name, "invalidate_materialized_tables").with("table_name", alias.as_str());
        Step { estimate, actual, ..over }.over([step])
    }

    fn noted(&mut self, input: &Operator, note: &Note) -> Step {
        let mut step = match input {
            Operator::Scan { .. } => self.scan(input, Some(note)),
            Operator::IndexMerge { inputs, kind: Merge::Intersection, .. } => {
                self.intersection(inputs, Some(note.estimate))
            }
            // It changes what rows look like, and not which there are.
            Operator::Project { .. } => return self.plain(input),
            input => {
                let mut step = self.plain(input);
                step.estimate = Some(note.estimate);
                step
            }
        };
        if self.is_measured {
            step.actual = Some(note.measured.actual());
        }
        step
    }

    fn plain(&mut self, operator: &Operator) -> Step {
        match operator {
            Operator::Noted { .. } => self.operator(operator),
            Operator::Dual | Operator::Values { .. } => {
                Step::new("Rows fetched before execution", "rows_fetched_before_execution")
            }
            Operator::Nothing => Step::new("Zero rows (Impossible WHERE)", "zero_rows")
                .with("zero_rows_cause", "Impossible WHERE"),
            Operator::Scan { .. } => self.scan(operator, None),
            Operator::IndexMerge { inputs, kind: Merge::Intersection, .. } => self.intersection(inputs, None),
            Operator::IndexMerge { inputs, .. } => {
                let inputs: Vec<Step> = inputs.iter().map(|input| self.operator(input)).collect();
                Step::new("Index merge", "index_merge").over(inputs)
            }
            Operator::Virtual { alias, filter, .. } => {
                let fill = Step::new(format!("Fill information schema table {alias}"), "")
                    .with("table_name", alias.as_str());
                let scan = Step::new(format!("Table scan on {alias}"), "table")
                    .with("table_name", alias.as_str())
                    .over([fill]);
                self.filtered(scan, filter.as_ref())
            }
            Operator::NestedLoop { left, right, kind, condition } => {
                self.nested(left, right, *kind, condition.as_ref())
            }
            Operator::HashJoin { left, right, kind, keys, condition, .. } => {
                let keys: Vec<String> = keys
                    .iter()
                    .map(|(left, right, _)| format!("({} = {})", short(left), short(right)))
                    .collect();
                self.hashed((left, right), *kind, keys, condition.as_ref())
            }
            Operator::Filter { input, condition } => {
                let input = self.operator(input);
                self.filter(input, condition, None)
            }
            Operator::Aggregate { input, aggregates, in_groups: true, .. } => {
                self.in_groups(input, aggregates)
            }
            Operator::Aggregate { input, group, aggregates, rollup, in_parts, .. } => {
                let parts = in_parts.as_ref();
                let is_divided = parts.is_some_and(|in_parts| self.divided_from.is_reached(in_parts));
                let how = if is_divided { " (in parallel)" } else { "" };
                self.aggregated(input, group, functions_of(aggregates), (*rollup, how))
            }
            Operator::Sort { input, keys, limit, distinct, .. } => {
                self.sorted(input, keys, limit.as_ref(), *distinct)
            }
            Operator::Project { input, output, .. } => self.projected(input, output),
            Operator::Window { input, window } => self.window(input, window),
            Operator::FirstOfEach { input, .. } => {
                let step = Step::new("Group (no aggregates)", "aggregate").with("group_by", true);
                step.over([self.operator(input)])
            }
            Operator::Distinct { input, .. } => {
                let kept = Step::new("Temporary table with deduplication", "materialize")
                    .with("temp_table", true)
                    .with("deduplication", true);
                temporary("<temporary>", kept.over([self.operator(input)]))
            }
            Operator::Limit { input, limit } => limited(limit).over([self.operator(input)]),
            Operator::Union { inputs, steps, .. } => self.combined(inputs, steps),
            Operator::Recursive { recursion, filter, alias, .. } => {
                let kept = self.recursive(recursion, alias);
                self.filtered(temporary(alias, kept), filter.as_ref())
            }
            Operator::Working { alias, filter, .. } => {
                let scan = Step::new(format!("Scan new records on {alias}"), "scan_new_records")
                    .with("table_name", alias.as_str());
                self.filtered(scan, filter.as_ref())
            }
            Operator::Derived { query, filter, .. } if json_table::of_operator(&query.root).is_some() => {
                let step = Step::new("Materialize table function", "materialized_table_function");
                self.filtered(step.estimated(estimate(&query.root)), filter.as_ref())
            }
            Operator::Derived { slot, query, alias, filter, subquery, .. } => {
                let mut kept = self.materialized(query, subquery.is_some());
                if let Some((_, row)) = self.remade.row_of(*slot) {
                    kept.operation.push_str(&format!(" (invalidate on row from {row})"));
                }
                self.filtered(temporary(alias, kept), filter.as_ref())
            }
        }
    }

    /// Groups whose rows come one behind the other.
    fn in_groups(&mut self, input: &Operator, aggregates: &[AggregateSpec]) -> Step {
        let functions = functions_of(aggregates);
        let name = match functions.is_empty() {
            true => "Group (no aggregates)".to_owned(),
            false => format!("Group aggregate: {}", functions.join(", ")),
        };
        let step = Step::new(name, "aggregate").with("functions", functions);
        step.with("group_by", true).over([self.operator(input)])
    }

    fn projected(&mut self, input: &Operator, output: &[Expr]) -> Step {
        let mut step = self.operator(input);
        let mut asked = Vec::new();
        output.iter().for_each(|expr| subqueries_in(expr, &mut asked));
        let asked = asked.into_iter().filter_map(|number| self.subquery(number, "projection"));
        step.selected.extend(asked.collect::<Vec<_>>());
        step
    }

    fn window(&mut self, input: &Operator, window: &WindowPlan) -> Step {
        let functions: Vec<String> =
            window.calls.iter().map(|call| function_text(&call.function, &call.arguments)).collect();
        let text = format!("Window aggregate with buffering: {}", functions.join(", "));
        let input = self.operator(input);
        let keys = key_texts(window.partition.iter().chain(&window.order));
        let input = match window.sorts() {
            false => input,
            true => Step::new(format!("Sort: {}", keys.join(", ")), "sort")
                .with("sort_fields", keys)
                .over([input]),
        };
        Step::new(text, "window").with("functions", functions).over([input])
    }

    /// The rows of a derived table or of a subquery, kept.
    fn materialized(&mut self, query: &Query, of_subquery: bool) -> Step {
        let distinct = if of_subquery { under_distinct(&query.root) } else { None };
        let kept = match distinct {
            Some(input) => Step::new("Materialize with deduplication", "materialize")
                .with("deduplication", true)
                .over([self.operator(input)]),
            None => Step::new("Materialize", "materialize").over([self.query(query)]),
        };
        kept.estimated(estimate(&query.root))
    }

    fn recursive(&mut self, recursion: &Recursion, alias: &str) -> Step {
        let seed = self.query(&recursion.seed);
        let steps = recursion.steps.iter();
        let steps: Vec<Step> = steps.map(|step| self.query(step).under("Repeat until convergence")).collect();
        Step::new(format!("Materialize recursive CTE {alias}"), "materialize")
            .with("recursive", true)
            .over([seed])
            .over(steps)
    }

    fn scan(&mut self, operator: &Operator, note: Option<&Note>) -> Step {
        let Operator::Scan { slot, table, alias, access, filter, .. } = operator else {
            return Step::default();
        };
        let mut step = table_step(table, alias, access)
            .with("table_name", alias.as_str())
            .with("schema_name", table.schema.as_str())
            .with("used_columns", self.used.names(*slot, table));
        let Some(note) = note else { return self.filtered(step, filter.as_ref()) };
        let examined = note.reading.map_or(note.estimate.rows, |reading| reading.examined);
        step.estimate = Some(Estimate { rows: examined, ..note.estimate });
        match filter {
            Some(filter) => self.filter(step, filter, Some(note.estimate)),
            None => step.estimated(note.estimate),
        }
    }

    /// What several indexes have in common; the last of the inputs reads the rows.
    fn intersection(&mut self, inputs: &[Operator], estimate: Option<Estimate>) -> Step {
        let entries = merged_scans(inputs, Merge::Intersection).iter();
        let entries: Vec<Step> = entries.map(|input| self.operator(input)).collect();
        let step = Step::new("Intersect rows sorted by row ID", "rowid_intersection").over(entries);
        self.filtered(Step { estimate, ..step }, inputs.last().and_then(filter_of))
    }

    fn nested(
        &mut self,
        left: &Operator,
        right: &Operator,
        kind: JoinKind,
        condition: Option<&Expr>,
    ) -> Step {
        let (name, join_type) = match kind {
            JoinKind::Inner => ("Nested loop inner join", "inner join"),
            JoinKind::Left => ("Nested loop left join", "left join"),
            JoinKind::Semi => ("Nested loop semijoin", "semijoin"),
            JoinKind::Anti => ("Nested loop antijoin", "antijoin"),
        };
        let on = condition.map(|condition| format!(" on {}", short(condition))).unwrap_or_default();
        let step = Step::new(format!("{name}{on}"), "join")
            .with("join_type", join_type)
            .with("join_algorithm", "nested_loop");
        let (left, right) = (self.operator(left), self.operator(right));
        step.over([left, right])
    }

    fn hashed(
        &mut self,
        (left, right): (&Operator, &Operator),
        kind: JoinKind,
        keys: Vec<String>,
        condition: Option<&Expr>,
    ) -> Step {
        let (name, join_type) = match kind {
            JoinKind::Inner => ("Inner hash join", "inner join"),
            JoinKind::Left => ("Left hash join", "left join"),
            JoinKind::Semi => ("Hash semijoin", "semijoin"),
            JoinKind::Anti => ("Hash antijoin", "antijoin"),
        };
        let on = if keys.is_empty() { "(no condition)".to_owned() } else { keys.join(", ") };
        let extra = condition.map(short);
        let extra_text = extra.as_ref().map(|extra| format!(", extra conditions: {extra}"));
        let mut step = Step::new(format!("{name} {on}{}", extra_text.unwrap_or_default()), "join")
            .with("join_type", join_type)
            .with("join_algorithm", "hash")
            .with("hash_condition", keys);
        if let Some(extra) = extra {
            step = step.with("extra_condition", vec![extra]);
        }
        let mut asked = Vec::new();
        condition.iter().for_each(|condition| subqueries_in(condition, &mut asked));
        let sides = [self.operator(left), self.operator(right).under("Hash")];
        let asked = asked.into_iter().filter_map(|number| self.subquery(number, "extra conditions"));
        step.over(sides).over(asked.collect::<Vec<_>>())
    }

    fn aggregated(
        &mut self,
        input: &Operator,
        group: &[Expr],
        functions: Vec<String>,
        (rollup, how): (bool, &str),
    ) -> Step {
        let input = self.operator(input);
        let list = functions.join(", ");
        if group.is_empty() {
            return Step::new(format!("Aggregate{how}: {list}"), "aggregate")
                .with("functions", functions)
                .over([input]);
        }
        let name = if rollup {
            "Aggregate with rollup using temporary table".to_owned()
        } else {
            format!("Aggregate using temporary table{how}")
        };
        let kept = Step::new(name, "temp_table_aggregate").with("functions", functions);
        temporary("<temporary>", kept.with("group_by", true).over([input]))
    }

    fn sorted(&mut self, input: &Operator, keys: &[SortKey], limit: Option<&Limit>, distinct: bool) -> Step {
        let fields = key_texts(keys);
        let kind = if distinct { "Sort with duplicate removal" } else { "Sort" };
        let most = limit.and_then(|limit| match &limit.offset {
            None => Some(limit.count.to_string()),
            Some(_) => None,
        });
        let chunk = match (&most, limit) {
            (Some(most), _) => format!(", limit input to {most} row(s) per chunk"),
            (None, Some(_)) => ", limit input".to_owned(),
            (None, None) => String::new(),
        };
        let mut step =
            Step::new(format!("{kind}: {}{chunk}", fields.join(", ")), "sort").with("sort_fields", fields);
        if let Some(most) = most.and_then(|most| most.parse::<u64>().ok()) {
            step = step.with("per_chunk_limit", most);
        }
        if distinct {
            step = step.with("duplicate_removal", true);
        }
        step.over([self.operator(input)])
    }

    fn combined(&mut self, inputs: &[Operator], steps: &[SetStep]) -> Step {
        let inputs: Vec<Step> = inputs.iter().map(|input| self.operator(input)).collect();
        if steps.iter().all(|step| *step == SetStep::UnionAll) {
            return Step::new("Append", "append").over(inputs);
        }
        let (name, word) = match steps.last() {
            Some(SetStep::Except { .. }) => ("<except temporary>", "Except"),
            Some(SetStep::Intersect { .. }) => ("<intersect temporary>", "Intersect"),
            _ => ("<union temporary>", "Union"),
        };
        let is_all = |step: &SetStep| {
            matches!(
                step,
                SetStep::UnionAll | SetStep::Except { all: true } | SetStep::Intersect { all: true }
            )
        };
        let distinct = if steps.iter().any(is_all) { "" } else { " with deduplication" };
        let mut kept = Step::new(format!("{word} materialize{distinct}"), "materialize");
        kept = match word {
            "Except" => kept.with("except", true),
            "Intersect" => kept.with("intersect", true),
            _ => kept.with("union", true),
        };
        if !distinct.is_empty() {
            kept = kept.with("deduplication", true);
        }
        temporary(name, kept.over(inputs))
    }
}

/// Reading what has been put into a temporary table.
fn temporary(name: &str, kept: Step) -> Step {
    Step::new(format!("Table scan on {name}"), "table").with("table_name", name).over([kept])
}

fn limited(limit: &Limit) -> Step {
    let count = short(&limit.count);
    let number = |expr: &Expr| expr.to_string().parse::<u64>().unwrap_or_default();
    let (text, most, offset) = match &limit.offset {
        Some(offset) if limit.is_widened => {
            let most = number(&limit.count).saturating_add(number(offset));
            (format!("Limit: {most} row(s)"), most, 0)
        }
        Some(offset) => {
            let text = format!("Limit/Offset: {count}/{} row(s)", short(offset));
            (text, number(&limit.count), number(offset))
        }
        None => (format!("Limit: {count} row(s)"), number(&limit.count), 0),
    };
    Step::new(text, "limit").with("limit", most).with("limit_offset", offset)
}

fn functions_of(aggregates: &[AggregateSpec]) -> Vec<String> {
    aggregates.iter().map(|aggregate| shortened(&aggregate.to_string())).collect()
}

fn key_texts<'k>(keys: impl IntoIterator<Item = &'k SortKey>) -> Vec<String> {
    let text = |key: &SortKey| format!("{}{}", short(&key.expr), if key.descending { " DESC" } else { "" });
    keys.into_iter().map(text).collect()
}

/// What the distinct rows of a query are made of, if it gives distinct rows.
fn under_distinct(operator: &Operator) -> Option<&Operator> {
    match operator {
        Operator::Noted { input, .. } => under_distinct(input),
        Operator::Distinct { input, .. } => Some(input),
        _ => None,
    }
}

/// The condition that a scan's rows are tested by, which is an operator of its own where it is measured.
fn filter_of(operator: &Operator) -> Option<&Expr> {
    match operator {
        Operator::Noted { input, .. } => filter_of(input),
        Operator::Filter { condition, .. } => Some(condition),
        Operator::Scan { filter, .. } => filter.as_ref(),
        _ => None,
    }
}

fn function_text(function: &WindowFunction, arguments: &[Expr]) -> String {
    let name = match function {
        WindowFunction::RowNumber => "row_number",
        WindowFunction::Rank => "rank",
        WindowFunction::DenseRank => "dense_rank",
        WindowFunction::CumeDist => "cume_dist",
        WindowFunction::PercentRank => "percent_rank",
        WindowFunction::Ntile(_) => "ntile",
        WindowFunction::Shifted { ahead: true, .. } => "lead",
        WindowFunction::Shifted { ahead: false, .. } => "lag",
        WindowFunction::First => "first_value",
        WindowFunction::Last => "last_value",
        WindowFunction::Nth(_) => "nth_value",
        WindowFunction::Aggregate(spec) => return format!("{} OVER ()", shortened(&spec.to_string())),
    };
    format!("{name}({}) OVER ()", short_list(arguments, ","))
}

/// How the rows of a stored table are read.
fn table_step(table: &Table, alias: &str, access: &Access) -> Step {
    let index = index_name(table, access);
    let covering = access.covering;
    let reverse = if access.backward { " (reverse)" } else { "" };
    let kind = access_kind(access);
    let lower = |first: &str, rest: &str| match covering {
        true => format!("Covering {}{rest}", first.to_lowercase()),
        false => format!("{first}{rest}"),
    };
    let name = match kind {
        _ if access.loose.is_some() => {
            let how = lower("Index", " skip scan for grouping");
            let over = match access.alternatives.is_empty() {
                true => String::new(),
                false => format!(" over {}", ranges_line(&ranges(table, access))),
            };
            format!("{how} on {alias} using {index}{over}{reverse}")
        }
        Kind::Table => return Step::new(format!("Table scan on {alias}"), "table"),
        Kind::Scan => format!("{} on {alias} using {index}{reverse}", lower("Index", " scan")),
        Kind::Lookup => {
            let how = match (access.unique, covering) {
                (true, true) => "Single-row covering index lookup".to_owned(),
                (true, false) => "Single-row index lookup".to_owned(),
                (false, _) => lower("Index", " lookup"),
            };
            format!("{how} on {alias} using {index} ({}){reverse}", lookup(table, access))
        }
        Kind::Range if access.skipped > 0 => {
            let over = ranges_line(&ranges(table, access));
            format!("{} on {alias} using {index} over {over}{reverse}", lower("Index", " skip scan"))
        }
        Kind::Range => {
            let over = ranges_line(&ranges(table, access));
            format!("{} on {alias} using {index} over {over}{reverse}", lower("Index", " range scan"))
        }
    };
    let mut step = Step::new(name, "index").with("covering", covering).with("index_name", index);
    if access.backward {
        step = step.with("reverse", true);
    }
    let columns = || {
        let columns = key_columns(table, access).into_iter().take(key_parts(access));
        columns.map(|column| column.name.clone()).collect::<Vec<_>>()
    };
    match kind {
        Kind::Table | Kind::Scan => step.with("index_access_type", "index_scan"),
        Kind::Lookup => step
            .with("index_access_type", "index_lookup")
            .with("key_columns", columns())
            .with("lookup_condition", lookup(table, access))
            .with("lookup_references", references(access)),
        Kind::Range => step
            .with("index_access_type", "index_range_scan")
            .with("key_columns", columns())
            .with("ranges", ranges(table, access)),
    }
}

/// Ways to read a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Table,
    Scan,
    Lookup,
    Range,
}

fn access_kind(access: &Access) -> Kind {
    if !access.alternatives.is_empty() {
        Kind::Range
    } else if !access.equals.is_empty() {
        Kind::Lookup
    } else if access.index > 0 || access.backward {
        Kind::Scan
    } else {
        Kind::Table
    }
}
