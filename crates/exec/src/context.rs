//! What an operator sees: the storage engine, the statement's transaction and plan, and what the evaluation
//! of its expressions needs, which it lends.
//!
//! ```text
//! ExecContext ─ session    what of the session expressions see      ─┐
//!             ├ parameters values of the `?`                         ├─ lent to an evaluation: Context
//!             ├ state      rows, notes and clock of the statement   ─┘
//!             └ execution  engine, transaction, plan, subqueries    ── lent as a `dyn Subqueries`
//! ```
//!
//! An expression with a subquery comes back through [`Subqueries`]: the execution makes an `ExecContext`
//! again, of what the evaluation has and of itself. So nothing is borrowed twice, and no expression can reach
//! a transaction.

use std::sync::{Arc, Weak};

use palisade_catalog::Value;
use palisade_engine::{Engine, Transaction};
use palisade_expr::context::{AtHand, StatementState, Subqueries};
use palisade_expr::session_state::SessionState;
use palisade_expr::{Context, SqlAttempt, SqlError, SqlResult, Subquery};
use palisade_plan::Plan;
use palisade_plan::parallel::DividedFrom;
use palisade_plan::shown::Running;
use palisade_session::command::CommandCounts;
use palisade_session::environment::{Awaited, Environment};
use palisade_session::profile::Profiles;
use palisade_session::view::SessionView;
use palisade_session::virtual_tables::{DictionaryTables, RowSource};
use palisade_session::work::WorkDone;

use super::spill::list::RowList;
use super::{SubqueryState, subquery};

/// What the operators of one statement need beside what its expressions see.
pub struct Execution<'a> {
    /// The server.
    pub host: &'a dyn Environment,
    /// The virtual tables that tell of the dictionary.
    pub dictionary_tables: &'a dyn DictionaryTables,
    /// The engine.
    pub engine: &'a Arc<Engine>,
    /// The session's transaction.
    pub transaction: &'a mut Option<Transaction>,
    /// What the session's statements have done.
    pub work: &'a mut WorkDone,
    commands: &'a CommandCounts,
    profiles: &'a mut Option<Box<Profiles>>,
    /// Affected rows count found rows, not changed ones.
    pub counts_found_rows: bool,
    /// The statement's plan, with the plans of its subqueries.
    pub plan: Option<Arc<Plan>>,
    /// The same for other sessions to look at, once it has [waited](ExecContext::show_plan).
    shown: Option<Arc<Running>>,
    /// States of the subqueries in expressions, by number.
    pub subqueries: Vec<SubqueryState>,
    /// It is a [part](crate::parallel) of a statement.
    pub(crate) part: Option<InPart>,
    /// Working tables of recursive queries, by number: the rows of the last round.
    pub working: Vec<RowList>,
}

/// What is different where a [part](crate::parallel) of a statement is executed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InPart {
    /// Another part counts what making the hash tables of joins does and warns of: the statement does it
    /// once, as far as can be seen.
    pub hides_tables: bool,
    /// An operator has not got enough memory.
    pub has_overflowed: bool,
}

impl<'a> Execution<'a> {
    /// An operator is about to put rows off for which it has no memory. A part does not, because which rows
    /// these are is chance: the statement begins anew, alone.
    pub(crate) fn check_may_put_off(&mut self) -> SqlResult<()> {
        match &mut self.part {
            None => Ok(()),
            Some(part) => {
                part.has_overflowed = true;
                Err(SqlError::internal("a part of a grouping has no memory for its rows"))
            }
        }
    }

    /// Of a [part](crate::parallel) of a statement that runs beside it.
    pub(crate) fn of_part(
        (host, dictionary_tables, engine): (&'a dyn Environment, &'a dyn DictionaryTables, &'a Arc<Engine>),
        transaction: &'a mut Option<Transaction>,
        (work, commands, profiles): (&'a mut WorkDone, &'a CommandCounts, &'a mut Option<Box<Profiles>>),
        plan: Arc<Plan>,
        part: InPart,
    ) -> Self {
        Execution {
            host,
            dictionary_tables,
            engine,
            transaction,
            work,
            commands,
            profiles,
            counts_found_rows: false,
            plan: Some(plan),
            shown: None,
            subqueries: Vec::new(),
            part: Some(part),
            working: Vec::new(),
        }
    }
}

impl Subqueries for Execution<'_> {
    fn value(
        &mut self,
        session: &mut SessionState,
        parameters: &[Value],
        state: &mut StatementState,
        subquery: &Subquery,
    ) -> SqlAttempt<Value> {
        subquery::evaluate(&mut ExecContext { session, parameters, state, execution: self }, subquery)
    }
}

/// A statement that is being executed.
pub struct StatementContext<'a> {
    session: &'a mut SessionState,
    parameters: &'a [Value],
    state: StatementState,
    execution: Execution<'a>,
}

/// What executing a statement takes of a session.
pub struct ExecutingSession<'a> {
    /// What its expressions see.
    pub state: &'a mut SessionState,
    /// Its transaction.
    pub transaction: &'a mut Option<Transaction>,
    /// What its statements have done.
    pub work: &'a mut WorkDone,
    /// How many statements and commands of each kind it has executed.
    pub commands: &'a CommandCounts,
    /// How long the stages of its last statements took.
    pub profiles: &'a mut Option<Box<Profiles>>,
    /// Affected rows count found rows, not changed ones.
    pub counts_found_rows: bool,
}

impl<'a> StatementContext<'a> {
    /// Of a statement that begins now.
    pub fn new(
        session: ExecutingSession<'a>,
        host: &'a dyn Environment,
        dictionary_tables: &'a dyn DictionaryTables,
        engine: &'a Arc<Engine>,
        parameters: &'a [Value],
        plan: Option<Arc<Plan>>,
    ) -> Self {
        let ExecutingSession { state: session, transaction, work, commands, profiles, counts_found_rows } =
            session;
        let (slots, subqueries, has_effects) = match &plan {
            Some(plan) => (plan.slots, plan.subqueries.len(), plan.has_effects),
            None => (0, 0, false),
        };
        StatementContext {
            state: StatementState::new(session, host, slots, has_effects),
            session,
            parameters,
            execution: Execution {
                host,
                dictionary_tables,
                engine,
                transaction,
                work,
                commands,
                profiles,
                counts_found_rows,
                plan,
                shown: None,
                subqueries: (0..subqueries).map(|_| SubqueryState::default()).collect(),
                part: None,
                working: Vec::new(),
            },
        }
    }

    /// The view of it that its operators are given.
    #[inline]
    pub fn view(&mut self) -> ExecContext<'_, 'a> {
        let StatementContext { session, parameters, state, execution } = self;
        ExecContext { session, parameters, state, execution }
    }
}

/// What an operator sees.
pub struct ExecContext<'x, 'a> {
    /// The session, as far as expressions see it.
    pub session: &'x mut SessionState,
    /// Values of the `?`.
    pub parameters: &'x [Value],
    /// What the evaluations of the statement share.
    pub state: &'x mut StatementState,
    /// The rest.
    pub execution: &'x mut Execution<'a>,
}

impl<'a> ExecContext<'_, 'a> {
    /// What an expression sees.
    #[inline]
    pub fn lend(&mut self) -> Context<'_> {
        Context {
            session: self.session,
            host: self.execution.host,
            parameters: self.parameters,
            state: self.state,
            subqueries: self.execution,
        }
    }

    /// Where values are that can be borrowed.
    #[inline]
    pub fn at_hand(&self) -> AtHand<'_> {
        AtHand { parameters: self.parameters, frame: &self.state.frame }
    }

    /// What virtual tables may tell of the session.
    pub fn session_view(&self) -> SessionView<'_> {
        let Execution { work, commands, profiles, .. } = &*self.execution;
        SessionView { state: self.session, work, commands, profiles: profiles.as_deref() }
    }

    /// What the rows of virtual tables are made from.
    pub fn row_source(&self) -> RowSource<'_> {
        let Execution { engine, host, .. } = &*self.execution;
        RowSource { engine, host: *host, session: self.session_view() }
    }

    /// The open transaction.
    #[expect(clippy::expect_used, reason = "`run` begins one before it runs a statement that touches rows")]
    pub fn transaction(&mut self) -> &mut Transaction {
        self.execution.transaction.as_mut().expect("a statement that touches rows has a transaction")
    }

    /// What is done again as a whole if it has to wait.
    #[inline]
    pub fn step<T>(&mut self, work: impl FnOnce(&mut Self) -> SqlAttempt<T>) -> SqlAttempt<T> {
        let step = self.lend().begin_step();
        let result = work(self);
        self.lend().end_step(step, result)
    }

    /// The same, of expressions alone.
    #[inline]
    pub fn evaluate<T>(&mut self, work: impl FnOnce(&mut Context<'_>) -> SqlAttempt<T>) -> SqlAttempt<T> {
        self.lend().step(work)
    }

    /// See [`Context::in_one_go`].
    #[inline]
    pub fn in_one_go<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.state.begin_one_go();
        let result = work(self);
        self.state.end_one_go(before);
        result
    }

    /// What of it a wait touches.
    pub fn waiter(&mut self) -> Waiter<'_> {
        let Execution { host, transaction, work, profiles, .. } = &mut *self.execution;
        Waiter { session: self.session, host: *host, transaction, work, profiles }
    }

    /// Lets other sessions look at the plan from now on until the statement has ended. What waits or gives
    /// way calls this first: a statement that does neither is over before it could be looked at.
    pub fn show_plan(&mut self) {
        let Execution { shown: shown @ None, plan: Some(plan), host, .. } = &mut *self.execution else {
            return;
        };
        let divided_from = DividedFrom::new(&self.session.variables, host.threads_beside());
        let (plan, parameters) = (plan.clone(), self.parameters.to_vec());
        let running = Arc::new(Running { plan, parameters, divided_from });
        let weak: Weak<Running> = Arc::downgrade(&running);
        host.show_plan(self.session.connection_id, weak);
        *shown = Some(running);
    }

    /// What the statement waits for by a time of its own, and until when.
    pub fn own_wait(&self) -> Option<(Awaited, i64)> {
        let sleep = self.state.sleep.map(|sleep| (Awaited::Time, sleep.until));
        let named = || self.state.named_wait.as_ref().map(|named| (Awaited::NamedLock, named.until));
        sleep.or_else(named)
    }

    /// One more row was handled: fails if the statement was killed. True if it should yield.
    #[inline]
    pub fn spend(&mut self) -> SqlResult<bool> {
        self.lend().spend_many(1)
    }

    /// So many rows were handled: fails if the statement was killed, and asks to wait where others are to
    /// have their turn. The operator is called again then, and goes on where it was.
    #[inline]
    pub fn take_turns(&mut self, rows: u32) -> SqlAttempt<()> {
        self.lend().take_turns(rows)
    }
}

/// What of a session a wait touches.
pub struct Waiter<'a> {
    /// The session, as far as expressions see it.
    pub session: &'a SessionState,
    /// The server.
    pub host: &'a dyn Environment,
    /// The session's transaction.
    pub transaction: &'a mut Option<Transaction>,
    /// What its statements have done.
    pub work: &'a mut WorkDone,
    /// How long the stages of its last statements took.
    pub profiles: &'a mut Option<Box<Profiles>>,
}
