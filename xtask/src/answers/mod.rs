//! Another server as oracle: random statements are answered by Palisade and by MySQL, and the answers compared.
//!
//! `cargo xtask answers --peer PORT [--seeds FROM..TO] [--port PORT] [--kind grouping]`: each seed is a
//! statement (see [`author`]): a function or an operator with constants and columns of all types as
//! arguments; or one that stores such a value. Rows, types of columns, errors and warnings must be equal.
//! Differences are counted by what the statement is about, the shortest of each kind is shown: first those of
//! rows, then of types, errors, warnings. Doubles may differ in their last digits.
//!
//! No test: MySQL is no part of the project's tests, and some differences are meant (docs/sql.md). What is found and mended
//! becomes a golden script.

mod author;
mod groups;

use std::collections::BTreeMap;

use crate::Outcome;
use crate::client::{Answer, Client, Column, execute};
use crate::server::Server;
use author::{Author, Question, ROWS, TABLE, second_table};

/// In what two answers differ, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Difference {
    ConnectionLost,
    Rows,
    OnlyPalisadeFails,
    OnlyPeerFails,
    NotSupported,
    Types,
    Errors,
    Warnings,
}

/// Errors that say that something is not there yet.
const UNSUPPORTED: &[u16] = &[1235, 1305];

struct Options {
    peer: u16,
    port: Option<u16>,
    seeds: std::ops::Range<u64>,
    /// Only questions about grouping.
    groups: bool,
}

fn options(arguments: &[String]) -> Result<Options, String> {
    let usage = || {
        "usage: cargo xtask answers --peer PORT [--seeds FROM..TO] [--port PORT] [--kind grouping]".to_owned()
    };
    let mut options = Options { peer: 0, port: None, seeds: 0..20_000, groups: false };
    for pair in arguments.chunks(2) {
        let [flag, value] = pair else { return Err(usage()) };
        match flag.as_str() {
            "--peer" => options.peer = value.parse().map_err(|_| usage())?,
            "--port" => options.port = Some(value.parse().map_err(|_| usage())?),
            "--seeds" => {
                let (from, to) = value.split_once("..").ok_or_else(usage)?;
                options.seeds = from.parse().map_err(|_| usage())?..to.parse().map_err(|_| usage())?;
            }
            "--kind" if value == "grouping" => options.groups = true,
            _ => return Err(usage()),
        }
    }
    if options.peer == 0 { Err(usage()) } else { Ok(options) }
}

/// Asks both.
pub fn run(arguments: &[String]) -> Outcome {
    let options = options(arguments)?;
    let (_server, port) = match options.port {
        Some(port) => (None, port),
        None => {
            let server = Server::start("answers", &[])?;
            let port = server.port;
            (Some(server), port)
        }
    };
    let mut servers = [prepare(port)?, prepare(options.peer)?];
    let mut findings = Findings::default();
    for seed in options.seeds {
        let question = match options.groups {
            true => groups::question(seed),
            false => Author::new(seed).question(),
        };
        let mut equal = true;
        for statement in &question.statements {
            let [ours, theirs] = servers.each_mut().map(|server| ask(server, statement));
            let theirs = theirs.map_err(|error| format!("the peer: {statement}: {error}"))?;
            let found = match ours {
                Ok(ours) => difference(&ours, &theirs).map(|difference| {
                    (difference, format!("ours:   {}\n    theirs: {}", ours.show(), theirs.show()))
                }),
                Err(error) => {
                    servers[0] = session(port)?;
                    Some((Difference::ConnectionLost, error.to_string()))
                }
            };
            if let Some((difference, shown)) = found {
                findings.add(difference, &question, seed, &shown);
                equal = false;
                break;
            }
        }
        if equal {
            findings.equal += 1;
        } else if question.statements.len() > 1 {
            servers.iter_mut().try_for_each(|server| execute(server, "SET sql_mode = DEFAULT"))?;
        }
    }
    findings.print();
    Ok(())
}

/// What has been found about a function: how often, and the shortest statement that shows it.
#[derive(Default)]
struct Finding {
    count: u64,
    length: usize,
    shown: String,
}

#[derive(Default)]
struct Findings {
    equal: u64,
    different: BTreeMap<(Difference, String), Finding>,
}

impl Findings {
    fn add(&mut self, difference: Difference, question: &Question, seed: u64, shown: &str) {
        let finding = self.different.entry((difference, question.about.clone())).or_default();
        finding.count += 1;
        let text = question.statements.join("; ");
        let length = text.len();
        if finding.shown.is_empty() || length < finding.length {
            finding.length = length;
            finding.shown = format!("{seed}: {text};\n    {shown}");
        }
    }

    fn print(&self) {
        let mut sums: BTreeMap<Difference, u64> = BTreeMap::new();
        for ((difference, about), finding) in &self.different {
            println!("{difference:?} {} x {about}\n  {}", finding.count, finding.shown);
            *sums.entry(*difference).or_default() += finding.count;
        }
        println!("equal: {}; different: {sums:?}", self.equal);
    }
}

/// Makes the table anew.
fn prepare(port: u16) -> Result<Client, String> {
    let mut client = Client::connect(port).map_err(|error| format!("port {port}: {error}"))?;
    for statement in [
        "DROP DATABASE IF EXISTS answers",
        "CREATE DATABASE answers DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci",
        "USE answers",
        "SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci",
        "SET time_zone = '+00:00', sql_mode = 'NO_ENGINE_SUBSTITUTION'",
        TABLE,
        &second_table(),
    ] {
        execute(&mut client, statement)?;
    }
    for row in ROWS {
        execute(&mut client, &format!("INSERT INTO v VALUES ({row})"))?;
    }
    session(port)
}

/// A session in which the questions are asked.
fn session(port: u16) -> Result<Client, String> {
    let mut client = Client::connect(port).map_err(|error| format!("port {port}: {error}"))?;
    for statement in [
        "USE answers",
        "SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci",
        "SET time_zone = '+00:00', timestamp = 1705314030.25",
    ] {
        execute(&mut client, statement)?;
    }
    Ok(client)
}

/// What a server says to a statement.
struct Reply {
    answer: Answer,
    columns: Vec<Column>,
    warnings: Vec<(String, String)>,
}

impl Reply {
    fn show(&self) -> String {
        let types: Vec<String> = self.columns.iter().map(Column::to_string).collect();
        let mut warnings = String::new();
        for (code, text) in &self.warnings {
            warnings += &format!("; {code} {text}");
        }
        format!("{} [{}]{warnings}", self.answer.to_string().escape_debug(), types.join(", "))
    }
}

fn ask(client: &mut Client, statement: &str) -> std::io::Result<Reply> {
    let answer = client.query(statement)?;
    let columns = std::mem::take(&mut client.columns);
    let mut warnings = Vec::new();
    if !matches!(answer, Answer::Failed(..))
        && let Answer::Rows(rows) = client.query("SHOW WARNINGS")?
    {
        for row in rows {
            let [_, code, text] =
                <[Option<String>; 3]>::try_from(row).expect("SHOW WARNINGS has three columns");
            warnings.push((code.unwrap_or_default(), text.unwrap_or_default()));
        }
    }
    Ok(Reply { answer, columns, warnings })
}

fn difference(ours: &Reply, theirs: &Reply) -> Option<Difference> {
    match (&ours.answer, &theirs.answer) {
        (Answer::Rows(our_rows), Answer::Rows(their_rows)) => {
            let double = ours.columns.iter().all(|column| column.is_double());
            let same = our_rows.len() == their_rows.len()
                && our_rows
                    .iter()
                    .flatten()
                    .zip(their_rows.iter().flatten())
                    .all(|(l, r)| l == r || double && close(l, r));
            if !same {
                Some(Difference::Rows)
            } else if ours.columns.iter().zip(&theirs.columns).any(|(l, r)| !l.is_like(r)) {
                Some(Difference::Types)
            } else {
                (ours.warnings != theirs.warnings).then_some(Difference::Warnings)
            }
        }
        (Answer::Failed(..), Answer::Failed(..)) => {
            (ours.answer != theirs.answer).then_some(Difference::Errors)
        }
        (Answer::Failed(code, ..), _) if UNSUPPORTED.contains(code) => Some(Difference::NotSupported),
        (Answer::Failed(..), _) => Some(Difference::OnlyPalisadeFails),
        (_, Answer::Failed(..)) => Some(Difference::OnlyPeerFails),
        (ours, theirs) => (ours != theirs).then_some(Difference::Rows),
    }
}

fn close(left: &Option<String>, right: &Option<String>) -> bool {
    let (Some(left), Some(right)) = (left, right) else { return false };
    match (left.parse::<f64>(), right.parse::<f64>()) {
        (Ok(left), Ok(right)) => (left - right).abs() <= 1e-12 * left.abs().max(right.abs()),
        _ => false,
    }
}
