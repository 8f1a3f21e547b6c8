//! Metadata locks: a table that an open transaction uses is not dropped or altered under it.
//!
//! Using a table must cost a reader nothing shared, so there is no count of users. A session notes the table's id in a
//! cell of its own and then looks whether somebody wants the table alone; who wants it alone says so and then looks
//! through all cells. Both fence in between: one of the two sees the other.
//!
//! Names are what exclusive locks are about, so that two CREATE TABLE of one name exclude each other too.
//! The empty table name stands for the schema itself and conflicts with every name in it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};

use palisade_base::{Blocked, Event};
use palisade_txn::{SessionArray, SessionNo};
use parking_lot::Mutex;

use crate::engine::Engine;
use crate::table::Table;
use crate::{Attempt, Error};

/// Tables a session notes one by one; with more it notes that it may be using any.
const NOTED: usize = 14;
/// "Any table".
const ANY: u64 = u64::MAX;

/// The tables that a session's transaction uses.
#[derive(Default)]
#[repr(align(128))]
struct Pins {
    tables: [AtomicU64; NOTED],
    any: AtomicU64,
}

/// All metadata locks of an engine.
#[derive(Default)]
pub(crate) struct MetadataLocks {
    pins: SessionArray<Pins>,
    sessions: AtomicUsize,
    /// How many exclusive locks are held or wanted.
    exclusive: AtomicUsize,
    names: Mutex<BTreeSet<TableName>>,
    /// Completed and replaced when an exclusive lock is given up.
    released: Mutex<Event>,
    /// Completed and replaced when a transaction stops using tables while somebody wants one alone.
    unpinned: Mutex<Event>,
}

impl MetadataLocks {
    /// Notes that `session` uses `table`, its `position`-th. Waits for: an exclusive lock to be given up.
    pub(crate) fn pin(&self, session: SessionNo, position: usize, table: &Table) -> Attempt<()> {
        self.sessions.fetch_max(session.0 as usize + 1, Ordering::AcqRel);
        let cell = self.pins.cell(session);
        let pin = cell.tables.get(position).unwrap_or(&cell.any);
        pin.store(if position < NOTED { table.id } else { ANY }, Ordering::Release);
        fence(Ordering::SeqCst);
        if !table.is_wanted_alone() && table.is_current() {
            return Ok(());
        }
        if position <= NOTED {
            pin.store(0, Ordering::Release);
        }
        notify(&self.unpinned);
        let event = self.released.lock().clone();
        if !table.is_current() {
            return Err(Error::TableChanged.into());
        }
        if table.is_wanted_alone() { Err(Blocked::Wait(event)) } else { self.pin(session, position, table) }
    }

    /// Notes that `session` may be using any table: a transaction found in flight by recovery.
    pub(crate) fn pin_any(&self, session: SessionNo) {
        self.sessions.fetch_max(session.0 as usize + 1, Ordering::AcqRel);
        self.pins.cell(session).any.store(ANY, Ordering::SeqCst);
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
        if self.exclusive.load(Ordering::Acquire) > 0 {
            notify(&self.unpinned);
        }
    }

    fn is_used(&self, table: u64) -> bool {
        (0..self.sessions.load(Ordering::Acquire) as u32).any(|session| {
            let cell = self.pins.cell(SessionNo(session));
            let noted = cell.tables.iter().any(|pin| pin.load(Ordering::Acquire) == table);
            noted || cell.any.load(Ordering::Acquire) == ANY
        })
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

/// Exclusive metadata locks on a set of names, whether tables of these names exist or not. Released when dropped.
pub struct ExclusiveLock {
    engine: Arc<Engine>,
    names: Vec<TableName>,
    /// There from the moment the names are noted.
    held: Option<Arc<Held>>,
    acquired: bool,
}

/// Names that are noted, and the tables of these names. A statement that goes on in the background when its session
/// gives up shares it.
pub(crate) struct Held {
    engine: Arc<Engine>,
    names: Vec<TableName>,
    tables: Vec<Arc<Table>>,
}

impl ExclusiveLock {
    /// Asks for locks on `names`. None is held before [`acquire`](Self::acquire) has succeeded, but from the first
    /// call on no transaction begins to use these tables.
    pub fn new(engine: &Arc<Engine>, names: impl IntoIterator<Item = TableName>) -> Self {
        let mut names: Vec<TableName> = names.into_iter().collect();
        names.sort();
        names.dedup();
        ExclusiveLock { engine: engine.clone(), names, held: None, acquired: false }
    }

    /// As [`new`](Self::new), on a schema and all its tables: for DROP DATABASE.
    pub fn of_schema(engine: &Arc<Engine>, schema: &str) -> Self {
        Self::new(engine, [TableName::new(schema, "")])
    }

    /// Waits until the tables are used by nobody. The calling session must have ended its own transaction. To give up
    /// after a timeout, drop the lock.
    pub fn acquire(&mut self) -> Attempt<()> {
        if self.acquired {
            return Ok(());
        }
        let locks = &self.engine.metadata;
        let held = match &self.held {
            Some(held) => held,
            None => {
                let held = self.note()?;
                self.held.insert(held)
            }
        };
        let event = locks.unpinned.lock().clone();
        fence(Ordering::SeqCst);
        if held.tables.iter().any(|table| locks.is_used(table.id)) {
            return Err(Blocked::Wait(event));
        }
        self.acquired = true;
        Ok(())
    }

    /// Notes the names, unless another lock conflicts.
    fn note(&self) -> Attempt<Arc<Held>> {
        let locks = &self.engine.metadata;
        let event = locks.released.lock().clone();
        let mut names = locks.names.lock();
        let conflict = |name: &TableName| names.iter().any(|other| name.conflicts_with(other));
        if self.names.iter().any(conflict) {
            return Err(Blocked::Wait(event));
        }
        names.extend(self.names.iter().cloned());
        drop(names);
        locks.exclusive.fetch_add(1, Ordering::AcqRel);
        let tables = self.tables();
        for table in &tables {
            table.want_alone(true);
        }
        Ok(Arc::new(Held { engine: self.engine.clone(), names: self.names.clone(), tables }))
    }

    fn tables(&self) -> Vec<Arc<Table>> {
        let dictionary = self.engine.dictionary();
        let mut tables = Vec::new();
        for name in &self.names {
            if name.table.is_empty() {
                tables.extend(dictionary.tables(&name.schema).cloned());
            } else if let Ok(table) = dictionary.table(&name.schema, &name.table) {
                tables.push(table.clone());
            }
        }
        tables
    }

    /// What it is for.
    pub fn names(&self) -> &[TableName] {
        &self.names
    }

    /// Keeps it held, for as long as what is given lives.
    pub(crate) fn share(&self) -> Option<Arc<Held>> {
        self.held.clone()
    }

    /// # Panics
    /// If it is not an acquired lock on `name`.
    pub(crate) fn assert_covers(&self, name: &TableName) {
        let covers = |held: &TableName| held == name || held.table.is_empty() && held.schema == name.schema;
        assert!(
            self.acquired && self.names.iter().any(covers),
            "{name:?} is changed under an exclusive lock"
        );
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // The definitions that have taken the tables' place came into being wanted alone by nobody.
        for table in &self.tables {
            table.want_alone(false);
        }
        let locks = &self.engine.metadata;
        let mut names = locks.names.lock();
        for name in &self.names {
            names.remove(name);
        }
        drop(names);
        locks.exclusive.fetch_sub(1, Ordering::AcqRel);
        notify(&locks.released);
    }
}
