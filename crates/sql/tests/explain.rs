//! What EXPLAIN shows: `explain/NAME.sql` has statements, `explain/NAME.plans` what comes out, with the
//! warnings behind it. Costs and estimated rows are masked; the clock of these tests stands still, so that
//! all that takes time takes none. `UPDATE_EXPECT=1` writes the latter, for reading the difference with git.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

#[path = "client/mod.rs"]
mod client;

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use client::{Answer, Client, processor};
use palisade_catalog::Value;

/// Tables with statistics; MySQL's plans of the scripts were read beside these.
fn tables(client: &mut Client) {
    let rows = |count: u32, row: &dyn Fn(u32) -> String| (1..=count).map(row).collect::<Vec<_>>().join(",");
    let t = rows(500, &|id| format!("({id},{},'b{}',{id})", id % 50, id % 20));
    let s = rows(200, &|id| format!("({id},{},{})", id % 20, id % 7));
    for text in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(20), c INT NOT NULL, KEY a (a), KEY ab (a, b), UNIQUE KEY c (c))",
        "CREATE TABLE s (id INT PRIMARY KEY, a INT, d INT, KEY a (a))",
        &format!("INSERT INTO t VALUES {t}"),
        &format!("INSERT INTO s VALUES {s}"),
        "ANALYZE TABLE t, s",
    ] {
        client.answer(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

/// A number behind each of these is an estimate.
const ESTIMATES: [&str; 10] = [
    "cost=",
    "\"query_cost\": ",
    "\"read_cost\": ",
    "\"eval_cost\": ",
    "\"prefix_cost\": ",
    "\"data_read_per_join\": ",
    "\"estimated_rows\": ",
    "\"estimated_total_cost\": ",
    "\"estimated_first_row_cost\": ",
    "\"rows_produced_per_join\": ",
];

fn masked(text: &str) -> String {
    let line = |line: &str| {
        let mut line = line.to_owned();
        for name in ESTIMATES {
            let Some((before, rest)) = line.split_once(name) else { continue };
            let end = rest.find([' ', ')']).filter(|_| name == "cost=").unwrap_or(rest.len());
            let kept = rest.get(end..).unwrap_or_default();
            let kept = kept.strip_prefix(" rows=").map_or_else(
                || kept.to_owned(),
                |rest| format!(" rows=N{}", rest.get(rest.find(')').unwrap_or(0)..).unwrap_or_default()),
            );
            line = format!("{before}{name}N{kept}");
        }
        line
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The answer to a statement, and its warnings.
fn answer(client: &mut Client, statement: &str) -> String {
    let mut out = match client.answer(statement) {
        Ok(Answer::Rows(rows)) => rows.iter().map(|row| row.join(" | ")).collect::<Vec<_>>().join("\n"),
        Ok(Answer::Affected(rows)) => format!("{rows} affected"),
        Err(error) => return format!("ERROR {}: {error}\n", error.number()),
    };
    out = masked(out.trim_end());
    out.push('\n');
    if let Ok(Answer::Rows(warnings)) = client.answer("SHOW WARNINGS") {
        warnings.iter().for_each(|warning| writeln!(out, "{}", warning.join(" ")).unwrap());
    }
    out
}

#[test]
fn plans_are_shown_as_expected() {
    let sql = processor(Arc::default());
    let mut client = Client::new(&sql, 1);
    tables(&mut client);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/explain");
    let mut scripts: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    scripts.retain(|path| path.extension().is_some_and(|extension| extension == "sql"));
    scripts.sort();
    assert!(!scripts.is_empty());
    let mut different = Vec::new();
    for script in scripts {
        let text = std::fs::read_to_string(&script).unwrap();
        let mut found = String::new();
        for statement in text.split(";\n").map(str::trim).filter(|statement| !statement.is_empty()) {
            let version = if statement.starts_with("/* v1 */") { 1 } else { 2 };
            client.session.state.variables.explain_json_format_version = version;
            write!(found, "{statement};\n{}\n", answer(&mut client, statement)).unwrap();
        }
        let expected = script.with_extension("plans");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&expected, &found).unwrap();
        }
        if std::fs::read_to_string(&expected).unwrap_or_default() != found {
            different.push(format!("{}:\n{found}", script.display()));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn a_plan_that_was_explained_is_not_kept_and_executes_nothing() {
    let sql = processor(Arc::default());
    let mut client = Client::new(&sql, 1);
    tables(&mut client);
    client.run("EXPLAIN DELETE FROM t");
    client.run("EXPLAIN ANALYZE DELETE FROM t");
    client.run("EXPLAIN ANALYZE INSERT INTO t VALUES (9999, 1, 'x', 9999)");
    client.run("EXPLAIN DELETE t FROM t JOIN s ON s.id = t.id");
    assert_eq!(client.run("SELECT COUNT(*) FROM t"), "500");
    client.run("EXPLAIN ANALYZE DELETE t FROM t JOIN s ON s.id = t.id");
    assert_eq!(client.run("SELECT COUNT(*) FROM t"), "300");
}

#[test]
fn into_puts_the_document_into_a_variable() {
    let sql = processor(Arc::default());
    let mut client = Client::new(&sql, 1);
    tables(&mut client);
    let before = client.run("EXPLAIN FORMAT=JSON SELECT * FROM t");
    assert_eq!(client.run("EXPLAIN FORMAT=JSON INTO @plan SELECT * FROM t"), "0 affected");
    assert_eq!(client.session.state.user_variables.value("plan"), Value::bytes(before));
}
