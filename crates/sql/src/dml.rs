//! Statements that change rows.
//!
//! | module | what it holds |
//! |---|---|
//! | [`store`] | rows on their way into a table |
//! | [`insert`] | INSERT and REPLACE |
//! | [`change`] | UPDATE and DELETE |
//! | [`foreign`] | foreign keys |
//! | `returning` | RETURNING |
//! | `through` | changes of rows through views |
//! | `instrument` | what may be changed of performance_schema |
//! | [`load`], `outfile` | LOAD DATA; SELECT ... INTO OUTFILE |
//!
//! These run as `async` functions over steps of the engine; a step that has to wait is called again with the
//! same arguments. A statement that fails is undone as a whole: the front door goes back to the point where
//! it began.

pub mod change;
mod collision;
pub mod foreign;
pub mod insert;
pub(crate) mod instrument;
pub mod load;
mod outfile;
pub(crate) mod returning;
pub mod store;
mod through;

use std::sync::Arc;

use palisade_catalog::Value;
use palisade_exec::ExecContext;
use palisade_exec::run::convert_beforehand;
use palisade_plan::Plan;

use crate::sql::Sql;
use crate::{Session, SqlResult};

/// What changes rows.
struct Changes<'p> {
    /// What finds them.
    plan: &'p Arc<Plan>,
    /// What would be errors of values are warnings.
    ignore: bool,
    /// All of them are in temporary tables of the session.
    is_temporary: bool,
}

impl Sql {
    /// Does `work`, which changes rows, as a statement of the session's transaction: it is undone as a whole
    /// if it fails.
    async fn change_rows<T>(
        &self,
        session: &mut Session,
        Changes { plan, ignore, is_temporary }: Changes<'_>,
        parameters: &[Value],
        work: impl AsyncFnOnce(&mut ExecContext<'_, '_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        session.check_tables_of_branch(plan)?;
        if !is_temporary {
            self.host().check_read_only(&session.state)?;
            session.check_writable()?;
            self.wait_for_purge(session).await?;
        }
        let savepoint = self.begin_statement(session)?;
        let mut context = session.context(&**self.host(), self.engine(), parameters, Some(plan.clone()));
        let mut cx = context.view();
        cx.state.strict = cx.session.variables.sql_mode.is_strict() && !ignore;
        let result = match convert_beforehand(&mut cx, plan).await {
            Ok(()) => work(&mut cx).await,
            Err(error) => Err(error),
        };
        drop(context);
        if let Some(transaction) = &mut session.transaction {
            transaction.release_auto_increment();
        }
        self.end_statement(session, savepoint, result.as_ref().err()).await?;
        result
    }
}
