//! Virtual tables as FROM sees them: which there are, their columns and rows.

use palisade_base::error_catalogue::{ER_DBACCESS_DENIED_ERROR, ER_UNKNOWN_TABLE};
use palisade_base::mysql_error;
use palisade_catalog::{SqlType, Value};

use super::Shower;
use crate::bind::Binder;
use crate::exec::ExecContext;
use crate::{Host, SessionState, SqlResult, VirtualTable};

/// The schemas that exist without being in the dictionary.
pub const VIRTUAL: [&str; 2] = ["information_schema", "performance_schema"];

/// Whether a name is one of [`VIRTUAL`].
pub fn is_virtual_name(name: &str) -> bool {
    VIRTUAL.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether a schema has only virtual tables.
pub fn is_virtual_schema(host: &dyn Host, name: &str) -> bool {
    is_virtual_name(name)
        || host.virtual_table_names().iter().any(|(schema, _)| schema.eq_ignore_ascii_case(name))
}

/// 1044 for changes of a virtual schema.
pub fn refuse_virtual(host: &dyn Host, schema: &str, session: &SessionState) -> SqlResult<()> {
    if is_virtual_schema(host, schema) {
        return Err(mysql_error!(ER_DBACCESS_DENIED_ERROR, session.user, session.client_host, schema));
    }
    Ok(())
}

pub(crate) fn find(shower: &Shower<'_>, schema: &str, name: &str, with_rows: bool) -> Option<VirtualTable> {
    if schema.eq_ignore_ascii_case("information_schema") {
        return shower.information_schema(name, with_rows);
    }
    let (schema, name) = (schema.to_ascii_lowercase(), name.to_ascii_lowercase());
    shower.host.virtual_table(shower.session, &schema, &name, with_rows)
}

/// The columns of a virtual table; `None` if the schema is an ordinary one, 1109 if it has no such table.
pub fn virtual_columns(
    binder: &Binder<'_>,
    schema: &str,
    name: &str,
) -> SqlResult<Option<Vec<(String, SqlType)>>> {
    let shower = Shower { engine: binder.engine, host: binder.host, session: binder.view };
    if schema == crate::ddl::table::SYSTEM && binder.dictionary.table(schema, name).is_err() {
        // It may be one of those that hold nothing.
        let empty = find(&shower, schema, name, false);
        return Ok(empty.map(|table| named(table.columns)));
    }
    if binder.dictionary.schema(schema).is_some() || !is_virtual_schema(binder.host, schema) {
        return Ok(None);
    }
    match find(&shower, schema, name, false) {
        Some(table) => Ok(Some(named(table.columns))),
        None if schema.eq_ignore_ascii_case("information_schema") => {
            Err(mysql_error!(ER_UNKNOWN_TABLE, name.to_ascii_uppercase(), "information_schema"))
        }
        None => Err(mysql_error!(ER_UNKNOWN_TABLE, name, schema)),
    }
}

fn named(columns: Vec<(&'static str, SqlType)>) -> Vec<(String, SqlType)> {
    columns.into_iter().map(|(name, ty)| (name.to_owned(), ty)).collect()
}

/// The rows of a virtual table.
pub fn virtual_rows(cx: &ExecContext<'_, '_>, schema: &str, name: &str) -> SqlResult<Vec<Vec<Value>>> {
    let shower = Shower { engine: cx.execution.engine, host: cx.execution.host, session: cx.session_view() };
    let is_storage = name.eq_ignore_ascii_case("FILES")
        || name.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("innodb_"));
    if is_storage && cx.session.restricted && schema.eq_ignore_ascii_case("information_schema") {
        cx.execution.host.check_sees_storage(cx.session)?;
    }
    match find(&shower, schema, name, true) {
        Some(table) => Ok(table.rows),
        None => Err(mysql_error!(ER_UNKNOWN_TABLE, name, schema)),
    }
}
