//! Compressed strings: COMPRESS and what reads them.
//!
//! A compressed string is the length of the original in four bytes, the lowest first, and a zlib stream (RFC 1950). The
//! empty string stays empty. MySQL appends a point to a result that ends in a space, because a CHAR column would lose
//! it, and so do we; what follows the stream is not looked at.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use palisade_base::error_catalogue::{ER_TOO_BIG_FOR_UNCOMPRESS, ER_ZLIB_Z_BUF_ERROR, ER_ZLIB_Z_DATA_ERROR};
use palisade_base::mysql_error;
use palisade_catalog::{Bytes, CollationId, SqlType, Value};

use super::{Evaluation, Function, Typed, function, text_of_length};
use crate::expr::convert::text_of;
use crate::expr::{Context, Expr};
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
    let bytes = u64::from(arguments[0].ty.wire_length(4));
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

fn compress(_: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let text = text_of(&values[0], &arguments[0].ty);
    Ok(Value::bytes(compressed(&text)))
}

fn compressed(text: &[u8]) -> Vec<u8> {
    if text.is_empty() {
        return Vec::new();
    }
    let mut stream = Compress::new(Compression::default(), true);
    let mut out = Vec::with_capacity(HEADER + text.len() / 2 + 64);
    out.extend_from_slice(&(text.len() as u32 & LENGTH_MASK).to_le_bytes());
    loop {
        let read = stream.total_in() as usize;
        let status = stream.compress_vec(&text[read..], &mut out, FlushCompress::Finish);
        if status.expect("compressing into memory does not fail") == Status::StreamEnd {
            break;
        }
        out.reserve(out.capacity());
    }
    if out.last() == Some(&b' ') {
        out.push(b'.');
    }
    out
}

fn uncompress(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let text = text_of(&values[0], &arguments[0].ty);
    match uncompressed(&text, cx.session.variables.max_allowed_packet) {
        Ok(original) => Ok(Value::Bytes(original)),
        Err(error) => {
            // a warning in every mode
            cx.session.warnings.warn(error);
            Ok(Value::Null)
        }
    }
}

fn uncompressed(text: &[u8], limit: u64) -> Result<Bytes, SqlError> {
    if text.is_empty() {
        return Ok(Bytes::new());
    }
    let Some((length, stream)) = split(text) else { return Err(mysql_error!(ER_ZLIB_Z_DATA_ERROR)) };
    if length as u64 > limit {
        return Err(mysql_error!(ER_TOO_BIG_FOR_UNCOMPRESS, limit));
    }
    // The length may be a lie: memory is taken as the stream fills it.
    let mut out = Vec::with_capacity(length.min(stream.len().saturating_mul(8)).max(64));
    let mut decompress = Decompress::new(true);
    loop {
        let (read, written) = (decompress.total_in(), out.len());
        let status = decompress.decompress_vec(&stream[read as usize..], &mut out, FlushDecompress::None);
        if out.len() > length {
            return Err(mysql_error!(ER_ZLIB_Z_BUF_ERROR));
        }
        match status {
            Ok(Status::StreamEnd) => return Ok(out.into()),
            Ok(_) if out.len() == out.capacity() => out.reserve(out.len()),
            Ok(_) if decompress.total_in() > read || out.len() > written => {}
            // the stream ends before its end
            _ => return Err(mysql_error!(ER_ZLIB_Z_DATA_ERROR)),
        }
    }
}

fn uncompressed_length(
    cx: &mut Context<'_>,
    values: &[Value],
    arguments: &[Expr],
    _: &Expr,
) -> SqlResult<Value> {
    let text = text_of(&values[0], &arguments[0].ty);
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
