//! log_status, for tools that copy the data directory, innodb_redo_log_files, and performance_timers.

use palisade_base::sysvar_catalogue as sysvar;
use palisade_catalog::Value;
use palisade_engine::FileRange;
use palisade_schema::virtual_table;
use tracing::warn;

use super::{Definition, Tables, of_each, text};

pub(super) static TABLES: Tables = &[
    Definition::new(&log_status::DECL, |source, wanted| {
        let positions = source.host.engine.log_positions();
        let settings = source.host.globals.load();
        let subject = LogSubject {
            server: settings.text(sysvar::SERVER_UUID).unwrap_or_default().to_owned(),
            lsn: positions.assigned.0,
            checkpoint: positions.checkpoint.0,
        };
        of_each([subject], log_status::row, wanted)
    }),
    Definition::new(&innodb_redo_log_files::DECL, |source, wanted| {
        let engine = &source.host.engine;
        let files = engine.redo_log_files().unwrap_or_else(|error| {
            warn!("cannot read the files of the redo log: {error}");
            Vec::new()
        });
        of_each(files, innodb_redo_log_files::row, wanted)
    }),
    Definition::new(&performance_timers::DECL, |_, wanted| of_each(TIMERS, performance_timers::row, wanted)),
];

/// Where the log is.
struct LogSubject {
    server: String,
    lsn: u64,
    checkpoint: u64,
}

impl LogSubject {
    fn storage_engines(&self) -> Value {
        let LogSubject { lsn, checkpoint, .. } = self;
        text(format!(r#"{{"InnoDB": {{"LSN": {lsn}, "LSN_checkpoint": {checkpoint}}}}}"#))
    }
}

virtual_table! {
    mod log_status = "performance_schema"."log_status" of |it: LogSubject| {
        SERVER_UUID: char(36) in utf8mb4_bin not null => text(&it.server),
        LOCAL: json not null => text(r#"{"gtid_executed": ""}"#),
        REPLICATION: json not null => text(r#"{"channels": []}"#),
        STORAGE_ENGINES: json not null => it.storage_engines(),
    }
}

/// A number in a BIGINT column.
fn bigint(number: u64) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

virtual_table! {
    /// The end of the file that is being written is the highest LSN that it may come to.
    mod innodb_redo_log_files = "performance_schema"."innodb_redo_log_files" of |it: FileRange| {
        FILE_ID: bigint not null => bigint(it.number),
        FILE_NAME: varchar(2000) in utf8mb4_0900_ai_ci not null => text(it.path.display().to_string()),
        START_LSN: bigint not null => bigint(it.start.0),
        END_LSN: bigint not null => bigint(it.end.0),
        SIZE_IN_BYTES: bigint not null => bigint(it.size),
        IS_FULL: tinyint not null => Value::Int(it.is_full.into()),
        CONSUMER_LEVEL: int not null => Value::Int(0),
    }
}

/// A timer, and how often it ticks in a second, if there is one.
type TimerSubject = (&'static str, Option<i64>);

/// Times are taken from the monotonic clock, in nanoseconds. There is no counter of cycles.
const TIMERS: [TimerSubject; 5] = [
    ("CYCLE", None),
    ("NANOSECOND", Some(1_000_000_000)),
    ("MICROSECOND", Some(1_000_000)),
    ("MILLISECOND", Some(1_000)),
    ("THREAD_CPU", None),
];

virtual_table! {
    mod performance_timers = "performance_schema"."performance_timers" of |it: TimerSubject| {
        TIMER_NAME: enum("CYCLE", "NANOSECOND", "MICROSECOND", "MILLISECOND", "THREAD_CPU") in utf8mb4_0900_ai_ci not null => text(it.0),
        TIMER_FREQUENCY: bigint => it.1.map_or(Value::Null, Value::Int),
        TIMER_RESOLUTION: bigint => it.1.map_or(Value::Null, |_| Value::Int(1)),
        TIMER_OVERHEAD: bigint => Value::Null,
    }
}
