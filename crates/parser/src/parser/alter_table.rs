//! ALTER TABLE.

use super::statement::ends_statement;
use super::{Parsed, Parser};
use crate::ast::{
    AlterAction, AlterTable, ColumnPosition, Name, PartitionMaintenance, PartitionSelection, Statement,
    TableConstraint,
};
use crate::lexer::Keyword;

/// Whether the actions say only how the one that follows is to be done.
fn says_how(actions: &[AlterAction]) -> bool {
    let says = |action: &AlterAction| {
        matches!(action, AlterAction::Algorithm(_) | AlterAction::Lock(_) | AlterAction::Validation(_))
    };
    actions.iter().all(says)
}

impl Parser<'_> {
    /// Behind ALTER TABLE.
    pub(super) fn alter_table(&mut self) -> Parsed<Statement> {
        let table = self.table_name()?;
        let mut alter = AlterTable { table, actions: Vec::new(), partitioning: None };
        let mut first = true;
        while !ends_statement(self.token.kind) {
            if self.is(Keyword::PARTITION) && self.peek().keyword == Keyword::BY {
                self.advance();
                alter.partitioning = Some(Box::new(self.partitioning()?));
                break;
            }
            if self.is(Keyword::REMOVE) {
                self.advance();
                self.expect(Keyword::PARTITIONING)?;
                alter.actions.push(AlterAction::RemovePartitioning);
                break;
            }
            if !first {
                // Options of the table need no comma between them.
                let comma = self.accept_symbol(b',');
                if !comma {
                    match self.optional_table_option()? {
                        Some(option) => {
                            alter.actions.push(AlterAction::Option(option));
                            continue;
                        }
                        None => return self.fail(),
                    }
                }
            }
            self.alter_actions(&mut alter.actions)?;
            first = false;
            // What is done to partitions is done alone.
            let is_alone = alter.actions.last().is_some_and(AlterAction::is_about_partitions);
            if is_alone && !ends_statement(self.token.kind) {
                return self.fail();
            }
        }
        Ok(Statement::AlterTable(Box::new(alter)))
    }

    /// One action; ADD (columns) is several.
    fn alter_actions(&mut self, actions: &mut Vec<AlterAction>) -> Parsed<()> {
        let keyword = self.token.keyword;
        let action = match keyword {
            Keyword::ADD => return self.alter_add(actions),
            Keyword::DROP => return self.alter_drop(actions),
            Keyword::MODIFY | Keyword::CHANGE => {
                self.advance();
                self.accept(Keyword::COLUMN);
                let if_exists = self.if_exists()?;
                let name = self.name()?;
                let action = if keyword == Keyword::MODIFY {
                    let column = self.field_definition(name)?;
                    AlterAction::Modify { column, position: self.column_position()? }
                } else {
                    let column = self.column_definition()?;
                    AlterAction::Change { old_name: name, column, position: self.column_position()? }
                };
                if_exists_of(if_exists, action)
            }
            Keyword::RENAME => self.alter_rename()?,
            Keyword::ALTER => self.alter_alter()?,
            Keyword::CONVERT => self.alter_convert()?,
            Keyword::ORDER => {
                self.advance();
                self.expect(Keyword::BY)?;
                AlterAction::OrderBy(self.list(Self::order_item)?)
            }
            Keyword::ENABLE | Keyword::DISABLE => {
                self.advance();
                self.expect(Keyword::KEYS)?;
                AlterAction::EnableKeys(keyword == Keyword::ENABLE)
            }
            Keyword::FORCE => {
                self.advance();
                AlterAction::Force
            }
            Keyword::ALGORITHM => {
                self.advance();
                self.accept_equal();
                AlterAction::Algorithm(self.name_or_default()?)
            }
            Keyword::LOCK => {
                self.advance();
                self.accept_equal();
                AlterAction::Lock(self.name_or_default()?)
            }
            Keyword::WITH | Keyword::WITHOUT => {
                self.advance();
                self.expect(Keyword::VALIDATION)?;
                AlterAction::Validation(keyword == Keyword::WITH)
            }
            Keyword::SECONDARY_LOAD => {
                self.advance();
                AlterAction::SecondaryLoad
            }
            Keyword::SECONDARY_UNLOAD => {
                self.advance();
                AlterAction::SecondaryUnload
            }
            _ => match self.alter_partitions(says_how(actions))? {
                Some(action) => action,
                None => match self.optional_table_option()? {
                    Some(option) => AlterAction::Option(option),
                    None => return self.fail(),
                },
            },
        };
        actions.push(action);
        Ok(())
    }

    fn alter_add(&mut self, actions: &mut Vec<AlterAction>) -> Parsed<()> {
        self.advance();
        if says_how(actions) && self.accept(Keyword::PARTITION) {
            self.no_write_to_binlog();
            actions.push(if ends_statement(self.token.kind) {
                AlterAction::AddPartitionCount(0)
            } else if self.accept(Keyword::PARTITIONS) {
                AlterAction::AddPartitionCount(self.unsigned()?)
            } else {
                AlterAction::AddPartitions(self.partition_definitions()?)
            });
            return Ok(());
        }
        let column_said = self.accept(Keyword::COLUMN);
        let if_not_exists = self.if_not_exists()?;
        let column_said = column_said || if_not_exists;
        if self.is_symbol(b'(') {
            self.advance();
            let position = ColumnPosition::Unspecified;
            loop {
                match self.added_constraint(column_said)? {
                    Some(added) => actions.push(added),
                    None => {
                        let (column, reference) = self.column_and_reference()?;
                        let added = AlterAction::AddColumn { column, position: position.clone() };
                        add_column(if_not_exists, added, reference, actions);
                    }
                }
                if !self.accept_symbol(b',') {
                    return self.expect_symbol(b')');
                }
            }
        }
        match self.added_constraint(column_said)? {
            Some(added) => actions.push(added),
            None => {
                let (column, reference) = self.column_and_reference()?;
                let added = AlterAction::AddColumn { column, position: self.column_position()? };
                add_column(if_not_exists, added, reference, actions);
            }
        }
        Ok(())
    }

    /// An index, foreign key or check that ADD names, unless it is said that a column comes.
    fn added_constraint(&mut self, column_said: bool) -> Parsed<Option<AlterAction>> {
        if column_said {
            return Ok(None);
        }
        let mut if_not_exists = false;
        let constraint = self.table_constraint(Some(&mut if_not_exists))?;
        Ok(constraint.map(AlterAction::AddConstraint).map(|added| match if_not_exists {
            true => AlterAction::If { exists: false, actions: vec![added] },
            false => added,
        }))
    }

    /// `[FIRST | AFTER column]`.
    fn column_position(&mut self) -> Parsed<ColumnPosition> {
        if self.accept(Keyword::FIRST) {
            return Ok(ColumnPosition::First);
        }
        if self.accept(Keyword::AFTER) {
            return Ok(ColumnPosition::After(self.name()?));
        }
        Ok(ColumnPosition::Unspecified)
    }

    fn alter_drop(&mut self, actions: &mut Vec<AlterAction>) -> Parsed<()> {
        self.advance();
        let mut if_exists = false;
        let action = match self.token.keyword {
            Keyword::INDEX | Keyword::KEY => {
                self.advance();
                if_exists = self.if_exists()?;
                AlterAction::DropIndex(self.index_name()?)
            }
            Keyword::PRIMARY => {
                self.advance();
                self.expect(Keyword::KEY)?;
                AlterAction::DropPrimaryKey
            }
            Keyword::FOREIGN => {
                self.advance();
                self.expect(Keyword::KEY)?;
                if_exists = self.if_exists()?;
                AlterAction::DropForeignKey(self.name()?)
            }
            Keyword::CHECK => {
                self.advance();
                if_exists = self.if_exists()?;
                AlterAction::DropCheck(self.name()?)
            }
            Keyword::CONSTRAINT => {
                self.advance();
                if_exists = self.if_exists()?;
                AlterAction::DropConstraint(self.index_name()?)
            }
            Keyword::PARTITION if says_how(actions) => {
                self.advance();
                AlterAction::DropPartitions(self.list(Self::name)?)
            }
            _ => {
                self.accept(Keyword::COLUMN);
                if_exists = self.if_exists()?;
                let name = self.name()?;
                self.accept_any(&[Keyword::RESTRICT, Keyword::CASCADE]);
                AlterAction::DropColumn(name)
            }
        };
        actions.push(if_exists_of(if_exists, action));
        Ok(())
    }

    fn alter_rename(&mut self) -> Parsed<AlterAction> {
        self.advance();
        match self.accept_any(&[Keyword::COLUMN, Keyword::INDEX, Keyword::KEY]) {
            None => {
                if self.accept_any(&[Keyword::TO, Keyword::AS]).is_none() {
                    self.accept_equal();
                }
                Ok(AlterAction::RenameTo(self.table_name()?))
            }
            Some(keyword) => {
                let old = self.name()?;
                self.expect(Keyword::TO)?;
                let new = self.name()?;
                Ok(match keyword {
                    Keyword::COLUMN => AlterAction::RenameColumn(old, new),
                    _ => AlterAction::RenameIndex(old, new),
                })
            }
        }
    }

    fn alter_alter(&mut self) -> Parsed<AlterAction> {
        self.advance();
        match self.token.keyword {
            Keyword::INDEX => {
                self.advance();
                let name = self.index_name()?;
                let visible = self.expect_any(&[Keyword::VISIBLE, Keyword::INVISIBLE])? == Keyword::VISIBLE;
                return Ok(AlterAction::SetIndexVisible(name, visible));
            }
            Keyword::CHECK | Keyword::CONSTRAINT => {
                let is_check = self.advance().keyword == Keyword::CHECK;
                let name = self.name()?;
                let enforced = !self.accept(Keyword::NOT);
                self.expect(Keyword::ENFORCED)?;
                return Ok(AlterAction::SetEnforced { name, enforced, is_check });
            }
            _ => {}
        }
        self.accept(Keyword::COLUMN);
        let name: Name = self.name()?;
        match self.expect_any(&[Keyword::SET, Keyword::DROP])? {
            Keyword::DROP => {
                self.expect(Keyword::DEFAULT)?;
                Ok(AlterAction::DropDefault(name))
            }
            _ => match self.expect_any(&[Keyword::DEFAULT, Keyword::VISIBLE, Keyword::INVISIBLE])? {
                Keyword::DEFAULT => Ok(AlterAction::SetDefault(name, self.column_default()?)),
                keyword => Ok(AlterAction::SetColumnVisible(name, keyword == Keyword::VISIBLE)),
            },
        }
    }

    /// `CONVERT TO CHARACTER SET x [COLLATE y]`.
    fn alter_convert(&mut self) -> Parsed<AlterAction> {
        self.advance();
        self.expect(Keyword::TO)?;
        if !self.accept(Keyword::CHARSET) {
            self.expect_any(&[Keyword::CHARACTER, Keyword::CHAR])?;
            self.expect(Keyword::SET)?;
        }
        self.accept_equal();
        let charset = if self.accept(Keyword::DEFAULT) { None } else { Some(self.charset_name()?) };
        let mut collation = None;
        if self.accept(Keyword::COLLATE) {
            self.accept_equal();
            collation = Some(self.collation_name()?);
        }
        Ok(AlterAction::ConvertTo { charset, collation })
    }

    fn no_write_to_binlog(&mut self) -> bool {
        self.accept_any(&[Keyword::NO_WRITE_TO_BINLOG, Keyword::LOCAL]).is_some()
    }

    fn partition_selection(&mut self) -> Parsed<PartitionSelection> {
        if self.accept(Keyword::ALL) {
            return Ok(PartitionSelection::All);
        }
        Ok(PartitionSelection::Names(self.list(Self::name)?))
    }

    /// Actions on partitions other than ADD and DROP: the first that ALTER TABLE names.
    fn alter_partitions(&mut self, is_first: bool) -> Parsed<Option<AlterAction>> {
        let verb = self.token.keyword;
        let action = match verb {
            _ if !is_first => return Ok(None),
            Keyword::TRUNCATE => {
                self.advance();
                self.expect(Keyword::PARTITION)?;
                AlterAction::TruncatePartitions(self.partition_selection()?)
            }
            Keyword::COALESCE => {
                self.advance();
                self.expect(Keyword::PARTITION)?;
                self.no_write_to_binlog();
                AlterAction::CoalescePartitions(self.unsigned()?)
            }
            Keyword::REORGANIZE => {
                self.advance();
                self.expect(Keyword::PARTITION)?;
                self.no_write_to_binlog();
                if ends_statement(self.token.kind) {
                    return Ok(Some(AlterAction::ReorganizePartitions(Vec::new(), Vec::new())));
                }
                let names = self.list(Self::name)?;
                self.expect(Keyword::INTO)?;
                AlterAction::ReorganizePartitions(names, self.partition_definitions()?)
            }
            Keyword::EXCHANGE => {
                self.advance();
                self.expect(Keyword::PARTITION)?;
                let partition = self.name()?;
                self.expect_all(&[Keyword::WITH, Keyword::TABLE])?;
                let table = self.table_name()?;
                let how = self.accept_any(&[Keyword::WITH, Keyword::WITHOUT]);
                if how.is_some() {
                    self.expect(Keyword::VALIDATION)?;
                }
                AlterAction::ExchangePartition { partition, table, validate: how != Some(Keyword::WITHOUT) }
            }
            Keyword::DISCARD | Keyword::IMPORT => self.alter_tablespace(verb)?,
            Keyword::ANALYZE | Keyword::CHECK | Keyword::OPTIMIZE | Keyword::REBUILD | Keyword::REPAIR => {
                self.advance();
                self.expect(Keyword::PARTITION)?;
                self.no_write_to_binlog();
                let kind = match verb {
                    Keyword::ANALYZE => PartitionMaintenance::Analyze,
                    Keyword::CHECK => PartitionMaintenance::Check,
                    Keyword::OPTIMIZE => PartitionMaintenance::Optimize,
                    Keyword::REBUILD => PartitionMaintenance::Rebuild,
                    _ => PartitionMaintenance::Repair,
                };
                let partitions = self.partition_selection()?;
                let takes_options =
                    matches!(kind, PartitionMaintenance::Check | PartitionMaintenance::Repair);
                let options = if takes_options { self.check_options()? } else { Vec::new() };
                AlterAction::MaintainPartitions(kind, partitions, options)
            }
            _ => return Ok(None),
        };
        Ok(Some(action))
    }

    /// `DISCARD | IMPORT [PARTITION names] TABLESPACE`.
    fn alter_tablespace(&mut self, verb: Keyword) -> Parsed<AlterAction> {
        self.advance();
        let discard = verb == Keyword::DISCARD;
        if self.accept(Keyword::PARTITION) {
            let partitions = self.partition_selection()?;
            self.expect(Keyword::TABLESPACE)?;
            return Ok(match discard {
                true => AlterAction::DiscardPartitionTablespace(partitions),
                false => AlterAction::ImportPartitionTablespace(partitions),
            });
        }
        self.expect(Keyword::TABLESPACE)?;
        Ok(if discard { AlterAction::DiscardTablespace } else { AlterAction::ImportTablespace })
    }

    /// Options of CHECK and REPAIR: in upper case, words separated by one space.
    pub(super) fn check_options(&mut self) -> Parsed<Vec<Name>> {
        let mut options = Vec::new();
        let words = &[
            Keyword::QUICK,
            Keyword::FAST,
            Keyword::MEDIUM,
            Keyword::EXTENDED,
            Keyword::CHANGED,
            Keyword::USE_FRM,
            Keyword::FOR,
        ];
        while let Some(keyword) = self.accept_any(words) {
            if keyword == Keyword::FOR {
                self.expect(Keyword::UPGRADE)?;
                options.push("FOR UPGRADE".to_owned());
            } else {
                options.push(keyword.text().to_owned());
            }
        }
        Ok(options)
    }
}

/// An action that is meant if what it is about is there.
fn if_exists_of(is_said: bool, action: AlterAction) -> AlterAction {
    if is_said { AlterAction::If { exists: true, actions: vec![action] } } else { action }
}

/// A column with the foreign key that its definition may hold.
fn add_column(
    if_not_exists: bool,
    added: AlterAction,
    reference: Option<TableConstraint>,
    actions: &mut Vec<AlterAction>,
) {
    let both = std::iter::once(added).chain(reference.map(AlterAction::AddConstraint));
    match if_not_exists {
        true => actions.push(AlterAction::If { exists: false, actions: both.collect() }),
        false => actions.extend(both),
    }
}
