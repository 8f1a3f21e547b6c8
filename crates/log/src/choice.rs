//! How AUTO finds out whether the log's threads are worth their cost: it tries.
//!
//! A worker that leads a flush saves the handing over, but sleeps in it. On an idle machine that is the cheapest way by far.
//! Where others compete for the processors, whoever has slept waits for its turn again, and workers that never sleep
//! because the log's threads flush for them get more done. Nothing that a worker sees tells the two apart in advance, and
//! the load changes. So from time to time AUTO leads for a short while, uses the threads for a short while, compares how
//! far the durable LSN has come in each, and settles for the better until the next trial:
//!
//! ```text
//!   try leading ─► try the threads ─► settle for the better ─┐
//!        └─────────────◄─────────────────────────────────────┘   later and later while nothing changes
//! ```
//!
//! With little to do there is nothing to compare and AUTO leads.

use std::time::Duration;

use palisade_base::Lsn;

use crate::sync::{AtomicBool, Mutex, Ordering};

/// How long one way is tried before it is the other's turn, at least.
const TURN: Duration = Duration::from_millis(40);
/// Flushes in a turn, at least.
const TURN_FLUSHES: u32 = 8;
/// Turns of each in a trial.
const TURNS: u32 = 3;
/// How long AUTO settles after its mind has changed; twice as long each time that it has not.
const SETTLED: Duration = Duration::from_secs(1);
/// The longest that it settles.
const LONGEST: Duration = Duration::from_secs(8);
/// Flushes further apart than this: there is little to do.
const IDLE: Duration = Duration::from_millis(100);
/// How much further the threads must come to be worth the processor time they take.
const WORTH: f64 = 1.1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Leading,
    Threads,
    Settled,
}

/// What has been achieved one way.
#[derive(Debug, Clone, Copy, Default)]
struct Score {
    bytes: u64,
    time: Duration,
    turns: u32,
}

impl Score {
    fn add(&mut self, bytes: u64, time: Duration) {
        *self = Score { bytes: self.bytes + bytes, time: self.time + time, turns: self.turns + 1 };
    }

    fn per_second(&self) -> f64 {
        self.bytes as f64 / self.time.as_secs_f64()
    }
}

/// Where the trials are.
struct Trial {
    phase: Phase,
    /// When the phase began, and at which LSN.
    since: Duration,
    from: Lsn,
    flushes: u32,
    last: Duration,
    leading: Score,
    threads: Score,
    /// What the last trial has shown.
    prefers_threads: bool,
    settles: Duration,
}

/// AUTO's choice.
pub(crate) struct Choice {
    threads: AtomicBool,
    trial: Mutex<Trial>,
}

impl Choice {
    pub(crate) fn new() -> Choice {
        Choice { threads: AtomicBool::new(false), trial: Mutex::new(Trial::new(Duration::ZERO, Lsn::ZERO)) }
    }

    /// Forgets what was found out.
    pub(crate) fn reset(&self) {
        *self.trial.lock() = Trial::new(Duration::ZERO, Lsn::ZERO);
        self.threads.store(false, Ordering::SeqCst);
    }

    /// Whether the log's threads write and flush now.
    pub(crate) fn uses_threads(&self) -> bool {
        self.threads.load(Ordering::SeqCst)
    }

    /// A flush has ended at `now`, everything below `durable` being durable; whether the choice has changed.
    pub(crate) fn note(&self, now: Duration, durable: Lsn) -> bool {
        let uses_threads = self.trial.lock().note(now, durable);
        self.threads.swap(uses_threads, Ordering::SeqCst) != uses_threads
    }
}

impl Trial {
    fn new(now: Duration, durable: Lsn) -> Trial {
        Trial {
            phase: Phase::Leading,
            since: now,
            from: durable,
            flushes: 0,
            last: now,
            leading: Score::default(),
            threads: Score::default(),
            prefers_threads: false,
            settles: SETTLED,
        }
    }

    /// Whether the threads are to be used from now on.
    fn note(&mut self, now: Duration, durable: Lsn) -> bool {
        if self.from == Lsn::ZERO || now.saturating_sub(self.last) > IDLE {
            *self = Trial::new(now, durable);
            return false;
        }
        self.last = now;
        self.flushes += 1;
        let (bytes, time) = (durable.since(self.from), now.saturating_sub(self.since));
        let length = if self.phase == Phase::Settled { self.settles } else { TURN };
        if time >= length && self.flushes >= TURN_FLUSHES {
            self.phase = self.next_phase(bytes, time);
            (self.since, self.from, self.flushes) = (now, durable, 0);
        }
        match self.phase {
            Phase::Leading => false,
            Phase::Threads => true,
            Phase::Settled => self.prefers_threads,
        }
    }

    /// The phase has brought `bytes` in `time`.
    fn next_phase(&mut self, bytes: u64, time: Duration) -> Phase {
        match self.phase {
            Phase::Settled => {
                (self.leading, self.threads) = Default::default();
                Phase::Leading
            }
            Phase::Leading => {
                self.leading.add(bytes, time);
                Phase::Threads
            }
            Phase::Threads => {
                self.threads.add(bytes, time);
                if self.threads.turns < TURNS {
                    return Phase::Leading;
                }
                let prefers_threads = self.threads.per_second() > WORTH * self.leading.per_second();
                let has_changed = prefers_threads != self.prefers_threads;
                self.settles = if has_changed { SETTLED } else { (self.settles * 2).min(LONGEST) };
                self.prefers_threads = prefers_threads;
                Phase::Settled
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Flushes for `time`, a millisecond apart, `leading` or `threads` bytes each; the share of flushes by threads.
    fn share(choice: &Choice, at: &mut (Duration, Lsn), time: Duration, leading: u64, threads: u64) -> f64 {
        let (end, mut flushes, mut by_threads) = (at.0 + time, 0, 0);
        while at.0 < end {
            let uses_threads = choice.uses_threads();
            at.0 += Duration::from_millis(1);
            at.1 = at.1.advance(if uses_threads { threads } else { leading });
            choice.note(at.0, at.1);
            flushes += 1;
            by_threads += u64::from(uses_threads);
        }
        by_threads as f64 / f64::from(flushes)
    }

    #[test]
    fn it_settles_for_what_comes_further_and_notices_when_that_changes() {
        let choice = Choice::new();
        let mut at = (Duration::from_secs(100), Lsn(8192));
        let minute = Duration::from_secs(60);
        assert!(share(&choice, &mut at, minute, 1000, 1000) < 0.03, "no better is not worth it");
        assert!(share(&choice, &mut at, minute, 1000, 1500) > 0.8);
        assert!(share(&choice, &mut at, minute, 1000, 1500) > 0.97, "trials become rare");
        assert!(share(&choice, &mut at, minute, 1000, 700) < 0.2);
        assert!(share(&choice, &mut at, minute, 1000, 700) < 0.03);
    }

    #[test]
    fn with_little_to_do_it_leads() {
        let choice = Choice::new();
        let mut at = (Duration::from_secs(100), Lsn(8192));
        share(&choice, &mut at, Duration::from_secs(20), 1000, 3000);
        assert!(choice.uses_threads());
        for second in 1..100 {
            choice.note(at.0 + Duration::from_secs(second), at.1.advance(second * 100));
            assert!(!choice.uses_threads());
        }
    }
}
