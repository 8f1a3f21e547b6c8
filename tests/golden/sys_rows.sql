-- What the views of sys say of a few tables and statements.
SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci;
TRUNCATE TABLE performance_schema.events_statements_summary_by_digest;
CREATE DATABASE golden_sys_rows;
USE golden_sys_rows;
CREATE TABLE a (id SMALLINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, x INT, y INT, z VARCHAR(20), KEY kx (x), KEY kxy (x, y), UNIQUE KEY uy (y), KEY kz (z(3)), KEY kzz (z));
CREATE TABLE `b c` (id BIGINT AUTO_INCREMENT PRIMARY KEY, v TINYINT, UNIQUE KEY u1 (v), KEY k1 (v));
CREATE TABLE d (k MEDIUMINT NOT NULL AUTO_INCREMENT, t INT, PRIMARY KEY (t, k), KEY (k), KEY kt (t));
INSERT INTO a (x, y, z) VALUES (1, 1, 'one'), (2, 2, 'two'), (3, 3, 'three');
SELECT COUNT(*) FROM a FORCE INDEX (kx) WHERE x > 1;
UPDATE a SET z = 'zwei' WHERE id = 2;
DELETE FROM a WHERE id = 3;
SELECT * FROM sys.schema_redundant_indexes WHERE table_schema = 'golden_sys_rows' ORDER BY table_name, redundant_index_name, dominant_index_name;
SELECT * FROM sys.x$schema_flattened_keys WHERE table_schema = 'golden_sys_rows' ORDER BY table_name, index_name;
SELECT table_name, column_name, data_type, column_type, is_signed, is_unsigned, max_value, auto_increment, auto_increment_ratio
    FROM sys.schema_auto_increment_columns WHERE table_schema = 'golden_sys_rows' AND table_name = 'a';
SELECT * FROM sys.schema_object_overview WHERE db = 'golden_sys_rows' ORDER BY object_type;
SELECT * FROM sys.schema_unused_indexes WHERE object_schema = 'golden_sys_rows' ORDER BY object_name, index_name;
SELECT index_name, rows_selected, rows_inserted, rows_updated, rows_deleted FROM sys.schema_index_statistics
    WHERE table_schema = 'golden_sys_rows' AND table_name = 'a' ORDER BY index_name;
SELECT table_name, rows_fetched, rows_inserted, rows_updated, rows_deleted FROM sys.x$schema_table_statistics
    WHERE table_schema = 'golden_sys_rows' ORDER BY table_name;
SELECT table_name, rows_inserted, innodb_buffer_pages > 0 FROM sys.schema_table_statistics_with_buffer
    WHERE table_schema = 'golden_sys_rows' AND table_name = 'a';
SELECT object_schema, object_name, pages > 0, allocated > 0 FROM sys.x$innodb_buffer_stats_by_table WHERE object_schema = 'golden_sys_rows' AND object_name = 'a';
SELECT pages > 0 FROM sys.innodb_buffer_stats_by_schema WHERE object_schema = 'golden_sys_rows';
SELECT query, exec_count, err_count, rows_affected, rows_affected_avg, full_scan FROM sys.statement_analysis
    WHERE db = 'golden_sys_rows' AND query LIKE 'UPDATE%';
SELECT y, COUNT(*) FROM a WHERE x IN (SELECT 1) GROUP BY y ORDER BY COUNT(*);
SELECT nothing FROM a;
SELECT query, exec_count, errors, error_pct, warnings, warning_pct FROM sys.statements_with_errors_or_warnings WHERE db = 'golden_sys_rows' AND errors > 0;
SELECT * FROM a ORDER BY z;
SELECT query, exec_count, sort_merge_passes, rows_sorted, avg_rows_sorted FROM sys.statements_with_sorting
    WHERE db = 'golden_sys_rows' AND query LIKE 'SELECT * FROM `a`%';
SELECT query, no_index_used_count, no_index_used_pct, rows_sent, rows_sent_avg FROM sys.statements_with_full_table_scans
    WHERE db = 'golden_sys_rows' AND query LIKE 'SELECT * FROM `a`%';
SELECT COUNT(*) > 10 FROM sys.x$statement_analysis WHERE db = 'golden_sys_rows' AND total_latency >= max_latency AND avg_latency > 0 AND digest IS NOT NULL > 0;
SELECT conn_id = CONNECTION_ID(), user = CONCAT(SUBSTRING_INDEX(USER(), '@', 1), '@', SUBSTRING_INDEX(USER(), '@', -1)), db, command, current_statement, full_scan IN ('YES', 'NO')
    FROM sys.session WHERE conn_id = CONNECTION_ID();
SELECT thd_id = ps_current_thread_id(), command FROM sys.x$processlist WHERE conn_id = CONNECTION_ID();
SELECT user, statements > 0, current_connections > 0, unique_hosts > 0 FROM sys.x$user_summary WHERE user = 'root';
SELECT statement, total > 0 FROM sys.x$user_summary_by_statement_type WHERE user = 'root' AND statement = 'delete';
SELECT total > 0, rows_affected > 0 FROM sys.x$host_summary_by_statement_latency WHERE host = 'localhost';
SELECT COUNT(*) > 0 FROM sys.host_summary WHERE host = 'localhost';
SELECT COUNT(*) > 100, MIN(Type), MAX(Type) FROM sys.metrics;
SELECT * FROM sys.metrics WHERE Variable_name IN ('port', 'threads_connected') AND Variable_value = 0;
SELECT Variable_value > 0, Type, Enabled FROM sys.metrics WHERE Variable_name IN ('queries', 'memory_current_allocated') ORDER BY Type;
SELECT mysql_version = VERSION() FROM sys.version;
SELECT COUNT(*) > 0 FROM sys.memory_global_by_current_bytes WHERE event_name = 'memory/innodb/buf_buf_pool' AND current_alloc LIKE '%iB';
SELECT total_allocated > 1000000 FROM sys.x$memory_global_total;
SELECT COUNT(*) FROM sys.innodb_lock_waits;
SELECT COUNT(*) FROM sys.x$schema_table_lock_waits WHERE object_schema = 'golden_sys_rows';
SELECT COUNT(*) > 0 FROM sys.x$io_global_by_wait_by_bytes WHERE event_name LIKE 'innodb/%data%' AND count_write > 0;
SELECT event_name, total > 0 FROM sys.io_global_by_wait_by_latency WHERE event_name = 'innodb/innodb_log_file';
SELECT COUNT(*) >= 0 FROM sys.statements_with_runtimes_in_95th_percentile;
SELECT COUNT(*) >= 0 FROM sys.session_ssl_status;
START TRANSACTION;
DELETE FROM a;
SELECT trx_state, trx_autocommit, trx_latency IS NOT NULL FROM sys.session WHERE conn_id = CONNECTION_ID();
SELECT trx_state, trx_autocommit, trx_latency > 0 FROM sys.x$processlist WHERE conn_id = CONNECTION_ID();
ROLLBACK;
UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME = 'stage/sql/executing';
UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME = 'events_stages_current';
SELECT COUNT(*) FROM a WHERE FALSE;
SELECT COUNT(*) > 0 FROM sys.host_summary_by_stages;
SELECT COUNT(*) > 0 FROM sys.x$user_summary_by_stages WHERE user = 'root' AND total > 0 AND total_latency > 0;
UPDATE performance_schema.setup_instruments SET ENABLED = 'NO', TIMED = 'NO' WHERE NAME = 'stage/sql/executing';
UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME = 'events_stages_current';
DROP DATABASE golden_sys_rows;
