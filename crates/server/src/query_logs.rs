//! What clients ask for, written down, in files or [tables](table): the [`general`] log has each command
//! before it is executed, the [`slow`] log statements that took long, after it.
//!
//! A log that is OFF costs nothing: a connection has a word that says whether anything is to be done before a
//! command, and a statement's time is compared with `long_query_time` anyway, because `Slow_queries` counts.
//! A log that cannot be written is reported in the error log, and sessions go on.
//!
//! Passwords are not written (but to the general log, if `log_raw` is ON): in statements that may hold one,
//! strings that follow `BY`, `AS`, `REPLACE`, `PASSWORD` or `=` are `<secret>`, and a text that cannot be
//! parsed is not written, as in MySQL. The text of a statement that PREPARE is given is left out.

pub mod general;
pub mod slow;
pub mod table;

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use palisade_base::MysqlError;
use palisade_base::error_catalogue::EE_FILENOTFOUND;
use palisade_base::mysql_error;
use palisade_base::sysvar::{Setting, Settings, VariableId};
use palisade_base::sysvar_catalogue as sysvar;
use palisade_parser::ParseOptions;
use palisade_parser::ast::Statement;
use palisade_sql::session::SecurityContext;
use palisade_sql::{Session, SessionState};
use tracing::warn;

use crate::connections::Connection;
use crate::login::Peer;

/// The variables that say where the logs are and whether there are any.
pub const VARIABLES: [VariableId; 5] = [
    sysvar::GENERAL_LOG,
    sysvar::GENERAL_LOG_FILE,
    sysvar::LOG_OUTPUT,
    sysvar::SLOW_QUERY_LOG,
    sysvar::SLOW_QUERY_LOG_FILE,
];

/// Whose command it is.
#[derive(Clone, Copy)]
pub struct Who<'a> {
    /// Its session.
    pub session: &'a Session,
    /// Its connection.
    pub connection: &'a Connection,
    /// Where the client comes from.
    pub peer: Peer,
}

impl Who<'_> {
    /// Account, user, host and address, as MySQL writes them.
    pub fn shown(self) -> String {
        let SessionState { security: SecurityContext { account, .. }, user, client_host, .. } =
            &self.session.state;
        let name = account.rsplit_once('@').map_or(account.as_str(), |(name, _)| name);
        match self.peer {
            Peer::Local => format!("{name}[{user}] @ {client_host} []"),
            Peer::Remote(address) => {
                let address = address.to_canonical().to_string();
                let host = if *client_host == address { "" } else { client_host };
                format!("{name}[{user}] @ {host} [{address}]")
            }
        }
    }
}

/// A log, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The general log.
    General,
    /// The slow query log.
    Slow,
    /// Both.
    Both,
}

/// The logs that one of these variables is about.
pub fn is_of(variable: VariableId) -> Which {
    match variable {
        sysvar::GENERAL_LOG | sysvar::GENERAL_LOG_FILE => Which::General,
        sysvar::LOG_OUTPUT => Which::Both,
        _ => Which::Slow,
    }
}

/// FILE among the values of `log_output`.
const TO_FILE: u64 = 1 << 1;

/// TABLE among the values of `log_output`.
const TO_TABLE: u64 = 1 << 2;

/// NONE, which counts for more than the others.
const NOWHERE: u64 = 1;

/// Whether `log_output` names files, and not NONE beside them.
fn goes_to_file(settings: &Settings) -> bool {
    settings.flags(sysvar::LOG_OUTPUT) & (TO_FILE | NOWHERE) == TO_FILE
}

/// Whether `log_output` names tables, and not NONE beside them.
fn goes_to_table(settings: &Settings) -> bool {
    settings.flags(sysvar::LOG_OUTPUT) & (TO_TABLE | NOWHERE) == TO_TABLE
}

/// The file that slow statements are written to; none if they are not.
pub fn slow_file(settings: &Settings) -> Option<PathBuf> {
    let is_written = settings.bool(sysvar::SLOW_QUERY_LOG) && goes_to_file(settings);
    is_written.then(|| path(settings, SLOW_FILE))
}

/// Whether slow statements are written to their table.
pub fn slow_goes_to_table(settings: &Settings) -> bool {
    settings.bool(sysvar::SLOW_QUERY_LOG) && goes_to_table(settings)
}

/// The files' variables, and how the files end that are named after the machine.
const GENERAL_FILE: (VariableId, &str) = (sysvar::GENERAL_LOG_FILE, ".log");
const SLOW_FILE: (VariableId, &str) = (sysvar::SLOW_QUERY_LOG_FILE, "-slow.log");

/// Names the files that the settings do not name.
pub fn name_files(settings: &mut Settings) {
    for file in [GENERAL_FILE, SLOW_FILE] {
        let path = path(settings, file);
        settings.set(file.0, Setting::Text(path.to_string_lossy().into()));
    }
}

/// A log's file: the one that its variable names, or one named after the machine, in the data directory.
fn path(settings: &Settings, (variable, suffix): (VariableId, &str)) -> PathBuf {
    let datadir = Path::new(settings.text(sysvar::DATADIR).unwrap_or("data"));
    match settings.text(variable).filter(|name| !name.is_empty()) {
        Some(name) => datadir.join(name),
        None => datadir.join(format!("{}{suffix}", settings.text(sysvar::HOSTNAME).unwrap_or("localhost"))),
    }
}

/// Opens a log's file at its end: 29 if it cannot be. Blocks.
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
        warn!("cannot write to {}: {error}", path.display());
    }
    Ok(file)
}

/// What is written of a command.
pub enum Argument {
    /// This.
    Plain(Vec<u8>),
    /// Statements, without their passwords.
    Statements(Vec<u8>, ParseOptions),
}

impl Argument {
    /// What is written, an entry for each statement. To be called where a log is written, off the threads
    /// that serve sessions: a text may be long. Statements from the first one on that cannot be parsed are
    /// left out.
    fn entries(self) -> Vec<Vec<u8>> {
        let (text, options) = match self {
            Argument::Plain(text) => return vec![text],
            Argument::Statements(text, options) => (text, options),
        };
        let (mut entries, mut rest) = (Vec::new(), text.as_slice());
        while let Some((statement, own, behind)) = next_statement(rest, options) {
            entries.push(without_passwords(&statement, own));
            rest = behind;
        }
        entries
    }
}

/// The first statement of a text, its own text, and what is behind it; `None` if there is none, or it cannot
/// be parsed.
fn next_statement(text: &[u8], options: ParseOptions) -> Option<(Statement, &[u8], &[u8])> {
    let parsed = palisade_parser::parse_one(text, options, &mut || true).ok()?;
    let (own, behind) = text.split_at_checked(parsed.next.unwrap_or(text.len()))?;
    let is_behind = |byte: &u8| byte.is_ascii_whitespace() || *byte == b';';
    let end = own.iter().rposition(|byte| !is_behind(byte))?;
    Some((parsed.statement?, own.get(..=end)?.trim_ascii_start(), behind))
}

/// What of a statement's text is written.
fn without_passwords(statement: &Statement, text: &[u8]) -> Vec<u8> {
    match statement {
        Statement::Prepare(prepare) => format!("PREPARE {} FROM ...", prepare.name).into_bytes(),
        Statement::CreateUser(_)
        | Statement::AlterUser(_)
        | Statement::SetPassword(_)
        | Statement::Grant(_)
        | Statement::Server(_)
        | Statement::Replication(_)
        | Statement::Clone(_) => without_secrets(text),
        _ => text.to_vec(),
    }
}

/// What may be kept of a text that may hold passwords: of one that cannot be parsed nothing that follows a
/// word before which passwords stand.
pub(crate) fn harmless(text: &[u8], options: ParseOptions) -> Vec<u8> {
    match next_statement(text, options) {
        Some((statement, own, _)) => without_passwords(&statement, own),
        None => without_secrets(text),
    }
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

    fn check(text: &str, expected: &[&str]) {
        let written = Argument::Statements(text.as_bytes().to_vec(), ParseOptions::default()).entries();
        let written: Vec<String> = written.into_iter().map(|text| String::from_utf8(text).unwrap()).collect();
        assert_eq!(written, expected, "{text}");
    }

    #[test]
    fn passwords_are_not_written() {
        check("SELECT 'BY', PASSWORD FROM t", &["SELECT 'BY', PASSWORD FROM t"]);
        check("CREATE USER 'u'@'%' IDENTIFIED BY 'top\\'x'", &["CREATE USER 'u'@'%' IDENTIFIED BY <secret>"]);
        check(
            "ALTER USER u IDENTIFIED WITH 'caching_sha2_password' AS \"h\" COMMENT 'c'",
            &["ALTER USER u IDENTIFIED WITH 'caching_sha2_password' AS <secret> COMMENT 'c'"],
        );
        check(
            "SET PASSWORD FOR 'u' = 'x' REPLACE 'y'",
            &["SET PASSWORD FOR 'u' = <secret> REPLACE <secret>"],
        );
        check(
            "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (USER 'u', PASSWORD 'p')",
            &["CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (USER 'u', PASSWORD <secret>)"],
        );
        check("PREPARE p FROM 'SET PASSWORD = \"x\"'", &["PREPARE p FROM ..."]);
        check("SET PASSWRD = 'x' y", &[]);
        check(
            "SELECT 1; ALTER USER u IDENTIFIED BY 'x' ;\nSELECT 2; SELEC 3; SELECT 4",
            &["SELECT 1", "ALTER USER u IDENTIFIED BY <secret>", "SELECT 2"],
        );
    }
}
