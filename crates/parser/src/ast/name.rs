//! The name of every statement, in the words of MySQL's manual.
//!
//! A name is what all statements of a kind have in common: without OR REPLACE, IF EXISTS and the other words
//! that may stand between its own. It is for messages; what a statement is, its variant says.

use super::{
    Install, MaintenanceKind, Replication, Reset, ResourceGroup, ServerStatement, ShowWhat, Statement,
    StoredKind, Tablespace, TablespaceAction, Xa,
};

impl Statement {
    /// The statement's name: `CREATE TABLE`, `SHOW BINARY LOG STATUS`, ...
    pub fn name(&self) -> &'static str {
        match self {
            Statement::Comment => "empty query",
            Statement::Query(_) => "SELECT",
            Statement::Insert(insert) if insert.replace => "REPLACE",
            Statement::Insert(_) => "INSERT",
            Statement::Update(_) => "UPDATE",
            Statement::Delete(_) => "DELETE",
            Statement::LoadData(load) if load.xml => "LOAD XML",
            Statement::LoadData(_) => "LOAD DATA",
            Statement::Do(_) => "DO",
            Statement::Call(_) => "CALL",
            Statement::Handler(_) => "HANDLER",
            Statement::CreateTable(_) => "CREATE TABLE",
            Statement::AlterTable(_) => "ALTER TABLE",
            Statement::DropTable(_) => "DROP TABLE",
            Statement::RenameTable(_) => "RENAME TABLE",
            Statement::TruncateTable(_) => "TRUNCATE TABLE",
            Statement::CreateIndex(_) => "CREATE INDEX",
            Statement::DropIndex(_) => "DROP INDEX",
            Statement::CreateDatabase(_) => "CREATE DATABASE",
            Statement::AlterDatabase(_) => "ALTER DATABASE",
            Statement::DropDatabase(_) => "DROP DATABASE",
            Statement::CreateView(view) if view.alter => "ALTER VIEW",
            Statement::CreateView(_) => "CREATE VIEW",
            Statement::DropView(_) => "DROP VIEW",
            Statement::CreateTrigger(_) => "CREATE TRIGGER",
            Statement::CreateRoutine(routine) if routine.returns.is_some() => "CREATE FUNCTION",
            Statement::CreateRoutine(_) => "CREATE PROCEDURE",
            Statement::AlterRoutine(routine) if routine.function => "ALTER FUNCTION",
            Statement::AlterRoutine(_) => "ALTER PROCEDURE",
            Statement::CreateEvent(_) => "CREATE EVENT",
            Statement::AlterEvent(_) => "ALTER EVENT",
            Statement::DropStored(drop) => drop.kind.name_of_drop(),
            Statement::Tablespace(tablespace) => tablespace.name(),
            Statement::CreateLoadableFunction(_) => "CREATE FUNCTION ... SONAME",
            Statement::Server(server) => server.name(),
            Statement::CreateUser(_) => "CREATE USER",
            Statement::AlterUser(_) => "ALTER USER",
            Statement::DropUser(_) => "DROP USER",
            Statement::RenameUser(_) => "RENAME USER",
            Statement::CreateRole(_) => "CREATE ROLE",
            Statement::DropRole(_) => "DROP ROLE",
            Statement::Grant(_) => "GRANT",
            Statement::Revoke(_) => "REVOKE",
            Statement::SetRole(_) => "SET ROLE",
            Statement::SetDefaultRole(_) => "SET DEFAULT ROLE",
            Statement::SetPassword(_) => "SET PASSWORD",
            Statement::StartTransaction(_) => "START TRANSACTION",
            Statement::Commit(_) => "COMMIT",
            Statement::Rollback(_) => "ROLLBACK",
            Statement::Savepoint(_) => "SAVEPOINT",
            Statement::RollbackToSavepoint(_) => "ROLLBACK TO SAVEPOINT",
            Statement::ReleaseSavepoint(_) => "RELEASE SAVEPOINT",
            Statement::SetTransaction(_) => "SET TRANSACTION",
            Statement::Xa(xa) => xa.name(),
            Statement::LockTables(_) => "LOCK TABLES",
            Statement::UnlockTables => "UNLOCK TABLES",
            Statement::LockInstance => "LOCK INSTANCE FOR BACKUP",
            Statement::UnlockInstance => "UNLOCK INSTANCE",
            Statement::Set(_) => "SET",
            Statement::Use(_) => "USE",
            Statement::Show(show) => show.what.name(),
            Statement::Describe(_) => "DESCRIBE",
            Statement::Explain(_) => "EXPLAIN",
            Statement::Help(_) => "HELP",
            Statement::Prepare(_) => "PREPARE",
            Statement::Execute(_) => "EXECUTE",
            Statement::Deallocate(_) => "DEALLOCATE PREPARE",
            Statement::GetDiagnostics(_) => "GET DIAGNOSTICS",
            Statement::Signal(signal) if signal.resignal => "RESIGNAL",
            Statement::Signal(_) => "SIGNAL",
            Statement::TableMaintenance(maintenance) => maintenance.kind.name(),
            Statement::Kill(_) => "KILL",
            Statement::Flush(_) => "FLUSH",
            Statement::Reset(reset) => reset.name(),
            Statement::Shutdown => "SHUTDOWN",
            Statement::Restart => "RESTART",
            Statement::Install(install) => install.name(),
            Statement::Uninstall(install) => install.name_of_uninstall(),
            Statement::CacheIndex(_) => "CACHE INDEX",
            Statement::LoadIndex(_) => "LOAD INDEX INTO CACHE",
            Statement::PurgeLogs(_) => "PURGE BINARY LOGS",
            Statement::Binlog(_) => "BINLOG",
            Statement::Replication(replication) => replication.name(),
            Statement::Clone(_) => "CLONE",
            Statement::AlterInstance(_) => "ALTER INSTANCE",
            Statement::ResourceGroup(group) => group.name(),
            Statement::Binding(binding) => match binding.hinted {
                Some(_) => "CREATE BINDING",
                None => "DROP BINDING",
            },
            Statement::ImportTable(_) => "IMPORT TABLE",
        }
    }
}

impl ShowWhat {
    /// The name of the SHOW that shows it.
    pub fn name(&self) -> &'static str {
        match self {
            ShowWhat::Databases => "SHOW DATABASES",
            ShowWhat::Tables { .. } => "SHOW TABLES",
            ShowWhat::TableStatus { .. } => "SHOW TABLE STATUS",
            ShowWhat::OpenTables { .. } => "SHOW OPEN TABLES",
            ShowWhat::Columns { .. } => "SHOW COLUMNS",
            ShowWhat::Index { .. } => "SHOW INDEX",
            ShowWhat::Triggers { .. } => "SHOW TRIGGERS",
            ShowWhat::Events { .. } => "SHOW EVENTS",
            ShowWhat::CreateTable(_) => "SHOW CREATE TABLE",
            ShowWhat::CreateView(_) => "SHOW CREATE VIEW",
            ShowWhat::CreateDatabase { .. } => "SHOW CREATE DATABASE",
            ShowWhat::CreateProcedure(_) => "SHOW CREATE PROCEDURE",
            ShowWhat::CreateFunction(_) => "SHOW CREATE FUNCTION",
            ShowWhat::CreateTrigger(_) => "SHOW CREATE TRIGGER",
            ShowWhat::CreateEvent(_) => "SHOW CREATE EVENT",
            ShowWhat::CreateUser(_) => "SHOW CREATE USER",
            ShowWhat::Variables { .. } => "SHOW VARIABLES",
            ShowWhat::Status { .. } => "SHOW STATUS",
            ShowWhat::Warnings { .. } => "SHOW WARNINGS",
            ShowWhat::Errors { .. } => "SHOW ERRORS",
            ShowWhat::CountWarnings => "SHOW COUNT(*) WARNINGS",
            ShowWhat::CountErrors => "SHOW COUNT(*) ERRORS",
            ShowWhat::ProcessList { .. } => "SHOW PROCESSLIST",
            ShowWhat::Engines => "SHOW ENGINES",
            ShowWhat::Engine { .. } => "SHOW ENGINE",
            ShowWhat::Plugins => "SHOW PLUGINS",
            ShowWhat::Privileges => "SHOW PRIVILEGES",
            ShowWhat::Grants { .. } => "SHOW GRANTS",
            ShowWhat::CharacterSet => "SHOW CHARACTER SET",
            ShowWhat::Collation => "SHOW COLLATION",
            ShowWhat::ProcedureStatus => "SHOW PROCEDURE STATUS",
            ShowWhat::FunctionStatus => "SHOW FUNCTION STATUS",
            ShowWhat::ProcedureCode(_) => "SHOW PROCEDURE CODE",
            ShowWhat::FunctionCode(_) => "SHOW FUNCTION CODE",
            ShowWhat::BinaryLogs => "SHOW BINARY LOGS",
            ShowWhat::BinaryLogStatus => "SHOW BINARY LOG STATUS",
            ShowWhat::BinlogEvents { relay: true, .. } => "SHOW RELAYLOG EVENTS",
            ShowWhat::BinlogEvents { relay: false, .. } => "SHOW BINLOG EVENTS",
            ShowWhat::Replicas => "SHOW REPLICAS",
            ShowWhat::ReplicaStatus { .. } => "SHOW REPLICA STATUS",
            ShowWhat::Profiles => "SHOW PROFILES",
            ShowWhat::Profile { .. } => "SHOW PROFILE",
            ShowWhat::ParseTree(_) => "SHOW PARSE_TREE",
        }
    }
}

impl Xa {
    /// The statement's name.
    fn name(&self) -> &'static str {
        match self {
            Xa::Start { .. } => "XA START",
            Xa::End { .. } => "XA END",
            Xa::Prepare(_) => "XA PREPARE",
            Xa::Commit { .. } => "XA COMMIT",
            Xa::Rollback(_) => "XA ROLLBACK",
            Xa::Recover { .. } => "XA RECOVER",
        }
    }
}

impl MaintenanceKind {
    /// The statement's name.
    fn name(&self) -> &'static str {
        match self {
            MaintenanceKind::Analyze => "ANALYZE TABLE",
            MaintenanceKind::Check => "CHECK TABLE",
            MaintenanceKind::Checksum => "CHECKSUM TABLE",
            MaintenanceKind::Optimize => "OPTIMIZE TABLE",
            MaintenanceKind::Repair => "REPAIR TABLE",
        }
    }
}

impl Reset {
    /// The statement's name.
    fn name(&self) -> &'static str {
        match self {
            Reset::BinaryLogsAndGtids { .. } => "RESET BINARY LOGS AND GTIDS",
            Reset::Replica { .. } => "RESET REPLICA",
            Reset::Persist { .. } => "RESET PERSIST",
        }
    }
}

impl Install {
    /// The name of the INSTALL.
    fn name(&self) -> &'static str {
        match self {
            Install::Plugin { .. } => "INSTALL PLUGIN",
            Install::Component { .. } => "INSTALL COMPONENT",
        }
    }

    /// The name of the UNINSTALL.
    fn name_of_uninstall(&self) -> &'static str {
        match self {
            Install::Plugin { .. } => "UNINSTALL PLUGIN",
            Install::Component { .. } => "UNINSTALL COMPONENT",
        }
    }
}

impl Replication {
    /// The statement's name.
    fn name(&self) -> &'static str {
        match self {
            Replication::ChangeSource { .. } => "CHANGE REPLICATION SOURCE TO",
            Replication::ChangeFilter { .. } => "CHANGE REPLICATION FILTER",
            Replication::Start { .. } => "START REPLICA",
            Replication::Stop { .. } => "STOP REPLICA",
            Replication::StartGroup { .. } => "START GROUP_REPLICATION",
            Replication::StopGroup => "STOP GROUP_REPLICATION",
        }
    }
}

impl ResourceGroup {
    /// The statement's name.
    fn name(&self) -> &'static str {
        match self {
            ResourceGroup::Create { .. } => "CREATE RESOURCE GROUP",
            ResourceGroup::Alter { .. } => "ALTER RESOURCE GROUP",
            ResourceGroup::Drop { .. } => "DROP RESOURCE GROUP",
            ResourceGroup::Set { .. } => "SET RESOURCE GROUP",
        }
    }
}

impl ServerStatement {
    /// The statement's name.
    fn name(&self) -> &'static str {
        match self {
            ServerStatement::Create { .. } => "CREATE SERVER",
            ServerStatement::Alter { .. } => "ALTER SERVER",
            ServerStatement::Drop { .. } => "DROP SERVER",
        }
    }
}

impl StoredKind {
    /// The name of the DROP.
    fn name_of_drop(&self) -> &'static str {
        match self {
            StoredKind::Procedure => "DROP PROCEDURE",
            StoredKind::Function => "DROP FUNCTION",
            StoredKind::Trigger => "DROP TRIGGER",
            StoredKind::Event => "DROP EVENT",
        }
    }
}

impl Tablespace {
    /// The statement's name.
    fn name(&self) -> &'static str {
        match (self.action, self.undo, self.logfile_group) {
            (TablespaceAction::Create, _, true) => "CREATE LOGFILE GROUP",
            (TablespaceAction::Alter, _, true) => "ALTER LOGFILE GROUP",
            (TablespaceAction::Drop, _, true) => "DROP LOGFILE GROUP",
            (TablespaceAction::Create, true, false) => "CREATE UNDO TABLESPACE",
            (TablespaceAction::Alter, true, false) => "ALTER UNDO TABLESPACE",
            (TablespaceAction::Drop, true, false) => "DROP UNDO TABLESPACE",
            (TablespaceAction::Create, false, false) => "CREATE TABLESPACE",
            (TablespaceAction::Alter, false, false) => "ALTER TABLESPACE",
            (TablespaceAction::Drop, false, false) => "DROP TABLESPACE",
        }
    }
}

#[cfg(test)]
mod tests;
