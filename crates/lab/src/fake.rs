//! A server for tests: it speaks as much of the protocol as the lab's connection needs, lets everybody in, and answers each
//! statement as the test says. It ends with the test's process.

use std::io::{Read as _, Result, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::spec::Address;

/// What it answers.
#[derive(Debug, Clone)]
pub enum Reply {
    /// OK.
    Done,
    /// Rows of text.
    Rows(Vec<Vec<String>>),
    /// An error.
    Refused(u16, &'static str),
    /// Nothing: it closes the connection.
    Gone,
    /// One value, after a while.
    Late(Duration, &'static str),
}

impl Reply {
    /// One row of one column.
    pub fn value(value: &str) -> Reply {
        Reply::Rows(vec![vec![value.to_owned()]])
    }
}

/// A server.
pub struct Fake {
    port: u16,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    connections: usize,
    statements: Vec<String>,
}

type Answer = dyn Fn(&str) -> Reply + Send + Sync;

impl Fake {
    /// Listens on a port of its own.
    pub fn new(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let seen = Arc::<Mutex<Seen>>::default();
        let (answer, noted): (Arc<Answer>, _) = (Arc::new(answer), Arc::clone(&seen));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                lock(&noted).connections += 1;
                let (answer, noted) = (Arc::clone(&answer), Arc::clone(&noted));
                // a client that goes in between is a client that has gone
                std::thread::spawn(move || drop(serve(client, &*answer, &noted)));
            }
        });
        Fake { port, seen }
    }

    /// Where it listens.
    pub fn address(&self) -> Address {
        let (user, host) = ("root".to_owned(), "127.0.0.1".to_owned());
        Address { user, password: String::new(), host, port: self.port }
    }

    /// How many connections it has had.
    pub fn connections(&self) -> usize {
        lock(&self.seen).connections
    }

    /// The statements that it was sent, the driver's own included.
    pub fn heard(&self) -> Vec<String> {
        lock(&self.seen).statements.clone()
    }
}

fn lock(seen: &Mutex<Seen>) -> std::sync::MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The protocol's end of a sequence of rows, or of columns.
const END: &[u8] = &[0xfe, 0, 0, 2, 0];

const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];

fn serve(mut client: TcpStream, answer: &Answer, seen: &Mutex<Seen>) -> Result<()> {
    send(&mut client, 0, &[&greeting()])?;
    receive(&mut client)?;
    send(&mut client, 2, &[OK])?;
    loop {
        let packet = receive(&mut client)?;
        let Some((3, statement)) = packet.split_first() else { return Ok(()) };
        let statement = String::from_utf8_lossy(statement).into_owned();
        lock(seen).statements.push(statement.clone());
        // what the driver asks and the lab sets for itself
        let own = match statement.as_str() {
            "SELECT @@max_allowed_packet" => Some(Reply::value("16777216")),
            "SELECT @@datadir" => Some(Reply::value("/nowhere")),
            other => other.starts_with("SET SESSION ").then_some(Reply::Done),
        };
        match own.unwrap_or_else(|| answer(&statement)) {
            Reply::Done => send(&mut client, 1, &[OK])?,
            Reply::Gone => return Ok(()),
            Reply::Refused(code, message) => {
                let [low, high] = code.to_le_bytes();
                let error = [[0xff, low, high].as_slice(), b"#HY000", message.as_bytes()].concat();
                send(&mut client, 1, &[&error])?;
            }
            Reply::Late(time, value) => {
                std::thread::sleep(time);
                rows(&mut client, &[vec![value.to_owned()]])?;
            }
            Reply::Rows(table) => rows(&mut client, &table)?,
        }
    }
}

fn rows(client: &mut TcpStream, table: &[Vec<String>]) -> Result<()> {
    let columns = table.first().map_or(1, Vec::len);
    let names = ["def", "", "", "", "column", ""].map(string).concat();
    // character set, length, type VARCHAR, flags, decimals, filler
    let kind = [0x0c, 33, 0, 0, 4, 0, 0, 0xfd, 0, 0, 0, 0, 0];
    let column = [names.as_slice(), kind.as_slice()].concat();
    let mut packets = vec![vec![columns as u8]];
    packets.extend(std::iter::repeat_n(column, columns));
    packets.push(END.to_vec());
    packets.extend(table.iter().map(|row| row.iter().flat_map(|value| string(value)).collect()));
    packets.push(END.to_vec());
    send(client, 1, &packets.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// A short text with its length before it.
fn string(text: &str) -> Vec<u8> {
    assert!(text.len() < 251, "a longer text has a longer length");
    [[text.len() as u8].as_slice(), text.as_bytes()].concat()
}

fn greeting() -> Vec<u8> {
    // LONG_PASSWORD, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION; PLUGIN_AUTH
    let (low, high) = (0xa201u16, 0x0008u16);
    let mut greeting = b"\x0a8.0.0\0\x01\0\0\0".to_vec();
    greeting.extend_from_slice(b"12345678\0");
    greeting.extend_from_slice(&low.to_le_bytes());
    greeting.extend_from_slice(&[33, 2, 0]);
    greeting.extend_from_slice(&high.to_le_bytes());
    greeting.push(21);
    greeting.extend_from_slice(&[0; 10]);
    greeting.extend_from_slice(b"123456789012\0mysql_native_password\0");
    greeting
}

fn send(client: &mut TcpStream, first: u8, packets: &[&[u8]]) -> Result<()> {
    let mut bytes = Vec::new();
    for (packet, number) in packets.iter().zip(first..) {
        bytes.extend_from_slice(&(packet.len() as u32).to_le_bytes()[..3]);
        bytes.push(number);
        bytes.extend_from_slice(packet);
    }
    client.write_all(&bytes)
}

fn receive(client: &mut TcpStream) -> Result<Vec<u8>> {
    let mut head = [0; 4];
    client.read_exact(&mut head)?;
    let mut packet = vec![0; u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize];
    client.read_exact(&mut packet)?;
    Ok(packet)
}
