//! A text's weights as MySQL's WEIGHT_STRING() shows them.

use super::weights::{ByteWeights, GeneralWeights, UcaWeights, by_table, expanded};
use super::{Collation, Order};
use crate::charset::Charset;
use crate::watch::{PIECE, Watch, pieces};

impl Collation {
    /// The weights, as bytes: level after level, with a zero weight between two. Of the binary collations of
    /// UTF-8 with PAD SPACE they are the numbers of the characters. `None` if they are more than `most`
    /// bytes, or `watch` says no, which is asked before every [`PIECE`] of them.
    pub fn weight_string(&self, text: &[u8], most: usize, watch: Watch<'_>) -> Option<Vec<u8>> {
        let bytes_of_number = match self.charset {
            Charset::Utf8mb4 => 3,
            Charset::Utf8mb3 => 2,
            _ => 0,
        };
        if matches!(self.order, Order::Binary) && self.pad_space && bytes_of_number > 0 {
            let mut out = Vec::new();
            for piece in pieces(self.charset, text, watch) {
                for character in String::from_utf8_lossy(piece).chars() {
                    out.extend(u32::from(character).to_be_bytes().into_iter().skip(4 - bytes_of_number));
                }
                if out.len() > most {
                    return None;
                }
            }
            return Some(out);
        }
        let is_wide =
            matches!(self.order, Order::Uca900 | Order::Unicode(_) | Order::General | Order::Table(_));
        let (mut out, mut end, mut asked_at) = (Vec::new(), 0, 0);
        for (number, weights) in self.levels(text).enumerate() {
            if number > 0 {
                out.extend([0, 0]);
            }
            let begin = out.len();
            for weight in weights {
                match is_wide {
                    true => out.extend(weight.to_be_bytes()),
                    false => out.push(weight as u8),
                }
                if out.len() - asked_at >= PIECE {
                    asked_at = out.len();
                    if asked_at > most || !watch(PIECE) {
                        return None;
                    }
                }
            }
            // Levels behind the third are there only up to the last that has weights.
            if number < 3 || out.len() > begin {
                end = out.len();
            }
        }
        out.truncate(end);
        (end <= most).then_some(out)
    }

    /// The most bytes that [`weight_string`](Self::weight_string) makes of a byte of text, about; `None` if
    /// that is many.
    pub fn most_weight_bytes(&self) -> Option<u32> {
        match self.order {
            Order::Uca900 | Order::Unicode(_) => None,
            Order::General | Order::Table(_) => Some(2),
            Order::Binary if self.pad_space && self.charset.is_utf8() => Some(self.charset.max_bytes() - 1),
            _ => Some(self.charset.max_bytes()),
        }
    }

    /// The weights of each level.
    pub(super) fn levels<'t>(
        &self,
        text: &'t [u8],
    ) -> impl Iterator<Item = Box<dyn Iterator<Item = u16> + 't>> {
        let (order, charset) = (self.order, self.charset);
        let levels = match order {
            Order::Unicode(unicode) => usize::from(unicode.levels),
            _ => 1,
        };
        (0..levels).map(move |level| -> Box<dyn Iterator<Item = u16> + 't> {
            match order {
                Order::Uca900 => Box::new(UcaWeights::new(text)),
                Order::Unicode(unicode) => Box::new(unicode.weights(charset, text, level)),
                Order::General => Box::new(GeneralWeights::new(text)),
                Order::Bytes(table) => Box::new(ByteWeights::new(text, table)),
                Order::Table(table) => Box::new(by_table(charset, text, table)),
                Order::BytesExpanding(tables) => Box::new(expanded(text, tables)),
                Order::Binary => Box::new(text.iter().map(|byte| u16::from(*byte))),
            }
        })
    }
}
