//! Lives of one data directory, and the comparison of everything seen with the [`Model`].

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use palisade_base::Blocked;
use palisade_base::prng::Prng;
use palisade_catalog::{Schema, TableDef};
use palisade_engine::{
    AccessMode, Attempt, Direction, Engine, EngineConfig, Error, ExclusiveLock, FlushAtCommit, FlushMethod,
    IsolationLevel, KeyRange, PageSize, ReadMode, RowBatch, Savepoint, Scan, Table, TableName, Transaction,
    XaBranch,
};
use palisade_io::{Call, CrashKeeps, Fault, FaultFileSystem};

use crate::clock::SimClock;
use crate::model::{Branch, Model, ModelTransaction, Rows, difference};

mod rows;
mod turns;

use rows::{decode, definition, prepared};

/// Sessions that take turns.
const SESSIONS: usize = 3;
/// Primary keys are below this: few enough to meet, enough for more pages than a small buffer pool holds.
const IDS: u64 = 200;

/// How the disk's trace says that undo lost its room.
const GIVEN_BACK: &str = "punch_hole data/spaces/000001.pal";

/// Rounds of page cleaning after which a wait must have ended: a smaller log has room only after most pages were written, a
/// few in a round.
const CLEANINGS: usize = 5000;

/// Times that an operation may be called again after what it waited for: an old version may lie behind hundreds of undo
/// pages, each of which has to be read.
const ATTEMPTS: usize = 10_000;

/// After so many of them pages are cleaned although it was told to come again.
const CLEANED_ANYWAY: usize = 20;

/// What a history is made of.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Everything random follows from it.
    pub seed: u64,
    /// How often the data directory is opened.
    pub lives: usize,
    /// Turns that sessions take in a life, at most.
    pub turns: u64,
    /// When commits are acknowledged.
    pub flush_at_commit: FlushAtCommit,
    /// What the model takes an acknowledged commit for; the same, unless it is the model that is tested.
    pub promised: FlushAtCommit,
    /// The disk's mishap in each life.
    pub mishap: Mishap,
    /// Some transactions are XA's.
    pub has_branches: bool,
    /// Some transactions take so much undo that its room is given back to the disk afterwards.
    pub has_much_undo: bool,
    /// How the table's pages reach the disk.
    pub table: TableKind,
    /// Bytes of a page.
    pub page_size: PageSize,
    /// The model is not told of the end of what is prepared: unless it is the model that is tested, it is.
    pub ends_unnoticed: bool,
}

impl Plan {
    /// A long one without XA transactions, whose model is told everything.
    pub fn new(seed: u64, flush_at_commit: FlushAtCommit, mishap: Mishap) -> Plan {
        Plan {
            seed,
            lives: 8,
            turns: 500,
            flush_at_commit,
            promised: flush_at_commit,
            mishap,
            has_branches: false,
            has_much_undo: false,
            table: TableKind::InPlace,
            page_size: PageSize::DEFAULT,
            ends_unnoticed: false,
        }
    }
}

/// How pages of the table reach the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableKind {
    /// In place.
    InPlace,
    /// Each to a free place.
    OutOfPlace,
    /// Each to a free place, compressed.
    Packed,
    /// As [`OutOfPlace`](Self::OutOfPlace), on a device whose cache the log's flush empties.
    OneFlush,
}

impl TableKind {
    /// All of them.
    pub const ALL: [TableKind; 4] =
        [TableKind::InPlace, TableKind::OutOfPlace, TableKind::Packed, TableKind::OneFlush];

    /// Those that there are with pages of a size: the smallest are not compressed.
    pub fn with(page_size: PageSize) -> Vec<TableKind> {
        let is_there = |kind: &TableKind| *kind != TableKind::Packed || page_size > PageSize::LEAST;
        TableKind::ALL.into_iter().filter(is_there).collect()
    }

    fn options(self) -> Vec<(String, String)> {
        let options: &[_] = match self {
            TableKind::InPlace => &[],
            TableKind::OutOfPlace | TableKind::OneFlush => &[("PAGE_SINK", "out-of-place")],
            TableKind::Packed => &[("PAGE_SINK", "out-of-place"), ("COMPRESSION", "lz4")],
        };
        options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }
}

/// What happens to the disk during a life; at its end the power is cut in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mishap {
    /// Nothing.
    None,
    /// The power is cut at a random one of the first so many changes.
    PowerCut(u64),
    /// The same, while the redo log and the buffer pool grow and shrink.
    PowerCutWhileResizing(u64),
    /// A random one of the first so many syncs fails.
    FailedSync(u64),
    /// A random one of the first so many writes fails.
    FailedWrite(u64),
}

/// What a history came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Commits acknowledged.
    pub commits: u64,
    /// Rows compared with the model.
    pub rows_compared: u64,
    /// Times something was in the way, a locked row mostly.
    pub waits: u64,
    /// Lives that ended early.
    pub mishaps: u64,
    /// Transactions prepared.
    pub prepared: u64,
    /// Times that one was found prepared when a life began.
    pub found_prepared: u64,
    /// Prepared transactions that were ended.
    pub prepared_ended: u64,
    /// Extents of undo whose room the disk got back.
    pub given_back: u64,
}

/// Why a life ended.
enum End {
    /// The disk is gone.
    Mishap,
    /// The engine did something wrong.
    Violation(String),
}

type Step<T> = Result<T, End>;

/// A history being lived.
pub struct History<'l> {
    plan: Plan,
    random: Prng,
    disk: Arc<FaultFileSystem>,
    model: Model,
    tally: Tally,
    /// XA transactions begun; each has its number for a name.
    branches: Branch,
    /// The engine has said that it cannot go on.
    is_fatal: Arc<AtomicBool>,
    /// Is told every event, one line each.
    listener: Option<Listener<'l>>,
    /// Number of the turn that is being taken in this life.
    turn: u64,
}

/// Is told what happens in a history, event by event.
pub type Listener<'l> = &'l mut dyn FnMut(&str);

struct Session {
    transaction: Transaction,
    model: ModelTransaction,
    isolation: IsolationLevel,
    savepoint: Option<(Savepoint, ModelTransaction)>,
    /// It is an XA transaction.
    branch: Option<(Branch, XaBranch)>,
    is_open: bool,
}

impl<'l> History<'l> {
    /// Lives `plan` through; the error tells what was wrong and the plan that shows it again.
    pub fn run(plan: Plan) -> Result<Tally, String> {
        Self::live_through(plan, None)
    }

    /// [`run`](Self::run), which is the same history, and tells a listener what happens: turns and what came
    /// of them, and what the disk was told to change meanwhile.
    pub fn run_traced(plan: Plan, listener: Listener<'l>) -> Result<Tally, String> {
        Self::live_through(plan, Some(listener))
    }

    fn live_through(plan: Plan, listener: Option<Listener<'l>>) -> Result<Tally, String> {
        let mut history = History {
            random: Prng::new(plan.seed),
            disk: disk(&plan),
            model: Model::default(),
            tally: Tally::default(),
            branches: 0,
            is_fatal: Arc::default(),
            listener,
            turn: 0,
            plan,
        };
        for life in 0..history.plan.lives {
            history.is_fatal.store(false, Ordering::Relaxed);
            history.note(|| format!("life {life} begins"));
            if history.plan.has_much_undo || history.listener.is_some() {
                history.disk.start_trace();
            }
            // Mostly the first life is spared, so that there is something to lose.
            if life > 0 || history.random.one_in(4) {
                history.prepare_mishap();
            }
            let end = history.live();
            history.look_at_disk();
            match end {
                Ok(()) => history.note(|| "the life ends".to_owned()),
                Err(End::Mishap) => {
                    history.tally.mishaps += 1;
                    history.note(|| "the life ends by its mishap".to_owned());
                }
                Err(End::Violation(what)) => {
                    return Err(format!("life {life} of {:?}: {what}", history.plan));
                }
            }
            let keeps = [CrashKeeps::Random, CrashKeeps::Synced, CrashKeeps::Everything];
            let keeps = *history.random.pick(&keeps);
            history.note(|| format!("the power is cut; of what was not synced the disk keeps: {keeps:?}"));
            history.disk.crash(keeps);
        }
        Ok(history.tally)
    }

    /// Tells the listener of an event, if there is one.
    fn note(&mut self, event: impl FnOnce() -> String) {
        if let Some(listener) = &mut self.listener {
            listener(&event());
        }
    }

    /// [`note`](Self::note) of what a session has done in this turn.
    fn note_turn(&mut self, session: usize, event: impl FnOnce() -> String) {
        let turn = self.turn;
        self.note(|| format!("  turn {turn}, session {session}: {}", event()));
    }

    /// Counts and tells what the disk was told to change since the last look.
    fn look_at_disk(&mut self) {
        let trace = self.disk.take_trace();
        self.tally.given_back += trace.lines().filter(|line| line.contains(GIVEN_BACK)).count() as u64;
        for line in trace.lines() {
            self.note(|| format!("    disk: {line}"));
        }
    }

    fn prepare_mishap(&mut self) {
        let (call, among, fault) = match self.plan.mishap {
            Mishap::None => return,
            Mishap::PowerCut(among) | Mishap::PowerCutWhileResizing(among) => {
                (Call::Change, among, Fault::Crash)
            }
            Mishap::FailedSync(among) => (Call::Sync, among, Fault::Io),
            Mishap::FailedWrite(among) => (Call::Write, among, Fault::Io),
        };
        let nth = self.random.below(among) + 1;
        self.disk.fail(call, nth, fault);
        self.note(|| format!("mishap: {fault:?} at {call:?} number {nth}"));
    }

    fn config(&self) -> EngineConfig {
        let is_fatal = self.is_fatal.clone();
        EngineConfig {
            datadir: PathBuf::from("data"),
            page_size: self.plan.page_size,
            // Small ones make pages and log segments be used again.
            buffer_pool_size: [1 << 20, 2 << 20, 8 << 20][self.plan.seed as usize % 3],
            kept_share: [0, 5, 50][(self.plan.seed / 3) as usize % 3],
            redo_log_capacity: 4 << 20,
            log_buffer_size: 1 << 20,
            flush_at_commit: self.plan.flush_at_commit,
            lru_scan_depth: 32,
            flush_method: match self.plan.table {
                TableKind::OneFlush => FlushMethod::ODirect,
                _ => FlushMethod::default(),
            },
            purge_threads: 0,
            undo_kept: Some(0),
            clock: Arc::new(SimClock::default()),
            background: false,
            on_fatal: Some(Arc::new(move |_| is_fatal.store(true, Ordering::Relaxed))),
            ..EngineConfig::default()
        }
    }

    fn live(&mut self) -> Step<()> {
        let engine = self.done(Engine::open(self.config(), self.disk.clone()))?;
        let table = self.table(&engine)?;
        self.done(engine.rollback_step())?;
        self.check_recovered(&engine, &table)?;
        if self.listener.is_some() {
            self.look_at_disk();
        }
        let mut sessions: Vec<Session> = (0..SESSIONS).map(|_| Session::new(&engine)).collect();
        for turn in 0..self.random.below(self.plan.turns) + 1 {
            let number = self.random.below(SESSIONS as u64) as usize;
            self.turn = turn;
            self.turn(&engine, &table, &mut sessions, number)?;
            if self.listener.is_some() {
                self.look_at_disk();
            }
            if let Mishap::PowerCutWhileResizing(_) = self.plan.mishap {
                if self.random.one_in(25) {
                    engine.resize_redo_log((2 << 20) + self.random.below(10 << 20));
                    // One that is under way goes on.
                    let _ = engine.resize_buffer_pool((1 << 20) + self.random.below(12 << 20));
                }
                self.done(engine.clean_step())?;
            }
            if self.is_fatal.load(Ordering::Relaxed) {
                return Err(End::Mishap);
            }
        }
        if self.random.one_in(4) {
            drop(sessions);
            self.done(engine.rollback_step())?;
            self.done(engine.shutdown())?;
            self.model.settle();
            self.note(|| "  shutdown".to_owned());
        }
        Ok(())
    }

    /// A result of the engine: an error is the disk's fault or a violation.
    fn done<T>(&self, result: Result<T, Error>) -> Step<T> {
        result.map_err(|error| match self.disk.is_down() || self.is_fatal.load(Ordering::Relaxed) {
            true => End::Mishap,
            false => {
                // A failed write is reported by whoever met it first.
                match self.plan.mishap {
                    Mishap::FailedSync(_) | Mishap::FailedWrite(_)
                        if error.to_string().contains("os error 5") =>
                    {
                        End::Mishap
                    }
                    _ => End::Violation(format!("unexpected error: {error}")),
                }
            }
        })
    }

    /// Calls until it is answered, cleaning pages meanwhile: nobody else does. `None` if a lock is in the way, or
    /// room in a log that shrinks.
    fn answered<T>(
        &mut self,
        engine: &Engine,
        mut attempt: impl FnMut() -> Attempt<T>,
    ) -> Step<Option<Result<T, Error>>> {
        for number in 1..=ATTEMPTS {
            match attempt() {
                Ok(value) => return Ok(Some(Ok(value))),
                Err(Blocked::Error(error)) => {
                    if self.disk.is_down() || self.is_fatal.load(Ordering::Relaxed) {
                        return Err(End::Mishap);
                    }
                    return Ok(Some(Err(error)));
                }
                Err(Blocked::Wait(event)) => {
                    // Frames that it gives back itself, because it needs more, are told to it as well.
                    if !event.is_complete() || number % CLEANED_ANYWAY == 0 {
                        self.done(engine.clean_step())?;
                    }
                    if !event.is_complete() {
                        self.tally.waits += 1;
                        return Ok(None);
                    }
                }
            }
        }
        Err(End::Violation("an operation waits for ever for events that have happened".to_owned()))
    }

    /// Calls until it is answered, however many pages must be cleaned for it: it waits for no lock.
    fn surely_answered<T>(
        &mut self,
        engine: &Engine,
        mut attempt: impl FnMut() -> Attempt<T>,
    ) -> Step<Result<T, Error>> {
        let waits = self.tally.waits;
        for _ in 0..CLEANINGS {
            if let Some(answer) = self.answered(engine, &mut attempt)? {
                self.tally.waits = waits;
                return Ok(answer);
            }
        }
        Err(End::Violation("what locks nothing waits although nothing else runs".to_owned()))
    }

    /// The table, created in the first life that gets so far.
    fn table(&mut self, engine: &Arc<Engine>) -> Step<Arc<Table>> {
        let name = TableName::new("sim", "t");
        if engine.dictionary().schema("sim").is_none() {
            let schema = Schema { name: "sim".to_owned(), collation: Default::default() };
            self.finished(engine, engine.create_schema(schema))?;
        }
        if let Ok(table) = engine.dictionary().table("sim", "t") {
            return Ok(table.clone());
        }
        let mut lock = ExclusiveLock::new(engine, [name]);
        match self.answered(engine, || lock.acquire())? {
            Some(acquired) => self.done(acquired)?,
            None => return Err(End::Violation("a new table's name is locked".to_owned())),
        }
        self.finished(engine, engine.create_table(&lock, self.definition()))
    }

    fn definition(&self) -> TableDef {
        TableDef { options: self.plan.table.options(), ..definition() }
    }

    /// After opening: the rows are a state that the model allows, and every index shows the same.
    fn check_recovered(&mut self, engine: &Arc<Engine>, table: &Arc<Table>) -> Step<()> {
        let mut transaction = engine.begin(IsolationLevel::RepeatableRead, AccessMode::ReadOnly);
        let rows = self.scan(engine, &mut transaction, table, 0)?;
        let prepared = prepared(engine)?;
        self.tally.found_prepared += prepared.len() as u64;
        self.note(|| format!("  recovered: {} rows, prepared {prepared:?}", rows.len()));
        self.model.recover(&rows, &prepared).map_err(End::Violation)?;
        for index in 1..table.descriptor().indexes.len() {
            let by_index = self.scan(engine, &mut transaction, table, index)?;
            self.compare(&rows, &by_index, &format!("index {index} after recovery"))?;
        }
        self.finished(engine, transaction.commit())
    }

    fn compare(&mut self, expected: &Rows, found: &Rows, what: &str) -> Step<()> {
        self.tally.rows_compared += expected.len() as u64;
        match expected == found {
            true => Ok(()),
            false => Err(End::Violation(format!("{what}: {}", difference(expected, found)))),
        }
    }

    /// All rows by an index, checked to come in its order.
    fn scan(
        &mut self,
        engine: &Arc<Engine>,
        transaction: &mut Transaction,
        table: &Arc<Table>,
        index: usize,
    ) -> Step<Rows> {
        let direction = if self.random.one_in(2) { Direction::Forward } else { Direction::Backward };
        let range = KeyRange::default();
        let mut scan = Scan::new(table.clone(), index, range, direction, ReadMode::Snapshot, false);
        let (mut batch, mut rows, mut last) = (RowBatch::new(), Rows::new(), None);
        loop {
            match self.surely_answered(engine, || transaction.scan_next(&mut scan, &mut batch))? {
                Ok(true) => {}
                Ok(false) => return Ok(rows),
                Err(error) => return self.done(Err(error)),
            }
            for found in batch.iter() {
                let (id, row) = decode(table, found.row)?;
                let position = match index {
                    0 => (None, 0, id),
                    1 => (None, row.k, id),
                    _ => (Some(row.u), 0, id),
                };
                let in_order = last.is_none_or(|last| match direction {
                    Direction::Forward => last < position,
                    Direction::Backward => last > position,
                });
                if !in_order || rows.insert(id, row).is_some() {
                    return Err(End::Violation(format!(
                        "index {index} gives row {id} out of order or twice"
                    )));
                }
                last = Some(position);
            }
        }
    }

    /// Runs a future to its end, cleaning pages meanwhile: nobody else does.
    fn finished<T>(&self, engine: &Engine, future: impl Future<Output = Result<T, Error>>) -> Step<T> {
        let mut future = pin!(future);
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..CLEANINGS {
            if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
                return self.done(result);
            }
            self.done(engine.clean_step())?;
        }
        Err(End::Violation("an operation waits although nothing else runs".to_owned()))
    }
}

impl Session {
    fn new(engine: &Arc<Engine>) -> Session {
        let isolation = IsolationLevel::RepeatableRead;
        Session {
            transaction: engine.begin(isolation, AccessMode::ReadWrite),
            model: ModelTransaction::default(),
            isolation,
            savepoint: None,
            branch: None,
            is_open: true,
        }
    }

    fn begin(&mut self, isolation: IsolationLevel) {
        self.transaction.restart(isolation, AccessMode::ReadWrite);
        self.isolation = isolation;
        self.is_open = true;
    }

    /// Begins anew with another transaction, and gives the one until now.
    fn renew(&mut self, engine: &Arc<Engine>) -> Transaction {
        let new = engine.begin(self.isolation, AccessMode::ReadWrite);
        std::mem::replace(&mut self.transaction, new)
    }

    fn statement(&mut self) -> Savepoint {
        if self.isolation == IsolationLevel::ReadCommitted {
            self.model.snapshot = None;
        }
        self.transaction.start_statement()
    }

    fn end(&mut self) {
        self.model = ModelTransaction::default();
        self.savepoint = None;
        self.branch = None;
        self.is_open = false;
    }
}

fn disk(plan: &Plan) -> Arc<FaultFileSystem> {
    let disk = FaultFileSystem::new(plan.seed);
    disk.set_one_cache(plan.table == TableKind::OneFlush);
    Arc::new(disk)
}
