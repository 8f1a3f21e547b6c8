//! What definition statements may not do to the [tables of the query logs](palisade_session::log_tables)
//! while a log is written to one.

use palisade_base::error_catalogue::{ER_BAD_LOG_STATEMENT, ER_CANT_RENAME_LOG_TABLE};
use palisade_base::mysql_error;
use palisade_engine::TableName;
use palisade_session::log_tables::is_one;

use crate::{Administration, SqlResult};

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
    use palisade_session::log_tables::{GENERAL, SCHEMA, names};

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
