//! Which transactions may begin now: the multiprogramming level of a worker.
//!
//! Six hundred transactions whose statements come in turn find nothing of theirs in a processor's caches: not the server's, and
//! if the clients are on the same machine, not the clients'. A few that are served to their ends, and then the next few, take
//! less time each; and who waits, waits before it has begun and locked anything, and not among six hundred afterwards.
//!
//! ```text
//!   BEGIN ──▶ queue ──▶ at most so many with a seat ──▶ COMMIT: the seat is the next one's
//!                        │                ▲
//!                        └── lapsed ──────┘   no command for a while: the seat is somebody else's; the transaction goes on
//! ```
//!
//! - Only a statement that begins a transaction waits, so nobody waits who holds anything. Statements that are transactions by
//!   themselves do not.
//! - Counted are transactions that make headway. One whose client thinks, or that waits for a lock or computes, loses its seat after
//!   [`LAPSE`]; it is counted again from its next command on, which does not wait. So whatever the transactions do,
//!   others are admitted.
//! - The level holds only while the processors are busy ([`Governor`]). As long as they have time to spare it grows until it
//!   keeps nobody out: many clients at the end of a slow network need many transactions at a time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use palisade_base::Event;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::status;

/// A transaction that has not had a command for so long does not make headway.
const LAPSE: Duration = Duration::from_millis(10);
/// How often the level is reconsidered; long enough for the operating system's clock ticks to say something.
const PERIOD: Duration = Duration::from_millis(500);
/// Nobody is kept out.
const UNLIMITED: usize = usize::MAX;
/// More idle time than this is time to spare.
const SPARE: f64 = 0.05;
/// Less is none.
const BUSY: f64 = 0.02;

/// How many transactions of a worker may make headway at a time; the same for all workers.
pub struct Level(AtomicUsize);

impl Default for Level {
    fn default() -> Self {
        Level(AtomicUsize::new(UNLIMITED))
    }
}

impl Level {
    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, level: usize) {
        if self.get() != level {
            self.0.store(level, Ordering::Relaxed);
            status::TRANSACTION_LEVEL.set(if level == UNLIMITED { 0 } else { level as u64 });
        }
    }
}

/// A worker's seats and its queue.
pub struct Admission {
    level: Arc<Level>,
    begun: Instant,
    state: Mutex<State>,
    /// Somebody has begun to wait.
    waited_for: Notify,
}

#[derive(Default)]
struct State {
    seated: Vec<Arc<Seat>>,
    waiting: VecDeque<(Arc<Seat>, Event)>,
}

/// A session's seat, whether it is counted or not.
#[derive(Default)]
struct Seat {
    is_counted: AtomicBool,
    /// When its transaction had its last command.
    renewed_us: AtomicU64,
}

impl Seat {
    fn renew(&self, now_us: u64) {
        self.renewed_us.store(now_us, Ordering::Relaxed);
    }

    fn has_lapsed(&self, now_us: u64) -> bool {
        now_us.saturating_sub(self.renewed_us.load(Ordering::Relaxed)) > LAPSE.as_micros() as u64
    }
}

impl State {
    fn seat(&mut self, seat: Arc<Seat>, now_us: u64) {
        seat.renew(now_us);
        seat.is_counted.store(true, Ordering::Relaxed);
        self.seated.push(seat);
    }

    fn forget_lapsed(&mut self, now_us: u64) {
        self.seated.retain(|seat| {
            let stays = !seat.has_lapsed(now_us);
            if !stays {
                seat.is_counted.store(false, Ordering::Relaxed);
            }
            stays
        });
    }

    fn leave(&mut self, leaver: &Arc<Seat>) {
        if leaver.is_counted.swap(false, Ordering::Relaxed)
            && let Some(place) = self.seated.iter().position(|seat| Arc::ptr_eq(seat, leaver))
        {
            self.seated.swap_remove(place);
        }
    }

    /// Seats those who have waited longest, as far as there is room.
    fn admit(&mut self, level: usize, now_us: u64) {
        while self.seated.len() < level
            && let Some((seat, admitted)) = self.waiting.pop_front()
        {
            self.seat(seat, now_us);
            admitted.complete();
        }
    }

    /// A seat, or what to wait for.
    fn ask(&mut self, seat: &Arc<Seat>, level: usize, now_us: u64) -> Option<Event> {
        if self.seated.len() >= level {
            self.forget_lapsed(now_us);
            self.admit(level, now_us);
        }
        if self.waiting.is_empty() && self.seated.len() < level {
            self.seat(seat.clone(), now_us);
            return None;
        }
        let admitted = Event::new();
        self.waiting.push_back((seat.clone(), admitted.clone()));
        Some(admitted)
    }
}

impl Admission {
    /// For a worker, with the level of all of them.
    pub fn new(level: Arc<Level>) -> Self {
        Admission { level, begun: Instant::now(), state: Mutex::default(), waited_for: Notify::new() }
    }

    fn now_us(&self) -> u64 {
        self.begun.elapsed().as_micros() as u64
    }

    /// Runs beside the worker's sessions: gives away the seats of those that make no headway while others wait.
    pub async fn watch(&self) {
        loop {
            self.waited_for.notified().await;
            while self.sweep() {
                tokio::time::sleep(LAPSE).await;
            }
        }
    }

    /// Whether somebody waits.
    fn sweep(&self) -> bool {
        let mut state = self.state.lock();
        let now_us = self.now_us();
        state.forget_lapsed(now_us);
        state.admit(self.level.get(), now_us);
        !state.waiting.is_empty()
    }
}

/// A session's part in its worker's admission.
pub struct Turn {
    admission: Arc<Admission>,
    seat: Arc<Seat>,
    /// A transaction has been given a seat, whether it still has it or not.
    is_taken: bool,
}

impl Turn {
    /// For a session of the worker.
    pub fn new(admission: &Arc<Admission>) -> Self {
        Turn { admission: admission.clone(), seat: Arc::default(), is_taken: false }
    }

    /// The session goes on with another worker.
    pub fn move_to(&mut self, admission: &Arc<Admission>) {
        let was_taken = self.is_taken;
        self.end();
        self.admission = admission.clone();
        self.is_taken = was_taken;
        self.renew();
    }

    /// A transaction is about to begin: what it is to wait for, if it may not do so at once.
    pub fn ask(&mut self) -> Option<Queued<'_>> {
        let level = self.admission.level.get();
        if level == UNLIMITED || self.is_taken {
            return None;
        }
        self.is_taken = true;
        let admitted = {
            let mut state = self.admission.state.lock();
            state.ask(&self.seat, level, self.admission.now_us())
        };
        let admitted = admitted?;
        self.admission.waited_for.notify_one();
        status::TRANSACTIONS_QUEUED.increment();
        Some(Queued { turn: self, admitted })
    }

    /// A command begins: the session's transaction, if it has one that is counted, makes headway.
    #[inline]
    pub fn renew(&self) {
        if self.is_taken {
            self.take_again();
        }
    }

    fn take_again(&self) {
        let now_us = self.admission.now_us();
        self.seat.renew(now_us);
        if !self.seat.is_counted.load(Ordering::Relaxed) {
            let mut state = self.admission.state.lock();
            // Nobody else seats it: it does not wait.
            state.seat(self.seat.clone(), now_us);
        }
    }

    /// A command has ended, and no transaction is open.
    #[inline]
    pub fn end(&mut self) {
        if self.is_taken {
            self.leave();
        }
    }

    fn leave(&mut self) {
        self.is_taken = false;
        let mut state = self.admission.state.lock();
        state.leave(&self.seat);
        state.admit(self.admission.level.get(), self.admission.now_us());
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.end();
    }
}

/// A session in the queue; it leaves the queue when this is dropped.
pub struct Queued<'t> {
    turn: &'t Turn,
    /// Happens when it has its seat.
    pub admitted: Event,
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        if !self.admitted.is_complete() {
            let mut state = self.turn.admission.state.lock();
            state.waiting.retain(|(seat, _)| !Arc::ptr_eq(seat, &self.turn.seat));
        }
    }
}

/// What the processors have done since they were started, in the operating system's clock ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ticks {
    /// Nothing.
    pub idle: u64,
    /// All of them.
    pub total: u64,
}

/// Sets the level as the processors are busy.
#[derive(Default)]
pub struct Governor {
    before: Option<Ticks>,
}

impl Governor {
    /// Looks again and again, every [`PERIOD`]. `of_now` gives the lowest level, 0 if there is to be none, and the sessions of a worker;
    /// `ticks` the ticks, if they can be told.
    pub async fn govern(
        mut self,
        level: &Level,
        of_now: impl Fn() -> (usize, usize),
        ticks: impl Fn() -> Option<Ticks>,
    ) {
        let mut periods = tokio::time::interval(PERIOD);
        periods.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            periods.tick().await;
            let (least, sessions) = of_now();
            level.set(self.step(level.get(), least, sessions, &ticks));
        }
    }

    /// The level after `level`.
    fn step(
        &mut self,
        level: usize,
        least: usize,
        sessions: usize,
        ticks: impl Fn() -> Option<Ticks>,
    ) -> usize {
        // On a machine of many processors it takes long to ask.
        let ticks = if least > 0 && sessions > least { ticks() } else { None };
        let before = std::mem::replace(&mut self.before, ticks);
        let (Some(before), Some(now)) = (before, ticks) else { return UNLIMITED };
        let total = now.total.saturating_sub(before.total).max(1);
        let idle = now.idle.saturating_sub(before.idle) as f64 / total as f64;
        // One that keeps nobody out is as good as any higher one, and the one to come down from.
        let level = level.clamp(least, sessions);
        let next = match idle {
            idle if idle > SPARE => level.saturating_mul(2),
            idle if idle < BUSY => (level / 4 * 3).max(least),
            _ => level,
        };
        if next >= sessions { UNLIMITED } else { next }
    }
}

#[cfg(test)]
mod tests {
    use palisade_base::prng::{Prng, test_seed};

    use super::*;

    const LAPSE_US: u64 = LAPSE.as_micros() as u64;

    fn admission(level: usize) -> Arc<Admission> {
        let all = Arc::new(Level::default());
        all.set(level);
        Arc::new(Admission::new(all))
    }

    #[test]
    fn so_many_begin_and_the_others_follow_in_their_order() {
        let admission = admission(2);
        let mut turns: Vec<Turn> = (0..5).map(|_| Turn::new(&admission)).collect();
        let (seated, others) = turns.split_at_mut(2);
        assert!(seated.iter_mut().all(|turn| turn.ask().is_none()));
        let mut queued: Vec<Queued<'_>> = others.iter_mut().map(|turn| turn.ask().unwrap()).collect();
        let admitted = |queued: &[Queued<'_>]| -> Vec<bool> {
            queued.iter().map(|one| one.admitted.is_complete()).collect()
        };
        assert_eq!(admitted(&queued), [false, false, false]);
        // One that is killed leaves the queue.
        drop(queued.remove(1));
        seated[1].end();
        assert_eq!(admitted(&queued), [true, false]);
        seated[0].end();
        assert_eq!(admitted(&queued), [true, true]);
        assert_eq!(admission.state.lock().seated.len(), 2);
        drop(queued);
        drop(turns);
        assert!(admission.state.lock().seated.is_empty(), "who has gone needs no seat");
    }

    #[test]
    fn who_makes_no_headway_keeps_nobody_out_and_is_not_kept_out() {
        let admission = admission(1);
        let (mut thinker, mut next) = (Turn::new(&admission), Turn::new(&admission));
        assert!(thinker.ask().is_none());
        let queued = next.ask().unwrap();
        let begun = Instant::now();
        while admission.sweep() {
            assert!(begun.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(queued.admitted.is_complete() && begun.elapsed() >= LAPSE / 2);
        drop(queued);
        thinker.renew();
        assert_eq!(admission.state.lock().seated.len(), 2, "it is counted again");
        next.end();
        let mut third = Turn::new(&admission);
        assert!(third.ask().is_some());
        thinker.end();
        assert!(admission.state.lock().seated.is_empty());
    }

    #[test]
    fn nobody_waits_where_there_is_no_level() {
        let admission = admission(UNLIMITED);
        let mut turn = Turn::new(&admission);
        assert!(turn.ask().is_none());
        turn.end();
        assert!(admission.state.lock().seated.is_empty());
    }

    #[test]
    fn a_session_that_moves_takes_its_seat_along() {
        let (here, there) = (admission(1), admission(1));
        let mut turn = Turn::new(&here);
        assert!(turn.ask().is_none());
        let mut other = Turn::new(&here);
        let queued = other.ask().unwrap();
        turn.move_to(&there);
        assert!(queued.admitted.is_complete());
        assert_eq!((here.state.lock().seated.len(), there.state.lock().seated.len()), (1, 1));
        turn.end();
        turn.move_to(&here);
        assert_eq!((here.state.lock().seated.len(), there.state.lock().seated.len()), (1, 0));
    }

    /// Random sessions against a model that keeps everything in lists.
    #[test]
    fn seats_and_queue_are_as_in_a_model() {
        let mut random = Prng::new(test_seed(1));
        for _ in 0..200 {
            let mut state = State::default();
            let seats: Vec<Arc<Seat>> = (0..12).map(|_| Arc::default()).collect();
            let level = random.below(6) as usize + 1;
            // Of each who is counted, since when; and who waits, in order.
            let (mut counted, mut queue): (Vec<(usize, u64)>, Vec<usize>) = (Vec::new(), Vec::new());
            let mut events: Vec<Option<Event>> = vec![None; seats.len()];
            let mut now_us = 0;
            for _ in 0..300 {
                now_us += random.below(LAPSE_US / 4);
                let who = random.below(seats.len() as u64) as usize;
                let forget = |counted: &mut Vec<(usize, u64)>| {
                    counted.retain(|(_, since)| now_us - since <= LAPSE_US);
                };
                let admit = |counted: &mut Vec<(usize, u64)>, queue: &mut Vec<usize>| {
                    while counted.len() < level && !queue.is_empty() {
                        counted.push((queue.remove(0), now_us));
                    }
                };
                let is_counted = counted.iter().any(|(seated, _)| *seated == who);
                match random.below(4) {
                    0 | 1 if !is_counted && !queue.contains(&who) => {
                        events[who] = state.ask(&seats[who], level, now_us);
                        if counted.len() >= level {
                            forget(&mut counted);
                            admit(&mut counted, &mut queue);
                        }
                        queue.push(who);
                        admit(&mut counted, &mut queue);
                    }
                    2 => {
                        state.leave(&seats[who]);
                        state.admit(level, now_us);
                        counted.retain(|(seated, _)| *seated != who);
                        admit(&mut counted, &mut queue);
                    }
                    3 => {
                        state.forget_lapsed(now_us);
                        state.admit(level, now_us);
                        forget(&mut counted);
                        admit(&mut counted, &mut queue);
                    }
                    _ => {}
                }
                for (number, seat) in seats.iter().enumerate() {
                    let expected = counted.iter().any(|(seated, _)| *seated == number);
                    assert_eq!(seat.is_counted.load(Ordering::Relaxed), expected);
                    let waits = events[number].as_ref().is_some_and(|event| !event.is_complete());
                    assert_eq!(waits, queue.contains(&number));
                }
                assert_eq!((state.seated.len(), state.waiting.len()), (counted.len(), queue.len()));
                assert!(queue.is_empty() || counted.len() >= level, "a seat is free and somebody waits");
            }
        }
    }

    #[test]
    fn the_level_follows_the_processors() {
        let mut governor = Governor::default();
        let mut ticks = Ticks::default();
        let mut level = UNLIMITED;
        let mut after = |idle: u64, least: usize, sessions: usize| {
            ticks = Ticks { idle: ticks.idle + idle, total: ticks.total + 100 };
            level = governor.step(level, least, sessions, || Some(ticks));
            level
        };
        assert_eq!(after(0, 32, 300), UNLIMITED, "nothing to compare with");
        assert_eq!(after(0, 32, 300), 225);
        let levels: Vec<usize> = (0..8).map(|_| after(1, 32, 300)).collect();
        assert_eq!(levels, [168, 126, 93, 69, 51, 36, 32, 32], "they are busy");
        assert_eq!(after(3, 32, 300), 32);
        assert_eq!(after(50, 32, 300), 64, "they have time to spare");
        assert_eq!(after(50, 32, 300), 128);
        assert_eq!(after(50, 32, 300), 256);
        assert_eq!(after(50, 32, 300), UNLIMITED);
        assert_eq!(after(0, 32, 32), UNLIMITED, "there are no more");
        assert_eq!(after(0, 0, 300), UNLIMITED, "switched off");
        assert_eq!((after(0, 32, 300), after(0, 32, 300)), (UNLIMITED, 225), "as at first");
        assert_eq!(governor.step(32, 32, 300, || None), UNLIMITED, "nobody knows");
    }
}
