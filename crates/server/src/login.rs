//! Logging in.
//!
//! There is one account: root, without a password, from this machine only (the Unix socket or a loopback address).
//! Everyone else is told 1045.

use std::net::IpAddr;

use palisade_base::MysqlError;
use palisade_base::error_catalogue::{
    ER_ACCESS_DENIED_ERROR, ER_HANDSHAKE_ERROR, ER_NET_PACKETS_OUT_OF_ORDER,
};
use palisade_base::mysql_error;
use palisade_protocol::handshake::{
    self, CACHING_SHA2_PASSWORD, ChangeUser, Greeting, HandshakeResponse, Scramble, Verdict,
};
use palisade_protocol::response::{encode_early_error, encode_error};
use palisade_protocol::{Capabilities, FrameError, Status};

use crate::channel::{Channel, Disconnected};

/// Longest packet of a client that has not logged in yet.
const MAX_LOGIN_PACKET: usize = 128 << 10;

/// Where a client comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// The Unix socket.
    Local,
    /// TCP, from this address.
    Remote(IpAddr),
}

impl Peer {
    /// Whether the client is on this machine.
    pub fn is_this_machine(self) -> bool {
        match self {
            Peer::Local => true,
            Peer::Remote(address) => address.to_canonical().is_loopback(),
        }
    }

    /// The host part of the client's name.
    pub fn host(self) -> String {
        match self {
            Peer::Remote(address) if !self.is_this_machine() => address.to_canonical().to_string(),
            _ => "localhost".to_owned(),
        }
    }
}

/// A client that has logged in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// User name.
    pub user: String,
    /// What client and server can do both.
    pub capabilities: Capabilities,
    /// The client's collation, by number.
    pub collation: Option<u16>,
    /// The database to begin in.
    pub database: Option<String>,
}

/// Greets the client and hears who it is. Everything is answered except the OK of a login that succeeded.
pub async fn login(
    channel: &mut Channel,
    peer: Peer,
    server_version: &str,
    scramble: Scramble,
) -> Result<Login, Disconnected> {
    let greeting = Greeting {
        server_version,
        connection_id: channel.transport.connection.id as u32,
        scramble,
        capabilities: Capabilities::OFFERED,
        collation: 255,
        status: Status::AUTOCOMMIT,
    };
    channel.output.packet(|out| greeting.encode(out));
    channel.flush().await?;
    channel.input.expect_sequence(1);
    let (login, verdict) = {
        let packet = loop {
            match channel.input.packet(MAX_LOGIN_PACKET) {
                Ok(Some(packet)) => break packet,
                Ok(None) => channel.transport.receive(channel.input.buffer()).await?,
                Err(error) => return Err(refuse(channel, &frame_error(error)).await),
            }
        };
        match HandshakeResponse::parse(packet) {
            Ok(response) => {
                let login = Login {
                    user: text(response.user),
                    capabilities: response.capabilities,
                    collation: Some(u16::from(response.collation)),
                    database: response.database.map(text),
                };
                (login, handshake::judge_empty_password(response.plugin, response.proof))
            }
            Err(_) => return Err(refuse(channel, &mysql_error!(ER_HANDSHAKE_ERROR)).await),
        }
    };
    let has_no_password = match verdict {
        Verdict::Right => true,
        Verdict::Wrong => false,
        Verdict::Switch => switch(channel, scramble).await?,
    };
    channel.output.begin_answer(channel.input.next_sequence());
    match admit(&login.user, peer, has_no_password) {
        Ok(()) => Ok(login),
        Err(error) => {
            channel.output.packet(|out| encode_error(out, &error));
            channel.flush().await?;
            Err(Disconnected)
        }
    }
}

/// Asks for a proof by a plugin known here; tells whether it says "no password".
async fn switch(channel: &mut Channel, scramble: Scramble) -> Result<bool, Disconnected> {
    channel.output.begin_answer(channel.input.next_sequence());
    channel.output.packet(|out| handshake::encode_auth_switch(out, CACHING_SHA2_PASSWORD, scramble));
    channel.flush().await?;
    channel.input.expect_sequence(channel.output.next_sequence());
    loop {
        match channel.input.packet(MAX_LOGIN_PACKET) {
            Ok(Some(proof)) => return Ok(handshake::says_no_password(proof)),
            Ok(None) => channel.transport.receive(channel.input.buffer()).await?,
            Err(error) => return Err(refuse(channel, &frame_error(error)).await),
        }
    }
}

/// Tells a client that has not said what it can do why it is refused.
async fn refuse(channel: &mut Channel, error: &MysqlError) -> Disconnected {
    channel.output.begin_answer(channel.input.next_sequence());
    channel.output.packet(|out| encode_early_error(out, error));
    // the connection ends in any case
    let _ = channel.flush().await;
    Disconnected
}

fn frame_error(error: FrameError) -> MysqlError {
    match error {
        FrameError::TooLarge => mysql_error!(ER_HANDSHAKE_ERROR),
        FrameError::OutOfOrder => mysql_error!(ER_NET_PACKETS_OUT_OF_ORDER),
    }
}

/// Whether `user` may come in from `peer`: 1045 if not.
fn admit(user: &str, peer: Peer, has_no_password: bool) -> Result<(), MysqlError> {
    if user == "root" && peer.is_this_machine() && has_no_password {
        return Ok(());
    }
    let used = if has_no_password { "NO" } else { "YES" };
    Err(mysql_error!(ER_ACCESS_DENIED_ERROR, user, peer.host(), used))
}

/// COM_CHANGE_USER: hears who the client is now; 1045 if it may not be.
pub fn change_user(body: &[u8], capabilities: Capabilities, peer: Peer) -> Result<Login, MysqlError> {
    let change = ChangeUser::parse(body, capabilities).map_err(|_| mysql_error!(ER_HANDSHAKE_ERROR))?;
    let has_no_password = handshake::says_no_password(change.proof);
    let user = text(change.user);
    admit(&user, peer, has_no_password)?;
    Ok(Login { user, capabilities, collation: change.collation, database: change.database.map(text) })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_root_without_a_password_from_this_machine_comes_in() {
        let remote = |text: &str| Peer::Remote(text.parse().unwrap());
        assert_eq!(admit("root", Peer::Local, true), Ok(()));
        assert_eq!(admit("root", remote("127.0.0.1"), true), Ok(()));
        assert_eq!(admit("root", remote("::1"), true), Ok(()));
        assert_eq!(admit("root", remote("::ffff:127.0.0.1"), true), Ok(()));
        let refused = |user, peer, empty| admit(user, peer, empty).unwrap_err().message;
        assert_eq!(
            refused("root", Peer::Local, false),
            "Access denied for user 'root'@'localhost' (using password: YES)"
        );
        assert_eq!(
            refused("root", remote("10.0.0.7"), true),
            "Access denied for user 'root'@'10.0.0.7' (using password: NO)"
        );
        assert_eq!(
            refused("admin", remote("127.0.0.1"), true),
            "Access denied for user 'admin'@'localhost' (using password: NO)"
        );
    }
}
