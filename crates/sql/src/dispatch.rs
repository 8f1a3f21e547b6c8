//! Which room executes a statement that is neither a query nor a change of rows.
//!
//! | statements | room |
//! |---|---|
//! | transactions, savepoints, SET TRANSACTION | `session::transaction`, [`xa`](crate::xa) |
//! | SET | `session::set` |
//! | PREPARE, EXECUTE, DEALLOCATE | `session::prepare` |
//! | DO, KILL | `values` |
//! | SIGNAL, RESIGNAL, GET DIAGNOSTICS | `diagnostics` |
//! | LOCK TABLES | [`locks`](crate::locks) |
//! | changes of performance_schema | `dml::instrument` |
//! | definitions, maintenance | [`ddl`](crate::ddl) |
//! | CREATE BINDING, DROP BINDING | [`bindings`](crate::bindings) |
//! | SHOW, DESCRIBE, EXPLAIN | [`show`](crate::show), [`plan`](palisade_plan) |
//! | accounts, FLUSH, SHUTDOWN and the like | the [`Host`](crate::Host) |

use palisade_base::error_catalogue::{ER_XA_TEMP_TABLE, ER_XAER_RMERR};
use palisade_base::mysql_error;
use palisade_catalog::Value;
use palisade_expr::error::not_supported;
use palisade_parser::ast::Statement;

use crate::sql::Sql;
use crate::{Completion, ResultSink, Session, SqlResult};

impl Sql {
    /// Statements other than queries and changes of rows.
    pub(crate) async fn other(
        &self,
        session: &mut Session,
        statement: &Statement,
        parameters: &[Value],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        if session.state.is_restricted() && !session.is_about_its_own(statement) {
            let allowed = self.host().check_statement(&session.state, statement);
            if let (Err(denied), Statement::Xa(_)) = (&allowed, statement) {
                // The reason follows in SHOW WARNINGS.
                session.state.warnings.push(palisade_expr::warning::Level::Error, denied.clone());
                return Err(mysql_error!(ER_XAER_RMERR));
            }
            allowed?;
        }
        match statement {
            Statement::Comment => Ok(Completion::default()),
            Statement::StartTransaction(start) => self.start_transaction(session, start).await,
            Statement::Commit(completion) => self.commit_statement(session, completion).await,
            Statement::Rollback(completion) => self.rollback_statement(session, completion).await,
            Statement::Xa(xa) => self.xa(session, xa, sink).await,
            Statement::Savepoint(name) => self.savepoint(session, name),
            Statement::RollbackToSavepoint(name) => self.rollback_to_savepoint(session, name).await,
            Statement::ReleaseSavepoint(name) => self.release_savepoint(session, name),
            Statement::SetTransaction(set) => self.set_transaction(session, set),
            Statement::Set(assignments) => self.set(session, assignments, parameters).await,
            Statement::Use(name) => {
                self.use_database(session, name)?;
                Ok(Completion { database_changed: true, ..Completion::default() })
            }
            Statement::Do(exprs) => {
                self.values(session, exprs, parameters).await?;
                Ok(Completion::default())
            }
            Statement::Prepare(prepare) => self.prepare_named(session, prepare).await,
            Statement::Execute(execute) => self.execute_named(session, execute, sink).await,
            Statement::Deallocate(name) => self.deallocate(session, name),
            Statement::Kill(kill) => self.kill(session, kill, parameters).await,
            Statement::LoadData(load) => self.load_data(session, load, sink).await,
            Statement::LockTables(wanted) => self.lock_tables(session, wanted).await,
            Statement::UnlockTables => self.unlock_tables(session).await,
            Statement::UnlockInstance => Ok(Completion::default()),
            Statement::Show(show) => self.show(session, show, sink).await,
            Statement::Describe(describe) => self.describe(session, describe, sink),
            Statement::Binding(binding) => Box::pin(self.bind_statement(session, binding)).await,
            Statement::Explain(explain) => self.explain(session, explain, parameters, sink).await,
            Statement::TableMaintenance(maintenance) => self.maintain(session, maintenance, sink).await,
            Statement::DropStored(drop) => {
                self.commit(session).await?;
                self.drop_stored(session, drop)
            }
            Statement::Signal(signal) => self.signal(session, signal, parameters).await,
            Statement::GetDiagnostics(get) => self.get_diagnostics(session, get, parameters).await,
            Statement::CreateTable(create) if create.query.is_some() => {
                self.begin_definition(session, statement).await?;
                self.create_from_query(session, create, parameters).await
            }
            Statement::AlterTable(alter) if crate::ddl::partition::maintenance(alter).is_some() => {
                match crate::ddl::partition::maintenance(alter) {
                    Some(what) => self.maintain_partitions(session, alter, what, sink).await,
                    None => Ok(Completion::default()),
                }
            }
            other if crate::ddl::is_definition(other) => {
                self.begin_definition(session, statement).await?;
                match crate::ddl::execute(self.engine(), &**self.host(), session, other).await? {
                    Some(completion) => Ok(completion),
                    None => Err(not_supported(other.name())),
                }
            }
            Statement::Flush(flush) => {
                self.commit(session).await?;
                match self.flush_tables(session, &flush.what).await? {
                    Some(completion) => Ok(completion),
                    None => self.administer(session, statement, sink).await,
                }
            }
            Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) => {
                Box::pin(self.change_instrument(session, statement, parameters)).await
            }
            other => self.administer(session, other, sink).await,
        }
    }

    /// A definition ends the transaction that is open; CREATE and DROP with TEMPORARY do not. What is about
    /// temporary tables alone is done by a read-only server, too.
    async fn begin_definition(&self, session: &mut Session, statement: &Statement) -> SqlResult<()> {
        let is_temporary = match statement {
            Statement::CreateTable(create) => create.temporary,
            Statement::DropTable(drop) => drop.temporary,
            _ => false,
        };
        if is_temporary && session.xa.is_some() {
            return Err(mysql_error!(ER_XA_TEMP_TABLE));
        }
        if !is_temporary && !session.is_about_its_own(statement) {
            self.host().check_read_only(&session.state)?;
        }
        if !is_temporary {
            self.commit(session).await?;
        }
        session.check_writable()
    }

    /// A statement that is the host's business.
    async fn administer(
        &self,
        session: &mut Session,
        statement: &Statement,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        match self.host().administer(self, session, statement, sink).await {
            Some(result) => result,
            None => Err(not_supported(statement.name())),
        }
    }
}
