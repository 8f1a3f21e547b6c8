-- Traces of statements that are prepared, and of what an account may not look into.
DROP DATABASE IF EXISTS golden_optimizer_trace_prepared;
CREATE DATABASE golden_optimizer_trace_prepared;
USE golden_optimizer_trace_prepared;
CREATE TABLE t (a INT PRIMARY KEY, b INT, KEY (b));
CREATE VIEW v AS SELECT a FROM t;
SET optimizer_trace = 'enabled=on', optimizer_trace_offset = 0, optimizer_trace_limit = 100;
PREPARE s FROM 'SELECT a FROM t WHERE a > ?';
PREPARE u FROM 'DO 1';
PREPARE i FROM 'INSERT INTO t VALUES (?, ?)';
PREPARE wrong FROM 'SELECT c FROM v';
DEALLOCATE PREPARE u;
SELECT a FROM v;
SELECT QUERY, JSON_VALID(TRACE), INSUFFICIENT_PRIVILEGES FROM information_schema.OPTIMIZER_TRACE WHERE QUERY NOT LIKE '%c FROM%';
SET optimizer_trace = 'enabled=off';
DROP DATABASE golden_optimizer_trace_prepared;
