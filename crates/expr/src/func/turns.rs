//! In which order a call computes its arguments, and which of them end it when they are NULL.
//!
//! A function of MySQL's computes an argument, converts it to the type in which it works, and only then goes
//! on to the next one. What that does - a warning, the error that it is in strict mode, an assignment to a
//! user variable - is done for the arguments before the one that ends the call, and not for those behind it:
//!
//! ```text
//! INSERT('abc', 'x', NULL, 'new')    'abc', 'new', 'x' (1292: no integer), NULL: ends
//! INSERT('abc', 'x', 2, NULL)        'abc', NULL: ends, without a warning
//! ```
//!
//! Most functions take their arguments as they are written, and end at the first NULL: these declare nothing.
//! The others declare their [`Turn`]s beside their name
//! ([`Function::in_turns`](super::Function::in_turns)); what the turns do not name follows in the order in
//! which it is written. A function whose order depends on values is
//! [`Lazy`](super::Evaluation::Lazy).

use palisade_catalog::Value;

use super::{Evaluation, Function};
use crate::{Context, Expr};
use crate::{SqlAttempt, SqlResult};

/// The turn of one argument.
#[derive(Debug, Clone, Copy)]
pub struct Turn {
    /// Its place among the arguments, from 0. One that the call does not have has no turn.
    pub argument: usize,
    /// As what it is read as soon as it is computed.
    pub read: Read,
    /// What happens if it is NULL.
    pub null: OnNull,
}

/// As what an argument is read. The function gets what has been read; what can be read without a warning it
/// may get as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// As it is.
    Plain,
    /// A text as a BIGINT.
    Integer,
    /// A text as 64 bits.
    Bits,
    /// A text as a DOUBLE.
    Double,
    /// A text as a DECIMAL.
    Decimal,
    /// As a date of the calendar; NULL, with a warning, if it is none.
    Date,
    /// As a date whose day is counted; likewise.
    CountedDate,
    /// As a date and time; likewise.
    DateTime,
    /// As a date and time whose month and day may be 0; likewise.
    PartialDateTime,
}

/// What a NULL does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnNull {
    /// The call is NULL, and the arguments that follow are not computed.
    Ends,
    /// The call is NULL once all arguments have been computed.
    Waits,
    /// The function says what it means.
    Passes,
}

impl Turn {
    /// An argument that is taken as it is, and ends the call if it is NULL.
    pub const fn of(argument: usize) -> Turn {
        Turn { argument, read: Read::Plain, null: OnNull::Ends }
    }

    /// The same, read as something.
    pub const fn read(self, read: Read) -> Turn {
        Turn { read, ..self }
    }

    /// The same, with another effect of NULL.
    pub const fn null(self, null: OnNull) -> Turn {
        Turn { null, ..self }
    }
}

/// The values of a call's arguments.
pub type Values = smallvec::SmallVec<[Value; 4]>;

impl Context<'_> {
    /// Computes the arguments of a call; `None` if one of them makes the call NULL.
    pub(crate) fn arguments(
        &mut self,
        function: &Function,
        arguments: &[Expr],
    ) -> SqlAttempt<Option<Values>> {
        let is_strict = matches!(function.evaluation, Evaluation::Strict(_));
        if !function.turns.is_empty() {
            let rest = if is_strict { OnNull::Ends } else { OnNull::Passes };
            return self.arguments_in_turns(function.turns, rest, arguments);
        }
        let mut values = Values::new();
        for argument in arguments {
            let value = argument.eval(self)?;
            if is_strict && value.is_null() {
                return Ok(None);
            }
            values.push(value);
        }
        Ok(Some(values))
    }

    fn arguments_in_turns(
        &mut self,
        turns: &[Turn],
        rest: OnNull,
        arguments: &[Expr],
    ) -> SqlAttempt<Option<Values>> {
        let is_named = |place: &usize| turns.iter().any(|turn| turn.argument == *place);
        let unnamed = (0..arguments.len()).filter(|place| !is_named(place));
        let unnamed = unnamed.map(|place| Turn::of(place).null(rest));
        let mut values: Values = arguments.iter().map(|_| Value::Null).collect();
        let mut is_null = false;
        for turn in turns.iter().copied().chain(unnamed) {
            let Some((argument, place)) = arguments.get(turn.argument).zip(values.get_mut(turn.argument))
            else {
                continue;
            };
            let value = argument.eval(self)?;
            *place = match value {
                Value::Null => Value::Null,
                value => {
                    let read = self.read_as(turn.read, value);
                    self.attempt(read)?
                }
            };
            match turn.null {
                OnNull::Ends if place.is_null() => return Ok(None),
                OnNull::Waits => is_null |= place.is_null(),
                OnNull::Ends | OnNull::Passes => {}
            }
        }
        Ok((!is_null).then_some(values))
    }

    /// A value that is not NULL, read as something.
    fn read_as(&mut self, read: Read, value: Value) -> SqlResult<Value> {
        let is_text = matches!(value, Value::Bytes(_));
        let date = match read {
            Read::Integer if is_text => return Ok(Value::Int(self.to_i64(value.as_ref())?)),
            Read::Bits if is_text => return Ok(Value::UInt(self.to_bits(value.as_ref())?)),
            Read::Double if is_text => return Ok(Value::Double(self.to_f64(value.as_ref())?)),
            Read::Decimal if is_text => return Ok(Value::Decimal(self.to_decimal(value.as_ref())?)),
            Read::Plain | Read::Integer | Read::Bits | Read::Double | Read::Decimal => return Ok(value),
            Read::Date => self.to_date(value.as_ref())?,
            Read::CountedDate => self.to_counted_date(value.as_ref())?,
            Read::DateTime => self.to_datetime(value.as_ref())?,
            Read::PartialDateTime => self.to_partial_datetime(value.as_ref())?,
        };
        Ok(date.map_or(Value::Null, Value::DateTime))
    }
}
