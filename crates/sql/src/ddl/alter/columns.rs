//! The columns of an ALTER TABLE.
//!
//! What a statement does with columns that are there, it calls them by the names they had before it, each of
//! them once; so names can be swapped: `CHANGE a b INT, CHANGE b a INT`. Where a column goes (AFTER) is said
//! in new names, and the moves and additions happen one after the other:
//!
//! 1. every action finds its column among the old ones (1054, 1091);
//! 2. columns are dropped, and defined anew where they are;
//! 3. columns are moved and added, in the statement's order;
//! 4. no two may have one name (1060);
//! 5. indexes and foreign keys find their columns again.
//!
//! An index is about names: if `a` is dropped and another `a` is added, its index goes on with that.

use palisade_base::error_catalogue::{
    ER_BAD_FIELD_ERROR, ER_BLOB_CANT_HAVE_DEFAULT, ER_CANT_DROP_FIELD_OR_KEY, ER_CANT_REMOVE_ALL_FIELDS,
    ER_DEPENDENT_BY_PARTITION_FUNC, ER_DUP_FIELDNAME, ER_FK_COLUMN_CANNOT_DROP, ER_PRIMARY_CANT_HAVE_NULL,
    ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN,
};
use palisade_base::mysql_error;
use palisade_catalog::descriptor::{
    Column, DefaultValue, DroppedColumn, ForeignKey, Index, TableDef, Visibility,
};
use palisade_expr::place::At;
use palisade_parser::ast::{AlterAction, AlterTable, ColumnDefault, ColumnDefinition, ColumnPosition};

use super::online::{Effort, Reason};
use super::versions::refused_in_rows;
use super::{Draft, is_virtual};
use crate::SqlResult;
use crate::ddl::column::DefinedColumn;
use crate::ddl::{Definer, column, conversion, expression, generated_key, partition, table};

/// A column of the new definition, and the place of the old one that it was.
struct Entry {
    column: Column,
    origin: Option<usize>,
}

/// The definition that an action gives a column, and where it goes.
fn definition(action: &AlterAction) -> Option<(&ColumnDefinition, &ColumnPosition)> {
    match action {
        AlterAction::AddColumn { column, position }
        | AlterAction::Modify { column, position }
        | AlterAction::Change { column, position, .. } => Some((column, position)),
        _ => None,
    }
}

/// The old name of the column that an action is about, unless it drops it.
fn subject(action: &AlterAction) -> Option<&str> {
    match action {
        AlterAction::Modify { column, .. } => Some(&column.name),
        AlterAction::Change { old_name: name, .. }
        | AlterAction::RenameColumn(name, _)
        | AlterAction::SetDefault(name, _)
        | AlterAction::DropDefault(name)
        | AlterAction::SetColumnVisible(name, _) => Some(name),
        _ => None,
    }
}

/// Which action is about which old column.
struct Resolved<'a> {
    /// For each old column, whether it goes.
    dropped: Vec<bool>,
    /// For each old column, what is done with it.
    actions: Vec<Option<&'a AlterAction>>,
    /// The first column to be dropped that is not there.
    missing: Option<(usize, &'a str)>,
    /// The first name that is no column's, or one that something is done with already.
    unknown: Option<&'a str>,
}

fn resolve<'a>(old: &TableDef, statement: &'a AlterTable) -> SqlResult<Resolved<'a>> {
    let place = |name: &str| old.column_index(name).filter(|place| Some(*place) != old.row_id_column());
    let count = old.columns.len();
    let mut resolved =
        Resolved { dropped: vec![false; count], actions: vec![None; count], missing: None, unknown: None };
    for (number, action) in statement.actions.iter().enumerate() {
        let AlterAction::DropColumn(name) = action else { continue };
        match place(name) {
            Some(place) if !*resolved.dropped.at(place)? => *resolved.dropped.at_mut(place)? = true,
            _ => drop(resolved.missing.get_or_insert((number, name))),
        }
    }
    for action in &statement.actions {
        let Some(name) = subject(action) else { continue };
        match place(name) {
            Some(place) if resolved.actions.at(place)?.is_none() && !*resolved.dropped.at(place)? => {
                *resolved.actions.at_mut(place)? = Some(action);
            }
            _ => drop(resolved.unknown.get_or_insert(name)),
        }
    }
    Ok(resolved)
}

impl Draft {
    /// Does with the columns what the statement says; `old` is the table as it was, of which the draft has
    /// lost what is dropped of constraints and indexes. Gives what the new definitions ask for besides, by
    /// the number of the action.
    pub(super) fn redefine_columns(
        &mut self,
        definer: &mut Definer<'_>,
        old: &TableDef,
        statement: &AlterTable,
    ) -> SqlResult<Vec<Option<DefinedColumn>>> {
        let resolved = resolve(old, statement)?;
        if let Some((number, name)) = resolved.missing {
            self.note_missing(number, name);
        }
        self.release(&resolved)?;
        if let Some(name) = resolved.unknown {
            return Err(mysql_error!(ER_BAD_FIELD_ERROR, name, old.name));
        }
        let mut defined = Vec::with_capacity(statement.actions.len());
        for action in &statement.actions {
            defined.push(match definition(action) {
                Some((definition, _)) => Some(self.defined(definer, definition)?),
                None => None,
            });
        }
        let mut entries = Vec::with_capacity(old.columns.len());
        let columns = std::mem::take(&mut self.def.columns);
        for (place, column) in columns.into_iter().enumerate() {
            if *resolved.dropped.at(place)? {
                let mut behind = old.columns.iter().zip(&resolved.dropped).skip(place + 1);
                let is_last = !behind.any(|(other, dropped)| is_virtual(other) && !dropped);
                self.effects.note_dropped(is_virtual(&column), is_last);
                self.changed.columns = true;
                let Column { ordinal, sql_type, .. } = column;
                self.def.dropped.extend(ordinal.map(|ordinal| DroppedColumn { ordinal, sql_type }));
                continue;
            }
            let column = match resolved.actions.at(place)? {
                Some(action) => {
                    let number = statement.actions.iter().position(|other| std::ptr::eq(other, *action));
                    let new = number.and_then(|number| defined.get(number)).and_then(Option::as_ref);
                    self.redefined(definer, place, column, action, new)?
                }
                None => column,
            };
            entries.push(Entry { column, origin: Some(place) });
        }
        self.place_columns(definer, &mut entries, old, (statement, &defined))?;
        if let Some((_, name)) = self.missing.take() {
            return Err(mysql_error!(ER_CANT_DROP_FIELD_OR_KEY, name));
        }
        check_names(&entries)?;
        let places = Places::of(old, &entries);
        (self.def.columns, self.origins) =
            entries.into_iter().map(|entry| (entry.column, entry.origin)).unzip();
        self.follow_columns(definer, old, &places)?;
        Ok(defined)
    }

    /// A column as the statement defines it.
    fn defined(&self, definer: &mut Definer<'_>, definition: &ColumnDefinition) -> SqlResult<DefinedColumn> {
        let mut defined = column::define(definer, definition, self.def.collation)?;
        if self.converts {
            let sql_type = &mut defined.column.sql_type;
            *sql_type = conversion::in_collation(sql_type, self.def.collation);
        }
        Ok(defined)
    }

    /// Columns that are dropped or get another name: nothing that stays may need them.
    fn release(&mut self, resolved: &Resolved<'_>) -> SqlResult<()> {
        let mut stays = self.def.clone();
        // The expressions of columns that go are no longer there; those of columns that are defined anew are.
        for (place, column) in stays.columns.iter_mut().enumerate() {
            if *resolved.dropped.at(place)? {
                (column.generated, column.default) = (None, DefaultValue::None);
            }
        }
        for place in 0..stays.columns.len() {
            let name = stays.columns.at(place)?.name.clone();
            if *resolved.dropped.at(place)? {
                refuse_partitioning(&self.def, place)?;
                expression::release_column(&mut stays, place, true)?;
                let uses = |key: &&ForeignKey| key.columns.iter().any(|column| usize::from(*column) == place);
                if let Some(key) = self.def.foreign_keys.iter().find(uses) {
                    return Err(mysql_error!(ER_FK_COLUMN_CANNOT_DROP, name, key.name));
                }
                continue;
            }
            let new = match resolved.actions.at(place)? {
                Some(AlterAction::Change { column, .. }) => &column.name,
                Some(AlterAction::RenameColumn(_, to)) => to,
                _ => continue,
            };
            if !new.eq_ignore_ascii_case(&name) {
                refuse_partitioning(&self.def, place)?;
                expression::release_column(&mut stays, place, false)?;
                self.renamed_columns.push((name, new.clone()));
            }
        }
        self.def.checks = stays.checks;
        Ok(())
    }

    /// The old column at `place` as an action defines it: with `new`, or by changing something of it.
    fn redefined(
        &mut self,
        definer: &mut Definer<'_>,
        place: usize,
        mut column: Column,
        action: &AlterAction,
        new: Option<&DefinedColumn>,
    ) -> SqlResult<Column> {
        match action {
            AlterAction::RenameColumn(_, to) => {
                column::check_column_name(to)?;
                column.name.clone_from(to);
                // MySQL looks for it by the new name.
                column.histogram = None;
                self.effects.note_rename();
            }
            AlterAction::SetDefault(_, default) => {
                // Where the column is defined, an empty one is a warning without strict mode, and NULL is
                // taken.
                if column.sql_type.is_lob() && matches!(default, ColumnDefault::Literal(_)) {
                    return Err(mysql_error!(ER_BLOB_CANT_HAVE_DEFAULT, column.name));
                }
                column::set_default(definer, &mut column, default)?;
                self.effects.note(Effort::Instant);
            }
            AlterAction::DropDefault(_) => {
                column.default = if column.nullable { DefaultValue::Removed } else { DefaultValue::None };
                self.effects.note(Effort::Instant);
            }
            AlterAction::SetColumnVisible(_, visible) => {
                column.visibility = if *visible { Visibility::Visible } else { Visibility::Invisible };
                self.effects.note(Effort::Instant);
            }
            _ => {
                if let Some(new) = new {
                    return self.replaced(definer, place, &column, new);
                }
            }
        }
        self.changed.definition = true;
        Ok(column)
    }

    /// MODIFY or CHANGE.
    fn replaced(
        &mut self,
        definer: &Definer<'_>,
        place: usize,
        old: &Column,
        defined: &DefinedColumn,
    ) -> SqlResult<Column> {
        let mut new = defined.column.clone();
        if is_virtual(old) != is_virtual(&new) {
            let what = "Changing the STORED status";
            return Err(mysql_error!(ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN, what));
        }
        let has = |index: &&Index| index.parts.iter().any(|part| usize::from(part.column) == place);
        let indexed = self.def.indexes.iter().any(|index| has(&index));
        if self.def.indexes.iter().filter(has).any(|index| index.primary) {
            if defined.explicitly_null {
                return Err(mysql_error!(ER_PRIMARY_CANT_HAVE_NULL));
            }
            new.nullable = false;
        }
        new.ordinal = old.ordinal;
        new.instant_default = old.instant_default.clone();
        self.note_replaced(definer, old, &new, indexed);
        let same_rows = match (&old.generated, &new.generated) {
            // Whether the expression is another one is seen when it is read.
            (Some(_), Some(_)) => new.sql_type == old.sql_type && new.nullable == old.nullable,
            (None, None) => {
                let takes_null = new.nullable && !indexed;
                conversion::keeps_fields(&old.sql_type, &new.sql_type)
                    && (new.nullable == old.nullable || takes_null)
                    && (old.auto_increment || !new.auto_increment)
            }
            _ => false,
        };
        self.changed.definition |= same_rows;
        self.changed.rebuild |= !same_rows;
        Ok(new)
    }

    /// What a column that is defined anew takes MySQL.
    fn note_replaced(&mut self, definer: &Definer<'_>, old: &Column, new: &Column, indexed: bool) {
        if !new.name.eq_ignore_ascii_case(&old.name) {
            self.effects.note_rename();
        }
        let kept = conversion::keeps_bytes(&old.sql_type, &new.sql_type, indexed);
        let is_virtual = is_virtual(new);
        let converts_null = old.nullable && !new.nullable && !definer.mode.is_strict();
        self.effects.note(match () {
            () if is_virtual && (old.sql_type != new.sql_type || old.nullable != new.nullable) => {
                Effort::Copied(Reason::Unsaid)
            }
            () if !kept || new.auto_increment != old.auto_increment => Effort::Copied(Reason::ColumnType),
            () if old.generated.is_some() != new.generated.is_some() => Effort::Copied(Reason::ColumnType),
            () if converts_null => Effort::Copied(Reason::NotNull),
            () if old.nullable != new.nullable => Effort::Inplace,
            () if conversion::adds_members(&old.sql_type, &new.sql_type) => Effort::Instant,
            () if old.sql_type != new.sql_type => Effort::Inplace,
            () => Effort::Instant,
        });
    }

    /// Moves and adds columns, one after the other.
    fn place_columns(
        &mut self,
        definer: &Definer<'_>,
        entries: &mut Vec<Entry>,
        old: &TableDef,
        (statement, defined): (&AlterTable, &[Option<DefinedColumn>]),
    ) -> SqlResult<()> {
        let mut moves_virtual = false;
        for (action, defined) in statement.actions.iter().zip(defined) {
            let (Some((_, position)), Some(defined)) = (definition(action), defined) else { continue };
            let old_name = subject(action);
            if old_name.is_some() && *position == ColumnPosition::Unspecified {
                continue;
            }
            let entry = match old_name {
                Some(name) => {
                    let origin = old.column_index(name);
                    let Some(place) = entries.iter().position(|entry| entry.origin == origin) else {
                        continue;
                    };
                    moves_virtual |= is_virtual(&defined.column);
                    entries.remove(place)
                }
                None => self.added(definer, &defined.column, entries),
            };
            let is_hidden = |entry: &Entry| entry.column.visibility == Visibility::System;
            let end = entries.iter().position(is_hidden).unwrap_or(entries.len());
            let at = match position {
                ColumnPosition::Unspecified => end,
                ColumnPosition::First => {
                    // A generated key stays before all other columns.
                    let is_key = |entry: &Entry| {
                        entry.origin == Some(0) && entry.column.visibility == Visibility::Invisible
                    };
                    usize::from(generated_key::is_generated(old) && entries.first().is_some_and(is_key))
                }
                ColumnPosition::After(name) => {
                    let found = entries.iter().take(end).position(|entry| entry.column.is_called(name));
                    found.ok_or_else(|| mysql_error!(ER_BAD_FIELD_ERROR, name, self.def.name))? + 1
                }
            };
            if entry.origin.is_none() {
                self.effects.note_added(is_virtual(&entry.column), at == end);
            }
            entries.insert(at, entry);
        }
        if entries.iter().all(|entry| entry.column.visibility == Visibility::System) {
            return Err(mysql_error!(ER_CANT_REMOVE_ALL_FIELDS));
        }
        if !entries.iter().filter_map(|entry| entry.origin).is_sorted() {
            self.changed.definition = true;
            self.effects.note_move(moves_virtual);
        }
        Ok(())
    }

    /// A column that is added to those of `entries`: rows that are written from now on have it at their end.
    fn added(&mut self, definer: &Definer<'_>, column: &Column, entries: &[Entry]) -> Entry {
        if matches!(column.default, DefaultValue::Expression(_)) {
            self.effects.note(Effort::Copied(Reason::Unsaid));
        }
        if column.auto_increment {
            self.effects.note(Effort::Locked(Reason::AutoIncrement));
        }
        if let Some(refused) = refused_in_rows(definer, column) {
            self.effects.note(Effort::Inplace);
            self.changed.rebuild = true;
            self.refused.get_or_insert(refused);
        }
        self.changed.columns = true;
        let added = entries.iter().filter(|entry| entry.origin.is_none()).count();
        let ordinal = Some(self.old_ordinals.saturating_add(added as u16));
        Entry { column: Column { ordinal, ..column.clone() }, origin: None }
    }

    /// Indexes and foreign keys find their columns again.
    fn follow_columns(
        &mut self,
        definer: &mut Definer<'_>,
        old: &TableDef,
        places: &Places,
    ) -> SqlResult<()> {
        for key in &mut self.def.foreign_keys {
            for column in &mut key.columns {
                if let Some(Some(place)) = places.of_column.get(usize::from(*column)) {
                    *column = *place;
                }
            }
        }
        let mut indexes = std::mem::take(&mut self.def.indexes);
        for index in &mut indexes {
            let parts = std::mem::take(&mut index.parts);
            for mut part in parts {
                let itself = places.of_column.get(usize::from(part.column)).copied().flatten();
                // Entries lose a part, or are of another column from now on.
                self.changed.rebuild |= itself.is_none();
                let Some(Some(place)) = places.of_part.get(usize::from(part.column)) else {
                    self.effects.note_index(index.unique);
                    self.changed.shortened.push(index.name.clone());
                    continue;
                };
                let was = old.key_column(part.column);
                part.column = *place;
                let column = self.def.columns.at(usize::from(*place))?;
                if was.sql_type != column.sql_type {
                    part.prefix = table::kept_prefix(column, part.prefix)?;
                }
                index.parts.push(part);
            }
        }
        indexes.retain(|index| !index.parts.is_empty());
        self.def.indexes = indexes;
        self.fit_indexes(definer)
    }
}

/// 1060 if two columns have one name.
fn check_names(entries: &[Entry]) -> SqlResult<()> {
    for (place, entry) in entries.iter().enumerate() {
        let name = &entry.column.name;
        if entries.iter().take(place).any(|earlier| earlier.column.is_called(name)) {
            return Err(mysql_error!(ER_DUP_FIELDNAME, name));
        }
    }
    Ok(())
}

/// Where the old columns are in the new definition.
struct Places {
    /// The column itself.
    of_column: Vec<Option<u16>>,
    /// The column that an index over it goes on with.
    of_part: Vec<Option<u16>>,
}

impl Places {
    fn of(old: &TableDef, entries: &[Entry]) -> Places {
        let position = |is: &dyn Fn(&Entry) -> bool| entries.iter().position(is).map(|place| place as u16);
        let mut places = Places { of_column: Vec::new(), of_part: Vec::new() };
        for (number, column) in old.columns.iter().enumerate() {
            let itself = |entry: &Entry| entry.origin == Some(number);
            let is_part = |entry: &Entry| match entry.origin {
                Some(origin) => origin == number,
                None => entry.column.is_called(&column.name),
            };
            places.of_column.push(position(&itself));
            places.of_part.push(position(&is_part));
        }
        places
    }
}

/// 3855 if rows are partitioned by the column at `place`, which is dropped or renamed.
fn refuse_partitioning(def: &TableDef, place: usize) -> SqlResult<()> {
    match partition::reads_column(def, place)? {
        true => Err(mysql_error!(ER_DEPENDENT_BY_PARTITION_FUNC, def.columns.at(place)?.name)),
        false => Ok(()),
    }
}
