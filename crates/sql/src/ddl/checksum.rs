//! CHECKSUM TABLE, with the values that MySQL computes for the same rows in InnoDB.
//!
//! The checksum of a table is the sum, modulo 2³², of those of its rows, so that their order does not matter.
//! That of a row is the CRC-32 of what MySQL's server would hold of it in memory:
//!
//! ```text
//! ┌───────────┬─────────┬─────────┬─ ─ ─   nulls: a bit for each column that may be NULL, stored columns before VIRTUAL
//! │   nulls   │ column  │ column  │         ones; the bits that are left are 1. A table without columns of variable
//! └───────────┴─────────┴─────────┴─ ─ ─   length has another bit before them, which is 1
//! ```
//!
//! A column of fixed length has all of its bytes, also where it is NULL: those of its default then. What has
//! a variable length has the bytes of its value.
//!
//! Rows are read as SELECT reads them: in the session's transaction, by its snapshot, without locks. So the
//! statement waits, yields and ends as a query does.

use std::sync::Arc;

use palisade_base::error_catalogue::ER_WRONG_OBJECT;
use palisade_base::mysql_error;
use palisade_catalog::descriptor::{Column, DefaultValue, Visibility};
use palisade_catalog::types::IntWidth;
use palisade_catalog::{Charset, Date, DateTime, Decimal, RowView, SqlType, Time, ValueRef, Zone};
use palisade_engine::TableName;
use palisade_expr::warning::Level;
use palisade_parser::ast;
use palisade_plan::Plan;
use palisade_session::sink::ColumnMeta;

use crate::sql::Sql;
use crate::{Completion, ResultSink, Session, SqlError, SqlResult};

impl Sql {
    /// CHECKSUM TABLE: a row for each table; NULL where there is none, and a condition that says why.
    pub(super) async fn checksum_tables(
        &self,
        session: &mut Session,
        names: &[TableName],
        is_quick: bool,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        let found_rows = session.state.found_rows;
        // The values are those of the moment, not of the session's zone, and all rows count.
        crate::hints::keep_variables(session);
        session.state.variables.time_zone = Zone::UTC;
        session.state.variables.sql_select_limit = u64::MAX;
        session.state.variables.max_execution_time = std::time::Duration::ZERO;
        let mut lines = Vec::with_capacity(names.len());
        for name in names {
            let (shown, planned) = self.plan_of_rows(session, name)?;
            let sum = match planned {
                Err(error) => {
                    session.state.warnings.push(Level::Error, error);
                    None
                }
                // A table that keeps its checksum would answer with that.
                Ok(_) if is_quick => None,
                Ok((plan, layout)) => {
                    let mut sum = Checksum { layout, total: 0, row: Vec::new() };
                    self.run_query(session, Arc::new(plan), &[], &mut sum).await?;
                    Some(sum.total)
                }
            };
            lines.push((shown, sum));
        }
        session.state.found_rows = found_rows;
        let text = SqlType::VarChar { length: 128, collation: session.state.variables.collation_connection };
        sink.columns(&[
            ColumnMeta::computed("Table", text),
            ColumnMeta::computed("Checksum", SqlType::BIGINT),
        ])?;
        for (table, sum) in lines {
            let sum = sum.map_or(ValueRef::Null, |sum| ValueRef::Int(i64::from(sum)));
            sink.row(&[ValueRef::Bytes(table.as_bytes()), sum])?;
        }
        Ok(Completion::of_rows())
    }

    /// The table's name as it is shown, and a query for all rows and columns of it; the inner error is what
    /// keeps it from having a checksum.
    fn plan_of_rows(
        &self,
        session: &mut Session,
        name: &TableName,
    ) -> SqlResult<(String, SqlResult<(Plan, Layout)>)> {
        if let Some(shown) = self.virtual_table_name(name) {
            let error = mysql_error!(ER_WRONG_OBJECT, name.schema, shown_name(&shown), "BASE TABLE");
            return Ok((shown, Err(error)));
        }
        let shown = format!("{}.{}", name.schema, name.table);
        let dictionary = session.dictionary(self.engine());
        let columns: Vec<Column> = match dictionary.table(&name.schema, &name.table) {
            Ok(table) => {
                let columns = table.descriptor().def().columns.iter();
                columns.filter(|column| column.visibility != Visibility::System).cloned().collect()
            }
            // Binding says what is wrong with the name.
            Err(_) => Vec::new(),
        };
        let mut binder = session.binder(&**self.host(), self.engine(), &dictionary, &[]);
        let bound = match binder.query(&all_rows(name, columns.iter().map(|column| &*column.name))) {
            Ok(bound) => bound,
            Err(error) if name.schema.eq_ignore_ascii_case("information_schema") => return Err(error),
            Err(error) => return Ok((shown, Err(error))),
        };
        let plan = binder.finish(Some(bound))?;
        Ok((shown, Ok((plan, Layout::new(columns)))))
    }
}

/// What stands behind the schema in `schema.table`.
fn shown_name(shown: &str) -> &str {
    shown.split_once('.').map_or(shown, |(_, table)| table)
}

/// `SELECT column, ... FROM schema.table`, invisible columns too; `*` if none are named.
pub(super) fn all_rows<'c>(name: &TableName, columns: impl Iterator<Item = &'c str>) -> ast::Query {
    let item = |column: &str| ast::SelectItem::Expr {
        expr: ast::Expr::Column(ast::ColumnName { schema: None, table: None, column: column.to_owned() }),
        alias: None,
        text: column.to_owned(),
    };
    let mut items: Vec<ast::SelectItem> = columns.map(item).collect();
    if items.is_empty() {
        items.push(ast::SelectItem::Wildcard);
    }
    let table = ast::ObjectName { schema: Some(name.schema.clone()), name: name.table.clone() };
    let from = ast::TableReference::Table(ast::TableFactor { name: table, ..ast::TableFactor::default() });
    let select = ast::Select { items, from: vec![from], ..ast::Select::default() };
    ast::Query {
        with: None,
        body: ast::QueryBody::Select(Box::new(select)),
        order_by: Vec::new(),
        limit: None,
        locking: Vec::new(),
        into: None,
    }
}

/// How MySQL's server would lay out the rows of a table.
struct Layout {
    columns: Vec<Field>,
    /// The null bits of a row without NULLs.
    nulls: Vec<u8>,
}

/// A column of it.
struct Field {
    ty: SqlType,
    /// Where its null bit is, if it has one.
    null_bit: Option<usize>,
    /// Its bytes where it is NULL.
    when_null: Vec<u8>,
}

impl Layout {
    fn new(columns: Vec<Column>) -> Layout {
        let varies = columns.iter().any(|column| has_variable_length(&column.sql_type));
        let is_virtual = |column: &Column| column.generated.as_ref().is_some_and(|it| !it.stored);
        let mut bits = usize::from(!varies);
        let mut null_bits = vec![None; columns.len()];
        for virtual_ones in [false, true] {
            for (column, bit) in columns.iter().zip(&mut null_bits) {
                if column.nullable && is_virtual(column) == virtual_ones {
                    *bit = Some(bits);
                    bits += 1;
                }
            }
        }
        let mut nulls = vec![0u8; bits.div_ceil(8)];
        if let Some(last) = nulls.last_mut() {
            *last = u8::MAX << (bits % 8);
        }
        if let Some(first) = nulls.first_mut().filter(|_| !varies) {
            *first |= 1;
        }
        let field = |(column, null_bit): (Column, Option<usize>)| {
            let mut when_null = Vec::new();
            if null_bit.is_some() {
                let default = match &column.default {
                    DefaultValue::Literal(value) => value.as_ref(),
                    _ => ValueRef::Null,
                };
                append(&column.sql_type, default, &mut when_null);
            }
            Field { ty: column.sql_type, null_bit, when_null }
        };
        Layout { columns: columns.into_iter().zip(null_bits).map(field).collect(), nulls }
    }
}

fn has_variable_length(ty: &SqlType) -> bool {
    matches!(
        ty,
        SqlType::VarChar { .. }
            | SqlType::VarBinary { .. }
            | SqlType::Text { .. }
            | SqlType::Blob { .. }
            | SqlType::Json
    )
}

/// Adds up the rows of a query.
struct Checksum {
    layout: Layout,
    total: u32,
    /// The row that is laid out.
    row: Vec<u8>,
}

impl Checksum {
    fn add<'a>(&mut self, values: impl Iterator<Item = ValueRef<'a>>) {
        self.row.clear();
        self.row.extend_from_slice(&self.layout.nulls);
        for (field, value) in self.layout.columns.iter().zip(values) {
            match (value, field.null_bit) {
                (ValueRef::Null, Some(bit)) => {
                    if let Some(byte) = self.row.get_mut(bit / 8) {
                        *byte |= 1 << (bit % 8);
                    }
                    self.row.extend_from_slice(&field.when_null);
                }
                (value, _) => append(&field.ty, value, &mut self.row),
            }
        }
        self.total = self.total.wrapping_add(crc32fast::hash(&self.row));
    }
}

impl ResultSink for Checksum {
    fn columns(&mut self, columns: &[ColumnMeta]) -> SqlResult<()> {
        match columns.len() == self.layout.columns.len() {
            true => Ok(()),
            false => Err(SqlError::internal("the query has the table's columns")),
        }
    }

    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        self.add(values.iter().copied());
        Ok(())
    }

    fn stored_row(&mut self, stored: &RowView<'_>, columns: &[usize]) -> SqlResult<()> {
        self.add(columns.iter().map(|column| stored.column(*column)));
        Ok(())
    }
}

/// Appends the bytes of a value of a column of type `ty`; of NULL those of the type's zero or empty value.
fn append(ty: &SqlType, value: ValueRef<'_>, out: &mut Vec<u8>) {
    match ty {
        SqlType::Null => {}
        SqlType::Int { width, .. } => {
            let bytes = match value {
                ValueRef::Int(number) => number.to_le_bytes(),
                ValueRef::UInt(number) => number.to_le_bytes(),
                _ => [0; 8],
            };
            let length = match width {
                IntWidth::Tiny => 1,
                IntWidth::Small => 2,
                IntWidth::Medium => 3,
                IntWidth::Int => 4,
                IntWidth::Big => 8,
            };
            out.extend(bytes.iter().take(length));
        }
        SqlType::Decimal { precision, scale, .. } => {
            let number = match value {
                ValueRef::Decimal(number) => number,
                _ => Decimal::new(0, 0),
            };
            append_decimal(&number, usize::from(*precision), usize::from(*scale), out);
        }
        SqlType::Float { .. } => {
            let number = if let ValueRef::Float(number) = value { number } else { 0.0 };
            out.extend(number.to_le_bytes());
        }
        SqlType::Double { .. } => {
            let number = if let ValueRef::Double(number) = value { number } else { 0.0 };
            out.extend(number.to_le_bytes());
        }
        SqlType::Bit { width } => {
            let bits = if let ValueRef::Bit { bits, .. } = value { bits } else { 0 };
            append_big_endian(bits, usize::from(*width).div_ceil(8), out);
        }
        SqlType::Date | SqlType::Time { .. } | SqlType::DateTime { .. } | SqlType::Timestamp { .. } => {
            append_temporal(ty, value, out);
        }
        SqlType::Year => {
            let year = if let ValueRef::Year(year) = value { year } else { 0 };
            out.push(year.saturating_sub(1900) as u8);
        }
        SqlType::Char { length, collation } => {
            append_padded_text(bytes_of(value), *length, collation.get().charset, out);
        }
        SqlType::Binary { length } => {
            let end = out.len() + *length as usize;
            out.extend_from_slice(bytes_of(value));
            out.resize(end.max(out.len()), 0);
        }
        SqlType::VarChar { .. } | SqlType::VarBinary { .. } | SqlType::Text { .. } | SqlType::Blob { .. } => {
            out.extend_from_slice(bytes_of(value));
        }
        SqlType::Json => match value {
            ValueRef::Bytes(text) => out.extend_from_slice(text),
            _ => out.extend_from_slice(b"null"),
        },
        SqlType::Enum { members, .. } => {
            let index = if let ValueRef::Enum { index, .. } = value { index } else { 0 };
            let length = if members.len() < 256 { 1 } else { 2 };
            out.extend(index.to_le_bytes().iter().take(length));
        }
        SqlType::Set { members, .. } => {
            let bits = if let ValueRef::Set { bits, .. } = value { bits } else { 0 };
            let length = match members.len().div_ceil(8) {
                length @ 0..=4 => length,
                _ => 8,
            };
            out.extend(bits.to_le_bytes().iter().take(length));
        }
    }
}

fn bytes_of(value: ValueRef<'_>) -> &[u8] {
    match value {
        ValueRef::Bytes(bytes) => bytes,
        _ => &[],
    }
}

/// The low `length` bytes of a number, the highest first.
fn append_big_endian(number: u64, length: usize, out: &mut Vec<u8>) {
    out.extend(number.to_be_bytes().iter().skip(8usize.saturating_sub(length)));
}

/// `length` characters of the longest, the rest of them spaces.
fn append_padded_text(text: &[u8], length: u32, charset: Charset, out: &mut Vec<u8>) {
    let end = out.len() + length as usize * charset.max_bytes() as usize;
    out.extend_from_slice(text);
    let mut space = Vec::with_capacity(4);
    if !charset.encode(' ', &mut space) || space.is_empty() {
        space = b" ".to_vec();
    }
    while out.len() + space.len() <= end {
        out.extend_from_slice(&space);
    }
}

/// Digits of a fraction of a second take a byte for each two, for which they are filled up with a zero.
fn fraction(micros: u32, fsp: u8) -> (u64, usize) {
    match fsp {
        0 => (0, 0),
        1 | 2 => (u64::from(micros / 10_000), 1),
        3 | 4 => (u64::from(micros / 100), 2),
        _ => (u64::from(micros), 3),
    }
}

fn append_temporal(ty: &SqlType, value: ValueRef<'_>, out: &mut Vec<u8>) {
    match ty {
        SqlType::Date => {
            let date = if let ValueRef::Date(date) = value { date } else { Date::ZERO };
            let packed = u32::from(date.year()) << 9 | u32::from(date.month()) << 5 | u32::from(date.day());
            out.extend(packed.to_le_bytes().iter().take(3));
        }
        SqlType::Time { fsp } => {
            let time = if let ValueRef::Time(time) = value { time } else { Time::default() };
            let (is_negative, hours, minutes, seconds, micros) = time.parts();
            let whole = u64::from(hours) << 12 | u64::from(minutes) << 6 | u64::from(seconds);
            let (part, bytes) = fraction(micros, *fsp);
            let (whole, bits) = (whole << (8 * bytes) | part, 8 * (3 + bytes));
            let middle = 1u64 << (bits - 1);
            let shifted = if is_negative { middle.wrapping_sub(whole) } else { middle + whole };
            append_big_endian(shifted, 3 + bytes, out);
        }
        SqlType::DateTime { fsp } => {
            let at = if let ValueRef::DateTime(at) = value { at } else { DateTime::ZERO };
            let (date, month_of_all) = (at.date(), u64::from(at.date().year()) * 13);
            let day = (month_of_all + u64::from(date.month())) << 5 | u64::from(date.day());
            let time = u64::from(at.hour()) << 12 | u64::from(at.minute()) << 6 | u64::from(at.second());
            append_big_endian((day << 17 | time) + (1 << 39), 5, out);
            let (part, bytes) = fraction(at.micros(), *fsp);
            append_big_endian(part, bytes, out);
        }
        _ => {
            // A query gives the session's local time, and that is UTC here; a default is the moment itself.
            let micros = match value {
                ValueRef::Timestamp(at) => at.0,
                ValueRef::DateTime(at) => Zone::UTC.to_timestamp(at).map_or(0, |at| at.0),
                _ => 0,
            };
            let fsp = if let SqlType::Timestamp { fsp } = ty { *fsp } else { 0 };
            append_big_endian(micros.max(0) as u64 / 1_000_000, 4, out);
            let (part, bytes) = fraction((micros.max(0) % 1_000_000) as u32, fsp);
            append_big_endian(part, bytes, out);
        }
    }
}

/// How many bytes so many digits take.
const BYTES_OF_DIGITS: [usize; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];

/// Nine digits in four bytes, counted from the point to both sides; what is left over at the ends in as many
/// as it needs. The first bit is turned over, and all of a negative number.
fn append_decimal(number: &Decimal, precision: usize, scale: usize, out: &mut Vec<u8>) {
    let mut text = Vec::new();
    number.abs().format(&mut text);
    let text = String::from_utf8_lossy(&text);
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let whole = whole.trim_start_matches('0');
    let width = precision.saturating_sub(scale);
    let whole = format!("{whole:0>width$}");
    let part = format!("{part:0<scale$}");
    let start = out.len();
    let mut append_group = |digits: &str| {
        let length = BYTES_OF_DIGITS.get(digits.len()).copied().unwrap_or(4);
        append_big_endian(digits.parse().unwrap_or(0), length, out);
    };
    let (first, others) = whole.split_at_checked(width % 9).unwrap_or(("", &whole));
    append_group(first);
    groups_of_nine(others).for_each(&mut append_group);
    groups_of_nine(part.get(..scale).unwrap_or(&part)).for_each(&mut append_group);
    if let Some(first) = out.get_mut(start) {
        *first ^= 0x80;
    }
    if number.is_negative() {
        out.iter_mut().skip(start).for_each(|byte| *byte = !*byte);
    }
}

/// `digits` in pieces of nine; the last may be shorter.
fn groups_of_nine(digits: &str) -> impl Iterator<Item = &str> {
    let starts = (0..digits.len()).step_by(9);
    starts.filter_map(|start| digits.get(start..(start + 9).min(digits.len())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_catalog::Value;

    fn decimal(text: &str, precision: usize, scale: usize) -> Vec<u8> {
        let mut out = Vec::new();
        append_decimal(&Decimal::parse(text.as_bytes()).0, precision, scale, &mut out);
        out
    }

    #[test]
    fn decimals_are_laid_out_in_groups_of_nine_digits() {
        assert_eq!(decimal("123.45", 5, 2), [0x80, 123, 45]);
        assert_eq!(decimal("-1.5", 5, 2), [0x7f, !1, !50]);
        assert_eq!(decimal("1234567890.1234", 14, 4), [0x81, 0x0d, 0xfb, 0x38, 0xd2, 0x04, 0xd2]);
        assert_eq!(decimal("0", 9, 9), [0x80, 0, 0, 0]);
    }

    #[test]
    fn bits_that_no_column_has_are_set() {
        let column = |name: &str, ty: SqlType| Column::new(name, ty, 0);
        let fixed = Layout::new(vec![column("a", SqlType::INT), column("b", SqlType::INT)]);
        assert_eq!(fixed.nulls, [0b1111_1001]);
        let blob = SqlType::Json;
        assert_eq!(Layout::new(vec![column("a", blob.clone())]).nulls, [0b1111_1110]);
        // all eight are taken: MySQL sets the whole byte
        assert_eq!(Layout::new(vec![column("a", blob); 8]).nulls, [0xff]);
    }

    #[test]
    fn a_default_stands_where_a_column_is_null() {
        let mut column = Column::new("a", SqlType::INT, 0);
        column.default = DefaultValue::Literal(Value::Int(5));
        assert_eq!(Layout::new(vec![column]).columns[0].when_null, [5, 0, 0, 0]);
    }
}
