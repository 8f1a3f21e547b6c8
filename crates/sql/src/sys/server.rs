//! The server as a whole.

use palisade_catalog::Value;
use palisade_expr::func::sys::SETTINGS;
use palisade_schema::{Definition, Rows, View, Wanted, view, virtual_table};
use palisade_session::virtual_tables::RowSource;

use crate::show::information_schema::FromDictionary;

pub(super) static VIEWS: &[&View] = &[&version::VIEW, &metrics::VIEW, &ps_check_lost_instrumentation::VIEW];

view! {
    /// The versions.
    mod version = "sys"."version" alone {
        sys_version: varchar(5) in utf8mb4_0900_ai_ci not null default "" => "_utf8mb4'2.1.3'",
        mysql_version: varchar(7) not null default "" => "VERSION()",
    } from "DUAL"
}

view! {
    /// All counters, of SHOW STATUS and of INNODB_METRICS, and two moments.
    mod metrics = "sys"."metrics" alone {
        Variable_name: varchar(193) in utf8mb4_0900_ai_ci not null default "" => "m.name",
        Variable_value: text in utf8mb4_0900_ai_ci => "m.value",
        Type: varchar(210) not null default "" => "m.kind",
        Enabled: varchar(7) in utf8mb4_0900_ai_ci not null default "" => "m.enabled",
    } from "(SELECT LOWER(VARIABLE_NAME) AS name, VARIABLE_VALUE AS value, _utf8mb4'Global Status' AS kind, \
        _utf8mb4'YES' AS enabled FROM performance_schema.global_status UNION ALL SELECT NAME, COUNT, \
        CONCAT(_utf8mb4'InnoDB Metrics - ', SUBSYSTEM), IF(STATUS = _utf8mb4'enabled', _utf8mb4'YES', \
        _utf8mb4'NO') FROM information_schema.INNODB_METRICS WHERE NAME NOT IN (_utf8mb4'buffer_data_reads', \
        _utf8mb4'buffer_data_written', _utf8mb4'buffer_pages_created', _utf8mb4'buffer_pages_read', \
        _utf8mb4'buffer_pages_written', _utf8mb4'buffer_pool_bytes_data', _utf8mb4'buffer_pool_bytes_dirty', \
        _utf8mb4'buffer_pool_pages_data', _utf8mb4'buffer_pool_pages_dirty', \
        _utf8mb4'buffer_pool_pages_free', _utf8mb4'buffer_pool_pages_misc', \
        _utf8mb4'buffer_pool_pages_total', _utf8mb4'buffer_pool_reads', _utf8mb4'buffer_pool_read_ahead', \
        _utf8mb4'buffer_pool_read_ahead_evicted', _utf8mb4'buffer_pool_read_requests', \
        _utf8mb4'buffer_pool_wait_free', _utf8mb4'buffer_pool_write_requests', \
        _utf8mb4'file_num_open_files', _utf8mb4'lock_row_lock_time', _utf8mb4'lock_row_lock_time_avg', \
        _utf8mb4'lock_row_lock_time_max', _utf8mb4'lock_row_lock_waits', _utf8mb4'log_waits', \
        _utf8mb4'log_writes', _utf8mb4'log_write_requests', _utf8mb4'os_log_bytes_written', \
        _utf8mb4'os_log_fsyncs', _utf8mb4'os_log_pending_fsyncs', _utf8mb4'os_log_pending_writes') UNION ALL \
        SELECT _utf8mb4'memory_current_allocated', SUM(CURRENT_NUMBER_OF_BYTES_USED), _utf8mb4'Performance \
        Schema', _utf8mb4'YES' FROM performance_schema.memory_summary_global_by_event_name UNION ALL SELECT \
        _utf8mb4'memory_total_allocated', SUM(SUM_NUMBER_OF_BYTES_ALLOC), _utf8mb4'Performance Schema', \
        _utf8mb4'YES' FROM performance_schema.memory_summary_global_by_event_name UNION ALL SELECT \
        _utf8mb4'NOW()', NOW(3), _utf8mb4'System Time', _utf8mb4'YES' UNION ALL SELECT \
        _utf8mb4'UNIX_TIMESTAMP()', ROUND(UNIX_TIMESTAMP(NOW(3)), 3), _utf8mb4'System Time', _utf8mb4'YES') \
        m ORDER BY m.kind, m.name"
}

view! {
    /// What performance_schema had no room for.
    mod ps_check_lost_instrumentation = "sys"."ps_check_lost_instrumentation" alone {
        variable_name: varchar(64) in utf8mb4_0900_ai_ci not null => "s.VARIABLE_NAME",
        variable_value: varchar(1024) in utf8mb4_0900_ai_ci => "s.VARIABLE_VALUE",
    } from "performance_schema.global_status s WHERE IF(s.VARIABLE_NAME LIKE _utf8mb4'perf%lost', \
        s.VARIABLE_VALUE, 0) > 0"
}

/// The table of the schema.
pub(crate) static TABLES: &[Definition<FromDictionary>] =
    &[Definition::<FromDictionary>::new(&config::DECL, settings)];

/// A setting of the views and functions of sys, and its value.
type Setting = (&'static str, Option<&'static str>);

virtual_table! {
    mod config = "sys"."sys_config" of |it: Setting| {
        variable: varchar(128) in utf8mb4_0900_ai_ci not null key PRI => Value::bytes(it.0),
        value: varchar(128) in utf8mb4_0900_ai_ci => it.1.map_or(Value::Null, Value::bytes),
        set_time: timestamp => Value::Null,
        set_by: varchar(128) in utf8mb4_0900_ai_ci => Value::Null,
    }
}

fn settings(_: &RowSource<'_>, wanted: &Wanted) -> Rows {
    let wanted = wanted.clone();
    Box::new(SETTINGS.into_iter().map(move |setting| config::row(&setting, &wanted)))
}
