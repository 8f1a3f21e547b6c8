//! Whether a session's account may do what a statement does. Asked for restricted sessions only.
//!
//! Reading and changing rows is asked by table, as the binder finds them ([`Asker::check_table`]); everything else is decided
//! by the statement ([`Asker::check_statement`]). The privileges are those MySQL's manual names for each statement, and so are
//! the errors: 1142 about a table, 1044 about a database, 1227 about the server.

use palisade_base::error_catalogue::{
    ER_ACCESS_DENIED_ERROR, ER_DBACCESS_DENIED_ERROR, ER_KILL_DENIED_ERROR, ER_NO_DB_ERROR,
    ER_SPECIFIC_ACCESS_DENIED_ERROR, ER_TABLEACCESS_DENIED_ERROR,
};
use palisade_base::mysql_error;
use palisade_parser::ast::{
    self, AlterAction, AlterInstance, CreateView, EngineInfo, ExplainTarget, FlushTarget, LoadDuplicates,
    MaintenanceKind, ObjectName, PartitionMaintenance, Reset, ShowWhat, Statement, TableConstraint, Xa,
};
use palisade_sql::{Access, SessionState, SqlError, SqlResult};

use super::privilege::Privileges;
use super::table::{Account, AccountName, AccountTable};

const INFORMATION_SCHEMA: &str = "information_schema";
const PERFORMANCE_SCHEMA: &str = "performance_schema";

/// Tables of performance_schema that every account may read; the others need SELECT on them. What MySQL 9.7
/// answers.
const READABLE_BY_ALL: &[&str] = &[
    "processlist",
    "global_variables",
    "session_variables",
    "global_status",
    "session_status",
    "session_account_connect_attrs",
    "persisted_variables",
    "variables_info",
    "variables_metadata",
    "global_variable_attributes",
];

/// The table of performance_schema for those who copy the data directory, and the privilege that they need
/// for it.
const LOG_STATUS: &str = "log_status";
const COPIES_DATA: &str = "BACKUP_ADMIN";

/// The privilege that protects accounts from those without it.
const SYSTEM_USER: &str = "SYSTEM_USER";

/// A session and what its account may do.
pub struct Asker<'a> {
    session: &'a SessionState,
    /// `None` if the account is gone: it may do nothing more.
    account: Option<&'a Account>,
    /// All accounts.
    accounts: &'a AccountTable,
}

impl<'a> Asker<'a> {
    /// The account of `session` among `accounts`.
    pub fn new(session: &'a SessionState, accounts: &'a AccountTable) -> Self {
        let account = accounts.get(&AccountName::of_session(&session.security.account));
        Asker { session, account, accounts }
    }

    /// The definer of a view, in whose place `session` asks; `None` if there is no such account.
    pub fn of_definer(
        session: &'a SessionState,
        definer: &str,
        accounts: &'a AccountTable,
    ) -> Option<Asker<'a>> {
        accounts.get(&AccountName::of_session(definer)).map(|account| Asker {
            session,
            account: Some(account),
            accounts,
        })
    }

    /// Whether it has a global privilege.
    pub fn has(&self, privilege: Privileges) -> bool {
        self.account.is_some_and(|account| account.global.has(privilege))
    }

    /// Whether it has a privilege that comes by name.
    pub fn has_dynamic(&self, name: &str) -> bool {
        self.account.is_some_and(|account| account.has_dynamic(name))
    }

    /// 1227 unless it has a global privilege.
    pub fn require(&self, privilege: Privileges) -> SqlResult<()> {
        match self.has(privilege) {
            true => Ok(()),
            false => Err(mysql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, privilege)),
        }
    }

    /// 1227 unless it has SUPER or the privilege of that name.
    pub fn require_dynamic(&self, name: &str) -> SqlResult<()> {
        match self.has_dynamic(name) {
            true => Ok(()),
            false => Err(mysql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, format!("SUPER or {name}"))),
        }
    }

    /// The same where the error names no SUPER.
    fn require_exactly(&self, name: &str) -> SqlResult<()> {
        match self.has_dynamic(name) {
            true => Ok(()),
            false => Err(mysql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, name)),
        }
    }

    /// Whether it is a system account: SUPER does not stand for that.
    fn is_system_user(&self) -> bool {
        self.account.is_some_and(Account::is_system_user)
    }

    /// 1227 if one of these accounts is a system account and the asker's is none.
    pub fn require_power_over<'n>(
        &self,
        accounts: &AccountTable,
        names: impl IntoIterator<Item = &'n AccountName>,
    ) -> SqlResult<()> {
        let is_system = |name: &AccountName| accounts.get(name).is_some_and(Account::is_system_user);
        if self.is_system_user() || !names.into_iter().any(is_system) {
            return Ok(());
        }
        Err(mysql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, SYSTEM_USER))
    }

    /// 1044 unless it may change the rows of mysql.*: what SET PASSWORD for another account needs.
    pub fn require_change_of_accounts(&self) -> SqlResult<()> {
        self.on_database("mysql", Privileges::UPDATE)
    }

    /// 1044: about a database.
    pub fn denied_database(&self, database: &str) -> SqlError {
        mysql_error!(ER_DBACCESS_DENIED_ERROR, self.session.user, self.session.client_host, database)
    }

    fn denied_table(&self, command: &str, table: &str) -> SqlError {
        let SessionState { user, client_host, .. } = self.session;
        mysql_error!(ER_TABLEACCESS_DENIED_ERROR, command, user, client_host, table)
    }

    fn on_database(&self, database: &str, privilege: Privileges) -> SqlResult<()> {
        match self.account {
            Some(account) if account.on_database(database).has(privilege) => Ok(()),
            _ => Err(self.denied_database(database)),
        }
    }

    fn on_table(&self, name: &ObjectName, privilege: Privileges) -> SqlResult<()> {
        let database = self.database_of(name.schema.as_deref())?;
        let granted = self.account.map_or(Privileges::NONE, |account| account.on_table(database, &name.name));
        if granted.has(privilege) {
            return Ok(());
        }
        Err(self.denied_table(&(privilege & !granted).to_string(), &name.name))
    }

    fn database_of<'n>(&'n self, named: Option<&'n str>) -> SqlResult<&'n str> {
        named.or(self.session.database.as_deref()).ok_or_else(|| mysql_error!(ER_NO_DB_ERROR))
    }

    /// Whether it may know of a database, or of a table in it.
    pub fn sees(&self, database: &str, table: Option<&str>) -> bool {
        if is_public(database) {
            return true;
        }
        self.account.is_some_and(|account| match table {
            None => account.sees_database(database),
            Some(table) => account.sees_table(database, table),
        })
    }

    /// Whether it may make a database its session's default one: SHOW DATABASES is not enough for that.
    pub fn enters(&self, database: &str) -> bool {
        is_public(database) || self.account.is_some_and(|account| account.uses_database(database))
    }

    /// What it may do to each column of a table, as information_schema lists it; none if it does not see
    /// columns.
    pub fn column_privileges(&self, database: &str, table: &str) -> Privileges {
        if is_public(database) {
            return Privileges::SELECT;
        }
        self.account
            .map_or(Privileges::NONE, |account| account.on_table(database, table) & Privileges::OF_COLUMNS)
    }

    /// Whether it may read or change a table's rows: 1142 if not.
    pub fn check_table(&self, database: &str, table: &str, access: Access) -> SqlResult<()> {
        if database.eq_ignore_ascii_case(INFORMATION_SCHEMA) {
            // What the storage engine does, keys of rows among it.
            let tells_all = table.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("INNODB_"));
            return if tells_all { self.require(Privileges::PROCESS) } else { Ok(()) };
        }
        let is_readable = || READABLE_BY_ALL.iter().any(|name| name.eq_ignore_ascii_case(table));
        if database.eq_ignore_ascii_case(PERFORMANCE_SCHEMA) && is_readable() {
            return Ok(());
        }
        let name = ObjectName { schema: Some(database.to_owned()), name: table.to_owned() };
        let needed = match access {
            Access::Read => Privileges::SELECT,
            Access::Insert => Privileges::INSERT,
            Access::Update => Privileges::UPDATE,
            Access::Delete => Privileges::DELETE,
            Access::Replace => Privileges::INSERT | Privileges::DELETE,
            Access::ShowView => Privileges::SHOW_VIEW,
            Access::Lock => return self.check_locks(&name),
        };
        self.on_table(&name, needed)?;
        match database.eq_ignore_ascii_case(PERFORMANCE_SCHEMA) && table.eq_ignore_ascii_case(LOG_STATUS) {
            true if !self.has_dynamic(COPIES_DATA) => {
                Err(mysql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, COPIES_DATA))
            }
            _ => Ok(()),
        }
    }

    /// Whether it may lock a table's rows against others, which SELECT alone does not give: 1142 if not.
    fn check_locks(&self, name: &ObjectName) -> SqlResult<()> {
        let any = Privileges::UPDATE | Privileges::DELETE | Privileges::LOCK_TABLES;
        let database = self.database_of(name.schema.as_deref())?;
        match self.account {
            Some(account) if account.on_table(database, &name.name).has_any(any) => Ok(()),
            _ => Err(self.denied_table("SELECT with locking clause", &name.name)),
        }
    }

    /// Whether it may end a connection of `user`, which is of the account `target`: 1095 if not.
    pub fn check_kill(
        &self,
        connection_id: u64,
        user: &str,
        accounts: &AccountTable,
        target: &AccountName,
    ) -> SqlResult<()> {
        let has_power = self.has_dynamic("CONNECTION_ADMIN")
            && self.require_power_over(accounts, std::iter::once(target)).is_ok();
        match self.session.user == user || has_power {
            true => Ok(()),
            false => Err(mysql_error!(ER_KILL_DENIED_ERROR, connection_id)),
        }
    }

    /// Whether it may look at the plan that a session of `user` executes.
    pub fn check_explains(&self, user: &str) -> SqlResult<()> {
        let session = self.session;
        match session.user == user || !session.is_restricted() || self.has(Privileges::PROCESS) {
            true => Ok(()),
            false => {
                let (user, host) = (&self.session.user, &self.session.client_host);
                Err(mysql_error!(ER_ACCESS_DENIED_ERROR, user, host, "YES"))
            }
        }
    }

    /// Whether it may execute a statement, as far as that does not depend on the tables whose rows it reads or changes.
    pub fn check_statement(&self, statement: &Statement) -> SqlResult<()> {
        match statement {
            Statement::CreateTable(create) if create.temporary => {
                let database = self.database_of(create.name.schema.as_deref())?;
                self.on_database(database, Privileges::CREATE_TEMPORARY_TABLES)
            }
            Statement::CreateTable(create) => {
                self.on_table(&create.name, Privileges::CREATE)?;
                if create.query.is_some() {
                    self.on_table(&create.name, Privileges::INSERT)?;
                }
                create.constraints.iter().try_for_each(|constraint| self.refers(&create.name, constraint))?;
                create.like.as_ref().map_or(Ok(()), |like| self.on_table(like, Privileges::SELECT))
            }
            Statement::AlterTable(alter) => {
                // These are no changes of the table's definition.
                let changes_no_definition = |action: &AlterAction| match action {
                    AlterAction::TruncatePartitions(_) => true,
                    AlterAction::MaintainPartitions(kind, ..) => *kind != PartitionMaintenance::Rebuild,
                    _ => false,
                };
                if alter.actions.is_empty() || !alter.all_actions().all(changes_no_definition) {
                    self.on_table(&alter.table, Privileges::ALTER)?;
                }
                alter.all_actions().try_for_each(|action| match action {
                    AlterAction::RenameTo(new) => self.rename(&alter.table, new),
                    AlterAction::AddConstraint(constraint) => self.refers(&alter.table, constraint),
                    AlterAction::DropPartitions(_) | AlterAction::TruncatePartitions(_) => {
                        self.on_table(&alter.table, Privileges::DROP)
                    }
                    AlterAction::ExchangePartition { table, .. } => {
                        let whole = Privileges::DROP | Privileges::INSERT | Privileges::CREATE;
                        self.on_table(&alter.table, whole)?;
                        self.on_table(table, whole | Privileges::ALTER)
                    }
                    AlterAction::MaintainPartitions(kind, ..) => match kind {
                        PartitionMaintenance::Rebuild => Ok(()),
                        PartitionMaintenance::Check => self.on_table(&alter.table, Privileges::SELECT),
                        _ => self.on_table(&alter.table, Privileges::SELECT | Privileges::INSERT),
                    },
                    _ => Ok(()),
                })
            }
            Statement::RenameTable(renames) => renames.iter().try_for_each(|(old, new)| {
                self.on_table(old, Privileges::ALTER)?;
                self.rename(old, new)
            }),
            Statement::DropTable(drop) => {
                drop.tables.iter().try_for_each(|table| self.on_table(table, Privileges::DROP))
            }
            Statement::TruncateTable(table) => self.on_table(table, Privileges::DROP),
            Statement::CreateIndex(create) => self.on_table(&create.table, Privileges::INDEX),
            Statement::DropIndex(drop) => self.on_table(&drop.table, Privileges::INDEX),
            Statement::CreateDatabase(create) => self.on_database(&create.name, Privileges::CREATE),
            Statement::AlterDatabase(alter) => {
                self.on_database(self.database_of(alter.name.as_deref())?, Privileges::ALTER)
            }
            Statement::DropDatabase(drop) => self.on_database(&drop.name, Privileges::DROP),
            Statement::CreateView(create) => self.creates_view(create),
            Statement::DropView(drop) => {
                drop.views.iter().try_for_each(|view| self.on_table(view, Privileges::DROP))
            }
            Statement::LockTables(locks) => locks.iter().try_for_each(|lock| self.locks_table(&lock.table)),
            Statement::TableMaintenance(maintenance) => {
                maintenance.tables.iter().try_for_each(|table| match maintenance.kind {
                    MaintenanceKind::Check => self.looks_into(table),
                    MaintenanceKind::Checksum => self.on_table(table, Privileges::SELECT),
                    _ => self.on_table(table, Privileges::SELECT | Privileges::INSERT),
                })
            }
            Statement::Describe(describe) => self.looks_into(&describe.table),
            Statement::Show(show) => self.check_show(&show.what),
            Statement::Explain(explain) => match &explain.target {
                ExplainTarget::Statement(statement) => self.check_statement(statement),
                // whose connection it is decides
                ExplainTarget::Connection(_) => Ok(()),
            },
            Statement::Flush(flush) => flush.what.iter().try_for_each(|what| self.check_flush(what)),
            // which of them may be reset depends on which there are
            Statement::Reset(Reset::Persist { .. }) => Ok(()),
            Statement::Reset(_) => self.require(Privileges::RELOAD),
            Statement::Xa(Xa::Recover { .. }) => match self.has_dynamic("XA_RECOVER_ADMIN") {
                true => Ok(()),
                false => Err(mysql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, "XA_RECOVER_ADMIN")),
            },
            Statement::Shutdown | Statement::Restart => self.require(Privileges::SHUTDOWN),
            Statement::LoadData(load) => {
                if !load.local {
                    self.require(Privileges::FILE)?;
                }
                let replaces = load.duplicates == Some(LoadDuplicates::Replace);
                let deletes = if replaces { Privileges::DELETE } else { Privileges::NONE };
                self.on_table(&load.table, Privileges::INSERT | deletes)
            }
            Statement::CreateTrigger(_)
            | Statement::CreateRoutine(_)
            | Statement::AlterRoutine(_)
            | Statement::CreateEvent(_)
            | Statement::AlterEvent(_)
            | Statement::CreateLoadableFunction(_)
            | Statement::Server(_)
            | Statement::Tablespace(_)
            | Statement::Install(_)
            | Statement::Uninstall(_)
            | Statement::LockInstance
            | Statement::Clone(_)
            | Statement::AlterInstance(
                AlterInstance::RotateInnodbMasterKey
                | AlterInstance::RotateBinlogMasterKey
                | AlterInstance::ReloadKeyring
                | AlterInstance::RedoLog(_),
            )
            | Statement::ResourceGroup(_)
            | Statement::Binding(_)
            | Statement::PurgeLogs(_)
            | Statement::Binlog(_)
            | Statement::Replication(_)
            | Statement::ImportTable(_) => self.require(Privileges::SUPER),
            Statement::AlterInstance(AlterInstance::ReloadTls { .. }) => {
                self.require_exactly("CONNECTION_ADMIN")
            }
            // what they read and change is asked by table; the rest is about the session or checks for itself
            _ => Ok(()),
        }
    }

    /// RELOAD, or the privilege of that name for a part of it; tables that are locked have to be ones it may
    /// lock and read.
    fn check_flush(&self, what: &FlushTarget) -> SqlResult<()> {
        let part = match what {
            FlushTarget::Tables { .. } => Some("FLUSH_TABLES"),
            FlushTarget::Privileges => Some("FLUSH_PRIVILEGES"),
            FlushTarget::Status => Some("FLUSH_STATUS"),
            FlushTarget::UserResources => Some("FLUSH_USER_RESOURCES"),
            FlushTarget::OptimizerCosts => Some("FLUSH_OPTIMIZER_COSTS"),
            FlushTarget::Logs(_) | FlushTarget::RelayLogs(_) => None,
        };
        match part {
            _ if self.has(Privileges::RELOAD) => {}
            Some(part) if self.account.is_some_and(|account| account.dynamic.contains_key(part)) => {}
            Some(part) => {
                return Err(mysql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, format!("RELOAD or {part}")));
            }
            None => return self.require(Privileges::RELOAD),
        }
        match what {
            FlushTarget::Tables { tables, with_read_lock, for_export } if *with_read_lock || *for_export => {
                tables.iter().try_for_each(|table| self.locks_table(table))
            }
            _ => Ok(()),
        }
    }

    fn locks_table(&self, table: &ObjectName) -> SqlResult<()> {
        self.on_database(self.database_of(table.schema.as_deref())?, Privileges::LOCK_TABLES)?;
        self.on_table(table, Privileges::SELECT)
    }

    /// Whether it may make a constraint of the table `child`: 1142 about the table that a foreign key refers to if not.
    fn refers(&self, child: &ObjectName, constraint: &TableConstraint) -> SqlResult<()> {
        let TableConstraint::ForeignKey(key) = constraint else { return Ok(()) };
        let parent = &key.references.table;
        let database = self.database_of(parent.schema.as_deref().or(child.schema.as_deref()))?;
        match self.account {
            Some(account) if account.on_table(database, &parent.name).has(Privileges::REFERENCES) => Ok(()),
            _ => Err(self.denied_table("REFERENCES", &format!("{database}.{}", parent.name))),
        }
    }

    /// CREATE VIEW on the view, DROP if there may be one that goes, and power over another definer.
    fn creates_view(&self, create: &CreateView) -> SqlResult<()> {
        let replaces = create.alter || create.or_replace;
        let drop = if replaces { Privileges::DROP } else { Privileges::NONE };
        self.on_table(&create.name, Privileges::CREATE_VIEW | drop)?;
        let Some(ast::Account::Named { user, host }) = &create.definer else { return Ok(()) };
        let host = host.as_deref().unwrap_or("%").to_owned();
        let definer = AccountName { user: user.clone(), host };
        if definer == AccountName::of_session(&self.session.security.account) {
            return Ok(());
        }
        self.require_dynamic("SET_ANY_DEFINER")?;
        match self.accounts.get(&definer) {
            None => self.require_dynamic("ALLOW_NONEXISTENT_DEFINER"),
            Some(_) => self.require_power_over(self.accounts, [&definer]),
        }
    }

    fn rename(&self, old: &ObjectName, new: &ObjectName) -> SqlResult<()> {
        self.on_table(old, Privileges::DROP)?;
        self.on_table(new, Privileges::CREATE)?;
        self.on_table(new, Privileges::INSERT)
    }

    /// Whether it may know how a table is made: by SELECT on its schema, or by any privilege on the table
    /// itself.
    fn looks_into(&self, name: &ObjectName) -> SqlResult<()> {
        let database = self.database_of(name.schema.as_deref())?;
        let may = is_public(database)
            || self.account.is_some_and(|account| {
                account.on_database(database).has(Privileges::SELECT)
                    || account.has_on_table_itself(database, &name.name)
            });
        if may { Ok(()) } else { Err(self.denied_table("SELECT", &name.name)) }
    }

    fn sees_table(&self, name: &ObjectName, command: &str) -> SqlResult<()> {
        let database = self.database_of(name.schema.as_deref())?;
        match self.sees(database, Some(&name.name)) {
            true => Ok(()),
            false => Err(self.denied_table(command, &name.name)),
        }
    }

    fn check_show(&self, what: &ShowWhat) -> SqlResult<()> {
        match what {
            // those are left out that the account may not see
            ShowWhat::OpenTables { database: None } => Ok(()),
            ShowWhat::Tables { database, .. }
            | ShowWhat::TableStatus { database }
            | ShowWhat::OpenTables { database }
            | ShowWhat::Triggers { database, .. }
            | ShowWhat::Events { database } => {
                let database = self.database_of(database.as_deref())?;
                if self.enters(database) { Ok(()) } else { Err(self.denied_database(database)) }
            }
            ShowWhat::CreateDatabase { name, .. } if !self.enters(name) => Err(self.denied_database(name)),
            ShowWhat::Columns { table, .. } | ShowWhat::Index { table, .. } => self.looks_into(table),
            ShowWhat::CreateTable(table) | ShowWhat::CreateView(table) => self.sees_table(table, "SHOW"),
            ShowWhat::Engine { what: EngineInfo::Status | EngineInfo::Mutex | EngineInfo::Logs, .. } => {
                self.require(Privileges::PROCESS)
            }
            ShowWhat::Replicas => self.require(Privileges::REPLICATION_SLAVE),
            ShowWhat::BinaryLogs | ShowWhat::BinaryLogStatus | ShowWhat::ReplicaStatus { .. } => {
                match self.account {
                    Some(account)
                        if account.global.has_any(Privileges::SUPER | Privileges::REPLICATION_CLIENT) =>
                    {
                        Ok(())
                    }
                    _ => Err(mysql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, "SUPER, REPLICATION CLIENT")),
                }
            }
            _ => Ok(()),
        }
    }

    /// Whether it may read the accounts of others: 1044 if not.
    pub fn check_reads_accounts(&self) -> SqlResult<()> {
        self.on_database("mysql", Privileges::SELECT)
    }

    /// What it may grant to others at a level: what it has there, if it has it WITH GRANT OPTION.
    pub fn grantable(&self, level: &super::statements::Target) -> Privileges {
        let Some(account) = self.account else { return Privileges::NONE };
        let own = match level {
            super::statements::Target::Global => account.global,
            super::statements::Target::Database(name) => account.on_database(name),
            super::statements::Target::Table(database, table) => account.on_table(database, table),
        };
        if own.has(Privileges::GRANT_OPTION) { own } else { Privileges::NONE }
    }

    /// Whether it may grant a privilege that comes by name.
    pub fn may_grant_dynamic(&self, name: &str) -> bool {
        self.account.is_some_and(|account| account.dynamic.get(name).is_some_and(|grantable| *grantable))
    }
}

/// Whether everyone may read a schema.
fn is_public(database: &str) -> bool {
    [INFORMATION_SCHEMA, PERFORMANCE_SCHEMA].iter().any(|name| name.eq_ignore_ascii_case(database))
}
