//! What the server's sessions tell of their statements, for performance_schema.
//!
//! | module | what it holds |
//! |---|---|
//! | here | [`Instruments`]: everything of one server |
//! | `collect` | a session tells of a statement that has ended |
//! | [`people`] | connections, and what they have counted, by account, user and host |
//! | `prepared` | a session tells of the statements that it prepares |
//! | `long` | the last events of all sessions |
//! | `refusals` | clients that are refused |
//! | [`objects`] | of which tables the use is counted, and which threads there are |
//! | [`stages`] | the stages of a statement |
//! | [`setup`] | what is collected: consumers, instruments, actors |
//!
//! With `performance_schema` OFF, or the consumer `global_instrumentation`, a statement costs one look at
//! that.

mod collect;
mod long;
pub mod objects;
pub mod people;
mod prepared;
mod refusals;
pub mod setup;
pub mod stages;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use palisade_base::sysvar::{Settings, VariableId};
use palisade_base::sysvar_catalogue as sysvar;
use palisade_observe::digests::{Digests, SampleRule};
use palisade_observe::session::{Event, Keep, KeepTransactions};
use palisade_observe::stage::StageEvent;
use palisade_observe::transaction::TransactionEvent;

pub(crate) use collect::{EXECUTE, FrequentTexts, Observed, outcome, running_event};
use long::Long;
use objects::{Objects, ThreadClasses};
use setup::Setup;

use crate::variables;

/// What MySQL takes for a size of -1.
const AUTOMATIC: u64 = 10_000;
/// The same for a session's history.
const AUTOMATIC_HISTORY: u64 = 10;

/// What a server collects of its statements.
pub struct Instruments {
    /// What is collected.
    pub setup: Setup,
    /// Of which tables the use is counted.
    pub objects: Objects,
    /// What threads there are.
    pub threads: ThreadClasses,
    /// Statements by digest.
    pub digests: Digests,
    /// The last statements of all sessions.
    pub long: Long<Event>,
    /// The last transactions of all sessions.
    pub long_transactions: Long<TransactionEvent>,
    /// The last stages of all sessions.
    pub long_stages: Long<StageEvent>,
    /// How much a session keeps.
    pub keep: Keep,
    /// Bytes of a digest's text.
    pub digest_length: usize,
    /// As long as no more statements are prepared, they are followed.
    most_prepared: u64,
    /// Those that were not.
    lost_prepared: AtomicU64,
    sample_age_ns: AtomicU64,
    began: Instant,
}

/// A time in nanoseconds, of which there is room for those of 584 years.
#[inline]
pub(crate) fn nanos_of(time: Duration) -> u64 {
    time.as_secs().wrapping_mul(1_000_000_000).wrapping_add(u64::from(time.subsec_nanos()))
}

/// A size of which -1 means that the server decides.
fn size(settings: &Settings, variable: VariableId, automatic: u64) -> u64 {
    u64::try_from(settings.int(variable)).unwrap_or(automatic)
}

impl Instruments {
    /// Those that the settings ask for.
    pub fn new(settings: &Settings) -> Instruments {
        let digests = size(settings, sysvar::PERFORMANCE_SCHEMA_DIGESTS_SIZE, AUTOMATIC);
        let [history, transaction_history, stage_history] = [
            sysvar::PERFORMANCE_SCHEMA_EVENTS_STATEMENTS_HISTORY_SIZE,
            sysvar::PERFORMANCE_SCHEMA_EVENTS_TRANSACTIONS_HISTORY_SIZE,
            sysvar::PERFORMANCE_SCHEMA_EVENTS_STAGES_HISTORY_SIZE,
        ]
        .map(|variable| size(settings, variable, AUTOMATIC_HISTORY) as usize);
        let [long, long_transactions, long_stages] = [
            sysvar::PERFORMANCE_SCHEMA_EVENTS_STATEMENTS_HISTORY_LONG_SIZE,
            sysvar::PERFORMANCE_SCHEMA_EVENTS_TRANSACTIONS_HISTORY_LONG_SIZE,
            sysvar::PERFORMANCE_SCHEMA_EVENTS_STAGES_HISTORY_LONG_SIZE,
        ]
        .map(|variable| size(settings, variable, AUTOMATIC) as usize);
        let transactions = KeepTransactions { current: true, history: transaction_history, is_timed: true };
        let lengths = [sysvar::PERFORMANCE_SCHEMA_MAX_DIGEST_LENGTH, sysvar::MAX_DIGEST_LENGTH];
        let digest_length = lengths.map(|length| settings.uint(length)).into_iter().min().unwrap_or(0);
        let text = settings.uint(sysvar::PERFORMANCE_SCHEMA_MAX_SQL_TEXT_LENGTH) as usize;
        let instruments = Instruments {
            setup: Setup::new(settings.bool(sysvar::PERFORMANCE_SCHEMA)),
            objects: Objects::default(),
            threads: ThreadClasses::default(),
            digests: Digests::new(u32::try_from(digests).unwrap_or(u32::MAX - 1)),
            long: Long::of(long),
            long_transactions: Long::of(long_transactions),
            long_stages: Long::of(long_stages),
            keep: Keep { current: true, history, text, transactions, current_stage: true, stage_history },
            digest_length: digest_length as usize,
            most_prepared: size(
                settings,
                sysvar::PERFORMANCE_SCHEMA_MAX_PREPARED_STATEMENTS_INSTANCES,
                u64::MAX,
            ),
            lost_prepared: AtomicU64::new(0),
            sample_age_ns: AtomicU64::new(0),
            began: Instant::now(),
        };
        instruments.follow(settings);
        instruments
    }

    /// What can be set while the server runs has been set.
    pub fn follow(&self, settings: &Settings) {
        let age = settings.uint(sysvar::PERFORMANCE_SCHEMA_MAX_DIGEST_SAMPLE_AGE);
        let age_ns = if age == 0 { u64::MAX } else { age.saturating_mul(1_000_000_000) };
        self.sample_age_ns.store(age_ns, Ordering::Relaxed);
    }

    /// How many prepared statements there was no room for.
    pub fn lost_prepared(&self) -> u64 {
        self.lost_prepared.load(Ordering::Relaxed)
    }

    /// Whether statements are collected at all.
    #[inline]
    pub fn collects(&self) -> bool {
        self.setup.is_on()
    }

    /// A moment as events have it: nanoseconds since the server began.
    #[inline]
    pub fn ns_of(&self, moment: Instant) -> u64 {
        nanos_of(moment.saturating_duration_since(self.began))
    }

    /// Microseconds since 1970 at which it was `ns` since the server began, by the clock of now.
    pub fn unix_micros_of(&self, ns: u64) -> i64 {
        let ago_micros = self.ns_of(Instant::now()).saturating_sub(ns) / 1000;
        variables::unix_micros().saturating_sub(i64::try_from(ago_micros).unwrap_or(i64::MAX))
    }

    fn sample_rule(&self) -> SampleRule {
        SampleRule { age_ns: self.sample_age_ns.load(Ordering::Relaxed), text: self.keep.text }
    }
}
