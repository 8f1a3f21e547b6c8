-- The query logs as tables: rows, and what may be done to the tables.
SELECT @@log_output;
SET GLOBAL log_output = '';
SET GLOBAL log_output = 'TABLE,NONE';
SELECT @@log_output;
SET GLOBAL log_output = 'x';
SET GLOBAL log_output = 'TABLE';
TRUNCATE mysql.general_log;
SET GLOBAL general_log = ON;
SELECT 1 AS first;
SELECT 'a''b', "c"; -- trailing
ALTER USER 'root'@'localhost' IDENTIFIED BY '';
SELEC 1;
SET sql_log_off = ON;
SELECT 'not logged';
SET sql_log_off = OFF;
SELECT user_host, server_id = @@server_id, command_type, argument, ABS(TIMESTAMPDIFF(SECOND, event_time, NOW())) < 60
FROM mysql.general_log WHERE thread_id = CONNECTION_ID() AND argument <> '' ORDER BY event_time;
INSERT INTO mysql.general_log VALUES (NOW(), 'u', 1, 1, 'c', 'a');
UPDATE mysql.general_log SET thread_id = 1;
DELETE FROM mysql.general_log;
REPLACE INTO mysql.slow_log SELECT * FROM mysql.slow_log;
LOCK TABLES mysql.general_log READ;
LOCK TABLES mysql.slow_log WRITE;
SELECT COUNT(*) > 0 FROM mysql.general_log FOR UPDATE;
SELECT COUNT(*) > 0 FROM mysql.general_log LOCK IN SHARE MODE;
DROP TABLE mysql.general_log;
ALTER TABLE mysql.general_log ADD COLUMN x INT;
RENAME TABLE mysql.general_log TO mysql.general_log_old;
CREATE TABLE mysql.general_log_new LIKE mysql.general_log;
RENAME TABLE mysql.general_log TO mysql.general_log_old, mysql.general_log_new TO mysql.general_log;
SELECT COUNT(*) > 10 FROM mysql.general_log_old;
DROP TABLE mysql.general_log_old;
TRUNCATE TABLE mysql.general_log;
SELECT COUNT(*) FROM mysql.general_log WHERE thread_id = CONNECTION_ID();
FLUSH TABLES WITH READ LOCK;
SELECT 'under the lock';
UNLOCK TABLES;
SELECT COUNT(*) FROM mysql.general_log WHERE argument = 'SELECT ''under the lock''';
SET GLOBAL general_log = OFF;
DELETE FROM mysql.general_log;
-- the slow query log
TRUNCATE mysql.slow_log;
SET GLOBAL slow_query_log = ON;
SET SESSION long_query_time = 0;
CREATE DATABASE logged;
USE logged;
CREATE TABLE t (a INT PRIMARY KEY);
INSERT INTO t VALUES (1), (2), (3);
SELECT a FROM t WHERE a > 1;
SET SESSION long_query_time = 10;
SELECT user_host, query_time < '00:00:30', lock_time < '00:00:30', rows_sent, db, last_insert_id, insert_id, server_id = @@server_id, sql_text
FROM mysql.slow_log WHERE thread_id = CONNECTION_ID() AND sql_text LIKE 'SELECT a%';
SELECT sql_text, db FROM mysql.slow_log WHERE thread_id = CONNECTION_ID() AND sql_text NOT IN ('SELECT DATABASE()', 'Init DB') ORDER BY start_time;
SELECT ABS(TIMESTAMPDIFF(SECOND, start_time, NOW())) < 60 FROM mysql.slow_log WHERE thread_id = CONNECTION_ID() LIMIT 1;
DROP TABLE mysql.slow_log;
SET GLOBAL slow_query_log = OFF;
-- a log without its table
RENAME TABLE mysql.general_log TO mysql.kept;
SET GLOBAL general_log = ON;
SELECT @@general_log;
RENAME TABLE mysql.kept TO mysql.general_log;
SET GLOBAL log_output = 'FILE';
DROP DATABASE logged;
