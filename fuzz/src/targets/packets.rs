//! What clients send: commands, logins, parameters, frames, and frames that are compressed.

use palisade_protocol::command::Command;
use palisade_protocol::compression::{Algorithm, Compressor};
use palisade_protocol::handshake::{ChangeUser, HandshakeResponse, asks_for_tls, attribute_pairs};
use palisade_protocol::parameters::{ParameterTypes, decode_parameters};
use palisade_protocol::{Capabilities, Input};

use super::choice;
use crate::Target;

pub(crate) const TARGET: Target = Target {
    name: "packets",
    seeds,
    words: &["caching_sha2_password\0", "mysql_native_password\0"],
    longest: 4096,
    run,
};

/// The most that a packet may have, for frames.
const LIMIT: usize = 1 << 16;

fn seeds() -> Vec<Vec<u8>> {
    let login = [
        &0x01ff_a78d_u32.to_le_bytes()[..],
        b"\0\0\0\x01\xff",
        &[0; 23],
        b"root\0\x20",
        &[7; 32],
        b"test\0caching_sha2_password\0\x04\x01a\x01b\x03",
    ]
    .concat();
    let change = [&b"root\0\x04abcd"[..], b"test\0\xff\0caching_sha2_password\0\x04\x01a\x01b"].concat();
    let commands: [&[u8]; 12] = [
        b"\x03SELECT 1",
        b"\x16SELECT ? + 1, ?",
        b"\x17\x01\0\0\0\0\x01\0\0\0\0\x01\x08\0\xfd\0\x05\0\0\0\0\0\0\0\x03abc",
        b"\x18\x01\0\0\0\0\0long data",
        b"\x19\x01\0\0\0",
        b"\x1c\x01\0\0\0\x0a\0\0\0",
        b"\x02test",
        b"\x04t\0%",
        b"\x0e",
        b"\x1b\0\0",
        b"\x0c\x05\0\0\0",
        b"\x11root\0\0test\0\xff\0caching_sha2_password\0\x04\x01a\x01b",
    ];
    let mut seeds: Vec<Vec<u8>> = commands.iter().map(|command| [b"\0", *command].concat()).collect();
    seeds.push([b"\x01", &login[..]].concat());
    seeds.push([b"\x02", &change[..]].concat());
    // null bitmap, new types, two values; all kinds of values
    seeds.push(b"\x03\x02\0\x01\x08\0\xfd\0\x05\0\0\0\0\0\0\0\x03abc".to_vec());
    seeds.push(b"\x03\x03\0\x01\x0c\0\x0b\0\x05\0\x0b\xea\x07\x0b\x15\x01\x02\x03\x04\x05\x06\0\x08\x01\x02\0\0\0\x03\x04\x05\0\0\0\0\0\0\xf0\x3f".to_vec());
    seeds.push(b"\x03\x02\0\x01\xf6\0\x01\x80\x051.234\xff".to_vec());
    seeds.push(b"\x04\x09\0\0\0\x03SELECT 1\x01\0\0\0\x0e".to_vec());
    for (number, algorithm) in [(5, Algorithm::Zlib), (6, Algorithm::Zstd { level: 3 })] {
        let mut compressed = Compressor::new(algorithm).expect("there is memory");
        let mut out = vec![number];
        let mut plain = &[b"\x80\0\0\0\x03SELECT '", &[b'x'; 120][..]].concat()[..];
        while !plain.is_empty() {
            plain = compressed.deflate(plain, &mut out);
        }
        seeds.push(out);
    }
    seeds
}

fn run(input: &[u8]) {
    let Some((kind, bytes)) = choice(input) else { return };
    match kind % 7 {
        0 => {
            if let Ok(command) = Command::parse(bytes) {
                assert!(!command.name().is_empty());
            }
        }
        1 => {
            let offered = Capabilities(u32::MAX);
            let _ = asks_for_tls(bytes, offered);
            if let Ok(response) = HandshakeResponse::parse(bytes, offered) {
                assert!(attribute_pairs(response.attributes).count() <= bytes.len());
            }
        }
        2 => {
            let _ = ChangeUser::parse(bytes, Capabilities(u32::MAX));
        }
        3 => parameters(bytes),
        4 => frames(bytes),
        5 => inflate(Algorithm::Zlib, bytes),
        _ => inflate(Algorithm::Zstd { level: 1 }, bytes),
    }
}

/// The same body twice: types stay, and without new ones the values are the same.
fn parameters(bytes: &[u8]) {
    let Some((count, body)) = choice(bytes) else { return };
    let count = usize::from(count % 40);
    let (mut types, mut values) = (ParameterTypes::new(), Vec::new());
    if decode_parameters(body, count, &mut types, |_| None, &mut values).is_ok() {
        assert_eq!(values.len(), count);
        assert!(count == 0 || types.len() == count);
        let long = |position| (position % 2 == 0).then(|| vec![1]);
        let _ = decode_parameters(body, count, &mut types, long, &mut values);
    }
}

fn frames(bytes: &[u8]) {
    let mut whole = Input::default();
    whole.buffer().extend_from_slice(bytes);
    let mut pieces = Input::default();
    let mut rest = bytes.iter();
    loop {
        // What arrives at once and what arrives byte by byte are the same packets.
        let expected = whole.packet(LIMIT).map(|packet| packet.map(<[u8]>::to_vec));
        let found = loop {
            match pieces.packet(LIMIT).map(|packet| packet.map(<[u8]>::to_vec)) {
                Ok(None) => match rest.next() {
                    Some(byte) => pieces.buffer().push(*byte),
                    None => break Ok(None),
                },
                other => break other,
            }
        };
        assert_eq!(expected, found);
        if !matches!(expected, Ok(Some(_))) {
            return;
        }
        whole.begin_command();
        pieces.begin_command();
    }
}

fn inflate(algorithm: Algorithm, bytes: &[u8]) {
    let Ok(mut compressor) = Compressor::new(algorithm) else { return };
    compressor.received().extend_from_slice(bytes);
    let mut plain = Vec::new();
    loop {
        let before = plain.len();
        if compressor.inflate(&mut plain).is_err() || plain.len() == before {
            return;
        }
        plain.truncate(1 << 20);
    }
}
