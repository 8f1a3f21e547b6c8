//! Where the values of system variables come from: `performance_schema.variables_info`.

use std::path::Path;

use palisade_base::sysvar::{Kind, Scope, Variable, VariableId};
use palisade_catalog::{CollationId, SqlType, Timestamp, Value};
use palisade_sql::Session;

use crate::host::ServerHost;
use crate::variables::unix_micros;
use crate::virtual_tables::{Columns, Rows, text};

/// Who has set a variable, and when.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Setter {
    /// The user, as it logged in.
    pub user: String,
    /// Its host.
    pub host: String,
    /// Microseconds since 1970-01-01 00:00:00 UTC.
    pub unix_micros: i64,
}

impl Setter {
    /// The session, now.
    pub fn of(session: &Session) -> Setter {
        let (user, host) = (session.state.user.clone(), session.state.client_host.clone());
        Setter { user, host, unix_micros: unix_micros() }
    }
}

/// Where a value comes from, if not from the declaration of its variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    kind: &'static str,
    /// The file, if it is one.
    path: String,
    setter: Option<Setter>,
}

impl Source {
    /// The command line.
    pub fn command_line() -> Source {
        Source { kind: "COMMAND_LINE", path: String::new(), setter: None }
    }

    /// The file of `--defaults-file`.
    pub fn defaults_file(path: &str) -> Source {
        Source { kind: "EXPLICIT", path: path.to_owned(), setter: None }
    }

    /// The file of `--defaults-extra-file`.
    pub fn extra_file(path: &str) -> Source {
        Source { kind: "EXTRA", path: path.to_owned(), setter: None }
    }

    /// SET PERSIST in the life of a server before this one.
    pub fn persisted(path: &Path, setter: Setter) -> Source {
        Source { kind: "PERSISTED", path: path.display().to_string(), setter: Some(setter) }
    }

    /// SET GLOBAL.
    pub fn set(setter: Setter) -> Source {
        Source { kind: "DYNAMIC", path: String::new(), setter: Some(setter) }
    }
}

/// Columns of `variables_info`.
pub(crate) fn columns() -> Columns {
    vec![
        ("VARIABLE_NAME", text(64)),
        ("VARIABLE_SOURCE", text(12)),
        ("VARIABLE_PATH", text(1024)),
        ("MIN_VALUE", text(64)),
        ("MAX_VALUE", text(64)),
        ("SET_TIME", SqlType::Timestamp { fsp: 6 }),
        ("SET_USER", SqlType::Char { length: 32, collation: CollationId::UTF8MB4_BIN }),
        ("SET_HOST", text(255)),
    ]
}

/// Rows of `variables_info`.
pub(crate) fn rows(host: &ServerHost) -> Rows {
    let sources = host.globals.sources.lock();
    let row = |id: VariableId| {
        let variable = id.declaration();
        let source = sources.get(&id);
        let (least, greatest) = range(variable);
        let mut row = vec![
            Value::bytes(variable.name),
            Value::bytes(source.map_or("COMPILED", |source| source.kind)),
            Value::bytes(source.map_or("", |source| &*source.path)),
            Value::bytes(least),
            Value::bytes(greatest),
        ];
        row.extend(match source.and_then(|source| source.setter.as_ref()) {
            Some(setter) => [
                Value::Timestamp(Timestamp(setter.unix_micros)),
                Value::bytes(&*setter.user),
                Value::bytes(&*setter.host),
            ],
            None => [Value::Null, Value::Null, Value::Null],
        });
        row
    };
    VariableId::all().map(row).collect()
}

/// The least and the greatest value of a number; both 0 for what is none.
fn range(variable: &Variable) -> (String, String) {
    match &variable.kind {
        Kind::Int { min, max, .. } => (min.to_string(), max.to_string()),
        Kind::UInt { min, max, .. } => (min.to_string(), max.to_string()),
        Kind::Double { min, max, .. } => (min.to_string(), max.to_string()),
        Kind::Bool(_) | Kind::Text(_) | Kind::Switches(_) | Kind::Enum { .. } | Kind::Flags { .. } => {
            ("0".into(), "0".into())
        }
    }
}

/// Columns of `variables_metadata`.
pub(crate) fn metadata_columns() -> Columns {
    vec![
        ("VARIABLE_NAME", text(64)),
        ("VARIABLE_SCOPE", text(12)),
        ("DATA_TYPE", text(11)),
        ("MIN_VALUE", text(64)),
        ("MAX_VALUE", text(64)),
        ("DOCUMENTATION", text(65535)),
    ]
}

/// Rows of `variables_metadata`.
pub(crate) fn metadata_rows() -> Rows {
    let row = |id: VariableId| {
        let variable = id.declaration();
        let scope = match variable.scope {
            Scope::Global => "GLOBAL",
            Scope::Both => "SESSION",
            Scope::Session => "SESSION_ONLY",
        };
        let (data_type, is_number) = match &variable.kind {
            Kind::Bool(_) => ("Boolean", false),
            Kind::Int { .. } | Kind::UInt { .. } => ("Integer", true),
            Kind::Double { .. } => ("Numeric", true),
            Kind::Text(_) => ("String", false),
            Kind::Enum { .. } => ("Enumeration", false),
            Kind::Flags { .. } | Kind::Switches(_) => ("Set", false),
        };
        let (least, greatest) = if is_number { range(variable) } else { Default::default() };
        [variable.name, scope, data_type, &least, &greatest, variable.doc].map(Value::bytes).to_vec()
    };
    VariableId::all().map(row).collect()
}
