//! Whether the workers serve so many small statements that what computes beside them is to hold back.
//!
//! Two things say so. *Polls*: a worker that polls thousands of tasks a second has no processor to spare.
//! That is blind where the system gives the server little, because workers that do not run poll nothing. So a
//! look also asks how long a task that is ready *waits* for its worker: it puts a probe into the worker's
//! queue, and the next look reads when it was polled, or how long it has been there.
//!
//! ```text
//!   look       ├──────────────┼──────────────┼──────────────┼───▶   every 10 ms, while parts run
//!   probe      put───polled   put──────────────────polled   put
//!   wait       └──40 us──┘                   10 ms ...
//! ```
//!
//! A wait counts only where there are sessions that have it: an idle server on a machine that others use may
//! compute with all of its threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// What came of a look that is older than this says nothing.
const LOOK_IS_GOOD: Duration = Duration::from_secs(1);
/// Tasks that a worker polls in a second when it is busy: a statement by its key is one or two.
const BUSY_POLLS: f64 = 2000.0;
/// Tasks that a worker polls in a second, probes aside, for their waits to count.
const SERVING_POLLS: f64 = 50.0;
/// How long a task waits for a worker that has not enough of the processors, on average of the last looks.
const LONG_WAIT: Duration = Duration::from_millis(1);
/// A wait counts as no more than this: one that was very long is soon forgotten.
const LONGEST_COUNTED: Duration = Duration::from_millis(3);
/// Looks of which waits are the average, about.
const LOOKS_AVERAGED: f64 = 4.0;

/// A task that a look puts into the queue of a worker.
#[derive(Debug)]
pub(crate) struct Probe {
    base: Instant,
    /// When it was put there, in microseconds since `base`.
    put_us: AtomicU64,
    /// When it was polled, likewise, and 1 more than that; 0 as long as it has not been.
    polled_us: AtomicU64,
}

impl Probe {
    /// One that has been polled.
    fn new(now: Instant) -> Probe {
        Probe { base: now, put_us: AtomicU64::new(0), polled_us: AtomicU64::new(1) }
    }

    fn micros(&self, now: Instant) -> u64 {
        u64::try_from(now.saturating_duration_since(self.base).as_micros()).unwrap_or(u64::MAX - 1)
    }

    /// It is polled.
    pub(crate) fn answer(&self, now: Instant) {
        self.polled_us.store(self.micros(now) + 1, Ordering::Release);
    }

    /// How long it has waited; whether it waits still.
    fn wait(&self, now: Instant) -> (Duration, bool) {
        let polled = self.polled_us.load(Ordering::Acquire);
        let (end, waits) = match polled.checked_sub(1) {
            Some(polled) => (polled, false),
            None => (self.micros(now), true),
        };
        (Duration::from_micros(end.saturating_sub(self.put_us.load(Ordering::Relaxed))), waits)
    }

    /// It is about to be put into the queue.
    fn put(&self, now: Instant) {
        self.put_us.store(self.micros(now), Ordering::Relaxed);
        self.polled_us.store(0, Ordering::Relaxed);
    }
}

/// See the [module](self).
pub(crate) struct Pressure(Mutex<Look>);

struct Look {
    /// When it was looked last, if it was.
    at: Option<Instant>,
    /// How much the workers had polled.
    polls: u64,
    /// One for each worker, once there was a look.
    probes: Vec<Arc<Probe>>,
    /// Probes that were put since the last look.
    put: u64,
    /// The average wait, in seconds.
    wait: f64,
    are_busy: bool,
}

impl Pressure {
    pub(crate) fn new() -> Pressure {
        Pressure(Mutex::new(Look {
            at: None,
            polls: 0,
            probes: Vec::new(),
            put: 0,
            wait: 0.0,
            are_busy: false,
        }))
    }

    /// Whether so many workers, which have polled so many tasks in all, should have the processors for
    /// themselves. `put` has a worker answer a probe when it polls it.
    pub(crate) fn are_busy(
        &self,
        now: Instant,
        workers: usize,
        polls: impl FnOnce() -> u64,
        mut put: impl FnMut(usize, Arc<Probe>),
    ) -> bool {
        let mut look = self.0.lock();
        let elapsed = look.at.map_or(Duration::MAX, |at| now.saturating_duration_since(at));
        if elapsed < LOOK_EVERY {
            return look.are_busy;
        }
        let polls = polls();
        // Another thread turns a worker's loop, and has begun to count.
        let own = u64::saturating_sub(polls, look.polls).saturating_sub(look.put);
        (look.at, look.polls, look.put) = (Some(now), polls, 0);
        if elapsed >= LOOK_IS_GOOD || look.probes.len() != workers {
            look.probes.resize_with(workers, || Arc::new(Probe::new(now)));
            (look.wait, look.are_busy) = (0.0, false);
        } else {
            let waits = look.probes.iter().map(|probe| probe.wait(now).0);
            let longest = waits.max().unwrap_or_default().min(LONGEST_COUNTED).as_secs_f64();
            look.wait += (longest - look.wait) / LOOKS_AVERAGED;
            let rate = own as f64 / elapsed.as_secs_f64() / workers.max(1) as f64;
            let is_long = look.wait > LONG_WAIT.as_secs_f64();
            look.are_busy = rate > BUSY_POLLS || rate > SERVING_POLLS && is_long;
        }
        let Look { probes, put: count, are_busy, .. } = &mut *look;
        for (worker, probe) in probes.iter().enumerate().filter(|(_, probe)| !probe.wait(now).1) {
            probe.put(now);
            *count += 1;
            put(worker, probe.clone());
        }
        *are_busy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks six times. Between two looks `each` tasks are polled, probes among them if they are answered.
    fn looks(pressure: &Pressure, (now, polls): (&mut Instant, &mut u64), each: u64, answers: bool) -> bool {
        let mut are_busy = false;
        let mut waiting: Vec<Arc<Probe>> = Vec::new();
        for _ in 0..6 {
            are_busy = pressure.are_busy(*now, 2, || *polls, |_, probe| waiting.push(probe));
            *now += LOOK_EVERY;
            *polls += each;
            if answers {
                waiting.drain(..).for_each(|probe| probe.answer(*now - LOOK_EVERY + LONG_WAIT / 10));
            }
        }
        waiting.iter().for_each(|probe| probe.answer(*now));
        are_busy
    }

    #[test]
    fn many_polls_or_long_waits_of_served_sessions_say_that_workers_are_busy() {
        let (pressure, mut now, mut polls) = (Pressure::new(), Instant::now(), 7);
        let mut looks = |each, answers| looks(&pressure, (&mut now, &mut polls), each, answers);
        assert!(!looks(12, true), "neither");
        assert!(!looks(0, false), "waits of which no session knows");
        assert!(looks(12, false), "waits of sessions that are served");
        assert!(!looks(12, true), "they have what they need again");
        assert!(looks(100, true), "many polls");
    }
}
