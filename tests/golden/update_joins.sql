-- An UPDATE of a table joined with itself computes what it assigns from the rows as they were found.
CREATE DATABASE joins;
USE joins;
CREATE TABLE t (id INT PRIMARY KEY, p INT, n INT, m INT);
INSERT INTO t VALUES (1, 0, 10, 0), (2, 1, 20, 0), (3, 2, 30, 0);
UPDATE t a JOIN t b ON a.p = b.id SET a.n = b.n + 1;
SELECT * FROM t;
UPDATE t a JOIN t b ON a.id = b.id SET a.n = a.n + 100, b.m = b.n;
SELECT * FROM t;
UPDATE t a JOIN t b ON a.id = b.id SET a.n = a.m, a.m = a.n;
SELECT * FROM t;
UPDATE t a JOIN t b ON a.p = b.id SET a.n = b.n, b.n = a.n;
SELECT * FROM t;
UPDATE t a JOIN t b ON a.p = b.id SET a.n = b.n, b.m = a.n, a.p = b.p;
SELECT * FROM t;
UPDATE t a, t b SET a.n = a.n + 1, b.n = b.n + 1 WHERE a.id = b.id;
SELECT * FROM t;
UPDATE t a JOIN t b ON a.p = b.id JOIN t c ON c.id = 1 SET a.n = b.n + 1, b.n = a.n + 2, c.m = a.n + b.n;
SELECT * FROM t;
UPDATE t a JOIN t b ON a.id <> b.id SET a.n = a.n + 1, a.m = a.n, b.p = a.n WHERE a.id < b.id;
SELECT * FROM t;
-- Its primary key is changed under one name only.
UPDATE t a JOIN t b ON a.id = b.id SET a.id = a.id + 10, b.n = 1;
UPDATE t a JOIN t b ON a.id = b.id SET b.id = a.id + 10, a.n = 1;
UPDATE t a JOIN t b ON a.id = b.id SET a.id = a.id + 10;
SELECT * FROM t;
-- Other tables' rows, and generated columns, follow.
CREATE TABLE g (id INT PRIMARY KEY, n INT, twice INT AS (n * 2) STORED, changed INT DEFAULT 0);
INSERT INTO g (id, n) VALUES (11, 1), (12, 2);
UPDATE g a JOIN g b ON a.id = b.id JOIN t ON t.id = a.id SET a.n = b.n + 1, b.changed = a.twice, t.m = a.n;
SELECT * FROM g;
SELECT * FROM t;
DROP DATABASE joins;
