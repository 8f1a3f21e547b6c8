//! Mutations without a guide: seeds cut, spliced and sprinkled.

use palisade_base::prng::Prng;

/// A seed with one to four changes, at most `longest` bytes of it.
pub fn mutate(prng: &mut Prng, seeds: &[Vec<u8>], words: &[&str], longest: usize) -> Vec<u8> {
    let mut input = if seeds.is_empty() { Vec::new() } else { prng.pick(seeds).clone() };
    for _ in 0..=prng.below(4) {
        change(prng, &mut input, seeds, words);
    }
    input.truncate(longest);
    input
}

fn change(prng: &mut Prng, input: &mut Vec<u8>, seeds: &[Vec<u8>], words: &[&str]) {
    let at = prng.below(input.len() as u64 + 1) as usize;
    match prng.below(8) {
        0 => input.truncate(at),
        1 => drop(input.drain(..at)),
        2 => input.insert(at, prng.next_u64() as u8),
        3 => drop(input.drain(at..(at + prng.below(8) as usize).min(input.len()))),
        4 if !seeds.is_empty() => {
            let other = prng.pick(seeds);
            let from = prng.below(other.len() as u64 + 1) as usize;
            input.truncate(at);
            input.extend_from_slice(other.get(from..).unwrap_or_default());
        }
        5 if !words.is_empty() => drop(input.splice(at..at, prng.pick(words).bytes())),
        6 => {
            // A number at an interesting place: all ones, zero, or one bit.
            let bit = 1 << prng.below(64);
            let number = *prng.pick(&[0, u64::MAX, 1, bit, 0x7f, 0xffff]);
            let width = *prng.pick(&[1, 2, 4, 8]);
            for (byte, new) in input.iter_mut().skip(at).zip(number.to_le_bytes()).take(width) {
                *byte = new;
            }
        }
        _ => {
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << prng.below(8);
            }
        }
    }
}
