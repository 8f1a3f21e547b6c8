//! Coming in: the greeting, the client's response, and the exchange that proves who it is.
//!
//! ```text
//! server                                client
//!   greeting (scramble, plugin)  ──▶
//!                                ◀──   [SSL request, and TLS from here on]
//!                                ◀──   response (user, plugin, proof, database)
//!   auth switch (other plugin)   ──▶          where the account's plugin is another one than the client used
//!                                ◀──   proof
//!   more data                    ──▶          caching_sha2_password: "right", or "send the password"
//!                                ◀──   [public key request ... key], the password, safely
//!   OK, or ERR 1045              ──▶
//! ```
//!
//! What a proof is worth is the server's business, as are accounts.

use palisade_base::codec::Reader;

use crate::Malformed;
use crate::constants::{Capabilities, Status};
use crate::wire::{ReadWire, put_nul_terminated};

/// The plugin that the server proposes.
pub const CACHING_SHA2_PASSWORD: &str = "caching_sha2_password";
/// The plugin of old clients.
pub const MYSQL_NATIVE_PASSWORD: &str = "mysql_native_password";

/// Bytes that a proof of a password is computed with; fresh for every connection, without zero bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scramble([u8; 20]);

impl Scramble {
    /// The bytes that a proof is computed with.
    pub fn bytes(&self) -> &[u8; 20] {
        &self.0
    }

    /// A scramble from random bytes.
    pub fn from_random(bytes: [u8; 20]) -> Self {
        Scramble(bytes.map(|byte| byte % 94 + 33))
    }
}

/// What the server says first.
#[derive(Debug, Clone)]
pub struct Greeting<'a> {
    /// As clients parse it: `8.4.0-...`.
    pub server_version: &'a str,
    /// The connection's number.
    pub connection_id: u32,
    /// For the proof.
    pub scramble: Scramble,
    /// What the server can do.
    pub capabilities: Capabilities,
    /// Collation of the server, by number.
    pub collation: u8,
    /// The session's status.
    pub status: Status,
}

impl Greeting<'_> {
    /// Appends the packet's payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(10);
        put_nul_terminated(out, self.server_version.as_bytes());
        out.extend_from_slice(&self.connection_id.to_le_bytes());
        out.extend_from_slice(&self.scramble.0[..8]);
        out.push(0);
        let capabilities = self.capabilities.0.to_le_bytes();
        out.extend_from_slice(&capabilities[..2]);
        out.push(self.collation);
        out.extend_from_slice(&self.status.0.to_le_bytes());
        out.extend_from_slice(&capabilities[2..]);
        out.push(21);
        out.extend_from_slice(&[0; 10]);
        put_nul_terminated(out, &self.scramble.0[8..]);
        put_nul_terminated(out, CACHING_SHA2_PASSWORD.as_bytes());
    }
}

/// What a client answers to the greeting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandshakeResponse<'a> {
    /// What the client can do and the server offered.
    pub capabilities: Capabilities,
    /// The client's collation, by number.
    pub collation: u8,
    /// User name.
    pub user: &'a [u8],
    /// Proof of the password.
    pub proof: &'a [u8],
    /// The database to begin in.
    pub database: Option<&'a [u8]>,
    /// The plugin that made the proof; `None` is the one of old clients.
    pub plugin: Option<&'a [u8]>,
    /// Connection attributes, still encoded.
    pub attributes: &'a [u8],
    /// At which level the client wants Zstandard; 0 if it does not say.
    pub zstd_level: u8,
}

impl<'a> HandshakeResponse<'a> {
    /// Parses a packet's payload, from a client that was offered `offered`. Only protocol 4.1 is spoken here; anything
    /// older is malformed.
    pub fn parse(packet: &'a [u8], offered: Capabilities) -> Result<Self, Malformed> {
        let mut reader = Reader::new(packet);
        let asked = Capabilities(reader.u32()?);
        if !asked.has(Capabilities::PROTOCOL_41) {
            return Err(Malformed);
        }
        let capabilities = asked & offered;
        let _max_packet = reader.u32()?;
        let collation = reader.u8()?;
        reader.bytes(23)?;
        let user = reader.nul_terminated()?;
        let proof = if capabilities.has(Capabilities::PLUGIN_AUTH_LENENC_CLIENT_DATA) {
            reader.lenenc_bytes()?
        } else if capabilities.has(Capabilities::SECURE_CONNECTION) {
            let count = reader.u8()?;
            reader.bytes(usize::from(count))?
        } else {
            reader.nul_terminated_or_rest()
        };
        let database =
            capabilities.has(Capabilities::CONNECT_WITH_DB).then(|| reader.nul_terminated_or_rest());
        let plugin = (capabilities.has(Capabilities::PLUGIN_AUTH) && !reader.is_empty())
            .then(|| reader.nul_terminated_or_rest());
        let attributes = attributes(capabilities, &mut reader)?;
        let says_level = capabilities.has(Capabilities::ZSTD_COMPRESSION_ALGORITHM) && !reader.is_empty();
        let zstd_level = if says_level { reader.u8()? } else { 0 };
        let database = database.filter(|name| !name.is_empty());
        Ok(HandshakeResponse {
            capabilities,
            collation,
            user,
            proof,
            database,
            plugin,
            attributes,
            zstd_level,
        })
    }
}

fn attributes<'a>(capabilities: Capabilities, reader: &mut Reader<'a>) -> Result<&'a [u8], Malformed> {
    if capabilities.has(Capabilities::CONNECT_ATTRS) && !reader.is_empty() {
        reader.lenenc_bytes()
    } else {
        Ok(&[])
    }
}

/// Connection attributes (`_client_name`, `program_name`, ...) as pairs; ends at the first that cannot be read.
pub fn attribute_pairs(encoded: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut reader = Reader::new(encoded);
    std::iter::from_fn(move || Some((reader.lenenc_bytes().ok()?, reader.lenenc_bytes().ok()?)))
}

/// COM_CHANGE_USER: a login on a connection that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeUser<'a> {
    /// User name.
    pub user: &'a [u8],
    /// Proof of the password.
    pub proof: &'a [u8],
    /// The database to begin in.
    pub database: Option<&'a [u8]>,
    /// The client's collation, by number.
    pub collation: Option<u16>,
    /// The plugin that made the proof.
    pub plugin: Option<&'a [u8]>,
    /// Connection attributes, still encoded.
    pub attributes: &'a [u8],
}

impl<'a> ChangeUser<'a> {
    /// Parses what follows the command byte, from a client of these capabilities.
    pub fn parse(body: &'a [u8], capabilities: Capabilities) -> Result<Self, Malformed> {
        let mut reader = Reader::new(body);
        let user = reader.nul_terminated()?;
        let proof = if capabilities.has(Capabilities::SECURE_CONNECTION) {
            let count = reader.u8()?;
            reader.bytes(usize::from(count))?
        } else {
            reader.nul_terminated()?
        };
        let database = Some(reader.nul_terminated_or_rest()).filter(|name| !name.is_empty());
        let collation = if reader.is_empty() { None } else { Some(reader.u16()?) };
        let plugin = (capabilities.has(Capabilities::PLUGIN_AUTH) && !reader.is_empty())
            .then(|| reader.nul_terminated_or_rest());
        let attributes = attributes(capabilities, &mut reader)?;
        Ok(ChangeUser { user, proof, database, collation, plugin, attributes })
    }
}

/// Whether a proof says that there is no password: `caching_sha2_password` clients send one zero byte for that,
/// `mysql_native_password` clients nothing.
pub fn says_no_password(proof: &[u8]) -> bool {
    matches!(proof, [] | [0])
}

/// Further steps of `caching_sha2_password`.
pub mod caching_sha2 {
    /// The client asks for the server's RSA key.
    pub const REQUEST_PUBLIC_KEY: u8 = 2;
    /// The server knows the proof to be right; OK follows.
    pub const FAST_AUTH_SUCCESS: u8 = 3;
    /// The server needs the password itself.
    pub const PERFORM_FULL_AUTHENTICATION: u8 = 4;
}

/// More data of an authentication plugin, for the client.
pub fn encode_auth_more_data(out: &mut Vec<u8>, data: &[u8]) {
    out.push(1);
    out.extend_from_slice(data);
}

/// Whether a first packet asks for TLS before the response proper.
pub fn asks_for_tls(packet: &[u8], offered: Capabilities) -> bool {
    /// Capabilities, packet length, collation, reserved.
    const SSL_REQUEST: usize = 32;
    let capabilities = packet.first_chunk().map(|bytes| Capabilities(u32::from_le_bytes(*bytes)));
    packet.len() == SSL_REQUEST
        && offered.has(Capabilities::SSL)
        && capabilities.is_some_and(|asked| asked.has(Capabilities::PROTOCOL_41 | Capabilities::SSL))
}

/// Asks the client for a proof by `plugin`.
pub fn encode_auth_switch(out: &mut Vec<u8>, plugin: &str, scramble: Scramble) {
    out.push(0xfe);
    put_nul_terminated(out, plugin.as_bytes());
    put_nul_terminated(out, &scramble.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_base::prng::{Prng, test_seed};

    fn response(capabilities: u32) -> Vec<u8> {
        let mut out = capabilities.to_le_bytes().to_vec();
        out.extend_from_slice(&(1u32 << 24).to_le_bytes());
        out.push(45);
        out.extend_from_slice(&[0; 23]);
        out.extend_from_slice(b"root\0");
        out
    }

    #[test]
    fn the_greeting_is_handshake_version_10() {
        let mut out = Vec::new();
        Greeting {
            server_version: "8.4.0-palisade",
            connection_id: 7,
            scramble: Scramble(*b"abcdefghijklmnopqrst"),
            capabilities: Capabilities::OFFERED,
            collation: 255,
            status: Status::AUTOCOMMIT,
        }
        .encode(&mut out);
        let mut golden = b"\x0a8.4.0-palisade\0\x07\0\0\0abcdefgh\0".to_vec();
        golden.extend_from_slice(&[0xcf, 0xf7, 0xff, 2, 0, 0xbf, 0x01, 21, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        golden.extend_from_slice(b"ijklmnopqrst\0caching_sha2_password\0");
        assert_eq!(out, golden);
    }

    #[test]
    fn a_modern_response_is_read() {
        let capabilities = Capabilities::OFFERED.0;
        let mut packet = response(capabilities);
        packet.extend_from_slice(b"\x03abcsbtest\0mysql_native_password\0\x07\x01k\x04some");
        let parsed = HandshakeResponse::parse(&packet, Capabilities::OFFERED).unwrap();
        assert_eq!((parsed.user, parsed.proof, parsed.collation), (&b"root"[..], &b"abc"[..], 45));
        assert_eq!(
            (parsed.database, parsed.plugin),
            (Some(&b"sbtest"[..]), Some(&b"mysql_native_password"[..]))
        );
        assert_eq!(attribute_pairs(parsed.attributes).collect::<Vec<_>>(), [(&b"k"[..], &b"some"[..])]);
    }

    #[test]
    fn the_level_of_zstandard_stands_at_the_end() {
        let offered = Capabilities::OFFERED | Capabilities::ZSTD_COMPRESSION_ALGORITHM;
        let mut packet = response(offered.0);
        packet.extend_from_slice(b"\0sbtest\0caching_sha2_password\0\x07\x01k\x04some\x13");
        assert_eq!(HandshakeResponse::parse(&packet, offered).unwrap().zstd_level, 19);
        assert_eq!(HandshakeResponse::parse(&packet, Capabilities::OFFERED).unwrap().zstd_level, 0);
        packet.pop();
        assert_eq!(HandshakeResponse::parse(&packet, offered).unwrap().zstd_level, 0);
    }

    #[test]
    fn an_old_response_is_read() {
        let mut packet = response((Capabilities::PROTOCOL_41 | Capabilities::SECURE_CONNECTION).0);
        packet.push(0);
        let parsed = HandshakeResponse::parse(&packet, Capabilities::OFFERED).unwrap();
        assert_eq!((parsed.proof, parsed.database, parsed.plugin), (&b""[..], None, None));
        assert_eq!(HandshakeResponse::parse(&response(0), Capabilities::OFFERED), Err(Malformed));
    }

    #[test]
    fn capabilities_that_were_not_offered_do_not_count() {
        let mut packet = response(!Capabilities::CONNECT_ATTRS.0);
        packet.extend_from_slice(b"\0\0caching_sha2_password\0");
        let parsed = HandshakeResponse::parse(&packet, Capabilities::OFFERED).unwrap();
        assert!(!parsed.capabilities.has(Capabilities::SSL));
        assert_eq!(parsed.database, None);
    }

    #[test]
    fn every_truncation_is_an_error_or_reads_less() {
        let mut packet = response(Capabilities::OFFERED.0);
        packet.extend_from_slice(b"\x03abcsbtest\0mysql_native_password\0\x07\x01k\x04some");
        for length in 0..packet.len() {
            let _ = HandshakeResponse::parse(&packet[..length], Capabilities::OFFERED);
        }
        assert_eq!(HandshakeResponse::parse(&packet[..36], Capabilities::OFFERED), Err(Malformed));
        let mut prng = Prng::new(test_seed(3));
        for _ in 0..20_000 {
            let mut bytes = vec![0; prng.below(120) as usize];
            prng.fill(&mut bytes);
            if prng.one_in(2) && bytes.len() > 4 {
                bytes[1] |= 2;
            }
            let _ = HandshakeResponse::parse(&bytes, Capabilities(prng.next_u64() as u32));
            let _ = asks_for_tls(&bytes, Capabilities(u32::MAX));
            let _ = ChangeUser::parse(&bytes, Capabilities(prng.next_u64() as u32));
            let _ = attribute_pairs(&bytes).count();
        }
    }

    #[test]
    fn a_request_for_tls_is_told_from_a_response() {
        let with_tls = Capabilities::OFFERED | Capabilities::SSL;
        let request = &response(with_tls.0)[..32];
        assert!(asks_for_tls(request, with_tls));
        assert!(!asks_for_tls(request, Capabilities::OFFERED), "it was not offered");
        assert!(!asks_for_tls(&response(with_tls.0), with_tls), "it has a user");
        assert!(!asks_for_tls(&response(Capabilities::OFFERED.0)[..32], with_tls));
    }

    #[test]
    fn a_change_of_user_is_read() {
        let body = b"root\0\0test\0\x2d\0mysql_native_password\0";
        let parsed = ChangeUser::parse(body, Capabilities::OFFERED).unwrap();
        assert_eq!(
            (parsed.user, parsed.proof, parsed.database),
            (&b"root"[..], &b""[..], Some(&b"test"[..]))
        );
        assert_eq!((parsed.collation, parsed.plugin), (Some(45), Some(&b"mysql_native_password"[..])));
    }
}
