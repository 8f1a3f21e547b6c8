//! FORMAT=JSON of version 1: query blocks, and in each what is done with its tables.

use palisade_catalog::SqlType;
use palisade_engine::Table;
use palisade_expr::Expr;
use palisade_plan::cost::ROW_IN_ORDER;
use palisade_plan::json_table;
use palisade_plan::note::{Estimate, Note, estimate};
use palisade_plan::{JoinKind, Merge, Operator, Plan, Query, SetStep};

use super::Numbers;
use super::document::{Document, Object};
use super::reading::{
    UsedColumns, access_type, index_name, key_columns, key_length, possible_keys, references, subqueries_in,
};
use super::rows::{filtered, merge_of, merged_scans, partitions_of, scan_of};
use super::text::shown_cost;

/// Makes the blocks of a plan.
pub(super) struct Blocks<'p> {
    plan: &'p Plan,
    used: UsedColumns,
    numbers: Numbers,
    /// Subqueries that stand somewhere already.
    shown: Vec<usize>,
}

/// A table of a join.
struct Part {
    table: Object,
    /// What follows the costs.
    rest: Object,
    /// Rows that it gives, and what it costs, with all that is joined before it.
    prefix: Estimate,
    row_bytes: f64,
    has_costs: bool,
    conditions: Vec<String>,
    subqueries: Vec<Object>,
    kept: Option<Object>,
}

/// The document of a statement's plan.
pub(super) fn document(plan: &Plan) -> Document {
    let used = UsedColumns::of(plan);
    let mut blocks = Blocks { plan, used, numbers: Numbers::new(plan), shown: Vec::new() };
    let block = blocks.statement();
    let mut object = Object::default();
    object.add("query_block", block);
    object.into()
}

impl Blocks<'_> {
    fn statement(&mut self) -> Object {
        let plan = self.plan;
        let inserted = plan.purpose.inserted();
        let mut block = match &plan.query {
            Some(query) if inserted.is_none() => self.query(query, 1, Object::default()),
            query => {
                let mut block = Object::default();
                block.add("select_id", 1u64);
                if let Some((verb, name)) = inserted {
                    let mut table = Object::default();
                    table.add(if verb == "REPLACE" { "replace" } else { "insert" }, true);
                    table.add("table_name", name);
                    if !plan.purpose.partitions().is_empty() {
                        table.add("partitions", plan.purpose.partitions().to_vec());
                    }
                    table.add("access_type", "ALL");
                    block.add("table", table);
                }
                if let Some(query) = query {
                    let mut from = Object::default();
                    self.body(&query.root, &mut from);
                    block.add("insert_from", from);
                }
                block
            }
        };
        let rest: Vec<usize> =
            (0..plan.subqueries.len()).filter(|number| !self.shown.contains(number)).collect();
        let rest: Vec<Object> = rest.into_iter().filter_map(|number| self.subquery(number)).collect();
        if !rest.is_empty() {
            block.add("optimized_away_subqueries", rest);
        }
        block
    }

    /// The block of a query.
    fn query(&mut self, query: &Query, id: u64, head: Object) -> Object {
        let mut block = Object::default();
        if let Some((inputs, steps, is_sorted)) = combined(&query.root, false) {
            block.add("union_result", self.combination(inputs, steps, is_sorted, id));
            return block;
        }
        block.add("select_id", id);
        block.extend(head);
        if query.root.names_tables() {
            block.add("cost_info", costs([("query_cost", estimate(&query.root).cost)]));
        }
        self.body(&query.root, &mut block);
        let mut asked = Vec::new();
        query.output.iter().for_each(|expr| subqueries_in(expr, &mut asked));
        self.select_list(asked, &mut block);
        block
    }

    fn select_list(&mut self, asked: Vec<usize>, block: &mut Object) {
        let selected: Vec<Object> = asked.into_iter().filter_map(|number| self.subquery(number)).collect();
        if !selected.is_empty() {
            block.add("select_list_subqueries", selected);
        }
    }

    fn subquery(&mut self, number: usize) -> Option<Object> {
        let query = self.plan.subqueries.get(number)?.as_ref()?;
        if self.shown.contains(&number) {
            return None;
        }
        self.shown.push(number);
        let is_dependent = !query.outer_slots.is_empty();
        let block = self.query(query, number as u64 + 2, Object::default());
        Some(specification(is_dependent, block))
    }

    fn combination(&mut self, inputs: &[Operator], steps: &[SetStep], is_sorted: bool, id: u64) -> Object {
        let mut ids = Vec::new();
        let mut specifications = Vec::new();
        for (number, input) in inputs.iter().enumerate() {
            let id = if number == 0 { id } else { self.numbers.next() };
            ids.push(id.to_string());
            let mut block = Object::default();
            block.add("select_id", id);
            if input.names_tables() {
                block.add("cost_info", costs([("query_cost", estimate(input).cost)]));
            }
            self.body(input, &mut block);
            specifications.push(specification(false, block));
        }
        let is_kept = is_sorted || steps.iter().any(|step| *step != SetStep::UnionAll);
        let mut result = Object::default();
        result.add("using_temporary_table", is_kept);
        if is_kept {
            let word = match steps.last() {
                Some(SetStep::Except { .. }) => "except",
                Some(SetStep::Intersect { .. }) => "intersect",
                _ => "union",
            };
            result.add("select_id", self.numbers.next());
            result.add("table_name", format!("<{word}{}>", ids.join(",")));
            result.add("access_type", "ALL");
            if is_sorted {
                result.add("using_filesort", true);
            }
        }
        result.add("query_specifications", specifications);
        result
    }

    /// Adds what a block does, from its end to its tables.
    fn body(&mut self, operator: &Operator, block: &mut Object) {
        let nested = |name: &'static str,
                      mut head: Object,
                      input: &Operator,
                      blocks: &mut Self,
                      block: &mut Object| {
            blocks.body(input, &mut head);
            block.add(name, head);
        };
        let mut head = Object::default();
        match operator {
            tables if is_join(tables) => self.joins(tables, block),
            Operator::Noted { input, .. } | Operator::Limit { input, .. } => self.body(input, block),
            Operator::Project { input, output, .. } => {
                self.body(input, block);
                let mut asked = Vec::new();
                output.iter().for_each(|expr| subqueries_in(expr, &mut asked));
                self.select_list(asked, block);
            }
            Operator::Sort { input, .. } => {
                head.add("using_filesort", true);
                nested("ordering_operation", head, input, self, block);
            }
            Operator::FirstOfEach { input, .. } => {
                head.add("using_filesort", false);
                nested("duplicates_removal", head, input, self, block);
            }
            Operator::Aggregate { input, group, in_groups, .. } if !group.is_empty() => {
                if !in_groups {
                    head.add("using_temporary_table", true);
                }
                head.add("using_filesort", false);
                nested("grouping_operation", head, input, self, block);
            }
            Operator::Aggregate { input, .. } => self.body(input, block),
            Operator::Distinct { input, .. } => {
                head.add("using_temporary_table", true);
                head.add("using_filesort", false);
                nested("duplicates_removal", head, input, self, block);
            }
            Operator::Window { input, window } => {
                let mut shown = Object::default();
                shown.add("name", "<unnamed window>");
                if window.sorts() {
                    let keys = window.partition.iter().chain(&window.order);
                    let keys: Vec<String> = keys.map(|key| key.expr.to_string()).collect();
                    shown.add("using_filesort", true);
                    shown.add("filesort_key", keys);
                }
                head.add("windows", vec![shown]);
                nested("windowing", head, input, self, block);
            }
            // HAVING stands above groups, and is not shown there.
            Operator::Filter { input, condition } if input.names_tables() => {
                self.body(input, block);
                let mut asked = Vec::new();
                subqueries_in(condition, &mut asked);
                let asked: Vec<Object> =
                    asked.into_iter().filter_map(|number| self.subquery(number)).collect();
                if !asked.is_empty() {
                    block.add("having_subqueries", asked);
                }
            }
            Operator::Dual | Operator::Values { .. } => block.add("message", "No tables used"),
            Operator::Nothing => block.add("message", "Impossible WHERE"),
            Operator::Filter { input, .. } => self.body(input, block),
            Operator::Union { inputs, steps, .. } => {
                let id = self.numbers.next();
                let result = self.combination(inputs, steps, false, id);
                block.add("union_result", result);
            }
            tables => self.joins(tables, block),
        }
    }

    fn joins(&mut self, operator: &Operator, block: &mut Object) {
        let mut parts = Vec::new();
        self.tables(operator, None, &mut parts);
        let mut before = 0.0;
        let mut tables = Vec::with_capacity(parts.len());
        for part in parts {
            let prefix = part.prefix.cost;
            let mut object = Object::default();
            object.add("table", part.finish(before));
            before = prefix;
            tables.push(object);
        }
        match tables.len() {
            1 => tables.into_iter().for_each(|table| block.extend(table)),
            _ => block.add("nested_loop", tables),
        }
    }

    fn tables(&mut self, operator: &Operator, note: Option<&Note>, out: &mut Vec<Part>) {
        let start = out.len();
        match operator {
            Operator::Noted { input, note } => self.tables(input, Some(note), out),
            Operator::Filter { input, condition } => {
                self.tables(input, None, out);
                self.attach(condition, out);
            }
            Operator::NestedLoop { left, right, kind, condition } => {
                self.tables(left, None, out);
                let left = out.len();
                self.tables(right, None, out);
                let (left_parts, parts) = out.split_at_mut_checked(left).unwrap_or_default();
                if let Some(last) = parts.last_mut() {
                    match kind {
                        JoinKind::Semi => {
                            let name = left_parts.last().map_or_else(String::new, Part::name);
                            last.table.add("first_match", name);
                        }
                        JoinKind::Anti => last.table.add("not_exists", true),
                        JoinKind::Inner | JoinKind::Left => {}
                    }
                }
                condition.iter().for_each(|condition| self.attach(condition, out));
            }
            Operator::HashJoin { left, right, keys, condition, .. } => {
                self.tables(left, None, out);
                let first = out.len();
                self.tables(right, None, out);
                if let Some(part) = out.get_mut(first) {
                    part.table.add("using_join_buffer", "hash join");
                    part.conditions.extend(keys.iter().map(|(left, right, _)| format!("({left} = {right})")));
                }
                condition.iter().for_each(|condition| self.attach(condition, out));
            }
            Operator::Scan { .. } => out.push(self.scan(operator, note)),
            Operator::IndexMerge { inputs, kind, rows } => {
                out.extend(self.merged((inputs, *kind), *rows, note));
            }
            Operator::Virtual { alias, filter, .. } | Operator::Working { alias, filter, .. } => {
                out.push(Part::plain(alias, estimate(operator)));
                filter.iter().for_each(|filter| self.attach(filter, out));
            }
            Operator::Derived { query, alias, filter, .. }
                if json_table::of_operator(&query.root).is_some() =>
            {
                let mut part =
                    Part::plain(alias, note.map_or_else(|| estimate(operator), |note| note.estimate));
                part.table.add("table_function", "json_table");
                part.table.add("using_temporary_table", true);
                out.push(part);
                filter.iter().for_each(|filter| self.attach(filter, out));
            }
            Operator::Derived { query, alias, filter, subquery, .. } => {
                let mut part =
                    Part::plain(alias, note.map_or_else(|| estimate(operator), |note| note.estimate));
                let id = subquery.map_or_else(|| self.numbers.next(), |number| number as u64 + 2);
                let is_dependent = !query.outer_slots.is_empty();
                let block = self.query(query, id, Object::default());
                part.kept = Some(kept(is_dependent, block));
                out.push(part);
                filter.iter().for_each(|filter| self.attach(filter, out));
            }
            Operator::Recursive { recursion, alias, filter, .. } => {
                let mut part = Part::plain(alias, estimate(operator));
                let mut specifications = Vec::new();
                for (number, query) in recursion.queries().enumerate() {
                    let mut head = Object::default();
                    if number > 0 {
                        head.add("recursive", true);
                    }
                    let id = self.numbers.next();
                    specifications.push(specification(false, self.query(query, id, head)));
                }
                let mut result = Object::default();
                result.add("using_temporary_table", false);
                result.add("query_specifications", specifications);
                let mut block = Object::default();
                block.add("union_result", result);
                part.kept = Some(kept(!recursion.outer_slots.is_empty(), block));
                out.push(part);
                filter.iter().for_each(|filter| self.attach(filter, out));
            }
            other => other.inputs().iter().for_each(|input| self.tables(input, None, out)),
        }
        // A join's estimate is of all that is joined so far.
        if let (Some(note), Some(last)) = (note, out.get_mut(start..).and_then(|parts| parts.last_mut())) {
            last.prefix = note.estimate;
        }
    }

    /// A condition that is decided where the last table's row is in place.
    fn attach(&mut self, condition: &Expr, out: &mut [Part]) {
        let mut asked = Vec::new();
        subqueries_in(condition, &mut asked);
        let asked: Vec<Object> = asked.into_iter().filter_map(|number| self.subquery(number)).collect();
        if let Some(part) = out.last_mut() {
            part.conditions.push(condition.to_string());
            part.subqueries.extend(asked);
        }
    }

    /// A table that is read by several indexes.
    fn merged(
        &mut self,
        (inputs, kind): (&[Operator], Merge),
        rows: f64,
        note: Option<&Note>,
    ) -> Option<Part> {
        let scans: Vec<&Operator> = merged_scans(inputs, kind).iter().filter_map(scan_of).collect();
        let Operator::Scan { slot, table, alias, .. } = scan_of(inputs.last()?)? else { return None };
        let (mut names, mut lengths) = (Vec::new(), Vec::new());
        for scan in &scans {
            let Operator::Scan { table, access, .. } = scan else { continue };
            names.push(index_name(table, access).to_owned());
            lengths.push(key_length(table, access).to_string());
        }
        let all = Estimate { rows, cost: 0.0, startup: None };
        let mut part = Part::plain(alias, note.map_or(all, |note| note.estimate));
        let mut shown = Object::default();
        shown.add("table_name", alias.as_str());
        shown.add("access_type", "index_merge");
        shown.add("possible_keys", names.clone());
        shown.add("key", merge_of(inputs, kind));
        shown.add("key_length", lengths.join(","));
        shown.add("rows_examined_per_scan", rows.max(1.0).round() as u64);
        let mut rest = Object::default();
        rest.add("filtered", "100.00".to_owned());
        let mut used = Object::default();
        used.add("used_columns", self.used.names(*slot, table));
        (part.table, part.rest, part.kept) = (shown, rest, Some(used));
        (part.has_costs, part.row_bytes) = (true, row_bytes(table));
        Some(part)
    }

    fn scan(&mut self, operator: &Operator, note: Option<&Note>) -> Part {
        let prefix = note.map_or_else(|| estimate(operator), |note| note.estimate);
        let Operator::Scan { slot, table, alias, access, filter, rows, .. } = operator else {
            return Part::plain("", prefix);
        };
        let mut shown = Object::default();
        if let Some(verb) = self.plan.purpose.verb_of(*slot) {
            shown.add(if verb == "UPDATE" { "update" } else { "delete" }, true);
        }
        shown.add("table_name", alias.as_str());
        if let Some(names) = partitions_of(table, access).filter(|names| !names.is_empty()) {
            shown.add("partitions", names);
        }
        shown.add("access_type", access_type(access));
        let reading = note.and_then(|note| note.reading);
        let possible = possible_keys(table, access, reading);
        if !possible.is_empty() {
            shown.add("possible_keys", possible);
        }
        if access_type(access) != "ALL" {
            shown.add("key", index_name(table, access));
            let columns = key_columns(table, access).into_iter().map(|column| column.name.clone());
            shown.add("used_key_parts", columns.collect::<Vec<_>>());
            shown.add("key_length", key_length(table, access).to_string());
        }
        let references = references(access);
        if !references.is_empty() {
            shown.add("ref", references);
        }
        let examined = reading.map_or(*rows, |reading| reading.examined);
        shown.add("rows_examined_per_scan", examined.max(1.0).round() as u64);
        let mut rest = Object::default();
        rest.add("filtered", format!("{:.2}", filtered(*rows, examined)));
        if access.backward {
            rest.add("backward_index_scan", true);
        }
        if access.covering {
            rest.add("using_index", true);
        }
        let mut part = Part::plain(alias, prefix);
        part.table = shown;
        part.has_costs = true;
        part.row_bytes = row_bytes(table);
        part.rest = rest;
        let mut used = Object::default();
        used.add("used_columns", self.used.names(*slot, table));
        part.kept = Some(used);
        let mut parts = [part];
        filter.iter().for_each(|filter| self.attach(filter, &mut parts));
        let [part] = parts;
        part
    }
}

impl Part {
    fn plain(alias: &str, prefix: Estimate) -> Part {
        let mut table = Object::default();
        table.add("table_name", alias);
        table.add("access_type", "ALL");
        Part {
            table,
            rest: Object::default(),
            prefix,
            row_bytes: 0.0,
            has_costs: false,
            conditions: Vec::new(),
            subqueries: Vec::new(),
            kept: None,
        }
    }

    fn name(&self) -> String {
        self.table.text_of("table_name").unwrap_or_default().to_owned()
    }

    /// The table; what is joined before it costs `before`.
    fn finish(self, before: f64) -> Object {
        let Part { mut table, rest, prefix, row_bytes, has_costs, conditions, subqueries, kept } = self;
        let rows = prefix.rows.round().max(0.0);
        table.add("rows_produced_per_join", rows as u64);
        table.extend(rest);
        if has_costs {
            let eval = (rows * ROW_IN_ORDER).min(prefix.cost);
            let read = (prefix.cost - before - eval).max(0.0);
            let mut info = costs([("read_cost", read), ("eval_cost", eval), ("prefix_cost", prefix.cost)]);
            info.add("data_read_per_join", bytes_text(rows * row_bytes));
            table.add("cost_info", info);
        }
        let (used, materialized) = if has_costs { (kept, None) } else { (None, kept) };
        table.extend(used.unwrap_or_default());
        match conditions.len() {
            0 => {}
            1 => conditions.into_iter().for_each(|condition| table.add("attached_condition", condition)),
            _ => table.add("attached_condition", format!("({})", conditions.join(" and "))),
        }
        if !subqueries.is_empty() {
            table.add("attached_subqueries", subqueries);
        }
        if let Some(materialized) = materialized {
            table.add("materialized_from_subquery", materialized);
        }
        table
    }
}

fn specification(is_dependent: bool, block: Object) -> Object {
    let mut object = Object::default();
    object.add("dependent", is_dependent);
    object.add("cacheable", !is_dependent);
    object.add("query_block", block);
    object
}

fn kept(is_dependent: bool, block: Object) -> Object {
    let mut object = Object::default();
    object.add("using_temporary_table", true);
    object.extend(specification(is_dependent, block));
    object
}

fn costs<const N: usize>(members: [(&'static str, f64); N]) -> Object {
    let mut object = Object::default();
    for (name, cost) in members {
        object.add(name, format!("{:.2}", shown_cost(cost)));
    }
    object
}

/// Whether it reads and joins tables, and does nothing else with them.
fn is_join(operator: &Operator) -> bool {
    match operator {
        Operator::Noted { input, .. } | Operator::Filter { input, .. } => is_join(input),
        Operator::Scan { .. }
        | Operator::IndexMerge { .. }
        | Operator::Virtual { .. }
        | Operator::NestedLoop { .. }
        | Operator::HashJoin { .. }
        | Operator::Derived { .. }
        | Operator::Recursive { .. }
        | Operator::Working { .. } => true,
        _ => false,
    }
}

/// The inputs of a query that is a combination, and whether what comes out is sorted.
fn combined(operator: &Operator, is_sorted: bool) -> Option<(&[Operator], &[SetStep], bool)> {
    super::rows::combination(operator, is_sorted)
}

/// Bytes of a row as a temporary table would hold it.
fn row_bytes(table: &Table) -> f64 {
    let bytes = |ty: &SqlType| match ty {
        SqlType::Char { length, collation } | SqlType::VarChar { length, collation } => {
            u64::from(*length) * u64::from(collation.get().charset.max_bytes()) + 2
        }
        SqlType::Int { width, .. } => width.bytes() as u64,
        other => u64::from(other.wire_length(1)).min(12),
    };
    table.columns.iter().map(|column| bytes(&column.sql_type)).sum::<u64>() as f64
}

/// `96`, `46K`, `11M`.
fn bytes_text(bytes: f64) -> String {
    let mut bytes = bytes;
    for unit in ["", "K", "M", "G", "T", "P"] {
        if bytes < 1024.0 {
            return format!("{}{unit}", bytes.floor());
        }
        bytes /= 1024.0;
    }
    format!("{}E", bytes.floor())
}
