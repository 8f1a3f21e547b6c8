//! Overflow chains: values too large for a tree entry.
//!
//! A chain is a list of pages, each with its part of the value. It is written link by link, each in a mini-transaction of
//! its own, front to back, so that from the first link on the whole of it can be found from its first page: a
//! transaction that notes the first page before it goes on can take the chain back at any time. It is freed from the second
//! link on, the first one last, for the same reason.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use palisade_base::cycle::CycleGuard;
use palisade_base::{Blocked, PageId, PageNo};
use palisade_buffer::{Page, PageRead, PageSize, Space};

use crate::alloc;
use crate::error::{Attempt, Error};
use crate::layout::overflow::*;
use crate::layout::page_type;
use crate::mtr::{Handle, MAX_ALLOCATION_BYTES, Mtr, OP_OVERHEAD, max_op_bytes};
use crate::op::PageOp;

/// Bytes of a value in one link.
pub const fn chunk(size: PageSize) -> usize {
    capacity(size.bytes())
}

/// Most links that one mini-transaction frees.
pub const MAX_FREED: usize = 16;
/// Most bytes of redo of [`write_chunk`].
pub const fn max_write_bytes(size: PageSize) -> usize {
    max_op_bytes(size) + 2 * OP_OVERHEAD + MAX_ALLOCATION_BYTES
}

/// Most bytes of redo of [`free_links`].
pub const MAX_FREE_BYTES: usize = MAX_FREED * MAX_ALLOCATION_BYTES + OP_OVERHEAD;

/// Writes a link with `data` (at most [`chunk`] bytes, not empty) and appends it to the chain whose last link
/// is `previous`. Gives its page. It applies at once, so it comes last in the mini-transaction: what else
/// that one needs must have been acquired before. Waits for: pages, the file to be extended.
pub fn write_chunk<'a>(
    mtr: &mut Mtr<'a>,
    space: &'a Space,
    previous: Option<PageNo>,
    data: &[u8],
) -> Attempt<PageNo> {
    let most = chunk(space.page_size());
    assert!((1..=most).contains(&data.len()), "a link holds 1 to {most} bytes");
    let last = match previous {
        Some(page) => Some(link(mtr, space, page)?),
        None => None,
    };
    if let Some(last) = last
        && mtr.page(last).u32_at(NEXT) != 0
    {
        return Err(mtr.corrupted(last, "the last link of a chain has a next one").into());
    }
    let mut reservation = alloc::reserve(mtr, space, previous.unwrap_or(PageNo::NONE), 1)?;
    let (page, handle) = reservation.allocate(mtr, PageOp::Format { page_type: page_type::OVERFLOW });
    mtr.write(handle, LENGTH, &(data.len() as u16).to_le_bytes());
    mtr.write(handle, DATA, data);
    if let Some(last) = last {
        mtr.write(last, NEXT, &page.0.to_le_bytes());
    }
    Ok(page)
}

fn link<'a>(mtr: &mut Mtr<'a>, space: &'a Space, page: PageNo) -> Attempt<Handle> {
    let handle = mtr.exclusive(space, page)?;
    check(mtr.page(handle)).map_err(|what| mtr.corrupted(handle, what))?;
    Ok(handle)
}

pub(crate) fn check(page: &Page) -> Result<(), &'static str> {
    if page.page_type() != page_type::OVERFLOW {
        return Err("not a link of an overflow chain");
    }
    if !(1..=capacity(page.size())).contains(&usize::from(page.u16_at(LENGTH))) {
        return Err("impossible length of a link");
    }
    Ok(())
}

/// Reads a chain, remembering how far it has come when it must wait.
#[derive(Debug)]
pub struct ChainReader {
    next: PageNo,
    remaining: usize,
    cycle: CycleGuard,
}

impl ChainReader {
    /// Reads the `len` bytes of the chain that begins at `first`.
    pub fn new(first: PageNo, len: usize) -> Self {
        ChainReader { next: first, remaining: len, cycle: CycleGuard::default() }
    }

    /// Appends what has not been read to `out`. To be called again after waiting, with the same `out`. Waits for: pages to
    /// be read.
    pub fn read(&mut self, space: &Space, out: &mut Vec<u8>) -> Attempt<()> {
        while self.remaining > 0 {
            let page = space.shared(self.next).map_err(Blocked::up)?;
            let corrupted = |what| Error::Corrupted { page: page.id(), what };
            check(&page).map_err(corrupted)?;
            let data = page
                .slice(DATA, page.u16_at(LENGTH).into())
                .filter(|data| data.len() <= self.remaining)
                .ok_or_else(|| corrupted("a chain holds more than it should"))?;
            out.extend_from_slice(data);
            self.remaining -= data.len();
            self.next = PageNo(page.u32_at(NEXT));
            if self.remaining > 0 && self.next == PageNo::NONE {
                return Err(corrupted("a chain ends early").into());
            }
            // What it should hold may be as wrong as where it leads: gigabytes would be read of a few pages.
            if self.cycle.returns_to(self.next.0.into()) {
                return Err(corrupted("a chain bites its tail").into());
            }
        }
        Ok(())
    }
}

/// Frees up to [`MAX_FREED`] links behind the first one. Whether there are more. Applies at once, as [`write_chunk`] does.
/// Waits for: pages to be read.
pub fn free_links<'a>(mtr: &mut Mtr<'a>, space: &'a Space, first: PageNo) -> Attempt<bool> {
    let head = link(mtr, space, first)?;
    let mut next = PageNo(mtr.page(head).u32_at(NEXT));
    let mut links = smallvec::SmallVec::<[Handle; MAX_FREED]>::new();
    while next != PageNo::NONE && links.len() < MAX_FREED {
        let held = mtr.find(PageId { space: space.id(), page: next });
        if held.is_some() {
            return Err(mtr.corrupted(head, "a chain bites its tail").into());
        }
        let handle = link(mtr, space, next)?;
        links.push(handle);
        next = PageNo(mtr.page(handle).u32_at(NEXT));
    }
    if links.is_empty() {
        return Ok(false);
    }
    let mut freeing = smallvec::SmallVec::<[alloc::Freeing; MAX_FREED]>::new();
    for handle in links {
        freeing.push(alloc::prepare_free(mtr, space, mtr.page_id(handle).page)?);
    }
    for link in freeing {
        alloc::free(mtr, link);
    }
    mtr.write(head, NEXT, &next.0.to_le_bytes());
    Ok(next != PageNo::NONE)
}

/// Frees the first link, all others being gone: in the mini-transaction that forgets the chain, as its last step. Waits
/// for: pages to be read.
pub fn free_first<'a>(mtr: &mut Mtr<'a>, space: &'a Space, first: PageNo) -> Attempt<()> {
    let head = link(mtr, space, first)?;
    if mtr.page(head).u32_at(NEXT) != 0 {
        return Err(mtr.corrupted(head, "the first link of a chain is freed before the others").into());
    }
    let freeing = alloc::prepare_free(mtr, space, first)?;
    alloc::free(mtr, freeing);
    Ok(())
}
