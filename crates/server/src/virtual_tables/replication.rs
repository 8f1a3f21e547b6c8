//! Tables of the schema `mysql` about replication, which hold nothing here: see the module `system`.

use palisade_schema::virtual_table;

use super::{Definition, Tables};

pub(super) static TABLES: Tables = &[
    Definition::empty(&gtid_executed::DECL),
    Definition::empty(&ndb_binlog_index::DECL),
    Definition::empty(&replication_asynchronous_connection_failover::DECL),
    Definition::empty(&replication_asynchronous_connection_failover_managed::DECL),
    Definition::empty(&replication_group_configuration_version::DECL),
    Definition::empty(&replication_group_member_actions::DECL),
    Definition::empty(&slave_master_info::DECL),
    Definition::empty(&slave_relay_log_info::DECL),
    Definition::empty(&slave_worker_info::DECL),
];

virtual_table! {
    mod gtid_executed = "mysql"."gtid_executed" {
        source_uuid: char(36) in utf8mb4_0900_ai_ci not null key PRI,
        interval_start: bigint not null key PRI,
        interval_end: bigint not null,
        gtid_tag: char(32) in utf8mb4_0900_ai_ci not null key PRI,
    }
}

virtual_table! {
    mod ndb_binlog_index = "mysql"."ndb_binlog_index" {
        Position: bigint_unsigned not null,
        File: varchar(255) in latin1_swedish_ci not null,
        epoch: bigint_unsigned not null key PRI,
        inserts: int_unsigned not null,
        updates: int_unsigned not null,
        deletes: int_unsigned not null,
        schemaops: int_unsigned not null,
        orig_server_id: int_unsigned not null key PRI,
        orig_epoch: bigint_unsigned not null key PRI,
        gci: int_unsigned not null,
        next_position: bigint_unsigned not null,
        next_file: varchar(255) in latin1_swedish_ci not null,
    }
}

virtual_table! {
    mod replication_asynchronous_connection_failover = "mysql"."replication_asynchronous_connection_failover" {
        Channel_name: char(64) not null key PRI,
        Host: char(255) in ascii_general_ci not null key PRI,
        Port: int_unsigned not null key PRI,
        Network_namespace: char(64) not null key PRI,
        Weight: tinyint_unsigned not null,
        Managed_name: char(64) not null default "" key PRI,
    }
}

virtual_table! {
    mod replication_asynchronous_connection_failover_managed = "mysql"."replication_asynchronous_connection_failover_managed" {
        Channel_name: char(64) not null key PRI,
        Managed_name: char(64) not null default "" key PRI,
        Managed_type: char(64) not null default "",
        Configuration: json,
    }
}

virtual_table! {
    mod replication_group_configuration_version = "mysql"."replication_group_configuration_version" {
        name: char(255) in ascii_general_ci not null key PRI,
        version: bigint_unsigned not null,
    }
}

virtual_table! {
    mod replication_group_member_actions = "mysql"."replication_group_member_actions" {
        name: char(255) in ascii_general_ci not null key PRI,
        event: char(64) in ascii_general_ci not null key PRI,
        enabled: bool not null,
        type: char(64) in ascii_general_ci not null,
        priority: tinyint_unsigned not null,
        error_handling: char(64) in ascii_general_ci not null,
    }
}

virtual_table! {
    mod slave_master_info = "mysql"."slave_master_info" {
        Number_of_lines: int_unsigned not null,
        Master_log_name: text in utf8mb3_bin not null,
        Master_log_pos: bigint_unsigned not null,
        Host: varchar(255) in ascii_general_ci,
        User_name: text in utf8mb3_bin,
        User_password: text in utf8mb3_bin,
        Port: int_unsigned not null,
        Connect_retry: int_unsigned not null,
        Enabled_ssl: bool not null,
        Ssl_ca: text in utf8mb3_bin,
        Ssl_capath: text in utf8mb3_bin,
        Ssl_cert: text in utf8mb3_bin,
        Ssl_cipher: text in utf8mb3_bin,
        Ssl_key: text in utf8mb3_bin,
        Ssl_verify_server_cert: bool not null,
        Heartbeat: float not null,
        Bind: text in utf8mb3_bin,
        Ignored_server_ids: text in utf8mb3_bin,
        Uuid: text in utf8mb3_bin,
        Retry_count: bigint_unsigned not null,
        Ssl_crl: text in utf8mb3_bin,
        Ssl_crlpath: text in utf8mb3_bin,
        Enabled_auto_position: bool not null,
        Channel_name: varchar(64) not null key PRI,
        Tls_version: text in utf8mb3_bin,
        Public_key_path: text in utf8mb3_bin,
        Get_public_key: bool not null,
        Network_namespace: text in utf8mb3_bin,
        Master_compression_algorithm: varchar(64) in utf8mb3_bin not null,
        Master_zstd_compression_level: int_unsigned not null,
        Tls_ciphersuites: text in utf8mb3_bin,
        Source_connection_auto_failover: bool not null default "0",
        Gtid_only: bool not null default "0",
    }
}

virtual_table! {
    mod slave_relay_log_info = "mysql"."slave_relay_log_info" {
        Number_of_lines: int_unsigned not null,
        Relay_log_name: text in utf8mb3_bin,
        Relay_log_pos: bigint_unsigned,
        Master_log_name: text in utf8mb3_bin,
        Master_log_pos: bigint_unsigned,
        Sql_delay: int,
        Number_of_workers: int_unsigned,
        Id: int_unsigned,
        Channel_name: varchar(64) not null key PRI,
        Privilege_checks_username: varchar(32) in utf8mb3_bin,
        Privilege_checks_hostname: varchar(255) in ascii_general_ci,
        Require_row_format: bool not null,
        Require_table_primary_key_check: enum("STREAM", "ON", "OFF", "GENERATE") not null default "STREAM",
        Assign_gtids_to_anonymous_transactions_type: enum("OFF", "LOCAL", "UUID") not null default "OFF",
        Assign_gtids_to_anonymous_transactions_value: text in utf8mb3_bin,
    }
}

virtual_table! {
    mod slave_worker_info = "mysql"."slave_worker_info" {
        Id: int_unsigned not null key PRI,
        Relay_log_name: text in utf8mb3_bin not null,
        Relay_log_pos: bigint_unsigned not null,
        Master_log_name: text in utf8mb3_bin not null,
        Master_log_pos: bigint_unsigned not null,
        Checkpoint_relay_log_name: text in utf8mb3_bin not null,
        Checkpoint_relay_log_pos: bigint_unsigned not null,
        Checkpoint_master_log_name: text in utf8mb3_bin not null,
        Checkpoint_master_log_pos: bigint_unsigned not null,
        Checkpoint_seqno: int_unsigned not null,
        Checkpoint_group_size: int_unsigned not null,
        Checkpoint_group_bitmap: blob not null,
        Channel_name: varchar(64) not null key PRI,
    }
}
