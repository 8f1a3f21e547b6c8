//! Which compression a connection goes on in: what `protocol_compression_algorithms` offers, and what the
//! client takes of it.
//!
//! A client that wants zlib and Zstandard both gets zlib, as in MySQL. One that wants neither, or does not
//! know what is offered, goes on uncompressed, which the variable can forbid as well.

use palisade_base::error_catalogue::{
    ER_WRONG_COMPRESSION_ALGORITHM_CLIENT, ER_WRONG_COMPRESSION_LEVEL_CLIENT, ER_WRONG_VALUE_FOR_VAR,
};
use palisade_base::sysvar::Settings;
use palisade_base::sysvar_catalogue as sysvar;
use palisade_base::{MysqlError, mysql_error};
use palisade_protocol::Capabilities;
use palisade_protocol::compression::Algorithm;
use palisade_protocol::handshake::HandshakeResponse;

/// How many names the variable holds at most, as in MySQL.
const MOST_NAMES: usize = 3;

const UNCOMPRESSED: &str = "uncompressed";

/// What `protocol_compression_algorithms` allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Allowed {
    zlib: bool,
    zstd: bool,
    uncompressed: bool,
}

impl Allowed {
    /// As the server's settings say now.
    pub fn of(settings: &Settings) -> Allowed {
        let list = settings.text(sysvar::PROTOCOL_COMPRESSION_ALGORITHMS);
        list.and_then(Allowed::parse).unwrap_or_default()
    }

    /// A list of at most three names, without spaces; a comma may end it. `None` if `list` is none.
    fn parse(list: &str) -> Option<Allowed> {
        let mut allowed = Allowed::default();
        let names = list.strip_suffix(',').unwrap_or(list);
        if names.split(',').count() > MOST_NAMES {
            return None;
        }
        for name in names.split(',') {
            match name.to_ascii_lowercase().as_str() {
                "zlib" => allowed.zlib = true,
                "zstd" => allowed.zstd = true,
                UNCOMPRESSED => allowed.uncompressed = true,
                _ => return None,
            }
        }
        Some(allowed)
    }

    /// 1231 if the variable cannot have the value `list`.
    pub fn check(list: &str) -> Result<(), MysqlError> {
        let allowed = Allowed::parse(list).map(|_| ());
        allowed.ok_or_else(|| mysql_error!(ER_WRONG_VALUE_FOR_VAR, "protocol_compression_algorithms", list))
    }

    /// The server's capabilities, with those of compression.
    pub fn offer(self, capabilities: Capabilities) -> Capabilities {
        capabilities
            .with(Capabilities::COMPRESS, self.zlib)
            .with(Capabilities::ZSTD_COMPRESSION_ALGORITHM, self.zstd)
    }

    /// What the client goes on in, of what was offered; `None`: uncompressed. 3922 if it must not, 3923 at a
    /// level that Zstandard has not.
    pub fn choose(self, response: &HandshakeResponse<'_>) -> Result<Option<Algorithm>, MysqlError> {
        if response.capabilities.has(Capabilities::COMPRESS) {
            return Ok(Some(Algorithm::Zlib));
        }
        if response.capabilities.has(Capabilities::ZSTD_COMPRESSION_ALGORITHM) {
            let algorithm = Algorithm::zstd(response.zstd_level);
            return algorithm
                .map(Some)
                .ok_or_else(|| mysql_error!(ER_WRONG_COMPRESSION_LEVEL_CLIENT, "zstd"));
        }
        match self.uncompressed {
            true => Ok(None),
            false => Err(mysql_error!(ER_WRONG_COMPRESSION_ALGORITHM_CLIENT, UNCOMPRESSED)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_taken_as_mysql_takes_them() {
        for list in ["zlib", "zstd,zlib", "zlib,zlib", "ZLIB", "uncompressed,zlib", "zlib,"] {
            assert!(Allowed::check(list).is_ok(), "{list}");
        }
        for list in ["", "foo", " zlib", "zlib,foo", "zlib , zstd", "zlib,zstd,uncompressed,zlib", ","] {
            let error = Allowed::check(list).unwrap_err();
            assert_eq!(error.code.number, 1231, "{list}");
        }
        let both = Allowed { zlib: true, zstd: true, uncompressed: false };
        assert_eq!(Allowed::parse("zstd,zlib"), Some(both));
    }
}
