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
use parking_lot::Mutex;
use tracing::warn;

use super::{Argument, goes_to_file, open, path, time};

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
            true => Some(open(&path(settings, sysvar::GENERAL_LOG_FILE, ".log"), settings)?),
            false => None,
        };
        *self.file.lock() = file;
        Ok(())
    }

    /// Writes a line for each statement, if the log is open. They are in the file when this returns.
    pub async fn write(&self, micros: i64, connection: u64, command: &'static str, argument: Argument) {
        let file = self.file.clone();
        let written = tokio::task::spawn_blocking(move || {
            let lines = argument.entries().into_iter();
            let lines: Vec<u8> = lines.flat_map(|text| line(micros, connection, command, &text)).collect();
            match &mut *file.lock() {
                Some(file) => file.write_all(&lines),
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
    settings.bool(sysvar::GENERAL_LOG) && goes_to_file(settings)
}

fn line(micros: i64, connection: u64, command: &str, argument: &[u8]) -> Vec<u8> {
    let mut line = format!("{}\t{connection:5} {command}\t", time(micros)).into_bytes();
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
