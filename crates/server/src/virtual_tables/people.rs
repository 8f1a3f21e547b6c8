//! Who has been connected: accounts, users and hosts.

use palisade_catalog::Value;
use palisade_schema::virtual_table;

use super::statement_sums::overview;
use super::{Definition, Source, Tables, of_each, text};
use crate::instruments::people::{AccountKey, Person, Reset};

pub(super) static TABLES: Tables = &[
    Definition::new(&accounts::DECL, |source, wanted| {
        let subject = |(key, person, _): (AccountKey, Person, _)| PersonSubject { key, person };
        of_each(overview(source).accounts().into_iter().map(subject), accounts::row, wanted)
    })
    .truncated_by(|source| forget(source, Reset::Accounts)),
    Definition::new(&users::DECL, |source, wanted| {
        let subject = |(user, person, _): (String, Person, _)| PersonSubject {
            key: AccountKey { user, host: String::new() },
            person,
        };
        of_each(overview(source).users().into_iter().map(subject), users::row, wanted)
    })
    .truncated_by(|source| forget(source, Reset::Users)),
    Definition::new(&hosts::DECL, |source, wanted| {
        let subject = |(host, person, _): (String, Person, _)| PersonSubject {
            key: AccountKey { user: String::new(), host },
            person,
        };
        of_each(overview(source).hosts().into_iter().map(subject), hosts::row, wanted)
    })
    .truncated_by(|source| forget(source, Reset::Hosts)),
];

fn forget(source: &Source<'_>, reset: Reset) {
    let connections = &source.host.connections;
    connections.people.forget(&connections.admitted(), reset);
}

/// An account, a user or a host.
struct PersonSubject {
    key: AccountKey,
    person: Person,
}

virtual_table! {
    mod accounts = "performance_schema"."accounts" of |it: PersonSubject| {
        USER: char(32) in utf8mb4_bin key MUL => text(&it.key.user),
        HOST: char(255) in ascii_general_ci => text(&it.key.host),
        CURRENT_CONNECTIONS: bigint not null => Value::UInt(it.person.current),
        TOTAL_CONNECTIONS: bigint not null => Value::UInt(it.person.total),
        MAX_SESSION_CONTROLLED_MEMORY: bigint_unsigned not null => Value::UInt(0),
        MAX_SESSION_TOTAL_MEMORY: bigint_unsigned not null => Value::UInt(0),
    }
}

virtual_table! {
    mod users = "performance_schema"."users" of |it: PersonSubject| {
        USER: char(32) in utf8mb4_bin key UNI => text(&it.key.user),
        CURRENT_CONNECTIONS: bigint not null => Value::UInt(it.person.current),
        TOTAL_CONNECTIONS: bigint not null => Value::UInt(it.person.total),
        MAX_SESSION_CONTROLLED_MEMORY: bigint_unsigned not null => Value::UInt(0),
        MAX_SESSION_TOTAL_MEMORY: bigint_unsigned not null => Value::UInt(0),
    }
}

virtual_table! {
    mod hosts = "performance_schema"."hosts" of |it: PersonSubject| {
        HOST: char(255) in ascii_general_ci key UNI => text(&it.key.host),
        CURRENT_CONNECTIONS: bigint not null => Value::UInt(it.person.current),
        TOTAL_CONNECTIONS: bigint not null => Value::UInt(it.person.total),
        MAX_SESSION_CONTROLLED_MEMORY: bigint_unsigned not null => Value::UInt(0),
        MAX_SESSION_TOTAL_MEMORY: bigint_unsigned not null => Value::UInt(0),
    }
}
