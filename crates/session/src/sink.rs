//! Where result rows go: straight into the server's packet buffer.

use std::any::Any;
use std::ops::{Deref, Range};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use palisade_base::error_catalogue::ER_CLIENT_LOCAL_FILES_DISABLED;
use palisade_base::mysql_error;
use palisade_catalog::{RowView, SqlType, Table, ValueRef};
use palisade_engine::RowBatch;
use palisade_expr::SqlResult;

use crate::BoxFuture;

/// What the client is told about a column of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnMeta {
    /// Database of the base column; empty for expressions.
    pub schema: String,
    /// Alias of the table.
    pub table: String,
    /// Name of the base table.
    pub org_table: String,
    /// Alias, or the expression's text.
    pub name: String,
    /// Name of the base column.
    pub org_name: String,
    /// Its type: wire code, length, decimals and collation follow from it.
    pub ty: SqlType,
    /// Flags of the protocol ([`palisade_catalog::types::flags`]): those of the type and those of the column.
    pub flags: u16,
    /// Length to report instead of the type's: display width of literals and computed strings, in characters.
    pub display_width: Option<u32>,
}

impl ColumnMeta {
    /// A computed column.
    pub fn computed(name: impl Into<String>, ty: SqlType) -> Self {
        let flags = ty.wire_flags();
        ColumnMeta {
            schema: String::new(),
            table: String::new(),
            org_table: String::new(),
            name: name.into(),
            org_name: String::new(),
            ty,
            flags,
            display_width: None,
        }
    }
}

/// The columns of a plan's results, and the form that a sink has given them, for all who run the plan.
#[derive(Debug, Default)]
pub struct ResultColumns {
    columns: Vec<ColumnMeta>,
    was_sent: AtomicBool,
    form: OnceLock<Box<dyn Any + Send + Sync>>,
}

impl ResultColumns {
    /// The form that was made of the columns. `make` is called with the second result, as most texts are
    /// never sent again; `None` before it, or if somewhat else than a `T` was made.
    pub fn form<T: Any + Send + Sync>(&self, make: impl FnOnce(&[ColumnMeta]) -> T) -> Option<&T> {
        if self.form.get().is_none() && !self.was_sent.swap(true, Relaxed) {
            return None;
        }
        self.form.get_or_init(|| Box::new(make(&self.columns))).downcast_ref()
    }
}

/// A copy has not been sent.
impl Clone for ResultColumns {
    fn clone(&self) -> Self {
        self.columns.clone().into()
    }
}

impl From<Vec<ColumnMeta>> for ResultColumns {
    fn from(columns: Vec<ColumnMeta>) -> Self {
        ResultColumns { columns, ..ResultColumns::default() }
    }
}

impl Deref for ResultColumns {
    type Target = [ColumnMeta];

    fn deref(&self) -> &[ColumnMeta] {
        &self.columns
    }
}

/// Which rows of a batch.
#[derive(Debug, Clone)]
pub enum RowNumbers<'r> {
    /// All of a range.
    Range(Range<usize>),
    /// These.
    Some(&'r [usize]),
}

/// Some rows of a table that become rows of a result.
#[derive(Debug, Clone)]
pub struct StoredRows<'r> {
    /// Their table.
    pub table: &'r Table,
    /// They are in this batch.
    pub batch: &'r RowBatch,
    /// Their numbers.
    pub numbers: RowNumbers<'r>,
    /// The columns of the result, no TIMESTAMP among them.
    pub columns: &'r [usize],
}

/// Takes one result set. Rows come as borrowed values, in the order of the columns; a TIMESTAMP has been
/// converted to the session's zone ([`ValueRef::DateTime`]) by then.
pub trait ResultSink: Send {
    /// The result set begins. Called at most once per statement, before any row.
    fn columns(&mut self, columns: &[ColumnMeta]) -> SqlResult<()>;

    /// The same, of a plan: what has been made of its columns before may be used again.
    fn plan_columns(&mut self, columns: &ResultColumns) -> SqlResult<()> {
        self.columns(columns)
    }

    /// One row.
    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()>;

    /// One row whose values are these columns of a stored one, no TIMESTAMP among them.
    fn stored_row(&mut self, stored: &RowView<'_>, columns: &[usize]) -> SqlResult<()> {
        let values: Vec<_> = columns.iter().map(|column| stored.column(*column)).collect();
        self.row(&values)
    }

    /// The same of some rows of a batch, of which it takes as many of the first ones as it likes before it
    /// [wants to be flushed](Self::wants_flush). Gives how many; the others are given one by one.
    fn stored_rows(&mut self, _rows: StoredRows<'_>) -> SqlResult<usize> {
        Ok(0)
    }

    /// Whether so much is buffered that [`flush`](Self::flush) should be awaited before more rows come.
    fn wants_flush(&self) -> bool {
        false
    }

    /// When the statement is to end from now on, in microseconds since 1970, if that has changed since it was
    /// asked last. Asked after each [`flush`](Self::flush).
    fn new_deadline(&mut self) -> Option<Option<i64>> {
        None
    }

    /// Whether the client may be asked for files of its own (LOAD DATA LOCAL).
    fn takes_client_files(&self) -> bool {
        false
    }

    /// Asks the client for a file of its own: 3948 where it may not be asked. Then
    /// [`client_file_part`](Self::client_file_part) is to be called until it gives an empty part, whatever
    /// comes of the statement.
    fn ask_client_for_file<'a>(&'a mut self, _path: &'a [u8]) -> BoxFuture<'a, SqlResult<()>> {
        Box::pin(async { Err(mysql_error!(ER_CLIENT_LOCAL_FILES_DISABLED)) })
    }

    /// The next part of the client's file; empty at its end. An error means that the client is gone.
    fn client_file_part(&mut self) -> BoxFuture<'_, SqlResult<Vec<u8>>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Hands what is buffered to the client. An error means that the client is gone.
    fn flush(&mut self) -> BoxFuture<'_, SqlResult<()>> {
        Box::pin(async { Ok(()) })
    }
}

/// Keeps the rows; for statements that read their own results.
#[derive(Debug, Default)]
pub struct Collected {
    /// The columns.
    pub columns: Vec<ColumnMeta>,
    /// The rows.
    pub rows: Vec<Vec<palisade_catalog::Value>>,
}

impl ResultSink for Collected {
    fn columns(&mut self, columns: &[ColumnMeta]) -> SqlResult<()> {
        self.columns = columns.to_vec();
        Ok(())
    }

    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        self.rows.push(values.iter().map(ValueRef::to_owned).collect());
        Ok(())
    }
}
