//! What one write to the log's files looks like.
//!
//! A range of the log's byte stream is written as a *group*: this header, the range, and zeros up to the next block.
//! Groups follow one another in the files without a gap; a durable block is never written again. How large a block is may
//! change while the log runs, so each group says how far it goes.
//!
//! | at | bytes | field |
//! |---|---|---|
//! | 0 | 4 | CRC-32C of the rest of the header and the range |
//! | 4 | 4 | length of the range |
//! | 8 | 8 | log id |
//! | 16 | 4 | epoch: how often the log was recovered |
//! | 20 | 2 | format version |
//! | 22 | 2 | length of header, range and zeros, in units of 512 bytes |
//! | 24 | 8 | LSN of the range |
//! | 32 | 8 | physical position of the group |
//! | 40 | 8 | durable LSN when it was written |
//!
//! A leftover of an earlier lap carries another position, one of an earlier life an earlier epoch, one of another log
//! another id. The durable LSN makes the group a witness: if it can be read and something below that LSN cannot, that
//! is corruption and not the end of the log.

use palisade_base::Lsn;
use palisade_base::checksum::crc32c;
use palisade_base::codec::{Reader, Truncated};

/// Bytes before the range.
pub(crate) const HEADER: usize = 48;
/// Version of the log's format.
pub(crate) const FORMAT: u16 = 2;
/// Groups begin at multiples of this.
pub(crate) const UNIT: usize = 512;
/// Header and range together are at most this.
pub(crate) const LARGEST: usize = 1 << 20;

/// A group's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GroupHeader {
    pub(crate) len: u32,
    pub(crate) log_id: u64,
    pub(crate) epoch: u32,
    pub(crate) units: u16,
    pub(crate) start: Lsn,
    pub(crate) position: u64,
    pub(crate) durable: Lsn,
}

impl GroupHeader {
    /// Bytes of files that the group takes, padding included.
    pub(crate) fn size(&self) -> u64 {
        u64::from(self.units) * UNIT as u64
    }

    /// Completes a group: `group` is room for the header, then the range of `self.len` bytes.
    pub(crate) fn seal(&self, group: &mut [u8]) {
        assert_eq!(group.len(), HEADER + self.len as usize, "the header tells the length of the range");
        group[4..8].copy_from_slice(&self.len.to_le_bytes());
        group[8..16].copy_from_slice(&self.log_id.to_le_bytes());
        group[16..20].copy_from_slice(&self.epoch.to_le_bytes());
        group[20..22].copy_from_slice(&FORMAT.to_le_bytes());
        group[22..24].copy_from_slice(&self.units.to_le_bytes());
        group[24..32].copy_from_slice(&self.start.0.to_le_bytes());
        group[32..40].copy_from_slice(&self.position.to_le_bytes());
        group[40..48].copy_from_slice(&self.durable.0.to_le_bytes());
        let checksum = crc32c(&group[4..]);
        group[..4].copy_from_slice(&checksum.to_le_bytes());
    }

    /// The header in `bytes`, with its checksum, which covers more than the header. `None` if the format is another.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<(GroupHeader, u32)>, Truncated> {
        let mut reader = Reader::new(bytes);
        let checksum = reader.u32()?;
        let len = reader.u32()?;
        let log_id = reader.u64()?;
        let epoch = reader.u32()?;
        let format = reader.u16()?;
        let units = reader.u16()?;
        let start = Lsn(reader.u64()?);
        let position = reader.u64()?;
        let durable = Lsn(reader.u64()?);
        let header = GroupHeader { len, log_id, epoch, units, start, position, durable };
        Ok((format == FORMAT).then_some((header, checksum)))
    }
}

/// Whether the checksum of a group, header and range without padding, is `checksum`.
pub(crate) fn checksum_is(group: &[u8], checksum: u32) -> bool {
    crc32c(&group[4..]) == checksum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_reads_back_and_every_flipped_bit_is_noticed() {
        let header = GroupHeader {
            len: 24,
            log_id: 0x1122_3344_5566_7788,
            epoch: 3,
            units: 1,
            start: Lsn(800),
            position: 4096,
            durable: Lsn(640),
        };
        let mut group = vec![7; HEADER + 24];
        header.seal(&mut group);
        let (read, checksum) = GroupHeader::parse(&group).unwrap().unwrap();
        assert_eq!(read, header);
        assert!(checksum_is(&group, checksum));
        for bit in 0..group.len() * 8 {
            group[bit / 8] ^= 1 << (bit % 8);
            let intact = GroupHeader::parse(&group).unwrap().is_some_and(|(_, sum)| checksum_is(&group, sum));
            assert!(!intact, "bit {bit}");
            group[bit / 8] ^= 1 << (bit % 8);
        }
        assert!(GroupHeader::parse(&group[..HEADER - 1]).is_err());
    }
}
