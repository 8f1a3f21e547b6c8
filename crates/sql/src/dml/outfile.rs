//! SELECT ... INTO OUTFILE and DUMPFILE: rows become the lines of a file on the server's machine.
//!
//! What is written is what LOAD DATA with the same FIELDS and LINES reads: a NULL is `\\N`, and a byte that
//! would be taken for a part of the form has the escape character before it. Without an escape character a
//! NULL is the word NULL and nothing is escaped. A file that a statement does not finish is removed.

use std::sync::Arc;

use palisade_base::error_catalogue::{ER_AMBIGUOUS_FIELD_TERM, ER_TOO_MANY_ROWS};
use palisade_base::mysql_error;
use palisade_catalog::charset::convert;
use palisade_catalog::types::flags;
use palisade_catalog::{Charset, SqlType, Value, ValueRef};
use palisade_expr::convert::text_of;
use palisade_expr::error::not_supported;
use palisade_parser::ast::{self, LoadFormat};
use palisade_plan::Plan;
use palisade_session::sink::ColumnMeta;

use super::load::{or, single};
use crate::host::FileTarget;
use crate::sql::Sql;
use crate::{BoxFuture, Completion, ResultSink, Session, SqlResult};

/// What means something behind an escape character.
const ESCAPES: &[u8] = b"ntrb0ZN";
/// Bytes that are collected before they are written.
const PART: usize = 256 << 10;

impl Sql {
    /// SELECT ... INTO OUTFILE or DUMPFILE.
    pub(crate) async fn select_into_file(
        &self,
        session: &mut Session,
        plan: &Arc<Plan>,
        parameters: &[Value],
        into: &ast::Into,
    ) -> SqlResult<Completion> {
        let (path, form) = match into {
            ast::Into::Outfile { path, format } => (path, Some(Form::new(format)?)),
            ast::Into::Dumpfile(path) => (path, None),
            ast::Into::Variables(_) => return Err(not_supported("SELECT ... INTO variables and a file")),
        };
        if form.as_ref().is_some_and(Form::has_ambiguous_terminator) {
            session.state.warnings.warn(mysql_error!(ER_AMBIGUOUS_FIELD_TERM));
        }
        let target = self.host().clone().create_file(&session.state, path).await?;
        let mut sink = FileSink { target, form, columns: Vec::new(), text: Vec::new(), rows: 0 };
        let mut done = self.run_query(session, plan.clone(), parameters, &mut sink).await.map(|_| ());
        if done.is_ok() {
            done = sink.flush().await;
        }
        let FileSink { target, rows, .. } = sink;
        match done {
            Ok(()) => target.finish().await?,
            Err(error) => {
                target.remove().await;
                return Err(error);
            }
        }
        Ok(Completion { affected_rows: rows, ..Completion::default() })
    }
}

/// FIELDS and LINES.
#[derive(Debug)]
struct Form {
    terminated: Vec<u8>,
    enclosed: Option<u8>,
    optionally: bool,
    escaped: Option<u8>,
    starting: Vec<u8>,
    ended: Vec<u8>,
    /// CHARACTER SET; without one each column is written in its own.
    charset: Option<Charset>,
}

impl Form {
    fn new(given: &LoadFormat) -> SqlResult<Form> {
        let terminated = or(&given.fields_terminated, "\t");
        let ended = Some(or(&given.lines_terminated, "\n")).filter(|ended| !ended.is_empty());
        let charset = match given.charset.as_deref() {
            None => None,
            Some(name) => {
                let known = Charset::by_name(name);
                Some(known.ok_or_else(|| palisade_expr::error::unknown_charset(name))?)
            }
        };
        let form = Form {
            enclosed: single(&given.enclosed, None)?,
            // fields that nothing ends are all enclosed
            optionally: given.optionally_enclosed && given.fields_terminated.as_deref() != Some(b""),
            escaped: single(&given.escaped, Some(b'\\'))?,
            starting: or(&given.lines_starting, ""),
            // lines that nothing ends go on like fields
            ended: ended.unwrap_or_else(|| terminated.clone()),
            terminated,
            charset: charset.filter(|charset| *charset != Charset::Binary),
        };
        if form.terminated.is_empty() && form.enclosed.is_none() {
            return Err(not_supported("INTO OUTFILE with fields of fixed length"));
        }
        Ok(form)
    }

    /// Whether the first byte of the terminator may be a part of a number, or stand behind an escape
    /// character for something else, and not every field is enclosed.
    fn has_ambiguous_terminator(&self) -> bool {
        const OF_NUMBERS: &[u8] = b".0123456789e+-";
        let first = self.terminated.first();
        let is_ambiguous = first.is_some_and(|first| [ESCAPES, OF_NUMBERS].concat().contains(first));
        self.escaped.is_some() && is_ambiguous && (self.enclosed.is_none() || self.optionally)
    }

    /// Appends a field. `quotable` says whether it is one that OPTIONALLY ENCLOSED BY encloses.
    fn put(&self, text: Option<&[u8]>, quotable: bool, out: &mut Vec<u8>) {
        let Some(text) = text else {
            match self.escaped {
                Some(escape) => out.extend_from_slice(&[escape, b'N']),
                None => out.extend_from_slice(b"NULL"),
            }
            return;
        };
        let quote = self.enclosed.filter(|_| quotable || !self.optionally);
        out.extend(quote);
        let special = quote.or(self.terminated.first().copied());
        match self.escaped {
            None => out.extend_from_slice(text),
            Some(escape) => {
                for byte in text {
                    // behind an escape character some would mean something else
                    let is_ambiguous = ESCAPES.contains(byte);
                    let is_special = Some(*byte) == special && (quote.is_some() || !is_ambiguous)
                        || Some(byte) == self.ended.first();
                    if *byte == escape || is_special || *byte == 0 {
                        let doubled = Some(*byte) == self.enclosed && is_ambiguous;
                        out.push(if doubled { *byte } else { escape });
                    }
                    out.push(if *byte == 0 { b'0' } else { *byte });
                }
            }
        }
        out.extend(quote);
    }
}

/// Writes rows into a file.
struct FileSink {
    target: Box<dyn FileTarget>,
    /// `None` for DUMPFILE: the bytes of one row, and nothing between them.
    form: Option<Form>,
    columns: Vec<ColumnMeta>,
    /// What has not been written yet.
    text: Vec<u8>,
    rows: u64,
}

/// The text of a value, as a client that asks for text gets it.
fn text_of_column(value: &ValueRef<'_>, column: &ColumnMeta) -> Vec<u8> {
    let mut text = text_of(&value.to_owned(), &column.ty).to_vec();
    let width = column.display_width.unwrap_or_default() as usize;
    if column.flags & flags::ZEROFILL != 0 && text.len() < width {
        let zeros = width - text.len();
        text.splice(0..0, std::iter::repeat_n(b'0', zeros));
    }
    text
}

impl ResultSink for FileSink {
    fn columns(&mut self, columns: &[ColumnMeta]) -> SqlResult<()> {
        self.columns = columns.to_vec();
        Ok(())
    }

    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        self.rows += 1;
        let pairs = values.iter().zip(&self.columns);
        let Some(form) = &self.form else {
            if self.rows > 1 {
                return Err(mysql_error!(ER_TOO_MANY_ROWS));
            }
            for (value, column) in pairs {
                match value {
                    ValueRef::Null => self.text.push(0),
                    _ => self.text.extend(text_of_column(value, column)),
                }
            }
            return Ok(());
        };
        self.text.extend_from_slice(&form.starting);
        for (place, (value, column)) in pairs.enumerate() {
            if place > 0 {
                self.text.extend_from_slice(&form.terminated);
            }
            let mut text = match value {
                ValueRef::Null => None,
                _ => Some(text_of_column(value, column)),
            };
            if let (Some(text), Some(charset), true) = (&mut text, form.charset, column.ty.is_text()) {
                let mut converted = Vec::with_capacity(text.len());
                convert(text, column.ty.collation().get().charset, charset, &mut converted);
                *text = converted;
            }
            form.put(text.as_deref(), is_quotable(&column.ty), &mut self.text);
        }
        self.text.extend_from_slice(&form.ended);
        Ok(())
    }

    fn wants_flush(&self) -> bool {
        self.text.len() >= PART
    }

    fn flush(&mut self) -> BoxFuture<'_, SqlResult<()>> {
        Box::pin(async {
            if self.text.is_empty() {
                return Ok(());
            }
            let part = std::mem::take(&mut self.text);
            self.target.write(part).await
        })
    }
}

/// Whether OPTIONALLY ENCLOSED BY encloses values of a type: all but numbers. BIT is none.
fn is_quotable(ty: &SqlType) -> bool {
    matches!(ty, SqlType::Bit { .. }) || !ty.is_numeric() && !matches!(ty, SqlType::Year)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(form: &Form, fields: &[(Option<&[u8]>, bool)]) -> String {
        let mut out = Vec::new();
        for (text, quotable) in fields {
            form.put(*text, *quotable, &mut out);
            out.push(b'|');
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn fields_are_escaped_and_enclosed() {
        let plain = Form::new(&LoadFormat::default()).unwrap();
        let written = put(&plain, &[(Some(b"a\tb\\\n\0\""), true), (None, true), (Some(b"7"), false)]);
        assert_eq!(written, "a\\\tb\\\\\\\n\\0\"|\\N|7|");
        let quoted = LoadFormat {
            fields_terminated: Some(b",".to_vec()),
            enclosed: Some(b"\"".to_vec()),
            ..LoadFormat::default()
        };
        let all = Form::new(&quoted).unwrap();
        assert_eq!(put(&all, &[(Some(b"a,\"b"), true), (Some(b"7"), false)]), "\"a,\\\"b\"|\"7\"|");
        let some = Form::new(&LoadFormat { optionally_enclosed: true, ..quoted.clone() }).unwrap();
        assert_eq!(put(&some, &[(Some(b"a"), true), (Some(b"7"), false), (None, true)]), "\"a\"|7|\\N|");
        let bare = Form::new(&LoadFormat { escaped: Some(Vec::new()), ..quoted }).unwrap();
        assert_eq!(put(&bare, &[(Some(b"a\"\\"), true), (None, true)]), "\"a\"\\\"|NULL|");
    }

    #[test]
    fn ambiguous_terminators_are_told() {
        let form = |terminated: &[u8], enclosed: Option<&[u8]>| {
            let fields_terminated = Some(terminated.to_vec());
            let enclosed = enclosed.map(<[u8]>::to_vec);
            Form::new(&LoadFormat { fields_terminated, enclosed, ..LoadFormat::default() }).unwrap()
        };
        assert!(form(b"n", None).has_ambiguous_terminator());
        assert!(!form(b"n", Some(b"'")).has_ambiguous_terminator());
        assert!(!form(b",", None).has_ambiguous_terminator());
        let error = Form::new(&LoadFormat { enclosed: Some(b"ab".to_vec()), ..LoadFormat::default() });
        assert_eq!(error.unwrap_err().number(), 1083);
    }
}
