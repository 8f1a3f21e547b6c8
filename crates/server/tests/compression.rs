//! The compressed protocol, from a client's side: what it may ask for, and what the server says of it.

mod client;

use client::{CAPABILITIES, Client, TestServer};
use palisade_protocol::compression::{Algorithm, Compressor};
use std::io::{Read as _, Write as _};

/// COMPRESS.
const ZLIB: u32 = 1 << 5;
/// ZSTD_COMPRESSION_ALGORITHM.
const ZSTD: u32 = 1 << 26;
const LONGEST: usize = 0xff_ffff;

/// Logs in as root, saying that it can `what` and wants this level; the server's answer.
fn log_in(server: &TestServer, what: u32, level: u8) -> (Client, Vec<u8>) {
    let mut client = server.connect_raw();
    client.read().unwrap();
    let mut response = (CAPABILITIES | what).to_le_bytes().to_vec();
    response.extend_from_slice(&(1u32 << 30).to_le_bytes());
    response.push(255);
    response.extend_from_slice(&[0; 23]);
    response.extend_from_slice(b"root\0\0caching_sha2_password\0");
    response.push(level);
    client.write(&response);
    let answer = client.read().unwrap();
    (client, answer)
}

/// The number in an error packet.
fn refusal(answer: &[u8]) -> Option<u16> {
    (answer[0] == 0xff).then(|| u16::from_le_bytes([answer[1], answer[2]]))
}

/// A connection that is compressed.
struct Compressed {
    client: Client,
    compressor: Compressor,
}

impl Compressed {
    fn new(server: &TestServer, algorithm: Algorithm) -> Compressed {
        let (what, level) = match algorithm {
            Algorithm::Zlib => (ZLIB, 0),
            Algorithm::Zstd { level } => (ZSTD, level),
        };
        let (client, answer) = log_in(server, what, level);
        assert_eq!(answer[0], 0, "{}", answer.escape_ascii());
        Compressed { client, compressor: Compressor::new(algorithm).unwrap() }
    }

    /// The packets of these statements, as frames that the client could have sent.
    fn frames(&mut self, statements: &[&str]) -> Vec<u8> {
        let mut frames = Vec::new();
        for statement in statements {
            let mut packet = (statement.len() as u32 + 1).to_le_bytes()[..3].to_vec();
            packet.extend_from_slice(b"\0\x03");
            packet.extend_from_slice(statement.as_bytes());
            let algorithm = self.compressor.algorithm();
            self.compressor = Compressor::new(algorithm).unwrap();
            let mut rest = &packet[..];
            while !rest.is_empty() {
                rest = self.compressor.deflate(rest, &mut frames);
            }
        }
        frames
    }

    /// All that is answered until `end` is found in it.
    fn answer(&mut self, end: &[u8]) -> Vec<u8> {
        let mut plain = Vec::new();
        let mut piece = [0; 4096];
        while !plain.windows(end.len()).any(|window| window == end) {
            let count = self.client.stream.read(&mut piece).unwrap();
            assert!(count > 0, "the server has gone");
            self.compressor.received().extend_from_slice(&piece[..count]);
            loop {
                let before = plain.len();
                self.compressor.inflate(&mut plain).unwrap();
                if plain.len() == before {
                    break;
                }
            }
        }
        plain
    }

    fn says(&mut self, statement: &str, texts: &[&str]) {
        let frames = self.frames(&[statement]);
        self.client.stream.write_all(&frames).unwrap();
        // the packet that ends a result: nothing affected, no id, autocommit, no warnings
        let answer = self.answer(b"\xfe\0\0\x02\0\0\0");
        for text in texts {
            let holds = answer.windows(text.len()).any(|window| window == text.as_bytes());
            assert!(holds, "{text} in {}", answer.escape_ascii());
        }
    }
}

const ALL: [Algorithm; 4] = [
    Algorithm::Zlib,
    Algorithm::Zstd { level: 1 },
    Algorithm::Zstd { level: 3 },
    Algorithm::Zstd { level: 22 },
];

#[test]
fn statements_and_long_answers_go_compressed() {
    let server = TestServer::start(&[]);
    for algorithm in ALL {
        let mut client = Compressed::new(&server, algorithm);
        let level = format!(
            "\x11Compression_level{}{}",
            char::from(algorithm.level().to_string().len() as u8),
            algorithm.level()
        );
        let name = format!("\x15Compression_algorithm\x04{}", algorithm.name());
        client.says("SHOW STATUS LIKE 'Compression%'", &["\x0bCompression\x02ON", &name, &level]);
        // longer than what one frame holds, either way
        let text = "0123456789abcdef".repeat(20_000);
        client.says(&format!("SELECT CONCAT('{text}', '{text}')"), &[&text.repeat(2)]);
    }
    let mut plain = server.connect();
    assert_eq!(plain.value("SHOW STATUS LIKE 'Compression'"), "Compression");
}

#[test]
fn many_frames_may_come_at_once() {
    let server = TestServer::start(&[]);
    let mut client = Compressed::new(&server, Algorithm::Zstd { level: 3 });
    // a few hundred bytes that inflate to some megabytes
    let long = format!("DO '{}'", "a".repeat(500_000));
    let mut statements = vec![long.as_str(); 10];
    statements.push("SELECT 'the end'");
    let frames = client.frames(&statements);
    assert!(frames.len() < 16_000, "{}", frames.len());
    client.client.stream.write_all(&frames).unwrap();
    client.answer(b"\x07the end");
}

#[test]
fn what_the_server_does_not_allow_is_refused() {
    let server = TestServer::start(&[("protocol_compression_algorithms", "zstd")]);
    assert_eq!(refusal(&log_in(&server, 0, 0).1), Some(3922), "uncompressed");
    assert_eq!(refusal(&log_in(&server, ZLIB, 0).1), Some(3922), "what is not offered does not count");
    for level in [0, 23, 255] {
        assert_eq!(refusal(&log_in(&server, ZSTD, level).1), Some(3923), "{level}");
    }
    let greeting = server.connect_raw().read().unwrap();
    let end_of_version = 1 + greeting[1..].iter().position(|byte| *byte == 0).unwrap();
    // connection id, scramble and a zero; the low half, collation, status; the high half
    let high = end_of_version + 1 + 4 + 8 + 1 + 2 + 1 + 2;
    assert!(greeting[high + 1] & 4 != 0, "Zstandard is offered");
    assert_eq!(greeting[high - 5] & 0x20, 0, "zlib is not");
    Compressed::new(&server, Algorithm::Zstd { level: 3 }).says("SELECT 'here'", &["\x04here"]);
}

#[test]
fn a_frame_that_lies_ends_the_connection_only() {
    let server = TestServer::start(&[]);
    let mut client = Compressed::new(&server, Algorithm::Zstd { level: 3 });
    let mut frames = client.frames(&[&format!("DO '{}'", "a".repeat(100_000))]);
    frames[4..7].copy_from_slice(&(LONGEST as u32).to_le_bytes()[..3]);
    client.client.stream.write_all(&frames).unwrap();
    assert_eq!(client.client.stream.read(&mut [0; 16]).unwrap_or(0), 0);
    Compressed::new(&server, Algorithm::Zlib).says("SELECT 'here'", &["\x04here"]);
}
