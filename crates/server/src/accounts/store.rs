//! Accounts as rows of tables in the schema `mysql`, named and shaped as MySQL's.
//!
//! An account is one row of `user`, and one of `db`, `tables_priv` and `global_grants` for each of its entries there.
//! What has changed of an account is written by deleting its rows and inserting them again, in one transaction for all
//! accounts of a statement.

use std::iter;

use palisade_base::error_catalogue::ER_CANNOT_LOAD_FROM_TABLE_V2;
use palisade_base::{MysqlError, mysql_error};
use palisade_catalog::Value;
use palisade_engine::{Dictionary, Table};
use palisade_sql::session::KillFlag;
use palisade_sql::{InternalSession, Sql, SqlResult};

use super::check_kill;
use super::password::Plugin;
use super::privilege::{self, Level, Privileges};
use super::table::{Account, AccountName, AccountTable, Completeness};

const SCHEMA: &str = "mysql";

/// The table that becomes `user` once root is in it. It is the first one to be made: where there are other
/// tables and neither of the two, `user` was dropped.
const BEGUN: &str = "user_begun";

/// Makes what is not there yet. `user` comes last, and whole: a server that has had accounts does not get
/// root of a fresh one, who has no password, unless `is_repaired`: an administrator has started it to mend
/// its accounts.
pub(super) async fn create(sql: &Sql, is_repaired: bool) -> SqlResult<()> {
    let (is_made, is_fresh) = {
        let dictionary = sql.engine().dictionary();
        let has_tables = dictionary.schema(SCHEMA).is_some() && dictionary.tables(SCHEMA).next().is_some();
        (has_table(&dictionary, "user"), is_repaired || !has_tables || has_table(&dictionary, BEGUN))
    };
    if is_made {
        // Accounts can be read without what is missing.
        if let Err(error) = complete(sql).await {
            tracing::warn!("the tables of the accounts cannot be completed: {}", error.message);
        }
        return Ok(());
    }
    if !is_fresh {
        // Reading the accounts finds that.
        return Ok(());
    }
    let mut session = InternalSession::new(sql);
    session.run("CREATE DATABASE IF NOT EXISTS mysql").await?;
    session.run("DROP TABLE IF EXISTS mysql.user_begun").await?;
    session.run(&create_table(BEGUN, &user_columns(), "")).await?;
    for (name, columns) in others() {
        session.run(&create_table(name, &columns, "IF NOT EXISTS ")).await?;
    }
    let root = Account::root();
    let rows = delete_rows(&root.name).into_iter().skip(1).chain(entry_rows(&root));
    for change in iter::once(user_row(BEGUN, &root)).chain(rows) {
        change.execute(&mut session).await?;
    }
    session.run("RENAME TABLE mysql.user_begun TO mysql.user").await?;
    Ok(())
}

/// The tables beside `user`, with their columns.
fn others() -> [(&'static str, Vec<String>); 7] {
    [
        ("db", db_columns()),
        ("tables_priv", tables_columns()),
        ("global_grants", grants_columns()),
        ("general_log", general_log_columns()),
        ("slow_log", slow_log_columns()),
        ("innodb_index_stats", index_statistics_columns()),
        ("innodb_table_stats", table_statistics_columns()),
    ]
}

/// Makes the tables of the accounts what this server expects, where an older one has made them or the dump of
/// another: columns that are missing are added. Of what a dump has replaced nothing else is changed.
pub(super) async fn complete(sql: &Sql) -> SqlResult<()> {
    let mut session = InternalSession::new(sql);
    for (name, columns) in others().into_iter().chain([("user", user_columns())]) {
        let missing = {
            let dictionary = sql.engine().dictionary();
            dictionary.table(SCHEMA, name).ok().map(|table| missing_columns(&columns, table))
        };
        match missing {
            Some(missing) if missing.is_empty() => {}
            Some(missing) => {
                let text = format!("ALTER TABLE mysql.{name} {}", missing.join(", "));
                session.run(&text).await?;
            }
            // What is missing of the others is damage, or an administrator's wish.
            None if STATISTICS.contains(&name) => {
                session.run(&create_table(name, &columns, "")).await?;
            }
            None => {}
        }
    }
    Ok(())
}

/// `ADD COLUMN` for each of `columns` that `table` has not got.
fn missing_columns(columns: &[String], table: &Table) -> Vec<String> {
    let mut additions = Vec::new();
    let mut place = "FIRST".to_owned();
    for column in columns {
        let name = column.split(' ').next().unwrap_or_default();
        if name == "PRIMARY" {
            break;
        }
        if table.column_index(name).is_none() {
            additions.push(format!("ADD COLUMN {column} {place}"));
        }
        place = format!("AFTER {name}");
    }
    additions
}

/// Tables that dumps fill without making them.
const STATISTICS: [&str; 2] = ["innodb_index_stats", "innodb_table_stats"];

fn has_table(dictionary: &Dictionary, name: &str) -> bool {
    dictionary.schema(SCHEMA).is_some() && dictionary.table(SCHEMA, name).is_ok()
}

/// Where accounts are read from: all of each table, or as much as can be read.
struct Source<'a> {
    session: InternalSession<'a>,
    may_lack: bool,
}

impl Source<'_> {
    /// The rows of a query, and whether they are all.
    async fn rows(&mut self, text: &str) -> SqlResult<(Vec<Vec<Value>>, bool)> {
        let engine = self.session.sql().engine();
        let before = engine.damage_passed();
        match self.session.run(text).await {
            Ok(rows) => Ok((rows, engine.damage_passed() == before)),
            Err(error) if self.may_lack => {
                tracing::error!("accounts cannot be read: {}", error.message);
                Ok((Vec::new(), false))
            }
            Err(error) => Err(error),
        }
    }
}

/// Reads the accounts as far as they can be read; those that lost rows might have gone before are
/// [locked](AccountTable::lacks_users). For when no session is served yet: meanwhile all scans pass over
/// damage.
pub(super) async fn load_what_is_whole(sql: &Sql) -> SqlResult<AccountTable> {
    let engine = sql.engine();
    let passed_before = engine.passes_damage();
    engine.set_passes_damage(true);
    let accounts = read(Source { session: InternalSession::new(sql), may_lack: true }).await;
    engine.set_passes_damage(passed_before);
    accounts
}

/// Reads all accounts; an error if some cannot be read. Tables that a dump has replaced are
/// [completed](complete) before.
pub(super) async fn load(sql: &Sql) -> SqlResult<AccountTable> {
    complete(sql).await?;
    warn_of_others(sql).await;
    load_as_it_is(sql).await
}

async fn load_as_it_is(sql: &Sql) -> SqlResult<AccountTable> {
    let accounts = read(Source { session: InternalSession::new(sql), may_lack: false }).await?;
    match accounts.completeness() {
        Completeness::Lacks(table) => Err(mysql_error!(ER_CANNOT_LOAD_FROM_TABLE_V2, SCHEMA, table)),
        Completeness::Whole | Completeness::Skipped => Ok(accounts),
    }
}

/// What is wrong with accounts that can be read: those that [`read`] takes for locked because of what is
/// stored.
pub(super) async fn check(sql: &Sql) -> SqlResult<Vec<String>> {
    load_as_it_is(sql).await?;
    let text = "SELECT User, Host, plugin, authentication_string FROM mysql.user";
    let rows = InternalSession::new(sql).run(text).await?;
    let problem = |row: &Vec<Value>| {
        let [user, host, plugin, kept] = row.as_slice() else { return None };
        let name = text_of(plugin);
        let what = match Plugin::named(&name) {
            None => format!("the plugin '{name}' is not known"),
            Some(plugin) if !plugin.is_well_formed(&bytes_of(kept)) => {
                "what is kept of its password makes no sense".to_owned()
            }
            Some(_) => return None,
        };
        Some(format!("'{}'@'{}': {what}", text_of(user), text_of(host)))
    };
    Ok(rows.iter().filter_map(problem).collect())
}

/// The column of `user` that holds a document about the account; its member `metadata` is what COMMENT and
/// ATTRIBUTE say.
const ATTRIBUTES: &str = "User_attributes";

/// Columns of `user`, and when they say what this server does not keep and would have to: then the account,
/// which another server has made, is locked.
const NOT_KEPT: [(&str, &str); 2] = [
    ("password_expired", "password_expired = 'Y'"),
    (ATTRIBUTES, "JSON_CONTAINS_PATH(User_attributes, 'one', '$.Restrictions')"),
];

/// Whether a table of the schema has a column. Those of older servers lack some.
fn has_column(sql: &Sql, table: &str, column: &str) -> bool {
    let dictionary = sql.engine().dictionary();
    dictionary.table(SCHEMA, table).is_ok_and(|table| table.column_index(column).is_some())
}

/// The columns of privileges as a query reads them: where there is no such column it is not granted.
fn flag_list(sql: &Sql, table: &str, privileges: &[(&str, Privileges)]) -> String {
    let names = privileges.iter().map(|(column, _)| *column);
    names.map(|name| if has_column(sql, table, name) { name } else { "'N'" }).collect::<Vec<_>>().join(", ")
}

/// Tables whose rows allow something that this server has not got: what they say is without effect.
const WITHOUT_EFFECT: [&str; 5] =
    ["columns_priv", "procs_priv", "proxies_priv", "role_edges", "default_roles"];

/// Tells the log of privileges in a dump that have no effect here.
async fn warn_of_others(sql: &Sql) {
    for table in WITHOUT_EFFECT.into_iter().filter(|table| has_table(&sql.engine().dictionary(), table)) {
        let text = format!("SELECT 1 FROM mysql.{table} WHERE User NOT LIKE 'mysql.%' LIMIT 1");
        let text = if table == "role_edges" { "SELECT 1 FROM mysql.role_edges LIMIT 1" } else { &text };
        if InternalSession::new(sql).run(text).await.is_ok_and(|rows| !rows.is_empty()) {
            tracing::warn!(
                "mysql.{table} has rows, which have no effect: this server has no such privileges yet"
            );
        }
    }
}

/// Reads all accounts. A row that makes no sense (a plugin not known here, a text that is no text) is a locked account:
/// nobody must come in because of it.
async fn read(mut source: Source<'_>) -> SqlResult<AccountTable> {
    let sql = source.session.sql();
    let mut accounts = AccountTable::default();
    let privileges: Vec<(&str, Privileges)> = privilege::columns(Level::Global).collect();
    let conditions = NOT_KEPT.iter().filter(|(column, _)| has_column(sql, "user", column));
    let not_kept = conditions.fold("FALSE".to_owned(), |all, (_, condition)| format!("{all} OR {condition}"));
    let metadata = match has_column(sql, "user", ATTRIBUTES) {
        true => "CAST(User_attributes->'$.metadata' AS CHAR)",
        false => "NULL",
    };
    let text = format!(
        "SELECT User, Host, plugin, authentication_string, ssl_type, account_locked, IF({not_kept}, 'Y', 'N'), \
         {metadata}, {} FROM mysql.user",
        flag_list(sql, "user", &privileges)
    );
    let (rows, has_all_users) = source.rows(&text).await?;
    for row in rows {
        let ([user, host, plugin, kept, tls, locked, not_kept, metadata], flags) = columns(&row)?;
        let plugin = Plugin::named(&text_of(plugin));
        let kept = bytes_of(kept);
        let promises_more = text_of(not_kept) == "Y";
        if promises_more {
            let (user, host) = (text_of(user), text_of(host));
            tracing::warn!(
                "'{user}'@'{host}' is locked: its password has expired, or privileges are revoked in part"
            );
        }
        let usable = plugin.is_some_and(|plugin| plugin.is_well_formed(&kept)) && !promises_more;
        accounts.put(Account {
            plugin: plugin.unwrap_or(Plugin::CachingSha2),
            kept,
            requires_tls: !text_of(tls).is_empty(),
            locked: text_of(locked) == "Y" || !usable,
            global: flagged(&privileges, flags),
            metadata: (!metadata.is_null()).then(|| text_of(metadata)),
            ..Account::new(AccountName::new(&text_of(user), &text_of(host)))
        });
    }
    let privileges: Vec<(&str, Privileges)> = privilege::columns(Level::Database).collect();
    let flags = flag_list(sql, "db", &privileges);
    let text = format!("SELECT User, Host, Db, {flags} FROM mysql.db");
    let (rows, has_all_databases) = source.rows(&text).await?;
    for row in rows {
        let ([user, host, database], flags) = columns(&row)?;
        let name = AccountName::new(&text_of(user), &text_of(host));
        if let Some(account) = accounts.get_mut(&name) {
            account.databases.insert(text_of(database), flagged(&privileges, flags));
        }
    }
    let text = "SELECT User, Host, Db, Table_name, CAST(Table_priv AS CHAR) FROM mysql.tables_priv";
    let (rows, has_all_tables) = source.rows(text).await?;
    for row in rows {
        let ([user, host, database, table, set], _) = columns(&row)?;
        let name = AccountName::new(&text_of(user), &text_of(host));
        if let Some(account) = accounts.get_mut(&name) {
            let table = (text_of(database), text_of(table));
            account.tables.insert(table, Privileges::from_set(&text_of(set)));
        }
    }
    let text = "SELECT USER, HOST, PRIV, WITH_GRANT_OPTION FROM mysql.global_grants";
    let (rows, has_all_grants) = source.rows(text).await?;
    for row in rows {
        let ([user, host, privilege, grant_option], _) = columns(&row)?;
        let name = AccountName::new(&text_of(user), &text_of(host));
        if let Some(account) = accounts.get_mut(&name) {
            account.dynamic.insert(text_of(privilege), text_of(grant_option) == "Y");
        }
    }
    if !has_all_users {
        accounts.lacks_users();
    }
    if !has_all_databases {
        accounts.lacks_databases();
    }
    if !has_all_tables {
        accounts.lacks("tables_priv");
    }
    if !has_all_grants {
        accounts.lacks("global_grants");
    }
    Ok(accounts)
}

fn flagged(columns: &[(&str, Privileges)], values: &[Value]) -> Privileges {
    let set = columns.iter().zip(values).filter(|(_, value)| text_of(value) == "Y");
    set.fold(Privileges::NONE, |all, ((_, privilege), _)| all | *privilege)
}

/// The first `N` values of a row, and the others.
fn columns<const N: usize>(row: &[Value]) -> SqlResult<(&[Value; N], &[Value])> {
    row.split_first_chunk().ok_or_else(|| MysqlError::internal("a row of the accounts' tables is short"))
}

fn bytes_of(value: &Value) -> Vec<u8> {
    match value {
        Value::Bytes(bytes) => bytes.to_vec(),
        Value::Enum(member) => member.text.to_vec(),
        _ => Vec::new(),
    }
}

fn text_of(value: &Value) -> String {
    String::from_utf8_lossy(&bytes_of(value)).into_owned()
}

/// Writes what differs between `old` and `new`, whole or not at all.
pub(super) async fn save(
    sql: &Sql,
    old: &AccountTable,
    new: &AccountTable,
    kill: &KillFlag,
) -> SqlResult<()> {
    let mut session = InternalSession::new(sql);
    session.begin().await?;
    let saved = match save_all(&mut session, old, new, kill).await {
        Ok(()) => session.commit().await,
        Err(error) => Err(error),
    };
    session.end().await;
    saved
}

/// Account by account, until the statement that changes them is killed.
async fn save_all(
    session: &mut InternalSession<'_>,
    old: &AccountTable,
    new: &AccountTable,
    kill: &KillFlag,
) -> SqlResult<()> {
    for account in old.iter().filter(|account| new.get(&account.name) != Some(account)) {
        check_kill(kill)?;
        for change in delete_rows(&account.name) {
            change.execute(session).await?;
        }
    }
    for account in new.iter().filter(|account| old.get(&account.name) != Some(account)) {
        check_kill(kill)?;
        for change in iter::once(user_row("user", account)).chain(entry_rows(account)) {
            change.execute(session).await?;
        }
    }
    Ok(())
}

/// A change of rows: its text, and a value for each `?` in it.
struct Change {
    text: String,
    values: Vec<Value>,
}

impl Change {
    async fn execute(&self, session: &mut InternalSession<'_>) -> SqlResult<()> {
        session.run_with(&self.text, &self.values).await.map(drop)
    }

    /// The insertion of a row: columns with their values, and columns that have the time of now.
    fn insert<'a>(table: &str, row: impl IntoIterator<Item = (&'a str, Value)>, now: &[&'a str]) -> Change {
        let (mut columns, values): (Vec<&str>, Vec<Value>) = row.into_iter().unzip();
        let mut places = vec!["?"; values.len()];
        columns.extend(now);
        places.extend(now.iter().map(|_| "NOW()"));
        let (columns, places) = (columns.join(", "), places.join(", "));
        Change { text: format!("INSERT INTO mysql.{table} ({columns}) VALUES ({places})"), values }
    }
}

fn delete_rows(name: &AccountName) -> Vec<Change> {
    let delete = |table| Change {
        text: format!("DELETE FROM mysql.{table} WHERE User = ? AND Host = ?"),
        values: vec![text(&name.user), text(&name.host)],
    };
    ["user", "db", "tables_priv", "global_grants"].map(delete).into()
}

fn user_row(table: &str, account: &Account) -> Change {
    let mut row = vec![
        ("Host", text(&account.name.host)),
        ("User", text(&account.name.user)),
        ("plugin", text(account.plugin.name())),
        ("authentication_string", text(&String::from_utf8_lossy(&account.kept))),
        ("ssl_type", text(if account.requires_tls { "ANY" } else { "" })),
        ("account_locked", flag(account.locked)),
    ];
    row.extend(
        ["ssl_cipher", "x509_issuer", "x509_subject"].map(|without_default| (without_default, text(""))),
    );
    let flags = privilege::columns(Level::Global);
    row.extend(flags.map(|(column, privilege)| (column, flag(account.global.has(privilege)))));
    if let Some(metadata) = &account.metadata {
        row.push((ATTRIBUTES, text(&format!("{{\"metadata\": {metadata}}}"))));
    }
    Change::insert(table, row, &["password_last_changed"])
}

fn entry_rows(account: &Account) -> Vec<Change> {
    let (host, user) = (text(&account.name.host), text(&account.name.user));
    let of = |table, rest: Vec<(&'static str, Value)>| {
        Change::insert(table, [("Host", host.clone()), ("User", user.clone())].into_iter().chain(rest), &[])
    };
    let mut rows = Vec::new();
    for (database, privileges) in &account.databases {
        let flags = privilege::columns(Level::Database);
        let flags = flags.map(|(column, privilege)| (column, flag(privileges.has(privilege))));
        rows.push(of("db", iter::once(("Db", text(database))).chain(flags).collect()));
    }
    for ((database, table), privileges) in &account.tables {
        let table = vec![
            ("Db", text(database)),
            ("Table_name", text(table)),
            ("Table_priv", text(&privileges.as_set())),
        ];
        rows.push(of("tables_priv", table));
    }
    for (name, grantable) in &account.dynamic {
        rows.push(of("global_grants", vec![("PRIV", text(name)), ("WITH_GRANT_OPTION", flag(*grantable))]));
    }
    rows
}

fn text(text: &str) -> Value {
    Value::bytes(text)
}

fn flag(on: bool) -> Value {
    text(if on { "Y" } else { "N" })
}

/// A string literal, for people to read.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for c in text.chars() {
        if matches!(c, '\'' | '\\') {
            out.push('\\');
        }
        match c {
            '\0' => out.push_str("\\0"),
            _ => out.push(c),
        }
    }
    out.push('\'');
    out
}

fn create_table(name: &str, columns: &[String], if_not_exists: &str) -> String {
    format!(
        "CREATE TABLE {if_not_exists}mysql.{name} ({}) DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_bin",
        columns.join(", ")
    )
}

const HOST: &str = "Host char(255) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL DEFAULT ''";
const USER: &str = "User char(32) NOT NULL DEFAULT ''";

fn flag_column(name: &str) -> String {
    format!("{name} enum('N','Y') CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N'")
}

fn user_columns() -> Vec<String> {
    let mut columns = vec![HOST.to_owned(), USER.to_owned()];
    let (roles, others): (Vec<_>, Vec<_>) = privilege::columns(Level::Global)
        .map(|(column, _)| column)
        .partition(|column| column.ends_with("_role_priv"));
    columns.extend(others.into_iter().map(flag_column));
    for column in [
        "ssl_type enum('','ANY','X509','SPECIFIED') CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci NOT NULL DEFAULT ''",
        "ssl_cipher blob NOT NULL",
        "x509_issuer blob NOT NULL",
        "x509_subject blob NOT NULL",
        "max_questions int unsigned NOT NULL DEFAULT 0",
        "max_updates int unsigned NOT NULL DEFAULT 0",
        "max_connections int unsigned NOT NULL DEFAULT 0",
        "max_user_connections int unsigned NOT NULL DEFAULT 0",
        "plugin char(64) NOT NULL DEFAULT 'caching_sha2_password'",
        "authentication_string text",
        "password_expired enum('N','Y') CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N'",
        "password_last_changed timestamp NULL DEFAULT NULL",
        "password_lifetime smallint unsigned DEFAULT NULL",
        "account_locked enum('N','Y') CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci NOT NULL DEFAULT 'N'",
    ] {
        columns.push(column.to_owned());
    }
    columns.extend(roles.into_iter().map(flag_column));
    for column in [
        "Password_reuse_history smallint unsigned DEFAULT NULL",
        "Password_reuse_time smallint unsigned DEFAULT NULL",
        "Password_require_current enum('N','Y') CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci DEFAULT NULL",
        "User_attributes json DEFAULT NULL",
        "PRIMARY KEY (Host, User)",
    ] {
        columns.push(column.to_owned());
    }
    columns
}

fn db_columns() -> Vec<String> {
    let mut columns = vec![HOST.to_owned(), "Db char(64) NOT NULL DEFAULT ''".to_owned(), USER.to_owned()];
    columns.extend(privilege::columns(Level::Database).map(|(column, _)| flag_column(column)));
    columns.push("PRIMARY KEY (Host, User, Db), KEY User (User)".to_owned());
    columns
}

fn tables_columns() -> Vec<String> {
    let members: Vec<String> = privilege::set_members().iter().map(|member| quoted(member)).collect();
    vec![
        HOST.to_owned(),
        "Db char(64) NOT NULL DEFAULT ''".to_owned(),
        USER.to_owned(),
        "Table_name char(64) NOT NULL DEFAULT ''".to_owned(),
        "Grantor varchar(288) NOT NULL DEFAULT ''".to_owned(),
        "Timestamp timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP".to_owned(),
        format!(
            "Table_priv set({}) CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci NOT NULL DEFAULT ''",
            members.join(",")
        ),
        "Column_priv set('Select','Insert','Update','References') CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci NOT \
         NULL DEFAULT ''"
            .to_owned(),
        "PRIMARY KEY (Host, User, Db, Table_name), KEY Grantor (Grantor)".to_owned(),
    ]
}

fn grants_columns() -> Vec<String> {
    vec![
        "USER char(32) NOT NULL DEFAULT ''".to_owned(),
        "HOST char(255) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL DEFAULT ''".to_owned(),
        "PRIV char(32) CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci NOT NULL DEFAULT ''".to_owned(),
        flag_column("WITH_GRANT_OPTION"),
        "PRIMARY KEY (USER, HOST, PRIV)".to_owned(),
    ]
}

/// Statements as they came. Dump programs ask for this table wherever there is a schema `mysql`; with
/// `log_output=FILE` nothing is written to it.
fn general_log_columns() -> Vec<String> {
    [
        "event_time timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6)",
        "user_host mediumtext NOT NULL",
        "thread_id bigint unsigned NOT NULL",
        "server_id int unsigned NOT NULL",
        "command_type varchar(64) NOT NULL",
        "argument mediumblob NOT NULL",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Slow statements; see [`general_log_columns`].
fn slow_log_columns() -> Vec<String> {
    [
        "start_time timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6)",
        "user_host mediumtext NOT NULL",
        "query_time time(6) NOT NULL",
        "lock_time time(6) NOT NULL",
        "rows_sent int NOT NULL",
        "rows_examined int NOT NULL",
        "db varchar(512) NOT NULL",
        "last_insert_id int NOT NULL",
        "insert_id int NOT NULL",
        "server_id int unsigned NOT NULL",
        "sql_text mediumblob NOT NULL",
        "thread_id bigint unsigned NOT NULL",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Statistics of indexes, which dumps of MySQL fill; this server keeps its own elsewhere and reads none of
/// these.
fn index_statistics_columns() -> Vec<String> {
    [
        "database_name varchar(64) NOT NULL",
        "table_name varchar(199) NOT NULL",
        "index_name varchar(64) NOT NULL",
        "last_update timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP",
        "stat_name varchar(64) NOT NULL",
        "stat_value bigint unsigned NOT NULL",
        "sample_size bigint unsigned DEFAULT NULL",
        "stat_description varchar(1024) NOT NULL",
        "PRIMARY KEY (database_name, table_name, index_name, stat_name)",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Those of tables; see [`index_statistics_columns`].
fn table_statistics_columns() -> Vec<String> {
    [
        "database_name varchar(64) NOT NULL",
        "table_name varchar(199) NOT NULL",
        "last_update timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP",
        "n_rows bigint unsigned NOT NULL",
        "clustered_index_size bigint unsigned NOT NULL",
        "sum_of_other_index_sizes bigint unsigned NOT NULL",
        "PRIMARY KEY (database_name, table_name)",
    ]
    .map(str::to_owned)
    .to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_hold_anything() {
        assert_eq!(quoted(r"o'brien\ "), r"'o\'brien\\ '");
        assert_eq!(quoted("\0"), r"'\0'");
    }

    #[test]
    fn no_value_is_a_part_of_a_text() {
        let mut account = Account::new(AccountName::new("o'brien", "%"));
        account.databases.insert("d`b".to_owned(), Privileges::NONE);
        account.dynamic.insert("X".to_owned(), true);
        for Change { text, values } in iter::once(user_row("user", &account)).chain(entry_rows(&account)) {
            assert_eq!(text.matches('?').count(), values.len(), "{text}");
            assert!(!text.contains("o'brien") && !text.contains("d`b"), "{text}");
        }
    }
}
