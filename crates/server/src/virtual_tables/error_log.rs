//! error_log: the last lines of the error log, for accounts that may know of other sessions.

use palisade_catalog::{Timestamp, Value};
use palisade_schema::virtual_table;

use super::{Definition, Tables, of_each, text};
use crate::accounts::privilege::Privileges;
use crate::error_log::{self, Line};

pub(super) static TABLES: Tables = &[Definition::new(&lines::DECL, |source, wanted| {
    let sees_all = source.host.asked(source.session.state, |asker| asker.has(Privileges::PROCESS));
    of_each(if sees_all { error_log::lines() } else { Vec::new() }, lines::row, wanted)
})];

virtual_table! {
    mod lines = "performance_schema"."error_log" of |it: Line| {
        LOGGED: timestamp(6) not null key PRI => Value::Timestamp(Timestamp(it.logged)),
        THREAD_ID: bigint_unsigned key MUL => Value::Null,
        PRIO: enum("System", "Error", "Warning", "Note") in utf8mb4_0900_ai_ci not null key MUL => text(it.priority),
        ERROR_CODE: varchar(10) in utf8mb4_0900_ai_ci key MUL => Value::Null,
        SUBSYSTEM: varchar(7) in utf8mb4_0900_ai_ci key MUL => text(it.subsystem),
        DATA: text in utf8mb4_0900_ai_ci not null => text(&it.text),
    }
}
