//! How TLS is spoken: certificates, versions, and sessions that may be resumed.

use std::path::Path;
use std::sync::Arc;

use palisade_base::sysvar::Settings;
use palisade_base::sysvar_catalogue as sysvar;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::NoServerSessionStorage;
use tracing::info;
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::sessions::SessionCache;
use super::{file, write_new};

/// How TLS is spoken.
pub struct Context {
    /// For each connection.
    pub config: Arc<ServerConfig>,
    /// `None` if sessions are not kept.
    pub sessions: Option<Arc<SessionCache>>,
    /// From when to when the certificate is valid, as MySQL shows it.
    pub validity: [String; 2],
}

/// Why TLS cannot be spoken.
#[derive(Debug)]
pub struct Problem {
    /// In words of MySQL's.
    pub summary: &'static str,
    /// With the file, for the log.
    pub detail: String,
}

impl Problem {
    fn of_file(summary: &'static str, path: &Path, error: &dyn std::fmt::Display) -> Problem {
        Problem { summary, detail: format!("{}: {error}", path.display()) }
    }

    fn of_version(detail: String) -> Problem {
        Problem { summary: "TLS version is invalid", detail: format!("tls_version: {detail}") }
    }
}

impl Context {
    /// Reads the certificates that the settings name.
    pub fn new(settings: &Settings) -> Result<Context, Problem> {
        let (certificate, key) = (file(settings, sysvar::SSL_CERT), file(settings, sysvar::SSL_KEY));
        let no_certificate = |error: &dyn std::fmt::Display| {
            Problem::of_file("Unable to get certificate", &certificate, error)
        };
        let chain = CertificateDer::pem_file_iter(&certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| no_certificate(&error))?;
        let first = chain.first().ok_or_else(|| no_certificate(&"there is none in the file"))?;
        let (_, parsed) = X509Certificate::from_der(first).map_err(|error| no_certificate(&error))?;
        let validity = [parsed.validity().not_before, parsed.validity().not_after];
        let validity = validity.map(|time| shown_time(time.timestamp()));
        let private = PrivateKeyDer::from_pem_file(&key)
            .map_err(|error| Problem::of_file("Unable to get private key", &key, &error))?;
        let spoken = versions(settings.text(sysvar::TLS_VERSION).unwrap_or_default())?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&spoken)
            .map_err(|error| Problem::of_version(error.to_string()))?
            .with_no_client_auth()
            .with_single_cert(chain, private)
            .map_err(|error| match &error {
                rustls::Error::InconsistentKeys(_) => {
                    Problem::of_file("Private key does not match the certificate public key", &key, &error)
                }
                _ => no_certificate(&error),
            })?;
        let sessions = settings
            .bool(sysvar::SSL_SESSION_CACHE_MODE)
            .then(|| Arc::new(SessionCache::new(settings.uint(sysvar::SSL_SESSION_CACHE_TIMEOUT))));
        match &sessions {
            Some(sessions) => config.session_storage = sessions.clone(),
            None => config.session_storage = Arc::new(NoServerSessionStorage {}),
        }
        Ok(Context { config: Arc::new(config), sessions, validity })
    }
}

/// The versions that a list names.
fn versions(list: &str) -> Result<Vec<&'static rustls::SupportedProtocolVersion>, Problem> {
    let version = |name: &str| match name.trim().to_ascii_lowercase().as_str() {
        "tlsv1.2" => Ok(&rustls::version::TLS12),
        "tlsv1.3" => Ok(&rustls::version::TLS13),
        _ => Err(Problem::of_version(format!("'{name}' is not spoken; TLSv1.2 and TLSv1.3 are"))),
    };
    list.split(',').map(version).collect()
}

/// Whether a list names versions that are spoken, or none.
pub fn are_versions(list: &str) -> bool {
    list.is_empty() || versions(list).is_ok()
}

/// As OpenSSL writes it.
fn shown_time(unix_seconds: i64) -> String {
    let time = jiff::Timestamp::from_second(unix_seconds).unwrap_or_default();
    time.strftime("%b %e %H:%M:%S %Y GMT").to_string()
}

/// Makes a certificate authority and a certificate signed by it, if there is none and the settings allow it.
/// The authority's own key is forgotten.
pub fn make_missing(settings: &Settings) -> Result<(), String> {
    let (certificate_file, key_file) = (file(settings, sysvar::SSL_CERT), file(settings, sysvar::SSL_KEY));
    if !settings.bool(sysvar::AUTO_GENERATE_CERTS) || certificate_file.exists() || key_file.exists() {
        return Ok(());
    }
    let authority_file = file(settings, sysvar::SSL_CA);
    let problem = |error: rcgen::Error| format!("cannot make certificates: {error}");
    let authority_key = KeyPair::generate().map_err(problem)?;
    let mut authority = params("Palisade_Server_Auto_Generated_CA_Certificate").map_err(problem)?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    let authority_certificate = authority.self_signed(&authority_key).map_err(problem)?;
    let key = KeyPair::generate().map_err(problem)?;
    let issuer = Issuer::new(authority, authority_key);
    let certificate = params("Palisade_Server_Auto_Generated_Server_Certificate")
        .and_then(|params| params.signed_by(&key, &issuer))
        .map_err(problem)?;
    write_new(&authority_file, &authority_certificate.pem(), 0o644)?;
    write_new(&certificate_file, &certificate.pem(), 0o644)?;
    write_new(&key_file, &key.serialize_pem(), 0o600)?;
    info!("made certificates: {}, {}", authority_file.display(), certificate_file.display());
    Ok(())
}

fn params(common_name: &str) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(vec!["localhost".to_owned(), "127.0.0.1".to_owned()])?;
    params.distinguished_name.push(DnType::CommonName, common_name);
    Ok(params)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use palisade_base::sysvar::Setting;
    use rustls::{ClientConfig, ClientConnection, HandshakeKind, RootCertStore, ServerConnection};

    use super::*;

    fn settings(dir: &Path) -> Settings {
        let mut settings = Settings::default();
        settings.set(sysvar::DATADIR, Setting::Text(dir.to_str().unwrap().into()));
        settings
    }

    /// A client that knows the authority of these settings.
    fn client(settings: &Settings) -> Arc<ClientConfig> {
        let authority = CertificateDer::from_pem_file(file(settings, sysvar::SSL_CA)).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(authority).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        Arc::new(builder.unwrap().with_root_certificates(roots).with_no_client_auth())
    }

    /// How the handshake of a connection went.
    fn connect(context: &Context, client: &Arc<ClientConfig>) -> HandshakeKind {
        let mut client = ClientConnection::new(client.clone(), "localhost".try_into().unwrap()).unwrap();
        let mut server = ServerConnection::new(context.config.clone()).unwrap();
        while client.wants_write() || server.wants_write() {
            let (mut asked, mut answered) = (Vec::new(), Vec::new());
            while client.wants_write() {
                client.write_tls(&mut asked).unwrap();
            }
            server.read_tls(&mut &asked[..]).unwrap();
            server.process_new_packets().unwrap();
            while server.wants_write() {
                server.write_tls(&mut answered).unwrap();
            }
            client.read_tls(&mut &answered[..]).unwrap();
            client.process_new_packets().unwrap();
        }
        server.handshake_kind().unwrap()
    }

    #[test]
    fn sessions_are_resumed_while_they_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let mut settings = settings(dir.path());
        make_missing(&settings).unwrap();
        let (context, client) = (Context::new(&settings).unwrap(), client(&settings));
        assert_eq!(connect(&context, &client), HandshakeKind::Full);
        assert_eq!(connect(&context, &client), HandshakeKind::Resumed);
        let sessions = context.sessions.as_ref().unwrap();
        assert_eq!(sessions.counts.hits.load(Ordering::Relaxed), 1);
        settings.set(sysvar::SSL_SESSION_CACHE_TIMEOUT, Setting::UInt(0));
        let forgetful = Context::new(&settings).unwrap();
        assert_eq!([0; 2].map(|_| connect(&forgetful, &client)), [HandshakeKind::Full; 2]);
        settings.set(sysvar::SSL_SESSION_CACHE_MODE, Setting::Bool(false));
        let without = Context::new(&settings).unwrap();
        assert!(without.sessions.is_none());
        assert_eq!([0; 2].map(|_| connect(&without, &client)), [HandshakeKind::Full; 2]);
    }

    #[test]
    fn a_problem_is_named_as_mysql_does() {
        let dir = tempfile::tempdir().unwrap();
        let mut settings = settings(dir.path());
        let summary = |settings: &Settings| Context::new(settings).err().map(|problem| problem.summary);
        assert_eq!(summary(&settings), Some("Unable to get certificate"));
        make_missing(&settings).unwrap();
        assert_eq!(summary(&settings), None);
        let key = file(&settings, sysvar::SSL_KEY);
        std::fs::write(&key, KeyPair::generate().unwrap().serialize_pem()).unwrap();
        assert_eq!(summary(&settings), Some("Private key does not match the certificate public key"));
        std::fs::remove_file(&key).unwrap();
        assert_eq!(summary(&settings), Some("Unable to get private key"));
        settings.set(sysvar::TLS_VERSION, Setting::Text("".into()));
        std::fs::write(&key, KeyPair::generate().unwrap().serialize_pem()).unwrap();
        assert_eq!(summary(&settings), Some("TLS version is invalid"));
    }

    #[test]
    fn times_are_shown_as_openssl_does() {
        assert_eq!(shown_time(0), "Jan  1 00:00:00 1970 GMT");
        assert_eq!(shown_time(2_110_875_978), "Nov 21 10:26:18 2036 GMT");
    }

    #[test]
    fn versions_are_named_in_any_case() {
        assert!(are_versions("") && are_versions("TLSv1.3") && are_versions("tlsv1.2,TLSV1.3"));
        assert!(!are_versions("TLSv1.1") && !are_versions("TLSv1.3,"));
    }
}
