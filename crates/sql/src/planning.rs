//! Making the plan of a statement for which none is kept: by the hints of a binding, by the plan that it
//! keeps, or as the planner likes it.

use std::sync::Arc;

use palisade_base::error_catalogue::{
    ER_AGGREGATE_ORDER_NON_AGG_QUERY, ER_BAD_FIELD_ERROR, ER_FIELD_IN_ORDER_NOT_SELECT, ER_ILLEGAL_REFERENCE,
    ER_INVALID_GROUP_FUNC_USE, ER_MIX_OF_GROUP_FUNC_AND_FIELDS, ER_NON_UNIQ_ERROR, ER_OPERAND_COLUMNS,
    ER_WRONG_FIELD_WITH_GROUP, ER_WRONG_GROUP_FIELD,
};
use palisade_catalog::Value;
use palisade_expr::SqlError;
use palisade_parser::ast::{self, Statement};
use palisade_plan::Plan;
use palisade_plan::outline::Outline;

use crate::dml::change::{bind_delete, bind_update};
use crate::dml::insert::bind_insert;
use crate::plan_cache::{CachedStatement, Conditions, PLANS_MADE, Prepared};
use crate::sql::Sql;
use crate::{Session, SqlResult};

impl Sql {
    /// The plan of a query or of a change of rows, made now.
    #[inline(never)]
    pub(crate) fn plan_anew(
        &self,
        session: &mut Session,
        statement: &Statement,
        parameters: &[Value],
        prepared: Option<&Arc<Prepared>>,
    ) -> SqlResult<Option<Arc<CachedStatement>>> {
        if crate::dml::instrument::target(session, statement).is_some() {
            return Ok(None);
        }
        let kept = prepared.filter(|_| session.locks.is_none());
        let own_text = session.own_text.take();
        let text = prepared.map(|prepared| prepared.text()).or(own_text.as_deref());
        let own_hints = self.enter_binding(session, text);
        let identity = match (statement, &own_hints) {
            (Statement::Query(_), None) if session.temporary.is_none() => {
                self.kept_by(session, text, parameters)
            }
            _ => None,
        };
        let planned = match (statement, identity) {
            (Statement::Query(query), Some(identity)) => {
                self.plan_by_kept(session, query, &identity, parameters, kept).map(Some)
            }
            _ => self.make_plan(session, statement, parameters, kept),
        };
        self.leave_binding(session, own_hints);
        session.own_text = own_text;
        planned
    }

    fn make_plan(
        &self,
        session: &mut Session,
        statement: &Statement,
        parameters: &[Value],
        prepared: Option<&Arc<Prepared>>,
    ) -> SqlResult<Option<Arc<CachedStatement>>> {
        let planned = if let Statement::Query(query) = statement {
            let plan = self.plan_query(session, query, parameters, None)?;
            CachedStatement::Query(Arc::new(plan), query.into.clone(), None)
        } else {
            let dictionary = session.dictionary(self.engine());
            let mut binder = session.binder(&**self.host(), self.engine(), &dictionary, parameters);
            binder.pace.may_give_way();
            match statement {
                Statement::Insert(insert) => CachedStatement::Insert(bind_insert(binder, insert)?),
                Statement::Update(update) => CachedStatement::Change(bind_update(binder, update)?),
                Statement::Delete(delete) => CachedStatement::Change(bind_delete(binder, delete)?),
                _ => return Ok(None),
            }
        };
        if !matches!(planned, CachedStatement::Query(..)) {
            PLANS_MADE.increment();
        }
        let planned = Arc::new(planned);
        planned.plan().warnings.iter().for_each(|warning| session.state.warnings.warn(warning.clone()));
        keep_planned(session, &planned, parameters, prepared);
        Ok(Some(planned))
    }

    /// The plan of a query, which is held to an outline as far as it can be.
    pub(crate) fn plan_query(
        &self,
        session: &mut Session,
        query: &ast::Query,
        parameters: &[Value],
        outline: Option<Arc<Outline>>,
    ) -> SqlResult<Plan> {
        let dictionary = session.dictionary(self.engine());
        let mut binder = session.binder(&**self.host(), self.engine(), &dictionary, parameters);
        binder.pace.may_give_way();
        binder.outline = outline;
        let bound = match binder.query(query) {
            Ok(bound) => bound,
            Err(error) if session.gives_way() => return Err(error),
            Err(error) => {
                let (warnings, constants) = (binder.warnings, binder.beforehand);
                warnings.into_iter().for_each(|warning| session.state.warnings.warn(warning));
                if is_of_resolving(&error) {
                    self.check_constants(session, &constants, parameters)?;
                }
                return Err(error);
            }
        };
        let max_execution_time = query.max_execution_time();
        let plan = Plan { max_execution_time, ..binder.finish(Some(bound))? };
        PLANS_MADE.increment();
        Ok(plan)
    }
}

/// Whether an error comes while names are resolved, one after the other: of a constant that was compared with
/// a date before, MySQL has told by then that it is none.
#[cold]
fn is_of_resolving(error: &SqlError) -> bool {
    let of_names = [&ER_BAD_FIELD_ERROR, &ER_NON_UNIQ_ERROR, &ER_ILLEGAL_REFERENCE, &ER_OPERAND_COLUMNS];
    let of_groups = [
        &ER_WRONG_FIELD_WITH_GROUP,
        &ER_MIX_OF_GROUP_FUNC_AND_FIELDS,
        &ER_WRONG_GROUP_FIELD,
        &ER_INVALID_GROUP_FUNC_USE,
        &ER_AGGREGATE_ORDER_NON_AGG_QUERY,
        &ER_FIELD_IN_ORDER_NOT_SELECT,
    ];
    of_names.iter().chain(&of_groups).any(|known| known.number == error.number())
}

/// Keeps a plan with its statement, if it may be kept.
pub(crate) fn keep_planned(
    session: &Session,
    planned: &Arc<CachedStatement>,
    parameters: &[Value],
    prepared: Option<&Arc<Prepared>>,
) {
    if let Some(prepared) = prepared
        && planned.plan().cacheable
    {
        // The dictionary may be newer already than it was when planning began.
        let version = planned.plan().dictionary_version;
        prepared.rests_on(&planned.plan().tables);
        prepared.keep(Conditions::of(planned.plan(), session, parameters), planned.clone());
        if let Some(tables) = &session.temporary
            && session.generation_for(planned.plan()) != 0
        {
            tables.keeps(prepared);
        }
        session.plans.planned(prepared, version);
    }
}
