//! What SQL asks of the server: the [`Host`](palisade_sql::Host) of `sql`.

use std::any::Any;
use std::ffi::OsStr;
use std::future::poll_fn;
use std::os::unix::ffi::OsStrExt;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::Poll;
use std::time::{Duration, Instant};

use palisade_base::Event;
use palisade_base::error_catalogue::{
    ER_INCORRECT_GLOBAL_LOCAL_VAR, ER_NO_SUCH_THREAD, ER_NO_SUCH_USER, ER_OPTION_PREVENTS_STATEMENT,
    ER_PERSIST_ONLY_ACCESS_DENIED_ERROR, ER_QUERY_INTERRUPTED, ER_SPECIFIC_ACCESS_DENIED_ERROR,
    ER_UNKNOWN_ERROR, ER_UNKNOWN_SYSTEM_VARIABLE, ER_VAR_DOES_NOT_EXIST, ER_VARIABLE_IS_READONLY,
};
use palisade_base::prng::Prng;
use palisade_base::sysvar::{Place, SessionRule, Setting, Settings, Variable, VariableId};
use palisade_base::sysvar_catalogue as sysvar;
use palisade_base::{MysqlError, mysql_error};
use palisade_catalog::Value;
use palisade_engine::{BuildWork, Engine};
use palisade_expr::memory::ServerMemory;
use palisade_expr::named_locks::NamedLocks;
use palisade_expr::services::Question;
use palisade_observe::prepared::Preparation;
use palisade_parser::ast::Statement;
use palisade_schema::{Change, ChangeKind, Changed, Rows, TableDecl, Wanted};
use palisade_session::environment::{Beside, NamedText};
use palisade_session::prepared_count::{Counted, PreparedCount};
use palisade_sql::session::Killed;
use palisade_sql::stability::{KeptPlan, KeptPlans};
use palisade_sql::{
    Access, Administration, Authorization, Awaited, BoxFuture, Completion, Diagnostics, FileSource,
    FileTarget, Files, ForeignKeyFailure, Processes, ResultSink, RunningStatement, Scope, Services, Session,
    SessionState, SessionView, Sql, SqlResult, SystemVariables, VirtualTables, WaitOutcome,
};

use crate::accounts::authorize::Asker;
use crate::accounts::privilege::Privileges;
use crate::accounts::{AccountName, Accounts, Completeness};
use crate::connections::{Before, Connections};
use crate::innodb_status::{self, Latest};
use crate::instruments::{self, Instruments};
use crate::persisted::{Kept, Values};
use crate::query_logs::general::{self, GeneralLog};
use crate::query_logs::slow::{self, SlowLog};
use crate::query_logs::{self, Which, table};
use crate::reactor::Sleep;
use crate::tls::Secrets;
use crate::variable_sources::Setter;
use crate::variables::{self, Globals, Placements};
use crate::worker::Helpers;
use crate::{administration, error_log, memory_limit, status, task, virtual_tables};

/// The server as its sessions' statements see it.
pub struct ServerHost {
    /// Global values of the system variables.
    pub globals: Globals,
    /// Every connection.
    pub connections: Arc<Connections>,
    /// Who may come in, and do what.
    pub accounts: Accounts,
    /// Certificates and keys.
    pub secrets: Arc<Secrets>,
    /// The storage engine.
    pub engine: Arc<Engine>,
    /// The plans that statements keep, once there is a query processor.
    kept_plans: OnceLock<Arc<KeptPlans>>,
    /// Named locks of all sessions.
    pub named_locks: Arc<NamedLocks>,
    /// Completed when the server is to shut down.
    pub shutdown: Event,
    /// Prepared statements of all sessions.
    pub prepared_statements: PreparedCount,
    /// What all sessions hold in memory.
    pub memory: Arc<ServerMemory>,
    /// When the server started.
    pub started: Instant,
    /// When FLUSH STATUS was last executed, in seconds from then.
    status_flushed_seconds: AtomicU64,
    /// The general query log.
    pub general_log: GeneralLog,
    /// Statements that took long.
    pub slow_log: SlowLog,
    /// What its sessions tell of their statements.
    pub instruments: Instruments,
    /// What SHOW ENGINE INNODB STATUS tells of the past.
    pub(crate) latest: Latest,
    workers: AtomicUsize,
    beside: OnceLock<Crew>,
    version: String,
    random: parking_lot::Mutex<Prng>,
}

impl ServerHost {
    /// The host over `engine`, with these global values. `seed` starts everything random.
    pub fn new(
        engine: Arc<Engine>,
        settings: Settings,
        placements: Placements,
        secrets: Secrets,
        seed: u64,
    ) -> Self {
        let version = settings.text(sysvar::VERSION).unwrap_or_default().to_owned();
        let memory = Arc::default();
        memory_limit::apply(&memory, &settings);
        ServerHost {
            memory,
            instruments: Instruments::new(&settings),
            globals: Globals::new(settings, placements),
            connections: Arc::default(),
            accounts: Accounts::default(),
            secrets: Arc::new(secrets),
            engine,
            kept_plans: OnceLock::new(),
            named_locks: Arc::default(),
            shutdown: Event::new(),
            prepared_statements: PreparedCount::default(),
            started: Instant::now(),
            status_flushed_seconds: AtomicU64::new(0),
            general_log: GeneralLog::default(),
            slow_log: SlowLog::default(),
            latest: Latest::default(),
            workers: AtomicUsize::new(0),
            beside: OnceLock::new(),
            version,
            random: parking_lot::Mutex::new(Prng::new(seed)),
        }
    }

    /// What `question` answers for a restricted session's account; the others may do everything.
    pub fn asked(&self, session: &SessionState, question: impl FnOnce(&Asker<'_>) -> bool) -> bool {
        !session.is_restricted() || question(&Asker::new(session, &self.accounts.load()))
    }

    /// The same, with an error.
    pub fn check(
        &self,
        session: &SessionState,
        question: impl FnOnce(&Asker<'_>) -> SqlResult<()>,
    ) -> SqlResult<()> {
        match session.is_restricted() {
            true => question(&Asker::new(session, &self.accounts.load())),
            false => Ok(()),
        }
    }

    /// What `question` answers about the session's account, of one that may read and change everything as
    /// well.
    pub fn always_check(
        &self,
        session: &SessionState,
        question: impl FnOnce(&Asker<'_>) -> SqlResult<()>,
    ) -> SqlResult<()> {
        question(&Asker::new(session, &self.accounts.load()))
    }

    /// Whether the session may SET SESSION the variable: 1227 or 1621 if not.
    fn check_session_rule(&self, session: &SessionState, variable: &Variable) -> SqlResult<()> {
        const ADMIN: [&str; 2] = ["SYSTEM_VARIABLES_ADMIN", "SESSION_VARIABLES_ADMIN"];
        const APPLIER: &str = "REPLICATION_APPLIER";
        let (applier, named) = match variable.session_rule() {
            SessionRule::Free => return Ok(()),
            SessionRule::ReadOnly => {
                return Err(mysql_error!(ER_VARIABLE_IS_READONLY, "SESSION", variable.name, "GLOBAL"));
            }
            SessionRule::Admin => (false, "SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN"),
            SessionRule::SuperOrAdmin => (false, "SUPER, SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN"),
            SessionRule::AdminOrApplier => {
                (true, "SUPER, SYSTEM_VARIABLES_ADMIN, SESSION_VARIABLES_ADMIN or REPLICATION_APPLIER")
            }
        };
        let may = |asker: &Asker<'_>| {
            ADMIN.iter().any(|name| asker.has_dynamic(name)) || applier && asker.has_dynamic(APPLIER)
        };
        match self.asked(session, may) {
            true => Ok(()),
            false => Err(mysql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, named)),
        }
    }

    /// These are the plans that statements keep, as long as `palisade_plan_stability` is ON.
    pub fn follow_plan_stability(&self, plans: &Arc<KeptPlans>) {
        let plans = self.kept_plans.get_or_init(|| plans.clone());
        if plans.turn(self.globals.load().bool(sysvar::PALISADE_PLAN_STABILITY)) {
            // Those that were made before do not know what is kept.
            self.engine.outdate_plans();
        }
    }

    /// The statements whose plans are kept.
    pub fn kept_plans(&self) -> Vec<KeptPlan> {
        self.kept_plans.get().map_or_else(Vec::new, |plans| plans.list())
    }

    /// Seconds since the server started, and since FLUSH STATUS or that.
    pub fn uptime_seconds(&self) -> (u64, u64) {
        let uptime = self.started.elapsed().as_secs();
        (uptime, uptime.saturating_sub(self.status_flushed_seconds.load(Ordering::Relaxed)))
    }

    /// FLUSH STATUS: every session counts from 0, and the most connections are those of now.
    pub fn flush_status(&self) {
        self.status_flushed_seconds.store(self.started.elapsed().as_secs(), Ordering::Relaxed);
        self.connections.start_counting_over();
    }

    /// From now on parts of statements are run beside them.
    pub fn run_beside_by(self: &Arc<Self>, helpers: Helpers) {
        // There is one team of workers in the life of a server.
        let _ = self.beside.set(Crew { helpers, host: Arc::downgrade(self) });
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

/// Who runs parts of statements.
struct Crew {
    helpers: Helpers,
    /// What the parts are given.
    host: Weak<ServerHost>,
}

fn place(scope: Scope) -> Place {
    match scope {
        Scope::Session => Place::Session,
        Scope::Global => Place::Global,
    }
}

impl Services for ServerHost {
    fn variable(&self, session: &SessionState, scope: Option<Scope>, name: &str) -> SqlResult<Option<Value>> {
        let Some(id) = VariableId::find(name) else { return Ok(None) };
        let setting = variables::read(&self.globals, &self.engine, session, scope.map(place), id)?;
        Ok(Some(variables::to_value(id.declaration(), &setting)))
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

    fn named_locks(&self) -> &Arc<NamedLocks> {
        &self.named_locks
    }

    fn may_compute(&self, _connection_id: u64) -> bool {
        task::may_compute()
    }

    fn performance(&self, session: &SessionState, question: Question<'_>) -> Value {
        virtual_tables::questions::answer(self, session, question)
    }

    fn may_hold_more(&self, session: &SessionState) -> bool {
        self.asked(session, |asker| asker.has_dynamic("CONNECTION_ADMIN"))
    }
}

impl Authorization for ServerHost {
    fn check_table(
        &self,
        session: &SessionState,
        schema: &str,
        table: &str,
        access: Access,
    ) -> SqlResult<()> {
        self.check(session, |asker| asker.check_table(schema, table, access))
    }

    fn check_definer(
        &self,
        session: &SessionState,
        definer: &str,
        schema: &str,
        table: &str,
        access: Access,
    ) -> SqlResult<()> {
        let accounts = self.accounts.load();
        if accounts.completeness() == Completeness::Skipped {
            return Ok(());
        }
        match Asker::of_definer(session, definer, &accounts) {
            Some(asker) => asker.check_table(schema, table, access),
            None => {
                let (user, host) = definer.rsplit_once('@').unwrap_or((definer, ""));
                Err(mysql_error!(ER_NO_SUCH_USER, user, host))
            }
        }
    }

    fn has_account(&self, user: &str, host: &str) -> bool {
        let name = AccountName { user: user.to_owned(), host: host.to_owned() };
        self.accounts.load().get(&name).is_some()
    }

    fn check_statement(&self, session: &SessionState, statement: &Statement) -> SqlResult<()> {
        self.check(session, |asker| asker.check_statement(statement))
    }

    fn dynamic_privileges(&self) -> &'static [&'static str] {
        crate::accounts::privilege::DYNAMIC
    }

    fn check_sees_storage(&self, session: &SessionState) -> SqlResult<()> {
        self.check(session, |asker| asker.require(crate::accounts::privilege::Privileges::PROCESS))
    }

    fn may_see(&self, session: &SessionState, schema: &str, table: Option<&str>) -> bool {
        self.asked(session, |asker| asker.sees(schema, table))
    }

    fn may_enter(&self, session: &SessionState, schema: &str) -> bool {
        self.asked(session, |asker| asker.enters(schema))
    }

    fn column_privileges(&self, session: &SessionState, schema: &str, table: &str) -> Option<String> {
        if !session.is_restricted() {
            return None;
        }
        let granted = Asker::new(session, &self.accounts.load()).column_privileges(schema, table);
        Some(granted.names().join(",").to_ascii_lowercase())
    }

    #[inline]
    fn check_read_only(&self, session: &SessionState) -> SqlResult<()> {
        match self.globals.read_only() {
            None => Ok(()),
            // The query logs go on.
            Some(_) if session.is_internal() => Ok(()),
            Some((_, false)) if self.asked(session, |asker| asker.has_dynamic("CONNECTION_ADMIN")) => Ok(()),
            Some((option, _)) => Err(mysql_error!(ER_OPTION_PREVENTS_STATEMENT, option)),
        }
    }
}

impl SystemVariables for ServerHost {
    fn set_variable(
        &self,
        session: &mut Session,
        scope: Scope,
        name: &str,
        value: Option<Value>,
    ) -> SqlResult<()> {
        let id = VariableId::find(name).ok_or_else(|| mysql_error!(ER_UNKNOWN_SYSTEM_VARIABLE, name))?;
        match scope {
            Scope::Global => {
                self.check(&session.state, |asker| asker.require_dynamic("SYSTEM_VARIABLES_ADMIN"))?
            }
            Scope::Session => self.check_session_rule(&session.state, id.declaration())?,
        }
        let before = self.globals.load();
        variables::assign(&self.globals, &self.engine, session, place(scope), id, value.as_ref())?;
        if scope == Scope::Global {
            memory_limit::apply(&self.memory, &self.globals.load());
            self.instruments.follow(&self.globals.load());
        }
        if scope == Scope::Global && error_log::VARIABLES.contains(&id) {
            error_log::follow(&self.globals.load());
        }
        if scope == Scope::Global && query_logs::VARIABLES.contains(&id) {
            let followed = self.follow_query_logs(query_logs::is_of(id));
            if followed.is_err() {
                self.globals.set(id, before.get(id).clone());
            }
            followed?;
        }
        if id == sysvar::PALISADE_PLAN_STABILITY
            && let Some(plans) = self.kept_plans.get()
        {
            self.follow_plan_stability(plans);
        }
        if id == sysvar::OFFLINE_MODE && self.globals.load().bool(id) {
            self.connections.kill_others();
        }
        if scope == Scope::Session {
            session.changed_settings.push(id);
            if let Some(connection) = self.connections.get(session.state.connection_id) {
                connection.show_settings(&session.state.settings);
            }
        }
        Ok(())
    }

    fn persist_variable<'a>(
        &'a self,
        session: &'a mut Session,
        name: &'a str,
        value: Option<Value>,
        only: bool,
    ) -> BoxFuture<'a, SqlResult<()>> {
        Box::pin(async move {
            let id = VariableId::find(name).ok_or_else(|| mysql_error!(ER_UNKNOWN_SYSTEM_VARIABLE, name))?;
            let variable = id.declaration();
            if !only {
                variable.check_settable(Place::Global)?;
            }
            if !variable.is_persistable() {
                let kind = if variable.dynamic { "non persistent" } else { "non persistent read only" };
                return Err(mysql_error!(ER_INCORRECT_GLOBAL_LOCAL_VAR, variable.name, kind));
            }
            let text = if only {
                self.check(&session.state, |asker| {
                    let both = [CHANGES_VARIABLES, PERSISTS_STATIC];
                    match both.iter().all(|name| asker.has_dynamic(name)) {
                        true => Ok(()),
                        false => Err(mysql_error!(ER_PERSIST_ONLY_ACCESS_DENIED_ERROR, both.join(" and "))),
                    }
                })?;
                variables::persisted_text(&self.globals, session, id, value.as_ref())?
            } else {
                self.set_variable(session, Scope::Global, name, value)?;
                variables::kept_text(variable, self.globals.load().get(id))
            };
            let kept = Kept { value: text, setter: Setter::of(session) };
            self.change_persisted(move |values| values.insert(variable.name.to_owned(), kept)).await?;
            Ok(())
        })
    }

    fn variables(&self, session: &SessionState, scope: Scope) -> Vec<(String, String)> {
        if scope == Scope::Global {
            return self.globals.shown();
        }
        let shown = VariableId::all().filter_map(|id| {
            let variable = id.declaration();
            let setting = match id {
                // Only a statement that reads them by @@ keeps what the one before has left.
                sysvar::WARNING_COUNT | sysvar::ERROR_COUNT => Setting::UInt(0),
                _ => variables::read(&self.globals, &self.engine, session, None, id).ok()?,
            };
            Some((variable.name.to_owned(), variable.shown(&setting)))
        });
        shown.collect()
    }

    fn status(&self, session: SessionView<'_>, scope: Scope) -> Vec<(String, String)> {
        let own = self.connections.get(session.state.connection_id).filter(|_| scope == Scope::Session);
        status::all(self, own.as_deref().map(|connection| (connection, session)))
    }
}

impl VirtualTables for ServerHost {
    fn virtual_tables(&self) -> Vec<&'static TableDecl> {
        virtual_tables::REGISTRY.declarations().collect()
    }

    fn find_virtual_table(&self, schema: &str, name: &str) -> Option<&'static TableDecl> {
        virtual_tables::REGISTRY.find(schema, name)
    }

    fn virtual_rows(&self, session: SessionView<'_>, table: &TableDecl, wanted: &Wanted) -> Rows {
        let rows = virtual_tables::REGISTRY.rows(table, &virtual_tables::Source::new(self, session), wanted);
        rows.unwrap_or_else(|| Box::new(std::iter::empty()))
    }

    fn allows_virtual_change(&self, table: &TableDecl, kind: ChangeKind) -> bool {
        virtual_tables::REGISTRY.allows(table, kind)
    }

    fn change_virtual_row(
        &self,
        session: SessionView<'_>,
        table: &TableDecl,
        change: &Change<'_>,
    ) -> Changed {
        virtual_tables::REGISTRY.change(table, &virtual_tables::Source::new(self, session), change)
    }

    fn truncate_virtual_table(&self, session: SessionView<'_>, table: &TableDecl) -> bool {
        virtual_tables::REGISTRY.truncate(table, &virtual_tables::Source::new(self, session))
    }
}

impl Processes for ServerHost {
    fn kill(&self, session: &SessionState, connection_id: u64, only_statement: bool) -> SqlResult<()> {
        let connection = self
            .connections
            .get(connection_id)
            .ok_or_else(|| mysql_error!(ER_NO_SUCH_THREAD, connection_id))?;
        let accounts = self.accounts.load();
        let target = connection.account();
        Asker::new(session, &accounts).check_kill(connection_id, &connection.user(), &accounts, &target)?;
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

    fn show_plan(&self, connection_id: u64, plan: Weak<dyn Any + Send + Sync>) {
        if let Some(connection) = self.connections.get(connection_id) {
            connection.show_plan(plan);
        }
    }

    fn show_work(&self, connection_id: u64, work: &Arc<BuildWork>) {
        if self.instruments.collects()
            && let Some(connection) = self.connections.get(connection_id)
        {
            connection.works.add(work);
        }
    }

    fn running(&self, session: &SessionState, connection_id: u64) -> SqlResult<RunningStatement> {
        let connection = self
            .connections
            .get(connection_id)
            .ok_or_else(|| mysql_error!(ER_NO_SUCH_THREAD, connection_id))?;
        let accounts = self.accounts.load();
        Asker::new(session, &accounts).check_explains(&connection.user())?;
        Ok(connection.running())
    }

    fn run_beside(&self, part: Beside) -> bool {
        let Some(Crew { helpers, host }) = self.beside.get() else { return false };
        host.upgrade().is_some_and(|host| helpers.run(part(host)))
    }

    fn threads_beside(&self) -> usize {
        self.beside.get().map_or(1, |crew| crew.helpers.count())
    }

    fn is_busy(&self) -> bool {
        self.beside.get().is_some_and(|crew| crew.helpers.are_workers_busy())
    }

    fn count_prepared(&self) -> SqlResult<Counted> {
        self.prepared_statements.one_more(self.globals.uint(sysvar::MAX_PREPARED_STMT_COUNT))
    }

    fn follow_prepared(&self, connection_id: u64, named: NamedText<'_>) -> u32 {
        let Some(connection) = self.connections.get(connection_id) else { return 0 };
        let preparation = Preparation {
            number: named.number,
            name: Some(named.name.into()),
            text: named.text.into(),
            prepare_ns: instruments::nanos_of(named.took),
            basis: named.basis,
        };
        self.instruments.follow_prepared(&connection, preparation, self.prepared_statements.value())
    }

    fn forget_prepared(&self, connection_id: u64, number: u32) {
        if let Some(connection) = self.connections.get(connection_id) {
            connection.events.lock().end_prepared(number);
        }
    }

    fn wait<'a>(
        &'a self,
        connection_id: u64,
        event: Event,
        awaited: Awaited,
        limit: Option<Duration>,
    ) -> BoxFuture<'a, WaitOutcome> {
        Box::pin(async move {
            let connection = self.connections.get(connection_id);
            let killed = || connection.as_ref().is_some_and(|connection| connection.kill.get() != Killed::No);
            let stream = connection.as_ref().and_then(|connection| connection.stream());
            let watched = stream.as_ref().filter(|_| awaited != Awaited::Machine);
            let mut event = pin!(event);
            let mut time_is_up = pin!(async {
                match (limit, &stream) {
                    (Some(limit), Some(stream)) => Sleep::new(stream.event_loop(), limit).await,
                    (Some(limit), None) => tokio::time::sleep(limit).await,
                    (None, _) => std::future::pending().await,
                }
            });
            if let Some(connection) = &connection {
                connection.waits_for(Some(awaited));
            }
            let outcome = poll_fn(|context| {
                if event.as_mut().poll(context).is_ready() {
                    return Poll::Ready(WaitOutcome::Happened);
                }
                if killed() {
                    return Poll::Ready(WaitOutcome::Killed);
                }
                if let Some(connection) = &connection
                    && watched.is_some_and(|stream| stream.poll_closed(context).is_ready())
                {
                    status::ABORTED_CLIENTS.increment();
                    connection.kill_connection();
                    return Poll::Ready(WaitOutcome::Killed);
                }
                time_is_up.as_mut().poll(context).map(|()| WaitOutcome::TimedOut)
            })
            .await;
            if let Some(connection) = &connection {
                connection.waits_for(None);
            }
            outcome
        })
    }

    fn pause(&self, connection_id: u64) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            task::yield_now().await;
            self.end_if_gone(connection_id);
        })
    }

    fn monotonic(&self) -> Duration {
        variables::monotonic()
    }
}

impl Files for ServerHost {
    fn open_file<'a>(&'a self, path: &'a [u8]) -> BoxFuture<'a, SqlResult<Box<dyn FileSource>>> {
        let settings = self.globals.load();
        let datadir = settings.text(sysvar::DATADIR).unwrap_or("data").into();
        let allowed = settings.text(sysvar::SECURE_FILE_PRIV).map(Into::into);
        let path = OsStr::from_bytes(path).into();
        Box::pin(crate::files::open(datadir, allowed, path))
    }

    fn create_file<'a>(
        &'a self,
        session: &'a SessionState,
        path: &'a [u8],
    ) -> BoxFuture<'a, SqlResult<Box<dyn FileTarget>>> {
        Box::pin(async move {
            self.check(session, |asker| asker.require(Privileges::FILE))?;
            let settings = self.globals.load();
            let datadir = settings.text(sysvar::DATADIR).unwrap_or("data").into();
            let allowed = settings.text(sysvar::SECURE_FILE_PRIV).map(Into::into);
            let synced = session.settings.bool(sysvar::SELECT_INTO_DISK_SYNC);
            crate::files::create(datadir, allowed, OsStr::from_bytes(path).into(), synced).await
        })
    }
}

impl Diagnostics for ServerHost {
    fn note_foreign_key_failure(&self, session: &SessionState, failure: ForeignKeyFailure<'_>) {
        innodb_status::note_foreign_key_failure(self, session, failure);
    }
}

impl Administration for ServerHost {
    fn writes_log_table(&self, name: &str) -> bool {
        table::is_written(&self.globals.load(), name)
    }

    fn administer<'a>(
        &'a self,
        sql: &'a Sql,
        session: &'a mut Session,
        statement: &'a Statement,
        sink: &'a mut dyn ResultSink,
    ) -> BoxFuture<'a, Option<SqlResult<Completion>>> {
        Box::pin(async move { administration::administer(self, sql, session, statement, sink).await })
    }
}

/// What SET GLOBAL needs.
const CHANGES_VARIABLES: &str = "SYSTEM_VARIABLES_ADMIN";
/// What SET PERSIST_ONLY needs as well.
const PERSISTS_STATIC: &str = "PERSIST_RO_VARIABLES_ADMIN";

impl ServerHost {
    /// Opens or closes these query logs as the settings say, and has sessions note what goes there, or not:
    /// 29 if one cannot be opened.
    pub fn follow_query_logs(&self, which: Which) -> SqlResult<()> {
        let settings = self.globals.load();
        if which != Which::Slow {
            table::check(&self.engine, &settings, "general_log", general::is_on(&settings))?;
            self.general_log.follow(&settings)?;
            self.connections.log_commands(Before::GENERAL_LOG, general::is_on(&settings));
        }
        if which != Which::General {
            table::check(&self.engine, &settings, "slow_log", slow::is_on(&settings))?;
            self.slow_log.follow(&settings)?;
            self.connections.log_commands(Before::SLOW_LOG, slow::is_on(&settings));
        }
        Ok(())
    }

    /// Changes what is kept of the variables; 1105 if that cannot be written.
    async fn change_persisted<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Values) -> T + Send + 'static,
    ) -> SqlResult<T> {
        let persisted = self.globals.persisted.clone();
        let done = tokio::task::spawn_blocking(move || persisted.change(change)).await;
        let failed = |message: String| MysqlError::with_message(&ER_UNKNOWN_ERROR, message);
        done.map_err(|error| failed(error.to_string()))?.map_err(failed)
    }

    /// RESET PERSIST: forgets a variable's value that is kept, or all of them.
    pub async fn reset_persisted(
        &self,
        session: &mut Session,
        name: Option<&str>,
        if_exists: bool,
    ) -> SqlResult<()> {
        let needs = |name: &str| match VariableId::find(name).map(VariableId::declaration) {
            Some(variable) if variable.dynamic => CHANGES_VARIABLES,
            _ => PERSISTS_STATIC,
        };
        let may = |needed: &str| self.asked(&session.state, |asker| asker.has_dynamic(needed));
        let (may_dynamic, may_static) = (may(CHANGES_VARIABLES), may(PERSISTS_STATIC));
        let wanted = name.map(str::to_ascii_lowercase);
        let removed = self.change_persisted(move |values| {
            let wanted: Vec<String> = match wanted {
                Some(name) => values.contains_key(&name).then_some(name).into_iter().collect(),
                None => values.keys().cloned().collect(),
            };
            let missing = wanted
                .iter()
                .map(|name| needs(name))
                .find(|needed| !may_dynamic || *needed == PERSISTS_STATIC && !may_static);
            if let Some(needed) = missing {
                return Err(mysql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, needed));
            }
            wanted.iter().for_each(|name| drop(values.remove(name)));
            Ok(wanted.len())
        });
        match (removed.await??, name) {
            (0, Some(name)) => {
                let error = mysql_error!(ER_VAR_DOES_NOT_EXIST, name);
                if !if_exists {
                    return Err(error);
                }
                session.state.warnings.warn(error);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Ends a connection whose client has gone, as far as its reactor knows.
    pub fn end_if_gone(&self, connection_id: u64) {
        if let Some(connection) = self.connections.get(connection_id)
            && connection.kill.get() != Killed::Connection
            && connection.has_hung_up()
        {
            status::ABORTED_CLIENTS.increment();
            connection.kill_connection();
        }
    }

    /// What VERSION() answers.
    pub fn version(&self) -> &str {
        &self.version
    }
}
