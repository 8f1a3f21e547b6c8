//! What one connection's statements see and leave behind, and the statements that are about it.
//!
//! | module | what it holds |
//! |---|---|
//! | here | [`Session`]: the state between statements |
//! | `transaction` | START TRANSACTION, COMMIT, ROLLBACK, savepoints, SET TRANSACTION |
//! | `set` | SET |
//! | `prepare` | PREPARE, EXECUTE and DEALLOCATE PREPARE |
//! | `profile` | how long the stages of statements take |

mod optimizer_trace;
mod prepare;
mod profile;
mod set;
mod transaction;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use palisade_base::error_catalogue::ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION;
use palisade_base::mysql_error;
use palisade_catalog::Value;
use palisade_engine::{AccessMode, Dictionary, Engine, IsolationLevel, Transaction};
use palisade_exec::{ExecutingSession, StatementContext, Waiter};
use palisade_observe::transaction::{Isolation, Outcome, Trace, Traits};
use palisade_plan::Plan;
use palisade_plan::bind::{Binder, BindingSession};
use palisade_session::command::CommandCounts;
use palisade_session::prepared_count::Counted;
use palisade_session::view::SessionView;
use palisade_session::work::WorkDone;

use crate::show::information_schema::InformationSchema;
use crate::{Host, SqlResult};

pub use palisade_expr::session_state::{
    Authority, KEPT_LIMIT, KillFlag, Killed, SecurityContext, SessionState, UserVariable, UserVariables,
};
pub use palisade_expr::session_variables::{CompletionType, ExplainVariable, SessionVariables};

/// A transaction's characteristics set for the next one only (`SET TRANSACTION` without a scope).
#[derive(Debug, Clone, Copy, Default)]
pub struct NextTransaction {
    /// Isolation level, if set.
    pub isolation: Option<IsolationLevel>,
    /// Access mode, if set.
    pub access: Option<AccessMode>,
}

/// One connection's state between statements.
pub struct Session {
    /// What its expressions see and leave behind.
    pub state: SessionState,
    /// What the variables are again once the statement that is being executed has ended.
    pub(crate) before_hints: Option<Box<crate::hints::BeforeHints>>,
    /// What the hints of that statement say of its query blocks.
    pub(crate) block_hints: Option<palisade_plan::bind::hints::StatementHints>,
    /// The text of the statement that it executes, if that is not kept and there are bindings.
    pub(crate) own_text: Option<Box<[u8]>>,
    /// System variables that were set, for the host: it tells clients that want to know.
    pub changed_settings: Vec<palisade_base::sysvar::VariableId>,
    /// Whether a text may hold several statements (CLIENT_MULTI_STATEMENTS); else what follows the first is a
    /// 1064.
    pub multi_statements: bool,
    /// The open transaction, if any.
    pub transaction: Option<Transaction>,
    /// Whether `transaction` is open: begun and not ended.
    pub active: bool,
    /// Whether the open transaction outlives its statement.
    pub in_transaction: bool,
    /// For the next transaction only.
    pub next_transaction: NextTransaction,
    /// Affected rows count found rows, not changed ones (CLIENT_FOUND_ROWS).
    pub client_found_rows: bool,
    /// Statements prepared by PREPARE, by lower-case name.
    pub prepared: HashMap<String, NamedStatement>,
    /// Named savepoints of the open transaction, oldest first.
    pub savepoints: Vec<(String, palisade_engine::Savepoint)>,
    /// The statements that it shares with the other sessions of its worker; its own if nobody gave it others.
    pub plans: Arc<crate::plan_cache::PlanCache>,
    /// Memory for telling which plan a text has.
    pub(crate) plan_key: palisade_parser::digest::PlanKey,
    /// Memory of the short path.
    pub(crate) point_buffers: crate::point::PointBuffers,
    /// The XA transaction it works in.
    pub(crate) xa: Option<Box<crate::xa::Branch>>,
    /// What it has locked across transactions, if anything.
    pub(crate) locks: Option<Box<palisade_session::locked_tables::SessionLocks>>,
    /// Its temporary tables, if it has any.
    pub(crate) temporary: Option<Box<crate::temporary::SessionTables>>,
    /// What its open transaction has done to them that ROLLBACK does not undo.
    pub(crate) temporary_changes: crate::temporary::TemporaryChanges,
    /// What its statements have done.
    pub work: WorkDone,
    /// What it notes of its transactions, for the server, which takes that when a statement has ended.
    pub trace: Trace,
    /// How many statements and commands of each kind it has executed.
    pub commands: CommandCounts,
    /// What it has executed last, if that was sent as text and is kept: for the server, which takes it.
    pub executed: Option<Arc<crate::Prepared>>,
    /// The prepared statement that it has executed last by its name, as the server knows it, and what its
    /// plan relies on: for the server, which takes it.
    pub executed_named: (u32, u64),
    /// The number of the statement that it has prepared last.
    pub last_prepared: u32,
    /// What was decided for the statement that is being executed.
    pub(crate) decided: Option<Box<palisade_plan::decisions::Decided>>,
    /// The stages of its statements are noted although `profiling` is off, for the server.
    pub notes_stages: bool,
    /// How long the stages of its last statements took, if it was ever asked to note that.
    pub(crate) profiles: Option<Box<palisade_session::profile::Profiles>>,
    /// See [`gives_way`](Self::gives_way). Only its own task changes it.
    pub(crate) planning_gives_way: AtomicBool,
}

/// A statement that PREPARE has given a name.
pub struct NamedStatement {
    /// Shared with the sessions that prepared the same text.
    pub prepared: Arc<crate::Prepared>,
    /// Its part of the server's prepared statements.
    pub counted: Counted,
    /// Bytes that the session [keeps](palisade_expr::memory::Memory::keep) for it.
    pub kept: usize,
    /// By which the server knows it.
    pub(crate) followed_as: u32,
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
            state: SessionState::new(connection_id, user, client_host, variables, seed),
            before_hints: None,
            block_hints: None,
            own_text: None,
            changed_settings: Vec::new(),
            multi_statements: false,
            transaction: None,
            active: false,
            in_transaction: false,
            next_transaction: NextTransaction::default(),
            client_found_rows: false,
            prepared: HashMap::new(),
            savepoints: Vec::new(),
            plans: Default::default(),
            plan_key: Default::default(),
            point_buffers: Default::default(),
            xa: None,
            locks: None,
            temporary: None,
            temporary_changes: Default::default(),
            work: WorkDone::default(),
            trace: Trace::default(),
            commands: CommandCounts::default(),
            executed: None,
            executed_named: (0, 0),
            last_prepared: 0,
            decided: None,
            notes_stages: false,
            profiles: None,
            planning_gives_way: AtomicBool::new(false),
        }
    }

    /// What binding takes of it.
    pub(crate) fn binding(&self) -> BindingSession<'_> {
        let locks = self.locks.as_deref();
        let hints = self.block_hints.as_ref();
        BindingSession { view: self.view(), locks, gives_way: &self.planning_gives_way, hints }
    }

    /// A binder of one of its statements.
    pub(crate) fn binder<'a>(
        &'a self,
        host: &'a dyn Host,
        engine: &'a Arc<Engine>,
        dictionary: &'a Dictionary,
        parameters: &'a [Value],
    ) -> Binder<'a> {
        let mut binder =
            Binder::new(self.binding(), host, &InformationSchema, engine, dictionary, parameters);
        if self.state.variables.traces_optimizer {
            binder.decisions = Some(self.decisions());
        }
        binder
    }

    /// One of its statements, which begins to be executed.
    pub(crate) fn context<'a>(
        &'a mut self,
        host: &'a dyn Host,
        engine: &'a Arc<Engine>,
        parameters: &'a [Value],
        plan: Option<Arc<Plan>>,
    ) -> StatementContext<'a> {
        let Session { state, transaction, work, commands, profiles, client_found_rows, .. } = self;
        let counts_found_rows = *client_found_rows;
        let session = ExecutingSession { state, transaction, work, commands, profiles, counts_found_rows };
        StatementContext::new(session, host, &InformationSchema, engine, parameters, plan)
    }

    /// What of it a wait touches, between two statements or in one that has no [context](Self::context).
    pub(crate) fn waiter<'a>(&'a mut self, host: &'a dyn Host) -> Waiter<'a> {
        let Session { state, transaction, work, profiles, .. } = self;
        Waiter { session: state, host, transaction, work, profiles }
    }

    /// What may be told of it.
    pub fn view(&self) -> SessionView<'_> {
        let Session { state, work, commands, profiles, .. } = self;
        SessionView { state, work, commands, profiles: profiles.as_deref() }
    }

    /// A statement that it has prepared stays with it. Gives the bytes that it
    /// [keeps](palisade_expr::memory::Memory::keep) for it; 1037 if these are too many.
    pub fn keep_prepared(&mut self, prepared: &crate::Prepared) -> SqlResult<usize> {
        let weight = prepared.own_weight();
        if weight > 0 {
            self.state.memory.keep(weight, KEPT_LIMIT)?;
        }
        Ok(weight)
    }

    /// Whether the planning that has failed only gives way: it is to be done again after a pause.
    pub(crate) fn gives_way(&self) -> bool {
        self.planning_gives_way.load(Ordering::Relaxed)
    }

    /// The same, and it is no longer so.
    pub(crate) fn takes_giving_way(&self) -> bool {
        self.gives_way() && self.planning_gives_way.swap(false, Ordering::Relaxed)
    }

    /// For the session its transaction has ended so. False if none was begun: there is nothing to end.
    pub(crate) fn leave_transaction(&mut self, outcome: Outcome) -> bool {
        let Session { trace, transaction, .. } = self;
        trace.end(outcome, || transaction.as_ref().map_or(0, Transaction::shown_number));
        if !self.savepoints.is_empty() {
            self.savepoints.clear();
        }
        self.temporary_changes = Default::default();
        self.next_transaction = NextTransaction::default();
        self.in_transaction = false;
        std::mem::take(&mut self.active)
    }

    /// Isolation level and access mode of the transaction that it would open now.
    pub(crate) fn characteristics_to_come(&self) -> (IsolationLevel, AccessMode) {
        let usual = if self.state.variables.read_only { AccessMode::ReadOnly } else { AccessMode::ReadWrite };
        let NextTransaction { isolation, access } = self.next_transaction;
        (isolation.unwrap_or(self.state.variables.isolation), access.unwrap_or(usual))
    }

    /// 1792 for what changes something, whether it would find anything to change or not, if the transaction
    /// that is open or would be opened is READ ONLY.
    pub(crate) fn check_writable(&self) -> SqlResult<()> {
        let access = match &self.transaction {
            Some(transaction) if self.active => transaction.access(),
            _ => self.characteristics_to_come().1,
        };
        match access {
            AccessMode::ReadWrite => Ok(()),
            AccessMode::ReadOnly => Err(mysql_error!(ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION)),
        }
    }

    /// The object that its transactions live in; a fresh one has these characteristics.
    pub(crate) fn transaction_buffers(
        &mut self,
        engine: &Arc<Engine>,
        isolation: IsolationLevel,
        access: AccessMode,
    ) -> &mut Transaction {
        let owner = self.state.connection_id;
        self.transaction.get_or_insert_with(|| {
            let mut transaction = engine.begin(isolation, access);
            transaction.set_owner(owner);
            transaction
        })
    }

    /// Opens its next transaction, of a single statement unless it [outlives](Trace::outlives_statement) it;
    /// none must be open.
    pub(crate) fn start_transaction(
        &mut self,
        engine: &Arc<Engine>,
        isolation: IsolationLevel,
        access: AccessMode,
    ) -> &mut Transaction {
        self.active = true;
        self.trace.begin(Traits {
            isolation: match isolation {
                IsolationLevel::ReadUncommitted => Isolation::ReadUncommitted,
                IsolationLevel::ReadCommitted => Isolation::ReadCommitted,
                IsolationLevel::RepeatableRead => Isolation::RepeatableRead,
                IsolationLevel::Serializable => Isolation::Serializable,
            },
            is_read_only: access == AccessMode::ReadOnly,
            is_single_statement: true,
        });
        let transaction = self.transaction_buffers(engine, isolation, access);
        transaction.restart(isolation, access);
        transaction
    }
}
