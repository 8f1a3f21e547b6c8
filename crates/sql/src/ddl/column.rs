//! Columns: from a column definition to a [`Column`] of the catalog.

use palisade_base::error_catalogue::{
    ER_BLOB_CANT_HAVE_DEFAULT, ER_INVALID_DEFAULT, ER_INVALID_ON_UPDATE, ER_PRIMARY_CANT_HAVE_NULL,
    ER_TOO_LONG_FIELD_COMMENT, ER_TOO_LONG_IDENT, ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN,
    ER_WRONG_COLUMN_NAME, ER_WRONG_FIELD_SPEC, ER_WRONG_USAGE,
};
use palisade_base::mysql_error;
use palisade_catalog::descriptor::{Column, DefaultValue, Generated, ROW_ID_COLUMN, Visibility};
use palisade_catalog::store::{StoreContext, coerce};
use palisade_catalog::temporal::TemporalMode;
use palisade_catalog::{CollationId, Decimal, SqlType, Value};
use palisade_expr::mode::SqlMode;
use palisade_parser::ast::{
    CheckConstraint, ColumnAttribute, ColumnDefault, ColumnDefinition, Expr, Literal, TypeKind, UnaryOp,
};

use super::{Definer, attribute, types, unsupported};
use crate::SqlResult;

/// Longest name of anything.
pub const LONGEST_NAME: usize = 64;

/// A column, and which keys its own attributes ask for.
#[derive(Debug, Clone)]
pub struct DefinedColumn {
    /// The column; its ordinal is still to be given.
    pub column: Column,
    /// PRIMARY KEY.
    pub primary: bool,
    /// UNIQUE.
    pub unique: bool,
    /// Declared NULL, which a primary key column must not be.
    pub explicitly_null: bool,
    /// CHECK.
    pub checks: Vec<CheckConstraint>,
}

/// Checks an identifier's length.
pub fn check_name(name: &str) -> SqlResult<()> {
    if name.chars().count() > LONGEST_NAME {
        return Err(mysql_error!(ER_TOO_LONG_IDENT, name));
    }
    Ok(())
}

/// Names that InnoDB gives to columns of its own.
const RESERVED_COLUMNS: [&str; 3] = [ROW_ID_COLUMN, "DB_TRX_ID", "DB_ROLL_PTR"];

/// Whether a column may be called `name`.
pub fn check_column_name(name: &str) -> SqlResult<()> {
    check_name(name)?;
    let is_reserved = RESERVED_COLUMNS.iter().any(|reserved| reserved.eq_ignore_ascii_case(name));
    if name.is_empty() || name.ends_with(' ') || is_reserved {
        return Err(mysql_error!(ER_WRONG_COLUMN_NAME, name));
    }
    Ok(())
}

/// Defines a column of a table with default collation `inherited`.
pub fn define(
    definer: &mut Definer<'_>,
    definition: &ColumnDefinition,
    inherited: CollationId,
) -> SqlResult<DefinedColumn> {
    let name = &definition.name;
    check_column_name(name)?;
    let mut data_type = definition.data_type.clone();
    for attribute in &definition.attributes {
        if let ColumnAttribute::Collate(collation) = attribute {
            data_type.collation = Some(collation.clone());
        }
    }
    let declared = types::declared(name, &data_type, inherited, definer.client_collation)?;
    let mut column = Column::new(name.clone(), declared.sql_type, 0);
    column.zerofill = declared.zerofill;
    column.names_collation = data_type.charset.is_some() || data_type.collation.is_some();
    column.display_width = declared.display_width;
    let mut defined =
        DefinedColumn { column, primary: false, unique: false, explicitly_null: false, checks: Vec::new() };
    if data_type.kind == TypeKind::Serial {
        serial(&mut defined);
    }
    let mut default = None;
    for attribute in &definition.attributes {
        match attribute {
            ColumnAttribute::Null => (defined.column.nullable, defined.explicitly_null) = (true, true),
            ColumnAttribute::NotNull => (defined.column.nullable, defined.explicitly_null) = (false, false),
            ColumnAttribute::Default(value) => default = Some(value),
            ColumnAttribute::OnUpdateNow(digits) => on_update(&mut defined.column, *digits)?,
            ColumnAttribute::AutoIncrement => auto_increment(&mut defined.column)?,
            ColumnAttribute::SerialDefaultValue => serial(&mut defined),
            ColumnAttribute::PrimaryKey => defined.primary = true,
            ColumnAttribute::Unique => defined.unique = true,
            ColumnAttribute::Comment(text) => defined.column.comment = comment(name, text)?,
            ColumnAttribute::Visible => defined.column.visibility = Visibility::Visible,
            ColumnAttribute::Invisible => defined.column.visibility = Visibility::Invisible,
            ColumnAttribute::Check(check) => defined.checks.push(check.clone()),
            // collations were seen above; MySQL parses the others and ignores them, too
            ColumnAttribute::Collate(_)
            | ColumnAttribute::ColumnFormat(_)
            | ColumnAttribute::Storage(_)
            | ColumnAttribute::Srid(_) => {}
            ColumnAttribute::EngineAttribute(text) => attribute::refuse(text)?,
            ColumnAttribute::SecondaryEngineAttribute(text) => attribute::check(text)?,
        }
    }
    if defined.primary {
        if defined.explicitly_null {
            return Err(mysql_error!(ER_PRIMARY_CANT_HAVE_NULL));
        }
        defined.column.nullable = false;
    }
    if let Some(generated) = &definition.generated {
        let usage = |what: &str| Err(mysql_error!(ER_WRONG_USAGE, what, "generated column"));
        if default.is_some() {
            return usage("DEFAULT");
        }
        if defined.column.on_update_now {
            return usage("ON UPDATE");
        }
        if defined.column.auto_increment {
            return usage("AUTO_INCREMENT");
        }
        if defined.primary && !generated.stored {
            let what = "Defining a virtual generated column as primary key";
            return Err(mysql_error!(ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN, what));
        }
        // the expression is read when all columns are known
        let kept = Generated { expression: String::new(), stored: generated.stored };
        defined.column.generated = Some(kept);
    }
    if let Some(default) = default {
        set_default(definer, &mut defined.column, default)?;
    }
    Ok(defined)
}

fn serial(defined: &mut DefinedColumn) {
    defined.column.nullable = false;
    defined.column.auto_increment = true;
    defined.unique = true;
}

fn comment(name: &str, text: &[u8]) -> SqlResult<String> {
    let comment = String::from_utf8_lossy(text).into_owned();
    if comment.chars().count() > 1024 {
        return Err(mysql_error!(ER_TOO_LONG_FIELD_COMMENT, name, 1024));
    }
    Ok(comment)
}

fn auto_increment(column: &mut Column) -> SqlResult<()> {
    let fits =
        matches!(column.sql_type, SqlType::Int { .. } | SqlType::Float { .. } | SqlType::Double { .. });
    if !fits {
        return Err(mysql_error!(ER_WRONG_FIELD_SPEC, column.name));
    }
    if !matches!(column.sql_type, SqlType::Int { .. }) {
        return unsupported("AUTO_INCREMENT of a FLOAT or DOUBLE column");
    }
    column.auto_increment = true;
    column.nullable = false;
    Ok(())
}

fn fraction_digits(ty: &SqlType) -> Option<u8> {
    match ty {
        SqlType::DateTime { fsp } | SqlType::Timestamp { fsp } => Some(*fsp),
        _ => None,
    }
}

fn on_update(column: &mut Column, digits: u8) -> SqlResult<()> {
    if fraction_digits(&column.sql_type) != Some(digits) {
        return Err(mysql_error!(ER_INVALID_ON_UPDATE, column.name));
    }
    column.on_update_now = true;
    Ok(())
}

/// Gives `column` a default value: 1067 if it has no such value.
pub fn set_default(definer: &mut Definer<'_>, column: &mut Column, default: &ColumnDefault) -> SqlResult<()> {
    if column.generated.is_some() {
        return Err(mysql_error!(ER_WRONG_USAGE, "DEFAULT", "generated column"));
    }
    let invalid = || mysql_error!(ER_INVALID_DEFAULT, column.name);
    let value = match default {
        ColumnDefault::Now(digits) => {
            if fraction_digits(&column.sql_type) != Some(*digits) {
                return Err(invalid());
            }
            DefaultValue::CurrentTimestamp
        }
        ColumnDefault::Expr(_) if column.auto_increment => return Err(invalid()),
        ColumnDefault::Expr(expr) => DefaultValue::Expression(expr.to_string()),
        ColumnDefault::Literal(expr) => {
            let (value, ty) = literal(expr, definer.client_collation).ok_or_else(invalid)?;
            if value.is_null() {
                if !column.nullable {
                    return Err(invalid());
                }
                DefaultValue::Literal(Value::Null)
            } else if matches!(column.sql_type, SqlType::Text { .. } | SqlType::Blob { .. })
                && !definer.mode.is_strict()
                && value == Value::bytes("")
            {
                definer.warnings.push(mysql_error!(ER_BLOB_CANT_HAVE_DEFAULT, column.name));
                DefaultValue::None
            } else if column.sql_type.is_lob() {
                return Err(mysql_error!(ER_BLOB_CANT_HAVE_DEFAULT, column.name));
            } else if column.auto_increment {
                return Err(invalid());
            } else {
                let stored = coerce(value.as_ref(), column, &definer.store_context(&ty), &mut |_| {});
                DefaultValue::Literal(stored.map_err(|_| invalid())?)
            }
        }
    };
    column.default = value;
    Ok(())
}

/// The value of a literal, maybe signed, and its type.
fn literal(expr: &Expr, client: CollationId) -> Option<(Value, SqlType)> {
    match expr {
        Expr::Unary(UnaryOp::Plus, operand) => literal(operand, client),
        Expr::Unary(UnaryOp::Minus, operand) => {
            let (value, ty) = literal(operand, client)?;
            let negated = match value {
                Value::Int(value) => Value::Int(value.checked_neg()?),
                Value::UInt(value) => Value::Int(0i64.checked_sub_unsigned(value)?),
                Value::Decimal(value) => Value::Decimal(value.negate()),
                Value::Double(value) => Value::Double(-value),
                _ => return None,
            };
            Some((negated, ty))
        }
        Expr::Literal(literal) => constant(literal, client),
        _ => None,
    }
}

fn constant(literal: &Literal, client: CollationId) -> Option<(Value, SqlType)> {
    let text_of = |text: &[u8], collation| {
        let length = text.len() as u32;
        let ty = match collation {
            CollationId::BINARY => SqlType::VarBinary { length },
            _ => SqlType::VarChar { length, collation },
        };
        Some((Value::bytes(text), ty))
    };
    Some(match literal {
        Literal::Null => (Value::Null, SqlType::Null),
        Literal::Bool(value) => (Value::Int(i64::from(*value)), SqlType::BIGINT),
        Literal::Integer(value) => match i64::try_from(*value) {
            Ok(value) => (Value::Int(value), SqlType::BIGINT),
            Err(_) => (Value::UInt(*value), SqlType::BIGINT_UNSIGNED),
        },
        Literal::Decimal(text) => {
            let decimal = Decimal::parse(text.as_bytes()).0;
            let ty = SqlType::Decimal { precision: 65, scale: decimal.scale(), unsigned: false };
            (Value::Decimal(decimal), ty)
        }
        Literal::Double(value, _) => (Value::Double(*value), SqlType::DOUBLE),
        Literal::String(text) => {
            let collation = match &text.charset {
                Some(name) => types::collation_of(Some(name), None, client).ok()?,
                None => client,
            };
            return text_of(&text.value, collation);
        }
        Literal::Hex(bytes, _) => return text_of(bytes, CollationId::BINARY),
        // as a number: DEFAULT b'101' suits BIT and integer columns alike
        Literal::Bit(bytes, _) => {
            let significant = bytes.iter().skip(bytes.len().saturating_sub(8));
            let bits = significant.fold(0, |bits, byte| bits << 8 | u64::from(*byte));
            (Value::UInt(bits), SqlType::BIGINT_UNSIGNED)
        }
        Literal::Temporal(_, text) => return text_of(text, client),
    })
}

impl Definer<'_> {
    /// How default values and existing rows are stored: strictly, whatever the session's mode. `source` is the
    /// values' type.
    pub fn store_context<'a>(&'a self, source: &'a SqlType) -> StoreContext<'a> {
        let mode = self.mode;
        StoreContext {
            strict: true,
            strict_mode: true,
            temporal: TemporalMode {
                no_zero_date: mode.has(SqlMode::NO_ZERO_DATE),
                no_zero_in_date: mode.has(SqlMode::NO_ZERO_IN_DATE),
                allow_invalid_dates: mode.has(SqlMode::ALLOW_INVALID_DATES),
                truncate_fractional: mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL),
            },
            zone: &self.zone,
            began: self.began,
            source,
        }
    }
}
