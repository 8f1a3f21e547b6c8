//! The tables of the query logs, `mysql.general_log` and `mysql.slow_log`: everyone may read and truncate
//! them, only the logs write them, and while a log is written to its table the table cannot be defined anew.

use palisade_base::error_catalogue::{
    ER_BAD_LOG_STATEMENT, ER_CANT_LOCK_LOG_TABLE, ER_CANT_RENAME_LOG_TABLE,
};
use palisade_base::mysql_error;
use palisade_engine::TableName;

pub use crate::ddl::table::SYSTEM as SCHEMA;
use crate::{Access, Administration, SessionState, SqlResult};

/// The table of the general log.
pub const GENERAL: &str = "general_log";
/// The table of the slow query log.
pub const SLOW: &str = "slow_log";

/// Both: they may be written while nothing else is.
pub(crate) fn names() -> [TableName; 2] {
    [GENERAL, SLOW].map(|table| TableName::new(SCHEMA, table))
}

/// Whether that is one of them.
pub fn is_one(schema: &str, table: &str) -> bool {
    schema == SCHEMA && [GENERAL, SLOW].contains(&table)
}

/// 1556 if the session would change or lock rows of one. Sessions of the server itself may.
pub(crate) fn check_access(
    session: &SessionState,
    schema: &str,
    table: &str,
    access: Access,
) -> SqlResult<()> {
    match access {
        Access::Read => Ok(()),
        _ if is_one(schema, table) && !session.is_internal() => Err(mysql_error!(ER_CANT_LOCK_LOG_TABLE)),
        _ => Ok(()),
    }
}

/// 1556 if one is to be locked by LOCK TABLES.
pub(crate) fn check_lock(name: &TableName) -> SqlResult<()> {
    match is_one(&name.schema, &name.table) {
        true => Err(mysql_error!(ER_CANT_LOCK_LOG_TABLE)),
        false => Ok(()),
    }
}

/// 1580 if one is to be dropped or altered while its log is written to it. `statement` is DROP or ALTER.
pub(crate) fn check_definition(
    host: &dyn Administration,
    name: &TableName,
    statement: &str,
) -> SqlResult<()> {
    match is_one(&name.schema, &name.table) && host.writes_log_table(&name.table) {
        true => Err(mysql_error!(ER_BAD_LOG_STATEMENT, statement)),
        false => Ok(()),
    }
}

/// 1581 if one gets another name while its log is written to it, and no other table gets its name.
pub(crate) fn check_rename(host: &dyn Administration, pairs: &[(TableName, TableName)]) -> SqlResult<()> {
    let gone = pairs.iter().map(|(from, _)| from).find(|from| {
        is_one(&from.schema, &from.table)
            && host.writes_log_table(&from.table)
            && !pairs.iter().any(|(_, to)| to == *from)
    });
    match gone {
        Some(name) => Err(mysql_error!(ER_CANT_RENAME_LOG_TABLE, name.table, name.table)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::doubles::LogsTo;

    #[test]
    fn a_log_keeps_its_table_while_it_is_written() {
        let [general, slow] = names();
        let host = LogsTo(&[GENERAL]);
        assert_eq!(check_definition(&host, &general, "DROP").unwrap_err().number(), 1580);
        assert!(check_definition(&host, &slow, "DROP").is_ok());
        assert!(check_definition(&host, &TableName::new("test", GENERAL), "DROP").is_ok());
        let other = TableName::new(SCHEMA, "other");
        let pairs = [(general.clone(), other.clone()), (slow.clone(), TableName::new(SCHEMA, "gone"))];
        assert_eq!(check_rename(&host, &pairs).unwrap_err().number(), 1581);
        assert!(check_rename(&host, &[(general.clone(), other.clone()), (other, general)]).is_ok());
        assert!(check_rename(&LogsTo(&[]), &pairs).is_ok());
    }
}
