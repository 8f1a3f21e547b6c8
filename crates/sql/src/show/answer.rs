//! Answering SHOW and DESCRIBE: listings filtered by LIKE or WHERE, and sent.

use std::sync::Arc;

use palisade_catalog::{CollationId, Value, ValueRef};
use palisade_exec::run::drive;
use palisade_expr::Slot;
use palisade_expr::error::not_supported;
use palisade_expr::place::At;
use palisade_parser::ast::{self, Show, ShowFilter, ShowWhat, Statement};
use palisade_plan::bind::Binder;
use palisade_plan::bind::scope::{Clause, Scope, Source, SourceColumn};
use palisade_session::sink::ColumnMeta;

use super::{Listing, Shower, filter_like};
use crate::show::profile::is_about_profiles;
use crate::sql::Sql;
use crate::{Completion, ResultSink, Session, SqlResult};

/// Whether a statement only looks at the conditions the last one left.
pub fn is_diagnostic(statement: &Statement) -> bool {
    match statement {
        Statement::Show(show) => matches!(
            show.what,
            ShowWhat::Warnings { .. }
                | ShowWhat::Errors { .. }
                | ShowWhat::CountWarnings
                | ShowWhat::CountErrors
        ),
        Statement::GetDiagnostics(_) => true,
        _ => false,
    }
}

fn metas(listing: &Listing) -> Vec<ColumnMeta> {
    listing.columns.iter().map(|(name, ty)| ColumnMeta::computed(name.clone(), ty.clone())).collect()
}

impl Sql {
    fn shower<'s>(&'s self, session: &'s Session) -> Shower<'s> {
        let temporary = session.temporary.as_deref();
        Shower { engine: self.engine(), host: &**self.host(), session: session.view(), temporary }
    }

    /// Columns of the results of statements that are no queries, for PREPARE.
    pub(crate) fn listing_columns(&self, session: &Session, statement: &Statement) -> Vec<ColumnMeta> {
        let shower = self.shower(session);
        let listing = match statement {
            Statement::Show(show) => shower.listing(&show.what).ok().flatten(),
            Statement::Describe(describe) => shower.columns(&describe.table, false).ok(),
            _ => None,
        };
        listing.map_or(Vec::new(), |listing| metas(&listing))
    }

    pub(crate) async fn show(
        &self,
        session: &mut Session,
        show: &Show,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        if is_about_profiles(&show.what) {
            session.drop_profile();
        }
        let Some(mut listing) = self.shower(session).listing(&show.what)? else {
            let statement = Statement::Show(Box::new(show.clone()));
            return match self.host().administer(self, session, &statement, sink).await {
                Some(result) => result,
                None => Err(not_supported(show.what.name())),
            };
        };
        if reads_tables(&show.what) {
            session.check_branch()?;
        }
        if let Some(ShowFilter::Like(pattern)) = &show.filter {
            filter_like(&mut listing, &show.what, pattern);
        }
        for warning in self.shower(session).invalid(&show.what, &listing) {
            session.state.warnings.warn(warning);
        }
        let condition = match &show.filter {
            Some(ShowFilter::Where(condition)) => Some(&**condition),
            _ => None,
        };
        self.send_listing(session, listing, condition, sink).await
    }

    pub(crate) fn describe(
        &self,
        session: &mut Session,
        describe: &ast::Describe,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        let listing = self.shower(session).columns(&describe.table, false)?;
        session.check_branch()?;
        sink.columns(&metas(&listing))?;
        for row in &listing.rows {
            if let (Some(pattern), Some(Value::Bytes(name))) = (&describe.pattern, row.first())
                && !CollationId::UTF8MB4_GENERAL_CI.get().like(name, pattern, b"\\")
            {
                continue;
            }
            let values: Vec<ValueRef<'_>> = row.iter().map(Value::as_ref).collect();
            sink.row(&values)?;
        }
        Ok(Completion::of_rows())
    }

    async fn send_listing(
        &self,
        session: &mut Session,
        listing: Listing,
        condition: Option<&ast::Expr>,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        let condition = match condition {
            None => None,
            Some(condition) => {
                let bind = |mut binder: Binder<'_>| {
                    let slot = binder.new_slot();
                    let columns = listing
                        .columns
                        .iter()
                        .map(|(name, ty)| SourceColumn {
                            name: name.clone(),
                            ty: ty.clone(),
                            nullable: true,
                            meta: None,
                            hidden: false,
                        })
                        .collect();
                    let source = Source {
                        slot,
                        alias: String::new(),
                        schema: String::new(),
                        table: None,
                        columns,
                        outer: false,
                        through: None,
                    };
                    binder.scopes.push(Scope {
                        sources: vec![source],
                        clause: Clause::Where,
                        ..Scope::default()
                    });
                    let bound = binder.expr(condition)?;
                    binder.scopes.pop();
                    Ok((bound, Arc::new(binder.finish(None)?)))
                };
                Some(self.bound(session, &[], bind).await?)
            }
        };
        sink.columns(&metas(&listing))?;
        let plan = condition.as_ref().map(|(_, plan)| plan.clone());
        let mut context = session.context(&**self.host(), self.engine(), &[], plan);
        let mut cx = context.view();
        let mut sent = 0;
        for row in listing.rows {
            if let Some((condition, _)) = &condition {
                *cx.state.frame.slots.at_mut(0)? = Slot::Values(row.clone().into());
                if drive(&mut cx, |cx| condition.test(&mut cx.lend())).await? != Some(true) {
                    continue;
                }
            }
            let row: Vec<Value> = row
                .into_iter()
                .map(|value| match value {
                    Value::Timestamp(timestamp) => {
                        Value::DateTime(timestamp.to_datetime(&cx.session.variables.time_zone))
                    }
                    other => other,
                })
                .collect();
            let values: Vec<ValueRef<'_>> = row.iter().map(Value::as_ref).collect();
            sink.row(&values)?;
            sent += 1;
            if sink.wants_flush() {
                sink.flush().await?;
            }
        }
        cx.session.found_rows = sent;
        Ok(Completion::of_rows())
    }
}

/// Whether MySQL answers it from tables of `information_schema`, or opens the table it is about: what an XA branch that takes
/// no statements refuses.
fn reads_tables(what: &ShowWhat) -> bool {
    !matches!(
        what,
        ShowWhat::CreateDatabase { .. }
            | ShowWhat::Warnings { .. }
            | ShowWhat::Errors { .. }
            | ShowWhat::CountWarnings
            | ShowWhat::CountErrors
            | ShowWhat::ProcessList { .. }
    )
}
