//! RETURNING: the rows that a statement has changed are its result.
//!
//! The syntax and the answers are MariaDB's for INSERT, REPLACE and DELETE; UPDATE gives its rows in the same
//! way, as they are afterwards. Each row is sent when it has been changed, so that a result takes no memory; a
//! statement that fails after some of its rows were sent is undone all the same, and the client is told of the
//! error in the place of the next row.
//!
//! What is returned of a row:
//!
//! | statement | the row |
//! |---|---|
//! | INSERT, REPLACE | as it was inserted; of ON DUPLICATE KEY UPDATE as it is then; none that IGNORE passes over |
//! | UPDATE | as it is afterwards, changed or not; none that IGNORE passes over |
//! | DELETE | as it was |

use std::sync::{Arc, Mutex, PoisonError};

use palisade_catalog::Value;
use palisade_engine::Table;
use palisade_exec::ExecContext;
use palisade_exec::run::{RowMaker, drive, use_tables};
use palisade_expr::place::At;
use palisade_expr::{Expr, Slot};
use palisade_parser::ast::SelectItem;
use palisade_plan::bind::Binder;
use palisade_plan::rewritten::{Writer, name};
use palisade_session::sink::{ColumnMeta, ResultColumns};

use crate::{ResultSink, SqlResult};

/// What a statement returns of each row.
#[derive(Debug)]
pub struct Returning {
    output: Vec<Expr>,
    columns: ResultColumns,
}

impl Returning {
    /// Binds RETURNING over the tables of the innermost scope; `None` for a statement without it. A subquery in
    /// it that reads `table`, which the statement changes under the name `alias`, is refused (1093).
    pub(super) fn bind(
        binder: &mut Binder<'_>,
        items: &[SelectItem],
        (table, alias): (&Arc<Table>, &str),
    ) -> SqlResult<Option<Box<Returning>>> {
        if items.is_empty() {
            return Ok(None);
        }
        // Other parts of the statement may read the table in subqueries.
        let mut others = std::mem::take(&mut binder.subquery_reads);
        let (output, columns) = binder.returning(items)?;
        binder.refuse_own_reads(table, alias)?;
        others.append(&mut binder.subquery_reads);
        binder.subquery_reads = others;
        Ok(Some(Box::new(Returning { output, columns: columns.into() })))
    }

    /// What the client is told of the result.
    pub(crate) fn columns(&self) -> &[ColumnMeta] {
        &self.columns
    }

    /// The clause as EXPLAIN writes it.
    pub(super) fn written(&self, writer: &Writer<'_>) -> String {
        let item =
            |(expr, meta): (&Expr, &ColumnMeta)| format!("{} AS {}", writer.expr(expr), name(&meta.name));
        let items: Vec<String> = self.output.iter().zip(self.columns.iter()).map(item).collect();
        format!(" returning {}", items.join(","))
    }
}

/// The result of a statement with RETURNING while it runs.
pub(super) struct Returned<'r> {
    returning: &'r Returning,
    row: RowMaker,
    /// Never locked: it makes what holds the sink fit to be shared between threads, and its owner reaches it alone.
    sink: Mutex<&'r mut dyn ResultSink>,
    sent: u64,
}

impl<'r> Returned<'r> {
    /// The result of a statement, if it has one.
    pub fn of(returning: Option<&'r Returning>, sink: &'r mut dyn ResultSink) -> Option<Box<Returned<'r>>> {
        returning.map(|returning| {
            let row = RowMaker::new(&returning.output);
            Box::new(Returned { returning, row, sink: Mutex::new(sink), sent: 0 })
        })
    }

    /// How many rows were sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// The result begins, before any row is changed.
    pub async fn begin(&mut self, cx: &mut ExecContext<'_, '_>) -> SqlResult<()> {
        use_tables(cx).await?;
        self.sink.get_mut().unwrap_or_else(PoisonError::into_inner).plan_columns(&self.returning.columns)
    }

    /// Sends what is returned of a row, which expressions find in `slot`. What is there now is there again
    /// afterwards.
    pub async fn row(&mut self, cx: &mut ExecContext<'_, '_>, slot: usize, row: Slot) -> SqlResult<()> {
        let Returned { returning, row: maker, sink, sent } = self;
        let sink = sink.get_mut().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(cx.state.frame.slots.at_mut(slot)?, row);
        drive(cx, |cx| maker.compute(&returning.output, cx)).await?;
        maker.send(&returning.output, cx, &mut **sink)?;
        *cx.state.frame.slots.at_mut(slot)? = before;
        *sent += 1;
        if sink.wants_flush() {
            cx.show_plan();
            sink.flush().await?;
        }
        Ok(())
    }

    /// The same of a row by its values.
    pub async fn values(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        slot: usize,
        values: Vec<Value>,
    ) -> SqlResult<()> {
        self.row(cx, slot, Slot::Values(values.into())).await
    }
}
