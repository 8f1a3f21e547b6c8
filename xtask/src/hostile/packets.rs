//! Packets of every command, and the login, mutated: in their bytes, their fields, their lengths, their
//! sequence numbers, and the compressed frames around them.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use palisade_base::prng::Prng;

/// How long a connection is read from before it is given up.
const PATIENCE: Duration = Duration::from_millis(300);
/// LONG_PASSWORD, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, MULTI_STATEMENTS, PLUGIN_AUTH, DEPRECATE_EOF.
const CAPABILITIES: u32 = 0x1 | 0x200 | 0x2000 | 0x8000 | 0x1_0000 | 0x8_0000 | 0x100_0000;
const COMPRESS: u32 = 0x20;
/// Commands that end the server or another session: not what is tested.
const LEFT_OUT: [u8; 2] = [0x08, 0x0c];

/// Sends so many packets, on as many connections as it takes; gives what was sent, and how many packets came
/// back.
pub fn send(prng: &mut Prng, port: u16, count: u64) -> (Vec<Vec<u8>>, u64) {
    let (mut all, mut answers) = (Vec::new(), 0);
    while (all.len() as u64) < count {
        let sent = match prng.below(4) {
            0 => before_login(prng, port),
            1 => after_login(prng, port, true),
            _ => after_login(prng, port, false),
        };
        // the server may refuse a connection for a moment
        match sent {
            Some((sent, answered)) => {
                all.extend(sent);
                answers += answered;
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
    (all, answers)
}

fn connect(port: u16) -> Option<TcpStream> {
    let stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    Some(stream)
}

/// A greeting answered wrongly, and what would follow a login.
fn before_login(prng: &mut Prng, port: u16) -> Option<(Vec<Vec<u8>>, u64)> {
    let mut stream = connect(port)?;
    let _ = stream.read(&mut [0; 512]);
    let capabilities = match prng.below(3) {
        0 => CAPABILITIES,
        1 => CAPABILITIES | prng.next_u64() as u32,
        _ => prng.next_u64() as u32,
    };
    let mut login = login(capabilities);
    mutate(prng, &mut login);
    let mut frames = vec![frame(prng, 1, &login)];
    for sequence in 3..3 + prng.below(3) as u8 {
        let mut packet = genuine(prng);
        mutate(prng, &mut packet);
        frames.push(frame(prng, sequence, &packet));
    }
    let answers = exchange(stream, &frames);
    Some((frames, answers))
}

/// A login as it should be, and mutated packets behind it.
fn after_login(prng: &mut Prng, port: u16, compressed: bool) -> Option<(Vec<Vec<u8>>, u64)> {
    let mut stream = connect(port)?;
    let _ = stream.read(&mut [0; 512]);
    let capabilities = CAPABILITIES | if compressed { COMPRESS } else { 0 };
    stream.write_all(&right_frame(1, &login(capabilities))).ok()?;
    let _ = stream.read(&mut [0; 512]);
    let mut frames = Vec::new();
    for _ in 0..1 + prng.below(30) {
        let mut packet = genuine(prng);
        if !prng.one_in(3) {
            mutate(prng, &mut packet);
        }
        if packet.first().is_some_and(|code| LEFT_OUT.contains(code)) {
            packet[0] = 0x03;
        }
        let framed = frame(prng, 0, &packet);
        frames.push(if compressed { compressed_frame(prng, &framed) } else { framed });
    }
    let answers = exchange(stream, &frames);
    Some((frames, answers))
}

/// Sends all of it, then reads until the server has had enough or says no more; gives how many packets or
/// compressed frames came back.
fn exchange(mut stream: TcpStream, frames: &[Vec<u8>]) -> u64 {
    for frame in frames {
        // the server may have hung up
        if stream.write_all(frame).is_err() {
            return 0;
        }
    }
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    // what has come before the end or the wait's end is kept
    let _ = stream.take(1 << 24).read_to_end(&mut answer);
    let (mut count, mut rest) = (0, &answer[..]);
    while let Some(&[low, middle, high, _]) = rest.first_chunk::<4>() {
        count += 1;
        let length = u32::from_le_bytes([low, middle, high, 0]) as usize;
        rest = rest.get(4 + length..).unwrap_or_default();
    }
    count
}

fn login(capabilities: u32) -> Vec<u8> {
    let mut login = capabilities.to_le_bytes().to_vec();
    login.extend_from_slice(b"\0\0\x10\0\xff");
    login.extend_from_slice(&[0; 23]);
    login.extend_from_slice(b"hostile\0\0");
    if capabilities & 0x8 != 0 {
        login.extend_from_slice(b"hostile\0");
    }
    login.extend_from_slice(b"caching_sha2_password\0");
    if capabilities & 0x10_0000 != 0 {
        login.extend_from_slice(b"\x08\x01a\x01b\x01c\x01d");
    }
    login
}

/// Packets that clients send.
fn genuine(prng: &mut Prng) -> Vec<u8> {
    const PACKETS: &[&[u8]] = &[
        b"\x03SELECT 1, 'a', NULL FROM hostile.t WHERE id > 5 ORDER BY id LIMIT 3",
        b"\x03SET @a = 1; SELECT @a; DO 1",
        b"\x03INSERT INTO hostile.t (id, v) VALUES (1, 'x') ON DUPLICATE KEY UPDATE v = CONCAT(v, 'y')",
        b"\x03SELECT * FROM hostile.t AS a JOIN hostile.t AS b USING (id)",
        b"\x16SELECT ? + 1, ?",
        b"\x16SELECT * FROM hostile.t WHERE id = ? AND v LIKE ? OR d > ? LIMIT ?",
        b"\x16INSERT INTO hostile.t VALUES (?, ?, ?, ?)",
        b"\x16SELECT * FROM information_schema.tables WHERE table_name = ?",
        b"\x18\x01\0\0\0\0\0long data",
        b"\x18\x01\0\0\0\x01\0",
        b"\x19\x01\0\0\0",
        b"\x1a\x01\0\0\0",
        b"\x1c\x01\0\0\0\x0a\0\0\0",
        b"\x02hostile",
        b"\x04t\0%",
        b"\x09",
        b"\x0e",
        b"\x0a",
        b"\x0d",
        b"\x07\x01",
        b"\x1f",
        b"\x1b\0\0",
        b"\x1d",
        b"\x12\x01\0\0\0\0\0\0\0\0\0a",
        b"\x1e\0\0\0\0\0\0",
        b"\x11hostile\0\0hostile\0\xff\0caching_sha2_password\0\x04\x01a\x01b",
    ];
    match prng.below(3) {
        0 => execution(prng),
        _ => prng.pick(PACKETS).to_vec(),
    }
}

/// An execution of a prepared statement: of one that there may be, with types and values that may not go
/// together.
fn execution(prng: &mut Prng) -> Vec<u8> {
    const TYPES: &[u8] = &[
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 18, 19, 242, 245, 246, 247, 248, 249, 250,
        251, 252, 253, 254, 255,
    ];
    let mut packet = vec![0x17, 1 + prng.below(4) as u8, 0, 0, 0, *prng.pick(&[0, 1, 2, 4, 255]), 1, 0, 0, 0];
    let count = 1 + prng.below(4);
    packet.push(if prng.one_in(2) { 0 } else { prng.next_u64() as u8 });
    packet.push(u8::from(!prng.one_in(5)));
    for _ in 0..count {
        packet.push(*prng.pick(TYPES));
        packet.push(*prng.pick(&[0, 0x80, 0xff]));
    }
    for _ in 0..count {
        value(prng, &mut packet);
    }
    packet
}

fn value(prng: &mut Prng, packet: &mut Vec<u8>) {
    const VALUES: &[&[u8]] = &[
        b"\x01\0\0\0\0\0\0\0",
        b"\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\0\0\0\0\0\0\xf8\x7f",
        b"\x03abc",
        b"\x00",
        b"\xfb",
        b"\xff",
        b"\xfc\xff\xff",
        b"\xfd\xff\xff\xff",
        b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x0b\xe8\x07\x02\x1d\x01\x02\x03\x04\x05\x06\0",
        b"\x0b\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x04\0\0\0\0",
        b"\x07\xe8\x07\x0d\x20\x19\x3d\x3d",
        b"\x0c\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x08\0\0\0\0\0\x0c\x22\x38",
        b"\x0299",
        b"\x4099999999999999999999999999999999999999999999999999999999999999999",
        b"\x05[1,2]",
        b"\x02\xff\xfe",
    ];
    match prng.below(6) {
        0 => {
            let mut bytes = vec![0; prng.below(20) as usize];
            prng.fill(&mut bytes);
            packet.extend_from_slice(&bytes);
        }
        _ => packet.extend_from_slice(prng.pick::<&[u8]>(VALUES)),
    }
}

/// Changes a few places of a packet.
fn mutate(prng: &mut Prng, packet: &mut Vec<u8>) {
    for _ in 0..1 + prng.below(4) {
        let at = prng.below(packet.len() as u64 + 1) as usize;
        match prng.below(8) {
            0 => packet.truncate(at),
            1 => packet.insert(at, prng.next_u64() as u8),
            2 => {
                let number: [u8; 9] =
                    *prng.pick(&[[0xfe, 255, 255, 255, 255, 255, 255, 255, 0x7f], [0xff; 9], [0; 9]]);
                drop(packet.splice(at..at, number));
            }
            3 => {
                let tail = packet[at..].to_vec();
                packet.extend_from_slice(&tail);
            }
            4 => packet.extend(std::iter::repeat_n(prng.next_u64() as u8, prng.below(3000) as usize)),
            5 => drop(packet.drain(..at.min(3))),
            _ if at < packet.len() => packet[at] = prng.next_u64() as u8,
            _ => {}
        }
    }
}

fn right_frame(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_le_bytes()[..3].to_vec();
    frame.push(sequence);
    frame.extend_from_slice(payload);
    frame
}

/// A packet in its frame, which is wrong now and then: its length or its number.
fn frame(prng: &mut Prng, sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = right_frame(sequence, payload);
    match prng.below(60) {
        0 => frame[0] = prng.next_u64() as u8,
        1 => frame[1] = prng.next_u64() as u8,
        2 => frame[3] = prng.next_u64() as u8,
        3 => frame[..3].fill(0xff),
        4 => frame[..3].fill(0),
        _ => {}
    }
    frame
}

/// A piece of the stream in a compressed frame: plain, as zlib has it, or as it must not be.
fn compressed_frame(prng: &mut Prng, bytes: &[u8]) -> Vec<u8> {
    let (mut payload, mut plain) = match prng.below(3) {
        0 => (bytes.to_vec(), 0),
        _ => (stored(bytes), bytes.len() as u32),
    };
    match prng.below(12) {
        0 => mutate(prng, &mut payload),
        1 => plain = prng.next_u64() as u32,
        2 => plain = 0xff_ffff,
        _ => {}
    }
    let mut frame = (payload.len() as u32).to_le_bytes()[..3].to_vec();
    frame.push(if prng.one_in(30) { prng.next_u64() as u8 } else { 0 });
    frame.extend_from_slice(&plain.to_le_bytes()[..3]);
    frame.extend_from_slice(&payload);
    if prng.one_in(40) {
        frame[prng.below(3) as usize] = prng.next_u64() as u8;
    }
    frame
}

/// zlib's format of these bytes, in one block that is not compressed.
fn stored(bytes: &[u8]) -> Vec<u8> {
    const MODULUS: u32 = 65_521;
    let length = bytes.len() as u16;
    let mut out = vec![0x78, 0x01, 0x01];
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&(!length).to_le_bytes());
    out.extend_from_slice(bytes);
    let (low, high) = bytes.iter().fold((1u32, 0u32), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % MODULUS;
        (low, (high + low) % MODULUS)
    });
    out.extend_from_slice(&(high << 16 | low).to_be_bytes());
    out
}
