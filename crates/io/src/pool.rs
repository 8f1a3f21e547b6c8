//! Threads that wait for the disk, so that no worker does.
//!
//! A job is any boxed closure: a page read that completes an event, an extension of a file. Jobs start in the order
//! of submission and run `threads` at a time. [`IoPool::inline`] runs each job at once on the submitting thread,
//! which makes a simulation deterministic.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::{Condvar, Mutex};

type Job = Box<dyn FnOnce() + Send>;

/// A fixed number of I/O threads and their queue. Dropping it is [`IoPool::shutdown`].
pub struct IoPool {
    queue: Option<Arc<Queue>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    closed: bool,
}

impl IoPool {
    /// Starts `threads` I/O threads; there must be at least one.
    pub fn new(threads: usize) -> std::io::Result<IoPool> {
        assert!(threads > 0, "an I/O pool needs a thread; IoPool::inline() is the one without");
        let queue = Arc::new(Queue::default());
        let pool = IoPool { queue: Some(queue.clone()), threads: Mutex::new(Vec::with_capacity(threads)) };
        for number in 0..threads {
            let queue = queue.clone();
            let thread =
                std::thread::Builder::new().name(format!("io-{number}")).spawn(move || queue.run_jobs())?;
            pool.threads.lock().push(thread);
        }
        Ok(pool)
    }

    /// A pool without threads: each job runs inside [`IoPool::submit`].
    pub fn inline() -> IoPool {
        IoPool { queue: None, threads: Mutex::default() }
    }

    /// Queues a job. After [`IoPool::shutdown`] it runs on the calling thread: a job is never lost.
    pub fn submit(&self, job: impl FnOnce() + Send + 'static) {
        let Some(queue) = &self.queue else { return job() };
        let mut state = queue.state.lock();
        if state.closed {
            drop(state);
            return job();
        }
        state.jobs.push_back(Box::new(job));
        drop(state);
        queue.changed.notify_one();
    }

    /// Jobs submitted and not started.
    pub fn queued(&self) -> usize {
        self.queue.as_ref().map_or(0, |queue| queue.state.lock().jobs.len())
    }

    /// Waits until every job submitted has run, and ends the threads.
    pub fn shutdown(&self) {
        if let Some(queue) = &self.queue {
            queue.state.lock().closed = true;
            queue.changed.notify_all();
        }
        let own = std::thread::current().id();
        for thread in std::mem::take(&mut *self.threads.lock()) {
            // The last owner of a pool may be one of its own jobs; that thread ends by itself.
            if thread.thread().id() != own {
                thread.join().expect("I/O jobs do not panic");
            }
        }
    }
}

impl Drop for IoPool {
    fn drop(&mut self) {
        self.shutdown();
    }
}

impl Queue {
    fn run_jobs(&self) {
        let mut state = self.state.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                job();
                state = self.state.lock();
            } else if state.closed {
                return;
            } else {
                self.changed.wait(&mut state);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn shutdown_runs_every_job_that_was_submitted() {
        let ran = Arc::new(AtomicUsize::new(0));
        let pool = IoPool::new(3).unwrap();
        let count = |ran: &Arc<AtomicUsize>| {
            let ran = ran.clone();
            move || {
                ran.fetch_add(1, Ordering::Relaxed);
            }
        };
        for _ in 0..100 {
            pool.submit(count(&ran));
        }
        pool.shutdown();
        assert_eq!(ran.load(Ordering::Relaxed), 100);
        pool.submit(count(&ran));
        assert_eq!(ran.load(Ordering::Relaxed), 101, "a late job runs on the caller");
    }

    #[test]
    fn an_inline_pool_runs_the_job_inside_submit() {
        let ran = Arc::new(AtomicUsize::new(0));
        let pool = IoPool::inline();
        let seen = ran.clone();
        pool.submit(move || {
            seen.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(ran.load(Ordering::Relaxed), 1);
    }
}
