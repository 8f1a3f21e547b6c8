//! log_status, for tools that copy the data directory, and performance_timers.

use palisade_base::sysvar_catalogue as sysvar;
use palisade_catalog::Value;
use palisade_schema::virtual_table;

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
