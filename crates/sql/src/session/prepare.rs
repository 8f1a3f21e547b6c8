//! PREPARE, EXECUTE and DEALLOCATE PREPARE: prepared statements that have a name.

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::Value;
use palisade_expr::convert::text_of;
use palisade_parser::ast::{self, PrepareSource};
use palisade_session::command::Command;

use crate::session::NamedStatement;
use crate::sql::Sql;
use crate::{Completion, ResultSink, Session, SqlResult};

impl Sql {
    pub(crate) async fn prepare_named(
        &self,
        session: &mut Session,
        prepare: &ast::Prepare,
    ) -> SqlResult<Completion> {
        let text = match &prepare.source {
            PrepareSource::Text(text) => text.clone(),
            PrepareSource::UserVariable(name) => {
                let text = session.state.user_variables.with(&name.to_lowercase(), |variable| {
                    (!variable.value.is_null()).then(|| text_of(&variable.value, &variable.ty).to_vec())
                });
                text.flatten().unwrap_or_else(|| b"NULL".to_vec())
            }
        };
        if let Some(gone) = session.prepared.remove(&prepare.name.to_lowercase()) {
            session.commands.add(Command::StmtClose);
            session.state.memory.let_go(gone.kept);
        }
        let counted = self.host().count_prepared()?;
        session.commands.add(Command::StmtPrepare);
        let (prepared, _) = self.prepare_giving_way(session, &text).await?;
        let kept = session.keep_prepared(&prepared)?;
        session.prepared.insert(prepare.name.to_lowercase(), NamedStatement { prepared, counted, kept });
        Ok(Completion { info: "Statement prepared".to_owned(), ..Completion::default() })
    }

    pub(crate) async fn execute_named(
        &self,
        session: &mut Session,
        execute: &ast::Execute,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        let Some(named) = session.prepared.get(&execute.name.to_lowercase()) else {
            return Err(mysql_error!(ER_UNKNOWN_STMT_HANDLER, execute.name, "EXECUTE"));
        };
        let prepared = named.prepared.clone();
        if prepared.parameters != execute.variables.len() {
            return Err(mysql_error!(ER_WRONG_ARGUMENTS, "EXECUTE"));
        }
        let parameters: Vec<Value> = execute
            .variables
            .iter()
            .map(|name| session.state.user_variables.value(&name.to_lowercase()))
            .collect();
        session.commands.add(Command::StmtExecute);
        Box::pin(self.execute(session, &prepared, &parameters, sink)).await
    }

    /// Forgets one; 1243 if there is none of that name.
    pub(crate) fn deallocate(&self, session: &mut Session, name: &str) -> SqlResult<Completion> {
        match session.prepared.remove(&name.to_lowercase()) {
            Some(gone) => {
                session.commands.add(Command::StmtClose);
                session.state.memory.let_go(gone.kept);
                Ok(Completion::default())
            }
            None => Err(mysql_error!(ER_UNKNOWN_STMT_HANDLER, name, "DEALLOCATE PREPARE")),
        }
    }
}
