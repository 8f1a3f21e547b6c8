//! Calling one of the log's threads out of its sleep.
//!
//! ```text
//!   thread: listen ── look whether there is something to do ── wait ── listen ...
//!   others: give it something to do ── call
//! ```
//!
//! A call between `listen` and `wait` is kept, so none is lost. Only calls end a sleep before its time is up.
//! An unpark alone does not: one that was meant for an earlier sleep, which a call had prevented, comes with
//! the next one. So everything that is to wake the thread is a call, wakers in wait lists too
//! ([`Caller::waker`]).

use std::sync::{Arc, OnceLock};
use std::task::{Wake, Waker};
use std::time::Duration;

use crate::metrics;
use crate::sync::{AtomicU64, compare_exchange_ordered, load_ordered, store_ordered, thread};

const LISTENS: u64 = 0;
const CALLED: u64 = 1;

/// See the module.
pub(crate) struct Caller {
    state: AtomicU64,
    thread: OnceLock<thread::Thread>,
}

impl Caller {
    pub(crate) fn new() -> Arc<Caller> {
        Arc::new(Caller { state: AtomicU64::new(LISTENS), thread: OnceLock::new() })
    }

    /// The calling thread is the one to be called. Calls before are kept.
    pub(crate) fn enter(&self) {
        let _ = self.thread.set(thread::current());
    }

    pub(crate) fn call(&self) {
        if load_ordered(&self.state) == LISTENS
            && compare_exchange_ordered(&self.state, LISTENS, CALLED)
            && let Some(thread) = self.thread.get()
        {
            metrics::THREAD_WAKEUPS.increment();
            thread.unpark();
        }
    }

    /// Calls when it is woken.
    pub(crate) fn waker(self: &Arc<Self>) -> Waker {
        Waker::from(Arc::new(Call(self.clone())))
    }

    /// Sleeps until called, or for `limit`; whether it was called.
    #[cfg(not(loom))]
    pub(crate) fn wait(&self, limit: Duration) -> bool {
        let begun = std::time::Instant::now();
        while load_ordered(&self.state) == LISTENS {
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return false;
            }
            thread::park_timeout(left);
        }
        true
    }

    /// In a model no time passes: a call that is lost is a thread that never wakes.
    #[cfg(loom)]
    pub(crate) fn wait(&self, _limit: Duration) -> bool {
        while load_ordered(&self.state) == LISTENS {
            thread::park();
        }
        true
    }

    /// Calls from now on are new ones.
    pub(crate) fn listen(&self) {
        store_ordered(&self.state, LISTENS);
    }
}

struct Call(Arc<Caller>);

impl Wake for Call {
    fn wake(self: Arc<Self>) {
        self.0.call();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::time::Instant;

    /// Two unparks come for calls that were seen without a sleep; the third sleep is as long as it should be.
    #[test]
    fn an_unpark_for_an_earlier_sleep_does_not_end_this_one() {
        let caller = Caller::new();
        caller.enter();
        for _ in 0..2 {
            caller.listen();
            caller.call();
            assert!(caller.wait(Duration::from_secs(60)));
        }
        caller.listen();
        let begun = Instant::now();
        assert!(!caller.wait(Duration::from_millis(50)));
        assert!(begun.elapsed() >= Duration::from_millis(50));
    }

    #[test]
    fn a_waker_is_a_call() {
        let caller = Caller::new();
        caller.enter();
        caller.listen();
        caller.waker().wake();
        let begun = Instant::now();
        assert!(caller.wait(Duration::from_secs(60)));
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::Lsn;
    use crate::waits::WaitList;

    const FOREVER: Duration = Duration::MAX;

    /// The thread looks for a goal; two others set it and call, each in a time of its own.
    #[test]
    fn loom_no_call_is_lost() {
        loom::model(|| {
            let caller = Caller::new();
            let goal = loom::sync::Arc::new(AtomicU64::new(0));
            let thread = {
                let (caller, goal) = (caller.clone(), goal.clone());
                loom::thread::spawn(move || {
                    caller.enter();
                    loop {
                        caller.listen();
                        if load_ordered(&goal) == 1 {
                            break;
                        }
                        caller.wait(FOREVER);
                    }
                })
            };
            // An earlier call, of which an unpark may be left over.
            caller.call();
            store_ordered(&goal, 1);
            caller.call();
            thread.join().unwrap();
        });
    }

    /// The thread waits in a list for the tail to move, as it does behind an append that is not linked.
    #[test]
    fn loom_a_wait_for_the_tail_ends_when_it_has_moved() {
        loom::model(|| {
            let caller = Caller::new();
            let shared = loom::sync::Arc::new((AtomicU64::new(1), WaitList::new()));
            let thread = {
                let (caller, shared) = (caller.clone(), shared.clone());
                loom::thread::spawn(move || {
                    let (tail, waits) = &*shared;
                    caller.enter();
                    caller.listen();
                    let seen = load_ordered(tail);
                    if seen == 2 {
                        return;
                    }
                    let id = waits.register(Lsn(seen + 1), &caller.waker());
                    if load_ordered(tail) == seen {
                        caller.wait(FOREVER);
                    }
                    waits.cancel(Lsn(seen + 1), id);
                })
            };
            let (tail, waits) = &*shared;
            store_ordered(tail, 2);
            waits.take_covered(Lsn(2)).into_iter().for_each(Waker::wake);
            thread.join().unwrap();
        });
    }
}
