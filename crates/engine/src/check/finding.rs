//! What a check finds, in the words of a DBA: where it is, what is wrong, what is lost by it, and what to do.

use palisade_base::{PageNo, SpaceId};
use palisade_buffer::PageSize;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is wrong, or the next start puts it right.
    Note,
    /// Something is not as it should be, and nothing is lost by it.
    Warning,
    /// Something is lost.
    Damage,
}

impl Severity {
    /// As it is written in reports.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Damage => "damage",
        }
    }
}

/// Declares [`Kind`]: each with its name in reports.
macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// What is found. The names are part of the JSON report: they do not change.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind { $($(#[$doc])* $variant,)* }

        impl Kind {
            /// All kinds.
            pub const ALL: &[Kind] = &[$(Kind::$variant,)*];

            /// As it is written in reports.
            pub fn name(self) -> &'static str {
                match self { $(Kind::$variant => $name,)* }
            }
        }
    };
}

kinds! {
    /// `palisade.data` does not say what it should.
    Marker = "marker",
    /// The directory was not shut down; what recovery will do was done in memory.
    NeedsRecovery = "needs_recovery",
    /// Something was not checked, and why.
    NotChecked = "not_checked",
    /// The redo log ends in something that was never written whole and never promised.
    LogTornEnd = "log_torn_end",
    /// The redo log cannot be read to its end.
    LogDamaged = "log_damaged",
    /// One of the two checkpoint records is damaged.
    CheckpointRecord = "checkpoint_record",
    /// A file of the redo log that cannot be one of its segments.
    LogFile = "log_file",
    /// A copy in the doublewrite file is not whole.
    DoublewriteCopy = "doublewrite_copy",
    /// The bytes of a page do not match its checksum, or cannot be read.
    PageChecksum = "page_checksum",
    /// A whole page in the place of another one.
    PageIdentity = "page_identity",
    /// A page that says that it was changed after the end of the redo log.
    PageLsn = "page_lsn",
    /// A page whose checksum is right and whose content cannot be.
    PageContent = "page_content",
    /// A damaged page that nothing uses.
    FreePage = "free_page",
    /// A damaged page that recovery makes whole.
    PageRestored = "page_restored",
    /// A file whose length is not one of whole pages.
    FileLength = "file_length",
    /// Where the pages of a table that is written out of place are cannot be told.
    Map = "map",
    /// A table's file is not there.
    FileMissing = "file_missing",
    /// A file that belongs to no table.
    FileUnknown = "file_unknown",
    /// The first pages of a table's file cannot be used.
    FirstPages = "first_pages",
    /// The dictionary cannot be read.
    DictionaryUnreadable = "dictionary_unreadable",
    /// Rows of the dictionary contradict each other.
    DictionaryEntry = "dictionary_entry",
    /// The copy of a table's definition in its file is missing, damaged, or another one.
    DefinitionCopy = "definition_copy",
    /// A node of a B+tree is damaged, or the tree does not hang together.
    Tree = "tree",
    /// A row cannot be read.
    Row = "row",
    /// Rows are older than undo says.
    StaleRows = "stale_rows",
    /// An index does not have the rows that the table has.
    IndexRows = "index_rows",
    /// A long row's chain of overflow pages is broken.
    OverflowChain = "overflow_chain",
    /// The extent maps do not say what is in use.
    SpaceMap = "space_map",
    /// Pages that are in use according to the maps, and that nothing uses.
    LeakedPages = "leaked_pages",
    /// Undo cannot be used, or its segments are damaged.
    Undo = "undo",
    /// The accounts' tables can be read and do not make sense.
    Accounts = "accounts",
}

/// Where it is. What does not apply is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, relative to the data directory.
    pub file: Option<String>,
    /// The space.
    pub space: Option<SpaceId>,
    /// The schema.
    pub schema: Option<String>,
    /// The table.
    pub table: Option<String>,
    /// The index.
    pub index: Option<String>,
    /// The page in the file.
    pub page: Option<PageNo>,
    /// The byte in the file at which it begins.
    pub offset: Option<u64>,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What it is.
    pub kind: Kind,
    /// Where it is.
    pub place: Place,
    /// What is wrong, in words.
    pub what: String,
    /// What is lost, in words; empty if nothing is.
    pub lost: &'static str,
    /// What to do, in words; empty if nothing need be done.
    pub advice: &'static str,
}

/// Whose the damaged page or structure is: decides what is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The index that holds the rows, on this level.
    Clustered(u16),
    /// Another index.
    Secondary,
    /// Header, maps and information page of a table's file.
    FirstPages,
    /// A long row.
    Chain,
    /// The dictionary.
    Dictionary,
    /// Undo.
    Undo,
    /// It is not known.
    Unknown,
}

impl Owner {
    /// What is lost with a page of it.
    pub(crate) fn lost(self) -> &'static str {
        match self {
            Owner::Clustered(0) => "the rows on this page",
            Owner::Clustered(_) => "the way to the rows on the pages below this one",
            Owner::Secondary => "nothing: the index can be made again from the rows",
            Owner::FirstPages => "the account of the file's pages; the rows may all be there",
            Owner::Chain => "the row that has its long values there",
            Owner::Dictionary => "nothing, if the tables' files are whole: each has a copy of its definition",
            Owner::Undo => "old versions of rows, and the way to roll back what had not ended",
            Owner::Unknown => "",
        }
    }

    /// What to do about it.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            Owner::Clustered(_) | Owner::Chain | Owner::FirstPages => {
                "dump the table with innodb_force_recovery=1, DROP it without, and load the dump"
            }
            Owner::Secondary => {
                "DROP the index and CREATE it again; for a FOREIGN KEY or a UNIQUE KEY, rebuild the table"
            }
            Owner::Dictionary => {
                "start with innodb_force_recovery=1, which makes the dictionary again, and then without"
            }
            Owner::Undo => "dump with innodb_force_recovery=5 and load the dump into a new data directory",
            Owner::Unknown => "restore the file from a backup, or dump what can be read (docs/recovery.md)",
        }
    }
}

impl Finding {
    /// Damage of something that is `owner`'s.
    pub(crate) fn damage(kind: Kind, place: Place, owner: Owner, what: impl Into<String>) -> Finding {
        let (lost, advice) = (owner.lost(), owner.advice());
        Finding { severity: Severity::Damage, kind, place, what: what.into(), lost, advice }
    }

    /// Something that is not as it should be, without loss.
    pub(crate) fn warning(
        kind: Kind,
        place: Place,
        what: impl Into<String>,
        advice: &'static str,
    ) -> Finding {
        Finding { severity: Severity::Warning, kind, place, what: what.into(), lost: "", advice }
    }

    /// Something to know.
    pub(crate) fn note(kind: Kind, place: Place, what: impl Into<String>) -> Finding {
        Finding { severity: Severity::Note, kind, place, what: what.into(), lost: "", advice: "" }
    }
}

impl Place {
    /// The place of a page of the same space.
    pub(crate) fn at(self, page: PageNo, size: PageSize) -> Place {
        Place { page: Some(page), offset: Some(size.offset(page)), ..self }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut parts = Vec::new();
        if let (Some(schema), Some(table)) = (&self.schema, &self.table) {
            parts.push(format!("`{schema}`.`{table}`"));
        }
        if let Some(index) = &self.index {
            parts.push(format!("index {index}"));
        }
        if let Some(file) = &self.file {
            parts.push(file.clone());
        }
        match (self.page, self.space) {
            (Some(page), Some(space)) => parts.push(format!("page {}:{}", space.0, page.0)),
            (Some(page), None) => parts.push(format!("page {}", page.0)),
            _ => {}
        }
        if let Some(offset) = self.offset {
            parts.push(format!("at byte {offset}"));
        }
        f.write_str(&parts.join(", "))
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = self.place.to_string();
        if place.is_empty() { write!(f, "{}", self.what) } else { write!(f, "{place}: {}", self.what) }
    }
}
