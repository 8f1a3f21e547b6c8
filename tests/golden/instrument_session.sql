-- What performance_schema tells of a session's variables and counters, of timers, of the log, and of metadata locks.
SET @number = 12, @text = 'a b', @nothing = NULL;
SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.user_variables_by_thread ORDER BY 1;
SET SESSION sort_buffer_size = 131072, SESSION lock_wait_timeout = 77;
SELECT v.VARIABLE_NAME, v.VARIABLE_VALUE FROM performance_schema.variables_by_thread AS v
JOIN performance_schema.threads AS t ON t.THREAD_ID = v.THREAD_ID
WHERE t.PROCESSLIST_ID = CONNECTION_ID() AND v.VARIABLE_NAME IN ('sort_buffer_size', 'lock_wait_timeout', 'autocommit') ORDER BY 1;
SELECT v.VARIABLE_NAME FROM performance_schema.variables_by_thread AS v
JOIN performance_schema.threads AS t ON t.THREAD_ID = v.THREAD_ID
WHERE t.PROCESSLIST_ID = CONNECTION_ID() AND v.VARIABLE_NAME IN ('max_connections', 'datadir');
SELECT s.VARIABLE_NAME FROM performance_schema.status_by_thread AS s
JOIN performance_schema.threads AS t ON t.THREAD_ID = s.THREAD_ID
WHERE t.PROCESSLIST_ID = CONNECTION_ID() AND s.VARIABLE_NAME IN ('Bytes_sent', 'Handler_commit', 'Questions', 'Uptime', 'Threads_connected') ORDER BY 1;
SELECT USER, VARIABLE_NAME, VARIABLE_VALUE > 0 FROM performance_schema.status_by_user WHERE USER = 'root' AND VARIABLE_NAME = 'Bytes_sent';
SELECT TIMER_NAME FROM performance_schema.performance_timers;
SELECT LENGTH(SERVER_UUID), `LOCAL`, `REPLICATION`, JSON_KEYS(STORAGE_ENGINES, '$.InnoDB') FROM performance_schema.log_status;
SELECT COUNT(*) FROM performance_schema.replication_connection_status;
SELECT COUNT(*) FROM performance_schema.replication_group_members;
SELECT COUNT(*) FROM performance_schema.replication_applier_status_by_worker;
SELECT COUNT(*) FROM performance_schema.keyring_keys;
CREATE DATABASE golden_instrument_session;
USE golden_instrument_session;
CREATE TABLE t (a INT PRIMARY KEY, b INT);
INSERT INTO t VALUES (1, 1);
BEGIN;
SELECT * FROM t;
SELECT OBJECT_TYPE, OBJECT_NAME, LOCK_TYPE, LOCK_DURATION, LOCK_STATUS FROM performance_schema.metadata_locks
WHERE OBJECT_SCHEMA = 'golden_instrument_session' AND OBJECT_TYPE = 'TABLE';
UPDATE t SET b = 2;
SELECT OBJECT_TYPE, OBJECT_NAME, LOCK_TYPE, LOCK_DURATION, LOCK_STATUS FROM performance_schema.metadata_locks
WHERE OBJECT_SCHEMA = 'golden_instrument_session' AND OBJECT_TYPE = 'TABLE' AND LOCK_TYPE = 'SHARED_WRITE';
COMMIT;
SELECT COUNT(*) FROM performance_schema.metadata_locks
WHERE OBJECT_SCHEMA = 'golden_instrument_session' AND OBJECT_TYPE = 'TABLE';
DO GET_LOCK('Name', 1);
SELECT OBJECT_TYPE, OBJECT_SCHEMA, OBJECT_NAME, LOCK_TYPE, LOCK_DURATION, LOCK_STATUS FROM performance_schema.metadata_locks
WHERE OBJECT_TYPE = 'USER LEVEL LOCK';
DO RELEASE_ALL_LOCKS();
FLUSH TABLES WITH READ LOCK;
SELECT OBJECT_TYPE, OBJECT_SCHEMA, LOCK_TYPE, LOCK_DURATION, LOCK_STATUS FROM performance_schema.metadata_locks
WHERE OBJECT_TYPE IN ('GLOBAL', 'COMMIT') ORDER BY OBJECT_TYPE;
UNLOCK TABLES;
DROP DATABASE golden_instrument_session;
