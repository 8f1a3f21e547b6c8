-- Correlated subqueries that give one aggregate: run for each row, and joined with all groups.
CREATE DATABASE golden_grouped_scalar;
USE golden_grouped_scalar;
CREATE TABLE t (id INT PRIMARY KEY, g INT, d DECIMAL(8,2), c VARCHAR(10), x INT NOT NULL);
CREATE TABLE s (id INT PRIMARY KEY, g INT, d DECIMAL(8,2), c VARCHAR(10), x INT, u INT UNSIGNED);
INSERT INTO t WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 900) SELECT n, IF(n % 37 = 0, NULL, n % 60), (n % 50) / 4, ELT(n % 4 + 1, 'ann', 'Bob', 'eve', NULL), n * 7 % 101 FROM r;
INSERT INTO s WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 900) SELECT n, IF(n % 31 = 0, NULL, n % 55), (n % 40) / 4, ELT(n % 5 + 1, 'ANN', 'bob', 'eve', NULL, 'x '), IF(n % 11 = 0, NULL, n * 5 % 97), n % 58 FROM r;
-- as it comes
SELECT COUNT(*), SUM(id) FROM t WHERE x > (SELECT AVG(s.x) FROM s WHERE s.g = t.g);
SELECT COUNT(*), SUM(id) FROM t WHERE x > (SELECT AVG(i.x) FROM t i WHERE i.g = t.g);
SELECT COUNT(*), SUM(id) FROM t WHERE x = (SELECT MAX(i.x) FROM t i WHERE i.g = t.g AND i.c = t.c);
SET SESSION optimizer_switch = 'subquery_to_derived=on';
-- of any aggregate, joined by an inner or an outer join
SELECT COUNT(*), SUM(id) FROM t WHERE x > (SELECT AVG(s.x) FROM s WHERE s.g = t.g);
SELECT COUNT(*), SUM(id) FROM t WHERE x > 1.5 * (SELECT MIN(s.x) FROM s WHERE s.g = t.g);
SELECT COUNT(*), SUM(id) FROM t WHERE 17 > (SELECT COUNT(*) FROM s WHERE s.g = t.g);
SELECT COUNT(*), SUM(id) FROM t WHERE 0 = (SELECT COUNT(x) FROM s WHERE s.g = t.g);
SELECT COUNT(*), SUM(id) FROM t WHERE (SELECT MAX(s.d) FROM s WHERE s.g = t.g) IS NULL;
SELECT COUNT(*), SUM(id) FROM t WHERE 50 < (SELECT SUM(s.x) FROM s WHERE s.g = t.g) OR g IS NULL;
SELECT COUNT(*), SUM(id) FROM t WHERE NOT (SELECT SUM(s.x) FROM s WHERE s.g = t.g) > 50;
SELECT COUNT(*), SUM(id) FROM t WHERE x > (SELECT COUNT(DISTINCT s.c) + t.g FROM s WHERE s.g = t.g);
SELECT COUNT(*), SUM(id) FROM t WHERE x > (SELECT COALESCE(SUM(s.x), 3) FROM s WHERE s.g = t.g);
-- what is equal: numbers of several types, texts, several columns, expressions
SELECT COUNT(*), SUM(id) FROM t WHERE x > (SELECT AVG(s.x) FROM s WHERE s.d = t.d);
SELECT COUNT(*), SUM(id) FROM t WHERE x > (SELECT AVG(s.x) FROM s WHERE s.g = t.d);
SELECT COUNT(*), SUM(id) FROM t WHERE x > (SELECT AVG(s.x) FROM s WHERE s.d = t.g);
SELECT COUNT(*), SUM(id) FROM t WHERE x > (SELECT AVG(s.x) FROM s WHERE s.u = t.g);
SELECT COUNT(*), SUM(id) FROM t WHERE x > (SELECT AVG(s.x) FROM s WHERE s.c = t.c);
SELECT COUNT(*), SUM(id) FROM t WHERE x > (SELECT AVG(s.x) FROM s WHERE s.g = t.g AND t.c = s.c AND s.id < 700);
SELECT COUNT(*), SUM(id) FROM t WHERE x > (SELECT AVG(s.x) FROM s WHERE s.g = t.g + 1);
SELECT COUNT(*), SUM(id) FROM t WHERE x > (SELECT AVG(s.x) FROM s WHERE s.g <=> t.g);
SELECT COUNT(*), SUM(id) FROM t WHERE x > (SELECT AVG(s.x) FROM s WHERE s.g < t.g);
-- among the values that are given
SELECT id, (SELECT COUNT(*) FROM s WHERE s.g = t.g) AS n, (SELECT SUM(s.d) FROM s WHERE s.g = t.g AND s.c = t.c) AS d FROM t WHERE id % 61 = 0 ORDER BY id;
SELECT id, (SELECT MAX(s.c) FROM s WHERE s.g = t.g AND s.id < 60) AS m FROM t WHERE id % 61 = 0 ORDER BY m DESC, id LIMIT 7;
SELECT DISTINCT (SELECT COUNT(*) FROM s WHERE s.g = t.g) AS n FROM t ORDER BY n;
SELECT g, COUNT(*) FROM t WHERE x < (SELECT MAX(s.x) FROM s WHERE s.g = t.g) GROUP BY g HAVING COUNT(*) > (SELECT COUNT(*) FROM s WHERE s.g = t.g) ORDER BY g LIMIT 5;
-- joins on both sides
SELECT COUNT(*), SUM(t.id) FROM t JOIN s ON s.id = t.id WHERE t.x > (SELECT AVG(i.x) FROM t i JOIN s j ON j.id = i.id WHERE i.g = t.g AND j.c = s.c);
SELECT COUNT(*), SUM(t.id), SUM(s.id) FROM t LEFT JOIN s ON s.id = t.id + 450 WHERE t.x > (SELECT AVG(i.x) FROM t i WHERE i.g = s.g);
SELECT COUNT(*), SUM(t.id) FROM t LEFT JOIN s ON s.id = t.id + 450 WHERE (SELECT COUNT(*) FROM t i WHERE i.g = s.g) < 15;
SELECT COUNT(*) FROM t WHERE x IN (SELECT s.x FROM s WHERE s.x > (SELECT AVG(i.x) FROM s i WHERE i.g = s.g) AND s.g = t.g);
-- more than one row, and none
SELECT COUNT(*) FROM t WHERE x > (SELECT s.x FROM s WHERE s.g = t.g);
SELECT COUNT(*) FROM t WHERE x > (SELECT SUM(s.x) FROM s WHERE s.g = t.g AND s.id < 0);
DROP DATABASE golden_grouped_scalar;
