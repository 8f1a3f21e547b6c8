//! What happens when nobody asks for it: purge, and rolling back what nobody will.
//!
//! The threads hold the transaction system, not the engine: an engine that is dropped is gone, and its threads find out
//! at their next step.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use palisade_base::event::{retry_after, retry_blocking};
use palisade_buffer::BufferPool;
use palisade_io::heap::Mimalloc;
use palisade_txn::undo::UndoReserve;
use palisade_txn::{ChangesLeft, SessionNo, Trx, TrxSystem};
use parking_lot::{Condvar, Mutex};

use crate::Error;
use crate::engine::{Engine, Registry};
use crate::metadata::MetadataLocks;
use crate::rows::PURGE;

/// How long purge rests when it found nothing to do.
const REST: Duration = Duration::from_millis(20);
/// The longest rest, after nothing was found many times.
const LONG_REST: Duration = Duration::from_millis(200);
/// How often memory that is free is given back to the machine.
const GIVING_BACK: Duration = Duration::from_secs(1);
/// Changes of a transaction that are undone before the next one gets its turn.
const TURN: usize = 1000;
/// The rest after a failure.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// The background threads, and what they are given.
pub(crate) struct Background {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct Shared {
    stop: AtomicBool,
    /// Transactions to be rolled back. They keep their metadata locks until then.
    abandoned: Mutex<VecDeque<Trx>>,
    metadata: Arc<MetadataLocks>,
    registry: Arc<Registry>,
    /// By session, the damaged tables that a rollback has come upon.
    stuck: Mutex<BTreeMap<SessionNo, BTreeSet<u64>>>,
    changed: Condvar,
}

impl Background {
    pub(crate) fn new(metadata: Arc<MetadataLocks>, registry: Arc<Registry>) -> Self {
        let shared = Shared {
            stop: AtomicBool::new(false),
            abandoned: Mutex::default(),
            metadata,
            registry,
            stuck: Mutex::default(),
            changed: Condvar::new(),
        };
        Background { shared: Arc::new(shared), threads: Mutex::default() }
    }

    /// Starts `purgers` purge threads, and the rollback thread if `rolls_back`.
    pub(crate) fn start(
        &self,
        trx: &Arc<TrxSystem>,
        pool: &Arc<BufferPool>,
        purgers: usize,
        rolls_back: bool,
    ) -> Result<(), Error> {
        let mut threads = self.threads.lock();
        for number in 0..purgers {
            let (shared, trx, pool) = (self.shared.clone(), trx.clone(), pool.clone());
            let thread = std::thread::Builder::new().name(format!("purge-{number}"));
            threads.push(thread.spawn(move || purge(&shared, &trx, &pool, number == 0))?);
        }
        if rolls_back {
            let shared = self.shared.clone();
            let thread = std::thread::Builder::new().name("rollback".to_owned());
            threads.push(thread.spawn(move || roll_back_abandoned(&shared))?);
        }
        Ok(())
    }

    /// Has a transaction rolled back.
    pub(crate) fn abandon(&self, mut trx: Trx) {
        trx.set_owner(0);
        trx.note_rollback();
        self.shared.abandoned.lock().push_back(trx);
        self.shared.changed.notify_all();
    }

    /// Rolls back what has been abandoned, on the calling thread.
    pub(crate) fn roll_back(&self, wait: Wait<'_>) -> Result<usize, Error> {
        self.shared.roll_back(wait)
    }

    /// Whether changes in the table cannot be undone, and their transaction does not keep the table from being redefined.
    pub(crate) fn is_stuck_in(&self, table: u64) -> bool {
        self.shared.stuck.lock().values().any(|tables| tables.contains(&table))
    }

    /// Ends the threads.
    pub(crate) fn stop(&self) {
        self.shared.end();
        for thread in self.threads.lock().drain(..) {
            thread.join().expect("a background thread does not panic");
        }
    }
}

/// Calls a step until it need not wait.
pub(crate) type Wait<'a> =
    &'a dyn Fn(&mut dyn FnMut() -> palisade_txn::Attempt<bool>) -> Result<bool, palisade_txn::Error>;

impl Engine {
    /// [`retry_blocking`]; an engine without threads cleans pages instead, as nobody else does.
    pub(crate) fn wait_for_step(
        &self,
        step: &mut dyn FnMut() -> palisade_txn::Attempt<bool>,
    ) -> Result<bool, palisade_txn::Error> {
        retry_after(step, |event| {
            match self.config.background {
                true => event.wait_blocking(),
                // nobody else makes room, and one round may not be enough
                false => {
                    self.pool.step()?;
                }
            }
            Ok(())
        })
    }

    /// One round of page cleaning on the calling thread: frees frames, writes dirty pages, and a checkpoint if one is
    /// due. For engines without [threads](crate::EngineConfig::background).
    pub fn clean_step(&self) -> Result<(), Error> {
        self.pool.step()?;
        Ok(())
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn end(&self) {
        self.stop.store(true, Ordering::Release);
        let _held = self.abandoned.lock();
        self.changed.notify_all();
    }

    fn is_ending(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Rolls back what has been abandoned, in turn: nobody waits for a row of a small transaction until a large one has been
    /// undone. Those that fail keep their rows locked until a later attempt succeeds, or until the next start.
    fn roll_back(&self, wait: Wait<'_>) -> Result<usize, Error> {
        let mut count = 0;
        let (mut failed, mut failure) = (Vec::new(), None);
        while !self.is_ending() {
            let next = self.abandoned.lock().pop_front();
            let Some(mut trx) = next else { break };
            match self.undo_some(&mut trx, wait) {
                Ok(true) => self.abandoned.lock().push_back(trx),
                Ok(false) => {
                    self.metadata.unpin_everything(trx.session());
                    self.stuck.lock().remove(&trx.session());
                    count += 1;
                }
                Err(error) => {
                    self.make_way(&mut trx, &error, wait);
                    failure.get_or_insert(error);
                    failed.push(trx);
                }
            }
        }
        self.abandoned.lock().extend(failed);
        failure.map_or(Ok(count), |error| Err(error.into()))
    }

    /// The rollback has failed. If a table is damaged, only that keeps it from going on: so the transaction lets go of all tables but
    /// those in which it has something to undo, and of the damaged one, too, which may have to be dropped.
    ///
    /// That is then as for purge, which does not ask for tables either: who drops an index or a table waits until no undo step
    /// uses it. Who would read all rows of the table as they are, in order to build something of them, is refused.
    fn make_way(&self, trx: &mut Trx, failure: &palisade_txn::Error, wait: Wait<'_>) {
        let mut left = ChangesLeft::default();
        let mut damaged = None;
        let mut tables = BTreeSet::new();
        loop {
            let mut next = None;
            let found = wait(&mut || {
                next = trx.next_change_left(&mut left)?;
                Ok(next.is_some())
            });
            match found {
                // Nobody knows what it has changed: it keeps what it has.
                Err(_) => return,
                Ok(false) => break,
                Ok(true) => {}
            }
            let table = next.and_then(|changed| self.registry.table_of(changed));
            if damaged.is_none() {
                let Some((table, space)) = table.filter(|(table, _)| *table != 0) else { return };
                let is_it = match failure {
                    palisade_txn::Error::Disagreement { .. } => true,
                    other => other.damaged_page().is_some_and(|page| page.space == space),
                };
                let mut stuck = self.stuck.lock();
                if !is_it || !stuck.entry(trx.session()).or_default().insert(table) {
                    return;
                }
                damaged = Some(table);
            }
            tables.extend(table.map(|(table, _)| table));
        }
        if let Some(stuck) = self.stuck.lock().get(&trx.session()) {
            tables.retain(|table| !stuck.contains(table));
        }
        self.metadata.narrow(trx.session(), &tables);
    }

    /// Says whether there is more to be undone.
    fn undo_some(&self, trx: &mut Trx, wait: Wait<'_>) -> Result<bool, palisade_txn::Error> {
        for _ in 0..TURN {
            if self.is_ending() {
                return Ok(true);
            }
            if !wait(&mut || trx.rollback_step())? {
                return wait(&mut || trx.rollback().map(|()| false));
            }
        }
        Ok(true)
    }

    /// Rests, at most for `time`, or until there is something to do. Says whether to go on.
    fn rest(&self, time: Duration, until: impl Fn(&VecDeque<Trx>) -> bool) -> bool {
        let mut abandoned = self.abandoned.lock();
        if !self.is_ending() && !until(&abandoned) {
            self.changed.wait_for(&mut abandoned, time);
        }
        !self.is_ending()
    }
}

/// Purges until the engine ends. The thread that `gives_back` looks after the process's memory as well.
fn purge(shared: &Shared, system: &TrxSystem, pool: &BufferPool, gives_back: bool) {
    let mut time = REST;
    let mut given_back = Instant::now();
    let mut last_error = None;
    while !shared.is_ending() {
        if pool.full_disk_pressure().is_some_and(|used| used > PURGE) {
            shared.rest(LONG_REST, |_| false);
            continue;
        }
        time = match retry_blocking(|| purge_step(system)) {
            Ok(true) => REST,
            Ok(false) => (time * 2).min(LONG_REST),
            Err(error) if shared.is_ending() => return drop(error),
            Err(error) => {
                report("purge", &mut last_error, error.to_string());
                AFTER_FAILURE
            }
        };
        if gives_back && given_back.elapsed() > GIVING_BACK {
            Mimalloc::give_back();
            given_back = Instant::now();
        }
        if time > REST && !shared.rest(time, |_| false) {
            return;
        }
    }
}

/// Forgets some of what nobody needs; false if there is nothing to do.
pub(crate) fn purge_step(system: &TrxSystem) -> palisade_txn::Attempt<bool> {
    if system.purge_step()? {
        return Ok(true);
    }
    if system.trim_undo_step()? {
        return Ok(true);
    }
    if let Some(reserve) = system.refill_undo_step()? {
        report_reserve(reserve);
    }
    Ok(false)
}

fn report_reserve(UndoReserve { free, wanted, is_complete }: UndoReserve) {
    match is_complete {
        true => tracing::info!("the disk has room again: the undo reserve of {wanted} bytes is complete"),
        false => tracing::error!(
            "the disk is full: {free} bytes are left of the undo reserve of {wanted}, half of which is for DELETE, DROP TABLE \
             and TRUNCATE TABLE only"
        ),
    }
}

fn roll_back_abandoned(shared: &Shared) {
    let mut last_error = None;
    loop {
        let time = match shared.roll_back(&|step| retry_blocking(step)) {
            Ok(_) => LONG_REST,
            Err(error) if shared.is_ending() => return drop(error),
            Err(error) => {
                report("rollback of an abandoned transaction", &mut last_error, error.to_string());
                AFTER_FAILURE
            }
        };
        if !shared.rest(time, |abandoned| time == LONG_REST && !abandoned.is_empty()) {
            return;
        }
    }
}

/// Says once what goes wrong again and again.
fn report(what: &str, last: &mut Option<String>, error: String) {
    if last.as_ref() != Some(&error) {
        tracing::error!("{what} fails, and will be tried again: {error}");
        *last = Some(error);
    }
}
