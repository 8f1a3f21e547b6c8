//! Running the [short path](palisade_plan::point): one row by its complete unique key, its columns sent as
//! they are.
//!
//! The key is made straight from the parameters, the row is read into a buffer that the session keeps, and
//! its columns go to the sink as views of it.

use palisade_base::Blocked;
use palisade_catalog::{RowView, Value};
use palisade_engine::{ReadMode, RowBuf};
use palisade_exec::run::wait_for;
use palisade_plan::Query;
use palisade_plan::point::PointPlan;
use palisade_session::work::Work;

use crate::sql::Sql;
use crate::{Completion, ResultSink, Session, SqlError, SqlResult};

/// Bytes that a session keeps for the next row.
const KEPT: usize = 16 << 10;

/// What a session keeps for the short path.
#[derive(Debug, Default)]
pub struct PointBuffers {
    key: Vec<u8>,
    row: RowBuf,
}

impl Sql {
    /// Runs a query by its short path; `None` if its values are not for it.
    pub(crate) async fn point_select(
        &self,
        session: &mut Session,
        point: &PointPlan,
        query: &Query,
        parameters: &[Value],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Option<Completion>> {
        let mut buffers = std::mem::take(&mut session.point_buffers);
        if !point.make_key(parameters, &mut buffers.key) {
            session.point_buffers = buffers;
            return Ok(None);
        }
        let savepoint = self.begin_statement(session)?;
        let result = self.point_row(session, point, query, &mut buffers, sink).await;
        buffers.row.release(KEPT);
        session.point_buffers = buffers;
        self.end_statement(session, savepoint, result.as_ref().err()).await?;
        session.state.found_rows = result?;
        Ok(Some(Completion::of_rows()))
    }

    async fn point_row(
        &self,
        session: &mut Session,
        point: &PointPlan,
        query: &Query,
        buffers: &mut PointBuffers,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<u64> {
        session.work.add(Work::HandlerReadKey, 1);
        point.table.usage().count_point_read(point.index);
        let found = loop {
            let Some(transaction) = &mut session.transaction else { return Ok(0) };
            let PointBuffers { key, row } = &mut *buffers;
            match transaction.point_read(&point.table, point.index, key, ReadMode::Snapshot, row) {
                Ok(found) => break found,
                Err(Blocked::Error(error)) => return Err(error.into()),
                Err(Blocked::Wait(event)) => wait_for(session.waiter(&**self.host()), event, None).await?,
            }
        };
        sink.plan_columns(&query.columns)?;
        if !found {
            return Ok(0);
        }
        let row = RowView::new(point.table.descriptor(), buffers.row.row()).map_err(|error| {
            SqlError::with_message(&palisade_base::error_catalogue::ER_UNKNOWN_ERROR, format!("{error}"))
        })?;
        session.work.rows_examined += 1;
        sink.stored_row(&row, &point.columns)?;
        Ok(1)
    }
}
