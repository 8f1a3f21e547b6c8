//! host_cache: no names are looked up for addresses, and failures are not counted by address.

use palisade_schema::virtual_table;

use super::{Definition, Tables};

pub(super) static TABLES: Tables = &[Definition::empty(&hosts::DECL)];

virtual_table! {
    mod hosts = "performance_schema"."host_cache" {
        IP: varchar(64) in utf8mb4_0900_ai_ci not null key PRI,
        HOST: varchar(255) in ascii_general_ci key MUL,
        HOST_VALIDATED: enum("YES", "NO") in utf8mb4_0900_ai_ci not null,
        SUM_CONNECT_ERRORS: bigint not null,
        COUNT_HOST_BLOCKED_ERRORS: bigint not null,
        COUNT_NAMEINFO_TRANSIENT_ERRORS: bigint not null,
        COUNT_NAMEINFO_PERMANENT_ERRORS: bigint not null,
        COUNT_FORMAT_ERRORS: bigint not null,
        COUNT_ADDRINFO_TRANSIENT_ERRORS: bigint not null,
        COUNT_ADDRINFO_PERMANENT_ERRORS: bigint not null,
        COUNT_FCRDNS_ERRORS: bigint not null,
        COUNT_HOST_ACL_ERRORS: bigint not null,
        COUNT_NO_AUTH_PLUGIN_ERRORS: bigint not null,
        COUNT_AUTH_PLUGIN_ERRORS: bigint not null,
        COUNT_HANDSHAKE_ERRORS: bigint not null,
        COUNT_PROXY_USER_ERRORS: bigint not null,
        COUNT_PROXY_USER_ACL_ERRORS: bigint not null,
        COUNT_AUTHENTICATION_ERRORS: bigint not null,
        COUNT_SSL_ERRORS: bigint not null,
        COUNT_MAX_USER_CONNECTIONS_ERRORS: bigint not null,
        COUNT_MAX_USER_CONNECTIONS_PER_HOUR_ERRORS: bigint not null,
        COUNT_DEFAULT_DATABASE_ERRORS: bigint not null,
        COUNT_INIT_CONNECT_ERRORS: bigint not null,
        COUNT_LOCAL_ERRORS: bigint not null,
        COUNT_ACCOUNT_LOCKED_ERRORS: bigint not null,
        COUNT_TEMPORARY_ACCOUNT_LOCKED_ERRORS: bigint not null,
        COUNT_UNKNOWN_ERRORS: bigint not null,
        FIRST_SEEN: timestamp not null,
        LAST_SEEN: timestamp not null,
        FIRST_ERROR_SEEN: timestamp,
        LAST_ERROR_SEEN: timestamp,
    }
}
