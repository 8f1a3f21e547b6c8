//! LOAD DATA INFILE: the fields of a file's lines become rows.

use std::sync::Arc;

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::descriptor::Visibility;
use palisade_catalog::{Charset, Collation, SqlType, Value, ViewDef};
use palisade_engine::{RowsToCome, Table};
use palisade_exec::ExecContext;
use palisade_exec::run::end_row;
use palisade_expr::error::not_supported;
use palisade_expr::place::At;
use palisade_parser::ast::{self, InsertSource, LoadDuplicates, LoadField, LoadFormat};
use palisade_plan::bind::scope::same_name;

use super::Changes;
use super::insert::{InsertPlan, InsertRun, bind_load};
use crate::host::FileSource;
use crate::sql::Sql;
use crate::{Completion, ResultSink, Session, SqlResult};

/// Where a field is to go, as the statement says it.
enum Wanted {
    Column(ast::ColumnName),
    Variable(Arc<str>),
    /// It is passed over.
    Nothing,
}

/// Where a field goes.
enum Target {
    Column(usize),
    Variable(Arc<str>),
    /// A generated column: its value is computed.
    Nowhere,
}

impl Sql {
    /// LOAD DATA INFILE.
    pub(crate) async fn load_data(
        &self,
        session: &mut Session,
        load: &ast::LoadData,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        if load.xml {
            return Err(not_supported("LOAD XML"));
        }
        if load.local && !sink.takes_client_files() {
            return Err(mysql_error!(ER_CLIENT_LOCAL_FILES_DISABLED));
        }
        let format = Format::new(&load.format)?;
        let ty = self.file_type(session, load.format.charset.as_deref())?;
        let dictionary = session.dictionary(self.engine());
        // Expressions see the variables as what they are going to be: text.
        for field in &load.fields {
            if let LoadField::UserVariable(name) = field {
                let mut context = session.context(&**self.host(), self.engine(), &[], None);
                let mut cx = context.view();
                palisade_expr::eval::assign(&mut cx.lend(), &name.to_lowercase().into(), Value::Null, &ty)?;
            }
        }
        let binder = session.binder(&**self.host(), self.engine(), &dictionary, &[]);
        let schema = binder.schema_of(&load.table)?;
        let view = binder.dictionary.visible_view(&schema, &load.table.name).cloned();
        let (mut columns, fields) = match &view {
            Some(view) => fields_of_view(view, &load.fields),
            None => fields_of_table(
                &*binder.stored_table(&schema, &load.table.name, &load.table.name)?,
                &load.fields,
            )?,
        };
        // What SET gives, it gives last.
        let set = |name: &ast::ColumnName| {
            load.assignments.iter().any(|set| set.column.column.eq_ignore_ascii_case(&name.column))
        };
        columns.retain(|name| !set(name));
        let given = columns.len();
        let mut row = vec![ast::Expr::Default; given];
        for assignment in &load.assignments {
            columns.push(assignment.column.clone());
            row.push(assignment.value.clone());
        }
        let insert = ast::Insert {
            replace: load.duplicates == Some(LoadDuplicates::Replace),
            priority: None,
            // a client cannot be told to stop: what is wrong with a row of its file is a warning
            ignore: load.duplicates == Some(LoadDuplicates::Ignore)
                || load.local && load.duplicates.is_none(),
            table: load.table.clone(),
            partitions: load.partitions.clone(),
            columns,
            source: InsertSource::Values(vec![row]),
            row_alias: None,
            on_duplicate: Vec::new(),
            returning: Vec::new(),
        };
        let plan = bind_load(binder, &insert)?;
        let targets = targets(fields, &plan, &insert.columns)?;
        let source = match load.local {
            true => {
                sink.ask_client_for_file(&load.path).await?;
                Source::Client(sink)
            }
            false => Source::Server(self.host().open_file(&load.path).await?),
        };
        let mut lines = Lines {
            source,
            ended: false,
            text: Vec::new(),
            at: 0,
            complete: false,
            format,
            longest: session.state.variables.statement_memory,
        };
        let mut run = InsertRun::new(&plan, RowsToCome::Unknown);
        let load_all = async |cx: &mut ExecContext<'_, '_>| {
            for _ in 0..load.ignore_lines {
                lines.skip().await?;
            }
            load_all(cx, &mut run, &mut lines, &targets, (given, &ty)).await
        };
        let is_temporary = plan.table.is_temporary();
        let changes = Changes { plan: &plan.plan, ignore: insert.ignore, is_temporary };
        let read = self.change_rows(session, changes, &[], load_all).await;
        lines.end().await?;
        let read = read?;
        let read = read - run.refused;
        if let Some(generated) = run.numbers.generated {
            session.state.last_insert_id = generated;
        }
        let deleted = if insert.replace { run.duplicates } else { 0 };
        let info = format!(
            "Records: {read}  Deleted: {deleted}  Skipped: {}  Warnings: {}",
            if insert.ignore { read.saturating_sub(run.affected) } else { 0 },
            session.state.warnings.count()
        );
        Ok(Completion { affected_rows: run.affected, info, ..Completion::default() })
    }

    /// The type of a file's text: of the character set named, or of the default database.
    fn file_type(&self, session: &Session, charset: Option<&str>) -> SqlResult<SqlType> {
        let named = match charset {
            Some(name) => name.to_owned(),
            None => match self.host().variable(&session.state, None, "character_set_database")? {
                Some(Value::Bytes(name)) => String::from_utf8_lossy(&name).into_owned(),
                _ => String::new(),
            },
        };
        let charset = match (Charset::by_name(&named), charset) {
            (Some(charset), _) => charset,
            (None, None) => Charset::Utf8mb4,
            (None, Some(name)) => return Err(palisade_expr::error::unknown_charset(name)),
        };
        let collation = Collation::default_of(charset).id;
        Ok(palisade_expr::common::text_of(u64::from(u32::MAX), collation))
    }
}

/// Columns of a table, each once, and where the fields go.
type Fields = (Vec<ast::ColumnName>, Vec<Wanted>);

fn fields_of_table(table: &Table, given: &[LoadField]) -> SqlResult<Fields> {
    let mut wanted = Vec::new();
    if given.is_empty() {
        for column in table.columns.iter().filter(|column| column.visibility == Visibility::Visible) {
            wanted.push(match column.generated {
                Some(_) => Wanted::Nothing,
                None => Wanted::Column(named(&column.name)),
            });
        }
    }
    for field in given {
        if let LoadField::Column(name) = field {
            let column = super::insert::target_column(table, name)?;
            super::insert::refuse_value(table, table.columns.at(column)?)?;
        }
        wanted.push(wanted_by(field));
    }
    Ok(with_columns(wanted))
}

/// The same of a view, whose columns are found when it is bound.
fn fields_of_view(view: &ViewDef, given: &[LoadField]) -> Fields {
    let all = view.columns.iter().map(|column| Wanted::Column(named(column)));
    with_columns(if given.is_empty() { all.collect() } else { given.iter().map(wanted_by).collect() })
}

fn named(column: &str) -> ast::ColumnName {
    ast::ColumnName { schema: None, table: None, column: column.to_owned() }
}

fn wanted_by(field: &LoadField) -> Wanted {
    match field {
        LoadField::Column(name) => Wanted::Column(name.clone()),
        LoadField::UserVariable(name) => Wanted::Variable(name.to_lowercase().into()),
    }
}

fn with_columns(wanted: Vec<Wanted>) -> Fields {
    let mut columns: Vec<ast::ColumnName> = Vec::new();
    for wanted in &wanted {
        if let Wanted::Column(name) = wanted
            && !columns.iter().any(|known| same_name(&known.column, &name.column))
        {
            columns.push(name.clone());
        }
    }
    (columns, wanted)
}

/// Where the fields go, once it is known which columns of the table have the names that the statement inserts
/// into.
fn targets(wanted: Vec<Wanted>, plan: &InsertPlan, inserted: &[ast::ColumnName]) -> SqlResult<Vec<Target>> {
    let target = |wanted| {
        Ok(match wanted {
            Wanted::Nothing => Target::Nowhere,
            Wanted::Variable(name) => Target::Variable(name),
            Wanted::Column(name) => {
                let is_it = |known: &ast::ColumnName| same_name(&known.column, &name.column);
                let place = inserted.iter().position(is_it);
                let column = place.and_then(|place| plan.column(place));
                let column =
                    column.ok_or_else(|| mysql_error!(ER_BAD_FIELD_ERROR, name.column, "field list"))?;
                match plan.table.columns.at(column)?.generated {
                    Some(_) => Target::Nowhere,
                    None => Target::Column(column),
                }
            }
        })
    };
    wanted.into_iter().map(target).collect()
}

async fn load_all(
    cx: &mut ExecContext<'_, '_>,
    run: &mut InsertRun<'_>,
    lines: &mut Lines<'_>,
    targets: &[Target],
    (given, ty): (usize, &SqlType),
) -> SqlResult<u64> {
    let mut number = 0;
    while let Some(fields) = lines.record().await? {
        number += 1;
        let mut values = run.begin_row(cx, number).await?;
        let mut fields = fields.into_iter();
        for target in targets {
            let field = fields.next();
            if field.is_none() {
                cx.lend().warn_or_fail(mysql_error!(ER_WARN_TOO_FEW_RECORDS, number))?;
            }
            match target {
                Target::Nowhere => {}
                Target::Variable(name) => {
                    let value = field.map_or(Value::Null, Field::into_value);
                    palisade_expr::eval::assign(&mut cx.lend(), name, value, ty)?;
                }
                Target::Column(column) => {
                    let value = field.map(Field::into_value);
                    *values.at_mut(*column)? = run.field(cx, value, ty, *column, number).await?;
                }
            }
        }
        if fields.len() > 0 {
            cx.lend().warn_or_fail(mysql_error!(ER_WARN_TOO_MANY_RECORDS, number))?;
        }
        run.assign(cx, &mut values, given, number).await?;
        run.insert(cx, values, number, 1).await?;
        end_row(cx).await?;
    }
    Ok(number)
}

/// A field of a line.
#[derive(Debug, PartialEq, Eq)]
enum Field {
    Null,
    Text(Vec<u8>),
}

impl Field {
    fn into_value(self) -> Value {
        match self {
            Field::Null => Value::Null,
            Field::Text(text) => Value::bytes(text),
        }
    }
}

/// FIELDS and LINES.
#[derive(Debug)]
struct Format {
    terminated: Vec<u8>,
    enclosed: Option<u8>,
    escaped: Option<u8>,
    starting: Vec<u8>,
    ended: Vec<u8>,
    /// Bytes that may mean something other than themselves within a field.
    special: [bool; 256],
}

/// What is at the front of a text.
#[derive(Debug, PartialEq, Eq)]
enum Scanned {
    /// A line, and how many bytes it takes.
    Line(Vec<Field>, usize),
    /// Nothing more.
    End,
    /// More text is needed to tell.
    More,
}

/// What comes after a field, and where.
enum After {
    Field(usize),
    Line(usize),
}

/// The byte that ENCLOSED BY or ESCAPED BY names: none for an empty text, `usual` where it is not given. More
/// than a byte is an error.
pub(super) fn single(given: &Option<Vec<u8>>, usual: Option<u8>) -> SqlResult<Option<u8>> {
    match given.as_deref() {
        None => Ok(usual),
        Some([]) => Ok(None),
        Some([byte]) => Ok(Some(*byte)),
        Some(_) => Err(mysql_error!(ER_WRONG_FIELD_TERMINATORS)),
    }
}

/// The text that TERMINATED BY or STARTING BY gives, or the usual one.
pub(super) fn or(given: &Option<Vec<u8>>, usual: &str) -> Vec<u8> {
    given.clone().unwrap_or_else(|| usual.into())
}

impl Format {
    fn new(given: &LoadFormat) -> SqlResult<Format> {
        let mut format = Format {
            terminated: or(&given.fields_terminated, "\t"),
            enclosed: single(&given.enclosed, None)?,
            escaped: single(&given.escaped, Some(b'\\'))?,
            starting: or(&given.lines_starting, ""),
            ended: or(&given.lines_terminated, "\n"),
            special: [false; 256],
        };
        let first = [format.terminated.first(), format.ended.first()];
        for byte in first.into_iter().flatten().chain(&format.enclosed).chain(&format.escaped) {
            *format.special.at_mut(usize::from(*byte))? = true;
        }
        if format.terminated.is_empty() && format.enclosed.is_none() {
            return Err(not_supported("LOAD DATA of fields of fixed length"));
        }
        Ok(format)
    }

    /// The line at the front of `text`; `complete` if nothing comes after it.
    fn line(&self, text: &[u8], complete: bool) -> Scanned {
        let mut at = match find(text, &self.starting) {
            Some(found) => found + self.starting.len(),
            None if complete => return Scanned::End,
            None => return Scanned::More,
        };
        if at == text.len() {
            return if complete { Scanned::End } else { Scanned::More };
        }
        let mut fields = Vec::new();
        loop {
            let Some((field, after)) = self.field(text, at, complete) else { return Scanned::More };
            fields.push(field);
            match after {
                After::Field(next) => at = next,
                After::Line(next) => return Scanned::Line(fields, next),
            }
        }
    }

    /// The bytes at the front of `text` that stand for themselves.
    fn ordinary<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let is_special = |byte: &u8| self.special.get(usize::from(*byte)).is_none_or(|special| *special);
        text.split(is_special).next().unwrap_or_default()
    }

    /// The field at `at` and what comes after it; `None` if more text is needed.
    fn field(&self, text: &[u8], mut at: usize, complete: bool) -> Option<(Field, After)> {
        // What has to be seen at once: a quotation mark and a terminator.
        let ahead = 2 + self.terminated.len().max(self.ended.len());
        let ends = |at: usize| {
            let rest = text.get(at..)?;
            if rest.is_empty() {
                Some(After::Line(at))
            } else if !self.ended.is_empty() && rest.starts_with(&self.ended) {
                Some(After::Line(at + self.ended.len()))
            } else if !self.terminated.is_empty() && rest.starts_with(&self.terminated) {
                Some(After::Field(at + self.terminated.len()))
            } else {
                None
            }
        };
        let quote = self.enclosed.filter(|quote| text.get(at) == Some(quote));
        at += usize::from(quote.is_some());
        let mut value = Vec::new();
        let mut null = false;
        loop {
            let ordinary = self.ordinary(text.get(at..).unwrap_or_default());
            value.extend_from_slice(ordinary);
            at += ordinary.len();
            if !complete && text.len() < at + ahead {
                return None;
            }
            match (quote, text.get(at)) {
                (None, _) if let Some(after) = ends(at) => {
                    let word = self.enclosed.is_some() && value == b"NULL" || null && value.len() == 1;
                    return Some((if word { Field::Null } else { Field::Text(value) }, after));
                }
                (Some(quote), None) => {
                    // It was never closed: the mark is a part of the text.
                    value.insert(0, quote);
                    return Some((Field::Text(value), After::Line(at)));
                }
                (_, Some(byte))
                    if Some(*byte) == self.escaped
                        && let Some(&next) = text.get(at + 1) =>
                {
                    null |= next == b'N' && value.is_empty();
                    value.push(match next {
                        b'0' => 0,
                        b'b' => 8,
                        b'n' => b'\n',
                        b'r' => b'\r',
                        b't' => b'\t',
                        b'Z' => 26,
                        other => other,
                    });
                    at += 2;
                }
                (Some(quote), Some(byte)) if *byte == quote => {
                    if text.get(at + 1) == Some(&quote) {
                        at += 1;
                    } else if let Some(after) = ends(at + 1) {
                        let null = null && value.len() == 1;
                        return Some((if null { Field::Null } else { Field::Text(value) }, after));
                    }
                    value.push(quote);
                    at += 1;
                }
                (_, Some(byte)) => {
                    value.push(*byte);
                    at += 1;
                }
                (None, None) => unreachable!("the end of the text ends a field"),
            }
        }
    }
}

/// Where `part` is in `text`.
fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    if part.is_empty() {
        return Some(0);
    }
    text.windows(part.len()).position(|window| window == part)
}

/// Where a file's text comes from.
enum Source<'a> {
    Server(Box<dyn FileSource>),
    Client(&'a mut dyn ResultSink),
}

/// A file, line by line.
struct Lines<'a> {
    source: Source<'a>,
    /// The last part has come.
    ended: bool,
    text: Vec<u8>,
    at: usize,
    complete: bool,
    format: Format,
    /// Bytes that may be read before a line ends.
    longest: u64,
}

impl Lines<'_> {
    async fn part(&mut self) -> SqlResult<Vec<u8>> {
        let part = match &mut self.source {
            Source::Server(source) => source.part().await?,
            Source::Client(sink) => sink.client_file_part().await?,
        };
        self.ended |= part.is_empty();
        Ok(part)
    }

    /// The statement is over: a client sends all of its file before it hears what has become of it.
    async fn end(&mut self) -> SqlResult<()> {
        while !self.ended && matches!(self.source, Source::Client(_)) {
            self.part().await?;
        }
        Ok(())
    }

    /// The next line's fields.
    async fn record(&mut self) -> SqlResult<Option<Vec<Field>>> {
        loop {
            match self.format.line(self.text.tail(self.at)?, self.complete) {
                Scanned::Line(fields, length) => {
                    self.at += length;
                    return Ok(Some(fields));
                }
                Scanned::End => return Ok(None),
                Scanned::More => self.fill().await?,
            }
        }
    }

    /// IGNORE n LINES.
    async fn skip(&mut self) -> SqlResult<()> {
        loop {
            match find(self.text.tail(self.at)?, &self.format.ended) {
                Some(found) => {
                    self.at += found + self.format.ended.len();
                    return Ok(());
                }
                None if self.complete => {
                    self.at = self.text.len();
                    return Ok(());
                }
                None => self.fill().await?,
            }
        }
    }

    /// Reads on: at least as much as is there, so that long lines are not scanned again and again.
    async fn fill(&mut self) -> SqlResult<()> {
        self.text.drain(..self.at);
        self.at = 0;
        let wanted = self.text.len() * 2;
        loop {
            let part = self.part().await?;
            self.complete = part.is_empty();
            self.text.extend_from_slice(&part);
            if self.text.len() as u64 > self.longest {
                return Err(mysql_error!(ER_OUTOFMEMORY, self.text.len()));
            }
            if self.complete || self.text.len() >= wanted {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Field {
        Field::Text(text.into())
    }

    /// All lines of a file that arrives in parts of every size.
    fn lines(format: &Format, file: &[u8]) -> Vec<Vec<Field>> {
        let scan = |part: usize| {
            let (mut at, mut end, mut lines) = (0, 0, Vec::new());
            loop {
                match format.line(&file[at..end], end == file.len()) {
                    Scanned::Line(fields, length) => {
                        lines.push(fields);
                        at += length;
                    }
                    Scanned::End => return lines,
                    Scanned::More => end = (end + part).min(file.len()),
                }
            }
        };
        let whole = scan(file.len().max(1));
        for part in 1..file.len() {
            assert_eq!(scan(part), whole, "in parts of {part}");
        }
        whole
    }

    #[test]
    fn default_format() {
        let format = Format::new(&LoadFormat::default()).unwrap();
        let read = lines(&format, b"1\ta\\tb\t\\N\n2\t\\\\\t\\Nx\n\n3");
        assert_eq!(read[0], [text("1"), text("a\tb"), Field::Null]);
        assert_eq!(read[1], [text("2"), text("\\"), text("Nx")]);
        assert_eq!(read[2], [text("")]);
        assert_eq!(read[3], [text("3")]);
        assert_eq!(read.len(), 4);
    }

    #[test]
    fn quoted_fields() {
        let format = Format::new(&LoadFormat {
            fields_terminated: Some(b",".to_vec()),
            enclosed: Some(b"\"".to_vec()),
            lines_terminated: Some(b"\r\n".to_vec()),
            lines_starting: Some(b">>".to_vec()),
            ..LoadFormat::default()
        })
        .unwrap();
        let read = lines(&format, b">>\"a,\"\"b\"\"\",NULL,\"NULL\"\r\nxx>>\"a\"b\",\"c\r\nd\"\r\nlost\r\n");
        assert_eq!(read[0], [text("a,\"b\""), Field::Null, text("NULL")]);
        assert_eq!(read[1], [text("a\"b"), text("c\r\nd")]);
        assert_eq!(read.len(), 2);
    }

    #[test]
    fn separators_of_several_bytes() {
        let wrong = LoadFormat { enclosed: Some(b"ab".to_vec()), ..LoadFormat::default() };
        assert_eq!(Format::new(&wrong).unwrap_err().number(), 1083);
        let format = Format::new(&LoadFormat {
            fields_terminated: Some(b"||".to_vec()),
            escaped: Some(Vec::new()),
            lines_terminated: Some(b";;\n".to_vec()),
            ..LoadFormat::default()
        })
        .unwrap();
        let read = lines(&format, b"a|b||\\N;;\nc||d;e");
        assert_eq!(read, [[text("a|b"), text("\\N")], [text("c"), text("d;e")]]);
    }
}
