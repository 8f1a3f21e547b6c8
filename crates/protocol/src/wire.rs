//! Length-encoded integers and strings.
//!
//! | first byte | then |
//! |---|---|
//! | 0..=250 | nothing: it is the value |
//! | 251 | nothing: NULL (in rows) |
//! | 252 | 2 bytes |
//! | 253 | 3 bytes |
//! | 254 | 8 bytes |
//! | 255 | never: an ERR packet begins so |

use palisade_base::codec::Reader;

use crate::Malformed;

/// NULL in a text row.
pub const NULL: u8 = 251;

/// Appends a length-encoded integer.
#[inline]
pub fn put_lenenc_int(out: &mut Vec<u8>, value: u64) {
    match u8::try_from(value) {
        Ok(byte @ 0..=250) => out.push(byte),
        _ => put_long_lenenc_int(out, value),
    }
}

/// One that does not fit in a single byte.
#[cold]
fn put_long_lenenc_int(out: &mut Vec<u8>, value: u64) {
    match value {
        0..=0xffff => {
            out.push(252);
            out.extend_from_slice(&(value as u16).to_le_bytes());
        }
        0x1_0000..=0xff_ffff => {
            out.push(253);
            put_u24(out, value as u32);
        }
        _ => {
            out.push(254);
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
}

/// The three bytes of the low 24 bits of `value`, as the lengths of frames are written.
#[inline]
pub fn u24_bytes(value: u32) -> [u8; 3] {
    let [low, middle, high, _] = value.to_le_bytes();
    [low, middle, high]
}

/// Appends the low 24 bits of `value`.
#[inline]
pub fn put_u24(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&u24_bytes(value));
}

/// The number that [`u24_bytes`] wrote.
#[inline]
pub fn u24([low, middle, high]: [u8; 3]) -> u32 {
    u32::from_le_bytes([low, middle, high, 0])
}

/// Appends a length-encoded string.
#[inline]
pub fn put_lenenc_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_lenenc_int(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a string and the zero byte that ends it.
pub fn put_nul_terminated(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(bytes);
    out.push(0);
}

/// Reads what `put_*` writes.
pub trait ReadWire<'a> {
    /// A length-encoded integer; NULL is malformed.
    fn lenenc_int(&mut self) -> Result<u64, Malformed>;
    /// A length-encoded string.
    fn lenenc_bytes(&mut self) -> Result<&'a [u8], Malformed>;
    /// A string up to the zero byte that ends it.
    fn nul_terminated(&mut self) -> Result<&'a [u8], Malformed>;
    /// A string up to the zero byte that ends it, or to the end of the packet.
    fn nul_terminated_or_rest(&mut self) -> &'a [u8];
}

impl<'a> ReadWire<'a> for Reader<'a> {
    fn lenenc_int(&mut self) -> Result<u64, Malformed> {
        Ok(match self.u8()? {
            251 | 255 => return Err(Malformed),
            252 => u64::from(self.u16()?),
            253 => u64::from(u24(self.array()?)),
            254 => self.u64()?,
            value => u64::from(value),
        })
    }

    fn lenenc_bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let count = self.lenenc_int()?;
        Ok(self.bytes(usize::try_from(count).map_err(|_| Malformed)?)?)
    }

    fn nul_terminated(&mut self) -> Result<&'a [u8], Malformed> {
        let end = self.rest().iter().position(|byte| *byte == 0).ok_or(Malformed)?;
        let bytes = self.bytes(end)?;
        self.u8()?;
        Ok(bytes)
    }

    fn nul_terminated_or_rest(&mut self) -> &'a [u8] {
        self.nul_terminated().unwrap_or_else(|Malformed| {
            let rest = self.rest();
            self.bytes(rest.len()).unwrap_or(rest)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_take_the_shortest_form_and_come_back() {
        for (value, length) in [
            (0, 1),
            (250, 1),
            (251, 3),
            (0xffff, 3),
            (0x1_0000, 4),
            (0xff_ffff, 4),
            (0x100_0000, 9),
            (u64::MAX, 9),
        ] {
            let mut out = Vec::new();
            put_lenenc_int(&mut out, value);
            assert_eq!(out.len(), length, "{value}");
            assert_eq!(Reader::new(&out).lenenc_int(), Ok(value));
            assert_eq!(Reader::new(&out[..length - 1]).lenenc_int(), Err(Malformed));
        }
        assert_eq!(Reader::new(&[251]).lenenc_int(), Err(Malformed));
        assert_eq!(Reader::new(&[255, 0]).lenenc_int(), Err(Malformed));
    }

    #[test]
    fn a_string_longer_than_the_packet_is_malformed() {
        assert_eq!(Reader::new(&[5, b'a', b'b']).lenenc_bytes(), Err(Malformed));
        assert_eq!(
            Reader::new(&[254, 255, 255, 255, 255, 255, 255, 255, 255]).lenenc_bytes(),
            Err(Malformed)
        );
        assert_eq!(Reader::new(b"ab").nul_terminated(), Err(Malformed));
        assert_eq!(Reader::new(b"ab").nul_terminated_or_rest(), b"ab");
        assert_eq!(Reader::new(b"ab\0c").nul_terminated_or_rest(), b"ab");
    }
}
