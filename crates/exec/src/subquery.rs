//! Subqueries in expressions.
//!
//! | module | what it holds |
//! |---|---|
//! | `memo` | what one gave, by the outer values that it depends on |

mod memo;

use palisade_base::error_catalogue::ER_SUBQUERY_NO_1_ROW;
use palisade_base::mysql_error;
use palisade_catalog::Value;
use palisade_expr::eval::truth_value;
use palisade_expr::membership::{Among, RowKeys, has_keys};
use palisade_expr::place::At;
use palisade_expr::{Comparison, Context, Domain, Slot, SqlAttempt, SqlError, Subquery, SubqueryUse};
use palisade_plan::Query;

use self::memo::Memo;
use super::{ExecContext, KeptRow, State};

/// Rows that are compared between two looks at whose turn it is.
const PART: usize = 256;

/// What one execution knows of a subquery.
#[derive(Debug, Default)]
pub struct SubqueryState {
    state: Option<State>,
    /// Rows to compare with: those of one that does not depend on outer rows are computed once.
    rows: Option<Vec<KeptRow>>,
    /// For EXISTS and scalar use of such a one.
    value: Option<Value>,
    collected: Vec<KeptRow>,
    /// The rows as keys, where they are looked up.
    keys: Option<RowKeys>,
    /// Of the rows that are compared one by one: how many have been, and whether one left it unknown.
    compared: (usize, bool),
    running: bool,
    /// A row of the query is in place, not computed yet.
    pending: bool,
    bytes: usize,
    memo: Memo,
}

/// The value of a subquery for the current outer rows.
pub fn evaluate(cx: &mut ExecContext<'_, '_>, subquery: &Subquery) -> SqlAttempt<Value> {
    let mut state = std::mem::take(cx.execution.subqueries.at_mut(subquery.number)?);
    let plan = cx
        .execution
        .plan
        .clone()
        .ok_or_else(|| SqlError::internal("a statement with subqueries has a plan"))?;
    let query = plan.subqueries.at(subquery.number)?.as_ref();
    let query = query.ok_or_else(|| SqlError::internal("a subquery that has become a join is evaluated"))?;
    let result = state.evaluate(cx, subquery, query);
    *cx.execution.subqueries.at_mut(subquery.number)? = state;
    result
}

impl SubqueryState {
    fn evaluate(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        subquery: &Subquery,
        plan: &Query,
    ) -> SqlAttempt<Value> {
        if let Some(value) = &self.value
            && !subquery.correlated
        {
            return Ok(value.clone());
        }
        let remembered = plan.deciding_columns.as_deref().filter(|_| subquery.correlated);
        if let Some(columns) = remembered
            && !matches!(subquery.usage, SubqueryUse::Quantified { .. })
        {
            let known = self.memo.find(&cx.state.frame, columns)?;
            let value = match known {
                Some(value) => {
                    self.memo.count(true, plan.cost);
                    return Ok(value);
                }
                None => self.compute(cx, subquery, plan)?,
            };
            self.memo.count(false, plan.cost);
            self.memo.remember(&value, plan.cost);
            cx.session.charge(self.memo.size())?;
            return Ok(value);
        }
        self.compute(cx, subquery, plan)
    }

    /// Runs the subquery. May ask to wait, and goes on then for the same rows.
    fn compute(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        subquery: &Subquery,
        plan: &Query,
    ) -> SqlAttempt<Value> {
        match &subquery.usage {
            SubqueryUse::Scalar => {
                self.collect(cx, plan, 2)?;
                if self.collected.len() > 1 {
                    return Err(mysql_error!(ER_SUBQUERY_NO_1_ROW).into());
                }
                let first = self.collected.first().and_then(|row| row.first());
                let value = first.cloned().unwrap_or_default();
                self.value = Some(value.clone());
                Ok(value)
            }
            SubqueryUse::Exists { negated } => {
                self.collect(cx, plan, 1)?;
                let value = Value::Int(i64::from(self.collected.is_empty() == *negated));
                self.value = Some(value.clone());
                Ok(value)
            }
            SubqueryUse::Quantified { left, comparison, domains, all, negated } => {
                if self.rows.is_none() {
                    let is_membership = matches!(
                        (comparison, all),
                        (Comparison::Equal, false) | (Comparison::NotEqual, true)
                    );
                    if is_membership && !subquery.correlated && domains.iter().all(|own| has_keys(*own)) {
                        self.keys.get_or_insert_default();
                    }
                    self.collect_for(cx, plan, usize::MAX, domains)?;
                    self.rows = Some(std::mem::take(&mut self.collected));
                }
                let mut values = Vec::with_capacity(left.len());
                for expr in left {
                    values.push(expr.eval(&mut cx.lend())?);
                }
                let found = match &self.keys {
                    Some(keys) => keys.find(&mut cx.lend(), &values, left, domains)?,
                    None => Among::Undecided,
                };
                let holds = match found {
                    Among::Equal => Some(*comparison == Comparison::Equal),
                    Among::Unknown => None,
                    Among::NotEqual => self.compare_each(cx, &values, *comparison, domains, *all, true)?,
                    Among::Undecided => self.compare_each(cx, &values, *comparison, domains, *all, false)?,
                };
                if subquery.correlated {
                    self.rows = None;
                }
                Ok(truth_value(holds.map(|holds| holds != *negated)))
            }
        }
    }

    /// `values <comparison> ANY/ALL (rows)`, three-valued, by comparing with one row after the other: with
    /// all of them, or, where it is known that none is equal, with those that have a NULL. May ask to wait in
    /// the middle, and goes on there.
    fn compare_each(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        values: &[Value],
        comparison: Comparison,
        domains: &[Domain],
        all: bool,
        only_null: bool,
    ) -> SqlAttempt<Option<bool>> {
        let rows = self.rows.as_deref().unwrap_or_default();
        let with_null = self.keys.as_ref().map_or(&[][..], RowKeys::with_null);
        let count = if only_null { with_null.len() } else { rows.len() };
        let (mut next, mut unknown) = std::mem::take(&mut self.compared);
        while next < count {
            let row = rows.at(if only_null { *with_null.at(next)? } else { next })?;
            next += 1;
            match compare_rows(&mut cx.lend(), values, row, comparison, domains)? {
                Some(holds) if holds != all => return Ok(Some(holds)),
                Some(_) => {}
                // No row can make up for it.
                None if only_null => return Ok(None),
                None => unknown = true,
            }
            if next.is_multiple_of(PART)
                && let Err(blocked) = cx.take_turns(PART as u32)
            {
                self.compared = (next, unknown);
                return Err(blocked);
            }
        }
        Ok(if unknown { None } else { Some(all) })
    }

    /// Collects rows for EXISTS and scalar use.
    fn collect(&mut self, cx: &mut ExecContext<'_, '_>, plan: &Query, limit: usize) -> SqlAttempt<()> {
        self.collect_for(cx, plan, limit, &[])
    }

    /// Runs the subquery from its beginning until it ends or has given `limit` rows; goes on where it waited.
    fn collect_for(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Query,
        limit: usize,
        domains: &[Domain],
    ) -> SqlAttempt<()> {
        if !self.running {
            self.collected.clear();
            self.bytes = 0;
            if let Some(state) = &mut self.state {
                state.reset();
            }
            self.running = true;
        }
        let state = self.state.get_or_insert_with(|| State::new(&plan.root));
        while self.collected.len() < limit {
            if !self.pending {
                if !state.next(&plan.root, cx)? {
                    break;
                }
                self.pending = true;
            }
            let row: KeptRow = super::settled_all(&plan.output, cx)?.into();
            self.pending = false;
            self.bytes += Slot::Values(row.clone()).size();
            let mut keys_size = 0;
            if let Some(keys) = &mut self.keys {
                let types = plan.output.iter().map(|output| output.ty.clone());
                cx.lend().in_one_go(|cx| keys.add(cx, &row, types, domains))?;
                keys_size = keys.size();
            }
            cx.session.charge(self.bytes + keys_size)?;
            self.collected.push(row);
            cx.take_turns(1)?;
        }
        self.running = false;
        Ok(())
    }
}

fn compare_rows(
    cx: &mut Context<'_>,
    left: &[Value],
    right: &[Value],
    comparison: Comparison,
    domains: &[Domain],
) -> SqlAttempt<Option<bool>> {
    if let ([left], [right], [domain]) = (left, right, domains) {
        return Ok(cx
            .compare(left.as_ref(), right.as_ref(), *domain)?
            .map(|ordering| comparison.holds(ordering)));
    }
    // Rows are compared only for equality or its opposite.
    let mut unknown = false;
    for ((left, right), domain) in left.iter().zip(right).zip(domains) {
        match cx.compare(left.as_ref(), right.as_ref(), *domain)? {
            Some(std::cmp::Ordering::Equal) => {}
            Some(_) => return Ok(Some(comparison == Comparison::NotEqual)),
            None => unknown = true,
        }
    }
    Ok(if unknown { None } else { Some(comparison == Comparison::Equal) })
}
