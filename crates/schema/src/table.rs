//! A table's declaration and definition, and the registry of definitions.

use std::sync::Arc;

use palisade_catalog::Value;

use crate::{Change, ChangeKind, Changed, Changes, ColumnDecl, Named, Wanted};

/// A row: one value per column.
pub type Row = Arc<[Value]>;

/// Rows, made one by one as they are pulled; they own what they are made from.
pub type Rows = Box<dyn Iterator<Item = Row> + Send>;

/// What a virtual table is called, and what it has.
#[derive(Debug, PartialEq, Eq)]
pub struct TableDecl {
    /// Its schema.
    pub schema: &'static str,
    /// Its name, as it is shown.
    pub name: &'static str,
    /// Its columns.
    pub columns: &'static [ColumnDecl],
}

impl TableDecl {
    /// The position of a column.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// The position of the first column that names a schema or a table.
    pub fn place_of(&self, named: Named) -> Option<usize> {
        self.columns.iter().position(|column| column.named() == Some(named))
    }

    /// Whether it has that name, in any case.
    pub fn is_called(&self, schema: &str, name: &str) -> bool {
        self.schema.eq_ignore_ascii_case(schema) && self.name.eq_ignore_ascii_case(name)
    }
}

/// What definitions take their rows from.
pub trait Origin: 'static {
    /// What a statement lends them while rows are begun. What rows need later they take with them.
    type Source<'a>;
}

/// A virtual table: its declaration, and how its rows are made.
pub struct Definition<O: Origin> {
    /// Its declaration.
    pub declaration: &'static TableDecl,
    /// Its rows, of which some may be left out that are not wanted.
    pub rows: for<'a> fn(&O::Source<'a>, &Wanted) -> Rows,
    /// What TRUNCATE TABLE does, if it may be said of it.
    pub truncate: Option<for<'a> fn(&O::Source<'a>)>,
    /// Changes of its rows, if there may be any.
    pub changes: Option<Changes<O>>,
}

impl<O: Origin> Definition<O> {
    /// A table with rows.
    pub const fn new(
        declaration: &'static TableDecl,
        rows: for<'a> fn(&O::Source<'a>, &Wanted) -> Rows,
    ) -> Definition<O> {
        Definition { declaration, rows, truncate: None, changes: None }
    }

    /// The same table, of which TRUNCATE TABLE does that.
    pub const fn truncated_by(mut self, truncate: for<'a> fn(&O::Source<'a>)) -> Definition<O> {
        self.truncate = Some(truncate);
        self
    }

    /// The same table, of which rows may be changed.
    pub const fn changed_by(
        mut self,
        kinds: &'static [ChangeKind],
        make: for<'a, 'c> fn(&O::Source<'a>, &Change<'c>) -> Changed,
    ) -> Definition<O> {
        self.changes = Some(Changes { kinds, make });
        self
    }

    /// A table of which there is never a row.
    pub const fn empty(declaration: &'static TableDecl) -> Definition<O> {
        Definition::new(declaration, |_, _| Box::new(std::iter::empty()))
    }
}

/// All definitions over one origin, in groups.
pub struct Registry<O: Origin> {
    /// Those that information_schema lists.
    pub listed: &'static [&'static [Definition<O>]],
    /// Those that are found by their names only.
    pub unlisted: &'static [&'static [Definition<O>]],
}

impl<O: Origin> Registry<O> {
    /// The declarations that information_schema lists.
    pub fn declarations(&self) -> impl Iterator<Item = &'static TableDecl> + use<O> {
        self.listed.iter().copied().flatten().map(|definition| definition.declaration)
    }

    fn all(&self) -> impl Iterator<Item = &'static Definition<O>> + use<O> {
        self.listed.iter().chain(self.unlisted).copied().flatten()
    }

    /// The declaration of that name, in any case.
    pub fn find(&self, schema: &str, name: &str) -> Option<&'static TableDecl> {
        self.all().map(|definition| definition.declaration).find(|known| known.is_called(schema, name))
    }

    /// The rows of a table; `None` if it is not defined here.
    pub fn rows(&self, table: &TableDecl, source: &O::Source<'_>, wanted: &Wanted) -> Option<Rows> {
        let definition = self.all().find(|definition| std::ptr::eq(definition.declaration, table))?;
        Some((definition.rows)(source, wanted))
    }

    fn changes(&self, table: &TableDecl) -> Option<&'static Changes<O>> {
        let definition = self.all().find(|definition| std::ptr::eq(definition.declaration, table))?;
        definition.changes.as_ref()
    }

    /// Whether the rows of a table may be changed so.
    pub fn allows(&self, table: &TableDecl, kind: ChangeKind) -> bool {
        self.changes(table).is_some_and(|changes| changes.kinds.contains(&kind))
    }

    /// Changes a row.
    pub fn change(&self, table: &TableDecl, source: &O::Source<'_>, change: &Change<'_>) -> Changed {
        self.changes(table).map_or(Changed::Refused, |changes| (changes.make)(source, change))
    }

    /// TRUNCATE TABLE; false if it may not be said of the table.
    pub fn truncate(&self, table: &TableDecl, source: &O::Source<'_>) -> bool {
        let definition = self.all().find(|definition| std::ptr::eq(definition.declaration, table));
        let truncate = definition.and_then(|definition| definition.truncate);
        truncate.map(|truncate| truncate(source)).is_some()
    }
}
