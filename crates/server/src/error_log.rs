//! The error log: standard error, with a note of when it was last written, and its last lines in memory,
//! which performance_schema.error_log shows.

use std::collections::VecDeque;
use std::fmt::{self, Debug, Write as _};
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

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

/// When it was last written, in microseconds since 1970; 0 if it never was.
pub fn latest_write_us() -> u64 {
    LATEST_US.load(Ordering::Relaxed)
}

/// Writes to standard error.
#[derive(Debug, Clone, Copy)]
pub struct ErrorLog;

impl Write for ErrorLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LATEST_US.store(unix_micros().unsigned_abs(), Ordering::Relaxed);
        io::stderr().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
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

/// Keeps the last lines.
#[derive(Debug, Clone, Copy)]
pub struct KeepsLines;

impl<S: Subscriber> Layer<S> for KeepsLines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut text = Text(String::new());
        event.record(&mut text);
        let end = text.0.floor_char_boundary(LONGEST_LINE);
        text.0.truncate(end);
        let metadata = event.metadata();
        let line = Line {
            logged: unix_micros(),
            priority: priority(*metadata.level()),
            subsystem: subsystem(metadata.target()),
            text: text.0,
        };
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
    fn crates_below_the_dictionary_are_of_the_storage_engine() {
        assert_eq!(subsystem("palisade_engine::purge_lag"), "InnoDB");
        assert_eq!(subsystem("palisade_server::server"), "Server");
        assert_eq!(subsystem("palisade"), "Server");
    }
}
