//! Waiting without a thread.
//!
//! Inside the engine an operation never sleeps: it acquires what it needs, and if something is missing it
//! releases everything and returns [`Blocked::Wait`] with the [`Event`] that will tell when trying again makes
//! sense. The caller awaits the event (holding no latch) and calls again. Whoever brings the awaited state about
//! calls [`Event::complete`], once; it stays complete.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// A one-shot event, shared between those who wait and the one who completes it. It is itself the future: each handle
/// waits at most once at a time, and what it registered goes when it is dropped, so an event that nobody completes for
/// years stays as small as its waits.
///
/// Completing an event happens before every return from waiting on it.
#[derive(Default)]
pub struct Event {
    shared: Arc<Shared>,
    /// Where this handle's waker is, since it was first polled.
    place: Option<usize>,
}

#[derive(Default)]
struct Shared {
    complete: AtomicBool,
    waiting: Mutex<Waiting>,
}

/// The wakers of the handles that wait.
#[derive(Default)]
struct Waiting {
    wakers: Vec<Option<Waker>>,
    /// Places in `wakers` that are free.
    vacant: Vec<usize>,
}

impl Waiting {
    #[expect(
        clippy::indexing_slicing,
        reason = "`put` gave the place out, and the list does not get shorter"
    )]
    fn at(&mut self, place: usize) -> &mut Option<Waker> {
        &mut self.wakers[place]
    }

    /// Takes a waker in at its place, or at a free one; where it is.
    fn put(&mut self, place: Option<usize>, waker: &Waker) -> usize {
        match place.or_else(|| self.vacant.pop()) {
            Some(place) => {
                match self.at(place) {
                    Some(known) => known.clone_from(waker),
                    free => *free = Some(waker.clone()),
                }
                place
            }
            None => {
                self.wakers.push(Some(waker.clone()));
                self.wakers.len() - 1
            }
        }
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_complete(&self) -> bool {
        self.complete.load(Ordering::Acquire)
    }
}

impl Event {
    /// An event that has not happened.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether it has happened.
    pub fn is_complete(&self) -> bool {
        self.shared.is_complete()
    }

    /// It has happened: wakes everyone who waits. Calling it again changes nothing.
    pub fn complete(&self) {
        let woken = {
            let mut waiting = self.shared.waiting();
            self.shared.complete.store(true, Ordering::Release);
            std::mem::take(&mut *waiting)
        };
        for waker in woken.wakers.into_iter().flatten() {
            waker.wake();
        }
    }

    /// Waits on the calling thread. For background threads and tests: a worker awaits the event instead.
    pub fn wait_blocking(&self) {
        block_on(self.clone());
    }

    /// Whether both are the same event.
    pub fn same_as(&self, other: &Event) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

/// Another handle on the same event, which has not begun to wait.
impl Clone for Event {
    fn clone(&self) -> Self {
        Event { shared: self.shared.clone(), place: None }
    }
}

impl Future for Event {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if this.shared.is_complete() {
            return Poll::Ready(());
        }
        let mut waiting = this.shared.waiting();
        if this.shared.is_complete() {
            return Poll::Ready(());
        }
        this.place = Some(waiting.put(this.place, context.waker()));
        Poll::Pending
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            let mut waiting = self.shared.waiting();
            // completing it has taken all of them away
            if !self.shared.is_complete() {
                *waiting.at(place) = None;
                waiting.vacant.push(place);
            }
        }
    }
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.is_complete() { "Event(complete)" } else { "Event(pending)" })
    }
}

/// Why an operation did not finish: it must be called again after an event, or it failed.
#[derive(Debug)]
#[must_use]
pub enum Blocked<E> {
    /// Nothing was changed and nothing is held; call again once the event has happened.
    Wait(Event),
    /// It failed, for good.
    Error(E),
}

impl<E> Blocked<E> {
    /// "Call me again soon": what takes long lets others have their turn.
    pub fn yielding() -> Self {
        let event = Event::new();
        event.complete();
        Blocked::Wait(event)
    }

    /// The same, with the error converted.
    pub fn map_err<F>(self, convert: impl FnOnce(E) -> F) -> Blocked<F> {
        match self {
            Blocked::Wait(event) => Blocked::Wait(event),
            Blocked::Error(error) => Blocked::Error(convert(error)),
        }
    }

    /// The same, with the error converted by [`From`]: `attempt.map_err(Blocked::up)?`.
    pub fn up<F: From<E>>(self) -> Blocked<F> {
        self.map_err(F::from)
    }
}

impl<E> From<E> for Blocked<E> {
    fn from(error: E) -> Self {
        Blocked::Error(error)
    }
}

/// The result of an operation that acquires before it applies; see [`Blocked`].
pub type Attempt<T, E> = Result<T, Blocked<E>>;

/// Calls `attempt` until it no longer asks to wait, parking the task in between. Where what it asks to wait
/// for has happened ([`Blocked::yielding`]), the worker's other tasks have their turn.
pub async fn retry<T, E>(mut attempt: impl FnMut() -> Attempt<T, E>) -> Result<T, E> {
    loop {
        match attempt() {
            Ok(value) => return Ok(value),
            Err(Blocked::Error(error)) => return Err(error),
            Err(Blocked::Wait(event)) if event.is_complete() => yield_now().await,
            Err(Blocked::Wait(event)) => event.await,
        }
    }
}

/// Lets the other tasks of a worker run.
pub async fn yield_now() {
    let mut has_yielded = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Runs a future on the calling thread, which sleeps while the future waits. For tests, and for programs
/// without event loops of their own.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        std::thread::park();
    }
}

/// [`retry`] for background threads and tests: sleeps in between.
pub fn retry_blocking<T, E>(attempt: impl FnMut() -> Attempt<T, E>) -> Result<T, E> {
    retry_after(attempt, |event| {
        event.wait_blocking();
        Ok(())
    })
}

/// [`retry`] for those that may have to bring the event about themselves: `wait` returns when the attempt is worth another
/// try.
pub fn retry_after<T, E>(
    mut attempt: impl FnMut() -> Attempt<T, E>,
    mut wait: impl FnMut(&Event) -> Result<(), E>,
) -> Result<T, E> {
    loop {
        match attempt() {
            Ok(value) => return Ok(value),
            Err(Blocked::Error(error)) => return Err(error),
            Err(Blocked::Wait(event)) => wait(&event)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiter_returns_after_completion_and_never_before() {
        let event = Event::new();
        let flag = Arc::new(AtomicBool::new(false));
        let waiter = {
            let (event, flag) = (event.clone(), flag.clone());
            std::thread::spawn(move || {
                event.wait_blocking();
                assert!(flag.load(Ordering::Relaxed));
            })
        };
        flag.store(true, Ordering::Relaxed);
        event.complete();
        event.complete();
        waiter.join().unwrap();
        event.wait_blocking();
    }

    /// A waker that is never the same as its clones, as wakers whose functions were compiled twice are not.
    fn elusive() -> Waker {
        struct Nobody;
        impl std::task::Wake for Nobody {
            fn wake(self: Arc<Self>) {}
        }
        Waker::from(Arc::new(Nobody))
    }

    #[test]
    fn waiting_for_long_takes_one_place_and_giving_up_takes_none() {
        let event = Event::new();
        let places = |event: &Event| event.shared.waiting().wakers.len();
        let mut patient = event.clone();
        for _ in 0..1000 {
            assert!(Pin::new(&mut patient).poll(&mut Context::from_waker(&elusive())).is_pending());
            let mut impatient = event.clone();
            assert!(Pin::new(&mut impatient).poll(&mut Context::from_waker(&elusive())).is_pending());
        }
        assert_eq!(places(&event), 2);
        event.complete();
        drop(patient);
        assert_eq!(places(&event), 0);
    }

    #[test]
    fn retry_calls_again_only_after_the_event() {
        let event = Event::new();
        event.complete();
        let mut calls = 0;
        let result: Result<i32, ()> = retry_blocking(|| {
            calls += 1;
            if calls == 1 { Err(Blocked::Wait(event.clone())) } else { Ok(calls) }
        });
        assert_eq!(result, Ok(2));
    }
}
