//! Expressions that a definition keeps as text: conditions of CHECK constraints, values of generated columns.
//!
//! The text is what SHOW CREATE TABLE prints: names without their table, strings with their character set, so that it
//! means the same whoever reads it. What would not - variables, queries, functions of the moment - is refused here.

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::TableDef;
use palisade_catalog::descriptor::{Check, Generated};
use palisade_parser::ast::{CheckConstraint, Expr, Literal};

use super::Definer;
use crate::dml::store::parse_expression;
use crate::func::Purity;
use crate::{SqlError, SqlResult};

/// What an expression is for.
#[derive(Clone, Copy)]
enum Role<'a> {
    /// The condition of the CHECK constraint of this name, and of the only column it may read.
    Check { name: &'a str, only: Option<&'a str> },
    /// The value of the column at this place.
    Generated { place: usize },
}

impl Role<'_> {
    fn query(self, def: &TableDef) -> SqlError {
        match self {
            Role::Check { name, .. } => mysql_error!(ER_CHECK_CONSTRAINT_FUNCTION_IS_NOT_ALLOWED, name),
            Role::Generated { place } => {
                mysql_error!(ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED, def.columns[place].name)
            }
        }
    }

    fn function(self, def: &TableDef, function: &str) -> SqlError {
        match self {
            Role::Check { name, .. } => {
                mysql_error!(ER_CHECK_CONSTRAINT_NAMED_FUNCTION_IS_NOT_ALLOWED, name, function)
            }
            Role::Generated { place } => {
                let column = &def.columns[place].name;
                mysql_error!(ER_GENERATED_COLUMN_NAMED_FUNCTION_IS_NOT_ALLOWED, column, function)
            }
        }
    }

    fn variable(self, def: &TableDef) -> SqlError {
        match self {
            Role::Check { name, .. } => mysql_error!(ER_CHECK_CONSTRAINT_VARIABLES, name),
            Role::Generated { place } => {
                mysql_error!(ER_DEFAULT_VAL_GENERATED_VARIABLES, def.columns[place].name)
            }
        }
    }

    fn check_column(self, def: &TableDef, column: &str) -> SqlResult<()> {
        let found = def.column_index(column).filter(|place| Some(*place) != def.row_id_column());
        match self {
            Role::Check { name, only } => {
                let unknown = || mysql_error!(ER_CHECK_CONSTRAINT_REFERS_UNKNOWN_COLUMN, name, column);
                let known = &def.columns[found.ok_or_else(unknown)?];
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
                if def.columns[found].generated.is_some() && found >= place {
                    return Err(mysql_error!(ER_GENERATED_COLUMN_NON_PRIOR));
                }
                if def.columns[found].auto_increment {
                    return Err(mysql_error!(ER_GENERATED_COLUMN_REF_AUTO_INC, def.columns[place].name));
                }
            }
        }
        Ok(())
    }
}

/// The text to keep of an expression over the columns of `def`.
fn text_of(definer: &Definer<'_>, def: &TableDef, expr: &Expr, role: Role<'_>) -> SqlResult<String> {
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
                Err(role.variable(def))
            }
            Expr::Aggregate(_) | Expr::WindowFunction(_) => Err(mysql_error!(ER_INVALID_GROUP_FUNC_USE)),
            Expr::Placeholder(_) | Expr::Default | Expr::DefaultOf(_) | Expr::Values(_) | Expr::Match(_) => {
                Err(role.query(def))
            }
            Expr::Function(function) => {
                let known = crate::func::find(&function.name).filter(|_| function.schema.is_none());
                let now =
                    function.name.eq_ignore_ascii_case("unix_timestamp") && function.arguments.is_empty();
                match known {
                    Some(known) if known.purity == Purity::Pure && !now => Ok(()),
                    _ => Err(role.function(def, &function.name.to_ascii_lowercase())),
                }
            }
            other if other.has_query() => Err(role.query(def)),
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

/// Adds a CHECK constraint; `column` is the column behind which it was written.
pub fn add_check(
    definer: &Definer<'_>,
    def: &mut TableDef,
    check: &CheckConstraint,
    column: Option<&str>,
) -> SqlResult<()> {
    let name = match &check.name {
        Some(name) => {
            super::column::check_name(name)?;
            name.clone()
        }
        None => next_check_name(def),
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

/// 3108 or 3959 if an expression of the definition reads the column at `place`, which is dropped or renamed. Checks
/// about nothing else go with a dropped column.
pub fn release_column(def: &mut TableDef, place: usize, dropped: bool) -> SqlResult<()> {
    let name = def.columns[place].name.clone();
    let reads = |read: &String| read.eq_ignore_ascii_case(&name);
    for column in def.columns.iter().filter_map(|column| column.generated.as_ref()) {
        if columns_read(&column.expression)?.iter().any(reads) {
            return Err(mysql_error!(ER_DEPENDENT_BY_GENERATED_COLUMN, name));
        }
    }
    let mut kept = Vec::with_capacity(def.checks.len());
    for check in std::mem::take(&mut def.checks) {
        let columns = columns_read(&check.expression)?;
        if columns.iter().any(reads) {
            if dropped && columns.iter().all(reads) {
                continue;
            }
            return Err(mysql_error!(ER_DEPENDENT_BY_CHECK_CONSTRAINT, check.name, name));
        }
        kept.push(check);
    }
    def.checks = kept;
    Ok(())
}
