//! The keys of performance_schema's tables, as SHOW CREATE TABLE of MySQL 9.7 writes them. A table without
//! keys is not in the list.

/// The keys of that table.
pub fn of(table: &str) -> &'static [&'static str] {
    let place = KEYS.binary_search_by_key(&table, |(name, _)| *name).ok();
    place.and_then(|place| KEYS.get(place)).map_or(&[], |(_, keys)| *keys)
}

/// By table, in order of name.
const KEYS: &[(&str, &[&str])] = &[
    ("accounts", &["UNIQUE KEY `ACCOUNT` (`USER`,`HOST`)"]),
    ("cond_instances", &["PRIMARY KEY (`OBJECT_INSTANCE_BEGIN`)", "KEY `NAME` (`NAME`)"]),
    (
        "data_lock_waits",
        &[
            "PRIMARY KEY (`REQUESTING_ENGINE_LOCK_ID`,`BLOCKING_ENGINE_LOCK_ID`,`ENGINE`)",
            "KEY `REQUESTING_ENGINE_LOCK_ID` (`REQUESTING_ENGINE_LOCK_ID`,`ENGINE`)",
            "KEY `BLOCKING_ENGINE_LOCK_ID` (`BLOCKING_ENGINE_LOCK_ID`,`ENGINE`)",
            "KEY `REQUESTING_ENGINE_TRANSACTION_ID` (`REQUESTING_ENGINE_TRANSACTION_ID`,`ENGINE`)",
            "KEY `BLOCKING_ENGINE_TRANSACTION_ID` (`BLOCKING_ENGINE_TRANSACTION_ID`,`ENGINE`)",
            "KEY `REQUESTING_THREAD_ID` (`REQUESTING_THREAD_ID`,`REQUESTING_EVENT_ID`)",
            "KEY `BLOCKING_THREAD_ID` (`BLOCKING_THREAD_ID`,`BLOCKING_EVENT_ID`)",
        ],
    ),
    (
        "data_locks",
        &[
            "PRIMARY KEY (`ENGINE_LOCK_ID`,`ENGINE`)",
            "KEY `ENGINE_TRANSACTION_ID` (`ENGINE_TRANSACTION_ID`,`ENGINE`)",
            "KEY `THREAD_ID` (`THREAD_ID`,`EVENT_ID`)",
            "KEY `OBJECT_SCHEMA` (`OBJECT_SCHEMA`,`OBJECT_NAME`,`PARTITION_NAME`,`SUBPARTITION_NAME`)",
        ],
    ),
    (
        "error_log",
        &[
            "PRIMARY KEY (`LOGGED`)",
            "KEY `THREAD_ID` (`THREAD_ID`)",
            "KEY `PRIO` (`PRIO`)",
            "KEY `ERROR_CODE` (`ERROR_CODE`)",
            "KEY `SUBSYSTEM` (`SUBSYSTEM`)",
        ],
    ),
    ("events_errors_summary_by_account_by_error", &["UNIQUE KEY `ACCOUNT` (`USER`,`HOST`,`ERROR_NUMBER`)"]),
    ("events_errors_summary_by_host_by_error", &["UNIQUE KEY `HOST` (`HOST`,`ERROR_NUMBER`)"]),
    ("events_errors_summary_by_thread_by_error", &["UNIQUE KEY `THREAD_ID` (`THREAD_ID`,`ERROR_NUMBER`)"]),
    ("events_errors_summary_by_user_by_error", &["UNIQUE KEY `USER` (`USER`,`ERROR_NUMBER`)"]),
    ("events_errors_summary_global_by_error", &["UNIQUE KEY `ERROR_NUMBER` (`ERROR_NUMBER`)"]),
    ("events_stages_current", &["PRIMARY KEY (`THREAD_ID`,`EVENT_ID`)"]),
    ("events_stages_history", &["PRIMARY KEY (`THREAD_ID`,`EVENT_ID`)"]),
    (
        "events_stages_summary_by_account_by_event_name",
        &["UNIQUE KEY `ACCOUNT` (`USER`,`HOST`,`EVENT_NAME`)"],
    ),
    ("events_stages_summary_by_host_by_event_name", &["UNIQUE KEY `HOST` (`HOST`,`EVENT_NAME`)"]),
    ("events_stages_summary_by_thread_by_event_name", &["PRIMARY KEY (`THREAD_ID`,`EVENT_NAME`)"]),
    ("events_stages_summary_by_user_by_event_name", &["UNIQUE KEY `USER` (`USER`,`EVENT_NAME`)"]),
    ("events_stages_summary_global_by_event_name", &["PRIMARY KEY (`EVENT_NAME`)"]),
    ("events_statements_current", &["PRIMARY KEY (`THREAD_ID`,`EVENT_ID`)"]),
    (
        "events_statements_histogram_by_digest",
        &["UNIQUE KEY `SCHEMA_NAME` (`SCHEMA_NAME`,`DIGEST`,`BUCKET_NUMBER`)"],
    ),
    ("events_statements_histogram_global", &["PRIMARY KEY (`BUCKET_NUMBER`)"]),
    ("events_statements_history", &["PRIMARY KEY (`THREAD_ID`,`EVENT_ID`)"]),
    (
        "events_statements_summary_by_account_by_event_name",
        &["UNIQUE KEY `ACCOUNT` (`USER`,`HOST`,`EVENT_NAME`)"],
    ),
    ("events_statements_summary_by_digest", &["UNIQUE KEY `SCHEMA_NAME` (`SCHEMA_NAME`,`DIGEST`)"]),
    ("events_statements_summary_by_host_by_event_name", &["UNIQUE KEY `HOST` (`HOST`,`EVENT_NAME`)"]),
    ("events_statements_summary_by_program", &["PRIMARY KEY (`OBJECT_TYPE`,`OBJECT_SCHEMA`,`OBJECT_NAME`)"]),
    ("events_statements_summary_by_thread_by_event_name", &["PRIMARY KEY (`THREAD_ID`,`EVENT_NAME`)"]),
    ("events_statements_summary_by_user_by_event_name", &["UNIQUE KEY `USER` (`USER`,`EVENT_NAME`)"]),
    ("events_statements_summary_global_by_event_name", &["PRIMARY KEY (`EVENT_NAME`)"]),
    ("events_transactions_current", &["PRIMARY KEY (`THREAD_ID`,`EVENT_ID`)"]),
    ("events_transactions_history", &["PRIMARY KEY (`THREAD_ID`,`EVENT_ID`)"]),
    (
        "events_transactions_summary_by_account_by_event_name",
        &["UNIQUE KEY `ACCOUNT` (`USER`,`HOST`,`EVENT_NAME`)"],
    ),
    ("events_transactions_summary_by_host_by_event_name", &["UNIQUE KEY `HOST` (`HOST`,`EVENT_NAME`)"]),
    ("events_transactions_summary_by_thread_by_event_name", &["PRIMARY KEY (`THREAD_ID`,`EVENT_NAME`)"]),
    ("events_transactions_summary_by_user_by_event_name", &["UNIQUE KEY `USER` (`USER`,`EVENT_NAME`)"]),
    ("events_transactions_summary_global_by_event_name", &["PRIMARY KEY (`EVENT_NAME`)"]),
    ("events_waits_current", &["PRIMARY KEY (`THREAD_ID`,`EVENT_ID`)"]),
    ("events_waits_history", &["PRIMARY KEY (`THREAD_ID`,`EVENT_ID`)"]),
    ("events_waits_summary_by_account_by_event_name", &["UNIQUE KEY `ACCOUNT` (`USER`,`HOST`,`EVENT_NAME`)"]),
    ("events_waits_summary_by_host_by_event_name", &["UNIQUE KEY `HOST` (`HOST`,`EVENT_NAME`)"]),
    (
        "events_waits_summary_by_instance",
        &["PRIMARY KEY (`OBJECT_INSTANCE_BEGIN`)", "KEY `EVENT_NAME` (`EVENT_NAME`)"],
    ),
    ("events_waits_summary_by_thread_by_event_name", &["PRIMARY KEY (`THREAD_ID`,`EVENT_NAME`)"]),
    ("events_waits_summary_by_user_by_event_name", &["UNIQUE KEY `USER` (`USER`,`EVENT_NAME`)"]),
    ("events_waits_summary_global_by_event_name", &["PRIMARY KEY (`EVENT_NAME`)"]),
    ("file_instances", &["PRIMARY KEY (`FILE_NAME`)", "KEY `EVENT_NAME` (`EVENT_NAME`)"]),
    ("file_summary_by_event_name", &["PRIMARY KEY (`EVENT_NAME`)"]),
    (
        "file_summary_by_instance",
        &[
            "PRIMARY KEY (`OBJECT_INSTANCE_BEGIN`)",
            "KEY `FILE_NAME` (`FILE_NAME`)",
            "KEY `EVENT_NAME` (`EVENT_NAME`)",
        ],
    ),
    ("global_status", &["PRIMARY KEY (`VARIABLE_NAME`)"]),
    ("global_variables", &["PRIMARY KEY (`VARIABLE_NAME`)"]),
    ("host_cache", &["PRIMARY KEY (`IP`)", "KEY `HOST` (`HOST`)"]),
    ("hosts", &["UNIQUE KEY `HOST` (`HOST`)"]),
    ("memory_summary_by_account_by_event_name", &["UNIQUE KEY `ACCOUNT` (`USER`,`HOST`,`EVENT_NAME`)"]),
    ("memory_summary_by_host_by_event_name", &["UNIQUE KEY `HOST` (`HOST`,`EVENT_NAME`)"]),
    ("memory_summary_by_thread_by_event_name", &["PRIMARY KEY (`THREAD_ID`,`EVENT_NAME`)"]),
    ("memory_summary_by_user_by_event_name", &["UNIQUE KEY `USER` (`USER`,`EVENT_NAME`)"]),
    ("memory_summary_global_by_event_name", &["PRIMARY KEY (`EVENT_NAME`)"]),
    (
        "metadata_locks",
        &[
            "PRIMARY KEY (`OBJECT_INSTANCE_BEGIN`)",
            "KEY `OBJECT_TYPE` (`OBJECT_TYPE`,`OBJECT_SCHEMA`,`OBJECT_NAME`,`COLUMN_NAME`)",
            "KEY `OWNER_THREAD_ID` (`OWNER_THREAD_ID`,`OWNER_EVENT_ID`)",
        ],
    ),
    (
        "mutex_instances",
        &[
            "PRIMARY KEY (`OBJECT_INSTANCE_BEGIN`)",
            "KEY `NAME` (`NAME`)",
            "KEY `LOCKED_BY_THREAD_ID` (`LOCKED_BY_THREAD_ID`)",
        ],
    ),
    (
        "objects_summary_global_by_type",
        &["UNIQUE KEY `OBJECT` (`OBJECT_TYPE`,`OBJECT_SCHEMA`,`OBJECT_NAME`)"],
    ),
    ("persisted_variables", &["PRIMARY KEY (`VARIABLE_NAME`)"]),
    (
        "prepared_statements_instances",
        &[
            "PRIMARY KEY (`OBJECT_INSTANCE_BEGIN`)",
            "UNIQUE KEY `OWNER_THREAD_ID` (`OWNER_THREAD_ID`,`OWNER_EVENT_ID`)",
            "KEY `STATEMENT_ID` (`STATEMENT_ID`)",
            "KEY `STATEMENT_NAME` (`STATEMENT_NAME`)",
            "KEY `OWNER_OBJECT_TYPE` (`OWNER_OBJECT_TYPE`,`OWNER_OBJECT_SCHEMA`,`OWNER_OBJECT_NAME`)",
        ],
    ),
    ("processlist", &["PRIMARY KEY (`ID`)"]),
    ("replication_applier_configuration", &["PRIMARY KEY (`CHANNEL_NAME`)"]),
    ("replication_applier_status", &["PRIMARY KEY (`CHANNEL_NAME`)"]),
    (
        "replication_applier_status_by_coordinator",
        &["PRIMARY KEY (`CHANNEL_NAME`)", "KEY `THREAD_ID` (`THREAD_ID`)"],
    ),
    (
        "replication_applier_status_by_worker",
        &["PRIMARY KEY (`CHANNEL_NAME`,`WORKER_ID`)", "KEY `THREAD_ID` (`THREAD_ID`)"],
    ),
    ("replication_connection_configuration", &["PRIMARY KEY (`CHANNEL_NAME`)"]),
    ("replication_connection_status", &["PRIMARY KEY (`CHANNEL_NAME`)", "KEY `THREAD_ID` (`THREAD_ID`)"]),
    (
        "rwlock_instances",
        &[
            "PRIMARY KEY (`OBJECT_INSTANCE_BEGIN`)",
            "KEY `NAME` (`NAME`)",
            "KEY `WRITE_LOCKED_BY_THREAD_ID` (`WRITE_LOCKED_BY_THREAD_ID`)",
        ],
    ),
    ("session_account_connect_attrs", &["PRIMARY KEY (`PROCESSLIST_ID`,`ATTR_NAME`)"]),
    ("session_connect_attrs", &["PRIMARY KEY (`PROCESSLIST_ID`,`ATTR_NAME`)"]),
    ("session_status", &["PRIMARY KEY (`VARIABLE_NAME`)"]),
    ("session_variables", &["PRIMARY KEY (`VARIABLE_NAME`)"]),
    ("setup_actors", &["PRIMARY KEY (`HOST`,`USER`,`ROLE`)"]),
    ("setup_consumers", &["PRIMARY KEY (`NAME`)"]),
    ("setup_instruments", &["PRIMARY KEY (`NAME`)"]),
    ("setup_meters", &["PRIMARY KEY (`NAME`)"]),
    ("setup_metrics", &["PRIMARY KEY (`NAME`)"]),
    ("setup_objects", &["UNIQUE KEY `OBJECT` (`OBJECT_TYPE`,`OBJECT_SCHEMA`,`OBJECT_NAME`)"]),
    ("setup_threads", &["PRIMARY KEY (`NAME`)"]),
    (
        "socket_instances",
        &[
            "PRIMARY KEY (`OBJECT_INSTANCE_BEGIN`)",
            "KEY `THREAD_ID` (`THREAD_ID`)",
            "KEY `SOCKET_ID` (`SOCKET_ID`)",
            "KEY `IP` (`IP`,`PORT`)",
        ],
    ),
    ("socket_summary_by_event_name", &["PRIMARY KEY (`EVENT_NAME`)"]),
    (
        "socket_summary_by_instance",
        &["PRIMARY KEY (`OBJECT_INSTANCE_BEGIN`)", "KEY `EVENT_NAME` (`EVENT_NAME`)"],
    ),
    ("status_by_account", &["UNIQUE KEY `ACCOUNT` (`USER`,`HOST`,`VARIABLE_NAME`)"]),
    ("status_by_host", &["UNIQUE KEY `HOST` (`HOST`,`VARIABLE_NAME`)"]),
    ("status_by_thread", &["PRIMARY KEY (`THREAD_ID`,`VARIABLE_NAME`)"]),
    ("status_by_user", &["UNIQUE KEY `USER` (`USER`,`VARIABLE_NAME`)"]),
    (
        "table_handles",
        &[
            "PRIMARY KEY (`OBJECT_INSTANCE_BEGIN`)",
            "KEY `OBJECT_TYPE` (`OBJECT_TYPE`,`OBJECT_SCHEMA`,`OBJECT_NAME`)",
            "KEY `OWNER_THREAD_ID` (`OWNER_THREAD_ID`,`OWNER_EVENT_ID`)",
        ],
    ),
    (
        "table_io_waits_summary_by_index_usage",
        &["UNIQUE KEY `OBJECT` (`OBJECT_TYPE`,`OBJECT_SCHEMA`,`OBJECT_NAME`,`INDEX_NAME`)"],
    ),
    (
        "table_io_waits_summary_by_table",
        &["UNIQUE KEY `OBJECT` (`OBJECT_TYPE`,`OBJECT_SCHEMA`,`OBJECT_NAME`)"],
    ),
    (
        "table_lock_waits_summary_by_table",
        &["UNIQUE KEY `OBJECT` (`OBJECT_TYPE`,`OBJECT_SCHEMA`,`OBJECT_NAME`)"],
    ),
    ("temporary_account_locks", &["UNIQUE KEY `ACCOUNT` (`USER`,`HOST`)"]),
    (
        "threads",
        &[
            "PRIMARY KEY (`THREAD_ID`)",
            "KEY `PROCESSLIST_ID` (`PROCESSLIST_ID`)",
            "KEY `THREAD_OS_ID` (`THREAD_OS_ID`)",
            "KEY `NAME` (`NAME`)",
            "KEY `PROCESSLIST_ACCOUNT` (`PROCESSLIST_USER`,`PROCESSLIST_HOST`)",
            "KEY `PROCESSLIST_HOST` (`PROCESSLIST_HOST`)",
            "KEY `RESOURCE_GROUP` (`RESOURCE_GROUP`)",
        ],
    ),
    ("user_defined_functions", &["PRIMARY KEY (`UDF_NAME`)"]),
    ("user_variables_by_thread", &["PRIMARY KEY (`THREAD_ID`,`VARIABLE_NAME`)"]),
    ("users", &["UNIQUE KEY `USER` (`USER`)"]),
    ("variables_by_thread", &["PRIMARY KEY (`THREAD_ID`,`VARIABLE_NAME`)"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_found_by_name() {
        assert!(KEYS.is_sorted_by_key(|(name, _)| *name));
        assert_eq!(of("global_status"), ["PRIMARY KEY (`VARIABLE_NAME`)"]);
        assert_eq!(
            of("setup_objects"),
            ["UNIQUE KEY `OBJECT` (`OBJECT_TYPE`,`OBJECT_SCHEMA`,`OBJECT_NAME`)"]
        );
        assert!(of("log_status").is_empty() && of("nosuch").is_empty());
    }
}
