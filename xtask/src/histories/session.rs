//! A client, its transactions and what it saw.

use std::sync::atomic::Ordering;

use palisade_isolation::branch::Branch;
use palisade_isolation::workload::{End, Generator, Plan};
use palisade_isolation::{Element, Fate, Key, Level, Look, Op, Transaction};

use super::coordinator::Handed;
use super::{Event, Promise, Stage};
use crate::client::{Answer, Client};

/// A statement was killed (KILL QUERY).
pub const KILLED: u16 = 1317;
/// A row that is to be inserted is there already.
pub const DUPLICATE: u16 = 1062;
/// Of these an application knows that the statement has changed nothing, and that the transaction is there still: a row is
/// there already, a lock was waited for too long, the statement was killed.
pub const STATEMENT_ONLY: &[u16] = &[DUPLICATE, 1205, KILLED];
/// Errors that an application answers by rolling back and trying again: those; a deadlock; a row newer than the snapshot; an
/// XA transaction that was rolled back, for no reason or for one of these.
const TRANSIENT: &[u16] = &[DUPLICATE, 1205, KILLED, 1213, 1020, 1402, 1613, 1614];

/// Why a transaction does not go on.
pub enum Trouble {
    /// The server refused, with this error.
    Refused(u16),
    /// A statement was refused, and what others of the same step had changed before it is not taken back.
    Spoiled,
    /// The connection broke.
    Gone,
    /// What must not be.
    Wrong(String),
}

/// What a transaction has done until now.
#[derive(Default)]
pub struct Deeds {
    pub ops: Vec<Op>,
    pub undone: Vec<(Key, Element)>,
    pub looks: Vec<Look>,
    pub events: Vec<Event>,
}

impl Deeds {
    /// What was appended after the first `kept` ops was taken back.
    fn take_back(&mut self, kept: usize) {
        for op in self.ops.split_off(kept) {
            match op {
                Op::Append(key, element) => self.undone.push((key, element)),
                seen => self.ops.push(seen),
            }
        }
    }
}

/// How a transaction came out.
enum Outcome {
    Ended(Fate),
    /// Somebody else finds out, or ends it.
    Handed {
        name: String,
        branch: Branch,
    },
}

pub struct Session<'a> {
    pub stage: &'a Stage,
    number: u32,
    promise: &'a Promise,
    generator: Generator,
    /// How many XA transactions there were.
    branches: u32,
    seed: u64,
    client: Option<Client>,
    seen: Vec<Transaction>,
}

impl<'a> Session<'a> {
    pub fn new(stage: &'a Stage, seed: u64, number: u32, promise: &'a Promise) -> Session<'a> {
        let generator = Generator::new(seed, number, promise.level);
        Session { stage, number, promise, generator, branches: 0, seed, client: None, seen: Vec::new() }
    }

    /// Runs transactions until the run is over.
    pub fn run(mut self) -> Result<Vec<Transaction>, String> {
        while !self.stage.is_over() {
            if self.client.is_none() && !self.connect() {
                break;
            }
            let plan = self.generator.plan();
            let (life, begin) = (self.stage.life.load(Ordering::SeqCst), self.stage.now());
            let mut deeds = Deeds::default();
            let outcome = match plan.end.is_xa() {
                true => self.play_branch(&plan, &mut deeds)?,
                false => Outcome::Ended(self.play(&plan, &mut deeds)?),
            };
            let Deeds { ops, undone, looks, events } = deeds;
            let session = self.number;
            let of = |fate, end| Transaction { session, begin, end, fate, ops, undone, looks };
            match outcome {
                Outcome::Ended(fate) => {
                    if fate == Fate::Committed {
                        events.into_iter().for_each(|event| self.stage.note(event));
                    }
                    self.seen.push(of(fate, self.stage.now()));
                }
                Outcome::Handed { name, branch } => {
                    let handed =
                        Handed { name, branch, life, is_recovered: false, transaction: of(Fate::Unknown, 0) };
                    self.stage.handed.lock().expect("nobody panics").push(handed);
                }
            }
        }
        Ok(self.seen)
    }

    /// A new connection at the level; false if the run is over.
    fn connect(&mut self) -> bool {
        while let Some(mut client) = self.stage.connect() {
            let switch = if self.promise.level == Level::Snapshot { "ON" } else { "OFF" };
            let greeting = [
                "USE histories".to_owned(),
                format!("SET SESSION TRANSACTION ISOLATION LEVEL {}", self.promise.isolation),
                format!("SET innodb_snapshot_isolation = {switch}"),
                "SET palisade_durable_reads = ON".to_owned(),
                "SET innodb_lock_wait_timeout = 2".to_owned(),
            ];
            if greeting.iter().all(|statement| client.query(statement).is_ok()) {
                self.stage.connections.lock().expect("nobody panics").insert(self.number, client.id);
                self.client = Some(client);
                return true;
            }
        }
        false
    }

    pub fn statement(&mut self, statement: &str) -> Result<Answer, Trouble> {
        let client = self.client.as_mut().ok_or(Trouble::Gone)?;
        match client.query(statement) {
            Ok(Answer::Failed(number, ..)) if TRANSIENT.contains(&number) => Err(Trouble::Refused(number)),
            Ok(Answer::Failed(number, _, text)) => {
                Err(Trouble::Wrong(format!("{statement}: ERROR {number}: {text}")))
            }
            Ok(answer) => Ok(answer),
            Err(_) => Err(Trouble::Gone),
        }
    }

    /// A transaction that is not XA's, and how it ended.
    fn play(&mut self, plan: &Plan, deeds: &mut Deeds) -> Result<Fate, String> {
        let mut is_asked = plan.is_single;
        let outcome = match plan.is_single {
            true => self.step(plan.steps[0], deeds),
            false => {
                let begin = if plan.is_read_only { "START TRANSACTION READ ONLY" } else { "BEGIN" };
                let done = self.statement(begin).map(drop).and_then(|()| self.steps(plan, deeds));
                is_asked = done.is_ok() && plan.end == End::Commit;
                let end = if plan.end == End::Commit { "COMMIT" } else { "ROLLBACK" };
                done.and_then(|()| self.statement(end).map(drop))
            }
        };
        let fate = match &outcome {
            Ok(()) if plan.end == End::Commit => Fate::Committed,
            Ok(()) => Fate::Aborted,
            Err(Trouble::Wrong(text)) => return Err(text.clone()),
            Err(_) if !is_asked => Fate::Aborted,
            // killed: perhaps while it waited for its commit to be durable
            Err(Trouble::Refused(number)) if plan.is_single && *number != KILLED => Fate::Aborted,
            Err(_) => Fate::Unknown,
        };
        match outcome {
            Err(Trouble::Refused(_) | Trouble::Spoiled) if self.statement("ROLLBACK").is_ok() => {}
            Err(_) => self.client = None,
            Ok(()) => {}
        }
        Ok(fate)
    }

    /// The steps, and what went wrong if one could not be gone on from.
    fn steps(&mut self, plan: &Plan, deeds: &mut Deeds) -> Result<(), Trouble> {
        for step in &plan.steps {
            let kept = deeds.ops.len();
            match self.step(*step, deeds) {
                Err(Trouble::Refused(number)) if plan.goes_on && STATEMENT_ONLY.contains(&number) => {
                    deeds.take_back(kept);
                    deeds.events.push(Event::WentOn);
                }
                other => other?,
            }
        }
        Ok(())
    }

    /// An XA transaction.
    fn play_branch(&mut self, plan: &Plan, deeds: &mut Deeds) -> Result<Outcome, String> {
        self.branches += 1;
        let name = format!("h{}-{}-{}", self.seed, self.number, self.branches);
        let begun = self.statement(&format!("XA START '{name}'")).map(drop);
        let is_begun = begun.is_ok();
        if let Err(trouble) = begun.and_then(|()| self.steps(plan, deeds)) {
            self.give_up(is_begun.then_some(&name), trouble)?;
            return Ok(Outcome::Ended(Fate::Aborted));
        }
        if let Err(trouble) = self.statement(&format!("XA END '{name}'")) {
            self.give_up(None, trouble)?;
            return Ok(Outcome::Ended(Fate::Aborted));
        }
        match plan.end {
            End::Prepare { is_rolled_back, is_handed_over } => {
                let end = if is_rolled_back { Fate::Aborted } else { Fate::Committed };
                self.prepare(name, Branch::new(end), is_handed_over, deeds)
            }
            End::OnePhase => match self.statement(&format!("XA COMMIT '{name}' ONE PHASE")) {
                Ok(_) => Ok(Outcome::Ended(Fate::Committed)),
                Err(Trouble::Wrong(text)) => Err(text),
                // killed, or rolled back: whatever it is, no more is to be heard of it
                Err(_) => {
                    self.client = None;
                    Ok(Outcome::Ended(Fate::Unknown))
                }
            },
            End::NotPrepared | End::Commit | End::Rollback => {
                if let Err(trouble) = self.statement(&format!("XA ROLLBACK '{name}'")) {
                    self.give_up(None, trouble)?;
                }
                Ok(Outcome::Ended(Fate::Aborted))
            }
        }
    }

    /// Prepares a transaction, and ends it if that is not left to the coordinator.
    fn prepare(
        &mut self,
        name: String,
        mut branch: Branch,
        is_handed_over: bool,
        deeds: &mut Deeds,
    ) -> Result<Outcome, String> {
        match self.statement(&format!("XA PREPARE '{name}'")) {
            Ok(_) => branch.is_prepared(),
            Err(Trouble::Wrong(text)) => return Err(text),
            Err(_) => {
                self.client = None;
                return Ok(Outcome::Handed { name, branch });
            }
        }
        if is_handed_over {
            return Ok(Outcome::Handed { name, branch });
        }
        branch.is_ending();
        let verb = if branch.end() == Fate::Committed { "COMMIT" } else { "ROLLBACK" };
        match self.statement(&format!("XA {verb} '{name}'")) {
            Ok(_) => {
                self.stage.ended.lock().expect("nobody panics").insert(name);
                deeds.events.push(Event::EndedByItsSession);
                Ok(Outcome::Ended(branch.end()))
            }
            Err(Trouble::Wrong(text)) => Err(text),
            Err(_) => {
                self.client = None;
                Ok(Outcome::Handed { name, branch })
            }
        }
    }

    /// Rolls back an XA transaction that is not prepared: by its name, if it takes statements, or by giving up the connection.
    fn give_up(&mut self, active: Option<&String>, trouble: Trouble) -> Result<(), String> {
        let is_refused = matches!(trouble, Trouble::Refused(_) | Trouble::Spoiled);
        let outcome = match active.filter(|_| is_refused) {
            // Whether it ends or says that it was rolled back: it is to be rolled back.
            Some(name) => match self.statement(&format!("XA END '{name}'")) {
                Ok(_) | Err(Trouble::Refused(_)) => self.statement(&format!("XA ROLLBACK '{name}'")),
                Err(trouble) => Err(trouble),
            },
            None => Err(trouble),
        };
        match outcome {
            Ok(_) => {}
            Err(Trouble::Wrong(text)) => return Err(text),
            Err(_) => self.client = None,
        }
        Ok(())
    }
}
