//! The dictionary: as statements see it, and as it is stored.
//!
//! Statements see an immutable snapshot, replaced as a whole by every change. It is stored in a tree of space 0, one row per
//! schema (key `1`, name), per table (key `2`, id big-endian) and per view (key `3`, schema, 0, name),
//! written by transactions like any other rows. After a crash the committed state of these rows is what
//! exists; space files that no row names are removed.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use palisade_base::SpaceId;
use palisade_catalog::{Schema, ViewDef};

use crate::Error;
use crate::metadata::TableName;
use crate::table::Table;

/// The index that the dictionary is.
pub(crate) const DICTIONARY_INDEX: u64 = 1;

/// All schemas and tables at one moment. Names compare as with `lower_case_table_names=0`: byte for byte; index and
/// column names do not.
#[derive(Debug, Default, Clone)]
pub struct Dictionary {
    version: u64,
    schemas: BTreeMap<String, Arc<SchemaEntry>>,
    /// Which tables have foreign keys that refer to a table, by its name, whether there is one or not.
    referring: BTreeMap<TableName, BTreeSet<TableName>>,
    /// Tables that temporary ones of the same name hide.
    hidden: BTreeMap<TableName, Arc<Table>>,
    /// Which table a space is of, once that was asked.
    by_space: OnceLock<Arc<BTreeMap<SpaceId, TableName>>>,
}

#[derive(Debug, Clone)]
struct SchemaEntry {
    schema: Arc<Schema>,
    tables: BTreeMap<String, Arc<Table>>,
    views: BTreeMap<String, Arc<ViewDef>>,
}

/// A change of the snapshot.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    PutSchema(Arc<Schema>),
    DropSchema(String),
    PutTable(Arc<Table>),
    DropTable(String, String),
    PutView(Arc<ViewDef>),
    DropView(String, String),
}

impl Dictionary {
    /// Grows with every change: what was planned under the same version is still right.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// A schema.
    pub fn schema(&self, name: &str) -> Option<&Arc<Schema>> {
        self.schemas.get(name).map(|entry| &entry.schema)
    }

    /// All schemas in order of name.
    pub fn schemas(&self) -> impl Iterator<Item = &Arc<Schema>> {
        self.schemas.values().map(|entry| &entry.schema)
    }

    /// A table: [`Error::UnknownSchema`] or [`Error::UnknownTable`] if there is none.
    pub fn table(&self, schema: &str, table: &str) -> Result<&Arc<Table>, Error> {
        let entry = self.schemas.get(schema).ok_or_else(|| Error::UnknownSchema(schema.to_owned()))?;
        entry
            .tables
            .get(table)
            .ok_or_else(|| Error::UnknownTable { schema: schema.to_owned(), table: table.to_owned() })
    }

    /// The tables of a schema in order of name; none if there is no such schema.
    pub fn tables(&self, schema: &str) -> impl Iterator<Item = &Arc<Table>> {
        self.schemas.get(schema).into_iter().flat_map(|entry| entry.tables.values())
    }

    /// A view, unless a temporary table hides it.
    pub fn visible_view(&self, schema: &str, view: &str) -> Option<&Arc<ViewDef>> {
        let is_hidden = self.table(schema, view).is_ok_and(|table| table.is_temporary());
        if is_hidden { None } else { self.view(schema, view) }
    }

    /// A view. No table of its schema has its name but a temporary one.
    pub fn view(&self, schema: &str, view: &str) -> Option<&Arc<ViewDef>> {
        self.schemas.get(schema)?.views.get(view)
    }

    /// The views of a schema in order of name.
    pub fn views(&self, schema: &str) -> impl Iterator<Item = &Arc<ViewDef>> {
        self.schemas.get(schema).into_iter().flat_map(|entry| entry.views.values())
    }

    /// The tables with foreign keys that refer to the table of this name, itself perhaps among them.
    pub fn referring(&self, schema: &str, table: &str) -> impl Iterator<Item = &Arc<Table>> {
        let names = match self.referring.is_empty() {
            true => None,
            false => self.referring.get(&TableName::new(schema, table)),
        };
        names.into_iter().flatten().filter_map(|name| self.stored_table(&name.schema, &name.table).ok())
    }

    /// The table of the dictionary, also where a temporary one hides it: what foreign keys refer to.
    pub fn stored_table(&self, schema: &str, table: &str) -> Result<&Arc<Table>, Error> {
        match self.table(schema, table)? {
            found if !found.is_temporary() => Ok(found),
            _ => self
                .hidden
                .get(&TableName::new(schema, table))
                .ok_or_else(|| Error::UnknownTable { schema: schema.to_owned(), table: table.to_owned() }),
        }
    }

    /// The table that has its rows in a space.
    pub fn table_of_space(&self, space: SpaceId) -> Option<&TableName> {
        let by_space = self.by_space.get_or_init(|| {
            let spaces = self.all_tables().filter(|table| !table.is_temporary()).flat_map(|table| {
                let name = TableName::new(&table.schema, &table.name);
                table.descriptor().def().spaces().map(move |space| (space, name.clone()))
            });
            Arc::new(spaces.collect())
        });
        by_space.get(&space)
    }

    /// The dictionary as a session sees it that has these temporary tables: they hide others of their names.
    #[must_use]
    pub fn with_temporary<'t>(&self, tables: impl IntoIterator<Item = &'t Arc<Table>>) -> Dictionary {
        let mut next = Dictionary { by_space: OnceLock::new(), ..self.clone() };
        for table in tables {
            let entry = next.schemas.entry(table.schema.clone()).or_insert_with(|| {
                let schema = Schema { name: table.schema.clone(), collation: table.collation };
                let schema = Arc::new(schema);
                Arc::new(SchemaEntry { schema, tables: BTreeMap::new(), views: BTreeMap::new() })
            });
            let before = Arc::make_mut(entry).tables.insert(table.name.clone(), table.clone());
            if let Some(before) = before.filter(|before| !before.is_temporary()) {
                next.hidden.insert(TableName::new(&table.schema, &table.name), before);
            }
        }
        next
    }

    fn refer(&mut self, table: &Table, refers: bool) {
        let own = TableName::new(&table.schema, &table.name);
        for key in &table.foreign_keys {
            let parent = TableName::new(&key.referenced_schema, &key.referenced_table);
            let children = self.referring.entry(parent.clone()).or_default();
            if refers {
                children.insert(own.clone());
            } else {
                children.remove(&own);
            }
            if children.is_empty() {
                self.referring.remove(&parent);
            }
        }
    }

    /// The tables of all schemas.
    pub fn all_tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.schemas.values().flat_map(|entry| entry.tables.values())
    }

    /// How many tables there are.
    pub fn table_count(&self) -> usize {
        self.schemas.values().map(|entry| entry.tables.len()).sum()
    }

    /// The dictionary after `changes`.
    pub(crate) fn with(&self, changes: &[Change]) -> Dictionary {
        let mut next = Dictionary { by_space: OnceLock::new(), ..self.clone() };
        next.version += 1;
        for change in changes {
            match change {
                Change::PutSchema(schema) => {
                    let before = next.schemas.get(&schema.name);
                    let tables = before.map(|entry| entry.tables.clone()).unwrap_or_default();
                    let views = before.map(|entry| entry.views.clone()).unwrap_or_default();
                    let entry = SchemaEntry { schema: schema.clone(), tables, views };
                    next.schemas.insert(schema.name.clone(), Arc::new(entry));
                }
                Change::DropSchema(name) => {
                    let entry = next.schemas.remove(name);
                    for table in entry.iter().flat_map(|entry| entry.tables.values()) {
                        next.refer(table, false);
                    }
                }
                Change::PutTable(table) => {
                    next.refer(table, true);
                    if let Some(entry) = next.schemas.get_mut(&table.schema) {
                        Arc::make_mut(entry).tables.insert(table.name.clone(), table.clone());
                    }
                }
                Change::DropTable(schema, name) => {
                    let entry = next.schemas.get_mut(schema);
                    let table = entry.and_then(|entry| Arc::make_mut(entry).tables.remove(name));
                    if let Some(table) = table {
                        next.refer(&table, false);
                    }
                }
                Change::PutView(view) => {
                    if let Some(entry) = next.schemas.get_mut(&view.schema) {
                        Arc::make_mut(entry).views.insert(view.name.clone(), view.clone());
                    }
                }
                Change::DropView(schema, name) => {
                    if let Some(entry) = next.schemas.get_mut(schema) {
                        Arc::make_mut(entry).views.remove(name);
                    }
                }
            }
        }
        next
    }
}

/// Key of a schema's row.
pub(crate) fn schema_key(name: &str) -> Vec<u8> {
    [&[1], name.as_bytes()].concat()
}

/// Key of a table's row.
pub(crate) fn table_key(id: u64) -> Vec<u8> {
    [&[2][..], &id.to_be_bytes()].concat()
}

/// Key of a view's row. No name has a zero byte.
pub(crate) fn view_key(schema: &str, name: &str) -> Vec<u8> {
    [&[3], schema.as_bytes(), &[0], name.as_bytes()].concat()
}

/// What a row of the dictionary is about.
pub(crate) enum RowKind {
    Schema,
    Table,
    View,
}

/// Takes a key apart.
pub(crate) fn row_kind(key: &[u8]) -> Option<RowKind> {
    match key.first()? {
        1 => Some(RowKind::Schema),
        2 if key.len() == 9 => Some(RowKind::Table),
        3 => Some(RowKind::View),
        _ => None,
    }
}
