//! Who ends the XA transactions that their sessions leave prepared.
//!
//! A session hands over what it has prepared, or what it does not know the state of: it was killed, or the server was. The
//! coordinator asks XA RECOVER what is prepared, compares that with what it knows ([`Branch`]), ends what is there as it was
//! decided, and writes down the transactions that have ended. It is killed like the sessions, and then asks again. What it
//! must not find: one that was prepared and is gone, one that has ended and is there again, and names that nobody gave.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use palisade_base::prng::Prng;
use palisade_isolation::branch::Branch;
use palisade_isolation::{Fate, Transaction};

use super::{Event, SESSIONS, Stage};
use crate::client::{Answer, Client};

/// XAER_NOTA: there is none of this name, or somebody else is ending it.
const UNKNOWN_NAME: u16 = 1397;

/// A transaction that is to be ended by its name.
pub struct Handed {
    pub name: String,
    pub branch: Branch,
    /// How often the server had been killed when it was begun.
    pub life: u32,
    /// It was found prepared after the server had been killed.
    pub is_recovered: bool,
    /// Its fate is yet unknown.
    pub transaction: Transaction,
}

pub struct Coordinator<'a> {
    stage: &'a Stage,
    prng: Prng,
    pending: Vec<Handed>,
    seen: Vec<Transaction>,
}

impl<'a> Coordinator<'a> {
    pub fn new(stage: &'a Stage, seed: u64) -> Self {
        let prng = Prng::new(seed ^ 0x7861);
        Coordinator { stage, prng, pending: Vec::new(), seen: Vec::new() }
    }

    /// Ends what is handed over until the run is over.
    pub fn run(mut self) -> Result<Self, String> {
        let mut client = None;
        while !self.stage.is_over() {
            std::thread::sleep(Duration::from_millis(self.prng.below(40)));
            if client.is_none() {
                let Some(connected) = self.stage.connect() else { break };
                let mut connections = self.stage.connections.lock().expect("nobody panics");
                connections.insert(SESSIONS, connected.id);
                client = Some(connected);
            }
            let Some(connected) = client.as_mut() else { continue };
            // some are left for later, so that they live for a while, and some see the server killed; those that have are
            // left for longer, so that others meet what they have locked in their life before
            if !self.round(connected, |handed| if handed.is_recovered { 20 } else { 3 })? {
                client = None;
            }
        }
        Ok(self)
    }

    /// Ends all that is left; nobody else does anything any more.
    pub fn finish(mut self, client: &mut Client) -> Result<Vec<Transaction>, String> {
        loop {
            if !self.round(client, |_| 1)? {
                return Err("the connection broke although nobody kills any more".to_owned());
            }
            if self.pending.is_empty() {
                break;
            }
        }
        match listed(client)? {
            Some(names) if names.is_empty() => Ok(self.seen),
            names => Err(format!("prepared although all have ended: {names:?}")),
        }
    }

    /// Looks what is prepared, and ends each, one time in `one_in`. False if the connection is of no use any more.
    fn round(&mut self, client: &mut Client, one_in: fn(&Handed) -> u64) -> Result<bool, String> {
        self.pending.append(&mut self.stage.handed.lock().expect("nobody panics"));
        let ended = self.stage.ended.lock().expect("nobody panics").clone();
        let life = self.stage.life.load(Ordering::SeqCst);
        let is_held = self.stage.is_held.load(Ordering::SeqCst);
        let Some(names) = listed(client)? else { return Ok(false) };
        if let Some(name) = names.intersection(&ended).next() {
            return Err(format!("{name} is prepared, and its end had been acknowledged"));
        }
        let mut left = Vec::new();
        let mut is_connected = true;
        for mut handed in std::mem::take(&mut self.pending) {
            let is_listed = names.contains(&handed.name);
            let fate = handed.branch.look(is_listed).map_err(|what| {
                format!("{}: {what}; prepared are {names:?}; {:?}", handed.name, handed.transaction)
            })?;
            if is_listed && life > handed.life {
                (handed.life, handed.is_recovered) = (life, true);
                self.stage.note(Event::Recovered);
            }
            let fate = match fate {
                None if is_connected && !is_held && self.prng.one_in(one_in(&handed)) => {
                    let (answered, fate) = end(self.stage, client, &mut handed)?;
                    is_connected = answered;
                    fate
                }
                other => other,
            };
            match fate {
                Some(fate) => {
                    handed.transaction.fate = fate;
                    handed.transaction.end = self.stage.now();
                    self.seen.push(handed.transaction);
                }
                None => left.push(handed),
            }
        }
        self.pending = left;
        if is_held {
            let kept = self.pending.iter().filter(|handed| names.contains(&handed.name));
            self.stage.prepared.store(kept.count(), Ordering::SeqCst);
        }
        Ok(is_connected)
    }
}

/// Asks for the end of one. Whether there was an answer, and its fate if it was the end.
fn end(stage: &Stage, client: &mut Client, handed: &mut Handed) -> Result<(bool, Option<Fate>), String> {
    let verb = if handed.branch.end() == Fate::Committed { "COMMIT" } else { "ROLLBACK" };
    let statement = format!("XA {verb} '{}'", handed.name);
    handed.branch.is_ending();
    match client.query(&statement) {
        Ok(Answer::Done(_)) => {
            handed.branch.has_ended();
            stage.ended.lock().expect("nobody panics").insert(handed.name.clone());
            stage.note(Event::EndedByAnother);
            Ok((true, Some(handed.branch.end())))
        }
        Ok(Answer::Failed(number, _, text)) if !is_transient(number) => {
            Err(format!("{statement}: ERROR {number}: {text}"))
        }
        Ok(Answer::Failed(..)) => Ok((true, None)),
        Ok(Answer::Rows(_)) => Err(format!("{statement}: rows")),
        Err(_) => Ok((false, None)),
    }
}

/// What XA COMMIT and XA ROLLBACK may answer, and XA RECOVER tells more: killed; of that name there is none, or another has
/// not finished with it.
fn is_transient(number: u16) -> bool {
    number == super::session::KILLED || number == UNKNOWN_NAME
}

/// The names of what is prepared; none if the connection is of no use or the question was killed.
fn listed(client: &mut Client) -> Result<Option<BTreeSet<String>>, String> {
    match client.query("XA RECOVER") {
        Ok(Answer::Rows(rows)) => {
            let name = |row: Vec<Option<String>>| row.into_iter().nth(3).flatten();
            let names: Option<BTreeSet<String>> = rows.into_iter().map(name).collect();
            names.map(Some).ok_or_else(|| "XA RECOVER gave no names".to_owned())
        }
        Ok(Answer::Failed(number, ..)) if number == super::session::KILLED => Ok(None),
        Ok(answer) => Err(format!("XA RECOVER: {answer}")),
        Err(_) => Ok(None),
    }
}
