//! Constraints: primary and unique keys, foreign keys, CHECK.

use std::sync::Arc;

use palisade_catalog::descriptor::{Check, ForeignKey};
use palisade_catalog::{TableDef, Value};
use palisade_engine::{Dictionary, Table};
use palisade_schema::{Row, Rows, Wanted, virtual_table};
use palisade_session::virtual_tables::RowSource;

use super::columns::escaped;
use super::{Definition, Tables, by_table, catalog, generated_key, listed_indexes, number, text, yes_no};
use crate::ddl::foreign::standard_index;
use crate::ddl::generated_key::GeneratedKey;

pub(super) static TABLES: Tables = &[
    Definition::new(&check_constraints::DECL, |source, wanted| by_table(source, wanted, checks_of)),
    Definition::new(&key_column_usage::DECL, |source, wanted| {
        let key = generated_key(source);
        by_table(source, wanted, move |table, wanted| key_columns_of(table, key, wanted))
    }),
    Definition::new(&referential_constraints::DECL, foreign_keys),
    Definition::new(&table_constraints::DECL, |source, wanted| {
        let key = generated_key(source);
        by_table(source, wanted, move |table, wanted| constraints_of(table, key, wanted))
    }),
    // A row for each index, unique or not, as in MySQL.
    Definition::new(&constraint_extensions::DECL, |source, wanted| {
        let key = generated_key(source);
        by_table(source, wanted, move |table, wanted| {
            let names = listed_indexes(table, key).map(|(_, index)| (&**table, &*index.name));
            names.map(|subject| constraint_extensions::row(&subject, wanted)).collect()
        })
    }),
];

virtual_table! {
    mod check_constraints = "information_schema"."CHECK_CONSTRAINTS" of |it: (&TableDef, &Check)| {
        CONSTRAINT_CATALOG: varchar(64) in utf8mb3_bin not null => catalog(),
        CONSTRAINT_SCHEMA: varchar(64) in utf8mb3_bin not null => text(&it.0.schema),
        CONSTRAINT_NAME: varchar(64) in utf8mb3_tolower_ci not null => text(&it.1.name),
        CHECK_CLAUSE: longtext in utf8mb3_bin not null => text(escaped(&it.1.expression)),
    }
}

fn checks_of(table: &Arc<Table>, wanted: &Wanted) -> Vec<Row> {
    let def = table.descriptor().def();
    def.checks.iter().map(|check| check_constraints::row(&(def, check), wanted)).collect()
}

/// A column of a key, and the one that it refers to.
struct KeyColumnSubject<'a> {
    def: &'a TableDef,
    /// The constraint's name.
    name: &'a str,
    column: &'a str,
    position: usize,
    referenced: Option<(&'a ForeignKey, &'a str)>,
}

impl KeyColumnSubject<'_> {
    fn of_referenced(&self, name: impl Fn(&ForeignKey) -> &str) -> Value {
        self.referenced.map_or(Value::Null, |(key, _)| text(name(key)))
    }
}

virtual_table! {
    mod key_column_usage = "information_schema"."KEY_COLUMN_USAGE" of |it: KeyColumnSubject<'_>| {
        CONSTRAINT_CATALOG: varchar(64) in utf8mb3_bin not null => catalog(),
        CONSTRAINT_SCHEMA: varchar(64) in utf8mb3_bin not null => text(&it.def.schema),
        CONSTRAINT_NAME: varchar(64) in utf8mb3_tolower_ci => text(it.name),
        TABLE_CATALOG: varchar(64) in utf8mb3_bin not null => catalog(),
        TABLE_SCHEMA: varchar(64) in utf8mb3_bin not null => text(&it.def.schema),
        TABLE_NAME: varchar(64) in utf8mb3_bin not null => text(&it.def.name),
        COLUMN_NAME: varchar(64) in utf8mb3_tolower_ci => text(it.column),
        ORDINAL_POSITION: int_unsigned not null default "0" => number(it.position),
        POSITION_IN_UNIQUE_CONSTRAINT: int_unsigned => it.referenced.map_or(Value::Null, |_| number(it.position)),
        REFERENCED_TABLE_SCHEMA: varchar(64) in utf8mb3_bin => it.of_referenced(|key| &key.referenced_schema),
        REFERENCED_TABLE_NAME: varchar(64) in utf8mb3_bin => it.of_referenced(|key| &key.referenced_table),
        REFERENCED_COLUMN_NAME: varchar(64) in utf8mb3_tolower_ci => it.referenced.map_or(Value::Null, |(_, column)| text(column)),
    }
}

fn key_columns_of(table: &Arc<Table>, key: GeneratedKey, wanted: &Wanted) -> Vec<Row> {
    let def = table.descriptor().def();
    let mut rows = Vec::new();
    for (_, index) in listed_indexes(table, key).filter(|(_, index)| index.unique) {
        for (position, part) in (1..).zip(index.parts.iter()) {
            let (name, column) = (&*index.name, &*def.key_column(part.column).name);
            let subject = KeyColumnSubject { def, name, column, position, referenced: None };
            rows.push(key_column_usage::row(&subject, wanted));
        }
    }
    for key in &def.foreign_keys {
        for (position, (place, referenced)) in (1..).zip(key.columns.iter().zip(&key.referenced_columns)) {
            let (name, column) = (&*key.name, &*def.key_column(*place).name);
            let referenced = Some((key, &**referenced));
            rows.push(key_column_usage::row(
                &KeyColumnSubject { def, name, column, position, referenced },
                wanted,
            ));
        }
    }
    rows
}

/// A foreign key of a table.
struct ForeignKeySubject<'a> {
    def: &'a TableDef,
    key: &'a ForeignKey,
    dictionary: &'a Dictionary,
}

impl ForeignKeySubject<'_> {
    /// The unique index of the other table that the key refers to.
    fn parent_index(&self) -> Value {
        let parent = self.dictionary.table(&self.key.referenced_schema, &self.key.referenced_table).ok();
        let index = parent.and_then(|parent| {
            let index = standard_index(parent, self.key)?;
            Some(parent.indexes.get(index)?.name.clone())
        });
        index.map_or(Value::Null, text)
    }
}

fn rule(action: &str) -> Value {
    text(if action.is_empty() { "NO ACTION" } else { action })
}

virtual_table! {
    mod referential_constraints = "information_schema"."REFERENTIAL_CONSTRAINTS" of |it: ForeignKeySubject<'_>| {
        CONSTRAINT_CATALOG: varchar(64) in utf8mb3_bin not null => catalog(),
        CONSTRAINT_SCHEMA: varchar(64) in utf8mb3_bin not null => text(&it.def.schema),
        CONSTRAINT_NAME: varchar(64) in utf8mb3_tolower_ci => text(&it.key.name),
        UNIQUE_CONSTRAINT_CATALOG: varchar(64) in utf8mb3_bin not null => catalog(),
        UNIQUE_CONSTRAINT_SCHEMA: varchar(64) in utf8mb3_bin not null => text(&it.key.referenced_schema),
        UNIQUE_CONSTRAINT_NAME: varchar(64) in utf8mb3_tolower_ci => it.parent_index(),
        MATCH_OPTION: enum("NONE", "PARTIAL", "FULL") in utf8mb3_bin not null => text("NONE"),
        UPDATE_RULE: enum("NO ACTION", "RESTRICT", "CASCADE", "SET NULL", "SET DEFAULT") in utf8mb3_bin not null => rule(&it.key.on_update),
        DELETE_RULE: enum("NO ACTION", "RESTRICT", "CASCADE", "SET NULL", "SET DEFAULT") in utf8mb3_bin not null => rule(&it.key.on_delete),
        TABLE_NAME: varchar(64) in utf8mb3_bin not null => text(&it.def.name),
        REFERENCED_TABLE_NAME: varchar(64) in utf8mb3_bin not null => text(&it.key.referenced_table),
    }
}

fn foreign_keys(source: &RowSource<'_>, wanted: &Wanted) -> Rows {
    let dictionary = source.engine.dictionary();
    by_table(source, wanted, move |table, wanted| {
        let def = table.descriptor().def();
        let subjects =
            def.foreign_keys.iter().map(|key| ForeignKeySubject { def, key, dictionary: &dictionary });
        subjects.map(|subject| referential_constraints::row(&subject, wanted)).collect()
    })
}

/// A constraint of a table.
struct ConstraintSubject<'a> {
    def: &'a TableDef,
    name: &'a str,
    kind: &'static str,
    is_enforced: bool,
}

virtual_table! {
    mod table_constraints = "information_schema"."TABLE_CONSTRAINTS" of |it: ConstraintSubject<'_>| {
        CONSTRAINT_CATALOG: varchar(64) in utf8mb3_bin not null => catalog(),
        CONSTRAINT_SCHEMA: varchar(64) in utf8mb3_bin not null => text(&it.def.schema),
        CONSTRAINT_NAME: varchar(64) in utf8mb3_tolower_ci => text(it.name),
        TABLE_SCHEMA: varchar(64) in utf8mb3_bin not null => text(&it.def.schema),
        TABLE_NAME: varchar(64) in utf8mb3_bin not null => text(&it.def.name),
        CONSTRAINT_TYPE: varchar(11) in utf8mb3_bin not null default "" => text(it.kind),
        ENFORCED: varchar(3) in utf8mb3_bin not null default "" => yes_no(it.is_enforced),
    }
}

fn constraints_of(table: &Arc<Table>, key: GeneratedKey, wanted: &Wanted) -> Vec<Row> {
    let def = table.descriptor().def();
    let row = |name: &str, kind, is_enforced| {
        table_constraints::row(&ConstraintSubject { def, name, kind, is_enforced }, wanted)
    };
    let unique = listed_indexes(table, key).filter(|(_, index)| index.unique);
    let unique =
        unique.map(|(_, index)| row(&index.name, if index.primary { "PRIMARY KEY" } else { "UNIQUE" }, true));
    let foreign = def.foreign_keys.iter().map(|key| row(&key.name, "FOREIGN KEY", true));
    let mut checks: Vec<_> = def.checks.iter().collect();
    checks.sort_by(|left, right| left.name.cmp(&right.name));
    let checks = checks.into_iter().map(|check| row(&check.name, "CHECK", check.enforced));
    unique.chain(foreign).chain(checks).collect()
}

virtual_table! {
    mod constraint_extensions = "information_schema"."TABLE_CONSTRAINTS_EXTENSIONS" of |it: (&Table, &str)| {
        CONSTRAINT_CATALOG: varchar(64) in utf8mb3_bin not null => catalog(),
        CONSTRAINT_SCHEMA: varchar(64) in utf8mb3_bin not null => text(&it.0.schema),
        CONSTRAINT_NAME: varchar(64) in utf8mb3_tolower_ci not null => text(it.1),
        TABLE_NAME: varchar(64) in utf8mb3_bin not null => text(&it.0.name),
        ENGINE_ATTRIBUTE: json => Value::Null,
        SECONDARY_ENGINE_ATTRIBUTE: json => Value::Null,
    }
}
