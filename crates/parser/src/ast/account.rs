//! Users, roles, privileges.

use super::{Name, ObjectName};

/// `'user'@'host'`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Account {
    /// CURRENT_USER[()].
    CurrentUser,
    /// A name and, if given, a host (`%` otherwise).
    Named {
        /// The user's name; empty for the anonymous one.
        user: Name,
        /// Where it comes from.
        host: Option<Name>,
    },
}

/// CREATE USER.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateUser {
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// The users.
    pub users: Vec<UserSpec>,
    /// DEFAULT ROLE.
    pub default_roles: Vec<Account>,
    /// What holds for all of them.
    pub options: AccountOptions,
}

/// ALTER USER.
#[derive(Debug, Clone, PartialEq)]
pub struct AlterUser {
    /// IF EXISTS.
    pub if_exists: bool,
    /// The users; USER() is [`Account::CurrentUser`].
    pub users: Vec<UserSpec>,
    /// ALTER USER u DEFAULT ROLE ...
    pub default_role: Option<RoleSelection>,
    /// What holds for all of them.
    pub options: AccountOptions,
}

/// A user and how it proves itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserSpec {
    /// Who.
    pub account: Account,
    /// IDENTIFIED, one per factor.
    pub authentication: Vec<Authentication>,
    /// DISCARD OLD PASSWORD.
    pub discard_old_password: bool,
    /// ADD, MODIFY or DROP n FACTOR, INITIATE/FINISH/UNREGISTER registration: kept as words.
    pub factor_actions: Vec<Name>,
}

/// IDENTIFIED.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Authentication {
    /// WITH plugin.
    pub plugin: Option<Name>,
    /// By what.
    pub secret: Option<Secret>,
    /// REPLACE 'current password'.
    pub replace: Option<Vec<u8>>,
    /// RETAIN CURRENT PASSWORD.
    pub retain_current: bool,
}

/// What a user is identified by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secret {
    /// BY 'password'.
    Password(Vec<u8>),
    /// BY RANDOM PASSWORD.
    Random,
    /// AS 'hash'.
    Hash(Vec<u8>),
}

/// REQUIRE, WITH, PASSWORD, ACCOUNT, COMMENT and ATTRIBUTE.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AccountOptions {
    /// REQUIRE.
    pub require: Option<Require>,
    /// WITH MAX_QUERIES_PER_HOUR n and the like: names in upper case.
    pub limits: Vec<(Name, u64)>,
    /// PASSWORD EXPIRE.
    pub password_expire: Option<PasswordExpire>,
    /// PASSWORD HISTORY n; `None` inside is DEFAULT.
    pub password_history: Option<Option<u64>>,
    /// PASSWORD REUSE INTERVAL n DAY.
    pub password_reuse_days: Option<Option<u64>>,
    /// PASSWORD REQUIRE CURRENT [OPTIONAL | DEFAULT].
    pub password_require_current: Option<PasswordRequireCurrent>,
    /// FAILED_LOGIN_ATTEMPTS n.
    pub failed_login_attempts: Option<u64>,
    /// PASSWORD_LOCK_TIME n; `None` inside is UNBOUNDED.
    pub password_lock_days: Option<Option<u64>>,
    /// ACCOUNT LOCK, ACCOUNT UNLOCK.
    pub locked: Option<bool>,
    /// COMMENT.
    pub comment: Option<Vec<u8>>,
    /// ATTRIBUTE.
    pub attribute: Option<Vec<u8>>,
}

/// REQUIRE.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum Require {
    #[default]
    None,
    Ssl,
    X509,
    /// SUBJECT, ISSUER, CIPHER.
    Specified {
        subject: Option<Vec<u8>>,
        issuer: Option<Vec<u8>>,
        cipher: Option<Vec<u8>>,
    },
}

/// PASSWORD EXPIRE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum PasswordExpire {
    Now,
    Default,
    Never,
    IntervalDays(u64),
}

/// PASSWORD REQUIRE CURRENT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum PasswordRequireCurrent {
    Current,
    Default,
    Optional,
}

/// DROP USER and DROP ROLE.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct DropUser {
    pub if_exists: bool,
    pub accounts: Vec<Account>,
}

/// CREATE ROLE.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct CreateRole {
    pub if_not_exists: bool,
    pub roles: Vec<Account>,
}

/// GRANT.
#[derive(Debug, Clone, PartialEq)]
pub enum Grant {
    /// GRANT privileges ON object TO users.
    Privileges {
        /// What.
        privileges: Vec<Privilege>,
        /// On what.
        target: PrivilegeTarget,
        /// To whom.
        users: Vec<Account>,
        /// WITH GRANT OPTION.
        grant_option: bool,
        /// AS user [WITH ROLE ...].
        as_user: Option<(Account, Option<RoleSelection>)>,
    },
    /// GRANT PROXY ON user TO users.
    Proxy {
        /// Whom they may impersonate.
        on: Account,
        /// Who.
        users: Vec<Account>,
        /// WITH GRANT OPTION.
        grant_option: bool,
    },
    /// GRANT roles TO users.
    Roles {
        /// What.
        roles: Vec<Account>,
        /// To whom.
        users: Vec<Account>,
        /// WITH ADMIN OPTION.
        admin_option: bool,
    },
}

/// REVOKE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revoke {
    /// IF EXISTS.
    pub if_exists: bool,
    /// What.
    pub what: Revoked,
    /// From whom.
    pub users: Vec<Account>,
    /// IGNORE UNKNOWN USER.
    pub ignore_unknown_user: bool,
}

/// What is revoked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revoked {
    /// Privileges on an object.
    Privileges(Vec<Privilege>, PrivilegeTarget),
    /// ALL PRIVILEGES, GRANT OPTION: everything everywhere.
    All,
    /// PROXY ON user.
    Proxy(Account),
    /// Roles.
    Roles(Vec<Account>),
}

/// One privilege.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Privilege {
    /// In upper case, words separated by one space: `SELECT`, `ALL PRIVILEGES`, `LOCK TABLES`; dynamic ones too.
    pub name: Name,
    /// On these columns only; empty for all.
    pub columns: Vec<Name>,
}

/// What a privilege is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivilegeTarget {
    /// TABLE, FUNCTION, PROCEDURE; `Table` when not said.
    pub kind: PrivilegeObject,
    /// Where.
    pub level: PrivilegeLevel,
}

/// What kind of thing is granted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum PrivilegeObject {
    Table,
    Function,
    Procedure,
}

/// How much is granted on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrivilegeLevel {
    /// `*.*`.
    Global,
    /// `*`.
    DefaultDatabase,
    /// `db.*`; a pattern with `_` and `%`.
    Database(Name),
    /// `db.t`, `t`.
    Object(ObjectName),
}

/// Which roles.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum RoleSelection {
    None,
    All,
    AllExcept(Vec<Account>),
    Default,
    Roles(Vec<Account>),
}

/// SET DEFAULT ROLE.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct SetDefaultRole {
    pub roles: RoleSelection,
    pub users: Vec<Account>,
}

/// SET PASSWORD.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct SetPassword {
    pub user: Option<Account>,
    /// TO RANDOM if absent.
    pub password: Option<Vec<u8>>,
    pub replace: Option<Vec<u8>>,
    pub retain_current: bool,
}
