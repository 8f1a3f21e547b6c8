//! What changes the dictionary. Each function is one dictionary transaction: after a crash all of it
//! happened, or nothing. Every one takes the [`ExclusiveLock`] that covers the names it touches, already
//! acquired.
//!
//! The part that changes something runs on a thread for that (see `definition`), and goes on to its end,
//! under the lock, even if the future here is dropped.

use std::sync::Arc;

use palisade_base::event::retry_blocking;
use palisade_catalog::{RowView, Schema, TableDef, Value};

use crate::Error;
use crate::definition::{RowEdit, drop_of, in_place_of};
use crate::dictionary::{Change, schema_key, table_key};
use crate::engine::Engine;
use crate::metadata::{ExclusiveLock, TableName};
use crate::planted::{Planted, makes};
use crate::table::Table;
use crate::views;

/// Makes a row of the new definition from one of the old: pushes one value per new column, in SQL order.
pub type RowMapper<'a> = dyn FnMut(&RowView<'_>, &mut Vec<Value>) -> Result<(), Error> + Send + 'a;

/// Says in which partition of the new definition a row belongs, which is a row of that definition.
pub type RowRouter<'a> = dyn FnMut(&RowView<'_>) -> Result<usize, Error> + Send + 'a;

impl Engine {
    /// CREATE DATABASE.
    pub async fn create_schema(self: &Arc<Self>, schema: Schema) -> Result<(), Error> {
        if self.dictionary().schema(&schema.name).is_some() {
            return Err(Error::SchemaExists(schema.name));
        }
        self.put_schema(schema).await
    }

    /// ALTER DATABASE: replaces the schema of that name.
    pub async fn alter_schema(self: &Arc<Self>, schema: Schema) -> Result<(), Error> {
        if self.dictionary().schema(&schema.name).is_none() {
            return Err(Error::UnknownSchema(schema.name));
        }
        self.put_schema(schema).await
    }

    async fn put_schema(self: &Arc<Self>, schema: Schema) -> Result<(), Error> {
        let row = RowEdit::Put(schema_key(&schema.name), schema.to_bytes());
        let change = Change::PutSchema(Arc::new(schema));
        let engine = self.clone();
        self.blocking(move || engine.change_dictionary(&[row], &[change])).await
    }

    /// DROP DATABASE with all its tables and views; the lock is [`ExclusiveLock::of_schema`]. Gives how many
    /// these were.
    pub async fn drop_schema(self: &Arc<Self>, lock: &ExclusiveLock, name: &str) -> Result<usize, Error> {
        lock.assert_covers(&TableName::new(name, ""));
        let dictionary = self.dictionary();
        if dictionary.schema(name).is_none() {
            return Err(Error::UnknownSchema(name.to_owned()));
        }
        let tables: Vec<_> = dictionary.tables(name).cloned().collect();
        let views = dictionary.views(name).count();
        let mut rows: Vec<_> = tables.iter().map(|table| RowEdit::Delete(table_key(table.id))).collect();
        rows.extend(dictionary.views(name).map(|view| views::removal(view).0));
        rows.push(RowEdit::Delete(schema_key(name)));
        let change = Change::DropSchema(name.to_owned());
        self.under(lock, move |engine| {
            engine.change_dictionary(&rows, &[change])?;
            engine.forget_tables(&tables)?;
            Ok(tables.len() + views)
        })
        .await
    }

    /// CREATE TABLE. The engine chooses the clustered index
    /// ([`choose_clustered_index`](TableDef::choose_clustered_index)) and fills in ids, spaces and roots. A
    /// table with PARTITION BY has the partitions that `def` names; without, it names none.
    pub async fn create_table(
        self: &Arc<Self>,
        lock: &ExclusiveLock,
        def: TableDef,
    ) -> Result<Arc<Table>, Error> {
        let name = TableName::new(&def.schema, &def.name);
        lock.assert_covers(&name);
        self.check_absent(&name)?;
        self.under(lock, move |engine| {
            let mut unborn = engine.make_table(def)?;
            let table = unborn.table();
            let row = RowEdit::Put(table_key(table.id), table.to_bytes());
            engine.change_dictionary(&[row], &[Change::PutTable(table.clone())])?;
            unborn.is_born();
            Ok(table)
        })
        .await
    }

    /// DROP TABLE: all of `names`, or none.
    pub async fn drop_tables(
        self: &Arc<Self>,
        lock: &ExclusiveLock,
        names: &[TableName],
    ) -> Result<(), Error> {
        let tables = names.iter().map(|name| self.locked_table(lock, name)).collect::<Result<Vec<_>, _>>()?;
        self.under(lock, move |engine| {
            let rows: Vec<_> = tables.iter().map(|table| RowEdit::Delete(table_key(table.id))).collect();
            let drops: Vec<_> = tables.iter().map(|table| drop_of(table)).collect();
            if makes(Planted::FilesGoBeforeRows) {
                engine.forget_tables(&tables)?;
            }
            engine.change_dictionary(&rows, &drops)?;
            engine.forget_tables(&tables)
        })
        .await
    }

    /// TRUNCATE TABLE: an empty table of the same definition takes its place; AUTO_INCREMENT begins anew.
    pub async fn truncate_table(
        self: &Arc<Self>,
        lock: &ExclusiveLock,
        name: &TableName,
    ) -> Result<(), Error> {
        let old = self.locked_table(lock, name)?;
        let name = name.clone();
        self.under(lock, move |engine| {
            let mut def = TableDef { auto_increment: 0, ..old.def().clone() };
            def.forget_row_versions();
            let new = engine.make_table_for(def, true)?;
            engine.replace_table(&old, new, &name).map(|_| ())
        })
        .await
    }

    /// RENAME TABLE, of tables and views: all of `renames` (from, to) in order, or none. Foreign keys that
    /// refer to a table follow it. The lock covers both names of each, and the tables that refer to it.
    pub async fn rename_tables(
        self: &Arc<Self>,
        lock: &ExclusiveLock,
        renames: &[(TableName, TableName)],
    ) -> Result<(), Error> {
        let mut rows = Vec::new();
        let mut changes = Vec::new();
        let mut old_tables = Vec::new();
        // Each rename sees the ones before it: `a TO tmp, b TO a, tmp TO b`.
        let mut dictionary = (*self.dictionary()).clone();
        for (from, to) in renames {
            lock.assert_covers(from);
            lock.assert_covers(to);
            if let Some(view) = dictionary.view(&from.schema, &from.table).cloned() {
                views::check_absent(&dictionary, to)?;
                let (moved, step) = views::renaming(&view, to);
                dictionary = dictionary.with(&step);
                rows.extend(moved);
                changes.extend(step);
                continue;
            }
            let old = dictionary.table(&from.schema, &from.table)?.clone();
            views::check_absent(&dictionary, to)?;
            let mut def = old.def().clone();
            def.rename(&to.schema, &to.table);
            let referring = dictionary.referring(&from.schema, &from.table);
            let others: Vec<_> = referring.filter(|other| other.id != old.id).cloned().collect();
            for other in others {
                lock.assert_covers(&TableName::new(&other.schema, &other.name));
                let mut def = other.def().clone();
                def.retarget((&from.schema, &from.table), (&to.schema, &to.table));
                rows.push(RowEdit::Put(table_key(def.id), def.to_bytes()));
                let new = Table::new(palisade_catalog::Table::new(def)?, other.runtime().clone());
                let new = Arc::new(new.readable_from(other.readable_since()).in_place_of(&other));
                let step = [drop_of(&other), Change::PutTable(new)];
                dictionary = dictionary.with(&step);
                changes.extend(step);
                old_tables.push(other);
            }
            rows.push(RowEdit::Put(table_key(def.id), def.to_bytes()));
            let new = Table::new(palisade_catalog::Table::new(def)?, old.runtime().clone());
            let new = Arc::new(new.readable_from(old.readable_since()).in_place_of(&old));
            let step = [drop_of(&old), Change::PutTable(new)];
            dictionary = dictionary.with(&step);
            changes.extend(step);
            old_tables.push(old);
        }
        self.under(lock, move |engine| {
            engine.change_dictionary(&rows, &changes)?;
            old_tables.iter().for_each(|old| old.retire());
            Ok(())
        })
        .await
    }

    /// Replaces a definition without touching rows: names, defaults, comments, options, columns that come
    /// (the next ordinals, and an `instant_default`), go (into `dropped`) and move; see
    /// [`RowVersions`](palisade_catalog::descriptor::RowVersions). Rows and index entries must mean the same
    /// under both; ids, space and roots are kept. `def.auto_increment`, if not 0, raises the counter.
    pub async fn alter_definition(
        self: &Arc<Self>,
        lock: &ExclusiveLock,
        name: &TableName,
        def: TableDef,
    ) -> Result<Arc<Table>, Error> {
        let old = self.usable_table(lock, name)?;
        let to = TableName::new(&def.schema, &def.name);
        lock.assert_covers(&to);
        if to != *name {
            self.check_absent(&to)?;
        }
        let def = in_place_of(def, &old);
        self.under(lock, move |engine| {
            if def.auto_increment > 1 {
                retry_blocking(|| old.note_auto_increment(def.auto_increment - 1))?;
            }
            engine.redefine(&old, def)
        })
        .await
    }

    /// Runs the part of a statement that may not end half-way: under the lock, on a thread of its own, and to
    /// its end even if the session gives up waiting for it.
    pub(crate) async fn under<T: Send + 'static>(
        self: &Arc<Self>,
        lock: &ExclusiveLock,
        job: impl FnOnce(&Arc<Engine>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (engine, held) = (self.clone(), lock.share());
        self.blocking(move || {
            let result = job(&engine);
            drop(held);
            result
        })
        .await
    }

    /// Runs something that blocks on a thread for that.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let result = Arc::new(parking_lot::Mutex::new(None));
        let event = palisade_base::Event::new();
        let (slot, done) = (result.clone(), event.clone());
        self.ddl.submit(move || {
            *slot.lock() = Some(job());
            done.complete();
        });
        event.await;
        let result = result.lock().take();
        result.unwrap_or_else(|| Err(Error::Inconsistent("a background job did not finish".to_owned())))
    }

    /// The table of a name that `lock` covers.
    pub(crate) fn locked_table(&self, lock: &ExclusiveLock, name: &TableName) -> Result<Arc<Table>, Error> {
        lock.assert_covers(name);
        self.dictionary().table(&name.schema, &name.table).cloned()
    }

    /// The same, unless its file is missing or damaged.
    pub(crate) fn usable_table(&self, lock: &ExclusiveLock, name: &TableName) -> Result<Arc<Table>, Error> {
        let table = self.locked_table(lock, name)?;
        table.check_usable()?;
        Ok(table)
    }

    /// The same, of which all rows are to be read: unless a transaction that has changed it can be neither
    /// rolled back nor waited for.
    pub(crate) fn settled_table(&self, lock: &ExclusiveLock, name: &TableName) -> Result<Arc<Table>, Error> {
        if self.config().force_recovery.is_on() {
            // Rows on damaged pages would be left out silently.
            return Err(Error::ForcedRecovery);
        }
        let table = self.usable_table(lock, name)?;
        match self.background.is_stuck_in(table.id) {
            false => Ok(table),
            true => Err(Error::Inconsistent(format!(
                "a transaction that has changed table '{}' cannot be rolled back",
                table.name
            ))),
        }
    }

    pub(crate) fn check_absent(&self, name: &TableName) -> Result<(), Error> {
        views::check_absent(&self.dictionary(), name)
    }
}
