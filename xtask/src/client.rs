//! A client of the MySQL protocol that can wait for an answer or look whether there is one.
//!
//! The command lines and connectors of the client matrix wait until a statement is through. A test that steps
//! several sessions through a scenario must send a statement, see that it waits, and read its answer later:
//! [`Client::send`], [`Client::is_answered`], [`Client::receive`]. Text protocol, user root without a
//! password, no TLS.

use std::fmt;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::Outcome;

mod binary;

pub use binary::Parameter;

/// LONG_PASSWORD, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, PLUGIN_AUTH, DEPRECATE_EOF.
const CAPABILITIES: u32 = 0x1 | 0x200 | 0x2000 | 0x8000 | 0x8_0000 | 0x100_0000;
/// How long an answer may take before the server is taken to hang.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long something that goes on in the background may take before it is taken never to end.
const LONG_PATIENCE: Duration = Duration::from_secs(600);

/// The answer to a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It is done; so many rows changed.
    Done(u64),
    /// It failed: number, SQLSTATE, text.
    Failed(u16, String, String),
    /// Rows of a result.
    Rows(Vec<Vec<Option<String>>>),
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Done(0) => write!(f, "ok"),
            Answer::Done(1) => write!(f, "1 row changed"),
            Answer::Done(count) => write!(f, "{count} rows changed"),
            Answer::Failed(number, state, text) => write!(f, "ERROR {number} ({state}): {text}"),
            Answer::Rows(rows) if rows.is_empty() => write!(f, "no rows"),
            Answer::Rows(rows) => {
                let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "NULL".into());
                let row = |row: &Vec<Option<String>>| row.iter().map(value).collect::<Vec<_>>().join("|");
                write!(f, "{}", rows.iter().map(row).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// A connection, logged in.
pub struct Client {
    stream: TcpStream,
    sequence: u8,
    /// Its number on the server, as in SHOW PROCESSLIST.
    pub id: u64,
    /// Of the last result.
    pub columns: Vec<Column>,
    /// How many warnings the last statement that succeeded has left.
    pub warnings: u16,
    /// What the last statement without rows said about itself: "Rows matched: 1 ...".
    pub info: String,
}

/// What a result says about a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    charset: u16,
    kind: u8,
    flags: u16,
    decimals: u8,
}

/// FLOAT and DOUBLE.
const APPROXIMATE: &[u8] = &[4, 5];
const UNSIGNED: u16 = 32;
const JSON: u8 = 245;
/// The collation of what is no text.
const BINARY: u16 = 63;

impl Column {
    /// Of a type that no answer has which a test expects.
    pub fn geometry() -> Column {
        Column { charset: 63, kind: 255, flags: 0, decimals: 0 }
    }

    /// Whether it is a YEAR.
    pub fn is_year(&self) -> bool {
        self.kind == 13
    }

    /// Whether it is JSON that was computed: said to be text.
    pub fn is_computed_json(&self) -> bool {
        self.kind == JSON && self.charset != BINARY
    }

    /// Whether it is JSON of a column: said to be binary.
    pub fn is_json_column(&self) -> bool {
        self.kind == JSON && self.charset == BINARY
    }

    /// Whether it is an INT UNSIGNED.
    pub fn is_int_unsigned(&self) -> bool {
        self.kind == 3 && self.flags & UNSIGNED != 0
    }

    /// Whether it is BIGINT UNSIGNED.
    pub fn is_big_unsigned(&self) -> bool {
        self.kind == 8 && self.flags & UNSIGNED != 0
    }

    /// Whether it is BIT.
    pub fn is_bit(&self) -> bool {
        self.kind == 16
    }

    /// Whether it is a VARCHAR.
    pub fn is_text(&self) -> bool {
        self.kind == 253
    }

    /// Whether it is said to have bytes.
    pub fn is_binary(&self) -> bool {
        self.charset == BINARY
    }

    /// Whether it is said to be an ENUM or SET.
    pub fn is_member(&self) -> bool {
        matches!(self.kind, 247 | 248)
    }

    /// Whether it is a DECIMAL.
    pub fn is_decimal(&self) -> bool {
        self.kind == 246
    }

    /// Whether it is a FLOAT.
    pub fn is_float(&self) -> bool {
        self.kind == 4
    }

    /// Whether its values are doubles.
    pub fn is_double(&self) -> bool {
        APPROXIMATE.contains(&self.kind)
    }

    /// Whether a client makes the same of its values: whole numbers, texts and bytes come in several types
    /// each.
    pub fn is_like(&self, other: &Column) -> bool {
        let shape = |column: &Column| {
            let sign = column.flags & UNSIGNED;
            match column.kind {
                1 | 2 | 3 | 8 | 9 => (8, 0, sign, 0),
                249..=254 => (253, column.charset, 0, 0),
                kind => (kind, column.charset, sign, column.decimals),
            }
        };
        shape(self) == shape(other)
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.flags & UNSIGNED == 0 { "" } else { " unsigned" };
        write!(f, "type {}{sign} charset {} decimals {}", self.kind, self.charset, self.decimals)
    }
}

impl Client {
    /// Connects to a port of this machine and logs in as root.
    pub fn connect(port: u16) -> Result<Client> {
        Client::login(port, "root", PATIENCE)
    }

    /// Connects as a user without a password. No answer is waited for longer than `patience`.
    pub fn login(port: u16, user: &str, patience: Duration) -> Result<Client> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(patience))?;
        stream.set_nodelay(true)?;
        let mut client =
            Client { stream, sequence: 0, id: 0, columns: Vec::new(), warnings: 0, info: String::new() };
        let greeting = client.read()?;
        let version_end = greeting.iter().position(|byte| *byte == 0).ok_or_else(|| garbled(&greeting))?;
        let id = greeting.get(version_end + 1..version_end + 5).ok_or_else(|| garbled(&greeting))?;
        client.id = id.iter().rev().fold(0, |id, byte| id << 8 | u64::from(*byte));
        let mut response = CAPABILITIES.to_le_bytes().to_vec();
        response.extend_from_slice(&(1u32 << 30).to_le_bytes());
        response.push(255);
        response.extend_from_slice(&[0; 23]);
        response.extend_from_slice(user.as_bytes());
        response.extend_from_slice(b"\0\0caching_sha2_password\0");
        client.write(&response)?;
        match client.read()? {
            packet if packet.first() == Some(&0) => Ok(client),
            packet => Err(Error::new(ErrorKind::PermissionDenied, packet.escape_ascii().to_string())),
        }
    }

    /// Executes a query that has one row with one value, which is not NULL.
    pub fn value(&mut self, query: &str) -> Result<String> {
        match self.query(query)? {
            Answer::Rows(rows) if rows.len() == 1 && rows[0].len() == 1 => {
                rows[0][0].clone().ok_or_else(|| Error::other("NULL"))
            }
            answer => Err(Error::other(answer.to_string())),
        }
    }

    /// Executes a statement and waits for its answer.
    pub fn query(&mut self, statement: &str) -> Result<Answer> {
        self.send(statement)?;
        self.receive()
    }

    /// Sends a statement.
    pub fn send(&mut self, statement: &str) -> Result<()> {
        self.command(&[b"\x03", statement.as_bytes()].concat())
    }

    /// Sends a command: its code and what follows.
    fn command(&mut self, payload: &[u8]) -> Result<()> {
        self.sequence = 0;
        self.write(payload)
    }

    /// Whether the answer to the statement sent has begun to arrive.
    pub fn is_answered(&mut self) -> Result<bool> {
        self.stream.set_nonblocking(true)?;
        let looked = self.stream.peek(&mut [0]);
        self.stream.set_nonblocking(false)?;
        match looked {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Waits for the answer to the statement sent.
    pub fn receive(&mut self) -> Result<Answer> {
        self.receive_rows(|packet, _| row(packet))
    }

    /// Waits for an answer, the rows of which `row` reads.
    fn receive_rows(
        &mut self,
        row: impl Fn(&[u8], &[Column]) -> Option<Vec<Option<String>>>,
    ) -> Result<Answer> {
        self.info.clear();
        let first = self.read()?;
        match *first.first().ok_or_else(|| garbled(&first))? {
            0 => {
                self.columns.clear();
                self.end(&first).map(Answer::Done)
            }
            0xff => {
                self.columns.clear();
                failure(&first)
            }
            _ => {
                let columns = length(&mut &first[..]).ok_or_else(|| garbled(&first))?;
                self.columns.clear();
                for _ in 0..columns {
                    let packet = self.read()?;
                    self.columns.push(column(&packet).ok_or_else(|| garbled(&packet))?);
                }
                let mut rows = Vec::new();
                loop {
                    let packet = self.read()?;
                    match packet.first() {
                        Some(0xfe) if packet.len() < 0xff_ffff => {
                            self.end(&packet)?;
                            return Ok(Answer::Rows(rows));
                        }
                        Some(0xff) => return failure(&packet),
                        _ => rows.push(row(&packet, &self.columns).ok_or_else(|| garbled(&packet))?),
                    }
                }
            }
        }
    }

    /// Reads the packet that ends an answer: the rows changed; warnings and what is said are kept.
    fn end(&mut self, packet: &[u8]) -> Result<u64> {
        let read = |mut rest: &[u8]| {
            rest = rest.get(1..)?;
            let changed = length(&mut rest)?;
            length(&mut rest)?;
            let ([_, _, low, high], mut info) = rest.split_first_chunk::<4>()?;
            let text = match length(&mut info) {
                Some(_) => info.to_vec(),
                None => Vec::new(),
            };
            Some((changed, u16::from_le_bytes([*low, *high]), text))
        };
        let (changed, warnings, info) = read(packet).ok_or_else(|| garbled(packet))?;
        self.warnings = warnings;
        self.info = String::from_utf8_lossy(&info).into_owned();
        Ok(changed)
    }

    fn write(&mut self, payload: &[u8]) -> Result<()> {
        assert!(payload.len() < 0xff_ffff, "a test's statement fits a packet");
        let mut frame = (payload.len() as u32).to_le_bytes()[..3].to_vec();
        frame.push(self.sequence);
        frame.extend_from_slice(payload);
        self.sequence = self.sequence.wrapping_add(1);
        self.stream.write_all(&frame)
    }

    fn read(&mut self) -> Result<Vec<u8>> {
        let mut payload = Vec::new();
        loop {
            let mut header = [0; 4];
            self.stream.read_exact(&mut header)?;
            if header[3] != self.sequence {
                return Err(garbled(&header));
            }
            self.sequence = self.sequence.wrapping_add(1);
            let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
            let start = payload.len();
            payload.resize(start + length, 0);
            self.stream.read_exact(&mut payload[start..])?;
            if length < 0xff_ffff {
                return Ok(payload);
            }
        }
    }
}

fn garbled(packet: &[u8]) -> Error {
    Error::new(ErrorKind::InvalidData, format!("not the protocol: {}", packet.escape_ascii()))
}

fn failure(packet: &[u8]) -> Result<Answer> {
    let (Some(number), Some(state), Some(text)) = (packet.get(1..3), packet.get(4..9), packet.get(9..))
    else {
        return Err(garbled(packet));
    };
    let [state, text] = [state, text].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    Ok(Answer::Failed(u16::from_le_bytes([number[0], number[1]]), state, text))
}

/// Takes a length-encoded integer.
fn length(rest: &mut &[u8]) -> Option<u64> {
    let (first, after) = rest.split_first()?;
    let bytes = match first {
        0xfc => 2,
        0xfd => 3,
        0xfe => 8,
        small => {
            *rest = after;
            return Some(u64::from(*small));
        }
    };
    let (number, after) = after.split_at_checked(bytes)?;
    *rest = after;
    Some(number.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

fn column(packet: &[u8]) -> Option<Column> {
    let mut rest = packet;
    // catalogue, schema, table, its name, name, its name
    for _ in 0..6 {
        let length = usize::try_from(length(&mut rest)?).ok()?;
        rest = rest.get(length..)?;
    }
    let [_, low, high, _, _, _, _, kind, flag_low, flag_high, decimals] = *rest.first_chunk::<11>()?;
    let (charset, flags) = (u16::from_le_bytes([low, high]), u16::from_le_bytes([flag_low, flag_high]));
    Some(Column { charset, kind, flags, decimals })
}

fn row(packet: &[u8]) -> Option<Vec<Option<String>>> {
    let mut rest = packet;
    let mut row = Vec::new();
    while let Some(first) = rest.first() {
        if *first == 0xfb {
            rest = &rest[1..];
            row.push(None);
            continue;
        }
        let length = usize::try_from(length(&mut rest)?).ok()?;
        let (value, after) = rest.split_at_checked(length)?;
        row.push(Some(String::from_utf8_lossy(value).into_owned()));
        rest = after;
    }
    Some(row)
}

/// The answer that is one value.
pub fn one_value(value: &str) -> Answer {
    Answer::Rows(vec![vec![Some(value.to_owned())]])
}

/// Executes a statement that must succeed.
pub fn execute(client: &mut Client, statement: &str) -> Outcome {
    match client.query(statement).map_err(|error| format!("{statement}: {error}"))? {
        Answer::Failed(number, _, text) => Err(format!("{statement}: {number} {text}")),
        Answer::Done(_) | Answer::Rows(_) => Ok(()),
    }
}

/// Asks for one value, which must be `value`.
pub fn expect(client: &mut Client, query: &str, value: &str) -> Outcome {
    let answer = client.query(query).map_err(|error| format!("{query}: {error}"))?;
    if answer == one_value(value) { Ok(()) } else { Err(format!("{query}: {answer}, not {value}")) }
}

/// Asks for a number until it is as it should be.
pub fn until(client: &mut Client, query: &str, is_right: impl Fn(u64) -> bool) -> Outcome {
    let begun = Instant::now();
    loop {
        let answer = client.query(query).map_err(|error| format!("{query}: {error}"))?;
        let number = match &answer {
            Answer::Rows(rows) => rows.first().and_then(|row| row.first()?.as_deref()?.parse().ok()),
            Answer::Done(_) | Answer::Failed(..) => None,
        };
        match number {
            Some(number) if is_right(number) => return Ok(()),
            Some(_) if begun.elapsed() < LONG_PATIENCE => std::thread::sleep(Duration::from_millis(20)),
            _ => return Err(format!("{query}: {answer} after {} s", begun.elapsed().as_secs())),
        }
    }
}
