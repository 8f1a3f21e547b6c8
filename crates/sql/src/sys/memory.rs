//! What memory is for.

use palisade_schema::{View, view};

pub(super) static VIEWS: &[&View] = &[
    &memory_global_total::VIEW,
    &memory_global_by_current_bytes::VIEW,
    &memory_by_host_by_current_bytes::VIEW,
    &memory_by_user_by_current_bytes::VIEW,
    &memory_by_thread_by_current_bytes::VIEW,
    &innodb_buffer_stats_by_schema::VIEW,
    &innodb_buffer_stats_by_table::VIEW,
];

view! {
    /// All memory that is accounted for.
    mod memory_global_total = "sys"."memory_global_total" twin {
        total_allocated: varchar(11) | decimal(41, 0) => bytes "SUM(m.CURRENT_NUMBER_OF_BYTES_USED)",
    } from "performance_schema.memory_summary_global_by_event_name m"
}

view! {
    /// The accounts of memory.
    mod memory_global_by_current_bytes = "sys"."memory_global_by_current_bytes" twin {
        event_name: varchar(128) in utf8mb4_0900_ai_ci not null => "m.EVENT_NAME",
        current_count: bigint not null => "m.CURRENT_COUNT_USED",
        current_alloc: varchar(11) | bigint not null => bytes "m.CURRENT_NUMBER_OF_BYTES_USED",
        current_avg_alloc: varchar(11) | decimal(23, 4) not null default "0.0000" => bytes "IFNULL(m.CURRENT_NUMBER_OF_BYTES_USED / NULLIF(m.CURRENT_COUNT_USED, 0), 0)",
        high_count: bigint not null => "m.HIGH_COUNT_USED",
        high_alloc: varchar(11) | bigint not null => bytes "m.HIGH_NUMBER_OF_BYTES_USED",
        high_avg_alloc: varchar(11) | decimal(23, 4) not null default "0.0000" => bytes "IFNULL(m.HIGH_NUMBER_OF_BYTES_USED / NULLIF(m.HIGH_COUNT_USED, 0), 0)",
    } from "performance_schema.memory_summary_global_by_event_name m WHERE m.CURRENT_NUMBER_OF_BYTES_USED > 0 \
        ORDER BY m.CURRENT_NUMBER_OF_BYTES_USED DESC"
}

view! {
    /// The memory of each host.
    mod memory_by_host_by_current_bytes = "sys"."memory_by_host_by_current_bytes" twin {
        host: varchar(255) in ascii_general_ci => "IF(m.HOST IS NULL, _utf8mb4'background', m.HOST)",
        current_count_used: decimal(41, 0) => "SUM(m.CURRENT_COUNT_USED)",
        current_allocated: varchar(11) | decimal(41, 0) => bytes "SUM(m.CURRENT_NUMBER_OF_BYTES_USED)",
        current_avg_alloc: varchar(11) | decimal(45, 4) not null default "0.0000" => bytes "IFNULL(SUM(m.CURRENT_NUMBER_OF_BYTES_USED) / NULLIF(SUM(m.CURRENT_COUNT_USED), 0), 0)",
        current_max_alloc: varchar(11) | bigint => bytes "MAX(m.CURRENT_NUMBER_OF_BYTES_USED)",
        total_allocated: varchar(11) | decimal(42, 0) => bytes "SUM(m.SUM_NUMBER_OF_BYTES_ALLOC)",
    } from "performance_schema.memory_summary_by_host_by_event_name m GROUP BY IF(m.HOST IS NULL, \
        _utf8mb4'background', m.HOST) ORDER BY SUM(m.CURRENT_NUMBER_OF_BYTES_USED) DESC"
}

view! {
    /// The memory of each user.
    mod memory_by_user_by_current_bytes = "sys"."memory_by_user_by_current_bytes" twin {
        user: varchar(32) in utf8mb4_bin => "IF(m.USER IS NULL, _utf8mb4'background', m.USER)",
        current_count_used: decimal(41, 0) => "SUM(m.CURRENT_COUNT_USED)",
        current_allocated: varchar(11) | decimal(41, 0) => bytes "SUM(m.CURRENT_NUMBER_OF_BYTES_USED)",
        current_avg_alloc: varchar(11) | decimal(45, 4) not null default "0.0000" => bytes "IFNULL(SUM(m.CURRENT_NUMBER_OF_BYTES_USED) / NULLIF(SUM(m.CURRENT_COUNT_USED), 0), 0)",
        current_max_alloc: varchar(11) | bigint => bytes "MAX(m.CURRENT_NUMBER_OF_BYTES_USED)",
        total_allocated: varchar(11) | decimal(42, 0) => bytes "SUM(m.SUM_NUMBER_OF_BYTES_ALLOC)",
    } from "performance_schema.memory_summary_by_user_by_event_name m GROUP BY IF(m.USER IS NULL, \
        _utf8mb4'background', m.USER) ORDER BY SUM(m.CURRENT_NUMBER_OF_BYTES_USED) DESC"
}

view! {
    /// The memory of each session.
    mod memory_by_thread_by_current_bytes = "sys"."memory_by_thread_by_current_bytes" twin {
        thread_id: bigint_unsigned not null => "m.THREAD_ID",
        user: varchar(288) in utf8mb4_0900_ai_ci => "IF(t.PROCESSLIST_ID IS NULL, SUBSTRING(t.NAME, 8), CONCAT(t.PROCESSLIST_USER, _utf8mb4'@', t.PROCESSLIST_HOST))",
        current_count_used: decimal(41, 0) => "SUM(m.CURRENT_COUNT_USED)",
        current_allocated: varchar(11) | decimal(41, 0) => bytes "SUM(m.CURRENT_NUMBER_OF_BYTES_USED)",
        current_avg_alloc: varchar(11) | decimal(45, 4) not null default "0.0000" => bytes "IFNULL(SUM(m.CURRENT_NUMBER_OF_BYTES_USED) / NULLIF(SUM(m.CURRENT_COUNT_USED), 0), 0)",
        current_max_alloc: varchar(11) | bigint => bytes "MAX(m.CURRENT_NUMBER_OF_BYTES_USED)",
        total_allocated: varchar(11) | decimal(42, 0) => bytes "SUM(m.SUM_NUMBER_OF_BYTES_ALLOC)",
    } from "performance_schema.memory_summary_by_thread_by_event_name m JOIN performance_schema.threads t ON \
        t.THREAD_ID = m.THREAD_ID GROUP BY m.THREAD_ID, IF(t.PROCESSLIST_ID IS NULL, SUBSTRING(t.NAME, 8), \
        CONCAT(t.PROCESSLIST_USER, _utf8mb4'@', t.PROCESSLIST_HOST)) ORDER BY \
        SUM(m.CURRENT_NUMBER_OF_BYTES_USED) DESC"
}

view! {
    /// What of each schema is in the buffer pool.
    mod innodb_buffer_stats_by_schema = "sys"."innodb_buffer_stats_by_schema" twin {
        object_schema: text => "IF(LOCATE(_utf8mb4'.', p.TABLE_NAME) = 0, _utf8mb4'InnoDB System', REPLACE(SUBSTRING_INDEX(p.TABLE_NAME, _utf8mb4'.', 1), _utf8mb4'`', _utf8mb4''))",
        allocated: varchar(11) | decimal(44, 0) => bytes "SUM(p.size)",
        data: varchar(11) | decimal(44, 0) => bytes "SUM(p.DATA_SIZE)",
        pages: bigint not null default "0" => "COUNT(p.PAGE_NUMBER)",
        pages_hashed: bigint not null default "0" => "COUNT(IF(p.IS_HASHED = _utf8mb4'YES', 1, NULL))",
        pages_old: bigint not null default "0" => "COUNT(IF(p.IS_OLD = _utf8mb4'YES', 1, NULL))",
        rows_cached: decimal(45, 0) | decimal(45, 0) not null default "0" => "ROUND(IFNULL(SUM(p.NUMBER_RECORDS) / NULLIF(COUNT(DISTINCT p.INDEX_NAME), 0), 0))",
    } from "(SELECT *, IF(COMPRESSED_SIZE = 0, @@GLOBAL.innodb_page_size, COMPRESSED_SIZE) AS size FROM \
        information_schema.INNODB_BUFFER_PAGE) p WHERE p.TABLE_NAME IS NOT NULL GROUP BY \
        IF(LOCATE(_utf8mb4'.', p.TABLE_NAME) = 0, _utf8mb4'InnoDB System', \
        REPLACE(SUBSTRING_INDEX(p.TABLE_NAME, _utf8mb4'.', 1), _utf8mb4'`', _utf8mb4'')) ORDER BY \
        SUM(p.size) DESC"
}

view! {
    /// What of each table is in the buffer pool.
    mod innodb_buffer_stats_by_table = "sys"."innodb_buffer_stats_by_table" twin {
        object_schema: text => "IF(LOCATE(_utf8mb4'.', p.TABLE_NAME) = 0, _utf8mb4'InnoDB System', REPLACE(SUBSTRING_INDEX(p.TABLE_NAME, _utf8mb4'.', 1), _utf8mb4'`', _utf8mb4''))",
        object_name: text => "REPLACE(SUBSTRING_INDEX(p.TABLE_NAME, _utf8mb4'.', -1), _utf8mb4'`', _utf8mb4'')",
        allocated: varchar(11) | decimal(44, 0) => bytes "SUM(p.size)",
        data: varchar(11) | decimal(44, 0) => bytes "SUM(p.DATA_SIZE)",
        pages: bigint not null default "0" => "COUNT(p.PAGE_NUMBER)",
        pages_hashed: bigint not null default "0" => "COUNT(IF(p.IS_HASHED = _utf8mb4'YES', 1, NULL))",
        pages_old: bigint not null default "0" => "COUNT(IF(p.IS_OLD = _utf8mb4'YES', 1, NULL))",
        rows_cached: decimal(45, 0) | decimal(45, 0) not null default "0" => "ROUND(IFNULL(SUM(p.NUMBER_RECORDS) / NULLIF(COUNT(DISTINCT p.INDEX_NAME), 0), 0))",
    } from "(SELECT *, IF(COMPRESSED_SIZE = 0, @@GLOBAL.innodb_page_size, COMPRESSED_SIZE) AS size FROM \
        information_schema.INNODB_BUFFER_PAGE) p WHERE p.TABLE_NAME IS NOT NULL GROUP BY \
        IF(LOCATE(_utf8mb4'.', p.TABLE_NAME) = 0, _utf8mb4'InnoDB System', \
        REPLACE(SUBSTRING_INDEX(p.TABLE_NAME, _utf8mb4'.', 1), _utf8mb4'`', _utf8mb4'')), \
        REPLACE(SUBSTRING_INDEX(p.TABLE_NAME, _utf8mb4'.', -1), _utf8mb4'`', _utf8mb4'') ORDER BY \
        SUM(p.size) DESC"
}
