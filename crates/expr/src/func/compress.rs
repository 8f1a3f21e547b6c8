//! Compressed strings: COMPRESS and what reads them.
//!
//! A compressed string is the length of the original in four bytes, the lowest first, and a zlib stream (RFC
//! 1950). The empty string stays empty. MySQL appends a point to a result that ends in a space, because a
//! CHAR column would lose it, and so do we; what follows the stream is not looked at.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use palisade_base::error_catalogue::{ER_TOO_BIG_FOR_UNCOMPRESS, ER_ZLIB_Z_BUF_ERROR, ER_ZLIB_Z_DATA_ERROR};
use palisade_base::mysql_error;
use palisade_catalog::{Bytes, CollationId, SqlType, Value};

use super::{Evaluation, Function, Typed, function, text_of_length};
use crate::convert::text_of;
use crate::place::At;
use crate::{Context, Expr};
use crate::{SqlError, SqlResult};
use Evaluation::Strict;

/// Their declarations.
pub static FUNCTIONS: &[Function] = &[
    function("compress", (1, 1), compress_type, Strict(compress)),
    function("uncompress", (1, 1), uncompress_type, Strict(uncompress)),
    function("uncompressed_length", (1, 1), length_type, Strict(uncompressed_length)),
];

/// Bytes of the length before the stream; its two highest bits are not used.
const HEADER: usize = 4;
const LENGTH_MASK: u32 = 0x3fff_ffff;

fn compress_type(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    let bytes = u64::from(arguments.at(0)?.ty.wire_length(4));
    Ok(Typed::nullable(text_of_length(bytes + bytes / 1000 + 18, CollationId::BINARY)))
}

fn uncompress_type(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(text_of_length(u64::from(u32::MAX), CollationId::BINARY)))
}

fn length_type(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::INT))
}

/// The length that a compressed string says its original has, and the stream behind it.
fn split(compressed: &[u8]) -> Option<(usize, &[u8])> {
    let (header, stream) =
        compressed.split_first_chunk::<HEADER>().filter(|(_, stream)| !stream.is_empty())?;
    Some(((u32::from_le_bytes(*header) & LENGTH_MASK) as usize, stream))
}

fn compress(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let text = text_of(values.at(0)?, &arguments.at(0)?.ty);
    match compressed(&text, |units| cx.checkpoint(units))? {
        Some(stream) => Ok(Value::bytes(stream)),
        None => {
            cx.session.warnings.warn(mysql_error!(ER_ZLIB_Z_BUF_ERROR));
            Ok(Value::Null)
        }
    }
}

/// `None` if the library fails. `count` is told the work to come.
fn compressed<E>(text: &[u8], mut count: impl FnMut(usize) -> Result<(), E>) -> Result<Option<Vec<u8>>, E> {
    if text.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let mut stream = Compress::new(Compression::default(), true);
    let mut out = Vec::with_capacity(HEADER + text.len() / 2 + 64);
    out.extend_from_slice(&(text.len() as u32 & LENGTH_MASK).to_le_bytes());
    loop {
        let rest = text.get(stream.total_in() as usize..).unwrap_or_default();
        let piece = rest.get(..PIECE).unwrap_or(rest);
        count(piece.len().max(PIECE / 16).saturating_mul(UNITS_A_BYTE))?;
        let flush = if piece.len() == rest.len() { FlushCompress::Finish } else { FlushCompress::None };
        match stream.compress_vec(piece, &mut out, flush) {
            Ok(Status::StreamEnd) => break,
            Ok(_) => {}
            Err(_) => return Ok(None),
        }
        if out.len() == out.capacity() || piece.is_empty() {
            out.reserve(out.capacity().min(PIECE * 16));
        }
    }
    if out.last() == Some(&b' ') {
        out.push(b'.');
    }
    Ok(Some(out))
}

/// Bytes that are compressed between two checkpoints.
const PIECE: usize = 1 << 12;
/// What compressing a byte counts as, in units of a nanosecond.
const UNITS_A_BYTE: usize = 32;

fn uncompress(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let text = text_of(values.at(0)?, &arguments.at(0)?.ty);
    let limit = cx.session.variables.max_allowed_packet;
    match uncompressed(&text, limit, |units| cx.checkpoint(units))? {
        Ok(original) => Ok(Value::Bytes(original)),
        Err(error) => {
            // a warning in every mode
            cx.session.warnings.warn(error);
            Ok(Value::Null)
        }
    }
}

/// `count` is told the work to come: its error is the outer one.
fn uncompressed<E>(
    text: &[u8],
    limit: u64,
    mut count: impl FnMut(usize) -> Result<(), E>,
) -> Result<Result<Bytes, SqlError>, E> {
    if text.is_empty() {
        return Ok(Ok(Bytes::new()));
    }
    let Some((length, stream)) = split(text) else { return Ok(Err(mysql_error!(ER_ZLIB_Z_DATA_ERROR))) };
    if length as u64 > limit {
        return Ok(Err(mysql_error!(ER_TOO_BIG_FOR_UNCOMPRESS, limit)));
    }
    // The length may be a lie: memory is taken as the stream fills it.
    let mut out = Vec::with_capacity(length.min(stream.len().saturating_mul(8)).clamp(64, PIECE * 16));
    let mut decompress = Decompress::new(true);
    loop {
        let (read, written) = (decompress.total_in(), out.len());
        count((out.capacity() - written).max(64) * 4)?;
        let rest = stream.get(read as usize..).unwrap_or_default();
        let status = decompress.decompress_vec(rest, &mut out, FlushDecompress::None);
        if out.len() > length {
            return Ok(Err(mysql_error!(ER_ZLIB_Z_BUF_ERROR)));
        }
        match status {
            Ok(Status::StreamEnd) => return Ok(Ok(out.into())),
            Ok(_) if out.len() == out.capacity() => out.reserve(PIECE * 16),
            Ok(_) if decompress.total_in() > read || out.len() > written => {}
            // the stream ends before its end
            _ => return Ok(Err(mysql_error!(ER_ZLIB_Z_DATA_ERROR))),
        }
    }
}

fn uncompressed_length(
    cx: &mut Context<'_>,
    values: &[Value],
    arguments: &[Expr],
    _: &Expr,
) -> SqlResult<Value> {
    let text = text_of(values.at(0)?, &arguments.at(0)?.ty);
    if text.is_empty() {
        return Ok(Value::Int(0));
    }
    Ok(Value::Int(match split(&text) {
        Some((length, _)) => length as i64,
        None => {
            cx.session.warnings.warn(mysql_error!(ER_ZLIB_Z_DATA_ERROR));
            0
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compressed(text: &[u8]) -> Vec<u8> {
        super::compressed(text, |_| Ok::<(), ()>(())).unwrap().unwrap()
    }

    fn uncompressed(text: &[u8], limit: u64) -> Result<Bytes, SqlError> {
        super::uncompressed(text, limit, |_| Ok::<(), ()>(())).unwrap()
    }

    #[test]
    fn what_was_compressed_comes_back() {
        for text in ["", "a", "hello", &"ab".repeat(100_001)] {
            let mut compressed = compressed(text.as_bytes());
            assert_eq!(&*uncompressed(&compressed, u64::MAX).unwrap(), text.as_bytes());
            if !text.is_empty() {
                let mut behind = compressed.clone();
                behind.extend_from_slice(b"...");
                assert_eq!(&*uncompressed(&behind, u64::MAX).unwrap(), text.as_bytes());
                assert_eq!(split(&compressed).unwrap().0, text.len());
                for end in 1..compressed.len().min(64) {
                    assert!(uncompressed(&compressed[..end], u64::MAX).is_err(), "{end}");
                }
                assert_eq!(uncompressed(&compressed, 0).unwrap_err().number(), 1256);
                compressed[0] -= 1;
                assert_eq!(uncompressed(&compressed, u64::MAX).unwrap_err().number(), 1258);
            }
        }
    }
}
