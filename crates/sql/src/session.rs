//! What one connection's statements see and leave behind.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

use palisade_base::error_catalogue::{ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_QUERY_INTERRUPTED};
use palisade_base::sysvar::SessionSettings;
use palisade_catalog::{CollationId, SqlType, Value, Zone};
use palisade_engine::{AccessMode, Engine, IsolationLevel, Transaction};

use crate::command::CommandCounts;
use crate::host::Host;
use crate::memory::{Memory, TooMuch};
use crate::mode::SqlMode;
use crate::prepared_count::Counted;
use crate::warning::Warnings;
use crate::work::WorkDone;

/// The session values of the system variables that statements read while they run. The host, which owns the
/// declarations, keeps them in step through [`Host::set_variable`].
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct SessionVariables {
    pub sql_mode: SqlMode,
    pub autocommit: bool,
    /// `transaction_isolation` of the transactions to come.
    pub isolation: IsolationLevel,
    /// `transaction_read_only` of the transactions to come.
    pub read_only: bool,
    pub time_zone: Zone,
    /// `character_set_client`, as the charset's default collation.
    pub character_set_client: CollationId,
    /// `collation_connection`: of literals and of what functions make.
    pub collation_connection: CollationId,
    /// `character_set_results`; `None` is NULL: send as is.
    pub character_set_results: Option<CollationId>,
    /// `innodb_lock_wait_timeout`.
    pub lock_wait_timeout: Duration,
    /// `innodb_rollback_on_timeout`: a lock wait timeout rolls the transaction back, not only the statement.
    pub rollback_on_timeout: bool,
    /// `innodb_snapshot_isolation`: changing a row that has changed since the snapshot is error 1020.
    pub snapshot_isolation: bool,
    /// `lock_wait_timeout`: of metadata locks.
    pub metadata_lock_wait_timeout: Duration,
    /// `max_execution_time`; zero is none.
    pub max_execution_time: Duration,
    pub sql_select_limit: u64,
    /// `max_join_size`, in rows, unless `sql_big_selects` is ON.
    pub max_join_size: Option<u64>,
    pub group_concat_max_len: u64,
    pub max_allowed_packet: u64,
    /// `palisade_statement_memory`, in bytes.
    pub statement_memory: u64,
    /// `connection_memory_limit`, in bytes.
    pub connection_memory_limit: u64,
    /// `connection_memory_chunk_size`, in bytes.
    pub connection_memory_chunk_size: u64,
    /// `global_connection_memory_tracking`.
    pub tracks_connection_memory: bool,
    /// `parser_max_mem_size`, in bytes.
    pub parser_max_mem_size: u64,
    pub div_precision_increment: u8,
    pub auto_increment_increment: u64,
    pub auto_increment_offset: u64,
    pub default_week_format: u8,
    pub sql_safe_updates: bool,
    /// `palisade_substitute_engines`: tables of some other engines are made as InnoDB's.
    pub substitute_engines: bool,
    /// `sql_require_primary_key`: no table is made or changed that has none (3750).
    pub sql_require_primary_key: bool,
    pub sql_auto_is_null: bool,
    pub foreign_key_checks: bool,
    pub unique_checks: bool,
    /// `timestamp`, in microseconds since 1970, if it was set: what NOW() answers.
    pub timestamp_micros: Option<i64>,
    pub max_error_count: usize,
    pub sql_notes: bool,
    pub cte_max_recursion_depth: u64,
    /// `completion_type`: what COMMIT and ROLLBACK do that do not say.
    pub completion: CompletionType,
    /// `profiling`.
    pub profiling: bool,
    pub profiling_history_size: usize,
}

/// `completion_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the value")]
pub enum CompletionType {
    NoChain,
    Chain,
    Release,
}

impl Default for SessionVariables {
    fn default() -> Self {
        SessionVariables {
            sql_mode: SqlMode::default(),
            autocommit: true,
            isolation: IsolationLevel::RepeatableRead,
            read_only: false,
            time_zone: Zone::UTC,
            character_set_client: CollationId::UTF8MB4_0900_AI_CI,
            collation_connection: CollationId::UTF8MB4_0900_AI_CI,
            character_set_results: Some(CollationId::UTF8MB4_0900_AI_CI),
            lock_wait_timeout: Duration::from_secs(50),
            rollback_on_timeout: false,
            snapshot_isolation: false,
            metadata_lock_wait_timeout: Duration::from_secs(31_536_000),
            max_execution_time: Duration::ZERO,
            sql_select_limit: u64::MAX,
            max_join_size: None,
            group_concat_max_len: 1024,
            max_allowed_packet: 64 << 20,
            statement_memory: 1 << 30,
            connection_memory_limit: u64::MAX,
            connection_memory_chunk_size: 8192,
            tracks_connection_memory: false,
            parser_max_mem_size: u64::MAX,
            div_precision_increment: 4,
            auto_increment_increment: 1,
            auto_increment_offset: 1,
            default_week_format: 0,
            sql_safe_updates: false,
            substitute_engines: true,
            sql_require_primary_key: false,
            sql_auto_is_null: false,
            foreign_key_checks: true,
            unique_checks: true,
            timestamp_micros: None,
            max_error_count: 1024,
            sql_notes: true,
            cte_max_recursion_depth: 1000,
            completion: CompletionType::NoChain,
            profiling: false,
            profiling_history_size: 15,
        }
    }
}

/// What was asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Killed {
    /// Nothing.
    No,
    /// The running statement: 1317.
    Statement,
    /// The connection: 1317, and the server closes it.
    Connection,
}

/// The flag by which another session ends this one or its statement; shared with the server.
#[derive(Debug, Clone, Default)]
pub struct KillFlag(Arc<AtomicU8>);

impl KillFlag {
    /// What was asked.
    pub fn get(&self) -> Killed {
        match self.0.load(Ordering::Acquire) {
            0 => Killed::No,
            1 => Killed::Statement,
            _ => Killed::Connection,
        }
    }

    /// Asks the running statement to end.
    pub fn kill_statement(&self) {
        self.0.fetch_max(1, Ordering::AcqRel);
    }

    /// Asks the connection to end.
    pub fn kill_connection(&self) {
        self.0.store(2, Ordering::Release);
    }

    /// A new statement begins: a request to end the previous one is void.
    pub fn clear_statement(&self) {
        let _ = self.0.compare_exchange(1, 0, Ordering::AcqRel, Ordering::Relaxed);
    }
}

/// A transaction's characteristics set for the next one only (`SET TRANSACTION` without a scope).
#[derive(Debug, Clone, Copy, Default)]
pub struct NextTransaction {
    /// Isolation level, if set.
    pub isolation: Option<IsolationLevel>,
    /// Access mode, if set.
    pub access: Option<AccessMode>,
}

/// Bytes that the user variables of a session, and what was sent ahead of its statements, hold at most. MySQL
/// has no such limit.
pub const KEPT_LIMIT: usize = 256 << 20;

/// One connection's state between statements.
pub struct Session {
    /// `CONNECTION_ID()`.
    pub connection_id: u64,
    /// User name without host: `root`.
    pub user: String,
    /// The client's host: `localhost`.
    pub client_host: String,
    /// `CURRENT_USER()`: the account, `root@localhost`.
    pub account: String,
    /// Whether the account may not do everything: the host is asked for each statement.
    pub restricted: bool,
    /// The default database.
    pub database: Option<String>,
    /// System variables that statements read.
    pub variables: SessionVariables,
    /// Every system variable's session value; the host's, which keeps `variables` in step.
    pub settings: SessionSettings,
    /// What the variables are again once the statement that is being executed has ended.
    pub(crate) before_hints: Option<Box<crate::hints::BeforeHints>>,
    /// System variables that were set, for the host: it tells clients that want to know.
    pub changed_settings: Vec<palisade_base::sysvar::VariableId>,
    /// Whether a text may hold several statements (CLIENT_MULTI_STATEMENTS); else what follows the first is a 1064.
    pub multi_statements: bool,
    /// User variables, by lower-case name. [`set_user_variable`](Session::set_user_variable) keeps count of
    /// what they hold.
    pub user_variables: HashMap<String, UserVariable>,
    /// What its statement and what it keeps hold in memory.
    pub memory: Memory,
    /// Conditions of the last statement.
    pub warnings: Warnings,
    /// The open transaction, if any.
    pub transaction: Option<Transaction>,
    /// Whether `transaction` is open: begun and not ended.
    pub active: bool,
    /// Whether the open transaction outlives its statement.
    pub in_transaction: bool,
    /// For the next transaction only.
    pub next_transaction: NextTransaction,
    /// `LAST_INSERT_ID()`.
    pub last_insert_id: u64,
    /// `insert_id`: the next AUTO_INCREMENT value to give, if it was set.
    pub insert_id: Option<u64>,
    /// `ROW_COUNT()`.
    pub row_count: i64,
    /// `FOUND_ROWS()`.
    pub found_rows: u64,
    /// Affected rows count found rows, not changed ones (CLIENT_FOUND_ROWS).
    pub client_found_rows: bool,
    /// By which others end it.
    pub kill: KillFlag,
    /// Statements prepared by PREPARE, by lower-case name.
    pub prepared: HashMap<String, NamedStatement>,
    /// Named savepoints of the open transaction, oldest first.
    pub savepoints: Vec<(String, palisade_engine::Savepoint)>,
    /// State of RAND() without a seed.
    pub random: palisade_base::prng::Prng,
    /// The statements that it shares with the other sessions of its worker; its own if nobody gave it others.
    pub plans: Arc<crate::plans::Plans>,
    /// Memory for telling which plan a text has.
    pub(crate) plan_key: palisade_parser::digest::PlanKey,
    /// The parameters of the statement that runs are constants of its text: errors show them.
    pub(crate) constants_are_parameters: bool,
    /// Memory of the short path.
    pub(crate) point_buffers: crate::plan::point::PointBuffers,
    /// The XA transaction it works in.
    pub(crate) xa: Option<Box<crate::xa::Branch>>,
    /// What it has locked across transactions, if anything.
    pub(crate) locks: Option<Box<crate::locks::SessionLocks>>,
    /// What its statements have done.
    pub work: WorkDone,
    /// How many statements and commands of each kind it has executed.
    pub commands: CommandCounts,
    /// How long the stages of its last statements took, if it was ever asked to note that.
    pub(crate) profiles: Option<Box<crate::profile::Profiles>>,
    /// See [`gives_way`](Self::gives_way). Only its own task changes it.
    pub(crate) planning_gives_way: AtomicBool,
}

/// A statement that PREPARE has given a name.
pub struct NamedStatement {
    /// Shared with the sessions that prepared the same text.
    pub prepared: Arc<crate::Prepared>,
    /// Its part of the server's prepared statements.
    pub counted: Counted,
    /// Bytes that the session [keeps](crate::memory::Memory::keep) for it.
    pub kept: usize,
}

/// A user variable: its value, and the type that says what its bytes are.
#[derive(Debug, Clone, PartialEq)]
pub struct UserVariable {
    /// Its value.
    pub value: Value,
    /// Its type.
    pub ty: SqlType,
}

impl UserVariable {
    /// Bytes that a variable of that name takes, about.
    fn size(&self, name: &str) -> usize {
        let value = match &self.value {
            Value::Bytes(bytes) => bytes.len(),
            _ => 0,
        };
        std::mem::size_of::<UserVariable>() + name.len() + value
    }
}

impl Session {
    /// A fresh session. `seed` starts RAND().
    pub fn new(
        connection_id: u64,
        user: &str,
        client_host: &str,
        variables: SessionVariables,
        seed: u64,
    ) -> Self {
        Session {
            connection_id,
            user: user.to_owned(),
            client_host: client_host.to_owned(),
            account: format!("{user}@{client_host}"),
            restricted: false,
            database: None,
            variables,
            settings: SessionSettings::default(),
            before_hints: None,
            changed_settings: Vec::new(),
            multi_statements: false,
            user_variables: HashMap::new(),
            memory: Memory::default(),
            warnings: Warnings::default(),
            transaction: None,
            active: false,
            in_transaction: false,
            next_transaction: NextTransaction::default(),
            last_insert_id: 0,
            insert_id: None,
            row_count: 0,
            found_rows: 0,
            client_found_rows: false,
            kill: KillFlag::default(),
            prepared: HashMap::new(),
            savepoints: Vec::new(),
            random: palisade_base::prng::Prng::new(seed),
            plans: Default::default(),
            plan_key: Default::default(),
            constants_are_parameters: false,
            point_buffers: Default::default(),
            xa: None,
            locks: None,
            work: WorkDone::default(),
            commands: CommandCounts::default(),
            profiles: None,
            planning_gives_way: AtomicBool::new(false),
        }
    }

    /// Whether it is one of the server's own, without a connection.
    pub fn is_internal(&self) -> bool {
        self.connection_id == 0
    }

    /// Gives a user variable a value; 1037, and the variable stays as it is, if all of them would hold more
    /// than
    /// [`KEPT_LIMIT`], or 1041 if those of all sessions do too much.
    pub fn set_user_variable(&mut self, name: &str, variable: UserVariable) -> Result<(), crate::SqlError> {
        let before = self.user_variables.get(name).map_or(0, |known| known.size(name));
        let needed = variable.size(name);
        match needed.checked_sub(before) {
            Some(more) => self.memory.keep(more, KEPT_LIMIT)?,
            None => self.memory.let_go(before - needed),
        }
        match self.user_variables.get_mut(name) {
            Some(place) => *place = variable,
            None => drop(self.user_variables.insert(name.to_owned(), variable)),
        }
        Ok(())
    }

    /// A statement that it has prepared stays with it. Gives the bytes that it [keeps](Memory::keep) for it;
    /// 1037 if these are too many.
    pub fn keep_prepared(&mut self, prepared: &crate::Prepared) -> Result<usize, crate::SqlError> {
        let weight = prepared.own_weight();
        if weight > 0 {
            self.memory.keep(weight, KEPT_LIMIT)?;
        }
        Ok(weight)
    }

    /// Fails if its statement is to end, because it was killed or holds too much memory; in the latter case
    /// the connection may have to end too.
    pub(crate) fn check_statement(&self, host: &dyn Host) -> Result<(), crate::SqlError> {
        if self.kill.get() != Killed::No {
            return Err(palisade_base::mysql_error!(ER_QUERY_INTERRUPTED));
        }
        match self.memory.check(&self.variables) {
            Ok(()) => Ok(()),
            Err(TooMuch::Connection(_)) if host.may_hold_more(self) => Ok(()),
            Err(TooMuch::Connection(error)) => {
                self.kill.kill_connection();
                Err(error)
            }
            Err(TooMuch::Statement(error)) => Err(error),
        }
    }

    /// Whether the planning that has failed only gives way: it is to be done again after a pause.
    pub(crate) fn gives_way(&self) -> bool {
        self.planning_gives_way.load(Ordering::Relaxed)
    }

    /// The same, and it is no longer so.
    pub(crate) fn takes_giving_way(&self) -> bool {
        self.gives_way() && self.planning_gives_way.swap(false, Ordering::Relaxed)
    }

    /// For the session its transaction has ended. False if none was begun, so that there is nothing to end.
    pub(crate) fn leave_transaction(&mut self) -> bool {
        self.savepoints.clear();
        self.next_transaction = NextTransaction::default();
        self.in_transaction = false;
        std::mem::take(&mut self.active)
    }

    /// Isolation level and access mode of the transaction that it would open now.
    pub(crate) fn characteristics_to_come(&self) -> (IsolationLevel, AccessMode) {
        let usual = if self.variables.read_only { AccessMode::ReadOnly } else { AccessMode::ReadWrite };
        let NextTransaction { isolation, access } = self.next_transaction;
        (isolation.unwrap_or(self.variables.isolation), access.unwrap_or(usual))
    }

    /// 1792 for what changes something, whether it would find anything to change or not, if the transaction that is open or
    /// would be opened is READ ONLY.
    pub(crate) fn check_writable(&self) -> Result<(), crate::SqlError> {
        let access = match &self.transaction {
            Some(transaction) if self.active => transaction.access(),
            _ => self.characteristics_to_come().1,
        };
        match access {
            AccessMode::ReadWrite => Ok(()),
            AccessMode::ReadOnly => {
                Err(palisade_base::mysql_error!(ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION))
            }
        }
    }

    /// The object that its transactions live in; a fresh one has these characteristics.
    pub(crate) fn transaction_buffers(
        &mut self,
        engine: &Arc<Engine>,
        isolation: IsolationLevel,
        access: AccessMode,
    ) -> &mut Transaction {
        let owner = self.connection_id;
        self.transaction.get_or_insert_with(|| {
            let mut transaction = engine.begin(isolation, access);
            transaction.set_owner(owner);
            transaction
        })
    }

    /// Opens its next transaction; none must be open.
    pub(crate) fn start_transaction(
        &mut self,
        engine: &Arc<Engine>,
        isolation: IsolationLevel,
        access: AccessMode,
    ) -> &mut Transaction {
        self.active = true;
        let transaction = self.transaction_buffers(engine, isolation, access);
        transaction.restart(isolation, access);
        transaction
    }
}
