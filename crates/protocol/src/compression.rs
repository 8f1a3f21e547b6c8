//! The compressed protocol: the stream of packets, in compressed frames.
//!
//! ```text
//! ┌──────────┬─────┬──────────┬─────────┐   length: of the payload; plain: of what the payload inflates to, or 0 if
//! │ length 3 │ seq │ plain 3  │ payload │   the payload is plain already (short ones do not shrink)
//! └──────────┴─────┴──────────┴─────────┘
//! ```
//!
//! Packets and frames are cut independently of each other. Sequence numbers start at 0 with every command, like those
//! of packets, and count apart from them. A payload is one zlib stream or one Zstandard frame: it does not
//! lean on those before it.
//!
//! A frame inflates to what its header says, or it is malformed: a client cannot make the server inflate more than
//! 16 MiB at a time, whatever it sends. And frames are inflated as they are needed: those that have come stay
//! compressed once 64 KiB are inflated, for 512 bytes of Zstandard can stand for 16 MiB.
//!
//! Answers are cut into parts of [`Algorithm::part`] bytes, so that compressing one of them holds the calling
//! thread for some milliseconds only; the caller may do something else before the next.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use zstd::bulk;

use crate::Malformed;
use crate::wire::{put_u24, u24};

const HEADER: usize = 7;

/// Shorter payloads are sent as they are, as MySQL does.
const WORTH_COMPRESSING: usize = 50;

/// zlib's level: what MySQL compresses at unless told otherwise.
const ZLIB_LEVEL: u8 = 6;

/// No further frame is inflated once so many bytes are.
const ENOUGH: usize = 64 << 10;

/// The greatest level of Zstandard, which compresses some 1.5 MB in a second.
const MAX_ZSTD_LEVEL: u8 = 22;

/// From this level of Zstandard on, parts are small.
const SLOW_ZSTD_LEVEL: u8 = 13;

/// What compresses the frames of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// zlib, at its level 6.
    Zlib,
    /// Zstandard, at the level that the client chose: 1 to 22.
    Zstd {
        /// That level.
        level: u8,
    },
}

impl Algorithm {
    /// Zstandard at `level`; `None` if there is no such level.
    pub fn zstd(level: u8) -> Option<Algorithm> {
        (1..=MAX_ZSTD_LEVEL).contains(&level).then_some(Algorithm::Zstd { level })
    }

    /// As `protocol_compression_algorithms` and `Compression_algorithm` name it.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Zlib => "zlib",
            Algorithm::Zstd { .. } => "zstd",
        }
    }

    /// What `Compression_level` shows.
    pub fn level(self) -> u8 {
        match self {
            Algorithm::Zlib => ZLIB_LEVEL,
            Algorithm::Zstd { level } => level,
        }
    }

    /// Into parts of how many bytes an answer is cut.
    pub fn part(self) -> usize {
        match self {
            Algorithm::Zstd { level: SLOW_ZSTD_LEVEL.. } => 16 << 10,
            Algorithm::Zlib | Algorithm::Zstd { .. } => 128 << 10,
        }
    }
}

/// Both directions of a compressed connection.
pub struct Compressor {
    algorithm: Algorithm,
    received: Vec<u8>,
    codec: Codec,
    sequence: u8,
    scratch: Vec<u8>,
}

/// The state of both directions, which is used again for every frame.
enum Codec {
    Zlib { deflate: Compress, inflate: Decompress },
    Zstd { deflate: bulk::Compressor<'static>, inflate: bulk::Decompressor<'static> },
}

impl Compressor {
    /// That of a fresh connection. The error is out of memory.
    pub fn new(algorithm: Algorithm) -> std::io::Result<Self> {
        let codec = match algorithm {
            Algorithm::Zlib => Codec::Zlib {
                deflate: Compress::new(Compression::new(u32::from(ZLIB_LEVEL)), true),
                inflate: Decompress::new(true),
            },
            Algorithm::Zstd { level } => Codec::Zstd {
                deflate: bulk::Compressor::new(i32::from(level))?,
                inflate: bulk::Decompressor::new()?,
            },
        };
        Ok(Compressor { algorithm, received: Vec::new(), codec, sequence: 0, scratch: Vec::new() })
    }

    /// What it compresses with.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Where received bytes go: append to it.
    pub fn received(&mut self) -> &mut Vec<u8> {
        &mut self.received
    }

    /// Inflates frames that have come whole, until 64 KiB are inflated, and appends what was in them to
    /// `plain`. If nothing was appended there is no whole frame.
    pub fn inflate(&mut self, plain: &mut Vec<u8>) -> Result<(), Malformed> {
        let (mut at, before) = (0, plain.len());
        while plain.len() - before < ENOUGH
            && let Some(header) = self.received.get(at..).and_then(<[u8]>::first_chunk::<HEADER>)
        {
            let [l0, l1, l2, sequence, p0, p1, p2] = *header;
            let (length, inflated) = (u24([l0, l1, l2]) as usize, u24([p0, p1, p2]) as usize);
            let body = at + HEADER;
            let Some(payload) = self.received.get(body..body + length) else { break };
            match inflated {
                0 => plain.extend_from_slice(payload),
                _ => self.codec.inflate(payload, inflated, plain)?,
            }
            self.sequence = sequence.wrapping_add(1);
            at = body + length;
        }
        self.received.drain(..at);
        Ok(())
    }

    /// Appends the first [part](Algorithm::part) of `plain` to `out` as a frame; the rest of `plain`.
    pub fn deflate<'a>(&mut self, plain: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
        let (part, rest) = plain.split_at_checked(self.algorithm.part()).unwrap_or((plain, &[]));
        self.scratch.clear();
        // what needs more room than this has not become shorter
        self.scratch.resize(part.len(), 0);
        let shrunk = match part.len() {
            ..WORTH_COMPRESSING => None,
            _ => self.codec.deflate(part, &mut self.scratch),
        };
        let shrunk = shrunk.and_then(|length| self.scratch.get(..length)).filter(|it| it.len() < part.len());
        let (payload, inflated) = shrunk.map_or((part, 0), |shrunk| (shrunk, part.len()));
        put_u24(out, payload.len() as u32);
        out.push(self.sequence);
        put_u24(out, inflated as u32);
        out.extend_from_slice(payload);
        self.sequence = self.sequence.wrapping_add(1);
        rest
    }
}

impl Codec {
    /// Compresses `part` into `room`; how much of it that takes, `None` if it has not got room.
    fn deflate(&mut self, part: &[u8], room: &mut [u8]) -> Option<usize> {
        match self {
            Codec::Zlib { deflate, .. } => {
                deflate.reset();
                let done = deflate.compress(part, room, FlushCompress::Finish);
                matches!(done, Ok(Status::StreamEnd)).then(|| deflate.total_out() as usize)
            }
            Codec::Zstd { deflate, .. } => deflate.compress_to_buffer(part, room).ok(),
        }
    }

    /// Appends to `out` the `length` bytes, not one more or less, that `payload` stands for.
    fn inflate(&mut self, payload: &[u8], length: usize, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let start = out.len();
        out.resize(start + length, 0);
        let room = out.get_mut(start..).unwrap_or_default();
        let inflated = match self {
            Codec::Zlib { inflate, .. } => {
                inflate.reset(true);
                let done = inflate.decompress(payload, room, FlushDecompress::Finish);
                matches!(done, Ok(Status::StreamEnd)).then(|| inflate.total_out())
            }
            Codec::Zstd { inflate, .. } => {
                inflate.decompress_to_buffer(payload, room).ok().map(|count| count as u64)
            }
        };
        if inflated == Some(length as u64) {
            return Ok(());
        }
        out.truncate(start);
        Err(Malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_base::prng::{Prng, test_seed};

    const BOTH: [Algorithm; 3] =
        [Algorithm::Zlib, Algorithm::Zstd { level: 3 }, Algorithm::Zstd { level: MAX_ZSTD_LEVEL }];

    fn compressor(algorithm: Algorithm) -> Compressor {
        Compressor::new(algorithm).unwrap()
    }

    fn deflate_all(compressor: &mut Compressor, mut plain: &[u8], out: &mut Vec<u8>) {
        while !plain.is_empty() {
            plain = compressor.deflate(plain, out);
        }
    }

    fn framed(algorithm: Algorithm, plain: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        deflate_all(&mut compressor(algorithm), plain, &mut out);
        out
    }

    #[test]
    fn short_payloads_go_as_they_are() {
        for algorithm in BOTH {
            assert_eq!(framed(algorithm, b"\x01\0\0\0\x0e"), b"\x05\0\0\0\0\0\0\x01\0\0\0\x0e");
        }
    }

    #[test]
    fn levels_that_do_not_exist_are_refused() {
        assert_eq!([0, 23, 255].map(Algorithm::zstd), [None; 3]);
        assert_eq!(Algorithm::zstd(22).map(Algorithm::level), Some(22));
    }

    #[test]
    fn what_was_deflated_inflates_to_itself_however_it_is_cut() {
        let mut prng = Prng::new(test_seed(61));
        for round in 0..200 {
            let algorithm = BOTH[round % BOTH.len()];
            let mut plain = vec![b'a'; prng.below(4000) as usize];
            if prng.one_in(2) {
                prng.fill(&mut plain);
            }
            let (mut one, mut other) = (compressor(algorithm), compressor(algorithm));
            let (mut frames, mut back) = (Vec::new(), Vec::new());
            one.sequence = round as u8;
            for part in plain.chunks(1 + prng.below(1000) as usize) {
                deflate_all(&mut one, part, &mut frames);
            }
            for part in frames.chunks(1 + prng.below(100) as usize) {
                other.received().extend_from_slice(part);
                other.inflate(&mut back).unwrap();
            }
            assert_eq!(back, plain);
            assert!(other.received().is_empty());
        }
        for algorithm in BOTH {
            assert!(framed(algorithm, &[b'a'; 1000]).len() < 50);
        }
    }

    #[test]
    fn long_answers_are_cut_into_parts() {
        for algorithm in BOTH {
            let plain: Vec<u8> = (0..300_000usize).map(|number| ((number * number) >> 7) as u8).collect();
            let (mut other, mut back) = (compressor(algorithm), Vec::new());
            other.received().extend_from_slice(&framed(algorithm, &plain));
            while !other.received().is_empty() {
                other.inflate(&mut back).unwrap();
            }
            assert!(back == plain);
            assert_eq!(usize::from(other.sequence), plain.len().div_ceil(algorithm.part()));
        }
    }

    #[test]
    fn frames_are_inflated_as_they_are_needed() {
        let level = Algorithm::Zstd { level: 3 };
        let huge = vec![0; 0xff_ffff];
        let payload = bulk::compress(&huge, 3).unwrap();
        assert!(payload.len() < 2000, "{}", payload.len());
        let mut one = Vec::new();
        put_u24(&mut one, payload.len() as u32);
        one.push(0);
        put_u24(&mut one, huge.len() as u32);
        one.extend_from_slice(&payload);
        let mut compressor = compressor(level);
        compressor.received().extend_from_slice(&one.repeat(20));
        let mut plain = Vec::new();
        compressor.inflate(&mut plain).unwrap();
        assert_eq!((plain.len(), compressor.received().len()), (huge.len(), one.len() * 19));
    }

    #[test]
    fn a_frame_that_inflates_to_more_or_less_than_it_says_is_malformed() {
        for algorithm in BOTH {
            let honest = framed(algorithm, &[b'a'; 1000]);
            for length in [1u32, 999, 1001, 0xff_ffff] {
                let mut lying = honest.clone();
                lying[4..7].copy_from_slice(&length.to_le_bytes()[..3]);
                let mut compressor = compressor(algorithm);
                compressor.received().extend_from_slice(&lying);
                let mut plain = Vec::new();
                assert_eq!(compressor.inflate(&mut plain), Err(Malformed), "{length}");
                assert!(plain.is_empty());
            }
        }
        let mut prng = Prng::new(test_seed(62));
        for round in 0..5000 {
            let mut bytes = vec![0; 7 + prng.below(80) as usize];
            prng.fill(&mut bytes);
            bytes[1..3].fill(0);
            bytes[6] = 0;
            if prng.one_in(2) && bytes.len() > 11 {
                // begins as a Zstandard frame does
                bytes[7..11].copy_from_slice(&[0x28, 0xb5, 0x2f, 0xfd]);
            }
            let mut compressor = compressor(BOTH[round % BOTH.len()]);
            compressor.received().extend_from_slice(&bytes);
            // whatever it says, it ends
            let _ = compressor.inflate(&mut Vec::new());
        }
    }
}
