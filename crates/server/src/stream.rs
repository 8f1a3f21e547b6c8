//! A client's socket: read by its session, and watched while the session waits for others.
//!
//! A session that waits for a lock does not read, so it would not notice that its client has gone, and others would wait
//! for locks that nobody needs any more. The socket tells: the client's end is closed. What the client has sent before that
//! (the next command, a farewell) does not hide it, but makes the socket ready at once, and for as long as nobody reads
//! it; then it is looked at from time to time. A statement that computes asks what the reactor has last heard, which takes no
//! system call, whenever it lets others run.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::io::Interest;
use tokio::net::{TcpStream, UnixStream};

/// How long until a socket with something to read is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// A client's socket, watched by the event loop that it was made in.
pub enum Stream {
    /// TCP.
    Tcp(TcpStream),
    /// Unix.
    Unix(UnixStream),
}

/// A client's socket outside of every event loop.
pub enum Socket {
    /// TCP.
    Tcp(std::net::TcpStream),
    /// Unix.
    Unix(std::os::unix::net::UnixStream),
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Tcp(stream) => stream.as_fd(),
            Stream::Unix(stream) => stream.as_fd(),
        }
    }
}

impl Stream {
    /// Lets the calling event loop watch a socket.
    pub fn watch(socket: Socket) -> io::Result<Stream> {
        Ok(match socket {
            Socket::Tcp(stream) => Stream::Tcp(TcpStream::from_std(stream)?),
            Socket::Unix(stream) => Stream::Unix(UnixStream::from_std(stream)?),
        })
    }

    /// Takes the socket from its event loop. What has been received stays in it.
    pub fn unwatch(self) -> io::Result<Socket> {
        Ok(match self {
            Stream::Tcp(stream) => Socket::Tcp(stream.into_std()?),
            Stream::Unix(stream) => Socket::Unix(stream.into_std()?),
        })
    }

    /// Waits until there is something to read, or the end.
    pub async fn readable(&self) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.readable().await,
            Stream::Unix(stream) => stream.readable().await,
        }
    }

    /// Waits until there is room to write.
    pub async fn writable(&self) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.writable().await,
            Stream::Unix(stream) => stream.writable().await,
        }
    }

    /// Appends what is there to `buffer`, as much as it has room for. `WouldBlock` if there is nothing.
    pub fn try_read(&self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        let room = buffer.capacity() - buffer.len();
        let count = match self {
            Stream::Tcp(stream) => stream.try_read_buf(buffer),
            Stream::Unix(stream) => stream.try_read_buf(buffer),
        }?;
        if (1..room).contains(&count) {
            // That was all: the next read waits, and need not ask the operating system first. Whatever comes from now on makes
            // the socket ready again.
            let nothing_more = || Err::<(), _>(io::ErrorKind::WouldBlock.into());
            let forgotten = match self {
                Stream::Tcp(stream) => stream.try_io(Interest::READABLE, nothing_more),
                Stream::Unix(stream) => stream.try_io(Interest::READABLE, nothing_more),
            };
            debug_assert!(forgotten.is_err());
        }
        Ok(count)
    }

    /// Writes what there is room for. `WouldBlock` if there is none.
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.try_write(bytes),
            Stream::Unix(stream) => stream.try_write(bytes),
        }
    }

    /// Waits until the client's end is closed.
    pub async fn hung_up(&self) {
        while !self.is_closed_when_ready().await {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Whether the client's end is closed, as far as the reactor knows.
    pub fn has_hung_up(&self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        matches!(pin!(self.is_closed_when_ready()).poll(&mut context), Poll::Ready(true))
    }

    /// Waits until there is something to read, or the end; whether it is the end.
    async fn is_closed_when_ready(&self) -> bool {
        let ready = match self {
            Stream::Tcp(stream) => stream.ready(Interest::READABLE).await,
            Stream::Unix(stream) => stream.ready(Interest::READABLE).await,
        };
        ready.map_or(true, |ready| ready.is_read_closed())
    }
}
