//! ANALYZE TABLE ... UPDATE HISTOGRAM and DROP HISTOGRAM.
//!
//! The values are those that a query of the columns gives, so that making a histogram waits, yields and ends
//! as a query does; it holds no lock meanwhile. The exclusive lock of the table is taken only to write the
//! definition, which is where histograms are kept.
//!
//! | module | what it holds |
//! |---|---|
//! | `json` | a histogram as JSON, and JSON as a histogram |

pub(crate) mod json;

use std::sync::Arc;

use palisade_base::error_catalogue::{ER_DATA_OUT_OF_RANGE, ER_DUP_FIELDNAME, ER_NO_SUCH_TABLE};
use palisade_base::mysql_error;
use palisade_catalog::descriptor::{Column, Visibility};
use palisade_catalog::histogram::{self, Histogram, HistogramBuilder, MOST_BUCKETS, Specification};
use palisade_catalog::{SqlType, TableDef, Timestamp, Value, ValueRef, Zone};
use palisade_engine::TableName;
use palisade_parser::ast;
use palisade_session::sink::ColumnMeta;

use super::Ddl;
use crate::sql::Sql;
use crate::{ResultSink, Session, SqlError, SqlResult};

/// Buckets where a statement does not say how many.
const BUCKETS: u16 = 100;
/// The schema whose tables have no histograms.
const SYSTEM_SCHEMA: &str = "mysql";

/// What is said of a table: the kind of message, and its text.
pub(super) type Line = (&'static str, String);

/// Lines about columns: they are shown in the order of the columns' names.
type Lines = Vec<(String, Line)>;

fn error(text: impl Into<String>) -> Line {
    ("Error", text.into())
}

fn status(text: impl Into<String>) -> Line {
    ("status", text.into())
}

/// What a statement does with histograms.
enum Change<'s> {
    Update { buckets: u16, auto_update: bool },
    Data(&'s [u8]),
    Drop,
}

impl<'s> Change<'s> {
    /// The columns, and what is done with their histograms. 1060 if a column is named twice, 1690 for too
    /// many buckets or none.
    fn of(histogram: &'s ast::Histogram) -> SqlResult<(&'s [ast::Name], Change<'s>)> {
        let (columns, change) = match histogram {
            ast::Histogram::Drop { columns } => (columns, Change::Drop),
            ast::Histogram::Update { columns, data: Some(data), .. } => (columns, Change::Data(data)),
            ast::Histogram::Update { columns, buckets, auto_update, .. } => {
                let buckets = buckets.unwrap_or(BUCKETS.into());
                let wanted = u16::try_from(buckets).ok().filter(|_| (1..=MOST_BUCKETS).contains(&buckets));
                let Some(buckets) = wanted else {
                    return Err(mysql_error!(ER_DATA_OUT_OF_RANGE, "Number of buckets", "ANALYZE TABLE"));
                };
                (columns, Change::Update { buckets, auto_update: auto_update.unwrap_or(false) })
            }
        };
        for (place, name) in columns.iter().enumerate() {
            if columns.iter().take(place).any(|known| known.eq_ignore_ascii_case(name)) {
                return Err(mysql_error!(ER_DUP_FIELDNAME, name));
            }
        }
        Ok((columns, change))
    }
}

/// A column whose histogram is to be made.
struct Target {
    name: String,
    ty: SqlType,
    specification: Specification,
}

impl Sql {
    /// Changes histograms; gives the table's name as it is shown, and what there is to say.
    pub(super) async fn change_histograms(
        &self,
        session: &mut Session,
        names: &[TableName],
        histogram: &ast::Histogram,
    ) -> SqlResult<(String, Vec<Line>)> {
        let (columns, change) = Change::of(histogram)?;
        if self.host().check_read_only(&session.state).is_err() {
            return Ok((String::new(), vec![error("The server is in read-only mode.")]));
        }
        let [name] = names else {
            let text = "Only one table can be specified while modifying histogram statistics.";
            return Ok((String::new(), vec![error(text)]));
        };
        let shown = format!("{}.{}", name.schema, name.table);
        let Ok(table) = self.engine().dictionary().table(&name.schema, &name.table).cloned() else {
            let absent = mysql_error!(ER_NO_SUCH_TABLE, name.schema, name.table);
            return Ok((shown, vec![error(absent.message)]));
        };
        if name.schema.eq_ignore_ascii_case(SYSTEM_SCHEMA) {
            return Ok((shown, vec![error("Histograms are not supported on the MySQL system schema.")]));
        }
        let def = table.descriptor().def();
        let lines = match change {
            Change::Drop => self.drop_histograms(session, name, def, columns).await?,
            Change::Data(data) => self.read_histogram(session, name, def, columns, data).await?,
            Change::Update { buckets, auto_update } => {
                let now_us = self.host().unix_micros();
                let specification = Specification { buckets, auto_update, now_us };
                let (targets, lines) = targets(def, columns, specification);
                let made = self.make_histograms(session, name, targets).await?;
                self.store_histograms(session, (name, def.id), made, lines).await?
            }
        };
        Ok((shown, in_order(lines)))
    }

    /// Makes anew the histograms of a table that follow ANALYZE TABLE.
    pub(super) async fn follow_histograms(&self, session: &mut Session, name: &TableName) -> SqlResult<()> {
        let Ok(table) = self.engine().dictionary().table(&name.schema, &name.table).cloned() else {
            return Ok(());
        };
        let now_us = self.host().unix_micros();
        let target = |column: &Column| {
            let old = column.histogram.as_ref().filter(|old| old.auto_update)?;
            let specification = Specification { buckets: old.buckets_specified, auto_update: true, now_us };
            Some(Target { name: column.name.clone(), ty: column.sql_type.clone(), specification })
        };
        let targets: Vec<Target> = table.descriptor().def().columns.iter().filter_map(target).collect();
        if !targets.is_empty() {
            let made = self.make_histograms(session, name, targets).await?;
            self.store_histograms(session, (name, table.descriptor().def().id), made, Lines::new()).await?;
        }
        Ok(())
    }

    async fn drop_histograms(
        &self,
        session: &mut Session,
        name: &TableName,
        def: &TableDef,
        columns: &[ast::Name],
    ) -> SqlResult<Lines> {
        let mut lines = Lines::new();
        let mut dropped = Vec::new();
        for asked in columns {
            let line = match column_called(def, asked) {
                None => error(format!("The column '{asked}' does not exist.")),
                Some(Column { histogram: None, .. }) => {
                    error(format!("No histogram statistics found for column '{asked}'."))
                }
                Some(column) => {
                    dropped.push((column.name.clone(), column.sql_type.clone(), None));
                    status(format!("Histogram statistics removed for column '{asked}'."))
                }
            };
            lines.push((asked.clone(), line));
        }
        self.write_histograms(session, (name, def.id), dropped).await?;
        Ok(lines)
    }

    /// USING DATA.
    async fn read_histogram(
        &self,
        session: &mut Session,
        name: &TableName,
        def: &TableDef,
        columns: &[ast::Name],
        data: &[u8],
    ) -> SqlResult<Lines> {
        let [asked] = columns else {
            let text =
                "Only one column can be specified while modifying histogram statistics with JSON data.";
            return Ok(vec![(String::new(), error(text))]);
        };
        let column = match usable_column(def, asked) {
            Ok(column) => column,
            Err(line) => return Ok(vec![(asked.clone(), line)]),
        };
        let read = match json::read(
            data,
            column,
            &session.state.variables.time_zone,
            self.host().unix_micros(),
        ) {
            Ok(read) => read,
            Err(problem) => {
                let mut lines = Vec::new();
                if let json::Problem::Syntax { reason, position } = &problem {
                    lines.push(error(format!(
                        "Invalid JSON text in argument 1 to function UPDATE HISTOGRAM: \"{reason}\" at position \
                         {position}."
                    )));
                }
                lines.push(error(format!(
                    "Unable to build histogram statistics for column '{}' in table '{}'.'{}'",
                    column.name, name.schema, name.table
                )));
                lines.push(error(problem.to_string()));
                return Ok(lines.into_iter().map(|line| (asked.clone(), line)).collect());
            }
        };
        let made = vec![(column.name.clone(), column.sql_type.clone(), read)];
        self.store_histograms(session, (name, def.id), made, Lines::new()).await
    }

    /// Looks at the rows.
    async fn make_histograms(
        &self,
        session: &mut Session,
        name: &TableName,
        targets: Vec<Target>,
    ) -> SqlResult<Vec<(String, SqlType, Histogram)>> {
        if targets.is_empty() {
            return Ok(Vec::new());
        }
        let found_rows = session.state.found_rows;
        let memory = self.host().variable(&session.state, None, "histogram_generation_max_mem_size")?;
        let memory = match memory {
            Some(Value::UInt(bytes)) => bytes,
            Some(Value::Int(bytes)) => bytes.max(0) as u64,
            // A host without the variable sets no limit.
            None => u64::MAX,
            _ => return Err(SqlError::internal("histogram_generation_max_mem_size is a number")),
        };
        let each = usize::try_from(memory).unwrap_or(usize::MAX) / targets.len();
        // All rows count, and the values are those of UTC.
        crate::hints::keep_variables(session);
        session.state.variables.time_zone = Zone::UTC;
        session.state.variables.sql_select_limit = u64::MAX;
        session.state.variables.max_execution_time = std::time::Duration::ZERO;
        let plan = {
            let dictionary = self.engine().dictionary();
            let query = super::checksum::all_rows(name, targets.iter().map(|target| &*target.name));
            let mut binder = session.binder(&**self.host(), self.engine(), &dictionary, &[]);
            let bound = binder.query(&query)?;
            binder.finish(Some(bound))?
        };
        let seed = session.state.variables.timestamp_micros.unwrap_or_else(|| self.host().unix_micros());
        let builder = |target: &Target| HistogramBuilder::new(target.ty.clone(), each, seed as u64);
        let builders = targets.iter().map(|target| (builder(target), target.ty.clone()));
        let mut counting = Counting { builders: builders.collect() };
        self.run_query(session, Arc::new(plan), &[], &mut counting).await?;
        session.state.found_rows = found_rows;
        let finished = counting.builders.into_iter().zip(targets).map(|((builder, _), target)| {
            (target.name, target.ty, builder.finish(target.specification, 1.0))
        });
        Ok(finished.collect())
    }

    /// Writes histograms that were made, and says so.
    async fn store_histograms(
        &self,
        session: &mut Session,
        table: (&TableName, u64),
        made: Vec<(String, SqlType, Histogram)>,
        mut lines: Lines,
    ) -> SqlResult<Lines> {
        for (column, ..) in &made {
            let text = format!("Histogram statistics created for column '{column}'.");
            lines.push((column.clone(), status(text)));
        }
        let made = made.into_iter().map(|(column, ty, histogram)| (column, ty, Some(Arc::new(histogram))));
        self.write_histograms(session, table, made.collect()).await?;
        Ok(lines)
    }

    /// Writes the definition with these histograms, of columns that still are what they were: 1146 if the
    /// table of that name is no longer the one with this id.
    async fn write_histograms(
        &self,
        session: &mut Session,
        (name, id): (&TableName, u64),
        histograms: Vec<(String, SqlType, Option<Arc<Histogram>>)>,
    ) -> SqlResult<()> {
        if histograms.is_empty() {
            return Ok(());
        }
        // What has read the rows uses the table until then.
        self.commit(session).await?;
        let ddl = Ddl { engine: self.engine(), host: &**self.host(), session };
        let lock = ddl.lock([name.clone()]).await?;
        let mut def = ddl.table(name)?.descriptor().def().clone();
        if def.id != id {
            return Err(mysql_error!(ER_NO_SUCH_TABLE, name.schema, name.table));
        }
        for (column, ty, histogram) in histograms {
            if histogram.is_some() && is_unique(&def, &column) {
                continue;
            }
            let place = def.column_index(&column);
            let known = place.and_then(|place| def.columns.get_mut(place));
            if let Some(known) = known.filter(|known| known.sql_type == ty) {
                known.histogram = histogram;
            }
        }
        self.engine().alter_definition(&lock, name, def).await?;
        Ok(())
    }
}

/// The columns whose histograms can be made, and what there is to say of the others.
fn targets(def: &TableDef, columns: &[ast::Name], specification: Specification) -> (Vec<Target>, Lines) {
    let (mut targets, mut lines) = (Vec::new(), Lines::new());
    for asked in columns {
        match usable_column(def, asked) {
            Ok(Column { name, sql_type, .. }) => {
                targets.push(Target { name: name.clone(), ty: sql_type.clone(), specification });
            }
            Err(line) => lines.push((asked.clone(), line)),
        }
    }
    (targets, lines)
}

fn column_called<'d>(def: &'d TableDef, name: &str) -> Option<&'d Column> {
    let column = def.column_index(name).and_then(|place| def.columns.get(place));
    column.filter(|column| column.visibility != Visibility::System)
}

/// The column of that name, if it can have a histogram.
fn usable_column<'d>(def: &'d TableDef, name: &str) -> Result<&'d Column, Line> {
    let Some(column) = column_called(def, name) else {
        return Err(error(format!("The column '{name}' does not exist.")));
    };
    if histogram::data_type(&column.sql_type).is_none() {
        return Err(error(format!("The column '{}' has an unsupported data type.", column.name)));
    }
    if is_unique(def, &column.name) {
        return Err(error(format!("The column '{}' is covered by a single-part unique index.", column.name)));
    }
    Ok(column)
}

/// Whether a column alone makes a unique index: a histogram would say nothing.
pub(super) fn is_unique(def: &TableDef, name: &str) -> bool {
    let place = def.column_index(name);
    def.indexes.iter().any(|index| {
        index.unique && matches!(index.parts.as_slice(), [part] if Some(usize::from(part.column)) == place)
    })
}

/// Lines in the order of the columns' names.
fn in_order(mut lines: Lines) -> Vec<Line> {
    lines.sort_by(|(one, _), (other, _)| one.cmp(other));
    lines.into_iter().map(|(_, line)| line).collect()
}

/// Counts the values of a query's rows.
struct Counting {
    builders: Vec<(HistogramBuilder, SqlType)>,
}

impl ResultSink for Counting {
    fn columns(&mut self, columns: &[ColumnMeta]) -> SqlResult<()> {
        match columns.len() == self.builders.len() {
            true => Ok(()),
            false => Err(SqlError::internal("the query has the histograms' columns")),
        }
    }

    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        for ((builder, ty), value) in self.builders.iter_mut().zip(values) {
            builder.add(in_storage(ty, *value));
        }
        Ok(())
    }
}

/// A value as its column keeps it: moments of TIMESTAMP are shown in UTC.
fn in_storage<'v>(ty: &SqlType, value: ValueRef<'v>) -> ValueRef<'v> {
    match (ty, value) {
        (SqlType::Timestamp { .. }, ValueRef::DateTime(moment)) => {
            ValueRef::Timestamp(Zone::UTC.to_timestamp(moment).unwrap_or(Timestamp(0)))
        }
        _ => value,
    }
}
