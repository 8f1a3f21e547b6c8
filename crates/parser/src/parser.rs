//! From tokens to statements: recursive descent, one token ahead.
//!
//! [`Parser`] holds the current token; rules are methods that consume what they recognise and give a piece of the tree,
//! or fail where they stand. There is no error recovery and almost no backtracking, so the token a rule fails at is the
//! token MySQL names in its message. A failure is only a position ([`Rejected`]): results stay small, and with them the
//! frames of a recursion that goes as deep as [`ParseOptions::max_depth`].
//!
//! Depth is bounded twice: by `depth`, the rules in progress, and by `height`, how deep the tree just built is. The
//! second matters because `1+1+1+...` is parsed in a loop but is a tree that is walked, and dropped, recursively.
//!
//! | module | statements |
//! |---|---|
//! | [`statement`] | which statement it is |
//! | [`expr`], [`simple`], [`function`], [`literal`], [`name`] | what all others are made of |
//! | [`query`], [`table`] | SELECT |
//! | [`dml`], [`load`] | INSERT, UPDATE, DELETE; LOAD DATA, HANDLER |
//! | [`create_table`], [`data_type`], [`alter_table`], [`partition`], [`object`], [`stored`] | CREATE, ALTER, DROP |
//! | [`account`], [`grant`] | users, roles, privileges |
//! | [`set`], [`show`], [`transaction`], [`admin`], [`replication`] | the rest |

mod account;
mod admin;
mod alter_table;
mod binding;
mod create_table;
mod data_type;
mod dml;
mod expr;
mod function;
mod grant;
pub(crate) mod hint;
pub(crate) mod literal;
mod load;
mod name;
mod object;
mod partition;
mod query;
mod replication;
mod set;
mod show;
mod simple;
mod statement;
mod stored;
mod table;
mod transaction;

use crate::ast::{Expr, Name, Statement};
use crate::error::{PartitionFault, WrongName};
use crate::lexer::{Keyword, Lexer, Token, TokenKind, is_space};
use crate::{Deprecated, Hint, Only, ParseError, ParseOptions};

/// Where parsing failed: the offending token's first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rejected(pub usize);

/// What a rule gives.
pub(crate) type Parsed<T> = Result<T, Rejected>;

/// The state of a parse.
pub(crate) struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The token that is looked at.
    token: Token,
    /// End of the token before it.
    previous_end: usize,
    options: ParseOptions,
    depth: u32,
    height: u32,
    pub(crate) placeholders: u32,
    /// In ON DUPLICATE KEY UPDATE.
    on_duplicate: bool,
    /// RETURNING may follow what is being read.
    may_return: bool,
    /// What has been read that is deprecated, in order.
    pub(crate) deprecated: Vec<Deprecated>,
    /// The hints that have been read, in order.
    pub(crate) hints: Vec<Hint>,
    /// Query blocks that have begun.
    pub(crate) blocks: u32,
    /// The statement is an INSERT, REPLACE, UPDATE or DELETE.
    pub(crate) changes_rows: bool,
    /// Tokens until [`watch`](Self::watch) is asked.
    until_look: u32,
    /// Whether to read on.
    watch: Option<Watch<'a>>,
    /// It said no: every token is invalid from then on.
    stopped: bool,
    /// The first name that its object cannot have.
    wrong_name: Option<WrongName>,
    /// What is wrong of a PARTITION BY, if that is why a rule has failed.
    fault: Option<PartitionFault>,
    /// A statement has been read whole, so that `wrong_name` is what there is to say against it.
    is_read: bool,
}

/// Asked now and then while a text is read: whether to read on.
pub type Watch<'w> = &'w mut dyn FnMut() -> bool;

/// Tokens that are read between two looks: some tens of microseconds, and some tens of kilobytes of tree.
const TOKENS_A_LOOK: u32 = 512;

impl<'a> Parser<'a> {
    pub(crate) fn new(text: &'a [u8], options: ParseOptions) -> Self {
        // MySQL drops semicolons and space at the end before it looks at a text, so they are never in a message.
        let garbage = |byte: &u8| *byte == b';' || *byte == 0 || is_space(*byte);
        let end = text.iter().rposition(|byte| !garbage(byte)).map_or(0, |last| last + 1);
        let mut lexer = Lexer::new(text.get(..end).unwrap_or(text), &options);
        let token = lexer.next_token();
        Parser {
            lexer,
            token,
            previous_end: 0,
            options,
            depth: 0,
            height: 0,
            placeholders: 0,
            on_duplicate: false,
            may_return: false,
            deprecated: Vec::new(),
            hints: Vec::new(),
            blocks: 0,
            changes_rows: false,
            until_look: TOKENS_A_LOOK,
            watch: None,
            stopped: false,
            wrong_name: None,
            fault: None,
            is_read: false,
        }
    }

    /// `watch` is asked now and then; when it says no the text is refused ([`ParseError::Stopped`]).
    pub(crate) fn watched(mut self, watch: Watch<'a>) -> Self {
        self.watch = Some(watch);
        self
    }

    /// The first statement and where the next one begins.
    pub(crate) fn first_statement(&mut self) -> Parsed<(Option<Statement>, Option<usize>)> {
        if self.is_kind(TokenKind::End) {
            let is_comment = self.has_comment_since(0);
            return Ok((is_comment.then_some(Statement::Comment), None));
        }
        let statement = self.statement()?;
        let ends = matches!(self.token.kind, TokenKind::End | TokenKind::Symbol(b';'));
        if ends && self.wrong_name.is_some() {
            self.is_read = true;
            return self.fail();
        }
        match self.token.kind {
            TokenKind::End => Ok((Some(statement), None)),
            TokenKind::Symbol(b';') => {
                let next = self.token.end;
                self.advance();
                let more = !self.is_kind(TokenKind::End) || self.has_comment_since(next);
                Ok((Some(statement), more.then_some(next)))
            }
            _ => self.fail(),
        }
    }

    /// Whether nothing but space and comments is left.
    pub(crate) fn is_at_end(&self) -> bool {
        self.is_kind(TokenKind::End)
    }

    /// Whether there are comments between `start`, which is the end of a token, and the current token.
    fn has_comment_since(&self, start: usize) -> bool {
        self.lexer.between(start, self.token.start).iter().any(|byte| !is_space(*byte))
    }

    /// The one statement there is.
    pub(crate) fn only_statement(mut self) -> Result<Only, ParseError> {
        match self.first_statement().map_err(|rejected| self.error(rejected))? {
            (Some(statement), None) => {
                let placeholders = self.placeholders as usize;
                Ok(Only { statement, placeholders, deprecated: self.deprecated, hints: self.hints })
            }
            // A comment behind the semicolon is no second statement.
            (Some(statement), Some(_)) if self.is_at_end() => {
                let placeholders = self.placeholders as usize;
                Ok(Only { statement, placeholders, deprecated: self.deprecated, hints: self.hints })
            }
            (_, Some(_)) => Err(self.error(Rejected(self.token.start))),
            (None, None) => Err(ParseError::Empty),
        }
    }

    /// The one expression there is.
    pub(crate) fn only_expression(mut self) -> Result<Expr, ParseError> {
        if self.is_at_end() {
            return Err(ParseError::Empty);
        }
        let expr = self.expr().map_err(|rejected| self.error(rejected))?;
        self.is_read = self.is_at_end();
        if !self.is_read || self.wrong_name.is_some() {
            return Err(self.error(Rejected(self.token.start)));
        }
        Ok(expr)
    }

    /// MySQL's message for a failure.
    pub(crate) fn error(&self, rejected: Rejected) -> ParseError {
        if self.stopped {
            return ParseError::Stopped;
        }
        if self.is_read
            && let Some(name) = &self.wrong_name
        {
            return ParseError::Name(name.clone());
        }
        match self.fault {
            Some(fault) => ParseError::of_partitioning(fault, self.lexer.text(), rejected.0),
            None => ParseError::near(self.lexer.text(), rejected.0),
        }
    }

    // Tokens.

    /// To the next token; gives the one left behind.
    fn advance(&mut self) -> Token {
        let token = self.token;
        self.previous_end = token.end;
        self.token = self.lexer.next_token();
        self.until_look -= 1;
        if self.until_look == 0 {
            self.look();
        }
        token
    }

    /// Asks whether to read on. If not, no rule accepts what follows.
    #[cold]
    fn look(&mut self) {
        self.until_look = TOKENS_A_LOOK;
        self.stopped |= self.watch.as_mut().is_some_and(|watch| !watch());
        if self.stopped {
            self.until_look = 1;
            self.token = Token { kind: TokenKind::Invalid, keyword: Keyword::None, ..self.token };
        }
    }

    /// The token behind the current one.
    fn peek(&self) -> Token {
        let mut ahead = self.lexer;
        ahead.next_token()
    }

    /// The two tokens behind the current one.
    fn peek_two(&self) -> (Token, Token) {
        let mut ahead = self.lexer;
        (ahead.next_token(), ahead.next_token())
    }

    /// What has just been read is deprecated.
    #[cold]
    fn note(&mut self, deprecated: Deprecated) {
        self.deprecated.push(deprecated);
    }

    fn bytes(&self, token: Token) -> &'a [u8] {
        self.lexer.bytes(token)
    }

    /// The text from `start` to the end of the token before the current one.
    fn text_since(&self, start: usize) -> &'a [u8] {
        self.lexer.between(start, self.previous_end.max(start))
    }

    #[cold]
    fn fail<T>(&self) -> Parsed<T> {
        Err(Rejected(self.token.start))
    }

    fn is(&self, keyword: Keyword) -> bool {
        self.token.keyword == keyword
    }

    fn is_any(&self, keywords: &[Keyword]) -> bool {
        self.token.keyword != Keyword::None && keywords.contains(&self.token.keyword)
    }

    fn is_kind(&self, kind: TokenKind) -> bool {
        self.token.kind == kind
    }

    fn is_symbol(&self, symbol: u8) -> bool {
        self.token.kind == TokenKind::Symbol(symbol)
    }

    fn accept(&mut self, keyword: Keyword) -> bool {
        let found = self.is(keyword);
        if found {
            self.advance();
        }
        found
    }

    /// The first of `keywords` that is there, consumed.
    fn accept_any(&mut self, keywords: &[Keyword]) -> Option<Keyword> {
        let keyword = self.token.keyword;
        self.is_any(keywords).then(|| {
            self.advance();
            keyword
        })
    }

    fn accept_symbol(&mut self, symbol: u8) -> bool {
        let found = self.is_symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn accept_kind(&mut self, kind: TokenKind) -> Option<Token> {
        self.is_kind(kind).then(|| self.advance())
    }

    fn expect(&mut self, keyword: Keyword) -> Parsed<()> {
        if self.accept(keyword) { Ok(()) } else { self.fail() }
    }

    fn expect_all(&mut self, keywords: &[Keyword]) -> Parsed<()> {
        keywords.iter().try_for_each(|keyword| self.expect(*keyword))
    }

    fn expect_any(&mut self, keywords: &[Keyword]) -> Parsed<Keyword> {
        match self.accept_any(keywords) {
            Some(keyword) => Ok(keyword),
            None => self.fail(),
        }
    }

    fn expect_symbol(&mut self, symbol: u8) -> Parsed<()> {
        if self.accept_symbol(symbol) { Ok(()) } else { self.fail() }
    }

    /// An optional `=`.
    fn accept_equal(&mut self) {
        self.accept_symbol(b'=');
    }

    /// `=` or `:=`.
    fn expect_assign(&mut self) -> Parsed<()> {
        if self.accept_kind(TokenKind::Assign).is_some() { Ok(()) } else { self.expect_symbol(b'=') }
    }

    // Shapes.

    /// `item, item, ...`: at least one.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.accept_symbol(b',') {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `(item, item, ...)`: at least one.
    fn parenthesised_list<T>(&mut self, item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.expect_symbol(b'(')?;
        let items = self.list(item)?;
        self.expect_symbol(b')')?;
        Ok(items)
    }

    /// `[(name, name, ...)]`: empty if absent.
    fn optional_names(&mut self) -> Parsed<Vec<Name>> {
        if self.is_symbol(b'(') { self.parenthesised_list(Self::name) } else { Ok(Vec::new()) }
    }

    /// `IF EXISTS`.
    fn if_exists(&mut self) -> Parsed<bool> {
        if !self.accept(Keyword::IF) {
            return Ok(false);
        }
        self.expect(Keyword::EXISTS)?;
        Ok(true)
    }

    /// `IF NOT EXISTS`.
    fn if_not_exists(&mut self) -> Parsed<bool> {
        if !self.accept(Keyword::IF) {
            return Ok(false);
        }
        self.expect_all(&[Keyword::NOT, Keyword::EXISTS])?;
        Ok(true)
    }

    // Depth.

    /// Runs a rule `levels` deeper; rules whose frames are large count more than one.
    fn deeper<T>(&mut self, levels: u32, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.enter(levels)?;
        let result = rule(self);
        self.depth -= levels;
        result
    }

    /// Goes deeper; whoever calls this comes back up by itself, except on failure, after which there is nothing to parse.
    fn enter(&mut self, levels: u32) -> Parsed<()> {
        self.depth += levels;
        if self.depth > self.options.max_depth { self.fail() } else { Ok(()) }
    }

    /// Notes that a node has been built over subtrees of which the highest is `below` levels high.
    fn grow(&mut self, below: u32) -> Parsed<()> {
        self.height = below + 1;
        if self.height > 2 * self.options.max_depth { self.fail() } else { Ok(()) }
    }
}
