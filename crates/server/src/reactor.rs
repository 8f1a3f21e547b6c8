//! What a worker's event loop hears of: sockets that are ready, times that have come, and calls from other
//! threads.
//!
//! ```text
//!   epoll ── sockets (edge-triggered): Source ── readable │ writable │ closed, a waker each
//!     └───── bell (eventfd): another thread has work for a loop that sleeps
//!   timers ─ by time, a waker each
//! ```
//!
//! A reactor belongs to no thread. [`Reactor::turn`] is called by the thread that serves the worker just now;
//! when that thread does not come back from a session's statement, another one goes on with the same reactor,
//! and the sockets, timers and sessions do not notice ([`worker`](crate::worker)). This is why it is not
//! tokio's: there, the thread that polls a task holds the reactor.
//!
//! # Readiness without a lost edge
//!
//! epoll tells of a socket once, when it becomes ready; from then on the `Source` remembers it, until a
//! read or a write finds that there is nothing more. Between that finding and the note of it another edge may
//! come, and be noted by another thread. So the word that holds the readiness counts edges, and only the word
//! that was there *before* the read is cleared: an edge in between makes it another one, and the socket is
//! tried once more.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};

use crate::event_loop::EventLoop;

/// Most events taken from the operating system at a time.
const MOST_EVENTS: usize = 256;
/// What epoll calls the bell; sockets have smaller places.
const BELL: u64 = u64::MAX;

/// What a socket can be waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// There is something to read, or the end.
    Readable,
    /// There is room to write.
    Writable,
    /// The other end is closed, whether or not there is something left to read.
    Closed,
}

impl Readiness {
    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// One edge, in the upper part of the word of a [`Source`].
const EDGE: u32 = 1 << 8;

/// A socket's readiness, as it was last heard of.
#[derive(Default)]
struct Source {
    word: AtomicU32,
    /// Who waits, by [`Readiness`].
    waiting: Mutex<[Option<Waker>; 3]>,
}

impl Source {
    /// An edge has come.
    fn note(&self, bits: u32) {
        let mut word = self.word.load(Ordering::Relaxed);
        while let Err(now) = self.word.compare_exchange_weak(
            word,
            word.wrapping_add(EDGE) | bits,
            Ordering::AcqRel,
            Ordering::Relaxed,
        ) {
            word = now;
        }
        // A waker stays where it is: its task will most likely wait here again.
        let waiting = self.waiting.lock();
        for (place, waker) in waiting.iter().enumerate() {
            if bits & (1 << place) != 0
                && let Some(waker) = waker
            {
                waker.wake_by_ref();
            }
        }
    }

    /// The word, once one of `bits` is set; until then `readiness` is waited for.
    fn poll(&self, readiness: Readiness, bits: u32, context: &mut Context<'_>) -> Poll<u32> {
        let word = self.word.load(Ordering::Acquire);
        if word & bits != 0 {
            return Poll::Ready(word);
        }
        let mut waiting = self.waiting.lock();
        #[expect(clippy::indexing_slicing, reason = "there is a place for each readiness")]
        let place = &mut waiting[readiness as usize];
        if !place.as_ref().is_some_and(|known| known.will_wake(context.waker())) {
            *place = Some(context.waker().clone());
        }
        // Looked at again below the lock: an edge is noted before its wakers are looked for.
        let word = self.word.load(Ordering::Acquire);
        if word & bits != 0 { Poll::Ready(word) } else { Poll::Pending }
    }

    /// There was nothing (more) when the word was `seen`.
    fn clear(&self, readiness: Readiness, seen: u32) {
        // a failure is a new edge
        let _ =
            self.word.compare_exchange(seen, seen & !readiness.bit(), Ordering::AcqRel, Ordering::Relaxed);
    }
}

/// A socket's place in a reactor, until it is dropped. The socket is closed or [forgotten](Watch::forget)
/// after that.
pub struct Watch {
    source: Arc<Source>,
    event_loop: Arc<EventLoop>,
    place: u32,
}

impl Watch {
    /// Lets the reactor of `event_loop` hear of a socket.
    pub fn new(event_loop: &Arc<EventLoop>, socket: impl AsFd) -> io::Result<Watch> {
        let reactor = event_loop.reactor();
        let source = Arc::<Source>::default();
        let (place, data) = reactor.watched.lock().take_in(source.clone());
        let watch = Watch { source, event_loop: event_loop.clone(), place };
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&reactor.epoll, socket, EventData::new_u64(data), flags)?;
        Ok(watch)
    }

    /// Takes the socket from its reactor: it will be watched by another one.
    pub fn forget(self, socket: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.event_loop.reactor().epoll, socket)?)
    }

    /// The event loop that hears of it.
    pub fn event_loop(&self) -> &Arc<EventLoop> {
        &self.event_loop
    }

    /// Waits until the socket is `readiness`. What is returned is for [`Watch::clear`].
    pub fn poll(&self, readiness: Readiness, context: &mut Context<'_>) -> Poll<u32> {
        let bits = match readiness {
            // the end of what the client sends can be read
            Readiness::Readable => Readiness::Readable.bit() | Readiness::Closed.bit(),
            other => other.bit(),
        };
        self.source.poll(readiness, bits, context)
    }

    /// The readiness as of now, for [`Watch::clear`].
    pub fn seen(&self) -> u32 {
        self.source.word.load(Ordering::Acquire)
    }

    /// The operating system had nothing more, when `seen` was returned by [`Watch::poll`].
    pub fn clear(&self, readiness: Readiness, seen: u32) {
        self.source.clear(readiness, seen);
    }

    /// Whether the other end is closed, as far as the reactor knows.
    pub fn is_closed(&self) -> bool {
        self.source.word.load(Ordering::Acquire) & Readiness::Closed.bit() != 0
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.event_loop.reactor().watched.lock().let_go(self.place);
    }
}

/// Every source of a reactor, in numbered places.
#[derive(Default)]
struct Watched {
    places: Vec<Place>,
    vacant: Vec<u32>,
}

/// A place, and how many sources it had before: an event that was on its way to one of them is not the next
/// one's.
#[derive(Default)]
struct Place {
    source: Option<Arc<Source>>,
    age: u32,
}

impl Watched {
    /// The place, and what epoll is to call it.
    fn take_in(&mut self, source: Arc<Source>) -> (u32, u64) {
        let place = self.vacant.pop().unwrap_or_else(|| {
            self.places.push(Place::default());
            self.places.len() as u32 - 1
        });
        let entry = self.at(place);
        entry.source = Some(source);
        (place, u64::from(entry.age) << 32 | u64::from(place))
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "`take_in` gave the place out, and the list does not get shorter"
    )]
    fn at(&mut self, place: u32) -> &mut Place {
        &mut self.places[place as usize]
    }

    fn let_go(&mut self, place: u32) {
        let entry = self.at(place);
        entry.source = None;
        // the last age together with the last place would be the bell
        entry.age = entry.age.wrapping_add(1) & (u32::MAX >> 1);
        self.vacant.push(place);
    }

    fn find(&self, data: u64) -> Option<&Arc<Source>> {
        let entry = self.places.get(data as u32 as usize)?;
        entry.source.as_ref().filter(|_| u64::from(entry.age) == data >> 32)
    }
}

/// Who waits for what time; the number tells those of one time apart.
#[derive(Default)]
struct Timers {
    waiting: BTreeMap<(Instant, u64), Waker>,
    last_number: u64,
}

/// What a thread that [turns](Reactor::turn) a reactor needs: room for events.
pub struct Events(Vec<epoll::Event>);

impl Default for Events {
    fn default() -> Events {
        Events(Vec::with_capacity(MOST_EVENTS))
    }
}

/// See the [module](self).
pub struct Reactor {
    epoll: OwnedFd,
    bell: OwnedFd,
    watched: Mutex<Watched>,
    timers: Mutex<Timers>,
    /// The first timer's time, microseconds after `begun`; without one, the largest number: then no turn
    /// looks at a clock.
    first_us: AtomicU64,
    begun: Instant,
}

impl Reactor {
    /// One that watches nothing yet.
    pub fn new() -> io::Result<Reactor> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        epoll::add(&epoll, &bell, EventData::new_u64(BELL), EventFlags::IN | EventFlags::ET)?;
        Ok(Reactor {
            epoll,
            bell,
            watched: Mutex::default(),
            timers: Mutex::default(),
            first_us: AtomicU64::new(u64::MAX),
            begun: Instant::now(),
        })
    }

    /// Ends a turn that sleeps, or the next one that would.
    pub fn ring(&self) {
        // an eventfd takes 2^64 rings before it refuses one, and each is edge enough
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }

    /// Hears what there is and wakes who waits for it. If it `may_sleep`, until there is something. `awake`
    /// is called between the sleep and the wakings.
    pub fn turn(&self, events: &mut Events, may_sleep: bool, awake: impl FnOnce()) {
        let events = &mut events.0;
        events.clear();
        let timeout = match may_sleep {
            true => self.until_first(),
            false => Some(Duration::ZERO),
        };
        let timeout = timeout.map(|timeout| Timespec {
            tv_sec: timeout.as_secs() as i64,
            tv_nsec: timeout.subsec_nanos().into(),
        });
        // An interruption by a signal is an end like any other. Another failure cannot be: the arguments are
        // right.
        let heard = epoll::wait(&self.epoll, spare_capacity(events), timeout.as_ref());
        awake();
        assert!(heard.is_ok() || heard == Err(rustix::io::Errno::INTR), "epoll: {heard:?}");
        if !events.is_empty() {
            let watched = self.watched.lock();
            for event in events.iter() {
                if let Some(source) = watched.find(event.data.u64()) {
                    source.note(bits_of(event.flags));
                }
            }
        }
        if self.first_us.load(Ordering::Relaxed) != u64::MAX {
            self.wake_timers();
        }
    }

    fn until_first(&self) -> Option<Duration> {
        match self.first_us.load(Ordering::SeqCst) {
            u64::MAX => None,
            // Whole milliseconds are what every kernel's epoll understands; never too early.
            first_us => {
                let left_us = first_us.saturating_sub(self.begun.elapsed().as_micros() as u64);
                Some(Duration::from_millis(left_us.div_ceil(1000).min(60_000)))
            }
        }
    }

    fn wake_timers(&self) {
        let now = Instant::now();
        let mut due = Vec::new();
        {
            let mut timers = self.timers.lock();
            while let Some(first) = timers.waiting.first_entry()
                && first.key().0 <= now
            {
                due.push(first.remove());
            }
            self.note_first(&timers);
        }
        due.into_iter().for_each(Waker::wake);
    }

    fn note_first(&self, timers: &Timers) {
        let first = timers.waiting.keys().next();
        let first_us =
            first.map_or(u64::MAX, |(time, _)| time.duration_since(self.begun).as_micros() as u64 + 1);
        self.first_us.store(first_us, Ordering::SeqCst);
    }

    /// Wakes `waker` at `time`; the number is for [`Reactor::cancel`].
    fn wake_at(&self, time: Instant, number: Option<u64>, waker: &Waker) -> u64 {
        let mut timers = self.timers.lock();
        let number = number.unwrap_or_else(|| {
            timers.last_number += 1;
            timers.last_number
        });
        timers.waiting.insert((time, number), waker.clone());
        self.note_first(&timers);
        number
    }

    fn cancel(&self, time: Instant, number: u64) {
        let mut timers = self.timers.lock();
        timers.waiting.remove(&(time, number));
        self.note_first(&timers);
    }
}

fn bits_of(flags: EventFlags) -> u32 {
    let mut bits = 0;
    if flags.contains(EventFlags::IN) {
        bits |= Readiness::Readable.bit();
    }
    if flags.contains(EventFlags::OUT) {
        bits |= Readiness::Writable.bit();
    }
    if flags.contains(EventFlags::RDHUP) {
        bits |= Readiness::Readable.bit() | Readiness::Closed.bit();
    }
    if flags.intersects(EventFlags::HUP | EventFlags::ERR) {
        bits |= Readiness::Readable.bit() | Readiness::Writable.bit() | Readiness::Closed.bit();
    }
    bits
}

/// Waits until a time has come.
pub struct Sleep {
    event_loop: Arc<EventLoop>,
    time: Instant,
    number: Option<u64>,
}

impl Sleep {
    /// Until `limit` from now, told by the reactor of `event_loop`. What lies beyond a thousand years is
    /// never.
    pub fn new(event_loop: &Arc<EventLoop>, limit: Duration) -> Sleep {
        const FOREVER: Duration = Duration::from_secs(1000 * 365 * 24 * 3600);
        Sleep { event_loop: event_loop.clone(), time: Instant::now() + limit.min(FOREVER), number: None }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: std::pin::Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if Instant::now() >= self.time {
            return Poll::Ready(());
        }
        let number = self.event_loop.reactor().wake_at(self.time, self.number, context.waker());
        self.number = Some(number);
        // it may sleep until a later time
        self.event_loop.look_again();
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.event_loop.reactor().cancel(self.time, number);
        }
    }
}

/// What `operation` gives within `limit`; `None` if it takes longer.
pub async fn timeout<T>(
    event_loop: &Arc<EventLoop>,
    limit: Duration,
    operation: impl Future<Output = T>,
) -> Option<T> {
    let mut operation = pin!(operation);
    // most operations are over at once, and need no timer
    let mut sleep = None;
    poll_fn(|context| {
        if let Poll::Ready(done) = operation.as_mut().poll(context) {
            return Poll::Ready(Some(done));
        }
        let sleep = sleep.get_or_insert_with(|| Sleep::new(event_loop, limit));
        std::pin::Pin::new(sleep).poll(context).map(|()| None)
    })
    .await
}

#[cfg(test)]
mod tests;
