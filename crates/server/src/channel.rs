//! Packets over a socket.
//!
//! Receiving: the session takes packets from [`Channel::input`] while there are any, then awaits
//! [`Transport::receive`]. Sending: packets are collected in [`Channel::output`] and go out in one write, by
//! [`Transport::send`], when the answer is complete or has grown large.
//!
//! Both end with [`Disconnected`] if the connection is killed meanwhile or the client is gone.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use palisade_protocol::{Input, Output};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpStream, UnixStream};

use crate::connections::Connection;
use crate::status;

/// Room made before a read that begins a packet: a thousand idle clients should not cost much.
const FIRST_ROOM: usize = 4 << 10;
/// Room made before a read in the middle of a packet.
const MORE_ROOM: usize = 64 << 10;

/// The connection has come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disconnected;

/// A client's socket.
pub enum Stream {
    /// TCP.
    Tcp(TcpStream),
    /// Unix.
    Unix(UnixStream),
}

/// A socket and the connection it belongs to.
pub struct Transport {
    stream: Stream,
    /// The entry in the list of connections.
    pub connection: Arc<Connection>,
    /// `net_write_timeout`.
    pub write_timeout: Duration,
}

/// A connection's two directions.
pub struct Channel {
    /// Received packets.
    pub input: Input,
    /// Packets to send.
    pub output: Output,
    /// What carries them.
    pub transport: Transport,
}

impl Channel {
    /// A channel over a fresh connection.
    pub fn new(stream: Stream, connection: Arc<Connection>) -> Self {
        let write_timeout = Duration::from_secs(60);
        Channel {
            input: Input::default(),
            output: Output::default(),
            transport: Transport { stream, connection, write_timeout },
        }
    }

    /// Sends all of the output.
    pub async fn flush(&mut self) -> Result<(), Disconnected> {
        self.transport.send(&mut self.output).await
    }
}

impl Transport {
    /// Waits until the client has sent something, and appends it to `buffer`.
    pub async fn receive(&mut self, buffer: &mut Vec<u8>) -> Result<(), Disconnected> {
        buffer.reserve(if buffer.is_empty() { FIRST_ROOM } else { MORE_ROOM });
        let connection = &self.connection;
        let count = match &mut self.stream {
            Stream::Tcp(stream) => unless_killed(connection, pin!(stream.read_buf(buffer))).await,
            Stream::Unix(stream) => unless_killed(connection, pin!(stream.read_buf(buffer))).await,
        };
        match count {
            Some(Ok(count)) if count > 0 => {
                status::BYTES_RECEIVED.add(count as u64);
                Ok(())
            }
            _ => Err(Disconnected),
        }
    }

    /// Sends all of `output`.
    pub async fn send(&self, output: &mut Output) -> Result<(), Disconnected> {
        let mut sent = 0;
        while sent < output.pending().len() {
            let pending = &output.pending()[sent..];
            let written = match &self.stream {
                Stream::Tcp(stream) => stream.try_write(pending),
                Stream::Unix(stream) => stream.try_write(pending),
            };
            match written {
                Ok(0) => return Err(Disconnected),
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.writable().await?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(Disconnected),
            }
        }
        status::BYTES_SENT.add(sent as u64);
        output.clear();
        Ok(())
    }

    /// Waits until the client has made room; this is the only place where a session has a timer of its own.
    async fn writable(&self) -> Result<(), Disconnected> {
        let ready = async {
            match &self.stream {
                Stream::Tcp(stream) => stream.writable().await,
                Stream::Unix(stream) => stream.writable().await,
            }
        };
        let ready = pin!(tokio::time::timeout(self.write_timeout, ready));
        match unless_killed(&self.connection, ready).await {
            Some(Ok(Ok(()))) => Ok(()),
            _ => Err(Disconnected),
        }
    }
}

/// The result of `operation`; `None` if the connection is killed first.
async fn unless_killed<T>(
    connection: &Connection,
    mut operation: Pin<&mut impl Future<Output = T>>,
) -> Option<T> {
    poll_fn(|context| match connection.is_killed() {
        true => Poll::Ready(None),
        false => operation.as_mut().poll(context).map(Some),
    })
    .await
}
