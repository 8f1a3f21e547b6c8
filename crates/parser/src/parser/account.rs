//! Users and roles: CREATE, ALTER, DROP, RENAME USER; CREATE, DROP, SET ROLE.

use super::{Parsed, Parser};
use crate::ast::{
    Account, AccountOptions, AlterUser, Authentication, CreateRole, CreateUser, DropUser, PasswordExpire,
    PasswordRequireCurrent, Require, RoleSelection, Secret, SetDefaultRole, Statement, UserSpec,
};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// Behind CREATE USER.
    pub(super) fn create_user(&mut self) -> Parsed<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let users = self.list(Self::user_spec)?;
        let mut default_roles = Vec::new();
        if self.accept(Keyword::DEFAULT) {
            self.expect(Keyword::ROLE)?;
            default_roles = self.list(Self::account)?;
        }
        let options = self.account_options()?;
        Ok(Statement::CreateUser(Box::new(CreateUser { if_not_exists, users, default_roles, options })))
    }

    /// Behind ALTER USER.
    pub(super) fn alter_user(&mut self) -> Parsed<Statement> {
        let if_exists = self.if_exists()?;
        let users = self.list(Self::user_spec)?;
        let mut default_role = None;
        if self.accept(Keyword::DEFAULT) {
            self.expect(Keyword::ROLE)?;
            default_role = Some(self.role_selection(false)?);
        }
        let options = self.account_options()?;
        Ok(Statement::AlterUser(Box::new(AlterUser { if_exists, users, default_role, options })))
    }

    /// A user and how it is identified.
    fn user_spec(&mut self) -> Parsed<UserSpec> {
        let account = if self.is(Keyword::USER) && self.peek().kind == TokenKind::Symbol(b'(') {
            self.advance();
            self.advance();
            self.expect_symbol(b')')?;
            Account::CurrentUser
        } else {
            self.account()?
        };
        let mut user = UserSpec {
            account,
            authentication: Vec::new(),
            discard_old_password: false,
            factor_actions: Vec::new(),
        };
        if self.accept(Keyword::IDENTIFIED) {
            loop {
                user.authentication.push(self.authentication()?);
                if !self.is(Keyword::AND) || self.peek().keyword != Keyword::IDENTIFIED {
                    break;
                }
                self.advance();
                self.advance();
            }
        } else if self.accept(Keyword::DISCARD) {
            self.expect_all(&[Keyword::OLD, Keyword::PASSWORD])?;
            user.discard_old_password = true;
        } else if self.is_any(&[Keyword::ADD, Keyword::MODIFY, Keyword::DROP])
            || self.is_kind(TokenKind::Integer)
        {
            self.factor_actions(&mut user)?;
        }
        Ok(user)
    }

    /// `ADD 2 FACTOR IDENTIFIED ...`, `DROP 3 FACTOR`, `2 FACTOR INITIATE REGISTRATION`.
    fn factor_actions(&mut self, user: &mut UserSpec) -> Parsed<()> {
        let mut action = String::new();
        if let Some(keyword) = self.accept_any(&[Keyword::ADD, Keyword::MODIFY, Keyword::DROP]) {
            action = format!("{} ", keyword.text());
        }
        let factor = self.unsigned()?;
        self.expect(Keyword::FACTOR)?;
        if action.is_empty() {
            let verb = self.expect_any(&[Keyword::INITIATE, Keyword::FINISH, Keyword::UNREGISTER])?;
            action = format!("{factor} FACTOR {}", verb.text());
            self.accept(Keyword::REGISTRATION);
            if self.accept(Keyword::SET) {
                self.expect_all(&[Keyword::CHALLENGE_RESPONSE, Keyword::AS])?;
                let secret = Some(Secret::Hash(self.text_literal()?));
                user.authentication.push(Authentication { secret, ..Authentication::default() });
            }
        } else {
            action.push_str(&format!("{factor} FACTOR"));
            if self.accept(Keyword::IDENTIFIED) {
                user.authentication.push(self.authentication()?);
            }
        }
        user.factor_actions.push(action);
        Ok(())
    }

    /// Behind IDENTIFIED.
    fn authentication(&mut self) -> Parsed<Authentication> {
        let mut authentication = Authentication::default();
        if self.accept(Keyword::WITH) {
            authentication.plugin = Some(self.name_or_string()?);
        }
        authentication.secret = if self.accept(Keyword::BY) {
            if self.accept(Keyword::RANDOM) {
                self.expect(Keyword::PASSWORD)?;
                Some(Secret::Random)
            } else {
                Some(Secret::Password(self.text_literal()?))
            }
        } else if authentication.plugin.is_some() && self.accept(Keyword::AS) {
            Some(Secret::Hash(self.text_literal()?))
        } else if authentication.plugin.is_some() {
            None
        } else {
            return self.fail();
        };
        if self.accept(Keyword::REPLACE) {
            authentication.replace = Some(self.string()?);
        }
        authentication.retain_current = self.retain_current_password()?;
        Ok(authentication)
    }

    /// `[RETAIN CURRENT PASSWORD]`.
    pub(super) fn retain_current_password(&mut self) -> Parsed<bool> {
        if !self.accept(Keyword::RETAIN) {
            return Ok(false);
        }
        self.expect_all(&[Keyword::CURRENT, Keyword::PASSWORD])?;
        Ok(true)
    }

    fn account_options(&mut self) -> Parsed<AccountOptions> {
        let mut options = AccountOptions::default();
        if self.accept(Keyword::REQUIRE) {
            options.require = Some(self.require()?);
        }
        if self.accept(Keyword::WITH) {
            let limits = &[
                Keyword::MAX_QUERIES_PER_HOUR,
                Keyword::MAX_UPDATES_PER_HOUR,
                Keyword::MAX_CONNECTIONS_PER_HOUR,
                Keyword::MAX_USER_CONNECTIONS,
            ];
            let first = self.expect_any(limits)?;
            options.limits.push((first.text().to_owned(), self.unsigned()?));
            while let Some(limit) = self.accept_any(limits) {
                options.limits.push((limit.text().to_owned(), self.unsigned()?));
            }
        }
        while let Some(keyword) = self.accept_any(&[
            Keyword::ACCOUNT,
            Keyword::PASSWORD,
            Keyword::FAILED_LOGIN_ATTEMPTS,
            Keyword::PASSWORD_LOCK_TIME,
        ]) {
            match keyword {
                Keyword::ACCOUNT => {
                    options.locked =
                        Some(self.expect_any(&[Keyword::LOCK, Keyword::UNLOCK])? == Keyword::LOCK);
                }
                Keyword::PASSWORD => self.password_option(&mut options)?,
                Keyword::FAILED_LOGIN_ATTEMPTS => options.failed_login_attempts = Some(self.unsigned()?),
                _ => {
                    let unbounded = self.accept(Keyword::UNBOUNDED);
                    options.password_lock_days = Some(if unbounded { None } else { Some(self.unsigned()?) });
                }
            }
        }
        match self.accept_any(&[Keyword::COMMENT, Keyword::ATTRIBUTE]) {
            Some(Keyword::COMMENT) => options.comment = Some(self.string()?),
            Some(_) => options.attribute = Some(self.string()?),
            None => {}
        }
        Ok(options)
    }

    fn require(&mut self) -> Parsed<Require> {
        match self.accept_any(&[Keyword::NONE, Keyword::SSL, Keyword::X509]) {
            Some(Keyword::NONE) => return Ok(Require::None),
            Some(Keyword::SSL) => return Ok(Require::Ssl),
            Some(_) => return Ok(Require::X509),
            None => {}
        }
        let (mut subject, mut issuer, mut cipher) = (None, None, None);
        let parts = &[Keyword::SUBJECT, Keyword::ISSUER, Keyword::CIPHER];
        let mut part = self.expect_any(parts)?;
        loop {
            let text = Some(self.string()?);
            match part {
                Keyword::SUBJECT => subject = text,
                Keyword::ISSUER => issuer = text,
                _ => cipher = text,
            }
            part = if self.accept(Keyword::AND) {
                self.expect_any(parts)?
            } else if let Some(next) = self.accept_any(parts) {
                next
            } else {
                return Ok(Require::Specified { subject, issuer, cipher });
            };
        }
    }

    /// Behind PASSWORD.
    fn password_option(&mut self, options: &mut AccountOptions) -> Parsed<()> {
        match self.expect_any(&[Keyword::EXPIRE, Keyword::HISTORY, Keyword::REUSE, Keyword::REQUIRE])? {
            Keyword::EXPIRE => {
                let how = self.accept_any(&[Keyword::DEFAULT, Keyword::NEVER, Keyword::INTERVAL]);
                options.password_expire = Some(match how {
                    None => PasswordExpire::Now,
                    Some(Keyword::DEFAULT) => PasswordExpire::Default,
                    Some(Keyword::NEVER) => PasswordExpire::Never,
                    Some(_) => {
                        let days = self.unsigned()?;
                        self.expect(Keyword::DAY)?;
                        PasswordExpire::IntervalDays(days)
                    }
                });
            }
            Keyword::HISTORY => {
                let default = self.accept(Keyword::DEFAULT);
                options.password_history = Some(if default { None } else { Some(self.unsigned()?) });
            }
            Keyword::REUSE => {
                self.expect(Keyword::INTERVAL)?;
                options.password_reuse_days = Some(if self.accept(Keyword::DEFAULT) {
                    None
                } else {
                    let days = self.unsigned()?;
                    self.expect(Keyword::DAY)?;
                    Some(days)
                });
            }
            _ => {
                self.expect(Keyword::CURRENT)?;
                let how = self.accept_any(&[Keyword::DEFAULT, Keyword::OPTIONAL]);
                options.password_require_current = Some(match how {
                    None => PasswordRequireCurrent::Current,
                    Some(Keyword::DEFAULT) => PasswordRequireCurrent::Default,
                    Some(_) => PasswordRequireCurrent::Optional,
                });
            }
        }
        Ok(())
    }

    /// Behind DROP USER and DROP ROLE.
    pub(super) fn drop_accounts(&mut self) -> Parsed<DropUser> {
        Ok(DropUser { if_exists: self.if_exists()?, accounts: self.list(Self::account)? })
    }

    /// Behind RENAME USER.
    pub(super) fn rename_user(&mut self) -> Parsed<Statement> {
        Ok(Statement::RenameUser(self.list(|p| {
            let old = p.account()?;
            p.expect(Keyword::TO)?;
            Ok((old, p.account()?))
        })?))
    }

    /// Behind CREATE ROLE.
    pub(super) fn create_role(&mut self) -> Parsed<Statement> {
        let if_not_exists = self.if_not_exists()?;
        Ok(Statement::CreateRole(CreateRole { if_not_exists, roles: self.list(Self::account)? }))
    }

    /// Behind SET: `ROLE ...`.
    pub(super) fn set_role(&mut self) -> Parsed<Statement> {
        self.expect(Keyword::ROLE)?;
        Ok(Statement::SetRole(self.role_selection(true)?))
    }

    /// Behind SET: `DEFAULT ROLE ... TO ...`.
    pub(super) fn set_default_role(&mut self) -> Parsed<Statement> {
        self.expect_all(&[Keyword::DEFAULT, Keyword::ROLE])?;
        let roles = self.role_selection(false)?;
        self.expect(Keyword::TO)?;
        Ok(Statement::SetDefaultRole(SetDefaultRole { roles, users: self.list(Self::account)? }))
    }

    /// NONE, ALL, names; for the session also DEFAULT and ALL EXCEPT.
    pub(super) fn role_selection(&mut self, session: bool) -> Parsed<RoleSelection> {
        if self.accept(Keyword::NONE) {
            return Ok(RoleSelection::None);
        }
        if self.accept(Keyword::ALL) {
            if session && self.accept(Keyword::EXCEPT) {
                return Ok(RoleSelection::AllExcept(self.list(Self::account)?));
            }
            return Ok(RoleSelection::All);
        }
        if session && self.accept(Keyword::DEFAULT) {
            return Ok(RoleSelection::Default);
        }
        Ok(RoleSelection::Roles(self.list(Self::account)?))
    }
}
