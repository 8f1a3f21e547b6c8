//! CAST and CONVERT.

use palisade_base::error_catalogue::{
    ER_DATA_OUT_OF_RANGE, ER_DATA_TOO_LONG, ER_DATETIME_FUNCTION_OVERFLOW, ER_INVALID_CHARACTER_STRING,
    ER_TRUNCATED_WRONG_VALUE, ER_TRUNCATED_WRONG_VALUE_FOR_FIELD, ER_UNKNOWN_ERROR,
    ER_WARN_DATA_OUT_OF_RANGE, ER_WRONG_VALUE,
};
use palisade_base::{MysqlError, mysql_error};
use palisade_catalog::charset::convert_watched;
use palisade_catalog::json::Json;
use palisade_catalog::temporal::TemporalMode;
use palisade_catalog::types::LobSize;
use palisade_catalog::{
    Bytes, Charset, CollationId, DateTime, Decimal, SqlType, Time, Value, ValueRef, number,
};

use super::beforehand::{Beside, Unfit, shown};
use super::convert::{display_text, text_of};
use super::{Context, Expr, Node};
use crate::SqlResult;
use crate::func::json::convert::{Form, to_json, utf8_text};
use crate::func::json::document_error;
use crate::place::At;

/// To what CAST casts.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum CastTarget {
    /// At most so many characters.
    Char {
        length: Option<u64>,
        collation: CollationId,
    },
    /// Exactly so many bytes, padded with zeros.
    Binary {
        length: Option<u64>,
    },
    Signed,
    Unsigned,
    Decimal {
        precision: u8,
        scale: u8,
    },
    Float,
    Double,
    Date,
    Time {
        fsp: u8,
    },
    DateTime {
        fsp: u8,
    },
    Year,
    /// Not in SQL: a year that has been computed, which is a number, as a column of type YEAR keeps it.
    KeptYear,
    Json,
    /// Not in SQL: a text that a function has made of a date or time, as the number of that.
    DateNumber,
    /// Not in SQL: the same as a whole number.
    DateInteger,
    /// Not in SQL: a text as a column of type DOUBLE keeps it, among those of which the distinct ones are
    /// summed up: what is no number is told by 1366.
    SummedText,
    /// Not in SQL: a date or time that a function chooses, among those of which the distinct ones are summed
    /// up: it is a text there, and none that a DECIMAL can keep.
    SummedDate {
        precision: u8,
        scale: u8,
    },
    /// Not in SQL: a date or time that IF or CASE chooses, where a number is wanted: it is the number of what
    /// it is, and not of the type that it would have as a date.
    Chosen,
    /// Not in SQL: the text of a document that says a date or time, to which an interval is added; NULL of
    /// any other document, which 3156 tells.
    MomentText,
    /// Not in SQL: the text of a member of an ENUM or SET that an aggregate, a window function or a subquery
    /// gives.
    MemberText {
        /// As a column of the result, and for its order, it is the member all the same.
        of_aggregate: bool,
    },
    /// Not in SQL: a FLOAT or DOUBLE as the text that a column of UNION keeps of it: in full, or with as many
    /// digits as the column has room for.
    ColumnText {
        width: Option<u32>,
    },
    /// Not in SQL: the text of a sum of times, as the time or the date and time that it says.
    SumMoment,
    /// Not in SQL: the text of a column as a whole number: beyond BIGINT it is the greatest or least of
    /// those.
    SignedText,
    /// Not in SQL: what stands among dates of which the least is wanted as a number: what is no date is the
    /// zero date.
    MomentOrZero,
    /// Not in SQL: a double that is computed, where a whole number is wanted: beyond BIGINT it fails (1690).
    ComputedInteger,
    /// Not in SQL: a user variable with a double, where a whole number is wanted: MySQL cuts its fraction.
    WholePart,
    /// Not in SQL: a text that is compared with a date.
    ComparedDate {
        beside: Box<Beside>,
        /// What happens where it is none.
        unfit: Unfit,
        /// Only its date counts, not its time.
        day: bool,
    },
    /// Not in SQL: a constant of a list in which a time is looked for. A text that is none is midnight.
    ListedTime,
    /// Not in SQL: a text of a list of rows that is looked at as a DECIMAL, as much of it as there is room
    /// for.
    ListedDecimal,
    /// Not in SQL: a constant that is compared with a column of type BIGINT. One that says a whole number is
    /// that number.
    ComparedInteger,
    /// Not in SQL: a constant of which the text is compared with that of a column of type BIGINT. One that
    /// says a whole number is that number, any other the text that it is.
    WrittenInteger,
    /// Not in SQL: a constant that is compared with a column of type YEAR. One that such a column can hold is
    /// that year, so that 99 is 1999.
    ComparedYear,
    /// Not in SQL: a constant that is compared with a column of type FLOAT(M,D). One of at most D digits
    /// behind the point is the number that such a column keeps for it.
    ComparedFloat {
        scale: u8,
    },
    /// Not in SQL: a constant that is compared with a column of type TIME; it is rounded as there.
    ComparedTime {
        fsp: u8,
    },
    /// Not in SQL: a number that is compared with a column of type DATETIME or TIMESTAMP; it is rounded as
    /// there.
    ComparedMoment {
        fsp: u8,
        /// The day may be one too many for its month, as for a DATETIME.
        any_day: bool,
    },
    /// A number that is compared with a column of type DATE, as the day that the column would keep.
    ComparedDay,
}

impl CastTarget {
    /// Whether it stands for no CAST, but for how a constant is compared with a column.
    pub fn is_comparison(&self) -> bool {
        matches!(
            self,
            CastTarget::ComparedInteger
                | CastTarget::ComparedYear
                | CastTarget::ComparedFloat { .. }
                | CastTarget::ComparedTime { .. }
                | CastTarget::ComparedMoment { .. }
                | CastTarget::ComparedDay
        )
    }

    /// Whether it gives numbers.
    pub fn is_number(&self) -> bool {
        use CastTarget::{Decimal, Double, Float, Signed, Unsigned};
        matches!(self, Signed | Unsigned | Decimal { .. } | Float | Double)
    }

    /// Whether it stands for no CAST, but for another conversion that the statement does not name.
    pub fn is_added(&self) -> bool {
        matches!(
            self,
            CastTarget::ComparedDate { .. }
                | CastTarget::ListedTime
                | CastTarget::ListedDecimal
                | CastTarget::WrittenInteger
                | CastTarget::DateNumber
                | CastTarget::DateInteger
                | CastTarget::SummedText
                | CastTarget::SummedDate { .. }
                | CastTarget::Chosen
                | CastTarget::MomentText
                | CastTarget::MemberText { .. }
                | CastTarget::ColumnText { .. }
                | CastTarget::SumMoment
                | CastTarget::MomentOrZero
                | CastTarget::SignedText
                | CastTarget::ComputedInteger
                | CastTarget::WholePart
                | CastTarget::KeptYear
        )
    }

    /// The type of the result, for an operand of a type.
    pub fn result_type(&self, operand: &SqlType) -> SqlType {
        let text_length = || operand.wire_length(1).min(u32::from(u16::MAX));
        match self {
            CastTarget::Char { length, collation } => SqlType::VarChar {
                length: length.map_or_else(text_length, |length| length.min(u64::from(u32::MAX)) as u32),
                collation: *collation,
            },
            CastTarget::Binary { length } => SqlType::VarBinary {
                length: length
                    .map_or_else(|| operand.wire_length(4), |length| length.min(u64::from(u32::MAX)) as u32),
            },
            CastTarget::Signed
            | CastTarget::SignedText
            | CastTarget::WholePart
            | CastTarget::ComputedInteger
            | CastTarget::DateInteger => SqlType::BIGINT,
            CastTarget::Unsigned => SqlType::BIGINT_UNSIGNED,
            CastTarget::Decimal { precision, scale } => {
                SqlType::Decimal { precision: *precision, scale: *scale, unsigned: false }
            }
            CastTarget::Float => SqlType::Float { unsigned: false, digits: None },
            CastTarget::Double | CastTarget::DateNumber | CastTarget::SummedText => SqlType::DOUBLE,
            CastTarget::SummedDate { precision, scale } => {
                SqlType::Decimal { precision: *precision, scale: *scale, unsigned: false }
            }
            CastTarget::WrittenInteger => operand.clone(),
            // Its type is that of the choice, or of the column.
            CastTarget::Chosen | CastTarget::ColumnText { .. } => SqlType::Null,
            CastTarget::MomentText => {
                SqlType::Text { size: LobSize::Long, collation: CollationId::UTF8MB4_BIN }
            }
            CastTarget::MemberText { .. } => {
                SqlType::VarChar { length: operand.wire_length(1), collation: operand.collation() }
            }
            CastTarget::Date | CastTarget::ComparedDate { day: true, .. } => SqlType::Date,
            CastTarget::Time { fsp } => SqlType::Time { fsp: *fsp },
            CastTarget::DateTime { fsp } => SqlType::DateTime { fsp: *fsp },
            CastTarget::Year | CastTarget::KeptYear => SqlType::Year,
            CastTarget::Json => SqlType::Json,
            CastTarget::ComparedDate { .. } | CastTarget::SumMoment | CastTarget::MomentOrZero => {
                SqlType::DateTime { fsp: 6 }
            }
            CastTarget::ComparedInteger | CastTarget::ListedDecimal => {
                SqlType::Decimal { precision: 65, scale: 30, unsigned: false }
            }
            // Of a whole number a whole number, so that an index of years finds it.
            CastTarget::ComparedYear if matches!(operand, SqlType::Int { .. }) => SqlType::BIGINT,
            CastTarget::ComparedYear if operand.is_temporal() => SqlType::Year,
            CastTarget::ComparedYear | CastTarget::ComparedFloat { .. } => SqlType::DOUBLE,
            CastTarget::ListedTime => SqlType::Time { fsp: 6 },
            CastTarget::ComparedTime { fsp } => SqlType::Time { fsp: *fsp },
            CastTarget::ComparedMoment { fsp, .. } => SqlType::DateTime { fsp: *fsp },
            CastTarget::ComparedDay => SqlType::DateTime { fsp: 0 },
        }
    }
}

/// The least double beyond BIGINT.
const BEYOND_BIGINT: f64 = 9_223_372_036_854_775_808.0;

/// The type of an operand where its text is wanted in a character set. The value for a `?` is said to be a
/// text, but may be any bytes.
pub(super) fn type_of_text(operand: &Expr, to: CollationId) -> &SqlType {
    const BYTES: &SqlType = &SqlType::Blob { size: LobSize::Long };
    let is_kept = |ty: &SqlType| ty.is_text() && ty.collation().get().charset.is_utf8();
    match operand.node {
        Node::Parameter(_) if is_kept(&operand.ty) && to.get().charset.is_utf8() => BYTES,
        _ => &operand.ty,
    }
}

impl Context<'_> {
    /// CAST(value AS target); `operand` is the expression the value comes from.
    pub fn cast(&mut self, value: Value, operand: &Expr, target: &CastTarget) -> SqlResult<Value> {
        match &value {
            Value::Null => return Ok(Value::Null),
            Value::Bytes(text) => self.checkpoint(text.len())?,
            _ => {}
        }
        if let (SqlType::Json, Value::Bytes(text)) = (&operand.ty, &value)
            && !matches!(target, CastTarget::Char { .. } | CastTarget::Binary { .. } | CastTarget::Json)
        {
            return match target {
                CastTarget::MomentText => self.moment_text(text, operand),
                _ => self.cast_from_json(text, operand, target),
            };
        }
        match target {
            CastTarget::Char { length, collation } => {
                let from = type_of_text(operand, *collation);
                let Some(text) = self.valid_text(text_of(&value, &operand.ty), from, *collation)? else {
                    return Ok(Value::Null);
                };
                // MySQL looks at what is asked for, not at what there is.
                let most = usize::try_from(length.unwrap_or(0)).unwrap_or(usize::MAX);
                if most.max(text.len()) > self.packet_limit() {
                    return Ok(self.too_large("cast_as_char"));
                }
                Ok(Value::Bytes(match length {
                    Some(length) => self.cut(text, *length, *collation)?,
                    None => text,
                }))
            }
            CastTarget::Binary { length } => {
                let mut text = text_of(&value, &operand.ty);
                if let Some(length) = length {
                    if self.exceeds(usize::try_from(*length).unwrap_or(usize::MAX))? {
                        return Ok(self.too_large("cast_as_binary"));
                    }
                    text = self.cut(text, *length, CollationId::BINARY)?;
                    let missing = (*length as usize).saturating_sub(text.len());
                    if missing > 0 {
                        let mut padded = text.into_vec();
                        padded.resize(padded.len() + missing, 0);
                        text = padded.into();
                    }
                }
                Ok(Value::Bytes(text))
            }
            CastTarget::Signed => {
                let wide = self.cast_integer(&value, operand)?;
                if wide > i128::from(i64::MAX) {
                    self.warn_of_sign(&value, operand, false);
                }
                Ok(Value::Int(
                    if wide > i128::from(i64::MAX)
                        && !matches!(value, Value::UInt(_) | Value::Bytes(_) | Value::Bit { .. })
                    {
                        i64::MAX
                    } else {
                        wide as u64 as i64
                    },
                ))
            }
            CastTarget::Unsigned => {
                let wide = self.cast_integer(&value, operand)?;
                if (i128::from(i64::MIN) + 1..=0).contains(&wide) {
                    self.warn_of_sign(&value, operand, true);
                }
                let is_double = matches!(value, Value::Double(_) | Value::Float(_));
                let wide = if is_double { wide.min(i64::MAX.into()) } else { wide };
                Ok(Value::UInt(wide as u64))
            }
            CastTarget::Decimal { precision, scale } => {
                let decimal = self.to_decimal(value.as_ref())?;
                let fitted = self.fit_decimal(decimal, *precision, *scale);
                fitted.map(Value::Decimal).or_else(|largest| {
                    let shown = format!("cast({operand} as decimal({precision},{scale}))");
                    self.warn_or_fail(mysql_error!(ER_WARN_DATA_OUT_OF_RANGE, shown, 1))?;
                    Ok(Value::Decimal(largest))
                })
            }
            CastTarget::Float => self.cast_float(&value, operand),
            CastTarget::Double => Ok(Value::Double(self.to_f64(value.as_ref())?)),
            CastTarget::Date => Ok(match self.to_date(value.as_ref())? {
                Some(datetime) if !self.reading_mode().allows(datetime.date()) => Value::Null,
                Some(datetime) => Value::Date(datetime.date()),
                None => Value::Null,
            }),
            CastTarget::Time { fsp } => Ok(match self.to_time(value.as_ref())? {
                Some(time) => Value::Time(self.time_of_digits(time, *fsp)),
                None => Value::Null,
            }),
            CastTarget::DateTime { fsp } => Ok(match self.to_datetime(value.as_ref())? {
                Some(datetime) if !self.reading_mode().allows(datetime.date()) => Value::Null,
                Some(datetime) => match self.rounded(datetime, *fsp) {
                    Some(rounded) => Value::DateTime(rounded),
                    None => {
                        self.warn_or_fail(mysql_error!(ER_DATETIME_FUNCTION_OVERFLOW, "datetime"))?;
                        Value::Null
                    }
                },
                None => Value::Null,
            }),
            CastTarget::Year => self.cast_year(&value, &operand.ty),
            CastTarget::KeptYear => Ok(Value::Year(self.to_i64(value.as_ref())?.clamp(0, 9999) as u16)),
            CastTarget::Json => self.cast_json(value, operand),
            CastTarget::DateNumber => {
                let text = text_of(&value, &operand.ty);
                Ok(Value::Double(self.number_of_date(&text)?))
            }
            CastTarget::DateInteger => {
                let text = text_of(&value, &operand.ty);
                // The number is rounded, not the time: 23:59:59.5 is 235960.
                Ok(Value::Int(self.number_of_date(&text)?.round() as i64))
            }
            CastTarget::SummedText => self.summed_text(&value, operand),
            CastTarget::SummedDate { scale, .. } => {
                let shown = display_text(value.as_ref(), &operand.ty);
                self.warn_or_fail(mysql_error!(ER_TRUNCATED_WRONG_VALUE_FOR_FIELD, "decimal", shown, "", 1))?;
                Ok(Value::Decimal(Decimal::ZERO.round(i32::from(*scale)).unwrap_or(Decimal::ZERO)))
            }
            CastTarget::Chosen | CastTarget::MomentText => Ok(value),
            CastTarget::WholePart => Ok(match value {
                Value::Double(number) => Value::Int(number as i64),
                value => value,
            }),
            CastTarget::MemberText { .. } => Ok(Value::Bytes(text_of(&value, &operand.ty))),
            CastTarget::ColumnText { width } => {
                let (number, mut text) = (self.to_f64(value.as_ref())?, Vec::new());
                let width = width.map_or(usize::MAX, |width| width as usize);
                number::format_narrow(number, width, &mut text);
                text.truncate(width);
                Ok(Value::bytes(text))
            }
            CastTarget::ComputedInteger => {
                let whole = self.to_integer(value.as_ref())?;
                let number = i64::try_from(whole).ok();
                // The nearest double to the greatest BIGINT is beyond it.
                let is_beyond = |double| !(-BEYOND_BIGINT..BEYOND_BIGINT).contains(&double);
                let number = number.filter(|_| !matches!(value, Value::Double(double) if is_beyond(double)));
                number.map(Value::Int).ok_or_else(|| self.out_of_range("BIGINT", operand))
            }
            CastTarget::SumMoment => Ok(self.sum_moment(&text_of(&value, &operand.ty))),
            CastTarget::SignedText => Ok(Value::Int(self.to_i64(value.as_ref())?)),
            CastTarget::MomentOrZero => {
                let moment = self.to_partial_datetime(value.as_ref())?;
                Ok(Value::DateTime(moment.unwrap_or(DateTime::ZERO)))
            }
            CastTarget::ListedTime => self.listed_time(value, &operand.ty),
            CastTarget::ListedDecimal => {
                let decimal = self.to_decimal(value.as_ref())?;
                Ok(Value::Decimal(self.fit_decimal(decimal, 65, 30).unwrap_or_else(|largest| largest)))
            }
            CastTarget::ComparedDate { beside, unfit, day } => {
                let text = text_of(&value, &operand.ty);
                let moment = self.compared_date(&text, operand, beside, *unfit)?;
                Ok(match moment {
                    Some(moment) if *day => Value::Date(moment.date()),
                    Some(moment) => Value::DateTime(moment),
                    None => Value::Null,
                })
            }
            CastTarget::ComparedInteger => self.compared_integer(value),
            CastTarget::WrittenInteger => self.written_integer(value),
            CastTarget::ComparedYear => self.compared_year(value),
            CastTarget::ComparedFloat { scale } => self.compared_float(&value, *scale),
            CastTarget::ComparedTime { fsp } => self.compared_time(value, *fsp),
            CastTarget::ComparedMoment { fsp, any_day } => self.compared_moment(value, *fsp, *any_day),
            CastTarget::ComparedDay => self.compared_day(value),
        }
    }

    /// The whole number that CAST makes of a value; 1690 if a function gives a double beyond BIGINT.
    fn cast_integer(&mut self, value: &Value, operand: &Expr) -> SqlResult<i128> {
        const LIMIT: f64 = 9_223_372_036_854_775_808.0;
        let is_computed = matches!(
            operand.node,
            Node::Call { .. } | Node::Arithmetic { .. } | Node::Negate(_) | Node::Cast { .. }
        );
        if let Value::Double(number) = value
            && is_computed
            && !(-LIMIT..LIMIT).contains(number)
        {
            return Err(self.out_of_range("BIGINT", operand));
        }
        self.to_integer(value.as_ref())
    }

    /// Warns of a text that is cast to what has no such sign: `negative` to UNSIGNED, or a number beyond
    /// BIGINT to SIGNED. Of numbers beyond both 1292 has been said.
    fn warn_of_sign(&mut self, value: &Value, operand: &Expr, negative: bool) {
        let Value::Bytes(text) = value else { return };
        if !operand.ty.is_string() || operand.ty == SqlType::Json {
            return;
        }
        let text = text.trim_ascii_start();
        let (digits, what) = match negative {
            true => {
                (text.strip_prefix(b"-"), "unsigned converted negative integer to its positive complement")
            }
            false => (
                Some(text.strip_prefix(b"+").unwrap_or(text)),
                "signed converted positive out-of-range integer to its negative complement",
            ),
        };
        let digits = digits.unwrap_or_default();
        let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = digits.get(..count).and_then(|digits| std::str::from_utf8(digits).ok());
        if number.is_some_and(|number| number.parse::<u64>().is_ok()) {
            let message = format!("Cast to {what}");
            self.session.warnings.warn(MysqlError::with_message(&ER_UNKNOWN_ERROR, message));
        }
    }

    fn summed_text(&mut self, value: &Value, operand: &Expr) -> SqlResult<Value> {
        let Value::Bytes(text) = value else { return Ok(Value::Double(self.to_f64(value.as_ref())?)) };
        let parsed = number::parse_f64(text);
        if !parsed.complete || text.trim_ascii().is_empty() {
            let shown = display_text(value.as_ref(), &operand.ty);
            self.warn_or_fail(mysql_error!(ER_TRUNCATED_WRONG_VALUE_FOR_FIELD, "DOUBLE", shown, "", 1))?;
        }
        if parsed.value.is_infinite() {
            self.warn_or_fail(mysql_error!(ER_WARN_DATA_OUT_OF_RANGE, "", 1))?;
        }
        Ok(Value::Double(parsed.value.clamp(f64::MIN, f64::MAX)))
    }

    fn moment_text(&mut self, text: &[u8], operand: &Expr) -> SqlResult<Value> {
        let (moment, _) = self.json_scalar(text, operand, &CastTarget::DateTime { fsp: 6 }, 1)?;
        if moment.is_null() {
            return Ok(Value::Null);
        }
        Ok(match self.read_json(text, Form::Normal)? {
            Ok(Json::String(said)) => Value::bytes(said),
            _ => Value::Null,
        })
    }

    fn cast_year(&mut self, value: &Value, ty: &SqlType) -> SqlResult<Value> {
        let year = match value {
            Value::Date(date) => i64::from(date.year()),
            Value::DateTime(datetime) => i64::from(datetime.date().year()),
            Value::Year(year) => i64::from(*year),
            Value::Time(_) => match self.to_date(value.as_ref())? {
                Some(date) => i64::from(date.date().year()),
                None => return Ok(Value::Null),
            },
            Value::Bytes(text) => {
                let Some((year, is_complete)) = year_of_text(text) else {
                    let shown = self.message_text(text, ty)?;
                    let shown = String::from_utf8_lossy(&shown).into_owned();
                    self.session.warnings.warn(mysql_error!(ER_WRONG_VALUE, "YEAR", shown));
                    return Ok(Value::Null);
                };
                if !is_complete {
                    let shown = self.message_text(text, ty)?;
                    self.truncated("YEAR", &shown)?;
                }
                year
            }
            Value::UInt(number) => *number as i64,
            other => self.to_i64(other.as_ref())?,
        };
        Ok(match year {
            0 if !matches!(value, Value::Bytes(_)) => Value::UInt(0),
            0..=69 => Value::UInt(2000 + year as u64),
            70..=99 => Value::UInt(1900 + year as u64),
            1901..=2155 => Value::UInt(year as u64),
            _ => {
                self.warn_or_fail(mysql_error!(ER_TRUNCATED_WRONG_VALUE, "YEAR", year))?;
                Value::Null
            }
        })
    }

    /// A text as a message shows it: bytes that are no characters in hexadecimal, characters in UTF-8 and up
    /// to the first byte 0.
    fn message_text(&mut self, text: &[u8], ty: &SqlType) -> SqlResult<Vec<u8>> {
        let collation = ty.collation();
        if collation == CollationId::BINARY {
            return Ok(shown(text, ty));
        }
        let mut text = self.transcode(Bytes::from(text), collation, CollationId::UTF8MB4_BIN)?.into_vec();
        text.truncate(text.iter().position(|byte| *byte == 0).unwrap_or(text.len()));
        Ok(text)
    }

    /// The number of a date or time written as functions write them: 20240229, 20240229123456.5 or 123456.5.
    fn number_of_date(&mut self, text: &[u8]) -> SqlResult<f64> {
        let moment = self.sum_moment(text);
        self.to_f64(moment.as_ref())
    }

    /// The time, the date or the date and time of a text that a function has made of one.
    fn sum_moment(&self, text: &[u8]) -> Value {
        let any = TemporalMode { allow_invalid_dates: true, ..TemporalMode::default() };
        // The sign of a time is before its first digit, the hyphens of a date are behind it.
        let is_date = text.iter().skip(1).any(|byte| *byte == b'-');
        match DateTime::parse(text, any) {
            Some((parsed, _)) if is_date && text.contains(&b':') => Value::DateTime(parsed.value),
            Some((parsed, _)) if is_date => Value::Date(parsed.value.date()),
            _ => match self.time_of_text(text) {
                Some(parsed) => Value::Time(parsed.value),
                None => Value::bytes(text.to_vec()),
            },
        }
    }

    fn cast_json(&mut self, value: Value, operand: &Expr) -> SqlResult<Value> {
        if matches!(operand.ty, SqlType::Json) {
            return Ok(value);
        }
        let binary = operand.ty.is_string() && operand.ty.collation() == CollationId::BINARY;
        if binary
            || !operand.ty.is_string()
            || matches!(operand.ty, SqlType::Enum { .. } | SqlType::Set { .. })
        {
            let document = to_json(self, &value, operand)?;
            return Ok(Value::bytes(document.to_text()));
        }
        let document = {
            let text = utf8_text(self, &value, operand)?;
            self.read_json(text.as_bytes(), Form::Any)?
        };
        let document = document.map_err(|error| document_error(error, 1, "cast_as_json"))?;
        Ok(match self.write_json(&document)? {
            Some(text) => Value::bytes(text),
            None => self.too_large("cast_as_json"),
        })
    }

    /// `decimal` as DECIMAL(precision, scale): rounded; if it does not fit, the value nearest to it.
    fn fit_decimal(&self, decimal: Decimal, precision: u8, scale: u8) -> Result<Decimal, Decimal> {
        if decimal.fits(precision, scale) {
            return Ok(decimal.round(i32::from(scale)).unwrap_or(decimal));
        }
        let largest = Decimal::largest(precision, scale);
        Err(if decimal.is_negative() { largest.negate() } else { largest })
    }

    fn cut(&mut self, text: Bytes, length: u64, collation: CollationId) -> SqlResult<Bytes> {
        let charset = collation.get().charset;
        let count = usize::try_from(length).unwrap_or(usize::MAX);
        let end = self.watched(|watch| charset.prefix_len_watched(&text, count, watch))?;
        if end == text.len() {
            return Ok(text);
        }
        let name = if charset == Charset::Binary { "BINARY" } else { "CHAR" };
        self.truncated(
            &format!("{name}({length})"),
            &shown(&text, &SqlType::VarChar { length: 0, collation }),
        )?;
        let mut text = text;
        text.truncate(end);
        Ok(text)
    }

    /// A value's text in another character set; `None` with warning 1300 for bytes that are no text there.
    pub fn valid_text(&mut self, text: Bytes, from: &SqlType, to: CollationId) -> SqlResult<Option<Bytes>> {
        let charset = to.get().charset;
        let bytes = from.collation() == CollationId::BINARY
            && (from.is_string() || matches!(from, SqlType::Bit { .. }));
        let valid = match charset {
            _ if !bytes => text.len(),
            Charset::Ascii => text.iter().position(|byte| !byte.is_ascii()).unwrap_or(text.len()),
            _ if charset.is_utf8() => {
                self.watched(|watch| Charset::Utf8mb4.valid_len_watched(&text, watch))?
            }
            _ => text.len(),
        };
        if valid < text.len() {
            let bad = text.tail(valid)?;
            let shown: String = bad.iter().take(3).map(|byte| format!("{byte:02X}")).collect();
            self.warn_or_fail(mysql_error!(ER_INVALID_CHARACTER_STRING, charset.name(), shown))?;
            // As in MySQL the bytes stay; clients see `?`.
            return Ok((charset == Charset::Ascii).then_some(text));
        }
        Ok(Some(self.transcode(text, from.collation(), to)?))
    }

    /// Text in another character set; what it cannot say becomes `?`.
    pub fn transcode(&mut self, text: Bytes, from: CollationId, to: CollationId) -> SqlResult<Bytes> {
        let (from, to) = (from.get().charset, to.get().charset);
        if from.has_the_bytes_of(to, &text) {
            return Ok(text);
        }
        let mut out = Vec::with_capacity(text.len());
        self.watched(|watch| convert_watched(&text, from, to, &mut out, watch))?;
        Ok(out.into())
    }

    /// CAST(value AS FLOAT); 1690 beyond that type.
    pub fn cast_float(&mut self, value: &Value, operand: &Expr) -> SqlResult<Value> {
        let float = self.to_f64(value.as_ref())? as f32;
        if float.is_infinite() {
            return Err(mysql_error!(ER_DATA_OUT_OF_RANGE, "DOUBLE", format!("cast({operand} as float)")));
        }
        Ok(Value::Float(float))
    }

    /// A time with so many digits of the second's fraction: rounded, or cut if the sql_mode has
    /// TIME_TRUNCATE_FRACTIONAL.
    pub fn time_of_digits(&self, time: Time, fsp: u8) -> Time {
        if self.reading_mode().truncate_fractional { time.truncate(fsp) } else { round_time(time, fsp) }
    }

    /// The same of a date and time; one that would be rounded up to the year 10000 is cut.
    pub fn datetime_of_digits(&self, datetime: DateTime, fsp: u8) -> DateTime {
        self.rounded(datetime, fsp).unwrap_or_else(|| datetime.truncate(fsp))
    }

    /// A date and time with so many digits of the second's fraction; `None` in the year 10000.
    pub(super) fn rounded(&self, datetime: DateTime, fsp: u8) -> Option<DateTime> {
        if self.reading_mode().truncate_fractional {
            Some(datetime.truncate(fsp))
        } else {
            round_datetime(datetime, fsp)
        }
    }

    /// 1406 in strict statements that change data, else cut with a warning; for functions with a size limit.
    pub fn too_long(&mut self, what: &str) -> SqlResult<()> {
        self.warn_or_fail(mysql_error!(ER_DATA_TOO_LONG, what, 1))
    }
}

fn unit(fsp: u8) -> i64 {
    10i64.pow(u32::from(6 - fsp.min(6)))
}

/// Rounded half away from zero to `fsp` digits.
pub fn round_time(time: Time, fsp: u8) -> Time {
    let unit = unit(fsp);
    let micros = time.micros();
    let rounded = (micros.abs() + unit / 2) / unit * unit * micros.signum();
    Time::from_micros(rounded).unwrap_or(time)
}

/// Rounded half up to `fsp` digits; `None` in the year 10000.
fn round_datetime(datetime: DateTime, fsp: u8) -> Option<DateTime> {
    let unit = unit(fsp);
    match datetime.to_micros() {
        Some(micros) if i64::from(datetime.micros()) % unit != 0 => {
            DateTime::from_micros((micros + unit / 2) / unit * unit)
        }
        _ => Some(datetime),
    }
}

/// Without the digits beyond `fsp`.
pub fn cut_datetime(datetime: palisade_catalog::DateTime, fsp: u8) -> palisade_catalog::DateTime {
    let unit = unit(fsp) as u32;
    let micros = datetime.micros() / unit * unit;
    palisade_catalog::DateTime::new(
        datetime.date(),
        datetime.hour(),
        datetime.minute(),
        datetime.second(),
        micros,
    )
    .unwrap_or(datetime)
}

/// A value's text into a fresh vector.
pub fn to_vec(value: ValueRef<'_>, ty: &SqlType) -> Vec<u8> {
    let mut out = Vec::new();
    value.append_text(ty, &mut out);
    out
}

/// The number that a text begins with where a year is wanted, and whether it is all of the text. A number
/// with a minus sign is none, nor is one of more than 64 bits; one beyond BIGINT is the negative one of the
/// same bits.
fn year_of_text(text: &[u8]) -> Option<(i64, bool)> {
    let text = text.trim_ascii_start();
    let digits = text.strip_prefix(b"+").unwrap_or(text);
    let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = digits.get(..count).and_then(|digits| std::str::from_utf8(digits).ok())?;
    let number: u64 = number.parse().ok()?;
    Some((number as i64, count == digits.len()))
}
