//! Who waits for whom.

use palisade_schema::{View, view};

pub(super) static VIEWS: &[&View] = &[&innodb_lock_waits::VIEW, &schema_table_lock_waits::VIEW];

view! {
    /// Transactions that wait for locks of rows.
    mod innodb_lock_waits = "sys"."innodb_lock_waits" twin {
        wait_started: datetime => "rt.TRX_WAIT_STARTED",
        wait_age: time => "TIMEDIFF(NOW(), rt.TRX_WAIT_STARTED)",
        wait_age_secs: bigint => "TIMESTAMPDIFF(SECOND, rt.TRX_WAIT_STARTED, NOW())",
        locked_table: mediumtext in utf8mb4_0900_ai_ci => "CONCAT(sys.quote_identifier(rl.OBJECT_SCHEMA), _utf8mb4'.', sys.quote_identifier(rl.OBJECT_NAME))",
        locked_table_schema: varchar(64) in utf8mb4_0900_ai_ci => "rl.OBJECT_SCHEMA",
        locked_table_name: varchar(64) in utf8mb4_0900_ai_ci => "rl.OBJECT_NAME",
        locked_table_partition: varchar(64) in utf8mb4_0900_ai_ci => "rl.PARTITION_NAME",
        locked_table_subpartition: varchar(64) in utf8mb4_0900_ai_ci => "rl.SUBPARTITION_NAME",
        locked_index: varchar(64) in utf8mb4_0900_ai_ci => "rl.INDEX_NAME",
        locked_type: varchar(32) in utf8mb4_0900_ai_ci not null => "rl.LOCK_TYPE",
        waiting_trx_id: bigint_unsigned not null default "0" => "rt.TRX_ID",
        waiting_trx_started: datetime not null default "0000-00-00 00:00:00" => "rt.TRX_STARTED",
        waiting_trx_age: time => "TIMEDIFF(NOW(), rt.TRX_STARTED)",
        waiting_trx_rows_locked: bigint_unsigned not null default "0" => "rt.TRX_ROWS_LOCKED",
        waiting_trx_rows_modified: bigint_unsigned not null default "0" => "rt.TRX_ROWS_MODIFIED",
        waiting_pid: bigint_unsigned not null default "0" => "rt.TRX_MYSQL_THREAD_ID",
        waiting_query: longtext in utf8mb4_0900_ai_ci | varchar(1024) => statement "rt.TRX_QUERY",
        waiting_lock_id: varchar(128) in utf8mb4_0900_ai_ci not null => "rl.ENGINE_LOCK_ID",
        waiting_lock_mode: varchar(32) in utf8mb4_0900_ai_ci not null => "rl.LOCK_MODE",
        blocking_trx_id: bigint_unsigned not null default "0" => "bt.TRX_ID",
        blocking_pid: bigint_unsigned not null default "0" => "bt.TRX_MYSQL_THREAD_ID",
        blocking_query: longtext in utf8mb4_0900_ai_ci | varchar(1024) => statement "bt.TRX_QUERY",
        blocking_lock_id: varchar(128) in utf8mb4_0900_ai_ci not null => "bl.ENGINE_LOCK_ID",
        blocking_lock_mode: varchar(32) in utf8mb4_0900_ai_ci not null => "bl.LOCK_MODE",
        blocking_trx_started: datetime not null default "0000-00-00 00:00:00" => "bt.TRX_STARTED",
        blocking_trx_age: time => "TIMEDIFF(NOW(), bt.TRX_STARTED)",
        blocking_trx_rows_locked: bigint_unsigned not null default "0" => "bt.TRX_ROWS_LOCKED",
        blocking_trx_rows_modified: bigint_unsigned not null default "0" => "bt.TRX_ROWS_MODIFIED",
        sql_kill_blocking_query: varchar(33) in utf8mb4_0900_ai_ci not null default "" => "CONCAT(_utf8mb4'KILL QUERY ', bt.TRX_MYSQL_THREAD_ID)",
        sql_kill_blocking_connection: varchar(27) in utf8mb4_0900_ai_ci not null default "" => "CONCAT(_utf8mb4'KILL ', bt.TRX_MYSQL_THREAD_ID)",
    } from "performance_schema.data_lock_waits w JOIN information_schema.INNODB_TRX bt ON bt.TRX_ID = \
        w.BLOCKING_ENGINE_TRANSACTION_ID JOIN information_schema.INNODB_TRX rt ON rt.TRX_ID = \
        w.REQUESTING_ENGINE_TRANSACTION_ID JOIN performance_schema.data_locks bl ON bl.ENGINE_LOCK_ID = \
        w.BLOCKING_ENGINE_LOCK_ID AND bl.ENGINE = w.ENGINE JOIN performance_schema.data_locks rl ON \
        rl.ENGINE_LOCK_ID = w.REQUESTING_ENGINE_LOCK_ID AND rl.ENGINE = w.ENGINE ORDER BY \
        rt.TRX_WAIT_STARTED"
}

view! {
    /// Sessions that wait for metadata locks of tables.
    mod schema_table_lock_waits = "sys"."schema_table_lock_waits" twin {
        object_schema: varchar(64) in utf8mb4_0900_ai_ci => "g.OBJECT_SCHEMA",
        object_name: varchar(64) in utf8mb4_0900_ai_ci => "g.OBJECT_NAME",
        waiting_thread_id: bigint_unsigned not null => "pt.THREAD_ID",
        waiting_pid: bigint_unsigned => "pt.PROCESSLIST_ID",
        waiting_account: text in utf8mb4_0900_ai_ci => "sys.ps_thread_account(p.OWNER_THREAD_ID)",
        waiting_lock_type: varchar(32) in utf8mb4_0900_ai_ci not null => "p.LOCK_TYPE",
        waiting_lock_duration: varchar(32) in utf8mb4_0900_ai_ci not null => "p.LOCK_DURATION",
        waiting_query: longtext in utf8mb4_0900_ai_ci => statement "pt.PROCESSLIST_INFO",
        waiting_query_secs: bigint => "pt.PROCESSLIST_TIME",
        waiting_query_rows_affected: bigint_unsigned => "ps.ROWS_AFFECTED",
        waiting_query_rows_examined: bigint_unsigned => "ps.ROWS_EXAMINED",
        blocking_thread_id: bigint_unsigned not null => "gt.THREAD_ID",
        blocking_pid: bigint_unsigned => "gt.PROCESSLIST_ID",
        blocking_account: text in utf8mb4_0900_ai_ci => "sys.ps_thread_account(g.OWNER_THREAD_ID)",
        blocking_lock_type: varchar(32) in utf8mb4_0900_ai_ci not null => "g.LOCK_TYPE",
        blocking_lock_duration: varchar(32) in utf8mb4_0900_ai_ci not null => "g.LOCK_DURATION",
        sql_kill_blocking_query: varchar(31) in utf8mb4_0900_ai_ci => "CONCAT(_utf8mb4'KILL QUERY ', gt.PROCESSLIST_ID)",
        sql_kill_blocking_connection: varchar(25) in utf8mb4_0900_ai_ci => "CONCAT(_utf8mb4'KILL ', gt.PROCESSLIST_ID)",
    } from "performance_schema.metadata_locks g JOIN performance_schema.metadata_locks p ON p.OBJECT_TYPE = \
        g.OBJECT_TYPE AND p.OBJECT_SCHEMA = g.OBJECT_SCHEMA AND p.OBJECT_NAME = g.OBJECT_NAME AND \
        g.LOCK_STATUS = _utf8mb4'GRANTED' AND p.LOCK_STATUS = _utf8mb4'PENDING' JOIN \
        performance_schema.threads gt ON gt.THREAD_ID = g.OWNER_THREAD_ID JOIN performance_schema.threads pt \
        ON pt.THREAD_ID = p.OWNER_THREAD_ID LEFT JOIN performance_schema.events_statements_current gs ON \
        gs.THREAD_ID = g.OWNER_THREAD_ID LEFT JOIN performance_schema.events_statements_current ps ON \
        ps.THREAD_ID = p.OWNER_THREAD_ID WHERE g.OBJECT_TYPE = _utf8mb4'TABLE'"
}
