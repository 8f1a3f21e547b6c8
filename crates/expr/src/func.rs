//! The functions of the language, each declared once: name, arity, result type, evaluation.
//!
//! | module | what it holds |
//! |---|---|
//! | [`string`] | text and binary strings |
//! | [`edit`], [`locale`], [`text_length`] | their algorithms; how numbers are written; lengths of texts |
//! | [`base64`] | TO_BASE64 and FROM_BASE64 |
//! | [`number`] | numbers, bits, hashes |
//! | [`hash`] | hashes, checksums, unique and random bytes |
//! | [`aes`] | AES_ENCRYPT and AES_DECRYPT |
//! | [`compress`] | compressed strings |
//! | [`address`] | network addresses |
//! | [`amount`] | bytes and durations as people read them |
//! | [`gtid`] | sets of global transaction identifiers |
//! | [`regexp`] | regular expressions |
//! | [`temporal`] | dates and times; formats: [`date_format`], [`mod@str_to_date`]; units: [`mod@unit`] |
//! | [`time_sum`] | sums and differences of times |
//! | [`json`] | JSON |
//! | [`control`] | choices and comparisons: IF, COALESCE, GREATEST, ... |
//! | [`info`] | the session and the server: DATABASE(), LAST_INSERT_ID(), SLEEP(), ... |
//! | [`named_lock`] | GET_LOCK and its like |
//! | [`sys`] | the functions of the schema sys |
//! | [`absent`] | the names of what MySQL has and we have not |
//! | [`turns`] | in which order arguments are computed, and which end the call |
//!
//! The binder finds a function by name ([`find`]), checks the arity, and asks [`Function::typing`] for the
//! type of the call; the evaluator then follows [`Function::evaluation`].

pub mod absent;
pub mod address;
pub mod aes;
pub mod amount;
pub mod base64;
pub mod compress;
pub mod control;
pub mod date_format;
pub mod edit;
pub mod gtid;
pub mod hash;
pub mod info;
pub mod json;
pub mod locale;
pub mod named_lock;
pub mod number;
pub mod regexp;
pub mod str_to_date;
pub mod string;
pub mod sys;
pub mod temporal;
pub mod text_length;
pub mod time_sum;
pub mod turns;
pub mod unit;
pub mod weight_string;

use std::collections::HashMap;
use std::sync::LazyLock;

use palisade_base::error_catalogue::ER_WRONG_VALUE_FOR_TYPE;
use palisade_base::mysql_error;
use palisade_catalog::types::LobSize;
use palisade_catalog::{Bytes, CollationId, SqlType, Value};

use crate::compare::{result_collation, text_collation};
use crate::convert::text_of;
use crate::func::json::convert::is_truth;
use crate::{Coercibility, Context, Expr, Node};
use crate::{SqlAttempt, SqlResult};
use turns::Turn;

/// The type of a call: what its values are, and whether they can be NULL.
#[derive(Debug, Clone, PartialEq)]
pub struct Typed {
    /// Their type.
    pub ty: SqlType,
    /// Whether NULL is possible.
    pub nullable: bool,
}

impl Typed {
    /// Of a type; NULL if an argument is.
    pub fn strict(ty: SqlType, arguments: &[Expr]) -> Typed {
        Typed { ty, nullable: arguments.iter().any(|argument| argument.nullable) }
    }

    /// Of a type; NULL possible even of arguments that are not.
    pub fn nullable(ty: SqlType) -> Typed {
        Typed { ty, nullable: true }
    }

    /// Of a type; never NULL.
    pub fn never_null(ty: SqlType) -> Typed {
        Typed { ty, nullable: false }
    }
}

/// Decides the type of a call. `connection` is `collation_connection`, the collation of text made of numbers.
pub type Typing = fn(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed>;

/// How a call is evaluated. Each gets the arguments' expressions and the call itself, for their types.
#[derive(Clone, Copy)]
pub enum Evaluation {
    /// Evaluates its arguments itself, some perhaps not at all; may wait.
    Lazy(fn(&mut Context<'_>, &[Expr], &Expr) -> SqlAttempt<Value>),
    /// NULL if an argument is; else called with all values. See also [`turns`].
    Strict(fn(&mut Context<'_>, &[Value], &[Expr], &Expr) -> SqlResult<Value>),
    /// Called with all values, NULLs included.
    Nullable(fn(&mut Context<'_>, &[Value], &[Expr], &Expr) -> SqlResult<Value>),
}

/// One function.
#[derive(Clone, Copy)]
pub struct Function {
    /// Its name, in lower case.
    pub name: &'static str,
    /// Fewest arguments.
    pub least: u8,
    /// Most arguments.
    pub most: u8,
    /// The type of a call.
    pub typing: Typing,
    /// How a call is evaluated.
    pub evaluation: Evaluation,
    /// What else its value depends on, and what else a call does.
    pub purity: Purity,
    /// In which order its arguments are computed, if not as they are written.
    pub turns: &'static [Turn],
}

impl Function {
    /// The same, with its arguments computed in this order.
    pub const fn in_turns(self, turns: &'static [Turn]) -> Function {
        Function { turns, ..self }
    }
}

/// What a call is besides its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purity {
    /// The same arguments give the same value for as long as the statement runs and whatever the session:
    /// such a call with constant arguments is a constant.
    Pure,
    /// Its value depends on more than its arguments.
    Volatile,
    /// It does something that must not be done again when an expression is (see [`crate::effects`]).
    Effect,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// The type of text made of `arguments`, at most `length` characters: in the collation they agree on, or the
/// connection's if none of them is text.
pub fn text_type(
    operation: &str,
    arguments: &[Expr],
    length: u64,
    connection: CollationId,
) -> SqlResult<SqlType> {
    let all: Vec<&Expr> = arguments.iter().collect();
    let collation = match arguments.iter().any(|argument| text_collation(argument).is_some()) {
        true => match result_collation(&all, operation)? {
            // A user variable insists more on its collation than a literal, a number's too.
            (CollationId::BINARY, Coercibility::Literal)
                if all.iter().any(|one| one.is_numeric_variable()) =>
            {
                connection
            }
            // Text is made of numbers and dates, beside one of which nothing is known.
            (CollationId::BINARY, Coercibility::Null) if all.iter().any(|one| one.is_written_as_text()) => {
                connection
            }
            (collation, _) => collation,
        },
        false => connection,
    };
    Ok(text_of_length(length, collation))
}

/// VARCHAR or VARBINARY of a length, or the LOB type if it is too long for those.
pub fn text_of_length(length: u64, collation: CollationId) -> SqlType {
    match (u32::try_from(length).ok().filter(|length| *length <= LONGEST_VARCHAR), collation) {
        (Some(length), CollationId::BINARY) => SqlType::VarBinary { length },
        (Some(length), _) => SqlType::VarChar { length, collation },
        (None, CollationId::BINARY) => SqlType::Blob { size: LobSize::Long },
        (None, _) => SqlType::Text { size: LobSize::Long, collation },
    }
}

/// Longest expression MySQL describes as VARCHAR, in characters; longer ones are LONGTEXT.
const LONGEST_VARCHAR: u32 = 16_383;

/// Characters that values of an expression have at most. A whole number that is written has its digits and a
/// sign.
pub fn characters(argument: &Expr) -> u64 {
    let digits = |number: u64| u64::from(number.checked_ilog10().unwrap_or(0)) + 2;
    match argument.node {
        Node::Literal(Value::Int(number)) if !is_truth(argument) => digits(number.unsigned_abs()),
        Node::Literal(Value::UInt(number)) => digits(number),
        _ => u64::from(argument.ty.wire_length(1)),
    }
}

impl Context<'_> {
    /// NULL with warning 1411, which shows the argument as it was written: a literal may have become a
    /// parameter.
    pub fn wrong_argument(
        &mut self,
        kind: &str,
        (argument, value): (&Expr, &Value),
        function: &str,
    ) -> SqlResult<Value> {
        let shown = match argument.node {
            Node::Parameter(_) => Expr::literal(value.clone(), argument.ty.clone()).to_string(),
            _ => argument.to_string(),
        };
        self.warn_or_fail(mysql_error!(ER_WRONG_VALUE_FOR_TYPE, kind, shown, function))?;
        Ok(Value::Null)
    }

    /// The text of a value, in the character set of `target`.
    pub fn text(&mut self, value: &Value, argument: &Expr, target: &SqlType) -> SqlResult<Bytes> {
        let text = text_of(value, &argument.ty);
        if argument.ty.is_string() {
            return self.transcode(text, argument.ty.collation(), target.collation());
        }
        Ok(text)
    }
}

/// Any number of arguments.
pub const MANY: u8 = u8::MAX;

/// A pure function; for the declaration tables.
pub const fn function(
    name: &'static str,
    (least, most): (u8, u8),
    typing: Typing,
    evaluation: Evaluation,
) -> Function {
    Function { name, least, most, typing, evaluation, purity: Purity::Pure, turns: &[] }
}

/// A function whose value depends on more than its arguments; for the declaration tables.
pub const fn volatile(
    name: &'static str,
    arguments: (u8, u8),
    typing: Typing,
    evaluation: Evaluation,
) -> Function {
    Function { purity: Purity::Volatile, ..function(name, arguments, typing, evaluation) }
}

/// A function that does something; for the declaration tables.
pub const fn effect(
    name: &'static str,
    arguments: (u8, u8),
    typing: Typing,
    evaluation: Evaluation,
) -> Function {
    Function { purity: Purity::Effect, ..function(name, arguments, typing, evaluation) }
}

static BY_NAME: LazyLock<HashMap<&'static str, &'static Function>> = LazyLock::new(|| {
    let mut map = HashMap::new();
    let tables = [
        string::FUNCTIONS,
        base64::FUNCTIONS,
        number::FUNCTIONS,
        temporal::FUNCTIONS,
        str_to_date::FUNCTIONS,
        time_sum::FUNCTIONS,
        control::FUNCTIONS,
        hash::FUNCTIONS,
        compress::FUNCTIONS,
        aes::FUNCTIONS,
        address::FUNCTIONS,
        amount::FUNCTIONS,
        gtid::FUNCTIONS,
        regexp::FUNCTIONS,
        json::make::FUNCTIONS,
        json::read::FUNCTIONS,
        json::search::FUNCTIONS,
        json::change::FUNCTIONS,
        json::value::FUNCTIONS,
        info::FUNCTIONS,
        named_lock::FUNCTIONS,
        weight_string::FUNCTIONS,
        sys::FUNCTIONS,
    ];
    for function in tables.into_iter().flatten() {
        let before = map.insert(function.name, function);
        assert!(before.is_none(), "{} is declared twice", function.name);
    }
    map
});

/// Every function, in order of name.
pub fn all() -> impl Iterator<Item = &'static Function> {
    let mut all: Vec<&'static Function> = BY_NAME.values().copied().collect();
    all.sort_unstable_by_key(|function| function.name);
    all.into_iter()
}

/// The function of that name, whatever its case.
pub fn find(name: &str) -> Option<&'static Function> {
    match BY_NAME.get(name) {
        Some(function) => Some(function),
        None => BY_NAME.get(name.to_ascii_lowercase().as_str()).copied(),
    }
}
