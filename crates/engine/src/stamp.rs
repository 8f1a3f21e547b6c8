//! What names a version of a row that was read.

use palisade_base::TrxId;
use palisade_catalog::descriptor::MAX_PARTITIONS;
use palisade_txn::{Stamp, UndoPtr};

/// Names a version of a row: in which partition it is, who wrote it, and where its predecessor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowStamp {
    writer: TrxId,
    /// An undo pointer, which has 48 bits, the number of the partition from [`PARTITION`] on, and
    /// [`SEMI_CONSISTENT`].
    roll: u64,
}

const SEMI_CONSISTENT: u64 = 1 << 63;
/// The lowest bit of the partition's number.
const PARTITION: u32 = 48;
/// Its bits.
const PARTITION_BITS: u64 = (MAX_PARTITIONS as u64 - 1) << PARTITION;
const _: () = assert!(MAX_PARTITIONS.is_power_of_two() && PARTITION_BITS < SEMI_CONSISTENT);

/// The number of a partition, where a stamp has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct StampPartition(u64);

impl StampPartition {
    #[inline]
    pub(crate) fn new(number: usize) -> StampPartition {
        StampPartition((number as u64) << PARTITION & PARTITION_BITS)
    }
}

impl RowStamp {
    /// The number of the partition that the row was read in.
    #[inline]
    pub fn partition(self) -> usize {
        ((self.roll & PARTITION_BITS) >> PARTITION) as usize
    }

    /// The same of a row in this partition; the stamp names none yet.
    #[inline]
    pub(crate) fn in_partition(self, partition: StampPartition) -> RowStamp {
        RowStamp { roll: self.roll | partition.0, ..self }
    }

    /// Whether it names the last committed version of a row that another transaction was changing when it was
    /// read. What is computed from that version says nothing of the row that a change will get: lock it, and
    /// read it again, before.
    pub fn is_semi_consistent(self) -> bool {
        self.roll & SEMI_CONSISTENT != 0
    }

    /// As two numbers, for a row that waits in a temporary file.
    #[inline]
    pub fn to_words(self) -> [u64; 2] {
        [self.writer.0, self.roll]
    }

    /// What [`to_words`](Self::to_words) gave.
    #[inline]
    pub fn from_words([writer, roll]: [u64; 2]) -> RowStamp {
        RowStamp { writer: TrxId(writer), roll }
    }

    pub(crate) fn semi_consistent(self) -> RowStamp {
        RowStamp { roll: self.roll | SEMI_CONSISTENT, ..self }
    }
}

impl From<Stamp> for RowStamp {
    #[inline]
    fn from(stamp: Stamp) -> Self {
        RowStamp { writer: stamp.writer, roll: stamp.roll.to_u64() }
    }
}

impl From<RowStamp> for Stamp {
    #[inline]
    fn from(stamp: RowStamp) -> Self {
        Stamp { writer: stamp.writer, roll: UndoPtr::from_u64(stamp.roll) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_keeps_the_partition_beside_the_version() {
        let stamp = RowStamp::from(Stamp { writer: TrxId(7), roll: UndoPtr::from_u64(u64::MAX) });
        for number in [0, 1, 4097, MAX_PARTITIONS - 1] {
            let there = stamp.in_partition(StampPartition::new(number));
            assert_eq!(there.partition(), number);
            assert_eq!(Stamp::from(there), Stamp::from(stamp));
            assert!(!there.is_semi_consistent() && there.semi_consistent().is_semi_consistent());
            assert_eq!(there.semi_consistent().partition(), number);
            assert_eq!(RowStamp::from_words(there.to_words()), there);
        }
    }
}
