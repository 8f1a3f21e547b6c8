-- What performance_schema tells of statements: by digest, by class, and one by one; what may be written to these tables.
DROP DATABASE IF EXISTS golden_statement_events;
CREATE DATABASE golden_statement_events;
TRUNCATE TABLE performance_schema.events_statements_summary_by_digest;
USE golden_statement_events;
CREATE TABLE t (a INT PRIMARY KEY, b INT, KEY (b));
INSERT INTO t VALUES (1, 1), (2, 2), (3, 3);
INSERT INTO t VALUES (4, 4), (5, 5);
SELECT * FROM t WHERE a = 1;
SELECT * FROM t WHERE a = 2;
SELECT  *  FROM t /* a comment */ WHERE a=7;
SELECT * FROM t WHERE a IN (1, 2, 3) ORDER BY 1;
SELECT * FROM t WHERE b > 1 AND b < 3;
SELECT COUNT(*) FROM t AS x JOIN t AS y ON x.a + 0 = y.b + 0;
SELECT * FROM nosuch;
UPDATE t SET b = b + 1 WHERE a >= 4;
UPDATE t SET b = b WHERE a = 1;
DELETE FROM t WHERE a = 5;
INSERT INTO t VALUES (1, 1);
INSERT IGNORE INTO t VALUES (1, 1);
SELECT 1 / 0, 'a' + 1;
SET @x = 'text', @y = 5;
BEGIN;
COMMIT;
SELEC 1;
SELECT SCHEMA_NAME, DIGEST_TEXT, COUNT_STAR FROM performance_schema.events_statements_summary_by_digest
    WHERE SCHEMA_NAME = 'golden_statement_events' AND DIGEST_TEXT NOT LIKE 'SHOW%' AND DIGEST_TEXT NOT LIKE 'SELECT SCHEMA%' ORDER BY FIRST_SEEN;
SELECT LEFT(DIGEST_TEXT, 50) AS text, SUM_ERRORS, SUM_WARNINGS, SUM_ROWS_AFFECTED, SUM_ROWS_SENT
    FROM performance_schema.events_statements_summary_by_digest
    WHERE DIGEST_TEXT REGEXP '^(INSERT|UPDATE|DELETE|SELECT \\*|SELECT \\? / )' ORDER BY FIRST_SEEN;
SELECT LEFT(DIGEST_TEXT, 50) AS text, SUM_SELECT_SCAN, SUM_SELECT_RANGE, SUM_NO_INDEX_USED, SUM_NO_GOOD_INDEX_USED
    FROM performance_schema.events_statements_summary_by_digest
    WHERE DIGEST_TEXT LIKE 'SELECT * FROM `t` WHERE `a` = ?' OR DIGEST_TEXT LIKE '%`b` > ?%' ORDER BY FIRST_SEEN;
SELECT QUERY_SAMPLE_TEXT LIKE 'SELECT%', LENGTH(DIGEST), QUERY_SAMPLE_TIMER_WAIT = MAX_TIMER_WAIT, MIN_TIMER_WAIT <= AVG_TIMER_WAIT, AVG_TIMER_WAIT <= MAX_TIMER_WAIT,
    FIRST_SEEN <= LAST_SEEN, QUANTILE_95 <= QUANTILE_99, QUANTILE_99 <= QUANTILE_999, MAX_TIMER_WAIT <= QUANTILE_999, SUM_TIMER_WAIT > 0, COUNT_SECONDARY
    FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST_TEXT = 'SELECT * FROM `t` WHERE `a` = ?';
SELECT COUNT(*), MIN(BUCKET_NUMBER), MAX(BUCKET_NUMBER), SUM(COUNT_BUCKET), MAX(COUNT_BUCKET_AND_LOWER), MAX(BUCKET_QUANTILE)
    FROM performance_schema.events_statements_histogram_by_digest AS h JOIN performance_schema.events_statements_summary_by_digest AS d USING (DIGEST)
    WHERE h.SCHEMA_NAME = 'golden_statement_events' AND d.SCHEMA_NAME = 'golden_statement_events' AND d.DIGEST_TEXT = 'SELECT * FROM `t` WHERE `a` = ?';
SELECT BUCKET_NUMBER, BUCKET_TIMER_LOW, BUCKET_TIMER_HIGH FROM performance_schema.events_statements_histogram_global WHERE BUCKET_NUMBER % 50 IN (0, 1, 17, 49);
-- The last statements.
SELECT 'the last one', 2;
SELECT EVENT_NAME, SQL_TEXT, DIGEST_TEXT, CURRENT_SCHEMA, MYSQL_ERRNO, RETURNED_SQLSTATE, MESSAGE_TEXT, ERRORS, WARNINGS, ROWS_AFFECTED, ROWS_SENT
    FROM performance_schema.events_statements_history WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()) AND SQL_TEXT = 'SELECT \'the last one\', 2';
INSERT INTO t VALUES (21, 1), (22, 2);
SELEC 2;
INSERT INTO t VALUES (1, 2);
SELECT EVENT_NAME, SQL_TEXT, DIGEST IS NULL, MYSQL_ERRNO, RETURNED_SQLSTATE, MESSAGE_TEXT, ERRORS, WARNINGS, ROWS_AFFECTED, ROWS_SENT
    FROM performance_schema.events_statements_history WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()) AND EVENT_NAME REGEXP 'insert|error' ORDER BY EVENT_ID DESC LIMIT 3;
SELECT EVENT_NAME, LEFT(SQL_TEXT, 28), END_EVENT_ID, MYSQL_ERRNO, RETURNED_SQLSTATE
    FROM performance_schema.events_statements_current WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID());
-- Passwords are not kept.
CREATE USER golden_statement_events IDENTIFIED BY 'a secret';
SELECT SQL_TEXT FROM performance_schema.events_statements_history WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()) AND EVENT_NAME LIKE '%create_user';
SELECT COUNT(*) FROM performance_schema.events_statements_history WHERE SQL_TEXT LIKE '%a secr%';
DROP USER golden_statement_events;
TRUNCATE TABLE performance_schema.events_statements_history;
SELECT COUNT(*) FROM performance_schema.events_statements_history WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()) AND EVENT_NAME NOT LIKE '%truncate';
-- By class.
TRUNCATE TABLE performance_schema.events_statements_summary_global_by_event_name;
SELECT 1;
SELECT 2, 3;
DELETE FROM t WHERE a > 20;
SELECT EVENT_NAME, COUNT_STAR, SUM_ROWS_SENT, SUM_ROWS_AFFECTED FROM performance_schema.events_statements_summary_by_thread_by_event_name
    WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()) AND EVENT_NAME REGEXP '/(select|delete|insert)$' ORDER BY EVENT_NAME;
TRUNCATE TABLE performance_schema.events_statements_summary_by_thread_by_event_name;
SELECT EVENT_NAME, COUNT_STAR FROM performance_schema.events_statements_summary_by_thread_by_event_name
    WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()) AND EVENT_NAME REGEXP '/(delete|insert)$' ORDER BY EVENT_NAME;
SELECT EVENT_NAME, COUNT_STAR FROM performance_schema.events_statements_summary_global_by_event_name WHERE EVENT_NAME REGEXP '/(delete|insert)$' ORDER BY EVENT_NAME;
SELECT COUNT(*) FROM performance_schema.events_statements_summary_global_by_event_name;
SELECT COUNT(*) FROM performance_schema.events_statements_summary_by_program;
-- What may be written.
TRUNCATE TABLE performance_schema.events_statements_current;
TRUNCATE TABLE performance_schema.events_statements_history_long;
TRUNCATE TABLE performance_schema.events_statements_histogram_global;
TRUNCATE TABLE performance_schema.events_statements_histogram_by_digest;
TRUNCATE TABLE performance_schema.events_statements_summary_by_account_by_event_name;
TRUNCATE TABLE performance_schema.events_statements_summary_by_user_by_event_name;
TRUNCATE TABLE performance_schema.events_statements_summary_by_host_by_event_name;
TRUNCATE TABLE performance_schema.events_statements_summary_by_program;
TRUNCATE TABLE performance_schema.threads;
TRUNCATE TABLE performance_schema.nosuch;
TRUNCATE TABLE information_schema.TABLES;
DROP DATABASE golden_statement_events;
