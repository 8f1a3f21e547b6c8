//! Virtual tables as statements see them: which there are, and their rows, as far as the account may know of
//! them.
//!
//! Some tell of the server, which provides them ([`VirtualTables`]); those of information_schema that tell of
//! the dictionary and of storage are [`DictionaryTables`].

use std::sync::Arc;

use palisade_base::error_catalogue::{ER_DBACCESS_DENIED_ERROR, ER_NO_SUCH_TABLE, ER_UNKNOWN_TABLE};
use palisade_base::mysql_error;
use palisade_catalog::Value;
use palisade_engine::Engine;
use palisade_expr::session_state::SessionState;
use palisade_expr::{SqlError, SqlResult};
use palisade_schema::{Named, Row, Rows, TableDecl, Wanted};

use crate::environment::{Authorization, Environment, VirtualTables};
use crate::view::SessionView;

/// The name of information_schema.
pub const INFORMATION_SCHEMA: &str = "information_schema";

/// The schema of views over the two others.
pub const SYS: &str = "sys";
/// The name of performance_schema.
pub const PERFORMANCE_SCHEMA: &str = "performance_schema";

/// The schema of the server's own tables, which are stored ones.
pub const SYSTEM_SCHEMA: &str = "mysql";

/// What rows are made from.
pub struct RowSource<'a> {
    /// The engine.
    pub engine: &'a Arc<Engine>,
    /// The server, which has tables of its own.
    pub host: &'a dyn Environment,
    /// The session that asks.
    pub session: SessionView<'a>,
}

/// The virtual tables that tell of the dictionary and of storage.
pub trait DictionaryTables: Sync {
    /// The table of that name, in any case.
    fn find(&self, schema: &str, name: &str) -> Option<&'static TableDecl>;

    /// The rows of a table; `None` if it is none of these. Rows that are not wanted may be left out.
    fn rows(&self, table: &TableDecl, source: &RowSource<'_>, wanted: &Wanted) -> Option<Rows>;

    /// The query of the view of that name.
    fn view(&self, _schema: &str, _name: &str) -> Option<StoredQuery> {
        None
    }
}

/// A query that is bound where a statement names a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredQuery {
    /// The schema of the view.
    pub schema: String,
    /// The view.
    pub name: String,
    /// A SELECT. Its names are qualified, so that the session's default database does not matter.
    pub text: String,
}

/// The schemas that exist without being in the dictionary.
pub const VIRTUAL: [&str; 3] = [INFORMATION_SCHEMA, PERFORMANCE_SCHEMA, SYS];

/// Whether a name is one of [`VIRTUAL`].
pub fn is_virtual_name(name: &str) -> bool {
    VIRTUAL.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether a schema has only virtual tables.
pub fn is_virtual_schema(host: &dyn VirtualTables, name: &str) -> bool {
    is_virtual_name(name) || host.virtual_tables().iter().any(|table| table.schema.eq_ignore_ascii_case(name))
}

/// 1044 for changes of a virtual schema.
pub fn refuse_virtual(host: &dyn VirtualTables, schema: &str, session: &SessionState) -> SqlResult<()> {
    if is_virtual_schema(host, schema) {
        return Err(mysql_error!(ER_DBACCESS_DENIED_ERROR, session.user, session.client_host, schema));
    }
    Ok(())
}

/// The virtual table of that name, in any case.
pub fn find(
    own: &dyn DictionaryTables,
    host: &dyn VirtualTables,
    schema: &str,
    name: &str,
) -> Option<&'static TableDecl> {
    own.find(schema, name).or_else(|| host.find_virtual_table(schema, name))
}

/// 1109: there is no virtual table of that name; of sys it is 1146, as of a schema of tables.
pub fn unknown(schema: &str, name: &str) -> SqlError {
    if schema.eq_ignore_ascii_case(SYS) {
        return mysql_error!(ER_NO_SUCH_TABLE, SYS, name);
    }
    match schema.eq_ignore_ascii_case(INFORMATION_SCHEMA) {
        true => mysql_error!(ER_UNKNOWN_TABLE, name.to_ascii_uppercase(), INFORMATION_SCHEMA),
        false => mysql_error!(ER_UNKNOWN_TABLE, name, schema),
    }
}

/// The rows of a virtual table, pulled one by one, without those that the account may not know of.
pub struct VirtualRows {
    rows: Rows,
    visibility: Option<Visibility>,
}

/// What came of pulling a row.
pub enum Pulled {
    /// A row.
    Row(Row),
    /// One that the account may not know of.
    Hidden,
    /// There are no more.
    End,
}

impl std::fmt::Debug for VirtualRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VirtualRows").finish_non_exhaustive()
    }
}

impl VirtualRows {
    /// Begins to read a table: 1227 if the account may not read it.
    pub fn open(
        own: &dyn DictionaryTables,
        source: &RowSource<'_>,
        table: &TableDecl,
        mut wanted: Wanted,
    ) -> SqlResult<VirtualRows> {
        let is_storage = table.name == "FILES"
            || ["INNODB_", "PALISADE_"].iter().any(|family| table.name.starts_with(family));
        if is_storage && source.session.state.is_restricted() && table.schema == INFORMATION_SCHEMA {
            source.host.check_sees_storage(source.session.state)?;
        }
        let visibility = Visibility::of(source.session.state, table);
        if let Some(visibility) = &visibility {
            visibility.columns().for_each(|column| wanted.add_column(column));
        }
        let rows = own.rows(table, source, &wanted);
        let rows = rows.unwrap_or_else(|| source.host.virtual_rows(source.session, table, &wanted));
        Ok(VirtualRows { rows, visibility })
    }

    /// The next row, or that it is hidden.
    pub fn pull(&mut self, host: &dyn Authorization, session: &SessionState) -> Pulled {
        let Some(mut row) = self.rows.next() else { return Pulled::End };
        match &self.visibility {
            Some(visibility) if !visibility.admits(host, session, &mut row) => Pulled::Hidden,
            _ => Pulled::Row(row),
        }
    }
}

/// By which columns of a table of information_schema it is told whether an account may know of a row.
struct Visibility {
    schema: usize,
    table: Option<usize>,
    /// What the account may do to a column, in a table that tells it.
    privileges: Option<usize>,
    /// The rows are about columns.
    tells_of_columns: bool,
}

impl Visibility {
    /// `None` if all sessions may know of all rows, or this one may.
    fn of(session: &SessionState, table: &TableDecl) -> Option<Visibility> {
        if !session.is_restricted() || table.schema != INFORMATION_SCHEMA {
            return None;
        }
        Some(Visibility {
            schema: table.place_of(Named::Schema)?,
            table: table.place_of(Named::Table),
            privileges: table.place("PRIVILEGES"),
            tells_of_columns: matches!(table.name, "COLUMNS" | "KEY_COLUMN_USAGE"),
        })
    }

    fn columns(&self) -> impl Iterator<Item = usize> {
        [Some(self.schema), self.table, self.privileges].into_iter().flatten()
    }

    /// Whether the account may know of the row. Of a column the row tells what the account may do to it.
    fn admits(&self, host: &dyn Authorization, session: &SessionState, row: &mut Row) -> bool {
        let text = |place: usize| match row.get(place) {
            Some(Value::Bytes(text)) => String::from_utf8_lossy(text).into_owned(),
            _ => String::new(),
        };
        let (database, name) = (text(self.schema), self.table.map(text));
        if !host.may_see(session, &database, name.as_deref()) {
            return false;
        }
        let Some(name) = name.filter(|_| self.tells_of_columns) else { return true };
        let Some(own) = host.column_privileges(session, &database, &name) else { return true };
        let sees = !own.is_empty();
        let values = Arc::make_mut(row);
        if let Some(privileges) = self.privileges.and_then(|place| values.get_mut(place)) {
            *privileges = Value::bytes(own);
        }
        sees
    }
}

#[cfg(test)]
mod tests {
    use palisade_expr::session_state::Authority;
    use palisade_expr::session_variables::SessionVariables;
    use palisade_schema::virtual_table;

    use super::*;
    use crate::environment::doubles::{Knows, Tables};

    virtual_table! {
        mod columns = "information_schema"."COLUMNS" {
            TABLE_SCHEMA: varchar(64) not null,
            TABLE_NAME: varchar(64) not null,
            PRIVILEGES: varchar(154),
        }
    }

    static SERVERS_OWN: TableDecl = TableDecl { schema: "performance_schema", name: "threads", columns: &[] };

    /// A dictionary that is told by one table, without rows.
    struct Columns;

    impl DictionaryTables for Columns {
        fn find(&self, schema: &str, name: &str) -> Option<&'static TableDecl> {
            let is = |known: &str, name: &str| known.eq_ignore_ascii_case(name);
            let table = &columns::DECL;
            (is(table.schema, schema) && is(table.name, name)).then_some(table)
        }

        fn rows(&self, _: &TableDecl, _: &RowSource<'_>, _: &Wanted) -> Option<Rows> {
            None
        }
    }

    fn session(authority: Authority) -> SessionState {
        let mut session = SessionState::new(1, "u", "localhost", SessionVariables::default(), 0);
        session.security.authority = authority;
        session
    }

    #[test]
    fn the_servers_tables_are_found_beside_those_of_the_dictionary() {
        static OWN: [&TableDecl; 1] = [&SERVERS_OWN];
        let host = Tables(&OWN);
        let found = |schema: &str, name: &str| find(&Columns, &host, schema, name).map(|table| table.name);
        assert_eq!(found("Information_schema", "columns"), Some("COLUMNS"));
        assert_eq!(found("PERFORMANCE_SCHEMA", "THREADS"), Some("threads"));
        assert_eq!(found("performance_schema", "columns"), None);
        assert!(is_virtual_schema(&host, "Performance_Schema") && !is_virtual_schema(&host, "test"));
        let refused = refuse_virtual(&host, "performance_schema", &session(Authority::Unrestricted));
        assert_eq!(refused.unwrap_err().number(), 1044);
    }

    #[test]
    fn an_account_is_told_of_what_it_may_know() {
        let table = &columns::DECL;
        assert!(Visibility::of(&session(Authority::Unrestricted), table).is_none());
        assert!(Visibility::of(&session(Authority::Internal), table).is_none());
        let session = session(Authority::Restricted);
        let visibility = Visibility::of(&session, table).unwrap();
        let privileges = visibility.privileges.unwrap();
        let told = |schema: &str, name: &str| {
            let mut values = vec![Value::Null; table.columns.len()];
            values[visibility.schema] = Value::bytes(schema);
            values[visibility.table.unwrap()] = Value::bytes(name);
            let mut row: Row = values.into();
            visibility.admits(&Knows("own"), &session, &mut row).then(|| row[privileges].clone())
        };
        assert_eq!(told("own", "t"), Some(Value::bytes("select")));
        assert_eq!(told("own", "secret"), None);
        assert_eq!(told("other", "t"), None);
    }
}
