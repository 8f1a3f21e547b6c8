//! XA: the session's side of a transaction that a coordinator ends.
//!
//! ```text
//!               XA START           XA END              XA PREPARE
//!  NON-EXISTING ────────► ACTIVE ────────► IDLE ─────────────────────► NON-EXISTING, and the engine keeps it by name
//!        ▲                 │  ▲  XA START   │
//!        │                 │  └── RESUME ───┤
//!        │    the engine has rolled it back │
//!        │                 ▼                │
//!        ├─ XA ROLLBACK ─ ROLLBACK ONLY     │
//!        └─ XA ROLLBACK, XA COMMIT ... ONE PHASE
//! ```
//!
//! What is prepared leaves its session at once (`xa_detach_on_prepare`, as MySQL has it by default): XA COMMIT and XA
//! ROLLBACK then find it by name from any session ([`palisade_engine::xa`]).
//!
//! While there is a branch, its session ends no transaction in any other way: what would is refused with 1399, as is what
//! commits implicitly. A branch that the engine has rolled back (a deadlock) is good for nothing but its rollback, and
//! says so at the next use of a table (of `information_schema` as well, and of those that SHOW, EXPLAIN and PREPARE look
//! at) or at XA END. SAVEPOINT finds no transaction then, and has nothing to do.

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::types::IntWidth;
use palisade_catalog::{CollationId, SqlType, ValueRef};
use palisade_engine::{XaBranch, XaEnd, Xid};
use palisade_expr::warning::Level;
use palisade_observe::transaction::{Outcome, XaName};
use palisade_parser::ast::{self, Xa};
use palisade_plan::Plan;

use crate::sql::Sql;
use crate::{ColumnMeta, Completion, ResultSink, Session, SqlError, SqlResult};

/// The branch that a session works in.
pub struct Branch {
    claim: XaBranch,
    state: State,
    /// Why the engine has rolled it back, if it has.
    failure: Option<Failure>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Active,
    Idle,
    RollbackOnly,
}

/// Why a branch was rolled back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Failure {
    Deadlock,
    Timeout,
    Other,
}

impl Failure {
    fn error(self) -> SqlError {
        match self {
            Failure::Deadlock => mysql_error!(ER_XA_RBDEADLOCK),
            Failure::Timeout => mysql_error!(ER_XA_RBTIMEOUT),
            Failure::Other => mysql_error!(ER_XA_RBROLLBACK),
        }
    }
}

impl Branch {
    fn is(&self, xid: &Xid) -> bool {
        self.claim.xid() == xid
    }

    /// If the engine has rolled it back, nothing but that is left to be done; says so.
    fn check_rolled_back(&mut self) -> SqlResult<()> {
        match self.failure {
            None => Ok(()),
            Some(failure) => {
                self.state = State::RollbackOnly;
                Err(failure.error())
            }
        }
    }
}

impl Session {
    /// 1399: the state that the session's branch is in does not allow that.
    fn wrong_state(&self) -> SqlError {
        let state = match self.xa.as_ref().map(|branch| branch.state) {
            None => "NON-EXISTING",
            Some(State::Active) => "ACTIVE",
            Some(State::Idle) => "IDLE",
            Some(State::RollbackOnly) => "ROLLBACK ONLY",
        };
        mysql_error!(ER_XAER_RMFAIL, state)
    }

    /// 1399 in a branch: what ends transactions is not for those whose end a coordinator decides.
    pub(crate) fn refuse_in_branch(&self) -> SqlResult<()> {
        if self.xa.is_some() { Err(self.wrong_state()) } else { Ok(()) }
    }

    /// 1399 in a branch that does not take statements, or the reason why the engine has rolled it back.
    pub(crate) fn check_branch(&mut self) -> SqlResult<()> {
        let Some(branch) = &mut self.xa else { return Ok(()) };
        branch.check_rolled_back()?;
        match branch.state {
            State::Active => Ok(()),
            State::Idle | State::RollbackOnly => Err(self.wrong_state()),
        }
    }

    /// [`check_branch`](Self::check_branch) for a statement with this plan: one that names no table passes in any state.
    pub(crate) fn check_branch_for(&mut self, plan: &Plan) -> SqlResult<()> {
        if self.xa.is_some() && plan.names_tables() { self.check_branch() } else { Ok(()) }
    }

    /// 1399 in a branch that has been ended; one that the engine has rolled back and that has not been told of it is none.
    pub(crate) fn check_branch_state(&self) -> SqlResult<()> {
        match self.xa.as_ref().map(|branch| branch.state) {
            None | Some(State::Active) => Ok(()),
            Some(State::Idle | State::RollbackOnly) => Err(self.wrong_state()),
        }
    }

    /// The engine has rolled the session's transaction back because of `error`.
    pub(crate) fn note_rollback(&mut self, error: &SqlError) {
        if let Some(branch) = &mut self.xa {
            branch.failure = Some(match error.number() {
                number if number == ER_LOCK_DEADLOCK.number => Failure::Deadlock,
                number if number == ER_LOCK_WAIT_TIMEOUT.number => Failure::Timeout,
                _ => Failure::Other,
            });
        }
    }

    /// The session's branch, if it has that name: 1399 or 1397 if not.
    fn branch(&mut self, xid: &Xid) -> SqlResult<&mut Branch> {
        if self.xa.is_none() {
            return Err(self.wrong_state());
        }
        self.xa.as_deref_mut().filter(|branch| branch.is(xid)).ok_or_else(|| mysql_error!(ER_XAER_NOTA))
    }
}

fn name(xid: &ast::Xid) -> Xid {
    Xid { format: xid.format, gtrid: xid.gtrid.clone(), bqual: xid.bqual.clone() }
}

impl Sql {
    /// An XA statement.
    pub(crate) async fn xa(
        &self,
        session: &mut Session,
        statement: &Xa,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        match statement {
            Xa::Start { xid, join, resume } => self.xa_start(session, name(xid), *join, *resume)?,
            Xa::End { xid, suspend, .. } => xa_end(session, &name(xid), *suspend)?,
            Xa::Prepare(xid) => self.xa_prepare(session, &name(xid)).await?,
            Xa::Commit { xid, one_phase } => self.xa_commit(session, &name(xid), *one_phase).await?,
            Xa::Rollback(xid) => self.xa_rollback(session, &name(xid)).await?,
            Xa::Recover { convert_xid } => return self.xa_recover(*convert_xid, sink).await,
        }
        Ok(Completion::default())
    }

    fn xa_start(&self, session: &mut Session, xid: Xid, join: bool, resume: bool) -> SqlResult<()> {
        if let Some(branch) = session.xa.as_deref_mut().filter(|branch| resume && branch.state == State::Idle)
        {
            if !branch.is(&xid) {
                return Err(mysql_error!(ER_XAER_NOTA));
            }
            branch.state = State::Active;
            session.trace.set_xa_state("ACTIVE");
            return Ok(());
        }
        if join || resume {
            return Err(mysql_error!(ER_XAER_INVAL));
        }
        session.refuse_in_branch()?;
        if session.active || session.locks.as_ref().is_some_and(|locks| locks.has_tables()) {
            return Err(mysql_error!(ER_XAER_OUTSIDE));
        }
        let Some(claim) = self.engine().xa_start(xid) else {
            return Err(mysql_error!(ER_XAER_DUPID));
        };
        self.begin_statement(session)?;
        session.in_transaction = true;
        session.trace.outlives_statement();
        let Xid { format, gtrid, bqual } = claim.xid().clone();
        session.trace.name(XaName { format, gtrid, bqual, state: "ACTIVE" });
        session.xa = Some(Box::new(Branch { claim, state: State::Active, failure: None }));
        Ok(())
    }

    async fn xa_prepare(&self, session: &mut Session, xid: &Xid) -> SqlResult<()> {
        let is_idle = session.xa.as_ref().is_some_and(|branch| branch.state == State::Idle);
        if !is_idle {
            return Err(session.wrong_state());
        }
        session.branch(xid)?;
        session.savepoints.clear();
        session.active = false;
        session.in_transaction = false;
        session.trace.set_xa_state("PREPARED");
        // It is open still, but no longer the session's.
        session.trace.end(Outcome::Open, || 0);
        let (Some(branch), Some(transaction)) = (session.xa.take(), session.transaction.take()) else {
            return Err(mysql_error!(ER_XAER_RMERR));
        };
        let prepared = transaction.prepare(branch.claim).await;
        prepared.map_err(|error| {
            session.trace.commit_failed();
            rolled_back(session, error.into())
        })
    }

    async fn xa_commit(&self, session: &mut Session, xid: &Xid, one_phase: bool) -> SqlResult<()> {
        let Some(branch) = session.xa.as_deref_mut() else {
            return self.end_prepared(session, xid, XaEnd::Commit).await;
        };
        if branch.is(xid)
            && let Err(error) = branch.check_rolled_back()
        {
            session.xa = None;
            self.rollback(session).await?;
            return Err(error);
        }
        if !branch.is(xid) || !one_phase || branch.state != State::Idle {
            return Err(session.wrong_state());
        }
        // The name is free again when the transaction has ended.
        let branch = session.xa.take();
        session.trace.set_xa_state("COMMITTED");
        let committed = self.commit(session).await;
        drop(branch);
        committed.map_err(|error| rolled_back(session, error))
    }

    async fn xa_rollback(&self, session: &mut Session, xid: &Xid) -> SqlResult<()> {
        let Some(branch) = session.xa.as_deref() else {
            return self.end_prepared(session, xid, XaEnd::Rollback).await;
        };
        if !branch.is(xid) || branch.state == State::Active {
            return Err(session.wrong_state());
        }
        let branch = session.xa.take();
        session.trace.set_xa_state("ROLLBACK ONLY");
        let outcome = self.rollback(session).await;
        drop(branch);
        outcome
    }

    /// Ends a transaction that was prepared, perhaps by another session.
    async fn end_prepared(&self, session: &mut Session, xid: &Xid, how: XaEnd) -> SqlResult<()> {
        if session.in_transaction {
            return Err(session.wrong_state());
        }
        session.locks.as_ref().map_or(Ok(()), |locks| locks.check_global())?;
        match self.engine().xa_end(xid, how).await? {
            true => Ok(()),
            false => Err(mysql_error!(ER_XAER_NOTA)),
        }
    }

    async fn xa_recover(&self, convert: bool, sink: &mut dyn ResultSink) -> SqlResult<Completion> {
        let number = SqlType::Int { width: IntWidth::Big, unsigned: false };
        let data = match convert {
            true => SqlType::VarChar { length: 258, collation: CollationId::UTF8MB4_0900_AI_CI },
            false => SqlType::VarBinary { length: 128 },
        };
        sink.columns(&[
            ColumnMeta::computed("formatID", number.clone()),
            ColumnMeta::computed("gtrid_length", number.clone()),
            ColumnMeta::computed("bqual_length", number),
            ColumnMeta::computed("data", data),
        ])?;
        for Xid { format, gtrid, bqual } in self.engine().xa_recover().await? {
            let mut data = [&gtrid[..], &bqual[..]].concat();
            if convert {
                let digits: String = data.iter().map(|byte| format!("{byte:02X}")).collect();
                data = format!("0x{digits}").into_bytes();
            }
            sink.row(&[
                ValueRef::Int(format as i64),
                ValueRef::Int(gtrid.len() as i64),
                ValueRef::Int(bqual.len() as i64),
                ValueRef::Bytes(&data),
            ])?;
        }
        Ok(Completion::of_rows())
    }
}

/// 1402 instead of `error`, which SHOW WARNINGS tells.
fn rolled_back(session: &mut Session, error: SqlError) -> SqlError {
    session.state.warnings.push(Level::Error, error);
    mysql_error!(ER_XA_RBROLLBACK)
}

fn xa_end(session: &mut Session, xid: &Xid, suspend: bool) -> SqlResult<()> {
    if suspend {
        return Err(mysql_error!(ER_XAER_INVAL));
    }
    if session.xa.as_ref().is_some_and(|branch| branch.state == State::Idle) {
        return Err(session.wrong_state());
    }
    let branch = session.branch(xid)?;
    branch.check_rolled_back()?;
    branch.state = State::Idle;
    session.trace.set_xa_state("IDLE");
    Ok(())
}
