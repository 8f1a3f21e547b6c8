//! Doubles of what the server answers, each for the unit tests of those who ask for that.

use palisade_expr::session_state::SessionState;
use palisade_schema::{Rows, TableDecl, Wanted};

use super::{Authorization, VirtualTables};
use crate::view::SessionView;

/// An account that knows of one schema, and may select from its tables.
pub struct Knows(pub &'static str);

impl Authorization for Knows {
    fn may_see(&self, _: &SessionState, schema: &str, _: Option<&str>) -> bool {
        schema == self.0
    }

    fn column_privileges(&self, _: &SessionState, schema: &str, table: &str) -> Option<String> {
        let is_secret = schema != self.0 || table == "secret";
        Some(if is_secret { "" } else { "select" }.to_owned())
    }
}

/// A server with these virtual tables, without rows.
pub struct Tables(pub &'static [&'static TableDecl]);

impl VirtualTables for Tables {
    fn virtual_tables(&self) -> Vec<&'static TableDecl> {
        self.0.to_vec()
    }

    fn find_virtual_table(&self, schema: &str, name: &str) -> Option<&'static TableDecl> {
        let is = |known: &str, name: &str| known.eq_ignore_ascii_case(name);
        self.0.iter().find(|table| is(table.schema, schema) && is(table.name, name)).copied()
    }

    fn virtual_rows(&self, _: SessionView<'_>, _: &TableDecl, _: &Wanted) -> Rows {
        Box::new(std::iter::empty())
    }
}
