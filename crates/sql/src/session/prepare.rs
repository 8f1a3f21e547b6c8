//! PREPARE, EXECUTE and DEALLOCATE PREPARE: prepared statements that have a name.

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::Value;
use palisade_expr::convert::text_of;
use palisade_parser::ast::{self, PrepareSource};
use palisade_session::command::Command;
use palisade_session::environment::NamedText;

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
            self.close_named(session, &gone);
        }
        let begun = self.host().monotonic();
        let counted = self.host().count_prepared()?;
        session.commands.add(Command::StmtPrepare);
        let (prepared, _) = self.prepare_giving_way(session, &text).await?;
        let kept = session.keep_prepared(&prepared)?;
        session.last_prepared = session.last_prepared.wrapping_add(1).max(1);
        let named = NamedText {
            number: session.last_prepared,
            name: &prepare.name,
            text: &text,
            took: self.host().monotonic().saturating_sub(begun),
            basis: prepared.basis(),
        };
        let followed_as = self.host().follow_prepared(session.state.connection_id, named);
        let named = NamedStatement { prepared, counted, kept, followed_as };
        session.prepared.insert(prepare.name.to_lowercase(), named);
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
        let (prepared, followed_as) = (named.prepared.clone(), named.followed_as);
        if prepared.parameters != execute.variables.len() {
            return Err(mysql_error!(ER_WRONG_ARGUMENTS, "EXECUTE"));
        }
        let parameters: Vec<Value> = execute
            .variables
            .iter()
            .map(|name| session.state.user_variables.value(&name.to_lowercase()))
            .collect();
        session.commands.add(Command::StmtExecute);
        let executed = Box::pin(self.execute(session, &prepared, &parameters, sink)).await;
        session.executed_named = (followed_as, prepared.basis());
        executed
    }

    /// A statement that has a name is closed.
    fn close_named(&self, session: &mut Session, gone: &NamedStatement) {
        session.commands.add(Command::StmtClose);
        session.state.memory.let_go(gone.kept);
        if gone.followed_as != 0 {
            self.host().forget_prepared(session.state.connection_id, gone.followed_as);
        }
    }

    /// Forgets one; 1243 if there is none of that name.
    pub(crate) fn deallocate(&self, session: &mut Session, name: &str) -> SqlResult<Completion> {
        match session.prepared.remove(&name.to_lowercase()) {
            Some(gone) => {
                self.close_named(session, &gone);
                Ok(Completion::default())
            }
            None => Err(mysql_error!(ER_UNKNOWN_STMT_HANDLER, name, "DEALLOCATE PREPARE")),
        }
    }
}
