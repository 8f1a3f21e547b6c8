//! Redo: what a mini-transaction may do to a page.
//!
//! A [`PageOp`] is declared once, below: its fields, and from them its encoding, decoding and text. [`PageOp::apply`]
//! carries it out, and is the only way a page changes - for the first time through [`Mtr`](crate::Mtr), which
//! encodes it into the log on the way, and again in recovery. So doing and redoing cannot drift apart.
//!
//! An operation names one page and depends on nothing but that page (*physiological* logging), and it is
//! deterministic: so pages can be recovered independently of each other, in any order, each from its own operations.
//!
//! A mini-transaction's payload in the log is its operations one after the other:
//!
//! ```text
//! code u8 (top bit: same page as the operation before) | space varint | page varint | fields
//! ```
//!
//! with integers as varints and byte strings as a varint length and the bytes.

use std::fmt;

use palisade_base::codec::{self, Reader, Truncated};
use palisade_base::{PageId, PageNo, SpaceId};
use palisade_buffer::{Page, PageRead};

use crate::layout::{self, page_type};
use crate::node::edit::{Mismatch, NodeEdit};

/// Top bit of an operation's code: it is on the same page as the one before.
const SAME_PAGE: u8 = 0x80;

/// A value that can be part of an operation.
trait Field<'a>: Sized {
    fn put(&self, out: &mut Vec<u8>);
    fn take(reader: &mut Reader<'a>) -> Result<Self, Truncated>;
    fn show(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

macro_rules! integer_field {
    ($($type:ty),*) => {$(
        impl<'a> Field<'a> for $type {
            #[inline]
            fn put(&self, out: &mut Vec<u8>) {
                codec::put_varint(out, u64::from(*self));
            }
            fn take(reader: &mut Reader<'a>) -> Result<Self, Truncated> {
                <$type>::try_from(reader.varint()?).map_err(|_| Truncated)
            }
            fn show(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, " {name}={self}")
            }
        }
    )*};
}
integer_field!(u16, u32, u64);

impl<'a> Field<'a> for PageNo {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }
    fn take(reader: &mut Reader<'a>) -> Result<Self, Truncated> {
        u32::take(reader).map(PageNo)
    }
    fn show(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " {name}={}", self.0)
    }
}

impl<'a> Field<'a> for &'a [u8] {
    #[inline]
    fn put(&self, out: &mut Vec<u8>) {
        codec::put_bytes(out, self);
    }
    fn take(reader: &mut Reader<'a>) -> Result<Self, Truncated> {
        reader.prefixed_bytes()
    }
    /// Short text as text, long bytes by their length.
    fn show(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.len() {
            0..=16 => write!(f, " {name}={}", self.escape_ascii()),
            len => write!(f, " {name}=({len} bytes)"),
        }
    }
}

macro_rules! page_ops {
    ($(
        $(#[$doc:meta])*
        $code:literal $verb:literal $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty),* }
    )*) => {
        /// One change of one page.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum PageOp<'a> {
            $($(#[$doc])* $name { $($(#[$field_doc])* $field: $type),* },)*
        }

        /// Code, name and fields of every operation: for the document of the format.
        pub const OPERATIONS: &[(u8, &str, &str)] =
            &[$(($code, $verb, concat!($(stringify!($field), " "),*).trim_ascii_end())),*];

        impl<'a> PageOp<'a> {
            #[inline]
            fn code(&self) -> u8 {
                match self { $(PageOp::$name { .. } => $code,)* }
            }

            #[inline]
            fn put_fields(&self, out: &mut Vec<u8>) {
                match self { $(PageOp::$name { $($field),* } => { $($field.put(out);)* })* }
            }

            fn take_fields(code: u8, reader: &mut Reader<'a>) -> Result<Self, Truncated> {
                match code {
                    $($code => Ok(PageOp::$name { $($field: Field::take(reader)?),* }),)*
                    _ => Err(Truncated),
                }
            }
        }

        impl fmt::Display for PageOp<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(PageOp::$name { $($field),* } => {
                        f.write_str($verb)?;
                        $($field.show(stringify!($field), f)?;)*
                        Ok(())
                    })*
                }
            }
        }
    };
}

page_ops! {
    /// Zeroes the body and sets the type: how every page that is not a node begins.
    1 "format" Format {
        /// One of [`page_type`], or of a crate above.
        page_type: u16
    }
    /// Makes the page an empty node.
    2 "format node" FormatNode {
        /// The index it belongs to.
        index_id: u64,
        /// 0 is a leaf.
        level: u16,
        /// Right sibling.
        next: PageNo,
        /// Child below slot 0.
        leftmost: PageNo,
        /// Common prefix of the keys to come.
        prefix: &'a [u8]
    }
    /// Inserts a node entry.
    3 "insert" Insert {
        /// It becomes this slot.
        slot: u16,
        /// The key without the page's prefix.
        key: &'a [u8],
        /// The value.
        value: &'a [u8]
    }
    /// Removes a node entry.
    4 "remove" Remove {
        /// Which one.
        slot: u16
    }
    /// Replaces the middle of a node entry's value.
    5 "replace" Replace {
        /// Which entry.
        slot: u16,
        /// Bytes kept at the front.
        front: u16,
        /// Bytes kept at the back.
        back: u16,
        /// What stands between them from now on.
        middle: &'a [u8]
    }
    /// Changes the length of a node's common prefix.
    6 "set prefix" SetPrefix {
        /// Its new length.
        length: u16
    }
    /// Keeps the first slots of a node.
    7 "truncate" Truncate {
        /// How many.
        slots: u16
    }
    /// Appends entries to a node.
    8 "append" Append {
        /// How many.
        count: u16,
        /// Suffix and value of each, as byte strings.
        entries: &'a [u8]
    }
    /// Sets a node's right sibling.
    9 "set next" SetNext {
        /// Its page.
        next: PageNo
    }
    /// Sets the child below slot 0.
    10 "set leftmost" SetLeftmost {
        /// Its page.
        child: PageNo
    }
    /// Overwrites bytes of the body of a page that is not a node.
    11 "write" Write {
        /// Where, from the start of the page.
        offset: u16,
        /// What.
        bytes: &'a [u8]
    }
    /// Extent map: the page is in use from now on.
    12 "allocate" Allocate {
        /// Its position in the group.
        page_in_group: u16
    }
    /// Extent map: the page is free from now on.
    13 "release" Release {
        /// Its position in the group.
        page_in_group: u16
    }
    /// Space header: what a group has free.
    14 "set group" SetGroup {
        /// Which group.
        group: u16,
        /// Its free pages below the high-water mark.
        free_pages: u16,
        /// Wholly free extents among them.
        free_extents: u16
    }
    /// Space header: pages below are in use or have been.
    15 "set high water" SetHighWater {
        /// The first page never used.
        pages: u32
    }
    /// Space header: no group before this one has free pages.
    16 "set first free group" SetFirstFreeGroup {
        /// The group.
        group: u32
    }
}

impl<'a> PageOp<'a> {
    /// Appends the operation on `page`; `previous` is the page of the one before in the same mini-transaction.
    #[inline]
    pub fn encode(&self, page: PageId, previous: Option<PageId>, out: &mut Vec<u8>) {
        if previous == Some(page) {
            out.push(self.code() | SAME_PAGE);
        } else {
            out.push(self.code());
            page.space.0.put(out);
            page.page.0.put(out);
        }
        self.put_fields(out);
    }

    /// Reads the next operation and its page.
    pub fn decode(
        reader: &mut Reader<'a>,
        previous: Option<PageId>,
    ) -> Result<(PageId, PageOp<'a>), Truncated> {
        let code = reader.u8()?;
        let page = if code & SAME_PAGE != 0 {
            previous.ok_or(Truncated)?
        } else {
            PageId { space: SpaceId(u32::take(reader)?), page: PageNo(u32::take(reader)?) }
        };
        Ok((page, PageOp::take_fields(code & !SAME_PAGE, reader)?))
    }

    /// Whether the page's former content does not matter.
    pub fn formats(&self) -> bool {
        matches!(self, PageOp::Format { .. } | PageOp::FormatNode { .. })
    }

    /// Carries the operation out. Checks before it changes anything, except for `Append`, which may stop half-way.
    pub fn apply(&self, page: &mut Page) -> Result<(), Mismatch> {
        match *self {
            PageOp::Format { page_type } => {
                page[layout::BODY..].fill(0);
                page.set_page_type(page_type);
                page.set_flags(0);
                Ok(())
            }
            PageOp::FormatNode { index_id, level, next, leftmost, prefix } => {
                NodeEdit::format(page, index_id, level, next, leftmost);
                NodeEdit::new(page)?.put_prefix(prefix)
            }
            PageOp::Insert { slot, key, value } => NodeEdit::new(page)?.insert(slot.into(), key, value),
            PageOp::Remove { slot } => NodeEdit::new(page)?.remove(slot.into()),
            PageOp::Replace { slot, front, back, middle } => {
                NodeEdit::new(page)?.replace(slot.into(), front.into(), back.into(), middle)
            }
            PageOp::SetPrefix { length } => NodeEdit::new(page)?.set_prefix(length.into()),
            PageOp::Truncate { slots } => NodeEdit::new(page)?.truncate(slots.into()),
            PageOp::Append { count, entries } => append(page, count, entries),
            PageOp::SetNext { next } => {
                NodeEdit::new(page)?.set_next(next);
                Ok(())
            }
            PageOp::SetLeftmost { child } => {
                NodeEdit::new(page)?.set_leftmost_child(child);
                Ok(())
            }
            PageOp::Write { offset, bytes } => write(page, offset.into(), bytes),
            PageOp::Allocate { page_in_group } => mark(page, page_in_group, Mark::InUse),
            PageOp::Release { page_in_group } => mark(page, page_in_group, Mark::Free),
            PageOp::SetGroup { group, free_pages, free_extents } => {
                expect_header(page)?;
                if u32::from(group) >= layout::space::max_groups(page.size()) {
                    return Err("no such group");
                }
                let at = layout::space::GROUPS + usize::from(group) * layout::space::GROUP_SIZE;
                page.put_u16(at, free_pages);
                page.put_u16(at + 2, free_extents);
                Ok(())
            }
            PageOp::SetHighWater { pages } => {
                expect_header(page)?;
                page.put_u32(layout::space::HIGH_WATER, pages);
                Ok(())
            }
            PageOp::SetFirstFreeGroup { group } => {
                expect_header(page)?;
                page.put_u32(layout::space::FIRST_FREE_GROUP, group);
                Ok(())
            }
        }
    }
}

fn append(page: &mut Page, count: u16, entries: &[u8]) -> Result<(), Mismatch> {
    let mut node = NodeEdit::new(page)?;
    let mut reader = Reader::new(entries);
    for _ in 0..count {
        let (Ok(suffix), Ok(value)) = (reader.prefixed_bytes(), reader.prefixed_bytes()) else {
            return Err("appended entries are cut short");
        };
        let end = node.view().slot_count();
        node.insert(end, suffix, value)?;
    }
    node.forget_inserts();
    Ok(())
}

fn write(page: &mut Page, offset: usize, bytes: &[u8]) -> Result<(), Mismatch> {
    if page.page_type() == page_type::NODE {
        return Err("bytes written into a node");
    }
    if offset < layout::BODY || offset + bytes.len() > page.len() {
        return Err("bytes written outside the body");
    }
    page.put(offset, bytes);
    Ok(())
}

fn expect_header(page: &Page) -> Result<(), Mismatch> {
    if page.page_type() == page_type::SPACE_HEADER { Ok(()) } else { Err("not a space header") }
}

enum Mark {
    InUse,
    Free,
}

fn mark(page: &mut Page, page_in_group: u16, mark: Mark) -> Result<(), Mismatch> {
    if !matches!(page.page_type(), page_type::SPACE_HEADER | page_type::EXTENT_MAP) {
        return Err("not an extent map");
    }
    if u32::from(page_in_group) >= layout::space::group_pages(page.size()) {
        return Err("no such page in the group");
    }
    let map = layout::space::extent_map(page.size());
    let (byte, bit) = (map + usize::from(page_in_group / 8), 1 << (page_in_group % 8));
    match mark {
        Mark::InUse if page[byte] & bit == 0 => page[byte] |= bit,
        Mark::Free if page[byte] & bit != 0 => page[byte] &= !bit,
        Mark::InUse => return Err("the page is in use already"),
        Mark::Free => return Err("the page is free already"),
    }
    Ok(())
}

/// The operations of a mini-transaction's payload, in order.
pub struct PageOps<'a> {
    reader: Reader<'a>,
    previous: Option<PageId>,
}

impl<'a> PageOps<'a> {
    /// Reads `payload`.
    pub fn new(payload: &'a [u8]) -> Self {
        PageOps { reader: Reader::new(payload), previous: None }
    }

    /// Bytes not yet read.
    pub fn remaining(&self) -> usize {
        self.reader.rest().len()
    }
}

impl<'a> Iterator for PageOps<'a> {
    type Item = Result<(PageId, PageOp<'a>), Truncated>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.reader.is_empty() {
            return None;
        }
        let next = PageOp::decode(&mut self.reader, self.previous);
        match next {
            Ok((page, _)) => self.previous = Some(page),
            Err(_) => self.reader = Reader::new(&[]),
        }
        Some(next)
    }
}

/// Appends the operations of a mini-transaction's `payload` that are on `page`, as [`apply_all`] reads them.
/// Whether they can be applied to the page as it is on disk: one that formats it needs no such page, and may
/// be the first that it has.
pub fn encode_those_on(page: PageId, payload: &[u8], out: &mut Vec<u8>) -> bool {
    for op in PageOps::new(payload) {
        match op {
            Ok((on, _)) if on != page => {}
            Ok((_, op)) if !op.formats() => op.encode(page, Some(page), out),
            _ => return false,
        }
    }
    true
}

/// Applies operations that [`encode_those_on`] has encoded.
pub fn apply_all(page: &mut Page, ops: &[u8]) -> Result<(), Mismatch> {
    let mut reader = Reader::new(ops);
    let id = PageId { space: SpaceId(0), page: PageNo(0) };
    while !reader.is_empty() {
        let (_, op) = PageOp::decode(&mut reader, Some(id)).map_err(|Truncated| "cut short")?;
        op.apply(page)?;
    }
    Ok(())
}

/// A mini-transaction's payload as text, a line per operation: `page 0:4 insert slot=3 key=a value=b`.
pub fn describe(payload: &[u8]) -> String {
    let mut text = String::new();
    for op in PageOps::new(payload) {
        text += &match op {
            Ok((page, op)) => format!("page {page} {op}\n"),
            Err(Truncated) => "(cut short)\n".to_string(),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<PageOp<'static>> {
        vec![
            PageOp::Format { page_type: 17 },
            PageOp::FormatNode {
                index_id: u64::MAX,
                level: 3,
                next: PageNo(7),
                leftmost: PageNo(9),
                prefix: b"pre",
            },
            PageOp::Insert { slot: 300, key: b"key", value: b"" },
            PageOp::Remove { slot: 0 },
            PageOp::Replace { slot: 1, front: 2, back: 3, middle: b"middle" },
            PageOp::SetPrefix { length: 4 },
            PageOp::Truncate { slots: 5 },
            PageOp::Append { count: 1, entries: b"\x01k\x01v" },
            PageOp::SetNext { next: PageNo(u32::MAX) },
            PageOp::SetLeftmost { child: PageNo(1) },
            PageOp::Write { offset: 32, bytes: b"bytes" },
            PageOp::Allocate { page_in_group: 64 },
            PageOp::Release { page_in_group: 64 },
            PageOp::SetGroup { group: 1, free_pages: 2, free_extents: 3 },
            PageOp::SetHighWater { pages: 100_000 },
            PageOp::SetFirstFreeGroup { group: 2 },
        ]
    }

    #[test]
    fn operations_round_trip_and_name_their_page_once() {
        let (a, b) = (
            PageId { space: SpaceId(1), page: PageNo(2) },
            PageId { space: SpaceId(900), page: PageNo(70_000) },
        );
        let mut payload = Vec::new();
        let mut previous = None;
        let mut expected = Vec::new();
        for op in all() {
            for page in [a, a, b] {
                op.encode(page, previous, &mut payload);
                previous = Some(page);
                expected.push((page, op));
            }
        }
        let decoded: Vec<_> = PageOps::new(&payload).map(Result::unwrap).collect();
        assert_eq!(decoded, expected);
    }

    #[test]
    fn a_cut_payload_ends_in_an_error_and_never_in_a_panic() {
        let page = PageId { space: SpaceId(1), page: PageNo(2) };
        for op in all() {
            let mut payload = Vec::new();
            op.encode(page, None, &mut payload);
            for len in 1..payload.len() {
                let ops: Vec<_> = PageOps::new(&payload[..len]).collect();
                assert!(matches!(ops.as_slice(), [.., Err(Truncated)]), "{op} cut at {len}");
            }
        }
        assert!(PageOps::new(&[0x7f, 1, 1]).next().unwrap().is_err(), "unknown code");
        assert!(PageOps::new(&[0x84, 1, 1]).next().unwrap().is_err(), "no page before");
    }

    #[test]
    fn operations_on_pages_of_garbage_are_refused_or_done_but_never_panic() {
        let mut prng = palisade_base::prng::Prng::new(palisade_base::prng::test_seed(11));
        for round in 0..400 {
            let mut page = Page::zeroed(palisade_buffer::PageSize::DEFAULT);
            prng.fill(&mut page);
            page.set_page_type(*prng.pick(&[0, 1, 2, 3]));
            if round % 2 == 0 {
                page.put_u16(layout::node::SLOT_COUNT, prng.below(200) as u16);
                page.put_u16(layout::node::HEAP_TOP, 4000 + prng.below(8000) as u16);
                page.put_u16(layout::node::PREFIX_LEN, prng.below(20) as u16);
                page.put_u16(layout::node::GARBAGE, prng.below(4000) as u16);
            }
            for op in all() {
                let _ = op.apply(&mut page);
            }
        }
    }
}
