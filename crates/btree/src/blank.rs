//! Zeros where a page has nothing: what is left of entries that went does not compress.
//!
//! Done to the copy that is written of a page that is compressed. The page in memory keeps its bytes: no one
//! reads those that are blanked here, in neither of the two, and all that is counted - free bytes, garbage -
//! stays as it is.

use palisade_buffer::{Page, PageRead};

use crate::layout::node::{SLOT_SIZE, SLOTS};
use crate::layout::{BODY, overflow, page_type};
use crate::node::NodeView;

/// Blanks what a page of this crate's types does not use. A page whose content cannot be is left alone. For
/// [`BufferConfig::blank`](palisade_buffer::BufferConfig).
pub fn blank_unused(page: &mut Page) {
    match page.page_type() {
        page_type::NODE => blank_node(page),
        page_type::OVERFLOW => {
            let end = overflow::DATA + usize::from(page.u16_at(overflow::LENGTH));
            page.get_mut(end..).unwrap_or_default().fill(0);
        }
        page_type::FREE => page[BODY..].fill(0),
        _ => {}
    }
}

fn blank_node(page: &mut Page) {
    let view = NodeView::new(&*page);
    if view.check_read().is_err() {
        return;
    }
    let mut used = vec![0; page.size()];
    let mut keep = |from: usize, to: usize| used[from..to].copy_from_slice(&page[from..to]);
    keep(0, SLOTS + view.slot_count() * SLOT_SIZE);
    for slot in (0..view.slot_count()).map(|index| view.slot(index)) {
        keep(slot.offset, slot.offset + view.entry_size(&slot));
    }
    keep(page.size() - view.prefix_len(), page.size());
    page.copy_from_slice(&used);
}
