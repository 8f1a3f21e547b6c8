//! FORMAT=TRADITIONAL: a row for each table, in the order in which they are joined.

use std::sync::Arc;

use palisade_catalog::{CollationId, SqlType, Value, ValueRef};
use palisade_engine::Table;
use palisade_expr::Node;
use palisade_plan::access::Access;
use palisade_plan::json_table;
use palisade_plan::note::Note;
use palisade_plan::partition::shown_names;
use palisade_plan::purpose::Purpose;
use palisade_plan::rules::is_never;
use palisade_plan::{JoinKind, Limit, Merge, Operator, Plan, Query, SetStep};
use palisade_session::sink::ColumnMeta;

use super::Numbers;
use super::reading::{access_type, index_name, key_length, key_parts, possible_keys, references};
use super::remade::{AllRemade, table_of};
use crate::{ResultSink, SqlResult};

/// A row.
#[derive(Debug, Default)]
struct Line {
    id: Option<u64>,
    select_type: &'static str,
    table: String,
    /// The partitions that are read, of a table that has any.
    partitions: Option<String>,
    access: &'static str,
    possible: Vec<String>,
    key: Option<String>,
    key_length: Option<String>,
    references: Vec<String>,
    rows: Option<f64>,
    filtered: Option<f64>,
    extra: Vec<String>,
}

/// Makes the rows of a plan.
pub(super) struct Lines<'p> {
    plan: &'p Plan,
    numbers: Numbers,
    lines: Vec<Line>,
    /// Queries that are tables of the block whose rows are made, with their numbers.
    inner: Vec<(u64, Inner)>,
    remade: AllRemade,
    /// The lines of tables, by their slots.
    of_slots: Vec<(usize, usize)>,
    /// Rows that a step of the recursion whose rows are made reads of those before.
    working: f64,
}

/// A query whose rows follow those of the block that reads it.
enum Inner {
    Derived(Arc<Query>),
    Materialized(Arc<Query>),
    Recursive(Arc<palisade_plan::Recursion>),
}

/// The rows of a statement's plan.
pub(super) fn send(plan: &Plan, sink: &mut dyn ResultSink) -> SqlResult<()> {
    let mut lines = Lines {
        plan,
        numbers: Numbers::new(plan),
        lines: Vec::new(),
        inner: Vec::new(),
        remade: AllRemade::of(plan),
        of_slots: Vec::new(),
        working: 0.0,
    };
    lines.statement();
    send_lines(&lines.lines, sink)
}

impl Lines<'_> {
    fn statement(&mut self) {
        if let Some((select_type, table)) = self.plan.purpose.inserted() {
            if let Some(why) = self.plan.query.as_ref().and_then(|query| nothing(&query.root)) {
                let extra = vec![why.to_owned()];
                return self.lines.push(Line { id: Some(1), select_type, extra, ..Line::default() });
            }
            let table = table.to_owned();
            let partitions = Some(self.plan.purpose.partitions().join(","));
            let access = "ALL";
            self.lines.push(Line { id: Some(1), select_type, table, partitions, access, ..Line::default() });
        }
        let plan = self.plan;
        let Some(query) = &plan.query else { return };
        if let Purpose::Change(change) = &plan.purpose
            && change.is_of_one_table
            && reads_no_partition(&query.root)
        {
            let select_type = if change.is_update { "UPDATE" } else { "DELETE" };
            let extra = vec!["No matching rows after partition pruning".to_owned()];
            return self.lines.push(Line { id: Some(1), select_type, extra, ..Line::default() });
        }
        let is_simple = plan.subqueries.iter().all(Option::is_none) && !has_parts(&query.root);
        self.query(query, 1, if is_simple { "SIMPLE" } else { "PRIMARY" });
        for (number, subquery) in plan.subqueries.iter().enumerate() {
            let Some(subquery) = subquery else { continue };
            let is_dependent = !subquery.outer_slots.is_empty();
            let kind = if is_dependent { "DEPENDENT SUBQUERY" } else { "SUBQUERY" };
            self.query(subquery, number as u64 + 2, kind);
        }
    }

    fn query(&mut self, query: &Query, id: u64, select_type: &'static str) {
        self.whole_block(&query.root, id, select_type);
    }

    /// A block, and behind its rows those of the queries that are its tables.
    fn whole_block(&mut self, root: &Operator, id: u64, select_type: &'static str) {
        let outer = std::mem::take(&mut self.inner);
        self.block(root, id, select_type);
        let inner = std::mem::replace(&mut self.inner, outer);
        for (id, inner) in inner {
            match inner {
                Inner::Derived(query) => {
                    let is_dependent = !query.outer_slots.is_empty();
                    self.query(&query, id, if is_dependent { "DEPENDENT DERIVED" } else { "DERIVED" });
                }
                Inner::Materialized(query) => self.query(&query, id, "MATERIALIZED"),
                Inner::Recursive(recursion) => {
                    self.query(&recursion.seed, id, "DERIVED");
                    let before = self.working;
                    for (step, working) in recursion.steps.iter().zip(Recursed::of(&recursion).working) {
                        self.working = working;
                        let id = self.numbers.next();
                        let start = self.lines.len();
                        self.query(step, id, "UNION");
                        if let Some(line) = self.lines.get_mut(start) {
                            line.extra.insert(0, "Recursive".to_owned());
                        }
                    }
                    self.working = before;
                }
            }
        }
    }

    fn block(&mut self, root: &Operator, id: u64, select_type: &'static str) {
        if let Some((inputs, steps, is_sorted)) = combination(root, false) {
            return self.combination(inputs, steps, is_sorted, (id, select_type));
        }
        if let Some(why) = nothing(root) {
            let extra = vec![why.to_owned()];
            return self.lines.push(Line { id: Some(id), select_type, extra, ..Line::default() });
        }
        let start = self.lines.len();
        self.tables(root, id, select_type, None);
        let mut extra = Vec::new();
        notes(root, &mut extra);
        match self.lines.get_mut(start) {
            Some(line) => line.extra.extend(extra.into_iter().map(str::to_owned)),
            None => {
                let extra = vec!["No tables used".to_owned()];
                self.lines.push(Line { id: Some(id), select_type, extra, ..Line::default() });
            }
        }
    }

    fn combination(
        &mut self,
        inputs: &[Operator],
        steps: &[SetStep],
        is_sorted: bool,
        (id, select_type): (u64, &'static str),
    ) {
        let mut ids = vec![id];
        self.block_of_input(inputs.first(), id, select_type);
        let (mut word, mut kind) = ("union", "UNION");
        for (input, step) in inputs.iter().skip(1).zip(steps) {
            let id = self.numbers.next();
            (word, kind) = match step {
                SetStep::Union | SetStep::UnionAll => ("union", "UNION"),
                SetStep::Except { .. } => ("except", "EXCEPT"),
                SetStep::Intersect { .. } => ("intersect", "INTERSECT"),
            };
            ids.push(id);
            let is_dependent = select_type == "DEPENDENT DERIVED" && kind == "UNION";
            self.block_of_input(Some(input), id, if is_dependent { "DEPENDENT UNION" } else { kind });
        }
        if !is_sorted && steps.iter().all(|step| *step == SetStep::UnionAll) {
            return;
        }
        let ids: Vec<String> = ids.iter().map(u64::to_string).collect();
        let mut extra = vec!["Using temporary".to_owned()];
        if is_sorted {
            extra.push("Using filesort".to_owned());
        }
        self.lines.push(Line {
            id: Some(self.numbers.next()),
            select_type: match kind {
                "EXCEPT" => "EXCEPT RESULT",
                "INTERSECT" => "INTERSECT RESULT",
                _ => "UNION RESULT",
            },
            table: format!("<{word}{}>", ids.join(",")),
            access: "ALL",
            extra,
            ..Line::default()
        });
    }

    fn block_of_input(&mut self, input: Option<&Operator>, id: u64, select_type: &'static str) {
        if let Some(input) = input {
            self.whole_block(input, id, select_type);
        }
    }

    fn tables(&mut self, operator: &Operator, id: u64, select_type: &'static str, note: Option<&Note>) {
        if let Some((slot, _)) = table_of(operator) {
            self.of_slots.push((slot, self.lines.len()));
        }
        match operator {
            Operator::Noted { input, note } => self.tables(input, id, select_type, Some(note)),
            Operator::Nothing => {
                let extra = vec!["Impossible WHERE".to_owned()];
                self.lines.push(Line { id: Some(id), select_type, extra, ..Line::default() });
            }
            Operator::Scan { .. } => self.scan(operator, id, select_type, note),
            Operator::IndexMerge { inputs, kind, rows } => {
                self.merged((inputs, *kind), *rows, id, select_type);
            }
            Operator::Virtual { table, alias, filter, .. } => {
                let table = if alias.is_empty() { table.name.to_owned() } else { alias.clone() };
                let extra = filter.iter().map(|_| "Using where".to_owned()).collect();
                let line = Line { id: Some(id), select_type, table, access: "ALL", extra, ..Line::default() };
                self.lines.push(line);
            }
            Operator::NestedLoop { left, right, kind, .. } => {
                self.tables(left, id, select_type, None);
                let left = self.lines.last().map(|line| line.table.clone()).unwrap_or_default();
                let start = self.lines.len();
                self.tables(right, id, select_type, None);
                let word = match kind {
                    JoinKind::Semi => format!("FirstMatch({left})"),
                    JoinKind::Anti => "Not exists".to_owned(),
                    JoinKind::Inner | JoinKind::Left => return,
                };
                // Of several tables the last one's match is the first.
                if let Some(line) = self.lines.get_mut(start..).and_then(|lines| lines.last_mut()) {
                    line.extra.push(word);
                }
            }
            Operator::HashJoin { left, right, .. } => {
                self.tables(left, id, select_type, None);
                let start = self.lines.len();
                self.tables(right, id, select_type, None);
                if let Some(line) = self.lines.get_mut(start) {
                    line.extra.push("Using join buffer (hash join)".to_owned());
                }
            }
            Operator::Derived { query, alias, filter, .. }
                if json_table::of_operator(&query.root).is_some() =>
            {
                let rows = palisade_plan::note::estimate(&query.root).rows;
                let part = filter.as_ref().map_or(1.0, palisade_plan::cost::selectivity);
                let mut extra = vec!["Table function: json_table".to_owned(), "Using temporary".to_owned()];
                extra.extend(filter.iter().map(|_| "Using where".to_owned()));
                self.lines.push(Line {
                    id: Some(id),
                    select_type,
                    table: alias.clone(),
                    access: "ALL",
                    rows: Some(rows),
                    filtered: Some(filtered(rows * part, rows)),
                    extra,
                    ..Line::default()
                });
            }
            Operator::Derived { slot, query, filter, subquery, .. } => {
                let rows = palisade_plan::note::estimate(&query.root).rows;
                let (number, inner) = match subquery {
                    Some(number) => (*number as u64 + 2, Inner::Materialized(query.clone())),
                    None => (self.numbers.next(), Inner::Derived(query.clone())),
                };
                self.remade_for_row(*slot, number);
                self.kept((id, select_type), rows, filter.is_some(), (number, inner));
            }
            Operator::Recursive { recursion, filter, .. } => {
                let rows = Recursed::of(recursion).rows;
                let inner = (self.numbers.next(), Inner::Recursive(recursion.clone()));
                self.kept((id, select_type), rows, filter.is_some(), inner);
            }
            Operator::Working { alias, filter, .. } => {
                let extra = filter.iter().map(|_| "Using where".to_owned()).collect();
                let part = filter.as_ref().map_or(1.0, palisade_plan::cost::selectivity);
                self.lines.push(Line {
                    id: Some(id),
                    select_type,
                    table: alias.clone(),
                    access: "ALL",
                    rows: Some(self.working),
                    filtered: Some(filtered(self.working * part, self.working)),
                    extra,
                    ..Line::default()
                });
            }
            Operator::Union { .. } => {}
            other => other.inputs().iter().for_each(|input| self.tables(input, id, select_type, None)),
        }
    }

    /// Says in the line of the table for whose rows the derived table of that number is made anew that it is.
    fn remade_for_row(&mut self, slot: usize, number: u64) {
        let row = self.remade.row_of(slot).map(|(row, _)| row);
        let place = self.of_slots.iter().find(|(slot, _)| Some(*slot) == row);
        if let Some(line) = place.and_then(|(_, line)| self.lines.get_mut(*line)) {
            line.extra.push(format!("Rematerialize (<derived{number}>)"));
        }
    }

    fn kept(
        &mut self,
        (id, select_type): (u64, &'static str),
        rows: f64,
        is_filtered: bool,
        (number, inner): (u64, Inner),
    ) {
        let kind = if matches!(inner, Inner::Materialized(_)) { "subquery" } else { "derived" };
        self.inner.push((number, inner));
        self.lines.push(Line {
            id: Some(id),
            select_type,
            table: format!("<{kind}{number}>"),
            access: "ALL",
            rows: Some(rows),
            filtered: Some(100.0),
            extra: if is_filtered { vec!["Using where".to_owned()] } else { Vec::new() },
            ..Line::default()
        });
    }

    /// One line of a table that is read by several indexes.
    fn merged(
        &mut self,
        (inputs, kind): (&[Operator], Merge),
        rows: f64,
        id: u64,
        select_type: &'static str,
    ) {
        let (mut names, mut lengths, mut of) = (Vec::new(), Vec::new(), String::new());
        let mut partitions = None;
        for input in merged_scans(inputs, kind).iter().filter_map(scan_of) {
            let Operator::Scan { table, access, alias, .. } = input else { continue };
            of.clone_from(alias);
            partitions = partitions_of(table, access).map(|names| names.join(","));
            names.push(index_name(table, access).to_owned());
            lengths.push(key_length(table, access).to_string());
        }
        let mut possible = names.clone();
        possible.dedup();
        self.lines.push(Line {
            id: Some(id),
            select_type,
            table: of,
            partitions,
            access: "index_merge",
            possible,
            key: Some(names.join(",")),
            key_length: Some(lengths.join(",")),
            rows: Some(rows.max(1.0)),
            filtered: Some(100.0),
            extra: vec![format!("Using {}", merge_of(inputs, kind)), "Using where".to_owned()],
            ..Line::default()
        });
    }

    fn scan(&mut self, operator: &Operator, id: u64, select_type: &'static str, note: Option<&Note>) {
        let Operator::Scan { slot, table, alias, access, filter, rows, .. } = operator else { return };
        let reading = note.and_then(|note| note.reading);
        let examined = reading.map_or(*rows, |reading| reading.examined);
        let is_read_by_key = access_type(access) != "ALL";
        self.lines.push(Line {
            id: Some(id),
            select_type: self.plan.purpose.verb_of(*slot).unwrap_or(select_type),
            table: alias.clone(),
            partitions: partitions_of(table, access).map(|names| names.join(",")),
            access: access_type(access),
            possible: possible_keys(table, access, reading),
            key: is_read_by_key.then(|| index_name(table, access).to_owned()),
            key_length: is_read_by_key.then(|| key_length(table, access).to_string()),
            references: references(access),
            rows: Some(examined.max(1.0)),
            filtered: Some(filtered(*rows, examined)),
            extra: scan_extra(access, filter.is_some()).into_iter().map(str::to_owned).collect(),
        });
    }
}

/// What is thought of the rows of a recursion, as MySQL does: each step is executed once.
struct Recursed {
    /// The rows that each step reads of those before.
    working: Vec<f64>,
    /// All rows.
    rows: f64,
}

impl Recursed {
    fn of(recursion: &palisade_plan::Recursion) -> Recursed {
        let rows_of = |query: &Query| palisade_plan::note::estimate(&query.root).rows;
        let mut rows = rows_of(&recursion.seed).max(1.0);
        let mut working = Vec::with_capacity(recursion.steps.len());
        for step in &recursion.steps {
            let read = rows.max(2.0);
            working.push(read);
            rows += rows_of(step) * read / palisade_plan::cost::WORKING_ROWS;
        }
        Recursed { working, rows }
    }
}

/// The scan that an operator is, without its note.
pub(super) fn scan_of(operator: &Operator) -> Option<&Operator> {
    match operator {
        Operator::Noted { input, .. } | Operator::Filter { input, .. } => scan_of(input),
        Operator::Scan { .. } => Some(operator),
        _ => None,
    }
}

/// The scans of the indexes that are read for one table.
pub(super) fn merged_scans(inputs: &[Operator], kind: Merge) -> &[Operator] {
    match (kind, inputs) {
        // The last one reads the rows.
        (Merge::Intersection, [entries @ .., _]) => entries,
        _ => inputs,
    }
}

/// How several indexes are read for one table, as MySQL names it: entries with one whole key lie in the order
/// of the rows.
pub(super) fn merge_of(inputs: &[Operator], kind: Merge) -> String {
    let (mut names, mut is_sorted) = (Vec::new(), true);
    for input in merged_scans(inputs, kind).iter().filter_map(scan_of) {
        let Operator::Scan { table, access, .. } = input else { continue };
        is_sorted &= access.finds_equal_entries(table);
        names.push(index_name(table, access));
    }
    let name = match kind {
        Merge::Intersection => "intersect",
        Merge::Union | Merge::LockedUnion if is_sorted => "union",
        Merge::Union | Merge::LockedUnion => "sort_union",
    };
    format!("{name}({})", names.join(","))
}

/// The part of the rows that a filter leaves, in percent.
pub(super) fn filtered(rows: f64, examined: f64) -> f64 {
    let percent = (rows / examined.max(1.0) * 100.0).clamp(0.01, 100.0);
    (percent * 100.0).round() / 100.0
}

/// The names of the partitions that a path reads as far as that is known when it is planned; `None` of a
/// table that has none.
pub(super) fn partitions_of(table: &Table, access: &Access) -> Option<Vec<String>> {
    let pruning = access.pruning.as_ref()?;
    Some(shown_names(table, &pruning.planned))
}

fn scan_extra(access: &Access, is_filtered: bool) -> Vec<&'static str> {
    let mut extra = Vec::new();
    let ranged = !access.alternatives.is_empty();
    if ranged && !access.covering && access.index > 0 && !is_filtered {
        extra.push("Using index condition");
    } else if is_filtered || ranged {
        extra.push("Using where");
    }
    if access.backward {
        extra.push("Backward index scan");
    }
    if access.loose.is_some() {
        extra.push("Using index for group-by");
    } else if access.skipped > 0 {
        extra.push("Using index for skip scan");
    } else if access.covering {
        extra.push("Using index");
    }
    debug_assert!(key_parts(access) > 0 || !access.unique, "a whole key has parts");
    extra
}

/// The inputs of a block that is a combination, how they are combined, and whether what comes out is sorted.
pub(super) fn combination(operator: &Operator, is_sorted: bool) -> Option<(&[Operator], &[SetStep], bool)> {
    match operator {
        Operator::Union { inputs, steps, .. } => Some((inputs, steps, is_sorted)),
        Operator::Sort { input, .. } => combination(input, true),
        Operator::Noted { input, .. } | Operator::Limit { input, .. } | Operator::Project { input, .. } => {
            combination(input, is_sorted)
        }
        _ => None,
    }
}

/// Whether a query has queries in it.
fn has_parts(operator: &Operator) -> bool {
    match operator {
        Operator::Derived { query, .. } if json_table::of_operator(&query.root).is_some() => false,
        Operator::Derived { subquery: None, .. } | Operator::Recursive { .. } | Operator::Union { .. } => {
            true
        }
        _ => operator.inputs().iter().any(|input| has_parts(input)),
    }
}

/// Whether what is read is a table of which no partition is left.
fn reads_no_partition(operator: &Operator) -> bool {
    match operator {
        Operator::Scan { access, .. } => {
            access.pruning.as_ref().is_some_and(|pruning| pruning.planned.is_empty())
        }
        Operator::Noted { input, .. }
        | Operator::Filter { input, .. }
        | Operator::Sort { input, .. }
        | Operator::Limit { input, .. } => reads_no_partition(input),
        _ => false,
    }
}

/// Why a block gives no rows, if that is plain, in MySQL's words.
fn nothing(operator: &Operator) -> Option<&'static str> {
    let is_zero = |limit: &Limit| matches!(limit.count.node, Node::Literal(Value::Int(0) | Value::UInt(0)));
    match operator {
        Operator::Nothing => Some("Impossible WHERE"),
        Operator::Limit { limit, .. } | Operator::Sort { limit: Some(limit), .. } if is_zero(limit) => {
            Some("Zero limit")
        }
        Operator::Filter { condition, input } if is_never(condition) => Some(match &**input {
            Operator::Noted { input, .. } if matches!(**input, Operator::Aggregate { .. }) => {
                "Impossible HAVING"
            }
            Operator::Aggregate { .. } => "Impossible HAVING",
            _ => "Impossible WHERE",
        }),
        Operator::Noted { input, .. }
        | Operator::Limit { input, .. }
        | Operator::Sort { input, .. }
        | Operator::Project { input, .. } => nothing(input),
        _ => None,
    }
}

/// What sorting and grouping add to the first table's line.
fn notes(operator: &Operator, out: &mut Vec<&'static str>) {
    let mut add = |word: &'static str| {
        if !out.contains(&word) {
            out.push(word);
        }
    };
    match operator {
        Operator::Sort { input, distinct, .. } => {
            notes(input, out);
            if *distinct && !out.contains(&"Using temporary") {
                out.push("Using temporary");
            }
            if !out.contains(&"Using filesort") {
                out.push("Using filesort");
            }
        }
        Operator::Distinct { input, .. } => {
            add("Using temporary");
            notes(input, out);
        }
        Operator::Aggregate { input, group, in_groups, .. } => {
            if !group.is_empty() && !in_groups {
                add("Using temporary");
            }
            notes(input, out);
        }
        Operator::Window { input, window } => {
            notes(input, out);
            if window.sorts() && !out.contains(&"Using filesort") {
                out.push("Using filesort");
            }
        }
        Operator::Filter { input, .. }
        | Operator::FirstOfEach { input, .. }
        | Operator::Project { input, .. }
        | Operator::Noted { input, .. }
        | Operator::Limit { input, .. } => notes(input, out),
        _ => {}
    }
}

fn send_lines(lines: &[Line], sink: &mut dyn ResultSink) -> SqlResult<()> {
    let text = |length| SqlType::VarChar { length, collation: CollationId::UTF8MB4_0900_AI_CI };
    let columns = [
        ("id", SqlType::BIGINT_UNSIGNED),
        ("select_type", text(19)),
        ("table", text(64)),
        ("partitions", text(1024)),
        ("type", text(10)),
        ("possible_keys", text(4096)),
        ("key", text(64)),
        ("key_len", text(4096)),
        ("ref", text(1024)),
        ("rows", SqlType::BIGINT_UNSIGNED),
        ("filtered", SqlType::Double { unsigned: false, digits: Some((10, 2)) }),
        ("Extra", text(255)),
    ];
    let metas: Vec<ColumnMeta> =
        columns.into_iter().map(|(name, ty)| ColumnMeta::computed(name, ty)).collect();
    sink.columns(&metas)?;
    let optional = |text: String| if text.is_empty() { Value::Null } else { Value::bytes(text) };
    for line in lines {
        let row = [
            line.id.map_or(Value::Null, Value::UInt),
            Value::bytes(line.select_type),
            optional(line.table.clone()),
            optional(line.partitions.clone().unwrap_or_default()),
            optional(line.access.to_owned()),
            optional(line.possible.join(",")),
            line.key.as_deref().map_or(Value::Null, Value::bytes),
            line.key_length.as_deref().map_or(Value::Null, Value::bytes),
            optional(line.references.join(",")),
            line.rows.map_or(Value::Null, |rows| Value::UInt(rows.round() as u64)),
            line.filtered.map_or(Value::Null, Value::Double),
            optional(line.extra.join("; ")),
        ];
        let values: Vec<ValueRef<'_>> = row.iter().map(Value::as_ref).collect();
        sink.row(&values)?;
    }
    Ok(())
}
