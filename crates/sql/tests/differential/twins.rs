//! Runs scripts, and tells where the twins disagree.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use palisade_expr::mode::SqlMode;
use palisade_sql::Sql;

use super::script::{Query, Step};
use super::statement::{Condition, Side, Statement};
use crate::client::{Answer, Client, processor};

/// A fault built in, that the tests must find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    /// Indexed tables take `<=` for `<`.
    LostEnd,
    /// Twins are copied without one row.
    LostRow,
}

/// What went wrong. A smaller script shows the same only if it goes wrong in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Differs,
    Panics,
    /// With this error code, which is no answer to these statements.
    Fails(u16),
    Damages,
}

#[derive(Debug, Clone)]
pub struct Failure {
    pub kind: Kind,
    /// Position of the step.
    pub step: usize,
    pub text: String,
    /// The statements up to it.
    pub statements: String,
}

/// How many questions had an answer that both gave, and how many ended in an error that depends on which rows are
/// looked at.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    pub compared: u64,
    pub undecided: u64,
    pub rows: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.compared += other.compared;
        self.undecided += other.undecided;
        self.rows += other.rows;
    }
}

/// Errors of evaluation, which a plan that looks at fewer rows may not meet: more than one row, out of range, truncated,
/// wrong values of several kinds. And 1176: the keys that an index was to have were not unique.
const EVALUATION: &[u16] = &[1176, 1242, 1264, 1265, 1292, 1365, 1366, 1406, 1411, 1525, 1690, 3854];
/// Errors that a change may end with.
const REFUSED: &[u16] = &[1062, 1048];

enum Outcome {
    Answer(Answer),
    Error(u16, String),
}

/// A processor with a writing and a reading session.
struct Twins {
    writer: Client,
    reader: Client,
    fault: Fault,
    /// What the sessions were told.
    log: String,
    tally: Tally,
}

impl Twins {
    fn new(sql: &Arc<Sql>, fault: Fault) -> Twins {
        let [writer, reader] = [1, 2].map(|number| {
            let mut client = Client::new(sql, number);
            client.session.state.variables.sql_mode = SqlMode::of(0);
            client
        });
        let mut twins = Twins { writer, reader, fault, log: String::new(), tally: Tally::default() };
        for statement in ["DROP DATABASE IF EXISTS d", "CREATE DATABASE d", "USE d"] {
            twins.writer.run(statement);
        }
        twins.reader.run("USE d");
        twins
    }

    /// Runs all steps, to the first that goes wrong.
    fn run(&mut self, steps: &[Step]) -> Result<(), Failure> {
        self.log.clear();
        for (position, step) in steps.iter().enumerate() {
            let outcome = catch_unwind(AssertUnwindSafe(|| self.step(step)));
            let (kind, text) = match outcome {
                Ok(Ok(())) => continue,
                Ok(Err((kind, text))) => (kind, text),
                Err(panic) => {
                    let text = panic
                        .downcast_ref::<String>()
                        .cloned()
                        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                    (Kind::Panics, text.unwrap_or_default())
                }
            };
            return Err(Failure { kind, step: position, text, statements: self.log.clone() });
        }
        Ok(())
    }

    /// Rolls back what is open.
    fn end(&mut self) {
        self.writer.run("ROLLBACK");
        self.reader.run("ROLLBACK");
    }

    fn ask(&mut self, by_reader: bool, text: &str) -> Outcome {
        let sent = match self.fault {
            Fault::LostEnd if text.contains(" t0") => text.replace(" <= ", " < "),
            _ => text.to_owned(),
        };
        // Writing to a String does not fail.
        let _ = writeln!(self.log, "{text};{}", if by_reader { " -- reader" } else { "" });
        let client = if by_reader { &mut self.reader } else { &mut self.writer };
        match client.answer(&sent) {
            Ok(answer) => Outcome::Answer(answer),
            Err(error) => Outcome::Error(error.number(), error.to_string()),
        }
    }

    fn must(&mut self, by_reader: bool, text: &str) -> Result<Answer, (Kind, String)> {
        match self.ask(by_reader, text) {
            Outcome::Answer(answer) => Ok(answer),
            Outcome::Error(code, error) => Err((Kind::Fails(code), error)),
        }
    }

    fn step(&mut self, step: &Step) -> Result<(), (Kind, String)> {
        match step {
            Step::Create { table, columns, keys } => {
                let keys: String = keys.iter().map(|key| format!(", {key}")).collect();
                self.must(false, &format!("CREATE TABLE {} ({columns}{keys})", Side::Indexed.table(*table)))?;
                self.must(false, &format!("CREATE TABLE {} ({columns})", Side::Bare.table(*table)))?;
            }
            Step::Insert { table, values } => {
                let table = Side::Indexed.table(*table);
                self.must(false, &format!("INSERT IGNORE INTO {table} VALUES ({values})"))?;
            }
            Step::Copy { table } => {
                let (from, to) = (Side::Indexed.table(*table), Side::Bare.table(*table));
                let end = if self.fault == Fault::LostRow { " LIMIT 2" } else { "" };
                self.must(false, &format!("INSERT INTO {to} SELECT * FROM {from}{end}"))?;
                self.check(*table)?;
            }
            Step::Change { table, statement } => self.change(*table, statement)?,
            Step::Query(query) => self.query(query)?,
            Step::Partition { table, condition } => self.partition(*table, condition)?,
            Step::Control(text) => {
                self.must(false, text)?;
            }
            Step::Reader(text) => {
                self.must(true, text)?;
            }
            Step::Index { table, key } => {
                // It would wait for the reader's transaction.
                self.must(true, "ROLLBACK")?;
                match self.ask(false, &format!("ALTER TABLE {} ADD {key}", Side::Indexed.table(*table))) {
                    Outcome::Answer(_) => {}
                    Outcome::Error(1062, _) => {}
                    Outcome::Error(code, error) => return Err((Kind::Fails(code), error)),
                }
                self.check(*table)?;
            }
        }
        Ok(())
    }

    /// Changes both, the twin only if the indexed table's keys allowed it; then both must hold the same rows.
    fn change(&mut self, table: usize, statement: &Statement) -> Result<(), (Kind, String)> {
        let first = self.ask(false, &statement.write(Side::Indexed));
        match first {
            Outcome::Error(code, _) if REFUSED.contains(&code) => {}
            Outcome::Error(code, _) if EVALUATION.contains(&code) => self.tally.undecided += 1,
            first => {
                let second = self.ask(false, &statement.write(Side::Bare));
                match (&first, &second) {
                    (Outcome::Answer(first), Outcome::Answer(second)) if first == second => {
                        self.tally.compared += 1;
                    }
                    (Outcome::Error(first, _), Outcome::Error(second, _)) if first == second => {}
                    (Outcome::Answer(_), Outcome::Error(code, _)) if EVALUATION.contains(code) => {
                        self.tally.undecided += 1;
                        let (from, to) = (Side::Indexed.table(table), Side::Bare.table(table));
                        self.must(false, &format!("DELETE FROM {to}"))?;
                        self.must(false, &format!("INSERT INTO {to} SELECT * FROM {from}"))?;
                    }
                    _ => return Err(disagreement(&first, &second)),
                }
            }
        }
        let columns = "SELECT * FROM ";
        let [first, second] = [Side::Indexed, Side::Bare]
            .map(|side| format!("{columns}{} a ORDER BY a.id", side.table(table)))
            .map(|text| self.ask(false, &text));
        self.compare(&first, &second, true, false)?;
        self.check(table)
    }

    /// The table's indexes tell the same rows.
    fn check(&mut self, table: usize) -> Result<(), (Kind, String)> {
        let engine = self.writer.sql.engine();
        let name = Side::Indexed.table(table);
        let dictionary = engine.dictionary();
        let table = dictionary.table("d", &name).map_err(|error| (Kind::Damages, error.to_string()))?;
        let check = engine.check_table(table).map_err(|error| (Kind::Damages, error.to_string()))?;
        match check.damage.as_slice() {
            [] => Ok(()),
            damage => {
                let damage: Vec<String> = damage.iter().map(ToString::to_string).collect();
                Err((Kind::Damages, format!("{name}: {}", damage.join("; "))))
            }
        }
    }

    fn query(&mut self, query: &Query) -> Result<(), (Kind, String)> {
        let [first, second] = [Side::Indexed, Side::Bare].map(|side| match query.prepared {
            true => self.execute(query.by_reader, &query.statement, side),
            false => self.ask(query.by_reader, &query.statement.write(side)),
        });
        self.compare(&first, &second, query.ordered, query.folded)
    }

    fn execute(&mut self, by_reader: bool, statement: &Statement, side: Side) -> Outcome {
        let (text, values) = statement.write_prepared(side);
        let quoted = text.replace('\\', "\\\\").replace('\'', "''");
        let mut using = String::new();
        for (position, value) in values.iter().enumerate() {
            if let Outcome::Error(code, error) = self.ask(by_reader, &format!("SET @p{position} = {value}")) {
                return Outcome::Error(code, error);
            }
            using += if position == 0 { " USING " } else { ", " };
            using += &format!("@p{position}");
        }
        match self.ask(by_reader, &format!("PREPARE s FROM '{quoted}'")) {
            Outcome::Answer(_) => self.ask(by_reader, &format!("EXECUTE s{using}")),
            error => error,
        }
    }

    fn compare(
        &mut self,
        first: &Outcome,
        second: &Outcome,
        ordered: bool,
        folded: bool,
    ) -> Result<(), (Kind, String)> {
        match (first, second) {
            (Outcome::Answer(Answer::Rows(first_rows)), Outcome::Answer(Answer::Rows(second_rows))) => {
                let shown = |rows: &[Vec<String>]| {
                    let mut rows: Vec<Vec<String>> = rows
                        .iter()
                        .map(|row| {
                            row.iter().map(|value| if folded { fold(value) } else { value.clone() }).collect()
                        })
                        .collect();
                    if !ordered {
                        rows.sort();
                    }
                    rows
                };
                self.tally.compared += 1;
                self.tally.rows += first_rows.len() as u64;
                if shown(first_rows) == shown(second_rows) {
                    return Ok(());
                }
                Err(disagreement(first, second))
            }
            (Outcome::Error(first_code, _), Outcome::Error(second_code, _)) if first_code == second_code => {
                let known = EVALUATION.contains(first_code) || INVALID.contains(first_code);
                self.tally.undecided += 1;
                if known { Ok(()) } else { Err(disagreement(first, second)) }
            }
            (Outcome::Error(code, _), _) | (_, Outcome::Error(code, _)) if EVALUATION.contains(code) => {
                self.tally.undecided += 1;
                Ok(())
            }
            _ => Err(disagreement(first, second)),
        }
    }

    fn partition(&mut self, table: usize, condition: &Condition) -> Result<(), (Kind, String)> {
        let mut parts = Vec::new();
        let head = Statement::text("SELECT a.id FROM ").table(table).and(" a");
        for (opening, ending) in [(" WHERE (", ")"), (" WHERE NOT (", ")"), (" WHERE (", ") IS NULL")] {
            let statement = head.clone().and(opening).condition(condition.clone()).and(ending);
            match self.ask(false, &statement.write(Side::Indexed)) {
                Outcome::Answer(Answer::Rows(rows)) => parts.extend(rows),
                Outcome::Error(code, _) if EVALUATION.contains(&code) || INVALID.contains(&code) => {
                    self.tally.undecided += 1;
                    return Ok(());
                }
                other => return Err(disagreement(&other, &other)),
            }
        }
        parts.sort();
        let Answer::Rows(mut all) = self.must(false, &head.write(Side::Indexed))? else {
            return Err((Kind::Differs, "no rows".into()));
        };
        all.sort();
        self.tally.compared += 1;
        if parts == all {
            return Ok(());
        }
        let text = format!("the three parts: {parts:?}\nall: {all:?}");
        Err((Kind::Differs, text))
    }
}

/// Errors that say that a statement is none: an illegal mix of collations.
const INVALID: &[u16] = &[1267, 1270, 1271];

fn disagreement(first: &Outcome, second: &Outcome) -> (Kind, String) {
    let kind = match (first, second) {
        (Outcome::Error(code, _), _) | (_, Outcome::Error(code, _)) => Kind::Fails(*code),
        _ => Kind::Differs,
    };
    (kind, format!("indexed: {}\nbare:    {}", shown(first), shown(second)))
}

fn shown(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Answer(Answer::Rows(rows)) => {
            format!("{} rows: {rows:?}", rows.len())
        }
        Outcome::Answer(Answer::Affected(rows)) => format!("{rows} affected"),
        Outcome::Error(_, error) => error.clone(),
    }
}

/// One form of all values that some collation or type holds equal.
fn fold(value: &str) -> String {
    let plain: String = value
        .to_lowercase()
        .chars()
        // A BIT as text; utf8mb4_0900_ai_ci ignores such characters.
        .filter(|letter| !letter.is_control())
        .map(|letter| match letter {
            'á' => 'a',
            'é' => 'e',
            letter => letter,
        })
        .collect();
    match plain.trim_end() {
        "-0" => "0".to_owned(),
        plain => plain.to_owned(),
    }
}

/// Runs a script. A panic may have left the processor in any state: there is a new one then.
pub fn replay(sql: &mut Arc<Sql>, steps: &[Step], fault: Fault) -> (Result<(), Failure>, Tally) {
    let mut twins = Twins::new(sql, fault);
    let outcome = twins.run(steps);
    match &outcome {
        Err(failure) if failure.kind == Kind::Panics => *sql = processor(Arc::default()),
        _ => twins.end(),
    }
    (outcome, twins.tally)
}
