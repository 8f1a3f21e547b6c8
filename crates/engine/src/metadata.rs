//! Metadata locks: a table that an open transaction uses is not dropped or altered under it.
//!
//! Using a table must cost a reader nothing shared, so there is no count of users. A session notes the table's id in a
//! cell of its own (a *pin*) and then looks whether the table's `Gate` is closed; who wants the table closes the gate
//! and then looks through all cells. Both fence in between: one of the two sees the other. A gate is closed to everyone
//! (DDL, LOCK TABLES ... WRITE) or to writers (LOCK TABLES ... READ, FLUSH TABLES WITH READ LOCK); pins say whether
//! their transaction writes. All definitions that a table has in turn share its gate, so that a table redefined under a
//! lock is closed from its first moment.
//!
//! Names are what locks are about, so that two CREATE TABLE of one name exclude each other too.
//! The empty table name stands for the schema itself and conflicts with every name in it.
//!
//! Transactions and locks do not wait for each other in circles: see `metadata/passing.rs`.

mod listed;
mod passing;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

use palisade_base::{Blocked, Event};
use palisade_txn::{SessionArray, SessionNo};
use parking_lot::Mutex;

use crate::build_work::BuildWork;
use crate::engine::Engine;
use crate::table::Table;
use crate::transaction::ReadMode;
use crate::{Attempt, Error, LockMode};
use listed::{Listed, Requests};
pub use listed::{LockStrength, MetadataLock, MetadataObject};
use passing::{Asked, LockNo, Passing, Tables};

/// Tables a session notes one by one; with more it notes that it may be using any.
const NOTED: usize = 14;
/// "Any table".
const ANY: u64 = u64::MAX;
/// The bit of a pin whose transaction changes or locks rows; ids are smaller.
pub(crate) const WRITES: u64 = 1 << 63;

/// What a transaction does with a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// It reads.
    Read,
    /// It reads the latest rows, in order to change these or others.
    Current,
    /// It changes rows.
    Write,
}

impl Use {
    /// What reading in `mode` is.
    #[inline]
    pub(crate) fn of(mode: ReadMode) -> Use {
        match mode {
            ReadMode::Snapshot | ReadMode::Source | ReadMode::Locked(LockMode::Shared, _) => Use::Read,
            ReadMode::Current
            | ReadMode::Change
            | ReadMode::ChangeJoined
            | ReadMode::Locked(LockMode::Exclusive, _) => Use::Current,
        }
    }
}

/// How much of a table a lock takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// Others may read.
    Reading,
    /// Nobody else uses it.
    Alone,
}

/// Whether a table may be used: by nobody else, by readers only, by all.
#[derive(Debug, Default)]
pub(crate) struct Gate(AtomicU32);

impl Gate {
    /// One who wants the table alone; the rest of the number counts those who want it unchanged.
    const ALONE: u32 = 1 << 31;

    #[inline]
    fn is_closed_to(&self, usage: Use) -> bool {
        let state = self.0.load(Ordering::Acquire);
        match usage {
            Use::Read => state & Self::ALONE != 0,
            Use::Current | Use::Write => state != 0,
        }
    }

    /// Whether a transaction that reads the table may not begin to write. Who wants the table alone waits for its
    /// transaction anyway.
    fn is_closed_to_upgrade(&self) -> bool {
        self.0.load(Ordering::Acquire) & !Self::ALONE != 0
    }

    fn close(&self, share: Share) {
        match share {
            Share::Alone => self.0.fetch_or(Self::ALONE, Ordering::SeqCst),
            Share::Reading => self.0.fetch_add(1, Ordering::SeqCst),
        };
    }

    fn open(&self, share: Share) {
        match share {
            Share::Alone => self.0.fetch_and(!Self::ALONE, Ordering::SeqCst),
            Share::Reading => self.0.fetch_sub(1, Ordering::SeqCst),
        };
    }
}

/// The tables that a session's transaction uses.
#[derive(Default)]
#[repr(align(128))]
struct Pins {
    tables: [AtomicU64; NOTED],
    any: AtomicU64,
}

/// The tables that a transaction has noted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pinned {
    /// Any.
    pub(crate) any: bool,
    /// Their ids, and whether it writes to them.
    pub(crate) tables: Vec<(u64, bool)>,
}

/// All metadata locks of an engine.
#[derive(Default)]
pub(crate) struct MetadataLocks {
    pins: SessionArray<Pins>,
    sessions: AtomicUsize,
    /// How many locks are held or wanted.
    locks: AtomicUsize,
    names: Mutex<Names>,
    passing: Passing,
    /// Locks by name that are held or wanted, for those who look at them.
    requests: Requests,
    /// Completed and replaced when a lock is given up.
    released: Mutex<Event>,
    /// Completed and replaced when a transaction stops using tables while there are locks.
    unpinned: Mutex<Event>,
}

/// The names that are locked.
#[derive(Default)]
struct Names {
    alone: BTreeSet<TableName>,
    /// With the number of locks.
    reading: BTreeMap<TableName, usize>,
    /// How many want everything as it is.
    everything: usize,
}

impl MetadataLocks {
    /// Notes that `session` uses `table`, its `position`-th; `upgrade` if it has noted it as a reader. `own` are the
    /// table locks of the session. Waits for: a lock to be given up, unless that lock waits for the session.
    pub(crate) fn pin(
        &self,
        session: SessionNo,
        position: usize,
        table: &Table,
        (usage, upgrade): (Use, bool),
        own: Option<&Held>,
    ) -> Attempt<()> {
        self.sessions.fetch_max(session.0 as usize + 1, Ordering::AcqRel);
        let cell = self.pins.cell(session);
        let pin = cell.tables.get(position).unwrap_or(&cell.any);
        // A refusal takes back no more than this: the last place stands for many tables.
        let before = pin.load(Ordering::Relaxed);
        let writes = if usage == Use::Read { 0 } else { WRITES };
        let gate = table.gate();
        let closed = || {
            let closed = if upgrade { gate.is_closed_to_upgrade() } else { gate.is_closed_to(usage) };
            closed && own.and_then(|own| own.share_of(gate)) != Some(Share::Alone)
        };
        loop {
            pin.store(if position < NOTED { table.id | writes } else { ANY }, Ordering::Release);
            fence(Ordering::SeqCst);
            if !closed() && table.is_current() {
                return Ok(());
            }
            let asked = Asked { table: table.id, gate: gate.clone(), usage, upgrade };
            // Nobody redefines the table while all locks in the way have still to wait.
            let own_place = (before != ANY).then_some(position);
            if self.may_pass(session, own_place, asked) && table.is_current() {
                return Ok(());
            }
            pin.store(before, Ordering::Release);
            notify(&self.unpinned);
            let event = self.released.lock().clone();
            if !table.is_current() {
                return Err(Error::TableChanged.into());
            }
            if own.and_then(|own| own.share_of(gate)) == Some(Share::Reading) {
                // Nobody else changes or redefines it.
                return match usage {
                    Use::Read | Use::Current => Ok(()),
                    Use::Write => Err(Error::TableReadLocked(table.name.clone()).into()),
                };
            }
            if closed() {
                return Err(Blocked::Wait(event));
            }
        }
    }

    /// Notes that `session` may be using any table: a transaction found in flight by recovery.
    pub(crate) fn pin_any(&self, session: SessionNo) {
        self.sessions.fetch_max(session.0 as usize + 1, Ordering::AcqRel);
        self.pins.cell(session).any.store(ANY, Ordering::SeqCst);
    }

    /// What `session` has noted.
    pub(crate) fn pinned(&self, session: SessionNo) -> Pinned {
        let cell = self.pins.cell(session);
        let noted = cell.tables.iter().map(|pin| pin.load(Ordering::Acquire)).filter(|pin| *pin != 0);
        let tables = noted.map(|pin| (pin & !WRITES, pin & WRITES != 0)).collect();
        Pinned { any: cell.any.load(Ordering::Acquire) == ANY, tables }
    }

    /// Notes for `session` what it had noted before a restart, when no lock has been given yet.
    pub(crate) fn pin_again(&self, session: SessionNo, tables: &[(u64, bool)]) {
        self.sessions.fetch_max(session.0 as usize + 1, Ordering::AcqRel);
        let cell = self.pins.cell(session);
        for (position, (table, writes)) in tables.iter().enumerate() {
            let pin = table | if *writes { WRITES } else { 0 };
            cell.tables.get(position).unwrap_or(&cell.any).store(pin, Ordering::SeqCst);
        }
    }

    /// `session`, which begins to use nothing more, uses no other tables than these.
    pub(crate) fn narrow(&self, session: SessionNo, tables: &BTreeSet<u64>) {
        let cell = self.pins.cell(session);
        let noted = |pin: &AtomicU64| pin.load(Ordering::Relaxed) & !WRITES;
        for pin in cell.tables.iter().filter(|pin| noted(pin) != 0 && !tables.contains(&noted(pin))) {
            pin.store(0, Ordering::Release);
        }
        let missing = tables.iter().filter(|table| !cell.tables.iter().any(|pin| noted(pin) == **table));
        let missing: Vec<u64> = missing.copied().collect();
        let vacant: Vec<_> = cell.tables.iter().filter(|pin| noted(pin) == 0).collect();
        if missing.len() <= vacant.len() {
            for (pin, table) in vacant.into_iter().zip(missing) {
                pin.store(table | WRITES, Ordering::Release);
            }
            // After these: whoever does not find it finds them.
            cell.any.store(0, Ordering::Release);
        }
        fence(Ordering::SeqCst);
        notify(&self.unpinned);
    }

    /// Ends what [`pin_any`](Self::pin_any) began, or what [`pin`](Self::pin) did, however often.
    pub(crate) fn unpin_everything(&self, session: SessionNo) {
        self.unpin_all(session, usize::MAX);
    }

    /// The session's transaction has ended; it used `count` tables.
    pub(crate) fn unpin_all(&self, session: SessionNo, count: usize) {
        let cell = self.pins.cell(session);
        for pin in cell.tables.iter().take(count) {
            pin.store(0, Ordering::Release);
        }
        if count > NOTED {
            cell.any.store(0, Ordering::Release);
        }
        fence(Ordering::SeqCst);
        if self.locks.load(Ordering::Acquire) > 0 {
            notify(&self.unpinned);
        }
    }

    /// Whether `session`, which has just noted a table at `place`, if that has told nothing before, need not stop at a closed gate.
    #[cold]
    fn may_pass(&self, session: SessionNo, place: Option<usize>, asked: Asked) -> bool {
        self.passing.may_pass(session, asked, |other, tables| {
            let own = place.filter(|_| other == session);
            tables.iter().any(|(table, share)| self.uses(other, table.id, *share, own))
        })
    }

    /// Whether a transaction uses the table in a way that `share` does not allow.
    fn is_used(&self, table: u64, share: Share) -> bool {
        let mut sessions = (0..self.sessions.load(Ordering::Acquire) as u32).map(SessionNo);
        sessions.any(|session| self.uses(session, table, share, None))
    }

    /// The same of one session, leaving out what it has noted at a place.
    fn uses(&self, session: SessionNo, table: u64, share: Share, except: Option<usize>) -> bool {
        let conflicts = |pin: u64| match share {
            Share::Alone => pin & !WRITES == table,
            Share::Reading => pin == table | WRITES,
        };
        let cell = self.pins.cell(session);
        let mut noted = cell.tables.iter().enumerate().filter(|(place, _)| except != Some(*place));
        // In this order, because of `narrow`.
        except != Some(NOTED) && cell.any.load(Ordering::Acquire) == ANY
            || noted.any(|(_, pin)| conflicts(pin.load(Ordering::Acquire)))
    }
}

fn notify(event: &Mutex<Event>) {
    let happened = std::mem::take(&mut *event.lock());
    happened.complete();
}

/// Schema and name of a table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableName {
    /// The schema.
    pub schema: String,
    /// The table.
    pub table: String,
}

impl TableName {
    /// `schema`.`table`
    pub fn new(schema: impl Into<String>, table: impl Into<String>) -> Self {
        TableName { schema: schema.into(), table: table.into() }
    }

    fn conflicts_with(&self, other: &TableName) -> bool {
        self.schema == other.schema
            && (self.table == other.table || self.table.is_empty() || other.table.is_empty())
    }
}

impl Names {
    fn conflict(&self, name: &TableName, share: Share) -> bool {
        let alone = self.alone.iter().any(|other| name.conflicts_with(other));
        let reading = || self.reading.keys().any(|other| name.conflicts_with(other));
        alone || share == Share::Alone && (self.everything > 0 || reading())
    }
}

/// What a lock is about.
#[derive(Default)]
struct Wanted {
    names: Vec<(TableName, Share)>,
    /// All tables, as they are ...
    everything: bool,
    /// ... but for rows of these.
    except: Vec<TableName>,
}

/// Names that are noted, and the gates of the tables of these names. A statement that goes on in the background when
/// its session gives up shares it.
pub(crate) struct Held {
    engine: Arc<Engine>,
    wanted: Wanted,
    tables: Tables,
    /// Its number among those that have closed gates; of a lock under another, which has, none.
    number: Option<LockNo>,
    /// The table locks under which it was taken: they are held as long as it is.
    outer: Option<Arc<Held>>,
    /// It is among the locks that others may look at.
    listed: Arc<Listed>,
}

impl Held {
    /// How much of the table behind `gate` is held.
    fn share_of(&self, gate: &Arc<Gate>) -> Option<Share> {
        let held = self.tables.iter().find(|(table, _)| Arc::ptr_eq(table.gate(), gate));
        let outer = || self.outer.as_ref().and_then(|outer| outer.share_of(gate));
        held.map(|(_, share)| *share).or_else(outer)
    }
}

impl Engine {
    /// Which tables are in use, by id, and by how many: transactions that have used them and have not ended,
    /// and locks on them by name. A transaction that uses more tables than it notes one by one counts for
    /// those only that it has noted.
    pub fn tables_in_use(&self) -> BTreeMap<u64, usize> {
        let locks = &self.metadata;
        let mut users: BTreeMap<u64, usize> = BTreeMap::new();
        for session in (0..locks.sessions.load(Ordering::Acquire) as u32).map(SessionNo) {
            let tables = locks.pinned(session).tables.into_iter();
            let used: BTreeSet<u64> = tables.map(|(table, _)| table).filter(|table| *table != ANY).collect();
            used.into_iter().for_each(|table| *users.entry(table).or_default() += 1);
        }
        let dictionary = self.dictionary();
        let names = locks.names.lock();
        let locked = names
            .alone
            .iter()
            .map(|name| (name, 0))
            .chain(names.reading.iter().map(|(name, count)| (name, *count)));
        for (name, readers) in locked {
            let Ok(table) = dictionary.table(&name.schema, &name.table) else { continue };
            let users = users.entry(table.id).or_default();
            // Who has it alone is its only user.
            *users = if readers == 0 { 1 } else { *users + readers };
        }
        users
    }

    /// Notes what is wanted and closes the gates, unless a lock of another conflicts.
    fn note_locks(
        self: &Arc<Self>,
        wanted: Wanted,
        listed: &Arc<Listed>,
    ) -> Result<Arc<Held>, (Wanted, Event)> {
        let locks = &self.metadata;
        let event = locks.released.lock().clone();
        let mut names = locks.names.lock();
        let conflict = wanted.names.iter().any(|(name, share)| names.conflict(name, *share));
        if conflict || wanted.everything && !names.alone.is_empty() {
            return Err((wanted, event));
        }
        for (name, share) in &wanted.names {
            match share {
                Share::Alone => {
                    names.alone.insert(name.clone());
                }
                Share::Reading => *names.reading.entry(name.clone()).or_default() += 1,
            }
        }
        names.everything += usize::from(wanted.everything);
        drop(names);
        locks.locks.fetch_add(1, Ordering::AcqRel);
        let tables = self.tables_of(&wanted);
        // First: whoever finds a gate closed finds the lock that has closed it.
        let number = locks.passing.note(tables.clone());
        for (table, share) in &*tables {
            table.gate().close(*share);
        }
        let listed = listed.clone();
        Ok(Arc::new(Held { engine: self.clone(), wanted, tables, number: Some(number), outer: None, listed }))
    }

    fn tables_of(&self, wanted: &Wanted) -> Tables {
        let dictionary = self.dictionary();
        let mut tables = Vec::new();
        if wanted.everything {
            let is_but = |table: &Table| {
                let named = |name: &TableName| name.schema == table.schema && name.table == table.name;
                wanted.except.iter().any(named)
            };
            let all = dictionary.all_tables().filter(|table| !is_but(table));
            tables.extend(all.map(|table| (table.clone(), Share::Reading)));
        }
        for (name, share) in &wanted.names {
            if name.table.is_empty() {
                tables.extend(dictionary.tables(&name.schema).map(|table| (table.clone(), *share)));
            } else if let Ok(table) = dictionary.table(&name.schema, &name.table) {
                tables.push((table.clone(), *share));
            }
        }
        tables.into()
    }

    /// Waits until transactions use the tables of `held` only as it allows.
    fn settle(&self, held: &Held) -> Attempt<()> {
        let Some(number) = held.number else { return Ok(()) };
        let event = self.metadata.unpinned.lock().clone();
        fence(Ordering::SeqCst);
        let is_used = || held.tables.iter().any(|(table, share)| self.metadata.is_used(table.id, *share));
        if self.metadata.passing.acquire(number, is_used) { Ok(()) } else { Err(Blocked::Wait(event)) }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        for (table, share) in &*self.tables {
            table.gate().open(*share);
        }
        let locks = &self.engine.metadata;
        if let Some(number) = self.number {
            locks.passing.forget(number);
        }
        let mut names = locks.names.lock();
        for (name, share) in &self.wanted.names {
            match share {
                Share::Alone => {
                    names.alone.remove(name);
                }
                Share::Reading => {
                    let count = names.reading.get_mut(name).expect("it was noted");
                    *count -= 1;
                    if *count == 0 {
                        names.reading.remove(name);
                    }
                }
            }
        }
        names.everything -= usize::from(self.wanted.everything);
        drop(names);
        locks.locks.fetch_sub(1, Ordering::AcqRel);
        notify(&locks.released);
    }
}

/// A lock on its way.
enum Progress {
    Wanted(Wanted, Arc<Listed>),
    Noted(Arc<Held>),
    Acquired(Arc<Held>),
}

impl Progress {
    fn acquire(&mut self, engine: &Arc<Engine>) -> Attempt<()> {
        if let Progress::Wanted(wanted, listed) = self {
            let listed = listed.clone();
            match engine.note_locks(std::mem::take(wanted), &listed) {
                Ok(held) => *self = Progress::Noted(held),
                Err((wanted, event)) => {
                    *self = Progress::Wanted(wanted, listed);
                    return Err(Blocked::Wait(event));
                }
            }
        }
        if let Progress::Noted(held) = self {
            engine.settle(held)?;
            held.listed.grant();
            *self = Progress::Acquired(held.clone());
        }
        Ok(())
    }

    fn held(&self) -> Option<&Arc<Held>> {
        match self {
            Progress::Acquired(held) => Some(held),
            _ => None,
        }
    }

    fn listed(&self) -> &Listed {
        match self {
            Progress::Wanted(_, listed) => listed,
            Progress::Noted(held) | Progress::Acquired(held) => &held.listed,
        }
    }
}

/// Exclusive metadata locks on a set of names, whether tables of these names exist or not. Released when dropped.
pub struct ExclusiveLock {
    engine: Arc<Engine>,
    names: Vec<TableName>,
    progress: Progress,
    work: Arc<BuildWork>,
}

impl ExclusiveLock {
    /// Asks for locks on `names`. None is held before [`acquire`](Self::acquire) has succeeded, but from the first
    /// call on no transaction begins to use these tables, other than those that are waited for.
    pub fn new(engine: &Arc<Engine>, names: impl IntoIterator<Item = TableName>) -> Self {
        let mut names: Vec<TableName> = names.into_iter().collect();
        names.sort();
        names.dedup();
        let wanted = names.iter().map(|name| (name.clone(), Share::Alone)).collect();
        let wanted = Wanted { names: wanted, everything: false, except: Vec::new() };
        let objects = names.iter().map(|name| (name.into(), LockStrength::Exclusive));
        let listed = engine.metadata.requests.list(objects.collect());
        let progress = Progress::Wanted(wanted, listed);
        let work = BuildWork::new(engine.config.clock.clone());
        ExclusiveLock { engine: engine.clone(), names, progress, work }
    }

    /// As [`new`](Self::new), on a schema and all its tables: for DROP DATABASE.
    pub fn of_schema(engine: &Arc<Engine>, schema: &str) -> Self {
        Self::new(engine, [TableName::new(schema, "")])
    }

    /// On tables that the session holds for itself: nothing is left to wait for.
    ///
    /// # Panics
    /// If `locks` do not hold one of the names alone.
    pub fn under(locks: &TableLocks, names: impl IntoIterator<Item = TableName>) -> Self {
        let names: Vec<TableName> = names.into_iter().collect();
        let outer = locks.progress.held().expect("table locks are acquired before they are used").clone();
        let covers = |name: &TableName| outer.wanted.names.contains(&(name.clone(), Share::Alone));
        assert!(names.iter().all(covers), "the session holds the tables it redefines");
        locks.engine.metadata.locks.fetch_add(1, Ordering::AcqRel);
        let objects = names.iter().map(|name| (name.into(), LockStrength::Exclusive));
        let listed = locks.engine.metadata.requests.list(objects.collect());
        listed.set_owner(outer.listed.owner());
        listed.grant();
        let held = Held {
            engine: locks.engine.clone(),
            wanted: Wanted::default(),
            tables: Tables::default(),
            number: None,
            outer: Some(outer),
            listed,
        };
        let (engine, work) = (locks.engine.clone(), BuildWork::new(locks.engine.config.clock.clone()));
        ExclusiveLock { engine, names, progress: Progress::Acquired(Arc::new(held)), work }
    }

    /// Says whose it is: a connection, for those who look at locks.
    pub fn set_owner(&self, owner: u64) {
        self.progress.listed().set_owner(owner);
    }

    /// Waits until the tables are used by nobody. The calling session must have ended its own transaction. To give up
    /// after a timeout, drop the lock.
    pub fn acquire(&mut self) -> Attempt<()> {
        self.progress.acquire(&self.engine)
    }

    /// How far the statement has come that holds it.
    pub fn work(&self) -> &Arc<BuildWork> {
        &self.work
    }

    /// What it is for.
    pub fn names(&self) -> &[TableName] {
        &self.names
    }

    /// Keeps it held, for as long as what is given lives.
    pub(crate) fn share(&self) -> Option<Arc<Held>> {
        self.progress.held().cloned()
    }

    /// # Panics
    /// If it is not an acquired lock on `name`.
    pub(crate) fn assert_covers(&self, name: &TableName) {
        let covers = |held: &TableName| held == name || held.table.is_empty() && held.schema == name.schema;
        assert!(
            self.progress.held().is_some() && self.names.iter().any(covers),
            "{name:?} is changed under an exclusive lock"
        );
    }
}

/// The locks of LOCK TABLES and FLUSH TABLES WITH READ LOCK: they outlive transactions. The session's own transactions
/// use the tables if they are [told of them](crate::Transaction::hold). Released when dropped.
pub struct TableLocks {
    engine: Arc<Engine>,
    progress: Progress,
}

impl TableLocks {
    /// Asks for locks on these names. All or none are noted, so that sessions do not wait for each other in circles.
    pub fn new(engine: &Arc<Engine>, wanted: impl IntoIterator<Item = (TableName, Share)>) -> Self {
        let mut names = BTreeMap::new();
        for (name, share) in wanted {
            let strongest = names.entry(name).or_insert(share);
            if share == Share::Alone {
                *strongest = Share::Alone;
            }
        }
        let strength = |share: &Share| match share {
            Share::Reading => LockStrength::SharedReadOnly,
            Share::Alone => LockStrength::SharedNoReadWrite,
        };
        let objects = names.iter().map(|(name, share)| (name.into(), strength(share)));
        let listed = engine.metadata.requests.list(objects.collect());
        let wanted = Wanted { names: names.into_iter().collect(), everything: false, except: Vec::new() };
        TableLocks { engine: engine.clone(), progress: Progress::Wanted(wanted, listed) }
    }

    /// Asks for a lock under which no row changes but in the tables `except`, and no definition.
    pub fn of_everything_but(engine: &Arc<Engine>, except: Vec<TableName>) -> Self {
        let wanted = Wanted { names: Vec::new(), everything: true, except };
        let objects = [MetadataObject::Global, MetadataObject::Commit];
        let listed = objects.map(|object| (object, LockStrength::Shared)).into();
        let progress = Progress::Wanted(wanted, engine.metadata.requests.list(listed));
        TableLocks { engine: engine.clone(), progress }
    }

    /// Says whose they are: a connection, for those who look at locks.
    pub fn set_owner(&self, owner: u64) {
        self.progress.listed().set_owner(owner);
    }

    /// Waits until transactions use the tables only as the locks allow: those who change them, or all, have ended. The
    /// calling session must have ended its own. To give up after a timeout, drop the locks.
    pub fn acquire(&mut self) -> Attempt<()> {
        self.progress.acquire(&self.engine)
    }

    pub(crate) fn held(&self) -> Option<Arc<Held>> {
        self.progress.held().cloned()
    }
}
