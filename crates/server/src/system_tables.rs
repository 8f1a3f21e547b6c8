//! Tables of the schema `mysql` that hold nothing here: tools read them without asking whether they are
//! there.
//!
//! They have MySQL's columns and no rows, since this server has no roles, proxies, routines, plugins, time
//! zones of its own, help texts or replication. They are not listed, and cannot be written to. A dump of
//! MySQL makes the tables it brings: from then on those are read, as any other table
//! ([086](../../../docs/decisions/086-dumps-of-the-schema-mysql.md)).

use std::sync::Arc;

use palisade_catalog::types::{IntWidth, LobSize};
use palisade_catalog::{CollationId, SqlType};
use palisade_sql::VirtualTable;

/// Name, and columns: each with its type, as [`column_type`] reads it.
const TABLES: &[(&str, &str)] = &[
    (
        "columns_priv",
        "Host host,Db name,User user,Table_name name,Column_name name,Timestamp ts,Column_priv set:Select:Insert:Update:References",
    ),
    ("component", "component_id u4,component_group_id u4,component_urn text"),
    ("default_roles", "HOST host,USER user,DEFAULT_ROLE_HOST host,DEFAULT_ROLE_USER user"),
    (
        "engine_cost",
        "engine_name v64,device_type i4,cost_name v64,cost_value float,last_update ts,comment v1024,default_value float",
    ),
    ("func", "name name,ret i1,dl c128,type enum:function:aggregate"),
    ("gtid_executed", "source_uuid c36,interval_start i8,interval_end i8,gtid_tag c32"),
    ("help_category", "help_category_id u2,name c64,parent_category_id u2,url text"),
    ("help_keyword", "help_keyword_id u4,name c64"),
    ("help_relation", "help_topic_id u4,help_keyword_id u4"),
    ("help_topic", "help_topic_id u4,name c64,help_category_id u2,description text,example text,url text"),
    (
        "ndb_binlog_index",
        "Position u8,File v255,epoch u8,inserts u4,updates u4,deletes u4,schemaops u4,orig_server_id u4,orig_epoch u8,gci u4,next_position u8,next_file v255",
    ),
    ("password_history", "Host host,User user,Password_timestamp ts6,Password text"),
    ("plugin", "name v64,dl v128"),
    (
        "procs_priv",
        "Host host,Db name,User user,Routine_name c64,Routine_type enum:FUNCTION:PROCEDURE:LIBRARY,Grantor v288,Proc_priv set:Execute:Alter Routine:Grant,Timestamp ts",
    ),
    (
        "proxies_priv",
        "Host host,User user,Proxied_host host,Proxied_user user,With_grant i1,Grantor v288,Timestamp ts",
    ),
    (
        "replication_asynchronous_connection_failover",
        "Channel_name c64,Host host,Port u4,Network_namespace c64,Weight u1,Managed_name c64",
    ),
    (
        "replication_asynchronous_connection_failover_managed",
        "Channel_name c64,Managed_name c64,Managed_type c64,Configuration json",
    ),
    ("replication_group_configuration_version", "name host,version u8"),
    (
        "replication_group_member_actions",
        "name host,event c64,enabled i1,type c64,priority u1,error_handling c64",
    ),
    ("role_edges", "FROM_HOST host,FROM_USER user,TO_HOST host,TO_USER user,WITH_ADMIN_OPTION enum:N:Y"),
    ("server_cost", "cost_name v64,cost_value float,last_update ts,comment v1024,default_value float"),
    (
        "servers",
        "Server_name c64,Host host,Db c64,Username c64,Password c64,Port i4,Socket c64,Wrapper c64,Owner c64",
    ),
    (
        "slave_master_info",
        "Number_of_lines u4,Master_log_name text,Master_log_pos u8,Host v255,User_name text,User_password text,Port u4,Connect_retry u4,Enabled_ssl i1,Ssl_ca text,Ssl_capath text,Ssl_cert text,Ssl_cipher text,Ssl_key text,Ssl_verify_server_cert i1,Heartbeat float,Bind text,Ignored_server_ids text,Uuid text,Retry_count u8,Ssl_crl text,Ssl_crlpath text,Enabled_auto_position i1,Channel_name v64,Tls_version text,Public_key_path text,Get_public_key i1,Network_namespace text,Master_compression_algorithm v64,Master_zstd_compression_level u4,Tls_ciphersuites text,Source_connection_auto_failover i1,Gtid_only i1",
    ),
    (
        "slave_relay_log_info",
        "Number_of_lines u4,Relay_log_name text,Relay_log_pos u8,Master_log_name text,Master_log_pos u8,Sql_delay i4,Number_of_workers u4,Id u4,Channel_name v64,Privilege_checks_username v32,Privilege_checks_hostname v255,Require_row_format i1,Require_table_primary_key_check enum:STREAM:ON:OFF:GENERATE,Assign_gtids_to_anonymous_transactions_type enum:OFF:LOCAL:UUID,Assign_gtids_to_anonymous_transactions_value text",
    ),
    (
        "slave_worker_info",
        "Id u4,Relay_log_name text,Relay_log_pos u8,Master_log_name text,Master_log_pos u8,Checkpoint_relay_log_name text,Checkpoint_relay_log_pos u8,Checkpoint_master_log_name text,Checkpoint_master_log_pos u8,Checkpoint_seqno u4,Checkpoint_group_size u4,Checkpoint_group_bitmap blob,Channel_name v64",
    ),
    ("time_zone", "Time_zone_id u4,Use_leap_seconds enum:Y:N"),
    ("time_zone_leap_second", "Transition_time i8,Correction i4"),
    ("time_zone_name", "Name c64,Time_zone_id u4"),
    ("time_zone_transition", "Time_zone_id u4,Transition_time i8,Transition_type_id u4"),
    (
        "time_zone_transition_type",
        "Time_zone_id u4,Transition_type_id u4,Offset i4,Is_DST u1,Abbreviation c8",
    ),
];

/// The table of that name; `None` if there is none.
pub fn table(name: &str) -> Option<VirtualTable> {
    let (_, columns) = TABLES.iter().find(|(known, _)| *known == name)?;
    let columns = columns.split(',').filter_map(|column| column.split_once(' '));
    let columns = columns.map(|(name, ty)| Some((name, column_type(ty)?))).collect::<Option<_>>()?;
    Some(VirtualTable { columns, rows: Vec::new() })
}

/// Collation of names: they are told apart by their case.
const NAMES: CollationId = CollationId::UTF8MB3_BIN;
/// Collation of the rest.
const TEXTS: CollationId = CollationId::UTF8MB3_GENERAL_CI;

/// `i4`, `u4`: integers of so many bytes, signed and not; `c64`, `v64`: CHAR and VARCHAR; `ts`, `ts6`:
/// TIMESTAMP; `enum:a:b`, `set:a:b`; `host`, `user`, `name`: the CHARs of accounts and what they have
/// privileges on.
fn column_type(code: &str) -> Option<SqlType> {
    let member_list =
        |list: &str| list.split(':').map(|member| member.as_bytes().into()).collect::<Arc<[_]>>();
    Some(match code {
        "host" => SqlType::Char { length: 255, collation: CollationId::ASCII_GENERAL_CI },
        "user" => SqlType::Char { length: 32, collation: NAMES },
        "name" => SqlType::Char { length: 64, collation: NAMES },
        "text" => SqlType::Text { size: LobSize::Normal, collation: TEXTS },
        "blob" => SqlType::Blob { size: LobSize::Normal },
        "float" => SqlType::Float { unsigned: false, digits: None },
        "json" => SqlType::Json,
        "ts" => SqlType::Timestamp { fsp: 0 },
        "ts6" => SqlType::Timestamp { fsp: 6 },
        _ => {
            if let Some(list) = code.strip_prefix("enum:") {
                return Some(SqlType::Enum { members: member_list(list), collation: TEXTS });
            }
            if let Some(list) = code.strip_prefix("set:") {
                return Some(SqlType::Set { members: member_list(list), collation: TEXTS });
            }
            let (kind, size) = code.split_at_checked(1)?;
            let length = size.parse().ok()?;
            match kind {
                "c" => SqlType::Char { length, collation: TEXTS },
                "v" => SqlType::VarChar { length, collation: TEXTS },
                "i" | "u" => SqlType::Int { width: width(length)?, unsigned: kind == "u" },
                _ => return None,
            }
        }
    })
}

fn width(bytes: u32) -> Option<IntWidth> {
    Some(match bytes {
        1 => IntWidth::Tiny,
        2 => IntWidth::Small,
        4 => IntWidth::Int,
        8 => IntWidth::Big,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_declaration_is_read() {
        for (name, columns) in TABLES {
            let made = table(name).unwrap_or_else(|| panic!("{name}: {columns}"));
            assert_eq!(made.columns.len(), columns.split(',').count(), "{name}");
        }
        assert!(table("user").is_none(), "it is stored");
    }
}
