//! MySQL 8.4's grammar.
//!
//! Bytes go in, a [`ast::Statement`] comes out. Nothing is resolved: whether a table exists or a function takes two
//! arguments is not known here. Input need not be UTF-8; only identifiers must be.
//!
//! Deliberately absent: names that mean something, types of expressions, the session.

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]
#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "grammar in comments has brackets around what is optional"
)]

pub mod ast;
mod deprecated;
pub mod digest;
mod display;
mod error;
pub mod hint;
pub mod lexer;
mod mode;
mod parser;

pub use deprecated::Deprecated;
pub use error::{ParseError, PartitionFault, WrongName};
pub use hint::Hint;
pub use mode::ParseOptions;

use parser::Parser;
pub use parser::Watch;

/// The first statement of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct First {
    /// The statement; `None` if there is nothing but space.
    pub statement: Option<ast::Statement>,
    /// Where the next one begins: just after the semicolon that ended this one, `None` at the end of the text.
    pub next: Option<usize>,
    /// What `next` points to is only a comment: a client that may send several statements gets an answer to
    /// it.
    pub next_is_comment: bool,
    /// What it uses that is deprecated, in order.
    pub deprecated: Vec<Deprecated>,
    /// Its hints, in order.
    pub hints: Vec<Hint>,
}

/// A text that is one statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Only {
    /// The statement.
    pub statement: ast::Statement,
    /// How many placeholders it has.
    pub placeholders: usize,
    /// What it uses that is deprecated, in order.
    pub deprecated: Vec<Deprecated>,
    /// Its hints, in order.
    pub hints: Vec<Hint>,
}

/// Parses the first statement of `text`, for as long as `watch` lets it.
pub fn parse_one(text: &[u8], options: ParseOptions, watch: Watch<'_>) -> Result<First, ParseError> {
    let mut parser = Parser::new(text, options).watched(watch);
    let (statement, next) = parser.first_statement().map_err(|rejected| parser.error(rejected))?;
    let next_is_comment = next.is_some() && statement.is_some() && parser.is_at_end();
    Ok(First { statement, next, next_is_comment, deprecated: parser.deprecated, hints: parser.hints })
}

/// Parses a text that must be one statement; a trailing semicolon is allowed.
pub fn parse(text: &[u8], options: ParseOptions) -> Result<ast::Statement, ParseError> {
    Parser::new(text, options).only_statement().map(|only| only.statement)
}

/// Parses a text that must be one expression.
pub fn parse_expression(text: &[u8], options: ParseOptions) -> Result<ast::Expr, ParseError> {
    Parser::new(text, options).only_expression()
}

/// Parses a PARTITION BY that stands alone, as a definition keeps it.
pub fn parse_partitioning(text: &[u8], options: ParseOptions) -> Result<ast::Partitioning, ParseError> {
    Parser::new(text, options).only_partitioning()
}

/// [`parse`] of a statement that may have placeholders, for as long as `watch` lets it.
pub fn parse_prepared(text: &[u8], options: ParseOptions, watch: Watch<'_>) -> Result<Only, ParseError> {
    Parser::new(text, ParseOptions { placeholders: true, ..options }).watched(watch).only_statement()
}
