//! CHECK TABLE.
//!
//! A table is checked as it is, while others use it: the check runs on a thread of the engine's, and KILL
//! ends it. What others change meanwhile may look like damage. So if some is found, the table is locked
//! against changes, as by LOCK TABLES ... READ, and checked once more; only what is found then is told. A
//! table that is whole is never locked.
//!
//! | option | meaning |
//! |---|---|
//! | QUICK | rows are counted by every index; the trees are not walked |
//! | none, FAST, MEDIUM, CHANGED | trees, chains, rows by every index, and the space if nothing waits for purge |
//! | EXTENDED | the same, and every row is looked up by every index, and the other way round |
//! | FOR UPGRADE | the table is of this version: the first time it is checked, then it is said to be up to date |

use std::sync::Arc;

use palisade_base::error_catalogue::{ER_BAD_DB_ERROR, ER_NO_SUCH_TABLE, ER_QUERY_INTERRUPTED};
use palisade_base::mysql_error;
use palisade_catalog::descriptor::PartitionSet;
use palisade_engine::check::{Severity, TableCheck, TableCheckOptions};
use palisade_engine::{Share, Table, TableLocks, TableName};
use palisade_parser::ast;
use palisade_session::virtual_tables::{RowSource, is_virtual_schema};

use crate::locks::acquire_metadata;
use crate::show::information_schema;
use crate::sql::Sql;
use crate::{Awaited, Session, SqlResult, WaitOutcome};

/// Lines about one table, at most.
const MOST_LINES: usize = 100;

/// What the words behind the tables' names ask for.
#[derive(Debug, Clone, Default)]
struct Options {
    tables: TableCheckOptions,
    for_upgrade: bool,
}

impl Options {
    fn new(words: &[ast::Name]) -> Options {
        let has = |wanted: &str| words.iter().any(|word| word == wanted);
        let extended = has("EXTENDED");
        let tables = TableCheckOptions { quick: has("QUICK") && !extended, deep: extended, partitions: None };
        Options { tables, for_upgrade: has("FOR UPGRADE") }
    }
}

/// A line of the answer: table, kind of message, text.
pub(super) type Line = (String, &'static str, String);

impl Sql {
    /// The lines that CHECK TABLE answers.
    pub(super) async fn check_tables(
        &self,
        session: &mut Session,
        names: &[TableName],
        words: &[ast::Name],
    ) -> SqlResult<Vec<Line>> {
        let options = Options::new(words);
        let mut lines = Vec::new();
        for name in names {
            self.check_one(session, name, &options, &mut lines).await?;
        }
        Ok(lines)
    }

    /// The lines that CHECK PARTITION answers.
    pub(super) async fn check_partitions(
        &self,
        session: &mut Session,
        name: &TableName,
        words: &[ast::Name],
        partitions: PartitionSet,
    ) -> SqlResult<Vec<Line>> {
        let mut options = Options::new(words);
        options.tables.partitions = Some(partitions);
        let mut lines = Vec::new();
        self.check_one(session, name, &options, &mut lines).await?;
        Ok(lines)
    }

    async fn check_one(
        &self,
        session: &mut Session,
        name: &TableName,
        options: &Options,
        lines: &mut Vec<Line>,
    ) -> SqlResult<()> {
        let shown = format!("{}.{}", name.schema, name.table);
        let dictionary = session.dictionary(self.engine());
        if let Some(shown) = self.virtual_table_name(name) {
            lines.push((shown, "status", "OK".to_owned()));
            return Ok(());
        }
        let mut tell = |kind, text: &str| lines.push((shown.clone(), kind, text.to_owned()));
        if dictionary.schema(&name.schema).is_none() {
            tell("Error", &mysql_error!(ER_BAD_DB_ERROR, name.schema).message);
            tell("error", "Corrupt");
            return Ok(());
        }
        let own = session.temporary_table(name).cloned();
        if let Some(view) = dictionary.view(&name.schema, &name.table).filter(|_| own.is_none()) {
            let (host, session) = (&**self.host(), session.view());
            match information_schema::views::check(&RowSource { engine: self.engine(), host, session }, view)
            {
                Ok(()) => tell("status", "OK"),
                Err(error) => {
                    tell("Error", &error.message);
                    tell("error", "Corrupt");
                }
            }
            return Ok(());
        }
        let Ok(table) = dictionary.table(&name.schema, &name.table).cloned() else {
            tell("Error", &mysql_error!(ER_NO_SUCH_TABLE, name.schema, name.table).message);
            tell("status", "Operation failed");
            return Ok(());
        };
        if let Some(Err(error)) = session
            .locks
            .as_ref()
            .filter(|_| own.is_none())
            .map(|locks| locks.check(&table, &name.table, false))
        {
            tell("Error", &error.message);
            tell("status", "Operation failed");
            return Ok(());
        }
        if options.for_upgrade && table.is_version_checked() {
            tell("status", "Table is already up to date");
            return Ok(());
        }
        match self.check_twice(session, name, &table, options).await {
            Ok(found) => {
                for finding in found.damage.iter().take(MOST_LINES) {
                    tell("Warning", &finding.to_string());
                }
                match found.worst() {
                    Some(Severity::Damage) => tell("error", "Corrupt"),
                    _ => {
                        tell("status", "OK");
                        if options.for_upgrade {
                            table.note_version_checked();
                        }
                    }
                }
            }
            Err(error) if error.code.number == ER_QUERY_INTERRUPTED.number => return Err(error),
            Err(error) => {
                tell("Error", &error.message);
                tell("status", "Operation failed");
            }
        }
        Ok(())
    }

    /// The name of a virtual table, as it is shown; `None` if it is none. There is nothing to check of it.
    pub(super) fn virtual_table_name(&self, name: &TableName) -> Option<String> {
        let host = &**self.host();
        let is_information = name.schema.eq_ignore_ascii_case("information_schema");
        let exists = is_virtual_schema(host, &name.schema)
            && information_schema::find_virtual(host, &name.schema, &name.table).is_some();
        let table = if is_information { name.table.to_ascii_uppercase() } else { name.table.clone() };
        exists.then(|| format!("{}.{table}", name.schema))
    }

    /// Checks a table as it is; if it seems to be damaged, once more under a lock, unless the session has
    /// one.
    async fn check_twice(
        &self,
        session: &mut Session,
        name: &TableName,
        table: &Arc<Table>,
        options: &Options,
    ) -> SqlResult<TableCheck> {
        let own = session.locks.as_ref().and_then(|locks| locks.table_locks());
        let found = self.check_now(session, table, options, own).await?;
        // No other session changes a temporary table meanwhile.
        if found.damage.is_empty() || own.is_some() || table.is_temporary() {
            return Ok(found);
        }
        let mut locks = TableLocks::new(self.engine(), [(name.clone(), Share::Reading)]);
        locks.set_owner(session.state.connection_id);
        acquire_metadata(&**self.host(), session, || locks.acquire()).await?;
        let table = self.engine().dictionary().table(&name.schema, &name.table)?.clone();
        self.check_now(session, &table, options, Some(&locks)).await
    }

    /// Has a table checked on another thread, and waits for that.
    async fn check_now(
        &self,
        session: &Session,
        table: &Arc<Table>,
        options: &Options,
        locks: Option<&TableLocks>,
    ) -> SqlResult<TableCheck> {
        let mut check = self.engine().prepare_table_check(table.clone(), options.tables.clone(), locks);
        acquire_metadata(&**self.host(), session, || check.acquire()).await?;
        let check = check.start();
        let waited = self.host().wait(session.state.connection_id, check.done(), Awaited::Others, None).await;
        if waited == WaitOutcome::Happened {
            return Ok(check.take()?);
        }
        check.stop();
        // It looks at every page whether it is to stop; the locks may go only when it has.
        check.done().await;
        Err(mysql_error!(ER_QUERY_INTERRUPTED))
    }
}
