//! Whose turn it is with something that many threads may call and one at a time may serve: one word.
//!
//! A session of the server is such a thing. It is *called* by whatever it waits for - a packet, an event, a
//! KILL - from any thread, and it is *served* (its future polled) by one thread at a time, which need not be
//! the same one each time. Between the two lies a queue, in which it stands at most once.
//!
//! ```text
//!             call: put it into a queue            begin                     finish
//!   IDLE ───────────────────────────▶ CALLED ──────────────▶ SERVED ─────────────────────▶ ENDED
//!    ▲                                   ▲                    │    │ call
//!    │  end: there was no call           │  end: put it       │    ▼
//!    └───────────────────────────────────┼─ into a queue ──── │ ◀─ SERVED and CALLED
//!                                        └────────────────────┘
//! ```
//!
//! # Why no call is lost
//!
//! Every step is one read-modify-write of the word, so the steps of all threads have one order, and each sees
//! what was written before the steps that it follows. A call comes either before a `begin`, which then sees
//! what the caller had written, or after it; then the `end` of that turn finds the mark and the thing is put
//! into a queue again. A call that finds the mark set already still writes the word: it is the write that the
//! next `begin` synchronises with.
//!
//! # Why there are never two turns at once
//!
//! Only the step that sets the mark where nothing was (a `call` of an idle thing), or finds it set at an
//! `end`, puts the thing into a queue; between two of them lies a `begin`. So it is in one queue at most, and
//! the thread that takes it out is the only one to begin.

use std::sync::atomic::Ordering;

#[cfg(loom)]
use loom::sync::atomic::AtomicU32;
#[cfg(not(loom))]
use std::sync::atomic::AtomicU32;

/// It was called and has not begun its turn since.
const CALLED: u32 = 1;
/// A thread serves it.
const SERVED: u32 = 2;
/// It has come to its end.
const ENDED: u32 = 4;

/// The word. See the [module](self).
#[derive(Debug)]
pub struct Turn(AtomicU32);

impl Turn {
    /// That of something that stands in a queue: it is called once to begin with.
    #[must_use = "it must be put into a queue"]
    pub fn called() -> Turn {
        Turn(AtomicU32::new(CALLED))
    }

    /// Calls it. True: the caller must put it into a queue.
    #[must_use = "it may have to be put into a queue"]
    pub fn call(&self) -> bool {
        self.0.fetch_or(CALLED, Ordering::AcqRel) == 0
    }

    /// The calling thread has taken it out of a queue and serves it now. False: it has ended.
    #[must_use = "one that has ended is not served"]
    pub fn begin(&self) -> bool {
        let before = self.0.swap(SERVED, Ordering::AcqRel);
        assert!(before & SERVED == 0, "one thread serves it at a time");
        if before & ENDED != 0 {
            self.0.store(ENDED, Ordering::Release);
            return false;
        }
        true
    }

    /// The thread has served it, and it goes on later. True: it was called meanwhile, and the thread must put
    /// it into a queue.
    #[must_use = "it may have to be put into a queue"]
    pub fn end(&self) -> bool {
        let before = self.0.fetch_and(!SERVED, Ordering::AcqRel);
        debug_assert!(before & SERVED != 0, "it was being served");
        before & CALLED != 0
    }

    /// The thread has served it for the last time.
    pub fn finish(&self) {
        self.0.swap(ENDED, Ordering::AcqRel);
    }

    /// Whether a thread serves it just now.
    pub fn is_served(&self) -> bool {
        self.0.load(Ordering::Acquire) & SERVED != 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn it_stands_in_a_queue_once_however_often_it_is_called() {
        let turn = Turn::called();
        assert!(!turn.call(), "it stands there");
        assert!(turn.begin() && turn.is_served());
        assert!(!turn.end() && !turn.is_served());
        assert!(turn.call());
        assert!(!turn.call());
        assert!(turn.begin());
        assert!(!turn.call(), "the thread that serves it puts it there");
        assert!(turn.end());
        assert!(turn.begin());
        turn.finish();
        assert!(!turn.call(), "it has ended");
        assert!(!turn.begin());
    }

    #[test]
    #[should_panic(expected = "one thread serves it at a time")]
    fn two_threads_do_not_serve_it() {
        let turn = Turn::called();
        assert!(turn.begin());
        let _ = turn.begin();
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use std::collections::VecDeque;

    use loom::sync::atomic::{AtomicBool, AtomicUsize};
    use loom::sync::{Arc, Mutex};

    use super::*;

    /// Something that is served by the threads of two queues: a worker's and the computing threads'. It goes
    /// to the other one whenever it is called while it is served, as a session does whose statement has begun
    /// to compute.
    struct Served {
        turn: Turn,
        queues: [Mutex<VecDeque<()>>; 2],
        /// What its callers bring: written before each call.
        brought: AtomicUsize,
        /// How much of that it has seen.
        seen: AtomicUsize,
        is_inside: AtomicBool,
    }

    impl Served {
        fn new() -> Arc<Served> {
            Arc::new(Served {
                turn: Turn::called(),
                queues: [Mutex::new(VecDeque::from([()])), Mutex::new(VecDeque::new())],
                brought: AtomicUsize::new(0),
                seen: AtomicUsize::new(0),
                is_inside: AtomicBool::new(false),
            })
        }

        fn bring(&self) {
            self.brought.fetch_add(1, Ordering::Relaxed);
            if self.turn.call() {
                self.queues[0].lock().unwrap().push_back(());
            }
        }

        /// One step of a thread that serves the queue `own`.
        fn serve(&self, own: usize) {
            if self.queues[own].lock().unwrap().pop_front().is_none() {
                return;
            }
            assert!(self.turn.begin());
            assert!(!self.is_inside.swap(true, Ordering::Relaxed), "two serve it at once");
            self.seen.store(self.brought.load(Ordering::Relaxed), Ordering::Relaxed);
            self.is_inside.store(false, Ordering::Relaxed);
            if self.turn.end() {
                self.queues[1 - own].lock().unwrap().push_back(());
            }
        }
    }

    #[test]
    fn loom_no_call_is_lost_and_never_two_serve_it() {
        loom::model(|| {
            let served = Served::new();
            let threads: Vec<_> = (0..2)
                .map(|number| {
                    let served = served.clone();
                    loom::thread::spawn(move || match number {
                        0 => served.bring(),
                        _ => served.serve(1),
                    })
                })
                .collect();
            served.serve(0);
            served.bring();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            // Whatever still stands in a queue is served; afterwards nothing that was brought is unseen.
            while served.queues.iter().any(|queue| !queue.lock().unwrap().is_empty()) {
                served.serve(0);
                served.serve(1);
            }
            assert_eq!(served.seen.load(Ordering::Relaxed), 2);
        });
    }
}
