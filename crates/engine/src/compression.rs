//! How the pages of tables are compressed: `COMPRESSION` and `PAGE_COMPRESSION_LEVEL`.
//!
//! The options are the table's; its space is told of them when it is made, opened, and when they change. They
//! say how pages are written from then on, and nothing of those that are there.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::io;

use palisade_buffer::{Codec, PageSize, Space, stored};
use palisade_catalog::TableDef;
use palisade_io::File;

use crate::Error;

/// The table option that names the codec.
const COMPRESSION: &str = "COMPRESSION";
/// The table option that says how hard zlib tries.
const LEVEL: &str = "PAGE_COMPRESSION_LEVEL";

/// What the options of a table say: a codec, and zlib's level if they name one.
fn choice(def: &TableDef) -> Option<(Codec, Option<u8>)> {
    let codec = def.option(COMPRESSION).and_then(Codec::named)?;
    Some((codec, def.option(LEVEL).and_then(|level| level.parse().ok())))
}

/// Pages of the table's space are compressed from now on as its options say.
pub(crate) fn follow(space: &Space, def: &TableDef) {
    space.set_packing(choice(def));
}

/// An error if the pages of a new table are to be compressed and have no more bytes than the blocks in which
/// files have room: none would take less.
pub(crate) fn check_page_size(size: PageSize, def: &TableDef) -> Result<(), Error> {
    let is_too_small = size.bytes() <= stored::BLOCK;
    if is_too_small && choice(def).is_some() { Err(Error::NoHoles) } else { Ok(()) }
}

/// An error if the pages of a new table are to be compressed and its file could have no holes. What is punched to
/// find out lies behind the file's end: a file that was made while the disk is full keeps the room that it has.
pub(crate) fn check_holes(file: &dyn File, def: &TableDef) -> Result<(), Error> {
    if choice(def).is_none() {
        return Ok(());
    }
    match file.punch_hole(file.len()?, stored::BLOCK as u64) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Err(Error::NoHoles),
        outcome => Ok(outcome?),
    }
}
