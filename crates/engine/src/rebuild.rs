//! A dictionary that cannot be read, made again from the copies that the tables' files carry
//! ([`definition_copy`]).
//!
//! Done when the engine is opened with [`ForceRecovery`](crate::ForceRecovery), after redo, and written to
//! the disk unless the level forbids that: the next start needs no force. The damaged file keeps its pages
//! under another name.
//!
//! What comes back: every table whose file and copy can be read, and the schemas of these. What does not:
//! schemas without tables; views, which have no files; a change of a schema's default that no start has
//! followed. A file without a readable copy is set aside, too, because a file that the dictionary does not
//! name is removed as a leftover. Of two files of one name (the server was stopped in the middle of an ALTER)
//! the younger table counts. Of several partitions the first files have the copy, and the others name the
//! table: where one of all these is lost, those with the copy say so, and the table is there but for that
//! file.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use palisade_base::event::retry_blocking;
use palisade_base::{PageNo, SpaceId};
use palisade_btree::Tree;
use palisade_buffer::Space;
use palisade_catalog::{Schema, TableDef};
use palisade_txn::undo::segment::UNDO_SPACE;

use crate::Error;
use crate::build::insert_built_row;
use crate::definition_copy::{self, DefinitionCopy};
use crate::dictionary::{DICTIONARY_INDEX, schema_key, table_key};
use crate::info::{self, Field};
use crate::open::{Base, FIRST_ID, SYSTEM_SPACE, check_placed, create_tree};

/// What was made.
pub(crate) struct Rebuilt {
    pub(crate) system: Arc<Space>,
    pub(crate) tree: Tree,
    pub(crate) schemas: Vec<Schema>,
    pub(crate) tables: Vec<TableDef>,
}

/// Makes the dictionary again. Blocks.
pub(crate) fn dictionary(base: &Base) -> Result<Rebuilt, Error> {
    let (schemas, tables) = collect(base)?;
    base.pool.detach_space(SYSTEM_SPACE);
    base.files.set_aside(SYSTEM_SPACE)?;
    let system = base.create_space(SYSTEM_SPACE)?;
    info::format(&base.log, &system)?;
    let root = create_tree(&base.log, &system, DICTIONARY_INDEX)?;
    retry_blocking(|| info::write(&base.log, &system, Field::DictionaryRoot, root.0.into()))?;
    retry_blocking(|| info::write(&base.log, &system, Field::NextId, next_id(&tables)))?;
    let tree = Tree::open(base.log.clone(), system.clone(), root, DICTIONARY_INDEX);
    for schema in &schemas {
        insert_built_row(&base.log, &tree, &schema_key(&schema.name), &schema.to_bytes())?;
    }
    for table in &tables {
        insert_built_row(&base.log, &tree, &table_key(table.id), &table.to_bytes())?;
    }
    base.log.flush_blocking(base.log.tail())?;
    // The log still has redo for the file that was set aside; behind this checkpoint it has none.
    base.pool.checkpoint_sharply()?;
    tracing::warn!(
        "the dictionary was made again from the tables' own files: {} schemas, {} tables",
        schemas.len(),
        tables.len()
    );
    Ok(Rebuilt { system, tree, schemas, tables })
}

/// What the tables' files say of themselves.
fn collect(base: &Base) -> Result<(Vec<Schema>, Vec<TableDef>), Error> {
    let (mut copies, mut readable, mut referring) = (Vec::new(), BTreeSet::new(), BTreeMap::new());
    for id in base.files.list_spaces()? {
        if id == SYSTEM_SPACE || id == UNDO_SPACE {
            continue;
        }
        let path = base.files.space_path(id);
        let space = base.pool.space(id);
        let found = space.as_deref().map_or(Ok(None), definition_copy::read);
        let found = found.and_then(|bytes| bytes.as_deref().map(definition_copy::decode).transpose());
        let found = found.and_then(|found| {
            if let Some(DefinitionCopy::Whole(whole)) = &found {
                check_placed(&whole.1)?;
            }
            Ok(found)
        });
        match found {
            Ok(Some(DefinitionCopy::Whole(whole)))
                if names(&whole.1, id) && whole.0.name == whole.1.schema =>
            {
                readable.insert(id);
                copies.push(*whole);
                continue;
            }
            Ok(Some(DefinitionCopy::Reference(table))) => {
                referring.insert(id, table);
                continue;
            }
            // A server of that version can read it: nothing is set aside.
            Err(error @ Error::LaterVersion(_)) => return Err(error),
            Ok(_) => tracing::error!("{} does not say which table it is; it is set aside", path.display()),
            Err(error) => {
                tracing::error!("{} cannot say which table it is, and is set aside: {error}", path.display());
            }
        }
        base.pool.detach_space(id);
        base.files.set_aside(id)?;
    }
    // A file that was of another table when it was written says nothing of this one.
    let is_of = |(space, table): (&SpaceId, &u64)| {
        copies
            .iter()
            .any(|(_, def): &(Schema, TableDef)| def.id == *table && names(def, *space))
            .then_some(*space)
    };
    readable.extend(referring.iter().filter_map(is_of));
    let (schemas, tables) = choose(copies, &readable);
    set_doubles_aside(base, &tables)?;
    Ok((schemas, tables))
}

/// Which of the definitions that were found count, of those that have a name or a file in common. Those whose
/// files are all there come first, then the younger tables, then the ones of a table that have the youngest
/// file: the server was stopped while the partitions of that table changed.
fn choose(mut copies: Vec<(Schema, TableDef)>, readable: &BTreeSet<SpaceId>) -> (Vec<Schema>, Vec<TableDef>) {
    let is_whole = |table: &TableDef| table.spaces().all(|space| readable.contains(&space));
    let rank = |table: &TableDef| (is_whole(table), table.id, table.spaces().max());
    copies.sort_by_key(|(_, table)| std::cmp::Reverse(rank(table)));
    let mut schemas = BTreeMap::new();
    let mut tables: BTreeMap<(String, String), TableDef> = BTreeMap::new();
    let mut owned = BTreeSet::new();
    for (schema, table) in copies {
        let name = (table.schema.clone(), table.name.clone());
        if tables.contains_key(&name) || table.spaces().any(|space| owned.contains(&space)) {
            continue;
        }
        owned.extend(table.spaces());
        schemas.insert(schema.name.clone(), schema);
        tables.insert(name, table);
    }
    (schemas.into_values().collect(), tables.into_values().collect())
}

/// Whether a table says that the space is one of its own.
fn names(table: &TableDef, id: SpaceId) -> bool {
    table.spaces().any(|space| space == id)
}

/// Files that another one of the same table has taken the place of.
fn set_doubles_aside(base: &Base, tables: &[TableDef]) -> Result<(), Error> {
    for id in base.files.list_spaces()? {
        let is_owned = id == SYSTEM_SPACE || id == UNDO_SPACE || tables.iter().any(|table| names(table, id));
        if !is_owned {
            tracing::warn!(
                "{} is an earlier file of its table; it is set aside",
                base.files.space_path(id).display()
            );
            base.pool.detach_space(id);
            base.files.set_aside(id)?;
        }
    }
    Ok(())
}

/// A number above all that tables, spaces and indexes have.
pub(crate) fn first_unused_id(tables: &[TableDef]) -> u64 {
    let ids = tables.iter().flat_map(|table| {
        let spaces = table.spaces().map(|space| u64::from(space.0));
        table.trees().map(|tree| tree.id).chain(spaces).chain([table.id])
    });
    ids.max().map_or(FIRST_ID, |highest| highest.saturating_add(1))
}

/// The next id of a dictionary that was made again: numbers that were given to what is gone are not given
/// again either, as far as undo may still name them.
fn next_id(tables: &[TableDef]) -> u64 {
    const GAP: u64 = 1 << 16;
    match tables.is_empty() {
        true => FIRST_ID,
        false => first_unused_id(tables).saturating_add(GAP),
    }
}

/// The dictionary's root, as the information page of the system space says. Blocks.
pub(crate) fn root_of(system: &Space) -> Result<PageNo, Error> {
    let root = retry_blocking(|| info::read(system, Field::DictionaryRoot))?;
    Ok(PageNo(root as u32))
}
