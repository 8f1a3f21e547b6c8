-- RETURNING of UPDATE, by analogy with MariaDB's DELETE, and what differs from MariaDB: RETURNING is no reserved word here,
-- as in MySQL, and a subquery of DELETE may not read the table (1093, as in MySQL).
DROP DATABASE IF EXISTS golden_returning_update;
CREATE DATABASE golden_returning_update DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
USE golden_returning_update;
CREATE TABLE t (id INT PRIMARY KEY, a INT, u INT UNIQUE, g INT AS (a * 2) STORED, CHECK (a < 1000));
CREATE TABLE s (id INT, c INT);
INSERT INTO s VALUES (1, 1), (2, 2);
INSERT INTO t (id, a, u) VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4);
-- new values
UPDATE t SET a = a + 10 WHERE id = 2 RETURNING id, a, g, a - 10 AS was;
SELECT ROW_COUNT();
UPDATE t SET a = a + 1 ORDER BY id DESC LIMIT 2 RETURNING *;
-- a row that matches is returned, changed or not
UPDATE t SET a = 1 WHERE id IN (1, 3) RETURNING id, a;
UPDATE t SET a = 1 WHERE id IN (1, 3) RETURNING id, a;
UPDATE t SET a = 1 WHERE id = 77 RETURNING id, a;
-- the key is changed
UPDATE t SET id = id + 10 WHERE id > 2 RETURNING id;
-- IGNORE
UPDATE IGNORE t SET u = 1 WHERE id < 10 RETURNING id, u;
SHOW WARNINGS;
UPDATE IGNORE t SET a = 5000 WHERE id = 1 RETURNING id, a;
SHOW WARNINGS;
-- errors undo the statement
UPDATE t SET u = u + 1 WHERE id < 10 RETURNING id, u;
UPDATE t SET a = 6 WHERE id = 1 RETURNING (SELECT c FROM s);
UPDATE t SET a = 6 WHERE id = 1 RETURNING nosuch;
UPDATE t SET a = 6 WHERE id = 1 RETURNING MAX(a);
UPDATE t SET a = 6 WHERE id = 1 RETURNING ROW_NUMBER() OVER ();
UPDATE t SET a = 6 WHERE id = 1 RETURNING 1 / 0;
SELECT * FROM t ORDER BY id;
-- subqueries
UPDATE t SET a = (SELECT MAX(c) FROM s) WHERE id = 1 RETURNING a, (SELECT c FROM s WHERE s.id = t.id) AS c;
UPDATE t SET a = 7 WHERE id = 1 RETURNING (SELECT MAX(a) FROM t);
DELETE FROM t WHERE id = 1 RETURNING (SELECT MAX(a) FROM t);
INSERT INTO t (id, a) VALUES (50, 1) RETURNING (SELECT MAX(a) FROM t);
REPLACE INTO t (id, a) SELECT id + 100, c FROM s WHERE id IN (SELECT id FROM t) RETURNING id;
-- one table only
UPDATE t, s SET t.a = 5 WHERE t.id = s.id RETURNING t.a;
UPDATE t JOIN s USING (id) SET t.a = 5 RETURNING t.a;
DELETE t FROM t WHERE id = 1 RETURNING t.a;
DELETE FROM t USING t WHERE id = 1 RETURNING t.a;
-- views
CREATE VIEW v AS SELECT id AS n, a AS m FROM t WHERE id < 10;
UPDATE v SET m = 9 WHERE n = 1 RETURNING n, m;
UPDATE v SET m = 9 WHERE n = 1 RETURNING *;
UPDATE v SET m = 9 WHERE n = 1 RETURNING u;
-- prepared
PREPARE p FROM 'UPDATE t SET a = ? WHERE id = ? RETURNING a + ? AS sum';
SET @a = 30, @i = 2, @c = 4;
EXECUTE p USING @a, @i, @c;
EXECUTE p USING @a, @i, @c;
DEALLOCATE PREPARE p;
-- constants of the list are names and types, those of WHERE are not
UPDATE t SET a = 1 WHERE id = 2 RETURNING 1, '1', 1.0;
UPDATE t SET a = 1 WHERE id = 2 RETURNING 2, '2', 2.0;
-- EXPLAIN
EXPLAIN UPDATE t SET a = 1 WHERE id = 2 RETURNING a, a + 1;
EXPLAIN DELETE FROM t WHERE id = 2 RETURNING *;
EXPLAIN INSERT INTO t (id) VALUES (99) RETURNING id AS n;
-- names may be called so, as in MySQL
CREATE TABLE r (returning INT);
INSERT INTO r (returning) VALUES (1), (2) RETURNING returning;
INSERT INTO r SELECT 3 AS returning RETURNING returning + 1;
INSERT INTO r SELECT 4 returning;
INSERT INTO r SELECT returning.returning + 4 FROM r returning WHERE returning.returning = 1;
INSERT INTO r SELECT 6 FROM (SELECT 1) returning;
INSERT INTO r SELECT 7 FROM r returning LIMIT 1 RETURNING returning;
DELETE FROM r returning WHERE returning.returning = 1;
DELETE FROM r WHERE returning < 3 RETURNING returning AS gone;
DELETE FROM r RETURNING returning;
SELECT 1 returning;
SELECT 1 RETURNING 2;
-- performance_schema
UPDATE performance_schema.setup_actors SET ENABLED = 'YES' RETURNING ENABLED;
DROP DATABASE golden_returning_update;
