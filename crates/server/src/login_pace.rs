//! Logins make way for the sessions that are in.
//!
//! A login costs a worker some fifty times what a short statement does: a handshake of TLS, tables of
//! privileges, a session to make, and mostly soon to end. When a thousand clients a second come in, sessions
//! would have to share their worker with all of them. So each worker has a pace: while its sessions are at
//! work, logins may take [`SHARE`] of its time, and one that comes too early waits for its slot. A worker
//! whose sessions are idle polls logins as fast as they come.
//!
//! ```text
//!  sessions  ▒▒▒▒▒▒▒▒   ▒▒▒▒▒▒▒▒▒▒▒▒   ▒▒▒▒▒▒▒▒▒▒▒▒   ▒▒▒▒
//!  logins            ██             ██             ██          each followed by seven times its length for
//! the others
//!                    └─── one slot ─┘
//! ```
//!
//! What a login costs is the time of its polls and of the [first](FIRST_POLLS) of its session, in which the
//! session is made and a client that leaves at once has gone. Accepting a connection and what the kernel does
//! for it is not measured, which is why logins have less than the fifth that sessions can spare.
//!
//! Whether sessions are at work is judged by how often they are polled in the time that logins leave them: a
//! worker that polls nothing but logins for a while would not see them otherwise.
//!
//! Logins that wait for a slot are not silent clients: they are not ended to make room for others, and when
//! there are many of them the server stops accepting, so that the operating system's queue holds what comes
//! next.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::connections::{Connection, Connections};
use crate::reactor::Sleep;
use crate::worker::Share;

/// The part of a worker's time that logins may take while its sessions are at work: one in so many.
pub const SHARE: u32 = 8;
/// How often a worker is looked at.
const WINDOW: Duration = Duration::from_millis(5);
/// Sessions are at work if they are polled so often in a millisecond that is theirs.
const BUSY_POLLS: u64 = 1;
/// Polls of a session that count as its login: it is made, is asked something, and ends.
pub const FIRST_POLLS: u32 = 3;
/// What one of these may cost the logins that follow. A session that has long work to do is not theirs.
const MOST_CHARGED: Duration = Duration::from_millis(1);

/// The pace of one worker's logins.
#[derive(Debug)]
pub struct LoginPace(Mutex<Pace>);

#[derive(Debug)]
struct Pace {
    /// When the next slot is free.
    next: Instant,
    /// What polling a login takes, on average.
    cost: Duration,
    /// When the worker was last looked at, and the beat of its post then.
    looked: Instant,
    beat: u64,
    /// Polls of logins since, and the time that they took.
    own_polls: u64,
    own_time: Duration,
    is_busy: bool,
}

impl Default for LoginPace {
    fn default() -> Self {
        let now = Instant::now();
        LoginPace(Mutex::new(Pace {
            next: now,
            cost: Duration::from_micros(100),
            looked: now,
            beat: 0,
            own_polls: 0,
            own_time: Duration::ZERO,
            is_busy: false,
        }))
    }
}

impl LoginPace {
    /// The worker polls a login, whatever comes of it.
    fn begins_poll(&self) {
        self.0.lock().own_polls += 1;
    }

    /// How long a login has to wait that is to be polled `now`; `beat` is that of the worker's post: two more
    /// with each poll.
    fn wait(&self, now: Instant, beat: u64) -> Duration {
        let pace = &mut *self.0.lock();
        let since = now.saturating_duration_since(pace.looked);
        if since >= WINDOW {
            let polls = (beat.wrapping_sub(pace.beat) / 2).saturating_sub(pace.own_polls);
            let others = since.saturating_sub(pace.own_time).as_millis() as u64;
            pace.is_busy = polls > 0 && polls >= BUSY_POLLS * others;
            (pace.looked, pace.beat) = (now, beat);
            (pace.own_polls, pace.own_time) = (0, Duration::ZERO);
        }
        if !pace.is_busy {
            pace.next = now;
            return Duration::ZERO;
        }
        let slot = pace.next.max(now);
        pace.next = slot + pace.cost * SHARE;
        slot - now
    }

    /// A login was polled and took so long.
    fn polled(&self, took: Duration) {
        let pace = &mut *self.0.lock();
        pace.own_time += took;
        pace.cost = (pace.cost * 7 + took) / 8;
    }

    /// So long took what follows a login, which has no slot of its own: the next one is later for it.
    fn charge(&self, took: Duration) {
        let pace = &mut *self.0.lock();
        pace.own_time += took;
        pace.next += took.min(MOST_CHARGED) * SHARE;
    }
}

/// Runs a login at the pace of its worker.
pub async fn paced<T>(
    share: &Share,
    connections: &Connections,
    connection: &Connection,
    login: impl Future<Output = T>,
) -> T {
    let mut login = pin!(login);
    let mut waits: Option<Pin<Box<Sleep>>> = None;
    poll_fn(|context| {
        share.login_pace().begins_poll();
        let is_due = match &mut waits {
            None => false,
            Some(sleep) => {
                if sleep.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
                connections.leaves_queue(connection);
                waits = None;
                true
            }
        };
        let begun = Instant::now();
        if !is_due {
            let wait = share.login_pace().wait(begun, share.beat());
            if !wait.is_zero() {
                let mut sleep = Box::pin(Sleep::new(share.event_loop(), wait));
                if sleep.as_mut().poll(context).is_pending() {
                    connections.enters_queue(connection);
                    waits = Some(sleep);
                    return Poll::Pending;
                }
            }
        }
        let polled = login.as_mut().poll(context);
        share.login_pace().polled(begun.elapsed());
        polled
    })
    .await
}

/// Runs a session that a login has made: its first polls count as the login's.
pub async fn charged<T>(pace: &LoginPace, session: impl Future<Output = T>) -> T {
    let mut session = pin!(session);
    let mut polls = 0;
    poll_fn(|context| {
        if polls >= FIRST_POLLS {
            return session.as_mut().poll(context);
        }
        // The first is the end of the login's last.
        if polls > 0 {
            pace.begins_poll();
        }
        polls += 1;
        let begun = Instant::now();
        let polled = session.as_mut().poll(context);
        pace.charge(begun.elapsed());
        polled
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at a worker each 5 ms, in which its sessions were polled `polls` times, for a second in which
    /// logins that take `cost` come as fast as they may; how many of these there were.
    fn logins_in_a_second(polls: u64, cost: Duration) -> u32 {
        let pace = LoginPace::default();
        let begun = Instant::now();
        let (mut now, mut beat, mut logins, mut looked) = (begun, 0, 0, begun);
        while now < begun + Duration::from_secs(1) {
            if now >= looked + WINDOW {
                beat += 2 * polls * ((now - looked).as_millis() as u64).div_ceil(5);
                looked = now;
            }
            beat += 2;
            pace.begins_poll();
            let wait = pace.wait(now, beat);
            if !wait.is_zero() {
                now += wait;
                beat += 2;
                pace.begins_poll();
            }
            now += cost;
            pace.polled(cost);
            logins += 1;
        }
        logins
    }

    const LONG: Duration = Duration::from_millis(1);
    const SHORT: Duration = Duration::from_micros(250);

    #[test]
    fn logins_take_an_eighth_of_a_worker_that_is_at_work_and_all_of_one_that_is_not() {
        let at_work = logins_in_a_second(200, LONG);
        assert!((100..=150).contains(&at_work), "{at_work}");
        let idle = logins_in_a_second(0, LONG);
        assert!(idle >= 900, "{idle}");
    }

    /// Polls of logins are not taken for too many, and what sessions are kept from does not make them idle.
    #[test]
    fn sessions_that_are_polled_less_often_than_logins_are_at_work() {
        for polls in [5, 10, 20] {
            let logins = logins_in_a_second(polls, SHORT);
            assert!((400..=600).contains(&logins), "{polls} polls: {logins}");
        }
    }

    #[test]
    fn what_follows_a_login_makes_the_next_one_later() {
        let pace = LoginPace::default();
        let begun = Instant::now();
        pace.begins_poll();
        let later = begun + WINDOW;
        assert_eq!(pace.wait(later, 100), Duration::ZERO, "a slot is free");
        pace.charge(SHORT);
        pace.charge(Duration::from_secs(1));
        let wait = pace.wait(later, 102);
        assert_eq!(wait, (Duration::from_micros(100) + SHORT + MOST_CHARGED) * SHARE);
    }
}
