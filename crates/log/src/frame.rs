//! How one append lies in the log's byte stream.
//!
//! ```text
//!   lsn            +4              +8                  +8+n     next multiple of 8
//!   | 8 + n : u32  | lsn low : u32 | n bytes of payload | zeros |
//! ```
//!
//! The header repeats the low half of the frame's own LSN, so bytes are not taken for a frame where none begins. In
//! the log buffer the header is also the *link*: zero until everything behind it is in place.

use palisade_base::Lsn;

/// Bytes before the payload.
pub(crate) const HEADER: usize = 8;
/// Frames begin at multiples of this.
pub(crate) const ALIGNMENT: usize = 8;

/// What a frame with this payload takes of the log.
pub(crate) const fn size(payload_len: usize) -> u64 {
    (HEADER + payload_len).next_multiple_of(ALIGNMENT) as u64
}

/// The header of a frame. Never 0.
pub(crate) fn header(start: Lsn, payload_len: usize) -> u64 {
    (start.0 << 32) | (HEADER + payload_len) as u64
}

/// What the frame with this header takes of the log.
pub(crate) fn size_in(header: u64) -> u64 {
    (header & 0xffff_ffff).next_multiple_of(ALIGNMENT as u64)
}

/// The payload's length in a header found at `start`; `None` if no frame that begins there has such a header.
pub(crate) fn payload_len(header: u64, start: Lsn) -> Option<usize> {
    let own = header >> 32 == start.0 & 0xffff_ffff;
    let len = (header & 0xffff_ffff) as usize;
    if own { len.checked_sub(HEADER) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_tells_its_length_and_where_it_belongs() {
        for (start, len) in [(0, 0), (8, 1), (0x1_0000_0008, 8), (0xffff_fff8, 1 << 20)] {
            let header = header(Lsn(start), len);
            assert_ne!(header, 0);
            assert_eq!(size_in(header), size(len));
            assert_eq!(payload_len(header, Lsn(start)), Some(len));
            assert_eq!(payload_len(header, Lsn(start + 8)), None);
        }
        assert_eq!(payload_len(0, Lsn(0)), None);
        assert_eq!((size(0), size(1), size(8), size(9)), (8, 16, 16, 24));
    }
}
