//! Every statement of the corpus parses, or is rejected for a reason that is written down here: MySQL 8.4 rejects it.

mod common;

use palisade_parser::ParseOptions;
use palisade_parser::ast::*;

/// Texts that statements MySQL rejects contain, and why it rejects them.
const REJECTED: &[(&str, &str)] = &[
    ("PROCEDURE ANALYSE()", "removed in 8.0"),
    ("AS OF TIMESTAMP", "MariaDB's system-versioned tables; OF is reserved"),
    ("EXPLAIN EXTENDED", "removed in 8.0"),
    ("SET STATEMENT max_statement_time", "MariaDB's SET STATEMENT"),
    ("RESET MASTER", "removed in 8.4: RESET BINARY LOGS AND GTIDS"),
    ("CHANGE MASTER TO", "removed in 8.4: CHANGE REPLICATION SOURCE TO"),
    ("START SLAVE", "removed in 8.4: START REPLICA"),
    ("SHOW MASTER STATUS", "removed in 8.4: SHOW BINARY LOG STATUS"),
    ("SHOW MASTER LOGS", "removed in 8.4: SHOW BINARY LOGS"),
    ("SHOW SLAVE STATUS", "removed in 8.4: SHOW REPLICA STATUS"),
    ("SELECT a := 1", "only user variables can be assigned to"),
    ("SELECT count (*)", "without IGNORE_SPACE, COUNT is a name unless its parenthesis follows at once"),
    ("IDENTIFIED BY <secret>", "the general log hides passwords"),
];

fn reason(statement: &str) -> Option<&'static str> {
    REJECTED.iter().find(|(text, _)| statement.contains(text)).map(|(_, reason)| *reason)
}

/// mysqldump --ansi quotes names with double quotes.
fn options(statement: &str) -> ParseOptions {
    ParseOptions { ansi_quotes: statement.contains("\"dmp\""), ..ParseOptions::default() }
}

#[test]
fn the_corpus_parses_except_what_mysql_rejects() {
    let mut failures = Vec::new();
    let mut count = 0;
    for statement in common::FILES.iter().flat_map(|file| common::statements(file)) {
        count += 1;
        match (common::parse_all(statement.as_bytes(), options(&statement)), reason(&statement)) {
            (Ok(_), None) | (Err(_), Some(_)) => {}
            (Ok(_), Some(reason)) => failures.push(format!("{statement}\n   should be rejected: {reason}")),
            (Err(error), None) => failures.push(format!("{statement}\n   {error}")),
        }
    }
    assert!(count > 1200, "{count}");
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn queries_and_conditions_print_back_as_themselves() {
    let mut count = 0;
    for statement in common::FILES.iter().flat_map(|file| common::statements(file)) {
        let Ok(parsed) = common::parse_all(statement.as_bytes(), options(&statement)) else {
            continue;
        };
        for parsed in parsed {
            for expr in expressions(&parsed) {
                count += 1;
                let printed = expr.to_string();
                let text = format!("SELECT {printed}");
                let again = common::parse_all(text.as_bytes(), ParseOptions::default());
                let again = again.unwrap_or_else(|error| panic!("{statement}\n  {text}\n  {error}"));
                let expr_again = &expressions(&again[0])[0];
                assert_eq!(expr_again.to_string(), printed, "{statement}");
                if !printed.contains("select ") && !printed.contains('?') {
                    // Names of functions are printed in lower case.
                    let tree = |expr: &Expr| format!("{expr:?}").to_lowercase();
                    assert_eq!(tree(expr_again), tree(&expr), "{statement}");
                }
            }
            if let Statement::Query(query) = &parsed {
                let printed = query.to_string();
                let again = common::parse_all(printed.as_bytes(), ParseOptions::default());
                let again = again.unwrap_or_else(|error| panic!("{statement}\n  {printed}\n  {error}"));
                let [Statement::Query(again)] = &again[..] else { panic!("{printed}") };
                assert_eq!(again.to_string(), printed, "{statement}");
            }
        }
    }
    assert!(count > 700, "{count}");
}

/// The outermost expressions of a statement, those that can stand in a select list.
fn expressions(statement: &Statement) -> Vec<Expr> {
    let mut found = Vec::new();
    match statement {
        Statement::Query(query) => {
            if let QueryBody::Select(select) = &query.body {
                for item in &select.items {
                    if let SelectItem::Expr { expr, .. } = item {
                        found.push(expr.clone());
                    }
                }
                found.extend(select.filter.clone());
                found.extend(select.having.clone());
            }
        }
        Statement::Update(update) => {
            found.extend(update.filter.clone());
            found.extend(update.assignments.iter().map(|assignment| assignment.value.clone()));
        }
        Statement::Delete(delete) => found.extend(delete.filter.clone()),
        Statement::Insert(insert) => {
            if let InsertSource::Values(rows) = &insert.source {
                found.extend(rows.iter().flatten().cloned());
            }
            found.extend(insert.on_duplicate.iter().map(|assignment| assignment.value.clone()));
        }
        Statement::Set(assignments) => {
            found.extend(assignments.iter().filter_map(|assignment| match assignment {
                Assignment::User(_, value) | Assignment::System(_, Some(value)) => Some(value.clone()),
                _ => None,
            }))
        }
        _ => {}
    }
    found.retain(|expr| *expr != Expr::Default);
    found
}
