//! The error log: standard error or a file, as text or as JSON, and its last lines in memory, which
//! performance_schema.error_log shows.
//!
//! | variable | what it says |
//! |---|---|
//! | `log_error` | the file; `stderr` for standard error |
//! | `log_error_services` | `log_sink_internal`: text; `log_sink_json`: objects, in a file of its own |
//! | `log_error_verbosity` | errors; warnings too; notes too. What is of the system is always written |
//! | `log_timestamps` | UTC, or the machine's time zone |
//!
//! All but the first can be changed while the server runs. The settings are two words, because what writes
//! has no server to ask: it may be a thread of the storage engine, or the start itself.

pub mod format;

use std::collections::VecDeque;
use std::fmt::{self, Debug, Write as _};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use palisade_base::sysvar::{Setting, Settings, VariableId};
use palisade_base::sysvar_catalogue as sysvar;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::Registry;
use tracing_subscriber::reload;
use tracing_subscriber::util::{SubscriberInitExt as _, TryInitError};

use crate::variables::unix_micros;

/// Microseconds since 1970 of the last line.
static LATEST_US: AtomicU64 = AtomicU64::new(0);
/// The last lines, the oldest first.
static KEPT: Mutex<Kept> = Mutex::new(Kept { lines: VecDeque::new(), bytes: 0 });
/// Bytes of lines that are kept.
const KEPT_BYTES: usize = 1 << 20;
/// What a line takes besides its text.
const LINE_BYTES: usize = 64;
/// Bytes of a line that are kept.
const LONGEST_LINE: usize = 8 << 10;

/// Which lines are written: 1 to 3, as `log_error_verbosity`.
static VERBOSITY: AtomicU64 = AtomicU64::new(2);
/// Whether moments are those of the machine's time zone.
static IN_SYSTEM_ZONE: AtomicBool = AtomicBool::new(false);
/// Which sinks are written to: bits of [`TEXT`] and [`JSON`].
static SINKS: AtomicUsize = AtomicUsize::new(TEXT);
/// `log_sink_internal` among the sinks.
const TEXT: usize = 1;
/// `log_sink_json` among them.
const JSON: usize = 2;
/// The files of both sinks; standard error if there are none.
static FILES: Mutex<Files> = Mutex::new(Files { base: None, text: None, json: None });
/// Changes what is passed on at all: what nothing writes costs nothing.
static LEVEL: OnceLock<reload::Handle<LevelFilter, Registry>> = OnceLock::new();

/// SYSTEM among the values of `log_timestamps`.
const SYSTEM_ZONE: usize = 1;

/// The variables that can be changed while the server runs.
pub const VARIABLES: [VariableId; 3] =
    [sysvar::LOG_ERROR_SERVICES, sysvar::LOG_ERROR_VERBOSITY, sysvar::LOG_TIMESTAMPS];

/// When it was last written, in microseconds since 1970; 0 if it never was.
pub fn latest_write_us() -> u64 {
    LATEST_US.load(Ordering::Relaxed)
}

/// Has what the process traces written to the error log from now on. To be called once.
pub fn install(settings: &Settings) -> Result<(), TryInitError> {
    follow(settings);
    let (level, handle) = reload::Layer::new(level());
    // Only the first call gets as far as this.
    let _ = LEVEL.set(handle);
    tracing_subscriber::registry().with(level).with(WritesLines).try_init()
}

/// Has lines written as the settings say.
pub fn follow(settings: &Settings) {
    VERBOSITY.store(settings.uint(sysvar::LOG_ERROR_VERBOSITY), Ordering::Relaxed);
    let is_system = matches!(settings.get(sysvar::LOG_TIMESTAMPS), Setting::Enum(SYSTEM_ZONE));
    IN_SYSTEM_ZONE.store(is_system, Ordering::Relaxed);
    let sinks = settings.text(sysvar::LOG_ERROR_SERVICES).and_then(sinks).unwrap_or(TEXT);
    if SINKS.swap(sinks, Ordering::Relaxed) != sinks {
        let reopened = reopen();
        if let Err(problem) = reopened {
            tracing::error!("{problem}");
        }
    }
    if let Some(handle) = LEVEL.get() {
        // It fails only where the subscriber is gone, which then writes nothing.
        let _ = handle.modify(|filter| *filter = level());
    }
}

/// The least of what may be written: the line that says where to connect is of level INFO.
fn level() -> LevelFilter {
    match VERBOSITY.load(Ordering::Relaxed) {
        1 | 2 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    }
}

/// Whether `log_error_services` may have this value.
pub fn are_services(list: &str) -> bool {
    sinks(list).is_some()
}

/// The sinks in a list of services; `None` if one of them is not known, or there is no sink.
fn sinks(list: &str) -> Option<usize> {
    let mut found = 0;
    for service in list.split([';', ',']).map(str::trim).filter(|service| !service.is_empty()) {
        found |= match service {
            "log_filter_internal" => 0,
            "log_sink_internal" => TEXT,
            "log_sink_json" => JSON,
            _ => return None,
        };
    }
    (found != 0).then_some(found)
}

/// The file that `log_error` names; `None` for standard error. A name without an ending is given one.
pub fn path(settings: &Settings) -> Option<PathBuf> {
    let datadir = Path::new(settings.text(sysvar::DATADIR).unwrap_or("data"));
    let name = settings.text(sysvar::LOG_ERROR)?;
    if name == "stderr" {
        return None;
    }
    let own = format!("{}.err", settings.text(sysvar::HOSTNAME).unwrap_or("localhost"));
    let mut path = datadir.join(if name.is_empty() { own.as_str() } else { name });
    if path.extension().is_none() {
        path.set_extension("err");
    }
    Some(path)
}

/// Writes to the file that the settings name from now on, and says what it is as `@@log_error` does.
pub fn open(settings: &mut Settings) -> Result<(), String> {
    let path = path(settings);
    if let Some(path) = &path {
        settings.set(sysvar::LOG_ERROR, Setting::Text(path.to_string_lossy().into()));
    }
    FILES.lock().unwrap_or_else(PoisonError::into_inner).base = path;
    reopen()
}

/// Opens the files anew, which may have been moved away: FLUSH ERROR LOGS.
pub fn reopen() -> Result<(), String> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner).open(SINKS.load(Ordering::Relaxed))
}

/// A moment as the logs write it: in UTC, or as `log_timestamps` says.
pub fn shown_moment(micros: i64) -> String {
    format::time(micros, IN_SYSTEM_ZONE.load(Ordering::Relaxed))
}

/// The files of the sinks.
struct Files {
    /// That of lines of text; `None` for standard error.
    base: Option<PathBuf>,
    text: Option<File>,
    json: Option<File>,
}

impl Files {
    /// Opens those that are written to. What was open stays open if it cannot be opened anew.
    fn open(&mut self, sinks: usize) -> Result<(), String> {
        let Some(base) = &self.base else { return Ok(()) };
        if sinks & TEXT != 0 {
            self.text = Some(append_to(base)?);
        }
        if sinks & JSON != 0 {
            let mut name = base.clone().into_os_string();
            name.push(".00.json");
            self.json = Some(append_to(Path::new(&name))?);
        }
        Ok(())
    }

    /// Writes a line to each sink. What cannot be written there goes to standard error.
    fn write(&mut self, line: &Line, sinks: usize) {
        let time = shown_moment(line.logged);
        if sinks & TEXT != 0 {
            write_to(self.text.as_mut(), &format::text(line, &time));
        }
        if sinks & JSON != 0 {
            write_to(self.json.as_mut(), &format::json(line, &time));
        }
    }
}

fn append_to(path: &Path) -> Result<File, String> {
    let opened = OpenOptions::new().create(true).append(true).mode(0o640).open(path);
    opened.map_err(|error| format!("cannot open the error log {}: {error}", path.display()))
}

fn write_to(file: Option<&mut File>, line: &str) {
    let written =
        file.map_or_else(|| io::stderr().write_all(line.as_bytes()), |file| file.write_all(line.as_bytes()));
    if written.is_err() {
        // If standard error is gone, too, there is no place left to say it.
        let _ = io::stderr().write_all(line.as_bytes());
    }
}

/// A line, as MySQL tells of one.
#[derive(Debug, Clone)]
pub struct Line {
    /// When it was written, in microseconds since 1970.
    pub logged: i64,
    /// System, Error, Warning or Note.
    pub priority: &'static str,
    /// Server or InnoDB.
    pub subsystem: &'static str,
    /// What it says.
    pub text: String,
}

struct Kept {
    lines: VecDeque<Line>,
    bytes: usize,
}

impl Kept {
    fn push(&mut self, line: Line) {
        self.bytes += line.text.len() + LINE_BYTES;
        self.lines.push_back(line);
        while self.bytes > KEPT_BYTES
            && let Some(oldest) = self.lines.pop_front()
        {
            self.bytes -= oldest.text.len() + LINE_BYTES;
        }
    }
}

/// The last lines, the oldest first.
pub fn lines() -> Vec<Line> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).lines.iter().cloned().collect()
}

/// Writes lines, and keeps the last ones.
#[derive(Debug, Clone, Copy)]
struct WritesLines;

impl<S: Subscriber> Layer<S> for WritesLines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let metadata = event.metadata();
        if *metadata.level() == Level::WARN && VERBOSITY.load(Ordering::Relaxed) < 2 {
            return;
        }
        let mut text = Text(String::new());
        event.record(&mut text);
        let mut line = Line {
            logged: unix_micros(),
            priority: priority(*metadata.level()),
            subsystem: subsystem(metadata.target()),
            text: text.0,
        };
        LATEST_US.store(line.logged.unsigned_abs(), Ordering::Relaxed);
        let sinks = SINKS.load(Ordering::Relaxed);
        FILES.lock().unwrap_or_else(PoisonError::into_inner).write(&line, sinks);
        let end = line.text.floor_char_boundary(LONGEST_LINE);
        line.text.truncate(end);
        KEPT.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }
}

/// What MySQL calls a level: what is written unless errors alone are to be is of the system.
fn priority(level: Level) -> &'static str {
    match level {
        Level::ERROR => "Error",
        Level::WARN => "Warning",
        Level::INFO => "System",
        _ => "Note",
    }
}

/// What MySQL calls the part of the server that has written.
fn subsystem(target: &str) -> &'static str {
    const STORAGE: [&str; 6] = [
        "palisade_engine",
        "palisade_txn",
        "palisade_btree",
        "palisade_buffer",
        "palisade_log",
        "palisade_io",
    ];
    let module = target.split("::").next().unwrap_or(target);
    if STORAGE.contains(&module) { "InnoDB" } else { "Server" }
}

/// The message of an event, and its other fields behind it.
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let space = if self.0.is_empty() { "" } else { " " };
        // Writing to a String does not fail.
        let _: fmt::Result = match field.name() {
            "message" => write!(self.0, "{space}{value:?}"),
            name => write!(self.0, "{space}{name}={value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: String) -> Line {
        Line { logged: 0, priority: "Note", subsystem: "Server", text }
    }

    #[test]
    fn the_last_lines_are_kept() {
        let mut kept = Kept { lines: VecDeque::new(), bytes: 0 };
        let text = "x".repeat(LONGEST_LINE - LINE_BYTES);
        for number in 0..1_000 {
            kept.push(line(format!("{number:08}{}", text.split_at(8).1)));
        }
        assert_eq!(kept.lines.len(), KEPT_BYTES / LONGEST_LINE);
        assert!(kept.lines.back().is_some_and(|last| last.text.starts_with("00000999")));
        assert!(kept.bytes <= KEPT_BYTES);
    }

    #[test]
    fn services_are_a_filter_and_sinks() {
        assert_eq!(sinks("log_filter_internal; log_sink_internal"), Some(TEXT));
        assert_eq!(sinks("log_sink_json"), Some(JSON));
        assert_eq!(sinks("log_filter_internal;log_sink_internal,log_sink_json"), Some(TEXT | JSON));
        assert_eq!(sinks("log_filter_internal; log_sink_syseventlog"), None);
        assert_eq!(sinks(""), None);
    }

    #[test]
    fn lines_go_to_the_files_of_their_sinks() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().join("mysqld.err");
        let mut files = Files { base: Some(base.clone()), text: None, json: None };
        files.open(TEXT | JSON).unwrap();
        files.write(&line("one".to_owned()), TEXT | JSON);
        std::fs::rename(&base, folder.path().join("moved")).unwrap();
        files.open(TEXT).unwrap();
        files.write(&line("two".to_owned()), TEXT);
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(read("moved").ends_with(" one\n") && read("mysqld.err").ends_with(" two\n"));
        assert!(read("mysqld.err.00.json").contains("\"msg\" : \"one\""));
    }

    #[test]
    fn crates_below_the_dictionary_are_of_the_storage_engine() {
        assert_eq!(subsystem("palisade_engine::purge_lag"), "InnoDB");
        assert_eq!(subsystem("palisade_server::server"), "Server");
        assert_eq!(subsystem("palisade"), "Server");
    }
}
