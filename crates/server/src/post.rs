//! What the threads that poll tasks tell the [watchdog](crate::watchdog), and how they are started and waited
//! for.

use std::io;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use rustix::process::{Pid, setpriority_process};
use rustix::thread::gettid;
use tracing::debug;

/// What is added to the nice value of a thread that computes: beside the workers it gets about a third of a
/// processor that all want.
const COMPUTING_NICE: i32 = 5;

/// The stack of a thread that polls tasks. An expression of the greatest height that the parser takes (360)
/// and the greatest frames takes some 10 MiB of it in a build without optimizations, less than 2 MiB
/// otherwise. What is not used stays address space.
const STACK_BYTES: usize = 32 << 20;

/// A thread that polls tasks, as others see it. Only that thread writes to what changes with every poll.
#[repr(align(64))]
pub(crate) struct Post {
    /// Odd while a task is polled; one more at each begin and end.
    beat: AtomicU64,
    /// The connection whose task is polled, or was last.
    connection: AtomicU64,
    /// Another thread has taken its place: it ends when it comes back.
    is_over: AtomicBool,
    is_for_computing: bool,
    thread: OnceLock<Pid>,
}

impl Post {
    pub(crate) fn new(is_for_computing: bool) -> Arc<Post> {
        Arc::new(Post {
            beat: AtomicU64::new(0),
            connection: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
            is_for_computing,
            thread: OnceLock::new(),
        })
    }

    /// The calling thread mans it. One for computing makes way for others from now on.
    pub(crate) fn man(&self) {
        let thread = gettid();
        if self.is_for_computing {
            make_way(thread);
        }
        // a post has one thread
        let _ = self.thread.set(thread);
    }

    #[inline]
    pub(crate) fn begin(&self, connection: u64) {
        self.connection.store(connection, Ordering::Relaxed);
        self.beat.store(self.beat.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn end(&self) {
        self.beat.store(self.beat.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// A number that is another one with each poll that begins or ends.
    pub(crate) fn beat(&self) -> u64 {
        self.beat.load(Ordering::Relaxed)
    }

    /// The connection whose task is polled, or was last; 0 for none.
    pub(crate) fn connection(&self) -> u64 {
        self.connection.load(Ordering::Relaxed)
    }

    /// Whether its thread serves the one task that it polls, and no other.
    pub(crate) fn is_for_computing(&self) -> bool {
        self.is_for_computing || self.is_over()
    }

    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Another thread takes its place. Its own makes way for others.
    pub(crate) fn relieve(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.get() {
            make_way(*thread);
        }
    }
}

/// A thread is to be scheduled after the others.
fn make_way(thread: Pid) {
    if let Err(error) = setpriority_process(Some(thread), COMPUTING_NICE) {
        // a server that runs at a higher value already may not lower it; all goes on as it was
        debug!("the priority of a thread stays as it is: {error}");
    }
}

/// All threads that poll tasks.
#[derive(Default)]
pub(crate) struct Crew {
    alive: Mutex<usize>,
    one_less: Condvar,
}

/// A thread's part in the [`Crew`], while it lives.
struct Member(Arc<Crew>);

impl Drop for Member {
    fn drop(&mut self) {
        *self.0.alive.lock() -= 1;
        self.0.one_less.notify_all();
    }
}

impl Crew {
    /// Starts a thread.
    pub(crate) fn start(
        self: &Arc<Self>,
        name: String,
        run: impl FnOnce() + Send + 'static,
    ) -> io::Result<()> {
        *self.alive.lock() += 1;
        // dropped with the closure if there is no thread to run it
        let member = Member(self.clone());
        let started = std::thread::Builder::new().name(name).stack_size(STACK_BYTES).spawn(move || {
            let _member = member;
            run();
        });
        started.map(drop)
    }

    /// Waits until all threads have ended, at most `limit`; how many have not.
    pub(crate) fn wait(&self, limit: Duration) -> usize {
        let until = Instant::now() + limit;
        let mut alive = self.alive.lock();
        while *alive > 0 {
            if self.one_less.wait_until(&mut alive, until).timed_out() {
                break;
            }
        }
        *alive
    }
}
