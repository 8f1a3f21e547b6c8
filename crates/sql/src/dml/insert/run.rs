//! Inserting the rows that a plan gives, one after the other.

use std::sync::Arc;

use palisade_base::error_catalogue::*;
use palisade_base::{Blocked, mysql_error};
use palisade_catalog::descriptor::Visibility;
use palisade_catalog::{Column, SqlType, Value};
use palisade_engine::{Error as EngineError, RowAccess, RowsToCome, TableAccess};
use palisade_exec::run::{drive, end_row};
use palisade_exec::spill::list::RowList;
use palisade_exec::store::in_table;
use palisade_exec::{ExecContext, KeptRow, State};
use palisade_expr::mode::SqlMode;
use palisade_expr::place::At;
use palisade_expr::{Expr, Node, Slot};
use palisade_plan::bind::row_rules::ColumnDefault;
use palisade_session::work::Work;

use super::existing::Replaced;
use super::numbers::{Numbers, numbered};
use super::{Cell, InsertPlan};
use crate::dml::foreign::is_violation;
use crate::dml::returning::Returned;
use crate::dml::store::{belongs_nowhere, duplicate_entry, encode_row, value_in};
use crate::dml::through::is_refused;
use crate::{SqlAttempt, SqlResult};

/// An INSERT at work.
pub(in crate::dml) struct InsertRun<'p> {
    pub(super) plan: &'p InsertPlan,
    pub(in crate::dml) affected: u64,
    pub(in crate::dml) records: u64,
    pub(in crate::dml) duplicates: u64,
    /// Rows inserted, and rows updated instead.
    pub(super) written: u64,
    /// Rows that a CHECK constraint kept out.
    pub(in crate::dml) refused: u64,
    pub(in crate::dml) numbers: Numbers,
    pub(super) encoded: Vec<u8>,
    /// Where the row belongs, of a table that has partitions.
    pub(super) partition: usize,
    /// Where RETURNING sends its rows.
    pub(super) returned: Option<Box<Returned<'p>>>,
}

/// Where a value that is stored comes from.
#[derive(Clone, Copy)]
enum Origin<'a> {
    /// An expression.
    Expr(&'a Expr),
    /// A file; the value is of this type.
    Type(&'a SqlType),
}

impl<'p> InsertRun<'p> {
    pub(in crate::dml) fn new(plan: &'p InsertPlan, rows: RowsToCome) -> Self {
        InsertRun {
            plan,
            affected: 0,
            records: 0,
            duplicates: 0,
            written: 0,
            refused: 0,
            partition: 0,
            numbers: Numbers::new(rows),
            encoded: Vec::new(),
            returned: None,
        }
    }

    /// LOAD DATA's row before its fields.
    pub(in crate::dml) async fn begin_row(
        &self,
        cx: &mut ExecContext<'_, '_>,
        number: u64,
    ) -> SqlResult<Vec<Value>> {
        drive(cx, |cx| {
            let mut values = vec![Value::Null; self.plan.table.columns.len()];
            for (column, value) in values.iter_mut().enumerate() {
                if !self.plan.columns.contains(&column) {
                    *value = self.left_out(cx, column, number)?;
                }
            }
            self.compute_defaults(cx, &mut values, number, |column| !self.plan.columns.contains(&column))?;
            Ok(values)
        })
        .await
    }

    /// What a column has that LOAD DATA does not fill: its default, or what its type has for nothing if it
    /// has none.
    fn left_out(&self, cx: &mut ExecContext<'_, '_>, column: usize, number: u64) -> SqlAttempt<Value> {
        let known = self.plan.table.columns.at(column)?;
        match self.plan.rules.defaults.at(column)? {
            ColumnDefault::Missing if !is_made(known) && !known.nullable => {
                Ok(palisade_catalog::store::implicit_default(known))
            }
            _ => self.default(cx, column, number),
        }
    }

    /// What a column gets from a field of LOAD DATA; without a field, what its type has for nothing.
    pub(in crate::dml) async fn field(
        &self,
        cx: &mut ExecContext<'_, '_>,
        value: Option<Value>,
        ty: &SqlType,
        column: usize,
        number: u64,
    ) -> SqlResult<Value> {
        let known = self.plan.table.columns.at(column)?;
        match value {
            None if known.nullable => Ok(Value::Null),
            None => Ok(palisade_catalog::store::implicit_default(known)),
            Some(Value::Null) if !known.auto_increment && !known.nullable => {
                cx.lend().warn_or_fail(mysql_error!(ER_WARN_NULL_TO_NOTNULL, known.name, number))?;
                Ok(palisade_catalog::store::implicit_default(known))
            }
            Some(value) => {
                drive(cx, |cx| Ok(self.stored(cx, &value, Origin::Type(ty), column, number)?)).await
            }
        }
    }

    /// LOAD DATA's SET: the values from `first` on.
    pub(in crate::dml) async fn assign(
        &self,
        cx: &mut ExecContext<'_, '_>,
        values: &mut [Value],
        first: usize,
        number: u64,
    ) -> SqlResult<()> {
        let plan = self.plan;
        let cells = plan.rows.first().map_or(&[][..], Vec::as_slice);
        for (place, (column, cell)) in plan.columns.iter().zip(cells).enumerate().skip(first) {
            let value = drive(cx, |cx| self.cell(cx, values, place, cell, number)).await?;
            *values.at_mut(*column)? = value;
        }
        Ok(())
    }

    pub(super) async fn all(&mut self, cx: &mut ExecContext<'_, '_>) -> SqlResult<()> {
        let plan = self.plan;
        plan.table.usage().count_use(TableAccess::Write);
        if let Some(returned) = &mut self.returned {
            Box::pin(returned.begin(cx)).await?;
        }
        let Some(query) = &plan.plan.query else {
            let total = plan.rows.len() as u64;
            for (number, cells) in plan.rows.iter().enumerate() {
                let number = number as u64 + 1;
                let values = drive(cx, |cx| self.values(cx, cells, number)).await?;
                self.insert(cx, values, number, total - number + 1).await?;
                end_row(cx).await?;
            }
            return Ok(());
        };
        palisade_exec::run::count_tables(cx);
        let mut state = State::new(&query.root);
        let output = query.output.as_slice();
        let mut buffer = RowList::default();
        let mut number = 0;
        let mut pending = false;
        loop {
            let given = drive(cx, |cx| {
                if !pending {
                    if !state.next(&query.root, cx)? {
                        return Ok(None);
                    }
                    pending = true;
                }
                let values = palisade_exec::evaluate_all(&query.output, cx)?;
                pending = false;
                Ok(Some(values))
            })
            .await?;
            let Some(given) = given else { break };
            if plan.buffered {
                buffer.push(given.into());
                drive(cx, |cx| buffer.make_room(cx)).await?;
                continue;
            }
            number += 1;
            let values = drive(cx, |cx| self.values_of(cx, &given, output, number)).await?;
            self.place(cx, given.into())?;
            self.insert(cx, values, number, 1).await?;
        }
        drive(cx, |cx| buffer.finish(cx)).await?;
        while let Some(given) = drive(cx, |_| buffer.next_row()).await? {
            number += 1;
            let values = drive(cx, |cx| self.values_of(cx, &given, output, number)).await?;
            self.place(cx, given)?;
            self.insert(cx, values, number, 1).await?;
            end_row(cx).await?;
        }
        Ok(())
    }

    /// The query's row is where ON DUPLICATE KEY UPDATE finds it, if that reads it.
    fn place(&self, cx: &mut ExecContext<'_, '_>, given: KeptRow) -> SqlResult<()> {
        if let Some(slot) = self.plan.given {
            *cx.state.frame.slots.at_mut(slot)? = Slot::Values(given);
        }
        Ok(())
    }

    /// The row that VALUES gives; NULL stands where AUTO_INCREMENT is to give the value.
    fn values(&self, cx: &mut ExecContext<'_, '_>, cells: &[Cell], number: u64) -> SqlAttempt<Vec<Value>> {
        let plan = self.plan;
        let mut values = self.start(cx, number)?;
        for (place, (column, cell)) in plan.columns.iter().zip(cells).enumerate() {
            *values.at_mut(*column)? = self.cell(cx, &values, place, cell, number)?;
        }
        self.compute_defaults(cx, &mut values, number, |column| {
            let place = plan.columns.iter().position(|given| *given == column);
            place.is_none_or(|place| matches!(cells.get(place), Some(Cell::Default)))
        })?;
        Ok(values)
    }

    /// The value a cell gives the statement's `place`th column; those before it have theirs.
    #[inline]
    fn cell(
        &self,
        cx: &mut ExecContext<'_, '_>,
        values: &[Value],
        place: usize,
        cell: &Cell,
        number: u64,
    ) -> SqlAttempt<Value> {
        let column = *self.plan.columns.at(place)?;
        if self.plan.reads_row {
            *cx.state.frame.slots.at_mut(self.plan.existing)? = Slot::Values(self.row_so_far(values, place)?);
        }
        match cell {
            Cell::Default => self.default(cx, column, number),
            Cell::Expr(expr) => {
                // A value that is at hand is not copied to be stored.
                let value = match &expr.node {
                    Node::Literal(value) => Some(value),
                    Node::Parameter(number) => cx.parameters.get(*number),
                    _ => None,
                };
                if let Some(value) = value {
                    return Ok(self.stored(cx, value, Origin::Expr(expr), column, number)?);
                }
                let value = expr.eval(&mut cx.lend())?;
                Ok(self.stored(cx, &value, Origin::Expr(expr), column, number)?)
            }
        }
    }

    /// What expressions see of the row: the values of the statement's first `given` columns, and of the others what a row begins
    /// with. That is a default which is a constant; NULL; or, where that cannot be, what the type has for nothing.
    fn row_so_far(&self, values: &[Value], given: usize) -> SqlResult<Arc<[Value]>> {
        let InsertPlan { table, columns, rules, .. } = self.plan;
        let given = columns.part(0..given)?;
        let seen = |(column, known): (usize, &Column)| -> SqlResult<Value> {
            let value = match (rules.defaults.at(column)?, given.contains(&column)) {
                (_, true) => values.at(column)?.clone(),
                (ColumnDefault::Value(value), false) => value.clone(),
                (_, false) => Value::Null,
            };
            match value {
                Value::Null if !known.nullable => Ok(palisade_catalog::store::implicit_default(known)),
                value => Ok(value),
            }
        };
        table.columns.iter().enumerate().map(seen).collect()
    }

    fn values_of(
        &self,
        cx: &mut ExecContext<'_, '_>,
        given: &[Value],
        output: &[Expr],
        number: u64,
    ) -> SqlAttempt<Vec<Value>> {
        let mut values = self.start(cx, number)?;
        for ((column, value), expr) in self.plan.columns.iter().zip(given).zip(output) {
            *values.at_mut(*column)? = self.stored(cx, value, Origin::Expr(expr), *column, number)?;
        }
        self.compute_defaults(cx, &mut values, number, |column| !self.plan.columns.contains(&column))?;
        Ok(values)
    }

    /// Gives the columns that `is_wanted` their defaults which are expressions, in order: they see the values that the statement
    /// gives, wherever those stand, and the defaults that are constants.
    fn compute_defaults(
        &self,
        cx: &mut ExecContext<'_, '_>,
        values: &mut [Value],
        number: u64,
        is_wanted: impl Fn(usize) -> bool,
    ) -> SqlAttempt<()> {
        let InsertPlan { table, rules, existing, .. } = self.plan;
        if !rules.computes_defaults() {
            return Ok(());
        }
        for (column, default) in rules.defaults.iter().enumerate() {
            if matches!(default, ColumnDefault::Expr(_)) && is_wanted(column) {
                *cx.state.frame.slots.at_mut(*existing)? = Slot::Values((&*values).into());
                let known = table.columns.at(column)?;
                let value = cx.default_value(default, known, number);
                *values.at_mut(column)? =
                    value.map_err(|blocked| blocked.map_err(|error| in_table(error, table, known)))?;
            }
        }
        Ok(())
    }

    /// A row with the defaults of the columns that are not given, NULL for those that are expressions.
    fn start(&self, cx: &mut ExecContext<'_, '_>, number: u64) -> SqlAttempt<Vec<Value>> {
        let mut values = vec![Value::Null; self.plan.table.columns.len()];
        for (column, value) in values.iter_mut().enumerate() {
            if !self.plan.columns.contains(&column) {
                *value = self.default(cx, column, number)?;
            }
        }
        Ok(values)
    }

    fn default(&self, cx: &mut ExecContext<'_, '_>, column: usize, number: u64) -> SqlAttempt<Value> {
        let known = self.plan.table.columns.at(column)?;
        if is_made(known) {
            return Ok(Value::Null);
        }
        match self.plan.rules.defaults.at(column)? {
            ColumnDefault::Expr(_) => Ok(Value::Null),
            default => cx.default_value(default, known, number),
        }
    }

    fn stored(
        &self,
        cx: &mut ExecContext<'_, '_>,
        value: &Value,
        origin: Origin<'_>,
        column: usize,
        number: u64,
    ) -> SqlResult<Value> {
        let known = self.plan.table.columns.at(column)?;
        if value.is_null() {
            if known.auto_increment || known.nullable {
                return Ok(Value::Null);
            }
            let error = mysql_error!(ER_BAD_NULL_ERROR, known.name);
            let single = self.plan.rows.len() == 1;
            if cx.state.strict || single && !self.plan.ignore {
                return Err(error);
            }
            cx.session.warnings.warn(error);
            return Ok(palisade_catalog::store::implicit_default(known));
        }
        let stored = match origin {
            Origin::Expr(expr) => cx.store_of(value.as_ref(), expr, known, number),
            Origin::Type(ty) => cx.store(value.as_ref(), ty, known, number),
        };
        let stored = stored.map_err(|error| in_table(error, &self.plan.table, known))?;
        if known.auto_increment && is_zero(&stored) && !cx.lend().mode().has(SqlMode::NO_AUTO_VALUE_ON_ZERO) {
            return Ok(Value::Null);
        }
        Ok(stored)
    }

    /// Inserts one row, `left` being the number of rows still to come with it.
    pub(in crate::dml) async fn insert(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        mut values: Vec<Value>,
        number: u64,
        left: u64,
    ) -> SqlResult<()> {
        let plan = self.plan;
        let table = &plan.table;
        self.records += 1;
        // Neither reads what AUTO_INCREMENT gives, and a row that is refused takes no value.
        if (plan.rules.generates() || plan.rules.checks())
            && !Box::pin(self.follow_rules(cx, &mut values, number)).await?
        {
            self.refused += 1;
            return Ok(());
        }
        let mut generated = None;
        if let Some(column) = table.auto_increment_column() {
            if values.at(column)?.is_null() {
                let value = self.numbers.next(cx, table, left).await?;
                generated = Some(value);
                *values.at_mut(column)? = numbered(&table.columns.at(column)?.sql_type, value)?;
            } else {
                self.numbers.given(cx, table, values.at(column)?).await?;
            }
        }
        if let Some(column) = table.row_id_column() {
            let id = drive(cx, |_| table.next_row_id().map_err(Blocked::up)).await?;
            *values.at_mut(column)? = Value::UInt(id);
        }
        if let Some(family) = &plan.family {
            match family.check_parents(cx, &values, None).await {
                Err(violation) if plan.ignore && is_violation(&violation) => {
                    cx.session.warnings.warn(violation);
                    self.numbers.give_back(generated);
                    self.records -= 1;
                    return Ok(());
                }
                checked => checked?,
            }
        }
        let is_partitioned = plan.rules.partitions.is_some();
        if is_partitioned {
            match Box::pin(self.find_partition(cx, &values)).await? {
                Some(partition) => self.partition = partition,
                None => {
                    self.duplicates += 1;
                    self.numbers.give_back(generated);
                    return Ok(());
                }
            }
        }
        let partition = self.partition;
        encode_row(cx, table, value_in(&values), &mut self.encoded).await?;
        loop {
            cx.execution.work.add(Work::HandlerWrite, 1);
            table.usage().count(None, RowAccess::Insert, 1);
            let encoded = &self.encoded;
            let inserted = drive(cx, |cx| {
                let inserted = match is_partitioned {
                    false => cx.transaction().insert(table, encoded),
                    true => cx.transaction().insert_into(table, partition, encoded),
                };
                match inserted {
                    Ok(()) => Ok(None),
                    Err(Blocked::Error(EngineError::DuplicateKey { index })) => Ok(Some(index)),
                    Err(blocked) => Err(blocked.up()),
                }
            })
            .await?;
            let Some(index) = inserted else {
                self.affected += 1;
                self.written += 1;
                self.numbers.taken(generated);
                return self.give(cx, values).await;
            };
            if plan.replace {
                match self.delete_existing(cx, &values, index).await? {
                    Replaced::Gone => {}
                    Replaced::Deleted => {
                        self.affected += 1;
                        self.duplicates += 1;
                    }
                    Replaced::Updated => {
                        self.affected += 2;
                        self.duplicates += 1;
                        self.numbers.taken(generated);
                        return self.give(cx, values).await;
                    }
                    Replaced::Same => {
                        self.affected += 1;
                        return self.give(cx, values).await;
                    }
                }
                continue;
            }
            if !plan.updates.is_empty() {
                match self.update_existing(cx, &values, index, number, generated).await? {
                    true => {
                        self.numbers.give_back(generated);
                        return Ok(());
                    }
                    false => continue,
                }
            }
            if !Box::pin(self.hold_existing(cx, &values, index)).await? {
                continue;
            }
            let error = duplicate_entry(table, index, |column| values.at(column).cloned());
            if plan.ignore {
                self.duplicates += 1;
                self.numbers.give_back(generated);
                cx.session.warnings.warn(error);
                return Ok(());
            }
            return Err(error);
        }
    }

    /// The partition where a row of these values belongs; `None` if it belongs in none that it may be in, and
    /// IGNORE skips it.
    pub(super) async fn find_partition(
        &self,
        cx: &mut ExecContext<'_, '_>,
        values: &[Value],
    ) -> SqlResult<Option<usize>> {
        let Some(partitions) = &self.plan.rules.partitions else { return Ok(Some(0)) };
        match drive(cx, |cx| cx.partition_of(partitions, &value_in(values))).await {
            Err(refused) if self.plan.ignore && belongs_nowhere(&refused) => {
                cx.session.warnings.warn(refused);
                Ok(None)
            }
            found => found.map(Some),
        }
    }

    /// A row of these values is there now: it is sent, if the statement returns its rows.
    #[inline]
    pub(super) async fn give(&mut self, cx: &mut ExecContext<'_, '_>, values: Vec<Value>) -> SqlResult<()> {
        match &mut self.returned {
            Some(returned) => Box::pin(returned.values(cx, self.plan.existing, values)).await,
            None => Ok(()),
        }
    }

    /// Computes the generated columns of a row and checks it; false if IGNORE skips it.
    pub(super) async fn follow_rules(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        values: &mut [Value],
        number: u64,
    ) -> SqlResult<bool> {
        let plan = self.plan;
        if plan.rules.generates() {
            drive(cx, |cx| cx.generate(&plan.rules, &plan.table, plan.existing, values, number)).await?;
        }
        if plan.rules.checks() {
            match drive(cx, |cx| cx.check_row(&plan.rules, plan.existing, values)).await {
                Err(violation) if plan.ignore && is_refused(&violation) => {
                    cx.session.warnings.warn(violation);
                    return Ok(false);
                }
                checked => checked?,
            }
        }
        Ok(true)
    }
}

/// Whether a column gets its value when the rest of the row has its own.
fn is_made(column: &Column) -> bool {
    column.auto_increment || column.visibility == Visibility::System || column.generated.is_some()
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Int(value) => *value == 0,
        Value::UInt(value) => *value == 0,
        _ => false,
    }
}
