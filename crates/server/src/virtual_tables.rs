//! Tables about the server: their rows are made when they are read.

use palisade_base::metric::{Kind, Metric};
use palisade_catalog::types::IntWidth;
use palisade_catalog::{CollationId, SqlType, Value};
use palisade_sql::{Host as _, Scope, Session, VirtualTable};

use crate::host::ServerHost;
use crate::status;

type Columns = Vec<(&'static str, SqlType)>;
type Rows = Vec<Vec<Value>>;

/// A table: where it is called what, its columns, and how its rows are made.
struct Definition {
    schema: &'static str,
    name: &'static str,
    columns: fn() -> Columns,
    rows: fn(&ServerHost, &Session) -> Rows,
}

const INFORMATION_SCHEMA: &str = "information_schema";
const PERFORMANCE_SCHEMA: &str = "performance_schema";

static TABLES: &[Definition] = &[
    Definition {
        schema: INFORMATION_SCHEMA,
        name: "PROCESSLIST",
        columns: process_columns,
        rows: |host, _| processes(host),
    },
    Definition {
        schema: INFORMATION_SCHEMA,
        name: "INNODB_METRICS",
        columns: metric_columns,
        rows: |host, _| metrics(host),
    },
    Definition {
        schema: INFORMATION_SCHEMA,
        name: "INNODB_TRX",
        columns: transaction_columns,
        rows: |host, _| transactions(host),
    },
    Definition {
        schema: PERFORMANCE_SCHEMA,
        name: "processlist",
        columns: process_columns,
        rows: |host, _| processes(host),
    },
    Definition {
        schema: PERFORMANCE_SCHEMA,
        name: "global_variables",
        columns: pair_columns,
        rows: |host, session| pairs(host.variables(session, Scope::Global)),
    },
    Definition {
        schema: PERFORMANCE_SCHEMA,
        name: "session_variables",
        columns: pair_columns,
        rows: |host, session| pairs(host.variables(session, Scope::Session)),
    },
    Definition {
        schema: PERFORMANCE_SCHEMA,
        name: "global_status",
        columns: pair_columns,
        rows: |host, _| pairs(status::all(host)),
    },
    Definition {
        schema: PERFORMANCE_SCHEMA,
        name: "session_status",
        columns: pair_columns,
        rows: |host, _| pairs(status::all(host)),
    },
];

/// The table of that name, with its rows if asked for; `None` if there is none.
pub fn table(
    host: &ServerHost,
    session: &Session,
    schema: &str,
    name: &str,
    with_rows: bool,
) -> Option<VirtualTable> {
    let definition = TABLES
        .iter()
        .find(|table| table.schema.eq_ignore_ascii_case(schema) && table.name.eq_ignore_ascii_case(name))?;
    let rows = if with_rows { (definition.rows)(host, session) } else { Vec::new() };
    Some(VirtualTable { columns: (definition.columns)(), rows })
}

/// Schemas and names of all tables.
pub fn names() -> Vec<(String, String)> {
    TABLES.iter().map(|table| (table.schema.to_owned(), table.name.to_owned())).collect()
}

fn text(length: u32) -> SqlType {
    SqlType::VarChar { length, collation: CollationId::UTF8MB3_GENERAL_CI }
}

const NUMBER: SqlType = SqlType::Int { width: IntWidth::Big, unsigned: true };

fn process_columns() -> Columns {
    vec![
        ("ID", NUMBER),
        ("USER", text(32)),
        ("HOST", text(261)),
        ("DB", text(64)),
        ("COMMAND", text(16)),
        ("TIME", SqlType::INT),
        ("STATE", text(64)),
        ("INFO", text(65535)),
    ]
}

fn processes(host: &ServerHost) -> Rows {
    let now_seconds = host.connections.now_seconds();
    let line = |process: crate::connections::Process| {
        let activity = process.activity;
        let running = activity.command != "Sleep";
        vec![
            Value::UInt(process.id),
            Value::bytes(activity.user),
            Value::bytes(process.host),
            activity.database.map_or(Value::Null, Value::bytes),
            Value::bytes(activity.command),
            Value::Int(now_seconds.saturating_sub(activity.since_seconds) as i64),
            Value::bytes(if running { "executing" } else { "" }),
            if activity.text.is_empty() { Value::Null } else { Value::bytes(activity.text) },
        ]
    };
    host.connections.processes().into_iter().map(line).collect()
}

fn metric_columns() -> Columns {
    vec![
        ("NAME", text(193)),
        ("SUBSYSTEM", text(193)),
        ("COUNT", SqlType::BIGINT),
        ("STATUS", text(193)),
        ("TYPE", text(193)),
        ("COMMENT", text(193)),
    ]
}

fn metrics(host: &ServerHost) -> Rows {
    let line = |metric: &'static Metric| {
        vec![
            Value::bytes(metric.name),
            Value::bytes(metric.module),
            Value::Int(metric.value() as i64),
            Value::bytes("enabled"),
            Value::bytes(match metric.kind {
                Kind::Counter => "counter",
                Kind::Gauge => "value",
            }),
            Value::bytes(metric.comment),
        ]
    };
    status::METRICS.iter().copied().chain(host.engine.metrics()).map(line).collect()
}

fn transaction_columns() -> Columns {
    vec![
        ("trx_id", NUMBER),
        ("trx_state", text(13)),
        ("trx_started", SqlType::DateTime { fsp: 0 }),
        ("trx_rows_locked", NUMBER),
        ("trx_rows_modified", NUMBER),
    ]
}

fn transactions(host: &ServerHost) -> Rows {
    let line = |transaction: palisade_engine::ActiveTransaction| {
        let state = if transaction.waiting { "LOCK WAIT" } else { "RUNNING" };
        let started =
            palisade_catalog::Timestamp(transaction.started_us).to_datetime(&palisade_catalog::Zone::UTC);
        vec![
            Value::UInt(transaction.id.0),
            Value::bytes(state),
            Value::DateTime(started),
            Value::UInt(transaction.row_locks),
            Value::UInt(transaction.changes),
        ]
    };
    host.engine.active_transactions().into_iter().map(line).collect()
}

fn pair_columns() -> Columns {
    vec![("VARIABLE_NAME", text(64)), ("VARIABLE_VALUE", text(1024))]
}

fn pairs(list: Vec<(String, String)>) -> Rows {
    list.into_iter().map(|(name, value)| vec![Value::bytes(name), Value::bytes(value)]).collect()
}
