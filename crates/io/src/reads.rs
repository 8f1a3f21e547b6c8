//! Reads by io_uring: one thread hands over all that are asked for, and takes all that have come.
//!
//! ```text
//!   worker:  queue the read ─► call the thread, if it sleeps in the kernel
//!   thread:  take the queue ─► hand it over, wait for any completion or call ─► tell each read that it is done ─► again
//! ```
//!
//! The thread sleeps in the kernel for completions and for calls at once: a call is a write to an `eventfd`,
//! of which a read is always under way. While it is awake a call costs nothing, so that under load reads are
//! handed over and come back many at a time, however many are under way.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::thread::JoinHandle;

use io_uring::{IoUring, opcode, squeue, types};
use parking_lot::Mutex;

use crate::file::File;
use crate::ring;

/// Reads under way at most; others wait in the queue.
const DEPTH: usize = 256;
/// What a completion of the call has for a number.
const CALL: u64 = u64::MAX;

/// Memory that a read fills: given to the kernel until the read is done.
pub struct Part {
    memory: *mut u8,
    len: usize,
}

// SAFETY: a part is an address and a length; who made it has given the memory away.
unsafe impl Send for Part {}

impl Part {
    /// `len` bytes from `memory` on.
    ///
    /// # Safety
    /// The memory is valid for writes, initialised, and used by nothing else until the read that has it is
    /// done.
    pub unsafe fn new(memory: *mut u8, len: usize) -> Part {
        Part { memory, len }
    }

    fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: as `new` was promised; the read is not under way in the kernel when this is called.
        unsafe { std::slice::from_raw_parts_mut(self.memory, self.len) }
    }
}

/// Neighbouring bytes of a file for memory that need not be neighbouring.
pub struct Read {
    /// The file.
    pub file: Arc<dyn File>,
    /// Where the bytes go, one behind the other.
    pub parts: Vec<Part>,
    /// Where they come from, in bytes from the file's beginning.
    pub offset: u64,
    /// Is told when it is done, on an I/O thread. After an error nothing is known of what the memory holds.
    pub done: Box<dyn FnOnce(io::Result<()>) + Send>,
}

impl Read {
    /// Reads by calls, which block, and tells.
    pub(crate) fn carry_out(mut self) {
        let mut offset = self.offset;
        let mut read = Ok(());
        for part in &mut self.parts {
            read = self.file.read_at(part.as_mut(), offset);
            if read.is_err() {
                break;
            }
            offset += part.len as u64;
        }
        (self.done)(read);
    }

    fn len(&self) -> usize {
        self.parts.iter().map(|part| part.len).sum()
    }

    /// Whether the kernel can be given it as it is.
    pub(crate) fn suits_ring(&self) -> bool {
        let suits = |file: crate::file::Descriptor<'_>| self.parts.iter().all(|part| file.takes(part.memory));
        self.file.descriptor().is_some_and(suits)
    }
}

/// The thread that reads, and its queue.
pub(crate) struct Reader {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    queue: Mutex<Queue>,
    /// Its counter above zero is a call.
    call: OwnedFd,
}

#[derive(Default)]
struct Queue {
    reads: VecDeque<Read>,
    /// The thread sleeps, or is about to, and has not been called.
    sleeps: bool,
    closed: bool,
}

impl Reader {
    /// Starts the thread, if the kernel has io_uring.
    pub(crate) fn start() -> io::Result<Option<Reader>> {
        // The ring is made by the thread that uses it: the kernel then knows that no other does.
        let (tell, told) = std::sync::mpsc::sync_channel(1);
        let call = rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC)?;
        let shared = Arc::new(Shared { queue: Mutex::default(), call });
        let own = shared.clone();
        let thread = std::thread::Builder::new().name("io-reads".to_owned()).spawn(move || {
            let thread = open().map(|ring| Thread::new(ring, own));
            let _ = tell.send(thread.is_some());
            if let Some(mut thread) = thread {
                thread.run();
            }
        })?;
        match told.recv() {
            Ok(true) => Ok(Some(Reader { shared, thread: Mutex::new(Some(thread)) })),
            _ => Ok(None),
        }
    }

    /// Queues a read. Gives it back once [closed](Self::close).
    pub(crate) fn submit(&self, read: Read) -> Result<(), Read> {
        let mut queue = self.shared.queue.lock();
        if queue.closed {
            return Err(read);
        }
        queue.reads.push_back(read);
        let sleeps = std::mem::take(&mut queue.sleeps);
        drop(queue);
        if sleeps {
            self.shared.call();
        }
        Ok(())
    }

    /// Reads queued and not under way.
    pub(crate) fn queued(&self) -> usize {
        self.shared.queue.lock().reads.len()
    }

    /// Ends the thread once all reads are done. Waits for that, unless called by one of them.
    pub(crate) fn close(&self) {
        self.shared.queue.lock().closed = true;
        self.shared.call();
        if let Some(thread) = self.thread.lock().take()
            && thread.thread().id() != std::thread::current().id()
        {
            thread.join().expect("reads do not panic");
        }
    }
}

impl Shared {
    fn call(&self) {
        // It can only fail by being full of calls that were not answered.
        let _ = rustix::io::write(&self.call, &1u64.to_ne_bytes());
    }
}

fn open() -> Option<IoUring> {
    let entries = (DEPTH + 1) as u32;
    let best =
        IoUring::builder().setup_single_issuer().setup_defer_taskrun().setup_submit_all().build(entries);
    // Kernels before 6.1 do not know the first two.
    best.or_else(|_| IoUring::builder().build(entries)).ok()
}

/// A read that the kernel has, and the list of its parts that the kernel reads.
struct Flying {
    read: Read,
    vectors: Vec<libc::iovec>,
}

/// What the thread has.
struct Thread {
    ring: IoUring,
    shared: Arc<Shared>,
    flying: Vec<Option<Flying>>,
    vacant: Vec<usize>,
    /// Where the kernel puts the counter of the calls.
    calls: Box<[u8; 8]>,
    /// The kernel has been told to wait for a call.
    listens: bool,
}

impl Thread {
    fn new(ring: IoUring, shared: Arc<Shared>) -> Thread {
        let flying = std::iter::repeat_with(|| None).take(DEPTH).collect();
        Thread {
            ring,
            shared,
            flying,
            vacant: (0..DEPTH).rev().collect(),
            calls: Box::default(),
            listens: false,
        }
    }

    fn run(&mut self) {
        while self.hand_over() {
            let ring = &self.ring;
            ring::wait(|| ring.submit_and_wait(1));
            self.shared.queue.lock().sleeps = false;
            self.take_completions();
        }
    }

    /// Gives the kernel what is queued, as far as there is room. `false` if there is nothing left to do for
    /// ever.
    fn hand_over(&mut self) -> bool {
        let shared = self.shared.clone();
        let mut queue = shared.queue.lock();
        while let Some(slot) = self.vacant.pop() {
            let Some(read) = queue.reads.pop_front() else {
                self.vacant.push(slot);
                break;
            };
            let flying = Flying::new(read);
            let entry = flying.entry().user_data(slot as u64);
            self.flying[slot] = Some(flying);
            self.push(&entry);
        }
        if queue.closed && queue.reads.is_empty() && self.vacant.len() == DEPTH {
            return false;
        }
        queue.sleeps = queue.reads.is_empty();
        drop(queue);
        if !self.listens {
            let call = types::Fd(shared.call.as_fd().as_raw_fd());
            let entry = opcode::Read::new(call, self.calls.as_mut_ptr(), 8).build().user_data(CALL);
            self.push(&entry);
            self.listens = true;
        }
        true
    }

    fn push(&mut self, entry: &squeue::Entry) {
        // SAFETY: memory and files of the request are kept in `flying` (or in `self`, for a call) until its
        // completion has been taken; dropping the ring, which ends with the thread, happens when nothing is
        // under way but a call, and `Drop` keeps that one's memory.
        let pushed = unsafe { self.ring.submission().push(entry) };
        assert!(pushed.is_ok(), "the ring has room for all reads under way and a call");
    }

    fn take_completions(&mut self) {
        // A read's end may ask for the next one: the ring must not be borrowed meanwhile.
        let completed: smallvec::SmallVec<[(u64, i32); 32]> =
            self.ring.completion().map(|completion| (completion.user_data(), completion.result())).collect();
        for (number, result) in completed {
            if number == CALL {
                self.listens = false;
                continue;
            }
            let slot = number as usize;
            let flying = self.flying[slot].take().expect("a completion is of a read under way");
            self.vacant.push(slot);
            flying.end(ring::outcome(result));
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // The kernel may still have this address.
        std::mem::forget(std::mem::take(&mut self.calls));
    }
}

impl Flying {
    fn new(read: Read) -> Flying {
        let vector = |part: &Part| libc::iovec { iov_base: part.memory.cast(), iov_len: part.len };
        let vectors = read.parts.iter().map(vector).collect();
        Flying { read, vectors }
    }

    fn entry(&self) -> squeue::Entry {
        let descriptor = self.read.file.descriptor().expect("asked before it was queued");
        let file = types::Fd(descriptor.fd.as_raw_fd());
        let (first, count) = (self.vectors.as_ptr(), self.vectors.len() as u32);
        opcode::Readv::new(file, first, count).offset(self.read.offset).build()
    }

    fn end(self, outcome: io::Result<usize>) {
        match outcome {
            Ok(read) if read == self.read.len() => (self.read.done)(Ok(())),
            // Cut short by the file's end, or refused: calls find out why, in words.
            _ => self.read.carry_out(),
        }
    }
}
