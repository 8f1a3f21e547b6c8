//! Statements of the golden scripts and of the parser's corpus, mutated: tokens left out, doubled, exchanged,
//! nested, and replaced by extremes.
//!
//! A connection goes through a script from its beginning, so that what a statement speaks of is there, and
//! sends each as it is, or mutated, or both.

use std::path::Path;
use std::time::Duration;

use palisade_base::prng::Prng;

use crate::client::Client;
use crate::process::root;
use crate::tokens::split;

/// How long an answer is waited for before the connection is given up.
const PATIENCE: Duration = Duration::from_millis(1500);

/// Longer ones than `max_allowed_packet`, but within one frame of the protocol.
const MOST_BYTES: usize = 2 << 20;

/// What would not test a statement but wait, or stop what is tested.
const LEFT_OUT: &[&str] = &["SLEEP", "GET_LOCK", "SHUTDOWN", "RESTART"];

/// Scripts: statements that belong together, in their order.
pub struct Corpus {
    scripts: Vec<Vec<String>>,
}

impl Corpus {
    pub fn read() -> Result<Corpus, String> {
        let mut scripts = Vec::new();
        for (folder, extension, separator) in
            [("tests/golden", "sql", ";\n"), ("crates/parser/tests/corpus", "txt", "\n;;\n")]
        {
            for path in files(&root().join(folder), extension)? {
                let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let statements: Vec<String> =
                    text.split(separator).map(statement).filter(|statement| !statement.is_empty()).collect();
                if !statements.is_empty() {
                    scripts.push(statements);
                }
            }
        }
        if scripts.is_empty() { Err("there are no scripts".into()) } else { Ok(Corpus { scripts }) }
    }
}

fn files(folder: &Path, extension: &str) -> Result<Vec<std::path::PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<_> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|known| known == extension))
        .collect();
    // a seed chooses among them: in the same order on every machine
    paths.sort();
    Ok(paths)
}

/// Without lines that are comments, and not too long.
fn statement(text: &str) -> String {
    let lines: Vec<&str> =
        text.lines().filter(|line| !line.starts_with("--") && !line.starts_with("#cat")).collect();
    let text = lines.join("\n").trim().to_owned();
    if text.len() > 4000 || left_out(&text) { String::new() } else { text }
}

fn left_out(text: &str) -> bool {
    let upper = text.to_uppercase();
    LEFT_OUT.iter().any(|word| upper.contains(word))
}

/// Sends so many statements; gives them, and how many were answered.
pub fn send(prng: &mut Prng, port: u16, corpus: &Corpus, count: u64) -> (Vec<Vec<u8>>, u64) {
    let (mut sent, mut answered) = (Vec::new(), 0);
    let mut client = None;
    while (sent.len() as u64) < count {
        let script = prng.pick(&corpus.scripts);
        let from = if prng.one_in(3) { prng.below(script.len() as u64) as usize } else { 0 };
        for statement in &script[from..] {
            let mut texts = Vec::new();
            if prng.one_in(2) {
                texts.push(statement.clone());
            }
            for _ in 0..prng.below(3) {
                texts.push(mutated(prng, statement, script));
            }
            for text in texts.into_iter().filter(|text| text.len() < MOST_BYTES && !left_out(text)) {
                sent.push(text.clone().into_bytes());
                answered += u64::from(is_answered(&mut client, port, &text));
            }
            if sent.len() as u64 >= count {
                break;
            }
        }
    }
    (sent, answered)
}

/// Sends a statement, on a new connection where there is none, and waits for the answer, which does not
/// matter.
fn is_answered(client: &mut Option<Client>, port: u16, text: &str) -> bool {
    if client.is_none() {
        *client = Client::login(port, "hostile", PATIENCE).ok();
    }
    let answered = client.as_mut().is_some_and(|session| session.query(text).is_ok());
    if !answered {
        *client = None;
    }
    answered
}

const EXTREMES: &[&str] = &[
    "0",
    "-1",
    "NULL",
    "18446744073709551615",
    "-9223372036854775808",
    "9223372036854775808",
    "4294967296",
    "1e308",
    "-1e308",
    "1e-320",
    "0.000000000000000000000000000001",
    "99999999999999999999999999999999999999999999999999999999999999999",
    "''",
    "'a'",
    "x'ff'",
    "b'1'",
    "@a",
    "@@sql_mode",
    "?",
    "*",
    "'$[last]'",
    "DATE'9999-12-31'",
    "TIME'-838:59:59'",
    "'\\0'",
    "'日本'",
    "DEFAULT",
    "(SELECT 1)",
    "CAST('[1]' AS JSON)",
    "65535",
    "16777216",
    "`a`",
    "SELECT",
    "FROM",
    ".",
    "65536",
    "-2147483649",
    "INTERVAL 1 DAY",
    "REPEAT('a', 1000000)",
    "VALUES(a)",
    "ROW(1, 2)",
];

fn mutated(prng: &mut Prng, statement: &str, script: &[String]) -> String {
    let mut tokens = split(statement);
    for _ in 0..1 + prng.below(3) {
        if tokens.is_empty() {
            break;
        }
        let at = prng.below(tokens.len() as u64) as usize;
        let end = (at + 1 + prng.below(4) as usize).min(tokens.len());
        match prng.below(10) {
            0 => drop(tokens.drain(at..end)),
            1 => {
                let copy = tokens[at..end].to_vec();
                drop(tokens.splice(at..at, copy));
            }
            2 => {
                let other = prng.below(tokens.len() as u64) as usize;
                tokens.swap(at, other);
            }
            3..=5 => tokens[at] = format!(" {}", prng.pick(EXTREMES)),
            6 => nest(prng, &mut tokens, at),
            7 => {
                let other = split(prng.pick::<String>(script));
                let from = prng.below(other.len() as u64 + 1) as usize;
                drop(tokens.splice(at.., other[from..].iter().cloned()));
            }
            8 => tokens[at] = lengthened(prng, &tokens[at]),
            _ => tokens.truncate(at),
        }
    }
    tokens.concat().trim().to_owned()
}

/// A token within many of the same kind.
fn nest(prng: &mut Prng, tokens: &mut [String], at: usize) {
    let (open, close) = *prng.pick(&[
        ("(", ")"),
        ("-", ""),
        ("NOT ", ""),
        ("(SELECT ", ")"),
        ("ABS(", ")"),
        ("JSON_ARRAY(", ")"),
        ("CONCAT('a', ", ")"),
        ("CASE WHEN 1 THEN ", " END"),
        ("IF(1, ", ", 2)"),
        ("1 IN (", ")"),
        ("(SELECT * FROM ", ") AS x"),
    ]);
    let depth = *prng.pick(&[2, 20, 60, 200, 3000]);
    tokens[at] = format!(" {}{}{}", open.repeat(depth), tokens[at].trim(), close.repeat(depth));
}

/// A name, a number or a text of a length that is not usual.
fn lengthened(prng: &mut Prng, token: &str) -> String {
    // A token may have been made long before.
    let times = (*prng.pick(&[2, 10, 64, 100, 3000])).min(MOST_BYTES / token.len().max(1));
    match token.trim().chars().next() {
        Some('\'') => format!(" '{}'", token.trim().trim_matches('\'').repeat(times)),
        Some(c) if c.is_alphanumeric() => format!(" {}", token.trim().repeat(times)),
        _ => token.repeat(times),
    }
}
