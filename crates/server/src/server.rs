//! The server's life: start, serve, shut down.

use std::any::Any;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use palisade_base::Event;
use palisade_base::error_catalogue::ER_CON_COUNT_ERROR;
use palisade_base::mysql_error;
use palisade_base::sysvar::{Setting, Settings};
use palisade_base::sysvar_catalogue as sysvar;
use palisade_engine::{Engine, EngineConfig, PageSize, WorkerInbox};
use palisade_io::{FileSystem, OsFileSystem, Placement};
use palisade_protocol::response::encode_early_error;
use palisade_sql::{Sql, SqlResult};
use tokio::runtime::{EnterGuard, Handle, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tracing::{info, warn};

use crate::channel::Channel;
use crate::connections::{Connection, Entry};
use crate::event_loop::EventLoop;
use crate::host::ServerHost;
pub use crate::listener::Listeners;
use crate::listener::{self, Incoming};
use crate::locality::{OsProcessors, Processors};
use crate::login::Peer;
use crate::options::{self, Options};
use crate::query_logs::{self, Which};
use crate::stream::Socket;
use crate::task::TaskFuture;
use crate::tls::Secrets;
use crate::variables::Placements;
use crate::worker::{Surroundings, Workers};
use crate::{
    administration, engine_variables, error_log, http, innodb_status, memory_limit, persisted, pool_dump,
    pool_resize, session, status, task, time_zone, variables,
};

/// A running server, as its sessions see it.
pub struct Server {
    /// What statements ask of it.
    pub host: Arc<ServerHost>,
    /// The query processor.
    pub sql: Arc<Sql>,
}

/// How long sessions have to end when the server shuts down.
const FAREWELL: Duration = Duration::from_secs(10);
/// A session that is in one and the same step for so long after it was asked to end is not waited for.
const HELD: Duration = Duration::from_millis(400);
/// How long the last threads are waited for.
const LAST_WAIT: Duration = Duration::from_millis(400);

/// Runs a server with these settings until `shutdown` happens or a client shuts it down. `ready` is told
/// where to connect when that is possible. Blocks.
pub fn run(options: Options, shutdown: Event, ready: impl FnOnce(&Listeners)) -> Result<(), String> {
    run_on(Ground::default(), options, shutdown, ready)
}

/// What a server stands on.
pub struct Ground {
    /// Where the data are; certificates and keys are the operating system's files in any case.
    pub file_system: Arc<dyn FileSystem>,
    /// What the workers run on.
    pub processors: Arc<dyn Processors>,
}

impl Default for Ground {
    fn default() -> Self {
        Ground { file_system: Arc::new(OsFileSystem::new()), processors: Arc::new(OsProcessors) }
    }
}

/// [`run`] on a ground of the caller's.
pub fn run_on(
    ground: Ground,
    options: impl Into<Options>,
    shutdown: Event,
    ready: impl FnOnce(&Listeners),
) -> Result<(), String> {
    let mut options = options.into();
    persisted::load(&mut options)?;
    let Options { mut settings, given, collected, .. } = options;
    complete(&mut settings);
    error_log::open(&mut settings)?;
    error_log::follow(&settings);
    raise_open_files_limit();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start an event loop: {error}"))?;
    let bound = runtime.block_on(async { listener::bind(&settings) })?;
    let http = http::bind(&settings)?;
    let placements = Placements::new(&settings).map_err(|error| error.message)?;
    let engine = open_engine(ground.file_system, &settings, &placements)?;
    let secrets = Secrets::open(&settings)?;
    let pid_file = write_pid_file(&settings)?;
    let host = Arc::new(ServerHost::new(engine.clone(), settings, placements, secrets, random_seed()));
    let sql = Sql::new(engine.clone(), host.clone());
    *host.globals.sources.lock() = given.into_iter().collect();
    options::collected::apply(&collected, &host.instruments.setup);
    innodb_status::watch_deadlocks(&host);
    let skips_accounts = host.globals.load().bool(sysvar::SKIP_GRANT_TABLES);
    runtime
        .block_on(host.accounts.open(&sql, skips_accounts))
        .map_err(|error| format!("cannot read the accounts: {}", error.message))?;
    match runtime.block_on(sql.load_bindings()) {
        Ok((_, 0)) => {}
        Ok((_, passed_over)) => warn!("{passed_over} bindings of mysql.palisade_bindings are no statements"),
        Err(error) => warn!("cannot read the bindings of statements: {}", error.message),
    }
    match runtime.block_on(sql.load_kept_plans()) {
        Ok(0) => {}
        Ok(passed_over) => warn!("{passed_over} rows of mysql.palisade_plans say no plan"),
        Err(error) => warn!("cannot read the plans that statements keep: {}", error.message),
    }
    host.follow_plan_stability(sql.kept_plans());
    // The tables of the logs are made with those of the accounts.
    host.follow_query_logs(Which::Both).map_err(|error| error.message)?;
    let server = Arc::new(Server { host: host.clone(), sql: sql.clone() });
    let workers = start_workers(&host, ground.processors, runtime.handle())?;
    runtime.spawn(reap(host.clone()));
    runtime.spawn(save_plans(sql.clone()));
    runtime.spawn(follow_hangups(server.clone()));
    let listeners = runtime.block_on(async { bound.listen() })?;
    let http = http.map(|listener| http::start(server.clone(), listener)).transpose()?;
    ready(&listeners);
    pool_dump::at_start(&engine, &host.globals.load());
    runtime.block_on(accept(&server, &workers, &listeners, shutdown));
    info!("shutting down");
    drop(listeners);
    if let Some(http) = http {
        http.end();
    }
    runtime.block_on(farewell(&host, &workers));
    warn_unsaved(&runtime.block_on(sql.save_kept_plans()));
    let left = workers.stop(LAST_WAIT);
    drop(server);
    match left {
        0 => {
            pool_dump::at_shutdown(&engine, &host.globals.load());
            let problem = |error| format!("the storage engine did not shut down cleanly: {error}");
            engine.shutdown().map_err(problem)?;
        }
        left => end_without_engine(&runtime, &engine, left),
    }
    if let Some(path) = pid_file {
        // a pid file that stays does no harm
        let _ = std::fs::remove_file(path);
    }
    runtime.shutdown_timeout(LAST_WAIT);
    info!("shutdown complete");
    Ok(())
}

/// Ends while `left` threads are still held by sessions. Such a thread may be anywhere, in the middle of a
/// change of a page with its latch held as well, so the engine is not shut down: its pages are not written
/// back, and the next start recovers. What was committed with `innodb_flush_log_at_trx_commit` = 0 or 2 is
/// made durable, if the log is not held by such a thread too.
fn end_without_engine(runtime: &Runtime, engine: &Engine, left: usize) {
    warn!("{left} threads are held by sessions: ending without them; the next start recovers");
    let flushed = runtime.block_on(async { tokio::time::timeout(LAST_WAIT, engine.flush_log()).await });
    match flushed {
        Ok(Ok(())) => {}
        Ok(Err(error)) => warn!("the log could not be flushed: {error}"),
        Err(_) => warn!("the log could not be flushed in time"),
    }
}

/// Every client is an open file: the process may have as many as the system lets it.
fn raise_open_files_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        warn!("cannot raise the limit of open files: {error}");
    }
}

/// Fills in what the machine knows, and what follows from other settings.
fn complete(settings: &mut Settings) {
    let read = |path: &str| std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    let hostname = read("/proc/sys/kernel/hostname").unwrap_or_else(|| "localhost".to_owned());
    settings.set(sysvar::HOSTNAME, Setting::Text(hostname.into()));
    let zone = time_zone::system();
    if let Some(problem) = &zone.problem {
        warn!("{problem}");
    }
    settings.set(sysvar::SYSTEM_TIME_ZONE, Setting::Text(zone.abbreviation.as_str().into()));
    if settings.text(sysvar::SERVER_UUID).is_none_or(str::is_empty) {
        let uuid = read("/proc/sys/kernel/random/uuid").unwrap_or_default();
        settings.set(sysvar::SERVER_UUID, Setting::Text(uuid.into()));
    }
    complete_paths(settings);
    pool_resize::settle_chunk_size(settings);
}

/// The data directory as clients are told it, whole and with a slash at its end, and the files of the query
/// logs.
fn complete_paths(settings: &mut Settings) {
    let datadir = Path::new(settings.text(sysvar::DATADIR).unwrap_or("data")).join("");
    let datadir = std::path::absolute(&datadir).unwrap_or(datadir);
    settings.set(sysvar::DATADIR, Setting::Text(datadir.to_string_lossy().into()));
    query_logs::name_files(settings);
}

/// `innodb_page_size`; an error, in MySQL's words, if no page has so many bytes.
fn page_size(settings: &Settings) -> Result<PageSize, String> {
    let bytes = settings.uint(sysvar::INNODB_PAGE_SIZE);
    PageSize::of(bytes).ok_or_else(|| format!("Invalid page size={bytes}."))
}

/// Bytes of addresses that are set aside for the buffer pool at most.
const MOST_ADDRESSES: u64 = 16 << 40;

fn open_engine(
    file_system: Arc<dyn FileSystem>,
    settings: &Settings,
    placements: &Placements,
) -> Result<Arc<Engine>, String> {
    let datadir = PathBuf::from(settings.text(sysvar::DATADIR).unwrap_or("data"));
    let mut config = EngineConfig {
        page_size: page_size(settings)?,
        buffer_pool_most: memory_limit::available_bytes().min(MOST_ADDRESSES),
        log_writer_placement: placements.log_writer.clone(),
        log_flusher_placement: placements.log_flusher.clone(),
        datadir,
        ..EngineConfig::default()
    };
    engine_variables::configure(&mut config, settings);
    let engine = Engine::open(config, file_system).map_err(|error| error.to_string())?;
    engine_variables::complete(&engine, settings);
    set_monitors(&engine, settings);
    Ok(engine)
}

/// `innodb_monitor_enable` and its like as options: several names are separated by commas, semicolons or
/// spaces.
fn set_monitors(engine: &Engine, settings: &Settings) {
    for id in [sysvar::INNODB_MONITOR_DISABLE, sysvar::INNODB_MONITOR_ENABLE] {
        let names = settings.text(id).unwrap_or_default();
        let Some(operation) = variables::monitor_operation(id) else { continue };
        for name in names.split([' ', ';', ',']).filter(|name| !name.is_empty()) {
            if engine.monitor(operation, name).is_err() {
                warn!("{}: there is no counter or module '{name}'", id.declaration().name);
            }
        }
    }
}

fn write_pid_file(settings: &Settings) -> Result<Option<PathBuf>, String> {
    let path = settings.text(sysvar::PID_FILE).unwrap_or_default();
    if path.is_empty() {
        return Ok(None);
    }
    let path = Path::new(path);
    let written = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o640).open(path);
    written
        .and_then(|mut file| writeln!(file, "{}", std::process::id()))
        .map_err(|error| format!("pid file {}: {error}", path.display()))?;
    Ok(Some(path.to_owned()))
}

/// A number that differs from start to start.
fn random_seed() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

fn start_workers(
    host: &Arc<ServerHost>,
    processors: Arc<dyn Processors>,
    runtime: &Handle,
) -> Result<Workers, String> {
    let count = match host.globals.uint(sysvar::WORKER_THREADS) {
        0 => match worker_cpus(host).count() {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            count => count,
        },
        count => count as usize,
    };
    host.set_worker_count(count);
    let surroundings = Arc::new(ServerSurroundings {
        runtime: runtime.clone(),
        placement: host.globals.placements.worker.clone(),
        engine: host.engine.clone(),
        inboxes: (0..count).map(|_| OnceLock::new()).collect(),
    });
    let looked_at = host.clone();
    let looks_at_client = move |connection| looked_at.end_if_gone(connection);
    let for_administrators = listener::administrative_address(&host.globals.load())?.is_some();
    let workers = Workers::start(count, for_administrators, processors, surroundings, looks_at_client)
        .map_err(|error| format!("cannot start the workers: {error}"))?;
    host.run_beside_by(workers.helpers());
    Ok(workers)
}

/// What the threads of the workers have of the server.
struct ServerSurroundings {
    /// For what is done aside, by threads that may wait for the operating system.
    runtime: Handle,
    placement: Placement,
    engine: Arc<Engine>,
    /// Each worker's waits for durability. Its background owns them, and lets go of them when the worker is
    /// stopped.
    inboxes: Vec<OnceLock<Weak<WorkerInbox>>>,
}

impl Surroundings for ServerSurroundings {
    fn enter(&self, worker: Option<usize>) -> Box<dyn Any> {
        // Elsewhere it works as well: only slower, or faster.
        let stay = self.placement.enter();
        let inbox = worker.and_then(|worker| self.inboxes.get(worker)?.get()?.upgrade());
        if let Some(inbox) = inbox {
            inbox.enter();
        }
        Box::new(stay)
    }

    fn enter_runtime(&self) -> EnterGuard<'_> {
        self.runtime.enter()
    }

    fn background(&self, worker: usize) -> TaskFuture {
        let inbox = Arc::new(self.engine.worker_inbox());
        if let Some(place) = self.inboxes.get(worker) {
            // a worker has one background
            let _ = place.set(Arc::downgrade(&inbox));
        }
        Box::pin(async move { inbox.pump(task::yield_now).await })
    }
}

/// The processors of `innodb_worker_affinity`.
fn worker_cpus(host: &ServerHost) -> palisade_io::CpuList {
    let settings = host.globals.load();
    let text = settings.text(sysvar::INNODB_WORKER_AFFINITY).unwrap_or_default();
    variables::cpu_list(sysvar::INNODB_WORKER_AFFINITY.declaration(), text).unwrap_or_default()
}

/// Ends connections whose clients are silent for too long; looks once a second.
async fn reap(host: Arc<ServerHost>) {
    let begun = Instant::now();
    let mut every_second = tokio::time::interval(Duration::from_secs(1));
    loop {
        every_second.tick().await;
        host.connections.reap(begun.elapsed().as_secs());
    }
}

/// Writes every few seconds what has changed of the plans that statements keep.
async fn save_plans(sql: Arc<Sql>) {
    let mut every_few_seconds = tokio::time::interval(Duration::from_secs(5));
    let mut has_failed = false;
    loop {
        every_few_seconds.tick().await;
        let saved = sql.save_kept_plans().await;
        // One that cannot write is not to fill the log.
        if !has_failed {
            warn_unsaved(&saved);
        }
        has_failed = saved.is_err();
    }
}

fn warn_unsaved(saved: &SqlResult<()>) {
    if let Err(error) = saved {
        warn!("cannot write the plans that statements keep: {}", error.message);
    }
}

/// Accepts clients until the server is to shut down.
async fn accept(server: &Arc<Server>, workers: &Workers, listeners: &Listeners, shutdown: Event) {
    let asked_by_client = server.host.shutdown.clone();
    let mut ended = std::pin::pin!(async {
        tokio::select! { () = shutdown => {}, () = asked_by_client => {} }
    });
    loop {
        let next = async {
            // What comes meanwhile waits in the operating system's queue.
            while server.host.connections.has_long_queue() {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            listeners.accept().await
        };
        let accepted = tokio::select! {
            () = &mut ended => return,
            accepted = next => accepted,
        };
        match accepted {
            Ok(incoming) => welcome(server, workers, incoming),
            Err(error) => {
                warn!("cannot accept a connection: {error}");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

fn welcome(server: &Arc<Server>, workers: &Workers, incoming: Incoming) {
    let host = &server.host;
    let Incoming { socket, address, is_administrative } = incoming;
    let peer = address.map_or(Peer::Local, |address| Peer::Remote(address.ip()));
    let port = address.map(|address| address.port());
    let entry = match is_administrative {
        true => Entry::Entered(host.connections.enter_administrator(peer.host(), port)),
        false => {
            host.connections.enter(peer.host(), port, host.globals.uint(sysvar::MAX_CONNECTIONS) as usize)
        }
    };
    let connection = match &entry {
        Entry::Entered(visit) => Arc::clone(visit),
        Entry::Refused(connection) => connection.clone(),
    };
    let server = server.clone();
    workers.spawn(&connection, move |share| async move {
        let visit = match entry {
            Entry::Entered(visit) => visit,
            Entry::Refused(connection) => return refuse(share.event_loop(), socket, connection).await,
        };
        match Channel::new(share.event_loop(), socket, visit.clone()) {
            Ok(channel) => session::serve(server, channel, peer, visit, share).await,
            Err(error) => session::lost(&error),
        }
    });
}

/// Tells a client that there are too many.
async fn refuse(event_loop: &Arc<EventLoop>, socket: Socket, connection: Arc<Connection>) {
    status::CONNECTION_ERRORS_MAX_CONNECTIONS.increment();
    match Channel::new(event_loop, socket, connection) {
        Ok(mut channel) => {
            channel.output.packet(|out| encode_early_error(out, &mysql_error!(ER_CON_COUNT_ERROR)));
            // the connection ends in any case
            let _ = channel.flush().await;
        }
        Err(error) => session::lost(&error),
    }
}

/// SIGHUP asks for what FLUSH LOGS and FLUSH PRIVILEGES do.
async fn follow_hangups(server: Arc<Server>) {
    let mut hangups = match signal(SignalKind::hangup()) {
        Ok(hangups) => hangups,
        Err(error) => return warn!("cannot listen for SIGHUP: {error}"),
    };
    while hangups.recv().await.is_some() {
        if let Err(error) = administration::flush_after_hangup(&server.host, &server.sql).await {
            warn!("a part of what SIGHUP asks for is not done: {}", error.message);
        }
    }
}

/// Asks every session to end and waits until they have, for a while: as long as they come back to roll back
/// what is open, and not for those that hold their threads.
async fn farewell(host: &ServerHost, workers: &Workers) {
    let begun = Instant::now();
    let (mut beats, mut looked) = (Vec::new(), Instant::now());
    while host.connections.count() > 0 && begun.elapsed() < FAREWELL {
        host.connections.kill_all();
        tokio::time::sleep(Duration::from_millis(10)).await;
        if looked.elapsed() > HELD {
            looked = Instant::now();
            if workers.held_threads(&mut beats) >= host.connections.count() {
                break;
            }
        }
    }
    let left = host.connections.count();
    if left > 0 {
        warn!("{left} sessions did not end in time");
    }
}
