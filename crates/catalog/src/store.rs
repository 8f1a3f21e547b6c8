//! What happens to a value on its way into a column.
//!
//! [`coerce`] gives the value that the column stores: converted to its type, within its range, in its
//! character set. What does not go smoothly is, in strict mode, an error; otherwise the nearest value is
//! taken and a warning given. A few things are a note even in strict mode, as in MySQL: digits beyond a
//! DECIMAL's scale, trailing spaces beyond a VARCHAR's length, the time of a value stored into a DATE.
//!
//! Each kind of target has a module; a `Store` carries what they share.

mod number;
mod temporal;
mod text;

use palisade_base::error_catalogue as catalogue;
use palisade_base::error_code::MysqlError;

use crate::charset::Charset;
use crate::descriptor::Column;
use crate::json::Json;
use crate::temporal::{Date, TemporalMode, Timestamp, Zone};
use crate::types::{LobSize, SqlType};
use crate::value::{EnumValue, Value, ValueRef};
use crate::watch::{PIECE, Watch, pieces};

/// How strictly values are taken, and what they are converted with.
#[derive(Debug, Clone, Copy)]
pub struct StoreContext<'a> {
    /// STRICT_TRANS_TABLES or STRICT_ALL_TABLES, without IGNORE: problems are errors; else warnings.
    pub strict: bool,
    /// What sql_mode alone says of it: some warnings have the number of their error then, with IGNORE, too.
    pub strict_mode: bool,
    /// Which dates are let through.
    pub temporal: TemporalMode,
    /// The session's time zone, for TIMESTAMP columns.
    pub zone: &'a Zone,
    /// When the statement began: its day in that zone is the day of TIME values stored into DATE, DATETIME
    /// and YEAR columns.
    pub began: Timestamp,
    /// The value's static type: its character set, digits of fractions.
    pub source: &'a SqlType,
}

impl StoreContext<'_> {
    /// Today in the session's zone. Hundreds of instructions, so for the values alone that ask for it.
    fn today(&self) -> Date {
        self.began.to_datetime(self.zone).date()
    }
}

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("MySQL error {} for a stored value", .kind.code())]
pub struct StoreError {
    /// What is wrong.
    pub kind: StoreErrorKind,
    /// The value as text, where the message shows it (1292, 1366); for 3140, what is wrong with it.
    pub value: String,
}

/// Kinds of [`StoreError`], each one MySQL error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// 1048: NULL for a NOT NULL column.
    NullNotAllowed,
    /// 1264: beyond the type's range.
    OutOfRange,
    /// 1265: part of the value was lost.
    Truncated,
    /// 1292: not a date or time; with the type's name.
    IncorrectTemporal(&'static str),
    /// 1366: not a number, or not text in the column's character set; with the type's name.
    IncorrectValue(&'static str),
    /// 1406: longer than the column.
    TooLong,
    /// 3140: not JSON; with the byte position of the problem.
    InvalidJson(usize),
    /// 3156: a JSON value that is no value of the column's type; with that type's name.
    JsonToOther(&'static str),
    /// 3157: JSON nested too deep.
    JsonTooDeep,
    /// 3144: binary data for a JSON column.
    JsonFromBinary,
}

impl StoreErrorKind {
    /// MySQL's error number.
    pub fn code(self) -> u16 {
        match self {
            StoreErrorKind::NullNotAllowed => 1048,
            StoreErrorKind::OutOfRange => 1264,
            StoreErrorKind::Truncated => 1265,
            StoreErrorKind::IncorrectTemporal(_) => 1292,
            StoreErrorKind::IncorrectValue(_) => 1366,
            StoreErrorKind::TooLong => 1406,
            StoreErrorKind::InvalidJson(_) => 3140,
            StoreErrorKind::JsonToOther(_) => 3156,
            StoreErrorKind::JsonTooDeep => 3157,
            StoreErrorKind::JsonFromBinary => 3144,
        }
    }
}

impl StoreError {
    fn new(kind: StoreErrorKind) -> StoreError {
        StoreError { kind, value: String::new() }
    }

    /// What the client is told: `column` is the column's name, `row` the number of the row in the statement,
    /// from 1.
    pub fn to_mysql(&self, column: &str, row: u64) -> MysqlError {
        match self.kind {
            StoreErrorKind::NullNotAllowed => MysqlError::new(&catalogue::ER_BAD_NULL_ERROR, &[&column]),
            StoreErrorKind::OutOfRange => {
                MysqlError::new(&catalogue::ER_WARN_DATA_OUT_OF_RANGE, &[&column, &row])
            }
            StoreErrorKind::Truncated => MysqlError::new(&catalogue::WARN_DATA_TRUNCATED, &[&column, &row]),
            StoreErrorKind::IncorrectTemporal(name) => MysqlError::with_message(
                &catalogue::ER_TRUNCATED_WRONG_VALUE,
                format!("Incorrect {name} value: '{}' for column '{column}' at row {row}", self.value),
            ),
            StoreErrorKind::IncorrectValue(name) => MysqlError::new(
                &catalogue::ER_TRUNCATED_WRONG_VALUE_FOR_FIELD,
                &[&name, &self.value, &column, &row],
            ),
            StoreErrorKind::TooLong => MysqlError::new(&catalogue::ER_DATA_TOO_LONG, &[&column, &row]),
            StoreErrorKind::InvalidJson(position) => {
                MysqlError::new(&catalogue::ER_INVALID_JSON_TEXT, &[&self.value, &position, &column])
            }
            StoreErrorKind::JsonToOther(name) => {
                MysqlError::new(&catalogue::ER_INVALID_JSON_VALUE_FOR_CAST, &[&name, &"", &column, &row])
            }
            StoreErrorKind::JsonTooDeep => MysqlError::new(&catalogue::ER_JSON_DOCUMENT_TOO_DEEP, &[]),
            StoreErrorKind::JsonFromBinary => {
                MysqlError::new(&catalogue::ER_INVALID_JSON_CHARSET, &[&"binary"])
            }
        }
    }
}

/// Severity of a [`Warning`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Level {
    Note,
    Warning,
}

/// Something the user should hear of although the value was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// How bad it is.
    pub level: Level,
    /// What it is.
    pub error: StoreError,
}

type Result<T> = std::result::Result<T, StoreError>;

/// One value on its way into a column.
struct Store<'a> {
    value: ValueRef<'a>,
    context: &'a StoreContext<'a>,
    warn: &'a mut dyn FnMut(Warning),
    watch: Watch<'a>,
}

impl Store<'_> {
    /// A problem: an error in strict mode, else a warning and `instead`.
    fn problem<T>(&mut self, kind: StoreErrorKind, instead: T) -> Result<T> {
        self.problem_or(kind, kind, instead)
    }

    /// A problem that has one name as an error and another as a warning.
    fn problem_or<T>(&mut self, strict: StoreErrorKind, lax: StoreErrorKind, instead: T) -> Result<T> {
        let kind = if self.context.strict { strict } else { lax };
        let shows_value =
            matches!(kind, StoreErrorKind::IncorrectTemporal(_) | StoreErrorKind::IncorrectValue(_));
        let error = StoreError { kind, value: if shows_value { self.shown() } else { String::new() } };
        if self.context.strict {
            return Err(error);
        }
        (self.warn)(Warning { level: Level::Warning, error });
        Ok(instead)
    }

    /// The time of a value that only keeps its date, or the other way round: a note, which names the value in
    /// strict mode.
    fn note_part(&mut self, type_name: &'static str) {
        let error = match self.context.strict {
            true => {
                let value = match self.value {
                    // a time beside a date has no fraction
                    ValueRef::Time(time) => time.truncate(0).to_string(),
                    // nor has the time beside a date that is kept
                    ValueRef::DateTime(moment) if type_name == "date" => {
                        moment.round(0).unwrap_or(moment).to_string()
                    }
                    _ => self.shown(),
                };
                StoreError { kind: StoreErrorKind::IncorrectTemporal(type_name), value }
            }
            false => StoreError::new(StoreErrorKind::Truncated),
        };
        (self.warn)(Warning { level: Level::Note, error });
    }

    /// A warning beside what else is said of a value. In strict mode it is the error that follows that
    /// counts.
    fn also(&mut self, kind: StoreErrorKind) {
        if !self.context.strict {
            (self.warn)(Warning { level: Level::Warning, error: StoreError::new(kind) });
        }
    }

    fn note(&mut self, kind: StoreErrorKind) {
        (self.warn)(Warning { level: Level::Note, error: StoreError::new(kind) });
    }

    /// The value as text, in its own character set or ASCII.
    fn text(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        match self.value {
            ValueRef::Bytes(text) if text.len() > PIECE => {
                out.reserve_exact(text.len());
                pieces(Charset::Binary, text, self.watch).for_each(|piece| out.extend_from_slice(piece));
            }
            ValueRef::Timestamp(value) => {
                value.to_datetime(self.context.zone).format(self.context.source.fraction_digits(), &mut out);
            }
            other => other.append_text(self.context.source, &mut out),
        }
        out
    }

    /// The value as messages show it.
    fn shown(&mut self) -> String {
        const MOST_SHOWN: usize = 128;
        // of 128 characters at least
        const MOST_BYTES: usize = 1024;
        let text = match self.value {
            ValueRef::Bytes(text) => text.get(..MOST_BYTES).unwrap_or(text).to_vec(),
            // with as many digits as it has, whatever its column shows
            ValueRef::Double(_) | ValueRef::Float(_) => {
                let mut digits = Vec::new();
                let value = match self.value {
                    ValueRef::Float(value) => ValueRef::Double(value.into()),
                    value => value,
                };
                value.append_text(&SqlType::Null, &mut digits);
                digits
            }
            _ => self.text(),
        };
        if self.source_charset() == Charset::Binary {
            return text.iter().take(MOST_SHOWN).map(shown_byte).collect();
        }
        let mut utf8 = Vec::new();
        crate::charset::convert(&text, self.source_charset(), Charset::Utf8mb4, &mut utf8);
        let mut shown = String::from_utf8_lossy(&utf8).into_owned();
        shown.truncate(shown.floor_char_boundary(MOST_SHOWN));
        shown
    }

    /// Character set of a text value; `binary` for binary strings and BIT; ASCII is as good as any for the
    /// others.
    fn source_charset(&self) -> Charset {
        match self.value {
            ValueRef::Bytes(_) | ValueRef::Enum { .. } | ValueRef::Set { .. } => {
                self.context.source.collation().get().charset
            }
            ValueRef::Bit { .. } => Charset::Binary,
            _ => Charset::Ascii,
        }
    }
}

/// A byte of a binary string as messages show it.
fn shown_byte(byte: &u8) -> String {
    match byte {
        0x20..=0x7e => char::from(*byte).to_string(),
        _ => format!("\\x{byte:02X}"),
    }
}

/// Converts `value` to what `column` stores. A problem is an `Err` in strict mode; otherwise the nearest
/// value is taken and the problem goes to `warn`. NULL for a NOT NULL column is an error in any mode: whether
/// it becomes the [`implicit_default`] instead depends on the statement.
pub fn coerce(
    value: ValueRef<'_>,
    column: &Column,
    context: &StoreContext<'_>,
    warn: &mut dyn FnMut(Warning),
) -> Result<Value> {
    coerce_watched(value, column, context, warn, &mut |_| true)
}

/// [`coerce`], which is [watched](crate::watch).
pub fn coerce_watched(
    value: ValueRef<'_>,
    column: &Column,
    context: &StoreContext<'_>,
    warn: &mut dyn FnMut(Warning),
    watch: Watch<'_>,
) -> Result<Value> {
    // The short path: the value is what the column stores.
    match (value, &column.sql_type) {
        (ValueRef::Null, _) if column.nullable => return Ok(Value::Null),
        (ValueRef::Null, _) => return Err(StoreError::new(StoreErrorKind::NullNotAllowed)),
        (ValueRef::Int(number), SqlType::Int { width, unsigned: false }) => {
            let (low, high) = width.signed_range();
            if (low..=high).contains(&number) {
                return Ok(Value::Int(number));
            }
        }
        _ => {}
    }
    if *context.source == SqlType::Json
        && let ValueRef::Bytes(text) = value
        && (column.sql_type.is_numeric() || column.sql_type.is_temporal())
        && !matches!(column.sql_type, SqlType::Bit { .. } | SqlType::Year)
    {
        return json_scalar(text, column, context, warn, watch);
    }
    let number = column.sql_type.is_numeric();
    let mut bytes = Vec::new();
    let value = match value {
        // A binary literal is a number for columns of numbers only; a column of type BIT is one for all
        // others, too.
        ValueRef::Bit { .. } if context.source.is_string() && !number => {
            value.append_text(context.source, &mut bytes);
            ValueRef::Bytes(&bytes)
        }
        // TEXT and BLOB take its bytes, as a binary literal's.
        ValueRef::Bit { width, .. }
            if matches!(column.sql_type, SqlType::Text { .. } | SqlType::Blob { .. }) =>
        {
            value.append_text(&SqlType::Binary { length: width.div_ceil(8).into() }, &mut bytes);
            ValueRef::Bytes(&bytes)
        }
        ValueRef::Bit { bits, .. } if !number => ValueRef::UInt(bits),
        value => value,
    };
    let mut store = Store { value, context, warn, watch };
    match &column.sql_type {
        SqlType::Null => Ok(Value::Null),
        SqlType::Int { width, unsigned } => store.integer(*width, *unsigned),
        SqlType::Decimal { precision, scale, unsigned } => store.decimal(*precision, *scale, *unsigned),
        SqlType::Float { unsigned, digits } => store.float(*unsigned, *digits),
        SqlType::Double { unsigned, digits } => store.double(*unsigned, *digits),
        SqlType::Bit { width } => store.bit(*width),
        SqlType::Year => store.year(),
        SqlType::Date => store.date(),
        SqlType::Time { fsp } => store.time(*fsp),
        SqlType::DateTime { fsp } => store.datetime(*fsp),
        SqlType::Timestamp { fsp } => store.timestamp(*fsp),
        SqlType::Char { length, collation } => store.char(*length, *collation),
        SqlType::VarChar { length, collation } => store.varchar(*length, *collation),
        SqlType::Text { size, collation } => store.text_lob(*size, *collation),
        SqlType::Binary { length } => store.binary(*length),
        SqlType::VarBinary { length } => store.varbinary(*length),
        SqlType::Blob { size } => store.bytes(size.max_bytes()),
        SqlType::Enum { members, collation } => store.enumeration(members, *collation),
        SqlType::Set { members, collation } => store.set(members, *collation),
        SqlType::Json => store.json(),
    }
}

/// A JSON value into a column of numbers or dates: it stores what the scalar says.
fn json_scalar(
    text: &[u8],
    column: &Column,
    context: &StoreContext<'_>,
    warn: &mut dyn FnMut(Warning),
    watch: Watch<'_>,
) -> Result<Value> {
    let number = column.sql_type.is_numeric();
    let scalar = match crate::json::parse::watched(text, true, watch) {
        Ok(Json::Bool(value)) if number => Some(Value::Int(i64::from(value))),
        Ok(Json::Int(value)) if number => Some(Value::Int(value)),
        Ok(Json::UInt(value)) if number => Some(Value::UInt(value)),
        Ok(Json::Decimal(value)) if number => Some(Value::Decimal(value)),
        Ok(Json::Double(value)) if number => Some(Value::Double(value)),
        Ok(Json::String(text)) if !number || crate::number::parse_f64(text.as_bytes()).complete => {
            Some(Value::bytes(text))
        }
        _ => None,
    };
    if let Some(value) = scalar {
        let source = match &value {
            Value::Bytes(_) => SqlType::Text { size: LobSize::Long, collation: SqlType::Json.collation() },
            _ => SqlType::Null,
        };
        let context = StoreContext { source: &source, ..*context };
        return coerce_watched(value.as_ref(), column, &context, warn, watch);
    }
    let kind = match &column.sql_type {
        SqlType::Decimal { .. } => "DECIMAL",
        SqlType::Float { .. } | SqlType::Double { .. } => "DOUBLE",
        SqlType::Date => "DATE",
        SqlType::Time { .. } => "TIME",
        SqlType::DateTime { .. } | SqlType::Timestamp { .. } => "DATETIME/TIMESTAMP",
        _ => "INTEGER",
    };
    let mut store = Store { value: ValueRef::Null, context, warn, watch };
    store.problem(StoreErrorKind::JsonToOther(kind), implicit_default(column))
}

/// The implicit default of a NOT NULL column: 0, the empty string, the zero date, the first ENUM member. What
/// INSERT IGNORE and multi-row statements take for NULL.
pub fn implicit_default(column: &Column) -> Value {
    match &column.sql_type {
        SqlType::Null => Value::Null,
        SqlType::Int { unsigned: false, .. } => Value::Int(0),
        SqlType::Int { .. } => Value::UInt(0),
        SqlType::Decimal { scale, .. } => Value::Decimal(crate::Decimal::new(0, *scale)),
        SqlType::Float { .. } => Value::Float(0.0),
        SqlType::Double { .. } => Value::Double(0.0),
        SqlType::Bit { width } => Value::Bit { bits: 0, width: *width },
        SqlType::Year => Value::Year(0),
        SqlType::Date => Value::Date(Date::ZERO),
        SqlType::Time { .. } => Value::Time(crate::Time::default()),
        SqlType::DateTime { .. } => Value::DateTime(crate::DateTime::ZERO),
        SqlType::Timestamp { .. } => Value::Timestamp(crate::Timestamp::ZERO),
        SqlType::Binary { length } => Value::bytes(vec![0; *length as usize]),
        SqlType::Enum { members, .. } => {
            Value::Enum(Box::new(EnumValue { index: 1, text: members.first().cloned().unwrap_or_default() }))
        }
        SqlType::Set { .. } => {
            Value::Set(Box::new(crate::value::SetValue { bits: 0, text: Default::default() }))
        }
        SqlType::Json => Value::bytes("null"),
        _ => Value::bytes(""),
    }
}

#[cfg(test)]
mod tests;
