//! A statement as rules have rewritten it, as SQL: what note 1003 says after EXPLAIN.
//!
//! ```text
//! /* select#1 */ select `d`.`t`.`a` AS `a` from `d`.`t` semi join (`d`.`s`)
//!                where (`d`.`t`.`a` = `d`.`s`.`c`)
//! ```
//!
//! The texts are MySQL's as far as its rewriting and this one do the same. They are for people: not each can
//! be executed, and how a query is written decides nothing.

use std::cell::RefCell;
use std::fmt::{Display, Write as _};

use palisade_expr::order::SortKey;
use palisade_expr::{Expr, Node, SqlError};
use palisade_parser::ast::{IndexHint, IndexHintKind, IndexHintScope};
use palisade_session::sink::ColumnMeta;

use super::logical::{Block, Body, Combination, Distinct, JoinTree, Leaf, LogicalQuery, Order};
use super::{Limit, SetStep};

/// What EXPLAIN says of a statement beside its operators.
#[derive(Debug, Default)]
pub struct Told {
    /// The statement as it was rewritten.
    pub text: String,
    /// Columns that blocks read of enclosing ones, each as note 1276.
    pub outer_references: Vec<SqlError>,
    /// Whether it computes window functions.
    pub has_windows: bool,
}

/// Writes the queries of a statement.
pub struct Writer<'q> {
    /// The subqueries in its expressions, by number.
    subqueries: &'q [Option<LogicalQuery>],
    /// The slots of the tables of the FROM clause that is written: a table of it that reads them is LATERAL.
    beside: RefCell<Vec<usize>>,
}

/// Which of its columns' names a query is written with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    Shown,
    Hidden,
}

impl<'q> Writer<'q> {
    /// Of a statement with these subqueries.
    pub fn new(subqueries: &'q [Option<LogicalQuery>]) -> Writer<'q> {
        Writer { subqueries, beside: RefCell::default() }
    }

    /// A query that is a statement, or what an INSERT inserts.
    pub fn statement(&self, query: &LogicalQuery) -> String {
        let mut out = String::new();
        self.common_tables(query, &mut out);
        self.query(query, Names::Shown, &mut out);
        out
    }

    /// The tables, the conditions, the order and the limit of an UPDATE or DELETE: what stands before and
    /// after its assignments.
    pub fn change(&self, tree: &JoinTree, conditions: &[Expr], order: &Order) -> [String; 2] {
        let (mut from, mut rest) = (String::new(), String::new());
        let mut on = Vec::new();
        self.tables(tree, &mut on, &mut from);
        on.extend(conditions);
        self.filter(&on, &mut rest);
        self.order(&order.keys, order.limit.as_ref(), &|expr| self.expr(expr), &mut rest);
        [from, rest]
    }

    /// The tables of FROM.
    fn tables<'t>(&self, tree: &'t JoinTree, on: &mut Vec<&'t Expr>, out: &mut String) {
        let mut slots = Vec::new();
        tree.slots(&mut slots);
        let around = self.beside.replace(slots);
        self.tree(tree, on, out);
        self.beside.replace(around);
    }

    /// An expression, with its subqueries written out.
    pub fn expr(&self, expr: &Expr) -> String {
        let text = format!("{expr}");
        if self.subqueries.is_empty() { text } else { self.written_out(&text) }
    }

    /// A text with the subqueries that it names by their numbers.
    fn written_out(&self, text: &str) -> String {
        const NAMED: &str = "(select #";
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let subquery = rest.strip_prefix(NAMED).and_then(|named| {
                let (number, _) = named.split_once(')')?;
                let query = self.subqueries.get(number.parse::<usize>().ok()?.checked_sub(2)?)?.as_ref()?;
                Some((query, NAMED.len() + number.len() + 1))
            });
            let length = match subquery {
                Some((query, length)) => {
                    out.push('(');
                    self.query(query, Names::Hidden, &mut out);
                    out.push(')');
                    rest = rest.get(length..).unwrap_or_default();
                    continue;
                }
                None if first == '\'' || first == '`' => quoted_length(rest, first),
                None => first.len_utf8(),
            };
            let (taken, left) = rest.split_at_checked(length).unwrap_or((rest, ""));
            out.push_str(taken);
            rest = left;
        }
        out
    }

    /// WITH RECURSIVE, of the recursive tables of a block.
    fn common_tables(&self, query: &LogicalQuery, out: &mut String) {
        let Body::Block(block) = &query.body else { return };
        let Some(tree) = &block.tree else { return };
        let mut tables = Vec::new();
        tree.leaves(&mut |leaf| {
            if let Leaf::Recursive { recursion, alias, .. } = leaf {
                let mut text = format!("{} as (", name(alias));
                self.query(&recursion.seed, Names::Shown, &mut text);
                for step in &recursion.steps {
                    text.push_str(if recursion.distinct { " union " } else { " union all " });
                    self.query(step, Names::Shown, &mut text);
                }
                text.push(')');
                tables.push(text);
            }
        });
        if !tables.is_empty() {
            add(out, format_args!("with recursive {} ", tables.join(",")));
        }
    }

    fn query(&self, query: &LogicalQuery, names: Names, out: &mut String) {
        match &query.body {
            Body::Block(block) => self.block(block, query, names, out),
            Body::Values { rows, function: Some(function), .. } => {
                let document = rows.iter().map(|row| self.list(row)).collect::<String>();
                add(out, format_args!("json_table({document}, {})", function.text()));
            }
            Body::Values { rows, .. } => {
                out.push_str("values ");
                let rows = rows.iter().map(|row| format!("row({})", self.list(row)));
                out.push_str(&rows.collect::<Vec<_>>().join(","));
            }
            Body::Combination(combination) => self.combination(combination, &query.columns, names, out),
            Body::Arranged { inner, order, .. } => {
                out.push('(');
                self.query(inner, names, out);
                out.push(')');
                self.order(&order.keys, order.limit.as_ref(), &|expr| column_name(expr, &query.columns), out);
            }
        }
    }

    fn combination(&self, combination: &Combination, columns: &[ColumnMeta], names: Names, out: &mut String) {
        for (number, input) in combination.inputs.iter().enumerate() {
            match number.checked_sub(1).and_then(|before| combination.steps.get(before)) {
                None => {}
                Some(SetStep::UnionAll) => out.push_str(" union all "),
                Some(SetStep::Union) => out.push_str(" union "),
                Some(SetStep::Except { all }) => {
                    out.push_str(if *all { " except all " } else { " except " });
                }
                Some(SetStep::Intersect { all }) => {
                    out.push_str(if *all { " intersect all " } else { " intersect " });
                }
            }
            let is_nested = match &input.body {
                Body::Block(block) => !block.order.keys.is_empty() || block.order.limit.is_some(),
                Body::Combination(_) => true,
                Body::Values { .. } | Body::Arranged { .. } => false,
            };
            out.push_str(if is_nested { "(" } else { "" });
            self.query(input, names, out);
            out.push_str(if is_nested { ")" } else { "" });
        }
        let order = &combination.order;
        self.order(&order.keys, order.limit.as_ref(), &|expr| column_name(expr, columns), out);
    }

    fn block(&self, block: &Block, query: &LogicalQuery, names: Names, out: &mut String) {
        add(out, format_args!("/* select#{} */ select ", block.number.max(1)));
        if block.straight {
            out.push_str("straight_join ");
        }
        if !matches!(block.distinct, Distinct::No) {
            out.push_str("distinct ");
        }
        if block.counts_all {
            out.push_str("sql_calc_found_rows ");
        }
        for (number, expr) in query.output.iter().enumerate() {
            out.push_str(if number > 0 { "," } else { "" });
            out.push_str(&self.expr(projected(block, expr)));
            if let (Names::Shown, Some(column)) = (names, query.columns.get(number)) {
                add(out, format_args!(" AS {}", name(&column.name)));
            }
        }
        let mut conditions = Vec::new();
        if let Some(tree) = &block.tree {
            out.push_str(" from ");
            self.tables(tree, &mut conditions, out);
        }
        conditions.extend(&block.conditions);
        self.filter(&conditions, out);
        if let Some(grouping) = &block.grouping
            && !grouping.group.is_empty()
        {
            add(out, format_args!(" group by {}", self.list(&grouping.group)));
            out.push_str(if grouping.rollup { " with rollup" } else { "" });
        }
        if let Some(having) = &block.having {
            add(out, format_args!(" having {}", self.expr(having)));
        }
        self.order(
            &block.order.keys,
            block.order.limit.as_ref(),
            &|expr| self.expr(projected(block, expr)),
            out,
        );
    }

    /// Tables as they are joined; conditions of inner joins and semi-joins are added to `on`, which becomes a
    /// part of WHERE or of the ON around them.
    fn tree<'t>(&self, tree: &'t JoinTree, on: &mut Vec<&'t Expr>, out: &mut String) {
        match tree {
            JoinTree::Leaf(leaf) => self.leaf(leaf, out),
            JoinTree::Inner(parts, conditions) => {
                on.extend(conditions);
                for (number, part) in parts.iter().enumerate() {
                    out.push_str(if number > 0 { " join " } else { "" });
                    self.tree(part, on, out);
                }
            }
            JoinTree::Left(left, right, conditions) => {
                self.tree(left, on, out);
                out.push_str(" left join ");
                self.inner_side(right, conditions, !matches!(**right, JoinTree::Leaf(_)), out);
            }
            JoinTree::Semi { left, right, on: conditions, anti: true, .. } => {
                self.tree(left, on, out);
                out.push_str(" anti join ");
                self.inner_side(right, conditions, true, out);
            }
            JoinTree::Semi { left, right, on: conditions, anti: false, .. } => {
                self.tree(left, on, out);
                out.push_str(" semi join (");
                self.tree(right, on, out);
                out.push(')');
                on.extend(conditions);
            }
        }
    }

    fn inner_side(&self, right: &JoinTree, conditions: &[Expr], is_nested: bool, out: &mut String) {
        let mut all: Vec<&Expr> = conditions.iter().collect();
        out.push_str(if is_nested { "(" } else { "" });
        self.tree(right, &mut all, out);
        out.push_str(if is_nested { ")" } else { "" });
        match all.is_empty() {
            true => out.push_str(" on(true)"),
            false => add(out, format_args!(" on({})", self.all_of(&all))),
        }
    }

    fn leaf(&self, leaf: &Leaf, out: &mut String) {
        match leaf {
            Leaf::Table(leaf) => {
                let table = &leaf.table;
                add(out, format_args!("{}.{}", name(&table.schema), name(&table.name)));
                if leaf.alias != table.name {
                    add(out, format_args!(" {}", name(&leaf.alias)));
                }
                leaf.hints.iter().for_each(|hint| index_hint(hint, out));
            }
            Leaf::Virtual(leaf) => {
                add(out, format_args!("{}.{}", name(leaf.table.schema), name(leaf.table.name)));
                if !leaf.alias.eq_ignore_ascii_case(leaf.table.name) {
                    add(out, format_args!(" {}", name(&leaf.alias)));
                }
            }
            Leaf::Derived { query, alias, .. } if is_function(query) => {
                self.query(query, Names::Shown, out);
                add(out, format_args!(" {}", name(alias)));
            }
            Leaf::Derived { query, alias, .. } => {
                let is_lateral = query.outer_slots.iter().any(|slot| self.beside.borrow().contains(slot));
                out.push_str(if is_lateral { "lateral (" } else { "(" });
                self.query(query, Names::Shown, out);
                add(out, format_args!(") {}", name(alias)));
            }
            Leaf::Recursive { alias, .. } | Leaf::Working { alias, .. } => out.push_str(&name(alias)),
        }
    }

    fn filter(&self, conditions: &[&Expr], out: &mut String) {
        if !conditions.is_empty() {
            add(out, format_args!(" where {}", self.all_of(conditions)));
        }
    }

    fn all_of(&self, conditions: &[&Expr]) -> String {
        match Expr::all_of(conditions.iter().map(|condition| (*condition).clone()).collect()) {
            Some(all) => self.expr(&all),
            None => "true".to_owned(),
        }
    }

    fn order(
        &self,
        keys: &[SortKey],
        limit: Option<&Limit>,
        text: &dyn Fn(&Expr) -> String,
        out: &mut String,
    ) {
        for (number, key) in keys.iter().enumerate() {
            out.push_str(if number > 0 { "," } else { " order by " });
            out.push_str(&text(&key.expr));
            out.push_str(if key.descending { " desc" } else { "" });
        }
        if let Some(limit) = limit {
            out.push_str(" limit ");
            if let Some(offset) = &limit.offset {
                add(out, format_args!("{},", self.expr(offset)));
            }
            out.push_str(&self.expr(&limit.count));
        }
    }

    fn list(&self, exprs: &[Expr]) -> String {
        exprs.iter().map(|expr| self.expr(expr)).collect::<Vec<_>>().join(",")
    }
}

/// An expression above the projection of a block, as what it was before.
fn projected<'b>(block: &'b Block, expr: &'b Expr) -> &'b Expr {
    match (&block.projection, &expr.node) {
        (Some(projection), Node::Column { slot, column, .. }) if *slot == projection.slot => {
            projection.values.get(*column).unwrap_or(expr)
        }
        _ => expr,
    }
}

/// A column of a combination, by its name.
fn column_name(expr: &Expr, columns: &[ColumnMeta]) -> String {
    let column = match &expr.node {
        Node::Column { column, .. } => columns.get(*column),
        _ => None,
    };
    column.map_or_else(|| format!("{expr}"), |column| name(&column.name))
}

fn index_hint(hint: &IndexHint, out: &mut String) {
    let kind = match hint.kind {
        IndexHintKind::Use => "USE",
        IndexHintKind::Force => "FORCE",
        IndexHintKind::Ignore => "IGNORE",
    };
    let scope = match hint.scope {
        None => "",
        Some(IndexHintScope::Join) => " FOR JOIN",
        Some(IndexHintScope::OrderBy) => " FOR ORDER BY",
        Some(IndexHintScope::GroupBy) => " FOR GROUP BY",
    };
    let indexes = hint.indexes.iter().map(|index| match index.eq_ignore_ascii_case("primary") {
        true => "PRIMARY".to_owned(),
        false => name(index),
    });
    add(out, format_args!(" {kind} INDEX{scope} ({})", indexes.collect::<Vec<_>>().join(",")));
}

/// A name in backquotes.
pub fn name(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// Bytes of the text or name that `text` begins with, in quotes.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, next)| match next {
        _ if std::mem::take(&mut escaped) => false,
        '\\' if quote == '\'' => {
            escaped = true;
            false
        }
        next => *next == quote,
    });
    end.map_or(text.len(), |(at, quote)| at + quote.len_utf8())
}

fn add(out: &mut String, text: impl Display) {
    // Writing to a String does not fail.
    let _ = write!(out, "{text}");
}

/// Whether a query is the rows of a table function.
fn is_function(query: &LogicalQuery) -> bool {
    matches!(query.body, Body::Values { function: Some(_), .. })
}
