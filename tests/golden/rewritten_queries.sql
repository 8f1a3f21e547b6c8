CREATE DATABASE rewritten_queries;
USE rewritten_queries;
CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT);
CREATE TABLE s (id INT PRIMARY KEY, a INT, b INT);
CREATE TABLE u (id INT PRIMARY KEY, a INT, b INT);
CREATE TABLE o (id INT PRIMARY KEY, x INT NOT NULL);
INSERT INTO t VALUES (1,1,1),(2,2,2),(3,3,NULL),(4,NULL,4);
INSERT INTO s VALUES (1,1,10),(2,2,20),(5,5,NULL);
INSERT INTO u VALUES (1,1,1),(9,9,9);
INSERT INTO o VALUES (1,0),(2,1),(3,2);

-- A hash join whose keys read a row outside is read anew for each of them.
SELECT o.x, (SELECT COUNT(*) FROM t JOIN s ON t.a = s.a + o.x) FROM o ORDER BY o.id;
SELECT o.x, (SELECT GROUP_CONCAT(t.id ORDER BY t.id) FROM t WHERE t.a IN (SELECT s.a + o.x FROM s)) AS f FROM o ORDER BY o.id;
SELECT o.x, (SELECT COUNT(*) FROM t WHERE NOT EXISTS (SELECT * FROM s WHERE s.a + o.x = t.a)) AS f FROM o ORDER BY o.id;
SELECT o.x, (SELECT COUNT(*) FROM t JOIN (SELECT s.a + o.x z FROM s) d ON d.z = t.a) AS f FROM o ORDER BY o.id;

-- A column of a derived table under an outer join may be NULL.
SELECT t.id, d.id FROM t LEFT JOIN (SELECT id FROM s) d ON d.id = t.id WHERE d.id NOT IN (SELECT id FROM u WHERE a = 9) ORDER BY t.id;
SELECT t.id FROM t WHERE t.id NOT IN (SELECT d.id FROM u LEFT JOIN (SELECT id FROM s) d ON d.id = u.id) ORDER BY t.id;
SELECT t.a, (SELECT GROUP_CONCAT(IFNULL(d.x, 'N') ORDER BY u.id) FROM u LEFT JOIN (SELECT t.a AS x, s.a FROM s) d ON d.a = u.a) AS f FROM t ORDER BY t.id;
SELECT t.a, (SELECT COUNT(d.x) FROM u LEFT JOIN (SELECT t.a AS x, s.a FROM s) d ON d.a = u.a) AS f FROM t ORDER BY t.id;

-- A group without rows leaves the row outside as it is.
SELECT t.id, (SELECT ANY_VALUE(d.y) FROM (SELECT s.b y, t.a x FROM s WHERE s.id > 100) d HAVING COUNT(*) >= 0) z, t.a, t.b FROM t ORDER BY t.id;

-- A condition that reads a user variable stays where it is.
SET @v = 0;
SELECT d.id, @v := @v + 1 AS n FROM (SELECT id FROM t WHERE @v < 2) d;

SET @r = 0;
SELECT * FROM (SELECT (@r := @r + 1) AS rn, id FROM t ORDER BY id) d WHERE d.id > 2;
SET @r = 0;
SELECT COUNT(*) FROM t JOIN s ON s.id > 0 WHERE (@r := @r + 1) <= 5;
SELECT @r;

-- A condition with an effect is no key to look rows up by, and stays within its subquery.
SET @n = 0;
SELECT id FROM t WHERE id = (@n := @n + 1) ORDER BY id;
SET @n = 0;
SELECT id FROM t WHERE id IN ((@n := @n + 1), 9) ORDER BY id;
SET @n = 0;
SELECT id FROM t WHERE EXISTS (SELECT 1 FROM s JOIN s s2 ON s2.id = s.id AND (@n := @n + 1) > 0 WHERE s.id = t.id) ORDER BY id;

-- IN and EXISTS.
SELECT id FROM t WHERE a IN (SELECT a FROM s) ORDER BY id;
SELECT id FROM t WHERE a NOT IN (SELECT a FROM s) ORDER BY id;
SELECT id FROM t WHERE id NOT IN (SELECT id FROM s) ORDER BY id;
SELECT id FROM t WHERE a NOT IN (SELECT b FROM s WHERE s.id = t.id) ORDER BY id;
SELECT id FROM t WHERE NOT (a IN (SELECT a FROM s)) ORDER BY id;
SELECT id FROM t WHERE NOT EXISTS (SELECT * FROM s WHERE s.a = t.a) ORDER BY id;
SELECT id FROM t WHERE EXISTS (SELECT * FROM s WHERE s.a < t.a) AND a IN (SELECT a FROM s UNION SELECT 3) ORDER BY id;
SELECT id FROM t WHERE (a, id) IN (SELECT a, id FROM s WHERE b IS NOT NULL) ORDER BY id;
SELECT t.id FROM t LEFT JOIN s ON s.id = t.id WHERE s.a IN (SELECT a FROM u) ORDER BY t.id;
SELECT COUNT(*) FROM t WHERE EXISTS (SELECT * FROM s WHERE s.b = 20);
SELECT COUNT(*) FROM t WHERE 10 IN (SELECT b FROM s);

-- Conditions on derived tables.
SELECT * FROM (SELECT b, SUM(a) n FROM t GROUP BY b) d WHERE d.b > 1 AND d.n < 3 ORDER BY b;
SELECT * FROM (SELECT a FROM t UNION SELECT b FROM s) d WHERE d.a > 2 ORDER BY a;
SELECT * FROM (SELECT DISTINCT a FROM t) d WHERE d.a IS NULL;
SELECT t.id, d.n FROM t LEFT JOIN (SELECT a, COUNT(*) n FROM s GROUP BY a) d ON d.a = t.a WHERE d.n IS NULL ORDER BY t.id;
SELECT t.id FROM t, s WHERE (t.a = s.a AND t.b = 1) OR (t.a = s.a AND s.b = 20 AND t.b < 5) ORDER BY t.id;
DROP DATABASE rewritten_queries;
