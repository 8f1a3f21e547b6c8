//! CREATE TEMPORARY TABLE, and what other definitions do to a table that is the session's own.
//!
//! No other session has the table, so there is nothing to lock. As in MySQL, each ALTER TABLE makes a new
//! table with the rows of the old one, whatever it alters, and says how many they are.

use std::sync::Arc;

use palisade_base::error_catalogue::{
    ER_BAD_DB_ERROR, ER_CANNOT_ADD_FOREIGN, ER_NONUNIQ_TABLE, ER_PARTITION_MGMT_ON_NONPARTITIONED,
    ER_PARTITION_NO_TEMPORARY, ER_TABLE_EXISTS_ERROR, ER_UNSUPPORT_COMPRESSED_TEMPORARY_TABLE,
};
use palisade_base::mysql_error;
use palisade_catalog::TableDef;
use palisade_engine::{Table, TableName};
use palisade_parser::ast::{AlterAction, AlterTable, CreateTable, TableOption};
use palisade_session::environment::Access;

use super::alter::online::Request;
use super::alter::{Draft, Plan};
use super::from_query::MadeColumn;
use super::numbering::Numbering;
use super::{Ddl, column, expression, rows, table};
use crate::{Completion, SqlResult};

/// The definition of a table that is made LIKE another one.
pub(super) fn like(source: &Table, name: &TableName) -> TableDef {
    let mut def = source.descriptor().def().clone();
    (def.schema, def.name) = (name.schema.clone(), name.table.clone());
    (def.id, def.auto_increment, def.created_us) = (0, 0, 0);
    def.forget_row_versions();
    def.foreign_keys.clear();
    expression::rename_checks(&mut def);
    def.columns.iter_mut().for_each(|column| column.histogram = None);
    def
}

/// 1215 for foreign keys, which a temporary table cannot have.
fn check(def: &TableDef) -> SqlResult<()> {
    match def.foreign_keys.is_empty() {
        true => Ok(()),
        false => Err(mysql_error!(ER_CANNOT_ADD_FOREIGN)),
    }
}

/// Whether a table is to be compressed as a temporary one cannot be.
fn compresses(option: &TableOption) -> bool {
    match option {
        TableOption::RowFormat(format) => format.eq_ignore_ascii_case("compressed"),
        TableOption::KeyBlockSize(size) => *size != 0,
        _ => false,
    }
}

impl Ddl<'_> {
    /// CREATE TEMPORARY TABLE; `made` are the columns that a query adds.
    pub(super) async fn create_temporary(
        &mut self,
        statement: &CreateTable,
        made: &[MadeColumn],
        name: &TableName,
    ) -> SqlResult<Completion> {
        if statement.partitioning.is_some() {
            return Err(mysql_error!(ER_PARTITION_NO_TEMPORARY));
        }
        if statement.options.iter().any(compresses) {
            return Err(mysql_error!(ER_UNSUPPORT_COMPRESSED_TEMPORARY_TABLE));
        }
        if self.session.temporary_table(name).is_some() {
            let exists = mysql_error!(ER_TABLE_EXISTS_ERROR, name.table);
            if statement.if_not_exists {
                self.session.state.warnings.note(exists);
                return Ok(Completion::default());
            }
            return Err(exists);
        }
        let dictionary = self.session.dictionary(self.engine);
        let schema =
            dictionary.schema(&name.schema).ok_or_else(|| mysql_error!(ER_BAD_DB_ERROR, name.schema))?;
        let mut warnings = Vec::new();
        let def = match &statement.like {
            Some(source) => {
                let source = self.qualify(source)?;
                if source == *name {
                    return Err(mysql_error!(ER_NONUNIQ_TABLE, name.table));
                }
                if self.session.state.is_restricted() && self.session.temporary_table(&source).is_none() {
                    let state = &self.session.state;
                    self.host.check_table(state, &source.schema, &source.table, Access::Read)?;
                }
                like(dictionary.table(&source.schema, &source.table)?, name)
            }
            None => {
                let mut definer = self.definer(&mut warnings);
                let defined = table::define(&mut definer, statement, made, schema);
                if defined.is_err() {
                    self.warn(std::mem::take(&mut warnings));
                }
                defined?
            }
        };
        if def.partitioning.is_some() {
            return Err(mysql_error!(ER_PARTITION_NO_TEMPORARY));
        }
        check(&def)?;
        self.check_primary_key(&def)?;
        self.rules(&def)?;
        let owner = self.session.state.connection_id;
        let made = self.engine.create_temporary_table(owner, def).await?;
        self.session.put_temporary(made);
        self.session.note_temporary(|changes| changes.created = true);
        self.warn(warnings);
        Ok(Completion::default())
    }

    /// TRUNCATE TABLE: an empty table of the same definition takes its place.
    pub(super) async fn truncate_temporary(&mut self, old: &Arc<Table>) -> SqlResult<Completion> {
        let def = TableDef { auto_increment: 0, ..old.descriptor().def().clone() };
        let owner = self.session.state.connection_id;
        let made = self.engine.create_temporary_table(owner, def).await?;
        self.session.put_temporary(made);
        Ok(Completion::default())
    }

    /// ALTER TABLE, CREATE INDEX and DROP INDEX.
    pub(super) async fn alter_temporary(
        &mut self,
        statement: &AlterTable,
        name: &TableName,
        old: &Arc<Table>,
    ) -> SqlResult<Completion> {
        if statement.partitioning.is_some() {
            return Err(mysql_error!(ER_PARTITION_NO_TEMPORARY));
        }
        let removes = |action: &AlterAction| {
            action.is_about_partitions() || matches!(action, AlterAction::RemovePartitioning)
        };
        if statement.actions.iter().any(removes) {
            return Err(mysql_error!(ER_PARTITION_MGMT_ON_NONPARTITIONED));
        }
        let request = Request::of(statement)?;
        let statement = &*self.without_conditions(old.descriptor().def(), statement);
        let mut warnings = Vec::new();
        let mut definer = self.definer(&mut warnings);
        let mut draft = match Draft::new(&mut definer, old.descriptor().def(), statement, request) {
            Ok(draft) => draft,
            Err(error) => {
                self.warn(warnings);
                return Err(error);
            }
        };
        check(&draft.def)?;
        self.check_primary_key(&draft.def)?;
        draft.judge()?;
        if let Some(target) = &draft.new_name {
            let target = self.qualify(&self.in_schema_of(name, target))?;
            column::check_name(&target.table)?;
            if target != *name {
                self.check_target(&target)?;
                draft.def.rename(&target.schema, &target.table);
            }
        }
        if statement.actions.is_empty() {
            return Ok(Completion::default());
        }
        draft.plan = Plan::Nothing;
        draft.def.forget_row_versions();
        let def = draft.def.clone();
        let (rules, slot, plan) = self.rules(&def)?;
        let Some(held) = self.session.take_temporary(name) else { return Ok(Completion::default()) };
        let mut copied = 0;
        let rebuilt = {
            let (engine, host) = (self.engine, self.host);
            let mut context = self.session.context(host, engine, &[], Some(Arc::new(plan)));
            let cx = context.view();
            cx.state.strict = true;
            let counter = old.auto_increment().max(draft.def.auto_increment);
            let numbering = Numbering::copying(counter, &definer);
            let completer = rows::RowCompleter { cx, rules, slot };
            match draft.mapper(&definer, completer, (numbering, &mut copied)) {
                Ok(mut map) => {
                    let rebuilt = engine.rebuild_temporary_table(&held, def, &mut *map).await;
                    rebuilt.map_err(|error| rows::duplicates_of_copy(error, true))
                }
                Err(error) => Err(error),
            }
        };
        match rebuilt {
            Ok(new) => self.session.put_temporary(new),
            Err(error) => {
                self.session.put_temporary(held);
                return Err(error);
            }
        }
        self.warn(warnings);
        let warnings = self.session.state.warnings.count();
        let info = format!("Records: {copied}  Duplicates: 0  Warnings: {warnings}");
        Ok(Completion { affected_rows: copied, info, ..Completion::default() })
    }

    /// 1050 if the session has a temporary table of this name, 1049 if there is no such schema.
    fn check_target(&self, target: &TableName) -> SqlResult<()> {
        if self.engine.dictionary().schema(&target.schema).is_none() {
            return Err(mysql_error!(ER_BAD_DB_ERROR, target.schema));
        }
        match self.session.temporary_table(target) {
            Some(_) => Err(mysql_error!(ER_TABLE_EXISTS_ERROR, target.table)),
            None => Ok(()),
        }
    }
}
