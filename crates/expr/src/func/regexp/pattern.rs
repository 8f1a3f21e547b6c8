//! ICU's patterns, in the words of the `regex` crate.
//!
//! MySQL's patterns are ICU's. A pattern is read here once, by ICU's rules, for what is wrong with it, which
//! is an error of its own kind, and written anew for the engine that is here. What differs:
//!
//! | ICU | written as |
//! |---|---|
//! | `.`, `^`, `$`, `\Z`, `\v`, `\h`, `\s`, `\R` | sets of ICU's line terminators and spaces |
//! | `[[:alpha:]]` and its like | Unicode's properties |
//! | `\Q...\E`, `(?#...)`, flag `x` | their meaning |
//! | `$` | a line terminator at the end as well, in a group: a match ends before it |
//! | look-around, back-references, atomic groups, possessive quantifiers, `\X`, `\G`, `\N` | 1235 |

mod set;

use std::collections::HashMap;

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;

use crate::error::not_supported;
use crate::{SqlError, SqlResult};

/// ICU's line terminators, without the brackets of a set.
const LINE_ENDS: &str = r"\n\x0B\x0C\r\x{85}\x{2028}\x{2029}";
/// Sets of Unicode's characters in one pattern: each takes the engine's parser some 10 KiB.
const MOST_UNICODE_SETS: usize = 4096;
/// The greatest number in `{min,max}`.
const MOST_REPETITIONS: u32 = 0x00FF_FFFF;

/// How a pattern is to be read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Flags {
    /// `m`: `^` and `$` match at line terminators.
    pub multi_line: bool,
    /// `n`, and `s` in a pattern: `.` matches line terminators.
    pub dot_all: bool,
    /// `u`: only `\n` is a line terminator.
    pub unix_lines: bool,
    /// `x`: space and comments say nothing.
    pub extended: bool,
}

/// A pattern for the `regex` crate.
#[derive(Debug, Default)]
pub struct Pattern {
    /// It.
    pub text: String,
    /// The group that each of its capture groups is there; the first is the whole match.
    pub groups: Vec<usize>,
    /// Names of capture groups, and their positions in `groups`.
    pub names: HashMap<String, usize>,
    /// Groups that are a line terminator at the end, before which the match ends.
    pub ends: Vec<usize>,
}

/// A group that is open.
struct Open {
    flags: Flags,
    is_look_behind: bool,
}

/// Reads a pattern.
struct Reader<'p> {
    characters: Vec<char>,
    at: usize,
    flags: Flags,
    open: Vec<Open>,
    /// Look-behind groups among them.
    look_behinds: usize,
    /// Sets of Unicode's characters so far.
    unicode_sets: usize,
    /// Sets that are open.
    set_depth: usize,
    out: Pattern,
    /// Capture groups of what is written.
    written_groups: usize,
    /// What it uses that the engine does not have.
    missing: Option<&'p str>,
    /// The greatest number of a back-reference.
    greatest_reference: usize,
}

/// Translates `pattern`. Errors are MySQL's for what ICU finds wrong; 1235 for what the engine does not have.
pub fn translate(pattern: &str, flags: Flags) -> SqlResult<Pattern> {
    let mut reader = Reader {
        characters: pattern.chars().collect(),
        at: 0,
        flags,
        open: Vec::new(),
        look_behinds: 0,
        unicode_sets: 0,
        set_depth: 0,
        out: Pattern { groups: vec![0], ..Pattern::default() },
        written_groups: 0,
        missing: None,
        greatest_reference: 0,
    };
    reader.read()?;
    if !reader.open.is_empty() {
        return Err(mysql_error!(ER_REGEXP_MISMATCHED_PAREN));
    }
    if reader.greatest_reference >= reader.out.groups.len() {
        return Err(mysql_error!(ER_REGEXP_INVALID_BACK_REF));
    }
    match reader.missing {
        Some(missing) => Err(not_supported(format!("{missing} in a regular expression"))),
        None => Ok(reader.out),
    }
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    fn accept(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    /// 3688 at the character with this position.
    fn syntax(&self, position: usize) -> SqlError {
        let position = position.min(self.characters.len().saturating_sub(1));
        let before = self.characters.get(..position).unwrap_or_default();
        let line = 1 + before.iter().filter(|character| **character == '\n').count();
        let start = before.iter().rposition(|character| *character == '\n').map_or(0, |newline| newline + 1);
        mysql_error!(ER_REGEXP_RULE_SYNTAX, line, position - start + 1)
    }

    fn read(&mut self) -> SqlResult<()> {
        // Where what a quantifier would repeat begins in the output; none where nothing can be repeated.
        let mut operand: Option<usize> = None;
        while let Some(character) = self.next() {
            let begins = self.out.text.len();
            operand = match character {
                character if self.flags.extended && character.is_whitespace() => operand,
                '#' if self.flags.extended => {
                    while self.next().is_some_and(|character| character != '\n') {}
                    operand
                }
                '(' => {
                    self.group()?;
                    None
                }
                ')' => {
                    let Some(open) = self.open.pop() else {
                        return Err(mysql_error!(ER_REGEXP_MISMATCHED_PAREN));
                    };
                    self.flags = open.flags;
                    self.look_behinds -= usize::from(open.is_look_behind);
                    self.out.text.push(')');
                    // The engine repeats what stands before by itself.
                    Some(begins)
                }
                '|' => {
                    self.out.text.push('|');
                    None
                }
                '*' | '+' | '?' | '{' => {
                    if operand.is_none() {
                        return Err(self.syntax(self.at - 1));
                    }
                    self.quantifier(character)?;
                    None
                }
                '}' => return Err(self.syntax(self.at - 1)),
                '[' => {
                    let set = self.set()?;
                    self.out.text.push_str(&set);
                    Some(begins)
                }
                '.' => {
                    let dot = match (self.flags.dot_all, self.flags.unix_lines) {
                        (true, _) => "(?s:.)".to_owned(),
                        (false, true) => r"[^\n]".to_owned(),
                        (false, false) => format!("[^{LINE_ENDS}]"),
                    };
                    self.out.text.push_str(&dot);
                    Some(begins)
                }
                '^' => {
                    self.out.text.push_str(match (self.flags.multi_line, self.flags.unix_lines) {
                        (false, _) => r"(?:\A)",
                        (true, false) => "(?mR:^)",
                        (true, true) => "(?m:^)",
                    });
                    Some(begins)
                }
                '$' => {
                    self.end_of_line();
                    Some(begins)
                }
                '\\' => self.escape()?.then_some(begins),
                literal => {
                    push_literal(literal, &mut self.out.text);
                    Some(begins)
                }
            };
        }
        Ok(())
    }

    fn end_of_line(&mut self) {
        match (self.flags.multi_line, self.flags.unix_lines) {
            (true, false) => self.out.text.push_str("(?mR:$)"),
            (true, true) => self.out.text.push_str("(?m:$)"),
            (false, true) => self.end_of_text(r"\n"),
            (false, false) => self.end_of_text(&format!(r"\r\n|[{LINE_ENDS}]")),
        }
    }

    /// The end of the text, or before a line terminator there.
    fn end_of_text(&mut self, terminator: &str) {
        self.written_groups += 1;
        self.out.ends.push(self.written_groups);
        self.out.text.push_str(r"(?:(");
        self.out.text.push_str(terminator);
        self.out.text.push_str(r")?\z)");
    }

    fn quantifier(&mut self, character: char) -> SqlResult<()> {
        let mut is_bounded = character == '?';
        self.out.text.push(character);
        if character == '{' {
            let bad = || mysql_error!(ER_REGEXP_BAD_INTERVAL);
            let low = self.number()?.ok_or_else(bad)?;
            let high = if self.accept(',') {
                let high = self.number()?;
                is_bounded = high.is_some();
                high
            } else {
                is_bounded = true;
                Some(low)
            };
            if !self.accept('}') {
                return Err(bad());
            }
            if high.is_some_and(|high| high < low) {
                return Err(mysql_error!(ER_REGEXP_MAX_LT_MIN));
            }
            let high = high.map_or(String::new(), |high| high.to_string());
            self.out.text.push_str(&format!("{low},{high}}}"));
        }
        if !is_bounded && self.look_behinds > 0 {
            return Err(mysql_error!(ER_REGEXP_LOOK_BEHIND_LIMIT));
        }
        if self.accept('?') {
            self.out.text.push('?');
        } else if self.accept('+') {
            self.missing = self.missing.or(Some("a possessive quantifier"));
        }
        Ok(())
    }

    fn number(&mut self) -> SqlResult<Option<u32>> {
        let mut number: Option<u32> = None;
        while let Some(digit) = self.peek().and_then(|character| character.to_digit(10)) {
            self.at += 1;
            let value = number.unwrap_or(0).saturating_mul(10).saturating_add(digit);
            if value > MOST_REPETITIONS {
                return Err(mysql_error!(ER_REGEXP_NUMBER_TOO_BIG));
            }
            number = Some(value);
        }
        Ok(number)
    }

    /// Behind `(`.
    fn group(&mut self) -> SqlResult<()> {
        let mut open = Open { flags: self.flags, is_look_behind: false };
        if !self.accept('?') {
            self.capture(None);
            self.open.push(open);
            return Ok(());
        }
        let kind = self.next();
        match (kind, self.peek()) {
            (Some(':'), _) => self.out.text.push_str("(?:"),
            (Some('>'), _) => self.unwritten("an atomic group"),
            (Some('=' | '!'), _) => self.unwritten("look-around"),
            (Some('<'), Some('=' | '!')) => {
                self.at += 1;
                open.is_look_behind = true;
                self.look_behinds += 1;
                self.unwritten("look-around");
            }
            (Some('<'), _) => {
                let name = self.name()?;
                self.capture(Some(name));
            }
            (Some('#'), _) => {
                while let Some(character) = self.next() {
                    if character == ')' {
                        return Ok(());
                    }
                }
                return Err(mysql_error!(ER_REGEXP_MISMATCHED_PAREN));
            }
            (Some('i' | 'd' | 'm' | 's' | 'u' | 'w' | 'x' | '-'), _) => {
                self.at -= 1;
                if !self.inner_flags()? {
                    return Ok(());
                }
            }
            _ => return Err(self.syntax(self.at - usize::from(kind.is_some()))),
        }
        self.open.push(open);
        Ok(())
    }

    /// A group that the engine does not have; what is in it is read for its mistakes.
    fn unwritten(&mut self, missing: &'static str) {
        self.missing = self.missing.or(Some(missing));
        self.out.text.push_str("(?:");
    }

    fn capture(&mut self, name: Option<String>) {
        self.written_groups += 1;
        if let Some(name) = name {
            self.out.names.insert(name, self.out.groups.len());
        }
        self.out.groups.push(self.written_groups);
        self.out.text.push('(');
    }

    /// A group's name, to behind the `>`.
    fn name(&mut self) -> SqlResult<String> {
        let bad = || mysql_error!(ER_REGEXP_INVALID_CAPTURE_GROUP_NAME);
        if !self.peek().is_some_and(|first| first.is_ascii_alphabetic()) {
            return Err(self.syntax(self.at));
        }
        let mut name = String::new();
        loop {
            match self.next() {
                Some('>') => break,
                Some(character) if character.is_ascii_alphanumeric() => name.push(character),
                _ => return Err(bad()),
            }
        }
        if self.out.names.contains_key(&name) {
            return Err(bad());
        }
        Ok(name)
    }

    /// `i-s:` of a group, which is open then, or `i-s)` of what follows.
    fn inner_flags(&mut self) -> SqlResult<bool> {
        let mut is_on = true;
        let mut case: Option<bool> = None;
        let is_group = loop {
            match self.next() {
                Some('-') => is_on = false,
                Some('i') => case = Some(is_on),
                Some('m') => self.flags.multi_line = is_on,
                Some('s') => self.flags.dot_all = is_on,
                Some('d') => self.flags.unix_lines = is_on,
                Some('x') => self.flags.extended = is_on,
                // Unicode's case and words are what there is.
                Some('u' | 'w') => {}
                Some(':') => break true,
                Some(')') => break false,
                _ => return Err(mysql_error!(ER_REGEXP_INVALID_FLAG)),
            }
        };
        self.out.text.push_str(match (case, is_group) {
            (None, true) => "(?:",
            (Some(true), true) => "(?i:",
            (Some(false), true) => "(?-i:",
            (None, false) => "",
            (Some(true), false) => "(?i)",
            (Some(false), false) => "(?-i)",
        });
        Ok(is_group)
    }

    /// Behind a backslash, outside of sets. Whether a quantifier may follow.
    fn escape(&mut self) -> SqlResult<bool> {
        let Some(character) = self.peek() else {
            return Err(mysql_error!(ER_REGEXP_BAD_ESCAPE_SEQUENCE));
        };
        match character {
            'A' | 'z' | 'b' | 'B' => {
                self.at += 1;
                self.out.text.extend(['\\', character]);
                return Ok(false);
            }
            'Z' => {
                self.at += 1;
                self.end_of_text(&format!(r"\r\n|[{LINE_ENDS}]"));
                return Ok(false);
            }
            'G' | 'X' | 'N' => {
                self.at += 1;
                self.missing = self.missing.or(Some("\\G, \\X or \\N"));
                if character == 'N' && self.peek() == Some('{') {
                    while self.next().is_some_and(|character| character != '}') {}
                }
            }
            'R' => {
                self.at += 1;
                self.out.text.push_str(&format!(r"(?:\r\n|[{LINE_ENDS}])"));
            }
            'Q' => {
                self.at += 1;
                while let Some(literal) = self.next() {
                    if literal == '\\' && self.accept('E') {
                        break;
                    }
                    push_literal(literal, &mut self.out.text);
                }
            }
            'k' => {
                self.at += 1;
                let bad = || mysql_error!(ER_REGEXP_INVALID_CAPTURE_GROUP_NAME);
                let rest = self.characters.get(self.at..).unwrap_or_default();
                let length = rest.iter().position(|character| *character == '>');
                let named: String = match (self.peek(), length) {
                    (Some('<'), Some(length)) => rest.iter().take(length).skip(1).collect(),
                    _ => return Err(bad()),
                };
                if !self.out.names.contains_key(&named) {
                    return Err(bad());
                }
                self.at += named.chars().count() + 2;
                self.missing = self.missing.or(Some("a back-reference"));
            }
            '1'..='9' => {
                self.at += 1;
                let number = character.to_digit(10).unwrap_or_default() as usize;
                self.greatest_reference = self.greatest_reference.max(number);
                self.missing = self.missing.or(Some("a back-reference"));
            }
            _ => match self.class()? {
                Some(class) => self.out.text.push_str(&class),
                None => {
                    let literal = self.character()?;
                    push_literal(literal, &mut self.out.text);
                }
            },
        }
        Ok(true)
    }

    /// One more set of Unicode's characters: 3685 if they are too many.
    fn count_unicode_set(&mut self) -> SqlResult<()> {
        self.unicode_sets += 1;
        if self.unicode_sets > MOST_UNICODE_SETS {
            Err(mysql_error!(ER_REGEXP_ILLEGAL_ARGUMENT))
        } else {
            Ok(())
        }
    }

    /// Behind a backslash: a set of characters, if it is one.
    fn class(&mut self) -> SqlResult<Option<String>> {
        if matches!(self.peek(), Some('d' | 'D' | 'w' | 'W' | 'p' | 'P')) {
            self.count_unicode_set()?;
        }
        let class = match self.peek() {
            Some(letter @ ('d' | 'D' | 'w' | 'W')) => format!("\\{letter}"),
            Some('s') => r"[\t\n\x0C\r\p{Z}]".to_owned(),
            Some('S') => r"[^\t\n\x0C\r\p{Z}]".to_owned(),
            Some('v') => format!("[{LINE_ENDS}]"),
            Some('V') => format!("[^{LINE_ENDS}]"),
            Some('h') => r"[\t\p{Zs}]".to_owned(),
            Some('H') => r"[^\t\p{Zs}]".to_owned(),
            Some(letter @ ('p' | 'P')) => {
                self.at += 1;
                return self.property(letter).map(Some);
            }
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(class))
    }

    /// `{...}` behind `\p`.
    fn property(&mut self, letter: char) -> SqlResult<String> {
        let illegal = || mysql_error!(ER_REGEXP_ILLEGAL_ARGUMENT);
        let rest = self.characters.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|character| *character == '}').ok_or_else(illegal)?;
        if rest.first() != Some(&'{') {
            return Err(illegal());
        }
        let name: String = rest.iter().take(length).skip(1).collect();
        self.at += length + 1;
        // A block of Unicode; the engine knows the scripts and the properties.
        let class = match name.strip_prefix("In").map(str::to_ascii_lowercase).as_deref() {
            Some("basiclatin" | "basic_latin") => {
                format!("[{}\\x00-\\x7F]", if letter == 'P' { "^" } else { "" })
            }
            _ => format!("\\{letter}{{{name}}}"),
        };
        // The engine refuses a name that it does not know, with the same error.
        Ok(class)
    }

    /// Behind a backslash: one character.
    fn character(&mut self) -> SqlResult<char> {
        let bad = || mysql_error!(ER_REGEXP_BAD_ESCAPE_SEQUENCE);
        let code = match self.next().ok_or_else(bad)? {
            'a' => 0x07,
            'e' => 0x1B,
            'f' => 0x0C,
            'n' => 0x0A,
            'r' => 0x0D,
            't' => 0x09,
            'c' => self.next().map_or(0, |control| u32::from(control) & 0x1F),
            '0' => self.digits(8, 1, 3)?,
            'u' => self.digits(16, 4, 4)?,
            'U' => self.digits(16, 8, 8)?,
            'x' if self.accept('{') => {
                let code = self.digits(16, 1, 8)?;
                if !self.accept('}') {
                    return Err(bad());
                }
                code
            }
            'x' => self.digits(16, 1, 2)?,
            other => u32::from(other),
        };
        char::from_u32(code).ok_or_else(bad)
    }

    fn digits(&mut self, radix: u32, least: usize, most: usize) -> SqlResult<u32> {
        let (mut code, mut count) = (0u32, 0);
        while count < most
            && let Some(digit) = self.peek().and_then(|character| character.to_digit(radix))
        {
            self.at += 1;
            count += 1;
            code = code.saturating_mul(radix).saturating_add(digit);
        }
        if count < least { Err(mysql_error!(ER_REGEXP_BAD_ESCAPE_SEQUENCE)) } else { Ok(code) }
    }
}

/// Appends a character that means itself.
fn push_literal(literal: char, out: &mut String) {
    if literal.is_ascii_punctuation() && !matches!(literal, '<' | '>') {
        out.push('\\');
    }
    out.push(literal);
}
