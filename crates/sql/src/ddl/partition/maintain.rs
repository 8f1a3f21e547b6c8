//! ANALYZE, CHECK, OPTIMIZE and REPAIR PARTITION: ALTER TABLE in name, and answered as ANALYZE TABLE is.

use palisade_base::error_catalogue::{
    ER_DROP_PARTITION_NON_EXISTENT, ER_NO_DB_ERROR, ER_NO_SUCH_TABLE, ER_PARTITION_MGMT_ON_NONPARTITIONED,
};
use palisade_base::mysql_error;
use palisade_catalog::TableDef;
use palisade_catalog::descriptor::PartitionSet;
use palisade_engine::TableName;
use palisade_parser::ast::{self, AlterAction, AlterTable, PartitionMaintenance, PartitionSelection};

use crate::ddl::maintain::send;
use crate::sql::Sql;
use crate::{Completion, ResultSink, Session, SqlResult};

/// What a statement does to some partitions without changing which there are, if it does that.
pub(crate) fn maintenance(
    statement: &AlterTable,
) -> Option<(PartitionMaintenance, &PartitionSelection, &[ast::Name])> {
    statement.actions.iter().find_map(|action| match action {
        AlterAction::MaintainPartitions(PartitionMaintenance::Rebuild, ..) => None,
        AlterAction::MaintainPartitions(kind, selection, words) => Some((*kind, selection, words.as_slice())),
        _ => None,
    })
}

impl Sql {
    /// Does it, and answers a row for each thing there is to say.
    pub(crate) async fn maintain_partitions(
        &self,
        session: &mut Session,
        statement: &AlterTable,
        (kind, selection, words): (PartitionMaintenance, &PartitionSelection, &[ast::Name]),
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        let operation = match kind {
            PartitionMaintenance::Analyze => "analyze",
            PartitionMaintenance::Check => "check",
            PartitionMaintenance::Optimize => "optimize",
            PartitionMaintenance::Rebuild => "rebuild",
            PartitionMaintenance::Repair => "repair",
        };
        if kind != PartitionMaintenance::Check {
            self.host().check_read_only(&session.state)?;
        }
        self.commit(session).await?;
        let schema = statement.table.schema.clone().or_else(|| session.state.database.clone());
        let schema = schema.ok_or_else(|| mysql_error!(ER_NO_DB_ERROR))?;
        let name = TableName::new(schema, statement.table.name.clone());
        let shown = format!("{}.{}", name.schema, name.table);
        let line =
            |kind: &str, text: &str| [shown.clone(), operation.to_owned(), kind.to_owned(), text.to_owned()];
        let failed = |message: &str| vec![line("Error", message), line("status", "Operation failed")];
        let found = session.dictionary(self.engine()).table(&name.schema, &name.table).cloned();
        let Ok(table) = found else {
            let missing = mysql_error!(ER_NO_SUCH_TABLE, name.schema, name.table);
            return send(failed(&missing.message), sink);
        };
        let def = table.descriptor().def();
        if def.partitioning.is_none() {
            return send(failed(&mysql_error!(ER_PARTITION_MGMT_ON_NONPARTITIONED).message), sink);
        }
        let Some(selected) = selected(def, selection) else {
            return send(failed(&mysql_error!(ER_DROP_PARTITION_NON_EXISTENT, shown).message), sink);
        };
        let mut rows = Vec::new();
        match kind {
            PartitionMaintenance::Analyze => {
                self.analyze(session, &name).await?;
                rows.push(line("status", "OK"));
            }
            PartitionMaintenance::Check => {
                let lines = self.check_partitions(session, &name, words, selected).await?;
                rows.extend(lines.into_iter().map(|(_, kind, text)| line(kind, &text)));
            }
            PartitionMaintenance::Optimize => {
                rows.push(line(
                    "note",
                    "Table does not support optimize on partitions. All partitions will be rebuilt and analyzed.",
                ));
                let rebuild = ast::Statement::AlterTable(Box::new(AlterTable {
                    table: statement.table.clone(),
                    actions: vec![AlterAction::MaintainPartitions(
                        PartitionMaintenance::Rebuild,
                        PartitionSelection::All,
                        Vec::new(),
                    )],
                    partitioning: None,
                }));
                crate::ddl::execute(self.engine(), &**self.host(), session, &rebuild).await?;
                self.analyze(session, &name).await?;
                rows.push(line("status", "OK"));
            }
            PartitionMaintenance::Rebuild | PartitionMaintenance::Repair => rows.push(line("status", "OK")),
        }
        send(rows, sink)
    }
}

/// The partitions that a statement selects; `None` if one is not there.
fn selected(def: &TableDef, selection: &PartitionSelection) -> Option<PartitionSet> {
    let PartitionSelection::Names(names) = selection else {
        return Some(PartitionSet::all(def.partitions.len()));
    };
    let mut set = PartitionSet::none();
    for name in names {
        let found = def.partitions_called(name);
        if found.is_empty() {
            return None;
        }
        set.unite_with(&found);
    }
    Some(set)
}
