//! Views: a query that stands for a table, as it was when the view was made.
//!
//! The binary form is a version byte and the fields in order, as that of other descriptors
//! (`binary`); it has a version of its own.

use super::binary::{self, DescriptorError};
use crate::collation::CollationId;

/// How a statement uses a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ViewAlgorithm {
    /// As the server likes.
    #[default]
    Undefined,
    /// Its query becomes part of the statement.
    Merge,
    /// Its rows are made first.
    TempTable,
}

impl ViewAlgorithm {
    /// All, by their number in the binary form.
    const ALL: [ViewAlgorithm; 3] =
        [ViewAlgorithm::Undefined, ViewAlgorithm::Merge, ViewAlgorithm::TempTable];

    /// As SQL writes it.
    pub fn name(self) -> &'static str {
        match self {
            ViewAlgorithm::Undefined => "UNDEFINED",
            ViewAlgorithm::Merge => "MERGE",
            ViewAlgorithm::TempTable => "TEMPTABLE",
        }
    }

    /// The one of a name in any case.
    pub fn of_name(name: &str) -> Option<ViewAlgorithm> {
        Self::ALL.into_iter().find(|known| known.name().eq_ignore_ascii_case(name))
    }
}

/// What rows may be written through a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ViewCheck {
    /// All.
    #[default]
    None,
    /// Those that the view shows, by its own condition.
    Local,
    /// Those that the view shows, by all conditions of the views below it, too.
    Cascaded,
}

impl ViewCheck {
    const ALL: [ViewCheck; 3] = [ViewCheck::None, ViewCheck::Local, ViewCheck::Cascaded];

    /// As information_schema writes it.
    pub fn name(self) -> &'static str {
        match self {
            ViewCheck::None => "NONE",
            ViewCheck::Local => "LOCAL",
            ViewCheck::Cascaded => "CASCADED",
        }
    }
}

/// A view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewDef {
    /// Schema it belongs to.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// A SELECT in the default modes of SQL; all names in it are qualified, and no `*` is left.
    pub query: String,
    /// The tables and views in it: schema and name.
    pub tables: Vec<(String, String)>,
    /// All of these are of its own schema, whose name no alias has: shown where that is the default one, the
    /// query does without it.
    pub is_local: bool,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// The statement that made it named the columns in a list.
    pub lists_columns: bool,
    /// ALGORITHM.
    pub algorithm: ViewAlgorithm,
    /// WITH CHECK OPTION.
    pub check: ViewCheck,
    /// Rows can be changed through it.
    pub is_updatable: bool,
    /// DEFINER: user and host, with `@` between them.
    pub definer: String,
    /// SQL SECURITY INVOKER: the tables below it are read as the account that names the view, not as its
    /// definer.
    pub is_invokers: bool,
    /// `character_set_client` of the session that made it, as that character set's default collation.
    pub client_collation: CollationId,
    /// `collation_connection` of that session: that of the constants in the query.
    pub connection_collation: CollationId,
    /// When it was made, microseconds since 1970.
    pub created_us: i64,
}

impl ViewDef {
    /// The versioned binary form.
    pub fn to_bytes(&self) -> Vec<u8> {
        binary::encode_view(self)
    }

    /// Reads the binary form. Never panics, whatever the bytes are.
    pub fn from_bytes(bytes: &[u8]) -> Result<ViewDef, DescriptorError> {
        binary::decode_view(bytes)
    }

    /// User and host of the definer.
    pub fn definer_parts(&self) -> (&str, &str) {
        self.definer.rsplit_once('@').unwrap_or((&self.definer, ""))
    }
}

macro_rules! by_number {
    ($type:ident) => {
        impl $type {
            pub(super) fn number(self) -> u8 {
                Self::ALL.iter().position(|known| *known == self).unwrap_or_default() as u8
            }

            pub(super) fn of_number(number: u8) -> Option<$type> {
                Self::ALL.get(usize::from(number)).copied()
            }
        }
    };
}

by_number!(ViewAlgorithm);
by_number!(ViewCheck);
