//! How much to write back now.
//!
//! Dirty pages may stay in memory as long as the log has room to redo them: a page changed a hundred times is then
//! written once. The log's room is the budget, and the *age* - from the oldest change not on disk to the tail, as a part of
//! the log's capacity - says how much of it is used.
//!
//! ```text
//!  age   0      0.1           0.5           0.75    0.8        1
//!        nothing | gain 0 ... 1 | gain 1 ... 2 | catch up to 0.6 |
//! ```
//!
//! The pacer keeps a target: pages whose oldest change lies below it are to be written. Whenever the log has grown by some
//! bytes, the target moves on by that many times the *gain*. Where the gain is 1, pages leave as fast as the log grows and
//! the age stays where it is; below, the age rises, above, it falls. So the age settles near one half, the rate follows the
//! load by itself - no estimate of the device, no knob - and there are no bursts, because the target moves by what
//! was produced since the last step, many times a second. Only beyond 0.8, where writers are about to be slowed, the
//! target jumps. Below 0.75 `io_capacity_max` bounds the rate.
//!
//! Two more reasons to write: nothing was logged for a second (idle: clean at `io_capacity`), and too many dirty pages for
//! the evictor to find clean ones.

use std::time::Duration;

use palisade_base::Lsn;

/// Below this age nothing is written for the log's sake.
const LOW_WATER_AGE: f64 = 0.10;
/// Here pages leave as fast as the log grows.
const BALANCED_AGE: f64 = 0.50;
/// Here twice as fast.
pub(crate) const HIGH_AGE: f64 = 0.75;
/// From here on, whatever it takes to get back to [`CATCH_UP_AGE`].
pub(crate) const URGENT_AGE: f64 = 0.80;
const CATCH_UP_AGE: f64 = 0.60;
/// So long without log: idle.
const IDLE_AFTER: Duration = Duration::from_secs(1);
/// Longest interval that a step makes up for: after a pause, no burst.
const LONGEST_STEP: Duration = Duration::from_secs(1);

/// The state of the pool at a step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Observation {
    pub(crate) now: Duration,
    pub(crate) tail: Lsn,
    /// Start of the oldest change that may not be on disk.
    pub(crate) oldest: Lsn,
    /// Bytes of log that may lie between them.
    pub(crate) log_capacity: u64,
    pub(crate) dirty: usize,
    pub(crate) frames: usize,
}

impl Observation {
    /// How much of the log's capacity lies between the oldest change and the tail, 0 to 1.
    fn age(&self) -> f64 {
        self.tail.0.saturating_sub(self.oldest.0) as f64 / self.log_capacity.max(1) as f64
    }
}

/// So many dirty frames leave too few for the evictor.
const MOST_DIRTY: f64 = 0.9;

/// How many pages a second may be written back, set by the administrator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoCapacity {
    /// When nothing is logged (`innodb_io_capacity`).
    pub idle: u32,
    /// Otherwise, unless the log is nearly full (`innodb_io_capacity_max`).
    pub most: u32,
}

impl Default for IoCapacity {
    /// MySQL's.
    fn default() -> Self {
        IoCapacity { idle: 10_000, most: 20_000 }
    }
}

/// Why pages are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The log grew.
    Adaptive,
    /// Nothing else is to be done, or many pages are dirty.
    Background,
}

/// What to write now: pages whose oldest change lies below `below`, at most `pages`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) below: Lsn,
    pub(crate) pages: usize,
    pub(crate) reason: Reason,
}

/// Turns observations into plans.
#[derive(Debug, Default)]
pub(crate) struct Pacer {
    last: Option<(Duration, Lsn)>,
    target: u64,
    idle: Duration,
    /// Part of a page that rounding has left over.
    remainder: f64,
}

impl Pacer {
    /// What to write at this step, if anything.
    pub(crate) fn plan(&mut self, seen: Observation, limits: IoCapacity) -> Option<Plan> {
        let (since, produced) = match self.last {
            Some((then, tail)) => (seen.now.saturating_sub(then), seen.tail.0.saturating_sub(tail.0)),
            None => (Duration::ZERO, 0),
        };
        self.last = Some((seen.now, seen.tail));
        self.idle = if produced == 0 { self.idle + since } else { Duration::ZERO };
        if seen.dirty == 0 {
            return None;
        }
        let since = since.min(LONGEST_STEP);
        // Idleness first: it wants all pages written, the log only the oldest, and who asks for these asks for them again as long as
        // the log is not told that they are gone.
        self.for_idleness(seen, since, limits)
            .or_else(|| self.for_the_log(seen, produced, since, limits))
            .or_else(|| self.for_clean_frames(seen, since, limits))
    }

    fn for_the_log(
        &mut self,
        seen: Observation,
        produced: u64,
        since: Duration,
        limits: IoCapacity,
    ) -> Option<Plan> {
        let (capacity, age) = (seen.log_capacity.max(1) as f64, seen.age());
        self.target = self.target.max(seen.oldest.0);
        if age < LOW_WATER_AGE {
            return None;
        }
        self.target += (produced as f64 * gain(age)) as u64;
        let mut pages = None;
        if age >= HIGH_AGE {
            pages = Some(usize::MAX);
        }
        if age >= URGENT_AGE {
            self.target = self.target.max(seen.tail.0 - (capacity * CATCH_UP_AGE) as u64);
        }
        self.target = self.target.min(seen.tail.0);
        let pages = pages.unwrap_or_else(|| self.share(limits.most, since));
        let plan = Plan { below: Lsn(self.target), pages, reason: Reason::Adaptive };
        (pages > 0 && seen.oldest < plan.below).then_some(plan)
    }

    fn for_idleness(&mut self, seen: Observation, since: Duration, limits: IoCapacity) -> Option<Plan> {
        if self.idle < IDLE_AFTER {
            return None;
        }
        // Nothing is logged either when everybody waits for room in the log.
        let pages = match seen.age() >= HIGH_AGE {
            true => usize::MAX,
            false => self.share(limits.idle, since),
        };
        (pages > 0).then_some(anything(pages, seen))
    }

    /// From half the permitted share of dirty frames on, increasingly.
    fn for_clean_frames(&mut self, seen: Observation, since: Duration, limits: IoCapacity) -> Option<Plan> {
        let dirty = seen.dirty as f64 / seen.frames.max(1) as f64;
        let half = MOST_DIRTY / 2.0;
        let urgency = ((dirty - half) / half).clamp(0.0, 1.0);
        let pages = self.share((f64::from(limits.most) * urgency) as u32, since);
        (pages > 0).then_some(anything(pages, seen))
    }

    /// The pages that `a_second` makes in `since`.
    fn share(&mut self, a_second: u32, since: Duration) -> usize {
        let exact = f64::from(a_second) * since.as_secs_f64() + self.remainder;
        self.remainder = exact.fract();
        exact as usize
    }
}

fn anything(pages: usize, seen: Observation) -> Plan {
    Plan { below: seen.tail, pages, reason: Reason::Background }
}

fn gain(age: f64) -> f64 {
    if age < BALANCED_AGE {
        (age - LOW_WATER_AGE) / (BALANCED_AGE - LOW_WATER_AGE)
    } else {
        1.0 + ((age - BALANCED_AGE) / (HIGH_AGE - BALANCED_AGE)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_base::prng::{Prng, test_seed};

    const LIMITS: IoCapacity = IoCapacity { idle: 1000, most: 1_000_000 };
    const CAPACITY: u64 = 100_000_000;
    const STEP: Duration = Duration::from_millis(50);

    /// A load that changes random pages of a large pool, and a disk that writes whatever it is told to.
    struct Simulation {
        pacer: Pacer,
        now: Duration,
        tail: u64,
        /// Oldest change of each page, or MAX.
        oldest: Vec<u64>,
        random: Prng,
        /// The log knows of the oldest change only so exactly: it begins in this part of the log.
        grain: u64,
    }

    impl Simulation {
        fn new() -> Self {
            Simulation {
                pacer: Pacer::default(),
                now: Duration::ZERO,
                tail: 1000,
                oldest: vec![u64::MAX; 20_000],
                random: Prng::new(test_seed(5)),
                grain: 1,
            }
        }

        /// Produces `bytes` of log, one page change per 5000 bytes; then what the pacer wants is written. Pages written.
        fn step(&mut self, bytes: u64) -> usize {
            for start in (self.tail..self.tail + bytes).step_by(5000) {
                let page = self.random.below(self.oldest.len() as u64) as usize;
                self.oldest[page] = self.oldest[page].min(start);
            }
            self.tail += bytes;
            self.now += STEP;
            let seen = Observation {
                now: self.now,
                tail: Lsn(self.tail),
                oldest: Lsn(self.oldest().0.min(self.tail) / self.grain * self.grain),
                log_capacity: CAPACITY,
                dirty: self.oldest.iter().filter(|&&oldest| oldest != u64::MAX).count(),
                frames: 1_000_000,
            };
            let Some(plan) = self.pacer.plan(seen, LIMITS) else { return 0 };
            let mut written = 0;
            for oldest in self.oldest.iter_mut().filter(|oldest| **oldest < plan.below.0).take(plan.pages) {
                *oldest = u64::MAX;
                written += 1;
            }
            written
        }

        fn oldest(&self) -> Lsn {
            Lsn(self.oldest.iter().copied().min().unwrap_or(u64::MAX))
        }

        fn age(&self) -> f64 {
            (self.tail - self.oldest().0.min(self.tail)) as f64 / CAPACITY as f64
        }
    }

    #[test]
    fn under_steady_load_the_age_settles_near_one_half_without_bursts() {
        let mut simulation = Simulation::new();
        // 10 MB/s: the log would be full after ten seconds.
        let written: Vec<usize> = (0..2000).map(|_| simulation.step(500_000)).collect();
        assert!((0.4..0.6).contains(&simulation.age()), "age {}", simulation.age());
        let settled = &written[1000..];
        let average = settled.iter().sum::<usize>() / settled.len();
        let most = settled.iter().max().unwrap();
        assert!(average > 20 && *most < 2 * average, "{most} pages in one step, {average} on average");
        assert!(written[..10].iter().all(|&pages| pages == 0), "a young log asks for nothing");
    }

    #[test]
    fn a_burst_of_log_is_caught_up_with_before_the_log_is_full() {
        let mut simulation = Simulation::new();
        for _ in 0..1000 {
            simulation.step(200_000);
        }
        for _ in 0..20 {
            simulation.step(4_000_000);
            assert!(simulation.age() < 0.9, "age {}", simulation.age());
        }
    }

    #[test]
    fn an_idle_pool_becomes_clean_at_io_capacity() {
        let mut simulation = Simulation::new();
        for _ in 0..100 {
            simulation.step(50_000);
        }
        let dirty = simulation.oldest.iter().filter(|&&oldest| oldest != u64::MAX).count();
        let mut steps = 0;
        while simulation.oldest() != Lsn(u64::MAX) {
            assert!(simulation.step(0) <= 50 + 1);
            steps += 1;
        }
        let expected = 20 + dirty / 50;
        assert!(steps >= expected && steps <= expected + 5, "{steps} steps for {dirty} pages");
    }

    #[test]
    fn an_idle_pool_with_an_old_log_becomes_clean_although_the_oldest_change_is_known_roughly() {
        let mut simulation = Simulation { grain: 1 << 20, ..Simulation::new() };
        for _ in 0..100 {
            simulation.step(500_000);
        }
        assert!(simulation.age() > LOW_WATER_AGE);
        let dirty = simulation.oldest.iter().filter(|&&oldest| oldest != u64::MAX).count();
        let idle = (0..20 + dirty / 50 + 5).map(|_| simulation.step(0)).sum::<usize>();
        assert_eq!((simulation.oldest(), idle), (Lsn(u64::MAX), dirty));
    }

    #[test]
    fn many_dirty_pages_are_written_even_if_the_log_has_room() {
        let mut pacer = Pacer::default();
        let mut plan = |now, dirty| {
            let seen = Observation {
                now: Duration::from_millis(now),
                tail: Lsn(now + 2000),
                oldest: Lsn(1000),
                log_capacity: u64::MAX,
                dirty,
                frames: 1000,
            };
            pacer.plan(seen, LIMITS).map_or(0, |plan| plan.pages)
        };
        assert_eq!(plan(0, 400), 0);
        assert_eq!(plan(50, 400), 0);
        let (some, more) = (plan(100, 600), plan(150, 850));
        assert!(0 < some && some < more);
    }
}
