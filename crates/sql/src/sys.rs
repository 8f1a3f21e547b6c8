//! The schema sys: views over performance_schema and information_schema that say what a DBA asks.
//!
//! | module | views |
//! |---|---|
//! | [`statements`] | statements by digest |
//! | [`tables`] | use of tables and indexes |
//! | [`definitions`] | indexes that say the same, AUTO_INCREMENT, objects by kind |
//! | [`people`] | accounts, hosts |
//! | [`sessions`] | sessions |
//! | [`locks`] | who waits for whom |
//! | [`files`] | what is done to files |
//! | [`waits`] | what is waited for |
//! | [`memory`] | what memory is for |
//! | [`server`] | versions, all counters, settings of sys |
//!
//! A view is bound as the query that it is ([`palisade_schema::view`](mod@palisade_schema::view)); the
//! declared types of its columns are MySQL's. It asks as the account that reads it, as MySQL's do (SQL
//! SECURITY INVOKER): who reads a view needs SELECT on the tables below it, too.

mod definitions;
mod files;
mod locks;
mod memory;
mod people;
mod server;
mod sessions;
mod statements;
mod tables;
mod waits;

use palisade_schema::{TableDecl, View};
use palisade_session::virtual_tables::{SYS, StoredQuery};

pub(crate) use server::TABLES;

/// All of them, by subject.
static VIEWS: &[&[&View]] = &[
    statements::VIEWS,
    tables::VIEWS,
    definitions::VIEWS,
    people::VIEWS,
    sessions::VIEWS,
    locks::VIEWS,
    files::VIEWS,
    waits::VIEWS,
    memory::VIEWS,
    server::VIEWS,
];

fn views() -> impl Iterator<Item = &'static View> {
    VIEWS.iter().copied().flatten().copied()
}

/// The declarations of the views.
pub(crate) fn declarations() -> impl Iterator<Item = &'static TableDecl> {
    views().flat_map(View::declarations)
}

/// The declaration of a view.
pub(crate) fn find(schema: &str, name: &str) -> Option<&'static TableDecl> {
    if !schema.eq_ignore_ascii_case(SYS) {
        return None;
    }
    declarations().find(|known| known.is_called(schema, name))
}

/// The query of a view.
pub(crate) fn view(schema: &str, name: &str) -> Option<StoredQuery> {
    let declaration = find(schema, name)?;
    let is_it = |other: &TableDecl| std::ptr::eq(other, declaration);
    let view = views().find(|view| view.declarations().any(is_it))?;
    Some(StoredQuery {
        schema: declaration.schema.to_owned(),
        name: declaration.name.to_owned(),
        text: view.query(!is_it(view.declaration)),
    })
}

/// Whether a virtual table is a view.
pub(crate) fn is_view(table: &TableDecl) -> bool {
    table.schema == SYS && declarations().any(|view| std::ptr::eq(view, table))
}

#[cfg(test)]
mod tests;
