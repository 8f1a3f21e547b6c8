//! Cursors: a result that waits in the server and is fetched bit by bit (COM_STMT_FETCH).
//!
//! As in MySQL, the statement runs to its end when it is executed, so it holds no locks and no snapshot afterwards; its
//! rows, encoded already, lie in a [`Spool`]: in memory while they are few, in a nameless file of `tmpdir` beyond that.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palisade_base::error_catalogue::{ER_ERROR_ON_WRITE, ER_NET_PACKET_TOO_LARGE};
use palisade_base::mysql_error;
use palisade_catalog::ValueRef;
use palisade_protocol::Output;
use palisade_protocol::row::{ColumnFormat, encode_binary_row};
use palisade_sql::{BoxFuture, ColumnMeta, ResultSink, SqlResult};

use crate::result_set::{ResultStyle, begin_result, format};

/// So much is kept in memory before it is written to the file, and read from it at a time.
const PART: usize = 256 << 10;

/// Rows, first in first out.
pub struct Spool {
    folder: PathBuf,
    /// Rows not in the file: a length of 4 bytes before each.
    tail: Vec<u8>,
    file: Option<Arc<File>>,
    /// Bytes in the file.
    written: u64,
    /// Bytes of the file that are in `part` or have been.
    read: u64,
    /// Rows being given out, from `at`.
    part: Vec<u8>,
    at: usize,
}

impl Spool {
    /// An empty one, with room for more in `folder`.
    pub fn new(folder: &Path) -> Self {
        Spool {
            folder: folder.to_owned(),
            tail: Vec::new(),
            file: None,
            written: 0,
            read: 0,
            part: Vec::new(),
            at: 0,
        }
    }

    /// Adds the row that `encode` appends; gives its length.
    pub fn push(&mut self, encode: impl FnOnce(&mut Vec<u8>)) -> usize {
        let start = self.tail.len();
        self.tail.extend_from_slice(&[0; 4]);
        encode(&mut self.tail);
        let row = self.tail.get_mut(start..).and_then(<[u8]>::split_first_chunk_mut::<4>);
        let Some((header, row)) = row else { panic!("a row is only appended") };
        *header = (row.len() as u32).to_le_bytes();
        row.len()
    }

    /// Whether [`spill`](Self::spill) should be called before more is added.
    pub fn is_full(&self) -> bool {
        self.tail.len() >= PART
    }

    /// Writes what is in memory to the file.
    pub async fn spill(&mut self) -> io::Result<()> {
        let file = match &self.file {
            Some(file) => file.clone(),
            None => {
                let folder = self.folder.clone();
                let made = blocking(move || tempfile::tempfile_in(folder)).await?;
                self.file.insert(Arc::new(made)).clone()
            }
        };
        let (tail, at) = (std::mem::take(&mut self.tail), self.written);
        self.written += tail.len() as u64;
        self.tail = blocking(move || {
            file.write_all_at(&tail, at)?;
            Ok(tail)
        })
        .await?;
        self.tail.clear();
        Ok(())
    }

    /// The next row.
    pub async fn next(&mut self) -> io::Result<Option<&[u8]>> {
        loop {
            if let Some(header) = self.part.get(self.at..).and_then(|rest| rest.first_chunk::<4>()) {
                let start = self.at + 4;
                let end = start + u32::from_le_bytes(*header) as usize;
                if self.part.len() >= end {
                    self.at = end;
                    return Ok(self.part.get(start..end));
                }
            }
            if !self.refill().await? {
                return Ok(None);
            }
        }
    }

    /// Makes more rows ready; false if there are none.
    async fn refill(&mut self) -> io::Result<bool> {
        self.part.drain(..self.at);
        self.at = 0;
        let left = self.written - self.read;
        let Some(file) = self.file.clone().filter(|_| left > 0) else {
            let more = !self.tail.is_empty();
            self.part.append(&mut self.tail);
            return Ok(more);
        };
        let (mut part, at) = (std::mem::take(&mut self.part), self.read);
        // a row that is longer than a part grows it until the row is whole
        let count = left.min(PART as u64);
        self.part = blocking(move || {
            let start = part.len();
            part.resize(start + count as usize, 0);
            file.read_exact_at(part.get_mut(start..).unwrap_or_default(), at)?;
            Ok(part)
        })
        .await?;
        self.read += count;
        Ok(true)
    }
}

/// File operations, outside the event loop.
async fn blocking<T: Send + 'static>(
    operation: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(operation).await.map_err(io::Error::other)?
}

/// Sends the columns of a result and keeps its rows.
pub struct CursorSink<'a> {
    output: &'a mut Output,
    formats: &'a mut Vec<ColumnFormat>,
    style: ResultStyle,
    /// The rows.
    pub spool: Spool,
}

impl<'a> CursorSink<'a> {
    /// A sink that announces its columns in `output` and keeps what does not fit into memory in `folder`.
    pub fn new(
        output: &'a mut Output,
        formats: &'a mut Vec<ColumnFormat>,
        style: ResultStyle,
        folder: &Path,
    ) -> Self {
        CursorSink { output, formats, style, spool: Spool::new(folder) }
    }
}

impl ResultSink for CursorSink<'_> {
    fn columns(&mut self, columns: &[ColumnMeta]) -> SqlResult<()> {
        self.formats.clear();
        self.formats.extend(columns.iter().map(|column| format(column, self.style.charset)));
        begin_result(self.output, columns, self.style.charset);
        Ok(())
    }

    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        let length = self.spool.push(|out| encode_binary_row(self.formats, values.iter().copied(), out));
        match length > self.style.max_packet {
            true => Err(mysql_error!(ER_NET_PACKET_TOO_LARGE)),
            false => Ok(()),
        }
    }

    fn wants_flush(&self) -> bool {
        self.spool.is_full()
    }

    fn flush(&mut self) -> BoxFuture<'_, SqlResult<()>> {
        Box::pin(async {
            self.spool.spill().await.map_err(|error| {
                let folder = self.spool.folder.display().to_string();
                let number = error.raw_os_error().unwrap_or_default();
                mysql_error!(ER_ERROR_ON_WRITE, folder, number, error)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_base::prng::{Prng, test_seed};

    #[tokio::test(flavor = "current_thread")]
    async fn rows_come_out_as_they_went_in_spilled_or_not() {
        let mut prng = Prng::new(test_seed(63));
        for limit in [10, 2000, 900_000] {
            let dir = tempfile::tempdir().unwrap();
            let mut spool = Spool::new(dir.path());
            let mut rows = Vec::new();
            for _ in 0..1 + prng.below(60) {
                let mut row = vec![0; prng.below(limit) as usize];
                prng.fill(&mut row);
                assert_eq!(spool.push(|out| out.extend_from_slice(&row)), row.len());
                rows.push(row);
                if spool.is_full() {
                    spool.spill().await.unwrap();
                }
            }
            for row in &rows {
                assert_eq!(spool.next().await.unwrap(), Some(&row[..]));
            }
            assert_eq!(spool.next().await.unwrap(), None);
        }
    }
}
