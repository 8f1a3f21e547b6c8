//! The optimizer's hints: `SELECT /*+ MAX_EXECUTION_TIME(1000) */ ...`.
//!
//! They stand in a comment right behind SELECT, so the lexer passes over them, and who wants them looks there. The only one
//! with an effect is MAX_EXECUTION_TIME; the others are read to find it. As in MySQL a mistake ends the list, what stands before it
//! counts, and of two that contradict each other the first does.

use crate::ParseOptions;
use crate::lexer::{Lexer, Token, TokenKind, is_space};
use memchr::memmem;

const OPEN: &[u8] = b"/*+";
const CLOSE: &[u8] = b"*/";

/// The comment with hints at the beginning of `gap`, what lies between a SELECT and the token behind it.
pub(crate) fn comment(gap: &[u8]) -> Option<&[u8]> {
    let start = gap.iter().position(|byte| !is_space(*byte))?;
    let comment = gap.get(start..)?;
    let length = memmem::find(comment.strip_prefix(OPEN)?, CLOSE)?;
    comment.get(..OPEN.len() + length + CLOSE.len())
}

/// The milliseconds of MAX_EXECUTION_TIME in `gap`.
pub(super) fn max_execution_time(gap: &[u8], options: &ParseOptions) -> Option<u32> {
    let hints = comment(gap)?.strip_prefix(OPEN)?.strip_suffix(CLOSE)?;
    let mut lexer = Lexer::new(hints, options);
    loop {
        let name = lexer.next_token();
        let is_symbol = |token: Token, symbol| token.kind == TokenKind::Symbol(symbol);
        if name.kind != TokenKind::Word || !is_symbol(lexer.next_token(), b'(') {
            return None;
        }
        if lexer.bytes(name).eq_ignore_ascii_case(b"MAX_EXECUTION_TIME") {
            let number = lexer.next_token();
            let is_whole = number.kind == TokenKind::Integer && is_symbol(lexer.next_token(), b')');
            let digits = std::str::from_utf8(lexer.bytes(number)).ok()?;
            return is_whole.then(|| digits.parse().ok()).flatten();
        }
        skip_arguments(&mut lexer)?;
    }
}

/// Behind the parenthesis that closes the one before.
fn skip_arguments(lexer: &mut Lexer<'_>) -> Option<()> {
    let mut open = 1u32;
    while open > 0 {
        match lexer.next_token().kind {
            TokenKind::Symbol(b'(') => open += 1,
            TokenKind::Symbol(b')') => open -= 1,
            TokenKind::End | TokenKind::Invalid => return None,
            _ => {}
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_found_among_other_hints_and_a_mistake_ends_them() {
        for (gap, expect) in [
            ("/*+ MAX_EXECUTION_TIME(1000) */ ", Some(1000)),
            (" \n/*+max_execution_time ( 0 )*/", Some(0)),
            ("/*+ NO_INDEX_MERGE(t i) QB_NAME(`a(`) MAX_EXECUTION_TIME(5) BKA(t) */", Some(5)),
            ("/*+ SET_VAR(sort_buffer_size = 16M) MAX_EXECUTION_TIME(5) MAX_EXECUTION_TIME(6) */", Some(5)),
            ("/*+ MAX_EXECUTION_TIME(4294967295) x", None),
            ("/*+ MAX_EXECUTION_TIME(4294967295) */", Some(u32::MAX)),
            ("/*+ MAX_EXECUTION_TIME(4294967296) */", None),
            ("/*+ MAX_EXECUTION_TIME(-1) */", None),
            ("/*+ MAX_EXECUTION_TIME(1.5) */", None),
            ("/*+ MAX_EXECUTION_TIME() */", None),
            ("/*+ MAX_EXECUTION_TIME(@q 1) */", None),
            ("/*+ BKA(t MAX_EXECUTION_TIME(5) */", None),
            ("/*+ , MAX_EXECUTION_TIME(5) */", None),
            ("/*+ */", None),
            ("/*+*/", None),
            ("/*+/", None),
            ("/* x */ /*+ MAX_EXECUTION_TIME(5) */", None),
            ("/* MAX_EXECUTION_TIME(5) */", None),
            ("", None),
        ] {
            assert_eq!(max_execution_time(gap.as_bytes(), &ParseOptions::default()), expect, "{gap}");
        }
    }
}
