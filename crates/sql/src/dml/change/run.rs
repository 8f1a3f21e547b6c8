//! Changing the rows that the plan finds, each by the version that was read.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use palisade_base::error_catalogue::*;
use palisade_base::{Blocked, mysql_error};
use palisade_catalog::{RowView, Value, ValueRef};
use palisade_engine::{
    Error as EngineError, LockMode, LockWait, ReadMode, RowAccess, RowBuf, RowStamp, Table, UpdateOutcome,
};
use palisade_exec::run::{drive, end_row};
use palisade_exec::scan::clustered_key;
use palisade_exec::store::in_table;
use palisade_exec::{ExecContext, State};
use palisade_expr::Slot;
use palisade_expr::context::view;
use palisade_expr::place::At;
use palisade_plan::partition::{RowPartitions, RowValues};
use palisade_session::work::Work;
use smallvec::SmallVec;

use super::{ChangePlan, Target};
use crate::dml::collision;
use crate::dml::foreign::is_violation;
use crate::dml::insert::{Cell, note_given};
use crate::dml::returning::Returned;
use crate::dml::store::{belongs_nowhere, duplicate_entry, encode_row};
use crate::dml::through::is_refused;
use crate::{SqlAttempt, SqlError, SqlResult};

/// An UPDATE or DELETE while it runs.
pub struct ChangeRun<'p> {
    plan: &'p ChangePlan,
    pub matched: u64,
    pub changed: u64,
    /// A row read again.
    old: RowBuf,
    /// Of tables that are changed under several names: rows as they were before this statement, by table and key.
    originals: HashMap<(u64, Vec<u8>), Slot>,
    /// The row being changed.
    bytes: Vec<u8>,
    new: Vec<u8>,
    /// IGNORE has passed over the row.
    is_passed_over: bool,
    /// Where RETURNING sends its rows.
    pub returned: Option<Box<Returned<'p>>>,
}

/// Counts a row that was changed.
fn count(cx: &mut ExecContext<'_, '_>, plan: &ChangePlan, target: &Target) {
    let (work, access) = match plan.is_update {
        true => (Work::HandlerUpdate, RowAccess::Update),
        false => (Work::HandlerDelete, RowAccess::Delete),
    };
    cx.execution.work.add(work, 1);
    target.table.usage().count(target.index, access, 1);
}

impl<'p> ChangeRun<'p> {
    pub fn new(plan: &'p ChangePlan, returned: Option<Box<Returned<'p>>>) -> ChangeRun<'p> {
        ChangeRun {
            plan,
            matched: 0,
            changed: 0,
            old: RowBuf::new(),
            originals: HashMap::new(),
            bytes: Vec::new(),
            new: Vec::new(),
            is_passed_over: false,
            returned,
        }
    }

    /// Changes every row that the plan finds.
    pub async fn all(&mut self, cx: &mut ExecContext<'_, '_>) -> SqlResult<()> {
        let plan = self.plan;
        let query = plan
            .plan
            .query
            .as_ref()
            .ok_or_else(|| SqlError::internal("a change without a query for its rows"))?;
        if let Some(returned) = &mut self.returned {
            Box::pin(returned.begin(cx)).await?;
        }
        let mut state = State::new(&query.root);
        if !plan.collect {
            let target = plan.targets.at(0)?;
            while drive(cx, |cx| state.next(&query.root, cx)).await? {
                self.one(cx, target).await?;
            }
            return Ok(());
        }
        // Each target's rows, and with each the rows of all tables that were in place: assignments read those.
        let mut found: Vec<Vec<(Slot, Arc<[Slot]>)>> = plan.targets.iter().map(|_| Vec::new()).collect();
        let mut seen: Vec<HashSet<Vec<u8>>> = plan.targets.iter().map(|_| HashSet::new()).collect();
        let others: Vec<usize> = {
            let mut slots = Vec::new();
            query.root.slots(&mut slots);
            slots
        };
        let keeps_others = plan.is_update && others.len() > 1;
        let nothing: Arc<[Slot]> = Arc::new([]);
        let mut bytes = 0;
        while drive(cx, |cx| state.next(&query.root, cx)).await? {
            let mut joined: Option<Arc<[Slot]>> = None;
            for (position, target) in plan.targets.iter().enumerate() {
                let Some((table, row, _)) = cx.state.frame.slots.at(target.slot)?.stored() else { continue };
                let key = clustered_key(table, row)?;
                if !seen.at_mut(position)?.insert(key) {
                    continue;
                }
                bytes += row.len() + 200;
                let kept = match keeps_others {
                    true => match &mut joined {
                        Some(kept) => kept,
                        joined => joined.insert(cx.state.frame.keep(&others)?),
                    },
                    false => &nothing,
                };
                bytes += kept.iter().map(Slot::size).sum::<usize>();
                found.at_mut(position)?.push((cx.state.frame.slots.at(target.slot)?.keep(), kept.clone()));
                cx.session.charge(bytes)?;
            }
        }
        for (target, rows) in plan.targets.iter().zip(found) {
            for (slot, kept) in rows {
                for (other, row) in others.iter().zip(kept.iter()) {
                    *cx.state.frame.slots.at_mut(*other)? = row.clone();
                }
                *cx.state.frame.slots.at_mut(target.slot)? = slot;
                self.one(cx, target).await?;
                end_row(cx).await?;
            }
        }
        Ok(())
    }

    /// Changes the row in the target's slot.
    async fn one(&mut self, cx: &mut ExecContext<'_, '_>, target: &Target) -> SqlResult<()> {
        let plan = self.plan;
        let Some((table, row, mut stamp)) = cx.state.frame.slots.at(target.slot)?.stored() else {
            return Ok(());
        };
        let table = table.clone();
        self.bytes.clear();
        self.bytes.extend_from_slice(row);
        self.matched += 1;
        // A parent is locked before its children are looked for: it is read again for that. So is a row that somebody was
        // changing: what it will be assigned is computed from the version that it has then.
        let mut unlocked =
            stamp.is_semi_consistent() || target.family.as_ref().is_some_and(|family| family.has_children());
        let mut locked = false;
        let kin = target.family.is_some() && (plan.ignore || !plan.is_update);
        // What the slot held before the row was read again: it is put back for the scan to go on.
        let mut before = None;
        loop {
            let outcome = if std::mem::take(&mut unlocked) {
                Ok(Some(UpdateOutcome::Changed))
            } else if kin {
                Box::pin(self.apply_with_kin(cx, target, &table, stamp)).await
            } else if plan.is_update {
                self.update(cx, target, &table, stamp).await
            } else {
                let bytes = &self.bytes;
                let deleted =
                    drive(cx, |cx| cx.transaction().delete(&table, stamp, bytes).map_err(Blocked::up));
                deleted.await.map(Some)
            };
            if let Some(before) = before.take() {
                *cx.state.frame.slots.at_mut(target.slot)? = before;
            }
            match outcome? {
                // Matched is locked, changed or not.
                None if locked || self.hold(cx, &table, stamp).await? => {
                    return self.give(cx, target, (&table, stamp), false).await;
                }
                None | Some(UpdateOutcome::Changed) => {}
                Some(UpdateOutcome::Done) => {
                    self.changed += 1;
                    if target.is_shared {
                        let key = (table.id, clustered_key(&table, &self.bytes)?);
                        let bytes = self.bytes.clone();
                        let original = || Slot::Row { table: table.clone(), bytes, stamp };
                        self.originals.entry(key).or_insert_with(original);
                    }
                    count(cx, plan, target);
                    return self.give(cx, target, (&table, stamp), plan.is_update).await;
                }
            }
            // Someone was faster: look at the row again, and queue for it with all others that want it.
            let key = clustered_key(&table, &self.bytes)?;
            let mut again = std::mem::take(&mut self.old);
            let found = read_locked(cx, (&table, stamp.partition()), &key, &mut again).await?;
            let newly_locked = again.is_newly_locked();
            locked = true;
            if !found {
                self.matched -= 1;
                return Ok(());
            }
            stamp = again.stamp();
            self.bytes.clear();
            self.bytes.extend_from_slice(again.row());
            self.old = again;
            let row = match self.originals.get(&(table.id, key.clone())) {
                Some(original) => original.clone(),
                None => Slot::Row { table: table.clone(), bytes: self.bytes.clone(), stamp },
            };
            let known = std::mem::replace(cx.state.frame.slots.at_mut(target.slot)?, row);
            if let Some(condition) = &plan.condition
                && drive(cx, |cx| condition.test(&mut cx.lend())).await? != Some(true)
            {
                self.matched -= 1;
                *cx.state.frame.slots.at_mut(target.slot)? = known;
                if newly_locked {
                    cx.transaction().unlock_row(&table, stamp, &key);
                }
                return Ok(());
            }
            before = Some(known);
        }
    }

    /// Locks the row in `self.bytes`, which is not changed after all; false if it is no longer the version `stamp`.
    async fn hold(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        table: &Arc<Table>,
        stamp: RowStamp,
    ) -> SqlResult<bool> {
        let key = clustered_key(table, &self.bytes)?;
        let found = read_locked(cx, (table, stamp.partition()), &key, &mut self.old).await?;
        Ok(found && self.old.stamp() == stamp)
    }

    /// Changes the row in `self.bytes` with all that depends on it; `None` if it needs no change or was skipped.
    async fn apply_with_kin(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        target: &Target,
        table: &Arc<Table>,
        stamp: RowStamp,
    ) -> SqlResult<Option<UpdateOutcome>> {
        let before = cx.transaction().savepoint();
        let outcome = match self.plan.is_update {
            true => self.update(cx, target, table, stamp).await,
            false => self.delete_with_kin(cx, target, table, stamp).await.map(Some),
        };
        match outcome {
            Err(violation) if self.plan.ignore && is_violation(&violation) => {
                drive(cx, |cx| cx.transaction().rollback_to(before).map_err(Blocked::up)).await?;
                cx.session.warnings.warn(violation);
                self.is_passed_over = true;
                Ok(None)
            }
            outcome => outcome,
        }
    }

    async fn delete_with_kin(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        target: &Target,
        table: &Arc<Table>,
        stamp: RowStamp,
    ) -> SqlResult<UpdateOutcome> {
        let bytes = &self.bytes;
        let family = target.family.as_ref().filter(|family| family.has_children());
        let Some(family) = family else {
            return drive(cx, |cx| cx.transaction().delete(table, stamp, bytes).map_err(Blocked::up)).await;
        };
        let old = view(table, bytes)?.to_values();
        family.check_delete(cx, &old).await?;
        let outcome =
            drive(cx, |cx| cx.transaction().delete(table, stamp, bytes).map_err(Blocked::up)).await?;
        if outcome == UpdateOutcome::Done {
            family.after_delete(cx, &old).await?;
        }
        Ok(outcome)
    }

    /// Updates the row in `self.bytes`; `None` if it needs no change or was skipped.
    async fn update(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        target: &Target,
        table: &Arc<Table>,
        stamp: RowStamp,
    ) -> SqlResult<Option<UpdateOutcome>> {
        let number = self.matched;
        let assigned = drive(cx, |cx| assigned_values(cx, target, &self.bytes, number)).await?;
        let Some(mut assigned) = assigned else { return Ok(None) };
        let old = view(table, &self.bytes)?;
        if target.rules.generates() || target.rules.checks() {
            let mut all: Vec<Value> = (0..table.columns.len())
                .map(|column| new_value(&old, &assigned, column).to_owned())
                .collect();
            if !Box::pin(self.follow_rules(cx, target, table, &mut all)).await? {
                self.is_passed_over = true;
                return Ok(None);
            }
            for ((place, value), column) in all.into_iter().enumerate().zip(&table.columns) {
                if column.generated.is_some() {
                    assigned.push((place, value));
                }
            }
        }
        let value = |column: usize| new_value(&old, &assigned, column);
        let kept = match &target.family {
            Some(family) => {
                let all = |column| new_value(&old, &assigned, column).to_owned();
                let new: Vec<Value> = (0..table.columns.len()).map(all).collect();
                let old = old.to_values();
                family.check_parents(cx, &new, Some(&old)).await?;
                family.check_update(cx, &old, &new).await?;
                Some((family, old, new))
            }
            None => None,
        };
        let mut partition = stamp.partition();
        if let Some(partitions) = &target.rules.partitions
            && assigned.iter().any(|(column, _)| partitions.scheme.columns().contains(column))
        {
            match Box::pin(self.find_partition(cx, partitions, &value)).await? {
                Some(found) => partition = found,
                None => {
                    self.is_passed_over = true;
                    return Ok(None);
                }
            }
        }
        self.new.clear();
        self.new.reserve(self.bytes.len());
        encode_row(cx, table, value, &mut self.new).await?;
        let (bytes, new) = (&self.bytes, &self.new);
        let outcome = drive(cx, |cx| {
            let updated = match partition == stamp.partition() {
                true => cx.transaction().update(table, stamp, bytes, new),
                false => cx.transaction().update_into(table, stamp, bytes, new, partition),
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
                if let Some((family, old, new)) = &kept {
                    family.after_update(cx, old, new).await?;
                }
                if let Some(column) = table.auto_increment_column()
                    && assigned.iter().any(|(assigned, _)| *assigned == column)
                {
                    note_given(cx, table, &value(column).to_owned()).await?;
                }
                Ok(Some(UpdateOutcome::Done))
            }
            Ok(UpdateOutcome::Changed) => Ok(Some(UpdateOutcome::Changed)),
            Err(index) => {
                let search = collision::search_key(table, index, |column| Ok(value(column)))?;
                if !Box::pin(collision::hold(cx, (table, partition), index, &search)).await? {
                    // It has gone meanwhile.
                    return Ok(Some(UpdateOutcome::Changed));
                }
                let error = duplicate_entry(table, index, |column| Ok(value(column).to_owned()));
                if !self.plan.ignore {
                    return Err(error);
                }
                cx.session.warnings.warn(error);
                self.is_passed_over = true;
                Ok(None)
            }
        }
    }
}

impl ChangeRun<'_> {
    /// The partition where a changed row belongs; `None` if it belongs in none that it may be in, and IGNORE
    /// skips it.
    async fn find_partition(
        &self,
        cx: &mut ExecContext<'_, '_>,
        partitions: &RowPartitions,
        row: &RowValues<'_>,
    ) -> SqlResult<Option<usize>> {
        match drive(cx, |cx| cx.partition_of(partitions, row)).await {
            Err(refused) if self.plan.ignore && belongs_nowhere(&refused) => {
                cx.session.warnings.warn(refused);
                Ok(None)
            }
            found => found.map(Some),
        }
    }

    /// The row in `self.bytes` has been looked after, and is what `self.new` says if it is `updated`: it is sent, if
    /// the statement returns its rows.
    #[inline]
    async fn give(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        target: &Target,
        (table, stamp): (&Arc<Table>, RowStamp),
        updated: bool,
    ) -> SqlResult<()> {
        let is_passed_over = std::mem::take(&mut self.is_passed_over);
        match &mut self.returned {
            Some(returned) if !is_passed_over => {
                let bytes = if updated { self.new.clone() } else { self.bytes.clone() };
                let row = Slot::Row { table: table.clone(), bytes, stamp };
                Box::pin(returned.row(cx, target.slot, row)).await
            }
            _ => Ok(()),
        }
    }

    /// Computes the generated columns of a row and checks it; false if IGNORE skips it. Apart from `update`, whose rows
    /// mostly have no rules, so that its future stays small.
    async fn follow_rules(
        &self,
        cx: &mut ExecContext<'_, '_>,
        target: &Target,
        table: &Arc<Table>,
        all: &mut [Value],
    ) -> SqlResult<bool> {
        let number = self.matched;
        drive(cx, |cx| cx.generate(&target.rules, table, target.slot, all, number)).await?;
        match drive(cx, |cx| cx.check_row(&target.rules, target.slot, all)).await {
            Err(violation) if self.plan.ignore && is_refused(&violation) => {
                cx.session.warnings.warn(violation);
                Ok(false)
            }
            checked => checked.map(|()| true),
        }
    }
}

fn new_value<'v>(old: &RowView<'v>, assigned: &'v [(usize, Value)], column: usize) -> ValueRef<'v> {
    match assigned.iter().rev().find(|(known, _)| *known == column) {
        Some((_, value)) => value.as_ref(),
        None => old.column(column),
    }
}

/// Columns and what they are assigned.
type Assigned = SmallVec<[(usize, Value); 2]>;

/// The values assigned; `None` if they are those the row has already.
fn assigned_values(
    cx: &mut ExecContext<'_, '_>,
    target: &Target,
    bytes: &[u8],
    number: u64,
) -> SqlAttempt<Option<Assigned>> {
    let table = &target.table;
    let mut assigned = Assigned::new();
    let mut kept = None;
    let result = (|| -> SqlAttempt<()> {
        for (column, cell) in &target.assignments {
            let known = table.columns.at(*column)?;
            let value = match cell {
                Cell::Default if known.generated.is_some() => continue,
                Cell::Default => cx.default_value(target.rules.defaults.at(*column)?, known, number)?,
                Cell::Expr(expr) => {
                    let value = expr.eval(&mut cx.lend())?;
                    if value.is_null() && !known.nullable {
                        let error = mysql_error!(ER_BAD_NULL_ERROR, known.name);
                        cx.lend().warn_or_fail(error)?;
                        palisade_catalog::store::implicit_default(known)
                    } else {
                        let stored = cx.store_of(value.as_ref(), expr, known, number);
                        stored.map_err(|error| in_table(error, table, known))?
                    }
                }
            };
            assigned.push((*column, value));
            if target.sequential {
                // What follows reads the new values.
                let old = view(table, bytes)?;
                let values: Vec<Value> = (0..table.columns.len())
                    .map(|column| new_value(&old, &assigned, column).to_owned())
                    .collect();
                let before =
                    std::mem::replace(cx.state.frame.slots.at_mut(target.slot)?, Slot::Values(values.into()));
                kept.get_or_insert(before);
            }
        }
        Ok(())
    })();
    if let Some(before) = kept {
        *cx.state.frame.slots.at_mut(target.slot)? = before;
    }
    result?;
    let old = view(table, bytes)?;
    let changed =
        assigned.iter().any(|(column, _)| new_value(&old, &assigned, *column) != old.column(*column));
    if !changed {
        return Ok(None);
    }
    for (column, known) in table.columns.iter().enumerate() {
        if known.on_update_now && !assigned.iter().any(|(known, _)| *known == column) {
            assigned.push((column, cx.store_now(known, number)?));
        }
    }
    Ok(Some(assigned))
}

/// Reads a row of a partition by its clustered key, and locks it.
async fn read_locked(
    cx: &mut ExecContext<'_, '_>,
    (table, partition): (&Arc<Table>, usize),
    key: &[u8],
    row: &mut RowBuf,
) -> SqlResult<bool> {
    let mode = ReadMode::Locked(LockMode::Exclusive, LockWait::Wait);
    drive(cx, |cx| cx.transaction().point_read_in(table, partition, 0, key, mode, row).map_err(Blocked::up))
        .await
}
