//! SHOW GRANTS and SHOW CREATE USER.

use palisade_base::error_catalogue::ER_NONEXISTING_GRANT;
use palisade_base::mysql_error;
use palisade_catalog::ValueRef;
use palisade_parser::ast;
use palisade_sql::{Access, Completion, ResultSink, Session, SqlResult};

use super::{failed, name_of};
use crate::accounts::authorize::Asker;
use crate::accounts::privilege::{Level, Privileges};
use crate::accounts::store::quoted;
use crate::accounts::table::{Account, AccountName};
use crate::administration::text_column;
use crate::host::ServerHost;

/// The account a SHOW is about; looking at another's needs what `check` asks for.
fn shown(
    host: &ServerHost,
    session: &Session,
    user: Option<&ast::Account>,
    check: impl FnOnce(&Asker<'_>) -> SqlResult<()>,
) -> SqlResult<Account> {
    let own = AccountName::of_session(&session.state.security.account);
    let name = user.map_or(Ok(own.clone()), |user| name_of(session, user))?;
    if name != own {
        host.check(&session.state, check)?;
    }
    let accounts = host.accounts.load();
    accounts.get(&name).cloned().ok_or_else(|| mysql_error!(ER_NONEXISTING_GRANT, name.user, name.host))
}

fn one_column(sink: &mut dyn ResultSink, title: &str, rows: &[String]) -> SqlResult<Completion> {
    sink.columns(&[text_column(title)])?;
    for row in rows {
        sink.row(&[ValueRef::Bytes(row.as_bytes())])?;
    }
    Ok(Completion::of_rows())
}

pub(super) fn show_grants(
    host: &ServerHost,
    session: &Session,
    user: Option<&ast::Account>,
    sink: &mut dyn ResultSink,
) -> SqlResult<Completion> {
    let account = shown(host, session, user, |asker| asker.check_table("mysql", "user", Access::Read))?;
    let title = format!("Grants for {}@{}", account.name.user, account.name.host);
    one_column(sink, &title, &grants(&account))
}

fn identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// The statements that give an account what it has.
pub(super) fn grants(account: &Account) -> Vec<String> {
    let to = format!("{}@{}", identifier(&account.name.user), identifier(&account.name.host));
    let line = |privileges: Privileges, level, on: &str| {
        let option = if privileges.has(Privileges::GRANT_OPTION) { " WITH GRANT OPTION" } else { "" };
        format!("GRANT {} ON {on} TO {to}{option}", privileges.listed(level))
    };
    let mut lines = vec![line(account.global, Level::Global, "*.*")];
    for (grantable, option) in [(false, ""), (true, " WITH GRANT OPTION")] {
        let names: Vec<&str> = account
            .dynamic
            .iter()
            .filter(|(_, own)| **own == grantable)
            .map(|(name, _)| name.as_str())
            .collect();
        if !names.is_empty() {
            lines.push(format!("GRANT {} ON *.* TO {to}{option}", names.join(",")));
        }
    }
    for (database, privileges) in &account.databases {
        lines.push(line(*privileges, Level::Database, &format!("{}.*", identifier(database))));
    }
    for ((database, table), privileges) in &account.tables {
        let on = format!("{}.{}", identifier(database), identifier(table));
        lines.push(line(*privileges, Level::Table, &on));
    }
    lines
}

pub(super) fn show_create_user(
    host: &ServerHost,
    session: &Session,
    user: &ast::Account,
    sink: &mut dyn ResultSink,
) -> SqlResult<Completion> {
    let account = match shown(host, session, Some(user), |asker| asker.check_reads_accounts()) {
        Err(error) if error.number() == ER_NONEXISTING_GRANT.number => {
            return Err(failed("SHOW CREATE USER", &[name_of(session, user)?]));
        }
        result => result?,
    };
    let name = &account.name;
    let kept = String::from_utf8_lossy(&account.kept);
    let proof = if kept.is_empty() { String::new() } else { format!(" AS {}", quoted(&kept)) };
    let attribute = account.metadata.as_ref().map(|metadata| format!(" ATTRIBUTE {}", quoted(metadata)));
    let attribute = attribute.unwrap_or_default();
    let text = format!(
        "CREATE USER {}@{} IDENTIFIED WITH '{}'{proof} REQUIRE {} PASSWORD EXPIRE DEFAULT ACCOUNT {} \
         PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT{attribute}",
        identifier(&name.user),
        identifier(&name.host),
        account.plugin.name(),
        if account.requires_tls { "SSL" } else { "NONE" },
        if account.locked { "LOCK" } else { "UNLOCK" },
    );
    one_column(sink, &format!("CREATE USER for {}@{}", name.user, name.host), &[text])
}
