//! The row that an INSERT collides with: REPLACE removes it, ON DUPLICATE KEY UPDATE changes it, and otherwise it is kept
//! from changing until the transaction ends.
//!
//! It is read again, locked ([`collision`]), before anything is decided; it may have gone meanwhile, and the insert then
//! begins anew.

use palisade_base::error_catalogue::*;
use palisade_base::{Blocked, mysql_error};
use palisade_catalog::descriptor::Visibility;
use palisade_catalog::{Column, Value};
use palisade_engine::{Error as EngineError, LockMode, RowAccess, RowBuf, UpdateOutcome};
use palisade_exec::ExecContext;
use palisade_exec::run::drive;
use palisade_exec::store::in_table;
use palisade_expr::Slot;
use palisade_expr::context::view;
use palisade_expr::place::At;
use palisade_session::work::Work;

use super::numbers::{note_given, positive};
use super::{Cell, InsertRun};
use crate::dml::collision;
use crate::dml::foreign::is_violation;
use crate::dml::store::{duplicate_entry, encode_row, value_in};
use crate::{SqlAttempt, SqlResult};

/// What became of a row that REPLACE collides with.
pub(super) enum Replaced {
    Gone,
    Deleted,
    Updated,
    Same,
}

impl InsertRun<'_> {
    /// Reads the row that collides in `index`, locked; false if it is gone meanwhile.
    async fn read_existing(
        &self,
        cx: &mut ExecContext<'_, '_>,
        values: &[Value],
        index: usize,
        strength: LockMode,
        found: &mut RowBuf,
    ) -> SqlResult<bool> {
        let table = &self.plan.table;
        let search = collision::search_key(table, index, |column| Ok(values.at(column)?.as_ref()))?;
        if strength == LockMode::Exclusive {
            // MySQL's engine finds and locks the row that stops an INSERT within the call that inserts
            cx.execution.work.add(Work::HandlerReadKey, 1);
            table.usage().count(Some(index), RowAccess::Fetch, 1);
        }
        collision::read_locked(cx, (table, self.partition), index, &search, strength, found).await
    }

    /// Locks the row that collides in `index` and stays, so that the answer holds until the transaction ends; false if it is
    /// gone meanwhile.
    pub(super) async fn hold_existing(
        &self,
        cx: &mut ExecContext<'_, '_>,
        values: &[Value],
        index: usize,
    ) -> SqlResult<bool> {
        self.read_existing(cx, values, index, LockMode::Shared, &mut RowBuf::new()).await
    }

    /// REPLACE: the row that collides in `index` goes. As in MySQL, one that collides in the last unique index alone and
    /// is the same stays, and counts as inserted only.
    pub(super) async fn delete_existing(
        &self,
        cx: &mut ExecContext<'_, '_>,
        values: &[Value],
        index: usize,
    ) -> SqlResult<Replaced> {
        let table = &self.plan.table;
        let last = !table.indexes.iter().skip(index + 1).any(|index| index.unique);
        let mut found = RowBuf::new();
        loop {
            if !self.read_existing(cx, values, index, LockMode::Exclusive, &mut found).await? {
                return Ok(Replaced::Gone);
            }
            if let Some(family) = self.plan.family.as_ref().filter(|family| family.has_children()) {
                // The row stays for those who refer to it, with new values.
                let old = view(table, found.row())?.to_values();
                family.check_replace(cx, &old, values).await?;
                let outcome = drive(cx, |cx| {
                    match cx.transaction().update(table, found.stamp(), found.row(), &self.encoded) {
                        Ok(outcome) => Ok(Some(outcome)),
                        Err(Blocked::Error(EngineError::DuplicateKey { .. })) => Ok(None),
                        Err(blocked) => Err(blocked.up()),
                    }
                })
                .await?;
                match outcome {
                    Some(UpdateOutcome::Done) => {
                        cx.execution.work.add(Work::HandlerUpdate, 1);
                        table.usage().count(Some(index), RowAccess::Update, 1);
                        family.after_replace(cx, &old, values).await?;
                        return Ok(Replaced::Updated);
                    }
                    Some(UpdateOutcome::Changed) => continue,
                    // It collides with another row as well: this one goes.
                    None => {}
                }
            } else if last {
                let old = view(table, found.row())?;
                let own = |(_, column): &(usize, &Column)| column.visibility != Visibility::System;
                let mut columns = table.columns.iter().enumerate().filter(own);
                if columns.all(|(place, _)| values.get(place).map(Value::as_ref) == Some(old.column(place))) {
                    return Ok(Replaced::Same);
                }
            }
            let outcome = drive(cx, |cx| {
                cx.transaction().delete(table, found.stamp(), found.row()).map_err(Blocked::up)
            })
            .await?;
            if outcome == UpdateOutcome::Done {
                cx.execution.work.add(Work::HandlerDelete, 1);
                table.usage().count(Some(index), RowAccess::Delete, 1);
                if let Some(family) = &self.plan.family {
                    let old = view(table, found.row())?.to_values();
                    family.after_replace(cx, &old, values).await?;
                }
                return Ok(Replaced::Deleted);
            }
        }
    }

    /// ON DUPLICATE KEY UPDATE; false if the row is gone and the insert should be tried again. With IGNORE, a row that foreign
    /// keys keep as it is stays so.
    pub(super) async fn update_existing(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        values: &[Value],
        index: usize,
        number: u64,
        generated: Option<u64>,
    ) -> SqlResult<bool> {
        let before = cx.transaction().savepoint();
        match self.update_found(cx, values, index, number, generated).await {
            Err(violation) if self.plan.ignore && is_violation(&violation) => {
                drive(cx, |cx| cx.transaction().rollback_to(before).map_err(Blocked::up)).await?;
                cx.session.warnings.warn(violation);
                Ok(true)
            }
            updated => updated,
        }
    }

    async fn update_found(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        values: &[Value],
        index: usize,
        number: u64,
        generated: Option<u64>,
    ) -> SqlResult<bool> {
        let plan = self.plan;
        let table = &plan.table;
        let mut found = RowBuf::new();
        loop {
            if !self.read_existing(cx, values, index, LockMode::Exclusive, &mut found).await? {
                return Ok(false);
            }
            let old = view(table, found.row())?.to_values();
            *cx.state.frame.slots.at_mut(plan.inserted)? = Slot::Values(values.into());
            let mut new = drive(cx, |cx| self.updated(cx, &old, number)).await?;
            let changed = plan.updates.iter().any(|(column, _)| new.get(*column) != old.get(*column));
            if !changed {
                self.affected += u64::from(cx.execution.counts_found_rows);
                return self.give(cx, new).await.map(|()| true);
            }
            if (plan.rules.generates() || plan.rules.checks())
                && !Box::pin(self.follow_rules(cx, &mut new, number)).await?
            {
                return Ok(true);
            }
            if let Some(family) = &plan.family {
                family.check_parents(cx, &new, Some(&old)).await?;
                family.check_update(cx, &old, &new).await?;
            }
            let mut partition = found.stamp().partition();
            if plan.rules.partitions.is_some() {
                match Box::pin(self.find_partition(cx, &new)).await? {
                    Some(moved) => partition = moved,
                    None => return Ok(true),
                }
            }
            let mut encoded = Vec::new();
            encode_row(cx, table, value_in(&new), &mut encoded).await?;
            let outcome = drive(cx, |cx| {
                let (stamp, old) = (found.stamp(), found.row());
                let updated = match partition == stamp.partition() {
                    true => cx.transaction().update(table, stamp, old, &encoded),
                    false => cx.transaction().update_into(table, stamp, old, &encoded, partition),
                };
                match updated {
                    Ok(outcome) => Ok(Ok(outcome)),
                    Err(Blocked::Error(EngineError::DuplicateKey { index })) => Ok(Err(index)),
                    Err(blocked) => Err(blocked.up()),
                }
            })
            .await?;
            match outcome {
                Ok(UpdateOutcome::Done) => {
                    cx.execution.work.add(Work::HandlerUpdate, 1);
                    table.usage().count(Some(index), RowAccess::Update, 1);
                    if let Some(family) = &plan.family {
                        family.after_update(cx, &old, &new).await?;
                    }
                    self.affected += 2;
                    self.duplicates += 1;
                    self.written += 1;
                    if let Some(column) = table.auto_increment_column() {
                        if generated.is_some() {
                            self.numbers.explicit = positive(new.at(column)?);
                        }
                        if new.get(column) != old.get(column) {
                            note_given(cx, table, new.at(column)?).await?;
                        }
                    }
                    return self.give(cx, new).await.map(|()| true);
                }
                Ok(UpdateOutcome::Changed) => {}
                Err(index) => {
                    let search = collision::search_key(table, index, |column| Ok(new.at(column)?.as_ref()))?;
                    if !collision::hold(cx, (table, partition), index, &search).await? {
                        continue;
                    }
                    let error = duplicate_entry(table, index, |column| new.at(column).cloned());
                    if !plan.ignore {
                        return Err(error);
                    }
                    cx.session.warnings.warn(error);
                    return Ok(true);
                }
            }
        }
    }

    fn updated(&self, cx: &mut ExecContext<'_, '_>, old: &[Value], number: u64) -> SqlAttempt<Vec<Value>> {
        let plan = self.plan;
        let mut new = old.to_vec();
        for (column, cell) in &plan.updates {
            let known = plan.table.columns.at(*column)?;
            *cx.state.frame.slots.at_mut(plan.existing)? = Slot::Values(new.as_slice().into());
            *new.at_mut(*column)? = match cell {
                Cell::Default if known.generated.is_some() => continue,
                Cell::Default => cx.default_value(plan.rules.defaults.at(*column)?, known, number)?,
                Cell::Expr(expr) => {
                    let value = expr.eval(&mut cx.lend())?;
                    if value.is_null() && !known.nullable {
                        cx.lend().warn_or_fail(mysql_error!(ER_BAD_NULL_ERROR, known.name))?;
                        palisade_catalog::store::implicit_default(known)
                    } else {
                        let stored = cx.store_of(value.as_ref(), expr, known, number);
                        stored.map_err(|error| in_table(error, &plan.table, known))?
                    }
                }
            };
        }
        let changed = plan.updates.iter().any(|(column, _)| new.get(*column) != old.get(*column));
        if changed {
            for (column, known) in plan.table.columns.iter().enumerate() {
                if known.on_update_now && !plan.updates.iter().any(|(assigned, _)| *assigned == column) {
                    *new.at_mut(column)? = cx.store_now(known, number)?;
                }
            }
        }
        Ok(new)
    }
}
