//! Bytes of a file in memory; what was never written takes no memory. What of it takes room on the disk that
//! it stands for is counted: all up to its end, but for holes: what was punched, and what a write or an
//! allocation behind the end has left out.

use std::collections::{BTreeMap, BTreeSet};

const CHUNK: u64 = 4096;

/// A sparse byte array with a length.
#[derive(Debug, Clone, Default)]
pub(crate) struct SparseBytes {
    chunks: BTreeMap<u64, Box<[u8; CHUNK as usize]>>,
    /// Chunks that have been punched or left out, and neither written nor allocated since.
    holes: BTreeSet<u64>,
    len: u64,
}

/// Calls `each(chunk number, offset in the chunk, range of the caller's slice)` for the chunks under a range.
fn for_each_chunk(offset: u64, len: u64, mut each: impl FnMut(u64, usize, std::ops::Range<usize>)) {
    let mut done = 0;
    while done < len {
        let at = offset + done;
        let step = (CHUNK - at % CHUNK).min(len - done);
        each(at / CHUNK, (at % CHUNK) as usize, done as usize..(done + step) as usize);
        done += step;
    }
}

impl SparseBytes {
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Bytes that take room.
    pub(crate) fn allocated(&self) -> u64 {
        self.len.saturating_sub(self.holes.len() as u64 * CHUNK)
    }

    /// Bytes that take more room once all of a range has room.
    pub(crate) fn missing(&self, offset: u64, len: u64) -> u64 {
        let mut holes = 0;
        for_each_chunk(offset, len, |number, _, _| holes += u64::from(self.holes.contains(&number)));
        holes * CHUNK + (offset + len).saturating_sub(self.len.max(offset))
    }

    /// What lies between the end and `offset` takes no room.
    fn leave_out(&mut self, offset: u64) {
        self.holes.extend(self.len.div_ceil(CHUNK)..offset / CHUNK);
    }

    /// Fills `out` from `offset` on; zeros where nothing was written, the end of the file included.
    pub(crate) fn read(&self, out: &mut [u8], offset: u64) {
        for_each_chunk(offset, out.len() as u64, |number, start, range| match self.chunks.get(&number) {
            Some(chunk) => {
                let end = start + range.len();
                out[range].copy_from_slice(&chunk[start..end]);
            }
            None => out[range].fill(0),
        });
    }

    pub(crate) fn write(&mut self, bytes: &[u8], offset: u64) {
        self.leave_out(offset);
        for_each_chunk(offset, bytes.len() as u64, |number, start, range| {
            let chunk = self.chunks.entry(number).or_insert_with(|| Box::new([0; CHUNK as usize]));
            chunk[start..start + range.len()].copy_from_slice(&bytes[range]);
            self.holes.remove(&number);
        });
        self.len = self.len.max(offset + bytes.len() as u64);
    }

    pub(crate) fn set_len(&mut self, len: u64) {
        if len < self.len {
            self.punch_hole(len, self.len - len);
            self.holes.split_off(&len.div_ceil(CHUNK));
        }
        self.len = len;
    }

    /// Gives a range room; it may end behind the end.
    pub(crate) fn allocate(&mut self, offset: u64, len: u64) {
        self.leave_out(offset);
        for_each_chunk(offset, len, |number, _, _| {
            self.holes.remove(&number);
        });
        self.len = self.len.max(offset + len);
    }

    pub(crate) fn punch_hole(&mut self, offset: u64, len: u64) {
        for_each_chunk(offset, len.min(self.len.saturating_sub(offset)), |number, start, range| {
            if range.len() as u64 == CHUNK {
                self.chunks.remove(&number);
                self.holes.insert(number);
            } else if let Some(chunk) = self.chunks.get_mut(&number) {
                chunk[start..start + range.len()].fill(0);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_base::prng::{Prng, test_seed};

    #[test]
    fn holes_take_no_room_until_they_are_written_or_allocated() {
        let mut bytes = SparseBytes::default();
        bytes.allocate(0, 10 * CHUNK);
        assert_eq!((bytes.allocated(), bytes.missing(0, 10 * CHUNK)), (10 * CHUNK, 0));
        bytes.punch_hole(CHUNK, 4 * CHUNK);
        assert_eq!((bytes.allocated(), bytes.missing(0, 11 * CHUNK)), (6 * CHUNK, 5 * CHUNK));
        bytes.write(&[1; 100], 2 * CHUNK);
        bytes.allocate(3 * CHUNK, CHUNK);
        assert_eq!((bytes.allocated(), bytes.missing(CHUNK, CHUNK)), (8 * CHUNK, CHUNK));
        bytes.set_len(CHUNK);
        assert_eq!((bytes.len(), bytes.allocated()), (CHUNK, CHUNK));
        assert_eq!(bytes.missing(4 * CHUNK, CHUNK), CHUNK);
        bytes.allocate(4 * CHUNK, CHUNK);
        assert_eq!((bytes.allocated(), bytes.missing(0, 5 * CHUNK)), (2 * CHUNK, 3 * CHUNK));
        bytes.write(&[1; 100], 6 * CHUNK + 7);
        assert_eq!((bytes.allocated(), bytes.missing(0, 6 * CHUNK)), (2 * CHUNK + 107, 4 * CHUNK));
    }

    #[test]
    fn sparse_bytes_behave_like_a_vector() {
        let mut random = Prng::new(test_seed(1));
        let (mut sparse, mut model) = (SparseBytes::default(), Vec::<u8>::new());
        for _ in 0..2000 {
            let offset = random.below(30_000);
            let len = random.below(9000);
            let end = (offset + len) as usize;
            match random.below(10) {
                0 => {
                    sparse.set_len(offset);
                    model.resize(offset as usize, 0);
                }
                1 => {
                    sparse.punch_hole(offset, len);
                    let upto = end.min(model.len());
                    model.get_mut(offset as usize..upto).unwrap_or_default().fill(0);
                }
                2..5 => {
                    let mut bytes = vec![0; len as usize];
                    random.fill(&mut bytes);
                    sparse.write(&bytes, offset);
                    model.resize(model.len().max(end), 0);
                    model[offset as usize..end].copy_from_slice(&bytes);
                }
                _ => {
                    let mut out = vec![1; len as usize];
                    sparse.read(&mut out, offset);
                    let expected: Vec<u8> =
                        (offset as usize..end).map(|i| model.get(i).copied().unwrap_or(0)).collect();
                    assert_eq!(out, expected);
                }
            }
            assert_eq!(sparse.len(), model.len() as u64);
        }
    }
}
