//! ALTER TABLE: a new definition, and the cheapest way from the old one to it.
//!
//! Every action edits a draft of the definition. What the actions were decides what the engine is asked for,
//! in one crash-atomic step: a change of the definition alone, new or dropped secondary indexes, a new name,
//! or a rebuild of the table. Columns that come, go or move are a change of the definition (module
//! `versions`, decision 153).
//!
//! What a statement changes or drops it calls by the names from before it, in whatever order it says so.
//! Hence the order here: what is dropped of constraints and indexes, the columns (module `columns`), the
//! names of indexes, and then what is added.

mod columns;
pub mod conditions;
mod mapping;
pub mod online;
mod versions;

use palisade_base::error_catalogue::{
    ER_ALTER_CONSTRAINT_ENFORCEMENT_NOT_SUPPORTED, ER_BAD_FIELD_ERROR, ER_CHECK_CONSTRAINT_NOT_FOUND,
    ER_CONSTRAINT_NOT_FOUND, ER_DUP_KEYNAME, ER_ILLEGAL_HA_CREATE_OPTION, ER_KEY_DOES_NOT_EXITS,
    ER_MULTIPLE_CONSTRAINTS_WITH_SAME_NAME, ER_PK_INDEX_CANT_BE_INVISIBLE, ER_UNKNOWN_ERROR,
};
use palisade_base::{MysqlError, mysql_error};
use palisade_catalog::descriptor::{Check, Column, Generated, Index, IndexPart, TableDef};
use palisade_catalog::{CollationId, SqlType, Value};
use palisade_expr::place::At;
use palisade_parser::ast::{
    AlterAction, AlterTable, CheckConstraint, ColumnDefinition, Expr, IndexDefinition, IndexKind, ObjectName,
    OrderItem, TableConstraint, TableOption,
};

use self::online::{Effects, Effort, Reason, Request};
use super::column::DefinedColumn;
use super::page_sink::PAGE_SINK;
use super::rows::{Source, new_value};
use super::{
    Definer, conversion, expression, foreign, generated_key, histogram, question, table, types, unsupported,
};
use crate::{SqlError, SqlResult};

/// What the engine is to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Plan {
    /// Nothing.
    Nothing,
    /// Replace the definition; rows and indexes stay.
    Definition,
    /// The same, with secondary indexes that are to be built, and without others.
    Indexes,
    /// Write all rows anew.
    Rebuild,
}

/// An ALTER TABLE, thought through.
pub struct Draft {
    /// The new definition.
    pub def: TableDef,
    /// How to get there.
    pub plan: Plan,
    /// RENAME TO.
    pub new_name: Option<ObjectName>,
    /// What the actions take MySQL to do.
    pub effects: Effects,
    request: Request,
    /// CONVERT TO CHARACTER SET.
    converts: bool,
    /// How many ordinals the rows of the old table have, those of dropped columns included.
    old_ordinals: u16,
    /// Why a column cannot be added if there are rows.
    refused: Option<SqlError>,
    /// What is to be dropped and is not there: the first such name, and the number of its action.
    missing: Option<(usize, String)>,
    /// For each new column, the old column its values come from.
    origins: Vec<Option<usize>>,
    /// Types of the old columns.
    old_types: Vec<SqlType>,
    /// The old AUTO_INCREMENT column.
    old_counted: Option<usize>,
    /// What of the old columns is generated, and how.
    old_generated: Vec<Option<Generated>>,
    changed: Changed,
    /// Generated columns, whose expressions are read when all columns are known: name, expression, whether
    /// STORED.
    generated: Vec<(String, Expr, bool)>,
    /// New checks, each with the column behind which it was written.
    checks: Vec<(CheckConstraint, Option<String>)>,
    /// New foreign keys, each with the number of indexes there were before it: where its own will stand.
    foreign_keys: Vec<(palisade_parser::ast::ForeignKey, usize)>,
    /// Names of the new foreign keys: rows that are there must have parents.
    pub new_foreign_keys: Vec<String>,
    /// Names of foreign keys that go.
    dropped_foreign_keys: Vec<String>,
    /// Indexes that go.
    pub dropped_indexes: Vec<Index>,
    /// Columns that get another name: old and new.
    pub renamed_columns: Vec<(String, String)>,
}

/// What the actions have touched so far.
#[derive(Default)]
struct Changed {
    definition: bool,
    rebuild: bool,
    /// Columns that are in the rows come or go.
    columns: bool,
    added: Vec<String>,
    /// Indexes that have lost columns.
    shortened: Vec<String>,
    dropped: Vec<String>,
}

impl Draft {
    /// The draft of `statement`, which asks for `request`, on a table of definition `old`.
    pub fn new(
        definer: &mut Definer<'_>,
        old: &TableDef,
        statement: &AlterTable,
        request: Request,
    ) -> SqlResult<Draft> {
        refuse_hiding(old, statement)?;
        generated_key::check_defaults(old, statement)?;
        let mut draft = Draft {
            def: old.clone(),
            plan: Plan::Nothing,
            new_name: None,
            effects: Effects::none(),
            request,
            converts: false,
            old_ordinals: old.next_ordinal(),
            refused: None,
            missing: None,
            origins: Vec::new(),
            old_types: old.columns.iter().map(|column| column.sql_type.clone()).collect(),
            old_counted: old.auto_increment_column(),
            old_generated: old.columns.iter().map(|column| column.generated.clone()).collect(),
            changed: Changed::default(),
            generated: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            new_foreign_keys: Vec::new(),
            dropped_foreign_keys: Vec::new(),
            dropped_indexes: Vec::new(),
            renamed_columns: Vec::new(),
        };
        draft.drop_keys(old, statement)?;
        draft.set_collation(statement)?;
        let defined = draft.redefine_columns(definer, old, statement)?;
        draft.change_indexes(statement)?;
        for (action, defined) in statement.actions.iter().zip(&defined) {
            draft.apply(definer, action)?;
            if let Some(defined) = defined {
                draft.add_keys_of(definer, action, defined)?;
            }
        }
        generated_key::check_altered(definer, old, &draft.def, &draft.origins)?;
        if old.clustering_index().is_some() && draft.def.clustering_index().is_none() {
            draft.effects.note(Effort::Copied(Reason::NoPrimaryKey));
        }
        let validates = |action: &AlterAction| matches!(action, AlterAction::Validation(true));
        if !draft.generated.is_empty() && statement.actions.iter().any(validates) {
            draft.changed.rebuild = true;
            draft.effects.note_validation();
        }
        draft.read_expressions(definer)?;
        if draft.copies() {
            table::check_document_id(&draft.def)?;
        }
        table::check_auto_increment(&draft.def)?;
        table::check_visibility(&draft.def)?;
        let Changed { added, shortened, .. } = &draft.changed;
        table::warn_of_duplicates(definer, &draft.def, |index| {
            added.contains(&index.name) || shortened.contains(&index.name)
        });
        draft.drop_histograms();
        draft.version_rows(definer)?;
        draft.choose();
        Ok(draft)
    }

    /// The rows are to be written anew in any case.
    pub fn rebuild(&mut self) {
        self.effects.note(Effort::Copied(Reason::Unsaid));
        if self.plan != Plan::Rebuild {
            self.plan = Plan::Rebuild;
            self.prepare_rebuild();
        }
    }

    /// MySQL would copy the rows one by one, and say how many there were.
    pub fn copies(&self) -> bool {
        self.effects.copies() || self.request.is_copy()
    }

    /// 1845 or 1846 if MySQL could not do so what the statement asks to be done in a certain way.
    pub fn judge(&self) -> SqlResult<()> {
        self.request.judge(&self.effects, &format!("{}/{}", self.def.schema, self.def.name))
    }

    /// Where there is one row for each value a histogram has nothing to say.
    fn drop_histograms(&mut self) {
        for place in 0..self.def.columns.len() {
            let unique = self.def.columns.get(place).is_some_and(|column| {
                column.histogram.is_some() && histogram::is_unique(&self.def, &column.name)
            });
            if let Some(column) = self.def.columns.get_mut(place).filter(|_| unique) {
                column.histogram = None;
            }
        }
    }

    fn read_expressions(&mut self, definer: &mut Definer<'_>) -> SqlResult<()> {
        for (name, expr, stored) in std::mem::take(&mut self.generated) {
            let place = self.place(&name)?;
            let generated = Some(expression::generated(definer, &self.def, place, &expr, stored)?);
            let origin = *self.origins.at(place)?;
            let is_kept = match origin {
                None => false,
                Some(origin) => *self.old_generated.at(origin)? == generated,
            };
            self.changed.rebuild |= !is_kept;
            if !is_kept && (origin.is_some() || stored) {
                self.effects.note(Effort::Copied(Reason::Unsaid));
            }
            self.def.columns.at_mut(place)?.generated = generated;
        }
        expression::read_defaults(definer, &mut self.def)?;
        for (check, column) in std::mem::take(&mut self.checks) {
            expression::add_check(definer, &mut self.def, &check, column.as_deref())?;
            // rows that are there are checked
            self.changed.rebuild |= check.enforced;
            self.changed.definition |= !check.enforced;
            self.effects.note(if check.enforced { Effort::CopiedByServer } else { Effort::Instant });
        }
        for (key, place) in std::mem::take(&mut self.foreign_keys) {
            if let foreign::NeededIndex::Made(replaced) =
                foreign::add(definer, &mut self.def, &key, &self.dropped_foreign_keys)?
            {
                let kept = self.give_way(replaced);
                if let Some(index) = self.def.indexes.pop() {
                    self.effects.note_index(false);
                    if !kept {
                        self.changed.added.push(index.name.clone());
                    }
                    self.def.indexes.insert(place.min(self.def.indexes.len()), index);
                }
            }
            let name = self.def.foreign_keys.last().map(|key| key.name.clone());
            self.new_foreign_keys.extend(name);
            self.changed.definition = true;
        }
        Ok(())
    }

    fn choose(&mut self) {
        let changed = &self.changed;
        let indexes = !changed.added.is_empty() || !changed.dropped.is_empty();
        self.plan = if changed.rebuild || indexes && self.new_name.is_some() {
            Plan::Rebuild
        } else if indexes {
            // The index that the rows are kept by stays the first.
            let first = self.def.indexes.first().map(|index| index.trees.clone());
            let given = self.def.indexes.clone();
            table::order_indexes(&mut self.def);
            if self.def.indexes.first().map(|index| index.trees.clone()) != first {
                self.def.indexes = given;
            }
            Plan::Indexes
        } else if changed.definition || changed.columns {
            Plan::Definition
        } else {
            Plan::Nothing
        };
        if self.plan == Plan::Rebuild {
            self.prepare_rebuild();
        }
    }

    /// Rows are written anew: ordinals follow the columns, and the clustered index is chosen again.
    fn prepare_rebuild(&mut self) {
        self.def.indexes.retain(|index| !index.hidden);
        if let Some(hidden) = self.def.row_id_column() {
            // It is the last one: no index is about a column behind it.
            self.def.columns.remove(hidden);
            self.origins.remove(hidden);
        }
        self.def.forget_row_versions();
        table::order_indexes(&mut self.def);
        self.def.choose_clustered_index();
        self.origins.resize(self.def.columns.len(), None);
    }

    fn apply(&mut self, definer: &mut Definer<'_>, action: &AlterAction) -> SqlResult<()> {
        match action {
            AlterAction::AddConstraint(TableConstraint::Index(index)) => self.add_index(definer, index),
            AlterAction::AddConstraint(TableConstraint::ForeignKey(key)) => {
                self.foreign_keys.push((key.clone(), self.def.indexes.len()));
                Ok(())
            }
            AlterAction::AddConstraint(TableConstraint::Check(check)) => {
                self.checks.push((check.clone(), None));
                Ok(())
            }
            AlterAction::RenameTo(name) => {
                self.new_name = Some(name.clone());
                Ok(())
            }
            AlterAction::Option(option) => self.set_option(definer, option),
            AlterAction::Force => {
                self.changed.rebuild = true;
                self.effects.note(Effort::Inplace);
                Ok(())
            }
            AlterAction::OrderBy(items) => self.order_rows(definer, items),
            AlterAction::Algorithm(_) => {
                self.changed.rebuild |= self.request.is_copy();
                Ok(())
            }
            AlterAction::SetEnforced { name, enforced, is_check } => {
                let check = if *is_check { self.check(name) } else { self.enforceable(name) }?;
                let newly = *enforced && !self.def.checks.at(check)?.enforced;
                self.def.checks.at_mut(check)?.enforced = *enforced;
                self.changed.rebuild |= newly;
                self.changed.definition |= !newly;
                self.effects.note(if newly { Effort::CopiedByServer } else { Effort::Instant });
                Ok(())
            }
            AlterAction::DiscardTablespace | AlterAction::ImportTablespace => {
                unsupported("transportable tablespaces")
            }
            AlterAction::SecondaryLoad | AlterAction::SecondaryUnload => unsupported("secondary engines"),
            // Done before or later, or nothing to do: keys are always enabled.
            AlterAction::RemovePartitioning
            | AlterAction::If { .. }
            | AlterAction::AddColumn { .. }
            | AlterAction::Modify { .. }
            | AlterAction::Change { .. }
            | AlterAction::RenameColumn(..)
            | AlterAction::SetDefault(..)
            | AlterAction::DropDefault(_)
            | AlterAction::SetColumnVisible(..)
            | AlterAction::DropColumn(_)
            | AlterAction::DropIndex(_)
            | AlterAction::DropPrimaryKey
            | AlterAction::DropForeignKey(_)
            | AlterAction::DropCheck(_)
            | AlterAction::DropConstraint(_)
            | AlterAction::RenameIndex(..)
            | AlterAction::SetIndexVisible(..)
            | AlterAction::ConvertTo { .. }
            | AlterAction::Lock(_)
            | AlterAction::EnableKeys(_)
            | AlterAction::Validation(_) => Ok(()),
            _ => unsupported("partitions"),
        }
    }

    fn place(&self, name: &str) -> SqlResult<usize> {
        let place = self.def.column_index(name).filter(|place| Some(*place) != self.def.row_id_column());
        place.ok_or_else(|| mysql_error!(ER_BAD_FIELD_ERROR, name, self.def.name))
    }

    fn index(&self, name: &str) -> SqlResult<usize> {
        let number = self
            .def
            .index_number(name)
            .filter(|number| self.def.indexes.get(*number).is_some_and(|index| !index.hidden));
        number.ok_or_else(|| mysql_error!(ER_KEY_DOES_NOT_EXITS, name, self.def.name))
    }

    fn check(&self, name: &str) -> SqlResult<usize> {
        let found = self.def.checks.iter().position(|check| check.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| mysql_error!(ER_CHECK_CONSTRAINT_NOT_FOUND, name))
    }

    /// The check that ALTER CONSTRAINT is about: 3941 for another constraint of that name, 3940 if there is
    /// none.
    fn enforceable(&self, name: &str) -> SqlResult<usize> {
        if let Ok(check) = self.check(name) {
            return Ok(check);
        }
        let index = self.def.index_number(name).and_then(|number| self.def.indexes.get(number));
        let is_key = index.is_some_and(|index| index.unique && !index.hidden);
        let is_foreign = self.def.foreign_keys.iter().any(|key| key.name.eq_ignore_ascii_case(name));
        Err(match is_key || is_foreign {
            true => mysql_error!(ER_ALTER_CONSTRAINT_ENFORCEMENT_NOT_SUPPORTED, name),
            false => mysql_error!(ER_CONSTRAINT_NOT_FOUND, name),
        })
    }

    /// Something that is to be dropped by action `number` is not there.
    fn note_missing(&mut self, number: usize, name: &str) {
        if self.missing.as_ref().is_none_or(|(first, _)| number < *first) {
            self.missing = Some((number, name.to_owned()));
        }
    }

    /// Drops what the statement drops of constraints and indexes.
    fn drop_keys(&mut self, old: &TableDef, statement: &AlterTable) -> SqlResult<()> {
        for (number, action) in statement.actions.iter().enumerate() {
            let (name, found) = match action {
                AlterAction::DropIndex(name) => (name.as_str(), self.drop_index(name)),
                AlterAction::DropPrimaryKey => ("PRIMARY", self.drop_index("PRIMARY")),
                AlterAction::DropForeignKey(name) => (name.as_str(), self.drop_foreign_key(name)),
                AlterAction::DropCheck(name) => (name.as_str(), self.drop_check(old, name)),
                AlterAction::DropConstraint(name) => (name.as_str(), self.drop_constraint(old, name)?),
                _ => continue,
            };
            match action {
                _ if found => {}
                AlterAction::DropCheck(_) => return Err(mysql_error!(ER_CHECK_CONSTRAINT_NOT_FOUND, name)),
                _ => self.note_missing(number, name),
            }
        }
        Ok(())
    }

    fn drop_foreign_key(&mut self, name: &str) -> bool {
        let Some(key) = self.def.foreign_keys.iter().position(|key| key.name.eq_ignore_ascii_case(name))
        else {
            return false;
        };
        self.dropped_foreign_keys.push(self.def.foreign_keys.remove(key).name);
        self.changed.definition = true;
        self.effects.note(Effort::Inplace);
        true
    }

    /// Drops a check that the table had: MySQL does not mind that it has been dropped already.
    fn drop_check(&mut self, old: &TableDef, name: &str) -> bool {
        let is_it = |check: &Check| check.name.eq_ignore_ascii_case(name);
        self.def.checks.retain(|check| !is_it(check));
        self.changed.definition = true;
        self.effects.note(Effort::Instant);
        old.checks.iter().any(is_it)
    }

    /// DROP CONSTRAINT: a check, a key. Whether it was there still.
    fn drop_constraint(&mut self, old: &TableDef, name: &str) -> SqlResult<bool> {
        let is_check = old.checks.iter().any(|check| check.name.eq_ignore_ascii_case(name));
        let is_foreign = old.foreign_keys.iter().any(|key| key.name.eq_ignore_ascii_case(name));
        let index = old.index_number(name).and_then(|number| old.indexes.get(number));
        let is_index = index.is_some_and(|index| index.unique && !index.hidden);
        match (is_check, is_foreign, is_index) {
            (false, false, false) => Err(mysql_error!(ER_CONSTRAINT_NOT_FOUND, name)),
            (true, false, false) => Ok(self.drop_check(old, name)),
            (false, true, false) => Ok(self.drop_foreign_key(name)),
            (false, false, true) => Ok(self.drop_index(name)),
            _ => Err(mysql_error!(ER_MULTIPLE_CONSTRAINTS_WITH_SAME_NAME, name)),
        }
    }

    /// Notes what of a column's definition is an expression.
    fn note_expressions(&mut self, definition: &ColumnDefinition, checks: Vec<CheckConstraint>) {
        if let Some(source) = &definition.generated {
            self.generated.push((definition.name.clone(), source.expr.clone(), source.stored));
        }
        let column = &definition.name;
        self.checks.extend(checks.into_iter().map(|check| (check, Some(column.clone()))));
    }

    /// What the definition of a column asks for besides the column.
    fn add_keys_of(
        &mut self,
        definer: &mut Definer<'_>,
        action: &AlterAction,
        defined: &DefinedColumn,
    ) -> SqlResult<()> {
        if let AlterAction::AddColumn { column, .. }
        | AlterAction::Modify { column, .. }
        | AlterAction::Change { column, .. } = action
        {
            self.note_expressions(column, defined.checks.clone());
        }
        for (wanted, kind) in [(defined.primary, IndexKind::Primary), (defined.unique, IndexKind::Unique)] {
            if wanted {
                self.add_index(definer, &table::key_over(kind, &defined.column.name))?;
            }
        }
        Ok(())
    }

    /// Indexes that get another name, or are hidden or shown: each is called what it was called before.
    fn change_indexes(&mut self, statement: &AlterTable) -> SqlResult<()> {
        let unknown = |name: &str, table: &TableDef| mysql_error!(ER_KEY_DOES_NOT_EXITS, name, table.name);
        let mut renamed = Vec::new();
        for action in &statement.actions {
            let AlterAction::RenameIndex(from, to) = action else { continue };
            let number = self.index(from)?;
            if renamed.iter().any(|(other, _)| *other == number) {
                return Err(unknown(from, &self.def));
            }
            renamed.push((number, to));
        }
        for action in &statement.actions {
            let AlterAction::SetIndexVisible(name, visible) = action else { continue };
            let number = self.index(name)?;
            if renamed.iter().any(|(other, _)| *other == number) {
                return Err(unknown(name, &self.def));
            }
            self.def.indexes.at_mut(number)?.invisible = !visible;
            self.changed.definition = true;
            self.effects.note(Effort::Inplace);
        }
        for (number, to) in &renamed {
            table::check_index_name(to)?;
            let index = self.def.indexes.at_mut(*number)?;
            index.name.clone_from(to);
            // A name that was given is kept.
            index.implicit = false;
            self.changed.definition = true;
            self.effects.note_index(false);
        }
        for (number, to) in renamed {
            if self.def.index_number(to).is_some_and(|other| other != number)
                || self.def.indexes.iter().skip(number + 1).any(|index| index.name.eq_ignore_ascii_case(to))
            {
                return Err(mysql_error!(ER_DUP_KEYNAME, to));
            }
        }
        Ok(())
    }

    /// Implicit indexes of foreign keys have been taken out of the definition for the index that is its last.
    /// One of the same columns stays as what it is, under the new name: whether there is one.
    fn give_way(&mut self, replaced: Vec<Index>) -> bool {
        let mut kept = false;
        for index in replaced {
            let last = self.def.indexes.last_mut();
            let is_made = !index.trees.is_empty();
            if let Some(new) = last.filter(|new| is_made && !new.unique && new.parts == index.parts) {
                new.trees = index.trees;
                self.changed.definition = true;
                kept = true;
                continue;
            }
            match self.changed.added.iter().position(|added| *added == index.name) {
                Some(place) => drop(self.changed.added.remove(place)),
                None => self.changed.dropped.push(index.name),
            }
        }
        kept
    }

    fn add_index(&mut self, definer: &mut Definer<'_>, definition: &IndexDefinition) -> SqlResult<()> {
        let nullable: Vec<bool> = self.def.columns.iter().map(|column| column.nullable).collect();
        let replaced = table::add_index(definer, &mut self.def, definition)?;
        let kept = self.give_way(replaced);
        let ([first, ..], Some(index)) = (self.def.indexes.as_slice(), self.def.indexes.last()) else {
            return Err(SqlError::internal("no index where one was added"));
        };
        if index.primary {
            let was_null =
                |part: &IndexPart| nullable.get(usize::from(part.column)).is_some_and(|null| *null);
            let converts_null = !definer.mode.is_strict() && index.parts.iter().any(was_null);
            self.effects.note(if converts_null { Effort::Copied(Reason::NotNull) } else { Effort::Inplace });
        } else {
            self.effects.note_index(index.unique);
        }
        let clusters = index.primary || index.unique && first.hidden && self.covers_not_null(index);
        if clusters {
            self.changed.rebuild = true;
        } else if !kept {
            self.changed.added.push(index.name.clone());
        }
        Ok(())
    }

    fn covers_not_null(&self, index: &Index) -> bool {
        let usable = |part: &IndexPart| part.prefix.is_none() && !self.def.key_column(part.column).nullable;
        index.parts.iter().all(usable)
    }

    /// Whether there was one to drop.
    fn drop_index(&mut self, name: &str) -> bool {
        let Ok(number) = self.index(name) else { return false };
        let index = self.def.indexes.remove(number);
        match index.primary {
            true => self.effects.note(Effort::Inplace),
            false => self.effects.note_index(index.unique),
        }
        self.dropped_indexes.push(index.clone());
        if number == 0 {
            self.changed.rebuild = true;
        } else {
            self.changed.dropped.push(index.name);
        }
        true
    }

    /// The table's character set and collation, which columns that are defined in the statement inherit
    /// wherever it says so.
    fn set_collation(&mut self, statement: &AlterTable) -> SqlResult<()> {
        for action in &statement.actions {
            match action {
                AlterAction::Option(option @ (TableOption::Charset(_) | TableOption::Collate(_))) => {
                    let options = std::slice::from_ref(option);
                    self.def.collation = table::table_collation(options, self.def.collation)?;
                    self.changed.definition = true;
                    self.effects.note(Effort::Inplace);
                }
                AlterAction::ConvertTo { charset, collation } => {
                    // What the statement itself defines is converted as well.
                    self.converts = true;
                    self.convert_to(charset.as_deref(), collation.as_deref())?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn convert_to(&mut self, charset: Option<&str>, collation: Option<&str>) -> SqlResult<()> {
        let target = types::collation_of(charset, collation, CollationId::default())?;
        self.def.collation = target;
        self.changed.definition = true;
        self.effects.note(Effort::Inplace);
        let indexes = &self.def.indexes;
        for (place, column) in self.def.columns.iter_mut().enumerate() {
            let converted = conversion::in_collation(&column.sql_type, target);
            if converted != column.sql_type {
                let has = |index: &Index| index.parts.iter().any(|part| usize::from(part.column) == place);
                let kept = conversion::keeps_bytes(&column.sql_type, &converted, indexes.iter().any(has));
                self.effects.note(match kept {
                    true => Effort::Locked(Reason::Unsaid),
                    false => Effort::Copied(Reason::ColumnType),
                });
                column.sql_type = converted;
                column.histogram = None;
                self.changed.rebuild = true;
            }
        }
        Ok(())
    }

    /// ORDER BY: rows are copied, and stay in the order of the clustered index.
    fn order_rows(&mut self, definer: &mut Definer<'_>, items: &[OrderItem]) -> SqlResult<()> {
        self.changed.rebuild = true;
        self.effects.note(Effort::CopiedByServer);
        if !self.def.indexes.iter().any(|index| index.hidden) {
            let text = format!(
                "ORDER BY ignored as there is a user-defined clustered index in the table '{}'",
                self.def.name
            );
            definer.warnings.push(MysqlError::with_message(&ER_UNKNOWN_ERROR, text));
            return Ok(());
        }
        for item in items {
            if let Expr::Column(column) = &item.expr
                && self.def.column_index(&column.column).is_none()
            {
                return Err(mysql_error!(ER_BAD_FIELD_ERROR, column.column, "order clause"));
            }
        }
        Ok(())
    }

    fn set_option(&mut self, definer: &mut Definer<'_>, option: &TableOption) -> SqlResult<()> {
        self.effects.note(Effort::Inplace);
        table::set_option(definer, &mut self.def, option).map_err(|error| match option {
            TableOption::Compression(_) => {
                mysql_error!(ER_ILLEGAL_HA_CREATE_OPTION, "InnoDB", "COMPRESSION")
            }
            _ => error,
        })?;
        if matches!(option, TableOption::RowFormat(_)) {
            self.fit_indexes(definer)?;
        }
        match option {
            TableOption::Engine(_) => self.changed.rebuild = true,
            TableOption::Other(name, _) if name == PAGE_SINK => self.changed.rebuild = true,
            _ => self.changed.definition = true,
        }
        Ok(())
    }

    /// The indexes that are there must be none too long for the new definition.
    pub(super) fn fit_indexes(&mut self, definer: &mut Definer<'_>) -> SqlResult<()> {
        let mut indexes = std::mem::take(&mut self.def.indexes);
        for index in indexes.iter_mut().filter(|index| !index.hidden) {
            let was = index.parts.clone();
            table::fit_key_length(definer, &self.def, index.unique, &mut index.parts)?;
            self.changed.rebuild |= index.parts != was;
        }
        self.def.indexes = indexes;
        Ok(())
    }

    /// What the column at `place` will be in rows that are there, as an expression over `c`, the table as it
    /// is; `None` is NULL.
    pub fn value_of_rows(
        &self,
        definer: &Definer<'_>,
        old: &TableDef,
        place: usize,
    ) -> SqlResult<Option<Expr>> {
        let column = self.def.columns.at(place)?;
        if let Some(origin) = *self.origins.at(place)? {
            return Ok(Some(question::child_column(&old.columns.at(origin)?.name)));
        }
        match new_value(definer, column)? {
            _ if column.generated.is_some() => {
                unsupported("a foreign key over a generated column that is added")
            }
            Source::Value(Value::Null) => Ok(None),
            Source::Value(value) if !matches!(value, Value::Timestamp(_)) => {
                Ok(Some(question::constant(&value, column)))
            }
            _ => unsupported("a foreign key over a column that is added with a value of its own in each row"),
        }
    }
}

/// 3522 if the statement hides the index by which the rows are kept.
fn refuse_hiding(old: &TableDef, statement: &AlterTable) -> SqlResult<()> {
    let Some(clustering) = old.clustering_index() else { return Ok(()) };
    let hides = |action: &AlterAction| matches!(action, AlterAction::SetIndexVisible(name, false) if name.eq_ignore_ascii_case(&clustering.name));
    match statement.actions.iter().any(hides) {
        true => Err(mysql_error!(ER_PK_INDEX_CANT_BE_INVISIBLE)),
        false => Ok(()),
    }
}

fn is_virtual(column: &Column) -> bool {
    column.generated.as_ref().is_some_and(|generated| !generated.stored)
}

/// CREATE INDEX as the ALTER TABLE it is.
pub fn of_create_index(statement: &palisade_parser::ast::CreateIndex) -> AlterTable {
    let index = AlterAction::AddConstraint(TableConstraint::Index(statement.index.clone()));
    let mut actions = vec![match statement.if_not_exists {
        true => AlterAction::If { exists: false, actions: vec![index] },
        false => index,
    }];
    actions.extend(statement.algorithm.clone().map(AlterAction::Algorithm));
    actions.extend(statement.lock.clone().map(AlterAction::Lock));
    AlterTable { table: statement.table.clone(), actions, partitioning: None }
}

/// DROP INDEX as the ALTER TABLE it is.
pub fn of_drop_index(statement: &palisade_parser::ast::DropIndex) -> AlterTable {
    let is_primary = statement.name.eq_ignore_ascii_case("PRIMARY");
    let mut actions = vec![match statement.if_exists {
        true => {
            let actions = vec![AlterAction::DropIndex(statement.name.clone())];
            AlterAction::If { exists: true, actions }
        }
        false if is_primary => AlterAction::DropPrimaryKey,
        false => AlterAction::DropIndex(statement.name.clone()),
    }];
    actions.extend(statement.algorithm.clone().map(AlterAction::Algorithm));
    actions.extend(statement.lock.clone().map(AlterAction::Lock));
    AlterTable { table: statement.table.clone(), actions, partitioning: None }
}
