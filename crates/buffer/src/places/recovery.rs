//! The first pass of recovery: where the pages are.
//!
//! # Records in doubt
//!
//! Where one flush covers log and data, a record is appended when its pages have been given to the device, and the
//! flush that makes it durable makes them so, too. A crash before that flush has ended may leave the record and not the
//! pages. Such a record lies beyond all that any group of the log, or the checkpoint, says to have been durable. Of these
//! last few each place is read: if it does not hold the page as it was then, the flush had not ended, so that
//! the page's old run was not given to another, and that is where the page is.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use palisade_base::{Lsn, SpaceId};
use palisade_log::{Log, LogReader};

use super::planted::{Planted, makes};
use super::record::{self, Placed};
use super::sink::OutOfPlace;
use super::store::PlaceStore;
use crate::error::Error;

/// Why places cannot be recovered.
#[derive(Debug, thiserror::Error)]
pub enum RecoverError {
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] palisade_log::Error),
    /// A place record makes no sense.
    #[error("the place record that ends at {end} makes no sense")]
    BadRecord {
        /// Its end.
        end: Lsn,
    },
}

/// Brings the places of `stores`, which have just been [opened](PlaceStore::open), to the end of the log. `reader`
/// is at the checkpoint; the redo of pages needs another. Without one there is no log to be read. Records of other
/// spaces are of spaces that are gone. Gives the stores whose places cannot be, each with an error.
///
/// Blocks: before any page is accessed.
pub fn recover(
    reader: Option<&mut LogReader>,
    log: &Log,
    stores: &HashMap<SpaceId, Arc<PlaceStore>>,
    sink: &OutOfPlace,
) -> Result<Vec<(SpaceId, Error)>, RecoverError> {
    if let Some(reader) = reader {
        sink.recovered(redo(reader, log, stores)?);
    }
    let complete = |(space, store): (&SpaceId, &Arc<PlaceStore>)| Some((*space, store.complete().err()?));
    Ok(stores.iter().filter_map(complete).collect())
}

/// Gives the end of the log.
fn redo(
    reader: &mut LogReader,
    log: &Log,
    stores: &HashMap<SpaceId, Arc<PlaceStore>>,
) -> Result<Lsn, RecoverError> {
    let mut end = reader.checkpoint_lsn();
    let mut doubtful: VecDeque<(Placed, Lsn)> = VecDeque::new();
    while let Some(frame) = reader.next()? {
        end = frame.end;
        if !record::is_record(frame.payload) || makes(Planted::NoFirstPass) {
            continue;
        }
        record::decode(frame.payload, |placed| doubtful.push_back((placed, end)))
            .map_err(|_| RecoverError::BadRecord { end })?;
        let durable = reader.known_durable();
        while let Some((placed, end)) = doubtful.pop_front_if(|(_, end)| *end <= durable) {
            apply(placed, end, log, stores);
        }
    }
    let durable = reader.known_durable();
    for (placed, end) in doubtful {
        // Whether the flush that makes the record durable has ended is not known: see the module.
        let store = stores.get(&placed.page.space);
        let holds = end <= durable
            || store.is_none_or(|store| store.holds(placed))
            || makes(Planted::DoubtfulRecordsCount);
        if holds {
            apply(placed, end, log, stores);
        }
    }
    Ok(end)
}

fn apply(placed: Placed, end: Lsn, log: &Log, stores: &HashMap<SpaceId, Arc<PlaceStore>>) {
    if let Some(store) = stores.get(&placed.page.space) {
        store.redo(placed, end, log);
    }
}
