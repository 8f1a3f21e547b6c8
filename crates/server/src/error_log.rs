//! The error log: standard error, with a note of when it was last written.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::variables::unix_micros;

/// Microseconds since 1970 of the last line.
static LATEST_US: AtomicU64 = AtomicU64::new(0);

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
