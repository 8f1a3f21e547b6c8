//! The statements and transactions of one session: the last ones, and sums of all.
//!
//! They are the session's own: it adds to them when a statement ends, and others look at them behind a lock
//! that the session holds for a few hundred instructions.

use std::sync::Arc;

use crate::class::Class;
use crate::digests::Digest;
use crate::prepared::{Left, Preparation, PreparedStatement, PreparedStatements, Slot};
use crate::ring::Ring;
use crate::stage::{Stage, StageEvent, StageSums};
use crate::sums::{Done, Sums};
use crate::tally::{ErrorSums, Family, Tally};
use crate::transaction::{Noted, Outcome, Trace, TransactionEvent, TransactionSums};

/// An error that a statement ended with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failure {
    /// Its number.
    pub number: u16,
    /// Its SQLSTATE.
    pub sql_state: String,
    /// Its text.
    pub message: String,
}

/// A statement that has ended.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Event {
    /// Number of the event in its session.
    pub id: u64,
    /// Number of the session's last event when it ended.
    pub end_id: u64,
    /// The transaction that was open when it began.
    pub within: Option<u64>,
    /// Its class.
    pub class: Class,
    /// What it did, and how long that took.
    pub done: Done,
    /// Its text, as far as that is kept.
    pub text: Vec<u8>,
    /// What it has in common with others; none if it was no statement or digests are off.
    pub digest: Option<Arc<Digest>>,
    /// The default database.
    pub schema: Option<Box<str>>,
    /// The error.
    pub failure: Option<Box<Failure>>,
    /// What the client was told of its success.
    pub info: String,
    /// It sent rows, or none of those that it found.
    pub sent_rows: bool,
    /// It is among the last ones, and not only the last one.
    pub is_history: bool,
    /// [`Ended::source`].
    pub source: u64,
}

impl Event {
    /// Text, digest and default database are these from now on.
    fn begin(&mut self, ended: &Ended<'_>, most_text: usize) {
        self.source = ended.source;
        self.text.clear();
        self.text.extend_from_slice(ended.text.get(..most_text).unwrap_or(ended.text));
        // Taking a reference writes to what other sessions of the worker read.
        let is_same = match (&self.digest, ended.digest) {
            (Some(kept), Some(digest)) => Arc::ptr_eq(kept, digest),
            (None, None) => true,
            _ => false,
        };
        if !is_same {
            self.digest = ended.digest.cloned();
        }
        if self.schema.as_deref() != ended.schema {
            self.schema = ended.schema.map(Into::into);
        }
    }
}

/// A statement that ends, as its session tells of it.
pub struct Ended<'a> {
    /// Its class.
    pub class: Class,
    /// What it did.
    pub done: &'a Done,
    /// When it began, in nanoseconds since some moment.
    pub began_ns: u64,
    /// Its text.
    pub text: &'a [u8],
    /// What it has in common with others.
    pub digest: Option<&'a Arc<Digest>>,
    /// The default database.
    pub schema: Option<&'a str>,
    /// If not 0, a number by which text, digest and default database are known: two statements with the same
    /// one have the same.
    pub source: u64,
    /// The prepared statement that was executed, and what its plan relies on.
    pub prepared: (Slot, u64),
    /// The error.
    pub failure: Option<&'a Failure>,
    /// Its stages that are collected.
    pub stages: &'a [Stage],
    /// What the client was told of its success.
    pub info: &'a str,
    /// It sent rows, or none of those that it found.
    pub sent_rows: bool,
}

/// How much is kept of a session's statements and transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// Whether the last statement is kept.
    pub current: bool,
    /// How many are.
    pub history: usize,
    /// How many bytes of each one's text.
    pub text: usize,
    /// The same of transactions.
    pub transactions: KeepTransactions,
    /// Whether its last stage is kept.
    pub current_stage: bool,
    /// How many are.
    pub stage_history: usize,
}

/// How much is kept of a session's transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeepTransactions {
    /// Whether the last one is kept.
    pub current: bool,
    /// How many are.
    pub history: usize,
    /// Whether their times are.
    pub is_timed: bool,
}

/// The statements and transactions of a session.
#[derive(Debug, Default)]
pub struct SessionEvents {
    last_id: u64,
    statements: Ring<Event>,
    transactions: Ring<TransactionEvent>,
    stages: Ring<Option<StageEvent>>,
    /// The transaction that is open.
    open: Option<TransactionEvent>,
    /// Statements up to this event are not of the history any more.
    history_after: u64,
    /// Nor is this one the last.
    current_after: u64,
    /// Transactions that ended up to this event are not of the history any more.
    transaction_history_after: u64,
    /// Nor is this one the last.
    current_transaction_after: u64,
    /// Stages up to this event are not of the history any more.
    stage_history_after: u64,
    /// Nor is this one the last.
    current_stage_after: u64,
    /// By class, without those of prepared statements; `None` for those that the session has executed none
    /// of.
    sums: Vec<Option<Box<Sums>>>,
    prepared: PreparedStatements,
    transaction_sums: TransactionSums,
    errors: ErrorSums,
    stage_sums: Option<Box<StageSums>>,
}

impl SessionEvents {
    /// A statement has ended, with transactions as `trace` says.
    #[inline]
    pub fn add(&mut self, ended: &Ended<'_>, trace: &mut Trace, keep: &Keep) {
        self.last_id += 1;
        let id = self.last_id;
        if trace.takes_beginning() {
            self.open = None;
        }
        let within = self.open.as_ref().map(|open| open.id);
        self.add_transactions(Some(id), (ended.began_ns, ended.done.ended_ns), trace, keep.transactions);
        if !ended.stages.is_empty() {
            self.add_stages(ended.stages, id, keep);
        }
        let (slot, basis) = ended.prepared;
        if slot == 0 || !self.prepared.add(slot, ended.class, ended.done, basis) {
            let class = usize::from(ended.class.0);
            match self.sums.get_mut(class) {
                Some(Some(sums)) => sums.add(ended.done),
                _ => self.sums_of(ended.class).add(ended.done),
            }
        }
        if keep.current {
            self.keep(ended, (id, within), keep);
        }
    }

    #[cold]
    fn add_stages(&mut self, stages: &[Stage], within: u64, keep: &Keep) {
        for stage in stages {
            let id = self.next_id();
            self.stage_sums.get_or_insert_default().add(stage);
            if keep.current_stage
                && let Some(place) = self.stages.place(keep.stage_history)
            {
                let is_history = keep.stage_history > 0;
                *place = Some(StageEvent { id, within, stage: *stage, is_history });
            }
        }
    }

    /// The sums of a class.
    #[cold]
    fn sums_of(&mut self, class: Class) -> &mut Sums {
        let class = usize::from(class.0);
        if self.sums.len() <= class {
            self.sums.resize_with(class + 1, || None);
        }
        #[expect(clippy::indexing_slicing, reason = "the list has just been made long enough")]
        let sums = &mut self.sums[class];
        sums.get_or_insert_default()
    }

    /// What executions of prepared statements have done is the class's own from now on.
    fn leave_to_classes(&mut self, left: impl IntoIterator<Item = Left>) {
        let done = left.into_iter().filter(|(_, sums)| sums.count > 0);
        done.for_each(|(class, sums)| self.sums_of(class).merge(&sums));
    }

    /// A statement has been prepared, by the event that comes next.
    pub fn begin_prepared(&mut self, preparation: Preparation) -> Slot {
        self.prepared.begin(preparation, self.last_id + 1)
    }

    /// A prepared statement is closed.
    pub fn end_prepared(&mut self, slot: Slot) {
        let left = self.prepared.end(slot);
        self.leave_to_classes(left);
    }

    /// All prepared statements are closed.
    pub fn end_all_prepared(&mut self) {
        let left = self.prepared.end_all();
        self.leave_to_classes(left);
    }

    /// The prepared statements.
    pub fn prepared(&self) -> impl Iterator<Item = &PreparedStatement> {
        self.prepared.iter()
    }

    /// TRUNCATE of the prepared statements: what their executions have done is no longer shown with them.
    pub fn begin_prepared_anew(&mut self) {
        let left = self.prepared.begin_anew();
        self.leave_to_classes(left);
    }

    /// The transactions of a statement that has ended, or of none: the session ends, or its statement is no
    /// event.
    #[inline]
    pub fn add_transactions(
        &mut self,
        statement: Option<u64>,
        (began_ns, ended_ns): (u64, u64),
        trace: &mut Trace,
        keep: KeepTransactions,
    ) {
        trace.take_ended(|noted| self.end_transaction(statement, (began_ns, ended_ns), noted, keep));
        match (trace.open(), &mut self.open) {
            (None, open) => *open = None,
            (Some(noted), Some(open)) => open.noted.clone_from(noted),
            (Some(noted), None) => {
                let (id, noted) = (self.next_id(), noted.clone());
                self.open =
                    Some(TransactionEvent { id, begun_by: statement, began_ns, noted, ..Default::default() });
            }
        }
    }

    /// A transaction has ended, which the statement has begun unless it was open before.
    #[inline]
    fn end_transaction(
        &mut self,
        statement: Option<u64>,
        (began_ns, ended_ns): (u64, u64),
        noted: Noted,
        keep: KeepTransactions,
    ) {
        let (id, begun_by, began_ns) = match self.open.take() {
            Some(open) => (open.id, open.begun_by, open.began_ns),
            None => (self.next_id(), statement, began_ns),
        };
        let wait_ns = if keep.is_timed { ended_ns.saturating_sub(began_ns) } else { 0 };
        // One that was prepared is open still, and no longer the session's.
        let has_ended = noted.outcome != Outcome::Open;
        if has_ended {
            self.transaction_sums.add(noted.traits.is_read_only, wait_ns);
        }
        let end_id = self.last_id;
        if keep.current
            && let Some(event) = self.transactions.place(keep.history)
        {
            let is_history = has_ended && keep.history > 0;
            *event = TransactionEvent { id, end_id, begun_by, began_ns, wait_ns, noted, is_history };
        }
    }

    #[inline]
    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    #[inline]
    fn keep(&mut self, ended: &Ended<'_>, (id, within): (u64, Option<u64>), keep: &Keep) {
        let Some(event) = self.statements.place(keep.history) else { return };
        event.id = id;
        event.end_id = self.last_id;
        event.within = within;
        event.class = ended.class;
        event.done.assign(ended.done);
        if ended.source == 0 || ended.source != event.source {
            event.begin(ended, keep.text);
        }
        if event.failure.is_some() || ended.failure.is_some() {
            event.failure = ended.failure.cloned().map(Box::new);
        }
        if !event.info.is_empty() || !ended.info.is_empty() {
            event.info.clear();
            event.info.push_str(ended.info);
        }
        event.sent_rows = ended.sent_rows;
        event.is_history = keep.history > 0;
    }

    /// An error was raised, or a warning, at that moment.
    pub fn add_error(&mut self, number: u16, now_ns: u64) {
        self.errors.add(number, now_ns);
    }

    /// The number of the last event.
    pub fn last_id(&self) -> u64 {
        self.last_id
    }

    /// The last statements, the oldest first.
    pub fn history(&self) -> impl Iterator<Item = &Event> {
        self.statements.iter().filter(|event| event.is_history && event.id > self.history_after)
    }

    /// The last statement.
    pub fn last(&self) -> Option<&Event> {
        self.statements.last().filter(|last| last.id > self.current_after)
    }

    /// The transaction that is open.
    pub fn open_transaction(&self) -> Option<&TransactionEvent> {
        self.open.as_ref()
    }

    /// The last transactions that have ended, the oldest first: those that are kept.
    pub fn last_transactions(&self) -> impl Iterator<Item = &TransactionEvent> {
        self.transactions.iter()
    }

    /// Of those the ones that are the history.
    pub fn transaction_history(&self) -> impl Iterator<Item = &TransactionEvent> {
        let after = self.transaction_history_after;
        self.transactions.iter().filter(move |event| event.is_history && event.end_id > after)
    }

    /// The last transaction that has ended.
    pub fn last_transaction(&self) -> Option<&TransactionEvent> {
        self.transactions.last().filter(|last| last.end_id > self.current_transaction_after)
    }

    /// The last stages, the oldest first: those that are kept.
    pub fn last_stages(&self) -> impl Iterator<Item = &StageEvent> {
        self.stages.iter().flatten()
    }

    /// Of those the ones that are the history.
    pub fn stage_history(&self) -> impl Iterator<Item = &StageEvent> {
        self.last_stages().filter(|event| event.is_history && event.id > self.stage_history_after)
    }

    /// The last stage.
    pub fn last_stage(&self) -> Option<&StageEvent> {
        self.stages.last()?.as_ref().filter(|last| last.id > self.current_stage_after)
    }

    /// TRUNCATE of the history of stages.
    pub fn forget_stage_history(&mut self) {
        self.stage_history_after = self.last_id;
    }

    /// TRUNCATE of the last stage.
    pub fn forget_current_stage(&mut self) {
        self.current_stage_after = self.last_id;
    }

    /// TRUNCATE of the history of statements.
    pub fn forget_history(&mut self) {
        self.history_after = self.last_id;
    }

    /// TRUNCATE of the last statement.
    pub fn forget_current(&mut self) {
        self.current_after = self.last_id;
    }

    /// TRUNCATE of the history of transactions.
    pub fn forget_transaction_history(&mut self) {
        self.transaction_history_after = self.last_id;
    }

    /// TRUNCATE of the last transaction.
    pub fn forget_current_transaction(&mut self) {
        self.current_transaction_after = self.last_id;
    }

    /// The sums of each class.
    fn sums(&self) -> impl Iterator<Item = (Class, &Sums)> {
        let all = self.sums.iter().enumerate();
        all.filter_map(|(class, sums)| Some((Class(class as u16), &**sums.as_ref()?)))
    }

    /// All that it has counted.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally {
            transactions: self.transaction_sums,
            errors: self.errors.clone(),
            stages: self.stage_sums.clone(),
            ..Tally::default()
        };
        tally.statements.merge(self.sums());
        tally.statements.merge(self.prepared.recent());
        tally
    }

    /// A family of that begins at 0 again: gives what it was.
    pub fn take(&mut self, family: Family) -> Tally {
        let taken = self.tally().take(family);
        match family {
            Family::Statements => {
                self.sums.clear();
                self.prepared.leave_class();
            }
            Family::Transactions => self.transaction_sums = TransactionSums::default(),
            Family::Errors => self.errors = ErrorSums::default(),
            Family::Stages => self.stage_sums = None,
        }
        taken
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::stage::StageClass;
    use crate::transaction::Traits;

    const KEEP: Keep = Keep {
        current: true,
        history: 3,
        text: 6,
        transactions: KeepTransactions { current: true, history: 3, is_timed: true },
        current_stage: true,
        stage_history: 3,
    };

    fn statement(events: &mut SessionEvents, trace: &mut Trace, (began_ns, ended_ns): (u64, u64)) {
        let ended = Ended {
            class: Class(1),
            done: &Done::new(ended_ns - began_ns, ended_ns),
            began_ns,
            text: b"",
            digest: None,
            schema: None,
            source: 0,
            prepared: (0, 0),
            failure: None,
            stages: &[],
            info: "",
            sent_rows: false,
        };
        events.add(&ended, trace, &KEEP);
    }

    fn run(events: &mut SessionEvents, text: &str, class: u16, keep: Keep) {
        run_from(events, text, class, keep, 0);
    }

    fn run_from(events: &mut SessionEvents, text: &str, class: u16, keep: Keep, source: u64) {
        let failure = text.starts_with('!').then(|| Failure { number: 1064, ..Failure::default() });
        let ended = Ended {
            class: Class(class),
            done: &Done::new(10, 10),
            began_ns: 0,
            text: text.as_bytes(),
            digest: None,
            schema: Some("s").filter(|_| class > 0),
            source,
            prepared: (0, 0),
            failure: failure.as_ref(),
            stages: &[],
            info: "",
            sent_rows: false,
        };
        events.add(&ended, &mut Trace::default(), &keep);
    }

    fn kept(events: &SessionEvents) -> Vec<String> {
        let shown = |event: &Event| {
            let failed = if event.failure.is_some() { " failed" } else { "" };
            format!("{} {}{failed}", event.id, String::from_utf8_lossy(&event.text))
        };
        events.history().map(shown).collect()
    }

    #[test]
    fn the_last_statements_are_kept_in_order() {
        let mut events = SessionEvents::default();
        assert!(events.last().is_none());
        for text in ["a", "!b", "c"] {
            run(&mut events, text, 1, KEEP);
        }
        assert_eq!(kept(&events), ["1 a", "2 !b failed", "3 c"]);
        run(&mut events, "longer than six", 1, KEEP);
        run(&mut events, "e", 0, KEEP);
        assert_eq!(kept(&events), ["3 c", "4 longer", "5 e"]);
        assert_eq!(events.last().map(|event| event.id), Some(5));
        events.forget_history();
        assert!(kept(&events).is_empty());
        assert_eq!(events.last().map(|event| event.id), Some(5));
        events.forget_current();
        assert!(events.last().is_none());
        run(&mut events, "f", 1, KEEP);
        assert_eq!(kept(&events), ["6 f"]);
        run(&mut events, "g", 1, Keep { history: 0, ..KEEP });
        assert_eq!((kept(&events).len(), events.last().map(|event| event.id)), (0, Some(7)));
        run(&mut events, "h", 1, Keep { current: false, ..KEEP });
        assert_eq!((events.last_id(), events.last().map(|event| event.id)), (8, Some(7)));
        for text in ["i", "j", "k", "l"] {
            run(&mut events, text, 1, KEEP);
        }
        assert_eq!(kept(&events), ["10 j", "11 k", "12 l"]);
    }

    #[test]
    fn statements_of_one_source_are_copied_once() {
        let mut events = SessionEvents::default();
        let two = Keep { history: 2, ..KEEP };
        for (text, source) in [("a", 1), ("b", 2), ("not looked at", 1), ("c", 0), ("d", 0), ("b", 2)] {
            run_from(&mut events, text, 1, two, source);
            let is_known = text.len() > 1;
            let last = events.last().map(|event| event.text.clone());
            assert_eq!(last.as_deref(), Some(if is_known { &b"a"[..] } else { text.as_bytes() }));
        }
        assert_eq!(kept(&events), ["5 d", "6 b"]);
    }

    #[test]
    fn sums_are_by_class() {
        let mut events = SessionEvents::default();
        for class in [3, 1, 3] {
            run(&mut events, "x", class, KEEP);
        }
        let counts = |tally: &Tally| -> Vec<(u16, u64, u64)> {
            tally.statements.iter().map(|(class, sums)| (class.0, sums.count, sums.wait_ns)).collect()
        };
        assert_eq!(counts(&events.tally()), [(1, 1, 10), (3, 2, 20)]);
        assert!(counts(&events.take(Family::Transactions)).is_empty());
        assert_eq!(counts(&events.take(Family::Statements)), [(1, 1, 10), (3, 2, 20)]);
        assert!(counts(&events.tally()).is_empty());
        run(&mut events, "x", 1, KEEP);
        assert_eq!(counts(&events.tally()), [(1, 1, 10)]);
    }

    #[test]
    fn stages_are_within_their_statement() {
        let (mut events, mut trace) = (SessionEvents::default(), Trace::default());
        let stage = |began_ns| Stage { class: StageClass(1), began_ns, wait_ns: 5, work: Some((1, 2)) };
        for began_ns in [0, 100] {
            let stages = [stage(began_ns), stage(began_ns + 10)];
            let ended = Ended {
                class: Class(1),
                done: &Done::new(20, 20),
                began_ns,
                text: b"",
                digest: None,
                source: 0,
                schema: None,
                prepared: (0, 0),
                failure: None,
                stages: &stages,
                info: "",
                sent_rows: false,
            };
            events.add(&ended, &mut trace, &KEEP);
        }
        let kept: Vec<_> = events.stage_history().map(|event| (event.id, event.within)).collect();
        assert_eq!(kept, [(3, 1), (5, 4), (6, 4)]);
        assert_eq!(events.last().map(|event| (event.id, event.end_id)), Some((4, 6)));
        assert_eq!(events.last_stage().map(|event| event.stage.began_ns), Some(110));
        let sums = events.take(Family::Stages).stages.map(|sums| sums.of(StageClass(1)));
        assert_eq!(sums.map(|times| (times.count, times.wait_ns)), Some((4, 20)));
        assert_eq!(events.tally().stages, None);
        events.forget_stage_history();
        assert!(events.stage_history().next().is_none() && events.last_stage().is_some());
    }

    /// `id, began by, ended at: began + took` of each transaction.
    fn transactions(events: &SessionEvents) -> Vec<String> {
        let shown = |event: &TransactionEvent| {
            let TransactionEvent { id, begun_by, end_id, began_ns, wait_ns, .. } = event;
            let begun_by = begun_by.unwrap_or(0);
            format!("{id} by {begun_by} to {end_id}: {began_ns} + {wait_ns}")
        };
        events.transaction_history().map(shown).collect()
    }

    #[test]
    fn a_transaction_has_the_times_of_the_statements_that_begin_and_end_it() {
        let (mut events, mut trace) = (SessionEvents::default(), Trace::default());
        let single = Traits { is_single_statement: true, ..Traits::default() };
        // BEGIN
        trace.listen(true);
        trace.begin(Traits::default());
        statement(&mut events, &mut trace, (100, 110));
        assert_eq!(events.open_transaction().map(|open| (open.id, open.begun_by)), Some((2, Some(1))));
        // SAVEPOINT
        trace.listen(true);
        trace.uses_savepoint(|savepoints| savepoints.set += 1);
        statement(&mut events, &mut trace, (200, 210));
        let inner = events.last().map(|event| (event.id, event.within, event.end_id));
        assert_eq!(inner, Some((3, Some(2), 3)));
        // COMMIT AND CHAIN
        trace.listen(true);
        trace.end(Outcome::Committed, || 0);
        trace.begin(Traits { is_read_only: true, ..Traits::default() });
        statement(&mut events, &mut trace, (300, 310));
        assert_eq!(transactions(&events), ["2 by 1 to 4: 100 + 210"]);
        let ended = events.last_transaction().map(|event| event.noted.savepoints.set);
        assert_eq!((ended, events.open_transaction().map(|open| open.id)), (Some(1), Some(5)));
        // ROLLBACK
        trace.listen(true);
        trace.end(Outcome::RolledBack, || 0);
        statement(&mut events, &mut trace, (400, 410));
        // SELECT
        trace.listen(true);
        trace.begin(single);
        trace.end(Outcome::Committed, || 0);
        statement(&mut events, &mut trace, (500, 550));
        let all = ["2 by 1 to 4: 100 + 210", "5 by 4 to 6: 300 + 110", "8 by 7 to 8: 500 + 50"];
        assert_eq!(transactions(&events), all);
        assert_eq!(events.last().map(|event| (event.id, event.within, event.end_id)), Some((7, None, 8)));
        let sums = events.tally().transactions;
        assert_eq!((sums.read_write.count, sums.read_write.wait_ns), (2, 260));
        assert_eq!((sums.read_only.count, sums.read_only.wait_ns), (1, 110));
        events.forget_transaction_history();
        events.forget_current_transaction();
        assert!(transactions(&events).is_empty() && events.last_transaction().is_none());
    }

    #[test]
    fn a_transaction_that_is_lost_sight_of_is_not_taken_for_the_next_one() {
        let (mut events, mut trace) = (SessionEvents::default(), Trace::default());
        trace.listen(true);
        trace.begin(Traits::default());
        statement(&mut events, &mut trace, (100, 110));
        trace.listen(false);
        trace.end(Outcome::Committed, || 0);
        trace.listen(true);
        trace.begin(Traits::default());
        trace.end(Outcome::Committed, || 0);
        statement(&mut events, &mut trace, (300, 310));
        assert_eq!(transactions(&events), ["4 by 3 to 4: 300 + 10"]);
    }
}
