//! The first pass of recovery: where the pages are.

use std::collections::HashMap;
use std::sync::Arc;

use palisade_base::{Lsn, SpaceId};
use palisade_log::{Log, LogReader};

use super::planted::{Planted, makes};
use super::record;
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
    while let Some(frame) = reader.next()? {
        end = frame.end;
        if !record::is_record(frame.payload) || makes(Planted::NoFirstPass) {
            continue;
        }
        let redone = record::decode(frame.payload, |placed| {
            if let Some(store) = stores.get(&placed.page.space) {
                store.redo(placed, end, log);
            }
        });
        redone.map_err(|_| RecoverError::BadRecord { end })?;
    }
    Ok(end)
}
