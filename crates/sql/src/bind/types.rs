//! Types of results: merging types, lengths of texts, conversions between character sets.

use palisade_catalog::types::{IntWidth, LobSize};
use palisade_catalog::{CollationId, SqlType};

use palisade_base::error_catalogue::{ER_M_BIGGER_THAN_D, ER_TOO_BIG_PRECISION, ER_TOO_BIG_SCALE};
use palisade_base::mysql_error;
use palisade_parser::ast::{CastCharset, CastType};

use super::compare::binary_collation;
use super::literal::charset_collation;
use super::{Binder, not_supported};
use crate::SqlResult;
use crate::expr::arithmetic::decimal_shape;
use crate::expr::compare::aggregate_collations;
use crate::expr::{CastTarget, Coercibility, Expr, Node};

/// Most characters an expression's text can have.
pub fn text_length(expr: &Expr) -> u32 {
    match &expr.ty {
        SqlType::Char { length, .. } | SqlType::VarChar { length, .. } => *length,
        SqlType::Binary { length } | SqlType::VarBinary { length } => *length,
        SqlType::Text { .. } | SqlType::Blob { .. } | SqlType::Json => expr.ty.wire_length(1),
        SqlType::Null => 0,
        other => other.wire_length(1),
    }
}

/// A text type for so many characters.
pub fn text_type(length: u64, collation: CollationId) -> SqlType {
    let binary = collation == CollationId::BINARY;
    let per_char = u64::from(collation.get().charset.max_bytes());
    match length {
        0..=65_535 if length * per_char <= 65_535 => {
            let length = length as u32;
            if binary { SqlType::VarBinary { length } } else { SqlType::VarChar { length, collation } }
        }
        _ => {
            let size = match length * per_char {
                0..=0xffff => LobSize::Normal,
                0x1_0000..=0xff_ffff => LobSize::Medium,
                _ => LobSize::Long,
            };
            if binary { SqlType::Blob { size } } else { SqlType::Text { size, collation } }
        }
    }
}

/// Wraps a text in a conversion to another character set, if it needs one.
pub fn transcode_to(argument: &mut Expr, collation: CollationId) {
    if !argument.ty.is_text() && !matches!(argument.ty, SqlType::Json) {
        return;
    }
    let (from, to) = (argument.ty.collation().get().charset, collation.get().charset);
    if from == to || to == palisade_catalog::Charset::Binary {
        return;
    }
    let ty = text_type(u64::from(text_length(argument)), collation);
    let inner = std::mem::replace(argument, Expr::null());
    let (nullable, coercibility) = (inner.nullable, inner.coercibility);
    *argument = Expr {
        node: Node::Transcode { operand: Box::new(inner), to: collation },
        ty,
        nullable,
        coercibility,
    };
}

/// A JSON value where a number is wanted: the number that it says.
pub fn json_as_number(expr: Expr) -> Expr {
    if expr.ty != SqlType::Json {
        return expr;
    }
    let nullable = expr.nullable;
    let node = Node::Cast { operand: Box::new(expr), target: CastTarget::Double };
    Expr::computed(node, SqlType::DOUBLE, nullable)
}

/// What [`merged`] finds.
#[derive(Debug, Clone)]
pub struct Merged {
    /// The type that holds all values.
    pub ty: SqlType,
    /// Whether one can be NULL.
    pub nullable: bool,
    /// How strongly the result insists on its collation.
    pub coercibility: Coercibility,
}

/// The type that can hold every argument's values: of CASE, IF, COALESCE, UNION.
pub fn merged(arguments: &[&Expr], connection: CollationId, operation: &str) -> SqlResult<Merged> {
    let nullable = arguments.iter().any(|argument| argument.nullable);
    let types: Vec<SqlType> = arguments
        .iter()
        .map(|argument| argument.ty.clone())
        .filter(|ty| !matches!(ty, SqlType::Null))
        .collect();
    let Some(first) = types.first() else {
        return Ok(Merged { ty: SqlType::Null, nullable: true, coercibility: Coercibility::Null });
    };
    let mut ty = first.clone();
    for next in &types[1..] {
        ty = merge_types(&ty, next, connection);
    }
    if !ty.is_string() || matches!(ty, SqlType::Json) {
        return Ok(Merged { ty, nullable, coercibility: Coercibility::Numeric });
    }
    // Text: the collation comes from the operands that are text.
    let (collation, coercibility) = {
        match aggregate_collations(arguments, operation)? {
            (_, Coercibility::Numeric) => (connection, Coercibility::Literal),
            found => found,
        }
    };
    let ty = match ty {
        SqlType::Enum { .. } | SqlType::Set { .. } if types.len() == 1 => ty,
        SqlType::Text { size, .. } if collation != CollationId::BINARY => SqlType::Text { size, collation },
        SqlType::Text { size, .. } | SqlType::Blob { size } => {
            if collation == CollationId::BINARY {
                SqlType::Blob { size }
            } else {
                SqlType::Text { size, collation }
            }
        }
        SqlType::Char { length, .. } if collation != CollationId::BINARY => {
            SqlType::Char { length, collation }
        }
        other => {
            let length = arguments.iter().map(|argument| text_length(argument)).max().unwrap_or(0);
            let _ = other;
            text_type(u64::from(length), collation)
        }
    };
    Ok(Merged { ty, nullable, coercibility })
}

/// The narrowest type that holds the values of both.
pub fn merge_types(left: &SqlType, right: &SqlType, connection: CollationId) -> SqlType {
    if left == right {
        return left.clone();
    }
    match (left, right) {
        (SqlType::Null, other) | (other, SqlType::Null) => other.clone(),
        (SqlType::Int { width: l, unsigned: lu }, SqlType::Int { width: r, unsigned: ru }) => {
            if lu == ru {
                SqlType::Int { width: *l.max(r), unsigned: *lu }
            } else {
                let (signed, unsigned) = if *lu { (r, l) } else { (l, r) };
                let needed = match unsigned {
                    IntWidth::Tiny => IntWidth::Small,
                    IntWidth::Small => IntWidth::Medium,
                    IntWidth::Medium => IntWidth::Int,
                    IntWidth::Int => IntWidth::Big,
                    IntWidth::Big => return SqlType::Decimal { precision: 20, scale: 0, unsigned: false },
                };
                SqlType::Int { width: *signed.max(&needed), unsigned: false }
            }
        }
        (SqlType::Bit { width: l }, SqlType::Bit { width: r }) => SqlType::Bit { width: *l.max(r) },
        (l, r) if l.is_numeric() && r.is_numeric() => {
            let float = |ty: &SqlType| matches!(ty, SqlType::Float { .. } | SqlType::Double { .. });
            if float(l) || float(r) {
                return SqlType::DOUBLE;
            }
            if let (
                SqlType::Year | SqlType::Bit { .. } | SqlType::Int { .. },
                SqlType::Year | SqlType::Bit { .. } | SqlType::Int { .. },
            ) = (l, r)
            {
                return SqlType::BIGINT;
            }
            let ((lp, ls), (rp, rs)) = (decimal_shape(l), decimal_shape(r));
            let scale = ls.max(rs);
            let integer = (lp - ls.min(lp)).max(rp - rs.min(rp));
            SqlType::Decimal {
                precision: (integer + scale).clamp(1, 65),
                scale,
                unsigned: l.is_unsigned() && r.is_unsigned(),
            }
        }
        (l, r) if l.is_temporal() && r.is_temporal() => match (l, r) {
            (SqlType::Time { fsp: a }, SqlType::Time { fsp: b }) => SqlType::Time { fsp: *a.max(b) },
            (l, r) => {
                let fsp = SqlType::fraction_digits;
                SqlType::DateTime { fsp: fsp(l).max(fsp(r)) }
            }
        },
        (SqlType::Json, SqlType::Json) => SqlType::Json,
        (l, r) => {
            let lob = |ty: &SqlType| match ty {
                SqlType::Text { size, .. } | SqlType::Blob { size } => Some(*size),
                SqlType::Json => Some(LobSize::Long),
                _ => None,
            };
            let binary = |ty: &SqlType| {
                matches!(ty, SqlType::Binary { .. } | SqlType::VarBinary { .. } | SqlType::Blob { .. })
            };
            let collation = if binary(l) || binary(r) {
                CollationId::BINARY
            } else if l.is_text() {
                l.collation()
            } else if r.is_text() {
                r.collation()
            } else {
                connection
            };
            match (lob(l), lob(r)) {
                (None, None) => {
                    let length = |ty: &SqlType| match ty {
                        SqlType::Char { length, .. } | SqlType::VarChar { length, .. } => *length,
                        other => other.wire_length(1),
                    };
                    text_type(u64::from(length(l).max(length(r))), collation)
                }
                (a, b) => {
                    let size = a.max(b).unwrap_or(LobSize::Normal);
                    if collation == CollationId::BINARY {
                        SqlType::Blob { size }
                    } else {
                        SqlType::Text { size, collation }
                    }
                }
            }
        }
    }
}

impl Binder<'_> {
    /// What CAST casts to.
    pub fn cast_target(&self, target: &CastType) -> SqlResult<CastTarget> {
        let digits = |fsp: &Option<u8>, name: &str| match fsp.unwrap_or(0) {
            fsp @ 0..=6 => Ok(fsp),
            fsp => Err(mysql_error!(ER_TOO_BIG_PRECISION, fsp, name, 6)),
        };
        Ok(match target {
            CastType::Binary(length) => CastTarget::Binary { length: *length },
            CastType::Char { length, charset } => {
                let collation = match charset {
                    None => self.session.variables.collation_connection,
                    Some(CastCharset::Named(name)) => charset_collation(name)?,
                    Some(CastCharset::BinaryCollation) => {
                        binary_collation(self.session.variables.collation_connection)
                    }
                };
                if collation == CollationId::BINARY {
                    CastTarget::Binary { length: *length }
                } else {
                    CastTarget::Char { length: *length, collation }
                }
            }
            CastType::Signed => CastTarget::Signed,
            CastType::Unsigned => CastTarget::Unsigned,
            CastType::Date => CastTarget::Date,
            CastType::Time(fsp) => CastTarget::Time { fsp: digits(fsp, "CAST")? },
            CastType::DateTime(fsp) => CastTarget::DateTime { fsp: digits(fsp, "CAST")? },
            CastType::Year => CastTarget::Year,
            CastType::Decimal(0, 0) => CastTarget::Decimal { precision: 10, scale: 0 },
            CastType::Decimal(precision, scale) => {
                let precision = if *precision == 0 { 10 } else { *precision };
                if precision > 65 {
                    return Err(mysql_error!(ER_TOO_BIG_PRECISION, precision, "CAST", 65));
                }
                if *scale > 30 {
                    return Err(mysql_error!(ER_TOO_BIG_SCALE, scale, "CAST", 30));
                }
                if *scale > precision {
                    return Err(mysql_error!(ER_M_BIGGER_THAN_D, ""));
                }
                CastTarget::Decimal { precision: precision as u8, scale: *scale as u8 }
            }
            CastType::Float => CastTarget::Float,
            CastType::Double => CastTarget::Double,
            CastType::Real if self.session.variables.sql_mode.has(crate::mode::SqlMode::REAL_AS_FLOAT) => {
                CastTarget::Float
            }
            CastType::Real => CastTarget::Double,
            CastType::Json => CastTarget::Json,
            CastType::Geometry(name) => return Err(not_supported(name)),
        })
    }
}
