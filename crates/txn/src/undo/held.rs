//! Locks as bytes: what a Locks record says.
//!
//! ```text
//! | flags u8 | index | key |          a row or entry          flags: bit 0: exclusive; bit 1: a range;
//! | flags u8 | index | from | to |    a range of keys                bits 2, 3: it begins, ends after its key;
//! ...                                                                bit 4: it ends after all keys, and has no `to`
//! ```
//!
//! No entry has a key longer than [`max_key`], but a condition may have named one. A range that begins or
//! ends there is written as one that does so right behind the first `max_key` bytes: no entry lies in
//! between, and none ever will.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use palisade_base::codec::{Reader, Truncated, put_bytes, put_varint};
use palisade_btree::layout::max_key;
use palisade_buffer::PageSize;

use crate::locks::Mode;
use crate::locks::listing::Locked;
use crate::locks::ranges::Cut;
use crate::undo::record::max_locks;

/// A lock that somebody has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeldLock {
    /// The index.
    pub(crate) index: u64,
    /// Shared or exclusive.
    pub(crate) mode: Mode,
    /// What of the index.
    pub(crate) what: Locked,
}

/// Not shared.
pub(crate) const EXCLUSIVE: u8 = 1;
/// Of a range, not of an entry.
pub(crate) const RANGE: u8 = 2;
/// It begins behind its key.
pub(crate) const FROM_AFTER: u8 = 4;
/// It ends behind its key.
pub(crate) const TO_AFTER: u8 = 8;
/// It ends behind all keys.
pub(crate) const TO_END: u8 = 16;
const ALL_FLAGS: u8 = EXCLUSIVE | RANGE | FROM_AFTER | TO_AFTER | TO_END;

/// Most bytes of a lock: flags, an index, and two keys with their lengths.
const fn max_lock(size: PageSize) -> usize {
    1 + 10 + 2 * (2 + max_key(size.bytes()))
}

const fn check_locks(size: PageSize) {
    assert!(max_lock(size) <= max_locks(size) && max_key(size.bytes()) < 1 << 14);
}

const _: () = {
    let [a, b, c, d, e] = PageSize::ALL;
    check_locks(a);
    check_locks(b);
    check_locks(c);
    check_locks(d);
    check_locks(e);
};

/// Byte strings of at most [`max_locks`] bytes that say what the locks are.
pub(crate) fn pack(size: PageSize, locks: impl IntoIterator<Item = HeldLock>) -> Vec<Vec<u8>> {
    let (most, longest) = (max_locks(size), max_key(size.bytes()));
    let mut parts: Vec<Vec<u8>> = Vec::new();
    let mut bytes = Vec::new();
    for lock in locks {
        bytes.clear();
        put(&mut bytes, lock, longest);
        match parts.last_mut() {
            Some(part) if part.len() + bytes.len() <= most => part.extend_from_slice(&bytes),
            _ if bytes.is_empty() => {}
            _ => parts.push(bytes.clone()),
        }
    }
    parts
}

fn put(out: &mut Vec<u8>, lock: HeldLock, longest: usize) {
    let exclusive = if lock.mode == Mode::Exclusive { EXCLUSIVE } else { 0 };
    match lock.what {
        // A key of which there can be no entry.
        Locked::Key(key) if key.len() > longest => {}
        Locked::Key(key) => {
            out.push(exclusive);
            put_varint(out, lock.index);
            put_bytes(out, &key);
        }
        Locked::Range(from, to) => {
            let (from, to) = (storable(from, longest), storable(to, longest));
            let Cut::At { key, after } = &from else { return };
            if from >= to {
                return;
            }
            let from_after = if *after { FROM_AFTER } else { 0 };
            let to_flags = match &to {
                Cut::At { after: true, .. } => TO_AFTER,
                Cut::At { after: false, .. } => 0,
                Cut::End => TO_END,
            };
            out.push(exclusive | RANGE | from_after | to_flags);
            put_varint(out, lock.index);
            put_bytes(out, key);
            if let Cut::At { key, .. } = &to {
                put_bytes(out, key);
            }
        }
    }
}

/// The cut among the entries that there can be.
fn storable(cut: Cut, longest: usize) -> Cut {
    match cut {
        Cut::At { ref key, .. } => match key.get(..longest) {
            Some(front) if key.len() > longest => Cut::after(front),
            _ => cut,
        },
        Cut::End => cut,
    }
}

/// The locks that a byte string speaks of. Never panics.
pub(crate) fn unpack(bytes: &[u8]) -> Result<Vec<HeldLock>, Truncated> {
    let mut reader = Reader::new(bytes);
    let mut locks = Vec::new();
    while !reader.is_empty() {
        let flags = reader.u8()?;
        if flags & !ALL_FLAGS != 0 {
            return Err(Truncated);
        }
        let mode = if flags & EXCLUSIVE != 0 { Mode::Exclusive } else { Mode::Shared };
        let index = reader.varint()?;
        let key = reader.prefixed_bytes()?;
        let what = if flags & RANGE == 0 {
            Locked::Key(key.into())
        } else {
            let cut = |key: &[u8], after| Cut::At { key: key.into(), after };
            let from = cut(key, flags & FROM_AFTER != 0);
            let to = match flags & TO_END {
                0 => cut(reader.prefixed_bytes()?, flags & TO_AFTER != 0),
                _ => Cut::End,
            };
            if from >= to {
                return Err(Truncated);
            }
            Locked::Range(from, to)
        };
        locks.push(HeldLock { index, mode, what });
    }
    Ok(locks)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use palisade_base::prng::{Prng, test_seed};

    use super::*;

    const SIZE: PageSize = PageSize::DEFAULT;
    const MAX_KEY: usize = max_key(SIZE.bytes());

    fn random_cut(prng: &mut Prng) -> Cut {
        match prng.below(8) {
            0 => Cut::End,
            1 => Cut::start(),
            kind => {
                let mut key = vec![0; prng.below(if kind == 2 { MAX_KEY as u64 + 1 } else { 12 }) as usize];
                prng.fill(&mut key);
                Cut::At { key: key.into(), after: prng.one_in(2) }
            }
        }
    }

    fn random_lock(prng: &mut Prng) -> HeldLock {
        let mode = if prng.one_in(2) { Mode::Shared } else { Mode::Exclusive };
        let (from, to) = (random_cut(prng), random_cut(prng));
        let what = match (from.cmp(&to), from) {
            (std::cmp::Ordering::Less, from) => Locked::Range(from, to),
            (_, Cut::At { key, .. }) => Locked::Key(key[..].into()),
            (_, Cut::End) => Locked::Range(Cut::start(), Cut::End),
        };
        HeldLock { index: prng.next_u64() >> prng.below(64), mode, what }
    }

    #[test]
    fn locks_round_trip_in_parts_that_fit_a_record() {
        let mut prng = Prng::new(test_seed(31));
        for _ in 0..200 {
            let count = prng.below(40);
            let locks: Vec<_> = (0..count).map(|_| random_lock(&mut prng)).collect();
            let parts = pack(SIZE, locks.clone());
            assert!(parts.iter().all(|part| !part.is_empty() && part.len() <= max_locks(SIZE)));
            let read: Vec<_> = parts.iter().flat_map(|part| unpack(part).unwrap()).collect();
            assert_eq!(read, locks);
        }
        assert!(pack(SIZE, []).is_empty());
    }

    #[test]
    fn the_longest_lock_fits_a_record() {
        let range = Locked::Range(Cut::after(&[1; MAX_KEY]), Cut::after(&[2; MAX_KEY]));
        let lock = HeldLock { index: u64::MAX, mode: Mode::Shared, what: range };
        let parts = pack(SIZE, [lock.clone()]);
        assert_eq!(parts[0].len(), max_lock(SIZE));
        assert_eq!(unpack(&parts[0]), Ok(vec![lock]));
    }

    /// Whether a key is in a range.
    fn holds(what: &Locked, key: &[u8]) -> bool {
        match what {
            Locked::Key(locked) => **locked == *key,
            Locked::Range(from, to) => *from <= Cut::before(key) && Cut::after(key) <= *to,
        }
    }

    #[test]
    fn a_range_up_to_a_key_that_cannot_be_holds_the_same_entries() {
        let near = |last: &[u8]| [&[5; MAX_KEY - 1], last].concat();
        let keys = [near(&[]), near(&[5]), near(&[6]), vec![5], vec![6], vec![]];
        for bound in [near(&[5, 0]), near(&[5, 5, 5])] {
            for (from, to) in [
                (Cut::start(), Cut::before(&bound)),
                (Cut::start(), Cut::after(&bound)),
                (Cut::before(&bound), Cut::End),
                (Cut::after(&bound), Cut::End),
                (Cut::before(&bound), Cut::after(&bound)),
            ] {
                let what = Locked::Range(from, to);
                let parts = pack(SIZE, [HeldLock { index: 1, mode: Mode::Shared, what: what.clone() }]);
                let read: Vec<_> = parts.iter().flat_map(|part| unpack(part).unwrap()).collect();
                for key in &keys {
                    let is_held = read.iter().any(|lock| holds(&lock.what, key));
                    assert_eq!(is_held, holds(&what, key), "{} bytes", key.len());
                }
            }
        }
    }

    #[test]
    fn garbage_is_an_error_or_locks_but_no_panic() {
        let mut prng = Prng::new(test_seed(32));
        let (mut errors, mut read) = (0, 0);
        for _ in 0..20_000 {
            let mut bytes = vec![0; prng.below(40) as usize];
            prng.fill(&mut bytes);
            if let Some(flags) = bytes.first_mut().filter(|_| prng.one_in(2)) {
                *flags &= ALL_FLAGS;
            }
            match unpack(&bytes) {
                Ok(_) => read += 1,
                Err(Truncated) => errors += 1,
            }
        }
        assert!(errors > 0 && read > 0, "{errors} {read}");
    }
}
