//! The place record: which pages have been written to which places, in the redo log.
//!
//! It is the payload of a frame of its own, so that recovery tells it from a mini-transaction's operations by
//! its first byte:
//!
//! ```text
//! code u8 = 17 | for each space: space varint | pages varint
//!                 for each page: page varint | place u32 | low half of page_lsn u32
//! code u8 = 18 | the same, but for a page that is blank: page varint | place u32 = 1 | page_lsn u64
//! ```
//!
//! Pages ascend within a space and are stored as differences. A page that has a run is looked at there, so
//! that half of its LSN tells whether it is the one that was meant. Of one that is blank nothing is written
//! but this.

use palisade_base::codec::{Reader, Truncated, put_varint};
use palisade_base::{Lsn, PageId, PageNo, SpaceId};

use super::place::{MAX_BLOCKS, Place};

/// The first byte of a place record's frame. No page operation has this code.
pub const CODE: u8 = 17;
/// The same of a record that names pages which are blank. Nor has any this one.
pub const CODE_WITH_BLANKS: u8 = 18;
/// Pages that one record names at most.
pub(crate) const MOST_PAGES: usize = 128;
/// Most bytes of a record of so many pages.
pub(crate) const fn most_bytes(pages: usize) -> usize {
    // Space, number of pages, page: five bytes each at most; then place and LSN.
    1 + pages * (3 * 5 + 12)
}

/// A page and where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// The page.
    pub page: PageId,
    /// Where it is.
    pub place: Place,
    /// The LSN in its header: only the low half counts, unless the page is blank.
    pub lsn: Lsn,
}

/// Whether a frame of the log is a place record.
pub fn is_record(payload: &[u8]) -> bool {
    matches!(payload.first(), Some(&(CODE | CODE_WITH_BLANKS)))
}

/// Encodes a record of pages in ascending order, at least one.
pub(crate) fn encode(pages: &[Placed], out: &mut Vec<u8>) {
    let has_blanks = pages.iter().any(|placed| placed.place.is_blank());
    out.push(if has_blanks { CODE_WITH_BLANKS } else { CODE });
    for space in pages.chunk_by(|a, b| a.page.space == b.page.space) {
        put_varint(out, u64::from(space[0].page.space.0));
        put_varint(out, space.len() as u64);
        let mut last = 0;
        for placed in space {
            put_varint(out, u64::from(placed.page.page.0 - last));
            last = placed.page.page.0;
            out.extend_from_slice(&placed.place.bits().to_le_bytes());
            match placed.place.is_blank() {
                true => out.extend_from_slice(&placed.lsn.0.to_le_bytes()),
                false => out.extend_from_slice(&(placed.lsn.0 as u32).to_le_bytes()),
            }
        }
    }
}

/// What a record says: calls `each` for every page. An error if it is no record; some pages may have been
/// named by then.
pub fn decode(payload: &[u8], mut each: impl FnMut(Placed)) -> Result<(), Truncated> {
    let mut reader = Reader::new(payload);
    let code = reader.u8()?;
    if !is_record(&[code]) {
        return Err(Truncated);
    }
    while !reader.is_empty() {
        let space = SpaceId(u32::try_from(reader.varint()?).map_err(|_| Truncated)?);
        let pages = reader.varint()?;
        let mut last = 0_u32;
        for _ in 0..pages {
            let difference = u32::try_from(reader.varint()?).map_err(|_| Truncated)?;
            last = last.checked_add(difference).filter(|page| *page < MAX_BLOCKS).ok_or(Truncated)?;
            let place = Place::from_bits(reader.u32()?);
            let lsn = match place.is_blank() {
                true if code == CODE_WITH_BLANKS => reader.u64()?,
                true => return Err(Truncated),
                false => reader.u32()?.into(),
            };
            each(Placed { page: PageId { space, page: PageNo(last) }, place, lsn: Lsn(lsn) });
        }
    }
    Ok(())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use palisade_base::prng::{Prng, test_seed};

    fn decoded(bytes: &[u8]) -> Result<Vec<Placed>, Truncated> {
        let mut pages = Vec::new();
        decode(bytes, |placed| pages.push(placed)).map(|()| pages)
    }

    fn random_pages(random: &mut Prng) -> Vec<Placed> {
        let mut ids: Vec<PageId> = (0..1 + random.below(MOST_PAGES as u64))
            .map(|_| PageId {
                space: SpaceId(random.below(3) as u32 * 0x7fff_fff0),
                page: PageNo(random.next_u64() as u32 >> (2 + random.below(30))),
            })
            .collect();
        ids.sort_unstable();
        ids.dedup();
        let has_blanks = random.one_in(2);
        let placed = |page| match has_blanks && random.one_in(3) {
            true => Placed { page, place: Place::BLANK, lsn: Lsn(random.next_u64()) },
            false => Placed {
                page,
                place: Place::new(1 + random.below(1 << 29) as u32, 4),
                lsn: Lsn(random.next_u64() >> 32),
            },
        };
        ids.into_iter().map(placed).collect()
    }

    #[test]
    fn a_record_reads_back_and_half_a_record_is_refused_or_shorter() {
        let mut random = Prng::new(test_seed(44));
        for _ in 0..200 {
            let pages = random_pages(&mut random);
            let mut bytes = Vec::new();
            encode(&pages, &mut bytes);
            assert!(is_record(&bytes) && bytes.len() <= most_bytes(pages.len()));
            assert_eq!(decoded(&bytes).unwrap(), pages);
            let cut = random.below(bytes.len() as u64) as usize;
            assert!(
                decoded(&bytes[..cut]).is_ok_and(|some| pages.starts_with(&some))
                    || decoded(&bytes[..cut]).is_err()
            );
        }
    }

    #[test]
    fn any_bytes_are_decoded_or_refused() {
        let mut random = Prng::new(test_seed(45));
        for _ in 0..2000 {
            let mut bytes = Vec::new();
            encode(&random_pages(&mut random), &mut bytes);
            for _ in 0..1 + random.below(8) {
                let at = random.below(bytes.len() as u64) as usize;
                bytes[at] = random.next_u64() as u8;
            }
            let _ = decoded(&bytes);
        }
        assert!(decoded(&[16, 0]).is_err() && decoded(&[]).is_err());
    }
}
