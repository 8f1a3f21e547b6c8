-- Errors and warnings by number, as performance_schema counts them.
CREATE DATABASE golden_instrument_errors;
USE golden_instrument_errors;
CREATE TABLE t (a TINYINT PRIMARY KEY);
SHOW COLUMNS FROM performance_schema.events_errors_summary_by_account_by_error;
SHOW COLUMNS FROM performance_schema.events_errors_summary_by_host_by_error;
SHOW COLUMNS FROM performance_schema.events_errors_summary_by_thread_by_error;
SHOW COLUMNS FROM performance_schema.events_errors_summary_by_user_by_error;
SHOW COLUMNS FROM performance_schema.events_errors_summary_global_by_error;
TRUNCATE TABLE performance_schema.events_errors_summary_global_by_error;
SELECT * FROM performance_schema.events_errors_summary_global_by_error WHERE ERROR_NUMBER IN (1064, 1146);
SELECT * FROM nosuch;
SELECT * FROM nosuch;
SELEC 1;
INSERT INTO t VALUES (1);
INSERT INTO t VALUES (1);
INSERT IGNORE INTO t VALUES (1), (1000), (2), (3000);
SELECT 1 / 0, 2 / 0;
DROP TABLE IF EXISTS nosuch;
SHOW WARNINGS;
SIGNAL SQLSTATE '45000';
SET SESSION max_error_count = 0;
SELECT * FROM nosuch;
SET SESSION max_error_count = DEFAULT;
SELECT ERROR_NUMBER, ERROR_NAME, SQL_STATE, SUM_ERROR_RAISED, SUM_ERROR_HANDLED, FIRST_SEEN <= LAST_SEEN AS seen, TIMESTAMPDIFF(SECOND, LAST_SEEN, NOW()) BETWEEN 0 AND 60 AS lately
    FROM performance_schema.events_errors_summary_global_by_error WHERE SUM_ERROR_RAISED > 0 AND ERROR_NUMBER IN (1051, 1062, 1064, 1146, 1264, 1365, 1644) ORDER BY ERROR_NUMBER;
SELECT ERROR_NUMBER, SUM_ERROR_RAISED FROM performance_schema.events_errors_summary_by_thread_by_error
    WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()) AND ERROR_NUMBER IN (1062, 1064, 1146) ORDER BY 1;
TRUNCATE TABLE performance_schema.events_errors_summary_by_thread_by_error;
SELECT ERROR_NUMBER, SUM_ERROR_RAISED FROM performance_schema.events_errors_summary_by_thread_by_error
    WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()) AND ERROR_NUMBER IN (1062, 1064, 1146) ORDER BY 1;
SELECT USER, ERROR_NUMBER, SUM_ERROR_RAISED FROM performance_schema.events_errors_summary_by_user_by_error WHERE USER = 'root' AND ERROR_NUMBER IN (1062, 1064, 1146) ORDER BY 2;
UPDATE performance_schema.setup_instruments SET ENABLED = 'NO' WHERE NAME = 'error';
SELECT * FROM nosuch;
UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME = 'error';
SELECT NAME, ENABLED, TIMED FROM performance_schema.setup_instruments WHERE NAME = 'error';
SELECT ERROR_NUMBER, SUM_ERROR_RAISED FROM performance_schema.events_errors_summary_global_by_error WHERE ERROR_NUMBER = 1146;
TRUNCATE TABLE performance_schema.events_errors_summary_by_account_by_error;
TRUNCATE TABLE performance_schema.events_errors_summary_by_user_by_error;
TRUNCATE TABLE performance_schema.events_errors_summary_by_host_by_error;
DROP DATABASE golden_instrument_errors;
