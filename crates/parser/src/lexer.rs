//! From bytes to tokens, by MySQL's rules.
//!
//! One lexer serves the parser and the statement digest. It allocates nothing and never fails: what cannot be a token
//! is [`TokenKind::Invalid`], which no grammar rule accepts.
//!
//! The rules that surprise:
//! * `2b` and `1e` are identifiers, `1e5` is a number; right after a point everything is an identifier (`t.1a`,
//!   `t.select`), and so is a word with a point right behind it.
//! * `--` begins a comment only when a space or control character follows.
//! * `/*!80400 x */` is `x` for a server at or above that version and a comment otherwise; `/*M! */`, which is MariaDB's,
//!   and `/*+ */`, the optimizer's hints, are comments; the parser looks for hints behind SELECT.
//! * COUNT, NOW, SUBSTRING and their like are keywords only with a parenthesis right behind them (unless IGNORE_SPACE).
//! * NULs at the very end are no part of the statement: mysqlslap sends them.

pub(crate) mod charset;
mod keyword;

pub use keyword::Keyword;

use crate::ParseOptions;
use memchr::{memchr, memchr2, memmem};

/// Version comments up to this version are executed.
pub const SERVER_VERSION: u32 = 80400;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// The end of the text.
    End,
    /// An unquoted word; [`Token::keyword`] says whether it means something.
    Word,
    /// An identifier in backquotes, or in double quotes under ANSI_QUOTES.
    QuotedName,
    /// What follows an `@` unquoted: letters, digits, `.`, `_`, `$`; may be empty.
    AtName,
    /// Digits.
    Integer,
    /// Digits with a point.
    Decimal,
    /// With an exponent.
    Float,
    /// `'...'` or `"..."`.
    String,
    /// `N'...'`.
    NationalString,
    /// `x'1F'`.
    HexString,
    /// `0x1F`.
    HexNumber,
    /// `b'01'`.
    BitString,
    /// `0b01`.
    BitNumber,
    /// `_latin1` and the like.
    Introducer,
    /// `?`.
    Placeholder,
    /// `<=>`.
    NullSafeEqual,
    /// `<=`.
    LessEqual,
    /// `>=`.
    GreaterEqual,
    /// `<>` and `!=`.
    NotEqual,
    /// `<<`.
    ShiftLeft,
    /// `>>`.
    ShiftRight,
    /// `&&`.
    AndAnd,
    /// `||`.
    OrOr,
    /// `:=`.
    Assign,
    /// `->`.
    Arrow,
    /// `->>`.
    LongArrow,
    /// `@@`.
    AtAt,
    /// A single character that stands for itself.
    Symbol(u8),
    /// No token: an unterminated string or comment, a stray byte.
    Invalid,
}

impl TokenKind {
    /// Whether it is a number or a text that says its own value.
    pub(crate) fn is_constant(self) -> bool {
        matches!(
            self,
            TokenKind::Integer
                | TokenKind::Decimal
                | TokenKind::Float
                | TokenKind::String
                | TokenKind::NationalString
                | TokenKind::HexString
                | TokenKind::HexNumber
                | TokenKind::BitString
                | TokenKind::BitNumber
        )
    }
}

/// A token: what it is and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// For a word, which keyword.
    pub keyword: Keyword,
    /// Its first byte.
    pub start: usize,
    /// Just behind its last byte.
    pub end: usize,
}

/// What may stand at the current position, as the token before decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    /// Right behind `name.`: whatever has name characters is a name.
    AfterPoint,
    /// Behind a word with a point at once behind it: the point is a point, even with a digit behind.
    BeforePoint,
    /// Right behind `@`.
    AfterAt,
    /// Right behind `@@`.
    AfterAtAt,
}

/// Reads tokens off a text. A copy is a place to come back to.
#[derive(Debug, Clone, Copy)]
pub struct Lexer<'a> {
    text: &'a [u8],
    position: usize,
    state: State,
    in_version_comment: bool,
    ansi_quotes: bool,
    backslash_escapes: bool,
    ignore_space: bool,
}

const NAME: u8 = 1;
const DIGIT: u8 = 2;
const SPACE: u8 = 4;
const HEX: u8 = 8;
const AT_NAME: u8 = 16;

static CLASS: [u8; 256] = classes();

#[expect(clippy::indexing_slicing, reason = "run by the compiler, for which a panic is an error")]
const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let c = byte as u8;
        if c.is_ascii_alphanumeric() || c == b'_' || c == b'$' || c >= 0x80 {
            table[byte] |= NAME | AT_NAME;
        }
        if c == b'.' {
            table[byte] |= AT_NAME;
        }
        if c.is_ascii_digit() {
            table[byte] |= DIGIT;
        }
        if c.is_ascii_hexdigit() {
            table[byte] |= HEX;
        }
        if matches!(c, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r') {
            table[byte] |= SPACE;
        }
        byte += 1;
    }
    table
}

#[expect(clippy::indexing_slicing, reason = "the table has an entry for each value of a byte")]
fn is(class: u8, byte: u8) -> bool {
    CLASS[byte as usize] & class != 0
}

/// Whether `byte` is space between tokens.
pub(crate) fn is_space(byte: u8) -> bool {
    is(SPACE, byte)
}

impl<'a> Lexer<'a> {
    /// A lexer at the start of `text`.
    pub fn new(text: &'a [u8], options: &ParseOptions) -> Self {
        let mut text = text;
        while let [rest @ .., 0] = text {
            text = rest;
        }
        Lexer {
            text,
            position: 0,
            state: State::Start,
            in_version_comment: false,
            ansi_quotes: options.ansi_quotes,
            backslash_escapes: !options.no_backslash_escapes,
            ignore_space: options.ignore_space,
        }
    }

    /// The text, without the NULs at its end.
    pub fn text(&self) -> &'a [u8] {
        self.text
    }

    /// The bytes of a token.
    pub fn bytes(&self, token: Token) -> &'a [u8] {
        self.between(token.start, token.end)
    }

    /// The text between two positions that this lexer has been at; otherwise nothing.
    #[inline]
    pub(crate) fn between(&self, start: usize, end: usize) -> &'a [u8] {
        let between = self.text.get(start..end);
        debug_assert!(between.is_some(), "{start}..{end} is not in a text of {} bytes", self.text.len());
        between.unwrap_or_default()
    }

    /// What has not been read.
    #[inline]
    fn rest(&self) -> &'a [u8] {
        self.text.get(self.position..).unwrap_or_default()
    }

    /// The next token.
    #[inline]
    pub fn next_token(&mut self) -> Token {
        match std::mem::replace(&mut self.state, State::Start) {
            State::Start => {}
            State::AfterPoint => return self.plain_name(self.position),
            State::BeforePoint => return self.point(),
            State::AfterAt => return self.at_name(),
            State::AfterAtAt => {
                if self.peek(0) != b'`' {
                    return self.variable_name();
                }
            }
        }
        if let Err(invalid) = self.skip_space() {
            return invalid;
        }
        let start = self.position;
        let Some(&first) = self.text.get(start) else {
            // A version comment that nothing closes; behind it is the end.
            let unclosed = std::mem::take(&mut self.in_version_comment);
            return self.token(if unclosed { TokenKind::Invalid } else { TokenKind::End }, start);
        };
        match first {
            b'x' | b'X' if self.peek(1) == b'\'' => self.digit_string(TokenKind::HexString),
            b'b' | b'B' if self.peek(1) == b'\'' => self.digit_string(TokenKind::BitString),
            b'n' | b'N' if self.peek(1) == b'\'' => {
                self.position += 1;
                self.string(start, b'\'', TokenKind::NationalString)
            }
            b'0'..=b'9' => self.number(),
            b'\'' => self.string(start, b'\'', TokenKind::String),
            b'"' if !self.ansi_quotes => self.string(start, b'"', TokenKind::String),
            b'"' | b'`' => self.quoted_name(first),
            _ if is(NAME, first) => self.word(),
            b'.' if is(DIGIT, self.peek(1)) => {
                self.position += 1;
                self.fraction(start)
            }
            b'.' => self.point(),
            b'@' => {
                self.position += 1;
                match self.peek(0) {
                    b'@' => {
                        self.position += 1;
                        self.state = State::AfterAtAt;
                        return self.token(TokenKind::AtAt, start);
                    }
                    b'\'' | b'"' | b'`' => {}
                    _ => self.state = State::AfterAt,
                }
                self.token(TokenKind::Symbol(b'@'), start)
            }
            _ => self.operator(first),
        }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.position + ahead).copied().unwrap_or(0)
    }

    fn token(&self, kind: TokenKind, start: usize) -> Token {
        Token { kind, keyword: Keyword::None, start, end: self.position }
    }

    fn invalid(&mut self, start: usize) -> Token {
        self.position = self.text.len();
        self.in_version_comment = false;
        self.token(TokenKind::Invalid, start)
    }

    fn skip_while(&mut self, class: u8) {
        while let Some(&byte) = self.text.get(self.position)
            && is(class, byte)
        {
            self.position += 1;
        }
    }

    /// Skips space and comments; the error is an unterminated comment.
    #[inline]
    fn skip_space(&mut self) -> Result<(), Token> {
        loop {
            self.skip_while(SPACE);
            match self.peek(0) {
                b'/' if self.peek(1) == b'*' => self.comment()?,
                b'-' if self.peek(1) == b'-' && is_space_or_control(self.peek(2)) => self.line_comment(),
                b'#' => self.line_comment(),
                b'*' if self.in_version_comment && self.peek(1) == b'/' => {
                    self.in_version_comment = false;
                    self.position += 2;
                }
                _ => return Ok(()),
            }
        }
    }

    #[cold]
    fn line_comment(&mut self) {
        let rest = self.rest();
        self.position += memchr(b'\n', rest).unwrap_or(rest.len());
    }

    #[cold]
    fn comment(&mut self) -> Result<(), Token> {
        let start = self.position;
        if let [_, _, b'!', inner @ ..] = self.rest()
            && !self.in_version_comment
        {
            let number = inner.iter().take(6).take_while(|byte| byte.is_ascii_digit());
            let digits = number.clone().count();
            if digits < 5 {
                self.position += 3;
                self.in_version_comment = true;
                return Ok(());
            }
            let version = number.fold(0, |version, byte| version * 10 + u32::from(byte - b'0'));
            if version <= SERVER_VERSION {
                self.position += 3 + digits;
                self.in_version_comment = true;
                return Ok(());
            }
            return self.skip_comment(start, true);
        }
        self.skip_comment(start, false)
    }

    /// Skips the comment that begins at `start`; one that might have been executed may contain others.
    fn skip_comment(&mut self, start: usize, nesting: bool) -> Result<(), Token> {
        self.position = start + 2;
        loop {
            let rest = self.rest();
            let Some(close) = memmem::find(rest, b"*/") else {
                return Err(self.invalid(start));
            };
            let inner = rest.get(..close).filter(|_| nesting).and_then(|inner| memmem::find(inner, b"/*"));
            match inner {
                Some(open) => self.skip_comment(self.position + open, false)?,
                None => {
                    self.position += close + 2;
                    return Ok(());
                }
            }
        }
    }

    #[inline]
    fn word(&mut self) -> Token {
        let start = self.position;
        self.skip_while(NAME);
        let mut token = self.token(TokenKind::Word, start);
        if self.peek(0) == b'.' && is(NAME, self.peek(1)) {
            self.state = State::BeforePoint;
            return token;
        }
        let text = self.between(start, self.position);
        if let [b'_', name @ ..] = text
            && charset::is_character_set(name)
        {
            token.kind = TokenKind::Introducer;
            return token;
        }
        token.keyword = Keyword::of(text);
        if token.keyword.is_call_only() && !self.call_follows() {
            token.keyword = Keyword::None;
        }
        token
    }

    fn call_follows(&self) -> bool {
        let mut ahead = 0;
        if self.ignore_space {
            while is(SPACE, self.peek(ahead)) {
                ahead += 1;
            }
        }
        self.peek(ahead) == b'('
    }

    /// A name behind a point: never a keyword.
    fn plain_name(&mut self, start: usize) -> Token {
        self.skip_while(NAME);
        if self.peek(0) == b'.' && is(NAME, self.peek(1)) {
            self.state = State::BeforePoint;
        }
        self.token(TokenKind::Word, start)
    }

    /// A name behind `@@`: maybe a keyword (GLOBAL), and always followed by a point as a point.
    fn variable_name(&mut self) -> Token {
        let start = self.position;
        self.skip_while(NAME);
        if self.position == start {
            return self.invalid(start);
        }
        if self.peek(0) == b'.' {
            self.state = State::BeforePoint;
        }
        let mut token = self.token(TokenKind::Word, start);
        token.keyword = Keyword::of(self.between(start, self.position));
        token
    }

    fn at_name(&mut self) -> Token {
        let start = self.position;
        self.skip_while(AT_NAME);
        self.token(TokenKind::AtName, start)
    }

    fn point(&mut self) -> Token {
        let start = self.position;
        self.position += 1;
        if is(NAME, self.peek(0)) {
            self.state = State::AfterPoint;
        }
        self.token(TokenKind::Symbol(b'.'), start)
    }

    #[inline]
    fn number(&mut self) -> Token {
        let start = self.position;
        if self.peek(0) == b'0' {
            let (class, kind) = match self.peek(1) {
                b'x' => (HEX, TokenKind::HexNumber),
                b'b' => (DIGIT, TokenKind::BitNumber),
                _ => (0, TokenKind::End),
            };
            if class != 0 {
                self.position += 2;
                while is(class, self.peek(0)) && (class == HEX || self.peek(0) < b'2') {
                    self.position += 1;
                }
                if self.position > start + 2 && !is(NAME, self.peek(0)) {
                    return self.token(kind, start);
                }
                return self.plain_name(start);
            }
        }
        self.skip_while(DIGIT);
        let next = self.peek(0);
        if !is(NAME, next) {
            if next == b'.' {
                self.position += 1;
                return self.fraction(start);
            }
            return self.token(TokenKind::Integer, start);
        }
        if matches!(next, b'e' | b'E') {
            let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
            if is(DIGIT, self.peek(1 + sign)) {
                self.position += 1 + sign;
                self.skip_while(DIGIT);
                return self.token(TokenKind::Float, start);
            }
        }
        self.plain_name(start)
    }

    /// Behind the point of a number.
    fn fraction(&mut self, start: usize) -> Token {
        self.skip_while(DIGIT);
        if matches!(self.peek(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
            self.position += 1 + sign;
            if !is(DIGIT, self.peek(0)) {
                return self.invalid(start);
            }
            self.skip_while(DIGIT);
            return self.token(TokenKind::Float, start);
        }
        self.token(TokenKind::Decimal, start)
    }

    /// `x'...'` and `b'...'`: an even number of hexadecimal digits, or bits.
    fn digit_string(&mut self, kind: TokenKind) -> Token {
        let start = self.position;
        self.position += 2;
        while match kind {
            TokenKind::HexString => is(HEX, self.peek(0)),
            _ => matches!(self.peek(0), b'0' | b'1'),
        } {
            self.position += 1;
        }
        let digits = self.position - start - 2;
        if self.peek(0) != b'\'' || (kind == TokenKind::HexString && digits % 2 == 1) {
            return self.invalid(start);
        }
        self.position += 1;
        self.token(kind, start)
    }

    #[inline]
    fn string(&mut self, start: usize, quote: u8, kind: TokenKind) -> Token {
        self.position += 1;
        loop {
            let rest = self.rest();
            let found =
                if self.backslash_escapes { memchr2(quote, b'\\', rest) } else { memchr(quote, rest) };
            match found {
                Some(at) if rest.get(at) == Some(&quote) => {
                    self.position += at + 1;
                    if self.peek(0) != quote {
                        return self.token(kind, start);
                    }
                    self.position += 1;
                }
                Some(at) if at + 1 < rest.len() => self.position += at + 2,
                _ => return self.invalid(start),
            }
        }
    }

    fn quoted_name(&mut self, quote: u8) -> Token {
        let start = self.position;
        self.position += 1;
        loop {
            let Some(at) = memchr(quote, self.rest()) else {
                return self.invalid(start);
            };
            self.position += at + 1;
            if self.peek(0) != quote {
                break;
            }
            self.position += 1;
        }
        if self.peek(0) == b'.' {
            self.state = State::BeforePoint;
        }
        self.token(TokenKind::QuotedName, start)
    }

    fn operator(&mut self, first: u8) -> Token {
        let start = self.position;
        let (kind, length) = match (first, self.peek(1), self.peek(2)) {
            (b'<', b'=', b'>') => (TokenKind::NullSafeEqual, 3),
            (b'<', b'=', _) => (TokenKind::LessEqual, 2),
            (b'<', b'>', _) | (b'!', b'=', _) => (TokenKind::NotEqual, 2),
            (b'<', b'<', _) => (TokenKind::ShiftLeft, 2),
            (b'>', b'=', _) => (TokenKind::GreaterEqual, 2),
            (b'>', b'>', _) => (TokenKind::ShiftRight, 2),
            (b'&', b'&', _) => (TokenKind::AndAnd, 2),
            (b'|', b'|', _) => (TokenKind::OrOr, 2),
            (b':', b'=', _) => (TokenKind::Assign, 2),
            (b'-', b'>', b'>') => (TokenKind::LongArrow, 3),
            (b'-', b'>', _) => (TokenKind::Arrow, 2),
            (b'?', next, _) if !is(NAME, next) => (TokenKind::Placeholder, 1),
            (0x21..=0x7e, _, _) if first != b'\\' => (TokenKind::Symbol(first), 1),
            _ => (TokenKind::Invalid, 1),
        };
        self.position += length;
        self.token(kind, start)
    }
}

fn is_space_or_control(byte: u8) -> bool {
    byte <= b' ' || byte == 0x7f
}

#[cfg(test)]
mod tests;
