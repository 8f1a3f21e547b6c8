//! Sets of global transaction identifiers, as texts: GTID_SUBSET and GTID_SUBTRACT.
//!
//! ```text
//! set      : [uuid-set] [, [uuid-set]]...
//! uuid-set : uuid [: interval | : tag]...          intervals belong to the tag before them
//! interval : n [- n]                               1 <= n <= 9223372036854775806; 5-3 is empty
//! tag      : up to 32 letters, digits and underscores; no digit first; written in lower case
//! ```
//!
//! A set is written with the UUIDs in order, the tags of each in order, intervals joined where they touch.
//! The functions know nothing of what the server has executed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use palisade_base::error_catalogue::ER_MALFORMED_GTID_SET_SPECIFICATION;
use palisade_base::mysql_error;
use palisade_catalog::types::LobSize;
use palisade_catalog::{CollationId, SqlType, Value};

use super::{Evaluation, Function, Typed, function};
use crate::convert::text_of;
use crate::{Context, Expr};
use crate::{SqlError, SqlResult};
use Evaluation::Strict;

/// Their declarations.
pub static FUNCTIONS: &[Function] = &[
    function("gtid_subset", (2, 2), |a, _| Ok(Typed::strict(SqlType::BIGINT, a)), Strict(subset)),
    function("gtid_subtract", (2, 2), set_type, Strict(subtract)),
];

fn set_type(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    let ty = SqlType::Text { size: LobSize::Long, collation: CollationId::UTF8MB3_GENERAL_CI };
    Ok(Typed::nullable(ty))
}

fn subset(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let [part, whole] = both(cx, values, arguments)?;
    Ok(Value::Int(i64::from(part.minus(&whole, cx)?.0.is_empty())))
}

fn subtract(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let [from, what] = both(cx, values, arguments)?;
    let left = from.minus(&what, cx)?;
    Ok(Value::bytes(left.to_text(cx)?))
}

fn both(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr]) -> SqlResult<[GtidSet; 2]> {
    let mut sets = values.iter().zip(arguments).map(|(value, argument)| {
        let text = text_of(value, &argument.ty);
        Parser { text: &text, at: 0 }.set(cx)
    });
    let mut next = || sets.next().unwrap_or_else(|| Ok(GtidSet(BTreeMap::new())));
    Ok([next()?, next()?])
}

/// Units of work that an interval counts as.
const UNITS: usize = 64;
/// The greatest number of a transaction.
const GREATEST: u64 = i64::MAX as u64 - 1;
/// The most characters of a tag.
const LONGEST_TAG: usize = 32;

/// The first and the last number of transactions in a row.
type Interval = (u64, u64);

/// A set: by UUID and tag, the intervals in order, none of which touches another. None of the lists is empty.
#[derive(Debug, PartialEq)]
struct GtidSet(BTreeMap<([u8; 16], String), Vec<Interval>>);

impl GtidSet {
    /// What is in this set and not in `other`.
    fn minus(mut self, other: &GtidSet, cx: &mut Context<'_>) -> SqlResult<GtidSet> {
        for (key, intervals) in &mut self.0 {
            let Some(removed) = other.0.get(key) else { continue };
            cx.checkpoint(UNITS * (intervals.len() + removed.len()))?;
            *intervals = difference(intervals, removed);
        }
        self.0.retain(|_, intervals| !intervals.is_empty());
        Ok(self)
    }

    fn to_text(&self, cx: &mut Context<'_>) -> SqlResult<String> {
        let mut text = String::new();
        let mut before: Option<&[u8; 16]> = None;
        for ((uuid, tag), intervals) in &self.0 {
            if before != Some(uuid) {
                if before.is_some() {
                    text.push_str(",\n");
                }
                put_uuid(uuid, &mut text);
                before = Some(uuid);
            }
            if !tag.is_empty() {
                text.push(':');
                text.push_str(tag);
            }
            for (first, last) in intervals {
                cx.checkpoint(UNITS)?;
                // writing to a String does not fail
                let _ = match first == last {
                    true => write!(text, ":{first}"),
                    false => write!(text, ":{first}-{last}"),
                };
            }
        }
        Ok(text)
    }
}

fn put_uuid(uuid: &[u8; 16], text: &mut String) {
    for (place, byte) in uuid.iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        // writing to a String does not fail
        let _ = write!(text, "{byte:02x}");
    }
}

/// What is in `intervals` and not in `removed`; all are in order, and none of a list touches another.
fn difference(intervals: &[Interval], removed: &[Interval]) -> Vec<Interval> {
    let mut left = Vec::new();
    let mut removed = removed.iter().peekable();
    for &(mut first, last) in intervals {
        while let Some(&&(from, to)) = removed.peek() {
            if to < first {
                removed.next();
                continue;
            }
            if from > last {
                break;
            }
            if first < from {
                left.push((first, from - 1));
            }
            // behind the greatest number there is room for one more
            first = to + 1;
            if first > last {
                break;
            }
        }
        if first <= last {
            left.push((first, last));
        }
    }
    left
}

/// The intervals in order, joined where they touch or overlap.
fn joined(mut intervals: Vec<Interval>) -> Vec<Interval> {
    intervals.sort_unstable();
    let mut joined: Vec<Interval> = Vec::with_capacity(intervals.len());
    for (first, last) in intervals {
        match joined.last_mut() {
            Some((_, end)) if first <= *end + 1 => *end = last.max(*end),
            _ => joined.push((first, last)),
        }
    }
    joined
}

/// Reads a text from the left.
struct Parser<'t> {
    text: &'t [u8],
    at: usize,
}

impl Parser<'_> {
    fn set(mut self, cx: &mut Context<'_>) -> SqlResult<GtidSet> {
        let mut set = GtidSet(BTreeMap::new());
        loop {
            self.skip_space();
            match self.peek() {
                None => break,
                Some(b',') => self.at += 1,
                Some(_) => self.uuid_set(&mut set, cx)?,
            }
        }
        for intervals in set.0.values_mut() {
            cx.checkpoint(UNITS * intervals.len())?;
            *intervals = joined(std::mem::take(intervals));
        }
        Ok(set)
    }

    /// A UUID with its tags and intervals, up to the comma or the end.
    fn uuid_set(&mut self, set: &mut GtidSet, cx: &mut Context<'_>) -> SqlResult<()> {
        let uuid = self.uuid()?;
        let mut tag = String::new();
        loop {
            cx.checkpoint(UNITS)?;
            self.skip_space();
            match self.peek() {
                Some(b':') => self.at += 1,
                None | Some(b',') => return Ok(()),
                Some(_) => return Err(self.malformed("Expected \",\"", self.at)),
            }
            self.skip_space();
            if let Some(named) = self.tag() {
                tag = named;
            } else if let Some(interval) = self.interval()? {
                set.0.entry((uuid, tag.clone())).or_default().push(interval);
            }
        }
    }

    /// 16 bytes as hexadecimal digits: in braces, with hyphens where they belong, or with neither.
    fn uuid(&mut self) -> SqlResult<[u8; 16]> {
        let braced = self.peek() == Some(b'{');
        self.at += usize::from(braced);
        let mut uuid = [0; 16];
        let mut hyphens = false;
        for (place, byte) in uuid.iter_mut().enumerate() {
            if matches!(place, 4 | 6 | 8 | 10) {
                let is_hyphen = self.peek() == Some(b'-');
                if place == 4 {
                    hyphens = is_hyphen;
                }
                if hyphens && !is_hyphen {
                    return Err(self.malformed("Expected \"-\"", self.at));
                }
                self.at += usize::from(hyphens);
            }
            if self.text.len() < self.at + 2 {
                return Err(self.malformed("Expected at least two hex digits", self.at));
            }
            *byte = self.hex_digit()? << 4 | self.hex_digit()?;
        }
        if braced {
            if self.peek() != Some(b'}') {
                return Err(self.malformed("Expected \"}\"", self.at));
            }
            self.at += 1;
        }
        Ok(uuid)
    }

    fn hex_digit(&mut self) -> SqlResult<u8> {
        let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
        let Some(digit) = digit else { return Err(self.malformed("Expected hex digit", self.at)) };
        self.at += 1;
        Ok(digit as u8)
    }

    /// A tag, if one stands here.
    fn tag(&mut self) -> Option<String> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let length = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        let tag = rest.get(..length).unwrap_or_default();
        if length > LONGEST_TAG || tag.first().is_none_or(u8::is_ascii_digit) {
            return None;
        }
        self.at += length;
        Some(tag.iter().map(|byte| char::from(byte.to_ascii_lowercase())).collect())
    }

    /// An interval; `None` if it is empty.
    fn interval(&mut self) -> SqlResult<Option<Interval>> {
        let begin = self.at;
        let first = self.number()?;
        if first == 0 || first > GREATEST {
            return Err(self.malformed("Interval start out of range", begin));
        }
        self.skip_space();
        if self.peek() != Some(b'-') {
            return Ok(Some((first, first)));
        }
        self.at += 1;
        self.skip_space();
        let last = self.number()?;
        if last > GREATEST {
            return Err(self.malformed("Interval end out of range", self.at));
        }
        Ok((first <= last).then_some((first, last)))
    }

    fn number(&mut self) -> SqlResult<u64> {
        let begin = self.at;
        let mut number: Option<u64> = None;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            self.at += 1;
            let value =
                number.unwrap_or(0).checked_mul(10).and_then(|tens| tens.checked_add((digit - b'0').into()));
            // MySQL's numbers have a sign
            number = value.filter(|value| *value <= GREATEST + 1);
            if number.is_none() {
                return Err(self.malformed("Number out of range", begin));
            }
        }
        number.ok_or_else(|| self.malformed("Expected number", begin))
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// 1772, which shows what stands around the place.
    fn malformed(&self, problem: &str, at: usize) -> SqlError {
        const BEFORE: usize = 11;
        const AFTER: usize = 25;
        let shown = |from: usize, to: usize| {
            String::from_utf8_lossy(self.text.get(from..to).unwrap_or_default()).into_owned()
        };
        let (begin, end) = (at.saturating_sub(BEFORE), self.text.len().min(at + AFTER));
        let [cut_before, cut_after] =
            [begin > 0, end < self.text.len()].map(|is_cut| if is_cut { "..." } else { "" });
        let rest = shown(at, end);
        let text = match at {
            0 => format!("{problem} at the beginning of the string: \"{rest}{cut_after}\""),
            _ => format!(
                "{problem} after {at} characters, marked by [HERE] in: \
                 \"{cut_before}{}[HERE]{rest}{cut_after}\"",
                shown(begin, at)
            ),
        };
        mysql_error!(ER_MALFORMED_GTID_SET_SPECIFICATION, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_joined_and_subtracted() {
        assert_eq!(joined(vec![(5, 6), (1, 2), (3, 3), (9, 9), (5, 5)]), [(1, 3), (5, 6), (9, 9)]);
        assert_eq!(difference(&[(1, 5)], &[(2, 3)]), [(1, 1), (4, 5)]);
        assert_eq!(difference(&[(1, 5), (7, 9)], &[(4, 8)]), [(1, 3), (9, 9)]);
        assert_eq!(difference(&[(1, 5), (7, 9)], &[(1, 9)]), []);
        assert_eq!(difference(&[(1, GREATEST)], &[(2, GREATEST)]), [(1, 1)]);
        assert_eq!(difference(&[(3, 4), (6, 8)], &[(1, 1), (4, 4), (8, 9)]), [(3, 3), (6, 7)]);
    }

    #[test]
    fn differences_are_those_of_plain_sets() {
        let mut random = palisade_base::prng::Prng::new(7);
        for _ in 0..2000 {
            let mut some = || -> Vec<Interval> {
                let mut list = Vec::new();
                for _ in 0..random.below(5) {
                    let first = 1 + random.below(20);
                    list.push((first, first + random.below(5)));
                }
                joined(list)
            };
            let (from, what) = (some(), some());
            let has =
                |list: &[Interval], n: u64| list.iter().any(|(first, last)| (*first..=*last).contains(&n));
            let left = difference(&from, &what);
            for n in 0..30 {
                assert_eq!(has(&left, n), has(&from, n) && !has(&what, n), "{from:?} - {what:?} at {n}");
            }
            assert_eq!(joined(left.clone()), left);
        }
    }
}
