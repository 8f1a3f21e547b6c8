//! GRANT and REVOKE.
//!
//! Whether `GRANT a, b` grants privileges or roles shows only at ON or TO, so the list is read as words first.

use super::{Parsed, Parser};
use crate::ast::{
    Account, Grant, Name, ObjectName, Privilege, PrivilegeLevel, PrivilegeObject, PrivilegeTarget, Revoke,
    Revoked, Statement,
};
use crate::error::WrongName;
use crate::lexer::{Keyword, TokenKind};

/// An item of the list between GRANT and ON or TO.
enum Item {
    /// Words: the privilege they name, and the first of them as written.
    Words(Privilege, Name),
    Role(Account),
}

impl Parser<'_> {
    pub(super) fn grant(&mut self) -> Parsed<Statement> {
        self.advance();
        if self.accept(Keyword::PROXY) {
            self.expect(Keyword::ON)?;
            let on = self.account()?;
            self.expect(Keyword::TO)?;
            let users = self.list(Self::account)?;
            let grant_option = self.with_option(Keyword::GRANT)?;
            return Ok(Statement::Grant(Box::new(Grant::Proxy { on, users, grant_option })));
        }
        let items = self.grant_items()?;
        if self.accept(Keyword::TO) {
            let roles = self.roles(items)?;
            let users = self.list(Self::account)?;
            let admin_option = self.with_option(Keyword::ADMIN)?;
            return Ok(Statement::Grant(Box::new(Grant::Roles { roles, users, admin_option })));
        }
        self.expect(Keyword::ON)?;
        let privileges = self.privileges(items)?;
        let target = self.privilege_target()?;
        self.expect(Keyword::TO)?;
        let users = self.list(Self::account)?;
        let grant_option = self.with_option(Keyword::GRANT)?;
        let mut as_user = None;
        if self.accept(Keyword::AS) {
            let user = self.account()?;
            let mut roles = None;
            if self.accept(Keyword::WITH) {
                self.expect(Keyword::ROLE)?;
                roles = Some(self.role_selection(true)?);
            }
            as_user = Some((user, roles));
        }
        Ok(Statement::Grant(Box::new(Grant::Privileges { privileges, target, users, grant_option, as_user })))
    }

    /// `[WITH x OPTION]`.
    fn with_option(&mut self, what: Keyword) -> Parsed<bool> {
        if !self.accept(Keyword::WITH) {
            return Ok(false);
        }
        self.expect_all(&[what, Keyword::OPTION])?;
        Ok(true)
    }

    pub(super) fn revoke(&mut self) -> Parsed<Statement> {
        self.advance();
        let if_exists = self.if_exists()?;
        let what = self.revoked()?;
        self.expect(Keyword::FROM)?;
        let users = self.list(Self::account)?;
        let ignore_unknown_user = self.accept(Keyword::IGNORE);
        if ignore_unknown_user {
            self.expect_all(&[Keyword::UNKNOWN, Keyword::USER])?;
        }
        Ok(Statement::Revoke(Box::new(Revoke { if_exists, what, users, ignore_unknown_user })))
    }

    fn revoked(&mut self) -> Parsed<Revoked> {
        if self.accept(Keyword::PROXY) {
            self.expect(Keyword::ON)?;
            return Ok(Revoked::Proxy(self.account()?));
        }
        let items = self.grant_items()?;
        if self.accept(Keyword::ON) {
            let privileges = self.privileges(items)?;
            return Ok(Revoked::Privileges(privileges, self.privilege_target()?));
        }
        match items.as_slice() {
            [Item::Words(all, _), Item::Words(option, _)]
                if all.name == "ALL PRIVILEGES" && option.name == "GRANT OPTION" =>
            {
                Ok(Revoked::All)
            }
            _ => Ok(Revoked::Roles(self.roles(items)?)),
        }
    }

    fn grant_items(&mut self) -> Parsed<Vec<Item>> {
        self.list(|p| {
            if !p.is_kind(TokenKind::Word) || p.peek().kind == TokenKind::Symbol(b'@') {
                return Ok(Item::Role(p.account()?));
            }
            let written = p.name_text(p.token)?;
            let name = p.privilege_name()?;
            Ok(Item::Words(Privilege { name, columns: p.optional_names()? }, written))
        })
    }

    /// A privilege of one word or several, or any name: a role or a dynamic privilege.
    fn privilege_name(&mut self) -> Parsed<Name> {
        let keyword = self.token.keyword;
        let known = matches!(
            keyword,
            Keyword::SELECT
                | Keyword::INSERT
                | Keyword::UPDATE
                | Keyword::REFERENCES
                | Keyword::DELETE
                | Keyword::USAGE
                | Keyword::INDEX
                | Keyword::ALTER
                | Keyword::CREATE
                | Keyword::DROP
                | Keyword::GRANT
                | Keyword::SHOW
                | Keyword::LOCK
                | Keyword::TRIGGER
                | Keyword::ALL
        );
        if !known && !self.is_name() {
            return self.fail();
        }
        let mut name = self.upper_word()?;
        let (second, needed): (&[Keyword], bool) = match keyword {
            Keyword::ALL => {
                self.accept(Keyword::PRIVILEGES);
                return Ok("ALL PRIVILEGES".to_owned());
            }
            Keyword::CREATE if self.accept(Keyword::TEMPORARY) => {
                self.expect(Keyword::TABLES)?;
                return Ok("CREATE TEMPORARY TABLES".to_owned());
            }
            Keyword::CREATE => {
                (&[Keyword::VIEW, Keyword::ROUTINE, Keyword::USER, Keyword::TABLESPACE, Keyword::ROLE], false)
            }
            Keyword::ALTER => (&[Keyword::ROUTINE], false),
            Keyword::DROP => (&[Keyword::ROLE], false),
            Keyword::GRANT => (&[Keyword::OPTION], true),
            Keyword::SHOW => (&[Keyword::DATABASES, Keyword::VIEW], true),
            Keyword::LOCK => (&[Keyword::TABLES], true),
            Keyword::REPLICATION => (&[Keyword::SLAVE, Keyword::CLIENT], true),
            _ => (&[], false),
        };
        match self.accept_any(second) {
            Some(word) => {
                name.push(' ');
                name.push_str(word.text());
            }
            None if needed => return self.fail(),
            None => {}
        }
        Ok(name)
    }

    fn privileges(&self, items: Vec<Item>) -> Parsed<Vec<Privilege>> {
        items
            .into_iter()
            .map(|item| match item {
                Item::Words(privilege, _) => Ok(privilege),
                // A dynamic privilege may be written as a string or a quoted name.
                Item::Role(Account::Named { user, host: None }) => {
                    Ok(Privilege { name: user.to_ascii_uppercase(), columns: Vec::new() })
                }
                Item::Role(_) => self.fail(),
            })
            .collect()
    }

    fn roles(&self, items: Vec<Item>) -> Parsed<Vec<Account>> {
        items
            .into_iter()
            .map(|item| match item {
                Item::Role(account) => Ok(account),
                Item::Words(privilege, user)
                    if privilege.columns.is_empty() && !privilege.name.contains(' ') =>
                {
                    Ok(Account::Named { user, host: None })
                }
                Item::Words(..) => self.fail(),
            })
            .collect()
    }

    /// Behind ON.
    fn privilege_target(&mut self) -> Parsed<PrivilegeTarget> {
        let kind = match self.accept_any(&[Keyword::TABLE, Keyword::FUNCTION, Keyword::PROCEDURE]) {
            Some(Keyword::FUNCTION) => PrivilegeObject::Function,
            Some(Keyword::PROCEDURE) => PrivilegeObject::Procedure,
            _ => PrivilegeObject::Table,
        };
        Ok(PrivilegeTarget { kind, level: self.privilege_level()? })
    }

    fn privilege_level(&mut self) -> Parsed<PrivilegeLevel> {
        if self.accept_symbol(b'*') {
            if !self.accept_symbol(b'.') {
                return Ok(PrivilegeLevel::DefaultDatabase);
            }
            self.expect_symbol(b'*')?;
            return Ok(PrivilegeLevel::Global);
        }
        let first: Name = self.name()?;
        if !self.accept_symbol(b'.') {
            let name = ObjectName { schema: None, name: first };
            self.check_table_name(&name);
            return Ok(PrivilegeLevel::Object(name));
        }
        if self.accept_symbol(b'*') {
            self.check_name(&first, WrongName::Database);
            return Ok(PrivilegeLevel::Database(first));
        }
        let name = ObjectName { schema: Some(first), name: self.name()? };
        // MySQL looks at the database alone if both are wrong.
        self.check_name(name.schema.as_deref().unwrap_or_default(), WrongName::Database);
        self.check_table_name(&name);
        Ok(PrivilegeLevel::Object(name))
    }
}
