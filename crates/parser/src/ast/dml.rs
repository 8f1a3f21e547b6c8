//! INSERT, REPLACE, UPDATE, DELETE, LOAD DATA, CALL, HANDLER.

use super::{ColumnName, Expr, Limit, Name, ObjectName, OrderItem, Query, SelectItem, TableReference, With};

/// INSERT and REPLACE.
#[derive(Debug, Clone, PartialEq)]
pub struct Insert {
    /// REPLACE.
    pub replace: bool,
    /// LOW_PRIORITY, DELAYED, HIGH_PRIORITY: accepted, without effect.
    pub priority: Option<InsertPriority>,
    /// IGNORE.
    pub ignore: bool,
    /// Into what.
    pub table: ObjectName,
    /// PARTITION (p0, p1); empty for all.
    pub partitions: Vec<Name>,
    /// The columns named; empty when all are meant.
    pub columns: Vec<ColumnName>,
    /// Where the rows come from.
    pub source: InsertSource,
    /// `AS new(m, n)` after VALUES or SET.
    pub row_alias: Option<RowAlias>,
    /// ON DUPLICATE KEY UPDATE.
    pub on_duplicate: Vec<ColumnAssignment>,
    /// RETURNING, as in MariaDB; empty without it.
    pub returning: Vec<SelectItem>,
}

/// Priorities of INSERT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum InsertPriority {
    Low,
    Delayed,
    High,
}

/// Where inserted rows come from.
#[derive(Debug, Clone, PartialEq)]
pub enum InsertSource {
    /// VALUES (...), (...). Values may be [`Expr::Default`]. INSERT ... SET a = 1 is columns and one row.
    Values(Vec<Vec<Expr>>),
    /// SELECT, TABLE, VALUES ROW(), WITH.
    Query(Box<Query>),
}

/// The name of the row being inserted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowAlias {
    /// Its name.
    pub name: Name,
    /// Names of its columns; empty for the table's own.
    pub columns: Vec<Name>,
}

/// `column = value`. The value may be [`Expr::Default`].
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct ColumnAssignment {
    pub column: ColumnName,
    pub value: Expr,
}

/// UPDATE.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// WITH.
    pub with: Option<With>,
    /// LOW_PRIORITY.
    pub low_priority: bool,
    /// IGNORE.
    pub ignore: bool,
    /// One table, or a join or list of several.
    pub tables: Vec<TableReference>,
    /// SET; at least one.
    pub assignments: Vec<ColumnAssignment>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// ORDER BY, with one table only (error 1221 otherwise is the binder's).
    pub order_by: Vec<OrderItem>,
    /// LIMIT count, with one table only.
    pub limit: Option<Limit>,
    /// RETURNING, with one table only; empty without it.
    pub returning: Vec<SelectItem>,
}

/// DELETE.
#[derive(Debug, Clone, PartialEq)]
pub struct Delete {
    /// WITH.
    pub with: Option<With>,
    /// LOW_PRIORITY.
    pub low_priority: bool,
    /// QUICK.
    pub quick: bool,
    /// IGNORE.
    pub ignore: bool,
    /// From what.
    pub target: DeleteTarget,
    /// WHERE.
    pub filter: Option<Expr>,
    /// ORDER BY; single-table only.
    pub order_by: Vec<OrderItem>,
    /// LIMIT count; single-table only.
    pub limit: Option<Limit>,
    /// RETURNING; single-table only, empty without it.
    pub returning: Vec<SelectItem>,
}

/// What DELETE deletes from.
#[derive(Debug, Clone, PartialEq)]
pub enum DeleteTarget {
    /// DELETE FROM t [AS alias] [PARTITION (...)].
    Single(TableReference),
    /// DELETE t1, t2 FROM tables; DELETE FROM t1, t2 USING tables.
    Multi {
        /// Tables or aliases whose rows go.
        targets: Vec<ObjectName>,
        /// What is joined to find them.
        tables: Vec<TableReference>,
    },
}

/// LOAD DATA and LOAD XML.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadData {
    /// LOAD XML.
    pub xml: bool,
    /// LOW_PRIORITY or CONCURRENT.
    pub priority: Option<LoadPriority>,
    /// LOCAL: the client sends the file.
    pub local: bool,
    /// Its name.
    pub path: Vec<u8>,
    /// REPLACE or IGNORE.
    pub duplicates: Option<LoadDuplicates>,
    /// Into what.
    pub table: ObjectName,
    /// PARTITION.
    pub partitions: Vec<Name>,
    /// How to read the file.
    pub format: LoadFormat,
    /// ROWS IDENTIFIED BY, for XML.
    pub rows_identified_by: Option<Vec<u8>>,
    /// IGNORE n LINES.
    pub ignore_lines: u64,
    /// Columns and variables the fields go to; empty for all columns.
    pub fields: Vec<LoadField>,
    /// SET.
    pub assignments: Vec<ColumnAssignment>,
}

/// Priorities of LOAD DATA.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum LoadPriority {
    Low,
    Concurrent,
}

/// What LOAD DATA does about duplicate keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum LoadDuplicates {
    Replace,
    Ignore,
}

/// Where a field goes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub enum LoadField {
    Column(ColumnName),
    UserVariable(Name),
}

/// Format of LOAD DATA and SELECT INTO OUTFILE; `None` is MySQL's default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct LoadFormat {
    pub charset: Option<Name>,
    pub fields_terminated: Option<Vec<u8>>,
    pub enclosed: Option<Vec<u8>>,
    pub optionally_enclosed: bool,
    pub escaped: Option<Vec<u8>>,
    pub lines_starting: Option<Vec<u8>>,
    pub lines_terminated: Option<Vec<u8>>,
}

/// CALL.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct Call {
    pub procedure: ObjectName,
    pub arguments: Vec<Expr>,
}

/// HANDLER.
#[derive(Debug, Clone, PartialEq)]
pub struct Handler {
    /// The table, or the alias it was opened under.
    pub table: ObjectName,
    /// What to do with it.
    pub action: HandlerAction,
}

/// What HANDLER does.
#[derive(Debug, Clone, PartialEq)]
pub enum HandlerAction {
    /// OPEN [AS alias].
    Open(Option<Name>),
    /// READ.
    Read {
        /// The index; the table's own order without one.
        index: Option<Name>,
        /// Where to.
        position: HandlerPosition,
        /// WHERE.
        filter: Option<Expr>,
        /// LIMIT.
        limit: Option<Limit>,
    },
    /// CLOSE.
    Close,
}

/// Where HANDLER READ goes.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum HandlerPosition {
    First,
    Next,
    Previous,
    Last,
    /// `= (values)`, `<= (values)`, ...
    Key(super::BinaryOp, Vec<Expr>),
}
