//! What accounts may do, and what is written of them.

use palisade_catalog::Value;
use palisade_schema::{Row, Rows, Wanted, virtual_table};

use super::{Definition, Source, Tables, of_each, text, yes_no};
use crate::accounts::privilege::Privileges;
use crate::accounts::{Account, AccountName};

pub(super) static TABLES: Tables = &[
    Definition::new(&user_attributes::DECL, attributes),
    Definition::new(&user_privileges::DECL, |source, wanted| {
        granted(source, wanted, user_privileges::row, |account| {
            let named = account.dynamic.keys().map(String::as_str);
            let all: Vec<&str> = account.global.names().into_iter().chain(named).collect();
            let all = if all.is_empty() { vec!["USAGE"] } else { all };
            all.into_iter().map(|name| Grant::new(account, ["", ""], name, account.global)).collect()
        })
    }),
    Definition::new(&schema_privileges::DECL, |source, wanted| {
        granted(source, wanted, schema_privileges::row, |account| {
            let grants = account.databases.iter().flat_map(|(database, privileges)| {
                let named = privileges.names().into_iter();
                named.map(|name| Grant::new(account, [database, ""], name, *privileges))
            });
            grants.collect()
        })
    }),
    Definition::new(&table_privileges::DECL, |source, wanted| {
        granted(source, wanted, table_privileges::row, |account| {
            let grants = account.tables.iter().flat_map(|((schema, table), privileges)| {
                let named = privileges.names().into_iter();
                named.map(|name| Grant::new(account, [schema, table], name, *privileges))
            });
            grants.collect()
        })
    }),
];

/// A privilege of an account: where, and what.
struct Grant {
    grantee: String,
    schema: String,
    table: String,
    privilege: String,
    is_grantable: bool,
}

impl Grant {
    /// `all` is what is granted there.
    fn new(account: &Account, [schema, table]: [&str; 2], privilege: &str, all: Privileges) -> Grant {
        Grant {
            grantee: account.name.to_string(),
            schema: schema.to_owned(),
            table: table.to_owned(),
            privilege: privilege.to_owned(),
            is_grantable: all.has(Privileges::GRANT_OPTION),
        }
    }
}

/// The accounts that the session's account may know of.
fn seen(source: &Source<'_>) -> impl Fn(&Account) -> bool + use<> {
    let sees_all = source.host.asked(source.session.state, |asker| asker.check_reads_accounts().is_ok());
    let own = AccountName::of_session(&source.session.state.security.account);
    move |account| sees_all || account.name == own
}

/// What accounts may do, a row for each privilege.
fn granted(
    source: &Source<'_>,
    wanted: &Wanted,
    row: fn(&Grant, &Wanted) -> Row,
    of: fn(&Account) -> Vec<Grant>,
) -> Rows {
    let (seen, accounts) = (seen(source), source.host.accounts.load());
    let grants = accounts.iter().filter(|account| seen(account)).flat_map(of);
    of_each(grants.collect::<Vec<_>>(), row, wanted)
}

virtual_table! {
    mod user_privileges = "information_schema"."USER_PRIVILEGES" of |it: Grant| {
        GRANTEE: varchar(292) not null default "" => text(&it.grantee),
        TABLE_CATALOG: varchar(512) not null default "" => text("def"),
        PRIVILEGE_TYPE: varchar(64) not null default "" => text(&it.privilege),
        IS_GRANTABLE: varchar(3) not null default "" => yes_no(it.is_grantable),
    }
}

virtual_table! {
    mod schema_privileges = "information_schema"."SCHEMA_PRIVILEGES" of |it: Grant| {
        GRANTEE: varchar(292) not null default "" => text(&it.grantee),
        TABLE_CATALOG: varchar(512) not null default "" => text("def"),
        TABLE_SCHEMA: varchar(64) not null default "" => text(&it.schema),
        PRIVILEGE_TYPE: varchar(64) not null default "" => text(&it.privilege),
        IS_GRANTABLE: varchar(3) not null default "" => yes_no(it.is_grantable),
    }
}

virtual_table! {
    mod table_privileges = "information_schema"."TABLE_PRIVILEGES" of |it: Grant| {
        GRANTEE: varchar(292) not null default "" => text(&it.grantee),
        TABLE_CATALOG: varchar(512) not null default "" => text("def"),
        TABLE_SCHEMA: varchar(64) not null default "" => text(&it.schema),
        TABLE_NAME: varchar(64) not null default "" => text(&it.table),
        PRIVILEGE_TYPE: varchar(64) not null default "" => text(&it.privilege),
        IS_GRANTABLE: varchar(3) not null default "" => yes_no(it.is_grantable),
    }
}

virtual_table! {
    /// What COMMENT and ATTRIBUTE say of accounts.
    mod user_attributes = "information_schema"."USER_ATTRIBUTES" of |it: (AccountName, Option<String>)| {
        USER: char(32) in utf8mb3_bin not null default "" => text(&it.0.user),
        HOST: char(255) in ascii_general_ci not null default "" => text(&it.0.host),
        ATTRIBUTE: longtext in utf8mb4_bin => it.1.as_ref().map_or(Value::Null, text),
    }
}

fn attributes(source: &Source<'_>, wanted: &Wanted) -> Rows {
    let (seen, accounts) = (seen(source), source.host.accounts.load());
    let seen = accounts.iter().filter(|account| seen(account));
    let subjects = seen.map(|account| (account.name.clone(), account.metadata.clone()));
    of_each(subjects.collect::<Vec<_>>(), user_attributes::row, wanted)
}
