-- LATERAL: a derived table that reads the tables before it.
DROP DATABASE IF EXISTS golden_lateral;
CREATE DATABASE golden_lateral;
USE golden_lateral;
CREATE TABLE t (a INT PRIMARY KEY, b INT, c VARCHAR(10));
CREATE TABLE u (id INT PRIMARY KEY, a INT, x INT, KEY (a));
INSERT INTO t VALUES (1,10,'x'),(2,20,'y'),(3,NULL,'z');
INSERT INTO u VALUES (1,1,5),(2,1,7),(3,2,9),(4,2,1),(5,9,3);
ANALYZE TABLE t, u;
-- the first of each
SELECT t.a, d.x FROM t, LATERAL (SELECT x FROM u WHERE u.a = t.a ORDER BY x DESC LIMIT 1) AS d ORDER BY t.a;
SELECT t.a, d.x FROM t LEFT JOIN LATERAL (SELECT x FROM u WHERE u.a = t.a ORDER BY x DESC LIMIT 1) AS d ON TRUE ORDER BY t.a;
SELECT t.a, d.x FROM t LEFT JOIN LATERAL (SELECT x FROM u WHERE u.a = t.a ORDER BY x DESC LIMIT 1) AS d ON d.x > 8 ORDER BY t.a;
SELECT t.a, d.x FROM t JOIN LATERAL (SELECT x FROM u WHERE u.a = t.a) AS d ON d.x > 1 ORDER BY t.a, d.x;
SELECT t.a, d.x FROM t LEFT JOIN LATERAL (SELECT x FROM u WHERE u.a = t.a) AS d ON d.x > 5 ORDER BY t.a, d.x;
SELECT t.a, d.s FROM t, LATERAL (SELECT SUM(x) AS s FROM u WHERE u.a = t.a) AS d WHERE d.s > 11;
-- names of columns
SELECT * FROM t, LATERAL (SELECT t.a, t.b) AS d ORDER BY t.a;
SELECT * FROM t, LATERAL (SELECT t.a, t.b) AS d (p, q) ORDER BY t.a;
SELECT * FROM t, LATERAL (SELECT t.a, t.b) AS d (p);
SELECT * FROM t, LATERAL (SELECT t.a);
-- combinations, groups, common table expressions
SELECT t.a, d.* FROM t, LATERAL (SELECT t.a + 1 AS m UNION ALL SELECT t.b) AS d ORDER BY t.a, d.m;
SELECT t.a, d.* FROM t, LATERAL (SELECT t.a AS m UNION SELECT t.b DIV 10) AS d ORDER BY t.a, d.m;
SELECT t.a, d.*, e.* FROM t, LATERAL (SELECT COUNT(*) AS n FROM u WHERE u.a = t.a) AS d, LATERAL (SELECT d.n + t.a AS s) AS e ORDER BY t.a;
SELECT t.a, d.n, e.m FROM t, LATERAL (SELECT COUNT(*) AS n FROM u WHERE u.a = t.a) AS d, LATERAL (SELECT d.n + MAX(x) AS m FROM u WHERE u.a = t.a) AS e ORDER BY t.a;
SELECT t.a, (SELECT d.n FROM LATERAL (SELECT COUNT(*) AS n FROM u WHERE u.a = t.a) AS d) AS n FROM t ORDER BY t.a;
SELECT t.a, w.v FROM t, LATERAL (WITH w AS (SELECT t.a * 2 AS v) SELECT * FROM w) AS w ORDER BY t.a;
SELECT t.a, w.n FROM t, LATERAL (WITH RECURSIVE w (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w WHERE n < t.a) SELECT * FROM w) AS w ORDER BY t.a, w.n;
SELECT t.a, SUM(d.x) FROM t LEFT JOIN LATERAL (SELECT x FROM u WHERE u.a = t.a LIMIT 5) AS d ON TRUE GROUP BY t.a ORDER BY t.a;
SELECT d.n, COUNT(*) FROM t JOIN LATERAL (SELECT COUNT(*) AS n FROM u WHERE u.a = t.a) AS d GROUP BY d.n ORDER BY d.n;
SELECT t.a, d.s FROM t, LATERAL (SELECT SUM(t.b) AS s FROM u) AS d ORDER BY t.a;
SELECT t.a, d.x, d.r FROM t, LATERAL (SELECT x, ROW_NUMBER() OVER (ORDER BY x) AS r FROM u WHERE u.a = t.a) AS d ORDER BY t.a, d.r;
SELECT t.a, d.v FROM t, LATERAL (VALUES ROW(1), ROW(2)) AS d (v) ORDER BY t.a, d.v;
-- with other tables
SELECT t.a, d.a, d.x FROM t NATURAL JOIN LATERAL (SELECT u.a, u.x FROM u WHERE u.a = t.a) AS d ORDER BY t.a, d.x;
SELECT * FROM t JOIN LATERAL (SELECT u.x FROM u WHERE u.a = t.a) AS d USING (a);
SELECT t.a, u.id, d.ux FROM t LEFT JOIN u ON u.a = t.a, LATERAL (SELECT u.x AS ux) AS d ORDER BY t.a, u.id;
SELECT t.a, u.id, d.n FROM t JOIN u ON t.a = u.a JOIN LATERAL (SELECT COUNT(*) AS n FROM u AS w WHERE w.a = u.a AND w.x < t.b) AS d ORDER BY u.id;
SELECT t.a, d.n, u.id FROM t JOIN LATERAL (SELECT COUNT(*) AS n FROM u WHERE u.a = t.a) AS d JOIN u ON u.id = d.n ORDER BY t.a;
SELECT STRAIGHT_JOIN t.a, d.n FROM t JOIN LATERAL (SELECT COUNT(*) AS n FROM u WHERE u.a = t.a) AS d ORDER BY t.a;
SELECT /*+ JOIN_ORDER(d, t) */ t.a, d.n FROM t JOIN LATERAL (SELECT COUNT(*) AS n FROM u WHERE u.a = t.a) AS d ORDER BY t.a;
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u, LATERAL (SELECT u.x + t.a AS s) AS d WHERE d.s > 11) ORDER BY a;
SELECT a FROM t WHERE a IN (SELECT d.k FROM u, LATERAL (SELECT u.a AS k LIMIT 1) AS d WHERE u.x > 5) ORDER BY a;
SELECT e.a, d.n FROM (SELECT a, b FROM t WHERE b > 5) AS e, LATERAL (SELECT COUNT(*) AS n FROM u WHERE u.a = e.a) AS d ORDER BY e.a;
SELECT e.s, d.n FROM (SELECT SUM(a) AS s, b FROM t GROUP BY b) AS e, LATERAL (SELECT COUNT(*) AS n FROM u WHERE u.a = e.s) AS d ORDER BY e.s;
SELECT t.a, d.n FROM u, t RIGHT JOIN LATERAL (SELECT u.a AS n) AS d ON TRUE WHERE u.id < 3 ORDER BY t.a, d.n;
-- what it does not see
SELECT * FROM t RIGHT JOIN LATERAL (SELECT t.a) AS d ON TRUE;
SELECT * FROM LATERAL (SELECT t.a) AS d, t;
SELECT * FROM LATERAL (SELECT d.a) AS d;
SELECT * FROM t, (SELECT a + t.a AS s FROM u) AS d;
-- statements of other kinds
CREATE VIEW v AS SELECT t.a, d.x FROM t, LATERAL (SELECT x FROM u WHERE u.a = t.a ORDER BY x LIMIT 1) AS d;
SELECT * FROM v ORDER BY a;
SHOW CREATE VIEW v;
INSERT INTO t SELECT t.a + 10, d.m, 'w' FROM t, LATERAL (SELECT MAX(x) AS m FROM u WHERE u.a = t.a) AS d;
SELECT * FROM t ORDER BY a;
UPDATE t, LATERAL (SELECT MIN(x) AS m FROM u WHERE u.a = t.a) AS d SET t.b = d.m;
SELECT * FROM t ORDER BY a;
DELETE t FROM t, LATERAL (SELECT COUNT(*) AS n FROM u WHERE u.a = t.a) AS d WHERE d.n = 0;
SELECT * FROM t ORDER BY a;
PREPARE s FROM 'SELECT t.a, d.x FROM t, LATERAL (SELECT x FROM u WHERE u.a = t.a AND x > ? ORDER BY x LIMIT 1) AS d ORDER BY t.a';
SET @x = 4;
EXECUTE s USING @x;
SET @x = 8;
EXECUTE s USING @x;
DROP DATABASE golden_lateral;
