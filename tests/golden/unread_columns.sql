-- Columns of derived tables that are not read: what is computed for them is left out unless it may fail or
-- warn, which shows in MySQL's answers as well.
DROP DATABASE IF EXISTS golden_unread_columns;
CREATE DATABASE golden_unread_columns;
USE golden_unread_columns;
CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT NOT NULL, c VARCHAR(10), d DECIMAL(8, 2), KEY (a));
CREATE TABLE s (id INT PRIMARY KEY, b INT, x BIGINT, KEY (b));
INSERT INTO t VALUES (1, 1, 1, 'a', 1.5), (2, 1, 2, 'b', NULL), (3, 2, 3, 'x', 2), (4, NULL, 3, NULL, 0);
INSERT INTO s VALUES (1, 1, 9223372036854775807), (2, 1, 1), (3, 3, 0), (4, NULL, 5);
-- Aggregates, and those that are left in their places
SELECT d.a FROM (SELECT a, SUM(b) AS s, COUNT(*) AS n, MAX(c) AS m FROM t GROUP BY a) d ORDER BY 1;
SELECT d.m, d.a FROM (SELECT a, SUM(b) AS s, COUNT(*) AS n, MAX(c) AS m FROM t GROUP BY a) d ORDER BY 1;
SELECT d.n FROM (SELECT a, SUM(b) AS s, COUNT(*) AS n, MAX(c) AS m FROM t GROUP BY a HAVING s > 2 ORDER BY m) d ORDER BY 1;
SELECT COUNT(*) FROM (SELECT SUM(b) AS s, MAX(c) AS m FROM t WHERE a > 5) d;
SELECT COUNT(*) FROM (SELECT 1 AS k, SUM(b) AS s, MAX(c) AS m FROM t WHERE a > 5 HAVING m = 'x') d;
SELECT d.x FROM (SELECT a, SUM(b) AS s, MIN(b) + MAX(b) AS x FROM t GROUP BY a) d ORDER BY 1;
SELECT d.n FROM (SELECT a, SUM(b) AS s, COUNT(DISTINCT b) AS n FROM t GROUP BY a WITH ROLLUP) d ORDER BY 1;
SELECT d.g FROM (SELECT a, SUM(b) AS s, GROUPING(a) AS g FROM t GROUP BY a WITH ROLLUP) d ORDER BY 1;
-- Windows
SELECT d.id FROM (SELECT id, RANK() OVER (ORDER BY b) AS r, ROW_NUMBER() OVER (PARTITION BY a ORDER BY id) AS n FROM t) d WHERE d.n = 1 ORDER BY 1;
SELECT d.n FROM (SELECT RANK() OVER w AS r, SUM(b) OVER w AS s, COUNT(*) OVER w AS n FROM t WINDOW w AS (ORDER BY b)) d ORDER BY 1;
SELECT d.id FROM (SELECT id, LAG(b) OVER (ORDER BY id) AS p, SUM(d) OVER (ORDER BY id) AS s FROM t) d ORDER BY d.s, d.id;
SELECT d.id FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY id DESC) AS r FROM t LIMIT 2) d ORDER BY 1;
SELECT d.a FROM (SELECT a, SUM(b) AS s, RANK() OVER (ORDER BY MAX(id) DESC) AS r FROM t GROUP BY a) d ORDER BY 1;
SELECT d.n FROM (SELECT COUNT(*) OVER (PARTITION BY b) AS n, RANK() OVER (PARTITION BY b ORDER BY a) AS r FROM t ORDER BY id) d ORDER BY 1;
-- Subqueries
SELECT d.id FROM (SELECT id, (SELECT COUNT(*) FROM s WHERE s.b = t.b) AS n FROM t ORDER BY id LIMIT 3) d;
SELECT d.id FROM (SELECT id, (SELECT MAX(s.x) FROM s WHERE s.b = t.b AND EXISTS (SELECT 1 FROM s u WHERE u.id = s.id)) AS n FROM t ORDER BY n, id LIMIT 3) d;
SELECT d.id FROM (SELECT id, (SELECT s.x FROM s WHERE s.b = t.b) AS n FROM t ORDER BY id LIMIT 3) d;
SELECT d.id FROM (SELECT id, (SELECT s.x FROM s WHERE s.id = t.b) AS n FROM t ORDER BY id LIMIT 3) d;
SELECT d.id, (SELECT COUNT(*) FROM s WHERE s.b = d.m) AS n FROM (SELECT MAX(id) AS id, MIN(b) AS m, MAX(b) AS k FROM t GROUP BY a) d ORDER BY 1;
SELECT d.id FROM (SELECT MAX(id) AS id, MIN(b) AS m, MAX(b) AS k FROM t GROUP BY a) d WHERE EXISTS (SELECT 1 FROM s WHERE s.b = d.k) ORDER BY 1;
-- Tables within tables, combinations
SELECT d.a FROM (SELECT e.a, e.n FROM (SELECT a, COUNT(*) AS n, MAX(b) AS m FROM t GROUP BY a) e ORDER BY e.n, e.a LIMIT 3) d ORDER BY 1;
SELECT d.a FROM (SELECT a, b FROM t UNION ALL SELECT b, SUM(id) FROM s GROUP BY b) d ORDER BY 1;
SELECT d.a FROM (SELECT a, b FROM t UNION ALL SELECT b, COUNT(*) FROM s GROUP BY b ORDER BY b, a LIMIT 3) d ORDER BY 1;
SELECT d.a FROM (SELECT a, b FROM t UNION SELECT b, id FROM s) d ORDER BY 1;
SELECT d.a FROM (SELECT a, b FROM t EXCEPT SELECT b, id FROM s) d ORDER BY 1;
SELECT d.a FROM (SELECT a, b FROM t INTERSECT SELECT a, b FROM t) d ORDER BY 1;
SELECT d.a FROM (SELECT DISTINCT a, b FROM t) d ORDER BY 1;
SELECT COUNT(*) FROM (SELECT DISTINCT a, b FROM t ORDER BY b, a LIMIT 3) d;
SELECT d.a FROM ((SELECT a, b FROM t ORDER BY b DESC, id LIMIT 3) ORDER BY b, a LIMIT 2) d ORDER BY 1;
SELECT d.y FROM (VALUES ROW(1, 2), ROW(3, 4)) d (x, y) ORDER BY 1;
WITH d AS (SELECT a, SUM(b) AS s, MAX(id) AS m FROM t GROUP BY a) SELECT x.s, y.m FROM d x JOIN d y ON x.a = y.a ORDER BY 1, 2;
WITH RECURSIVE r (n, m) AS (SELECT 1, 1 UNION ALL SELECT r.n + 1, d.k FROM r JOIN (SELECT a, COUNT(*) AS k, MAX(b) AS z FROM t GROUP BY a) d ON d.a = 1 WHERE r.n < 3) SELECT n FROM r ORDER BY 1;
SELECT d.a, s.id FROM s LEFT JOIN (SELECT a, SUM(b) AS k, MAX(id) AS m FROM t GROUP BY a) d ON d.m = s.b ORDER BY 2;
-- What may fail, and what may warn, is computed
SELECT COUNT(*) FROM (SELECT a, EXP(1000 * b) AS x FROM t LIMIT 5) d;
SELECT COUNT(*) FROM (SELECT a, SUM(EXP(1000 * b)) AS x FROM t GROUP BY a) d;
SELECT COUNT(*) FROM (SELECT b, SUM(x + x) AS y FROM s GROUP BY b) d;
SELECT COUNT(*) FROM (SELECT b, x * id AS y FROM s LIMIT 9) d;
SELECT COUNT(*) FROM (SELECT a, SUM(c) AS x FROM t GROUP BY a) d;
SELECT COUNT(*) FROM (SELECT a, c > 1 AS x FROM t LIMIT 3) d;
SELECT COUNT(*) FROM (SELECT a, d / b AS x, b / a AS y FROM t LIMIT 3) d;
SELECT COUNT(*) FROM (SELECT a, b / 0 AS x FROM t LIMIT 3) d;
SELECT COUNT(*) FROM (SELECT a, CAST(c AS SIGNED) AS x, RANK() OVER (ORDER BY a) AS r FROM t) d;
SELECT d.a FROM (SELECT a, SUM(EXP(1000 * b)) OVER (ORDER BY b) AS x FROM t) d;
SET group_concat_max_len = 4;
SELECT COUNT(*) FROM (SELECT a, GROUP_CONCAT(c, 'long') AS x FROM t GROUP BY a) d;
SET group_concat_max_len = DEFAULT;
SET @r = 0;
SELECT d.id FROM (SELECT id, @r := @r + 1 AS r FROM t LIMIT 9) d ORDER BY 1;
SELECT @r;
-- Changes of rows read what they name
UPDATE s JOIN (SELECT a, SUM(b) AS k, MAX(id) AS m FROM t GROUP BY a) d ON s.b = d.a SET s.x = d.k;
SELECT id, x FROM s ORDER BY id;
INSERT INTO s SELECT d.m + 10, d.a, 0 FROM (SELECT a, SUM(b) AS k, MAX(id) AS m FROM t GROUP BY a) d ON DUPLICATE KEY UPDATE x = d.k;
INSERT INTO s SELECT d.m + 10, d.a, 0 FROM (SELECT a, SUM(b) AS k, MAX(id) AS m FROM t GROUP BY a) d ON DUPLICATE KEY UPDATE x = d.k;
SELECT id, b, x FROM s ORDER BY id;
DELETE s FROM s JOIN (SELECT a, SUM(b) AS k, MAX(id) AS m FROM t GROUP BY a) d ON s.id = d.m + 10;
SELECT id FROM s ORDER BY id;
PREPARE p FROM 'SELECT d.a FROM (SELECT a, SUM(b) AS s, COUNT(*) + ? AS n FROM t GROUP BY a) d WHERE d.n > ? ORDER BY 1';
SET @x = 1, @y = 2;
EXECUTE p USING @x, @y;
SET @x = 5;
EXECUTE p USING @x, @y;
DROP DATABASE golden_unread_columns;
