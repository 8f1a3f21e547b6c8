//! SCHEMATA and SCHEMATA_EXTENSIONS.

use palisade_catalog::{CollationId, Value};
use palisade_schema::{Rows, Wanted, virtual_table};
use palisade_session::virtual_tables::{INFORMATION_SCHEMA, RowSource, SYS};

use super::{Definition, NAMES, Tables, catalog, text, wanted_schemas, yes_no};

pub(super) static TABLES: Tables =
    &[Definition::new(&schemata::DECL, schemas), Definition::new(&schema_extensions::DECL, extensions)];

/// A schema: its name and collation.
struct SchemaSubject<'a> {
    name: &'a str,
    collation: CollationId,
}

virtual_table! {
    mod schemata = "information_schema"."SCHEMATA" of |it: SchemaSubject<'_>| {
        CATALOG_NAME: varchar(64) in utf8mb3_bin not null => catalog(),
        SCHEMA_NAME: varchar(64) in utf8mb3_bin not null => text(it.name),
        DEFAULT_CHARACTER_SET_NAME: varchar(64) not null => text(it.collation.get().charset.name()),
        DEFAULT_COLLATION_NAME: varchar(64) not null => text(it.collation.get().name),
        SQL_PATH: varbinary(0) => Value::Null,
        DEFAULT_ENCRYPTION: enum("NO", "YES") in utf8mb3_bin not null => yes_no(false),
    }
}

virtual_table! {
    mod schema_extensions = "information_schema"."SCHEMATA_EXTENSIONS" of |it: SchemaSubject<'_>| {
        CATALOG_NAME: varchar(64) in utf8mb3_bin not null => catalog(),
        SCHEMA_NAME: varchar(64) in utf8mb3_bin not null => text(it.name),
        OPTIONS: varchar(256) => text(""),
    }
}

/// The schemas that hold virtual tables alone, after those of the dictionary.
const VIRTUAL: [(&str, CollationId); 3] = [
    (INFORMATION_SCHEMA, NAMES),
    ("performance_schema", CollationId::UTF8MB4_0900_AI_CI),
    (SYS, CollationId::UTF8MB4_0900_AI_CI),
];

fn schemas(source: &RowSource<'_>, wanted: &Wanted) -> Rows {
    let dictionary = source.engine.dictionary();
    let stored = wanted_schemas(&dictionary, wanted);
    let is_shown = |name: &str| wanted.schemas.admits(name) && dictionary.schema(name).is_none();
    let virtual_ones = VIRTUAL.into_iter().filter(|(name, _)| is_shown(name)).collect::<Vec<_>>();
    let (of_stored, of_virtual) = (wanted.clone(), wanted.clone());
    let stored = stored.into_iter().map(move |schema| {
        schemata::row(&SchemaSubject { name: &schema.name, collation: schema.collation }, &of_stored)
    });
    let virtual_ones = virtual_ones
        .into_iter()
        .map(move |(name, collation)| schemata::row(&SchemaSubject { name, collation }, &of_virtual));
    Box::new(stored.chain(virtual_ones))
}

fn extensions(source: &RowSource<'_>, wanted: &Wanted) -> Rows {
    let (stored, wanted) = (wanted_schemas(&source.engine.dictionary(), wanted), wanted.clone());
    Box::new(stored.into_iter().map(move |schema| {
        schema_extensions::row(&SchemaSubject { name: &schema.name, collation: schema.collation }, &wanted)
    }))
}
