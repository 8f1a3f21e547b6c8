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

/// Opens the files of a space of pages of `size`; `None` if there are none. If its pages are out of place and its map is lost, the
/// map is made again: by reading the whole file.
pub(crate) fn open_with_map(
    files: &Files,
    space: SpaceId,
    size: PageSize,
    remade: &mut RemadeMaps,
) -> io::Result<Option<SpaceFile>> {
    let opened = files.open_space(space)?;
    let Some(reason) = opened.as_ref().and_then(|file| why_lost(space, size, file)) else {
        return Ok(opened);
    };
    let Some(SpaceFile { pages, .. }) = &opened else { return Ok(opened) };
    let path = files.map_path(space);
    match files.replace_map(space, |map| rebuild_map(space, &**pages, map, size)) {
        Ok(found) => {
            tracing::error!(
                "{} is lost ({reason}), and was made again from the pages that it is about: {} pages, {} blocks that cannot \
                 be read; a page whose newest copy is damaged is what an older copy says, which CHECK TABLE may not see",
                path.display(),
                found.pages,
                found.unreadable
            );
            remade.insert(space, reason);
            files.open_space(space)
        }
        Err(error) => {
            tracing::error!("{} is lost ({reason}), and cannot be made again: {error}", path.display());
            Ok(opened)
        }
    }
}

/// What is wrong with the map of a space; `None` if nothing is, or the space has none.
fn why_lost(space: SpaceId, size: PageSize, file: &SpaceFile) -> Option<palisade_buffer::Error> {
    let page = PageId { space, page: PageNo(0) };
    match &file.map {
        Some(map) => PlaceStore::open(space, file.pages.clone(), map.clone(), size).err(),
        None if header_of(&*file.pages).is_ok_and(|found| found == Some(space)) => {
            Some(palisade_buffer::Error::Corrupted { page, reason: Corruption::NoPlaces })
        }
        None => None,
    }
}
