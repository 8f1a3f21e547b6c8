//! Sort keys: bytes that memcmp orders as a collation orders the texts, and that show where they end, so that more
//! key parts can follow.
//!
//! | collation | form |
//! |---|---|
//! | Unicode, NO PAD | each weight in 2 bytes, big-endian; then 0x00, below every weight's first byte |
//! | Unicode, several levels or a language | of each level: each weight in 2 bytes; then 0x00 0x00 |
//! | bytes, NO PAD | the bytes, 0x00 as 0x00 0xff; then 0x00 0x00 |
//! | PAD SPACE | see below; a unit is a weight in 2 bytes, or 1 for collations of bytes |
//!
//! PAD SPACE compares as if spaces without end followed. What decides between a text that ends and one that goes on
//! with k spaces and a character c is whether c is above or below the space; and between two that go on, how many
//! spaces they have before it. So after the first space of every run comes a marker:
//!
//! ```text
//! space 01 k        the run has k spaces, then comes a character below the space: the longer run is greater
//! space 02          the end (trailing spaces left out)
//! space 03 !k       the run has k spaces, then comes a character above the space: the longer run is less
//! ```
//!
//! k is in bytes of 255 and a last byte below that. Every text ends with `space 02`.

/// How the units of a sort key look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// 2 bytes a weight, ended by 0x00.
    WordsEnded,
    /// So many levels of 2 bytes a weight, each ended by 0x00 0x00.
    Levels(u8),
    /// Bytes, with 0x00 escaped.
    BytesEscaped,
    /// Padded with this weight; `wide` weights have 2 bytes.
    Padded { space: u16, wide: bool },
}

const BELOW: u8 = 1;
const END: u8 = 2;
const ABOVE: u8 = 3;

/// What ends a level of a [`Form::Levels`] sort key: below every weight.
pub(super) const LEVEL_END: [u8; 2] = [0, 0];

/// Weights in 2 bytes each.
pub(super) fn put_words(weights: impl Iterator<Item = u16>, out: &mut Vec<u8>) {
    for weight in weights {
        out.extend_from_slice(&weight.to_be_bytes());
    }
}

/// The [`Form::Padded`] sort key.
pub(super) fn put_padded(weights: impl Iterator<Item = u16>, space: u16, wide: bool, out: &mut Vec<u8>) {
    let unit = |weight: u16, out: &mut Vec<u8>| {
        if wide {
            out.extend_from_slice(&weight.to_be_bytes());
        } else {
            out.push(weight as u8);
        }
    };
    out.reserve(weights.size_hint().0 + 3);
    let mut run = 0usize;
    for weight in weights {
        if weight == space {
            run += 1;
            continue;
        }
        if run > 0 {
            unit(space, out);
            let (marker, mask) = if weight < space { (BELOW, 0) } else { (ABOVE, 0xff) };
            out.push(marker);
            while run >= 255 {
                out.push(255 ^ mask);
                run -= 255;
            }
            out.push(run as u8 ^ mask);
            run = 0;
        }
        unit(weight, out);
    }
    unit(space, out);
    out.push(END);
}

/// The [`Form::BytesEscaped`] sort key.
pub(super) fn put_escaped(text: &[u8], out: &mut Vec<u8>) {
    put_escaped_prefix(text, out);
    out.extend_from_slice(&[0, 0]);
}

/// The same without its end.
pub(super) fn put_escaped_prefix(text: &[u8], out: &mut Vec<u8>) {
    for (number, part) in text.split(|byte| *byte == 0).enumerate() {
        if number > 0 {
            out.extend_from_slice(&[0, 0xff]);
        }
        out.extend_from_slice(part);
    }
}

/// Length of the sort key at the start of `bytes`; `None` if there is none. Every byte is XORed with `mask` first
/// (0xff for a descending key).
pub(super) fn length(form: Form, bytes: &[u8], mask: u8) -> Option<usize> {
    walk(form, bytes, mask, |_| ())
}

/// Reads the text back from the sort key of a collation whose weights are its bytes; gives the length of the key.
pub(super) fn decode(form: Form, bytes: &[u8], mask: u8, out: &mut Vec<u8>) -> Option<usize> {
    walk(form, bytes, mask, |byte| out.push(byte))
}

fn walk(form: Form, bytes: &[u8], mask: u8, mut give: impl FnMut(u8)) -> Option<usize> {
    let byte = |at: usize| bytes.get(at).map(|byte| byte ^ mask);
    let mut at = 0;
    match form {
        Form::WordsEnded => {
            while byte(at)? != 0 {
                at += 2;
            }
            Some(at + 1)
        }
        Form::Levels(levels) => {
            for _ in 0..levels {
                while [byte(at)?, byte(at + 1)?] != LEVEL_END {
                    at += 2;
                }
                at += 2;
            }
            Some(at)
        }
        Form::BytesEscaped => loop {
            match (byte(at)?, byte(at + 1)) {
                (0, Some(0)) => return Some(at + 2),
                (0, Some(0xff)) => {
                    give(0);
                    at += 2;
                }
                (0, _) => return None,
                (other, _) => {
                    give(other);
                    at += 1;
                }
            }
        },
        Form::Padded { space, wide } => loop {
            let weight =
                if wide { u16::from_be_bytes([byte(at)?, byte(at + 1)?]) } else { u16::from(byte(at)?) };
            at += 1 + usize::from(wide);
            if weight != space {
                give(weight as u8);
                continue;
            }
            let marker = byte(at)?;
            at += 1;
            let run_mask = match marker {
                END => return Some(at),
                BELOW => 0,
                ABOVE => 0xff,
                _ => return None,
            };
            loop {
                let part = byte(at)? ^ run_mask;
                at += 1;
                (0..part).for_each(|_| give(space as u8));
                if part < 255 {
                    break;
                }
            }
        },
    }
}
