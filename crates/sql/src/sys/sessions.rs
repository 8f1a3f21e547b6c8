//! What each session does.

use palisade_schema::{View, view};

pub(super) static VIEWS: &[&View] = &[&processlist::VIEW, &session::VIEW, &session_ssl_status::VIEW];

view! {
    /// What each session does and has done.
    mod processlist = "sys"."processlist" twin {
        thd_id: bigint_unsigned not null => "t.THREAD_ID",
        conn_id: bigint_unsigned => "t.PROCESSLIST_ID",
        user: varchar(288) in utf8mb4_0900_ai_ci => "IF(t.PROCESSLIST_ID IS NULL, REPLACE(t.NAME, _utf8mb4'thread/', _utf8mb4''), CONCAT(t.PROCESSLIST_USER, _utf8mb4'@', CONVERT(t.PROCESSLIST_HOST USING utf8mb4)))",
        db: varchar(64) in utf8mb4_0900_ai_ci => "t.PROCESSLIST_DB",
        command: varchar(16) in utf8mb4_0900_ai_ci => "t.PROCESSLIST_COMMAND",
        state: varchar(64) in utf8mb4_0900_ai_ci => "t.PROCESSLIST_STATE",
        time: bigint => "t.PROCESSLIST_TIME",
        current_statement: longtext in utf8mb4_0900_ai_ci => statement "t.PROCESSLIST_INFO",
        execution_engine: enum("PRIMARY", "SECONDARY") in utf8mb4_0900_ai_ci => "t.EXECUTION_ENGINE",
        statement_latency: varchar(11) | bigint_unsigned => time "IF(s.END_EVENT_ID IS NULL, s.TIMER_WAIT, NULL)",
        progress: decimal(26, 2) => "IF(s.END_EVENT_ID IS NULL, ROUND(100 * (g.WORK_COMPLETED / g.WORK_ESTIMATED), 2), NULL)",
        lock_latency: varchar(11) | bigint_unsigned => time "s.LOCK_TIME",
        cpu_latency: varchar(11) | bigint_unsigned => time "s.CPU_TIME",
        rows_examined: bigint_unsigned => "s.ROWS_EXAMINED",
        rows_sent: bigint_unsigned => "s.ROWS_SENT",
        rows_affected: bigint_unsigned => "s.ROWS_AFFECTED",
        tmp_tables: bigint_unsigned => "s.CREATED_TMP_TABLES",
        tmp_disk_tables: bigint_unsigned => "s.CREATED_TMP_DISK_TABLES",
        full_scan: varchar(3) in utf8mb4_0900_ai_ci not null default "" => "IF(s.NO_INDEX_USED > 0 OR s.NO_GOOD_INDEX_USED > 0, _utf8mb4'YES', _utf8mb4'NO')",
        last_statement: longtext in utf8mb4_0900_ai_ci => statement "IF(s.END_EVENT_ID IS NULL, NULL, s.SQL_TEXT)",
        last_statement_latency: varchar(11) | bigint_unsigned => time "IF(s.END_EVENT_ID IS NULL, NULL, s.TIMER_WAIT)",
        current_memory: varchar(11) | decimal(41, 0) => bytes "m.current_allocated",
        last_wait: varchar(128) in utf8mb4_0900_ai_ci => "w.EVENT_NAME",
        last_wait_latency: varchar(13) in utf8mb4_0900_ai_ci | varchar(20) in utf8mb4_0900_ai_ci => time "w.TIMER_WAIT",
        source: varchar(64) in utf8mb4_0900_ai_ci => "w.SOURCE",
        trx_latency: varchar(11) | bigint_unsigned => time "x.TIMER_WAIT",
        trx_state: enum("ACTIVE", "COMMITTED", "ROLLED BACK") in utf8mb4_0900_ai_ci => "x.STATE",
        trx_autocommit: enum("YES", "NO") in utf8mb4_0900_ai_ci => "x.AUTOCOMMIT",
        pid: varchar(1024) in utf8mb4_bin => "p.ATTR_VALUE",
        program_name: varchar(1024) in utf8mb4_bin => "n.ATTR_VALUE",
    } from "performance_schema.threads t LEFT JOIN performance_schema.events_statements_current s ON s.THREAD_ID \
        = t.THREAD_ID LEFT JOIN performance_schema.events_stages_current g ON g.THREAD_ID = t.THREAD_ID LEFT JOIN performance_schema.events_waits_current w ON w.THREAD_ID = t.THREAD_ID LEFT \
        JOIN performance_schema.events_transactions_current x ON x.THREAD_ID = t.THREAD_ID LEFT \
        JOIN sys.x$memory_by_thread_by_current_bytes m ON m.thread_id = t.THREAD_ID LEFT JOIN \
        performance_schema.session_connect_attrs p ON p.PROCESSLIST_ID = t.PROCESSLIST_ID AND p.ATTR_NAME = \
        _utf8mb4'_pid' LEFT JOIN performance_schema.session_connect_attrs n ON n.PROCESSLIST_ID = \
        t.PROCESSLIST_ID AND n.ATTR_NAME = _utf8mb4'program_name' ORDER BY t.PROCESSLIST_TIME DESC, \
        IF(s.END_EVENT_ID IS NULL, 0, 1)"
}

view! {
    /// The same of clients' sessions alone.
    mod session = "sys"."session" twin {
        thd_id: bigint_unsigned not null => "t.THREAD_ID",
        conn_id: bigint_unsigned => "t.PROCESSLIST_ID",
        user: varchar(288) in utf8mb4_0900_ai_ci => "IF(t.PROCESSLIST_ID IS NULL, REPLACE(t.NAME, _utf8mb4'thread/', _utf8mb4''), CONCAT(t.PROCESSLIST_USER, _utf8mb4'@', CONVERT(t.PROCESSLIST_HOST USING utf8mb4)))",
        db: varchar(64) in utf8mb4_0900_ai_ci => "t.PROCESSLIST_DB",
        command: varchar(16) in utf8mb4_0900_ai_ci => "t.PROCESSLIST_COMMAND",
        state: varchar(64) in utf8mb4_0900_ai_ci => "t.PROCESSLIST_STATE",
        time: bigint => "t.PROCESSLIST_TIME",
        current_statement: longtext in utf8mb4_0900_ai_ci => statement "t.PROCESSLIST_INFO",
        execution_engine: enum("PRIMARY", "SECONDARY") in utf8mb4_0900_ai_ci => "t.EXECUTION_ENGINE",
        statement_latency: varchar(11) | bigint_unsigned => time "IF(s.END_EVENT_ID IS NULL, s.TIMER_WAIT, NULL)",
        progress: decimal(26, 2) => "IF(s.END_EVENT_ID IS NULL, ROUND(100 * (g.WORK_COMPLETED / g.WORK_ESTIMATED), 2), NULL)",
        lock_latency: varchar(11) | bigint_unsigned => time "s.LOCK_TIME",
        cpu_latency: varchar(11) | bigint_unsigned => time "s.CPU_TIME",
        rows_examined: bigint_unsigned => "s.ROWS_EXAMINED",
        rows_sent: bigint_unsigned => "s.ROWS_SENT",
        rows_affected: bigint_unsigned => "s.ROWS_AFFECTED",
        tmp_tables: bigint_unsigned => "s.CREATED_TMP_TABLES",
        tmp_disk_tables: bigint_unsigned => "s.CREATED_TMP_DISK_TABLES",
        full_scan: varchar(3) in utf8mb4_0900_ai_ci not null default "" => "IF(s.NO_INDEX_USED > 0 OR s.NO_GOOD_INDEX_USED > 0, _utf8mb4'YES', _utf8mb4'NO')",
        last_statement: longtext in utf8mb4_0900_ai_ci => statement "IF(s.END_EVENT_ID IS NULL, NULL, s.SQL_TEXT)",
        last_statement_latency: varchar(11) | bigint_unsigned => time "IF(s.END_EVENT_ID IS NULL, NULL, s.TIMER_WAIT)",
        current_memory: varchar(11) | decimal(41, 0) => bytes "m.current_allocated",
        last_wait: varchar(128) in utf8mb4_0900_ai_ci => "w.EVENT_NAME",
        last_wait_latency: varchar(13) in utf8mb4_0900_ai_ci | varchar(20) in utf8mb4_0900_ai_ci => time "w.TIMER_WAIT",
        source: varchar(64) in utf8mb4_0900_ai_ci => "w.SOURCE",
        trx_latency: varchar(11) | bigint_unsigned => time "x.TIMER_WAIT",
        trx_state: enum("ACTIVE", "COMMITTED", "ROLLED BACK") in utf8mb4_0900_ai_ci => "x.STATE",
        trx_autocommit: enum("YES", "NO") in utf8mb4_0900_ai_ci => "x.AUTOCOMMIT",
        pid: varchar(1024) in utf8mb4_bin => "p.ATTR_VALUE",
        program_name: varchar(1024) in utf8mb4_bin => "n.ATTR_VALUE",
    } from "performance_schema.threads t LEFT JOIN performance_schema.events_statements_current s ON s.THREAD_ID \
        = t.THREAD_ID LEFT JOIN performance_schema.events_stages_current g ON g.THREAD_ID = t.THREAD_ID LEFT JOIN performance_schema.events_waits_current w ON w.THREAD_ID = t.THREAD_ID LEFT \
        JOIN performance_schema.events_transactions_current x ON x.THREAD_ID = t.THREAD_ID LEFT \
        JOIN sys.x$memory_by_thread_by_current_bytes m ON m.thread_id = t.THREAD_ID LEFT JOIN \
        performance_schema.session_connect_attrs p ON p.PROCESSLIST_ID = t.PROCESSLIST_ID AND p.ATTR_NAME = \
        _utf8mb4'_pid' LEFT JOIN performance_schema.session_connect_attrs n ON n.PROCESSLIST_ID = \
        t.PROCESSLIST_ID AND n.ATTR_NAME = _utf8mb4'program_name' WHERE t.PROCESSLIST_ID IS NOT NULL AND \
        t.PROCESSLIST_COMMAND <> _utf8mb4'Daemon' ORDER BY t.PROCESSLIST_TIME DESC, IF(s.END_EVENT_ID IS \
        NULL, 0, 1)"
}

view! {
    /// What TLS sessions are made with.
    mod session_ssl_status = "sys"."session_ssl_status" alone {
        thread_id: bigint_unsigned not null => "v.THREAD_ID",
        ssl_version: varchar(1024) in utf8mb4_0900_ai_ci => "v.VARIABLE_VALUE",
        ssl_cipher: varchar(1024) in utf8mb4_0900_ai_ci => "c.VARIABLE_VALUE",
        ssl_sessions_reused: varchar(1024) in utf8mb4_0900_ai_ci => "r.VARIABLE_VALUE",
    } from "performance_schema.status_by_thread v LEFT JOIN performance_schema.status_by_thread c ON c.THREAD_ID \
        = v.THREAD_ID AND c.VARIABLE_NAME = _utf8mb4'Ssl_cipher' LEFT JOIN \
        performance_schema.status_by_thread r ON r.THREAD_ID = v.THREAD_ID AND r.VARIABLE_NAME = \
        _utf8mb4'Ssl_sessions_reused' WHERE v.VARIABLE_NAME = _utf8mb4'Ssl_version'"
}
