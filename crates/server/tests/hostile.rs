//! Clients that do harm, by accident or on purpose: each harms itself only, which a witness beside it attests.

mod client;

use client::{Answer, CAPABILITIES, Client, PATIENCE, TestServer};
use palisade_base::prng::{Prng, test_seed};
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A client that behaves, and whose every statement must be answered rightly meanwhile.
struct Witness {
    stop: Arc<AtomicBool>,
    answered: Arc<AtomicU64>,
    thread: JoinHandle<()>,
}

impl Witness {
    fn of(server: &TestServer) -> Witness {
        let (stop, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let mut client = server.connect();
        assert_eq!(client.query("CREATE DATABASE witness"), Answer::Ok(1));
        assert_eq!(client.query("CREATE TABLE witness.t (id INT PRIMARY KEY)"), Answer::Ok(0));
        let thread = std::thread::spawn({
            let (stop, answered) = (stop.clone(), answered.clone());
            move || {
                while !stop.load(Ordering::Relaxed) {
                    let number = answered.load(Ordering::Relaxed);
                    let insert = format!("INSERT INTO witness.t VALUES ({number})");
                    assert_eq!(client.query(&insert), Answer::Ok(1));
                    let count = client.value("SELECT COUNT(*) FROM witness.t");
                    assert_eq!(count, (number + 1).to_string());
                    answered.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(2));
                }
            }
        });
        Witness { stop, answered, thread }
    }

    /// Ends it; it must have gone on.
    fn attest(self) {
        let before = self.answered.load(Ordering::Relaxed);
        while self.answered.load(Ordering::Relaxed) == before {
            assert!(!self.thread.is_finished(), "the witness was harmed");
            std::thread::sleep(Duration::from_millis(1));
        }
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
    }
}

/// Packets that clients send, to be damaged.
fn genuine(prng: &mut Prng) -> Vec<u8> {
    let packets: &[&[u8]] = &[
        b"\x03SELECT 1, 'a', NULL FROM witness.t WHERE id > 5 ORDER BY id LIMIT 3",
        b"\x03SET @a = 1; SELECT @a",
        b"\x03INSERT INTO fuzz.t VALUES (1, 'x') ON DUPLICATE KEY UPDATE v = CONCAT(v, 'y')",
        b"\x03CREATE TABLE IF NOT EXISTS fuzz.t (id INT PRIMARY KEY, v VARCHAR(20))",
        b"\x16SELECT ? + 1, ?",
        b"\x16SELECT * FROM information_schema.tables WHERE table_name = ?",
        b"\x17\x01\0\0\0\0\x01\0\0\0\0\x01\x08\0\xfd\0\x05\0\0\0\0\0\0\0\x03abc",
        b"\x17\x01\0\0\0\x01\x01\0\0\0\0\x01\x0c\0\x0b\0\x0b\xea\x07\x0b\x15\x01\x02\x03\x04\x05\x06\0",
        b"\x18\x01\0\0\0\0\0long data",
        b"\x19\x01\0\0\0",
        b"\x1a\x01\0\0\0",
        b"\x1c\x01\0\0\0\x0a\0\0\0",
        b"\x02fuzz",
        b"\x04t\0%",
        b"\x09",
        b"\x0e",
        b"\x0a",
        b"\x1f",
        b"\x1b\0\0",
        b"\x11root\0\0fuzz\0\xff\0caching_sha2_password\0\x04\x01a\x01b",
    ];
    prng.pick(packets).to_vec()
}

fn damaged(prng: &mut Prng) -> Vec<u8> {
    let mut packet = genuine(prng);
    let code = packet[0];
    for _ in 0..prng.below(4) {
        let at = prng.below(packet.len() as u64) as usize;
        match prng.below(4) {
            0 => packet[at] = prng.next_u64() as u8,
            1 => packet.truncate(at.max(1)),
            2 => packet.insert(at, prng.next_u64() as u8),
            _ => packet[at] ^= 1 << prng.below(8),
        }
    }
    // it must not end the server or another client on purpose
    if matches!(packet[0], 0x08 | 0x0c) || packet.windows(4).any(|word| word.eq_ignore_ascii_case(b"kill")) {
        packet[0] = code;
    }
    packet
}

fn framed(prng: &mut Prng, sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_le_bytes()[..3].to_vec();
    frame.push(sequence);
    frame.extend_from_slice(payload);
    if prng.one_in(20) {
        let at = prng.below(4) as usize;
        frame[at] = prng.next_u64() as u8;
        frame[2] &= 1;
    }
    frame
}

#[test]
fn damaged_packets_harm_their_sender_only() {
    let server = TestServer::start(&[("max_allowed_packet", "1M"), ("connect_timeout", "2")]);
    let witness = Witness::of(&server);
    assert_eq!(server.connect().query("CREATE DATABASE fuzz"), Answer::Ok(1));
    let mut prng = Prng::new(test_seed(71));
    for _ in 0..150 {
        let mut client = server.connect();
        client.stream.set_read_timeout(Some(Duration::from_millis(3))).unwrap();
        for _ in 0..1 + prng.below(12) {
            let packet = damaged(&mut prng);
            let frame = framed(&mut prng, 0, &packet);
            if client.stream.write_all(&frame).is_err() {
                break;
            }
            // the answer, a part of it, or the end: all is well that is not the server's end
            let _ = client.stream.read(&mut [0; 4096]);
        }
    }
    witness.attest();
    assert_eq!(server.connect().value("SELECT 1"), "1");
}

#[test]
fn damaged_logins_harm_their_sender_only() {
    let server = TestServer::start(&[("connect_timeout", "2")]);
    let witness = Witness::of(&server);
    let mut prng = Prng::new(test_seed(72));
    for _ in 0..300 {
        let mut client = server.connect_raw();
        client.read().unwrap();
        client.stream.set_read_timeout(Some(Duration::from_millis(3))).unwrap();
        // TLS, compression, session tracking and all that is offered, or less
        let capabilities = CAPABILITIES | prng.next_u64() as u32;
        let mut response = capabilities.to_le_bytes().to_vec();
        response.extend_from_slice(b"\0\0\0\x01\xff");
        response.extend_from_slice(&[0; 23]);
        if !prng.one_in(3) {
            response.extend_from_slice(b"root\0\x20");
            response.extend_from_slice(&[7; 32]);
            response.extend_from_slice(b"fuzz\0caching_sha2_password\0\x04\x01a\x01b");
        }
        if prng.one_in(2) {
            let at = prng.below(response.len() as u64) as usize;
            response[at] = prng.next_u64() as u8;
        }
        let frame = framed(&mut prng, 1, &response);
        for _ in 0..3 {
            // the server may have had enough
            let _ = client.stream.write_all(&frame);
            let _ = client.stream.read(&mut [0; 4096]);
        }
    }
    witness.attest();
}

#[test]
fn a_client_that_takes_no_rows_is_cut_off_and_holds_nobody_up() {
    let server = TestServer::start(&[("net_write_timeout", "1")]);
    let witness = Witness::of(&server);
    let mut other = server.connect();
    let mut client = server.connect();
    client.sequence = 0;
    client.write(
        b"\x03SELECT REPEAT('x', 1000000) FROM information_schema.columns a, information_schema.columns b",
    );
    let begun = Instant::now();
    let count = "SELECT COUNT(*) FROM information_schema.processlist WHERE INFO LIKE 'SELECT REPEAT%'";
    while other.value(count) != "0" || begun.elapsed() < Duration::from_millis(100) {
        assert!(begun.elapsed() < PATIENCE, "it was not cut off");
        std::thread::sleep(Duration::from_millis(20));
    }
    witness.attest();
}

#[test]
fn half_open_connections_are_cut_off() {
    let server =
        TestServer::start(&[("connect_timeout", "2"), ("net_read_timeout", "1"), ("wait_timeout", "2")]);
    let witness = Witness::of(&server);
    let silent: Vec<Client> = (0..50).map(|_| server.connect_raw()).collect();
    let half: Vec<Client> = (0..50)
        .map(|_| {
            let mut client = server.connect();
            client.stream.write_all(b"\xff\0\0\0\x03SELECT").unwrap();
            client
        })
        .collect();
    for mut client in silent {
        assert_eq!(client.read().unwrap()[0], 10);
        assert_eq!(client.read(), None);
    }
    for mut client in half {
        client.sequence = 0;
        let goodbye = client.read();
        assert!(goodbye.is_none_or(|packet| packet[0] == 0xff));
    }
    witness.attest();
}

#[test]
fn statements_of_monstrous_size_and_depth_are_answered() {
    let server = TestServer::start(&[]);
    let witness = Witness::of(&server);
    let mut client = server.connect();
    let long = "x".repeat(16 << 20);
    assert_eq!(client.value(&format!("SELECT LENGTH('{long}')")), (16 << 20).to_string());
    let deep = |open: &str, close: &str| format!("SELECT {}1{}", open.repeat(10_000), close.repeat(10_000));
    for (open, close) in [
        ("(", ")"),
        ("NOT ", ""),
        ("- ", ""),
        ("(SELECT ", ")"),
        ("CASE WHEN 1 THEN ", " END"),
        ("ABS(", ")"),
    ] {
        match client.query(&deep(open, close)) {
            Answer::Error(1064 | 1436, _) | Answer::Rows(_) => {}
            other => panic!("{open}: {other:?}"),
        }
    }
    assert!(matches!(client.query("SELECT '\u{fffd}' FROM \0"), Answer::Error(1064, _)));
    let mut invalid = b"\x03SELECT 'a\xff\xfe\x80', \x80".to_vec();
    assert_eq!(client.command(&invalid).map(|answer| answer[0]), Some(0xff));
    invalid.truncate(13);
    invalid.push(b'\'');
    assert!(client.command(&invalid).is_some());
    witness.attest();
}

/// The parser takes an expression of some height: then all that comes behind it must have the stack for it.
#[test]
fn the_deepest_statements_that_are_read_are_answered() {
    let server = TestServer::start(&[]);
    let witness = Witness::of(&server);
    let mut client = server.connect();
    for (open, close) in [
        ("(", ")"),
        ("- ", ""),
        ("NOT ", ""),
        ("(SELECT ", ")"),
        ("(SELECT a FROM (SELECT ", " AS a) AS x)"),
        ("ABS(", ")"),
        ("JSON_ARRAY(", ")"),
        ("CONCAT('a', ", ")"),
        ("CAST(", " AS CHAR)"),
        ("CASE WHEN 1 THEN ", " END"),
        ("IF(1, ", ", 2)"),
        ("1 IN (2, ", ")"),
        ("1 = (", ")"),
        ("1 BETWEEN 1 AND ", ""),
        ("@a := ", ""),
        ("COALESCE(NULL, ", ")"),
        ("DATE_ADD(NOW(), INTERVAL ", " DAY)"),
        ("", " + 1"),
        ("", " COLLATE utf8mb4_bin"),
    ] {
        let text = |depth: usize| format!("SELECT {}1{}", open.repeat(depth), close.repeat(depth));
        let deepest = (1..400).rev().find(|depth| {
            let text = text(*depth);
            palisade_parser::parse(text.as_bytes(), palisade_parser::ParseOptions::default()).is_ok()
        });
        let deepest = deepest.expect("one of them is read");
        for text in [text(deepest), format!("{} FROM witness.t GROUP BY 1 ORDER BY 1", text(deepest))] {
            match client.query(&text) {
                Answer::Error(..) | Answer::Rows(_) => {}
                other => panic!("{open}{close} {deepest}: {other:?}"),
            }
        }
    }
    witness.attest();
}

#[test]
fn patterns_of_column_names_that_never_end_are_answered() {
    let server = TestServer::start(&[]);
    let witness = Witness::of(&server);
    let mut client = server.connect();
    assert_eq!(client.command(b"\x02witness").map(|answer| answer[0]), Some(0));
    let of_any = "%".repeat(16 << 20);
    let of_none = format!("{}x", "%i_%".repeat(1000));
    for (pattern, matches) in
        [("", true), ("%", true), ("_D", true), ("i%d", true), ("\\_d", false), ("d%", false)]
            .into_iter()
            .chain([(of_any.as_str(), true), (of_none.as_str(), false)])
    {
        let answer = client.command(format!("\x04t\0{pattern}").as_bytes()).expect("an answer");
        let shown = &pattern[..pattern.len().min(20)];
        match matches {
            true => assert!(answer.windows(2).any(|name| name == b"id"), "{shown}"),
            false => assert_eq!(answer[0], 0xfe, "{shown}"),
        }
        if matches {
            assert_eq!(client.read().expect("the end")[0], 0xfe, "{shown}");
        }
    }
    witness.attest();
}

#[test]
fn what_was_sent_to_a_client_that_is_cut_off_is_not_sent_again() {
    const ROW: usize = 1_000_000;
    let server = TestServer::start(&[("net_write_timeout", "1")]);
    let mut client = server.connect();
    client.send(&format!("SELECT REPEAT('x', {ROW}) FROM information_schema.columns LIMIT 60"));
    // Long enough for the limit. Were the connection not given up then, a second attempt would still wait for the client; were the
    // server slower than that, it would send all rows.
    std::thread::sleep(Duration::from_millis(1500));
    let mut sent = Vec::new();
    // the end may be a reset
    let _ = client.stream.read_to_end(&mut sent);
    let mut rest = &sent[..];
    let (mut sequence, mut rows) = (0u8, 0);
    while let Some((header, payload)) = rest.split_at_checked(4) {
        sequence = sequence.wrapping_add(1);
        assert_eq!(header[3], sequence, "after {rows} rows");
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        let (payload, after) = payload.split_at(length.min(payload.len()));
        if length > ROW {
            // behind the text's length
            assert!(payload.iter().skip(4).all(|byte| *byte == b'x'), "row {rows}");
            rows += 1;
        }
        rest = after;
    }
    assert!(rows > 0, "{} bytes", sent.len());
}
