//! Stable plans: with `palisade_plan_stability` a statement keeps its plan until another one has proved to be
//! faster.
//!
//! ```text
//!             planned as the planner likes it now
//!                  |                 |
//!          same outline         another one ------------- it lost before: not yet again
//!                  |                 |                                  |
//!            executed           on trial: both are executed,      planned by the
//!                               in turns, and measured            outline that is kept
//!                                 |              |
//!                          proved faster      not proved
//!                          it is kept now     planned by the outline that is kept
//! ```
//!
//! What is kept of a plan is its [outline](Outline), not its operators: it outlives the version of the
//! dictionary that the plan was made under, and a restart. A statement is known by its digest, as for
//! bindings, by the default database and by the flags of `optimizer_switch`.
//!
//! All of this happens when a plan is made. One that is kept with its statement was held to the outline
//! already; it has the [premise](palisade_plan::premise) that the outline still stands, which falls when a
//! trial begins or ends. While a trial goes on no plan is kept with the statement, and each execution asks
//! here whose turn it is. So a plan that has no other way, which has no premises, costs nothing more.
//!
//! | module | what it holds |
//! |---|---|
//! | here | which plans are kept, and the course of a trial |
//! | `measure` | when a plan has proved to be faster |
//! | `run` | planning by it, and executing a plan that is on trial |
//! | `table` | the outlines in `mysql.palisade_plans` |

mod measure;
mod run;
mod table;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use palisade_expr::session_variables::OptimizerSwitches;
use palisade_plan::outline::Outline;

use measure::{Times, Verdict};
pub(crate) use run::Trial;

/// Statements that are kept at most.
const MOST_STATEMENTS: usize = 10_000;
/// Bytes that they take at most, about.
const MOST_WEIGHT: usize = 16 << 20;
/// Outlines of a statement that lost a trial and are remembered.
const MOST_REJECTED: usize = 4;
/// How long an outline that lost is not tried again, the first time; each time four times as long.
const FIRST_REST: Duration = Duration::from_secs(600);
/// The longest such time.
const LONGEST_REST: Duration = Duration::from_secs(86_400);
/// Executions of a trial at most, those among them that fail or are killed.
const MOST_TURNS: u64 = 8 * measure::MOST;
/// How often in a row an outline may not be reproduced before another one takes its place.
const MOST_MISSES: u32 = 8;

/// What a statement is known by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    /// The default database, empty for none.
    pub(crate) database: String,
    /// What the planner may do.
    pub(crate) switches: OptimizerSwitches,
    /// The text of its digest.
    pub(crate) digest: Vec<u8>,
}

/// The plans that statements of a server keep.
#[derive(Default)]
pub struct KeptPlans {
    is_on: AtomicBool,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    statements: HashMap<Arc<Identity>, Statement>,
    weight: usize,
    /// Grows with each statement that is planned.
    now: u64,
    /// Statements that are known no more, and are in the table still.
    forgotten: Vec<Arc<Identity>>,
}

/// A statement whose plan is kept.
struct Statement {
    kept: Arc<Outline>,
    /// What plans that are held to it take for granted.
    stands: Arc<AtomicBool>,
    trial: Option<Contest>,
    rejected: Vec<Rejected>,
    misses: u32,
    /// When it was planned last.
    used: u64,
    /// About how many bytes it took when it was added.
    weight: usize,
    /// It is to be written to the table.
    is_new: bool,
}

/// A trial that goes on.
struct Contest {
    tried: Arc<Outline>,
    /// Executions by the plan that is kept, and by the one that is tried.
    of_kept: Times,
    of_tried: Times,
    turns: u64,
}

/// An outline that lost a trial.
struct Rejected {
    outline: Arc<Outline>,
    /// When it may be tried again.
    until: Duration,
    rest: Duration,
}

/// By which of two plans a statement is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    Kept,
    Tried,
}

/// How a statement is to be planned.
#[derive(Debug)]
pub(crate) enum Choice {
    /// As it was planned, which is as it is kept. The plan is right while this stands.
    AsItIs(Arc<AtomicBool>),
    /// Held to the outline that is kept.
    Held(Arc<Outline>, Arc<AtomicBool>),
    /// Two plans are tried in turns.
    OnTrial {
        kept: Arc<Outline>,
        tried: Arc<Outline>,
        turn: Turn,
        /// The longest execution by the plan that is kept, if there was any.
        longest: Option<Duration>,
    },
}

/// What is told of a statement whose plan is kept.
#[derive(Debug, Clone)]
pub struct KeptPlan {
    /// The default database that it is for.
    pub database: String,
    /// The text of its digest.
    pub digest_text: Vec<u8>,
    /// The flags of `optimizer_switch` that it is for, as bits.
    pub switches: u32,
    /// The outline that is kept.
    pub outline: Arc<Outline>,
    /// The outline that is on trial.
    pub tried: Option<Arc<Outline>>,
    /// Executions that the trial has measured, by the plan that is kept and by the one that is tried, and the
    /// microseconds of each in the mean.
    pub measured: [(u64, f64); 2],
    /// Outlines that lost a trial and are not tried again yet.
    pub rejected: u64,
}

impl KeptPlans {
    /// Whether plans are kept: `palisade_plan_stability`.
    pub fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Plans are kept from now on, or are not. Those that were stay known. Gives whether that is a change.
    pub fn turn(&self, on: bool) -> bool {
        self.is_on.swap(on, Ordering::Relaxed) != on
    }

    /// The statements whose plans are kept, in order of their texts.
    pub fn list(&self) -> Vec<KeptPlan> {
        let known = self.lock();
        let told = |(identity, statement): (&Arc<Identity>, &Statement)| {
            let trial = statement.trial.as_ref();
            let measured =
                |times: Option<&Times>| times.map_or((0, 0.0), |times| (times.count(), times.mean()));
            KeptPlan {
                database: identity.database.clone(),
                digest_text: identity.digest.clone(),
                switches: identity.switches.bits(),
                outline: statement.kept.clone(),
                tried: trial.map(|trial| trial.tried.clone()),
                measured: [
                    measured(trial.map(|trial| &trial.of_kept)),
                    measured(trial.map(|trial| &trial.of_tried)),
                ],
                rejected: statement.rejected.len() as u64,
            }
        };
        let mut all: Vec<KeptPlan> = known.statements.iter().map(told).collect();
        drop(known);
        all.sort_by(|one, other| {
            (&one.digest_text, &one.database, one.switches).cmp(&(
                &other.digest_text,
                &other.database,
                other.switches,
            ))
        });
        all
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How a statement is to be planned that the planner would give this outline.
    pub(crate) fn choose(&self, identity: &Arc<Identity>, free: &Arc<Outline>, now: Duration) -> Choice {
        let mut known = self.lock();
        known.now += 1;
        let used = known.now;
        let Some(statement) = known.statements.get_mut(identity) else {
            let statement = Statement::new(free.clone(), used);
            let stands = statement.stands.clone();
            known.add(identity.clone(), statement);
            return Choice::AsItIs(stands);
        };
        statement.used = used;
        if statement.trial.as_ref().is_some_and(|contest| contest.turns >= MOST_TURNS) {
            statement.reject(now);
        }
        if statement.trial.is_none() && statement.kept != *free && statement.may_try(free, now) {
            statement.begin_trial(free.clone());
        }
        match &mut statement.trial {
            Some(contest) => Choice::OnTrial {
                kept: statement.kept.clone(),
                tried: contest.tried.clone(),
                turn: contest.next_turn(),
                longest: contest.of_kept.longest(),
            },
            None if statement.kept == *free => {
                statement.misses = 0;
                Choice::AsItIs(statement.stands.clone())
            }
            None => Choice::Held(statement.kept.clone(), statement.stands.clone()),
        }
    }

    /// The outline that a statement keeps.
    pub(crate) fn outline(&self, identity: &Identity) -> Option<Arc<Outline>> {
        self.lock().statements.get(identity).map(|statement| statement.kept.clone())
    }

    /// The outline that is kept was reproduced.
    pub(crate) fn reproduced(&self, identity: &Identity) {
        if let Some(statement) = self.lock().statements.get_mut(identity) {
            statement.misses = 0;
        }
    }

    /// The outline that is kept could not be reproduced, so that the statement was planned as the planner
    /// likes it, which is `free`. If that was so too often, or `is_lost` says that it cannot be otherwise,
    /// this is kept from now on.
    pub(crate) fn missed(&self, identity: &Arc<Identity>, free: &Arc<Outline>, is_lost: bool) {
        let mut known = self.lock();
        let Some(statement) = known.statements.get_mut(identity) else { return };
        statement.misses += 1;
        if is_lost || statement.misses >= MOST_MISSES {
            statement.keep(free.clone());
            statement.rejected.clear();
        }
    }

    /// An execution by a plan that is on trial has come to its end. `tried` tells this trial from another.
    pub(crate) fn measured(
        &self,
        identity: &Identity,
        tried: &Arc<Outline>,
        turn: Turn,
        took: Duration,
        now: Duration,
    ) {
        let mut known = self.lock();
        let Some(statement) = known.trying(identity, tried) else { return };
        let Some(contest) = &mut statement.trial else { return };
        match turn {
            Turn::Kept => contest.of_kept.add(took),
            Turn::Tried => contest.of_tried.add(took),
        }
        match measure::verdict(&contest.of_kept, &contest.of_tried) {
            Verdict::Open => {}
            Verdict::Faster => statement.keep(tried.clone()),
            Verdict::NotFaster => statement.reject(now),
        }
    }

    /// The plan that is tried took far too long, or could not be made again.
    pub(crate) fn failed(&self, identity: &Identity, tried: &Arc<Outline>, now: Duration) {
        let mut known = self.lock();
        if let Some(statement) = known.trying(identity, tried) {
            statement.reject(now);
        }
    }

    /// Forgets what is kept of a statement, whatever its switches.
    pub(crate) fn forget(&self, database: &str, digest: &[u8]) {
        let mut known = self.lock();
        let is_meant = |identity: &&Arc<Identity>| identity.database == database && identity.digest == digest;
        let gone: Vec<Arc<Identity>> = known.statements.keys().filter(is_meant).cloned().collect();
        gone.iter().for_each(|identity| known.remove(identity));
    }
}

impl Known {
    /// A statement that this outline is on trial for.
    fn trying(&mut self, identity: &Identity, tried: &Arc<Outline>) -> Option<&mut Statement> {
        let statement = self.statements.get_mut(identity)?;
        let is_tried = statement.trial.as_ref().is_some_and(|contest| contest.tried == *tried);
        is_tried.then_some(statement)
    }

    fn add(&mut self, identity: Arc<Identity>, mut statement: Statement) {
        statement.weight = weight(&identity, &statement);
        self.weight += statement.weight;
        self.statements.insert(identity, statement);
        if self.statements.len() > MOST_STATEMENTS || self.weight > MOST_WEIGHT {
            self.forget_some();
        }
    }

    fn remove(&mut self, identity: &Arc<Identity>) {
        let Some(statement) = self.statements.remove(identity) else { return };
        self.weight -= statement.weight;
        statement.stands.store(false, Ordering::Relaxed);
        // Where nothing can be written rows stay behind, and are forgotten again after the next start.
        if self.forgotten.len() < MOST_STATEMENTS {
            self.forgotten.push(identity.clone());
        }
    }

    /// Forgets the eighth of the statements that were planned least lately.
    fn forget_some(&mut self) {
        let mut used: Vec<u64> = self.statements.values().map(|statement| statement.used).collect();
        let count = used.len().div_ceil(8);
        used.sort_unstable();
        let Some(last) = used.get(count - 1).copied() else { return };
        let old = |(_, statement): &(&Arc<Identity>, &Statement)| statement.used <= last;
        let gone: Vec<Arc<Identity>> =
            self.statements.iter().filter(old).map(|(identity, _)| identity.clone()).collect();
        gone.iter().for_each(|identity| self.remove(identity));
    }
}

/// About how many bytes a statement takes.
fn weight(identity: &Identity, statement: &Statement) -> usize {
    size_of::<Identity>() + size_of::<Statement>() + identity.digest.len() + statement.kept.weight()
}

impl Statement {
    fn new(kept: Arc<Outline>, used: u64) -> Statement {
        Statement {
            kept,
            stands: Arc::new(AtomicBool::new(true)),
            trial: None,
            rejected: Vec::new(),
            misses: 0,
            used,
            weight: 0,
            is_new: true,
        }
    }

    /// Plans that are kept elsewhere are made anew, and ask again.
    fn outdate(&mut self) {
        self.stands.store(false, Ordering::Relaxed);
        self.stands = Arc::new(AtomicBool::new(true));
    }

    fn keep(&mut self, outline: Arc<Outline>) {
        self.rejected.retain(|rejected| rejected.outline != outline);
        self.kept = outline;
        self.trial = None;
        self.misses = 0;
        self.is_new = true;
        self.outdate();
    }

    fn may_try(&self, outline: &Arc<Outline>, now: Duration) -> bool {
        self.rejected.iter().all(|rejected| rejected.outline != *outline || rejected.until <= now)
    }

    fn begin_trial(&mut self, tried: Arc<Outline>) {
        self.trial = Some(Contest { tried, of_kept: Times::default(), of_tried: Times::default(), turns: 0 });
        self.outdate();
    }

    /// The trial has ended, and what is kept stays.
    fn reject(&mut self, now: Duration) {
        let Some(Contest { tried, .. }) = self.trial.take() else { return };
        let before = self.rejected.iter().position(|rejected| rejected.outline == tried);
        let before = before.map(|at| self.rejected.remove(at));
        let rest = before.map_or(FIRST_REST, |before| (before.rest * 4).min(LONGEST_REST));
        if self.rejected.len() >= MOST_REJECTED {
            self.rejected.remove(0);
        }
        self.rejected.push(Rejected { outline: tried, until: now + rest, rest });
        self.outdate();
    }
}

impl Contest {
    /// Whose turn it is: first that of the plan that is kept, so that it is known how long the other may
    /// take; then by no pattern that the values of the statement could follow, and neither much more often.
    fn next_turn(&mut self) -> Turn {
        self.turns += 1;
        let (kept, tried) = (self.of_kept.count(), self.of_tried.count());
        if kept < 2 || kept + 2 <= tried {
            return Turn::Kept;
        }
        if tried + 2 <= kept {
            return Turn::Tried;
        }
        let mixed = self.turns.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ mixed >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        if mixed >> 63 == 0 { Turn::Kept } else { Turn::Tried }
    }
}
