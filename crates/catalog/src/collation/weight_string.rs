//! A text's weights as MySQL's WEIGHT_STRING() shows them.

use super::weights::{ByteWeights, GeneralWeights, UcaWeights, by_table, expanded};
use super::{Collation, Order};
use crate::charset::Charset;

impl Collation {
    /// The weights, as bytes: level after level, with a zero weight between two. Of the binary collations of
    /// UTF-8 with PAD SPACE they are the numbers of the characters.
    pub fn weight_string(&self, text: &[u8]) -> Vec<u8> {
        let bytes_of_number = match self.charset {
            Charset::Utf8mb4 => 3,
            Charset::Utf8mb3 => 2,
            _ => 0,
        };
        if matches!(self.order, Order::Binary) && self.pad_space && bytes_of_number > 0 {
            let text = String::from_utf8_lossy(text);
            let numbers = text.chars().map(|character| u32::from(character).to_be_bytes());
            return numbers.flat_map(|number| number.into_iter().skip(4 - bytes_of_number)).collect();
        }
        let is_wide =
            matches!(self.order, Order::Uca900 | Order::Unicode(_) | Order::General | Order::Table(_));
        let mut levels = self.weights_by_level(text);
        while levels.len() > 3 && levels.last().is_some_and(Vec::is_empty) {
            levels.pop();
        }
        let levels = levels.iter().map(|weights| -> Vec<u8> {
            match is_wide {
                true => weights.iter().flat_map(|weight| weight.to_be_bytes()).collect(),
                false => weights.iter().map(|weight| *weight as u8).collect(),
            }
        });
        levels.collect::<Vec<_>>().join(&[0, 0][..])
    }

    /// The most bytes that [`weight_string`](Self::weight_string) makes of a byte of text, about; `None` if that is
    /// many.
    pub fn most_weight_bytes(&self) -> Option<u32> {
        match self.order {
            Order::Uca900 | Order::Unicode(_) => None,
            Order::General | Order::Table(_) => Some(2),
            Order::Binary if self.pad_space && self.charset.is_utf8() => Some(self.charset.max_bytes() - 1),
            _ => Some(self.charset.max_bytes()),
        }
    }

    /// The weights of each level.
    pub(super) fn weights_by_level(&self, text: &[u8]) -> Vec<Vec<u16>> {
        vec![match self.order {
            Order::Uca900 => UcaWeights::new(text).collect(),
            Order::Unicode(unicode) => {
                let levels = 0..usize::from(unicode.levels);
                return levels.map(|level| unicode.weights(self.charset, text, level).collect()).collect();
            }
            Order::General => GeneralWeights::new(text).collect(),
            Order::Bytes(table) => ByteWeights::new(text, table).collect(),
            Order::Table(table) => by_table(self.charset, text, table).collect(),
            Order::BytesExpanding(tables) => expanded(text, tables).collect(),
            Order::Binary => text.iter().map(|byte| u16::from(*byte)).collect(),
        }]
    }
}
