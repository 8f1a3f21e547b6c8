//! Statements of the server's own: the one way in which the server asks itself something in SQL.
//!
//! Such a statement runs in a session of its own, never in a client's: with a [security
//! context](SecurityContext) that no account has, with the values that system variables have by default - a
//! client's `sql_select_limit`, `sql_mode` or LOCK TABLES has nothing to say in it - and in a transaction of
//! its own.
//!
//! | door | for | what comes in |
//! |---|---|---|
//! | [`InternalSession`] | the server: accounts, log tables | a constant text, its values as parameters |
//! | `query_locked` | a definition statement that asks something of the tables it has locked | a parse tree |
//!
//! A value never becomes a part of a text: there is nothing to quote.

use std::sync::Arc;

use palisade_catalog::{Value, Zone};
use palisade_engine::{AccessMode, Engine, ExclusiveLock, IsolationLevel};
use palisade_exec::run::send_rows;
use palisade_expr::session_state::SecurityContext;
use palisade_parser::ast;
use palisade_session::sink::Collected;

use crate::sql::Sql;
use crate::{Host, ResultSink, Session, SessionVariables, SqlError, SqlResult};

/// A session of the server's own, without a connection. What it has begun is rolled back when it is
/// [ended](Self::end).
pub struct InternalSession<'a> {
    sql: &'a Sql,
    session: Session,
}

impl<'a> InternalSession<'a> {
    /// A session with the default values of all variables.
    pub fn new(sql: &'a Sql) -> InternalSession<'a> {
        InternalSession::with_variables(sql, SessionVariables::default())
    }

    /// A session with other values of some variables.
    pub fn with_variables(sql: &'a Sql, variables: SessionVariables) -> InternalSession<'a> {
        InternalSession { sql, session: Session::internal(0, variables) }
    }

    /// Where its statements run.
    pub fn sql(&self) -> &'a Sql {
        self.sql
    }

    /// Executes a statement, whose text is the program's, and gives the rows it answers. Waits for: what the
    /// statement waits for.
    pub async fn run(&mut self, text: &str) -> SqlResult<Vec<Vec<Value>>> {
        let mut rows = Collected::default();
        self.sql.query(&mut self.session, text.as_bytes(), &mut rows).await?;
        Ok(rows.rows)
    }

    /// The same of a statement with a value for each `?` in it.
    pub async fn run_with(&mut self, text: &str, values: &[Value]) -> SqlResult<Vec<Vec<Value>>> {
        let mut rows = Collected::default();
        let (prepared, _) = self.sql.prepare(&mut self.session, text.as_bytes()).await?;
        self.sql.execute(&mut self.session, &prepared, values, &mut rows).await?;
        Ok(rows.rows)
    }

    /// Makes the statements from here on one transaction.
    pub async fn begin(&mut self) -> SqlResult<()> {
        let start = ast::StartTransaction::default();
        self.sql.start_transaction(&mut self.session, &start).await.map(drop)
    }

    /// Commits it.
    pub async fn commit(&mut self) -> SqlResult<()> {
        self.sql.commit(&mut self.session).await
    }

    /// Ends the session; what it has not committed is rolled back.
    pub async fn end(mut self) {
        self.sql.abandon(&mut self.session).await;
    }
}

impl Session {
    /// A session of the server's own that waits in the name of a connection; 0 is none.
    fn internal(connection_id: u64, variables: SessionVariables) -> Session {
        let (user, host) = SecurityContext::INTERNAL;
        let mut session = Session::new(connection_id, user, host, variables, 0);
        session.state.security = SecurityContext::internal();
        session
    }

    /// A session of the server's own that works for the statement of this one: it waits in the name of the
    /// same connection, is killed with the statement, and holds memory by the same limits.
    fn internal_for_statement(&self) -> Session {
        let own = &self.state.variables;
        let variables = SessionVariables {
            // Which dates there are is the statement's affair.
            sql_mode: own.sql_mode,
            time_zone: own.time_zone.clone(),
            lock_wait_timeout: own.lock_wait_timeout,
            metadata_lock_wait_timeout: own.metadata_lock_wait_timeout,
            statement_memory: own.statement_memory,
            connection_memory_limit: own.connection_memory_limit,
            connection_memory_chunk_size: own.connection_memory_chunk_size,
            tracks_connection_memory: own.tracks_connection_memory,
            ..SessionVariables::default()
        };
        let mut session = Session::internal(self.state.connection_id, variables);
        session.state.kill = self.state.kill.clone();
        session.state.memory = self.state.memory.beside();
        session
    }
}

/// The rows of a query over tables that a definition statement of `session` has locked.
pub(crate) async fn query_locked(
    engine: &Arc<Engine>,
    host: &dyn Host,
    session: &Session,
    lock: &ExclusiveLock,
    query: &ast::Query,
) -> SqlResult<Vec<Vec<Value>>> {
    let mut rows = Collected::default();
    let session = session.internal_for_statement();
    query_into(engine, host, session, (lock, query), &mut rows).await?;
    Ok(rows.rows)
}

/// The same for many rows, which `sink` looks at one by one. TIMESTAMPs are those of UTC.
pub(crate) async fn query_locked_into(
    engine: &Arc<Engine>,
    host: &dyn Host,
    session: &Session,
    (lock, query): (&ExclusiveLock, &ast::Query),
    sink: &mut dyn ResultSink,
) -> SqlResult<()> {
    let mut session = session.internal_for_statement();
    session.state.variables.time_zone = Zone::UTC;
    query_into(engine, host, session, (lock, query), sink).await
}

async fn query_into(
    engine: &Arc<Engine>,
    host: &dyn Host,
    mut session: Session,
    (lock, query): (&ExclusiveLock, &ast::Query),
    sink: &mut dyn ResultSink,
) -> SqlResult<()> {
    let plan = {
        let dictionary = engine.dictionary();
        let mut binder = session.binder(host, engine, &dictionary, &[]);
        let bound = binder.query(query)?;
        Arc::new(binder.finish(Some(bound))?)
    };
    let planned = plan.query.as_ref().ok_or_else(|| SqlError::internal("a SELECT has a query"))?;
    let (isolation, access) = (IsolationLevel::ReadCommitted, AccessMode::ReadOnly);
    let transaction = session.start_transaction(engine, isolation, access);
    transaction.hold_exclusive(lock);
    transaction.start_statement();
    let mut context = session.context(host, engine, &[], Some(plan.clone()));
    let sent = send_rows(&mut context.view(), planned, sink).await;
    drop(context);
    if let Some(transaction) = &mut session.transaction {
        transaction.rollback().await?;
    }
    sent.map(drop)
}
