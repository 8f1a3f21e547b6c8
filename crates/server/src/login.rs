//! Logging in: who the client is, and its proof.
//!
//! The account decides by which plugin it is proved; a client that began with another one is asked again. An unknown
//! user is asked like one with the default plugin, and refused at the end, after as long: nobody learns which users there are.

use std::net::IpAddr;
use std::sync::Arc;

use palisade_base::MysqlError;
use palisade_base::error_catalogue::{
    ER_ACCESS_DENIED_ERROR, ER_ACCOUNT_HAS_BEEN_LOCKED, ER_HANDSHAKE_ERROR, ER_MALFORMED_PACKET,
    ER_NET_PACKETS_OUT_OF_ORDER, ER_NOT_SUPPORTED_AUTH_MODE, ER_SECURE_TRANSPORT_REQUIRED,
};
use palisade_base::mysql_error;
use palisade_base::sysvar_catalogue as sysvar;
use palisade_protocol::compression::Algorithm;
use palisade_protocol::handshake::{
    self, ChangeUser, Greeting, HandshakeResponse, Scramble, attribute_pairs, caching_sha2,
};
use palisade_protocol::response::{encode_early_error, encode_error};
use palisade_protocol::{Capabilities, FrameError, Status};

use crate::accounts::password::{self, Plugin};
use crate::accounts::{Account, unguessable};
use crate::channel::{Channel, Disconnected};
use crate::compression;
use crate::host::ServerHost;
use crate::status;

/// Longest packet of a client that has not logged in yet.
const MAX_LOGIN_PACKET: usize = 128 << 10;
/// Longest password that is looked at, as in MySQL: hashing a longer one would be work that anybody could cause.
const MAX_PASSWORD: usize = 256;

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
#[derive(Debug, Clone, PartialEq)]
pub struct Login {
    /// User name, as the client said it.
    pub user: String,
    /// The account it is.
    pub account: Account,
    /// What client and server can do both.
    pub capabilities: Capabilities,
    /// The client's collation, by number.
    pub collation: Option<u16>,
    /// The database to begin in.
    pub database: Option<String>,
    /// What proofs on this connection are computed with.
    pub scramble: Scramble,
    /// What the connection goes on in; `None` if it stays uncompressed, or as it was.
    pub compression: Option<Algorithm>,
}

/// What a client claims: whom it is, by which plugin, and its first proof.
struct Claim {
    user: String,
    plugin: Option<String>,
    proof: Vec<u8>,
    capabilities: Capabilities,
}

/// Greets the client and hears who it is. Everything is answered except the OK of a login that succeeded.
pub async fn login(channel: &mut Channel, host: &Arc<ServerHost>, peer: Peer) -> Result<Login, Disconnected> {
    let scramble = Scramble::from_random(unguessable());
    let allowed = compression::Allowed::of(&host.globals.load());
    let offered = allowed
        .offer(Capabilities::OFFERED)
        .with(Capabilities::SSL, host.secrets.spoken().config().is_some());
    let greeting = Greeting {
        server_version: host.version(),
        connection_id: channel.transport.connection.id as u32,
        scramble,
        capabilities: offered,
        collation: 255,
        status: Status::AUTOCOMMIT,
    };
    channel.output.packet(|out| greeting.encode(out));
    channel.flush().await?;
    channel.input.expect_sequence(1);
    let mut response = packet(channel).await?;
    if handshake::asks_for_tls(&response, offered)
        && let Some(config) = host.secrets.spoken().config()
    {
        channel.start_tls(config.clone()).await?;
        status::SSL_ACCEPTS.increment();
        if channel.transport.is_resumed() {
            status::SSL_SESSIONS_REUSED.increment();
        }
        if let Some(names) = channel.transport.tls_names() {
            // there is one handshake for a connection
            let _ = channel.transport.connection.tls.set(names);
        }
        response = packet(channel).await?;
    }
    let Ok(response) = HandshakeResponse::parse(&response, offered) else {
        return Err(refuse(channel, &mysql_error!(ER_HANDSHAKE_ERROR)).await);
    };
    let compression = match allowed.choose(&response) {
        Ok(compression) => compression,
        Err(error) => return Err(deny(channel, &error).await),
    };
    keep_attributes(channel, response.attributes);
    let claim = Claim {
        user: text(response.user),
        plugin: response.plugin.map(text),
        proof: response.proof.to_vec(),
        capabilities: response.capabilities,
    };
    let (collation, database) = (Some(u16::from(response.collation)), response.database.map(text));
    let account = admit(channel, host, peer, &claim, scramble).await?;
    let Claim { user, capabilities, .. } = claim;
    Ok(Login { user, account, capabilities, collation, database, scramble, compression })
}

/// COM_CHANGE_USER: hears who the client is now. Everything is answered except the OK.
pub async fn change_user(
    channel: &mut Channel,
    host: &Arc<ServerHost>,
    peer: Peer,
    body: &[u8],
    capabilities: Capabilities,
    scramble: Scramble,
) -> Result<Login, Disconnected> {
    let Ok(change) = ChangeUser::parse(body, capabilities) else {
        return Err(deny(channel, &mysql_error!(ER_MALFORMED_PACKET)).await);
    };
    let claim = Claim {
        user: text(change.user),
        plugin: change.plugin.map(text),
        proof: change.proof.to_vec(),
        capabilities,
    };
    keep_attributes(channel, change.attributes);
    let account = admit(channel, host, peer, &claim, scramble).await?;
    let database = change.database.map(text);
    let (user, collation, compression) = (claim.user, change.collation, None);
    Ok(Login { user, account, capabilities, collation, database, scramble, compression })
}

/// The account that the client proves to be; it is told why if it may not come in.
async fn admit(
    channel: &mut Channel,
    host: &Arc<ServerHost>,
    peer: Peer,
    claim: &Claim,
    scramble: Scramble,
) -> Result<Account, Disconnected> {
    if host.globals.load().bool(sysvar::REQUIRE_SECURE_TRANSPORT) && !channel.transport.is_private() {
        return Err(reject(channel, host, &claim.user, &mysql_error!(ER_SECURE_TRANSPORT_REQUIRED)).await);
    }
    let accounts = host.accounts.load();
    if let Some(account) = accounts.everybody() {
        return wave_through(channel, account, claim, scramble).await;
    }
    let account = accounts.find(&claim.user, peer).cloned();
    let proof = prove(channel, host, account.as_ref(), claim, scramble).await?;
    channel.output.begin_answer(channel.input.next_sequence());
    let used = if proof.with_password { "YES" } else { "NO" };
    let denied = || mysql_error!(ER_ACCESS_DENIED_ERROR, claim.user, peer.host(), used);
    match account {
        Some(account) if proof.is_right => {
            if account.locked {
                let error = mysql_error!(ER_ACCOUNT_HAS_BEEN_LOCKED, claim.user, peer.host());
                return Err(reject(channel, host, &claim.user, &error).await);
            }
            if account.requires_tls && channel.transport.tls_names().is_none() {
                return Err(reject(channel, host, &claim.user, &denied()).await);
            }
            Ok(account)
        }
        _ => Err(reject(channel, host, &claim.user, &denied()).await),
    }
}

/// With `skip_grant_tables`: lets a client in whatever it claims, in the way in which its plugin expects to
/// hear that.
async fn wave_through(
    channel: &mut Channel,
    everybody: &Account,
    claim: &Claim,
    scramble: Scramble,
) -> Result<Account, Disconnected> {
    let plugin = claim.plugin.as_deref().map_or(Some(Plugin::Native), Plugin::named);
    match plugin {
        Some(Plugin::CachingSha2) if !handshake::says_no_password(&claim.proof) => {
            channel.output.begin_answer(channel.input.next_sequence());
            let is_right = &[caching_sha2::FAST_AUTH_SUCCESS];
            channel.output.packet(|out| handshake::encode_auth_more_data(out, is_right));
            channel.flush().await?;
            channel.input.expect_sequence(channel.output.next_sequence());
        }
        None if claim.capabilities.has(Capabilities::PLUGIN_AUTH) => {
            channel.output.begin_answer(channel.input.next_sequence());
            let name = Plugin::Native.name();
            channel.output.packet(|out| handshake::encode_auth_switch(out, name, scramble));
            channel.flush().await?;
            channel.input.expect_sequence(channel.output.next_sequence());
            packet(channel).await?;
        }
        Some(_) | None => {}
    }
    channel.output.begin_answer(channel.input.next_sequence());
    Ok(everybody.clone())
}

/// What a client's proof came to.
struct Proof {
    is_right: bool,
    /// It was one of a password, right or wrong.
    with_password: bool,
}

/// Hears the client's proof that it is `account`; of an unknown user's every proof is wrong.
async fn prove(
    channel: &mut Channel,
    host: &Arc<ServerHost>,
    account: Option<&Account>,
    claim: &Claim,
    scramble: Scramble,
) -> Result<Proof, Disconnected> {
    let plugin = account.map_or(Plugin::CachingSha2, |account| account.plugin);
    let has_password = account.is_none_or(|account| !account.kept.is_empty());
    let claimed = match &claim.plugin {
        Some(name) => Plugin::named(name),
        None => Some(Plugin::Native),
    };
    // both plugins say "no password" in a way that needs no question
    let is_settled = claimed.is_some() && (!has_password || handshake::says_no_password(&claim.proof));
    let proof = if claimed == Some(plugin) || is_settled {
        claim.proof.clone()
    } else {
        if !claim.capabilities.has(Capabilities::PLUGIN_AUTH) {
            return Err(reject(channel, host, &claim.user, &mysql_error!(ER_NOT_SUPPORTED_AUTH_MODE)).await);
        }
        channel.output.begin_answer(channel.input.next_sequence());
        channel.output.packet(|out| handshake::encode_auth_switch(out, plugin.name(), scramble));
        channel.flush().await?;
        channel.input.expect_sequence(channel.output.next_sequence());
        packet(channel).await?
    };
    let with_password = !handshake::says_no_password(&proof);
    if !has_password || !with_password {
        return Ok(Proof { is_right: !has_password && !with_password, with_password });
    }
    let is_right = match plugin {
        Plugin::Native => account
            .is_some_and(|account| password::native_proof_is_right(&proof, scramble.bytes(), &account.kept)),
        Plugin::CachingSha2 => prove_sha2(channel, host, account, &proof, scramble).await?,
    };
    Ok(Proof { is_right, with_password })
}

/// The rest of `caching_sha2_password`: right at once if the password is remembered, else the client sends it.
async fn prove_sha2(
    channel: &mut Channel,
    host: &Arc<ServerHost>,
    account: Option<&Account>,
    proof: &[u8],
    scramble: Scramble,
) -> Result<bool, Disconnected> {
    let remembered = account.and_then(|account| host.accounts.recall(account));
    if remembered.is_some_and(|known| password::sha2_proof_is_right(proof, scramble.bytes(), &known)) {
        channel.output.begin_answer(channel.input.next_sequence());
        channel
            .output
            .packet(|out| handshake::encode_auth_more_data(out, &[caching_sha2::FAST_AUTH_SUCCESS]));
        channel.flush().await?;
        channel.input.expect_sequence(channel.output.next_sequence());
        return Ok(true);
    }
    ask(channel, &[caching_sha2::PERFORM_FULL_AUTHENTICATION]).await?;
    let mut answer = packet(channel).await?;
    let password = if channel.transport.is_private() {
        answer.pop_if(|last| *last == 0);
        Some(answer)
    } else {
        // making the key takes a while
        let secrets = host.secrets.clone();
        let key = aside(move || secrets.public_key().map(str::to_owned).ok()).await;
        let Some(key) = key else { return Ok(false) };
        if answer == [caching_sha2::REQUEST_PUBLIC_KEY] {
            ask(channel, key.as_bytes()).await?;
            answer = packet(channel).await?;
        }
        let secrets = host.secrets.clone();
        aside(move || secrets.decrypt_password(&answer, scramble.bytes())).await
    };
    let Some(password) = password.filter(|password| password.len() <= MAX_PASSWORD) else { return Ok(false) };
    // of an unknown user as well: the time it takes tells nothing
    let kept = match account {
        Some(account) => account.kept.clone(),
        None => {
            let accounts = host.accounts.load();
            password::of_no_account(accounts.iter().map(|account| account.kept.as_slice()))
        }
    };
    let matching = move || Plugin::CachingSha2.matches(&password, &kept).then_some(password);
    let (Some(password), Some(account)) = (aside(matching).await, account) else { return Ok(false) };
    host.accounts.remember(account, &password);
    Ok(true)
}

/// Has something computed that takes a processor milliseconds: the worker's other sessions go on meanwhile. `None` also if
/// the server ends before.
async fn aside<T: Send + 'static>(compute: impl FnOnce() -> Option<T> + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(compute).await.ok().flatten()
}

/// Sends more data of the plugin; the client answers.
async fn ask(channel: &mut Channel, data: &[u8]) -> Result<(), Disconnected> {
    channel.output.begin_answer(channel.input.next_sequence());
    channel.output.packet(|out| handshake::encode_auth_more_data(out, data));
    channel.flush().await?;
    channel.input.expect_sequence(channel.output.next_sequence());
    Ok(())
}

/// The client's next packet.
async fn packet(channel: &mut Channel) -> Result<Vec<u8>, Disconnected> {
    loop {
        match channel.input.packet(MAX_LOGIN_PACKET) {
            Ok(Some(packet)) => return Ok(packet.to_vec()),
            Ok(None) => channel.transport.receive(channel.input.buffer()).await?,
            Err(error) => return Err(refuse(channel, &frame_error(error)).await),
        }
    }
}

fn keep_attributes(channel: &Channel, encoded: &[u8]) {
    status::LONGEST_ATTRIBUTES.raise_to(encoded.len() as u64);
    let pairs = attribute_pairs(encoded).map(|(name, value)| (text(name), text(value)));
    *channel.transport.connection.attributes.lock() = pairs.collect();
}

/// Tells a client that has not said what it can do why it is refused.
async fn refuse(channel: &mut Channel, error: &MysqlError) -> Disconnected {
    channel.output.begin_answer(channel.input.next_sequence());
    channel.output.packet(|out| encode_early_error(out, error));
    // the connection ends in any case
    let _ = channel.flush().await;
    Disconnected
}

/// Tells a client that claims to be `user` why it may not come in; that is counted for the account.
async fn reject(channel: &mut Channel, host: &ServerHost, user: &str, error: &MysqlError) -> Disconnected {
    host.note_refusal(&channel.transport.connection, user, error);
    deny(channel, error).await
}

/// Tells a client why it may not come in.
async fn deny(channel: &mut Channel, error: &MysqlError) -> Disconnected {
    channel.output.begin_answer(channel.input.next_sequence());
    channel.output.packet(|out| encode_error(out, error));
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

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
