//! Transactions: beginning, savepoints, ending. Reading one row is in `point_read`, changing rows in `rows`,
//! reading ranges in [`scan`](crate::scan).

use std::sync::{Arc, Weak};

use palisade_base::event::{retry, yield_now};
use palisade_base::{Blocked, Lsn, TrxId};
use palisade_txn::{Gaps, LockWait, Locking, Mode, Places, SavePoint, SessionNo, Trx, UniquePart};

use crate::config::FlushAtCommit;
use crate::engine::{ActiveTransaction, Engine};
use crate::metadata::{ExclusiveLock, Held, TableLocks, Use, WRITES};
use crate::row_lock_wait::RowLockWait;
use crate::rows::RowWork;
use crate::scan::{RowBatch, Scan};
use crate::stamp::RowStamp;
use crate::store::{How, ReadProgress};
use crate::table::Table;
use crate::unlogged::Unlogged;
use crate::{Attempt, Error};

/// What a transaction sees of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IsolationLevel {
    /// The latest version of every row, committed or not.
    ReadUncommitted,
    /// What was committed when the statement began.
    ReadCommitted,
    /// What was committed when the transaction first read.
    #[default]
    RepeatableRead,
    /// As `RepeatableRead`, but every read locks what it reads.
    Serializable,
}

/// What a transaction is like, for who looks at those that are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traits {
    /// Its isolation level.
    pub isolation: IsolationLevel,
    /// Whether it may change anything.
    pub access: AccessMode,
    /// `unique_checks` of its session.
    pub unique_checks: bool,
    /// `foreign_key_checks` of its session.
    pub foreign_key_checks: bool,
}

impl Traits {
    fn of(isolation: IsolationLevel, access: AccessMode) -> Traits {
        Traits { isolation, access, unique_checks: true, foreign_key_checks: true }
    }

    /// A number that says it.
    fn label(self) -> u32 {
        let read_only = self.access == AccessMode::ReadOnly;
        let bit = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
        (self.isolation as u32 + 1)
            | bit(read_only, 8)
            | bit(!self.unique_checks, 16)
            | bit(!self.foreign_key_checks, 32)
    }

    /// What has that label; of a transaction found after a crash, which had another process's, nothing is
    /// known.
    pub(crate) fn labelled(label: u32) -> Traits {
        let levels = [
            IsolationLevel::ReadUncommitted,
            IsolationLevel::ReadCommitted,
            IsolationLevel::RepeatableRead,
            IsolationLevel::Serializable,
        ];
        Traits {
            isolation: levels.into_iter().find(|level| *level as u32 + 1 == label & 7).unwrap_or_default(),
            access: if label & 8 == 0 { AccessMode::ReadWrite } else { AccessMode::ReadOnly },
            unique_checks: label & 16 == 0,
            foreign_key_checks: label & 32 == 0,
        }
    }
}

/// Whether a transaction may change anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AccessMode {
    /// It may.
    #[default]
    ReadWrite,
    /// It may not.
    ReadOnly,
}

/// The strength of a row lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockMode {
    /// Others may read, not change.
    Shared,
    /// Others may neither lock nor change.
    Exclusive,
}

impl From<LockMode> for Mode {
    fn from(mode: LockMode) -> Mode {
        match mode {
            LockMode::Shared => Mode::Shared,
            LockMode::Exclusive => Mode::Exclusive,
        }
    }
}

/// Which version of a row is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadMode {
    /// What the isolation level shows. Never waits for another transaction (but see
    /// [`IsolationLevel::Serializable`]).
    Snapshot,
    /// The latest version, after its writer has ended. Takes no lock: change it with the [`RowStamp`] it came
    /// with.
    Current,
    /// The latest version, which will be changed if a condition holds: locked as UPDATE and DELETE lock. From
    /// READ UNCOMMITTED to READ COMMITTED, and if one row is asked for by its primary key, as
    /// [`Current`](Self::Current): changing it will lock it. Otherwise as `Locked`. Where there is no row,
    /// inserts are kept out as by `Locked`. Where rows are not locked, a scan of the clustered index does not
    /// wait for a row that another transaction is changing: it gives the last committed version, which is to
    /// be locked and read again before it is changed; see [`RowStamp::is_semi_consistent`].
    Change,
    /// As [`Change`](Self::Change), for a DELETE, and for rows of which no statement will ask again whether
    /// the condition holds: one that another transaction is changing is waited for.
    ChangeJoined,
    /// What a statement reads that changes rows elsewhere (INSERT ... SELECT): from REPEATABLE READ on as
    /// `Locked(Shared, Wait)`, so that the statement means the same at the moment of the commit; below as
    /// [`Snapshot`](Self::Snapshot).
    Source,
    /// The latest version, locked until the transaction ends; and the gaps, from REPEATABLE READ on.
    Locked(LockMode, LockWait),
}

/// What became of an update or delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum UpdateOutcome {
    /// Done.
    Done,
    /// The row is no longer the version that was read: read it again.
    Changed,
}

/// Changes undone, or undo records about locks written, before the worker's other tasks get their turn.
const STEPS_AT_ONCE: u64 = 128;

/// A point in a transaction to which it can be rolled back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Savepoint {
    pub(crate) changes: SavePoint,
    /// Changes of rows of temporary tables before it.
    unlogged: u64,
}

/// A transaction. It takes an id, undo space and locks only when it first changes something. Dropping one
/// that has not ended rolls it back in the background.
pub struct Transaction {
    pub(crate) engine: Arc<Engine>,
    /// There until the transaction is dropped.
    trx: Option<Trx>,
    traits: Traits,
    /// Whether it is one statement's.
    pub(crate) single_statement: bool,
    /// Ids of the tables it uses, with [`WRITES`] if it changes them.
    pub(crate) pinned: Vec<u64>,
    /// The same of the transaction that it [reads for](Self::reader), and that keeps them for it.
    pub(crate) borrowed: Box<[u64]>,
    /// The session's table locks.
    held: Weak<Held>,
    /// What the last operation waits for is a metadata lock.
    waits_for_definition: bool,
    /// The table whose AUTO_INCREMENT counter its statement has locked, or wants to lock.
    pub(crate) locked_counter: Option<u64>,
    pub(crate) work: RowWork,
    /// What it has done to rows of temporary tables, once it has.
    pub(crate) unlogged: Option<Box<Unlogged>>,
    /// A read of one row by a scan that had to wait.
    pub(crate) row_scan: Option<Box<(Scan, RowBatch)>>,
    /// What a read by a key keeps while it waits.
    pub(crate) read_progress: ReadProgress,
}

impl Transaction {
    pub(crate) fn new(engine: Arc<Engine>, isolation: IsolationLevel, access: AccessMode) -> Self {
        let trx = engine.trx.begin();
        let traits = Traits::of(isolation, engine.permitted(access));
        trx.set_label(traits.label());
        let trx = Some(trx);
        Transaction {
            engine,
            trx,
            traits,
            single_statement: false,
            pinned: Vec::new(),
            borrowed: Box::default(),
            held: Weak::new(),
            waits_for_definition: false,
            locked_counter: None,
            work: RowWork::default(),
            unlogged: None,
            row_scan: None,
            read_progress: ReadProgress::default(),
        }
    }

    #[inline]
    pub(crate) fn trx(&mut self) -> &mut Trx {
        self.trx.as_mut().expect("there until the transaction is dropped")
    }

    fn trx_ref(&self) -> &Trx {
        self.trx.as_ref().expect("there until the transaction is dropped")
    }

    /// The transaction below and what a read by a key keeps while it waits.
    #[inline]
    pub(crate) fn reading_parts(&mut self) -> (&mut Trx, &mut ReadProgress) {
        (self.trx.as_mut().expect("there until the transaction is dropped"), &mut self.read_progress)
    }

    /// The transaction below and the progress of a row operation.
    #[inline]
    pub(crate) fn parts(&mut self) -> (&mut Trx, &mut RowWork) {
        (self.trx.as_mut().expect("there until the transaction is dropped"), &mut self.work)
    }

    #[inline]
    pub(crate) fn engine_and_trx(&mut self) -> (&Engine, &mut Trx) {
        (&self.engine, self.trx.as_mut().expect("there until the transaction is dropped"))
    }

    /// The engine.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Begins the next transaction with this one's buffers, after it has been committed or rolled back.
    ///
    /// # Panics
    /// If it has not.
    pub fn restart(&mut self, isolation: IsolationLevel, access: AccessMode) {
        assert!(!self.trx_ref().is_open(), "a transaction is ended before the next one begins");
        let access = self.engine.permitted(access);
        self.become_like(Traits { isolation, access, ..self.traits });
        self.single_statement = false;
    }

    fn become_like(&mut self, traits: Traits) {
        if traits != self.traits {
            self.traits = traits;
            self.trx_ref().set_label(traits.label());
        }
    }

    /// Says what the session checks, for who looks at open transactions.
    pub fn note_checks(&mut self, unique_checks: bool, foreign_key_checks: bool) {
        self.become_like(Traits { unique_checks, foreign_key_checks, ..self.traits });
    }

    /// Says whose it and those that begin with its buffers are: a connection, for who looks at open
    /// transactions.
    pub fn set_owner(&mut self, owner: u64) {
        self.trx().set_owner(owner);
    }

    /// It begins now, for who looks at open transactions. Otherwise it begins with its first change.
    pub fn note_begin(&mut self) {
        self.trx().note_begin();
    }

    /// Says that it is one statement's, committed by itself: it reads consistently at SERIALIZABLE, too,
    /// without locks.
    pub fn set_single_statement(&mut self, single: bool) {
        self.single_statement = single;
    }

    /// Whether locking or changing a row that has changed since the snapshot is an error
    /// ([`Error::RecordChanged`]): `innodb_snapshot_isolation`. Means nothing where each statement has a
    /// snapshot of its own.
    pub fn set_snapshot_isolation(&mut self, on: bool) {
        let is_snapshot_kept = self.traits.isolation >= IsolationLevel::RepeatableRead;
        self.trx().set_first_committer_wins(on && is_snapshot_kept);
    }

    /// Gives back the lock on a row that a read has newly locked, and that is not wanted after all. The row
    /// is named by its stamp, which says the partition, and its clustered key. For READ COMMITTED: where gaps
    /// are locked, rows stay locked with them.
    pub fn unlock_row(&mut self, table: &Table, stamp: RowStamp, key: &[u8]) {
        if self.gaps() == Gaps::Open
            && let Some(partition) = table.partitions().get(stamp.partition())
        {
            self.trx().unlock(partition.tree(0).index_id(), key);
        }
    }

    pub(crate) fn gaps(&self) -> Gaps {
        match self.traits.isolation {
            IsolationLevel::ReadUncommitted | IsolationLevel::ReadCommitted => Gaps::Open,
            IsolationLevel::RepeatableRead | IsolationLevel::Serializable => Gaps::Locked,
        }
    }

    /// Its isolation level.
    pub fn isolation(&self) -> IsolationLevel {
        self.traits.isolation
    }

    /// Its access mode.
    pub fn access(&self) -> AccessMode {
        self.traits.access
    }

    /// Its id, once it has changed something.
    pub fn id(&self) -> Option<TrxId> {
        self.trx_ref().id()
    }

    /// Whether it has changed anything that has not been undone.
    pub fn has_changes(&self) -> bool {
        self.trx_ref().savepoint() != SavePoint::default()
    }

    /// A statement begins. READ COMMITTED takes a new snapshot at its first read. Gives the point to roll
    /// back to if the statement fails.
    pub fn start_statement(&mut self) -> Savepoint {
        if self.traits.isolation <= IsolationLevel::ReadCommitted {
            self.trx().close_snapshot();
        }
        self.savepoint()
    }

    /// A statement has ended, and the transaction goes on. Below REPEATABLE READ its snapshot is closed:
    /// however long the session does nothing now, purge does not wait for it.
    #[inline]
    pub fn end_statement(&mut self) {
        if self.traits.isolation <= IsolationLevel::ReadCommitted {
            self.trx().rest();
        }
    }

    /// Takes the snapshot now instead of at the first read: START TRANSACTION WITH CONSISTENT SNAPSHOT.
    pub fn open_snapshot(&mut self) {
        self.trx().open_snapshot();
    }

    /// The point that has been reached.
    pub fn savepoint(&self) -> Savepoint {
        Savepoint { changes: self.trx_ref().savepoint(), unlogged: self.unlogged_changes() }
    }

    /// Undoes everything after `savepoint`. Locks are kept until the transaction ends, and, where gaps are
    /// locked, no other transaction inserts what has been inserted and is gone again; if that takes more
    /// memory than it may, it fails with [`Error::LockTableFull`].
    pub fn rollback_to(&mut self, savepoint: Savepoint) -> Attempt<()> {
        self.forget_operation();
        self.undo_unlogged(savepoint.unlogged)?;
        // Looked for here, and not while a leaf is latched.
        let dictionary = self.engine.dictionary();
        let written: Vec<&Arc<Table>> =
            dictionary.all_tables().filter(|table| self.pinned.contains(&(table.id | WRITES))).collect();
        if self.gaps() == Gaps::Locked {
            written.iter().for_each(|table| table.prepare_number_of());
        }
        let unique = |index, key: &[u8]| {
            let numbered = written.iter().find_map(|table| Some((table, table.number_of(index)?)));
            numbered.and_then(|(table, number)| table.unique_part(number, key))
        };
        let places = self.places(&unique);
        self.trx().rollback_to(savepoint.changes, places).map_err(Blocked::up)
    }

    /// The operation under way, if one is, will not be called again.
    fn forget_operation(&mut self) {
        self.work.reset();
        self.unlogged.iter_mut().for_each(|unlogged| unlogged.forget_operation());
        self.forget_reads();
    }

    fn forget_reads(&mut self) {
        self.row_scan = None;
        self.read_progress.clear();
    }

    /// What a partial rollback does with the places of what is gone again.
    pub(crate) fn places<'a>(&self, unique: UniquePart<'a>) -> Places<'a> {
        match self.gaps() {
            Gaps::Open => Places::Open,
            Gaps::Locked => Places::Locked(unique),
        }
    }

    /// Commits. Returns when the commit is as durable as `innodb_flush_log_at_trx_commit` demands. Afterwards
    /// the transaction has ended; see [`restart`](Self::restart). After an error it is still open: roll it
    /// back.
    pub async fn commit(&mut self) -> Result<(), Error> {
        match retry(|| self.try_commit()).await? {
            Some(lsn) => self.engine.wait_committed(lsn).await,
            None => Ok(()),
        }
    }

    /// The first half of [`commit`](Self::commit): the transaction ends, others see it and its locks are
    /// gone; it may be acknowledged after [`Engine::wait_committed`]. `None` if it had changed nothing.
    pub fn try_commit(&mut self) -> Attempt<Option<Lsn>> {
        let lsn = self.trx().commit().map_err(Blocked::up)?;
        self.unlogged.iter_mut().for_each(|unlogged| unlogged.keep());
        self.end();
        Ok(lsn)
    }

    /// Undoes everything and ends the transaction.
    pub async fn rollback(&mut self) -> Result<(), Error> {
        self.work.reset();
        self.trx().cancel_wait();
        self.trx().note_rollback();
        retry(|| self.undo_unlogged(0)).await?;
        roll_back_steps(self.trx()).await?;
        retry(|| self.try_rollback()).await
    }

    /// What is below, which keeps its metadata locks. To be told apart from a transaction that is dropped.
    pub(crate) fn detach(mut self) -> Trx {
        let mut trx = self.trx.take().expect("there until the transaction is dropped");
        trx.set_owner(0);
        trx
    }

    /// The number that it is shown by.
    pub fn shown_number(&self) -> u64 {
        crate::engine::shown_number(self.id(), self.session().0)
    }

    /// What is told of it to who looks at open transactions.
    pub fn described(&self) -> ActiveTransaction {
        self.engine.described(self.engine.trx.look(self.session()))
    }

    pub(crate) fn session(&self) -> SessionNo {
        self.trx_ref().session()
    }

    /// [`rollback`](Self::rollback) in steps.
    pub fn try_rollback(&mut self) -> Attempt<()> {
        self.work.reset();
        self.undo_unlogged(0)?;
        self.trx().rollback().map_err(Blocked::up)?;
        self.end();
        Ok(())
    }

    fn end(&mut self) {
        self.forget_operation();
        self.locked_counter = None;
        if !self.pinned.is_empty() {
            let session = self.trx_ref().session();
            self.engine.metadata.unpin_all(session, self.pinned.len());
            self.pinned.clear();
        }
    }

    /// Gives up the lock that an operation waits for (lock wait timeout, KILL). The operation must not be
    /// called again; what it has done is undone by [`rollback_to`](Self::rollback_to).
    pub fn cancel_wait(&mut self) {
        self.trx().cancel_wait();
        self.forget_reads();
    }

    /// Makes `locks` the session's: this transaction, and those that begin with its buffers, use the tables
    /// that they keep others from.
    pub fn hold(&mut self, locks: Option<&TableLocks>) {
        self.held = locks.and_then(TableLocks::held).map_or_else(Weak::new, |held| Arc::downgrade(&held));
    }

    /// As [`hold`](Self::hold), for the exclusive lock of a statement that reads what it redefines.
    pub fn hold_exclusive(&mut self, lock: &ExclusiveLock) {
        self.held = lock.share().map_or_else(Weak::new, |held| Arc::downgrade(&held));
    }

    /// Whether what the last operation gave to wait for is a metadata lock: another session's DDL or LOCK
    /// TABLES. Asked once.
    pub fn takes_metadata_wait(&mut self) -> bool {
        std::mem::take(&mut self.waits_for_definition)
    }

    /// Whether what the last operation gave to wait for is another transaction's row lock.
    pub fn awaits_row_lock(&self) -> bool {
        self.trx_ref().awaits_lock()
    }

    /// Begins to wait for that, if it is.
    pub fn begin_row_lock_wait(&self) -> Option<RowLockWait> {
        self.awaits_row_lock().then(|| RowLockWait::begin(&self.engine.config().clock))
    }

    /// Takes the metadata lock of `table` for reading, which the transaction keeps to its end. Every
    /// operation on a table takes the one it needs by itself. [`Error::TableChanged`] if `table` is not the
    /// current definition.
    #[inline]
    pub fn use_table(&mut self, table: &Arc<Table>) -> Attempt<()> {
        self.use_table_for(table, Use::Read)
    }

    #[inline]
    pub(crate) fn use_table_for(&mut self, table: &Arc<Table>, usage: Use) -> Attempt<()> {
        let noted = match usage {
            Use::Read => self.pinned.iter().any(|pin| pin & !WRITES == table.id),
            Use::Current | Use::Write => self.pinned.contains(&(table.id | WRITES)),
        };
        if noted && table.is_current() {
            return Ok(());
        }
        self.pin(table, usage)
    }

    fn pin(&mut self, table: &Table, usage: Use) -> Attempt<()> {
        if !table.is_current() {
            return Err(Error::TableChanged.into());
        }
        if table.is_temporary() {
            return Ok(());
        }
        table.check_usable()?;
        if usage == Use::Read && self.borrowed.contains(&table.id) {
            return Ok(());
        }
        if self.trx_ref().snapshot().is_some_and(|snapshot| snapshot.lsn < table.readable_since()) {
            return Err(Error::TableNewer.into());
        }
        let session = self.trx_ref().session();
        let known = self.pinned.iter().position(|pin| *pin == table.id);
        let position = known.unwrap_or(self.pinned.len());
        let pinned = self.engine.metadata.pin(
            session,
            position,
            table,
            (usage, known.is_some()),
            self.held.upgrade().as_deref(),
        );
        self.waits_for_definition = matches!(pinned, Err(Blocked::Wait(_)));
        pinned?;
        let pin = if usage == Use::Read { table.id } else { table.id | WRITES };
        match known {
            Some(position) => self.pinned[position] = pin,
            None => self.pinned.push(pin),
        }
        Ok(())
    }

    pub(crate) fn check_writable(&self) -> Result<(), Error> {
        match self.traits.access {
            AccessMode::ReadWrite => Ok(()),
            AccessMode::ReadOnly if self.engine.config().force_recovery.is_on() => Err(Error::ForcedRecovery),
            AccessMode::ReadOnly => Err(Error::ReadOnly),
        }
    }

    /// How a range of a table is read. No other session changes rows of a temporary one.
    #[inline]
    pub(crate) fn how_in(&self, table: &Table, mode: ReadMode) -> How {
        if table.is_temporary() { How::Latest } else { self.how(mode) }
    }

    /// How a range is read.
    #[inline]
    pub(crate) fn how(&self, mode: ReadMode) -> How {
        let locked =
            |mode: LockMode, wait| How::Locked(Locking { mode: mode.into(), gaps: self.gaps(), wait });
        match (mode, self.traits.isolation) {
            (ReadMode::Snapshot | ReadMode::Source, IsolationLevel::ReadUncommitted) => How::Latest,
            (ReadMode::Source, IsolationLevel::RepeatableRead | IsolationLevel::Serializable) => {
                locked(LockMode::Shared, LockWait::Wait)
            }
            (ReadMode::Snapshot, IsolationLevel::Serializable) if !self.single_statement => {
                locked(LockMode::Shared, LockWait::Wait)
            }
            (ReadMode::Snapshot | ReadMode::Source, _) => How::Snapshot,
            (
                ReadMode::Change | ReadMode::ChangeJoined,
                IsolationLevel::RepeatableRead | IsolationLevel::Serializable,
            ) => locked(LockMode::Exclusive, LockWait::Wait),
            (ReadMode::Current | ReadMode::Change | ReadMode::ChangeJoined, _) => How::Current(Gaps::Open),
            (ReadMode::Locked(mode, wait), _) => locked(mode, wait),
        }
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.unlogged.iter_mut().for_each(|unlogged| unlogged.abandon());
        let Some(trx) = &mut self.trx else { return };
        trx.cancel_wait();
        if trx.id().is_none() {
            self.end();
        } else if let Some(trx) = self.trx.take() {
            self.engine.background.abandon(trx);
        }
    }
}

impl Engine {
    /// Waits until a commit that [`Transaction::try_commit`] gave may be acknowledged.
    pub async fn wait_committed(&self, lsn: Lsn) -> Result<(), Error> {
        match self.flush_at_commit() {
            FlushAtCommit::Durable => self.log.wait_durable(lsn).await?,
            // Seen by the session's next snapshot, at least.
            FlushAtCommit::Lazy => self.log.wait_tail(lsn).await?,
            FlushAtCommit::Written => {
                self.log.wait_tail(lsn).await?;
                if self.log.written_lsn() < lsn {
                    // The worker's other sessions may have something to be written with it.
                    yield_now().await;
                    self.log.write_out(lsn)?;
                }
            }
        }
        Ok(())
    }
}

/// Undoes all that a transaction has changed, and lets others run meanwhile.
pub(crate) async fn roll_back_steps(trx: &mut Trx) -> Result<(), Error> {
    all_steps(|| trx.rollback_step()).await
}

/// Writes all locks of a transaction down that is to be prepared; the worker's other tasks get their turns.
pub(crate) async fn save_lock_steps(trx: &mut Trx) -> Result<(), Error> {
    all_steps(|| trx.save_locks()).await
}

/// Calls `step` until it gives false, and lets others run now and then.
async fn all_steps(mut step: impl FnMut() -> palisade_txn::Attempt<bool>) -> Result<(), Error> {
    for number in 1u64.. {
        if !retry(|| step().map_err(Blocked::up::<Error>)).await? {
            break;
        }
        if number.is_multiple_of(STEPS_AT_ONCE) {
            yield_now().await;
        }
    }
    Ok(())
}

/// Sessions move between tasks, and tasks between threads.
const _: () = {
    const fn is_send<T: Send>() {}
    is_send::<Transaction>();
    is_send::<Scan>();
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<Engine>();
    is_shared::<Table>();
};

impl PartialOrd for IsolationLevel {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        (*self as u8).partial_cmp(&(*other as u8))
    }
}
