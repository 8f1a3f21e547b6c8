//! The corpus: statements written by hand after the manual, and captured from real clients.
#![allow(dead_code, reason = "each test uses a part")]

use palisade_parser::ast::Statement;
use palisade_parser::{First, ParseError, ParseOptions, parse_one};

/// The files of the corpus.
pub const FILES: [&str; 4] = ["hand", "prec", "dump", "clients"];

/// The statements of one file: separated by lines `;;`, with `#cat` lines between groups.
pub fn statements(file: &str) -> Vec<String> {
    let path = format!("{}/tests/corpus/{file}.txt", env!("CARGO_MANIFEST_DIR"));
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    text.split("\n;;\n")
        .map(|chunk| chunk.lines().filter(|line| !line.starts_with("#cat")).collect::<Vec<_>>().join("\n"))
        .filter(|statement| !statement.trim().is_empty())
        .collect()
}

/// All statements of a text.
pub fn parse_all(text: &[u8], options: ParseOptions) -> Result<Vec<Statement>, ParseError> {
    let mut statements = Vec::new();
    let mut rest = text;
    loop {
        let First { statement, next, .. } = parse_one(rest, options, &mut || true)?;
        statements.extend(statement);
        match next {
            Some(next) => rest = &rest[next..],
            None => return Ok(statements),
        }
    }
}

/// What MySQL says to a text, after its standing phrase.
pub fn near(text: &str) -> String {
    let error = parse_all(text.as_bytes(), ParseOptions::default()).expect_err(text).to_string();
    error.split_once("to use ").map_or(error.clone(), |(_, near)| near.to_owned())
}
