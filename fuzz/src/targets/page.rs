//! A page from a disk, and a mini-transaction from a log that is applied to it.
//!
//! ```text
//! type u8 | length of the mini-transaction u16 | the mini-transaction | bytes of the page
//! ```
//!
//! What is missing of the page is zeros. The checksum of a page is not looked at here: it has been found
//! right.

use palisade_base::{PageId, PageNo, SpaceId};
use palisade_btree::node::{NodeEdit, NodeView};
use palisade_btree::op::{PageOps, describe};
use palisade_btree::{Key, PageOp, blank, page_type, verify};
use palisade_buffer::{Page, PageRead, PageSize, stored};
use palisade_txn::undo::{self, UndoRecord};

use super::choice;
use crate::Target;

pub(crate) const TARGET: Target =
    Target { name: "page", seeds, words: &[], longest: 3 + 1024 + PageSize::LEAST.bytes(), run };

fn seeds() -> Vec<Vec<u8>> {
    let mut page = Page::zeroed(PageSize::LEAST);
    NodeEdit::format(&mut page, 77, 0, PageNo(9), PageNo(0));
    let mut node = NodeEdit::new(&mut page).expect("it was formatted");
    node.put_prefix(b"pre").expect("there is room");
    for number in 0..12_u8 {
        node.insert(usize::from(number), &[b'k', number, 1, 2, 3, 4], &[number; 40]).expect("there is room");
    }
    let id = PageId { space: SpaceId(1), page: PageNo(2) };
    let ops = [
        PageOp::Insert { slot: 3, key: b"prek\x02a", value: b"value" },
        PageOp::Remove { slot: 0 },
        PageOp::Replace { slot: 1, front: 2, back: 3, middle: b"middle" },
        PageOp::SetPrefix { length: 1 },
        PageOp::Truncate { slots: 5 },
        PageOp::Append { count: 1, entries: b"\x01k\x01v" },
        PageOp::SetNext { next: PageNo(u32::MAX) },
        PageOp::Write { offset: 64, bytes: b"bytes" },
        PageOp::Allocate { page_in_group: 64 },
        PageOp::Release { page_in_group: 64 },
        PageOp::SetGroup { group: 1, free_pages: 2, free_extents: 3 },
        PageOp::SetHighWater { pages: 100_000 },
        PageOp::SetFirstFreeGroup { group: 2 },
        PageOp::Format { page_type: 3 },
        PageOp::FormatNode { index_id: 7, level: 1, next: PageNo(7), leftmost: PageNo(9), prefix: b"pre" },
    ];
    let seed = |kind: u8, ops: &[PageOp<'_>]| {
        let mut payload = Vec::new();
        let mut previous = None;
        for op in ops {
            op.encode(id, previous, &mut payload);
            previous = Some(id);
        }
        let length = (payload.len() as u16).to_le_bytes();
        [&[kind][..], &length, &payload, &page].concat()
    };
    let mut seeds: Vec<Vec<u8>> = ops.iter().map(|op| seed(page_type::NODE as u8, &[*op])).collect();
    seeds.extend((0..12).map(|kind| seed(kind, &ops)));
    seeds
}

fn run(input: &[u8]) {
    let Some((kind, rest)) = choice(input) else { return };
    let Some((length, rest)) = rest.split_first_chunk() else { return };
    let (payload, bytes) = rest.split_at(usize::from(u16::from_le_bytes(*length)).min(rest.len()));
    let mut page = Page::zeroed(PageSize::LEAST);
    for (byte, new) in page.iter_mut().zip(bytes) {
        *byte = *new;
    }
    // Mostly the type that the code below is about.
    if kind < 128 {
        page.set_page_type(u16::from(kind));
    }
    read(&page);
    let _ = describe(payload);
    for (_, op) in PageOps::new(payload).map_while(Result::ok) {
        let _ = op.apply(&mut page);
    }
    read(&page);
    blank::blank_unused(&mut page);
    let _ = stored::decode(&mut page);
}

/// Everything that reads a page whose checksum is right, whatever is in it.
fn read(page: &Page) {
    let is_sound = verify::check_page(page) == Some(Ok(()));
    let node = NodeView::new(page);
    let (mut key, mut last) = (Key::new(), Key::new());
    for index in 0..node.slot_count() {
        let is_read = node.read_key(index, &mut key);
        if is_sound && page.page_type() == page_type::NODE {
            assert!(is_read, "a page that was found sound can be read");
        }
        if is_read {
            let _ = (node.search(&key), node.child_position(&key), node.child_position_below(&key));
            std::mem::swap(&mut key, &mut last);
        }
    }
    let _ = undo::page::check_page(page);
    for offset in [56, 64, 100, page.len() - 3] {
        let _ = UndoRecord::read(page, offset);
    }
}
