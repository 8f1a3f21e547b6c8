//! IF EXISTS and IF NOT EXISTS of ALTER TABLE, CREATE INDEX and DROP INDEX, as MariaDB has them: of columns,
//! indexes, foreign keys, checks and whatever else a constraint is.
//!
//! What would be an error because a name is there, or is not, is left out with a note. A name counts as there
//! that an action of the same statement adds before; one that it drops before does not.

use std::borrow::Cow;

use palisade_base::error_catalogue::{
    ER_BAD_FIELD_ERROR, ER_CANT_DROP_FIELD_OR_KEY, ER_CHECK_CONSTRAINT_DUP_NAME,
    ER_CHECK_CONSTRAINT_NOT_FOUND, ER_CONSTRAINT_NOT_FOUND, ER_DUP_FIELDNAME, ER_DUP_KEYNAME, ER_FK_DUP_NAME,
    ER_MULTIPLE_PRI_KEY,
};
use palisade_base::{MysqlError, mysql_error};
use palisade_catalog::TableDef;
use palisade_parser::ast::{AlterAction, AlterTable, IndexKind, TableConstraint};

/// The name of every primary key.
const PRIMARY: &str = "PRIMARY";

/// What a name is of.
#[derive(Clone, Copy, PartialEq)]
enum Subject {
    Column,
    Index,
    ForeignKey,
    Check,
}

/// What an action needs to be there, or not to be.
struct Need<'a> {
    subject: Subject,
    name: &'a str,
    /// What is said where it is not as it should be.
    note: MysqlError,
}

fn need<'a>(table: &TableDef, action: &'a AlterAction) -> Option<Need<'a>> {
    let (subject, name, note) = match action {
        AlterAction::AddColumn { column, .. } => {
            (Subject::Column, column.name.as_str(), mysql_error!(ER_DUP_FIELDNAME, column.name))
        }
        AlterAction::AddConstraint(TableConstraint::Index(index)) if index.kind == IndexKind::Primary => {
            (Subject::Index, PRIMARY, mysql_error!(ER_MULTIPLE_PRI_KEY))
        }
        AlterAction::AddConstraint(TableConstraint::ForeignKey(key)) => {
            let name = key.name.as_ref().or(key.index_name.as_ref())?;
            (Subject::ForeignKey, name.as_str(), mysql_error!(ER_FK_DUP_NAME, name))
        }
        AlterAction::AddConstraint(TableConstraint::Check(check)) => {
            let name = check.name.as_ref()?;
            (Subject::Check, name.as_str(), mysql_error!(ER_CHECK_CONSTRAINT_DUP_NAME, name))
        }
        AlterAction::DropCheck(name) => {
            (Subject::Check, name.as_str(), mysql_error!(ER_CHECK_CONSTRAINT_NOT_FOUND, name))
        }
        AlterAction::DropConstraint(name) => {
            (constraint(table, name), name.as_str(), mysql_error!(ER_CONSTRAINT_NOT_FOUND, name))
        }
        AlterAction::AddConstraint(TableConstraint::Index(index)) => {
            let name = index.name.as_ref()?;
            (Subject::Index, name.as_str(), mysql_error!(ER_DUP_KEYNAME, name))
        }
        AlterAction::DropColumn(name) => {
            (Subject::Column, name.as_str(), mysql_error!(ER_CANT_DROP_FIELD_OR_KEY, name))
        }
        AlterAction::DropIndex(name) => {
            (Subject::Index, name.as_str(), mysql_error!(ER_CANT_DROP_FIELD_OR_KEY, name))
        }
        AlterAction::DropForeignKey(name) => {
            (Subject::ForeignKey, name.as_str(), mysql_error!(ER_CANT_DROP_FIELD_OR_KEY, name))
        }
        AlterAction::Change { old_name: name, .. } => {
            (Subject::Column, name.as_str(), mysql_error!(ER_BAD_FIELD_ERROR, name, table.name))
        }
        AlterAction::Modify { column, .. } => {
            (Subject::Column, column.name.as_str(), mysql_error!(ER_BAD_FIELD_ERROR, column.name, table.name))
        }
        _ => return None,
    };
    Some(Need { subject, name, note })
}

/// What the constraint of that name is; a check if there is none.
fn constraint(table: &TableDef, name: &str) -> Subject {
    let index = table.index_number(name).and_then(|number| table.indexes.get(number));
    match () {
        () if is_there(table, Subject::ForeignKey, name) => Subject::ForeignKey,
        () if index.is_some_and(|index| index.unique && !index.hidden) => Subject::Index,
        () => Subject::Check,
    }
}

fn is_there(table: &TableDef, subject: Subject, name: &str) -> bool {
    match subject {
        Subject::Column => table.column_index(name).is_some_and(|place| Some(place) != table.row_id_column()),
        Subject::Index => {
            let index = table.index_number(name).and_then(|number| table.indexes.get(number));
            index.is_some_and(|index| !index.hidden)
        }
        Subject::Check => table.checks.iter().any(|check| check.name.eq_ignore_ascii_case(name)),
        Subject::ForeignKey => table.foreign_keys.iter().any(|key| key.name.eq_ignore_ascii_case(name)),
    }
}

/// The statement without conditions: what they leave of it. Those that leave something out are noted.
pub fn settled<'a>(
    table: &TableDef,
    statement: &'a AlterTable,
    notes: &mut Vec<MysqlError>,
) -> Cow<'a, AlterTable> {
    if !statement.actions.iter().any(|action| matches!(action, AlterAction::If { .. })) {
        return Cow::Borrowed(statement);
    }
    let mut settled = AlterTable { actions: Vec::new(), ..statement.clone() };
    // What actions before have added and dropped.
    let mut changed: Vec<(Subject, &str, bool)> = Vec::new();
    for action in &statement.actions {
        let (condition, actions) = match action {
            AlterAction::If { exists, actions } => (Some(*exists), actions.as_slice()),
            action => (None, std::slice::from_ref(action)),
        };
        let Some(Need { subject, name, note }) = actions.first().and_then(|action| need(table, action))
        else {
            settled.actions.extend_from_slice(actions);
            continue;
        };
        let alike = |(known, other, _): &&(Subject, &str, bool)| {
            *known == subject && other.eq_ignore_ascii_case(name)
        };
        let before = changed.iter().rev().find(alike).map(|(.., is_there)| *is_there);
        let found = before.unwrap_or_else(|| is_there(table, subject, name));
        if condition.is_some_and(|exists| exists != found) {
            notes.push(note);
            continue;
        }
        match actions.first() {
            Some(AlterAction::AddColumn { .. } | AlterAction::AddConstraint(_)) => {
                changed.push((subject, name, true))
            }
            Some(AlterAction::Modify { .. } | AlterAction::Change { .. }) => {}
            _ => changed.push((subject, name, false)),
        }
        settled.actions.extend_from_slice(actions);
    }
    Cow::Owned(settled)
}
