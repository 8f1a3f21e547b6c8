//! What the rules make of logical plans: a file for each rule, with statements, and behind each the plan as
//! it was bound and as it was rewritten.
//!
//! `rules/NAME.sql` has the statements; `rules/NAME.plans` what comes out. `UPDATE_EXPECT=1` writes the
//! latter, for reading the difference with git.

#[path = "client/mod.rs"]
mod client;

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use client::{Client, block_on, processor};

const TABLES: [&str; 8] = [
    "CREATE DATABASE d",
    "USE d",
    "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT NOT NULL, c VARCHAR(10), KEY (a))",
    "CREATE TABLE s (id INT PRIMARY KEY, a INT, b INT NOT NULL, c VARCHAR(10), KEY (b))",
    "CREATE TABLE u (id INT PRIMARY KEY, a INT, b INT NOT NULL, c VARCHAR(10))",
    "INSERT INTO t VALUES (1, 1, 1, 'a')",
    "CREATE TABLE many (id INT PRIMARY KEY, k INT NOT NULL, x INT, KEY (k))",
    "INSERT INTO many WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 900)
     SELECT r.n * 900 + q.n, r.n * 30 + q.n, q.n FROM r, r AS q WHERE q.n <= 30",
];

/// The plans of the statements of a script, as text.
fn plans(client: &mut Client, script: &str) -> String {
    let mut out = String::new();
    for statement in script.split(';').map(str::trim).filter(|statement| !statement.is_empty()) {
        let rewritten = block_on(client.sql.rewriting(&mut client.session, statement.as_bytes()));
        let [bound, rewritten] = rewritten.unwrap_or_else(|error| panic!("{statement}: {error:?}"));
        writeln!(out, "{statement};\n-- bound\n{bound}-- rewritten").unwrap();
        out.push_str(if bound == rewritten { "as it is\n" } else { &rewritten });
        out.push('\n');
    }
    out
}

#[test]
fn rules_rewrite_plans() {
    let sql = processor(Arc::default());
    let mut client = Client::new(&sql, 1);
    for text in TABLES {
        let answer = client.run(text);
        assert!(answer.ends_with("affected"), "{text}: {answer}");
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules");
    let mut scripts: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    scripts.retain(|path| path.extension().is_some_and(|extension| extension == "sql"));
    scripts.sort();
    assert!(!scripts.is_empty());
    let mut different = Vec::new();
    for script in scripts {
        // Of this rule costs decide, unless a flag does.
        client.session.state.variables.optimizer.subquery_to_derived =
            script.file_stem().is_some_and(|name| name == "grouped_scalar");
        let found = plans(&mut client, &std::fs::read_to_string(&script).unwrap());
        let expected = script.with_extension("plans");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&expected, &found).unwrap();
        }
        if std::fs::read_to_string(&expected).unwrap_or_default() != found {
            different.push(format!("{}:\n{found}", script.display()));
        }
    }
    assert!(different.is_empty(), "other plans than expected:\n{}", different.join("\n"));
}
