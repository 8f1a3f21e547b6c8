//! The transactions of a session: what it notes of them while a statement is executed, and what they become
//! when that has ended.
//!
//! ```text
//!   statement            1: BEGIN          2: UPDATE      3: COMMIT     4: SELECT, which commits itself
//!   event of it          1                 3              4             5
//!   event of the         2, within 1 ───────────────────▶ ends at 4     6, within 5, ends at 6
//!   transaction
//! ```
//!
//! The session begins and ends transactions while it executes; it [notes](Trace) what they are and how they
//! end. Numbers and times are given when the statement has ended, by which the clock is read anyway: a
//! transaction begins with the statement that begins it, and ends with the one that ends it.

/// How far a transaction is isolated from others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after MySQL's levels")]
pub enum Isolation {
    ReadUncommitted,
    ReadCommitted,
    #[default]
    RepeatableRead,
    Serializable,
}

impl Isolation {
    /// MySQL's name of it.
    pub fn name(self) -> &'static str {
        match self {
            Isolation::ReadUncommitted => "READ UNCOMMITTED",
            Isolation::ReadCommitted => "READ COMMITTED",
            Isolation::RepeatableRead => "REPEATABLE READ",
            Isolation::Serializable => "SERIALIZABLE",
        }
    }
}

/// What a transaction is like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traits {
    /// How far it is isolated.
    pub isolation: Isolation,
    /// It may change nothing.
    pub is_read_only: bool,
    /// It ends with its statement.
    pub is_single_statement: bool,
}

/// How often a transaction did something with a savepoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Savepoints {
    /// SAVEPOINT.
    pub set: u32,
    /// ROLLBACK TO SAVEPOINT.
    pub returned_to: u32,
    /// RELEASE SAVEPOINT.
    pub released: u32,
}

/// The name of a distributed transaction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct XaName {
    /// Its format.
    pub format: u64,
    /// The global transaction.
    pub gtrid: Vec<u8>,
    /// Its branch.
    pub bqual: Vec<u8>,
    /// MySQL's word for how far it has come.
    pub state: &'static str,
}

/// What has become of a transaction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing yet.
    #[default]
    Open,
    /// Its changes stay.
    Committed,
    /// Its changes are undone.
    RolledBack,
}

/// A transaction, as its session notes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Noted {
    /// What it is like.
    pub traits: Traits,
    /// What has become of it.
    pub outcome: Outcome,
    /// What it did with savepoints.
    pub savepoints: Savepoints,
    /// The storage engine's number of it; 0 if it has none.
    pub number: u64,
    /// Its name, if it is distributed.
    pub xa: Option<Box<XaName>>,
}

/// What a session notes of its transactions. One that no other session asks about notes nothing.
#[derive(Debug, Default)]
pub struct Trace {
    is_on: bool,
    /// Nothing was noted before the statement that is executed.
    is_beginning: bool,
    open: Option<Noted>,
    /// Those that have ended since this was last [taken](Self::take_ended).
    ended: Vec<Noted>,
}

impl Trace {
    /// A statement begins, whose transactions are noted or are not.
    #[inline]
    pub fn listen(&mut self, is_on: bool) {
        if is_on != self.is_on {
            *self = Trace { is_on, is_beginning: is_on, ..Trace::default() };
        }
        self.ended.clear();
    }

    /// Whether nothing was noted before the statement that has ended.
    #[inline]
    pub fn takes_beginning(&mut self) -> bool {
        std::mem::take(&mut self.is_beginning)
    }

    /// A transaction begins.
    #[inline]
    pub fn begin(&mut self, traits: Traits) {
        if self.is_on {
            self.open = Some(Noted { traits, ..Noted::default() });
        }
    }

    /// It goes on when its statement has ended, after all.
    pub fn outlives_statement(&mut self) {
        if let Some(open) = &mut self.open {
            open.traits.is_single_statement = false;
        }
    }

    /// It has this name.
    pub fn name(&mut self, xa: XaName) {
        if let Some(open) = &mut self.open {
            open.xa = Some(Box::new(xa));
        }
    }

    /// How far it has come, if it has a name.
    pub fn set_xa_state(&mut self, state: &'static str) {
        if let Some(xa) = self.open.as_mut().and_then(|open| open.xa.as_mut()) {
            xa.state = state;
        }
    }

    /// It does something with a savepoint.
    pub fn uses_savepoint(&mut self, count: impl FnOnce(&mut Savepoints)) {
        if let Some(open) = &mut self.open {
            count(&mut open.savepoints);
        }
    }

    /// It has ended. `number` is the storage engine's of it, or 0.
    #[inline]
    pub fn end(&mut self, outcome: Outcome, number: impl FnOnce() -> u64) {
        if let Some(open) = self.open.take() {
            self.ended.push(Noted { outcome, number: number(), ..open });
        }
    }

    /// What ended last could not be committed.
    pub fn commit_failed(&mut self) {
        if let Some(last) = self.ended.last_mut() {
            last.outcome = Outcome::RolledBack;
        }
    }

    /// The one that is open.
    #[inline]
    pub fn open(&self) -> Option<&Noted> {
        self.open.as_ref()
    }

    /// Whether one has.
    pub fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// Takes each of those that have ended, in order.
    #[inline]
    pub fn take_ended(&mut self, mut take: impl FnMut(Noted)) {
        self.ended.iter_mut().for_each(|noted| take(std::mem::take(noted)));
        self.ended.clear();
    }
}

/// A transaction, one by one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TransactionEvent {
    /// Number of the event in its session.
    pub id: u64,
    /// Number of the session's last event when it ended.
    pub end_id: u64,
    /// The statement that began it, if that is an event.
    pub begun_by: Option<u64>,
    /// When it began, in nanoseconds since some moment.
    pub began_ns: u64,
    /// How long it took.
    pub wait_ns: u64,
    /// What the session noted of it.
    pub noted: Noted,
    /// It is among the last ones, and not only the last one.
    pub is_history: bool,
}

/// How often something took time, and how long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times {
    /// How often.
    pub count: u64,
    /// Nanoseconds altogether.
    pub wait_ns: u64,
    /// The shortest.
    pub min_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

impl Times {
    /// It took so long once more.
    #[inline]
    pub fn add(&mut self, wait_ns: u64) {
        self.merge(Times { count: 1, wait_ns, min_ns: wait_ns, max_ns: wait_ns });
    }

    /// Adds others.
    #[inline]
    pub fn merge(&mut self, others: Times) {
        if others.count > 0 {
            self.min_ns = if self.count == 0 { others.min_ns } else { self.min_ns.min(others.min_ns) };
            self.max_ns = self.max_ns.max(others.max_ns);
            self.count += others.count;
            self.wait_ns = self.wait_ns.wrapping_add(others.wait_ns);
        }
    }

    /// Nanoseconds on average.
    pub fn average_ns(&self) -> u64 {
        self.wait_ns.checked_div(self.count).unwrap_or(0)
    }
}

/// What transactions took together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TransactionSums {
    /// Those that may change something.
    pub read_write: Times,
    /// Those that may not.
    pub read_only: Times,
}

impl TransactionSums {
    /// Adds one.
    #[inline]
    pub fn add(&mut self, is_read_only: bool, wait_ns: u64) {
        match is_read_only {
            true => self.read_only.add(wait_ns),
            false => self.read_write.add(wait_ns),
        }
    }

    /// Adds others.
    pub fn merge(&mut self, others: &TransactionSums) {
        self.read_write.merge(others.read_write);
        self.read_only.merge(others.read_only);
    }

    /// All of them.
    pub fn all(&self) -> Times {
        let mut all = self.read_write;
        all.merge(self.read_only);
        all
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn ended(trace: &mut Trace) -> Vec<Noted> {
        let mut ended = Vec::new();
        trace.take_ended(|noted| ended.push(noted));
        ended
    }

    #[test]
    fn what_is_not_listened_to_is_not_noted() {
        let mut trace = Trace::default();
        trace.begin(Traits::default());
        trace.end(Outcome::Committed, || 1);
        assert!(trace.open().is_none() && ended(&mut trace).is_empty());
        trace.listen(true);
        trace.begin(Traits { is_single_statement: true, ..Traits::default() });
        trace.outlives_statement();
        trace.uses_savepoint(|savepoints| savepoints.set += 1);
        trace.listen(true);
        trace.end(Outcome::Committed, || 7);
        trace.commit_failed();
        trace.begin(Traits { is_read_only: true, ..Traits::default() });
        let all = ended(&mut trace);
        let [first] = &all[..] else { panic!("one: {all:?}") };
        assert_eq!((first.outcome, first.number), (Outcome::RolledBack, 7));
        assert_eq!((first.savepoints.set, first.traits.is_single_statement), (1, false));
        assert!(trace.open().is_some_and(|open| open.traits.is_read_only));
        assert!(trace.takes_beginning() && !trace.takes_beginning());
        trace.listen(false);
        trace.end(Outcome::Committed, || 0);
        assert!(trace.open().is_none() && ended(&mut trace).is_empty());
    }

    #[test]
    fn times_of_parts_are_the_times_of_all() {
        let mut sums = TransactionSums::default();
        assert_eq!((sums.all(), sums.all().average_ns()), (Times::default(), 0));
        for wait_ns in [30, 10, 50] {
            sums.add(false, wait_ns);
        }
        sums.add(true, 2);
        let mut more = TransactionSums::default();
        more.merge(&sums);
        more.merge(&TransactionSums::default());
        assert_eq!(more, sums);
        assert_eq!(sums.read_write, Times { count: 3, wait_ns: 90, min_ns: 10, max_ns: 50 });
        assert_eq!(sums.all(), Times { count: 4, wait_ns: 92, min_ns: 2, max_ns: 50 });
        assert_eq!(sums.read_write.average_ns(), 30);
    }
}
