//! Identifiers, qualified names, and words that stand for values.

use super::{Parsed, Parser};
use crate::Deprecated;
use crate::ast::{Account, ColumnName, Name, ObjectName};
use crate::error::WrongName;
use crate::lexer::{Keyword, Token, TokenKind};

/// Characters that a name has at most.
const LONGEST_NAME: usize = 64;

impl Parser<'_> {
    /// Whether the current token may be an identifier.
    pub(super) fn is_name(&self) -> bool {
        is_name_token(self.token)
    }

    /// An identifier: a word that is not reserved, or a quoted one.
    pub(super) fn name(&mut self) -> Parsed<Name> {
        if !self.is_name() {
            return self.fail();
        }
        let name = self.name_text(self.token)?;
        self.advance();
        Ok(name)
    }

    /// The identifier a token spells; it must be UTF-8. A quoted one may be empty: what cannot be called so
    /// says it.
    pub(super) fn name_text(&self, token: Token) -> Parsed<Name> {
        let bytes = self.bytes(token);
        let (text, quote) = match bytes {
            [quote, inner @ .., _] if token.kind == TokenKind::QuotedName => (inner, Some(*quote)),
            _ => (bytes, None),
        };
        let Ok(text) = std::str::from_utf8(text) else {
            return self.fail();
        };
        let (single, doubled) = match quote {
            None => return Ok(text.to_owned()),
            Some(b'`') => ("`", "``"),
            Some(_) => ("\"", "\"\""),
        };
        Ok(if text.contains(single) { text.replace(doubled, single) } else { text.to_owned() })
    }

    /// An identifier or a string.
    pub(super) fn name_or_string(&mut self) -> Parsed<Name> {
        if self.is_kind(TokenKind::String) {
            let bytes = self.string()?;
            return match String::from_utf8(bytes) {
                Ok(name) => Ok(name),
                Err(_) => self.fail(),
            };
        }
        self.name()
    }

    /// `[schema.]name`.
    pub(super) fn object_name(&mut self) -> Parsed<ObjectName> {
        let first = self.name()?;
        if self.accept_symbol(b'.') {
            return Ok(ObjectName { schema: Some(first), name: self.name()? });
        }
        Ok(ObjectName { schema: None, name: first })
    }

    /// `[schema.]table`: the name of a table or view that the statement is about.
    pub(super) fn table_name(&mut self) -> Parsed<ObjectName> {
        let name = self.object_name()?;
        self.check_table_name(&name);
        Ok(name)
    }

    /// Notes what a table cannot be called.
    pub(super) fn check_table_name(&mut self, name: &ObjectName) {
        self.check_name(&name.name, WrongName::Table);
        if let Some(schema) = &name.schema {
            self.check_name(schema, WrongName::Database);
        }
    }

    /// The name of a database.
    pub(super) fn database_name(&mut self) -> Parsed<Name> {
        let name = self.name()?;
        self.check_name(&name, WrongName::Database);
        Ok(name)
    }

    /// Notes a name that nothing of its kind can have, for when the statement has been read.
    pub(super) fn check_name(&mut self, name: &str, wrong: fn(Name) -> WrongName) {
        if self.wrong_name.is_some() {
            return;
        }
        if name.is_empty() || name.ends_with(' ') {
            self.wrong_name = Some(wrong(name.to_owned()));
        } else if name.len() > LONGEST_NAME && name.chars().count() > LONGEST_NAME {
            let name = wrong(name.to_owned());
            self.wrong_name = Some(match name {
                WrongName::UserVariable(_) => name,
                WrongName::Table(name) | WrongName::Database(name) | WrongName::Routine(name) => {
                    WrongName::TooLong(name)
                }
                WrongName::TooLong(_) => name,
            });
        }
    }

    /// `[[schema.]table.]column`.
    pub(super) fn column_name(&mut self) -> Parsed<ColumnName> {
        let first = self.name()?;
        self.column_name_after(first)
    }

    /// The rest of a column's name whose first part has been read.
    pub(super) fn column_name_after(&mut self, first: Name) -> Parsed<ColumnName> {
        if !self.accept_symbol(b'.') {
            return Ok(ColumnName { schema: None, table: None, column: first });
        }
        let second = self.name()?;
        if !self.accept_symbol(b'.') {
            return Ok(ColumnName { schema: None, table: Some(first), column: second });
        }
        self.check_name(&first, WrongName::Database);
        Ok(ColumnName { schema: Some(first), table: Some(second), column: self.name()? })
    }

    /// `[AS] alias`: a name or a string.
    pub(super) fn optional_alias(&mut self) -> Parsed<Option<Name>> {
        if self.begins_returning() {
            return Ok(None);
        }
        if self.accept(Keyword::AS) || self.is_name() || self.is_kind(TokenKind::String) {
            return Ok(Some(self.name_or_string()?));
        }
        Ok(None)
    }

    /// What follows `@`: the name of a user variable.
    pub(super) fn variable_after_at(&mut self) -> Parsed<Name> {
        match self.token.kind {
            TokenKind::AtName => {
                let name = self.name_text(self.token)?;
                self.advance();
                Ok(name)
            }
            TokenKind::String | TokenKind::QuotedName => self.name_or_string(),
            _ => self.fail(),
        }
    }

    /// `@name`.
    pub(super) fn user_variable(&mut self) -> Parsed<Name> {
        self.expect_symbol(b'@')?;
        self.variable_after_at()
    }

    /// `@name` to which something is assigned.
    pub(super) fn assigned_variable(&mut self) -> Parsed<Name> {
        let name = self.user_variable()?;
        self.check_name(&name, WrongName::UserVariable);
        Ok(name)
    }

    /// A character set: a name, a string, or BINARY.
    pub(super) fn charset_name(&mut self) -> Parsed<Name> {
        let name = self.charset_of_session()?;
        self.note_charset(&name);
        Ok(name)
    }

    /// The character set of SET CHARACTER SET, about which nobody is warned.
    pub(super) fn charset_of_session(&mut self) -> Parsed<Name> {
        if self.accept(Keyword::BINARY) {
            return Ok("binary".to_owned());
        }
        self.name_or_string()
    }

    /// A character set has been named.
    pub(super) fn note_charset(&mut self, name: &str) {
        if name.eq_ignore_ascii_case("utf8") {
            self.note(Deprecated::Utf8);
        } else if name.eq_ignore_ascii_case("utf8mb3") {
            self.note(Deprecated::Utf8mb3);
        }
    }

    /// A word that stands for a character set has been read.
    pub(super) fn note_charset_word(&mut self, keyword: Keyword) {
        if matches!(keyword, Keyword::ASCII | Keyword::UNICODE) {
            self.note(Deprecated::CharsetWord(keyword.text()));
        }
    }

    /// A collation that is declared: a name, a string, or BINARY.
    pub(super) fn collation_name(&mut self) -> Parsed<Name> {
        let name = self.collation_of_expr()?;
        if let Some((charset, rest)) = name.to_ascii_lowercase().split_once('_')
            && matches!(charset, "utf8" | "utf8mb3")
        {
            self.note(Deprecated::Utf8mb3Collation(format!("utf8mb3_{rest}")));
        }
        Ok(name)
    }

    /// A collation of an expression, about which nobody is warned.
    pub(super) fn collation_of_expr(&mut self) -> Parsed<Name> {
        if self.accept(Keyword::BINARY) {
            return Ok("binary".to_owned());
        }
        self.name_or_string()
    }

    /// `user[@host]` or CURRENT_USER[()].
    pub(super) fn account(&mut self) -> Parsed<Account> {
        if self.accept(Keyword::CURRENT_USER) {
            if self.accept_symbol(b'(') {
                self.expect_symbol(b')')?;
            }
            return Ok(Account::CurrentUser);
        }
        let user = self.name_or_string()?;
        let host = if self.accept_symbol(b'@') { Some(self.variable_after_at()?) } else { None };
        Ok(Account::Named { user, host })
    }

    /// Any word at all, upper-cased: where the grammar leaves a choice that is not its own to check.
    pub(super) fn upper_word(&mut self) -> Parsed<Name> {
        if !self.is_kind(TokenKind::Word) {
            return self.fail();
        }
        let word = self.name_text(self.token)?.to_ascii_uppercase();
        self.advance();
        Ok(word)
    }

    /// A name in upper case, or DEFAULT: the value of ALGORITHM and LOCK.
    pub(super) fn name_or_default(&mut self) -> Parsed<Name> {
        if self.accept(Keyword::DEFAULT) {
            return Ok("DEFAULT".to_owned());
        }
        self.name()
    }

    /// Whether the current token is this word, which is no keyword.
    pub(super) fn is_word(&self, word: &str) -> bool {
        self.is_kind(TokenKind::Word) && self.bytes(self.token).eq_ignore_ascii_case(word.as_bytes())
    }
}

/// Whether a token may be an identifier.
pub(super) fn is_name_token(token: Token) -> bool {
    match token.kind {
        TokenKind::Word => !token.keyword.is_reserved() && !token.keyword.is_call_only(),
        TokenKind::QuotedName => true,
        _ => false,
    }
}
