//! Constants that are compared with dates and times, converted before the first row.
//!
//! MySQL converts such a constant once, when it resolves the statement. What does not convert is then said
//! once, whatever the rows, and a text that is no date ends the statement even where there is no row at all:
//!
//! | constant | beside | what is said | then |
//! |---|---|---|---|
//! | text | a date, alone | 1292, naming the column if there is one | 1525 if it is no date |
//! | text | a date, in a list or as both bounds of BETWEEN | 1292 | a list goes on, the bounds are as `=` |
//! | number | a column of dates or times | 1292, a note of a time of day beside DATE | goes on |
//! | text | a TIME column | 1292 | goes on |
//!
//! Constants that are lengths, as of LEFT and SUBSTR, and texts of which TIMEDIFF counts the digits of a
//! fraction are computed then, too: their errors end the statement.
//!
//! In a strict statement that changes data 1292 is the error that ends it.
//!
//! The binder collects these constants in the plan, and each execution converts them
//! first. The expressions in the plan convert them again, silently, for each row.

use std::sync::Arc;

use palisade_base::error_catalogue::{ER_TRUNCATED_WRONG_VALUE, ER_WRONG_VALUE};
use palisade_base::{MysqlError, mysql_error};
use palisade_catalog::temporal::{NoTime, TemporalMode};
use palisade_catalog::{CollationId, DateTime, SqlType, Time, Value};

use super::convert::text_of;
use super::{Context, Expr};
use crate::{SqlAttempt, SqlResult};

/// A date or time that something is compared with: its type, and its name if it is a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Beside {
    /// DATE, DATETIME, TIMESTAMP or TIME.
    pub ty: SqlType,
    /// The column.
    pub column: Option<Arc<str>>,
}

impl Beside {
    /// What warnings call the type.
    pub fn lower_name(&self) -> &'static str {
        match self.ty {
            SqlType::Date => "date",
            SqlType::Time { .. } => "time",
            _ => "datetime",
        }
    }

    /// What error 1525 calls it.
    pub fn upper_name(&self) -> &'static str {
        match self.ty {
            SqlType::Date => "DATE",
            SqlType::Timestamp { .. } => "TIMESTAMP",
            _ => "DATETIME",
        }
    }
}

/// What happens where a text beside a date is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// The statement fails before the first row. But a value for `?` comes too late for that.
    Fails,
    /// It has been said before the first row; the text is the zero date.
    Said,
    /// It is said for each row; the text is the zero date.
    Warns,
    /// The same, but any date will do, be it no day of the calendar or the zero date.
    AnyDay,
}

/// How a date is read that need not be a day of the calendar.
pub(super) const ANY_DAY: TemporalMode = TemporalMode {
    no_zero_date: false,
    no_zero_in_date: false,
    allow_invalid_dates: true,
    truncate_fractional: false,
};

/// Where a constant stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Standing {
    /// It is compared with the date alone.
    Alone,
    /// It is a bound of BETWEEN, the other being this: if both are the same value, that is `=`.
    Bound(Box<Expr>),
    /// It is one of several in a list, numbers among them or not.
    Listed {
        /// Whether there are numbers.
        numbers: bool,
    },
    /// It is a text that is a bound of BETWEEN, the other bound being a number: any date will do.
    BesideNumber,
    /// It is a text in a list of dates and texts in which a text is looked for: a statement that changes data
    /// fails if it is no date; of others each row tells.
    BesideText,
}

/// A constant to convert.
#[derive(Debug, Clone)]
pub struct Beforehand {
    /// The constant.
    pub constant: Expr,
    /// What it is compared with; `None` of an argument of a call, of which only the error counts.
    pub beside: Option<Beside>,
    /// Where it stands.
    pub standing: Standing,
}

impl Context<'_> {
    /// Converts constants; fails where a text is no date and must be one.
    pub fn convert_beforehand(&mut self, constants: &[Beforehand]) -> SqlAttempt<()> {
        for Beforehand { constant, beside, standing } in constants {
            let Some(beside) = beside else {
                self.compute_beforehand(constant)?;
                continue;
            };
            if *standing == Standing::BesideText && !self.state.strict {
                continue;
            }
            let value = constant.eval(self)?;
            if let Standing::Bound(other) = standing
                && (value.is_null() || other.eval(self)? != value)
            {
                continue;
            }
            let converted = self.converts(&value, &constant.ty, beside, standing);
            self.attempt(converted)?;
        }
        Ok(())
    }

    /// Fails if a constant argument of a call does: MySQL computes it when it resolves the statement, to know
    /// the length of the result or the digits of its fraction.
    fn compute_beforehand(&mut self, constant: &Expr) -> SqlAttempt<()> {
        if self.state.strict {
            return Ok(());
        }
        let warnings = self.session.warnings.clone();
        constant.eval(self)?;
        self.session.warnings = warnings;
        Ok(())
    }

    fn converts(
        &mut self,
        value: &Value,
        ty: &SqlType,
        beside: &Beside,
        standing: &Standing,
    ) -> SqlResult<()> {
        let is_listed =
            matches!(standing, Standing::Listed { .. } | Standing::BesideText | Standing::BesideNumber);
        let is_text = match value {
            Value::Bytes(_) | Value::Bit { .. } | Value::Enum(_) | Value::Set(_) => true,
            Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_) | Value::Float(_) => false,
            _ => return Ok(()),
        };
        let text = text_of(value, ty);
        if !is_text {
            let is_cut = self.is_cut(value)?;
            return match self.number_converts(value, beside, is_listed)? {
                true if matches!(beside.ty, SqlType::Time { .. }) => Ok(()),
                true if !is_cut => self.note_time_of_day(value, beside, is_listed),
                true if is_listed => self.truncated("date", &text),
                true => self.unfit(&text, ty, beside),
                false if !is_listed => self.unfit(&text, ty, beside),
                false if matches!(beside.ty, SqlType::Time { .. }) => self.truncated("time", &text),
                false => self.incorrect("datetime", &text),
            };
        }
        if matches!(beside.ty, SqlType::Time { .. }) {
            let is_time = match self.time_of_text(&text) {
                Some(parsed) => !parsed.truncated,
                // A text of nothing, or with an exponent, is no time, of which only a list says so.
                None => {
                    let reason = Time::read(&text, self.reading_mode()).err();
                    matches!(reason, Some(NoTime::Empty | NoTime::Exponent)) && !is_listed
                }
            };
            return match is_time {
                true => Ok(()),
                false if is_listed => self.truncated("time", &shown(&text, ty)),
                false => self.unfit(&text, ty, beside),
            };
        }
        let is_among_texts = matches!(standing, Standing::Listed { numbers: false } | Standing::BesideText);
        let as_date = beside.ty == SqlType::Date && is_among_texts;
        let mode = self.reading_mode();
        let mode = match standing {
            Standing::BesideNumber => ANY_DAY,
            _ => TemporalMode { no_zero_in_date: mode.no_zero_in_date && !as_date, ..mode },
        };
        let parsed = DateTime::parse(&text, mode);
        let fits = parsed
            .is_some_and(|(parsed, _)| !(parsed.truncated || as_date && parsed.value.time().micros() != 0));
        match fits {
            true => {}
            false if as_date => self.truncated("date", &shown(&text, ty))?,
            false => self.unfit(&text, ty, beside)?,
        }
        match parsed {
            None if !is_listed => Err(no_date(beside, &text)),
            _ => Ok(()),
        }
    }

    /// Notes that the time of day of a number counts for nothing beside a column of type DATE.
    fn note_time_of_day(&mut self, value: &Value, beside: &Beside, is_listed: bool) -> SqlResult<()> {
        if let (SqlType::Date, Some(column), false) = (&beside.ty, &beside.column, is_listed)
            && let Value::DateTime(moment) = self.compared_moment(value.clone(), 0, true)?
            && moment.time().micros() != 0
        {
            let text = String::from_utf8_lossy(&text_of(value, &SqlType::Null)).into_owned();
            let message = format!("Incorrect date value: '{text}' for column '{column}' at row 1");
            self.session.warnings.note(MysqlError::with_message(&ER_TRUNCATED_WRONG_VALUE, message));
        }
        Ok(())
    }

    /// Whether a number is a date without a time of day, and has a fraction, which counts for nothing.
    fn is_cut(&mut self, value: &Value) -> SqlResult<bool> {
        let (whole, micros) = self.whole_and_micros(value)?;
        let any = TemporalMode { allow_invalid_dates: true, ..TemporalMode::default() };
        Ok(DateTime::from_number(whole, micros, any).is_some_and(|moment| moment.truncated))
    }

    fn number_converts(&mut self, value: &Value, beside: &Beside, is_listed: bool) -> SqlResult<bool> {
        let (whole, micros) = self.whole_and_micros(value)?;
        let (mode, is_negative) = (self.reading_mode(), self.to_f64(value.as_ref())? <= -1e-9);
        Ok(match &beside.ty {
            SqlType::Time { .. } => Time::from_number(whole, micros).is_some_and(|parsed| !parsed.truncated),
            // Less than a second is the zero date, unless it is rounded up to one, or negative.
            _ if whole == 0 => {
                let unit = 10u32.pow(6 - u32::from(beside.ty.fraction_digits().min(6)));
                let is_date = beside.ty == SqlType::Date;
                is_listed && (is_date || !is_negative) || micros + unit / 2 < 1_000_000 && !is_negative
            }
            // MySQL keeps quiet about a day that its month does not have.
            _ if is_listed => {
                let any = TemporalMode {
                    allow_invalid_dates: true,
                    no_zero_in_date: false,
                    no_zero_date: false,
                    ..mode
                };
                // A day of month 0, or month 1 without a day.
                let is_small = beside.ty == SqlType::Date && matches!(whole, 0..=31 | 100);
                is_small || DateTime::from_number(whole, micros, any).is_some()
            }
            SqlType::Timestamp { .. } => {
                let moment = DateTime::from_number(whole, micros, mode);
                moment.is_some_and(|moment| self.zone().to_timestamp(moment.value).is_some())
            }
            _ => {
                let any = TemporalMode { allow_invalid_dates: true, ..mode };
                DateTime::from_number(whole, micros, any).is_some()
            }
        })
    }

    /// 1292 of a value that is compared with a date or time and is none: an error while a strict statement
    /// changes data, else a warning.
    pub fn unfit(&mut self, text: &[u8], ty: &SqlType, beside: &Beside) -> SqlResult<()> {
        let (name, text) = (beside.lower_name(), shown(text, ty));
        match &beside.column {
            Some(column) => {
                let text = String::from_utf8_lossy(&text);
                let message = format!("Incorrect {name} value: '{text}' for column '{column}' at row 1");
                self.warn_or_fail(MysqlError::with_message(&ER_TRUNCATED_WRONG_VALUE, message))
            }
            None => self.truncated(name, &text),
        }
    }
}

/// 1525: a constant text is compared with a date, and is none.
pub fn no_date(beside: &Beside, text: &[u8]) -> MysqlError {
    // It ends at a byte 0, and at one that is no character.
    let text = text.split(|byte| *byte == 0).next().unwrap_or(text);
    let shown = text.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    mysql_error!(ER_WRONG_VALUE, beside.upper_name(), shown)
}

/// A text as MySQL shows it: bytes that are no characters in hexadecimal.
pub(super) fn shown(text: &[u8], ty: &SqlType) -> Vec<u8> {
    if ty.collation() != CollationId::BINARY {
        return text.to_vec();
    }
    let mut shown = String::new();
    for byte in text {
        match byte {
            b' '..=b'~' => shown.push(char::from(*byte)),
            _ => shown.push_str(&format!("\\x{byte:02X}")),
        }
    }
    shown.into_bytes()
}
