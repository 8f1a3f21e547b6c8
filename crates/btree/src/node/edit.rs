//! Changing a node. Every function checks before it writes, and says what is wrong instead of panicking: in recovery
//! the bytes come from disk.

use palisade_base::PageNo;
use palisade_base::bytes::common_prefix;
use palisade_buffer::{Page, PageRead};
use smallvec::SmallVec;

use super::view::Slot;
use super::{Key, NodeView, head};
use crate::layout::{self, node::*};

/// The page is not what the change expects; says in what.
pub type Mismatch = &'static str;

/// A node being changed.
pub struct NodeEdit<'p> {
    page: &'p mut Page,
}

impl<'p> NodeEdit<'p> {
    /// Changes `page`, which must be a node.
    pub fn new(page: &'p mut Page) -> Result<Self, Mismatch> {
        if page.page_type() != layout::page_type::NODE {
            return Err("not a node");
        }
        let edit = NodeEdit { page };
        edit.view().check_header()?;
        Ok(edit)
    }

    /// Makes `page` an empty node.
    pub fn format(page: &mut Page, index_id: u64, level: u16, next: PageNo, leftmost_child: PageNo) {
        page[layout::BODY..].fill(0);
        page.set_page_type(layout::page_type::NODE);
        page.set_flags(0);
        page.put_u64(INDEX_ID, index_id);
        page.put_u16(LEVEL, level);
        page.put_u16(HEAP_TOP, page.size() as u16);
        page.put_u32(NEXT, next.0);
        page.put_u32(LEFTMOST_CHILD, leftmost_child.0);
    }

    /// Reads the node.
    pub fn view(&self) -> NodeView<'_, Page> {
        NodeView::new(&*self.page)
    }

    /// Sets the right sibling.
    pub fn set_next(&mut self, next: PageNo) {
        self.page.put_u32(NEXT, next.0);
    }

    /// Sets the child below slot 0.
    pub fn set_leftmost_child(&mut self, child: PageNo) {
        self.page.put_u32(LEFTMOST_CHILD, child.0);
    }

    /// Inserts an entry before slot `index`. `suffix` is the key without the page's prefix.
    pub fn insert(&mut self, index: usize, suffix: &[u8], value: &[u8]) -> Result<(), Mismatch> {
        let count = self.view().slot_count();
        if index > count {
            return Err("insert beyond the last slot");
        }
        let page = self.page.size();
        if suffix.len() > layout::max_key(page) || suffix.len() + value.len() > layout::max_entry(page) {
            return Err("entry too large");
        }
        let slot = Slot { head: head(suffix), offset: 0, key_len: suffix.len() };
        let size = ENTRY_HEADER + slot.tail_len() + value.len();
        self.make_room(SLOT_SIZE, size)?;
        let at = SLOTS + index * SLOT_SIZE;
        self.page.copy_within(at..SLOTS + count * SLOT_SIZE, at + SLOT_SIZE);
        self.page.put_u16(SLOT_COUNT, count as u16 + 1);
        let offset = self.put_entry(&suffix[suffix.len() - slot.tail_len()..], value);
        self.put_slot(index, Slot { offset, ..slot });
        self.note_insert(index);
        Ok(())
    }

    /// Removes slot `index`.
    pub fn remove(&mut self, index: usize) -> Result<(), Mismatch> {
        let count = self.view().slot_count();
        if index >= count {
            return Err("no such slot");
        }
        self.view().check_entry(index)?;
        let slot = self.view().slot(index);
        self.discard(&slot)?;
        let at = SLOTS + index * SLOT_SIZE;
        self.page.copy_within(at + SLOT_SIZE..SLOTS + count * SLOT_SIZE, at);
        self.page.put_u16(SLOT_COUNT, count as u16 - 1);
        self.page.put_u16(ASCENDING_RUN, 0);
        Ok(())
    }

    /// Replaces the value in slot `index` by its first `front` bytes, `middle`, and its last `back` bytes.
    pub fn replace(
        &mut self,
        index: usize,
        front: usize,
        back: usize,
        middle: &[u8],
    ) -> Result<(), Mismatch> {
        if index >= self.view().slot_count() {
            return Err("no such slot");
        }
        self.view().check_entry(index)?;
        let slot = self.view().slot(index);
        let (start, old_len) = (slot.value(), self.view().value_len(&slot));
        if front + back > old_len {
            return Err("more kept of the value than it has");
        }
        let new_len = front + middle.len() + back;
        if new_len <= old_len {
            self.page.copy_within(start + old_len - back..start + old_len, start + front + middle.len());
            self.page.put(start + front, middle);
            self.page.put_u16(slot.offset, new_len as u16);
            return self.add_garbage(old_len - new_len);
        }
        if slot.key_len + self.view().prefix_len() + new_len > layout::max_entry(self.page.size()) {
            return Err("entry too large");
        }
        let size = ENTRY_HEADER + slot.tail_len() + new_len;
        let old_entry = slot.offset..start + old_len;
        if self.view().free() + old_entry.len() < size {
            return Err("no room for the longer value");
        }
        let old = SmallVec::<[u8; 1024]>::from_slice(&self.page[old_entry]);
        self.discard(&slot)?;
        if self.view().contiguous_free() < size {
            self.compact(Some(index))?;
        }
        let tail_end = ENTRY_HEADER + slot.tail_len();
        let value = &old[tail_end..];
        let offset = self.view().heap_top() - size;
        self.page.put_u16(HEAP_TOP, offset as u16);
        self.page.put_u16(offset, new_len as u16);
        let mut at = offset + ENTRY_HEADER;
        for part in [&old[ENTRY_HEADER..tail_end], &value[..front], middle, &value[old_len - back..]] {
            self.page.put(at, part);
            at += part.len();
        }
        self.put_slot(index, Slot { offset, ..slot });
        Ok(())
    }

    /// Changes how much of the keys is kept once, at the end of the page. All keys must have their first `len` bytes
    /// in common.
    pub fn set_prefix(&mut self, len: usize) -> Result<(), Mismatch> {
        let view = self.view();
        view.check()?;
        if view.slot_count() == 0 {
            if len > view.prefix_len() {
                return Err("a prefix of no keys");
            }
        } else {
            let (mut first, mut last) = (Key::new(), Key::new());
            let read = view.read_key(0, &mut first) && view.read_key(view.slot_count() - 1, &mut last);
            if !read || common_prefix(&first, &last) < len {
                return Err("the keys have less in common");
            }
        }
        view.check_prefix(0..view.slot_count(), len)?;
        if view.used_with_prefix(len) > view.capacity() {
            return Err("no room for a shorter prefix");
        }
        let old = self.page.to_owned();
        let old = NodeView::new(&*old);
        self.page.put_u16(PREFIX_LEN, len as u16);
        self.page.put_u16(HEAP_TOP, (self.page.size() - len) as u16);
        self.page.put_u16(GARBAGE, 0);
        if let Some(shorter) = old.prefix().get(..len) {
            self.page.put(self.page.size() - len, shorter);
        }
        let mut key = Key::new();
        for index in 0..old.slot_count() {
            old.read_key(index, &mut key);
            if index == 0 {
                self.page.put(self.page.size() - len, &key[..len]);
            }
            let suffix = &key[len..];
            let slot = Slot { head: head(suffix), offset: 0, key_len: suffix.len() };
            let value = old.value(index).ok_or("value outside the page")?;
            let offset = self.put_entry(&suffix[suffix.len() - slot.tail_len()..], value);
            self.put_slot(index, Slot { offset, ..slot });
        }
        Ok(())
    }

    /// Keeps the first `count` slots only.
    pub fn truncate(&mut self, count: usize) -> Result<(), Mismatch> {
        let view = self.view();
        if count > view.slot_count() {
            return Err("truncated to more slots than there are");
        }
        let mut freed = 0;
        for index in count..view.slot_count() {
            view.check_entry(index)?;
            freed += view.entry_size(&view.slot(index));
        }
        self.add_garbage(freed)?;
        self.page.put_u16(SLOT_COUNT, count as u16);
        self.page.put_u16(ASCENDING_RUN, 0);
        Ok(())
    }

    /// The prefix of a node without entries.
    pub fn put_prefix(&mut self, prefix: &[u8]) -> Result<(), Mismatch> {
        if self.view().slot_count() != 0 || prefix.len() > layout::max_key(self.page.size()) {
            return Err("the prefix of a node with entries");
        }
        let start = self.page.size() - prefix.len();
        self.page.put_u16(PREFIX_LEN, prefix.len() as u16);
        self.page.put_u16(HEAP_TOP, start as u16);
        self.page.put_u16(GARBAGE, 0);
        self.page.put(start, prefix);
        Ok(())
    }

    /// Forgets where inserts went: moved entries say nothing about those to come.
    pub fn forget_inserts(&mut self) {
        self.page.put_u16(ASCENDING_RUN, 0);
    }

    /// Notes where the last insert went, so that a split can tell ascending inserts.
    fn note_insert(&mut self, index: usize) {
        let (last, run) = (usize::from(self.page.u16_at(LAST_INSERT)), self.page.u16_at(ASCENDING_RUN));
        let run = if index == last + 1 { run.saturating_add(1) } else { 0 };
        self.page.put_u16(LAST_INSERT, index as u16);
        self.page.put_u16(ASCENDING_RUN, run);
    }

    fn put_slot(&mut self, index: usize, slot: Slot) {
        let word = u64::from(slot.head) | (slot.offset as u64) << 32 | (slot.key_len as u64) << 48;
        self.page.put_u64(SLOTS + index * SLOT_SIZE, word);
    }

    /// Puts an entry below the heap; the caller has made room.
    fn put_entry(&mut self, tail: &[u8], value: &[u8]) -> usize {
        let offset = self.view().heap_top() - ENTRY_HEADER - tail.len() - value.len();
        self.page.put_u16(HEAP_TOP, offset as u16);
        self.page.put_u16(offset, value.len() as u16);
        self.page.put(offset + ENTRY_HEADER, tail);
        self.page.put(offset + ENTRY_HEADER + tail.len(), value);
        offset
    }

    /// Gives an entry's bytes up: to the free bytes if it is the lowest of the heap, else to the garbage.
    fn discard(&mut self, slot: &Slot) -> Result<(), Mismatch> {
        let size = self.view().entry_size(slot);
        if slot.offset == self.view().heap_top() {
            self.page.put_u16(HEAP_TOP, (slot.offset + size) as u16);
            return Ok(());
        }
        self.add_garbage(size)
    }

    fn add_garbage(&mut self, bytes: usize) -> Result<(), Mismatch> {
        let garbage = self.view().garbage() + bytes;
        if garbage > self.page.size() - self.view().prefix_len() - self.view().heap_top() {
            return Err("more garbage than heap");
        }
        self.page.put_u16(GARBAGE, garbage as u16);
        Ok(())
    }

    fn make_room(&mut self, slot_bytes: usize, entry_bytes: usize) -> Result<(), Mismatch> {
        if self.view().contiguous_free() >= slot_bytes + entry_bytes {
            return Ok(());
        }
        if self.view().free() < slot_bytes + entry_bytes {
            return Err("no room on the page");
        }
        self.compact(None)
    }

    /// Moves all entries together, `except` for a slot whose entry has been given up.
    fn compact(&mut self, except: Option<usize>) -> Result<(), Mismatch> {
        let view = self.view();
        let heap_end = self.page.size() - view.prefix_len();
        let mut in_use = 0;
        for index in (0..view.slot_count()).filter(|index| Some(*index) != except) {
            view.check_entry(index)?;
            in_use += view.entry_size(&view.slot(index));
        }
        if in_use + view.garbage() != heap_end - view.heap_top() {
            return Err("free bytes are miscounted");
        }
        let heap_top = view.heap_top();
        let heap = self.page[heap_top..heap_end].to_vec();
        let mut top = heap_end;
        for index in (0..self.view().slot_count()).filter(|index| Some(*index) != except) {
            let slot = self.view().slot(index);
            let entry = &heap[slot.offset - heap_top..];
            let value_len = usize::from(u16::from_le_bytes([entry[0], entry[1]]));
            let size = ENTRY_HEADER + slot.tail_len() + value_len;
            top -= size;
            self.page.put(top, &entry[..size]);
            self.put_slot(index, Slot { offset: top, ..slot });
        }
        self.page.put_u16(HEAP_TOP, top as u16);
        self.page.put_u16(GARBAGE, 0);
        Ok(())
    }
}

impl NodeView<'_, Page> {
    /// Bytes of the [capacity](Self::capacity) that the node would use with a prefix of `len` bytes instead
    /// of its own.
    pub fn used_with_prefix(&self, len: usize) -> usize {
        self.used_by(0..self.slot_count(), len)
    }

    /// Bytes of the [capacity](Self::capacity) that an entry uses.
    pub fn used_by_entry(&self, index: usize) -> usize {
        SLOT_SIZE + self.entry_size(&self.slot(index))
    }

    /// Bytes of the [capacity](Self::capacity) that a node of the entries in `slots` with a prefix of `len`
    /// bytes would use.
    pub fn used_by(&self, slots: std::ops::Range<usize>, len: usize) -> usize {
        let own = self.prefix_len();
        let entries: usize = slots
            .map(|index| {
                let slot = self.slot(index);
                let key_len = (slot.key_len + own).saturating_sub(len);
                SLOT_SIZE + ENTRY_HEADER + key_len.saturating_sub(HEAD_SIZE) + self.value_len(&slot)
            })
            .sum();
        len + entries
    }
}
