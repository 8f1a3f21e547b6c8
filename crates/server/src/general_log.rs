//! The general query log: who logs in, and what sessions are asked to do, in MySQL's form.
//!
//! ```text
//! 2026-11-24T12:44:16.573211Z     8 Connect   root@localhost on test using TCP/IP
//! 2026-11-24T12:44:16.574012Z     8 Query     SELECT 1
//! ```
//!
//! A line is in the file before the command is executed. While `general_log` is OFF a command costs nothing:
//! its connection has a word that says whether anything is to be done before it, and the log is one of the
//! bits.
//!
//! Passwords are not written (unless `log_raw` is ON): in statements that may hold one, strings that follow
//! `BY`, `AS`, `REPLACE`, `PASSWORD` or `=` are `<secret>`, and a text that cannot be parsed is not written,
//! as in MySQL. The text of a statement that PREPARE is given is left out.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palisade_base::MysqlError;
use palisade_base::error_catalogue::EE_FILENOTFOUND;
use palisade_base::mysql_error;
use palisade_base::sysvar::Settings;
use palisade_base::sysvar_catalogue as sysvar;
use palisade_catalog::{SqlType, Timestamp, Value, Zone};
use palisade_parser::ParseOptions;
use palisade_parser::ast::Statement;
use palisade_sql::expr::convert::text_of;
use parking_lot::Mutex;
use tracing::warn;

/// The log of a server; there is a file while it is ON.
#[derive(Default)]
pub struct GeneralLog {
    file: Arc<Mutex<Option<File>>>,
}

impl GeneralLog {
    /// Opens the file that the settings name, if they say ON, and closes the one before: 29 if it cannot be
    /// opened. Blocks.
    pub fn follow(&self, settings: &Settings) -> Result<(), MysqlError> {
        let file = match is_on(settings) {
            true => Some(open(&path(settings), settings)?),
            false => None,
        };
        *self.file.lock() = file;
        Ok(())
    }

    /// Writes a line, if the log is open. The line is in the file when this returns.
    pub async fn write(&self, micros: i64, connection: u64, command: &'static str, argument: Vec<u8>) {
        let file = self.file.clone();
        let written = tokio::task::spawn_blocking(move || {
            let line = line(micros, connection, command, &argument);
            match &mut *file.lock() {
                Some(file) => file.write_all(&line),
                None => Ok(()),
            }
        });
        if let Ok(Err(error)) = written.await {
            warn!("cannot write to the general log: {error}");
        }
    }
}

/// Whether `general_log` is ON and `log_output` names the file.
pub fn is_on(settings: &Settings) -> bool {
    settings.bool(sysvar::GENERAL_LOG) && settings.flags(sysvar::LOG_OUTPUT) & TO_FILE != 0
}

/// FILE among the values of `log_output`.
const TO_FILE: u64 = 1 << 1;

/// The file: `general_log_file`, or one named after the machine, in the data directory.
fn path(settings: &Settings) -> PathBuf {
    let datadir = Path::new(settings.text(sysvar::DATADIR).unwrap_or("data"));
    match settings.text(sysvar::GENERAL_LOG_FILE).filter(|name| !name.is_empty()) {
        Some(name) => datadir.join(name),
        None => datadir.join(format!("{}.log", settings.text(sysvar::HOSTNAME).unwrap_or("localhost"))),
    }
}

fn open(path: &Path, settings: &Settings) -> Result<File, MysqlError> {
    let opened = OpenOptions::new().create(true).append(true).mode(0o640).open(path);
    let mut file = opened.map_err(|error| {
        let number = error.raw_os_error().unwrap_or(0);
        mysql_error!(EE_FILENOTFOUND, path.display(), number, error.kind())
    })?;
    let header = format!(
        "palisade, Version: {}. started with:\nTcp port: {}  Unix socket: {}\n\
         Time                 Id Command    Argument\n",
        settings.text(sysvar::VERSION).unwrap_or_default(),
        settings.uint(sysvar::PORT),
        settings.text(sysvar::SOCKET).unwrap_or_default(),
    );
    if let Err(error) = file.write_all(header.as_bytes()) {
        warn!("cannot write to the general log: {error}");
    }
    Ok(file)
}

fn line(micros: i64, connection: u64, command: &str, argument: &[u8]) -> Vec<u8> {
    let time = Value::DateTime(Timestamp(micros).to_datetime(&Zone::UTC));
    let time = text_of(&time, &SqlType::DateTime { fsp: 6 });
    let time = String::from_utf8_lossy(&time).replace(' ', "T");
    let mut line = format!("{time}Z\t{connection:5} {command}\t").into_bytes();
    line.extend_from_slice(argument);
    line.push(b'\n');
    line
}

/// What of a statement's text is written; `None` for nothing.
pub fn shown(text: &[u8], options: ParseOptions, raw: bool) -> Option<Vec<u8>> {
    if raw {
        return Some(text.to_vec());
    }
    let parsed = palisade_parser::parse_one(text, options, &mut || true).ok()?;
    Some(match parsed.statement? {
        Statement::Prepare(prepare) => format!("PREPARE {} FROM ...", prepare.name).into_bytes(),
        Statement::CreateUser(_)
        | Statement::AlterUser(_)
        | Statement::SetPassword(_)
        | Statement::Grant(_)
        | Statement::Server(_)
        | Statement::Replication(_)
        | Statement::Clone(_) => without_secrets(text),
        _ => text.to_vec(),
    })
}

/// The text with `<secret>` for each string that may be a password.
fn without_secrets(text: &[u8]) -> Vec<u8> {
    const BEFORE: [&[u8]; 4] = [b"BY", b"AS", b"REPLACE", b"PASSWORD"];
    let mut out = Vec::with_capacity(text.len());
    // whether a string that comes next is one
    let mut is_secret = false;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let rest = text.get(at..).unwrap_or_default();
        let end = match byte {
            b'\'' | b'"' | b'`' => quoted_length(rest),
            byte if is_word(byte) => rest.iter().position(|byte| !is_word(byte)).unwrap_or(rest.len()),
            _ => 1,
        };
        let token = rest.get(..end).unwrap_or(rest);
        match byte {
            b'\'' | b'"' if is_secret => out.extend_from_slice(b"<secret>"),
            _ => out.extend_from_slice(token),
        }
        if !byte.is_ascii_whitespace() {
            is_secret = matches!(byte, b'=') || BEFORE.iter().any(|word| word.eq_ignore_ascii_case(token));
        }
        at += end.max(1);
    }
    out
}

fn is_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}

/// How long the string is that `text` begins with.
fn quoted_length(text: &[u8]) -> usize {
    let quote = text.first();
    let mut escaped = false;
    for (at, byte) in text.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            byte if Some(byte) == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        let written = shown(text.as_bytes(), ParseOptions::default(), false);
        let written = written.map(|text| String::from_utf8(text).unwrap());
        assert_eq!(written.as_deref(), expected, "{text}");
    }

    #[test]
    fn passwords_are_not_written() {
        check("SELECT 'BY', PASSWORD FROM t", Some("SELECT 'BY', PASSWORD FROM t"));
        check(
            "CREATE USER 'u'@'%' IDENTIFIED BY 'top\\'x'",
            Some("CREATE USER 'u'@'%' IDENTIFIED BY <secret>"),
        );
        check(
            "ALTER USER u IDENTIFIED WITH 'caching_sha2_password' AS \"h\" COMMENT 'c'",
            Some("ALTER USER u IDENTIFIED WITH 'caching_sha2_password' AS <secret> COMMENT 'c'"),
        );
        check(
            "SET PASSWORD FOR 'u' = 'x' REPLACE 'y'",
            Some("SET PASSWORD FOR 'u' = <secret> REPLACE <secret>"),
        );
        check(
            "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (USER 'u', PASSWORD 'p')",
            Some("CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (USER 'u', PASSWORD <secret>)"),
        );
        check("PREPARE p FROM 'SET PASSWORD = \"x\"'", Some("PREPARE p FROM ..."));
        check("SET PASSWRD = 'x' y", None);
        let raw = shown(b"SET PASSWORD = 'x'", ParseOptions::default(), true).unwrap();
        assert_eq!(raw, b"SET PASSWORD = 'x'");
    }

    #[test]
    fn lines_are_mysqls() {
        assert_eq!(
            line(1_500_000, 8, "Query", b"SELECT 1"),
            b"1970-01-01T00:00:01.500000Z\t    8 Query\tSELECT 1\n"
        );
    }
}
