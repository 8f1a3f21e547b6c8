//! Constants as they were written, with the types MySQL gives them.

use palisade_base::error_catalogue::{ER_ILLEGAL_VALUE_FOR_TYPE, ER_WRONG_VALUE};
use palisade_base::mysql_error;
use palisade_catalog::{Charset, Collation, CollationId, Date, DateTime, Decimal, SqlType, Time, Value};
use palisade_expr::mode::SqlMode;
use palisade_expr::{Coercibility, Expr, Node, SqlResult};
use palisade_parser::ast::{Literal, TemporalKind};

use super::Binder;

impl Binder<'_> {
    /// A literal as an expression.
    pub fn literal(&mut self, literal: &Literal) -> SqlResult<Expr> {
        Ok(match literal {
            Literal::Null => Expr::null(),
            Literal::Bool(value) => Expr::literal(
                Value::Int(i64::from(*value)),
                SqlType::Int { width: palisade_catalog::types::IntWidth::Int, unsigned: false },
            ),
            Literal::Integer(value) => match i64::try_from(*value) {
                Ok(value) => Expr::int(value),
                Err(_) => Expr::literal(Value::UInt(*value), SqlType::BIGINT_UNSIGNED),
            },
            Literal::Decimal(text) => {
                let (decimal, _) = Decimal::parse(text.as_bytes());
                let scale = decimal.scale();
                let precision = (decimal.integer_digits() + scale).max(1);
                Expr::literal(Value::Decimal(decimal), SqlType::Decimal { precision, scale, unsigned: false })
            }
            Literal::Double(value, text) if !value.is_finite() => {
                return Err(mysql_error!(ER_ILLEGAL_VALUE_FOR_TYPE, "double", text));
            }
            Literal::Double(value, _) => Expr::literal(Value::Double(*value), SqlType::DOUBLE),
            Literal::String(string) => {
                let connection = self.collation_connection();
                let (bytes, collation) = match &string.charset {
                    Some(charset) => (string.value.clone(), charset_collation(charset)?),
                    None => {
                        let client = self.character_set_client().get().charset;
                        let charset = connection.get().charset;
                        let mut bytes = string.value.clone();
                        if !client.has_the_bytes_of(charset, &bytes) {
                            bytes.clear();
                            palisade_catalog::charset::convert(&string.value, client, charset, &mut bytes);
                        }
                        (bytes, connection)
                    }
                };
                text_literal(bytes, collation)
            }
            Literal::Hex(bytes, Some(charset)) | Literal::Bit(bytes, Some(charset)) => {
                text_literal(bytes.clone(), charset_collation(charset)?)
            }
            Literal::Hex(bytes, None) => binary_literal(bytes, false),
            Literal::Bit(bytes, None) => binary_literal(bytes, true),
            Literal::Temporal(kind, text) => self.temporal_literal(*kind, text)?,
        })
    }

    fn temporal_literal(&mut self, kind: TemporalKind, text: &[u8]) -> SqlResult<Expr> {
        let mode = self.session.variables.sql_mode;
        let reading = palisade_catalog::temporal::TemporalMode {
            no_zero_date: mode.has(SqlMode::NO_ZERO_DATE),
            no_zero_in_date: mode.has(SqlMode::NO_ZERO_IN_DATE),
            allow_invalid_dates: mode.has(SqlMode::ALLOW_INVALID_DATES),
            truncate_fractional: mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL),
        };
        let fsp = text.iter().rposition(|byte| *byte == b'.').map_or(0, |point| {
            text.iter().skip(point + 1).take_while(|b| b.is_ascii_digit()).count().min(6) as u8
        });
        let wrong = |name: &str| mysql_error!(ER_WRONG_VALUE, name, String::from_utf8_lossy(text));
        Ok(match kind {
            TemporalKind::Date => match Date::parse(text, reading) {
                Some(parsed) if !parsed.truncated && !DateTime::has_clock(text) => {
                    Expr::literal(Value::Date(parsed.value), SqlType::Date)
                }
                _ => return Err(wrong("DATE")),
            },
            // A literal is rounded to microseconds in every mode.
            TemporalKind::Time => match Time::parse_clock(text, Default::default()) {
                Some(parsed) if !parsed.truncated => {
                    Expr::literal(Value::Time(parsed.value), SqlType::Time { fsp })
                }
                _ => return Err(wrong("TIME")),
            },
            TemporalKind::Timestamp => match DateTime::parse(text, reading) {
                Some((parsed, offset)) if !parsed.truncated && DateTime::has_clock(text) => {
                    let local = match offset {
                        Some(seconds) => {
                            // It is another one in another zone.
                            self.cacheable = false;
                            self.session.variables.time_zone.at_offset(parsed.value, seconds)
                        }
                        None => parsed.value,
                    };
                    Expr::literal(Value::DateTime(local), SqlType::DateTime { fsp })
                }
                _ => return Err(wrong("DATETIME")),
            },
        })
    }
}

/// The default collation of a character set: 1115 if there is none of that name.
pub fn charset_collation(name: &str) -> SqlResult<CollationId> {
    match Charset::by_name(name) {
        Some(charset) => Ok(Collation::default_of(charset).id),
        None => Err(palisade_expr::error::unknown_charset(name)),
    }
}

/// `x'41'` or `b'1000001'`: a binary string wherever a string is wanted, its bits where a number is. So its
/// type is a string's, and its value a BIT's. One of more than 64 bits, or of none, is a string only. That it
/// is written in bits is known by a width that is no whole number of bytes: it is a signed number then.
fn binary_literal(bytes: &[u8], in_bits: bool) -> Expr {
    let text = text_literal(bytes.to_vec(), CollationId::BINARY);
    if bytes.is_empty() || bytes.len() > 8 {
        return text;
    }
    let bits = bytes.iter().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
    let width = bytes.len() as u8 * 8 - u8::from(in_bits);
    Expr { node: Node::Literal(Value::Bit { bits, width }), ..text }
}

/// A string literal.
pub fn text_literal(bytes: Vec<u8>, collation: CollationId) -> Expr {
    let length = collation.get().charset.char_count(&bytes) as u32;
    let ty = if collation == CollationId::BINARY {
        SqlType::VarBinary { length: bytes.len() as u32 }
    } else {
        SqlType::VarChar { length, collation }
    };
    Expr { coercibility: Coercibility::Literal, ..Expr::literal(Value::bytes(bytes), ty) }
}
