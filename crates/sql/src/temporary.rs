//! The temporary tables of a session, and the dictionary as the session sees it: with them, in the place of
//! stored tables of the same names.
//!
//! A temporary table is no other session's business, so that nothing of it is in the engine's dictionary.
//! What a statement of the session names is looked up in a copy of the dictionary that has the session's
//! tables, made anew when either has changed. What tells of the server as a whole - information_schema, SHOW
//! TABLES - looks into the engine's, as in MySQL.
//!
//! # Plans
//!
//! Sessions share plans by the text of statements, and one text can mean other tables in another session. A
//! plan that uses a temporary table is kept with the *generation* of the session's tables: a number that no
//! other session has, and that changes with each table that comes or goes. A plan that uses none is right for
//! every session that has no temporary table of a name in it, be it a table's or a view's.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use palisade_base::error_catalogue::{
    ER_WARNING_NOT_COMPLETE_ROLLBACK_WITH_CREATED_TEMP_TABLE,
    ER_WARNING_NOT_COMPLETE_ROLLBACK_WITH_DROPPED_TEMP_TABLE, ER_XA_TEMP_TABLE,
};
use palisade_base::mysql_error;
use palisade_engine::{Dictionary, Engine, Table, TableName, TemporaryTable};
use palisade_parser::ast::{ObjectName, ShowWhat, Statement};
use palisade_plan::Plan;

use crate::plan_cache::Prepared;
use crate::{Session, SqlResult};

/// The last generation of any session's tables.
static LAST_GENERATION: AtomicU64 = AtomicU64::new(0);

/// The temporary tables of a session, of which it has at least one.
pub struct SessionTables {
    tables: BTreeMap<TableName, TemporaryTable>,
    generation: u64,
    /// The dictionary with them.
    seen: Mutex<Option<Arc<Dictionary>>>,
    /// Statements that plans with this generation are kept with: such a plan holds its tables, and their
    /// files, and is of no use once the generation is over.
    planned: Mutex<Vec<Weak<Prepared>>>,
}

/// What a transaction has done to the session's temporary tables that ROLLBACK does not undo.
#[derive(Debug, Clone, Copy, Default)]
pub struct TemporaryChanges {
    /// A table was made.
    pub created: bool,
    /// One was dropped.
    pub dropped: bool,
}

impl SessionTables {
    /// The table of this name.
    pub fn get(&self, name: &TableName) -> Option<&Arc<Table>> {
        self.tables.get(name).map(TemporaryTable::table)
    }

    /// The engine's dictionary with them.
    pub fn over(&self, engine: &Arc<Engine>) -> Arc<Dictionary> {
        let dictionary = engine.dictionary();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match &*seen {
            Some(seen) if seen.version() == dictionary.version() => seen.clone(),
            _ => {
                let tables = self.tables.values().map(TemporaryTable::table);
                seen.insert(Arc::new(dictionary.with_temporary(tables))).clone()
            }
        }
    }

    /// A plan with this generation is kept with a statement.
    pub(crate) fn keeps(&self, prepared: &Arc<Prepared>) {
        let mut planned = self.planned.lock().unwrap_or_else(PoisonError::into_inner);
        if planned.len().is_power_of_two() {
            planned.retain(|kept| kept.strong_count() > 0);
        }
        planned.push(Arc::downgrade(prepared));
    }

    fn forget_plans(&mut self) {
        let planned = self.planned.get_mut().unwrap_or_else(PoisonError::into_inner);
        for prepared in planned.drain(..).filter_map(|kept| kept.upgrade()) {
            prepared.forget_plans_of(self.generation);
        }
    }

    fn changed(&mut self) {
        self.forget_plans();
        self.generation = 1 + LAST_GENERATION.fetch_add(1, Ordering::Relaxed);
        self.seen = Mutex::default();
    }
}

impl Drop for SessionTables {
    fn drop(&mut self) {
        self.forget_plans();
    }
}

impl Session {
    /// The dictionary as its statements see it.
    pub(crate) fn dictionary(&self, engine: &Arc<Engine>) -> Arc<Dictionary> {
        match &self.temporary {
            None => engine.dictionary(),
            Some(tables) => tables.over(engine),
        }
    }

    /// Its temporary table of this name.
    pub(crate) fn temporary_table(&self, name: &TableName) -> Option<&Arc<Table>> {
        self.temporary.as_ref()?.get(name)
    }

    /// The temporary table that a statement names.
    pub(crate) fn temporary_named(&self, name: &ObjectName) -> Option<&Arc<Table>> {
        self.temporary.as_ref()?;
        let schema = name.schema.as_ref().or(self.state.database.as_ref())?;
        self.temporary_table(&TableName::new(schema, &name.name))
    }

    /// It has this temporary table from now on, in the place of one of the same name.
    pub(crate) fn put_temporary(&mut self, table: TemporaryTable) {
        let tables = self.temporary.get_or_insert_with(|| {
            let (tables, seen, planned) = (BTreeMap::new(), Mutex::default(), Mutex::default());
            Box::new(SessionTables { tables, generation: 0, seen, planned })
        });
        let name = TableName::new(&table.table().schema, &table.table().name);
        tables.tables.insert(name, table);
        tables.changed();
    }

    /// Takes a temporary table away from it.
    pub(crate) fn take_temporary(&mut self, name: &TableName) -> Option<TemporaryTable> {
        let tables = self.temporary.as_mut()?;
        let taken = tables.tables.remove(name);
        tables.changed();
        if tables.tables.is_empty() {
            self.temporary = None;
        }
        taken
    }

    /// Notes what its transaction, if one is open, has done to its temporary tables.
    pub(crate) fn note_temporary(&mut self, note: impl FnOnce(&mut TemporaryChanges)) {
        if self.in_transaction || !self.state.variables.autocommit {
            note(&mut self.temporary_changes);
        }
    }

    /// Warns that ROLLBACK does not undo `changes`.
    pub(crate) fn warn_of_temporary(&mut self, changes: TemporaryChanges) {
        if changes.created {
            self.state.warnings.warn(mysql_error!(ER_WARNING_NOT_COMPLETE_ROLLBACK_WITH_CREATED_TEMP_TABLE));
        }
        if changes.dropped {
            self.state.warnings.warn(mysql_error!(ER_WARNING_NOT_COMPLETE_ROLLBACK_WITH_DROPPED_TEMP_TABLE));
        }
    }

    /// 4091 for a plan that uses a temporary table, in an XA transaction: what is prepared outlives the
    /// session.
    #[inline]
    pub(crate) fn check_tables_of_branch(&self, plan: &Plan) -> SqlResult<()> {
        match self.xa.is_some() && plan.tables.iter().any(|table| table.is_temporary()) {
            true => Err(mysql_error!(ER_XA_TEMP_TABLE)),
            false => Ok(()),
        }
    }

    /// A change of rows could not be undone: the tables that it was in are lost.
    pub(crate) fn drop_lost_tables(&mut self) {
        let Some(tables) = &mut self.temporary else { return };
        tables.tables.retain(|_, table| table.table().is_current());
        tables.changed();
        if tables.tables.is_empty() {
            self.temporary = None;
        }
    }

    /// The generation with which a plan is kept that was made for it; 0 if it is right for others, too.
    pub(crate) fn generation_for(&self, plan: &Plan) -> u64 {
        match &self.temporary {
            Some(tables) if plan.tables.iter().any(|table| table.is_temporary()) => tables.generation,
            _ => 0,
        }
    }

    /// Whether a plan is right for it that was kept with `generation`.
    #[inline]
    pub(crate) fn suits(&self, generation: u64, plan: &Plan) -> bool {
        match &self.temporary {
            None => generation == 0,
            Some(tables) => {
                let hides =
                    |table: &Arc<Table>| tables.get(&TableName::new(&table.schema, &table.name)).is_some();
                // A view is none of the plan's tables, and a table may have its name.
                let hides_named = |name: &ObjectName| {
                    let schema = name.schema.as_deref().unwrap_or_default();
                    tables.get(&TableName::new(schema, &name.name)).is_some()
                };
                generation == tables.generation
                    || generation == 0
                        && !plan.tables.iter().any(hides)
                        && !plan.accesses.iter().any(|(_, name)| hides_named(name))
            }
        }
    }

    /// Whether all tables that a statement defines or shows are temporary ones of the session, with which it
    /// may do everything.
    pub(crate) fn is_about_its_own(&self, statement: &Statement) -> bool {
        if self.temporary.is_none() {
            return false;
        }
        let own = |name: &ObjectName| self.temporary_named(name).is_some();
        match statement {
            Statement::DropTable(drop) => drop.tables.iter().all(own),
            Statement::AlterTable(alter) => own(&alter.table),
            Statement::CreateIndex(create) => own(&create.table),
            Statement::DropIndex(drop) => own(&drop.table),
            Statement::TruncateTable(name) => own(name),
            Statement::TableMaintenance(maintenance) => maintenance.tables.iter().all(own),
            Statement::Describe(describe) => own(&describe.table),
            Statement::Show(show) => match &show.what {
                ShowWhat::Columns { table, .. } | ShowWhat::Index { table, .. } => own(table),
                ShowWhat::CreateTable(name) => own(name),
                _ => false,
            },
            _ => false,
        }
    }
}
