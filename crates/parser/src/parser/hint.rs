//! The optimizer's hints: `SELECT /*+ MAX_EXECUTION_TIME(1000) */ ...`.
//!
//! They stand in a comment right behind SELECT, INSERT, REPLACE, UPDATE or DELETE, so the lexer passes over
//! them, and the rules of those statements look there. MAX_EXECUTION_TIME is an option of its SELECT; the
//! others are noted for the statement, since a hint may be about another query block than the one that it
//! stands in. As in MySQL a mistake ends the list, and what stands before it counts.

use super::Parser;
use crate::ParseError;
use crate::hint::{BlockHint, Hint, HintForm, HintKind, HintTable, HintValue};
use crate::lexer::{Lexer, Token, TokenKind, is_space};
use memchr::memmem;

const OPEN: &[u8] = b"/*+";
const CLOSE: &[u8] = b"*/";

/// The comment with hints at the beginning of `gap`, what lies between a verb and the token behind it.
pub(crate) fn comment(gap: &[u8]) -> Option<&[u8]> {
    let start = gap.iter().position(|byte| !is_space(*byte))?;
    let comment = gap.get(start..)?;
    let length = memmem::find(comment.strip_prefix(OPEN)?, CLOSE)?;
    comment.get(..OPEN.len() + length + CLOSE.len())
}

impl Parser<'_> {
    /// Reads the hints between the verb that was just read and the current token. Gives the milliseconds of
    /// MAX_EXECUTION_TIME.
    pub(super) fn hints(&mut self) -> Option<u32> {
        let gap = self.lexer.between(self.previous_end, self.token.start);
        let comment = comment(gap)?;
        let start = self.token.start - gap.len() + gap.iter().position(|byte| !is_space(*byte))?;
        let inner = comment.strip_prefix(OPEN)?.strip_suffix(CLOSE)?;
        let lexer = Lexer::new(inner, &self.options);
        let block = self.blocks.max(1);
        let mut reader = Reader { lexer, block, limit: None, found: Vec::new() };
        let mistake = reader.list();
        let Reader { limit, found, .. } = reader;
        self.hints.extend(found);
        if limit.is_some() && (self.changes_rows || self.blocks > 1) {
            self.hints.push(Hint::MisplacedLimit);
        }
        if let Err(at) = mistake {
            let text = self.lexer.text();
            let near = match at {
                Some(at) => ParseError::near(text, start + OPEN.len() + at),
                // MySQL's reader of hints knows no more of the text at the end of them.
                None => ParseError::near(text.get(..start + comment.len()).unwrap_or(text), {
                    start + comment.len() - CLOSE.len()
                }),
            };
            if let ParseError::Syntax { near, line } = near {
                self.hints.push(Hint::Mistake { near, line });
            }
        }
        limit
    }
}

/// The hints of one comment.
struct Reader<'a> {
    lexer: Lexer<'a>,
    /// Number of the query block that they stand in.
    block: u32,
    limit: Option<u32>,
    found: Vec<Hint>,
}

/// Where there is a mistake; `None` at the end.
type Read<T> = Result<T, Option<usize>>;

impl Reader<'_> {
    fn list(&mut self) -> Read<()> {
        let mut name = self.lexer.next_token();
        loop {
            name = self.hint(name)?;
            if name.kind == TokenKind::End {
                return Ok(());
            }
        }
    }

    /// Reads a hint. Gives the token behind it.
    fn hint(&mut self, name: Token) -> Read<Token> {
        let is = |word: &str| self.lexer.bytes(name).eq_ignore_ascii_case(word.as_bytes());
        match name.kind {
            TokenKind::Word if is("MAX_EXECUTION_TIME") => self.limit()?,
            TokenKind::Word if is("SET_VAR") => self.set_variable()?,
            TokenKind::Word => match HintKind::named(self.lexer.bytes(name)) {
                Some(kind) => self.block_hint(kind)?,
                None => return self.fail(name),
            },
            _ => return self.fail(name),
        }
        Ok(self.lexer.next_token())
    }

    /// `(@block t, t@block i, i)`, as far as hints of this kind have it.
    fn block_hint(&mut self, kind: HintKind) -> Read<()> {
        self.symbol(b'(')?;
        let mut hint = BlockHint {
            kind,
            block: self.block,
            named: None,
            tables: Vec::new(),
            indexes: Vec::new(),
            strategies: Vec::new(),
        };
        let mut token = self.lexer.next_token();
        if kind.form() == HintForm::Name {
            hint.named = Some(self.name(token)?);
            token = self.lexer.next_token();
        } else if token.kind == TokenKind::Symbol(b'@') {
            let name = self.lexer.next_token();
            hint.named = Some(self.name(name)?);
            token = self.lexer.next_token();
        }
        match kind.form() {
            HintForm::Name | HintForm::Block => {}
            HintForm::Tables => token = self.tables(&mut hint, token)?,
            HintForm::Indexes => {
                token = self.table(&mut hint, token)?;
                token = self.list_until_end(token, |reader, token| {
                    hint.indexes.push(reader.name(token)?);
                    Ok(())
                })?;
            }
            HintForm::Strategies => {
                token = self.list_until_end(token, |reader, token| {
                    let word = reader.text(token).to_ascii_uppercase();
                    if token.kind != TokenKind::Word || !kind.strategies().contains(&word.as_str()) {
                        return reader.fail(token);
                    }
                    hint.strategies.push(word);
                    Ok(())
                })?;
                let is_one = kind != HintKind::Subquery || hint.strategies.len() == 1;
                if !is_one {
                    return self.fail(token);
                }
            }
        }
        if token.kind != TokenKind::Symbol(b')') {
            return self.fail(token);
        }
        self.found.push(Hint::Block(hint));
        Ok(())
    }

    /// Items with commas between them, if any, from `token` to the parenthesis that ends them, which is
    /// given.
    fn list_until_end(
        &mut self,
        token: Token,
        mut item: impl FnMut(&mut Self, Token) -> Read<()>,
    ) -> Read<Token> {
        let mut token = token;
        if token.kind == TokenKind::Symbol(b')') {
            return Ok(token);
        }
        loop {
            item(self, token)?;
            token = self.lexer.next_token();
            if token.kind != TokenKind::Symbol(b',') {
                return Ok(token);
            }
            token = self.lexer.next_token();
        }
    }

    fn tables(&mut self, hint: &mut BlockHint, token: Token) -> Read<Token> {
        let mut token = token;
        if token.kind == TokenKind::Symbol(b')') {
            return Ok(token);
        }
        loop {
            token = self.table(hint, token)?;
            if token.kind != TokenKind::Symbol(b',') {
                return Ok(token);
            }
            token = self.lexer.next_token();
        }
    }

    /// `t`, or `t@block` where the hint names no block itself. Gives the token behind it.
    fn table(&mut self, hint: &mut BlockHint, token: Token) -> Read<Token> {
        let mut table = HintTable { name: self.name(token)?, block: None };
        let mut token = self.lexer.next_token();
        if token.kind == TokenKind::Symbol(b'@') && hint.named.is_none() {
            let name = self.lexer.next_token();
            table.block = Some(self.name(name)?);
            token = self.lexer.next_token();
        }
        hint.tables.push(table);
        Ok(token)
    }

    /// A name, quoted or not.
    fn name(&self, token: Token) -> Read<String> {
        match token.kind {
            TokenKind::Word | TokenKind::AtName if token.end > token.start => Ok(self.text(token)),
            TokenKind::QuotedName => Ok(unquoted(&self.text(token))),
            _ => self.fail(token),
        }
    }

    fn limit(&mut self) -> Read<()> {
        self.symbol(b'(')?;
        let number = self.lexer.next_token();
        let digits = std::str::from_utf8(self.lexer.bytes(number)).unwrap_or_default();
        let Ok(limit) = digits.parse() else { return self.fail(number) };
        self.symbol(b')')?;
        match self.limit {
            Some(_) => self.found.push(Hint::RepeatedLimit(digits.to_owned())),
            None => self.limit = Some(limit),
        }
        Ok(())
    }

    fn set_variable(&mut self) -> Read<()> {
        self.symbol(b'(')?;
        let variable = self.lexer.next_token();
        let name = match variable.kind {
            TokenKind::Word => self.text(variable),
            TokenKind::QuotedName => unquoted(&self.text(variable)),
            _ => return self.fail(variable),
        };
        self.symbol(b'=')?;
        let token = self.lexer.next_token();
        let written = self.text(token);
        let value = match token.kind {
            TokenKind::Integer | TokenKind::Word => integer(&written).map_or_else(
                || {
                    if token.kind == TokenKind::Word {
                        HintValue::Text(written.clone())
                    } else {
                        HintValue::Other
                    }
                },
                HintValue::Integer,
            ),
            TokenKind::QuotedName | TokenKind::String if written.len() > 2 => {
                HintValue::Text(unquoted(&written))
            }
            TokenKind::Decimal | TokenKind::Float | TokenKind::HexNumber | TokenKind::BitNumber => {
                HintValue::Other
            }
            _ => return self.fail(token),
        };
        self.symbol(b')')?;
        self.found.push(Hint::SetVariable { name, value, written });
        Ok(())
    }

    fn symbol(&mut self, symbol: u8) -> Read<()> {
        let token = self.lexer.next_token();
        if token.kind == TokenKind::Symbol(symbol) { Ok(()) } else { self.fail(token) }
    }

    fn text(&self, token: Token) -> String {
        String::from_utf8_lossy(self.lexer.bytes(token)).into_owned()
    }

    fn fail<T>(&self, token: Token) -> Read<T> {
        Err((token.kind != TokenKind::End).then_some(token.start))
    }
}

/// The text within quotes, in which a quote is written twice.
fn unquoted(text: &str) -> String {
    let mut characters = text.chars();
    let (Some(quote), Some(_)) = (characters.next(), characters.next_back()) else { return String::new() };
    characters.as_str().replace(&format!("{quote}{quote}"), &quote.to_string())
}

/// `16`, `16K`, `16M`, `16G`.
fn integer(text: &str) -> Option<u64> {
    let shift = match text.as_bytes().last()? {
        b'K' | b'k' => 10,
        b'M' | b'm' => 20,
        b'G' | b'g' => 30,
        _ => return text.parse().ok(),
    };
    text.get(..text.len() - 1)?.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ParseOptions;

    fn read(text: &str) -> (Option<u32>, Vec<Hint>) {
        let text = format!("SELECT {text}1");
        let mut parser = Parser::new(text.as_bytes(), ParseOptions::default());
        parser.advance();
        let limit = parser.hints();
        (limit, parser.hints)
    }

    #[test]
    fn the_limit_is_found_among_other_hints_and_a_mistake_ends_them() {
        for (gap, expect) in [
            ("/*+ MAX_EXECUTION_TIME(1000) */ ", Some(1000)),
            (" \n/*+max_execution_time ( 0 )*/", Some(0)),
            ("/*+ NO_INDEX_MERGE(t i) QB_NAME(`a(`) MAX_EXECUTION_TIME(5) BKA(t) */", Some(5)),
            ("/*+ SET_VAR(sort_buffer_size = 16M) MAX_EXECUTION_TIME(5) MAX_EXECUTION_TIME(6) */", Some(5)),
            ("/*+ MAX_EXECUTION_TIME(4294967295) */", Some(u32::MAX)),
            ("/*+ MAX_EXECUTION_TIME(4294967296) */", None),
            ("/*+ MAX_EXECUTION_TIME(-1) */", None),
            ("/*+ MAX_EXECUTION_TIME(1.5) */", None),
            ("/*+ MAX_EXECUTION_TIME() */", None),
            ("/*+ MAX_EXECUTION_TIME(@q 1) */", None),
            ("/*+ BKA(t MAX_EXECUTION_TIME(5) */", None),
            ("/*+ NO_SUCH_HINT(t) MAX_EXECUTION_TIME(5) */", None),
            ("/*+ , MAX_EXECUTION_TIME(5) */", None),
            ("/*+ */", None),
            ("/*+*/", None),
            ("/* x */ /*+ MAX_EXECUTION_TIME(5) */", None),
            ("/* MAX_EXECUTION_TIME(5) */", None),
            ("", None),
        ] {
            assert_eq!(read(gap).0, expect, "{gap}");
        }
    }

    #[test]
    fn variables_and_mistakes_are_noted_in_order() {
        let set = |name: &str, value: HintValue, written: &str| Hint::SetVariable {
            name: name.to_owned(),
            value,
            written: written.to_owned(),
        };
        let text = |text: &str| HintValue::Text(text.to_owned());
        let near = |near: &str| Hint::Mistake { near: near.to_owned(), line: 1 };
        for (gap, expect) in [
            (
                "/*+ SET_VAR(a=1) set_var ( b = 'x''y' ) */",
                vec![set("a", HintValue::Integer(1), "1"), set("b", text("x'y"), "'x''y'")],
            ),
            (
                "/*+ SET_VAR(`a`=16K) SET_VAR(b=on) SET_VAR(c=1.5) */",
                vec![
                    set("a", HintValue::Integer(16 << 10), "16K"),
                    set("b", text("on"), "on"),
                    set("c", HintValue::Other, "1.5"),
                ],
            ),
            (
                "/*+ SET_VAR(a=1), SET_VAR(b=2) */",
                vec![set("a", HintValue::Integer(1), "1"), near(", SET_VAR(b=2) */1")],
            ),
            ("/*+ SET_VAR(a=1 */", vec![near("*/")]),
            ("/*+ SET_VAR(a='') */", vec![near("'') */1")]),
            ("/*+ SET_VAR(a=-1) */", vec![near("-1) */1")]),
            ("/*+ MAX_EXECUTION_TIME(1) MAX_EXECUTION_TIME(2) */", vec![Hint::RepeatedLimit("2".into())]),
            ("/*+ */", vec![near("*/")]),
            ("/* x */", vec![]),
        ] {
            assert_eq!(read(gap).1, expect, "{gap}");
        }
    }
}
