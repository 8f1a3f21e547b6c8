//! What a session has locked across transactions: LOCK TABLES, FLUSH TABLES ... WITH READ LOCK.
//!
//! The locks themselves are the engine's metadata locks ([`TableLocks`]). Here is what MySQL adds for the
//! session that holds them: while it has locked tables it uses these alone (1100), by the aliases under which
//! it locked them, and writes only to those locked WRITE (1099); under a global read lock it changes nothing
//! (1223).

use palisade_base::error_catalogue::{
    ER_CANT_UPDATE_WITH_READLOCK, ER_LOCK_OR_ACTIVE_TRANSACTION, ER_TABLE_NOT_LOCKED,
    ER_TABLE_NOT_LOCKED_FOR_WRITE,
};
use palisade_base::mysql_error;
use palisade_engine::{ExclusiveLock, Table, TableLocks, TableName};
use palisade_expr::SqlResult;

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
    entries: Vec<LockedTable>,
}

/// The alias of what is locked because it is below a view: no table has it in a statement.
pub const BELOW_VIEW: &str = "";

/// A table as LOCK TABLES names it, or one that is below a view that it names.
pub struct LockedTable {
    /// Its name.
    pub name: TableName,
    /// The name under which statements may use it.
    pub alias: String,
    /// It is locked WRITE.
    pub write: bool,
}

impl SessionLocks {
    /// Whether statements are confined to locked tables.
    pub fn has_tables(&self) -> bool {
        self.tables.is_some()
    }

    /// The locks of LOCK TABLES.
    pub fn table_locks(&self) -> Option<&TableLocks> {
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
        self.check_named((&table.schema, &table.name), alias, write)
    }

    /// The same of a view; of a table below a locked view `alias` is [`BELOW_VIEW`].
    pub fn check_named(&self, (schema, name): (&str, &str), alias: &str, write: bool) -> SqlResult<()> {
        if write {
            self.check_global()?;
        }
        let Some(locked) = &self.tables else { return Ok(()) };
        let named = |entry: &&LockedTable| {
            entry.alias == alias && entry.name.schema == schema && entry.name.table == name
        };
        let shown = if alias == BELOW_VIEW { name } else { alias };
        // Several views may be of one table.
        let mut entries = locked.entries.iter().filter(named).peekable();
        if entries.peek().is_none() {
            return Err(mysql_error!(ER_TABLE_NOT_LOCKED, shown));
        }
        match write && !entries.any(|entry| entry.write) {
            true => Err(mysql_error!(ER_TABLE_NOT_LOCKED_FOR_WRITE, shown)),
            false => Ok(()),
        }
    }

    /// The lock for redefining tables: the session's own if it has locked tables, which must then be among
    /// them.
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
    /// 1223 or 1100 if a statement that changes accounts is forbidden: LOCK TABLES does that, since it has
    /// not locked all the tables that accounts are kept in.
    pub fn refuse_changing_accounts(&self) -> SqlResult<()> {
        self.check_global()?;
        let Some(tables) = &self.tables else { return Ok(()) };
        let is_user = |entry: &LockedTable| entry.name.schema == "mysql" && entry.name.table == "user";
        let missing = if tables.entries.iter().any(is_user) { "db" } else { "user" };
        Err(mysql_error!(ER_TABLE_NOT_LOCKED, missing))
    }

    /// These tables are locked now.
    pub fn hold_tables(&mut self, locks: TableLocks, entries: Vec<LockedTable>) {
        self.tables = Some(LockedTables { locks, entries });
    }

    /// Everything is locked now.
    pub fn hold_global(&mut self, locks: TableLocks) {
        self.global = Some(locks);
    }

    /// Whether everything is locked.
    pub fn has_global(&self) -> bool {
        self.global.is_some()
    }

    /// Releases the tables. False if nothing is locked any more.
    pub fn release_tables(&mut self) -> bool {
        self.tables = None;
        self.has_global()
    }

    /// Tables were dropped. True if no locked ones are left, where there were some.
    pub fn forget(&mut self, names: &[TableName]) -> bool {
        let Some(locked) = &mut self.tables else { return false };
        locked.entries.retain(|entry| !names.contains(&entry.name));
        locked.entries.is_empty()
    }
}
