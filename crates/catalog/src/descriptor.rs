//! Descriptors: what schemas, tables, columns and indexes are.
//!
//! [`TableDef`] is plain data: what a CREATE TABLE statement says, plus where the engine put it. [`Table`] is
//! a checked, immutable `TableDef` with what rows and keys need derived from it ([`RowLayout`],
//! [`KeyCodec`]); it is what everyone shares behind an `Arc`. A changed table is a new `Table`.
//!
//! Columns have two orders. Their position in [`TableDef::columns`] is the order SQL shows. Their
//! [`ordinal`](Column::ordinal) is where the row format keeps them; ordinals only ever grow, so ADD COLUMN
//! (at any position) and DROP COLUMN leave existing rows as they are.
//!
//! `indexes[0]` is the clustered index: the primary key, else a unique index without nullable columns, else
//! `GEN_CLUST_INDEX` over a hidden row id column ([`TableDef::add_row_id`]).

mod binary;
mod check;
mod partitions;
mod versions;
mod view;

use std::sync::Arc;

use palisade_base::{PageNo, SpaceId};

pub use binary::{DescriptorError, FORMAT_VERSION};
pub use check::{MAX_COLUMNS, MAX_INDEX_PARTS};
pub use partitions::{MAX_PARTITIONS, PartitionDef, PartitionSet};
pub use versions::{MAX_ROW_VERSIONS, RowVersions};
pub use view::{ViewAlgorithm, ViewCheck, ViewDef};

use crate::collation::CollationId;
use crate::histogram::Histogram;
use crate::key::{FixedEntries, KeyCodec};
use crate::row::RowLayout;
use crate::types::SqlType;
use crate::value::Value;

/// A schema (database).
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// Its name, as written.
    pub name: String,
    /// Default collation of its tables, which implies the character set.
    pub collation: CollationId,
}

/// How a column takes part in `SELECT *` and in INSERT without a column list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Visibility {
    /// An ordinary column.
    #[default]
    Visible,
    /// Declared INVISIBLE: only when named.
    Invisible,
    /// The engine's own (the hidden row id): never.
    System,
}

/// What a column gets when INSERT says nothing of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum DefaultValue {
    /// No default: NULL if nullable, else error 1364.
    #[default]
    None,
    /// DEFAULT NULL or a literal, already converted to the column's type.
    Literal(Value),
    /// CURRENT_TIMESTAMP with the column's digits.
    CurrentTimestamp,
    /// DEFAULT (expression), as text.
    Expression(String),
    /// None, of a nullable column: ALTER TABLE ... DROP DEFAULT has taken away what it had. Error 1364.
    Removed,
}

/// A generated column's expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// The expression as text.
    pub expression: String,
    /// STORED rather than VIRTUAL. A VIRTUAL column that has an ordinal is kept in the row all the same.
    pub stored: bool,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name, as written; compared without regard to case.
    pub name: String,
    /// Its type.
    pub sql_type: SqlType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// Value when none is given.
    pub default: DefaultValue,
    /// ON UPDATE CURRENT_TIMESTAMP.
    pub on_update_now: bool,
    /// AUTO_INCREMENT.
    pub auto_increment: bool,
    /// GENERATED ALWAYS AS.
    pub generated: Option<Generated>,
    /// Visible, INVISIBLE or the engine's own.
    pub visibility: Visibility,
    /// ZEROFILL (the type is unsigned then).
    pub zerofill: bool,
    /// Its declaration has a COLLATE, which SHOW CREATE TABLE repeats even where it says nothing new.
    pub names_collation: bool,
    /// Display width, if declared: INT(11).
    pub display_width: Option<u8>,
    /// COMMENT.
    pub comment: String,
    /// Where the row format keeps it; `None` for a VIRTUAL generated column. [`Table::new`] requires them
    /// distinct.
    pub ordinal: Option<u16>,
    /// Its value in rows that were written before the column was added.
    pub instant_default: Value,
    /// How its values are distributed, if ANALYZE TABLE ... UPDATE HISTOGRAM has looked.
    pub histogram: Option<Arc<Histogram>>,
}

impl Column {
    /// A nullable column without frills at row position `ordinal`.
    pub fn new(name: impl Into<String>, sql_type: SqlType, ordinal: u16) -> Column {
        Column {
            name: name.into(),
            sql_type,
            nullable: true,
            default: DefaultValue::None,
            on_update_now: false,
            auto_increment: false,
            generated: None,
            visibility: Visibility::Visible,
            zerofill: false,
            names_collation: false,
            display_width: None,
            comment: String::new(),
            ordinal: Some(ordinal),
            instant_default: Value::Null,
            histogram: None,
        }
    }

    /// Whether `name` is its name, without regard to case.
    pub fn is_called(&self, name: &str) -> bool {
        equal_fold(&self.name, name)
    }

    /// The type as COLUMN_TYPE and SHOW COLUMNS state it, display width and ZEROFILL included: MySQL shows a
    /// width only for `tinyint(1)` and with ZEROFILL.
    pub fn type_text(&self) -> String {
        let SqlType::Int { width, unsigned } = &self.sql_type else {
            return self.sql_type.declaration() + if self.zerofill { " zerofill" } else { "" };
        };
        let natural = crate::types::display_width(*width, *unsigned);
        let shown = self.display_width.map_or(natural, u32::from);
        let tiny_one = *width == crate::types::IntWidth::Tiny && !unsigned && shown == 1;
        if self.zerofill {
            format!("{}({shown}) unsigned zerofill", width.name())
        } else if tiny_one {
            "tinyint(1)".to_owned()
        } else {
            self.sql_type.declaration()
        }
    }

    /// The same column, NOT NULL.
    #[must_use]
    pub fn not_null(mut self) -> Column {
        self.nullable = false;
        self
    }
}

/// One column of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexPart {
    /// Position in [`TableDef::columns`].
    pub column: u16,
    /// Only the first so many characters (text) or bytes (binary).
    pub prefix: Option<u32>,
    /// DESC.
    pub descending: bool,
}

impl IndexPart {
    /// The whole of a column, ascending.
    pub fn of(column: u16) -> IndexPart {
        IndexPart { column, prefix: None, descending: false }
    }
}

/// An index.
#[derive(Debug, Clone, PartialEq)]
pub struct Index {
    /// Its name; `PRIMARY` for the primary key.
    pub name: String,
    /// What it orders by.
    pub parts: Vec<IndexPart>,
    /// PRIMARY KEY.
    pub primary: bool,
    /// UNIQUE (a primary key is).
    pub unique: bool,
    /// INVISIBLE to the optimizer.
    pub invisible: bool,
    /// Not shown to SQL at all (GEN_CLUST_INDEX).
    pub hidden: bool,
    /// Made because a foreign key needs an index and there was none: it goes when one comes that begins with
    /// its columns.
    pub implicit: bool,
    /// COMMENT.
    pub comment: String,
    /// Its trees, one for each of [`TableDef::partitions`]; none before the engine has made them.
    pub trees: Vec<IndexTree>,
}

/// The tree that holds an index's entries of one partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexTree {
    /// Unique among all trees of the server, never reused.
    pub id: u64,
    /// Its root page.
    pub root: PageNo,
}

impl Index {
    /// An index without frills; its trees are the engine's to make.
    pub fn new(name: impl Into<String>, parts: Vec<IndexPart>) -> Index {
        Index {
            name: name.into(),
            parts,
            primary: false,
            unique: false,
            invisible: false,
            hidden: false,
            implicit: false,
            comment: String::new(),
            trees: Vec::new(),
        }
    }

    /// The primary key.
    pub fn primary(parts: Vec<IndexPart>) -> Index {
        Index { primary: true, unique: true, ..Index::new("PRIMARY", parts) }
    }
}

/// Where a dropped column was, so that old rows still parse.
#[derive(Debug, Clone, PartialEq)]
pub struct DroppedColumn {
    /// Its place in the row format.
    pub ordinal: u16,
    /// Its type.
    pub sql_type: SqlType,
}

/// A CHECK constraint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// The condition as text.
    pub expression: String,
    /// Whether it is ENFORCED.
    pub enforced: bool,
}

/// A foreign key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignKey {
    /// Its name.
    pub name: String,
    /// Positions of the referencing columns.
    pub columns: Vec<u16>,
    /// Schema of the referenced table.
    pub referenced_schema: String,
    /// The referenced table.
    pub referenced_table: String,
    /// Names of the referenced columns.
    pub referenced_columns: Vec<String>,
    /// ON DELETE action as written, e.g. `CASCADE`; empty if not given.
    pub on_delete: String,
    /// ON UPDATE action as written; empty if not given.
    pub on_update: String,
}

/// All of a table, as plain data.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TableDef {
    /// Unique among all tables of the server, never reused.
    pub id: u64,
    /// Schema it belongs to.
    pub schema: String,
    /// Its name, as written.
    pub name: String,
    /// Columns in the order SQL shows.
    pub columns: Vec<Column>,
    /// Indexes; the first is the clustered one.
    pub indexes: Vec<Index>,
    /// Columns that old rows still carry.
    pub dropped: Vec<DroppedColumn>,
    /// How often columns came or went while the rows stayed as they were.
    pub versions: RowVersions,
    /// CHECK constraints.
    pub checks: Vec<Check>,
    /// Foreign keys.
    pub foreign_keys: Vec<ForeignKey>,
    /// Default collation, which implies the character set.
    pub collation: CollationId,
    /// COMMENT.
    pub comment: String,
    /// Other table options in the order given, names in upper case: `("ROW_FORMAT", "COMPRESSED")`.
    pub options: Vec<(String, String)>,
    /// PARTITION BY clause as text.
    pub partitioning: Option<String>,
    /// The parts that its rows are in. Of a table without PARTITION BY that is one, or none before the engine
    /// has made it.
    pub partitions: Vec<PartitionDef>,
    /// First AUTO_INCREMENT value to give, as of creation or ALTER.
    pub auto_increment: u64,
    /// When it was created, microseconds since the epoch.
    pub created_us: i64,
    /// For the engine: bytes that the catalog carries and does not read.
    pub engine_data: Vec<u8>,
}

/// Name of the clustered index of a table without a usable key.
pub const GENERATED_CLUSTERED_INDEX: &str = "GEN_CLUST_INDEX";
/// Name of the hidden row id column.
pub const ROW_ID_COLUMN: &str = "DB_ROW_ID";

impl TableDef {
    /// Position of the column called `name`, without regard to case.
    pub fn column_index(&self, name: &str) -> Option<usize> {
        self.columns
            .iter()
            .position(|column| column.name.eq_ignore_ascii_case(name) || equal_fold(&column.name, name))
    }

    /// The column that a part of an index or of a foreign key names by its position.
    #[expect(clippy::indexing_slicing, reason = "`Table::new` refuses keys over columns that are not there")]
    pub fn key_column(&self, position: u16) -> &Column {
        &self.columns[usize::from(position)]
    }

    /// Position of the index called `name`, without regard to case.
    pub fn index_number(&self, name: &str) -> Option<usize> {
        self.indexes.iter().position(|index| equal_fold(&index.name, name))
    }

    /// The value of a table option, by its upper-case name.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The spaces of its partitions.
    pub fn spaces(&self) -> impl Iterator<Item = SpaceId> {
        self.partitions.iter().map(|partition| partition.space)
    }

    /// The trees of its indexes in all partitions.
    pub fn trees(&self) -> impl Iterator<Item = &IndexTree> {
        self.indexes.iter().flat_map(|index| &index.trees)
    }

    /// Whether it has a partition, and each index a tree in each.
    pub fn is_placed(&self) -> bool {
        let count = self.partitions.len();
        count > 0 && self.indexes.iter().all(|index| index.trees.len() == count)
    }

    /// Position of the AUTO_INCREMENT column.
    pub fn auto_increment_column(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.auto_increment)
    }

    /// Position of the hidden row id column, if the table has one.
    pub fn row_id_column(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.visibility == Visibility::System)
    }

    /// The first ordinal not yet used: what a column added now gets.
    pub fn next_ordinal(&self) -> u16 {
        let columns = self.columns.iter().filter_map(|column| column.ordinal);
        let dropped = self.dropped.iter().map(|column| column.ordinal);
        columns.chain(dropped).max().map_or(0, |last| last + 1)
    }

    /// Brings the clustered index to the front: the primary key, else the first unique index over whole NOT
    /// NULL columns, else a generated index over a hidden row id column, which is added.
    pub fn choose_clustered_index(&mut self) {
        let chosen = self.clustering_position();
        match chosen {
            Some(position) => {
                let index = self.indexes.remove(position);
                self.indexes.insert(0, index);
            }
            None => self.add_row_id(),
        }
    }

    /// The declared index whose order the rows are kept in, once the clustered index is chosen; `None` if
    /// they are kept by a hidden row id.
    pub fn clustering_index(&self) -> Option<&Index> {
        self.clustering_position().and_then(|position| self.indexes.get(position))
    }

    /// The primary key, or the first unique index over whole columns that are NOT NULL.
    fn clustering_position(&self) -> Option<usize> {
        let not_null = |part: &IndexPart| {
            let column = self.columns.get(usize::from(part.column));
            part.prefix.is_none() && column.is_some_and(|column| !column.nullable)
        };
        let usable = |index: &Index| index.unique && !index.hidden && index.parts.iter().all(not_null);
        let primary = self.indexes.iter().position(|index| index.primary);
        primary.or_else(|| self.indexes.iter().position(usable))
    }

    /// Adds the hidden row id column (last) and the generated clustered index over it (first).
    pub fn add_row_id(&mut self) {
        let mut column = Column::new(ROW_ID_COLUMN, SqlType::BIGINT_UNSIGNED, self.next_ordinal()).not_null();
        column.visibility = Visibility::System;
        let position = self.columns.len() as u16;
        self.columns.push(column);
        let mut index = Index::new(GENERATED_CLUSTERED_INDEX, vec![IndexPart::of(position)]);
        index.unique = true;
        index.hidden = true;
        self.indexes.insert(0, index);
    }

    /// Gives the table another name. Names that were made of the old one follow, and so do foreign keys that
    /// refer to the table itself.
    pub fn rename(&mut self, schema: &str, name: &str) {
        let old = (std::mem::replace(&mut self.schema, schema.to_owned()), std::mem::take(&mut self.name));
        name.clone_into(&mut self.name);
        self.retarget((&old.0, &old.1), (schema, name));
        let follow = |constraint: &mut String, kind: &str| {
            if let Some(number) = constraint.strip_prefix(&format!("{}{kind}", old.1)) {
                *constraint = format!("{name}{kind}{number}");
            }
        };
        self.checks.iter_mut().for_each(|check| follow(&mut check.name, "_chk_"));
        self.foreign_keys.iter_mut().for_each(|key| follow(&mut key.name, "_ibfk_"));
    }

    /// Foreign keys that refer to the table `from` (schema, name) refer to `to` from now on.
    pub fn retarget(&mut self, from: (&str, &str), to: (&str, &str)) {
        for key in &mut self.foreign_keys {
            if (key.referenced_schema.as_str(), key.referenced_table.as_str()) == from {
                (key.referenced_schema, key.referenced_table) = (to.0.to_owned(), to.1.to_owned());
            }
        }
    }

    /// The versioned binary form.
    pub fn to_bytes(&self) -> Vec<u8> {
        binary::encode_table(self)
    }

    /// Reads the binary form of this or an earlier version. Never panics, whatever the bytes are.
    pub fn from_bytes(bytes: &[u8]) -> Result<TableDef, DescriptorError> {
        binary::decode_table(bytes)
    }
}

impl Schema {
    /// The versioned binary form.
    pub fn to_bytes(&self) -> Vec<u8> {
        binary::encode_schema(self)
    }

    /// Reads the binary form of this or an earlier version. Never panics.
    pub fn from_bytes(bytes: &[u8]) -> Result<Schema, DescriptorError> {
        binary::decode_schema(bytes)
    }
}

fn equal_fold(left: &str, right: &str) -> bool {
    left.len() == right.len() && left.eq_ignore_ascii_case(right)
        || !(left.is_ascii() && right.is_ascii()) && left.to_lowercase() == right.to_lowercase()
}

/// A checked table with everything that rows and keys need, ready to be shared.
#[derive(Debug)]
pub struct Table {
    def: TableDef,
    layout: RowLayout,
    codecs: Vec<KeyCodec>,
    /// Of each index whose entries become rows without being decoded.
    fixed_entries: Vec<Option<FixedEntries>>,
}

impl Table {
    /// Checks the definition and derives the rest.
    pub fn new(def: TableDef) -> Result<Table, DescriptorError> {
        check::check(&def)?;
        let layout = RowLayout::new(&def)?;
        let codecs = (0..def.indexes.len()).map(|number| KeyCodec::new(&def, number)).collect();
        let mut table = Table { def, layout, codecs, fixed_entries: Vec::new() };
        table.fixed_entries = table.codecs.iter().map(|codec| FixedEntries::new(&table, codec)).collect();
        Ok(table)
    }

    /// The definition.
    pub fn def(&self) -> &TableDef {
        &self.def
    }

    /// Where the row format keeps each column.
    pub fn layout(&self) -> &RowLayout {
        &self.layout
    }

    /// How keys of index `number` are encoded.
    ///
    /// # Panics
    /// If there is no such index.
    #[expect(
        clippy::indexing_slicing,
        reason = "there is a codec for each index; numbers come from the same definition"
    )]
    pub fn key_codec(&self, number: usize) -> &KeyCodec {
        &self.codecs[number]
    }

    /// How entries of an index become rows, if they need not be decoded.
    #[inline]
    pub(crate) fn fixed_entries(&self, number: usize) -> Option<&FixedEntries> {
        self.fixed_entries.get(number)?.as_ref()
    }
}

impl std::ops::Deref for Table {
    type Target = TableDef;
    fn deref(&self) -> &TableDef {
        &self.def
    }
}

impl PartialEq for Table {
    fn eq(&self, other: &Table) -> bool {
        self.def == other.def
    }
}

#[cfg(test)]
mod tests;
