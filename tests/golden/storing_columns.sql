-- What a column takes of other columns, and constants that are compared with columns in statements that change data.
DROP DATABASE IF EXISTS changes;
CREATE DATABASE changes;
USE changes;
CREATE TABLE t (id INT PRIMARY KEY, c CHAR(10), s VARCHAR(10), tx TEXT, bl BLOB, b10 BIT(10), b64 BIT(64), da DATE, t TIME, dt DATETIME(3), ts TIMESTAMP(3) NULL, y YEAR, e ENUM('1','2'), i INT, d DECIMAL(10,3), f DOUBLE, j JSON);
SET sql_mode = '';
INSERT INTO t (id, b10, b64, da, t, dt, ts, j) VALUES (1, 65, 65, '1971-01-01', '00:20:05', '1971-01-01', '1971-01-01', '{}'), (2, 1023, 65, '0000-00-00', '00:00:00', '0000-00-00', '0000-00-00', '"x"'), (3, 49, 49, '2020-00-00', '-00:00:01', '2020-00-00', '1971-01-01 10:00:00', '70');
UPDATE t SET c = b10, s = b10, tx = b10, bl = b10;
SHOW WARNINGS;
SELECT id, HEX(c), HEX(s), HEX(tx), HEX(bl) FROM t ORDER BY id;
UPDATE t SET tx = b64;
SELECT id, HEX(tx) FROM t ORDER BY id;
-- times of columns are numbers for YEAR and BIT, other times are not
UPDATE t SET y = da;
SELECT id, y FROM t ORDER BY id;
UPDATE t SET y = t;
SHOW WARNINGS;
SELECT id, y FROM t ORDER BY id;
UPDATE t SET y = dt;
SHOW WARNINGS;
UPDATE t SET y = ts;
SHOW WARNINGS;
SELECT id, y FROM t ORDER BY id;
UPDATE t SET b10 = t;
SHOW WARNINGS;
UPDATE t SET b64 = dt;
SELECT id, HEX(b10), b64 + 0 FROM t ORDER BY id;
UPDATE t SET b10 = da;
SHOW WARNINGS;
-- JSON: the number of the row, and zero for no date
UPDATE t SET y = j, i = j, d = j, f = j, da = j, t = j, dt = j;
SHOW WARNINGS;
SELECT id, y, i, d, f, da, t, dt FROM t ORDER BY id;
INSERT INTO t (id, da, t) VALUES (4, CAST('[]' AS JSON), NULL), (5, NULL, CAST('{}' AS JSON));
SHOW WARNINGS;
SELECT da, t FROM t WHERE id > 3;
-- an ENUM that is no member stays one
INSERT INTO t (id, e) VALUES (6, 'x');
SHOW WARNINGS;
INSERT INTO t (id, e) VALUES (6, 'x') ON DUPLICATE KEY UPDATE e = VALUES(e);
SHOW WARNINGS;
SET sql_mode = DEFAULT;
UPDATE t SET e = e WHERE id = 6;
UPDATE t SET i = j WHERE id > 1 ORDER BY id;
UPDATE t SET i = CASE WHEN id = 1 THEN 5 ELSE j END ORDER BY id;

-- a text whose beginning is a year
DELETE FROM t;
INSERT INTO t (id, y, t, dt, ts) VALUES (1, 2010, '00:00:09', '2020-02-29', '2020-02-29'), (2, 1999, NULL, NULL, NULL);
DELETE FROM t WHERE y > '10abc' AND y < '12:34:56';
DELETE FROM t WHERE y = 'abc';
UPDATE t SET f = y = '10abc';
SELECT id, f FROM t ORDER BY id;
-- computed constants are converted before the first row as literals are
UPDATE t SET f = dt > 3 * 3;
UPDATE t SET f = dt = 100 / 7;
UPDATE t SET f = t = REPEAT('a', 3);
UPDATE t SET f = 9 WHERE t <> COALESCE(90, 1);
UPDATE t SET f = 9 WHERE CONCAT('a', 'b') = t;
SELECT id FROM t WHERE t = 30 * 3;
SHOW WARNINGS;
SELECT id FROM t WHERE dt > 3 * 3;
SHOW WARNINGS;
DELETE FROM t WHERE ts BETWEEN ' 7 ' AND 1 / 3;
SELECT id FROM t WHERE dt IN (7, TIMESTAMP'2020-02-29 00:00:00');
SHOW WARNINGS;
DELETE FROM t WHERE ts IN (1.005, TIME'23:59:59.999');
SELECT id FROM t;
DROP DATABASE changes;
