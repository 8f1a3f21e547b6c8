//! LOCK TABLES, UNLOCK TABLES, FLUSH TABLES ... WITH READ LOCK: locks that a session holds across transactions.
//!
//! The locks themselves are the engine's metadata locks ([`TableLocks`]). Here is what MySQL adds for the session that
//! holds them: while it has locked tables it uses these alone (1100), by the aliases under which it locked them, and
//! writes only to those locked WRITE (1099); under a global read lock it changes nothing (1223). Plans are checked when
//! they are bound, so a session with locks keeps and takes no plans.

use std::sync::Arc;

use palisade_base::error_catalogue::*;
use palisade_base::{Blocked, mysql_error};
use palisade_engine::{ExclusiveLock, Share, Table, TableLocks, TableName};
use palisade_parser::ast::{FlushTarget, ObjectName, TableLock};

use crate::bind::Binder;
use crate::sql::Sql;
use crate::{Awaited, Completion, Host, Session, SqlError, SqlResult, WaitOutcome, log_tables};

/// What a session has locked.
#[derive(Default)]
pub struct SessionLocks {
    /// LOCK TABLES, or FLUSH TABLES of named tables.
    tables: Option<LockedTables>,
    /// FLUSH TABLES WITH READ LOCK.
    global: Option<TableLocks>,
}

struct LockedTables {
    locks: TableLocks,
    entries: Vec<Entry>,
}

/// A table as LOCK TABLES names it.
struct Entry {
    name: TableName,
    alias: String,
    write: bool,
}

impl SessionLocks {
    /// Whether statements are confined to locked tables.
    pub fn has_tables(&self) -> bool {
        self.tables.is_some()
    }

    /// The locks of LOCK TABLES.
    pub(crate) fn table_locks(&self) -> Option<&TableLocks> {
        self.tables.as_ref().map(|tables| &tables.locks)
    }

    /// 1223 under a global read lock.
    pub fn check_global(&self) -> SqlResult<()> {
        match self.global {
            Some(_) => Err(mysql_error!(ER_CANT_UPDATE_WITH_READLOCK)),
            None => Ok(()),
        }
    }

    /// Whether a statement may use `table` under `alias`.
    pub fn check(&self, table: &Table, alias: &str, write: bool) -> SqlResult<()> {
        if write {
            self.check_global()?;
        }
        let Some(locked) = &self.tables else { return Ok(()) };
        let named = |entry: &&Entry| {
            entry.alias == alias && entry.name.schema == table.schema && entry.name.table == table.name
        };
        match locked.entries.iter().find(named) {
            None => Err(mysql_error!(ER_TABLE_NOT_LOCKED, alias)),
            Some(entry) if write && !entry.write => Err(mysql_error!(ER_TABLE_NOT_LOCKED_FOR_WRITE, alias)),
            Some(_) => Ok(()),
        }
    }

    /// The lock for redefining tables: the session's own if it has locked tables, which must then be among them.
    pub fn exclusive(&self, names: &[TableName]) -> SqlResult<Option<ExclusiveLock>> {
        self.check_global()?;
        let Some(locked) = &self.tables else { return Ok(None) };
        for name in names {
            let mut entries = locked.entries.iter().filter(|entry| entry.name == *name).peekable();
            if entries.peek().is_none() {
                return Err(mysql_error!(ER_TABLE_NOT_LOCKED, name.table));
            }
            if !entries.any(|entry| entry.write) {
                return Err(mysql_error!(ER_TABLE_NOT_LOCKED_FOR_WRITE, name.table));
            }
        }
        Ok(Some(ExclusiveLock::under(&locked.locks, names.iter().cloned())))
    }

    /// 1192 where locked tables stand in the way of a statement as a whole.
    pub fn refuse(&self) -> SqlResult<()> {
        self.check_global()?;
        match self.tables {
            Some(_) => Err(mysql_error!(ER_LOCK_OR_ACTIVE_TRANSACTION)),
            None => Ok(()),
        }
    }
}

impl Session {
    /// 1192 or 1223 if what is locked forbids a statement.
    pub(crate) fn refuse_locked(&self) -> SqlResult<()> {
        self.locks.as_ref().map_or(Ok(()), |locks| locks.refuse())
    }

    /// 1223 or 1100 if what is locked forbids a statement that changes accounts: LOCK TABLES does, since it has
    /// not locked all the tables that accounts are kept in.
    pub fn refuse_changing_accounts(&self) -> SqlResult<()> {
        let Some(locks) = &self.locks else { return Ok(()) };
        locks.check_global()?;
        let Some(tables) = &locks.tables else { return Ok(()) };
        let is_user = |entry: &Entry| entry.name.schema == "mysql" && entry.name.table == "user";
        let missing = if tables.entries.iter().any(is_user) { "db" } else { "user" };
        Err(mysql_error!(ER_TABLE_NOT_LOCKED, missing))
    }

    /// Whether it has locked tables, or everything.
    pub fn has_locked_tables(&self) -> bool {
        self.locks.is_some()
    }

    fn release_tables(&mut self) {
        if let Some(transaction) = &mut self.transaction {
            transaction.hold(None);
        }
        if let Some(locks) = &mut self.locks {
            locks.tables = None;
            if locks.global.is_none() {
                self.locks = None;
            }
        }
    }

    /// Tables were dropped: they are no longer among the locked ones. With the last one the rest is released.
    pub(crate) fn forget_locked(&mut self, names: &[TableName]) {
        let Some(locked) = self.locks.as_mut().and_then(|locks| locks.tables.as_mut()) else { return };
        locked.entries.retain(|entry| !names.contains(&entry.name));
        if locked.entries.is_empty() {
            self.release_tables();
        }
    }

    /// Releases everything: the session ends or begins anew.
    pub(crate) fn release_locks(&mut self) {
        self.release_tables();
        self.locks = None;
    }
}

impl Binder<'_> {
    /// A table of the dictionary: 1146 if there is none; while there are locked tables it is none of them (1100).
    pub(crate) fn stored_table(&self, schema: &str, name: &str, alias: &str) -> SqlResult<Arc<Table>> {
        match self.dictionary.table(schema, name) {
            Ok(table) => Ok(table.clone()),
            Err(_) if self.locks.is_some_and(|locks| locks.has_tables()) => {
                Err(mysql_error!(ER_TABLE_NOT_LOCKED, alias))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// 1099, 1100 or 1223 if the session's locks forbid the use of `table` under `alias`.
    pub(crate) fn check_locks(&self, table: &Table, alias: &str, write: bool) -> SqlResult<()> {
        self.locks.map_or(Ok(()), |locks| locks.check(table, alias, write))
    }
}

/// Waits for a metadata lock, at most `lock_wait_timeout`.
pub(crate) async fn acquire_metadata(
    host: &dyn Host,
    session: &Session,
    mut acquire: impl FnMut() -> palisade_engine::Attempt<()>,
) -> SqlResult<()> {
    let limit = Some(session.state.variables.metadata_lock_wait_timeout);
    loop {
        match acquire() {
            Ok(()) => return Ok(()),
            Err(Blocked::Error(error)) => return Err(error.into()),
            Err(Blocked::Wait(event)) => {
                match host.wait(session.state.connection_id, event, Awaited::MetadataLock, limit).await {
                    WaitOutcome::Happened => {}
                    WaitOutcome::TimedOut => return Err(mysql_error!(ER_LOCK_WAIT_TIMEOUT)),
                    WaitOutcome::Killed => return Err(mysql_error!(ER_QUERY_INTERRUPTED)),
                }
            }
        }
    }
}

impl Sql {
    /// LOCK TABLES: ends the transaction, releases what was locked, and locks.
    pub(crate) async fn lock_tables(
        &self,
        session: &mut Session,
        wanted: &[TableLock],
    ) -> SqlResult<Completion> {
        self.commit(session).await?;
        session.release_tables();
        let mut entries: Vec<Entry> = Vec::with_capacity(wanted.len());
        for lock in wanted {
            let name = self.lockable(session, &lock.table)?;
            log_tables::check_lock(&name)?;
            let alias = lock.alias.clone().unwrap_or_else(|| name.table.clone());
            let taken = |entry: &Entry| {
                entry.alias == alias && (lock.alias.is_some() || entry.name.schema == name.schema)
            };
            if entries.iter().any(taken) {
                return Err(mysql_error!(ER_NONUNIQ_TABLE, alias));
            }
            if lock.write {
                session.locks.as_ref().map_or(Ok(()), |locks| locks.check_global())?;
                self.host().check_read_only(&session.state)?;
                session.check_writable()?;
            }
            entries.push(Entry { name, alias, write: lock.write });
        }
        self.hold_tables(session, entries).await
    }

    /// Name of a stored table; 1044 for the virtual ones.
    fn lockable(&self, session: &Session, name: &ObjectName) -> SqlResult<TableName> {
        let schema = match &name.schema {
            Some(schema) => schema.clone(),
            None => session.state.database.clone().ok_or_else(|| mysql_error!(ER_NO_DB_ERROR))?,
        };
        crate::show::schema::refuse_virtual(&**self.host(), &schema, &session.state)?;
        Ok(TableName::new(schema, name.name.clone()))
    }

    async fn hold_tables(&self, session: &mut Session, entries: Vec<Entry>) -> SqlResult<Completion> {
        let share = |entry: &Entry| if entry.write { Share::Alone } else { Share::Reading };
        // What foreign keys make a write to these tables do to others needs these others.
        let relatives: Vec<_> = {
            let dictionary = self.engine().dictionary();
            let written = entries.iter().filter(|entry| entry.write);
            written.flat_map(|entry| crate::ddl::foreign::relatives(&dictionary, &entry.name)).collect()
        };
        let named = entries.iter().map(|entry| (entry.name.clone(), share(entry)));
        let mut locks = TableLocks::new(self.engine(), named.chain(relatives));
        acquire_metadata(&**self.host(), session, || locks.acquire()).await?;
        let dictionary = self.engine().dictionary();
        for Entry { name, .. } in &entries {
            dictionary.table(&name.schema, &name.table).map_err(SqlError::from)?;
        }
        let (isolation, access) = (session.state.variables.isolation, Default::default());
        let transaction = session.transaction_buffers(self.engine(), isolation, access);
        transaction.hold(Some(&locks));
        session.locks.get_or_insert_default().tables = Some(LockedTables { locks, entries });
        Ok(Completion::default())
    }

    /// UNLOCK TABLES: ends the transaction if there are locked tables, and releases.
    pub(crate) async fn unlock_tables(&self, session: &mut Session) -> SqlResult<Completion> {
        if session.locks.as_ref().is_some_and(|locks| locks.has_tables()) {
            self.commit(session).await?;
        }
        session.release_locks();
        Ok(Completion::default())
    }

    /// BEGIN releases what LOCK TABLES locked, not the global read lock.
    pub(crate) fn unlock_for_transaction(&self, session: &mut Session) {
        if session.locks.is_some() {
            session.release_tables();
        }
    }

    /// FLUSH TABLES ... WITH READ LOCK; `None` for other kinds of FLUSH.
    pub(crate) async fn flush_tables(
        &self,
        session: &mut Session,
        targets: &[FlushTarget],
    ) -> SqlResult<Option<Completion>> {
        let [FlushTarget::Tables { tables, with_read_lock: true, for_export: false }] = targets else {
            return Ok(None);
        };
        session.locks.as_ref().map_or(Ok(()), |locks| match locks.has_tables() {
            true => locks.refuse(),
            false => Ok(()),
        })?;
        self.commit(session).await?;
        if !tables.is_empty() {
            let mut entries = Vec::with_capacity(tables.len());
            for table in tables {
                let name = self.lockable(session, table)?;
                entries.push(Entry { alias: name.table.clone(), name, write: false });
            }
            return self.hold_tables(session, entries).await.map(Some);
        }
        if session.locks.as_ref().is_none_or(|locks| locks.global.is_none()) {
            let mut global = TableLocks::of_everything_but(self.engine(), log_tables::names().into());
            acquire_metadata(&**self.host(), session, || global.acquire()).await?;
            session.locks.get_or_insert_default().global = Some(global);
        }
        Ok(Some(Completion::default()))
    }
}
