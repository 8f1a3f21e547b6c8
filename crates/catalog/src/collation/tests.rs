//! Known MySQL results, and random texts: compare, sort key, hash and LIKE must tell the same story.

use palisade_base::prng::{Prng, test_seed};

use super::*;

fn by_name(name: &str) -> &'static Collation {
    Collation::by_name(name).unwrap()
}

#[test]
fn names_and_numbers() {
    for collation in Collation::all() {
        assert!(std::ptr::eq(Collation::by_id(collation.id).unwrap(), collation));
        assert!(std::ptr::eq(by_name(&collation.name.to_uppercase()), collation));
    }
    assert!(COLLATIONS.windows(2).all(|pair| pair[0].id < pair[1].id));
    assert_eq!(by_name("utf8_general_ci").id, CollationId::UTF8MB3_GENERAL_CI);
    assert!(Collation::by_name("utf8é").is_none());
    assert!(Collation::by_id(CollationId(9999)).is_none());
    assert_eq!(Collation::default_of(Charset::Utf8mb4).name, "utf8mb4_0900_ai_ci");
    assert_eq!(Collation::default_of(Charset::Latin1).name, "latin1_swedish_ci");
    assert_eq!(Collation::binary_of(Charset::Utf8mb4).name, "utf8mb4_bin");
}

#[test]
fn known_comparisons() {
    use Ordering::{Equal, Greater, Less};
    for (name, left, right, expected) in [
        ("utf8mb4_0900_ai_ci", "a", "A", Equal),
        ("utf8mb4_0900_ai_ci", "résumé", "RESUME", Equal),
        ("utf8mb4_0900_ai_ci", "a", "a ", Less),
        ("utf8mb4_0900_ai_ci", "straße", "STRASSE", Equal),
        ("utf8mb4_0900_ai_ci", "a-b", "ab", Less),
        ("utf8mb4_0900_ai_ci", "z", "é", Greater),
        ("utf8mb4_0900_ai_ci", "一", "丁", Less),
        ("utf8mb4_0900_ai_ci", "ア", "あ", Equal),
        ("utf8mb4_general_ci", "ß", "s", Equal),
        ("utf8mb4_general_ci", "ß", "ss", Less),
        ("utf8mb4_general_ci", "a", "a  ", Equal),
        ("utf8mb4_general_ci", "a", "a\t", Greater),
        ("utf8mb4_general_ci", "É", "e", Equal),
        ("utf8mb4_bin", "a", "A", Greater),
        ("utf8mb4_bin", "a", "a ", Equal),
        ("utf8mb4_0900_bin", "a", "a ", Less),
        ("latin1_bin", "a", "a ", Equal),
        ("binary", "a", "a ", Less),
        ("ascii_general_ci", "abc", "ABC ", Equal),
        ("utf8mb4_unicode_ci", "É", "e ", Equal),
    ] {
        assert_eq!(
            by_name(name).compare(left.as_bytes(), right.as_bytes()),
            expected,
            "{name}: {left:?} {right:?}"
        );
    }
    assert_eq!(by_name("latin1_swedish_ci").compare(b"\xfc", b"Y"), Equal);
}

fn random_text(prng: &mut Prng, charset: Charset, other: Option<&[u8]>) -> Vec<u8> {
    let mut out = match other {
        Some(other) if prng.one_in(2) => {
            let cut = prng.below(other.len() as u64 + 1) as usize;
            other[..charset.prefix_len(other, cut)].to_vec()
        }
        _ => Vec::new(),
    };
    for _ in 0..prng.below(5) {
        let character = match prng.below(6) {
            0 | 1 => *prng.pick(&[' ', 'a', 'A', 'b', '\t', '\0', '\u{1}', 'z', '!']),
            2 => *prng.pick(&['ä', 'ß', 'æ', 'é', '\u{301}', 'Ü', 'ÿ', '€']),
            3 => *prng.pick(&['한', '一', '😀', '\u{fdfa}', '\u{10ffff}', '\u{ffff}', '\u{2000}', 'ก', 'เ']),
            4 => char::from(prng.below(128) as u8),
            _ => char::from_u32(prng.below(0x11_0000) as u32).unwrap_or(' '),
        };
        if !charset.encode(character, &mut out) {
            out.push(b' ');
        }
    }
    if prng.one_in(20) {
        out.extend(std::iter::repeat_n(b' ', prng.below(600) as usize));
        out.push(*prng.pick(b" \ta"));
    }
    if prng.one_in(10) {
        let mut garbage = [0; 3];
        prng.fill(&mut garbage);
        out.extend_from_slice(&garbage);
    }
    out
}

fn hash_of(collation: &Collation, text: &[u8]) -> u64 {
    let mut state = std::hash::DefaultHasher::new();
    collation.hash(text, &mut state);
    state.finish()
}

/// The definition, spelled out: the weights of each level, padded to the same length.
fn reference(collation: &Collation, left: &[u8], right: &[u8]) -> Ordering {
    let weights = |text| -> Vec<Vec<u16>> { collation.levels(text).map(Iterator::collect).collect() };
    let (mut left, mut right) = (weights(left), weights(right));
    if let Some(pad) = collation.pad() {
        let length = left[0].len().max(right[0].len());
        left[0].resize(length, pad);
        right[0].resize(length, pad);
    }
    left.cmp(&right)
}

/// What MySQL's WEIGHT_STRING() gave for texts of random characters, recorded by tools/record_collations.py.
#[test]
fn weights_are_those_mysql_gave() {
    let mut rest: &[u8] = include_bytes!("samples.bin");
    let mut take = |count: usize| {
        let (taken, after) = rest.split_at(count.min(rest.len()));
        rest = after;
        taken
    };
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte));
    let (mut compared, mut wrong) = (0, Vec::new());
    while let [length] = take(1) {
        let name = str::from_utf8(take(usize::from(*length))).unwrap().to_owned();
        let collation = Collation::by_name(&name);
        // All of MySQL's names are in the samples: each is here, or refused as missing.
        assert_ne!(collation.is_some(), crate::charset::is_missing(&name), "{name}");
        for _ in 0..number(take(2)) {
            let length = number(take(1)) as usize;
            let text = take(length).to_vec();
            let expected = number(take(4));
            // MySQL shows three bytes a character of the _bin collations of Unicode, and compares the same.
            let Some(collation) =
                collation.filter(|known| !known.is_binary_order() || known.charset.max_bytes() == 1)
            else {
                continue;
            };
            let ours = collation.weight_string(&text, usize::MAX, &mut |_| true).unwrap();
            compared += 1;
            if crc32(&ours) != expected {
                wrong.push(format!("{name}: {text:x?} {:?}: {ours:x?}", String::from_utf8_lossy(&text)));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
    assert!(compared > 10_000);
}

/// CRC-32 as zlib has it.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    })
}

#[test]
fn compare_sort_key_and_hash_agree() {
    let mut prng = Prng::new(test_seed(31));
    for collation in Collation::all() {
        for _ in 0..250 {
            let left = random_text(&mut prng, collation.charset, None);
            let right = random_text(&mut prng, collation.charset, Some(&left));
            let about = format!("{}: {left:x?} {right:x?}", collation.name);
            let expected = reference(collation, &left, &right);
            assert_eq!(collation.compare(&left, &right), expected, "{about}");
            assert_eq!(collation.compare(&right, &left), expected.reverse(), "{about}");
            assert_eq!(collation.equal(&left, &right), expected == Ordering::Equal, "{about}");
            let prefixes = collation.order_prefix(&left).cmp(&collation.order_prefix(&right));
            assert!(prefixes == expected || prefixes == Ordering::Equal, "{about}");
            let (mut x, mut y) = (Vec::new(), Vec::new());
            collation.sort_key(&left, &mut x);
            collation.sort_key(&right, &mut y);
            assert_eq!(x.cmp(&y), expected, "{about}");
            // The keys delimit themselves: what follows decides only between equal texts.
            assert_eq!(x == y, x.starts_with(&y) || y.starts_with(&x), "{about}");
            assert_eq!(collation.sort_key_len(&x, 0), Some(x.len()), "{about}");
            let inverted: Vec<u8> = x.iter().map(|byte| !byte).chain([1, 2]).collect();
            assert_eq!(collation.sort_key_len(&inverted, 0xff), Some(x.len()), "{about}");
            if expected == Ordering::Equal {
                assert_eq!(hash_of(collation, &left), hash_of(collation, &right), "{about}");
            }
            if collation.is_decodable() {
                let mut back = Vec::new();
                assert_eq!(collation.decode_sort_key(&x, 0, &mut back), Some(x.len()));
                let kept = if collation.pad_space { without_spaces(&left) } else { &left };
                assert_eq!(back, kept, "{about}");
            }
            let cut = collation.charset.prefix_len(&left, prng.below(4) as usize);
            let mut prefix = Vec::new();
            collation.sort_key_prefix(&left[..cut], &mut prefix);
            if collation.charset.valid_len(&left) == left.len() {
                assert!(x.starts_with(&prefix), "{about} cut at {cut}");
            }
        }
    }
}

#[test]
fn garbage_is_no_sort_key_and_no_panic() {
    let mut prng = Prng::new(test_seed(32));
    for collation in Collation::all() {
        for _ in 0..300 {
            let mut bytes = vec![0; prng.below(20) as usize];
            prng.fill(&mut bytes);
            bytes.iter_mut().for_each(|byte| *byte >>= prng.below(8));
            let length = collation.sort_key_len(&bytes, 0);
            assert!(length.is_none_or(|length| length <= bytes.len()));
            let _ = collation.decode_sort_key(&bytes, 0, &mut Vec::new());
        }
    }
}

#[test]
fn like_as_mysql_does() {
    for (name, text, pattern, expected) in [
        ("utf8mb4_0900_ai_ci", "David!", "David_", true),
        ("utf8mb4_0900_ai_ci", "David!", "%D%v%", true),
        ("utf8mb4_0900_ai_ci", "David_", "David\\_", true),
        ("utf8mb4_0900_ai_ci", "David!", "David\\_", false),
        ("utf8mb4_0900_ai_ci", "ÄBC", "a%", true),
        ("utf8mb4_0900_ai_ci", "ä", "ae", false),
        ("utf8mb4_0900_ai_ci", "日本語", "_本_", true),
        ("utf8mb4_0900_ai_ci", "a", "a ", false),
        ("utf8mb4_general_ci", "a ", "a", false),
        ("utf8mb4_bin", "abc", "A%", false),
        ("utf8mb4_bin", "é", "_", true),
        ("binary", "é", "_", false),
        ("binary", "é", "__", true),
        ("latin1_swedish_ci", "ABCabc", "%abcabc", true),
        ("utf8mb4_bin", "aaab", "%a%ab", true),
        ("utf8mb4_bin", "aaab", "%b%a", false),
        ("utf8mb4_bin", "", "%", true),
        ("utf8mb4_bin", "", "", true),
        ("utf8mb4_bin", "", "_", false),
        ("utf8mb4_bin", "a\\", "a\\", true),
        ("utf8mb4_bin", "mississippi", "%iss%ip%i", true),
    ] {
        assert_eq!(
            by_name(name).like(text.as_bytes(), pattern.as_bytes(), b"\\"),
            expected,
            "{text:?} LIKE {pattern:?}"
        );
    }
    assert!(by_name("utf8mb4_bin").like(b"10%", b"10|%", b"|"));
    assert!(by_name("utf8mb4_bin").like(b"a\\b", b"a\\b", b""));
}

/// The definition of LIKE, recursively, on ASCII.
fn like_reference(text: &[u8], pattern: &[u8]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some((b'%', rest)) => (0..=text.len()).any(|skip| like_reference(&text[skip..], rest)),
        Some((b'_', rest)) => !text.is_empty() && like_reference(&text[1..], rest),
        Some((c, rest)) => text.first() == Some(c) && like_reference(&text[1..], rest),
    }
}

#[test]
fn like_agrees_with_its_definition() {
    let mut prng = Prng::new(test_seed(33));
    let collation = by_name("utf8mb4_bin");
    for _ in 0..20_000 {
        let text: Vec<u8> = (0..prng.below(8)).map(|_| *prng.pick(b"ab")).collect();
        let pattern: Vec<u8> = (0..prng.below(7)).map(|_| *prng.pick(b"ab%_%")).collect();
        assert_eq!(
            collation.like(&text, &pattern, b"\\"),
            like_reference(&text, &pattern),
            "{text:?} {pattern:?}"
        );
        let prefix = collation.like_prefix(&pattern, b"\\");
        if collation.like(&text, &pattern, b"\\") {
            assert!(text.starts_with(&prefix.literal));
        }
        if prefix.rest == LikeRest::Anything {
            assert_eq!(collation.like(&text, &pattern, b"\\"), text.starts_with(&prefix.literal));
        }
    }
}

#[test]
fn case_and_search() {
    let upper = |name: &str, text: &[u8]| {
        let mut out = Vec::new();
        by_name(name).to_upper(text, &mut out);
        out
    };
    let lower = |name: &str, text: &[u8]| {
        let mut out = Vec::new();
        by_name(name).to_lower(text, &mut out);
        out
    };
    assert_eq!(upper("utf8mb4_0900_ai_ci", "straße é".as_bytes()), "STRAßE É".as_bytes());
    assert_eq!(lower("utf8mb4_0900_ai_ci", "ÄÖÜ İ".as_bytes()), "äöü i".as_bytes());
    assert_eq!(upper("latin1_swedish_ci", b"\xe4\xdf\xff\xf7"), b"\xc4\xdf\xff\xf7");
    assert_eq!(lower("latin1_swedish_ci", b"\xc4\xd7Z"), b"\xe4\xd7z");
    assert_eq!(upper("binary", b"abc"), b"abc");
    assert_eq!(upper("utf8mb4_bin", b"a\xffb"), b"A\xffB");
    let ci = by_name("utf8mb4_0900_ai_ci");
    assert_eq!(ci.find("xÄb".as_bytes(), b"AB", 0), Some(1));
    assert_eq!(ci.find(b"foobarbar", b"bar", 4), Some(6));
    assert_eq!(ci.find(b"abc", b"", 1), Some(1));
    assert_eq!(ci.find(b"abc", b"", 3), Some(3));
    assert_eq!(ci.find(b"abc", b"", 4), None);
    assert_eq!(ci.find(b"abc", b"abcd", 0), None);
    // Weights decide, not characters: what has none is passed over, and letters may be one.
    assert_eq!(ci.find("xe\u{301}y".as_bytes(), b"ey", 0), Some(1));
    assert_eq!(ci.find(b"xe", "\u{301}".as_bytes(), 0), Some(0));
    assert_eq!(ci.find(b"xe", "\u{301}".as_bytes(), 2), None);
    assert_eq!(ci.find("xß".as_bytes(), b"ss", 0), Some(1));
    let czech = by_name("utf8mb4_cs_0900_as_cs");
    assert_eq!(czech.find(b"chc", b"c", 0), Some(2));
    assert_eq!(czech.find(b"xch", b"ch", 0), Some(1));
    assert_eq!(czech.find(b"xch", b"Ch", 0), None);
    let danish = by_name("utf8mb4_da_0900_ai_ci");
    assert_eq!(danish.find(b"aaa", b"a", 0), Some(2));
    assert_eq!(danish.find(b"xaa", "å".as_bytes(), 0), Some(1));
}

/// Of a long text the weights are made in pieces, between which they can be given up.
#[test]
fn weights_end_where_they_are_too_long_or_not_wanted() {
    for collation in [CollationId::UTF8MB4_0900_AI_CI, CollationId::UTF8MB4_BIN].map(CollationId::get) {
        let text = "x".repeat(100_000);
        let mut asked = 0;
        let whole = collation.weight_string(text.as_bytes(), usize::MAX, &mut |_| {
            asked += 1;
            true
        });
        let whole = whole.unwrap();
        assert!(asked > 5, "{asked}");
        assert_eq!(collation.weight_string(text.as_bytes(), whole.len(), &mut |_| true), Some(whole.clone()));
        assert_eq!(collation.weight_string(text.as_bytes(), whole.len() - 1, &mut |_| true), None);
    }
    let uca = CollationId::UTF8MB4_0900_AI_CI.get();
    assert_eq!(uca.weight_string("x".repeat(100_000).as_bytes(), usize::MAX, &mut |_| false), None);
}

#[test]
fn a_common_beginning_does_not_matter() {
    let mut random = Prng::new(test_seed(41));
    let letters = ["a", "A", "b", "c", "h", "ch", "\u{e9}", "\u{df}", " ", "\u{1f600}", "\u{1f601}"];
    for _ in 0..3_000 {
        let collation = &COLLATIONS[random.below(COLLATIONS.len() as u64) as usize];
        let mut text = |most: u64| -> String {
            (0..random.below(most)).map(|_| letters[random.below(letters.len() as u64) as usize]).collect()
        };
        let begin = text(4);
        let texts = [begin.clone() + &text(4), begin.clone() + &text(4), begin + &text(4)];
        let texts = texts.map(String::into_bytes);
        let mut common = texts[0].len();
        for text in &texts {
            common = common.min(collation.common_beginning(&texts[0], text));
        }
        for left in &texts {
            for right in &texts {
                let order = collation.compare(left, right);
                assert_eq!(collation.compare(&left[common..], &right[common..]), order, "{}", collation.name);
                let numbers =
                    collation.order_prefix(&left[common..]).cmp(&collation.order_prefix(&right[common..]));
                assert!(numbers.is_eq() || numbers == order, "{}", collation.name);
            }
        }
    }
}
