//! SET: user variables, system variables, NAMES and CHARACTER SET.

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::{CollationId, SqlType, Value};
use palisade_engine::AccessMode;
use palisade_expr::convert::text_of;
use palisade_expr::services;
use palisade_parser::ast::{self, Assignment};

use crate::sql::Sql;
use crate::{Completion, Session, SqlResult};

impl Sql {
    pub(crate) async fn set(
        &self,
        session: &mut Session,
        assignments: &[Assignment],
        parameters: &[Value],
    ) -> SqlResult<Completion> {
        for assignment in assignments {
            match assignment {
                Assignment::User(name, value) => {
                    let (value, ty) = self.value(session, value, parameters).await?;
                    let mut context = session.context(&**self.host(), self.engine(), &[], None);
                    let mut cx = context.view();
                    palisade_expr::eval::assign(&mut cx.lend(), &name.to_lowercase().into(), value, &ty)?;
                }
                Assignment::System(variable, value) => {
                    let value = match value {
                        None => None,
                        Some(value) => Some(self.value(session, value, parameters).await?.0),
                    };
                    self.set_system(session, variable, value).await?;
                }
                Assignment::Names(names) => self.set_names(session, names.as_ref())?,
                Assignment::CharacterSet(charset) => self.set_charset(session, charset.as_deref())?,
            }
        }
        Ok(Completion::default())
    }

    async fn set_system(
        &self,
        session: &mut Session,
        variable: &ast::SystemVariable,
        value: Option<Value>,
    ) -> SqlResult<()> {
        let scope = match variable.scope {
            ast::VariableScope::Unspecified | ast::VariableScope::Session => services::Scope::Session,
            ast::VariableScope::Global => services::Scope::Global,
            ast::VariableScope::Persist | ast::VariableScope::PersistOnly => services::Scope::Global,
        };
        let name = match &variable.component {
            Some(component) => format!("{component}.{}", variable.name),
            None => variable.name.to_ascii_lowercase(),
        };
        // A date or a SET is text to a system variable.
        let value = value.map(|value| match value {
            Value::Null
            | Value::Int(_)
            | Value::UInt(_)
            | Value::Decimal(_)
            | Value::Float(_)
            | Value::Double(_)
            | Value::Bytes(_) => value,
            other => Value::Bytes(text_of(&other, &SqlType::Null)),
        });
        let only = variable.scope == ast::VariableScope::PersistOnly;
        if only || variable.scope == ast::VariableScope::Persist {
            return self.host().persist_variable(session, &name, value, only).await;
        }
        if variable.scope == ast::VariableScope::Unspecified
            && ["transaction_isolation", "transaction_read_only"].contains(&&*name)
        {
            return self.set_for_next(session, &name, value);
        }
        let autocommit = session.state.variables.autocommit;
        self.host().set_variable(session, scope, &name, value)?;
        if scope == services::Scope::Session {
            session.follow_trace_settings(variable);
        }
        if session.state.variables.autocommit && !autocommit {
            // Turning it on commits.
            let committed = session.refuse_in_branch();
            if committed.is_err() {
                self.host().set_variable(session, scope, &name, Some(Value::Int(0)))?;
            }
            committed?;
            self.commit(session).await?;
        }
        Ok(())
    }

    /// `SET @@transaction_...` without a scope: of the next transaction only.
    fn set_for_next(&self, session: &mut Session, name: &str, value: Option<Value>) -> SqlResult<()> {
        if session.in_transaction && session.active {
            return Err(mysql_error!(ER_CANT_CHANGE_TX_CHARACTERISTICS));
        }
        // What the value means is the host's business: the session has it for a moment.
        let usual = self.host().variable(&session.state, Some(services::Scope::Session), name)?;
        self.host().set_variable(session, services::Scope::Session, name, value)?;
        if name == "transaction_isolation" {
            session.next_transaction.isolation = Some(session.state.variables.isolation);
        } else {
            let read_only = session.state.variables.read_only;
            session.next_transaction.access =
                Some(if read_only { AccessMode::ReadOnly } else { AccessMode::ReadWrite });
        }
        self.host().set_variable(session, services::Scope::Session, name, usual)
    }

    fn set_names(&self, session: &mut Session, names: Option<&(String, Option<String>)>) -> SqlResult<()> {
        let (charset, collation) = match names {
            None => ("utf8mb4".to_owned(), None),
            Some((charset, collation)) => (charset.clone(), collation.clone()),
        };
        let default = palisade_plan::bind::literal::charset_collation(&charset)?;
        let chosen = match &collation {
            None => default,
            Some(name) => {
                let found = palisade_catalog::Collation::by_name(name)
                    .ok_or_else(|| palisade_expr::error::unknown_collation(name))?;
                if found.charset != default.get().charset {
                    return Err(mysql_error!(ER_COLLATION_CHARSET_MISMATCH, found.name, charset));
                }
                found.id
            }
        };
        let name = default.get().charset.name();
        for variable in ["character_set_client", "character_set_results", "character_set_connection"] {
            self.host().set_variable(
                session,
                services::Scope::Session,
                variable,
                Some(Value::bytes(name)),
            )?;
        }
        let collation = Value::bytes(chosen.get().name);
        self.host().set_variable(session, services::Scope::Session, "collation_connection", Some(collation))
    }

    fn set_charset(&self, session: &mut Session, charset: Option<&str>) -> SqlResult<()> {
        let default: CollationId =
            palisade_plan::bind::literal::charset_collation(charset.unwrap_or("utf8mb4"))?;
        let name = default.get().charset.name();
        for variable in ["character_set_client", "character_set_results"] {
            self.host().set_variable(
                session,
                services::Scope::Session,
                variable,
                Some(Value::bytes(name)),
            )?;
        }
        let dictionary = self.engine().dictionary();
        let database = session.state.database.as_deref().and_then(|name| dictionary.schema(name));
        let collation = database.map_or(CollationId::default(), |schema| schema.collation);
        let value = Value::bytes(collation.get().name);
        self.host().set_variable(session, services::Scope::Session, "collation_connection", Some(value))
    }
}
