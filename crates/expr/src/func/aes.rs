//! AES_ENCRYPT and AES_DECRYPT in the modes of `block_encryption_mode`.
//!
//! The block cipher is a crate's; what makes a cipher of long texts of it is here, in `modes`, because it
//! has to stop at checkpoints (docs/decisions/157-aes.md).
//!
//! A password becomes a key of the mode's length in one of three ways:
//!
//! ```text
//! (text, password)                                 its bytes, added (XOR) into a key of zeros over and over
//! (text, password, iv, 'hkdf', salt, info)         RFC 5869 with SHA-512
//! (text, password, iv, 'pbkdf2_hmac', salt, count) RFC 8018 with HMAC of SHA-512
//! ```
//!
//! All keys are shorter than a digest of SHA-512, so that the last two need the first block of their output
//! only. The vector is computed if the mode takes one, and salt and the rest only for a known method: what is
//! wrong with an argument is an error of the row that is computed.

use hmac::{Hmac, Mac};
use palisade_base::error_catalogue::{
    ER_AES_INVALID_IV, ER_AES_INVALID_KDF_ITERATIONS, ER_AES_INVALID_KDF_NAME,
    ER_AES_INVALID_KDF_OPTION_SIZE, ER_WARN_AES_KEY_SIZE, ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT,
    WARN_OPTION_IGNORED,
};
use palisade_base::mysql_error;
use palisade_catalog::types::LobSize;
use palisade_catalog::{Bytes, CollationId, SqlType, Value};
use sha2::{Digest, Sha512};

use self::modes::{BLOCK, Cipher, Direction, LONGEST_KEY};
use super::{Evaluation, Function, LONGEST_VARCHAR, Typed, function};
use crate::convert::text_of;
use crate::place::At;
use crate::{Context, Expr};
use crate::{SqlAttempt, SqlResult};
use Evaluation::Lazy;

mod modes;

pub use modes::BlockEncryptionMode;

/// Their declarations.
pub static FUNCTIONS: &[Function] = &[
    function("aes_decrypt", (2, 6), decrypt_type, Lazy(|cx, a, _| called(cx, a, Direction::Decrypt))),
    function("aes_encrypt", (2, 6), encrypt_type, Lazy(|cx, a, _| called(cx, a, Direction::Encrypt))),
];

/// As long as the modes with whole blocks make it.
fn encrypt_type(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    let ty = &arguments.at(0)?.ty;
    let bytes_per_char = if ty.is_text() { ty.collation().get().charset.max_bytes() } else { 4 };
    let bytes = u64::from(ty.wire_length(bytes_per_char));
    Ok(Typed::nullable(binary_of_length((bytes / BLOCK as u64 + 1) * BLOCK as u64)))
}

fn decrypt_type(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(binary_of_length(arguments.at(0)?.ty.wire_length(1).into())))
}

fn binary_of_length(bytes: u64) -> SqlType {
    match u32::try_from(bytes) {
        Ok(length) if length <= LONGEST_VARCHAR => SqlType::VarBinary { length },
        _ if bytes <= LobSize::Normal.max_bytes() => SqlType::Blob { size: LobSize::Normal },
        _ => SqlType::Blob { size: LobSize::Long },
    }
}

/// Bytes that are hashed between two checkpoints.
const PIECE: usize = 1 << 14;
/// What hashing a byte counts as, in units of a nanosecond.
const UNITS_A_BYTE: usize = 8;
/// An option of a key derivation is shorter, in bytes.
const OPTION_LIMIT: usize = 256;
/// And the number of its iterations, as a text.
const COUNT_LIMIT: usize = 6;
/// Iterations of `pbkdf2_hmac`, unless they are given.
const ITERATIONS: u32 = 1000;
const MOST_ITERATIONS: u32 = 65535;
/// Iterations between two checkpoints.
const ITERATIONS_A_LOOK: u32 = 16;
/// What an iteration counts as, in units of a nanosecond.
const UNITS_AN_ITERATION: usize = 1500;

fn called(cx: &mut Context<'_>, arguments: &[Expr], direction: Direction) -> SqlAttempt<Value> {
    let Some(text) = argument(cx, arguments.at(0)?)? else { return Ok(Value::Null) };
    let Some(password) = argument(cx, arguments.at(1)?)? else { return Ok(Value::Null) };
    let mode = cx.session.variables.block_encryption_mode;
    let name = match direction {
        Direction::Encrypt => "aes_encrypt",
        Direction::Decrypt => "aes_decrypt",
    };
    let vector = if mode.takes_vector() { vector(cx, arguments, name)? } else { 0 };
    let key = match arguments.get(3) {
        None => folded(cx, &password, mode.key_bytes()),
        Some(method) => {
            let method = Method::read(cx, method, arguments)?;
            method.key(cx, &password)
        }
    };
    let key = cx.attempt(key)?;
    let is_too_large = cx.exceeds(mode.result_bytes(direction, text.len()));
    if cx.attempt(is_too_large)? {
        return Ok(cx.too_large(name));
    }
    let result = mode.apply(cx, direction, &Cipher::new(&key, mode), vector, &text);
    let result = cx.attempt(result)?;
    if !mode.takes_vector() && arguments.len() == 3 {
        cx.session.warnings.warn(mysql_error!(WARN_OPTION_IGNORED, "IV"));
    }
    if direction == Direction::Encrypt && arguments.len() < 4 && password.len() > mode.key_bytes() {
        cx.session.warnings.warn(mysql_error!(ER_WARN_AES_KEY_SIZE, mode.key_bytes()));
    }
    Ok(result.map_or(Value::Null, Value::bytes))
}

/// The bytes of an argument as its text has them; `None` is NULL.
fn argument(cx: &mut Context<'_>, argument: &Expr) -> SqlAttempt<Option<Bytes>> {
    let value = argument.eval(cx)?;
    Ok((!value.is_null()).then(|| text_of(&value, &argument.ty)))
}

/// The first block of the third argument, which this mode must have.
fn vector(cx: &mut Context<'_>, arguments: &[Expr], name: &str) -> SqlAttempt<u128> {
    let Some(given) = arguments.get(2) else {
        return Err(mysql_error!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, name).into());
    };
    let given = argument(cx, given)?;
    match given.as_deref().and_then(|given| given.first_chunk::<BLOCK>()) {
        Some(block) => Ok(u128::from_be_bytes(*block)),
        None => Err(mysql_error!(ER_AES_INVALID_IV, name, BLOCK).into()),
    }
}

/// A password's bytes, one after the other added to those of a key.
fn folded(cx: &mut Context<'_>, password: &[u8], key_bytes: usize) -> SqlResult<[u8; LONGEST_KEY]> {
    let mut key = [0; LONGEST_KEY];
    // a piece is a whole number of keys: 16, 24 or 32 bytes
    for piece in password.chunks(key_bytes << 8) {
        cx.checkpoint(piece.len())?;
        for part in piece.chunks(key_bytes) {
            key.iter_mut().zip(part).for_each(|(sum, byte)| *sum ^= byte);
        }
    }
    Ok(key)
}

/// How a key is derived.
enum Method {
    Hkdf { salt: Bytes, info: Bytes },
    Pbkdf2 { salt: Bytes, iterations: u32 },
}

impl Method {
    /// The method that `name` says, with the options behind it.
    fn read(cx: &mut Context<'_>, name: &Expr, arguments: &[Expr]) -> SqlAttempt<Method> {
        let name = option(cx, Some(name), OPTION_LIMIT)?;
        let is_hkdf = match &*name {
            b"hkdf" => true,
            b"pbkdf2_hmac" => false,
            _ => return Err(mysql_error!(ER_AES_INVALID_KDF_NAME).into()),
        };
        let salt = option(cx, arguments.get(4), OPTION_LIMIT)?;
        if is_hkdf {
            return Ok(Method::Hkdf { salt, info: option(cx, arguments.get(5), OPTION_LIMIT)? });
        }
        let iterations = match arguments.get(5) {
            None => ITERATIONS,
            given => match leading_number(&option(cx, given, COUNT_LIMIT)?) {
                Some(count) if (ITERATIONS..=MOST_ITERATIONS).contains(&count) => count,
                _ => {
                    let (least, most) = (ITERATIONS, MOST_ITERATIONS);
                    let error =
                        mysql_error!(ER_AES_INVALID_KDF_ITERATIONS, "pbkdf2_hmac", least, most, least, most);
                    return Err(error.into());
                }
            },
        };
        Ok(Method::Pbkdf2 { salt, iterations })
    }

    /// The first bytes of what the method makes of a password.
    fn key(&self, cx: &mut Context<'_>, password: &[u8]) -> SqlResult<[u8; LONGEST_KEY]> {
        let output = match self {
            Method::Hkdf { salt, info } => {
                let mut extract = keyed(cx, salt)?;
                for piece in password.chunks(PIECE) {
                    cx.checkpoint(piece.len() * UNITS_A_BYTE)?;
                    extract.update(piece);
                }
                let mut expand = keyed(cx, &extract.finalize().into_bytes())?;
                expand.update(info);
                expand.update(&[1]);
                expand.finalize().into_bytes()
            }
            Method::Pbkdf2 { salt, iterations } => {
                let password = keyed(cx, password)?;
                let mut hash = password.clone();
                hash.update(salt);
                hash.update(&1_u32.to_be_bytes());
                let mut last = hash.finalize().into_bytes();
                let mut sum = last;
                for iteration in 1..*iterations {
                    if iteration % ITERATIONS_A_LOOK == 1 {
                        cx.checkpoint(ITERATIONS_A_LOOK as usize * UNITS_AN_ITERATION)?;
                    }
                    let mut hash = password.clone();
                    hash.update(&last);
                    last = hash.finalize().into_bytes();
                    sum.iter_mut().zip(&last).for_each(|(sum, byte)| *sum ^= byte);
                }
                sum
            }
        };
        let mut key = [0; LONGEST_KEY];
        key.iter_mut().zip(output).for_each(|(place, byte)| *place = byte);
        Ok(key)
    }
}

/// An option of a key derivation, empty if the call does not have it.
fn option(cx: &mut Context<'_>, given: Option<&Expr>, limit: usize) -> SqlAttempt<Bytes> {
    let Some(given) = given else { return Ok(Bytes::new()) };
    match argument(cx, given)? {
        Some(text) if text.len() < limit => Ok(text),
        _ => Err(mysql_error!(ER_AES_INVALID_KDF_OPTION_SIZE, limit).into()),
    }
}

/// The number that a short text begins with, after spaces and a sign; `None` if it is not positive.
fn leading_number(text: &[u8]) -> Option<u32> {
    let text = text.trim_ascii_start();
    let text = text.strip_prefix(b"+").unwrap_or(text);
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(text.get(..digits)?).ok()?.parse().ok()
}

/// HMAC of SHA-512 with a key of any length.
fn keyed(cx: &mut Context<'_>, key: &[u8]) -> SqlResult<Hmac<Sha512>> {
    /// Bytes of a block of SHA-512: a longer key stands for its digest.
    const HASH_BLOCK: usize = 128;
    let mut block = [0; HASH_BLOCK];
    if key.len() <= HASH_BLOCK {
        block.iter_mut().zip(key).for_each(|(place, byte)| *place = *byte);
    } else {
        let mut hasher = Sha512::new();
        for piece in key.chunks(PIECE) {
            cx.checkpoint(piece.len() * UNITS_A_BYTE)?;
            hasher.update(piece);
        }
        block.iter_mut().zip(hasher.finalize()).for_each(|(place, byte)| *place = byte);
    }
    Ok(<Hmac<Sha512> as hmac::digest::KeyInit>::new(&block.into()))
}
