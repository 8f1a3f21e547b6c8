//! The watchdog: a thread that sees when another one does not come back, and has the rest served by a new
//! one.
//!
//! Statements are evaluated in short steps, and a step that takes long is asked to go to the [computing
//! threads](crate::compute). A step that never asks is a mistake, and must not cost more than that session:
//! when a worker's thread has been in one poll for two looks, the watchdog *relieves* it. A new thread takes
//! over the worker as it is - event loop, reactor, sessions, log inbox - and the old one finishes the poll,
//! hands the task back as after any poll, and ends. Nothing is moved: a worker is not bound to its thread
//! ([`reactor`](crate::reactor)).
//!
//! It looks every 10 ms while something is polled, and falls asleep when nothing was for a second. The first
//! worker that comes back from its sleep then wakes it; a quarter of a second later it would have looked in
//! any case.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tracing::{debug, warn};

use crate::post::Post;
use crate::status;
use crate::worker::Team;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(10);
/// Looks without a beat until a worker's thread is relieved.
const LOOKS_TO_RELIEVE: u32 = 2;
/// Looks in which the computing threads' queue stands still until there is one more of them.
const LOOKS_TO_ADD: u32 = 5;
/// Looks between two looks at the client of a poll that takes long.
const LOOKS_AT_CLIENT: u32 = 10;
/// Looks without anything to see until it sleeps.
const LOOKS_TO_SLEEP: u32 = 100;
/// How long it sleeps without being woken.
const SLEEP: Duration = Duration::from_millis(250);

/// The bell at its side, read by every worker and written when it falls asleep.
#[derive(Default)]
pub(crate) struct Watchdog {
    is_asleep: AtomicBool,
    is_over: AtomicBool,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Watchdog {
    /// A worker has something to do.
    #[inline]
    pub(crate) fn wake_if_asleep(&self) {
        if self.is_asleep.load(Ordering::Relaxed) {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        if self.is_asleep.swap(false, Ordering::Relaxed)
            && let Some(thread) = &*self.thread.lock()
        {
            thread.thread().unpark();
        }
    }

    /// Ends its thread.
    pub(crate) fn stop(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            thread.thread().unpark();
            // if it panicked it has said so
            let _ = thread.join();
        }
    }

    /// Starts it over `team`. `looks_at_client` is called again and again while a connection's poll takes
    /// long, with its number.
    pub(crate) fn start(team: &Arc<Team>, looks_at_client: impl Fn(u64) + Send + 'static) -> io::Result<()> {
        let team = team.clone();
        let watchdog = team.watchdog.clone();
        let thread = std::thread::Builder::new().name("watchdog".to_owned()).spawn(move || {
            watch(&team, &looks_at_client);
        })?;
        *watchdog.thread.lock() = Some(thread);
        Ok(())
    }
}

/// What was seen of a post.
struct Seen {
    beat: u64,
    /// Looks at which it was the same, while a task was polled.
    looks: u32,
    since: Instant,
}

/// What was seen of all posts, by their addresses; and of the computing threads' queue.
#[derive(Default)]
struct Sights {
    posts: HashMap<usize, Seen>,
    queue: Option<(u64, u32)>,
    /// Looks in a row at which nothing was polled.
    quiet: u32,
}

impl Sights {
    /// Looks at a post: at how many looks it has been in the same poll, and since when. 0 if it is in none.
    fn look(&mut self, post: &Arc<Post>) -> (u32, Instant) {
        let beat = post.beat();
        let place = Arc::as_ptr(post) as usize;
        let seen = self.posts.entry(place).or_insert_with(|| Seen { beat, looks: 0, since: Instant::now() });
        if seen.beat != beat {
            *seen = Seen { beat, looks: 0, since: Instant::now() };
            self.quiet = 0;
        } else if beat % 2 == 1 {
            seen.looks += 1;
            self.quiet = 0;
        }
        (seen.looks, seen.since)
    }

    /// Forgets the posts that are none any more.
    fn keep(&mut self, posts: &[(Arc<Post>, Option<usize>)]) {
        if self.posts.len() > 2 * posts.len() + 16 {
            self.posts.retain(|place, _| posts.iter().any(|(post, _)| Arc::as_ptr(post) as usize == *place));
        }
    }
}

fn watch(team: &Arc<Team>, looks_at_client: &impl Fn(u64)) {
    let watchdog = &team.watchdog;
    let mut sights = Sights::default();
    while !watchdog.is_over.load(Ordering::Relaxed) {
        sights.quiet = sights.quiet.saturating_add(1);
        look(team, &mut sights, looks_at_client);
        if sights.quiet < LOOKS_TO_SLEEP {
            std::thread::sleep(LOOK);
        } else {
            watchdog.is_asleep.store(true, Ordering::Relaxed);
            std::thread::park_timeout(SLEEP);
            watchdog.is_asleep.store(false, Ordering::Relaxed);
        }
    }
}

fn look(team: &Arc<Team>, sights: &mut Sights, looks_at_client: &impl Fn(u64)) {
    let of_workers = team.everyone().map(|worker| (worker.post(), Some(worker.number())));
    let others = team.compute.posts().into_iter().chain(team.relieved()).map(|post| (post, None));
    let posts: Vec<_> = of_workers.chain(others).collect();
    for (post, worker) in &posts {
        let (looks, since) = sights.look(post);
        if looks > 0 && looks % LOOKS_AT_CLIENT == 0 && post.connection() != 0 {
            looks_at_client(post.connection());
        }
        if let Some(worker) = worker
            && looks >= LOOKS_TO_RELIEVE
        {
            relieve(team, *worker, post, since);
        }
    }
    sights.queue = team.compute.standing_queue().map(|taken| match sights.queue {
        Some((before, looks)) if before == taken => (taken, looks + 1),
        _ => (taken, 0),
    });
    if let Some((taken, looks)) = sights.queue {
        sights.quiet = 0;
        if looks >= LOOKS_TO_ADD {
            team.compute.relieve();
            sights.queue = Some((taken, 0));
        }
    }
    sights.keep(&posts);
}

fn relieve(team: &Arc<Team>, worker: usize, post: &Arc<Post>, since: Instant) {
    let connection = post.connection();
    let held_ms = since.elapsed().as_millis();
    match team.relieve(worker, post) {
        Ok(()) => {
            status::THREADS_RELIEVED.increment();
            // A slow disk does it as well: not worth a line of the log each time.
            debug!("worker {worker}: connection {connection} has held its thread for {held_ms} ms");
        }
        Err(error) => {
            warn!("worker {worker} is held by connection {connection}, and there is no thread: {error}")
        }
    }
}
