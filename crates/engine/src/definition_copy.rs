//! The definition that every table's file carries of itself, so that a damaged dictionary can be made again.
//!
//! On the [information page](crate::info), behind the loose trees:
//!
//! ```text
//! @2048 length u32, 0 if there is none     @2052 first page of an overflow chain u32, or 0
//! @2056 the copy, if it is not in a chain: up to 14328 bytes
//!
//! the copy:  1 u32 | length of the schema u32 | the schema | the table's definition
//! or:        2 u32 | the table's number u64
//! ```
//!
//! The first partitions of a table have the whole copy, the others say of which table they are: a definition
//! grows with the partitions, and all copies of it would grow with their square.
//!
//! The truth is the dictionary's row; this is a copy. It is written *before* the row is committed: a crash
//! between the two leaves a definition that is newer than the rows, which can be read with it (a column with
//! its instant default, an index less), and not one that is older, which could not. The next start finds what
//! differs and writes it anew, and so it gives files of earlier versions their copies, too. A definition
//! longer than the page goes to a chain; while that is being exchanged there is none, which is as good: two
//! pages would have to be damaged for it to matter.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::sync::Arc;

use palisade_base::event::retry_blocking;
use palisade_base::{Blocked, PageNo};
use palisade_btree::mtr::{OP_OVERHEAD, max_op_bytes};
use palisade_btree::overflow::{self, ChainReader};
use palisade_btree::{Mtr, verify};
use palisade_buffer::{PageRead, PageSize, Space};
use palisade_catalog::{Schema, TableDef};
use palisade_log::Log;

use crate::info::{self, INFO_PAGE, INFO_TYPE};
use crate::{Attempt, Error};

/// Where the copy's length is, and behind it the first page of its chain.
pub(crate) const LENGTH: usize = 2048;
const CHAIN: usize = LENGTH + 4;
/// Where a copy that needs no chain begins.
pub(crate) const INLINE: usize = LENGTH + 8;
/// The longest copy that needs no chain.
pub(crate) const fn max_inline(size: PageSize) -> usize {
    size.bytes() - INLINE
}
/// What a whole copy begins with.
const WHOLE: u32 = 1;
/// What names the table only.
const REFERENCE: u32 = 2;
/// Partitions of a table that have the whole copy, the first of them.
const WHOLE_COPIES: usize = 8;

/// What a file says of its table.
#[derive(Debug, PartialEq)]
pub(crate) enum DefinitionCopy {
    /// The schema, and the definition.
    Whole(Box<(Schema, TableDef)>),
    /// The table's number; other files have the definition.
    Reference(u64),
}

impl DefinitionCopy {
    /// What the file of partition `number` says of its table.
    pub(crate) fn of(schema: &Schema, table: &TableDef, number: usize) -> DefinitionCopy {
        match number < WHOLE_COPIES {
            true => DefinitionCopy::Whole(Box::new((schema.clone(), table.clone()))),
            false => DefinitionCopy::Reference(table.id),
        }
    }
}

/// The bytes of what the file of each partition of a table says of it.
pub(crate) fn encode_all(schema: &Schema, table: &TableDef) -> impl Iterator<Item = Vec<u8>> {
    let whole = encode(schema, table);
    let reference = [&REFERENCE.to_le_bytes()[..], &table.id.to_le_bytes()].concat();
    let of = move |number| if number < WHOLE_COPIES { whole.clone() } else { reference.clone() };
    (0..table.partitions.len()).map(of)
}

fn encode(schema: &Schema, table: &TableDef) -> Vec<u8> {
    let schema = schema.to_bytes();
    let mut bytes = WHOLE.to_le_bytes().to_vec();
    bytes.extend_from_slice(&(schema.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&schema);
    bytes.extend_from_slice(&table.to_bytes());
    bytes
}

/// Takes a copy apart.
pub(crate) fn decode(bytes: &[u8]) -> Result<DefinitionCopy, Error> {
    let wrong = || Error::Inconsistent("the copy of a definition makes no sense".to_owned());
    let (format, rest) = bytes.split_first_chunk::<4>().ok_or_else(wrong)?;
    match u32::from_le_bytes(*format) {
        WHOLE => {}
        REFERENCE => {
            let id = rest.try_into().map_err(|_| wrong())?;
            return Ok(DefinitionCopy::Reference(u64::from_le_bytes(id)));
        }
        _ => return Err(wrong()),
    }
    let (len, rest) = rest.split_first_chunk::<4>().ok_or_else(wrong)?;
    let (schema, table) = rest.split_at_checked(u32::from_le_bytes(*len) as usize).ok_or_else(wrong)?;
    let both = (Schema::from_bytes(schema)?, TableDef::from_bytes(table)?);
    Ok(DefinitionCopy::Whole(Box::new(both)))
}

/// Where a space's copy is: its length, and its chain's first page.
fn place(space: &Space) -> Attempt<(usize, PageNo)> {
    let page = space.shared(INFO_PAGE).map_err(Blocked::up)?;
    if page.page_type() != INFO_TYPE {
        let what = "not an information page".to_owned();
        return Err(Error::Corrupted { space: space.id(), page: INFO_PAGE, what }.into());
    }
    Ok((page.u32_at(LENGTH) as usize, PageNo(page.u32_at(CHAIN))))
}

/// The copy in a space; `None` if there is none. Blocks.
pub(crate) fn read(space: &Space) -> Result<Option<Vec<u8>>, Error> {
    let (len, chain) = retry_blocking(|| place(space))?;
    if len == 0 {
        return Ok(None);
    }
    if chain == PageNo::NONE {
        let found = retry_blocking(|| {
            let page = space.shared(INFO_PAGE).map_err(Blocked::up::<Error>)?;
            Ok::<_, Blocked<Error>>(page.get(INLINE..INLINE + len).map(<[u8]>::to_vec))
        })?;
        let what = || "the copy of the definition is longer than the page".to_owned();
        let wrong = || Error::Corrupted { space: space.id(), page: INFO_PAGE, what: what() };
        return found.map(Some).ok_or_else(wrong);
    }
    let (mut reader, mut bytes) = (ChainReader::new(chain, len), Vec::new());
    retry_blocking(|| reader.read(space, &mut bytes))?;
    Ok(Some(bytes))
}

/// The pages of the copy's chain, for who accounts for a space's pages. Blocks.
pub(crate) fn pages(space: &Space) -> Result<Vec<PageNo>, Error> {
    let (_, chain) = retry_blocking(|| place(space))?;
    Ok(verify::verify_chain(space, chain, None)?.pages)
}

/// Makes `bytes` the copy of a space, if it is not. Blocks.
pub(crate) fn write(log: &Arc<Log>, space: &Space, bytes: &[u8]) -> Result<(), Error> {
    if read(space).is_ok_and(|found| found.as_deref() == Some(bytes)) {
        return Ok(());
    }
    let (_, chain) = retry_blocking(|| place(space))?;
    if chain != PageNo::NONE {
        free_chain(log, space, chain)?;
    }
    if bytes.len() <= max_inline(space.page_size()) {
        let header = [(bytes.len() as u32).to_le_bytes(), [0; 4]].concat();
        return retry_blocking(|| put(log, space, &[&header, bytes].concat()));
    }
    let mut last = None;
    for chunk in bytes.chunks(overflow::chunk(space.page_size())) {
        last = Some(retry_blocking(|| write_link(log, space, last, chunk))?);
    }
    retry_blocking(|| put(log, space, &(bytes.len() as u32).to_le_bytes()))
}

/// Writes to the information page from the length on. Waits for: the page, log credit.
fn put(log: &Arc<Log>, space: &Space, bytes: &[u8]) -> Attempt<()> {
    let mut mtr = Mtr::begin(log, max_op_bytes(space.page_size())).map_err(Blocked::up)?;
    let page = info::hold(&mut mtr, space)?;
    mtr.write(page, LENGTH, bytes);
    mtr.commit(|_| {});
    Ok(())
}

/// Writes a link behind `last`; the first one is noted with it. Waits for: pages, log credit, the file to be
/// extended.
fn write_link(log: &Arc<Log>, space: &Space, last: Option<PageNo>, chunk: &[u8]) -> Attempt<PageNo> {
    let bytes = overflow::max_write_bytes(space.page_size()) + 2 * OP_OVERHEAD;
    let mut mtr = Mtr::begin(log, bytes).map_err(Blocked::up)?;
    let info = info::hold(&mut mtr, space)?;
    let page = overflow::write_chunk(&mut mtr, space, last, chunk).map_err(Blocked::up)?;
    if last.is_none() {
        mtr.write(info, LENGTH, &[[0; 4], page.0.to_le_bytes()].concat());
    }
    mtr.commit(|_| {});
    Ok(page)
}

/// Frees a chain and forgets it. Blocks.
fn free_chain(log: &Arc<Log>, space: &Space, first: PageNo) -> Result<(), Error> {
    // No other code reads what is half there.
    retry_blocking(|| put(log, space, &0u32.to_le_bytes()))?;
    while retry_blocking(|| {
        let mut mtr = Mtr::begin(log, overflow::MAX_FREE_BYTES).map_err(Blocked::up::<Error>)?;
        let more = overflow::free_links(&mut mtr, space, first).map_err(Blocked::up::<Error>)?;
        if mtr.is_changed() {
            mtr.commit(|_| {});
        }
        Ok::<_, Blocked<Error>>(more)
    })? {}
    retry_blocking(|| {
        let bytes = overflow::MAX_FREE_BYTES + 2 * OP_OVERHEAD;
        let mut mtr = Mtr::begin(log, bytes).map_err(Blocked::up::<Error>)?;
        let info = info::hold(&mut mtr, space)?;
        overflow::free_first(&mut mtr, space, first).map_err(Blocked::up::<Error>)?;
        mtr.write(info, LENGTH, &[0; 8]);
        mtr.commit(|_| {});
        Ok::<_, Blocked<Error>>(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::harness::*;

    /// From none to a page, to a chain, to a shorter chain, to a page: each reads back, and no page is lost
    /// on the way.
    #[test]
    fn a_copy_of_any_length_reads_back_and_leaves_no_pages_behind() {
        let engine = open(&memory());
        create_schema(&engine);
        let table = create_table(&engine, definition("t"));
        let space = table.sole_partition().space();
        let usage = || retry_blocking(|| palisade_btree::alloc::usage(space)).unwrap().in_use();
        let before = usage();
        let (most, chunk) = (max_inline(PageSize::DEFAULT), overflow::chunk(PageSize::DEFAULT));
        for len in [10, most, most + 1, 40 * chunk, 2 * chunk, 10] {
            let bytes: Vec<u8> = (0..len).map(|at| (at * 7 + len) as u8).collect();
            write(&engine.log, space, &bytes).unwrap();
            assert_eq!(read(space).unwrap(), Some(bytes));
            let links = if len > most { len.div_ceil(chunk) } else { 0 };
            assert_eq!(usage() as usize, before as usize + links, "{len} bytes");
            assert_eq!(pages(space).unwrap().len(), links);
        }
    }

    #[test]
    fn the_first_partitions_have_the_whole_copy() {
        let engine = open(&memory());
        create_schema(&engine);
        let names: Vec<_> = (0..WHOLE_COPIES + 2).map(|number| format!("p{number}")).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let table = create_table(&engine, partitioned("t", &names));
        for (number, partition) in table.partitions().iter().enumerate() {
            let found = decode(&read(partition.space()).unwrap().unwrap()).unwrap();
            let schema = engine.dictionary().schema("test").unwrap().clone();
            assert_eq!(found, DefinitionCopy::of(&schema, table.def(), number));
            assert_eq!(found == DefinitionCopy::Reference(table.id), number >= WHOLE_COPIES);
        }
    }

    #[test]
    fn the_document_has_the_numbers_of_the_code() {
        let doc = include_str!("../../../docs/format-undo.md");
        for (offset, words) in
            [(LENGTH, "length of the table's copy"), (CHAIN, "overflow chain"), (INLINE, "the copy")]
        {
            let is_line = |line: &&str| line.starts_with(&format!("| {offset} |")) && line.contains(words);
            assert!(doc.lines().any(|line| is_line(&line)), "{offset} {words}");
        }
        assert!(doc.contains(&format!("{} bytes", max_inline(PageSize::DEFAULT))));
    }
}
