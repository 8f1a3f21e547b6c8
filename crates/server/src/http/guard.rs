//! Who is answered.
//!
//! At an address that only this machine reaches, everything that comes from it; but a page of somewhere else
//! that the machine's browser shows must not ask under a name of its own that leads here, so the request has
//! to name this machine. At any other address, accounts with the privilege PROCESS, by HTTP's basic
//! authentication.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{AUTHORIZATION, HOST, HeaderMap};

use super::Way;
use crate::accounts::password;
use crate::accounts::privilege::Privileges;
use crate::accounts::table::Account;
use crate::host::ServerHost;
use crate::login::Peer;
use crate::server::Server;

/// How long a wrong password has to wait for its answer.
const WRONG: Duration = Duration::from_millis(300);

/// What to do with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Allowed,
    /// It has to say which account it is.
    Unknown,
    /// It names another machine than this.
    Foreign,
}

/// Whether a request is answered.
pub(super) async fn verdict(server: &Arc<Server>, headers: &HeaderMap, way: Way) -> Verdict {
    if way.at.ip().is_loopback() {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        return if host.is_some_and(names_this_machine) { Verdict::Allowed } else { Verdict::Foreign };
    }
    let said = headers.get(AUTHORIZATION).and_then(|value| credentials(value.as_bytes()));
    let Some((user, password)) = said else { return Verdict::Unknown };
    if may_watch(&server.host, &user, password, Peer::Remote(way.peer.ip().to_canonical())).await {
        return Verdict::Allowed;
    }
    tokio::time::sleep(WRONG).await;
    Verdict::Unknown
}

/// Whether a `Host` of a request is a name of this machine that no other can take.
fn names_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, _)) => name,
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// User and password of `Basic ...`.
fn credentials(value: &[u8]) -> Option<(String, Vec<u8>)> {
    let (scheme, encoded) = value.split_at_checked("Basic ".len())?;
    if !scheme.eq_ignore_ascii_case(b"Basic ") {
        return None;
    }
    let decoded = STANDARD.decode(encoded.trim_ascii()).ok()?;
    let colon = decoded.iter().position(|byte| *byte == b':')?;
    let (user, password) = decoded.split_at_checked(colon)?;
    Some((String::from_utf8(user.to_vec()).ok()?, password.get(1..)?.to_vec()))
}

/// Whether that is the password of an account that may see what all do.
async fn may_watch(host: &Arc<ServerHost>, user: &str, password: Vec<u8>, peer: Peer) -> bool {
    let accounts = host.accounts.load();
    // With skip_grant_tables there is no account to be known by.
    if accounts.everybody().is_some() {
        return false;
    }
    let account = accounts.find(user, peer).cloned();
    let may = account.as_ref().is_some_and(|account| {
        !account.locked && !account.requires_tls && account.global.has(Privileges::PROCESS)
    });
    knows_password(host, account, password).await && may
}

/// Whether the password is the account's. It takes as long where there is no such account.
async fn knows_password(host: &Arc<ServerHost>, account: Option<Account>, password: Vec<u8>) -> bool {
    let remembered = account.as_ref().and_then(|account| host.accounts.recall(account));
    if remembered.is_some_and(|digest| digest == password::remembered(&password)) {
        return true;
    }
    let (plugin, kept) = match &account {
        Some(account) => (account.plugin, account.kept.clone()),
        None => {
            let accounts = host.accounts.load();
            let kept = password::of_no_account(accounts.iter().map(|account| account.kept.as_slice()));
            (password::Plugin::CachingSha2, kept)
        }
    };
    let matching = move || plugin.matches(&password, &kept).then_some(password);
    let matched = tokio::task::spawn_blocking(matching).await.ok().flatten();
    if let (Some(password), Some(account)) = (&matched, &account)
        && account.plugin == password::Plugin::CachingSha2
        && !account.kept.is_empty()
    {
        host.accounts.remember(account, password);
    }
    matched.is_some() && account.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_no_other_machine_can_take_are_this_one() {
        for name in ["localhost", "LocalHost:8080", "127.0.0.1", "127.0.0.1:80", "[::1]:9", "[::1]"] {
            assert!(names_this_machine(name), "{name}");
        }
        for name in
            ["", "example.org", "localhost.example.org:80", "127.0.0.1.nip.io", "10.0.0.1", "[::2]:80", ":"]
        {
            assert!(!names_this_machine(name), "{name}");
        }
    }

    #[test]
    fn credentials_are_a_user_and_a_password_that_may_have_colons() {
        let said = |text: &str| credentials(text.as_bytes());
        assert_eq!(said("Basic cm9vdDo="), Some(("root".to_owned(), Vec::new())));
        assert_eq!(said("basic YTpiOmM="), Some(("a".to_owned(), b"b:c".to_vec())));
        for wrong in ["", "Basic", "Basic ", "Basic cm9vdA==", "Bearer cm9vdDo=", "Basic !", "Basic gIA6"] {
            assert_eq!(said(wrong), None, "{wrong}");
        }
    }
}
