//! ANALYZE, CHECK, CHECKSUM, OPTIMIZE and REPAIR TABLE.

use palisade_base::error_catalogue::{ER_NO_DB_ERROR, ER_NO_SUCH_TABLE, ER_NONUNIQ_TABLE, ER_WRONG_OBJECT};
use palisade_base::{Blocked, mysql_error};
use palisade_catalog::{CollationId, SqlType, Value, ValueRef};
use palisade_engine::TableName;
use palisade_exec::run::wait_for;
use palisade_parser::ast::{self, MaintenanceKind};
use palisade_session::sink::ColumnMeta;

use crate::sql::Sql;
use crate::{Completion, ResultSink, Session, SqlResult};

impl Sql {
    pub(crate) async fn maintain(
        &self,
        session: &mut Session,
        maintenance: &ast::TableMaintenance,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Completion> {
        let operation = match maintenance.kind {
            MaintenanceKind::Analyze => "analyze",
            MaintenanceKind::Check => "check",
            MaintenanceKind::Checksum => "checksum",
            MaintenanceKind::Optimize => "optimize",
            MaintenanceKind::Repair => "repair",
        };
        let histogram = maintenance.histogram.as_ref();
        let changes = matches!(maintenance.kind, MaintenanceKind::Analyze | MaintenanceKind::Optimize);
        if changes && histogram.is_none() {
            self.host().check_read_only(&session.state)?;
        }
        if maintenance.kind != MaintenanceKind::Checksum {
            self.commit(session).await?;
        }
        let mut rows: Vec<[String; 4]> = Vec::new();
        let mut names = Vec::with_capacity(maintenance.tables.len());
        for table in &maintenance.tables {
            let Some(schema) = table.schema.clone().or_else(|| session.state.database.clone()) else {
                return Err(mysql_error!(ER_NO_DB_ERROR));
            };
            let name = TableName::new(schema, table.name.clone());
            if names.contains(&name) {
                return Err(mysql_error!(ER_NONUNIQ_TABLE, name.table));
            }
            names.push(name);
        }
        if maintenance.kind == MaintenanceKind::Checksum {
            let is_quick = maintenance.options.iter().any(|word| word == "QUICK");
            return self.checksum_tables(session, &names, is_quick, sink).await;
        }
        if let Some(histogram) = histogram {
            if let Some(name) = names.first().filter(|name| session.temporary_table(name).is_some()) {
                let text = "Cannot create histogram statistics for a temporary table.";
                let table = format!("{}.{}", name.schema, name.table);
                rows.push([table, "histogram".to_owned(), "Error".to_owned(), text.to_owned()]);
                return send(rows, sink);
            }
            let (table, lines) = self.change_histograms(session, &names, histogram).await?;
            let line =
                |(kind, text): (&str, String)| [table.clone(), "histogram".to_owned(), kind.to_owned(), text];
            rows.extend(lines.into_iter().map(line));
            return send(rows, sink);
        }
        let is_check = maintenance.kind == MaintenanceKind::Check;
        if is_check {
            let lines = self.check_tables(session, &names, &maintenance.options).await?;
            let line = |(table, kind, text): (String, &str, String)| {
                [table, operation.to_owned(), kind.to_owned(), text]
            };
            rows.extend(lines.into_iter().map(line));
        }
        for (table, name) in maintenance.tables.iter().zip(names).filter(|_| !is_check) {
            let shown = format!("{}.{}", name.schema, name.table);
            let line = |kind: &str, text: &str| {
                [shown.clone(), operation.to_owned(), kind.to_owned(), text.to_owned()]
            };
            let dictionary = session.dictionary(self.engine());
            let is_temporary = session.temporary_table(&name).is_some();
            if dictionary.view(&name.schema, &name.table).is_some() && !is_temporary {
                let error = mysql_error!(ER_WRONG_OBJECT, name.schema, name.table, "BASE TABLE");
                rows.push(line("Error", &error.message));
                rows.push(line("status", "Operation failed"));
                continue;
            }
            if dictionary.table(&name.schema, &name.table).is_err() {
                let error = mysql_error!(ER_NO_SUCH_TABLE, name.schema, name.table);
                rows.push(line("Error", &error.message));
                rows.push(line("status", "Operation failed"));
                continue;
            }
            match maintenance.kind {
                MaintenanceKind::Optimize => {
                    let text = "Table does not support optimize, doing recreate + analyze instead";
                    rows.push(line("note", text));
                    let rebuild = ast::Statement::AlterTable(Box::new(ast::AlterTable {
                        table: table.clone(),
                        actions: vec![ast::AlterAction::Force],
                        partitioning: None,
                    }));
                    crate::ddl::execute(self.engine(), &**self.host(), session, &rebuild).await?;
                    rows.push(line("status", "OK"));
                }
                MaintenanceKind::Repair => {
                    rows.push(line("note", "The storage engine for the table doesn't support repair"));
                }
                _ => {
                    if maintenance.kind == MaintenanceKind::Analyze {
                        self.analyze(session, &name).await?;
                        if !is_temporary {
                            self.follow_histograms(session, &name).await?;
                        }
                    }
                    rows.push(line("status", "OK"));
                }
            }
        }
        send(rows, sink)
    }

    /// Takes what the planner knows of a table anew.
    pub(super) async fn analyze(&self, session: &mut Session, name: &TableName) -> SqlResult<()> {
        let Ok(table) = session.dictionary(self.engine()).table(&name.schema, &name.table).cloned() else {
            return Ok(());
        };
        let mut analysis = table.analysis();
        loop {
            match analysis.go_on() {
                Ok(()) => return Ok(()),
                Err(Blocked::Wait(page)) => wait_for(session.waiter(&**self.host()), page, None).await?,
                Err(Blocked::Error(error)) => return Err(error.into()),
            }
        }
    }
}

/// Sends what there is to say of the tables.
pub(super) fn send(rows: Vec<[String; 4]>, sink: &mut dyn ResultSink) -> SqlResult<Completion> {
    let text = |name: &str, length| {
        ColumnMeta::computed(name, SqlType::VarChar { length, collation: CollationId::UTF8MB4_0900_AI_CI })
    };
    sink.columns(&[text("Table", 128), text("Op", 10), text("Msg_type", 10), text("Msg_text", 65_535 / 4)])?;
    for row in rows {
        let values = row.map(Value::bytes);
        let refs: Vec<ValueRef<'_>> = values.iter().map(Value::as_ref).collect();
        sink.row(&refs)?;
    }
    Ok(Completion::of_rows())
}
