//! CREATE BINDING and DROP BINDING.

use super::{Parsed, Parser};
use crate::ast::{Binding, HintedStatement, Statement};
use crate::lexer::Keyword;

impl Parser<'_> {
    /// Whether `[GLOBAL | SESSION] BINDING FOR` comes.
    pub(super) fn is_binding(&self) -> bool {
        match self.is_any(&[Keyword::GLOBAL, Keyword::SESSION]) {
            true => self.bytes(self.peek()).eq_ignore_ascii_case(b"BINDING"),
            false => self.is_word("BINDING") && self.peek().keyword == Keyword::FOR,
        }
    }

    /// Behind CREATE or DROP, where [`is_binding`](Self::is_binding) holds.
    pub(super) fn binding(&mut self, is_created: bool) -> Parsed<Statement> {
        let is_of_session = self.accept_any(&[Keyword::GLOBAL, Keyword::SESSION]) == Some(Keyword::SESSION);
        self.advance();
        self.expect(Keyword::FOR)?;
        let (text, ..) = self.bound_statement()?;
        let mut hinted = None;
        if is_created {
            self.expect(Keyword::USING)?;
            let (text, statement, hints) = self.bound_statement()?;
            hinted = Some(HintedStatement { text, statement: Box::new(statement), hints });
        }
        Ok(Statement::Binding(Box::new(Binding { is_of_session, text, hinted })))
    }

    /// A statement of its own, whose blocks are counted from 1: its text, its tree, its hints.
    fn bound_statement(&mut self) -> Parsed<(Vec<u8>, Statement, Vec<crate::Hint>)> {
        if !self.is_explainable() {
            return self.fail();
        }
        let (start, blocks) = (self.token.start, std::mem::take(&mut self.blocks));
        let before = std::mem::take(&mut self.hints);
        let statement = self.statement()?;
        self.blocks = blocks;
        let hints = std::mem::replace(&mut self.hints, before);
        Ok((self.text_since(start).to_vec(), statement, hints))
    }
}
