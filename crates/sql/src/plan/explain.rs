//! EXPLAIN: a plan as a table, or as a tree.

use palisade_base::error_catalogue::ER_WRONG_ARGUMENTS;
use palisade_base::mysql_error;
use palisade_catalog::types::LobSize;
use palisade_catalog::{CollationId, SqlType, Value, ValueRef};
use palisade_engine::Table;
use palisade_parser::ast::ExplainFormat;

use super::access::{Access, index_columns};
use super::{JoinKind, Operator, Plan, Query};
use crate::SqlResult;
use crate::sink::{ColumnMeta, ResultSink};

/// One row of the traditional format.
#[derive(Debug, Default)]
struct Line {
    id: Option<u64>,
    select_type: &'static str,
    table: String,
    access: &'static str,
    possible: Option<String>,
    key: Option<String>,
    key_length: Option<String>,
    reference: Option<String>,
    rows: Option<f64>,
    filtered: bool,
    extra: Vec<&'static str>,
}

/// Sends the text of a plan. `select_type` is the name of what the statement does to the rows; SIMPLE for a query, which
/// may turn out to be PRIMARY.
pub fn explain(
    plan: &Plan,
    select_type: &'static str,
    format: ExplainFormat,
    sink: &mut dyn ResultSink,
) -> SqlResult<()> {
    let query = plan.query.as_ref().ok_or_else(|| mysql_error!(ER_WRONG_ARGUMENTS, "EXPLAIN"))?;
    if format == ExplainFormat::Tree {
        let mut text = String::new();
        tree(&query.root, 0, &mut text);
        let present = |(number, query)| Option::as_ref(query).map(|query| (number, query));
        for (number, subquery) in plan.subqueries.iter().enumerate().filter_map(present) {
            text.push_str(&format!("-> Select #{} (subquery in condition)\n", number + 2));
            tree(&subquery.root, 1, &mut text);
        }
        let ty = SqlType::Text { size: LobSize::Long, collation: CollationId::UTF8MB4_0900_AI_CI };
        sink.columns(&[ColumnMeta::computed("EXPLAIN", ty)])?;
        sink.row(&[ValueRef::Bytes(text.as_bytes())])?;
        return Ok(());
    }
    let mut lines = Vec::new();
    let mut next_id = 1;
    let simple =
        select_type == "SIMPLE" && plan.subqueries.iter().all(Option::is_none) && !has_parts(&query.root);
    let first = if simple || select_type != "SIMPLE" { select_type } else { "PRIMARY" };
    query_lines(query, first, &mut next_id, &mut lines);
    for subquery in plan.subqueries.iter().flatten() {
        let kind = if subquery.outer_slots.is_empty() { "SUBQUERY" } else { "DEPENDENT SUBQUERY" };
        next_id += 1;
        query_lines(subquery, kind, &mut next_id, &mut lines);
    }
    send_lines(&lines, sink)
}

/// Sends the line of an INSERT whose rows no query finds.
pub fn explain_insert(table: &str, sink: &mut dyn ResultSink) -> SqlResult<()> {
    let line = Line {
        id: Some(1),
        select_type: "INSERT",
        table: table.to_owned(),
        access: "ALL",
        ..Line::default()
    };
    send_lines(&[line], sink)
}

fn has_parts(operator: &Operator) -> bool {
    match operator {
        Operator::Derived { .. } | Operator::Recursive { .. } | Operator::Union { .. } => true,
        _ => operator.inputs().iter().any(|input| has_parts(input)),
    }
}

fn query_lines(query: &Query, select_type: &'static str, next_id: &mut u64, lines: &mut Vec<Line>) {
    let start = lines.len();
    let id = *next_id;
    operator_lines(&query.root, id, select_type, next_id, lines);
    if lines.len() == start {
        lines.push(Line { id: Some(id), select_type, extra: vec!["No tables used"], ..Line::default() });
    }
    let mut sorts = Vec::new();
    notes(&query.root, &mut sorts);
    if let Some(line) = lines.get_mut(start) {
        line.extra.extend(sorts);
    }
}

/// What sorting and grouping add to the first table's line.
fn notes(operator: &Operator, out: &mut Vec<&'static str>) {
    match operator {
        Operator::Sort { input, distinct, .. } => {
            notes(input, out);
            if *distinct {
                out.push("Using temporary");
            }
            out.push("Using filesort");
        }
        Operator::Distinct { input, .. } => {
            notes(input, out);
            out.push("Using temporary");
        }
        Operator::Aggregate { input, group, .. } => {
            notes(input, out);
            if !group.is_empty() {
                out.push("Using temporary");
            }
        }
        Operator::Filter { input, .. } | Operator::Project { input, .. } | Operator::Limit { input, .. } => {
            notes(input, out)
        }
        _ => {}
    }
}

fn operator_lines(
    operator: &Operator,
    id: u64,
    select_type: &'static str,
    next_id: &mut u64,
    lines: &mut Vec<Line>,
) {
    match operator {
        Operator::Nothing => {
            lines.push(Line { id: Some(id), select_type, extra: vec!["Impossible WHERE"], ..Line::default() })
        }
        Operator::Scan { table, alias, access, filter, rows, .. } => {
            let mut extra = Vec::new();
            let ranged = !access.alternatives.is_empty();
            if ranged && !access.covering && access.index > 0 && filter.is_none() {
                extra.push("Using index condition");
            } else if filter.is_some() || ranged && access.index == 0 {
                extra.push("Using where");
            }
            if access.covering {
                extra.push("Using index");
            }
            let by_key = !access.equals.is_empty() || ranged || access.covering || access.index > 0;
            let constant = access.equals.iter().all(|part| is_constant(&part.value));
            let kind = if access.unique {
                if constant { "const" } else { "eq_ref" }
            } else if ranged {
                "range"
            } else if !access.equals.is_empty() {
                "ref"
            } else if by_key {
                "index"
            } else {
                "ALL"
            };
            let name = index_name(table, access).to_owned();
            let narrowed = !access.equals.is_empty() || ranged;
            lines.push(Line {
                id: Some(id),
                select_type,
                table: alias.clone(),
                access: kind,
                possible: narrowed.then(|| name.clone()),
                key: by_key.then_some(name),
                key_length: by_key.then(|| key_length(table, access).to_string()),
                reference: (!access.equals.is_empty() && !ranged).then(|| {
                    let names: Vec<String> =
                        access.equals.iter().map(|part| reference(&part.value)).collect();
                    names.join(",")
                }),
                rows: Some(if access.unique { 1.0 } else { rows.max(1.0) }),
                filtered: true,
                extra,
            });
        }
        Operator::Virtual { table, alias, filter, .. } => lines.push(Line {
            id: Some(id),
            select_type,
            table: if alias.is_empty() { table.name.to_owned() } else { alias.clone() },
            access: "ALL",
            rows: None,
            extra: if filter.is_some() { vec!["Using where"] } else { Vec::new() },
            ..Line::default()
        }),
        Operator::HashJoin { left, right, .. } => {
            operator_lines(left, id, select_type, next_id, lines);
            let start = lines.len();
            operator_lines(right, id, select_type, next_id, lines);
            if let Some(line) = lines.get_mut(start) {
                line.extra.push("Using join buffer (hash join)");
            }
        }
        Operator::Union { inputs, .. } => {
            for (number, input) in inputs.iter().enumerate() {
                if number == 0 {
                    operator_lines(input, id, "PRIMARY", next_id, lines);
                } else {
                    *next_id += 1;
                    operator_lines(input, *next_id, "UNION", next_id, lines);
                }
            }
        }
        Operator::Derived { query, .. } => {
            *next_id += 1;
            let inner = *next_id;
            lines.push(Line {
                id: Some(id),
                select_type,
                table: format!("<derived{inner}>"),
                access: "ALL",
                rows: Some(query.rows.max(1.0)),
                filtered: true,
                ..Line::default()
            });
            query_lines(query, "DERIVED", next_id, lines);
        }
        _ => {
            for input in operator.inputs() {
                operator_lines(input, id, select_type, next_id, lines);
            }
        }
    }
}

fn is_constant(expr: &palisade_expr::Expr) -> bool {
    let mut constant = true;
    expr.walk(&mut |expr| constant &= !matches!(expr.node, palisade_expr::Node::Column { .. }));
    constant
}

fn reference(expr: &palisade_expr::Expr) -> String {
    if is_constant(expr) { "const".to_owned() } else { expr.to_string().replace('`', "") }
}

fn index_name<'t>(table: &'t Table, access: &Access) -> &'t str {
    table.indexes.get(access.index).map_or("", |index| &index.name)
}

fn key_length(table: &Table, access: &Access) -> u64 {
    let mut parts = access.equals.len() + usize::from(!access.alternatives.is_empty());
    if parts == 0 {
        parts = table.indexes.get(access.index).map_or(0, |index| index.parts.len());
    }
    index_columns(table, access.index)
        .take(parts)
        .filter_map(|column| table.columns.get(column))
        .map(|known| {
            let length = match &known.sql_type {
                SqlType::Char { length, collation } => {
                    u64::from(*length) * u64::from(collation.get().charset.max_bytes())
                }
                SqlType::VarChar { length, collation } => {
                    u64::from(*length) * u64::from(collation.get().charset.max_bytes()) + 2
                }
                SqlType::Int { width, .. } => width.bytes() as u64,
                SqlType::Date => 3,
                SqlType::DateTime { .. } => 5,
                SqlType::Timestamp { .. } => 4,
                SqlType::Year => 1,
                SqlType::Float { .. } => 4,
                SqlType::Double { .. } => 8,
                other => u64::from(other.wire_length(1)),
            };
            length + u64::from(known.nullable)
        })
        .sum()
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
        ("filtered", SqlType::DOUBLE),
        ("Extra", text(255)),
    ];
    let metas: Vec<ColumnMeta> =
        columns.into_iter().map(|(name, ty)| ColumnMeta::computed(name, ty)).collect();
    sink.columns(&metas)?;
    let optional = |text: &Option<String>| text.as_deref().map_or(Value::Null, Value::bytes);
    for line in lines {
        let extra = line.extra.join("; ");
        let row = [
            line.id.map_or(Value::Null, Value::UInt),
            Value::bytes(line.select_type),
            if line.table.is_empty() { Value::Null } else { Value::bytes(line.table.as_str()) },
            Value::Null,
            if line.access.is_empty() { Value::Null } else { Value::bytes(line.access) },
            optional(&line.possible),
            optional(&line.key),
            optional(&line.key_length),
            optional(&line.reference),
            line.rows.map_or(Value::Null, |rows| Value::UInt(rows.round() as u64)),
            if line.filtered { Value::Double(100.0) } else { Value::Null },
            if extra.is_empty() { Value::Null } else { Value::bytes(extra) },
        ];
        let values: Vec<ValueRef<'_>> = row.iter().map(Value::as_ref).collect();
        sink.row(&values)?;
    }
    Ok(())
}

/// FORMAT=TREE.
fn tree(operator: &Operator, depth: usize, out: &mut String) {
    let mut line = |text: String| {
        out.push_str(&"    ".repeat(depth));
        out.push_str("-> ");
        out.push_str(&text);
        out.push('\n');
    };
    match operator {
        Operator::Dual => line("Rows fetched before execution".to_owned()),
        Operator::Nothing => line("Zero rows (Impossible WHERE)".to_owned()),
        Operator::Values { rows, .. } => line(format!("Rows of VALUES  (rows={})", rows.len())),
        Operator::Scan { table, alias, access, filter, rows, .. } => {
            let mut below = depth;
            if let Some(filter) = filter {
                line(format!("Filter: {filter}"));
                below += 1;
            }
            let index = index_name(table, access);
            let how = if access.unique {
                format!("Single-row index lookup on {alias} using {index}")
            } else if !access.alternatives.is_empty() {
                format!("Index range scan on {alias} using {index}")
            } else if !access.equals.is_empty() {
                format!("Index lookup on {alias} using {index}")
            } else if access.index > 0 {
                format!("Index scan on {alias} using {index}")
            } else {
                format!("Table scan on {alias}")
            };
            let covering = if access.covering { "Covering " } else { "" };
            let backward = if access.backward { " (reverse)" } else { "" };
            out.push_str(&"    ".repeat(below));
            out.push_str(&format!("-> {covering}{how}{backward}  (rows={})\n", rows.round().max(1.0)));
        }
        Operator::Virtual { alias, .. } => line(format!("Fill information schema table {alias}")),
        Operator::NestedLoop { left, right, kind, .. } => {
            line(format!("Nested loop {} join", kind_name(*kind)));
            tree(left, depth + 1, out);
            tree(right, depth + 1, out);
        }
        Operator::HashJoin { left, right, kind, keys, .. } => {
            let keys: Vec<String> =
                keys.iter().map(|(left, right, _)| format!("({left} = {right})")).collect();
            line(format!("{} hash join {}", capital(kind_name(*kind)), keys.join(", ")));
            tree(left, depth + 1, out);
            out.push_str(&"    ".repeat(depth + 1));
            out.push_str("-> Hash\n");
            tree(right, depth + 2, out);
        }
        Operator::Filter { input, condition } => {
            line(format!("Filter: {condition}"));
            tree(input, depth + 1, out);
        }
        Operator::Aggregate { input, group, aggregates, .. } => {
            let what = if group.is_empty() { "Aggregate" } else { "Aggregate using temporary table" };
            line(format!("{what}: {} aggregates", aggregates.len()));
            tree(input, depth + 1, out);
        }
        Operator::Sort { input, keys, limit, distinct, .. } => {
            let keys: Vec<String> = keys
                .iter()
                .map(|key| format!("{}{}", key.expr, if key.descending { " DESC" } else { "" }))
                .collect();
            let limited = if limit.is_some() { ", limit input" } else { "" };
            let distinct = if *distinct { " with duplicate removal" } else { "" };
            line(format!("Sort{distinct}: {}{limited}", keys.join(", ")));
            tree(input, depth + 1, out);
        }
        Operator::Project { input, .. } => tree(input, depth, out),
        Operator::Window { input, window } => {
            line(format!("Window aggregate with buffering: {} function(s)", window.calls.len()));
            tree(input, depth + 1, out);
        }
        Operator::Distinct { input, .. } => {
            line("Remove duplicates".to_owned());
            tree(input, depth + 1, out);
        }
        Operator::Limit { input, limit } => {
            match &limit.offset {
                Some(offset) => line(format!("Limit/Offset: {}/{offset} row(s)", limit.count)),
                None => line(format!("Limit: {} row(s)", limit.count)),
            }
            tree(input, depth + 1, out);
        }
        Operator::Union { inputs, steps, .. } => {
            line(format!("Combination: {steps:?}"));
            inputs.iter().for_each(|input| tree(input, depth + 1, out));
        }
        Operator::Recursive { recursion, alias, .. } => {
            line(format!("Materialize recursive CTE {alias}"));
            tree(&recursion.seed.root, depth + 1, out);
            out.push_str(&"    ".repeat(depth + 1));
            out.push_str("-> Repeat until convergence\n");
            recursion.steps.iter().for_each(|step| tree(&step.root, depth + 2, out));
        }
        Operator::Working { alias, .. } => line(format!("Scan new records on {alias}")),
        Operator::Derived { query, alias, .. } => {
            line(format!("Materialize {alias}"));
            tree(&query.root, depth + 1, out);
        }
    }
}

fn kind_name(kind: JoinKind) -> &'static str {
    match kind {
        JoinKind::Inner => "inner",
        JoinKind::Left => "left",
        JoinKind::Semi => "semi",
        JoinKind::Anti => "anti",
    }
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_uppercase().collect::<String>() + chars.as_str()).unwrap_or_default()
}
