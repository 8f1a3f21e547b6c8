//! The slow query log: statements that took longer than `long_query_time`, or read a table without an index,
//! in MySQL's form.
//!
//! ```text
//! # Time: 2026-11-25T10:42:15.250912Z
//! # User@Host: root[root] @ localhost [127.0.0.1]  Id:    88
//! # Query_time: 1.000056  Lock_time: 0.000001 Rows_sent: 5  Rows_examined: 5
//! use shop;
//! SET timestamp=1795603335;
//! SELECT * FROM orders;
//! ```
//!
//! While the log is ON a session [notes](Before) before each command what it has counted until then; the
//! differences are the statement's. An entry is written after the answer was made and before it is sent.

use std::fs::File;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use palisade_base::MysqlError;
use palisade_base::sysvar::Settings;
use palisade_base::sysvar_catalogue as sysvar;
use palisade_parser::ParseOptions;
use palisade_parser::ast::Statement;
use palisade_session::work::{self, Work};
use palisade_sql::session::Killed;
use palisade_sql::{Services as _, Session, Sql};
use parking_lot::Mutex;
use tracing::warn;

use super::table::Row;
use super::{SLOW_FILE, Who, goes_to_file, goes_to_table, next_statement, open, path, without_passwords};
use crate::connections::Connection;
use crate::error_log::shown_moment;
use crate::server::Server;
use crate::status::{BYTES_RECEIVED, BYTES_SENT};

/// The log of a server; there is a file while it is ON.
#[derive(Default)]
pub struct SlowLog {
    file: Arc<Mutex<Option<Open>>>,
    throttle: Mutex<Throttle>,
}

struct Open {
    file: File,
    /// The database of the entry before.
    database: Option<String>,
}

impl SlowLog {
    /// Opens the file that the settings name, if they say ON, and closes the one before: 29 if it cannot be
    /// opened. Blocks.
    pub fn follow(&self, settings: &Settings) -> Result<(), MysqlError> {
        let file = match is_on(settings) && goes_to_file(settings) {
            true => Some(open(&path(settings, SLOW_FILE), settings)?),
            false => None,
        };
        *self.file.lock() = file.map(|file| Open { file, database: None });
        Ok(())
    }

    /// Writes entries where the settings say. They are there when this returns.
    async fn write(&self, sql: &Sql, settings: &Settings, entries: Vec<Entry>) {
        let file = self.file.clone();
        let written = tokio::task::spawn_blocking(move || {
            let entries = entries.into_iter().filter_map(|entry| Some((entry.text.shown()?, entry)));
            let entries: Vec<(Vec<u8>, Entry)> = entries.collect();
            let outcome = match &mut *file.lock() {
                Some(open) => open.write(&entries),
                None => Ok(()),
            };
            (entries, outcome)
        });
        let Ok((entries, outcome)) = written.await else { return };
        if let Err(error) = outcome {
            warn!("cannot write to the slow query log: {error}");
        }
        if goes_to_table(settings) {
            let server = settings.uint(sysvar::SERVER_ID);
            for (text, entry) in entries {
                entry.row(server, text).insert(sql).await;
            }
        }
    }
}

impl Open {
    fn write(&mut self, entries: &[(Vec<u8>, Entry)]) -> io::Result<()> {
        let mut text = Vec::new();
        for (shown, entry) in entries {
            entry.put(&mut text, self.database != entry.database, shown);
            self.database.clone_from(&entry.database);
        }
        self.file.write_all(&text)
    }
}

/// Whether `slow_query_log` is ON and `log_output` names the file or the table.
pub fn is_on(settings: &Settings) -> bool {
    settings.bool(sysvar::SLOW_QUERY_LOG) && (goes_to_file(settings) || goes_to_table(settings))
}

/// What a session had counted before a statement.
#[derive(Debug, Clone, Copy)]
pub struct Before {
    /// By [`Work`].
    counts: [u64; work::COUNT],
    rows_examined: u64,
    lock_micros: u64,
    received: u64,
    sent: u64,
}

/// What `log_slow_extra` tells of a statement, with the names it has there; the others are not counted here.
const COUNTED: [(&str, Option<Work>); 14] = [
    ("Read_first", Some(Work::HandlerReadFirst)),
    ("Read_last", Some(Work::HandlerReadLast)),
    ("Read_key", Some(Work::HandlerReadKey)),
    ("Read_next", Some(Work::HandlerReadNext)),
    ("Read_prev", Some(Work::HandlerReadPrev)),
    ("Read_rnd", None),
    ("Read_rnd_next", Some(Work::HandlerReadRndNext)),
    ("Sort_merge_passes", Some(Work::SortMergePasses)),
    ("Sort_range_count", None),
    ("Sort_rows", Some(Work::SortRows)),
    ("Sort_scan_count", Some(Work::SortScan)),
    ("Created_tmp_disk_tables", Some(Work::CreatedTmpDiskTables)),
    ("Created_tmp_tables", None),
    ("Count_hit_tmp_table_size", None),
];

impl Before {
    /// What a session has counted until now.
    pub fn of(session: &Session, connection: &Connection) -> Before {
        let work = &session.work;
        let of = |metric| connection.counters.value(metric).unwrap_or(0);
        Before {
            counts: work.counts(),
            rows_examined: work.rows_examined,
            lock_micros: work.lock_micros,
            received: of(&BYTES_RECEIVED),
            sent: of(&BYTES_SENT),
        }
    }

    /// Of one kind of work.
    fn count(&self, work: Work) -> u64 {
        self.counts.get(work as usize).copied().unwrap_or(0)
    }

    /// What was counted since `before`.
    fn since(&self, before: &Before) -> Before {
        let mut counts = self.counts;
        counts.iter_mut().zip(before.counts).for_each(|(now, then)| *now = now.saturating_sub(then));
        Before {
            counts,
            rows_examined: self.rows_examined.saturating_sub(before.rows_examined),
            lock_micros: self.lock_micros.saturating_sub(before.lock_micros),
            received: self.received.saturating_sub(before.received),
            sent: self.sent.saturating_sub(before.sent),
        }
    }
}

/// A statement that has ended.
pub struct Ended<'a> {
    /// Its text, and maybe that of statements behind it.
    pub text: &'a [u8],
    /// When it began.
    pub begun: Instant,
    /// Rows sent to the client.
    pub rows_sent: u64,
    /// The number of its error; 0 for none.
    pub error: u16,
}

impl SlowLog {
    /// Writes an entry for a statement if it is one for this log. `before` is what its session had counted
    /// before it.
    pub async fn look(
        &self,
        server: &Server,
        settings: &Settings,
        who: Who<'_>,
        before: &Before,
        ended: Ended<'_>,
    ) {
        let now_micros = server.host.unix_micros();
        let Who { session, connection, .. } = who;
        let took = ended.begun.elapsed();
        let is_slow = took.as_secs_f64() > session.state.settings.double(sysvar::LONG_QUERY_TIME);
        let asks_for_indexes = settings.bool(sysvar::LOG_QUERIES_NOT_USING_INDEXES);
        if !is_slow && !asks_for_indexes {
            return;
        }
        let done = Before::of(session, connection).since(before);
        let is_unindexed = asks_for_indexes && done.count(Work::HandlerReadRndNext) > 0;
        let least = session.state.settings.uint(sysvar::MIN_EXAMINED_ROW_LIMIT);
        if !is_slow && !is_unindexed || done.rows_examined < least {
            return;
        }
        let lock = Duration::from_micros(done.lock_micros);
        let most = settings.uint(sysvar::LOG_THROTTLE_QUERIES_NOT_USING_INDEXES);
        let verdict = match is_unindexed && most > 0 {
            true => self.throttle.lock().judge(most, now_micros, took, lock),
            false => Verdict { is_written: true, summary: None },
        };
        let mut entries: Vec<Entry> = verdict.summary.into_iter().collect();
        if verdict.is_written {
            let options = ParseOptions { placeholders: true, ..palisade_sql::sql::parse_options(session) };
            let has_administration = settings.bool(sysvar::LOG_SLOW_ADMIN_STATEMENTS);
            let begun = now_micros - took.as_micros() as i64;
            entries.push(Entry {
                micros: now_micros,
                timestamp: session.state.variables.timestamp_micros.unwrap_or(begun) / 1_000_000,
                user_host: who.shown(),
                connection: connection.id,
                took,
                lock,
                rows_sent: ended.rows_sent,
                rows_examined: done.rows_examined,
                database: session.state.database.clone(),
                is_killed: session.state.kill.get() != Killed::No,
                extra: settings.bool(sysvar::LOG_SLOW_EXTRA).then_some(Extra { done, error: ended.error }),
                text: Text::First { of: ended.text.to_vec(), options, has_administration },
            });
        }
        if !entries.is_empty() {
            self.write(&server.sql, settings, entries).await;
        }
    }
}

/// The text of an entry.
#[derive(Debug)]
enum Text {
    /// This.
    Said(String),
    /// The first statement of a text, without passwords, if it is one for the log.
    First {
        of: Vec<u8>,
        options: ParseOptions,
        /// Whether ALTER TABLE and its like are.
        has_administration: bool,
    },
}

impl Text {
    /// What is written; `None` for nothing. To be called where the log is written: a text may be long.
    fn shown(&self) -> Option<Vec<u8>> {
        let (of, options, has_administration) = match self {
            Text::Said(text) => return Some(text.clone().into_bytes()),
            Text::First { of, options, has_administration } => (of, *options, *has_administration),
        };
        let (statement, own, _) = next_statement(of, options)?;
        let is_administrative = matches!(
            statement,
            Statement::AlterTable(_)
                | Statement::CreateIndex(_)
                | Statement::DropIndex(_)
                | Statement::TableMaintenance(_)
        );
        (has_administration || !is_administrative).then(|| without_passwords(&statement, own))
    }
}

/// `log_throttle_queries_not_using_indexes`: so many entries a minute of statements that use no index.
#[derive(Debug, Default)]
struct Throttle {
    ends_micros: i64,
    entries: u64,
    suppressed: u64,
    took: Duration,
    lock: Duration,
}

/// What becomes of a statement.
struct Verdict {
    is_written: bool,
    /// What was left out in the minute before.
    summary: Option<Entry>,
}

impl Throttle {
    fn judge(&mut self, most: u64, now_micros: i64, took: Duration, lock: Duration) -> Verdict {
        const MINUTE: i64 = 60_000_000;
        let mut summary = None;
        if now_micros >= self.ends_micros {
            if self.suppressed > 0 {
                summary = Some(self.summary(now_micros));
            }
            *self = Throttle { ends_micros: now_micros + MINUTE, ..Throttle::default() };
        }
        self.entries += 1;
        let is_written = self.entries <= most;
        if !is_written {
            self.suppressed += 1;
            self.took += took;
            self.lock += lock;
        }
        Verdict { is_written, summary }
    }

    fn summary(&self, micros: i64) -> Entry {
        let text = format!("throttle: {:10} 'index not used' warning(s) suppressed.", self.suppressed);
        Entry {
            micros,
            timestamp: micros / 1_000_000,
            user_host: "[] @  []".to_owned(),
            connection: 0,
            took: self.took,
            lock: self.lock,
            rows_sent: 0,
            rows_examined: 0,
            database: None,
            is_killed: false,
            extra: None,
            text: Text::Said(text),
        }
    }
}

/// What `log_slow_extra` adds.
#[derive(Debug)]
struct Extra {
    done: Before,
    error: u16,
}

/// An entry.
#[derive(Debug)]
struct Entry {
    /// When the statement ended.
    micros: i64,
    /// What NOW() was in it, in seconds.
    timestamp: i64,
    user_host: String,
    connection: u64,
    took: Duration,
    lock: Duration,
    rows_sent: u64,
    rows_examined: u64,
    database: Option<String>,
    is_killed: bool,
    extra: Option<Extra>,
    text: Text,
}

impl Entry {
    /// As a row of the table.
    fn row(&self, server: u64, text: Vec<u8>) -> Row {
        let begun = self.micros - self.took.as_micros() as i64;
        let row = Row::slow(begun).bytes(self.user_host.clone().into_bytes()).time(self.took).time(self.lock);
        let row = row.rows(self.rows_sent).rows(self.rows_examined);
        let row = row.bytes(self.database.clone().unwrap_or_default().into_bytes());
        // last_insert_id and insert_id are those of statement-based replication.
        row.number(0).number(0).number(server).bytes(text).number(self.connection)
    }

    fn put(&self, out: &mut Vec<u8>, names_database: bool, text: &[u8]) {
        let mut head = format!(
            "# Time: {}\n# User@Host: {}  Id: {:5}\n\
             # Query_time: {:.6}  Lock_time: {:.6} Rows_sent: {}  Rows_examined: {}",
            shown_moment(self.micros),
            self.user_host,
            self.connection,
            self.took.as_secs_f64(),
            self.lock.as_secs_f64(),
            self.rows_sent,
            self.rows_examined
        );
        if let Some(Extra { done, error }) = &self.extra {
            head += &format!(
                " Thread_id: {} Errno: {error} Killed: {} Bytes_received: {} Bytes_sent: {}",
                self.connection,
                u8::from(self.is_killed),
                done.received,
                done.sent
            );
            for (name, work) in COUNTED {
                head += &format!(" {name}: {}", work.map_or(0, |work| done.count(work)));
            }
            let begun = self.micros - self.took.as_micros() as i64;
            head += &format!("  Start: {} End: {}", shown_moment(begun), shown_moment(self.micros));
        }
        head.push('\n');
        if let Some(database) = self.database.as_ref().filter(|_| names_database) {
            head += &format!("use {database};\n");
        }
        head += &format!("SET timestamp={};\n", self.timestamp);
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(text);
        out.extend_from_slice(b";\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_has_so_many_entries_and_the_next_one_tells_what_was_left_out() {
        let mut throttle = Throttle::default();
        let second = Duration::from_secs(1);
        let written: Vec<bool> = (0..5).map(|at| throttle.judge(2, at, second, second).is_written).collect();
        assert_eq!(written, [true, true, false, false, false]);
        let Verdict { is_written, summary } = throttle.judge(2, 60_000_000, second, second);
        assert!(is_written);
        let summary = summary.expect("three were left out");
        let text = "throttle:          3 'index not used' warning(s) suppressed.";
        assert_eq!(summary.text.shown().as_deref(), Some(text.as_bytes()));
        assert_eq!(summary.took, 3 * second);
        assert!(throttle.judge(2, 120_000_001, second, second).summary.is_none(), "none was left out");
    }

    #[test]
    fn of_several_statements_the_first_is_written_and_administration_if_it_is_to_be() {
        let first = |text: &str, has_administration| {
            let (of, options) = (text.as_bytes().to_vec(), ParseOptions::default());
            let shown = Text::First { of, options, has_administration }.shown();
            shown.map(|text| String::from_utf8(text).unwrap())
        };
        assert_eq!(first("SELECT 1 ; SELECT 2", false).as_deref(), Some("SELECT 1"));
        assert_eq!(first("OPTIMIZE TABLE t;", false), None);
        assert_eq!(first("OPTIMIZE TABLE t;", true).as_deref(), Some("OPTIMIZE TABLE t"));
        assert_eq!(first("SELEC 1", true), None);
        let password = first("ALTER USER u IDENTIFIED BY 'x'", false);
        assert_eq!(password.as_deref(), Some("ALTER USER u IDENTIFIED BY <secret>"));
    }
}
