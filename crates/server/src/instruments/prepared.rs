//! A session tells of the statements that it prepares.

use std::sync::atomic::Ordering;

use palisade_observe::prepared::{Preparation, Slot};
use palisade_parser::ParseOptions;

use super::Instruments;
use super::collect::{head, may_have_secrets};
use crate::connections::Connection;
use crate::query_logs;

impl Instruments {
    /// A connection has prepared a statement, of which there are so many in the server now. By what its
    /// executions are told of; 0 if they are not.
    pub(crate) fn follow_prepared(
        &self,
        connection: &Connection,
        preparation: Preparation,
        prepared_count: u64,
    ) -> Slot {
        if !self.collects() {
            return 0;
        }
        if prepared_count > self.most_prepared {
            self.lost_prepared.fetch_add(1, Ordering::Relaxed);
            return 0;
        }
        let text = self.shown_text(&preparation.text);
        connection.events.lock().begin_prepared(Preparation { text, ..preparation })
    }

    /// A statement's text as far as it is kept, without passwords.
    fn shown_text(&self, text: &[u8]) -> Box<[u8]> {
        let text = head(self, text);
        let options = ParseOptions { placeholders: true, ..ParseOptions::default() };
        let mut shown = match may_have_secrets(None, text) {
            true => query_logs::harmless(text, options),
            false => text.to_vec(),
        };
        shown.truncate(self.keep.text);
        shown.into()
    }
}
