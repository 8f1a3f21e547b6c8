//! Another server as oracle: random statements are answered by Palisade and by MySQL, and the answers
//! compared.
//!
//! `cargo xtask answers --peer PORT [--seeds FROM..TO] [--port PORT] [--kind NAME] [--reduce COUNT]
//! [--schema NAME]`: a seed is a question of one or more statements, made by a kind (see [`kinds::KINDS`];
//! without `--kind` they take turns). Rows, types of columns, rows changed, errors and warnings must be
//! equal; doubles may differ in their last digits.
//!
//! A difference that docs/sql.md names is recognised by a rule (see [`rules`]) and counted under its name.
//! Any other is made as small as it gets (see [`mod@reduce`]; the first `COUNT` of each kind and form, 2
//! unless told), and shown with its seed: first differences of rows, then of types, errors, warnings. The
//! command fails if there is one, and if a wrong answer put in on purpose (see [`canary`]) would not have
//! been reported.
//!
//! No test: MySQL is no part of the project's tests. What is found and mended becomes a golden script.
//! docs/answers.md says how to run it.

mod author;
mod between;
mod canary;
mod changed;
mod compare;
mod findings;
mod groups;
mod kinds;
mod offset;
mod parameters;
mod question;
mod reduce;
mod rules;
mod unindexed;

use std::time::Instant;

use crate::Outcome;
use crate::client::{Client, execute};
use crate::server::Server;
use author::{ROWS, TABLE, second_table};
use compare::{Difference, Reply, ask, difference};
use findings::{Findings, Shown};
use kinds::{KINDS, Kind};
use question::{Question, Step};
use rules::{Case, named};
use unindexed::Unindexed;

struct Options {
    peer: u16,
    port: Option<u16>,
    /// The schema that is made anew on both servers, so that two runs may share them.
    schema: String,
    seeds: std::ops::Range<u64>,
    kinds: Vec<&'static Kind>,
    /// How many differences of a kind and form are made small.
    reduce: u64,
}

fn usage() -> String {
    let kinds: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    format!(
        "usage: cargo xtask answers --peer PORT [--seeds FROM..TO] [--port PORT] [--kind {}] [--reduce COUNT] [--schema NAME]",
        kinds.join("|")
    )
}

fn options(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options {
        peer: 0,
        port: None,
        schema: "answers".to_owned(),
        seeds: 0..20_000,
        kinds: KINDS.iter().collect(),
        reduce: 2,
    };
    for pair in arguments.chunks(2) {
        let [flag, value] = pair else { return Err(usage()) };
        match flag.as_str() {
            "--peer" => options.peer = value.parse().map_err(|_| usage())?,
            "--port" => options.port = Some(value.parse().map_err(|_| usage())?),
            "--schema" => options.schema = value.to_owned(),
            "--reduce" => options.reduce = value.parse().map_err(|_| usage())?,
            "--seeds" => {
                let (from, to) = value.split_once("..").ok_or_else(usage)?;
                options.seeds = from.parse().map_err(|_| usage())?..to.parse().map_err(|_| usage())?;
            }
            "--kind" => {
                let kind = KINDS.iter().find(|kind| kind.name == value.as_str());
                options.kinds = vec![kind.ok_or_else(usage)?];
            }
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
    let mut pair = Pair::new([port, options.peer], &options.schema)?;
    let mut findings = Findings::default();
    let begun = Instant::now();
    for (turn, seed) in options.seeds.clone().enumerate() {
        let kind = options.kinds[turn % options.kinds.len()];
        let question = (kind.question)(seed);
        let found = pair.first_difference(&question, |step, reply| {
            findings.canaries.entry(kind.name).or_default().try_with(step, reply);
        })?;
        let Some(found) = found else {
            findings.equal += 1;
            continue;
        };
        if question.steps.len() > 1 {
            pair.reset()?;
        }
        match found.name {
            Some(name) => {
                findings.add_named(name);
                if question.changes_rows() {
                    pair.remake()?;
                }
            }
            None => {
                let key = (found.difference, kind.name, question.about.clone());
                let small = match findings.count(&key) < options.reduce {
                    true => pair.smallest(&question, &found)?,
                    false => None,
                };
                if question.changes_rows() {
                    pair.remake()?;
                }
                findings.add(key, Shown { seed, question, found, small });
            }
        }
    }
    findings.statements = pair.statements;
    findings.print(begun.elapsed());
    findings.outcome()
}

/// The first difference in the answers to a question.
pub struct Found {
    difference: Difference,
    /// Error codes of both, where there are.
    codes: [Option<u16>; 2],
    /// The rule that knows it.
    name: Option<&'static str>,
    /// Both replies.
    shown: String,
}

/// Both servers: this one and its peer.
struct Pair {
    ports: [u16; 2],
    schema: String,
    servers: [Client; 2],
    unindexed: Unindexed,
    /// How many have been asked.
    statements: u64,
}

impl Pair {
    fn new(ports: [u16; 2], schema: &str) -> Result<Pair, String> {
        ports.iter().try_for_each(|port| prepare(*port, schema))?;
        let servers = [session(ports[0], schema)?, session(ports[1], schema)?];
        let plain = format!("{schema}_unindexed");
        prepare(ports[1], &plain)?;
        let unindexed = Unindexed::new(session(ports[1], &plain)?)?;
        Ok(Pair { ports, schema: schema.to_owned(), servers, unindexed, statements: 0 })
    }

    /// Opens the sessions of both anew.
    fn reconnect(&mut self) -> Outcome {
        self.servers = [session(self.ports[0], &self.schema)?, session(self.ports[1], &self.schema)?];
        Ok(())
    }

    /// Makes the tables and the sessions of both anew: rows that only one of them has would be a difference
    /// of the next question.
    fn remake(&mut self) -> Outcome {
        self.ports.iter().try_for_each(|port| prepare(*port, &self.schema))?;
        self.reconnect()
    }

    /// Makes both sessions as they were.
    fn reset(&mut self) -> Outcome {
        self.servers.iter_mut().try_for_each(|server| execute(server, "SET sql_mode = DEFAULT"))
    }

    /// Asks both all statements of a question until they differ; `alike` sees the replies that do not.
    fn first_difference(
        &mut self,
        question: &Question,
        mut alike: impl FnMut(&Step, &Reply),
    ) -> Result<Option<Found>, String> {
        for (at, step) in question.steps.iter().enumerate() {
            self.statements += 1;
            let replies = match ask(&mut self.servers, step) {
                Ok(replies) => replies,
                Err((1, error)) => return Err(format!("the peer: {step}: {error}")),
                Err((_, error)) => {
                    self.reconnect()?;
                    let (difference, shown) = (Difference::ConnectionLost, error.to_string());
                    return Ok(Some(Found { difference, codes: [None; 2], name: None, shown }));
                }
            };
            for (execution, [ours, theirs]) in replies.iter().enumerate() {
                if let Some(difference) = difference(ours, theirs) {
                    let mut shown = format!("ours:   {}\n    theirs: {}", ours.show(), theirs.show());
                    let case = Case { step, ours, theirs, difference };
                    let name = match self.name(&case) {
                        None if self.answers_as_with_values(question, step, execution, ours, &mut shown) => {
                            Some(parameters::NAME)
                        }
                        None if self.unindexed.answers(question, step, ours) => Some(unindexed::NAME),
                        None if difference == Difference::Rows => self.name_of_condition(question, at),
                        name => name,
                    };
                    let codes = [ours.error(), theirs.error()];
                    return Ok(Some(Found { difference, codes, name, shown }));
                }
                alike(step, ours);
            }
        }
        Ok(None)
    }

    /// The rule that knows a difference, of those that look at both replies and at what both servers say to
    /// the query in another form.
    fn name(&mut self, case: &Case) -> Option<&'static str> {
        if let Some(name) = named(case) {
            return Some(name);
        }
        if let Some(name) = between::name(case) {
            let comparisons = between::as_comparisons(case.step.text());
            let is_alike = self.answers_alike(comparisons.clone(), case.ours)
                || self.answers_unindexed(comparisons.clone(), case.ours)
                || self.refuses_dates(comparisons)
                || name == between::OF_TEXTS
                    && self.answers_alike(between::as_converted(case.step.text()), case.ours);
            if is_alike {
                return Some(name);
            }
        }
        self.answers_alike(offset::without(case.step.text()), case.ours).then_some(offset::NAME)
    }

    /// The rule that knows the difference of the rows for which the condition of an UPDATE or DELETE holds,
    /// which a step sees.
    fn name_of_condition(&mut self, question: &Question, at: usize) -> Option<&'static str> {
        let (before, query) = changed::as_query(question, at)?;
        for step in before {
            ask(&mut self.servers, step).ok()?;
        }
        let (step, [ours, theirs]) = self.other_form(Some(query))?;
        let found = difference(&ours, &theirs).filter(|difference| *difference == Difference::Rows)?;
        self.name(&Case { step: &step, ours: &ours, theirs: &theirs, difference: found })
    }

    /// Whether a statement with parameters is answered like the one that has their values in their place, and
    /// that one alike by both servers; else it is shown what they answer to that one.
    fn answers_as_with_values(
        &mut self,
        question: &Question,
        step: &Step,
        execution: usize,
        ours: &Reply,
        shown: &mut String,
    ) -> bool {
        let Some(forms) = parameters::with_values(question, step, execution) else { return false };
        for statements in forms {
            let mut replies = Vec::new();
            for text in &statements {
                let Ok(found) = ask(&mut self.servers, &Step::Text(text.clone())) else { return false };
                replies = found;
            }
            let Some((last, [[again, theirs]])) = statements.last().zip(replies.first_chunk()) else {
                return false;
            };
            let step = Step::Text(last.clone());
            let is_meant = difference(again, theirs).is_none_or(|difference| {
                self.name(&Case { step: &step, ours: again, theirs, difference }).is_some()
            });
            // What would be no date comes too late for that error.
            if is_meant && (parameters::same_values(ours, again) || again.error() == Some(1525)) {
                return true;
            }
            *shown +=
                &format!("\n    as:     {last}\n    ours:   {}\n    theirs: {}", again.show(), theirs.show());
        }
        false
    }

    /// Whether Palisade answers another form of a query as it has answered the query, and the other form is
    /// answered alike by both servers.
    fn answers_alike(&mut self, other: Option<String>, ours: &Reply) -> bool {
        let Some((step, [again, theirs])) = self.other_form(other) else { return false };
        let (again, theirs) = (&again, &theirs);
        let is_meant = difference(again, theirs)
            .is_none_or(|difference| named(&Case { step: &step, ours: again, theirs, difference }).is_some());
        is_meant && parameters::same_values(ours, again)
    }

    /// Whether the peer, without indexes, answers another form of a query as Palisade has answered the query.
    fn answers_unindexed(&mut self, other: Option<String>, ours: &Reply) -> bool {
        let Some(other) = other else { return false };
        let question = Question::of(vec![other], "");
        question.steps.first().is_some_and(|step| self.unindexed.answers(&question, step, ours))
    }

    /// Whether both servers say of another form of a query that a constant in it is no date (1525).
    fn refuses_dates(&mut self, other: Option<String>) -> bool {
        let replies = self.other_form(other);
        replies.is_some_and(|(_, replies)| replies.iter().all(|reply| reply.error() == Some(1525)))
    }

    fn other_form(&mut self, other: Option<String>) -> Option<(Step, [Reply; 2])> {
        let step = Step::Text(other?);
        let replies = ask(&mut self.servers, &step).ok()?;
        Some((step, replies.into_iter().next()?))
    }

    /// The smallest question that shows the same kind of difference, and what it shows.
    fn smallest(&mut self, question: &Question, found: &Found) -> Result<Option<(Question, Found)>, String> {
        let mut last = None;
        let mut lost = None;
        let small = reduce::reduce(question, |candidate| {
            if lost.is_some() {
                return false;
            }
            let _ = self.reset();
            match self.first_difference(candidate, |_, _| {}) {
                Ok(Some(again))
                    if again.name.is_none()
                        && (again.difference, again.codes) == (found.difference, found.codes) =>
                {
                    last = Some(again);
                    true
                }
                Ok(_) => false,
                Err(error) => {
                    lost = Some(error);
                    false
                }
            }
        });
        // A part of a statement may have changed what the statement does not.
        self.remake()?;
        match lost {
            Some(error) => Err(error),
            None => Ok(last.map(|found| (small, found))),
        }
    }
}

/// Makes the tables anew.
fn prepare(port: u16, schema: &str) -> Outcome {
    let mut client = Client::connect(port).map_err(|error| format!("port {port}: {error}"))?;
    for statement in [
        &format!("DROP DATABASE IF EXISTS {schema}"),
        &format!("CREATE DATABASE {schema} DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci"),
        &format!("USE {schema}"),
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
    for statement in KINDS.iter().flat_map(|kind| kind.tables) {
        execute(&mut client, statement)?;
    }
    Ok(())
}

/// A session in which the questions are asked.
fn session(port: u16, schema: &str) -> Result<Client, String> {
    let mut client = Client::connect(port).map_err(|error| format!("port {port}: {error}"))?;
    for statement in [
        &format!("USE {schema}"),
        "SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci",
        "SET time_zone = '+00:00', timestamp = 1705314030.25",
    ] {
        execute(&mut client, statement)?;
    }
    Ok(client)
}
