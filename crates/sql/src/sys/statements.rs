//! Statements by digest.

use palisade_schema::{View, view};

pub(super) static VIEWS: &[&View] = &[
    &statement_analysis::VIEW,
    &x_statement_analysis::VIEW,
    &statements_with_errors_or_warnings::VIEW,
    &statements_with_full_table_scans::VIEW,
    &statements_with_sorting::VIEW,
    &statements_with_temp_tables::VIEW,
    &x_ps_digest_avg_latency_distribution::VIEW,
    &x_ps_digest_95th_percentile_by_avg_us::VIEW,
    &statements_with_runtimes_in_95th_percentile::VIEW,
];

view! {
    /// The statements that took most time.
    mod statement_analysis = "sys"."statement_analysis" alone {
        query: longtext in utf8mb4_0900_ai_ci => statement "s.DIGEST_TEXT",
        db: varchar(64) in utf8mb4_0900_ai_ci => "s.SCHEMA_NAME",
        full_scan: varchar(1) in utf8mb4_0900_ai_ci not null default "" => "IF(s.SUM_NO_INDEX_USED > 0 OR s.SUM_NO_GOOD_INDEX_USED > 0, _utf8mb4'*', _utf8mb4'')",
        exec_count: bigint_unsigned not null => "s.COUNT_STAR",
        err_count: bigint_unsigned not null => "s.SUM_ERRORS",
        warn_count: bigint_unsigned not null => "s.SUM_WARNINGS",
        total_latency: varchar(11) => time "s.SUM_TIMER_WAIT",
        max_latency: varchar(11) => time "s.MAX_TIMER_WAIT",
        avg_latency: varchar(11) => time "s.AVG_TIMER_WAIT",
        lock_latency: varchar(11) => time "s.SUM_LOCK_TIME",
        cpu_latency: varchar(11) => time "s.SUM_CPU_TIME",
        rows_sent: bigint_unsigned not null => "s.SUM_ROWS_SENT",
        rows_sent_avg: decimal(21, 0) not null default "0" => "ROUND(IFNULL(s.SUM_ROWS_SENT / NULLIF(s.COUNT_STAR, 0), 0), 0)",
        rows_examined: bigint_unsigned not null => "s.SUM_ROWS_EXAMINED",
        rows_examined_avg: decimal(21, 0) not null default "0" => "ROUND(IFNULL(s.SUM_ROWS_EXAMINED / NULLIF(s.COUNT_STAR, 0), 0), 0)",
        rows_affected: bigint_unsigned not null => "s.SUM_ROWS_AFFECTED",
        rows_affected_avg: decimal(21, 0) not null default "0" => "ROUND(IFNULL(s.SUM_ROWS_AFFECTED / NULLIF(s.COUNT_STAR, 0), 0), 0)",
        tmp_tables: bigint_unsigned not null => "s.SUM_CREATED_TMP_TABLES",
        tmp_disk_tables: bigint_unsigned not null => "s.SUM_CREATED_TMP_DISK_TABLES",
        rows_sorted: bigint_unsigned not null => "s.SUM_SORT_ROWS",
        sort_merge_passes: bigint_unsigned not null => "s.SUM_SORT_MERGE_PASSES",
        max_controlled_memory: varchar(11) => bytes "s.MAX_CONTROLLED_MEMORY",
        max_total_memory: varchar(11) => bytes "s.MAX_TOTAL_MEMORY",
        digest: varchar(64) in utf8mb4_0900_ai_ci => "s.DIGEST",
        first_seen: timestamp(6) not null => "s.FIRST_SEEN",
        last_seen: timestamp(6) not null => "s.LAST_SEEN",
    } from "performance_schema.events_statements_summary_by_digest s ORDER BY s.SUM_TIMER_WAIT DESC"
}

view! {
    /// The same in raw units.
    mod x_statement_analysis = "sys"."x$statement_analysis" alone {
        query: longtext in utf8mb4_0900_ai_ci => "s.DIGEST_TEXT",
        db: varchar(64) in utf8mb4_0900_ai_ci => "s.SCHEMA_NAME",
        full_scan: varchar(1) in utf8mb4_0900_ai_ci not null default "" => "IF(s.SUM_NO_INDEX_USED > 0 OR s.SUM_NO_GOOD_INDEX_USED > 0, _utf8mb4'*', _utf8mb4'')",
        exec_count: bigint_unsigned not null => "s.COUNT_STAR",
        exec_secondary_count: bigint_unsigned not null => "s.COUNT_SECONDARY",
        err_count: bigint_unsigned not null => "s.SUM_ERRORS",
        warn_count: bigint_unsigned not null => "s.SUM_WARNINGS",
        total_latency: bigint_unsigned not null => "s.SUM_TIMER_WAIT",
        max_latency: bigint_unsigned not null => "s.MAX_TIMER_WAIT",
        avg_latency: bigint_unsigned not null => "s.AVG_TIMER_WAIT",
        lock_latency: bigint_unsigned not null => "s.SUM_LOCK_TIME",
        cpu_latency: bigint_unsigned not null => "s.SUM_CPU_TIME",
        rows_sent: bigint_unsigned not null => "s.SUM_ROWS_SENT",
        rows_sent_avg: decimal(21, 0) not null default "0" => "ROUND(IFNULL(s.SUM_ROWS_SENT / NULLIF(s.COUNT_STAR, 0), 0), 0)",
        rows_examined: bigint_unsigned not null => "s.SUM_ROWS_EXAMINED",
        rows_examined_avg: decimal(21, 0) not null default "0" => "ROUND(IFNULL(s.SUM_ROWS_EXAMINED / NULLIF(s.COUNT_STAR, 0), 0), 0)",
        rows_affected: bigint_unsigned not null => "s.SUM_ROWS_AFFECTED",
        rows_affected_avg: decimal(21, 0) not null default "0" => "ROUND(IFNULL(s.SUM_ROWS_AFFECTED / NULLIF(s.COUNT_STAR, 0), 0), 0)",
        tmp_tables: bigint_unsigned not null => "s.SUM_CREATED_TMP_TABLES",
        tmp_disk_tables: bigint_unsigned not null => "s.SUM_CREATED_TMP_DISK_TABLES",
        rows_sorted: bigint_unsigned not null => "s.SUM_SORT_ROWS",
        sort_merge_passes: bigint_unsigned not null => "s.SUM_SORT_MERGE_PASSES",
        max_controlled_memory: bigint_unsigned not null => "s.MAX_CONTROLLED_MEMORY",
        max_total_memory: bigint_unsigned not null => "s.MAX_TOTAL_MEMORY",
        digest: varchar(64) in utf8mb4_0900_ai_ci => "s.DIGEST",
        first_seen: timestamp(6) not null => "s.FIRST_SEEN",
        last_seen: timestamp(6) not null => "s.LAST_SEEN",
    } from "performance_schema.events_statements_summary_by_digest s ORDER BY s.SUM_TIMER_WAIT DESC"
}

view! {
    /// The statements that had errors or warnings.
    mod statements_with_errors_or_warnings = "sys"."statements_with_errors_or_warnings" twin {
        query: longtext in utf8mb4_0900_ai_ci => statement "s.DIGEST_TEXT",
        db: varchar(64) in utf8mb4_0900_ai_ci => "s.SCHEMA_NAME",
        exec_count: bigint_unsigned not null => "s.COUNT_STAR",
        errors: bigint_unsigned not null => "s.SUM_ERRORS",
        error_pct: decimal(27, 4) not null default "0.0000" => "IFNULL(s.SUM_ERRORS / NULLIF(s.COUNT_STAR, 0), 0) * 100",
        warnings: bigint_unsigned not null => "s.SUM_WARNINGS",
        warning_pct: decimal(27, 4) not null default "0.0000" => "IFNULL(s.SUM_WARNINGS / NULLIF(s.COUNT_STAR, 0), 0) * 100",
        first_seen: timestamp(6) not null => "s.FIRST_SEEN",
        last_seen: timestamp(6) not null => "s.LAST_SEEN",
        digest: varchar(64) in utf8mb4_0900_ai_ci => "s.DIGEST",
    } from "performance_schema.events_statements_summary_by_digest s WHERE s.SUM_ERRORS > 0 OR s.SUM_WARNINGS > \
        0 ORDER BY s.SUM_ERRORS DESC, s.SUM_WARNINGS DESC"
}

view! {
    /// The statements that read whole tables.
    mod statements_with_full_table_scans = "sys"."statements_with_full_table_scans" twin {
        query: longtext in utf8mb4_0900_ai_ci => statement "s.DIGEST_TEXT",
        db: varchar(64) in utf8mb4_0900_ai_ci => "s.SCHEMA_NAME",
        exec_count: bigint_unsigned not null => "s.COUNT_STAR",
        total_latency: varchar(11) | bigint_unsigned not null => time "s.SUM_TIMER_WAIT",
        no_index_used_count: bigint_unsigned not null => "s.SUM_NO_INDEX_USED",
        no_good_index_used_count: bigint_unsigned not null => "s.SUM_NO_GOOD_INDEX_USED",
        no_index_used_pct: decimal(24, 0) not null default "0" => "ROUND(IFNULL(s.SUM_NO_INDEX_USED / NULLIF(s.COUNT_STAR, 0), 0) * 100)",
        rows_sent: bigint_unsigned not null => "s.SUM_ROWS_SENT",
        rows_examined: bigint_unsigned not null => "s.SUM_ROWS_EXAMINED",
        rows_sent_avg: decimal(21, 0) => "ROUND(s.SUM_ROWS_SENT / s.COUNT_STAR)",
        rows_examined_avg: decimal(21, 0) => "ROUND(s.SUM_ROWS_EXAMINED / s.COUNT_STAR)",
        first_seen: timestamp(6) not null => "s.FIRST_SEEN",
        last_seen: timestamp(6) not null => "s.LAST_SEEN",
        digest: varchar(64) in utf8mb4_0900_ai_ci => "s.DIGEST",
    } from "performance_schema.events_statements_summary_by_digest s WHERE (s.SUM_NO_INDEX_USED > 0 OR \
        s.SUM_NO_GOOD_INDEX_USED > 0) AND s.DIGEST_TEXT NOT LIKE _utf8mb4'SHOW%' ORDER BY \
        ROUND(IFNULL(s.SUM_NO_INDEX_USED / NULLIF(s.COUNT_STAR, 0), 0) * 100) DESC, s.SUM_TIMER_WAIT DESC"
}

view! {
    /// The statements that sorted.
    mod statements_with_sorting = "sys"."statements_with_sorting" twin {
        query: longtext in utf8mb4_0900_ai_ci => statement "s.DIGEST_TEXT",
        db: varchar(64) in utf8mb4_0900_ai_ci => "s.SCHEMA_NAME",
        exec_count: bigint_unsigned not null => "s.COUNT_STAR",
        total_latency: varchar(11) | bigint_unsigned not null => time "s.SUM_TIMER_WAIT",
        sort_merge_passes: bigint_unsigned not null => "s.SUM_SORT_MERGE_PASSES",
        avg_sort_merges: decimal(21, 0) not null default "0" => "ROUND(IFNULL(s.SUM_SORT_MERGE_PASSES / NULLIF(s.COUNT_STAR, 0), 0))",
        sorts_using_scans: bigint_unsigned not null => "s.SUM_SORT_SCAN",
        sort_using_range: bigint_unsigned not null => "s.SUM_SORT_RANGE",
        rows_sorted: bigint_unsigned not null => "s.SUM_SORT_ROWS",
        avg_rows_sorted: decimal(21, 0) not null default "0" => "ROUND(IFNULL(s.SUM_SORT_ROWS / NULLIF(s.COUNT_STAR, 0), 0))",
        first_seen: timestamp(6) not null => "s.FIRST_SEEN",
        last_seen: timestamp(6) not null => "s.LAST_SEEN",
        digest: varchar(64) in utf8mb4_0900_ai_ci => "s.DIGEST",
    } from "performance_schema.events_statements_summary_by_digest s WHERE s.SUM_SORT_ROWS > 0 ORDER BY \
        s.SUM_TIMER_WAIT DESC"
}

view! {
    /// The statements that made temporary tables.
    mod statements_with_temp_tables = "sys"."statements_with_temp_tables" twin {
        query: longtext in utf8mb4_0900_ai_ci => statement "s.DIGEST_TEXT",
        db: varchar(64) in utf8mb4_0900_ai_ci => "s.SCHEMA_NAME",
        exec_count: bigint_unsigned not null => "s.COUNT_STAR",
        total_latency: varchar(11) | bigint_unsigned not null => time "s.SUM_TIMER_WAIT",
        memory_tmp_tables: bigint_unsigned not null => "s.SUM_CREATED_TMP_TABLES",
        disk_tmp_tables: bigint_unsigned not null => "s.SUM_CREATED_TMP_DISK_TABLES",
        avg_tmp_tables_per_query: decimal(21, 0) not null default "0" => "ROUND(IFNULL(s.SUM_CREATED_TMP_TABLES / NULLIF(s.COUNT_STAR, 0), 0))",
        tmp_tables_to_disk_pct: decimal(24, 0) not null default "0" => "ROUND(IFNULL(s.SUM_CREATED_TMP_DISK_TABLES / NULLIF(s.SUM_CREATED_TMP_TABLES, 0), 0) * 100)",
        first_seen: timestamp(6) not null => "s.FIRST_SEEN",
        last_seen: timestamp(6) not null => "s.LAST_SEEN",
        digest: varchar(64) in utf8mb4_0900_ai_ci => "s.DIGEST",
    } from "performance_schema.events_statements_summary_by_digest s WHERE s.SUM_CREATED_TMP_TABLES > 0 ORDER BY \
        s.SUM_CREATED_TMP_DISK_TABLES DESC, s.SUM_CREATED_TMP_TABLES DESC"
}

view! {
    /// How many statements take how long on average, in microseconds.
    mod x_ps_digest_avg_latency_distribution = "sys"."x$ps_digest_avg_latency_distribution" alone {
        cnt: bigint not null default "0" => "COUNT(*)",
        avg_us: decimal(21, 0) => "ROUND(s.AVG_TIMER_WAIT / 1000000)",
    } from "performance_schema.events_statements_summary_by_digest s GROUP BY ROUND(s.AVG_TIMER_WAIT / 1000000)"
}

view! {
    /// The average that 95 of 100 statements do not exceed.
    mod x_ps_digest_95th_percentile_by_avg_us = "sys"."x$ps_digest_95th_percentile_by_avg_us" alone {
        avg_us: decimal(21, 0) => "d.avg_us",
        percentile: decimal(46, 4) not null default "0.0000" => "IFNULL(d.percentile, 0)",
    } from "(SELECT a.avg_us AS avg_us, SUM(a.cnt) OVER (ORDER BY a.avg_us) / NULLIF((SELECT COUNT(*) FROM \
        performance_schema.events_statements_summary_by_digest), 0) AS percentile FROM \
        sys.x$ps_digest_avg_latency_distribution a) d WHERE d.percentile > 0.95 ORDER BY d.percentile LIMIT \
        1"
}

view! {
    /// The statements that are slower than 95 of 100.
    mod statements_with_runtimes_in_95th_percentile = "sys"."statements_with_runtimes_in_95th_percentile" twin {
        query: longtext in utf8mb4_0900_ai_ci => statement "s.DIGEST_TEXT",
        db: varchar(64) in utf8mb4_0900_ai_ci => "s.SCHEMA_NAME",
        full_scan: varchar(1) in utf8mb4_0900_ai_ci not null default "" => "IF(s.SUM_NO_INDEX_USED > 0 OR s.SUM_NO_GOOD_INDEX_USED > 0, _utf8mb4'*', _utf8mb4'')",
        exec_count: bigint_unsigned not null => "s.COUNT_STAR",
        err_count: bigint_unsigned not null => "s.SUM_ERRORS",
        warn_count: bigint_unsigned not null => "s.SUM_WARNINGS",
        total_latency: varchar(11) | bigint_unsigned not null => time "s.SUM_TIMER_WAIT",
        max_latency: varchar(11) | bigint_unsigned not null => time "s.MAX_TIMER_WAIT",
        avg_latency: varchar(11) | bigint_unsigned not null => time "s.AVG_TIMER_WAIT",
        rows_sent: bigint_unsigned not null => "s.SUM_ROWS_SENT",
        rows_sent_avg: decimal(21, 0) not null default "0" => "ROUND(IFNULL(s.SUM_ROWS_SENT / NULLIF(s.COUNT_STAR, 0), 0))",
        rows_examined: bigint_unsigned not null => "s.SUM_ROWS_EXAMINED",
        rows_examined_avg: decimal(21, 0) not null default "0" => "ROUND(IFNULL(s.SUM_ROWS_EXAMINED / NULLIF(s.COUNT_STAR, 0), 0))",
        first_seen: timestamp(6) not null => "s.FIRST_SEEN",
        last_seen: timestamp(6) not null => "s.LAST_SEEN",
        digest: varchar(64) in utf8mb4_0900_ai_ci => "s.DIGEST",
    } from "performance_schema.events_statements_summary_by_digest s JOIN \
        sys.x$ps_digest_95th_percentile_by_avg_us p ON ROUND(s.AVG_TIMER_WAIT / 1000000) >= p.avg_us ORDER \
        BY s.AVG_TIMER_WAIT DESC"
}
