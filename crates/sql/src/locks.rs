//! LOCK TABLES, UNLOCK TABLES, FLUSH TABLES ... WITH READ LOCK: locks that a session holds across transactions.
//!
//! What they forbid is in [`locked_tables`](palisade_session::locked_tables). Plans are checked when they are
//! bound, so a session with locks keeps and takes no plans.

use palisade_base::error_catalogue::*;
use palisade_base::{Blocked, mysql_error};
use palisade_engine::{Dictionary, Share, TableLocks, TableName};
use palisade_parser::ast::{FlushTarget, ObjectName, TableLock};
use palisade_session::locked_tables::{BELOW_VIEW, LockedTable};
use palisade_session::log_tables;
use palisade_session::virtual_tables::refuse_virtual;

use crate::sql::Sql;
use crate::{Awaited, Completion, Host, Session, SqlError, SqlResult, WaitOutcome};

/// How far views within views are looked through.
const MOST_VIEWS: usize = 62;

/// What is below a view that is locked: its tables and views, and what is below these.
fn below_view(dictionary: &Dictionary, entry: &LockedTable, depth: usize, found: &mut Vec<LockedTable>) {
    let (Some(view), Some(depth)) =
        (dictionary.view(&entry.name.schema, &entry.name.table), depth.checked_sub(1))
    else {
        return;
    };
    for (schema, table) in &view.tables {
        let name = TableName::new(schema, table);
        let below = LockedTable { name, alias: BELOW_VIEW.to_owned(), write: entry.write };
        // Each once, however many views read it: they may be in a net with more paths than memory has room
        // for.
        let is_same = |known: &LockedTable| known.name == below.name && known.write == below.write;
        if found.iter().any(is_same) {
            continue;
        }
        let again = LockedTable { name: below.name.clone(), alias: below.alias.clone(), write: below.write };
        found.push(again);
        below_view(dictionary, &below, depth, found);
    }
}

impl Session {
    /// 1192 or 1223 if what is locked forbids a statement.
    pub(crate) fn refuse_locked(&self) -> SqlResult<()> {
        self.locks.as_ref().map_or(Ok(()), |locks| locks.refuse())
    }

    /// 1223 or 1100 if what is locked forbids a statement that changes accounts: LOCK TABLES does, since it
    /// has not locked all the tables that accounts are kept in.
    pub fn refuse_changing_accounts(&self) -> SqlResult<()> {
        self.locks.as_ref().map_or(Ok(()), |locks| locks.refuse_changing_accounts())
    }

    /// Whether it has locked tables, or everything.
    pub fn has_locked_tables(&self) -> bool {
        self.locks.is_some()
    }

    fn release_tables(&mut self) {
        if let Some(transaction) = &mut self.transaction {
            transaction.hold(None);
        }
        if self.locks.as_mut().is_some_and(|locks| !locks.release_tables()) {
            self.locks = None;
        }
    }

    /// Tables were dropped: they are no longer among the locked ones. With the last one the rest is released.
    pub(crate) fn forget_locked(&mut self, names: &[TableName]) {
        if self.locks.as_mut().is_some_and(|locks| locks.forget(names)) {
            self.release_tables();
        }
    }

    /// Releases everything: the session ends or begins anew.
    pub(crate) fn release_locks(&mut self) {
        self.release_tables();
        self.locks = None;
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
        let mut entries: Vec<LockedTable> = Vec::with_capacity(wanted.len());
        for lock in wanted {
            if session.temporary_named(&lock.table).is_some() {
                // No other session has it.
                continue;
            }
            let name = self.lockable(session, &lock.table)?;
            log_tables::check_lock(&name)?;
            let alias = lock.alias.clone().unwrap_or_else(|| name.table.clone());
            let taken = |entry: &LockedTable| {
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
            entries.push(LockedTable { name, alias, write: lock.write });
        }
        self.hold_tables(session, entries).await
    }

    /// Name of a stored table; 1044 for the virtual ones.
    fn lockable(&self, session: &Session, name: &ObjectName) -> SqlResult<TableName> {
        let schema = match &name.schema {
            Some(schema) => schema.clone(),
            None => session.state.database.clone().ok_or_else(|| mysql_error!(ER_NO_DB_ERROR))?,
        };
        refuse_virtual(&**self.host(), &schema, &session.state)?;
        Ok(TableName::new(schema, name.name.clone()))
    }

    async fn hold_tables(&self, session: &mut Session, entries: Vec<LockedTable>) -> SqlResult<Completion> {
        let mut entries = entries;
        {
            let dictionary = self.engine().dictionary();
            let mut below = Vec::new();
            entries.iter().for_each(|entry| below_view(&dictionary, entry, MOST_VIEWS, &mut below));
            entries.extend(below);
        }
        let share = |entry: &LockedTable| if entry.write { Share::Alone } else { Share::Reading };
        // What foreign keys make a write to these tables do to others needs these others.
        let relatives: Vec<_> = {
            let dictionary = self.engine().dictionary();
            let written = entries.iter().filter(|entry| entry.write);
            written.flat_map(|entry| crate::ddl::foreign::relatives(&dictionary, &entry.name)).collect()
        };
        let named = entries.iter().map(|entry| (entry.name.clone(), share(entry)));
        let mut locks = TableLocks::new(self.engine(), named.chain(relatives));
        locks.set_owner(session.state.connection_id);
        acquire_metadata(&**self.host(), session, || locks.acquire()).await?;
        let dictionary = self.engine().dictionary();
        for LockedTable { name, alias, .. } in &entries {
            // What a view reads may be gone: then the view cannot be read.
            if alias != BELOW_VIEW && dictionary.view(&name.schema, &name.table).is_none() {
                dictionary.table(&name.schema, &name.table).map_err(SqlError::from)?;
            }
        }
        let (isolation, access) = (session.state.variables.isolation, Default::default());
        let transaction = session.transaction_buffers(self.engine(), isolation, access);
        transaction.hold(Some(&locks));
        session.locks.get_or_insert_default().hold_tables(locks, entries);
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
                entries.push(LockedTable { alias: name.table.clone(), name, write: false });
            }
            return self.hold_tables(session, entries).await.map(Some);
        }
        if session.locks.as_ref().is_none_or(|locks| !locks.has_global()) {
            let mut global = TableLocks::of_everything_but(self.engine(), log_tables::names().into());
            global.set_owner(session.state.connection_id);
            acquire_metadata(&**self.host(), session, || global.acquire()).await?;
            session.locks.get_or_insert_default().hold_global(global);
        }
        Ok(Some(Completion::default()))
    }
}
