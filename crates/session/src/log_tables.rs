//! The tables of the query logs, `mysql.general_log` and `mysql.slow_log`: everyone may read and truncate
//! them, only the logs write them, and while a log is written to its table the table cannot be defined anew.

use palisade_base::error_catalogue::ER_CANT_LOCK_LOG_TABLE;
use palisade_base::mysql_error;
use palisade_engine::TableName;
use palisade_expr::SqlResult;
use palisade_expr::session_state::SessionState;

use crate::environment::Access;
pub use crate::virtual_tables::SYSTEM_SCHEMA as SCHEMA;

/// The table of the general log.
pub const GENERAL: &str = "general_log";
/// The table of the slow query log.
pub const SLOW: &str = "slow_log";

/// Both: they may be written while nothing else is.
pub fn names() -> [TableName; 2] {
    [GENERAL, SLOW].map(|table| TableName::new(SCHEMA, table))
}

/// Whether that is one of them.
pub fn is_one(schema: &str, table: &str) -> bool {
    schema == SCHEMA && [GENERAL, SLOW].contains(&table)
}

/// 1556 if the session would change or lock rows of one. Sessions of the server itself may.
pub fn check_access(session: &SessionState, schema: &str, table: &str, access: Access) -> SqlResult<()> {
    match access {
        Access::Read => Ok(()),
        _ if is_one(schema, table) && !session.is_internal() => Err(mysql_error!(ER_CANT_LOCK_LOG_TABLE)),
        _ => Ok(()),
    }
}

/// 1556 if one is to be locked by LOCK TABLES.
pub fn check_lock(name: &TableName) -> SqlResult<()> {
    match is_one(&name.schema, &name.table) {
        true => Err(mysql_error!(ER_CANT_LOCK_LOG_TABLE)),
        false => Ok(()),
    }
}
