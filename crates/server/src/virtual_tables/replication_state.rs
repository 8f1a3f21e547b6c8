//! Tables of performance_schema about replication: this server has no channels, no binary log and is no
//! member of a group, so that they hold nothing.

use palisade_schema::virtual_table;

use super::{Definition, Tables};

pub(super) static TABLES: Tables = &[
    Definition::empty(&binary_log_transaction_compression_stats::DECL).truncated_by(|_| {}),
    Definition::empty(&replication_applier_configuration::DECL),
    Definition::empty(&replication_applier_filters::DECL),
    Definition::empty(&replication_applier_global_filters::DECL),
    Definition::empty(&replication_applier_status::DECL),
    Definition::empty(&replication_applier_status_by_coordinator::DECL),
    Definition::empty(&replication_applier_status_by_worker::DECL),
    Definition::empty(&replication_asynchronous_connection_failover::DECL),
    Definition::empty(&replication_asynchronous_connection_failover_managed::DECL),
    Definition::empty(&replication_connection_configuration::DECL),
    Definition::empty(&replication_connection_status::DECL),
    Definition::empty(&replication_group_member_stats::DECL),
    Definition::empty(&replication_group_members::DECL),
];

virtual_table! {
    mod binary_log_transaction_compression_stats = "performance_schema"."binary_log_transaction_compression_stats" {
        LOG_TYPE: enum("BINARY", "RELAY") in utf8mb4_0900_ai_ci not null,
        COMPRESSION_TYPE: varchar(64) in utf8mb4_0900_ai_ci not null,
        TRANSACTION_COUNTER: bigint_unsigned not null,
        COMPRESSED_BYTES_COUNTER: bigint_unsigned not null,
        UNCOMPRESSED_BYTES_COUNTER: bigint_unsigned not null,
        COMPRESSION_PERCENTAGE: smallint not null,
        FIRST_TRANSACTION_ID: text in utf8mb4_0900_ai_ci,
        FIRST_TRANSACTION_COMPRESSED_BYTES: bigint_unsigned not null,
        FIRST_TRANSACTION_UNCOMPRESSED_BYTES: bigint_unsigned not null,
        FIRST_TRANSACTION_TIMESTAMP: timestamp(6),
        LAST_TRANSACTION_ID: text in utf8mb4_0900_ai_ci,
        LAST_TRANSACTION_COMPRESSED_BYTES: bigint_unsigned not null,
        LAST_TRANSACTION_UNCOMPRESSED_BYTES: bigint_unsigned not null,
        LAST_TRANSACTION_TIMESTAMP: timestamp(6),
    }
}

virtual_table! {
    mod replication_applier_configuration = "performance_schema"."replication_applier_configuration" {
        CHANNEL_NAME: char(64) in utf8mb4_0900_ai_ci not null key PRI,
        DESIRED_DELAY: int not null,
        PRIVILEGE_CHECKS_USER: text in utf8mb3_bin,
        REQUIRE_ROW_FORMAT: enum("YES", "NO") in utf8mb4_0900_ai_ci not null,
        REQUIRE_TABLE_PRIMARY_KEY_CHECK: enum("STREAM", "ON", "OFF", "GENERATE") in utf8mb4_0900_ai_ci not null,
        ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_TYPE: enum("OFF", "LOCAL", "UUID") in utf8mb4_0900_ai_ci not null,
        ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS_VALUE: text in utf8mb3_bin,
    }
}

virtual_table! {
    mod replication_applier_filters = "performance_schema"."replication_applier_filters" {
        CHANNEL_NAME: char(64) in utf8mb4_0900_ai_ci not null,
        FILTER_NAME: char(64) in utf8mb4_0900_ai_ci not null,
        FILTER_RULE: longtext in utf8mb4_0900_ai_ci not null,
        CONFIGURED_BY: enum("STARTUP_OPTIONS", "CHANGE_REPLICATION_FILTER", "STARTUP_OPTIONS_FOR_CHANNEL", "CHANGE_REPLICATION_FILTER_FOR_CHANNEL") in utf8mb4_0900_ai_ci not null,
        ACTIVE_SINCE: timestamp(6) not null,
        COUNTER: bigint_unsigned not null default "0",
    }
}

virtual_table! {
    mod replication_applier_global_filters = "performance_schema"."replication_applier_global_filters" {
        FILTER_NAME: char(64) in utf8mb4_0900_ai_ci not null,
        FILTER_RULE: longtext in utf8mb4_0900_ai_ci not null,
        CONFIGURED_BY: enum("STARTUP_OPTIONS", "CHANGE_REPLICATION_FILTER") in utf8mb4_0900_ai_ci not null,
        ACTIVE_SINCE: timestamp(6) not null,
    }
}

virtual_table! {
    mod replication_applier_status = "performance_schema"."replication_applier_status" {
        CHANNEL_NAME: char(64) in utf8mb4_0900_ai_ci not null key PRI,
        SERVICE_STATE: enum("ON", "OFF") in utf8mb4_0900_ai_ci not null,
        REMAINING_DELAY: int_unsigned,
        COUNT_TRANSACTIONS_RETRIES: bigint_unsigned not null,
    }
}

virtual_table! {
    mod replication_applier_status_by_coordinator = "performance_schema"."replication_applier_status_by_coordinator" {
        CHANNEL_NAME: char(64) in utf8mb4_0900_ai_ci not null key PRI,
        THREAD_ID: bigint_unsigned key MUL,
        SERVICE_STATE: enum("ON", "OFF") in utf8mb4_0900_ai_ci not null,
        LAST_ERROR_NUMBER: int not null,
        LAST_ERROR_MESSAGE: varchar(1024) in utf8mb4_0900_ai_ci not null,
        LAST_ERROR_TIMESTAMP: timestamp(6) not null,
        LAST_PROCESSED_TRANSACTION: char(90) in utf8mb4_0900_ai_ci,
        LAST_PROCESSED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP: timestamp(6) not null,
        LAST_PROCESSED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP: timestamp(6) not null,
        LAST_PROCESSED_TRANSACTION_START_BUFFER_TIMESTAMP: timestamp(6) not null,
        LAST_PROCESSED_TRANSACTION_END_BUFFER_TIMESTAMP: timestamp(6) not null,
        PROCESSING_TRANSACTION: char(90) in utf8mb4_0900_ai_ci,
        PROCESSING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP: timestamp(6) not null,
        PROCESSING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP: timestamp(6) not null,
        PROCESSING_TRANSACTION_START_BUFFER_TIMESTAMP: timestamp(6) not null,
    }
}

virtual_table! {
    mod replication_applier_status_by_worker = "performance_schema"."replication_applier_status_by_worker" {
        CHANNEL_NAME: char(64) in utf8mb4_0900_ai_ci not null key PRI,
        WORKER_ID: bigint_unsigned not null key PRI,
        THREAD_ID: bigint_unsigned key MUL,
        SERVICE_STATE: enum("ON", "OFF") in utf8mb4_0900_ai_ci not null,
        LAST_ERROR_NUMBER: int not null,
        LAST_ERROR_MESSAGE: varchar(1024) in utf8mb4_0900_ai_ci not null,
        LAST_ERROR_TIMESTAMP: timestamp(6) not null,
        LAST_APPLIED_TRANSACTION: char(90) in utf8mb4_0900_ai_ci,
        LAST_APPLIED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP: timestamp(6) not null,
        LAST_APPLIED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP: timestamp(6) not null,
        LAST_APPLIED_TRANSACTION_START_APPLY_TIMESTAMP: timestamp(6) not null,
        LAST_APPLIED_TRANSACTION_END_APPLY_TIMESTAMP: timestamp(6) not null,
        APPLYING_TRANSACTION: char(90) in utf8mb4_0900_ai_ci,
        APPLYING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP: timestamp(6) not null,
        APPLYING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP: timestamp(6) not null,
        APPLYING_TRANSACTION_START_APPLY_TIMESTAMP: timestamp(6) not null,
        LAST_APPLIED_TRANSACTION_RETRIES_COUNT: bigint_unsigned not null,
        LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_NUMBER: int not null,
        LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_MESSAGE: varchar(1024) in utf8mb4_0900_ai_ci,
        LAST_APPLIED_TRANSACTION_LAST_TRANSIENT_ERROR_TIMESTAMP: timestamp(6) not null,
        APPLYING_TRANSACTION_RETRIES_COUNT: bigint_unsigned not null,
        APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_NUMBER: int not null,
        APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_MESSAGE: varchar(1024) in utf8mb4_0900_ai_ci,
        APPLYING_TRANSACTION_LAST_TRANSIENT_ERROR_TIMESTAMP: timestamp(6) not null,
    }
}

virtual_table! {
    mod replication_asynchronous_connection_failover = "performance_schema"."replication_asynchronous_connection_failover" {
        CHANNEL_NAME: char(64) not null,
        HOST: char(255) in ascii_general_ci not null,
        PORT: int not null,
        NETWORK_NAMESPACE: char(64) in utf8mb4_0900_ai_ci,
        WEIGHT: int_unsigned not null,
        MANAGED_NAME: char(64) not null default "",
    }
}

virtual_table! {
    mod replication_asynchronous_connection_failover_managed = "performance_schema"."replication_asynchronous_connection_failover_managed" {
        CHANNEL_NAME: char(64) not null,
        MANAGED_NAME: char(64) not null default "",
        MANAGED_TYPE: char(64) not null default "",
        CONFIGURATION: json,
    }
}

virtual_table! {
    mod replication_connection_configuration = "performance_schema"."replication_connection_configuration" {
        CHANNEL_NAME: char(64) in utf8mb4_0900_ai_ci not null key PRI,
        HOST: char(255) in ascii_general_ci not null,
        PORT: int not null,
        USER: char(32) in utf8mb4_bin not null,
        NETWORK_INTERFACE: char(60) in utf8mb4_bin not null,
        AUTO_POSITION: enum("1", "0") in utf8mb4_0900_ai_ci not null,
        SSL_ALLOWED: enum("YES", "NO", "IGNORED") in utf8mb4_0900_ai_ci not null,
        SSL_CA_FILE: varchar(512) in utf8mb4_0900_ai_ci not null,
        SSL_CA_PATH: varchar(512) in utf8mb4_0900_ai_ci not null,
        SSL_CERTIFICATE: varchar(512) in utf8mb4_0900_ai_ci not null,
        SSL_CIPHER: varchar(512) in utf8mb4_0900_ai_ci not null,
        SSL_KEY: varchar(512) in utf8mb4_0900_ai_ci not null,
        SSL_VERIFY_SERVER_CERTIFICATE: enum("YES", "NO") in utf8mb4_0900_ai_ci not null,
        SSL_CRL_FILE: varchar(255) in utf8mb4_0900_ai_ci not null,
        SSL_CRL_PATH: varchar(255) in utf8mb4_0900_ai_ci not null,
        CONNECTION_RETRY_INTERVAL: int not null,
        CONNECTION_RETRY_COUNT: bigint_unsigned not null,
        HEARTBEAT_INTERVAL: double(10, 3) not null,
        TLS_VERSION: varchar(255) in utf8mb4_0900_ai_ci not null,
        PUBLIC_KEY_PATH: varchar(512) in utf8mb4_0900_ai_ci not null,
        GET_PUBLIC_KEY: enum("YES", "NO") in utf8mb4_0900_ai_ci not null,
        NETWORK_NAMESPACE: varchar(64) in utf8mb4_0900_ai_ci not null,
        COMPRESSION_ALGORITHM: char(64) in utf8mb4_bin not null,
        ZSTD_COMPRESSION_LEVEL: int not null,
        TLS_CIPHERSUITES: text in utf8mb3_bin,
        SOURCE_CONNECTION_AUTO_FAILOVER: enum("1", "0") in utf8mb4_0900_ai_ci not null,
        GTID_ONLY: enum("1", "0") in utf8mb4_0900_ai_ci not null,
    }
}

virtual_table! {
    mod replication_connection_status = "performance_schema"."replication_connection_status" {
        CHANNEL_NAME: char(64) in utf8mb4_0900_ai_ci not null key PRI,
        GROUP_NAME: char(36) in utf8mb4_bin not null,
        SOURCE_UUID: char(36) in utf8mb4_bin not null,
        THREAD_ID: bigint_unsigned key MUL,
        SERVICE_STATE: enum("ON", "OFF", "CONNECTING") in utf8mb4_0900_ai_ci not null,
        COUNT_RECEIVED_HEARTBEATS: bigint_unsigned not null default "0",
        LAST_HEARTBEAT_TIMESTAMP: timestamp(6) not null,
        RECEIVED_TRANSACTION_SET: longtext in utf8mb4_0900_ai_ci not null,
        LAST_ERROR_NUMBER: int not null,
        LAST_ERROR_MESSAGE: varchar(1024) in utf8mb4_0900_ai_ci not null,
        LAST_ERROR_TIMESTAMP: timestamp(6) not null,
        LAST_QUEUED_TRANSACTION: char(90) in utf8mb4_0900_ai_ci,
        LAST_QUEUED_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP: timestamp(6) not null,
        LAST_QUEUED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP: timestamp(6) not null,
        LAST_QUEUED_TRANSACTION_START_QUEUE_TIMESTAMP: timestamp(6) not null,
        LAST_QUEUED_TRANSACTION_END_QUEUE_TIMESTAMP: timestamp(6) not null,
        QUEUEING_TRANSACTION: char(90) in utf8mb4_0900_ai_ci,
        QUEUEING_TRANSACTION_ORIGINAL_COMMIT_TIMESTAMP: timestamp(6) not null,
        QUEUEING_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP: timestamp(6) not null,
        QUEUEING_TRANSACTION_START_QUEUE_TIMESTAMP: timestamp(6) not null,
    }
}

virtual_table! {
    mod replication_group_member_stats = "performance_schema"."replication_group_member_stats" {
        CHANNEL_NAME: char(64) in utf8mb4_0900_ai_ci not null,
        VIEW_ID: char(60) in utf8mb4_bin not null,
        MEMBER_ID: char(36) in utf8mb4_bin not null,
        COUNT_TRANSACTIONS_IN_QUEUE: bigint_unsigned not null,
        COUNT_TRANSACTIONS_CHECKED: bigint_unsigned not null,
        COUNT_CONFLICTS_DETECTED: bigint_unsigned not null,
        COUNT_TRANSACTIONS_ROWS_VALIDATING: bigint_unsigned not null,
        TRANSACTIONS_COMMITTED_ALL_MEMBERS: longtext in utf8mb4_0900_ai_ci not null,
        LAST_CONFLICT_FREE_TRANSACTION: text in utf8mb4_0900_ai_ci not null,
        COUNT_TRANSACTIONS_REMOTE_IN_APPLIER_QUEUE: bigint_unsigned not null,
        COUNT_TRANSACTIONS_REMOTE_APPLIED: bigint_unsigned not null,
        COUNT_TRANSACTIONS_LOCAL_PROPOSED: bigint_unsigned not null,
        COUNT_TRANSACTIONS_LOCAL_ROLLBACK: bigint_unsigned not null,
    }
}

virtual_table! {
    mod replication_group_members = "performance_schema"."replication_group_members" {
        CHANNEL_NAME: char(64) in utf8mb4_0900_ai_ci not null,
        MEMBER_ID: char(36) in utf8mb4_bin not null,
        MEMBER_HOST: char(255) in ascii_general_ci not null,
        MEMBER_PORT: int,
        MEMBER_STATE: char(64) in utf8mb4_bin not null,
        MEMBER_ROLE: char(64) in utf8mb4_bin not null,
        MEMBER_VERSION: char(64) in utf8mb4_bin not null,
        MEMBER_COMMUNICATION_STACK: char(64) in utf8mb4_bin not null,
    }
}
