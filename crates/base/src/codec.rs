//! Integers in bytes.
//!
//! Everything on disk is little-endian unless it must compare as bytes. Reading goes through [`Reader`], which
//! answers [`Truncated`] at the end of its input: bytes from disk or network are parsed, never trusted.

/// The input ended before the value did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truncated;

impl std::fmt::Display for Truncated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the input ends before the value does")
    }
}

impl std::error::Error for Truncated {}

/// Reads values from the front of a byte slice.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

macro_rules! read_integer {
    ($name:ident, $type:ty) => {
        #[doc = concat!("The next `", stringify!($type), "`, little-endian.")]
        pub fn $name(&mut self) -> Result<$type, Truncated> {
            Ok(<$type>::from_le_bytes(self.array()?))
        }
    };
}

impl<'a> Reader<'a> {
    /// A reader at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    /// What has not been read.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether everything has been read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next `count` bytes.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], Truncated> {
        let (head, rest) = self.rest.split_at_checked(count).ok_or(Truncated)?;
        self.rest = rest;
        Ok(head)
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Truncated> {
        let (head, rest) = self.rest.split_first_chunk::<N>().ok_or(Truncated)?;
        self.rest = rest;
        Ok(*head)
    }

    read_integer!(u8, u8);
    read_integer!(u16, u16);
    read_integer!(u32, u32);
    read_integer!(u64, u64);

    /// The next variable-length integer, as written by [`put_varint`].
    pub fn varint(&mut self) -> Result<u64, Truncated> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Truncated)
    }

    /// The next byte string, as written by [`put_bytes`].
    pub fn prefixed_bytes(&mut self) -> Result<&'a [u8], Truncated> {
        let count = self.varint()?;
        self.bytes(usize::try_from(count).map_err(|_| Truncated)?)
    }
}

/// Appends a variable-length integer: seven bits a byte, low ones first; the top bit says that more follow.
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a byte string: its length as a variable-length integer, then the bytes.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_round_trip_and_truncation_is_an_error() {
        for value in [0, 1, 127, 128, 300, 16383, 16384, u64::from(u32::MAX), u64::MAX] {
            let mut out = Vec::new();
            put_varint(&mut out, value);
            assert_eq!(Reader::new(&out).varint(), Ok(value));
            assert_eq!(Reader::new(&out[..out.len() - 1]).varint(), Err(Truncated));
        }
        assert_eq!(Reader::new(&[0xff; 11]).varint(), Err(Truncated));
    }

    #[test]
    fn a_length_beyond_the_input_is_an_error() {
        let mut out = Vec::new();
        put_varint(&mut out, u64::MAX);
        assert_eq!(Reader::new(&out).prefixed_bytes(), Err(Truncated));
    }
}
