//! A client's socket: read by its session, and watched while the session waits for others.
//!
//! A session that waits for a lock does not read, so it would not notice that its client has gone, and others would wait
//! for locks that are of no use any more. The reactor hears it: the client's end is closed, whether or not
//! the client has sent something before that (the next command, a farewell). A statement that computes asks
//! what the reactor has last heard, which takes no system call, whenever it lets others run.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};

use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::net::{SendFlags, send};

use crate::event_loop::EventLoop;
use crate::reactor::{Readiness, Watch};

/// Commands that a client may have executed without the session having waited for it once, before others have
/// their turn.
const MOST_IN_A_ROW: u32 = 64;

/// A client's socket, watched by an event loop.
pub struct Stream {
    // dropped before the socket, whose number may be another one's at once
    watch: Watch,
    socket: Socket,
    /// Commands since the session last waited for the client.
    in_a_row: AtomicU32,
}

/// A client's socket outside of every event loop. It does not block.
pub enum Socket {
    /// TCP.
    Tcp(std::net::TcpStream),
    /// Unix.
    Unix(std::os::unix::net::UnixStream),
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Socket::Tcp(stream) => stream.as_fd(),
            Socket::Unix(stream) => stream.as_fd(),
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Stream {
    /// Lets an event loop watch a socket.
    pub fn watch(event_loop: &Arc<EventLoop>, socket: Socket) -> io::Result<Stream> {
        Ok(Stream { watch: Watch::new(event_loop, &socket)?, socket, in_a_row: AtomicU32::new(0) })
    }

    /// Takes the socket from its event loop. What has been received stays in it.
    pub fn unwatch(self) -> io::Result<Socket> {
        let Stream { watch, socket, .. } = self;
        watch.forget(&socket)?;
        Ok(socket)
    }

    /// What watches it.
    pub fn event_loop(&self) -> &Arc<EventLoop> {
        self.watch.event_loop()
    }

    /// Its place in the reactor.
    #[cfg(test)]
    pub(crate) fn watch_of(&self) -> &Watch {
        &self.watch
    }

    /// Whether it is a Unix socket.
    pub fn is_local(&self) -> bool {
        matches!(self.socket, Socket::Unix(_))
    }

    /// Appends what is there to `buffer`, as much as it has room for; waits until there is something, or the
    /// end.
    pub fn poll_read(&self, context: &mut Context<'_>, buffer: &mut Vec<u8>) -> Poll<io::Result<usize>> {
        loop {
            let Poll::Ready(seen) = self.watch.poll(Readiness::Readable, context) else {
                self.in_a_row.store(0, Ordering::Relaxed);
                return Poll::Pending;
            };
            let room = buffer.capacity() - buffer.len();
            match rustix::io::read(&self.socket, spare_capacity(buffer)) {
                Ok(count) => {
                    if (1..room).contains(&count) {
                        // That was all: the next read waits, and need not ask the operating system first.
                        self.watch.clear(Readiness::Readable, seen);
                    }
                    return Poll::Ready(Ok(count));
                }
                Err(Errno::WOULDBLOCK) => {
                    if self.watch.is_closed() {
                        // There is nothing more to come, and epoll will say nothing more either.
                        return Poll::Ready(Ok(0));
                    }
                    self.watch.clear(Readiness::Readable, seen);
                }
                Err(Errno::INTR) => {}
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
    }

    /// Writes what there is room for. `WouldBlock` if there is none.
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        let seen = self.watch.seen();
        let sent = send(&self.socket, bytes, SendFlags::NOSIGNAL);
        if sent == Err(Errno::WOULDBLOCK) {
            self.watch.clear(Readiness::Writable, seen);
        }
        Ok(sent?)
    }

    /// Waits until there is room worth writing to, and writes what there is. A client that makes a few bytes
    /// of room does not take what it is sent.
    pub fn poll_write(&self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        while self.watch.poll(Readiness::Writable, context).is_ready() {
            match self.try_write(bytes) {
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                done => return Poll::Ready(done),
            }
        }
        Poll::Pending
    }

    /// Waits until the client's end is closed.
    pub fn poll_closed(&self, context: &mut Context<'_>) -> Poll<()> {
        self.watch.poll(Readiness::Closed, context).map(|_| ())
    }

    /// Whether the client's end is closed, as far as the reactor knows.
    pub fn has_hung_up(&self) -> bool {
        self.watch.is_closed()
    }

    /// The session has executed a command: whether it is time for others, because the client has always sent
    /// the next one before.
    pub fn is_incessant(&self) -> bool {
        let in_a_row = self.in_a_row.load(Ordering::Relaxed) + 1;
        let is_incessant = in_a_row >= MOST_IN_A_ROW;
        self.in_a_row.store(if is_incessant { 0 } else { in_a_row }, Ordering::Relaxed);
        is_incessant
    }
}
