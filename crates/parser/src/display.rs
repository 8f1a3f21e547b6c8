//! Trees printed back as SQL, in MySQL's style: identifiers in backquotes, keywords in lower case, every operation in
//! its own parentheses. What is printed parses to the same tree.

mod expr;
mod partition;
mod query;
mod types;

use crate::ast::{ColumnName, ObjectName};
use std::fmt::{self, Display, Formatter};

/// An identifier in backquotes.
pub(crate) struct Quoted<'a>(pub &'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.contains('`') {
            write!(f, "`{}`", self.0.replace('`', "``"))
        } else {
            write!(f, "`{}`", self.0)
        }
    }
}

/// Things with commas between them.
struct List<'a, T>(&'a [T]);

impl<T: Display> Display for List<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, item) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            item.fmt(f)?;
        }
        Ok(())
    }
}

/// Names with commas between them.
struct Names<'a>(&'a [String]);

impl Display for Names<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, name) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            Quoted(name).fmt(f)?;
        }
        Ok(())
    }
}

/// A string in quotes. What is not UTF-8 is printed in hexadecimal digits.
pub(crate) struct Text<'a>(pub &'a [u8]);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Ok(text) = std::str::from_utf8(self.0) else {
            f.write_str("x'")?;
            for byte in self.0 {
                write!(f, "{byte:02X}")?;
            }
            return f.write_str("'");
        };
        f.write_str("'")?;
        for character in text.chars() {
            match character {
                '\'' => f.write_str("\\'")?,
                '\\' => f.write_str("\\\\")?,
                '\0' => f.write_str("\\0")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\u{1a}' => f.write_str("\\Z")?,
                other => write!(f, "{other}")?,
            }
        }
        f.write_str("'")
    }
}

impl Display for ObjectName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(schema) = &self.schema {
            write!(f, "{}.", Quoted(schema))?;
        }
        Quoted(&self.name).fmt(f)
    }
}

impl Display for ColumnName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for qualifier in [&self.schema, &self.table].into_iter().flatten() {
            write!(f, "{}.", Quoted(qualifier))?;
        }
        Quoted(&self.column).fmt(f)
    }
}
