//! SQL values to JSON and back.

use palisade_base::error_catalogue::{ER_INVALID_JSON_VALUE_FOR_CAST, ER_NUMERIC_JSON_VALUE_OUT_OF_RANGE};
use palisade_base::mysql_error;
use palisade_catalog::decimal::ParseEnd;
use palisade_catalog::json::{Json, JsonError, parse};
use palisade_catalog::watch::{PIECE, pieces};
use palisade_catalog::{Charset, CollationId, Decimal, SqlType, Value, Watch, charset, number};

use crate::SqlResult;
use crate::convert::text_of;
use crate::func::control::NULLIF;
use crate::{CastTarget, Context, Expr, Node, SubqueryUse};

/// A value's text in UTF-8. Binary strings are taken for it.
pub fn utf8_text(cx: &mut Context<'_>, value: &Value, expr: &Expr) -> SqlResult<String> {
    let text = text_of(value, &expr.ty);
    let from = if expr.ty.is_text() { expr.ty.collation().get().charset } else { Charset::Utf8mb4 };
    let is_utf8 = from.is_utf8() || from.has_the_bytes_of(Charset::Utf8mb4, &text);
    if is_utf8 && text.len() <= PIECE {
        return Ok(String::from_utf8_lossy(&text).into_owned());
    }
    let mut out = Vec::with_capacity(text.len());
    cx.watched(|watch| match from.is_utf8() {
        true => pieces(from, &text, watch)
            .for_each(|piece| out.extend_from_slice(String::from_utf8_lossy(piece).as_bytes())),
        false => drop(charset::convert_watched(&text, from, Charset::Utf8mb4, &mut out, watch)),
    })?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// Whether an expression is TRUE or FALSE: in SQL they are 1 and 0, in JSON they are values of their own.
pub fn is_truth(expr: &Expr) -> bool {
    match &expr.node {
        Node::Literal(Value::Int(0 | 1)) => expr.ty == SqlType::INT,
        Node::Compare { .. }
        | Node::And(_)
        | Node::Or(_)
        | Node::Xor(..)
        | Node::Not(_)
        | Node::Is { .. }
        | Node::In { .. }
        | Node::Between { .. }
        | Node::Like { .. } => true,
        Node::Call { function, .. } => matches!(
            function.name,
            "is_ipv4"
                | "is_ipv4_compat"
                | "is_ipv4_mapped"
                | "is_ipv6"
                | "is_uuid"
                | "isnull"
                | "json_contains"
                | "json_contains_path"
                | "json_overlaps"
                | "json_valid"
                | "member of"
                | "regexp_like"
        ),
        Node::Subquery(subquery) => !matches!(subquery.usage, SubqueryUse::Scalar),
        _ => false,
    }
}

/// A binary string in JSON: a string that names the type of its column and has the bytes in base 64.
fn opaque(cx: &mut Context<'_>, bytes: &[u8], ty: &SqlType) -> SqlResult<Json> {
    const VARBINARY: u8 = 15;
    const BIT: u8 = 16;
    let number = match ty {
        SqlType::Bit { .. } => BIT,
        SqlType::Binary { .. } | SqlType::Blob { .. } => ty.wire_code(),
        _ => VARBINARY,
    };
    opaque_of(cx, bytes, number)
}

/// What MySQL says that the bytes of a user variable are.
const MEDIUM_BLOB: u8 = 250;

fn opaque_of(cx: &mut Context<'_>, bytes: &[u8], number: u8) -> SqlResult<Json> {
    Ok(Json::String(format!("base64:type{number}:{}", crate::func::base64::lines(cx, bytes)?)))
}

/// A SQL value as JSON. A text is a string, whatever it says; a value of type JSON is what it is.
pub fn to_json(cx: &mut Context<'_>, value: &Value, expr: &Expr) -> SqlResult<Json> {
    Ok(match value {
        Value::Null => Json::Null,
        Value::Int(number) if is_truth(expr) => Json::Bool(*number != 0),
        Value::Int(number) => Json::Int(*number),
        Value::UInt(number) => i64::try_from(*number).map_or(Json::UInt(*number), Json::Int),
        Value::Year(year) => Json::Int(i64::from(*year)),
        // What is computed of times has the microseconds that its type may not.
        Value::Decimal(number) => match expr.ty {
            SqlType::Decimal { scale, .. } if scale < number.scale() => {
                Json::Decimal(number.round(scale.into()).unwrap_or(*number))
            }
            _ => Json::Decimal(*number),
        },
        Value::Float(number) => Json::Double(f64::from(*number)),
        Value::Double(number) => Json::Double(*number),
        Value::Bytes(text) if expr.ty == SqlType::Json => {
            cx.read_json(text, Form::Normal)?.unwrap_or(Json::Null)
        }
        Value::Bytes(text) if expr.ty.is_string() && expr.ty.collation() == CollationId::BINARY => {
            match expr.node {
                Node::UserVariable(_) => opaque_of(cx, text, MEDIUM_BLOB)?,
                _ => opaque(cx, text, &expr.ty)?,
            }
        }
        Value::Bit { .. } => opaque(cx, &text_of(value, &expr.ty), &expr.ty)?,
        Value::Bytes(_) | Value::Enum(_) | Value::Set(_) => Json::String(utf8_text(cx, value, expr)?),
        Value::Date(_) => Json::String(utf8_text(cx, value, expr)?),
        // with all digits of the second, whatever the type says
        Value::Time(time) => {
            let mut text = Vec::new();
            time.format(6, &mut text);
            Json::String(String::from_utf8_lossy(&text).into_owned())
        }
        Value::DateTime(datetime) => {
            let mut text = Vec::new();
            datetime.format(6, &mut text);
            Json::String(String::from_utf8_lossy(&text).into_owned())
        }
        // expressions have converted it to a DATETIME
        Value::Timestamp(_) => Json::String(utf8_text(cx, value, expr)?),
    })
}

/// How a document is written that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As values of type JSON are.
    Normal,
    /// As clients write it.
    Any,
}

/// What reading a byte of a document counts as, in units of a nanosecond.
const UNITS_A_BYTE_READ: usize = 12;
/// What writing a byte counts as.
const UNITS_A_BYTE_WRITTEN: usize = 8;
/// Bytes that are written between two looks.
const WRITTEN_A_LOOK: usize = 1 << 12;

impl Context<'_> {
    /// Reads a document. The outer error ends the statement.
    pub fn read_json(&mut self, text: &[u8], form: Form) -> SqlResult<Result<Json, JsonError>> {
        let mut failure = None;
        let read = parse::watched(text, form == Form::Normal, &mut |bytes| {
            failure = self.checkpoint(bytes.saturating_mul(UNITS_A_BYTE_READ)).err();
            failure.is_none()
        });
        match failure {
            Some(failure) => Err(failure),
            None => Ok(read),
        }
    }

    /// The normal text of a document; `None` if it is longer than `max_allowed_packet`.
    pub fn write_json(&mut self, document: &Json) -> SqlResult<Option<Vec<u8>>> {
        self.write_json_by(|out, watch| document.write_watched(out, watch))
    }

    /// A text that is written by a function whose watch is told before each part how long the text is; `None`
    /// if it is longer than `max_allowed_packet`.
    pub fn write_json_by(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>, Watch<'_>) -> bool,
    ) -> SqlResult<Option<Vec<u8>>> {
        let limit = self.packet_limit();
        let (mut out, mut failure, mut looked_at) = (Vec::new(), None, 0);
        let is_complete = write(&mut out, &mut |length| {
            if length - looked_at > WRITTEN_A_LOOK {
                failure = self.checkpoint((length - looked_at).saturating_mul(UNITS_A_BYTE_WRITTEN)).err();
                looked_at = length;
            }
            failure.is_none() && length <= limit
        });
        match failure {
            Some(failure) => Err(failure),
            None => Ok((is_complete && out.len() <= limit).then_some(out)),
        }
    }

    /// CAST of a value of type JSON.
    pub fn cast_from_json(&mut self, text: &[u8], operand: &Expr, target: &CastTarget) -> SqlResult<Value> {
        let (scalar, ty) = self.json_scalar(text, operand, target, 1)?;
        if *target == CastTarget::Float {
            return self.cast_float(&scalar, operand);
        }
        self.cast(scalar.clone(), &Expr::literal(scalar, ty), target)
    }

    /// The SQL value that a scalar says where a `target` is wanted, in the type it has of its own. What says
    /// none is 0, or NULL where a date is wanted, with warning 3156, which names `row`.
    pub fn json_scalar(
        &mut self,
        text: &[u8],
        operand: &Expr,
        target: &CastTarget,
        row: u64,
    ) -> SqlResult<(Value, SqlType)> {
        let (kind, temporal) = match target {
            CastTarget::Signed | CastTarget::Unsigned | CastTarget::Year => ("INTEGER", false),
            CastTarget::Decimal { .. } => ("DECIMAL", false),
            CastTarget::Float | CastTarget::Double => ("DOUBLE", false),
            CastTarget::Time { .. } => ("TIME", true),
            CastTarget::DateTime { .. } | CastTarget::ComparedDate { .. } => ("DATETIME/TIMESTAMP", true),
            _ => ("DATE", true),
        };
        let invalid = || mysql_error!(ER_INVALID_JSON_VALUE_FOR_CAST, kind, "", source_name(operand), row);
        let document = self.read_json(text, Form::Normal)?;
        if temporal {
            if let Ok(Json::String(text)) = &document
                && let Some(found) = self.json_moment(text, target)?
            {
                return Ok(found);
            }
            self.warn_or_fail(invalid())?;
            return Ok((Value::Null, SqlType::Null));
        }
        Ok(match document {
            Ok(Json::Bool(value)) => (Value::Int(i64::from(value)), SqlType::INT),
            Ok(Json::Int(value)) => (Value::Int(value), SqlType::BIGINT),
            Ok(Json::UInt(value)) => (Value::UInt(value), SqlType::BIGINT_UNSIGNED),
            Ok(Json::Double(value)) => {
                let whole = -9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0;
                if kind == "INTEGER" && !whole.contains(&value) {
                    let source = source_name(operand);
                    self.warn_or_fail(mysql_error!(
                        ER_NUMERIC_JSON_VALUE_OUT_OF_RANGE,
                        kind,
                        "",
                        source,
                        row
                    ))?;
                    let nearest = if value < 0.0 { i64::MIN } else { i64::MAX };
                    return Ok((Value::Int(nearest), SqlType::BIGINT));
                }
                if kind == "DECIMAL" && Decimal::from_f64(value).is_err() {
                    let source = source_name(operand);
                    self.truncated(kind, b"1")?;
                    let beyond = mysql_error!(ER_NUMERIC_JSON_VALUE_OUT_OF_RANGE, kind, "", source, row);
                    self.warn_or_fail(beyond)?;
                    let largest = Decimal::largest(65, 0);
                    let nearest = if value < 0.0 { largest.negate() } else { largest };
                    let ty = SqlType::Decimal { precision: 65, scale: 0, unsigned: false };
                    return Ok((Value::Decimal(nearest), ty));
                }
                (Value::Double(value), SqlType::DOUBLE)
            }
            Ok(Json::Decimal(value)) => {
                let ty = SqlType::Decimal { precision: 65, scale: value.scale(), unsigned: false };
                (Value::Decimal(value), ty)
            }
            Ok(Json::String(text)) => self.json_number(&text, operand, target, row)?,
            _ => {
                self.warn_or_fail(invalid())?;
                (Value::Int(0), SqlType::BIGINT)
            }
        })
    }

    /// The date or time that a JSON string says, if it says one.
    fn json_moment(&mut self, text: &str, target: &CastTarget) -> SqlResult<Option<(Value, SqlType)>> {
        let ty = SqlType::VarChar { length: text.len() as u32, collation: super::COLLATION };
        let value = Value::bytes(text);
        // A time is written with colons, or with all digits of its date before it.
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        if matches!(target, CastTarget::Time { .. }) && !text.contains(':') && digits < 14 {
            return Ok(None);
        }
        // what is wrong with the text is told in terms of JSON
        let before = self.session.warnings.clone();
        let strict = std::mem::replace(&mut self.state.strict, false);
        let cast = self.cast(value.clone(), &Expr::literal(value, ty), target);
        self.state.strict = strict;
        let is_whole = self.session.warnings.count() == before.count();
        let cast = cast?;
        if cast.is_null() || !is_whole {
            self.session.warnings = before;
            return Ok(None);
        }
        Ok(Some((cast, target.result_type(&SqlType::Null))))
    }

    /// The number at the beginning of a JSON string, with a warning if it is not the whole.
    fn json_number(
        &mut self,
        text: &str,
        operand: &Expr,
        target: &CastTarget,
        row: u64,
    ) -> SqlResult<(Value, SqlType)> {
        let bytes = text.as_bytes();
        let integer = "INTEGER";
        let (kind, value, ty, complete, overflow) = match target {
            CastTarget::Decimal { .. } => {
                let (value, end) = Decimal::parse(bytes);
                let ty = SqlType::Decimal { precision: 65, scale: value.scale(), unsigned: false };
                ("DECIMAL", Value::Decimal(value), ty, end == ParseEnd::Complete, false)
            }
            CastTarget::Float | CastTarget::Double => {
                let parsed = number::parse_f64(bytes);
                let complete = parsed.complete || text.trim().is_empty();
                ("DOUBLE", Value::Double(parsed.value), SqlType::DOUBLE, complete, parsed.overflow)
            }
            _ if text.trim_start().starts_with('-') => {
                let parsed = number::parse_i64(bytes);
                (integer, Value::Int(parsed.value), SqlType::BIGINT, parsed.complete, parsed.overflow)
            }
            _ => {
                let parsed = number::parse_u64(bytes);
                let (complete, overflow) = (parsed.complete, parsed.overflow);
                (integer, Value::UInt(parsed.value), SqlType::BIGINT_UNSIGNED, complete, overflow)
            }
        };
        let source = source_name(operand);
        if overflow {
            self.warn_or_fail(mysql_error!(ER_NUMERIC_JSON_VALUE_OUT_OF_RANGE, kind, "", source, row))?;
        } else if !complete {
            self.warn_or_fail(mysql_error!(ER_INVALID_JSON_VALUE_FOR_CAST, kind, "", source, row))?;
        }
        Ok((value, ty))
    }

    /// Whether a value of type JSON is true: whether it differs from the number 0.
    pub fn json_truth(&self, text: &[u8]) -> bool {
        palisade_catalog::json::compare_texts(text, b"0").is_ne()
    }
}

/// The column or function that warnings say a value comes from.
fn source_name(expr: &Expr) -> String {
    match &expr.node {
        Node::Column { name, .. } => name.rsplit('.').next().unwrap_or(name).trim_matches('`').to_owned(),
        // What NULLIF gives is its first argument.
        Node::Call { function, arguments } if function.name == NULLIF => {
            arguments.first().map_or_else(String::new, source_name)
        }
        Node::Call { function, .. } => function.name.to_owned(),
        Node::Cast { .. } => "cast_as_json".to_owned(),
        _ => String::new(),
    }
}
