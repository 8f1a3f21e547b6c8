-- How often rows of a table were accessed, by index: reads, inserts, updates, deletes, and indexes that no statement uses.
CREATE DATABASE golden_instrument_rows;
USE golden_instrument_rows;
CREATE TABLE t (a INT PRIMARY KEY, b INT, c INT, d INT, KEY by_b (b), UNIQUE KEY by_c (c), KEY unused (d));
CREATE TABLE h (a INT, b INT);
INSERT INTO t VALUES (1, 1, 1, 1), (2, 1, 2, 2), (3, 2, 3, 3), (4, 2, 4, 4), (5, 3, 5, 5);
INSERT INTO h VALUES (1, 10), (2, 20);
SELECT INDEX_NAME, COUNT_STAR, COUNT_READ, COUNT_WRITE, COUNT_FETCH, COUNT_INSERT, COUNT_UPDATE, COUNT_DELETE
FROM performance_schema.table_io_waits_summary_by_index_usage
WHERE OBJECT_SCHEMA = 'golden_instrument_rows' AND OBJECT_NAME = 't' ORDER BY INDEX_NAME;
SELECT OBJECT_TYPE, OBJECT_NAME, COUNT_STAR, COUNT_FETCH, COUNT_INSERT
FROM performance_schema.table_io_waits_summary_by_table
WHERE OBJECT_SCHEMA = 'golden_instrument_rows' ORDER BY OBJECT_NAME;
TRUNCATE TABLE performance_schema.table_io_waits_summary_by_table;
SELECT INDEX_NAME, COUNT_STAR FROM performance_schema.table_io_waits_summary_by_index_usage
WHERE OBJECT_SCHEMA = 'golden_instrument_rows' ORDER BY OBJECT_NAME, INDEX_NAME;
SELECT * FROM t WHERE a = 3;
SELECT * FROM t WHERE a = 9;
SELECT * FROM t WHERE c = 4;
SELECT INDEX_NAME, COUNT_FETCH FROM performance_schema.table_io_waits_summary_by_index_usage
WHERE OBJECT_SCHEMA = 'golden_instrument_rows' AND OBJECT_NAME = 't' ORDER BY INDEX_NAME;
TRUNCATE TABLE performance_schema.table_io_waits_summary_by_index_usage;
SELECT * FROM t WHERE b = 2;
SELECT * FROM t WHERE a BETWEEN 2 AND 4;
SELECT * FROM t FORCE INDEX (PRIMARY) WHERE a > 1 ORDER BY a LIMIT 1;
SELECT * FROM t IGNORE INDEX (by_b) WHERE b = 3;
SELECT SUM(b) FROM h;
SELECT h.b, t.b FROM h STRAIGHT_JOIN t WHERE t.a = h.a ORDER BY h.b;
SELECT OBJECT_NAME, INDEX_NAME, COUNT_FETCH FROM performance_schema.table_io_waits_summary_by_index_usage
WHERE OBJECT_SCHEMA = 'golden_instrument_rows' ORDER BY OBJECT_NAME, INDEX_NAME;
TRUNCATE TABLE performance_schema.table_io_waits_summary_by_index_usage;
INSERT INTO t VALUES (6, 6, 6, 6), (7, 7, 7, 7);
UPDATE t SET d = 0 WHERE a = 6;
DELETE FROM t WHERE a = 7;
SELECT INDEX_NAME, COUNT_STAR, COUNT_FETCH, COUNT_INSERT, COUNT_UPDATE, COUNT_DELETE
FROM performance_schema.table_io_waits_summary_by_index_usage
WHERE OBJECT_SCHEMA = 'golden_instrument_rows' AND OBJECT_NAME = 't' ORDER BY INDEX_NAME;
TRUNCATE TABLE performance_schema.table_io_waits_summary_by_index_usage;
UPDATE t SET d = 1 WHERE b = 2;
DELETE FROM t WHERE b = 3;
UPDATE h SET b = b + 1;
DELETE FROM h WHERE a = 2;
SELECT OBJECT_NAME, INDEX_NAME, COUNT_FETCH, COUNT_INSERT, COUNT_UPDATE, COUNT_DELETE
FROM performance_schema.table_io_waits_summary_by_index_usage
WHERE OBJECT_SCHEMA = 'golden_instrument_rows' ORDER BY OBJECT_NAME, INDEX_NAME;
SELECT INDEX_NAME FROM performance_schema.table_io_waits_summary_by_index_usage
WHERE OBJECT_SCHEMA = 'golden_instrument_rows' AND INDEX_NAME IS NOT NULL AND INDEX_NAME <> 'PRIMARY' AND COUNT_STAR = 0 ORDER BY 1;
TRUNCATE TABLE performance_schema.table_lock_waits_summary_by_table;
SELECT COUNT(*) FROM t;
SELECT * FROM t WHERE a = 1;
SELECT * FROM t WHERE a = 1 FOR UPDATE;
SELECT * FROM t WHERE a = 1 FOR SHARE;
UPDATE t SET d = 2 WHERE a = 1;
DELETE FROM t WHERE a = 2;
INSERT INTO h VALUES (3, 3);
INSERT INTO h SELECT a, b FROM t;
SELECT OBJECT_NAME, COUNT_STAR, COUNT_READ, COUNT_WRITE, COUNT_READ_NORMAL, COUNT_READ_EXTERNAL, COUNT_WRITE_NORMAL, COUNT_WRITE_EXTERNAL
FROM performance_schema.table_lock_waits_summary_by_table
WHERE OBJECT_SCHEMA = 'golden_instrument_rows' ORDER BY OBJECT_NAME;
TRUNCATE TABLE performance_schema.table_io_waits_summary_by_table;
TRUNCATE TABLE performance_schema.table_lock_waits_summary_by_table;
SELECT COUNT(*) FROM h;
SELECT OBJECT_TYPE, OBJECT_NAME, COUNT_STAR FROM performance_schema.objects_summary_global_by_type
WHERE OBJECT_SCHEMA = 'golden_instrument_rows' ORDER BY OBJECT_NAME;
ALTER TABLE t DROP KEY unused;
SELECT INDEX_NAME, COUNT_STAR FROM performance_schema.table_io_waits_summary_by_index_usage
WHERE OBJECT_SCHEMA = 'golden_instrument_rows' AND OBJECT_NAME = 't' AND INDEX_NAME IS NOT NULL ORDER BY INDEX_NAME;
DROP DATABASE golden_instrument_rows;
SELECT COUNT(*) FROM performance_schema.table_io_waits_summary_by_table WHERE OBJECT_SCHEMA = 'golden_instrument_rows';
