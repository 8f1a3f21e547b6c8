//! One module per target.

pub(crate) mod decimal;
pub(crate) mod expression;
pub(crate) mod json;
pub(crate) mod log;
pub(crate) mod packets;
pub(crate) mod page;
pub(crate) mod parser;
pub(crate) mod places;
pub(crate) mod row;

/// The first byte, which says what is done with the others.
fn choice(input: &[u8]) -> Option<(u8, &[u8])> {
    input.split_first().map(|(first, rest)| (*first, rest))
}
