//! Which LSNs each of the log's files holds: performance_schema.innodb_redo_log_files.
//!
//! Files are found by position. The writer notes the LSN with which it begins a file; of files that were
//! begun before a restart the first group says it.

use std::path::PathBuf;

use palisade_base::Lsn;

use crate::Error;
use crate::log::Log;

/// A file of the log, and what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRange {
    /// Its number in the sequence.
    pub number: u64,
    /// Its path.
    pub path: PathBuf,
    /// Its length in bytes.
    pub size: u64,
    /// The LSN of its first byte.
    pub start: Lsn,
    /// The LSN behind its last byte; of the file that is being written, the highest that it may come to.
    pub end: Lsn,
    /// Whether the writer has left it.
    pub is_full: bool,
}

impl Log {
    /// The files that hold the log from the checkpoint to its end, in their order, with the LSNs that they
    /// hold. Blocks: after a restart, for a small read of each file that was begun before.
    pub fn file_ranges(&self) -> Result<Vec<FileRange>, Error> {
        let (files, position, written) = {
            let writer = self.writer.lock();
            (writer.segments.up_to(writer.position()), writer.position(), writer.written())
        };
        let mut ranges: Vec<FileRange> = Vec::with_capacity(files.len());
        for (path, segment) in files {
            let is_begun = segment.place.start < position;
            let known = match segment.first_lsn.filter(|_| is_begun) {
                None if is_begun => {
                    let read = segment.read_first_lsn(self.id()).map_err(Error::io("read a segment"))?;
                    if let Some(lsn) = read {
                        self.writer.lock().segments.note_first_lsn(segment.place.start, lsn);
                    }
                    read
                }
                None => Some(written),
                known => known,
            };
            // Another lap has begun in a file whose first group is of another place: the log has left it
            // meanwhile.
            let Some(start) = known else { continue };
            if let Some(last) = ranges.last_mut() {
                last.end = start;
            }
            let is_full = segment.end() <= position;
            // What is yet to be written there, less the headers and the padding of the groups to come.
            let end = if is_full { written } else { written.advance(segment.end() - position) };
            ranges.push(FileRange {
                number: segment.place.number,
                path,
                size: segment.size,
                start,
                end,
                is_full,
            });
        }
        Ok(ranges)
    }
}
