//! Temporary tables, of all sessions, and the spaces that they are in.

use std::sync::Arc;

use palisade_engine::Table;
use palisade_schema::{Rows, Wanted, virtual_table};
use palisade_session::virtual_tables::RowSource;

use super::{Definition, Tables, number, shown_columns, text};

pub(super) static TABLES: Tables = &[
    Definition::new(&spaces::DECL, |source, wanted| of_each(source, wanted, spaces::row)),
    Definition::new(&tables::DECL, |source, wanted| of_each(source, wanted, tables::row)),
];

/// A temporary table, which has a space of its own, and the session that has it.
struct OwnedTable {
    owner: u64,
    table: Arc<Table>,
}

impl OwnedTable {
    /// The file has lost its name when it was made; this is the one that it had.
    fn path(&self) -> String {
        format!("./tmp/{}", self.table.temporary_file_name())
    }
}

/// A row for each, the last one made first, as MySQL lists them.
fn of_each(
    source: &RowSource<'_>,
    wanted: &Wanted,
    row: fn(&OwnedTable, &Wanted) -> palisade_schema::Row,
) -> Rows {
    let wanted = wanted.clone();
    let tables = source.engine.temporary_tables().into_iter().rev();
    Box::new(tables.map(move |(owner, table)| row(&OwnedTable { owner, table }, &wanted)))
}

virtual_table! {
    mod spaces = "information_schema"."INNODB_SESSION_TEMP_TABLESPACES" of |it: OwnedTable| {
        ID: int_unsigned not null default "" => number(it.owner),
        SPACE: int_unsigned not null default "" => number(it.table.first_space_id().0),
        PATH: varchar(4001) not null default "" => text(it.path()),
        SIZE: bigint_unsigned not null default "" => number(it.table.file_bytes().0),
        STATE: varchar(192) not null default "" => text("ACTIVE"),
        PURPOSE: varchar(192) not null default "" => text("USER"),
    }
}

virtual_table! {
    mod tables = "information_schema"."INNODB_TEMP_TABLE_INFO" of |it: OwnedTable| {
        TABLE_ID: bigint_unsigned not null default "" => number(it.table.id),
        NAME: varchar(64) default "" => text(format!("#sql_{}_{:x}", it.owner, it.table.id)),
        N_COLS: int_unsigned not null default "" => number(shown_columns(&it.table).count() + 3),
        SPACE: int_unsigned not null default "" => number(it.table.first_space_id().0),
    }
}
