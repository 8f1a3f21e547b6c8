//! PROFILING: the stages of the session's last statements.

use palisade_catalog::Value;
use palisade_schema::virtual_table;
use palisade_session::profile::{StageTime, seconds};

use super::{Definition, Tables, number, text};

pub(super) static TABLES: Tables = &[Definition::new(&stages::DECL, |source, wanted| {
    let times = source.session.profiles.map_or(Vec::new(), |profiles| profiles.stage_times());
    let wanted = wanted.clone();
    Box::new(times.into_iter().map(move |stage| stages::row(&stage, &wanted)))
})];

virtual_table! {
    mod stages = "information_schema"."PROFILING" of |it: StageTime| {
        QUERY_ID: int not null default "" => number(it.query_id),
        SEQ: int not null default "" => number(it.sequence),
        STATE: varchar(30) not null default "" => text(it.name),
        DURATION: decimal(9, 6) not null default "" => seconds(it.took.as_micros(), 6),
        CPU_USER: decimal(9, 6) default "" => Value::Null,
        CPU_SYSTEM: decimal(9, 6) default "" => Value::Null,
        CONTEXT_VOLUNTARY: int default "" => Value::Null,
        CONTEXT_INVOLUNTARY: int default "" => Value::Null,
        BLOCK_OPS_IN: int default "" => Value::Null,
        BLOCK_OPS_OUT: int default "" => Value::Null,
        MESSAGES_SENT: int default "" => Value::Null,
        MESSAGES_RECEIVED: int default "" => Value::Null,
        PAGE_FAULTS_MAJOR: int default "" => Value::Null,
        PAGE_FAULTS_MINOR: int default "" => Value::Null,
        SWAPS: int default "" => Value::Null,
        SOURCE_FUNCTION: varchar(30) default "" => Value::Null,
        SOURCE_FILE: varchar(20) default "" => Value::Null,
        SOURCE_LINE: int default "" => Value::Null,
    }
}
