//! The statements about accounts.
//!
//! Each changes a copy of the accounts and has it written and published as a whole; it commits the transaction that is
//! open, as every definition does. What is refused here is refused before anything has changed.

mod show;

use palisade_base::error_catalogue::{
    ER_ACCESS_DENIED_ERROR, ER_CANNOT_USER, ER_CANT_CREATE_USER_WITH_GRANT, ER_ILLEGAL_GRANT_FOR_TABLE,
    ER_NO_DB_ERROR, ER_NO_SUCH_TABLE, ER_NONEXISTING_GRANT, ER_NONEXISTING_TABLE_GRANT, ER_PASSWORD_FORMAT,
    ER_PASSWORD_NO_MATCH, ER_PLUGIN_IS_NOT_LOADED, ER_REVOKE_GRANTS, ER_SPECIFIC_ACCESS_DENIED_ERROR,
    ER_SYNTAX_ERROR, ER_TABLEACCESS_DENIED_ERROR, ER_USER_ALREADY_EXISTS, ER_USER_DOES_NOT_EXIST,
    ER_WRONG_STRING_LENGTH, ER_WRONG_USAGE,
};
use palisade_base::mysql_error;
use palisade_catalog::ValueRef;
use palisade_catalog::json::Json;
use palisade_expr::error::not_supported;
use palisade_parser::ast::{
    self, AccountOptions, Grant, PasswordExpire, PasswordRequireCurrent, PrivilegeLevel, PrivilegeObject,
    PrivilegeTarget, Require, Revoked, Secret, ShowWhat, Statement,
};
use palisade_sql::{Completion, ResultSink, Session, SessionState, Sql, SqlError, SqlResult};

use self::show::{show_create_user, show_grants};
use super::authorize::Asker;
use super::password::Plugin;
use super::privilege::{DYNAMIC, Level, Privileges};
use super::table::{Account, AccountName, AccountTable};
use super::{metadata, unguessable};
use crate::administration::text_column;
use crate::host::ServerHost;
use crate::virtual_tables;

/// Longest name of a user, in characters.
const MAX_USER: usize = 32;
/// Longest name of a host, in characters.
const MAX_HOST: usize = 255;

/// What is granted on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// `*.*`.
    Global,
    /// A database, or a pattern of databases.
    Database(String),
    /// A table of a database.
    Table(String, String),
}

impl Target {
    fn level(&self) -> Level {
        match self {
            Target::Global => Level::Global,
            Target::Database(_) => Level::Database,
            Target::Table(..) => Level::Table,
        }
    }
}

/// Executes `statement` if it is about accounts; `None` if it is not, or about something of them that is not there.
pub(crate) async fn execute(
    host: &ServerHost,
    sql: &Sql,
    session: &mut Session,
    statement: &Statement,
    sink: &mut dyn ResultSink,
) -> Option<SqlResult<Completion>> {
    if names_accounts(statement)
        && let Err(error) = host.accounts.check_changeable()
    {
        return Some(Err(error));
    }
    if changes_accounts(statement)
        && let Err(denied) = palisade_sql::Authorization::check_read_only(host, &session.state)
            .and_then(|()| session.refuse_changing_accounts())
    {
        return Some(Err(denied));
    }
    Some(match statement {
        Statement::Show(show) => match &show.what {
            ShowWhat::Grants { user, roles } if roles.is_empty() => {
                show_grants(host, session, user.as_ref(), sink)
            }
            ShowWhat::CreateUser(user) => show_create_user(host, session, user, sink),
            _ => return None,
        },
        Statement::CreateUser(create) => create_user(host, sql, session, create).await,
        Statement::AlterUser(alter) => alter_user(host, sql, session, alter).await,
        Statement::DropUser(drop) => drop_user(host, sql, session, drop).await,
        Statement::RenameUser(renames) => rename_user(host, sql, session, renames).await,
        Statement::SetPassword(set) => set_password(host, sql, session, set, sink).await,
        Statement::Grant(grant) => match &**grant {
            Grant::Privileges { privileges, target, users, grant_option, as_user: None } => {
                grant_privileges(host, sql, session, (privileges, target), users, *grant_option).await
            }
            Grant::Privileges { .. } => Err(not_supported("GRANT ... AS")),
            Grant::Proxy { .. } => Err(not_supported("GRANT PROXY")),
            Grant::Roles { .. } => Err(not_supported("roles")),
        },
        Statement::Revoke(revoke) => match &revoke.what {
            Revoked::Privileges(privileges, target) => {
                revoke_privileges(host, sql, session, revoke, Some((privileges, target))).await
            }
            Revoked::All => revoke_privileges(host, sql, session, revoke, None).await,
            Revoked::Proxy(_) => Err(not_supported("REVOKE PROXY")),
            Revoked::Roles(_) => Err(not_supported("roles")),
        },
        Statement::CreateRole(_) | Statement::DropRole(_) | Statement::SetDefaultRole(_) => {
            Err(not_supported("roles"))
        }
        Statement::SetRole(ast::RoleSelection::None | ast::RoleSelection::Default) => {
            Ok(Completion::default())
        }
        Statement::SetRole(_) => Err(not_supported("roles")),
        _ => return None,
    })
}

/// Whether a statement cannot do without the accounts as they are stored.
fn names_accounts(statement: &Statement) -> bool {
    match statement {
        Statement::Show(show) => matches!(show.what, ShowWhat::Grants { .. } | ShowWhat::CreateUser(_)),
        other => changes_accounts(other),
    }
}

/// Whether a statement writes to the accounts.
fn changes_accounts(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::CreateUser(_)
            | Statement::AlterUser(_)
            | Statement::DropUser(_)
            | Statement::RenameUser(_)
            | Statement::SetPassword(_)
            | Statement::Grant(_)
            | Statement::Revoke(_)
    )
}

/// Who is meant.
fn name_of(session: &Session, account: &ast::Account) -> SqlResult<AccountName> {
    let ast::Account::Named { user, host } = account else {
        return Ok(AccountName::of_session(&session.state.security.account));
    };
    let too_long = |text: &str, what, most| mysql_error!(ER_WRONG_STRING_LENGTH, text, what, most);
    let host = host.as_deref().unwrap_or("%");
    if user.chars().count() > MAX_USER {
        return Err(too_long(user, "user name", MAX_USER));
    }
    if host.chars().count() > MAX_HOST || !host.is_ascii() {
        return Err(too_long(host, "host name", MAX_HOST));
    }
    Ok(AccountName::new(user, host))
}

fn names_of(session: &Session, accounts: &[ast::Account]) -> SqlResult<Vec<AccountName>> {
    accounts.iter().map(|account| name_of(session, account)).collect()
}

/// 1396, about these accounts.
fn failed(operation: &str, names: &[AccountName]) -> SqlError {
    let list: Vec<String> = names.iter().map(ToString::to_string).collect();
    mysql_error!(ER_CANNOT_USER, operation, list.join(","))
}

/// Changes the accounts; ends the session's transaction first.
async fn change<T>(
    host: &ServerHost,
    sql: &Sql,
    session: &mut Session,
    change: impl FnOnce(&mut AccountTable) -> SqlResult<T>,
) -> SqlResult<T> {
    sql.commit(session).await?;
    host.accounts.change(sql, &session.state.kill, change).await
}

/// [`change`] of accounts that exist: 1227 if one of `names` is a system account and the session's is none.
async fn change_existing<T>(
    host: &ServerHost,
    sql: &Sql,
    session: &mut Session,
    names: &[AccountName],
    apply: impl FnOnce(&mut AccountTable) -> SqlResult<T>,
) -> SqlResult<T> {
    let accounts = host.accounts.load();
    Asker::new(&session.state, &accounts).require_power_over(&accounts, names)?;
    let account = session.state.security.account.clone();
    change(host, sql, session, |accounts| {
        // Another session may have made one of them a system account meanwhile.
        let own = AccountName::of_session(&account);
        let is_system = |name: &AccountName| accounts.get(name).is_some_and(Account::is_system_user);
        if !is_system(&own) && names.iter().any(is_system) {
            return Err(mysql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, "SYSTEM_USER"));
        }
        apply(accounts)
    })
    .await
}

/// What CREATE USER and ALTER USER say of an account.
struct Changes {
    /// A plugin, and what to keep of the password.
    proof: Option<(Plugin, Vec<u8>)>,
    requires_tls: Option<bool>,
    locked: Option<bool>,
    /// A patch of what is said of it.
    metadata: Option<Json>,
}

impl Changes {
    fn of(spec: &ast::UserSpec, options: &AccountOptions, default: Plugin) -> SqlResult<Changes> {
        let proof = match spec.authentication.as_slice() {
            [] => None,
            [one] => Some(proof(one, default)?),
            _ => return Err(not_supported("several authentication factors")),
        };
        if !spec.factor_actions.is_empty() {
            return Err(not_supported("several authentication factors"));
        }
        let requires_tls = match &options.require {
            None => None,
            Some(Require::None) => Some(false),
            Some(Require::Ssl) => Some(true),
            Some(_) => return Err(not_supported("REQUIRE X509")),
        };
        supported(options)?;
        Ok(Changes { proof, requires_tls, locked: options.locked, metadata: metadata::of(options)? })
    }

    fn apply(&self, account: &mut Account) {
        if let Some((plugin, kept)) = &self.proof {
            account.plugin = *plugin;
            account.kept.clone_from(kept);
        }
        account.requires_tls = self.requires_tls.unwrap_or(account.requires_tls);
        account.locked = self.locked.unwrap_or(account.locked);
        if let Some(patch) = &self.metadata {
            metadata::apply(account, patch);
        }
    }
}

/// 1235 for options that mean something and have no effect here; their defaults are accepted.
fn supported(options: &AccountOptions) -> SqlResult<()> {
    let limited = options.limits.iter().any(|(_, limit)| *limit != 0);
    let refused = [
        (limited, "resource limits of accounts"),
        (
            matches!(options.password_expire, Some(PasswordExpire::Now | PasswordExpire::IntervalDays(_))),
            "PASSWORD EXPIRE",
        ),
        (matches!(options.password_history, Some(Some(1..))), "PASSWORD HISTORY"),
        (matches!(options.password_reuse_days, Some(Some(1..))), "PASSWORD REUSE INTERVAL"),
        (
            matches!(options.password_require_current, Some(PasswordRequireCurrent::Current)),
            "PASSWORD REQUIRE CURRENT",
        ),
        (matches!(options.failed_login_attempts, Some(1..)), "FAILED_LOGIN_ATTEMPTS"),
        (!matches!(options.password_lock_days, None | Some(Some(0))), "PASSWORD_LOCK_TIME"),
    ];
    match refused.into_iter().find(|(given, _)| *given) {
        Some((_, construct)) => Err(not_supported(construct)),
        None => Ok(()),
    }
}

/// IDENTIFIED: a plugin, and what to keep.
fn proof(authentication: &ast::Authentication, default: Plugin) -> SqlResult<(Plugin, Vec<u8>)> {
    if authentication.retain_current {
        return Err(not_supported("RETAIN CURRENT PASSWORD"));
    }
    if authentication.replace.is_some() {
        return Err(not_supported("REPLACE of a password"));
    }
    let plugin = match &authentication.plugin {
        None => default,
        Some(name) => Plugin::named(name).ok_or_else(|| mysql_error!(ER_PLUGIN_IS_NOT_LOADED, name))?,
    };
    let kept = match &authentication.secret {
        None => Vec::new(),
        Some(Secret::Password(password)) => plugin.hash(password, unguessable()),
        Some(Secret::Hash(hash)) if plugin.is_well_formed(hash) => hash.clone(),
        Some(Secret::Hash(_)) => return Err(mysql_error!(ER_PASSWORD_FORMAT)),
        Some(Secret::Random) => return Err(not_supported("IDENTIFIED BY RANDOM PASSWORD")),
    };
    Ok((plugin, kept))
}

async fn create_user(
    host: &ServerHost,
    sql: &Sql,
    session: &mut Session,
    create: &ast::CreateUser,
) -> SqlResult<Completion> {
    host.check(&session.state, |asker| asker.require(Privileges::CREATE_USER))?;
    if !create.default_roles.is_empty() {
        return Err(not_supported("roles"));
    }
    let mut wanted = Vec::new();
    for spec in &create.users {
        super::check_kill(&session.state.kill)?;
        let changes = Changes::of(spec, &create.options, Plugin::CachingSha2)?;
        wanted.push((name_of(session, &spec.account)?, changes));
    }
    let kill = session.state.kill.clone();
    let existing = change(host, sql, session, |accounts| {
        let (existing, fresh): (Vec<_>, Vec<_>) =
            wanted.into_iter().partition(|(name, _)| accounts.get(name).is_some());
        let existing: Vec<AccountName> = existing.into_iter().map(|(name, _)| name).collect();
        if !create.if_not_exists && !existing.is_empty() {
            return Err(failed("CREATE USER", &existing));
        }
        for (name, changes) in fresh {
            super::check_kill(&kill)?;
            let mut account = Account::new(name);
            changes.apply(&mut account);
            accounts.put(account);
        }
        Ok(existing)
    })
    .await?;
    for name in existing {
        session.state.warnings.note(mysql_error!(ER_USER_ALREADY_EXISTS, name));
    }
    Ok(Completion::default())
}

async fn alter_user(
    host: &ServerHost,
    sql: &Sql,
    session: &mut Session,
    alter: &ast::AlterUser,
) -> SqlResult<Completion> {
    if alter.default_role.is_some() {
        return Err(not_supported("roles"));
    }
    let own = AccountName::of_session(&session.state.security.account);
    let mut wanted = Vec::new();
    for spec in &alter.users {
        super::check_kill(&session.state.kill)?;
        let name = name_of(session, &spec.account)?;
        let only_password = alter.options == AccountOptions::default();
        if name != own || !only_password {
            host.check(&session.state, |asker| asker.require(Privileges::CREATE_USER))?;
        }
        let default = host.accounts.load().get(&name).map_or(Plugin::CachingSha2, |account| account.plugin);
        wanted.push((name, Changes::of(spec, &alter.options, default)?));
    }
    let names: Vec<AccountName> = wanted.iter().map(|(name, _)| name.clone()).collect();
    let missing = change_existing(host, sql, session, &names, |accounts| {
        let (found, missing): (Vec<_>, Vec<_>) =
            wanted.into_iter().partition(|(name, _)| accounts.get(name).is_some());
        let missing: Vec<AccountName> = missing.into_iter().map(|(name, _)| name).collect();
        if !alter.if_exists && !missing.is_empty() {
            return Err(failed("ALTER USER", &missing));
        }
        for (name, changes) in found {
            accounts.get_mut(&name).into_iter().for_each(|account| changes.apply(account));
        }
        Ok(missing)
    })
    .await?;
    for name in missing {
        session.state.warnings.note(mysql_error!(ER_USER_DOES_NOT_EXIST, name));
    }
    Ok(Completion::default())
}

async fn drop_user(
    host: &ServerHost,
    sql: &Sql,
    session: &mut Session,
    drop: &ast::DropUser,
) -> SqlResult<Completion> {
    host.check(&session.state, |asker| asker.require(Privileges::CREATE_USER))?;
    let names = names_of(session, &drop.accounts)?;
    let missing = change_existing(host, sql, session, &names, |accounts| {
        let missing: Vec<AccountName> =
            names.iter().filter(|name| accounts.remove(name).is_none()).cloned().collect();
        if !drop.if_exists && !missing.is_empty() {
            return Err(failed("DROP USER", &missing));
        }
        Ok(missing)
    })
    .await?;
    for name in missing {
        session.state.warnings.note(mysql_error!(ER_USER_DOES_NOT_EXIST, name));
    }
    Ok(Completion::default())
}

async fn rename_user(
    host: &ServerHost,
    sql: &Sql,
    session: &mut Session,
    renames: &[(ast::Account, ast::Account)],
) -> SqlResult<Completion> {
    host.check(&session.state, |asker| asker.require(Privileges::CREATE_USER))?;
    let mut wanted = Vec::new();
    for (old, new) in renames {
        wanted.push((name_of(session, old)?, name_of(session, new)?));
    }
    let names: Vec<AccountName> = wanted.iter().map(|(old, _)| old.clone()).collect();
    change_existing(host, sql, session, &names, |accounts| {
        for (old, new) in wanted {
            if accounts.get(&new).is_some() {
                return Err(failed("RENAME USER", &[old]));
            }
            let Some(account) = accounts.remove(&old) else { return Err(failed("RENAME USER", &[old])) };
            accounts.put(Account { name: new, ..account });
        }
        Ok(())
    })
    .await?;
    Ok(Completion::default())
}

async fn set_password(
    host: &ServerHost,
    sql: &Sql,
    session: &mut Session,
    set: &ast::SetPassword,
    sink: &mut dyn ResultSink,
) -> SqlResult<Completion> {
    if set.retain_current || set.replace.is_some() {
        return Err(not_supported("RETAIN CURRENT PASSWORD"));
    }
    let own = AccountName::of_session(&session.state.security.account);
    let name = set.user.as_ref().map_or(Ok(own.clone()), |user| name_of(session, user))?;
    if name != own {
        host.check(&session.state, |asker| asker.require_change_of_accounts())?;
    }
    let random = set.password.is_none().then(random_password);
    let password = set.password.as_deref().or(random.as_deref().map(str::as_bytes)).unwrap_or_default();
    let names = std::slice::from_ref(&name);
    change_existing(host, sql, session, names, |accounts| {
        let Some(account) = accounts.get_mut(&name) else { return Err(mysql_error!(ER_PASSWORD_NO_MATCH)) };
        account.kept = account.plugin.hash(password, unguessable());
        Ok(())
    })
    .await?;
    let Some(random) = random else { return Ok(Completion::default()) };
    sink.columns(&["user", "host", "generated password", "auth_factor"].map(text_column))?;
    let row = [name.user.as_str(), name.host.as_str(), random.as_str(), "1"];
    sink.row(&row.map(|text| ValueRef::Bytes(text.as_bytes())))?;
    Ok(Completion::of_rows())
}

/// 20 characters.
#[expect(clippy::indexing_slicing, reason = "a remainder is less than the length that it is of")]
fn random_password() -> String {
    const CHARACTERS: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789+-.:";
    unguessable::<20>()
        .map(|byte| char::from(CHARACTERS[usize::from(byte) % CHARACTERS.len()]))
        .iter()
        .collect()
}

/// What GRANT and REVOKE name: static privileges, and those that come by name.
struct Named {
    privileges: Privileges,
    dynamic: Vec<String>,
    /// ALL was said.
    all: bool,
}

fn named(list: &[ast::Privilege], target: &Target) -> SqlResult<Named> {
    let level = target.level();
    let mut named = Named { privileges: Privileges::NONE, dynamic: Vec::new(), all: false };
    for privilege in list {
        if !privilege.columns.is_empty() {
            return Err(not_supported("privileges on columns"));
        }
        let name = privilege.name.as_str();
        if name == "USAGE" {
        } else if matches!(name, "ALL" | "ALL PRIVILEGES") {
            named.all = true;
            named.privileges = named.privileges | Privileges::all(level);
            if level == Level::Global {
                named.dynamic.extend(DYNAMIC.iter().map(|name| (*name).to_owned()));
            }
        } else if let Some(privilege) = Privileges::named(name) {
            if !(Privileges::all(level) | Privileges::GRANT_OPTION).has(privilege) {
                return Err(match level {
                    Level::Table => mysql_error!(ER_ILLEGAL_GRANT_FOR_TABLE),
                    _ => mysql_error!(ER_WRONG_USAGE, "DB GRANT", "GLOBAL PRIVILEGES"),
                });
            }
            named.privileges = named.privileges | privilege;
        } else if DYNAMIC.contains(&name) {
            if level != Level::Global {
                return Err(mysql_error!(ER_ILLEGAL_GRANT_FOR_TABLE));
            }
            named.dynamic.push(name.to_owned());
        } else {
            return Err(mysql_error!(ER_SYNTAX_ERROR));
        }
    }
    Ok(named)
}

fn target_of(session: &Session, target: &PrivilegeTarget) -> SqlResult<Target> {
    if target.kind != PrivilegeObject::Table {
        return Err(not_supported("privileges on routines"));
    }
    let current = || session.state.database.clone().ok_or_else(|| mysql_error!(ER_NO_DB_ERROR));
    Ok(match &target.level {
        PrivilegeLevel::Global => Target::Global,
        PrivilegeLevel::DefaultDatabase => Target::Database(current()?),
        PrivilegeLevel::Database(name) => Target::Database(name.clone()),
        PrivilegeLevel::Object(name) => {
            let schema = name.schema.clone().map_or_else(current, Ok)?;
            Target::Table(schema, name.name.clone())
        }
    })
}

/// Whether the session may give or take these privileges there.
fn check_grantable(host: &ServerHost, session: &Session, named: &Named, target: &Target) -> SqlResult<()> {
    host.always_check(&session.state, |asker| {
        let needed = named.privileges | Privileges::GRANT_OPTION;
        if asker.grantable(target).has(needed)
            && named.dynamic.iter().all(|name| asker.may_grant_dynamic(name))
        {
            return Ok(());
        }
        let SessionState { user, client_host, .. } = &session.state;
        Err(match target {
            Target::Global if named.privileges.is_empty() => {
                mysql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, "GRANT OPTION")
            }
            Target::Global => mysql_error!(ER_ACCESS_DENIED_ERROR, user, client_host, "YES"),
            Target::Database(name) => asker.denied_database(name),
            Target::Table(_, table) => {
                mysql_error!(ER_TABLEACCESS_DENIED_ERROR, "GRANT", user, client_host, table)
            }
        })
    })
}

async fn grant_privileges(
    host: &ServerHost,
    sql: &Sql,
    session: &mut Session,
    (list, target): (&[ast::Privilege], &PrivilegeTarget),
    users: &[ast::Account],
    grant_option: bool,
) -> SqlResult<Completion> {
    let target = target_of(session, target)?;
    let named = named(list, &target)?;
    check_grantable(host, session, &named, &target)?;
    if let Target::Database(name) | Target::Table(name, _) = &target
        && name.eq_ignore_ascii_case("information_schema")
    {
        let accounts = host.accounts.load();
        return Err(Asker::new(&session.state, &accounts).denied_database(name));
    }
    if let Target::Table(schema, table) = &target
        && !named.privileges.has(Privileges::CREATE)
        && host.engine.dictionary().table(schema, table).is_err()
        && host.engine.dictionary().view(schema, table).is_none()
        && virtual_tables::REGISTRY.find(schema, table).is_none()
    {
        return Err(mysql_error!(ER_NO_SUCH_TABLE, schema, table));
    }
    let names = names_of(session, users)?;
    change_existing(host, sql, session, &names, |accounts| {
        for name in &names {
            let Some(account) = accounts.get_mut(name) else {
                return Err(mysql_error!(ER_CANT_CREATE_USER_WITH_GRANT));
            };
            give(account, &target, &named, grant_option);
        }
        Ok(())
    })
    .await?;
    Ok(Completion::default())
}

fn give(account: &mut Account, target: &Target, named: &Named, grant_option: bool) {
    let mut privileges = named.privileges;
    // a name alone (GRANT BACKUP_ADMIN ... WITH GRANT OPTION) brings its own grant option and no other
    let only_dynamic = named.privileges.is_empty() && !named.dynamic.is_empty();
    if grant_option && !only_dynamic {
        privileges = privileges | Privileges::GRANT_OPTION;
    }
    match target {
        Target::Global => {
            account.global = account.global | privileges;
            for name in &named.dynamic {
                let grantable = account.dynamic.entry(name.clone()).or_default();
                *grantable |= grant_option;
            }
        }
        Target::Database(_) | Target::Table(..) if privileges.is_empty() => {}
        Target::Database(name) => {
            let entry = account.databases.entry(name.clone()).or_default();
            *entry = *entry | privileges;
        }
        Target::Table(schema, table) => {
            let entry = account.tables.entry((schema.clone(), table.clone())).or_default();
            *entry = *entry | privileges;
        }
    }
}

async fn revoke_privileges(
    host: &ServerHost,
    sql: &Sql,
    session: &mut Session,
    revoke: &ast::Revoke,
    what: Option<(&Vec<ast::Privilege>, &PrivilegeTarget)>,
) -> SqlResult<Completion> {
    let taken = match what {
        None => {
            host.check(&session.state, |asker| asker.require(Privileges::CREATE_USER))?;
            None
        }
        Some((list, target)) => {
            let target = target_of(session, target)?;
            let named = named(list, &target)?;
            if named.privileges.is_empty() {
                let accounts = host.accounts.load();
                let names = names_of(session, &revoke.users)?;
                Asker::new(&session.state, &accounts).require_power_over(&accounts, &names)?;
            }
            check_grantable(host, session, &named, &target)?;
            Some((named, target))
        }
    };
    let names = names_of(session, &revoke.users)?;
    let ignored = change_existing(host, sql, session, &names, |accounts| {
        let mut ignored = Vec::new();
        for name in &names {
            let no_grant = || mysql_error!(ER_NONEXISTING_GRANT, name.user, name.host);
            let Some(account) = accounts.get_mut(name) else {
                let error = match &taken {
                    None => mysql_error!(ER_REVOKE_GRANTS),
                    Some(_) => no_grant(),
                };
                if !revoke.ignore_unknown_user {
                    return Err(error);
                }
                ignored.push(mysql_error!(ER_USER_DOES_NOT_EXIST, name.user));
                continue;
            };
            let result = match &taken {
                None => {
                    let kept = account.clone();
                    *account = Account::new(name.clone());
                    (account.plugin, account.kept) = (kept.plugin, kept.kept);
                    (account.locked, account.requires_tls) = (kept.locked, kept.requires_tls);
                    Ok(())
                }
                Some((named, target)) => take(account, target, named),
            };
            match result {
                Err(error) if revoke.if_exists => ignored.push(error),
                result => result?,
            }
        }
        Ok(ignored)
    })
    .await?;
    for error in ignored {
        session.state.warnings.warn(error);
    }
    Ok(Completion::default())
}

fn take(account: &mut Account, target: &Target, named: &Named) -> SqlResult<()> {
    let (user, host) = (account.name.user.clone(), account.name.host.clone());
    let taken = named.privileges;
    // ALL takes what there is; what is named must have been granted there.
    let has_all = |entry: &&mut Privileges| named.all || entry.has(taken);
    match target {
        Target::Global => {
            account.global = account.global & !taken;
            for name in &named.dynamic {
                account.dynamic.remove(name);
            }
        }
        Target::Database(name) => {
            let Some(entry) = account.databases.get_mut(name).filter(|entry| has_all(entry)) else {
                return Err(mysql_error!(ER_NONEXISTING_GRANT, user, host));
            };
            *entry = *entry & !taken;
            if entry.is_empty() {
                account.databases.remove(name);
            }
        }
        Target::Table(schema, table) => {
            let key = (schema.clone(), table.clone());
            let Some(entry) = account.tables.get_mut(&key).filter(|entry| has_all(entry)) else {
                return Err(mysql_error!(ER_NONEXISTING_TABLE_GRANT, user, host, table));
            };
            *entry = *entry & !taken;
            if entry.is_empty() {
                account.tables.remove(&key);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
