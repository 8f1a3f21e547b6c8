//! The command line and option files, as values of system variables.
//!
//! Every system variable is an option: `--max-connections=500`, dashes and underscores alike. A boolean also takes the
//! bare flag, `--skip-NAME`, `--disable-NAME` and `--enable-NAME`. `--loose-NAME` turns an unknown option from an
//! error into a warning. Later options win; the command line comes after the files. No file is read unless
//! `--defaults-file` or `--defaults-extra-file` names it: a server must not pick up another one's data directory
//! from `/etc/mysql/my.cnf`.

pub mod collected;
mod former;

use std::path::Path;

use palisade_base::sysvar::{Kind, Scope, Setting, Settings, Taken, Variable, VariableId};
use palisade_base::sysvar_catalogue as sysvar;

use self::collected::Collected;
use self::former::Former;
use crate::option_file::{self, Given};
use crate::variable_sources::Source;
use crate::{session_variables, variables};

/// What the command line asks for.
#[derive(Debug)]
pub enum Action {
    /// Run the server.
    Run(Box<Options>),
    /// Print the variables and leave.
    Help,
    /// Print the version and leave.
    Version,
}

/// The values to start with.
#[derive(Debug)]
pub struct Options {
    /// A value for every variable.
    pub settings: Settings,
    /// What was strange but no reason not to start.
    pub warnings: Vec<String>,
    /// The variables that were given, in order of their options, and by what.
    pub given: Vec<(VariableId, Source)>,
    /// What is collected from the start, in order of the options.
    pub collected: Vec<Collected>,
}

impl From<Settings> for Options {
    /// Settings of which it is not known where they come from.
    fn from(settings: Settings) -> Options {
        Options { settings, warnings: Vec::new(), given: Vec::new(), collected: Vec::new() }
    }
}

/// Options of MySQL's server that are no variables and mean nothing here; some come with a value.
const ACCEPTED: &[&str] = &[
    "character-set-client-handshake",
    "console",
    "daemonize",
    "default-authentication-plugin",
    "early-plugin-load",
    "initialize-insecure",
    "language",
    "log-short-format",
    "mysqlx",
    "plugin-load",
    "plugin-load-add",
    "standalone",
    "symbolic-links",
    "upgrade",
    "user",
    "verbose",
];

/// Reads the arguments that follow the program's name, and the files they name.
pub fn parse(arguments: &[String]) -> Result<Action, String> {
    let mut file = None;
    let mut extra_file = None;
    let mut rest = Vec::new();
    for argument in arguments {
        match split(argument.trim_start_matches('-')) {
            ("defaults-file", Some(path)) if argument.starts_with("--") => file = Some(path.to_owned()),
            ("defaults-extra-file", Some(path)) if argument.starts_with("--") => {
                extra_file = Some(path.to_owned());
            }
            ("no-defaults", None) => {}
            _ => rest.push(argument.as_str()),
        }
    }
    if rest.iter().any(|argument| matches!(*argument, "--help" | "-?")) {
        return Ok(Action::Help);
    }
    if rest.iter().any(|argument| matches!(*argument, "--version" | "-V")) {
        return Ok(Action::Version);
    }
    let mut given = Vec::new();
    for (path, source) in
        [(extra_file, Source::extra_file as fn(&str) -> Source), (file, Source::defaults_file)]
    {
        let Some(path) = path else { continue };
        given.extend(option_file::read(Path::new(&path))?.into_iter().map(|option| (option, source(&path))));
    }
    given.extend(from_command_line(&rest)?.into_iter().map(|option| (option, Source::command_line())));
    let mut options = Options::from(Settings::default());
    for (option, source) in given {
        options.apply(&option, &source).map_err(|problem| format!("{}: {problem}", option.origin))?;
    }
    options.use_log_file_size();
    options.use_io_capacity();
    options.use_skip_grant_tables();
    options.warn_of_no_effect();
    Ok(Action::Run(Box::new(options)))
}

fn split(argument: &str) -> (&str, Option<&str>) {
    match argument.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (argument, None),
    }
}

/// Brings `-P 3306` and `--port 3306` into the form of `--port=3306`.
fn from_command_line(arguments: &[&str]) -> Result<Vec<Given>, String> {
    let mut given = Vec::new();
    let mut arguments = arguments.iter().peekable();
    while let Some(argument) = arguments.next() {
        let (name, mut value) = match argument.strip_prefix("--") {
            Some(long) if !long.is_empty() => split(long),
            Some(_) => continue,
            None => short(argument).ok_or_else(|| format!("unknown argument '{argument}'"))?,
        };
        if value.is_none() && takes_value(name) {
            value = arguments.next_if(|next| !next.starts_with('-')).copied();
            if value.is_none() {
                return Err(format!("option '--{name}' requires a value"));
            }
        }
        given.push(Given {
            name: name.to_owned(),
            value: value.map(str::to_owned),
            origin: "command line".to_owned(),
        });
    }
    Ok(given)
}

fn short(argument: &str) -> Option<(&'static str, Option<&str>)> {
    let mut chars = argument.strip_prefix('-')?.chars();
    let name = match chars.next()? {
        'P' => "port",
        'h' => "datadir",
        'b' => "basedir",
        'u' => "user",
        _ => return None,
    };
    Some((name, Some(chars.as_str()).filter(|value| !value.is_empty())))
}

fn takes_value(name: &str) -> bool {
    if name == "user" || name.replace('-', "_") == "performance_schema_instrument" {
        return true;
    }
    find(name).is_some_and(|id| {
        matches!(
            id.declaration().kind,
            Kind::Int { .. }
                | Kind::UInt { .. }
                | Kind::Double { .. }
                | Kind::Text(_)
                | Kind::Switches(_)
                | Kind::Flags { .. }
        )
    })
}

fn find(name: &str) -> Option<VariableId> {
    VariableId::find(&name.replace('-', "_"))
}

impl Options {
    fn is_given(&self, id: VariableId) -> bool {
        self.given.iter().any(|(given, _)| *given == id)
    }

    /// `innodb_log_file_size` and `innodb_log_files_in_group`, as MySQL has done with them since 8.0.30.
    fn use_log_file_size(&mut self) {
        let old = [sysvar::INNODB_LOG_FILE_SIZE, sysvar::INNODB_LOG_FILES_IN_GROUP];
        let given: Vec<VariableId> = old.into_iter().filter(|id| self.is_given(*id)).collect();
        if self.is_given(sysvar::INNODB_REDO_LOG_CAPACITY) {
            for id in given {
                self.warnings.push(format!(
                    "Ignored deprecated configuration parameter {}. Used innodb_redo_log_capacity instead.",
                    id.declaration().name
                ));
            }
        } else if !given.is_empty() {
            let size = self.settings.uint(sysvar::INNODB_LOG_FILE_SIZE);
            let total = size.saturating_mul(self.settings.uint(sysvar::INNODB_LOG_FILES_IN_GROUP));
            let declared = sysvar::INNODB_REDO_LOG_CAPACITY.declaration();
            let capacity = match declared.kind {
                Kind::UInt { min, max, .. } => total.clamp(min, max),
                _ => total,
            };
            self.settings.set(sysvar::INNODB_REDO_LOG_CAPACITY, Setting::UInt(capacity));
            self.warnings.push(format!(
                "Deprecated configuration parameters innodb_log_file_size and/or innodb_log_files_in_group have been \
                 used to compute innodb_redo_log_capacity={capacity}. Please use innodb_redo_log_capacity instead."
            ));
        }
    }

    /// `innodb_io_capacity_max` that is not given is twice `innodb_io_capacity`, at least 2000, as in MySQL; one that is given
    /// bounds it.
    fn use_io_capacity(&mut self) {
        const LEAST: u64 = 2000;
        let capacity = self.settings.uint(sysvar::INNODB_IO_CAPACITY);
        let most = self.settings.uint(sysvar::INNODB_IO_CAPACITY_MAX);
        if !self.is_given(sysvar::INNODB_IO_CAPACITY_MAX) {
            let twice = capacity.saturating_mul(2).clamp(LEAST, u64::from(u32::MAX));
            self.settings.set(sysvar::INNODB_IO_CAPACITY_MAX, Setting::UInt(twice));
        } else if capacity > most {
            self.warnings.push(format!(
                "innodb_io_capacity={capacity} is more than innodb_io_capacity_max={most}; it is {most} as well"
            ));
            self.settings.set(sysvar::INNODB_IO_CAPACITY, Setting::UInt(most));
        }
    }

    /// A server that lets everyone in is not reached over the network, as in MySQL, unless that is said as
    /// well.
    fn use_skip_grant_tables(&mut self) {
        let is_open = self.settings.bool(sysvar::SKIP_GRANT_TABLES);
        if is_open && !self.is_given(sysvar::SKIP_NETWORKING) {
            self.settings.set(sysvar::SKIP_NETWORKING, Setting::Bool(true));
        }
    }

    /// Names, in one warning, the variables that were given another value than their default and change
    /// nothing here.
    fn warn_of_no_effect(&mut self) {
        let mut names: Vec<&str> = (self.given.iter())
            .filter(|(id, _)| id.declaration().has_no_effect())
            .filter(|(id, _)| *self.settings.get(*id) != id.declaration().default_setting())
            .map(|(id, _)| id.declaration().name)
            .collect();
        names.sort_unstable();
        names.dedup();
        if !names.is_empty() {
            self.warnings.push(format!("without effect here: {}", names.join(", ")));
        }
    }

    fn apply(&mut self, option: &Given, source: &Source) -> Result<(), String> {
        let (name, loose) = match strip(&option.name, "loose") {
            Some(rest) => (rest, true),
            None => (option.name.as_str(), false),
        };
        match self.set(name, option.value.as_deref(), source) {
            Ok(()) => Ok(()),
            Err(problem) if loose => {
                self.warnings.push(format!("{}: {problem}; ignored", option.origin));
                Ok(())
            }
            Err(problem) => Err(problem),
        }
    }

    fn set(&mut self, name: &str, value: Option<&str>, source: &Source) -> Result<(), String> {
        if accepts(name) || self.set_collected(name, value) {
            return Ok(());
        }
        let former = former::find(name);
        let name = match former {
            Some(Former::Renamed(now)) => now,
            _ => name,
        };
        if let Some(id) = find(name) {
            return self.set_variable(id, value, source);
        }
        if let Some(Former::Ignored(why)) = former {
            self.warnings.push(format!("option '{name}' is ignored: {why}"));
            return Ok(());
        }
        for (prefix, on) in [("skip", false), ("disable", false), ("enable", true)] {
            let Some(rest) = strip(name, prefix) else { continue };
            if let Some(id) = find(rest) {
                let word = if on { "ON" } else { "OFF" };
                return self.set_variable(id, Some(word), source);
            }
            if accepts(rest) || self.set_collected(rest, Some(if on { "ON" } else { "OFF" })) {
                return Ok(());
            }
            if let Some(Former::Ignored(why)) = former::find(rest) {
                self.warnings.push(format!("option '{name}' is ignored: {why}"));
                return Ok(());
            }
        }
        Err(match value {
            Some(value) => format!("unknown variable '{name}={value}'"),
            None => format!("unknown option '--{name}'"),
        })
    }

    /// Whether the option says what is collected. One that says it wrongly is a warning, as in MySQL.
    fn set_collected(&mut self, name: &str, value: Option<&str>) -> bool {
        match collected::find(name, value) {
            Some(Ok(collected)) => self.collected.push(collected),
            Some(Err(problem)) => self.warnings.push(problem),
            None => return false,
        }
        true
    }

    /// `log_bin`, whose value may be the name of the log's files. A server that was to have a binary log
    /// starts without one, and says so: option files of all servers name it, and `@@log_bin` tells the truth.
    fn stays_without_binary_log(&mut self, text: &str) -> bool {
        let is_off = sysvar::LOG_BIN
            .declaration()
            .from_option(text)
            .is_ok_and(|assigned| matches!(assigned.setting, Setting::Bool(false)));
        if !is_off {
            self.warnings.push(format!(
                "log_bin={text}: there is no binary log yet; the server runs without, and log_bin is OFF"
            ));
        }
        !is_off
    }

    /// Sets a variable to a value of which the text comes from `source`; the error says what is wrong with
    /// it.
    pub fn set_from(&mut self, id: VariableId, text: &str, source: Source) -> Result<(), String> {
        self.set_variable(id, Some(text), &source)
    }

    fn set_variable(&mut self, id: VariableId, value: Option<&str>, source: &Source) -> Result<(), String> {
        let variable = id.declaration();
        let text = match (value, &variable.kind) {
            (Some(text), _) => text,
            (None, Kind::Bool(_)) => "ON",
            (None, Kind::Enum { names, .. }) if names.contains(&"ON") => "ON",
            (None, _) => return Err(format!("option '--{}' requires a value", variable.name)),
        };
        if COMPUTED.contains(&id) {
            return Err(format!("variable '{}' is read-only", variable.name));
        }
        if id == sysvar::LOG_BIN && self.stays_without_binary_log(text) {
            return Ok(());
        }
        let assigned = variable.from_option(text)?;
        if let Some(warning) = assigned.warning {
            let used = variable.shown(&assigned.setting);
            self.warnings.push(format!("{}; using {used}", warning.message));
        }
        let setting = match assigned.setting {
            Setting::Text(text) => {
                let checked =
                    session_variables::check_text(variable.name, &text).map_err(|error| error.message)?;
                Setting::Text(checked.into())
            }
            other => other,
        };
        variables::check_taken(id, &setting).map_err(|_| {
            let (name, shown) = (variable.name, variable.shown(&setting));
            format!(
                "{name}={shown} is not supported yet, and the server does not start with what it would not do"
            )
        })?;
        if let Some((other @ sysvar::READ_ONLY, follows)) = variables::follow_read_only(id, &setting) {
            self.settings.set(other, follows);
        }
        if let Some((other, follows)) =
            session_variables::coupled(id, &setting).map_err(|error| error.message)?
        {
            self.settings.set(other, follows);
        }
        self.settings.set(id, setting);
        self.given.push((id, source.clone()));
        Ok(())
    }
}

/// Variables that the server works out and no option sets.
const COMPUTED: &[VariableId] = &[
    sysvar::VERSION,
    sysvar::VERSION_COMPILE_MACHINE,
    sysvar::VERSION_COMPILE_OS,
    sysvar::HOSTNAME,
    sysvar::LICENSE,
    sysvar::PROTOCOL_VERSION,
    sysvar::ERROR_COUNT,
    sysvar::WARNING_COUNT,
];

fn accepts(name: &str) -> bool {
    ACCEPTED.contains(&name.replace('_', "-").as_str())
}

fn strip<'a>(name: &'a str, prefix: &str) -> Option<&'a str> {
    name.strip_prefix(prefix)?.strip_prefix(['-', '_'])
}

/// The text of `--help`.
pub fn help() -> String {
    let mut out = String::from(concat!(
        "palisade: a transactional SQL server that speaks the MySQL protocol\n\n",
        "Usage: palisade [--defaults-file=FILE] [--VARIABLE=VALUE ...]\n",
        "       palisade check --datadir=DIR [--json] ...     checks a data directory; see palisade check --help\n\n",
        "  --defaults-file=FILE        read options from the groups [mysqld], [server] and [palisade] of FILE\n",
        "  --defaults-extra-file=FILE  the same, before --defaults-file\n",
        "  --help, --version\n\n",
        "Every system variable is an option; '-' and '_' are alike, sizes take K, M, G and T. --skip-NAME and\n",
        "--disable-NAME turn a boolean off; --loose-NAME=VALUE does not fail if there is no such variable.\n\n",
        "  --performance-schema-instrument=PATTERN=ON|OFF|COUNTED  sets instruments of performance_schema; % is any text\n",
        "  --performance-schema-consumer-NAME=ON|OFF               sets a consumer\n\n",
    ));
    let (without, with): (Vec<_>, Vec<_>) =
        VariableId::all().map(VariableId::declaration).partition(|variable| variable.has_no_effect());
    for variable in with {
        out.push_str(&help_entry(variable));
    }
    out.push_str("\nAccepted, without effect:\n\n");
    for variable in without {
        out.push_str(&help_entry(variable));
    }
    out
}

fn help_entry(variable: &Variable) -> String {
    let mut default = variable.shown(&variable.default_setting());
    if default.is_empty() {
        default = "(none)".to_owned();
    }
    let unit = match variable.unit().name() {
        "" => String::new(),
        unit => format!(" {unit}"),
    };
    format!("  --{}\n        {} Default: {default}{unit}.\n", variable.name.replace('_', "-"), variable.doc)
}

/// The text of docs/variables.md.
pub fn variables_document() -> String {
    let mut out = String::from(concat!(
        "# System variables\n\n",
        "Made from the declarations in crates/base/src/sysvar_catalogue.rs; a test of crates/server keeps it so.\n",
        "A variable without effect is there for clients and option files that read or set it; one that is given another\n",
        "value than its default is answered with a warning, by SET with 1618.\n\n",
        "| name | scope | SET | default | meaning |\n|---|---|---|---|---|\n",
    ));
    let (without, with): (Vec<_>, Vec<_>) =
        VariableId::all().map(VariableId::declaration).partition(|variable| variable.has_no_effect());
    for variable in with.into_iter().chain(without) {
        let scope = match variable.scope {
            Scope::Global => "global",
            Scope::Session => "session",
            Scope::Both => "both",
        };
        let set = match (variable.dynamic, variable.taken) {
            (true, Taken::All) => "yes",
            (false, _) => "no",
            (true, Taken::DefaultOnly) => "default only",
        };
        let default = variable.shown(&variable.default_setting()).replace(',', ", ");
        let default = [default.as_str(), variable.unit().name()].join(" ");
        out.push_str(&format!(
            "| `{}` | {scope} | {set} | {} | {} |\n",
            variable.name,
            default.trim(),
            variable.doc
        ));
    }
    out
}

#[cfg(test)]
mod tests;
