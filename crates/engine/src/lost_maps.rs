//! Maps of tables that are written out of place, when they are lost: with force they are made again from the
//! pages, see [`rebuild_map`].

use std::collections::HashMap;
use std::io;

use palisade_base::{PageId, PageNo, SpaceId};
use palisade_buffer::places::{header_of, rebuild_map};
use palisade_buffer::{Corruption, PageSize, PlaceStore};

use crate::files::{Files, SpaceFile};

/// The spaces whose map was made again, with what had been found.
pub(crate) type RemadeMaps = HashMap<SpaceId, palisade_buffer::Error>;

/// What is the matter with a map.
enum Lack {
    /// It is gone or damaged.
    Lost(palisade_buffer::Error),
    /// Parts of it read as if they had never been written, which is so or not: a look at the file does no
    /// harm.
    Blank,
}

/// Opens the files of a space of pages of `size`; `None` if there are none. If its pages are out of place and
/// its map is lost, the map is made again: by reading the whole file.
pub(crate) fn open_with_map(
    files: &Files,
    space: SpaceId,
    size: PageSize,
    remade: &mut RemadeMaps,
) -> io::Result<Option<SpaceFile>> {
    let opened = files.open_space(space)?;
    let Some(file) = &opened else { return Ok(None) };
    let Some(lack) = lack_of(space, size, file) else { return Ok(opened) };
    let path = files.map_path(space);
    let path = path.display();
    let old = file.map.as_deref();
    let made = files.replace_map(space, |map| rebuild_map(space, &*file.pages, old, map, size));
    match (made, lack) {
        (Ok(found), Lack::Lost(reason)) => {
            tracing::error!(
                "{path} is lost ({reason}), and was made again from the pages that it is about: {} pages, {} blocks that cannot \
                 be read; a page whose newest copy is damaged is what an older copy says, which CHECK TABLE may not see",
                found.pages,
                found.unreadable
            );
            remade.insert(space, reason);
            files.open_space(space)
        }
        (Ok(_), Lack::Blank) => files.open_space(space),
        (Err(error), Lack::Lost(reason)) => {
            tracing::error!("{path} is lost ({reason}), and cannot be made again: {error}");
            Ok(opened)
        }
        (Err(error), Lack::Blank) => {
            tracing::warn!("{path} has parts that were never written, and cannot be made again: {error}");
            Ok(opened)
        }
    }
}

/// What is the matter with the map of a space; `None` if nothing is, or the space has none. A map that cannot
/// be read at the moment stays what it is.
fn lack_of(space: SpaceId, size: PageSize, file: &SpaceFile) -> Option<Lack> {
    let page = PageId { space, page: PageNo(0) };
    match &file.map {
        Some(map) => match PlaceStore::open(space, file.pages.clone(), map.clone(), size) {
            Ok(store) => store.has_blank_chunks().is_ok_and(|is_so| is_so).then_some(Lack::Blank),
            Err(error @ palisade_buffer::Error::Corrupted { .. }) => Some(Lack::Lost(error)),
            Err(_) => None,
        },
        None if header_of(&*file.pages).is_ok_and(|found| found == Some(space)) => {
            Some(Lack::Lost(palisade_buffer::Error::Corrupted { page, reason: Corruption::NoPlaces }))
        }
        None => None,
    }
}
