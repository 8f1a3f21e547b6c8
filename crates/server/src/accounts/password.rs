//! Passwords: what is kept of them, and what proves that a client knows one.
//!
//! | plugin | kept | proof of a client that got the scramble `s` |
//! |---|---|---|
//! | `caching_sha2_password` | `$A$005$` salt 20, SHA-256-crypt 43 | `SHA256(p) ^ SHA256(SHA256(SHA256(p)) s)` |
//! | `mysql_native_password` | `*` hex `SHA1(SHA1(p))` | `SHA1(p) ^ SHA1(s SHA1(SHA1(p)))` |
//!
//! The first plugin's proof can only be checked with `SHA256(SHA256(p))`, which is not kept but remembered in memory
//! after a login that sent the password itself, over a connection that nobody can read. The crypt is Ulrich Drepper's
//! SHA-crypt with five thousand rounds, as MySQL stores it; those of other servers may have more.

use sha1::Sha1;
use sha2::{Digest, Sha256};

/// How an account proves itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plugin {
    /// The default.
    CachingSha2,
    /// Of old clients.
    Native,
}

impl Plugin {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Plugin::CachingSha2 => palisade_protocol::handshake::CACHING_SHA2_PASSWORD,
            Plugin::Native => palisade_protocol::handshake::MYSQL_NATIVE_PASSWORD,
        }
    }

    /// The plugin of that name.
    pub fn named(name: &str) -> Option<Plugin> {
        [Plugin::CachingSha2, Plugin::Native]
            .into_iter()
            .find(|plugin| plugin.name().eq_ignore_ascii_case(name))
    }

    /// What is kept of `password`; `salt` is fresh random bytes.
    pub fn hash(self, password: &[u8], salt: [u8; SALT]) -> Vec<u8> {
        match (self, password) {
            (_, b"") => Vec::new(),
            (Plugin::Native, _) => native_hash(password),
            (Plugin::CachingSha2, _) => {
                let salt = salt.map(|byte| character(u32::from(byte)));
                let mut kept = PREFIX.to_vec();
                kept.extend_from_slice(&salt);
                kept.extend_from_slice(&sha256_crypt(password, &salt, 5000));
                kept
            }
        }
    }

    /// Whether `kept` is something that [`hash`](Self::hash) can have made.
    pub fn is_well_formed(self, kept: &[u8]) -> bool {
        match self {
            _ if kept.is_empty() => true,
            Plugin::Native => matches!(kept, [b'*', digits @ ..]
                if digits.len() == 40 && digits.iter().all(u8::is_ascii_hexdigit)),
            Plugin::CachingSha2 => crypt_of(kept).is_some_and(|(_, _, crypt)| {
                crypt.len() == CRYPT && crypt.iter().all(|byte| ALPHABET.contains(byte))
            }),
        }
    }

    /// Whether `password` is the one that `kept` was made from.
    pub fn matches(self, password: &[u8], kept: &[u8]) -> bool {
        if kept.is_empty() || password.is_empty() {
            return kept.is_empty() && password.is_empty();
        }
        match self {
            Plugin::Native => kept.eq_ignore_ascii_case(&native_hash(password)),
            Plugin::CachingSha2 => crypt_of(kept)
                .is_some_and(|(rounds, salt, crypt)| same(&sha256_crypt(password, salt, rounds), crypt)),
        }
    }
}

/// Rounds, salt and crypt of what is kept. Other servers may have made it with more than 5,000 rounds.
fn crypt_of(kept: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let (thousands, rest) = kept.strip_prefix(ALGORITHM)?.split_first_chunk::<3>()?;
    if !thousands.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let thousands = u32::from_str_radix(std::str::from_utf8(thousands).ok()?, 16).ok()?;
    let (salt, crypt) = rest.strip_prefix(b"$")?.split_at_checked(SALT)?;
    (LEAST_THOUSANDS..=MOST_THOUSANDS).contains(&thousands).then_some((thousands * 1000, salt, crypt))
}

/// What could be kept of a `caching_sha2_password` that no account has. It takes as many rounds as that of
/// `others` with the most: how long a login takes does not tell that there is no such account.
pub fn of_no_account<'a>(others: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let rounds = others.filter_map(|kept| crypt_of(kept).map(|(rounds, ..)| rounds)).max();
    let thousands = rounds.map_or(LEAST_THOUSANDS, |rounds| rounds / 1000);
    let mut kept = format!("$A${thousands:03X}$").into_bytes();
    kept.resize(PREFIX.len() + SALT + CRYPT, ALPHABET[0]);
    kept
}

/// Bytes of salt.
pub const SALT: usize = 20;
/// Characters of the crypt.
const CRYPT: usize = 43;
/// Which algorithm, and its thousands of rounds in hexadecimal.
const PREFIX: &[u8] = b"$A$005$";
/// Which algorithm.
const ALGORITHM: &[u8] = b"$A$";
/// MySQL's limits of `caching_sha2_password_digest_rounds`.
const LEAST_THOUSANDS: u32 = 5;
const MOST_THOUSANDS: u32 = 4095;
/// The characters of crypts, each standing for 6 bits.
const ALPHABET: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Compares in a time that does not tell where the difference is.
fn same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

fn native_hash(password: &[u8]) -> Vec<u8> {
    let digest = Sha1::digest(Sha1::digest(password));
    let hex: String = digest.iter().map(|byte| format!("{byte:02X}")).collect();
    format!("*{hex}").into_bytes()
}

/// Whether `proof` is that of a `mysql_native_password` client that knows the password behind `kept`.
pub fn native_proof_is_right(proof: &[u8], scramble: &[u8], kept: &[u8]) -> bool {
    let Ok(proof) = <[u8; 20]>::try_from(proof) else { return false };
    let Some(twice) = kept.strip_prefix(b"*").and_then(unhex) else { return false };
    let mask = Sha1::new().chain_update(scramble).chain_update(&twice).finalize();
    let once: Vec<u8> = proof.iter().zip(mask).map(|(byte, mask)| byte ^ mask).collect();
    same(&Sha1::digest(once), &twice)
}

fn unhex(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
    text.chunks(2).map(|pair| Some(digit(pair.first()?)? << 4 | digit(pair.get(1)?)?)).collect()
}

/// What is remembered of a password that was right: the hash of its hash.
pub fn remembered(password: &[u8]) -> [u8; 32] {
    Sha256::digest(Sha256::digest(password)).into()
}

/// Whether `proof` is that of a `caching_sha2_password` client that knows the password behind `remembered`.
pub fn sha2_proof_is_right(proof: &[u8], scramble: &[u8], remembered: &[u8; 32]) -> bool {
    let Ok(proof) = <[u8; 32]>::try_from(proof) else { return false };
    let mask = Sha256::new().chain_update(remembered).chain_update(scramble).finalize();
    let once: Vec<u8> = proof.iter().zip(mask).map(|(byte, mask)| byte ^ mask).collect();
    same(&Sha256::digest(once), remembered)
}

/// SHA-crypt with SHA-256, without its prefix.
fn sha256_crypt(password: &[u8], salt: &[u8], rounds: u32) -> [u8; CRYPT] {
    // "B" of the specification
    let inner = Sha256::new().chain_update(password).chain_update(salt).chain_update(password).finalize();
    let mut first = Sha256::new().chain_update(password).chain_update(salt);
    first.update(repeated(&inner, password.len()));
    let mut bits = password.len();
    while bits > 0 {
        if bits & 1 == 1 {
            first.update(inner);
        } else {
            first.update(password);
        }
        bits >>= 1;
    }
    let mut digest = first.finalize();
    let mut many = Sha256::new();
    for _ in 0..password.len() {
        many.update(password);
    }
    let passwords = repeated(&many.finalize(), password.len());
    let mut many = Sha256::new();
    for _ in 0..16 + digest.first().copied().map_or(0, usize::from) {
        many.update(salt);
    }
    let salts = repeated(&many.finalize(), salt.len());
    for round in 0..rounds {
        let mut next = Sha256::new();
        if round % 2 == 1 {
            next.update(&passwords)
        } else {
            next.update(digest)
        }
        if round % 3 != 0 {
            next.update(&salts);
        }
        if round % 7 != 0 {
            next.update(&passwords);
        }
        if round % 2 == 1 {
            next.update(digest)
        } else {
            next.update(&passwords)
        }
        digest = next.finalize();
    }
    let mut out = [0; CRYPT];
    let mut places = out.iter_mut();
    let byte = |at: usize| digest.get(at).copied().map_or(0, u32::from);
    for group in 0..10 {
        // bytes 0, 10 and 20 move on by 21 places from group to group, around 30
        let [a, b, c] = [0, 10, 20].map(|start| (start + 21 * group) % 30);
        let bits = byte(a) << 16 | byte(b) << 8 | byte(c);
        places.by_ref().take(4).enumerate().for_each(|(at, place)| *place = character(bits >> (6 * at)));
    }
    let bits = byte(31) << 8 | byte(30);
    places.enumerate().for_each(|(at, place)| *place = character(bits >> (6 * at)));
    out
}

/// The character of the low six bits.
#[expect(clippy::indexing_slicing, reason = "there is a character for each value of six bits")]
fn character(bits: u32) -> u8 {
    ALPHABET[(bits & 63) as usize]
}

/// `digest` over and over, `length` bytes of it.
fn repeated(digest: &[u8], length: usize) -> Vec<u8> {
    digest.iter().copied().cycle().take(length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crypt_is_that_of_the_specification() {
        // as `openssl passwd -5` prints them
        assert_eq!(
            sha256_crypt(b"Hello world!", b"saltstring", 5000),
            *b"5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"
        );
        let long = b"a much longer password than 32 bytes, to be repeated";
        assert_eq!(
            sha256_crypt(long, b"abcdefghijklmnop", 5000),
            *b".qyr/mAINAWqMX1MFtL7SRPNK9rk.XZnODz2kFJKLE8"
        );
    }

    #[test]
    fn what_is_kept_of_a_password_matches_it_only() {
        for plugin in [Plugin::CachingSha2, Plugin::Native] {
            let kept = plugin.hash(b"secret", [7; SALT]);
            assert!(plugin.is_well_formed(&kept), "{}", kept.escape_ascii());
            assert!(plugin.matches(b"secret", &kept));
            assert!(!plugin.matches(b"Secret", &kept));
            assert!(!plugin.matches(b"", &kept));
            let none = plugin.hash(b"", [7; SALT]);
            assert!(none.is_empty() && plugin.matches(b"", &none) && !plugin.matches(b"x", &none));
            assert!(!plugin.is_well_formed(&kept[1..]));
        }
        // made by MySQL 9.7, which takes 10,000 rounds
        let mysql = [
            &b"$A$00A$"[..],
            b"\x18+\x22\x1c\x04\x03\x05\x18MAsI%'\x15J*p\x03K",
            b"b6Bgo0UPCqgo1zh7QAQCtAGwwf/fskmqc7zGeT1adh5",
        ]
        .concat();
        assert!(Plugin::CachingSha2.is_well_formed(&mysql) && Plugin::CachingSha2.matches(b"secret", &mysql));
        assert!(!Plugin::CachingSha2.matches(b"Secret", &mysql));
        let others = [&mysql[..], &Plugin::CachingSha2.hash(b"x", [7; SALT]), b"*14E6", b""];
        assert!(of_no_account(others.into_iter()).starts_with(b"$A$00A$"));
        assert!(of_no_account(std::iter::empty()).starts_with(PREFIX));
        for rounds in ["004", "FFG", "+0A", ""] {
            let kept = [b"$A$", rounds.as_bytes(), &mysql[6..]].concat();
            assert!(!Plugin::CachingSha2.is_well_formed(&kept), "{rounds}");
        }
        let golden = b"*14E65567ABDB5135D0CFD9A70B3032C179A49EE7".to_vec();
        assert_eq!(Plugin::Native.hash(b"secret", [0; SALT]), golden);
    }

    #[test]
    fn proofs_are_right_for_one_scramble_and_one_password() {
        let scramble = b"abcdefghijklmnopqrst";
        let xor = |a: &[u8], b: &[u8]| a.iter().zip(b).map(|(a, b)| a ^ b).collect::<Vec<u8>>();
        let once = Sha1::digest(b"secret");
        let mask = Sha1::new().chain_update(scramble).chain_update(Sha1::digest(once)).finalize();
        let proof = xor(&once, &mask);
        let kept = Plugin::Native.hash(b"secret", [0; SALT]);
        assert!(native_proof_is_right(&proof, scramble, &kept));
        assert!(!native_proof_is_right(&proof, b"ABCDEFGHIJKLMNOPQRST", &kept));
        assert!(!native_proof_is_right(&proof, scramble, &Plugin::Native.hash(b"other", [0; SALT])));
        assert!(!native_proof_is_right(b"", scramble, &kept));
        let once = Sha256::digest(b"secret");
        let known = remembered(b"secret");
        let mask = Sha256::new().chain_update(known).chain_update(scramble).finalize();
        let proof = xor(&once, &mask);
        assert!(sha2_proof_is_right(&proof, scramble, &known));
        assert!(!sha2_proof_is_right(&proof, scramble, &remembered(b"other")));
        assert!(!sha2_proof_is_right(&proof[1..], scramble, &known));
    }
}
