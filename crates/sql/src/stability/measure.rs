//! When a plan has proved to be faster than another one, by executions of both.
//!
//! The values of a statement differ from one execution to the next, and so do the times: two means say little
//! where the times spread. A plan is faster if its mean is less than the other's by twice the standard error
//! of the difference, and by a part of it that is worth a change. Of two plans that cannot be told apart so
//! after [`MOST`] executions each the one stays that is kept.

use std::time::Duration;

/// Fewest executions by each plan before one is faster.
const FEWEST: u64 = 8;
/// Fewest after which a plan that is clearly slower has lost.
const FEWEST_TO_LOSE: u64 = 3;
/// Most executions by each plan.
pub(super) const MOST: u64 = 40;
/// Part of the mean of the plan that is kept which the other one must spare.
const WORTH: f64 = 0.1;

/// The times of some executions, in microseconds.
#[derive(Debug, Clone, Default)]
pub(super) struct Times {
    count: u64,
    sum: f64,
    squares: f64,
    longest: Duration,
}

/// What is known of two plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Too little.
    Open,
    /// The one that is tried is faster.
    Faster,
    /// It is slower, or as fast as can be told.
    NotFaster,
}

impl Times {
    pub(super) fn add(&mut self, took: Duration) {
        let micros = took.as_secs_f64() * 1e6;
        self.count += 1;
        self.sum += micros;
        self.squares += micros * micros;
        self.longest = self.longest.max(took);
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn mean(&self) -> f64 {
        self.sum / self.count.max(1) as f64
    }

    /// The longest execution.
    pub(super) fn longest(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.longest)
    }

    /// The square of the standard error of the mean.
    fn error_squared(&self) -> f64 {
        let count = self.count as f64;
        let spread = (self.squares - self.sum * self.sum / count.max(1.0)).max(0.0);
        spread / (count - 1.0).max(1.0) / count.max(1.0)
    }
}

/// Whether the plan that is tried has proved to be faster than the one that is kept.
pub(super) fn verdict(kept: &Times, tried: &Times) -> Verdict {
    let (fewest, most) = (kept.count.min(tried.count), kept.count.max(tried.count));
    let uncertain = 2.0 * (kept.error_squared() + tried.error_squared()).sqrt();
    let spared = kept.mean() - tried.mean();
    if fewest >= FEWEST && spared > uncertain && spared > WORTH * kept.mean() {
        return Verdict::Faster;
    }
    let is_slower = fewest >= FEWEST_TO_LOSE && -spared > uncertain && -spared > kept.mean();
    let is_slower = is_slower || fewest >= FEWEST && -spared > uncertain;
    if is_slower || fewest >= MOST || most >= 2 * MOST { Verdict::NotFaster } else { Verdict::Open }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(micros: impl IntoIterator<Item = u64>) -> Times {
        let mut times = Times::default();
        micros.into_iter().for_each(|micros| times.add(Duration::from_micros(micros)));
        times
    }

    #[test]
    fn what_is_plainly_faster_or_slower_is_told_soon() {
        let slow = || times((0..8).map(|at| 1000 + at));
        let fast = || times((0..8).map(|at| 500 + at));
        assert_eq!(verdict(&slow(), &fast()), Verdict::Faster);
        assert_eq!(verdict(&fast(), &slow()), Verdict::NotFaster);
        assert_eq!(verdict(&times([1000; 7]), &times([500; 7])), Verdict::Open);
        assert_eq!(verdict(&times([100; 3]), &times([500; 3])), Verdict::NotFaster);
    }

    #[test]
    fn what_cannot_be_told_apart_stays_as_it_is() {
        let spread = |from: u64, count: u64| times((0..count).map(move |at| from + at % 10 * 1000));
        assert_eq!(verdict(&spread(5000, 12), &spread(4800, 12)), Verdict::Open);
        assert_eq!(verdict(&spread(5000, MOST), &spread(4800, MOST)), Verdict::NotFaster);
        // A twentieth is not worth a change, however sure it is.
        assert_eq!(verdict(&times([1000; 40]), &times([950; 40])), Verdict::NotFaster);
    }

    #[test]
    fn a_trial_ends() {
        let slow = times((0..2 * MOST).map(|at| 1 + at % 7 * 1000));
        assert_eq!(verdict(&slow, &times([3])), Verdict::NotFaster);
    }
}
