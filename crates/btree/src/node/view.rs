//! Reading a node.

use std::cmp::Ordering;

use palisade_base::PageNo;
use palisade_buffer::{Page, PageRead};

use super::{Key, head};
use crate::layout::{self, node::*};
use crate::tree::descent::MAX_LEVEL;

/// Where a key is, or would be, among the slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Search {
    /// First slot whose key is not less than the key searched for.
    pub slot: usize,
    /// Whether that slot's key is the key searched for.
    pub found: bool,
}

/// A slot, unpacked.
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    /// First four bytes of the suffix.
    pub head: u32,
    /// Where the entry is.
    pub offset: usize,
    /// Length of the suffix.
    pub key_len: usize,
}

impl Slot {
    #[inline]
    fn unpacked(word: u64) -> Slot {
        Slot {
            head: word as u32,
            offset: usize::from((word >> 32) as u16),
            key_len: usize::from((word >> 48) as u16),
        }
    }

    /// Bytes of the suffix that are in the heap.
    pub fn tail_len(&self) -> usize {
        self.key_len.saturating_sub(HEAD_SIZE)
    }

    /// Where the tail of the key is.
    pub fn tail(&self) -> usize {
        self.offset + ENTRY_HEADER
    }

    /// Where the value is.
    pub fn value(&self) -> usize {
        self.tail() + self.tail_len()
    }

    /// Bytes of the suffix that are in the slot.
    fn head_bytes(&self) -> ([u8; 4], usize) {
        (self.head.to_be_bytes(), self.key_len.min(HEAD_SIZE))
    }
}

/// A node being read. What it answers is as consistent as the page is: on an optimistic read it means nothing before
/// the page was validated.
pub struct NodeView<'p, P: PageRead + ?Sized> {
    page: &'p P,
}

// A derived copy would want pages to be copied.
impl<P: PageRead + ?Sized> Clone for NodeView<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: PageRead + ?Sized> Copy for NodeView<'_, P> {}

impl<'p, P: PageRead + ?Sized> NodeView<'p, P> {
    /// Reads `page` as a node.
    #[inline]
    pub fn new(page: &'p P) -> Self {
        NodeView { page }
    }

    /// The index the node belongs to.
    #[inline]
    pub fn index_id(&self) -> u64 {
        self.page.u64_at(INDEX_ID)
    }

    /// 0 is a leaf.
    #[inline]
    pub fn level(&self) -> u16 {
        self.page.u16_at(LEVEL)
    }

    /// Entries on the page.
    #[inline]
    pub fn slot_count(&self) -> usize {
        usize::from(self.page.u16_at(SLOT_COUNT)).min(self.capacity() / SLOT_SIZE)
    }

    /// Bytes for slots, entries and prefix.
    #[inline]
    pub fn capacity(&self) -> usize {
        capacity(self.page.size())
    }

    /// Lowest byte of the heap.
    #[inline]
    pub fn heap_top(&self) -> usize {
        usize::from(self.page.u16_at(HEAP_TOP).wrapping_sub(1)) + 1
    }

    /// Where the heap ends.
    #[inline]
    pub fn heap_end(&self) -> usize {
        self.page.size() - self.prefix_len()
    }

    /// Bytes of the heap that no slot refers to.
    #[inline]
    pub fn garbage(&self) -> usize {
        usize::from(self.page.u16_at(GARBAGE))
    }

    /// Length of the common prefix, or what a key cannot have if that is less.
    #[inline]
    pub fn prefix_len(&self) -> usize {
        usize::from(self.page.u16_at(PREFIX_LEN)).min(self.page.size() / 4)
    }

    /// Right sibling.
    pub fn next(&self) -> PageNo {
        PageNo(self.page.u32_at(NEXT))
    }

    /// Inner nodes: the child with the keys below slot 0's.
    pub fn leftmost_child(&self) -> PageNo {
        PageNo(self.page.u32_at(LEFTMOST_CHILD))
    }

    /// The slot that the next insert takes if ascending inserts go on here, and there were some.
    pub fn ascending_slot(&self) -> Option<usize> {
        let run = self.page.u16_at(ASCENDING_RUN);
        (run >= 4).then(|| usize::from(self.page.u16_at(LAST_INSERT)) + 1)
    }

    /// Whether this is a node of `index_id` on `level`, as its parent promised.
    #[inline]
    pub fn is(&self, index_id: u64, level: u16) -> bool {
        self.page.page_type() == layout::page_type::NODE
            && self.level() == level
            && self.index_id() == index_id
    }

    /// Free bytes between slots and heap; an insert that needs more compacts the heap first.
    #[inline]
    pub fn contiguous_free(&self) -> usize {
        self.heap_top().saturating_sub(SLOTS + self.slot_count() * SLOT_SIZE)
    }

    /// All free bytes.
    #[inline]
    pub fn free(&self) -> usize {
        self.contiguous_free() + self.garbage()
    }

    /// Bytes of the [capacity](Self::capacity) in use.
    pub fn used(&self) -> usize {
        self.capacity().saturating_sub(self.free())
    }

    /// Slot `index`.
    #[inline]
    pub fn slot(&self, index: usize) -> Slot {
        Slot::unpacked(self.page.u64_at(SLOTS + index * SLOT_SIZE))
    }

    /// Length of the value in `slot`.
    #[inline]
    pub fn value_len(&self, slot: &Slot) -> usize {
        usize::from(self.page.u16_at(slot.offset))
    }

    /// Bytes that an entry takes in the heap.
    pub fn entry_size(&self, slot: &Slot) -> usize {
        ENTRY_HEADER + slot.tail_len() + self.value_len(slot)
    }

    /// Compares the page's prefix with the front of `key`: on `Equal`, `key` has the prefix.
    #[inline]
    pub fn compare_prefix(&self, key: &[u8]) -> Ordering {
        let len = self.prefix_len();
        if len == 0 {
            return Ordering::Equal;
        }
        self.page.compare(self.page.size() - len, len, &key[..len.min(key.len())])
    }

    /// Finds `key` by binary search.
    #[inline]
    pub fn search(&self, key: &[u8]) -> Search {
        search_in(self.page.reader(), key)
    }

    /// Compares a slot's suffix with `suffix`, their heads being equal.
    ///
    /// A suffix of at most four bytes whose padded head equals the other's is a prefix of the other, or differs from
    /// it by zero bytes at the end: then the shorter is the lesser.
    #[inline]
    fn compare_beyond_head(&self, slot: &Slot, suffix: &[u8]) -> Ordering {
        if slot.key_len <= HEAD_SIZE || suffix.len() <= HEAD_SIZE {
            return slot.key_len.cmp(&suffix.len());
        }
        self.page.compare(slot.tail(), slot.tail_len(), &suffix[HEAD_SIZE..])
    }

    /// Compares the key in slot `index` with `key`.
    pub fn compare_key(&self, index: usize, key: &[u8]) -> Ordering {
        match self.compare_prefix(key) {
            Ordering::Equal => {}
            unequal => return unequal,
        }
        let suffix = &key[self.prefix_len().min(key.len())..];
        let slot = self.slot(index);
        match slot.head.cmp(&head(suffix)) {
            Ordering::Equal => self.compare_beyond_head(&slot, suffix),
            unequal => unequal,
        }
    }

    /// Inner nodes: which child has `key`. Position 0 is the leftmost child, position `n` the child of slot `n - 1`.
    #[inline]
    pub fn child_position(&self, key: &[u8]) -> usize {
        let at = self.search(key);
        at.slot + usize::from(at.found)
    }

    /// Inner nodes: which child has the keys just below `key`.
    pub fn child_position_below(&self, key: &[u8]) -> usize {
        self.search(key).slot
    }

    /// Inner nodes: the child at a position.
    #[inline]
    pub fn child(&self, position: usize) -> PageNo {
        PageNo(match position.checked_sub(1) {
            None => self.page.u32_at(LEFTMOST_CHILD),
            Some(slot) => self.page.u32_at(self.slot(slot).value()),
        })
    }

    /// Replaces `key` with the key in slot `index`. `false` if the entry is not within the page.
    pub fn read_key(&self, index: usize, key: &mut Key) -> bool {
        let prefix_len = self.prefix_len();
        let slot = self.slot(index);
        let (head, head_len) = slot.head_bytes();
        let tail_len = slot.tail_len();
        if slot.tail() + tail_len > self.page.size() {
            return false;
        }
        key.clear();
        key.resize(prefix_len + head_len + tail_len, 0);
        self.page.copy(self.page.size() - prefix_len, &mut key[..prefix_len]);
        key[prefix_len..prefix_len + head_len].copy_from_slice(&head[..head_len]);
        self.page.copy(slot.tail(), &mut key[prefix_len + head_len..]);
        true
    }
}

/// Finds a key by binary search. The page is a value, so that the loop has its address and size in registers.
#[inline]
fn search_in<R: PageRead + Copy>(page: R, key: &[u8]) -> Search {
    let node = NodeView::new(&page);
    let count = node.slot_count();
    match node.compare_prefix(key) {
        Ordering::Less => return Search { slot: count, found: false },
        Ordering::Greater => return Search { slot: 0, found: false },
        Ordering::Equal => {}
    }
    let suffix = &key[node.prefix_len().min(key.len())..];
    let wanted = head(suffix);
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        let slot = node.slot(middle);
        let order = match slot.head.cmp(&wanted) {
            Ordering::Equal => node.compare_beyond_head(&slot, suffix),
            unequal => unequal,
        };
        match order {
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
            Ordering::Equal => return Search { slot: middle, found: true },
        }
    }
    Search { slot: low, found: false }
}

/// Reading that lends bytes out needs a latched page.
impl<'p> NodeView<'p, Page> {
    /// The common prefix.
    pub fn prefix(&self) -> &'p [u8] {
        &self.page[self.page.size() - self.prefix_len()..]
    }

    /// The value in slot `index`, if it lies within the page.
    #[inline]
    pub fn value(&self, index: usize) -> Option<&'p [u8]> {
        if index >= self.slot_count() {
            return None;
        }
        self.value_of(&self.slot(index))
    }

    /// The value of the entry that `slot` refers to, if it lies within the page; then its key does, too.
    #[inline]
    pub fn value_of(&self, slot: &Slot) -> Option<&'p [u8]> {
        self.page.get(slot.value()..slot.value() + self.value_len(slot))
    }

    /// The slots with these numbers, if they lie within the page.
    #[inline]
    pub fn slots(
        &self,
        numbers: std::ops::Range<usize>,
    ) -> Option<impl DoubleEndedIterator<Item = Slot> + ExactSizeIterator + use<'p>> {
        let bytes = self.page.get(SLOTS + numbers.start * SLOT_SIZE..SLOTS + numbers.end * SLOT_SIZE)?;
        let (words, _) = bytes.as_chunks::<SLOT_SIZE>();
        Some(words.iter().map(|word| Slot::unpacked(u64::from_le_bytes(*word))))
    }

    /// These bytes, if they lie within the page.
    #[inline]
    pub fn bytes(&self, range: std::ops::Range<usize>) -> Option<&'p [u8]> {
        self.page.get(range)
    }

    /// The part of the key in slot `index` that is in the heap.
    pub fn tail(&self, slot: &Slot) -> Option<&'p [u8]> {
        self.page.get(slot.tail()..slot.value())
    }

    /// Calls `visit` with the suffix in slot `index` in one piece.
    pub fn read_suffix(&self, index: usize, suffix: &mut Key) -> bool {
        let slot = self.slot(index);
        let Some(tail) = self.tail(&slot) else { return false };
        let (head, head_len) = slot.head_bytes();
        suffix.clear();
        suffix.extend_from_slice(&head[..head_len]);
        suffix.extend_from_slice(tail);
        true
    }

    /// Checks the node header in constant time: slots, heap and prefix do not overlap.
    #[inline]
    pub fn check_header(&self) -> Result<(), &'static str> {
        let slots_end = SLOTS + usize::from(self.page.u16_at(SLOT_COUNT)) * SLOT_SIZE;
        let prefix_len = usize::from(self.page.u16_at(PREFIX_LEN));
        if prefix_len > layout::max_key(self.page.size()) {
            return Err("prefix longer than the longest key");
        }
        let heap_end = self.page.size() - prefix_len;
        if slots_end > self.heap_top() || self.heap_top() > heap_end {
            return Err("slots, heap and prefix overlap");
        }
        if self.garbage() > heap_end - self.heap_top() {
            return Err("more garbage than heap");
        }
        Ok(())
    }

    /// Checks one entry in constant time: it lies within the heap. Always inlined: a loop over all entries
    /// then reads the header once.
    #[inline(always)]
    pub fn check_entry(&self, index: usize) -> Result<(), &'static str> {
        let slot = self.slot(index);
        let heap_end = self.page.size() - self.prefix_len();
        if slot.offset < self.heap_top() || slot.value() > heap_end {
            return Err("entry outside the heap");
        }
        if slot.value() + self.value_len(&slot) > heap_end {
            return Err("value outside the heap");
        }
        if self.level() > 0 && self.value_len(&slot) != CHILD_SIZE {
            return Err("inner entry without a child");
        }
        Ok(())
    }

    /// Checks that an entry can be given up: the garbage would not exceed the heap.
    pub fn check_discard(&self, index: usize) -> Result<(), &'static str> {
        let garbage = self.garbage() + self.entry_size(&self.slot(index));
        let heap = self.page.size() - self.prefix_len() - self.heap_top();
        if garbage > heap { Err("free bytes are miscounted") } else { Ok(()) }
    }

    /// Checks that no key in `slots` is shorter than `len`, which is the length of a prefix that they should have.
    pub fn check_prefix(&self, slots: std::ops::Range<usize>, len: usize) -> Result<(), &'static str> {
        let own = self.prefix_len();
        match slots.into_iter().all(|index| own + self.slot(index).key_len >= len) {
            true => Ok(()),
            false => Err("keys do not ascend"),
        }
    }

    /// Checks everything that changing the node relies on: header, entries, and the count of free bytes.
    pub fn check(&self) -> Result<(), &'static str> {
        self.check_header()?;
        let mut in_use = 0;
        for index in 0..self.slot_count() {
            self.check_entry(index)?;
            let slot = self.slot(index);
            if slot.key_len + self.prefix_len() > layout::max_key(self.page.size()) {
                return Err("key longer than the longest key");
            }
            if slot.key_len + self.prefix_len() + self.value_len(&slot) > layout::max_entry(self.page.size())
            {
                return Err("entry longer than the longest entry");
            }
            in_use += self.entry_size(&slot);
        }
        if in_use + self.garbage() != self.page.size() - self.prefix_len() - self.heap_top() {
            return Err("free bytes are miscounted");
        }
        Ok(())
    }

    /// Checks a node that was read from disk: [`check`](Self::check), that the heads of the keys ascend, and
    /// that an inner node has a leftmost child. Costs a few instructions for each entry, so it is done
    /// whenever a node is read.
    pub(crate) fn check_read(&self) -> Result<(), &'static str> {
        if self.page.u16_at(SLOT_COUNT) as usize > self.capacity() / SLOT_SIZE {
            return Err("more slots than there is room for");
        }
        self.check()?;
        if self.level() > MAX_LEVEL {
            return Err("impossible level");
        }
        if self.level() > 0 && self.leftmost_child() == PageNo::NONE {
            return Err("an inner node without a child");
        }
        let heads = (0..self.slot_count()).map(|index| self.slot(index).head);
        if !heads.is_sorted() {
            return Err("keys do not ascend");
        }
        Ok(())
    }

    /// Checks that the keys ascend, and that searching finds each.
    pub fn check_order(&self) -> Result<(), &'static str> {
        let (mut last, mut key) = (Key::new(), Key::new());
        for index in 0..self.slot_count() {
            if !self.read_key(index, &mut key) {
                return Err("entry outside the heap");
            }
            if index > 0 && last >= key {
                return Err("keys do not ascend");
            }
            std::mem::swap(&mut last, &mut key);
        }
        for index in 0..self.slot_count() {
            self.read_key(index, &mut key);
            if self.search(&key) != (Search { slot: index, found: true }) {
                return Err("search does not find a key");
            }
        }
        Ok(())
    }
}
