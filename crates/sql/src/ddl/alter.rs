//! ALTER TABLE: a new definition, and the cheapest way from the old one to it.
//!
//! Every action edits a draft of the definition. What the actions were decides what the engine is asked for, in one
//! crash-atomic step: a change of the definition alone, new or dropped secondary indexes, a new name, or a rebuild
//! of the table.

use palisade_base::error_catalogue::{
    ER_BAD_FIELD_ERROR, ER_BLOB_CANT_HAVE_DEFAULT, ER_CANT_DROP_FIELD_OR_KEY, ER_CANT_REMOVE_ALL_FIELDS,
    ER_CHECK_CONSTRAINT_NOT_FOUND, ER_CONSTRAINT_NOT_FOUND, ER_DUP_FIELDNAME, ER_DUP_KEYNAME,
    ER_FK_COLUMN_CANNOT_DROP, ER_INVALID_USE_OF_NULL, ER_KEY_DOES_NOT_EXITS, ER_PK_INDEX_CANT_BE_INVISIBLE,
    ER_PRIMARY_CANT_HAVE_NULL, ER_UNKNOWN_ALTER_ALGORITHM, ER_UNKNOWN_ALTER_LOCK, ER_UNKNOWN_ERROR,
    ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN, ER_WRONG_USAGE, WARN_DATA_TRUNCATED,
};
use palisade_base::{MysqlError, mysql_error};
use palisade_catalog::descriptor::{
    Column, DefaultValue, ForeignKey, Generated, Index, IndexPart, TableDef, Visibility,
};
use palisade_catalog::store::{StoreError, StoreErrorKind};
use palisade_catalog::{CollationId, RowView, SqlType, Value};
use palisade_engine::ddl::RowMapper;
use palisade_parser::ast::{
    AlterAction, AlterTable, CheckConstraint, ColumnDefault, ColumnDefinition, ColumnPosition, Expr,
    IndexDefinition, IndexKey, IndexKind, ObjectName, OrderItem, TableConstraint, TableOption,
};

use super::rows::{RowCompleter, Source, converted, new_value};
use super::{Definer, column, conversion, expression, foreign, table, types, unsupported};
use crate::place::At;
use crate::show::create::{quoted, value_literal};
use crate::{SqlError, SqlResult};

/// What the engine is to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Plan {
    /// Nothing.
    Nothing,
    /// Replace the definition; rows and indexes stay.
    Definition,
    /// Add these secondary indexes.
    AddIndexes(Vec<Index>),
    /// Drop these secondary indexes.
    DropIndexes(Vec<String>),
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
    /// MySQL would copy the rows one by one, and say how many there were.
    pub copies: bool,
    /// For each new column, the old column its values come from.
    origins: Vec<Option<usize>>,
    /// Types of the old columns.
    old_types: Vec<SqlType>,
    /// What of the old columns is generated, and how.
    old_generated: Vec<Option<Generated>>,
    changed: Changed,
    /// Generated columns, whose expressions are read when all columns are known: name, expression, whether STORED.
    generated: Vec<(String, Expr, bool)>,
    /// New checks, each with the column behind which it was written.
    checks: Vec<(CheckConstraint, Option<String>)>,
    /// New foreign keys, each with the number of indexes there were before it: where its own will stand.
    foreign_keys: Vec<(palisade_parser::ast::ForeignKey, usize)>,
    /// Names of the new foreign keys: rows that are there must have parents.
    pub new_foreign_keys: Vec<String>,
    /// Indexes that go.
    pub dropped_indexes: Vec<Index>,
    /// Columns that get another name: old and new.
    pub renamed_columns: Vec<(String, String)>,
    /// New names of indexes.
    renamed_indexes: Vec<String>,
}

/// What the actions have touched so far.
#[derive(Default)]
struct Changed {
    definition: bool,
    rebuild: bool,
    /// Names, old and new, of columns that have been defined anew.
    columns: Vec<String>,
    added: Vec<String>,
    dropped: Vec<String>,
}

impl Draft {
    /// The draft of `statement` on a table of definition `old`.
    pub fn new(definer: &mut Definer<'_>, old: &TableDef, statement: &AlterTable) -> SqlResult<Draft> {
        if statement.partitioning.is_some() {
            return unsupported("partitions");
        }
        if let [AlterAction::Validation(_)] = statement.actions.as_slice() {
            return Err(mysql_error!(ER_WRONG_USAGE, "ALTER", "WITH VALIDATION"));
        }
        let mut draft = Draft {
            def: old.clone(),
            plan: Plan::Nothing,
            new_name: None,
            copies: false,
            origins: (0..old.columns.len()).map(Some).collect(),
            old_types: old.columns.iter().map(|column| column.sql_type.clone()).collect(),
            old_generated: old.columns.iter().map(|column| column.generated.clone()).collect(),
            changed: Changed::default(),
            generated: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            new_foreign_keys: Vec::new(),
            dropped_indexes: Vec::new(),
            renamed_columns: Vec::new(),
            renamed_indexes: Vec::new(),
        };
        let hides = |action: &AlterAction, index: &Index| matches!(action, AlterAction::SetIndexVisible(name, false) if name.eq_ignore_ascii_case(&index.name));
        if let Some(index) = old.clustering_index()
            && statement.actions.iter().any(|action| hides(action, index))
        {
            return Err(mysql_error!(ER_PK_INDEX_CANT_BE_INVISIBLE));
        }
        // what is dropped makes room for what is added under the same name
        let drops = |action: &&AlterAction| {
            matches!(
                action,
                AlterAction::DropColumn(_)
                    | AlterAction::DropIndex(_)
                    | AlterAction::DropPrimaryKey
                    | AlterAction::DropCheck(_)
                    | AlterAction::DropForeignKey(_)
                    | AlterAction::DropConstraint(_)
            )
        };
        for action in statement.actions.iter().filter(drops) {
            draft.apply(definer, action)?;
        }
        for action in statement.actions.iter().filter(|action| !drops(action)) {
            draft.apply(definer, action)?;
        }
        if draft.def.columns.iter().all(|column| column.visibility == Visibility::System) {
            return Err(mysql_error!(ER_CANT_REMOVE_ALL_FIELDS));
        }
        let had_primary = draft.dropped_indexes.iter().any(|index| index.primary);
        draft.copies |= had_primary && !draft.def.indexes.iter().any(|index| index.primary);
        draft.read_expressions(definer)?;
        table::check_auto_increment(&draft.def)?;
        table::check_visibility(&draft.def)?;
        table::warn_of_duplicates(definer, &draft.def, |index| draft.changed.added.contains(&index.name));
        draft.choose();
        Ok(draft)
    }

    fn read_expressions(&mut self, definer: &Definer<'_>) -> SqlResult<()> {
        for (name, expr, stored) in std::mem::take(&mut self.generated) {
            let place = self.place(&name)?;
            let generated = Some(expression::generated(definer, &self.def, place, &expr, stored)?);
            self.copies |= match *self.origins.at(place)? {
                None => stored,
                Some(origin) => *self.old_generated.at(origin)? != generated,
            };
            self.def.columns.at_mut(place)?.generated = generated;
        }
        expression::read_defaults(definer, &mut self.def)?;
        for (check, column) in std::mem::take(&mut self.checks) {
            expression::add_check(definer, &mut self.def, &check, column.as_deref())?;
            // rows that are there are checked
            self.changed.rebuild |= check.enforced;
            self.copies |= check.enforced;
            self.changed.definition |= !check.enforced;
        }
        for (key, place) in std::mem::take(&mut self.foreign_keys) {
            if let foreign::NeededIndex::Made(replaced) = foreign::add(&mut self.def, &key)? {
                self.give_way(replaced);
                if let Some(index) = self.def.indexes.pop() {
                    self.changed.added.push(index.name.clone());
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
        let kinds = [changed.definition, !changed.added.is_empty(), !changed.dropped.is_empty()];
        let kinds = kinds.into_iter().filter(|kind| *kind).count();
        self.plan = if changed.rebuild || kinds > 1 || kinds > 0 && self.new_name.is_some() {
            Plan::Rebuild
        } else if changed.definition {
            Plan::Definition
        } else if !changed.added.is_empty() {
            let added = |index: &&Index| changed.added.contains(&index.name);
            Plan::AddIndexes(self.def.indexes.iter().filter(added).cloned().collect())
        } else if !changed.dropped.is_empty() {
            Plan::DropIndexes(changed.dropped.clone())
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
            self.remove_column(hidden);
        }
        self.def.dropped.clear();
        for (place, column) in self.def.columns.iter_mut().enumerate() {
            column.ordinal = Some(place as u16);
            column.instant_default = Value::Null;
        }
        table::order_indexes(&mut self.def);
        self.def.choose_clustered_index();
        self.origins.resize(self.def.columns.len(), None);
    }

    fn apply(&mut self, definer: &mut Definer<'_>, action: &AlterAction) -> SqlResult<()> {
        match action {
            AlterAction::AddColumn { column, position } => self.add_column(definer, column, position),
            AlterAction::AddConstraint(TableConstraint::Index(index)) => self.add_index(index),
            AlterAction::AddConstraint(TableConstraint::ForeignKey(key)) => {
                self.foreign_keys.push((key.clone(), self.def.indexes.len()));
                Ok(())
            }
            AlterAction::AddConstraint(TableConstraint::Check(check)) => {
                self.checks.push((check.clone(), None));
                Ok(())
            }
            AlterAction::DropColumn(name) => self.drop_column(name),
            AlterAction::DropIndex(name) => self.drop_index(name),
            AlterAction::DropPrimaryKey => self.drop_index("PRIMARY"),
            AlterAction::DropForeignKey(name) => self.drop_foreign_key(name),
            AlterAction::DropCheck(name) => self.drop_check(name),
            AlterAction::DropConstraint(name) => self.drop_constraint(name),
            AlterAction::Modify { column, position } => {
                self.change_column(definer, &column.name.clone(), column, position)
            }
            AlterAction::Change { old_name, column, position } => {
                self.change_column(definer, old_name, column, position)
            }
            AlterAction::RenameColumn(from, to) => self.rename_column(from, to),
            AlterAction::RenameIndex(from, to) => self.rename_index(from, to),
            AlterAction::RenameTo(name) => {
                self.new_name = Some(name.clone());
                Ok(())
            }
            AlterAction::SetDefault(name, default) => {
                let place = self.place(name)?;
                let column = self.def.columns.at(place)?;
                // Where the column is defined, an empty one is a warning without strict mode, and NULL is
                // taken.
                if column.sql_type.is_lob() && matches!(default, ColumnDefault::Literal(_)) {
                    return Err(mysql_error!(ER_BLOB_CANT_HAVE_DEFAULT, column.name));
                }
                column::set_default(definer, self.def.columns.at_mut(place)?, default)?;
                self.changed.definition = true;
                Ok(())
            }
            AlterAction::DropDefault(name) => {
                let place = self.place(name)?;
                self.def.columns.at_mut(place)?.default = DefaultValue::None;
                self.changed.definition = true;
                Ok(())
            }
            AlterAction::SetColumnVisible(name, visible) => {
                let place = self.place(name)?;
                self.def.columns.at_mut(place)?.visibility =
                    if *visible { Visibility::Visible } else { Visibility::Invisible };
                self.changed.definition = true;
                Ok(())
            }
            AlterAction::SetIndexVisible(name, visible) => {
                let number = self.index(name)?;
                self.def.indexes.at_mut(number)?.invisible = !visible;
                self.changed.definition = true;
                Ok(())
            }
            AlterAction::ConvertTo { charset, collation } => {
                self.convert_to(charset.as_deref(), collation.as_deref())
            }
            AlterAction::Option(option) => self.set_option(definer, option),
            AlterAction::Force => {
                self.changed.rebuild = true;
                Ok(())
            }
            AlterAction::OrderBy(items) => self.order_rows(definer, items),
            AlterAction::Algorithm(name) => match name.as_str() {
                "COPY" => {
                    self.changed.rebuild = true;
                    self.copies = true;
                    Ok(())
                }
                "DEFAULT" | "INPLACE" | "INSTANT" => Ok(()),
                _ => Err(mysql_error!(ER_UNKNOWN_ALTER_ALGORITHM, name)),
            },
            AlterAction::Lock(name) => match name.as_str() {
                "DEFAULT" | "NONE" | "SHARED" | "EXCLUSIVE" => Ok(()),
                _ => Err(mysql_error!(ER_UNKNOWN_ALTER_LOCK, name)),
            },
            // keys are always enabled, and every algorithm the engine has takes the lock it needs
            AlterAction::EnableKeys(_) | AlterAction::Validation(_) => Ok(()),
            AlterAction::SetCheckEnforced(name, enforced) => {
                let check = self.check(name)?;
                let newly = *enforced && !self.def.checks.at(check)?.enforced;
                self.def.checks.at_mut(check)?.enforced = *enforced;
                self.changed.rebuild |= newly;
                self.copies |= newly;
                self.changed.definition |= !newly;
                Ok(())
            }
            AlterAction::DiscardTablespace | AlterAction::ImportTablespace => {
                unsupported("transportable tablespaces")
            }
            AlterAction::SecondaryLoad | AlterAction::SecondaryUnload => unsupported("secondary engines"),
            _ => unsupported("partitions"),
        }
    }

    fn place(&self, name: &str) -> SqlResult<usize> {
        let place = self.def.column_index(name).filter(|place| Some(*place) != self.def.row_id_column());
        place.ok_or_else(|| mysql_error!(ER_BAD_FIELD_ERROR, name, self.def.name))
    }

    /// The place of a column that an action defines anew: a statement does so with a column once, and calls
    /// it what it was called before.
    fn place_once(&mut self, name: &str) -> SqlResult<usize> {
        if self.changed.columns.iter().any(|changed| changed.eq_ignore_ascii_case(name)) {
            return Err(mysql_error!(ER_BAD_FIELD_ERROR, name, self.def.name));
        }
        self.changed.columns.push(name.to_owned());
        self.place(name)
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

    fn drop_foreign_key(&mut self, name: &str) -> SqlResult<()> {
        let found = self.def.foreign_keys.iter().position(|key| key.name.eq_ignore_ascii_case(name));
        let key = found.ok_or_else(|| mysql_error!(ER_CANT_DROP_FIELD_OR_KEY, name))?;
        self.def.foreign_keys.remove(key);
        self.changed.definition = true;
        Ok(())
    }

    fn drop_check(&mut self, name: &str) -> SqlResult<()> {
        let check = self.check(name)?;
        self.def.checks.remove(check);
        self.changed.definition = true;
        Ok(())
    }

    /// DROP CONSTRAINT: a check, a key.
    fn drop_constraint(&mut self, name: &str) -> SqlResult<()> {
        if self.check(name).is_ok() {
            return self.drop_check(name);
        }
        if self.def.foreign_keys.iter().any(|key| key.name.eq_ignore_ascii_case(name)) {
            return self.drop_foreign_key(name);
        }
        match self.index(name) {
            Ok(number) if self.def.indexes.at(number)?.unique => self.drop_index(name),
            _ => Err(mysql_error!(ER_CONSTRAINT_NOT_FOUND, name)),
        }
    }

    /// Notes what of a column's definition is an expression.
    fn note_expressions(&mut self, definition: &ColumnDefinition, checks: Vec<CheckConstraint>) {
        if let Some(source) = &definition.generated {
            self.generated.push((definition.name.clone(), source.expr.clone(), source.stored));
            self.changed.rebuild = true;
        }
        let column = &definition.name;
        self.checks.extend(checks.into_iter().map(|check| (check, Some(column.clone()))));
    }

    /// Where a new or moved column goes.
    fn target(&self, position: &ColumnPosition) -> SqlResult<Option<usize>> {
        Ok(match position {
            ColumnPosition::Unspecified => None,
            ColumnPosition::First => Some(0),
            ColumnPosition::After(name) => Some(self.place(name)? + 1),
        })
    }

    fn insert_column(&mut self, at: usize, column: Column, origin: Option<usize>) {
        for part in self.def.indexes.iter_mut().flat_map(|index| &mut index.parts) {
            part.column += u16::from(usize::from(part.column) >= at);
        }
        for column in self.def.foreign_keys.iter_mut().flat_map(|key| &mut key.columns) {
            *column += u16::from(usize::from(*column) >= at);
        }
        self.def.columns.insert(at, column);
        self.origins.insert(at, origin);
    }

    /// Removes a column; index parts over it go, and indexes that have no other.
    fn remove_column(&mut self, at: usize) -> (Column, Option<usize>) {
        for index in &mut self.def.indexes {
            index.parts.retain(|part| usize::from(part.column) != at);
            for part in &mut index.parts {
                part.column -= u16::from(usize::from(part.column) > at);
            }
        }
        for column in self.def.foreign_keys.iter_mut().flat_map(|key| &mut key.columns) {
            *column -= u16::from(usize::from(*column) > at);
        }
        self.def.indexes.retain(|index| !index.parts.is_empty());
        (self.def.columns.remove(at), self.origins.remove(at))
    }

    fn add_column(
        &mut self,
        definer: &mut Definer<'_>,
        definition: &ColumnDefinition,
        position: &ColumnPosition,
    ) -> SqlResult<()> {
        let defined = column::define(definer, definition, self.def.collation)?;
        let name = defined.column.name.clone();
        if self.def.column_index(&name).is_some() {
            return Err(mysql_error!(ER_DUP_FIELDNAME, name));
        }
        let end = self.def.row_id_column().unwrap_or(self.def.columns.len());
        let at = self.target(position)?.unwrap_or(end);
        self.copies |= matches!(defined.column.default, DefaultValue::Expression(_));
        self.insert_column(at, defined.column, None);
        self.changed.rebuild = true;
        self.note_expressions(definition, defined.checks);
        for (wanted, kind) in [(defined.primary, IndexKind::Primary), (defined.unique, IndexKind::Unique)] {
            if wanted {
                let key = IndexKey::Column(name.clone(), None);
                let parts = vec![palisade_parser::ast::IndexPart { key, descending: false }];
                self.add_index(&IndexDefinition { kind, name: None, parts, options: vec![] })?;
            }
        }
        Ok(())
    }

    fn drop_column(&mut self, name: &str) -> SqlResult<()> {
        let Ok(place) = self.place(name) else {
            return Err(mysql_error!(ER_CANT_DROP_FIELD_OR_KEY, name));
        };
        expression::release_column(&mut self.def, place, true)?;
        let uses = |key: &&ForeignKey| key.columns.iter().any(|column| usize::from(*column) == place);
        if let Some(key) = self.def.foreign_keys.iter().find(uses) {
            return Err(mysql_error!(ER_FK_COLUMN_CANNOT_DROP, name, key.name));
        }
        self.remove_column(place);
        self.changed.rebuild = true;
        Ok(())
    }

    fn change_column(
        &mut self,
        definer: &mut Definer<'_>,
        old_name: &str,
        definition: &ColumnDefinition,
        position: &ColumnPosition,
    ) -> SqlResult<()> {
        let place = self.place_once(old_name)?;
        let defined = column::define(definer, definition, self.def.collation)?;
        self.changed.columns.push(defined.column.name.clone());
        let mut new = defined.column;
        if !new.name.eq_ignore_ascii_case(old_name) && self.def.column_index(&new.name).is_some() {
            return Err(mysql_error!(ER_DUP_FIELDNAME, new.name));
        }
        if !new.name.eq_ignore_ascii_case(old_name) {
            expression::release_column(&mut self.def, place, false)?;
            self.renamed_columns.push((old_name.to_owned(), new.name.clone()));
        }
        self.note_expressions(definition, defined.checks);
        let old = self.def.columns.at(place)?;
        if is_virtual(old) != is_virtual(&new) {
            let what = "Changing the STORED status";
            return Err(mysql_error!(ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN, what));
        }
        let in_primary =
            self.def.indexes.iter().any(|index| {
                index.primary && index.parts.iter().any(|part| usize::from(part.column) == place)
            });
        if in_primary {
            if defined.explicitly_null {
                return Err(mysql_error!(ER_PRIMARY_CANT_HAVE_NULL));
            }
            new.nullable = false;
        }
        new.ordinal = old.ordinal;
        new.instant_default = old.instant_default.clone();
        let computed = new.generated.is_some() || old.generated.is_some();
        let same_rows = new.sql_type == old.sql_type && new.nullable == old.nullable && !computed;
        self.copies |= !conversion::keeps_bytes(&old.sql_type, &new.sql_type)
            || new.auto_increment != old.auto_increment
            || old.generated.is_some() && new.generated.is_none();
        if same_rows {
            self.changed.definition = true;
        } else {
            self.changed.rebuild = true;
        }
        *self.def.columns.at_mut(place)? = new;
        if let Some(target) = self.target(position)?
            && target != place
            && target != place + 1
        {
            self.move_column(place, target);
        }
        if defined.primary || defined.unique {
            let kind = if defined.primary { IndexKind::Primary } else { IndexKind::Unique };
            let key = IndexKey::Column(definition.name.clone(), None);
            let parts = vec![palisade_parser::ast::IndexPart { key, descending: false }];
            self.add_index(&IndexDefinition { kind, name: None, parts, options: vec![] })?;
        }
        Ok(())
    }

    /// Moves a column; index parts follow it.
    fn move_column(&mut self, from: usize, target: usize) {
        let to = if target > from { target - 1 } else { target };
        let column = self.def.columns.remove(from);
        self.def.columns.insert(to, column);
        let origin = self.origins.remove(from);
        self.origins.insert(to, origin);
        let moved = |place: u16| {
            let place = usize::from(place);
            let place = match place {
                place if place == from => to,
                place if place > from && place <= to => place - 1,
                place if place < from && place >= to => place + 1,
                place => place,
            };
            place as u16
        };
        for part in self.def.indexes.iter_mut().flat_map(|index| &mut index.parts) {
            part.column = moved(part.column);
        }
        for column in self.def.foreign_keys.iter_mut().flat_map(|key| &mut key.columns) {
            *column = moved(*column);
        }
        self.changed.rebuild = true;
    }

    fn rename_column(&mut self, from: &str, to: &str) -> SqlResult<()> {
        let place = self.place_once(from)?;
        self.changed.columns.push(to.to_owned());
        column::check_column_name(to)?;
        if self.def.column_index(to).is_some_and(|other| other != place) {
            return Err(mysql_error!(ER_DUP_FIELDNAME, to));
        }
        expression::release_column(&mut self.def, place, false)?;
        self.renamed_columns.push((from.to_owned(), to.to_owned()));
        self.def.columns.at_mut(place)?.name = to.to_owned();
        self.changed.definition = true;
        Ok(())
    }

    fn rename_index(&mut self, from: &str, to: &str) -> SqlResult<()> {
        // What the statement renames, it names as it was before.
        if self.renamed_indexes.iter().any(|renamed| renamed.eq_ignore_ascii_case(from)) {
            return Err(mysql_error!(ER_KEY_DOES_NOT_EXITS, from, self.def.name));
        }
        let number = self.index(from)?;
        table::check_index_name(to)?;
        if self.def.index_number(to).is_some_and(|other| other != number) {
            return Err(mysql_error!(ER_DUP_KEYNAME, to));
        }
        self.renamed_indexes.push(to.to_owned());
        self.def.indexes.at_mut(number)?.name = to.to_owned();
        // Who gives it a name wants to keep it.
        self.def.indexes.at_mut(number)?.implicit = false;
        self.changed.definition = true;
        Ok(())
    }

    /// Implicit indexes of foreign keys have been taken out of the definition.
    fn give_way(&mut self, replaced: Vec<Index>) {
        for index in replaced {
            match self.changed.added.iter().position(|added| *added == index.name) {
                Some(place) => drop(self.changed.added.remove(place)),
                None => self.changed.dropped.push(index.name),
            }
        }
    }

    fn add_index(&mut self, definition: &IndexDefinition) -> SqlResult<()> {
        let replaced = table::add_index(&mut self.def, definition)?;
        self.give_way(replaced);
        let ([first, ..], Some(index)) = (self.def.indexes.as_slice(), self.def.indexes.last()) else {
            return Err(SqlError::internal("no index where one was added"));
        };
        let clusters = index.primary || index.unique && first.hidden && self.covers_not_null(index);
        if clusters {
            self.changed.rebuild = true;
        } else {
            self.changed.added.push(index.name.clone());
        }
        Ok(())
    }

    fn covers_not_null(&self, index: &Index) -> bool {
        let usable = |part: &IndexPart| part.prefix.is_none() && !self.def.key_column(part.column).nullable;
        index.parts.iter().all(usable)
    }

    fn drop_index(&mut self, name: &str) -> SqlResult<()> {
        let Ok(number) = self.index(name) else {
            return Err(mysql_error!(ER_CANT_DROP_FIELD_OR_KEY, name));
        };
        let index = self.def.indexes.remove(number);
        self.dropped_indexes.push(index.clone());
        if number == 0 {
            self.changed.rebuild = true;
        } else {
            self.changed.dropped.push(index.name);
        }
        Ok(())
    }

    fn convert_to(&mut self, charset: Option<&str>, collation: Option<&str>) -> SqlResult<()> {
        let target = types::collation_of(charset, collation, CollationId::default())?;
        self.def.collation = target;
        self.changed.definition = true;
        for column in &mut self.def.columns {
            let converted = conversion::in_collation(&column.sql_type, target);
            if converted != column.sql_type {
                column.sql_type = converted;
                self.changed.rebuild = true;
                self.copies = true;
            }
        }
        Ok(())
    }

    /// ORDER BY: rows are copied, and stay in the order of the clustered index.
    fn order_rows(&mut self, definer: &mut Definer<'_>, items: &[OrderItem]) -> SqlResult<()> {
        self.changed.rebuild = true;
        self.copies = true;
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
        match option {
            TableOption::Charset(_) | TableOption::Collate(_) => {
                let options = std::slice::from_ref(option);
                self.def.collation = table::table_collation(options, self.def.collation)?;
            }
            option => table::set_option(definer, &mut self.def, option)?,
        }
        match option {
            TableOption::Engine(_) => self.changed.rebuild = true,
            _ => self.changed.definition = true,
        }
        Ok(())
    }

    /// What the column at `place` will be in rows that are there, as an expression over `c`, the table as it is; `None` is NULL.
    pub fn value_of_rows(
        &self,
        definer: &Definer<'_>,
        old: &TableDef,
        place: usize,
    ) -> SqlResult<Option<String>> {
        let column = self.def.columns.at(place)?;
        if let Some(origin) = *self.origins.at(place)? {
            return Ok(Some(format!("c.{}", quoted(&old.columns.at(origin)?.name))));
        }
        match new_value(definer, column)? {
            _ if column.generated.is_some() => {
                unsupported("a foreign key over a generated column that is added")
            }
            Source::Value(Value::Null) => Ok(None),
            Source::Value(value) if !matches!(value, Value::Timestamp(_)) => {
                Ok(Some(value_literal(&value, column)))
            }
            _ => unsupported("a foreign key over a column that is added with a value of its own in each row"),
        }
    }

    /// Makes rows of the new definition from rows of the old one. Rows are counted in `rows`.
    pub fn mapper<'a>(
        &'a self,
        definer: &'a Definer<'_>,
        mut completer: RowCompleter<'a>,
        rows: &'a mut u64,
    ) -> SqlResult<Box<RowMapper<'a>>> {
        let mut sources = Vec::with_capacity(self.def.columns.len());
        for (column, origin) in self.def.columns.iter().zip(&self.origins) {
            sources.push(match origin {
                _ if column.generated.is_some() => Source::Value(Value::Null),
                Some(old) => Source::Old(*old),
                None if matches!(column.default, DefaultValue::Expression(_)) => Source::Expression,
                None => new_value(definer, column)?,
            });
        }
        Ok(Box::new(move |row: &RowView<'_>, out: &mut Vec<Value>| {
            *rows += 1;
            for (column, source) in self.def.columns.iter().zip(&sources) {
                out.push(match source {
                    Source::Expression => Value::Null,
                    Source::Value(value) => value.clone(),
                    Source::RowNumber => Value::UInt(*rows),
                    Source::Old(old) => {
                        converted(definer, row.column(*old), self.old_types.at(*old)?, column)
                            .map_err(|error| self.not_kept(&error, column, *rows))?
                    }
                });
            }
            for (place, _) in
                sources.iter().enumerate().filter(|(_, source)| matches!(source, Source::Expression))
            {
                *out.at_mut(place)? = completer.default(place, self.def.columns.at(place)?, out, *rows)?;
            }
            Ok(completer.complete(&self.def, out, *rows)?)
        }))
    }
}

impl Draft {
    /// The error of a value that a column in its new form cannot hold; `row` is the number of its row.
    fn not_kept(&self, error: &StoreError, column: &Column, row: u64) -> SqlError {
        match error.kind {
            // MySQL's two ways to write rows anew differ in this.
            StoreErrorKind::NullNotAllowed | StoreErrorKind::TooLong if self.copies => {
                mysql_error!(WARN_DATA_TRUNCATED, column.name, row)
            }
            StoreErrorKind::NullNotAllowed => mysql_error!(ER_INVALID_USE_OF_NULL),
            _ => error.to_mysql(&column.name, row),
        }
    }
}

fn is_virtual(column: &Column) -> bool {
    column.generated.as_ref().is_some_and(|generated| !generated.stored)
}

/// CREATE INDEX as the ALTER TABLE it is.
pub fn of_create_index(statement: &palisade_parser::ast::CreateIndex) -> AlterTable {
    let index = TableConstraint::Index(statement.index.clone());
    let actions = vec![AlterAction::AddConstraint(index)];
    AlterTable { table: statement.table.clone(), actions, partitioning: None }
}

/// DROP INDEX as the ALTER TABLE it is.
pub fn of_drop_index(statement: &palisade_parser::ast::DropIndex) -> AlterTable {
    let action = if statement.name.eq_ignore_ascii_case("PRIMARY") {
        AlterAction::DropPrimaryKey
    } else {
        AlterAction::DropIndex(statement.name.clone())
    };
    AlterTable { table: statement.table.clone(), actions: vec![action], partitioning: None }
}
