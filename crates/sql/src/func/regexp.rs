//! Regular expressions: REGEXP, REGEXP_LIKE, REGEXP_INSTR, REGEXP_REPLACE, REGEXP_SUBSTR.
//!
//! MySQL uses ICU's engine; this is the `regex` crate's, which runs in linear time. It has no look-around and no
//! back-references inside a pattern; such patterns are refused (3685) rather than misread.

use palisade_base::error_catalogue::{
    ER_CHARACTER_SET_MISMATCH, ER_REGEXP_ILLEGAL_ARGUMENT, ER_REGEXP_INDEX_OUTOFBOUNDS_ERROR,
    ER_REGEXP_INVALID_FLAG,
};
use palisade_base::mysql_error;
use palisade_catalog::{Bytes, CollationId, SqlType, Value};
use regex::bytes::{Captures, Regex, RegexBuilder};
use std::cell::RefCell;

use super::{Evaluation, Function, Typed, function, text_type};
use crate::expr::compare::aggregate_collations;
use crate::expr::{Context, Expr};
use crate::{SqlError, SqlResult};
use Evaluation::Strict;

/// Their declarations.
pub static FUNCTIONS: &[Function] = &[
    function("regexp_instr", (2, 6), int, Strict(regexp_instr)),
    function("regexp_like", (2, 3), int, Strict(regexp_like)),
    function("regexp_replace", (3, 6), text, Strict(regexp_replace)),
    function("regexp_substr", (2, 5), text, Strict(regexp_substr)),
];

/// Compiled patterns of a thread that are kept.
const CACHED: usize = 16;

fn int(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    check_charsets(arguments)?;
    Ok(Typed::strict(SqlType::BIGINT, arguments))
}

fn text(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    check_charsets(arguments)?;
    Ok(Typed::nullable(text_type("regexp_substr", arguments, u64::from(u32::MAX), connection)?))
}

/// 3995 where a text meets a binary string.
fn check_charsets(arguments: &[Expr]) -> SqlResult<()> {
    let [subject, pattern, ..] = arguments else { return Ok(()) };
    if !subject.ty.is_string() || !pattern.ty.is_string() {
        return Ok(());
    }
    let names = [subject.ty.collation(), pattern.ty.collation()];
    if (names[0] == CollationId::BINARY) == (names[1] == CollationId::BINARY) {
        return Ok(());
    }
    let [subject, pattern] = names.map(|collation| collation.get().name);
    Err(mysql_error!(ER_CHARACTER_SET_MISMATCH, subject, pattern, "regexp_like"))
}

/// What all of them begin with: the text, the compiled pattern, and where to begin.
struct Search {
    text: Bytes,
    regex: Regex,
    start: usize,
    collation: CollationId,
}

/// A compiled pattern and what it was compiled from.
type Compiled = ((Bytes, bool, Bytes), Regex);

fn compile(pattern: &Bytes, case_sensitive: bool, flags: &Bytes) -> SqlResult<Regex> {
    thread_local! {
        static CACHE: RefCell<Vec<Compiled>> = const { RefCell::new(Vec::new()) };
    }
    let key = (pattern.clone(), case_sensitive, flags.clone());
    CACHE.with(|cache| {
        let mut cache = cache.borrow_mut();
        if let Some((_, regex)) = cache.iter().find(|(known, _)| *known == key) {
            return Ok(regex.clone());
        }
        let illegal = || mysql_error!(ER_REGEXP_ILLEGAL_ARGUMENT);
        let source = std::str::from_utf8(pattern).map_err(|_| illegal())?;
        if source.is_empty() {
            return Err(illegal());
        }
        let mut builder = RegexBuilder::new(source);
        builder.case_insensitive(!case_sensitive);
        for flag in flags.iter() {
            match flag {
                b'c' => builder.case_insensitive(false),
                b'i' => builder.case_insensitive(true),
                b'm' => builder.multi_line(true),
                b'n' => builder.dot_matches_new_line(true),
                b'u' => builder.crlf(false),
                _ => return Err(mysql_error!(ER_REGEXP_INVALID_FLAG)),
            };
        }
        let regex = builder.build().map_err(|_| illegal())?;
        if cache.len() == CACHED {
            cache.remove(0);
        }
        cache.push((key, regex.clone()));
        Ok(regex)
    })
}

/// `position` and `flags` are the places of those arguments, if the function has them.
fn search(
    cx: &mut Context<'_>,
    values: &[Value],
    arguments: &[Expr],
    operation: &str,
    position: Option<usize>,
    flags: usize,
) -> SqlResult<Search> {
    let collation = aggregate_collations(&[&arguments[0], &arguments[1]], operation)?.0;
    let ty = super::text_of_length(0, collation);
    let text = cx.text(&values[0], &arguments[0], &ty);
    let pattern = cx.text(&values[1], &arguments[1], &ty);
    let flags = values.get(flags).map_or_else(Bytes::new, |value| cx.text(value, &arguments[flags], &ty));
    let regex = compile(&pattern, collation.get().is_binary_order(), &flags)?;
    let mut start = 0;
    if let Some((place, value)) = position.and_then(|place| Some((place, values.get(place)?))) {
        let from = cx.to_i64(value.as_ref())?;
        let charset = arguments[place].ty.collation().get().charset;
        let charset = if text.is_ascii() { charset } else { collation.get().charset };
        let count = charset.char_count(&text) as i64;
        if from < 1 || from > count.max(1) {
            return Err(mysql_error!(ER_REGEXP_INDEX_OUTOFBOUNDS_ERROR));
        }
        start = charset.prefix_len(&text, (from - 1) as usize);
    }
    Ok(Search { text, regex, start, collation })
}

/// An optional integer argument.
fn integer(cx: &mut Context<'_>, values: &[Value], place: usize, absent: i64) -> SqlResult<i64> {
    values.get(place).map_or(Ok(absent), |value| cx.to_i64(value.as_ref()))
}

fn regexp_like(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let search = search(cx, values, arguments, "regexp_like", None, 2)?;
    Ok(Value::Int(i64::from(search.regex.is_match(&search.text))))
}

fn regexp_instr(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let search = search(cx, values, arguments, "regexp_instr", Some(2), 5)?;
    let occurrence = integer(cx, values, 3, 1)?.max(1);
    let after = integer(cx, values, 4, 0)? != 0;
    let found = search.regex.find_iter(&search.text[search.start..]).nth((occurrence - 1) as usize);
    Ok(Value::Int(found.map_or(0, |found| {
        let at = search.start + if after { found.end() } else { found.start() };
        search.collation.get().charset.char_count(&search.text[..at]) as i64 + 1
    })))
}

fn regexp_substr(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let search = search(cx, values, arguments, "regexp_substr", Some(2), 4)?;
    let occurrence = integer(cx, values, 3, 1)?.max(1);
    let found = search.regex.find_iter(&search.text[search.start..]).nth((occurrence - 1) as usize);
    Ok(found.map_or(Value::Null, |found| Value::bytes(found.as_bytes())))
}

fn regexp_replace(
    cx: &mut Context<'_>,
    values: &[Value],
    arguments: &[Expr],
    call: &Expr,
) -> SqlResult<Value> {
    let search = search(cx, values, arguments, "regexp_replace", Some(3), 5)?;
    let occurrence = integer(cx, values, 4, 0)?.max(0) as usize;
    let template = cx.text(&values[2], &arguments[2], &call.ty);
    let text = &search.text[search.start..];
    let mut out = search.text[..search.start].to_vec();
    let mut copied = 0;
    for (number, captures) in search.regex.captures_iter(text).enumerate() {
        if occurrence != 0 && number + 1 != occurrence {
            continue;
        }
        let whole = captures.get(0).expect("group 0 is the match");
        out.extend_from_slice(&text[copied..whole.start()]);
        expand(&template, &captures, &mut out)?;
        copied = whole.end();
    }
    out.extend_from_slice(&text[copied..]);
    Ok(Value::bytes(out))
}

/// ICU's template: `$1` is a group, a backslash takes the next character as it is.
fn expand(template: &[u8], captures: &Captures<'_>, out: &mut Vec<u8>) -> Result<(), SqlError> {
    let mut bytes = template.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => out.extend(bytes.next()),
            b'$' => {
                let group = bytes.next_if(u8::is_ascii_digit).map(|digit| usize::from(digit - b'0'));
                let Some(group) = group.filter(|group| *group < captures.len()) else {
                    return Err(mysql_error!(ER_REGEXP_INDEX_OUTOFBOUNDS_ERROR));
                };
                out.extend_from_slice(captures.get(group).map_or(b"", |group| group.as_bytes()));
            }
            byte => out.push(byte),
        }
    }
    Ok(())
}
