//! What is collected: `setup_consumers`, `setup_instruments` and `setup_actors`.
//!
//! A consumer counts only if those above it do:
//!
//! ```text
//!   global_instrumentation
//!    ├─ thread_instrumentation
//!    │   ├─ events_stages_current ─ events_stages_history, events_stages_history_long
//!    │   ├─ events_statements_current ─ events_statements_history, events_statements_history_long
//!    │   └─ events_transactions_current ─ events_transactions_history, events_transactions_history_long
//!    ├─ events_statements_cpu
//!    └─ statements_digest
//! ```

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};

use palisade_observe::class::{self, Class};
use palisade_observe::stage::{self, StageClass};
use parking_lot::Mutex;

/// Places to which what was collected goes, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Consumers(u32);

impl Consumers {
    /// Anything at all.
    pub const GLOBAL: Consumers = Consumers(1);
    /// Tables about sessions.
    pub const THREAD: Consumers = Consumers(1 << 1);
    /// The last statement of a session.
    pub const CURRENT: Consumers = Consumers(1 << 2);
    /// Its last ones.
    pub const HISTORY: Consumers = Consumers(1 << 3);
    /// The last ones of all sessions.
    pub const LONG: Consumers = Consumers(1 << 4);
    /// Statements by digest.
    pub const DIGEST: Consumers = Consumers(1 << 5);
    /// The last transaction of a session.
    pub const TRANSACTION_CURRENT: Consumers = Consumers(1 << 6);
    /// Its last ones.
    pub const TRANSACTION_HISTORY: Consumers = Consumers(1 << 7);
    /// The last ones of all sessions.
    pub const TRANSACTION_LONG: Consumers = Consumers(1 << 8);
    /// What is kept of single statements, stages and transactions.
    const EVENTS: Consumers = Consumers(
        Self::CURRENT.0
            | Self::HISTORY.0
            | Self::LONG.0
            | Self::TRANSACTION_CURRENT.0
            | Self::TRANSACTION_HISTORY.0
            | Self::TRANSACTION_LONG.0
            | Self::STAGE_CURRENT.0
            | Self::STAGE_HISTORY.0
            | Self::STAGE_LONG.0,
    );
    /// The last stage of a session's statements.
    pub const STAGE_CURRENT: Consumers = Consumers(1 << 9);
    /// Their last ones.
    pub const STAGE_HISTORY: Consumers = Consumers(1 << 10);
    /// The last ones of all sessions.
    pub const STAGE_LONG: Consumers = Consumers(1 << 11);
    /// The same of waits.
    const WAITS: [Consumers; 3] = [Consumers(1 << 12), Consumers(1 << 13), Consumers(1 << 14)];
    /// The processor time of statements is measured.
    pub const CPU: Consumers = Consumers(1 << 15);

    /// Whether that is among them.
    #[inline]
    pub fn has(self, what: Consumers) -> bool {
        self.0 & what.0 == what.0
    }

    /// What counts of those that are enabled.
    fn effective(self) -> Consumers {
        let mut left = self;
        for (above, below) in [
            (Consumers::GLOBAL, Consumers(u32::MAX)),
            (Consumers::THREAD, Consumers::EVENTS),
            (Consumers::CURRENT, Consumers(Self::HISTORY.0 | Self::LONG.0)),
            (
                Consumers::TRANSACTION_CURRENT,
                Consumers(Self::TRANSACTION_HISTORY.0 | Self::TRANSACTION_LONG.0),
            ),
            (Consumers::STAGE_CURRENT, Consumers(Self::STAGE_HISTORY.0 | Self::STAGE_LONG.0)),
        ] {
            if !left.has(above) {
                left.0 &= !below.0;
            }
        }
        left
    }
}

/// The consumers of MySQL, with their bits. Those of events that no instrument makes are enabled in vain.
pub const CONSUMERS: [(&str, Consumers); 16] = [
    ("events_stages_current", Consumers::STAGE_CURRENT),
    ("events_stages_history", Consumers::STAGE_HISTORY),
    ("events_stages_history_long", Consumers::STAGE_LONG),
    ("events_statements_cpu", Consumers::CPU),
    ("events_statements_current", Consumers::CURRENT),
    ("events_statements_history", Consumers::HISTORY),
    ("events_statements_history_long", Consumers::LONG),
    ("events_transactions_current", Consumers::TRANSACTION_CURRENT),
    ("events_transactions_history", Consumers::TRANSACTION_HISTORY),
    ("events_transactions_history_long", Consumers::TRANSACTION_LONG),
    ("events_waits_current", Consumers::WAITS[0]),
    ("events_waits_history", Consumers::WAITS[1]),
    ("events_waits_history_long", Consumers::WAITS[2]),
    ("global_instrumentation", Consumers::GLOBAL),
    ("thread_instrumentation", Consumers::THREAD),
    ("statements_digest", Consumers::DIGEST),
];

/// Those that are enabled when a server begins.
const DEFAULT: Consumers = Consumers(
    Consumers::GLOBAL.0
        | Consumers::THREAD.0
        | Consumers::CURRENT.0
        | Consumers::HISTORY.0
        | Consumers::DIGEST.0
        | Consumers::TRANSACTION_CURRENT.0
        | Consumers::TRANSACTION_HISTORY.0,
);

/// Whose statements are collected: accounts whose names are these, or `%` for any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// Where the client is.
    pub host: String,
    /// The user.
    pub user: String,
    /// Not looked at.
    pub role: String,
    /// Its statements are collected.
    pub is_enabled: bool,
    /// The last ones are kept.
    pub has_history: bool,
}

impl Actor {
    fn any_account() -> Actor {
        let any = || "%".to_owned();
        Actor { host: any(), user: any(), role: any(), is_enabled: true, has_history: true }
    }

    /// Whether it is the same one.
    pub fn is(&self, other: &Actor) -> bool {
        self.host == other.host && self.user == other.user && self.role == other.role
    }
}

/// What may be collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instrument {
    /// Statements of a class.
    Statement(Class),
    /// Stages of statements.
    Stage(StageClass),
    /// Transactions.
    Transaction,
    /// Errors and warnings, which take no time.
    Error,
}

impl Instrument {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Instrument> {
        let stages = StageClass::all().map(Instrument::Stage);
        let statements = class::all().map(Instrument::Statement);
        stages.chain(statements).chain([Instrument::Transaction, Instrument::Error])
    }

    /// MySQL's name of it.
    pub fn name(self) -> &'static str {
        match self {
            Instrument::Statement(class) => class::name(class),
            Instrument::Stage(class) => class.name(),
            Instrument::Transaction => "transaction",
            Instrument::Error => "error",
        }
    }

    /// The one of that name.
    pub fn find(name: &str) -> Option<Instrument> {
        Instrument::all().find(|instrument| instrument.name() == name)
    }

    /// Whether its events take time.
    pub fn has_times(self) -> bool {
        self != Instrument::Error
    }
}

/// Of an instrument: it is enabled.
const ENABLED: u8 = 1;
/// The times of its events are measured.
const TIMED: u8 = 2;

/// What a server collects.
pub struct Setup {
    enabled: AtomicU32,
    /// Of those what counts.
    effective: AtomicU32,
    /// By class.
    statements: Box<[AtomicU8]>,
    stages: [AtomicU8; stage::NAMES.len()],
    /// Whether stages are collected that sessions have to note for it.
    notes_stages: AtomicBool,
    transactions: AtomicU8,
    errors: AtomicU8,
    /// `setup_actors`.
    pub actors: Mutex<Vec<Actor>>,
    /// Whether anything may ever be collected.
    may_collect: bool,
}

impl Setup {
    /// The defaults; nothing is ever collected unless `is_on`.
    pub fn new(is_on: bool) -> Setup {
        let enabled = if is_on { DEFAULT } else { Consumers(0) };
        Setup {
            enabled: AtomicU32::new(enabled.0),
            effective: AtomicU32::new(enabled.effective().0),
            statements: class::NAMES.iter().map(|_| AtomicU8::new(ENABLED | TIMED)).collect(),
            stages: std::array::from_fn(|place| {
                let has_progress = StageClass(place as u8).has_progress();
                AtomicU8::new(if has_progress { ENABLED | TIMED } else { 0 })
            }),
            notes_stages: AtomicBool::new(false),
            transactions: AtomicU8::new(ENABLED | TIMED),
            errors: AtomicU8::new(ENABLED),
            actors: Mutex::new(vec![Actor::any_account()]),
            may_collect: is_on,
        }
    }

    /// Whether anything is collected.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.effective.load(Ordering::Relaxed) != 0
    }

    /// What is collected.
    #[inline]
    pub fn consumers(&self) -> Consumers {
        Consumers(self.effective.load(Ordering::Relaxed))
    }

    /// Whether a consumer is enabled, which may be in vain.
    pub fn is_enabled(&self, consumer: Consumers) -> bool {
        Consumers(self.enabled.load(Ordering::Relaxed)).has(consumer)
    }

    /// Whether a consumer is enabled, and those above it.
    pub fn counts(&self, consumer: Consumers) -> bool {
        Consumers(self.enabled.load(Ordering::Relaxed)).effective().has(consumer)
    }

    /// Enables a consumer or disables it; whether that was a change.
    pub fn enable(&self, consumer: Consumers, on: bool) -> bool {
        let before = match on {
            true => self.enabled.fetch_or(consumer.0, Ordering::Relaxed),
            false => self.enabled.fetch_and(!consumer.0, Ordering::Relaxed),
        };
        if self.may_collect {
            let effective = Consumers(self.enabled.load(Ordering::Relaxed)).effective();
            self.effective.store(effective.0, Ordering::Relaxed);
        }
        (before & consumer.0 != 0) != on
    }

    fn bits(&self, instrument: Instrument) -> Option<&AtomicU8> {
        match instrument {
            Instrument::Statement(class) => self.statements.get(usize::from(class.0)),
            Instrument::Stage(class) => self.stages.get(usize::from(class.0)),
            Instrument::Transaction => Some(&self.transactions),
            Instrument::Error => Some(&self.errors),
        }
    }

    /// Sets whether that is collected, or with its times; whether that was a change.
    pub fn set(&self, instrument: Instrument, timed: bool, on: bool) -> bool {
        let bit = if timed { TIMED } else { ENABLED };
        let Some(bits) = self.bits(instrument) else { return false };
        let before = match on {
            true => bits.fetch_or(bit, Ordering::Relaxed),
            false => bits.fetch_and(!bit, Ordering::Relaxed),
        };
        let is_noted =
            |class: &StageClass| !class.has_progress() && self.collects(Instrument::Stage(*class)).0;
        self.notes_stages.store(StageClass::all().any(|class| is_noted(&class)), Ordering::Relaxed);
        (before & bit != 0) != on
    }

    /// Whether stages are collected that sessions have to note for it.
    #[inline]
    pub fn notes_stages(&self) -> bool {
        self.notes_stages.load(Ordering::Relaxed)
    }

    /// Whether statements of that account are collected, and the last ones kept, as the most exact of the
    /// actors says.
    pub fn of_account(&self, user: &str, host: &str) -> (bool, bool) {
        let actors = self.actors.lock();
        let fits = |given: &str, own: &str| given == "%" || given == own;
        let fitting = actors.iter().filter(|actor| fits(&actor.host, host) && fits(&actor.user, user));
        let exactness = |actor: &&Actor| (actor.host != "%", actor.user != "%");
        let best = fitting.max_by_key(exactness);
        best.map_or((false, false), |actor| (actor.is_enabled, actor.has_history))
    }

    /// Whether that is collected, and whether with its times.
    #[inline]
    pub fn collects(&self, instrument: Instrument) -> (bool, bool) {
        let bits = self.bits(instrument);
        let bits = bits.map_or(0, |bits| bits.load(Ordering::Relaxed));
        (bits & ENABLED != 0, bits & TIMED != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_consumer_counts_only_below_those_that_do() {
        let all = Consumers(u32::MAX);
        let without = |what: Consumers| Consumers(all.0 & !what.0).effective();
        assert_eq!(without(Consumers::GLOBAL), Consumers(0));
        let no_threads = without(Consumers::THREAD);
        assert!(no_threads.has(Consumers::DIGEST) && !no_threads.has(Consumers::CURRENT));
        let no_current = without(Consumers::CURRENT);
        assert!(!no_current.has(Consumers::HISTORY) && !no_current.has(Consumers::LONG));
        assert!(!without(Consumers::HISTORY).has(Consumers::HISTORY));
        let no_transaction = without(Consumers::TRANSACTION_CURRENT);
        assert!(no_transaction.has(Consumers::LONG) && !no_transaction.has(Consumers::TRANSACTION_HISTORY));
        assert!(!no_threads.has(Consumers::TRANSACTION_CURRENT));
        assert!(!Setup::new(false).is_on() && Setup::new(true).is_on());
    }

    #[test]
    fn what_is_disabled_is_not_collected() {
        let setup = Setup::new(true);
        assert!(setup.enable(Consumers::GLOBAL, false) && !setup.is_on());
        assert!(!setup.enable(Consumers::GLOBAL, false), "it is so already");
        assert!(setup.enable(Consumers::GLOBAL, true) && setup.consumers().has(Consumers::HISTORY));
        let selects = Instrument::find("statement/sql/select").expect("known");
        assert_eq!(setup.collects(selects), (true, true));
        assert!(setup.set(selects, true, false) && !setup.set(selects, true, false));
        assert_eq!(setup.collects(selects), (true, false));
        assert_eq!(setup.collects(Instrument::Transaction), (true, true));
        assert_eq!(setup.collects(Instrument::Error), (true, false));
        let executing = Instrument::find("stage/sql/executing").expect("known");
        assert!(!setup.notes_stages() && setup.set(executing, false, true) && setup.notes_stages());
        assert!(setup.set(executing, false, false) && !setup.notes_stages());
        assert!(Instrument::all().all(|known| Instrument::find(known.name()) == Some(known)));
        let off = Setup::new(false);
        off.enable(Consumers::GLOBAL, true);
        assert!(!off.is_on());
    }

    #[test]
    fn the_most_exact_actor_counts() {
        let setup = Setup::new(true);
        let actor = |user: &str, host: &str, on: bool| Actor {
            user: user.to_owned(),
            host: host.to_owned(),
            is_enabled: on,
            has_history: on,
            ..Actor::any_account()
        };
        assert_eq!(setup.of_account("u", "h"), (true, true));
        setup.actors.lock().push(actor("u", "%", false));
        assert_eq!((setup.of_account("u", "h").0, setup.of_account("v", "h").0), (false, true));
        setup.actors.lock().push(actor("u", "h", true));
        assert_eq!((setup.of_account("u", "h").0, setup.of_account("u", "i").0), (true, false));
        setup.actors.lock().clear();
        assert_eq!(setup.of_account("u", "h"), (false, false));
    }
}
