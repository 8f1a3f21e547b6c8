//! Lives of one data directory, and the comparison of everything seen with the [`Model`].

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use palisade_base::Blocked;
use palisade_base::prng::Prng;
use palisade_catalog::{
    Column, Index, IndexPart, RowView, Schema, SqlType, TableDef, Value, ValueRef, key, row,
};
use palisade_engine::{
    AccessMode, Attempt, Direction, Engine, EngineConfig, Error, ExclusiveLock, FlushAtCommit,
    IsolationLevel, KeyRange, ReadMode, RowBatch, RowBuf, Savepoint, Scan, Table, TableName, Transaction,
    UpdateOutcome, XaBranch, XaEnd, Xid,
};
use palisade_io::{Call, CrashKeeps, Fault, FaultFileSystem};

use crate::clock::SimClock;
use crate::model::{Branch, Filling, Model, ModelTransaction, Row, Rows, Writes, difference};

/// Sessions that take turns.
const SESSIONS: usize = 3;
/// Primary keys are below this: few enough to meet, enough for more pages than a small buffer pool holds.
const IDS: u64 = 200;

/// Rounds of page cleaning after which a wait must have ended: a smaller log has room only after most pages were written, a
/// few in a round.
const CLEANINGS: usize = 5000;

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
            ends_unnoticed: false,
        }
    }
}

/// What happens to the disk during a life; at its end the power is cut in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mishap {
    /// Nothing.
    None,
    /// The power is cut at a random one of the first so many changes.
    PowerCut(u64),
    /// The same, while the redo log grows and shrinks.
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
pub struct History {
    plan: Plan,
    random: Prng,
    disk: Arc<FaultFileSystem>,
    model: Model,
    tally: Tally,
    /// XA transactions begun; each has its number for a name.
    branches: Branch,
    /// The engine has said that it cannot go on.
    is_fatal: Arc<AtomicBool>,
}

struct Session {
    transaction: Transaction,
    model: ModelTransaction,
    isolation: IsolationLevel,
    savepoint: Option<(Savepoint, ModelTransaction)>,
    /// It is an XA transaction.
    branch: Option<(Branch, XaBranch)>,
    is_open: bool,
}

impl History {
    /// Lives `plan` through; the error tells what was wrong and the plan that shows it again.
    pub fn run(plan: Plan) -> Result<Tally, String> {
        let mut history = History {
            random: Prng::new(plan.seed),
            disk: Arc::new(FaultFileSystem::new(plan.seed)),
            model: Model::default(),
            tally: Tally::default(),
            branches: 0,
            is_fatal: Arc::default(),
            plan,
        };
        for life in 0..history.plan.lives {
            history.is_fatal.store(false, Ordering::Relaxed);
            // Mostly the first life is spared, so that there is something to lose.
            if life > 0 || history.random.one_in(4) {
                history.prepare_mishap();
            }
            match history.live() {
                Ok(()) => {}
                Err(End::Mishap) => history.tally.mishaps += 1,
                Err(End::Violation(what)) => {
                    return Err(format!("life {life} of {:?}: {what}", history.plan));
                }
            }
            let keeps = [CrashKeeps::Random, CrashKeeps::Synced, CrashKeeps::Everything];
            history.disk.crash(*history.random.pick(&keeps));
        }
        Ok(history.tally)
    }

    fn prepare_mishap(&mut self) {
        let mut nth = |among: u64| self.random.below(among) + 1;
        match self.plan.mishap {
            Mishap::None => {}
            Mishap::PowerCut(among) | Mishap::PowerCutWhileResizing(among) => {
                self.disk.fail(Call::Change, nth(among), Fault::Crash)
            }
            Mishap::FailedSync(among) => self.disk.fail(Call::Sync, nth(among), Fault::Io),
            Mishap::FailedWrite(among) => self.disk.fail(Call::Write, nth(among), Fault::Io),
        }
    }

    fn config(&self) -> EngineConfig {
        let is_fatal = self.is_fatal.clone();
        EngineConfig {
            datadir: PathBuf::from("data"),
            // Small ones make pages and log segments be used again.
            buffer_pool_size: [1 << 20, 2 << 20, 8 << 20][self.plan.seed as usize % 3],
            redo_log_capacity: 4 << 20,
            log_buffer_size: 1 << 20,
            flush_at_commit: self.plan.flush_at_commit,
            lru_scan_depth: 32,
            purge_threads: 0,
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
        let mut sessions: Vec<Session> = (0..SESSIONS).map(|_| Session::new(&engine)).collect();
        for _ in 0..self.random.below(self.plan.turns) + 1 {
            let number = self.random.below(SESSIONS as u64) as usize;
            self.turn(&engine, &table, &mut sessions, number)?;
            if let Mishap::PowerCutWhileResizing(_) = self.plan.mishap {
                if self.random.one_in(25) {
                    engine.resize_redo_log((2 << 20) + self.random.below(10 << 20));
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
        for _ in 0..50 {
            match attempt() {
                Ok(value) => return Ok(Some(Ok(value))),
                Err(Blocked::Error(error)) => {
                    if self.disk.is_down() || self.is_fatal.load(Ordering::Relaxed) {
                        return Err(End::Mishap);
                    }
                    return Ok(Some(Err(error)));
                }
                Err(Blocked::Wait(event)) => {
                    if !event.is_complete() {
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
        self.finished(engine, engine.create_table(&lock, definition()))
    }

    /// After opening: the rows are a state that the model allows, and every index shows the same.
    fn check_recovered(&mut self, engine: &Arc<Engine>, table: &Arc<Table>) -> Step<()> {
        let mut transaction = engine.begin(IsolationLevel::RepeatableRead, AccessMode::ReadOnly);
        let rows = self.scan(engine, &mut transaction, table, 0)?;
        let prepared = prepared(engine)?;
        self.tally.found_prepared += prepared.len() as u64;
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

    /// One session does one thing.
    fn turn(
        &mut self,
        engine: &Arc<Engine>,
        table: &Arc<Table>,
        sessions: &mut [Session],
        number: usize,
    ) -> Step<()> {
        if !sessions[number].is_open {
            let levels = [IsolationLevel::ReadCommitted, IsolationLevel::RepeatableRead];
            sessions[number].begin(*self.random.pick(&levels));
            if self.plan.has_branches && self.random.one_in(4) {
                self.branches += 1;
                let Some(claim) = engine.xa_start(xid(self.branches)) else {
                    return Err(End::Violation(format!("the name {} is in use", self.branches)));
                };
                sessions[number].branch = Some((self.branches, claim));
            }
            return Ok(());
        }
        match self.random.below(if self.plan.has_branches { 21 } else { 20 }) {
            0..4 => self.insert(engine, table, sessions, number),
            4..10 => self.change(engine, table, sessions, number),
            10..12 => self.read(engine, table, &mut sessions[number]),
            12 => {
                let session = &mut sessions[number];
                session.savepoint = Some((session.transaction.savepoint(), session.model.clone()));
                Ok(())
            }
            13 => self.roll_back_to_savepoint(engine, &mut sessions[number]),
            14 => self.roll_back(engine, &mut sessions[number]),
            15 => {
                for _ in 0..self.random.below(5) {
                    self.done(engine.purge_step())?;
                }
                Ok(())
            }
            16 => self.done(engine.clean_step()),
            17 if self.plan.has_branches => self.end_prepared(engine),
            _ if sessions[number].branch.is_some() => self.prepare(engine, &mut sessions[number]),
            _ => self.commit(engine, &mut sessions[number]),
        }
    }

    fn some_row(&mut self) -> Row {
        let len = match self.random.below(12) {
            0 => self.random.below(40_000),
            1..4 => self.random.below(5000),
            _ => self.random.below(100),
        } as u32;
        let u = (!self.random.one_in(3)).then(|| self.random.below(4 * IDS) as i64);
        let byte = if len == 0 { 0 } else { self.random.next_u64() as u8 };
        Row { k: self.random.below(8) as i64, u, v: Filling { byte, len } }
    }

    /// Whether another session's open changes stand in the way of a row or of its unique value.
    fn is_contended(&self, sessions: &[Session], number: usize, id: i64, u: Option<i64>) -> bool {
        let committed = self.model.committed();
        self.others(sessions, number).flatten().any(|(other, row)| {
            let touches = |row: Option<&Row>| u.is_some() && row.is_some_and(|row| row.u == u);
            *other == id || touches(row.as_ref()) || touches(committed.get(other))
        })
    }

    fn insert(
        &mut self,
        engine: &Arc<Engine>,
        table: &Arc<Table>,
        sessions: &mut [Session],
        number: usize,
    ) -> Step<()> {
        let (id, new) = (self.random.below(IDS) as i64, self.some_row());
        let contended = self.is_contended(sessions, number, id, new.u);
        let held = self.holds(sessions, number, id);
        let session = &mut sessions[number];
        let rows = self.model.current(&session.model);
        let duplicate = match rows.contains_key(&id) {
            true => Some(0),
            false => rows.values().any(|row| new.u.is_some() && row.u == new.u).then_some(2),
        };
        let bytes = encode(table, id, &new);
        let start = session.statement();
        let outcome = self.answered(engine, || session.transaction.insert(table, &bytes))?;
        match (outcome, duplicate) {
            (None, _) => self.give_up(engine, session, start),
            (Some(Ok(())), None) if !held => {
                session.model.writes.insert(id, Some(new));
                Ok(())
            }
            (Some(Err(Error::DuplicateKey { index })), Some(expected)) if index == expected || contended => {
                self.undo_statement(engine, session, start)
            }
            (Some(Err(Error::DuplicateKey { .. })), None) if contended => {
                self.undo_statement(engine, session, start)
            }
            (Some(other), expected) => Err(End::Violation(format!(
                "insert of row {id}, u={:?}: {other:?}, expected duplicate in {expected:?}",
                new.u
            ))),
        }
    }

    /// What other transactions have changed that are open or prepared.
    fn others<'a>(&'a self, sessions: &'a [Session], number: usize) -> impl Iterator<Item = &'a Writes> {
        let open = sessions.iter().enumerate().filter(move |(other, _)| *other != number);
        open.map(|(_, session)| &session.model.writes).chain(self.model.prepared().values())
    }

    /// Whether another open or prepared transaction has changed row `id`.
    fn holds(&self, sessions: &[Session], number: usize, id: i64) -> bool {
        self.others(sessions, number).any(|writes| writes.contains_key(&id))
    }

    /// Updates or deletes a row, if it is there.
    fn change(
        &mut self,
        engine: &Arc<Engine>,
        table: &Arc<Table>,
        sessions: &mut [Session],
        number: usize,
    ) -> Step<()> {
        let id = self.random.below(IDS) as i64;
        let held = self.holds(sessions, number, id);
        let session = &mut sessions[number];
        let start = session.statement();
        let mut buffer = RowBuf::new();
        let search = primary_key(table, id);
        let read = self.answered(engine, || {
            session.transaction.point_read(table, 0, &search, ReadMode::Current, &mut buffer)
        })?;
        let Some(read) = read else { return self.give_up(engine, session, start) };
        let found = self.done(read)?;
        if held {
            return Err(End::Violation(format!(
                "row {id} was read although another transaction has changed it"
            )));
        }
        let expected = self.model.current(&session.model);
        let found = if found { Some(decode(table, buffer.row())?.1) } else { None };
        if found.as_ref() != expected.get(&id) {
            let found = found.map(|row| (id, row)).into_iter().collect();
            let expected = expected.into_iter().filter(|(other, _)| *other == id).collect();
            return self.compare(&expected, &found, "the latest version");
        }
        let Some(old) = found else { return Ok(()) };
        if self.random.one_in(3) {
            let outcome =
                self.answered(engine, || session.transaction.delete(table, buffer.stamp(), buffer.row()))?;
            return match outcome {
                None => self.give_up(engine, session, start),
                Some(Ok(UpdateOutcome::Done)) => {
                    session.model.writes.insert(id, None);
                    Ok(())
                }
                Some(other) => Err(End::Violation(format!("delete of row {id}: {other:?}"))),
            };
        }
        self.update(engine, table, sessions, number, start, id, old, &buffer)
    }

    #[expect(clippy::too_many_arguments, reason = "the second half of `change`")]
    fn update(
        &mut self,
        engine: &Arc<Engine>,
        table: &Arc<Table>,
        sessions: &mut [Session],
        number: usize,
        start: Savepoint,
        id: i64,
        old: Row,
        buffer: &RowBuf,
    ) -> Step<()> {
        let mut new = self.some_row();
        if self.random.one_in(2) {
            new = Row { k: new.k, ..old };
        }
        let contended = self.is_contended(sessions, number, id, new.u);
        let session = &mut sessions[number];
        let rows = self.model.current(&session.model);
        let duplicate = rows.iter().any(|(other, row)| *other != id && new.u.is_some() && row.u == new.u);
        let bytes = encode(table, id, &new);
        let outcome = self
            .answered(engine, || session.transaction.update(table, buffer.stamp(), buffer.row(), &bytes))?;
        match outcome {
            None => self.give_up(engine, session, start),
            Some(Ok(UpdateOutcome::Done)) if !duplicate => {
                session.model.writes.insert(id, Some(new));
                Ok(())
            }
            Some(Err(Error::DuplicateKey { index: 2 })) if duplicate || contended => {
                self.undo_statement(engine, session, start)
            }
            Some(other) => Err(End::Violation(format!(
                "update of row {id} to u={:?}: {other:?}, duplicate: {duplicate}",
                new.u
            ))),
        }
    }

    /// A lock is in the way: the statement is given up.
    fn give_up(&mut self, engine: &Engine, session: &mut Session, start: Savepoint) -> Step<()> {
        session.transaction.cancel_wait();
        self.undo_statement(engine, session, start)
    }

    fn undo_statement(&mut self, engine: &Engine, session: &mut Session, start: Savepoint) -> Step<()> {
        let undone = self.surely_answered(engine, || session.transaction.rollback_to(start))?;
        self.done(undone)
    }

    /// Reads everything by some index and compares.
    fn read(&mut self, engine: &Arc<Engine>, table: &Arc<Table>, session: &mut Session) -> Step<()> {
        session.statement();
        let expected = self.model.seen(&mut session.model);
        let index = self.random.below(3) as usize;
        let found = self.scan(engine, &mut session.transaction, table, index)?;
        self.compare(&expected, &found, &format!("a {:?} read by index {index}", session.isolation))
    }

    fn roll_back_to_savepoint(&mut self, engine: &Engine, session: &mut Session) -> Step<()> {
        let Some((savepoint, model)) = session.savepoint.clone() else { return Ok(()) };
        self.undo_statement(engine, session, savepoint)?;
        session.model = ModelTransaction { snapshot: session.model.snapshot.take(), ..model };
        Ok(())
    }

    fn roll_back(&mut self, engine: &Engine, session: &mut Session) -> Step<()> {
        let rolled_back = self.surely_answered(engine, || session.transaction.try_rollback())?;
        self.done(rolled_back)?;
        session.end();
        Ok(())
    }

    /// Prepares a session's XA transaction, which is nobody's from then on. Durable, whatever commits are.
    fn prepare(&mut self, engine: &Arc<Engine>, session: &mut Session) -> Step<()> {
        let Some((branch, claim)) = session.branch.take() else { return Ok(()) };
        let transaction = session.renew(engine);
        self.model.begin_prepare(branch, std::mem::take(&mut session.model.writes));
        session.end();
        self.finished(engine, transaction.prepare(claim))?;
        self.model.settle();
        self.tally.prepared += 1;
        Ok(())
    }

    /// Somebody ends one of those that are prepared, if there is one. Durable, whatever commits are.
    fn end_prepared(&mut self, engine: &Arc<Engine>) -> Step<()> {
        let listed = prepared(engine)?;
        if !listed.iter().eq(self.model.prepared().keys()) {
            let expected: Vec<_> = self.model.prepared().keys().collect();
            return Err(End::Violation(format!("prepared are {listed:?} and not {expected:?}")));
        }
        if listed.is_empty() {
            return Ok(());
        }
        let branch = *self.random.pick(&listed);
        let how = if self.random.one_in(3) { XaEnd::Rollback } else { XaEnd::Commit };
        match how {
            _ if self.plan.ends_unnoticed => {}
            XaEnd::Commit => self.model.begin_commit_prepared(branch),
            XaEnd::Rollback => self.model.begin_rollback_prepared(branch),
        }
        if !self.finished(engine, engine.xa_end(&xid(branch), how))? {
            return Err(End::Violation(format!("{branch} was listed and is not known")));
        }
        self.model.settle();
        self.tally.prepared_ended += 1;
        Ok(())
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

    fn commit(&mut self, engine: &Engine, session: &mut Session) -> Step<()> {
        let writes = std::mem::take(&mut session.model.writes);
        if !writes.is_empty() {
            self.model.begin_commit(writes);
        }
        self.finished(engine, session.transaction.commit())?;
        if self.plan.promised == FlushAtCommit::Durable {
            self.model.settle();
        }
        self.tally.commits += 1;
        session.end();
        Ok(())
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

/// `CREATE TABLE t (id BIGINT PRIMARY KEY, k BIGINT NOT NULL, u BIGINT, v LONGBLOB NOT NULL, KEY (k), UNIQUE (u))`
fn definition() -> TableDef {
    let blob = SqlType::Blob { size: palisade_catalog::types::LobSize::Long };
    let columns = vec![
        Column::new("id", SqlType::BIGINT, 0).not_null(),
        Column::new("k", SqlType::BIGINT, 1).not_null(),
        Column::new("u", SqlType::BIGINT, 2),
        Column::new("v", blob, 3).not_null(),
    ];
    let unique = Index { unique: true, ..Index::new("u", vec![IndexPart::of(2)]) };
    let indexes =
        vec![Index::primary(vec![IndexPart::of(0)]), Index::new("k", vec![IndexPart::of(1)]), unique];
    TableDef { schema: "sim".to_owned(), name: "t".to_owned(), columns, indexes, ..TableDef::default() }
}

fn xid(branch: Branch) -> Xid {
    Xid { format: 1, gtrid: branch.to_be_bytes().to_vec(), bqual: Vec::new() }
}

/// The transactions that are prepared, in order.
fn prepared(engine: &Engine) -> Step<Vec<Branch>> {
    let number = |name: Xid| {
        let branch = <[u8; 8]>::try_from(&name.gtrid[..]).map(Branch::from_be_bytes).ok();
        let branch = branch.filter(|branch| name == xid(*branch));
        branch.ok_or_else(|| End::Violation(format!("{name:?} is nobody's name")))
    };
    engine.xa_prepared().into_iter().map(number).collect()
}

fn encode(table: &Table, id: i64, new: &Row) -> Vec<u8> {
    let values = [
        Value::Int(id),
        Value::Int(new.k),
        new.u.map_or(Value::Null, Value::Int),
        Value::Bytes(vec![new.v.byte; new.v.len as usize].into()),
    ];
    row::encode(table.descriptor(), &values).expect("the values are of the columns' types")
}

fn decode(table: &Table, bytes: &[u8]) -> Step<(i64, Row)> {
    let damaged = |what: &str| End::Violation(format!("a row came back damaged: {what}"));
    let view = RowView::new(table.descriptor(), bytes).map_err(|error| damaged(&error.to_string()))?;
    match &view.to_values()[..] {
        [Value::Int(id), Value::Int(k), u, Value::Bytes(v)] => {
            let u = match u {
                Value::Int(u) => Some(*u),
                _ => None,
            };
            let byte = v.first().copied().unwrap_or_default();
            if v.iter().any(|other| *other != byte) {
                return Err(damaged("its value is a mixture"));
            }
            Ok((*id, Row { k: *k, u, v: Filling { byte, len: v.len() as u32 } }))
        }
        other => Err(damaged(&format!("{other:?}"))),
    }
}

fn primary_key(table: &Table, id: i64) -> Vec<u8> {
    let mut out = Vec::new();
    key::search_key(table.descriptor(), 0, &[ValueRef::Int(id)], &mut out).expect("an integer is a key");
    out
}
