//! ALTER TABLE, step by step: what is locked and checked, and which way the engine takes to the new
//! definition.

use std::borrow::Cow;
use std::sync::Arc;

use palisade_base::error_catalogue::{
    ER_BAD_DB_ERROR, ER_CHECK_CONSTRAINT_DUP_NAME, ER_ILLEGAL_HA, ER_NO_REFERENCED_ROW_2, ER_NONUNIQ_TABLE,
    ER_PARTITION_MGMT_ON_NONPARTITIONED, ER_TABLE_EXISTS_ERROR,
};
use palisade_base::mysql_error;
use palisade_catalog::{RowView, TableDef, Value};
use palisade_engine::{ExclusiveLock, TableName};
use palisade_parser::ast::{AlterAction, AlterTable, Expr, ObjectName, Partitioning, Query, TableConstraint};
use palisade_plan::bind::row_rules::RowRules;
use palisade_plan::premise::Looker;

use super::alter::online::{Effects, Effort, Reason, Request};
use super::alter::{Draft, Plan};
use super::foreign::Terms;
use super::{Ddl, Definer, alter, column, foreign, log_tables, partition, question, rows};
use crate::show::create;
use crate::{Completion, SqlResult};

impl Ddl<'_> {
    pub(super) async fn alter_table(&mut self, statement: &AlterTable) -> SqlResult<Completion> {
        let request = Request::of(statement)?;
        let name = self.qualify(&statement.table)?;
        if let Some(own) = self.session.temporary_table(&name).cloned() {
            return self.alter_temporary(statement, &name, &own).await;
        }
        log_tables::check_definition(self.host, &name, "ALTER")?;
        let mut names = vec![name.clone()];
        for action in &statement.actions {
            if let AlterAction::ExchangePartition { table, .. } = action {
                let other = self.qualify(table)?;
                if other == name {
                    return Err(mysql_error!(ER_NONUNIQ_TABLE, name.table));
                }
                names.push(other);
            }
            if let AlterAction::RenameTo(target) = action {
                column::check_name(&target.name)?;
                self.session.refuse_locked()?;
                names.push(self.qualify(&self.in_schema_of(&name, target))?);
            }
        }
        for action in statement.all_actions() {
            match action {
                AlterAction::AddConstraint(constraint) => names.extend(self.parent(&name, constraint)?),
                AlterAction::RenameTo(_) | AlterAction::RenameColumn(..) | AlterAction::Change { .. } => {
                    names.extend(foreign::children(&self.engine.dictionary(), &name));
                }
                _ => {}
            }
        }
        let lock = self.lock(names).await?;
        self.refuse_view(&name)?;
        let table = self.table(&name)?;
        if let Some(action) = statement.actions.iter().find(|action| action.is_about_partitions()) {
            if let Some(effort) = partition::effort(table.descriptor().def(), action)? {
                let mut effects = Effects::none();
                effects.note(effort);
                request.judge(&effects, &format!("{}/{}", name.schema, name.table))?;
            }
            return self.alter_partitions(&lock, &name, action).await;
        }
        let repartitions = self.repartitions(statement, table.descriptor().def())?;
        let mut warnings = Vec::new();
        let statement = &*self.without_conditions(table.descriptor().def(), statement);
        let mut definer = self.definer(&mut warnings);
        let mut draft = match Draft::new(&mut definer, table.descriptor().def(), statement, request) {
            Ok(draft) => draft,
            Err(error) => {
                self.warn(warnings);
                return Err(error);
            }
        };
        let clause = statement.partitioning.as_deref();
        self.partition_altered(&mut draft.def, clause, repartitions)?;
        if repartitions {
            draft.effects.note(Effort::Copied(Reason::Unsaid));
        }
        self.check_names(&draft.def, &name)?;
        let is_plain =
            |action: &AlterAction| matches!(action, AlterAction::RenameTo(_) | AlterAction::EnableKeys(_));
        if !statement.actions.iter().all(is_plain) {
            self.check_primary_key(&draft.def)?;
        }
        foreign::follow(&mut draft.def, &name, &draft.renamed_columns);
        let terms = self.foreign_terms();
        let key_warnings = {
            let (dictionary, old) = (self.engine.dictionary(), table.descriptor().def());
            for index in &draft.dropped_indexes {
                foreign::check_dropped_index(&dictionary, old, &draft.def, index, terms.restricted)?;
            }
            foreign::name_parent_columns(&dictionary, &mut draft.def)?;
            let moves_to = match &*statement.actions {
                [AlterAction::RenameTo(name)] => Some(name.name.as_str()),
                _ => None,
            };
            let terms = Terms { old: Some(old), renamed: &draft.renamed_columns, moves_to, ..terms };
            let key_warnings = foreign::check(&dictionary, &draft.def, &name, terms)?;
            if !draft.new_foreign_keys.is_empty() {
                // MySQL checks rows by copying them
                let checks = Effort::Copied(Reason::ForeignKeyChecks);
                draft.effects.note(if terms.checked { checks } else { Effort::Inplace });
            }
            draft.effects.renames_foreign = foreign::are_renamed(&dictionary, old, &draft.renamed_columns);
            draft.judge()?;
            key_warnings
        };
        self.find_orphans(&lock, &definer, table.descriptor().def(), &draft).await?;
        self.warn_of_keys(key_warnings);
        let target = match &draft.new_name {
            Some(target) => {
                Some(self.qualify(&self.in_schema_of(&name, target))?).filter(|target| *target != name)
            }
            None => None,
        };
        if let Some(target) = &target {
            let dictionary = self.engine.dictionary();
            if dictionary.schema(&target.schema).is_none() {
                return Err(mysql_error!(ER_BAD_DB_ERROR, target.schema));
            }
            let is_view = dictionary.view(&target.schema, &target.table).is_some();
            if is_view || dictionary.table(&target.schema, &target.table).is_ok() {
                return Err(mysql_error!(ER_TABLE_EXISTS_ERROR, target.table));
            }
        }
        if statement.actions.is_empty() && !repartitions {
            return Ok(Completion::default());
        }
        let keys = |action: &AlterAction| matches!(action, AlterAction::EnableKeys(_));
        if statement.actions.iter().any(keys) && draft.effects.is_name_only() {
            self.session.state.warnings.note(mysql_error!(ER_ILLEGAL_HA, name.table));
        }
        if repartitions {
            let says = |action: &AlterAction| !matches!(action, AlterAction::RemovePartitioning);
            if !statement.actions.iter().any(says) {
                let def = draft.def.clone();
                let rows = self.repartition_all(&lock, &name, def).await?;
                self.warn(warnings);
                return Ok(partition::changed(rows));
            }
            draft.rebuild();
        }
        let mut rows = match draft.copies() && draft.plan != Plan::Rebuild {
            true => self.count_rows(&lock, &name).await?,
            false => 0,
        };
        match std::mem::replace(&mut draft.plan, Plan::Nothing) {
            Plan::Nothing => {
                if let Some(target) = target {
                    self.engine.rename_tables(&lock, &[(name, target)]).await?;
                    return Ok(Completion::default());
                }
            }
            Plan::Definition => {
                if let Some(target) = &target {
                    draft.def.rename(&target.schema, &target.table);
                }
                self.engine.alter_definition(&lock, &name, draft.def.clone()).await?;
            }
            Plan::Indexes => {
                let changed = self.engine.change_indexes(&lock, &name, draft.def.clone()).await;
                changed.map_err(rows::duplicates)?;
            }
            Plan::Rebuild => {
                if let Some(target) = &target {
                    draft.def.rename(&target.schema, &target.table);
                }
                let def = draft.def.clone();
                let (rules, slot, plan) = self.rules(&def)?;
                let (engine, host) = (self.engine, self.host);
                let scheme = self.kept_scheme(&def)?;
                let mut placer = Looker::new(&self.session.state, host);
                let mut context = self.session.context(host, engine, &[], Some(Arc::new(plan)));
                let cx = context.view();
                cx.state.strict = true;
                let numbering = draft.numbering(&definer, table.auto_increment());
                let completer = rows::RowCompleter { cx, rules, slot };
                let mut map = draft.mapper(&definer, completer, (numbering, &mut rows))?;
                let rebuilt = match &scheme {
                    None => engine.rebuild_table(&lock, &name, def, &mut *map).await,
                    Some(scheme) => {
                        let mut router =
                            |row: &RowView<'_>| Ok(placer.route(host, scheme, &|column| row.column(column))?);
                        engine.rebuild_partitioned_table(&lock, &name, def, &mut *map, &mut router).await
                    }
                };
                drop(map);
                rebuilt.map_err(|error| rows::duplicates_of_copy(error, draft.copies()))?;
            }
        }
        self.bring_children(&lock, &name, target.as_ref(), &draft).await?;
        let affected_rows = if draft.copies() { rows } else { 0 };
        self.warn(warnings);
        if draft.effects.is_name_only() && !draft.copies() {
            return Ok(Completion::default());
        }
        let warnings = self.session.state.warnings.count();
        let info = format!("Records: {affected_rows}  Duplicates: 0  Warnings: {warnings}");
        Ok(Completion { affected_rows, info, ..Completion::default() })
    }

    /// Whether a statement partitions a table anew, or makes it one without partitions: 1505 if it has none.
    pub(super) fn repartitions(&self, statement: &AlterTable, old: &TableDef) -> SqlResult<bool> {
        let removes =
            statement.actions.iter().any(|action| matches!(action, AlterAction::RemovePartitioning));
        if removes && old.partitioning.is_none() {
            return Err(mysql_error!(ER_PARTITION_MGMT_ON_NONPARTITIONED));
        }
        Ok(removes || statement.partitioning.is_some())
    }

    /// The partitions of the new definition of a table.
    pub(super) fn partition_altered(
        &mut self,
        def: &mut TableDef,
        clause: Option<&Partitioning>,
        repartitions: bool,
    ) -> SqlResult<()> {
        match clause {
            Some(clause) => self.partition(def, clause),
            None if repartitions => {
                (def.partitioning, def.partitions) = (None, Vec::new());
                Ok(())
            }
            None => self.check_partitions(def),
        }
    }

    /// What IF EXISTS and IF NOT EXISTS leave of a statement.
    pub(super) fn without_conditions<'s>(
        &mut self,
        old: &TableDef,
        statement: &'s AlterTable,
    ) -> Cow<'s, AlterTable> {
        let mut notes = Vec::new();
        let settled = alter::conditions::settled(old, statement, &mut notes);
        notes.into_iter().for_each(|note| self.session.state.warnings.note(note));
        settled
    }

    /// The rules of a definition, the slot in which their expressions see a row, and what they are evaluated
    /// with.
    pub(super) fn rules(&self, def: &TableDef) -> SqlResult<(RowRules, usize, palisade_plan::Plan)> {
        let dictionary = self.engine.dictionary();
        let mut binder = self.session.binder(self.host, self.engine, &dictionary, &[]);
        let (rules, slot) = binder.rules_of_definition(def)?;
        Ok((rules, slot, binder.finish(None)?))
    }

    /// 3822 if another table of the schema has a check of the same name.
    pub(super) fn check_names(&self, def: &TableDef, name: &TableName) -> SqlResult<()> {
        let dictionary = self.engine.dictionary();
        for other in dictionary.tables(&def.schema).filter(|other| other.name != name.table) {
            let taken = |check: &palisade_catalog::descriptor::Check| {
                other.checks.iter().any(|known| known.name.eq_ignore_ascii_case(&check.name))
            };
            if let Some(check) = def.checks.iter().find(|check| taken(check)) {
                return Err(mysql_error!(ER_CHECK_CONSTRAINT_DUP_NAME, check.name));
            }
        }
        Ok(())
    }

    /// The table that a foreign key refers to.
    pub(super) fn parent(
        &self,
        name: &TableName,
        constraint: &TableConstraint,
    ) -> SqlResult<Option<TableName>> {
        match constraint {
            TableConstraint::ForeignKey(key) => {
                self.qualify(&self.in_schema_of(name, &key.references.table)).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// 1452 if rows that are there have no parent by a new foreign key.
    pub(super) async fn find_orphans(
        &mut self,
        lock: &ExclusiveLock,
        definer: &Definer<'_>,
        old: &TableDef,
        draft: &Draft,
    ) -> SqlResult<()> {
        if !self.session.state.variables.foreign_key_checks {
            return Ok(());
        }
        let new = draft.def.foreign_keys.iter().filter(|key| draft.new_foreign_keys.contains(&key.name));
        for key in new {
            let columns = key.columns.iter();
            let values = columns.map(|place| draft.value_of_rows(definer, old, usize::from(*place)));
            // With a NULL in it, it demands nothing.
            let Some(values) = values.collect::<SqlResult<Option<Vec<Expr>>>>()? else { continue };
            let orphans = question::orphans(&draft.def, key, &values);
            if !self.query(lock, &orphans).await?.is_empty() {
                let line = create::foreign_key_line(&draft.def, key);
                let shown = format!(" (`{}`.`{}`, {line})", draft.def.schema, draft.def.name);
                return Err(mysql_error!(ER_NO_REFERENCED_ROW_2, shown));
            }
        }
        Ok(())
    }

    /// How many rows a locked table has.
    pub(super) async fn count_rows(&self, lock: &ExclusiveLock, name: &TableName) -> SqlResult<u64> {
        let rows = self.query(lock, &question::row_count(name)).await?;
        match rows.first().map(Vec::as_slice) {
            Some([Value::Int(rows)]) => Ok(*rows as u64),
            other => unreachable!("COUNT(*) is a whole number, not {other:?}"),
        }
    }

    /// The rows of a query over locked tables, which is the statement's own: neither LOCK TABLES nor
    /// privileges nor the session's variables are about it.
    pub(super) async fn query(&self, lock: &ExclusiveLock, query: &Query) -> SqlResult<Vec<Vec<Value>>> {
        crate::internal::query_locked(self.engine, self.host, self.session, lock, query).await
    }

    /// The foreign keys of other tables follow a table's new name and its columns' new names.
    pub(super) async fn bring_children(
        &mut self,
        lock: &ExclusiveLock,
        name: &TableName,
        target: Option<&TableName>,
        draft: &Draft,
    ) -> SqlResult<()> {
        if target.is_none() && draft.renamed_columns.is_empty() {
            return Ok(());
        }
        for child in foreign::children(&self.engine.dictionary(), name) {
            let mut def = self.table(&child)?.def().clone();
            foreign::follow(&mut def, name, &draft.renamed_columns);
            if let Some(target) = target {
                def.retarget((&name.schema, &name.table), (&target.schema, &target.table));
            }
            self.engine.alter_definition(lock, &child, def).await?;
        }
        Ok(())
    }

    /// RENAME TO without a schema stays in the table's own.
    pub(super) fn in_schema_of(&self, name: &TableName, target: &ObjectName) -> ObjectName {
        let schema = target.schema.clone().unwrap_or_else(|| name.schema.clone());
        ObjectName { schema: Some(schema), name: target.name.clone() }
    }
}
