//! Binding and planning that take long: of a list of a million constants, of a join of sixty tables.
//!
//! Both count their work in units of about a nanosecond, as evaluations do ([`palisade_expr::pace`]), and
//! look now and then whether the statement is to end. On a thread that serves other sessions they give way
//! after a millisecond: what has been bound is thrown away, the statement pauses, and binds anew on a thread
//! that serves none.
//!
//! The planner of joins gives plans and no errors. Where the statement is to end it finishes its work without
//! looking for a good order ([`Pace::is_over`]); the error comes when it is done.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};

use palisade_base::error_catalogue::ER_QUERY_INTERRUPTED;
use palisade_base::mysql_error;
use palisade_expr::pace::{LONG, LOOK};
use palisade_expr::session_state::SessionState;
use palisade_expr::{SqlError, SqlResult};
use palisade_session::environment::Environment;

/// What binding an expression counts as, in units.
pub const UNITS_AN_EXPRESSION: usize = 512;
/// What an expression counts as in each further pass of planning over all of them.
const UNITS_A_PASS: usize = 16;
/// Passes over fewer expressions are not counted: they take microseconds.
const MANY_EXPRESSIONS: usize = 1 << 12;
/// What planning how to read a table counts as.
pub const UNITS_AN_ACCESS: usize = 4096;

/// What binding and planning one statement has cost so far, and whether it is to end.
pub struct Pace<'a> {
    /// The statement's session.
    pub session: &'a SessionState,
    /// The server.
    pub host: &'a dyn Environment,
    /// Set where it fails only because it gives way.
    gives_way: &'a AtomicBool,
    /// The caller binds anew after a pause, if this is to be done by a thread that serves no other sessions.
    may_give_way: bool,
    /// Expressions that have been bound.
    expressions: Cell<usize>,
    /// Units since the last look.
    since_look: Cell<usize>,
    /// Units since the host was asked whether it may go on.
    stretch: Cell<usize>,
    /// Why it does not go on.
    failure: RefCell<Option<SqlError>>,
}

impl<'a> Pace<'a> {
    /// That of a statement which begins. It does not give way, unless [`may_give_way`](Self::may_give_way) is
    /// called.
    pub fn new(session: &'a SessionState, host: &'a dyn Environment, gives_way: &'a AtomicBool) -> Pace<'a> {
        Pace {
            session,
            host,
            gives_way,
            may_give_way: false,
            expressions: Cell::default(),
            since_look: Cell::default(),
            stretch: Cell::default(),
            failure: RefCell::default(),
        }
    }

    /// That of a part of the work, whose units are [added](Self::add) to these when it is done.
    pub fn of_part(&self) -> Pace<'a> {
        Pace { may_give_way: self.may_give_way, ..Pace::new(self.session, self.host, self.gives_way) }
    }

    /// Adds what a part has cost; fails if the statement is to end.
    pub fn add(&self, part: &Pace<'a>) -> SqlResult<()> {
        match &*part.failure.borrow() {
            Some(failure) => {
                self.since_look.set(LOOK);
                *self.failure.borrow_mut() = Some(failure.clone());
                Err(failure.clone())
            }
            None => self.checkpoint(part.stretch.get().saturating_add(part.since_look.get())),
        }
    }

    /// The caller binds anew after a pause, if this is to be done by a thread that serves no other sessions.
    pub fn may_give_way(&mut self) {
        self.may_give_way = true;
    }

    /// Work of so many units is about to be done. Fails if the statement is to end, and where binding gives
    /// way.
    #[inline]
    pub fn checkpoint(&self, units: usize) -> SqlResult<()> {
        let since = self.since_look.get().saturating_add(units);
        self.since_look.set(since);
        if since < LOOK { Ok(()) } else { self.look() }
    }

    /// An expression is about to be bound.
    #[inline]
    pub fn expression(&self) -> SqlResult<()> {
        self.expressions.set(self.expressions.get().saturating_add(1));
        self.checkpoint(UNITS_AN_EXPRESSION)
    }

    /// Work is about to be done that may go once over all expressions of the statement: a rule, say. Of a
    /// list of a million constants each such pass takes milliseconds.
    pub fn pass(&self) -> SqlResult<()> {
        match self.expressions.get() {
            0..MANY_EXPRESSIONS => Ok(()),
            many => self.checkpoint(many.saturating_mul(UNITS_A_PASS)),
        }
    }

    #[cold]
    fn look(&self) -> SqlResult<()> {
        let Pace { since_look, stretch, failure, .. } = self;
        if let Some(failure) = &*failure.borrow() {
            return Err(failure.clone());
        }
        stretch.set(stretch.get().saturating_add(since_look.get()));
        // Once it has failed every checkpoint looks, and fails.
        let fail = |error: SqlError| {
            *failure.borrow_mut() = Some(error.clone());
            Err(error)
        };
        if let Err(error) = self.session.check_statement(self.host) {
            return fail(error);
        }
        since_look.set(0);
        if stretch.get() < LONG {
            return Ok(());
        }
        stretch.set(0);
        if !self.may_give_way || self.host.may_compute(self.session.connection_id) {
            return Ok(());
        }
        since_look.set(LOOK);
        self.gives_way.store(true, Ordering::Relaxed);
        fail(mysql_error!(ER_QUERY_INTERRUPTED))
    }

    /// Whether the statement is to end, or binding to give way: the plan will be thrown away.
    pub fn is_over(&self, units: usize) -> bool {
        self.checkpoint(units).is_err()
    }
}
