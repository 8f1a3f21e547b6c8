//! Where recovery starts: the checkpoint file.
//!
//! Two slots, written in turn, so that a torn write leaves the one before. A slot:
//!
//! | at | bytes | field |
//! |---|---|---|
//! | 0 | 4 | CRC-32C of the rest |
//! | 4 | 4 | format version |
//! | 8 | 8 | "PALISADE" |
//! | 16 | 8 | log id |
//! | 24 | 8 | sequence number of this record; the higher one counts |
//! | 32 | 4 | epoch |
//! | 36 | 4 | zero |
//! | 40 | 8 | LSN at which reading starts, where a mini-transaction begins |
//! | 48 | 8 | physical position of the group that begins there |
//! | 56 | 8 | durable LSN when it was written |
//! | 64 | 8 | number of the segment that the position lies in |
//! | 72 | 8 | position at which that segment begins |

use std::path::{Path, PathBuf};
use std::sync::Arc;

use palisade_base::Lsn;
use palisade_base::checksum::crc32c;
use palisade_base::codec::{Reader, Truncated};
use palisade_io::{AlignedBuf, File, FileSystem, OpenMode};

use crate::Error;
use crate::config::Access;
use crate::group::{self, FORMAT};
use crate::planted::{Planted, makes};
use crate::segments::{Place, UNIT};

/// Bytes of a slot that mean something.
pub(crate) const RECORD: usize = 80;
/// Distance of the slots; more than any device writes at once.
pub(crate) const SLOT: usize = 16384;
const SLOTS: u64 = 2;
const MAGIC: &[u8; 8] = b"PALISADE";
const NAME: &str = "checkpoint";
/// A number that no log reaches.
pub(crate) const FAR: u64 = 1 << 62;

/// A checkpoint record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    pub(crate) log_id: u64,
    pub(crate) sequence: u64,
    pub(crate) epoch: u32,
    pub(crate) lsn: Lsn,
    pub(crate) position: u64,
    pub(crate) durable: Lsn,
    pub(crate) segment: Place,
}

impl Checkpoint {
    fn encode(&self, slot: &mut [u8]) {
        slot[4..8].copy_from_slice(&u32::from(FORMAT).to_le_bytes());
        slot[8..16].copy_from_slice(MAGIC);
        slot[16..24].copy_from_slice(&self.log_id.to_le_bytes());
        slot[24..32].copy_from_slice(&self.sequence.to_le_bytes());
        slot[32..36].copy_from_slice(&self.epoch.to_le_bytes());
        slot[36..40].fill(0);
        slot[40..48].copy_from_slice(&self.lsn.0.to_le_bytes());
        slot[48..56].copy_from_slice(&self.position.to_le_bytes());
        slot[56..64].copy_from_slice(&self.durable.0.to_le_bytes());
        slot[64..72].copy_from_slice(&self.segment.number.to_le_bytes());
        slot[72..80].copy_from_slice(&self.segment.start.to_le_bytes());
        let checksum = crc32c(&slot[4..RECORD]);
        slot[..4].copy_from_slice(&checksum.to_le_bytes());
    }

    /// The record in a slot, if it is one and consistent.
    pub(crate) fn decode(slot: &[u8]) -> Result<Option<Checkpoint>, Truncated> {
        let mut reader = Reader::new(slot);
        let checksum = reader.u32()?;
        if crc32c(Reader::new(reader.rest()).bytes(RECORD - 4)?) != checksum {
            return Ok(None);
        }
        if reader.u32()? != u32::from(FORMAT) || reader.array()? != *MAGIC {
            return Ok(None);
        }
        let (log_id, sequence, epoch) = (reader.u64()?, reader.u64()?, reader.u32()?);
        let _zero = reader.u32()?;
        let record = Checkpoint {
            log_id,
            sequence,
            epoch,
            lsn: Lsn(reader.u64()?),
            position: reader.u64()?,
            durable: Lsn(reader.u64()?),
            segment: Place { number: reader.u64()?, start: reader.u64()? },
        };
        Ok(record.is_sound().then_some(record))
    }

    fn is_sound(&self) -> bool {
        // No log gets so far: what is counted on from here does not overflow.
        let numbers = [self.sequence, self.lsn.0, self.position, self.durable.0, self.segment.number];
        numbers.iter().all(|number| *number < FAR) && self.epoch < u32::MAX && self.is_consistent()
    }

    fn is_consistent(&self) -> bool {
        self.segment.start.is_multiple_of(UNIT)
            && self.position >= self.segment.start
            && self.position.is_multiple_of(group::UNIT as u64)
            && self.lsn.0.is_multiple_of(8)
            && self.lsn.0 > 0
            && self.durable >= self.lsn
    }
}

/// The file and the record it holds.
pub(crate) struct CheckpointFile {
    file: Arc<dyn File>,
    current: Checkpoint,
}

pub(crate) fn path(dir: &Path) -> PathBuf {
    dir.join(NAME)
}

pub(crate) fn exists(fs: &dyn FileSystem, dir: &Path) -> std::io::Result<bool> {
    fs.exists(&path(dir))
}

impl CheckpointFile {
    /// Creates the file, durably; it appears with `first` in it or not at all.
    pub(crate) fn create(
        fs: &dyn FileSystem,
        dir: &Path,
        access: Access,
        first: Checkpoint,
    ) -> std::io::Result<CheckpointFile> {
        let temporary = dir.join("checkpoint.new");
        let file = fs.open(&temporary, access.through_cache().mode(OpenMode::CREATE))?;
        let mut slots = AlignedBuf::zeroed(SLOT * SLOTS as usize);
        first.encode(&mut slots[slot_of(first.sequence) as usize..]);
        file.write_at(&slots, 0)?;
        file.sync()?;
        fs.rename(&temporary, &path(dir))?;
        fs.sync_dir(dir)?;
        Ok(CheckpointFile { file, current: first })
    }

    /// Opens the file and finds the newest record.
    pub(crate) fn open(fs: &dyn FileSystem, dir: &Path, access: Access) -> Result<CheckpointFile, Error> {
        if !exists(fs, dir).map_err(Error::io("look for the checkpoint file"))? {
            return Err(Error::Missing(dir.to_owned()));
        }
        let read = || {
            let file = fs.open(&path(dir), access.through_cache().mode(OpenMode::EXISTING))?;
            let mut slots = AlignedBuf::zeroed(SLOT * SLOTS as usize);
            let len = (file.len()?).min(slots.len() as u64);
            file.read_at(&mut slots[..len as usize], 0)?;
            Ok((file, slots))
        };
        let (file, slots) = read().map_err(Error::io("read the checkpoint file"))?;
        let records = slots.chunks(SLOT).filter_map(|slot| Checkpoint::decode(slot).ok().flatten());
        let Some(current) = records.max_by_key(|record| record.sequence) else {
            return Err(Error::Corrupted {
                lsn: Lsn::ZERO,
                position: 0,
                reason: "neither slot of the checkpoint file holds a record".to_owned(),
            });
        };
        Ok(CheckpointFile { file, current })
    }

    /// Makes durable what was written to the device before, whoever wrote it.
    pub(crate) fn sync(&self) -> std::io::Result<()> {
        self.file.sync()
    }

    pub(crate) fn current(&self) -> &Checkpoint {
        &self.current
    }

    /// Writes `next` over the older slot, durably; its sequence number is given here.
    pub(crate) fn write(&mut self, next: Checkpoint) -> std::io::Result<()> {
        let next = Checkpoint { sequence: self.current.sequence + 1, ..next };
        assert!(next.is_sound(), "a checkpoint record can be read back: {next:?}");
        let mut slot = AlignedBuf::zeroed(SLOT);
        next.encode(&mut slot);
        self.file.write_at(&slot, slot_of(next.sequence))?;
        if !makes(Planted::CheckpointIsNotSynced) {
            self.file.sync()?;
        }
        self.current = next;
        Ok(())
    }
}

fn slot_of(sequence: u64) -> u64 {
    sequence % SLOTS * SLOT as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_io::{CrashKeeps, FaultFileSystem};

    fn access() -> Access {
        crate::LogConfig::default().access()
    }

    fn first() -> Checkpoint {
        Checkpoint {
            log_id: 9,
            sequence: 1,
            epoch: 1,
            lsn: Lsn(8),
            position: 0,
            durable: Lsn(8),
            segment: Place { number: 0, start: 0 },
        }
    }

    #[test]
    fn a_torn_checkpoint_write_leaves_the_one_before() {
        let dir = Path::new("log");
        for seed in 0..50 {
            let fs = FaultFileSystem::new(seed);
            let mut file = CheckpointFile::create(&fs, dir, access(), first()).unwrap();
            file.write(Checkpoint { lsn: Lsn(16), durable: Lsn(16), ..first() }).unwrap();
            fs.fail(palisade_io::Call::Sync, 1, palisade_io::Fault::Crash);
            assert!(file.write(Checkpoint { lsn: Lsn(24), durable: Lsn(24), ..first() }).is_err());
            fs.crash(CrashKeeps::Random);
            let found = CheckpointFile::open(&fs, dir, access()).unwrap().current;
            assert!([Lsn(16), Lsn(24)].contains(&found.lsn));
        }
    }

    #[test]
    fn a_flipped_bit_falls_back_to_the_other_slot_and_two_are_corruption() {
        let dir = Path::new("log");
        let fs = FaultFileSystem::new(1);
        let mut file = CheckpointFile::create(&fs, dir, access(), first()).unwrap();
        file.write(Checkpoint { lsn: Lsn(16), durable: Lsn(16), ..first() }).unwrap();
        fs.flip_bit(&path(dir), 40 * 8 + 3);
        assert_eq!(CheckpointFile::open(&fs, dir, access()).unwrap().current.lsn, Lsn(8));
        fs.flip_bit(&path(dir), slot_of(1) * 8 + 300);
        assert!(matches!(CheckpointFile::open(&fs, dir, access()), Err(Error::Corrupted { .. })));
        assert!(matches!(
            CheckpointFile::open(&fs, Path::new("elsewhere"), access()),
            Err(Error::Missing(_))
        ));
    }
}
