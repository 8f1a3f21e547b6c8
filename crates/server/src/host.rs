//! What SQL asks of the server: the [`Host`] of `sql`.

use std::ffi::OsStr;
use std::future::poll_fn;
use std::os::unix::ffi::OsStrExt;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use palisade_base::Event;
use palisade_base::error_catalogue::{ER_NO_SUCH_THREAD, ER_QUERY_INTERRUPTED, ER_UNKNOWN_SYSTEM_VARIABLE};
use palisade_base::mysql_error;
use palisade_base::prng::Prng;
use palisade_base::sysvar::{Place, Scope as Declared, Settings, VariableId};
use palisade_base::sysvar_catalogue as sysvar;
use palisade_catalog::Value;
use palisade_engine::Engine;
use palisade_parser::ast::Statement;
use palisade_sql::session::Killed;
use palisade_sql::{
    BoxFuture, Completion, FileSource, Host, ResultSink, Scope, Session, SqlResult, VirtualTable, WaitOutcome,
};

use crate::connections::Connections;
use crate::variables::{self, Globals};
use crate::{administration, status, virtual_tables};

/// The server as its sessions' statements see it.
pub struct ServerHost {
    /// Global values of the system variables.
    pub globals: Globals,
    /// Every connection.
    pub connections: Arc<Connections>,
    /// The storage engine.
    pub engine: Arc<Engine>,
    /// Completed when the server is to shut down.
    pub shutdown: Event,
    /// Prepared statements of all sessions.
    pub prepared_statements: AtomicU64,
    /// When the server started.
    pub started: Instant,
    workers: AtomicUsize,
    version: String,
    random: parking_lot::Mutex<Prng>,
}

impl ServerHost {
    /// The host over `engine`, with these global values. `seed` starts everything random.
    pub fn new(engine: Arc<Engine>, settings: Settings, seed: u64) -> Self {
        let version = settings.text(sysvar::VERSION).unwrap_or_default().to_owned();
        ServerHost {
            globals: Globals::new(settings),
            connections: Arc::default(),
            engine,
            shutdown: Event::new(),
            prepared_statements: AtomicU64::new(0),
            started: Instant::now(),
            workers: AtomicUsize::new(0),
            version,
            random: parking_lot::Mutex::new(Prng::new(seed)),
        }
    }

    /// How many workers there are.
    pub fn worker_count(&self) -> usize {
        self.workers.load(Ordering::Relaxed)
    }

    /// Sets how many workers there are.
    pub fn set_worker_count(&self, count: usize) {
        self.workers.store(count, Ordering::Relaxed);
    }
}

fn place(scope: Scope) -> Place {
    match scope {
        Scope::Session => Place::Session,
        Scope::Global => Place::Global,
    }
}

impl Host for ServerHost {
    fn variable(&self, session: &Session, scope: Option<Scope>, name: &str) -> SqlResult<Option<Value>> {
        let Some(id) = VariableId::find(name) else { return Ok(None) };
        let setting = variables::read(&self.globals, &self.engine, session, scope.map(place), id)?;
        Ok(Some(variables::to_value(id.declaration(), &setting)))
    }

    fn set_variable(
        &self,
        session: &mut Session,
        scope: Scope,
        name: &str,
        value: Option<Value>,
    ) -> SqlResult<()> {
        let id = VariableId::find(name).ok_or_else(|| mysql_error!(ER_UNKNOWN_SYSTEM_VARIABLE, name))?;
        variables::assign(&self.globals, &self.engine, session, place(scope), id, value.as_ref())
    }

    fn variables(&self, session: &Session, scope: Scope) -> Vec<(String, String)> {
        let globals = self.globals.load();
        let shown = VariableId::all().filter_map(|id| {
            let variable = id.declaration();
            let setting = match (scope, variable.scope) {
                (Scope::Global, Declared::Session) => return None,
                (Scope::Global, _) => globals.get(id).clone(),
                (Scope::Session, _) => {
                    variables::read(&self.globals, &self.engine, session, None, id).ok()?
                }
            };
            Some((variable.name.to_owned(), variable.shown(&setting)))
        });
        shown.collect()
    }

    fn status(&self, _session: &Session, _scope: Scope) -> Vec<(String, String)> {
        status::all(self)
    }

    fn virtual_table(
        &self,
        session: &Session,
        schema: &str,
        name: &str,
        with_rows: bool,
    ) -> Option<VirtualTable> {
        virtual_tables::table(self, session, schema, name, with_rows)
    }

    fn virtual_table_names(&self) -> Vec<(String, String)> {
        virtual_tables::names()
    }

    fn kill(&self, session: &Session, connection_id: u64, only_statement: bool) -> SqlResult<()> {
        let connection = self
            .connections
            .get(connection_id)
            .ok_or_else(|| mysql_error!(ER_NO_SUCH_THREAD, connection_id))?;
        if only_statement {
            connection.kill_statement();
        } else {
            connection.kill_connection();
        }
        if connection_id == session.connection_id {
            return Err(mysql_error!(ER_QUERY_INTERRUPTED));
        }
        Ok(())
    }

    fn administer<'a>(
        &'a self,
        session: &'a mut Session,
        statement: &'a Statement,
        sink: &'a mut dyn ResultSink,
    ) -> BoxFuture<'a, Option<SqlResult<Completion>>> {
        Box::pin(async move { administration::administer(self, session, statement, sink) })
    }

    fn wait<'a>(
        &'a self,
        connection_id: u64,
        event: Event,
        limit: Option<Duration>,
    ) -> BoxFuture<'a, WaitOutcome> {
        Box::pin(async move {
            let connection = self.connections.get(connection_id);
            let killed = || connection.as_ref().is_some_and(|connection| connection.kill.get() != Killed::No);
            let mut event = pin!(event);
            let mut time_is_up = pin!(async {
                match limit {
                    Some(limit) => tokio::time::sleep(limit).await,
                    None => std::future::pending().await,
                }
            });
            poll_fn(|context| {
                if event.as_mut().poll(context).is_ready() {
                    return Poll::Ready(WaitOutcome::Happened);
                }
                if killed() {
                    return Poll::Ready(WaitOutcome::Killed);
                }
                time_is_up.as_mut().poll(context).map(|()| WaitOutcome::TimedOut)
            })
            .await
        })
    }

    fn open_file<'a>(&'a self, path: &'a [u8]) -> BoxFuture<'a, SqlResult<Box<dyn FileSource>>> {
        let settings = self.globals.load();
        let datadir = settings.text(sysvar::DATADIR).unwrap_or("data").into();
        let allowed = settings.text(sysvar::SECURE_FILE_PRIV).map(Into::into);
        let path = OsStr::from_bytes(path).into();
        Box::pin(crate::files::open(datadir, allowed, path))
    }

    fn unix_micros(&self) -> i64 {
        variables::unix_micros()
    }

    fn random(&self) -> u64 {
        self.random.lock().next_u64()
    }

    fn version(&self) -> &str {
        &self.version
    }
}
