//! The first pass of recovery: where the pages are.
//!
//! # Records in doubt
//!
//! Where one flush covers log and data, a record is appended when its pages have been given to the device,
//! and the flush that makes it durable makes them so, too. A crash before that flush has ended may leave the
//! record and not the pages. Such a record lies beyond all that any group of the log, or the checkpoint, says
//! to have been durable. Of these last few each place is read: if it does not hold the page as it was then,
//! the flush had not ended, so that the page's old run was not given to another, and that is where the page
//! is.
//!
//! Of a page that is blank there is nothing that a flush could have left out, so that the record is believed.
//!
//! A map that was [made again](super::rebuild) knows all that the log has to say; so records are passed over
//! for it, but for pages that are blank, of which the file may have copies that are over.
//!
//! The next start would believe such a record: by then the whole log counts as durable. So the chunk of each
//! that was not believed is written into the map, as of the end of the log, before the log goes on.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use palisade_base::{Lsn, SpaceId};
use palisade_log::{Log, LogReader};

use super::record::{self, Placed};
use super::sink::OutOfPlace;
use super::store::PlaceStore;
use crate::error::Error;
use crate::planted::{Planted, makes};

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

/// Brings the places of `stores`, which have just been [opened](PlaceStore::open), to the end of the log.
/// `reader` is at the checkpoint; the redo of pages needs another. Without one there is no log to be read.
/// Records of other spaces are passed over. Gives the stores whose places cannot be, each with an error: no
/// checkpoint waits for them.
///
/// Blocks: before any page is accessed, and before the log takes appends.
pub fn recover(
    reader: Option<&mut LogReader>,
    log: &Log,
    stores: &HashMap<SpaceId, Arc<PlaceStore>>,
    sink: &OutOfPlace,
) -> Result<Vec<(SpaceId, Error)>, RecoverError> {
    let mut distrusted = BTreeSet::new();
    let mut lost = Vec::new();
    let mut end = log.durable_lsn();
    if let Some(reader) = reader {
        end = redo(reader, log, stores, &mut distrusted)?;
        sink.recovered(end);
    }
    for (space, store) in stores {
        store.mark_uneven(log);
        let is_to_be_written = store.date_found(end, log) || distrusted.contains(space);
        let settled = store.complete().and_then(|()| match is_to_be_written {
            true => sink.settle(store),
            false => Ok(()),
        });
        if let Err(error) = settled {
            store.detach(log);
            lost.push((*space, error));
        }
    }
    Ok(lost)
}

/// Gives the end of the log.
fn redo(
    reader: &mut LogReader,
    log: &Log,
    stores: &HashMap<SpaceId, Arc<PlaceStore>>,
    distrusted: &mut BTreeSet<SpaceId>,
) -> Result<Lsn, RecoverError> {
    let mut end = reader.checkpoint_lsn();
    // Of spaces that have a store.
    let mut doubtful: VecDeque<(Placed, Lsn)> = VecDeque::new();
    while let Some(frame) = reader.next()? {
        end = frame.end;
        if !record::is_record(frame.payload) || makes(Planted::NoFirstPass) {
            continue;
        }
        record::decode(frame.payload, |placed| {
            if stores.contains_key(&placed.page.space) {
                doubtful.push_back((placed, end));
            }
        })
        .map_err(|_| RecoverError::BadRecord { end })?;
        let durable = reader.known_durable();
        while let Some((placed, end)) = doubtful.pop_front_if(|(_, end)| *end <= durable) {
            stores[&placed.page.space].redo(placed, end, log);
        }
    }
    let durable = reader.known_durable();
    for (placed, end) in doubtful {
        // Whether the flush that makes the record durable has ended is not known: see the module.
        let store = &stores[&placed.page.space];
        if end <= durable
            || placed.place.is_blank()
            || store.holds(placed)
            || makes(Planted::DoubtfulRecordsCount)
        {
            store.redo(placed, end, log);
        } else if store.distrusts(placed, end, log) {
            distrusted.insert(placed.page.space);
        }
    }
    Ok(end)
}
