//! Expressions that a definition keeps as text: conditions of CHECK constraints, values of generated columns, default values.
//!
//! The text is what SHOW CREATE TABLE prints: names without their table, strings with their character set, so that it
//! means the same whoever reads it. What would not - variables, queries, functions of the moment - is refused here. A default
//! value is computed once, when the row is made, so it may be of that moment: NOW(), UUID(), RAND(); but not wait, nor tell
//! of the session's last statement.

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::TableDef;
use palisade_catalog::descriptor::{Check, DefaultValue, Generated};
use palisade_expr::func::absent::is_not_yet;
use palisade_expr::func::{Function, Purity};
use palisade_expr::place::At;
use palisade_parser::ast::{self, CheckConstraint, Expr, Literal};
use palisade_plan::bind::quoted;
use palisade_plan::bind::row_rules::parse_expression;

use super::{Definer, unsupported};
use crate::SqlResult;

/// What an expression is for.
#[derive(Clone, Copy)]
enum Role<'a> {
    /// The condition of the CHECK constraint of this name, and of the only column it may read.
    Check { name: &'a str, only: Option<&'a str> },
    /// The value of the column at this place.
    Generated { place: usize },
    /// The default value of the column at this place.
    Default { place: usize },
}

/// Functions that depend on more than their arguments, or do more than give a value, and may not be in a default value either.
const NOT_IN_DEFAULTS: &[&str] = &[
    "benchmark",
    "found_rows",
    "get_lock",
    "is_free_lock",
    "is_used_lock",
    "last_insert_id",
    "release_all_locks",
    "release_lock",
    "row_count",
    "sleep",
    "version",
];

/// Functions whose value is a truth.
const TRUTHS: &[&str] = &[
    "is_ipv4",
    "is_ipv4_compat",
    "is_ipv4_mapped",
    "is_ipv6",
    "is_uuid",
    "isnull",
    "json_contains",
    "json_contains_path",
    "json_overlaps",
    "json_valid",
    "regexp_like",
    "strcmp",
];

impl Role<'_> {
    fn query(self, def: &TableDef) -> SqlResult<()> {
        Err(match self {
            Role::Check { name, .. } => mysql_error!(ER_CHECK_CONSTRAINT_FUNCTION_IS_NOT_ALLOWED, name),
            Role::Generated { place } => {
                mysql_error!(ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED, def.columns.at(place)?.name)
            }
            Role::Default { place } => {
                mysql_error!(ER_DEFAULT_VAL_GENERATED_FUNCTION_IS_NOT_ALLOWED, def.columns.at(place)?.name)
            }
        })
    }

    fn function(self, def: &TableDef, function: &str) -> SqlResult<()> {
        Err(match self {
            Role::Check { name, .. } => {
                mysql_error!(ER_CHECK_CONSTRAINT_NAMED_FUNCTION_IS_NOT_ALLOWED, name, function)
            }
            Role::Generated { place } => {
                let column = &def.columns.at(place)?.name;
                mysql_error!(ER_GENERATED_COLUMN_NAMED_FUNCTION_IS_NOT_ALLOWED, column, function)
            }
            Role::Default { place } => {
                let column = &def.columns.at(place)?.name;
                mysql_error!(ER_DEFAULT_VAL_GENERATED_NAMED_FUNCTION_IS_NOT_ALLOWED, column, function)
            }
        })
    }

    fn variable(self, def: &TableDef) -> SqlResult<()> {
        Err(match self {
            Role::Check { name, .. } => mysql_error!(ER_CHECK_CONSTRAINT_VARIABLES, name),
            Role::Generated { place } | Role::Default { place } => {
                mysql_error!(ER_DEFAULT_VAL_GENERATED_VARIABLES, def.columns.at(place)?.name)
            }
        })
    }

    fn check_column(self, def: &TableDef, column: &str) -> SqlResult<()> {
        let found = def.column_index(column).filter(|place| Some(*place) != def.row_id_column());
        match self {
            Role::Check { name, only } => {
                let unknown = || mysql_error!(ER_CHECK_CONSTRAINT_REFERS_UNKNOWN_COLUMN, name, column);
                let known = def.columns.at(found.ok_or_else(unknown)?)?;
                if only.is_some_and(|only| !only.eq_ignore_ascii_case(&known.name)) {
                    return Err(mysql_error!(ER_COLUMN_CHECK_CONSTRAINT_REFERENCES_OTHER_COLUMN, name));
                }
                if known.auto_increment {
                    return Err(mysql_error!(ER_CHECK_CONSTRAINT_REFERS_AUTO_INCREMENT_COLUMN, name));
                }
            }
            Role::Generated { place } => {
                let unknown = || mysql_error!(ER_BAD_FIELD_ERROR, column, "generated column function");
                let found = found.ok_or_else(unknown)?;
                if def.columns.at(found)?.generated.is_some() && found >= place {
                    return Err(mysql_error!(ER_GENERATED_COLUMN_NON_PRIOR));
                }
                if def.columns.at(found)?.auto_increment {
                    return Err(mysql_error!(ER_GENERATED_COLUMN_REF_AUTO_INC, def.columns.at(place)?.name));
                }
            }
            Role::Default { place } => {
                let unknown = || mysql_error!(ER_BAD_FIELD_ERROR, column, "default value expression");
                let found = found.ok_or_else(unknown)?;
                let (own, read) = (def.columns.at(place)?, def.columns.at(found)?);
                let is_computed =
                    read.generated.is_some() || matches!(read.default, DefaultValue::Expression(_));
                if is_computed && found >= place {
                    return Err(mysql_error!(ER_DEFAULT_VAL_GENERATED_NON_PRIOR, own.name));
                }
                if read.auto_increment {
                    return Err(mysql_error!(ER_DEFAULT_VAL_GENERATED_REF_AUTO_INC, own.name));
                }
            }
        }
        Ok(())
    }

    /// Whether a call of a function may be part of it.
    fn allows(self, function: &Function, arguments: usize) -> bool {
        let is_now = function.name == "unix_timestamp" && arguments == 0;
        match self {
            Role::Default { .. } => !NOT_IN_DEFAULTS.contains(&function.name),
            // MySQL forgets these two
            Role::Check { .. } if matches!(function.name, "sysdate" | "random_bytes") => true,
            Role::Check { .. } | Role::Generated { .. } => function.purity == Purity::Pure && !is_now,
        }
    }
}

/// A function as errors name it.
fn refused_name(name: &'static str) -> &'static str {
    match name {
        "session_user" | "system_user" => "user",
        "version" => "version()",
        name => name,
    }
}

/// Whether an expression says something true or false by its form: the condition of a CHECK constraint must.
fn is_truth(expr: &Expr) -> bool {
    use ast::BinaryOp::*;
    match expr {
        Expr::Literal(Literal::Bool(_))
        | Expr::Unary(ast::UnaryOp::Not, _)
        | Expr::And(_)
        | Expr::Or(_)
        | Expr::Is { .. }
        | Expr::InList { .. }
        | Expr::InSubquery { .. }
        | Expr::Exists(_)
        | Expr::Quantified(..)
        | Expr::Between(_)
        | Expr::Like(_)
        | Expr::Regexp { .. }
        | Expr::SoundsLike(..)
        | Expr::MemberOf(..) => true,
        Expr::Binary(op, ..) => {
            matches!(op, Xor | Equal | NullSafeEqual | NotEqual | Less | LessEqual | Greater | GreaterEqual)
        }
        Expr::Function(function) => {
            function.schema.is_none() && TRUTHS.contains(&function.name.to_ascii_lowercase().as_str())
        }
        _ => false,
    }
}

/// A function that is not built in, as errors name it.
fn unknown(function: &ast::Function) -> String {
    match &function.schema {
        Some(schema) => format!("{}.{}", quoted(schema), quoted(&function.name)),
        None if is_not_yet(&function.name.to_ascii_lowercase()) => function.name.to_ascii_lowercase(),
        None => quoted(&function.name),
    }
}

/// The text to keep of an expression over the columns of `def`.
fn text_of(definer: &Definer<'_>, def: &TableDef, expr: &Expr, role: Role<'_>) -> SqlResult<String> {
    match (role, expr) {
        (Role::Check { name, .. }, expr) if !is_truth(expr) => {
            return Err(mysql_error!(ER_NON_BOOLEAN_EXPR_FOR_CHECK_CONSTRAINT, name));
        }
        (Role::Generated { place }, Expr::Row(_)) => {
            return Err(mysql_error!(ER_GENERATED_COLUMN_ROW_VALUE, def.columns.at(place)?.name));
        }
        (Role::Default { place }, Expr::Row(_)) => {
            return Err(mysql_error!(ER_DEFAULT_VAL_GENERATED_ROW_VALUE, def.columns.at(place)?.name));
        }
        _ => {}
    }
    let charset = definer.client_collation.get().charset.name();
    let mut kept = expr.clone();
    let mut refused = None;
    kept.walk_mut(&mut |expr| {
        let result = match expr {
            Expr::Literal(Literal::String(text)) => {
                text.charset.get_or_insert_with(|| charset.to_owned());
                Ok(())
            }
            Expr::Column(column) => {
                (column.schema, column.table) = (None, None);
                role.check_column(def, &column.column)
            }
            Expr::JsonPath { column, .. } => role.check_column(def, &column.column),
            Expr::UserVariable(_) | Expr::SystemVariable(_) | Expr::AssignUserVariable(..) => {
                role.variable(def)
            }
            Expr::Aggregate(_) | Expr::WindowFunction(_) => Err(mysql_error!(ER_INVALID_GROUP_FUNC_USE)),
            Expr::Values(_) => role.function(def, "values"),
            Expr::DefaultOf(_) => unsupported("DEFAULT() in a definition"),
            Expr::Placeholder(_) | Expr::Default | Expr::Match(_) => role.query(def),
            Expr::Function(function) => {
                let known = palisade_expr::func::find(&function.name).filter(|_| function.schema.is_none());
                match known {
                    Some(known) if role.allows(known, function.arguments.len()) => Ok(()),
                    Some(known) => role.function(def, refused_name(known.name)),
                    None => role.function(def, &unknown(function)),
                }
            }
            other if other.has_query() => role.query(def),
            _ => Ok(()),
        };
        if let Err(error) = result {
            refused.get_or_insert(error);
        }
    });
    match refused {
        Some(error) => Err(error),
        None => Ok(kept.to_string()),
    }
}

/// The generated column at `place`, whose expression is `expr`.
pub fn generated(
    definer: &Definer<'_>,
    def: &TableDef,
    place: usize,
    expr: &Expr,
    stored: bool,
) -> SqlResult<Generated> {
    Ok(Generated { expression: text_of(definer, def, expr, Role::Generated { place })?, stored })
}

/// Reads the default values of `def`'s columns that are expressions; all columns must be known.
pub fn read_defaults(definer: &Definer<'_>, def: &mut TableDef) -> SqlResult<()> {
    for place in 0..def.columns.len() {
        let DefaultValue::Expression(text) = &def.columns.at(place)?.default else { continue };
        let expr = parse_expression(text)?;
        let kept = text_of(definer, def, &expr, Role::Default { place })?;
        def.columns.at_mut(place)?.default = DefaultValue::Expression(kept);
    }
    Ok(())
}

/// Adds a CHECK constraint; `column` is the column behind which it was written.
pub fn add_check(
    definer: &Definer<'_>,
    def: &mut TableDef,
    check: &CheckConstraint,
    column: Option<&str>,
) -> SqlResult<()> {
    let name = match &check.name {
        Some(name) if !name.is_empty() => {
            super::column::check_name(name)?;
            name.clone()
        }
        _ => next_check_name(def),
    };
    if def.checks.iter().any(|known| known.name.eq_ignore_ascii_case(&name)) {
        return Err(mysql_error!(ER_CHECK_CONSTRAINT_DUP_NAME, name));
    }
    let expression = text_of(definer, def, &check.expr, Role::Check { name: &name, only: column })?;
    def.checks.push(Check { name, expression, enforced: check.enforced });
    Ok(())
}

fn next_check_name(def: &TableDef) -> String {
    let prefix = format!("{}_chk_", def.name);
    let last =
        def.checks.iter().filter_map(|check| check.name.strip_prefix(&prefix)?.parse::<u64>().ok()).max();
    format!("{prefix}{}", last.unwrap_or(0) + 1)
}

/// Gives the checks of a copied definition names of their own.
pub fn rename_checks(def: &mut TableDef) {
    for (number, check) in def.checks.iter_mut().enumerate() {
        check.name = format!("{}_chk_{}", def.name, number + 1);
    }
}

/// The columns that a kept expression reads.
pub fn columns_read(expression: &str) -> SqlResult<Vec<String>> {
    let mut columns = Vec::new();
    parse_expression(expression)?.walk_mut(&mut |expr| {
        if let Expr::Column(column) | Expr::JsonPath { column, .. } = expr {
            columns.push(std::mem::take(&mut column.column));
        }
    });
    Ok(columns)
}

/// 3959, 3108 or 3766 if an expression of the definition reads the column at `place`, which is dropped or
/// renamed. Checks about nothing else go with a dropped column.
pub fn release_column(def: &mut TableDef, place: usize, dropped: bool) -> SqlResult<()> {
    let name = def.columns.at(place)?.name.clone();
    let reads = |read: &String| read.eq_ignore_ascii_case(&name);
    let mut kept = Vec::with_capacity(def.checks.len());
    for check in &def.checks {
        let columns = columns_read(&check.expression)?;
        if columns.iter().any(reads) {
            if dropped && columns.iter().all(reads) {
                continue;
            }
            return Err(mysql_error!(ER_DEPENDENT_BY_CHECK_CONSTRAINT, check.name, name));
        }
        kept.push(check.clone());
    }
    for column in def.columns.iter().filter_map(|column| column.generated.as_ref()) {
        if columns_read(&column.expression)?.iter().any(reads) {
            return Err(mysql_error!(ER_DEPENDENT_BY_GENERATED_COLUMN, name));
        }
    }
    for (other, column) in def.columns.iter().enumerate() {
        if let DefaultValue::Expression(text) = &column.default
            && other != place
            && columns_read(text)?.iter().any(reads)
        {
            return Err(mysql_error!(ER_DEPENDENT_BY_DEFAULT_GENERATED_VALUE, name, def.name));
        }
    }
    def.checks = kept;
    Ok(())
}
