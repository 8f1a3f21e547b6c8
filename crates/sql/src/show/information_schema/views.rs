//! VIEWS: those of the schema sys.

use palisade_schema::{Rows, TableDecl, Wanted, virtual_table};
use palisade_session::virtual_tables::RowSource;

use super::{Definition, Tables, catalog, text};
use crate::sys;

pub(super) static TABLES: Tables = &[Definition::new(&views::DECL, all_views)];

/// Whose the views are: the account of MySQL's sys.
pub const DEFINER: &str = "mysql.sys@localhost";
/// The character set and collation of the client that made them.
pub const MADE_IN: (&str, &str) = ("utf8mb4", "utf8mb4_0900_ai_ci");

virtual_table! {
    mod views = "information_schema"."VIEWS" of |it: &'static TableDecl| {
        TABLE_CATALOG: varchar(64) in utf8mb3_bin not null => catalog(),
        TABLE_SCHEMA: varchar(64) in utf8mb3_bin not null => text(it.schema),
        TABLE_NAME: varchar(64) in utf8mb3_bin not null => text(it.name),
        VIEW_DEFINITION: longtext in utf8mb3_bin => text(sys::view(it.schema, it.name).map_or(String::new(), |view| view.text)),
        CHECK_OPTION: enum("NONE", "LOCAL", "CASCADED") in utf8mb3_bin => text("NONE"),
        IS_UPDATABLE: enum("NO", "YES") in utf8mb3_bin => text("NO"),
        DEFINER: varchar(288) in utf8mb3_bin => text(DEFINER),
        SECURITY_TYPE: varchar(7) in utf8mb3_bin => text("INVOKER"),
        CHARACTER_SET_CLIENT: varchar(64) not null => text(MADE_IN.0),
        COLLATION_CONNECTION: varchar(64) not null => text(MADE_IN.1),
    }
}

fn all_views(_: &RowSource<'_>, wanted: &Wanted) -> Rows {
    let admitted = wanted.clone();
    let views = sys::declarations().filter(move |view| admitted.admits(view.schema, view.name));
    super::of_static(views, views::row, wanted)
}
