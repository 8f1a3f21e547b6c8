//! The slotted page of a B+tree node: reading in [`view`], changing in [`edit`].
//!
//! Reading is generic over [`PageRead`](palisade_buffer::PageRead), so that one search serves latched pages
//! and optimistic reads, whose bytes may be torn until they are validated. Therefore nothing here trusts what
//! it reads: no loop is longer than the number of slots, and no offset is used unchecked.
//!
//! Changing is deterministic: the same operation on the same bytes leaves the same bytes. Recovery relies on
//! it.

pub mod edit;
pub mod view;

#[cfg(test)]
mod tests;

pub use edit::NodeEdit;
pub(crate) use view::Slot;
pub use view::{NodeView, Search};

use palisade_base::bytes::common_prefix;
use smallvec::SmallVec;

/// A key assembled from prefix, head and tail.
pub type Key = SmallVec<[u8; 64]>;

/// The head of a suffix: its first four bytes as a big-endian number, padded with zeros.
pub fn head(suffix: &[u8]) -> u32 {
    match suffix.first_chunk::<4>() {
        Some(bytes) => u32::from_be_bytes(*bytes),
        None => {
            let mut bytes = [0; 4];
            bytes[..suffix.len()].copy_from_slice(suffix);
            u32::from_be_bytes(bytes)
        }
    }
}

/// The shortest key that is greater than `left` and not greater than `right`: what a leaf split sends up.
///
/// # Panics
/// If `left >= right`.
pub fn separator<'a>(left: &[u8], right: &'a [u8]) -> &'a [u8] {
    let common = common_prefix(left, right);
    assert!(common < right.len() && left < right, "a separator needs ascending keys");
    &right[..common + 1]
}
