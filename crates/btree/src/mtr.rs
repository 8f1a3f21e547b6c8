//! Mini-transactions: changes of several pages that the log contains all of, or none.
//!
//! An [`Mtr`] holds pages under exclusive latches and collects, privately, the redo of what is done to them. At
//! [`commit`](Mtr::commit) the redo goes to the log in one piece, the pages are stamped with its LSN range while the
//! log's tail cannot yet have passed it, and all latches are given back. There is no undoing: what a mini-transaction
//! will need - pages, room on them, log credit - is acquired first, and once the first operation is applied nothing can
//! fail or wait. An operation that cannot acquire drops its mini-transaction and is called again.
//!
//! # Latch order
//!
//! 1. Tree pages from the root down. Two of one level only under their exclusively latched parent.
//! 2. Pages that only one transaction can want, such as its own undo pages.
//! 3. Space headers, then extent maps ([`alloc`](crate::alloc)), an undo space's before a data space's: last, because
//!    everybody wants them.
//!
//! # Scratch spaces
//!
//! A mini-transaction on a [scratch space](palisade_buffer::BufferPool::attach_scratch) has no redo: nothing
//! of such a space is to be there after a crash. It asks for no credit, and touches pages of that space only.
//!
//! Latches taken by version upgrade do not wait and are free of this order.

use std::cell::RefCell;
use std::sync::Arc;

use palisade_base::{Lsn, PageId, PageNo};
use palisade_buffer::{ExclusivePage, Page, PageSize, Space};
use palisade_log::{Credit, Log, LsnRange};
use smallvec::SmallVec;

use crate::error::{Attempt, Error};
use crate::layout::max_entry;
use crate::metrics;
use crate::op::{self, PageOp};

/// Most bytes of redo that one operation on one page can take, besides the byte strings in it.
pub const OP_OVERHEAD: usize = 32;
/// Most bytes of redo of one operation.
pub const fn max_op_bytes(size: PageSize) -> usize {
    size.bytes() + OP_OVERHEAD
}

/// Most bytes of redo of one change of a tree entry through a [`Position`](crate::Position).
#[inline]
pub const fn max_entry_change_bytes(size: PageSize) -> usize {
    max_entry(size.bytes()) + 2 * OP_OVERHEAD
}

/// Most bytes of redo of allocating a page, formatting it included, or of freeing one.
pub const MAX_ALLOCATION_BYTES: usize = 10 * OP_OVERHEAD;
/// Most bytes of redo of a split or merge, which are mini-transactions of their own: one page's entries are
/// appended to another, which takes no more than they do on it; one node gets a prefix, and one entry is
/// inserted or removed.
pub const fn max_structure_bytes(size: PageSize) -> usize {
    max_op_bytes(size) + 2 * max_entry_change_bytes(size) + MAX_ALLOCATION_BYTES + 8 * OP_OVERHEAD
}

/// Redo buffers that are larger are not kept.
const MOST_KEPT_BYTES: usize = 4 * max_op_bytes(PageSize::DEFAULT);

/// A page held by an [`Mtr`]; valid for that one only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handle(u32);

struct Held<'a> {
    page: ExclusivePage<'a>,
    changed: bool,
}

/// A mini-transaction.
pub struct Mtr<'a> {
    log: &'a Arc<Log>,
    /// What its redo may take; `None` if it has none, because the space is a scratch space.
    credit: Option<Credit<'a>>,
    pages: SmallVec<[Held<'a>; 6]>,
    redo: Vec<u8>,
    last: Option<PageId>,
    /// Pages of a scratch space have been changed.
    has_changed_scratch: bool,
}

thread_local! {
    /// Redo buffers of mini-transactions that have ended on this thread.
    static BUFFERS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

impl<'a> Mtr<'a> {
    /// Begins a mini-transaction whose redo will not exceed `credit`.
    pub fn new(log: &'a Arc<Log>, credit: Credit<'a>) -> Self {
        let redo = BUFFERS.with_borrow_mut(Vec::pop).unwrap_or_else(|| Vec::with_capacity(2048));
        Mtr {
            log,
            credit: Some(credit),
            pages: SmallVec::new(),
            redo,
            last: None,
            has_changed_scratch: false,
        }
    }

    /// Begins a mini-transaction on a scratch space, which has no redo.
    fn unlogged(log: &'a Arc<Log>) -> Self {
        Mtr {
            log,
            credit: None,
            pages: SmallVec::new(),
            redo: Vec::new(),
            last: None,
            has_changed_scratch: false,
        }
    }

    /// Begins a mini-transaction on pages of `space`, after waiting, if need be, for log credit of `bytes`.
    pub fn begin_in(space: &Space, log: &'a Arc<Log>, bytes: usize) -> Attempt<Self> {
        match space.is_scratch() {
            false => Mtr::begin(log, bytes),
            true => Ok(Mtr::unlogged(log)),
        }
    }

    /// Begins a mini-transaction after waiting, if need be, for log credit of `bytes`.
    pub fn begin(log: &'a Arc<Log>, bytes: usize) -> Attempt<Self> {
        let credit = log.admit(bytes).map_err(palisade_base::Blocked::up)?;
        Ok(Mtr::new(log, credit))
    }

    /// The log it will go to.
    pub fn log(&self) -> &'a Arc<Log> {
        self.log
    }

    /// Takes a latched page into the mini-transaction.
    pub fn hold(&mut self, page: ExclusivePage<'a>) -> Handle {
        debug_assert!(self.find(page.id()).is_none(), "a page is latched once");
        self.pages.push(Held { page, changed: false });
        Handle(self.pages.len() as u32 - 1)
    }

    /// The handle of a page that is held already.
    pub fn find(&self, page: PageId) -> Option<Handle> {
        self.pages.iter().position(|held| held.page.id() == page).map(|index| Handle(index as u32))
    }

    /// Latches a page exclusively, unless it is held already. Mind the latch order.
    pub fn exclusive(&mut self, space: &'a Space, page: PageNo) -> Attempt<Handle> {
        if let Some(handle) = self.find(PageId { space: space.id(), page }) {
            return Ok(handle);
        }
        let page = space.exclusive(page).map_err(palisade_base::Blocked::up)?;
        Ok(self.hold(page))
    }

    /// A page that is held.
    pub fn page(&self, handle: Handle) -> &Page {
        &self.pages[handle.0 as usize].page
    }

    /// The id of a page that is held.
    pub fn page_id(&self, handle: Handle) -> PageId {
        self.pages[handle.0 as usize].page.id()
    }

    /// An error about a page that is held.
    pub fn corrupted(&self, handle: Handle, what: &'static str) -> Error {
        Error::Corrupted { page: self.page_id(handle), what }
    }

    /// Whether it holds no page.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Whether anything has been changed: then it must be committed.
    pub fn is_changed(&self) -> bool {
        !self.redo.is_empty() || self.has_changed_scratch
    }

    /// The redo so far.
    pub fn redo(&self) -> &[u8] {
        &self.redo
    }

    /// Changes a page, and notes the redo.
    ///
    /// # Panics
    /// If the page is not what the operation expects. Whoever acquired the page has checked that.
    pub fn apply(&mut self, handle: Handle, op: PageOp<'_>) {
        let held = &mut self.pages[handle.0 as usize];
        let id = held.page.id();
        if self.credit.is_some() {
            op.encode(id, self.last, &mut self.redo);
            self.last = Some(id);
        } else {
            self.has_changed_scratch = true;
        }
        held.changed = true;
        if let Err(mismatch) = op.apply(&mut held.page) {
            panic!("{op} on page {id}: {mismatch}");
        }
    }

    /// Overwrites bytes in the body of a page that is not a node.
    pub fn write(&mut self, handle: Handle, offset: usize, bytes: &[u8]) {
        let offset = u16::try_from(offset).expect("an offset in a page");
        self.apply(handle, PageOp::Write { offset, bytes });
    }

    /// Appends the redo to the log in one piece, stamps the changed pages, calls `before_link` - while no reader of the
    /// log's tail can know of this mini-transaction - and gives all latches back. On a scratch space there is
    /// nothing to append or to link, and the range that it gives is empty.
    ///
    /// # Panics
    /// If nothing was changed.
    pub fn commit(mut self, before_link: impl FnOnce(LsnRange)) -> LsnRange {
        assert!(self.is_changed(), "a mini-transaction without changes is dropped, not committed");
        let pages = &mut self.pages;
        let Some(credit) = &mut self.credit else {
            pages.iter_mut().filter(|held| held.changed).for_each(|held| held.page.stamp_scratch());
            self.has_changed_scratch = false;
            return LsnRange { start: Lsn::ZERO, end: Lsn::ZERO };
        };
        let range = self.log.append(credit, &self.redo, |range| {
            for held in pages.iter_mut().filter(|held| held.changed) {
                held.page.stamp(range);
            }
            before_link(range);
        });
        self.record_changes(range);
        metrics::MTR_COMMITS.increment();
        metrics::MTR_REDO_BYTES.add(self.redo.len() as u64);
        self.redo.clear();
        range
    }
}

impl Mtr<'_> {
    /// Tells the pool what was done to the pages for which it wants to know.
    #[inline]
    fn record_changes(&mut self, range: LsnRange) {
        let Mtr { pages, redo, .. } = self;
        for held in pages.iter_mut().filter(|held| held.changed) {
            if held.page.is_recorded(range) {
                record(&mut held.page, range, redo);
            }
        }
    }
}

/// Tells the pool what the operations of `redo` that are on `page` have done to it.
#[cold]
fn record(page: &mut ExclusivePage<'_>, range: LsnRange, redo: &[u8]) {
    let mut own = BUFFERS.with_borrow_mut(Vec::pop).unwrap_or_default();
    let is_whole = op::encode_those_on(page.id(), redo, &mut own);
    page.record(range, is_whole.then_some(&own));
    own.clear();
    BUFFERS.with_borrow_mut(|buffers| buffers.push(own));
}

impl Drop for Mtr<'_> {
    fn drop(&mut self) {
        let abandoned = self.is_changed() && !std::thread::panicking();
        let mut redo = std::mem::take(&mut self.redo);
        redo.clear();
        BUFFERS.with_borrow_mut(|buffers| {
            if buffers.len() < 8 && (1..=MOST_KEPT_BYTES).contains(&redo.capacity()) {
                buffers.push(redo);
            }
        });
        assert!(!abandoned, "a mini-transaction with changes must be committed");
    }
}
