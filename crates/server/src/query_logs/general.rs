//! The general query log: who logs in, and what sessions are asked to do, in MySQL's form.
//!
//! ```text
//! 2026-11-24T12:44:16.573211Z     8 Connect   root@localhost on test using TCP/IP
//! 2026-11-24T12:44:16.574012Z     8 Query     SELECT 1
//! ```
//!
//! A line is in the file before the command is executed.

use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;

use palisade_base::MysqlError;
use palisade_base::sysvar::Settings;
use palisade_base::sysvar_catalogue as sysvar;
use palisade_sql::Services as _;
use parking_lot::Mutex;
use tracing::warn;

use super::table::Row;
use super::{Argument, GENERAL_FILE, goes_to_file, goes_to_table, open, path};
use crate::error_log::shown_moment;
use crate::server::Server;

/// The log of a server; there is a file while it is ON.
#[derive(Default)]
pub struct GeneralLog {
    file: Arc<Mutex<Option<File>>>,
}

impl GeneralLog {
    /// Opens the file that the settings name, if they say ON, and closes the one before: 29 if it cannot be
    /// opened. Blocks.
    pub fn follow(&self, settings: &Settings) -> Result<(), MysqlError> {
        let file = match is_on(settings) && goes_to_file(settings) {
            true => Some(open(&path(settings, GENERAL_FILE), settings)?),
            false => None,
        };
        *self.file.lock() = file;
        Ok(())
    }

    /// Writes what was asked, an entry for each statement, where the settings say. They are there when this
    /// returns.
    pub async fn write(&self, server: &Server, asked: Asked) {
        let host = &server.host;
        let settings = host.globals.load();
        let micros = host.unix_micros();
        let Asked { connection, user_host, command, argument } = asked;
        let file = self.file.clone();
        let written = tokio::task::spawn_blocking(move || {
            let entries = argument.entries();
            let outcome = match &mut *file.lock() {
                Some(file) => {
                    let lines = entries.iter().flat_map(|text| line(micros, connection, command, text));
                    file.write_all(&lines.collect::<Vec<u8>>())
                }
                None => Ok(()),
            };
            (entries, outcome)
        });
        let Ok((entries, outcome)) = written.await else { return };
        if let Err(error) = outcome {
            warn!("cannot write to the general log: {error}");
        }
        if goes_to_table(&settings) {
            let number = settings.uint(sysvar::SERVER_ID);
            for text in entries {
                let row = Row::general(micros).bytes(user_host.clone().into_bytes()).number(connection);
                row.number(number).bytes(command.into()).bytes(text).insert(&server.sql).await;
            }
        }
    }
}

/// A command, or a login.
pub struct Asked {
    /// Its connection.
    pub connection: u64,
    /// Who it is, as [`Who`](super::Who) says it.
    pub user_host: String,
    /// Its name: `Query`.
    pub command: &'static str,
    /// Its text, without passwords.
    pub argument: Argument,
}

/// Whether `general_log` is ON and `log_output` names the file or the table.
pub fn is_on(settings: &Settings) -> bool {
    settings.bool(sysvar::GENERAL_LOG) && (goes_to_file(settings) || goes_to_table(settings))
}

fn line(micros: i64, connection: u64, command: &str, argument: &[u8]) -> Vec<u8> {
    let mut line = format!("{}\t{connection:5} {command}\t", shown_moment(micros)).into_bytes();
    line.extend_from_slice(argument);
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_mysqls() {
        assert_eq!(
            line(1_500_000, 8, "Query", b"SELECT 1"),
            b"1970-01-01T00:00:01.500000Z\t    8 Query\tSELECT 1\n"
        );
    }
}
