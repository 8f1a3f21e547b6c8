//! Where statements and transactions begin and end.

use palisade_base::error_catalogue::{
    ER_CHECKREAD, ER_LOCK_DEADLOCK, ER_LOCK_TABLE_FULL, ER_LOCK_WAIT_TIMEOUT, ER_QUERY_INTERRUPTED,
};
use palisade_base::{Event, mysql_error};
use palisade_engine::{Savepoint, Transaction};
use palisade_observe::transaction::Outcome;
use palisade_session::work::Work;

use crate::session::NextTransaction;
use crate::sql::Sql;
use crate::{Awaited, Session, SqlError, SqlResult, WaitOutcome};

impl Sql {
    /// Opens the transaction a statement runs in, if none is open, and marks the point to go back to if it
    /// fails. An error if the session works in an XA transaction that takes no statements.
    pub fn begin_statement(&self, session: &mut Session) -> SqlResult<Savepoint> {
        session.check_branch()?;
        if !session.active {
            let (isolation, access) = session.characteristics_to_come();
            session.next_transaction = NextTransaction::default();
            let is_kept_open = !session.state.variables.autocommit;
            let transaction = session.start_transaction(self.engine(), isolation, access);
            if is_kept_open {
                transaction.note_begin();
                session.trace.outlives_statement();
            }
            session.in_transaction = is_kept_open;
        }
        let transaction =
            session.transaction.as_mut().ok_or_else(|| SqlError::internal("it was just begun"))?;
        transaction
            .note_checks(session.state.variables.unique_checks, session.state.variables.foreign_key_checks);
        transaction.set_single_statement(!session.in_transaction);
        transaction.set_snapshot_isolation(session.state.variables.snapshot_isolation);
        Ok(transaction.start_statement())
    }

    /// Holds up a statement that changes rows if purge cannot follow.
    pub(crate) async fn wait_for_purge(&self, session: &Session) -> SqlResult<()> {
        let delay = self.engine().purge_delay();
        if delay.is_zero() {
            return Ok(());
        }
        match self.host().wait(session.state.connection_id, Event::new(), Awaited::Machine, Some(delay)).await
        {
            WaitOutcome::Killed => Err(mysql_error!(ER_QUERY_INTERRUPTED)),
            WaitOutcome::Happened | WaitOutcome::TimedOut => Ok(()),
        }
    }

    /// Ends a statement: commits what is not part of a larger transaction; on error goes back to where it
    /// began.
    pub async fn end_statement(
        &self,
        session: &mut Session,
        savepoint: Savepoint,
        error: Option<&SqlError>,
    ) -> SqlResult<()> {
        session.reach_end(&**self.host());
        match error {
            None if session.in_transaction => {
                session.work.add(Work::HandlerCommit, 1);
                session.transaction.iter_mut().for_each(Transaction::end_statement);
                Ok(())
            }
            None => self.commit(session).await,
            Some(error) => {
                let ends_all = match error.number() {
                    number if number == ER_LOCK_DEADLOCK.number => true,
                    // Nothing less gives the locks back.
                    number if number == ER_LOCK_TABLE_FULL.number => true,
                    // The snapshot is too old to build upon: only a new transaction gets on.
                    number if number == ER_CHECKREAD.number => session.state.variables.snapshot_isolation,
                    number if number == ER_LOCK_WAIT_TIMEOUT.number => {
                        session.state.variables.rollback_on_timeout
                    }
                    _ => false,
                };
                if ends_all || !session.in_transaction {
                    session.note_rollback(error);
                    return self.rollback(session).await;
                }
                session.work.add(Work::HandlerRollback, 1);
                let undone = self.roll_back_to(session, savepoint).await;
                session.transaction.iter_mut().for_each(Transaction::end_statement);
                undone
            }
        }
    }

    /// Undoes what the open transaction has done since `savepoint`; all of it, if that fails: because the
    /// locks that this leaves are too many, or half way, where no session may go on from.
    pub(crate) async fn roll_back_to(&self, session: &mut Session, savepoint: Savepoint) -> SqlResult<()> {
        let Some(transaction) = &mut session.transaction else { return Ok(()) };
        let undone = palisade_base::event::retry(|| transaction.rollback_to(savepoint)).await;
        let Err(error) = undone.map_err(SqlError::from) else { return Ok(()) };
        session.note_rollback(&error);
        // Why the first attempt failed is what the client is told.
        let _ = self.rollback(session).await;
        Err(error)
    }

    /// COMMIT, explicit or not: refused in an XA transaction. A commit that fails becomes a rollback.
    pub async fn commit(&self, session: &mut Session) -> SqlResult<()> {
        session.refuse_in_branch()?;
        if session.active && session.transaction.as_ref().is_some_and(Transaction::has_changes) {
            // The server may have become read only since the transaction changed something.
            let allowed = self.host().check_read_only(&session.state);
            if let Err(denied) = allowed {
                self.rollback(session).await?;
                return Err(denied);
            }
        }
        if !session.leave_transaction(Outcome::Committed) {
            return Ok(());
        }
        let Some(transaction) = &mut session.transaction else { return Ok(()) };
        session.work.add(Work::HandlerCommit, 1);
        let host = &**self.host();
        if let Some(profiles) = &mut session.profiles {
            profiles.begin_stage("waiting for handler commit", host.monotonic());
        }
        match transaction.commit().await {
            Ok(()) => Ok(()),
            Err(error) => {
                session.trace.commit_failed();
                let _ = undo_all(session).await;
                Err(error.into())
            }
        }
    }

    /// ROLLBACK.
    pub async fn rollback(&self, session: &mut Session) -> SqlResult<()> {
        if !session.leave_transaction(Outcome::RolledBack) {
            return Ok(());
        }
        session.work.add(Work::HandlerRollback, 1);
        undo_all(session).await
    }
}

/// Rolls the session's transaction back. If that fails - a row that has to grow again finds the disk full -
/// it is left to the background, which tries again until it succeeds; the session goes on with another.
async fn undo_all(session: &mut Session) -> SqlResult<()> {
    let Some(transaction) = &mut session.transaction else { return Ok(()) };
    let undone = transaction.rollback().await;
    if undone.is_err() {
        session.transaction = None;
        session.drop_lost_tables();
    }
    undone.map_err(SqlError::from)
}
