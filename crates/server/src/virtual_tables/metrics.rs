//! INNODB_METRICS and RESOURCE_GROUPS.

use palisade_base::monitor::Reading;
use palisade_catalog::{Timestamp, Value};
use palisade_schema::virtual_table;

use super::{Definition, Tables, of_each, text};
use crate::status::row_counts;
use crate::time_zone;

pub(super) static TABLES: Tables = &[
    Definition::new(&metrics::DECL, |source, wanted| {
        row_counts().publish();
        of_each(source.host.engine.monitors().into_iter().collect::<Vec<_>>(), metrics::row, wanted)
    }),
    Definition::new(&resource_groups::DECL, |_, wanted| {
        of_each([("USR_default", "USER"), ("SYS_default", "SYSTEM")], resource_groups::row, wanted)
    }),
];

fn signed(number: Option<i64>) -> Value {
    number.map_or(Value::Null, Value::Int)
}

fn real(number: Option<f64>) -> Value {
    number.map_or(Value::Null, Value::Double)
}

/// A moment of the machine's time zone.
fn moment(seconds: Option<i64>) -> Value {
    let zone = &time_zone::system().zone;
    let datetime = |seconds| Timestamp(seconds * 1_000_000).to_datetime(zone);
    seconds.map_or(Value::Null, |seconds| Value::DateTime(datetime(seconds)))
}

virtual_table! {
    mod metrics = "information_schema"."INNODB_METRICS" of |it: Reading| {
        NAME: varchar(193) not null default "" => text(it.metric.name),
        SUBSYSTEM: varchar(193) not null default "" => text(it.metric.module),
        COUNT: bigint not null default "" => Value::Int(it.count),
        MAX_COUNT: bigint default "" => signed(it.spread.max),
        MIN_COUNT: bigint default "" => signed(it.spread.min),
        AVG_COUNT: float default "" => real(it.spread.average),
        COUNT_RESET: bigint not null default "" => Value::Int(it.count_reset),
        MAX_COUNT_RESET: bigint default "" => signed(it.spread_reset.max),
        MIN_COUNT_RESET: bigint default "" => signed(it.spread_reset.min),
        AVG_COUNT_RESET: float default "" => real(it.spread_reset.average),
        TIME_ENABLED: datetime default "" => moment(it.time_enabled),
        TIME_DISABLED: datetime default "" => moment(it.time_disabled),
        TIME_ELAPSED: bigint default "" => signed(it.time_elapsed),
        TIME_RESET: datetime default "" => moment(it.time_reset),
        STATUS: varchar(193) not null default "" => text(if it.is_on { "enabled" } else { "disabled" }),
        TYPE: varchar(193) not null default "" => text(it.metric.shown_type().name()),
        COMMENT: varchar(193) not null default "" => text(it.metric.comment),
    }
}

virtual_table! {
    /// The two that there are by themselves, with all processors.
    mod resource_groups = "information_schema"."RESOURCE_GROUPS" of |it: (&'static str, &'static str)| {
        RESOURCE_GROUP_NAME: varchar(64) not null => text(it.0),
        RESOURCE_GROUP_TYPE: enum("SYSTEM", "USER") in utf8mb3_bin not null => text(it.1),
        RESOURCE_GROUP_ENABLED: bool not null => Value::Int(1),
        VCPU_IDS: blob => text(processors()),
        THREAD_PRIORITY: int not null => Value::Int(0),
    }
}

fn processors() -> String {
    match std::thread::available_parallelism().map_or(1, usize::from) {
        1 => "0".to_owned(),
        several => format!("0-{}", several - 1),
    }
}
