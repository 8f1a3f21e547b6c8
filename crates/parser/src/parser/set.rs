//! SET in all its forms.

use super::simple::scope_of;
use super::{Parsed, Parser};
use crate::ast::{
    Assignment, Expr, IsolationLevel, Literal, SetPassword, SetTransaction, Statement, StringLiteral,
    SystemVariable, TransactionScope, VariableScope,
};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    pub(super) fn set(&mut self) -> Parsed<Statement> {
        self.advance();
        let next = self.peek();
        match self.token.keyword {
            Keyword::PASSWORD => return self.set_password(),
            Keyword::ROLE if next.kind != TokenKind::Symbol(b'=') && next.kind != TokenKind::Assign => {
                return self.set_role();
            }
            Keyword::DEFAULT if next.keyword == Keyword::ROLE => return self.set_default_role(),
            Keyword::RESOURCE if next.keyword == Keyword::GROUP => return self.set_resource_group(),
            Keyword::TRANSACTION if is_characteristic(next.keyword) => {
                return self.set_transaction(TransactionScope::Next);
            }
            Keyword::GLOBAL if next.keyword == Keyword::TRANSACTION => {
                self.advance();
                return self.set_transaction(TransactionScope::Global);
            }
            Keyword::SESSION | Keyword::LOCAL if next.keyword == Keyword::TRANSACTION => {
                self.advance();
                return self.set_transaction(TransactionScope::Session);
            }
            _ => {}
        }
        Ok(Statement::Set(self.assignments()?))
    }

    /// A scope holds until another one is named; the first is SESSION. `@@` stands for itself.
    pub(super) fn assignments(&mut self) -> Parsed<Vec<Assignment>> {
        let mut scope = VariableScope::Session;
        self.list(|p| p.assignment(&mut scope))
    }

    fn assignment(&mut self, scope: &mut VariableScope) -> Parsed<Assignment> {
        match self.token.kind {
            TokenKind::Symbol(b'@') => {
                let name = self.assigned_variable()?;
                self.expect_assign()?;
                return Ok(Assignment::User(name, self.expr()?));
            }
            TokenKind::AtAt => {
                let variable = self.system_variable()?;
                return self.system_assignment(variable);
            }
            _ => {}
        }
        let next = self.peek();
        let plain = matches!(next.kind, TokenKind::Symbol(b'=' | b'.') | TokenKind::Assign);
        match self.token.keyword {
            Keyword::NAMES if !plain => return self.set_names(),
            Keyword::CHARSET if !plain => return self.set_character_set(),
            Keyword::CHARACTER | Keyword::CHAR => return self.set_character_set(),
            keyword => {
                if let Some(stated) = scope_of(keyword) {
                    self.advance();
                    *scope = stated;
                }
                // A scope is never a name here.
                if scope_of(self.token.keyword).is_some() {
                    return self.fail();
                }
            }
        }
        let variable = self.system_variable_name(*scope)?;
        self.system_assignment(variable)
    }

    fn system_assignment(&mut self, variable: SystemVariable) -> Parsed<Assignment> {
        self.expect_assign()?;
        Ok(Assignment::System(variable, self.variable_value()?))
    }

    /// A value; words that are not reserved, and some that are, stand for themselves. `None` is DEFAULT.
    fn variable_value(&mut self) -> Parsed<Option<Expr>> {
        let next = self.peek();
        let alone = !matches!(next.kind, TokenKind::Symbol(b'(' | b'.') | TokenKind::String);
        match self.token.keyword {
            Keyword::DEFAULT if next.kind != TokenKind::Symbol(b'(') => {
                self.advance();
                return Ok(None);
            }
            Keyword::ON | Keyword::ALL | Keyword::SYSTEM => return Ok(Some(self.word_value())),
            Keyword::ROW | Keyword::BINARY if alone && !super::name::is_name_token(next) => {
                return Ok(Some(self.word_value()));
            }
            _ => {}
        }
        Ok(Some(match self.expr()? {
            Expr::Column(column) if column.table.is_none() => string(column.column),
            expr => expr,
        }))
    }

    fn word_value(&mut self) -> Expr {
        let token = self.advance();
        string(String::from_utf8_lossy(self.bytes(token)).into_owned())
    }

    fn set_names(&mut self) -> Parsed<Assignment> {
        self.advance();
        if self.accept(Keyword::DEFAULT) {
            return Ok(Assignment::Names(None));
        }
        let charset = self.charset_name()?;
        let collation = if !self.accept(Keyword::COLLATE) || self.accept(Keyword::DEFAULT) {
            None
        } else {
            Some(self.collation_name()?)
        };
        Ok(Assignment::Names(Some((charset, collation))))
    }

    fn set_character_set(&mut self) -> Parsed<Assignment> {
        if !self.accept(Keyword::CHARSET) {
            self.advance();
            self.expect(Keyword::SET)?;
        }
        if self.accept(Keyword::DEFAULT) {
            return Ok(Assignment::CharacterSet(None));
        }
        Ok(Assignment::CharacterSet(Some(self.charset_of_session()?)))
    }

    fn set_transaction(&mut self, scope: TransactionScope) -> Parsed<Statement> {
        self.expect(Keyword::TRANSACTION)?;
        let mut set = SetTransaction { scope, isolation: None, read_only: None };
        loop {
            if set.isolation.is_none() && self.accept(Keyword::ISOLATION) {
                self.expect(Keyword::LEVEL)?;
                set.isolation = Some(self.isolation_level()?);
            } else if set.read_only.is_none() && self.accept(Keyword::READ) {
                set.read_only = Some(self.expect_any(&[Keyword::ONLY, Keyword::WRITE])? == Keyword::ONLY);
            } else {
                return self.fail();
            }
            if !self.accept_symbol(b',') {
                return Ok(Statement::SetTransaction(set));
            }
        }
    }

    fn isolation_level(&mut self) -> Parsed<IsolationLevel> {
        Ok(match self.expect_any(&[Keyword::READ, Keyword::REPEATABLE, Keyword::SERIALIZABLE])? {
            Keyword::READ => match self.expect_any(&[Keyword::UNCOMMITTED, Keyword::COMMITTED])? {
                Keyword::COMMITTED => IsolationLevel::ReadCommitted,
                _ => IsolationLevel::ReadUncommitted,
            },
            Keyword::REPEATABLE => {
                self.expect(Keyword::READ)?;
                IsolationLevel::RepeatableRead
            }
            _ => IsolationLevel::Serializable,
        })
    }

    fn set_password(&mut self) -> Parsed<Statement> {
        self.advance();
        let user = if self.accept(Keyword::FOR) { Some(self.account()?) } else { None };
        let password = if self.accept(Keyword::TO) {
            self.expect(Keyword::RANDOM)?;
            None
        } else {
            self.expect_symbol(b'=')?;
            Some(self.string()?)
        };
        let replace = if self.accept(Keyword::REPLACE) { Some(self.string()?) } else { None };
        let retain_current = self.retain_current_password()?;
        Ok(Statement::SetPassword(SetPassword { user, password, replace, retain_current }))
    }
}

fn is_characteristic(keyword: Keyword) -> bool {
    matches!(keyword, Keyword::ISOLATION | Keyword::READ)
}

fn string(text: String) -> Expr {
    Expr::Literal(Literal::String(StringLiteral { value: text.into_bytes(), charset: None }))
}
