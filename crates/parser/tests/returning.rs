//! RETURNING is a clause where MySQL's grammar has no meaning for the word, and a name everywhere else.

use palisade_parser::ast::{DeleteTarget, InsertSource, QueryBody, SelectItem, Statement, TableReference};
use palisade_parser::{ParseOptions, parse};

/// How many items a statement returns, and what in it is called `returning`.
fn read(text: &str) -> (usize, &'static str) {
    let statement = parse(text.as_bytes(), ParseOptions::default());
    match statement.unwrap_or_else(|error| panic!("{text}: {error}")) {
        Statement::Insert(insert) => {
            let named = match &insert.source {
                InsertSource::Query(query) => named_in(&query.body),
                InsertSource::Values(_) => "",
            };
            (insert.returning.len(), named)
        }
        Statement::Update(update) => (update.returning.len(), ""),
        Statement::Delete(delete) => {
            let named = match &delete.target {
                DeleteTarget::Single(table) if is_named(table) => "table",
                _ => "",
            };
            (delete.returning.len(), named)
        }
        Statement::Query(query) => (0, named_in(&query.body)),
        other => panic!("{other:?}"),
    }
}

fn named_in(body: &QueryBody) -> &'static str {
    let QueryBody::Select(select) = body else { return "" };
    let is_item = |item: &SelectItem| matches!(item, SelectItem::Expr { alias: Some(alias), .. } if alias == "returning");
    match (select.items.iter().any(is_item), select.from.iter().any(is_named)) {
        (true, true) => "both",
        (true, false) => "item",
        (false, true) => "table",
        (false, false) => "",
    }
}

fn is_named(table: &TableReference) -> bool {
    match table {
        TableReference::Table(table) => table.alias.as_deref() == Some("returning"),
        TableReference::Derived(table) => table.alias.as_deref() == Some("returning"),
        _ => false,
    }
}

#[test]
fn a_clause_where_nothing_else_can_stand() {
    for (text, expect) in [
        ("INSERT INTO t VALUES (1) RETURNING a", (1, "")),
        ("INSERT INTO t VALUES (1) AS n RETURNING a, b", (2, "")),
        ("INSERT INTO t SET a = 1 RETURNING *", (1, "")),
        ("INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 1 RETURNING *, 1", (2, "")),
        ("REPLACE INTO t SELECT 1 RETURNING a", (1, "")),
        ("INSERT INTO t SELECT a FROM s RETURNING (a)", (1, "")),
        ("INSERT INTO t SELECT a FROM s WHERE b RETURNING -a", (1, "")),
        ("INSERT INTO t SELECT a returning FROM s returning RETURNING a", (1, "both")),
        ("INSERT INTO t SELECT a FROM (SELECT 1) returning (a) RETURNING a", (1, "table")),
        ("INSERT INTO t TABLE s RETURNING a", (1, "")),
        ("DELETE FROM t RETURNING a", (1, "")),
        ("DELETE FROM t returning RETURNING a", (1, "table")),
        ("DELETE FROM t AS returning RETURNING a", (1, "table")),
        ("DELETE FROM t WHERE a = 1 ORDER BY a LIMIT 1 RETURNING t.*, a b", (2, "")),
        ("UPDATE t SET a = 1 RETURNING a", (1, "")),
        ("UPDATE t returning SET a = 1 WHERE b RETURNING a", (1, "")),
    ] {
        assert_eq!(read(text), expect, "{text}");
    }
}

#[test]
fn a_name_where_mysql_has_one() {
    for (text, expect) in [
        ("DELETE FROM t returning", (0, "table")),
        ("DELETE FROM t returning WHERE returning.a = 1", (0, "table")),
        ("DELETE FROM t returning LIMIT 1", (0, "table")),
        ("INSERT INTO t SELECT 1 returning", (0, "item")),
        ("INSERT INTO t SELECT 1 returning, 2", (0, "item")),
        ("INSERT INTO t SELECT 1 FROM s returning LEFT JOIN u ON 1", (0, "")),
        ("INSERT INTO t SELECT 1 FROM (SELECT 2 returning) returning", (0, "table")),
        ("SELECT 1 returning FROM t returning", (0, "both")),
    ] {
        assert_eq!(read(text), expect, "{text}");
    }
}
