//! OPTIMIZER_TRACE: what the planner has decided for the session's last statements.

use palisade_catalog::Value;
use palisade_expr::optimizer_trace::{OptimizerTrace, TraceSettings};
use palisade_schema::virtual_table;

use super::{Definition, Tables, text};

pub(super) static TABLES: Tables = &[Definition::new(&optimizer_trace::DECL, |source, wanted| {
    let state = source.session.state;
    let shown =
        state.optimizer_traces.as_ref().map(|traces| traces.shown(&TraceSettings::of(&state.settings)));
    let wanted = wanted.clone();
    Box::new(shown.unwrap_or_default().into_iter().map(move |trace| optimizer_trace::row(&trace, &wanted)))
})];

/// A number in an INT column.
fn int(number: u64) -> Value {
    Value::Int(i64::from(i32::try_from(number).unwrap_or(i32::MAX)))
}

virtual_table! {
    mod optimizer_trace = "information_schema"."OPTIMIZER_TRACE" of |it: OptimizerTrace| {
        QUERY: varchar(65535) not null default "" => text(&it.query),
        TRACE: varchar(65535) not null default "" => text(&it.trace),
        MISSING_BYTES_BEYOND_MAX_MEM_SIZE: int not null default "" => int(it.missing),
        INSUFFICIENT_PRIVILEGES: bool not null default "" => Value::Int(it.is_hidden.into()),
    }
}
