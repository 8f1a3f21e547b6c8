//! Packets over a socket.
//!
//! Receiving: the session takes packets from [`Channel::input`] while there are any, then awaits
//! [`Transport::receive`]. Sending: packets are collected in [`Channel::output`] and go out in one write, by
//! [`Transport::send`], when the answer is complete or has grown large.
//!
//! ```text
//!   packets ── [compressed frames] ── [TLS] ── socket        what stands in brackets only where the client asked
//! ```
//!
//! Both directions end with [`Disconnected`] if the connection is killed meanwhile or the client is gone.

use std::future::poll_fn;
use std::io::{self, Read as _, Write as _};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use palisade_engine::Engine;
use palisade_protocol::compression::{Algorithm, Compressor};
use palisade_protocol::{Input, Output};
use rustls::{ServerConfig, ServerConnection};

use crate::connections::Connection;
use crate::event_loop::EventLoop;
use crate::reactor::timeout;
use crate::status::Own;
use crate::stream::{Socket, Stream};
use crate::task;
use crate::tls::status::shown_cipher;

/// Room made before a read that begins a packet: a thousand idle clients should not cost much.
const FIRST_ROOM: usize = 4 << 10;
/// Room made before a read in the middle of a packet.
const MORE_ROOM: usize = 64 << 10;

/// The connection has come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disconnected;

/// A socket and the connection it belongs to.
pub struct Transport {
    stream: Arc<Stream>,
    wrapping: Wrapping,
    /// An answer was sent in part: the client would take any other byte for the next one of it.
    is_broken: bool,
    /// The entry in the list of connections.
    pub connection: Arc<Connection>,
    /// `net_write_timeout`.
    pub write_timeout: Duration,
    /// `net_read_timeout`.
    pub read_timeout: Duration,
    /// How long each wait for the client may last while it logs in (`connect_timeout`); after that the reaper
    /// sees to it.
    pub patience: Option<Duration>,
    /// `palisade_durable_reads` is ON: the engine whose log an answer waits for.
    pub durable_reads: Option<Arc<Engine>>,
}

/// What packets are wrapped in.
#[derive(Default)]
struct Wrapping {
    tls: Option<Box<ServerConnection>>,
    compressor: Option<Box<Compressor>>,
    /// Bytes of the socket, where they are not those of the packets.
    raw: Vec<u8>,
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

/// A channel between two event loops. Nothing that has been received is lost, or noticed before it is watched again.
pub struct Detached {
    socket: Socket,
    input: Input,
    output: Output,
    wrapping: Wrapping,
    connection: Arc<Connection>,
    write_timeout: Duration,
}

impl Detached {
    /// Goes on in `event_loop`. The error is the operating system's, and the connection is lost.
    pub fn attach(self, event_loop: &Arc<EventLoop>) -> io::Result<Channel> {
        let Detached { socket, input, output, wrapping, connection, write_timeout } = self;
        let stream = Arc::new(Stream::watch(event_loop, socket)?);
        connection.set_stream(&stream);
        Ok(Channel {
            input,
            output,
            transport: Transport {
                stream,
                wrapping,
                is_broken: false,
                connection,
                write_timeout,
                read_timeout: Duration::from_secs(30),
                patience: None,
                durable_reads: None,
            },
        })
    }
}

impl Channel {
    /// A channel over a fresh connection, in `event_loop`.
    pub fn new(
        event_loop: &Arc<EventLoop>,
        socket: Socket,
        connection: Arc<Connection>,
    ) -> io::Result<Channel> {
        let fresh = Detached {
            socket,
            input: Input::default(),
            output: Output::default(),
            wrapping: Wrapping::default(),
            connection,
            write_timeout: Duration::from_secs(60),
        };
        fresh.attach(event_loop)
    }

    /// Takes the channel from its event loop; between two commands, when nobody waits for it. The error is the operating system's,
    /// and the connection is lost.
    pub fn detach(self) -> io::Result<Detached> {
        let Channel { input, output, transport } = self;
        let Transport { stream, wrapping, connection, write_timeout, .. } = transport;
        let stream = Arc::into_inner(stream).ok_or_else(|| io::Error::other("its socket is in use"))?;
        Ok(Detached { socket: stream.unwatch()?, input, output, wrapping, connection, write_timeout })
    }

    /// Sends all of the output.
    pub async fn flush(&mut self) -> Result<(), Disconnected> {
        self.transport.send(&mut self.output).await
    }

    /// Goes on in TLS: what has been received after the last packet, and everything from now on.
    pub async fn start_tls(&mut self, config: Arc<ServerConfig>) -> Result<(), Disconnected> {
        let begun = self.input.take_rest();
        self.transport.start_tls(config, &begun, self.input.buffer()).await
    }
}

impl Transport {
    /// What carries the bytes.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Whether nobody on the way can read what is sent: TLS, or the Unix socket.
    pub fn is_private(&self) -> bool {
        self.wrapping.tls.is_some() || self.stream.is_local()
    }

    /// The cipher and version of TLS.
    pub fn tls_names(&self) -> Option<(String, &'static str)> {
        let tls = self.wrapping.tls.as_ref()?;
        let cipher = shown_cipher(tls.negotiated_cipher_suite()?.suite());
        let version = match tls.protocol_version()? {
            rustls::ProtocolVersion::TLSv1_2 => "TLSv1.2",
            _ => "TLSv1.3",
        };
        Some((cipher, version))
    }

    /// Whether it goes on with a session of TLS of before.
    pub fn is_resumed(&self) -> bool {
        let tls = self.wrapping.tls.as_ref();
        tls.and_then(|tls| tls.handshake_kind()) == Some(rustls::HandshakeKind::Resumed)
    }

    /// Goes on in the compressed protocol.
    pub fn start_compression(&mut self, algorithm: Algorithm) -> Result<(), Disconnected> {
        let compressor = Compressor::new(algorithm).map_err(|_| Disconnected)?;
        self.wrapping.compressor = Some(Box::new(compressor));
        Ok(())
    }

    async fn start_tls(
        &mut self,
        config: Arc<ServerConfig>,
        begun: &[u8],
        plain: &mut Vec<u8>,
    ) -> Result<(), Disconnected> {
        let mut tls = ServerConnection::new(config).map_err(|_| Disconnected)?;
        tls.set_buffer_limit(None);
        self.wrapping.tls = Some(Box::new(tls));
        self.wrapping.raw.extend_from_slice(begun);
        loop {
            let failed = self.decrypt(plain).is_err();
            // what went wrong is told as well
            self.send_tls().await?;
            let is_done = self.wrapping.tls.as_ref().is_some_and(|tls| !tls.is_handshaking());
            if failed {
                return Err(Disconnected);
            }
            if is_done {
                return Ok(());
            }
            self.receive_raw().await?;
        }
    }

    /// Waits until the client has sent something, and appends it to `buffer`.
    pub async fn receive(&mut self, buffer: &mut Vec<u8>) -> Result<(), Disconnected> {
        if self.wrapping.tls.is_none() && self.wrapping.compressor.is_none() {
            let room = if buffer.is_empty() { FIRST_ROOM } else { MORE_ROOM };
            let received = receive(&self.stream, &self.connection, buffer, room);
            return within(self.stream.event_loop(), self.patience, received).await;
        }
        let before = buffer.len();
        if let Some(compressor) = &mut self.wrapping.compressor {
            // frames that have come with others
            compressor.inflate(buffer).map_err(|_| Disconnected)?;
        }
        while buffer.len() == before {
            self.receive_raw().await?;
            if self.wrapping.tls.is_some() {
                self.decrypt(buffer)?;
                self.send_tls().await?;
            } else if let Some(compressor) = &mut self.wrapping.compressor {
                compressor.received().append(&mut self.wrapping.raw);
                compressor.inflate(buffer).map_err(|_| Disconnected)?;
            }
        }
        Ok(())
    }

    async fn receive_raw(&mut self) -> Result<(), Disconnected> {
        let received = receive(&self.stream, &self.connection, &mut self.wrapping.raw, FIRST_ROOM);
        within(self.stream.event_loop(), self.patience, received).await
    }

    /// Decrypts what was received; inflates it where frames are compressed.
    fn decrypt(&mut self, buffer: &mut Vec<u8>) -> Result<(), Disconnected> {
        let Some(tls) = &mut self.wrapping.tls else { return Ok(()) };
        let mut rest = &self.wrapping.raw[..];
        while !rest.is_empty() {
            let taken = tls.read_tls(&mut rest).map_err(|_| Disconnected)?;
            if taken == 0 {
                // the client has said goodbye
                return Err(Disconnected);
            }
            let count = tls.process_new_packets().map_err(|_| Disconnected)?.plaintext_bytes_to_read();
            let plain = match &mut self.wrapping.compressor {
                Some(compressor) => compressor.received(),
                None => &mut *buffer,
            };
            let start = plain.len();
            plain.resize(start + count, 0);
            let room = plain.get_mut(start..).unwrap_or_default();
            tls.reader().read_exact(room).map_err(|_| Disconnected)?;
        }
        self.wrapping.raw.clear();
        match &mut self.wrapping.compressor {
            Some(compressor) => compressor.inflate(buffer).map_err(|_| Disconnected),
            None => Ok(()),
        }
    }

    /// Sends all of `output`. After a failure nothing is sent any more. With `palisade_durable_reads` the
    /// answer leaves only when the log is durable up to all that the statement can have read: its rows, or
    /// the row that an error tells of.
    pub async fn send(&mut self, output: &mut Output) -> Result<(), Disconnected> {
        if self.is_broken {
            return Err(Disconnected);
        }
        if let Some(engine) = &self.durable_reads {
            // Boxed: every session has room for this future, and few wait here.
            let durable = Box::pin(engine.wait_reads_durable());
            match unless_killed(&self.connection, pin!(durable)).await {
                Some(Ok(())) => {}
                _ => return Err(Disconnected),
            }
        }
        self.is_broken = true;
        if self.wrapping.tls.is_none() && self.wrapping.compressor.is_none() {
            self.send_raw(output.pending()).await?;
        } else {
            self.send_wrapped(output.pending()).await?;
        }
        self.is_broken = false;
        output.clear();
        Ok(())
    }

    async fn send_wrapped(&mut self, pending: &[u8]) -> Result<(), Disconnected> {
        if pending.is_empty() {
            return Ok(());
        }
        let (mut rest, mut frame) = (pending, Vec::new());
        while let Some(compressor) = &mut self.wrapping.compressor {
            frame.clear();
            rest = compressor.deflate(rest, &mut frame);
            self.send_encrypted(&frame).await?;
            if rest.is_empty() {
                return Ok(());
            }
            task::yield_now().await;
        }
        self.send_encrypted(rest).await
    }

    /// Sends `bytes`, in TLS where that is spoken.
    async fn send_encrypted(&mut self, bytes: &[u8]) -> Result<(), Disconnected> {
        let Some(tls) = &mut self.wrapping.tls else { return self.send_raw(bytes).await };
        tls.writer().write_all(bytes).map_err(|_| Disconnected)?;
        self.send_tls().await
    }

    /// Sends what TLS has to say.
    async fn send_tls(&mut self) -> Result<(), Disconnected> {
        let Some(tls) = &mut self.wrapping.tls else { return Ok(()) };
        let mut records = Vec::new();
        while tls.wants_write() {
            tls.write_tls(&mut records).map_err(|_| Disconnected)?;
        }
        self.send_raw(&records).await
    }

    async fn send_raw(&self, bytes: &[u8]) -> Result<(), Disconnected> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let sent = match self.stream.try_write(rest) {
                Ok(0) => return Err(Disconnected),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.send_later(rest).await?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
                Err(_) => return Err(Disconnected),
            };
            rest = rest.get(sent..).unwrap_or_default();
        }
        self.connection.counters.add(Own::BytesSent, bytes.len() as u64);
        Ok(())
    }

    /// Waits until the client has made room, and sends what there is room for; how much that is.
    async fn send_later(&self, bytes: &[u8]) -> Result<usize, Disconnected> {
        let sending = poll_fn(|context| self.stream.poll_write(context, bytes));
        let sending = pin!(timeout(self.stream.event_loop(), self.write_timeout, sending));
        match unless_killed(&self.connection, sending).await {
            Some(Some(Ok(count))) if count > 0 => Ok(count),
            _ => Err(Disconnected),
        }
    }
}

async fn receive(
    stream: &Stream,
    connection: &Connection,
    buffer: &mut Vec<u8>,
    room: usize,
) -> Result<(), Disconnected> {
    buffer.reserve(room);
    let reading = pin!(poll_fn(|context| stream.poll_read(context, buffer)));
    match unless_killed(connection, reading).await {
        Some(Ok(count)) if count > 0 => {
            connection.counters.add(Own::BytesReceived, count as u64);
            Ok(())
        }
        _ => Err(Disconnected),
    }
}

/// What is received, unless it takes longer than the client has.
async fn within(
    event_loop: &Arc<EventLoop>,
    patience: Option<Duration>,
    received: impl Future<Output = Result<(), Disconnected>>,
) -> Result<(), Disconnected> {
    match patience {
        None => received.await,
        // Boxed: every session has room for this future, and only logins wait here.
        Some(patience) => {
            let timed = Box::pin(timeout(event_loop, patience, received));
            timed.await.unwrap_or(Err(Disconnected))
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
