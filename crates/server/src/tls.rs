//! Secrets on the wire: TLS for connections, and the RSA key for passwords of clients without it.
//!
//! ALTER INSTANCE RELOAD TLS reads certificates anew; connections that are in stay as they are.
//!
//! As in MySQL, a server that finds no certificates in its data directory makes its own: a certificate authority
//! (`ca.pem`) and a certificate signed by it. That keeps what is sent from being read; a client that wants to know whom
//! it talks to is given `ca.pem`, or the server real certificates (`--ssl-cert`, `--ssl-key`).
//!
//! `caching_sha2_password` needs the password itself now and then. A client without TLS encrypts it with the server's
//! RSA key, which is made when the first client asks for it: that takes a while and most servers never need it.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeySize, OAEP_SHA1_MGF1SHA1, OaepPrivateDecryptingKey, PrivateDecryptingKey};
use palisade_base::sysvar::Settings;
use palisade_base::sysvar_catalogue as sysvar;
use tracing::error;

use self::context::{Context, Problem};

pub use self::context::are_versions;

mod context;
mod sessions;
pub mod status;

/// The server's secrets.
pub struct Secrets {
    spoken: ArcSwap<Spoken>,
    private_key: PathBuf,
    public_key: PathBuf,
    rsa: OnceLock<Result<Rsa, String>>,
}

/// How connections are encrypted that begin now.
pub struct Spoken {
    /// What was set when it was made; what is set now counts when it is made anew.
    settings: Arc<Settings>,
    /// `None` if TLS is not spoken.
    context: Option<Context>,
}

/// The key for passwords.
struct Rsa {
    key: OaepPrivateDecryptingKey,
    /// In PEM, for clients.
    public: String,
}

impl Secrets {
    /// Reads the certificates that the settings name, or makes them.
    pub fn open(settings: &Settings) -> Result<Secrets, String> {
        let settings = Arc::new(settings.clone());
        let context = match settings.text(sysvar::TLS_VERSION).unwrap_or_default() {
            "" => None,
            _ => {
                context::make_missing(&settings)?;
                Some(Context::new(&settings).map_err(|problem| problem.detail)?)
            }
        };
        Ok(Secrets {
            private_key: file(&settings, sysvar::CACHING_SHA2_PASSWORD_PRIVATE_KEY_PATH),
            public_key: file(&settings, sysvar::CACHING_SHA2_PASSWORD_PUBLIC_KEY_PATH),
            spoken: ArcSwap::from_pointee(Spoken { settings, context }),
            rsa: OnceLock::new(),
        })
    }

    /// How connections are encrypted that begin now.
    pub fn spoken(&self) -> Arc<Spoken> {
        self.spoken.load_full()
    }

    /// Reads the certificates that are set now, for connections that begin from now on: ALTER INSTANCE RELOAD
    /// TLS. Blocks while files are read. If that fails, everything stays as it is, or, if it `ends` TLS then,
    /// none is spoken; the problem is given in words of MySQL's.
    pub fn reload(&self, settings: Arc<Settings>, ends: bool) -> Result<(), &'static str> {
        let made = Context::new(&settings);
        if let Err(Problem { summary, detail }) = &made {
            error!("ALTER INSTANCE RELOAD TLS: {summary}: {detail}");
        }
        let failed = made.as_ref().err().map(|problem| problem.summary);
        if failed.is_none() || ends {
            self.spoken.store(Arc::new(Spoken { settings, context: made.ok() }));
        }
        failed.map_or(Ok(()), Err)
    }

    /// The public key for passwords if it has been made.
    pub fn known_public_key(&self) -> Option<&str> {
        self.rsa.get()?.as_ref().ok().map(|rsa| rsa.public.as_str())
    }

    fn rsa(&self) -> Result<&Rsa, &str> {
        let rsa = self.rsa.get_or_init(|| open_rsa(&self.private_key, &self.public_key));
        rsa.as_ref().map_err(String::as_str)
    }

    /// The public key for passwords, in PEM. Blocks when it is asked for first.
    pub fn public_key(&self) -> Result<&str, &str> {
        self.rsa().map(|rsa| rsa.public.as_str())
    }

    /// The password that a client encrypted with the public key, having masked it with the scramble.
    pub fn decrypt_password(&self, encrypted: &[u8], scramble: &[u8]) -> Option<Vec<u8>> {
        let rsa = self.rsa().ok()?;
        let mut room = vec![0; rsa.key.min_output_size()];
        let masked = rsa.key.decrypt(&OAEP_SHA1_MGF1SHA1, encrypted, &mut room, None).ok()?;
        let plain: Vec<u8> =
            masked.iter().zip(scramble.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
        plain.strip_suffix(&[0]).map(<[u8]>::to_vec)
    }
}

/// The file that a variable names, in the data directory unless it says where.
fn file(settings: &Settings, id: palisade_base::sysvar::VariableId) -> PathBuf {
    let datadir = Path::new(settings.text(sysvar::DATADIR).unwrap_or_default());
    datadir.join(settings.text(id).unwrap_or_default())
}

/// Writes a file whole or not at all: what a crash leaves half written has another name.
fn write_new(path: &Path, text: &str, mode: u32) -> Result<(), String> {
    let begun = path.with_extension("pem.begun");
    let write = || -> io::Result<()> {
        let mut file =
            fs::OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(&begun)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&begun, path)
    };
    write().map_err(|error| format!("{}: {error}", path.display()))
}

fn open_rsa(private_file: &Path, public_file: &Path) -> Result<Rsa, String> {
    let problem = |error: &dyn std::fmt::Display| format!("{}: {error}", private_file.display());
    if !private_file.exists() {
        let key = PrivateDecryptingKey::generate(KeySize::Rsa2048).map_err(|error| problem(&error))?;
        let der: Pkcs8V1Der<'_> = key.as_der().map_err(|error| problem(&error))?;
        write_new(private_file, &pem::encode(&pem::Pem::new("PRIVATE KEY", der.as_ref())), 0o600)?;
    }
    let text = fs::read(private_file).map_err(|error| problem(&error))?;
    let der = pem::parse(text).map_err(|error| problem(&error))?;
    let key = PrivateDecryptingKey::from_pkcs8(der.contents()).map_err(|error| problem(&error))?;
    let public: PublicKeyX509Der<'_> = key.public_key().as_der().map_err(|error| problem(&error))?;
    let line_feed = pem::EncodeConfig::new().set_line_ending(pem::LineEnding::LF);
    let public = pem::encode_config(&pem::Pem::new("PUBLIC KEY", public.as_ref()), line_feed);
    if !public_file.exists() {
        write_new(public_file, &public, 0o644)?;
    }
    let key = OaepPrivateDecryptingKey::new(key).map_err(|error| problem(&error))?;
    Ok(Rsa { key, public })
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_lc_rs::rsa::{OaepPublicEncryptingKey, PublicEncryptingKey};
    use palisade_base::sysvar::Setting;

    fn settings(dir: &Path) -> Settings {
        let mut settings = Settings::default();
        settings.set(sysvar::DATADIR, Setting::Text(dir.to_str().unwrap().into()));
        settings
    }

    #[test]
    fn certificates_are_made_once() {
        let dir = tempfile::tempdir().unwrap();
        let read = || fs::read(dir.path().join("server-cert.pem")).unwrap();
        let is_spoken = || Secrets::open(&settings(dir.path())).unwrap().spoken().config().is_some();
        assert!(is_spoken());
        let made = read();
        assert!(is_spoken());
        assert_eq!(read(), made);
        fs::write(dir.path().join("server-cert.pem"), "nonsense").unwrap();
        assert!(Secrets::open(&settings(dir.path())).is_err());
    }

    #[test]
    fn no_version_is_no_tls_and_an_old_one_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let mut settings = settings(dir.path());
        settings.set(sysvar::TLS_VERSION, Setting::Text("".into()));
        assert!(Secrets::open(&settings).unwrap().spoken().config().is_none());
        settings.set(sysvar::TLS_VERSION, Setting::Text("TLSv1.1".into()));
        assert!(Secrets::open(&settings).err().unwrap().contains("TLSv1.1"));
    }

    #[test]
    fn a_password_comes_through_the_rsa_key() {
        let dir = tempfile::tempdir().unwrap();
        let secrets = Secrets::open(&settings(dir.path())).unwrap();
        let scramble = b"abcdefghijklmnopqrst";
        let text = secrets.public_key().unwrap();
        let der = pem::parse(text).unwrap();
        let public =
            OaepPublicEncryptingKey::new(PublicEncryptingKey::from_der(der.contents()).unwrap()).unwrap();
        let masked: Vec<u8> = b"secret\0".iter().zip(scramble).map(|(byte, mask)| byte ^ mask).collect();
        let mut room = vec![0; public.ciphertext_size()];
        let encrypted = public.encrypt(&OAEP_SHA1_MGF1SHA1, &masked, &mut room, None).unwrap().to_vec();
        let again = Secrets::open(&settings(dir.path())).unwrap();
        assert_eq!(again.decrypt_password(&encrypted, scramble).as_deref(), Some(&b"secret"[..]));
        assert_eq!(again.decrypt_password(&encrypted[1..], scramble), None);
        assert_eq!(again.public_key().unwrap(), text);
    }
}
