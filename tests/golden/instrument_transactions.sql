-- Transactions as performance_schema tells of them: one by one, and what they took together.
CREATE DATABASE golden_instrument_transactions;
USE golden_instrument_transactions;
CREATE TABLE t (a INT PRIMARY KEY, b INT);
INSERT INTO t VALUES (1, 1), (2, 2), (3, 3);
SHOW COLUMNS FROM performance_schema.events_transactions_current;
SHOW COLUMNS FROM performance_schema.events_transactions_history;
SHOW COLUMNS FROM performance_schema.events_transactions_history_long;
SHOW COLUMNS FROM performance_schema.events_transactions_summary_by_account_by_event_name;
SHOW COLUMNS FROM performance_schema.events_transactions_summary_by_host_by_event_name;
SHOW COLUMNS FROM performance_schema.events_transactions_summary_by_thread_by_event_name;
SHOW COLUMNS FROM performance_schema.events_transactions_summary_by_user_by_event_name;
SHOW COLUMNS FROM performance_schema.events_transactions_summary_global_by_event_name;
SELECT NAME, ENABLED, TIMED, PROPERTIES, FLAGS FROM performance_schema.setup_instruments WHERE NAME IN ('transaction', 'error') ORDER BY NAME;
SELECT * FROM performance_schema.setup_consumers WHERE NAME LIKE 'events_trans%' ORDER BY NAME;
TRUNCATE TABLE performance_schema.events_transactions_history;
-- Statements that commit themselves.
SELECT * FROM t WHERE a = 1;
UPDATE t SET b = 5 WHERE a = 2;
SELECT EVENT_NAME, STATE, GTID, XID_FORMAT_ID, XID_GTRID, XID_BQUAL, XA_STATE, ACCESS_MODE, ISOLATION_LEVEL, AUTOCOMMIT, NUMBER_OF_SAVEPOINTS, NUMBER_OF_ROLLBACK_TO_SAVEPOINT,
    NUMBER_OF_RELEASE_SAVEPOINT, OBJECT_INSTANCE_BEGIN, NESTING_EVENT_TYPE, TIMER_END - TIMER_START = TIMER_WAIT AS timed
    FROM performance_schema.events_transactions_history WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()) ORDER BY EVENT_ID;
-- An open transaction, and its statements within it.
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
START TRANSACTION READ ONLY;
SELECT STATE, ACCESS_MODE, ISOLATION_LEVEL, AUTOCOMMIT, NESTING_EVENT_TYPE, END_EVENT_ID, TIMER_WAIT > 0
    FROM performance_schema.events_transactions_current WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID());
SELECT 'within', COUNT(*) FROM t;
SELECT s.NESTING_EVENT_TYPE, s.NESTING_EVENT_LEVEL, t.EVENT_ID = s.NESTING_EVENT_ID FROM performance_schema.events_statements_history AS s
    JOIN performance_schema.events_transactions_current AS t USING (THREAD_ID)
    WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()) AND SQL_TEXT LIKE 'SELECT \'within\'%';
COMMIT;
SELECT t.STATE, t.ACCESS_MODE, t.ISOLATION_LEVEL, t.AUTOCOMMIT, s.EVENT_NAME, t.EVENT_ID - s.EVENT_ID AS after, t.END_EVENT_ID > t.EVENT_ID AS ended
    FROM performance_schema.events_transactions_current AS t JOIN performance_schema.events_statements_history AS s ON s.THREAD_ID = t.THREAD_ID AND s.EVENT_ID = t.NESTING_EVENT_ID
    WHERE t.THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID());
-- Savepoints, and a transaction that is rolled back.
BEGIN;
INSERT INTO t VALUES (4, 4);
SAVEPOINT x;
SAVEPOINT y;
SAVEPOINT z;
ROLLBACK TO SAVEPOINT x;
ROLLBACK TO SAVEPOINT x;
SAVEPOINT y;
RELEASE SAVEPOINT y;
ROLLBACK;
SELECT STATE, NUMBER_OF_SAVEPOINTS, NUMBER_OF_ROLLBACK_TO_SAVEPOINT, NUMBER_OF_RELEASE_SAVEPOINT, AUTOCOMMIT
    FROM performance_schema.events_transactions_current WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID());
INSERT INTO t VALUES (1, 1);
SELECT STATE, AUTOCOMMIT FROM performance_schema.events_transactions_current WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID());
-- One after the other.
BEGIN;
COMMIT AND CHAIN;
COMMIT;
SET autocommit = 0;
SELECT 1;
SELECT b FROM t WHERE a = 1;
SELECT STATE, AUTOCOMMIT FROM performance_schema.events_transactions_current WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID());
SET autocommit = 1;
SELECT STATE, AUTOCOMMIT FROM performance_schema.events_transactions_current WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID());
-- Distributed ones.
XA START 'a', 'b', 3;
SELECT STATE, XID_FORMAT_ID, XID_GTRID, XID_BQUAL, XA_STATE, AUTOCOMMIT FROM performance_schema.events_transactions_current WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID());
UPDATE t SET b = 6 WHERE a = 2;
XA END 'a', 'b', 3;
SELECT STATE, XA_STATE FROM performance_schema.events_transactions_current WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID());
XA PREPARE 'a', 'b', 3;
SELECT STATE, XID_GTRID, XA_STATE FROM performance_schema.events_transactions_current WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID());
XA COMMIT 'a', 'b', 3;
SELECT STATE, XID_GTRID, XA_STATE FROM performance_schema.events_transactions_current WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID());
XA START X'00ff';
XA END X'00ff';
XA COMMIT X'00ff' ONE PHASE;
SELECT STATE, XID_FORMAT_ID, XID_GTRID, XID_BQUAL, XA_STATE FROM performance_schema.events_transactions_current WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID());
XA START 'c';
XA END 'c';
XA ROLLBACK 'c';
SELECT STATE, XID_FORMAT_ID, XID_GTRID, XID_BQUAL, XA_STATE FROM performance_schema.events_transactions_current WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID());
-- Together.
TRUNCATE TABLE performance_schema.events_transactions_summary_by_thread_by_event_name;
SELECT b FROM t WHERE a = 1;
SELECT b FROM t WHERE a = 2;
START TRANSACTION READ ONLY;
SELECT b FROM t WHERE a = 2;
COMMIT;
BEGIN;
SELECT EVENT_NAME, COUNT_STAR, COUNT_READ_WRITE, COUNT_READ_ONLY, SUM_TIMER_WAIT = SUM_TIMER_READ_WRITE + SUM_TIMER_READ_ONLY AS sums, MIN_TIMER_WAIT <= AVG_TIMER_WAIT, AVG_TIMER_WAIT <= MAX_TIMER_WAIT
    FROM performance_schema.events_transactions_summary_by_thread_by_event_name WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID());
ROLLBACK;
SELECT COUNT_STAR, COUNT_READ_WRITE, COUNT_READ_ONLY FROM performance_schema.events_transactions_summary_by_thread_by_event_name
    WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID());
-- What is not collected.
UPDATE performance_schema.setup_instruments SET ENABLED = 'NO' WHERE NAME = 'transaction';
BEGIN;
SELECT b FROM t WHERE a = 2;
COMMIT;
SELECT COUNT_STAR FROM performance_schema.events_transactions_summary_by_thread_by_event_name
    WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID());
SELECT NESTING_EVENT_TYPE FROM performance_schema.events_statements_history WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()) AND EVENT_NAME = 'statement/sql/commit' ORDER BY EVENT_ID DESC LIMIT 1;
UPDATE performance_schema.setup_instruments SET ENABLED = 'YES' WHERE NAME = 'transaction';
UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME = 'events_transactions_history';
TRUNCATE TABLE performance_schema.events_transactions_history;
SELECT b FROM t WHERE a = 2;
SELECT COUNT(*) FROM performance_schema.events_transactions_history WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID());
UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME = 'events_transactions_history';
-- What may be written.
TRUNCATE TABLE performance_schema.events_transactions_current;
TRUNCATE TABLE performance_schema.events_transactions_history_long;
TRUNCATE TABLE performance_schema.events_transactions_summary_by_account_by_event_name;
TRUNCATE TABLE performance_schema.events_transactions_summary_by_host_by_event_name;
TRUNCATE TABLE performance_schema.events_transactions_summary_by_user_by_event_name;
TRUNCATE TABLE performance_schema.events_transactions_summary_global_by_event_name;
DELETE FROM performance_schema.events_transactions_history;
DROP DATABASE golden_instrument_transactions;
