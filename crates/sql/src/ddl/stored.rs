//! Stored programs, of which there are none: DROP says so.

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_parser::ast;

use crate::sql::Sql;
use crate::{Completion, Session, SqlResult};

impl Sql {
    pub(crate) fn drop_stored(&self, session: &mut Session, drop: &ast::DropStored) -> SqlResult<Completion> {
        let kind = match drop.kind {
            ast::StoredKind::Procedure => "PROCEDURE",
            ast::StoredKind::Function => "FUNCTION",
            ast::StoredKind::Trigger => {
                return if drop.if_exists {
                    session.state.warnings.note(mysql_error!(ER_TRG_DOES_NOT_EXIST));
                    Ok(Completion::default())
                } else {
                    Err(mysql_error!(ER_TRG_DOES_NOT_EXIST))
                };
            }
            ast::StoredKind::Event => "EVENT",
        };
        let schema = drop.name.schema.clone().or(session.state.database.clone()).unwrap_or_default();
        let name =
            if kind == "EVENT" { drop.name.name.clone() } else { format!("{schema}.{}", drop.name.name) };
        let error = if kind == "EVENT" {
            mysql_error!(ER_EVENT_DOES_NOT_EXIST, name)
        } else {
            mysql_error!(ER_SP_DOES_NOT_EXIST, kind, name)
        };
        if drop.if_exists {
            session.state.warnings.note(error);
            Ok(Completion::default())
        } else {
            Err(error)
        }
    }
}
