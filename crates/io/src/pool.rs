//! Threads that wait for the disk, so that no worker does.
//!
//! A job is any boxed closure: an extension of a file, a page read where the kernel has no io_uring. Jobs
//! start in the order of submission and run `threads` at a time. [`IoPool::inline`] runs each job at once on
//! the submitting thread, which makes a simulation deterministic.
//!
//! Page reads go through a thread of their own, which has any number of them under way: see
//! [`reads`](crate::reads).

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::{Condvar, Mutex};

use crate::batch::FirstError;
use crate::crew::Crew;
use crate::reads::{Read, Reader};

type Job = Box<dyn FnOnce() + Send>;

/// A fixed number of I/O threads and their queue. Dropping it is [`IoPool::shutdown`].
pub struct IoPool {
    queue: Option<Arc<Queue>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    helpers: usize,
    reader: Option<Reader>,
}

/// Who waits for reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// The kernel, where it has io_uring (`innodb_use_native_aio`); else threads.
    Kernel,
    /// Threads.
    Threads,
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

/// A task on the stack of the thread that waits for it. A pointer, not a reference: a helper that comes late
/// still moves it about when the task has gone, and only a pointer may dangle meanwhile.
#[derive(Clone, Copy)]
struct Lent(*const (dyn Fn(&Crew) + Sync));

// SAFETY: what it points to may be called from any thread.
unsafe impl Send for Lent {}

impl Lent {
    fn new<'a>(task: &'a (dyn Fn(&Crew) + Sync + 'a)) -> Lent {
        let task: *const (dyn Fn(&Crew) + Sync + 'a) = task;
        // SAFETY: only the lifetime is changed, of a pointer.
        Lent(unsafe {
            std::mem::transmute::<*const (dyn Fn(&Crew) + Sync + 'a), *const (dyn Fn(&Crew) + Sync)>(task)
        })
    }

    /// # Safety
    ///
    /// The task must still be there.
    unsafe fn call(&self, crew: &Crew) {
        // SAFETY: the caller promises that.
        unsafe { (*self.0)(crew) }
    }
}

impl IoPool {
    /// Starts `threads` I/O threads; there must be at least one.
    pub fn new(threads: usize, waiting: Waiting) -> std::io::Result<IoPool> {
        Self::with_writers(threads, 0, waiting)
    }

    /// As [`new`](Self::new). Where the kernel does not wait, there are `writers` more threads, and a
    /// [`WriteQueue`](crate::WriteQueue) has so many of all to help at most; with 0, all.
    pub fn with_writers(threads: usize, writers: usize, waiting: Waiting) -> std::io::Result<IoPool> {
        assert!(threads > 0, "an I/O pool needs a thread; IoPool::inline() is the one without");
        let queue = Arc::new(Queue::default());
        let reader = match waiting {
            Waiting::Kernel => Reader::start()?,
            Waiting::Threads => None,
        };
        let threads = if reader.is_none() { threads + writers } else { threads };
        let helpers = if writers == 0 { threads } else { writers.min(threads) };
        let handles = Mutex::new(Vec::with_capacity(threads));
        let pool = IoPool { queue: Some(queue.clone()), threads: handles, helpers, reader };
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
        IoPool { queue: None, threads: Mutex::default(), helpers: 0, reader: None }
    }

    /// Whether the kernel waits: it has io_uring, and that was wanted.
    pub fn uses_rings(&self) -> bool {
        self.reader.is_some()
    }

    /// Reads, and tells when it is done: on an I/O thread, or before this returns if the pool is
    /// [inline](Self::inline) or [shut down](Self::shutdown).
    pub fn read(&self, read: Read) {
        let read = match &self.reader {
            Some(reader) if read.suits_ring() => match reader.submit(read) {
                Ok(()) => return,
                Err(read) => read,
            },
            _ => read,
        };
        self.submit(move || read.carry_out());
    }

    /// Runs `task` for each of `0..count`, on this thread and on I/O threads that are free, and waits for
    /// all. Which error comes first by its number is told. An [inline](Self::inline) pool runs them in order
    /// and stops at an error. A panic of `task`, on whatever thread, is one of the caller.
    pub(crate) fn for_each(
        &self,
        count: usize,
        task: &(dyn Fn(usize) -> std::io::Result<()> + Sync),
    ) -> std::io::Result<()> {
        let helpers = self.helpers.min(count.saturating_sub(1));
        if helpers == 0 {
            return (0..count).try_for_each(task);
        }
        let first = Mutex::new(FirstError::default());
        let work = |crew: &Crew| {
            while let Some(at) = crew.take() {
                let outcome = task(at);
                if outcome.is_err() {
                    first.lock().note(at, outcome);
                }
            }
        };
        let work: &(dyn Fn(&Crew) + Sync) = &work;
        let lent = Lent::new(work);
        let crew = Arc::new(Crew::new(count));
        let closing = Closing(&crew);
        for _ in 0..helpers {
            let crew = crew.clone();
            // SAFETY: inside `Crew::help`, which runs nothing once the crew is closed, and `closing` closes
            // it, and waits for those inside, before this frame ends, also by a panic.
            self.submit(move || crew.help(|| unsafe { lent.call(&crew) }));
        }
        work(&crew);
        drop(closing);
        assert!(crew.close(), "an I/O thread has panicked in a part of this task");
        first.into_inner().into_result()
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

    /// Jobs and reads submitted and not started.
    pub fn queued(&self) -> usize {
        let reads = self.reader.as_ref().map_or(0, Reader::queued);
        reads + self.queue.as_ref().map_or(0, |queue| queue.state.lock().jobs.len())
    }

    /// Waits until every job and read submitted is done, and ends the threads.
    pub fn shutdown(&self) {
        if let Some(reader) = &self.reader {
            reader.close();
        }
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

/// Closes a crew when it goes.
struct Closing<'a>(&'a Crew);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
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
    use crate::{AlignedBuf, File, FileSystem, OpenMode, OsFileSystem, Part};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Each part of a batch waits until so many are under way as can be, and then a little for one too many.
    #[test]
    fn writers_help_with_a_batch_as_many_as_there_may_be() {
        use std::time::Duration;
        for (writers, most) in [(0, 3), (1, 2), (2, 3), (9, 10)] {
            let pool = IoPool::with_writers(2, writers, Waiting::Threads).unwrap();
            let (under_way, changed, seen) = (Mutex::new(0), Condvar::new(), AtomicUsize::new(0));
            pool.for_each(12, &|_| {
                let mut now = under_way.lock();
                *now += 1;
                seen.fetch_max(*now, Ordering::Relaxed);
                changed.notify_all();
                let is_awaited = || seen.load(Ordering::Relaxed) < most;
                changed.wait_while_for(&mut now, |_| is_awaited(), Duration::from_secs(5));
                changed.wait_while_for(&mut now, |now| *now <= most, Duration::from_millis(20));
                *now -= 1;
                Ok(())
            })
            .unwrap();
            assert_eq!(seen.into_inner(), most, "{writers} writers beside the caller");
        }
    }

    #[test]
    fn a_panic_of_a_helper_is_one_of_the_caller() {
        // Its shutdown would tell of the panic, too.
        let pool = std::mem::ManuallyDrop::new(IoPool::new(3, Waiting::Threads).unwrap());
        let caller = std::thread::current().id();
        let (under_way, changed) = (Mutex::new(0), Condvar::new());
        let task = |_| {
            let mut now = under_way.lock();
            *now += 1;
            changed.notify_all();
            changed.wait_while(&mut now, |now| *now < 2);
            assert!(std::thread::current().id() == caller, "a helper panics");
            Ok(())
        };
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pool.for_each(2, &task)));
        assert!(outcome.is_err());
    }

    #[test]
    fn shutdown_runs_every_job_that_was_submitted() {
        let ran = Arc::new(AtomicUsize::new(0));
        let pool = IoPool::new(3, Waiting::Threads).unwrap();
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

    /// The kernel where it has io_uring (Miri has none), threads, and in order.
    fn pools() -> [Arc<IoPool>; 3] {
        let new = |waiting| IoPool::new(2, waiting).unwrap();
        let kernel = if cfg!(miri) { Waiting::Threads } else { Waiting::Kernel };
        [new(kernel), new(Waiting::Threads), IoPool::inline()].map(Arc::new)
    }

    /// A read of `count` blocks from block `first` on, into memory that `told` gets back.
    fn read(
        file: &Arc<dyn File>,
        first: u64,
        count: usize,
        told: impl FnOnce(std::io::Result<()>, Vec<AlignedBuf>) + Send + 'static,
    ) -> Read {
        let mut memory: Vec<AlignedBuf> = (0..count).map(|_| AlignedBuf::zeroed(4096)).collect();
        // SAFETY: the memory is owned by `done`, which touches it only when the read is done.
        let parts = memory.iter_mut().map(|block| unsafe { Part::new(block.as_mut_ptr(), 4096) }).collect();
        Read {
            file: file.clone(),
            parts,
            offset: first * 4096,
            done: Box::new(move |outcome| told(outcome, memory)),
        }
    }

    #[test]
    fn reads_fill_scattered_memory_and_are_told_even_while_the_pool_ends() {
        let dir = tempfile::tempdir().unwrap();
        let file = OsFileSystem.open(&dir.path().join("file"), OpenMode::CREATE_NEW.direct()).unwrap();
        let mut bytes = AlignedBuf::zeroed(1000 * 4096);
        bytes.chunks_exact_mut(4096).enumerate().for_each(|(at, block)| block.fill(at as u8));
        file.write_at(&bytes, 0).unwrap();
        for pool in pools() {
            let told = Arc::new(AtomicUsize::new(0));
            for first in 0..997 {
                let told = told.clone();
                pool.read(read(&file, first, 3, move |outcome, memory| {
                    outcome.unwrap();
                    for (block, at) in memory.iter().zip(first..) {
                        assert!(block.iter().all(|byte| *byte == at as u8));
                    }
                    told.fetch_add(1, Ordering::Relaxed);
                }));
            }
            pool.shutdown();
            assert_eq!(told.load(Ordering::Relaxed), 997);
            let late = told.clone();
            pool.read(read(&file, 0, 1, move |outcome, _| {
                outcome.unwrap();
                late.fetch_add(1, Ordering::Relaxed);
            }));
            assert_eq!(told.load(Ordering::Relaxed), 998, "a late read is done by the caller");
        }
    }

    #[test]
    fn a_read_past_the_end_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let file = OsFileSystem.open(&dir.path().join("file"), OpenMode::CREATE_NEW.direct()).unwrap();
        file.set_len(3 * 4096).unwrap();
        for pool in pools() {
            let (tell, told) = std::sync::mpsc::channel();
            pool.read(read(&file, 2, 2, move |outcome, _| tell.send(outcome).unwrap()));
            let error = told.recv().unwrap().unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
        }
    }

    #[test]
    fn a_task_of_many_parts_is_done_whoever_helps() {
        for pool in pools() {
            // Threads that are busy elsewhere are not waited for.
            let (release, released) = std::sync::mpsc::channel::<()>();
            let released = Mutex::new(released);
            let busy = Arc::new(move || {
                let _ = released.lock().recv();
            });
            if pool.helpers > 0 {
                for _ in 0..2 {
                    let busy = busy.clone();
                    pool.submit(move || busy());
                }
            }
            let done = AtomicUsize::new(0);
            let outcome = pool.for_each(50, &|at| {
                done.fetch_add(1, Ordering::Relaxed);
                if at == 30 || at == 40 { Err(std::io::Error::other(at.to_string())) } else { Ok(()) }
            });
            assert_eq!(outcome.unwrap_err().to_string(), "30");
            assert_eq!(done.load(Ordering::Relaxed), if pool.helpers > 0 { 50 } else { 31 });
            drop(release);
        }
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
