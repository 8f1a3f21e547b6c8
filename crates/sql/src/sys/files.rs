//! What is done to files.

use palisade_schema::{View, view};

pub(super) static VIEWS: &[&View] = &[
    &io_by_thread_by_latency::VIEW,
    &io_global_by_file_by_bytes::VIEW,
    &io_global_by_file_by_latency::VIEW,
    &io_global_by_wait_by_bytes::VIEW,
    &io_global_by_wait_by_latency::VIEW,
    &latest_file_io::VIEW,
];

view! {
    /// Reads and writes of each session.
    mod io_by_thread_by_latency = "sys"."io_by_thread_by_latency" twin {
        user: varchar(288) in utf8mb4_0900_ai_ci => "IF(t.PROCESSLIST_ID IS NULL, SUBSTRING_INDEX(t.NAME, _utf8mb4'/', -1), CONCAT(t.PROCESSLIST_USER, _utf8mb4'@', t.PROCESSLIST_HOST))",
        total: decimal(42, 0) => "SUM(w.COUNT_STAR)",
        total_latency: varchar(11) | decimal(42, 0) => time "SUM(w.SUM_TIMER_WAIT)",
        min_latency: varchar(11) | bigint_unsigned => time "MIN(w.MIN_TIMER_WAIT)",
        avg_latency: varchar(11) | decimal(24, 4) => time "AVG(w.AVG_TIMER_WAIT)",
        max_latency: varchar(11) | bigint_unsigned => time "MAX(w.MAX_TIMER_WAIT)",
        thread_id: bigint_unsigned not null => "w.THREAD_ID",
        processlist_id: bigint_unsigned => "t.PROCESSLIST_ID",
    } from "performance_schema.events_waits_summary_by_thread_by_event_name w LEFT JOIN \
        performance_schema.threads t ON t.THREAD_ID = w.THREAD_ID WHERE w.EVENT_NAME LIKE \
        _utf8mb4'wait/io/file/%' AND w.SUM_TIMER_WAIT > 0 GROUP BY w.THREAD_ID, t.PROCESSLIST_ID, t.NAME, \
        t.PROCESSLIST_USER, t.PROCESSLIST_HOST ORDER BY SUM(w.SUM_TIMER_WAIT) DESC"
}

view! {
    /// The files of which most is read and written.
    mod io_global_by_file_by_bytes = "sys"."io_global_by_file_by_bytes" twin {
        file: varchar(512) in utf8mb4_0900_ai_ci | varchar(512) in utf8mb4_0900_ai_ci not null => path "f.FILE_NAME",
        count_read: bigint_unsigned not null => "f.COUNT_READ",
        total_read: varchar(11) | bigint not null => bytes "f.SUM_NUMBER_OF_BYTES_READ",
        avg_read: varchar(11) | decimal(23, 4) not null default "0.0000" => bytes "IFNULL(f.SUM_NUMBER_OF_BYTES_READ / NULLIF(f.COUNT_READ, 0), 0)",
        count_write: bigint_unsigned not null => "f.COUNT_WRITE",
        total_written: varchar(11) | bigint not null => bytes "f.SUM_NUMBER_OF_BYTES_WRITE",
        avg_write: varchar(11) | decimal(23, 4) not null default "0.0000" => bytes "IFNULL(f.SUM_NUMBER_OF_BYTES_WRITE / NULLIF(f.COUNT_WRITE, 0), 0.00)",
        total: varchar(11) | bigint not null default "0" => bytes "f.SUM_NUMBER_OF_BYTES_READ + f.SUM_NUMBER_OF_BYTES_WRITE",
        write_pct: decimal(26, 2) not null default "0.00" => "IFNULL(ROUND(100 - (f.SUM_NUMBER_OF_BYTES_READ / NULLIF(f.SUM_NUMBER_OF_BYTES_READ + f.SUM_NUMBER_OF_BYTES_WRITE, 0)) * 100, 2), 0.00)",
    } from "performance_schema.file_summary_by_instance f ORDER BY f.SUM_NUMBER_OF_BYTES_READ + \
        f.SUM_NUMBER_OF_BYTES_WRITE DESC"
}

view! {
    /// The files that are waited for most.
    mod io_global_by_file_by_latency = "sys"."io_global_by_file_by_latency" twin {
        file: varchar(512) in utf8mb4_0900_ai_ci | varchar(512) in utf8mb4_0900_ai_ci not null => path "f.FILE_NAME",
        total: bigint_unsigned not null => "f.COUNT_STAR",
        total_latency: varchar(11) | bigint_unsigned not null => time "f.SUM_TIMER_WAIT",
        count_read: bigint_unsigned not null => "f.COUNT_READ",
        read_latency: varchar(11) | bigint_unsigned not null => time "f.SUM_TIMER_READ",
        count_write: bigint_unsigned not null => "f.COUNT_WRITE",
        write_latency: varchar(11) | bigint_unsigned not null => time "f.SUM_TIMER_WRITE",
        count_misc: bigint_unsigned not null => "f.COUNT_MISC",
        misc_latency: varchar(11) | bigint_unsigned not null => time "f.SUM_TIMER_MISC",
    } from "performance_schema.file_summary_by_instance f ORDER BY f.SUM_TIMER_WAIT DESC"
}

view! {
    /// The kinds of files of which most is read and written.
    mod io_global_by_wait_by_bytes = "sys"."io_global_by_wait_by_bytes" twin {
        event_name: varchar(128) in utf8mb4_0900_ai_ci => "SUBSTRING_INDEX(f.EVENT_NAME, _utf8mb4'/', -2)",
        total: bigint_unsigned not null => "f.COUNT_STAR",
        total_latency: varchar(11) | bigint_unsigned not null => time "f.SUM_TIMER_WAIT",
        min_latency: varchar(11) | bigint_unsigned not null => time "f.MIN_TIMER_WAIT",
        avg_latency: varchar(11) | bigint_unsigned not null => time "f.AVG_TIMER_WAIT",
        max_latency: varchar(11) | bigint_unsigned not null => time "f.MAX_TIMER_WAIT",
        count_read: bigint_unsigned not null => "f.COUNT_READ",
        total_read: varchar(11) | bigint not null => bytes "f.SUM_NUMBER_OF_BYTES_READ",
        avg_read: varchar(11) | decimal(23, 4) not null default "0.0000" => bytes "IFNULL(f.SUM_NUMBER_OF_BYTES_READ / NULLIF(f.COUNT_READ, 0), 0)",
        count_write: bigint_unsigned not null => "f.COUNT_WRITE",
        total_written: varchar(11) | bigint not null => bytes "f.SUM_NUMBER_OF_BYTES_WRITE",
        avg_written: varchar(11) | decimal(23, 4) not null default "0.0000" => bytes "IFNULL(f.SUM_NUMBER_OF_BYTES_WRITE / NULLIF(f.COUNT_WRITE, 0), 0)",
        total_requested: varchar(11) | bigint not null default "0" => bytes "f.SUM_NUMBER_OF_BYTES_WRITE + f.SUM_NUMBER_OF_BYTES_READ",
    } from "performance_schema.file_summary_by_event_name f WHERE f.EVENT_NAME LIKE _utf8mb4'wait/io/file/%' AND \
        f.COUNT_STAR > 0 ORDER BY f.SUM_NUMBER_OF_BYTES_WRITE + f.SUM_NUMBER_OF_BYTES_READ DESC"
}

view! {
    /// The kinds of files that are waited for most.
    mod io_global_by_wait_by_latency = "sys"."io_global_by_wait_by_latency" twin {
        event_name: varchar(128) in utf8mb4_0900_ai_ci => "SUBSTRING_INDEX(f.EVENT_NAME, _utf8mb4'/', -2)",
        total: bigint_unsigned not null => "f.COUNT_STAR",
        total_latency: varchar(11) | bigint_unsigned not null => time "f.SUM_TIMER_WAIT",
        avg_latency: varchar(11) | bigint_unsigned not null => time "f.AVG_TIMER_WAIT",
        max_latency: varchar(11) | bigint_unsigned not null => time "f.MAX_TIMER_WAIT",
        read_latency: varchar(11) | bigint_unsigned not null => time "f.SUM_TIMER_READ",
        write_latency: varchar(11) | bigint_unsigned not null => time "f.SUM_TIMER_WRITE",
        misc_latency: varchar(11) | bigint_unsigned not null => time "f.SUM_TIMER_MISC",
        count_read: bigint_unsigned not null => "f.COUNT_READ",
        total_read: varchar(11) | bigint not null => bytes "f.SUM_NUMBER_OF_BYTES_READ",
        avg_read: varchar(11) | decimal(23, 4) not null default "0.0000" => bytes "IFNULL(f.SUM_NUMBER_OF_BYTES_READ / NULLIF(f.COUNT_READ, 0), 0)",
        count_write: bigint_unsigned not null => "f.COUNT_WRITE",
        total_written: varchar(11) | bigint not null => bytes "f.SUM_NUMBER_OF_BYTES_WRITE",
        avg_written: varchar(11) | decimal(23, 4) not null default "0.0000" => bytes "IFNULL(f.SUM_NUMBER_OF_BYTES_WRITE / NULLIF(f.COUNT_WRITE, 0), 0)",
    } from "performance_schema.file_summary_by_event_name f WHERE f.EVENT_NAME LIKE _utf8mb4'wait/io/file/%' AND \
        f.COUNT_STAR > 0 ORDER BY f.SUM_TIMER_WAIT DESC"
}

view! {
    /// The last reads and writes.
    mod latest_file_io = "sys"."latest_file_io" twin {
        thread: varchar(317) in utf8mb4_0900_ai_ci => "IF(t.PROCESSLIST_ID IS NULL, CONCAT(SUBSTRING_INDEX(t.NAME, _utf8mb4'/', -1), _utf8mb4':', e.THREAD_ID), CONCAT(t.PROCESSLIST_USER, _utf8mb4'@', t.PROCESSLIST_HOST, _utf8mb4':', t.PROCESSLIST_ID))",
        file: varchar(512) in utf8mb4_0900_ai_ci => path "e.OBJECT_NAME",
        latency: varchar(11) | bigint_unsigned => time "e.TIMER_WAIT",
        operation: varchar(32) in utf8mb4_0900_ai_ci not null => "e.OPERATION",
        requested: varchar(11) | bigint => bytes "e.NUMBER_OF_BYTES",
    } from "performance_schema.events_waits_history_long e JOIN performance_schema.threads t ON t.THREAD_ID = \
        e.THREAD_ID WHERE e.OBJECT_NAME IS NOT NULL AND e.EVENT_NAME LIKE _utf8mb4'wait/io/file/%' ORDER BY \
        e.TIMER_START"
}
