//! Every connection: who it is and what it does, for the process list, KILL, timeouts and shutdown.
//!
//! `max_connections` counts the clients that have logged in. Those that have not are bounded apart, by
//! [`MOST_PENDING`], and when there are so many the one that came first is ended: a login takes well below a
//! second, so connections on which nothing is said make room for each other and take no place from clients
//! that have something to say.
//!
//! A session is interrupted by two words: its kill flag says what is asked, and its task's waker makes it
//! look. It looks whenever it is polled, so waiting for the next command costs nothing but the read it waits
//! for. Time is looked at by the *reaper* once a second, not by a timer per session: a session only writes
//! down by when its client must have said something.

use std::any::Any;
use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use palisade_base::sysvar::SessionSettings;
use palisade_observe::session::SessionEvents;
use palisade_protocol::compression::Algorithm;
use palisade_sql::session::{KillFlag, Killed, UserVariables};
use palisade_sql::{Awaited, RunningStatement};
use parking_lot::Mutex;

use crate::accounts::AccountName;
use crate::instruments::people::{AccountKey, People};
use crate::instruments::stages::Works;
use crate::status::{self, SessionCounters};
use crate::stream::Stream;
use crate::task::Task;
use crate::variables;

/// The most connections whose clients have not logged in.
pub const MOST_PENDING: usize = 1024;

/// All connections of the server.
#[derive(Default)]
pub struct Connections {
    all: Mutex<Listed>,
    /// Logins that wait for their workers.
    queued: AtomicUsize,
    last_id: AtomicU64,
    /// The reaper's clock, seconds since the server started.
    now_seconds: AtomicU64,
    /// The bits of [`Before`] that new connections begin with: which query logs are open.
    logs: AtomicU8,
    /// When there were the most connections, in seconds since 1970-01-01 00:00:00 UTC.
    most_at_seconds: AtomicU64,
    /// Who has been connected.
    pub people: People,
}

/// The connections by number.
#[derive(Default)]
struct Listed {
    by_id: BTreeMap<u64, Arc<Connection>>,
    /// How many of them have logged in, other than administrators' at an address of their own.
    admitted: usize,
    /// How many came to that address.
    administrative: usize,
}

impl Listed {
    /// Ends the connection that came first of those that have not logged in. It may be on its way out
    /// already; the next one is then ended by the next client.
    fn end_first_pending(&self, is_administrative: bool) {
        let is_pending = |connection: &&Arc<Connection>| {
            connection.is_administrative == is_administrative
                && !connection.is_admitted.load(Ordering::Relaxed)
                && !connection.is_queued.load(Ordering::Relaxed)
        };
        if let Some(first) = self.by_id.values().find(is_pending) {
            first.kill_connection();
        }
    }
}

/// What is to be done before a command: bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Before(u8);

impl Before {
    /// The session counts from 0.
    pub const COUNT_OVER: Before = Before(1);
    /// The command is written to the general log.
    pub const GENERAL_LOG: Before = Before(2);
    /// What the session has counted until now is noted, for the slow query log.
    pub const SLOW_LOG: Before = Before(4);
    /// Statements are collected from now on: what was counted before is none of the next one's.
    pub const OBSERVED_ANEW: Before = Before(8);

    /// Whether that is among it.
    pub fn has(self, what: Before) -> bool {
        self.0 & what.0 != 0
    }

    /// Whether there is nothing to do.
    pub fn is_nothing(self) -> bool {
        self.0 == 0
    }
}

/// One connection.
pub struct Connection {
    /// `CONNECTION_ID()`.
    pub id: u64,
    /// Its client has logged in. Changes with the list locked.
    is_admitted: AtomicBool,
    /// Its login waits for the worker, not for the client.
    is_queued: AtomicBool,
    /// Its account has CONNECTION_ADMIN.
    is_administrator: AtomicBool,
    /// It came to `admin_address`, and takes no place of others.
    pub is_administrative: bool,
    /// Where the client is: `localhost`, or an address.
    pub host: String,
    /// The same with the port, for the process list.
    pub host_and_port: String,
    /// By which others end it.
    pub kill: KillFlag,
    /// What its session has counted.
    pub counters: SessionCounters,
    /// What is to be done before its next command, as bits.
    before_command: AtomicU8,
    /// Cipher and version, once it has gone on in TLS.
    pub tls: OnceLock<(String, &'static str)>,
    /// What compresses it, once it has gone on in the compressed protocol.
    pub compression: OnceLock<Algorithm>,
    /// What its statement waits for, other than the client: a place in [`WAITING`], or [`AT_WORK`].
    waiting: AtomicU8,
    /// What the client told of itself: `_client_name`, `program_name`, ...
    pub attributes: Mutex<Vec<(String, String)>>,
    /// What serves it.
    task: Mutex<Weak<Task>>,
    stream: Mutex<Weak<Stream>>,
    /// When the reaper ends the connection, on its clock; 0 for never.
    deadline_seconds: AtomicU64,
    /// The reaper ended it.
    timed_out: AtomicBool,
    activity: Mutex<Activity>,
    /// The values of its session's variables, as the session has last set them.
    settings: Mutex<SessionSettings>,
    /// Its session's user variables.
    user_variables: Mutex<UserVariables>,
    /// The plan that its statement is executed by, once it may be looked at.
    plan: Mutex<Option<Weak<dyn Any + Send + Sync>>>,
    /// The work of its statement on all rows of tables.
    pub works: Works,
    /// What its session tells of its statements.
    pub events: Mutex<SessionEvents>,
    /// As what it counts among the [`People`].
    pub(crate) known_as: Mutex<Option<AccountKey>>,
    /// When its statement began, in nanoseconds since the server did, plus 1; 0 between statements.
    statement_began: AtomicU64,
    /// Whether its statements are collected.
    instrumented: AtomicBool,
    /// Whether its last statements are kept.
    has_history: AtomicBool,
}

/// A connection's time in the list: from [`Connections::enter`] until it is dropped.
pub struct Visit {
    connection: Arc<Connection>,
    connections: Arc<Connections>,
}

impl std::ops::Deref for Visit {
    type Target = Arc<Connection>;

    fn deref(&self) -> &Arc<Connection> {
        &self.connection
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.connections.leaves_queue(&self.connection);
        self.connections.people.changes(&self.connection, None);
        let mut all = self.connections.all.lock();
        all.by_id.remove(&self.connection.id);
        match self.connection.is_administrative {
            true => all.administrative -= 1,
            false => all.admitted -= usize::from(self.connection.is_admitted.load(Ordering::Relaxed)),
        }
    }
}

/// What a connection does.
#[derive(Debug, Clone)]
pub struct Activity {
    /// User; empty until the client has logged in.
    pub user: String,
    /// The account that the client has logged in to, as `CURRENT_USER()` gives it.
    pub account: String,
    /// The current database.
    pub database: Option<String>,
    /// Name of the command, `Sleep` between commands.
    pub command: &'static str,
    /// Since when, on the reaper's clock: a clock that costs nothing to read and is right to the second.
    pub since_seconds: u64,
    /// The statement's text.
    pub text: Vec<u8>,
}

/// A line of the process list.
#[derive(Debug, Clone)]
pub struct Process {
    /// `CONNECTION_ID()`.
    pub id: u64,
    /// The client, with its port.
    pub host: String,
    /// What it does.
    pub activity: Activity,
    /// What its statement is doing: empty between commands.
    pub state: &'static str,
}

/// What becomes of a new connection.
pub enum Entry {
    /// Its client may log in.
    Entered(Visit),
    /// More clients than `max_connections` have logged in already; it is not one of the connections.
    Refused(Arc<Connection>),
}

impl Connections {
    /// Enters a new connection, unless more clients than `most` have logged in. It leaves when the [`Visit`]
    /// is dropped.
    pub fn enter(self: &Arc<Self>, host: String, port: Option<u16>, most: usize) -> Entry {
        let connection = self.new_connection(host, port, false);
        let mut all = self.all.lock();
        if all.admitted > most {
            return Entry::Refused(connection);
        }
        if all.by_id.len() - all.admitted - all.administrative >= MOST_PENDING {
            all.end_first_pending(false);
        }
        all.by_id.insert(connection.id, connection.clone());
        Entry::Entered(Visit { connection, connections: self.clone() })
    }

    /// Enters a new connection to `admin_address`: there is always a place for one.
    pub fn enter_administrator(self: &Arc<Self>, host: String, port: Option<u16>) -> Visit {
        let connection = self.new_connection(host, port, true);
        let mut all = self.all.lock();
        if all.administrative >= MOST_PENDING {
            all.end_first_pending(true);
        }
        all.administrative += 1;
        all.by_id.insert(connection.id, connection.clone());
        Visit { connection, connections: self.clone() }
    }

    /// The client of a connection has logged in: gives it one of `most` places, or the one beyond them if it
    /// is an administrator. False if there is none for it. One at `admin_address` has its place already.
    pub fn admit(&self, connection: &Connection, most: usize, is_administrator: bool) -> bool {
        let mut all = self.all.lock();
        connection.is_administrator.store(is_administrator, Ordering::Relaxed);
        if connection.is_administrative {
            connection.is_admitted.store(true, Ordering::Relaxed);
            return true;
        }
        let before = all.admitted;
        if before >= most + usize::from(is_administrator) {
            return false;
        }
        connection.is_admitted.store(true, Ordering::Relaxed);
        all.admitted += 1;
        let now = before as u64 + 1;
        if now > status::MAX_USED_CONNECTIONS.value() {
            self.most_at_seconds.store((variables::unix_micros() / 1_000_000) as u64, Ordering::Relaxed);
        }
        status::MAX_USED_CONNECTIONS.raise_to(now);
        true
    }

    fn new_connection(&self, host: String, port: Option<u16>, is_administrative: bool) -> Arc<Connection> {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let host_and_port = match port {
            Some(port) => format!("{host}:{port}"),
            None => host.clone(),
        };
        Arc::new(Connection {
            id,
            is_admitted: AtomicBool::new(false),
            is_queued: AtomicBool::new(false),
            is_administrator: AtomicBool::new(false),
            is_administrative,
            host,
            host_and_port,
            kill: KillFlag::default(),
            counters: SessionCounters::default(),
            before_command: AtomicU8::new(self.logs.load(Ordering::Relaxed)),
            tls: OnceLock::new(),
            compression: OnceLock::new(),
            waiting: AtomicU8::new(AT_WORK),
            attributes: Mutex::default(),
            task: Mutex::default(),
            stream: Mutex::default(),
            deadline_seconds: AtomicU64::new(0),
            timed_out: AtomicBool::new(false),
            settings: Mutex::default(),
            user_variables: Mutex::default(),
            plan: Mutex::default(),
            works: Works::default(),
            events: Mutex::default(),
            known_as: Mutex::default(),
            statement_began: AtomicU64::new(0),
            instrumented: AtomicBool::new(true),
            has_history: AtomicBool::new(true),
            activity: Mutex::new(Activity {
                user: "unauthenticated user".to_owned(),
                account: String::new(),
                database: None,
                command: CONNECT,
                since_seconds: self.now_seconds(),
                text: Vec::new(),
            }),
        })
    }

    /// The login of a connection waits for its worker.
    pub fn enters_queue(&self, connection: &Connection) {
        if !connection.is_queued.swap(true, Ordering::Relaxed) {
            self.queued.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// It does no longer.
    pub fn leaves_queue(&self, connection: &Connection) {
        if connection.is_queued.swap(false, Ordering::Relaxed) {
            self.queued.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Whether so many logins wait for the workers that no more clients are to be accepted for now.
    pub fn has_long_queue(&self) -> bool {
        self.queued.load(Ordering::Relaxed) >= MOST_PENDING / 4
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.all.lock().by_id.len()
    }

    /// When there were the most, in seconds since 1970-01-01 00:00:00 UTC.
    pub fn most_at_seconds(&self) -> u64 {
        self.most_at_seconds.load(Ordering::Relaxed)
    }

    /// How many there ever were.
    pub fn ever(&self) -> u64 {
        self.last_id.load(Ordering::Relaxed)
    }

    /// The connection of that number.
    pub fn get(&self, id: u64) -> Option<Arc<Connection>> {
        self.all.lock().by_id.get(&id).cloned()
    }

    /// Those whose clients have logged in, by number.
    pub fn admitted(&self) -> Vec<Arc<Connection>> {
        self.all.lock().by_id.values().filter(|connection| connection.is_admitted()).cloned().collect()
    }

    /// The numbers of those whose statements wait for that.
    pub fn waiting(&self, awaited: Awaited) -> HashSet<u64> {
        let place = waiting_place(Some(awaited));
        let all = self.all.lock();
        let waiting = all.by_id.values().filter(|one| one.waiting.load(Ordering::Relaxed) == place);
        waiting.map(|connection| connection.id).collect()
    }

    /// Asks every connection to end.
    pub fn kill_all(&self) {
        for connection in self.all.lock().by_id.values() {
            connection.kill_connection();
        }
    }

    /// Asks every session to end that is no administrator's.
    pub fn kill_others(&self) {
        let all = self.all.lock();
        let others = all.by_id.values().filter(|one| !one.is_administrator.load(Ordering::Relaxed));
        others.for_each(|connection| connection.kill_connection());
    }

    /// How many connections have logged in to the account.
    pub fn count_of(&self, account: &AccountName) -> usize {
        let all: Vec<_> = self.all.lock().by_id.values().cloned().collect();
        let admitted = all.iter().filter(|one| one.is_admitted.load(Ordering::Relaxed));
        admitted.filter(|one| one.account() == *account).count()
    }

    /// The process list, by number.
    pub fn processes(&self) -> Vec<Process> {
        let all: Vec<_> = self.all.lock().by_id.values().cloned().collect();
        let line = |connection: &Arc<Connection>| Process {
            id: connection.id,
            host: connection.host_and_port.clone(),
            state: connection.state(),
            activity: connection.activity.lock().clone(),
        };
        all.iter().map(line).collect()
    }

    /// Every session counts from 0 with its next command.
    pub fn count_over(&self) {
        for connection in self.all.lock().by_id.values() {
            connection.before_command.fetch_or(Before::COUNT_OVER.0, Ordering::Relaxed);
        }
    }

    /// Every session counts from 0 with its next command, and the most connections are those of now.
    pub fn start_counting_over(&self) {
        self.count_over();
        let all = self.all.lock();
        status::MAX_USED_CONNECTIONS.set(all.admitted as u64);
        self.most_at_seconds.store((variables::unix_micros() / 1_000_000) as u64, Ordering::Relaxed);
    }

    /// Has every connection do that for a query log before its commands from now on, or no longer.
    pub fn log_commands(&self, log: Before, on: bool) {
        let all = self.all.lock();
        let switch = |bits: &AtomicU8| match on {
            true => bits.fetch_or(log.0, Ordering::Relaxed),
            false => bits.fetch_and(!log.0, Ordering::Relaxed),
        };
        switch(&self.logs);
        for connection in all.by_id.values() {
            switch(&connection.before_command);
        }
    }

    /// Statements of all sessions are collected from now on.
    pub fn observe_anew(&self) {
        for connection in self.all.lock().by_id.values() {
            connection.before_command.fetch_or(Before::OBSERVED_ANEW.0, Ordering::Relaxed);
        }
    }

    /// Whether commands are written to the general log.
    pub fn is_logged(&self) -> bool {
        Before(self.logs.load(Ordering::Relaxed)).has(Before::GENERAL_LOG)
    }

    /// How many connections execute a command; logging in is none.
    pub fn running(&self) -> usize {
        let is_running =
            |connection: &Connection| ![SLEEP, CONNECT].contains(&connection.activity.lock().command);
        self.all.lock().by_id.values().filter(|connection| is_running(connection)).count()
    }

    /// The reaper's step: it is now `now_seconds` after the start; ends every connection whose deadline has
    /// passed.
    pub fn reap(&self, now_seconds: u64) {
        self.now_seconds.store(now_seconds, Ordering::Relaxed);
        for connection in self.all.lock().by_id.values() {
            let deadline = connection.deadline_seconds.load(Ordering::Relaxed);
            if deadline != 0 && deadline <= now_seconds {
                connection.timed_out.store(true, Ordering::Relaxed);
                connection.kill_connection();
            }
        }
    }

    /// The reaper's clock.
    pub fn now_seconds(&self) -> u64 {
        self.now_seconds.load(Ordering::Relaxed)
    }
}

/// The command of a connection between commands.
const SLEEP: &str = "Sleep";
/// The command of one whose client has not logged in yet.
const CONNECT: &str = "Connect";
/// States of a statement that waits.
const WAITING: [&str; 4] = ["waiting", "Waiting for table metadata lock", "User lock", "User sleep"];
/// The place of no such state.
const AT_WORK: u8 = u8::MAX;

/// The place of what is waited for.
fn waiting_place(awaited: Option<Awaited>) -> u8 {
    match awaited {
        None => AT_WORK,
        Some(Awaited::Others | Awaited::Machine) => 0,
        Some(Awaited::MetadataLock) => 1,
        Some(Awaited::NamedLock) => 2,
        Some(Awaited::Time) => 3,
    }
}

impl Connection {
    /// The connection is served by `task`: interruptions wake it.
    pub fn attach(&self, task: &Arc<Task>) {
        *self.task.lock() = Arc::downgrade(task);
    }

    /// The client is at the other end of `stream`.
    pub fn set_stream(&self, stream: &Arc<Stream>) {
        *self.stream.lock() = Arc::downgrade(stream);
    }

    /// What its client is at the other end of.
    pub fn stream(&self) -> Option<Arc<Stream>> {
        self.stream.lock().upgrade()
    }

    /// Whether the client has gone, as far as the reactor knows.
    pub fn has_hung_up(&self) -> bool {
        self.stream().is_some_and(|stream| stream.has_hung_up())
    }

    fn wake(&self) {
        let task = self.task.lock().upgrade();
        if let Some(task) = task {
            task.recall();
        }
    }

    /// Asks the connection to end.
    pub fn kill_connection(&self) {
        self.kill.kill_connection();
        self.wake();
    }

    /// Asks the running statement to end.
    pub fn kill_statement(&self) {
        self.kill.kill_statement();
        self.wake();
    }

    /// Whether the statement or the connection is to end.
    pub fn is_interrupted(&self) -> bool {
        self.kill.get() != Killed::No
    }

    /// Whether the connection is to end.
    pub fn is_killed(&self) -> bool {
        self.kill.get() == Killed::Connection
    }

    /// Whether it is to end because its client was silent for too long.
    pub fn has_timed_out(&self) -> bool {
        self.timed_out.load(Ordering::Relaxed)
    }

    /// Whether it has ended because of its client and not because of a KILL.
    pub fn is_lost(&self) -> bool {
        self.has_timed_out() || !self.is_killed()
    }

    /// The client must say something within `seconds`; the reaper is up to two seconds late.
    pub fn set_deadline(&self, connections: &Connections, seconds: u64) {
        let deadline = connections.now_seconds().saturating_add(seconds).saturating_add(1);
        self.deadline_seconds.store(deadline, Ordering::Relaxed);
    }

    /// What is to be done before the command that begins; a request to count from 0 is given once.
    #[inline]
    pub fn before_command(&self) -> Before {
        match self.before_command.load(Ordering::Relaxed) {
            0 => Before::default(),
            _ => self.take_before_command(),
        }
    }

    #[cold]
    fn take_before_command(&self) -> Before {
        let once = Before::COUNT_OVER.0 | Before::OBSERVED_ANEW.0;
        Before(self.before_command.fetch_and(!once, Ordering::Relaxed))
    }

    /// The client may be silent for any time.
    pub fn clear_deadline(&self) {
        self.deadline_seconds.store(0, Ordering::Relaxed);
    }

    /// A command begins, at `now_seconds` of the reaper's clock.
    pub fn begin(&self, command: &'static str, text: &[u8], now_seconds: u64) {
        /// So much of a statement is kept for the process list.
        const MAX_TEXT: usize = 64 << 10;
        let mut activity = self.activity.lock();
        activity.command = command;
        activity.since_seconds = now_seconds;
        activity.text.clear();
        activity.text.extend_from_slice(text.get(..MAX_TEXT).unwrap_or(text));
    }

    /// The command has ended.
    pub fn end(&self, now_seconds: u64) {
        let mut activity = self.activity.lock();
        activity.command = SLEEP;
        activity.since_seconds = now_seconds;
        activity.text.clear();
        activity.text.shrink_to(1024);
    }

    /// What its statement waits for, if it does.
    pub fn waits_for(&self, awaited: Option<Awaited>) {
        self.waiting.store(waiting_place(awaited), Ordering::Relaxed);
    }

    /// What it does, with so many bytes of the statement's text.
    pub fn activity(&self, text: usize) -> Activity {
        let activity = self.activity.lock();
        Activity {
            user: activity.user.clone(),
            account: activity.account.clone(),
            database: activity.database.clone(),
            text: activity.text.get(..text).unwrap_or(&activity.text).to_vec(),
            ..*activity
        }
    }

    /// Others may look at the plan of its statement as long as that has it, unless they may look at one
    /// already.
    pub fn show_plan(&self, plan: Weak<dyn Any + Send + Sync>) {
        let mut shown = self.plan.lock();
        if shown.as_ref().is_none_or(|shown| shown.strong_count() == 0) {
            *shown = Some(plan);
        }
    }

    /// What it is doing, for EXPLAIN FOR CONNECTION.
    pub fn running(&self) -> RunningStatement {
        let plan = self.plan.lock().as_ref().and_then(Weak::upgrade);
        let activity = self.activity.lock();
        let text = (![SLEEP, CONNECT].contains(&activity.command)).then(|| activity.text.clone());
        RunningStatement { text, plan }
    }

    /// What its statement is doing: empty between commands.
    pub fn state(&self) -> &'static str {
        match self.activity.lock().command {
            SLEEP => "",
            CONNECT => "login",
            _ => WAITING.get(usize::from(self.waiting.load(Ordering::Relaxed))).unwrap_or(&"executing"),
        }
    }

    /// Who the client is, its account as `CURRENT_USER()` gives it, and its current database.
    pub fn identify(&self, user: &str, account: &str, database: Option<&str>) {
        let mut activity = self.activity.lock();
        activity.user = user.to_owned();
        activity.account = account.to_owned();
        activity.database = database.map(str::to_owned);
    }

    /// A statement begins, so many nanoseconds after the server did.
    #[inline]
    pub fn begins_statement(&self, began_ns: u64) {
        self.statement_began.store(began_ns + 1, Ordering::Relaxed);
    }

    /// It has ended. Gives when it began.
    #[inline]
    pub fn ends_statement(&self) -> u64 {
        // The session alone writes it: two accesses are as good as an exchange, and cheaper.
        let began = self.statement_began.load(Ordering::Relaxed);
        self.statement_began.store(0, Ordering::Relaxed);
        began.saturating_sub(1)
    }

    /// When its statement began; `None` between statements.
    pub fn statement_began_ns(&self) -> Option<u64> {
        self.statement_began.load(Ordering::Relaxed).checked_sub(1)
    }

    /// Whether its statements are collected.
    #[inline]
    pub fn is_instrumented(&self) -> bool {
        self.instrumented.load(Ordering::Relaxed)
    }

    /// Whether its last statements are kept.
    #[inline]
    pub fn has_history(&self) -> bool {
        self.has_history.load(Ordering::Relaxed)
    }

    /// Has its statements collected, or not; whether that was a change.
    pub fn set_instrumented(&self, on: bool) -> bool {
        self.instrumented.swap(on, Ordering::Relaxed) != on
    }

    /// Has its last statements kept, or not; whether that was a change.
    pub fn set_history(&self, on: bool) -> bool {
        self.has_history.swap(on, Ordering::Relaxed) != on
    }

    /// The current database.
    pub fn database(&self) -> Option<String> {
        self.activity.lock().database.clone()
    }

    /// Who the client is.
    pub fn user(&self) -> String {
        self.activity.lock().user.clone()
    }

    /// The account that the client has logged in to.
    pub fn account(&self) -> AccountName {
        AccountName::of_session(&self.activity.lock().account)
    }

    /// Its session's variables have these values now: others may look at them.
    pub fn show_settings(&self, settings: &SessionSettings) {
        *self.settings.lock() = settings.clone();
    }

    /// Its session has these user variables: others may look at them.
    pub fn show_user_variables(&self, variables: &UserVariables) {
        *self.user_variables.lock() = variables.clone();
    }

    /// Its session's user variables.
    pub fn user_variables(&self) -> UserVariables {
        self.user_variables.lock().clone()
    }

    /// The values of its session's variables.
    pub fn settings(&self) -> SessionSettings {
        self.settings.lock().clone()
    }

    /// Whether its client has logged in.
    pub fn is_admitted(&self) -> bool {
        self.is_admitted.load(Ordering::Relaxed)
    }

    /// The current database has changed.
    pub fn set_database(&self, database: Option<&str>) {
        self.activity.lock().database = database.map(str::to_owned);
    }
}

#[cfg(test)]
mod tests;
