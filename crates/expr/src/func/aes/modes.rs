//! The modes in which AES encrypts a text (NIST SP 800-38A), in pieces.
//!
//! A block is a number of 128 bits, its first byte the highest. `register` is the vector to begin with, and
//! what the last block has left afterwards:
//!
//! | mode | a piece of the text | the register |
//! |---|---|---|
//! | ECB | cipher = E(text) | |
//! | CBC | cipher = E(text + register) | cipher |
//! | CFB, of s bits | cipher = text + the first s bits of E(register) | shifted by s bits, cipher behind it |
//! | OFB | cipher = text + E(register) | E(register) |
//!
//! where + is XOR and CFB has s of 1, 8 or 128. ECB and CBC take whole blocks: a text is filled up with 1 to
//! 16 bytes that say how many they are (RFC 5652, section 6.3).

use aes::cipher::{BlockDecrypt, BlockEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256, Block};

use crate::{Context, SqlResult};

/// Bytes of a block.
pub const BLOCK: usize = 16;
/// Bytes of the longest key.
pub const LONGEST_KEY: usize = 32;

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Encrypt,
    Decrypt,
}

/// What is done with the blocks of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chaining {
    Ecb,
    Cbc,
    Cfb1,
    Cfb8,
    Cfb128,
    Ofb,
}

/// A value of `block_encryption_mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockEncryptionMode {
    chaining: Chaining,
    key_bytes: u8,
}

impl BlockEncryptionMode {
    /// That at a position among the variable's values, where keys of three lengths follow one another in each
    /// mode.
    pub fn of(position: usize) -> BlockEncryptionMode {
        let chaining = match position / 3 {
            0 => Chaining::Ecb,
            1 => Chaining::Cbc,
            2 => Chaining::Cfb1,
            3 => Chaining::Cfb8,
            4 => Chaining::Cfb128,
            _ => Chaining::Ofb,
        };
        let key_bytes = match position % 3 {
            0 => 16,
            1 => 24,
            _ => 32,
        };
        BlockEncryptionMode { chaining, key_bytes }
    }

    /// Length of its keys, in bytes.
    pub fn key_bytes(self) -> usize {
        usize::from(self.key_bytes)
    }

    /// Whether it begins with a vector.
    pub fn takes_vector(self) -> bool {
        self.chaining != Chaining::Ecb
    }

    fn takes_whole_blocks(self) -> bool {
        matches!(self.chaining, Chaining::Ecb | Chaining::Cbc)
    }

    /// Whether a text of so many bytes can be what it is to be.
    fn takes(self, direction: Direction, bytes: usize) -> bool {
        let is_whole = bytes > 0 && bytes.is_multiple_of(BLOCK);
        direction == Direction::Encrypt || !self.takes_whole_blocks() || is_whole
    }

    /// Most bytes that it makes of a text of so many.
    pub fn result_bytes(self, direction: Direction, bytes: usize) -> usize {
        match self.takes_whole_blocks() && direction == Direction::Encrypt {
            true => (bytes / BLOCK + 1).saturating_mul(BLOCK),
            false => bytes,
        }
    }

    /// What it makes of a text; `None` if that is not what encryption has made.
    pub fn apply(
        self,
        cx: &mut Context<'_>,
        direction: Direction,
        cipher: &Cipher,
        vector: u128,
        text: &[u8],
    ) -> SqlResult<Option<Vec<u8>>> {
        let is_padded = self.takes_whole_blocks();
        if !self.takes(direction, text.len()) {
            return Ok(None);
        }
        let mut out = Vec::with_capacity(self.result_bytes(direction, text.len()));
        let mut register = vector;
        for piece in text.chunks(self.piece_bytes()) {
            cx.checkpoint(piece.len() * self.units_a_byte())?;
            let begins = out.len();
            out.extend_from_slice(piece);
            if is_padded && direction == Direction::Encrypt && !piece.len().is_multiple_of(BLOCK) {
                pad(&mut out);
            }
            self.piece(direction, cipher, &mut register, out.get_mut(begins..).unwrap_or_default());
        }
        match direction {
            Direction::Encrypt if is_padded && text.len().is_multiple_of(BLOCK) => {
                let begins = out.len();
                pad(&mut out);
                self.piece(direction, cipher, &mut register, out.get_mut(begins..).unwrap_or_default());
            }
            Direction::Decrypt if is_padded => {
                let Some(length) = length_without_padding(&out) else { return Ok(None) };
                out.truncate(length);
            }
            _ => {}
        }
        Ok(Some(out))
    }

    /// What a byte counts as, in units of a nanosecond.
    fn units_a_byte(self) -> usize {
        match self.chaining {
            Chaining::Ecb | Chaining::Cbc | Chaining::Cfb128 | Chaining::Ofb => 8,
            Chaining::Cfb8 => 32,
            Chaining::Cfb1 => 32 * 8,
        }
    }

    /// Bytes between two checkpoints: a whole number of blocks.
    fn piece_bytes(self) -> usize {
        (1 << 15) / self.units_a_byte()
    }

    /// Encrypts or decrypts a piece: whole blocks, but for the last one of a mode that takes others.
    fn piece(self, direction: Direction, cipher: &Cipher, register: &mut u128, piece: &mut [u8]) {
        let encrypts = direction == Direction::Encrypt;
        match self.chaining {
            Chaining::Ecb => each_block(piece, |block| match encrypts {
                true => cipher.encrypt(block),
                false => cipher.decrypt(block),
            }),
            Chaining::Cbc => each_block(piece, |block| match encrypts {
                true => {
                    *register = cipher.encrypt(block ^ *register);
                    *register
                }
                false => cipher.decrypt(block) ^ std::mem::replace(register, block),
            }),
            Chaining::Cfb128 => {
                for part in piece.chunks_mut(BLOCK) {
                    let mut feedback = cipher.encrypt(*register).to_be_bytes();
                    for (byte, mask) in part.iter_mut().zip(&mut feedback) {
                        let before = *byte;
                        *byte ^= *mask;
                        *mask = if encrypts { *byte } else { before };
                    }
                    *register = u128::from_be_bytes(feedback);
                }
            }
            Chaining::Ofb => {
                for part in piece.chunks_mut(BLOCK) {
                    *register = cipher.encrypt(*register);
                    part.iter_mut().zip(register.to_be_bytes()).for_each(|(byte, mask)| *byte ^= mask);
                }
            }
            Chaining::Cfb8 => {
                for byte in piece {
                    let before = *byte;
                    *byte ^= (cipher.encrypt(*register) >> 120) as u8;
                    *register = *register << 8 | u128::from(if encrypts { *byte } else { before });
                }
            }
            Chaining::Cfb1 => {
                for byte in piece {
                    for bit in (0..8).rev() {
                        let before = *byte >> bit & 1;
                        let after = before ^ (cipher.encrypt(*register) >> 127) as u8;
                        *byte ^= (before ^ after) << bit;
                        *register = *register << 1 | u128::from(if encrypts { after } else { before });
                    }
                }
            }
        }
    }
}

fn each_block(piece: &mut [u8], mut change: impl FnMut(u128) -> u128) {
    for block in piece.as_chunks_mut::<BLOCK>().0 {
        *block = change(u128::from_be_bytes(*block)).to_be_bytes();
    }
}

/// Fills the last block up, or begins a new one.
fn pad(out: &mut Vec<u8>) {
    let missing = BLOCK - out.len() % BLOCK;
    out.resize(out.len() + missing, missing as u8);
}

fn length_without_padding(padded: &[u8]) -> Option<usize> {
    let count = usize::from(*padded.last()?);
    let length = padded.len().checked_sub(count).filter(|_| (1..=BLOCK).contains(&count))?;
    padded.get(length..)?.iter().all(|byte| usize::from(*byte) == count).then_some(length)
}

/// AES with a key of one of its lengths.
pub enum Cipher {
    /// Of 16 bytes.
    Aes128(Box<Aes128>),
    /// Of 24 bytes.
    Aes192(Box<Aes192>),
    /// Of 32 bytes.
    Aes256(Box<Aes256>),
}

impl Cipher {
    /// With as much of a key as the mode takes.
    pub fn new(key: &[u8; LONGEST_KEY], mode: BlockEncryptionMode) -> Cipher {
        match mode.key_bytes {
            16 => Cipher::Aes128(Box::new(Aes128::new(key[..16].into()))),
            24 => Cipher::Aes192(Box::new(Aes192::new(key[..24].into()))),
            _ => Cipher::Aes256(Box::new(Aes256::new(key[..].into()))),
        }
    }

    fn encrypt(&self, block: u128) -> u128 {
        let mut block = Block::from(block.to_be_bytes());
        match self {
            Cipher::Aes128(cipher) => cipher.encrypt_block(&mut block),
            Cipher::Aes192(cipher) => cipher.encrypt_block(&mut block),
            Cipher::Aes256(cipher) => cipher.encrypt_block(&mut block),
        }
        u128::from_be_bytes(block.into())
    }

    fn decrypt(&self, block: u128) -> u128 {
        let mut block = Block::from(block.to_be_bytes());
        match self {
            Cipher::Aes128(cipher) => cipher.decrypt_block(&mut block),
            Cipher::Aes192(cipher) => cipher.decrypt_block(&mut block),
            Cipher::Aes256(cipher) => cipher.decrypt_block(&mut block),
        }
        u128::from_be_bytes(block.into())
    }
}
