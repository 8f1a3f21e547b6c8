//! What kind a statement or command of the protocol is, as MySQL tells them apart, and how many there were:
//! `Com_...`.
//!
//! A statement counts when it begins to be executed, whether it succeeds, is refused or is not supported; a
//! text that cannot be parsed is no statement. EXECUTE counts as itself and as the statement that it
//! executes, EXPLAIN as the statement that it explains.

use palisade_base::metric::{Kind, Metric};
use palisade_parser::ast::{
    DeleteTarget, EngineInfo, ExplainTarget, Grant, HandlerAction, Insert, InsertSource, Install,
    MaintenanceKind, PurgeLogs, QueryBody, Replication, ResourceGroup, Revoked, ServerStatement, ShowWhat,
    Statement, StoredKind, TableReference, Xa,
};

macro_rules! commands {
    ($($kind:ident = $name:literal;)*) => {
        /// A kind of statement or command, in MySQL's order of their counters.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs, reason = "each variant is named after its counter")]
        pub enum Command { $($kind),* }

        /// The server's counters, in the order of [`Command`].
        pub static METRICS: [Metric; COUNT] = [$(
            Metric::new($name, "server", "Statements and commands of that kind", Kind::Counter),
        )*];

        const COUNT: usize = [$(Command::$kind),*].len();
    };
}

commands! {
    AdminCommands = "Com_admin_commands";
    AssignToKeycache = "Com_assign_to_keycache";
    AlterDb = "Com_alter_db";
    AlterEvent = "Com_alter_event";
    AlterFunction = "Com_alter_function";
    AlterInstance = "Com_alter_instance";
    AlterLibrary = "Com_alter_library";
    AlterProcedure = "Com_alter_procedure";
    AlterResourceGroup = "Com_alter_resource_group";
    AlterServer = "Com_alter_server";
    AlterTable = "Com_alter_table";
    AlterTablespace = "Com_alter_tablespace";
    AlterUser = "Com_alter_user";
    AlterUserDefaultRole = "Com_alter_user_default_role";
    Analyze = "Com_analyze";
    Begin = "Com_begin";
    Binlog = "Com_binlog";
    CallProcedure = "Com_call_procedure";
    ChangeDb = "Com_change_db";
    ChangeReplFilter = "Com_change_repl_filter";
    ChangeReplicationSource = "Com_change_replication_source";
    Check = "Com_check";
    Checksum = "Com_checksum";
    Clone = "Com_clone";
    Commit = "Com_commit";
    CreateDb = "Com_create_db";
    CreateEvent = "Com_create_event";
    CreateFunction = "Com_create_function";
    CreateIndex = "Com_create_index";
    CreateLibrary = "Com_create_library";
    CreateMaskingPolicy = "Com_create_masking_policy";
    CreateProcedure = "Com_create_procedure";
    CreateRole = "Com_create_role";
    CreateServer = "Com_create_server";
    CreateTable = "Com_create_table";
    CreateResourceGroup = "Com_create_resource_group";
    CreateTrigger = "Com_create_trigger";
    CreateUdf = "Com_create_udf";
    CreateUser = "Com_create_user";
    CreateView = "Com_create_view";
    CreateSpatialReferenceSystem = "Com_create_spatial_reference_system";
    DeallocSql = "Com_dealloc_sql";
    Delete = "Com_delete";
    DeleteMulti = "Com_delete_multi";
    Do = "Com_do";
    DropDb = "Com_drop_db";
    DropEvent = "Com_drop_event";
    DropFunction = "Com_drop_function";
    DropIndex = "Com_drop_index";
    DropLibrary = "Com_drop_library";
    DropMaskingPolicy = "Com_drop_masking_policy";
    DropProcedure = "Com_drop_procedure";
    DropResourceGroup = "Com_drop_resource_group";
    DropRole = "Com_drop_role";
    DropServer = "Com_drop_server";
    DropSpatialReferenceSystem = "Com_drop_spatial_reference_system";
    DropTable = "Com_drop_table";
    DropTrigger = "Com_drop_trigger";
    DropUser = "Com_drop_user";
    DropView = "Com_drop_view";
    EmptyQuery = "Com_empty_query";
    ExecuteSql = "Com_execute_sql";
    ExplainOther = "Com_explain_other";
    Flush = "Com_flush";
    GetDiagnostics = "Com_get_diagnostics";
    Grant = "Com_grant";
    GrantRoles = "Com_grant_roles";
    HaClose = "Com_ha_close";
    HaOpen = "Com_ha_open";
    HaRead = "Com_ha_read";
    Help = "Com_help";
    Import = "Com_import";
    Insert = "Com_insert";
    InsertSelect = "Com_insert_select";
    InstallComponent = "Com_install_component";
    InstallPlugin = "Com_install_plugin";
    Kill = "Com_kill";
    Load = "Com_load";
    LockInstance = "Com_lock_instance";
    LockTables = "Com_lock_tables";
    Optimize = "Com_optimize";
    PreloadKeys = "Com_preload_keys";
    PrepareSql = "Com_prepare_sql";
    Purge = "Com_purge";
    PurgeBeforeDate = "Com_purge_before_date";
    ReleaseSavepoint = "Com_release_savepoint";
    RenameTable = "Com_rename_table";
    RenameUser = "Com_rename_user";
    Repair = "Com_repair";
    Replace = "Com_replace";
    ReplaceSelect = "Com_replace_select";
    Reset = "Com_reset";
    Resignal = "Com_resignal";
    Restart = "Com_restart";
    Revoke = "Com_revoke";
    RevokeAll = "Com_revoke_all";
    RevokeRoles = "Com_revoke_roles";
    Rollback = "Com_rollback";
    RollbackToSavepoint = "Com_rollback_to_savepoint";
    Savepoint = "Com_savepoint";
    Select = "Com_select";
    SetOption = "Com_set_option";
    SetPassword = "Com_set_password";
    SetResourceGroup = "Com_set_resource_group";
    SetRole = "Com_set_role";
    Signal = "Com_signal";
    ShowBinlogEvents = "Com_show_binlog_events";
    ShowBinlogs = "Com_show_binlogs";
    ShowCharsets = "Com_show_charsets";
    ShowCollations = "Com_show_collations";
    ShowCreateDb = "Com_show_create_db";
    ShowCreateEvent = "Com_show_create_event";
    ShowCreateFunc = "Com_show_create_func";
    ShowCreateLibrary = "Com_show_create_library";
    ShowCreateMaskingPolicy = "Com_show_create_masking_policy";
    ShowCreateProc = "Com_show_create_proc";
    ShowCreateTable = "Com_show_create_table";
    ShowCreateTrigger = "Com_show_create_trigger";
    ShowDatabases = "Com_show_databases";
    ShowEngineLogs = "Com_show_engine_logs";
    ShowEngineMutex = "Com_show_engine_mutex";
    ShowEngineStatus = "Com_show_engine_status";
    ShowEvents = "Com_show_events";
    ShowErrors = "Com_show_errors";
    ShowFields = "Com_show_fields";
    ShowFunctionCode = "Com_show_function_code";
    ShowFunctionStatus = "Com_show_function_status";
    ShowGrants = "Com_show_grants";
    ShowKeys = "Com_show_keys";
    ShowLibraryStatus = "Com_show_library_status";
    ShowBinaryLogStatus = "Com_show_binary_log_status";
    ShowOpenTables = "Com_show_open_tables";
    ShowParseTree = "Com_show_parse_tree";
    ShowPlugins = "Com_show_plugins";
    ShowPrivileges = "Com_show_privileges";
    ShowProcedureCode = "Com_show_procedure_code";
    ShowProcedureStatus = "Com_show_procedure_status";
    ShowProcesslist = "Com_show_processlist";
    ShowProfile = "Com_show_profile";
    ShowProfiles = "Com_show_profiles";
    ShowRelaylogEvents = "Com_show_relaylog_events";
    ShowReplicas = "Com_show_replicas";
    ShowReplicaStatus = "Com_show_replica_status";
    ShowStatus = "Com_show_status";
    ShowStorageEngines = "Com_show_storage_engines";
    ShowTableStatus = "Com_show_table_status";
    ShowTables = "Com_show_tables";
    ShowTriggers = "Com_show_triggers";
    ShowVariables = "Com_show_variables";
    ShowWarnings = "Com_show_warnings";
    ShowCreateUser = "Com_show_create_user";
    Shutdown = "Com_shutdown";
    ReplicaStart = "Com_replica_start";
    ReplicaStop = "Com_replica_stop";
    GroupReplicationStart = "Com_group_replication_start";
    GroupReplicationStop = "Com_group_replication_stop";
    StmtExecute = "Com_stmt_execute";
    StmtClose = "Com_stmt_close";
    StmtFetch = "Com_stmt_fetch";
    StmtPrepare = "Com_stmt_prepare";
    StmtReset = "Com_stmt_reset";
    StmtSendLongData = "Com_stmt_send_long_data";
    Truncate = "Com_truncate";
    UninstallComponent = "Com_uninstall_component";
    UninstallPlugin = "Com_uninstall_plugin";
    UnlockInstance = "Com_unlock_instance";
    UnlockTables = "Com_unlock_tables";
    Update = "Com_update";
    UpdateMulti = "Com_update_multi";
    XaCommit = "Com_xa_commit";
    XaEnd = "Com_xa_end";
    XaPrepare = "Com_xa_prepare";
    XaRecover = "Com_xa_recover";
    XaRollback = "Com_xa_rollback";
    XaStart = "Com_xa_start";
    StmtReprepare = "Com_stmt_reprepare";
}

/// What one session has executed since it began, or since FLUSH STATUS.
#[derive(Debug)]
pub struct CommandCounts {
    counts: Box<[u64; COUNT]>,
    first: Option<Command>,
}

impl Default for CommandCounts {
    fn default() -> Self {
        CommandCounts { counts: Box::new([0; COUNT]), first: None }
    }
}

impl CommandCounts {
    /// Counts one, for the session and for the server.
    #[inline]
    pub fn add(&mut self, command: Command) {
        let counters = (METRICS.get(command as usize), self.counts.get_mut(command as usize));
        if let (Some(metric), Some(own)) = counters {
            metric.increment();
            *own += 1;
        }
        if self.first.is_none() {
            self.first = Some(command);
        }
    }

    /// The first of what was counted since this was called last: of EXECUTE that, and not what it executes.
    #[inline]
    pub fn take_first(&mut self) -> Option<Command> {
        self.first.take()
    }

    /// Begins at 0 again, for the session only.
    pub fn start_over(&mut self) {
        self.counts.fill(0);
    }

    /// What the session has counted, in the order of [`METRICS`].
    pub fn all(&self) -> &[u64; COUNT] {
        &self.counts
    }
}

impl Command {
    /// What a statement counts as.
    pub fn of(statement: &Statement) -> Command {
        match statement {
            Statement::Query(_) => Command::Select,
            Statement::Insert(insert) => of_insert(insert),
            Statement::Update(update) => match &update.tables[..] {
                [TableReference::Table(_)] => Command::Update,
                _ => Command::UpdateMulti,
            },
            Statement::Delete(delete) => match delete.target {
                DeleteTarget::Single(_) => Command::Delete,
                DeleteTarget::Multi { .. } => Command::DeleteMulti,
            },
            Statement::StartTransaction(_) => Command::Begin,
            Statement::Commit(_) => Command::Commit,
            Statement::Rollback(_) => Command::Rollback,
            Statement::Set(_) | Statement::SetTransaction(_) => Command::SetOption,
            Statement::Show(show) => of_show(&show.what),
            Statement::Explain(explain) => match &explain.target {
                ExplainTarget::Statement(explained) => Command::of(explained),
                ExplainTarget::Connection(_) => Command::ExplainOther,
            },
            Statement::Xa(xa) => of_xa(xa),
            other => of_object(other).or_else(|| of_account(other)).unwrap_or_else(|| of_rest(other)),
        }
    }
}

fn of_insert(insert: &Insert) -> Command {
    // rows written out are no query, also where each has its ROW
    let selects = match &insert.source {
        InsertSource::Values(_) => false,
        InsertSource::Query(query) => !matches!(query.body, QueryBody::Values(_)),
    };
    match (insert.replace, selects) {
        (false, false) => Command::Insert,
        (false, true) => Command::InsertSelect,
        (true, false) => Command::Replace,
        (true, true) => Command::ReplaceSelect,
    }
}

fn of_xa(xa: &Xa) -> Command {
    match xa {
        Xa::Start { .. } => Command::XaStart,
        Xa::End { .. } => Command::XaEnd,
        Xa::Prepare(_) => Command::XaPrepare,
        Xa::Commit { .. } => Command::XaCommit,
        Xa::Rollback(_) => Command::XaRollback,
        Xa::Recover { .. } => Command::XaRecover,
    }
}

fn of_show(what: &ShowWhat) -> Command {
    match what {
        ShowWhat::Databases => Command::ShowDatabases,
        ShowWhat::Tables { .. } => Command::ShowTables,
        ShowWhat::TableStatus { .. } => Command::ShowTableStatus,
        ShowWhat::OpenTables { .. } => Command::ShowOpenTables,
        ShowWhat::Columns { .. } => Command::ShowFields,
        ShowWhat::Index { .. } => Command::ShowKeys,
        ShowWhat::Triggers { .. } => Command::ShowTriggers,
        ShowWhat::Events { .. } => Command::ShowEvents,
        ShowWhat::CreateTable(_) | ShowWhat::CreateView(_) => Command::ShowCreateTable,
        ShowWhat::CreateDatabase { .. } => Command::ShowCreateDb,
        ShowWhat::CreateProcedure(_) => Command::ShowCreateProc,
        ShowWhat::CreateFunction(_) => Command::ShowCreateFunc,
        ShowWhat::CreateTrigger(_) => Command::ShowCreateTrigger,
        ShowWhat::CreateEvent(_) => Command::ShowCreateEvent,
        ShowWhat::CreateUser(_) => Command::ShowCreateUser,
        ShowWhat::Variables { .. } => Command::ShowVariables,
        ShowWhat::Status { .. } => Command::ShowStatus,
        ShowWhat::Warnings { .. } => Command::ShowWarnings,
        ShowWhat::Errors { .. } => Command::ShowErrors,
        // to MySQL they are SELECT @@warning_count and @@error_count
        ShowWhat::CountWarnings | ShowWhat::CountErrors => Command::Select,
        ShowWhat::ProcessList { .. } => Command::ShowProcesslist,
        ShowWhat::Engines => Command::ShowStorageEngines,
        ShowWhat::Engine { what, .. } => match what {
            EngineInfo::Status => Command::ShowEngineStatus,
            EngineInfo::Mutex => Command::ShowEngineMutex,
            EngineInfo::Logs => Command::ShowEngineLogs,
        },
        ShowWhat::Plugins => Command::ShowPlugins,
        ShowWhat::Privileges => Command::ShowPrivileges,
        ShowWhat::Grants { .. } => Command::ShowGrants,
        ShowWhat::CharacterSet => Command::ShowCharsets,
        ShowWhat::Collation => Command::ShowCollations,
        ShowWhat::ProcedureStatus => Command::ShowProcedureStatus,
        ShowWhat::FunctionStatus => Command::ShowFunctionStatus,
        ShowWhat::ProcedureCode(_) => Command::ShowProcedureCode,
        ShowWhat::FunctionCode(_) => Command::ShowFunctionCode,
        ShowWhat::BinaryLogs => Command::ShowBinlogs,
        ShowWhat::BinaryLogStatus => Command::ShowBinaryLogStatus,
        ShowWhat::BinlogEvents { relay: false, .. } => Command::ShowBinlogEvents,
        ShowWhat::BinlogEvents { relay: true, .. } => Command::ShowRelaylogEvents,
        ShowWhat::Replicas => Command::ShowReplicas,
        ShowWhat::ReplicaStatus { .. } => Command::ShowReplicaStatus,
        ShowWhat::Profiles => Command::ShowProfiles,
        ShowWhat::Profile { .. } => Command::ShowProfile,
        ShowWhat::ParseTree(_) => Command::ShowParseTree,
    }
}

/// Statements about tables and other objects.
fn of_object(statement: &Statement) -> Option<Command> {
    Some(match statement {
        Statement::CreateTable(_) => Command::CreateTable,
        Statement::AlterTable(_) => Command::AlterTable,
        Statement::DropTable(_) => Command::DropTable,
        Statement::RenameTable(_) => Command::RenameTable,
        Statement::TruncateTable(_) => Command::Truncate,
        Statement::CreateIndex(_) => Command::CreateIndex,
        Statement::DropIndex(_) => Command::DropIndex,
        Statement::CreateDatabase(_) => Command::CreateDb,
        Statement::AlterDatabase(_) => Command::AlterDb,
        Statement::DropDatabase(_) => Command::DropDb,
        // ALTER VIEW included
        Statement::CreateView(_) => Command::CreateView,
        Statement::DropView(_) => Command::DropView,
        Statement::CreateTrigger(_) => Command::CreateTrigger,
        Statement::CreateRoutine(routine) => match routine.returns {
            Some(_) => Command::CreateFunction,
            None => Command::CreateProcedure,
        },
        Statement::AlterRoutine(routine) => match routine.function {
            true => Command::AlterFunction,
            false => Command::AlterProcedure,
        },
        Statement::CreateEvent(_) => Command::CreateEvent,
        Statement::AlterEvent(_) => Command::AlterEvent,
        Statement::DropStored(drop) => match drop.kind {
            StoredKind::Procedure => Command::DropProcedure,
            StoredKind::Function => Command::DropFunction,
            StoredKind::Trigger => Command::DropTrigger,
            StoredKind::Event => Command::DropEvent,
        },
        Statement::Tablespace(_) => Command::AlterTablespace,
        Statement::CreateLoadableFunction(_) => Command::CreateUdf,
        Statement::Server(server) => match server {
            ServerStatement::Create { .. } => Command::CreateServer,
            ServerStatement::Alter { .. } => Command::AlterServer,
            ServerStatement::Drop { .. } => Command::DropServer,
        },
        // MySQL has no such statement, and no counter for it.
        Statement::Binding(_) => Command::AdminCommands,
        Statement::ResourceGroup(group) => match group {
            ResourceGroup::Create { .. } => Command::CreateResourceGroup,
            ResourceGroup::Alter { .. } => Command::AlterResourceGroup,
            ResourceGroup::Drop { .. } => Command::DropResourceGroup,
            ResourceGroup::Set { .. } => Command::SetResourceGroup,
        },
        Statement::TableMaintenance(maintenance) => match maintenance.kind {
            MaintenanceKind::Analyze => Command::Analyze,
            MaintenanceKind::Check => Command::Check,
            MaintenanceKind::Checksum => Command::Checksum,
            MaintenanceKind::Optimize => Command::Optimize,
            MaintenanceKind::Repair => Command::Repair,
        },
        _ => return None,
    })
}

/// Statements about accounts.
fn of_account(statement: &Statement) -> Option<Command> {
    Some(match statement {
        Statement::CreateUser(_) => Command::CreateUser,
        Statement::AlterUser(alter) => match alter.default_role {
            Some(_) => Command::AlterUserDefaultRole,
            None => Command::AlterUser,
        },
        Statement::DropUser(_) => Command::DropUser,
        Statement::RenameUser(_) => Command::RenameUser,
        Statement::CreateRole(_) => Command::CreateRole,
        Statement::DropRole(_) => Command::DropRole,
        Statement::Grant(grant) => match &**grant {
            Grant::Roles { .. } => Command::GrantRoles,
            Grant::Privileges { .. } | Grant::Proxy { .. } => Command::Grant,
        },
        Statement::Revoke(revoke) => match revoke.what {
            Revoked::Roles(_) => Command::RevokeRoles,
            Revoked::All => Command::RevokeAll,
            Revoked::Privileges(..) | Revoked::Proxy(_) => Command::Revoke,
        },
        Statement::SetRole(_) => Command::SetRole,
        Statement::SetDefaultRole(_) => Command::AlterUserDefaultRole,
        Statement::SetPassword(_) => Command::SetPassword,
        _ => return None,
    })
}

/// What is neither a query, a change of rows, nor about an object or account.
fn of_rest(statement: &Statement) -> Command {
    match statement {
        Statement::LoadData(_) => Command::Load,
        Statement::Do(_) => Command::Do,
        Statement::Call(_) => Command::CallProcedure,
        Statement::Handler(handler) => match handler.action {
            HandlerAction::Open(_) => Command::HaOpen,
            HandlerAction::Read { .. } => Command::HaRead,
            HandlerAction::Close => Command::HaClose,
        },
        Statement::Savepoint(_) => Command::Savepoint,
        Statement::RollbackToSavepoint(_) => Command::RollbackToSavepoint,
        Statement::ReleaseSavepoint(_) => Command::ReleaseSavepoint,
        Statement::LockTables(_) => Command::LockTables,
        Statement::UnlockTables => Command::UnlockTables,
        Statement::LockInstance => Command::LockInstance,
        Statement::UnlockInstance => Command::UnlockInstance,
        Statement::Use(_) => Command::ChangeDb,
        Statement::Describe(_) => Command::ShowFields,
        Statement::Help(_) => Command::Help,
        Statement::Prepare(_) => Command::PrepareSql,
        Statement::Execute(_) => Command::ExecuteSql,
        Statement::Deallocate(_) => Command::DeallocSql,
        Statement::GetDiagnostics(_) => Command::GetDiagnostics,
        Statement::Signal(signal) if signal.resignal => Command::Resignal,
        Statement::Signal(_) => Command::Signal,
        Statement::Kill(_) => Command::Kill,
        Statement::Flush(_) => Command::Flush,
        Statement::Reset(_) => Command::Reset,
        Statement::Shutdown => Command::Shutdown,
        Statement::Restart => Command::Restart,
        Statement::Install(Install::Plugin { .. }) => Command::InstallPlugin,
        Statement::Install(Install::Component { .. }) => Command::InstallComponent,
        Statement::Uninstall(Install::Plugin { .. }) => Command::UninstallPlugin,
        Statement::Uninstall(Install::Component { .. }) => Command::UninstallComponent,
        Statement::CacheIndex(_) => Command::AssignToKeycache,
        Statement::LoadIndex(_) => Command::PreloadKeys,
        Statement::PurgeLogs(PurgeLogs::To(_)) => Command::Purge,
        Statement::PurgeLogs(PurgeLogs::Before(_)) => Command::PurgeBeforeDate,
        Statement::Binlog(_) => Command::Binlog,
        Statement::Replication(replication) => match replication {
            Replication::ChangeSource { .. } => Command::ChangeReplicationSource,
            Replication::ChangeFilter { .. } => Command::ChangeReplFilter,
            Replication::Start { .. } => Command::ReplicaStart,
            Replication::Stop { .. } => Command::ReplicaStop,
            Replication::StartGroup { .. } => Command::GroupReplicationStart,
            Replication::StopGroup => Command::GroupReplicationStop,
        },
        Statement::Clone(_) => Command::Clone,
        Statement::AlterInstance(_) => Command::AlterInstance,
        Statement::ImportTable(_) => Command::Import,
        // the families before this one have told the rest
        _ => Command::EmptyQuery,
    }
}

#[cfg(test)]
mod tests {
    use palisade_parser::ParseOptions;

    use super::*;

    fn check(text: &str, name: &str) {
        let statement = palisade_parser::parse(text.as_bytes(), ParseOptions::default()).expect(text);
        assert_eq!(METRICS[Command::of(&statement) as usize].name, name, "{text}");
    }

    #[test]
    fn statements_count_as_mysql_counts_them() {
        // as MySQL 9.7 answers SHOW SESSION STATUS after each
        for (text, name) in [
            ("(select 1) union table t", "Com_select"),
            ("with c as (select 1) select * from c", "Com_select"),
            ("insert into t values row(3)", "Com_insert"),
            ("insert into t set a=7", "Com_insert"),
            ("insert into t table t2", "Com_insert_select"),
            ("replace into t select 2", "Com_replace_select"),
            ("update t set a=5 where a=1", "Com_update"),
            ("update t, t2 set t.a=9", "Com_update_multi"),
            ("update t join t2 set t.a=9", "Com_update_multi"),
            ("delete from t", "Com_delete"),
            ("delete t from t, t2", "Com_delete_multi"),
            ("set names utf8mb4", "Com_set_option"),
            ("set transaction read only", "Com_set_option"),
            ("set password = ''", "Com_set_password"),
            ("set default role none to root@localhost", "Com_alter_user_default_role"),
            ("alter user u default role none", "Com_alter_user_default_role"),
            ("explain insert into t select 1", "Com_insert_select"),
            ("explain for connection 1", "Com_explain_other"),
            ("describe t", "Com_show_fields"),
            ("show create view v", "Com_show_create_table"),
            ("show count(*) warnings", "Com_select"),
            ("show relaylog events", "Com_show_relaylog_events"),
            ("show engine innodb mutex", "Com_show_engine_mutex"),
            ("alter view v as select 1", "Com_create_view"),
            ("create function f() returns int return 1", "Com_create_function"),
            ("create undo tablespace u add datafile 'u.ibu'", "Com_alter_tablespace"),
            ("revoke all privileges, grant option from u", "Com_revoke_all"),
            ("grant r to u", "Com_grant_roles"),
            ("purge binary logs before now()", "Com_purge_before_date"),
            ("uninstall component 'file://x'", "Com_uninstall_component"),
            ("stop group_replication", "Com_group_replication_stop"),
            ("load index into cache t", "Com_preload_keys"),
            ("prepare p from 'do 1'", "Com_prepare_sql"),
            ("drop prepare p", "Com_dealloc_sql"),
            ("xa recover", "Com_xa_recover"),
            ("/* nothing */", "Com_empty_query"),
        ] {
            check(text, name);
        }
    }

    #[test]
    fn a_session_has_counts_of_its_own() {
        let mut counts = CommandCounts::default();
        let before = METRICS[Command::Clone as usize].value();
        counts.add(Command::Clone);
        assert_eq!(counts.all()[Command::Clone as usize], 1);
        assert_eq!(METRICS[Command::Clone as usize].value(), before + 1);
        counts.add(Command::Clone);
        assert_eq!((counts.take_first(), counts.take_first()), (Some(Command::Clone), None));
        counts.start_over();
        assert_eq!(counts.all()[Command::Clone as usize], 0);
    }
}
