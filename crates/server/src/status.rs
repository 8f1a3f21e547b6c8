//! The counters of SHOW STATUS: those the server counts itself, and those it asks others for.

use std::sync::atomic::{AtomicU64, Ordering};

use palisade_base::metric::Metric;
use palisade_base::sysvar_catalogue as sysvar;
use palisade_engine::table::{
    OPENED_TABLES, SYSTEM_ROWS_DELETED, SYSTEM_ROWS_INSERTED, SYSTEM_ROWS_READ, SYSTEM_ROWS_UPDATED,
};
use palisade_engine::{RowCounts, past_uses};
use palisade_session::{command, work};
use palisade_sql::SessionView;
use palisade_sql::plan_cache::PLANS_MADE;

use crate::connections::Connection;
use crate::host::ServerHost;
use crate::innodb_status::shown_time;
use crate::{error_log, pool_dump, pool_resize, tls};

palisade_base::metrics! {
    /// Sessions whose clients went away without COM_QUIT, or were silent for too long.
    pub static ABORTED_CLIENTS: Counter = "Aborted_clients", "server", "Connections whose clients went away without saying so, or were silent for too long";
    /// Logins that failed.
    pub static ABORTED_CONNECTS: Counter = "Aborted_connects", "server", "Logins that failed";
    /// Bytes from clients.
    pub static BYTES_RECEIVED: Counter = "Bytes_received", "server", "Bytes received from clients";
    /// Bytes to clients.
    pub static BYTES_SENT: Counter = "Bytes_sent", "server", "Bytes sent to clients";
    /// Connections refused with 1040.
    pub static CONNECTION_ERRORS_MAX_CONNECTIONS: Counter = "Connection_errors_max_connections", "server", "Connections refused because there were max_connections";
    /// The most connections there were at a time.
    pub static MAX_USED_CONNECTIONS: Gauge = "Max_used_connections", "server", "Most connections at a time";
    /// Commands.
    pub static QUERIES: Counter = "Queries", "server", "Commands executed";
    /// Statements of clients.
    pub static QUESTIONS: Counter = "Questions", "server", "Statements sent by clients";
    /// Statements that went on on a computing thread.
    pub static STATEMENTS_COMPUTED: Counter = "Worker_statements_computed", "server", "Statements that took longer steps than a worker has time for, and went on on computing threads";
    /// Threads of workers that did not come back in time.
    pub static THREADS_RELIEVED: Counter = "Worker_threads_relieved", "server", "Threads whose workers were taken over by new ones, because a session did not let go of them";
    /// Sessions that went on with another worker.
    pub static SESSIONS_MOVED: Counter = "Worker_sessions_moved", "server", "Sessions that followed their clients' packets to another worker";
    /// Connections that have gone on in TLS.
    pub static SSL_ACCEPTS: Counter = "Ssl_accepts", "server", "Connections with TLS";
    /// Connections that have gone on with a session of TLS of before.
    pub static SSL_SESSIONS_REUSED: Counter = "Ssl_sessions_reused", "server", "Connections that resumed a session of TLS";
    /// Bytes of the longest attributes that a client has sent.
    pub static LONGEST_ATTRIBUTES: Gauge = "Performance_schema_session_connect_attrs_longest_seen", "server", "Bytes of the longest attributes of a connection";
    /// Reads of information_schema.PROCESSLIST, which MySQL wants replaced by performance_schema.processlist.
    pub static PROCESSLIST_READS: Counter = "Deprecated_use_i_s_processlist_count", "server", "Statements that read information_schema.PROCESSLIST";
    /// When that was last.
    pub static PROCESSLIST_READ_AT: Gauge = "Deprecated_use_i_s_processlist_last_timestamp", "server", "Microseconds since 1970 of the last of them";
    /// Statements that took longer than long_query_time.
    pub static SLOW_QUERIES: Counter = "Slow_queries", "server", "Statements that took longer than long_query_time";
}

/// Counters that a session has of its own, besides the server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the counter")]
pub enum Own {
    BytesReceived,
    BytesSent,
    Queries,
    Questions,
    SlowQueries,
}

/// The server's counters, in the order of [`Own`].
static OWN: [&Metric; 5] = [&BYTES_RECEIVED, &BYTES_SENT, &QUERIES, &QUESTIONS, &SLOW_QUERIES];

/// What one session has counted. Only its own task counts, so that is a load and a store; others read.
#[derive(Debug)]
pub struct SessionCounters {
    own: [AtomicU64; OWN.len()],
}

impl Default for SessionCounters {
    fn default() -> Self {
        SessionCounters { own: std::array::from_fn(|_| AtomicU64::new(0)) }
    }
}

impl SessionCounters {
    /// Counts `amount`, for the session and for the server.
    pub fn add(&self, which: Own, amount: u64) {
        if let (Some(metric), Some(own)) = (OWN.get(which as usize), self.own.get(which as usize)) {
            metric.add(amount);
            bump(own, amount);
        }
    }

    /// Begins at 0 again, for the session only. Called by its own task.
    pub fn start_over(&self) {
        self.own.iter().for_each(|counter| counter.store(0, Ordering::Relaxed));
    }

    /// How many commands the session was given.
    pub fn queries(&self) -> u64 {
        counted(self.own.get(Own::Queries as usize))
    }

    /// What the session has counted of `metric`, if it is one of these.
    pub fn value(&self, metric: &Metric) -> Option<u64> {
        let mut counters = OWN.iter().zip(&self.own);
        counters.find(|(counted, _)| std::ptr::eq(**counted, metric)).map(|(_, own)| counted(Some(own)))
    }
}

fn counted(counter: Option<&AtomicU64>) -> u64 {
    counter.map_or(0, |counter| counter.load(Ordering::Relaxed))
}

fn bump(counter: &AtomicU64, amount: u64) {
    counter.store(counter.load(Ordering::Relaxed) + amount, Ordering::Relaxed);
}

/// Counters that exist for clients that look for them; nothing of their kind happens here.
const ZERO: &[&str] = &[
    "Acl_cache_items_count",
    "Binlog_cache_disk_use",
    "Binlog_cache_use",
    "Binlog_stmt_cache_disk_use",
    "Binlog_stmt_cache_use",
    "Connection_errors_accept",
    "Connection_errors_internal",
    "Connection_errors_peer_address",
    "Connection_errors_select",
    "Connection_errors_tcpwrap",
    "Count_hit_query_past_connection_memory_status_limit",
    "Count_hit_query_past_global_connection_memory_status_limit",
    "Count_hit_tmp_table_size",
    "Created_tmp_tables",
    "Delayed_errors",
    "Delayed_insert_threads",
    "Delayed_writes",
    "Error_log_buffered_bytes",
    "Error_log_buffered_events",
    "Error_log_expired_events",
    "Flush_commands",
    "Handler_discover",
    "Handler_external_lock",
    "Handler_mrr_init",
    "Handler_prepare",
    "Handler_read_rnd",
    "Innodb_sampled_pages_read",
    "Innodb_sampled_pages_skipped",
    "Innodb_truncated_status_writes",
    "Innodb_undo_tablespaces_active",
    "Innodb_undo_tablespaces_explicit",
    "Innodb_undo_tablespaces_implicit",
    "Innodb_undo_tablespaces_total",
    "Key_blocks_not_flushed",
    "Key_blocks_unused",
    "Key_blocks_used",
    "Key_read_requests",
    "Key_reads",
    "Key_write_requests",
    "Key_writes",
    "Locked_connects",
    "Max_execution_time_set_failed",
    "Not_flushed_delayed_rows",
    "Ongoing_anonymous_transaction_count",
    "Open_files",
    "Open_streams",
    "Opened_files",
    "Replica_open_temp_tables",
    "Secondary_engine_execution_count",
    "Select_range_check",
    "Slave_open_temp_tables",
    "Slow_launch_threads",
    "Sort_range",
    "Table_locks_immediate",
    "Table_locks_waited",
    "Table_open_cache_overflows",
    "Table_open_cache_triggers_hits",
    "Table_open_cache_triggers_misses",
    "Table_open_cache_triggers_overflows",
    "Tc_log_max_pages_used",
    "Tc_log_page_size",
    "Tc_log_page_waits",
    "TempTable_count_hit_max_ram",
    "Threads_cached",
    "option_tracker_usage:Binary Log",
    "option_tracker_usage:Hypergraph Optimizer",
    "option_tracker_usage:JSON Duality View",
    "option_tracker_usage:Replication Replica",
];

/// What performance_schema may have had no room for: `Performance_schema_..._lost`. But for digests and
/// prepared statements its tables are made when they are read, so that nothing is lost.
const NEVER_LOST: &[&str] = &[
    "accounts",
    "cond_classes",
    "cond_instances",
    "file_classes",
    "file_handles",
    "file_instances",
    "hosts",
    "index_stat",
    "locker",
    "logger",
    "memory_classes",
    "metadata_lock",
    "meter",
    "metric",
    "mutex_classes",
    "mutex_instances",
    "nested_statement",
    "program",
    "rwlock_classes",
    "rwlock_instances",
    "session_connect_attrs",
    "socket_classes",
    "socket_instances",
    "stage_classes",
    "statement_classes",
    "table_handles",
    "table_instances",
    "table_lock_stat",
    "thread_classes",
    "thread_instances",
    "users",
];

/// Every counter with its value, by name; of a connection's session, or of the server.
pub fn all(host: &ServerHost, of: Option<(&Connection, SessionView<'_>)>) -> Vec<(String, String)> {
    let mut list: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: String| list.push((name.to_owned(), value));
    let others = [
        palisade_session::work::METRICS,
        palisade_sql::plan_cache::METRICS,
        palisade_sql::ddl::foreign::METRICS,
    ];
    for metric in METRICS.iter().chain(others.into_iter().flatten()) {
        let own = of.and_then(|(connection, session)| {
            connection.counters.value(metric).or_else(|| session.work.value(metric))
        });
        add(metric.name, own.unwrap_or_else(|| metric.value()).to_string());
    }
    for (place, metric) in command::METRICS.iter().enumerate() {
        let own = of.and_then(|(_, session)| session.commands.all().get(place)).copied();
        add(metric.name, own.unwrap_or_else(|| metric.value()).to_string());
    }
    for what in NEVER_LOST {
        add(&format!("Performance_schema_{what}_lost"), "0".to_owned());
    }
    add("Performance_schema_digest_lost", host.instruments.digests.lost().to_string());
    add("Performance_schema_prepared_statements_lost", host.instruments.lost_prepared().to_string());
    for name in ZERO {
        add(name, "0".to_owned());
    }
    let of = of.map(|(connection, _)| connection);
    let tls = of.and_then(|connection| connection.tls.get());
    tls::status::add(&host.secrets, tls, &mut add);
    if let Some(connection) = of {
        let compression = connection.compression.get();
        add("Compression", if compression.is_some() { "ON" } else { "OFF" }.to_owned());
        add("Compression_algorithm", compression.map_or("", |algorithm| algorithm.name()).to_owned());
        add("Compression_level", compression.map_or(0, |algorithm| algorithm.level()).to_string());
    }
    add_server(host, &mut add);
    add_storage(host, &mut add);
    add_page_io(host, &mut add);
    list.sort_by_cached_key(|(name, _)| name.to_ascii_lowercase());
    list
}

/// What the server as a whole is doing.
fn add_server(host: &ServerHost, add: &mut dyn FnMut(&str, String)) {
    let (uptime, since_flush) = host.uptime_seconds();
    add("Uptime", uptime.to_string());
    add("Uptime_since_flush_status", since_flush.to_string());
    add("Connections", host.connections.ever().to_string());
    add("Threads_connected", host.connections.count().to_string());
    add("Threads_created", host.worker_count().to_string());
    add("Threads_running", host.connections.running().to_string());
    add("Prepared_stmt_count", host.prepared_statements.value().to_string());
    add("Global_connection_memory", host.memory.held().to_string());
    let most_at = host.connections.most_at_seconds() as i64 * 1_000_000;
    add("Max_used_connections_time", shown_time(most_at));
    for name in ["Open_table_definitions", "Open_tables"] {
        add(name, open_tables(host).to_string());
    }
    for name in ["Opened_table_definitions", "Opened_tables"] {
        add(name, OPENED_TABLES.value().to_string());
    }
    // A table that is opened stays open: each use but the first finds it so.
    add("Table_open_cache_hits", table_uses(host).to_string());
    add("Table_open_cache_misses", OPENED_TABLES.value().to_string());
    for name in ["Telemetry_logs_supported", "Telemetry_metrics_supported", "Telemetry_traces_supported"] {
        add(name, "OFF".to_owned());
    }
    add("Resource_group_supported", "OFF".to_owned());
    add("Error_log_latest_write", error_log::latest_write_us().to_string());
    // each plan is made by the one optimizer
    add("option_tracker_usage:Traditional Optimizer", PLANS_MADE.value().to_string());
}

/// How pages reach the disk.
fn add_page_io(host: &ServerHost, add: &mut dyn FnMut(&str, String)) {
    let sink = host.engine.page_sink_status();
    add("Palisade_page_sink", sink.name.to_owned());
    add("Palisade_atomic_writes", sink.atomic_writes);
    let io = match (host.engine.uses_io_uring(), host.globals.load().bool(sysvar::INNODB_USE_NATIVE_AIO)) {
        (true, _) => "io_uring",
        (false, true) => "threads: the kernel has no io_uring for this process",
        (false, false) => "threads: innodb_use_native_aio is OFF",
    };
    add("Palisade_page_io", io.to_owned());
}

/// What the storage engine tells.
fn add_storage(host: &ServerHost, add: &mut dyn FnMut(&str, String)) {
    let mut pages = [0, 0];
    for status in host.engine.status() {
        match status.name {
            "Innodb_pages_read" => pages[0] = status.value,
            "Innodb_pages_written" => pages[1] = status.value,
            _ => {}
        }
        add(status.name, status.value.to_string());
    }
    add("Innodb_page_size", host.engine.page_size().to_string());
    let redo_log = host.engine.redo_log();
    let (state, resized) = match redo_log.size.cmp(&redo_log.capacity) {
        std::cmp::Ordering::Greater => ("Resizing down", redo_log.size),
        // the last part of a segment is not made
        _ if redo_log.size + redo_log.capacity / 16 < redo_log.capacity => ("Resizing up", redo_log.size),
        _ => ("OK", redo_log.capacity),
    };
    add("Innodb_redo_log_uuid", (redo_log.id as u32).to_string());
    add("Innodb_redo_log_enabled", "ON".to_owned());
    add("Innodb_redo_log_read_only", "OFF".to_owned());
    add("Innodb_redo_log_physical_size", redo_log.size.to_string());
    add("Innodb_redo_log_capacity_resized", resized.to_string());
    add("Innodb_redo_log_resize_status", state.to_owned());
    // each page is read by itself
    add("Innodb_data_reads", pages[0].to_string());
    add("Innodb_buffer_pool_pages_flushed", pages[1].to_string());
    pool_dump::add_status(host, add);
    pool_resize::add_status(host, add);
    add("Innodb_num_open_files", host.engine.open_files().to_string());
    for metric in [&SYSTEM_ROWS_DELETED, &SYSTEM_ROWS_INSERTED, &SYSTEM_ROWS_READ, &SYSTEM_ROWS_UPDATED] {
        add(metric.name, metric.value().to_string());
    }
    // as in SHOW ENGINE INNODB STATUS
    let rows = row_counts();
    add("Innodb_rows_inserted", rows.inserted.to_string());
    add("Innodb_rows_updated", rows.updated.to_string());
    add("Innodb_rows_deleted", rows.deleted.to_string());
    add("Innodb_rows_read", rows.read.to_string());
}

/// Rows that statements have changed and read.
pub fn row_counts() -> RowCounts {
    let reads = [
        &work::HANDLER_READ_FIRST,
        &work::HANDLER_READ_KEY,
        &work::HANDLER_READ_LAST,
        &work::HANDLER_READ_NEXT,
        &work::HANDLER_READ_PREV,
        &work::HANDLER_READ_RND_NEXT,
    ];
    RowCounts {
        inserted: work::HANDLER_WRITE.value(),
        updated: work::HANDLER_UPDATE.value(),
        deleted: work::HANDLER_DELETE.value(),
        read: reads.map(|metric| metric.value()).iter().sum(),
    }
}

/// How many tables are open: all that there are.
fn open_tables(host: &ServerHost) -> usize {
    host.engine.dictionary().all_tables().count()
}

/// How often statements have begun to use a table.
fn table_uses(host: &ServerHost) -> u64 {
    let dictionary = host.engine.dictionary();
    past_uses() + dictionary.all_tables().map(|table| table.usage().all_uses()).sum::<u64>()
}

/// The line that COM_STATISTICS answers (`mysqladmin status`).
pub fn statistics(host: &ServerHost) -> String {
    let (uptime, _) = host.uptime_seconds();
    let questions = QUESTIONS.value();
    format!(
        "Uptime: {uptime}  Threads: {}  Questions: {questions}  Slow queries: {}  Opens: {}  Flush tables: 0  \
         Open tables: {}  Queries per second avg: {:.3}",
        host.connections.count(),
        SLOW_QUERIES.value(),
        OPENED_TABLES.value(),
        open_tables(host),
        questions as f64 / uptime.max(1) as f64,
    )
}
