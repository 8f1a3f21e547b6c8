//! Indexes and foreign keys as InnoDB would keep them.

use std::sync::Arc;

use palisade_base::SpaceId;
use palisade_catalog::descriptor::{ForeignKey, GENERATED_CLUSTERED_INDEX, Index};
use palisade_catalog::{IndexTree, TableDef};
use palisade_engine::Table;
use palisade_schema::{Row, Rows, Wanted, virtual_table};
use palisade_session::virtual_tables::RowSource;

use super::storage::path;
use super::{Definition, Tables, by_table, number, text};

pub(super) static TABLES: Tables = &[
    Definition::new(&indexes::DECL, |source, wanted| by_table(source, wanted, indexes_of)),
    Definition::new(&cached_indexes::DECL, all_cached),
    Definition::new(&fields::DECL, |source, wanted| by_table(source, wanted, fields_of)),
    Definition::new(&foreign_keys::DECL, |source, wanted| {
        by_table(source, wanted, |table, wanted| {
            let def = table.descriptor().def();
            def.foreign_keys.iter().map(|key| foreign_keys::row(&(def, key), wanted)).collect()
        })
    }),
    Definition::new(&foreign_key_columns::DECL, |source, wanted| by_table(source, wanted, key_columns_of)),
];

/// An index of a partition: its number among the table's, and the partition's tree and space.
struct IndexSubject<'a> {
    def: &'a TableDef,
    index: &'a Index,
    place: usize,
    tree: &'a IndexTree,
    space: SpaceId,
}

impl IndexSubject<'_> {
    /// InnoDB's bits: 1 clustered, 2 unique.
    fn kind(&self) -> u64 {
        let is_unique = self.index.unique && self.index.name != GENERATED_CLUSTERED_INDEX;
        u64::from(self.place == 0) | u64::from(is_unique) << 1
    }
}

virtual_table! {
    mod indexes = "information_schema"."INNODB_INDEXES" of |it: IndexSubject<'_>| {
        INDEX_ID: bigint_unsigned not null default "" => number(it.tree.id),
        NAME: varchar(193) not null default "" => text(&it.index.name),
        TABLE_ID: bigint_unsigned not null default "" => number(it.def.id),
        TYPE: int not null default "" => number(it.kind()),
        N_FIELDS: int not null default "" => number(it.index.parts.len()),
        PAGE_NO: int not null default "" => number(it.tree.root.0),
        SPACE: int not null default "" => number(it.space.0),
        MERGE_THRESHOLD: int not null default "" => number(50u64),
    }
}

fn indexes_of(table: &Arc<Table>, wanted: &Wanted) -> Vec<Row> {
    let def = table.descriptor().def();
    let of_index = |(place, index): (usize, &Index)| {
        let row = |(tree, space): (&IndexTree, SpaceId)| {
            indexes::row(&IndexSubject { def, index, place, tree, space }, wanted)
        };
        index.trees.iter().zip(def.spaces()).map(row).collect::<Vec<_>>()
    };
    def.indexes.iter().enumerate().flat_map(of_index).collect()
}

virtual_table! {
    /// The trees that have pages in memory: space, index, and how many pages.
    mod cached_indexes = "information_schema"."INNODB_CACHED_INDEXES" of |it: (SpaceId, u64, u64)| {
        SPACE_ID: int_unsigned not null default "" => number(it.0.0),
        INDEX_ID: bigint_unsigned not null default "" => number(it.1),
        N_CACHED_PAGES: bigint_unsigned not null default "" => number(it.2),
    }
}

fn all_cached(source: &RowSource<'_>, wanted: &Wanted) -> Rows {
    let cached = source.engine.cached_pages();
    by_table(source, wanted, move |table, wanted| {
        let def = table.descriptor().def();
        let trees = def.indexes.iter().flat_map(|index| index.trees.iter().zip(def.spaces()));
        let found = trees.filter_map(|(tree, space)| {
            let pages = cached.get(&(space, tree.id))?;
            Some((space, tree.id, *pages))
        });
        found.map(|subject| cached_indexes::row(&subject, wanted)).collect()
    })
}

virtual_table! {
    /// The columns of the indexes, by position: number of the index, name, position.
    mod fields = "information_schema"."INNODB_FIELDS" of |it: (u64, &str, usize)| {
        INDEX_ID: varbinary(256) => text(it.0.to_string()),
        NAME: varchar(64) in utf8mb3_tolower_ci not null => text(it.1),
        POS: bigint_unsigned not null default "0" => number(it.2),
    }
}

fn fields_of(table: &Arc<Table>, wanted: &Wanted) -> Vec<Row> {
    let def = table.descriptor().def();
    let mut rows = Vec::new();
    for index in &def.indexes {
        for (position, part) in index.parts.iter().enumerate() {
            let name = &*def.key_column(part.column).name;
            rows.extend(index.trees.iter().map(|tree| fields::row(&(tree.id, name, position), wanted)));
        }
    }
    rows
}

/// TYPE: a bit for each action.
fn actions(key: &ForeignKey) -> u64 {
    let bit = |action: &str, [cascade, set_null, none]: [u64; 3]| match action {
        "CASCADE" => cascade,
        "SET NULL" => set_null,
        "" => none,
        _ => 0,
    };
    bit(&key.on_delete, [1, 2, 16]) | bit(&key.on_update, [4, 8, 32])
}

virtual_table! {
    mod foreign_keys = "information_schema"."INNODB_FOREIGN" of |it: (&TableDef, &ForeignKey)| {
        ID: varchar(129) in utf8mb3_bin => path(&it.0.schema, &it.1.name),
        FOR_NAME: varchar(129) in utf8mb3_bin => path(&it.0.schema, &it.0.name),
        REF_NAME: varchar(129) in utf8mb3_bin => path(&it.1.referenced_schema, &it.1.referenced_table),
        N_COLS: bigint not null default "0" => number(it.1.columns.len()),
        TYPE: bigint_unsigned not null default "0" => number(actions(it.1)),
    }
}

/// A column of a foreign key: the key's schema and name, both columns, the position.
struct KeyColumn<'a> {
    schema: &'a str,
    key: &'a str,
    column: &'a str,
    referenced: &'a str,
    position: usize,
}

virtual_table! {
    mod foreign_key_columns = "information_schema"."INNODB_FOREIGN_COLS" of |it: KeyColumn<'_>| {
        ID: varchar(129) in utf8mb3_bin => path(it.schema, it.key),
        FOR_COL_NAME: varchar(64) in utf8mb3_tolower_ci not null => text(it.column),
        REF_COL_NAME: varchar(64) in utf8mb3_tolower_ci not null => text(it.referenced),
        POS: int_unsigned not null => number(it.position),
    }
}

fn key_columns_of(table: &Arc<Table>, wanted: &Wanted) -> Vec<Row> {
    let def = table.descriptor().def();
    let mut rows = Vec::new();
    for key in &def.foreign_keys {
        for (position, (place, referenced)) in (1..).zip(key.columns.iter().zip(&key.referenced_columns)) {
            let column = &*def.key_column(*place).name;
            let subject = KeyColumn { schema: &def.schema, key: &key.name, column, referenced, position };
            rows.push(foreign_key_columns::row(&subject, wanted));
        }
    }
    rows
}
