//! Clients that are refused, which have no session that could tell of their errors.

use std::time::Instant;

use palisade_base::MysqlError;

use super::people::AccountKey;
use super::setup::Instrument;
use crate::connections::Connection;
use crate::host::ServerHost;

impl ServerHost {
    /// A client of `connection` that claims to be `user` is refused: as in MySQL that is a connection of the
    /// account, be there one or not, and an error of it.
    pub(crate) fn note_refusal(&self, connection: &Connection, user: &str, error: &MysqlError) {
        let key = AccountKey { user: user.to_owned(), host: connection.host.clone() };
        let instruments = &self.instruments;
        let counts = instruments.collects()
            && instruments.setup.collects(Instrument::Error).0
            && instruments.setup.of_account(&key.user, &key.host).0;
        self.connections.people.refuse(&key, error.number(), instruments.ns_of(Instant::now()), counts);
    }
}
