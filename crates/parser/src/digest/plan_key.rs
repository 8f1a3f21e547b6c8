//! The key of a plan: a statement without the constants that its plan does not depend on.
//!
//! Which constants may go is decided by where they stand, token by token:
//!
//! * Only SELECT, INSERT, REPLACE, UPDATE, DELETE and WITH have keys.
//! * In WHERE, ON, VALUES, SET, ON DUPLICATE KEY UPDATE and LIMIT constants become parameters. In select
//!   lists, that of RETURNING among them, they stay, in subqueries too and with the space around them: they
//!   name columns and give them their types. In GROUP BY and ORDER BY they are positions.
//! * In HAVING they stay as well: whether an expression there is one of GROUP BY, or an aggregate the same as
//!   one of the
//!   select list, depends on their values, and two parameters are never the same expression.
//! * A constant that is a condition by itself, or is compared with another constant (`WHERE 1=0`), stays: the plan
//!   depends on it.
//! * What the grammar or the meaning of the call needs to see stays: types' lengths, ESCAPE, aliases, JSON paths,
//!   `DATE '...'`, the digits of ROUND and NOW.
//! * The optimizer's hints stay, as the plan has them.
//! * A sign belongs to its number; adjacent strings, and an introducer with its string, are one parameter.
//!
//! A plan may depend on the parameters' kinds (comparing a number is not comparing a string), so the kinds are part of
//! the key.

use crate::ParseOptions;
use crate::lexer::{Keyword, Lexer, Token, TokenKind, is_space};
use crate::parser::hint;
use crate::parser::literal::{behind_n, bit_bytes, digits, hex_bytes, parse_digits, unescape_into};

/// Keys longer than this are not worth keeping.
const MAX_TEXT: usize = 64 << 10;
/// Statements with more parameters than this are bulk loads.
const MAX_PARAMETERS: usize = 4096;
/// Deeper parentheses than this keep their constants.
const MAX_FRAMES: usize = 31;
/// Memory that a key keeps for the next statement: bytes of text, and parameters.
const KEPT: (usize, usize) = (4 << 10, 64);

/// What kind of constant a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ParameterKind {
    /// Digits, maybe with a sign.
    Integer = b'i',
    /// Digits with a point, maybe with a sign.
    Decimal = b'd',
    /// With an exponent, maybe with a sign.
    Double = b'f',
    /// A string in the connection's character set.
    String = b's',
    /// N'...'.
    NationalString = b'n',
    /// A string, or hexadecimal or bit digits, with an introducer; the character set's name is part of the key.
    Introduced = b'c',
    /// Hexadecimal digits.
    Hex = b'x',
    /// Bits.
    Bit = b'b',
}

/// A constant taken out of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// What it is.
    pub kind: ParameterKind,
    /// Its number has a minus sign.
    pub negative: bool,
    /// Where it begins in the statement; a sign not included.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// The value of a [`Parameter`].
#[derive(Debug, Clone, PartialEq)]
pub enum ParameterValue {
    /// Below zero.
    Integer(i64),
    /// Zero or above.
    Unsigned(u64),
    /// Exact; also what has too many digits for 64 bits.
    Decimal(String),
    /// Approximate.
    Double(f64),
    /// A string and its character set, if an introducer or N names one.
    String(Vec<u8>, Option<String>),
    /// Hexadecimal or bit digits: a binary string, or a big-endian number in numeric context.
    Hex(Vec<u8>),
    /// Bits.
    Bit(Vec<u8>),
}

/// One parenthesis, or the statement itself.
#[derive(Debug, Clone, Copy, Default)]
struct Frame {
    /// Constants become parameters here.
    open: bool,
    /// A query or statement, which has clauses; otherwise a list or a call.
    clauses: bool,
    /// The next AND belongs to a BETWEEN.
    between: bool,
    /// A parenthesis around a condition.
    condition: bool,
    /// A select list, or in one: what is written is the name of a column, space included.
    names: bool,
    /// In a select list: nothing may change, not even in a subquery.
    frozen: bool,
}

/// A statement's key, text and parameters. Made once and filled again and again.
#[derive(Debug, Clone, Default)]
pub struct PlanKey {
    bytes: Vec<u8>,
    text_length: usize,
    parameters: Vec<Parameter>,
    next_statement: Option<usize>,
}

impl PlanKey {
    /// An empty one.
    pub fn new() -> PlanKey {
        PlanKey::default()
    }

    /// Gives back the memory that a long statement has taken.
    pub fn release(&mut self) {
        self.bytes.truncate(KEPT.0);
        self.bytes.shrink_to(KEPT.0);
        self.parameters.truncate(KEPT.1);
        self.parameters.shrink_to(KEPT.1);
    }

    /// Reads the first statement of `text`. False if it has no key: it is of another kind, is not well-formed, is
    /// a bulk load, or has parameters already.
    pub fn read(&mut self, text: &[u8], options: &ParseOptions) -> bool {
        self.bytes.clear();
        self.parameters.clear();
        self.next_statement = None;
        let complete = Reader::new(self, text, options).run();
        self.text_length = self.bytes.len();
        if !complete {
            return false;
        }
        self.bytes.push(0);
        for parameter in &self.parameters {
            self.bytes.push(parameter.kind as u8);
            if parameter.kind == ParameterKind::Introduced {
                let name = introducer(parameter.bytes(text));
                self.bytes.extend(name.iter().map(u8::to_ascii_lowercase));
                self.bytes.push(b' ');
            }
        }
        // A string that stayed may look like all of this, but not with its length in the right place.
        self.bytes.extend_from_slice(&self.text_length.to_le_bytes());
        true
    }

    /// The key: equal for statements that can share a plan (under the same session settings).
    pub fn key(&self) -> &[u8] {
        &self.bytes
    }

    /// The statement with `?` for its parameters.
    pub fn text(&self) -> &[u8] {
        self.bytes.get(..self.text_length).unwrap_or_default()
    }

    /// The constants taken out, in order: the n-th is the n-th `?`.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Where the next statement begins, if there is one.
    pub fn next_statement(&self) -> Option<usize> {
        self.next_statement
    }
}

impl Parameter {
    /// The constant's value; `text` is the statement that was read.
    pub fn value(&self, text: &[u8], options: &ParseOptions) -> ParameterValue {
        let bytes = self.bytes(text);
        match self.kind {
            ParameterKind::Integer => self.integer(bytes),
            ParameterKind::Decimal => ParameterValue::Decimal(self.signed(bytes)),
            ParameterKind::Double => {
                ParameterValue::Double(self.signed(bytes).parse().unwrap_or(f64::INFINITY))
            }
            ParameterKind::Hex => ParameterValue::Hex(hex_bytes(digits(bytes))),
            ParameterKind::Bit => ParameterValue::Bit(bit_bytes(digits(bytes))),
            ParameterKind::String => ParameterValue::String(strings(bytes, options), None),
            ParameterKind::NationalString => {
                ParameterValue::String(strings(bytes, options), Some("utf8mb3".to_owned()))
            }
            ParameterKind::Introduced => {
                let name = introducer(bytes);
                let constant = bytes.get(1 + name.len()..).unwrap_or_default();
                let charset = String::from_utf8_lossy(name).to_ascii_lowercase();
                ParameterValue::String(strings(constant, options), Some(charset))
            }
        }
    }

    /// Nothing if `text` is not the statement that was read.
    fn bytes<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        text.get(self.start..self.end).unwrap_or_default()
    }

    fn integer(&self, bytes: &[u8]) -> ParameterValue {
        match parse_digits(bytes) {
            Some(value) if !self.negative => ParameterValue::Unsigned(value),
            Some(value) if value <= 1 << 63 => ParameterValue::Integer((value as i64).wrapping_neg()),
            _ => ParameterValue::Decimal(self.signed(bytes)),
        }
    }

    fn signed(&self, bytes: &[u8]) -> String {
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}{}", String::from_utf8_lossy(bytes))
    }
}

/// The name of the character set of `_name'...'`.
fn introducer(bytes: &[u8]) -> &[u8] {
    let name = bytes.split_first().map_or(bytes, |(_, name)| name);
    name.split(|byte| !byte.is_ascii_alphanumeric()).next().unwrap_or_default()
}

/// The value of one string or of several in a row; hexadecimal or bit digits behind an introducer as well.
fn strings(bytes: &[u8], options: &ParseOptions) -> Vec<u8> {
    let escapes = !options.no_backslash_escapes;
    let mut value = Vec::new();
    let mut lexer = Lexer::new(bytes, options);
    loop {
        let token = lexer.next_token();
        let bytes = lexer.bytes(token);
        match token.kind {
            TokenKind::String => unescape_into(bytes, escapes, &mut value),
            TokenKind::NationalString => unescape_into(behind_n(bytes), escapes, &mut value),
            TokenKind::HexString | TokenKind::HexNumber => value.extend(hex_bytes(digits(bytes))),
            TokenKind::BitString | TokenKind::BitNumber => value.extend(bit_bytes(digits(bytes))),
            _ => return value,
        }
    }
}

/// One pass over a statement.
struct Reader<'k, 't> {
    key: &'k mut PlanKey,
    lexer: Lexer<'t>,
    frame: Frame,
    /// The frames around the current one, from the statement's inwards: the first `depth` of them.
    outer: [Frame; MAX_FRAMES],
    depth: usize,
    /// Parentheses open beyond [`MAX_FRAMES`].
    overflow: u32,
    /// The token before the current one.
    previous: Token,
    /// Whether that token was a constant that stayed.
    previous_stayed: bool,
    /// A comparison whose left side is a constant that stayed is going on.
    comparing_constant: bool,
    /// The last AND was the one of a BETWEEN.
    between_and: bool,
    /// In INSERT or REPLACE, before any SELECT.
    inserting: bool,
    /// Where in the text a minus sign stands that may belong to a number.
    minus: Option<usize>,
    /// The text ends in `?`.
    after_parameter: bool,
}

impl<'k, 't> Reader<'k, 't> {
    fn new(key: &'k mut PlanKey, text: &'t [u8], options: &ParseOptions) -> Self {
        let previous = Token { kind: TokenKind::End, keyword: Keyword::None, start: 0, end: 0 };
        Reader {
            key,
            lexer: Lexer::new(text, options),
            frame: Frame { clauses: true, ..Frame::default() },
            outer: [Frame::default(); MAX_FRAMES],
            depth: 0,
            overflow: 0,
            previous,
            previous_stayed: false,
            comparing_constant: false,
            between_and: false,
            inserting: false,
            minus: None,
            after_parameter: false,
        }
    }

    /// True if the statement has a key.
    fn run(mut self) -> bool {
        let first = self.lexer.next_token();
        match first.keyword {
            Keyword::SELECT
            | Keyword::INSERT
            | Keyword::REPLACE
            | Keyword::UPDATE
            | Keyword::DELETE
            | Keyword::WITH => {}
            _ => return false,
        }
        self.keyword(first.keyword);
        self.copy(first);
        loop {
            let token = self.lexer.next_token();
            match token.kind {
                TokenKind::End => return self.depth == 0 && self.overflow == 0,
                TokenKind::Invalid | TokenKind::Placeholder => return false,
                TokenKind::Symbol(b';') => {
                    let mut rest = self.lexer;
                    let behind = rest.next_token();
                    // A comment is a statement of its own, which has an answer.
                    let is_comment =
                        || !self.lexer.between(token.end, behind.start).iter().all(|byte| is_space(*byte));
                    if behind.kind != TokenKind::End || is_comment() {
                        self.key.next_statement = Some(token.end);
                    }
                    return self.depth == 0 && self.overflow == 0;
                }
                _ => self.token(token),
            }
            if self.key.bytes.len() > MAX_TEXT || self.key.parameters.len() > MAX_PARAMETERS {
                return false;
            }
        }
    }

    fn token(&mut self, token: Token) {
        let kind = match token.kind {
            TokenKind::Integer => ParameterKind::Integer,
            TokenKind::Decimal => ParameterKind::Decimal,
            TokenKind::Float => ParameterKind::Double,
            TokenKind::String => ParameterKind::String,
            TokenKind::NationalString => ParameterKind::NationalString,
            TokenKind::HexString | TokenKind::HexNumber => ParameterKind::Hex,
            TokenKind::BitString | TokenKind::BitNumber => ParameterKind::Bit,
            TokenKind::Introducer => return self.introduced(token),
            _ => return self.other(token),
        };
        if self.stays() {
            self.copy(token);
            self.previous_stayed = true;
        } else {
            self.parameter(kind, token, token.end);
        }
    }

    /// Anything but a constant.
    fn other(&mut self, token: Token) {
        let minus = token.kind == TokenKind::Symbol(b'-') && !self.operand_before();
        let comparison = matches!(
            token.kind,
            TokenKind::Symbol(b'=' | b'<' | b'>')
                | TokenKind::NullSafeEqual
                | TokenKind::NotEqual
                | TokenKind::LessEqual
                | TokenKind::GreaterEqual
        );
        self.comparing_constant = comparison && self.previous_stayed;
        match token.kind {
            TokenKind::Symbol(b'(') => self.open(),
            TokenKind::Symbol(b')') => self.close(),
            TokenKind::Word if token.keyword != Keyword::None => self.keyword(token.keyword),
            _ => {}
        }
        let at = self.key.bytes.len();
        self.copy(token);
        if minus {
            self.minus = Some(at);
        }
    }

    /// Whether the token before the current one can be a left operand.
    fn operand_before(&self) -> bool {
        match self.previous.kind {
            TokenKind::Word => !precedes_operand(self.previous.keyword),
            TokenKind::Symbol(symbol) => matches!(symbol, b')' | b'}'),
            TokenKind::QuotedName | TokenKind::AtName => true,
            kind => kind.is_constant(),
        }
    }

    /// Whether a constant at the current place must stay.
    fn stays(&self) -> bool {
        let frame = self.frame;
        if !frame.open || self.overflow > 0 || self.comparing_constant {
            return true;
        }
        match self.previous.kind {
            TokenKind::Word => match self.previous.keyword {
                keyword if is_condition(keyword) => true,
                Keyword::ESCAPE
                | Keyword::AS
                | Keyword::COLLATE
                | Keyword::SEPARATOR
                | Keyword::DATE
                | Keyword::TIME
                | Keyword::TIMESTAMP => true,
                Keyword::AND => !self.between_and,
                // An alias, or something the parser will refuse.
                Keyword::None => true,
                _ => false,
            },
            // An introducer that stayed keeps its string.
            TokenKind::Introducer => true,
            // `@'x'` is a variable.
            TokenKind::Arrow | TokenKind::LongArrow | TokenKind::Symbol(b'@') => true,
            TokenKind::Symbol(b'(') => frame.condition,
            // A string behind a constant that stayed continues it.
            kind => kind.is_constant() && self.previous_stayed,
        }
    }

    fn copy(&mut self, token: Token) {
        let bytes = self.lexer.bytes(token);
        let gap = match self.previous.kind {
            TokenKind::End => &[],
            _ => self.lexer.between(self.previous.end, token.start),
        };
        // Most gaps are one space.
        if gap.len() > 1
            && takes_hints(self.previous.keyword)
            && let Some(hints) = hint::comment(gap)
        {
            self.append(b" ");
            self.append(hints);
        }
        let glued = self.after_parameter && matches!(token.kind, TokenKind::Word | TokenKind::Introducer);
        if self.frame.names && gap.iter().all(|byte| is_space(*byte)) {
            self.append(gap);
        } else if !gap.is_empty() || glued {
            self.key.bytes.push(b' ');
        }
        self.append(bytes);
        self.previous = token;
        self.previous_stayed = false;
        self.after_parameter = false;
        self.minus = None;
    }

    /// Appends to the key; of what makes it too long no more than tells so.
    fn append(&mut self, bytes: &[u8]) {
        let room = (MAX_TEXT + 1).saturating_sub(self.key.bytes.len());
        self.key.bytes.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }

    fn parameter(&mut self, kind: ParameterKind, token: Token, end: usize) {
        // A string behind a string is its continuation.
        if kind == ParameterKind::String
            && self.after_parameter
            && matches!(self.previous.kind, TokenKind::String | TokenKind::NationalString)
            && let Some(last) = self.key.parameters.last_mut()
        {
            last.end = end;
            self.previous = Token { end, ..token };
            return;
        }
        let number = matches!(kind, ParameterKind::Integer | ParameterKind::Decimal | ParameterKind::Double);
        let minus = self.minus.take().filter(|_| number);
        let gap = token.start > self.previous.end;
        match minus {
            Some(at) => {
                let had_space = self.key.bytes.get(at) == Some(&b' ');
                self.key.bytes.truncate(at + usize::from(had_space));
            }
            None if gap => self.key.bytes.push(b' '),
            None => {}
        }
        self.key.bytes.push(b'?');
        self.key.parameters.push(Parameter { kind, negative: minus.is_some(), start: token.start, end });
        self.previous = Token { end, ..token };
        self.previous_stayed = false;
        self.after_parameter = true;
    }

    /// `_charset` and the constant behind it.
    fn introduced(&mut self, token: Token) {
        let mut ahead = self.lexer;
        let value = ahead.next_token();
        if self.stays() || !value.kind.is_constant() {
            return self.copy(token);
        }
        self.lexer = ahead;
        self.parameter(ParameterKind::Introduced, token, value.end);
        self.previous.kind = value.kind;
    }

    fn open(&mut self) {
        let open = self.frame.open
            && match self.previous.kind {
                TokenKind::Word => {
                    !keeps_its_constants(self.previous.keyword, self.lexer.bytes(self.previous))
                }
                _ => true,
            };
        let condition = match self.previous.kind {
            TokenKind::Word => {
                let keyword = self.previous.keyword;
                is_condition(keyword) || (keyword == Keyword::AND && !self.between_and)
            }
            TokenKind::Symbol(b'(') => self.frame.condition,
            _ => false,
        };
        let place = self.outer.get_mut(self.depth).filter(|_| self.overflow == 0);
        let Some(place) = place else {
            self.overflow += 1;
            return;
        };
        *place = self.frame;
        self.depth += 1;
        let frozen = self.frame.names;
        self.frame = Frame { open, condition, names: frozen, frozen, ..Frame::default() };
    }

    fn close(&mut self) {
        if self.overflow > 0 {
            self.overflow -= 1;
        } else if let Some(depth) = self.depth.checked_sub(1)
            && let Some(outer) = self.outer.get(depth)
        {
            self.depth = depth;
            self.frame = *outer;
        }
    }

    /// A keyword may begin a clause.
    fn keyword(&mut self, keyword: Keyword) {
        self.between_and = false;
        let frame = &mut self.frame;
        if frame.frozen {
            return;
        }
        match keyword {
            Keyword::INSERT | Keyword::REPLACE if self.previous.kind == TokenKind::End => {
                self.inserting = true
            }
            Keyword::SELECT => self.inserting = false,
            _ => {}
        }
        match keyword {
            Keyword::SELECT => *frame = Frame { clauses: true, names: true, ..Frame::default() },
            Keyword::ORDER | Keyword::GROUP | Keyword::PARTITION | Keyword::WINDOW => frame.open = false,
            Keyword::BETWEEN => frame.between = true,
            Keyword::AND => self.between_and = std::mem::take(&mut frame.between),
            _ if !frame.clauses => {}
            Keyword::WHERE | Keyword::ON | Keyword::LIMIT | Keyword::SET => {
                (frame.open, frame.names) = (true, false)
            }
            // A select list, too.
            Keyword::RETURNING => (frame.open, frame.names) = (false, true),
            // Elsewhere they are a column or a function.
            Keyword::VALUES | Keyword::VALUE if self.inserting => frame.open = true,
            Keyword::FROM
            | Keyword::HAVING
            | Keyword::JOIN
            | Keyword::INTO
            | Keyword::UNION
            | Keyword::EXCEPT
            | Keyword::INTERSECT => {
                (frame.open, frame.names) = (false, false);
            }
            _ => {}
        }
    }
}

/// Whether a comment behind it may hold hints.
fn takes_hints(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::SELECT | Keyword::INSERT | Keyword::REPLACE | Keyword::UPDATE | Keyword::DELETE
    )
}

/// Whether only an operand can follow, so that a minus sign is a sign. Where in doubt it is taken for an operator, which
/// is right as well: `-?`.
fn precedes_operand(keyword: Keyword) -> bool {
    is_condition(keyword)
        || matches!(
            keyword,
            Keyword::AND
                | Keyword::IN
                | Keyword::LIKE
                | Keyword::BETWEEN
                | Keyword::THEN
                | Keyword::ELSE
                | Keyword::DIV
                | Keyword::MOD
                | Keyword::INTERVAL
                | Keyword::SELECT
        )
}

/// Whether a condition follows (AND aside, which may belong to a BETWEEN).
fn is_condition(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::WHERE
            | Keyword::ON
            | Keyword::HAVING
            | Keyword::OR
            | Keyword::XOR
            | Keyword::NOT
            | Keyword::WHEN
    )
}

/// Whether a call's result type depends on its constants, or its syntax needs them.
fn keeps_its_constants(keyword: Keyword, name: &[u8]) -> bool {
    match keyword {
        Keyword::CAST
        | Keyword::CONVERT
        | Keyword::CHAR
        | Keyword::NOW
        | Keyword::SYSDATE
        | Keyword::CURTIME
        | Keyword::CURRENT_TIME
        | Keyword::CURRENT_TIMESTAMP
        | Keyword::LOCALTIME
        | Keyword::LOCALTIMESTAMP
        | Keyword::UTC_TIME
        | Keyword::UTC_TIMESTAMP
        | Keyword::TRUNCATE
        | Keyword::FORMAT
        | Keyword::GET_FORMAT
        | Keyword::WEIGHT_STRING
        | Keyword::JSON_VALUE
        | Keyword::JSON_TABLE
        | Keyword::AGAINST
        | Keyword::GROUP_CONCAT
        | Keyword::OVER => true,
        Keyword::None => name.eq_ignore_ascii_case(b"round"),
        _ => false,
    }
}
