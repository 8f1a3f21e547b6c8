//! What two strings of bytes have in common, eight bytes at a time, and a few bytes of one.

/// The `N` bytes of `bytes` at `at`, if it has so many there.
#[inline]
pub fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Option<&[u8; N]> {
    bytes.get(at..at.wrapping_add(N))?.first_chunk()
}

/// How many bytes at the front of `a` and `b` are equal.
#[inline]
pub fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let mut common = 0;
    for (x, y) in a.as_chunks().0.iter().zip(b.as_chunks().0) {
        let differing = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if differing != 0 {
            return common + differing.trailing_zeros() as usize / 8;
        }
        common += 8;
    }
    common + rest(a, common).iter().zip(rest(b, common)).take_while(|(x, y)| x == y).count()
}

/// How many bytes at the back of `a` and `b` are equal.
#[inline]
pub fn common_suffix(a: &[u8], b: &[u8]) -> usize {
    let mut common = 0;
    for (x, y) in a.as_rchunks().1.iter().rev().zip(b.as_rchunks().1.iter().rev()) {
        let differing = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if differing != 0 {
            return common + differing.leading_zeros() as usize / 8;
        }
        common += 8;
    }
    let (a, b) = (a.iter().rev().skip(common), b.iter().rev().skip(common));
    common + a.zip(b).take_while(|(x, y)| x == y).count()
}

/// What `old` and `new` have in common at the front, and behind that at the back: the lengths of both, in
/// bytes. What is between them is the difference.
#[inline]
pub fn common_ends(old: &[u8], new: &[u8]) -> (usize, usize) {
    let front = common_prefix(old, new);
    (front, common_suffix(rest(old, front), rest(new, front)))
}

fn rest(bytes: &[u8], from: usize) -> &[u8] {
    bytes.get(from..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prng::{Prng, test_seed};

    /// Against the same byte by byte: strings of few values, so that they have much in common.
    #[test]
    fn ends_are_those_found_byte_by_byte() {
        let mut random = Prng::new(test_seed(1));
        for _ in 0..if cfg!(miri) { 300 } else { 50_000 } {
            let longest = *random.pick(&[3, 9, 40]);
            let mut string =
                |most| (0..random.below(most)).map(|_| u8::from(random.one_in(9))).collect::<Vec<_>>();
            let (front, back) = (string(longest), string(longest));
            let (old, new) = (
                [&front, &string(longest)[..], &back].concat(),
                [&front, &string(longest)[..], &back].concat(),
            );
            let forwards = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
            let backwards = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
            let most = old.len().min(new.len()) - forwards;
            assert_eq!(common_prefix(&old, &new), forwards, "{old:?} {new:?}");
            assert_eq!(common_suffix(&old, &new), backwards, "{old:?} {new:?}");
            assert_eq!(common_ends(&old, &new), (forwards, backwards.min(most)), "{old:?} {new:?}");
        }
    }
}
