//! SQL text: a tree or an error, a digest, and the key under which its plan is kept.

use palisade_parser::ast::Statement;
use palisade_parser::digest::{PlanKey, digest_text};
use palisade_parser::{ParseOptions, parse, parse_one};

use super::choice;
use crate::Target;

pub(crate) const TARGET: Target = Target {
    name: "parser",
    seeds,
    words: &[
        "SELECT ",
        " FROM ",
        " WHERE ",
        "(",
        ")",
        ",",
        "'",
        "\"",
        "`",
        "/*!80000 ",
        "*/",
        "-- ",
        ";",
        " OVER (",
        " UNION ",
        "INSERT INTO t VALUES ",
        "UPDATE t SET ",
        "CREATE TABLE t (",
        " PRIMARY KEY",
        " AS ",
        " JOIN ",
        "0x",
        "_utf8mb4",
        " COLLATE ",
        "CASE WHEN ",
        " END",
        " BETWEEN ",
        " LIKE ",
        " IN (",
        "INTERVAL 1 DAY",
        "@@",
        ":=",
        "->>",
        "WITH RECURSIVE ",
    ],
    longest: 2000,
    run,
};

/// The corpus of the parser's own tests.
fn seeds() -> Vec<Vec<u8>> {
    let files = [
        include_str!("../../../crates/parser/tests/corpus/hand.txt"),
        include_str!("../../../crates/parser/tests/corpus/prec.txt"),
        include_str!("../../../crates/parser/tests/corpus/clients.txt"),
    ];
    let statements = files.iter().flat_map(|file| file.split("\n;;\n"));
    let statements = statements.filter(|text| text.len() < TARGET.longest && !text.starts_with('#'));
    statements.map(|text| [b"\0", text.as_bytes()].concat()).collect()
}

fn run(input: &[u8]) {
    let Some((modes, text)) = choice(input) else { return };
    let options = ParseOptions {
        ansi_quotes: modes & 1 != 0,
        pipes_as_concat: modes & 2 != 0,
        no_backslash_escapes: modes & 4 != 0,
        ignore_space: modes & 8 != 0,
        high_not_precedence: modes & 16 != 0,
        placeholders: modes & 32 != 0,
        ..ParseOptions::default()
    };
    let mut rest = text;
    while let Ok(first) = parse_one(rest, options, &mut || true) {
        if let Some(statement) = &first.statement {
            assert!(!statement.name().is_empty());
            if let Statement::Query(query) = statement {
                let _ = query.to_string();
            }
        }
        let Some(next) = first.next.and_then(|next| rest.get(next..)) else { break };
        assert!(next.len() < rest.len(), "the next statement begins behind this one");
        rest = next;
    }
    let mut digest = Vec::new();
    digest_text(text, &options, 200, &mut digest);
    let mut key = PlanKey::new();
    if key.read(text, &options) {
        for parameter in key.parameters() {
            let _ = parameter.value(text, &options);
        }
        let first =
            text.get(..key.next_statement().unwrap_or(text.len())).expect("it begins within the text");
        if parse(first, options).is_ok() {
            let keyed = ParseOptions { placeholders: true, ..options };
            assert!(parse(key.text(), keyed).is_ok(), "{}", key.text().escape_ascii());
        }
    }
}
