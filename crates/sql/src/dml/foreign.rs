//! Foreign keys at work: a child has a parent, and what happens to the children of a parent that goes.
//!
//! A child's parent is read with a shared lock, which the transaction keeps: nobody deletes it meanwhile. A parent is
//! locked exclusively before its children are looked for, so that none comes into being unseen; then RESTRICT is
//! decided, the parent is changed, and CASCADE and SET NULL follow it. Children changed by a cascade are parents
//! themselves: the plan holds all tables that a statement can reach ([`Family`]), each with the rules of its rows.

use std::sync::Arc;

use palisade_base::error_catalogue::*;
use palisade_base::{Blocked, mysql_error};
use palisade_catalog::descriptor::ForeignKey;
use palisade_catalog::{RowView, SqlType, Value, ValueRef, key};
use palisade_engine::{
    Bound, Direction, Error as EngineError, KeyRange, LockMode, LockWait, ReadMode, RowBatch, RowBuf,
    RowStamp, Scan, Table, UpdateOutcome,
};
use palisade_exec::ExecContext;
use palisade_exec::run::{drive, end_row};
use palisade_exec::store::row_error;
use palisade_expr::context::view;
use palisade_expr::convert::text_of;
use palisade_expr::place::At;
use palisade_plan::bind::Binder;
use palisade_plan::bind::row_rules::RowRules;
use palisade_plan::bind::scope::{Scope, Source};

use super::collision;
use super::store::{duplicate_entry, encode_row, value_in};
use crate::ddl::foreign::{ParentIndex, begins_with, parent_index};
use crate::{BoxFuture, ForeignKeyFailure, Side, SqlError, SqlResult};

/// Deepest cascade, the row that the statement changes included.
const MOST_DEPTH: usize = 15;

/// A table and all that its changes can reach through foreign keys.
#[derive(Debug)]
pub struct Family {
    /// The table of the statement is the first.
    members: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    table: Arc<Table>,
    rules: RowRules,
    /// Where its rules' expressions see a row.
    slot: usize,
    parents: Vec<Parent>,
    children: Vec<Child>,
}

/// A foreign key of the table, from its side.
#[derive(Debug)]
struct Parent {
    key: ForeignKey,
    /// The table it refers to, and its index; `None` if it is not there.
    table: Option<(Arc<Table>, ParentIndex)>,
}

/// A foreign key that refers to the table.
#[derive(Debug)]
struct Child {
    member: usize,
    /// Which of its foreign keys.
    key: usize,
    /// The places here of the columns it refers to.
    columns: Vec<u16>,
    /// The child's index that begins with its columns.
    index: usize,
}

/// What foreign keys make of changes to `table`; `None` if there are none, or they are not checked.
pub(crate) fn family(binder: &mut Binder<'_>, table: &Arc<Table>) -> SqlResult<Option<Arc<Family>>> {
    let alone = table.is_temporary()
        || table.foreign_keys.is_empty()
            && binder.dictionary.referring(&table.schema, &table.name).next().is_none();
    if alone || !binder.session.variables.foreign_key_checks {
        return Ok(None);
    }
    let mut tables = vec![table.clone()];
    let mut members = Vec::new();
    while let Some(table) = tables.get(members.len()).cloned() {
        let member = member(binder, table, &mut tables)?;
        members.push(member);
    }
    Ok(Some(Arc::new(Family { members })))
}

fn member(binder: &mut Binder<'_>, table: Arc<Table>, tables: &mut Vec<Arc<Table>>) -> SqlResult<Member> {
    let slot = binder.new_slot();
    let source = Source::of_table(slot, table.name.clone(), table.clone());
    binder.scopes.push(Scope { sources: vec![source], ..Scope::default() });
    let rules = binder.rules(&table);
    binder.scopes.pop();
    let parent = |key: &ForeignKey| {
        let found = binder.dictionary.stored_table(&key.referenced_schema, &key.referenced_table).ok();
        let table = found.and_then(|parent| {
            let index = parent_index(parent, key)?;
            Some((parent.clone(), index))
        });
        Parent { key: key.clone(), table }
    };
    let parents = table.foreign_keys.iter().map(parent).collect();
    let mut children = Vec::new();
    for child in binder.dictionary.referring(&table.schema, &table.name) {
        for (number, key) in child.foreign_keys.iter().enumerate() {
            if (&key.referenced_schema, &key.referenced_table) != (&table.schema, &table.name) {
                continue;
            }
            let index = child.indexes.iter().position(|index| begins_with(index, &key.columns));
            let (Some(parent), Some(index)) = (parent_index(&table, key), index) else { continue };
            let member = tables.iter().position(|known| Arc::ptr_eq(known, child));
            let member = member.unwrap_or_else(|| {
                tables.push(child.clone());
                tables.len() - 1
            });
            children.push(Child { member, key: number, columns: parent.places, index });
        }
    }
    Ok(Member { rules: rules?, table, slot, parents, children })
}

/// What happens to a row of a parent.
#[derive(Clone, Copy)]
enum Fate<'v> {
    Deleted,
    Updated(&'v [Value]),
    /// REPLACE: those who do not refer to the new row are treated as if theirs were deleted.
    Replaced(&'v [Value]),
}

/// What becomes of those who refer to a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    /// If there are any, the row cannot go.
    Restrict,
    Cascade,
    SetNull,
}

/// A row that a statement changes or that a cascade has come to, and the one from which it came.
#[derive(Clone, Copy)]
struct Step<'c> {
    member: usize,
    fate: Fate<'c>,
    above: Option<&'c Step<'c>>,
}

impl<'c> Step<'c> {
    /// The row of the statement.
    fn first(fate: Fate<'c>) -> Step<'c> {
        Step { member: 0, fate, above: None }
    }

    fn chain(&self) -> impl Iterator<Item = &Step<'c>> {
        std::iter::successors(Some(self), |step| step.above)
    }

    /// What `key` says of those who refer to the row.
    fn action(&self, key: &ForeignKey) -> Action {
        let action = match self.fate {
            Fate::Deleted | Fate::Replaced(_) => &key.on_delete,
            Fate::Updated(_) => &key.on_update,
        };
        match action.as_str() {
            "CASCADE" => Action::Cascade,
            "SET NULL" => Action::SetNull,
            _ => Action::Restrict,
        }
    }

    /// [`action`](Self::action) on rows of `member`. An update that comes back to a table which it has updated goes no further:
    /// there would be no end to it.
    fn action_on(&self, member: usize, key: &ForeignKey) -> Action {
        let updates = |step: &Step<'_>| step.member == member && matches!(step.fate, Fate::Updated(_));
        match self.fate {
            Fate::Updated(_) if self.chain().any(updates) => Action::Restrict,
            _ => self.action(key),
        }
    }
}

/// A foreign key that forbids what becomes of a row.
struct Forbidden<'f> {
    side: Side,
    child: &'f Table,
    /// The child's index that begins with the key's columns, if it is known.
    child_index: Option<usize>,
    key: &'f ForeignKey,
    parent: Option<&'f Table>,
    /// The row's values, and their columns.
    values: Vec<(&'f Value, &'f SqlType)>,
}

impl Forbidden<'_> {
    /// Whether the session may not know of both tables.
    fn is_hidden(&self, cx: &ExecContext<'_, '_>) -> bool {
        let hidden = |schema: &str, table: &str| !cx.execution.host.may_see(cx.session, schema, Some(table));
        let (child, key) = (self.child, self.key);
        cx.session.is_restricted()
            && (hidden(&child.schema, &child.name) || hidden(&key.referenced_schema, &key.referenced_table))
    }

    /// The error: 1452 or 1451 with `(`db`.`child`, CONSTRAINT ...)`, unless that is hidden. The host hears of it.
    fn error(&self, cx: &mut ExecContext<'_, '_>) -> SqlError {
        let (child, key) = (self.child, self.key);
        let constraint = crate::show::create::foreign_key_line(child, key);
        let shown = match self.is_hidden(cx) {
            true => String::new(),
            false => format!(" (`{}`.`{}`, {constraint})", child.schema, child.name),
        };
        let begins = || child.indexes.iter().position(|index| begins_with(index, &key.columns));
        let child_index = self.child_index.or_else(begins);
        let parent_index = self.parent.and_then(|parent| {
            let found = parent_index(parent, key)?;
            Some(parent.indexes.get(found.index)?.name.as_str())
        });
        let text = |(value, ty): &(&Value, &SqlType)| match value {
            Value::Null => "NULL".to_owned(),
            value => String::from_utf8_lossy(&text_of(value, ty)).into_owned(),
        };
        let failure = ForeignKeyFailure {
            transaction: cx.transaction().described(),
            side: self.side,
            child,
            child_index: child_index.and_then(|index| Some(child.indexes.get(index)?.name.as_str())),
            parent: (&key.referenced_schema, &key.referenced_table),
            parent_index,
            constraint,
            values: self.values.iter().map(text).collect(),
        };
        cx.execution.host.note_foreign_key_failure(cx.session, failure);
        match self.side {
            Side::Child => mysql_error!(ER_NO_REFERENCED_ROW_2, shown),
            Side::Parent => mysql_error!(ER_ROW_IS_REFERENCED_2, shown),
        }
    }
}

// The futures are boxed: those of the statements stay small where there are no foreign keys.
impl Family {
    /// Whether other rows depend on the table's own.
    pub fn has_children(&self) -> bool {
        self.members.first().is_some_and(|member| !member.children.is_empty())
    }

    /// 1452 if a row has no parent. Only foreign keys over columns that differ from `old` are looked at.
    pub fn check_parents<'c>(
        &'c self,
        cx: &'c mut ExecContext<'_, '_>,
        new: &'c [Value],
        old: Option<&'c [Value]>,
    ) -> BoxFuture<'c, SqlResult<()>> {
        Box::pin(self.check_member(cx, 0, new, old, None))
    }

    async fn check_member(
        &self,
        cx: &mut ExecContext<'_, '_>,
        member: usize,
        new: &[Value],
        old: Option<&[Value]>,
        except: Option<usize>,
    ) -> SqlResult<()> {
        let member = self.members.at(member)?;
        for (number, parent) in member.parents.iter().enumerate() {
            if Some(number) == except {
                continue;
            }
            let columns = &parent.key.columns;
            let values = at_places(new, columns)?;
            let same = old.is_some_and(|old| {
                columns.iter().all(|column| old.get(usize::from(*column)) == new.get(usize::from(*column)))
            });
            if same || values.iter().any(ValueRef::is_null) {
                continue;
            }
            let missing = || -> SqlResult<Forbidden<'_>> {
                Ok(Forbidden {
                    side: Side::Child,
                    child: &member.table,
                    child_index: None,
                    key: &parent.key,
                    parent: parent.table.as_ref().map(|(table, _)| &**table),
                    values: typed_at(new, &member.table, columns)?,
                })
            };
            let Some((table, found)) = &parent.table else { return Err(missing()?.error(cx)) };
            let ParentIndex { index, places, is_standard } = found;
            let mut search = Vec::new();
            key::search_key(table, *index, &values, &mut search).map_err(row_error)?;
            // A row may be its own parent.
            if Arc::ptr_eq(table, &member.table) {
                let own = at_places(new, places)?;
                let mut own_key = Vec::new();
                key::search_key(table, *index, &own, &mut own_key).map_err(row_error)?;
                if own_key == search {
                    continue;
                }
            }
            let there = if *is_standard {
                let mut found = RowBuf::new();
                drive(cx, |cx| {
                    let mode = ReadMode::Locked(LockMode::Shared, LockWait::Wait);
                    cx.transaction().point_read(table, *index, &search, mode, &mut found).map_err(Blocked::up)
                })
                .await?
            } else {
                // One of several rows will do.
                !beginning_with(cx, table, *index, &search, LockMode::Shared, 1).await?.is_empty()
            };
            if !there {
                return Err(missing()?.error(cx));
            }
        }
        Ok(())
    }

    /// 1451 if children forbid that the row goes; it is locked exclusively.
    pub fn check_delete<'c>(
        &'c self,
        cx: &'c mut ExecContext<'_, '_>,
        old: &'c [Value],
    ) -> BoxFuture<'c, SqlResult<()>> {
        Box::pin(self.restrict(cx, old, Step::first(Fate::Deleted)))
    }

    /// 1451 if children forbid that the row becomes `new`; it is locked exclusively.
    pub fn check_update<'c>(
        &'c self,
        cx: &'c mut ExecContext<'_, '_>,
        old: &'c [Value],
        new: &'c [Value],
    ) -> BoxFuture<'c, SqlResult<()>> {
        Box::pin(self.restrict(cx, old, Step::first(Fate::Updated(new))))
    }

    /// The row is gone: its children follow.
    pub fn after_delete<'c>(
        &'c self,
        cx: &'c mut ExecContext<'_, '_>,
        old: &'c [Value],
    ) -> BoxFuture<'c, SqlResult<()>> {
        self.cascade(cx, old, Step::first(Fate::Deleted))
    }

    /// The row has become `new`: its children follow.
    pub fn after_update<'c>(
        &'c self,
        cx: &'c mut ExecContext<'_, '_>,
        old: &'c [Value],
        new: &'c [Value],
    ) -> BoxFuture<'c, SqlResult<()>> {
        self.cascade(cx, old, Step::first(Fate::Updated(new)))
    }

    /// 1451 if children forbid that `new` takes the place of the row; it is locked exclusively.
    pub fn check_replace<'c>(
        &'c self,
        cx: &'c mut ExecContext<'_, '_>,
        old: &'c [Value],
        new: &'c [Value],
    ) -> BoxFuture<'c, SqlResult<()>> {
        Box::pin(self.restrict(cx, old, Step::first(Fate::Replaced(new))))
    }

    /// The row makes room for `new`: its children follow.
    pub fn after_replace<'c>(
        &'c self,
        cx: &'c mut ExecContext<'_, '_>,
        old: &'c [Value],
        new: &'c [Value],
    ) -> BoxFuture<'c, SqlResult<()>> {
        self.cascade(cx, old, Step::first(Fate::Replaced(new)))
    }

    /// The start of the keys of a row's children; `None` if it has none that its fate concerns.
    fn children_key(
        &self,
        member: usize,
        child: &Child,
        old: &[Value],
        fate: Fate<'_>,
    ) -> SqlResult<Option<Vec<u8>>> {
        let values = at_places(old, &child.columns)?;
        if values.iter().any(ValueRef::is_null) {
            return Ok(None);
        }
        if let Fate::Updated(new) | Fate::Replaced(new) = fate
            && child
                .columns
                .iter()
                .all(|column| old.get(usize::from(*column)) == new.get(usize::from(*column)))
        {
            return Ok(None);
        }
        let table = &self.members.at(child.member)?.table;
        let mut search = Vec::new();
        key::search_key(table, child.index, &values, &mut search).map_err(row_error)?;
        if let Fate::Updated(new) | Fate::Replaced(new) = fate {
            // Another spelling of the same key changes nothing for those who refer to it.
            let parent = &self.members.at(member)?.table;
            let key = table.foreign_keys.at(child.key)?;
            if let Some(ParentIndex { index, .. }) = parent_index(parent, key) {
                let (mut before, mut after) = (Vec::new(), Vec::new());
                let new = at_places(new, &child.columns)?;
                key::search_key(parent, index, &values, &mut before).map_err(row_error)?;
                key::search_key(parent, index, &new, &mut after).map_err(row_error)?;
                let cascades = matches!(fate, Fate::Updated(_)) && key.on_update == "CASCADE";
                if before == after && !cascades {
                    return Ok(None);
                }
            }
        }
        Ok(Some(search))
    }

    async fn restrict(&self, cx: &mut ExecContext<'_, '_>, old: &[Value], step: Step<'_>) -> SqlResult<()> {
        for child in &self.members.at(step.member)?.children {
            let table = &self.members.at(child.member)?.table;
            let key = table.foreign_keys.at(child.key)?;
            if step.action_on(child.member, key) != Action::Restrict {
                continue;
            }
            let Some(search) = self.children_key(step.member, child, old, step.fate)? else { continue };
            if !beginning_with(cx, table, child.index, &search, LockMode::Shared, 1).await?.is_empty() {
                let parent = &self.members.at(step.member)?.table;
                let forbidden = Forbidden {
                    side: Side::Parent,
                    child: table,
                    child_index: Some(child.index),
                    key,
                    parent: Some(parent),
                    values: typed_at(old, parent, &child.columns)?,
                };
                return Err(forbidden.error(cx));
            }
        }
        Ok(())
    }

    fn cascade<'c>(
        &'c self,
        cx: &'c mut ExecContext<'_, '_>,
        old: &'c [Value],
        step: Step<'c>,
    ) -> BoxFuture<'c, SqlResult<()>> {
        Box::pin(async move {
            for child in &self.members.at(step.member)?.children {
                let table = &self.members.at(child.member)?.table;
                let key = table.foreign_keys.at(child.key)?;
                let action = step.action_on(child.member, key);
                if action == Action::Restrict {
                    continue;
                }
                let Some(search) = self.children_key(step.member, child, old, step.fate)? else { continue };
                let found =
                    beginning_with(cx, table, child.index, &search, LockMode::Exclusive, usize::MAX).await?;
                if !found.is_empty() && step.chain().count() >= MOST_DEPTH {
                    return Err(mysql_error!(ER_FK_DEPTH_EXCEEDED, MOST_DEPTH));
                }
                for (bytes, stamp) in found {
                    match (action, step.fate) {
                        (Action::Cascade, Fate::Deleted | Fate::Replaced(_)) => {
                            self.delete_child(cx, child.member, bytes, stamp, &step).await?;
                        }
                        (Action::Cascade, Fate::Updated(new)) => {
                            let parent = &self.members.at(step.member)?.table;
                            let given = typed_at(new, parent, &child.columns)?.into_iter();
                            let given = given.map(|(value, ty)| (value.clone(), ty.clone())).collect();
                            self.update_child(cx, child, (bytes, stamp), given, &step).await?;
                        }
                        _ => {
                            let nulls = vec![(Value::Null, SqlType::Null); key.columns.len()];
                            self.update_child(cx, child, (bytes, stamp), nulls, &step).await?;
                        }
                    }
                    end_row(cx).await?;
                }
            }
            Ok(())
        })
    }

    async fn delete_child(
        &self,
        cx: &mut ExecContext<'_, '_>,
        member: usize,
        mut bytes: Vec<u8>,
        mut stamp: RowStamp,
        above: &Step<'_>,
    ) -> SqlResult<()> {
        let table = &self.members.at(member)?.table;
        let step = Step { member, fate: Fate::Deleted, above: Some(above) };
        loop {
            let old = view(table, &bytes)?.to_values();
            self.restrict(cx, &old, step).await?;
            let outcome =
                drive(cx, |cx| cx.transaction().delete(table, stamp, &bytes).map_err(Blocked::up)).await?;
            if outcome == UpdateOutcome::Done {
                return self.cascade(cx, &old, step).await;
            }
            match again(cx, table, &bytes).await? {
                Some(row) => (bytes, stamp) = row,
                None => return Ok(()),
            }
        }
    }

    async fn update_child(
        &self,
        cx: &mut ExecContext<'_, '_>,
        child: &Child,
        (mut bytes, mut stamp): (Vec<u8>, RowStamp),
        given: Vec<(Value, SqlType)>,
        above: &Step<'_>,
    ) -> SqlResult<()> {
        let member = self.members.at(child.member)?;
        let table = &member.table;
        let columns = &table.foreign_keys.at(child.key)?.columns;
        loop {
            let old = view(table, &bytes)?.to_values();
            let mut new = old.clone();
            for (place, (value, ty)) in columns.iter().zip(&given) {
                let place = usize::from(*place);
                let column = table.columns.at(place)?;
                *new.at_mut(place)? = match value {
                    Value::Null => Value::Null,
                    value => drive(cx, |cx| Ok(cx.store(value.as_ref(), ty, column, 1)?)).await?,
                };
            }
            drive(cx, |cx| cx.generate(&member.rules, table, member.slot, &mut new, 1)).await?;
            drive(cx, |cx| cx.check_row(&member.rules, member.slot, &new)).await?;
            self.check_member(cx, child.member, &new, Some(&old), Some(child.key)).await?;
            let step = Step { member: child.member, fate: Fate::Updated(&new), above: Some(above) };
            self.restrict(cx, &old, step).await?;
            let mut encoded = Vec::new();
            encode_row(cx, table, value_in(&new), &mut encoded).await?;
            let outcome = drive(cx, |cx| match cx.transaction().update(table, stamp, &bytes, &encoded) {
                Ok(outcome) => Ok(Ok(outcome)),
                Err(Blocked::Error(EngineError::DuplicateKey { index })) => Ok(Err(index)),
                Err(blocked) => Err(blocked.up()),
            })
            .await?;
            match outcome {
                Ok(UpdateOutcome::Done) => {
                    return self.cascade(cx, &old, step).await;
                }
                Err(index) => {
                    let search = collision::search_key(table, index, |column| Ok(new.at(column)?.as_ref()))?;
                    if collision::hold(cx, (table, 0), index, &search).await? {
                        return Err(duplicate_entry(table, index, |column| new.at(column).cloned()));
                    }
                }
                Ok(UpdateOutcome::Changed) => {}
            }
            match again(cx, table, &bytes).await? {
                Some(row) => (bytes, stamp) = row,
                None => return Ok(()),
            }
        }
    }
}

/// Whether an error is a foreign key's.
pub fn is_violation(error: &SqlError) -> bool {
    [ER_ROW_IS_REFERENCED_2.number, ER_NO_REFERENCED_ROW_2.number].contains(&error.number())
}

/// The values of the columns at `places`.
fn at_places<'v>(row: &'v [Value], places: &[u16]) -> SqlResult<Vec<ValueRef<'v>>> {
    places.iter().map(|place| Ok(row.at(usize::from(*place))?.as_ref())).collect()
}

/// The values of the columns of `table` at `places`, and their types.
fn typed_at<'v>(
    row: &'v [Value],
    table: &'v Table,
    places: &[u16],
) -> SqlResult<Vec<(&'v Value, &'v SqlType)>> {
    let value = |place: &u16| Ok((row.at(usize::from(*place))?, &table.key_column(*place).sql_type));
    places.iter().map(value).collect()
}

/// A row read again, locked, by its clustered key.
async fn again(
    cx: &mut ExecContext<'_, '_>,
    table: &Arc<Table>,
    bytes: &[u8],
) -> SqlResult<Option<(Vec<u8>, RowStamp)>> {
    let row = RowView::new(table.descriptor(), bytes).map_err(row_error)?;
    let mut search = Vec::new();
    key::entry_key(table, 0, &row, &mut search).map_err(row_error)?;
    let mut found = RowBuf::new();
    let there = drive(cx, |cx| {
        let mode = ReadMode::Locked(LockMode::Exclusive, LockWait::Wait);
        cx.transaction().point_read(table, 0, &search, mode, &mut found).map_err(Blocked::up)
    })
    .await?;
    Ok(there.then(|| (found.row().to_vec(), found.stamp())))
}

/// Rows whose key in `index` begins with `search`, locked; at most so many.
async fn beginning_with(
    cx: &mut ExecContext<'_, '_>,
    table: &Arc<Table>,
    index: usize,
    search: &[u8],
    mode: LockMode,
    most: usize,
) -> SqlResult<Vec<(Vec<u8>, RowStamp)>> {
    let mut successor = search.to_vec();
    let upper = match key::prefix_successor(&mut successor) {
        true => Bound::Excluded(successor),
        false => Bound::Unbounded,
    };
    let range = KeyRange { lower: Bound::Included(search.to_vec()), upper };
    let mut scan = Scan::new(
        table.clone(),
        index,
        range,
        Direction::Forward,
        ReadMode::Locked(mode, LockWait::Wait),
        false,
    );
    if most == 1 {
        scan = scan.with_rows_wanted(1);
    }
    let mut batch = RowBatch::new();
    let mut rows = Vec::new();
    let mut bytes = 0;
    while rows.len() < most {
        let more =
            drive(cx, |cx| cx.transaction().scan_next(&mut scan, &mut batch).map_err(Blocked::up)).await?;
        if !more {
            break;
        }
        for row in batch.iter() {
            bytes += row.row.len() + 64;
            rows.push((row.row.to_vec(), row.stamp));
        }
        cx.session.charge(bytes)?;
    }
    Ok(rows)
}
