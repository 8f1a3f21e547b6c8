//! Undo records.
//!
//! ```text
//! length u16 | kind u8 | writer u48 | previous record of the same transaction u48 | payload
//! ```

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use palisade_base::bytes::common_ends;
use palisade_base::codec::{Reader, Truncated, put_bytes, put_varint};
use palisade_base::{PageNo, SpaceId, TrxId};
use palisade_buffer::{Page, PageSize};

use crate::entry::{ClusteredHeader, UndoPtr, get_u48, put_u48};
use crate::undo::page::{RECORDS, capacity};

/// Bytes in front of the payload.
pub const RECORD_HEADER: usize = 15;
/// Where a record says which one was before it.
pub const PREVIOUS: usize = 9;
/// Most bytes of a record: key and value of an entry, and what is around them.
#[inline]
pub const fn max_record(size: PageSize) -> usize {
    palisade_btree::layout::max_entry(size.bytes()) + 64
}

/// Most bytes of locks in a record: two records fit on a page, with room for a commit, and two bytes say how
/// many.
pub(crate) const fn max_locks(size: PageSize) -> usize {
    let most = (capacity(size) - RECORD_HEADER) / 2 - RECORD_HEADER - 2;
    if most < 1 << 14 { most } else { (1 << 14) - 1 }
}

/// Most bytes of a record about locks.
pub const fn max_locks_record(size: PageSize) -> usize {
    RECORD_HEADER + 2 + max_locks(size)
}

const fn check_records(size: PageSize) {
    assert!(2 * max_record(size) + RECORD_HEADER <= capacity(size));
}

const _: () = {
    let [a, b, c, d, e] = PageSize::ALL;
    check_records(a);
    check_records(b);
    check_records(c);
    check_records(d);
    check_records(e);
};

const INSERT: u8 = 1;
const MODIFY: u8 = 2;
const SECONDARY: u8 = 3;
const CHAIN_ALLOCATED: u8 = 4;
const CHAIN_RELEASED: u8 = 5;
const COMMIT: u8 = 6;
const PREPARE: u8 = 7;
const LOCKS: u8 = 8;

/// An older byte string, made from the newer one: its first `front` and last `back` bytes are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delta<'a> {
    /// Bytes kept at the front.
    pub front: usize,
    /// Bytes kept at the back.
    pub back: usize,
    /// What was between them.
    pub middle: &'a [u8],
}

impl<'a> Delta<'a> {
    /// What makes `old` from `new`.
    #[expect(clippy::indexing_slicing, reason = "counted in the string itself")]
    pub fn between(old: &'a [u8], new: &[u8]) -> Self {
        let (front, back) = common_ends(old, new);
        Delta { front, back, middle: &old[front..old.len() - back] }
    }

    /// How long the older string is.
    pub fn older_len(&self) -> usize {
        self.front.saturating_add(self.middle.len()).saturating_add(self.back)
    }

    /// Makes the older string of `new`; `None` if it was not made for it.
    pub fn apply(&self, new: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let (kept, back) = new.split_at_checked(new.len().checked_sub(self.back)?)?;
        let front = kept.get(..self.front)?;
        out.extend_from_slice(front);
        out.extend_from_slice(self.middle);
        out.extend_from_slice(back);
        Some(())
    }
}

/// What a secondary entry was before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prior<'a> {
    /// Who had last changed it.
    pub writer: TrxId,
    /// Its flags.
    pub flags: u8,
    /// What makes its payload from the new one.
    pub payload: Delta<'a>,
}

/// What a record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undo<'a> {
    /// The transaction inserted a row where there was no entry.
    Insert {
        /// The clustered index.
        index: u64,
        /// The row's key.
        key: &'a [u8],
    },
    /// The transaction made a new version of a row.
    Modify {
        /// The clustered index.
        index: u64,
        /// The row's key.
        key: &'a [u8],
        /// Whether the new version is a delete mark.
        deletes: bool,
        /// The old version's header.
        old: ClusteredHeader,
        /// What makes the old version's bytes from the new one's.
        row: Delta<'a>,
    },
    /// The transaction changed an entry of a secondary index.
    Secondary {
        /// The index.
        index: u64,
        /// The entry's key.
        key: &'a [u8],
        /// Whether the change was a delete mark.
        deletes: bool,
        /// What it was; `None` if there was no entry.
        prior: Option<Prior<'a>>,
    },
    /// The transaction began to write an overflow chain.
    ChainAllocated {
        /// Where.
        space: SpaceId,
        /// Its first page.
        first: PageNo,
    },
    /// The transaction replaced or deleted the value in an overflow chain: it can go once nobody sees the old version.
    ChainReleased {
        /// Where.
        space: SpaceId,
        /// Its first page; none if the chain is gone already.
        first: PageNo,
    },
    /// The transaction committed.
    Commit,
    /// The transaction is prepared: it will end as it is told to, whatever happens meanwhile.
    Prepare {
        /// Whatever its owner wants to find again.
        note: &'a [u8],
    },
    /// The transaction is about to be prepared, and has these locks besides those of the rows that it has written.
    Locks {
        /// As the module `held` writes them.
        locks: &'a [u8],
    },
}

/// A record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UndoRecord<'a> {
    /// Whose it is.
    pub writer: TrxId,
    /// The transaction's record before.
    pub previous: UndoPtr,
    /// What it says.
    pub undo: Undo<'a>,
}

impl Undo<'_> {
    fn kind(&self) -> u8 {
        match self {
            Undo::Insert { .. } => INSERT,
            Undo::Modify { .. } => MODIFY,
            Undo::Secondary { .. } => SECONDARY,
            Undo::ChainAllocated { .. } => CHAIN_ALLOCATED,
            Undo::ChainReleased { .. } => CHAIN_RELEASED,
            Undo::Commit => COMMIT,
            Undo::Prepare { .. } => PREPARE,
            Undo::Locks { .. } => LOCKS,
        }
    }

    /// Whether purge has something to do for it.
    pub fn needs_purge(&self) -> bool {
        match self {
            Undo::Modify { deletes, .. } | Undo::Secondary { deletes, .. } => *deletes,
            Undo::ChainReleased { .. } => true,
            Undo::Insert { .. }
            | Undo::ChainAllocated { .. }
            | Undo::Commit
            | Undo::Prepare { .. }
            | Undo::Locks { .. } => false,
        }
    }
}

impl<'a> UndoRecord<'a> {
    /// Replaces the content of `out` by the record's bytes.
    #[expect(clippy::indexing_slicing, reason = "the header is there")]
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&[0, 0, self.undo.kind()]);
        put_u48(out, self.writer.0);
        put_u48(out, self.previous.to_u64());
        match self.undo {
            Undo::Insert { index, key } => put_entry(out, index, key),
            Undo::Modify { index, key, deletes, old, row } => {
                put_entry(out, index, key);
                out.push(u8::from(deletes));
                old.put(out);
                put_delta(out, &row);
            }
            Undo::Secondary { index, key, deletes, prior } => {
                put_entry(out, index, key);
                out.push(u8::from(deletes) | u8::from(prior.is_some()) << 1);
                if let Some(prior) = prior {
                    put_u48(out, prior.writer.0);
                    out.push(prior.flags);
                    put_delta(out, &prior.payload);
                }
            }
            Undo::ChainAllocated { space, first } | Undo::ChainReleased { space, first } => {
                out.extend_from_slice(&first.0.to_le_bytes());
                put_varint(out, space.0.into());
            }
            Undo::Commit => {}
            Undo::Prepare { note } => put_bytes(out, note),
            Undo::Locks { locks } => put_bytes(out, locks),
        }
        assert!(out.len() <= max_record(PageSize::MOST), "an undo record of {} bytes", out.len());
        let len = out.len() as u16;
        out[..2].copy_from_slice(&len.to_le_bytes());
    }

    /// Reads the record at `offset` of an undo page. Gives its length, too. Never panics.
    pub fn read(page: &'a Page, offset: usize) -> Result<(UndoRecord<'a>, usize), Truncated> {
        if offset < RECORDS {
            return Err(Truncated);
        }
        let rest = page.get(offset..).ok_or(Truncated)?;
        let len = usize::from(Reader::new(rest).u16()?);
        if len < RECORD_HEADER {
            return Err(Truncated);
        }
        let bytes = rest.get(..len).ok_or(Truncated)?;
        Ok((Self::decode(bytes)?, len))
    }

    /// Reads a record from its bytes.
    pub fn decode(bytes: &'a [u8]) -> Result<UndoRecord<'a>, Truncated> {
        let mut reader = Reader::new(bytes);
        reader.u16()?;
        let kind = reader.u8()?;
        let writer = TrxId(get_u48(&reader.array()?));
        let previous = UndoPtr::from_u64(get_u48(&reader.array()?));
        let undo = match kind {
            INSERT => {
                let (index, key) = take_entry(&mut reader)?;
                Undo::Insert { index, key }
            }
            MODIFY => {
                let (index, key) = take_entry(&mut reader)?;
                let deletes = reader.u8()? != 0;
                let (old, _) =
                    ClusteredHeader::split(reader.bytes(crate::entry::CLUSTERED_HEADER)?).ok_or(Truncated)?;
                Undo::Modify { index, key, deletes, old, row: take_delta(&mut reader)? }
            }
            SECONDARY => {
                let (index, key) = take_entry(&mut reader)?;
                let bits = reader.u8()?;
                let prior = if bits & 2 == 0 {
                    None
                } else {
                    let writer = TrxId(get_u48(&reader.array()?));
                    Some(Prior { writer, flags: reader.u8()?, payload: take_delta(&mut reader)? })
                };
                Undo::Secondary { index, key, deletes: bits & 1 != 0, prior }
            }
            CHAIN_ALLOCATED | CHAIN_RELEASED => {
                let first = PageNo(reader.u32()?);
                let space = SpaceId(u32::try_from(reader.varint()?).map_err(|_| Truncated)?);
                match kind {
                    CHAIN_ALLOCATED => Undo::ChainAllocated { space, first },
                    _ => Undo::ChainReleased { space, first },
                }
            }
            COMMIT => Undo::Commit,
            PREPARE => Undo::Prepare { note: reader.prefixed_bytes()? },
            LOCKS => Undo::Locks { locks: reader.prefixed_bytes()? },
            _ => return Err(Truncated),
        };
        Ok(UndoRecord { writer, previous, undo })
    }
}

/// Where a chain record keeps the chain's first page.
pub const CHAIN_FIRST: usize = RECORD_HEADER;

fn put_entry(out: &mut Vec<u8>, index: u64, key: &[u8]) {
    put_varint(out, index);
    put_bytes(out, key);
}

fn take_entry<'a>(reader: &mut Reader<'a>) -> Result<(u64, &'a [u8]), Truncated> {
    Ok((reader.varint()?, reader.prefixed_bytes()?))
}

fn put_delta(out: &mut Vec<u8>, delta: &Delta<'_>) {
    put_varint(out, delta.front as u64);
    put_varint(out, delta.back as u64);
    put_bytes(out, delta.middle);
}

fn take_delta<'a>(reader: &mut Reader<'a>) -> Result<Delta<'a>, Truncated> {
    let front = usize::try_from(reader.varint()?).map_err(|_| Truncated)?;
    let back = usize::try_from(reader.varint()?).map_err(|_| Truncated)?;
    Ok(Delta { front, back, middle: reader.prefixed_bytes()? })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn all() -> Vec<UndoRecord<'static>> {
        let old = ClusteredHeader { writer: TrxId(7), roll: UndoPtr::new(PageNo(9), 100), flags: 1 };
        let delta = Delta { front: 1, back: 300, middle: b"middle" };
        let undos = [
            Undo::Insert { index: 300, key: b"key" },
            Undo::Modify { index: 1, key: b"", deletes: true, old, row: delta },
            Undo::Secondary { index: 1, key: b"k", deletes: false, prior: None },
            Undo::Secondary {
                index: 1,
                key: b"k",
                deletes: true,
                prior: Some(Prior { writer: TrxId(3), flags: 1, payload: delta }),
            },
            Undo::ChainAllocated { space: SpaceId(70_000), first: PageNo(5) },
            Undo::ChainReleased { space: SpaceId(2), first: PageNo::NONE },
            Undo::Commit,
            Undo::Prepare { note: b"who it is" },
            Undo::Locks { locks: b"what it has" },
        ];
        let record =
            |undo| UndoRecord { writer: TrxId(1 << 40), previous: UndoPtr::new(PageNo(u32::MAX), 56), undo };
        undos.into_iter().map(record).collect()
    }

    #[test]
    fn records_round_trip_and_cut_ones_are_errors() {
        let mut bytes = Vec::new();
        for record in all() {
            record.encode(&mut bytes);
            assert_eq!(UndoRecord::decode(&bytes), Ok(record));
            for len in 0..bytes.len() {
                assert!(UndoRecord::decode(&bytes[..len]).is_err(), "{record:?} cut at {len}");
            }
        }
    }

    #[test]
    fn pages_of_garbage_never_panic() {
        let mut prng = palisade_base::prng::Prng::new(palisade_base::prng::test_seed(3));
        let mut page = Page::zeroed(PageSize::DEFAULT);
        for _ in 0..200 {
            prng.fill(&mut page);
            for offset in [0, 56, 100, 16_380, 16_383, 16_384, 70_000] {
                let _ = UndoRecord::read(&page, offset);
            }
        }
    }

    #[test]
    fn deltas_restore_what_they_were_made_from() {
        let mut prng = palisade_base::prng::Prng::new(palisade_base::prng::test_seed(4));
        for _ in 0..2000 {
            let mut random = || (0..prng.below(8)).map(|_| prng.below(2) as u8).collect::<Vec<u8>>();
            let (old, new) = (random(), random());
            let mut out = Vec::new();
            Delta::between(&old, &new).apply(&new, &mut out).unwrap();
            assert_eq!(out, old);
        }
        assert_eq!(Delta { front: 3, back: 3, middle: b"" }.apply(b"abcd", &mut Vec::new()), None);
    }
}
