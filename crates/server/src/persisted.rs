//! SET PERSIST: values of system variables that outlive the server, in `mysqld-auto.cnf` in the data
//! directory.
//!
//! The file is MySQL's, so that either server reads what the other has written:
//!
//! ```text
//! {"Version": 2,
//!  "mysql_dynamic_variables": {"max_connections": {"Value": "500",
//!      "Metadata": {"Host": "localhost", "User": "root", "Timestamp": 1795524157657597}}},
//!  "mysql_static_variables": {...}}
//! ```
//!
//! A change writes a new file beside the old one, makes it durable, and gives it the old one's name: a crash
//! leaves the one or the other. Variables that this server does not know stay in the file. The values are
//! used before what options say, as in MySQL, unless `persisted_globals_load` is OFF; a value that cannot be
//! used keeps the server from starting, because a setting that promises safety is not forgotten silently.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use palisade_base::sysvar::VariableId;
use palisade_base::sysvar_catalogue as sysvar;
use palisade_catalog::json::{Json, parse, quote};
use parking_lot::Mutex;
use tracing::warn;

use crate::options::Options;
use crate::variable_sources::{Setter, Source};

/// Name of the file.
const FILE: &str = "mysqld-auto.cnf";
/// Its permissions, less what the umask takes: as those of the other files there.
const FILE_MODE: u32 = 0o640;
/// The form of it that is written.
const VERSION: i64 = 2;

/// A value that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// As SHOW VARIABLES would show it.
    pub value: String,
    /// Who has set it, and when.
    pub setter: Setter,
}

/// What the file holds, by the names of the variables.
pub type Values = BTreeMap<String, Kept>;

/// The file of a server.
pub struct PersistedVariables {
    path: PathBuf,
    /// What the file holds; `None` until it was read. A session that changes the file has it locked.
    values: Mutex<Option<Values>>,
}

impl PersistedVariables {
    /// The file in a data directory.
    pub fn new(datadir: &Path) -> Self {
        PersistedVariables { path: datadir.join(FILE), values: Mutex::default() }
    }

    /// What the file holds; the error says why it cannot be read. Blocks.
    pub fn values(&self) -> Result<Values, String> {
        let mut values = self.values.lock();
        self.loaded(&mut values).cloned()
    }

    /// Changes what the file holds. When it returns the change is durable, or was not made. Blocks.
    pub fn change<T>(&self, change: impl FnOnce(&mut Values) -> T) -> Result<T, String> {
        let mut values = self.values.lock();
        let mut changed = self.loaded(&mut values)?.clone();
        let done = change(&mut changed);
        if values.as_ref() != Some(&changed) {
            write(&self.path, &to_text(&changed))
                .map_err(|error| format!("{}: {error}", self.path.display()))?;
            *values = Some(changed);
        }
        Ok(done)
    }

    fn loaded<'v>(&self, values: &'v mut Option<Values>) -> Result<&'v Values, String> {
        let read = match values.take() {
            Some(read) => read,
            None => read(&self.path)?,
        };
        Ok(values.insert(read))
    }
}

/// Gives the settings that a server starts with the values that are kept.
pub fn load(options: &mut Options) -> Result<(), String> {
    if !options.settings.bool(sysvar::PERSISTED_GLOBALS_LOAD) {
        return Ok(());
    }
    let datadir = PathBuf::from(options.settings.text(sysvar::DATADIR).unwrap_or("data"));
    let path = datadir.join(FILE);
    let without = "--persisted-globals-load=OFF starts the server without the file";
    let values = read(&path).map_err(|problem| format!("{problem}; {without}"))?;
    for (name, Kept { value, setter }) in values {
        let Some(id) = VariableId::find(&name) else {
            warn!("{}: there is no variable '{name}'", path.display());
            continue;
        };
        let source = Source::persisted(&path, setter);
        let set = options.set_from(id, &value, source);
        set.map_err(|problem| format!("{}: {name}: {problem}; {without}", path.display()))?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<Values, String> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Values::new()),
        Err(error) => return Err(format!("{}: {error}", path.display())),
    };
    from_text(&text).map_err(|problem| format!("{}: {problem}", path.display()))
}

fn write(path: &Path, text: &[u8]) -> std::io::Result<()> {
    let beside = path.with_extension("cnf.new");
    let mut file =
        std::fs::OpenOptions::new().create(true).write(true).truncate(true).mode(FILE_MODE).open(&beside)?;
    file.write_all(text)?;
    file.sync_all()?;
    std::fs::rename(&beside, path)?;
    match path.parent() {
        Some(folder) => std::fs::File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// The values in a file, in whatever groups they stand.
fn from_text(text: &[u8]) -> Result<Values, String> {
    let Json::Object(groups) = parse::document(text).map_err(|error| error.to_string())? else {
        return Err("it is not a JSON object".to_owned());
    };
    let mut values = Values::new();
    for (name, member) in &groups {
        match (name.0.as_str(), member) {
            ("Version", Json::Int(1 | VERSION)) => {}
            ("Version", other) => {
                return Err(format!("unknown version {}", String::from_utf8_lossy(&other.to_text())));
            }
            (_, Json::Object(_)) => collect(&name.0, member, &mut values)?,
            _ => return Err(format!("'{}' is not a group of variables", name.0)),
        }
    }
    Ok(values)
}

/// Adds the variables of a group. The groups of the first version are nested.
fn collect(group: &str, member: &Json, values: &mut Values) -> Result<(), String> {
    let Json::Object(members) = member else {
        return Err(format!("'{group}' is neither a variable nor a group of them"));
    };
    for (name, member) in members {
        let Json::Object(parts) = member else {
            return Err(format!("'{}' is neither a variable nor a group of them", name.0));
        };
        let part = |wanted: &str| parts.iter().find(|(name, _)| name.0 == wanted).map(|(_, part)| part);
        match part("Value") {
            Some(Json::String(value)) => {
                let setter = part("Metadata").map_or_else(Setter::default, setter);
                values.insert(name.0.clone(), Kept { value: value.clone(), setter });
            }
            Some(_) => return Err(format!("the value of '{}' is not text", name.0)),
            None => collect(&name.0, member, values)?,
        }
    }
    Ok(())
}

fn setter(metadata: &Json) -> Setter {
    let mut setter = Setter::default();
    let Json::Object(parts) = metadata else { return setter };
    for (name, part) in parts {
        match (name.0.as_str(), part) {
            ("User", Json::String(user)) => setter.user.clone_from(user),
            ("Host", Json::String(host)) => setter.host.clone_from(host),
            ("Timestamp", Json::Int(micros)) => setter.unix_micros = *micros,
            _ => {}
        }
    }
    setter
}

fn to_text(values: &Values) -> Vec<u8> {
    let mut out = format!("{{\"Version\": {VERSION}").into_bytes();
    let is_static = |name: &str| VariableId::find(name).is_some_and(|id| !id.declaration().dynamic);
    for (group, wanted) in [("mysql_dynamic_variables", false), ("mysql_static_variables", true)] {
        let members: Vec<_> = values.iter().filter(|(name, _)| is_static(name) == wanted).collect();
        if members.is_empty() {
            continue;
        }
        out.extend_from_slice(format!(", \"{group}\": {{").as_bytes());
        for (place, (name, Kept { value, setter })) in members.into_iter().enumerate() {
            if place > 0 {
                out.extend_from_slice(b", ");
            }
            quote(name, &mut out);
            out.extend_from_slice(b": {\"Value\": ");
            quote(value, &mut out);
            out.extend_from_slice(b", \"Metadata\": {\"Host\": ");
            quote(&setter.host, &mut out);
            out.extend_from_slice(b", \"User\": ");
            quote(&setter.user, &mut out);
            out.extend_from_slice(format!(", \"Timestamp\": {}}}}}", setter.unix_micros).as_bytes());
        }
        out.push(b'}');
    }
    out.push(b'}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(value: &str) -> Kept {
        let setter = Setter { user: "root".into(), host: "localhost".into(), unix_micros: 7 };
        Kept { value: value.to_owned(), setter }
    }

    #[test]
    fn the_file_is_mysqls() {
        let mut values = Values::new();
        values.insert("max_connections".into(), kept("500"));
        values.insert("back_log".into(), kept("\"x\\y\""));
        let text = to_text(&values);
        assert_eq!(
            String::from_utf8_lossy(&text),
            r#"{"Version": 2, "mysql_dynamic_variables": {"max_connections": {"Value": "500", "Metadata": {"Host": "localhost", "User": "root", "Timestamp": 7}}}, "mysql_static_variables": {"back_log": {"Value": "\"x\\y\"", "Metadata": {"Host": "localhost", "User": "root", "Timestamp": 7}}}}"#
        );
        assert_eq!(from_text(&text), Ok(values));
        assert_eq!(to_text(&Values::new()), br#"{"Version": 2}"#);
    }

    #[test]
    fn files_of_older_servers_are_read() {
        let text = br#"{"Version": 1, "mysql_server": {"sort_buffer_size": {"Value": "1", "Metadata": {}},
            "mysql_server_static_options": {"back_log": {"Value": "2"}}}}"#;
        let values = from_text(text).unwrap();
        assert_eq!(values["back_log"], Kept { value: "2".into(), setter: Setter::default() });
        assert_eq!(values["sort_buffer_size"].value, "1");
    }

    #[test]
    fn what_is_damaged_is_refused() {
        for text in [
            "",
            "[]",
            "{",
            r#"{"Version": 3}"#,
            r#"{"Version": 2, "mysql_dynamic_variables": 1}"#,
            r#"{"Version": 2, "mysql_dynamic_variables": {"back_log": "1"}}"#,
            r#"{"Version": 2, "mysql_dynamic_variables": {"back_log": {"Value": 1}}}"#,
        ] {
            assert!(from_text(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_change_is_in_the_file_when_it_returns() {
        let dir = tempfile::tempdir().unwrap();
        let persisted = PersistedVariables::new(dir.path());
        assert_eq!(persisted.values(), Ok(Values::new()));
        let before = persisted.change(|values| values.insert("back_log".into(), kept("7")));
        assert_eq!(before, Ok(None));
        let again = PersistedVariables::new(dir.path()).values().unwrap();
        assert_eq!(again["back_log"], kept("7"));
        std::fs::remove_dir_all(dir.path()).unwrap();
        assert!(persisted.change(|values| values.clear()).is_err());
        assert_eq!(persisted.values(), Ok(again), "what could not be written was not changed");
    }
}
