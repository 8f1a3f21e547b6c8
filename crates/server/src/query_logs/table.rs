//! The query logs as tables: `log_output=TABLE`.
//!
//! A row is inserted by a session of the server's own, in a transaction of its own, before the logged command
//! is executed or, for the slow log, before its answer is sent: who reads the table sees what came before.
//! Nothing is queued, so that there is no bound to pass and nothing to lose but what a crash takes of
//! transactions that were not durable. FLUSH TABLES WITH READ LOCK leaves the tables alone. A row that waits
//! for another lock, such as that of a TRUNCATE that has to wait itself, waits for a second; one that
//! cannot be inserted is reported in the error log, and the client is served all the same.

use std::time::Duration;

use palisade_base::error_catalogue::ER_NO_SUCH_TABLE;
use palisade_base::sysvar::Settings;
use palisade_base::sysvar_catalogue as sysvar;
use palisade_base::{MysqlError, mysql_error};
use palisade_catalog::{SqlType, Timestamp, Value, Zone};
use palisade_engine::Engine;
use palisade_expr::convert::text_of;
use palisade_session::log_tables::{GENERAL, SCHEMA, SLOW};
use palisade_sql::{InternalSession, SessionVariables, Sql};
use tracing::warn;

/// The longest wait of a row for a lock.
const PATIENCE: Duration = Duration::from_secs(1);

/// Bytes of a statement that a row has at most: what its column holds.
const MOST_BYTES: usize = (1 << 24) - 1;

/// A row that is being made, beginning with its moment.
pub struct Row {
    table: &'static str,
    values: Vec<Value>,
}

impl Row {
    /// Of the general log.
    pub fn general(micros: i64) -> Row {
        Row::of(GENERAL, micros)
    }

    /// Of the slow query log.
    pub fn slow(micros: i64) -> Row {
        Row::of(SLOW, micros)
    }

    fn of(table: &'static str, micros: i64) -> Row {
        let moment = Value::DateTime(Timestamp(micros).to_datetime(&Zone::UTC));
        let moment = text_of(&moment, &SqlType::DateTime { fsp: 6 });
        Row { table, values: vec![Value::bytes(moment)] }
    }

    /// Adds bytes, whatever they are.
    pub fn bytes(mut self, mut bytes: Vec<u8>) -> Row {
        bytes.truncate(MOST_BYTES);
        self.values.push(Value::bytes(bytes));
        self
    }

    /// Adds a number.
    pub fn number(mut self, number: u64) -> Row {
        self.values.push(Value::UInt(number));
        self
    }

    /// Adds a number of rows: the columns have four bytes.
    pub fn rows(self, rows: u64) -> Row {
        self.number(rows.min(i32::MAX as u64))
    }

    /// Adds a length of time: at most what TIME holds.
    pub fn time(self, time: Duration) -> Row {
        const MOST: Duration = Duration::from_secs(838 * 3600 + 59 * 60 + 59);
        let time = time.min(MOST);
        let (seconds, part) = (time.as_secs(), time.subsec_micros());
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        self.bytes(format!("{hours:02}:{minutes:02}:{:02}.{part:06}", seconds % 60).into_bytes())
    }

    /// Inserts it. Waits for: its commit.
    pub async fn insert(self, sql: &Sql) {
        let variables = SessionVariables {
            time_zone: Zone::UTC,
            metadata_lock_wait_timeout: PATIENCE,
            lock_wait_timeout: PATIENCE,
            ..SessionVariables::default()
        };
        let mut session = InternalSession::with_variables(sql, variables);
        let places = ", ?".repeat(self.values.len());
        let places = places.trim_start_matches(", ");
        let text = format!("INSERT INTO {SCHEMA}.{} VALUES ({places})", self.table);
        if let Err(error) = session.run_with(&text, &self.values).await {
            warn!("a row of {SCHEMA}.{} is lost: {}", self.table, error.message);
        }
        session.end().await;
    }
}

/// 1146 if a log is ON and goes to a table that there is not.
pub fn check(engine: &Engine, settings: &Settings, table: &str, is_on: bool) -> Result<(), MysqlError> {
    if !is_on || !super::goes_to_table(settings) || engine.dictionary().table(SCHEMA, table).is_ok() {
        return Ok(());
    }
    Err(mysql_error!(ER_NO_SUCH_TABLE, SCHEMA, table))
}

/// Whether the log with that table is ON and goes there.
pub fn is_written(settings: &Settings, table: &str) -> bool {
    let is_on = match table {
        GENERAL => settings.bool(sysvar::GENERAL_LOG),
        _ => settings.bool(sysvar::SLOW_QUERY_LOG),
    };
    is_on && super::goes_to_table(settings)
}
