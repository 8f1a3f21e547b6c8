-- Rows that several indexes find: what they have in common (AND), and what one of them finds (OR).
DROP DATABASE IF EXISTS golden_index_merge;
CREATE DATABASE golden_index_merge;
USE golden_index_merge;
CREATE TABLE digits (d INT PRIMARY KEY);
INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
CREATE TABLE m (id INT PRIMARY KEY, a INT, b INT, c INT, d INT, v VARCHAR(10), KEY ka (a), KEY kb (b), KEY kc (c, d));
INSERT INTO m SELECT n, IF(n % 20 = 3, NULL, n % 20), n DIV 11 % 20, n % 25, n % 3, CONCAT('v', n) FROM
    (SELECT w.d * 1000 + x.d * 100 + y.d * 10 + z.d AS n FROM digits w, digits x, digits y, digits z) numbers WHERE n < 8000;
CREATE TABLE two (g INT, h VARCHAR(5), a INT, b INT, v INT, PRIMARY KEY (h, g DESC), KEY ka (a), KEY kb (b, g)) COLLATE utf8mb4_bin;
INSERT INTO two SELECT id, CONCAT('h', id % 7), a, b, id FROM m;
ANALYZE TABLE m, two;
-- In common
SELECT id, v FROM m WHERE a = 5 AND b = 7 ORDER BY id;
SELECT COUNT(*), SUM(id) FROM m WHERE a = 5 AND b = 7;
SELECT COUNT(*), SUM(id) FROM m WHERE a IS NULL AND b = 7;
SELECT COUNT(*), SUM(id) FROM m WHERE a <=> NULL AND b = 7 AND v LIKE 'v1%';
SELECT COUNT(*), SUM(id) FROM m WHERE a = NULL AND b = 7;
SELECT COUNT(*), SUM(id) FROM m WHERE a = 5 AND b = 7 AND id BETWEEN 1000 AND 5000;
SELECT COUNT(*), SUM(id) FROM m WHERE a = 5 AND b = 7 AND c = 5 AND d = 1;
SELECT COUNT(*), SUM(id) FROM m WHERE a = 5 AND c = 5 AND d = 1;
SELECT COUNT(*), SUM(id) FROM m WHERE a = 5 AND b = 700;
SELECT COUNT(*), SUM(id) FROM m WHERE a = 5 AND b = 7 AND a = 6;
SELECT id FROM m WHERE a = 5 AND b = 7 ORDER BY v DESC LIMIT 3;
SELECT id FROM m WHERE a = 5 AND b = 7 ORDER BY id LIMIT 2 OFFSET 3;
SELECT DISTINCT d FROM m WHERE a = 5 AND b = 7 ORDER BY d;
SELECT d, COUNT(*) FROM m WHERE a = 5 AND b = 7 GROUP BY d ORDER BY d;
SELECT x.d, COUNT(*), SUM(m.id) FROM digits x JOIN m ON m.a = 5 AND m.b = 7 AND m.d = x.d GROUP BY x.d ORDER BY x.d;
SELECT x.d, COUNT(*), SUM(m.id) FROM digits x JOIN m ON m.a = x.d AND m.b = x.d GROUP BY x.d ORDER BY x.d;
SELECT x.d, (SELECT COUNT(*) FROM m WHERE m.a = x.d AND m.b = 7) AS n FROM digits x ORDER BY x.d;
SELECT COUNT(*) FROM digits x WHERE EXISTS (SELECT 1 FROM m WHERE m.a = 5 AND m.b = 7 AND m.d = x.d);
SELECT g, h, v FROM two WHERE a = 5 AND b = 7 ORDER BY v;
SELECT COUNT(*), SUM(v) FROM two WHERE a = 5 AND b = 7 AND g < 1000;
PREPARE p FROM 'SELECT COUNT(*), SUM(id) FROM m WHERE a = ? AND b = ?';
SET @x = 5, @y = 7;
EXECUTE p USING @x, @y;
SET @y = 19;
EXECUTE p USING @x, @y;
SET @x = 5.5;
EXECUTE p USING @x, @y;
SET @x = NULL;
EXECUTE p USING @x, @y;
-- One of them
SELECT COUNT(*), SUM(id) FROM m WHERE a = 5 OR b = 7;
SELECT COUNT(*), SUM(id) FROM m WHERE a < 1 OR b > 18;
SELECT COUNT(*), SUM(id) FROM m WHERE (a = 5 AND b = 7) OR (c = 3 AND d = 1);
SELECT COUNT(*), SUM(id) FROM m WHERE (a = 5 OR b = 7) AND (c = 3 OR id < 100);
-- What is changed is seen
START TRANSACTION;
UPDATE m SET b = 8 WHERE a = 5 AND b = 7 AND id < 2000;
UPDATE m SET a = 5, b = 7 WHERE id = 1;
DELETE FROM m WHERE a = 5 AND b = 7 AND id > 6000;
SELECT COUNT(*), SUM(id) FROM m WHERE a = 5 AND b = 7;
ROLLBACK;
SELECT COUNT(*), SUM(id) FROM m WHERE a = 5 AND b = 7;
UPDATE two JOIN m ON m.id = two.v SET two.b = -1 WHERE m.a = 5 AND m.b = 7;
SELECT COUNT(*), SUM(v) FROM two WHERE b = -1;
DROP DATABASE golden_index_merge;
