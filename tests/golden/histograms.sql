-- ANALYZE TABLE ... UPDATE HISTOGRAM and DROP HISTOGRAM, and what COLUMN_STATISTICS shows of them.
CREATE DATABASE measured;
USE measured;
CREATE TABLE h (id INT PRIMARY KEY, a INT, s VARCHAR(20), d DATE, de DECIMAL(10,2), f DOUBLE, j JSON,
  e ENUM('a','b'), st SET('x','y'), b BLOB, bi BIT(5), u INT, ti TIME, dt DATETIME(3), y YEAR, tt TEXT,
  c INT GENERATED ALWAYS AS (a + 1), tiny TINYINT UNSIGNED, bin BINARY(3), fl FLOAT, ts TIMESTAMP(2) NULL,
  bg BIGINT UNSIGNED, UNIQUE KEY (u));
SET time_zone = '+02:00';
INSERT INTO h (id, a, s, d, de, f, e, st, b, bi, u, ti, dt, y, tt, tiny, bin, fl, ts, bg) VALUES
  (1, 1, 'x', '2020-01-01', 1.5, 1.25, 'a', 'x,y', 'bb', 3, 1, '10:00:00', '2020-01-01 10:00:00.123', 2020, 'te', 200, 'a', 0.1, '2020-01-01 00:00:00', 18446744073709551615),
  (2, 1, 'y', '2020-01-02', 1.5, 2.25, 'b', 'x', 'bb', 4, 2, '11:00:00', '2020-01-01 10:00:00.123', 2021, 'te', 10, 'b', 1e20, '2020-01-01 00:00:00.25', 1),
  (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
ANALYZE TABLE h UPDATE HISTOGRAM ON id, a, u, Nope, j;
ANALYZE TABLE h UPDATE HISTOGRAM ON s, d, de, f, e, st, b, bi, ti, dt, y, tt, c, tiny, bin, fl, ts, bg WITH 10 BUCKETS;
SELECT COLUMN_NAME, JSON_REMOVE(HISTOGRAM, '$."last-updated"') FROM information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = 'measured' ORDER BY 1;
SELECT HISTOGRAM->>'$."last-updated"' BETWEEN UTC_TIMESTAMP(6) - INTERVAL 1 HOUR AND UTC_TIMESTAMP(6) AS recent FROM information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = 'measured' AND COLUMN_NAME = 'a';
-- refusals
ANALYZE TABLE h UPDATE HISTOGRAM ON a WITH 0 BUCKETS;
ANALYZE TABLE h UPDATE HISTOGRAM ON a WITH 1025 BUCKETS;
ANALYZE TABLE h UPDATE HISTOGRAM ON a, A;
ANALYZE TABLE h, h2 UPDATE HISTOGRAM ON a;
ANALYZE TABLE nope UPDATE HISTOGRAM ON a;
ANALYZE TABLE mysql.user UPDATE HISTOGRAM ON host;
ANALYZE TABLE h DROP HISTOGRAM ON a, b, tt;
ANALYZE TABLE h DROP HISTOGRAM ON a, id, nope;
-- buckets of equal height
CREATE TABLE e (a INT, b INT, s VARCHAR(100), k INT);
INSERT INTO e SELECT n % 50, n * n, CONCAT('this is a long string of more than forty two characters ', n), IF(n % 3 = 0, 7, n) FROM (WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 500) SELECT n FROM r) numbers;
ANALYZE TABLE e UPDATE HISTOGRAM ON a, b, s, k WITH 8 BUCKETS;
SELECT COLUMN_NAME, JSON_REMOVE(HISTOGRAM, '$."last-updated"') FROM information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = 'measured' AND TABLE_NAME = 'e' ORDER BY 1;
-- what becomes of them
ANALYZE TABLE h UPDATE HISTOGRAM ON a AUTO UPDATE;
ANALYZE TABLE h UPDATE HISTOGRAM ON f MANUAL UPDATE;
INSERT INTO h (id, a, f) VALUES (4, 9, 9);
ANALYZE TABLE h;
SELECT COLUMN_NAME, JSON_REMOVE(HISTOGRAM, '$."last-updated"') FROM information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = 'measured' AND COLUMN_NAME IN ('a', 'f') AND TABLE_NAME = 'h' ORDER BY 1;
TRUNCATE e;
SELECT COLUMN_NAME FROM information_schema.COLUMN_STATISTICS WHERE TABLE_NAME = 'e' ORDER BY 1;
ALTER TABLE e RENAME COLUMN s TO s2, MODIFY a BIGINT, ADD z INT;
SELECT COLUMN_NAME FROM information_schema.COLUMN_STATISTICS WHERE TABLE_NAME = 'e' ORDER BY 1;
ALTER TABLE e ALTER COLUMN b SET DEFAULT 4, ALTER COLUMN k SET INVISIBLE;
ALTER TABLE e ENGINE = InnoDB, ALGORITHM = COPY;
RENAME TABLE e TO e1;
CREATE TABLE e2 LIKE e1;
SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.COLUMN_STATISTICS WHERE TABLE_NAME LIKE 'e%' ORDER BY 1, 2;
ALTER TABLE e1 DROP COLUMN b;
SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.COLUMN_STATISTICS WHERE TABLE_NAME LIKE 'e%' ORDER BY 1, 2;
DROP TABLE e1;
SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.COLUMN_STATISTICS WHERE TABLE_NAME LIKE 'e%' ORDER BY 1, 2;
ALTER TABLE h CONVERT TO CHARACTER SET latin1;
SELECT COLUMN_NAME FROM information_schema.COLUMN_STATISTICS WHERE TABLE_NAME = 'h' ORDER BY 1;
ALTER TABLE h ADD UNIQUE (tiny);
SELECT COLUMN_NAME FROM information_schema.COLUMN_STATISTICS WHERE TABLE_NAME = 'h' ORDER BY 1;
-- given as JSON
CREATE TABLE g (a INT, s VARCHAR(20));
ANALYZE TABLE g UPDATE HISTOGRAM ON a USING DATA '{"buckets": [[1, 0.6], [2, 1.0]], "data-type": "int", "auto-update": false, "null-values": 0.0, "collation-id": 8, "sampling-rate": 1.0, "histogram-type": "singleton", "number-of-buckets-specified": 100}';
ANALYZE TABLE g UPDATE HISTOGRAM ON s USING DATA '{"buckets": [["base64:type254:YQ==", "base64:type254:Yg==", 0.5, 2], ["base64:type254:Yw==", "base64:type254:ZA==", 1.0, 2]], "data-type": "string", "auto-update": false, "null-values": 0.0, "collation-id": 255, "sampling-rate": 0.25, "histogram-type": "equi-height", "number-of-buckets-specified": 4}';
SELECT COLUMN_NAME, JSON_REMOVE(HISTOGRAM, '$."last-updated"') FROM information_schema.COLUMN_STATISTICS WHERE TABLE_NAME = 'g' ORDER BY 1;
ANALYZE TABLE g UPDATE HISTOGRAM ON a, s USING DATA '{}';
ANALYZE TABLE g UPDATE HISTOGRAM ON nope USING DATA '{}';
ANALYZE TABLE g UPDATE HISTOGRAM ON a USING DATA '{}';
ANALYZE TABLE g UPDATE HISTOGRAM ON a USING DATA 'abc';
ANALYZE TABLE g UPDATE HISTOGRAM ON a USING DATA '{"buckets": [[1, 0.6], [2, 0.5]], "data-type": "int", "auto-update": false, "null-values": 0.0, "collation-id": 8, "sampling-rate": 1.0, "histogram-type": "singleton", "number-of-buckets-specified": 100}';
ANALYZE TABLE g UPDATE HISTOGRAM ON a USING DATA '{"buckets": [[3, 2, 0.5, 2], [3, 9, 1.0, 5]], "data-type": "int", "auto-update": false, "null-values": 0.0, "collation-id": 8, "sampling-rate": 1.0, "histogram-type": "equi-height", "number-of-buckets-specified": 100}';
ANALYZE TABLE g UPDATE HISTOGRAM ON a USING DATA '{"buckets": [[3000000000, 1.0]], "data-type": "int", "auto-update": false, "null-values": 0.0, "collation-id": 8, "sampling-rate": 1.0, "histogram-type": "singleton", "number-of-buckets-specified": 100}';
DROP DATABASE measured;
SELECT COUNT(*) FROM information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = 'measured';
