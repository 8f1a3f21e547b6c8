//! A decoder with a planted mistake, which the search must find.
//!
//! It is reached through eight nested comparisons of single bytes, so random inputs have one chance in 2^64,
//! and a search that sees which branches an input takes finds one byte after the other. If it is not found,
//! coverage does not reach the search and the other targets were searched blindly.

use crate::Target;

/// The target.
pub const TARGET: Target =
    Target { name: "canary", seeds: || vec![b"........".to_vec()], words: &[], longest: 16, run };

/// What the mistake is hidden behind.
pub const SECRET: &[u8; 8] = b"palisade";

/// How many bytes of the secret an input begins with. A loop of one comparison would be one branch: here each
/// byte has its own.
fn depth(input: &[u8]) -> usize {
    let [p, a, l, i, s, other_a, d, e, ..] = input else { return 0 };
    if *p != b'p' {
        return 0;
    }
    if *a != b'a' {
        return 1;
    }
    if *l != b'l' {
        return 2;
    }
    if *i != b'i' {
        return 3;
    }
    if *s != b's' {
        return 4;
    }
    if *other_a != b'a' {
        return 5;
    }
    if *d != b'd' {
        return 6;
    }
    if *e != b'e' {
        return 7;
    }
    8
}

fn run(input: &[u8]) {
    assert!(depth(std::hint::black_box(input)) < SECRET.len(), "the planted mistake");
}
