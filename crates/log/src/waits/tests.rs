use super::*;

#[cfg(not(loom))]
mod sequential {
    use super::*;
    use palisade_base::prng::{Prng, test_seed};
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl std::task::Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn waker() -> (Arc<Count>, Waker) {
        let count = Arc::new(Count::default());
        (count.clone(), Waker::from(count))
    }

    #[test]
    fn exactly_the_covered_waits_are_taken() {
        let mut random = Prng::new(test_seed(5));
        let list = WaitList::new();
        let mut model: Vec<(Lsn, WaitId, Arc<Count>)> = Vec::new();
        for _ in 0..5000 {
            match random.below(4) {
                0 | 1 => {
                    let (count, waker) = waker();
                    let lsn = Lsn(random.below(50));
                    model.push((lsn, list.register(lsn, &waker), count));
                }
                2 if !model.is_empty() => {
                    let (lsn, id, count) = model.swap_remove(random.below(model.len() as u64) as usize);
                    assert!(list.renew(lsn, id, &waker().1));
                    list.cancel(lsn, id);
                    assert!(!list.renew(lsn, id, &waker().1));
                    assert_eq!(count.0.load(Ordering::Relaxed), 0);
                }
                _ => {
                    let lsn = Lsn(random.below(20));
                    list.take_covered(lsn).into_iter().for_each(Waker::wake);
                    model.retain(|(waited, _, count)| {
                        assert_eq!(count.0.load(Ordering::Relaxed), usize::from(*waited <= lsn));
                        *waited > lsn
                    });
                }
            }
            assert_eq!(list.count(), model.len() as u64);
            assert_eq!(list.first(), model.iter().map(|(lsn, _, _)| *lsn).min().unwrap_or(Lsn::MAX));
        }
    }

    #[test]
    fn a_signal_raised_twice_is_one_and_one_raised_early_is_kept() {
        let signal = Signal::new();
        let (count, waker) = waker();
        let mut context = Context::from_waker(&waker);
        assert!(signal.poll(&mut context).is_pending());
        assert!(signal.raise());
        assert!(!signal.raise());
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
        assert!(signal.poll(&mut context).is_ready());
        assert!(signal.poll(&mut context).is_pending());
        assert!(signal.raise());
    }
}

#[cfg(loom)]
mod models {
    use super::*;
    use loom::sync::Arc;

    /// The least of a flusher and of a session, around one list.
    struct Model {
        list: WaitList,
        durable: AtomicU64,
    }

    #[derive(Default)]
    struct Woken(std::sync::atomic::AtomicBool);

    impl std::task::Wake for Woken {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.store(true, std::sync::atomic::Ordering::SeqCst);
        }
    }

    /// A session that registers, perhaps looks again, and would sleep; a flusher that publishes, looks, and
    /// wakes.
    fn session_and_flusher(look_again: bool) {
        loom::model(move || {
            let model = Arc::new(Model { list: WaitList::new(), durable: AtomicU64::new(0) });
            let flusher = {
                let model = model.clone();
                loom::thread::spawn(move || {
                    store_ordered(&model.durable, 8);
                    if model.list.first() <= Lsn(8) {
                        model.list.take_covered(Lsn(8)).into_iter().for_each(Waker::wake);
                    }
                })
            };
            let woken = std::sync::Arc::new(Woken::default());
            let is_durable = || load_ordered(&model.durable) >= 8;
            let sleeps = !is_durable() && {
                model.list.register(Lsn(8), &Waker::from(woken.clone()));
                !(look_again && is_durable())
            };
            flusher.join().unwrap();
            assert!(!sleeps || woken.0.load(std::sync::atomic::Ordering::SeqCst), "a wakeup was lost");
        });
    }

    #[test]
    fn loom_no_wakeup_is_lost() {
        session_and_flusher(true);
    }

    /// The canary: who does not look again after registering sleeps forever.
    #[test]
    #[should_panic(expected = "a wakeup was lost")]
    fn loom_canary_without_looking_again_a_wakeup_is_lost() {
        session_and_flusher(false);
    }

    /// Two calls and one listener: it is never left asleep with a call not seen.
    #[test]
    fn loom_a_call_is_never_missed() {
        loom::model(|| {
            let signal = Arc::new(Signal::new());
            let calls = Arc::new(AtomicU64::new(0));
            let caller = {
                let (signal, calls) = (signal.clone(), calls.clone());
                loom::thread::spawn(move || {
                    for _ in 0..2 {
                        calls.fetch_add(1, Ordering::SeqCst);
                        signal.raise();
                    }
                })
            };
            while calls.load(Ordering::SeqCst) < 2 {
                loom::future::block_on(std::future::poll_fn(|context| signal.poll(context)));
            }
            caller.join().unwrap();
        });
    }

    /// Claim and inbox: a commit that finds a flush running is called by it, so that the second commit is
    /// flushed too.
    #[test]
    fn loom_who_is_not_covered_by_a_running_flush_is_called_after_it() {
        loom::model(|| {
            let inbox = Arc::new(Inbox::new());
            let flushing = Arc::new(AtomicBool::new(true));
            let flusher = {
                let (inbox, flushing) = (inbox.clone(), flushing.clone());
                loom::thread::spawn(move || {
                    flushing.store(false, Ordering::SeqCst);
                    loom::sync::atomic::fence(Ordering::SeqCst);
                    if inbox.waits.first() != Lsn::MAX {
                        inbox.signal.raise();
                    }
                })
            };
            inbox.waits.register(Lsn(8), &loom_noop_waker());
            loom::sync::atomic::fence(Ordering::SeqCst);
            if flushing.load(Ordering::SeqCst) {
                loom::future::block_on(std::future::poll_fn(|context| inbox.signal.poll(context)));
                assert!(!flushing.load(Ordering::SeqCst));
            }
            flusher.join().unwrap();
        });
    }

    /// A flush ends while a session begins to wait. The flusher goes on by itself, so the session that finds
    /// it flushing relies on it, and it looks at what is wanted after it has given the claim back; or, for
    /// the canary, before.
    fn session_and_flusher_that_goes_on(looks_last: bool) {
        loom::model(move || {
            let flushing = Arc::new(AtomicBool::new(true));
            let wanted = Arc::new(AtomicU64::new(0));
            let flusher = {
                let (flushing, wanted) = (flushing.clone(), wanted.clone());
                loom::thread::spawn(move || {
                    let before = load_ordered(&wanted);
                    flushing.store(false, Ordering::SeqCst);
                    let after = load_ordered(&wanted);
                    if looks_last { after } else { before }
                })
            };
            wanted.fetch_max(8, Ordering::SeqCst);
            loom::sync::atomic::fence(Ordering::SeqCst);
            let relies_on_the_flusher = flushing.load(Ordering::SeqCst);
            let goal = flusher.join().unwrap();
            assert!(!relies_on_the_flusher || goal >= 8, "a session was forgotten");
        });
    }

    #[test]
    fn loom_a_flusher_that_goes_on_forgets_nobody() {
        session_and_flusher_that_goes_on(true);
    }

    #[test]
    #[should_panic(expected = "a session was forgotten")]
    fn loom_canary_a_flusher_that_goes_on_with_what_it_knew_forgets_somebody() {
        session_and_flusher_that_goes_on(false);
    }

    /// The end of a flush, which calls every worker that it concerns; or, for the canary, forgets the last
    /// one.
    fn two_workers_and_a_flush(forget_one: bool) {
        loom::model(move || {
            let inboxes = Arc::new([Inbox::new(), Inbox::new()]);
            let durable = Arc::new(AtomicU64::new(0));
            let flusher = {
                let (inboxes, durable) = (inboxes.clone(), durable.clone());
                loom::thread::spawn(move || {
                    store_ordered(&durable, 8);
                    for inbox in inboxes.iter().take(if forget_one { 1 } else { 2 }) {
                        if inbox.waits.first() <= Lsn(8) {
                            inbox.signal.raise();
                        }
                    }
                })
            };
            let sleeps: Vec<bool> = inboxes
                .iter()
                .map(|inbox| {
                    inbox.waits.register(Lsn(8), &loom_noop_waker());
                    load_ordered(&durable) < 8
                })
                .collect();
            flusher.join().unwrap();
            let mut context = Context::from_waker(Waker::noop());
            for (inbox, sleeps) in inboxes.iter().zip(sleeps) {
                assert!(!sleeps || inbox.signal.poll(&mut context).is_ready(), "a wakeup was lost");
            }
        });
    }

    #[test]
    fn loom_a_flush_calls_every_worker_that_it_covers() {
        two_workers_and_a_flush(false);
    }

    /// The canary: one call left out is noticed.
    #[test]
    #[should_panic(expected = "a wakeup was lost")]
    fn loom_canary_a_call_that_is_left_out_is_noticed() {
        two_workers_and_a_flush(true);
    }

    /// `innodb_log_writer_threads` goes from ON to OFF while a session begins to wait. Whom the session
    /// relied on may not feel responsible any more; so who changes the setting looks at what is wanted and
    /// asks the flusher for it.
    fn session_and_change_of_mode(asks: bool) {
        const ON: u64 = 1;
        const OFF: u64 = 0;
        loom::model(move || {
            let mode = Arc::new(AtomicU64::new(ON));
            let wanted = Arc::new(AtomicU64::new(0));
            let asked = Arc::new(AtomicU64::new(0));
            let change = {
                let (mode, wanted, asked) = (mode.clone(), wanted.clone(), asked.clone());
                loom::thread::spawn(move || {
                    store_ordered(&mode, OFF);
                    if asks {
                        store_ordered(&asked, load_ordered(&wanted));
                    }
                })
            };
            wanted.fetch_max(8, Ordering::SeqCst);
            loom::sync::atomic::fence(Ordering::SeqCst);
            let relies_on_the_writer = load_ordered(&mode) == ON;
            change.join().unwrap();
            // The writer thread looks at the mode when it is called, and does nothing now; the flusher does
            // what is asked.
            let is_flushed = !relies_on_the_writer || load_ordered(&asked) >= 8;
            assert!(is_flushed, "a session was forgotten");
        });
    }

    #[test]
    fn loom_a_change_of_mode_forgets_nobody() {
        session_and_change_of_mode(true);
    }

    #[test]
    #[should_panic(expected = "a session was forgotten")]
    fn loom_canary_a_change_of_mode_that_does_not_ask_forgets_somebody() {
        session_and_change_of_mode(false);
    }

    /// One of the log's threads finds nothing to do and sleeps until the tail moves, while a session links.
    /// It looks at the tail before it looks for work; or, for the canary, when it goes to sleep: then what
    /// was linked in between is behind it.
    fn thread_and_link(looks_first: bool) {
        loom::model(move || {
            let tail = Arc::new(AtomicU64::new(8));
            let waits = Arc::new(WaitList::new());
            let session = {
                let (tail, waits) = (tail.clone(), waits.clone());
                loom::thread::spawn(move || {
                    store_ordered(&tail, 16);
                    if waits.first() <= Lsn(16) {
                        waits.take_covered(Lsn(16)).into_iter().for_each(Waker::wake);
                    }
                })
            };
            let before = load_ordered(&tail);
            let has_work = load_ordered(&tail) > 8;
            let seen = if looks_first { before } else { load_ordered(&tail) };
            let woken = std::sync::Arc::new(Woken::default());
            let sleeps = !has_work && {
                waits.register(Lsn(seen + 1), &Waker::from(woken.clone()));
                load_ordered(&tail) == seen
            };
            session.join().unwrap();
            assert!(!sleeps || woken.0.load(std::sync::atomic::Ordering::SeqCst), "a wakeup was lost");
        });
    }

    #[test]
    fn loom_a_thread_that_has_seen_the_tail_first_is_woken() {
        thread_and_link(true);
    }

    #[test]
    #[should_panic(expected = "a wakeup was lost")]
    fn loom_canary_a_thread_that_looks_at_the_tail_last_sleeps_on() {
        thread_and_link(false);
    }

    fn loom_noop_waker() -> Waker {
        Waker::noop().clone()
    }
}
