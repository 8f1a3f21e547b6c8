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
//! Two more reasons to write: nothing was logged for a second (idle: clean at `io_capacity`), and too many
//! dirty pages for the evictor to find clean ones, or more than `innodb_max_dirty_pages_pct` allows. Pages
//! that can leave memory unwritten ([`kept`](crate::kept)) do not count for that.
//!
//! Without `innodb_adaptive_flushing` the log asks for nothing before 0.75; `innodb_adaptive_flushing_lwm` is where it
//! begins, the 0.1 of the picture.

use std::time::Duration;

use palisade_base::Lsn;

use crate::neighbours::Neighbours;

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
    /// Of these, pages that can leave memory unwritten.
    pub(crate) keepable: usize,
    /// Pages that have.
    pub(crate) kept: usize,
    pub(crate) frames: usize,
}

impl Observation {
    /// How much of the log's capacity lies between the oldest change and the tail, 0 to 1.
    pub(crate) fn age(&self) -> f64 {
        self.tail.0.saturating_sub(self.oldest.0) as f64 / self.log_capacity.max(1) as f64
    }
}

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

/// When pages are written back, set by the administrator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlushSettings {
    /// How many a second.
    pub io_capacity: IoCapacity,
    /// Frames that may be dirty, in percent (`innodb_max_dirty_pages_pct`): beyond it pages are written as fast as they
    /// may be.
    pub most_dirty_pct: f64,
    /// From so many percent on some are written, and increasingly (`innodb_max_dirty_pages_pct_lwm`); `None` for half of
    /// the most.
    pub low_dirty_pct: Option<f64>,
    /// Whether the rate follows the log (`innodb_adaptive_flushing`).
    pub is_adaptive: bool,
    /// From this age on, in percent of the log's capacity (`innodb_adaptive_flushing_lwm`).
    pub low_age_pct: f64,
    /// What is written with a page (`innodb_flush_neighbors`).
    pub neighbours: Neighbours,
}

impl Default for FlushSettings {
    fn default() -> Self {
        FlushSettings {
            io_capacity: IoCapacity::default(),
            most_dirty_pct: 90.0,
            low_dirty_pct: None,
            is_adaptive: true,
            low_age_pct: 10.0,
            neighbours: Neighbours::None,
        }
    }
}

impl FlushSettings {
    /// How urgent it is that pages become clean, 0 to 1, where `dirty` percent of the frames are not.
    fn urgency(&self, dirty: f64) -> f64 {
        let most = self.most_dirty_pct;
        let low = self.low_dirty_pct.unwrap_or(most / 2.0);
        match () {
            () if dirty >= most => 1.0,
            () if dirty <= low => 0.0,
            () => (dirty - low) / (most - low),
        }
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
    /// Whether this goes for pages that have left memory unwritten, too.
    pub(crate) has_kept: bool,
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
    pub(crate) fn plan(&mut self, seen: Observation, settings: &FlushSettings) -> Option<Plan> {
        let (since, produced) = match self.last {
            Some((then, tail)) => (seen.now.saturating_sub(then), seen.tail.0.saturating_sub(tail.0)),
            None => (Duration::ZERO, 0),
        };
        self.last = Some((seen.now, seen.tail));
        self.idle = if produced == 0 { self.idle + since } else { Duration::ZERO };
        if seen.dirty + seen.kept == 0 {
            return None;
        }
        let since = since.min(LONGEST_STEP);
        // Idleness first: it wants all pages written, the log only the oldest, and who asks for these asks for them again as long as
        // the log is not told that they are gone.
        self.for_idleness(seen, since, settings)
            .or_else(|| self.for_the_log(seen, produced, since, settings))
            .or_else(|| self.for_clean_frames(seen, since, settings))
    }

    fn for_the_log(
        &mut self,
        seen: Observation,
        produced: u64,
        since: Duration,
        settings: &FlushSettings,
    ) -> Option<Plan> {
        let (capacity, age) = (seen.log_capacity.max(1) as f64, seen.age());
        self.target = self.target.max(seen.oldest.0);
        let low = if settings.is_adaptive { settings.low_age_pct / 100.0 } else { HIGH_AGE };
        if age < low {
            return None;
        }
        self.target += (produced as f64 * gain(age, low)) as u64;
        let mut pages = None;
        if age >= HIGH_AGE {
            pages = Some(usize::MAX);
        }
        if age >= URGENT_AGE {
            self.target = self.target.max(seen.tail.0 - (capacity * CATCH_UP_AGE) as u64);
        }
        self.target = self.target.min(seen.tail.0);
        let pages = pages.unwrap_or_else(|| self.share(settings.io_capacity.most, since));
        let plan = Plan { below: Lsn(self.target), pages, reason: Reason::Adaptive, has_kept: true };
        (pages > 0 && seen.oldest < plan.below).then_some(plan)
    }

    fn for_idleness(&mut self, seen: Observation, since: Duration, settings: &FlushSettings) -> Option<Plan> {
        if self.idle < IDLE_AFTER {
            return None;
        }
        // Nothing is logged either when everybody waits for room in the log.
        let pages = match seen.age() >= HIGH_AGE {
            true => usize::MAX,
            false => self.share(settings.io_capacity.idle, since),
        };
        (pages > 0).then_some(Plan { has_kept: true, ..anything(pages, seen) })
    }

    /// Because too many frames are dirty.
    fn for_clean_frames(
        &mut self,
        seen: Observation,
        since: Duration,
        settings: &FlushSettings,
    ) -> Option<Plan> {
        let dirty = seen.dirty.saturating_sub(seen.keepable);
        let dirty = 100.0 * dirty as f64 / seen.frames.max(1) as f64;
        let a_second = f64::from(settings.io_capacity.most) * settings.urgency(dirty);
        let pages = self.share(a_second as u32, since);
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
    Plan { below: seen.tail, pages, reason: Reason::Background, has_kept: false }
}

/// At an age of `low` and more.
fn gain(age: f64, low: f64) -> f64 {
    if age < BALANCED_AGE {
        (age - low) / (BALANCED_AGE - low)
    } else {
        1.0 + ((age - BALANCED_AGE) / (HIGH_AGE - BALANCED_AGE)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_base::prng::{Prng, test_seed};

    const SETTINGS: FlushSettings = FlushSettings {
        io_capacity: IoCapacity { idle: 1000, most: 1_000_000 },
        most_dirty_pct: 90.0,
        low_dirty_pct: None,
        is_adaptive: true,
        low_age_pct: 10.0,
        neighbours: Neighbours::None,
    };
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
        settings: FlushSettings,
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
                settings: SETTINGS,
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
                keepable: 0,
                kept: 0,
                frames: 1_000_000,
            };
            let Some(plan) = self.pacer.plan(seen, &self.settings) else { return 0 };
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

        pub(crate) fn age(&self) -> f64 {
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
        assert!(simulation.age() > 0.1);
        let dirty = simulation.oldest.iter().filter(|&&oldest| oldest != u64::MAX).count();
        let idle = (0..20 + dirty / 50 + 5).map(|_| simulation.step(0)).sum::<usize>();
        assert_eq!((simulation.oldest(), idle), (Lsn(u64::MAX), dirty));
    }

    #[test]
    fn the_log_asks_from_its_low_water_mark_on_and_late_if_flushing_is_not_adaptive() {
        let first = |settings| {
            let mut simulation = Simulation { settings, ..Simulation::new() };
            // at the step before the one that writes
            let mut age = 0.0;
            while simulation.step(500_000) == 0 {
                age = simulation.age();
            }
            age
        };
        for low in [0.0, 10.0, 40.0, 70.0] {
            let age = 100.0 * first(FlushSettings { low_age_pct: low, ..SETTINGS });
            assert!((age - low).abs() < 5.0, "{age} from {low}");
        }
        let age = first(FlushSettings { is_adaptive: false, ..SETTINGS });
        assert!((age - HIGH_AGE).abs() < 0.02, "{age}");
    }

    #[test]
    fn dirty_pages_are_urgent_between_their_marks() {
        let urgency = |most_dirty_pct, low_dirty_pct, dirty| {
            FlushSettings { most_dirty_pct, low_dirty_pct, ..SETTINGS }.urgency(dirty)
        };
        assert_eq!([45.0, 67.5, 90.0, 95.0].map(|dirty| urgency(90.0, None, dirty)), [0.0, 0.5, 1.0, 1.0]);
        assert_eq!([20.0, 30.0, 40.0].map(|dirty| urgency(40.0, Some(20.0), dirty)), [0.0, 0.5, 1.0]);
        // equal marks: nothing below, everything from there on
        assert_eq!([49.9, 50.0].map(|dirty| urgency(50.0, Some(50.0), dirty)), [0.0, 1.0]);
        assert_eq!([0.1, 99.0].map(|dirty| urgency(0.0, None, dirty)), [1.0, 1.0]);
    }

    #[test]
    fn many_dirty_pages_are_written_even_if_the_log_has_room() {
        let mut pacer = Pacer::default();
        let mut plan = |now, dirty, keepable| {
            let seen = Observation {
                now: Duration::from_millis(now),
                tail: Lsn(now + 2000),
                oldest: Lsn(1000),
                log_capacity: u64::MAX,
                dirty,
                keepable,
                kept: 0,
                frames: 1000,
            };
            pacer.plan(seen, &SETTINGS).map_or(0, |plan| plan.pages)
        };
        assert_eq!(plan(0, 400, 0), 0);
        assert_eq!(plan(50, 400, 0), 0);
        let (some, more) = (plan(100, 600, 0), plan(150, 850, 0));
        assert_eq!(plan(200, 850, 500), 0, "those that need not be written to leave memory do not count");
        assert!(0 < some && some < more);
    }
}
