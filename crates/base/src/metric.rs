//! Counters, declared once.
//!
//! A crate declares its metrics with [`crate::metrics!`]; SHOW STATUS, INNODB_METRICS and Prometheus list what the
//! crates export. Counting is one relaxed add on a cache line that the counting thread mostly has to itself:
//! reading costs the counted path nothing. What [`crate::monitor`] makes of them - on and off, since when, how much
//! since the last reset - is worked out by who reads.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// In how many parts a number is counted.
pub const SHARDS: usize = 8;

/// What a metric's number means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only grows.
    Counter,
    /// A current value.
    Gauge,
    /// MySQL counts this; here is nothing of the kind to be counted. Always 0, and the comment says why.
    Absent,
    /// MySQL counts this and this server does not. Its [monitor](crate::monitor) is never on.
    Uncounted,
}

#[repr(align(64))]
struct Shard(AtomicU64);

/// What INNODB_METRICS shows as TYPE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// `counter`.
    Counter,
    /// `status_counter`: SHOW STATUS has it, too.
    StatusCounter,
    /// `value`: as it is now.
    Value,
    /// `set_owner`: a sum, of which the average over its occurrences is told as well.
    SetOwner,
    /// `set_member`: belongs to one of those.
    SetMember,
}

impl Type {
    /// As it is shown.
    pub fn name(self) -> &'static str {
        match self {
            Type::Counter => "counter",
            Type::StatusCounter => "status_counter",
            Type::Value => "value",
            Type::SetOwner => "set_owner",
            Type::SetMember => "set_member",
        }
    }
}

/// A named number, counted in shards by thread.
pub struct Metric {
    /// Name as in INNODB_METRICS, e.g. `log_writes`.
    pub name: &'static str,
    /// Module as in INNODB_METRICS, e.g. `recovery` or `buffer`.
    pub module: &'static str,
    /// One line for people.
    pub comment: &'static str,
    /// What the number means.
    pub kind: Kind,
    /// Name in SHOW STATUS, if it is shown there.
    pub status: Option<&'static str>,
    /// MySQL's TYPE, where it is not what the kind suggests.
    shown: Option<Type>,
    shards: [Shard; SHARDS],
}

thread_local! {
    static SHARD: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// The part in which the calling thread counts, below [`SHARDS`].
#[inline]
pub fn own_shard() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    SHARD.with(|shard| {
        if shard.get() == usize::MAX {
            shard.set(NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS);
        }
        shard.get()
    })
}

impl Metric {
    /// For [`crate::metrics!`].
    pub const fn new(name: &'static str, module: &'static str, comment: &'static str, kind: Kind) -> Self {
        let shards = [const { Shard(AtomicU64::new(0)) }; SHARDS];
        Metric { name, module, comment, kind, status: None, shown: None, shards }
    }

    /// The same metric, shown by SHOW STATUS under this name.
    pub const fn in_status(mut self, name: &'static str) -> Self {
        self.status = Some(name);
        self
    }

    /// The same metric, shown as of this type.
    pub const fn shown_as(mut self, shown: Type) -> Self {
        self.shown = Some(shown);
        self
    }

    /// TYPE in INNODB_METRICS.
    pub fn shown_type(&self) -> Type {
        self.shown.unwrap_or(match (self.kind, self.status) {
            (Kind::Gauge, _) => Type::Value,
            (Kind::Counter | Kind::Absent | Kind::Uncounted, None) => Type::Counter,
            (Kind::Counter | Kind::Absent | Kind::Uncounted, Some(_)) => Type::StatusCounter,
        })
    }

    #[expect(clippy::indexing_slicing, reason = "own_shard() is below the number of shards")]
    fn own_shard(&self) -> &Shard {
        &self.shards[own_shard()]
    }

    /// Adds 1.
    pub fn increment(&self) {
        self.add(1);
    }

    /// Adds `amount`.
    pub fn add(&self, amount: u64) {
        self.own_shard().0.fetch_add(amount, Ordering::Relaxed);
    }

    /// Subtracts `amount`; for gauges that count up and down.
    pub fn subtract(&self, amount: u64) {
        self.own_shard().0.fetch_sub(amount, Ordering::Relaxed);
    }

    /// Sets a gauge that one thread maintains.
    pub fn set(&self, value: u64) {
        self.shards[0].0.store(value, Ordering::Relaxed);
    }

    /// Raises a gauge that one thread maintains to `value` if it is below.
    pub fn raise_to(&self, value: u64) {
        self.shards[0].0.fetch_max(value, Ordering::Relaxed);
    }

    /// The current value: the sum over the shards.
    pub fn value(&self) -> u64 {
        self.shards.iter().fold(0u64, |sum, shard| sum.wrapping_add(shard.0.load(Ordering::Relaxed)))
    }
}

/// Declares metrics as statics, and `METRICS`, the list of them. The name in SHOW STATUS, if there is one, comes last. Where
/// MySQL's TYPE is not what the kind suggests, `as` says what it is:
///
/// ```
/// palisade_base::metrics! {
///     /// Writes to log files.
///     pub static LOG_WRITES: Counter = "log_writes", "log", "Number of log writes", "Innodb_log_writes";
///     /// The longest of the last flushes.
///     pub static LONGEST: Gauge as Counter = "log_flush_max_time", "log", "Maximum time spent on fsync for log files";
/// }
/// LOG_WRITES.increment();
/// assert_eq!(METRICS[0].value(), 1);
/// ```
#[macro_export]
macro_rules! metrics {
    ($($(#[$doc:meta])* pub static $ident:ident: $kind:ident $(as $shown:ident)? = $name:literal, $module:literal, $comment:literal
        $(, $status:literal)?;)*) => {
        $($(#[$doc])* pub static $ident: $crate::metric::Metric =
            $crate::metric::Metric::new($name, $module, $comment, $crate::metric::Kind::$kind)
            $(.in_status($status))? $(.shown_as($crate::metric::Type::$shown))?;)*
        /// Every metric this crate declares, in order of declaration.
        pub static METRICS: &[&$crate::metric::Metric] = &[$(&$ident),*];
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_follows_from_the_kind_unless_it_is_declared() {
        let metric = |kind| Metric::new("m", "t", "", kind);
        assert_eq!(metric(Kind::Gauge).in_status("s").shown_type().name(), "value");
        assert_eq!(metric(Kind::Counter).shown_type().name(), "counter");
        assert_eq!(metric(Kind::Absent).in_status("s").shown_type().name(), "status_counter");
        assert_eq!(metric(Kind::Gauge).shown_as(Type::SetMember).shown_type().name(), "set_member");
    }

    #[test]
    fn the_value_is_the_sum_over_threads() {
        static METRIC: Metric = Metric::new("m", "t", "", Kind::Counter);
        let threads: Vec<_> = (0..20).map(|_| std::thread::spawn(|| METRIC.add(3))).collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(METRIC.value(), 60);
    }
}
