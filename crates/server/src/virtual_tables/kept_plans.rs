//! PALISADE_PLANS: the plans that statements keep, and the trials of others.

use palisade_catalog::Value;
use palisade_schema::virtual_table;
use palisade_sql::stability::KeptPlan;

use super::{Definition, Tables, of_each, optional_text, text};

pub(super) static TABLES: Tables = &[Definition::new(&kept_plans::DECL, |source, wanted| {
    of_each(source.host.kept_plans(), kept_plans::row, wanted)
})];

/// How many executions were measured, and their mean in microseconds; NULL where there is no trial.
fn measured(it: &KeptPlan, place: usize) -> [Value; 2] {
    match (&it.tried, it.measured.get(place)) {
        (Some(_), Some((count, mean))) => [Value::UInt(*count), Value::Double(*mean)],
        _ => [Value::Null, Value::Null],
    }
}

fn first([value, _]: [Value; 2]) -> Value {
    value
}

fn second([_, value]: [Value; 2]) -> Value {
    value
}

virtual_table! {
    mod kept_plans = "information_schema"."PALISADE_PLANS" of |it: KeptPlan| {
        DEFAULT_DB: varchar(64) not null => text(&it.database),
        DIGEST_TEXT: longtext not null => Value::bytes(it.digest_text.as_slice()),
        OPTIMIZER_SWITCHES: bigint_unsigned not null => Value::UInt(u64::from(it.switches)),
        PLAN: longtext not null => text(format!("{}", it.outline)),
        TRIED_PLAN: longtext => optional_text(it.tried.as_ref().map(|tried| format!("{tried}"))),
        PLAN_EXECUTIONS: bigint_unsigned => first(measured(it, 0)),
        PLAN_MICROS: double => second(measured(it, 0)),
        TRIED_EXECUTIONS: bigint_unsigned => first(measured(it, 1)),
        TRIED_MICROS: double => second(measured(it, 1)),
        REJECTED_PLANS: bigint_unsigned not null => Value::UInt(it.rejected),
    }
}
