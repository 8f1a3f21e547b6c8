//! What the counters of SHOW STATUS tell of TLS.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use palisade_base::sysvar_catalogue as sysvar;
use rustls::ServerConfig;

use super::sessions::{MOST_SESSIONS, SessionCache};
use super::{Secrets, Spoken};
use crate::status::SSL_ACCEPTS;

/// How deep a chain of a client's certificates may be, where none is asked for: no limit, as OpenSSL has it.
const NO_DEPTH: &str = "18446744073709551615";

impl Spoken {
    /// For a connection that goes on in TLS; `None` if TLS is not spoken.
    pub fn config(&self) -> Option<&Arc<ServerConfig>> {
        self.context.as_ref().map(|context| &context.config)
    }

    fn sessions(&self) -> Option<&SessionCache> {
        self.context.as_ref()?.sessions.as_deref()
    }

    /// What is told of it for all connections together: of these the table `tls_channel_status` tells.
    pub fn properties(&self) -> Vec<(&'static str, String)> {
        let mut all = self.files();
        let validity = self.context.as_ref().map_or(Default::default(), |context| context.validity.clone());
        let [not_before, not_after] = validity;
        all.extend([("Ssl_server_not_after", not_after), ("Ssl_server_not_before", not_before)]);
        all.extend(self.session_cache());
        // Certificates of clients are not asked for.
        all.push(("Ssl_ctx_verify_depth", NO_DEPTH.to_owned()));
        all.push(("Ssl_ctx_verify_mode", "0".to_owned()));
        // A handshake that did not end well is not accepted.
        all.push(("Ssl_finished_accepts", SSL_ACCEPTS.value().to_string()));
        for never in [
            "Ssl_accept_renegotiates",
            "Ssl_callback_cache_hits",
            "Ssl_client_connects",
            "Ssl_connect_renegotiates",
            "Ssl_finished_connects",
        ] {
            all.push((never, "0".to_owned()));
        }
        all
    }

    fn files(&self) -> Vec<(&'static str, String)> {
        let named = [
            ("Current_tls_ca", sysvar::SSL_CA),
            ("Current_tls_capath", sysvar::SSL_CAPATH),
            ("Current_tls_cert", sysvar::SSL_CERT),
            ("Current_tls_cipher", sysvar::SSL_CIPHER),
            ("Current_tls_ciphersuites", sysvar::TLS_CIPHERSUITES),
            ("Current_tls_crl", sysvar::SSL_CRL),
            ("Current_tls_crlpath", sysvar::SSL_CRLPATH),
            ("Current_tls_key", sysvar::SSL_KEY),
            ("Current_tls_version", sysvar::TLS_VERSION),
        ];
        named.map(|(name, id)| (name, self.settings.text(id).unwrap_or_default().to_owned())).to_vec()
    }

    fn session_cache(&self) -> Vec<(&'static str, String)> {
        let sessions = self.sessions();
        let counted = |of: fn(&SessionCache) -> &AtomicU64| {
            sessions.map_or(0, |cache| of(cache).load(Ordering::Relaxed)).to_string()
        };
        let mode = match (&self.context, sessions) {
            (None, _) => "NONE",
            (Some(_), None) => "OFF",
            (Some(_), Some(_)) => "SERVER",
        };
        let size = if sessions.is_some() { MOST_SESSIONS } else { 0 };
        vec![
            ("Ssl_session_cache_hits", counted(|cache| &cache.counts.hits)),
            ("Ssl_session_cache_misses", counted(|cache| &cache.counts.misses)),
            ("Ssl_session_cache_mode", mode.to_owned()),
            ("Ssl_session_cache_overflows", counted(|cache| &cache.counts.overflows)),
            ("Ssl_session_cache_size", size.to_string()),
            ("Ssl_session_cache_timeout", sessions.map_or(0, SessionCache::seconds).to_string()),
            ("Ssl_session_cache_timeouts", counted(|cache| &cache.counts.timeouts)),
            ("Ssl_used_session_cache_entries", sessions.map_or(0, SessionCache::len).to_string()),
        ]
    }

    /// The ciphers that are offered, in the order of preference.
    fn ciphers(&self) -> String {
        let suites = self.config().map(|config| config.crypto_provider().cipher_suites.iter());
        let names = suites.into_iter().flatten().map(|suite| shown_cipher(suite.suite()));
        names.collect::<Vec<_>>().join(":")
    }
}

/// A cipher's name, as OpenSSL has it for TLS 1.3.
pub fn shown_cipher(suite: rustls::CipherSuite) -> String {
    suite.as_str().unwrap_or_default().replace("TLS13_", "TLS_")
}

/// All counters about TLS, of a connection whose cipher and version are these.
pub fn add(secrets: &Secrets, of: Option<&(String, &'static str)>, add: &mut dyn FnMut(&str, String)) {
    let spoken = secrets.spoken();
    spoken.properties().into_iter().for_each(|(name, value)| add(name, value));
    add("Ssl_cipher", of.map_or_else(String::new, |(cipher, _)| cipher.clone()));
    add("Ssl_version", of.map_or_else(String::new, |(_, version)| (*version).to_owned()));
    add("Ssl_cipher_list", of.map_or_else(String::new, |_| spoken.ciphers()));
    let timeout = of.and(spoken.sessions()).map_or(0, SessionCache::seconds);
    add("Ssl_default_timeout", timeout.to_string());
    add("Ssl_verify_depth", of.map_or("0", |_| NO_DEPTH).to_owned());
    add("Ssl_verify_mode", "0".to_owned());
    let key = secrets.known_public_key().unwrap_or_default();
    for name in ["Caching_sha2_password_rsa_public_key", "Rsa_public_key"] {
        add(name, key.to_owned());
    }
    add("Tls_library_version", "rustls".to_owned());
}
