//! Numbers of the protocol.

use std::ops::{BitAnd, BitOr};

macro_rules! flags {
    ($(#[$doc:meta])* $name:ident($type:ty) { $($(#[$flag_doc:meta])* $flag:ident = $value:expr;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name(pub $type);

        impl $name {
            $($(#[$flag_doc])* pub const $flag: $name = $name($value);)*

            /// Whether all of `other` are set.
            pub fn has(self, other: $name) -> bool {
                self.0 & other.0 == other.0
            }

            /// The same, with `other` set or not.
            #[must_use]
            pub fn with(self, other: $name, set: bool) -> $name {
                if set { $name(self.0 | other.0) } else { $name(self.0 & !other.0) }
            }
        }

        impl BitOr for $name {
            type Output = $name;
            fn bitor(self, other: $name) -> $name {
                $name(self.0 | other.0)
            }
        }

        impl BitAnd for $name {
            type Output = $name;
            fn bitand(self, other: $name) -> $name {
                $name(self.0 & other.0)
            }
        }
    };
}

flags! {
    /// What a client or a server can do (`CLIENT_*`).
    Capabilities(u32) {
        /// Obsolete, and always set.
        LONG_PASSWORD = 1;
        /// Affected rows are found rows, not changed ones.
        FOUND_ROWS = 1 << 1;
        /// Obsolete, and always set.
        LONG_FLAG = 1 << 2;
        /// The handshake response names a database.
        CONNECT_WITH_DB = 1 << 3;
        /// The connection goes on in the compressed protocol, with zlib.
        COMPRESS = 1 << 5;
        /// The client sends files of its own where it is asked for them (LOAD DATA LOCAL).
        LOCAL_FILES = 1 << 7;
        /// The client is an ODBC driver.
        ODBC = 1 << 6;
        /// Spaces may stand before a function's parenthesis.
        IGNORE_SPACE = 1 << 8;
        /// The protocol since 4.1, the only one here.
        PROTOCOL_41 = 1 << 9;
        /// `interactive_timeout` counts instead of `wait_timeout`.
        INTERACTIVE = 1 << 10;
        /// The connection goes on in TLS.
        SSL = 1 << 11;
        /// The client ignores SIGPIPE.
        IGNORE_SIGPIPE = 1 << 12;
        /// Status flags tell about transactions.
        TRANSACTIONS = 1 << 13;
        /// Obsolete, and always set.
        RESERVED = 1 << 14;
        /// Authentication since 4.1.
        SECURE_CONNECTION = 1 << 15;
        /// COM_QUERY may hold several statements.
        MULTI_STATEMENTS = 1 << 16;
        /// COM_QUERY may have several results.
        MULTI_RESULTS = 1 << 17;
        /// COM_STMT_EXECUTE may have several results.
        PS_MULTI_RESULTS = 1 << 18;
        /// Authentication has plugins.
        PLUGIN_AUTH = 1 << 19;
        /// The handshake response carries attributes.
        CONNECT_ATTRS = 1 << 20;
        /// The authentication data has a length-encoded length.
        PLUGIN_AUTH_LENENC_CLIENT_DATA = 1 << 21;
        /// OK packets tell what changed in the session.
        SESSION_TRACK = 1 << 23;
        /// An OK packet ends a result, not an EOF packet.
        DEPRECATE_EOF = 1 << 24;
        /// The connection goes on in the compressed protocol, with Zstandard, unless
        /// [`COMPRESS`](Self::COMPRESS) is set as well.
        ZSTD_COMPRESSION_ALGORITHM = 1 << 26;
    }
}

impl Capabilities {
    /// What this server always offers; [`COMPRESS`](Self::COMPRESS),
    /// [`ZSTD_COMPRESSION_ALGORITHM`](Self::ZSTD_COMPRESSION_ALGORITHM) and [`SSL`](Self::SSL) depend on its
    /// settings.
    pub const OFFERED: Capabilities = Capabilities(
        Capabilities::LONG_PASSWORD.0
            | Capabilities::FOUND_ROWS.0
            | Capabilities::LONG_FLAG.0
            | Capabilities::CONNECT_WITH_DB.0
            | Capabilities::LOCAL_FILES.0
            | Capabilities::ODBC.0
            | Capabilities::IGNORE_SPACE.0
            | Capabilities::PROTOCOL_41.0
            | Capabilities::INTERACTIVE.0
            | Capabilities::IGNORE_SIGPIPE.0
            | Capabilities::TRANSACTIONS.0
            | Capabilities::RESERVED.0
            | Capabilities::SECURE_CONNECTION.0
            | Capabilities::MULTI_STATEMENTS.0
            | Capabilities::MULTI_RESULTS.0
            | Capabilities::PS_MULTI_RESULTS.0
            | Capabilities::PLUGIN_AUTH.0
            | Capabilities::CONNECT_ATTRS.0
            | Capabilities::PLUGIN_AUTH_LENENC_CLIENT_DATA.0
            | Capabilities::SESSION_TRACK.0
            | Capabilities::DEPRECATE_EOF.0,
    );
}

flags! {
    /// What the server tells about the session with every answer (`SERVER_STATUS_*`).
    Status(u16) {
        /// A transaction is open.
        IN_TRANSACTION = 1;
        /// Statements commit by themselves.
        AUTOCOMMIT = 2;
        /// Another result follows.
        MORE_RESULTS = 8;
        /// The statement has an open cursor: rows are fetched from it.
        CURSOR_EXISTS = 64;
        /// The cursor has given its last row.
        LAST_ROW_SENT = 128;
        /// A backslash is not an escape.
        NO_BACKSLASH_ESCAPES = 512;
        /// The open transaction is read-only.
        IN_READ_ONLY_TRANSACTION = 8192;
        /// The OK packet says what changed in the session.
        SESSION_STATE_CHANGED = 16384;
    }
}

/// First byte of a command packet.
#[allow(missing_docs)]
pub mod com {
    pub const SLEEP: u8 = 0x00;
    pub const QUIT: u8 = 0x01;
    pub const INIT_DB: u8 = 0x02;
    pub const QUERY: u8 = 0x03;
    pub const FIELD_LIST: u8 = 0x04;
    pub const CREATE_DB: u8 = 0x05;
    pub const DROP_DB: u8 = 0x06;
    pub const REFRESH: u8 = 0x07;
    pub const SHUTDOWN: u8 = 0x08;
    pub const STATISTICS: u8 = 0x09;
    pub const PROCESS_INFO: u8 = 0x0a;
    pub const PROCESS_KILL: u8 = 0x0c;
    pub const DEBUG: u8 = 0x0d;
    pub const PING: u8 = 0x0e;
    pub const CHANGE_USER: u8 = 0x11;
    pub const STMT_PREPARE: u8 = 0x16;
    pub const STMT_EXECUTE: u8 = 0x17;
    pub const STMT_SEND_LONG_DATA: u8 = 0x18;
    pub const STMT_CLOSE: u8 = 0x19;
    pub const STMT_RESET: u8 = 0x1a;
    pub const SET_OPTION: u8 = 0x1b;
    pub const STMT_FETCH: u8 = 0x1c;
    pub const RESET_CONNECTION: u8 = 0x1f;
}

/// Longest payload of one frame; a payload of this length is continued in the next frame.
pub const MAX_FRAME: usize = 0xff_ffff;
