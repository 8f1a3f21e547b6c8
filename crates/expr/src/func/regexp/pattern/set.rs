//! Sets of characters: `[...]`, with sets in them, their differences and intersections, and POSIX's classes.

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;

use super::{Reader, push_literal};
use crate::SqlResult;

/// Longest name of a class, with what ends it.
const LONGEST_CLASS: usize = 10;
/// How deep sets are nested: no deeper than the engine takes them, and the stack holds.
const DEEPEST_SET: usize = 200;

impl Reader<'_> {
    /// Behind `[`: the whole set, written for the engine.
    pub(super) fn set(&mut self) -> SqlResult<String> {
        if let Some(class) = self.posix_class()? {
            return Ok(class);
        }
        if self.set_depth == DEEPEST_SET {
            return Err(mysql_error!(ER_REGEXP_ILLEGAL_ARGUMENT));
        }
        self.set_depth += 1;
        let set = self.members();
        self.set_depth -= 1;
        set
    }

    /// What stands in a set, and its end.
    fn members(&mut self) -> SqlResult<String> {
        let open = || mysql_error!(ER_REGEXP_MISSING_CLOSE_BRACKET);
        let mut out = String::from("[");
        if self.accept('^') {
            out.push('^');
        }
        let mut is_first = true;
        loop {
            let character = self.next().ok_or_else(open)?;
            match character {
                ']' if !is_first => break,
                '[' => {
                    let inner = self.set()?;
                    out.push_str(&inner);
                }
                '&' if self.accept('&') => out.push_str("&&"),
                '-' if !is_first && self.accept('-') => out.push_str("--"),
                '\\' => self.escape_in_set(&mut out)?,
                low => self.range(low, &mut out)?,
            }
            is_first = false;
        }
        out.push(']');
        Ok(out)
    }

    fn escape_in_set(&mut self, out: &mut String) -> SqlResult<()> {
        if self.accept('Q') {
            while let Some(literal) = self.next() {
                if literal == '\\' && self.accept('E') {
                    break;
                }
                push_literal(literal, out);
            }
            return Ok(());
        }
        if self.peek() == Some('N') {
            self.missing = self.missing.or(Some("\\G, \\X or \\N"));
        }
        match self.class()? {
            Some(class) => {
                out.push_str(&class);
                // What follows is no range.
                if self.peek() == Some('-') && !matches!(self.peek_at(1), Some(']' | '-')) {
                    self.at += 1;
                    out.push_str("\\-");
                }
                Ok(())
            }
            None => {
                let low = self.character()?;
                self.range(low, out)
            }
        }
    }

    /// A character, or the range that it begins.
    fn range(&mut self, low: char, out: &mut String) -> SqlResult<()> {
        push_literal(low, out);
        if self.peek() != Some('-') || matches!(self.peek_at(1), Some(']' | '-' | '[')) {
            return Ok(());
        }
        self.at += 1;
        let high = match self.next() {
            Some('\\') => match self.class()? {
                Some(_) => return Err(self.syntax(self.at - 1)),
                None => self.character()?,
            },
            Some(high) => high,
            None => return Err(mysql_error!(ER_REGEXP_INVALID_RANGE)),
        };
        if high < low {
            return Err(mysql_error!(ER_REGEXP_INVALID_RANGE));
        }
        out.push('-');
        push_literal(high, out);
        // A hyphen behind a range is one.
        if self.peek() == Some('-') && !matches!(self.peek_at(1), Some('-')) {
            self.at += 1;
            out.push_str("\\-");
        }
        Ok(())
    }

    /// Behind `[`: the rest of `[:name:]`, if it is one; 3685 if there is no such class.
    fn posix_class(&mut self) -> SqlResult<Option<String>> {
        if self.peek() != Some(':') {
            return Ok(None);
        }
        let rest = self.characters.get(self.at + 1..).unwrap_or_default();
        let rest = rest.get(..LONGEST_CLASS).unwrap_or(rest);
        let Some(length) = rest.windows(2).position(|pair| pair == [':', ']']) else { return Ok(None) };
        let name: String = rest.iter().take(length).collect();
        let (is_negated, name) = name.strip_prefix('^').map_or((false, name.as_str()), |name| (true, name));
        let members = match name.to_ascii_lowercase().as_str() {
            "alnum" => r"\p{Alphabetic}\p{Nd}",
            "alpha" => r"\p{Alphabetic}",
            "blank" => r"\t\p{Zs}",
            "cntrl" => r"\p{Cc}",
            "digit" => r"\p{Nd}",
            "graph" => r"[^\p{White_Space}\p{Cc}\p{Cn}\p{Cs}]",
            "lower" => r"\p{Lowercase}",
            "print" => r"\p{Zs}[^\p{White_Space}\p{Cc}\p{Cn}\p{Cs}]",
            "punct" => r"\p{P}",
            "space" => r"\p{White_Space}",
            "upper" => r"\p{Uppercase}",
            "word" => r"\w",
            "xdigit" => r"\p{Nd}A-Fa-f\x{FF21}-\x{FF26}\x{FF41}-\x{FF46}",
            _ => return Err(mysql_error!(ER_REGEXP_ILLEGAL_ARGUMENT)),
        };
        self.count_unicode_set()?;
        self.at += length + 3;
        Ok(Some(format!("[{}{members}]", if is_negated { "^" } else { "" })))
    }
}
