//! Regular expressions: REGEXP, REGEXP_LIKE, REGEXP_INSTR, REGEXP_REPLACE, REGEXP_SUBSTR.
//!
//! MySQL uses ICU's engine; this is the `regex` crate's, which runs in linear time. `pattern` reads ICU's
//! patterns for it. It has no look-around and no back-references inside a pattern; such patterns are refused
//! (1235) rather than misread.
//!
//! A search takes at most as many steps as the program has instructions and the text has bytes, multiplied,
//! so that is what is bounded beforehand, by `regexp_time_limit` (3699). The bound is far above ICU's, which
//! backtracks: `REPEAT('a', 3000) REGEXP '(a|b)*c'` is 3699 there. One that may take more than some
//! milliseconds is done by `walk`, and can be interrupted; what groups match is found by the `regex` crate
//! once it is known where the match is. Between two matches of one call the flags are looked at.

mod pattern;
mod walk;

use palisade_base::error_catalogue::{
    ER_CHARACTER_SET_MISMATCH, ER_REGEXP_ILLEGAL_ARGUMENT, ER_REGEXP_INDEX_OUTOFBOUNDS_ERROR,
    ER_REGEXP_INVALID_CAPTURE_GROUP_NAME, ER_REGEXP_TIME_OUT, ER_WRONG_ARGUMENTS,
    ER_WRONG_PARAMETERS_TO_NATIVE_FCT,
};
use palisade_base::mysql_error;
use palisade_catalog::{Bytes, Charset, CollationId, SqlType, Value};
use regex::bytes::{Captures, Regex, RegexBuilder};
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use super::turns::Values;
use super::{Evaluation, Function, Typed, function, text_type};
use crate::compare::aggregate_collations;
use crate::place::At;
use crate::{Context, Expr};
use crate::{SqlAttempt, SqlResult};
use Evaluation::Lazy;
use pattern::{Flags, Pattern};
use walk::Walker;

/// Their declarations.
pub static FUNCTIONS: &[Function] = &[
    function(REGEXP_INSTR, (2, 6), |arguments, _| int(arguments, REGEXP_INSTR), Lazy(regexp_instr)),
    function("regexp_like", (2, 3), |arguments, _| int(arguments, "regexp_like"), Lazy(regexp_like)),
    function(
        "regexp_replace",
        (3, 6),
        |arguments, connection| text(arguments, connection, "regexp_replace"),
        Lazy(regexp_replace),
    ),
    function(
        "regexp_substr",
        (2, 5),
        |arguments, connection| text(arguments, connection, "regexp_substr"),
        Lazy(regexp_substr),
    ),
];

const REGEXP_INSTR: &str = "regexp_instr";

/// Compiled patterns of a thread that are kept.
const CACHED: usize = 16;
/// Bytes that they may take together, beside the last one.
const CACHED_BYTES: usize = 12 << 20;
/// Longest pattern, in bytes: its parse tree takes a hundred times as much.
const LONGEST_PATTERN: usize = 1 << 16;
/// Bytes of compiled programs, by which their sizes are told apart; a greater program is refused.
const PROGRAM_SIZES: [usize; 5] = [1 << 11, 1 << 14, 1 << 17, 1 << 20, 10 << 20];
/// Bytes of an instruction, about.
const INSTRUCTION: usize = 32;
/// Steps that a unit of `regexp_time_limit` stands for.
const STEPS_A_UNIT: usize = 1 << 25;
/// What reading a byte of a pattern counts as, in units of a nanosecond.
const UNITS_A_PATTERN_BYTE: usize = 1000;
/// Bytes of a text from which on the flags are looked at for each match: to find the next one may take long.
const LONG_TEXT: usize = 1 << 16;
/// Steps of a search from which on it can be interrupted.
const LONG_SEARCH: usize = 1 << 22;
/// `regexp_time_limit` where the host does not know of it: MySQL's default.
const DEFAULT_TIME_LIMIT: i64 = 32;

fn int(arguments: &[Expr], operation: &str) -> SqlResult<Typed> {
    check_charsets(arguments, operation)?;
    Ok(Typed::strict(SqlType::BIGINT, arguments))
}

fn text(arguments: &[Expr], connection: CollationId, operation: &str) -> SqlResult<Typed> {
    check_charsets(arguments, operation)?;
    Ok(Typed::nullable(text_type(operation, arguments.part(0..2)?, u64::from(u32::MAX), connection)?))
}

/// 3995 where a text meets a binary string of variable length. One of type BINARY or BLOB makes a text beside
/// it binary instead, but not the text that replaces something. What replaces is held against the text that
/// is searched, or against the pattern if that is none.
fn check_charsets(arguments: &[Expr], operation: &str) -> SqlResult<()> {
    let is_binary = |argument: &Expr| argument.ty.collation() == CollationId::BINARY;
    let is_flexible = |argument: &Expr| matches!(argument.ty, SqlType::Binary { .. } | SqlType::Blob { .. });
    let texts = |place: usize| arguments.get(place).filter(|argument| argument.ty.is_string());
    let (subject, pattern) = (texts(0), texts(1));
    let replacement = texts(2).filter(|_| operation == "regexp_replace");
    check_bits(arguments, replacement, operation)?;
    let are_flexible = [subject, pattern].into_iter().flatten().all(is_flexible);
    for (left, right, is_replacement) in [(subject, pattern, false), (subject.or(pattern), replacement, true)]
    {
        let Some((left, right)) = left.zip(right) else { continue };
        let decides = if is_replacement || is_binary(right) { right } else { left };
        let gives_way = is_flexible(decides) || is_replacement && are_flexible;
        if is_binary(left) != is_binary(right) && !gives_way {
            let [left, right] = [left, right].map(|argument| argument.ty.collation().get().name);
            return Err(mysql_error!(ER_CHARACTER_SET_MISMATCH, left, right, operation));
        }
    }
    Ok(())
}

/// 3995 where a text replaces something in bits, if these are searched as bytes.
fn check_bits(arguments: &[Expr], replacement: Option<&Expr>, operation: &str) -> SqlResult<()> {
    let (Some(bits), Some(pattern), Some(replacement)) = (arguments.first(), arguments.get(1), replacement)
    else {
        return Ok(());
    };
    if !matches!(bits.ty, SqlType::Bit { .. })
        || !pattern.ty.is_string()
        || replacement.ty.collation() == CollationId::BINARY
        || aggregate_collations(&[bits, pattern], operation)?.0 != CollationId::BINARY
    {
        return Ok(());
    }
    let [left, right] = [CollationId::BINARY, replacement.ty.collation()].map(|it| it.get().name);
    Err(mysql_error!(ER_CHARACTER_SET_MISMATCH, left, right, operation))
}

/// What all of them begin with: the text, the compiled pattern, and where to begin.
struct Search {
    text: Bytes,
    program: Program,
    start: usize,
    /// The collation of the text as it is searched.
    read_as: CollationId,
}

impl Search {
    /// A text that the search gives, in the character set of the call.
    fn result(&self, cx: &mut Context<'_>, text: Vec<u8>, call: &Expr) -> SqlResult<Value> {
        Ok(Value::Bytes(cx.transcode(text.into(), self.read_as, call.ty.collation())?))
    }

    /// The n-th match, from 1, in bytes from the start on.
    fn occurrence(&self, cx: &mut Context<'_>, number: i64) -> SqlResult<Option<Range<usize>>> {
        let text = self.text.get(self.start..).unwrap_or_default();
        let mut left = number;
        let mut matches = Matches::new(&self.program, text);
        while let Some(found) = matches.next(cx)? {
            left -= 1;
            if left <= 0 {
                return Ok(Some(self.program.range(text, found)));
            }
        }
        Ok(None)
    }
}

/// The matches in a text, one behind the other.
struct Matches<'s> {
    program: &'s Program,
    text: &'s [u8],
    /// What finds them, if that takes long.
    walker: Option<Walker>,
    /// Where the next one begins at the earliest; nowhere any more if that is behind the text.
    from: usize,
    /// Where the one before ended.
    last_end: Option<usize>,
}

impl<'s> Matches<'s> {
    fn new(program: &'s Program, text: &'s [u8]) -> Self {
        Matches { program, text, walker: program.walker(text), from: 0, last_end: None }
    }

    fn next(&mut self, cx: &mut Context<'_>) -> SqlResult<Option<Range<usize>>> {
        let mut found = self.find(cx)?;
        // An empty match right behind the one before is none.
        if let Some(empty) = &found
            && empty.is_empty()
            && Some(empty.end) == self.last_end
        {
            self.from += 1;
            found = self.find(cx)?;
        }
        if let Some(found) = &found {
            (self.from, self.last_end) = (found.end, Some(found.end));
        }
        Ok(found)
    }

    fn find(&mut self, cx: &mut Context<'_>) -> SqlResult<Option<Range<usize>>> {
        if self.from > self.text.len() {
            return Ok(None);
        }
        if let Some(walker) = &mut self.walker {
            match walker.find(self.text, self.from, &mut |units| cx.checkpoint(units))? {
                Ok(found) => return Ok(found),
                Err(_) => self.walker = None,
            }
        }
        cx.checkpoint(units_a_match(self.text))?;
        Ok(self.program.regex.find_at(self.text, self.from).map(|found| found.range()))
    }
}

/// What finding a match in a text counts as, in units of a nanosecond.
fn units_a_match(text: &[u8]) -> usize {
    text.len().clamp(64, LONG_TEXT)
}

/// A compiled pattern and what it was compiled from.
type Compiled = ((Bytes, bool, Bytes), Program);

/// A compiled pattern, and about how many instructions it has.
#[derive(Clone)]
struct Program {
    regex: Regex,
    instructions: usize,
    pattern: Arc<Pattern>,
    is_insensitive: bool,
}

impl Program {
    /// What searches a text, if that may take long.
    fn walker(&self, text: &[u8]) -> Option<Walker> {
        if self.instructions.saturating_mul(text.len()) < LONG_SEARCH {
            return None;
        }
        Walker::new(&self.pattern.text, self.is_insensitive, self.instructions)
    }

    /// Where a match that is found in `text` ends for ICU: before the line terminator that `$` passes over.
    fn range(&self, text: &[u8], found: Range<usize>) -> Range<usize> {
        if self.pattern.ends.is_empty() || found.end != text.len() {
            return found;
        }
        let captures = self.regex.captures_at(text, found.start);
        found.start..captures.map_or(found.end, |captures| self.end(&captures))
    }

    /// The end of a match with these groups.
    fn end(&self, captures: &Captures<'_>) -> usize {
        let mut ends = self.pattern.ends.iter().filter_map(|group| captures.get(*group));
        ends.next().map_or(captures.get_match().end(), |end| end.start())
    }

    /// 3699 if searching a text of so many bytes might take longer than `regexp_time_limit`; else counts it
    /// as work.
    fn allow(&self, cx: &mut Context<'_>, bytes: usize) -> SqlResult<()> {
        let steps = self.instructions.saturating_mul(bytes);
        if steps > STEPS_A_UNIT {
            let limit = match cx.host.variable(cx.session, None, "regexp_time_limit")? {
                Some(value) => cx.to_i64(value.as_ref())?,
                None => DEFAULT_TIME_LIMIT,
            };
            // 0 is no limit
            let most = usize::try_from(limit).unwrap_or(0).saturating_mul(STEPS_A_UNIT);
            if limit > 0 && steps > most {
                return Err(mysql_error!(ER_REGEXP_TIME_OUT));
            }
        }
        cx.checkpoint(steps)
    }
}

/// The program of a pattern, in the smallest of the sizes that are told apart.
fn build(pattern: &Arc<Pattern>, is_insensitive: bool) -> Option<Program> {
    let mut builder = RegexBuilder::new(&pattern.text);
    builder.case_insensitive(is_insensitive);
    for size in PROGRAM_SIZES {
        match builder.size_limit(size).build() {
            Ok(regex) => {
                let pattern = pattern.clone();
                return Some(Program { regex, instructions: size / INSTRUCTION, pattern, is_insensitive });
            }
            Err(regex::Error::CompiledTooBig(_)) => {}
            Err(_) => return None,
        }
    }
    None
}

fn compile(pattern: &Bytes, case_sensitive: bool, flags: &Bytes, operation: &str) -> SqlResult<Program> {
    thread_local! {
        static CACHE: RefCell<Vec<Compiled>> = const { RefCell::new(Vec::new()) };
    }
    let key = (pattern.clone(), case_sensitive, flags.clone());
    CACHE.with(|cache| {
        let mut cache = cache.borrow_mut();
        if let Some((_, program)) = cache.iter().find(|(known, _)| *known == key) {
            return Ok(program.clone());
        }
        let illegal = || mysql_error!(ER_REGEXP_ILLEGAL_ARGUMENT);
        let mut is_insensitive = !case_sensitive;
        let mut how = Flags::default();
        for flag in flags.iter() {
            match flag {
                b'c' => is_insensitive = false,
                b'i' => is_insensitive = true,
                b'm' => how.multi_line = true,
                b'n' => how.dot_all = true,
                b'u' => how.unix_lines = true,
                _ => return Err(mysql_error!(ER_WRONG_ARGUMENTS, operation)),
            };
        }
        let source = std::str::from_utf8(pattern).map_err(|_| illegal())?;
        if source.is_empty() || source.len() > LONGEST_PATTERN {
            return Err(illegal());
        }
        let pattern = Arc::new(pattern::translate(source, how)?);
        let program = build(&pattern, is_insensitive).ok_or_else(illegal)?;
        let bytes = |cache: &[Compiled]| -> usize {
            cache.iter().map(|(_, program)| program.instructions * INSTRUCTION).sum()
        };
        while cache.len() == CACHED || bytes(&cache) > CACHED_BYTES {
            cache.remove(0);
        }
        cache.push((key, program.clone()));
        Ok(program)
    })
}

/// Where a function has its arguments beside the text, which is the first, and the pattern, which is the
/// second. A call may have fewer.
struct Places {
    operation: &'static str,
    /// What replaces a match.
    replacement: Option<usize>,
    /// The numbers. The first is where the search begins.
    numbers: Range<usize>,
    flags: usize,
}

const LIKE: Places = Places { operation: "regexp_like", replacement: None, numbers: 0..0, flags: 2 };
const INSTR: Places = Places { operation: REGEXP_INSTR, replacement: None, numbers: 2..5, flags: 5 };
const SUBSTR: Places = Places { operation: "regexp_substr", replacement: None, numbers: 2..4, flags: 4 };
const REPLACE: Places = Places { operation: "regexp_replace", replacement: Some(2), numbers: 3..5, flags: 5 };

impl Places {
    /// Where the search begins, if the call says so.
    fn position(&self, values: &[Value]) -> Option<usize> {
        self.numbers.clone().next().filter(|place| *place < values.len())
    }
}

/// The values of the arguments; `None` if the result is NULL because one of them is. MySQL looks at the
/// numbers first, then at the flags and the pattern, and at the text in the end. The pattern must be one even
/// if something else is NULL, and the position one in a text if all numbers are there.
fn arguments_of(cx: &mut Context<'_>, arguments: &[Expr], places: &Places) -> SqlAttempt<Option<Values>> {
    let mut values: Values = arguments.iter().map(|_| Value::Null).collect();
    let mut is_null = false;
    for place in places.numbers.clone().filter(|place| *place < arguments.len()) {
        let value = arguments.at(place)?.eval(cx)?;
        is_null |= value.is_null();
        if !value.is_null() {
            *values.at_mut(place)? = Value::Int(cx.to_i64(value.as_ref())?);
        }
    }
    if places.operation == REGEXP_INSTR
        && !matches!(values.get(4), None | Some(Value::Null | Value::Int(0 | 1)))
    {
        let option = format!("{REGEXP_INSTR}: return_option must be 1 or 0.");
        return Err(mysql_error!(ER_WRONG_ARGUMENTS, option).into());
    }
    if let Some(flags) = arguments.get(places.flags) {
        let value = flags.eval(cx)?;
        if value.is_null() {
            return Ok(None);
        }
        *values.at_mut(places.flags)? = value;
    }
    let mut take = |cx: &mut Context<'_>, place: usize| -> SqlAttempt<bool> {
        let value = arguments.at(place)?.eval(cx)?;
        let is_null = value.is_null();
        *values.at_mut(place)? = value;
        Ok(is_null)
    };
    let has_pattern = !take(cx, 1)?;
    let are_numbers = !is_null;
    // What replaces is looked at though there may be no pattern.
    if let Some(place) = places.replacement.filter(|_| are_numbers) {
        is_null = take(cx, place)?;
    }
    is_null = is_null || !has_pattern || take(cx, 0)?;
    if !is_null {
        return Ok(Some(values));
    }
    if has_pattern {
        check_pattern(cx, &values, arguments, places)?;
    }
    if let Some(Value::Int(from)) = places.position(&values).and_then(|place| values.get(place))
        && are_numbers
    {
        check_position(*from, places.operation)?;
    }
    Ok(None)
}

/// Fails if the pattern is none.
fn check_pattern(
    cx: &mut Context<'_>,
    values: &[Value],
    arguments: &[Expr],
    places: &Places,
) -> SqlResult<()> {
    let ty = super::text_of_length(0, CollationId::UTF8MB4_BIN);
    let flags = match (values.get(places.flags), arguments.get(places.flags)) {
        (Some(value), Some(argument)) => cx.text(value, argument, &ty)?,
        _ => Bytes::new(),
    };
    let pattern = cx.text(values.at(1)?, arguments.at(1)?, &ty)?;
    compile(&pattern, true, &flags, places.operation).map(drop)
}

/// 1583 for a place before the text, which REGEXP_INSTR says otherwise.
fn check_position(from: i64, operation: &str) -> SqlResult<()> {
    match from < 1 && operation != REGEXP_INSTR {
        true => Err(mysql_error!(ER_WRONG_PARAMETERS_TO_NATIVE_FCT, operation)),
        false => Ok(()),
    }
}

fn search(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], places: &Places) -> SqlResult<Search> {
    let operation = places.operation;
    let collation = aggregate_collations(&[arguments.at(0)?, arguments.at(1)?], operation)?.0;
    // The engine reads UTF-8.
    let read_as = match collation.get().charset {
        charset if charset.is_utf8() || charset == Charset::Binary => collation,
        _ => CollationId::UTF8MB4_BIN,
    };
    let ty = super::text_of_length(0, read_as);
    let text = cx.text(values.at(0)?, arguments.at(0)?, &ty)?;
    let pattern = cx.text(values.at(1)?, arguments.at(1)?, &ty)?;
    let flags = match (values.get(places.flags), arguments.get(places.flags)) {
        (Some(value), Some(argument)) => cx.text(value, argument, &ty)?,
        _ => Bytes::new(),
    };
    cx.checkpoint(pattern.len().saturating_mul(UNITS_A_PATTERN_BYTE))?;
    let program = compile(&pattern, collation.get().is_binary_order(), &flags, operation)?;
    program.allow(cx, text.len())?;
    let mut start = 0;
    if let Some((place, value)) = places.position(values).and_then(|place| Some((place, values.get(place)?)))
    {
        let from = in_32_bits(cx.to_i64(value.as_ref())?);
        let charset = arguments.at(place)?.ty.collation().get().charset;
        let charset = if text.is_ascii() { charset } else { read_as.get().charset };
        let count = charset.char_count(&text) as i64;
        check_position(from, operation)?;
        // The end of the text is no place at which REGEXP_INSTR begins, and any place is one in an empty
        // text.
        let last = if operation == REGEXP_INSTR { count } else { count + 1 };
        let is_anywhere = operation == REGEXP_INSTR && text.is_empty();
        if !is_anywhere {
            if from < 1 || from > last {
                return Err(mysql_error!(ER_REGEXP_INDEX_OUTOFBOUNDS_ERROR));
            }
            start = charset.prefix_len(&text, (from - 1) as usize);
        }
    }
    Ok(Search { text, program, start, read_as })
}

/// An optional integer argument.
fn integer(cx: &mut Context<'_>, values: &[Value], place: usize, absent: i64) -> SqlResult<i64> {
    values.get(place).map_or(Ok(absent), |value| Ok(in_32_bits(cx.to_i64(value.as_ref())?)))
}

/// The lowest bits of a number: all that MySQL looks at of a position or an occurrence.
fn in_32_bits(number: i64) -> i64 {
    i64::from(number as i32)
}

fn regexp_like(cx: &mut Context<'_>, arguments: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let Some(values) = arguments_of(cx, arguments, &LIKE)? else { return Ok(Value::Null) };
    let search = search(cx, &values, arguments, &LIKE)?;
    let walked = match search.program.walker(&search.text) {
        Some(mut walker) => walker.is_match(&search.text, &mut |units| cx.checkpoint(units))?.ok(),
        None => None,
    };
    let is_match = walked.unwrap_or_else(|| search.program.regex.is_match(&search.text));
    Ok(Value::Int(i64::from(is_match)))
}

fn regexp_instr(cx: &mut Context<'_>, arguments: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let Some(values) = arguments_of(cx, arguments, &INSTR)? else { return Ok(Value::Null) };
    let search = search(cx, &values, arguments, &INSTR)?;
    let (occurrence, after) = (integer(cx, &values, 3, 1)?.max(1), integer(cx, &values, 4, 0)?);
    let found = search.occurrence(cx, occurrence)?;
    if search.text.is_empty() {
        // What is found there is where the search is told to begin.
        let from = integer(cx, &values, 2, 1)?;
        return Ok(Value::Int(found.map_or(0, |_| from)));
    }
    Ok(Value::Int(found.map_or(0, |found| {
        let at = search.start + if after == 1 { found.end } else { found.start };
        let before = search.text.get(..at).unwrap_or(&search.text);
        search.read_as.get().charset.char_count(before) as i64 + 1
    })))
}

fn regexp_substr(cx: &mut Context<'_>, arguments: &[Expr], call: &Expr) -> SqlAttempt<Value> {
    let Some(values) = arguments_of(cx, arguments, &SUBSTR)? else { return Ok(Value::Null) };
    let search = search(cx, &values, arguments, &SUBSTR)?;
    let occurrence = integer(cx, &values, 3, 1)?.max(1);
    let found = search.occurrence(cx, occurrence)?;
    let text = search.text.get(search.start..).unwrap_or_default();
    match found.and_then(|found| text.get(found)) {
        Some(found) => Ok(search.result(cx, found.to_vec(), call)?),
        None => Ok(Value::Null),
    }
}

fn regexp_replace(cx: &mut Context<'_>, arguments: &[Expr], call: &Expr) -> SqlAttempt<Value> {
    let Some(values) = arguments_of(cx, arguments, &REPLACE)? else { return Ok(Value::Null) };
    let search = search(cx, &values, arguments, &REPLACE)?;
    if search.text.is_empty() {
        return Ok(search.result(cx, Vec::new(), call)?);
    }
    // 0 is all of them, and a negative number the first.
    let occurrence = match integer(cx, &values, 4, 0)? {
        ..0 => 1,
        number => number as usize,
    };
    let template_type = super::text_of_length(0, search.read_as);
    let template = cx.text(values.at(2)?, arguments.at(2)?, &template_type)?;
    let limit = cx.packet_limit();
    let (before, text) = search.text.split_at(search.start);
    let mut out = before.to_vec();
    let mut copied = 0;
    let mut number = 0;
    let mut matches = Matches::new(&search.program, text);
    while let Some(found) = matches.next(cx)? {
        number += 1;
        if occurrence != 0 && number != occurrence {
            continue;
        }
        let Some(captures) = search.program.regex.captures_at(text, found.start) else { break };
        let whole = captures.get_match();
        out.extend_from_slice(text.get(copied..whole.start()).unwrap_or_default());
        expand(&template, &search.program, &captures, limit, &mut out)?;
        if out.len() > limit {
            return Ok(cx.too_large("regexp_replace"));
        }
        copied = search.program.end(&captures);
    }
    let rest = text.get(copied..).unwrap_or_default();
    if out.len() + rest.len() > limit {
        return Ok(cx.too_large("regexp_replace"));
    }
    out.extend_from_slice(rest);
    Ok(search.result(cx, out, call)?)
}

/// ICU's template: `$1` and `${name}` are groups, a backslash takes the next character as it is. Ends early
/// when more than `limit` bytes are there.
fn expand(
    template: &[u8],
    program: &Program,
    captures: &Captures<'_>,
    limit: usize,
    out: &mut Vec<u8>,
) -> SqlResult<()> {
    let pattern = &program.pattern;
    let no_name = || mysql_error!(ER_REGEXP_INVALID_CAPTURE_GROUP_NAME);
    let mut rest = template;
    while let [byte, after @ ..] = rest {
        if out.len() > limit {
            return Ok(());
        }
        rest = after;
        let group = match (byte, after) {
            (b'\\', [literal, after @ ..]) => {
                out.push(*literal);
                rest = after;
                continue;
            }
            (b'\\', []) => continue,
            (b'$', [digit @ b'0'..=b'9', after @ ..]) => {
                rest = after;
                usize::from(digit - b'0')
            }
            (b'$', [b'{', named @ ..]) => {
                let length = named.iter().position(|byte| *byte == b'}').ok_or_else(no_name)?;
                let (name, after) = named.split_at_checked(length).ok_or_else(no_name)?;
                rest = after.get(1..).unwrap_or_default();
                let name = std::str::from_utf8(name).map_err(|_| no_name())?;
                let by_name = pattern.names.get(name).copied();
                by_name.ok_or_else(no_name)?
            }
            (b'$', _) => return Err(no_name()),
            (byte, _) => {
                out.push(*byte);
                continue;
            }
        };
        let Some(written) = pattern.groups.get(group) else {
            return Err(mysql_error!(ER_REGEXP_INDEX_OUTOFBOUNDS_ERROR));
        };
        let mut range = captures.get(*written).map_or(0..0, |group| group.range());
        if group == 0 {
            range.end = program.end(captures);
        }
        let whole = captures.get(*written).map_or(&b""[..], |group| group.as_bytes());
        out.extend_from_slice(whole.get(..range.len()).unwrap_or(whole));
    }
    Ok(())
}
