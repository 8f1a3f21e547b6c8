//! A page: 4 to 64 KiB, of which the first 32 bytes belong to this crate.
//!
//! ```text
//!   0        4         8       12          14      16         24         32
//!   checksum page_no   space   page_type   flags   page_lsn   reserved   body ...
//!   u32      u32       u32     u16         u16     u64        8 bytes
//! ```
//!
//! Little-endian. The checksum is the CRC-32C of byte 4 to the last and so covers the page's id: a page
//! written to the wrong place is told from a good one even though every byte of it is intact. It is computed
//! when a copy of the page leaves for disk ([`seal`]) and checked when one comes back ([`verify`]); in memory
//! it is stale. On disk a page may be compressed ([`stored`]): the reserved bytes then say how.
//!
//! [`PageRead`] is what a search needs of a page. It is implemented by [`Page`] - bytes under a shared or exclusive
//! latch - and by [`OptimisticPage`](crate::OptimisticPage), whose bytes may change under the reader. A search written
//! against it must therefore survive any bytes: reads out of range give zeros and never panic, loops must end
//! whatever the page says, and nothing but `Copy` data leaves before the reader has validated.

use std::cmp::Ordering;
use std::ops::{Deref, DerefMut};

use palisade_base::bytes::array_at;
use palisade_base::checksum::crc32c;
use palisade_base::{Lsn, PageId, PageNo, SpaceId};

use crate::error::Corruption;
use crate::page_size::PageSize;
use crate::stored;

/// Bytes at the front of every page that this crate owns; the body follows.
pub const PAGE_HEADER: usize = 32;

const CHECKSUM: usize = 0;
const PAGE_NO: usize = 4;
const SPACE: usize = 8;
const PAGE_TYPE: usize = 12;
const FLAGS: usize = 14;
const PAGE_LSN: usize = 16;

/// Reading a page, under whatever latch.
pub trait PageRead {
    /// The same page, read from a value of its own. A loop that reads through one has address and size in
    /// registers: behind a reference they are loaded again at every turn, because the loads of an optimistic
    /// reader are atomic.
    fn reader(&self) -> impl PageRead + Copy;
    /// Bytes of the page.
    fn size(&self) -> usize;
    /// The byte at `offset`; 0 out of range.
    fn u8_at(&self, offset: usize) -> u8;
    /// The little-endian `u16` at `offset`; 0 if any of it is out of range.
    fn u16_at(&self, offset: usize) -> u16;
    /// The little-endian `u32` at `offset`; 0 if any of it is out of range.
    fn u32_at(&self, offset: usize) -> u32;
    /// The little-endian `u64` at `offset`; 0 if any of it is out of range.
    fn u64_at(&self, offset: usize) -> u64;
    /// Fills `out` with the bytes from `offset` on, and with zeros past the end of the page.
    fn copy(&self, offset: usize, out: &mut [u8]);
    /// How the `len` bytes at `offset` compare with `key`, as `memcmp` does, the shorter first if one is a prefix of
    /// the other. Bytes past the end of the page do not exist.
    fn compare(&self, offset: usize, len: usize, key: &[u8]) -> Ordering;

    /// The big-endian `u32` at `offset`, which compares like its four bytes.
    #[inline]
    fn be_u32_at(&self, offset: usize) -> u32 {
        self.u32_at(offset).swap_bytes()
    }

    /// The page's number, from its header.
    #[inline]
    fn page_no(&self) -> PageNo {
        PageNo(self.u32_at(PAGE_NO))
    }

    /// The page's space, from its header.
    #[inline]
    fn space_id(&self) -> SpaceId {
        SpaceId(self.u32_at(SPACE))
    }

    /// What the page holds; the numbers are given by the crates above.
    #[inline]
    fn page_type(&self) -> u16 {
        self.u16_at(PAGE_TYPE)
    }

    /// Flags of the page's type.
    #[inline]
    fn flags(&self) -> u16 {
        self.u16_at(FLAGS)
    }

    /// End of the last mini-transaction that changed the page.
    #[inline]
    fn page_lsn(&self) -> Lsn {
        Lsn(self.u64_at(PAGE_LSN))
    }
}

/// The bytes of a page, as many as a [`PageSize`] has. Dereferences to `[u8]`.
#[repr(transparent)]
pub struct Page([u8]);

const _: () = assert!(PAGE_HEADER.is_multiple_of(8));

/// What a page that has been created and not yet written reads as.
static ZEROS: [u8; PageSize::MOST.bytes()] = [0; PageSize::MOST.bytes()];

impl Page {
    /// A page of zeros outside the pool; for tests and for rebuilding pages.
    pub fn zeroed(size: PageSize) -> Box<Page> {
        Page::boxed(vec![0; size.bytes()].into_boxed_slice())
    }

    fn boxed(bytes: Box<[u8]>) -> Box<Page> {
        assert!(PageSize::of(bytes.len() as u64).is_some(), "the bytes of one page");
        // SAFETY: a page is a slice of bytes and nothing else; the box is given up and taken over.
        unsafe { Box::from_raw(Box::into_raw(bytes) as *mut Page) }
    }

    /// What a page of `size` bytes that has been created and not yet written reads as.
    pub(crate) fn zeros(size: usize) -> &'static Page {
        Page::of(&ZEROS[..size])
    }

    /// The bytes of a page as the page.
    pub(crate) fn of(bytes: &[u8]) -> &Page {
        assert!(PageSize::of(bytes.len() as u64).is_some(), "the bytes of one page");
        // SAFETY: a page is a slice of bytes and nothing else; the borrow goes over to it.
        unsafe { &*(bytes as *const [u8] as *const Page) }
    }

    /// The bytes of a page as the page.
    pub(crate) fn of_bytes(bytes: &mut [u8]) -> &mut Page {
        assert!(PageSize::of(bytes.len() as u64).is_some(), "the bytes of one page");
        // SAFETY: a page is a slice of bytes and nothing else; the borrow goes over to it.
        unsafe { &mut *(bytes as *mut [u8] as *mut Page) }
    }

    /// Bytes of the page.
    #[inline]
    pub fn size(&self) -> usize {
        self.0.len()
    }

    /// Zeros, but for the id in the header.
    pub(crate) fn format(&mut self, id: PageId) {
        self.0.fill(0);
        self.put(PAGE_NO, &id.page.0.to_le_bytes());
        self.put(SPACE, &id.space.0.to_le_bytes());
    }

    /// Whether the page is as `format` leaves it, but for its LSN: there is nothing in it that
    /// has to be stored.
    pub fn is_blank(&self) -> bool {
        self.page_type() == 0 && self.flags() == 0 && self.0[PAGE_HEADER..] == ZEROS[PAGE_HEADER..self.size()]
    }

    /// Sets what the page holds.
    pub fn set_page_type(&mut self, page_type: u16) {
        self.put(PAGE_TYPE, &page_type.to_le_bytes());
    }

    /// Sets the flags of the page's type.
    pub fn set_flags(&mut self, flags: u16) {
        self.put(FLAGS, &flags.to_le_bytes());
    }

    pub(crate) fn set_page_lsn(&mut self, lsn: Lsn) {
        self.put(PAGE_LSN, &lsn.0.to_le_bytes());
    }

    /// Writes `bytes` at `offset`, which must lie in the page.
    #[inline]
    pub fn put(&mut self, offset: usize, bytes: &[u8]) {
        self.0[offset..offset + bytes.len()].copy_from_slice(bytes);
    }

    /// Writes a little-endian `u16` at `offset`, which must lie in the page.
    #[inline]
    pub fn put_u16(&mut self, offset: usize, value: u16) {
        self.put(offset, &value.to_le_bytes());
    }

    /// Writes a little-endian `u32` at `offset`, which must lie in the page.
    #[inline]
    pub fn put_u32(&mut self, offset: usize, value: u32) {
        self.put(offset, &value.to_le_bytes());
    }

    /// Writes a little-endian `u64` at `offset`, which must lie in the page.
    #[inline]
    pub fn put_u64(&mut self, offset: usize, value: u64) {
        self.put(offset, &value.to_le_bytes());
    }

    /// The `len` bytes at `offset`; `None` if any of them is out of range.
    #[inline]
    pub fn slice(&self, offset: usize, len: usize) -> Option<&[u8]> {
        self.0.get(offset..)?.get(..len)
    }

    #[inline]
    fn array<const N: usize>(&self, offset: usize) -> [u8; N] {
        // A read at a constant offset near the front needs no comparison then. SAFETY: every page is made of
        // so many bytes as a `PageSize` says.
        unsafe { std::hint::assert_unchecked(self.0.len() >= PageSize::LEAST.bytes()) };
        array_at(&self.0, offset).copied().unwrap_or([0; N])
    }
}

impl ToOwned for Page {
    type Owned = Box<Page>;

    fn to_owned(&self) -> Box<Page> {
        Page::boxed(Box::from(&self.0))
    }
}

impl Clone for Box<Page> {
    fn clone(&self) -> Box<Page> {
        (**self).to_owned()
    }
}

impl Deref for Page {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Page {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl PageRead for &Page {
    #[inline]
    fn reader(&self) -> impl PageRead + Copy {
        *self
    }

    #[inline]
    fn size(&self) -> usize {
        (**self).size()
    }

    #[inline]
    fn u8_at(&self, offset: usize) -> u8 {
        (**self).u8_at(offset)
    }

    #[inline]
    fn u16_at(&self, offset: usize) -> u16 {
        (**self).u16_at(offset)
    }

    #[inline]
    fn u32_at(&self, offset: usize) -> u32 {
        (**self).u32_at(offset)
    }

    #[inline]
    fn u64_at(&self, offset: usize) -> u64 {
        (**self).u64_at(offset)
    }

    fn copy(&self, offset: usize, out: &mut [u8]) {
        (**self).copy(offset, out);
    }

    #[inline]
    fn compare(&self, offset: usize, len: usize, key: &[u8]) -> Ordering {
        (**self).compare(offset, len, key)
    }
}

impl PageRead for Page {
    #[inline]
    fn reader(&self) -> impl PageRead + Copy {
        self
    }

    #[inline]
    fn size(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn u8_at(&self, offset: usize) -> u8 {
        self.0.get(offset).copied().unwrap_or(0)
    }

    #[inline]
    fn u16_at(&self, offset: usize) -> u16 {
        u16::from_le_bytes(self.array(offset))
    }

    #[inline]
    fn u32_at(&self, offset: usize) -> u32 {
        u32::from_le_bytes(self.array(offset))
    }

    #[inline]
    fn u64_at(&self, offset: usize) -> u64 {
        u64::from_le_bytes(self.array(offset))
    }

    fn copy(&self, offset: usize, out: &mut [u8]) {
        let available = &self.0[offset.min(self.0.len())..];
        let count = available.len().min(out.len());
        out[..count].copy_from_slice(&available[..count]);
        out[count..].fill(0);
    }

    #[inline]
    fn compare(&self, offset: usize, len: usize, key: &[u8]) -> Ordering {
        let available = &self.0[offset.min(self.0.len())..];
        available[..len.min(available.len())].cmp(key)
    }
}

/// Makes a private copy of page `id` ready for disk: computes its checksum, which covers the id. `bytes` is one page.
pub fn seal(id: PageId, bytes: &mut [u8]) {
    assert_eq!(stored_id(bytes), id, "a page must carry its own id when it leaves for disk");
    assert!(PageSize::of(bytes.len() as u64).is_some(), "a checksum covers exactly one page");
    seal_stored(bytes);
}

/// The same for a page's [stored form](stored).
pub(crate) fn seal_stored(bytes: &mut [u8]) {
    let checksum = checksum(bytes);
    bytes[CHECKSUM..CHECKSUM + 4].copy_from_slice(&checksum.to_le_bytes());
}

/// Whether the checksum of a page, in the [form](stored) in which it is stored, is right.
pub(crate) fn has_own_checksum(bytes: &[u8]) -> bool {
    stored_checksum(bytes) == checksum(bytes)
}

/// Whether `bytes`, read from where page `id` lives, are that page, whole, in whatever [form](stored) it is
/// stored. `bytes` is as long as one page.
pub fn verify(id: PageId, bytes: &[u8]) -> Result<(), Corruption> {
    assert!(PageSize::of(bytes.len() as u64).is_some(), "a page's place is as long as a page");
    let stored = stored_checksum(bytes);
    let computed = checksum(&bytes[..stored::stored_len(bytes)]);
    if stored != computed {
        return Err(if bytes.iter().all(|&byte| byte == 0) {
            Corruption::Zeroed
        } else {
            Corruption::Checksum { stored, computed }
        });
    }
    let found = stored_id(bytes);
    if found != id {
        return Err(Corruption::WrongPage { found });
    }
    Ok(())
}

/// The id in the header of the page in `bytes`.
pub fn stored_id(bytes: &[u8]) -> PageId {
    PageId { space: SpaceId(u32_in(bytes, SPACE)), page: PageNo(u32_in(bytes, PAGE_NO)) }
}

/// The LSN in the header of the page in `bytes`.
pub(crate) fn stored_lsn(bytes: &[u8]) -> Lsn {
    Lsn(u64::from(u32_in(bytes, PAGE_LSN)) | u64::from(u32_in(bytes, PAGE_LSN + 4)) << 32)
}

/// The checksum in the header of the page in `bytes`.
pub(crate) fn stored_checksum(bytes: &[u8]) -> u32 {
    u32_in(bytes, CHECKSUM)
}

fn checksum(bytes: &[u8]) -> u32 {
    crc32c(&bytes[CHECKSUM + 4..])
}

fn u32_in(bytes: &[u8], offset: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| bytes[offset + i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE_SIZE: usize = PageSize::DEFAULT.bytes();
    const ID: PageId = PageId { space: SpaceId(7), page: PageNo(9) };

    fn sealed() -> Box<Page> {
        let mut page = Page::zeroed(PageSize::DEFAULT);
        page.format(ID);
        page.put(100, b"payload");
        page.set_page_lsn(Lsn(77));
        seal(ID, &mut page);
        page
    }

    #[test]
    fn a_sealed_page_verifies_and_every_flipped_byte_is_noticed() {
        let page = sealed();
        assert_eq!(verify(ID, &page), Ok(()));
        assert_eq!((page.page_no(), page.space_id(), page.page_lsn()), (ID.page, ID.space, Lsn(77)));
        assert_eq!(stored_lsn(&page), Lsn(77));
        for offset in (0..PAGE_SIZE).step_by(if cfg!(miri) { 4099 } else { 61 }) {
            let mut bad = page.clone();
            bad[offset] ^= 0x10;
            assert!(matches!(verify(ID, &bad), Err(Corruption::Checksum { .. })), "byte {offset}");
        }
    }

    #[test]
    fn a_page_in_the_wrong_place_and_a_page_of_zeros_are_told_apart() {
        let page = sealed();
        let other = PageId { page: PageNo(10), ..ID };
        assert_eq!(verify(other, &page), Err(Corruption::WrongPage { found: ID }));
        assert_eq!(verify(ID, Page::zeros(PAGE_SIZE)), Err(Corruption::Zeroed));
    }

    #[test]
    fn reads_out_of_range_give_zeros() {
        let mut page = Page::zeroed(PageSize::DEFAULT);
        page.fill(0xff);
        for offset in [PAGE_SIZE - 1, PAGE_SIZE, usize::MAX - 3, usize::MAX] {
            assert_eq!((page.u16_at(offset), page.u32_at(offset), page.u64_at(offset)), (0, 0, 0));
            let mut out = [7; 4];
            page.copy(offset, &mut out);
            assert_eq!(out, if offset == PAGE_SIZE - 1 { [0xff, 0, 0, 0] } else { [0; 4] });
        }
        assert_eq!(page.u64_at(PAGE_SIZE - 8), u64::MAX);
        assert_eq!(page.compare(PAGE_SIZE - 1, 5, &[0xff]), Ordering::Equal);
        assert_eq!(page.compare(PAGE_SIZE, 5, &[]), Ordering::Equal);
    }
}
