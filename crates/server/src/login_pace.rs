//! Logins make way for the sessions that are in.
//!
//! A login costs a worker some fifty times what a short statement does: a handshake of TLS, tables of
//! privileges, a session to make. When a thousand clients a second come in, sessions would have to share
//! their worker with all of them. So each worker has a pace: while its sessions are at work, polling logins
//! may take [`SHARE`] of its time, and a login that comes too early waits for its slot. A worker whose
//! sessions are idle polls logins as fast as they come.
//!
//! ```text
//!  sessions  ▒▒▒▒▒▒▒▒   ▒▒▒▒▒▒▒▒▒▒▒▒   ▒▒▒▒▒▒▒▒▒▒▒▒   ▒▒▒▒
//!  logins            ██             ██             ██          each followed by four times its length for the others
//!                    └─── one slot ─┘
//! ```
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
pub const SHARE: u32 = 5;
/// How often a worker is looked at.
const WINDOW: Duration = Duration::from_millis(5);
/// Sessions are at work if they are polled so often in a millisecond.
const BUSY_POLLS: u64 = 1;

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
    /// Polls of logins since.
    own_polls: u64,
    is_busy: bool,
}

impl Default for LoginPace {
    fn default() -> Self {
        let now = Instant::now();
        let cost = Duration::from_micros(100);
        LoginPace(Mutex::new(Pace { next: now, cost, looked: now, beat: 0, own_polls: 0, is_busy: false }))
    }
}

impl LoginPace {
    /// How long a login has to wait that is to be polled `now`; `beat` is that of the worker's post: two more
    /// with each poll.
    fn wait(&self, now: Instant, beat: u64) -> Duration {
        let pace = &mut *self.0.lock();
        pace.own_polls += 1;
        let since = now.saturating_duration_since(pace.looked);
        if since >= WINDOW {
            let polls = (beat.wrapping_sub(pace.beat) / 2).saturating_sub(pace.own_polls);
            pace.is_busy = polls >= BUSY_POLLS * since.as_millis() as u64;
            (pace.looked, pace.beat, pace.own_polls) = (now, beat, 0);
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
        pace.own_polls += 1;
        pace.cost = (pace.cost * 7 + took) / 8;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at a worker each 5 ms, in which its sessions were polled `polls` times, for a second in which
    /// logins that take a millisecond come as fast as they may; how many of these there were.
    fn logins_in_a_second(polls: u64) -> u32 {
        let pace = LoginPace::default();
        let begun = Instant::now();
        let (mut now, mut beat, mut logins, mut looked) = (begun, 0, 0, begun);
        while now < begun + Duration::from_secs(1) {
            if now >= looked + WINDOW {
                beat += 2 * polls * ((now - looked).as_millis() as u64).div_ceil(5);
                looked = now;
            }
            beat += 2;
            now += pace.wait(now, beat);
            now += Duration::from_millis(1);
            pace.polled(Duration::from_millis(1));
            logins += 1;
        }
        logins
    }

    #[test]
    fn logins_take_a_fifth_of_a_worker_that_is_at_work_and_all_of_one_that_is_not() {
        let at_work = logins_in_a_second(200);
        assert!((150..=240).contains(&at_work), "{at_work}");
        let idle = logins_in_a_second(0);
        assert!(idle >= 900, "{idle}");
    }
}
