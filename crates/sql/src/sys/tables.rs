//! Use of tables and indexes.

use palisade_schema::{View, view};

pub(super) static VIEWS: &[&View] = &[
    &schema_unused_indexes::VIEW,
    &schema_index_statistics::VIEW,
    &x_ps_schema_table_statistics_io::VIEW,
    &schema_table_statistics::VIEW,
    &schema_table_statistics_with_buffer::VIEW,
    &schema_tables_with_full_table_scans::VIEW,
];

view! {
    /// Indexes that no statement has used since their tables were opened.
    mod schema_unused_indexes = "sys"."schema_unused_indexes" alone {
        object_schema: varchar(64) in utf8mb4_0900_ai_ci => "u.OBJECT_SCHEMA",
        object_name: varchar(64) in utf8mb4_0900_ai_ci => "u.OBJECT_NAME",
        index_name: varchar(64) in utf8mb4_0900_ai_ci => "u.INDEX_NAME",
    } from "performance_schema.table_io_waits_summary_by_index_usage u JOIN information_schema.STATISTICS i ON \
        i.TABLE_SCHEMA = u.OBJECT_SCHEMA AND i.TABLE_NAME = u.OBJECT_NAME AND i.INDEX_NAME = u.INDEX_NAME \
        WHERE u.INDEX_NAME IS NOT NULL AND u.COUNT_STAR = 0 AND u.OBJECT_SCHEMA <> _utf8mb4'mysql' AND \
        u.INDEX_NAME <> _utf8mb4'PRIMARY' AND i.NON_UNIQUE = 1 AND i.SEQ_IN_INDEX = 1 ORDER BY \
        u.OBJECT_SCHEMA, u.OBJECT_NAME"
}

view! {
    /// What is done by way of each index.
    mod schema_index_statistics = "sys"."schema_index_statistics" twin {
        table_schema: varchar(64) in utf8mb4_0900_ai_ci => "u.OBJECT_SCHEMA",
        table_name: varchar(64) in utf8mb4_0900_ai_ci => "u.OBJECT_NAME",
        index_name: varchar(64) in utf8mb4_0900_ai_ci => "u.INDEX_NAME",
        rows_selected: bigint_unsigned not null => "u.COUNT_FETCH",
        select_latency: varchar(11) | bigint_unsigned not null => time "u.SUM_TIMER_FETCH",
        rows_inserted: bigint_unsigned not null => "u.COUNT_INSERT",
        insert_latency: varchar(11) | bigint_unsigned not null => time "u.SUM_TIMER_INSERT",
        rows_updated: bigint_unsigned not null => "u.COUNT_UPDATE",
        update_latency: varchar(11) | bigint_unsigned not null => time "u.SUM_TIMER_UPDATE",
        rows_deleted: bigint_unsigned not null => "u.COUNT_DELETE",
        delete_latency: varchar(11) | bigint_unsigned not null => time "u.SUM_TIMER_DELETE",
    } from "performance_schema.table_io_waits_summary_by_index_usage u WHERE u.INDEX_NAME IS NOT NULL ORDER BY \
        u.SUM_TIMER_WAIT DESC"
}

view! {
    /// What is done to the files of each table.
    mod x_ps_schema_table_statistics_io = "sys"."x$ps_schema_table_statistics_io" alone {
        table_schema: varchar(64) in utf8mb4_0900_ai_ci => "sys.extract_schema_from_file_name(sys.format_path(f.FILE_NAME))",
        table_name: varchar(64) in utf8mb4_0900_ai_ci => "sys.extract_table_from_file_name(sys.format_path(f.FILE_NAME))",
        count_read: decimal(42, 0) => "SUM(f.COUNT_READ)",
        sum_number_of_bytes_read: decimal(41, 0) => "SUM(f.SUM_NUMBER_OF_BYTES_READ)",
        sum_timer_read: decimal(42, 0) => "SUM(f.SUM_TIMER_READ)",
        count_write: decimal(42, 0) => "SUM(f.COUNT_WRITE)",
        sum_number_of_bytes_write: decimal(41, 0) => "SUM(f.SUM_NUMBER_OF_BYTES_WRITE)",
        sum_timer_write: decimal(42, 0) => "SUM(f.SUM_TIMER_WRITE)",
        count_misc: decimal(42, 0) => "SUM(f.COUNT_MISC)",
        sum_timer_misc: decimal(42, 0) => "SUM(f.SUM_TIMER_MISC)",
    } from "performance_schema.file_summary_by_instance f GROUP BY \
        sys.extract_schema_from_file_name(sys.format_path(f.FILE_NAME)), \
        sys.extract_table_from_file_name(sys.format_path(f.FILE_NAME))"
}

view! {
    /// What is done to each table, and to its files.
    mod schema_table_statistics = "sys"."schema_table_statistics" twin {
        table_schema: varchar(64) in utf8mb4_0900_ai_ci => "t.OBJECT_SCHEMA",
        table_name: varchar(64) in utf8mb4_0900_ai_ci => "t.OBJECT_NAME",
        total_latency: varchar(11) | bigint_unsigned not null => time "t.SUM_TIMER_WAIT",
        rows_fetched: bigint_unsigned not null => "t.COUNT_FETCH",
        fetch_latency: varchar(11) | bigint_unsigned not null => time "t.SUM_TIMER_FETCH",
        rows_inserted: bigint_unsigned not null => "t.COUNT_INSERT",
        insert_latency: varchar(11) | bigint_unsigned not null => time "t.SUM_TIMER_INSERT",
        rows_updated: bigint_unsigned not null => "t.COUNT_UPDATE",
        update_latency: varchar(11) | bigint_unsigned not null => time "t.SUM_TIMER_UPDATE",
        rows_deleted: bigint_unsigned not null => "t.COUNT_DELETE",
        delete_latency: varchar(11) | bigint_unsigned not null => time "t.SUM_TIMER_DELETE",
        io_read_requests: decimal(42, 0) => "f.count_read",
        io_read: varchar(11) | decimal(41, 0) => bytes "f.sum_number_of_bytes_read",
        io_read_latency: varchar(11) | decimal(42, 0) => time "f.sum_timer_read",
        io_write_requests: decimal(42, 0) => "f.count_write",
        io_write: varchar(11) | decimal(41, 0) => bytes "f.sum_number_of_bytes_write",
        io_write_latency: varchar(11) | decimal(42, 0) => time "f.sum_timer_write",
        io_misc_requests: decimal(42, 0) => "f.count_misc",
        io_misc_latency: varchar(11) | decimal(42, 0) => time "f.sum_timer_misc",
    } from "performance_schema.table_io_waits_summary_by_table t LEFT JOIN sys.x$ps_schema_table_statistics_io f \
        ON f.table_schema = t.OBJECT_SCHEMA AND f.table_name = t.OBJECT_NAME ORDER BY t.SUM_TIMER_WAIT DESC"
}

view! {
    /// The same, and what of each table is in the buffer pool.
    mod schema_table_statistics_with_buffer = "sys"."schema_table_statistics_with_buffer" twin {
        table_schema: varchar(64) in utf8mb4_0900_ai_ci => "t.OBJECT_SCHEMA",
        table_name: varchar(64) in utf8mb4_0900_ai_ci => "t.OBJECT_NAME",
        rows_fetched: bigint_unsigned not null => "t.COUNT_FETCH",
        fetch_latency: varchar(11) | bigint_unsigned not null => time "t.SUM_TIMER_FETCH",
        rows_inserted: bigint_unsigned not null => "t.COUNT_INSERT",
        insert_latency: varchar(11) | bigint_unsigned not null => time "t.SUM_TIMER_INSERT",
        rows_updated: bigint_unsigned not null => "t.COUNT_UPDATE",
        update_latency: varchar(11) | bigint_unsigned not null => time "t.SUM_TIMER_UPDATE",
        rows_deleted: bigint_unsigned not null => "t.COUNT_DELETE",
        delete_latency: varchar(11) | bigint_unsigned not null => time "t.SUM_TIMER_DELETE",
        io_read_requests: decimal(42, 0) => "f.count_read",
        io_read: varchar(11) | decimal(41, 0) => bytes "f.sum_number_of_bytes_read",
        io_read_latency: varchar(11) | decimal(42, 0) => time "f.sum_timer_read",
        io_write_requests: decimal(42, 0) => "f.count_write",
        io_write: varchar(11) | decimal(41, 0) => bytes "f.sum_number_of_bytes_write",
        io_write_latency: varchar(11) | decimal(42, 0) => time "f.sum_timer_write",
        io_misc_requests: decimal(42, 0) => "f.count_misc",
        io_misc_latency: varchar(11) | decimal(42, 0) => time "f.sum_timer_misc",
        innodb_buffer_allocated: varchar(11) | decimal(44, 0) => bytes "b.allocated",
        innodb_buffer_data: varchar(11) | decimal(44, 0) => bytes "b.data",
        innodb_buffer_free: varchar(11) | decimal(45, 0) => bytes "b.allocated - b.data",
        innodb_buffer_pages: bigint default "0" => "b.pages",
        innodb_buffer_pages_hashed: bigint default "0" => "b.pages_hashed",
        innodb_buffer_pages_old: bigint default "0" => "b.pages_old",
        innodb_buffer_rows_cached: decimal(45, 0) default "0" => "b.rows_cached",
    } from "performance_schema.table_io_waits_summary_by_table t LEFT JOIN sys.x$ps_schema_table_statistics_io f \
        ON f.table_schema = t.OBJECT_SCHEMA AND f.table_name = t.OBJECT_NAME LEFT JOIN \
        sys.x$innodb_buffer_stats_by_table b ON b.object_schema = t.OBJECT_SCHEMA AND b.object_name = \
        t.OBJECT_NAME ORDER BY t.SUM_TIMER_WAIT DESC"
}

view! {
    /// The tables that are read without an index.
    mod schema_tables_with_full_table_scans = "sys"."schema_tables_with_full_table_scans" twin {
        object_schema: varchar(64) in utf8mb4_0900_ai_ci => "u.OBJECT_SCHEMA",
        object_name: varchar(64) in utf8mb4_0900_ai_ci => "u.OBJECT_NAME",
        rows_full_scanned: bigint_unsigned not null => "u.COUNT_READ",
        latency: varchar(11) | bigint_unsigned not null => time "u.SUM_TIMER_WAIT",
    } from "performance_schema.table_io_waits_summary_by_index_usage u WHERE u.INDEX_NAME IS NULL AND \
        u.COUNT_READ > 0 ORDER BY u.COUNT_READ DESC"
}
