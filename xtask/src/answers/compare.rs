//! What a server says to a statement, and in what two servers differ.

use std::io::Result;

use super::question::Step;
use crate::client::{Answer, Client, Column, Parameter};

/// In what two answers differ, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    ConnectionLost,
    /// Of rows, or of how many rows were changed.
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

/// What a server says to a statement.
#[derive(Debug, Clone)]
pub struct Reply {
    pub answer: Answer,
    pub columns: Vec<Column>,
    /// Code and text of each.
    pub warnings: Vec<(String, String)>,
    /// What is said beside the rows changed.
    pub info: String,
}

impl Reply {
    /// All of it on one line.
    pub fn show(&self) -> String {
        let types: Vec<String> = self.columns.iter().map(Column::to_string).collect();
        let mut warnings = String::new();
        for (code, text) in &self.warnings {
            warnings += &format!("; {code} {text}");
        }
        let info = if self.info.is_empty() { String::new() } else { format!(" ({})", self.info) };
        format!("{}{info} [{}]{warnings}", self.answer.to_string().escape_debug(), types.join(", "))
    }

    /// The number of the error that it is.
    pub fn error(&self) -> Option<u16> {
        match &self.answer {
            Answer::Failed(code, ..) => Some(*code),
            Answer::Done(_) | Answer::Rows(_) => None,
        }
    }

    fn of(client: &mut Client, answer: Answer) -> Reply {
        let columns = std::mem::take(&mut client.columns);
        Reply { answer, columns, warnings: Vec::new(), info: std::mem::take(&mut client.info) }
    }
}

/// Asks both servers one step: an execution of a prepared statement is an answer of its own. An error is of
/// the server with the number: 0 for ours.
pub fn ask(
    servers: &mut [Client; 2],
    step: &Step,
) -> std::result::Result<Vec<[Reply; 2]>, (usize, std::io::Error)> {
    match step {
        Step::Text(text) => {
            for (at, server) in servers.iter_mut().enumerate() {
                server.send(text).map_err(|error| (at, error))?;
            }
            let mut replies = Vec::new();
            for (at, server) in servers.iter_mut().enumerate() {
                let answer = server.receive().map_err(|error| (at, error))?;
                replies.push(Reply::of(server, answer));
            }
            let mut pair = <[Reply; 2]>::try_from(replies).expect("there are two servers");
            add_warnings(servers, &mut pair)?;
            Ok(vec![pair])
        }
        Step::Binary(text, executions) => ask_binary(servers, text, executions),
    }
}

fn ask_binary(
    servers: &mut [Client; 2],
    text: &str,
    executions: &[Vec<Parameter>],
) -> std::result::Result<Vec<[Reply; 2]>, (usize, std::io::Error)> {
    let mut prepared = Vec::new();
    for (at, server) in servers.iter_mut().enumerate() {
        prepared.push(server.prepare(text).map_err(|error| (at, error))?);
    }
    let failed = |server: &mut Client, answer: Answer| {
        server.columns.clear();
        server.warnings = 0;
        Reply::of(server, answer)
    };
    let [ours, theirs] = <[_; 2]>::try_from(prepared).unwrap_or_else(|_| unreachable!("two servers"));
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => {
            let prepared = [ours, theirs];
            let mut pairs = Vec::new();
            for values in executions {
                let mut replies = Vec::new();
                for (at, server) in servers.iter_mut().enumerate() {
                    let fitting = usize::from(prepared[at].parameters).min(values.len());
                    let answer = server
                        .execute_prepared(&prepared[at], &values[..fitting])
                        .map_err(|error| (at, error))?;
                    replies.push(Reply::of(server, answer));
                }
                let mut pair = <[Reply; 2]>::try_from(replies).expect("there are two servers");
                add_warnings(servers, &mut pair)?;
                pairs.push(pair);
            }
            for (at, statement) in prepared.into_iter().enumerate() {
                servers[at].close_prepared(statement).map_err(|error| (at, error))?;
            }
            Ok(pairs)
        }
        (ours, theirs) => {
            let answer = |prepared: std::result::Result<_, Answer>| {
                prepared.map_or_else(|answer| answer, |_| Answer::Done(0))
            };
            let (ours, theirs) = (answer(ours), answer(theirs));
            Ok(vec![[failed(&mut servers[0], ours), failed(&mut servers[1], theirs)]])
        }
    }
}

/// Asks one server a statement.
pub fn ask_one(server: &mut Client, text: &str) -> Result<Reply> {
    let answer = server.query(text)?;
    let warned = server.warnings > 0 && !matches!(answer, Answer::Failed(..));
    let mut reply = Reply::of(server, answer);
    if warned {
        reply.warnings = warnings(server)?;
    }
    Ok(reply)
}

/// Asks for the warnings where either server says that there are some.
fn add_warnings(
    servers: &mut [Client; 2],
    pair: &mut [Reply; 2],
) -> std::result::Result<(), (usize, std::io::Error)> {
    let failed = pair.iter().any(|reply| matches!(reply.answer, Answer::Failed(..)));
    if failed || servers.iter().all(|server| server.warnings == 0) {
        return Ok(());
    }
    for (at, server) in servers.iter_mut().enumerate() {
        pair[at].warnings = warnings(server).map_err(|error| (at, error))?;
    }
    Ok(())
}

fn warnings(client: &mut Client) -> Result<Vec<(String, String)>> {
    let Answer::Rows(rows) = client.query("SHOW WARNINGS")? else { return Ok(Vec::new()) };
    let pair = |row: Vec<Option<String>>| {
        let [_, code, text] = <[Option<String>; 3]>::try_from(row).expect("SHOW WARNINGS has three columns");
        (code.unwrap_or_default(), text.unwrap_or_default())
    };
    Ok(rows.into_iter().map(pair).collect())
}

/// In what two replies differ, if in anything.
pub fn difference(ours: &Reply, theirs: &Reply) -> Option<Difference> {
    match (&ours.answer, &theirs.answer) {
        (Answer::Rows(our_rows), Answer::Rows(their_rows)) => {
            if !same_rows(&ours.columns, our_rows, their_rows) {
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
        (Answer::Done(our_count), Answer::Done(their_count)) => {
            // Both say how many warnings there are, which are compared by themselves.
            let said = |reply: &Reply| reply.info.split("  Warnings:").next().unwrap_or_default().to_owned();
            if our_count != their_count || said(ours) != said(theirs) {
                Some(Difference::Rows)
            } else {
                (ours.warnings != theirs.warnings).then_some(Difference::Warnings)
            }
        }
        (Answer::Done(_), Answer::Rows(_)) | (Answer::Rows(_), Answer::Done(_)) => Some(Difference::Rows),
    }
}

/// Whether these are the same rows in the same order; doubles may differ in their last digits.
fn same_rows(columns: &[Column], ours: &[Vec<Option<String>>], theirs: &[Vec<Option<String>>]) -> bool {
    ours.len() == theirs.len()
        && ours.iter().zip(theirs).all(|(ours, theirs)| {
            ours.len() == theirs.len()
                && ours
                    .iter()
                    .zip(theirs)
                    .zip(columns)
                    .all(|((left, right), column)| left == right || column.is_double() && close(left, right))
        })
}

fn close(left: &Option<String>, right: &Option<String>) -> bool {
    let (Some(left), Some(right)) = (left, right) else { return false };
    match (left.parse::<f64>(), right.parse::<f64>()) {
        (Ok(left), Ok(right)) => (left - right).abs() <= 1e-12 * left.abs().max(right.abs()),
        _ => false,
    }
}
