-- How long a column of CREATE TABLE ... SELECT is that a function of text makes; a YEAR beside binary literals.
DROP DATABASE IF EXISTS changes;
CREATE DATABASE changes;
USE changes;
CREATE TABLE t (id INT PRIMARY KEY, y YEAR, s VARCHAR(10), b VARBINARY(10), d DATE, tm TIME);
INSERT INTO t VALUES (1, 1999, 'abcabc', 'xyz', '2024-02-29', '00:00:09'), (2, 1970, 'a', 'x', '2024-02-29', '-00:00:01');
CREATE TABLE c AS SELECT LPAD(s, 6, 'x') AS a, RPAD(y, 8, 'x') AS b, LPAD(b, 3, 'x') AS c, REPEAT(s, 3) AS d, REPEAT(s, id) AS e, CONCAT(s, y) AS f, LEFT(s, 0) AS g,
  SPACE(5) AS h, LEFT(s, 2) AS i, RIGHT(b, 3) AS j, LEFT(s, 20) AS k, FORMAT(y, 1) AS l, FORMAT(id, 2) AS m, LPAD(s, id, 'x') AS n FROM t;
SELECT COLUMN_NAME, COLUMN_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'changes' AND TABLE_NAME = 'c' ORDER BY ORDINAL_POSITION;
SELECT a, b, c, d, e, f, g, h, i, j, k, l, m, n FROM c ORDER BY m;
SELECT id, y < x'63', y = x'63', b'1100011' = y, y BETWEEN 1e3 AND x'63', y IN (x'63') FROM t ORDER BY id;
SELECT id FROM t WHERE tm > '1e2' ORDER BY id;
SHOW WARNINGS;
SELECT id FROM t WHERE tm > '-' ORDER BY id;
SHOW WARNINGS;
SET @a = TIMESTAMP'2024-02-29 01:02:03';
SELECT id FROM t WHERE d = @a;
SELECT id FROM t WHERE d < @a ORDER BY id;
SELECT --2, ---2, -(-12), -(2 - 3);
-- a time that is compared with a text has the digits of its type
CREATE TABLE u (id INT PRIMARY KEY, t TIME(3), t0 TIME);
INSERT INTO u VALUES (1, '12:34:56.789', '12:34:57'), (2, '12:34:56.4', '12:34:56');
SET @a = TIME'12:34:56.5';
SELECT id, t < @a, t <= @a, t = @a, t0 < @a, t0 > @a FROM u ORDER BY id;
SELECT TRUE - 18446744073709551615;
CREATE TABLE w (ts TIMESTAMP(2) NULL);
INSERT INTO w SELECT TIMESTAMP'1970-01-01 00:00:00';
INSERT INTO w SELECT dt FROM (SELECT CAST('1969-12-31 00:00:00.126' AS DATETIME(6)) AS dt) AS d;
DROP DATABASE changes;
