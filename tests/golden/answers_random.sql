# what random questions have found
DROP DATABASE IF EXISTS answers_random;
CREATE DATABASE answers_random;
USE answers_random;
CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, s VARCHAR(10), bi BIT(4));
INSERT INTO t VALUES (1, 1, 10, 'x', b'1'), (2, 1, 20, 'x', b'1'), (3, 2, 10, 'y', b'10'), (4, NULL, 30, NULL, b'0'), (5, 3, NULL, '', NULL), (6, 3, 5, 'z', b'1111');

# a constant that is grouped by is NULL where it is summed up, above the groups, too
SELECT 'k' AS k, SUM(b) FROM t GROUP BY 'k' WITH ROLLUP ORDER BY k;
SELECT 1 AS k, a, COUNT(*) FROM t GROUP BY 1, a WITH ROLLUP ORDER BY k, a, 3;
SELECT DISTINCT 1, COUNT(*) FROM t GROUP BY 1, a WITH ROLLUP ORDER BY 1, 2;
SELECT 'k' AS k, a, COUNT(*) FROM t GROUP BY 'k', a WITH ROLLUP ORDER BY k DESC, a DESC, 3 DESC;

# GROUPING() beside a group expression that equals one of its bits
SELECT 1, UPPER(s), COUNT(a), GROUPING(UPPER(s)) FROM t GROUP BY 1, UPPER(s) WITH ROLLUP;
SELECT 0, s, GROUPING(s) FROM t GROUP BY 0+0, s WITH ROLLUP;
SELECT 1, NULL, COUNT(*), GROUPING(NULL) FROM t GROUP BY 1, NULL WITH ROLLUP;
SELECT 1, GROUPING(1) FROM t GROUP BY 1 WITH ROLLUP;
SELECT 'k', GROUPING('k') FROM t GROUP BY 'k' WITH ROLLUP;
SELECT 1.5 AS q, GROUPING(1.5) FROM t GROUP BY q WITH ROLLUP;

# a column grouped by under its own name is not meant by the alias that it has in the select list
SELECT b AS a FROM t GROUP BY a, b HAVING a > 1 ORDER BY b;
SELECT DISTINCT t.b AS a FROM t GROUP BY a, b, s HAVING a < 2 ORDER BY 1;
SELECT s AS b FROM t GROUP BY b, s HAVING b = 10 ORDER BY 1;
SELECT a AS x, b AS x FROM t GROUP BY a, b HAVING x > 1;

# bits as texts are bytes
SELECT COUNT(DISTINCT LEFT(bi, 1)), COUNT(DISTINCT CONCAT(bi)), COUNT(DISTINCT IF(1, bi, s)) FROM t;
SELECT id, STRCMP(bi, '-1'), INSTR(CONCAT('A', bi), 'a'), HEX(CONCAT(bi, 'A')), CHARSET(CONCAT(bi, 'a')) FROM t ORDER BY id;
SELECT HEX(CONCAT_WS(',', bi, 'b')), COLLATION(LPAD(bi, 2, 'x')) FROM t WHERE id = 3;

# user variables of texts and bytes have no length of their own
SET NAMES utf8mb4;
SET @a = 'abc', @b = x'4142', @c = DATE'2024-01-02';
CREATE TABLE v AS SELECT @a AS a, @b AS b, @c AS c, CONCAT(@a, 'x') AS d;
SELECT COLUMN_NAME, COLUMN_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'answers_random' AND TABLE_NAME = 'v' ORDER BY ORDINAL_POSITION;
SELECT a, b, c, d FROM v;
SELECT @a, COUNT(*) FROM t GROUP BY @a;
SELECT id FROM t WHERE CONCAT(s, @a) = 'xabc' ORDER BY CONCAT(@a, id);
DROP DATABASE answers_random;

# what does not convert: out of range before truncated; a YEAR of no number is 0, of a time today's year; a SET of a negative number
CREATE DATABASE answers_random;
USE answers_random;
CREATE TABLE s (id INT PRIMARY KEY AUTO_INCREMENT, t TINYINT, i INT, u INT UNSIGNED, y YEAR, st SET('x','y','z'), e ENUM('a','b'));
INSERT INTO s (t) VALUES ('2020-00-00');
INSERT INTO s (t) VALUES ('300abc');
INSERT INTO s (t) VALUES ('30abc');
INSERT INTO s (u) VALUES ('-1abc');
INSERT INTO s (i) VALUES ('99999999999x');
INSERT INTO s (y) VALUES ('300x');
SET timestamp = 1700000000;
INSERT INTO s (id, y) VALUES (1, TIME'12:00:00');
SET sql_mode = '';
INSERT INTO s (id, t) VALUES (2, '300abc'), (3, '30abc'), (4, 'abc');
SHOW WARNINGS;
INSERT INTO s (id, y) VALUES (5, ''), (6, 'b '), (7, '12x'), (8, '300x'), (9, '0x'), (10, '0'), (11, '0000');
SHOW WARNINGS;
INSERT INTO s (id, st) VALUES (12, -128), (13, -1), (14, 9), (15, 7);
SHOW WARNINGS;
INSERT INTO s (id, e) VALUES (16, -1), (17, 2);
SELECT * FROM s ORDER BY id;
DROP DATABASE answers_random;

# IN (SELECT) and quantified comparisons of texts in two character sets
CREATE DATABASE answers_random;
USE answers_random;
CREATE TABLE c (id INT PRIMARY KEY, u VARCHAR(10), b VARCHAR(10) COLLATE utf8mb4_bin, l VARCHAR(10) CHARACTER SET latin1, KEY (u), KEY (l));
INSERT INTO c VALUES (1, 'abc', 'abc', 'abc'), (2, 'äbc', 'äbc', 'äbc'), (3, 'ß', 'ß', 'ß'), (4, NULL, NULL, NULL), (5, '日本', 'é', 'é');
SELECT id FROM c WHERE u IN (SELECT l FROM c) ORDER BY id;
SELECT id FROM c WHERE l IN (SELECT u FROM c) ORDER BY id;
SELECT id FROM c WHERE b IN (SELECT l) ORDER BY id;
SELECT id FROM c WHERE l IN (SELECT b FROM c WHERE id > 1) ORDER BY id;
SELECT id FROM c WHERE l NOT IN (SELECT b FROM c WHERE id IN (1, 3)) ORDER BY id;
SELECT id FROM c WHERE (id, l) IN (SELECT id, b FROM c) ORDER BY id;
SELECT id FROM c WHERE b = ANY (SELECT l FROM c) ORDER BY id;
SELECT id FROM c WHERE b IN (SELECT DISTINCT l FROM c UNION SELECT 'q') ORDER BY id;
SELECT id, b IN (SELECT l FROM c WHERE l IS NOT NULL) FROM c ORDER BY id;
SELECT id FROM c WHERE l IN (SELECT MAX(b) FROM c GROUP BY id) ORDER BY id;
DROP DATABASE answers_random;
