//! Weights of the collations with one byte per character.

/// The weight of a byte.
#[expect(clippy::indexing_slicing, reason = "the table has an entry for each value of a byte")]
pub(super) fn weight(table: &[u8; 256], byte: u8) -> u16 {
    u16::from(table[usize::from(byte)])
}

/// Every byte weighs itself.
#[expect(clippy::indexing_slicing, reason = "run by the compiler, for which a panic is an error")]
pub(super) static IDENTITY: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = byte as u8;
        byte += 1;
    }
    table
};

/// ascii_general_ci: lower case weighs as upper case.
pub(super) static ASCII_CI: [u8; 256] = upper_case_ascii();

#[expect(clippy::indexing_slicing, reason = "run by the compiler, for which a panic is an error")]
const fn upper_case_ascii() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).to_ascii_uppercase();
        byte += 1;
    }
    table
}

/// ASCII without regard to case, and these weights of the bytes from 0x80.
#[expect(clippy::indexing_slicing, reason = "run by the compiler, for which a panic is an error")]
const fn with_upper_half(weights: [u8; 128]) -> [u8; 256] {
    let mut table = upper_case_ascii();
    let mut at = 0;
    while at < 128 {
        table[0x80 + at] = weights[at];
        at += 1;
    }
    table
}

/// latin1_german1_ci: umlauts and accented letters weigh as their base letters.
pub(super) static LATIN1_GERMAN1_CI: [u8; 256] = with_upper_half([
    0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x8d, 0x8e, 0x8f, 0x90,
    0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f, 0xa0, 0xa1,
    0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf, 0xb0, 0xb1, 0xb2,
    0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0xbf, 0x41, 0x41, 0x41, 0x41,
    0x41, 0x41, 0x41, 0x43, 0x45, 0x45, 0x45, 0x45, 0x49, 0x49, 0x49, 0x49, 0xd0, 0x4e, 0x4f, 0x4f, 0x4f,
    0x4f, 0x4f, 0xd7, 0x4f, 0x55, 0x55, 0x55, 0x55, 0x59, 0xde, 0x53, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41,
    0x41, 0x43, 0x45, 0x45, 0x45, 0x45, 0x49, 0x49, 0x49, 0x49, 0xd0, 0x4e, 0x4f, 0x4f, 0x4f, 0x4f, 0x4f,
    0xf7, 0x4f, 0x55, 0x55, 0x55, 0x55, 0x59, 0xde, 0xff,
]);

/// latin1_danish_ci: Æ, Ø and Å come after Z.
pub(super) static LATIN1_DANISH_CI: [u8; 256] = with_upper_half([
    0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x8d, 0x8e, 0x8f, 0x90,
    0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f, 0xa0, 0xa1,
    0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf, 0xb0, 0xb1, 0xb2,
    0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0xbf, 0x41, 0x41, 0x41, 0x41,
    0x5b, 0x5d, 0x5b, 0x43, 0x45, 0x45, 0x45, 0x45, 0x49, 0x49, 0x49, 0x49, 0x44, 0x4e, 0x4f, 0x4f, 0x4f,
    0x4f, 0x5c, 0xd7, 0x5c, 0x55, 0x55, 0x55, 0x59, 0x59, 0xde, 0xdf, 0x41, 0x41, 0x41, 0x41, 0x5b, 0x5d,
    0x5b, 0x43, 0x45, 0x45, 0x45, 0x45, 0x49, 0x49, 0x49, 0x49, 0x44, 0x4e, 0x4f, 0x4f, 0x4f, 0x4f, 0x5c,
    0xf7, 0x5c, 0x55, 0x55, 0x55, 0x59, 0x59, 0xde, 0xff,
]);

/// latin1_swedish_ci: accented letters weigh as their base letters, but Å, Ä (with Æ) and Ö come after Z, and Ü
/// weighs as Y. From 0xC0; 0xE0 and above weigh the same as their upper-case letters.
#[expect(clippy::indexing_slicing, reason = "run by the compiler, for which a panic is an error")]
pub(super) static LATIN1_SWEDISH_CI: [u8; 256] = {
    let upper: [u8; 32] = *b"AAAA\x5c\x5b\x5cCEEEEIIII\x44NOOOO\x5d\xd7\xd8UUUYY\xde\xdf";
    let mut table = upper_case_ascii();
    let mut at = 0;
    while at < 32 {
        table[0xc0 + at] = upper[at];
        table[0xe0 + at] = upper[at];
        at += 1;
    }
    // The division sign and ÿ are no lower-case letters of × and ß.
    table[0xf7] = 0xf7;
    table[0xff] = 0xff;
    table
};

/// The letters of latin1 in the order of the latin1_general collations: accents make other letters, next to their
/// base letters.
const GENERAL_ORDER: &[u8] = b"0123456789\
    Aa\xc0\xe0\xc1\xe1\xc2\xe2\xc3\xe3\xc4\xe4\xc5\xe5\xc6\xe6BbCc\xc7\xe7Dd\xd0\xf0Ee\xc8\xe8\xc9\xe9\xca\xea\
    \xcb\xebFfGgHhIi\xcc\xec\xcd\xed\xce\xee\xcf\xefJjKkLlMmNn\xd1\xf1Oo\xd2\xf2\xd3\xf3\xd4\xf4\xd5\xf5\xd6\
    \xf6\xd8\xf8PpQqRrSs\xdf\xdfTt\xde\xfeUu\xd9\xf9\xda\xfa\xdb\xfb\xdc\xfcVvWwXxYy\xdd\xfd\xff\xffZz";

/// latin1_general_ci.
pub(super) static LATIN1_GENERAL_CI: [u8; 256] = latin1_general(false);

/// latin1_general_cs.
pub(super) static LATIN1_GENERAL_CS: [u8; 256] = latin1_general(true);

/// Control characters and punctuation first, in their order, then [`GENERAL_ORDER`], then the rest.
#[expect(clippy::indexing_slicing, reason = "run by the compiler, for which a panic is an error")]
const fn latin1_general(case_sensitive: bool) -> [u8; 256] {
    const fn ordered(byte: u8) -> Option<usize> {
        let mut at = 0;
        while at < GENERAL_ORDER.len() {
            if GENERAL_ORDER[at] == byte {
                return Some(at);
            }
            at += 1;
        }
        None
    }
    let mut table = [0u8; 256];
    let mut next = 0u8;
    let mut byte = 0;
    while byte < 256 {
        if ordered(byte as u8).is_none() {
            table[byte] = next;
            next += 1;
        }
        byte += 1;
    }
    let mut at = 0;
    while at < GENERAL_ORDER.len() {
        let letter = GENERAL_ORDER[at];
        let digit = letter.is_ascii_digit();
        // A letter whose case partner came just before weighs the same, unless case matters.
        let follows_partner = !digit && at % 2 == 1;
        let same = follows_partner && (!case_sensitive || GENERAL_ORDER[at - 1] == letter);
        if same {
            table[letter as usize] = table[GENERAL_ORDER[at - 1] as usize];
        } else {
            table[letter as usize] = next;
            next = next.wrapping_add(1);
        }
        at += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swedish_order() {
        let weight = |byte: u8| LATIN1_SWEDISH_CI[usize::from(byte)];
        assert_eq!(weight(b'a'), weight(b'A'));
        assert_eq!(weight(0xe9), weight(b'E'), "é is e");
        assert!(
            weight(0xe5) > weight(b'Z') && weight(0xe4) > weight(0xe5) && weight(0xf6) > weight(0xe4),
            "z å ä ö"
        );
        assert_eq!(weight(0xfc), weight(b'y'), "ü is y");
        assert_ne!(weight(0xf7), weight(0xd7));
    }

    #[test]
    fn general_order() {
        let (ci, cs) = (&LATIN1_GENERAL_CI, &LATIN1_GENERAL_CS);
        assert_eq!(ci[usize::from(b'a')], ci[usize::from(b'A')]);
        assert_ne!(cs[usize::from(b'a')], cs[usize::from(b'A')]);
        assert!(ci[0xe4] > ci[usize::from(b'a')] && ci[0xe4] < ci[usize::from(b'b')]);
        assert!(
            ci[usize::from(b' ')] < ci[usize::from(b'0')] && ci[usize::from(b'9')] < ci[usize::from(b'a')]
        );
        let mut seen = [0; 256];
        cs.iter().for_each(|weight| seen[usize::from(*weight)] += 1);
        assert!(seen.iter().all(|count| *count == 1), "latin1_general_cs tells all characters apart");
    }
}
