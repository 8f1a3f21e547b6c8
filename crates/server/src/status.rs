//! The counters of SHOW STATUS: those the server counts itself, and those it asks others for.

use std::sync::atomic::{AtomicU64, Ordering};

use palisade_base::metric::Metric;
use palisade_sql::work::WorkDone;

use crate::connections::Connection;
use crate::host::ServerHost;

palisade_base::metrics! {
    /// Sessions whose clients went away without COM_QUIT, or were silent for too long.
    pub static ABORTED_CLIENTS: Counter = "Aborted_clients", "server", "Connections whose clients went away without saying so, or were silent for too long";
    /// Logins that failed.
    pub static ABORTED_CONNECTS: Counter = "Aborted_connects", "server", "Logins that failed";
    /// Bytes from clients.
    pub static BYTES_RECEIVED: Counter = "Bytes_received", "server", "Bytes received from clients";
    /// Bytes to clients.
    pub static BYTES_SENT: Counter = "Bytes_sent", "server", "Bytes sent to clients";
    /// COM_CHANGE_USER.
    pub static COM_CHANGE_USER: Counter = "Com_change_user", "server", "Logins on connections that were logged in";
    /// COM_STMT_CLOSE.
    pub static COM_STMT_CLOSE: Counter = "Com_stmt_close", "server", "Prepared statements closed";
    /// COM_STMT_EXECUTE.
    pub static COM_STMT_EXECUTE: Counter = "Com_stmt_execute", "server", "Executions of prepared statements";
    /// COM_STMT_FETCH.
    pub static COM_STMT_FETCH: Counter = "Com_stmt_fetch", "server", "Fetches from cursors";
    /// COM_STMT_PREPARE.
    pub static COM_STMT_PREPARE: Counter = "Com_stmt_prepare", "server", "Statements prepared";
    /// COM_STMT_RESET.
    pub static COM_STMT_RESET: Counter = "Com_stmt_reset", "server", "Resets of prepared statements";
    /// COM_STMT_SEND_LONG_DATA.
    pub static COM_STMT_SEND_LONG_DATA: Counter = "Com_stmt_send_long_data", "server", "Parts of parameters sent ahead";
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
    /// Statements that took longer than long_query_time.
    pub static SLOW_QUERIES: Counter = "Slow_queries", "server", "Statements that took longer than long_query_time";
}

/// Counters that a session has of its own, besides the server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the counter")]
pub enum Own {
    BytesReceived,
    BytesSent,
    ComChangeUser,
    ComStmtClose,
    ComStmtExecute,
    ComStmtFetch,
    ComStmtPrepare,
    ComStmtReset,
    ComStmtSendLongData,
    Queries,
    Questions,
    SlowQueries,
}

/// The server's counters, in the order of [`Own`].
static OWN: [&Metric; 12] = [
    &BYTES_RECEIVED,
    &BYTES_SENT,
    &COM_CHANGE_USER,
    &COM_STMT_CLOSE,
    &COM_STMT_EXECUTE,
    &COM_STMT_FETCH,
    &COM_STMT_PREPARE,
    &COM_STMT_RESET,
    &COM_STMT_SEND_LONG_DATA,
    &QUERIES,
    &QUESTIONS,
    &SLOW_QUERIES,
];

/// What one session has counted. Only its own task counts, so that is a load and a store; others read.
#[derive(Debug)]
pub struct SessionCounters {
    own: [AtomicU64; OWN.len()],
    statements: [AtomicU64; KIND_COUNT],
}

impl Default for SessionCounters {
    fn default() -> Self {
        let zeros = || AtomicU64::new(0);
        SessionCounters {
            own: std::array::from_fn(|_| zeros()),
            statements: std::array::from_fn(|_| zeros()),
        }
    }
}

impl SessionCounters {
    /// Counts `amount`, for the session and for the server.
    pub fn add(&self, which: Own, amount: u64) {
        OWN[which as usize].add(amount);
        bump(&self.own[which as usize], amount);
    }

    /// Counts a statement.
    pub fn statement(&self, kind: StatementKind) {
        if let Some((.., metric)) = KINDS.get(kind as usize) {
            metric.increment();
            bump(&self.statements[kind as usize], 1);
        }
    }

    /// Begins at 0 again, for the session only. Called by its own task.
    pub fn start_over(&self) {
        self.own.iter().chain(&self.statements).for_each(|counter| counter.store(0, Ordering::Relaxed));
    }

    /// How many commands the session was given.
    pub fn queries(&self) -> u64 {
        self.own[Own::Queries as usize].load(Ordering::Relaxed)
    }

    fn value(&self, metric: &Metric) -> Option<u64> {
        let place = OWN.iter().position(|own| std::ptr::eq(*own, metric))?;
        Some(self.own[place].load(Ordering::Relaxed))
    }
}

fn bump(counter: &AtomicU64, amount: u64) {
    counter.store(counter.load(Ordering::Relaxed) + amount, Ordering::Relaxed);
}

macro_rules! statement_kinds {
    ($($kind:ident = $name:literal, $($word:literal)+;)*) => {
        /// What a statement is, by its first words: for the `Com_...` counters.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs, reason = "each variant is named after its words")]
        pub enum StatementKind { $($kind,)* Other }

        const KIND_COUNT: usize = [$(StatementKind::$kind),*].len();

        static KINDS: [(StatementKind, &[&str], Metric); KIND_COUNT] = [$((
            StatementKind::$kind,
            &[$($word),+],
            Metric::new($name, "server", "Statements of that kind", palisade_base::metric::Kind::Counter),
        )),*];
    };
}

statement_kinds! {
    AlterTable = "Com_alter_table", "ALTER" "TABLE";
    Analyze = "Com_analyze", "ANALYZE";
    Begin = "Com_begin", "BEGIN";
    Call = "Com_call_procedure", "CALL";
    Commit = "Com_commit", "COMMIT";
    CreateDb = "Com_create_db", "CREATE" "DATABASE";
    CreateIndex = "Com_create_index", "CREATE" "INDEX";
    CreateTable = "Com_create_table", "CREATE" "TABLE";
    Delete = "Com_delete", "DELETE";
    Do = "Com_do", "DO";
    DropDb = "Com_drop_db", "DROP" "DATABASE";
    DropIndex = "Com_drop_index", "DROP" "INDEX";
    DropTable = "Com_drop_table", "DROP" "TABLE";
    Insert = "Com_insert", "INSERT";
    Kill = "Com_kill", "KILL";
    Load = "Com_load", "LOAD";
    LockTables = "Com_lock_tables", "LOCK";
    RenameTable = "Com_rename_table", "RENAME" "TABLE";
    Replace = "Com_replace", "REPLACE";
    Rollback = "Com_rollback", "ROLLBACK";
    Savepoint = "Com_savepoint", "SAVEPOINT";
    Select = "Com_select", "SELECT";
    Set = "Com_set_option", "SET";
    Start = "Com_start", "START" "TRANSACTION";
    Truncate = "Com_truncate", "TRUNCATE";
    UnlockTables = "Com_unlock_tables", "UNLOCK";
    Update = "Com_update", "UPDATE";
    Use = "Com_change_db", "USE";
    XaCommit = "Com_xa_commit", "XA" "COMMIT";
    XaEnd = "Com_xa_end", "XA" "END";
    XaPrepare = "Com_xa_prepare", "XA" "PREPARE";
    XaRecover = "Com_xa_recover", "XA" "RECOVER";
    XaRollback = "Com_xa_rollback", "XA" "ROLLBACK";
    XaStart = "Com_xa_start", "XA" "START";
}

impl StatementKind {
    /// The kind of the first statement of `text`.
    pub fn of(mut text: &[u8]) -> StatementKind {
        while let Some(inner) = text.trim_ascii_start().strip_prefix(b"(") {
            text = inner;
        }
        let (first, rest) = first_word(text);
        let Some(initial) = first.first().map(u8::to_ascii_uppercase) else { return StatementKind::Other };
        for (kind, words, _) in &KINDS {
            if words[0].as_bytes()[0] == initial && words[0].as_bytes().eq_ignore_ascii_case(first) {
                let second =
                    words.get(1).is_none_or(|word| object(rest).eq_ignore_ascii_case(word.as_bytes()));
                if second {
                    return *kind;
                }
            }
        }
        if first.eq_ignore_ascii_case(b"WITH") {
            StatementKind::behind_with(rest)
        } else {
            StatementKind::Other
        }
    }

    /// What follows common table expressions: the first verb outside parentheses and quotes.
    fn behind_with(mut text: &[u8]) -> StatementKind {
        let mut depth = 0usize;
        while let Some(first) = text.first() {
            match first {
                b'(' => depth += 1,
                b')' => depth = depth.saturating_sub(1),
                quote @ (b'\'' | b'"' | b'`') => {
                    let closing = text[1..].iter().position(|byte| byte == quote);
                    text = &text[closing.map_or(text.len() - 1, |closing| closing + 1)..];
                }
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                    let end = text.iter().position(|byte| !is_part(byte)).unwrap_or(text.len());
                    let (word, rest) = text.split_at(end);
                    let verbs = [StatementKind::Select, StatementKind::Update, StatementKind::Delete];
                    let is_word = |kind: &StatementKind| {
                        KINDS[*kind as usize].1[0].as_bytes().eq_ignore_ascii_case(word)
                    };
                    if let Some(verb) = verbs.into_iter().find(is_word).filter(|_| depth == 0) {
                        return verb;
                    }
                    text = rest;
                    continue;
                }
                _ => {}
            }
            text = &text[1..];
        }
        StatementKind::Other
    }
}

/// The first word of `text`, after white space and comments, and what follows it. What stands in comments that MySQL
/// executes is no comment.
fn first_word(mut text: &[u8]) -> (&[u8], &[u8]) {
    loop {
        text = text.trim_ascii_start();
        let end_of_line = |text: &[u8]| text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
        text = match text {
            [b'/', b'*', b'!', code @ ..] => {
                let version = code.iter().take_while(|byte| byte.is_ascii_digit()).count();
                &code[version..]
            }
            [b'/', b'*', comment @ ..] => match comment.windows(2).position(|pair| pair == b"*/") {
                Some(end) => &comment[end + 2..],
                None => return (&[], &[]),
            },
            [b'#', ..] | [b'-', b'-', b' ' | b'\t' | b'\n', ..] => &text[end_of_line(text)..],
            _ => break,
        };
    }
    let end = text.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(text.len());
    text.split_at(end)
}

/// What CREATE or DROP is about, by one name for each: the word after those that say how.
fn object(mut text: &[u8]) -> &[u8] {
    const HOW: [&[u8]; 6] = [b"OR", b"REPLACE", b"TEMPORARY", b"UNIQUE", b"FULLTEXT", b"SPATIAL"];
    loop {
        let (word, rest) = first_word(text);
        if HOW.iter().any(|how| how.eq_ignore_ascii_case(word)) {
            text = rest;
            continue;
        }
        return match word {
            _ if word.eq_ignore_ascii_case(b"SCHEMA") => b"DATABASE",
            _ if word.eq_ignore_ascii_case(b"TABLES") => b"TABLE",
            _ => word,
        };
    }
}

/// Counters that exist for clients that look for them; nothing of their kind happens here.
const ZERO: &[&str] = &[
    "Binlog_cache_disk_use",
    "Binlog_cache_use",
    "Compression_level",
    "Connection_errors_accept",
    "Connection_errors_internal",
    "Created_tmp_disk_tables",
    "Created_tmp_files",
    "Created_tmp_tables",
    "Delayed_errors",
    "Flush_commands",
    "Handler_discover",
    "Handler_external_lock",
    "Handler_mrr_init",
    "Handler_prepare",
    "Handler_read_rnd",
    "Key_blocks_used",
    "Key_read_requests",
    "Key_reads",
    "Key_write_requests",
    "Key_writes",
    "Open_files",
    "Open_tables",
    "Opened_tables",
    "Select_range_check",
    "Sort_merge_passes",
    "Sort_range",
    "Table_locks_immediate",
    "Table_locks_waited",
    "Threads_cached",
];

/// Every counter with its value, by name; of a connection's session, or of the server.
pub fn all(host: &ServerHost, of: Option<(&Connection, &WorkDone)>) -> Vec<(String, String)> {
    let mut list: Vec<(String, String)> = Vec::new();
    let mut add = |name: &str, value: String| list.push((name.to_owned(), value));
    for metric in METRICS.iter().chain(palisade_sql::work::METRICS).chain(palisade_sql::plans::METRICS) {
        let own = of
            .and_then(|(connection, work)| connection.counters.value(metric).or_else(|| work.value(metric)));
        add(metric.name, own.unwrap_or_else(|| metric.value()).to_string());
    }
    let count = |kind: StatementKind| match of {
        Some((connection, _)) => connection.counters.statements[kind as usize].load(Ordering::Relaxed),
        None => KINDS[kind as usize].2.value(),
    };
    for (kind, _, metric) in &KINDS {
        match kind {
            StatementKind::Begin => {
                add(metric.name, (count(*kind) + count(StatementKind::Start)).to_string())
            }
            StatementKind::Start => {}
            _ => add(metric.name, count(*kind).to_string()),
        }
    }
    for name in ZERO {
        add(name, "0".to_owned());
    }
    let of = of.map(|(connection, _)| connection);
    let tls = of.and_then(|connection| connection.tls.get());
    add("Ssl_cipher", tls.map_or_else(String::new, |(cipher, _)| cipher.clone()));
    add("Ssl_version", tls.map_or_else(String::new, |(_, version)| (*version).to_owned()));
    let compressed = of.is_some_and(|connection| connection.is_compressed.load(Ordering::Relaxed));
    add("Compression", if compressed { "ON" } else { "OFF" }.to_owned());
    add("Compression_algorithm", if compressed { "zlib" } else { "" }.to_owned());
    let (uptime, since_flush) = host.uptime_seconds();
    add("Uptime", uptime.to_string());
    add("Uptime_since_flush_status", since_flush.to_string());
    add("Connections", host.connections.ever().to_string());
    add("Threads_connected", host.connections.count().to_string());
    add("Threads_created", host.worker_count().to_string());
    add("Threads_running", host.connections.running().to_string());
    add("Prepared_stmt_count", host.prepared_statements.value().to_string());
    for status in host.engine.status() {
        add(status.name, status.value.to_string());
    }
    add("Innodb_page_size", "16384".to_owned());
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
    list.sort_by_cached_key(|(name, _)| name.to_ascii_lowercase());
    list
}

/// The line that COM_STATISTICS answers (`mysqladmin status`).
pub fn statistics(host: &ServerHost) -> String {
    let (uptime, _) = host.uptime_seconds();
    let questions = QUESTIONS.value();
    format!(
        "Uptime: {uptime}  Threads: {}  Questions: {questions}  Slow queries: {}  Opens: 0  Flush tables: 0  \
         Open tables: 0  Queries per second avg: {:.3}",
        host.connections.count(),
        SLOW_QUERIES.value(),
        questions as f64 / uptime.max(1) as f64,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_known_by_its_first_words() {
        assert_eq!(StatementKind::of(b"  /* app */ select 1"), StatementKind::Select);
        assert_eq!(StatementKind::of(b"CREATE table t(a int)"), StatementKind::CreateTable);
        assert_eq!(StatementKind::of(b"create view v as select 1"), StatementKind::Other);
        let other_ways: [(&[u8], StatementKind); 14] = [
            (b"-- app\n# and\n select 1", StatementKind::Select),
            (b"--1", StatementKind::Other),
            (b"((SELECT 1) UNION (SELECT 2))", StatementKind::Select),
            (b"/*!40101 SET NAMES utf8 */", StatementKind::Set),
            (b"create unique index i on t (a)", StatementKind::CreateIndex),
            (b"CREATE TEMPORARY TABLE t (a int)", StatementKind::CreateTable),
            (b"create schema s", StatementKind::CreateDb),
            (b"drop /* all */ tables a, b", StatementKind::DropTable),
            (b"WITH c AS (SELECT ')') SELECT * FROM c", StatementKind::Select),
            (
                b"with recursive select_1 as (select 1), `update` as (select 2) delete from t",
                StatementKind::Delete,
            ),
            (b"with a as (select 1) UPDATE t SET a = 1", StatementKind::Update),
            (b"with `never", StatementKind::Other),
            (b"with", StatementKind::Other),
            (b"#", StatementKind::Other),
        ];
        for (text, kind) in other_ways {
            assert_eq!(StatementKind::of(text), kind, "{}", text.escape_ascii());
        }
        assert_eq!(StatementKind::of(b"commit"), StatementKind::Commit);
        assert_eq!(StatementKind::of(b"/* never ends"), StatementKind::Other);
        assert_eq!(StatementKind::of(b""), StatementKind::Other);
        for (position, (kind, ..)) in KINDS.iter().enumerate() {
            assert_eq!(*kind as usize, position);
        }
    }
}
