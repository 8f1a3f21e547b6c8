-- setup_objects says of which tables the use is counted; setup_threads of which threads.
CREATE DATABASE golden_instrument_objects;
USE golden_instrument_objects;
CREATE TABLE t (a INT PRIMARY KEY, b INT, KEY (b));
CREATE TABLE u (a INT PRIMARY KEY);
SHOW COLUMNS FROM performance_schema.setup_objects;
SHOW COLUMNS FROM performance_schema.setup_threads;
SHOW COLUMNS FROM performance_schema.setup_loggers;
SHOW COLUMNS FROM performance_schema.setup_meters;
SHOW COLUMNS FROM performance_schema.setup_metrics;
SELECT * FROM performance_schema.setup_objects WHERE OBJECT_TYPE IN ('EVENT', 'TABLE') ORDER BY OBJECT_TYPE, OBJECT_SCHEMA;
INSERT INTO t VALUES (1, 1), (2, 2);
INSERT INTO u VALUES (1);
SELECT b FROM t WHERE a = 1;
SELECT OBJECT_NAME, COUNT_STAR, COUNT_FETCH, COUNT_INSERT FROM performance_schema.table_io_waits_summary_by_table WHERE OBJECT_SCHEMA = 'golden_instrument_objects' ORDER BY 1;
-- A table of which the use is not counted any more.
INSERT INTO performance_schema.setup_objects VALUES ('TABLE', 'golden_instrument_objects', 't', 'NO', 'NO');
SELECT b FROM t WHERE a = 1;
SELECT OBJECT_NAME, COUNT_STAR FROM performance_schema.table_io_waits_summary_by_table WHERE OBJECT_SCHEMA = 'golden_instrument_objects' ORDER BY 1;
SELECT OBJECT_NAME, INDEX_NAME, COUNT_STAR FROM performance_schema.table_io_waits_summary_by_index_usage WHERE OBJECT_SCHEMA = 'golden_instrument_objects' AND INDEX_NAME IS NOT NULL ORDER BY 1, 2;
SELECT OBJECT_NAME, COUNT_STAR > 0 FROM performance_schema.table_lock_waits_summary_by_table WHERE OBJECT_SCHEMA = 'golden_instrument_objects' ORDER BY 1;
SELECT OBJECT_NAME, COUNT_STAR FROM performance_schema.objects_summary_global_by_type WHERE OBJECT_SCHEMA = 'golden_instrument_objects' AND OBJECT_NAME = 't';
-- Again.
UPDATE performance_schema.setup_objects SET ENABLED = 'YES' WHERE OBJECT_NAME = 't';
SELECT b FROM t WHERE a = 2;
SELECT OBJECT_NAME, COUNT_STAR FROM performance_schema.table_io_waits_summary_by_table WHERE OBJECT_SCHEMA = 'golden_instrument_objects' ORDER BY 1;
-- A schema, and one of its tables.
INSERT INTO performance_schema.setup_objects (OBJECT_SCHEMA, ENABLED) VALUES ('golden_instrument_objects', 'NO');
SELECT * FROM u;
SELECT b FROM t WHERE a = 2;
CREATE TABLE v (a INT PRIMARY KEY);
INSERT INTO v VALUES (1);
SELECT OBJECT_NAME, COUNT_STAR FROM performance_schema.table_io_waits_summary_by_table WHERE OBJECT_SCHEMA = 'golden_instrument_objects' ORDER BY 1;
DELETE FROM performance_schema.setup_objects WHERE OBJECT_SCHEMA = 'golden_instrument_objects' AND OBJECT_NAME = '%';
DELETE FROM performance_schema.setup_objects WHERE OBJECT_SCHEMA = 'golden_instrument_objects';
SELECT * FROM v;
SELECT OBJECT_NAME, COUNT_STAR FROM performance_schema.table_io_waits_summary_by_table WHERE OBJECT_SCHEMA = 'golden_instrument_objects' ORDER BY 1;
-- What may be written.
UPDATE performance_schema.setup_objects SET OBJECT_NAME = 'x' WHERE OBJECT_SCHEMA = 'mysql';
UPDATE performance_schema.setup_objects SET TIMED = 'NO' WHERE OBJECT_SCHEMA = '%' AND OBJECT_TYPE = 'EVENT';
SELECT ENABLED, TIMED FROM performance_schema.setup_objects WHERE OBJECT_SCHEMA = '%' AND OBJECT_TYPE = 'EVENT';
UPDATE performance_schema.setup_objects SET TIMED = 'YES' WHERE OBJECT_SCHEMA = '%' AND OBJECT_TYPE = 'EVENT';
SELECT NAME, ENABLED, HISTORY, PROPERTIES FROM performance_schema.setup_threads WHERE NAME = 'thread/sql/one_connection';
UPDATE performance_schema.setup_threads SET ENABLED = 'NO', HISTORY = 'NO' WHERE NAME = 'thread/sql/one_connection';
SELECT ENABLED, HISTORY FROM performance_schema.setup_threads WHERE NAME = 'thread/sql/one_connection';
UPDATE performance_schema.setup_threads SET ENABLED = 'YES', HISTORY = 'YES' WHERE NAME = 'thread/sql/one_connection';
UPDATE performance_schema.setup_threads SET NAME = 'x';
DELETE FROM performance_schema.setup_threads;
TRUNCATE TABLE performance_schema.setup_threads;
TRUNCATE TABLE performance_schema.setup_meters;
DROP DATABASE golden_instrument_objects;
