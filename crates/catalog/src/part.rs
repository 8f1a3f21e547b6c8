//! Parts of a text by places that its reader has counted off itself.
//!
//! Such a place is within the text or at its end. Were it once beyond, the part is empty, or the whole text:
//! a reader of what a client has sent ends there, and does not panic.

/// What follows the first `count` bytes.
#[inline]
pub(crate) fn from(text: &[u8], count: usize) -> &[u8] {
    text.get(count..).unwrap_or_default()
}

/// The first `count` bytes.
#[inline]
pub(crate) fn first(text: &[u8], count: usize) -> &[u8] {
    text.get(..count).unwrap_or(text)
}
