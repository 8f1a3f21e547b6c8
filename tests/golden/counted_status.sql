-- What statements count in SHOW STATUS and performance_schema, moved by known amounts.
DROP DATABASE IF EXISTS golden_counted_status;
CREATE DATABASE golden_counted_status;
USE golden_counted_status;
CREATE TABLE t (a INT PRIMARY KEY, b INT, c INT, KEY (b));
INSERT INTO t VALUES (1, 10, 1), (2, 20, 2), (3, 30, 3), (4, 40, 4), (5, 50, 5);
-- Rows that are read by key, in the order of an index from either end, and all of a table.
FLUSH STATUS;
SELECT c FROM t WHERE a = 3;
SHOW SESSION STATUS WHERE Variable_name IN ('Handler_read_key', 'Handler_read_next');
FLUSH STATUS;
SELECT c FROM t WHERE b BETWEEN 20 AND 40;
SHOW SESSION STATUS WHERE Variable_name IN ('Handler_read_key', 'Handler_read_next');
FLUSH STATUS;
SELECT b FROM t ORDER BY b LIMIT 2;
SHOW SESSION STATUS WHERE Variable_name IN ('Handler_read_first', 'Handler_read_next');
FLUSH STATUS;
SELECT b FROM t ORDER BY b DESC LIMIT 2;
SHOW SESSION STATUS WHERE Variable_name IN ('Handler_read_last', 'Handler_read_prev');
-- Changes, and what is taken back.
FLUSH STATUS;
INSERT INTO t VALUES (6, 60, 6), (7, 70, 7);
UPDATE t SET c = c + 1 WHERE a IN (1, 2, 3);
DELETE FROM t WHERE a >= 6;
BEGIN;
UPDATE t SET c = 0 WHERE a = 1;
SAVEPOINT s;
UPDATE t SET c = 0 WHERE a = 2;
ROLLBACK TO s;
ROLLBACK;
SHOW SESSION STATUS WHERE Variable_name IN ('Handler_write', 'Handler_update', 'Handler_delete', 'Handler_rollback', 'Handler_savepoint', 'Handler_savepoint_rollback');
-- Statements that were slow.
FLUSH STATUS;
SET long_query_time = 0;
DO 1;
DO 2;
SET long_query_time = 10;
SELECT VARIABLE_VALUE FROM performance_schema.session_status WHERE VARIABLE_NAME = 'Slow_queries';
-- Settings, of the server and of the session.
SET SESSION sort_buffer_size = 65536;
SELECT VARIABLE_VALUE FROM performance_schema.session_variables WHERE VARIABLE_NAME = 'sort_buffer_size';
SELECT VARIABLE_VALUE = @@global.sort_buffer_size FROM performance_schema.global_variables WHERE VARIABLE_NAME = 'sort_buffer_size';
-- Privileges, as they are granted.
CREATE USER golden_counted@localhost;
GRANT SELECT, INSERT ON golden_counted_status.* TO golden_counted@localhost;
GRANT UPDATE ON golden_counted_status.t TO golden_counted@localhost;
GRANT PROCESS ON *.* TO golden_counted@localhost;
SELECT * FROM information_schema.USER_PRIVILEGES WHERE GRANTEE LIKE '%golden_counted%';
SELECT * FROM information_schema.SCHEMA_PRIVILEGES WHERE GRANTEE LIKE '%golden_counted%' ORDER BY PRIVILEGE_TYPE;
SELECT * FROM information_schema.TABLE_PRIVILEGES WHERE GRANTEE LIKE '%golden_counted%';
SELECT COUNT(*) FROM information_schema.COLUMN_PRIVILEGES WHERE GRANTEE LIKE '%golden_counted%';
REVOKE INSERT ON golden_counted_status.* FROM golden_counted@localhost;
SELECT PRIVILEGE_TYPE FROM information_schema.SCHEMA_PRIVILEGES WHERE GRANTEE LIKE '%golden_counted%';
DROP USER golden_counted@localhost;
SELECT COUNT(*) FROM information_schema.USER_PRIVILEGES WHERE GRANTEE LIKE '%golden_counted%';
SELECT COLLATION_NAME, CHARACTER_SET_NAME FROM information_schema.COLLATION_CHARACTER_SET_APPLICABILITY WHERE COLLATION_NAME IN ('utf8mb4_bin', 'latin1_swedish_ci') ORDER BY 1;
-- Keys as sys shows them.
SELECT * FROM sys.x$schema_flattened_keys WHERE table_schema = 'golden_counted_status' ORDER BY index_name;
SELECT COUNT(*) FROM information_schema.INNODB_TABLESPACES_BRIEF WHERE NAME = 'golden_counted_status/t';
DROP DATABASE golden_counted_status;
