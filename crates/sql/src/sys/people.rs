//! What the sessions of hosts and users do.

use palisade_schema::{View, view};

pub(super) static VIEWS: &[&View] = &[
    &host_summary::VIEW,
    &host_summary_by_file_io::VIEW,
    &host_summary_by_file_io_type::VIEW,
    &host_summary_by_stages::VIEW,
    &host_summary_by_statement_latency::VIEW,
    &host_summary_by_statement_type::VIEW,
    &user_summary::VIEW,
    &user_summary_by_file_io::VIEW,
    &user_summary_by_file_io_type::VIEW,
    &user_summary_by_stages::VIEW,
    &user_summary_by_statement_latency::VIEW,
    &user_summary_by_statement_type::VIEW,
];

view! {
    /// What the sessions of each host do.
    mod host_summary = "sys"."host_summary" twin {
        host: varchar(255) in ascii_general_ci => "IF(a.HOST IS NULL, _utf8mb4'background', a.HOST)",
        statements: decimal(64, 0) => "SUM(s.total)",
        statement_latency: varchar(11) | decimal(64, 0) => time "SUM(s.total_latency)",
        statement_avg_latency: varchar(11) | decimal(65, 4) => time "IFNULL(SUM(s.total_latency) / NULLIF(SUM(s.total), 0), 0)",
        table_scans: decimal(65, 0) => "SUM(s.full_scans)",
        file_ios: decimal(64, 0) => "IFNULL(SUM(f.ios), 0)",
        file_io_latency: varchar(11) | decimal(64, 0) => time "IFNULL(SUM(f.io_latency), 0)",
        current_connections: decimal(41, 0) => "SUM(a.CURRENT_CONNECTIONS)",
        total_connections: decimal(41, 0) => "SUM(a.TOTAL_CONNECTIONS)",
        unique_users: bigint not null default "0" => "COUNT(DISTINCT a.USER)",
        current_memory: varchar(11) | decimal(63, 0) => bytes "IFNULL(SUM(m.current_allocated), 0)",
        total_memory_allocated: varchar(11) | decimal(64, 0) => bytes "IFNULL(SUM(m.total_allocated), 0)",
    } from "performance_schema.accounts a JOIN sys.x$host_summary_by_statement_latency s ON s.host = IF(a.HOST \
        IS NULL, _utf8mb4'background', a.HOST) LEFT JOIN sys.x$host_summary_by_file_io f ON f.host = s.host \
        LEFT JOIN sys.x$memory_by_host_by_current_bytes m ON m.host = s.host WHERE a.HOST IS NOT NULL GROUP \
        BY IF(a.HOST IS NULL, _utf8mb4'background', a.HOST) ORDER BY SUM(s.total_latency) DESC"
}

view! {
    /// Reads and writes of each host.
    mod host_summary_by_file_io = "sys"."host_summary_by_file_io" twin {
        host: varchar(255) in ascii_general_ci => "IF(w.HOST IS NULL, _utf8mb4'background', w.HOST)",
        ios: decimal(42, 0) => "SUM(w.COUNT_STAR)",
        io_latency: varchar(11) | decimal(42, 0) => time "SUM(w.SUM_TIMER_WAIT)",
    } from "performance_schema.events_waits_summary_by_host_by_event_name w WHERE w.EVENT_NAME LIKE \
        _utf8mb4'wait/io/file/%' GROUP BY IF(w.HOST IS NULL, _utf8mb4'background', w.HOST) ORDER BY \
        SUM(w.SUM_TIMER_WAIT) DESC"
}

view! {
    /// The same by kind of file.
    mod host_summary_by_file_io_type = "sys"."host_summary_by_file_io_type" twin {
        host: varchar(255) in ascii_general_ci => "IF(w.HOST IS NULL, _utf8mb4'background', w.HOST)",
        event_name: varchar(128) in utf8mb4_0900_ai_ci not null => "w.EVENT_NAME",
        total: bigint_unsigned not null => "w.COUNT_STAR",
        total_latency: varchar(11) | bigint_unsigned not null => time "w.SUM_TIMER_WAIT",
        max_latency: varchar(11) | bigint_unsigned not null => time "w.MAX_TIMER_WAIT",
    } from "performance_schema.events_waits_summary_by_host_by_event_name w WHERE w.EVENT_NAME LIKE \
        _utf8mb4'wait/io/file/%' AND w.COUNT_STAR > 0 ORDER BY IF(w.HOST IS NULL, _utf8mb4'background', \
        w.HOST), w.SUM_TIMER_WAIT DESC"
}

view! {
    /// The stages of the statements of each host.
    mod host_summary_by_stages = "sys"."host_summary_by_stages" twin {
        host: varchar(255) in ascii_general_ci => "IF(w.HOST IS NULL, _utf8mb4'background', w.HOST)",
        event_name: varchar(128) in utf8mb4_0900_ai_ci not null => "w.EVENT_NAME",
        total: bigint_unsigned not null => "w.COUNT_STAR",
        total_latency: varchar(11) | bigint_unsigned not null => time "w.SUM_TIMER_WAIT",
        avg_latency: varchar(11) | bigint_unsigned not null => time "w.AVG_TIMER_WAIT",
    } from "performance_schema.events_stages_summary_by_host_by_event_name w WHERE w.SUM_TIMER_WAIT <> 0 ORDER BY \
        IF(w.HOST IS NULL, _utf8mb4'background', w.HOST), w.SUM_TIMER_WAIT DESC"
}

view! {
    /// The statements of each host, together.
    mod host_summary_by_statement_latency = "sys"."host_summary_by_statement_latency" twin {
        host: varchar(255) in ascii_general_ci => "IF(s.HOST IS NULL, _utf8mb4'background', s.HOST)",
        total: decimal(42, 0) => "SUM(s.COUNT_STAR)",
        total_latency: varchar(11) | decimal(42, 0) => time "SUM(s.SUM_TIMER_WAIT)",
        max_latency: varchar(11) | bigint_unsigned => time "MAX(s.MAX_TIMER_WAIT)",
        lock_latency: varchar(11) | decimal(42, 0) => time "SUM(s.SUM_LOCK_TIME)",
        cpu_latency: varchar(11) | decimal(42, 0) => time "SUM(s.SUM_CPU_TIME)",
        rows_sent: decimal(42, 0) => "SUM(s.SUM_ROWS_SENT)",
        rows_examined: decimal(42, 0) => "SUM(s.SUM_ROWS_EXAMINED)",
        rows_affected: decimal(42, 0) => "SUM(s.SUM_ROWS_AFFECTED)",
        full_scans: decimal(43, 0) => "SUM(s.SUM_NO_INDEX_USED) + SUM(s.SUM_NO_GOOD_INDEX_USED)",
    } from "performance_schema.events_statements_summary_by_host_by_event_name s GROUP BY IF(s.HOST IS NULL, \
        _utf8mb4'background', s.HOST) ORDER BY SUM(s.SUM_TIMER_WAIT) DESC"
}

view! {
    /// The same by kind of statement.
    mod host_summary_by_statement_type = "sys"."host_summary_by_statement_type" twin {
        host: varchar(255) in ascii_general_ci => "IF(s.HOST IS NULL, _utf8mb4'background', s.HOST)",
        statement: varchar(128) in utf8mb4_0900_ai_ci => "SUBSTRING_INDEX(s.EVENT_NAME, _utf8mb4'/', -1)",
        total: bigint_unsigned not null => "s.COUNT_STAR",
        total_latency: varchar(11) | bigint_unsigned not null => time "s.SUM_TIMER_WAIT",
        max_latency: varchar(11) | bigint_unsigned not null => time "s.MAX_TIMER_WAIT",
        lock_latency: varchar(11) | bigint_unsigned not null => time "s.SUM_LOCK_TIME",
        cpu_latency: varchar(11) | bigint_unsigned not null => time "s.SUM_CPU_TIME",
        rows_sent: bigint_unsigned not null => "s.SUM_ROWS_SENT",
        rows_examined: bigint_unsigned not null => "s.SUM_ROWS_EXAMINED",
        rows_affected: bigint_unsigned not null => "s.SUM_ROWS_AFFECTED",
        full_scans: bigint_unsigned not null default "0" => "s.SUM_NO_INDEX_USED + s.SUM_NO_GOOD_INDEX_USED",
    } from "performance_schema.events_statements_summary_by_host_by_event_name s WHERE s.SUM_TIMER_WAIT <> 0 \
        ORDER BY IF(s.HOST IS NULL, _utf8mb4'background', s.HOST), s.SUM_TIMER_WAIT DESC"
}

view! {
    /// What the sessions of each user do.
    mod user_summary = "sys"."user_summary" twin {
        user: varchar(32) in utf8mb4_bin => "IF(a.USER IS NULL, _utf8mb4'background', a.USER)",
        statements: decimal(64, 0) => "SUM(s.total)",
        statement_latency: varchar(11) | decimal(64, 0) => time "SUM(s.total_latency)",
        statement_avg_latency: varchar(11) | decimal(65, 4) not null default "0.0000" => time "IFNULL(SUM(s.total_latency) / NULLIF(SUM(s.total), 0), 0)",
        table_scans: decimal(65, 0) => "SUM(s.full_scans)",
        file_ios: decimal(64, 0) => "IFNULL(SUM(f.ios), 0)",
        file_io_latency: varchar(11) | decimal(64, 0) => time "IFNULL(SUM(f.io_latency), 0)",
        current_connections: decimal(41, 0) => "SUM(a.CURRENT_CONNECTIONS)",
        total_connections: decimal(41, 0) => "SUM(a.TOTAL_CONNECTIONS)",
        unique_hosts: bigint not null default "0" => "COUNT(DISTINCT a.HOST)",
        current_memory: varchar(11) | decimal(63, 0) => bytes "IFNULL(SUM(m.current_allocated), 0)",
        total_memory_allocated: varchar(11) | decimal(64, 0) => bytes "IFNULL(SUM(m.total_allocated), 0)",
    } from "performance_schema.accounts a JOIN sys.x$user_summary_by_statement_latency s ON s.user = IF(a.USER \
        IS NULL, _utf8mb4'background', a.USER) LEFT JOIN sys.x$user_summary_by_file_io f ON f.user = s.user \
        LEFT JOIN sys.x$memory_by_user_by_current_bytes m ON m.user = s.user GROUP BY IF(a.USER IS NULL, \
        _utf8mb4'background', a.USER) ORDER BY SUM(s.total_latency) DESC"
}

view! {
    /// Reads and writes of each user.
    mod user_summary_by_file_io = "sys"."user_summary_by_file_io" twin {
        user: varchar(32) in utf8mb4_bin => "IF(w.USER IS NULL, _utf8mb4'background', w.USER)",
        ios: decimal(42, 0) => "SUM(w.COUNT_STAR)",
        io_latency: varchar(11) | decimal(42, 0) => time "SUM(w.SUM_TIMER_WAIT)",
    } from "performance_schema.events_waits_summary_by_user_by_event_name w WHERE w.EVENT_NAME LIKE \
        _utf8mb4'wait/io/file/%' GROUP BY IF(w.USER IS NULL, _utf8mb4'background', w.USER) ORDER BY \
        SUM(w.SUM_TIMER_WAIT) DESC"
}

view! {
    /// The same by kind of file.
    mod user_summary_by_file_io_type = "sys"."user_summary_by_file_io_type" twin {
        user: varchar(32) in utf8mb4_bin => "IF(w.USER IS NULL, _utf8mb4'background', w.USER)",
        event_name: varchar(128) in utf8mb4_0900_ai_ci not null => "w.EVENT_NAME",
        total: bigint_unsigned not null => "w.COUNT_STAR",
        latency: varchar(11) | bigint_unsigned not null => time "w.SUM_TIMER_WAIT",
        max_latency: varchar(11) | bigint_unsigned not null => time "w.MAX_TIMER_WAIT",
    } from "performance_schema.events_waits_summary_by_user_by_event_name w WHERE w.EVENT_NAME LIKE \
        _utf8mb4'wait/io/file/%' AND w.COUNT_STAR > 0 ORDER BY IF(w.USER IS NULL, _utf8mb4'background', \
        w.USER), w.SUM_TIMER_WAIT DESC"
}

view! {
    /// The stages of the statements of each user.
    mod user_summary_by_stages = "sys"."user_summary_by_stages" twin {
        user: varchar(32) in utf8mb4_bin => "IF(w.USER IS NULL, _utf8mb4'background', w.USER)",
        event_name: varchar(128) in utf8mb4_0900_ai_ci not null => "w.EVENT_NAME",
        total: bigint_unsigned not null => "w.COUNT_STAR",
        total_latency: varchar(11) | bigint_unsigned not null => time "w.SUM_TIMER_WAIT",
        avg_latency: varchar(11) | bigint_unsigned not null => time "w.AVG_TIMER_WAIT",
    } from "performance_schema.events_stages_summary_by_user_by_event_name w WHERE w.SUM_TIMER_WAIT <> 0 ORDER BY \
        IF(w.USER IS NULL, _utf8mb4'background', w.USER), w.SUM_TIMER_WAIT DESC"
}

view! {
    /// The statements of each user, together.
    mod user_summary_by_statement_latency = "sys"."user_summary_by_statement_latency" twin {
        user: varchar(32) in utf8mb4_bin => "IF(s.USER IS NULL, _utf8mb4'background', s.USER)",
        total: decimal(42, 0) => "SUM(s.COUNT_STAR)",
        total_latency: varchar(11) | decimal(42, 0) => time "SUM(s.SUM_TIMER_WAIT)",
        max_latency: varchar(11) | decimal(42, 0) => time "MAX(s.MAX_TIMER_WAIT)",
        lock_latency: varchar(11) | decimal(42, 0) => time "SUM(s.SUM_LOCK_TIME)",
        cpu_latency: varchar(11) | decimal(42, 0) => time "SUM(s.SUM_CPU_TIME)",
        rows_sent: decimal(42, 0) => "SUM(s.SUM_ROWS_SENT)",
        rows_examined: decimal(42, 0) => "SUM(s.SUM_ROWS_EXAMINED)",
        rows_affected: decimal(42, 0) => "SUM(s.SUM_ROWS_AFFECTED)",
        full_scans: decimal(43, 0) => "SUM(s.SUM_NO_INDEX_USED) + SUM(s.SUM_NO_GOOD_INDEX_USED)",
    } from "performance_schema.events_statements_summary_by_user_by_event_name s GROUP BY IF(s.USER IS NULL, \
        _utf8mb4'background', s.USER) ORDER BY SUM(s.SUM_TIMER_WAIT) DESC"
}

view! {
    /// The same by kind of statement.
    mod user_summary_by_statement_type = "sys"."user_summary_by_statement_type" twin {
        user: varchar(32) in utf8mb4_bin => "IF(s.USER IS NULL, _utf8mb4'background', s.USER)",
        statement: varchar(128) in utf8mb4_0900_ai_ci => "SUBSTRING_INDEX(s.EVENT_NAME, _utf8mb4'/', -1)",
        total: bigint_unsigned not null => "s.COUNT_STAR",
        total_latency: varchar(11) | bigint_unsigned not null => time "s.SUM_TIMER_WAIT",
        max_latency: varchar(11) | bigint_unsigned not null => time "s.MAX_TIMER_WAIT",
        lock_latency: varchar(11) | bigint_unsigned not null => time "s.SUM_LOCK_TIME",
        cpu_latency: varchar(11) | bigint_unsigned not null => time "s.SUM_CPU_TIME",
        rows_sent: bigint_unsigned not null => "s.SUM_ROWS_SENT",
        rows_examined: bigint_unsigned not null => "s.SUM_ROWS_EXAMINED",
        rows_affected: bigint_unsigned not null => "s.SUM_ROWS_AFFECTED",
        full_scans: bigint_unsigned not null default "0" => "s.SUM_NO_INDEX_USED + s.SUM_NO_GOOD_INDEX_USED",
    } from "performance_schema.events_statements_summary_by_user_by_event_name s WHERE s.SUM_TIMER_WAIT <> 0 \
        ORDER BY IF(s.USER IS NULL, _utf8mb4'background', s.USER), s.SUM_TIMER_WAIT DESC"
}
