//! What the server's sessions tell of their statements, for performance_schema.
//!
//! | module | what it holds |
//! |---|---|
//! | here | [`Instruments`]: everything of one server |
//! | `collect` | a session tells of a statement that has ended |
//! | [`people`] | connections and statements by account, user and host |
//! | [`setup`] | what is collected: consumers, instruments, actors |
//!
//! With `performance_schema` OFF, or the consumer `global_instrumentation`, a statement costs one look at
//! that.

mod collect;
pub mod people;
pub mod setup;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use palisade_base::sysvar::{Settings, VariableId};
use palisade_base::sysvar_catalogue as sysvar;
use palisade_observe::digests::{Digests, SampleRule};
use palisade_observe::session::{Event, Keep};
use parking_lot::Mutex;

pub(crate) use collect::{EXECUTE, FrequentTexts, Observed, outcome, running_event};
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
    /// Statements by digest.
    pub digests: Digests,
    /// The last statements of all sessions, with their connections' numbers.
    long: Mutex<VecDeque<(u64, Event)>>,
    long_size: usize,
    /// How much a session keeps.
    pub keep: Keep,
    /// Bytes of a digest's text.
    pub digest_length: usize,
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
        let history =
            size(settings, sysvar::PERFORMANCE_SCHEMA_EVENTS_STATEMENTS_HISTORY_SIZE, AUTOMATIC_HISTORY);
        let long = size(settings, sysvar::PERFORMANCE_SCHEMA_EVENTS_STATEMENTS_HISTORY_LONG_SIZE, AUTOMATIC);
        let lengths = [sysvar::PERFORMANCE_SCHEMA_MAX_DIGEST_LENGTH, sysvar::MAX_DIGEST_LENGTH];
        let digest_length = lengths.map(|length| settings.uint(length)).into_iter().min().unwrap_or(0);
        let text = settings.uint(sysvar::PERFORMANCE_SCHEMA_MAX_SQL_TEXT_LENGTH) as usize;
        let instruments = Instruments {
            setup: Setup::new(settings.bool(sysvar::PERFORMANCE_SCHEMA)),
            digests: Digests::new(u32::try_from(digests).unwrap_or(u32::MAX - 1)),
            long: Mutex::default(),
            long_size: long as usize,
            keep: Keep { current: true, history: history as usize, text },
            digest_length: digest_length as usize,
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

    /// Keeps a statement in the history of all sessions.
    fn keep_long(&self, connection: u64, event: Event) {
        let mut long = self.long.lock();
        while long.len() >= self.long_size.max(1) {
            long.pop_front();
        }
        if self.long_size > 0 {
            long.push_back((connection, event));
        }
    }

    /// The last statements of all sessions, with the numbers of their connections.
    pub fn long(&self) -> Vec<(u64, Event)> {
        self.long.lock().iter().cloned().collect()
    }

    /// TRUNCATE of that.
    pub fn truncate_long(&self) {
        self.long.lock().clear();
    }
}
