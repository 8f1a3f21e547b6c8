//! Tables about the server: their rows are made when they are read.

use palisade_base::monitor::{Reading, Spread};
use palisade_catalog::types::IntWidth;
use palisade_catalog::{CollationId, SqlType, Value};
use palisade_sql::{Host as _, Scope, SessionView, VirtualTable};

use crate::accounts::privilege::Privileges;
use crate::accounts::{Account, AccountName};
use crate::host::ServerHost;
use crate::{lock_tables, system_tables, time_zone, variable_sources};

pub(crate) type Columns = Vec<(&'static str, SqlType)>;
pub(crate) type Rows = Vec<Vec<Value>>;

/// A table: where it is called what, its columns, and how its rows are made.
struct Definition {
    schema: &'static str,
    name: &'static str,
    columns: fn() -> Columns,
    rows: fn(&ServerHost, SessionView<'_>) -> Rows,
}

const INFORMATION_SCHEMA: &str = "information_schema";
const PERFORMANCE_SCHEMA: &str = "performance_schema";

static TABLES: &[Definition] = &[
    Definition { schema: INFORMATION_SCHEMA, name: "PROCESSLIST", columns: process_columns, rows: processes },
    Definition {
        schema: INFORMATION_SCHEMA,
        name: "INNODB_METRICS",
        columns: metric_columns,
        rows: |host, _| metrics(host),
    },
    Definition {
        schema: INFORMATION_SCHEMA,
        name: "INNODB_TRX",
        columns: lock_tables::transaction_columns,
        rows: |host, _| lock_tables::transactions(host),
    },
    Definition {
        schema: PERFORMANCE_SCHEMA,
        name: "data_locks",
        columns: lock_tables::lock_columns,
        rows: |host, _| lock_tables::locks(host),
    },
    Definition {
        schema: PERFORMANCE_SCHEMA,
        name: "data_lock_waits",
        columns: lock_tables::wait_columns,
        rows: |host, _| lock_tables::waits(host),
    },
    Definition { schema: PERFORMANCE_SCHEMA, name: "processlist", columns: process_columns, rows: processes },
    Definition {
        schema: PERFORMANCE_SCHEMA,
        name: "global_variables",
        columns: pair_columns,
        rows: |host, session| pairs(host.variables(session.state, Scope::Global)),
    },
    Definition {
        schema: PERFORMANCE_SCHEMA,
        name: "session_variables",
        columns: pair_columns,
        rows: |host, session| pairs(host.variables(session.state, Scope::Session)),
    },
    Definition {
        schema: PERFORMANCE_SCHEMA,
        name: "global_status",
        columns: pair_columns,
        rows: |host, session| pairs(host.status(session, Scope::Global)),
    },
    Definition {
        schema: PERFORMANCE_SCHEMA,
        name: "session_status",
        columns: pair_columns,
        rows: |host, session| pairs(host.status(session, Scope::Session)),
    },
    Definition {
        schema: PERFORMANCE_SCHEMA,
        name: "session_account_connect_attrs",
        columns: attribute_columns,
        rows: |host, session| attributes(host, |id| id == session.state.connection_id),
    },
    Definition {
        schema: PERFORMANCE_SCHEMA,
        name: "session_connect_attrs",
        columns: attribute_columns,
        rows: |host, session| {
            let sees_all = host.asked(session.state, |asker| asker.has(Privileges::PROCESS));
            attributes(host, |id| sees_all || id == session.state.connection_id)
        },
    },
    Definition {
        schema: PERFORMANCE_SCHEMA,
        name: "persisted_variables",
        columns: pair_columns,
        rows: |host, _| {
            // a file that cannot be read keeps nothing
            let kept = host.globals.persisted.values().unwrap_or_default();
            pairs(kept.into_iter().map(|(name, kept)| (name, kept.value)).collect())
        },
    },
    Definition {
        schema: PERFORMANCE_SCHEMA,
        name: "variables_info",
        columns: variable_sources::columns,
        rows: |host, _| variable_sources::rows(host),
    },
    Definition {
        schema: PERFORMANCE_SCHEMA,
        name: "variables_metadata",
        columns: variable_sources::metadata_columns,
        rows: |_, _| variable_sources::metadata_rows(),
    },
    Definition {
        schema: PERFORMANCE_SCHEMA,
        name: "host_cache",
        columns: host_cache_columns,
        // No names are looked up for addresses, and failures are not counted by address.
        rows: |_, _| Rows::new(),
    },
    Definition { schema: PERFORMANCE_SCHEMA, name: "threads", columns: thread_columns, rows: threads },
    Definition {
        schema: INFORMATION_SCHEMA,
        name: "RESOURCE_GROUPS",
        columns: resource_group_columns,
        rows: |_, _| resource_groups(),
    },
    Definition {
        schema: INFORMATION_SCHEMA,
        name: "USER_ATTRIBUTES",
        columns: user_attribute_columns,
        rows: user_attributes,
    },
    Definition {
        schema: INFORMATION_SCHEMA,
        name: "USER_PRIVILEGES",
        columns: || privilege_columns(&[]),
        rows: |host, session| {
            granted(host, session, |account| {
                let named = account.dynamic.keys().map(String::as_str);
                let all: Vec<&str> = account.global.names().into_iter().chain(named).collect();
                let all = if all.is_empty() { vec!["USAGE"] } else { all };
                all.into_iter().map(|name| (Vec::new(), name.to_owned(), account.global)).collect()
            })
        },
    },
    Definition {
        schema: INFORMATION_SCHEMA,
        name: "SCHEMA_PRIVILEGES",
        columns: || privilege_columns(&["TABLE_SCHEMA"]),
        rows: |host, session| {
            granted(host, session, |account| {
                let databases = account.databases.iter();
                let names = databases.flat_map(|(database, privileges)| {
                    let named = privileges.names().into_iter();
                    named.map(|name| (vec![database.clone()], name.to_owned(), *privileges))
                });
                names.collect()
            })
        },
    },
    Definition {
        schema: INFORMATION_SCHEMA,
        name: "TABLE_PRIVILEGES",
        columns: || privilege_columns(&["TABLE_SCHEMA", "TABLE_NAME"]),
        rows: |host, session| {
            granted(host, session, |account| {
                let tables = account.tables.iter();
                let names = tables.flat_map(|((schema, table), privileges)| {
                    let named = privileges.names().into_iter();
                    named.map(|name| (vec![schema.clone(), table.clone()], name.to_owned(), *privileges))
                });
                names.collect()
            })
        },
    },
];

fn resource_group_columns() -> Columns {
    vec![
        ("RESOURCE_GROUP_NAME", text(64)),
        ("RESOURCE_GROUP_TYPE", text(6)),
        ("RESOURCE_GROUP_ENABLED", SqlType::INT),
        ("VCPU_IDS", text(1024)),
        ("THREAD_PRIORITY", SqlType::INT),
    ]
}

/// The two that there are by themselves, with all processors.
fn resource_groups() -> Rows {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let ids = if processors > 1 { format!("0-{}", processors - 1) } else { "0".to_owned() };
    let row = |name: &str, kind: &str| {
        let ids = Value::bytes(ids.clone());
        vec![Value::bytes(name), Value::bytes(kind), Value::Int(1), ids, Value::Int(0)]
    };
    vec![row("USR_default", "USER"), row("SYS_default", "SYSTEM")]
}

fn user_attribute_columns() -> Columns {
    vec![("USER", text(32)), ("HOST", text(255)), ("ATTRIBUTE", text(65_535))]
}

/// The accounts, and what COMMENT and ATTRIBUTE say of them.
fn user_attributes(host: &ServerHost, session: SessionView<'_>) -> Rows {
    let sees_all = host.asked(session.state, |asker| asker.check_reads_accounts().is_ok());
    let own = AccountName::of_session(&session.state.account);
    let accounts = host.accounts.load();
    let seen = accounts.iter().filter(|account| sees_all || account.name == own);
    let row = |account: &Account| {
        let AccountName { user, host } = &account.name;
        let metadata = account.metadata.as_ref().map_or(Value::Null, |text| Value::bytes(text.clone()));
        vec![Value::bytes(user.clone()), Value::bytes(host.clone()), metadata]
    };
    seen.map(row).collect()
}

fn privilege_columns(on: &[&'static str]) -> Columns {
    let mut columns = vec![("GRANTEE", text(292)), ("TABLE_CATALOG", text(512))];
    columns.extend(on.iter().map(|name| (*name, text(64))));
    columns.extend([("PRIVILEGE_TYPE", text(64)), ("IS_GRANTABLE", text(3))]);
    columns
}

/// A privilege of an account: where, its name, and all that is granted there.
type Entry = (Vec<String>, String, Privileges);

/// What accounts may do, a row for each privilege.
fn granted(host: &ServerHost, session: SessionView<'_>, of: fn(&Account) -> Vec<Entry>) -> Rows {
    let sees_all = host.asked(session.state, |asker| asker.check_reads_accounts().is_ok());
    let own = AccountName::of_session(&session.state.account);
    let accounts = host.accounts.load();
    let seen = accounts.iter().filter(|account| sees_all || account.name == own);
    let rows = seen.flat_map(|account| {
        of(account).into_iter().map(|(on, name, all)| {
            let mut row = vec![Value::bytes(account.name.to_string()), Value::bytes("def")];
            row.extend(on.into_iter().map(Value::bytes));
            row.push(Value::bytes(name));
            row.push(Value::bytes(if all.has(Privileges::GRANT_OPTION) { "YES" } else { "NO" }));
            row
        })
    });
    rows.collect()
}

fn attribute_columns() -> Columns {
    vec![
        ("PROCESSLIST_ID", NUMBER),
        ("ATTR_NAME", text(32)),
        ("ATTR_VALUE", text(1024)),
        ("ORDINAL_POSITION", SqlType::INT),
    ]
}

fn attributes(host: &ServerHost, seen: impl Fn(u64) -> bool) -> Rows {
    let ids = host.connections.processes().into_iter().map(|process| process.id).filter(|id| seen(*id));
    let connections = ids.filter_map(|id| host.connections.get(id));
    let rows = connections.flat_map(|connection| {
        let attributes = connection.attributes.lock().clone();
        attributes.into_iter().enumerate().map(move |(place, (name, value))| {
            vec![
                Value::UInt(connection.id),
                Value::bytes(name),
                Value::bytes(value),
                Value::Int(place as i64),
            ]
        })
    });
    rows.collect()
}

fn host_cache_columns() -> Columns {
    const COUNTS: [&str; 24] = [
        "SUM_CONNECT_ERRORS",
        "COUNT_HOST_BLOCKED_ERRORS",
        "COUNT_NAMEINFO_TRANSIENT_ERRORS",
        "COUNT_NAMEINFO_PERMANENT_ERRORS",
        "COUNT_FORMAT_ERRORS",
        "COUNT_ADDRINFO_TRANSIENT_ERRORS",
        "COUNT_ADDRINFO_PERMANENT_ERRORS",
        "COUNT_FCRDNS_ERRORS",
        "COUNT_HOST_ACL_ERRORS",
        "COUNT_NO_AUTH_PLUGIN_ERRORS",
        "COUNT_AUTH_PLUGIN_ERRORS",
        "COUNT_HANDSHAKE_ERRORS",
        "COUNT_PROXY_USER_ERRORS",
        "COUNT_PROXY_USER_ACL_ERRORS",
        "COUNT_AUTHENTICATION_ERRORS",
        "COUNT_SSL_ERRORS",
        "COUNT_MAX_USER_CONNECTIONS_ERRORS",
        "COUNT_MAX_USER_CONNECTIONS_PER_HOUR_ERRORS",
        "COUNT_DEFAULT_DATABASE_ERRORS",
        "COUNT_INIT_CONNECT_ERRORS",
        "COUNT_LOCAL_ERRORS",
        "COUNT_ACCOUNT_LOCKED_ERRORS",
        "COUNT_TEMPORARY_ACCOUNT_LOCKED_ERRORS",
        "COUNT_UNKNOWN_ERRORS",
    ];
    let mut columns = vec![("IP", text(64)), ("HOST", text(255)), ("HOST_VALIDATED", text(3))];
    columns.extend(COUNTS.map(|name| (name, SqlType::BIGINT)));
    let times = ["FIRST_SEEN", "LAST_SEEN", "FIRST_ERROR_SEEN", "LAST_ERROR_SEEN"];
    columns.extend(times.map(|name| (name, SqlType::Timestamp { fsp: 0 })));
    columns
}

fn thread_columns() -> Columns {
    vec![
        ("THREAD_ID", NUMBER),
        ("NAME", text(128)),
        ("TYPE", text(10)),
        ("PROCESSLIST_ID", NUMBER),
        ("PROCESSLIST_USER", text(32)),
        ("PROCESSLIST_HOST", text(255)),
        ("PROCESSLIST_DB", text(64)),
        ("PROCESSLIST_COMMAND", text(16)),
        ("PROCESSLIST_TIME", SqlType::BIGINT),
        ("PROCESSLIST_STATE", text(64)),
        ("PROCESSLIST_INFO", text(65535)),
        ("CONNECTION_TYPE", text(16)),
    ]
}

/// A session is a task here, not a thread; to those who ask it is the thread of its connection.
fn threads(host: &ServerHost, session: SessionView<'_>) -> Rows {
    let line = |mut process: Vec<Value>| {
        let id = process.first().cloned().unwrap_or(Value::Null);
        let tls = match &id {
            Value::UInt(id) => {
                host.connections.get(*id).is_some_and(|connection| connection.tls.get().is_some())
            }
            _ => false,
        };
        let mut row = vec![id, Value::bytes("thread/sql/one_connection"), Value::bytes("FOREGROUND")];
        row.append(&mut process);
        row.push(Value::bytes(if tls { "SSL/TLS" } else { "TCP/IP" }));
        row
    };
    processes(host, session).into_iter().map(line).collect()
}

/// The table of that name, with its rows if asked for; `None` if there is none.
pub fn table(
    host: &ServerHost,
    session: SessionView<'_>,
    schema: &str,
    name: &str,
    with_rows: bool,
) -> Option<VirtualTable> {
    if schema == "mysql" {
        return system_tables::table(name);
    }
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

pub(crate) fn text(length: u32) -> SqlType {
    SqlType::VarChar { length, collation: CollationId::UTF8MB3_GENERAL_CI }
}

pub(crate) const NUMBER: SqlType = SqlType::Int { width: IntWidth::Big, unsigned: true };

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

fn processes(host: &ServerHost, session: SessionView<'_>) -> Rows {
    let now_seconds = host.connections.now_seconds();
    let line = |process: crate::connections::Process| {
        let activity = process.activity;
        vec![
            Value::UInt(process.id),
            Value::bytes(activity.user),
            Value::bytes(process.host),
            activity.database.map_or(Value::Null, Value::bytes),
            Value::bytes(activity.command),
            Value::Int(now_seconds.saturating_sub(activity.since_seconds) as i64),
            Value::bytes(process.state),
            if activity.text.is_empty() { Value::Null } else { Value::bytes(activity.text) },
        ]
    };
    let sees_all = host.asked(session.state, |asker| asker.has(Privileges::PROCESS));
    let seen = host.connections.processes().into_iter();
    seen.filter(|process| sees_all || process.activity.user == session.state.user).map(line).collect()
}

fn metric_columns() -> Columns {
    let datetime = SqlType::DateTime { fsp: 0 };
    vec![
        ("NAME", text(193)),
        ("SUBSYSTEM", text(193)),
        ("COUNT", SqlType::BIGINT),
        ("MAX_COUNT", SqlType::BIGINT),
        ("MIN_COUNT", SqlType::BIGINT),
        ("AVG_COUNT", SqlType::DOUBLE),
        ("COUNT_RESET", SqlType::BIGINT),
        ("MAX_COUNT_RESET", SqlType::BIGINT),
        ("MIN_COUNT_RESET", SqlType::BIGINT),
        ("AVG_COUNT_RESET", SqlType::DOUBLE),
        ("TIME_ENABLED", datetime.clone()),
        ("TIME_DISABLED", datetime.clone()),
        ("TIME_ELAPSED", SqlType::BIGINT),
        ("TIME_RESET", datetime),
        ("STATUS", text(193)),
        ("TYPE", text(193)),
        ("COMMENT", text(193)),
    ]
}

fn metrics(host: &ServerHost) -> Rows {
    let zone = &time_zone::system().zone;
    let number = |number: Option<i64>| number.map_or(Value::Null, Value::Int);
    let time = |seconds: Option<i64>| {
        let datetime = |seconds| palisade_catalog::Timestamp(seconds * 1_000_000).to_datetime(zone);
        seconds.map_or(Value::Null, |seconds| Value::DateTime(datetime(seconds)))
    };
    let spread = |spread: Spread| {
        [number(spread.max), number(spread.min), spread.average.map_or(Value::Null, Value::Double)]
    };
    let line = |row: Reading| {
        let mut values = vec![Value::bytes(row.metric.name), Value::bytes(row.metric.module)];
        values.push(Value::Int(row.count));
        values.extend(spread(row.spread));
        values.push(Value::Int(row.count_reset));
        values.extend(spread(row.spread_reset));
        values.extend([time(row.time_enabled), time(row.time_disabled), number(row.time_elapsed)]);
        values.push(time(row.time_reset));
        values.push(Value::bytes(if row.is_on { "enabled" } else { "disabled" }));
        values.extend([row.metric.shown_type().name(), row.metric.comment].map(Value::bytes));
        values
    };
    host.engine.monitors().into_iter().map(line).collect()
}

fn pair_columns() -> Columns {
    vec![("VARIABLE_NAME", text(64)), ("VARIABLE_VALUE", text(1024))]
}

fn pairs(list: Vec<(String, String)>) -> Rows {
    list.into_iter().map(|(name, value)| vec![Value::bytes(name), Value::bytes(value)]).collect()
}
