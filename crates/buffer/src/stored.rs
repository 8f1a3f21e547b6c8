//! The form in which a page is stored: as it is, or compressed.
//!
//! ```text
//!   0        4       8     12        14    16       24    25  26     28       32
//!   checksum page no space page type flags page lsn codec 0   length checksum body ...
//!                                                   u8        u16    u32 of
//!                                                                    the page
//! ```
//!
//! A compressed page begins with its own header, so that which page it is and how new it is can be told
//! without decoding it. The eight bytes that the page has reserved say how its body is stored: the codec, the
//! bytes of the compressed body, and the checksum of the whole page. In a page that is stored as it is they
//! are zero, and nothing else is different from before there were codecs.
//!
//! The stored form is padded with zeros to [`BLOCK`]s, which is what a file system gives room in. The
//! checksum at its head covers all of it and so the page's id, as in a page that is stored as it is; what
//! lies behind it, up to the next page's place, means nothing. So [`page::verify`] tells of either form
//! whether it is whole, and [`decode`] gives the page back with the checksum that it would have had.
//!
//! Nothing is decoded whose checksum is wrong. If a damaged form passes all the same, decoding writes into
//! the page's own memory and no further, and what comes out must have the page's checksum.

use std::cell::RefCell;
use std::io;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use lz4_flex::block::CompressTable;
use zstd::bulk;

use crate::error::Corruption;
use crate::metrics;
use crate::page::{self, PAGE_HEADER, Page};
use crate::page_size::PageSize;

/// A stored form takes whole blocks of so many bytes.
pub const BLOCK: usize = 4096;

/// The most that a compressed page of `size` bytes takes: with one block more it is stored as it is. Nothing
/// of one that has a single block.
pub const fn most(size: usize) -> usize {
    size - BLOCK
}

const CODEC: usize = 24;
const LENGTH: usize = 26;
const PAGE_CHECKSUM: usize = 28;

const _: () = assert!(PAGE_CHECKSUM + 4 == PAGE_HEADER && PageSize::LEAST.bytes().is_multiple_of(BLOCK));

/// Level at which Zstandard compresses: the fastest of those with a name.
const ZSTD_LEVEL: i32 = 1;

/// How a page's body is compressed. The numbers are those on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Codec {
    /// Deflate, without zlib's own header and checksum.
    Zlib = 1,
    /// A block of LZ4.
    Lz4 = 2,
    /// A frame of Zstandard.
    Zstd = 3,
}

impl Codec {
    /// All of them.
    pub const ALL: [Codec; 3] = [Codec::Zlib, Codec::Lz4, Codec::Zstd];

    /// The codec of that name, in whatever case.
    pub fn named(name: &str) -> Option<Codec> {
        Codec::ALL.into_iter().find(|codec| codec.name().eq_ignore_ascii_case(name))
    }

    /// Its name, as in `COMPRESSION='...'`.
    pub fn name(self) -> &'static str {
        match self {
            Codec::Zlib => "zlib",
            Codec::Lz4 => "lz4",
            Codec::Zstd => "zstd",
        }
    }

    fn of_number(number: u8) -> Option<Codec> {
        Codec::ALL.into_iter().find(|codec| *codec as u8 == number)
    }
}

/// Bytes that the stored form in `bytes` takes, as its head says: all of a page stored as it is, and of what
/// cannot be a stored form. `bytes` is as long as a page.
pub fn stored_len(bytes: &[u8]) -> usize {
    stored_len_in(bytes.len(), bytes)
}

/// The same of a page of `size`, of which `head` has the header at least.
pub(crate) fn stored_len_of(size: PageSize, head: &[u8]) -> usize {
    stored_len_in(size.bytes(), head)
}

fn stored_len_in(page: usize, head: &[u8]) -> usize {
    if head[CODEC] == 0 {
        return page;
    }
    let padded = (PAGE_HEADER + body_len(head)).next_multiple_of(BLOCK);
    if padded <= most(page) { padded } else { page }
}

fn body_len(bytes: &[u8]) -> usize {
    usize::from(u16::from_le_bytes([bytes[LENGTH], bytes[LENGTH + 1]]))
}

/// Compresses pages. Belongs to one thread at a time and keeps its memory, some 300 KiB for each codec that
/// was used.
#[derive(Default)]
pub struct Encoder {
    out: Vec<u8>,
    deflate: Option<(u8, Compress)>,
    table: Option<CompressTable>,
    zstd: Option<bulk::Compressor<'static>>,
}

impl Encoder {
    /// Replaces the page in `bytes`, which is [sealed](page::seal), by its compressed form and zeros, if that
    /// saves at least a block. Bytes of the stored form. `level` is zlib's, 0 to 9.
    pub fn encode(&mut self, codec: Codec, level: u8, bytes: &mut [u8]) -> Option<usize> {
        assert!(PageSize::of(bytes.len() as u64).is_some(), "one page is encoded at a time");
        assert_eq!(bytes[CODEC..PAGE_HEADER], [0; PAGE_HEADER - CODEC], "the page is stored as it is");
        let most = most(bytes.len()).checked_sub(PAGE_HEADER)?;
        let len = self.compress(codec, level, &bytes[PAGE_HEADER..])?;
        if len > most {
            return None;
        }
        let page_checksum = page::stored_checksum(bytes);
        bytes[CODEC] = codec as u8;
        bytes[LENGTH..LENGTH + 2].copy_from_slice(&(len as u16).to_le_bytes());
        bytes[PAGE_CHECKSUM..PAGE_HEADER].copy_from_slice(&page_checksum.to_le_bytes());
        bytes[PAGE_HEADER..PAGE_HEADER + len].copy_from_slice(&self.out[..len]);
        bytes[PAGE_HEADER + len..].fill(0);
        let stored = stored_len(bytes);
        page::seal_stored(&mut bytes[..stored]);
        Some(stored)
    }

    /// Compresses `body` into `out`, which has room for whatever comes of it. How many bytes it is; `None` if
    /// the codec does not make it any smaller, or has no memory.
    fn compress(&mut self, codec: Codec, level: u8, body: &[u8]) -> Option<usize> {
        let room = lz4_flex::block::get_maximum_output_size(body.len()).max(2 * body.len());
        self.out.resize(room, 0);
        match codec {
            Codec::Zlib => {
                let level = level.min(9);
                if self.deflate.as_ref().is_none_or(|(own, _)| *own != level) {
                    self.deflate = Some((level, Compress::new(Compression::new(level.into()), false)));
                }
                let (_, deflate) = self.deflate.as_mut()?;
                deflate.reset();
                let ended = deflate.compress(body, &mut self.out, FlushCompress::Finish).ok()?;
                (ended == Status::StreamEnd).then(|| deflate.total_out() as usize)
            }
            Codec::Lz4 => {
                let table = self.table.get_or_insert_with(CompressTable::small);
                lz4_flex::block::compress_into_with_table(body, &mut self.out, table).ok()
            }
            Codec::Zstd => {
                if self.zstd.is_none() {
                    self.zstd = bulk::Compressor::new(ZSTD_LEVEL).ok();
                }
                self.zstd.as_mut()?.compress_to_buffer(body, &mut self.out[..]).ok()
            }
        }
    }
}

/// What one thread needs to decode.
#[derive(Default)]
struct Decoder {
    /// The compressed body, whose place in memory the page takes.
    body: Vec<u8>,
    inflate: Option<Decompress>,
    zstd: Option<bulk::Decompressor<'static>>,
}

thread_local! {
    static DECODER: RefCell<Decoder> = RefCell::default();
}

/// Replaces a stored form that is [whole](page::verify) by the page that it is of, sealed. By which codec it
/// was compressed, if it was.
pub fn decode(bytes: &mut Page) -> Result<Option<Codec>, Corruption> {
    if bytes[CODEC] == 0 {
        return Ok(None);
    }
    let codec = Codec::of_number(bytes[CODEC]).ok_or(Corruption::Encoding("its codec is not known"))?;
    let end = PAGE_HEADER + body_len(bytes);
    if end > most(bytes.size()) || bytes[CODEC + 1] != 0 {
        return Err(Corruption::Encoding("its header makes no sense"));
    }
    let page_checksum: [u8; 4] = std::array::from_fn(|at| bytes[PAGE_CHECKSUM + at]);
    let len = DECODER.with_borrow_mut(|decoder| {
        decoder.body.clear();
        decoder.body.extend_from_slice(&bytes[PAGE_HEADER..end]);
        decoder.decompress(codec, &mut bytes[PAGE_HEADER..])
    });
    match len {
        Ok(len) if len == bytes.size() - PAGE_HEADER => {}
        Ok(_) => return Err(Corruption::Encoding("it is shorter than a page")),
        Err(_) => return Err(Corruption::Encoding("it cannot be decompressed")),
    }
    bytes[CODEC..PAGE_HEADER].fill(0);
    bytes[..4].copy_from_slice(&page_checksum);
    match page::has_own_checksum(bytes) {
        true => {
            metrics::PAGES_DECOMPRESSED.increment();
            Ok(Some(codec))
        }
        false => Err(Corruption::Encoding("it decompresses to something else")),
    }
}

impl Decoder {
    /// Decompresses `body` into `page`. How many bytes it is; an error if it has more, or is damaged.
    fn decompress(&mut self, codec: Codec, page: &mut [u8]) -> io::Result<usize> {
        match codec {
            Codec::Zlib => {
                let inflate = self.inflate.get_or_insert_with(|| Decompress::new(false));
                inflate.reset(false);
                let ended = inflate.decompress(&self.body, page, FlushDecompress::Finish)?;
                match ended {
                    Status::StreamEnd => Ok(inflate.total_out() as usize),
                    _ => Err(io::ErrorKind::InvalidData.into()),
                }
            }
            Codec::Lz4 => lz4_flex::block::decompress_into(&self.body, page)
                .map_err(|_| io::ErrorKind::InvalidData.into()),
            Codec::Zstd => {
                let decompressor = match &mut self.zstd {
                    Some(known) => known,
                    none => none.insert(bulk::Decompressor::new()?),
                };
                decompressor.decompress_to_buffer(&self.body, page)
            }
        }
    }
}

#[cfg(test)]
mod tests;
