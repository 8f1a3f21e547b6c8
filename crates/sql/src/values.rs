//! Statements that are about the values of expressions outside any table: DO, and the values that SET and
//! KILL are given.

use std::sync::Arc;

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::{SqlType, Value};
use palisade_exec::run::{convert_beforehand, drive};
use palisade_parser::ast;
use palisade_plan::bind::Binder;
use palisade_plan::bind::scope::Scope;

use crate::sql::Sql;
use crate::{Completion, Session, SqlResult};

impl Sql {
    /// Values of expressions outside any table.
    pub(crate) async fn values(
        &self,
        session: &mut Session,
        exprs: &[ast::Expr],
        parameters: &[Value],
    ) -> SqlResult<Vec<(Value, SqlType)>> {
        let bind = |mut binder: Binder<'_>| {
            binder.scopes.push(Scope::default());
            let bound = binder.all(exprs)?;
            binder.scopes.pop();
            Ok((bound, Arc::new(binder.finish(None)?)))
        };
        let (bound, plan) = self.bound(session, parameters, bind).await?;
        session.check_branch_for(&plan)?;
        let savepoint = match plan.tables.is_empty() {
            true => None,
            false => Some(self.begin_statement(session)?),
        };
        let mut context = session.context(&**self.host(), self.engine(), parameters, Some(plan.clone()));
        let mut cx = context.view();
        let result = match convert_beforehand(&mut cx, &plan).await {
            Ok(()) => drive(&mut cx, |cx| palisade_exec::evaluate_all(&bound, cx)).await,
            Err(error) => Err(error),
        };
        drop(context);
        if let Some(savepoint) = savepoint {
            self.end_statement(session, savepoint, result.as_ref().err()).await?;
        }
        Ok(result?.into_iter().zip(bound.into_iter().map(|expr| expr.ty)).collect())
    }

    /// The value of one, and its type.
    pub(crate) async fn value(
        &self,
        session: &mut Session,
        expr: &ast::Expr,
        parameters: &[Value],
    ) -> SqlResult<(Value, SqlType)> {
        let mut values = self.values(session, std::slice::from_ref(expr), parameters).await?;
        values.pop().ok_or_else(|| mysql_error!(ER_EMPTY_QUERY))
    }

    /// KILL.
    pub(crate) async fn kill(
        &self,
        session: &mut Session,
        kill: &ast::Kill,
        parameters: &[Value],
    ) -> SqlResult<Completion> {
        let id = match self.value(session, &kill.id, parameters).await? {
            (Value::Int(id), _) => u64::try_from(id).unwrap_or(0),
            (Value::UInt(id), _) => id,
            _ => 0,
        };
        self.host().kill(&session.state, id, kill.query_only)?;
        Ok(Completion::default())
    }
}
