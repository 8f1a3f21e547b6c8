//! `SET GLOBAL innodb_buffer_pool_size`, and what SHOW STATUS says of it. The work is the
//! [engine's](palisade_engine::Engine::resize_buffer_pool).
//!
//! As in MySQL, a size is a whole number of `innodb_buffer_pool_chunk_size` bytes, and a value that is not is
//! rounded up; a chunk is never larger than the pool that the server was started with. A start takes any
//! size.

use palisade_base::error_catalogue::{
    ER_BUFPOOL_RESIZE_INPROGRESS, ER_TRUNCATED_WRONG_VALUE, ER_WRONG_ARGUMENTS, ER_WRONG_VALUE_FOR_VAR,
};
use palisade_base::sysvar::{Setting, Settings};
use palisade_base::sysvar_catalogue as sysvar;
use palisade_base::{MysqlError, mysql_error};
use palisade_engine::{Engine, ResizeError, Resizing};
use palisade_sql::Session;

use crate::host::ServerHost;
use crate::pool_dump::short_time;

const NAME: &str = "innodb_buffer_pool_size";

/// A chunk is as large as the pool at most.
pub fn settle_chunk_size(settings: &mut Settings) {
    let (chunk, pool) = (sysvar::INNODB_BUFFER_POOL_CHUNK_SIZE, sysvar::INNODB_BUFFER_POOL_SIZE);
    let bytes = settings.uint(chunk).min(settings.uint(pool));
    settings.set(chunk, Setting::UInt(bytes));
}

/// What SET makes of `bytes`.
#[derive(Debug, PartialEq, Eq)]
enum Request {
    /// It is the size that the pool has.
    Same,
    /// Less than a chunk is asked for, and the pool has a chunk.
    BelowChunk,
    Resize(u64),
}

fn request(bytes: u64, chunk: u64, now: u64) -> Request {
    let chunk = chunk.max(1);
    let aligned = bytes.div_ceil(chunk).saturating_mul(chunk);
    match () {
        () if bytes == now => Request::Same,
        () if aligned == now && bytes < chunk => Request::BelowChunk,
        () if aligned == now => Request::Same,
        () => Request::Resize(aligned),
    }
}

/// Resizes the pool to `bytes`, with MySQL's warnings. The value that the variable has from now on.
pub fn assign(
    engine: &Engine,
    settings: &Settings,
    session: &mut Session,
    bytes: u64,
) -> Result<u64, MysqlError> {
    let now = settings.uint(sysvar::INNODB_BUFFER_POOL_SIZE);
    let chunk = settings.uint(sysvar::INNODB_BUFFER_POOL_CHUNK_SIZE);
    if matches!(engine.buffer_pool_resizing(), Resizing::UnderWay { .. }) {
        session.state.warnings.warn(mysql_error!(ER_BUFPOOL_RESIZE_INPROGRESS));
        return Ok(now);
    }
    let size = match request(bytes, chunk, now) {
        Request::Same => return Ok(now),
        Request::BelowChunk => {
            let text =
                format!("InnoDB: Cannot resize buffer pool to lesser than chunk size of {chunk} bytes.");
            session.state.warnings.warn(MysqlError::with_message(&ER_WRONG_ARGUMENTS, text));
            return Ok(now);
        }
        Request::Resize(size) => size,
    };
    match engine.resize_buffer_pool(size) {
        Ok(()) => {}
        Err(ResizeError::UnderWay) => {
            session.state.warnings.warn(mysql_error!(ER_BUFPOOL_RESIZE_INPROGRESS));
            return Ok(now);
        }
        Err(ResizeError::Memory) => {
            tracing::warn!("{NAME} stays {now}: there is no memory for a buffer pool of {size} bytes");
            return Err(mysql_error!(ER_WRONG_VALUE_FOR_VAR, NAME, bytes));
        }
    }
    if size != bytes {
        session.state.warnings.warn(mysql_error!(ER_TRUNCATED_WRONG_VALUE, NAME, bytes));
    }
    tracing::info!("the buffer pool is resized from {now} to {size} bytes");
    Ok(size)
}

/// The lines of SHOW STATUS, in MySQL's words and with its codes.
pub fn add_status(host: &ServerHost, add: &mut dyn FnMut(&str, String)) {
    let chunk = host.globals.uint(sysvar::INNODB_BUFFER_POOL_CHUNK_SIZE).max(1);
    let size = host.engine.page_size();
    let chunks = |frames: usize| size.bytes_of(frames as u64).div_ceil(chunk);
    let (status, code, percent) = match host.engine.buffer_pool_resizing() {
        Resizing::Never => (String::new(), 0, 0),
        Resizing::UnderWay { from, to, done } => {
            let all = from.abs_diff(to);
            let percent = done * 100 / all.max(1);
            match to > from {
                true => {
                    let (from, to) = (chunks(from), chunks(to));
                    (format!("buffer pool 0 : resizing with chunks {from} to {to}."), 5, percent)
                }
                false => (format!("buffer pool 0 : withdrawing blocks. ({done}/{all})"), 3, percent),
            }
        }
        Resizing::Done { unix_micros, .. } => {
            (format!("Completed resizing buffer pool at {}.", short_time(unix_micros)), 0, 100)
        }
    };
    add("Innodb_buffer_pool_resize_status", status);
    add("Innodb_buffer_pool_resize_status_code", code.to_string());
    add("Innodb_buffer_pool_resize_status_progress", percent.to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_a_whole_number_of_chunks() {
        const MIB: u64 = 1 << 20;
        let request = |bytes: u64, now: u64| request(bytes * MIB, 128 * MIB, now * MIB);
        assert_eq!(request(200, 1024), Request::Resize(256 * MIB));
        assert_eq!(request(5, 256), Request::Resize(128 * MIB));
        assert_eq!(request(5, 128), Request::BelowChunk);
        assert_eq!(request(128, 128), Request::Same);
        assert_eq!(request(200, 256), Request::Same);
        // a start takes any size
        assert_eq!(request(200, 200), Request::Same);
        assert_eq!(request(128, 200), Request::Resize(128 * MIB));
    }
}
