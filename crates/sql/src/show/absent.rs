//! SHOW about what this server has none of: routines, triggers, events, views, a binary log. There is no such
//! object of any name, and no event in a log that is not written: both can be said, as MySQL says it.

use palisade_base::error_catalogue::{
    ER_EVENT_DOES_NOT_EXIST, ER_FEATURE_DISABLED, ER_NO_DB_ERROR, ER_SP_DOES_NOT_EXIST,
    ER_TRG_DOES_NOT_EXIST, ER_WRONG_OBJECT,
};
use palisade_base::mysql_error;
use palisade_parser::ast::{ObjectName, ShowWhat};
use palisade_session::virtual_tables::is_virtual_name;

use super::{Listing, Shower, empty};
use crate::{SqlError, SqlResult};

/// What such a SHOW answers; `None` for others.
pub(super) fn listing(shower: &Shower<'_>, what: &ShowWhat) -> SqlResult<Option<Listing>> {
    let missing = |name: &ObjectName, error: SqlError| {
        let has_schema = name.schema.is_some() || shower.session.state.database.is_some();
        Err(if has_schema { error } else { mysql_error!(ER_NO_DB_ERROR) })
    };
    match what {
        ShowWhat::BinlogEvents { .. } => {
            empty(&["Log_name", "#Pos", "Event_type", "#Server_id", "#End_log_pos", "Info"])
        }
        ShowWhat::CreateProcedure(name) => {
            missing(name, mysql_error!(ER_SP_DOES_NOT_EXIST, "PROCEDURE", name.name))
        }
        ShowWhat::CreateFunction(name) => {
            missing(name, mysql_error!(ER_SP_DOES_NOT_EXIST, "FUNCTION", name.name))
        }
        ShowWhat::CreateEvent(name) => missing(name, mysql_error!(ER_EVENT_DOES_NOT_EXIST, name.name)),
        ShowWhat::CreateTrigger(name) => {
            shower.database(name.schema.as_deref())?;
            Err(mysql_error!(ER_TRG_DOES_NOT_EXIST))
        }
        ShowWhat::CreateView(name) => {
            let database = shower.database(name.schema.as_deref())?;
            if is_virtual_name(&database) {
                return Ok(None);
            }
            let table = shower.table(name)?;
            Err(mysql_error!(ER_WRONG_OBJECT, table.schema, table.name, "VIEW"))
        }
        ShowWhat::ProcedureCode(name) | ShowWhat::FunctionCode(name) => {
            missing(name, mysql_error!(ER_FEATURE_DISABLED, "SHOW PROCEDURE|FUNCTION CODE", "--with-debug"))
        }
        _ => Ok(None),
    }
}
