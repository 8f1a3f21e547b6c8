//! The compressed protocol: the stream of packets, in compressed frames.
//!
//! ```text
//! ┌──────────┬─────┬──────────┬─────────┐   length: of the payload; plain: of what the payload inflates to, or 0 if
//! │ length 3 │ seq │ plain 3  │ payload │   the payload is plain already (short ones do not shrink)
//! └──────────┴─────┴──────────┴─────────┘
//! ```
//!
//! Packets and frames are cut independently of each other. Sequence numbers start at 0 with every command, like those
//! of packets, and count apart from them.
//!
//! A frame inflates to what its header says, or it is malformed: a client cannot make the server inflate more than
//! 16 MiB at a time, whatever it sends.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use crate::Malformed;
use crate::constants::MAX_FRAME;
use crate::wire::{put_u24, u24};

const HEADER: usize = 7;

/// Shorter payloads are sent as they are, as MySQL does.
const WORTH_COMPRESSING: usize = 50;

/// zlib's level: what MySQL compresses at unless told otherwise.
const LEVEL: u32 = 6;

/// Both directions of a compressed connection.
pub struct Compressor {
    received: Vec<u8>,
    inflate: Decompress,
    deflate: Compress,
    sequence: u8,
    scratch: Vec<u8>,
}

impl Default for Compressor {
    fn default() -> Self {
        Compressor {
            received: Vec::new(),
            inflate: Decompress::new(true),
            deflate: Compress::new(Compression::new(LEVEL), true),
            sequence: 0,
            scratch: Vec::new(),
        }
    }
}

impl Compressor {
    /// Where received bytes go: append to it.
    pub fn received(&mut self) -> &mut Vec<u8> {
        &mut self.received
    }

    /// Inflates the frames that have come whole and appends what was in them to `plain`.
    pub fn inflate(&mut self, plain: &mut Vec<u8>) -> Result<(), Malformed> {
        let mut at = 0;
        while let Some(header) = self.received.get(at..).and_then(<[u8]>::first_chunk::<HEADER>) {
            let [l0, l1, l2, sequence, p0, p1, p2] = *header;
            let (length, inflated) = (u24([l0, l1, l2]) as usize, u24([p0, p1, p2]) as usize);
            let body = at + HEADER;
            let Some(payload) = self.received.get(body..body + length) else { break };
            match inflated {
                0 => plain.extend_from_slice(payload),
                _ => inflate(&mut self.inflate, payload, inflated, plain)?,
            }
            self.sequence = sequence.wrapping_add(1);
            at = body + length;
        }
        self.received.drain(..at);
        Ok(())
    }

    /// Appends `plain` to `out` in frames.
    pub fn deflate(&mut self, plain: &[u8], out: &mut Vec<u8>) {
        for part in plain.chunks(MAX_FRAME) {
            self.scratch.clear();
            let shrunk = part.len() >= WORTH_COMPRESSING && self.shrink(part);
            let (payload, inflated) = if shrunk { (&self.scratch[..], part.len()) } else { (part, 0) };
            put_u24(out, payload.len() as u32);
            out.push(self.sequence);
            put_u24(out, inflated as u32);
            out.extend_from_slice(payload);
            self.sequence = self.sequence.wrapping_add(1);
        }
    }

    /// Puts `part`, compressed, into the scratch; false if that is not shorter.
    fn shrink(&mut self, part: &[u8]) -> bool {
        // what needs more room than this has not become shorter
        self.scratch.reserve(part.len());
        self.deflate.reset();
        let done = self.deflate.compress_vec(part, &mut self.scratch, FlushCompress::Finish);
        matches!(done, Ok(Status::StreamEnd)) && self.scratch.len() < part.len()
    }
}

fn inflate(zlib: &mut Decompress, payload: &[u8], length: usize, out: &mut Vec<u8>) -> Result<(), Malformed> {
    let start = out.len();
    out.resize(start + length, 0);
    zlib.reset(true);
    let room = out.get_mut(start..).unwrap_or_default();
    match zlib.decompress(payload, room, FlushDecompress::Finish) {
        Ok(Status::StreamEnd) if zlib.total_out() == length as u64 => Ok(()),
        _ => {
            out.truncate(start);
            Err(Malformed)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_base::prng::{Prng, test_seed};

    fn framed(plain: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        Compressor::default().deflate(plain, &mut out);
        out
    }

    #[test]
    fn short_payloads_go_as_they_are() {
        assert_eq!(framed(b"\x01\0\0\0\x0e"), b"\x05\0\0\0\0\0\0\x01\0\0\0\x0e");
    }

    #[test]
    fn what_was_deflated_inflates_to_itself_however_it_is_cut() {
        let mut prng = Prng::new(test_seed(61));
        for round in 0..200 {
            let mut plain = vec![b'a'; prng.below(4000) as usize];
            if prng.one_in(2) {
                prng.fill(&mut plain);
            }
            let (mut one, mut other) = (Compressor::default(), Compressor::default());
            let (mut frames, mut back) = (Vec::new(), Vec::new());
            one.sequence = round as u8;
            for part in plain.chunks(1 + prng.below(1000) as usize) {
                one.deflate(part, &mut frames);
            }
            for part in frames.chunks(1 + prng.below(100) as usize) {
                other.received().extend_from_slice(part);
                other.inflate(&mut back).unwrap();
            }
            assert_eq!(back, plain);
            assert!(other.received().is_empty());
        }
        assert!(framed(&[b'a'; 1000]).len() < 50);
    }

    #[test]
    fn a_frame_of_the_greatest_length_is_split() {
        let plain: Vec<u8> = (0..MAX_FRAME + 10).map(|number| ((number * number) >> 7) as u8).collect();
        let (mut other, mut back) = (Compressor::default(), Vec::new());
        other.received().extend_from_slice(&framed(&plain));
        other.inflate(&mut back).unwrap();
        assert!(back == plain);
        assert_eq!(other.sequence, 2);
    }

    #[test]
    fn a_frame_that_inflates_to_more_or_less_than_it_says_is_malformed() {
        let honest = framed(&[b'a'; 1000]);
        for length in [1u32, 999, 1001, 0xff_ffff] {
            let mut lying = honest.clone();
            lying[4..7].copy_from_slice(&length.to_le_bytes()[..3]);
            let mut compressor = Compressor::default();
            compressor.received().extend_from_slice(&lying);
            let mut plain = Vec::new();
            assert_eq!(compressor.inflate(&mut plain), Err(Malformed), "{length}");
            assert!(plain.is_empty());
        }
        let mut prng = Prng::new(test_seed(62));
        for _ in 0..5000 {
            let mut bytes = vec![0; 7 + prng.below(80) as usize];
            prng.fill(&mut bytes);
            bytes[1..3].fill(0);
            bytes[6] = 0;
            let mut compressor = Compressor::default();
            compressor.received().extend_from_slice(&bytes);
            // whatever it says, it ends
            let _ = compressor.inflate(&mut Vec::new());
        }
    }
}
