//! SHOW over tables of information_schema: which columns it shows, and under which names.

use palisade_catalog::{SqlType, Value};
use palisade_schema::{Names, Row, TableDecl, Wanted};
use palisade_session::virtual_tables::{INFORMATION_SCHEMA, Pulled, RowSource, VirtualRows};

use super::information_schema::{self, InformationSchema};
use super::{Listing, Shower};
use crate::{SqlError, SqlResult};

/// A column: its name in information_schema, and the one it is shown under.
pub(super) type Pick = (&'static str, &'static str);

pub(super) const ENGINES: &[Pick] = &[
    ("ENGINE", "Engine"),
    ("SUPPORT", "Support"),
    ("COMMENT", "Comment"),
    ("TRANSACTIONS", "Transactions"),
    ("XA", "XA"),
    ("SAVEPOINTS", "Savepoints"),
];

pub(super) const PLUGINS: &[Pick] = &[
    ("PLUGIN_NAME", "Name"),
    ("PLUGIN_STATUS", "Status"),
    ("PLUGIN_TYPE", "Type"),
    ("PLUGIN_LIBRARY", "Library"),
    ("PLUGIN_LICENSE", "License"),
];

pub(super) const CHARACTER_SETS: &[Pick] = &[
    ("CHARACTER_SET_NAME", "Charset"),
    ("DESCRIPTION", "Description"),
    ("DEFAULT_COLLATE_NAME", "Default collation"),
    ("MAXLEN", "Maxlen"),
];

pub(super) const COLLATIONS: &[Pick] = &[
    ("COLLATION_NAME", "Collation"),
    ("CHARACTER_SET_NAME", "Charset"),
    ("ID", "Id"),
    ("IS_DEFAULT", "Default"),
    ("IS_COMPILED", "Compiled"),
    ("SORTLEN", "Sortlen"),
    ("PAD_ATTRIBUTE", "Pad_attribute"),
];

pub(super) const PROCESSES: &[Pick] = &[
    ("ID", "Id"),
    ("USER", "User"),
    ("HOST", "Host"),
    ("DB", "db"),
    ("COMMAND", "Command"),
    ("TIME", "Time"),
    ("STATE", "State"),
    ("INFO", "Info"),
];

pub(super) const TABLE_STATUS: &[Pick] = &[
    ("TABLE_NAME", "Name"),
    ("ENGINE", "Engine"),
    ("VERSION", "Version"),
    ("ROW_FORMAT", "Row_format"),
    ("TABLE_ROWS", "Rows"),
    ("AVG_ROW_LENGTH", "Avg_row_length"),
    ("DATA_LENGTH", "Data_length"),
    ("MAX_DATA_LENGTH", "Max_data_length"),
    ("INDEX_LENGTH", "Index_length"),
    ("DATA_FREE", "Data_free"),
    ("AUTO_INCREMENT", "Auto_increment"),
    ("CREATE_TIME", "Create_time"),
    ("UPDATE_TIME", "Update_time"),
    ("CHECK_TIME", "Check_time"),
    ("TABLE_COLLATION", "Collation"),
    ("CHECKSUM", "Checksum"),
    ("CREATE_OPTIONS", "Create_options"),
    ("TABLE_COMMENT", "Comment"),
];

pub(super) const COLUMNS: &[Pick] = &[
    ("COLUMN_NAME", "Field"),
    ("COLUMN_TYPE", "Type"),
    ("IS_NULLABLE", "Null"),
    ("COLUMN_KEY", "Key"),
    ("COLUMN_DEFAULT", "Default"),
    ("EXTRA", "Extra"),
];

pub(super) const FULL_COLUMNS: &[Pick] = &[
    ("COLUMN_NAME", "Field"),
    ("COLUMN_TYPE", "Type"),
    ("COLLATION_NAME", "Collation"),
    ("IS_NULLABLE", "Null"),
    ("COLUMN_KEY", "Key"),
    ("COLUMN_DEFAULT", "Default"),
    ("EXTRA", "Extra"),
    ("PRIVILEGES", "Privileges"),
    ("COLUMN_COMMENT", "Comment"),
];

pub(super) const INDEXES: &[Pick] = &[
    ("TABLE_NAME", "Table"),
    ("NON_UNIQUE", "Non_unique"),
    ("INDEX_NAME", "Key_name"),
    ("SEQ_IN_INDEX", "Seq_in_index"),
    ("COLUMN_NAME", "Column_name"),
    ("COLLATION", "Collation"),
    ("CARDINALITY", "Cardinality"),
    ("SUB_PART", "Sub_part"),
    ("PACKED", "Packed"),
    ("NULLABLE", "Null"),
    ("INDEX_TYPE", "Index_type"),
    ("COMMENT", "Comment"),
    ("INDEX_COMMENT", "Index_comment"),
    ("IS_VISIBLE", "Visible"),
    ("EXPRESSION", "Expression"),
];

pub(super) const TRIGGERS: &[Pick] = &[
    ("TRIGGER_NAME", "Trigger"),
    ("EVENT_MANIPULATION", "Event"),
    ("EVENT_OBJECT_TABLE", "Table"),
    ("ACTION_STATEMENT", "Statement"),
    ("ACTION_TIMING", "Timing"),
    ("CREATED", "Created"),
    ("SQL_MODE", "sql_mode"),
    ("DEFINER", "Definer"),
    ("CHARACTER_SET_CLIENT", "character_set_client"),
    ("COLLATION_CONNECTION", "collation_connection"),
    ("DATABASE_COLLATION", "Database Collation"),
];

pub(super) const EVENTS: &[Pick] = &[
    ("EVENT_SCHEMA", "Db"),
    ("EVENT_NAME", "Name"),
    ("DEFINER", "Definer"),
    ("TIME_ZONE", "Time zone"),
    ("EVENT_TYPE", "Type"),
    ("EXECUTE_AT", "Execute at"),
    ("INTERVAL_VALUE", "Interval value"),
    ("INTERVAL_FIELD", "Interval field"),
    ("STARTS", "Starts"),
    ("ENDS", "Ends"),
    ("STATUS", "Status"),
    ("ORIGINATOR", "Originator"),
    ("CHARACTER_SET_CLIENT", "character_set_client"),
    ("COLLATION_CONNECTION", "collation_connection"),
    ("DATABASE_COLLATION", "Database Collation"),
];

pub(super) const ROUTINES: &[Pick] = &[
    ("ROUTINE_SCHEMA", "Db"),
    ("ROUTINE_NAME", "Name"),
    ("ROUTINE_TYPE", "Type"),
    ("EXTERNAL_LANGUAGE", "Language"),
    ("DEFINER", "Definer"),
    ("LAST_ALTERED", "Modified"),
    ("CREATED", "Created"),
    ("SECURITY_TYPE", "Security_type"),
    ("ROUTINE_COMMENT", "Comment"),
    ("CHARACTER_SET_CLIENT", "character_set_client"),
    ("COLLATION_CONNECTION", "collation_connection"),
    ("DATABASE_COLLATION", "Database Collation"),
];

/// Of which schema and which table SHOW tells; of all where it does not say.
#[derive(Default)]
pub(super) struct About<'a> {
    pub(super) schema: Option<&'a str>,
    pub(super) table: Option<&'a str>,
}

impl Shower<'_> {
    fn information(&self, name: &str) -> SqlResult<&'static TableDecl> {
        information_schema::find_virtual(self.host, INFORMATION_SCHEMA, name)
            .ok_or_else(|| SqlError::internal(&format!("there is no information_schema.{name}")))
    }

    /// Columns of a table of information_schema under new names.
    pub(super) fn picked(&self, name: &str, picks: &[(&str, &str)], about: About<'_>) -> SqlResult<Listing> {
        self.picked_where(name, picks, about, None)
    }

    /// The same of rows about a temporary table of the session, which no information_schema tells of.
    pub(super) fn picked_of_own(
        &self,
        name: &str,
        picks: &[(&str, &str)],
        rows: &dyn Fn(&Wanted) -> Vec<palisade_schema::Row>,
    ) -> SqlResult<Listing> {
        let table = self.information(name)?;
        let places = places(table, picks)?;
        let rows = rows(&Wanted::columns(table, places.iter().copied()));
        let rows = rows.iter().map(|row| values(row, &places)).collect();
        Ok(Listing { columns: columns(table, &places, picks), rows, like_column: 0 })
    }

    /// The same of rows that have this value in a column.
    pub(super) fn picked_where(
        &self,
        name: &str,
        picks: &[(&str, &str)],
        about: About<'_>,
        condition: Option<(&str, Value)>,
    ) -> SqlResult<Listing> {
        let table = self.information(name)?;
        let places = places(table, picks)?;
        let condition = match condition {
            Some((column, value)) => Some((place(table, column)?, value)),
            None => None,
        };
        let mut wanted = Wanted::columns(table, places.iter().copied());
        condition.iter().for_each(|(place, _)| wanted.add_column(*place));
        if let Some(schema) = about.schema {
            wanted.schemas = Names::only(schema);
        }
        if let Some(name) = about.table {
            wanted.tables = Names::only(name);
        }
        let source = RowSource { engine: self.engine, host: self.host, session: self.session };
        let mut rows = VirtualRows::open(&InformationSchema, &source, table, wanted)?;
        let mut listed = Vec::new();
        loop {
            let row = match rows.pull(self.host, self.session.state) {
                Pulled::Row(row) => row,
                Pulled::Hidden => continue,
                Pulled::End => break,
            };
            if condition.as_ref().is_none_or(|(place, value)| row.get(*place) == Some(value)) {
                listed.push(values(&row, &places));
            }
        }
        let columns = columns(table, &places, picks);
        Ok(Listing { columns, rows: listed, like_column: 0 })
    }
}

/// The columns of a table at these places, under new names.
fn columns(table: &TableDecl, places: &[usize], picks: &[(&str, &str)]) -> Vec<(String, SqlType)> {
    let column = |(place, (_, shown)): (&usize, &(&str, &str))| {
        let column = table.columns.get(*place)?;
        Some(((*shown).to_owned(), column.column_type.sql_type()))
    };
    places.iter().zip(picks).filter_map(column).collect()
}

/// A row's values at these places.
fn values(row: &Row, places: &[usize]) -> Vec<Value> {
    places.iter().map(|place| row.get(*place).cloned().unwrap_or_default()).collect()
}

/// Where the columns of a table are that are picked.
fn places(table: &TableDecl, picks: &[(&str, &str)]) -> SqlResult<Vec<usize>> {
    picks.iter().map(|(from, _)| place(table, from)).collect()
}

fn place(table: &TableDecl, column: &str) -> SqlResult<usize> {
    let missing = || SqlError::internal(&format!("information_schema.{} has no column {column}", table.name));
    table.place(column).ok_or_else(missing)
}

/// Columns of rows of a table under new names.
pub(super) fn listing(table: &TableDecl, picks: &[Pick], rows: Vec<Row>) -> SqlResult<Listing> {
    let places = places(table, picks)?;
    let rows = rows.iter().map(|row| values(row, &places)).collect();
    Ok(Listing { columns: columns(table, &places, picks), rows, like_column: 0 })
}
