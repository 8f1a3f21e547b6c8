//! What a text adds to the number by which PARTITION BY KEY chooses a partition: MySQL's, so that rows lie
//! where its rows lie.
//!
//! | collation | what is hashed |
//! |---|---|
//! | of Unicode 9.0.0 | its weights (16 bits), level after level, a zero between two, by FNV-1a of 64 bits |
//! | of Unicode before | the bytes of the weights, high byte first |
//! | with a weight a character | the bytes of the weights, low byte first |
//! | others | their weights of a byte; the bytes themselves where these are compared |
//!
//! All but the first leave trailing spaces out, except `binary`; they add bytes as [`PartitionHash::byte`]
//! does.

use super::unicode::Version;
use super::{Collation, Order, without_spaces};
use crate::charset::Charset;
use crate::partition_hash::PartitionHash;

const FNV_OFFSET: u64 = 14_695_981_039_346_656_037;
const FNV_PRIME: u64 = 1_099_511_628_211;

impl Collation {
    /// Adds a text to the hash of a row's key.
    pub(crate) fn add_to_partition_hash(&self, text: &[u8], hash: &mut PartitionHash) {
        if self.charset == Charset::Binary {
            return text.iter().for_each(|byte| hash.byte(*byte));
        }
        if self.is_of_900() {
            let mut state = hash.first() ^ FNV_OFFSET;
            let mut add = |weight: u16| state = (state ^ u64::from(weight)).wrapping_mul(FNV_PRIME);
            for (number, weights) in self.levels(text).enumerate() {
                let mut weights = weights.peekable();
                // A level behind the third is there only if it has weights.
                if (1..3).contains(&number) || number >= 3 && weights.peek().is_some() {
                    add(0);
                }
                weights.for_each(&mut add);
            }
            return hash.set_first(state);
        }
        let text = without_spaces(text);
        match self.order {
            Order::Binary => text.iter().for_each(|byte| hash.byte(*byte)),
            _ => {
                for weight in self.levels(text).flatten() {
                    let [high, low] = weight.to_be_bytes();
                    match self.order {
                        Order::General | Order::Table(_) => [low, high].map(|byte| hash.byte(byte)),
                        Order::Unicode(_) => [high, low].map(|byte| hash.byte(byte)),
                        _ => [hash.byte(low), ()],
                    };
                }
            }
        }
    }

    /// Whether its weights are those of Unicode 9.0.0, as `..._0900_...` has them.
    fn is_of_900(&self) -> bool {
        match self.order {
            Order::Uca900 => true,
            Order::Unicode(unicode) => unicode.version == Version::V900,
            _ => false,
        }
    }
}
