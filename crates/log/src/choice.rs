//! How AUTO finds out who should flush: it tries.
//!
//! A worker that leads a flush saves the handing over, but sleeps in it. On an idle machine that is the cheapest way by far.
//! Where others compete for the processors, whoever has slept waits for its turn again, and workers that never sleep
//! because the log's threads flush for them get more done; or those that leave a flush to the flusher thread while they have
//! sessions to serve. Nothing that a worker sees tells these apart in advance, and the load changes. So from time to
//! time AUTO goes each [`Way`] for a short while in turn, compares how far the durable LSN has come in each, and settles for
//! the best until the next trial:
//!
//! ```text
//!   lead ─► hand over ─► threads ─► lead ... ─► settle for the best ─┐
//!    └──────────────────────────◄────────────────────────────────────┘   later and later while nothing changes
//! ```
//!
//! A way that is far behind is tried once in a trial. With little to do there is nothing to compare and AUTO leads.

use std::sync::atomic::AtomicU8;
use std::time::Duration;

use palisade_base::Lsn;

use crate::sync::{Mutex, Ordering};

/// How long one way is tried before it is another's turn, at least.
const TURN: Duration = Duration::from_millis(40);
/// Flushes in a turn, at least.
const TURN_FLUSHES: u32 = 8;
/// Turns of each way in a trial.
const TURNS: u32 = 3;
/// A way that has come less far than this part of what another has is given up for the rest of the trial.
const HOPELESS: f64 = 0.85;
/// What comes as far as this part of the best is about as good.
const SIMILAR: f64 = 0.9;
/// How long AUTO settles after another way has become better by far; twice as long each time that none has.
const SETTLED: Duration = Duration::from_secs(1);
/// The longest that it settles.
const LONGEST: Duration = Duration::from_secs(8);
/// Flushes further apart than this: there is little to do.
const IDLE: Duration = Duration::from_millis(100);

/// A way to flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Way {
    /// A worker leads, as with `OFF`.
    Lead = 0,
    /// A worker leads if its sessions are all waiting, and otherwise leaves it to the flusher thread.
    HandOver = 1,
    /// The log's threads write and flush, as with `ON`.
    Threads = 2,
}

impl Way {
    const ALL: [Way; 3] = [Way::Lead, Way::HandOver, Way::Threads];

    /// How much further it must come than leading to be worth the processor time it takes.
    fn worth(self) -> f64 {
        match self {
            Way::Lead => 1.0,
            Way::HandOver => 1.03,
            Way::Threads => 1.1,
        }
    }
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

    /// Bytes a second; nothing is known of a way that has not been tried.
    fn rate(&self) -> Option<f64> {
        (self.turns > 0).then(|| self.bytes as f64 / self.time.as_secs_f64())
    }
}

/// Where the trials are.
struct Trial {
    way: Way,
    /// Whether `way` is what the last trial has shown, and not being tried.
    is_settled: bool,
    /// When the present turn began, and at which LSN.
    since: Duration,
    from: Lsn,
    flushes: u32,
    last: Duration,
    scores: [Score; Way::ALL.len()],
    preferred: Way,
    settles: Duration,
}

/// AUTO's choice.
pub(crate) struct Choice {
    way: AtomicU8,
    trial: Mutex<Trial>,
}

impl Choice {
    pub(crate) fn new() -> Choice {
        let way = AtomicU8::new(Way::Lead as u8);
        Choice { way, trial: Mutex::new(Trial::new(Duration::ZERO, Lsn::ZERO)) }
    }

    /// Forgets what was found out.
    pub(crate) fn reset(&self) {
        *self.trial.lock() = Trial::new(Duration::ZERO, Lsn::ZERO);
        self.way.store(Way::Lead as u8, Ordering::SeqCst);
    }

    /// How it is done now.
    pub(crate) fn way(&self) -> Way {
        Way::ALL[usize::from(self.way.load(Ordering::SeqCst))]
    }

    /// A flush has ended at `now`, everything below `durable` being durable; whether the log's threads have become
    /// responsible, or are no longer.
    pub(crate) fn note(&self, now: Duration, durable: Lsn) -> bool {
        let way = self.trial.lock().note(now, durable);
        let before = self.way.swap(way as u8, Ordering::SeqCst);
        (before == Way::Threads as u8) != (way == Way::Threads)
    }
}

impl Trial {
    fn new(now: Duration, durable: Lsn) -> Trial {
        Trial {
            way: Way::Lead,
            is_settled: false,
            since: now,
            from: durable,
            flushes: 0,
            last: now,
            scores: Default::default(),
            preferred: Way::Lead,
            settles: SETTLED,
        }
    }

    /// The way to go from now on.
    fn note(&mut self, now: Duration, durable: Lsn) -> Way {
        if self.from == Lsn::ZERO || now.saturating_sub(self.last) > IDLE {
            *self = Trial::new(now, durable);
            return self.way;
        }
        self.last = now;
        self.flushes += 1;
        let (bytes, time) = (durable.since(self.from), now.saturating_sub(self.since));
        let length = if self.is_settled { self.settles } else { TURN };
        if time >= length && self.flushes >= TURN_FLUSHES {
            self.end_turn(bytes, time);
            (self.since, self.from, self.flushes) = (now, durable, 0);
        }
        self.way
    }

    /// The turn has brought `bytes` in `time`.
    fn end_turn(&mut self, bytes: u64, time: Duration) {
        if self.is_settled {
            (self.way, self.is_settled, self.scores) = (Way::Lead, false, Default::default());
            return;
        }
        self.scores[self.way as usize].add(bytes, time);
        match self.next_to_try() {
            Some(way) => self.way = way,
            None => self.settle(),
        }
    }

    /// The way with the fewest turns, unless the trial is over or only one is left in it.
    fn next_to_try(&self) -> Option<Way> {
        let best = self.scores.iter().filter_map(Score::rate).fold(0.0, f64::max);
        let has_hope =
            |way: &Way| self.scores[*way as usize].rate().is_none_or(|rate| rate >= HOPELESS * best);
        let left: Vec<Way> = Way::ALL.into_iter().filter(has_hope).collect();
        let turns = |way: &Way| self.scores[*way as usize].turns;
        let next = left.iter().copied().min_by_key(turns)?;
        (left.len() > 1 && turns(&next) < TURNS).then_some(next)
    }

    fn settle(&mut self) {
        let value = |way: Way| self.scores[way as usize].rate().unwrap_or(0.0) / way.worth();
        let best = Way::ALL.into_iter().max_by(|a, b| value(*a).total_cmp(&value(*b))).unwrap_or(Way::Lead);
        // Ways that are about as good take turns at being the best; that is no change of the load.
        let has_changed = value(self.preferred) < SIMILAR * value(best);
        self.settles = if has_changed { SETTLED } else { (self.settles * 2).min(LONGEST) };
        (self.way, self.preferred, self.is_settled) = (best, best, true);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Where flushes come a millisecond apart, `bytes` each by way.
    struct Load {
        choice: Choice,
        now: Duration,
        durable: Lsn,
    }

    impl Load {
        fn new() -> Load {
            Load { choice: Choice::new(), now: Duration::from_secs(100), durable: Lsn(8192) }
        }

        /// The share of flushes done each way in a minute.
        fn minute(&mut self, bytes: [u64; 3]) -> [f64; 3] {
            let mut flushes = [0.0; 3];
            for _ in 0..60_000 {
                let way = self.choice.way() as usize;
                self.now += Duration::from_millis(1);
                self.durable = self.durable.advance(bytes[way]);
                self.choice.note(self.now, self.durable);
                flushes[way] += 1.0 / 60_000.0;
            }
            flushes
        }
    }

    #[test]
    fn it_settles_for_what_comes_further_and_notices_when_that_changes() {
        let mut load = Load::new();
        assert!(load.minute([1000, 1000, 1000])[0] > 0.9, "no better is not worth it");
        assert!(load.minute([1000, 1000, 1500])[2] > 0.8);
        assert!(load.minute([1000, 1000, 1500])[2] > 0.97, "trials become rare");
        assert!(load.minute([1000, 1200, 1000])[1] > 0.8);
        assert!(load.minute([1000, 1200, 1000])[1] > 0.95);
        assert!(load.minute([1000, 900, 900])[0] > 0.8);
        assert!(load.minute([1000, 900, 900])[0] > 0.95);
    }

    /// Where two ways are equal but for chance, trials become rare all the same.
    #[test]
    fn ways_that_take_turns_at_being_the_best_do_not_keep_it_trying() {
        let mut load = Load::new();
        let mut random = palisade_base::prng::Prng::new(3);
        let (mut by_threads, mut level) = (0, 0);
        for flush in 0..60_000 {
            let way = load.choice.way();
            if flush % 40 == 0 {
                level = 800 + random.below(400);
            }
            let bytes = if way == Way::Threads { 600 } else { level };
            load.now += Duration::from_millis(1);
            load.durable = load.durable.advance(bytes);
            load.choice.note(load.now, load.durable);
            by_threads += u32::from(way == Way::Threads);
        }
        // A turn in each of some ten trials, and more where chance has it.
        assert!(by_threads < 20 * 41, "{by_threads} ms");
    }

    #[test]
    fn what_is_far_behind_is_not_tried_again_in_the_same_trial() {
        let mut load = Load::new();
        let threads = load.minute([1000, 1000, 700])[2];
        // Eleven trials in the first minute, a turn each.
        assert!(threads > 0.0 && threads < 12.0 * 0.041 / 60.0, "{threads}");
    }

    #[test]
    fn a_change_between_ways_of_the_workers_concerns_no_thread() {
        let choice = Choice::new();
        let (mut now, mut durable, mut changes) = (Duration::from_secs(100), Lsn(8192), 0);
        let mut by_threads = false;
        for _ in 0..2000 {
            (now, durable) = (now + Duration::from_millis(1), durable.advance(1000));
            let changed = choice.note(now, durable);
            let uses_threads = choice.way() == Way::Threads;
            assert_eq!(changed, uses_threads != by_threads);
            by_threads = uses_threads;
            changes += u32::from(changed);
        }
        assert!(changes > 0);
    }

    #[test]
    fn with_little_to_do_it_leads() {
        let mut load = Load::new();
        load.minute([1000, 1000, 3000]);
        assert_eq!(load.choice.way(), Way::Threads);
        for second in 1..100 {
            load.choice.note(load.now + Duration::from_secs(second), load.durable.advance(second * 100));
            assert_eq!(load.choice.way(), Way::Lead);
        }
    }
}
