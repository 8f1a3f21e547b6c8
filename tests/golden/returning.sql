-- RETURNING of INSERT, REPLACE and DELETE: MariaDB 10.11's syntax and answers, as MySQL has no such clause.
DROP DATABASE IF EXISTS golden_returning;
CREATE DATABASE golden_returning DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
USE golden_returning;
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a INT, b VARCHAR(10) DEFAULT 'x', u INT UNIQUE);
CREATE TABLE s (id INT, c INT);
INSERT INTO s VALUES (1, 1), (2, 2);
-- INSERT: expressions, aliases, all columns
INSERT INTO t (a, u) VALUES (1, 1), (2, 2) RETURNING id, a + 1, b, t.a AS z;
SELECT ROW_COUNT(), LAST_INSERT_ID();
INSERT INTO t (a, u) VALUES (3, 3) RETURNING *;
INSERT INTO t SET a = 4, u = 4 RETURNING t.*, UPPER(b), 5, 'five', NULL;
INSERT INTO t () VALUES () RETURNING *;
INSERT INTO golden_returning.t (u) VALUES (6) RETURNING golden_returning.t.id, IF(a IS NULL, 'none', a) AS `a or none`;
INSERT INTO t (a, u) VALUES (7, 7) RETURNING a  +  1,  CONCAT( b , 'y' );
-- what is passed over is not returned
INSERT IGNORE INTO t (a, u) VALUES (8, 1), (9, 9), (10, 2) RETURNING id, a;
INSERT IGNORE INTO t (a, u) VALUES (8, 1) RETURNING id, a;
-- ON DUPLICATE KEY UPDATE: the row as it is then
INSERT INTO t (a, u) VALUES (11, 1), (12, 12) ON DUPLICATE KEY UPDATE a = a + 100 RETURNING *;
INSERT INTO t (a, u) VALUES (11, 1) ON DUPLICATE KEY UPDATE a = 101 RETURNING id, a;
-- REPLACE
REPLACE INTO t (id, a, u) VALUES (1, 7, 2) RETURNING *;
REPLACE INTO t (id, a, u) VALUES (100, 7, 100), (100, 8, 100) RETURNING id, a;
-- INSERT ... SELECT: names are those of the table
INSERT INTO t (a, u) SELECT id, c + 200 FROM s RETURNING a, u;
INSERT INTO t (a, u) SELECT s.id, s.c + 300 FROM s RETURNING a, u, s.c;
INSERT INTO t (a, u) SELECT a, u + 400 FROM t WHERE u BETWEEN 3 AND 4 ORDER BY u RETURNING a, u;
INSERT INTO t (a, u) SELECT 1 x, 1000 y RETURNING a, u;
INSERT INTO t (a, u) SELECT 5, 5 FROM s WHERE c > 100 RETURNING a, u;
-- subqueries over other tables, correlated ones too
INSERT INTO t (a, u) SELECT id, c + 500 FROM s RETURNING u, (SELECT MAX(c) FROM s), (SELECT c + 10 FROM s WHERE s.id = t.a);
INSERT INTO t (a, u) VALUES (1, 600) RETURNING u, EXISTS (SELECT 1 FROM s WHERE s.id = a) AS there, a IN (SELECT c FROM s) AS known;
-- errors undo the statement
INSERT INTO t (a, u) VALUES (1, 700) RETURNING nosuch;
INSERT INTO t (a, u) VALUES (1, 700) RETURNING COUNT(*);
INSERT INTO t (a, u) VALUES (1, 700) RETURNING x.a;
INSERT INTO t (a, u) VALUES (1, 700) RETURNING (SELECT c FROM s);
SELECT COUNT(*) FROM t WHERE u = 700;
-- DELETE
DELETE FROM t WHERE u > 500 ORDER BY u DESC LIMIT 2 RETURNING u, a;
SELECT ROW_COUNT();
DELETE FROM t WHERE u = 501 RETURNING t.*, 5;
DELETE FROM t WHERE u = 501 RETURNING u;
DELETE FROM t WHERE u IN (403, 404) RETURNING u, (SELECT COUNT(*) FROM s WHERE s.c < t.u) AS c;
DELETE FROM t WHERE u = 12 RETURNING SUM(a);
SELECT a FROM t WHERE u = 12;
-- types
CREATE TABLE y (d DATE, dt DATETIME(3), ti TIME, ts TIMESTAMP NULL, n DECIMAL(10, 2), f DOUBLE, e ENUM('a', 'b'), st SET('p', 'q'),
  bl BLOB, g INT AS (f * 2) STORED, v INT AS (f * 3) VIRTUAL);
INSERT INTO y (d, dt, ti, ts, n, f, e, st, bl) VALUES ('2024-02-29', '2024-02-29 10:11:12.5', '-10:00:01', '2024-02-29 01:02:03', 1.005, 2, 'b', 'q,p', 'raw')
  RETURNING *;
DELETE FROM y RETURNING ts, n + 1, e, e + 0, st, g, v;
-- prepared
PREPARE p FROM 'INSERT INTO t (a, u) VALUES (?, ?) RETURNING a, u, ? AS third';
SET @a = 1, @b = 800, @c = 'q';
EXECUTE p USING @a, @b, @c;
SET @b = 801;
EXECUTE p USING @a, @b, @c;
PREPARE p FROM 'DELETE FROM t WHERE u >= ? RETURNING a, u';
SET @b = 800;
EXECUTE p USING @b;
EXECUTE p USING @b;
DEALLOCATE PREPARE p;
-- views
CREATE VIEW w AS SELECT id, u AS x FROM t;
INSERT INTO w (x) VALUES (900) RETURNING x;
INSERT INTO w (x) VALUES (901) RETURNING x, u;
DELETE FROM w WHERE x = 900 RETURNING x, x + 1;
-- temporary tables
CREATE TEMPORARY TABLE tt (a INT PRIMARY KEY, b INT);
INSERT INTO tt VALUES (1, 2), (3, 4) RETURNING b, a;
DELETE FROM tt RETURNING *;
-- transactions
BEGIN;
DELETE FROM s RETURNING c;
ROLLBACK;
SELECT * FROM s ORDER BY id;
DROP DATABASE golden_returning;
