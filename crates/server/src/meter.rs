//! The processor time of statements, while the consumer `events_statements_cpu` is enabled.
//!
//! A statement has no thread of its own: its task is polled now by one thread, now by another. So the clock
//! of the polling thread is read around each poll, and where the statement begins and ends within one:
//!
//! ```text
//!   worker-0     poll ─ begins ══════▶          poll ══▶        poll ═════ ends ─▶
//!   compute-1                           poll ═══════════════▶
//!   compute-2      a part beside it:    poll ═══════▶  poll ═════▶
//! ```
//!
//! Its time is what is drawn double: that of all threads, also of [parts](crate::worker::Helpers) that run
//! beside it. While the consumer is disabled no clock is read, and a poll looks at one byte.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};

use parking_lot::Mutex;
use rustix::time::{ClockId, clock_gettime};

use crate::task::TaskFuture;

/// Nanoseconds that the calling thread has had a processor.
fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
}

/// Measures the statements of a task. All but [`is_running`](Self::is_running) is changed by the thread that
/// polls it.
#[derive(Default)]
pub(crate) struct Meter {
    is_running: AtomicBool,
    /// In polls that have ended.
    used_ns: AtomicU64,
    /// The thread's clock when this poll began, or the statement in it.
    since_ns: AtomicU64,
    /// What its parts have used, if it has any.
    beside_ns: Mutex<Option<Arc<AtomicU64>>>,
}

impl Meter {
    /// A statement begins, on the calling thread.
    pub(crate) fn start(&self) {
        self.used_ns.store(0, Ordering::Relaxed);
        *self.beside_ns.lock() = None;
        self.is_running.store(true, Ordering::Relaxed);
        self.resume();
    }

    /// It has ended: the nanoseconds that it had a processor; 0 if none was measured.
    pub(crate) fn stop(&self) -> u64 {
        self.pause();
        if !self.is_running.swap(false, Ordering::Relaxed) {
            return 0;
        }
        let beside = self.beside_ns.lock().take();
        let beside_ns = beside.map_or(0, |beside| beside.load(Ordering::Relaxed));
        self.used_ns.load(Ordering::Relaxed).saturating_add(beside_ns)
    }

    /// A poll begins.
    #[inline]
    pub(crate) fn resume(&self) {
        if self.is_running.load(Ordering::Relaxed) {
            self.since_ns.store(now_ns(), Ordering::Relaxed);
        }
    }

    /// A poll has ended.
    #[inline]
    pub(crate) fn pause(&self) {
        if self.is_running.load(Ordering::Relaxed) {
            let used_ns = now_ns().saturating_sub(self.since_ns.load(Ordering::Relaxed));
            self.used_ns.fetch_add(used_ns, Ordering::Relaxed);
        }
    }

    /// A part of the statement is going to run beside it: where its time is added, if it is measured.
    pub(crate) fn beside(&self) -> Option<Arc<AtomicU64>> {
        let is_running = self.is_running.load(Ordering::Relaxed);
        is_running.then(|| self.beside_ns.lock().get_or_insert_default().clone())
    }
}

/// A part of a statement, whose time is added to `used_ns`.
struct Measured {
    used_ns: Arc<AtomicU64>,
    part: TaskFuture,
}

/// The part, measured if there is something to add to.
pub(crate) fn measured(part: TaskFuture, used_ns: Option<Arc<AtomicU64>>) -> TaskFuture {
    match used_ns {
        Some(used_ns) => Box::pin(Measured { used_ns, part }),
        None => part,
    }
}

impl Future for Measured {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let since_ns = now_ns();
        let polled = self.part.as_mut().poll(context);
        // A statement that ends takes the sum: what its part does after the last poll before that is no
        // longer its own.
        self.used_ns.fetch_add(now_ns().saturating_sub(since_ns), Ordering::Relaxed);
        polled
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// Computes until the calling thread has had a processor for so long.
    fn compute(time: Duration) {
        let begun = now_ns();
        while now_ns() - begun < time.as_nanos() as u64 {
            std::hint::black_box(0);
        }
    }

    const SLICE: Duration = Duration::from_millis(20);
    const SLICE_NS: u64 = SLICE.as_nanos() as u64;

    #[test]
    fn only_what_is_computed_between_beginning_and_end_counts() {
        let meter = Meter::default();
        compute(SLICE);
        assert_eq!(meter.stop(), 0, "no statement has begun");
        meter.start();
        compute(SLICE);
        meter.pause();
        // The task is not polled: other tasks are.
        compute(SLICE);
        meter.resume();
        std::thread::sleep(SLICE);
        compute(SLICE);
        let used_ns = meter.stop();
        assert!((2 * SLICE_NS..3 * SLICE_NS).contains(&used_ns), "{used_ns}");
        assert_eq!(meter.stop(), 0);
    }

    #[test]
    fn another_thread_goes_on_with_its_own_clock_and_parts_are_added() {
        let meter = Meter::default();
        assert!(meter.beside().is_none());
        meter.start();
        meter.pause();
        let beside = meter.beside();
        let part = measured(Box::pin(async { compute(SLICE) }), beside);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                compute(SLICE);
                meter.resume();
                compute(SLICE);
                meter.pause();
            });
            scope.spawn(|| {
                let mut part = part;
                let begun = Instant::now();
                let mut context = Context::from_waker(std::task::Waker::noop());
                assert!(part.as_mut().poll(&mut context).is_ready() && begun.elapsed() >= SLICE);
            });
        });
        meter.resume();
        let used_ns = meter.stop();
        assert!((2 * SLICE_NS..3 * SLICE_NS).contains(&used_ns), "{used_ns}");
    }
}
