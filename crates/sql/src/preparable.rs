//! Which statements PREPARE and COM_STMT_PREPARE take: those that MySQL takes (1295).
//!
//! What is left out changes what a session is made of while it executes (transactions begun by name, locks,
//! handlers, diagnostics), or has no plan that could be kept.

use palisade_parser::ast::{
    ExplainTarget, Install, MaintenanceKind, Replication, ResourceGroup, ShowWhat, Statement, StoredKind,
};

/// Whether `statement` can be prepared.
pub fn is_preparable(statement: &Statement) -> bool {
    match statement {
        Statement::Comment
        | Statement::LoadData(_)
        | Statement::Handler(_)
        | Statement::AlterDatabase(_)
        | Statement::CreateTrigger(_)
        | Statement::CreateRoutine(_)
        | Statement::AlterRoutine(_)
        | Statement::Tablespace(_)
        | Statement::CreateLoadableFunction(_)
        | Statement::Server(_)
        | Statement::CreateRole(_)
        | Statement::DropRole(_)
        | Statement::StartTransaction(_)
        | Statement::Savepoint(_)
        | Statement::RollbackToSavepoint(_)
        | Statement::ReleaseSavepoint(_)
        | Statement::Xa(_)
        | Statement::LockTables(_)
        | Statement::UnlockTables
        | Statement::LockInstance
        | Statement::UnlockInstance
        | Statement::Use(_)
        | Statement::Help(_)
        | Statement::Prepare(_)
        | Statement::Execute(_)
        | Statement::Deallocate(_)
        | Statement::GetDiagnostics(_)
        | Statement::Signal(_)
        | Statement::Shutdown
        | Statement::Restart
        | Statement::PurgeLogs(_)
        | Statement::Clone(_)
        | Statement::ImportTable(_) => false,
        Statement::ResourceGroup(group) => matches!(group, ResourceGroup::Set { .. }),
        Statement::CreateView(view) => !view.alter,
        Statement::DropStored(drop) => drop.kind == StoredKind::Event,
        Statement::Explain(explain) => !matches!(explain.target, ExplainTarget::Connection(_)),
        Statement::TableMaintenance(maintenance) => maintenance.kind != MaintenanceKind::Check,
        Statement::Install(install) | Statement::Uninstall(install) => {
            !matches!(install, Install::Component { .. })
        }
        Statement::Replication(replication) => {
            !matches!(replication, Replication::StartGroup { .. } | Replication::StopGroup)
        }
        Statement::Show(show) => !matches!(
            show.what,
            ShowWhat::Warnings { .. }
                | ShowWhat::Errors { .. }
                | ShowWhat::CountWarnings
                | ShowWhat::CountErrors
        ),
        _ => true,
    }
}
