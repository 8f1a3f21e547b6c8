//! Options that this server has no variable for, and that option files in use still name: those of earlier
//! releases of MySQL, and those of MariaDB and Percona Server.
//!
//! MySQL refuses to start with most of them. Here an option of which the absence cannot harm is named in a
//! warning and ignored, so that an option file that has grown for years starts the server as it is; one that
//! has got another name sets the variable of that name. What promises safety is not in the list and stays an
//! unknown option: encryption, clusters, filters of accounts.

/// What becomes of such an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Former {
    /// The variable has this name now.
    Renamed(&'static str),
    /// Nothing is done, because of this.
    Ignored(&'static str),
}

const REMOVED: &str = "MySQL has removed it";
const OTHERS: &str = "it is an option of another server";
const NO_LOG: &str = "there is no binary log yet";
const NO_REPLICATION: &str = "there is no replication yet";

/// Variables that have another name now, by their former one.
const RENAMED: &[(&str, &str)] = &[
    ("default_time_zone", "time_zone"),
    ("innodb_adaptive_hash_index_partitions", "innodb_adaptive_hash_index_parts"),
    ("innodb_stats_sample_pages", "innodb_stats_transient_sample_pages"),
    ("innodb_undo_logs", "innodb_rollback_segments"),
    ("memlock", "locked_in_memory"),
    ("storage_engine", "default_storage_engine"),
    ("table_cache", "table_open_cache"),
    ("tx_isolation", "transaction_isolation"),
    ("tx_read_only", "transaction_read_only"),
];

/// Options without effect, by why.
const IGNORED: &[(&str, &[&str])] = &[
    (
        REMOVED,
        &[
            "avoid_temporal_upgrade",
            "date_format",
            "datetime_format",
            "engine_condition_pushdown",
            "ignore_builtin_innodb",
            "innodb_additional_mem_pool_size",
            "innodb_checksums",
            "innodb_file_format",
            "innodb_file_format_check",
            "innodb_file_format_max",
            "innodb_file_io_threads",
            "innodb_large_prefix",
            "innodb_locks_unsafe_for_binlog",
            "innodb_mirrored_log_groups",
            "innodb_status_file",
            "innodb_support_xa",
            "innodb_use_sys_malloc",
            "internal_tmp_disk_storage_engine",
            "log_syslog",
            "log_syslog_facility",
            "log_syslog_include_pid",
            "log_syslog_tag",
            "log_warnings",
            "max_tmp_tables",
            "metadata_locks_cache_size",
            "metadata_locks_hash_instances",
            "multi_range_count",
            "new",
            "old",
            "old_passwords",
            "partition",
            "query_cache_limit",
            "query_cache_min_res_unit",
            "query_cache_size",
            "query_cache_type",
            "query_cache_wlock_invalidate",
            "safe_user_create",
            "secure_auth",
            "show_compatibility_56",
            "show_old_temporals",
            "sync_frm",
            "temp_pool",
            "thread_concurrency",
            "time_format",
            "timed_mutexes",
        ],
    ),
    (
        NO_LOG,
        &[
            "binlog_do_db",
            "binlog_ignore_db",
            "binlog_transaction_dependency_tracking",
            "expire_logs_days",
            "log_bin_use_v1_row_events",
            "transaction_write_set_extraction",
        ],
    ),
    (
        NO_REPLICATION,
        &[
            "master_connect_retry",
            "master_info_file",
            "master_info_repository",
            "master_retry_count",
            "relay_log_info_repository",
            "replicate_do_db",
            "replicate_do_table",
            "replicate_ignore_db",
            "replicate_ignore_table",
            "replicate_rewrite_db",
            "replicate_same_server_id",
            "replicate_wild_do_table",
            "replicate_wild_ignore_table",
            "show_replica_auth_info",
            "show_slave_auth_info",
            "slave_rows_search_algorithms",
        ],
    ),
    (
        OTHERS,
        &[
            "aria_log_file_size",
            "aria_pagecache_buffer_size",
            "aria_sort_buffer_size",
            "binlog_optimize_thread_scheduling",
            "deadlock_search_depth_long",
            "deadlock_search_depth_short",
            "deadlock_timeout_long",
            "deadlock_timeout_short",
            "feedback",
            "gtid_domain_id",
            "histogram_size",
            "histogram_type",
            "innodb_adaptive_flushing_method",
            "innodb_buffer_pool_populate",
            "innodb_cleaner_lsn_age_factor",
            "innodb_compression_algorithm",
            "innodb_defragment",
            "innodb_empty_free_list_algorithm",
            "innodb_flush_neighbor_pages",
            "innodb_foreground_preflush",
            "innodb_log_block_size",
            "innodb_lazy_drop_table",
            "innodb_max_bitmap_file_size",
            "innodb_mtflush_threads",
            "innodb_read_ahead",
            "innodb_sched_priority_cleaner",
            "innodb_show_locks_held",
            "innodb_show_verbose_locks",
            "innodb_use_atomic_writes",
            "innodb_use_fallocate",
            "innodb_use_global_flush_log_at_trx_commit",
            "innodb_use_mtflush",
            "innodb_use_trim",
            "join_buffer_space_limit",
            "join_cache_level",
            "key_cache_segments",
            "log_slow_filter",
            "log_slow_rate_limit",
            "log_slow_rate_type",
            "log_slow_sp_statements",
            "log_slow_verbosity",
            "mrr_buffer_size",
            "optimizer_use_condition_selectivity",
            "progress_report_time",
            "query_response_time_stats",
            "rowid_merge_buff_size",
            "slow_query_log_always_write_time",
            "slow_query_log_use_global_control",
            "thread_pool_idle_timeout",
            "thread_pool_max_threads",
            "thread_pool_oversubscribe",
            "thread_pool_size",
            "thread_pool_stall_limit",
            "use_stat_tables",
            "userstat",
        ],
    ),
];

/// What becomes of the option `name`, of which dashes and underscores are alike; `None` if it is not known
/// here either.
pub fn find(name: &str) -> Option<Former> {
    let name = name.replace('-', "_");
    if let Some((_, now)) = RENAMED.iter().find(|(former, _)| *former == name) {
        return Some(Former::Renamed(now));
    }
    let (why, _) = IGNORED.iter().find(|(_, names)| names.contains(&name.as_str()))?;
    Some(Former::Ignored(why))
}

#[cfg(test)]
mod tests {
    use palisade_base::sysvar::VariableId;

    use super::*;

    #[test]
    fn a_former_name_is_no_variable_and_the_new_one_is() {
        for (former, now) in RENAMED {
            assert_eq!(find(former), Some(Former::Renamed(now)));
            assert!(VariableId::find(former).is_none(), "{former} is a variable");
            assert!(VariableId::find(now).is_some(), "{now} is no variable");
        }
        for name in IGNORED.iter().flat_map(|(_, names)| *names) {
            assert!(VariableId::find(name).is_none(), "{name} is a variable");
        }
    }

    #[test]
    fn what_promises_safety_is_not_ignored() {
        for name in ["innodb_encrypt_tables", "wsrep_on", "early_plugin_load_add", "skip_innodb", "chroot"] {
            assert_eq!(find(name), None, "{name}");
        }
    }
}
