//! What of a session its expressions see and leave behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use palisade_base::error_catalogue::{ER_OUTOFMEMORY, ER_QUERY_INTERRUPTED};
use palisade_base::mysql_error;
use palisade_base::prng::Prng;
use palisade_base::sysvar::SessionSettings;

use crate::SqlResult;
use crate::memory::{Memory, TooMuch};
use crate::optimizer_trace::OptimizerTraces;
use crate::services::Services;
use crate::session_variables::SessionVariables;
use crate::warning::Warnings;

pub use crate::user_variables::{UserVariable, UserVariables};

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

/// Bytes that the user variables of a session, and what was sent ahead of its statements, hold at most. MySQL
/// has no such limit.
pub const KEPT_LIMIT: usize = 256 << 20;

/// What the statements of a session may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authority {
    /// They are the server's own. Privileges are not about them, nor `read_only`, nor what protects the
    /// tables of the logs.
    Internal,
    /// Everything, as the account may.
    Unrestricted,
    /// What the account's privileges allow.
    Restricted,
}

/// On whose behalf the statements of a session run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityContext {
    /// `CURRENT_USER()`: the account, `root@localhost`.
    pub account: String,
    /// What the statements may do.
    pub authority: Authority,
}

impl SecurityContext {
    /// User and host of the server's own statements, as MySQL names them.
    pub const INTERNAL: (&str, &str) = ("mysql.session", "localhost");

    /// Of an account.
    pub fn of_account(account: String, authority: Authority) -> SecurityContext {
        SecurityContext { account, authority }
    }

    /// Of the server's own statements.
    pub fn internal() -> SecurityContext {
        let (user, host) = SecurityContext::INTERNAL;
        SecurityContext { account: format!("{user}@{host}"), authority: Authority::Internal }
    }
}

/// What of a session the evaluation of an expression reads or changes; the rest of a session - its
/// transaction, what it has prepared, what it has counted - is out of an expression's reach.
pub struct SessionState {
    /// `CONNECTION_ID()`.
    pub connection_id: u64,
    /// User name without host: `root`.
    pub user: String,
    /// The client's host: `localhost`.
    pub client_host: String,
    /// On whose behalf its statements run.
    pub security: SecurityContext,
    /// The default database.
    pub database: Option<String>,
    /// System variables that statements read.
    pub variables: SessionVariables,
    /// What the planner has decided for its last statements, once it was asked to record that.
    pub optimizer_traces: Option<Box<OptimizerTraces>>,
    /// Every system variable's session value; the host's, which keeps `variables` in step.
    pub settings: SessionSettings,
    /// Its user variables. [`set_user_variable`](Self::set_user_variable) keeps count of what they hold.
    pub user_variables: UserVariables,
    /// What its statement and what it keeps hold in memory.
    pub memory: Memory,
    /// Conditions of the last statement.
    pub warnings: Warnings,
    /// By which others end it.
    pub kill: KillFlag,
    /// `LAST_INSERT_ID()`.
    pub last_insert_id: u64,
    /// `insert_id`: the next AUTO_INCREMENT value to give, if it was set.
    pub insert_id: Option<u64>,
    /// `ROW_COUNT()`.
    pub row_count: i64,
    /// `FOUND_ROWS()`.
    pub found_rows: u64,
    /// State of RAND() without a seed.
    pub random: Prng,
    /// The parameters of the statement that runs are constants of its text: errors show them.
    pub constants_are_parameters: bool,
}

impl SessionState {
    /// Of a fresh session. `seed` starts RAND().
    pub fn new(
        connection_id: u64,
        user: &str,
        client_host: &str,
        variables: SessionVariables,
        seed: u64,
    ) -> Self {
        SessionState {
            connection_id,
            user: user.to_owned(),
            client_host: client_host.to_owned(),
            security: SecurityContext::of_account(format!("{user}@{client_host}"), Authority::Unrestricted),
            database: None,
            variables,
            optimizer_traces: None,
            settings: SessionSettings::default(),
            user_variables: UserVariables::default(),
            memory: Memory::default(),
            warnings: Warnings::default(),
            kill: KillFlag::default(),
            last_insert_id: 0,
            insert_id: None,
            row_count: 0,
            found_rows: 0,
            random: Prng::new(seed),
            constants_are_parameters: false,
        }
    }

    /// Whether the account may not do everything: the host is asked for each statement.
    #[inline]
    pub fn is_restricted(&self) -> bool {
        self.security.authority == Authority::Restricted
    }

    /// Whether its statements are the server's own.
    #[inline]
    pub fn is_internal(&self) -> bool {
        self.security.authority == Authority::Internal
    }

    /// Gives a user variable a value; 1037, and the variable stays as it is, if all of them would hold more
    /// than
    /// [`KEPT_LIMIT`], or 1041 if those of all sessions do too much.
    pub fn set_user_variable(&mut self, name: &str, variable: UserVariable) -> SqlResult<()> {
        let before = self.user_variables.with(name, |known| known.size(name)).unwrap_or(0);
        let needed = variable.size(name);
        match needed.checked_sub(before) {
            Some(more) => self.memory.keep(more, KEPT_LIMIT)?,
            None => self.memory.let_go(before - needed),
        }
        self.user_variables.set(name, variable);
        Ok(())
    }

    /// Fails if its statement is to end, because it was killed or holds too much memory; in the latter case
    /// the connection may have to end too.
    pub fn check_statement(&self, host: &dyn Services) -> SqlResult<()> {
        if self.kill.get() != Killed::No {
            return Err(mysql_error!(ER_QUERY_INTERRUPTED));
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

    /// Bytes of memory that an operator may take before it goes to temporary files, where a variable gives it
    /// `asked` bytes: as many as that, and `palisade_operator_memory` if that is more and the server has
    /// room; but not so many that the statement would be ended for them.
    pub fn operator_memory(&self, asked: u64) -> usize {
        let SessionVariables { operator_memory, statement_memory, connection_memory_limit, .. } =
            self.variables;
        let granted = if self.memory.has_room() { asked.max(operator_memory) } else { asked };
        let most = statement_memory.min(connection_memory_limit) / 2;
        usize::try_from(granted.min(most)).unwrap_or(usize::MAX)
    }

    /// 1037 if an operator alone holds more than its statement may: what is [counted](crate::memory) is
    /// looked at only now and then, and a thousand rows may be a thousand packets.
    #[inline]
    pub fn charge(&self, bytes: usize) -> SqlResult<()> {
        let is_too_much = bytes as u64 > self.variables.statement_memory;
        if is_too_much { Err(mysql_error!(ER_OUTOFMEMORY, bytes)) } else { Ok(()) }
    }
}
