//! What statements have in common when their constants are taken out: one pass of the lexer, no tree.
//!
//! Two forms, for two purposes:
//!
//! * [`PlanKey`]: the statement with `?` in place of constants that a plan does not depend on, and those constants as
//!   parameters. It is itself a statement: a plan is made by parsing [`PlanKey::text`] as a prepared statement, and
//!   found again by [`PlanKey::key`]. This is on the path of every text statement.
//! * [`digest_text`]: performance_schema's DIGEST_TEXT, by MySQL's rules: all constants are `?`, lists of them shrink to
//!   `(...)`, keywords are in upper case and identifiers in backquotes.

mod plan_key;

pub use plan_key::{Parameter, ParameterKind, ParameterValue, PlanKey};

use crate::ParseOptions;
use crate::lexer::{Keyword, Lexer, Token, TokenKind};

/// What a stretch of the output stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    /// A word that may end an operand: an identifier, a closing parenthesis.
    Operand,
    /// An operator or keyword: a sign behind it is a sign.
    Operator,
    Sign,
    Comma,
    Open,
    In,
    /// `?`.
    Value,
    /// `?, ...`.
    Values,
    /// `(?)`.
    Row,
    /// `(...)`.
    Rows,
    /// `(?) /* , ... */`.
    RowList,
    /// `(...) /* , ... */`.
    RowsList,
}

/// Bytes of a text that [`digest_text_while`] reads between two questions.
pub const STEP: usize = 1 << 16;

/// Writes a statement's DIGEST_TEXT to `out` (which is cleared first); at most about `max_length` bytes of it, with
/// `...` at the end if that cut something off. Gives where the next statement begins, if there is one.
pub fn digest_text(
    text: &[u8],
    options: &ParseOptions,
    max_length: usize,
    out: &mut Vec<u8>,
) -> Option<usize> {
    digest_text_while(text, options, max_length, out, &mut || true)
}

/// As [`digest_text`] of a text that may be long, because a list of constants shrinks to nothing: asks
/// `allows` every [`STEP`] bytes whether to read on. The digest of what was read ends with `...` if not.
pub fn digest_text_while(
    text: &[u8],
    options: &ParseOptions,
    max_length: usize,
    out: &mut Vec<u8>,
    allows: &mut dyn FnMut() -> bool,
) -> Option<usize> {
    out.clear();
    let mut asked_at = STEP;
    let mut writer = Writer { out, pieces: Vec::new(), keyword: Keyword::None, depth: 0, positions_at: None };
    let mut lexer = Lexer::new(text, options);
    let mut next_statement = None;
    loop {
        let token = lexer.next_token();
        match token.kind {
            TokenKind::End | TokenKind::Invalid => break,
            TokenKind::Symbol(b';') => {
                let mut rest = lexer;
                if rest.next_token().kind != TokenKind::End {
                    next_statement = Some(token.end);
                }
                break;
            }
            TokenKind::Integer if writer.may_be_position() => {
                let mut ahead = lexer;
                if ends_order_item(ahead.next_token()) {
                    writer.push(Piece::Operand, &[lexer.bytes(token), b" "]);
                } else {
                    writer.value();
                }
                writer.keyword = Keyword::None;
            }
            _ => {
                writer.add(token, lexer.bytes(token));
                writer.keyword = token.keyword;
            }
        }
        if token.end >= asked_at {
            asked_at = token.end + STEP;
            if !allows() {
                writer.out.extend_from_slice(b"...");
                return next_statement;
            }
        }
        if writer.out.len() > max_length {
            writer.out.truncate(max_length);
            while !writer.out.is_empty()
                && std::str::from_utf8(writer.out).is_err()
                && writer.out.len() + 4 > max_length
            {
                writer.out.pop();
            }
            writer.out.extend_from_slice(b"...");
            return next_statement;
        }
    }
    if writer.out.last() == Some(&b' ') {
        writer.out.pop();
    }
    next_statement
}

struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// The pieces of the output and where they begin.
    pieces: Vec<(Piece, usize)>,
    /// The keyword just written.
    keyword: Keyword,
    /// How many parentheses are open.
    depth: u32,
    /// In the list of ORDER BY or GROUP BY at this depth, where a number is a position and stays.
    positions_at: Option<u32>,
}

impl Writer<'_> {
    fn add(&mut self, token: Token, bytes: &[u8]) {
        match token.kind {
            TokenKind::Placeholder => self.value(),
            kind if kind.is_constant() => self.value(),
            TokenKind::Word if token.keyword == Keyword::NULL => {
                if self.value_expected() {
                    self.value();
                } else {
                    self.push(Piece::Operand, &[b"NULL "]);
                }
            }
            TokenKind::Word if token.keyword == Keyword::None => {
                self.push(Piece::Operand, &[b"`", bytes, b"` "])
            }
            TokenKind::Word => self.word(token.keyword),
            TokenKind::QuotedName => {
                self.push(Piece::Operand, &[b"`"]);
                if let [quote, inner @ .., _] = bytes {
                    let mut inner = inner.iter();
                    while let Some(byte) = inner.next() {
                        self.out.push(*byte);
                        if byte == quote {
                            inner.next();
                        }
                    }
                }
                self.out.extend_from_slice(b"` ");
            }
            TokenKind::AtName => self.push(Piece::Operand, &[b"? "]),
            TokenKind::Introducer => self.push(Piece::Operator, &[b"(_charset) "]),
            TokenKind::NotEqual => self.push(Piece::Operator, &[b"!= "]),
            TokenKind::AtAt => self.push(Piece::Operator, &[b"@@"]),
            TokenKind::Symbol(b'@') => self.push(Piece::Operator, &[b"@"]),
            TokenKind::Symbol(b'-' | b'+') => {
                let operand = matches!(
                    self.last(0),
                    Some(
                        Piece::Operand
                            | Piece::Value
                            | Piece::Values
                            | Piece::Row
                            | Piece::Rows
                            | Piece::RowList
                            | Piece::RowsList
                    )
                );
                self.push(if operand { Piece::Operator } else { Piece::Sign }, &[bytes, b" "]);
            }
            TokenKind::Symbol(b',') => self.push(Piece::Comma, &[b", "]),
            TokenKind::Symbol(b'(') => {
                self.depth += 1;
                self.push(Piece::Open, &[b"( "]);
            }
            TokenKind::Symbol(b')') => {
                self.depth = self.depth.saturating_sub(1);
                if self.positions_at.is_some_and(|depth| depth > self.depth) {
                    self.positions_at = None;
                }
                self.close();
            }
            _ => self.push(Piece::Operator, &[bytes, b" "]),
        }
    }

    fn last(&self, back: usize) -> Option<Piece> {
        self.pieces.iter().rev().nth(back).map(|(piece, _)| *piece)
    }

    fn word(&mut self, keyword: Keyword) {
        match keyword {
            Keyword::BY if matches!(self.keyword, Keyword::ORDER | Keyword::GROUP) => {
                self.positions_at = Some(self.depth);
            }
            Keyword::ASC | Keyword::DESC => {}
            _ if self.positions_at == Some(self.depth) && keyword.is_reserved() => self.positions_at = None,
            _ => {}
        }
        let piece = if keyword == Keyword::IN { Piece::In } else { Piece::Operator };
        self.push(piece, &[name_in_digest(keyword).as_bytes(), b" "]);
    }

    /// Whether a number here may be a position in the select list.
    fn may_be_position(&self) -> bool {
        self.positions_at == Some(self.depth)
            && (self.keyword == Keyword::BY || self.last(0) == Some(Piece::Comma))
    }

    /// Whether NULL here is a value rather than an attribute of a column or part of IS NULL.
    fn value_expected(&self) -> bool {
        match self.last(0) {
            Some(Piece::Operator) => matches!(
                self.keyword,
                Keyword::None
                    | Keyword::SELECT
                    | Keyword::DISTINCT
                    | Keyword::DEFAULT
                    | Keyword::CASE
                    | Keyword::WHEN
                    | Keyword::THEN
                    | Keyword::ELSE
                    | Keyword::AND
                    | Keyword::OR
                    | Keyword::XOR
                    | Keyword::WHERE
                    | Keyword::BETWEEN
                    | Keyword::LIKE
                    | Keyword::BY
                    | Keyword::RETURN
            ),
            Some(Piece::Comma | Piece::Open | Piece::Sign) => true,
            _ => false,
        }
    }

    fn push(&mut self, piece: Piece, parts: &[&[u8]]) {
        self.pieces.push((piece, self.out.len()));
        parts.iter().for_each(|part| self.out.extend_from_slice(part));
    }

    fn pop(&mut self, count: usize) {
        for _ in 0..count {
            if let Some((_, start)) = self.pieces.pop() {
                self.out.truncate(start);
            }
        }
    }

    /// A constant: signs before it vanish, and so does a list it continues.
    fn value(&mut self) {
        while self.last(0) == Some(Piece::Sign) {
            self.pop(1);
        }
        match (self.last(1), self.last(0)) {
            (Some(Piece::Value | Piece::Values), Some(Piece::Comma)) => {
                self.pop(2);
                self.push(Piece::Values, &[b"?, ... "]);
            }
            _ => self.push(Piece::Value, &[b"? "]),
        }
    }

    /// A closing parenthesis: `( ? )` becomes `(?)`, and a row that follows one of its kind vanishes.
    fn close(&mut self) {
        let row = match (self.last(1), self.last(0)) {
            (Some(Piece::Open), Some(Piece::Value)) => Piece::Row,
            (Some(Piece::Open), Some(Piece::Values)) => Piece::Rows,
            _ => return self.push(Piece::Operand, &[b") "]),
        };
        self.pop(2);
        if self.last(0) == Some(Piece::In) {
            self.pop(1);
            return self.push(Piece::Operand, &[b"IN (...) "]);
        }
        let (list, one, many): (Piece, &[u8], &[u8]) = match row {
            Piece::Row => (Piece::RowList, b"(?) ", b"(?) /* , ... */ "),
            _ => (Piece::RowsList, b"(...) ", b"(...) /* , ... */ "),
        };
        let continues =
            self.last(0) == Some(Piece::Comma) && self.last(1).is_some_and(|p| p == row || p == list);
        if continues {
            self.pop(2);
            self.push(list, &[many]);
        } else {
            self.push(row, &[one]);
        }
    }
}

/// Whether a token can only stand behind a whole item of ORDER BY or GROUP BY.
fn ends_order_item(token: Token) -> bool {
    match token.kind {
        TokenKind::End => true,
        TokenKind::Symbol(symbol) => matches!(symbol, b',' | b')' | b';'),
        TokenKind::Word => matches!(
            token.keyword,
            Keyword::ASC
                | Keyword::DESC
                | Keyword::LIMIT
                | Keyword::WITH
                | Keyword::HAVING
                | Keyword::WINDOW
                | Keyword::ORDER
                | Keyword::FOR
                | Keyword::LOCK
                | Keyword::INTO
                | Keyword::UNION
                | Keyword::EXCEPT
                | Keyword::INTERSECT
        ),
        _ => false,
    }
}

/// How a keyword is spelled in a digest: of several with one meaning MySQL prints the one its tables list last.
fn name_in_digest(keyword: Keyword) -> &'static str {
    let canonical = match keyword {
        Keyword::ANY => Keyword::SOME,
        Keyword::BIGINT => Keyword::INT8,
        Keyword::CHAR => Keyword::CHARACTER,
        Keyword::COLUMNS => Keyword::FIELDS,
        Keyword::CURRENT_DATE => Keyword::CURDATE,
        Keyword::CURRENT_TIME => Keyword::CURTIME,
        Keyword::CURRENT_TIMESTAMP | Keyword::LOCALTIME | Keyword::LOCALTIMESTAMP => Keyword::NOW,
        Keyword::DATABASE => Keyword::SCHEMA,
        Keyword::DATABASES => Keyword::SCHEMAS,
        Keyword::DAY => Keyword::SQL_TSI_DAY,
        Keyword::DEC => Keyword::DECIMAL,
        Keyword::DESCRIBE => Keyword::EXPLAIN,
        Keyword::DISTINCT => Keyword::DISTINCTROW,
        Keyword::DOUBLE => Keyword::FLOAT8,
        Keyword::FLOAT => Keyword::FLOAT4,
        Keyword::HOUR => Keyword::SQL_TSI_HOUR,
        Keyword::INT | Keyword::INT4 => Keyword::INTEGER,
        Keyword::INT1 => Keyword::TINYINT,
        Keyword::INT2 => Keyword::SMALLINT,
        Keyword::INT3 | Keyword::MEDIUMINT => Keyword::MIDDLEINT,
        Keyword::MID | Keyword::SUBSTR => Keyword::SUBSTRING,
        Keyword::MINUTE => Keyword::SQL_TSI_MINUTE,
        Keyword::MONTH => Keyword::SQL_TSI_MONTH,
        Keyword::QUARTER => Keyword::SQL_TSI_QUARTER,
        Keyword::REGEXP => Keyword::RLIKE,
        Keyword::SECOND => Keyword::SQL_TSI_SECOND,
        Keyword::STD | Keyword::STDDEV => Keyword::STDDEV_POP,
        Keyword::USER | Keyword::SESSION_USER => Keyword::SYSTEM_USER,
        Keyword::VARCHAR => Keyword::VARCHARACTER,
        Keyword::VARIANCE => Keyword::VAR_POP,
        other => other,
    };
    canonical.text()
}

#[cfg(test)]
mod tests;
