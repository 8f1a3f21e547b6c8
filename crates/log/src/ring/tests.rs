use super::*;

#[cfg(not(loom))]
mod sequential {
    use super::*;
    use palisade_base::prng::{Prng, test_seed};

    /// The ring against a vector of frames: reserved and linked out of order, written and cleared in order.
    #[test]
    fn frames_linked_in_any_order_come_out_whole_and_in_order() {
        let mut random = Prng::new(test_seed(11));
        let ring = Ring::new(4096);
        let begin = Lsn(u64::from(u32::MAX) - 20_000 + 5);
        let begin = Lsn(begin.0.next_multiple_of(8));
        ring.reset(begin);
        let mut written = begin;
        let mut unlinked: Vec<(Lsn, Vec<u8>)> = Vec::new();
        let mut linked = std::collections::BTreeMap::new();
        for _ in 0..50_000 {
            let mut payload = vec![0; random.below(200) as usize];
            random.fill(&mut payload);
            let bytes = frame::size(payload.len());
            if ring.next().0 + bytes < written.0 + ring.capacity() && random.one_in(2) {
                let start = ring.reserve(bytes);
                ring.pin().copy_in(start, &payload);
                unlinked.push((start, payload));
            } else if !unlinked.is_empty() && random.below(3) > 0 {
                let (start, payload) = unlinked.swap_remove(random.below(unlinked.len() as u64) as usize);
                ring.pin().link(start, payload.len());
                ring.pin().advance_tail();
                linked.insert(start, payload);
            } else {
                let tail = ring.tail();
                let mut bytes = vec![0; tail.since(written) as usize];
                ring.copy_out(written, &mut bytes);
                let mut at = 0;
                while at < bytes.len() {
                    let start = written.advance(at as u64);
                    let header = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
                    let len = frame::payload_len(header, start).unwrap();
                    assert_eq!(bytes[at + 8..at + 8 + len], linked.remove(&start).unwrap());
                    at += frame::size(len) as usize;
                }
                ring.clear(written, tail);
                written = tail;
            }
            let expected = unlinked.iter().map(|(start, _)| *start).min().unwrap_or(ring.next());
            assert_eq!(ring.tail(), expected, "the tail stands at the first gap");
        }
        assert!(ring.next().0 > u64::from(u32::MAX), "the low half of the LSN wrapped");
    }

    /// Threads append through admission while one writes: everything comes out once, whole, in LSN order.
    #[test]
    fn concurrent_appends_come_out_whole() {
        use crate::admission::Admission;
        use std::sync::atomic::AtomicUsize;
        const THREADS: u64 = 4;
        const EACH: u64 = if cfg!(miri) { 50 } else { 20_000 };
        let (ring, running) = (Ring::new(4096), AtomicUsize::new(THREADS as usize));
        let admission = Admission::new(ring.capacity());
        ring.reset(Lsn(64));
        admission.allow_until(64 + Admission::lead(ring.capacity()));
        let mut seen = vec![0u64; THREADS as usize];
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (ring, admission, running) = (&ring, &admission, &running);
                scope.spawn(move || {
                    let mut random = Prng::new(thread);
                    for number in 0..EACH {
                        let mut payload = [thread.to_le_bytes(), number.to_le_bytes()].concat();
                        payload.resize(16 + random.below(80) as usize, number as u8);
                        let bytes = frame::size(payload.len());
                        let mut granted = loop {
                            match admission.take(bytes, || ring.next().0) {
                                Some(granted) => break granted,
                                None => std::thread::yield_now(),
                            }
                        };
                        let start = ring.reserve(bytes);
                        admission.spend(&mut granted, bytes);
                        ring.pin().copy_in(start, &payload);
                        ring.pin().link(start, payload.len());
                        ring.pin().advance_tail();
                        admission.give_back(granted);
                    }
                    running.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                });
            }
            let mut written = Lsn(64);
            loop {
                let done = running.load(std::sync::atomic::Ordering::SeqCst) == 0;
                let tail = ring.tail();
                assert!(ring.next().0 < written.0 + ring.capacity(), "appends stay within the ring");
                let mut bytes = vec![0; tail.since(written) as usize];
                ring.copy_out(written, &mut bytes);
                let mut at = 0;
                while at < bytes.len() {
                    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
                    let len = frame::payload_len(word(at), written.advance(at as u64)).unwrap();
                    let (thread, number) = (word(at + 8) as usize, word(at + 16));
                    assert_eq!(seen[thread], number, "a thread's appends keep their order");
                    assert!(bytes[at + 24..at + 8 + len].iter().all(|byte| *byte == number as u8));
                    seen[thread] += 1;
                    at += frame::size(len) as usize;
                }
                ring.clear(written, tail);
                written = tail;
                admission.allow_until(written.0 + Admission::lead(ring.capacity()));
                if done && written == ring.next() {
                    break;
                }
                std::thread::yield_now();
            }
        });
        assert!(seen.iter().all(|count| *count == EACH));
        assert_eq!(admission.outstanding(), 0);
    }
}

#[cfg(loom)]
mod models {
    use super::*;
    use crate::admission::Admission;
    use loom::sync::Arc;

    fn append(ring: &Ring, payload: &[u8]) {
        let start = ring.reserve(frame::size(payload.len()));
        ring.pin().copy_in(start, payload);
        ring.pin().link(start, payload.len());
        ring.pin().advance_tail();
    }

    /// When all have linked, the tail is at the end: whoever comes last takes everyone along.
    #[test]
    fn loom_no_link_is_forgotten() {
        loom::model(|| {
            let ring = Arc::new(Ring::new(64));
            ring.reset(Lsn(8));
            let other = {
                let ring = ring.clone();
                loom::thread::spawn(move || append(&ring, &[1]))
            };
            append(&ring, &[2]);
            other.join().unwrap();
            assert_eq!(ring.tail(), Lsn(8 + 32));
        });
    }

    /// Whoever sees the tail sees the payload below it, and a second lap finds no links of the first.
    #[test]
    fn loom_below_the_tail_all_is_in_place() {
        loom::model(|| {
            let ring = Arc::new(Ring::new(32));
            ring.reset(Lsn(8));
            let appender = {
                let ring = ring.clone();
                loom::thread::spawn(move || append(&ring, &[7; 8]))
            };
            let advancer = {
                let ring = ring.clone();
                loom::thread::spawn(move || {
                    ring.pin().advance_tail();
                })
            };
            if ring.tail() == Lsn(24) {
                let mut bytes = [0; 16];
                ring.copy_out(Lsn(8), &mut bytes);
                assert_eq!(bytes[8..], [7; 8]);
                ring.clear(Lsn(8), Lsn(24));
                // The next lap, while the advancer may still look at the word of the first.
                append(&ring, &[9; 8]);
                assert!(ring.tail() == Lsn(40));
            }
            appender.join().unwrap();
            advancer.join().unwrap();
        });
    }

    /// A thread appends in whole while the memory of the ring is exchanged; whether the tail takes it along
    /// in the end. `held` is what the credit keeps until the append has ended.
    fn exchange(held: u64) {
        loom::model(move || {
            let shared = Arc::new((Ring::new(32), Admission::new(1024)));
            shared.0.reset(Lsn(8));
            shared.1.allow_until(8);
            let appender = {
                let shared = shared.clone();
                loom::thread::spawn(move || {
                    let (ring, admission) = &*shared;
                    let bytes = frame::size(8);
                    let Some(mut granted) = admission.take(bytes + held, || ring.next().0) else { return 0 };
                    let start = ring.reserve(bytes);
                    admission.spend(&mut granted, bytes);
                    ring.pin().copy_in(start, &[7; 8]);
                    ring.pin().link(start, 8);
                    ring.pin().advance_tail();
                    admission.give_back(granted);
                    bytes
                })
            };
            let (ring, admission) = &*shared;
            admission.allow_until(0);
            if admission.outstanding() == 0 {
                let tail = ring.tail();
                assert_eq!(ring.next(), tail, "an append was under way");
                ring.clear(Lsn(8), tail);
                ring.replace(Words::new(64));
            }
            let appended = appender.join().unwrap();
            assert_eq!(ring.tail(), Lsn(8 + appended));
        });
    }

    #[test]
    fn loom_the_memory_is_exchanged_between_appends() {
        exchange(crate::admission::HELD);
    }

    /// The canary: a credit that keeps nothing does not tell that its append goes on.
    #[test]
    #[should_panic(expected = "an append was under way")]
    fn loom_canary_a_credit_that_keeps_nothing_lets_an_append_be_cut_off() {
        exchange(0);
    }

    /// A thread asks for more than the next ring has room for while the ring is exchanged for that: he gets
    /// it of the old ring, which then stays, or not at all.
    #[test]
    fn loom_no_credit_of_the_ring_before_is_given_in_a_smaller_one() {
        const SMALL: u64 = 1024;
        loom::model(|| {
            let admission = Arc::new(Admission::new(4 * SMALL));
            let bytes = Admission::limit(SMALL) + 8;
            admission.allow_until(8);
            let asker = {
                let admission = admission.clone();
                loom::thread::spawn(move || admission.take(bytes, || 8).is_some())
            };
            admission.allow_until(0);
            let exchanged = admission.outstanding() == 0;
            if exchanged {
                admission.set_capacity(SMALL);
            }
            admission.allow_until(8);
            let granted = asker.join().unwrap();
            assert!(!(exchanged && granted), "credit that the ring has no room for");
        });
    }

    /// The canary: with the order of link and look only acquire and release, a link is forgotten.
    #[test]
    #[should_panic(expected = "a link was forgotten")]
    fn loom_canary_without_the_total_order_a_link_is_forgotten() {
        fn append_weakly(ring: &Ring, payload: &[u8]) {
            let start = ring.reserve(frame::size(payload.len()));
            ring.pin().copy_in(start, payload);
            ring.words.load().at(start.0).store(frame::header(start, payload.len()), Ordering::Release);
            loop {
                let tail = ring.tail.0.load(Ordering::Acquire);
                let header = ring.words.load().at(tail).load(Ordering::Acquire);
                if header == 0 {
                    return;
                }
                let next = tail + frame::size_in(header);
                let _ = ring.tail.0.compare_exchange(tail, next, Ordering::AcqRel, Ordering::Acquire);
            }
        }
        loom::model(|| {
            let ring = Arc::new(Ring::new(64));
            ring.reset(Lsn(8));
            let other = {
                let ring = ring.clone();
                loom::thread::spawn(move || append_weakly(&ring, &[1]))
            };
            append_weakly(&ring, &[2]);
            other.join().unwrap();
            assert_eq!(ring.tail(), Lsn(8 + 32), "a link was forgotten");
        });
    }
}
