DROP DATABASE IF EXISTS membership;
CREATE DATABASE membership;
USE membership;
CREATE TABLE t (id INT PRIMARY KEY, i INT, u BIGINT UNSIGNED, d DECIMAL(10,2), f DOUBLE, s VARCHAR(20), b VARBINARY(20), dt DATETIME, ti TIME);
INSERT INTO t VALUES
  (1, 1, 18446744073709551615, 1.50, 0.1, 'abc', 'abc', '2020-01-01 00:00:00', '10:00:00'),
  (2, -2, 2, -2.00, 1e10, 'ABC', 'ABC', '2021-02-03 04:05:06', '-01:00:00'),
  (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (4, 40, 40, 40.00, 40, 'äbc ', 'x', '2000-01-01 00:00:00', '00:00:40'),
  (5, 0, 0, 0.00, 0, '', '', '1970-01-01 00:00:00', '00:00:00');
-- lists long enough to be looked up
SELECT id, i IN (10, 20, 30, 40, 50, 60, 70, 80, 90, 1), i NOT IN (10, 20, 30, 40, 50, 60, 70, 80, 90, 1) FROM t;
SELECT id, i IN (10, 20, 30, 40, 50, 60, 70, 80, 90, NULL), i NOT IN (10, 20, 30, 40, 50, 60, 70, 80, 90, NULL) FROM t;
SELECT id, u IN (1, 2, 3, 4, 5, 6, 7, 8, -1, 18446744073709551615) FROM t;
SELECT id, d IN (1.5, 2, 3, 4, 5, 6, 7, 8, 9, -2, 40.000) FROM t;
SELECT id, f IN (0.1e0, 2, 3, 4, 5, 6, 7, 8, 9, 40) FROM t;
SELECT id, s IN ('abc', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'Abc ') FROM t;
SELECT id, s COLLATE utf8mb4_bin IN ('abc', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', '') FROM t;
SELECT id, b IN ('abc', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'x') FROM t;
SELECT id, dt IN ('2020-01-01', '2021-02-03 04:05:06', '2001-01-01', '2002-01-01', '2003-01-01', '2004-01-01', '2005-01-01', '2006-01-01', '2007-01-01') FROM t;
SELECT id, ti IN ('10:00:00', '-1:00:00', '2', '3', '4', '5', '6', '7', '8', '40') FROM t;
SELECT id FROM t WHERE i IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12) OR s IN ('q', 'w', 'e', 'r', 't', 'y', 'u', 'i', 'o', 'abc') ORDER BY id;
SELECT id FROM t WHERE i + 0 IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10.5, 11, 40e0) ORDER BY id;
PREPARE p FROM 'SELECT id FROM t WHERE i + 0 IN (?, ?, ?, 4, 5, 6, 7, 8, 9, 10) ORDER BY id';
SET @a = 1, @b = 40, @c = NULL;
EXECUTE p USING @a, @b, @c;
SET @a = -2;
EXECUTE p USING @a, @c, @c;
-- subqueries
CREATE TABLE r (x INT, y VARCHAR(10));
SELECT id, i IN (SELECT x FROM r), i NOT IN (SELECT x FROM r), i <> ALL (SELECT x FROM r), i = ANY (SELECT x FROM r) FROM t;
INSERT INTO r VALUES (1, 'abc'), (40, 'x'), (40, 'y');
SELECT id, i IN (SELECT x FROM r), i NOT IN (SELECT x FROM r), i <> ALL (SELECT x FROM r), i = ANY (SELECT x FROM r) FROM t;
SELECT id, (i, s) IN (SELECT x, y FROM r), (i, s) NOT IN (SELECT x, y FROM r) FROM t;
INSERT INTO r VALUES (NULL, 'abc'), (-2, NULL);
SELECT id, i IN (SELECT x FROM r), i NOT IN (SELECT x FROM r), i <> ALL (SELECT x FROM r), i = ANY (SELECT x FROM r) FROM t;
SELECT id, (i, s) IN (SELECT x, y FROM r), (i, s) NOT IN (SELECT x, y FROM r) FROM t;
SELECT id, (i, s) IN (SELECT x, y FROM r WHERE x IS NOT NULL), (s, i) NOT IN (SELECT y, x FROM r WHERE y IS NOT NULL) FROM t;
SELECT id, s IN (SELECT y FROM r), d IN (SELECT x FROM r WHERE x > 0), dt IN (SELECT '2020-01-01') FROM t;
SELECT id, i > ANY (SELECT x FROM r), i <= ALL (SELECT x FROM r WHERE x IS NOT NULL), i = ALL (SELECT x FROM r WHERE x = 40), i <> ANY (SELECT x FROM r WHERE x = 40) FROM t;
SELECT id FROM t WHERE i IN (SELECT x FROM r WHERE r.y = t.s) ORDER BY id;
SELECT id FROM t WHERE i NOT IN (SELECT x FROM r WHERE x IS NOT NULL) ORDER BY id;
-- sorting, grouping and combining, more rows than a part has
CREATE TABLE n (a INT PRIMARY KEY, g INT, s VARCHAR(30));
INSERT INTO n WITH RECURSIVE c(a) AS (SELECT 0 UNION ALL SELECT a + 1 FROM c WHERE a < 999) SELECT a, a % 7, CONCAT('the same beginning ', a % 13) FROM c;
INSERT INTO n SELECT a + 1000, g, s FROM n;
INSERT INTO n SELECT a + 2000, g, s FROM n;
SELECT SUM(a * place) FROM (SELECT a, ROW_NUMBER() OVER (ORDER BY s, g DESC, a) AS place FROM n) x;
SELECT a, s FROM n ORDER BY s DESC, a LIMIT 3;
SELECT a, s FROM n ORDER BY s DESC, a LIMIT 1500, 3;
SELECT DISTINCT s FROM n ORDER BY s LIMIT 5, 3;
SELECT g, s, COUNT(*) FROM n GROUP BY g, s WITH ROLLUP HAVING g = 6 AND s IS NULL OR g IS NULL;
SELECT COUNT(*) FROM (SELECT g, s FROM n UNION SELECT g, s FROM n) x;
SELECT COUNT(*), SUM(a) FROM (SELECT a FROM n EXCEPT SELECT a FROM n WHERE g < 3) x;
SELECT COUNT(*), SUM(a) FROM (SELECT a, g FROM n INTERSECT SELECT a, g FROM n WHERE g < 3) x;
SELECT COUNT(*) FROM (SELECT g FROM n EXCEPT ALL SELECT g FROM n WHERE a < 10) x;
SELECT MAX(r), SUM(r), MAX(t) FROM (SELECT RANK() OVER (PARTITION BY g ORDER BY s) AS r, SUM(a) OVER (PARTITION BY g ORDER BY a ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS t FROM n) x;
SELECT SUM(t), MIN(t) FROM (SELECT SUM(a) OVER (ORDER BY a ROWS 300 PRECEDING) AS t FROM n) x;
SELECT COUNT(*) FROM n x WHERE g NOT IN (SELECT g FROM n WHERE g < 5) AND a IN (SELECT a FROM n WHERE s LIKE '%7');
DROP DATABASE membership;
