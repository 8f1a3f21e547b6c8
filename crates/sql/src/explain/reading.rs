//! How a table is read, in EXPLAIN's words.

use std::collections::{BTreeSet, HashMap};

use palisade_catalog::SqlType;
use palisade_engine::Table;
use palisade_expr::{Expr, Node, SubqueryUse};
use palisade_plan::access::{Access, RangeSpec, index_columns};
use palisade_plan::note::Reading;
use palisade_plan::{Operator, Plan, Query};

use super::text::{is_constant, plain, short};

/// Ranges that are written out; of a longer list the first, and how many there are more.
const MOST_RANGES: usize = 3;

/// Columns of tables that a plan reads, by the tables' slots.
#[derive(Debug, Default)]
pub(super) struct UsedColumns(HashMap<usize, BTreeSet<usize>>);

impl UsedColumns {
    pub(super) fn of(plan: &Plan) -> UsedColumns {
        let mut used = UsedColumns::default();
        let queries = plan.query.iter().chain(plan.subqueries.iter().flatten().map(|query| &**query));
        queries.for_each(|query| used.query(query));
        used
    }

    fn query(&mut self, query: &Query) {
        query.output.iter().for_each(|expr| self.expr(expr));
        self.operator(&query.root);
    }

    fn operator(&mut self, operator: &Operator) {
        exprs(operator, &mut |expr| self.expr(expr));
        match operator {
            Operator::Scan { slot, table, access, .. } => {
                let columns = index_columns(table, access.index).take(key_parts(access));
                self.0.entry(*slot).or_default().extend(columns);
            }
            Operator::Derived { query, .. } => return self.query(query),
            Operator::Recursive { recursion, .. } => {
                return recursion.queries().for_each(|query| self.query(query));
            }
            _ => {}
        }
        operator.inputs().iter().for_each(|input| self.operator(input));
    }

    fn expr(&mut self, expr: &Expr) {
        expr.walk(&mut |part| {
            if let Node::Column { slot, column, .. } = &part.node {
                self.0.entry(*slot).or_default().insert(*column);
            }
        });
    }

    /// Their numbers, of the table in a slot.
    pub(super) fn at(&self, slot: usize) -> impl Iterator<Item = usize> + '_ {
        self.0.get(&slot).into_iter().flatten().copied()
    }

    /// Their names, of a stored table.
    pub(super) fn names(&self, slot: usize, table: &Table) -> Vec<String> {
        let columns = self.at(slot).filter_map(|column| table.columns.get(column));
        columns.filter(|column| !column.name.is_empty()).map(|column| column.name.clone()).collect()
    }
}

/// Visits the expressions of an operator, but for those of its inputs.
pub(super) fn exprs(operator: &Operator, visit: &mut dyn FnMut(&Expr)) {
    match operator {
        Operator::Dual
        | Operator::Nothing
        | Operator::Union { .. }
        | Operator::IndexMerge { .. }
        | Operator::Noted { .. }
        | Operator::Limit { .. }
        | Operator::Distinct { .. } => {}
        Operator::Scan { access, filter, .. } => {
            access.equals.iter().for_each(|part| visit(&part.value));
            access.alternatives.iter().for_each(|spec| range_exprs(spec, visit));
            filter.iter().for_each(visit);
        }
        Operator::Virtual { filter, .. }
        | Operator::Recursive { filter, .. }
        | Operator::Working { filter, .. }
        | Operator::Derived { filter, .. } => filter.iter().for_each(visit),
        Operator::Values { rows, .. } => rows.iter().flatten().for_each(visit),
        Operator::NestedLoop { condition, .. } => condition.iter().for_each(visit),
        Operator::HashJoin { keys, condition, .. } => {
            for (left, right, _) in keys {
                visit(left);
                visit(right);
            }
            condition.iter().for_each(visit);
        }
        Operator::Filter { condition, .. } => visit(condition),
        Operator::Aggregate { group, aggregates, .. } => {
            group.iter().for_each(&mut *visit);
            for aggregate in aggregates {
                aggregate.arguments.iter().for_each(&mut *visit);
                aggregate.order_by.iter().for_each(|key| visit(&key.expr));
            }
        }
        Operator::Sort { keys, .. } => keys.iter().for_each(|key| visit(&key.expr)),
        Operator::FirstOfEach { keys, .. } => keys.iter().for_each(visit),
        Operator::Project { output, .. } => output.iter().for_each(visit),
        Operator::Window { window, .. } => window.exprs(visit),
    }
}

fn range_exprs(spec: &RangeSpec, visit: &mut dyn FnMut(&Expr)) {
    match spec {
        RangeSpec::Null => {}
        RangeSpec::Point(expr) | RangeSpec::Like(expr) => visit(expr),
        RangeSpec::Between { lower, upper } => lower.iter().chain(upper).for_each(|(expr, _)| visit(expr)),
    }
}

/// The numbers of the subqueries that an expression asks, and of those in what they are compared with.
pub(super) fn subqueries_in(expr: &Expr, out: &mut Vec<usize>) {
    expr.walk(&mut |part| {
        if let Node::Subquery(subquery) = &part.node {
            if let SubqueryUse::Quantified { left, .. } = &subquery.usage {
                left.iter().for_each(|expr| subqueries_in(expr, out));
            }
            if !out.contains(&subquery.number) {
                out.push(subquery.number);
            }
        }
    });
}

/// The access type of the traditional format.
pub(super) fn access_type(access: &Access) -> &'static str {
    let ranged = !access.alternatives.is_empty();
    match access {
        Access { unique: true, .. } if access.equals.iter().all(|part| is_constant(&part.value)) => "const",
        Access { unique: true, .. } => "eq_ref",
        _ if ranged || access.loose.is_some() => "range",
        _ if !access.equals.is_empty() => "ref",
        Access { index: 0, backward: false, .. } => "ALL",
        _ => "index",
    }
}

/// How many parts of the index make its keys and ranges, or tell the groups of a loose scan.
pub(super) fn key_parts(access: &Access) -> usize {
    let narrowed = access.equals.len() + access.skipped + usize::from(!access.alternatives.is_empty());
    let of_groups = access.loose.map_or(0, |loose| loose.parts + usize::from(loose.lowest || loose.highest));
    narrowed.max(of_groups)
}

/// The columns of the index that are used: those of its keys and ranges, or all of it.
pub(super) fn key_columns<'t>(table: &'t Table, access: &Access) -> Vec<&'t palisade_catalog::Column> {
    let parts = match key_parts(access) {
        0 => table.indexes.get(access.index).map_or(0, |index| index.parts.len()),
        parts => parts,
    };
    let columns = index_columns(table, access.index).take(parts);
    columns.filter_map(|column| table.columns.get(column)).collect()
}

/// The names of the indexes that conditions would have narrowed.
pub(super) fn possible_keys(table: &Table, access: &Access, reading: Option<Reading>) -> Vec<String> {
    let own = if key_parts(access) > 0 { 1u64 << access.index.min(63) } else { 0 };
    let possible = reading.map_or(0, |reading| reading.possible) | own;
    let indexes = table.indexes.iter().enumerate().filter(|(number, _)| possible >> number.min(&63) & 1 == 1);
    indexes.map(|(_, index)| index.name.clone()).collect()
}

/// The index's name; empty if the table is read as it lies.
pub(super) fn index_name<'t>(table: &'t Table, access: &Access) -> &'t str {
    table.indexes.get(access.index).map_or("", |index| &index.name)
}

/// Bytes of the key's parts that are used, as MySQL counts them.
pub(super) fn key_length(table: &Table, access: &Access) -> u64 {
    let length = |known: &palisade_catalog::Column| {
        let own = match &known.sql_type {
            SqlType::Char { length, collation } => {
                u64::from(*length) * u64::from(collation.get().charset.max_bytes())
            }
            SqlType::VarChar { length, collation } => {
                u64::from(*length) * u64::from(collation.get().charset.max_bytes()) + 2
            }
            SqlType::Binary { length } => u64::from(*length),
            SqlType::VarBinary { length } => u64::from(*length) + 2,
            SqlType::Int { width, .. } => width.bytes() as u64,
            SqlType::Date | SqlType::Time { fsp: 0 } => 3,
            SqlType::Time { fsp } => 3 + u64::from(fsp.div_ceil(2)),
            SqlType::DateTime { fsp } => 5 + u64::from(fsp.div_ceil(2)),
            SqlType::Timestamp { fsp } => 4 + u64::from(fsp.div_ceil(2)),
            SqlType::Year => 1,
            SqlType::Float { .. } => 4,
            SqlType::Double { .. } => 8,
            SqlType::Decimal { precision, scale, .. } => {
                let bytes = |digits: u64| digits / 9 * 4 + (digits % 9).div_ceil(2);
                bytes(u64::from(*precision) - u64::from(*scale).min(u64::from(*precision)))
                    + bytes(u64::from(*scale))
            }
            SqlType::Bit { width } => u64::from(width.div_ceil(8)),
            other => u64::from(other.wire_length(1)),
        };
        own + u64::from(known.nullable)
    };
    key_columns(table, access).into_iter().map(length).sum()
}

/// What the key's parts are compared with: `const`, a column, or `func`.
pub(super) fn references(access: &Access) -> Vec<String> {
    let reference = |value: &Expr| match &value.node {
        _ if is_constant(value) => "const".to_owned(),
        Node::Column { .. } => plain(value),
        _ => "func".to_owned(),
    };
    match access.alternatives.is_empty() {
        true => access.equals.iter().map(|part| reference(&part.value)).collect(),
        false => Vec::new(),
    }
}

/// `a = 5, b = t.c`: what is looked up.
pub(super) fn lookup(table: &Table, access: &Access) -> String {
    let columns = index_columns(table, access.index).filter_map(|column| table.columns.get(column));
    let parts = columns.zip(&access.equals);
    let parts = parts.map(|(column, part)| format!("{} = {}", column.name, short(&part.value)));
    parts.collect::<Vec<_>>().join(", ")
}

/// The ranges that are read: `(45 < a)`, `(a = 3 AND 5 <= b <= 7)`.
pub(super) fn ranges(table: &Table, access: &Access) -> Vec<String> {
    let mut columns = index_columns(table, access.index).filter_map(|column| table.columns.get(column));
    // MySQL writes those of a skip scan otherwise.
    let [open, and, close] = if access.skipped > 0 { ["", ", ", ""] } else { ["(", " AND ", ")"] };
    let mut before = String::new();
    for part in &access.equals {
        let name = columns.next().map_or("", |column| &column.name);
        before.push_str(&format!("{name} = {}{and}", short(&part.value)));
    }
    let name = columns.nth(access.skipped).map_or("", |column| &column.name);
    let range = |spec: &RangeSpec| match spec {
        RangeSpec::Point(value) => format!("{name} = {}", short(value)),
        RangeSpec::Null => format!("{name} = NULL"),
        RangeSpec::Like(pattern) => format!("{name} like {}", short(pattern)),
        RangeSpec::Between { lower, upper } => {
            let symbol = |included: bool| if included { "<=" } else { "<" };
            let low = lower.as_ref().map(|(low, included)| format!("{} {} ", short(low), symbol(*included)));
            let high =
                upper.as_ref().map(|(high, included)| format!(" {} {}", symbol(*included), short(high)));
            format!("{}{name}{}", low.unwrap_or_default(), high.unwrap_or_default())
        }
    };
    access.alternatives.iter().map(|spec| format!("{open}{before}{}{close}", range(spec))).collect()
}

/// Ranges in one line, of many the first ones.
pub(super) fn ranges_line(ranges: &[String]) -> String {
    if ranges.len() <= MOST_RANGES {
        return ranges.join(" OR ");
    }
    let shown = MOST_RANGES - 1;
    let first: Vec<&str> = ranges.iter().take(shown).map(String::as_str).collect();
    format!("{} OR ({} more)", first.join(" OR "), ranges.len() - shown)
}
