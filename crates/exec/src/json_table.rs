//! JSON_TABLE: the rows of a document, one after the other.
//!
//! The document is read once, and each path gives the places that it finds, not what is there: a row is made
//! of the document when it is asked for. A `Cursor` is where a path has come to, with the cursor of the
//! nested path whose rows are given now:
//!
//! ```text
//! '$[*]'  found [0] [1] [2]      place 1    given
//!   '$.b[*]'  found .b[0] .b[1]  place 0    the nested path that is active: number 0 of 2
//! ```
//!
//! Only looking for places and making a row take long and may give way. Both change nothing before they have
//! ended, so that the operator, called again, goes on where it was.

use palisade_base::error_catalogue::{
    ER_INVALID_JSON_VALUE_FOR_CAST, ER_JT_VALUE_OUT_OF_RANGE, ER_MISSING_JSON_TABLE_VALUE,
    ER_WRONG_JSON_TABLE_VALUE,
};
use palisade_base::mysql_error;
use palisade_catalog::json::Json;
use palisade_catalog::json::path::Step;
use palisade_catalog::value::EnumValue;
use palisade_catalog::{Bytes, CollationId, Column, SqlType, Value};
use palisade_expr::func::json::{document_error, found, read_document};
use palisade_expr::place::At;
use palisade_expr::{CastTarget, Expr, Node, Slot, SqlAttempt, SqlError, SqlResult};
use palisade_plan::json_table::{JsonAnswer, JsonColumn, JsonLevel, JsonPath, JsonTable, JsonValue};

use super::ExecContext;

/// What one reading of the table knows.
#[derive(Debug, Default)]
pub struct JsonTableState {
    /// What there is to read, once the document has been.
    reading: Option<Reading>,
}

#[derive(Debug)]
struct Reading {
    document: Json,
    /// `None` if there is no document.
    root: Option<Cursor>,
    /// The cursors are at a row that has not been given.
    is_pending: bool,
    /// What stands for values that are missing or wrong, by column: ON EMPTY, ON ERROR.
    defaults: Vec<[Value; 2]>,
}

/// Where a path has come to.
#[derive(Debug)]
struct Cursor {
    /// What it has found, as steps from the value of the level around it.
    found: Vec<Vec<Step>>,
    /// Which of them is current.
    place: usize,
    /// The nested path, of those of the level, whose rows are next.
    active: usize,
    /// Where that has come to.
    inner: Option<Box<Cursor>>,
    /// The current value has given a row.
    has_given: bool,
}

impl Cursor {
    fn new(found: Vec<Vec<Step>>) -> Cursor {
        Cursor { found, place: 0, active: 0, inner: None, has_given: false }
    }

    fn value<'d>(&self, base: &'d Json) -> Option<&'d Json> {
        base.at(self.found.get(self.place)?)
    }

    /// Goes to the next row of a level whose path starts at `base`; false if there is none.
    fn advance(&mut self, cx: &mut ExecContext<'_, '_>, level: &JsonLevel, base: &Json) -> SqlAttempt<bool> {
        loop {
            let Some(value) = self.value(base) else { return Ok(false) };
            let nested = level.nested().nth(self.active);
            if let (Some(inner), Some(nested)) = (&mut self.inner, nested) {
                if inner.advance(cx, nested, value)? {
                    self.has_given = true;
                    return Ok(true);
                }
                self.inner = None;
                self.active += 1;
            } else if let Some(nested) = nested {
                self.inner = Some(Box::new(Cursor::new(places(cx, &nested.path, value)?)));
            } else if self.has_given {
                self.place += 1;
                (self.active, self.has_given) = (0, false);
            } else {
                // No nested path has a row: there is one without them.
                self.has_given = true;
                return Ok(true);
            }
        }
    }
}

/// The places that a path finds.
fn places(cx: &mut ExecContext<'_, '_>, path: &JsonPath, value: &Json) -> SqlAttempt<Vec<Vec<Step>>> {
    cx.evaluate(|cx| {
        let found = found(cx, &path.path, value, true);
        let found = cx.attempt(found)?;
        Ok(found.into_iter().map(|location| location.steps).collect())
    })
}

impl JsonTableState {
    /// Places the next row in the slot; false if there is none. May ask to wait.
    pub fn next(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        table: &JsonTable,
        document: Option<&Expr>,
        slot: usize,
    ) -> SqlAttempt<bool> {
        if self.reading.is_none() {
            let document = document.ok_or_else(|| SqlError::internal("JSON_TABLE without a document"))?;
            self.reading = Some(Reading::begin(cx, table, document)?);
        }
        let Some(reading) = &mut self.reading else { return Ok(false) };
        let Some(root) = &mut reading.root else { return Ok(false) };
        if !reading.is_pending {
            cx.take_turns(1)?;
            if !root.advance(cx, &table.root, &reading.document)? {
                return Ok(false);
            }
            reading.is_pending = true;
        }
        let mut values = vec![Value::Null; table.columns.len()];
        let row = Row { table, defaults: &reading.defaults };
        row.fill(cx, (&table.root, root), &reading.document, &mut values)?;
        reading.is_pending = false;
        *cx.state.frame.slots.at_mut(slot)? = Slot::Values(values.into());
        Ok(true)
    }
}

impl Reading {
    fn begin(cx: &mut ExecContext<'_, '_>, table: &JsonTable, document: &Expr) -> SqlAttempt<Reading> {
        const NAME: &str = "json_table";
        let mut defaults = Vec::with_capacity(table.columns.len());
        for column in &table.columns {
            defaults.push(defaults_of(cx, column)?);
        }
        let read = cx.evaluate(|cx| {
            let value = document.eval(cx)?;
            let read = read_document(cx, &value, document, 1, NAME);
            let read = cx.attempt(read)?;
            Ok(read.map_err(|error| document_error(error, 1, NAME))?)
        })?;
        let (document, root) = match read {
            None => (Json::Null, None),
            Some(document) => {
                let found = places(cx, &table.root.path, &document)?;
                (document, Some(Cursor::new(found)))
            }
        };
        Ok(Reading { document, root, is_pending: false, defaults })
    }
}

/// The values of DEFAULT in a column's clauses: one that the column cannot have is an error though it may not
/// be needed.
fn defaults_of(cx: &mut ExecContext<'_, '_>, column: &JsonColumn) -> SqlAttempt<[Value; 2]> {
    let mut values = [Value::Null, Value::Null];
    if let JsonValue::Path { on_empty, on_error, .. } = &column.value {
        for (place, answer) in values.iter_mut().zip([on_empty, on_error]) {
            *place = match answer {
                Some(JsonAnswer::Default(Json::Null, _)) => null_default(&column.column)?,
                Some(JsonAnswer::Default(value, _)) => stored(cx, value, &column.column)??,
                _ => Value::Null,
            };
        }
    }
    Ok(values)
}

/// `null` as a default: no number is that.
fn null_default(column: &Column) -> SqlResult<Value> {
    let kind = match column.sql_type {
        SqlType::Int { .. } => "INTEGER",
        SqlType::Decimal { .. } => "DECIMAL",
        SqlType::Float { .. } | SqlType::Double { .. } => "DOUBLE",
        _ => return Ok(Value::Null),
    };
    Err(mysql_error!(ER_INVALID_JSON_VALUE_FOR_CAST, kind, "", column.name, 1))
}

/// What makes the values of a row.
struct Row<'a> {
    table: &'a JsonTable,
    defaults: &'a [[Value; 2]],
}

impl Row<'_> {
    /// Fills in the columns of a level and of the nested path that is active.
    fn fill(
        &self,
        cx: &mut ExecContext<'_, '_>,
        (level, cursor): (&JsonLevel, &Cursor),
        base: &Json,
        values: &mut [Value],
    ) -> SqlAttempt<()> {
        let Some(value) = cursor.value(base) else { return Ok(()) };
        for number in level.columns() {
            let column = self.table.columns.at(number)?;
            *values.at_mut(number)? = match &column.value {
                JsonValue::Ordinality => Value::Int(cursor.place as i64 + 1),
                JsonValue::Exists(path) => {
                    let exists = !places(cx, path, value)?.is_empty();
                    let flag = Json::Int(i64::from(exists));
                    stored(cx, &flag, &column.column)??
                }
                JsonValue::Path { path, on_empty, on_error } => {
                    self.found_by(cx, number, (path, on_empty.as_ref(), on_error.as_ref()), value)?
                }
            };
        }
        match (&cursor.inner, level.nested().nth(cursor.active)) {
            (Some(inner), Some(nested)) => self.fill(cx, (nested, inner), value, values),
            _ => Ok(()),
        }
    }

    /// The value of a column of a path.
    fn found_by(
        &self,
        cx: &mut ExecContext<'_, '_>,
        number: usize,
        (path, on_empty, on_error): (&JsonPath, Option<&JsonAnswer>, Option<&JsonAnswer>),
        value: &Json,
    ) -> SqlAttempt<Value> {
        let column = &self.table.columns.at(number)?.column;
        let [empty_default, error_default] = self.defaults.at(number)?;
        let answer = |answer: Option<&JsonAnswer>, default: &Value, error: SqlError| match answer {
            None | Some(JsonAnswer::Null) => Ok(Value::Null),
            Some(JsonAnswer::Default(..)) => Ok(default.clone()),
            Some(JsonAnswer::Error) => Err(error),
        };
        let found = places(cx, path, value)?;
        let result = match found.as_slice() {
            [] => {
                let missing = mysql_error!(ER_MISSING_JSON_TABLE_VALUE, column.name);
                return Ok(answer(on_empty, empty_default, missing)?);
            }
            [one] => stored(cx, value.at(one).unwrap_or(&Json::Null), column)?,
            several => {
                let items = several.iter().filter_map(|steps| value.at(steps).cloned());
                stored(cx, &Json::Array(items.collect()), column)?
            }
        };
        match result {
            Ok(stored) => Ok(stored),
            // The member that stands for none.
            Err(_) if matches!(column.sql_type, SqlType::Enum { .. }) && is_silent(on_error) => {
                Ok(Value::Enum(Box::new(EnumValue { index: 0, text: Bytes::new() })))
            }
            Err(error) => Ok(answer(on_error, error_default, error)?),
        }
    }
}

/// NULL ON ERROR, said or not.
fn is_silent(answer: Option<&JsonAnswer>) -> bool {
    matches!(answer, None | Some(JsonAnswer::Null))
}

/// A value as a column has it; the inner error is what is wrong with it.
fn stored(cx: &mut ExecContext<'_, '_>, value: &Json, column: &Column) -> SqlAttempt<SqlResult<Value>> {
    if *value == Json::Null {
        return Ok(Ok(Value::Null));
    }
    if column.sql_type == SqlType::Json {
        let text = cx.lend().write_json(value);
        return match cx.lend().attempt(text)? {
            Some(text) => Ok(Ok(Value::bytes(text))),
            None => Ok(Err(mysql_error!(ER_JT_VALUE_OUT_OF_RANGE, column.name))),
        };
    }
    if !value.is_scalar() {
        return Ok(Err(mysql_error!(ER_WRONG_JSON_TABLE_VALUE, column.name)));
    }
    let is_bits = matches!(column.sql_type, SqlType::Bit { .. });
    let is_converted = is_bits || column.sql_type.is_numeric() || column.sql_type.is_temporal();
    let (text, ty) = match value {
        Json::String(text) if !is_converted => {
            let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
            let ty = SqlType::VarChar { length, collation: CollationId::UTF8MB4_BIN };
            (text.clone().into_bytes(), ty)
        }
        value if !is_converted => {
            let ty = SqlType::VarChar { length: 255, collation: CollationId::UTF8MB4_BIN };
            (value.to_text(), ty)
        }
        value => (value.to_text(), SqlType::Json),
    };
    // Errors name the column that the value is for.
    let name = format!("`{}`", column.name).into();
    let node = Node::Column { slot: usize::MAX, column: 0, name, computed: true };
    let source = Expr { node, ty, ..Expr::null() };
    let warnings = cx.session.warnings.clone();
    let strict = std::mem::replace(&mut cx.state.strict, true);
    let result = match is_bits {
        // Bits are those of a number.
        true => {
            let number = cx.lend().json_scalar(&text, &source, &CastTarget::Signed, 1);
            number.and_then(|(number, ty)| cx.store(number.as_ref(), &ty, column, 1))
        }
        false => cx.store_of(Value::bytes(text).as_ref(), &source, column, 1),
    };
    cx.state.strict = strict;
    cx.session.warnings = warnings;
    let result = cx.lend().own_result(result)?;
    Ok(result.map_err(|error| match error.number() {
        3155 | 3156 if !column.sql_type.is_temporal() => error,
        _ => mysql_error!(ER_JT_VALUE_OUT_OF_RANGE, column.name),
    }))
}
