//! Lines on standard output and standard error, which nothing may read any longer (`palisade-lab list |
//! head`): then they are dropped, and what is being done goes on.

use std::fmt::Arguments;
use std::io::Write;

/// Writes a line to standard output.
pub fn out(line: Arguments<'_>) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Writes a line to standard error.
pub fn err(line: Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// A line on standard output.
#[macro_export]
macro_rules! say {
    ($($line:tt)*) => { $crate::say::out(format_args!($($line)*)) };
}

/// A line on standard error.
#[macro_export]
macro_rules! tell {
    ($($line:tt)*) => { $crate::say::err(format_args!($($line)*)) };
}
