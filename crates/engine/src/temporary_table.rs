//! Temporary tables: those of one session, which no other session sees.
//!
//! A temporary table is a [`Table`] that is in no dictionary. The session that has made it holds a
//! [`TemporaryTable`], and the table is gone with that.
//!
//! | | a table of the dictionary | a temporary one |
//! |---|---|---|
//! | its file | in `spaces` | in `tmp`, without a name from the moment it is made |
//! | pages | logged, written by a sink that keeps them whole | a scratch space: no redo, written when a frame is wanted |
//! | rows | versions, undo in the undo space, locks | one version; the transaction notes what was (`unlogged`) |
//! | metadata locks | yes | none: no other session has the table |
//! | after a crash | as committed | nothing |
//!
//! Both take frames of the same pool, so that temporary tables of any size need no memory of their own. Their
//! numbers are of series of their own, far above those of the dictionary, and begin anew with each start.
//!
//! Since the file has no name, no crash leaves it behind; see [`temporary`](crate::temporary) for the one
//! moment at which it has one.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use palisade_base::{PageNo, SpaceId};
use palisade_buffer::{BufferPool, Space};
use palisade_catalog::{IndexTree, PartitionDef, TableDef};
use palisade_io::{OpenMode, Syncing};
use parking_lot::Mutex;

use crate::engine::Engine;
use crate::open::create_tree;
use crate::table::{Runtime, Table};
use crate::{Error, compression, info};

/// Numbers of temporary tables and of their indexes begin here.
const FIRST_ID: u64 = 1 << 40;
/// Those of their spaces.
const FIRST_SPACE: u32 = 1 << 31;

/// What the engine knows of temporary tables.
#[derive(Default)]
pub(crate) struct TemporaryTables {
    ids: AtomicU64,
    spaces: AtomicU32,
    /// Those there are, by their numbers, and their sessions.
    known: Mutex<BTreeMap<u64, (u64, Arc<Table>)>>,
}

/// A temporary table, as its session has it: gone when this is dropped.
pub struct TemporaryTable {
    engine: Arc<Engine>,
    table: Arc<Table>,
    owner: u64,
}

impl TemporaryTable {
    /// The table.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// The session that has it.
    pub(crate) fn owner(&self) -> u64 {
        self.owner
    }

    fn new(engine: &Arc<Engine>, owner: u64, table: Arc<Table>) -> TemporaryTable {
        engine.temporary_tables.known.lock().insert(table.id, (owner, table.clone()));
        TemporaryTable { engine: engine.clone(), table, owner }
    }
}

impl Table {
    /// What the file of a temporary table was called when it was made; it has no name any more.
    pub fn temporary_file_name(&self) -> String {
        file_name(self.first_space_id())
    }
}

impl Drop for TemporaryTable {
    fn drop(&mut self) {
        self.table.retire();
        self.engine.temporary_tables.known.lock().remove(&self.table.id);
        let (pool, table) = (self.engine.pool.clone(), self.table.clone());
        self.engine.ddl.submit(move || forget(&pool, &table));
    }
}

/// Takes the pages of a table out of memory and gives the room of its file back. Blocks.
fn forget(pool: &BufferPool, table: &Table) {
    for space in table.runtime().spaces() {
        pool.detach_space(space.id());
        if let Err(error) = space.file().set_len(0) {
            tracing::warn!("a temporary table that was dropped keeps its room for a while: {error}");
        }
    }
}

/// What the file of a temporary table's space is called.
fn file_name(space: SpaceId) -> String {
    format!("#sql-temp_{}.ibt", space.0.wrapping_sub(FIRST_SPACE) + 1)
}

impl Engine {
    /// CREATE TEMPORARY TABLE, for the session that `owner` names. The engine chooses the clustered index, as
    /// for other tables.
    pub async fn create_temporary_table(
        self: &Arc<Self>,
        owner: u64,
        def: TableDef,
    ) -> Result<TemporaryTable, Error> {
        let engine = self.clone();
        let table = self.blocking(move || engine.make_temporary_table(def)).await?;
        Ok(TemporaryTable::new(self, owner, table))
    }

    /// All temporary tables, with their sessions.
    pub fn temporary_tables(&self) -> Vec<(u64, Arc<Table>)> {
        self.temporary_tables.known.lock().values().cloned().collect()
    }

    fn make_temporary_table(&self, mut def: TableDef) -> Result<Arc<Table>, Error> {
        if !def.indexes.first().is_some_and(|index| index.hidden) {
            def.choose_clustered_index();
        }
        if def.is_partitioned() {
            return Err(Error::Definition("a temporary table has no partitions".to_owned()));
        }
        let tables = &self.temporary_tables;
        let count = 1 + def.indexes.len() as u64;
        def.id = FIRST_ID + tables.ids.fetch_add(count, Ordering::Relaxed);
        let space = tables.spaces.fetch_add(1, Ordering::Relaxed).checked_add(FIRST_SPACE);
        let space = space.filter(|space| *space != u32::MAX);
        let space = SpaceId(space.ok_or_else(|| Error::Definition("no space ids left".into()))?);
        def.partitions = vec![PartitionDef::sole(space)];
        def.created_us = self.config.clock.unix_micros();
        for (index, id) in def.indexes.iter_mut().zip(def.id + 1..) {
            index.trees = vec![IndexTree { id, root: PageNo::NONE }];
        }
        palisade_catalog::Table::new(def.clone())?;
        compression::check_page_size(self.page_size(), &def)?;
        let name = def.name.clone();
        let made = self.create_scratch(space).and_then(|space| self.format_temporary(def, &space));
        made.map_err(|error| {
            self.pool.detach_space(space);
            match error {
                Error::DiskFull => Error::TableFull(name),
                other => other,
            }
        })
    }

    fn create_scratch(&self, space: SpaceId) -> Result<Arc<Space>, Error> {
        let (dir, files) = (self.files.temporary_dir(), &self.files.disk);
        let path: PathBuf = dir.join(file_name(space));
        files.create_dir_all(&dir)?;
        let file = files.open(&path, OpenMode::CREATE_NEW.syncing(Syncing::Never))?;
        files.remove(&path)?;
        Ok(self.pool.attach_scratch(space, file)?)
    }

    fn format_temporary(&self, mut def: TableDef, space: &Arc<Space>) -> Result<Arc<Table>, Error> {
        info::format(&self.log, space)?;
        for tree in def.indexes.iter_mut().flat_map(|index| &mut index.trees) {
            tree.root = create_tree(&self.log, space, tree.id)?;
        }
        let runtime = Runtime::open(self.log.clone(), std::slice::from_ref(space), def.auto_increment)?;
        Ok(Arc::new(Table::new(palisade_catalog::Table::new(def)?, Arc::new(runtime))))
    }
}
