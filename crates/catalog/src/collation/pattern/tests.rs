use std::convert::Infallible;

use palisade_base::prng::{Prng, test_seed};

use super::*;

fn matches(pattern: &Pattern, text: &[u8]) -> bool {
    pattern.matches(text, |_| Ok::<(), Infallible>(())).unwrap()
}

#[test]
fn it_matches_as_like_does() {
    let mut random = Prng::new(test_seed(77));
    let collations = [
        "utf8mb4_0900_ai_ci",
        "utf8mb4_unicode_ci",
        "utf8mb4_general_ci",
        "utf8mb4_bin",
        "latin1_swedish_ci",
        "latin1_german2_ci",
        "latin1_bin",
        "binary",
    ];
    let letters = ["a", "A", "b", "c", "\u{e9}", " ", "\\", "1", "\u{df}"];
    let wild = ["a", "B", "c", "%", "%", "_", "\\%", "\\", "e", "\u{e9}", "|", "1"];
    for _ in 0..20_000 {
        let collation =
            Collation::by_name(collations[random.below(collations.len() as u64) as usize]).unwrap();
        let mut word = |letters: &[&str], most: u64| -> String {
            (0..random.below(most)).map(|_| letters[random.below(letters.len() as u64) as usize]).collect()
        };
        let (text, pattern) = (word(&letters, 9), word(&wild, 7));
        let (mut text, mut pattern) = (text.into_bytes(), pattern.into_bytes());
        if !collation.charset.is_utf8() && collation.name != "binary" {
            text = String::from_utf8(text).unwrap().chars().map(|c| c as u8).collect();
            pattern = String::from_utf8(pattern).unwrap().chars().map(|c| c as u8).collect();
        }
        let escape: &[u8] = if random.below(4) == 0 { b"|" } else { b"\\" };
        let ready = Pattern::new(collation, &pattern, escape);
        let expected = collation.like(&text, &pattern, escape);
        assert_eq!(
            matches(&ready, &text),
            expected,
            "{} {:?} LIKE {:?}",
            collation.name,
            text.escape_ascii().to_string(),
            pattern.escape_ascii().to_string()
        );
    }
}

#[test]
fn a_long_pattern_and_a_long_text_are_left_to_like() {
    let collation = Collation::by_name("utf8mb4_0900_ai_ci").unwrap();
    assert!(Pattern::new(collation, &b"a_".repeat(40), b"").parts.is_none());
    let pattern = Pattern::new(collation, b"%B%", b"");
    let mut counted = 0;
    let text = vec![b'a'; PIECE + 1];
    let found = pattern.matches(&text, |units| {
        counted += units;
        Ok::<(), Infallible>(())
    });
    assert!(!found.unwrap() && counted > 0);
}
