//! MySQL packets: bytes in, bytes out.
//!
//! | module | what it holds |
//! |---|---|
//! | [`constants`] | capabilities, status flags, commands |
//! | [`frame`] | [`Input`] cuts received bytes into packets, [`Output`] puts packets into bytes to send |
//! | [`compression`] | the compressed protocol under the packets |
//! | [`wire`] | length-encoded integers and strings |
//! | [`handshake`] | the greeting, the client's response, the exchange that proves who it is |
//! | [`command`] | what a client asks for |
//! | [`response`] | OK, ERR, EOF, column definitions, the answer to a prepare |
//! | [`row`] | rows of results, in text and in binary |
//! | [`parameters`] | the values of a prepared statement's parameters |
//!
//! Nothing here waits, reads a socket, or keeps a session: a connection is an `Input`, an `Output` and whoever drives
//! them, so that the event loop under it can be replaced. Packets are parsed where they lie and built where they are
//! sent from; once the buffers have grown to a session's needs, a query allocates nothing here.
//!
//! A client's bytes are never trusted: what cannot be parsed is a [`Malformed`], the connection ends with an error
//! packet, and nothing else happens.
//!
//! Deliberately absent: sockets, sessions, accounts, SQL.

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

pub mod command;
pub mod compression;
pub mod constants;
pub mod frame;
pub mod handshake;
pub mod parameters;
pub mod response;
pub mod row;
pub mod wire;

pub use command::Command;
pub use constants::{Capabilities, Status};
pub use frame::{FrameError, Input, Output};
pub use palisade_base::codec::Truncated;

/// A packet that does not say what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("malformed packet")]
pub struct Malformed;

impl From<Truncated> for Malformed {
    fn from(_: Truncated) -> Self {
        Malformed
    }
}
