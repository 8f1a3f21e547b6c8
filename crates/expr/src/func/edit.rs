//! Cutting and joining text by characters: what the string functions do once their arguments are bytes.
//!
//! Positions count characters from 1, as in SQL; negative ones count from the end. Results never exceed
//! `max_allowed_packet`: a function that could is given the limit and answers `None`. What works on long
//! values in one go is [watched](palisade_catalog::watch), or offers its work in parts.

use palisade_catalog::watch::{PIECE, pieces};
use palisade_catalog::{Charset, Collation, Watch};

use crate::Context;
use crate::SqlResult;

/// SUBSTRING(text, position, length): the slice, empty where the position is outside.
pub fn substring<'t>(
    charset: Charset,
    text: &'t [u8],
    position: i64,
    length: Option<i64>,
    watch: Watch<'_>,
) -> &'t [u8] {
    let count = match length {
        Some(length) if length <= 0 => return &[],
        Some(length) => usize::try_from(length).unwrap_or(usize::MAX),
        None => usize::MAX,
    };
    let skip = match position {
        0 => return &[],
        1.. => usize::try_from(position - 1).unwrap_or(usize::MAX),
        _ => {
            let from_end = usize::try_from(position.unsigned_abs()).unwrap_or(usize::MAX);
            match charset.char_count_watched(text, watch).checked_sub(from_end) {
                Some(skip) => skip,
                None => return &[],
            }
        }
    };
    let (_, rest) = split(charset, text, skip, watch);
    if count == usize::MAX {
        return rest;
    }
    split(charset, rest, count, watch).0
}

/// The first `count` characters (all of them if there are fewer), and the rest.
fn split<'t>(charset: Charset, text: &'t [u8], count: usize, watch: Watch<'_>) -> (&'t [u8], &'t [u8]) {
    text.split_at_checked(charset.prefix_len_watched(text, count, watch)).unwrap_or((text, &[]))
}

/// LEFT(text, count).
pub fn left<'t>(charset: Charset, text: &'t [u8], count: i64, watch: Watch<'_>) -> &'t [u8] {
    split(charset, text, usize::try_from(count).unwrap_or(0), watch).0
}

/// RIGHT(text, count).
pub fn right<'t>(charset: Charset, text: &'t [u8], count: i64, watch: Watch<'_>) -> &'t [u8] {
    let count = usize::try_from(count).unwrap_or(0);
    let skip = charset.char_count_watched(text, watch).saturating_sub(count);
    split(charset, text, skip, watch).1
}

/// Which side of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Side {
    Left,
    Right,
    Both,
}

/// TRIM: removes `what` from the ends, as often as it stands there.
pub fn trim<'a>(text: &'a [u8], what: &[u8], side: Side, watch: Watch<'_>) -> &'a [u8] {
    let mut text = text;
    if what.is_empty() {
        return text;
    }
    let mut removed = 0;
    let mut goes_on = |rest: &[u8]| {
        removed += what.len();
        let asks = removed >= PIECE && !rest.is_empty();
        !asks || watch(std::mem::take(&mut removed))
    };
    while side != Side::Right
        && let Some(rest) = text.strip_prefix(what)
        && goes_on(rest)
    {
        text = rest;
    }
    while side != Side::Left
        && let Some(rest) = text.strip_suffix(what)
        && goes_on(rest)
    {
        text = rest;
    }
    text
}

/// LPAD and RPAD: `text` cut or filled to `count` characters. `None` for a negative count or beyond `limit`
/// bytes.
pub fn pad(
    charset: Charset,
    text: &[u8],
    count: i64,
    with: &[u8],
    (side, limit): (Side, usize),
    watch: Watch<'_>,
) -> Option<Vec<u8>> {
    let count = usize::try_from(count).ok()?;
    let have = charset.char_count_watched(text, watch);
    if count <= have {
        return Some(split(charset, text, count, watch).0.to_vec());
    }
    if with.is_empty() {
        return Some(text.to_vec());
    }
    let missing = count - have;
    let with_count = charset.char_count_watched(with, watch);
    let (whole, more) = (missing / with_count, missing % with_count);
    let fill_bytes = whole.checked_mul(with.len())?;
    if fill_bytes.saturating_add(text.len()) > limit {
        return None;
    }
    let last = split(charset, with, more, watch).0;
    let mut out = Vec::with_capacity(text.len() + fill_bytes + last.len());
    if side != Side::Left {
        out.extend_from_slice(text);
    }
    put_repeated(with, whole, &mut out, watch);
    out.extend_from_slice(last);
    if side == Side::Left {
        out.extend_from_slice(text);
    }
    Some(out)
}

/// REPEAT(text, count); `None` beyond `limit` bytes.
pub fn repeat(text: &[u8], count: i64, limit: usize, watch: Watch<'_>) -> Option<Vec<u8>> {
    let count = usize::try_from(count).unwrap_or(0);
    let length = text.len().checked_mul(count).filter(|length| *length <= limit)?;
    let mut out = Vec::with_capacity(length);
    put_repeated(text, count, &mut out, watch);
    Some(out)
}

/// Bytes that are copied between two questions: copying is fast.
const COPIED: usize = 16 * PIECE;

/// Appends `text` so many times, in parts.
fn put_repeated(text: &[u8], count: usize, out: &mut Vec<u8>, watch: Watch<'_>) {
    if text.is_empty() || count == 0 {
        return;
    }
    let at_once = (COPIED / text.len()).clamp(1, count);
    let block = text.repeat(at_once);
    let mut left = count * text.len();
    while left > 0 {
        let part = block.get(..left).unwrap_or(&block);
        if left > COPIED && !watch(part.len() / 16) {
            return;
        }
        out.extend_from_slice(part);
        left -= part.len();
    }
}

/// The parts as one text, copied in pieces. Once it has been told to end it copies nothing.
pub fn join(parts: &[&[u8]], watch: Watch<'_>) -> Vec<u8> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut out = Vec::with_capacity(length);
    for piece in parts.iter().flat_map(|part| part.chunks(COPIED)) {
        if length > COPIED && !watch(piece.len() / 16) {
            break;
        }
        out.extend_from_slice(piece);
    }
    out
}

/// REPLACE(text, from, to): byte for byte, case counts. `None` beyond `limit` bytes. `count` is told the work
/// to come.
pub fn replace<E>(
    text: &[u8],
    from: &[u8],
    to: &[u8],
    limit: usize,
    mut count: impl FnMut(usize) -> Result<(), E>,
) -> Result<Option<Vec<u8>>, E> {
    let mut out = Vec::with_capacity(text.len().min(limit));
    let mut rest = text;
    while let Some((before, after)) = split_at_first(rest, from) {
        if out.len() + before.len() + to.len() > limit {
            return Ok(None);
        }
        count(before.len() + to.len() + 32)?;
        out.extend_from_slice(before);
        out.extend_from_slice(to);
        rest = after;
    }
    if out.len() + rest.len() > limit {
        return Ok(None);
    }
    out.extend_from_slice(rest);
    Ok(Some(out))
}

/// What stands before the first `needle`, which is not empty, and what behind it. In linear time.
fn split_at_first<'a>(text: &'a [u8], needle: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    if needle.is_empty() {
        return None;
    }
    let at = memchr::memmem::find(text, needle)?;
    Some((text.get(..at)?, text.get(at + needle.len()..)?))
}

/// REVERSE(text), character by character.
pub fn reverse(charset: Charset, text: &[u8], watch: Watch<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    // Where the pieces are cut is known from the first one on.
    let all: Vec<&[u8]> = pieces(charset, text, watch).collect();
    for piece in all.into_iter().rev() {
        if text.len() > PIECE && !watch(piece.len()) {
            break;
        }
        put_reversed(charset, piece, &mut out);
    }
    out
}

fn put_reversed(charset: Charset, text: &[u8], out: &mut Vec<u8>) {
    let begin = out.len();
    let mut rest = text;
    while !rest.is_empty() {
        let (character, after) = rest.split_at_checked(charset.char_len(rest)).unwrap_or((rest, &[]));
        out.extend(character.iter().rev());
        rest = after;
    }
    // The bytes of each character are in reverse now, and the characters are not: both are turned round.
    out.get_mut(begin..).unwrap_or_default().reverse();
}

/// INSERT(text, position, length, new). `None` beyond `limit` bytes.
pub fn insert(
    charset: Charset,
    text: &[u8],
    position: i64,
    length: i64,
    new: &[u8],
    limit: usize,
    watch: Watch<'_>,
) -> Option<Vec<u8>> {
    let characters = charset.char_count_watched(text, watch) as i64;
    if position < 1 || position > characters {
        return Some(join(&[text], watch));
    }
    let (head, rest) = split(charset, text, (position - 1) as usize, watch);
    let (_, tail) = split(charset, rest, usize::try_from(length).unwrap_or(usize::MAX), watch);
    if head.len() + new.len() + tail.len() > limit {
        return None;
    }
    Some(join(&[head, new, tail], watch))
}

/// LOCATE(needle, text, position): where it stands, in characters from 1; 0 if nowhere.
pub fn locate(
    cx: &mut Context<'_>,
    collation: &Collation,
    needle: &[u8],
    text: &[u8],
    position: i64,
) -> SqlResult<i64> {
    let charset = collation.charset;
    let Some(skip) = position.checked_sub(1).and_then(|skip| usize::try_from(skip).ok()) else {
        return Ok(0);
    };
    if skip > cx.watched(|watch| charset.char_count_watched(text, watch))? {
        return Ok(0);
    }
    let from = cx.watched(|watch| charset.prefix_len_watched(text, skip, watch))?;
    let found = collation.find_counted(text, needle, from, |units| cx.checkpoint(units))?;
    let Some(before) = found.and_then(|at| text.get(..at)) else { return Ok(0) };
    Ok(cx.watched(|watch| charset.char_count_watched(before, watch))? as i64 + 1)
}

/// Delimiters that are found between two questions.
const FOUND_A_LOOK: usize = 1024;

/// SUBSTRING_INDEX(text, delimiter, count): what stands before the count-th delimiter, or after it from the
/// end.
pub fn substring_index<'a>(text: &'a [u8], delimiter: &[u8], count: i64, watch: Watch<'_>) -> &'a [u8] {
    if count == 0 || delimiter.is_empty() {
        return &[];
    }
    if count > 0 {
        let number = usize::try_from(count - 1).unwrap_or(usize::MAX);
        found(text, delimiter, watch).nth(number).and_then(|at| text.get(..at)).unwrap_or(text)
    } else {
        // They are counted from the start, as MySQL does: where they overlap, that makes a difference.
        let from_end = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
        let total = found(text, delimiter, watch).count();
        let number = total.checked_sub(from_end);
        let at = number.and_then(|number| found(text, delimiter, watch).nth(number));
        at.and_then(|at| text.get(at + delimiter.len()..)).unwrap_or(text)
    }
}

/// Where `delimiter` stands in `text`, for as long as the watch lets them come.
fn found<'a>(text: &'a [u8], delimiter: &'a [u8], watch: Watch<'a>) -> impl Iterator<Item = usize> + 'a {
    let mut number = 0;
    memchr::memmem::find_iter(text, delimiter).take_while(move |_| {
        number += 1;
        number % FOUND_A_LOOK != 0 || watch(FOUND_A_LOOK * 4)
    })
}

/// How many spaces a text ends with.
fn spaces(text: &[u8]) -> usize {
    text.iter().rev().take_while(|byte| **byte == b' ').count()
}

/// FIND_IN_SET(item, list): its place in the comma separated list, from 1; 0 if it is not there.
pub fn find_in_set(collation: &Collation, item: &[u8], list: &[u8], watch: Watch<'_>) -> i64 {
    if list.is_empty() || item.contains(&b',') {
        return 0;
    }
    for (number, member) in list.split(|byte| *byte == b',').enumerate() {
        if number % FOUND_A_LOOK == FOUND_A_LOOK - 1 && !watch(FOUND_A_LOOK * 4) {
            break;
        }
        // Spaces at the end count here, whatever the collation.
        let is_long = spaces(member) != spaces(item);
        if !is_long && collation.equal_watched(member, item, watch) {
            return number as i64 + 1;
        }
    }
    0
}

/// Appends a part of QUOTE(text): it reads back as `text`.
pub fn put_quoted(text: &[u8], out: &mut Vec<u8>) {
    for byte in text {
        match byte {
            b'\'' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            0 => out.extend_from_slice(b"\\0"),
            0x1a => out.extend_from_slice(b"\\Z"),
            _ => out.push(*byte),
        }
    }
}

/// SOUNDEX(text); MySQL's does not stop after four characters.
pub fn soundex(text: &[u8], charset: Charset, watch: Watch<'_>) -> Vec<u8> {
    const CODES: &[u8; 26] = b"01230120022455012623010202";
    let mut out = Vec::new();
    let mut last = 0;
    let letters = pieces(charset, text, watch).flat_map(|piece| {
        let mut rest = piece;
        std::iter::from_fn(move || {
            let (letter, after) = rest.split_at_checked(charset.char_len(rest).max(1))?;
            rest = after;
            Some(letter)
        })
    });
    for letter in letters {
        // A letter beyond ASCII counts as a vowel.
        let this = match letter {
            [byte] if byte.is_ascii() => {
                let place = byte.to_ascii_uppercase().checked_sub(b'A').map(usize::from);
                match place.and_then(|place| CODES.get(place)) {
                    Some(code) => *code,
                    None => continue,
                }
            }
            _ if charset == Charset::Binary => continue,
            _ => b'0',
        };
        if out.is_empty() {
            out.extend_from_slice(&letter.to_ascii_uppercase());
            last = this;
        } else if this != b'0' && this != last {
            // A vowel between two letters of one code does not part them.
            out.push(this);
            last = this;
        }
    }
    if !out.is_empty() {
        let missing = 4_usize.saturating_sub(charset.char_count(&out));
        out.resize(out.len() + missing, b'0');
    }
    out
}

/// HEX of bytes.
pub fn hex(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() * 2);
    put_hex(bytes, &mut out);
    out
}

/// Appends HEX of bytes.
pub fn put_hex(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    #[expect(clippy::indexing_slicing, reason = "there is a digit for each value of four bits")]
    let digit = |bits: u8| DIGITS[usize::from(bits & 15)];
    out.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]));
}

/// UNHEX; `None` if a character is no hexadecimal digit.
pub fn unhex(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len().div_ceil(2));
    put_unhex(text, &mut out).map(|()| out)
}

/// Appends UNHEX; `None` if a character is no hexadecimal digit.
pub fn put_unhex(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let mut rest = text;
    if text.len() % 2 == 1
        && let [single, pairs @ ..] = text
    {
        out.push(digit(*single)?);
        rest = pairs;
    }
    while let [high, low, after @ ..] = rest {
        out.push(digit(*high)? << 4 | digit(*low)?);
        rest = after;
    }
    Some(())
}

/// `value` in base 2 to 36.
pub fn in_base(mut value: u64, base: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit((value % u64::from(base)) as u32, base));
        value /= u64::from(base);
        if value == 0 {
            break;
        }
    }
    digits.iter().rev().collect::<String>().to_ascii_uppercase()
}

/// What CONV warns of: a text that begins with no digit of the base, or with more of them than 64 bits hold.
pub fn unreadable_digits(text: &[u8], base: i64) -> Option<&[u8]> {
    let number = text.trim_ascii();
    let digits = match number {
        [b'-' | b'+', rest @ ..] => rest,
        _ => number,
    };
    let base = base.unsigned_abs();
    if text.is_empty() || !(2..=36).contains(&base) {
        return None;
    }
    let mut value = None;
    for digit in digits.iter().map_while(|byte| char::from(*byte).to_digit(base as u32)) {
        let next = value.unwrap_or(0u64).checked_mul(base).and_then(|value| value.checked_add(digit.into()));
        let Some(next) = next else { return Some(text) };
        value = Some(next);
    }
    if value.is_none() { Some(text) } else { None }
}

/// CONV(text, from, to): digits are read until one does not fit, as 64 bits, unsigned unless `from` is
/// negative; a negative `to` writes a sign. `None` if a base is not 2 to 36.
pub fn conv(text: &[u8], from: i64, to: i64) -> Option<String> {
    let in_range = |base: i64| (2..=36).contains(&base.unsigned_abs());
    if !in_range(from) || !in_range(to) {
        return None;
    }
    if text.is_empty() {
        return None;
    }
    let text = text.trim_ascii();
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let base = from.unsigned_abs();
    let mut value: u64 = 0;
    for digit in digits.iter().map_while(|byte| char::from(*byte).to_digit(base as u32)) {
        let next = value.checked_mul(base).and_then(|value| value.checked_add(digit.into()));
        let Some(next) = next else {
            // beyond 64 bits it is the greatest number, or none below zero
            value = if negative { 0 } else { u64::MAX };
            break;
        };
        value = next;
    }
    let value = if negative { value.wrapping_neg() } else { value };
    let target = to.unsigned_abs() as u32;
    Some(match to < 0 && (value as i64) < 0 {
        true => format!("-{}", in_base((value as i64).unsigned_abs(), target)),
        false => in_base(value, target),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const UTF8: Charset = Charset::Utf8mb4;

    fn go(_: usize) -> bool {
        true
    }

    #[test]
    fn positions_count_characters() {
        let text = "žluťoučký".as_bytes();
        assert_eq!(substring(UTF8, text, 2, Some(3), &mut go), "luť".as_bytes());
        assert_eq!(substring(UTF8, text, -3, None, &mut go), "čký".as_bytes());
        assert_eq!(substring(UTF8, text, 0, None, &mut go), b"");
        assert_eq!(substring(UTF8, text, 10, None, &mut go), b"");
        assert_eq!(substring(UTF8, text, i64::MIN, Some(i64::MAX), &mut go), b"");
        assert_eq!(left(UTF8, text, 2, &mut go), "žl".as_bytes());
        assert_eq!(right(UTF8, text, 2, &mut go), "ký".as_bytes());
        assert_eq!(reverse(UTF8, "ažb".as_bytes(), &mut go), "bža".as_bytes());
        assert_eq!(insert(UTF8, b"Quadratic", 3, 4, b"What", 9, &mut go), Some(b"QuWhattic".to_vec()));
        assert_eq!(insert(UTF8, b"abc", 3, 100, b"X", 3, &mut go), Some(b"abX".to_vec()));
        assert_eq!(insert(UTF8, b"abc", 2, 0, b"X", 3, &mut go), None);
    }

    #[test]
    fn padding_cuts_and_fills() {
        let pad = |text: &str, count, with: &str, side| {
            pad(UTF8, text.as_bytes(), count, with.as_bytes(), (side, 100), &mut go)
                .map(|out| String::from_utf8(out).unwrap())
        };
        assert_eq!(pad("a", 6, "xy", Side::Left).as_deref(), Some("xyxyxa"));
        assert_eq!(pad("a", 4, "ž", Side::Right).as_deref(), Some("ažžž"));
        assert_eq!(pad("abcdef", 3, "x", Side::Left).as_deref(), Some("abc"));
        assert_eq!(pad("abc", 5, "", Side::Right).as_deref(), Some("abc"));
        assert_eq!(pad("a", -1, "x", Side::Left), None);
        assert_eq!(pad("a", 1000, "x", Side::Left), None);
    }

    #[test]
    fn trimming_repeating_replacing() {
        assert_eq!(trim(b"xxaxx", b"x", Side::Left, &mut go), b"axx");
        assert_eq!(trim(b"xyaxyxy", b"xy", Side::Both, &mut go), b"a");
        assert_eq!(trim(b"a", b"", Side::Both, &mut go), b"a");
        assert_eq!(repeat(b"ab", 3, 6, &mut go), Some(b"ababab".to_vec()));
        assert_eq!(repeat(b"ab", 4, 6, &mut go), None);
        assert_eq!(repeat(b"ab", i64::MAX, 6, &mut go), None);
        assert_eq!(repeat(b"ab", -1, 6, &mut go), Some(Vec::new()));
        let replace = |text: &[u8], from: &[u8], to: &[u8], limit| {
            replace(text, from, to, limit, |_| Ok::<(), ()>(())).unwrap()
        };
        assert_eq!(replace(b"aXbX", b"X", b"--", 100), Some(b"a--b--".to_vec()));
        assert_eq!(replace(b"aXbX", b"X", b"--", 5), None);
        assert_eq!(replace(b"abc", b"", b"x", 100), Some(b"abc".to_vec()));
    }

    #[test]
    fn parts_by_delimiter() {
        assert_eq!(substring_index(b"a.b.c", b".", 2, &mut go), b"a.b");
        assert_eq!(substring_index(b"a.b.c", b".", -1, &mut go), b"c");
        assert_eq!(substring_index(b"a.b.c", b".", 9, &mut go), b"a.b.c");
        assert_eq!(substring_index(b"a.b.c", b".", i64::MIN, &mut go), b"a.b.c");
        assert_eq!(substring_index(b"abc", b"", 1, &mut go), b"");
        assert_eq!(substring_index(b"aaa", b"aa", -1, &mut go), b"a");
        assert_eq!(substring_index(b"a.b.c", b".", -3, &mut go), b"a.b.c");
    }

    #[test]
    fn numbers_in_bases() {
        assert_eq!(conv(b"ff", 16, 10).as_deref(), Some("255"));
        assert_eq!(conv(b"-1", 10, 16).as_deref(), Some("FFFFFFFFFFFFFFFF"));
        assert_eq!(conv(b"-17", 10, -18).as_deref(), Some("-H"));
        assert_eq!(conv(b"1", 1, 10), None);
        assert_eq!(hex(b"abc"), b"616263");
        assert_eq!(unhex(b"616263"), Some(b"abc".to_vec()));
        assert_eq!(unhex(b"F"), Some(vec![15]));
        assert_eq!(unhex(b"zz"), None);
        assert_eq!(soundex(b"Hello", Charset::Utf8mb4, &mut go), b"H400");
        let mut quoted = Vec::new();
        put_quoted(b"it's", &mut quoted);
        assert_eq!(quoted, b"it\\'s");
    }
}
