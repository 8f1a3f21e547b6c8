//! INSERT and REPLACE. What they do with a row that is there already is in `existing`.

mod existing;

use std::sync::Arc;

use palisade_base::error_catalogue::*;
use palisade_base::{Blocked, mysql_error};
use palisade_catalog::descriptor::Visibility;
use palisade_catalog::{SqlType, Value, ValueRef, row};
use palisade_engine::{Error as EngineError, ReadMode, Table};
use palisade_parser::ast::{self, InsertSource};

use self::existing::Replaced;
use super::foreign::{Family, is_violation};
use super::store::{RowRules, duplicate_entry, in_table};
use crate::bind::scope::{Scope, Source, same_name};
use crate::bind::{Binder, not_supported};
use crate::exec::State;
use crate::exec::join::charge;
use crate::expr::context::values_size;
use crate::expr::{Context, Expr, Node, Slot};
use crate::mode::SqlMode;
use crate::plan::Plan;
use crate::run::{drive, end_row};
use crate::sql::Sql;
use crate::work::Work;
use crate::{Access, Completion, Session, SqlAttempt, SqlError, SqlResult};

/// A value of VALUES or of an assignment.
#[derive(Debug)]
pub enum Cell {
    /// An expression.
    Expr(Expr),
    /// DEFAULT.
    Default,
}

/// An INSERT or REPLACE, planned.
#[derive(Debug)]
pub struct InsertPlan {
    table: Arc<Table>,
    /// The columns given, in order.
    columns: Vec<usize>,
    /// VALUES; empty if the rows come from a query.
    rows: Vec<Vec<Cell>>,
    /// Slots, subqueries, and the query if there is one.
    pub(super) plan: Arc<Plan>,
    rules: RowRules,
    family: Option<Arc<Family>>,
    /// ON DUPLICATE KEY UPDATE.
    updates: Vec<(usize, Cell)>,
    /// Slot of the row that exists.
    existing: usize,
    /// Slot of the row to be inserted.
    inserted: usize,
    replace: bool,
    ignore: bool,
    /// VALUES reads columns of the row so far.
    reads_row: bool,
    /// The query reads the table itself: its rows are read before any is inserted.
    buffered: bool,
}

impl InsertPlan {
    /// The table's name.
    pub fn table_name(&self) -> &str {
        &self.table.name
    }

    /// What its expressions run on, and what finds the rows, if a query does.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What finds the rows, if a query does.
    pub fn query_plan(&self) -> Option<&Plan> {
        self.plan.query.as_ref().map(|_| &*self.plan)
    }
}

impl Binder<'_> {
    /// Binds an INSERT or REPLACE.
    pub fn insert(mut self, insert: &ast::Insert) -> SqlResult<InsertPlan> {
        if !insert.partitions.is_empty() {
            return Err(not_supported("PARTITION selection"));
        }
        let schema = self.schema_of(&insert.table)?;
        self.accesses(&schema, &insert.table.name, Access::Insert)?;
        if insert.replace {
            self.accesses(&schema, &insert.table.name, Access::Delete)?;
        }
        if !insert.on_duplicate.is_empty() {
            self.accesses(&schema, &insert.table.name, Access::Update)?;
        }
        if self.dictionary.schema(&schema).is_none() {
            crate::show::schema::refuse_virtual(self.host, &schema, self.session)?;
        }
        let table = self.stored_table(&schema, &insert.table.name, &insert.table.name)?;
        self.check_locks(&table, &table.name, true)?;
        let mut columns = insert_columns(&table, insert)?;
        self.read_mode = ReadMode::Source;
        self.scopes.push(Scope::default());
        let existing = self.add_table(table.clone(), table.name.clone())?;
        let inserted = self.new_slot();
        let rules = self.rules(&table)?;
        let family = self.family(&table)?;
        let mut rows = Vec::new();
        let mut query = None;
        let mut buffered = false;
        match &insert.source {
            InsertSource::Values(values) => {
                let all_defaults = insert.columns.is_empty() && values.iter().all(Vec::is_empty);
                for (number, value) in values.iter().enumerate() {
                    if value.len() != columns.len() && !all_defaults {
                        return Err(mysql_error!(ER_WRONG_VALUE_COUNT_ON_ROW, number + 1));
                    }
                    rows.push(self.cells(value)?);
                    for (column, cell) in columns.iter().zip(rows.last().into_iter().flatten()) {
                        refuse_generated(&table, *column, cell)?;
                    }
                }
                if all_defaults {
                    columns.clear();
                }
            }
            InsertSource::Query(source) => {
                let own = self.scopes.pop().expect("it was pushed above");
                let planned = self.query(source)?;
                buffered = planned.root.reads(&table) || !self.subqueries.is_empty();
                self.scopes.push(own);
                if planned.output.len() != columns.len() {
                    return Err(mysql_error!(ER_WRONG_VALUE_COUNT_ON_ROW, 1));
                }
                if let Some(column) =
                    columns.iter().find(|column| table.columns[**column].generated.is_some())
                {
                    return Err(generated_given(&table, *column));
                }
                query = Some(planned);
            }
        }
        let mut reads_row = false;
        for cell in rows.iter().flatten() {
            if let Cell::Expr(expr) = cell {
                expr.walk(&mut |expr| {
                    reads_row |= matches!(&expr.node, Node::Column { slot, .. } if *slot == existing);
                });
            }
        }
        // In ON DUPLICATE KEY UPDATE names mean the row that exists; VALUES() and the alias the new one.
        self.scope().inserted = Some(inserted);
        if let Some(alias) = &insert.row_alias {
            let mut source = Source::of_table(inserted, alias.name.clone(), table.clone());
            source.table = None;
            source.schema = String::new();
            for (position, name) in alias.columns.iter().enumerate() {
                if let Some(column) = columns.get(position) {
                    source.columns[*column].name.clone_from(name);
                }
            }
            self.scope().sources.push(source);
        }
        let mut updates = Vec::with_capacity(insert.on_duplicate.len());
        for assignment in &insert.on_duplicate {
            let column = target_column(&table, &assignment.column)?;
            let value = match &assignment.value {
                ast::Expr::Default => Cell::Default,
                value => Cell::Expr(self.expr(value)?),
            };
            refuse_generated(&table, column, &value)?;
            let mut reads = false;
            if let Cell::Expr(expr) = &value {
                expr.walk(&mut |expr| reads |= matches!(expr.node, Node::Column { .. }));
            }
            if reads {
                self.accesses(&schema, &table.name, Access::Read)?;
            }
            updates.push((column, value));
        }
        self.scopes.pop();
        let plan = Arc::new(self.finish(query));
        Ok(InsertPlan {
            table,
            columns,
            rows,
            plan,
            rules,
            family,
            updates,
            existing,
            inserted,
            replace: insert.replace,
            ignore: insert.ignore,
            reads_row,
            buffered,
        })
    }

    /// Values that may be DEFAULT.
    pub fn cells(&mut self, values: &[ast::Expr]) -> SqlResult<Vec<Cell>> {
        let mut cells = Vec::with_capacity(values.len());
        for value in values {
            cells.push(match value {
                ast::Expr::Default => Cell::Default,
                value => Cell::Expr(self.expr(value)?),
            });
        }
        Ok(cells)
    }
}

fn insert_columns(table: &Table, insert: &ast::Insert) -> SqlResult<Vec<usize>> {
    if insert.columns.is_empty() {
        let shown = table.columns.iter().enumerate();
        return Ok(shown
            .filter(|(_, column)| column.visibility == Visibility::Visible)
            .map(|(position, _)| position)
            .collect());
    }
    let mut columns = Vec::with_capacity(insert.columns.len());
    for name in &insert.columns {
        let column = target_column(table, name)?;
        if columns.contains(&column) {
            return Err(mysql_error!(ER_FIELD_SPECIFIED_TWICE, name.column));
        }
        columns.push(column);
    }
    Ok(columns)
}

/// A column that is assigned to: 1054 if there is none.
pub fn target_column(table: &Table, name: &ast::ColumnName) -> SqlResult<usize> {
    let found = table.column_index(&name.column).filter(|column| {
        table.columns[*column].visibility != Visibility::System
            && name.table.as_ref().is_none_or(|wanted| same_name(wanted, &table.name))
    });
    found.ok_or_else(|| mysql_error!(ER_BAD_FIELD_ERROR, crate::bind::scope::written(name), "field list"))
}

impl Sql {
    pub(crate) async fn insert(
        &self,
        session: &mut Session,
        plan: &InsertPlan,
        parameters: &[Value],
    ) -> SqlResult<Completion> {
        let mut run = InsertRun::new(plan);
        self.change_rows(session, &plan.plan, plan.ignore, parameters, async |cx| run.all(cx).await).await?;
        let InsertRun { affected, records, duplicates, generated, explicit, .. } = run;
        if let Some(generated) = generated {
            session.last_insert_id = generated;
        }
        let info = if plan.rows.len() > 1 || plan.plan.query.is_some() {
            format!("Records: {records}  Duplicates: {duplicates}  Warnings: {}", session.warnings.count())
        } else {
            String::new()
        };
        let last_insert_id = generated.or(explicit).unwrap_or(0);
        Ok(Completion { affected_rows: affected, last_insert_id, info, ..Completion::default() })
    }
}

/// What an [`InsertRun`] did.
pub(super) struct Outcome {
    pub affected: u64,
    pub duplicates: u64,
    /// Rows that a CHECK constraint kept out.
    pub refused: u64,
    /// First AUTO_INCREMENT value generated.
    pub generated: Option<u64>,
}

/// An INSERT at work.
pub(super) struct InsertRun<'p> {
    plan: &'p InsertPlan,
    affected: u64,
    records: u64,
    duplicates: u64,
    refused: u64,
    /// First AUTO_INCREMENT value generated.
    generated: Option<u64>,
    /// Last AUTO_INCREMENT value given.
    explicit: Option<u64>,
    /// AUTO_INCREMENT values reserved and not used yet: the next one, and how many.
    reserved: (u64, u64),
    encoded: Vec<u8>,
}

impl<'p> InsertRun<'p> {
    pub(super) fn new(plan: &'p InsertPlan) -> Self {
        InsertRun {
            plan,
            affected: 0,
            records: 0,
            duplicates: 0,
            refused: 0,
            generated: None,
            explicit: None,
            reserved: (0, 0),
            encoded: Vec::new(),
        }
    }

    /// What it did.
    pub(super) fn outcome(&self) -> Outcome {
        Outcome {
            affected: self.affected,
            duplicates: self.duplicates,
            refused: self.refused,
            generated: self.generated,
        }
    }

    /// LOAD DATA's row before its fields.
    pub(super) async fn begin_row(&self, cx: &mut Context<'_>, number: u64) -> SqlResult<Vec<Value>> {
        drive(cx, |cx| self.start(cx, number)).await
    }

    /// What a column gets from a field of LOAD DATA; without a field, what its type has for nothing.
    pub(super) fn field(
        &self,
        cx: &mut Context<'_>,
        value: Option<Value>,
        ty: &SqlType,
        column: usize,
        number: u64,
    ) -> SqlResult<Value> {
        let known = &self.plan.table.columns[column];
        match value {
            None if known.nullable => Ok(Value::Null),
            None => Ok(palisade_catalog::store::implicit_default(known)),
            Some(Value::Null) if !known.auto_increment && !known.nullable => {
                cx.warn_or_fail(mysql_error!(ER_WARN_NULL_TO_NOTNULL, known.name, number))?;
                Ok(palisade_catalog::store::implicit_default(known))
            }
            Some(value) => self.stored(cx, &value, ty, column, number),
        }
    }

    /// LOAD DATA's SET: the values from `first` on.
    pub(super) async fn assign(
        &self,
        cx: &mut Context<'_>,
        values: &mut [Value],
        first: usize,
        number: u64,
    ) -> SqlResult<()> {
        let plan = self.plan;
        let cells = plan.rows.first().map_or(&[][..], Vec::as_slice);
        for (column, cell) in plan.columns.iter().zip(cells).skip(first) {
            let value = drive(cx, |cx| self.cell(cx, values, *column, cell, number)).await?;
            values[*column] = value;
        }
        Ok(())
    }

    async fn all(&mut self, cx: &mut Context<'_>) -> SqlResult<()> {
        let plan = self.plan;
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
        crate::run::count_tables(cx);
        let mut state = State::new(&query.root);
        let types: Vec<&SqlType> = query.output.iter().map(|expr| &expr.ty).collect();
        let (mut buffer, mut bytes) = (Vec::new(), 0);
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
                let values = crate::exec::evaluate_all(&query.output, cx)?;
                pending = false;
                Ok(Some(values))
            })
            .await?;
            let Some(given) = given else { break };
            if plan.buffered {
                bytes += values_size(&given);
                charge(bytes)?;
                buffer.push(given);
                continue;
            }
            number += 1;
            let values = drive(cx, |cx| self.values_of(cx, &given, &types, number)).await?;
            self.insert(cx, values, number, 1).await?;
        }
        for given in buffer {
            number += 1;
            let values = drive(cx, |cx| self.values_of(cx, &given, &types, number)).await?;
            self.insert(cx, values, number, 1).await?;
            end_row(cx).await?;
        }
        Ok(())
    }

    /// The row that VALUES gives; NULL stands where AUTO_INCREMENT is to give the value.
    fn values(&self, cx: &mut Context<'_>, cells: &[Cell], number: u64) -> SqlAttempt<Vec<Value>> {
        let plan = self.plan;
        let mut values = self.start(cx, number)?;
        for (column, cell) in plan.columns.iter().zip(cells) {
            values[*column] = self.cell(cx, &values, *column, cell, number)?;
        }
        Ok(values)
    }

    /// The value a cell gives a column of the row so far.
    #[inline]
    fn cell(
        &self,
        cx: &mut Context<'_>,
        values: &[Value],
        column: usize,
        cell: &Cell,
        number: u64,
    ) -> SqlAttempt<Value> {
        if self.plan.reads_row {
            cx.frame.slots[self.plan.existing] = Slot::Values(values.into());
        }
        match cell {
            Cell::Default => self.default(cx, column, number),
            Cell::Expr(expr) => {
                let value = expr.eval(cx)?;
                Ok(self.stored(cx, &value, &expr.ty, column, number)?)
            }
        }
    }

    fn values_of(
        &self,
        cx: &mut Context<'_>,
        given: &[Value],
        types: &[&SqlType],
        number: u64,
    ) -> SqlAttempt<Vec<Value>> {
        let mut values = self.start(cx, number)?;
        for ((column, value), ty) in self.plan.columns.iter().zip(given).zip(types) {
            values[*column] = self.stored(cx, value, ty, *column, number)?;
        }
        Ok(values)
    }

    /// A row with the defaults of the columns that are not given.
    fn start(&self, cx: &mut Context<'_>, number: u64) -> SqlAttempt<Vec<Value>> {
        let mut values = vec![Value::Null; self.plan.table.columns.len()];
        for (column, value) in values.iter_mut().enumerate() {
            if !self.plan.columns.contains(&column) {
                *value = self.default(cx, column, number)?;
            }
        }
        Ok(values)
    }

    fn default(&self, cx: &mut Context<'_>, column: usize, number: u64) -> SqlAttempt<Value> {
        let known = &self.plan.table.columns[column];
        if known.auto_increment || known.visibility == Visibility::System || known.generated.is_some() {
            return Ok(Value::Null);
        }
        cx.default_value(&self.plan.rules.defaults[column], known, number)
    }

    fn stored(
        &self,
        cx: &mut Context<'_>,
        value: &Value,
        ty: &SqlType,
        column: usize,
        number: u64,
    ) -> SqlResult<Value> {
        let known = &self.plan.table.columns[column];
        if value.is_null() {
            if known.auto_increment || known.nullable {
                return Ok(Value::Null);
            }
            let error = mysql_error!(ER_BAD_NULL_ERROR, known.name);
            let single = self.plan.rows.len() == 1;
            if cx.strict || single && !self.plan.ignore {
                return Err(error);
            }
            cx.session.warnings.warn(error);
            return Ok(palisade_catalog::store::implicit_default(known));
        }
        let stored = cx.store(value.as_ref(), ty, known, number);
        let stored = stored.map_err(|error| in_table(error, &self.plan.table, known))?;
        if known.auto_increment && is_zero(&stored) && !cx.mode().has(SqlMode::NO_AUTO_VALUE_ON_ZERO) {
            return Ok(Value::Null);
        }
        Ok(stored)
    }

    /// Inserts one row, `left` being the number of rows still to come with it.
    pub(super) async fn insert(
        &mut self,
        cx: &mut Context<'_>,
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
            return Ok(());
        }
        let mut generated = None;
        if let Some(column) = table.auto_increment_column() {
            if values[column].is_null() {
                let value = self.next_auto_increment(cx, left).await?;
                generated = Some(value);
                let (value, ty) = (ValueRef::UInt(value), SqlType::BIGINT_UNSIGNED);
                values[column] = cx
                    .store(value, &ty, &table.columns[column], number)
                    .map_err(|_| mysql_error!(ER_AUTOINC_READ_FAILED))?;
            } else if let Some(value) = note_given(cx, table, &values[column]).await? {
                self.explicit = Some(value);
                self.pass_reserved(value, cx.session.variables.auto_increment_increment.max(1));
            }
        }
        if let Some(column) = table.row_id_column() {
            let id = drive(cx, |_| table.next_row_id().map_err(Blocked::up)).await?;
            values[column] = Value::UInt(id);
        }
        if let Some(family) = &plan.family {
            match family.check_parents(cx, &values, None).await {
                Err(violation) if plan.ignore && is_violation(&violation) => {
                    cx.session.warnings.warn(violation);
                    self.give_back(generated);
                    self.records -= 1;
                    return Ok(());
                }
                checked => checked?,
            }
        }
        self.encoded.clear();
        row::encode_with(table, |column| values[column].as_ref(), &mut self.encoded).map_err(row_error)?;
        loop {
            cx.session.work.add(Work::HandlerWrite, 1);
            let encoded = &self.encoded;
            let inserted = drive(cx, |cx| match cx.transaction().insert(table, encoded) {
                Ok(()) => Ok(None),
                Err(Blocked::Error(EngineError::DuplicateKey { index })) => Ok(Some(index)),
                Err(blocked) => Err(blocked.up()),
            })
            .await?;
            let Some(index) = inserted else {
                self.affected += 1;
                if let Some(value) = generated {
                    self.generated.get_or_insert(value);
                }
                return Ok(());
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
                        if let Some(value) = generated {
                            self.generated.get_or_insert(value);
                        }
                        return Ok(());
                    }
                    Replaced::Same => {
                        self.affected += 1;
                        return Ok(());
                    }
                }
                continue;
            }
            if !plan.updates.is_empty() {
                match self.update_existing(cx, &values, index, number, generated).await? {
                    true => {
                        self.give_back(generated);
                        return Ok(());
                    }
                    false => continue,
                }
            }
            if !Box::pin(self.hold_existing(cx, &values, index)).await? {
                continue;
            }
            let error = duplicate_entry(table, index, |column| values[column].clone());
            if plan.ignore {
                self.duplicates += 1;
                self.give_back(generated);
                cx.session.warnings.warn(error);
                return Ok(());
            }
            return Err(error);
        }
    }

    /// Computes the generated columns of a row and checks it; false if IGNORE skips it.
    async fn follow_rules(
        &mut self,
        cx: &mut Context<'_>,
        values: &mut [Value],
        number: u64,
    ) -> SqlResult<bool> {
        let plan = self.plan;
        if plan.rules.generates() {
            drive(cx, |cx| cx.generate(&plan.rules, &plan.table, plan.existing, values, number)).await?;
        }
        if plan.rules.checks() {
            match drive(cx, |cx| cx.check_row(&plan.rules, plan.existing, values)).await {
                Err(violation)
                    if plan.ignore && violation.number() == ER_CHECK_CONSTRAINT_VIOLATED.number =>
                {
                    cx.session.warnings.warn(violation);
                    self.refused += 1;
                    return Ok(false);
                }
                checked => checked?,
            }
        }
        Ok(true)
    }

    /// A generated value that no row took: the next row of the statement gets it.
    fn give_back(&mut self, generated: Option<u64>) {
        if let Some(value) = generated {
            self.reserved = (value, self.reserved.1 + 1);
        }
    }

    /// A value was given: what is generated after it is greater.
    fn pass_reserved(&mut self, given: u64, increment: u64) {
        let (next, count) = self.reserved;
        if count > 0 && given >= next {
            let passed = ((given - next) / increment + 1).min(count);
            self.reserved = (next.saturating_add(passed.saturating_mul(increment)), count - passed);
        }
    }

    async fn next_auto_increment(&mut self, cx: &mut Context<'_>, left: u64) -> SqlResult<u64> {
        let increment = cx.session.variables.auto_increment_increment.max(1);
        let offset = cx.session.variables.auto_increment_offset.max(1);
        if let Some(value) = cx.session.insert_id.take() {
            let table = &self.plan.table;
            drive(cx, |_| table.note_auto_increment(value).map_err(Blocked::up)).await?;
            self.reserved = (value, 1);
        }
        if self.reserved.1 == 0 {
            let count = left.max(1);
            let table = &self.plan.table;
            let first =
                drive(cx, |_| table.reserve_auto_increment(count, increment, offset).map_err(Blocked::up))
                    .await?;
            self.reserved = (first, count);
        }
        let (value, count) = self.reserved;
        self.reserved = (value.saturating_add(increment), count - 1);
        Ok(value)
    }
}

/// 3105 for a value other than DEFAULT in a generated column.
pub fn refuse_generated(table: &Table, column: usize, cell: &Cell) -> SqlResult<()> {
    match cell {
        Cell::Expr(_) if table.columns[column].generated.is_some() => Err(generated_given(table, column)),
        _ => Ok(()),
    }
}

pub(super) fn generated_given(table: &Table, column: usize) -> SqlError {
    mysql_error!(ER_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN, table.columns[column].name, table.name)
}

/// Says to AUTO_INCREMENT that a row has this value in its column, and gives it back; `None` if it counts for nothing there.
pub(super) async fn note_given(cx: &mut Context<'_>, table: &Table, value: &Value) -> SqlResult<Option<u64>> {
    let Some(value) = positive(value) else { return Ok(None) };
    drive(cx, |_| table.note_auto_increment(value).map_err(Blocked::up)).await?;
    Ok(Some(value))
}

/// A row that cannot be encoded.
pub fn row_error(error: row::RowError) -> SqlError {
    match error {
        row::RowError::TooLong => mysql_error!(ER_TOO_BIG_ROWSIZE, 65_535),
        other => SqlError::with_message(&ER_UNKNOWN_ERROR, other.to_string()),
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Int(value) => *value == 0,
        Value::UInt(value) => *value == 0,
        Value::Double(value) => *value == 0.0,
        Value::Float(value) => *value == 0.0,
        _ => false,
    }
}

fn positive(value: &Value) -> Option<u64> {
    match value {
        Value::Int(value) => u64::try_from(*value).ok().filter(|value| *value > 0),
        Value::UInt(value) => Some(*value),
        Value::Double(value) if *value > 0.0 => Some(*value as u64),
        Value::Float(value) if *value > 0.0 => Some(*value as u64),
        _ => None,
    }
}
