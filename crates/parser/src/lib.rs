//! MySQL 8.4's grammar.
//!
//! Bytes go in, a [`ast::Statement`] comes out. Nothing is resolved: whether a table exists or a function takes two
//! arguments is not known here. Input need not be UTF-8; only identifiers must be.
//!
//! Deliberately absent: names that mean something, types of expressions, the session.

#![forbid(unsafe_code)]
#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "grammar in comments has brackets around what is optional"
)]

pub mod ast;
pub mod digest;
mod display;
mod error;
pub mod lexer;
mod mode;
mod parser;

pub use error::ParseError;
pub use mode::ParseOptions;

use parser::Parser;

/// Parses the first statement of `text`.
///
/// Gives the statement (`None` if there is nothing but space and comments) and where the next one begins: just after
/// the semicolon that ended this one, `None` at the end of the text.
pub fn parse_one(
    text: &[u8],
    options: ParseOptions,
) -> Result<(Option<ast::Statement>, Option<usize>), ParseError> {
    let mut parser = Parser::new(text, options);
    parser.first_statement().map_err(|rejected| parser.error(rejected))
}

/// Parses a text that must be one statement; a trailing semicolon is allowed.
pub fn parse(text: &[u8], options: ParseOptions) -> Result<ast::Statement, ParseError> {
    Parser::new(text, options).only_statement().map(|(statement, _)| statement)
}

/// [`parse`], and how many placeholders the statement has.
pub fn parse_prepared(text: &[u8], options: ParseOptions) -> Result<(ast::Statement, usize), ParseError> {
    Parser::new(text, ParseOptions { placeholders: true, ..options }).only_statement()
}
