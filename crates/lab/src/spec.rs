//! Which servers an experiment runs against: `--server NAME=WHERE`.
//!
//! | WHERE | meaning |
//! |---|---|
//! | `spawn` | start the palisade program in a temporary folder, stop it afterwards |
//! | `spawn:PROGRAM` | start that program instead, to compare two builds |
//! | `spawn,VARIABLE=VALUE,...` | start it with settings of its own, to compare two settings; also after `:PROGRAM` |
//! | `USER[:PASSWORD]@HOST[:PORT]` | a server that runs already; an IPv6 address stands in brackets |

use std::path::PathBuf;
use std::str::FromStr;

/// A server as named on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSpec {
    /// What the report calls it.
    pub name: String,
    /// Where it is, or how to start it.
    pub place: Place,
}

/// Where a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// To be started.
    Spawn {
        /// The program, if it is not the one beside the lab.
        program: Option<PathBuf>,
        /// Variables and values besides those of the experiment.
        settings: Vec<(String, String)>,
    },
    /// Running.
    At(Address),
}

/// How to reach a server over TCP.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    /// The account.
    pub user: String,
    /// Its password; empty for none.
    pub password: String,
    /// Name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
}

impl std::fmt::Debug for Address {
    /// Without the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl std::fmt::Display for Address {
    /// Without the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        write!(f, "{}@{host}:{}", self.user, self.port)
    }
}

const DEFAULT_PORT: u16 = 3306;

impl FromStr for ServerSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<ServerSpec, String> {
        let (name, place) = text
            .split_once('=')
            .ok_or_else(|| format!("'{text}' is not NAME=spawn or NAME=USER@HOST:PORT"))?;
        // its data lie in a folder of that name: '..' must not be one
        let inside = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) || !name.chars().all(inside) {
            return Err(format!(
                "'{name}' is not a name: a letter or digit, then letters, digits, '-', '_' and '.'"
            ));
        }
        let place = match place.strip_prefix("spawn") {
            Some(rest) if rest.is_empty() || rest.starts_with([':', ',']) => spawn(rest)?,
            _ => Place::At(address(place)?),
        };
        Ok(ServerSpec { name: name.to_owned(), place })
    }
}

fn spawn(rest: &str) -> Result<Place, String> {
    let mut parts = rest.split(',');
    let program = parts.next().and_then(|first| first.strip_prefix(':'));
    if program == Some("") {
        return Err("'spawn:' lacks the program".to_owned());
    }
    let mut settings = Vec::new();
    for part in parts {
        match part.split_once('=') {
            Some((variable, value)) if !variable.is_empty() => {
                settings.push((variable.to_owned(), value.to_owned()));
            }
            _ => return Err(format!("'{part}' is not VARIABLE=VALUE")),
        }
    }
    Ok(Place::Spawn { program: program.map(PathBuf::from), settings })
}

fn address(text: &str) -> Result<Address, String> {
    let wrong = || format!("'{text}' is not spawn or USER[:PASSWORD]@HOST[:PORT]");
    // a password may hold '@', a host may not
    let (account, place) = text.rsplit_once('@').ok_or_else(wrong)?;
    let (user, password) = account.split_once(':').unwrap_or((account, ""));
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => rest.split_once(']').ok_or_else(wrong)?,
        None => place.find(':').map_or((place, ""), |colon| place.split_at(colon)),
    };
    if user.is_empty() || host.is_empty() {
        return Err(wrong());
    }
    let port = match port.strip_prefix(':') {
        Some(port) => port.parse().map_err(|_| format!("'{port}' is not a port"))?,
        None if port.is_empty() => DEFAULT_PORT,
        None => return Err(wrong()),
    };
    Ok(Address { user: user.to_owned(), password: password.to_owned(), host: host.to_owned(), port })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Address {
        match text.parse::<ServerSpec>().expect("a specification").place {
            Place::At(address) => address,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_running_server() {
        let full = at("mysql=root:p:w@rd@127.0.0.1:33061");
        assert_eq!((full.user.as_str(), full.password.as_str()), ("root", "p:w@rd"));
        assert_eq!((full.host.as_str(), full.port), ("127.0.0.1", 33061));
        assert_eq!(at("m=u@db").port, 3306);
        let six = at("m=u@[::1]:3307");
        assert_eq!((six.host.as_str(), six.port), ("::1", 3307));
        assert_eq!(six.to_string(), "u@[::1]:3307");
        assert_eq!(at("m=u@[::1]").port, 3306);
        // a host may be called so
        assert_eq!(at("m=root@spawn").host, "spawn");
    }

    #[test]
    fn a_server_to_start() {
        let spec: ServerSpec = "palisade=spawn".parse().expect("a specification");
        assert_eq!(spec.place, Place::Spawn { program: None, settings: vec![] });
        let spec: ServerSpec =
            "new=spawn:/a/b,innodb_flush_method=fsync,x=".parse().expect("a specification");
        let settings =
            vec![("innodb_flush_method".to_owned(), "fsync".to_owned()), ("x".to_owned(), String::new())];
        assert_eq!(spec.place, Place::Spawn { program: Some("/a/b".into()), settings });
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, complaint) in [
            ("palisade", "'palisade' is not NAME="),
            ("=spawn", "'' is not a name"),
            ("a b=spawn", "'a b' is not a name"),
            ("..=spawn", "'..' is not a name"),
            (".=spawn", "'.' is not a name"),
            ("-a=spawn", "'-a' is not a name"),
            ("a=spawn:", "lacks the program"),
            ("a=spawn,x", "'x' is not VARIABLE=VALUE"),
            ("a=spawned", "'spawned' is not spawn or"),
            ("a=localhost:3306", "is not spawn or USER"),
            ("a=@h", "is not spawn or USER"),
            ("a=u@", "is not spawn or USER"),
            ("a=u@h:99999", "'99999' is not a port"),
            ("a=u@[::1", "is not spawn or USER"),
            ("a=u@[::1]3306", "is not spawn or USER"),
        ] {
            let error = text.parse::<ServerSpec>().expect_err(text);
            assert!(error.contains(complaint), "{text}: {error}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        let address = at("mysql=root:secret@h");
        assert!(!format!("{address} {address:?}").contains("secret"));
    }
}
