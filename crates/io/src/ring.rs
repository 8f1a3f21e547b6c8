//! Requests handed to the kernel together, by io_uring.
//!
//! [`Ring`] belongs to one thread at a time, which hands over up to [`DEPTH`] requests and waits in one call.
//! Memory that a request reads or writes is the kernel's until the request's completion has been taken from
//! the ring: [`Ring::run`] returns only then, whatever goes wrong.
//!
//! Kernels before 5.19, and containers whose system call filter forbids io_uring, have none; [`Ring::open`]
//! then says so, and the callers use threads that wait.

use std::io;
use std::os::fd::AsRawFd;

use io_uring::{IoUring, opcode, types};

use crate::batch::Extent;
use crate::file::Descriptor;

/// Requests under way at most.
pub(crate) const DEPTH: usize = 128;

/// A ring of the kernel's, and the thread's that has it now.
pub(crate) struct Ring {
    ring: IoUring,
}

/// One request.
#[derive(Clone, Copy)]
pub(crate) enum Request<'a> {
    /// All of the bytes to the place in the file.
    Write(Descriptor<'a>, &'a [u8], u64, Extent),
    /// As `fdatasync`.
    Sync(Descriptor<'a>),
}

impl Ring {
    /// A ring, if the kernel has them.
    pub(crate) fn open() -> Option<Ring> {
        let ring = IoUring::builder().setup_coop_taskrun().setup_submit_all().build(DEPTH as u32).ok()?;
        Some(Ring { ring })
    }

    /// Carries out the requests `0..count`, which `request` gives, in no order, and tells `done` of each how
    /// it went: the bytes that were written, or why they were not. Waits for all of them.
    pub(crate) fn run<'a>(
        &mut self,
        count: usize,
        request: impl Fn(usize) -> Request<'a>,
        mut done: impl FnMut(usize, io::Result<usize>),
    ) {
        let (mut next, mut flying) = (0, 0);
        while next < count || flying > 0 {
            while next < count && flying < DEPTH {
                let entry = entry(request(next)).user_data(next as u64);
                // SAFETY: the memory is borrowed for 'a, and this call does not end before the request has
                // been completed; the file is open as long as its descriptor is borrowed.
                let pushed = unsafe { self.ring.submission().push(&entry) };
                assert!(pushed.is_ok(), "no more requests are under way than the ring has room for");
                (next, flying) = (next + 1, flying + 1);
            }
            wait(|| self.ring.submit_and_wait(1));
            for completion in self.ring.completion() {
                flying -= 1;
                done(completion.user_data() as usize, outcome(completion.result()));
            }
        }
    }
}

/// Enters the kernel until it has taken what was submitted and something is complete, or until it can be
/// asked again.
pub(crate) fn wait(mut enter: impl FnMut() -> io::Result<usize>) {
    loop {
        match enter() {
            Ok(_) => return,
            // A signal; or the kernel has no memory for a request now, which completions will change.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EINTR)) => {}
            Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EBUSY | libc::ENOMEM)) => {
                std::thread::yield_now();
                return;
            }
            Err(error) => {
                // What is under way cannot be waited for, and goes on writing into memory or from it.
                eprintln!("palisade: the kernel does not answer for its I/O requests: {error}; aborting");
                std::process::abort();
            }
        }
    }
}

/// What a completion says: a number of bytes, or a negative error.
pub(crate) fn outcome(result: i32) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result))
}

fn entry(request: Request<'_>) -> io_uring::squeue::Entry {
    match request {
        Request::Write(file, bytes, offset, extent) => {
            let len = u32::try_from(bytes.len()).expect("a request is below 4 GiB");
            let flags = match extent {
                Extent::Any => 0,
                Extent::Whole => libc::RWF_ATOMIC,
            };
            let write = opcode::Write::new(types::Fd(file.fd.as_raw_fd()), bytes.as_ptr(), len);
            write.offset(offset).rw_flags(flags).build()
        }
        Request::Sync(file) => {
            opcode::Fsync::new(types::Fd(file.fd.as_raw_fd())).flags(types::FsyncFlags::DATASYNC).build()
        }
    }
}
