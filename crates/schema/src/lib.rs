//! Virtual tables: what SQL reads like a table, and what no tree holds. Each is declared once, and its rows
//! are made when a statement pulls them.
//!
//! | module | what it holds |
//! |---|---|
//! | [`mod@column`] | a column's declaration: name, type, nullability, default, key |
//! | [`table`] | a table's declaration, its definition, and the registry of definitions |
//! | [`change`] | changes of rows, where a table may be changed |
//! | [`wanted`] | what a statement wants of a table: which columns, of which schemas and tables |
//! | `declare` | [`virtual_table!`], in which a column stands beside the expression of its value |
//! | [`mod@view`] | views: a column beside an expression of SQL |
//!
//! # The life of a row
//!
//! ```text
//!  virtual_table! { mod columns = "information_schema"."COLUMNS" of |it: ColumnSubject<'_>| {
//!      TABLE_NAME: varchar(64) in utf8mb3_bin not null => text(it.table),
//!      COLUMN_KEY: enum("", "PRI", "UNI", "MUL") in utf8mb3_bin not null => text(key(it)),
//!  } }
//!      │
//!      ├─► columns::DECL            what binding, SHOW COLUMNS and information_schema.COLUMNS read
//!      └─► columns::row(it, wanted) one value per column; NULL, not computed, where it is not wanted
//!              ▲
//!  Definition { declaration, rows: fn(&Source, &Wanted) -> Rows }
//!      Rows owns what it is made from: the reader pulls a row, filters it, may let other statements
//!      run, and pulls the next.
//! ```
//!
//! What may never happen: that [`Wanted`] loses a row which the statement's conditions would keep. A
//! definition may therefore ignore it, in whole or in part; it may leave out only rows whose names
//! [`Names::admits`] refuses.
//!
//! Absent here: where the numbers come from. The crate knows neither engine nor server; a definition is
//! generic over its [`Origin`].

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used))]

pub mod change;
pub mod column;
mod declare;
pub mod table;
pub mod view;
pub mod wanted;

pub use change::{Change, ChangeKind, Changed, Changes};
pub use column::{ColumnDecl, ColumnType, Named};
pub use declare::row_of;
pub use table::{Definition, Origin, Registry, Row, Rows, TableDecl};
pub use view::{Shown, View};
pub use wanted::{Names, Wanted, is_exact};

#[doc(hidden)]
pub mod for_macros {
    pub use palisade_catalog::Value;
    pub use palisade_catalog::types::{IntWidth, LobSize};
}

#[cfg(test)]
mod tests;
