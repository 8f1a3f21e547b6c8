//! A small client that says exactly what it is told to, and a server to say it to.

// each test program uses a part of it
#![allow(dead_code)]

pub mod process;

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use palisade_base::Event;
use palisade_base::sysvar::{Settings, VariableId};
use palisade_io::{FileSystem, OsFileSystem};
use palisade_server::locality::{Pace, Processors};
use palisade_server::server::Ground;
use palisade_server::stream::Stream;

/// What is longer than this on the slowest machine hangs.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Sets a flag at the latest when it goes: threads that wait for it end if a statement fails.
pub struct SetWhenDropped<'f>(pub &'f AtomicBool);

impl Drop for SetWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Processors on which a client's packets always arrive at the other worker: a session moves after every command, unless
/// all of them are at one worker already. What a test finds out about a session holds wherever it is served.
struct Restless;

impl Processors for Restless {
    fn of_caller(&self) -> usize {
        let thread = std::thread::current();
        thread.name().and_then(|name| name.strip_prefix("worker-")).expect("a worker").parse().unwrap()
    }

    fn of_packets(&self, _: &Stream) -> Option<usize> {
        Some(1 - self.of_caller())
    }

    fn pace(&self) -> Pace {
        Pace { commands_per_look: 1, looks: 1, most_looks: 1 }
    }
}

/// A server in this process, with fresh data.
pub struct TestServer {
    pub address: SocketAddr,
    /// Of `admin_address`, if it is set.
    pub administrative: Option<SocketAddr>,
    pub dir: tempfile::TempDir,
    shutdown: Event,
    thread: Option<JoinHandle<Result<(), String>>>,
}

impl TestServer {
    /// Starts one with these options.
    pub fn start(options: &[(&str, &str)]) -> TestServer {
        TestServer::start_on(Arc::new(OsFileSystem::new()), options)
    }

    /// Starts one with its data in `file_system`.
    pub fn start_on(file_system: Arc<dyn FileSystem>, options: &[(&str, &str)]) -> TestServer {
        TestServer::start_with(Ground { file_system, processors: Arc::new(Restless) }, options)
    }

    /// Starts one whose sessions go where the operating system's packets do.
    pub fn start_settled(options: &[(&str, &str)]) -> TestServer {
        TestServer::start_with(Ground::default(), options)
    }

    fn start_with(ground: Ground, options: &[(&str, &str)]) -> TestServer {
        let dir = tempfile::tempdir().unwrap();
        let datadir = dir.path().join("data");
        // certificates go there in any case
        std::fs::create_dir_all(&datadir).unwrap();
        let mut all = vec![
            ("port", "0"),
            ("worker_threads", "2"),
            ("innodb_buffer_pool_size", "16M"),
            ("innodb_redo_log_capacity", "16M"),
        ];
        all.push(("datadir", datadir.to_str().unwrap()));
        all.extend(options);
        let mut settings = Settings::default();
        for (name, text) in all {
            let id = VariableId::named(name).unwrap();
            settings.set(id, id.declaration().from_option(text).unwrap().setting);
        }
        let shutdown = Event::new();
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::spawn({
            let shutdown = shutdown.clone();
            move || {
                palisade_server::server::run_on(ground, settings, shutdown, |listeners| {
                    sender
                        .send((listeners.tcp_address().unwrap(), listeners.administrative_address()))
                        .unwrap();
                })
            }
        });
        let (address, administrative) = receiver.recv().expect("the server starts");
        TestServer { address, administrative, dir, shutdown, thread: Some(thread) }
    }

    /// A connection, logged in as root.
    pub fn connect(&self) -> Client {
        let mut client = Client::connect(self.address);
        let answer = client.login("root", b"", CAPABILITIES);
        assert!(answer[0] == 0, "{}", answer.escape_ascii());
        client
    }

    /// A connection on which nothing has been said yet.
    pub fn connect_raw(&self) -> Client {
        Client::connect(self.address)
    }

    /// Waits until it has been shut down by a client.
    pub fn wait(mut self) -> Result<(), String> {
        self.thread.take().unwrap().join().unwrap()
    }

    /// Shuts it down and waits until it has.
    pub fn stop(mut self) -> Result<(), String> {
        self.shutdown.complete();
        self.thread.take().unwrap().join().unwrap()
    }
}

impl TestServer {
    /// Shuts it down and moves its data, which would go with it.
    pub fn stop_and_move(mut self, from: &Path, to: &Path) -> Result<(), String> {
        self.shutdown.complete();
        self.thread.take().unwrap().join().unwrap()?;
        std::fs::rename(from, to).map_err(|error| error.to_string())
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.shutdown.complete();
        if let Some(thread) = self.thread.take() {
            let result = thread.join();
            if !std::thread::panicking() {
                result.unwrap().unwrap();
            }
        }
    }
}

/// PROTOCOL_41, SECURE_CONNECTION, MULTI_STATEMENTS, MULTI_RESULTS, PLUGIN_AUTH, DEPRECATE_EOF.
pub const CAPABILITIES: u32 = 0x200 | 0x8000 | 0x1_0000 | 0x2_0000 | 0x8_0000 | 0x100_0000;

/// A connection.
pub struct Client {
    pub stream: TcpStream,
    pub sequence: u8,
}

/// The answer to a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// OK: affected rows.
    Ok(u64),
    /// ERR: number and text.
    Error(u16, String),
    /// Rows of a text result.
    Rows(Vec<Vec<Option<String>>>),
}

impl Client {
    pub fn connect(address: SocketAddr) -> Client {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Client { stream, sequence: 0 }
    }

    /// Reads the greeting and logs in; gives the answer.
    pub fn login(&mut self, user: &str, proof: &[u8], capabilities: u32) -> Vec<u8> {
        let greeting = self.read().unwrap();
        assert_eq!(greeting[0], 10);
        self.respond(user, proof, "caching_sha2_password", capabilities);
        self.read().unwrap()
    }

    /// Answers the greeting.
    pub fn respond(&mut self, user: &str, proof: &[u8], plugin: &str, capabilities: u32) {
        let mut response = capabilities.to_le_bytes().to_vec();
        response.extend_from_slice(&(1u32 << 30).to_le_bytes());
        response.push(255);
        response.extend_from_slice(&[0; 23]);
        response.extend_from_slice(user.as_bytes());
        response.push(0);
        response.push(proof.len() as u8);
        response.extend_from_slice(proof);
        response.extend_from_slice(plugin.as_bytes());
        response.push(0);
        self.write(&response);
    }

    /// Sends a payload with the next sequence number.
    pub fn write(&mut self, payload: &[u8]) {
        let mut rest = payload;
        loop {
            let (part, after) = rest.split_at(rest.len().min(0xff_ffff));
            let mut frame = (part.len() as u32).to_le_bytes()[..3].to_vec();
            frame.push(self.sequence);
            frame.extend_from_slice(part);
            self.sequence = self.sequence.wrapping_add(1);
            self.stream.write_all(&frame).unwrap();
            rest = after;
            if part.len() < 0xff_ffff {
                return;
            }
        }
    }

    /// The next packet; `None` if the server has closed the connection.
    pub fn read(&mut self) -> Option<Vec<u8>> {
        let mut payload = Vec::new();
        loop {
            let mut header = [0; 4];
            self.stream.read_exact(&mut header).ok()?;
            assert_eq!(header[3], self.sequence, "sequence number");
            self.sequence = self.sequence.wrapping_add(1);
            let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
            let start = payload.len();
            payload.resize(start + length, 0);
            self.stream.read_exact(&mut payload[start..]).ok()?;
            if length < 0xff_ffff {
                return Some(payload);
            }
        }
    }

    /// Sends a command and gives the first packet of its answer.
    pub fn command(&mut self, payload: &[u8]) -> Option<Vec<u8>> {
        self.sequence = 0;
        self.write(payload);
        self.read()
    }

    /// Sends a command that has no answer.
    pub fn order(&mut self, payload: &[u8]) {
        self.sequence = 0;
        self.write(payload);
    }

    /// Executes a statement.
    pub fn query(&mut self, text: &str) -> Answer {
        self.send(text);
        self.answer()
    }

    /// Sends a statement, whose [answer](Self::answer) is read later.
    pub fn send(&mut self, text: &str) {
        let mut payload = vec![3];
        payload.extend_from_slice(text.as_bytes());
        self.sequence = 0;
        self.write(&payload);
    }

    /// Whether something has come that was not read yet.
    pub fn has_answer(&self) -> bool {
        self.stream.set_nonblocking(true).unwrap();
        let seen = self.stream.peek(&mut [0]);
        self.stream.set_nonblocking(false).unwrap();
        match seen {
            Ok(_) => true,
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            Err(error) => panic!("{error}"),
        }
    }

    /// Reads the answer to a statement.
    pub fn answer(&mut self) -> Answer {
        let first = self.read().expect("an answer");
        match first[0] {
            0 => Answer::Ok(u64::from(first[1])),
            0xff => error(&first),
            count => {
                for _ in 0..count {
                    self.read().unwrap();
                }
                let mut rows = Vec::new();
                loop {
                    let packet = self.read().unwrap();
                    match packet[0] {
                        0xfe if packet.len() < 9 => return Answer::Rows(rows),
                        0xff => return error(&packet),
                        _ => rows.push(text_row(&packet)),
                    }
                }
            }
        }
    }

    /// Prepares a statement; gives its number.
    pub fn prepare(&mut self, text: &str) -> Result<u32, Answer> {
        let mut payload = vec![0x16];
        payload.extend_from_slice(text.as_bytes());
        let first = self.command(&payload).expect("an answer");
        if first[0] != 0 {
            return Err(error(&first));
        }
        let columns = u16::from_le_bytes([first[5], first[6]]);
        let parameters = u16::from_le_bytes([first[7], first[8]]);
        for _ in 0..u32::from(columns) + u32::from(parameters) {
            self.read().unwrap();
        }
        Ok(u32::from_le_bytes([first[1], first[2], first[3], first[4]]))
    }

    /// Executes a prepared statement with encoded parameters; gives its binary rows.
    pub fn execute(&mut self, statement: u32, parameters: &[u8]) -> Vec<Vec<u8>> {
        let mut payload = vec![0x17];
        payload.extend_from_slice(&statement.to_le_bytes());
        payload.extend_from_slice(&[0, 1, 0, 0, 0]);
        payload.extend_from_slice(parameters);
        let first = self.command(&payload).expect("an answer");
        assert_ne!(first[0], 0xff, "{}", first.escape_ascii());
        if first[0] == 0 {
            return Vec::new();
        }
        for _ in 0..first[0] {
            self.read().unwrap();
        }
        let mut rows = Vec::new();
        loop {
            let packet = self.read().unwrap();
            if packet[0] == 0xfe {
                return rows;
            }
            rows.push(packet);
        }
    }

    /// Executes a statement that has one row with one column.
    pub fn value(&mut self, text: &str) -> String {
        match self.query(text) {
            Answer::Rows(rows) if rows.len() == 1 => rows[0][0].clone().unwrap_or_else(|| "NULL".to_owned()),
            other => panic!("{text}: {other:?}"),
        }
    }
}

/// The scramble in a greeting.
pub fn scramble(greeting: &[u8]) -> Vec<u8> {
    let version_end = greeting.iter().position(|byte| *byte == 0).unwrap();
    let first = version_end + 5;
    // capabilities, collation, status and ten bytes of zero stand between the two parts
    let second = first + 8 + 19;
    [&greeting[first..first + 8], &greeting[second..second + 12]].concat()
}

fn text_row(mut packet: &[u8]) -> Vec<Option<String>> {
    let mut row = Vec::new();
    while let Some((first, rest)) = packet.split_first() {
        let (length, rest) = match first {
            251 => {
                row.push(None);
                packet = rest;
                continue;
            }
            252 => (usize::from(u16::from_le_bytes([rest[0], rest[1]])), &rest[2..]),
            253 => (u32::from_le_bytes([rest[0], rest[1], rest[2], 0]) as usize, &rest[3..]),
            254 => (u64::from_le_bytes(rest[..8].try_into().unwrap()) as usize, &rest[8..]),
            length => (usize::from(*length), rest),
        };
        row.push(Some(String::from_utf8_lossy(&rest[..length]).into_owned()));
        packet = &rest[length..];
    }
    row
}

/// The number and text of an ERR packet.
pub fn error(packet: &[u8]) -> Answer {
    assert_eq!(packet[0], 0xff, "{}", packet.escape_ascii());
    let text = if packet[3] == b'#' { &packet[9..] } else { &packet[3..] };
    Answer::Error(u16::from_le_bytes([packet[1], packet[2]]), String::from_utf8_lossy(text).into_owned())
}

/// The number of an error; 0 for any other answer.
pub fn number(answer: &Answer) -> u16 {
    match answer {
        Answer::Error(number, _) => *number,
        _ => 0,
    }
}

/// Asks again and again until the answer is `expected`.
#[track_caller]
pub fn until(client: &mut Client, query: &str, expected: &Answer) {
    let give_up = Instant::now() + PATIENCE;
    loop {
        let answer = client.query(query);
        if answer == *expected {
            return;
        }
        assert!(Instant::now() < give_up, "{query}: {answer:?}, not {expected:?}");
        std::thread::sleep(Duration::from_millis(3));
    }
}

/// Waits until a statement of another connection waits for a row lock.
#[track_caller]
pub fn until_somebody_waits(watcher: &mut Client) {
    let waiting = "SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'";
    until(watcher, waiting, &Answer::Rows(vec![vec![Some("1".into())]]));
}

/// Sends statements that must succeed.
pub fn run(client: &mut Client, statements: &[&str]) {
    for statement in statements {
        let answer = client.query(statement);
        assert!(!matches!(answer, Answer::Error(..)), "{statement}: {answer:?}");
    }
}

/// The number and the text of the error that a statement answers.
#[track_caller]
pub fn fails(client: &mut Client, statement: &str) -> (u16, String) {
    match client.query(statement) {
        Answer::Error(number, text) => (number, text),
        other => panic!("{statement}: {other:?}"),
    }
}

/// A connection of an account without a password.
#[track_caller]
pub fn connect_as(server: &TestServer, user: &str) -> Client {
    let mut client = server.connect_raw();
    let answer = client.login(user, b"", CAPABILITIES);
    assert!(answer[0] == 0, "{}", answer.escape_ascii());
    client
}
