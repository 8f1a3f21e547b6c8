//! Where the values of system variables come from: `performance_schema.variables_info`.

use std::path::Path;

use palisade_base::sysvar::{Kind, Variable};
use palisade_sql::Session;

use crate::variables::unix_micros;

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
    pub(crate) kind: &'static str,
    /// The file, if it is one.
    pub(crate) path: String,
    pub(crate) setter: Option<Setter>,
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

/// The least and the greatest value of a number; both 0 for what is none.
pub(crate) fn range(variable: &Variable) -> (String, String) {
    match &variable.kind {
        Kind::Int { min, max, .. } => (min.to_string(), max.to_string()),
        Kind::UInt { min, max, .. } => (min.to_string(), max.to_string()),
        Kind::Double { min, max, .. } => (min.to_string(), max.to_string()),
        Kind::Bool(_) | Kind::Text(_) | Kind::Switches(_) | Kind::Enum { .. } | Kind::Flags { .. } => {
            ("0".into(), "0".into())
        }
    }
}
