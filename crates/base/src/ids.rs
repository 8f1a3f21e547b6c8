//! Identifiers: each is a number of its own kind, so that one is never taken for another.

use std::fmt;

/// Log sequence number: a position in the logical byte stream of the redo log.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Lsn(pub u64);

impl Lsn {
    /// Before the first byte of the log.
    pub const ZERO: Lsn = Lsn(0);
    /// After every position a log can reach.
    pub const MAX: Lsn = Lsn(u64::MAX);

    /// The position `bytes` further on.
    #[must_use]
    pub fn advance(self, bytes: u64) -> Lsn {
        Lsn(self.0 + bytes)
    }

    /// Bytes from `earlier` to `self`; `earlier` must not be later.
    #[must_use]
    pub fn since(self, earlier: Lsn) -> u64 {
        assert!(earlier <= self, "an LSN distance is never negative");
        self.0 - earlier.0
    }
}

impl fmt::Debug for Lsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lsn {}", self.0)
    }
}

impl fmt::Display for Lsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// A tablespace: one file of pages. Identifiers are never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SpaceId(pub u32);

/// Position of a page in its space, in pages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PageNo(pub u32);

impl PageNo {
    /// "No page", as in the next-pointer of the last leaf. Page 0 is every space's header and never linked to.
    pub const NONE: PageNo = PageNo(0);
}

/// A page: space and position. Shown as `space:page`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PageId {
    /// The space the page belongs to.
    pub space: SpaceId,
    /// Its position there.
    pub page: PageNo,
}

impl fmt::Display for PageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.space.0, self.page.0)
    }
}

/// Transaction identifier, given at a transaction's first write; grows, never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct TrxId(pub u64);

impl TrxId {
    /// "No transaction": the writer of rows that precede every transaction.
    pub const NONE: TrxId = TrxId(0);
}

impl fmt::Display for TrxId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
