//! START TRANSACTION, COMMIT and ROLLBACK with what follows them, savepoints, SET TRANSACTION.

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::Value;
use palisade_engine::{AccessMode, IsolationLevel};
use palisade_expr::place::At;
use palisade_expr::services;
use palisade_parser::ast::{self, TransactionScope};
use palisade_session::work::Work;

use crate::session::CompletionType;
use crate::sql::Sql;
use crate::{Completion, Session, SqlResult};

impl Sql {
    pub(crate) async fn start_transaction(
        &self,
        session: &mut Session,
        start: &ast::StartTransaction,
    ) -> SqlResult<Completion> {
        let (isolation, usual) = session.characteristics_to_come();
        self.commit(session).await?;
        self.unlock_for_transaction(session);
        let access = match start.read_only {
            Some(true) => AccessMode::ReadOnly,
            Some(false) => AccessMode::ReadWrite,
            None => usual,
        };
        self.open_transaction(session, isolation, access);
        if start.consistent_snapshot
            && let Some(transaction) = &mut session.transaction
        {
            match isolation {
                IsolationLevel::RepeatableRead => transaction.open_snapshot(),
                _ => session.state.warnings.warn(mysql_error!(HA_ERR_UNSUPPORTED)),
            }
        }
        Ok(Completion::default())
    }

    /// COMMIT, and what its CHAIN and RELEASE say.
    pub(crate) async fn commit_statement(
        &self,
        session: &mut Session,
        completion: &ast::Completion,
    ) -> SqlResult<Completion> {
        let characteristics = self.characteristics(session);
        self.commit(session).await?;
        self.chain(session, completion, characteristics)
    }

    /// ROLLBACK, and what its CHAIN and RELEASE say.
    pub(crate) async fn rollback_statement(
        &self,
        session: &mut Session,
        completion: &ast::Completion,
    ) -> SqlResult<Completion> {
        session.refuse_in_branch()?;
        let characteristics = self.characteristics(session);
        let changes = session.temporary_changes;
        self.rollback(session).await?;
        session.warn_of_temporary(changes);
        self.chain(session, completion, characteristics)
    }

    fn open_transaction(&self, session: &mut Session, isolation: IsolationLevel, access: AccessMode) {
        session.start_transaction(self.engine(), isolation, access).note_begin();
        session.trace.outlives_statement();
        session.in_transaction = true;
    }

    fn characteristics(&self, session: &Session) -> (IsolationLevel, AccessMode) {
        match &session.transaction {
            Some(transaction) if session.active => (transaction.isolation(), transaction.access()),
            _ => session.characteristics_to_come(),
        }
    }

    fn chain(
        &self,
        session: &mut Session,
        completion: &ast::Completion,
        (isolation, access): (IsolationLevel, AccessMode),
    ) -> SqlResult<Completion> {
        let usual = session.state.variables.completion;
        if completion.chain.unwrap_or(usual == CompletionType::Chain) {
            self.open_transaction(session, isolation, access);
        }
        if completion.release.unwrap_or(usual == CompletionType::Release) {
            session.state.kill.kill_connection();
        }
        Ok(Completion::default())
    }

    pub(crate) fn savepoint(&self, session: &mut Session, name: &str) -> SqlResult<Completion> {
        if !session.active && session.state.variables.autocommit {
            return Ok(Completion::default());
        }
        session.check_branch_state()?;
        if !session.active {
            self.begin_statement(session)?;
        }
        let Some(transaction) = &session.transaction else { return Ok(Completion::default()) };
        let point = transaction.savepoint();
        session.work.add(Work::HandlerSavepoint, 1);
        session.trace.uses_savepoint(|savepoints| savepoints.set += 1);
        session.savepoints.retain(|(known, _)| known.to_lowercase() != name.to_lowercase());
        session.savepoints.push((name.to_owned(), point));
        Ok(Completion::default())
    }

    pub(crate) async fn rollback_to_savepoint(
        &self,
        session: &mut Session,
        name: &str,
    ) -> SqlResult<Completion> {
        let position = find_savepoint(session, name)?;
        session.check_branch_state()?;
        let (_, point) = *session.savepoints.at(position)?;
        session.work.add(Work::HandlerSavepointRollback, 1);
        session.trace.uses_savepoint(|savepoints| savepoints.returned_to += 1);
        self.roll_back_to(session, point).await?;
        session.savepoints.truncate(position + 1);
        session.warn_of_temporary(session.temporary_changes);
        Ok(Completion::default())
    }

    /// RELEASE SAVEPOINT: it and those set after it are forgotten.
    pub(crate) fn release_savepoint(&self, session: &mut Session, name: &str) -> SqlResult<Completion> {
        let position = find_savepoint(session, name)?;
        session.check_branch_state()?;
        session.trace.uses_savepoint(|savepoints| savepoints.released += 1);
        session.savepoints.truncate(position);
        Ok(Completion::default())
    }

    pub(crate) fn set_transaction(
        &self,
        session: &mut Session,
        set: &ast::SetTransaction,
    ) -> SqlResult<Completion> {
        let level = set.isolation.map(|level| match level {
            ast::IsolationLevel::ReadUncommitted => (IsolationLevel::ReadUncommitted, "READ-UNCOMMITTED"),
            ast::IsolationLevel::ReadCommitted => (IsolationLevel::ReadCommitted, "READ-COMMITTED"),
            ast::IsolationLevel::RepeatableRead => (IsolationLevel::RepeatableRead, "REPEATABLE-READ"),
            ast::IsolationLevel::Serializable => (IsolationLevel::Serializable, "SERIALIZABLE"),
        });
        let scope = match set.scope {
            TransactionScope::Next => {
                if session.in_transaction && session.active {
                    return Err(mysql_error!(ER_CANT_CHANGE_TX_CHARACTERISTICS));
                }
                if let Some((level, _)) = level {
                    session.next_transaction.isolation = Some(level);
                }
                if let Some(read_only) = set.read_only {
                    let access = if read_only { AccessMode::ReadOnly } else { AccessMode::ReadWrite };
                    session.next_transaction.access = Some(access);
                }
                return Ok(Completion::default());
            }
            TransactionScope::Session => services::Scope::Session,
            TransactionScope::Global => services::Scope::Global,
        };
        if let Some((_, name)) = level {
            self.host().set_variable(session, scope, "transaction_isolation", Some(Value::bytes(name)))?;
        }
        if let Some(read_only) = set.read_only {
            let value = Value::Int(i64::from(read_only));
            self.host().set_variable(session, scope, "transaction_read_only", Some(value))?;
        }
        Ok(Completion::default())
    }
}

fn find_savepoint(session: &Session, name: &str) -> SqlResult<usize> {
    session
        .savepoints
        .iter()
        .position(|(known, _)| known.to_lowercase() == name.to_lowercase())
        .ok_or_else(|| mysql_error!(ER_SP_DOES_NOT_EXIST, "SAVEPOINT", name))
}
