//! What a statement wants of a virtual table.

use palisade_catalog::{Charset, CollationId};

use crate::{Named, TableDecl};

/// Which columns a statement reads, and which schemas and tables its conditions leave.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// By position; all of them if there is none.
    columns: Option<Box<[bool]>>,
    /// Names of schemas.
    pub schemas: Names,
    /// Names of tables.
    pub tables: Names,
}

impl Wanted {
    /// All columns of all rows.
    pub fn everything() -> Wanted {
        Wanted::default()
    }

    /// These columns of all rows.
    pub fn columns(table: &TableDecl, columns: impl IntoIterator<Item = usize>) -> Wanted {
        let mut is_wanted = vec![false; table.columns.len()];
        for column in columns {
            if let Some(is_wanted) = is_wanted.get_mut(column) {
                *is_wanted = true;
            }
        }
        Wanted { columns: Some(is_wanted.into()), ..Wanted::default() }
    }

    /// Whether the value of a column is wanted.
    pub fn has(&self, column: usize) -> bool {
        self.columns.as_ref().is_none_or(|columns| columns.get(column).copied().unwrap_or(false))
    }

    /// Wants a column, too.
    pub fn add_column(&mut self, column: usize) {
        if let Some(is_wanted) = self.columns.as_mut().and_then(|columns| columns.get_mut(column)) {
            *is_wanted = true;
        }
    }

    /// The names of schemas or of tables.
    pub fn names_mut(&mut self, named: Named) -> &mut Names {
        match named {
            Named::Schema => &mut self.schemas,
            Named::Table => &mut self.tables,
        }
    }

    /// Whether a table of that name in that schema may be among what is wanted.
    pub fn admits(&self, schema: &str, table: &str) -> bool {
        self.schemas.admits(schema) && self.tables.admits(table)
    }
}

/// Names that conditions leave.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// A name must be in each of these lists.
    lists: Vec<List>,
}

/// Names of which a condition wants one.
#[derive(Debug, Clone)]
struct List {
    /// How the condition compares.
    collation: CollationId,
    names: Vec<Vec<u8>>,
}

impl List {
    fn has(&self, name: &str) -> bool {
        let collation = self.collation.get();
        self.names.iter().any(|wanted| collation.equal(wanted, name.as_bytes()))
    }
}

/// Whether in a collation only bytes that are equal are equal, but for spaces at the end: names are looked up
/// then, while in another one each name that there is has to be compared.
pub fn is_exact(collation: CollationId) -> bool {
    const EXACT: [CollationId; 4] = [
        CollationId::UTF8MB3_BIN,
        CollationId::UTF8MB4_BIN,
        CollationId::UTF8MB4_0900_BIN,
        CollationId::BINARY,
    ];
    EXACT.contains(&collation)
}

impl Names {
    /// Only this name, byte by byte.
    pub fn only(name: impl Into<Vec<u8>>) -> Names {
        let mut names = Names::default();
        names.narrow(CollationId::UTF8MB4_0900_BIN, vec![name.into()]);
        names
    }

    /// Leaves only names that are equal to one of these in a collation, which is one of UTF-8 or of bytes: of
    /// another one names may be anything.
    pub fn narrow(&mut self, collation: CollationId, names: Vec<Vec<u8>>) {
        if matches!(collation.get().charset, Charset::Utf8mb3 | Charset::Utf8mb4 | Charset::Binary) {
            self.lists.push(List { collation, names });
        }
    }

    /// Whether a name may be among what is wanted.
    pub fn admits(&self, name: &str) -> bool {
        self.lists.iter().all(|list| list.has(name))
    }

    /// The only names that there can be, in order and each once; `None` if the conditions do not say. So each
    /// is looked up, instead of looking at all there are.
    pub fn exact(&self) -> Option<Vec<&str>> {
        let at = self.lists.iter().position(|list| is_exact(list.collation))?;
        let (before, from) = self.lists.split_at_checked(at)?;
        let (list, after) = from.split_first()?;
        let others = || before.iter().chain(after);
        // No name ends in a space, which some collations take no notice of.
        let own = |name: &'_ Vec<u8>, trimmed: &str| list.collation.get().equal(name, trimmed.as_bytes());
        let trimmed = list.names.iter().filter_map(|name| {
            let trimmed = std::str::from_utf8(name).ok()?.trim_end_matches(' ');
            own(name, trimmed).then_some(trimmed)
        });
        let mut names: Vec<&str> = trimmed.filter(|name| others().all(|list| list.has(name))).collect();
        names.sort_unstable();
        names.dedup();
        Some(names)
    }
}
