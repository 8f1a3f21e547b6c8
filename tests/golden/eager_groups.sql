-- Rows that may be grouped before they are joined.
DROP DATABASE IF EXISTS golden_eager_groups;
CREATE DATABASE golden_eager_groups;
USE golden_eager_groups;
CREATE TABLE digits (d INT PRIMARY KEY);
INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
CREATE TABLE c (id INT PRIMARY KEY, name VARCHAR(10) UNIQUE, area INT NOT NULL, code CHAR(3) NOT NULL, UNIQUE KEY (area, code));
CREATE TABLE area (id INT PRIMARY KEY, title VARCHAR(10));
CREATE TABLE o (id INT PRIMARY KEY, c INT, name VARCHAR(10), area INT, code CHAR(3), x DECIMAL(8, 2), y INT, s CHAR(2));
INSERT INTO area SELECT d, CONCAT('area ', d) FROM digits WHERE d < 5;
INSERT INTO c SELECT n, IF(n % 50 = 7, NULL, CONCAT('c', n)), n % 6, CONCAT('k', n DIV 6) FROM
    (SELECT y.d * 10 + z.d AS n FROM digits y, digits z) numbers;
INSERT INTO o SELECT n, IF(n % 31 = 3, NULL, n % 90), IF(n % 2, CONCAT('C', n % 90), CONCAT('c', n % 90)), n % 7, CONCAT('k', n % 11),
    n % 13 - 2.5, n % 17, SUBSTRING('abAB', n % 4 + 1, 1) FROM
    (SELECT w.d * 1000 + x.d * 100 + y.d * 10 + z.d AS n FROM digits w, digits x, digits y, digits z) numbers;
ANALYZE TABLE c, o, area;
-- The groups are rows of the other table
SELECT c.id, c.name, SUM(o.x), COUNT(*), COUNT(o.y), AVG(o.x), MIN(o.y), MAX(o.s > 'a') FROM c JOIN o ON o.c = c.id GROUP BY c.id, c.name ORDER BY c.id LIMIT 100;
SELECT c.name, SUM(o.x) AS s FROM c JOIN o ON o.c = c.id GROUP BY c.id HAVING s > 320 AND c.name <> 'c9' ORDER BY s DESC, c.name LIMIT 7;
SELECT c.name, COUNT(*) AS n FROM c, o WHERE o.c = c.id AND o.y > 5 AND c.area = 3 GROUP BY c.id ORDER BY n DESC, c.name;
SELECT o.name, COUNT(*) AS n, SUM(o.y) AS s FROM c JOIN o ON o.name = c.name GROUP BY c.name ORDER BY n DESC, c.name LIMIT 5;
SELECT c.id, o.y, SUM(o.x) AS s FROM c JOIN o ON o.c = c.id WHERE c.id < 3 GROUP BY c.id, o.y ORDER BY s, c.id, o.y;
SELECT c.id, o.s, COUNT(*) AS n FROM c JOIN o ON o.c = c.id WHERE c.id < 3 GROUP BY o.s, c.id ORDER BY n, c.id, o.s;
SELECT c.area, c.code, COUNT(*) AS n, SUM(o.y) AS s FROM c JOIN o ON o.area = c.area AND o.code = c.code GROUP BY c.area, c.code ORDER BY s DESC, n, c.area, c.code LIMIT 8;
SELECT c.id, a.title, COUNT(DISTINCT o.y) AS n, SUM(DISTINCT o.x) AS s FROM c JOIN o ON o.c = c.id JOIN area a ON a.id = c.area GROUP BY c.id ORDER BY s DESC, c.id LIMIT 8;
SELECT o.c, COUNT(*) AS n FROM c JOIN o ON o.c = c.id GROUP BY o.c ORDER BY n DESC, o.c LIMIT 5;
SELECT c.id + 1 AS k, c.id, SUM(o.y) AS s FROM c JOIN o ON o.c = c.id GROUP BY k, c.id ORDER BY s DESC, k LIMIT 5;
SELECT c.id, SUM(o.y) AS s, RANK() OVER (ORDER BY SUM(o.y) DESC) AS r FROM c JOIN o ON o.c = c.id GROUP BY c.id ORDER BY r, c.id LIMIT 5;
SELECT COUNT(*), SUM(s) FROM (SELECT c.id, SUM(o.y) AS s, AVG(o.x) AS v FROM c JOIN o ON o.c = c.id GROUP BY c.id) d;
SELECT DISTINCT SUM(o.y) DIV 100 AS s FROM c JOIN o ON o.c = c.id GROUP BY c.id ORDER BY s;
SELECT c.id, (SELECT COUNT(*) FROM area WHERE area.id < c.area) AS k, SUM(o.y) AS s FROM c JOIN o ON o.c = c.id GROUP BY c.id ORDER BY s DESC, c.id LIMIT 5;
-- Rows without a match
SELECT c.id, COUNT(o.id) AS n, COUNT(*) AS k, SUM(o.x) AS s, MIN(o.y) AS m FROM c LEFT JOIN o ON o.c = c.id AND o.y > 9 GROUP BY c.id ORDER BY n, c.id DESC LIMIT 15;
SELECT n, COUNT(*) FROM (SELECT c.id, COUNT(o.id) AS n FROM c LEFT JOIN o ON o.c = c.id GROUP BY c.id) d GROUP BY n ORDER BY n;
SELECT c.name, COUNT(o.id) AS n FROM c LEFT JOIN o ON o.name = c.name GROUP BY c.name ORDER BY n, c.name LIMIT 12;
SELECT c.id, COUNT(o.id) AS n FROM c LEFT JOIN o ON o.c = c.id AND c.area = 3 GROUP BY c.id ORDER BY n DESC, c.id LIMIT 8;
SELECT c.id, COUNT(o.id) AS n FROM c LEFT JOIN o ON o.c = c.id WHERE c.area = 3 GROUP BY c.id HAVING n < 111 ORDER BY n DESC, c.id LIMIT 8;
SELECT c.id, COUNT(o.id) AS n FROM c LEFT JOIN o ON o.c = c.id WHERE o.y IS NULL GROUP BY c.id ORDER BY n DESC, c.id;
-- Groups that are not one row each
SELECT c.area, SUM(o.y) AS s FROM c JOIN o ON o.c = c.id GROUP BY c.area ORDER BY s;
SELECT o.s, COUNT(*) AS n FROM c JOIN o ON o.c = c.id GROUP BY o.s ORDER BY n, o.s;
SELECT c.id, COUNT(*) AS n FROM c JOIN o ON o.area = c.area GROUP BY c.id ORDER BY n, c.id LIMIT 5;
SELECT c.id, SUM(o.y) AS s FROM c JOIN o ON o.c = c.id GROUP BY c.id WITH ROLLUP HAVING c.id < 3 OR c.id IS NULL;
SELECT c.name, COUNT(*) AS n FROM c LEFT JOIN o ON o.c = c.id GROUP BY c.name ORDER BY n DESC, c.name LIMIT 5;
DROP DATABASE golden_eager_groups;
